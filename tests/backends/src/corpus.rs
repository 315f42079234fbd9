//! The corpus as things to run: functions with arguments, and what the interpreter makes of them.

use std::collections::HashMap;

use crate::cases;
use chipdock_interpret::{Arg, Interpreter, Limits, Output};
use chipdock_ir::{Child, ForKind, IrModule, Param, PrimFunc, StmtKind};
use chipdock_test_support::CorpusFile;

/// Small enough for the interpreter: at most this many elements in any buffer.
const ELEMENTS_MAX: i64 = 1 << 15;

/// A function of the corpus, its arguments, and what the interpreter makes of them.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// One argument per parameter.
    pub args: Vec<Arg>,
    /// What is in its tensors afterwards.
    pub outputs: Vec<Output>,
}

/// Whether no loop of a function is bound to threads, which takes a device.
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

/// A file of the corpus: the functions that `keep` takes, and those among them that can be run.
///
/// # Panics
///
/// When the file is not TVMScript.
#[must_use]
pub fn kernels(file: &CorpusFile, keep: impl Fn(&PrimFunc) -> bool) -> (IrModule, Vec<Kernel>) {
    let module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
    let functions: Vec<PrimFunc> = module.functions.iter().filter(|f| keep(f)).cloned().collect();
    let kept = IrModule { functions, attrs: module.attrs.clone() };
    let kernels = kept.functions.iter().filter_map(|function| kernel(&kept, function)).collect();
    (kept, kernels)
}

/// What the interpreter refuses (an index out of bounds, say), or would take too long for, no backend is asked for.
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
