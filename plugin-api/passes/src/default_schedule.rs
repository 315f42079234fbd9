//! A schedule for what has none.

mod access;
mod function;
mod host;
mod launch;
mod limits;
mod matmul;
mod memory;
mod nest;
mod reduction;
mod registers;
mod returns;
mod runs;
mod tile;
mod transpose;
mod vector;
mod views;

use chipdock_ir::{IrModule, PrimFunc, TargetCapabilities};

use crate::PassError;
use crate::walk::try_map_functions;

pub(crate) use host::steps;

/// Schedules what is not scheduled: loops of kernels for a host are put in order, those for a target with threads are
/// bound to them.
///
/// # For a host
///
/// Of a perfect nest of serial loops around one block with a reduction, the innermost loops being the reduction's, the
/// last spatial loop moves inside, where every access of the block is then to neighbouring elements, or to one: a
/// compiler can make vectors of that, and it cannot of a sum of floats. Each element still adds up in the same order.
/// A reduction of fewer than 32 constant steps stays inside: a compiler writes it out and makes vectors of the
/// loop around it, whose sums then live in registers.
///
/// Annotations that no pass acts on ([`unknown_annotations`](crate::unknown_annotations)) change nothing.
///
/// ```text
/// for i, j, k in T.grid(64, 64, 64):            for i, k, j in T.grid(64, 64, 64):
///     C[i, j] += A[i, k] * B[k, j]      ->          C[i, j] += A[i, k] * B[k, j]
/// ```
///
/// # For a target with threads
///
/// Each nest of loops becomes a launch. Its loops whose iterations touch different memory (or are said to be parallel)
/// run on threads, fused; the others stay within, in order. Where no loop is such, a loop around others that are runs on
/// the host, and what is left runs on one thread. What is bound by hand stays as it is, and so do functions that others
/// call: those run within the threads of their callers. Memory that one thread alone needs becomes `local`, memory
/// that several launches need `global`. Numbers of threads, blocks and bytes keep to what is known of the target; where a
/// grid would be larger than its limit, threads run a loop. Marks on loops (`T.vectorized`, `T.unroll`) are hints here.
///
/// The host runs what touches no memory: calls of functions that compute from scalars alone too, which may raise errors there
/// (threads cannot). A function that ends within a loop, where only the device knows it, leaves the loop and skips what
/// follows. A view that is declared around launches is declared in each that uses it.
///
/// Some nests are known better: where all accesses step to the neighbour along a loop of constant extent, threads load and
/// store vectors; a reduction along memory, or with few results, is one of the threads of a block (IR-K6), which
/// `lower_cross_thread_reduction` makes of it; a product of two loads, summed, runs through tiles in shared memory and
/// registers; of a sum over several loops of what two loads make, as a convolution is, each thread computes several
/// neighbours, which share what they load: along memory and of a second loop where threads run alone, across memory where a
/// warp runs in step; what is read across the order in which it is written goes through a tile in shared memory.
///
/// What stores elements of which several share a byte (`int4`) runs on one thread, as two must not store into one byte; loads
/// of them are as others.
///
/// Where shared memory is too small, nothing goes through it, nor where the threads of a block run one after the other, as on a
/// processor (`Execution::runs_threads_serially`): there a product's tiles are in registers alone, a thread reduces a result by itself,
/// and of several loops a thread runs through 64 neighbours along the last one, in vectors where all accesses step to
/// the neighbour.
///
/// ```text
/// for i in range(n):                            for bx in T.thread_binding((n - 1) // 256 + 1, "blockIdx.x"):
///     B[i] = A[i] * 2.0                 ->          for tx in T.thread_binding(256, "threadIdx.x"):
///                                                       if bx * 256 + tx < n:
///                                                           B[bx * 256 + tx] = A[bx * 256 + tx] * 2.0
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. On a target with threads, all memory is touched by threads, but for what functions outside of
/// kernels do. A second run changes nothing.
///
/// # Errors
///
/// The target's, where it has threads: a kernel that gives back, or ends by, what is only known on the device, and one
/// that allocates memory of such a size.
pub fn default_schedule(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.execution.thread_axes.is_empty() || !capabilities.is_host {
        return function::schedule(module, capabilities);
    }
    try_map_functions(module, |function| {
        let body = if function.s_tir { host::rewrite(&function.body) } else { function.body.clone() };
        Ok(PrimFunc { body, ..function.clone() })
    })
}
