//! Prints the IR as TVMScript, the form that TVM 0.27 prints.
//!
//! The text is valid Python, and `chipdock-script` reads it back to an equal module
//! ([`crate::equal::modules`]), if [`crate::validate`] accepts the module. Other modules are
//! printed in a readable form; nothing panics, and what nests too deep is cut to `...`.
//!
//! Rules for nodes that are not printed as plain TVMScript, or need a rule to be read back:
//!
//! 1. **Names** are made valid and unique among those in scope (`x`, `x_1`, …); a name is free
//!    again where its scope ends. The pointer of a buffer is `A.data`, unless it is a variable of
//!    its own (`T.decl_buffer(…, data=p)`); in an annotation it is the buffer, `{"key": [A]}`.
//! 2. **Sizes**: a size of a parameter's shape is quoted at the first occurrence of a variable
//!    (`("n", "2 * m")`), as TVM reads it, an int32; each is declared in the body
//!    (`n = T.int32()`), as are the variables of `T.Let(body, where={x: value})`. A parameter with
//!    strides, an offset, or a size that is no int32 is a handle and a `T.match_buffer` at the top
//!    of the body. A stride or an offset that a view of a block binds is declared before it.
//! 3. **Constants**: an int32 is bare, every other one has its type (`T.int64(1)`, `T.bool(True)`,
//!    `T.float32(0.5)`, `T.float32("nan")`). An operator between two constants is a call
//!    (`T.Add(1, 2)`, `T.EQ(1, 2)`, `T.And(…)`), so that nobody folds it; so are `and` and `or` of
//!    vectors, which would read as `&` and `|`. A vector is bound without its type
//!    (`v: T.let = …`): TVM has no name for the type of every vector.
//! 4. **Ranges** `a:b`, `range(a, b)`, `(a, b)`: with the first number 0, the extent is `b`; with
//!    two constants, `b - a`; else `b` is `a + extent`. With a step, `extent * step` takes the
//!    place of the extent; a step of 1 is left out.
//! 5. **Indices**: a vector of stride 1 is a slice in a store (`B[i:i + 4] = …`) and `T.Ramp`
//!    elsewhere; a range of extent 1 in a region is the bare index; no index is `B[()]`.
//!    Predicates: `T.masked_load(dtype, A, i, p)`, `T.masked_store(B, value, i, p)`.
//! 6. **Calls**: `T.<op>(args)`; `T.reinterpret(dtype, x)`, `T.handle_load(dtype, handle, offset)`,
//!    `T.tvm_struct_get(handle, index, field, dtype)`, `T.call_extern(dtype, name, args)` and
//!    `T.call_pure_extern` state their type (`T.handle().ty` for a pointer,
//!    `T.handle("int64", "global").ty` where it is bound to a variable of that type), as does
//!    `T.call_intrin(dtype, "tirx.<op>", args)`: `atomic_add`, `if_then_else` of pointers
//!    (`prim.`), and quantised arithmetic of another type than int32, which TVM reads in no other
//!    form; `T.tvm_access_ptr(T.type_annotation(dtype), …)`; `Module.f(args)` calls a function of
//!    the module. `bitwise_and`, `_or`, `_xor` and shifts are operators; booleans take `and`, `or`,
//!    `not`.
//! 7. **Blocks**: two or more neighbouring axes that run over whole loops from 0 are one
//!    `T.axis.remap`.
//! 8. **Constants** (IR-B8) are `K = T.decl_buffer((2,), "int32", data=T.allocate_const([1, 2],
//!    "int32", [2]))`: elements in order, infinities and the NaN as `float("inf")` and
//!    `float("nan")`. An array with another NaN is the hexadecimal digits of its bytes, as a string
//!    in the place of the list.
//! 9. **Nothing** is `pass`. Sequences within sequences print as one.

mod expr;
mod function;
mod literal;
pub(crate) mod names;
pub(crate) mod stmt;

use std::collections::HashMap;

use crate::{DType, Expr, IrModule, PrimFunc, Stmt, Var};
use names::Names;

/// The nesting depth from which nodes are cut to `...`: twice what [`crate::validate`] accepts.
const DEPTH_MAX: usize = 2 * crate::limits::DEPTH_MAX;
/// The greatest number of characters of a node in a message.
const LINE_MAX: usize = 120;

/// Prints a module as TVMScript.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{IrModule, print};
///
/// assert!(print::module(&IrModule::default()).ends_with("class Module:\n    pass\n"));
/// ```
#[must_use]
pub fn module(module: &IrModule) -> String {
    let mut printer = Printer::new(usize::MAX);
    printer.module(module);
    printer.out
}

/// Prints a function as TVMScript, outside of a module.
#[must_use]
pub fn function(function: &PrimFunc) -> String {
    let mut printer = Printer::new(usize::MAX);
    printer.out.push_str("# from tvm.script import tirx as T\n\n");
    printer.function(function);
    printer.out
}

/// Prints a statement as TVMScript; free variables by their names.
#[must_use]
pub fn stmt(stmt: &Stmt) -> String {
    let mut printer = Printer::new(usize::MAX);
    printer.body(stmt);
    printer.out
}

/// Prints an expression as TVMScript; free variables by their names.
#[must_use]
pub fn expr(expr: &Expr) -> String {
    let mut printer = Printer::new(usize::MAX);
    printer.expr(expr);
    printer.out
}

/// Prints an expression in one line of at most 120 characters, for messages.
#[must_use]
pub fn expr_line(expr: &Expr) -> String {
    let mut printer = Printer::new(LINE_MAX);
    printer.expr(expr);
    cut(&printer.out)
}

/// Prints a statement's first line, of at most 120 characters, for messages.
#[must_use]
pub fn stmt_line(stmt: &Stmt) -> String {
    let mut printer = Printer::new(LINE_MAX);
    printer.body(stmt);
    cut(&printer.out)
}

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= LINE_MAX {
        return line.to_owned();
    }
    line.chars().take(LINE_MAX - 3).chain("...".chars()).collect()
}

struct Printer {
    out: String,
    indent: usize,
    depth: usize,
    /// Number of printed bytes after which nothing more is begun.
    limit: usize,
    names: Names,
    /// The type that the next call states, if it is more precise than the call's own type.
    typed: Option<String>,
    /// The type of the elements of the buffer that is being declared, which a constant has.
    elements: Option<DType>,
    /// The number of its elements, if that is constant.
    extent: Option<usize>,
    /// Extents of the enclosing loops that start at 0.
    loops: HashMap<Var, Expr>,
}

impl Printer {
    fn new(limit: usize) -> Self {
        Self {
            out: String::new(),
            indent: 0,
            depth: 0,
            limit,
            names: Names::new(),
            typed: None,
            elements: None,
            extent: None,
            loops: HashMap::new(),
        }
    }

    /// Starts a line.
    fn begin(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn line(&mut self, text: &str) {
        self.begin();
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Prints `inner` one level deeper, or `...` where that is too deep or too long.
    fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth >= DEPTH_MAX || self.out.len() > self.limit {
            self.out.push_str("...");
            return;
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// Prints `items` with `, ` between them.
    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
    }
}

#[cfg(test)]
mod tests;
