//! Calls of other functions of the module, and packed calls of imported functions.

use std::cell::RefCell;

use chipdock_ir::{
    Attrs, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Functions, Op, PrimFunc, Stmt, StmtKind,
    StorageScope, StructField,
};

use super::arguments::{Arguments, TYPE_BOOL, TYPE_INT};
use super::packed_call::PackedCall;
use super::{PASS, compute_name};
use crate::PassError;
use crate::walk::depends_on_memory;

/// Replaces each call of a function of the module, which takes scalars and pointers, by a call of
/// its computation before the statement that contains it, under the same conditions; if that call
/// fails, so does this function. The callee's return value comes through a pointer. A packed call
/// becomes stores of the arguments to a buffer, 16 bytes each with the result after them, and a
/// call with that buffer.
pub(super) fn rewrite(by_name: &Functions<'_>, function: &PrimFunc, body: &Stmt) -> Result<Stmt, PassError> {
    Calls { by_name, function }.stmt(body)
}

/// Fails with the raised error if the status returned by the call is not 0.
pub(super) fn throw_unless_zero(call: Expr) -> Stmt {
    throw_if(Expr::compare(CompareOp::Ne, call, Expr::i32(0)))
}

/// Fails with the raised error if the condition holds.
pub(super) fn throw_if(failed: Expr) -> Stmt {
    let throw = Expr::call(Op::ThrowLastError, Vec::new(), DType::HANDLE);
    Stmt::if_then(failed, Stmt::new(StmtKind::Evaluate(throw)), None)
}

/// A buffer of one element for a result.
pub(super) fn result_buffer(name: String, dtype: DType) -> Buffer {
    Buffer::new(name, vec![Expr::int(1, DType::INT64)], dtype, StorageScope::GLOBAL)
}

/// Loads the value of a result buffer.
pub(super) fn result_value(buffer: &Buffer) -> Expr {
    Expr::load(buffer, vec![Expr::int(0, DType::INT64)])
}

struct Calls<'a> {
    by_name: &'a Functions<'a>,
    function: &'a PrimFunc,
}

/// Statements that must run before one whose expressions are being rewritten.
#[derive(Default)]
struct Before {
    stmts: Vec<Stmt>,
    /// Conditions under which the current expression is evaluated.
    path: Vec<Expr>,
}

impl Before {
    fn under<T>(&mut self, condition: Expr, make: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(condition);
        let result = make(self);
        self.path.pop();
        result
    }
}

impl Calls<'_> {
    fn caller(&self, message: String) -> PassError {
        PassError::caller(PASS, &self.function.name, message)
    }

    fn stmt(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::Seq(stmts) => {
                let stmts = stmts.iter().map(|s| self.stmt(s)).collect::<Result<Vec<_>, _>>()?;
                Ok(Stmt::seq(stmts))
            }
            StmtKind::Evaluate(value) => match &value.kind {
                ExprKind::Call { callee: Callee::Global(name), args } if !args.iter().any(has_call) => {
                    self.statement(name, args).map_err(|error| error.at(stmt.span))
                }
                ExprKind::Call { callee: Callee::Op(Op::CallPacked), args } if !args.iter().any(has_call) => {
                    let call = PackedCall::lower(self.function, args).map_err(|error| error.at(stmt.span))?;
                    Ok(Stmt::seq(call.allocations.into_iter().chain(call.stmts)))
                }
                _ => self.with_calls_before(stmt),
            },
            StmtKind::While { condition, body } if has_call(condition) => {
                let mut before = Before::default();
                let condition = self.expr(condition, &mut before).map_err(|error| error.at(stmt.span))?;
                let leave = Stmt::if_then(condition.logical_not(), Stmt::new(StmtKind::Break), None);
                let body = Stmt::seq(before.stmts.into_iter().chain([leave, self.stmt(body)?]));
                Ok(Stmt::new(StmtKind::While { condition: Expr::bool(true), body }).with_span(stmt.span))
            }
            _ => self.with_calls_before(stmt),
        }
    }

    fn with_calls_before(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let before = RefCell::new(Before::default());
        let new = stmt.try_map_children(
            &mut |e| self.expr(e, &mut before.borrow_mut()).map_err(|error| error.at(stmt.span)),
            &mut |s| self.stmt(s),
        )?;
        Ok(Stmt::seq(before.into_inner().stmts.into_iter().chain([new])))
    }

    /// Replaces calls of functions of the module in the expression.
    fn expr(&self, expr: &Expr, before: &mut Before) -> Result<Expr, PassError> {
        if !has_call(expr) {
            return Ok(expr.clone());
        }
        let kind = match &expr.kind {
            ExprKind::Call { callee: Callee::Global(name), args } => {
                let args: Vec<Expr> =
                    args.iter().map(|arg| self.expr(arg, before)).collect::<Result<_, _>>()?;
                return self.value(name, args, before);
            }
            ExprKind::Call { callee: Callee::Op(Op::CallPacked), args } => {
                let args: Vec<Expr> =
                    args.iter().map(|arg| self.expr(arg, before)).collect::<Result<_, _>>()?;
                return self.packed_value(&args, before);
            }
            ExprKind::Call { callee: callee @ Callee::Op(Op::IfThenElse), args } => {
                let [condition, then, otherwise] = args.as_slice() else { return Ok(expr.clone()) };
                let condition = self.expr(condition, before)?;
                let then = before.under(condition.clone(), |before| self.expr(then, before))?;
                let not = condition.clone().logical_not();
                let otherwise = before.under(not, |before| self.expr(otherwise, before))?;
                ExprKind::Call { callee: callee.clone(), args: vec![condition, then, otherwise] }
            }
            ExprKind::And(a, b) if expr.dtype.is_scalar() => {
                let a = self.expr(a, before)?;
                let b = before.under(a.clone(), |before| self.expr(b, before))?;
                ExprKind::And(a, b)
            }
            ExprKind::Or(a, b) if expr.dtype.is_scalar() => {
                let a = self.expr(a, before)?;
                let b = before.under(a.clone().logical_not(), |before| self.expr(b, before))?;
                ExprKind::Or(a, b)
            }
            ExprKind::Let { var, value, body } => {
                let value = self.expr(value, before)?;
                if !has_call(body) {
                    return Ok(Expr::new(
                        ExprKind::Let { var: var.clone(), value, body: body.clone() },
                        expr.dtype,
                    ));
                }
                if !before.path.is_empty() && depends_on_memory(&value) {
                    return Err(self.caller(format!(
                        "{} is bound to what reads memory where it may not be evaluated, and a function of the module is \
                         called with it; bind it in a statement of its own",
                        var.name
                    )));
                }
                before.stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
                return self.expr(body, before);
            }
            _ => return expr.try_map_children(&mut |child| self.expr(child, before)),
        };
        Ok(Expr::new(kind, expr.dtype).with_span(expr.span))
    }

    /// A call whose value is used.
    fn value(&self, name: &str, args: Vec<Expr>, before: &mut Before) -> Result<Expr, PassError> {
        let Some(dtype) = self.by_name.get(name).and_then(|callee| callee.ret) else {
            return Err(self.caller(format!(
                "expected the call of {name} as a statement of its own, found it within an expression; {name} returns \
                 nothing"
            )));
        };
        let buffer = result_buffer(format!("{name}_result"), dtype);
        before.stmts.push(allocation(&buffer));
        let call = throw_unless_zero(self.call(name, &args, Some(&buffer))?);
        before.stmts.push(match before.path.iter().cloned().reduce(Expr::and) {
            Some(condition) => Stmt::if_then(condition, call, None),
            None => call,
        });
        Ok(result_value(&buffer))
    }

    /// A call whose value, if any, is discarded.
    fn statement(&self, name: &str, args: &[Expr]) -> Result<Stmt, PassError> {
        let ret = self.by_name.get(name).and_then(|callee| callee.ret);
        let buffer = ret.map(|dtype| result_buffer(format!("{name}_result"), dtype));
        let call = throw_unless_zero(self.call(name, args, buffer.as_ref())?);
        Ok(Stmt::seq(buffer.iter().map(allocation).chain([call])))
    }

    /// A packed call whose value, an integer, is used.
    fn packed_value(&self, args: &[Expr], before: &mut Before) -> Result<Expr, PassError> {
        let PackedCall { values, allocations, mut stmts } = PackedCall::lower(self.function, args)?;
        let result = |field: StructField, dtype: DType| {
            let index = Expr::int(args.len() as i128 - 1, DType::INT32);
            Expr::call(Op::StructGet, vec![values.data.expr(), index, Expr::i32(field as i32)], dtype)
        };
        let is = |type_index: i32| {
            let found = result(StructField::AnyTypeIndex, DType::INT32);
            Expr::compare(CompareOp::Eq, found, Expr::i32(type_index))
        };
        let name = args.first().cloned().unwrap_or_else(|| Expr::str(""));
        let message = vec![
            Expr::str("expected an integer from the packed function "),
            name,
            Expr::str(", found a value with type index "),
            result(StructField::AnyTypeIndex, DType::INT32),
        ];
        let condition = is(TYPE_INT).or(is(TYPE_BOOL));
        stmts.push(Stmt::new(StmtKind::Assert { condition, kind: "TypeError".into(), message }));
        // The arguments are set up unconditionally; the call runs only under its conditions.
        let call = Stmt::seq(stmts);
        let call = match before.path.iter().cloned().reduce(Expr::and) {
            Some(condition) => Stmt::if_then(condition, call, None),
            None => call,
        };
        before.stmts.extend(allocations.into_iter().chain([call]));
        Ok(result(StructField::AnyValue, DType::INT64).cast(DType::INT32))
    }

    fn call(&self, name: &str, args: &[Expr], result: Option<&Buffer>) -> Result<Expr, PassError> {
        let Some(callee) = self.by_name.get(name) else {
            return Err(self.caller(format!("expected a function of the module, found a call of {name}")));
        };
        let arguments = Arguments::from_function(callee)?;
        if arguments.args.len() != args.len() {
            return Err(self.caller(format!(
                "expected {} arguments for `{}`, found {}",
                arguments.args.len(),
                arguments.shown,
                args.len()
            )));
        }
        if arguments.tensors().next().is_some() {
            return Err(self.caller(format!(
                "expected a function of scalars and pointers, found a call of `{}`, which takes a buffer",
                arguments.shown
            )));
        }
        let callee = Callee::Global(compute_name(name));
        let args = args.iter().cloned().chain(result.map(|buffer| buffer.data.expr())).collect();
        Ok(Expr::new(ExprKind::Call { callee, args }, DType::INT32))
    }
}

pub(super) fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

fn has_call(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |=
            matches!(&e.kind, ExprKind::Call { callee: Callee::Global(_) | Callee::Op(Op::CallPacked), .. });
    });
    found
}
