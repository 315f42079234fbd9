//! Status codes, which functions of a table return.

/// Success.
pub const CHIPDOCK_OK: i32 = 0;
/// A failure whose kind and message are in the error slot; packed functions return only this one.
/// Of other statuses, 1 to 15 are the caller's mistake, 16 to 31 the environment's fault and 32 to
/// 47 a bug, including unknown ones (P7.11).
pub const CHIPDOCK_ERROR: i32 = -1;

/// The caller's mistake: a value that is not allowed. Error kind `ValueError`.
pub const CHIPDOCK_INVALID_ARGUMENT: i32 = 1;
/// The caller's mistake: a value of the wrong type. Error kind `TypeError`.
pub const CHIPDOCK_WRONG_TYPE: i32 = 2;
/// The caller's mistake: an index or a range out of bounds. Error kind `IndexError`.
pub const CHIPDOCK_OUT_OF_RANGE: i32 = 3;
/// The caller's mistake: a name that does not exist. Error kind `NotFound`.
pub const CHIPDOCK_NOT_FOUND: i32 = 4;
/// The caller's mistake: a feature that is not supported, and never will be without another plugin.
/// Error kind `Unsupported`.
pub const CHIPDOCK_UNSUPPORTED: i32 = 5;
/// The caller's mistake: a call in the wrong state (freed, shut down, already present). Error kind
/// `WrongState`.
pub const CHIPDOCK_WRONG_STATE: i32 = 6;

/// The environment's fault: a library, a driver or a device is missing. Error kind `Unavailable`.
pub const CHIPDOCK_UNAVAILABLE: i32 = 16;
/// The environment's fault: no memory left; the state is as before the call. Error kind
/// `OutOfMemory`.
pub const CHIPDOCK_OUT_OF_MEMORY: i32 = 17;
/// The environment's fault: the device is gone until it is opened again. Error kind `DeviceLost`.
pub const CHIPDOCK_DEVICE_LOST: i32 = 18;
/// The environment's fault: a file or a process failed. Error kind `IoError`.
pub const CHIPDOCK_IO: i32 = 19;
/// The work was cancelled by the caller. Error kind `Cancelled`.
pub const CHIPDOCK_CANCELLED: i32 = 20;

/// A bug of the code that raised it. Error kind `InternalError`.
pub const CHIPDOCK_INTERNAL: i32 = 32;
/// A panic or an exception, caught at the boundary. Error kind `Panic`.
pub const CHIPDOCK_PANIC: i32 = 33;
/// A bug of a plugin: the host found that it broke a rule of the boundary. Error kind
/// `BrokenPlugin`.
pub const CHIPDOCK_BROKEN_PLUGIN: i32 = 34;

/// Log level: something failed.
pub const CHIPDOCK_LOG_ERROR: i32 = 1;
/// Log level: something works differently than expected.
pub const CHIPDOCK_LOG_WARNING: i32 = 2;
/// Log level: progress, for users.
pub const CHIPDOCK_LOG_INFO: i32 = 3;
/// Log level: details, for debugging.
pub const CHIPDOCK_LOG_DEBUG: i32 = 4;
