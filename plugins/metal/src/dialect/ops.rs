//! How ops on scalars are spelled in MSL.

use chipdock_codegen_source::{Answer, Code, Infix, OpRow, OpTable, Prelude, Spelling};
use chipdock_ir::{DType, Op};

use super::types::{one, scalar};

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

const fn helper(name: &'static str, text: &'static str) -> Spelling {
    Spelling::Helper { name, text }
}

macro_rules! table {
    (
        floats { $($float_op:ident $f32:literal;)* }
        own { $($own_op:ident $name:literal $text:literal;)* }
        integers { $($int_op:ident $spelling:expr;)* }
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($f32)),)*
            $(row(Op::$own_op, DType::FLOAT32, helper($name, $text)),)*
            $(row(Op::$int_op, DType::INT8, $spelling), row(Op::$int_op, DType::INT16, $spelling),
              row(Op::$int_op, DType::INT32, $spelling), row(Op::$int_op, DType::INT64, $spelling),
              row(Op::$int_op, DType::UINT8, $spelling), row(Op::$int_op, DType::UINT16, $spelling),
              row(Op::$int_op, DType::UINT32, $spelling), row(Op::$int_op, DType::UINT64, $spelling),
              row(Op::$int_op, DType::BOOL, $spelling),)*
        ]
    };
}

const ROWS: &[OpRow] = table! {
    floats {
        Sqrt "precise::sqrt";
        Floor "floor";
        Ceil "ceil";
        Trunc "trunc";
        Nearbyint "rint";
        Round "rint";
        Abs "fabs";
        Fma "fma";
        Copysign "copysign";
    }
    own {
        Isnan "cd_isnan" "static inline bool cd_isnan(float x) {\n    return (as_type<uint>(x) & 0x7fffffffu) > 0x7f800000u;\n}\n";
        Isinf "cd_isinf" "static inline bool cd_isinf(float x) {\n    return (as_type<uint>(x) & 0x7fffffffu) == 0x7f800000u;\n}\n";
        Isfinite "cd_isfinite" "static inline bool cd_isfinite(float x) {\n    return (as_type<uint>(x) & 0x7fffffffu) < 0x7f800000u;\n}\n";
    }
    integers {
        BitwiseAnd Spelling::Infix(Infix::BitAnd);
        BitwiseOr Spelling::Infix(Infix::BitOr);
        BitwiseXor Spelling::Infix(Infix::BitXor);
    }
};

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };

/// Functions of C's library that have a precise form here, without the `f` behind them.
const FUNCTIONS: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "exp", "exp10", "exp2",
    "fmod", "log", "log10", "log2", "pow", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
];

/// MSL's function for one of C's library, on floats.
pub(super) fn function(name: &str) -> Option<String> {
    let name = name.strip_suffix('f').unwrap_or(name);
    FUNCTIONS.contains(&name).then(|| format!("precise::{name}"))
}

/// Ops of one integer whose text depends on its width; `None` for others.
pub(super) fn integer_op(op: Op, value: &Code, dtype: DType, prelude: &mut Prelude) -> Option<Answer<Code>> {
    if dtype.is_bool() && op == Op::BitwiseNot {
        return Some(Ok(Code::not(value)));
    }
    if !dtype.is_integer() || !matches!(op, Op::BitwiseNot | Op::Abs | Op::Popcount | Op::Clz) {
        return None;
    }
    let held = match scalar(dtype) {
        Ok(held) => held,
        Err(refusal) => return Some(Err(refusal)),
    };
    let unsigned = match dtype.bits {
        8 => "uchar",
        16 => "ushort",
        32 => "uint",
        _ => "ulong",
    };
    Some(Ok(match op {
        Op::BitwiseNot => one(held, &Code::prefix("~", value)),
        Op::Abs if dtype.is_uint() => value.clone(),
        Op::Abs => {
            let name = format!("cd_abs_{}", super::types::short(dtype));
            prelude.define(&name, |_| {
                let wide = if dtype.bits > 32 { "ulong" } else { "uint" };
                format!("static inline {held} {name}({held} x) {{\n    return x < 0 ? {held}({wide}(0) - {wide}(x)) : x;\n}}\n")
            });
            one(&name, value)
        }
        Op::Popcount => one(held, &one("popcount", &one(unsigned, value))),
        _ => one("int", &one("clz", &one(unsigned, value))),
    }))
}
