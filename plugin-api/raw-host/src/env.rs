//! Environment for compiled code that is loaded through the bare tables: errors, workspace in host memory, and loops on the
//! caller's thread.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockEnv, ChipdockFunctionObject, ChipdockInterface,
    ChipdockParallelBody,
};
use chipdock_plugin_api::{Error, ErrorKind};

use crate::host::RawHost;

/// Time that a loader may take to release an environment that is no longer used.
const RELEASE_TIME: Duration = Duration::from_secs(2);

/// An environment that counts its releases. It is leaked, so that uses after the release are detected.
pub struct Lent {
    env: OnceLock<ChipdockEnv>,
    host: &'static RawHost,
    released: AtomicU32,
    late: AtomicU32,
}

impl Lent {
    /// Creates an environment for one load, whose errors are raised with `host`; it is never freed.
    #[must_use]
    pub fn new(host: &'static RawHost) -> &'static Self {
        let (released, late) = (AtomicU32::new(0), AtomicU32::new(0));
        Box::leak(Box::new(Self { env: OnceLock::new(), host, released, late }))
    }

    pub(crate) fn table(&'static self) -> &'static ChipdockEnv {
        self.env.get_or_init(|| ChipdockEnv {
            version: 1,
            flags: 0,
            self_: ptr::from_ref(self).cast_mut().cast(),
            raise,
            allocate_workspace,
            free_workspace,
            current_stream,
            current_device,
            set_device,
            device_type,
            imported,
            parallel_launch,
            query,
            release,
        })
    }

    /// Returns the number of releases so far.
    #[must_use]
    pub fn released(&self) -> u32 {
        self.released.load(Ordering::SeqCst)
    }

    /// Returns the number of releases, waiting a moment for the first one.
    #[must_use]
    pub fn released_in_time(&self) -> u32 {
        let begun = Instant::now();
        while self.released() == 0 && begun.elapsed() < RELEASE_TIME {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.released()
    }

    /// Returns the number of uses after the release.
    #[must_use]
    pub fn used_late(&self) -> u32 {
        self.late.load(Ordering::SeqCst)
    }
}

fn host_of<'a>(env: *const ChipdockEnv) -> &'a RawHost {
    // SAFETY: compiled code passes the environment that it was given, whose `self_` was leaked.
    let lent = unsafe { &*(*env).self_.cast::<Lent>() };
    if lent.released() > 0 {
        lent.late.fetch_add(1, Ordering::SeqCst);
    }
    lent.host
}

unsafe extern "C" fn release(env: *const ChipdockEnv) {
    // SAFETY: compiled code passes the environment that it was given, whose `self_` was leaked.
    let lent = unsafe { &*(*env).self_.cast::<Lent>() };
    lent.released.fetch_add(1, Ordering::SeqCst);
}

/// Writes the answer to an output pointer, after checking the pointer.
fn put<T>(env: *const ChipdockEnv, out: *mut T, value: T) -> i32 {
    let host = host_of(env);
    if out.is_null() || !out.is_aligned() {
        host.set(Error::new(ErrorKind::BROKEN_PLUGIN, "the environment was given no place for its answer"));
        return CHIPDOCK_ERROR;
    }
    // SAFETY: the pointer was just checked, and the caller provides the room behind it.
    unsafe { out.write(value) };
    CHIPDOCK_OK
}

fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the pointer is not null, and its text is NUL-terminated by the environment's contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn raise(
    env: *const ChipdockEnv,
    kind: *const c_char,
    message: *const c_char,
    _location: *const c_char,
) {
    host_of(env).set(Error::new(ErrorKind::new(text(kind)), text(message)));
}

unsafe extern "C" fn allocate_workspace(
    env: *const ChipdockEnv,
    device_type: i32,
    _device_id: i32,
    size_bytes: u64,
) -> *mut c_void {
    let refuse = |kind, message: &'static str| {
        host_of(env).set(Error::new(kind, message));
        ptr::null_mut()
    };
    if device_type != CHIPDOCK_DEVICE_CPU {
        return refuse(ErrorKind::UNSUPPORTED, "this environment has workspace in host memory only");
    }
    let Ok(size) = usize::try_from(size_bytes) else {
        return refuse(ErrorKind::OUT_OF_MEMORY, "the workspace is too large");
    };
    let mut data = ptr::null_mut();
    // SAFETY: there is room for the result; 64 is a power of two and a multiple of a pointer's size.
    match unsafe { libc::posix_memalign(&raw mut data, 64, size.max(1)) } {
        0 => data,
        _ => refuse(ErrorKind::OUT_OF_MEMORY, "no memory for the workspace"),
    }
}

unsafe extern "C" fn free_workspace(
    env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    data: *mut c_void,
) -> i32 {
    host_of(env);
    // SAFETY: `allocate_workspace` made the block, and it is freed once.
    unsafe { libc::free(data) };
    CHIPDOCK_OK
}

unsafe extern "C" fn current_stream(
    env: *const ChipdockEnv,
    _device_type: i32,
    _device_id: i32,
    out_stream: *mut *mut c_void,
) -> i32 {
    put(env, out_stream, ptr::null_mut())
}

unsafe extern "C" fn current_device(
    env: *const ChipdockEnv,
    _device_type: i32,
    out_device_id: *mut i32,
) -> i32 {
    put(env, out_device_id, 0)
}

unsafe extern "C" fn set_device(env: *const ChipdockEnv, _device_type: i32, _device_id: i32) -> i32 {
    host_of(env);
    CHIPDOCK_OK
}

unsafe extern "C" fn device_type(
    env: *const ChipdockEnv,
    name: *const c_char,
    _out_device_type: *mut i32,
) -> i32 {
    let message = format!("this environment knows no device \"{}\"", text(name));
    host_of(env).set(Error::new(ErrorKind::NOT_FOUND, message));
    CHIPDOCK_ERROR
}

unsafe extern "C" fn imported(
    env: *const ChipdockEnv,
    name: *const c_char,
    _out_function: *mut *const ChipdockFunctionObject,
) -> i32 {
    let message = format!("nothing is imported, so there is no \"{}\"", text(name));
    host_of(env).set(Error::new(ErrorKind::NOT_FOUND, message));
    CHIPDOCK_ERROR
}

unsafe extern "C" fn query(
    env: *const ChipdockEnv,
    _name: *const c_char,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    put(env, out_interface, ChipdockInterface::NONE)
}

unsafe extern "C" fn parallel_launch(
    env: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    _tasks_max: i32,
) -> i32 {
    host_of(env);
    // SAFETY: compiled code passes a body together with its data.
    unsafe { (body.0)(0, 1, data) }
}
