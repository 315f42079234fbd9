//! Extensions of processors that code may use and the processor at hand may lack (M.20).
//!
//! A code generator lets its objects have the names of those extensions as a text. A loader asks
//! [`missing`] before it calls anything of the object; an exported library asks its own processor.

use std::fmt::Write as _;

/// Symbol of the text: names of extensions with spaces between, and a zero.
pub const SYMBOL: &str = "__chipdock_needs";

/// An extension that some processors of an architecture lack.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// Its name in the text.
    pub name: &'static str,
    /// The macro by which a C compiler says that it may use it.
    pub defined: &'static str,
    /// LLVM's name of it.
    pub llvm: &'static str,
}

macro_rules! extensions {
    ($(#[$doc:meta])* $table:ident, $arch:literal, $detected:ident: $($name:tt $defined:tt $llvm:tt,)*) => {
        $(#[$doc])*
        #[rustfmt::skip]
        pub const $table: &[Extension] = &[$(Extension { name: $name, defined: $defined, llvm: $llvm }),*];

        #[cfg(target_arch = $arch)]
        fn is_here(name: &str) -> bool {
            match name {
                $($name => std::arch::$detected!($name),)*
                _ => true,
            }
        }
    };
}

extensions! {
    /// Extensions of x86-64. Those of tiles are not among them: code asks for them itself.
    X86, "x86_64", is_x86_feature_detected:
    "sse3" "__SSE3__" "sse3", "ssse3" "__SSSE3__" "ssse3", "sse4.1" "__SSE4_1__" "sse4.1", "sse4.2" "__SSE4_2__" "sse4.2",
    "sse4a" "__SSE4A__" "sse4a", "popcnt" "__POPCNT__" "popcnt", "lzcnt" "__LZCNT__" "lzcnt", "bmi1" "__BMI__" "bmi",
    "bmi2" "__BMI2__" "bmi2", "tbm" "__TBM__" "tbm", "adx" "__ADX__" "adx", "movbe" "__MOVBE__" "movbe", "aes" "__AES__" "aes",
    "pclmulqdq" "__PCLMUL__" "pclmul", "sha" "__SHA__" "sha", "rdrand" "__RDRND__" "rdrnd", "avx" "__AVX__" "avx",
    "avx2" "__AVX2__" "avx2", "fma" "__FMA__" "fma", "f16c" "__F16C__" "f16c", "vaes" "__VAES__" "vaes",
    "vpclmulqdq" "__VPCLMULQDQ__" "vpclmulqdq", "gfni" "__GFNI__" "gfni", "avxvnni" "__AVXVNNI__" "avxvnni",
    "avx512f" "__AVX512F__" "avx512f", "avx512cd" "__AVX512CD__" "avx512cd", "avx512bw" "__AVX512BW__" "avx512bw",
    "avx512dq" "__AVX512DQ__" "avx512dq", "avx512vl" "__AVX512VL__" "avx512vl", "avx512ifma" "__AVX512IFMA__" "avx512ifma",
    "avx512vbmi" "__AVX512VBMI__" "avx512vbmi", "avx512vbmi2" "__AVX512VBMI2__" "avx512vbmi2",
    "avx512vnni" "__AVX512VNNI__" "avx512vnni", "avx512bitalg" "__AVX512BITALG__" "avx512bitalg",
    "avx512vpopcntdq" "__AVX512VPOPCNTDQ__" "avx512vpopcntdq", "avx512bf16" "__AVX512BF16__" "avx512bf16",
    "avx512fp16" "__AVX512FP16__" "avx512fp16",
}

extensions! {
    /// Extensions of 64-bit ARM.
    AARCH64, "aarch64", is_aarch64_feature_detected:
    "lse" "__ARM_FEATURE_ATOMICS" "lse", "fp16" "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC" "fullfp16",
    "dotprod" "__ARM_FEATURE_DOTPROD" "dotprod", "i8mm" "__ARM_FEATURE_MATMUL_INT8" "i8mm", "bf16" "__ARM_FEATURE_BF16" "bf16",
    "sve" "__ARM_FEATURE_SVE" "sve", "sve2" "__ARM_FEATURE_SVE2" "sve2",
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_here(_: &str) -> bool {
    true
}

/// Returns the lines of C, for the end of a source, that define the text, for whatever `-march` and
/// other words a compiler is given; `visibility` is that of GCC's attribute.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::object_code::needs;
///
/// assert!(needs::c_text("hidden").contains("#ifdef __AVX2__\n\"avx2 \"\n#endif"));
/// ```
#[must_use]
pub fn c_text(visibility: &str) -> String {
    let mut text =
        format!("\n__attribute__((visibility(\"{visibility}\"), used)) const char {SYMBOL}[] = \"\"\n");
    for Extension { name, defined, .. } in X86.iter().chain(AARCH64) {
        let _ = writeln!(text, "#ifdef {defined}\n\"{name} \"\n#endif");
    }
    text.push_str(";\n");
    text
}

/// Returns the extensions of a text that this processor, or its system, lacks; a name that is not
/// known here is not among them.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::object_code::needs;
///
/// assert!(needs::missing("").is_empty());
/// ```
#[must_use]
pub fn missing(text: &str) -> Vec<&str> {
    text.split_whitespace().filter(|name| !is_here(name)).collect()
}
