//! The functions of the corpus with arguments, and their results in the interpreter.

use std::collections::HashMap;

use crate::cases;
use chipdock_interpret::{Arg, Interpreter, Limits, Output};
use chipdock_ir::{Child, ForKind, IrModule, Param, PrimFunc, StmtKind};
use chipdock_test_support::CorpusFile;

/// Largest number of elements in any buffer, small enough for the interpreter.
const ELEMENTS_MAX: i64 = 1 << 15;

/// A function of the corpus, its arguments, and its results in the interpreter.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name of the function.
    pub name: String,
    /// One argument per parameter.
    pub args: Vec<Arg>,
    /// Content of its tensors after the call.
    pub outputs: Vec<Output>,
}

/// Returns true if no loop of a function is bound to threads, which would require a device.
#[must_use]
pub fn is_for_host(function: &PrimFunc) -> bool {
    let mut bound = false;
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            bound |= matches!(&stmt.kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
                || matches!(&stmt.kind, StmtKind::LaunchThread { .. });
        }
    });
    !bound
}

/// Reads a file of the corpus; returns the module with the functions that `keep` accepts, and those
/// of them that can be run.
///
/// # Panics
///
/// If the file is not TVMScript.
#[must_use]
pub fn kernels(file: &CorpusFile, keep: impl Fn(&PrimFunc) -> bool) -> (IrModule, Vec<Kernel>) {
    let module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
    let functions: Vec<PrimFunc> = module.functions.iter().filter(|f| keep(f)).cloned().collect();
    let kept = IrModule { functions, attrs: module.attrs.clone() };
    let kernels = kept.functions.iter().filter_map(|function| kernel(&kept, function)).collect();
    (kept, kernels)
}

/// Runs a function in the interpreter; returns `None` if the interpreter refuses it (an index out
/// of bounds, for example) or would take too long.
fn kernel(module: &IrModule, function: &PrimFunc) -> Option<Kernel> {
    let args = arguments(function)?;
    let limits = Limits { steps_max: 2_000_000, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_bounds().with_limits(limits);
    let outcome = interpreter.run(&function.name, &mut args.clone()).ok()?;
    Some(Kernel { name: function.name.to_string(), args, outputs: outcome.outputs })
}

fn arguments(function: &PrimFunc) -> Option<Vec<Arg>> {
    let symbols =
        ["n", "m", "k", "d"].iter().zip([37, 12, 9, 21]).map(|(name, size)| ((*name).to_owned(), size));
    let symbols: HashMap<String, i64> = symbols.collect();
    for param in &function.params {
        if let Param::Buffer(buffer) = param {
            let size: i64 = cases::shape(buffer, &symbols).ok()?.iter().product();
            if size > ELEMENTS_MAX || !buffer.strides.is_empty() || buffer.elem_offset.is_some() {
                return None;
            }
        }
    }
    cases::arguments(function, &symbols).ok()
}
