//! How structs that a call is given grow: a chain of entries behind their last field, `next`.

use crate::value::ChipdockStr;

/// Flag of an extension: who does not know its name answers `Unsupported` instead of ignoring it.
pub const CHIPDOCK_EXTENSION_MUST_BE_UNDERSTOOD: u32 = 1;
/// How many entries a chain has at most; a longer one is `ValueError`, as it may be a circle.
pub const CHIPDOCK_EXTENSIONS_MAX: u32 = 64;

/// The header of an entry; what the name says follows. Borrowed for the call, as what it hangs on.
#[repr(C)]
#[derive(Clone, Copy)]
#[cfg_attr(feature = "layout-check", derive(abi_stable::StableAbi))]
pub struct ChipdockExtension {
    /// The next entry, or null.
    pub next: *const ChipdockExtension,
    /// What it is; one that is not known is ignored, but for the flag.
    pub name: ChipdockStr,
    /// `CHIPDOCK_EXTENSION_*`; bits that are not known are ignored.
    pub flags: u32,
    /// Of the whole entry, this header included.
    pub size_bytes: u32,
}
