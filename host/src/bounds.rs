//! Bounds of what a plugin answers (rule HOST-A3): one named number each, and texts read within them.
//!
//! A plugin runs with the program's rights, so these keep nobody out. They keep a mistake from taking the memory or the
//! hours of a program: what is beyond them is refused with bound and number, or, where it is only shown, cut.

use chipdock_abi::ChipdockStr;
use chipdock_plugin_api::text::{bytes_in, str_in};

/// Messages, diagnostics and lines of the log, each: some thousand lines of a compiler. What is longer is cut.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Names of functions, sections and nodes, versions, error kinds: some hundred times what they have.
pub(crate) const NAME_BYTES_MAX: usize = 1 << 10;
/// Texts beyond this are not even looked at: nobody has written them, and their size leads past what is there.
pub(crate) const PLAUSIBLE_BYTES_MAX: usize = 1 << 30;
/// Diagnostics of one build that are kept; nobody reads more, and how many more there were is said.
pub(crate) const DIAGNOSTICS_MAX: usize = 1000;
/// Diagnostics of one build at all: a module has no more nodes to be said anything of. Whoever goes on is stuck.
pub(crate) const DIAGNOSTICS_REPORTED_MAX: u64 = 100_000;
/// Bytes of all of them together.
pub(crate) const DIAGNOSTICS_BYTES_MAX: usize = 4 << 20;
/// An artifact's index: room for some 50,000 functions.
pub(crate) const INDEX_BYTES_MAX: usize = 16 << 20;
/// A target kind's schema: as much as a whole manifest, in which it stands too.
pub(crate) const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// What a registration says of itself: a few keys, and as much as a manifest where somebody makes a table of it.
pub(crate) const INFO_BYTES_MAX: usize = 1 << 20;
/// A target as a canonicalizer answers it, and a device's attribute: the largest known has a few thousand bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;
/// All sections of an artifact: code that reaches itself by 32-bit displacements cannot be larger.
pub(crate) const ARTIFACT_BYTES_MAX: u64 = 1 << 31;
/// Sections of an artifact: each costs up to its alignment beside its bytes, 64 KiB.
pub(crate) const SECTIONS_MAX: usize = 4096;
/// Devices of one device API: a row each in a list, and a thousand times what a machine holds today.
pub(crate) const DEVICES_MAX: i32 = 4096;
/// Axes of a tensor that a plugin asks for.
pub(crate) const AXES_MAX: usize = 64;
/// Registrations of one plugin, and the keys that a list of plugins shows of it.
pub(crate) const REGISTRATIONS_MAX: usize = 4096;
/// Refused registrations that are kept: the first is reported.
pub(crate) const REFUSED_MAX: usize = 16;
/// Errors that led to an error, as far as its message follows them.
pub(crate) const CAUSES_MAX: usize = 16;

/// What says that a text was cut takes no more than this; a text that is longer by less is left whole, so that nothing is
/// cut twice.
const NOTE_BYTES: usize = 64;

/// A text that must be one and short enough, borrowed for the call; `what` names it in the error.
///
/// # Safety
///
/// * `text` is empty or null, or points to `size` bytes that live and do not change for `'a`.
pub(crate) unsafe fn text<'a>(text: ChipdockStr, what: &str, bytes_max: usize) -> Result<&'a str, String> {
    if text.size > bytes_max {
        return Err(format!("{what} has {} bytes; expected at most {bytes_max}", text.size));
    }
    // SAFETY: `text` is null or points to `size` bytes that live for `'a`, as this function requires.
    unsafe { str_in(text, what) }.map_err(|error| error.message().into_owned())
}

/// A text to be shown: cut at the bound, and what is not UTF-8 is replaced.
///
/// # Safety
///
/// * As [`text`].
pub(crate) unsafe fn shown(text: ChipdockStr, bytes_max: usize) -> String {
    if text.data.is_null() && text.size != 0 {
        return format!("(a text of {} bytes at a null pointer)", text.size);
    }
    if text.size > PLAUSIBLE_BYTES_MAX {
        return format!("(a text of {} bytes, which is not looked at)", text.size);
    }
    let is_cut = text.size > bytes_max + NOTE_BYTES;
    let size = if is_cut { bytes_max } else { text.size };
    // SAFETY: `text` is null or points to `size` live bytes, as this function requires; what is not shown is not read.
    let bytes = unsafe { bytes_in(ChipdockStr { size, ..text }) };
    let mut shown = String::from_utf8_lossy(bytes).into_owned();
    if is_cut {
        // A character that the cut went through.
        if shown.ends_with(char::REPLACEMENT_CHARACTER) {
            shown.pop();
        }
        shown += &format!("… (cut: {} bytes in all)", text.size);
    }
    shown
}

/// As [`shown`], of a text of this side.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    // SAFETY: a live text, as long as it says.
    unsafe { shown(chipdock_plugin_api::text::str_out(text), bytes_max) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdock_plugin_api::text::str_out;

    /// HOST-A3.
    #[test]
    fn a_text_is_cut_at_the_bound_and_between_characters() {
        let (almost, rest) = ("x".repeat(5 + NOTE_BYTES), "x".repeat(NOTE_BYTES));
        assert_eq!(cut(&almost, 5), almost);
        assert_eq!(cut(&format!("longer{rest}"), 5), "longe… (cut: 70 bytes in all)");
        assert_eq!(cut(&format!("aaaaé{rest}"), 5), "aaaa… (cut: 70 bytes in all)");
        assert_eq!(cut(&cut(&format!("longer{rest}"), 5), 5), "longe… (cut: 70 bytes in all)", "cut once");
        let long = "x".repeat(64 << 20);
        assert!(cut(&long, MESSAGE_BYTES_MAX).len() <= MESSAGE_BYTES_MAX + NOTE_BYTES);
    }

    /// HOST-A3: a size that nothing has is not followed, nor is a null pointer.
    #[test]
    fn an_absurd_size_is_not_followed() {
        let absurd = |size| ChipdockStr { size, ..str_out("four") };
        for size in [1 << 46, 1 << 63, usize::MAX] {
            // SAFETY: a text of which nothing is read.
            let (shown, refused) = unsafe { (shown(absurd(size), 100), text(absurd(size), "its name", 100)) };
            assert_eq!(shown, format!("(a text of {size} bytes, which is not looked at)"));
            assert_eq!(refused.unwrap_err(), format!("its name has {size} bytes; expected at most 100"));
        }
        let null = ChipdockStr { data: std::ptr::null(), size: 7 };
        // SAFETY: null.
        let (shown, refused) = unsafe { (shown(null, 100), text(null, "its name", 100)) };
        assert_eq!(shown, "(a text of 7 bytes at a null pointer)");
        assert!(refused.unwrap_err().contains("found a null pointer"));
    }
}
