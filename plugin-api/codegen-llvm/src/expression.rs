//! Expressions: which part writes which node.

use std::collections::HashMap;

use chipdock_ir::analysis::Interval;
use chipdock_ir::{Callee, DType, Effect, Expr, ExprKind, TypeCode, Var, limits};

use crate::types;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// The value of an expression, written into the block at hand; may begin new blocks.
    pub(crate) fn value(&mut self, e: &'a Expr) -> Value {
        if self.depth > crate::DEPTH_MAX {
            return self.refuse(e, format!("expressions nested deeper than {} levels", crate::DEPTH_MAX));
        }
        let key = (e.address(), false);
        if let Some(known) = self.known(key) {
            return known;
        }
        if !is_type(e.dtype) {
            return self.refuse(e, format!("has no type {}", e.dtype));
        }
        let is_effect = writes(e);
        if is_effect && self.known((e.address(), true)).is_some() {
            return self.refuse(e, "one call that changes something stands twice in a statement");
        }
        let before = self.effects;
        self.depth += 1;
        let value = self.node(e);
        self.depth -= 1;
        if value.dtype != e.dtype {
            return self.refuse(e, format!("a value of type {}, stated as {}", value.dtype, e.dtype));
        }
        if is_effect {
            // What was loaded before may be stale. The call is no position, so that nothing else has this key.
            self.effects += 1;
            self.known.iter_mut().for_each(HashMap::clear);
            self.remember((e.address(), true), &value);
        } else if self.effects == before {
            self.remember(key, &value);
        }
        value
    }

    fn node(&mut self, e: &'a Expr) -> Value {
        match &e.kind {
            ExprKind::Var(var) => self.variable(e, var),
            ExprKind::Int(_) | ExprKind::Float(_) => self.constant(e),
            ExprKind::Str(_) => self.refuse(e, "a string is no value"),
            ExprKind::Cast(value) => self.conversion(e, value),
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b),
            ExprKind::Compare(op, a, b) => self.comparison(e, *op, a, b),
            ExprKind::And(a, b) => self.connective(e, a, b, true),
            ExprKind::Or(a, b) => self.connective(e, a, b, false),
            ExprKind::Not(value) => self.negation(e, value),
            ExprKind::Select(condition, then, otherwise) => self.selection(e, condition, then, otherwise),
            ExprKind::Load { buffer, indices, predicate } => {
                self.load(e, buffer, indices, predicate.as_ref())
            }
            ExprKind::Ramp { base, stride, lanes } => self.ramp(e, base, stride, *lanes),
            ExprKind::Broadcast { value, .. } => {
                let value = self.value(value);
                self.splat(e, &value)
            }
            ExprKind::Shuffle { vectors, indices } => self.shuffle(e, vectors, indices),
            ExprKind::Let { var, value, body } => self.let_in(var, value, body),
            ExprKind::Call { callee, args } => self.call(e, callee, args),
        }
    }

    fn variable(&mut self, e: &'a Expr, var: &Var) -> Value {
        match self.vars.get(&var.address()) {
            Some(value) => value.clone(),
            None => self.refuse(e, format!("variable {} is not bound here", var.name)),
        }
    }

    fn call(&mut self, e: &'a Expr, callee: &'a Callee, args: &'a [Expr]) -> Value {
        match callee {
            Callee::Op(op) => self.op(e, *op, args),
            Callee::Global(name) => self.call_function(e, name, args),
            Callee::Extern { name, .. } => self.call_extern(e, name, args),
        }
    }

    /// What a scalar integer, or each lane of a vector of integers, can be. Where something was refused already, nothing
    /// is known: what the text says is of no use then, and the types may be any.
    pub(crate) fn range(&mut self, e: &'a Expr) -> Interval {
        let whole = e.dtype.integer_range().unwrap_or((i128::MIN, i128::MAX));
        if self.diagnostics.is_empty() { self.ranges.of(e) } else { whole }
    }

    /// True when the exact result of a sum, difference, product or ramp fits its type.
    pub(crate) fn is_exact(&mut self, e: &'a Expr) -> bool {
        self.diagnostics.is_empty() && self.ranges.is_exact(e)
    }

    /// True when an operand has the type that its node needs; else that is refused.
    pub(crate) fn has_type(&mut self, e: &Expr, operand: DType, expected: DType) -> bool {
        if operand != expected {
            self.refuse(e, format!("expected an operand of type {expected}, found {operand}"));
        }
        operand == expected
    }

    /// Booleans as they lie in memory: bytes of 0 or 1 (rule LLVM-V4).
    pub(crate) fn byte_from_bool(&mut self, value: Value) -> Value {
        let dtype = DType::UINT8.with_lanes(value.dtype.lanes);
        self.compute(dtype, format_args!("zext {} to {}", value.typed(), types::register(dtype)))
    }

    /// Booleans of the bytes that they are in memory (rule LLVM-V4).
    pub(crate) fn bool_from_byte(&mut self, value: Value) -> Value {
        let dtype = DType::BOOL.with_lanes(value.dtype.lanes);
        self.compute(
            dtype,
            format_args!("icmp ne {}, {}", value.typed(), crate::constants::zero(value.dtype)),
        )
    }
}

/// True for the types of rule IR-T1.
fn is_type(dtype: DType) -> bool {
    match dtype.code {
        TypeCode::Handle => dtype == DType::HANDLE,
        _ => DType::SCALARS.contains(&dtype.scalar()) && (1..=limits::LANES_MAX).contains(&dtype.lanes),
    }
}

/// True for a call that changes something.
fn writes(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() == Effect::Writes,
        ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => !pure,
        ExprKind::Call { callee: Callee::Global(_), .. } => true,
        _ => false,
    }
}
