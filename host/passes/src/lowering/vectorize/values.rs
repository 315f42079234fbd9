//! Vectorized values of a body.

use chipdock_ir::op::{Lowering, Takes};
use chipdock_ir::{
    BinaryOp, Buffer, Callee, CompareOp, DType, Effect, Expr, ExprKind, Op, TargetCapabilities, Var,
};

use super::lanes::Lanes;
use crate::simplify::{self, is_pure, linear::Linear};
use crate::types::lower_intrinsics::lowered_ulps;
use crate::walk::{conjuncts, depends_on_memory};

impl Lanes<'_> {
    /// Broadcasts the value to every lane; `None` for vectors of another width.
    fn wide(&self, value: Expr) -> Option<Expr> {
        match value.dtype.lanes {
            1 => Some(value.broadcast(self.lanes)),
            lanes if lanes == self.lanes => Some(value),
            _ => None,
        }
    }

    fn is_changed(&self, expr: &Expr) -> bool {
        let mut changed = false;
        expr.walk(&mut |e| {
            changed |= match &e.kind {
                ExprKind::Var(var) => self.changed.contains(var),
                ExprKind::Load { buffer, .. } => self.own.contains_key(&buffer.data),
                _ => false,
            };
        });
        changed
    }

    /// The expression for all lanes; a scalar if all lanes agree. Under a mask an expression that
    /// reads memory is a vector, because it must not be read if no lane runs.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Expr> {
        if !self.is_changed(expr) && (self.mask.is_none() || !depends_on_memory(expr)) {
            return Some(expr.clone());
        }
        if !expr.dtype.is_scalar() {
            return None;
        }
        let vector = expr.dtype.with_lanes(self.lanes);
        let kind = match &expr.kind {
            ExprKind::Var(var) => return self.vectors.get(var).cloned(),
            ExprKind::Cast(value) => {
                let cast = Expr::new(ExprKind::Cast(self.wide_expr(value)?), vector);
                return Some(simplify::expr(&cast.with_span(expr.span)));
            }
            ExprKind::Not(value) => ExprKind::Not(self.wide_expr(value)?),
            ExprKind::Binary(op, a, b) => {
                if let Some(ramp) = self.ramp(*op, a, b) {
                    return Some(ramp);
                }
                ExprKind::Binary(*op, self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Compare(op, a, b) => {
                let (a, b) = (self.wide_expr(a)?, self.wide_expr(b)?);
                if let Some(same) = whole_vectors(*op, &a, &b) {
                    return Some(same.with_span(expr.span));
                }
                ExprKind::Compare(*op, a, b)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) if !depends_on_memory(expr) => {
                return self.both(matches!(expr.kind, ExprKind::And(..)), a, b);
            }
            ExprKind::And(a, b) => {
                let first = self.wide_expr(a)?;
                return self.named(first, &[b], |lanes, first| {
                    let second = lanes.where_true(first, b)?;
                    Some(first.clone().and(second))
                });
            }
            ExprKind::Or(a, b) => {
                let first = self.wide_expr(a)?;
                return self.named(first, &[b], |lanes, first| {
                    let second = lanes.where_true(&first.clone().logical_not(), b)?;
                    Some(first.clone().or(second))
                });
            }
            ExprKind::Select(c, a, b) => {
                ExprKind::Select(self.wide_expr(c)?, self.wide_expr(a)?, self.wide_expr(b)?)
            }
            ExprKind::Load { buffer, indices, predicate } if buffer.dtype.is_scalar() => {
                let [index] = indices.as_slice() else { return None };
                return self.load(expr, buffer, index, predicate.as_ref());
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

    /// The expression as a vector of all lanes. An expression that is already a vector has lanes of
    /// its own, which are not these.
    pub(super) fn wide_expr(&mut self, expr: &Expr) -> Option<Expr> {
        expr.dtype.is_scalar().then_some(())?;
        let value = self.expr(expr)?;
        self.wide(value)
    }

    /// A conjunction or a disjunction of conditions that do not read memory; a scalar if all lanes
    /// agree on both.
    fn both(&mut self, is_conjunction: bool, a: &Expr, b: &Expr) -> Option<Expr> {
        let (mut a, mut b) = (self.expr(a)?, self.expr(b)?);
        if !(a.dtype.is_scalar() && b.dtype.is_scalar()) {
            (a, b) = (self.wide(a)?, self.wide(b)?);
        }
        Some(if is_conjunction { a.and(b) } else { a.or(b) })
    }

    /// The value for all lanes, if it is evaluated only in the lanes of a mask.
    fn where_true(&mut self, mask: &Expr, expr: &Expr) -> Option<Expr> {
        if depends_on_memory(expr) {
            self.masked(mask, |lanes| lanes.wide_expr(expr))
        } else {
            self.wide_expr(expr)
        }
    }

    /// Passes a condition to `make`, bound to a name if it becomes a predicate in one of the parts,
    /// so that it is evaluated once.
    fn named(
        &mut self,
        condition: Expr,
        parts: &[&Expr],
        make: impl FnOnce(&mut Self, &Expr) -> Option<Expr>,
    ) -> Option<Expr> {
        if matches!(condition.kind, ExprKind::Var(_)) || !parts.iter().any(|part| depends_on_memory(part)) {
            return make(self, &condition);
        }
        let var = Var::new("mask", condition.dtype);
        let body = make(self, &var.expr())?;
        let dtype = body.dtype;
        Some(Expr::new(ExprKind::Let { var, value: condition, body }, dtype))
    }

    /// Splits a conjunction into what is the same in all lanes, which no mask needs, and the rest;
    /// `None` if either is empty. What is the same is then evaluated first, which needs it to read
    /// no memory.
    pub(super) fn uniform_part(&self, condition: &Expr) -> Option<(Expr, Expr)> {
        let parts = hinted_conjuncts(condition);
        let is_uniform = |part: &Expr| !self.is_changed(part) && !depends_on_memory(part) && is_pure(part);
        let (uniform, by_lane): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(is_uniform);
        let all = |parts: Vec<Expr>| parts.into_iter().reduce(Expr::and);
        Some((all(uniform)?, all(by_lane)?))
    }

    /// The predicate of an access here, combined with the access's own, if any; `Some(None)` if all
    /// lanes access.
    pub(super) fn predicate(&mut self, own: Option<&Expr>) -> Option<Option<Expr>> {
        let own = match own {
            Some(own) => Some(self.wide_expr(own)?),
            None => None,
        };
        let both = match (self.mask.clone(), own) {
            (Some(mask), Some(own)) => Some(mask.and(own)),
            (mask, own) => mask.or(own),
        };
        (both.is_none() || self.capabilities.is_host).then_some(both)
    }

    /// The buffer and the index of an access; in a buffer with a part for each lane, the indices of
    /// each lane's element.
    pub(super) fn place(&mut self, buffer: &Buffer, index: &Expr) -> Option<(Buffer, Expr)> {
        index.dtype.is_scalar().then_some(())?;
        let index = self.expr(index)?;
        let Some(wide) = self.own.get(&buffer.data).cloned() else { return Some((buffer.clone(), index)) };
        let dtype = index.dtype.scalar();
        let (zero, one) = (Expr::int(0, dtype), Expr::int(1, dtype));
        let first = Expr::binary(
            BinaryOp::Mul,
            self.wide(index)?,
            Expr::int(self.lanes.into(), dtype.with_lanes(self.lanes)),
        );
        let own = Expr::binary(BinaryOp::Add, first, zero.ramp(one, self.lanes));
        (wide.dtype == buffer.dtype).then(|| (wide, simplify::expr(&own)))
    }

    fn load(&mut self, expr: &Expr, buffer: &Buffer, index: &Expr, predicate: Option<&Expr>) -> Option<Expr> {
        let (buffer, mut index) = self.place(buffer, index)?;
        let mut predicate = self.predicate(predicate)?;
        if predicate.is_some() && self.is_inside(&buffer, &index) {
            predicate = None;
        }
        if predicate.is_some() {
            index = self.wide(index)?;
        }
        let dtype = buffer.dtype.with_lanes(index.dtype.lanes);
        Some(
            Expr::new(ExprKind::Load { buffer, indices: vec![index], predicate }, dtype).with_span(expr.span),
        )
    }

    /// A ramp plus, minus or times a value that is the same in every lane, which is again a ramp.
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
        (stays_on_vectors(op, vector, self.capabilities) && op.effect() == Effect::Pure).then_some(())?;
        match (op, args) {
            (Op::Likely | Op::ThreadInvariant, [value]) => self.expr(value),
            (Op::IfThenElse, [c, a, b]) => {
                if let Some(holds) = self.around.decided(c) {
                    return self.expr(if holds { a } else { b });
                }
                if let Some((uniform, by_lane)) = self.uniform_part(c).filter(|_| is_number(b)) {
                    let inner = Expr::call(op, vec![by_lane, a.clone(), b.clone()], a.dtype);
                    return self.call(op, &[uniform, inner, b.clone()], vector);
                }
                let condition = self.expr(c)?;
                if condition.dtype.is_scalar() {
                    let (a, b) = (self.wide_expr(a)?, self.wide_expr(b)?);
                    return Some(Expr::call(op, vec![condition, a, b], vector));
                }
                // A selection by lane evaluates both operands, each for its lanes.
                self.named(condition, &[a, b], |lanes, condition| {
                    let a = lanes.where_true(condition, a)?;
                    let b = lanes.where_true(&condition.clone().logical_not(), b)?;
                    // Lanes that a predicate turns off are 0 (rule IR-E6).
                    Some(match (is_masked_load(&a) && is_zero(&b), is_zero(&a) && is_masked_load(&b)) {
                        (true, _) => a,
                        (_, true) => b,
                        _ => Expr::select(condition.clone(), a, b),
                    })
                })
            }
            _ => {
                // Multiplications of quantised kernels take some scalar arguments: shifts and
                // flags.
                let mut new = Vec::with_capacity(args.len());
                for (position, arg) in args.iter().enumerate() {
                    let value = self.expr(arg)?;
                    new.push(if op.info().takes(position).is_some_and(Takes::is_uniform) {
                        (value.dtype == arg.dtype).then_some(value)?
                    } else {
                        self.wide(value)?
                    });
                }
                Some(Expr::call(op, new, vector))
            }
        }
    }
}

fn is_masked_load(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Load { predicate: Some(_), .. })
}

/// Returns true if the expression is a vector of literals 0, which is not -0.0.
fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Broadcast { value, .. } => is_zero(value),
        ExprKind::Int(value) => *value == 0,
        ExprKind::Float(bits) => bits.0 == 0,
        _ => false,
    }
}

/// The comparison of the first lanes, where all lanes agree: adjacent integers from a multiple of
/// their number on lie on one side of another multiple.
fn whole_vectors(op: CompareOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let (first, limit) = match (op, &a.kind, &b.kind) {
        (CompareOp::Lt | CompareOp::Ge, ExprKind::Ramp { .. }, ExprKind::Broadcast { .. }) => (a, b),
        (CompareOp::Gt | CompareOp::Le, ExprKind::Broadcast { .. }, ExprKind::Ramp { .. }) => (b, a),
        _ => return None,
    };
    let (ExprKind::Ramp { base, stride, lanes }, ExprKind::Broadcast { value, .. }) =
        (&first.kind, &limit.kind)
    else {
        return None;
    };
    let lanes = i128::from(*lanes);
    let is_multiple = |e: &Expr| {
        let sum = Linear::of(e);
        // Of the values of the type, as it wraps.
        lanes.count_ones() == 1
            && sum.constant % lanes == 0
            && sum.terms.iter().all(|(_, factor)| factor % lanes == 0)
    };
    let fits = stride.as_int() == Some(1) && is_multiple(base) && is_multiple(value);
    let (base, value) = (base.clone(), value.clone());
    fits.then(|| if first == a { Expr::compare(op, base, value) } else { Expr::compare(op, value, base) })
}

/// Returns true if the expression is a literal.
fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Float(_))
}

/// The operands of a conjunction, in order, without hints that they are likely.
fn hinted_conjuncts(condition: &Expr) -> Vec<Expr> {
    let of = |part: Expr| match &part.kind {
        ExprKind::Call { callee: Callee::Op(Op::Likely), args } if args.len() == 1 => {
            hinted_conjuncts(&args[0])
        }
        _ => vec![part],
    };
    conjuncts(condition).into_iter().flat_map(of).collect()
}

/// Returns true if a call of the op for all lanes is a call on vectors: elementwise (OP7), and, for
/// functions of floats, native or lowered to arithmetic (OP10).
pub(crate) fn stays_on_vectors(op: Op, dtype: DType, capabilities: &TargetCapabilities) -> bool {
    let info = op.info();
    let calls_library = info.lowering == Lowering::Function
        && capabilities.is_host
        && !capabilities.execution.has_native(op)
        && {
            // Halves are computed in float32.
            let computed = if dtype.bits == 16 { DType::FLOAT32 } else { dtype.scalar() };
            lowered_ulps(op, computed).is_none()
        };
    info.is_elementwise && !calls_library
}
