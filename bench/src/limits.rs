//! Measures the machine's own limits, in the same run that compares other figures with them.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::time::Instant;

/// Number of steps of each chain in a measurement: a few milliseconds on a current core.
const STEPS: usize = 1 << 18;

/// Returns the fused multiply-add rate of one thread in GFLOP/s of float32 (two operations each),
/// the best of `rounds`.
///
/// The vector width and the number of independent chains that keep the units busy depend on the
/// processor (its latency, its units, and whether a vector of 512 bits is one operation or two), so
/// every shape is tried and the fastest counts: a limit must not be too low.
pub fn fma_peak_gflops(rounds: usize) -> f64 {
    (0..rounds).map(|_| fma_once()).fold(0.0, f64::max)
}

/// Returns the rate of the fastest shape that this processor supports.
#[cfg(target_arch = "x86_64")]
fn fma_once() -> f64 {
    let mut best = 0.0_f64;
    // Chains that all stay in registers, with the two operands: 16 registers of 256 bits, 32 of
    // 512.
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has AVX2 and FMA, as checked above.
        let shapes =
            unsafe { [time_flops(8 * 8, || fma_avx2::<8>()), time_flops(8 * 12, || fma_avx2::<12>())] };
        best = shapes.into_iter().fold(best, f64::max);
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has AVX-512F, as checked above.
        let shapes =
            unsafe { [time_flops(16 * 8, || fma_avx512::<8>()), time_flops(16 * 16, || fma_avx512::<16>())] };
        best = shapes.into_iter().fold(best, f64::max);
    }
    if best > 0.0 { best } else { time_flops(8, fma_scalar) }
}

#[cfg(not(target_arch = "x86_64"))]
fn fma_once() -> f64 {
    time_flops(8, fma_scalar)
}

/// Returns the rate in GFLOP/s of a run that does a multiply-add in each of `lanes` lanes,
/// [`STEPS`] times.
fn time_flops(lanes: usize, run: impl Fn() -> f32) -> f64 {
    let start = Instant::now();
    black_box(run());
    (2 * lanes * STEPS) as f64 / start.elapsed().as_secs_f64() / 1e9
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn fma_avx512<const CHAINS: usize>() -> f32 {
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
fn fma_avx2<const CHAINS: usize>() -> f32 {
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
    let mut chains = [1.0_f32; 8];
    for _ in 0..STEPS {
        for chain in &mut chains {
            *chain = chain.mul_add(a, b);
        }
    }
    chains.iter().sum()
}

/// Returns the rate of copying memory too large for any cache, in GB/s of bytes read plus bytes
/// written, the best of `rounds`.
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

/// Kind of the instructions that store results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Through the caches, as compiled code does unless told otherwise.
    Plain,
    /// Past the caches.
    NonTemporal,
}

/// Runs the same work in several threads at once; returns the sum of their rates, the best of
/// `rounds`.
pub(crate) fn together(threads: usize, rounds: usize, work: impl Fn(usize) -> f64 + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    (0..rounds)
        .map(|_| {
            std::thread::scope(|scope| {
                let run = |thread| {
                    let (barrier, work) = (&barrier, &work);
                    scope.spawn(move || {
                        barrier.wait();
                        work(thread)
                    })
                };
                let running: Vec<_> = (0..threads).map(run).collect();
                running.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum::<f64>()
            })
        })
        .fold(0.0, f64::max)
}

/// Returns the fused multiply-add rate of several threads together, as [`fma_peak_gflops`] does for
/// one thread.
#[must_use]
pub fn fma_gflops(threads: usize, rounds: usize) -> f64 {
    together(threads, rounds, |_| (0..4).map(|_| fma_once()).fold(0.0, f64::max))
}

/// Returns the rate of copying, in GB/s of bytes read plus bytes written, while all threads
/// together touch `size_bytes`; `None` if this program has no such stores for the processor.
#[must_use]
pub fn copy_gbps(stores: Stores, size_bytes: usize, threads: usize, rounds: usize) -> Option<f64> {
    if stores == Stores::NonTemporal && !cfg!(target_arch = "x86_64") {
        return None;
    }
    let words = size_bytes / 2 / 64 / threads.max(1);
    let copies = (16 << 20) / size_bytes + 1;
    let buffers: Vec<Mutex<(Vec<Line>, Vec<Line>)>> =
        (0..threads).map(|_| Mutex::new((vec![Line([1; 64]); words], vec![Line([2; 64]); words]))).collect();
    Some(together(threads, rounds, |thread| {
        let Ok(mut buffers) = buffers[thread].lock() else { return 0.0 };
        let (from, to) = &mut *buffers;
        copy(stores, from, to);
        let start = Instant::now();
        for _ in 0..copies {
            copy(stores, black_box(from), black_box(to));
        }
        (copies * 2 * 64 * words) as f64 / start.elapsed().as_secs_f64() / 1e9
    }))
}

/// A cache line.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

#[cfg(target_arch = "x86_64")]
fn copy(stores: Stores, from: &[Line], to: &mut [Line]) {
    if std::arch::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX, as checked above.
        unsafe { copy_avx(stores, from, to) }
    } else {
        to.copy_from_slice(from);
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn copy(_stores: Stores, from: &[Line], to: &mut [Line]) {
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn copy_avx(stores: Stores, from: &[Line], to: &mut [Line]) {
    use std::arch::x86_64::{_mm_sfence, _mm256_load_si256, _mm256_store_si256, _mm256_stream_si256};
    for (from, to) in from.iter().zip(to.iter_mut()) {
        let (from, to) = (from.0.as_ptr().cast(), to.0.as_mut_ptr().cast());
        // SAFETY: both pointers are to 64 bytes, aligned to 64 bytes.
        unsafe {
            let (low, high) = (_mm256_load_si256(from), _mm256_load_si256(from.add(1)));
            match stores {
                Stores::Plain => {
                    _mm256_store_si256(to, low);
                    _mm256_store_si256(to.add(1), high);
                }
                Stores::NonTemporal => {
                    _mm256_stream_si256(to, low);
                    _mm256_stream_si256(to.add(1), high);
                }
            }
        }
    }
    _mm_sfence();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_stores_copy() {
        let from: Vec<Line> = (0..100).map(|byte| Line([byte; 64])).collect();
        for stores in [Stores::Plain, Stores::NonTemporal] {
            let mut to = vec![Line([0; 64]); 100];
            copy(stores, &from, &mut to);
            assert!(from.iter().zip(&to).all(|(from, to)| from.0 == to.0), "{stores:?}");
        }
    }
}
