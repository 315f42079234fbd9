//! Options of generated programs.

use chipdock_ir::op::Class;
use chipdock_ir::{DType, Op};

/// Contents of generated programs. A test that does not support something leaves it out here, and gives the reason there.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scalar types of tensors and of computed values; not empty. Indices are `int32` or `int64` in any case.
    pub types: Vec<DType>,
    /// Ops that compute a value.
    pub ops: Vec<Op>,
    /// Ops that are left out on operands of one type.
    pub without: Vec<(Op, DType)>,
    /// Whether inputs may be NaN, infinite, subnormal, minus zero, or the ends of an integer type.
    pub special_values: bool,
    /// Whether there may be vectorized loops.
    pub vectorized: bool,
    /// Whether there may be vectors in the program as written: ramps, broadcasts, shuffles, predicates, vector elements.
    pub vectors: bool,
    /// Whether there may be `while` loops, `break` and `continue`.
    pub while_loops: bool,
    /// Whether shapes may have symbolic sizes, and arithmetic on them.
    pub symbolic: bool,
    /// Whether there may be blocks; without them a program is what follows `lower_blocks`.
    pub blocks: bool,
    /// Whether there may be views of other buffers, by `decl_buffer` and `match_buffer`.
    pub views: bool,
    /// Whether the kernel may call functions of its module that return nothing.
    pub calls: bool,
    /// Whether it may call functions that return a value.
    pub results: bool,
    /// Whether it may call functions of C's mathematical library by name.
    pub externs: bool,
    /// Whether there may be assertions, which hold, and early returns.
    pub exits: bool,
    /// Whether elements may be added to by atomic operations, one after the other.
    pub atomics: bool,
    /// Whether tensors are computed by threads too: grid and block bindings, shared memory with barriers (implicit where there
    /// are blocks), reductions over threads, warp shuffles, atomics. For targets that support threads.
    pub threads: bool,
    /// Whether threads may exchange values within a warp of 32.
    pub warps: bool,
    /// Greatest number of tensors that a program computes, at least 1.
    pub stages_max: usize,
    /// Greatest depth of expressions.
    pub depth: u32,
    /// Whether each program has one more stage, which takes its turn of every op, comparison and cast on every type: as many
    /// successive seeds as [`turns`](crate::turns) returns cover them all.
    pub tour: bool,
}

/// Returns the ops that compute a value from values (OP6), as this generator draws them.
pub fn computing() -> impl Iterator<Item = Op> {
    Op::all_where(|op| op.class == Class::Value)
}

impl Options {
    /// Returns options with everything, threads included.
    #[must_use]
    pub fn with_threads() -> Self {
        Self { threads: true, ..Self::default() }
    }

    pub(crate) fn has(&self, op: Op, operand: DType) -> bool {
        self.ops.contains(&op) && !self.without.contains(&(op, operand.scalar()))
    }
}

impl Default for Options {
    /// Returns options with everything but threads, on every scalar type.
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
            warps: true,
            stages_max: 3,
            depth: 4,
            tour: true,
        }
    }
}
