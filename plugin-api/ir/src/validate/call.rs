//! Calls: ops by their signatures, functions of the module, C functions.

use super::Checker;
use super::expr::is_index;
use crate::{Callee, DType, Effect, Expr, ExprKind, Op, Param, Signature, StructField};

/// Scopes that a barrier may name.
const BARRIERS: &[&str] = &["shared", "shared.dyn", "warp", "global"];

/// True for a call that changes state.
pub(super) fn writes(callee: &Callee) -> bool {
    match callee {
        Callee::Op(op) => op.effect() == Effect::Writes,
        Callee::Global(_) => true,
        Callee::Extern { pure, .. } => !pure,
    }
}

/// True for a name that C, and every other language that we write, takes as a function's.
pub(super) fn is_c_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && name.len() <= 256
}

impl Checker<'_> {
    /// True for a call that is made for its effect alone.
    pub(super) fn gives_nothing(&self, callee: &Callee) -> bool {
        match callee {
            Callee::Op(op) => matches!(op, Op::StructSet | Op::ThrowLastError | Op::StorageSync),
            Callee::Global(name) => self.module.function(name).is_some_and(|f| f.ret.is_none()),
            Callee::Extern { .. } => false,
        }
    }

    pub(super) fn call(&mut self, expr: &Expr, callee: &Callee, args: &[Expr]) {
        for arg in args {
            self.value_or_string(arg);
        }
        match callee {
            Callee::Op(op) => self.op(expr, *op, args),
            Callee::Global(name) => self.global(expr, name, args),
            Callee::Extern { name, .. } => {
                if !is_c_name(name) {
                    self.at_expr(expr, format!("\"{name}\" is no name of a C function"));
                }
            }
        }
    }

    fn op(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let name = op.name();
        if op.arity() != 255 && args.len() != op.arity() {
            let text = format!("{name} takes {} arguments, found {}", op.arity(), args.len());
            return self.at_expr(expr, text);
        }
        let takes_strings = matches!(op, Op::CallPacked | Op::StorageSync);
        if !takes_strings && args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            return self.at_expr(expr, format!("{name} takes no string"));
        }
        let first = args.first().map_or(DType::HANDLE, |arg| arg.dtype);
        let bits = matches!(op, Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor);
        let fits = match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::FloatBinary => first.is_float(),
            Signature::IntUnary => first.is_integer(),
            Signature::IntBinary => first.is_integer() || bits && first.is_bool(),
            Signature::NumberUnary => first.is_integer() || first.is_float(),
            Signature::Own => return self.own(expr, op, args),
        };
        let wanted = match op.signature() {
            Signature::FloatUnary | Signature::FloatTest | Signature::FloatBinary => "floats",
            Signature::NumberUnary => "numbers",
            Signature::IntUnary | Signature::IntBinary | Signature::Own => "integers",
        };
        self.expect(expr, fits, &format!("{name} takes {wanted}"));
        if let [a, b] = args {
            self.same_types(expr, a, b);
        }
        self.op_result(expr, op, args);
    }

    fn op_result(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        if let Some(dtype) = op.result_dtype(args) {
            self.result(expr, dtype);
        }
    }

    /// Ops with rules of their own, as stated at each.
    fn own(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        let types: Vec<DType> = args.iter().map(|arg| arg.dtype).collect();
        let (fits, wanted) = match (op, types.as_slice()) {
            (Op::Ldexp, [a, b]) => (
                a.is_float() && *b == DType::INT32.with_lanes(a.lanes),
                "a float, and an int32 of as many lanes",
            ),
            (Op::Fma, [a, b, c]) => (a.is_float() && a == b && b == c, "three floats of one type"),
            (Op::Clz, [a]) => (a.is_integer(), "an integer"),
            (Op::IfThenElse, [c, a, b]) => {
                (*c == DType::BOOL && a == b, "a scalar boolean and two values of one type")
            }
            (Op::Likely, [a]) => (a.is_bool(), "a boolean"),
            (Op::Reinterpret, [a]) => {
                let sized = a.size_bytes() == expr.dtype.size_bytes();
                (sized && !a.is_bool() && !expr.dtype.is_bool(), "a value of as many bits, no boolean")
            }
            (Op::Isnullptr | Op::AddressOf, [a]) => {
                let load = op == Op::AddressOf;
                (load || a.is_handle(), "a handle")
            }
            (Op::HandleAddByteOffset, [a, b]) => {
                (a.is_handle() && is_index(*b), "a handle and an int32 or int64")
            }
            (Op::StructGet, [a, i, f]) => {
                (a.is_handle() && *i == DType::INT32 && f.is_integer(), "a handle, an int32 and a field")
            }
            (Op::StructSet, [a, i, f, v]) => (
                a.is_handle() && *i == DType::INT32 && f.is_integer() && v.is_scalar(),
                "a handle, an int32, a field and a scalar",
            ),
            (Op::HandleLoad, [a, b]) => {
                let constant = args[1].as_int().is_some();
                (a.is_handle() && *b == DType::INT64 && constant, "a handle and a constant int64")
            }
            (Op::AllocateWorkspace, [a, b, c, rest @ ..]) => {
                let ints = [a, b].into_iter().chain(rest).all(|t| *t == DType::INT32);
                (
                    ints && *c == DType::UINT64 && matches!(rest.len(), 0 | 2),
                    "device_type, device_id, uint64 bytes",
                )
            }
            (Op::FreeWorkspace, [a, b, c]) => {
                (*a == DType::INT32 && *b == DType::INT32 && c.is_handle(), "two int32 and a handle")
            }
            (Op::ThrowLastError, []) => (true, ""),
            (Op::CallPacked, [_, rest @ ..]) => {
                let named = args.first().is_some_and(|arg| matches!(arg.kind, ExprKind::Str(_)));
                (named && rest.iter().all(|t| t.is_scalar()), "a name, and scalars")
            }
            (Op::StorageSync, [_]) => {
                let scope = match &args[0].kind {
                    ExprKind::Str(scope) => BARRIERS.contains(&&**scope),
                    _ => false,
                };
                (scope, "one of \"shared\", \"shared.dyn\", \"warp\", \"global\"")
            }
            _ => (false, "other arguments"),
        };
        if !fits {
            let found: Vec<String> = types.iter().map(DType::to_string).collect();
            let text = format!("{} takes {wanted}; found {}", op.name(), found.join(", "));
            self.at_expr(expr, text);
        }
        if op == Op::AddressOf && args.len() == 1 {
            self.address_of(expr, &args[0]);
        }
        if matches!(op, Op::StructGet | Op::StructSet) && args.len() > 2 {
            self.field(expr, &args[2]);
        }
        self.op_result(expr, op, args);
    }

    fn field(&mut self, expr: &Expr, field: &Expr) {
        if field.as_int().and_then(StructField::by_code).is_none() {
            self.at_expr(expr, "the field is a constant, one of the codes of StructField");
        }
    }

    fn global(&mut self, expr: &Expr, name: &str, args: &[Expr]) {
        let Some(function) = self.module.function(name) else {
            let names: Vec<&str> = self.module.functions.iter().map(|f| &*f.name).collect();
            let text = format!("there is no function `{name}` in the module; there are {}", names.join(", "));
            return self.at_expr(expr, text);
        };
        if function.params.len() != args.len() {
            let text =
                format!("function `{name}` takes {} arguments, found {}", function.params.len(), args.len());
            return self.at_expr(expr, text);
        }
        for (param, arg) in function.params.iter().zip(args) {
            match param {
                Param::Var(var) if var.dtype == arg.dtype => {}
                Param::Var(var) => self.at_expr(
                    expr,
                    format!(
                        "argument `{}` of `{name}`: expected type {}, found {}",
                        var.name, var.dtype, arg.dtype
                    ),
                ),
                Param::Buffer(buffer) => self.at_expr(
                    expr,
                    format!(
                        "`{name}` takes the buffer `{}`; only functions of scalars and pointers can be called",
                        buffer.name
                    ),
                ),
            }
        }
        if args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            self.at_expr(expr, "a function of the module takes no string");
        }
        self.result(expr, function.ret.unwrap_or(DType::HANDLE));
    }
}
