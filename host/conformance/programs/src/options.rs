//! Options of the program generator.

use chipdock_ir::op::Class;
use chipdock_ir::{DType, Op};

/// Features that generated programs may use. A test that does not support a feature disables it,
/// with a comment that says why.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scalar types of tensors and computed values; not empty. Indices are `int32` or `int64` in
    /// any case.
    pub types: Vec<DType>,
    /// Ops that compute a value.
    pub ops: Vec<Op>,
    /// Ops that are excluded for operands of one type.
    pub without: Vec<(Op, DType)>,
    /// Whether inputs may be NaN, infinite, subnormal, minus zero, or the ends of an integer type.
    pub special_values: bool,
    /// Whether loops may be vectorized.
    pub vectorized: bool,
    /// Whether programs may contain explicit vectors: ramps, broadcasts, shuffles, predicates,
    /// vector elements.
    pub vectors: bool,
    /// Whether programs may contain `while` loops, `break` and `continue`.
    pub while_loops: bool,
    /// Whether shapes may have symbolic sizes and arithmetic on them.
    pub symbolic: bool,
    /// Whether programs may contain blocks; without blocks a program has the form after
    /// `lower_blocks`.
    pub blocks: bool,
    /// Whether programs may contain views of other buffers, by `decl_buffer` and `match_buffer`.
    pub views: bool,
    /// Whether the kernel may call functions of its module that return nothing.
    pub calls: bool,
    /// Whether the kernel may call functions of its module that return a value.
    pub results: bool,
    /// Whether the kernel may call functions of C's mathematical library by name.
    pub externs: bool,
    /// Whether programs may contain assertions, which hold, and early returns.
    pub exits: bool,
    /// Whether programs may add to elements by sequential atomic operations.
    pub atomics: bool,
    /// Whether threads compute tensors too: grid and block bindings, shared memory with barriers
    /// (implicit in blocks), reductions over threads, warp shuffles, atomics. For targets that have
    /// threads.
    pub threads: bool,
    /// Number of threads of a warp, a power of two from 4 to 32, if threads may exchange values
    /// within one. Programs for another number differ in nothing else.
    pub warps: Option<u8>,
    /// Maximum number of tensors that a program computes, at least 1.
    pub stages_max: usize,
    /// Maximum depth of expressions.
    pub depth: u32,
    /// Whether each program has an additional stage for one op, comparison or cast on one type: as
    /// many consecutive seeds as [`turns`](crate::turns) returns cover them all.
    pub rotation: bool,
}

/// Iterates over the ops that compute a value from values (OP6), as this generator uses them.
pub fn computing() -> impl Iterator<Item = Op> {
    Op::all_where(|op| op.class == Class::Value)
}

impl Options {
    /// Returns options with every feature, including threads.
    #[must_use]
    pub fn with_threads() -> Self {
        Self { threads: true, ..Self::default() }
    }

    pub(crate) fn has(&self, op: Op, operand: DType) -> bool {
        self.ops.contains(&op) && !self.without.contains(&(op, operand.scalar()))
    }
}

impl Default for Options {
    /// Returns options with every feature except threads, on every scalar type.
    fn default() -> Self {
        Self {
            types: DType::SCALARS.to_vec(),
            ops: computing().collect(),
            without: Vec::new(),
            special_values: true,
            vectorized: true,
            vectors: true,
            while_loops: true,
            symbolic: true,
            blocks: true,
            views: true,
            calls: true,
            results: true,
            externs: true,
            exits: true,
            atomics: true,
            threads: false,
            warps: Some(32),
            stages_max: 3,
            depth: 4,
            rotation: true,
        }
    }
}
