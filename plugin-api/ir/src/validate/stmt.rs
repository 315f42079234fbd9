//! Checks of statements: scope, types of operands, exits.

use super::bounds::truth;
use super::call::writes;
use super::expr::{accessed, is_index};
use super::{Around, At, Checker};
use crate::limits::STRING_BYTES_MAX;
use crate::{
    AttrNode, AttrValue, Attrs, Callee, Child, DType, Effect, Expr, ExprKind, ForKind, Reducer, Span, Stage,
    Stmt, StmtKind, Var,
};

/// Returns true if a loop of that extent may have iterations.
fn runs(extent: &Expr) -> bool {
    extent.as_int().is_none_or(|extent| extent > 0)
}

impl Checker<'_> {
    /// Checks a statement in a scope of its own.
    pub(super) fn body(&mut self, stmt: &Stmt) {
        self.scoped(|c| c.stmt(stmt));
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        if self.problems.len() >= super::DIAGNOSTICS_MAX {
            return;
        }
        let outer = self.span;
        if stmt.span != Span::NONE {
            self.span = stmt.span;
        }
        self.order(stmt);
        self.kind(stmt);
        self.span = outer;
    }

    fn kind(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.scoped(|c| stmts.iter().for_each(|s| c.stmt(s))),
            StmtKind::Bind { var, value } => {
                self.typed(value, "bound value", var.dtype);
                self.bound_to_constant(var, value);
                self.bind(var);
            }
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.access(At::Stmt(stmt), buffer, indices, predicate.as_ref(), true);
                self.typed(value, "stored value", accessed(buffer, indices));
            }
            StmtKind::AllocBuffer { buffer, annotations } => {
                self.allocate(buffer);
                self.annotations(annotations);
                if let Some(frame) = self.blocks.last_mut() {
                    frame.own.insert(buffer.clone());
                }
            }
            StmtKind::DeclBuffer { buffer, data } => self.decl_buffer(stmt, buffer, data.as_ref()),
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::While { condition, body } => {
                self.typed(condition, "condition", DType::BOOL);
                let may_run = truth(condition) != Some(false);
                self.inside(Around::Serial, None, |c| c.reached(may_run, |c| c.body(body)));
            }
            StmtKind::If { condition, then, otherwise } => {
                self.typed(condition, "condition", DType::BOOL);
                let truth = truth(condition);
                self.reached(truth != Some(false), |c| c.body(then));
                self.reached(truth != Some(true), |c| otherwise.iter().for_each(|s| c.body(s)));
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.block(stmt, iter_values, predicate, block);
            }
            StmtKind::Evaluate(value) => {
                self.expr(value);
                if let ExprKind::Str(_) = value.kind {
                    self.at_stmt(stmt, "a string is no statement");
                }
            }
            StmtKind::Assert { condition, kind, message } => {
                self.assert(stmt, condition, kind, message);
            }
            StmtKind::Attr { node, key, value, body } => {
                self.attr(stmt, node, key, value);
                self.body(body);
            }
            StmtKind::LaunchThread { var, extent, body, .. } => {
                if self.stage == Stage::Host {
                    self.at_stmt(stmt, "a host function launches no threads");
                }
                self.counted(var, &[extent]);
                self.thread(|c| {
                    c.scoped(|c| {
                        c.bind(var);
                        c.reached(runs(extent), |c| c.stmt(body));
                    });
                });
            }
            StmtKind::Return(value) => self.returns(stmt, value.as_ref()),
            StmtKind::Break | StmtKind::Continue => self.leaves_loop(stmt),
        }
    }

    /// Checks `inner` within a loop, a thread or a block.
    fn inside(&mut self, around: Around, closed: Option<&'static str>, inner: impl FnOnce(&mut Self)) {
        let outer = (self.around, self.closed);
        self.around = around;
        self.closed = closed.or(self.closed);
        inner(self);
        (self.around, self.closed) = outer;
    }

    fn thread(&mut self, inner: impl FnOnce(&mut Self)) {
        self.inside(Around::Closed("a thread"), Some("a thread"), inner);
    }

    /// Checks a loop variable and its bounds.
    fn counted(&mut self, var: &Var, bounds: &[&Expr]) {
        if !is_index(var.dtype) {
            let text = format!("loop variable `{}`: expected int32 or int64, found {}", var.name, var.dtype);
            self.at(&var.name, text);
        }
        for bound in bounds {
            self.typed(bound, &format!("bound of the loop over `{}`", var.name), var.dtype);
        }
    }

    fn for_loop(&mut self, stmt: &Stmt) {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else { return };
        self.counted(var, &[min, extent]);
        self.annotations(annotations);
        if let Some(step) = step {
            self.typed(step, "step", var.dtype);
            if step.as_int().is_none_or(|step| step < 1) {
                self.at_expr(step, "the step of a loop is a constant of at least 1");
            }
        }
        let around = match kind {
            ForKind::Serial => Around::Serial,
            ForKind::Parallel => Around::Closed("a parallel loop"),
            ForKind::Vectorized => Around::Closed("a vectorized loop"),
            ForKind::Unrolled => Around::Closed("an unrolled loop"),
            ForKind::ThreadBinding(_) => Around::Closed("a thread"),
        };
        let constant = matches!(kind, ForKind::Vectorized | ForKind::Unrolled);
        if constant && extent.as_int().is_none() {
            let text = "the extent of a vectorized or unrolled loop is a constant";
            self.at_stmt(stmt, format!("{text}; make it serial, or split it"));
        }
        let inner = |c: &mut Self| {
            c.scoped(|c| {
                c.bind(var);
                c.reached(runs(extent), |c| c.stmt(body));
            });
        };
        match (kind, around) {
            (ForKind::ThreadBinding(_), _) => {
                if self.stage >= Stage::Device {
                    self.at_stmt(
                        stmt,
                        "there are no thread-bound loops at this stage; launch threads instead",
                    );
                }
                if min.as_int() != Some(0) || step.is_some() {
                    self.at_stmt(stmt, "a thread-bound loop starts at 0 and has no step");
                }
                self.thread(inner);
            }
            (ForKind::Unrolled, around) => self.inside(around, None, inner),
            (_, Around::Closed(what)) => self.inside(around, Some(what), inner),
            (_, around) => self.inside(around, None, inner),
        }
    }

    fn decl_buffer(&mut self, stmt: &Stmt, buffer: &crate::Buffer, data: Option<&Expr>) {
        if let Some(ExprKind::ConstantData(bytes)) = data.map(|data| &data.kind) {
            self.constant(stmt, buffer, bytes);
        } else if let Some(data) = data {
            self.typed(data, "data of the buffer", DType::HANDLE);
            self.view_of_constant(buffer, data);
            if let ExprKind::Var(var) = &data.kind {
                let text = "make that variable the buffer's own data variable, and give no data";
                self.at_stmt(stmt, format!("the data of the buffer is the variable `{}`; {text}", var.name));
            }
        }
        self.declare(buffer, data.is_some());
        if self.stage >= Stage::Flattened {
            self.flat(buffer);
        }
        // Only its data variable determines whose memory it uses, so it counts as the block's own.
        if let Some(frame) = self.blocks.last_mut() {
            frame.own.insert(buffer.clone());
        }
    }

    fn assert(&mut self, stmt: &Stmt, condition: &Expr, kind: &str, message: &[Expr]) {
        self.typed(condition, "condition", DType::BOOL);
        if !super::call::is_c_name(kind) {
            self.at_stmt(stmt, format!("\"{kind}\" is no kind of error; expected a name such as ValueError"));
        }
        for part in message {
            self.value_or_string(part);
            let fits = matches!(part.kind, ExprKind::Str(_))
                || part.dtype.is_scalar()
                    && (part.dtype.is_integer() && !part.dtype.is_storage() || part.dtype.is_bool());
            if !fits {
                let text = format!("a part of a message is a string or an integer, found {}", part.dtype);
                self.at_expr(part, text);
            }
        }
    }

    fn attr(&mut self, stmt: &Stmt, node: &AttrNode, key: &str, value: &Expr) {
        self.name(key);
        self.value_or_string(value);
        match node {
            AttrNode::Buffer(buffer) if !self.buffers.contains(buffer) => {
                let text = format!("an attribute is about buffer `{}`, which is not known here", buffer.name);
                self.at_stmt(stmt, text);
            }
            AttrNode::Var(var) if !self.vars.contains(var) => {
                let text = format!("an attribute is about variable `{}`, which is not known here", var.name);
                self.at_stmt(stmt, text);
            }
            AttrNode::Reducer(reducer) => self.reducer(stmt, reducer),
            _ => {}
        }
    }

    /// Checks that a reducer is closed: its results use only its own variables, and its identities
    /// are constants.
    fn reducer(&mut self, stmt: &Stmt, reducer: &Reducer) {
        let n_values = reducer.result.len();
        let counts = [reducer.lhs.len(), reducer.rhs.len(), reducer.identity.len()];
        if n_values == 0 || counts.iter().any(|n| *n != n_values) {
            let text = format!(
                "a reducer has as many variables on either side and identities as results, found {counts:?} of {n_values}"
            );
            return self.at_stmt(stmt, text);
        }
        for (index, result) in reducer.result.iter().enumerate() {
            let (a, b, identity) = (&reducer.lhs[index], &reducer.rhs[index], &reducer.identity[index]);
            if [b.dtype, result.dtype, identity.dtype].iter().any(|dtype| *dtype != a.dtype) {
                self.at_stmt(stmt, format!("value {index} of the reducer has one type everywhere"));
            }
            if identity.as_int().is_none() && !matches!(identity.kind, ExprKind::Float(_)) {
                self.at_stmt(stmt, "the identity of a reducer is a constant");
            }
            result.walk(&mut |expr| {
                let free = match &expr.kind {
                    ExprKind::Var(var) => !reducer.lhs.contains(var) && !reducer.rhs.contains(var),
                    ExprKind::Load { .. } | ExprKind::Call { callee: Callee::Global(_), .. } => true,
                    _ => false,
                };
                if free {
                    self.at_stmt(stmt, "a reducer is closed: its results are over its own variables alone");
                }
            });
        }
        let own: Vec<Var> = reducer.lhs.iter().chain(&reducer.rhs).cloned().collect();
        let outer = std::mem::take(&mut self.vars);
        self.vars.extend(own);
        reducer.result.iter().chain(&reducer.identity).for_each(|expr| self.expr(expr));
        self.vars = outer;
    }

    /// Checks annotations: expressions in them use only variables in scope.
    pub(super) fn annotations(&mut self, attrs: &Attrs) {
        for (name, value) in attrs {
            self.name(name);
            self.attr_value(value);
        }
    }

    fn attr_value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Expr(expr) => self.value_or_string(expr),
            AttrValue::List(items) => items.iter().for_each(|item| self.attr_value(item)),
            AttrValue::Map(map) => self.annotations(map),
            AttrValue::Float(bits) if bits.value().is_nan() && bits.0 != f64::NAN.to_bits() => {
                self.at("", "a NaN in an attribute is the quiet NaN of bits 0x7ff8000000000000, no other");
            }
            AttrValue::Str(text) if text.len() > STRING_BYTES_MAX => {
                self.at("", format!("a string in an attribute is longer than {STRING_BYTES_MAX} bytes"));
            }
            AttrValue::Target(target) => {
                if let Err(what) = target.check() {
                    self.at("", what);
                }
            }
            _ => {}
        }
    }

    fn returns(&mut self, stmt: &Stmt, value: Option<&Expr>) {
        if let Some(what) = self.closed {
            self.at_stmt(stmt, format!("a function cannot be left from within {what}"));
        }
        match (value, self.function.ret) {
            (None, None) => {}
            (Some(value), Some(ret)) => self.typed(value, "returned value", ret),
            (Some(value), None) => {
                self.value(value);
                self.at_stmt(stmt, "the function returns nothing, found a value");
            }
            (None, Some(ret)) => self.at_stmt(stmt, format!("the function returns {ret}, found nothing")),
        }
    }

    fn leaves_loop(&mut self, stmt: &Stmt) {
        match self.around {
            Around::Serial => {}
            Around::Function => self.at_stmt(stmt, "there is no loop to leave here"),
            Around::Closed(what) => {
                let text = "only iterations of a serial or while loop, directly around, can be left";
                self.at_stmt(stmt, format!("{text}; found {what}"));
            }
        }
    }

    /// Checks that at most one call of a statement changes state, and nothing besides it reads:
    /// their order would be unspecified.
    fn order(&mut self, stmt: &Stmt) {
        let mut seen = Seen::default();
        stmt.for_each_child(&mut |child| {
            if let Child::Expr(expr) = child {
                seen.expr(expr, false);
            }
        });
        let Some(call) = seen.writes.first() else { return };
        let text = "their order would be unsaid; bind one of them to a variable before, as `x: T.let = ...`";
        if let Some(second) = seen.writes.get(1) {
            self.at_expr(second, format!("a second call in one statement that changes state: {text}"));
        } else if let Some(read) = seen.reads {
            let call = crate::print::expr_line(call);
            self.at_expr(read, format!("memory is read beside the call `{call}` that changes state: {text}"));
        }
    }
}

/// The reads and writes of the expressions of a statement.
#[derive(Default)]
struct Seen<'a> {
    writes: Vec<&'a Expr>,
    /// A read outside of the arguments of a call that writes.
    reads: Option<&'a Expr>,
}

impl<'a> Seen<'a> {
    fn expr(&mut self, expr: &'a Expr, within: bool) {
        let mut within = within;
        match &expr.kind {
            ExprKind::Load { .. } if !within => self.reads = Some(expr),
            ExprKind::Call { callee, .. } if writes(callee) => {
                self.writes.push(expr);
                within = true;
            }
            ExprKind::Call { callee: Callee::Op(op), .. } if op.effect() == Effect::Reads && !within => {
                self.reads = Some(expr);
            }
            _ => {}
        }
        expr.for_each_child(&mut |child| self.expr(child, within));
    }
}
