//! Calls of ops by name: what they take, and what they give.

use chipdock_ir::{DType, Expr, ExprKind, Op, Signature};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::parser::{Failed, Parser, Result};
use crate::types::convert;
use crate::value::Value;

impl Parser<'_> {
    pub(crate) fn call_op(&mut self, op: Op, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::IntUnary | Signature::NumberUnary => {
                let [x] = self.bind(call, path, ["x"], 1)?;
                let x = self.required(x)?;
                self.unary_call(op, path, x)
            }
            Signature::FloatBinary | Signature::IntBinary => {
                let [a, b] = self.bind(call, path, ["x", "y"], 2)?;
                let (a, b) = (self.required(a)?, self.required(b)?);
                if op.signature() == Signature::IntBinary {
                    let (left, right) = (self.value(a)?, self.value(b)?);
                    let (left, right) = self.like_each_other(left, a, right, b)?;
                    return self.bitwise(op, left, right, call);
                }
                let (left, right) = self.pair(a, b, call)?;
                if !left.dtype.is_float() {
                    return Err(self.fail(call, format!("{path} takes floats, found {}", left.dtype)));
                }
                let dtype = left.dtype;
                Ok(Expr::call(op, vec![left, right], dtype))
            }
            Signature::Own => self.own_call(op, path, call),
        }
    }

    fn unary_call(&mut self, op: Op, path: &str, at: &ast::Expr) -> Result<Expr> {
        let value = self.value(at)?;
        let float = matches!(op.signature(), Signature::FloatUnary | Signature::FloatTest);
        let value = match value {
            Value::Int(_) | Value::Bool(_) if float => self.lower_like(value, DType::FLOAT32, at)?,
            value => self.lower(value, at)?,
        };
        let dtype = value.dtype;
        // Rounding leaves integers alone, and so does the absolute value of unsigned ones.
        let rounding = matches!(op, Op::Ceil | Op::Floor | Op::Round | Op::Trunc | Op::Nearbyint);
        if (rounding && dtype.is_integer()) || (op == Op::Abs && dtype.is_uint()) {
            return Ok(value);
        }
        let (fits, wanted) = match op.signature() {
            Signature::IntUnary => (dtype.is_integer(), "an integer"),
            Signature::NumberUnary => (dtype.is_integer() || dtype.is_float(), "a number"),
            _ => (dtype.is_float(), "a float"),
        };
        if !fits {
            let hint = if float { "; cast it, as T.Cast(\"float32\", x)" } else { "" };
            return Err(self.fail(at, format!("{path} takes {wanted}, found {dtype}{hint}")));
        }
        let result =
            if op.signature() == Signature::FloatTest { DType::BOOL.with_lanes(dtype.lanes) } else { dtype };
        Ok(Expr::call(op, vec![value], result))
    }

    /// Arguments by position, as many as the op takes.
    fn own_args<'a>(&mut self, op: Op, path: &str, call: &'a ast::ExprCall) -> Result<&'a [ast::Expr]> {
        let args = &*call.arguments.args;
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, format!("{path} takes no keywords here")));
        }
        // Those that say their type have it as one argument more; TVM's barrier has two that mean nothing here.
        let most = match op {
            Op::Reinterpret | Op::StructGet | Op::HandleLoad => op.arity() + 1,
            Op::StorageSync => 3,
            _ => op.arity(),
        };
        let least = if op == Op::StorageSync { 1 } else { most };
        if most != 255 && !(least..=most).contains(&args.len()) {
            return Err(self.fail(call, format!("{path} takes {least} arguments, found {}", args.len())));
        }
        Ok(args)
    }

    fn own_call(&mut self, op: Op, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let at = self.own_args(op, path, call)?;
        match op {
            Op::Reinterpret | Op::HandleLoad => {
                let dtype = self.dtype(&at[0])?;
                let args = at[1..].iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
                return Ok(Expr::call(op, args, dtype));
            }
            Op::StructGet => {
                let dtype = self.dtype(&at[3])?;
                let args = at[..3].iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
                return Ok(Expr::call(op, args, dtype));
            }
            Op::StorageSync => {
                let scope = self.string(&at[0])?;
                let scope = Expr::str(scope).with_span(self.span(&at[0]));
                return Ok(Expr::call(op, vec![scope], DType::HANDLE));
            }
            _ => {}
        }
        let mut args: Vec<Expr> = at.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
        match op {
            Op::IfThenElse => {
                let [condition, then, otherwise] = args.as_slice() else { return Err(Failed) };
                return self.if_then_else(condition.clone(), then.clone(), otherwise.clone(), call);
            }
            Op::Likely => args[0] = self.condition(args[0].clone(), &at[0])?,
            Op::Ldexp => args[1] = convert(&args[1], DType::INT32),
            Op::Fma => {
                let (a, b) = self.unify(args[0].clone(), args[1].clone(), call)?;
                let (a, c) = self.unify(a, args[2].clone(), call)?;
                let (b, c) = self.unify(b, c, call)?;
                args = vec![a, b, c];
            }
            Op::HandleAddByteOffset => args[1] = convert(&args[1], DType::INT64),
            _ => {}
        }
        let first = args.first().map(|arg| arg.dtype);
        let wanted = match op {
            Op::Ldexp | Op::Fma if !first.is_some_and(DType::is_float) => "a float",
            Op::Clz if !first.is_some_and(DType::is_integer) => "an integer",
            Op::Isnullptr if !first.is_some_and(DType::is_handle) => "a pointer",
            Op::AddressOf if !matches!(args[0].kind, ExprKind::Load { .. }) => {
                "an element of a buffer, as A[0]"
            }
            _ => "",
        };
        if !wanted.is_empty() {
            let found = first.unwrap_or(DType::HANDLE);
            return Err(self.fail(call, format!("{path} takes {wanted}, found {found}")));
        }
        let dtype = op.result_dtype(&args).unwrap_or(DType::HANDLE);
        Ok(Expr::call(op, args, dtype))
    }

    pub(crate) fn if_then_else(
        &mut self,
        condition: Expr,
        then: Expr,
        otherwise: Expr,
        at: &impl Ranged,
    ) -> Result<Expr> {
        let condition = self.condition(condition, at)?;
        if !condition.dtype.is_scalar() {
            let message = "the condition is a vector; T.Select chooses lane by lane";
            return Err(self.fail(at.range(), message));
        }
        let (then, otherwise) =
            if then.dtype == otherwise.dtype { (then, otherwise) } else { self.unify(then, otherwise, at)? };
        let dtype = then.dtype;
        Ok(Expr::call(Op::IfThenElse, vec![condition, then, otherwise], dtype))
    }
}
