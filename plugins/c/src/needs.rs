//! Instructions that compiled code may use and this processor may lack: rule CLOAD-2.
//!
//! The compiler says by macros which extensions it may use, whatever `-march` and other words it was given. They are written into
//! each library as a text, which is read before anything of the library is called.

use std::fmt::Write as _;

/// Symbol of the text.
pub(crate) const SYMBOL: &str = "__chipdock_needs";

/// An extension: its name, the compiler's macro, and whether this processor has it.
type Row = (&'static str, &'static str, fn() -> bool);

macro_rules! rows {
    ($detected:ident: $($name:tt $macro:tt,)*) => {
        &[$(($name, $macro, || std::arch::$detected!($name))),*]
    };
}

/// The extensions of this architecture that some of its processors lack. Those of tiles are not here: code asks for them itself.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const EXTENSIONS: &[Row] = rows![is_x86_feature_detected:
    "sse3" "__SSE3__", "ssse3" "__SSSE3__", "sse4.1" "__SSE4_1__", "sse4.2" "__SSE4_2__", "sse4a" "__SSE4A__",
    "popcnt" "__POPCNT__", "lzcnt" "__LZCNT__", "bmi1" "__BMI__", "bmi2" "__BMI2__", "tbm" "__TBM__", "adx" "__ADX__",
    "movbe" "__MOVBE__", "aes" "__AES__", "pclmulqdq" "__PCLMUL__", "sha" "__SHA__", "rdrand" "__RDRND__",
    "avx" "__AVX__", "avx2" "__AVX2__", "fma" "__FMA__", "f16c" "__F16C__", "vaes" "__VAES__",
    "vpclmulqdq" "__VPCLMULQDQ__", "gfni" "__GFNI__", "avxvnni" "__AVXVNNI__",
    "avx512f" "__AVX512F__", "avx512cd" "__AVX512CD__", "avx512bw" "__AVX512BW__", "avx512dq" "__AVX512DQ__",
    "avx512vl" "__AVX512VL__", "avx512ifma" "__AVX512IFMA__", "avx512vbmi" "__AVX512VBMI__",
    "avx512vbmi2" "__AVX512VBMI2__", "avx512vnni" "__AVX512VNNI__", "avx512bitalg" "__AVX512BITALG__",
    "avx512vpopcntdq" "__AVX512VPOPCNTDQ__", "avx512bf16" "__AVX512BF16__", "avx512fp16" "__AVX512FP16__",
];
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
const EXTENSIONS: &[Row] = rows![is_aarch64_feature_detected:
    "lse" "__ARM_FEATURE_ATOMICS", "fp16" "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC", "dotprod" "__ARM_FEATURE_DOTPROD",
    "i8mm" "__ARM_FEATURE_MATMUL_INT8", "bf16" "__ARM_FEATURE_BF16", "sve" "__ARM_FEATURE_SVE", "sve2" "__ARM_FEATURE_SVE2",
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const EXTENSIONS: &[Row] = &[];

/// Returns the lines of C, at the end of a source, that let a library have the text.
pub(crate) fn text() -> String {
    let mut text = format!("\n__attribute__((visibility(\"default\"), used)) const char {SYMBOL}[] = \"\"\n");
    for (name, defined, _) in EXTENSIONS {
        let _ = writeln!(text, "#ifdef {defined}\n\"{name} \"\n#endif");
    }
    text.push_str(";\n");
    text
}

/// Returns the extensions of a library's text that this processor lacks.
pub(crate) fn missing(text: &str) -> Vec<&'static str> {
    let needed: Vec<&str> = text.split_whitespace().collect();
    let is_missing = |(name, _, is_here): &&Row| needed.contains(name) && !is_here();
    EXTENSIONS.iter().filter(is_missing).map(|(name, ..)| *name).collect()
}
