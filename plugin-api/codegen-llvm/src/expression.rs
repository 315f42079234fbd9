//! Expressions: dispatch of nodes to the parts that write them.

use std::collections::HashMap;

use chipdock_ir::analysis::{Interval, ValueBounds};
use chipdock_ir::{Callee, DType, Effect, Expr, ExprKind, Op, TypeCode, Var, limits};

use crate::types;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// Writes an expression into the current block and returns its value; may begin new blocks.
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
            // Earlier loads may be stale. The call is not a position, so that no other node has
            // this key.
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
            ExprKind::ConstantData(_) => self.refuse(e, "the bytes of a constant are no value"),
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
        if hands_over(callee) {
            self.store_fence();
        }
        match callee {
            Callee::Op(op) => self.op(e, *op, args),
            Callee::Global(name) => self.call_function(e, name, args),
            Callee::Extern { name, .. } => self.call_extern(e, name, args),
        }
    }

    /// The range of a scalar integer, or of each lane of a vector of integers. After a refusal
    /// nothing is known: the text is useless then, and types may be arbitrary.
    pub(crate) fn range(&mut self, e: &'a Expr) -> Interval {
        let whole = e.dtype.integer_range().unwrap_or((i128::MIN, i128::MAX));
        if self.diagnostics.is_empty() { self.ranges.of(e) } else { whole }
    }

    /// What is known of a value; nothing after a refusal.
    pub(crate) fn known_of(&mut self, e: &'a Expr) -> ValueBounds {
        if self.diagnostics.is_empty() { self.ranges.known(e) } else { ValueBounds::Nothing }
    }

    /// Returns true if the exact result of a sum, difference, product or ramp fits its type.
    pub(crate) fn is_exact(&mut self, e: &'a Expr) -> bool {
        self.diagnostics.is_empty() && self.ranges.is_exact(e)
    }

    /// Returns true if an operand has the type that its node needs; refuses it otherwise.
    pub(crate) fn has_type(&mut self, e: &Expr, operand: DType, expected: DType) -> bool {
        if operand != expected {
            self.refuse(e, format!("expected an operand of type {expected}, found {operand}"));
        }
        operand == expected
    }

    /// Converts booleans to their form in memory: bytes of 0 or 1 (rule LLVM-V4).
    pub(crate) fn byte_from_bool(&mut self, value: Value) -> Value {
        let dtype = DType::UINT8.with_lanes(value.dtype.lanes);
        self.compute(dtype, format_args!("zext {} to {}", value.typed(), types::register(dtype)))
    }

    /// Converts bytes in memory to booleans (rule LLVM-V4).
    pub(crate) fn bool_from_byte(&mut self, value: Value) -> Value {
        let dtype = DType::BOOL.with_lanes(value.dtype.lanes);
        self.compute(
            dtype,
            format_args!("icmp ne {}, {}", value.typed(), crate::constants::zero(value.dtype)),
        )
    }
}

/// Returns true for the types of rule IR-T1.
fn is_type(dtype: DType) -> bool {
    match dtype.code {
        TypeCode::Handle => dtype == DType::HANDLE,
        _ => DType::SCALARS.contains(&dtype.scalar()) && (1..=limits::LANES_MAX).contains(&dtype.lanes),
    }
}

/// Returns true for a call with an effect.
/// Returns true for a call of code that may let other threads read what this function wrote.
fn hands_over(callee: &Callee) -> bool {
    match callee {
        Callee::Op(op) => matches!(op, Op::ParallelLaunch | Op::CallPacked),
        Callee::Global(_) => true,
        Callee::Extern { pure, .. } => !pure,
    }
}

fn writes(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() == Effect::Writes,
        ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => !pure,
        ExprKind::Call { callee: Callee::Global(_), .. } => true,
        _ => false,
    }
}
