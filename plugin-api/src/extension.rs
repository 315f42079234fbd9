//! Chains of extensions at the end of requests, artifacts and diagnostics (P3.15 to P3.17).

use chipdock_abi::{CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, CHIPDOCK_EXTENSIONS_MAX, ChipdockExtension};

use crate::text::str_in_lossy;
use crate::{Error, ErrorKind};

/// The greatest length of a name. A longer size is invalid and would lead past the name's bytes.
const NAME_BYTES_MAX: usize = 1024;

/// Reads the chain of `what`, in which no entry is known here: entries are ignored, unless they are
/// mandatory.
///
/// # Errors
///
/// * `Unsupported`: an entry is mandatory; the message has its name.
/// * `ValueError`: the chain is longer than [`CHIPDOCK_EXTENSIONS_MAX`], or an entry is not
///   aligned.
///
/// # Safety
///
/// * `next` is null or points to an entry that lives, with its name and the entries after it, for
///   the call.
pub unsafe fn check(next: *const ChipdockExtension, what: &str) -> Result<(), Error> {
    // SAFETY: a chain as this function requires.
    unsafe { check_with(next, what, |_, _| Ok(false)) }
}

/// Reads the chain of `what`: `understand` is given each entry with its name, and returns false for
/// one that is not known here.
///
/// # Errors
///
/// As of [`check`], and the first of `understand`.
///
/// # Safety
///
/// * As of [`check`].
pub(crate) unsafe fn check_with(
    mut next: *const ChipdockExtension,
    what: &str,
    mut understand: impl FnMut(&str, &ChipdockExtension) -> Result<bool, Error>,
) -> Result<(), Error> {
    for _ in 0..CHIPDOCK_EXTENSIONS_MAX {
        if next.is_null() {
            return Ok(());
        }
        crate::ensure!(
            next.is_aligned(),
            ErrorKind::VALUE_ERROR,
            "an extension of {what} is not aligned: pass a valid pointer, or null for none"
        );
        // SAFETY: not null and aligned; the caller guarantees that it is live.
        let entry = unsafe { &*next };
        let is_name = entry.name.size <= NAME_BYTES_MAX;
        // SAFETY: not null and aligned; the caller guarantees that the name lives for the call.
        let name = if is_name { unsafe { str_in_lossy(entry.name) } } else { "…".into() };
        if !understand(&name, entry)? && entry.flags & CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD != 0 {
            crate::bail!(
                ErrorKind::UNSUPPORTED,
                "{what} has the extension {name:?}, which must be understood and is not known here: \
                 do without it, or update whoever was asked"
            );
        }
        next = entry.next;
    }
    crate::ensure!(
        next.is_null(),
        ErrorKind::VALUE_ERROR,
        "{what} has a chain of more than {CHIPDOCK_EXTENSIONS_MAX} extensions: expected it to end with null"
    );
    Ok(())
}

/// Returns an entry of the chain of `what` as the struct that belongs to its name.
///
/// # Errors
///
/// `ValueError`: the entry is too short.
///
/// # Safety
///
/// * `T` begins with a [`ChipdockExtension`] and is aligned like it, and belongs to `name`.
/// * The entry is in memory as long as it says.
pub(crate) unsafe fn entry_as<'a, T: Copy>(
    entry: &'a ChipdockExtension,
    name: &str,
    what: &str,
) -> Result<&'a T, Error> {
    let (expected, found) = (size_of::<T>(), entry.size_bytes);
    crate::ensure!(
        found as usize >= expected,
        ErrorKind::VALUE_ERROR,
        "{what} has an extension {name} of {found} bytes: expected {expected}"
    );
    // SAFETY: an aligned entry of that name that is as long as it says, as this function requires.
    Ok(unsafe { &*core::ptr::from_ref(entry).cast::<T>() })
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::text::static_str;

    fn entry(name: &'static str, flags: u32, next: *const ChipdockExtension) -> ChipdockExtension {
        let size_bytes = size_of::<ChipdockExtension>() as u32;
        ChipdockExtension { next, name: static_str(name), flags, size_bytes }
    }

    fn kind(next: *const ChipdockExtension) -> Option<(String, String)> {
        // SAFETY: entries of the caller's stack, live for the call.
        let error = unsafe { check(next, "the request") }.err()?;
        Some((error.kind().to_string(), error.message().into_owned()))
    }

    #[test]
    fn p3_16_optional_extensions_are_ignored_and_required_ones_refused_by_name() {
        let last = entry("suite.last", !CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, ptr::null());
        let first = entry("suite.first", 0, &last);
        assert_eq!(kind(ptr::null()), None);
        assert_eq!(kind(&first), None);
        let must = entry("suite.must", CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD, ptr::null());
        let before = entry("suite.before", 0, &must);
        let (kind, message) = kind(&before).unwrap();
        assert_eq!(kind, "Unsupported");
        assert!(message.contains("\"suite.must\""), "{message}");
    }

    #[test]
    fn p3_15_a_chain_has_64_entries_and_a_longer_one_or_a_circle_is_refused() {
        let mut chain: Vec<Box<ChipdockExtension>> = Vec::new();
        for _ in 0..64 {
            let next = chain.last().map_or(ptr::null(), |last| ptr::from_ref(&**last));
            chain.push(Box::new(entry("suite.one", 0, next)));
        }
        let whole = ptr::from_ref(&**chain.last().unwrap());
        assert_eq!(kind(whole), None);
        assert_eq!(kind(&entry("suite.more", 0, whole)).unwrap().0, "ValueError");
        let mut circle = entry("suite.circle", 0, ptr::null());
        circle.next = &raw const circle;
        assert_eq!(kind(&raw const circle).unwrap().0, "ValueError");
        assert_eq!(kind(ptr::without_provenance(9)).unwrap().0, "ValueError");
    }
}
