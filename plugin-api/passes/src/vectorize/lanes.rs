//! One body over vectors.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Callee, DType, Effect, Expr, ExprKind, ForKind, Op, Signature, Stmt, StmtKind, TargetFacts, Var,
};

use crate::simplify;
use crate::walk::depends_on_memory;

/// Makes vectors of what depends on a variable. Every method answers `None` where that cannot be said.
pub(super) struct Lanes<'a> {
    lanes: u16,
    facts: &'a TargetFacts,
    /// What variables became.
    vectors: Substitution,
    changed: Vec<Var>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(lanes: u16, facts: &'a TargetFacts) -> Self {
        Self { lanes, facts, vectors: Substitution::new(), changed: Vec::new() }
    }

    pub(super) fn body(mut self, var: &Var, ramp: Expr, body: &Stmt) -> Option<Stmt> {
        self.map(var, simplify::expr(&ramp));
        self.stmt(body)
    }

    fn map(&mut self, var: &Var, value: Expr) {
        self.vectors.map_var(var, value);
        self.changed.push(var.clone());
    }

    fn stmt(&mut self, stmt: &Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            StmtKind::Seq(stmts) => {
                let stmts = stmts.iter().map(|s| self.stmt(s)).collect::<Option<Vec<_>>>()?;
                return Some(Stmt::seq(stmts));
            }
            StmtKind::Bind { var, value } => {
                let value = self.expr(value)?;
                if value.dtype == var.dtype {
                    StmtKind::Bind { var: var.clone(), value }
                } else {
                    let vector = Var::new(var.name.clone(), value.dtype);
                    self.map(var, vector.expr());
                    StmtKind::Bind { var: vector, value }
                }
            }
            StmtKind::Store { buffer, indices, value, predicate: None } if buffer.dtype.is_scalar() => {
                let [index] = indices.as_slice() else { return None };
                let index = self.expr(index)?;
                let value = self.expr(value)?;
                // One element for all lanes: the last one's value, of which vectors know nothing.
                (!index.dtype.is_scalar()).then_some(())?;
                let value = self.wide(value)?;
                StmtKind::Store { buffer: buffer.clone(), indices: vec![index], value, predicate: None }
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                (!matches!(kind, ForKind::Parallel | ForKind::ThreadBinding(_))).then_some(())?;
                let scalar = |e: Expr| e.dtype.is_scalar().then_some(e);
                let (min, extent) = (scalar(self.expr(min)?)?, scalar(self.expr(extent)?)?);
                let step = match step {
                    Some(step) => Some(scalar(self.expr(step)?)?),
                    None => None,
                };
                let (var, annotations, body) = (var.clone(), annotations.clone(), self.stmt(body)?);
                StmtKind::For { var, min, extent, kind: *kind, step, annotations, body }
            }
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.expr(condition)?;
                condition.dtype.is_scalar().then_some(())?;
                let then = self.stmt(then)?;
                let otherwise = match otherwise {
                    Some(otherwise) => Some(self.stmt(otherwise)?),
                    None => None,
                };
                StmtKind::If { condition, then, otherwise }
            }
            _ => return None,
        };
        Some(Stmt::new(kind).with_span(stmt.span))
    }

    /// The value in every lane; `None` for vectors of another width.
    fn wide(&self, value: Expr) -> Option<Expr> {
        match value.dtype.lanes {
            1 => Some(value.broadcast(self.lanes)),
            lanes if lanes == self.lanes => Some(value),
            _ => None,
        }
    }

    fn is_changed(&self, expr: &Expr) -> bool {
        let mut changed = false;
        expr.walk(&mut |e| changed |= matches!(&e.kind, ExprKind::Var(var) if self.changed.contains(var)));
        changed
    }

    /// The expression for all lanes; a scalar where all lanes agree.
    fn expr(&mut self, expr: &Expr) -> Option<Expr> {
        if !self.is_changed(expr) {
            return Some(expr.clone());
        }
        if !expr.dtype.is_scalar() {
            return None;
        }
        let vector = expr.dtype.with_lanes(self.lanes);
        let kind = match &expr.kind {
            ExprKind::Var(var) => return self.vectors.var(var).cloned(),
            ExprKind::Cast(value) => {
                let cast = Expr::new(ExprKind::Cast(self.expr(value)?), vector);
                return Some(simplify::expr(&cast.with_span(expr.span)));
            }
            ExprKind::Not(value) => ExprKind::Not(self.expr(value)?),
            ExprKind::Binary(op, a, b) => {
                if let Some(ramp) = self.ramp(*op, a, b) {
                    return Some(ramp);
                }
                ExprKind::Binary(*op, self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Compare(op, a, b) => ExprKind::Compare(*op, self.wide_expr(a)?, self.wide_expr(b)?),
            ExprKind::And(a, b) => {
                (!depends_on_memory(b)).then_some(())?;
                ExprKind::And(self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Or(a, b) => {
                (!depends_on_memory(b)).then_some(())?;
                ExprKind::Or(self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Select(c, a, b) => {
                ExprKind::Select(self.wide_expr(c)?, self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Load { buffer, indices, predicate: None } if buffer.dtype.is_scalar() => {
                let [index] = indices.as_slice() else { return None };
                let indices = vec![self.expr(index)?];
                ExprKind::Load { buffer: buffer.clone(), indices, predicate: None }
            }
            ExprKind::Let { var, value, body } => {
                let value = self.expr(value)?;
                if value.dtype == var.dtype {
                    ExprKind::Let { var: var.clone(), value, body: self.wide_expr(body)? }
                } else {
                    let new = Var::new(var.name.clone(), value.dtype);
                    self.map(var, new.expr());
                    ExprKind::Let { var: new, value, body: self.wide_expr(body)? }
                }
            }
            ExprKind::Call { callee: Callee::Op(op), args } => return self.call(*op, args, vector),
            _ => return None,
        };
        Some(Expr::new(kind, vector).with_span(expr.span))
    }

    fn wide_expr(&mut self, expr: &Expr) -> Option<Expr> {
        let value = self.expr(expr)?;
        self.wide(value)
    }

    /// A ramp plus, minus or times what is the same in every lane, a ramp again.
    fn ramp(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
        let arithmetic = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if !arithmetic || !a.dtype.is_integer() {
            return None;
        }
        let (a, b) = (self.wide_expr(a)?, self.wide_expr(b)?);
        let sum = simplify::expr(&Expr::binary(op, a, b));
        matches!(sum.kind, ExprKind::Ramp { .. }).then_some(sum)
    }

    fn call(&mut self, op: Op, args: &[Expr], vector: DType) -> Option<Expr> {
        let elementwise = match op.signature() {
            Signature::FloatUnary | Signature::FloatBinary => self.on_vectors(op, vector),
            Signature::FloatTest | Signature::IntUnary | Signature::IntBinary | Signature::NumberUnary => {
                true
            }
            Signature::Own => matches!(op, Op::Fma | Op::Clz | Op::Reinterpret | Op::Likely | Op::IfThenElse),
        };
        (elementwise && op.effect() == Effect::Pure).then_some(())?;
        if op == Op::Likely {
            return self.expr(args.first()?);
        }
        if op == Op::IfThenElse {
            let [c, a, b] = args else { return None };
            let condition = self.expr(c)?;
            let (a_wide, b_wide) = (self.wide_expr(a)?, self.wide_expr(b)?);
            if condition.dtype.is_scalar() {
                return Some(Expr::call(op, vec![condition, a_wide, b_wide], vector));
            }
            // A choice by lane evaluates both.
            (!depends_on_memory(a) && !depends_on_memory(b)).then_some(())?;
            return Some(Expr::select(condition, a_wide, b_wide));
        }
        let args = args.iter().map(|arg| self.wide_expr(arg)).collect::<Option<Vec<_>>>()?;
        Some(Expr::call(op, args, vector))
    }

    /// Whether a function of floats stays on vectors: native, a core op, or lowered to arithmetic.
    fn on_vectors(&self, op: Op, dtype: DType) -> bool {
        let lowered = matches!(op, Op::Exp | Op::Tanh | Op::Sigmoid) && dtype.bits <= 32;
        self.facts.native_ops.contains(&op)
            || !self.facts.is_host
            || lowered
            || matches!(
                op,
                Op::Sqrt
                    | Op::Rsqrt
                    | Op::Floor
                    | Op::Ceil
                    | Op::Trunc
                    | Op::Nearbyint
                    | Op::Round
                    | Op::Copysign
            )
    }
}
