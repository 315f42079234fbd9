//! Values: [`Any`] is owned, [`AnyView`] is borrowed; both have the same 16 bytes.

use core::ffi::{CStr, c_void};
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::borrow::Cow;

use chipdock_abi as abi;
use chipdock_abi::{ChipdockAny, ChipdockAnyValue, ChipdockObject, ChipdockStr};

use crate::convert::FromAny;
use crate::object::{decrement, increment};
use crate::text::bytes_in;
use crate::{Bytes, Error, ErrorKind, ObjectRef, Str};

/// An owned value.
#[repr(transparent)]
pub struct Any(ChipdockAny);

/// A borrowed value: an argument of a call, valid for `'a`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct AnyView<'a>(ChipdockAny, PhantomData<&'a ()>);

// SAFETY: rule V.9 lets any thread use and release an object; everything else is plain data.
unsafe impl Send for Any {}
// SAFETY: rule V.9 lets any thread use and release an object; everything else is plain data.
unsafe impl Sync for Any {}
// SAFETY: rule V.9 lets any thread use and release an object; everything else is plain data; the
// borrow keeps what it points to alive.
unsafe impl Send for AnyView<'_> {}
// SAFETY: rule V.9 lets any thread use and release an object; everything else is plain data.
unsafe impl Sync for AnyView<'_> {}

/// Makes a value without padding bytes: values are hashed and compared bytewise.
pub(crate) const fn plain(type_index: i32, value: i64) -> ChipdockAny {
    ChipdockAny { type_index, small_length: 0, value: ChipdockAnyValue { v_int64: value } }
}

impl Any {
    /// The None value.
    pub const NONE: Self = Self(plain(abi::CHIPDOCK_TYPE_NONE, 0));

    /// Takes over an owned value.
    ///
    /// # Safety
    ///
    /// * The caller owns `raw` and gives it up. It holds no borrowed type (7 to 10).
    #[must_use]
    pub unsafe fn from_raw(raw: ChipdockAny) -> Self {
        Self(raw)
    }

    /// Returns the raw value, which the caller now owns.
    #[must_use]
    pub fn into_raw(self) -> ChipdockAny {
        let raw = self.0;
        core::mem::forget(self);
        raw
    }

    /// Borrows the value.
    #[must_use]
    pub fn view(&self) -> AnyView<'_> {
        AnyView(self.0, PhantomData)
    }

    /// Returns the type index, one of `CHIPDOCK_TYPE_*`.
    #[must_use]
    #[inline]
    pub fn type_index(&self) -> i32 {
        self.0.type_index
    }

    /// Returns true for None.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.type_index == abi::CHIPDOCK_TYPE_NONE
    }

    /// Converts the value to a `T`, as TVM-FFI defines the conversion.
    ///
    /// # Errors
    ///
    /// `TypeError` when it is of another type, `ValueError` when it does not fit.
    pub fn to<T: for<'a> FromAny<'a>>(&self) -> Result<T, Error> {
        T::from_any(self.view())
    }

    pub(crate) fn raw(&self) -> &ChipdockAny {
        &self.0
    }

    pub(crate) fn from_object(object: ObjectRef) -> Self {
        let type_index = object.type_index();
        let value = ChipdockAnyValue { v_object: object.into_raw().as_ptr() };
        Self(ChipdockAny { type_index, small_length: 0, value })
    }
}

impl Default for Any {
    fn default() -> Self {
        Self::NONE
    }
}

impl Clone for Any {
    fn clone(&self) -> Self {
        if let Some(object) = object_of(&self.0) {
            // SAFETY: we own a reference, so it is live.
            unsafe { increment(object) };
        }
        Self(self.0)
    }
}

impl Drop for Any {
    fn drop(&mut self) {
        if let Some(object) = object_of(&self.0) {
            // SAFETY: we own the reference.
            unsafe { decrement(object) };
        }
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

/// Returns the object of a value that holds one.
fn object_of(raw: &ChipdockAny) -> Option<NonNull<ChipdockObject>> {
    if raw.type_index < abi::CHIPDOCK_TYPE_OBJECT_BEGIN {
        return None;
    }
    // SAFETY: from 64 up the payload is an object pointer.
    NonNull::new(unsafe { raw.value.v_object })
}

impl<'a> AnyView<'a> {
    /// The None value.
    pub const NONE: Self = Self(plain(abi::CHIPDOCK_TYPE_NONE, 0), PhantomData);

    /// Borrows a value.
    ///
    /// # Safety
    ///
    /// * What `raw` points to lives for `'a` and is laid out as its type index says (V.1 to V.8).
    #[must_use]
    pub unsafe fn from_raw(raw: ChipdockAny) -> Self {
        Self(raw, PhantomData)
    }

    /// Borrows the arguments of a packed call.
    ///
    /// # Errors
    ///
    /// `ValueError` when the count is negative, or positive with a null pointer.
    ///
    /// # Safety
    ///
    /// * `args` is null or points to `num_args` values that live for `'a`, each as for
    ///   [`AnyView::from_raw`].
    #[inline]
    pub unsafe fn slice_from_raw(args: *const ChipdockAny, num_args: i32) -> Result<&'a [Self], Error> {
        match usize::try_from(num_args) {
            Ok(0) => Ok(&[]),
            Ok(count) if !args.is_null() => {
                // SAFETY: the caller guarantees that `args` points to `num_args` values that live
                // for `'a`; the type is transparent.
                Ok(unsafe { core::slice::from_raw_parts(args.cast::<Self>(), count) })
            }
            _ => Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!("expected an array of arguments, found {num_args} of them at {args:p}"),
            )),
        }
    }

    /// Returns the raw value, still borrowed.
    #[must_use]
    pub fn into_raw(self) -> ChipdockAny {
        self.0
    }

    /// Returns the type index, one of `CHIPDOCK_TYPE_*`.
    #[must_use]
    #[inline]
    pub fn type_index(self) -> i32 {
        self.0.type_index
    }

    /// Returns true for None.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0.type_index == abi::CHIPDOCK_TYPE_NONE
    }

    /// Converts the value to a `T`, as TVM-FFI defines the conversion.
    ///
    /// # Errors
    ///
    /// `TypeError` when it is of another type, `ValueError` when it does not fit.
    pub fn to<T: FromAny<'a>>(self) -> Result<T, Error> {
        T::from_any(self)
    }

    /// Borrows an object as a value.
    #[must_use]
    pub fn from_object(object: &'a ObjectRef) -> Self {
        let value = ChipdockAnyValue { v_object: object.as_ptr() };
        Self(ChipdockAny { type_index: object.type_index(), small_length: 0, value }, PhantomData)
    }

    pub(crate) fn from_pointer(type_index: i32, pointer: *mut c_void) -> Self {
        let value = ChipdockAnyValue { v_ptr: pointer };
        Self(ChipdockAny { type_index, small_length: 0, value }, PhantomData)
    }

    /// Borrows a NUL-terminated string as a value.
    #[must_use]
    pub fn from_c_str(text: &'a CStr) -> Self {
        Self::from_pointer(abi::CHIPDOCK_TYPE_RAW_STR, text.as_ptr().cast_mut().cast())
    }

    /// Makes a value of a pointer that has no owner.
    #[must_use]
    pub fn from_opaque(pointer: *mut c_void) -> Self {
        Self::from_pointer(abi::CHIPDOCK_TYPE_OPAQUE_PTR, pointer)
    }

    /// Returns the object that the value holds, or that an rvalue reference refers to, with a new
    /// reference to it.
    #[must_use]
    pub fn object(self) -> Option<ObjectRef> {
        // SAFETY: live for `'a`, which covers this call.
        object_of(&self.seen_through().0).map(|object| unsafe { ObjectRef::from_borrowed(object) })
    }

    /// Returns a view of the object that an rvalue reference refers to; returns any other value
    /// unchanged.
    #[inline]
    pub(crate) fn seen_through(self) -> Self {
        if self.0.type_index != abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF {
            return self;
        }
        // SAFETY: V.3, an rvalue reference points to a place with an object pointer.
        let object = unsafe { self.0.value.v_ptr.cast::<*mut ChipdockObject>().as_ref().copied() };
        object.and_then(NonNull::new).map_or(Self::NONE, |object| {
            // SAFETY: the object is live for `'a`.
            let type_index = unsafe { (*object.as_ptr()).type_index };
            Self::from_pointer(type_index, object.as_ptr().cast())
        })
    }

    /// Converts the value to an owned one: borrowed strings and bytes are copied, an object gets a
    /// reference, an rvalue reference is moved out and null is left in its place.
    ///
    /// # Errors
    ///
    /// `TypeError` for a borrowed tensor, because the lifetime of its memory is unknown.
    /// `ValueError` for a raw string that is not UTF-8.
    pub fn to_owned(self) -> Result<Any, Error> {
        match self.0.type_index {
            abi::CHIPDOCK_TYPE_DLTENSOR_PTR => Err(Error::new(
                ErrorKind::TYPE_ERROR,
                "a borrowed tensor (ChipdockTensor*) cannot be kept: pass a tensor object instead",
            )),
            abi::CHIPDOCK_TYPE_RAW_STR => self.to::<Str>().map(Any::from),
            abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR => self.to::<Bytes>().map(Any::from),
            abi::CHIPDOCK_TYPE_OBJECT_RVALUE_REF => Ok(self.take_rvalue()),
            _ => {
                if let Some(object) = object_of(&self.0) {
                    // SAFETY: live for `'a`, which covers this call.
                    unsafe { increment(object) };
                }
                Ok(Any(self.0))
            }
        }
    }

    fn take_rvalue(self) -> Any {
        // SAFETY: V.3, an rvalue reference points to a place with an object pointer that the callee
        // may take.
        let object = unsafe {
            self.0
                .value
                .v_ptr
                .cast::<*mut ChipdockObject>()
                .as_mut()
                .map(|place| core::mem::replace(place, core::ptr::null_mut()))
        };
        // SAFETY: the reference is ours now.
        object
            .and_then(NonNull::new)
            .map_or(Any::NONE, |object| Any::from_object(unsafe { ObjectRef::from_raw(object) }))
    }

    /// Returns the name of the value's type in TVM-FFI, for messages.
    #[must_use]
    pub fn type_name(self) -> Cow<'static, str> {
        let name = match self.seen_through().0.type_index {
            abi::CHIPDOCK_TYPE_NONE => "None",
            abi::CHIPDOCK_TYPE_INT => "int",
            abi::CHIPDOCK_TYPE_BOOL => "bool",
            abi::CHIPDOCK_TYPE_FLOAT => "float",
            abi::CHIPDOCK_TYPE_OPAQUE_PTR => "void*",
            abi::CHIPDOCK_TYPE_DATA_TYPE => "DataType",
            abi::CHIPDOCK_TYPE_DEVICE => "Device",
            abi::CHIPDOCK_TYPE_DLTENSOR_PTR => "ChipdockTensor*",
            abi::CHIPDOCK_TYPE_RAW_STR => "const char*",
            abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR => "bytes",
            abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_STR => "str",
            abi::CHIPDOCK_TYPE_SMALL_BYTES | abi::CHIPDOCK_TYPE_BYTES => "bytes",
            abi::CHIPDOCK_TYPE_ERROR => "Error",
            abi::CHIPDOCK_TYPE_FUNCTION => "Function",
            abi::CHIPDOCK_TYPE_SHAPE => "Shape",
            abi::CHIPDOCK_TYPE_TENSOR => "Tensor",
            abi::CHIPDOCK_TYPE_ARRAY => "Array",
            other => return Cow::Owned(format!("an object of type index {other}")),
        };
        Cow::Borrowed(name)
    }
}

/// Returns the bytes of a string value or a bytes value of any form.
pub(crate) fn string_bytes(raw: &ChipdockAny) -> Option<&[u8]> {
    // SAFETY: the payload is what the type index says, V.1 to V.5, and lives as long as the value.
    unsafe {
        match raw.type_index {
            abi::CHIPDOCK_TYPE_SMALL_STR | abi::CHIPDOCK_TYPE_SMALL_BYTES => {
                Some(&raw.value.v_bytes[..(raw.small_length as usize).min(7)])
            }
            abi::CHIPDOCK_TYPE_STR | abi::CHIPDOCK_TYPE_BYTES => {
                let object = raw.value.v_object.cast::<abi::ChipdockByteArrayObject>();
                object.as_ref().map(|object| bytes_in(object.bytes))
            }
            abi::CHIPDOCK_TYPE_RAW_STR => {
                (!raw.value.v_c_str.is_null()).then(|| CStr::from_ptr(raw.value.v_c_str).to_bytes())
            }
            abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR => {
                raw.value.v_ptr.cast::<ChipdockStr>().as_ref().map(|bytes| bytes_in(*bytes))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for AnyView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: each payload is read as its type index says.
        unsafe {
            match self.0.type_index {
                abi::CHIPDOCK_TYPE_NONE => f.write_str("None"),
                abi::CHIPDOCK_TYPE_INT => write!(f, "{}", self.0.value.v_int64),
                abi::CHIPDOCK_TYPE_BOOL => write!(f, "{}", self.0.value.v_int64 != 0),
                abi::CHIPDOCK_TYPE_FLOAT => write!(f, "{:?}", self.0.value.v_float64),
                abi::CHIPDOCK_TYPE_DATA_TYPE => write!(f, "{}", crate::dtype::text(self.0.value.v_dtype)),
                abi::CHIPDOCK_TYPE_DEVICE => write!(f, "{:?}", self.0.value.v_device),
                _ => match string_bytes(&self.0) {
                    Some(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
                    None => write!(f, "<{}>", self.type_name()),
                },
            }
        }
    }
}

/// Converts the argument at `index` to a `T`; errors name the index, the parameter and the type
/// that was found.
///
/// # Errors
///
/// `TypeError` when there are too few arguments or the value is of another type, `ValueError` when
/// it does not fit.
pub fn argument<'a, T: FromAny<'a>>(args: &[AnyView<'a>], index: usize, name: &str) -> Result<T, Error> {
    let Some(view) = args.get(index) else {
        return Err(Error::new(
            ErrorKind::TYPE_ERROR,
            format!(
                "argument {index} (`{name}`): expected {}, found {} arguments only",
                T::EXPECTED,
                args.len()
            ),
        ));
    };
    T::from_any(*view).map_err(|error| error.context(format_args!("argument {index} (`{name}`)")))
}
