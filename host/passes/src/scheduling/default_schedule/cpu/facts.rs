//! Facts of a processor, with what is assumed where the target does not say.

use chipdock_ir::op::DotProduct;
use chipdock_ir::{DType, TargetCapabilities};

/// Facts of a processor that schedules use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Processor {
    /// Size of a vector register in bytes.
    pub(super) vector_bytes: i128,
    /// Number of vector registers.
    pub(super) registers: i128,
    /// Size of the first data cache in bytes.
    pub(super) l1_bytes: i128,
    /// Size of the second cache in bytes.
    pub(super) l2_bytes: i128,
    /// Size of an output that leaves no room in the caches for what is read next.
    pub(super) streamed_bytes: i128,
    /// Which of [`DotProduct::ALL`] it has instructions for, a bit each.
    dots: u32,
    /// Which of them it has tiles for.
    tiles: u32,
}

impl Processor {
    /// The facts of a target. What is not known is that of a small processor of 64 bits: a schedule
    /// for less than there is costs less than one for more.
    pub(super) fn from_capabilities(capabilities: &TargetCapabilities) -> Self {
        let known = |value: Option<i64>, otherwise: i128| value.map_or(otherwise, i128::from).max(1);
        let facts = &capabilities.processor;
        let bits = |has: &dyn Fn(DotProduct) -> bool| {
            DotProduct::ALL.iter().enumerate().filter(|(_, dot)| has(**dot)).map(|(at, _)| 1 << at).sum()
        };
        Self {
            dots: bits(&|dot| capabilities.execution.has_dot(dot)),
            tiles: bits(&|dot| capabilities.execution.has_tiles(dot)),
            vector_bytes: known(facts.vector_bits, 128).max(64) / 8,
            registers: known(facts.vector_registers, 16).clamp(8, 64),
            l1_bytes: known(facts.l1_cache_bytes, 32 << 10).clamp(8 << 10, 1 << 20),
            l2_bytes: known(facts.l2_cache_bytes, 256 << 10).clamp(64 << 10, 64 << 20),
            streamed_bytes: known(facts.l3_cache_bytes, 0).clamp(0, 1 << 40) / 2,
        }
    }

    /// Returns true if it has instructions for a dot product; those of floats treat subnormal
    /// numbers as zeros.
    pub(super) fn has(&self, dot: DotProduct) -> bool {
        is_in(self.dots, dot)
    }

    /// Returns true if it has tiles for a dot product.
    pub(super) fn has_tiles(&self, dot: DotProduct) -> bool {
        is_in(self.tiles, dot)
    }

    /// Number of values of a type in a vector register, at least 1.
    pub(super) fn lanes(&self, dtype: DType) -> i128 {
        (self.vector_bytes / (dtype.size_bytes() as i128).max(1)).max(1)
    }
}

/// Whether a set of [`DotProduct::ALL`], a bit each, has a dot product.
fn is_in(set: u32, dot: DotProduct) -> bool {
    DotProduct::ALL.iter().position(|known| *known == dot).is_some_and(|at| set & (1 << at) != 0)
}
