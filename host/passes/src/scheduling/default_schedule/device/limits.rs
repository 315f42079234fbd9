//! Limits of a launch, derived from the capabilities of a target.

use chipdock_ir::{DType, TargetCapabilities, ThreadAxis};

/// Maximum number of threads per block that a schedule requests: more threads do not improve the
/// occupancy of any device.
const THREADS_WANTED: i128 = 256;

/// Threads per block if they do not run in step and each computes several results: just enough to
/// justify starting a block.
pub(super) const THREADS_ALONE: i128 = 64;

/// Threads per block if they run alone, each through a loop: fewer suffice, so that there are many
/// blocks.
const LOOPS_ALONE: i128 = 16;

/// Assumed shared memory of a block if the target does not report it.
const SHARED_SIZE_BYTES: i128 = 16 << 10;

/// Limits of a launch, each at least 1; an unknown limit is one that every device supports.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum number of threads per block along x in a schedule; 1 if there is no such axis.
    pub(super) threads: i128,
    /// Maximum number of blocks of a grid along x; 1 if there is no such axis.
    pub(super) blocks: i128,
    /// Bytes of shared memory per block that a schedule may use; 0 if there is none, or if threads
    /// run alone.
    pub(super) shared_bytes: i128,
    /// Whether a warp has several threads that run in step: adjacent threads should load adjacent
    /// elements.
    pub(super) in_step: bool,
    /// Whether threads run one after the other, as on a processor: one thread should load adjacent
    /// elements.
    pub(super) alone: bool,
    /// Whether the axes exist.
    pub(super) has_blocks: bool,
    pub(super) has_threads: bool,
    /// Whether there are no axes at all, and a launch is one thread.
    pub(super) is_one: bool,
    /// Whether a thread has local memory: it has on every device with threads.
    pub(super) has_local: bool,
    /// Whether threads may count in int64.
    pub(super) has_int64: bool,
}

impl Limits {
    pub(super) fn from_capabilities(capabilities: &TargetCapabilities) -> Self {
        let (limits, memory, execution) =
            (&capabilities.limits, &capabilities.memory, &capabilities.execution);
        let has = |axis| execution.thread_axes.contains(&axis);
        let (has_blocks, has_threads) = (has(ThreadAxis::BlockX), has(ThreadAxis::ThreadX));
        let known = |limit: Option<i64>, otherwise: i128| limit.map_or(otherwise, i128::from).max(1);
        let most = known(limits.threads_per_block_max, THREADS_WANTED);
        let most = most.min(known(limits.block_dimensions_max[0], most)).min(THREADS_WANTED);
        let warp = known(execution.warp_size, 1);
        let whole_warps = if most > warp { most - most % warp } else { most };
        let blocks = known(limits.grid_dimensions_max[0], i128::from(u16::MAX)).min(i32::MAX.into());
        let has_scope = |name: &str| memory.storage_scopes.iter().any(|scope| scope == name);
        let shared_bytes = memory.shared_memory_bytes_max.map_or(SHARED_SIZE_BYTES, i128::from);
        Self {
            threads: if has_threads { whole_warps } else { 1 },
            blocks: if has_blocks { blocks } else { 1 },
            shared_bytes: if has_scope("shared") && !execution.runs_threads_serially {
                shared_bytes
            } else {
                0
            },
            in_step: has_threads && execution.runs_in_lockstep(),
            alone: has_threads && execution.runs_threads_serially,
            has_blocks,
            has_threads,
            is_one: capabilities.launches_one_thread(),
            has_local: !capabilities.launches_one_thread() || has_scope("local"),
            has_int64: capabilities.types.has(DType::INT64),
        }
    }

    /// Number of threads per block, each of which runs through a loop or computes one result.
    pub(super) fn threads_of(&self, is_loop: bool) -> i128 {
        if self.alone && is_loop { self.threads.min(LOOPS_ALONE) } else { self.threads }
    }
}
