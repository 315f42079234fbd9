//! Pipeline caches of drivers, kept as files by the rules of `chipdock_plugin_api::files::cache`
//! (VKMOD-M6).

use std::fmt::Write as _;
use std::path::PathBuf;

use ash::vk;
use chipdock_plugin_api::Setting;
use chipdock_plugin_api::files::cache::{Cache, Key, Kind, VARIABLE};

use crate::device::{NAME, Properties};

/// Kind of the cache. A change of the parts of the key needs a new version.
pub(crate) const KIND: Kind = Kind { name: NAME, version: 1 };
/// Maximum size in bytes of the caches of all modules and devices.
const SIZE_BYTES_MAX: u64 = 256 << 20;
/// Size in bytes of the header of a driver's cache: length, version, vendor, device, UUID.
const HEADER_BYTES: usize = 16 + vk::UUID_SIZE;

/// The setting that names the folder.
pub(crate) const FOLDER: Setting<PathBuf> = Setting::path(
    "cache-dir",
    "The folder for pipelines that drivers have compiled, an absolute path; empty, none are kept; not set, the user's \
     cache folder.",
)
.variables(&[VARIABLE]);

/// The cache in the folder that the setting names, if any.
pub(crate) fn at(folder: Option<PathBuf>) -> Option<Cache> {
    Cache::of_setting(folder, KIND, SIZE_BYTES_MAX)
}

/// The key of a module's pipelines on a device: the digest of its words, and what distinguishes
/// devices and drivers.
pub(crate) fn key(digest: &str, device: &Properties) -> Key {
    let uuid = device.pipeline_cache_uuid.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let numbers =
        [device.vendor_id, device.device_id, device.driver_version].map(|number| number.to_string());
    let [vendor, id, driver] = &numbers;
    KIND.key(&[digest, &uuid, vendor, id, driver])
}

/// The driver's cache of that key, if there is a file of it and it is of this device.
pub(crate) fn read(folder: Option<PathBuf>, key: &Key, device: &Properties) -> Option<Vec<u8>> {
    at(folder)?.read(key).filter(|cache| is_of(cache, device))
}

/// Returns true if a driver's cache begins with a whole header of that device: some drivers do not
/// check it.
fn is_of(cache: &[u8], device: &Properties) -> bool {
    let Some((header, _)) = cache.split_at_checked(HEADER_BYTES) else { return false };
    let (words, _) = header.as_chunks::<4>();
    let [length, version, vendor, id, ..] = words else { return false };
    let number = |word: &[u8; 4]| u32::from_le_bytes(*word);
    let length = usize::try_from(number(length)).unwrap_or(usize::MAX);
    (HEADER_BYTES..=cache.len()).contains(&length)
        && number(version) == vk::PipelineCacheHeaderVersion::ONE.as_raw().cast_unsigned()
        && number(vendor) == device.vendor_id
        && number(id) == device.device_id
        && header.ends_with(&device.pipeline_cache_uuid)
}
