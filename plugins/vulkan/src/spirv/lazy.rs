//! Conditional evaluation: laziness, selections.

use chipdock_ir::analysis::{in_both, is_cheap, is_pure};
use chipdock_ir::{DType, Expr};
use rspirv::spirv::{Op, Word};

use super::emitter::Type;
use super::value::{Value, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// A selection lane by lane; its condition may be a scalar.
    pub(super) fn choose_lanes(&mut self, condition: &Value, then: &Value, otherwise: &Value) -> Value {
        let of = register(then.dtype);
        let lanes = then.lanes.iter().zip(&otherwise.lanes).enumerate().map(|(lane, (then, otherwise))| {
            let condition: Word = condition.lanes.get(lane).copied().unwrap_or_else(|| condition.first());
            self.choose(of, condition, *then, *otherwise)
        });
        Value { dtype: then.dtype, lanes: lanes.collect() }
    }

    pub(super) fn selection(
        &mut self,
        e: &'a Expr,
        condition: &'a Expr,
        then: &'a Expr,
        otherwise: &'a Expr,
    ) -> Value {
        let condition = self.value(condition);
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        let lanes = if condition.dtype.is_scalar() { 1 } else { e.dtype.lanes };
        if !self.has_type(e, condition.dtype, DType::BOOL.with_lanes(lanes))
            || !self.has_type(e, then.dtype, e.dtype)
            || !self.has_type(e, otherwise.dtype, e.dtype)
        {
            return self.placeholder(e.dtype);
        }
        self.choose_lanes(&condition, &then, &otherwise)
    }

    /// One of two values, by a scalar condition: only that one is evaluated, where the difference
    /// is observable.
    pub(super) fn if_then_else(&mut self, e: &'a Expr, args: &'a [Expr]) -> Value {
        let [condition, then, otherwise] = args else {
            return self.refuse(e, format!("expected 3 arguments, found {}", args.len()));
        };
        if is_cheap(then) && is_cheap(otherwise) {
            return self.selection(e, condition, then, otherwise);
        }
        let condition = self.value(condition);
        if !self.has_type(e, condition.dtype, DType::BOOL)
            || !self.has_type(e, then.dtype, e.dtype)
            || !self.has_type(e, otherwise.dtype, e.dtype)
        {
            return self.placeholder(e.dtype);
        }
        // Nodes that both branches need are evaluated in any case, and must not be written twice
        // (rule SPV-8).
        if is_pure(then) && is_pure(otherwise) {
            for both in in_both(then, otherwise) {
                self.value(both);
            }
        }
        self.when(condition.first(), e.dtype, |w| w.value(then), |w| w.value(otherwise))
    }

    /// A conjunction or a disjunction: the second side is evaluated only if the first does not
    /// decide, where the difference is observable.
    pub(super) fn connective(&mut self, e: &'a Expr, a: &'a Expr, b: &'a Expr, is_and: bool) -> Value {
        let left = self.value(a);
        if !self.has_type(e, left.dtype, DType::BOOL.with_lanes(e.dtype.lanes))
            || !self.has_type(e, b.dtype, e.dtype)
        {
            return self.placeholder(e.dtype);
        }
        if !e.dtype.is_scalar() || is_cheap(b) {
            let right = self.value(b);
            let op = if is_and { Op::LogicalAnd } else { Op::LogicalOr };
            return self.zip(e.dtype, &left, &right, |w, a, b| w.out.op(op, Type::Bool, &[a, b]));
        }
        let decided = self.integer(i128::from(!is_and), DType::BOOL);
        if is_and {
            self.when(left.first(), DType::BOOL, |w| w.value(b), |_| decided)
        } else {
            self.when(left.first(), DType::BOOL, |_| decided, |w| w.value(b))
        }
    }
}
