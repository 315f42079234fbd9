//! Strings and bytes: at most seven bytes are stored in the value itself, more in an object.

use core::fmt;
use core::ops::Deref;
use core::ptr::addr_of;

use chipdock_abi::{
    CHIPDOCK_TYPE_BYTES, CHIPDOCK_TYPE_SMALL_BYTES, CHIPDOCK_TYPE_SMALL_STR, CHIPDOCK_TYPE_STR, ChipdockAny,
    ChipdockAnyValue, ChipdockByteArrayObject, ChipdockStr,
};

use crate::any::string_bytes;
use crate::object::{ObjectBody, allocate, header, own};
use crate::{Any, AnyView, Error, ErrorKind};

/// The greatest number of bytes that a value holds without an object.
const SMALL_MAX: usize = 7;

/// An owned UTF-8 string.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::Str;
///
/// let name = Str::new("float32");
/// assert_eq!(&*name, "float32");
/// ```
#[derive(Clone)]
#[repr(transparent)]
pub struct Str(Any);

/// Owned bytes.
#[derive(Clone)]
#[repr(transparent)]
pub struct Bytes(Any);

#[repr(C)]
struct ByteArrayBody<const TYPE_INDEX: i32> {
    object: ChipdockByteArrayObject,
    bytes: Box<[u8]>,
}

// SAFETY: repr(C), starts with the ABI's byte array object, 8-aligned.
unsafe impl<const TYPE_INDEX: i32> ObjectBody for ByteArrayBody<TYPE_INDEX> {
    const TYPE_INDEX: i32 = TYPE_INDEX;
}

/// Makes a value of bytes: a few are stored in place and zero-padded, more in an object with a NUL
/// after them.
fn make<const TYPE_INDEX: i32>(bytes: &[u8], small_type_index: i32) -> Any {
    if bytes.len() <= SMALL_MAX {
        let mut v_bytes = [0; 8];
        v_bytes[..bytes.len()].copy_from_slice(bytes);
        let raw = ChipdockAny {
            type_index: small_type_index,
            small_length: bytes.len() as u32,
            value: ChipdockAnyValue { v_bytes },
        };
        // SAFETY: a small string owns nothing outside itself.
        return unsafe { Any::from_raw(raw) };
    }
    let mut terminated = Vec::with_capacity(bytes.len() + 1);
    terminated.extend_from_slice(bytes);
    terminated.push(0);
    let body = allocate(ByteArrayBody::<TYPE_INDEX> {
        object: ChipdockByteArrayObject {
            object: header::<ByteArrayBody<TYPE_INDEX>>(),
            bytes: ChipdockStr { data: core::ptr::null(), size: bytes.len() },
        },
        bytes: terminated.into(),
    });
    let pointer = body.as_ptr();
    // SAFETY: just allocated and not shared yet; the bytes do not move while the object lives.
    unsafe { (*pointer).object.bytes.data = (*addr_of!((*pointer).bytes)).as_ptr().cast() };
    Any::from_object(own(body))
}

impl Str {
    /// Copies `text` into a new string.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(make::<CHIPDOCK_TYPE_STR>(text.as_bytes(), CHIPDOCK_TYPE_SMALL_STR))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = string_bytes(self.0.raw()).unwrap_or_default();
        // SAFETY: checked when the string was made or taken over, and strings do not change (V.5).
        unsafe { core::str::from_utf8_unchecked(bytes) }
    }

    /// Converts the string to a value.
    #[must_use]
    pub fn into_any(self) -> Any {
        self.0
    }

    /// Returns the string as a borrowed value.
    #[must_use]
    pub fn as_any_view(&self) -> AnyView<'_> {
        self.0.view()
    }

    pub(crate) fn from_view(view: AnyView<'_>) -> Option<Result<Self, Error>> {
        let view = view.seen_through();
        let raw = view.into_raw();
        let bytes = match raw.type_index {
            CHIPDOCK_TYPE_SMALL_STR | CHIPDOCK_TYPE_STR | chipdock_abi::CHIPDOCK_TYPE_RAW_STR => {
                string_bytes(&raw)?
            }
            _ => return None,
        };
        Some(match core::str::from_utf8(bytes) {
            Ok(text) if raw.type_index == chipdock_abi::CHIPDOCK_TYPE_RAW_STR => Ok(Self::new(text)),
            Ok(_) => view.to_owned().map(Self),
            Err(error) => Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!("expected UTF-8 text, found an invalid byte at {}", error.valid_up_to()),
            )),
        })
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Str {}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Bytes {
    /// Copies `bytes` into a new value.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(make::<CHIPDOCK_TYPE_BYTES>(bytes, CHIPDOCK_TYPE_SMALL_BYTES))
    }

    /// Converts the bytes to a value.
    #[must_use]
    pub fn into_any(self) -> Any {
        self.0
    }

    /// Returns the bytes as a borrowed value.
    #[must_use]
    pub fn as_any_view(&self) -> AnyView<'_> {
        self.0.view()
    }

    pub(crate) fn from_view(view: AnyView<'_>) -> Option<Result<Self, Error>> {
        let view = view.seen_through();
        let raw = view.into_raw();
        match raw.type_index {
            CHIPDOCK_TYPE_SMALL_BYTES | CHIPDOCK_TYPE_BYTES => Some(view.to_owned().map(Self)),
            chipdock_abi::CHIPDOCK_TYPE_BYTE_ARRAY_PTR => {
                string_bytes(&raw).map(|bytes| Ok(Self::new(bytes)))
            }
            _ => None,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        string_bytes(self.0.raw()).unwrap_or_default()
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
