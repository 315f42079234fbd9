//! Checks a module against the rules of the specification on the front page, once, at the border.
//!
//! With a module that [`validate`] accepts, passes, code generators and the interpreter do not
//! panic, and they may walk it recursively. Every problem is reported, up to [`DIAGNOSTICS_MAX`]:
//! each with its function, position, node, what was expected and what was found.

mod block;
pub(crate) mod bounds;
mod buffer;
mod call;
mod constant;
mod expr;
mod function;
mod measure;
mod stmt;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::print::{expr_line, stmt_line};
use crate::{Buffer, Diagnostic, Expr, Functions, IrModule, Op, PrimFunc, Span, Stage, Stmt, Var};

/// The greatest number of problems that are reported.
pub const DIAGNOSTICS_MAX: usize = 100;

/// Checks that a module is valid at `stage`.
///
/// # Errors
///
/// Every problem, in the order of the text, at most [`DIAGNOSTICS_MAX`]. For a module that nests
/// too deep or is too large, only that is reported.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{DType, Expr, Stage, Stmt, StmtKind, Var, build, validate::validate};
///
/// let mut f = build::function("f");
/// f.push(Stmt::new(StmtKind::Evaluate(Var::new("x", DType::INT32).expr())));
/// let problems = validate(&build::module([f.finish()]), Stage::Blocks).unwrap_err();
/// assert_eq!(problems[0].to_string(), "in f: variable `x` is not known here; bind it before it is used (`x`)");
/// ```
pub fn validate(module: &IrModule, stage: Stage) -> Result<(), Vec<Diagnostic>> {
    let mut problems = measure::module(module);
    if problems.is_empty() {
        problems = function::module(module, stage);
    }
    problems.truncate(DIAGNOSTICS_MAX);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns a diagnostic for each function that nests too deeply, or one if the module is too large
/// ([`crate::limits`]).
#[must_use]
pub fn oversized(module: &IrModule) -> Vec<Diagnostic> {
    measure::module(module)
}

/// The enclosing construct, which determines the exits that are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// The function itself: no loop to leave.
    Function,
    /// A serial or a while loop: `break` and `continue` are allowed.
    Serial,
    /// A loop of another kind, a thread or a block, by name.
    Closed(&'static str),
}

/// The node at which a problem is reported.
#[derive(Clone, Copy)]
enum At<'a> {
    Expr(&'a Expr),
    Stmt(&'a Stmt),
}

/// An enclosing block, with the regions that it declares.
struct BlockFrame {
    name: Arc<str>,
    reads: Option<HashSet<Buffer>>,
    writes: Option<HashSet<Buffer>>,
    /// Buffers allocated in the block, which it need not declare.
    own: HashSet<Buffer>,
    /// The source buffer of each view.
    views: HashMap<Buffer, Buffer>,
}

/// The check of one function.
struct Checker<'m> {
    functions: &'m Functions<'m>,
    function: &'m PrimFunc,
    stage: Stage,
    problems: Vec<Diagnostic>,
    /// Every variable bound in this function, to detect one that is bound twice.
    bound_vars: HashSet<Var>,
    bound_buffers: HashSet<Buffer>,
    /// Variables bound by a `Let`, which may occur in several places.
    let_vars: HashSet<Var>,
    /// Variables in scope.
    vars: HashSet<Var>,
    buffers: HashSet<Buffer>,
    /// Data variables of constants and of views of them.
    constants: HashSet<Var>,
    scopes: Vec<(Vec<Var>, Vec<Buffer>)>,
    /// Position that is reported for nodes without one.
    span: Span,
    around: Around,
    /// The thread, parallel loop or block that a `return` would leave, if any.
    closed: Option<&'static str>,
    blocks: Vec<BlockFrame>,
    /// Reduction axes, while the init of a block is checked.
    banned: Vec<Var>,
    /// Whether the code may be evaluated, as far as enclosing constant conditions tell.
    is_reached: bool,
    /// Whether the next access is only of an address.
    is_address: bool,
    /// The op that may occur as the next expression, because the enclosing call takes it.
    takes: Option<Op>,
}

impl<'m> Checker<'m> {
    fn new(functions: &'m Functions<'m>, function: &'m PrimFunc, stage: Stage) -> Self {
        Self {
            functions,
            function,
            stage,
            problems: Vec::new(),
            bound_vars: HashSet::new(),
            bound_buffers: HashSet::new(),
            let_vars: HashSet::new(),
            vars: HashSet::new(),
            buffers: HashSet::new(),
            constants: HashSet::new(),
            scopes: vec![(Vec::new(), Vec::new())],
            span: Span::NONE,
            around: Around::Function,
            closed: None,
            blocks: Vec::new(),
            banned: Vec::new(),
            is_reached: true,
            is_address: false,
            takes: None,
        }
    }

    fn report(&mut self, span: Span, node: String, message: impl Into<String>) {
        if self.problems.len() < DIAGNOSTICS_MAX {
            let span = if span == Span::NONE { self.span } else { span };
            let function = Arc::clone(&self.function.name);
            self.problems.push(Diagnostic { function, span, node, message: message.into() });
        }
    }

    fn at_expr(&mut self, expr: &Expr, message: impl Into<String>) {
        if self.problems.len() < DIAGNOSTICS_MAX {
            self.report(expr.span, expr_line(expr), message);
        }
    }

    fn at_stmt(&mut self, stmt: &Stmt, message: impl Into<String>) {
        if self.problems.len() < DIAGNOSTICS_MAX {
            self.report(stmt.span, stmt_line(stmt), message);
        }
    }

    fn at_node(&mut self, at: At<'_>, message: impl Into<String>) {
        match at {
            At::Expr(expr) => self.at_expr(expr, message),
            At::Stmt(stmt) => self.at_stmt(stmt, message),
        }
    }

    /// Reports a problem of the function, or of the part of it that `node` names.
    fn at(&mut self, node: &str, message: impl Into<String>) {
        self.report(Span::NONE, node.to_owned(), message);
    }

    /// Checks `inner` in a scope of its own, which ends with it.
    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        self.scopes.push((Vec::new(), Vec::new()));
        inner(self);
        if let Some((vars, buffers)) = self.scopes.pop() {
            for var in &vars {
                self.vars.remove(var);
            }
            for buffer in &buffers {
                self.buffers.remove(buffer);
            }
        }
    }

    /// Binds a variable for the rest of the scope.
    fn bind(&mut self, var: &Var) {
        self.name(&var.name);
        if !self.bound_vars.insert(var.clone()) {
            self.at(
                &var.name,
                format!(
                    "variable `{}` is bound twice; make a new one for each place that binds it",
                    var.name
                ),
            );
        }
        if let Some(problem) = expr::type_problem(var.dtype) {
            self.at(&var.name, format!("variable `{}`: {problem}", var.name));
        }
        if var.pointer.is_some() && !var.dtype.is_handle() {
            self.at(
                &var.name,
                format!("variable `{}` is a pointer: expected type handle, found {}", var.name, var.dtype),
            );
        }
        self.know(var);
    }

    fn know(&mut self, var: &Var) {
        if self.vars.insert(var.clone())
            && let Some((vars, _)) = self.scopes.last_mut()
        {
            vars.push(var.clone());
        }
    }

    /// Checks a name: short enough, and without characters that would break a line of text.
    fn name(&mut self, name: &str) {
        if let Some(problem) = name_problem(name) {
            self.at("", problem);
        }
    }
}

/// Returns the problem of a name, if any.
fn name_problem(name: &str) -> Option<String> {
    const BYTES_MAX: usize = 256;
    if name.len() > BYTES_MAX {
        let start: String = name.chars().take(40).collect();
        return Some(format!("name \"{start}…\" is longer than {BYTES_MAX} bytes"));
    }
    name.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        .then(|| format!("name {name:?} has control characters"))
}

#[cfg(test)]
mod tests;
