//! Calls of other functions of the module.

use std::cell::RefCell;

use chipdock_ir::{Callee, CompareOp, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt, StmtKind};

use super::arguments::Arguments;
use super::{PASS, compute_name};
use crate::PassError;

/// Makes each call of a function of the module, which takes scalars and pointers, a call of its computation; where that
/// fails, so does this function.
pub(super) fn rewrite(module: &IrModule, function: &PrimFunc, body: &Stmt) -> Result<Stmt, PassError> {
    Calls { module, function }.stmt(body)
}

struct Calls<'a> {
    module: &'a IrModule,
    function: &'a PrimFunc,
}

impl Calls<'_> {
    fn caller(&self, message: String) -> PassError {
        PassError::caller(PASS, &self.function.name, message)
    }

    fn stmt(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if let StmtKind::Evaluate(value) = &stmt.kind
            && let ExprKind::Call { callee: Callee::Global(name), args } = &value.kind
        {
            let call = self.call(name, args).map_err(|error| error.at(stmt.span))?;
            let failed = Expr::compare(CompareOp::Ne, call, Expr::i32(0));
            let throw = Expr::call(Op::ThrowLastError, Vec::new(), DType::HANDLE);
            return Ok(Stmt::if_then(failed, Stmt::new(StmtKind::Evaluate(throw)), None));
        }
        let misplaced = RefCell::new(None);
        let result = stmt.try_map_children(
            &mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Call { callee: Callee::Global(name), .. } = &e.kind {
                        *misplaced.borrow_mut() = Some(name.clone());
                    }
                });
                Ok(e.clone())
            },
            &mut |s| self.stmt(s),
        );
        match misplaced.into_inner() {
            Some(name) => Err(self.caller(format!(
                "expected the call of {name} as a statement of its own, found it within an expression; a function of \
                 the module returns nothing"
            ))),
            None => result,
        }
    }

    fn call(&self, name: &str, args: &[Expr]) -> Result<Expr, PassError> {
        let Some(callee) = self.module.function(name) else {
            return Err(self.caller(format!("expected a function of the module, found a call of {name}")));
        };
        let arguments = Arguments::of(callee)?;
        if arguments.args.len() != args.len() {
            return Err(self.caller(format!(
                "expected {} arguments for `{}`, found {}",
                arguments.args.len(),
                arguments.signature,
                args.len()
            )));
        }
        if arguments.tensors().next().is_some() {
            return Err(self.caller(format!(
                "expected a function of scalars and pointers, found a call of `{}`, which takes a buffer",
                arguments.signature
            )));
        }
        let callee = Callee::Global(compute_name(name));
        Ok(Expr::new(ExprKind::Call { callee, args: args.to_vec() }, DType::INT32))
    }
}
