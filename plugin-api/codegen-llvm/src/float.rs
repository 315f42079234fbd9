//! Floats: arithmetic with the flags of rule LLVM-V7, comparisons, and functions that are single
//! instructions.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op};

use crate::constants::float;
use crate::types::is_half;
use crate::value::Value;
use crate::writer::Writer;

/// Number of operations from a rounding sum on, including it, that LLVM must leave in order.
const OPERATIONS_IN_ORDER: u8 = 4;

impl<'a> Writer<'a> {
    /// The flags of an arithmetic operation: `contract` and those that the target's options allow
    /// (rule LLVM-V7).
    pub(crate) fn flags(&self) -> String {
        self.flags_where(true)
    }

    /// Like [`Self::flags`], without `reassoc` unless any order is allowed.
    fn flags_where(&self, any_order: bool) -> String {
        let fast = self.target.fast_math();
        let flags = [
            (fast.nnan, "nnan"),
            (fast.ninf, "ninf"),
            (fast.nsz, "nsz"),
            (fast.arcp, "arcp"),
            (true, "contract"),
            (fast.reassoc && any_order, "reassoc"),
        ];
        joined(&flags)
    }

    /// The flags of a selection or comparison, with a trailing space.
    fn choice_flags(&self) -> String {
        let fast = self.target.fast_math();
        let flags = joined(&[(fast.nnan, "nnan"), (fast.ninf, "ninf"), (fast.nsz, "nsz")]);
        if flags.is_empty() { flags } else { flags + " " }
    }

    pub(crate) fn float_binary(&mut self, e: &Expr, op: BinaryOp, a: &Value, b: &Value) -> Value {
        let name = match op {
            BinaryOp::Add => "fadd",
            BinaryOp::Sub => "fsub",
            BinaryOp::Mul => "fmul",
            BinaryOp::Div => "fdiv",
            BinaryOp::Min => return self.extreme(CompareOp::Lt, a, b),
            BinaryOp::Max => return self.extreme(CompareOp::Gt, a, b),
            BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => {
                return self.refuse(e, "has no such division of floats; use `/`, T.floor and T.fmod");
            }
        };
        let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Sub);
        self.computed(e.dtype, &[a.clone(), b.clone()], |writer, args| {
            let near = writer.near_rounding(is_sum, args);
            let flags = writer.flags_where(near == 0);
            let value = writer.operation(&format!("{name} {flags}"), &args[0], &args[1]);
            if near > 1 {
                writer.rounded.insert(value.text.clone(), near - 1);
            }
            value
        })
    }

    /// The number of further operations on a result that must keep their order, 0 for none: those
    /// after a sum with a number so large that the sum is rounded to an integer, as in the
    /// polynomials of the passes. In another order that number would cancel out, and the rounding
    /// with it; LLVM looks through a few operations for that, whatever their flags are.
    fn near_rounding(&self, is_sum: bool, args: &[Value]) -> u8 {
        if !self.target.fast_math().reassoc {
            return 0;
        }
        if is_sum && args.iter().any(rounds_by_adding) {
            return OPERATIONS_IN_ORDER;
        }
        args.iter().filter_map(|arg| self.rounded.get(&arg.text)).copied().max().unwrap_or(0)
    }

    /// `a < b ? a : b` and similar (rule IR-N7), a single instruction on many processors.
    fn extreme(&mut self, op: CompareOp, a: &Value, b: &Value) -> Value {
        let condition = self.float_compare(op, a, b);
        let flags = if is_half(a.dtype) { String::new() } else { self.choice_flags() };
        self.compute(
            a.dtype,
            format_args!("select {flags}{}, {}, {}", condition.typed(), a.typed(), b.typed()),
        )
    }

    /// A comparison, false for a NaN except for `!=`; halves are compared as float32.
    pub(crate) fn float_compare(&mut self, op: CompareOp, a: &Value, b: &Value) -> Value {
        let predicate = match op {
            CompareOp::Eq => "oeq",
            CompareOp::Ne => "une",
            CompareOp::Lt => "olt",
            CompareOp::Le => "ole",
            CompareOp::Gt => "ogt",
            CompareOp::Ge => "oge",
        };
        let (a, b) = (self.widened(a), self.widened(b));
        let flags = self.choice_flags();
        self.fcmp(&format!("{flags}{predicate}"), &a, &b)
    }

    /// A comparison of float32 or float64.
    pub(crate) fn fcmp(&mut self, predicate: &str, a: &Value, b: &Value) -> Value {
        let dtype = DType::BOOL.with_lanes(a.dtype.lanes);
        self.compute(dtype, format_args!("fcmp {predicate} {}, {}", a.typed(), b.text))
    }

    /// Converts halves to float32; other floats are unchanged.
    pub(crate) fn widened(&mut self, value: &Value) -> Value {
        if !is_half(value.dtype) {
            return value.clone();
        }
        self.cast(value, DType::FLOAT32.with_lanes(value.dtype.lanes))
    }

    /// Runs `f`, with halves computed in float32 and rounded once (rule LLVM-V4).
    fn computed(
        &mut self,
        dtype: DType,
        args: &[Value],
        f: impl FnOnce(&mut Self, &[Value]) -> Value,
    ) -> Value {
        let args: Vec<Value> = args.iter().map(|arg| self.widened(arg)).collect();
        let value = f(self, &args);
        if is_half(dtype) { self.cast(&value, dtype) } else { value }
    }

    /// A function of floats that is a single LLVM intrinsic, given its name.
    pub(crate) fn float_function(&mut self, name: &str, dtype: DType, args: &[Value]) -> Value {
        self.computed(dtype, args, |writer, args| {
            let flags = writer.flags();
            writer.intrinsic(name, &flags, args.first().map_or(dtype, |arg| arg.dtype), args)
        })
    }

    /// The magnitude of a float, or its magnitude with the sign of another; for halves computed on
    /// bits, without rounding.
    pub(crate) fn sign_function(&mut self, op: Op, args: &[Value]) -> Value {
        let [a, rest @ ..] = args else { return Value::new("poison", DType::FLOAT32) };
        let dtype = a.dtype;
        if !is_half(dtype) {
            let name = if op == Op::Abs { "fabs" } else { "copysign" };
            return self.intrinsic(name, "", dtype, args);
        }
        let bits = |value: i128| crate::constants::integer(value, DType::UINT16.with_lanes(dtype.lanes));
        let magnitude = self.operation("and", a, &bits(0x7fff));
        let Some(b) = rest.first() else { return magnitude };
        let sign = self.operation("and", b, &bits(0x8000));
        self.operation("or", &magnitude, &sign)
    }

    /// Tests for a NaN, an infinity, or neither, whatever the target's options assume.
    pub(crate) fn float_test(&mut self, op: Op, value: &Value) -> Value {
        let value = self.widened(value);
        if op == Op::Isnan {
            return self.fcmp("uno", &value, &float(0.0, value.dtype));
        }
        let magnitude = self.intrinsic("fabs", "", value.dtype, std::slice::from_ref(&value));
        let infinity = float(f64::INFINITY, value.dtype);
        self.fcmp(if op == Op::Isinf { "oeq" } else { "olt" }, &magnitude, &infinity)
    }

    /// One over the square root.
    pub(crate) fn reciprocal_root(&mut self, dtype: DType, value: &Value) -> Value {
        self.computed(dtype, std::slice::from_ref(value), |writer, args| {
            let flags = writer.flags();
            let root = writer.intrinsic("sqrt", &flags, args[0].dtype, args);
            writer.operation(&format!("fdiv {flags}"), &float(1.0, root.dtype), &root)
        })
    }
}

fn joined(flags: &[(bool, &str)]) -> String {
    let set: Vec<&str> = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect();
    set.join(" ")
}

/// Returns true for a constant so large that a sum with it is rounded to an integer.
fn rounds_by_adding(value: &Value) -> bool {
    let least = if value.dtype.bits == 64 { 2_f64.powi(50) } else { 2_f64.powi(21) };
    let bits = value.text.split_once("0x").and_then(|(_, rest)| rest.get(..16));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits, 16).ok());
    bits.map(f64::from_bits).is_some_and(|value| value.is_finite() && value.abs() >= least)
}
