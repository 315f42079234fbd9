//! Buffers as large as what is in use of them at a time.

mod collect;
mod region;
mod rewrite;
mod symbols;
mod views;

use std::collections::HashMap;

use chipdock_ir::{Buffer, BufferNode, Expr, IrModule, PrimFunc, TargetCapabilities};

use crate::PassError;
use crate::walk::try_map_functions;
use collect::{Candidate, Collected, collect};
use region::{Part, UNKNOWN_EXTENT_MAX, region, strides};
use rewrite::{Rewriter, Shorter};

/// The annotation of a block that states alignments of strides.
pub(crate) const DIM_ALIGN: &str = "buffer_dim_align";

/// Shrinks each allocated buffer to the region that the iterations of the loops around all its
/// accesses touch: indices count from where that region begins.
///
/// A region depends on the variables of blocks for memory that a block shares, on those of all
/// threads for local memory, on sizes and scalar parameters, and on the variables of loops around
/// all accesses if no two of their iterations have an element in common: what one iteration writes,
/// no other reads. A loop whose iterations run at once then has the allocation within it. Memory
/// that a block shares depends only on loops that all of its threads run alike and between whose
/// iterations barriers are still implicit (IR-K5), because now one iteration follows the other in
/// one memory. Bounds come from the ranges of loops and from conditions and predicates that do not
/// read memory. An index that may wrap counts by its distance from the first one.
///
/// The annotation `buffer_dim_align` of a block gives the buffers that it writes strides that are
/// `offset` more than a multiple of `factor`: a list of entries with the number of the buffer, an
/// axis (not the last), factor and offset.
///
/// # Before and after
///
/// ```text
/// S = T.alloc_buffer((1024,), scope="shared")          S = T.alloc_buffer((32,), scope="shared")
/// for k in range(32):                                  for k in range(32):
///     for tx in T.thread_binding(32, …):         ->        for tx in T.thread_binding(32, …):
///         S[k * 32 + tx] = A[k * 32 + tx]                      S[tx] = A[k * 32 + tx]
/// ```
///
/// # Requires / # Ensures
///
/// Requires that no reduction is across threads; views of regions are as in blocks. These stay as
/// they are: a buffer with strides or an offset, one that is used by a pointer, also through a
/// view, or by a declared buffer; one with a view that states strides or an offset, or whose
/// symbols for them are seen elsewhere; one that several launches use. Blocks declare all of a
/// buffer that became shorter.
///
/// # Errors
///
/// None.
///
/// # Source
///
/// TVM's `CompactBufferAllocation`, which also moves allocations, and trusts that iterations have
/// nothing in common.
pub fn compact_buffer_allocation(
    module: &IrModule,
    _capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| Ok(compacted(function)))
}

fn compacted(function: &PrimFunc) -> PrimFunc {
    let all = collect(function);
    let shorter: HashMap<Buffer, Shorter> = all
        .candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| Some((candidate.buffer.clone(), shorter(&all, at, candidate)?)))
        .collect();
    if shorter.is_empty() {
        return function.clone();
    }
    Rewriter::new(shorter, all.threads).function(function)
}

/// The buffer that takes the place of another, if it is not the same.
fn shorter(all: &Collected, at: usize, of: &Candidate) -> Option<Shorter> {
    let found = region(all, of)?;
    let unknown = of.buffer.shape.iter().zip(&found.parts).filter_map(|(extent, part)| match part {
        Part::Some { extent: size, .. } if extent.as_int().is_none() => Some(*size),
        _ => None,
    });
    if unknown.fold(1, i128::saturating_mul) > UNKNOWN_EXTENT_MAX {
        return None;
    }
    let shape: Vec<Expr> = of
        .buffer
        .shape
        .iter()
        .zip(&found.parts)
        .map(|(extent, part)| match part {
            Part::Whole => extent.clone(),
            Part::Some { extent: size, .. } => Expr::int(*size, extent.dtype),
        })
        .collect();
    let strides = strides(&shape, &of.buffer, &of.alignment);
    if strides.is_empty() && found.parts.iter().all(|part| matches!(part, Part::Whole)) {
        return None;
    }
    let around = || of.around.iter().filter_map(|at| all.around.get(*at));
    let into = found.at_once.filter(|var| !around().any(|of| of.var.as_ref() == Some(var)));
    let node = BufferNode { shape, strides, ..BufferNode::clone(&of.buffer) };
    Some(Shorter { buffer: Buffer::from_node(node), parts: found.parts, into, at })
}
