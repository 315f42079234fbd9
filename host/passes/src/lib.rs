//! Passes: each takes an [`IrModule`](chipdock_ir::IrModule) and returns one, is pure, and has a
//! file of its own.
//!
//! [`lower`] runs them in order, up to the stage at which a code generator takes the module. They
//! query the target for capabilities ([`chipdock_ir::TargetCapabilities`]), never for its name.
//!
//! # Rules
//!
//! * **PASS-L1** A pass is pure: its input module is unchanged, and equal modules give equal
//!   results except for the identity of variables.
//! * **PASS-L2** A pass requires and ensures what its documentation says. A valid module makes no
//!   pass panic.
//! * **PASS-L3** The results of the module are unchanged: integers exactly, floats to the bit,
//!   except that the reductions of a block may associate in another order and that mathematical
//!   functions have the error bounds of `lower_intrinsics`.
//! * **PASS-L4** A failure is a [`PassError`] that names the function and the party responsible;
//!   nothing falls back silently.
//! * **PASS-L5** [`lower`] runs each pass in a span `pass` of `tracing`, at level debug, with the
//!   fields `pass`, `functions`, `statements` and `expressions`, and those three again with
//!   `_after`. A node is counted once, however often it is shared. Without a subscriber, nothing is
//!   counted.
//! * **PASS-L6** The result of [`lower`] is within [`chipdock_ir::limits`]; a function that the
//!   passes would make deeper is refused by name ([`Fault::Target`]).
//!
//! What a code generator receives of all this stands at [`Stage`](chipdock_ir::Stage): STAGE-H and
//! STAGE-D.
//!
//! # Where is what
//!
//! | folder | passes |
//! |---|---|
//! | `scheduling` | that give a kernel its loops: steps of a schedule, default schedules (`cpu`: for hosts; `device`: loops bound to the threads of a GPU, by `launch`), reductions split over threads |
//! | `lowering` | from blocks and buffers to loops and flat memory; vectors, unrolled loops; pointers that a target cannot move or pass |
//! | `threading` | for memory and barriers that the threads of a device share |
//! | `types` | that compute in types, vectors and functions that a target has, instead of those that it lacks |
//! | `splitting` | that part host and device, and make the packed functions of the host |
//! | `verify` | that change nothing and refuse: memory accessed from the wrong side, limits of the target |
//! | `lower`, `spans`, `error` | the order of the passes, how they are run, and how they fail |
//! | `simplify`, `walk`, `reach`, `work`, `marks` | what passes share |

mod error;
mod lower;
mod lowering;
mod marks;
mod reach;
mod scheduling;
pub mod simplify;
mod spans;
mod splitting;
mod threading;
mod types;
mod verify;
mod walk;
mod work;

pub use error::{Fault, PassError};
pub use lower::{DEVICE_PIPELINE, LowerOptions, Lowered, PIPELINE, Pass, SCHEDULES, Scheduling, lower};
pub use lowering::{
    bind_offsets::bind_offsets, compact_buffer_allocation::compact_buffer_allocation,
    flatten_buffers::flatten_buffers, inline_buffer_functions::inline_buffer_functions,
    lower_blocks::lower_blocks, lower_moved_pointers::lower_moved_pointers, rescope_memory::rescope_memory,
    storage_rewrite::storage_rewrite, unroll::unroll, vectorize::vectorize,
};
pub use marks::unknown_annotations;
pub use scheduling::{
    apply_schedules::apply_schedules,
    default_schedule::{default_schedule, default_steps},
    schedule,
    split_reductions::split_reductions,
};
pub use splitting::{
    ask_to_go_on::ask_to_go_on, bind_target::bind_target, lower_workspace::lower_workspace,
    make_packed_api::make_packed_api, outline_parallel::outline_parallel,
    split_host_device::split_host_device,
};
pub use threading::{
    inject_virtual_thread::inject_virtual_thread, lower_cross_thread_reduction::lower_cross_thread_reduction,
    lower_thread_allreduce::lower_thread_allreduce, lower_warp_memory::lower_warp_memory,
    merge_shared_memory::merge_shared_memory, thread_sync::thread_sync,
};
pub use types::{
    lower_halves::lower_halves,
    lower_int64::lower_int64,
    lower_intrinsics::{high_ulps, lower_intrinsics, lowered_ulps, narrow_ulps},
    lower_storage_types::lower_storage_types,
    split_wide_vectors::split_wide_vectors,
};
pub use verify::{verify_limits, verify_memory};

/// Maximum number of live pieces of workspace in a function. Each exit of the function frees those
/// that are live there, so that the code grows with their square.
pub const WORKSPACE_LIVE_MAX: usize = 256;
