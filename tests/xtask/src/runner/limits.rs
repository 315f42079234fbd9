//! The machine's own limits, measured in the run that reports against them.

use std::hint::black_box;
use std::time::Instant;

/// Floats of work per measurement: a few milliseconds on a current core.
const STEPS: usize = 1 << 18;
/// Independent chains, enough to hide the latency of a fused multiply-add on two ports.
const CHAINS: usize = 16;

/// The fused multiply-add rate of one thread in GFLOP/s of float32 (two operations each), the best of `rounds`.
pub fn fma_peak_gflops(rounds: usize) -> f64 {
    (0..rounds).map(|_| fma_once()).fold(0.0, f64::max)
}

#[cfg(target_arch = "x86_64")]
fn fma_once() -> f64 {
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F, asked just now.
        time_flops(16, || unsafe { fma_avx512() })
    } else if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has AVX2 and FMA, asked just now.
        time_flops(8, || unsafe { fma_avx2() })
    } else {
        time_flops(1, fma_scalar)
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fma_once() -> f64 {
    time_flops(1, fma_scalar)
}

fn time_flops(lanes: usize, run: impl Fn() -> f32) -> f64 {
    let start = Instant::now();
    black_box(run());
    (2 * lanes * CHAINS * STEPS) as f64 / start.elapsed().as_secs_f64() / 1e9
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fma_avx512() -> f32 {
    use std::arch::x86_64::{_mm512_add_ps, _mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps};
    let (a, b) = (_mm512_set1_ps(black_box(0.999_999)), _mm512_set1_ps(black_box(1e-6)));
    let mut chains = [_mm512_set1_ps(1.0); CHAINS];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm512_fmadd_ps(*chain, a, b);
        }
    }
    _mm512_reduce_add_ps(chains.into_iter().fold(_mm512_set1_ps(0.0), |sum, chain| _mm512_add_ps(sum, chain)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fma_avx2() -> f32 {
    use std::arch::x86_64::{_mm256_add_ps, _mm256_cvtss_f32, _mm256_fmadd_ps, _mm256_set1_ps};
    let (a, b) = (_mm256_set1_ps(black_box(0.999_999)), _mm256_set1_ps(black_box(1e-6)));
    let mut chains = [_mm256_set1_ps(1.0); CHAINS];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = _mm256_fmadd_ps(*chain, a, b);
        }
    }
    _mm256_cvtss_f32(chains.into_iter().fold(_mm256_set1_ps(0.0), |sum, chain| _mm256_add_ps(sum, chain)))
}

fn fma_scalar() -> f32 {
    let (a, b) = (black_box(0.999_999_f32), black_box(1e-6_f32));
    let mut chains = [1.0_f32; CHAINS];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = chain.mul_add(a, b);
        }
    }
    chains.iter().sum()
}

/// The rate of copying memory too large for any cache, in GB/s of bytes read plus bytes written, the best of `rounds`.
pub fn copy_peak_gbps(rounds: usize) -> f64 {
    const SIZE_BYTES: usize = 64 << 20;
    let (from, mut to) = (vec![1_u8; SIZE_BYTES], vec![0_u8; SIZE_BYTES]);
    let once = |to: &mut [u8]| {
        let start = Instant::now();
        to.copy_from_slice(black_box(&from));
        black_box(&to);
        (2 * SIZE_BYTES) as f64 / start.elapsed().as_secs_f64() / 1e9
    };
    (0..rounds).map(|_| once(&mut to)).fold(0.0, f64::max)
}
