//! The default schedule for targets with threads, on generated programs: it keeps the interpreter's
//! results and the limits of the target, and a second run changes nothing.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use chipdock_ir::{
    Child, ForKind, IrModule, Stage, StmtKind, Target, TargetCapabilities, ThreadAxis, print,
    validate::validate,
};
use chipdock_passes::{PIPELINE, default_schedule};
use chipdock_programs::{Case, Failure, Options, ProgramCheck};

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// A device with so many threads in a block, bytes of shared memory, and blocks in a grid along
/// each axis.
fn device(threads: i64, shared_bytes: i64, blocks: Option<i64>) -> TargetCapabilities {
    TargetCapabilities::host("device-kind").with(|it| {
        it.target = Arc::new(Target { kind: "device-kind".into(), ..Target::default() });
        it.device.device_type = 2;
        it.device.name = "device".into();
        it.stage = Stage::Device;
        it.is_host = false;
        it.execution.thread_axes = ThreadAxis::ALL.iter().map(|(axis, _)| *axis).collect();
        it.memory.storage_scopes = vec!["global".into(), "shared".into(), "local".into()];
        it.limits.threads_per_block_max = Some(threads);
        it.memory.shared_memory_bytes_max = Some(shared_bytes);
        it.execution.warp_size = Some(32);
        it.limits.grid_dimensions_max = [blocks; 3];
    })
}

fn failure(what: &str, module: &IrModule, error: impl ToString) -> Failure {
    Failure::new(what, format!("{}\n{}", error.to_string(), print::module(module)))
}

fn scheduled(case: &Case, capabilities: &TargetCapabilities) -> Result<(), Failure> {
    let module = default_schedule(&case.module, capabilities)
        .map_err(|error| failure("refused", &case.module, error))?;
    validate(&module, Stage::Scheduled).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        failure("not valid", &module, problems.join("\n"))
    })?;
    let arrays = case.run(&module).map_err(|error| failure("run", &module, error))?;
    case.check(&arrays).map_err(|error| failure("wrong", &module, error))?;
    let again =
        default_schedule(&module, capabilities).map_err(|error| failure("refused again", &module, error))?;
    if again != module {
        return Err(failure("changed again", &again, print::module(&module)));
    }
    within(&module, capabilities).map_err(|error| failure("limits", &module, error))
}

/// Whether constant extents keep to the limits.
fn within(module: &IrModule, capabilities: &TargetCapabilities) -> Result<(), String> {
    let mut problem = Ok(());
    for function in &module.functions {
        function.body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            let StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } = &stmt.kind else { return };
            let is_block = matches!(axis, ThreadAxis::BlockX | ThreadAxis::BlockY | ThreadAxis::BlockZ);
            let limit = if is_block {
                capabilities.limits.grid_dimensions_max[0]
            } else {
                capabilities.limits.threads_per_block_max
            };
            if let (Some(extent), Some(limit)) = (extent.as_int(), limit)
                && extent > i128::from(limit)
            {
                problem = Err(format!("{axis} has {extent} of {limit}"));
            }
        });
    }
    problem
}

/// What follows takes what the schedule makes: after each pass up to the split, the interpreter
/// gives the same.
fn lowered(case: &Case, capabilities: &TargetCapabilities) -> Result<(), Failure> {
    let mut module = case.module.clone();
    for (_, name, pass) in PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device") {
        let new = pass(&module, capabilities)
            .map_err(|error| failure(&format!("{name} refuses"), &module, error))?;
        if new == module {
            continue;
        }
        module = new;
        let arrays =
            case.run(&module).map_err(|error| failure(&format!("run after {name}"), &module, error))?;
        case.check(&arrays).map_err(|error| failure(&format!("wrong after {name}"), &module, error))?;
    }
    // The limits are verified of kernels, which are apart from then on.
    let apart = PIPELINE.iter().filter(|(_, name, _)| ["split_host_device", "verify_limits"].contains(name));
    for (_, name, pass) in apart {
        module = pass(&module, capabilities)
            .map_err(|error| failure(&format!("{name} refuses"), &module, error))?;
    }
    Ok(())
}

#[test]
fn pass_l3_schedules_are_lowered() {
    let capabilities = device(256, 16384, Some(65535));
    ProgramCheck::new("pass_l3_schedules_are_lowered", FOLDER)
        .programs(400)
        .run(|case| lowered(case, &capabilities));
}

/// A processor, whose threads gain nothing by shared memory.
fn lone(threads: i64, blocks: Option<i64>) -> TargetCapabilities {
    device(threads, 16384, blocks).with(|it| {
        it.execution.warp_size = Some(1);
        it.execution.runs_threads_serially = true;
    })
}

#[test]
fn pass_l3_schedules_for_serial_threads_are_lowered() {
    let capabilities = lone(256, None);
    let check = ProgramCheck::new("pass_l3_schedules_for_serial_threads_are_lowered", FOLDER);
    check.programs(400).run(|case| lowered(case, &capabilities));
}

#[test]
fn pass_l3_default_schedule_for_serial_threads() {
    for capabilities in [lone(256, None), lone(4, Some(2))] {
        let check = ProgramCheck::new("pass_l3_default_schedule_for_serial_threads", FOLDER);
        check.programs(700).run(|case| scheduled(case, &capabilities));
    }
}

/// No schedule asks for shared memory that is not there.
#[test]
fn pass_l3_default_schedule_without_shared_memory() {
    for shared_bytes in [0, 100] {
        let capabilities = device(256, shared_bytes, None);
        let check = ProgramCheck::new("pass_l3_default_schedule_without_shared_memory", FOLDER);
        check.programs(400).run(|case| lowered(case, &capabilities));
    }
}

#[test]
fn pass_l3_default_schedule_for_threads() {
    let capabilities = device(256, 16384, None);
    ProgramCheck::new("pass_l3_default_schedule_for_threads", FOLDER)
        .programs(1500)
        .run(|case| scheduled(case, &capabilities));
}

#[test]
fn pass_l3_default_schedule_for_many_threads() {
    let capabilities = device(1024, 49152, Some(65535));
    ProgramCheck::new("pass_l3_default_schedule_for_many_threads", FOLDER)
        .programs(500)
        .run(|case| scheduled(case, &capabilities));
}

/// So few blocks and threads that nearly every launch runs in rounds.
#[test]
fn pass_l3_default_schedule_for_a_tiny_grid() {
    let capabilities = device(4, 4096, Some(2));
    ProgramCheck::new("pass_l3_default_schedule_for_a_tiny_grid", FOLDER)
        .programs(1500)
        .run(|case| scheduled(case, &capabilities));
}

/// What is bound by hand stays, and what is not is scheduled together with it.
#[test]
fn pass_l3_default_schedule_keeps_bound_threads() {
    let capabilities = device(64, 4096, Some(16));
    let check = ProgramCheck::new("pass_l3_default_schedule_keeps_bound_threads", FOLDER)
        .options(Options::with_threads());
    check.programs(1500).run(|case| scheduled(case, &capabilities));
}
