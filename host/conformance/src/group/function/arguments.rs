//! Arguments for plain functions: one value of each kind, and some edge cases.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use chipdock_abi as abi;
use chipdock_abi::{ChipdockAny, ChipdockAnyValue, ChipdockStr};
use chipdock_plugin_api::{
    Any, Array, Bytes, CPU, ChipdockDataType, ChipdockDevice, ChipdockTensor, Error, ErrorKind, Shape,
    Tensor, TensorParts,
};

/// An argument that functions are called with.
pub(super) struct Argument {
    /// Name in ids.
    pub(super) name: &'static str,
    /// Description for messages.
    pub(super) what: &'static str,
    /// Number of arguments of this value.
    pub(super) count: usize,
    /// Whether the value is a reference-counted object.
    pub(super) has_object: bool,
    make: fn() -> Made,
}

/// A value with its owner.
pub(super) struct Made {
    view: ChipdockAny,
    owner: Owner,
}

/// Owner of a value.
#[expect(dead_code, reason = "held for what a view points to, and read by nobody")]
pub(super) enum Owner {
    /// No owner: the value is plain or static.
    Nobody,
    /// An owned value.
    Value(Any),
    /// A borrowed tensor with its extents.
    Tensor(Box<Borrowed>),
    /// Borrowed bytes.
    Bytes(Box<ChipdockStr>),
}

/// A tensor that only the suite owns.
pub(super) struct Borrowed {
    raw: ChipdockTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    elements: Vec<f32>,
}

// SAFETY: the pointers lead to data owned beside them, or are null.
unsafe impl Send for Owner {}

impl Argument {
    pub(super) fn make(&self) -> Made {
        (self.make)()
    }
}

impl Made {
    /// Returns the borrowed value, which is valid as long as `self`.
    pub(super) fn view(&self) -> ChipdockAny {
        self.view
    }

    /// Returns the number of strong references, if the value is an object.
    pub(super) fn strong_count(&self) -> Option<u32> {
        if self.view.type_index < abi::CHIPDOCK_TYPE_OBJECT_BEGIN {
            return None;
        }
        // SAFETY: from 64 up the payload is an object that the owner keeps alive; its count is
        // changed atomically.
        let count = unsafe { AtomicU64::from_ptr(&raw mut (*self.view.value.v_object).combined_ref_count) };
        u32::try_from(count.load(Ordering::Relaxed) & 0xffff_ffff).ok()
    }

    pub(super) fn into_owner(self) -> Owner {
        self.owner
    }
}

fn plain(type_index: i32, value: ChipdockAnyValue) -> Made {
    Made { view: ChipdockAny { type_index, small_length: 0, value }, owner: Owner::Nobody }
}

fn owned(value: impl Into<Any>) -> Made {
    let value = value.into();
    Made { view: value.view().into_raw(), owner: Owner::Value(value) }
}

fn int(value: i64) -> Made {
    plain(abi::CHIPDOCK_TYPE_INT, ChipdockAnyValue { v_int64: value })
}

fn float(value: f64) -> Made {
    plain(abi::CHIPDOCK_TYPE_FLOAT, ChipdockAnyValue { v_float64: value })
}

fn borrowed_text() -> Made {
    plain(abi::CHIPDOCK_TYPE_RAW_STR, ChipdockAnyValue { v_c_str: c"a text of 20 bytes..".as_ptr() })
}

fn borrowed_bytes() -> Made {
    let bytes = Box::new(ChipdockStr { data: c"some bytes".as_ptr(), size: 10 });
    let value = ChipdockAnyValue { v_ptr: ptr::from_ref(&*bytes).cast_mut().cast() };
    let view = ChipdockAny { type_index: abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR, small_length: 0, value };
    Made { view, owner: Owner::Bytes(bytes) }
}

const FLOAT32: ChipdockDataType = ChipdockDataType { code: 2, bits: 32, lanes: 1 };

/// Creates a borrowed tensor; its strides are null if there are none.
fn borrowed(shape: &[i64], strides: Option<&[i64]>, dtype: ChipdockDataType) -> Made {
    let mut tensor = Box::new(Borrowed {
        raw: ChipdockTensor {
            data: ptr::null_mut(),
            device: CPU,
            ndim: i32::try_from(shape.len()).unwrap_or_default(),
            dtype,
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        },
        shape: shape.to_vec(),
        strides: strides.unwrap_or_default().to_vec(),
        elements: vec![1.5; 64],
    });
    tensor.raw.data = tensor.elements.as_mut_ptr().cast();
    tensor.raw.shape = tensor.shape.as_mut_ptr();
    if strides.is_some() {
        tensor.raw.strides = tensor.strides.as_mut_ptr();
    }
    let value = ChipdockAnyValue { v_tensor: ptr::from_mut(&mut tensor.raw) };
    let view = ChipdockAny { type_index: abi::CHIPDOCK_TYPE_DLTENSOR_PTR, small_length: 0, value };
    Made { view, owner: Owner::Tensor(tensor) }
}

fn tensor(shape: &[i64], strides: Option<&[i64]>, device: ChipdockDevice) -> Made {
    let mut elements = vec![1.5_f32; 64];
    let data: *mut c_void = if device == CPU { elements.as_mut_ptr().cast() } else { ptr::null_mut() };
    let parts = TensorParts { data, device, dtype: FLOAT32, shape, strides, byte_offset: 0 };
    // SAFETY: the vector does not move its memory when it moves into the tensor; 64 elements are
    // enough for every shape here.
    let made = unsafe { Tensor::from_owner(parts, elements) };
    owned(made.map_or(Any::NONE, Any::from))
}

fn elsewhere() -> Made {
    // No plugin has this device type, so the memory cannot be read.
    tensor(&[4], None, ChipdockDevice { device_type: 4095, device_id: 0 })
}

macro_rules! arguments {
    ($($name:literal, $what:literal, $count:literal, $has_object:literal, $make:expr;)*) => {
        &[$(Argument { name: $name, what: $what, count: $count, has_object: $has_object, make: || $make }),*]
    };
}

/// All arguments in order.
pub(super) const ARGUMENTS: &[Argument] = arguments! {
    "nothing", "no arguments", 0, false, owned(Any::NONE);
    "none", "None", 1, false, owned(Any::NONE);
    "64-nones", "64 arguments that are None", 64, false, owned(Any::NONE);
    "int-0", "0", 1, false, int(0);
    "int-negative", "-1", 1, false, int(-1);
    "int-least", "the least integer", 1, false, int(i64::MIN);
    "int-greatest", "the greatest integer", 1, false, int(i64::MAX);
    "bool", "true", 1, false, owned(true);
    "float", "0.5", 1, false, float(0.5);
    "float-nan", "NaN", 1, false, float(f64::NAN);
    "float-infinite", "infinity", 1, false, float(f64::INFINITY);
    "pointer-null", "a null pointer", 1, false,
        plain(abi::CHIPDOCK_TYPE_OPAQUE_PTR, ChipdockAnyValue { v_ptr: ptr::null_mut() });
    "dtype", "an element type", 1, false, owned(FLOAT32);
    "device", "a device that is not there", 1, false, owned(ChipdockDevice { device_type: 4095, device_id: 7 });
    "text-empty", "the empty text", 1, false, owned("");
    "text-of-7-bytes", "a text of 7 bytes", 1, false, owned("seven b");
    "text-of-20-bytes", "a text of 20 bytes", 1, true, owned("a text of 20 bytes..");
    "text-of-1-megabyte", "a text of 1 MB", 1, true, owned("x".repeat(1 << 20));
    "text-borrowed", "a borrowed text of 20 bytes", 1, false, borrowed_text();
    "bytes", "bytes that are no text", 1, true, owned(Bytes::new(&[0xff, 0, 0xfe, 1, 2, 3, 4, 5, 6]).into_any());
    "bytes-borrowed", "borrowed bytes", 1, false, borrowed_bytes();
    "error", "an error object", 1, true, owned(Error::new(ErrorKind::VALUE_ERROR, "an error as a value"));
    "shape", "a shape", 1, true, owned(Shape::new(&[2, 3]));
    "shape-empty", "an empty shape", 1, true, owned(Shape::new(&[]));
    "array-empty", "an empty array", 1, true, owned(Array::new([]));
    "array-of-ints", "an array of ints", 1, true, owned(Array::new([Any::from(1), Any::from(2)]));
    "array-nested", "an array with an array and a text", 1, true,
        owned(Array::new([Any::from(Array::new([Any::NONE])), Any::from("a text in an array")]));
    "tensor", "a tensor of 2 x 3 float32", 1, true, tensor(&[2, 3], None, CPU);
    "tensor-of-no-axes", "a tensor without axes", 1, true, tensor(&[], None, CPU);
    "tensor-of-no-elements", "a tensor of 0 x 5 elements", 1, true, tensor(&[0, 5], None, CPU);
    "tensor-transposed", "a transposed tensor", 1, true, tensor(&[3, 2], Some(&[1, 3]), CPU);
    "tensor-broadcast", "a tensor whose stride is 0", 1, true, tensor(&[4, 4], Some(&[0, 1]), CPU);
    "tensor-elsewhere", "a tensor on a device of a type that is not there", 1, true, elsewhere();
    "tensor-borrowed", "a borrowed tensor of 2 x 3 float32", 1, false, borrowed(&[2, 3], Some(&[3, 1]), FLOAT32);
    "tensor-borrowed-without-strides", "a borrowed tensor of 2 x 3 float32 without strides", 1, false,
        borrowed(&[2, 3], None, FLOAT32);
    "tensor-of-odd-type", "a borrowed tensor of 3-bit integers", 1, false,
        borrowed(&[2, 3], Some(&[3, 1]), ChipdockDataType { code: 0, bits: 3, lanes: 1 });
    "tensor-too-large", "a borrowed tensor that says it has 2^62 x 2^62 elements", 1, false,
        borrowed(&[1 << 62, 1 << 62], Some(&[0, 0]), FLOAT32);
};
