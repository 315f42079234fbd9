//! Cache of programs built by a driver, by the rules of `chipdock_plugin_api::files::cache`.

use std::path::PathBuf;

use chipdock_plugin_api::Setting;
use chipdock_plugin_api::files::cache::{Kind, VARIABLE};

pub(crate) use chipdock_plugin_api::files::cache::{Cache, Key};

use crate::hardware::NAME;

/// Kind of the cache. A change of the format of programs, or of the parts of the key, needs a new
/// version.
pub(crate) const KIND: Kind = Kind { name: NAME, version: 1 };
/// Maximum size in bytes of the programs of all devices.
const SIZE_BYTES_MAX: u64 = 256 << 20;

/// The setting that names the folder.
pub(crate) const FOLDER: Setting<PathBuf> = Setting::path(
    "cache-dir",
    "The folder for programs that drivers have built, an absolute path; empty, none are kept; not set, the user's cache \
     folder.",
)
.variables(&[VARIABLE]);

/// The cache in the folder that the setting names, if any.
pub(crate) fn at(folder: Option<PathBuf>) -> Option<Cache> {
    Cache::of_setting(folder, KIND, SIZE_BYTES_MAX)
}
