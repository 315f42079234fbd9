//! Checks the passes: their output for the corpus is valid at its stage and computes the same.

use std::sync::Arc;

use chipdock_interpret::{Arg, Interpreter, Limits, Outcome, Output, compare};
use chipdock_ir::validate::validate;
use chipdock_ir::{DType, IrModule, PrimFunc, Stage, TargetCapabilities, attr, print};
use chipdock_passes::{DEVICE_PIPELINE, LowerOptions, PIPELINE, Pass, PassError, Scheduling, lower};
use chipdock_test_support::lists::List;
use chipdock_test_support::{CorpusFile, bless, filetests, scripts};

use crate::support::{
    self, counted, device_capabilities, host_capabilities, inputs, one_thread_capabilities,
    parallel_host_capabilities, read, shuffling_capabilities,
};

const STAGES: &str = "every_stage_is_valid";
const SAME: &str = "kernels_compute_the_same_after_every_pass";

pub(crate) fn tests(list: List, corpus: &[CorpusFile], passes: &[CorpusFile]) -> List {
    let programs = [corpus, passes].concat();
    list.each(STAGES, corpus, every_stage_is_valid)
        .each(SAME, &programs, kernels_compute_the_same_after_every_pass)
        .each("each_pass_makes_the_golden", passes, each_pass_makes_the_golden)
        .one("every_pass_has_files", every_pass_has_files)
}

/// Whether a host without threads can be given the module.
fn is_for_host(module: &IrModule) -> bool {
    module.functions.iter().all(support::without_threads) && validate(module, Stage::Blocks).is_ok()
}

fn options(stage: Stage, schedule: Scheduling) -> LowerOptions {
    LowerOptions { stage, schedule, ..LowerOptions::new(Arc::new(host_capabilities())) }
}

/// C.40: what a code generator for hosts receives is what the stage states.
///
/// ir: IR-G1, IR-G2, IR-G3, IR-G4.
fn every_stage_is_valid(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let parallel = LowerOptions {
        capabilities: Arc::new(parallel_host_capabilities()),
        ..options(Stage::Host, Scheduling::Auto)
    };
    let stages = [Stage::Scheduled, Stage::Flattened, Stage::Host];
    let all = stages.map(|stage| options(stage, Scheduling::Auto)).into_iter().chain([parallel]);
    let mut lowered = 0;
    for options in all.filter(|_| is_for_host(&module)) {
        let stage = options.stage;
        let result = match lower(&module, &options) {
            Ok(result) => result,
            Err(error) if support::may_be_refused(&file.name) => {
                println!("{error}");
                continue;
            }
            Err(error) => return Err(format!("to {stage:?}: {error}")),
        };
        if let Err(problems) = validate(&result.module, stage) {
            let text = print::module(&result.module);
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(format!("at {stage:?} it is not valid:\n{}\n{text}", problems.join("\n")));
        }
        lowered += 1;
    }
    counted(STAGES, file, lowered)
}

/// PASS-L3: after each pass of the pipeline in turn, with and without a schedule, a kernel gives
/// what it gives as read: bit by bit, but for the bounds of reductions and of mathematical
/// functions.
/// ir: IR-S7.
fn kernels_compute_the_same_after_every_pass(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let functions = module.functions.iter().filter(|_| is_for_host(&module));
    let expected: Vec<_> =
        functions.filter_map(|function| Some((function, expected(&module, function)?))).collect();
    let mut n_runs = 0;
    for schedule in [Scheduling::Auto, Scheduling::None].into_iter().filter(|_| !expected.is_empty()) {
        for (path, after) in prefixes(&module, schedule) {
            for (function, (args, outcome)) in &expected {
                agree(&format!("{} after{path}", function.name), &after, function, args, outcome);
                n_runs += 1;
            }
        }
    }
    counted(SAME, file, n_runs)
}

/// The module after each pass that leaves functions what they are, with the names of the passes so
/// far. One that is refused ends it.
fn prefixes(module: &IrModule, schedule: Scheduling) -> Vec<(String, IrModule)> {
    let capabilities = host_capabilities();
    let unchanged =
        |(_, name, _): &&(Stage, &str, Pass)| !["make_packed_api", "lower_workspace"].contains(name);
    let (mut module, mut path, mut result) = (module.clone(), String::new(), Vec::new());
    for (_, name, pass) in PIPELINE.iter().filter(unchanged) {
        if schedule == Scheduling::None && chipdock_passes::SCHEDULES.contains(name) {
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

fn expected(module: &IrModule, function: &PrimFunc) -> Option<(Vec<Arg>, Outcome)> {
    let args = inputs(function, 7)?;
    let limits = Limits { steps_max: 400_000, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_limits(limits).with_bounds();
    match interpreter.run(&function.name, &mut args.clone()) {
        Ok(outcome) => Some((args, outcome)),
        Err(error) => {
            println!("{}: left out: {error}", function.name);
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

/// Compares the output of each pass for the files in its folder below `passes/`, after the passes
/// before it, or its error, with the golden. For a pass that applies to device functions only, only
/// these are shown. A line `# target: ` selects another target than a host: `device` has threads,
/// `device with shuffles` warps that support shuffles, `device without threads` no thread axes,
/// `device without warps` warps that are single threads, `device with handles` opaque data
/// pointers, `device with fixed pointers` none that can be moved, `device with scalar arguments`
/// functions that take no pointers, `device with short vectors` at most 4 lanes,
/// `device with lone threads` is a processor, `device of 32 bits` has no float64 and int64,
/// `device without halves` no float16 and bfloat16, `host with dot products` two of them,
/// `host with tiles` tiles for both, and `parallel host` launches parallel regions and asks whether
/// to go on.
fn each_pass_makes_the_golden(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let name = file.name.strip_prefix("passes/").unwrap_or(&file.name);
    let pass = name.split('/').next().unwrap_or_default();
    let capabilities = match file.text.lines().find_map(|line| line.strip_prefix("# target: ")) {
        Some("device") => device_capabilities(),
        Some("device with shuffles") => shuffling_capabilities(),
        Some("device without warps") => device_capabilities().with(|it| it.execution.warp_size = Some(1)),
        Some("device with lone threads") => device_capabilities().with(|it| {
            it.execution.warp_size = Some(1);
            it.execution.runs_threads_serially = true;
        }),
        Some("device without threads") => one_thread_capabilities(),
        Some("device with handles") => device_capabilities().with(|it| it.memory.opaque_handles = true),
        Some("device with fixed pointers") => {
            device_capabilities().with(|it| it.memory.fixed_pointers = true)
        }
        Some("device with scalar arguments") => {
            device_capabilities().with(|it| it.memory.scalar_arguments = true)
        }
        Some("device with short vectors") => device_capabilities().with(|it| it.types.lanes_max = 4),
        Some("device with short handles") => device_capabilities().with(|it| {
            it.memory.opaque_handles = true;
            it.memory.pointer_bits = 32;
        }),
        Some("device of 32 bits") => device_capabilities()
            .with(|it| it.types.missing_types = vec![DType::FLOAT64, DType::INT64, DType::UINT64]),
        Some("device without halves") => {
            device_capabilities().with(|it| it.types.missing_types = vec![DType::FLOAT16, DType::BFLOAT16])
        }
        Some("host with dot products") => host_capabilities().with(|it| {
            it.execution.dot_products = ["uint8*int8", "bfloat16*bfloat16"].map(str::to_owned).to_vec();
        }),
        Some("host with tiles") => host_capabilities().with(|it| {
            it.execution.dot_products = ["uint8*int8", "bfloat16*bfloat16"].map(str::to_owned).to_vec();
            it.execution.tile_products = it.execution.dot_products.clone();
        }),
        Some("parallel host") => parallel_host_capabilities(),
        Some(other) => return Err(format!("there is no target {other}")),
        None => host_capabilities(),
    };
    let result = after(&module, pass, &capabilities);
    let text = match &result {
        Ok(module) => print::module(module),
        Err(error) => format!("{error}\n"),
    };
    let extension = if result.is_ok() { "py" } else { "err" };
    bless(&filetests().join("golden/passes").join(name).with_extension(extension), &text)
}

/// The module after the pass of that name and those before it; of a pass that is for device
/// functions alone, these.
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

fn every_pass_has_files() -> Result<(), String> {
    for name in PIPELINE.iter().map(|(_, name, _)| name).chain(DEVICE_PIPELINE.iter().map(|(name, _)| name)) {
        let files = scripts(&filetests().join("passes").join(name), "").unwrap_or_default().len();
        if files < 3 {
            return Err(format!("{files} files for {name}"));
        }
    }
    Ok(())
}
