//! Mapping of Vulkan's results to the errors of the plugin interface (VK-D6).

use ash::vk;
use chipdock_plugin_api::{Error, ErrorKind};

/// The error kind of a result.
fn kind_of(result: vk::Result) -> ErrorKind {
    use vk::Result as R;
    match result {
        R::ERROR_OUT_OF_HOST_MEMORY
        | R::ERROR_OUT_OF_DEVICE_MEMORY
        | R::ERROR_OUT_OF_POOL_MEMORY
        | R::ERROR_FRAGMENTED_POOL
        | R::ERROR_FRAGMENTATION
        | R::ERROR_TOO_MANY_OBJECTS
        | R::ERROR_MEMORY_MAP_FAILED => ErrorKind::OUT_OF_MEMORY,
        R::ERROR_DEVICE_LOST => ErrorKind::DEVICE_LOST,
        R::ERROR_INCOMPATIBLE_DRIVER | R::ERROR_LAYER_NOT_PRESENT | R::ERROR_INITIALIZATION_FAILED => {
            ErrorKind::UNAVAILABLE
        }
        R::ERROR_EXTENSION_NOT_PRESENT
        | R::ERROR_FEATURE_NOT_PRESENT
        | R::ERROR_FORMAT_NOT_SUPPORTED
        | R::ERROR_INVALID_EXTERNAL_HANDLE => ErrorKind::UNSUPPORTED,
        R::ERROR_INVALID_SHADER_NV => ErrorKind::VALUE_ERROR,
        _ => ErrorKind::INTERNAL,
    }
}

/// The error of a call: the attempted operation, and the driver's result by name.
pub(crate) fn failed(what: impl std::fmt::Display, result: vk::Result) -> Error {
    Error::new(kind_of(result), format!("{what}: the Vulkan driver answered {}", name_of(result)))
}

/// The error of work that failed after it was queued.
pub(crate) fn failed_later(what: impl std::fmt::Display, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::IO, format!("{what} failed after it was queued: {why}"))
}

/// Vulkan's name of a result.
pub(crate) fn name_of(result: vk::Result) -> String {
    // `Debug` writes the name without `VK_`, or the number of one that ash does not know.
    format!("VK_{result:?}")
}

/// Adds the attempted operation to a result of the driver.
pub(crate) trait OrFailed<T> {
    /// Names the attempted operation.
    fn or_failed<D: std::fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Error>;
}

impl<T> OrFailed<T> for Result<T, vk::Result> {
    fn or_failed<D: std::fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Error> {
        self.map_err(|result| failed(what(), result))
    }
}
