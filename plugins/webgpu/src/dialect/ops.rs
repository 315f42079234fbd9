//! Ops on scalars for which WGSL has a function or an operator with the IR's meaning.

use chipdock_codegen_source::{Answer, Code, Infix, OpRow, OpTable, Spelling};
use chipdock_ir::{DType, Op};

use super::types::{cut, is_narrow, one, scalar};

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

const fn helper(name: &'static str, text: &'static str) -> Spelling {
    Spelling::Helper { name, text }
}

macro_rules! table {
    (
        floats { $($float_op:ident $f32:literal;)* }
        own { $($own_op:ident $name:literal $text:expr;)* }
        integers { $($int_op:ident $spelling:expr;)* }
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($f32)),)*
            $(row(Op::$own_op, DType::FLOAT32, helper($name, $text)),)*
            $(row(Op::$int_op, DType::INT8, $spelling), row(Op::$int_op, DType::INT16, $spelling),
              row(Op::$int_op, DType::INT32, $spelling), row(Op::$int_op, DType::UINT8, $spelling),
              row(Op::$int_op, DType::UINT16, $spelling), row(Op::$int_op, DType::UINT32, $spelling),)*
            row(Op::BitwiseAnd, DType::BOOL, Spelling::Infix(Infix::BitAnd)),
            row(Op::BitwiseOr, DType::BOOL, Spelling::Infix(Infix::BitOr)),
            row(Op::BitwiseXor, DType::BOOL, Spelling::Infix(Infix::NotEqual)),
        ]
    };
}

const ROWS: &[OpRow] = table! {
    floats {
        Sqrt "sqrt";
        Floor "floor";
        Ceil "ceil";
        Trunc "trunc";
        Nearbyint "round";
        Round "round";
        Abs "abs";
        Fma "fma";
    }
    own {
        Copysign "cd_copysign" "fn cd_copysign(x: f32, y: f32) -> f32 {\n    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));\n}\n";
        Isnan "cd_isnan" "fn cd_isnan(x: f32) -> bool {\n    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;\n}\n";
        Isinf "cd_isinf" "fn cd_isinf(x: f32) -> bool {\n    return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;\n}\n";
        Isfinite "cd_isfinite" "fn cd_isfinite(x: f32) -> bool {\n    return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;\n}\n";
        Fmod "cd_fmod" FMOD;
    }
    integers {
        BitwiseAnd Spelling::Infix(Infix::BitAnd);
        BitwiseOr Spelling::Infix(Infix::BitOr);
        BitwiseXor Spelling::Infix(Infix::BitXor);
    }
};

/// The exact remainder of a division, computed digit by digit, because WGSL's `%` may be off by the
/// divisor.
const FMOD: &str = "\
fn cd_fmod(x: f32, y: f32) -> f32 {
    let sign = bitcast<u32>(x) & 0x80000000u;
    var a = bitcast<u32>(x) & 0x7fffffffu;
    var b = bitcast<u32>(y) & 0x7fffffffu;
    if (a >= 0x7f800000u || b > 0x7f800000u || b == 0u) {
        return bitcast<f32>(a | 0x7fc00000u);
    }
    if (a < b) {
        return x;
    }
    // The exponent, and the digits as an integer; a subnormal number has the exponent 1.
    var from_exponent = max(a >> 23u, 1u);
    let exponent = max(b >> 23u, 1u);
    a = select(a & 0x7fffffu, (a & 0x7fffffu) | 0x800000u, a >= 0x800000u);
    b = select(b & 0x7fffffu, (b & 0x7fffffu) | 0x800000u, b >= 0x800000u);
    a = a % b;
    for (; from_exponent > exponent; from_exponent--) {
        a = a << 1u;
        if (a >= b) {
            a = a - b;
        }
    }
    if (a == 0u) {
        return bitcast<f32>(sign);
    }
    let places = min(countLeadingZeros(a) - 8u, exponent - 1u);
    a = a << places;
    let rest = exponent - places;
    let digits = select(a, (a & 0x7fffffu) | (rest << 23u), a >= 0x800000u);
    return bitcast<f32>(sign | digits);
}
";

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };

/// Ops on one integer whose text depends on its width; `None` for others.
pub(super) fn integer_op(op: Op, value: &Code, dtype: DType) -> Option<Answer<Code>> {
    if dtype.is_bool() && op == Op::BitwiseNot {
        return Some(Ok(Code::not(value)));
    }
    if !dtype.is_integer() || !matches!(op, Op::BitwiseNot | Op::Abs | Op::Popcount | Op::Clz) {
        return None;
    }
    if let Err(refusal) = scalar(dtype) {
        return Some(Err(refusal));
    }
    // The bits of the type only: a narrow signed value is sign-extended.
    let bits = |value: &Code| {
        let bits = if dtype.is_int() { one("bitcast<u32>", value) } else { value.clone() };
        match dtype.bits {
            8 => Code::infix(Infix::BitAnd, &bits, &Code::primary("0xffu")),
            16 => Code::infix(Infix::BitAnd, &bits, &Code::primary("0xffffu")),
            _ => bits,
        }
    };
    let code = match op {
        Op::BitwiseNot => cut(Code::prefix("~", value), if dtype.is_int() { DType::INT32 } else { dtype }),
        Op::Abs if dtype.is_int() => cut(one("abs", value), dtype),
        Op::Abs => value.clone(),
        Op::Popcount => {
            let count = one("countOneBits", &bits(value));
            if dtype.is_int() { one("i32", &count) } else { count }
        }
        _ => {
            let zeros = one("i32", &one("countLeadingZeros", &bits(value)));
            let over = 32 - i32::from(dtype.bits);
            if is_narrow(dtype) {
                Code::infix(Infix::Sub, &zeros, &Code::primary(over.to_string()))
            } else {
                zeros
            }
        }
    };
    Some(Ok(code))
}

/// A shift by an amount modulo the width.
pub(super) fn shift(
    op: Op,
    (value, dtype): (&Code, DType),
    amount: &Code,
    constant: Option<i128>,
) -> Answer<Code> {
    scalar(dtype)?;
    let width = i128::from(dtype.bits);
    let amount = match constant {
        Some(constant) => Code::primary(format!("{}u", constant.rem_euclid(width))),
        None => {
            let amount = if dtype.is_int() { one("bitcast<u32>", amount) } else { amount.clone() };
            Code::infix(Infix::BitAnd, &amount, &Code::primary(format!("{}u", width - 1)))
        }
    };
    Ok(if op == Op::ShiftRight {
        Code::infix(Infix::ShiftRight, value, &amount)
    } else {
        cut(Code::infix(Infix::ShiftLeft, value, &amount), dtype)
    })
}
