//! Reads TVMScript text into the IR.
//!
//! The rules below define the input and the result of [`parse`]; `README.md` beside this crate has
//! the table by construct.
//!
//! 1. **Subset.** A file is Python syntax, never run. It holds one class under `@I.ir_module` with
//!    functions under `@T.prim_func`, or such functions alone; imports; and constants (`N = 16`)
//!    that functions may use. `T` and `I` mean `tvm.script.tirx` (or `tir`) and `tvm.script.ir`,
//!    imported or not, under whatever name they are imported.
//! 2. **As in TVM.** A file that both TVM 0.27 and this crate accept means the same to both; a
//!    construct of TVM that this crate does not support is an error, never skipped. Constructs that
//!    are accepted besides are in the README.
//! 3. **Types.** A Python integer is an int32 (an int64 where it is too large), a float a float32,
//!    a boolean a bool; between Python numbers Python's own arithmetic holds. Operands of two types
//!    are converted to one as in TVM: floats win over integers, integers over booleans, wide over
//!    narrow, unsigned over signed of one width. Comparisons and `&`, `|`, `^`, `<<`, `>>` give a
//!    Python number the type of the other side. A stored value is converted to the type of its
//!    buffer.
//! 4. **Names.** `x = e` and `x: T.int32 = e` make a scalar that may be assigned again;
//!    `x: T.let[T.int32] = e` binds once. `n = T.int32()` declares a size. A name is known to the
//!    end of the block of statements that defined it.
//! 5. **Places.** Every statement and expression carries the line and column where it stands.
//! 6. **Errors.** All errors of a file are reported together (20 at most), each at its place, with
//!    what was expected, what was found, and the nearest known name. Syntax errors are reported
//!    alone.
//! 7. **Limits.** A file holds at most 4 MiB, nothing nests deeper than 256 levels, and an
//!    expression is at most 4096 names and operators long. What names and shapes stand for, used
//!    again and again, adds at most [`chipdock_ir::limits::NODES_MAX`] nodes. No input makes
//!    [`parse`] panic or overflow the stack.
//! 8. **Regions** that a block declares are hints to TVM; to the IR they are all that it may touch.
//!    A buffer that `T.reads` or `T.writes` leaves out is added, all of it, and
//!    [`parse_with_warnings`] says so.

mod args;
mod assign;
mod attrs;
mod block;
mod buffer;
mod call;
mod constant;
mod error;
mod expr;
mod function;
mod guard;
mod imports;
mod intrinsic;
mod left_out;
mod literal;
mod loops;
mod metadata;
mod names;
mod ops;
mod parser;
mod regions;
mod source;
mod stmt;
mod types;
mod value;

use chipdock_ir::validate::validate;
use chipdock_ir::{Diagnostic, IrModule, Span, Stage};
use rustpython_ruff_python_parser::parse_module;

pub use error::{Cause, ScriptError, ScriptErrors};

use parser::Parser;
use source::Source;

/// Greatest size of a file in bytes.
const SIZE_BYTES_MAX: usize = 4 << 20;

/// Greatest length of a validation message in characters.
const MESSAGE_MAX: usize = 1000;

/// Stack size of the thread that parses. Parsers recurse, and the depth that the limits of rule 7
/// allow is more than the stack of a caller may hold; unused stack costs nothing.
const STACK_BYTES: usize = 128 << 20;

/// Reads a TVMScript file; `file_name` is for messages.
///
/// # Errors
///
/// All errors of the text, by rule 6 of the crate.
///
/// # Examples
///
/// ```
/// let text = r#"
/// @T.prim_func(s_tir=True)
/// def double(A: T.Buffer(("n",), "float32"), B: T.Buffer((n,), "float32")):
///     n = T.int32()
///     for i in range(n):
///         B[i] = A[i] * 2.0
/// "#;
/// let module = chipdock_script::parse(text, "double.py")?;
/// assert_eq!(module.functions[0].params.len(), 2);
///
/// let errors = chipdock_script::parse(&text.replace("A[i]", "A[j]"), "double.py").unwrap_err();
/// assert!(errors.to_string().starts_with("double.py:6:18: error: j is not defined here"));
/// # Ok::<(), chipdock_script::ScriptErrors>(())
/// ```
pub fn parse(text: &str, file_name: &str) -> Result<IrModule, ScriptErrors> {
    parse_at(text, file_name, Stage::Blocks)
}

/// Result of [`parse_with_warnings`]: the module, and warnings about how it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The module of the file.
    pub module: IrModule,
    /// Corrections made while reading (rule 8 of the crate), in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a TVMScript file as [`parse`] does, and reports its corrections.
///
/// # Errors
///
/// All errors of the text, by rule 6 of the crate.
///
/// # Examples
///
/// ```
/// let text = r#"
/// @T.prim_func(s_tir=True)
/// def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
///     for i in range(8):
///         with T.sblock("copy"):
///             vi = T.axis.spatial(8, i)
///             T.reads()
///             T.writes(B[vi])
///             B[vi] = A[vi]
/// "#;
/// let script = chipdock_script::parse_with_warnings(text, "f.py")?;
/// assert!(script.warnings[0].message.starts_with("block `copy` reads `A`, which its T.reads(...) leaves out"));
/// # Ok::<(), chipdock_script::ScriptErrors>(())
/// ```
pub fn parse_with_warnings(text: &str, file_name: &str) -> Result<Script, ScriptErrors> {
    script_at(text, file_name, Stage::Blocks)
}

/// Reads the printed text of a module that is lowered as far as `stage`: as [`parse`], checked
/// against the rules of that stage instead of those before any pass. Entries of [`Stage::Host`] may
/// be called `__tvm_ffi_<name>`.
///
/// # Errors
///
/// All errors of the text, by rule 6 of the crate.
///
/// # Examples
///
/// ```
/// use chipdock_ir::Stage;
///
/// let text = "@T.prim_func\ndef __tvm_ffi_f(x: T.int32) -> T.int32:\n    return x\n";
/// assert!(chipdock_script::parse_at(text, "f.py", Stage::Host).is_ok());
/// assert!(chipdock_script::parse(text, "f.py").is_err());
/// ```
pub fn parse_at(text: &str, file_name: &str, stage: Stage) -> Result<IrModule, ScriptErrors> {
    script_at(text, file_name, stage).map(|script| script.module)
}

fn script_at(text: &str, file_name: &str, stage: Stage) -> Result<Script, ScriptErrors> {
    let source = Source::new(text, file_name);
    if text.len() > SIZE_BYTES_MAX {
        let message = format!("the file holds {} bytes; at most {SIZE_BYTES_MAX} are read", text.len());
        return Err(ScriptErrors::new(vec![source.error_at(Span::NONE, message)]));
    }
    if let Err((range, message)) = guard::check(text) {
        return Err(ScriptErrors::new(vec![source.error(range, message)]));
    }
    let read = std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("chipdock-script".to_owned()).stack_size(STACK_BYTES);
        let handle = worker.spawn_scoped(scope, || read(&source, stage)).map_err(|error| {
            let message = format!("no thread to parse with: {error}; free some memory or allow more threads");
            (Cause::Environment, message)
        })?;
        let bug = || "the Python parser failed on this file: a bug of ours, please report it".to_owned();
        handle.join().map_err(|_| (Cause::Internal, bug()))
    });
    read.unwrap_or_else(|(cause, message)| {
        Err(ScriptErrors::new(vec![source.error_at(Span::NONE, message)]).because(cause))
    })
}

fn read(source: &Source<'_>, stage: Stage) -> Result<Script, ScriptErrors> {
    match parse_module(source.text) {
        Ok(parsed) => {
            let (module, warnings) = Parser::new(source).module(&parsed.syntax().body)?;
            match validate(&module, stage) {
                Ok(()) => Ok(Script { module, warnings }),
                Err(problems) => {
                    Err(ScriptErrors::new(problems.iter().map(|p| explain(source, p)).collect()))
                }
            }
        }
        Err(error) => {
            let message = format!("not valid Python: {}", error.error);
            Err(ScriptErrors::new(vec![source.error(error.location, message)]))
        }
    }
}

/// Turns a problem that validation found into an error at its place in the text.
fn explain(source: &Source<'_>, problem: &Diagnostic) -> ScriptError {
    let mut message = problem.message.clone();
    if message.chars().count() > MESSAGE_MAX {
        message = message.chars().take(MESSAGE_MAX).chain("...".chars()).collect();
    }
    let node = if problem.node.is_empty() { String::new() } else { format!(" (`{}`)", problem.node) };
    source.error_at(problem.span, format!("in {}: {message}{node}", problem.function))
}
