//! Ops on values: dispatch to the parts that write them.

use chipdock_ir::op::{Gives, Threads};
use chipdock_ir::{DType, Expr, ExprKind, Op, Signature};

use crate::constants::integer;
use crate::types;
use crate::value::Value;
use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// A call of an op.
    pub(crate) fn op(&mut self, e: &'a Expr, op: Op, args: &'a [Expr]) -> Value {
        if let Some(value) = self.runtime_op(e, op, args) {
            return value;
        }
        if !op.takes_count(args.len()) {
            return self
                .refuse(e, format!("{} expects {} arguments, found {}", op.name(), op.arity(), args.len()));
        }
        match op {
            Op::IfThenElse => return self.if_then_else(e, args),
            Op::DotAdd => return self.dot_add(e, args),
            Op::ShiftLeft | Op::ShiftRight => return self.shift(e, op, &args[0], &args[1]),
            _ => {}
        }
        if !is_written(op) {
            return self.refuse(e, no_op(op));
        }
        if args.iter().any(|arg| matches!(arg.kind, ExprKind::Str(_))) {
            return self.refuse(e, format!("{} takes no string", op.name()));
        }
        let values: Vec<Value> = args.iter().map(|arg| self.value(arg)).collect();
        self.pure_op(e, op, &values)
    }

    fn pure_op(&mut self, e: &Expr, op: Op, args: &[Value]) -> Value {
        let Some(first) = args.first().cloned() else { return self.refuse(e, no_op(op)) };
        let is_number = first.dtype.is_float() || first.dtype.integer_range().is_some();
        let expected = match op.info().gives {
            Gives::Stated => e.dtype,
            Gives::Exactly(dtype) => dtype,
            Gives::LanesOf(_, dtype) => dtype.with_lanes(first.dtype.lanes),
            Gives::Like(_) | Gives::Nothing => first.dtype,
        };
        if !self.has_type(e, e.dtype, expected) {
            return Value::new("poison", e.dtype);
        }
        if args.iter().any(|arg| !self.has_type(e, arg.dtype, first.dtype)) {
            return Value::new("poison", e.dtype);
        }
        match op {
            Op::Reinterpret => self.reinterpretation(e, &first),
            Op::Isnullptr if first.dtype.is_handle() => {
                self.icmp("eq", &first, &Value::new("null", DType::HANDLE))
            }
            Op::Likely if first.dtype.is_bool() => self.likely(first),
            Op::ThreadInvariant => first,
            _ if first.dtype.is_float() => self.float_op(e, op, args),
            _ if is_number => self.int_op(e, op, args),
            _ => self.refuse(e, format!("has no {} of {}", op.name(), first.dtype)),
        }
    }

    fn float_op(&mut self, e: &Expr, op: Op, args: &[Value]) -> Value {
        let name = match op {
            Op::Abs | Op::Copysign => return self.sign_function(op, args),
            Op::Isnan | Op::Isinf | Op::Isfinite => return self.float_test(op, &args[0]),
            Op::Rsqrt => return self.reciprocal_root(e.dtype, &args[0]),
            _ => match float_intrinsic(op) {
                Some(name) => name,
                None => return self.refuse(e, format!("has no {} of {}", op.name(), args[0].dtype)),
            },
        };
        self.float_function(name, e.dtype, args)
    }

    fn int_op(&mut self, e: &Expr, op: Op, args: &[Value]) -> Value {
        let dtype = args[0].dtype;
        match (op, args) {
            (Op::Abs, [a]) => self.int_abs(a.clone()),
            (Op::Clz, [a]) => self.leading_zeros(a),
            (Op::Popcount, [a]) if dtype.is_bool() => a.clone(),
            (Op::Popcount, [a]) => self.intrinsic("ctpop", "", dtype, std::slice::from_ref(a)),
            (Op::BitwiseNot, [a]) => self.operation("xor", a, &integer(-1, dtype)),
            (Op::BitwiseAnd, [a, b]) => self.operation("and", a, b),
            (Op::BitwiseOr, [a, b]) => self.operation("or", a, b),
            (Op::BitwiseXor, [a, b]) => self.operation("xor", a, b),
            _ => self.refuse(e, format!("has no {} of {dtype}", op.name())),
        }
    }

    /// A boolean that is mostly true; vectors are unchanged, since there are no branches on them.
    fn likely(&mut self, value: Value) -> Value {
        if value.dtype != DType::BOOL {
            return value;
        }
        let callee = self.declare("i1", "llvm.expect.i1", "i1, i1");
        self.compute(DType::BOOL, format_args!("call i1 {callee}({}, i1 true)", value.typed()))
    }

    /// Reinterprets the bits of a value as another type of the same size.
    fn reinterpretation(&mut self, e: &Expr, value: &Value) -> Value {
        let (from, to) = (value.dtype, e.dtype);
        if from.size_bytes() != to.size_bytes() || from.is_bool() || to.is_bool() {
            return self.refuse(e, format!("{from} cannot be read as {to}: it does not have as many bits"));
        }
        let (from_type, to_type) = (types::register(from), types::register(to));
        if from_type == to_type {
            return Value::new(value.text.clone(), to);
        }
        let bits = DType::UINT64;
        match (from.is_handle(), to.is_handle()) {
            (false, false) => self.compute(to, format_args!("bitcast {} to {to_type}", value.typed())),
            (true, _) => {
                let address = self.compute(bits, format_args!("ptrtoint {} to i64", value.typed()));
                self.as_bits(&address, to)
            }
            (_, true) => {
                let address = self.as_bits(value, bits);
                self.compute(to, format_args!("inttoptr {} to ptr", address.typed()))
            }
        }
    }

    fn as_bits(&mut self, value: &Value, to: DType) -> Value {
        let (from_type, to_type) = (types::register(value.dtype), types::register(to));
        if from_type == to_type {
            return Value::new(value.text.clone(), to);
        }
        self.compute(to, format_args!("bitcast {} to {to_type}", value.typed()))
    }
}

/// The LLVM intrinsic that computes an op on floats.
fn float_intrinsic(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Sqrt => "sqrt",
        Op::Floor => "floor",
        Op::Ceil => "ceil",
        Op::Trunc => "trunc",
        Op::Nearbyint | Op::Round => "nearbyint",
        Op::Fma => "fma",
        _ => return None,
    })
}

/// Returns true for an op for which this crate has instructions, on some type: ops of tests, bits,
/// signs and types, and the intrinsics.
fn is_written(op: Op) -> bool {
    let info = op.info();
    let is_bits = matches!(info.signature, Signature::IntUnary | Signature::IntCount | Signature::BitBinary);
    is_bits
        || info.signature == Signature::FloatTest
        || float_intrinsic(op).is_some()
        || matches!(
            op,
            Op::Abs
                | Op::Copysign
                | Op::Rsqrt
                | Op::Likely
                | Op::Reinterpret
                | Op::Isnullptr
                | Op::ThreadInvariant
        )
}

/// The error message for an op without instructions, with advice.
fn no_op(op: Op) -> String {
    let name = op.name();
    match op.threads() {
        Threads::ActiveMask | Threads::Shuffle => {
            format!("has no {name}: there are no warps here; build the kernel for a target that has threads")
        }
        Threads::Barrier | Threads::Exit | Threads::Reduction => {
            format!("has no {name}: there are no threads here; build the kernel for a target that has them")
        }
        Threads::Alone => format!("has no {name}; lower it with the pass lower_intrinsics first"),
    }
}
