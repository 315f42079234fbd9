//! The passes on the whole corpus: what they make is valid at its stage and computes the same.

mod support;

use std::sync::Arc;

use chipdock_ir::interpret::{Arg, Interpreter, Limits};
use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, PrimFunc, Stage, print};
use chipdock_passes::{LowerOptions, Schedule, lower};

use support::{host_facts, inputs};

/// Kernels of the corpus that a host without threads can be given.
fn modules() -> Vec<(String, IrModule)> {
    let files = chipdock_filetests::corpus().unwrap();
    let read = files.into_iter().map(|file| {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        (file.name, module)
    });
    read.filter(|(_, module)| module.functions.iter().all(support::without_threads)).collect()
}

fn options(stage: Stage, schedule: Schedule) -> LowerOptions {
    LowerOptions { stage, schedule, ..LowerOptions::new(Arc::new(host_facts())) }
}

#[test]
fn every_stage_is_valid() {
    let mut lowered = 0;
    for (name, module) in modules() {
        if validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        for stage in [Stage::Scheduled, Stage::Flattened, Stage::Host] {
            let result = match lower(&module, &options(stage, Schedule::Auto)) {
                Ok(result) => result,
                Err(error) if support::may_be_refused(&name) => {
                    println!("{name}: {error}");
                    continue;
                }
                Err(error) => panic!("{name} to {stage:?}: {error}"),
            };
            if let Err(problems) = validate(&result.module, stage) {
                let text = print::module(&result.module);
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                panic!("{name} at {stage:?} is not valid:\n{}\n{text}", problems.join("\n"));
            }
            lowered += 1;
        }
    }
    assert!(lowered > 60, "only {lowered} lowered");
}

/// L3: flattened, vectorized and unrolled, a kernel gives bit by bit what it gives as read.
#[test]
fn flattened_kernels_compute_the_same() {
    let mut ran = 0;
    for (name, module) in modules() {
        if validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        for schedule in [Schedule::Auto, Schedule::None] {
            let Ok(result) = lower(&module, &options(Stage::Flattened, schedule)) else { continue };
            for function in &module.functions {
                ran += usize::from(same(&name, &module, &result.module, function));
            }
        }
    }
    assert!(ran > 60, "only {ran} ran");
}

fn same(name: &str, before: &IrModule, after: &IrModule, function: &PrimFunc) -> bool {
    let Some(args) = inputs(function, 7) else { return false };
    let (mut expected, mut found) = (args.clone(), args);
    let limits = Limits { steps_max: 3_000_000, ..Limits::default() };
    if let Err(error) = Interpreter::new(before).with_limits(limits).run(&function.name, &mut expected) {
        println!("{name}: {}: left out: {error}", function.name);
        return false;
    }
    if let Err(error) = Interpreter::new(after).run(&function.name, &mut found) {
        panic!("{name}: {}: {error}\n{}", function.name, print::module(after));
    }
    for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let (Arg::Tensor(expected), Arg::Tensor(found)) = (expected, found) else { continue };
        assert!(
            expected == found,
            "{name}: {}: parameter {index}: expected {expected:?}, found {found:?}\n{}",
            function.name,
            print::module(after)
        );
    }
    true
}

#[test]
#[ignore]
fn show_lowered() {
    let wanted = std::env::var("SHOW").unwrap_or_default();
    let stage = if std::env::var("STAGE").is_ok() { Stage::Host } else { Stage::Flattened };
    for (name, module) in modules() {
        if name.contains(&wanted) {
            match lower(&module, &options(stage, Schedule::Auto)) {
                Ok(lowered) => println!("==== {name}\n{}", print::module(&lowered.module)),
                Err(error) => println!("==== {name}: {error}"),
            }
        }
    }
}
