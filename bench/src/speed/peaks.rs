//! Rates of arithmetic in registers: the limit of rows that compute.

use std::hint::black_box;
use std::time::Instant;

use super::rows::Work;
use crate::limits::{fma_gflops, together};

/// Number of steps of each chain in a measurement: some milliseconds on a current core.
const STEPS: usize = 1 << 18;

/// Returns the highest rate of that kind of work in 1e9 operations a second, and its name; `None`
/// for work that is no arithmetic.
#[must_use]
pub fn peak(work: Work, threads: usize) -> Option<(f64, &'static str)> {
    let best = |once: fn() -> Option<f64>, name| {
        once()?;
        Some((together(threads, 1, |_| (0..4).filter_map(|_| once()).fold(0.0, f64::max)), name))
    };
    let floats = || Some((fma_gflops(threads, 1), "FMA peak, float32"));
    match work {
        Work::MultiplyAdds(_) => floats(),
        Work::ByteMultiplyAdds(_) => best(bytes_by_four, "peak of vpdpbusd")
            .or_else(|| best(words_by_two, "peak of vpmaddwd"))
            .or_else(floats),
        Work::Bf16MultiplyAdds(_) => best(halves_by_two, "peak of vdpbf16ps").or_else(floats),
        Work::Streams { .. }
        | Work::Bytes(_)
        | Work::Call
        | Work::Compile
        | Work::FirstBuild
        | Work::Launch => None,
    }
}

/// Times a run that does `operations` in each of [`STEPS`] steps; in 1e9 a second.
#[cfg(target_arch = "x86_64")]
fn rate(operations: usize, run: impl FnOnce() -> i32) -> f64 {
    let start = Instant::now();
    black_box(run());
    (operations * STEPS) as f64 / start.elapsed().as_secs_f64() / 1e9
}

#[cfg(target_arch = "x86_64")]
fn bytes_by_four() -> Option<f64> {
    let is_there =
        std::arch::is_x86_feature_detected!("avx512vnni") && std::arch::is_x86_feature_detected!("avx512f");
    // SAFETY: the processor has AVX-512 VNNI, as checked above.
    is_there.then(|| rate(2 * 64 * 16, || unsafe { dpbusd() }))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dpbusd() -> i32 {
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_reduce_add_epi32, _mm512_set1_epi32,
    };
    let (a, b) = (_mm512_set1_epi32(black_box(0x0101_0101)), _mm512_set1_epi32(black_box(0x0102_0101)));
    let mut chains = [_mm512_set1_epi32(1); 16];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_dpbusd_epi32(*chain, a, b);
        }
    }
    _mm512_reduce_add_epi32(chains.into_iter().fold(a, |sum, chain| _mm512_add_epi32(sum, chain)))
}

#[cfg(target_arch = "x86_64")]
fn words_by_two() -> Option<f64> {
    // SAFETY: the processor has AVX2, as checked here.
    std::arch::is_x86_feature_detected!("avx2").then(|| rate(2 * 16 * 12, || unsafe { pmaddwd() }))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pmaddwd() -> i32 {
    use std::arch::x86_64::{_mm256_add_epi32, _mm256_extract_epi32, _mm256_madd_epi16, _mm256_set1_epi32};
    let (mut a, b) = (_mm256_set1_epi32(black_box(0x0001_0001)), _mm256_set1_epi32(black_box(0x0002_0001)));
    let mut chains = [_mm256_set1_epi32(1); 12];
    for _ in 0..STEPS {
        // Another value in each step, so that no product is computed once for all.
        a = black_box(a);
        for chain in &mut chains {
            *chain = _mm256_add_epi32(*chain, _mm256_madd_epi16(a, black_box(b)));
        }
    }
    _mm256_extract_epi32::<0>(chains.into_iter().fold(a, |sum, chain| _mm256_add_epi32(sum, chain)))
}

#[cfg(target_arch = "x86_64")]
fn halves_by_two() -> Option<f64> {
    let is_there =
        std::arch::is_x86_feature_detected!("avx512bf16") && std::arch::is_x86_feature_detected!("avx512f");
    // SAFETY: the processor has AVX-512 BF16, as checked above.
    is_there.then(|| rate(2 * 32 * 16, || unsafe { dpbf16() }))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
fn dpbf16() -> i32 {
    use std::arch::x86_64::{
        __m512bh, _mm512_add_ps, _mm512_dpbf16_ps, _mm512_reduce_add_ps, _mm512_set1_epi32, _mm512_set1_ps,
    };
    let ones = |bits: i32| {
        // SAFETY: both are 512 bits of which every pattern is valid.
        unsafe { std::mem::transmute::<std::arch::x86_64::__m512i, __m512bh>(_mm512_set1_epi32(bits)) }
    };
    let (a, b) = (ones(black_box(0x3f80_3f80)), ones(black_box(0x3400_3400)));
    let mut chains = [_mm512_set1_ps(1.0); 16];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_dpbf16_ps(*chain, a, b);
        }
    }
    _mm512_reduce_add_ps(chains.into_iter().fold(_mm512_set1_ps(0.0), |sum, chain| _mm512_add_ps(sum, chain)))
        as i32
}

#[cfg(not(target_arch = "x86_64"))]
fn bytes_by_four() -> Option<f64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn words_by_two() -> Option<f64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn halves_by_two() -> Option<f64> {
    None
}
