//! float16 through the compiler's own type if it has one, and the adjacent values of halves.

use chipdock_codegen_source::c_family::{CFamily as _, Half, short};
use chipdock_codegen_source::{Code, Prelude};
use chipdock_ir::DType;

use super::CDialect;

/// Defines both helpers of float16 at once: with the compiler's own half type if it has one, otherwise with integers.
pub(super) fn define(dialect: &CDialect, half: Half, prelude: &mut Prelude) {
    if !matches!(half, Half::F16Value | Half::F16Bits) {
        return half.define(dialect, prelude);
    }
    prelude.define("cd_f16", |prelude| {
        let value = Half::F16Value.text(dialect, prelude);
        let bits = Half::F16Bits.text(dialect, prelude);
        format!("{NATIVE_FLOAT16}#else\n{value}{bits}#endif\n")
    });
}

/// The next half from `a` towards `b`: halves of one sign are ordered as their bits are.
pub(super) fn next(dialect: &CDialect, a: &Code, b: &Code, dtype: DType, prelude: &mut Prelude) -> Code {
    let name = format!("cd_nextafter_{}", short(dtype));
    prelude.define(&name, |prelude| {
        let bits = dialect.half_bits(&Code::primary("a"), dtype, prelude).text;
        let value = dialect.half_value(&Code::primary("bits"), dtype, prelude).text;
        let least = dialect.half_value(&Code::primary("1"), dtype, prelude).text;
        format!(
            "static inline float {name}(float a, float b) {{\n    if (a != a || b != b) return a + b;\n    \
             if (a == b) return b;\n    if (a == 0) return __builtin_copysignf({least}, b);\n    \
             uint16_t bits = {bits};\n    bits += (a < b) == (a > 0) ? 1 : -1;\n    return {value};\n}}\n"
        )
    });
    Code::call(&name, &[a.clone(), b.clone()])
}

const NATIVE_FLOAT16: &str = "\
#if defined(__FLT16_MANT_DIG__) && !defined(CHIPDOCK_SOFT_FLOAT16)
static inline uint16_t cd_f16_bits(float x) {
    _Float16 half = (_Float16)x;
    uint16_t bits;
    __builtin_memcpy(&bits, &half, sizeof(bits));
    return bits;
}
static inline float cd_f16_value(uint16_t bits) {
    _Float16 half;
    __builtin_memcpy(&half, &bits, sizeof(half));
    return (float)half;
}
";
