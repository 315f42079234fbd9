//! Growth of the structs that are passed to calls: a chain of entries, which their last field
//! `next` begins.

use crate::value::ChipdockStr;

/// Flag of an extension: a callee that does not know its name returns `Unsupported` instead of
/// ignoring it.
pub const CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD: u32 = 1;
/// The greatest number of entries of a chain; a longer one is `ValueError`, because it may be a
/// cycle.
pub const CHIPDOCK_EXTENSIONS_MAX: u32 = 64;

/// The header of an entry; the data that belongs to its name follows. Borrowed for the call, as the
/// struct that it extends.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockExtension {
    /// The next entry, or null.
    pub next: *const ChipdockExtension,
    /// Name of the extension; an unknown one is ignored, except as the flag states.
    pub name: ChipdockStr,
    /// `CHIPDOCK_EXTENSION_*`; unknown bits are ignored.
    pub flags: u32,
    /// Size of the whole entry in bytes, including this header.
    pub size_bytes: u32,
}
