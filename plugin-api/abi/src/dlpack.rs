//! DLPack 1.3: devices, element types, tensors. Layouts and numbers are DLPack's own.

use core::ffi::c_void;

/// Device type of host memory.
pub const CHIPDOCK_DEVICE_CPU: i32 = 1;
/// The first device type that a host assigns to a device without a DLPack number: the assigned
/// number is this plus the first 30 bits of the SHA-256 of the device's name, big-endian (P5.14).
/// DLPack's own numbers are far smaller.
pub const CHIPDOCK_DEVICE_FIRST_ASSIGNED: i32 = 4096;

/// Type code: signed integer.
pub const CHIPDOCK_DTYPE_INT: u8 = 0;
/// Type code: unsigned integer.
pub const CHIPDOCK_DTYPE_UINT: u8 = 1;
/// Type code: IEEE float.
pub const CHIPDOCK_DTYPE_FLOAT: u8 = 2;
/// Type code: opaque handle.
pub const CHIPDOCK_DTYPE_HANDLE: u8 = 3;
/// Type code: bfloat.
pub const CHIPDOCK_DTYPE_BFLOAT: u8 = 4;
/// Type code: complex, two floats of half the bits.
pub const CHIPDOCK_DTYPE_COMPLEX: u8 = 5;
/// Type code: boolean, one byte of 0 or 1.
pub const CHIPDOCK_DTYPE_BOOL: u8 = 6;
/// Type code: the 8-bit float float8_e3m4.
pub const CHIPDOCK_DTYPE_FLOAT8_E3M4: u8 = 7;
/// Type code: the 8-bit float float8_e4m3.
pub const CHIPDOCK_DTYPE_FLOAT8_E4M3: u8 = 8;
/// Type code: the 8-bit float float8_e4m3b11fnuz.
pub const CHIPDOCK_DTYPE_FLOAT8_E4M3B11FNUZ: u8 = 9;
/// Type code: the 8-bit float float8_e4m3fn.
pub const CHIPDOCK_DTYPE_FLOAT8_E4M3FN: u8 = 10;
/// Type code: the 8-bit float float8_e4m3fnuz.
pub const CHIPDOCK_DTYPE_FLOAT8_E4M3FNUZ: u8 = 11;
/// Type code: the 8-bit float float8_e5m2.
pub const CHIPDOCK_DTYPE_FLOAT8_E5M2: u8 = 12;
/// Type code: the 8-bit float float8_e5m2fnuz.
pub const CHIPDOCK_DTYPE_FLOAT8_E5M2FNUZ: u8 = 13;
/// Type code: the 8-bit float float8_e8m0fnu.
pub const CHIPDOCK_DTYPE_FLOAT8_E8M0FNU: u8 = 14;
/// Type code: the 6-bit float float6_e2m3fn.
pub const CHIPDOCK_DTYPE_FLOAT6_E2M3FN: u8 = 15;
/// Type code: the 6-bit float float6_e3m2fn.
pub const CHIPDOCK_DTYPE_FLOAT6_E3M2FN: u8 = 16;
/// Type code: the 4-bit float float4_e2m1fn.
pub const CHIPDOCK_DTYPE_FLOAT4_E2M1FN: u8 = 17;

/// Flag of [`ChipdockManagedTensorVersioned`]: the data may not be written.
pub const CHIPDOCK_DLPACK_READ_ONLY: u64 = 1;
/// Flag of [`ChipdockManagedTensorVersioned`]: the data is a copy made for this export.
pub const CHIPDOCK_DLPACK_IS_COPIED: u64 = 2;
/// Flag of [`ChipdockManagedTensorVersioned`]: elements of less than a byte are padded to a byte
/// each. Such a tensor is refused: here they are packed, low bits first (V.6).
pub const CHIPDOCK_DLPACK_SUBBYTE_PADDED: u64 = 4;
/// DLPack's major version that this ABI carries.
pub const CHIPDOCK_DLPACK_MAJOR: u32 = 1;
/// DLPack's minor version that this ABI carries.
pub const CHIPDOCK_DLPACK_MINOR: u32 = 3;

/// A device: DLPack's type number and an index among the devices of that type.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDevice {
    /// DLPack's number, or one that the host assigned.
    pub device_type: i32,
    /// Index among the devices of this type, from 0.
    pub device_id: i32,
}

/// The type of an element: code, bits of one lane, number of lanes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDataType {
    /// One of `CHIPDOCK_DTYPE_*`.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes of a vector; 1 for a scalar.
    pub lanes: u16,
}

/// A borrowed tensor: it owns nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockTensor {
    /// The data space: an address on the CPU, an opaque handle elsewhere.
    pub data: *mut c_void,
    /// The device of the data.
    pub device: ChipdockDevice,
    /// Number of axes.
    pub ndim: i32,
    /// Type of an element.
    pub dtype: ChipdockDataType,
    /// `ndim` extents, in elements.
    pub shape: *mut i64,
    /// `ndim` strides, in elements; null from producers older than DLPack 1.2 when compact and
    /// row-major.
    pub strides: *mut i64,
    /// Start of the first element, in bytes from `data`.
    pub byte_offset: u64,
}

/// DLPack's managed tensor before 1.0.
#[repr(C)]
#[derive(Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockManagedTensor {
    /// The tensor.
    pub dl_tensor: ChipdockTensor,
    /// The producer's own pointer.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this struct; null if there is nothing to free.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut ChipdockManagedTensor)>,
}

/// DLPack's version.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockDLPackVersion {
    /// Major version: breaking changes.
    pub major: u32,
    /// Minor version: additions.
    pub minor: u32,
}

/// DLPack's managed tensor since 1.0.
#[repr(C)]
#[derive(Debug)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockManagedTensorVersioned {
    /// The version that the producer wrote; another major may only be deleted.
    pub version: ChipdockDLPackVersion,
    /// The producer's own pointer.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and this struct; null if there is nothing to free.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut ChipdockManagedTensorVersioned)>,
    /// `CHIPDOCK_DLPACK_*` flags.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: ChipdockTensor,
}
