//! Strings of the boundary.

use std::borrow::Cow;

use chipdock_abi::ChipdockStr;

use crate::{Error, ErrorKind};

/// Makes a string of the boundary from a static text, for a table or a descriptor.
#[must_use]
pub const fn static_str(text: &'static str) -> ChipdockStr {
    ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
}

/// Makes a string of the boundary for the length of a call.
#[must_use]
pub fn str_out(text: &str) -> ChipdockStr {
    ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
}

/// Reads bytes that the other side passed.
///
/// # Safety
///
/// * `text` is empty or points to `size` bytes that live and do not change for `'a`.
pub unsafe fn bytes_in<'a>(text: ChipdockStr) -> &'a [u8] {
    if text.data.is_null() || text.size == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller guarantees that it points to `size` bytes.
    unsafe { core::slice::from_raw_parts(text.data.cast(), text.size) }
}

/// Reads a string that the other side passed; `what` names it in the error.
///
/// # Errors
///
/// `ValueError` if it is not UTF-8, or null with a size.
///
/// # Safety
///
/// * As for [`bytes_in`].
pub unsafe fn str_in<'a>(text: ChipdockStr, what: &str) -> Result<&'a str, Error> {
    if text.data.is_null() && text.size != 0 {
        let message = format!("{what}: expected {} bytes of text, found a null pointer", text.size);
        return Err(Error::new(ErrorKind::VALUE_ERROR, message));
    }
    // SAFETY: `text` is null or points to `size` bytes that live for `'a`, as this function
    // requires.
    let bytes = unsafe { bytes_in(text) };
    core::str::from_utf8(bytes).map_err(|error| {
        let message =
            format!("{what}: expected UTF-8 text, found an invalid byte at {}", error.valid_up_to());
        Error::new(ErrorKind::VALUE_ERROR, message)
    })
}

/// Reads a string that the other side passed, for display: bytes that are not UTF-8 are replaced.
///
/// # Safety
///
/// * As for [`bytes_in`].
pub unsafe fn str_in_lossy<'a>(text: ChipdockStr) -> Cow<'a, str> {
    // SAFETY: `text` is null or points to `size` bytes that live for `'a`, as this function
    // requires.
    String::from_utf8_lossy(unsafe { bytes_in(text) })
}
