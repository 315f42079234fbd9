//! The passes on the whole corpus: what they make is valid at its stage and computes the same.

mod support;

use std::sync::Arc;

use chipdock_interpret::{Arg, Interpreter, Limits, Outcome, Output, compare};
use chipdock_ir::validate::validate;
use chipdock_ir::{DType, IrModule, PrimFunc, Stage, TargetCapabilities, attr, print};
use chipdock_passes::{DEVICE_PIPELINE, LowerOptions, PIPELINE, Pass, PassError, Schedule, lower};
use chipdock_test_support::{bless, filetests};

use support::{
    device_capabilities, host_capabilities, inputs, parallel_host_capabilities, shuffling_capabilities,
};

/// Kernels of the corpus that a host without threads can be given.
fn modules() -> Vec<(String, IrModule)> {
    let files = chipdock_test_support::corpus().unwrap();
    let read = files.into_iter().map(|file| {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        (file.name, module)
    });
    read.filter(|(_, module)| module.functions.iter().all(support::without_threads)).collect()
}

fn options(stage: Stage, schedule: Schedule) -> LowerOptions {
    LowerOptions { stage, schedule, ..LowerOptions::new(Arc::new(host_capabilities())) }
}

/// ir: G1, G2, G3, G4.
#[test]
fn every_stage_is_valid() {
    let mut lowered = 0;
    for (name, module) in modules() {
        if validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        let parallel = LowerOptions {
            capabilities: Arc::new(parallel_host_capabilities()),
            ..options(Stage::Host, Schedule::Auto)
        };
        let stages = [Stage::Scheduled, Stage::Flattened, Stage::Host];
        for options in stages.map(|stage| options(stage, Schedule::Auto)).into_iter().chain([parallel]) {
            let stage = options.stage;
            let result = match lower(&module, &options) {
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

/// Files that are read and run pass by pass: the corpus, and what the goldens of the passes are made of.
fn programs() -> Vec<(String, IrModule)> {
    let files = chipdock_test_support::scripts(&filetests().join("passes"), "passes/").unwrap();
    let read = files.into_iter().map(|file| {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        (file.name, module)
    });
    let read = read.filter(|(_, module)| module.functions.iter().all(support::without_threads));
    modules().into_iter().chain(read).collect()
}

/// L3: after each pass of the pipeline in turn, with and without a schedule, a kernel gives what it gives as read: bit by
/// bit, but for the bounds of reductions and of mathematical functions.
/// ir: S7.
#[test]
fn kernels_compute_the_same_after_every_pass() {
    let (mut n_functions, mut n_runs) = (0, 0);
    for (name, module) in programs() {
        if validate(&module, Stage::Blocks).is_err() {
            continue;
        }
        let expected: Vec<_> =
            module.functions.iter().filter_map(|f| Some((f, expected(&name, &module, f)?))).collect();
        n_functions += expected.len();
        for schedule in [Schedule::Auto, Schedule::None] {
            for (path, after) in prefixes(&module, schedule) {
                for (function, (args, outcome)) in &expected {
                    agree(&format!("{name}: {} after{path}", function.name), &after, function, args, outcome);
                    n_runs += 1;
                }
            }
        }
    }
    println!("{n_functions} functions, {n_runs} runs");
    assert!(n_functions > 80, "only {n_functions} functions ran");
}

/// The module after each pass that leaves functions what they are, with the names of the passes so far. One that is
/// refused ends it.
fn prefixes(module: &IrModule, schedule: Schedule) -> Vec<(String, IrModule)> {
    let capabilities = host_capabilities();
    let unchanged =
        |(_, name, _): &&(Stage, &str, Pass)| !["make_packed_api", "lower_workspace"].contains(name);
    let (mut module, mut path, mut result) = (module.clone(), String::new(), Vec::new());
    for (_, name, pass) in PIPELINE.iter().filter(unchanged) {
        if schedule == Schedule::None && chipdock_passes::SCHEDULES.contains(name) {
            continue;
        }
        match pass(&module, &capabilities) {
            Ok(new) => module = new,
            Err(error) => {
                println!("{path} {name}: {error}");
                break;
            }
        }
        path = format!("{path} {name}");
        result.push((path.clone(), module.clone()));
    }
    result
}

fn expected(name: &str, module: &IrModule, function: &PrimFunc) -> Option<(Vec<Arg>, Outcome)> {
    let args = inputs(function, 7)?;
    let limits = Limits { steps_max: 400_000, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_limits(limits).with_bounds();
    match interpreter.run(&function.name, &mut args.clone()) {
        Ok(outcome) => Some((args, outcome)),
        Err(error) => {
            println!("{name}: {}: left out: {error}", function.name);
            None
        }
    }
}

fn agree(what: &str, after: &IrModule, function: &PrimFunc, args: &[Arg], expected: &Outcome) {
    let found = Interpreter::new(after).run(&function.name, &mut args.to_vec());
    let found = found.unwrap_or_else(|error| panic!("{what}: {error}\n{}", print::module(after)));
    for (expected, found) in expected.outputs.iter().zip(&found.outputs) {
        if let Err(mismatch) = compare(&found.array, expected) {
            panic!("{what}: {}: {mismatch}\n{}", expected.name, print::module(after));
        }
    }
    if let (Some((value, bound)), Some((found, _))) = (&expected.returned, &found.returned) {
        let bounds = Some(vec![*bound]);
        let value = Output { parameter: 0, name: "the result".into(), array: value.clone(), bounds };
        compare(found, &value).unwrap_or_else(|mismatch| panic!("{what}: {mismatch}"));
    }
}

/// What each pass makes of the files in its folder below `passes/`, those before it run first; or its error. Of a pass that is
/// for device functions alone these are shown. A line
/// `# target: device` asks for a device with threads instead of a host, `# target: device with shuffles` for one whose warps
/// shuffle, `# target: device without warps` for one whose warps are single threads, `# target: device with handles` for
/// one whose data pointers are opaque, `# target: device with lone threads` for one that is a processor, `# target: device of 32 bits` for one without float64 and int64, `# target: parallel
/// host` for a host whose code launches parallel regions.
#[test]
fn each_pass_makes_the_golden() {
    let (mut failures, mut checked) = (Vec::new(), 0);
    for file in chipdock_test_support::scripts(&filetests().join("passes"), "").unwrap() {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap_or_else(|error| panic!("{error}"));
        let pass = file.name.split('/').next().unwrap();
        let capabilities = match file.text.lines().find_map(|line| line.strip_prefix("# target: ")) {
            Some("device") => device_capabilities(),
            Some("device with shuffles") => shuffling_capabilities(),
            Some("device without warps") => device_capabilities().with(|it| it.execution.warp_size = Some(1)),
            Some("device with lone threads") => device_capabilities().with(|it| {
                it.execution.warp_size = Some(1);
                it.execution.runs_threads_serially = true;
            }),
            Some("device with handles") => device_capabilities().with(|it| it.memory.opaque_handles = true),
            Some("device with short handles") => device_capabilities().with(|it| {
                it.memory.opaque_handles = true;
                it.memory.pointer_bits = 32;
            }),
            Some("device of 32 bits") => device_capabilities()
                .with(|it| it.types.missing_types = vec![DType::FLOAT64, DType::INT64, DType::UINT64]),
            Some("parallel host") => parallel_host_capabilities(),
            Some(other) => panic!("{}: there is no target {other}", file.name),
            None => host_capabilities(),
        };
        let result = after(&module, pass, &capabilities);
        let text = match &result {
            Ok(module) => print::module(module),
            Err(error) => format!("{error}\n"),
        };
        let extension = if result.is_ok() { "py" } else { "err" };
        let golden = filetests().join("golden/passes").join(&file.name).with_extension(extension);
        failures.extend(bless(&golden, &text).err());
        checked += 1;
    }
    assert!(checked > 30, "only {checked} files");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The module after the pass of that name and those before it; of a pass that is for device functions alone, these.
fn after(module: &IrModule, pass: &str, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let run = |passes: Vec<Pass>, module: &IrModule| {
        passes.into_iter().try_fold(module.clone(), |module, pass| pass(&module, capabilities))
    };
    if let Some(end) = PIPELINE.iter().position(|(_, name, _)| *name == pass) {
        return run(PIPELINE[..=end].iter().map(|(_, _, pass)| *pass).collect(), module);
    }
    let end = DEVICE_PIPELINE.iter().position(|(name, _)| *name == pass);
    let end = end.unwrap_or_else(|| panic!("there is no pass {pass}"));
    let until_split = PIPELINE.iter().filter(|(stage, ..)| *stage <= Stage::Device);
    let mut split = run(until_split.map(|(_, _, pass)| *pass).collect(), module)?;
    split.functions.retain(|function| function.attrs.contains_key(attr::TARGET));
    run(DEVICE_PIPELINE[..=end].iter().map(|(_, pass)| *pass).collect(), &split)
}

#[test]
fn every_pass_has_files() {
    for name in PIPELINE.iter().map(|(_, name, _)| name).chain(DEVICE_PIPELINE.iter().map(|(name, _)| name)) {
        let folder = filetests().join("passes").join(name);
        let files = chipdock_test_support::scripts(&folder, "").unwrap_or_default().len();
        assert!(files >= 3, "{files} files for {name}");
    }
}
