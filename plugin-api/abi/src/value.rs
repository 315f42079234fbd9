//! Values, which packed calls carry. Layouts are those of TVM-FFI.

use core::ffi::{c_char, c_void};

use crate::dlpack::{ChipdockDataType, ChipdockDevice, ChipdockTensor};

/// Type index: None.
pub const CHIPDOCK_TYPE_NONE: i32 = 0;
/// Type index: a 64-bit signed integer.
pub const CHIPDOCK_TYPE_INT: i32 = 1;
/// Type index: a boolean, stored as the integer 0 or 1.
pub const CHIPDOCK_TYPE_BOOL: i32 = 2;
/// Type index: a 64-bit float.
pub const CHIPDOCK_TYPE_FLOAT: i32 = 3;
/// Type index: a pointer without an owner.
pub const CHIPDOCK_TYPE_OPAQUE_PTR: i32 = 4;
/// Type index: an element type.
pub const CHIPDOCK_TYPE_DATA_TYPE: i32 = 5;
/// Type index: a device.
pub const CHIPDOCK_TYPE_DEVICE: i32 = 6;
/// Type index: a borrowed `ChipdockTensor`; only in views, never in an owned value.
pub const CHIPDOCK_TYPE_DLTENSOR_PTR: i32 = 7;
/// Type index: a borrowed NUL-terminated string; only in views.
pub const CHIPDOCK_TYPE_RAW_STR: i32 = 8;
/// Type index: a borrowed byte array; only in views.
pub const CHIPDOCK_TYPE_BYTE_ARRAY_PTR: i32 = 9;
/// Type index: an object that the callee may take.
pub const CHIPDOCK_TYPE_OBJECT_RVALUE_REF: i32 = 10;
/// Type index: a string of at most 7 bytes, stored in the value.
pub const CHIPDOCK_TYPE_SMALL_STR: i32 = 11;
/// Type index: at most 7 bytes, stored in the value.
pub const CHIPDOCK_TYPE_SMALL_BYTES: i32 = 12;
/// The first type index of an object.
pub const CHIPDOCK_TYPE_OBJECT_BEGIN: i32 = 64;
/// Type index: a string object of 8 bytes or more.
pub const CHIPDOCK_TYPE_STR: i32 = 65;
/// Type index: a bytes object of 8 bytes or more.
pub const CHIPDOCK_TYPE_BYTES: i32 = 66;
/// Type index: an error object.
pub const CHIPDOCK_TYPE_ERROR: i32 = 67;
/// Type index: a function object.
pub const CHIPDOCK_TYPE_FUNCTION: i32 = 68;
/// Type index: a shape object.
pub const CHIPDOCK_TYPE_SHAPE: i32 = 69;
/// Type index: a tensor object; its `ChipdockTensor` lies 24 bytes in.
pub const CHIPDOCK_TYPE_TENSOR: i32 = 70;
/// Type index: an array object.
pub const CHIPDOCK_TYPE_ARRAY: i32 = 71;

/// Deleter flag: no strong reference is left, run the destructor.
pub const CHIPDOCK_DELETE_STRONG: i32 = 1;
/// Deleter flag: no weak reference is left, free the memory.
pub const CHIPDOCK_DELETE_WEAK: i32 = 2;
/// A new object's reference count: one strong in the low half, one weak in the high half.
pub const CHIPDOCK_NEW_REF_COUNT: u64 = 0x0000_0001_0000_0001;

/// Borrowed bytes: UTF-8 wherever this is a string. `data` may be null if `size` is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockStr {
    /// The first byte; not NUL-terminated.
    pub data: *const c_char,
    /// Length in bytes.
    pub size: usize,
}

// SAFETY: a borrowed view of immutable bytes; a static one may be shared between threads.
unsafe impl Sync for ChipdockStr {}
// SAFETY: a borrowed view of immutable bytes; a static one may be shared between threads.
unsafe impl Send for ChipdockStr {}

/// The payload of a [`ChipdockAny`].
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub union ChipdockAnyValue {
    /// Integers and booleans.
    pub v_int64: i64,
    /// Floats.
    pub v_float64: f64,
    /// Opaque pointers.
    pub v_ptr: *mut c_void,
    /// Raw strings.
    pub v_c_str: *const c_char,
    /// Objects.
    pub v_object: *mut ChipdockObject,
    /// Borrowed tensors.
    pub v_tensor: *mut ChipdockTensor,
    /// Element types; the other four bytes are zero.
    pub v_dtype: ChipdockDataType,
    /// Devices.
    pub v_device: ChipdockDevice,
    /// Small strings and small bytes; unused bytes are zero.
    pub v_bytes: [u8; 8],
}

/// A value, 16 bytes: borrowed as an argument, owned as a result. Unused bytes are zero (values are
/// hashed bytewise).
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockAny {
    /// One of `CHIPDOCK_TYPE_*`.
    pub type_index: i32,
    /// Length of a small string or small bytes; zero for everything else.
    pub small_length: u32,
    /// The payload.
    pub value: ChipdockAnyValue,
}

/// The header of every object, 24 bytes.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockObject {
    /// Strong count in the low 32 bits, weak count in the high 32. Changed only by atomic
    /// operations.
    pub combined_ref_count: u64,
    /// One of `CHIPDOCK_TYPE_*`, 64 or more.
    pub type_index: i32,
    /// Zero.
    pub padding: u32,
    /// Called with `CHIPDOCK_DELETE_*` flags when a count reaches zero; may be null.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut c_void, flags: i32)>,
}

/// A packed function: borrowed arguments, an owned result. `result` is None before the call and is
/// written only on success. Returns 0, or -1 with an error raised.
#[repr(transparent)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockSafeCall(
    pub  unsafe extern "C" fn(
        self_: *mut c_void,
        args: *const ChipdockAny,
        num_args: i32,
        result: *mut ChipdockAny,
    ) -> i32,
);

/// A string or bytes object. The bytes are followed by a NUL.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockByteArrayObject {
    /// Header.
    pub object: ChipdockObject,
    /// The bytes.
    pub bytes: ChipdockStr,
}

/// A shape object.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockShapeObject {
    /// Header.
    pub object: ChipdockObject,
    /// Extents.
    pub data: *const i64,
    /// Number of extents.
    pub size: usize,
}

/// A tensor object. `strides` is never null if there are axes.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTensorObject {
    /// Header.
    pub object: ChipdockObject,
    /// The tensor.
    pub tensor: ChipdockTensor,
}

/// A function object; a closure's own data follows.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockFunctionObject {
    /// Header.
    pub object: ChipdockObject,
    /// The C function, called with the object as `self`.
    pub safe_call: ChipdockSafeCall,
    /// Reserved for C++; null.
    pub cpp_call: *mut c_void,
}

/// An error object.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockErrorObject {
    /// Header.
    pub object: ChipdockObject,
    /// The kind, an open string such as `ValueError`.
    pub kind: ChipdockStr,
    /// Message for users: what was expected, what was found, what to do.
    pub message: ChipdockStr,
    /// Lines `File "f", line 1, in g`, most recent last.
    pub backtrace: ChipdockStr,
    /// Replaces (0) or appends to (1) the backtrace; never null.
    pub update_backtrace:
        unsafe extern "C" fn(self_: *mut c_void, backtrace: *const ChipdockStr, update_mode: i32),
    /// An owned error object that caused this one, or null.
    pub cause_chain: *mut ChipdockObject,
    /// An owned object with more context, or null.
    pub extra_context: *mut ChipdockObject,
}

/// An array object.
#[repr(C)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockArrayObject {
    /// Header.
    pub object: ChipdockObject,
    /// The first element; elements are owned.
    pub data: *mut ChipdockAny,
    /// Number of elements.
    pub size: i64,
    /// Capacity, in elements.
    pub capacity: i64,
    /// Frees `data`; null if it is owned with the object.
    pub data_deleter: Option<unsafe extern "C" fn(data: *mut c_void)>,
}
