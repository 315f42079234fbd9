//! Default schedules for kernels without a schedule.

pub(crate) mod access;
mod cpu;
mod device;
mod host;
pub(crate) mod nest;

use chipdock_ir::{IrModule, PrimFunc, TargetCapabilities, attr};

use crate::PassError;
use crate::scheduling::schedule::Trace;
use crate::walk::try_map_functions;

pub(crate) use host::steps;

/// Schedules kernels that have no schedule: for a host, loops are reordered; for a target with
/// threads, loops are bound to threads; for a device without thread axes, loops stay, and what
/// touches memory becomes launches.
///
/// # For a host
///
/// Rules, in this order, made of the steps of [`crate::schedule`]. They ask the target for its
/// vector registers and caches (`processor` of [`TargetCapabilities`]). A nest that no rule knows
/// stays as it is.
///
/// * **Inlining.** An elementwise intermediate result that one block reads, each element at most
///   once, is computed there; what a window, such as that of a pooling, reads several times is
///   kept. A buffer whose elements are those of another one in another shape is read in place by
///   all its readers.
/// * **Rows.** Consecutive nests over the same rows that pass intermediate results on (softmax,
///   layer norm) run row by row: intermediate results shrink to a row. A chain with several
///   products, such as attention, runs by blocks of 24 to 160 rows.
/// * **Groups.** An axis that one operand of a product uses only by `axis // members`, such as the
///   channels of a grouped convolution, becomes two: groups, which are a batch of products, and
///   their members.
/// * **Products.** A sum of products of two operands (matrix products in every layout, batched
///   ones, convolutions) of unknown or large enough sizes: blocks of both operands are copied in
///   the order in which they are read, and a tile of the result stays in registers. The copies are
///   workspace: for a block of `s` steps of the sum, which is as long as a tile's rows fill the
///   first cache, about `s * (rows + columns)` elements. If the sum is one block, what one
///   elementwise block makes of the result is made of each tile. Products of integers that the
///   target has dot products for (`execution.dot_products`) are computed by them
///   ([`DotAdd`](chipdock_ir::Op::DotAdd)); those of types in `execution.tile_products` too, with
///   at least 16 rows and 16 columns, and more than 16 groups of steps, marked as products of tiles
///   ([`TileProduct`](chipdock_ir::analysis::TileProduct)), two by two. Products of bfloat16 too,
///   if both operands are parameters, with at least 16 rows and 16 columns: such instructions treat
///   subnormal numbers as zeros, so that one pass finds the least number of each operand first, and
///   they are used if the product of the last digits of these two is normal, since then nothing
///   subnormal can arise. Otherwise the loops in float32 are run. The error is that of `DotAdd`.
/// * **Sums.** A reduction of many elements to at most 8 results is computed in parts of 16,384
///   elements (of several loops: as many whole iterations of the first), whose results are combined
///   in order: the same on any number of threads.
/// * **Transpositions.** A copy whose source is contiguous along another loop than its destination
///   runs by tiles that are exchanged in vector registers, in runs of 512 adjacent bytes of the
///   destination, and element by element where a tile is not whole.
/// * **Order.** In a perfect nest of serial loops around one block with a reduction, where the
///   innermost loops are those of the reduction, the last spatial loop moves inside if every access
///   of the block then steps to the adjacent element or stays: a compiler can vectorize that. Each
///   element is still summed in the same order. A reduction of fewer than 32 constant steps stays
///   inside: a compiler unrolls it and vectorizes the loop around it.
/// * **Threads.** The outer iterations of what remains become parallel if they may run at once and
///   there is enough to do, with the grain "auto" of [`outline_parallel`](crate::outline_parallel):
///   short loops run on the thread that reaches them.
/// * **Streams.** A parameter larger than the second cache and than half of the third that one nest
///   writes, in whole vectors, and that nothing reads is stored past the caches
///   (`chipdock.nontemporal`).
/// * **Edges.** Up to two loops of a nest, along which conditions on the loop alone change at one
///   or two known places, such as the edges of a padded image, run in parts, in which these
///   conditions are constant.
///
/// Without the promise `tirx.noalias` that parameters do not overlap, a function compares the
/// addresses of its parameters first, and runs the loops that these rules make of it only if those
/// that it writes lie apart from the others.
///
/// Annotations that no pass acts on ([`unknown_annotations`](crate::unknown_annotations)) change
/// nothing.
///
/// ```text
/// for i, j, k in T.grid(8, 8, 64):              for i, k, j in T.grid(8, 64, 8):
///     C[i, j] += A[i, k] * B[k, j]      ->          C[i, j] += A[i, k] * B[k, j]
/// ```
///
/// # For a target with threads
///
/// Each nest of loops becomes a launch. Loops whose iterations touch different memory (or are
/// marked parallel) run on threads, fused; the others stay within, in order. If a nest has no such
/// loop, a loop around nests that have some runs on the host, and the rest runs on one thread.
/// Loops bound by hand stay as they are, and so do functions that others call: those run within the
/// threads of their callers. Memory that only one thread needs becomes `local`, memory that several
/// launches need `global`. Numbers of threads, blocks and bytes respect the known limits of the
/// target; if a grid would exceed its limit, threads run a loop. Marks on loops (`T.vectorized`,
/// `T.unroll`) are hints here.
///
/// The host runs statements that touch no memory, including calls of functions that compute from
/// scalars only, which may raise errors there (threads cannot). A function that ends within a loop
/// under a condition that only the device knows leaves the loop and skips the statements after it.
/// A view that is declared around launches is declared in each launch that uses it.
///
/// Some nests have special schedules: if all accesses step to the adjacent element along a loop of
/// constant extent, threads load and store vectors; a reduction along memory, or with few results,
/// is computed by the threads of a block (IR-K6) and lowered by `lower_cross_thread_reduction`; a
/// summed product of two loads runs through tiles in shared memory and registers; in a sum over
/// several loops of a combination of two loads, such as a convolution, each thread computes several
/// adjacent results that share loads: along memory and along a second loop if threads run alone,
/// across memory if a warp runs in step; an access that reads across the order of its writes goes
/// through a tile in shared memory.
///
/// A statement that stores elements of which several share a byte (`int4`) runs on one thread,
/// since two threads must not store into one byte; loads of such elements are not restricted.
///
/// Shared memory is not used if it is too small, nor if the threads of a block run one after the
/// other, as on a processor (`Execution::runs_threads_serially`): there a product's tiles are in
/// registers only, a thread reduces a result by itself, and of several loops a thread runs through
/// 64 adjacent results along the last one, in vectors if all accesses step to the adjacent element.
///
/// ```text
/// for i in range(n):                            for bx in T.thread_binding((n - 1) // 256 + 1, "blockIdx.x"):
///     B[i] = A[i] * 2.0                 ->          for tx in T.thread_binding(256, "threadIdx.x"):
///                                                       if bx * 256 + tx < n:
///                                                           B[bx * 256 + tx] = A[bx * 256 + tx] * 2.0
/// ```
///
/// # For a device without thread axes
///
/// A function becomes one launch of one thread (IR-K8), its loops as they are, or several where the
/// host has to do something between them: raise an error, return early, call an imported function,
/// allocate memory. Memory of up to 4096 bytes becomes `local`, if the target has that scope, more
/// `global`; memory in another scope that the target declares stays there, where one launch uses
/// it. Functions that others call are part of their callers' launches.
///
/// ```text
/// for i in range(n):                            with T.attr({"device_scope": 0}):
///     B[i] = A[i] * 2.0                 ->          for i in range(n):
///                                                       B[i] = A[i] * 2.0
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. On a device, all memory is touched by threads, except by functions
/// outside of kernels. A second run changes nothing.
///
/// # Errors
///
/// The target's, if it is a device: a kernel that returns a value, or ends on a condition, that
/// only the device knows, and one that allocates memory of a size that only the device knows.
pub fn default_schedule(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.execution.thread_axes.is_empty() || !capabilities.is_host {
        return device::schedule(module, capabilities);
    }
    try_map_functions(module, |function| {
        if !has_no_schedule(function) {
            return Ok(function.clone());
        }
        let (function, _) = cpu::schedule(function, capabilities);
        let body = host::rewrite(&function.body);
        Ok(PrimFunc { body, ..function })
    })
}

/// The steps that [`default_schedule`] makes of a function of a host, in order: those of the rules
/// but the last, that moves a loop inside where parameters may overlap. There are none for a target
/// with threads, whose schedules are not made of steps.
///
/// The trace can be edited, and given to the function as its attribute
/// [`crate::scheduling::schedule::ATTRIBUTE`]. Where rules make a choice at the beginning of the
/// function, the steps are those of the faster branch, and make none: some are refused then unless
/// the function promises that its parameters do not overlap (SCHED-10), and products of bfloat16
/// may take subnormal numbers for 0.
#[must_use]
pub fn default_steps(function: &PrimFunc, capabilities: &TargetCapabilities) -> Trace {
    let is_host = capabilities.execution.thread_axes.is_empty() && capabilities.is_host;
    if !is_host || !has_no_schedule(function) {
        return Trace::default();
    }
    cpu::schedule(function, capabilities).1
}

/// Whether rules for hosts may change a function.
fn has_no_schedule(function: &PrimFunc) -> bool {
    function.s_tir && !function.attrs.contains_key(attr::SCHEDULED)
}
