//! The passes on the whole corpus: what they make is valid at its stage and computes the same.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests: what fails there fails the test")]

mod support;

use std::sync::Arc;

use chipdock_filetests::{bless, root};
use chipdock_ir::interpret::{Arg, Interpreter, Limits};
use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, PrimFunc, Stage, print};
use chipdock_passes::{LowerOptions, PIPELINE, Schedule, lower};

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

/// ir: G1, G2, G3, G4.
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
/// ir: S7.
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

/// What each pass makes of the files in its folder below `passes/`, those before it run first; or its error.
#[test]
fn each_pass_makes_the_golden() {
    let facts = host_facts();
    let (mut failures, mut checked) = (Vec::new(), 0);
    for file in chipdock_filetests::scripts(&root().join("passes"), "").unwrap() {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap_or_else(|error| panic!("{error}"));
        let pass = file.name.split('/').next().unwrap();
        let end = PIPELINE.iter().position(|(_, name, _)| *name == pass);
        let end = end.unwrap_or_else(|| panic!("{}: there is no pass {pass}", file.name));
        let mut result = Ok(module);
        for (_, _, run) in &PIPELINE[..=end] {
            result = result.and_then(|module| run(&module, &facts));
        }
        let text = match &result {
            Ok(module) => print::module(module),
            Err(error) => format!("{error}\n"),
        };
        let extension = if result.is_ok() { "py" } else { "err" };
        let golden = root().join("golden/passes").join(&file.name).with_extension(extension);
        failures.extend(bless(&golden, &text).err());
        checked += 1;
    }
    assert!(checked > 30, "only {checked} files");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_pass_has_files() {
    for (_, name, _) in PIPELINE {
        let exempt = ["verify_limits", "split_host_device"];
        let folder = root().join("passes").join(name);
        assert!(folder.is_dir() || exempt.contains(name), "no files for {name}");
    }
}
