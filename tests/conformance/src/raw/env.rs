//! An environment for compiled code that is loaded by the suite itself: errors, workspace in host memory, loops on the
//! caller's thread.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockAny, ChipdockEnv, ChipdockParallelBody,
    DLDevice,
};
use chipdock_plugin_api::{Error, ErrorKind};

use super::host::SuiteHost;

fn host_of<'a>(env: *const ChipdockEnv) -> &'a SuiteHost {
    // SAFETY: compiled code passes the environment that it was given, whose `self_` is a leaked suite host.
    unsafe { &*(*env).self_.cast::<SuiteHost>() }
}

fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and NUL-terminated by the environment's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn raise(env: *const ChipdockEnv, kind: *const c_char, message: *const c_char) {
    host_of(env).set(Error::new(ErrorKind::new(text(kind)), text(message)));
}

unsafe extern "C" fn allocate_workspace(
    env: *const ChipdockEnv,
    device: DLDevice,
    size_bytes: u64,
) -> *mut c_void {
    let refuse = |kind, message: &'static str| {
        host_of(env).set(Error::new(kind, message));
        ptr::null_mut()
    };
    if device.device_type != CHIPDOCK_DEVICE_CPU {
        return refuse(ErrorKind::UNSUPPORTED, "the suite's environment has workspace in host memory only");
    }
    let Ok(size) = usize::try_from(size_bytes) else {
        return refuse(ErrorKind::OUT_OF_MEMORY, "the workspace is too large");
    };
    let mut data = ptr::null_mut();
    // SAFETY: a place to write to; 64 is a power of two and a multiple of a pointer's size.
    match unsafe { libc::posix_memalign(&raw mut data, 64, size.max(1)) } {
        0 => data,
        _ => refuse(ErrorKind::OUT_OF_MEMORY, "no memory for the workspace"),
    }
}

unsafe extern "C" fn free_workspace(_env: *const ChipdockEnv, _device: DLDevice, data: *mut c_void) -> i32 {
    // SAFETY: made by `allocate_workspace`, and freed once.
    unsafe { libc::free(data) };
    CHIPDOCK_OK
}

unsafe extern "C" fn current_stream(_env: *const ChipdockEnv, _device: DLDevice) -> *mut c_void {
    ptr::null_mut()
}

unsafe extern "C" fn set_device(_env: *const ChipdockEnv, _device: DLDevice) -> i32 {
    CHIPDOCK_OK
}

unsafe extern "C" fn current_device(_env: *const ChipdockEnv, _device_type: i32) -> i32 {
    0
}

unsafe extern "C" fn call_imported(
    env: *const ChipdockEnv,
    name: *const c_char,
    _args: *const ChipdockAny,
    _num_args: i32,
    _result: *mut ChipdockAny,
) -> i32 {
    let message = format!("nothing is imported, so there is no \"{}\"", text(name));
    host_of(env).set(Error::new(ErrorKind::NOT_FOUND, message));
    CHIPDOCK_ERROR
}

unsafe extern "C" fn parallel_launch(
    _env: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    _tasks_max: i32,
) -> i32 {
    // SAFETY: compiled code passes a body and its data.
    unsafe { (body.0)(0, 1, data) }
}

/// The environment whose errors are raised with that host; for good.
pub(super) fn of(host: &'static SuiteHost) -> &'static ChipdockEnv {
    static MADE: Mutex<BTreeMap<usize, &'static ChipdockEnv>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(ptr::from_ref(host).addr()).or_insert_with(|| leak(host))
}

fn leak(host: &'static SuiteHost) -> &'static ChipdockEnv {
    Box::leak(Box::new(ChipdockEnv {
        version: 1,
        padding: 0,
        self_: ptr::from_ref(host).cast_mut().cast(),
        raise,
        allocate_workspace,
        free_workspace,
        current_stream,
        set_device,
        call_imported,
        parallel_launch,
        current_device,
    }))
}
