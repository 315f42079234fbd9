//! Expressions: which part writes which node.

use chipdock_ir::{Expr, ExprKind};

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
        self.depth += 1;
        let value = self.node(e);
        self.depth -= 1;
        self.remember(key, &value);
        value
    }

    fn node(&mut self, e: &'a Expr) -> Value {
        match &e.kind {
            ExprKind::Var(var) => match self.vars.get(&var.address()) {
                Some(value) => value.clone(),
                None => self.refuse(e, format!("variable {} is not bound here", var.name)),
            },
            ExprKind::Int(value) if e.dtype.is_bool() => {
                Value::new(if *value == 0 { "false" } else { "true" }, e.dtype)
            }
            ExprKind::Int(value) => Value::new(value.to_string(), e.dtype),
            _ => self.refuse(e, "this expression is not written yet"),
        }
    }
}
