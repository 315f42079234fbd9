//! Ops: operators that are called by name. All properties of an op are in its row of one table.
//!
//! # The columns
//!
//! A row states where the op differs from what its signature implies. The columns are the fields of
//! [`OpInfo`]:
//!
//! - **OP1 Names.** `name` is the op's name in scripts (`T.<name>`), in the wire (`CallOp`), in a
//!   target's `native_ops` and in messages. Scripts may also use `aliases`, and `device_name` below
//!   a namespace of a device. No two ops share a name, and no op's name is another's alias. Used by
//!   the printer, the wire, the script's reader, targets.
//! - **OP2 Wire.** `wire_minor` is the minor of the format that introduced the op. It never
//!   changes, and within a minor the order of the table is the order of the format's list. Used by
//!   the tables of the format.
//! - **OP3 Arguments.** `signature` is their shape; `params` names them and states what each may
//!   be, `rest` what any number of further ones may be, `expects` states the same in words. Used by
//!   the validator, the script's reader, the interpreter, `vectorize` (which arguments stay
//!   scalar), the conformance suite and the program generator. Rules that a type cannot express (a
//!   mask of certain bits, a scope of a certain name) are in the validator's code.
//! - **OP4 Result.** `gives` is the type of a call; `is_rounding` states that its value is
//!   integral. Used by code that makes a call, by the validator, and by the program generator,
//!   which must know where a small error causes a jump.
//! - **OP5 Effect.** `effect` states whether a call may be moved, repeated or dropped. Used by
//!   passes, and by code generators where they order evaluation.
//! - **OP6 Subject.** `class` is the subject of the op. Ops of [`Class::Value`], and no others,
//!   have cases in the conformance suite and occur in random programs.
//! - **OP7 Elementwise.** `is_elementwise`: a call on vectors is the call on each lane. `vectorize`
//!   makes such calls of these ops and of no others; a parameter for which [`Takes::is_uniform`]
//!   holds stays scalar.
//! - **OP8 Threads.** `threads` names the threads that a call concerns. Used by the passes that
//!   verify, split or move code of threads, by code generators for machines without threads, and by
//!   the interpreter.
//! - **OP9 Cost.** `cost` is the price in instructions of a call that may be evaluated although its
//!   value is not needed. Used by code generators that choose between a branch and a selection.
//! - **OP10 Lowering.** `lowering` states how the op reaches a code generator. `lower_intrinsics`
//!   follows it; `vectorize` uses it to find whether a call on vectors would be split into calls of
//!   a library.
//! - **OP11 Accuracy.** `ulps` is the accuracy contract; 0 is exact, 0.5 rounded to nearest.
//! - **OP12 C.** `c_names` are C's functions for the op: `lower_intrinsics` calls them, and the
//!   interpreter accepts them as the op.
//! - **OP13 Text.** `form` is how a script writes a call, `dtype_keyword` how a keyword `dtype` of
//!   TVM's functions is treated. Used by the printer and the script's reader.
//!
//! # Code of its own
//!
//! The meaning of an op is in the interpreter (`kernels.rs` for ops on lanes), its expansion in its
//! lowering (`lower_intrinsics/functions.rs` for functions of floats), its spelling in the
//! language's dialect. A new op that is lowered for every code generator needs a row here, its
//! meaning, its lowering, and tests; nothing else lists ops.

mod columns;
mod dot;
mod field;

use std::collections::HashMap;
use std::sync::LazyLock;

pub use columns::{
    Class, DTypeKeyword, Effect, Form, Gives, Lowering, OpInfo, OpParam, Signature, Takes, Threads,
};
pub use dot::DotProduct;
pub use field::StructField;

use columns::{named, positional};

use crate::build::Operand;
use crate::{DType, Expr};

/// The methods of [`Expr`] that call an op of a regular signature.
macro_rules! method {
    (Custom $op:ident $name:ident) => {};
    (FloatBinary $op:ident $name:ident) => {
        method! { binary $op $name }
    };
    (IntBinary $op:ident $name:ident) => {
        method! { binary $op $name }
    };
    (BitBinary $op:ident $name:ident) => {
        method! { binary $op $name }
    };
    (binary $op:ident $name:ident) => {
        impl Expr {
            #[doc = concat!("[`Op::", stringify!($op), "`], this one first.")]
            #[must_use]
            pub fn $name(&self, other: impl Operand) -> Self {
                Op::$op.call(vec![self.clone(), other.into_operand(self.dtype)], self.dtype)
            }
        }
    };
    (FloatTernary $op:ident $name:ident) => {
        impl Expr {
            #[doc = concat!("[`Op::", stringify!($op), "`], this one first.")]
            #[must_use]
            pub fn $name(&self, second: impl Operand, third: impl Operand) -> Self {
                let args =
                    vec![self.clone(), second.into_operand(self.dtype), third.into_operand(self.dtype)];
                Op::$op.call(args, self.dtype)
            }
        }
    };
    ($unary:ident $op:ident $name:ident) => {
        impl Expr {
            #[doc = concat!("[`Op::", stringify!($op), "`].")]
            #[must_use]
            pub fn $name(&self) -> Self {
                Op::$op.call(vec![self.clone()], self.dtype)
            }
        }
    };
}

macro_rules! ops {
    ($($(#[$doc:meta])* $op:ident = $name:ident $signature:ident $({ $($column:ident: $value:expr),* $(,)? })?;)*) => {
        /// An operator that is called by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op { $($(#[$doc])* $op,)* }

        const ROWS: &[OpInfo] = &[$(OpInfo {
            $($($column: $value,)*)?
            ..OpInfo::new(&[stringify!($name)], Signature::$signature)
        },)*];

        impl Op {
            /// Every op, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$op,)*];
        }

        $(method! { $signature $op $name })*
    };
}

ops! {
    /// Arc cosine.
    Acos = acos FloatUnary { ulps: 4.0 };
    /// Inverse hyperbolic cosine.
    Acosh = acosh FloatUnary { ulps: 4.0 };
    /// Arc sine.
    Asin = asin FloatUnary { ulps: 4.0 };
    /// Inverse hyperbolic sine.
    Asinh = asinh FloatUnary { ulps: 4.0 };
    /// Arc tangent.
    Atan = atan FloatUnary { ulps: 5.0 };
    /// Inverse hyperbolic tangent.
    Atanh = atanh FloatUnary { ulps: 5.0 };
    /// Least integral value not below.
    Ceil = ceil FloatUnary { is_rounding: true, cost: Some(3), lowering: Lowering::Core };
    /// Cosine.
    Cos = cos FloatUnary { ulps: 4.0 };
    /// Hyperbolic cosine.
    Cosh = cosh FloatUnary { ulps: 4.0 };
    /// Error function.
    Erf = erf FloatUnary { ulps: 16.0 };
    /// e to the power.
    Exp = exp FloatUnary { ulps: 3.0 };
    /// 10 to the power.
    Exp10 = exp10 FloatUnary { ulps: 3.0, c_names: &[] };
    /// 2 to the power.
    Exp2 = exp2 FloatUnary { ulps: 3.0 };
    /// Absolute value; of the least integer, itself.
    Abs = abs NumberUnary { cost: Some(1), c_names: &["fabs"], aliases: &["fabs"] };
    /// Greatest integral value not above.
    Floor = floor FloatUnary { is_rounding: true, cost: Some(3), lowering: Lowering::Core };
    /// Natural logarithm.
    Log = log FloatUnary { ulps: 3.0 };
    /// Decimal logarithm.
    Log10 = log10 FloatUnary { ulps: 3.0 };
    /// Natural logarithm of one more.
    Log1p = log1p FloatUnary { ulps: 2.0 };
    /// Binary logarithm.
    Log2 = log2 FloatUnary { ulps: 3.0 };
    /// Nearest integral value, halves to even.
    Nearbyint = nearbyint FloatUnary {
        is_rounding: true, cost: Some(3), lowering: Lowering::Core, c_names: &["nearbyint", "rint"],
    };
    /// Nearest integral value, halves to even (as TVM's numbers have it; the same as `nearbyint`).
    Round = round FloatUnary { is_rounding: true, cost: Some(3), lowering: Lowering::Arithmetic, c_names: &[] };
    /// One over the square root.
    Rsqrt = rsqrt FloatUnary { lowering: Lowering::Arithmetic, ulps: 2.0, c_names: &[] };
    /// 1 / (1 + exp(-x)).
    Sigmoid = sigmoid FloatUnary { lowering: Lowering::Arithmetic, ulps: 6.0, c_names: &[] };
    /// Sine.
    Sin = sin FloatUnary { ulps: 4.0 };
    /// Hyperbolic sine.
    Sinh = sinh FloatUnary { ulps: 4.0 };
    /// Square root.
    Sqrt = sqrt FloatUnary { lowering: Lowering::Core, ulps: 0.5 };
    /// Tangent.
    Tan = tan FloatUnary { ulps: 5.0 };
    /// Hyperbolic tangent.
    Tanh = tanh FloatUnary { ulps: 5.0 };
    /// Integral part.
    Trunc = trunc FloatUnary { is_rounding: true, cost: Some(3), lowering: Lowering::Core };
    /// Angle of the point (second, first).
    Atan2 = atan2 FloatBinary { ulps: 6.0 };
    /// Magnitude of the first with the sign of the second.
    Copysign = copysign FloatBinary { cost: Some(1), lowering: Lowering::Core };
    /// Remainder of the division, with the sign of the first.
    Fmod = fmod FloatBinary;
    /// Square root of the sum of squares.
    Hypot = hypot FloatBinary { ulps: 4.0 };
    /// First times 2 to the power of the second (an int32).
    Ldexp = ldexp Custom {
        params: &[named("x1", Takes::Float), named("x2", Takes::LanesOf(0, DType::INT32))],
        expects: "a float, and an int32 of as many lanes", lowering: Lowering::Function, c_names: &["ldexp"],
    };
    /// The next value from the first towards the second.
    Nextafter = nextafter FloatBinary { lowering: Lowering::Arithmetic };
    /// First to the power of the second.
    Pow = pow FloatBinary { ulps: 16.0, aliases: &["power"] };
    /// First times second plus third, rounded once (of halves, once to float32 and once more, as
    /// IR-N6 states). Three floats of one type.
    Fma = fma FloatTernary { cost: Some(2), ulps: 0.5 };
    /// True for a NaN.
    Isnan = isnan FloatTest { cost: Some(2) };
    /// True for an infinity.
    Isinf = isinf FloatTest { cost: Some(2) };
    /// True for a finite value.
    Isfinite = isfinite FloatTest { cost: Some(2) };
    /// Number of leading zero bits; of 0, the width. The result is int32.
    Clz = clz IntCount { cost: Some(3) };
    /// Number of one bits.
    Popcount = popcount IntUnary { cost: Some(3), lowering: Lowering::Arithmetic };
    /// Bitwise and. Also of booleans.
    BitwiseAnd = bitwise_and BitBinary { cost: Some(1), form: Form::Infix("&") };
    /// Bitwise or. Also of booleans.
    BitwiseOr = bitwise_or BitBinary { cost: Some(1), form: Form::Infix("|") };
    /// Bitwise exclusive or. Also of booleans.
    BitwiseXor = bitwise_xor BitBinary { cost: Some(1), form: Form::Infix("^") };
    /// Bitwise complement.
    BitwiseNot = bitwise_not IntUnary { cost: Some(1) };
    /// First shifted left by the second, taken modulo the width.
    ShiftLeft = shift_left IntBinary { cost: Some(1), form: Form::Infix("<<") };
    /// First shifted right by the second, taken modulo the width; the sign is kept.
    ShiftRight = shift_right IntBinary { cost: Some(1), form: Form::Infix(">>") };
    /// (condition, then, otherwise): evaluates one branch only; the condition is a scalar boolean.
    IfThenElse = if_then_else Custom {
        params: &[
            named("cond", Takes::Exactly(DType::BOOL)),
            named("t", Takes::Any),
            named("f", Takes::Like(1)),
        ],
        expects: "a scalar boolean and two values of one type", gives: Gives::Like(1), is_elementwise: true,
        cost: Some(1), form: Form::FullNameOfHandles,
    };
    /// Its boolean argument, which is most often true.
    Likely = likely Custom {
        params: &[named("cond", Takes::Bool)], expects: "a boolean", is_elementwise: true, cost: Some(1),
    };
    /// The bits of the argument read as the call's own type, of equal size.
    Reinterpret = reinterpret Custom {
        params: &[named("value", Takes::Any)], expects: "a value of as many bits, no boolean",
        gives: Gives::Stated, is_elementwise: true, cost: Some(1), form: Form::TypeFirst,
        dtype_keyword: DTypeKeyword::First,
    };
    /// True when the handle is null.
    Isnullptr = isnullptr Custom {
        params: &[named("var", Takes::Handle)], expects: "a handle", gives: Gives::Exactly(DType::BOOL),
        class: Class::Pointer, cost: Some(1),
    };
    /// The address of its argument, a buffer load.
    AddressOf = address_of Custom {
        params: &[named("obj", Takes::Any)], expects: "a handle", gives: Gives::Exactly(DType::HANDLE),
        class: Class::Pointer,
    };
    /// The handle, moved by an int64 number of bytes.
    HandleAddByteOffset = handle_add_byte_offset Custom {
        params: &[named("handle", Takes::Handle), named("offset", Takes::Index)],
        expects: "a handle and an int32 or int64", gives: Gives::Exactly(DType::HANDLE), class: Class::Pointer,
    };
    /// (handle, index, field): a field of the `index`-th DLTensor or Any at `handle`; fields are
    /// [`StructField`].
    StructGet = tvm_struct_get Custom {
        params: &[
            named("arr", Takes::Handle),
            named("index", Takes::Exactly(DType::INT32)),
            named("field", Takes::Integer),
        ],
        expects: "a handle, an int32 and a field", gives: Gives::Stated, effect: Effect::Reads,
        class: Class::Struct, form: Form::TypeLast, dtype_keyword: DTypeKeyword::Refused,
    };
    /// (handle, index, field, value): sets such a field.
    StructSet = tvm_struct_set Custom {
        params: &[
            named("arr", Takes::Handle),
            named("index", Takes::Exactly(DType::INT32)),
            named("field", Takes::Integer),
            named("value", Takes::Scalar),
        ],
        expects: "a handle, an int32, a field and a scalar", gives: Gives::Nothing, effect: Effect::Writes,
        class: Class::Struct,
    };
    /// (handle, offset_bytes: a constant int64): the value of the call's own type that lies so many
    /// bytes after the handle, whatever its alignment.
    HandleLoad = handle_load Custom {
        params: &[named("handle", Takes::Handle), named("offset", Takes::Constant(DType::INT64))],
        expects: "a handle and a constant int64", gives: Gives::Stated, effect: Effect::Reads,
        class: Class::Pointer, form: Form::TypeFirst, dtype_keyword: DTypeKeyword::Refused,
    };
    /// (device_type, device_id, size_bytes: uint64) -> handle, null with an error raised.
    AllocateWorkspace = TVMBackendAllocWorkspace Custom {
        params: &[
            positional(Takes::Exactly(DType::INT32)),
            positional(Takes::Exactly(DType::INT32)),
            positional(Takes::Exactly(DType::UINT64)),
        ],
        rest: Some(Takes::Exactly(DType::INT32)), expects: "device_type, device_id, uint64 bytes",
        gives: Gives::Exactly(DType::HANDLE), effect: Effect::Writes, class: Class::Workspace,
    };
    /// (device_type, device_id, data) -> int32, non-zero with an error raised.
    FreeWorkspace = TVMBackendFreeWorkspace Custom {
        params: &[
            named("device_type", Takes::Exactly(DType::INT32)),
            named("device_id", Takes::Exactly(DType::INT32)),
            named("ptr", Takes::Handle),
        ],
        expects: "two int32 and a handle", gives: Gives::Exactly(DType::INT32), effect: Effect::Writes,
        class: Class::Workspace,
    };
    /// Returns from the function with the error that was raised.
    ThrowLastError = tvm_throw_last_error Custom {
        gives: Gives::Nothing, effect: Effect::Writes, class: Class::Exit,
    };
    /// (name, arguments...): calls a function of an imported module, or one that is registered in
    /// the host, by the packed convention. Arguments are integers, floats, pointers, strings and
    /// tensors ([`Op::StackMakeArray`]).
    CallPacked = tvm_call_packed Custom {
        params: &[positional(Takes::Text)], rest: Some(Takes::Scalar), expects: "a name, and scalars",
        gives: Gives::Exactly(DType::INT32), effect: Effect::Writes, class: Class::Call,
        aliases: &["call_packed"],
    };
    /// (scope): a barrier of the threads of a block (`shared`, `shared.dyn`) or of a warp (`warp`).
    StorageSync = tvm_storage_sync Custom {
        params: &[named("storage_scope", Takes::Text)],
        expects: "one of \"shared\", \"shared.dyn\", \"warp\", \"global\"", gives: Gives::Nothing,
        effect: Effect::Writes, class: Class::Thread, threads: Threads::Barrier,
        dtype_keyword: DTypeKeyword::Refused,
    };
    /// (x, y, q, s), int32 of as many lanes, q and s scalar: in int64, x shifted left by s when
    /// that is positive, times y, rounded half up to a multiple of 2^r and shifted right by r,
    /// where r is q, less s when that is negative.
    QMultiplyShift = q_multiply_shift Custom {
        params: &[
            named("x", Takes::Lanes(DType::INT32)),
            named("y", Takes::Like(0)),
            named("q", Takes::Exactly(DType::INT32)),
            named("s", Takes::Exactly(DType::INT32)),
        ],
        expects: "two int32 of as many lanes, and two int32", is_elementwise: true,
        lowering: Lowering::Arithmetic, form: Form::FullNameUnlessInt32,
    };
    /// (x, y, ls, rs, q, is_lshift_required, is_rshift_required): as [`Op::QMultiplyShift`],
    /// shifted left by ls if the first flag is set, and right by q, and by rs if the second is set.
    /// Int32 of as many lanes, flags and q scalar.
    QMultiplyShiftPerAxis = q_multiply_shift_per_axis Custom {
        params: &[
            named("x", Takes::Lanes(DType::INT32)),
            named("y", Takes::Like(0)),
            named("ls", Takes::Like(0)),
            named("rs", Takes::Like(0)),
            named("q", Takes::Exactly(DType::INT32)),
            named("is_lshift_required", Takes::Constant(DType::INT32)),
            named("is_rshift_required", Takes::Constant(DType::INT32)),
        ],
        expects: "four int32 of as many lanes, an int32, and two constant int32", is_elementwise: true,
        lowering: Lowering::Arithmetic, form: Form::FullNameUnlessInt32,
    };
    /// (a, b, sum): four int8 (uint8) times four, added to an int32 (uint32).
    Dp4a = dp4a Custom {
        params: &[positional(Takes::Any), positional(Takes::Like(0)), positional(Takes::Any)],
        expects: "two int8x4 and an int32, or two uint8x4 and a uint32", gives: Gives::Like(2),
        lowering: Lowering::Arithmetic, form: Form::FullNameUnlessInt32, dtype_keyword: DTypeKeyword::First,
    };
    /// (c, a, b): an int32 or a float32 of L lanes, and two vectors of G·L lanes; lane l is c\[l\]
    /// plus the sum of the products a\[G·l + t\]·b\[G·l + t\] for t below G. The types, and G, are
    /// those of [`DotProduct::ALL`]. Of integers the result is exact, modulo 2^32. Of floats,
    /// products and sums may be fused, made in any order and rounded in any direction, and
    /// subnormal operands and results may be 0: the result is off by at most 4·2^-23 of |c| +
    /// |p0| + |p1|, by 2^-124, and by the products of subnormal operands; where |c| + |p0| + |p1|
    /// exceeds the greatest float32, it may be anything.
    DotAdd = dot_add Custom {
        params: &[named("c", Takes::Number), named("a", Takes::Number), named("b", Takes::Number)],
        expects: "a sum and two vectors of as many groups: an int32 and groups of four uint8 and int8, two int8 or two \
                  uint8, or of two int16, or a float32 and groups of two bfloat16 or two float16",
        lowering: Lowering::Arithmetic,
    };
    /// Its argument, which is the same for every thread of a block *(run)*.
    ThreadInvariant = tvm_thread_invariant Custom {
        params: &[named("cond", Takes::Value)], expects: "a number or a boolean", is_elementwise: true,
        lowering: Lowering::Arithmetic, form: Form::TypedConstant,
    };
    /// A boolean that is true *(run)*, for optimisers.
    Assume = assume Custom {
        params: &[named("cond", Takes::Exactly(DType::BOOL))], expects: "a scalar boolean",
        gives: Gives::Nothing, effect: Effect::Writes, class: Class::Note, lowering: Lowering::Earlier,
    };
    /// (zero of the element's type, data, offset, extent, rw_mask): the pointer `offset` elements
    /// after `data`, for `extent` elements that are read (bit 0 of the constant mask) or written
    /// (bit 1).
    AccessPtr = tvm_access_ptr Custom {
        params: &[
            named("ptype", Takes::Zero),
            named("data", Takes::Handle),
            named("offset", Takes::Index),
            named("extent", Takes::Index),
            named("rw_mask", Takes::Constant(DType::INT32)),
        ],
        expects: "a zero of the element's type, a pointer, two int32 or int64, and a mask of 1, 2 or 3",
        gives: Gives::Exactly(DType::HANDLE), class: Class::Pointer, lowering: Lowering::Arithmetic,
        form: Form::TypeAnnotation,
    };
    /// Ends the thread that runs.
    ThreadReturn = thread_return Custom {
        gives: Gives::Nothing, effect: Effect::Writes, class: Class::Thread, threads: Threads::Exit,
    };
    /// (address, value): adds to the element that an address points to, in one step, and gives its
    /// previous value.
    AtomicAdd = atomic_add Custom {
        params: &[named("address", Takes::Handle), named("value", Takes::Scalar)],
        expects: "an address, and an integer of 32 or 64 bits, a float16, a float32 or a float64",
        gives: Gives::Like(1), effect: Effect::Writes, class: Class::Thread, device_name: Some("atomic_add"),
        form: Form::FullName, dtype_keyword: DTypeKeyword::Refused,
    };
    /// The lanes of the warp that run this call together, as the bits of a uint32.
    WarpActivemask = tvm_warp_activemask Custom {
        gives: Gives::Exactly(DType::UINT32), effect: Effect::Writes, class: Class::Thread,
        threads: Threads::ActiveMask, lowering: Lowering::Native, device_name: Some("__activemask"),
        dtype_keyword: DTypeKeyword::Refused,
    };
    /// (mask: uint32, value, lane, width, warp_size): the value of that lane of the caller's group
    /// of `width` lanes.
    WarpShuffle = tvm_warp_shuffle Custom {
        params: &[
            named("mask", Takes::Exactly(DType::UINT32)),
            named("value", Takes::Value),
            named("warp_id", Takes::Exactly(DType::INT32)),
            named("width", Takes::Constant(DType::INT32)),
            named("warp_size", Takes::Constant(DType::INT32)),
        ],
        expects: "a uint32 mask, a value, an int32 lane, and width and warp size: powers of two up to 64",
        gives: Gives::Like(1), effect: Effect::Writes, class: Class::Thread, threads: Threads::Shuffle,
        lowering: Lowering::Native, device_name: Some("__shfl_sync"), dtype_keyword: DTypeKeyword::Refused,
    };
    /// (mask, value, delta, width, warp_size): the value of the lane `delta` below, its own where
    /// the group has none.
    WarpShuffleUp = tvm_warp_shuffle_up Custom {
        params: &[
            named("mask", Takes::Exactly(DType::UINT32)),
            named("value", Takes::Value),
            named("offset", Takes::Exactly(DType::INT32)),
            named("width", Takes::Constant(DType::INT32)),
            named("warp_size", Takes::Constant(DType::INT32)),
        ],
        expects: "a uint32 mask, a value, an int32 lane, and width and warp size: powers of two up to 64",
        gives: Gives::Like(1), effect: Effect::Writes, class: Class::Thread, threads: Threads::Shuffle,
        lowering: Lowering::Native, device_name: Some("__shfl_up_sync"), dtype_keyword: DTypeKeyword::Refused,
    };
    /// (mask, value, delta, width, warp_size): the value of the lane `delta` above, its own where
    /// the group has none.
    WarpShuffleDown = tvm_warp_shuffle_down Custom {
        params: &[
            named("mask", Takes::Exactly(DType::UINT32)),
            named("value", Takes::Value),
            named("offset", Takes::Exactly(DType::INT32)),
            named("width", Takes::Constant(DType::INT32)),
            named("warp_size", Takes::Constant(DType::INT32)),
        ],
        expects: "a uint32 mask, a value, an int32 lane, and width and warp size: powers of two up to 64",
        gives: Gives::Like(1), effect: Effect::Writes, class: Class::Thread, threads: Threads::Shuffle,
        lowering: Lowering::Native, device_name: Some("__shfl_down_sync"), dtype_keyword: DTypeKeyword::Refused,
    };
    /// (mask, value, lane_mask, width, warp_size): the value of the lane whose number differs by
    /// exclusive or.
    WarpShuffleXor = tvm_warp_shuffle_xor Custom {
        params: &[
            named("mask", Takes::Exactly(DType::UINT32)),
            named("value", Takes::Value),
            named("lane_mask", Takes::Exactly(DType::INT32)),
            named("width", Takes::Constant(DType::INT32)),
            named("warp_size", Takes::Constant(DType::INT32)),
        ],
        expects: "a uint32 mask, a value, an int32 lane, and width and warp size: powers of two up to 64",
        gives: Gives::Like(1), effect: Effect::Writes, class: Class::Thread, threads: Threads::Shuffle,
        lowering: Lowering::Native, device_name: Some("__shfl_xor_sync"), dtype_keyword: DTypeKeyword::Refused,
    };
    /// (n: uint32, n values, condition, n loads, thread indices…), within an
    /// [`AttrNode::Reducer`](crate::AttrNode): combines the values of all threads of those axes
    /// whose condition holds, and stores the result in the elements that the loads name, for each
    /// thread.
    ThreadAllreduce = tvm_thread_allreduce Custom {
        params: &[positional(Takes::Constant(DType::UINT32))], rest: Some(Takes::Any),
        expects: "the number of values, the values, a condition, their elements, thread indices",
        gives: Gives::Nothing, effect: Effect::Writes, class: Class::Thread, threads: Threads::Reduction,
        lowering: Lowering::Earlier,
    };
    /// (body, data, tasks_max: int32) -> int32: runs `body(task_id, tasks_count, data)`, a function
    /// of the module (int32, int32, handle) -> int32, for each task id below a count of 1 to
    /// `tasks_max` (0: as many as there are threads), in any order and at once, and gives 0 if all
    /// succeed; -1 with an error raised if one of them gives that. Only at
    /// [`Stage::Host`](crate::Stage::Host).
    ParallelLaunch = TVMBackendParallelLaunch Custom {
        params: &[
            named("body", Takes::FunctionName),
            named("data", Takes::Handle),
            named("tasks_max", Takes::Exactly(DType::INT32)),
        ],
        expects: "a name, a handle and an int32", gives: Gives::Exactly(DType::INT32), effect: Effect::Writes,
        class: Class::Call, dtype_keyword: DTypeKeyword::Refused,
    };
    /// (extents...): the extents or strides of an [`Op::StackMakeArray`], the only place for it.
    StackMakeShape = tvm_stack_make_shape Custom {
        rest: Some(Takes::Index), expects: "extents, each an int32 or int64",
        gives: Gives::Exactly(DType::HANDLE), class: Class::Call,
    };
    /// (data, shape, strides, axes_count, zero of the element's type, elem_offset): a tensor for
    /// the called function, an argument of [`Op::CallPacked`], the only place for it. `shape` is a
    /// [`Op::StackMakeShape`] of `axes_count` extents; `strides` is one too, or 0 for a compact
    /// tensor; `elem_offset` counts elements. It lives until the call returns.
    StackMakeArray = tvm_stack_make_array Custom {
        params: &[
            positional(Takes::Handle),
            positional(Takes::Any),
            positional(Takes::Any),
            positional(Takes::Constant(DType::INT32)),
            positional(Takes::Zero),
            positional(Takes::Index),
        ],
        expects: "a pointer, a shape of as many extents as the constant number of axes says, strides like it or 0, a zero of the \
            element's type, and an int32 or int64",
        gives: Gives::Exactly(DType::HANDLE), class: Class::Call,
    };
}

impl Op {
    /// Returns the op's row of the table.
    #[must_use]
    pub const fn info(self) -> &'static OpInfo {
        &ROWS[self as usize]
    }

    /// Lists the ops whose row satisfies the condition, in the order of the table.
    ///
    /// ```
    /// use chipdock_ir::{Op, op::Threads};
    /// let shuffles: Vec<Op> = Op::all_where(|op| op.threads == Threads::Shuffle).collect();
    /// assert_eq!(shuffles.len(), 4);
    /// ```
    pub fn all_where(is_such: impl Fn(&OpInfo) -> bool) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |op| is_such(op.info()))
    }

    /// Returns the op's name, as in `T.<name>`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the shape of the op's signature.
    #[must_use]
    pub const fn signature(self) -> Signature {
        self.info().signature
    }

    /// Returns the number of arguments: the least number, if any number may follow.
    #[must_use]
    pub const fn arity(self) -> usize {
        self.info().params.len()
    }

    /// Returns true if the op takes so many arguments.
    #[must_use]
    pub const fn takes_count(self, count: usize) -> bool {
        count == self.arity() || count > self.arity() && self.info().rest.is_some()
    }

    /// Returns the effect of a call besides its value.
    #[must_use]
    pub const fn effect(self) -> Effect {
        self.info().effect
    }

    /// Returns the threads that a call concerns.
    #[must_use]
    pub const fn threads(self) -> Threads {
        self.info().threads
    }

    /// Returns true if the first argument may be of that type.
    #[must_use]
    pub fn takes_first(self, dtype: DType) -> bool {
        self.info().takes(0).is_some_and(|takes| takes.admits_type(dtype))
    }

    /// Returns the op of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        static NAMES: LazyLock<HashMap<&str, Op>> =
            LazyLock::new(|| Op::ALL.iter().map(|op| (op.name(), *op)).collect());
        NAMES.get(name).copied()
    }

    /// Returns the op that a C function computes; `fabsf` is the one of `fabs`.
    ///
    /// ```
    /// use chipdock_ir::Op;
    /// assert_eq!(Op::of_c_function("expf"), Some(Op::Exp));
    /// assert_eq!(Op::of_c_function("erf"), Some(Op::Erf));
    /// assert_eq!(Op::of_c_function("qsort"), None);
    /// ```
    #[must_use]
    pub fn of_c_function(name: &str) -> Option<Self> {
        let of = |name: &str| Self::all_where(|op| op.c_names.contains(&name)).next();
        of(name).or_else(|| of(name.strip_suffix('f')?))
    }

    /// Returns the type of a call with these arguments; `None` if the call states it
    /// ([`Gives::Stated`]), or if an argument that determines it is missing. A call that is made
    /// for its effect has [`DType::HANDLE`].
    #[must_use]
    pub fn result_dtype(self, args: &[Expr]) -> Option<DType> {
        let arg = |index: usize| args.get(index).map(|arg| arg.dtype);
        match self.info().gives {
            Gives::Like(index) => arg(index),
            Gives::LanesOf(index, dtype) => Some(dtype.with_lanes(arg(index)?.lanes)),
            Gives::Exactly(dtype) => Some(dtype),
            Gives::Nothing => Some(DType::HANDLE),
            Gives::Stated => None,
        }
    }

    /// Makes a call of the type that the arguments imply, or else of `dtype`.
    fn call(self, args: Vec<Expr>, dtype: DType) -> Expr {
        let dtype = self.result_dtype(&args).unwrap_or(dtype);
        Expr::call(self, args, dtype)
    }
}

#[cfg(test)]
mod tests;
