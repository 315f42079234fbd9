//! The IR as a value: the form of a kernel between its text and the code that a plugin generates
//! from it.
//!
//! It is TIR as TVM lowers and prints it (`tirx` in TVM 0.27): functions over buffers and scalars,
//! with blocks that have spatial and reduction axes, so that an unscheduled kernel can be scheduled
//! for any target. Nodes are shared, immutable values. Behaviour that TVM leaves undefined is
//! defined here, so that all backends agree.
//!
//! | module | what it does |
//! |---|---|
//! | [`build`] | makes functions in Rust |
//! | [`mod@print`] | prints TVMScript, which `chipdock-script` reads |
//! | [`wire`] | writes and reads canonical JSON, which crosses to plugins |
//! | [`validate`] | checks a module against the rules below |
//! | [`equal`], [`subst`] | compares modules up to names; rewrites variables and buffers |
//! | [`stage`] | what a code generator receives at each stage |
//! | [`accuracy`] | the greatest error of each operation of a backend |
//!
//! # Specification
//!
//! Every module must follow these rules. [`validate::validate`] checks them at the border, except
//! those marked *(run)*, which depend on values: the interpreter reports their violation, and
//! compiled code that violates one has undefined behaviour. After validation, passes and code
//! generators may refuse what they do not support, by name, and never panic. `RULES.md`, beside
//! this crate's manifest, lists the tests of each rule.
//!
//! ## Types
//!
//! - **IR-T1** A type is a code, bits and lanes. Scalars are `bool`, `int8` to `int64`, `uint8` to
//!   `uint64`, `float16`, `bfloat16`, `float32`, `float64` ([`DType::SCALARS`]), the storage types
//!   of IR-T5, and `handle`. All but `handle` may have 2 to [`limits::LANES_MAX`] lanes.
//! - **IR-T2** In memory a `bool` is one byte, 0 or 1; everything else is little-endian, floats as
//!   IEEE 754 has them. A vector is stored as its lanes in order.
//! - **IR-T3** `handle` is a pointer. A call made for its effect also has type `handle`; it may
//!   only be a statement ([`StmtKind::Evaluate`]), never a value.
//! - **IR-T4** Every node states its type, which equals the type that its parts imply. There are no
//!   implicit conversions.
//! - **IR-T5** *Storage types*: `int1`, `int4`, `uint1`, `uint4`, `float8_e4m3fn` and `float8_e5m2`
//!   ([`DType::STORAGE`]) are types of memory. Their values can be loaded, stored, bound, selected,
//!   moved between lanes and cast. They take part in no computation, are neither parameter nor
//!   result of a function, and have no address. Elements of a buffer have one lane. From
//!   [`Stage::Device`] on there are none.
//! - **IR-T6** In memory, element `i` of an integer of `b` < 8 bits lies in bits `b·(i mod 8/b)`
//!   and up of byte `i·b/8`: the low bits come first, and `n` elements take `⌈n·b/8⌉` bytes; unused
//!   bits of the last byte belong to no element and are preserved. No view of another type shows
//!   it. For IR-S4 and IR-K4, the elements of one byte count as one element.
//! - **IR-T7** A float8 is OCP's: `float8_e4m3fn` has a bias of 7, a greatest value of 448 and no
//!   infinities, its NaNs being `0x7f` and `0xff`; `float8_e5m2` is the upper byte of a float16.
//!
//! ## Numbers
//!
//! - **IR-N1** Integers wrap, modulo 2 to the width; signed ones are two's complement.
//! - **IR-N2** `x / 0 = x`, `x mod 0 = 0`, of both divisions. The least integer divided by −1 is
//!   itself, the remainder 0.
//! - **IR-N3** [`BinaryOp::Div`] of integers rounds towards zero, and its remainder
//!   [`BinaryOp::Mod`] has the sign of the first; [`BinaryOp::FloorDiv`] rounds down, and the
//!   remainder [`BinaryOp::FloorMod`] has the sign of the second.
//! - **IR-N4** Shift amounts are taken modulo the width, negative ones too. A right shift keeps the
//!   sign of a signed integer.
//! - **IR-N5** The absolute value of the least integer is itself. `clz(0)` is the width.
//!   Comparisons of booleans have false below true.
//! - **IR-N6** Float arithmetic is IEEE 754, to nearest, halves to even, with subnormals. float16
//!   and bfloat16 are computed in float32 and rounded after each operation. The sign and the
//!   payload of a NaN are unspecified.
//! - **IR-N7** `min(a, b)` is `a < b ? a : b`, and `max(a, b)` is `a > b ? a : b`: a NaN as first
//!   operand is dropped, a NaN as second operand is the result.
//! - **IR-N8** `round` and `nearbyint` take halves to even.
//! - **IR-N9** Casts: integer to integer wraps. Float to integer truncates and saturates; NaN
//!   gives 0. To a float rounds to nearest, halves to even. To `bool` is `!= 0` (a NaN is true);
//!   from `bool`, false is 0 and true is 1. A value that rounds above the greatest `float8_e4m3fn`
//!   becomes a NaN; for other types it becomes infinite.
//! - **IR-N10** *Contraction* is allowed: a product that is an operand of a sum or a difference may
//!   be fused with it and rounded once, as C compilers do. *Reassociation* is not, except by IR-B6.
//!   The interpreter's bounds cover both (`chipdock-interpret`, IR-B2 and IR-B3). A target may
//!   allow more only through an explicit option.
//! - **IR-N11** Functions such as `exp` are exact within [`accuracy::ulps`].
//!
//! ## Expressions
//!
//! - **IR-E1** A constant is in range of its scalar type: an integer by [`DType::integer_range`], a
//!   float by being a value of the type ([`number::round_to`]). The one NaN is the quiet one, bits
//!   `0x7ff8000000000000`. Vectors of constants are broadcast.
//! - **IR-E2** Both sides of a [`BinaryOp`] or [`CompareOp`] have one type. Arithmetic is of
//!   numbers, `Mod`, `FloorDiv` and `FloorMod` of integers, comparisons of numbers and booleans.
//! - **IR-E3** Operands are evaluated from left to right, each once. Only calls that write make
//!   this order visible: a statement has at most one such call in its own expressions, and
//!   otherwise reads memory only in that call's arguments.
//! - **IR-E4** `And` and `Or` of scalars evaluate the second side only if the first does not decide
//!   the result. [`Op::IfThenElse`] evaluates its condition, a scalar, and one branch.
//!   [`ExprKind::Select`] evaluates all three operands and selects lane by lane; its condition has
//!   as many lanes.
//! - **IR-E5** [`ExprKind::Let`] evaluates its value once, then its body, the only scope of its
//!   variable. The same node may occur in several places, but not within itself.
//! - **IR-E6** A load or a store has one index per axis of its buffer, integers, each within its
//!   extent *(run)*. The last may be a vector, which accesses one element per lane; the lanes of
//!   the value are those of the element times those of the index. Where a predicate is false, a
//!   lane is not accessed: a load gives 0 there. If several lanes of a vector store access one
//!   element, it keeps the value of the last of them.
//! - **IR-E7** [`ExprKind::Ramp`] and [`ExprKind::Broadcast`] take scalars and have at least 2
//!   lanes. [`ExprKind::Shuffle`] selects lanes, by constant number, from the concatenation of its
//!   vectors.
//! - **IR-E8** A call of an op follows [`Op::signature`], [`Op::arity`] and [`Op::result_dtype`]. A
//!   call of a function of the module passes scalars and pointers of the declared types, and has
//!   the type of its result; functions do not call each other recursively, including functions run
//!   by a parallel launch. A C function has a C name; `pure` is a promise of the module's author.
//!   The two names in [`environment`] are not C functions: code generators of host code implement
//!   them.
//! - **IR-E9** A string may only be an argument of a call, a part of a message or the value of an
//!   attribute.
//! - **IR-E10** A constant index, and each lane of a constant ramp, is within its extent where that
//!   is constant and not 0: this is IR-E6, checked before running. It does not apply where a
//!   constant shows that nothing is accessed (a false condition, a loop without iterations), to an
//!   access with a predicate, to an address alone ([`Op::AddressOf`]), and from
//!   [`Stage::Flattened`] on, where loops are unrolled and a copy that never runs may have any
//!   index.
//!
//! ## Statements
//!
//! - **IR-S1** A variable is bound in one place (except by [`ExprKind::Let`]), before it is used;
//!   its scope ends with the innermost body, branch, block or sequence. Two variables of one name
//!   are distinct.
//! - **IR-S2** [`StmtKind::Bind`] and [`StmtKind::Store`] evaluate the value, the indices and the
//!   predicate in this order, and then bind or write.
//! - **IR-S3** A loop counts in `int32` or `int64`, the type of its bounds. They are evaluated
//!   once. It runs `extent` iterations, none when that is negative, from `min` in steps of `step`,
//!   a constant of at least 1.
//! - **IR-S4** Iterations of a serial or unrolled loop run in order. Those of a parallel,
//!   vectorized or thread-bound loop may run in any order and concurrently: two that access one
//!   element both only read it *(run)*; IR-K4 adds rules for threads. Unrolled and vectorized loops
//!   have constant extents. A thread-bound loop starts at 0 and has no step.
//! - **IR-S5** `break` and `continue` apply to the innermost loop, which is serial or a while loop,
//!   with no block in between. `return` leaves no parallel, vectorized or thread-bound loop, no
//!   thread and no block. A function with a result returns on every path.
//! - **IR-S6** [`StmtKind::Assert`] ends the function with the error when its condition is false.
//!   It is never removed.
//! - **IR-S7** [`StmtKind::Attr`] and annotations are notes; a pass preserves the ones that it does
//!   not know. Only notes that the passes document change meaning. An annotation refers to a buffer
//!   by its data variable, as an [`AttrValue::Expr`].
//!
//! ## Threads
//!
//! - **IR-K1** *Launch*: the outermost thread-bound loop or [`StmtKind::LaunchThread`], with all
//!   within it. The extents of all axes bound in it are known at its start, and equal wherever one
//!   axis is bound, of whatever type *(run)*. Grid times block threads run the body; a loop bound
//!   to an axis runs, in each thread, the one iteration of that thread, and a nested loop of the
//!   same axis runs the same one. Code outside a thread-bound loop runs on every thread of that
//!   axis. Of two launches in sequence, the second starts after the first has ended. Virtual
//!   threads are threads of the block. Launches do not nest.
//! - **IR-K2** *Instances*: the scope of an allocation determines the number of instances, not its
//!   place: one for `global`, one per block for `shared`, one per warp for `warp`, one per thread
//!   for `local`. An allocation in a loop is the same memory in every iteration.
//! - **IR-K3** *Barriers* ([`Op::StorageSync`]) are reached by all threads of the block (or warp)
//!   that have not ended, in one place and one iteration *(run)*. Outside of launches they have no
//!   effect.
//! - **IR-K4** *Races*: two threads may access one element only if both read it, or both access it
//!   atomically, or a barrier separates the accesses, or the threads belong to different launches
//!   *(run)*. No barrier separates blocks.
//! - **IR-K5** *Before barriers are inserted*: in a launch that has blocks, or the note
//!   [`attr::IMPLICIT_BARRIERS`], an implicit barrier stands between two statements of a sequence,
//!   and at the end of each iteration of a loop, wherever memory of scope `shared` or `warp` is
//!   accessed on both sides and written on one. It includes those threads of the block that reach
//!   it: a statement sees what earlier ones wrote, on whatever thread.
//! - **IR-K6** *Reductions over threads*: a reduction axis of a block may be bound to threads of a
//!   block. Their iterations combine in any order into the same elements, also of `local` memory,
//!   and code after the block sees the final values.
//! - **IR-K7** *Atomic* and *warp operations* are specified with the ops ([`Op::AtomicAdd`],
//!   [`Op::WarpShuffle`] and so on). A warp is a group of consecutive threads of a block, x
//!   counting fastest. A shuffle takes its value from a lane that its mask names and that runs it
//!   too *(run)*. A value that was never written may pass through shuffles and `local` memory as
//!   long as it is not used otherwise *(run)*.
//! - **IR-K8** *Devices without thread axes*: there a launch is the outermost [`StmtKind::Attr`]
//!   with the key [`attr::DEVICE_SCOPE`], with all within it. One thread, alone in its block and
//!   its grid, runs the body once. Elsewhere the note changes nothing.
//!
//! ## Buffers and blocks
//!
//! - **IR-B1** A buffer is a typed view of memory: element `i, j, …` lies
//!   `elem_offset + i·stride + j·stride + …` elements after its data pointer; without strides it is
//!   compact, row-major. Extents are not negative, have type int32 or int64 and read no memory;
//!   constant extents give at most 2^63 − 1 bytes in total. At most [`limits::RANK_MAX`] axes.
//! - **IR-B2** *Aliasing*: buffers with one data variable are views of one memory. Buffers
//!   allocated in different places never overlap. Parameters may overlap, except in a function with
//!   [`attr::NOALIAS`] *(run)*.
//! - **IR-B3** A parameter, an allocation and a view of a block have a data variable of their own.
//!   An allocation has room for its offset, a constant, before its first element.
//!   [`StmtKind::DeclBuffer`] either binds one to an expression (not a bare variable), or names a
//!   known one and is then a view. Types of views of one memory may differ; its scope may not.
//! - **IR-B4** The contents of an allocated buffer are undefined until written, and not read before
//!   *(run)*.
//! - **IR-B5** A block has axes, one value each, in their domain *(run)*, and a predicate: where it
//!   is false the block does not run. Values and predicate have no side effects. If it declares
//!   buffers, it reads and writes only these and its own allocations; a buffer that it writes may
//!   also be read.
//! - **IR-B6** Its init runs, before the body, where every reduction axis is at its first value,
//!   and uses none of these axes; without such axes it runs every time. The iterations of reduction
//!   axes may be associated in any order; those of spatial axes may run in any order, those of
//!   ordered axes run in order.
//! - **IR-B7** A view (`match_buffer`) has the type and scope of its source, and the trailing
//!   extents of its region, the leading ones being 1; strides and an offset that it declares equal
//!   those of the region *(run)*. A bare variable as a stride or as the offset of a view, if it is
//!   not bound yet, is bound to the region's value for the rest of the block.
//! - **IR-B8** *Constants*: [`ExprKind::ConstantData`] is a pointer to bytes that the module
//!   carries, laid out as IR-T2 and IR-T6 say; a `bool` is 0 or 1, and unused bits are 0. It is the
//!   data of a [`StmtKind::DeclBuffer`] and stands nowhere else. The buffer has the scope `global`,
//!   constant extents, no strides and no offset, is aligned to at most
//!   [`limits::CONSTANT_ALIGNMENT_BYTES_MAX`] bytes, and takes exactly those bytes. They are the
//!   same whenever and wherever they are read. Nothing writes them: no store and no atomic
//!   operation, through the buffer or a view of it, and nobody to whom its address is passed
//!   *(run)*.
//!
//! ## Functions and modules
//!
//! - **IR-F1** Functions of a module have distinct names of letters, digits and `_`; none is a
//!   keyword of Python or a name of the script (`T`, `I`, `Module`, `range`, …). Names that start
//!   with `_` are reserved; at [`Stage::Host`], entries are called `__tvm_ffi_<name>`.
//! - **IR-F2** Parameters have such names too, distinct within the function; they are public until
//!   the packed calling convention.
//! - **IR-F3** Free variables of the parameters' shapes, strides and offsets are *sizes*, `int32`
//!   or `int64`: each occurs bare in some parameter, which binds it, or is a scalar parameter.
//!   Compound sizes are evaluated and compared, never solved.
//! - **IR-F4** Attributes of [`attr`] have the type stated there; others may have any.
//!
//! ## Stages
//!
//! - **IR-G1** [`Stage::Blocks`], [`Stage::Scheduled`]: everything.
//! - **IR-G2** From [`Stage::Flattened`] on: no blocks; buffers that are accessed, allocated or
//!   declared have one axis, no strides and no offset.
//! - **IR-G3** From [`Stage::Device`] on: parameters are scalars and pointers; no thread-bound
//!   loops (threads are launched).
//! - **IR-G4** [`Stage::Host`]: no threads, and only the scopes global and local. Parallel launches
//!   ([`Op::ParallelLaunch`]) occur only here.
//!
//! ## Limits
//!
//! - **IR-L1** [`limits`]: expressions and statements nest at most [`limits::DEPTH_MAX`] levels; a
//!   string has at most [`limits::STRING_BYTES_MAX`] bytes, a name 256; a module has at most
//!   [`limits::NODES_MAX`] nodes, shared ones counted at each occurrence. Up to
//!   [`Stage::Flattened`] a function has at most [`limits::PARAMS_MAX`] parameters, which bind at
//!   most [`limits::SIZES_MAX`] sizes.
//!
//! Positions ([`Span`]) have no meaning, and names only those of IR-F1 and IR-F2.
//!
//! ## What TVM leaves undefined
//!
//! In TVM each of these depends on the compiler, or is arbitrary; here it is the same for every
//! backend.
//!
//! | what | here |
//! |---|---|
//! | overflow of signed integers | wraps (IR-N1) |
//! | division and remainder by 0; the least integer by −1 | x and 0; itself and 0 (IR-N2) |
//! | shifts by the width or more, or by less than 0 | taken modulo the width (IR-N4) |
//! | the absolute value of the least integer; `clz(0)` | itself; the width (IR-N5) |
//! | NaN in `min` and `max`; halves in `round` | as written out (IR-N7, IR-N8) |
//! | casts of floats out of range, and of NaN, to integers | saturate; 0 (IR-N9) |
//! | fused multiplication and addition | allowed, within the bound (IR-N10) |
//! | how exact a function is | stated (IR-N11) |
//! | the order of effects within an expression | left to right, one effect a statement (IR-E3) |
//! | lanes that a predicate turns off; lanes of a store to one element | 0 and not accessed; the last (IR-E6) |
//! | negative extents; changing a bound within the loop | no iteration; evaluated once (IR-S3) |
//! | parameters that overlap | views of one memory, unless the function says not (IR-B2) |
//! | `int4` and `int1` in memory (LLVM: a byte each, past the end of the tensor that TVM's run time makes) | packed, low bits first (IR-T6) |
//! | casts of zero, subnormals, NaN and what overflows to and from float8 | OCP's, rounded once (IR-T7, IR-N9) |
//! | reads of uninitialised memory, races, accesses out of bounds | an error of the module, which the interpreter reports |
//!
//! ## Not supported
//!
//! Of what TVM 0.27 can print:
//!
//! - **Nodes** `ProducerLoad`, `Reduce` (tensor expressions: gone before a kernel has a schedule),
//!   `ScopeIdDefStmt` and calls of tile primitives (a dialect of its own, gone before code
//!   generation).
//! - **Types** of fewer than 8 bits but those of IR-T5; the other floats of 8 bits and fewer; and
//!   vectors of unknown length with `vscale` and `get_active_lane_mask`, which Arm's SVE and
//!   RISC-V's V have and no other backend.
//! - **Thread axes** of clusters (`clusterCtaIdx`): one device's, and no backend to check them
//!   against yet.
//! - **Instructions of one compiler or device**: `call_llvm_intrin`, `call_llvm_pure_intrin`,
//!   `call_spirv_pure_glsl450`, matrix units (`wmma`, `mma`, `simdgroup`, `cooperative_tensor_*`),
//!   textures (`texture2d_*`, `nd_mem_alloc_with_scope`), `dma_*`, `start_profile_intrinsic`,
//!   `end_profile_intrinsic`.
//! - **The calling conventions of TVM's run time**, which it adds after scheduling:
//!   `tvm_stack_alloca`, `tvm_call_packed_lowered`, `tvm_call_cpacked`, `tvm_call_cpacked_lowered`,
//!   `tvm_call_trace_packed`, `tvm_static_handle`, `tvm_context_id`, `lookup_param`, `anylist_*`.
//! - **Hints and notes that nothing lowers**: `prefetch`, `undef` (IR-B4 says what is undefined),
//!   `filter`, `selector`, `tvm_tuple`, `ignore_loop_partition`, `print_buffer`, `buffer_offset`,
//!   `buffer_data`, `tvm_kernel_replace_point`, `tvm_global_barrier_kinit`.
//! - **Equivalents of supported nodes**: `ptr_byte_offset` ([`Op::HandleAddByteOffset`]) and
//!   `large_uint_imm` (a constant). `vectorlow`, `vectorhigh` and `vectorcombine` are read as
//!   [`ExprKind::Shuffle`], `break_loop` and `continue_loop` as the statements.

pub mod accuracy;
pub mod analysis;
mod buffer;
pub mod build;
mod constant;
mod diagnostic;
mod dtype;
pub mod environment;
pub mod equal;
mod expr;
mod function;
pub mod json;
pub mod limits;
pub mod number;
pub mod op;
pub mod print;
mod scope;
pub mod stage;
mod stmt;
pub mod subst;
mod targets;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
pub mod validate;
mod visit;
pub mod wire;

pub use buffer::{Buffer, BufferNode};
pub use constant::ConstantData;
pub use diagnostic::Diagnostic;
pub use dtype::{DType, TypeCode, UnknownDType};
pub use expr::{BinaryOp, Callee, CompareOp, Expr, ExprKind, ExprNode, FloatBits, PointerType, Var, VarNode};
pub use function::{AttrValue, Attrs, Functions, IrModule, Param, PrimFunc, Span, attr};
pub use op::{Effect, Op, OpInfo, Signature, StructField};
pub use scope::{StorageRank, StorageScope, ThreadAxis};
pub use stage::Stage;
pub use stmt::{
    AttrNode, Block, BufferRegion, ForKind, IterKind, IterVar, MatchBufferRegion, Range, Reducer, Stmt,
    StmtKind, StmtNode,
};
pub use targets::{
    Accuracy, CAPABILITIES, Capability, CapabilityOptions, CapabilitySource, DeclaredKind, Execution,
    KIND_SCHEMA, Limits, Math, Memory, OptionNames, OptionSchema, OptionType, Target, TargetCapabilities,
    TargetDevice, TargetKind, Types, UnusableKind, check_option, float_of, float_text,
};
pub use visit::Child;
