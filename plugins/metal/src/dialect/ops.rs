//! Spellings of ops on scalars in MSL.

use chipdock_codegen_source::{OpRow, OpTable, Spelling};
use chipdock_ir::{DType, Op};

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
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($f32)),)*
            $(row(Op::$own_op, DType::FLOAT32, helper($name, $text)),)*
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
};

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };

/// Functions of the C library that have a precise form in MSL, without the suffix `f`.
const FUNCTIONS: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "exp", "exp10", "exp2",
    "fmod", "log", "log10", "log2", "pow", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
];

/// MSL's function for a function of the C library, on floats.
pub(super) fn function(name: &str) -> Option<String> {
    let name = name.strip_suffix('f').unwrap_or(name);
    FUNCTIONS.contains(&name).then(|| format!("precise::{name}"))
}
