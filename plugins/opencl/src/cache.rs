//! Programs that a driver has built once, kept by the rules of `chipdock_plugin_api::files::cache`.

use std::path::PathBuf;

use chipdock_plugin_api::Setting;
use chipdock_plugin_api::files::cache::{Kind, VARIABLE};

pub(crate) use chipdock_plugin_api::files::cache::{Cache, Key};

use crate::hardware::NAME;

/// A change of what a program is kept as, or of what its key is made of, is another version.
pub(crate) const KIND: Kind = Kind { name: NAME, version: 1 };
/// How many bytes the programs of all devices may have.
const SIZE_BYTES_MAX: u64 = 256 << 20;

/// The setting that names the folder.
pub(crate) const FOLDER: Setting<PathBuf> = Setting::path(
    "cache-dir",
    "The folder for programs that drivers have built, an absolute path; empty, none are kept; not set, the user's cache \
     folder.",
)
.variables(&[VARIABLE]);

/// The one in the folder that the setting names, if there is to be one.
pub(crate) fn at(folder: Option<PathBuf>) -> Option<Cache> {
    Cache::of_setting(folder, KIND, SIZE_BYTES_MAX)
}
