//! Reserved words of OpenCL C: keywords, types, functions, macros of any version. Words are
//! separated by spaces.

use chipdock_codegen_source::c_family::{C_WORDS, contains_word};

/// Keywords, types without a number, macros in lower case.
pub(super) const WORDS: &[&str] = &[C_WORDS, OWN_WORDS];

/// Words of OpenCL C that C does not have.
const OWN_WORDS: &str = "\
    constant event_t generic global half kernel local pipe private quad read_only read_write sampler_t uchar uint \
    ulong uniform ushort write_only intptr_t uintptr_t queue_t ndrange_t clk_event_t reserve_id_t \
    clk_profiling_info memory_order memory_scope bitand bitor xor and or not compl r NAN INFINITY MAXFLOAT \
    HUGE_VAL HUGE_VALF";

/// Functions of the language, except those covered by a prefix.
const FUNCTIONS: &str = "\
    abs abs_diff acos acosh acospi add_sat all any asin asinh asinpi atan atan2 atan2pi atanh atanpi barrier \
    bit_reverse bitselect bitfield_extract_signed bitfield_extract_unsigned bitfield_insert \
    capture_event_profiling_info cbrt ceil clamp clz copysign cos cosh cospi create_user_event cross ctz degrees \
    distance dot dot_acc_sat erf erfc exp exp10 exp2 expm1 fabs fast_distance fast_length fast_normalize fdim \
    floor fma fmax fmin fmod fract frexp hadd hypot ilogb is_valid_event is_valid_reserve_id isequal isfinite \
    isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isnotequal isordered \
    isunordered ldexp length lgamma lgamma_r log log10 log1p log2 logb mad mad24 mad_hi mad_sat max maxmag \
    mem_fence min minmag mix modf mul24 mul_hi nan nextafter normalize popcount pow pown powr prefetch printf \
    radians read_mem_fence release_event remainder remquo retain_event rhadd rint rootn rotate round rsqrt select \
    set_user_event_status shuffle shuffle2 sign signbit sin sincos sinh sinpi smoothstep sqrt step sub_sat tan \
    tanh tanpi tgamma trunc upsample vec_step write_mem_fence wait_group_events commit_read_pipe commit_write_pipe";

/// Functions that the C library also has, with the same name for `double`.
pub(super) const MATH: &str = "\
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim \
    floor fma fmax fmin fmod hypot lgamma log log10 log1p log2 nextafter pow remainder rint round sin sinh sqrt \
    tan tanh tgamma trunc";

/// Prefixes of names of functions and macros.
const PREFIXES: &str = "\
    async_work_ atomic_compare_exchange atomic_exchange atomic_fetch_ atomic_flag_ atomic_load atomic_store clk_ \
    enqueue_ intel_ read_image sub_group_ vload vstore work_group_ write_image CD_ CHAR_ CLK_ CL_ DBL_ FLT_ FP_ \
    HALF_ INT_ LONG_ M_ SCHAR_ SHRT_ UCHAR_ UINT_ ULONG_ USHRT_ VLOAD VSTORE";

/// Functions of work items.
const ITEMS: &str = "\
    get_enqueued_local_size get_enqueued_num_sub_groups get_fence get_global_id get_global_linear_id \
    get_global_offset get_global_size get_group_id get_local_id get_local_linear_id get_local_size \
    get_max_sub_group_size get_num_groups get_num_sub_groups get_sub_group_id get_sub_group_local_id \
    get_sub_group_size get_work_dim";

/// Suffixes after `atom_` and `atomic_`.
const ATOMICS: &str = "\
    add and cmpxchg dec inc init max min or sub work_item_fence xchg xor";

/// Scalar types of which vectors exist.
const ELEMENTS: &str = "\
    bool char uchar short ushort int uint long ulong half float double quad";

/// Returns true for a numeric type, including vectors and matrices.
fn is_type(name: &str) -> bool {
    ELEMENTS.split_ascii_whitespace().any(|element| {
        name.strip_prefix(element).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == 'x'))
    })
}

/// Returns true for a name that the language uses.
pub(super) fn is_reserved(name: &str) -> bool {
    let behind = |prefix: &str, test: &dyn Fn(&str) -> bool| name.strip_prefix(prefix).is_some_and(test);
    contains_word(WORDS, name)
        || contains_word(&[FUNCTIONS, ITEMS], name)
        || is_type(name)
        || PREFIXES.split_ascii_whitespace().any(|prefix| name.starts_with(prefix))
        || behind("as_", &is_type)
        || behind("convert_", &|rest| is_type(rest.split('_').next().unwrap_or_default()))
        || ["native_", "half_"]
            .into_iter()
            .any(|prefix| behind(prefix, &|rest| contains_word(&[FUNCTIONS], rest)))
        || ["atom_", "atomic_"]
            .into_iter()
            .any(|prefix| behind(prefix, &|rest| contains_word(&[ATOMICS], rest)))
        || ["image1d_", "image2d_", "image3d_", "get_image_"]
            .into_iter()
            .any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_language_are_reserved() {
        for name in [
            "kernel",
            "float4",
            "double16",
            "exp",
            "get_global_id",
            "atomic_add",
            "vload4",
            "as_int",
            "barrier",
        ] {
            assert!(is_reserved(name), "{name}");
        }
        let free = [
            "A",
            "f_kernel",
            "float_",
            "integer",
            "kernel_1",
            "float16_kernel",
            "x",
            "as_strided_kernel",
            "get_kernel",
        ];
        for name in free {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
