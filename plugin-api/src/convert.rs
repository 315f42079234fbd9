//! Conversions to and from values, as TVM-FFI defines them.

use core::ffi::c_void;

use chipdock_abi as abi;
use chipdock_abi::{ChipdockAny, ChipdockAnyValue, ChipdockDataType, ChipdockDevice};

use crate::any::plain;
use crate::{
    Any, AnyView, Array, Bytes, Error, ErrorKind, Function, ObjectRef, Shape, Str, Tensor, TensorView, dtype,
};

/// A type that a value can be converted to.
///
/// | To | From |
/// |---|---|
/// | integers | int, bool; an int that does not fit is a `ValueError` |
/// | `bool` | bool, int (not zero) |
/// | `f64`, `f32` | float, int, bool |
/// | `Str`, `String` | str of any sort, `const char*` |
/// | `Bytes` | bytes of any sort |
/// | `ChipdockDataType` | DataType, str |
/// | `ChipdockDevice` | Device |
/// | `TensorView` | `ChipdockTensor*` and tensor objects |
/// | `Tensor` | tensor objects |
/// | `Shape` | Shape, Array of ints |
/// | `Array`, `Function`, `Error` | their objects |
/// | `*mut c_void` | `void*`, None (as null) |
/// | `Option<T>` | None, what `T` takes |
/// | `Any` | everything that may be kept |
pub trait FromAny<'a>: Sized {
    /// The name of the expected type, for messages.
    const EXPECTED: &'static str;

    /// Converts the value.
    ///
    /// # Errors
    ///
    /// `TypeError` when it is of another type, `ValueError` when it does not fit.
    fn from_any(view: AnyView<'a>) -> Result<Self, Error>;
}

fn wrong_type<'a, T: FromAny<'a>>(view: AnyView<'a>) -> Error {
    Error::new(ErrorKind::TYPE_ERROR, format!("expected {}, found {}", T::EXPECTED, view.type_name()))
}

fn integer(view: AnyView<'_>) -> Option<i64> {
    let raw = view.into_raw();
    // SAFETY: the payload of an int or a bool is an integer.
    matches!(raw.type_index, abi::CHIPDOCK_TYPE_INT | abi::CHIPDOCK_TYPE_BOOL)
        .then(|| unsafe { raw.value.v_int64 })
}

/// Returns the object of a value whose type index is `type_index`.
fn object(view: AnyView<'_>, type_index: i32) -> Option<ObjectRef> {
    (view.seen_through().type_index() == type_index).then(|| view.object()).flatten()
}

macro_rules! integers {
    ($($type:ident $name:literal),*) => {
        $(
            impl<'a> FromAny<'a> for $type {
                const EXPECTED: &'static str = $name;

                fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
                    let value = integer(view).ok_or_else(|| wrong_type::<Self>(view))?;
                    Self::try_from(value).map_err(|_| {
                        Error::new(
                            ErrorKind::VALUE_ERROR,
                            format!("expected {} from {} to {}, found {value}", $name, Self::MIN, Self::MAX),
                        )
                    })
                }
            }
        )*
    };
}

integers!(i8 "int8", i16 "int16", i32 "int32", i64 "int64", u8 "uint8", u16 "uint16", u32 "uint32", u64 "uint64", usize "uint64");

impl<'a> FromAny<'a> for bool {
    const EXPECTED: &'static str = "bool";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        integer(view).map(|value| value != 0).ok_or_else(|| wrong_type::<Self>(view))
    }
}

impl<'a> FromAny<'a> for f64 {
    const EXPECTED: &'static str = "float";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let raw = view.into_raw();
        if raw.type_index == abi::CHIPDOCK_TYPE_FLOAT {
            // SAFETY: the payload of a float.
            return Ok(unsafe { raw.value.v_float64 });
        }
        integer(view).map(|value| value as Self).ok_or_else(|| wrong_type::<Self>(view))
    }
}

impl<'a> FromAny<'a> for f32 {
    const EXPECTED: &'static str = "float";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        f64::from_any(view).map(|value| value as Self)
    }
}

impl<'a> FromAny<'a> for () {
    const EXPECTED: &'static str = "None";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        if view.is_none() { Ok(()) } else { Err(wrong_type::<Self>(view)) }
    }
}

impl<'a> FromAny<'a> for Str {
    const EXPECTED: &'static str = "str";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        Self::from_view(view).unwrap_or_else(|| Err(wrong_type::<Self>(view)))
    }
}

impl<'a> FromAny<'a> for String {
    const EXPECTED: &'static str = "str";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        Str::from_any(view).map(|text| text.as_str().to_owned())
    }
}

impl<'a> FromAny<'a> for Bytes {
    const EXPECTED: &'static str = "bytes";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        Self::from_view(view).unwrap_or_else(|| Err(wrong_type::<Self>(view)))
    }
}

impl<'a> FromAny<'a> for ChipdockDataType {
    const EXPECTED: &'static str = "DataType";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let raw = view.into_raw();
        if raw.type_index == abi::CHIPDOCK_TYPE_DATA_TYPE {
            // SAFETY: the payload of a data type.
            return Ok(unsafe { raw.value.v_dtype });
        }
        match Str::from_view(view) {
            Some(text) => dtype::parse(&text?),
            None => Err(wrong_type::<Self>(view)),
        }
    }
}

impl<'a> FromAny<'a> for ChipdockDevice {
    const EXPECTED: &'static str = "Device";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let raw = view.into_raw();
        if raw.type_index != abi::CHIPDOCK_TYPE_DEVICE {
            return Err(wrong_type::<Self>(view));
        }
        // SAFETY: the payload of a device.
        Ok(unsafe { raw.value.v_device })
    }
}

impl<'a> FromAny<'a> for *mut c_void {
    const EXPECTED: &'static str = "void*";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let raw = view.into_raw();
        match raw.type_index {
            abi::CHIPDOCK_TYPE_NONE => Ok(core::ptr::null_mut()),
            // SAFETY: the payload of an opaque pointer.
            abi::CHIPDOCK_TYPE_OPAQUE_PTR => Ok(unsafe { raw.value.v_ptr }),
            _ => Err(wrong_type::<Self>(view)),
        }
    }
}

impl AnyView<'_> {
    /// Returns the device of a tensor, without checking its shape: for a caller that passes it on.
    /// `None` for any other value.
    #[must_use]
    #[inline]
    pub fn tensor_device(self) -> Option<ChipdockDevice> {
        // SAFETY: V.4 and V.6, null or a live tensor.
        self.tensor_address().and_then(|tensor| unsafe { tensor.as_ref() }).map(|tensor| tensor.device)
    }

    /// Returns where the description of a tensor lies, which may be null; `None` for any other
    /// value.
    #[inline]
    fn tensor_address(self) -> Option<*const abi::ChipdockTensor> {
        let seen = self.seen_through().into_raw();
        // SAFETY: the payload of each type; V.4 and V.6 say that both are live, laid out tensors.
        unsafe {
            match seen.type_index {
                abi::CHIPDOCK_TYPE_DLTENSOR_PTR => Some(seen.value.v_tensor.cast_const()),
                abi::CHIPDOCK_TYPE_TENSOR if !seen.value.v_object.is_null() => Some(core::ptr::addr_of!(
                    (*seen.value.v_object.cast::<abi::ChipdockTensorObject>()).tensor
                )),
                _ => None,
            }
        }
    }
}

impl<'a> FromAny<'a> for TensorView<'a> {
    const EXPECTED: &'static str = "Tensor";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let tensor = view.tensor_address().ok_or_else(|| wrong_type::<Self>(view))?;
        // SAFETY: the payload of each type; V.4 and V.6 say that both are live, laid out tensors;
        // null and inconsistent fields give an error.
        unsafe { TensorView::from_raw(tensor) }
    }
}

impl<'a> FromAny<'a> for Tensor {
    const EXPECTED: &'static str = "Tensor";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        // Checked as a view first: an object of type tensor may still have inconsistent fields.
        TensorView::from_any(view)?;
        match object(view, abi::CHIPDOCK_TYPE_TENSOR) {
            // SAFETY: an owned reference to a tensor object.
            Some(object) => Ok(unsafe { Self::from_object(object) }),
            None => Err(Error::new(
                ErrorKind::TYPE_ERROR,
                format!(
                    "expected a Tensor that can be kept, found {}: its memory is only borrowed",
                    view.type_name()
                ),
            )),
        }
    }
}

impl<'a> FromAny<'a> for Shape {
    const EXPECTED: &'static str = "Shape";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        if let Some(object) = object(view, abi::CHIPDOCK_TYPE_SHAPE) {
            return Ok(Self::from_object(object));
        }
        let array = object(view, abi::CHIPDOCK_TYPE_ARRAY).map(Array::from_object);
        let array = array.ok_or_else(|| wrong_type::<Self>(view))?;
        let extents: Result<Vec<i64>, Error> = array.as_slice().iter().map(|extent| extent.to()).collect();
        extents.map(|extents| Self::new(&extents)).map_err(|error| error.context("an Array as a Shape"))
    }
}

impl<'a> FromAny<'a> for Array {
    const EXPECTED: &'static str = "Array";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        let array = object(view, abi::CHIPDOCK_TYPE_ARRAY).map(Self::from_object);
        array.ok_or_else(|| wrong_type::<Self>(view))
    }
}

impl<'a> FromAny<'a> for Function {
    const EXPECTED: &'static str = "Function";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        // SAFETY: an owned reference to a function object.
        let function =
            object(view, abi::CHIPDOCK_TYPE_FUNCTION).map(|object| unsafe { Self::from_object(object) });
        function.ok_or_else(|| wrong_type::<Self>(view))
    }
}

impl<'a> FromAny<'a> for Error {
    const EXPECTED: &'static str = "Error";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        // SAFETY: an owned reference to an error object.
        let error = object(view, abi::CHIPDOCK_TYPE_ERROR).map(|object| unsafe { Self::from_object(object) });
        error.ok_or_else(|| wrong_type::<Self>(view))
    }
}

impl<'a> FromAny<'a> for Any {
    const EXPECTED: &'static str = "a value";

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        view.to_owned()
    }
}

impl<'a, T: FromAny<'a>> FromAny<'a> for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_any(view: AnyView<'a>) -> Result<Self, Error> {
        if view.seen_through().is_none() { Ok(None) } else { T::from_any(view).map(Some) }
    }
}

macro_rules! try_from {
    ($($type:ty),*) => {
        $(
            impl TryFrom<AnyView<'_>> for $type {
                type Error = Error;

                fn try_from(view: AnyView<'_>) -> Result<Self, Error> {
                    view.to()
                }
            }

            impl TryFrom<Any> for $type {
                type Error = Error;

                fn try_from(any: Any) -> Result<Self, Error> {
                    any.to()
                }
            }
        )*
    };
}

try_from!(
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    usize,
    bool,
    f64,
    f32,
    Str,
    String,
    Bytes,
    ChipdockDataType,
    ChipdockDevice,
    Tensor,
    Shape,
    Array,
    Function,
    Error
);

impl<'a> TryFrom<AnyView<'a>> for TensorView<'a> {
    type Error = Error;

    fn try_from(view: AnyView<'a>) -> Result<Self, Error> {
        view.to()
    }
}

macro_rules! from_plain {
    ($($type:ty, $type_index:expr, $value:ident => $payload:expr;)*) => {
        $(
            impl From<$type> for AnyView<'_> {
                fn from($value: $type) -> Self {
                    let raw = ChipdockAny { type_index: $type_index, small_length: 0, value: $payload };
                    // SAFETY: plain data, nothing is borrowed.
                    unsafe { Self::from_raw(raw) }
                }
            }

            impl From<$type> for Any {
                fn from(value: $type) -> Self {
                    // SAFETY: plain data, nothing is owned.
                    unsafe { Self::from_raw(AnyView::from(value).into_raw()) }
                }
            }
        )*
    };
}

/// Returns the payload for a data type: its four bytes, and four zero bytes, because values are
/// hashed and compared bytewise.
fn dtype_payload(dtype: ChipdockDataType) -> ChipdockAnyValue {
    let mut payload = ChipdockAnyValue { v_int64: 0 };
    payload.v_dtype = dtype;
    payload
}

from_plain! {
    i8, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    i16, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    i32, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    i64, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value };
    u8, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    u16, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    u32, abi::CHIPDOCK_TYPE_INT, value => ChipdockAnyValue { v_int64: value.into() };
    bool, abi::CHIPDOCK_TYPE_BOOL, value => ChipdockAnyValue { v_int64: value.into() };
    f32, abi::CHIPDOCK_TYPE_FLOAT, value => ChipdockAnyValue { v_float64: value.into() };
    f64, abi::CHIPDOCK_TYPE_FLOAT, value => ChipdockAnyValue { v_float64: value };
    ChipdockDataType, abi::CHIPDOCK_TYPE_DATA_TYPE, value => dtype_payload(value);
    ChipdockDevice, abi::CHIPDOCK_TYPE_DEVICE, value => ChipdockAnyValue { v_device: value };
}

impl From<()> for Any {
    fn from((): ()) -> Self {
        Self::NONE
    }
}

impl From<()> for AnyView<'_> {
    fn from((): ()) -> Self {
        Self::NONE
    }
}

macro_rules! from_unsigned {
    ($($type:ty),*) => {
        $(
            impl TryFrom<$type> for Any {
                type Error = Error;

                fn try_from(value: $type) -> Result<Self, Error> {
                    let value = i64::try_from(value).map_err(|_| {
                        let message = format!("expected an integer up to {}, found {value}", i64::MAX);
                        Error::new(ErrorKind::VALUE_ERROR, message)
                    })?;
                    // SAFETY: plain data, nothing is owned.
                    Ok(unsafe { Self::from_raw(plain(abi::CHIPDOCK_TYPE_INT, value)) })
                }
            }
        )*
    };
}

from_unsigned!(u64, usize);

impl From<&str> for Any {
    fn from(text: &str) -> Self {
        Str::new(text).into_any()
    }
}

impl From<String> for Any {
    fn from(text: String) -> Self {
        Str::new(&text).into_any()
    }
}

macro_rules! from_strings {
    ($($type:ty),*) => {
        $(
            impl From<$type> for Any {
                fn from(value: $type) -> Self {
                    value.into_any()
                }
            }

            impl<'a> From<&'a $type> for AnyView<'a> {
                fn from(value: &'a $type) -> Self {
                    value.as_any_view()
                }
            }
        )*
    };
}

from_strings!(Str, Bytes);

macro_rules! from_objects {
    ($($type:ty),*) => {
        $(
            impl From<$type> for Any {
                fn from(value: $type) -> Self {
                    Self::from_object(value.into_object())
                }
            }

            impl<'a> From<&'a $type> for AnyView<'a> {
                fn from(value: &'a $type) -> Self {
                    Self::from_object(value.object())
                }
            }
        )*
    };
}

from_objects!(Shape, Array, Function, Error, Tensor);

impl From<ObjectRef> for Any {
    fn from(object: ObjectRef) -> Self {
        Self::from_object(object)
    }
}

impl<'a> From<&'a Any> for AnyView<'a> {
    fn from(any: &'a Any) -> Self {
        any.view()
    }
}

impl<'a> From<TensorView<'a>> for AnyView<'a> {
    fn from(tensor: TensorView<'a>) -> Self {
        Self::from_pointer(
            abi::CHIPDOCK_TYPE_DLTENSOR_PTR,
            core::ptr::from_ref(tensor.raw()).cast_mut().cast(),
        )
    }
}

impl<T: Into<Any>> From<Option<T>> for Any {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::NONE, Into::into)
    }
}
