//! Reserved words: keywords of C++ and of MSL, and the types and functions of its library, whose
//! namespace the text uses.

use chipdock_codegen_source::c_family::CPP_WORDS;

pub(super) const RESERVED: &[&str] = &[CPP_WORDS, WORDS];

const WORDS: &str = "\
    metal precise fast device constant thread threadgroup threadgroup_imageblock ray_data object_data kernel \
    vertex fragment mesh object intersection visible stitchable half bfloat uchar ushort uint ulong size_t \
    ptrdiff_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t vec matrix array array_ref \
    texture1d texture2d texture3d texturecube depth2d sampler imageblock coherent as_type quad_group access \
    mem_flags memory_order memory_order_relaxed assert NAN INFINITY HUGE_VALF MAXFLOAT M_PI_F abs acos acosh all \
    any asin asinh atan atan2 atanh ceil clamp clz copysign cos cosh cospi cross ctz degrees distance divide dot \
    exp exp10 exp2 extract_bits fabs fdim floor fma fmax fmin fmod fract frexp ilogb insert_bits isfinite isinf \
    isnan isnormal ldexp length log log10 log2 mad24 madhi max max3 median3 min min3 mix modf mul24 mulhi \
    nextafter normalize popcount pow powr radians refract reflect reverse_bits rint rotate round rsqrt saturate \
    select sign signbit sin sincos sinh sinpi smoothstep sqrt step tan tanh tanpi trunc addsat subsat hadd rhadd \
    threadgroup_barrier vote_t";
