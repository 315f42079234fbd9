//! Programs that a driver has built once, kept by the rules of `chipdock_plugin_api::files::cache`.

use chipdock_plugin_api::files::cache::Kind;
pub(crate) use chipdock_plugin_api::files::cache::{Cache, Key};

use crate::hardware::NAME;

/// A change of what a program is kept as, or of what its key is made of, is another version.
pub(crate) const KIND: Kind = Kind { name: NAME, version: 1 };
/// How many bytes the programs of all devices may have.
const SIZE_BYTES_MAX: u64 = 256 << 20;

/// The one that the environment names, if there is to be one.
pub(crate) fn of_process() -> Option<Cache> {
    Cache::of_process(KIND, SIZE_BYTES_MAX)
}
