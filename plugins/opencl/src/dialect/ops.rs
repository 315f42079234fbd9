//! Spellings of ops on scalars in OpenCL C, one line per op and type.
//!
//! In the full profile the functions of the language guarantee the bounds of
//! `chipdock_ir::accuracy::ulps` ("Relative Error as ULPs"), for float32 and float64 alike; a
//! square root of float32 is rounded to nearest because the program is built with that option.

use chipdock_codegen_source::{OpRow, OpTable, Spelling};
use chipdock_ir::{DType, Op};

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

macro_rules! table {
    (
        floats { $($float_op:ident $function:literal;)* }
        tests { $($test_op:ident $name:literal $expression:literal;)* }
        own { $($own_op:ident $own_type:ident $own:expr;)* }
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($function)),
              row(Op::$float_op, DType::FLOAT64, Spelling::Call($function)),)*
            $(row(Op::$test_op, DType::FLOAT32, one!($name, "f32", "bool", "float", $expression)),
              row(Op::$test_op, DType::FLOAT64, one!($name, "f64", "bool", "double", $expression)),)*
            $(row(Op::$own_op, DType::$own_type, $own),)*
        ]
    };
}

const fn helper(name: &'static str, text: &'static str) -> Spelling {
    Spelling::Helper { name, text }
}

/// A function of `x` that is one expression.
macro_rules! one {
    ($name:literal, $short:literal, $ret:literal, $type:literal, $expression:literal) => {
        helper(
            concat!("cd_", $name, "_", $short),
            concat!(
                "static inline ",
                $ret,
                " cd_",
                $name,
                "_",
                $short,
                "(",
                $type,
                " x) {\n    return ",
                $expression,
                ";\n}\n"
            ),
        )
    };
}

const ROWS: &[OpRow] = table! {
    floats {
        Acos "acos";
        Acosh "acosh";
        Asin "asin";
        Asinh "asinh";
        Atan "atan";
        Atanh "atanh";
        Ceil "ceil";
        Cos "cos";
        Cosh "cosh";
        Erf "erf";
        Exp "exp";
        Exp10 "exp10";
        Exp2 "exp2";
        Abs "fabs";
        Floor "floor";
        Log "log";
        Log10 "log10";
        Log1p "log1p";
        Log2 "log2";
        Nearbyint "rint";
        Round "rint";
        Rsqrt "rsqrt";
        Sin "sin";
        Sinh "sinh";
        Sqrt "sqrt";
        Tan "tan";
        Tanh "tanh";
        Trunc "trunc";
        Atan2 "atan2";
        Copysign "copysign";
        Fmod "fmod";
        Hypot "hypot";
        Ldexp "ldexp";
        Nextafter "nextafter";
        Pow "pow";
        Fma "fma";
    }
    tests {
        Isnan "isnan" "x != x";
        Isinf "isinf" "fabs(x) == INFINITY";
        Isfinite "isfinite" "fabs(x) < INFINITY";
    }
    own {
        Sigmoid FLOAT32 one!("sigmoid", "f32", "float", "float", "1 / (1 + exp(-x))");
        Sigmoid FLOAT64 one!("sigmoid", "f64", "double", "double", "1 / (1 + exp(-x))");
    }
};

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };
