//! Bounds on a plugin's answers (rule HOST-A3): one named constant each, and functions that read
//! texts within them.
//!
//! A plugin runs with the program's rights, so these bounds are no protection from a hostile one.
//! They keep a mistake from using up the program's memory or time: an answer beyond its bound is
//! refused with the bound and the number, or cut where it is only shown.

use chipdock_abi::ChipdockStr;
use chipdock_plugin_api::text::{bytes_in, str_in};

/// Bytes of one message, diagnostic or log line: enough for some thousand lines of a compiler. A
/// longer one is cut.
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Bytes of the name of a function, section or node, of a version, or of an error kind: some
/// hundred times the usual length.
pub(crate) const NAME_BYTES_MAX: usize = 1 << 10;
/// Size beyond which a text is not even read: nobody wrote such a text, and reading it would run
/// past its memory.
pub(crate) const PLAUSIBLE_BYTES_MAX: usize = 1 << 30;
/// Diagnostics of one build that are kept; of the rest only the number is reported.
pub(crate) const DIAGNOSTICS_MAX: usize = 1000;
/// Diagnostics that one build may report at all, more than a module has nodes: a code generator
/// that goes on is stuck.
pub(crate) const DIAGNOSTICS_REPORTED_MAX: u64 = 100_000;
/// Bytes of all kept diagnostics of one build together.
pub(crate) const DIAGNOSTICS_BYTES_MAX: usize = 4 << 20;
/// Bytes of an artifact's index: room for some 50,000 functions.
pub(crate) const INDEX_BYTES_MAX: usize = 16 << 20;
/// Bytes of a target kind's schema: as many as a whole manifest, which contains the schema too.
pub(crate) const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// Bytes of a registration's info: usually a few keys, and as many as a manifest where a plugin
/// puts a table there.
pub(crate) const INFO_BYTES_MAX: usize = 1 << 20;
/// Bytes of a canonicalized target or of a device's attribute: the largest known has a few
/// thousand.
pub(crate) const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Bytes of all sections of an artifact (P13.2): constants may take what memory there is, and a
/// size beyond this is a mistake.
pub(crate) const ARTIFACT_BYTES_MAX: u64 = 1 << 40;
/// Bytes of an object file: as of an artifact's sections, and with all its names.
pub(crate) const OBJECT_BYTES_MAX: usize = 1 << 31;
/// Sections of an artifact: each costs up to its alignment, 64 KiB, beside its bytes.
pub(crate) const SECTIONS_MAX: usize = 4096;
/// Modules of an artifact's file: one for each target of a module, and as many for host functions.
pub(crate) const MODULES_MAX: usize = 4096;
/// Devices of one device API: each is a row in a list, and no machine has a thousandth of that
/// today.
pub(crate) const DEVICES_MAX: i32 = 4096;
/// Axes of a tensor that a plugin asks for.
pub(crate) const AXES_MAX: usize = 64;
/// Registrations of one plugin, and keys that a list of plugins shows of it.
pub(crate) const REGISTRATIONS_MAX: usize = 4096;
/// Refused registrations that are kept; the first is reported.
pub(crate) const REFUSED_MAX: usize = 16;
/// Causes of an error that its message lists.
pub(crate) const CAUSES_MAX: usize = 16;

/// Greatest size of the note that a text was cut. A text that exceeds its bound by less is left
/// whole, so that nothing is cut twice.
const NOTE_BYTES: usize = 64;

/// Reads a text that must be valid UTF-8 and within its bound, borrowed for the call; `what` names
/// it in the error.
///
/// # Safety
///
/// * `text` is empty or null, or points to `size` bytes that live and do not change for `'a`.
pub(crate) unsafe fn text<'a>(text: ChipdockStr, what: &str, bytes_max: usize) -> Result<&'a str, String> {
    if text.size > bytes_max {
        return Err(format!("{what} has {} bytes; expected at most {bytes_max}", text.size));
    }
    // SAFETY: `text` is null or points to `size` bytes that live for `'a`, as this function
    // requires.
    unsafe { str_in(text, what) }.map_err(|error| error.message().into_owned())
}

/// Reads a text to be shown: cuts it at the bound, and replaces what is not UTF-8.
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
    // SAFETY: `text` is null or points to `size` live bytes, as this function requires; bytes
    // beyond the bound are not read.
    let bytes = unsafe { bytes_in(ChipdockStr { size, ..text }) };
    let mut shown = String::from_utf8_lossy(bytes).into_owned();
    if is_cut {
        // A character that the cut split.
        if shown.ends_with(char::REPLACEMENT_CHARACTER) {
            shown.pop();
        }
        shown += &format!("… (cut: {} bytes in all)", text.size);
    }
    shown
}

/// Cuts a text of the host itself, as [`shown`] does.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    // SAFETY: a live text of the size that it states.
    unsafe { shown(chipdock_plugin_api::text::str_out(text), bytes_max) }
}

/// Returns the pointer, or null where it is misaligned: memory that cannot be read or written is
/// treated as absent.
pub(crate) fn aligned<T>(pointer: *const T) -> *const T {
    if pointer.is_aligned() { pointer } else { std::ptr::null() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdock_plugin_api::text::str_out;

    /// P13.1 to P13.3, P13.6: bounds are promises, which may only grow.
    #[test]
    fn p13_6_no_bound_is_below_that_of_the_contract() {
        use crate::files::LIBRARY_BYTES_MAX;
        use crate::open::manifest::SIZE_BYTES_MAX as MANIFEST_BYTES_MAX;
        use crate::open::settings::{DOC_BYTES_MAX, SETTINGS_MAX};
        let promised: [(&str, u64, u64); 15] = [
            ("P13.1, library", LIBRARY_BYTES_MAX, 8 << 30),
            ("P13.1, manifest", MANIFEST_BYTES_MAX, 1 << 20),
            ("P13.1, registrations", REGISTRATIONS_MAX as u64, 4096),
            ("P13.1, settings", SETTINGS_MAX as u64, 256),
            ("P13.1, doc of a setting", DOC_BYTES_MAX as u64, 4 << 10),
            ("P13.1, devices", u64::from(DEVICES_MAX.unsigned_abs()), 4096),
            ("P13.1, name", NAME_BYTES_MAX as u64, 1 << 10),
            (
                "P13.1, schema, info, answer",
                SCHEMA_BYTES_MAX.min(INFO_BYTES_MAX).min(ANSWER_BYTES_MAX) as u64,
                1 << 20,
            ),
            ("P13.2, index", INDEX_BYTES_MAX as u64, 16 << 20),
            ("P13.2, sections", SECTIONS_MAX as u64, 4096),
            ("P13.2, bytes", ARTIFACT_BYTES_MAX, 1 << 40),
            ("P13.2, object file", OBJECT_BYTES_MAX as u64, 1 << 31),
            ("P13.3, diagnostics kept", DIAGNOSTICS_MAX as u64, 1000),
            ("P13.3, diagnostics counted", DIAGNOSTICS_REPORTED_MAX, 100_000),
            ("P13.3, message", MESSAGE_BYTES_MAX as u64, 64 << 10),
        ];
        for (what, bound, least) in promised {
            assert!(bound >= least, "{what}: {bound}, promised at least {least}");
        }
    }

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
