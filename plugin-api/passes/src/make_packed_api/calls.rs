//! Calls of other functions of the module.

use std::cell::RefCell;

use chipdock_ir::{
    Buffer, Callee, CompareOp, DType, Expr, ExprKind, IrModule, Op, Param, PrimFunc, Stmt, StmtKind, Var,
};

use super::arguments::{ArgumentKind, Arguments, Place, Symbol};
use super::{PASS, compute_name};
use crate::PassError;
use crate::simplify;

/// Makes each call of a function of the module a call of its computation, whose symbols are worked out from the
/// buffers that are passed; where it fails, so does this function.
pub(super) fn rewrite(module: &IrModule, function: &PrimFunc, body: &Stmt) -> Result<Stmt, PassError> {
    let mut buffers: Vec<Buffer> = function
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Buffer(buffer) => Some(buffer.clone()),
            Param::Var(_) => None,
        })
        .collect();
    body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child
            && let StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } = &stmt.kind
        {
            buffers.push(buffer.clone());
        }
    });
    Calls { module, function, buffers }.stmt(body)
}

struct Calls<'a> {
    module: &'a IrModule,
    function: &'a PrimFunc,
    /// Buffers of the caller, parameters first: what a pointer that is passed points to.
    buffers: Vec<Buffer>,
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
        let mut passed = Vec::with_capacity(args.len() + arguments.symbols.len());
        for (arg, value) in arguments.args.iter().zip(args) {
            passed.push(match arg.kind {
                ArgumentKind::Tensor(_) => value.clone(),
                ArgumentKind::Scalar(var) => value.clone().cast(var.dtype),
            });
        }
        for symbol in &arguments.symbols {
            passed.push(self.symbol(&arguments, symbol, args)?);
        }
        let callee = Callee::Global(compute_name(name));
        Ok(Expr::new(ExprKind::Call { callee, args: passed }, DType::INT32))
    }

    /// What a symbol of the callee is for the buffer that is passed.
    fn symbol(&self, arguments: &Arguments, symbol: &Symbol, args: &[Expr]) -> Result<Expr, PassError> {
        let unknown = || {
            self.caller(format!(
                "in the call of `{}`: the symbol {} cannot be worked out from what is passed; pass a parameter or an \
                 allocated buffer whose shape states it",
                arguments.signature, symbol.var.name
            ))
        };
        let (Some(value), ArgumentKind::Tensor(wanted)) =
            (args.get(symbol.arg), &arguments.args[symbol.arg].kind)
        else {
            return Err(unknown());
        };
        let buffer = self.passed(value, wanted).ok_or_else(unknown)?;
        let found = match symbol.place {
            Place::Shape(axis) => buffer.shape.get(axis).cloned(),
            Place::Stride(axis) if buffer.strides.is_empty() => {
                super::arguments::compact_strides(buffer).get(axis).cloned()
            }
            Place::Stride(axis) => buffer.strides.get(axis).cloned(),
            Place::Offset => Some(Expr::i32(0)),
        };
        Ok(simplify::expr(&found.ok_or_else(unknown)?.cast(symbol.var.dtype)))
    }

    /// The buffer of the caller that a pointer belongs to, with as many axes as the callee wants.
    fn passed(&self, value: &Expr, wanted: &Buffer) -> Option<&Buffer> {
        let data: &Var = match &value.kind {
            ExprKind::Var(var) => var,
            _ => return None,
        };
        self.buffers.iter().find(|buffer| buffer.data == *data && buffer.shape.len() == wanted.shape.len())
    }
}
