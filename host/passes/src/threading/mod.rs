//! What the threads of a device share: reductions, barriers, memory of a block and of a warp.

pub(crate) mod inject_virtual_thread;
pub(crate) mod lower_cross_thread_reduction;
pub(crate) mod lower_thread_allreduce;
pub(crate) mod lower_warp_memory;
pub(crate) mod merge_shared_memory;
pub(crate) mod thread_sync;
pub(crate) mod threads;
