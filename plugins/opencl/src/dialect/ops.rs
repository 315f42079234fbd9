//! How ops on scalars are spelled in OpenCL C, one line per op and type.
//!
//! The functions of the language promise in the full profile what `chipdock_ir::accuracy::ulps` asks ("Relative
//! Error as ULPs"), float32 and float64 alike; a square root of float32 is rounded to nearest because the program is
//! built so.

use chipdock_codegen_source::{Infix, OpRow, OpTable, Spelling};
use chipdock_ir::{DType, Op};

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

macro_rules! table {
    (
        floats { $($float_op:ident $function:literal;)* }
        tests { $($test_op:ident $name:literal $expression:literal;)* }
        integers { $($int_op:ident $spelling:expr;)* }
        own { $($own_op:ident $own_type:ident $own:expr;)* }
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($function)),
              row(Op::$float_op, DType::FLOAT64, Spelling::Call($function)),)*
            $(row(Op::$test_op, DType::FLOAT32, one!($name, "f32", "bool", "float", $expression)),
              row(Op::$test_op, DType::FLOAT64, one!($name, "f64", "bool", "double", $expression)),)*
            $(row(Op::$int_op, DType::INT8, $spelling), row(Op::$int_op, DType::INT16, $spelling),
              row(Op::$int_op, DType::INT32, $spelling), row(Op::$int_op, DType::INT64, $spelling),
              row(Op::$int_op, DType::UINT8, $spelling), row(Op::$int_op, DType::UINT16, $spelling),
              row(Op::$int_op, DType::UINT32, $spelling), row(Op::$int_op, DType::UINT64, $spelling),
              row(Op::$int_op, DType::BOOL, $spelling),)*
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
    integers {
        BitwiseAnd Spelling::Infix(Infix::BitAnd);
        BitwiseOr Spelling::Infix(Infix::BitOr);
        BitwiseXor Spelling::Infix(Infix::BitXor);
    }
    own {
        Sigmoid FLOAT32 one!("sigmoid", "f32", "float", "float", "1 / (1 + exp(-x))");
        Sigmoid FLOAT64 one!("sigmoid", "f64", "double", "double", "1 / (1 + exp(-x))");
        Abs INT8 one!("abs", "i8", "char", "char", "x < 0 ? (char)(0u - (uint)x) : x");
        Abs INT16 one!("abs", "i16", "short", "short", "x < 0 ? (short)(0u - (uint)x) : x");
        Abs INT32 one!("abs", "i32", "int", "int", "x < 0 ? (int)(0u - (uint)x) : x");
        Abs INT64 one!("abs", "i64", "long", "long", "x < 0 ? (long)(0ul - (ulong)x) : x");
        Abs UINT8 Spelling::Prefix("+");
        Abs UINT16 Spelling::Prefix("+");
        Abs UINT32 Spelling::Prefix("+");
        Abs UINT64 Spelling::Prefix("+");
        BitwiseNot INT8 Spelling::Prefix("~");
        BitwiseNot INT16 Spelling::Prefix("~");
        BitwiseNot INT32 Spelling::Prefix("~");
        BitwiseNot INT64 Spelling::Prefix("~");
        BitwiseNot UINT8 Spelling::Prefix("(uchar)~");
        BitwiseNot UINT16 Spelling::Prefix("(ushort)~");
        BitwiseNot UINT32 Spelling::Prefix("~");
        BitwiseNot UINT64 Spelling::Prefix("~");
        Popcount INT8 one!("popcount", "i8", "char", "char", "popcount(x)");
        Popcount INT16 one!("popcount", "i16", "short", "short", "popcount(x)");
        Popcount INT32 Spelling::Call("popcount");
        Popcount INT64 Spelling::Call("popcount");
        Popcount UINT8 one!("popcount", "u8", "uchar", "uchar", "popcount(x)");
        Popcount UINT16 one!("popcount", "u16", "ushort", "ushort", "popcount(x)");
        Popcount UINT32 Spelling::Call("popcount");
        Popcount UINT64 Spelling::Call("popcount");
        Clz INT8 one!("clz", "i8", "int", "char", "x == 0 ? 8 : (int)clz(x)");
        Clz INT16 one!("clz", "i16", "int", "short", "x == 0 ? 16 : (int)clz(x)");
        Clz INT32 one!("clz", "i32", "int", "int", "x == 0 ? 32 : clz(x)");
        Clz INT64 one!("clz", "i64", "int", "long", "x == 0 ? 64 : (int)clz(x)");
        Clz UINT8 one!("clz", "u8", "int", "uchar", "x == 0 ? 8 : (int)clz(x)");
        Clz UINT16 one!("clz", "u16", "int", "ushort", "x == 0 ? 16 : (int)clz(x)");
        Clz UINT32 one!("clz", "u32", "int", "uint", "x == 0 ? 32 : (int)clz(x)");
        Clz UINT64 one!("clz", "u64", "int", "ulong", "x == 0 ? 64 : (int)clz(x)");
    }
};

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };
