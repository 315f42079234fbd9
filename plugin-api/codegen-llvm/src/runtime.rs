//! What compiled code has to do with its caller and its host.

use std::sync::Arc;

use chipdock_ir::{Expr, Op};

use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// The value of an op that touches structs, errors, workspace, other functions or memory; `None` for any other.
    pub(crate) fn runtime_op(&mut self, e: &'a Expr, op: Op, args: &'a [Expr]) -> Option<Value> {
        let _ = (e, op, args);
        None
    }

    /// The result of a call of a function of the module.
    pub(crate) fn call_function(&mut self, e: &'a Expr, name: &Arc<str>, args: &'a [Expr]) -> Value {
        let _ = args;
        self.refuse(e, format!("calls of {name} are not written yet"))
    }

    /// The result of a call of a C function.
    pub(crate) fn call_extern(&mut self, e: &'a Expr, name: &Arc<str>, args: &'a [Expr]) -> Value {
        let _ = args;
        self.refuse(e, format!("calls of the C function {name} are not written yet"))
    }
}
