//! Conditional evaluation: laziness (rule LLVM-V5), selections, bindings.

use std::collections::HashMap;

use chipdock_ir::analysis::{in_both, is_cheap, is_pure};
use chipdock_ir::{CompareOp, DType, Expr, Var};

use crate::types;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    pub(crate) fn comparison(&mut self, e: &'a Expr, op: CompareOp, a: &'a Expr, b: &'a Expr) -> Value {
        let (left, right) = (self.value(a), self.value(b));
        let lanes = left.dtype.lanes;
        if !self.has_type(e, right.dtype, left.dtype)
            || !self.has_type(e, e.dtype, DType::BOOL.with_lanes(lanes))
        {
            return Value::new("poison", e.dtype);
        }
        if left.dtype.is_float() {
            self.float_compare(op, &left, &right)
        } else {
            self.int_compare(op, &left, &right)
        }
    }

    pub(crate) fn negation(&mut self, e: &'a Expr, value: &'a Expr) -> Value {
        let value = self.value(value);
        if !self.holds_bool(e, &value) {
            return Value::new("poison", e.dtype);
        }
        self.operation("xor", &value, &crate::constants::integer(1, value.dtype))
    }

    fn holds_bool(&mut self, e: &Expr, value: &Value) -> bool {
        self.has_type(e, value.dtype, DType::BOOL.with_lanes(e.dtype.lanes))
    }

    /// A conjunction or a disjunction: the second side is evaluated only if the first does not
    /// decide, where the difference is observable.
    pub(crate) fn connective(&mut self, e: &'a Expr, a: &'a Expr, b: &'a Expr, is_and: bool) -> Value {
        let left = self.value(a);
        let name = if is_and { "and" } else { "or" };
        if !e.dtype.is_scalar() || is_cheap(b) {
            let right = self.value(b);
            if !self.holds_bool(e, &left) || !self.holds_bool(e, &right) {
                return Value::new("poison", e.dtype);
            }
            return self.operation(name, &left, &right);
        }
        let (second, after) = (self.label(name), self.label("end"));
        let first = self.block();
        if is_and {
            self.branch(&left, &second, &after);
        } else {
            self.branch(&left, &after, &second);
        }
        self.start(&second);
        let right = self.scoped(b);
        let last = self.block();
        self.jump(&after);
        self.start(&after);
        if !self.holds_bool(e, &left) || !self.holds_bool(e, &right) {
            return Value::new("poison", e.dtype);
        }
        let decided = if is_and { "false" } else { "true" };
        let from = format!("[ {decided}, {} ], [ {}, {} ]", first.name(), right.text, last.name());
        self.compute(DType::BOOL, format_args!("phi i1 {from}"))
    }

    /// Evaluates an expression in a block that may not run: values computed there are unknown after
    /// it.
    fn scoped(&mut self, e: &'a Expr) -> Value {
        self.known.push(HashMap::new());
        let value = self.value(e);
        self.known.pop();
        value
    }

    /// A selection lane by lane, with both sides evaluated.
    pub(crate) fn selection(
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
            return Value::new("poison", e.dtype);
        }
        self.choose(&condition, &then, &otherwise)
    }

    /// One of two values, by a scalar condition: only that one is evaluated, where the difference
    /// is observable.
    pub(crate) fn if_then_else(&mut self, e: &'a Expr, args: &'a [Expr]) -> Value {
        let [condition, then, otherwise] = args else {
            return self.refuse(e, format!("expected 3 arguments, found {}", args.len()));
        };
        if is_cheap(then) && is_cheap(otherwise) {
            return self.selection(e, condition, then, otherwise);
        }
        let condition = self.value(condition);
        if !self.has_type(e, condition.dtype, DType::BOOL) {
            return Value::new("poison", e.dtype);
        }
        // Nodes that both branches need are evaluated in any case, and must not be written twice
        // (rule LLVM-V9).
        if is_pure(then) && is_pure(otherwise) {
            for both in in_both(then, otherwise) {
                self.value(both);
            }
        }
        let (yes, no, after) = (self.label("then"), self.label("else"), self.label("end"));
        self.branch(&condition, &yes, &no);
        let mut from = Vec::with_capacity(2);
        for (label, branch) in [(yes, then), (no, otherwise)] {
            self.start(&label);
            let value = self.scoped(branch);
            if !self.has_type(e, value.dtype, e.dtype) {
                return Value::new("poison", e.dtype);
            }
            from.push(format!("[ {}, {} ]", value.text, self.block().name()));
            self.jump(&after);
        }
        self.start(&after);
        self.compute(e.dtype, format_args!("phi {} {}", types::register(e.dtype), from.join(", ")))
    }

    /// Evaluates a body in which a variable is bound to a value.
    pub(crate) fn let_in(&mut self, var: &'a Var, value: &'a Expr, body: &'a Expr) -> Value {
        if self.usage.uses(var.address()) || !is_pure(value) {
            let bound = self.value(value);
            let known_value = self.known_of(value);
            if self.vars.get(&var.address()).is_some_and(|before| *before != bound) {
                // The variable is bound again, to another value: nodes that depend on it must be
                // written anew.
                self.known.iter_mut().for_each(HashMap::clear);
            }
            self.know(var, bound);
            self.ranges.learn(var, known_value);
            if self.diagnostics.is_empty() && self.positions.contains(value) {
                self.positions.bind(var);
            }
        }
        self.value(body)
    }
}
