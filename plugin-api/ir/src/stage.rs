//! The stages of a module, and what a code generator receives at each.
//!
//! A target kind declares the stage at which its code generator takes a module; the host lowers to
//! it. This page is the contract between the host's passes and a code generator: what is left in a
//! module, and what is not. Every module also keeps the specification of the IR ([`crate`]), of
//! which IR-G1 to IR-G4 say what a stage excludes.
//!
//! A target kind that declares `blocks`, `scheduled` or `flattened` gets a module before the split,
//! in the forms that the variants of [`Stage`] name; only the specification binds it.
//!
//! # Host functions ([`Stage::Host`])
//!
//! * **STAGE-H1** For each function `f`: the packed entry `__tvm_ffi_f` (its `calling_conv` is 1;
//!   its attributes `chipdock.source_name`, `chipdock.signature` and `chipdock.arg_types` contain
//!   the entries of the artifact's index), the cold `f_checked_`, and `f_compute_`; see pass
//!   `make_packed_api`. Functions call each other by `Callee::Global`. Each returns int32: 0, or -1
//!   with an error raised. `tvm_call_packed(name, values, count)` calls an imported function with
//!   `count` packed values, stores its result after them, and gives 0, or -1 with an error raised.
//! * **STAGE-H2** Statements: `Seq`, `Bind`, `Store`, `AllocBuffer`, `DeclBuffer`, `For` (serial or
//!   parallel), `While`, `If`, `Evaluate`, `Assert`, `Return`, `Break`, `Continue`, and `Attr`,
//!   which may be ignored. Every buffer has one axis, no strides and no offset. An `AllocBuffer`
//!   has a constant size of at most [`crate::limits::STACK_SIZE_BYTES_MAX`] bytes
//!   ([`crate::limits::STACK_LOCAL_BYTES_MAX`] in scope `local`), all of a function together at
//!   most [`crate::limits::STACK_TOTAL_BYTES_MAX`]; a `DeclBuffer` without data is a view of a data
//!   variable that is bound already (a parameter, or another buffer's).
//! * **STAGE-H3** `Assert` raises its kind and message and returns -1; message parts are strings,
//!   and integers to be printed in decimal. `tvm_throw_last_error()` returns -1 with the error that
//!   a callee raised.
//! * **STAGE-H4** Division, remainder, shifts, conversions from float to integer and integer
//!   overflow have the IR's meaning, which C leaves undefined: the code generator guards them (or
//!   tells the compiler that integers wrap). No guard is needed if the second operand is a constant
//!   other than 0 and -1, or a shift count within the width.
//! * **STAGE-H5** Core ops are spelled by the code generator, for every float type that it
//!   supports: `sqrt floor ceil trunc nearbyint abs fma copysign`,
//!   `bitwise_and bitwise_or bitwise_xor bitwise_not shift_left shift_right`,
//!   `if_then_else likely reinterpret isnullptr`, `address_of handle_add_byte_offset`,
//!   `tvm_struct_get tvm_struct_set handle_load`, and those that allocate, free, throw and call.
//!   Also `atomic_add`, of int32, uint32, int64, uint64, float16, float32 and float64: it remains
//!   within parallel loops, in functions that these call, and under conditions; elsewhere it is a
//!   load, a sum and a store. Every other op is lowered, unless the target kind names it in
//!   `native_ops`, or, for `dot_add`, the target its types in `dot_products`. Of float16 and
//!   bfloat16 only loads, stores, constants, selections, reinterpretations and casts remain;
//!   computations in these types are made in float32.
//! * **STAGE-H6** A function that is left to the C library is a `call_pure_extern` with a C name,
//!   on scalars. If the target kind names no `native_ops`, the passes leave exactly these: `fmod`
//!   of float64; and, on a device or without float64, `fmodf` of float32, in which those of float16
//!   and bfloat16 are computed. An op that `native_ops` names is not among them: it remains an op.
//!   A C function that the program itself calls (`expf`, say) remains a call of that name.
//! * **STAGE-H7** A vector is `Ramp`, `Broadcast`, `Shuffle`, or an elementwise operation on them;
//!   loads and stores whose index is `Ramp(base, 1, lanes)` are contiguous and aligned to one
//!   element only, others gather and scatter. Either may have a predicate, a boolean for each lane:
//!   in a lane where it is false nothing is accessed, and a load gives 0.
//! * **STAGE-H8** If the target kind names `TVMBackendParallelLaunch` in `native_ops` there is no
//!   parallel loop, but `TVMBackendParallelLaunch("f_compute_task0_", data, tasks_max)`, whose
//!   value is 0, or -1 with an error raised: the named function of the module,
//!   `(task_id, tasks_count, data) -> int32`, is run by the host's pool (`parallel_launch` of the
//!   environment), or, without a host, as `f_compute_task0_(0, 1, data)`. It calls
//!   `f_compute_region0_`, which has the loop; see pass `outline_parallel`. Otherwise parallel
//!   loops remain, and may be run one iteration after another.
//! * **STAGE-H9** No statement and no expression has a storage type, such as `int4`; see pass
//!   `lower_storage_types`.
//! * **STAGE-H10** Requests of a function for a device to its environment are calls of
//!   `chipdock_device_type` and `chipdock_set_device` ([`crate::environment`]), which are
//!   `device_type` and `set_device` of `ChipdockEnv`.
//! * **STAGE-H11** A loop may have the annotation `chipdock.tiles` ([`crate::attr::TILES`]), which
//!   may be ignored. Default schedules mark products of types in the target's capability
//!   `tile_products`, a user's schedule any.
//! * **STAGE-H12** If the target kind says `asks_to_go_on`, loops that may run long call
//!   `chipdock_go_on() -> int32` ([`crate::environment`]), and the function fails with the error of
//!   a call whose value is not 0; see pass `ask_to_go_on`.
//! * **STAGE-H13** The data of a `DeclBuffer` may be the bytes of a constant (IR-B8), anywhere in a
//!   function; its buffer and views of it are read and not written.
//!
//! # Device functions ([`Stage::Device`])
//!
//! * **STAGE-D1** Kernels: `calling_conv` 2, `target`, `tirx.kernel_launch_params` (the axes of
//!   threads in order, then `tirx.use_cooperative_launch`, then `tirx.use_dyn_shared_memory`),
//!   `tirx.is_global_func`, and `tirx.noalias` if it holds. They are called `f_kernel`,
//!   `f_kernel_1` and so on, and return nothing. Functions that kernels call have `calling_conv` 0
//!   and take scalars and pointers.
//! * **STAGE-D2** Parameters: data pointers first, then scalars: integers, booleans, float32 and
//!   float64. If a target's data pointers are opaque handles, `A_elem_offset` is the element at
//!   which the tensor A begins, and indices include it. No pointer is aligned to more than one
//!   element.
//! * **STAGE-D3** A body declares views of its parameters and launches its axes, blocks before
//!   threads, each once; no loop is bound to threads, and there are no virtual threads. Extents are
//!   expressions of scalars.
//! * **STAGE-D4** Memory of scopes `shared` and `local` has constant sizes and may be allocated
//!   anywhere in the body. There is one allocation of dynamic shared memory, whose size in bytes is
//!   a launch parameter; other buffers in that scope are views of its data, perhaps of another
//!   type. No memory has the scope `warp`.
//! * **STAGE-D5** Barriers are explicit, at points that all threads of their scope reach.
//! * **STAGE-D6** Warp operations occur if the target kind names them in `native_ops`, and not
//!   otherwise. Barriers of a warp occur if the target says that a warp has several threads, or, if
//!   it does not say, together with those operations.
//! * **STAGE-D7** There are no assertions, and no calls but of functions of the module and of C
//!   functions (STAGE-H6).
//! * **STAGE-D8** Arithmetic, ops, types and vectors are those of STAGE-H4, STAGE-H5, STAGE-H7 and
//!   STAGE-H9.
//! * **STAGE-D9** If the target lacks int64 or uint64 ([`crate::Types::missing_types`]) no
//!   parameter, value, loop or buffer has integers of 64 bits; see pass `lower_int64`.
//! * **STAGE-D10** If the target lacks float16 or bfloat16 no parameter, value or buffer has that
//!   type; see pass `lower_halves`.
//! * **STAGE-D11** No index wraps: it has 64 bits unless the buffer is known to reach at most
//!   2^31 - 1 elements, its offset, strides and lanes included. If the target lacks int64 it has
//!   32, and the host function refuses a buffer that reaches further (INT64-W4). Sizes in bytes
//!   have 64 bits.
//! * **STAGE-D12** A kernel launches only axes that the target kind declares. Where it declares
//!   none, a launch is one thread (IR-K8): a kernel has no axis among its launch parameters and
//!   launches none, its loops are those of the function, and its memory is in scope `local` or in a
//!   scope of the kind's own, but in `global`, which the host allocates, where the kind declares no
//!   `local`, and for more than 4096 bytes.
//! * **STAGE-D13** A parallel loop may be left in a kernel, and may be run one iteration after
//!   another.
//! * **STAGE-D14** If the target's functions take scalars only
//!   ([`crate::Memory::scalar_arguments`]) no call passes a pointer to a function of the module,
//!   and none takes one but kernels. Left are calls that cannot be inlined: of functions that
//!   return a value or return early, or that are given a pointer other than a buffer's or a moved
//!   one; and those beyond the first 1000 of a kernel. See pass `inline_buffer_functions`.
//! * **STAGE-D15** If the target cannot move a pointer ([`crate::Memory::fixed_pointers`]) a
//!   `DeclBuffer` has no data, a variable as data, or a constant (STAGE-D17). Left are views that
//!   begin where only memory says, within other elements than the view's, or in a buffer with
//!   strides or an offset. See pass `lower_moved_pointers`.
//! * **STAGE-D16** If the target's vectors have a greatest number of lanes
//!   ([`crate::Types::lanes_max`]) no value has more; a buffer whose elements have more is accessed
//!   through a view of its lanes. Left are vectors that cannot be split: those with an effect,
//!   several elements of such a buffer, bits read as another number of lanes. See pass
//!   `split_wide_vectors`.
//! * **STAGE-D17** A kernel and a function that it calls declare the constants that they read
//!   (STAGE-H13): no constant is an argument.
//!
//! A code generator refuses by name what STAGE-D14 to STAGE-D16 leave to it and it cannot write.

use serde::{Deserialize, Serialize};

/// The stage to which a module is lowered before a code generator takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// As read: blocks with their axes.
    Blocks,
    /// Every function scheduled for the target.
    Scheduled,
    /// Blocks lowered to loops, buffers to one dimension.
    Flattened,
    /// Device functions, after the split.
    Device,
    /// Host functions with the packed calling convention, intrinsics lowered.
    Host,
}

impl core::fmt::Display for Stage {
    /// Formats the stage as target kinds write it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Blocks => "blocks",
            Self::Scheduled => "scheduled",
            Self::Flattened => "flattened",
            Self::Device => "device",
            Self::Host => "host",
        })
    }
}
