//! Status codes: what a function of a table returns.

/// Success.
pub const CHIPDOCK_OK: i32 = 0;
/// A failure whose kind and message stand in the error slot; what a packed function returns. Of other statuses, 1 to 15 are
/// the caller's mistake, 16 to 31 the environment's fault and 32 to 47 a bug, those that are not known here too (P7.11).
pub const CHIPDOCK_ERROR: i32 = -1;

/// The caller's mistake: a value that is not allowed. Error kind `ValueError`.
pub const CHIPDOCK_INVALID_ARGUMENT: i32 = 1;
/// The caller's mistake: a value of the wrong type. Error kind `TypeError`.
pub const CHIPDOCK_WRONG_TYPE: i32 = 2;
/// The caller's mistake: an index or a range out of bounds. Error kind `IndexError`.
pub const CHIPDOCK_OUT_OF_RANGE: i32 = 3;
/// The caller's mistake: no such name. Error kind `NotFound`.
pub const CHIPDOCK_NOT_FOUND: i32 = 4;
/// The caller's mistake: not supported here, and it never will be without another plugin. Error kind `Unsupported`.
pub const CHIPDOCK_UNSUPPORTED: i32 = 5;
/// The caller's mistake: not in this state (freed, shut down, already there). Error kind `WrongState`.
pub const CHIPDOCK_WRONG_STATE: i32 = 6;

/// The environment's fault: a library, a driver or a device is not there. Error kind `Unavailable`.
pub const CHIPDOCK_UNAVAILABLE: i32 = 16;
/// The environment's fault: no memory left; the state is as it was before the call. Error kind `OutOfMemory`.
pub const CHIPDOCK_OUT_OF_MEMORY: i32 = 17;
/// The environment's fault: the device is gone until it is opened again. Error kind `DeviceLost`.
pub const CHIPDOCK_DEVICE_LOST: i32 = 18;
/// The environment's fault: a file or a process failed. Error kind `IoError`.
pub const CHIPDOCK_IO: i32 = 19;
/// The work was cancelled by the caller. Error kind `Cancelled`.
pub const CHIPDOCK_CANCELLED: i32 = 20;

/// A bug of whoever raised it. Error kind `InternalError`.
pub const CHIPDOCK_INTERNAL: i32 = 32;
/// A panic or an exception, caught at the boundary. Error kind `Panic`.
pub const CHIPDOCK_PANIC: i32 = 33;
/// A plugin that broke a rule of the boundary, as the host found it. Error kind `BrokenPlugin`.
pub const CHIPDOCK_BROKEN_PLUGIN: i32 = 34;

/// Log level: something failed.
pub const CHIPDOCK_LOG_ERROR: i32 = 1;
/// Log level: something works otherwise than expected.
pub const CHIPDOCK_LOG_WARNING: i32 = 2;
/// Log level: what happens, for a person.
pub const CHIPDOCK_LOG_INFO: i32 = 3;
/// Log level: what happens, for whoever debugs.
pub const CHIPDOCK_LOG_DEBUG: i32 = 4;
