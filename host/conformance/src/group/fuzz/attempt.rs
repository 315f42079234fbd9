//! One random program on one target: built, called, and compared with the interpreter.

use chipdock_interpret::{Array, Output, compare};
use chipdock_programs::Case as Program;

use crate::execute::{self, Guards, Ready};
use crate::kernels::Kernels;
use crate::stop::equal;
use crate::{Context, Stop, Verdict};

/// Failed attempt.
pub(super) struct Failed {
    /// Step that failed: a program is reduced only while the same step fails.
    pub what: &'static str,
    /// Reason of the failure.
    pub stop: Stop,
}

/// Compiles and calls a program, and compares its tensors with the interpreter's within their
/// bounds.
pub(super) fn attempt(c: &Context<'_>, program: &Program) -> Result<(), Failed> {
    let failed = |what: &'static str| move |stop: Stop| Failed { what, stop: stop.note(what) };
    let compiled = execute::compile(c, &program.module).map_err(failed("while it was compiled"))?;
    Kernels::find(&compiled).tell(c, &program.function);
    let ready = execute::load(c, &compiled.artifact).map_err(failed("while it was loaded"))?;
    let (module, device) = match ready {
        Ready::Callable(module, device) => (module, device),
        Ready::Built(why) => {
            c.not_run(why);
            return Ok(());
        }
    };
    let found = execute::call(&module, &device, &program.function, &program.args, Guards::BEHIND);
    let found = found.map_err(failed("while it was called"))?;
    let expected = program.expected().map_err(Stop::suite).map_err(failed("in the interpreter"))?;
    hold(&expected.outputs, &found.tensors).map_err(failed("in its result"))
}

/// Compares tensors with the interpreter's within their bounds.
fn hold(expected: &[Output], found: &[Array]) -> Verdict {
    equal("tensors", &found.len(), &expected.len())?;
    for (output, found) in expected.iter().zip(found) {
        compare(found, output).map_err(|mismatch| {
            Stop::failed("what the interpreter computes", format!("{}: {mismatch}", output.name))
        })?;
    }
    Ok(())
}
