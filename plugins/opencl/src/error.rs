//! Mapping of the driver's errors to those of the plugin interface.

use chipdock_plugin_api::{Error, ErrorKind};
use opencl3::error_codes as cl;

use crate::driver::{Answer, error_name};

/// The crate's error for every call if there is no library.
pub(crate) const NO_LIBRARY: i32 = cl::DLOPEN_RUNTIME_LOAD_FAILED;
/// The driver's error for a context whose device is gone (`cl_khr_terminate_context`).
const CONTEXT_TERMINATED: i32 = cl::CL_CONTEXT_TERMINATED_KHR;

/// The error kind of a driver's error.
fn kind_of(code: i32) -> ErrorKind {
    match code {
        cl::CL_MEM_OBJECT_ALLOCATION_FAILURE
        | cl::CL_OUT_OF_HOST_MEMORY
        | cl::CL_OUT_OF_RESOURCES
        | cl::CL_INVALID_BUFFER_SIZE => ErrorKind::OUT_OF_MEMORY,
        cl::CL_DEVICE_NOT_AVAILABLE | CONTEXT_TERMINATED => ErrorKind::DEVICE_LOST,
        NO_LIBRARY
        | cl::DLOPEN_FUNCTION_NOT_AVAILABLE
        | cl::CL_PLATFORM_NOT_FOUND_KHR
        | cl::CL_DEVICE_NOT_FOUND
        | cl::CL_COMPILER_NOT_AVAILABLE => ErrorKind::UNAVAILABLE,
        cl::CL_BUILD_PROGRAM_FAILURE
        | cl::CL_INVALID_BUILD_OPTIONS
        | cl::CL_INVALID_BINARY
        | cl::CL_INVALID_KERNEL_NAME
        | cl::CL_INVALID_KERNEL_DEFINITION
        | cl::CL_INVALID_ARG_INDEX
        | cl::CL_INVALID_ARG_VALUE
        | cl::CL_INVALID_ARG_SIZE
        | cl::CL_INVALID_KERNEL_ARGS
        | cl::CL_INVALID_WORK_DIMENSION
        | cl::CL_INVALID_WORK_GROUP_SIZE
        | cl::CL_INVALID_WORK_ITEM_SIZE
        | cl::CL_INVALID_GLOBAL_WORK_SIZE => ErrorKind::VALUE_ERROR,
        _ => ErrorKind::INTERNAL,
    }
}

/// The error of a call: the attempted operation, and the driver's error.
pub(crate) fn failed(what: impl std::fmt::Display, code: i32) -> Error {
    Error::new(kind_of(code), format!("{what}: the OpenCL driver answered {}", error_name(code)))
}

/// The error of work that failed after it was queued.
pub(crate) fn failed_later(what: impl std::fmt::Display, code: i32) -> Error {
    // The state has changed, whatever the driver ran out of.
    let is_lost = kind_of(code) == ErrorKind::DEVICE_LOST;
    let kind = if is_lost { ErrorKind::DEVICE_LOST } else { ErrorKind::IO };
    Error::new(
        kind,
        format!("{what} failed after it was queued: the OpenCL driver answered {}", error_name(code)),
    )
}

/// Adds the attempted operation to a result of the driver.
pub(crate) trait OrFailed<T> {
    /// Names the attempted operation.
    fn or_failed<D: std::fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Error>;
}

impl<T> OrFailed<T> for Answer<T> {
    fn or_failed<D: std::fmt::Display>(self, what: impl FnOnce() -> D) -> Result<T, Error> {
        self.map_err(|code| failed(what(), code))
    }
}
