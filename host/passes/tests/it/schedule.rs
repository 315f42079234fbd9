//! Schedules: each step keeps what a function computes, and refuses what it may not do.

#![expect(clippy::panic, reason = "a check of a schedule shows the function and the trace")]

mod caches;
mod chains;
pub(crate) mod kernels;
mod loops;
mod moves;
mod packing;
mod traces;

use std::sync::Arc;

use chipdock_interpret::{Arg, ErrorKind, InterpretError, Interpreter, Outcome, compare};
use chipdock_ir::{
    Expr, ForKind, IrModule, PrimFunc, Stage, Stmt, StmtKind, TargetCapabilities, build, print,
    validate::validate,
};
use chipdock_passes::schedule::{Schedule, ScheduleError};
use chipdock_passes::{LowerOptions, lower};

use kernels::Kernel;

/// Checks that the function is valid, and computes what the kernel does.
#[track_caller]
fn check(kernel: &Kernel, sch: &Schedule) {
    let text = print::function(sch.function());
    let module = build::module([sch.function().clone()]);
    if let Err(problems) = validate(&module, Stage::Scheduled) {
        panic!("{}\n{text}\n{}", problems[0], sch.trace());
    }
    compared(kernel, sch, &module);
}

/// Checks that the passes take the function, and make one that computes the same.
#[track_caller]
fn check_lowered(kernel: &Kernel, sch: &Schedule) {
    let module = lowered(sch, sch.function().clone());
    let Err(error) = run(kernel, &module) else { return compared(kernel, sch, &module) };
    // `vectorize` drops the mask of a load from an allocated buffer, and then loads elements
    // without a value into lanes that it does not use. Of such a function, the same without vectors
    // is compared.
    assert!(matches!(error.kind, ErrorKind::Uninitialized { .. }), "{error}\n{}", print::module(&module));
    let mut function = sch.function().clone();
    function.body = without_vectors(&function.body);
    assert!(function.body != sch.function().body, "{error}\n{}\n{}", print::module(&module), sch.trace());
    compared(kernel, sch, &lowered(sch, function));
}

#[track_caller]
fn lowered(sch: &Schedule, function: PrimFunc) -> IrModule {
    let module = build::module([function]);
    let capabilities = Arc::new(TargetCapabilities::host("test"));
    let schedule = chipdock_passes::Scheduling::None;
    let options = LowerOptions { capabilities, schedule, stage: Stage::Flattened, from: None };
    let lowered = match lower(&module, &options) {
        Ok(lowered) => lowered.module,
        Err(error) => panic!("{error}\n{}\n{}", print::module(&module), sch.trace()),
    };
    if let Err(problems) = validate(&lowered, Stage::Flattened) {
        panic!("{}\n{}\n{}", problems[0], print::module(&lowered), sch.trace());
    }
    lowered
}

fn without_vectors(stmt: &Stmt) -> Stmt {
    let new = stmt.map_children(&mut Expr::clone, &mut |inner| without_vectors(inner));
    let mut kind = new.kind.clone();
    if let StmtKind::For { kind, .. } = &mut kind
        && *kind == ForKind::Vectorized
    {
        *kind = ForKind::Serial;
    }
    Stmt::new(kind)
}

fn run(kernel: &Kernel, module: &IrModule) -> Result<Outcome, InterpretError> {
    let mut args: Vec<Arg> = kernel.args();
    Interpreter::new(module).run(&kernel.function.name, &mut args)
}

#[track_caller]
fn compared(kernel: &Kernel, sch: &Schedule, module: &IrModule) {
    let text = print::module(module);
    let original = build::module([kernel.function.clone()]);
    let name = &kernel.function.name;
    let expected = Interpreter::new(&original).with_bounds().run(name, &mut kernel.args()).unwrap();
    let found = match run(kernel, module) {
        Ok(found) => found,
        Err(error) => panic!("{error}\n{text}\n{}", sch.trace()),
    };
    for (found, expected) in found.outputs.iter().zip(&expected.outputs) {
        if let Err(mismatch) = compare(&found.array, expected) {
            panic!("{}: {mismatch:?}\n{text}\n{}", expected.name, sch.trace());
        }
    }
}

/// The message of a step that is refused.
#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ScheduleError>) -> String {
    result.unwrap_err().to_string()
}

#[track_caller]
fn expect(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in: {text}");
    }
}
