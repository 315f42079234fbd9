//! Correctly rounded quotients and square roots of float32, computed in integers for devices that
//! do not round them so.

use chipdock_codegen_source::{Code, Prelude};

/// Defines the function that divides, and returns its name.
pub(super) fn define_divide(prelude: &mut Prelude) -> &'static str {
    define_pack(prelude);
    prelude.define("cd_divide_f32", |_| DIVIDE.to_owned());
    "cd_divide_f32"
}

/// The correctly rounded square root.
pub(super) fn sqrt(value: &Code, prelude: &mut Prelude) -> Code {
    define_pack(prelude);
    prelude.define("cd_sqrt_f32", |_| SQRT.to_owned());
    Code::call("cd_sqrt_f32", std::slice::from_ref(value))
}

fn define_pack(prelude: &mut Prelude) {
    prelude.define("cd_pack_f32", |_| PACK.to_owned());
}

/// Helpers that split a finite nonzero float into its parts, and round the parts of an exact value
/// to a float.
const PACK: &str = "\
// bits * 2^exponent, bits of 24 digits.
static inline uint cd_unpack_f32(uint x, int* exponent) {
    uint bits = x & 0x7fffffu, digits = x >> 23 & 0xffu;
    if (digits != 0) {
        *exponent = (int)digits - 150;
        return bits | 0x800000u;
    }
    int shift = (int)clz(bits) - 8;
    *exponent = -149 - shift;
    return bits << shift;
}
// bits * 2^exponent to nearest even; the last of 26 or 27 digits is set if any dropped one was.
static inline float cd_pack_f32(uint bits, int exponent) {
    int drop = bits >> 26 ? 3 : 2;
    if (exponent + drop < -149) drop = min(-149 - exponent, 31);
    uint kept = bits >> drop, half_unit = 1u << (drop - 1), rest = bits & ((half_unit << 1) - 1u);
    kept += rest > half_unit || (rest == half_unit && (kept & 1u));
    exponent += drop;
    if (kept >> 24) {
        kept >>= 1;
        ++exponent;
    }
    if (exponent > 104) return INFINITY;
    return as_float(kept & 0x800000u ? (uint)(exponent + 150) << 23 | (kept & 0x7fffffu) : kept);
}
";

const DIVIDE: &str = "\
static inline float cd_divide_f32(float a, float b) {
    uint x = as_uint(a) & 0x7fffffffu, y = as_uint(b) & 0x7fffffffu;
    // Of zeros, infinities and NaNs every division is exact.
    if (x == 0 || y == 0 || x >= 0x7f800000u || y >= 0x7f800000u) return a / b;
    int m, n;
    ulong dividend = (ulong)cd_unpack_f32(x, &m) << 26;
    uint divisor = cd_unpack_f32(y, &n);
    uint quotient = (uint)(dividend / divisor);
    quotient |= (ulong)quotient * divisor != dividend;
    return copysign(cd_pack_f32(quotient, m - n - 26), as_float(as_uint(a) ^ as_uint(b)));
}
";

const SQRT: &str = "\
static inline float cd_sqrt_f32(float a) {
    uint x = as_uint(a);
    // Zeros, infinities, NaNs and what is negative.
    if (x << 1 == 0 || x >= 0x7f800000u) return x << 1 == 0 || x == 0x7f800000u ? a : NAN;
    int exponent;
    ulong left = cd_unpack_f32(x, &exponent);
    // 2 * 25 digits, and an even exponent.
    left <<= 26 + (exponent & 1);
    exponent -= 26 + (exponent & 1);
    ulong root = 0;
    for (ulong bit = 1ul << 50; bit != 0; bit >>= 2) {
        ulong next = root + bit;
        root >>= 1;
        if (left >= next) {
            left -= next;
            root += bit;
        }
    }
    return cd_pack_f32((uint)root << 1 | (left != 0), exponent / 2 - 1);
}
";
