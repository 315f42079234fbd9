//! Strings of the boundary, read.

use std::borrow::Cow;

use chipdock_abi::ChipdockStr;

/// # Safety
///
/// * `text` is empty, or points to bytes that live and do not change for `'a`.
pub(crate) unsafe fn bytes<'a>(text: ChipdockStr) -> &'a [u8] {
    if text.data.is_null() || text.size == 0 {
        return &[];
    }
    // SAFETY: not null, and as long as it says by the caller's word.
    unsafe { std::slice::from_raw_parts(text.data.cast(), text.size) }
}

/// A string for a message: what is not UTF-8 is replaced.
///
/// # Safety
///
/// * As for [`bytes`].
pub(crate) unsafe fn lossy<'a>(text: ChipdockStr) -> Cow<'a, str> {
    // SAFETY: the caller's word.
    String::from_utf8_lossy(unsafe { bytes(text) })
}

/// A string that must be one; `what` names it in the error.
///
/// # Safety
///
/// * As for [`bytes`].
pub(crate) unsafe fn checked(text: ChipdockStr, what: &str) -> Result<String, String> {
    if text.data.is_null() && text.size != 0 {
        return Err(format!("{what} is null with {} bytes", text.size));
    }
    // SAFETY: the caller's word.
    let bytes = unsafe { bytes(text) };
    let text = std::str::from_utf8(bytes).map_err(|_| format!("{what} is not UTF-8"))?;
    Ok(text.to_owned())
}

/// A string for the length of a call.
pub(crate) fn out(text: &str) -> ChipdockStr {
    ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
}

/// A static string for a table.
pub(crate) const fn fixed(text: &'static str) -> ChipdockStr {
    ChipdockStr { data: text.as_ptr().cast(), size: text.len() }
}
