//! Operators that are called by name, as one table: name, shape of the signature, effect.

use crate::{DType, Expr};

/// What the arguments and the result of an op are; [`crate::validate`] holds calls to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// One float; the result has its type.
    FloatUnary,
    /// Two floats of one type; the result has it.
    FloatBinary,
    /// One float; the result is boolean of as many lanes.
    FloatTest,
    /// One integer; the result has its type.
    IntUnary,
    /// Two integers of one type; the result has it.
    IntBinary,
    /// One integer or float; the result has its type.
    NumberUnary,
    /// A rule of its own, stated at the op.
    Own,
}

/// What a call does besides giving a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it may be moved, repeated or dropped.
    Pure,
    /// It reads state that others write.
    Reads,
    /// It changes state.
    Writes,
}

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $text:literal $signature:ident $arity:literal $effect:ident;)*) => {
        /// An operator that is called by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op { $($(#[$doc])* $name,)* }

        impl Op {
            /// Every op.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name, as in `T.<name>`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The shape of its signature.
            #[must_use]
            pub const fn signature(self) -> Signature {
                match self { $(Self::$name => Signature::$signature,)* }
            }

            /// How many arguments it takes; 255 means any number.
            #[must_use]
            pub const fn arity(self) -> usize {
                match self { $(Self::$name => $arity,)* }
            }

            /// What it does besides giving a value.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$name => Effect::$effect,)* }
            }

            /// The op of that name.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

ops! {
    /// Arc cosine.
    Acos = "acos" FloatUnary 1 Pure;
    /// Inverse hyperbolic cosine.
    Acosh = "acosh" FloatUnary 1 Pure;
    /// Arc sine.
    Asin = "asin" FloatUnary 1 Pure;
    /// Inverse hyperbolic sine.
    Asinh = "asinh" FloatUnary 1 Pure;
    /// Arc tangent.
    Atan = "atan" FloatUnary 1 Pure;
    /// Inverse hyperbolic tangent.
    Atanh = "atanh" FloatUnary 1 Pure;
    /// Least integral value not below.
    Ceil = "ceil" FloatUnary 1 Pure;
    /// Cosine.
    Cos = "cos" FloatUnary 1 Pure;
    /// Hyperbolic cosine.
    Cosh = "cosh" FloatUnary 1 Pure;
    /// Error function.
    Erf = "erf" FloatUnary 1 Pure;
    /// e to the power.
    Exp = "exp" FloatUnary 1 Pure;
    /// 10 to the power.
    Exp10 = "exp10" FloatUnary 1 Pure;
    /// 2 to the power.
    Exp2 = "exp2" FloatUnary 1 Pure;
    /// Absolute value; of the least integer, itself.
    Abs = "abs" NumberUnary 1 Pure;
    /// Greatest integral value not above.
    Floor = "floor" FloatUnary 1 Pure;
    /// Natural logarithm.
    Log = "log" FloatUnary 1 Pure;
    /// Decimal logarithm.
    Log10 = "log10" FloatUnary 1 Pure;
    /// Natural logarithm of one more.
    Log1p = "log1p" FloatUnary 1 Pure;
    /// Binary logarithm.
    Log2 = "log2" FloatUnary 1 Pure;
    /// Nearest integral value, halves to even.
    Nearbyint = "nearbyint" FloatUnary 1 Pure;
    /// Nearest integral value, halves to even (as TVM's numbers have it; the same as `nearbyint`).
    Round = "round" FloatUnary 1 Pure;
    /// One over the square root.
    Rsqrt = "rsqrt" FloatUnary 1 Pure;
    /// 1 / (1 + exp(-x)).
    Sigmoid = "sigmoid" FloatUnary 1 Pure;
    /// Sine.
    Sin = "sin" FloatUnary 1 Pure;
    /// Hyperbolic sine.
    Sinh = "sinh" FloatUnary 1 Pure;
    /// Square root.
    Sqrt = "sqrt" FloatUnary 1 Pure;
    /// Tangent.
    Tan = "tan" FloatUnary 1 Pure;
    /// Hyperbolic tangent.
    Tanh = "tanh" FloatUnary 1 Pure;
    /// Integral part.
    Trunc = "trunc" FloatUnary 1 Pure;
    /// Angle of the point (second, first).
    Atan2 = "atan2" FloatBinary 2 Pure;
    /// Magnitude of the first with the sign of the second.
    Copysign = "copysign" FloatBinary 2 Pure;
    /// Remainder of the division, with the sign of the first.
    Fmod = "fmod" FloatBinary 2 Pure;
    /// Square root of the sum of squares.
    Hypot = "hypot" FloatBinary 2 Pure;
    /// First times 2 to the power of the second (an int32).
    Ldexp = "ldexp" Own 2 Pure;
    /// The next value from the first towards the second.
    Nextafter = "nextafter" FloatBinary 2 Pure;
    /// First to the power of the second.
    Pow = "pow" FloatBinary 2 Pure;
    /// First times second plus third, rounded once (of halves, once to float32 and once more, as N6 has it). Three floats of
    /// one type.
    Fma = "fma" Own 3 Pure;
    /// True for a NaN.
    Isnan = "isnan" FloatTest 1 Pure;
    /// True for an infinity.
    Isinf = "isinf" FloatTest 1 Pure;
    /// True for what is neither.
    Isfinite = "isfinite" FloatTest 1 Pure;
    /// Number of leading zero bits; of 0, the width. The result is int32.
    Clz = "clz" Own 1 Pure;
    /// Number of one bits.
    Popcount = "popcount" IntUnary 1 Pure;
    /// Bitwise and. Also of booleans.
    BitwiseAnd = "bitwise_and" IntBinary 2 Pure;
    /// Bitwise or. Also of booleans.
    BitwiseOr = "bitwise_or" IntBinary 2 Pure;
    /// Bitwise exclusive or. Also of booleans.
    BitwiseXor = "bitwise_xor" IntBinary 2 Pure;
    /// Bitwise complement.
    BitwiseNot = "bitwise_not" IntUnary 1 Pure;
    /// First shifted left by the second, taken modulo the width.
    ShiftLeft = "shift_left" IntBinary 2 Pure;
    /// First shifted right by the second, taken modulo the width; the sign is kept.
    ShiftRight = "shift_right" IntBinary 2 Pure;
    /// (condition, then, otherwise): evaluates one branch only; the condition is a scalar boolean.
    IfThenElse = "if_then_else" Own 3 Pure;
    /// Its boolean argument, which is most often true.
    Likely = "likely" Own 1 Pure;
    /// The bits of the argument read as the call's own type, of equal size.
    Reinterpret = "reinterpret" Own 1 Pure;
    /// True when the handle is null.
    Isnullptr = "isnullptr" Own 1 Pure;
    /// The address of its argument, a buffer load.
    AddressOf = "address_of" Own 1 Pure;
    /// The handle, moved by an int64 number of bytes.
    HandleAddByteOffset = "handle_add_byte_offset" Own 2 Pure;
    /// (handle, index, field): a field of the `index`-th DLTensor or Any behind `handle`; fields are [`StructField`].
    StructGet = "tvm_struct_get" Own 3 Reads;
    /// (handle, index, field, value): sets such a field.
    StructSet = "tvm_struct_set" Own 4 Writes;
    /// (handle, offset_bytes: a constant int64): the value of the call's own type that lies so many bytes behind the
    /// handle, whatever its alignment.
    HandleLoad = "handle_load" Own 2 Reads;
    /// (device_type, device_id, size_bytes: uint64) -> handle, null with an error raised.
    AllocateWorkspace = "TVMBackendAllocWorkspace" Own 255 Writes;
    /// (device_type, device_id, data) -> int32, non-zero with an error raised.
    FreeWorkspace = "TVMBackendFreeWorkspace" Own 3 Writes;
    /// Returns from the function with the error that was raised.
    ThrowLastError = "tvm_throw_last_error" Own 0 Writes;
    /// (name, arguments...): calls a function of an imported module, or one that is registered in the host, by the packed
    /// convention. Arguments are integers, floats, pointers, strings and tensors ([`Op::StackMakeArray`]).
    CallPacked = "tvm_call_packed" Own 255 Writes;
    /// (scope): a barrier of the threads of a block (`shared`, `shared.dyn`) or of a warp (`warp`).
    StorageSync = "tvm_storage_sync" Own 1 Writes;
    /// (x, y, q, s), int32 of as many lanes, q and s scalar: in int64, x shifted left by s when that is positive, times y,
    /// rounded half up to a multiple of 2^r and shifted right by r, where r is q, less s when that is negative.
    QMultiplyShift = "q_multiply_shift" Own 4 Pure;
    /// (x, y, ls, rs, q, is_lshift_required, is_rshift_required): as [`Op::QMultiplyShift`], shifted left by ls if the
    /// first flag is set, and right by q, and by rs if the second is set. Int32 of as many lanes, flags and q scalar.
    QMultiplyShiftPerAxis = "q_multiply_shift_per_axis" Own 7 Pure;
    /// (a, b, sum): four int8 (uint8) times four, added to an int32 (uint32).
    Dp4a = "dp4a" Own 3 Pure;
    /// Its argument, which is the same for every thread of a block *(run)*.
    ThreadInvariant = "tvm_thread_invariant" Own 1 Pure;
    /// A boolean that is true *(run)*, for optimisers.
    Assume = "assume" Own 1 Writes;
    /// (zero of the element's type, data, offset, extent, rw_mask): the pointer `offset` elements behind `data`, for
    /// `extent` elements that are read (bit 0 of the constant mask) or written (bit 1).
    AccessPtr = "tvm_access_ptr" Own 5 Pure;
    /// Ends the thread that runs.
    ThreadReturn = "thread_return" Own 0 Writes;
    /// (address, value): adds to the element that an address points to, in one step, and gives what it held.
    AtomicAdd = "atomic_add" Own 2 Writes;
    /// The lanes of the warp that run this call together, as the bits of a uint32.
    WarpActivemask = "tvm_warp_activemask" Own 0 Writes;
    /// (mask: uint32, value, lane, width, warp_size): the value of that lane of the caller's group of `width` lanes.
    WarpShuffle = "tvm_warp_shuffle" Own 5 Writes;
    /// (mask, value, delta, width, warp_size): the value of the lane `delta` below, its own where the group has none.
    WarpShuffleUp = "tvm_warp_shuffle_up" Own 5 Writes;
    /// (mask, value, delta, width, warp_size): the value of the lane `delta` above, its own where the group has none.
    WarpShuffleDown = "tvm_warp_shuffle_down" Own 5 Writes;
    /// (mask, value, lane_mask, width, warp_size): the value of the lane whose number differs by exclusive or.
    WarpShuffleXor = "tvm_warp_shuffle_xor" Own 5 Writes;
    /// (n: uint32, n values, condition, n loads, thread indices…), within an [`AttrNode::Reducer`](crate::AttrNode):
    /// combines the values of all threads of those axes whose condition holds, and stores the result in the elements
    /// that the loads name, for each thread.
    ThreadAllreduce = "tvm_thread_allreduce" Own 255 Writes;
    /// (body, data, tasks_max: int32) -> int32: runs `body(task_id, tasks_count, data)`, a function of the module
    /// (int32, int32, handle) -> int32, for each task id below a count of 1 to `tasks_max` (0: as many as there are
    /// threads), in any order and at once, and gives 0 when all are done; -1 with an error raised where one of them gave
    /// that. [`Stage::Host`](crate::Stage::Host) alone.
    ParallelLaunch = "TVMBackendParallelLaunch" Own 3 Writes;
    /// (extents...): the extents or strides of an [`Op::StackMakeArray`], where alone it stands.
    StackMakeShape = "tvm_stack_make_shape" Own 255 Pure;
    /// (data, shape, strides, axes_count, zero of the element's type, elem_offset): a tensor for the called function, an
    /// argument of [`Op::CallPacked`], where alone it stands. `shape` is a [`Op::StackMakeShape`] of `axes_count` extents;
    /// `strides` is one too, or 0 for a compact tensor; `elem_offset` counts elements. It lives until the call returns.
    StackMakeArray = "tvm_stack_make_array" Own 6 Pure;
}

impl Op {
    /// The type of a call with these arguments; `None` where the caller says it ([`Op::Reinterpret`],
    /// [`Op::StructGet`], [`Op::HandleLoad`]), or where an argument that would tell is missing. Calls made for their effect have
    /// [`DType::HANDLE`].
    #[must_use]
    pub fn result_dtype(self, args: &[Expr]) -> Option<DType> {
        let arg = |index: usize| args.get(index).map(|arg| arg.dtype);
        match self.signature() {
            Signature::FloatTest => Some(DType::BOOL.with_lanes(arg(0)?.lanes)),
            Signature::FloatUnary
            | Signature::FloatBinary
            | Signature::IntUnary
            | Signature::IntBinary
            | Signature::NumberUnary => arg(0),
            Signature::Own => match self {
                Self::Ldexp
                | Self::Fma
                | Self::Likely
                | Self::ThreadInvariant
                | Self::QMultiplyShift
                | Self::QMultiplyShiftPerAxis => arg(0),
                Self::WarpShuffle
                | Self::WarpShuffleUp
                | Self::WarpShuffleDown
                | Self::WarpShuffleXor
                | Self::AtomicAdd => arg(1),
                Self::Dp4a => arg(2),
                Self::WarpActivemask => Some(DType::UINT32),
                Self::Clz => Some(DType::INT32.with_lanes(arg(0)?.lanes)),
                Self::IfThenElse => arg(1),
                Self::Isnullptr => Some(DType::BOOL),
                Self::FreeWorkspace | Self::CallPacked | Self::ParallelLaunch => Some(DType::INT32),
                Self::AddressOf
                | Self::HandleAddByteOffset
                | Self::AllocateWorkspace
                | Self::StructSet
                | Self::ThrowLastError
                | Self::StorageSync
                | Self::Assume
                | Self::AccessPtr
                | Self::ThreadReturn
                | Self::ThreadAllreduce
                | Self::StackMakeShape
                | Self::StackMakeArray => Some(DType::HANDLE),
                _ => None,
            },
        }
    }
}

/// Field codes of [`Op::StructGet`] and [`Op::StructSet`], TVM's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs, reason = "the names are the fields")]
pub enum StructField {
    Address = 0,
    Data = 1,
    Shape = 2,
    Strides = 3,
    Ndim = 4,
    TypeCode = 5,
    TypeBits = 6,
    TypeLanes = 7,
    ByteOffset = 8,
    DeviceId = 9,
    DeviceType = 10,
    AnyTypeIndex = 13,
    AnyPadding = 14,
    AnyValue = 15,
    Int64Element = 17,
}

impl StructField {
    /// The field of that code.
    #[must_use]
    pub fn by_code(code: i128) -> Option<Self> {
        use StructField::*;
        const ALL: [StructField; 15] = [
            Address,
            Data,
            Shape,
            Strides,
            Ndim,
            TypeCode,
            TypeBits,
            TypeLanes,
            ByteOffset,
            DeviceId,
            DeviceType,
            AnyTypeIndex,
            AnyPadding,
            AnyValue,
            Int64Element,
        ];
        ALL.into_iter().find(|field| *field as i32 as i128 == code)
    }
}
