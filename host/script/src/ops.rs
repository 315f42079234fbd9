//! Calls of ops by name: their arguments and results.

use chipdock_ir::op::{DotProduct, Takes, Threads};
use chipdock_ir::{DType, Expr, ExprKind, Op, Signature};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::parser::{Failed, Parser, Result};
use crate::types::convert;
use crate::value::Value;

/// Returns the names of arguments, for the ops that take them by name too: up to the first that has
/// none, with the type of the call in its place.
fn names(op: Op) -> Vec<&'static str> {
    let info = op.info();
    let named = info.params.iter().map(|param| param.name).take_while(|name| !name.is_empty());
    let mut names: Vec<&'static str> = named.collect();
    if let Some(place) = info.form.type_place(names.len()) {
        names.insert(place, "dtype");
    }
    if info.threads == Threads::Barrier {
        names.extend(IGNORED);
    }
    names
}

/// Arguments of TVM's barrier that are ignored here.
const IGNORED: [&str; 2] = ["is_load", "num_blocks"];

impl Parser<'_> {
    pub(crate) fn call_op(&mut self, op: Op, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::IntUnary | Signature::NumberUnary => {
                let [x] = self.bind(call, path, ["x"], 1)?;
                let x = self.required(x)?;
                self.unary_call(op, path, x)
            }
            Signature::FloatBinary | Signature::IntBinary | Signature::BitBinary => {
                let [a, b] = self.bind(call, path, ["x", "y"], 2)?;
                let (a, b) = (self.required(a)?, self.required(b)?);
                if op.signature() != Signature::FloatBinary {
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
            Signature::FloatTernary | Signature::IntCount | Signature::Custom => {
                self.custom_call(op, path, call)
            }
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
        // Rounding leaves integers alone.
        if op.info().is_rounding && dtype.is_integer() {
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

    /// Checks the number of arguments of an op with a rule of its own, and returns them.
    fn custom_args<'a>(&mut self, op: Op, path: &str, call: &'a ast::ExprCall) -> Result<Vec<&'a ast::Expr>> {
        let (names, rest) = (names(op), op.info().rest);
        // A dot product may go without the type and the sum.
        let least = match op {
            Op::Dp4a => 2,
            _ if rest.is_some() => names.len(),
            _ if op.info().threads == Threads::Barrier => op.arity(),
            _ => names.len().max(op.arity()),
        };
        let most = match op {
            Op::Dp4a => 4,
            _ if rest.is_some() => usize::MAX,
            _ => names.len().max(op.arity()),
        };
        let mut args: Vec<Option<&ast::Expr>> = call.arguments.args.iter().map(Some).collect();
        if let Some(starred) = call.arguments.args.iter().find(|arg| arg.is_starred_expr()) {
            return Err(self.fail(starred, "unpacking with * is not supported; write the arguments out"));
        }
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().map(|name| name.id.as_str()).unwrap_or_default();
            let Some(index) = names.iter().position(|known| *known == name) else {
                if name == "dtype" && crate::names::ignores_dtype(path) {
                    continue;
                }
                return Err(self.unknown_keyword(keyword, path, &names));
            };
            args.resize(args.len().max(index + 1), None);
            if args[index].replace(&keyword.value).is_some() {
                return Err(self.fail(keyword, format!("{path}: argument {name} is given twice")));
            }
        }
        let given_len = args.len();
        let given: Option<Vec<&ast::Expr>> = args.iter().copied().collect();
        let Some(given) = given.filter(|given| (least..=most).contains(&given.len())) else {
            let found = given_len;
            let names = &names[..least.min(names.len())];
            let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let noun = if least == 1 { "argument" } else { "arguments" };
            return Err(self.fail(call, format!("{path} takes {least} {noun}{names}, found {found}")));
        };
        Ok(given)
    }

    fn custom_call(&mut self, op: Op, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let mut at = self.custom_args(op, path, call)?;
        if let Some(place) = op.info().form.type_place(op.arity()) {
            let dtype = self.dtype(at.remove(place))?;
            let args = at.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
            return Ok(Expr::call(op, args, dtype));
        }
        match op {
            Op::StorageSync => {
                let scope = self.string(at[0])?;
                let scope = Expr::str(scope).with_span(self.span(at[0]));
                return Ok(Expr::call(op, vec![scope], DType::HANDLE));
            }
            Op::AccessPtr => return self.access_ptr(&at),
            Op::Dp4a => return self.dp4a(path, &at, call),
            Op::AtomicAdd => return self.atomic(op, path, &at),
            _ => {}
        }
        let mut args: Vec<Expr> = at.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
        match op {
            Op::IfThenElse => {
                let [condition, then, otherwise] = args.as_slice() else { return Err(Failed) };
                return self.if_then_else(condition.clone(), then.clone(), otherwise.clone(), call);
            }
            Op::Likely | Op::Assume => args[0] = self.condition(args[0].clone(), at[0])?,
            Op::Ldexp => args[1] = convert(&args[1], DType::INT32),
            _ if op.signature() == Signature::FloatTernary => {
                let (a, b) = self.unify(args[0].clone(), args[1].clone(), call)?;
                let (a, c) = self.unify(a, args[2].clone(), call)?;
                let (b, c) = self.unify(b, c, call)?;
                args = vec![a, b, c];
            }
            Op::QMultiplyShiftPerAxis => {
                for flag in args.iter_mut().skip(5) {
                    *flag = convert(flag, DType::INT32);
                }
            }
            _ if op.info().threads == Threads::Shuffle => shuffle_types(op, &mut args),
            Op::ThreadAllreduce => {
                if let Some(count) = args.first_mut() {
                    *count = convert(count, DType::UINT32);
                }
            }
            _ => {}
        }
        self.custom_result(op, path, args, call)
    }

    /// A call of an op with the arguments given, when they are of the kind it takes.
    fn custom_result(&mut self, op: Op, path: &str, args: Vec<Expr>, call: &ast::ExprCall) -> Result<Expr> {
        let first = args.first().map(|arg| arg.dtype);
        let wanted = match op {
            _ if op.info().takes(0) == Some(Takes::Float) && !first.is_some_and(DType::is_float) => "a float",
            _ if op.info().takes(0) == Some(Takes::Integer) && !first.is_some_and(DType::is_integer) => {
                "an integer"
            }
            Op::Isnullptr if !first.is_some_and(DType::is_handle) => "a pointer",
            Op::DotAdd => {
                if let [c, a, b] = args.as_slice()
                    && DotProduct::of(c.dtype, a.dtype, b.dtype).is_none()
                {
                    let message = format!(
                        "{path} takes {}, found {}, {} and {}",
                        op.info().expects,
                        c.dtype,
                        a.dtype,
                        b.dtype
                    );
                    return Err(self.fail(call, message));
                }
                ""
            }
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

    /// `T.tvm_access_ptr(T.type_annotation("float32"), data, offset, extent, rw_mask)`; the type
    /// may be its name too.
    fn access_ptr(&mut self, at: &[&ast::Expr]) -> Result<Expr> {
        let dtype = match self.value(at[0])? {
            Value::TypeOf(dtype) => dtype,
            // A zero of the type says it too.
            zero @ (Value::Int(0) | Value::Expr(_)) => self.lower(zero, at[0])?.dtype,
            _ => self.dtype(at[0])?,
        };
        if !dtype.is_scalar() || dtype.is_handle() {
            let message = format!("expected the type of one element, as \"float32\", found {dtype}");
            return Err(self.fail(at[0], message));
        }
        let zero = if dtype.is_float() { Expr::float(0.0, dtype) } else { Expr::int(0, dtype) };
        let mut args = vec![zero.with_span(self.span(at[0]))];
        args.push(match self.value(at[1])? {
            Value::Buffer(buffer) => buffer.data.expr().with_span(self.span(at[1])),
            value => self.lower(value, at[1])?,
        });
        for arg in &at[2..] {
            args.push(self.expr(arg)?);
        }
        Ok(Expr::call(Op::AccessPtr, args, DType::HANDLE))
    }

    /// `T.dp4a("int32", a, b, sum)` as TVM prints it, `T.dp4a(a, b, sum)` as it reads it.
    fn dp4a(&mut self, path: &str, at: &[&ast::Expr], call: &ast::ExprCall) -> Result<Expr> {
        let (dtype, at) = match self.value(at[0])? {
            Value::Str(_) | Value::DType(_) => (Some(self.dtype(at[0])?), &at[1..]),
            _ => (None, at),
        };
        let ([a, b] | [a, b, _]) = at else {
            return Err(self.fail(call, format!("{path} takes two vectors of four int8 or uint8, and a sum")));
        };
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        let bytes = |dtype: DType| dtype == DType::INT8.with_lanes(4) || dtype == DType::UINT8.with_lanes(4);
        if !bytes(a.dtype) || a.dtype != b.dtype {
            let message = format!(
                "{path} takes two vectors of type int8x4, or two of uint8x4, found {} and {}",
                a.dtype, b.dtype
            );
            return Err(self.fail(call, message));
        }
        let sum = if a.dtype.is_uint() { DType::UINT32 } else { DType::INT32 };
        let value = match at.get(2) {
            Some(arg) => {
                let value = self.value(arg)?;
                self.lower_like(value, sum, *arg)?
            }
            None => Expr::int(0, sum).with_span(self.span(call)),
        };
        if let Some(found) = [dtype, Some(value.dtype)].into_iter().flatten().find(|found| *found != sum) {
            return Err(self.fail(call, format!("{path} of {} adds to {sum}, found {found}", a.dtype)));
        }
        Ok(Expr::call(Op::Dp4a, vec![a, b, value], sum))
    }

    /// An atomic: the address, and a value of the type that the address points to.
    fn atomic(&mut self, op: Op, path: &str, at: &[&ast::Expr]) -> Result<Expr> {
        let address = match self.value(at[0])? {
            Value::Buffer(buffer) => buffer.data.expr().with_span(self.span(at[0])),
            value => self.lower(value, at[0])?,
        };
        let element = match &address.kind {
            ExprKind::Var(var) => var.pointer.as_ref().map(|pointer| pointer.element),
            ExprKind::Call { args, .. } => match args.first().map(|arg| &arg.kind) {
                Some(ExprKind::Load { buffer, .. }) => Some(buffer.dtype),
                _ => None,
            },
            _ => None,
        };
        if !address.dtype.is_handle() {
            let message = format!(
                "{path} takes the address of an element, as T.address_of(A[0]), found {}",
                address.dtype
            );
            return Err(self.fail(at[0], message));
        }
        let value = self.value(at[1])?;
        let value = match element {
            Some(element) => self.lower_like(value, element, at[1])?,
            None => self.lower(value, at[1])?,
        };
        if let Some(element) = element.filter(|element| *element != value.dtype) {
            let message = format!("the address is that of {element}, the value is {}", value.dtype);
            return Err(self.fail(at[1], message));
        }
        let dtype = value.dtype;
        Ok(Expr::call(op, vec![address, value], dtype))
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

/// Converts constants to the types of their places.
fn shuffle_types(op: Op, args: &mut [Expr]) {
    for (position, arg) in args.iter_mut().enumerate() {
        if let Some(Takes::Exactly(wanted) | Takes::Constant(wanted)) = op.info().takes(position)
            && arg.as_int().is_some()
        {
            *arg = convert(arg, wanted);
        }
    }
}
