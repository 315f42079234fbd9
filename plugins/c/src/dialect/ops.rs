//! Spellings of ops on scalars in C, one line per op and type. Builtins are used in place of
//! `<math.h>`, so that a variable may be called `exp`.

use chipdock_codegen_source::{OpRow, OpTable, Spelling};
use chipdock_ir::{DType, Op};

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

macro_rules! table {
    (
        floats { $($float_op:ident $f32:literal $f64:literal;)* }
        tests { $($test_op:ident $test:literal;)* }
        own { $($own_op:ident $own_type:ident $own:expr;)* }
    ) => {
        &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($f32)),
              row(Op::$float_op, DType::FLOAT64, Spelling::Call($f64)),)*
            $(row(Op::$test_op, DType::FLOAT32, helper(
                  concat!("cd_", $test, "_f32"),
                  concat!("static inline bool cd_", $test, "_f32(float x) {\n    return __builtin_", $test, "(x) != 0;\n}\n"))),
              row(Op::$test_op, DType::FLOAT64, helper(
                  concat!("cd_", $test, "_f64"),
                  concat!("static inline bool cd_", $test, "_f64(double x) {\n    return __builtin_", $test, "(x) != 0;\n}\n"))),)*
            $(row(Op::$own_op, DType::$own_type, $own),)*
        ]
    };
}

const fn helper(name: &'static str, text: &'static str) -> Spelling {
    Spelling::Helper { name, text }
}

const ROWS: &[OpRow] = table! {
    floats {
        Acos "__builtin_acosf" "__builtin_acos";
        Acosh "__builtin_acoshf" "__builtin_acosh";
        Asin "__builtin_asinf" "__builtin_asin";
        Asinh "__builtin_asinhf" "__builtin_asinh";
        Atan "__builtin_atanf" "__builtin_atan";
        Atanh "__builtin_atanhf" "__builtin_atanh";
        Ceil "__builtin_ceilf" "__builtin_ceil";
        Cos "__builtin_cosf" "__builtin_cos";
        Cosh "__builtin_coshf" "__builtin_cosh";
        Erf "__builtin_erff" "__builtin_erf";
        Exp "__builtin_expf" "__builtin_exp";
        Exp2 "__builtin_exp2f" "__builtin_exp2";
        Abs "__builtin_fabsf" "__builtin_fabs";
        Floor "__builtin_floorf" "__builtin_floor";
        Log "__builtin_logf" "__builtin_log";
        Log10 "__builtin_log10f" "__builtin_log10";
        Log1p "__builtin_log1pf" "__builtin_log1p";
        Log2 "__builtin_log2f" "__builtin_log2";
        Nearbyint "__builtin_nearbyintf" "__builtin_nearbyint";
        Round "__builtin_nearbyintf" "__builtin_nearbyint";
        Sin "__builtin_sinf" "__builtin_sin";
        Sinh "__builtin_sinhf" "__builtin_sinh";
        Sqrt "__builtin_sqrtf" "__builtin_sqrt";
        Tan "__builtin_tanf" "__builtin_tan";
        Tanh "__builtin_tanhf" "__builtin_tanh";
        Trunc "__builtin_truncf" "__builtin_trunc";
        Atan2 "__builtin_atan2f" "__builtin_atan2";
        Copysign "__builtin_copysignf" "__builtin_copysign";
        Fmod "__builtin_fmodf" "__builtin_fmod";
        Hypot "__builtin_hypotf" "__builtin_hypot";
        Ldexp "__builtin_ldexpf" "__builtin_ldexp";
        Nextafter "__builtin_nextafterf" "__builtin_nextafter";
        Pow "__builtin_powf" "__builtin_pow";
        Fma "__builtin_fmaf" "__builtin_fma";
    }
    tests {
        Isnan "isnan";
        Isinf "isinf";
        Isfinite "isfinite";
    }
    own {
        Exp10 FLOAT32 helper("cd_exp10_f32", "static inline float cd_exp10_f32(float x) {\n    return __builtin_powf(10.0f, x);\n}\n");
        Exp10 FLOAT64 helper("cd_exp10_f64", "static inline double cd_exp10_f64(double x) {\n    return __builtin_pow(10.0, x);\n}\n");
        Rsqrt FLOAT32 helper("cd_rsqrt_f32", "static inline float cd_rsqrt_f32(float x) {\n    return 1.0f / __builtin_sqrtf(x);\n}\n");
        Rsqrt FLOAT64 helper("cd_rsqrt_f64", "static inline double cd_rsqrt_f64(double x) {\n    return 1.0 / __builtin_sqrt(x);\n}\n");
        Sigmoid FLOAT32 helper("cd_sigmoid_f32", "static inline float cd_sigmoid_f32(float x) {\n    return 1.0f / (1.0f + __builtin_expf(-x));\n}\n");
        Sigmoid FLOAT64 helper("cd_sigmoid_f64", "static inline double cd_sigmoid_f64(double x) {\n    return 1.0 / (1.0 + __builtin_exp(-x));\n}\n");
    }
};

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };
