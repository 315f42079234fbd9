//! The passes of targets with threads, on generated programs: each keeps the interpreter's results,
//! with races and divergent barriers reported as errors.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use chipdock_ir::{IrModule, Op, Stage, TargetCapabilities, ThreadAxis, print};
use chipdock_passes::PIPELINE;
use chipdock_programs::{Case, Failure, Options, ProgramCheck};

const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Left out: a schedule of the program's own is what is tested; what a program has outside of
/// threads a device refuses.
const LEFT_OUT: &[&str] = &["default_schedule", "split_reductions", "verify_memory", "verify_limits"];

/// A device of no particular kind.
fn capabilities(native_ops: &[Op]) -> TargetCapabilities {
    TargetCapabilities::host("test").with(|it| {
        it.is_host = false;
        it.stage = Stage::Device;
        it.execution.thread_axes = ThreadAxis::ALL.iter().map(|(axis, _)| *axis).collect();
        it.memory.storage_scopes =
            ["global", "shared", "shared.dyn", "warp", "local"].map(Into::into).to_vec();
        it.limits.threads_per_block_max = Some(1024);
        it.memory.shared_memory_bytes_max = Some(49152);
        it.execution.warp_size = Some(32);
        it.execution.native_ops = native_ops.to_vec();
    })
}

fn of_warps() -> Vec<Op> {
    Op::all_where(|op| op.threads.is_of_warp()).collect()
}

fn after(name: &str, module: &IrModule, error: impl ToString) -> Failure {
    Failure::new(name, format!("after {name}: {}\n{}", error.to_string(), print::module(module)))
}

fn pipeline(case: &Case, capabilities: &TargetCapabilities) -> Result<(), Failure> {
    let mut module = case.module.clone();
    for (_, name, pass) in PIPELINE.iter().take_while(|(_, name, _)| *name != "split_host_device") {
        if LEFT_OUT.contains(name) {
            continue;
        }
        module =
            pass(&module, capabilities).map_err(|error| after(&format!("{name} refuses"), &module, error))?;
        let arrays = case.run(&module).map_err(|error| after(name, &module, error))?;
        case.check(&arrays).map_err(|error| after(name, &module, error))?;
    }
    Ok(())
}

fn programs(name: &str) -> ProgramCheck {
    ProgramCheck::new(name, FOLDER).options(Options::with_threads()).programs(1500)
}

/// PASS-L3.
#[test]
fn pass_l3_threads_compute_the_same_after_every_pass() {
    let capabilities = capabilities(&[]);
    programs("pass_l3_threads_compute_the_same_after_every_pass").run(|case| pipeline(case, &capabilities));
}

/// PASS-L3.
#[test]
fn pass_l3_threads_with_shuffles_compute_the_same_after_every_pass() {
    let capabilities = capabilities(&of_warps());
    programs("pass_l3_threads_with_shuffles_compute_the_same_after_every_pass")
        .run(|case| pipeline(case, &capabilities));
}
