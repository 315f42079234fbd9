//! Passes: each takes an [`IrModule`](chipdock_ir::IrModule) and returns one, is pure, and has a file of its own.
//!
//! [`lower`] runs them in order, up to the stage at which a code generator takes the module. They query the target for
//! capabilities ([`chipdock_ir::TargetCapabilities`]), never for its name.
//!
//! # Rules
//!
//! * **PASS-L1** A pass is pure: its input module is unchanged, and equal modules give equal results except for the
//!   identity of variables.
//! * **PASS-L2** A pass requires and ensures what its documentation says. A valid module makes no pass panic.
//! * **PASS-L3** The results of the module are unchanged: integers exactly, floats to the bit, except that the
//!   reductions of a block may associate in another order and that mathematical functions have the error bounds of
//!   `lower_intrinsics`.
//! * **PASS-L4** A failure is a [`PassError`] that names the function and the party responsible; nothing falls back
//!   silently.
//! * **PASS-L5** [`lower`] runs each pass in a span `pass` of `tracing`, at level debug, with the fields `pass`,
//!   `functions`, `statements` and `expressions`, and those three again with `_after`. A node is counted once, however
//!   often it is shared. Without a subscriber, nothing is counted.
//! * **PASS-L6** The result of [`lower`] is within [`chipdock_ir::limits`]; a function that the passes would make deeper is
//!   refused by name ([`Fault::Target`]).
//!
//! # What a code generator of host functions receives ([`Stage::Host`](chipdock_ir::Stage::Host))
//!
//! * **PASS-H1** For each function `f`: the packed entry `__tvm_ffi_f` (its `calling_conv` is 1; its attributes
//!   `chipdock.source_name`, `chipdock.signature` and `chipdock.arg_types` contain the entries of the artifact's
//!   index), the cold `f_checked_`, and `f_compute_`; see [`make_packed_api`]. Functions call each other by
//!   `Callee::Global`. Each returns int32: 0, or -1 with an error raised. `tvm_call_packed(name, values, count)` calls
//!   an imported function with `count` packed values, stores its result after them, and gives 0, or -1 with an error
//!   raised.
//! * **PASS-H2** Statements: `Seq`, `Bind`, `Store`, `AllocBuffer`, `DeclBuffer`, `For` (serial or parallel), `While`, `If`,
//!   `Evaluate`, `Assert`, `Return`, `Break`, `Continue`, and `Attr`, which may be ignored. Every buffer has one axis, no
//!   strides and no offset. An `AllocBuffer` has a constant size of at most [`STACK_SIZE_BYTES_MAX`] bytes
//!   ([`STACK_LOCAL_BYTES_MAX`] in scope `local`), all of a function together at most [`STACK_TOTAL_BYTES_MAX`]; a
//!   `DeclBuffer` without data is a view of a data variable that is bound already (a parameter, or another buffer's).
//! * **PASS-H3** `Assert` raises its kind and message and returns -1; message parts are strings, and integers to be
//!   printed in decimal. `tvm_throw_last_error()` returns -1 with the error that a callee raised.
//! * **PASS-H4** Division, remainder, shifts, conversions from float to integer and integer overflow have the IR's
//!   meaning, which C leaves undefined: the code generator guards them (or tells the compiler that integers wrap). No
//!   guard is needed if the second operand is a constant other than 0 and -1, or a shift count within the width.
//! * **PASS-H5** Core ops are spelled by the code generator, for every float type that it supports: `sqrt floor ceil
//!   trunc nearbyint abs fma copysign`, `bitwise_and bitwise_or bitwise_xor bitwise_not shift_left shift_right`,
//!   `if_then_else likely reinterpret isnullptr address_of handle_add_byte_offset tvm_struct_get tvm_struct_set
//!   handle_load`, and those that allocate, free, throw and call. Also `atomic_add`, of int32, uint32, int64, uint64,
//!   float16, float32 and float64: it remains within parallel loops, in functions that these call, and under
//!   conditions; elsewhere it is a load, a sum and a store. Every other op is lowered, unless the target kind names it
//!   in `native_ops`, or, for `dot_add`, the target its types in `dot_products`. Of float16 and bfloat16 only loads, stores, constants, selections, reinterpretations and casts
//!   remain; computations in these types are made in float32.
//! * **PASS-H6** A function that is left to the C library is a `call_pure_extern` with a C name, on scalars. If the target
//!   kind names no `native_ops`, the passes leave exactly these: `fmod` of float64; and, on a device or without float64, `fmodf`
//!   of float32, in which those of float16 and bfloat16 are computed. An op that `native_ops` names is not among them: it remains an op. A
//!   C function that the program itself calls (`expf`, say) remains a call of that name.
//! * **PASS-H7** A vector is `Ramp`, `Broadcast`, `Shuffle`, or an elementwise operation on them; loads and stores
//!   whose index is `Ramp(base, 1, lanes)` are contiguous and aligned to one element only, others gather and scatter.
//!   Either may have a predicate, a boolean for each lane: in a lane where it is false nothing is accessed, and a load
//!   gives 0.
//! * **PASS-H8** If the target kind names `TVMBackendParallelLaunch` in `native_ops` there is no parallel loop, but
//!   `TVMBackendParallelLaunch("f_compute_task0_", data, tasks_max)`, whose value is 0, or -1 with an error raised: the
//!   named function of the module, `(task_id, tasks_count, data) -> int32`, is run by the host's pool
//!   (`parallel_launch` of the environment), or, without a host, as `f_compute_task0_(0, 1, data)`. It calls
//!   `f_compute_region0_`, which has the loop; see [`outline_parallel`]. Otherwise parallel loops remain, and may be
//!   run one iteration after another.

//! * **PASS-H9** No statement and no expression has a storage type, such as `int4`; see [`lower_storage_types`].
//! * **PASS-H10** Requests of a function for a device to its environment are calls of `chipdock_device_type` and
//!   `chipdock_set_device` ([`chipdock_ir::environment`]), which are `device_type` and `set_device` of `ChipdockEnv`.
//! * **PASS-H11** A loop may have the annotation `chipdock.tiles` ([`chipdock_ir::attr::TILES`]), which may be ignored. Default
//!   schedules mark products of types in the target's capability `tile_products`, a user's schedule any.
//!
//! # What a code generator of device functions receives ([`Stage::Device`](chipdock_ir::Stage::Device))
//!
//! * **PASS-D1** Kernels: `calling_conv` 2, `target`, `tirx.kernel_launch_params` (the axes of threads in order, then
//!   `tirx.use_cooperative_launch`, then `tirx.use_dyn_shared_memory`), `tirx.is_global_func`, and `tirx.noalias` if it
//!   holds. They are called `f_kernel`, `f_kernel_1` and so on, and return nothing. Functions that kernels call have
//!   `calling_conv` 0 and take scalars and pointers.
//! * **PASS-D2** Parameters: data pointers first, then scalars: integers, booleans, float32 and float64. If a target's
//!   data pointers are opaque handles, `A_elem_offset` is the element at which the tensor A begins, and indices include
//!   it. No pointer is aligned to more than one element.
//! * **PASS-D3** A body declares views of its parameters and launches its axes, blocks before threads, each once; no loop is
//!   bound to threads, and there are no virtual threads. Extents are expressions of scalars.
//! * **PASS-D4** Memory of scopes `shared` and `local` has constant sizes and may be allocated anywhere in the body.
//!   There is one allocation of dynamic shared memory, whose size in bytes is a launch parameter; other buffers in that
//!   scope are views of its data, perhaps of another type. No memory has the scope `warp`.
//! * **PASS-D5** Barriers are explicit, at points that all threads of their scope reach.
//! * **PASS-D6** Warp operations occur if the target kind names them in `native_ops`, and not otherwise. Barriers of a
//!   warp occur if the target says that a warp has several threads, or, if it does not say, together with those
//!   operations.
//! * **PASS-D7** There are no assertions, and no calls but of functions of the module and of C functions (PASS-H6).
//! * **PASS-D8** Arithmetic, ops, types and vectors are those of PASS-H4, PASS-H5, PASS-H7 and PASS-H9.
//! * **PASS-D9** If the target lacks int64 or uint64 ([`chipdock_ir::Types::missing_types`]) no parameter, value, loop
//!   or buffer has integers of 64 bits; see [`lower_int64`].
//! * **PASS-D10** If the target lacks float16 or bfloat16 no parameter, value or buffer has that type; see
//!   [`lower_halves`].
//! * **PASS-D11** No index wraps: it has 64 bits unless the buffer is known to reach at most 2^31 - 1 elements, its offset,
//!   strides and lanes included. If the target lacks int64 it has 32, and the host function refuses a buffer that reaches
//!   further (INT64-W4). Sizes in bytes have 64 bits.
//! * **PASS-D12** A kernel launches only axes that the target kind declares. Where it declares none, a launch is one thread
//!   (IR-K8): a kernel has no axis among its launch parameters and launches none, its loops are those of the function, and its
//!   memory is in scope `local` or in a scope of the kind's own, but in `global`, which the host allocates, where the kind
//!   declares no `local`, and for more than 4096 bytes.
//! * **PASS-D13** A parallel loop may be left in a kernel, and may be run one iteration after another.

mod apply_schedules;
mod bind_offsets;
mod bind_target;
mod callees;
mod capture;
mod compact_buffer_allocation;
mod default_schedule;
mod error;
mod flatten_buffers;
mod inject_virtual_thread;
mod lower;
mod lower_blocks;
mod lower_cross_thread_reduction;
mod lower_halves;
mod lower_int64;
mod lower_intrinsics;
mod lower_storage_types;
mod lower_thread_allreduce;
mod lower_warp_memory;
mod lower_workspace;
mod make_packed_api;
mod marks;
mod merge_shared_memory;
mod narrow_floats;
mod outline_parallel;
mod reach;
mod rescope_memory;
pub mod schedule;
pub mod simplify;
mod spans;
mod split_host_device;
mod split_reductions;
mod storage_rewrite;
mod thread_sync;
mod threads;
mod unroll;
mod vectorize;
mod verify;
mod walk;
mod words;
mod work;

pub use apply_schedules::apply_schedules;
pub use bind_offsets::bind_offsets;
pub use bind_target::bind_target;
pub use compact_buffer_allocation::compact_buffer_allocation;
pub use default_schedule::{default_schedule, default_steps};
pub use error::{Fault, PassError};
pub use flatten_buffers::flatten_buffers;
pub use inject_virtual_thread::inject_virtual_thread;
pub use lower::{DEVICE_PIPELINE, LowerOptions, Lowered, PIPELINE, Pass, SCHEDULES, Schedule, lower};
pub use lower_blocks::lower_blocks;
pub use lower_cross_thread_reduction::lower_cross_thread_reduction;
pub use lower_halves::lower_halves;
pub use lower_int64::lower_int64;
pub use lower_intrinsics::{high_ulps, lower_intrinsics, lowered_ulps, narrow_ulps};
pub use lower_storage_types::lower_storage_types;
pub use lower_thread_allreduce::lower_thread_allreduce;
pub use lower_warp_memory::lower_warp_memory;
pub use lower_workspace::lower_workspace;
pub use make_packed_api::make_packed_api;
pub use marks::unknown_annotations;
pub use merge_shared_memory::merge_shared_memory;
pub use outline_parallel::outline_parallel;
pub use rescope_memory::rescope_memory;
pub use split_host_device::split_host_device;
pub use split_reductions::split_reductions;
pub use storage_rewrite::storage_rewrite;
pub use thread_sync::thread_sync;
pub use unroll::unroll;
pub use vectorize::vectorize;
pub use verify::{verify_limits, verify_memory};

/// Maximum size in bytes of a buffer on the stack; larger ones are workspace. TVM's `kMaxStackAlloca`.
pub const STACK_SIZE_BYTES_MAX: i128 = 1024;

/// Maximum size in bytes of a buffer of scope `local` on the stack: accumulators, which a compiler keeps in registers as far
/// as there are some.
pub const STACK_LOCAL_BYTES_MAX: i128 = 8192;

/// Maximum number of bytes of all buffers of a function on the stack; further buffers are workspace. A thread of a pool
/// has 2 MiB for all active functions.
pub const STACK_TOTAL_BYTES_MAX: i128 = 256 * 1024;

/// Maximum number of live pieces of workspace in a function. Each exit of the function frees those that are live there,
/// so that the code grows with their square.
pub const WORKSPACE_LIVE_MAX: usize = 256;
