//! Functions of the environment that host code calls as C functions (rule IR-E8).
//!
//! These names belong to the IR: no library has such functions. A code generator of host code
//! lowers the calls to the functions of `ChipdockEnv`.

/// `chipdock_device_type("npu") -> int32`: the number of the device type of that name, which the
/// host assigned; or -1 with an error raised.
pub const DEVICE_TYPE: &str = "chipdock_device_type";

/// `chipdock_set_device(device_type, device_id) -> int32`: makes a device the active one of its
/// type on the thread; 0, or -1 with an error raised.
pub const SET_DEVICE: &str = "chipdock_set_device";

/// `chipdock_go_on() -> int32`: asks the environment's interface `interrupt` whether the call goes
/// on; 0, or -1 with an error raised. 0 where there is no such interface (X.15).
pub const GO_ON: &str = "chipdock_go_on";
