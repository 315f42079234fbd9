//! Spellings of ops on scalars in CUDA C, one line per op and type, and the functions of the
//! language by name.
//!
//! Each function has the largest error that NVIDIA documents for it, in units of the last place of
//! float32 and of float64 (CUDA C++ Programming Guide, "Mathematical Functions"; the largest of
//! several editions). An op is native if both are within [`chipdock_ir::accuracy::ulps`]; a test
//! compares them.

use chipdock_codegen_source::{OpRow, OpTable, Spelling, contains_word};
use chipdock_ir::{DType, Op};

/// A function of the language that computes an op of the IR.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// The op.
    pub(crate) op: Op,
    /// The largest documented error, in units of the last place of float32 and float64.
    pub(crate) ulps: [f64; 2],
}

const fn row(op: Op, dtype: DType, spelling: Spelling) -> OpRow {
    OpRow { op, dtype, spelling }
}

const fn helper(name: &'static str, text: &'static str) -> Spelling {
    Spelling::Helper { name, text }
}

macro_rules! table {
    (
        floats { $($float_op:ident $f32:literal $f64:literal $ulps32:literal $ulps64:literal;)* }
        own { $($own_op:ident $own_type:ident $own:expr;)* }
    ) => {
        /// The functions of floats.
        #[cfg(test)]
        pub(crate) const FUNCTIONS: &[Function] = &[
            $(Function { op: Op::$float_op, ulps: [$ulps32, $ulps64] },)*
        ];
        const ROWS: &[OpRow] = &[
            $(row(Op::$float_op, DType::FLOAT32, Spelling::Call($f32)),
              row(Op::$float_op, DType::FLOAT64, Spelling::Call($f64)),)*
            $(row(Op::$own_op, DType::$own_type, $own),)*
        ];
    };
}

table! {
    floats {
        Acos "acosf" "acos" 2.0 2.0;
        Acosh "acoshf" "acosh" 4.0 3.0;
        Asin "asinf" "asin" 4.0 2.0;
        Asinh "asinhf" "asinh" 3.0 3.0;
        Atan "atanf" "atan" 2.0 2.0;
        Atanh "atanhf" "atanh" 3.0 2.0;
        Ceil "ceilf" "ceil" 0.0 0.0;
        Cos "cosf" "cos" 2.0 2.0;
        Cosh "coshf" "cosh" 2.0 2.0;
        Erf "erff" "erf" 2.0 2.0;
        Exp "expf" "exp" 2.0 1.0;
        Exp2 "exp2f" "exp2" 2.0 1.0;
        Exp10 "exp10f" "exp10" 2.0 1.0;
        Abs "fabsf" "fabs" 0.0 0.0;
        Floor "floorf" "floor" 0.0 0.0;
        Log "logf" "log" 1.0 1.0;
        Log10 "log10f" "log10" 3.0 1.0;
        Log1p "log1pf" "log1p" 2.0 1.0;
        Log2 "log2f" "log2" 3.0 1.0;
        Nearbyint "rintf" "rint" 0.0 0.0;
        Round "rintf" "rint" 0.0 0.0;
        Rsqrt "rsqrtf" "rsqrt" 2.0 1.0;
        Sin "sinf" "sin" 2.0 2.0;
        Sinh "sinhf" "sinh" 3.0 2.0;
        Sqrt "sqrtf" "sqrt" 0.5 0.5;
        Tan "tanf" "tan" 4.0 2.0;
        Tanh "tanhf" "tanh" 2.0 2.0;
        Trunc "truncf" "trunc" 0.0 0.0;
        Atan2 "atan2f" "atan2" 3.0 2.0;
        Copysign "copysignf" "copysign" 0.0 0.0;
        Fmod "fmodf" "fmod" 0.0 0.0;
        Hypot "hypotf" "hypot" 3.0 2.0;
        Ldexp "ldexpf" "ldexp" 0.0 0.0;
        Nextafter "nextafterf" "nextafter" 0.0 0.0;
        Pow "powf" "pow" 9.0 2.0;
        Fma "fmaf" "fma" 0.5 0.5;
    }
    own {
        // An exponential of 2 units, then a rounded sum and a rounded quotient.
        Sigmoid FLOAT32 helper("cd_sigmoid_f32", "static __device__ __forceinline__ float cd_sigmoid_f32(float x) {\n    return 1.0f / (1.0f + expf(-x));\n}\n");
        Sigmoid FLOAT64 helper("cd_sigmoid_f64", "static __device__ __forceinline__ double cd_sigmoid_f64(double x) {\n    return 1.0 / (1.0 + exp(-x));\n}\n");
    }
}

pub(super) static TABLE: OpTable = OpTable { rows: ROWS };

/// Functions of the language that a kernel may call by name, beyond those of the table; their
/// arguments have the type of the result. In each line, `float` functions, then those of `double`,
/// separated by spaces.
const NAMED: &[(usize, &str, &str)] = &[
    (
        1,
        "__cosf __expf __exp10f __logf __log10f __log2f __sinf __tanf __saturatef cbrtf cospif erfcf erfcinvf \
         erfcxf erfinvf expm1f lgammaf logbf nearbyintf normcdff normcdfinvf rcbrtf roundf sinpif tgammaf j0f \
         j1f y0f y1f",
        "cbrt cospi erfc erfcinv erfcx erfinv expm1 lgamma logb nearbyint normcdf normcdfinv rcbrt round \
         sinpi tgamma j0 j1 y0 y1",
    ),
    (2, "__fdividef __powf fdimf fdividef fmaxf fminf remainderf rhypotf", "fdim fmax fmin remainder rhypot"),
];

/// The types of a function's arguments and its result, by its name; `None` if the language has no
/// such function.
pub(super) fn function(name: &str) -> Option<(Vec<DType>, DType)> {
    for row in ROWS {
        let Spelling::Call(spelled) = row.spelling else { continue };
        if spelled == name {
            let mut args = vec![row.dtype; row.op.arity()];
            if row.op == Op::Ldexp {
                args[1] = DType::INT32;
            }
            return Some((args, row.dtype));
        }
    }
    for (arity, float, double) in NAMED {
        for (names, dtype) in [(float, DType::FLOAT32), (double, DType::FLOAT64)] {
            if contains_word(&[names], name) {
                return Some((vec![dtype; *arity], dtype));
            }
        }
    }
    None
}
