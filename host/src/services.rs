//! The table of services that a host gives to its plugins, and what it keeps for each thread.
//!
//! Each host instance has a table of its own, which lives as long as the process: a plugin may hold it for that long.
//! Errors and current streams are kept for each thread and each host, so two hosts in a process never see each
//! other's.

use chipdock_plugin_api::text::{static_str, str_in_lossy};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, Weak};

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_LOG_ERROR, CHIPDOCK_LOG_INFO, CHIPDOCK_LOG_WARNING,
    CHIPDOCK_TYPE_ERROR, ChipdockAny, ChipdockHost, ChipdockStr, DLDevice,
};
use chipdock_plugin_api as api;

use crate::error::{Error, ErrorKind};
use crate::host::HostInner;
use crate::options::{LogLevel, LogSink};
use crate::process::{fork_generation, watch_forks};
use crate::runtime::{EnvState, Threads};

/// One host's services. Leaked: it lives as long as the process.
pub(crate) struct Services {
    table: OnceLock<ChipdockHost>,
    id: u64,
    fork_generation: u64,
    log: LogSink,
    inner: OnceLock<Weak<HostInner>>,
    /// The threads that parallel loops run on.
    pub(crate) threads: Threads,
    /// The environment of compiled code that imports nothing.
    pub(crate) env: OnceLock<&'static EnvState>,
}

static NEXT_HOST: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Errors raised on this thread, by host.
    static ERRORS: RefCell<Vec<(u64, api::Error)>> = const { RefCell::new(Vec::new()) };
    /// Streams other than the default that are active on this thread, by host and device.
    static STREAMS: RefCell<Vec<(u64, DLDevice, *mut c_void)>> = const { RefCell::new(Vec::new()) };
    /// Devices that compiled code made active on this thread, by host; one for each device type.
    static DEVICES: RefCell<Vec<(u64, DLDevice)>> = const { RefCell::new(Vec::new()) };
    /// How many entries these have, for the fast path.
    static ERRORS_COUNT: Cell<u32> = const { Cell::new(0) };
    static STREAMS_COUNT: Cell<u32> = const { Cell::new(0) };
    static DEVICES_COUNT: Cell<u32> = const { Cell::new(0) };
}

impl Services {
    /// `threads` is how many parallel loops run on; nothing is automatic.
    pub(crate) fn leaked(log: LogSink, threads: Option<u32>) -> &'static Self {
        watch_forks();
        let services: &'static Self = Box::leak(Box::new(Self {
            table: OnceLock::new(),
            id: NEXT_HOST.fetch_add(1, Ordering::Relaxed),
            fork_generation: fork_generation(),
            log,
            inner: OnceLock::new(),
            threads: Threads::new(threads),
            env: OnceLock::new(),
        }));
        services.table.get_or_init(|| ChipdockHost {
            abi_major: CHIPDOCK_ABI_MAJOR,
            abi_minor: CHIPDOCK_ABI_MINOR,
            version: static_str(env!("CARGO_PKG_VERSION")),
            self_: ptr::from_ref(services).cast_mut().cast(),
            raise,
            raise_object,
            take_error,
            log: write_log,
            function,
            current_stream,
            query,
        });
        services
    }

    pub(crate) fn connect(&self, inner: Weak<HostInner>) {
        // Called once, when the host is made.
        let _ = self.inner.set(inner);
    }

    pub(crate) fn inner(&self) -> Option<std::sync::Arc<HostInner>> {
        self.inner.get()?.upgrade()
    }

    /// The table, as plugins are given it.
    pub(crate) fn table(&'static self) -> &'static ChipdockHost {
        self.table.get_or_init(|| *api::HostRef::standalone().table())
    }

    pub(crate) fn log(&self, level: LogLevel, line: &str) {
        (self.log)(level, line);
    }

    /// Refuses a forked child: locks, threads and drivers of the parent are not there.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        if fork_generation() == self.fork_generation {
            return Ok(());
        }
        Err(Error::new(ErrorKind::WrongState, "this host was made before the process was forked")
            .hint("make a host in the child, or start a new program"))
    }

    /// Forgets this thread's error of this host, so that an old one is not taken for the next failure's.
    pub(crate) fn clear_error(&self) {
        if ERRORS_COUNT.get() != 0 {
            drop(self.take());
        }
    }

    /// Takes this thread's error of this host out of its slot.
    pub(crate) fn take(&self) -> Option<api::Error> {
        let taken = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            let index = errors.iter().position(|(id, _)| *id == self.id)?;
            ERRORS_COUNT.set(ERRORS_COUNT.get() - 1);
            Some(errors.swap_remove(index).1)
        });
        taken.ok().flatten()
    }

    pub(crate) fn raise(&self, error: api::Error) {
        // The old error is dropped outside the borrow: its destructor may be somebody else's code.
        let old = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            match errors.iter_mut().find(|(id, _)| *id == self.id) {
                Some(slot) => Some(std::mem::replace(&mut slot.1, error)),
                None => {
                    errors.push((self.id, error));
                    ERRORS_COUNT.set(ERRORS_COUNT.get() + 1);
                    None
                }
            }
        });
        drop(old);
    }

    /// Raises a host's own error, for code that is called through a table.
    pub(crate) fn raise_own(&self, error: &Error) {
        self.raise(to_api(error));
    }

    /// Turns what a table's function returned into a result. `what` names the function.
    pub(crate) fn check(&self, status: i32, what: impl FnOnce() -> String) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        match self.take() {
            Some(error) => Err(from_api(&error)),
            None => Err(Error::new(
                ErrorKind::BrokenPlugin,
                format!("{} returned status {status} and raised no error", what()),
            )
            .hint("report it to the maintainer of the plugin")),
        }
    }

    /// The stream that is active on this thread for a device; null is the default.
    pub(crate) fn current_stream(&self, device: DLDevice) -> *mut c_void {
        if STREAMS_COUNT.get() == 0 {
            return ptr::null_mut();
        }
        let found = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            let stream = streams.iter().find(|(id, at, _)| *id == self.id && *at == device);
            stream.map_or(ptr::null_mut(), |(_, _, stream)| *stream)
        });
        found.unwrap_or(ptr::null_mut())
    }

    /// Whether this thread has a stream other than the default active anywhere.
    pub(crate) fn has_current_stream() -> bool {
        STREAMS_COUNT.get() != 0
    }

    /// Makes a stream active on this thread for a device, and answers the one before.
    pub(crate) fn set_current_stream(&self, device: DLDevice, stream: *mut c_void) -> *mut c_void {
        let before = self.current_stream(device);
        let _ = STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            streams.retain(|(id, at, _)| *id != self.id || *at != device);
            if !stream.is_null() {
                streams.push((self.id, device, stream));
            }
            STREAMS_COUNT.set(u32::try_from(streams.len()).unwrap_or(u32::MAX));
        });
        before
    }

    /// The streams other than the default that are active on this thread.
    pub(crate) fn current_streams(&self) -> Vec<(DLDevice, *mut c_void)> {
        if STREAMS_COUNT.get() == 0 {
            return Vec::new();
        }
        let found = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            let own = streams.iter().filter(|(id, _, _)| *id == self.id);
            own.map(|(_, device, stream)| (*device, *stream)).collect()
        });
        found.unwrap_or_default()
    }

    /// Makes a device the active one of its type on this thread.
    pub(crate) fn set_current_device(&self, device: DLDevice) {
        let _ = DEVICES.try_with(|devices| {
            let mut devices = devices.borrow_mut();
            devices.retain(|(id, at)| *id != self.id || at.device_type != device.device_type);
            devices.push((self.id, device));
            DEVICES_COUNT.set(u32::try_from(devices.len()).unwrap_or(u32::MAX));
        });
    }

    /// The device of a type that is active on this thread; the first where none was chosen.
    pub(crate) fn current_device(&self, device_type: i32) -> i32 {
        if DEVICES_COUNT.get() == 0 {
            return 0;
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            let own = devices.iter().find(|(id, device)| *id == self.id && device.device_type == device_type);
            own.map_or(0, |(_, device)| device.device_id)
        });
        found.unwrap_or(0)
    }

    /// The devices that are active on this thread, one for each type that one was chosen of.
    pub(crate) fn current_devices(&self) -> Vec<DLDevice> {
        if DEVICES_COUNT.get() == 0 {
            return Vec::new();
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            devices.iter().filter(|(id, _)| *id == self.id).map(|(_, device)| *device).collect()
        });
        found.unwrap_or_default()
    }
}

/// A string that must be one, copied; `what` names it in the error.
///
/// # Safety
///
/// * `text` is empty, or points to bytes that live and do not change for the call.
pub(crate) unsafe fn text_in(text: ChipdockStr, what: &str) -> Result<String, String> {
    // SAFETY: the caller's word.
    let text = unsafe { api::text::str_in(text, what) };
    text.map(str::to_owned).map_err(|error| error.message().into_owned())
}

/// A plugin's error as the host's.
pub(crate) fn from_api(error: &api::Error) -> Error {
    let mut message = error.message().into_owned();
    let mut cause = error.cause();
    while let Some(inner) = cause {
        message = format!("{message}; caused by {}: {}", inner.kind().as_str(), inner.message());
        cause = inner.cause();
    }
    Error::new(ErrorKind::from_name(error.kind().as_str()), message)
}

/// The host's error as one that crosses the boundary.
pub(crate) fn to_api(error: &Error) -> api::Error {
    api::Error::new(api::ErrorKind::new(error.kind().name().to_owned()), error.to_string())
}

/// # Safety
///
/// `self_` is that of a table made above.
unsafe fn services(self_: *mut c_void) -> &'static Services {
    // SAFETY: leaked, so it lives as long as the process.
    unsafe { &*self_.cast::<Services>() }
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: the caller passes the table's `self_` and strings that live for the call.
    let (services, kind, message) =
        unsafe { (services(self_), str_in_lossy(kind).into_owned(), str_in_lossy(message).into_owned()) };
    services.raise(api::Error::new(api::ErrorKind::new(kind), message));
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: the caller passes the table's `self_` and a value that lives for the call, or null.
    let (services, view) =
        unsafe { (services(self_), error.as_ref().map(|raw| api::AnyView::from_raw(*raw))) };
    let error = view.filter(|view| view.type_index() == CHIPDOCK_TYPE_ERROR);
    let error = error.and_then(|view| view.to::<api::Error>().ok()).unwrap_or_else(|| {
        let message = "raise_object was given something that is no error object";
        api::Error::new(api::ErrorKind::new("BrokenPlugin"), message)
    });
    services.raise(error);
}

unsafe extern "C" fn take_error(self_: *mut c_void, out_error: *mut ChipdockAny) {
    // SAFETY: the caller passes the table's `self_`, and a place that is writable or null.
    unsafe {
        if let Some(out) = out_error.as_mut() {
            let error = services(self_).take().map_or(api::Any::NONE, api::Any::from);
            *out = error.into_raw();
        }
    }
}

unsafe extern "C" fn write_log(self_: *mut c_void, level: i32, message: ChipdockStr) {
    let level = match level {
        CHIPDOCK_LOG_ERROR => LogLevel::Error,
        CHIPDOCK_LOG_WARNING => LogLevel::Warning,
        CHIPDOCK_LOG_INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    };
    // SAFETY: the caller passes the table's `self_` and a string that lives for the call.
    let (services, message) = unsafe { (services(self_), str_in_lossy(message)) };
    // The sink is the embedder's code: its panic stays on this side.
    let _ = catch_unwind(AssertUnwindSafe(|| services.log(level, &message)));
}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out: *mut ChipdockAny) -> i32 {
    // SAFETY: the caller passes the table's `self_` and a string that lives for the call.
    let (services, name) = unsafe { (services(self_), str_in_lossy(name)) };
    let found = catch_unwind(AssertUnwindSafe(|| match services.inner() {
        Some(inner) => inner.registered_function(&name),
        None => Err(Error::new(ErrorKind::Unavailable, "the host has been shut down")),
    }));
    let found = found.unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "the host panicked")));
    match found {
        Ok(function) => {
            let value = function.map_or(api::Any::NONE, api::Any::from);
            // SAFETY: the caller passes a place that is writable or null.
            if let Some(out) = unsafe { out.as_mut() } {
                *out = value.into_raw();
            }
            0
        }
        Err(error) => {
            services.raise_own(&error);
            -1
        }
    }
}

unsafe extern "C" fn current_stream(self_: *mut c_void, device: DLDevice) -> *mut c_void {
    // SAFETY: the caller passes the table's `self_`.
    unsafe { services(self_) }.current_stream(device)
}

/// This host has no interface yet ([`crate::manifest::HOST_INTERFACES`]).
unsafe extern "C" fn query(_self: *mut c_void, _name: ChipdockStr, _version: u32) -> *const c_void {
    ptr::null()
}
