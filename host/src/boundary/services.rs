//! The table of services that a host gives to its plugins, and the state that it keeps for each
//! thread.
//!
//! Each plugin of each host has a table of its own ([`PluginTable`], H.7), which lives as long as
//! the process: a plugin may hold it for that long. Errors and current streams are kept for each
//! thread and each host, so two hosts in a process never see each other's.

use chipdock_plugin_api::text::static_str;
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_ERROR, CHIPDOCK_OK, CHIPDOCK_TYPE_ERROR, ChipdockAny,
    ChipdockBuildSession, ChipdockDevice, ChipdockHost, ChipdockInterface, ChipdockRegistrar, ChipdockStr,
};
use chipdock_plugin_api as api;

use crate::boundary::lent::{self, Lent};
use crate::boundary::plugin_table::{PluginTable, plugin_table};
use crate::boundary::registrar::Staging;
use crate::boundary::session::Session;
use crate::bounds::{self, CAUSES_MAX, MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
use crate::error::{Error, ErrorKind, Fault, Subject};
use crate::host::HostInner;
use crate::open::registry::HOST_PLUGIN;
use crate::open::settings::Settings;
use crate::options::{LogLevel, LogSink};
use crate::process::{fork_generation, watch_forks};
use crate::runtime::{EnvState, Threads};
use crate::trace;

/// One host's services. Leaked: it lives as long as the process.
pub(crate) struct Services {
    /// Table for the host's own plugin.
    own: OnceLock<&'static PluginTable>,
    id: u64,
    fork_generation: u64,
    log: LogSink,
    /// Whether it was said that there is no compile cache.
    pub(crate) told_of_cache: AtomicBool,
    inner: OnceLock<Weak<HostInner>>,
    /// Emptied when the host is closed: they hold a copy of the environment.
    settings: RwLock<Arc<Settings>>,
    /// Threads for parallel loops.
    pub(crate) threads: Threads,
    /// The environment of compiled code that imports nothing.
    pub(crate) env: OnceLock<Arc<EnvState>>,
    /// Build sessions and registrars that are currently lent to plugins.
    pub(crate) sessions: Lent<Session, ChipdockBuildSession>,
    pub(crate) registrars: Lent<Staging, ChipdockRegistrar>,
}

static NEXT_HOST: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Errors raised on this thread, by host.
    static ERRORS: RefCell<Vec<(u64, Raised)>> = const { RefCell::new(Vec::new()) };
    /// Streams other than the default that are active on this thread, by host and device.
    static STREAMS: RefCell<Vec<(u64, ChipdockDevice, *mut c_void)>> = const { RefCell::new(Vec::new()) };
    /// Devices that compiled code made active on this thread, by host; one for each device type.
    static DEVICES: RefCell<Vec<(u64, ChipdockDevice)>> = const { RefCell::new(Vec::new()) };
    /// Numbers of these entries, for the fast path: in one, as each look costs a call in a library.
    static COUNTS: Counts = const { Counts { errors: Cell::new(0), streams: Cell::new(0), devices: Cell::new(0) } };
}

/// An error that was raised.
struct Raised {
    error: api::Error,
    by: Speaker,
}

/// Whose words an error is.
#[derive(Clone, Copy)]
enum Speaker {
    /// This host's.
    Host,
    /// Those of compiled code, or of a library that is no plugin.
    Code,
    /// Those of a plugin, which raised it through its own table.
    Plugin(&'static str),
}

struct Counts {
    errors: Cell<u32>,
    streams: Cell<u32>,
    devices: Cell<u32>,
}

fn count(of: impl FnOnce(&Counts) -> &Cell<u32>) -> u32 {
    COUNTS.with(|counts| of(counts).get())
}

fn set_count(of: impl FnOnce(&Counts) -> &Cell<u32>, count: u32) {
    COUNTS.with(|counts| of(counts).set(count));
}

impl Services {
    /// Makes the services of a host. `threads` is the number of threads for parallel loops; `None`
    /// is automatic.
    pub(crate) fn leaked(log: LogSink, threads: Option<u32>) -> &'static Self {
        watch_forks();
        let services: &'static Self = Box::leak(Box::new(Self {
            own: OnceLock::new(),
            id: NEXT_HOST.fetch_add(1, Ordering::Relaxed),
            fork_generation: fork_generation(),
            log,
            told_of_cache: AtomicBool::new(false),
            inner: OnceLock::new(),
            settings: RwLock::default(),
            threads: Threads::new(threads),
            env: OnceLock::new(),
            sessions: Lent::default(),
            registrars: Lent::default(),
        }));
        lent::enlist(services);
        services
    }

    pub(crate) fn connect(&self, inner: Weak<HostInner>) {
        // Called once, when the host is made.
        let _ = self.inner.set(inner);
    }

    pub(crate) fn inner(&self) -> Option<Arc<HostInner>> {
        self.inner.get()?.upgrade()
    }

    /// Sets the settings of this host's plugins, when the host is made, and when it is closed.
    pub(crate) fn decide(&self, settings: Settings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    /// Returns the settings of this host's plugins: their defaults where none were set, and after
    /// its end.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the table for the host's own plugin.
    pub(crate) fn table(&'static self) -> &'static ChipdockHost {
        self.own.get_or_init(|| PluginTable::leaked(self, HOST_PLUGIN, Vec::new())).table()
    }

    /// Returns the host's number among the hosts of the process.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Sends a line to the log sink; a line that is too long is cut.
    pub(crate) fn log(&self, level: LogLevel, line: &str) {
        self.log_of(None, level, line);
    }

    /// Sends a plugin's line to the log sink.
    pub(crate) fn log_of(&self, plugin: Option<&str>, level: LogLevel, message: &str) {
        let message = bounds::cut(message, MESSAGE_BYTES_MAX);
        let line = plugin.map(|plugin| format!("{plugin}: {message}"));
        let line = line.as_deref().unwrap_or(&message);
        // The sink is the embedder's code: its panic, which its hook has reported, is not
        // propagated. Code that logs may hold locks that a plugin or another thread waits for.
        let _ = api::caught(|| (self.log)(level, line));
        let _ = api::caught(|| trace::event(level, plugin, &message));
    }

    /// Runs code that a plugin or compiled code called (rule HOST-A7). A panic is raised as an
    /// error, and `otherwise` returned.
    pub(crate) fn guarded<R>(&self, what: &str, otherwise: R, body: impl FnOnce() -> R) -> R {
        let done = api::caught(|| {
            #[cfg(test)]
            tests::panic_where_asked(what);
            body()
        });
        done.unwrap_or_else(|text| {
            let message = format!("`{what}` of the host panicked: {text}");
            let error =
                Error::new(ErrorKind::Panic, message).hint("this is a bug of the host; please report it");
            self.raise_own(&error);
            otherwise
        })
    }

    /// Refuses a forked child, which does not have the locks, threads and drivers of the parent.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        if fork_generation() == self.fork_generation {
            return Ok(());
        }
        Err(Error::new(ErrorKind::WrongState, "this host was made before the process was forked")
            .hint("make a host in the child, or start a new program"))
    }

    /// Returns true where this thread has no error of any host and no stream but default ones: a
    /// call needs neither [`Self::clear_error`] nor [`Self::has_current_stream`].
    #[inline]
    pub(crate) fn is_quiet() -> bool {
        COUNTS.with(|counts| counts.errors.get() == 0 && counts.streams.get() == 0)
    }

    /// Drops this thread's error of this host, so that an old one is not taken for the next
    /// failure's.
    pub(crate) fn clear_error(&self) {
        if count(|counts| &counts.errors) != 0 {
            drop(self.take());
        }
    }

    /// Takes this thread's error of this host out of its slot.
    pub(crate) fn take(&self) -> Option<api::Error> {
        self.take_raised().map(|raised| raised.error)
    }

    fn take_raised(&self) -> Option<Raised> {
        let taken = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            let index = errors.iter().position(|(id, _)| *id == self.id)?;
            set_count(|counts| &counts.errors, count(|counts| &counts.errors) - 1);
            Some(errors.swap_remove(index).1)
        });
        taken.ok().flatten()
    }

    /// Raises an error of compiled code, or of a library.
    pub(crate) fn raise(&self, error: api::Error) {
        self.raise_by(error, Speaker::Code);
    }

    fn raise_by(&self, error: api::Error, by: Speaker) {
        let error = Raised { error, by };
        // The old error is dropped outside the borrow: its destructor may be foreign code.
        let old = ERRORS.try_with(|errors| {
            let mut errors = errors.borrow_mut();
            match errors.iter_mut().find(|(id, _)| *id == self.id) {
                Some(slot) => Some(std::mem::replace(&mut slot.1, error)),
                None => {
                    errors.push((self.id, error));
                    set_count(|counts| &counts.errors, count(|counts| &counts.errors) + 1);
                    None
                }
            }
        });
        drop(old);
    }

    /// Raises a host's own error, for code that is called through a table.
    pub(crate) fn raise_own(&self, error: &Error) {
        self.raise_by(error.to_api(), Speaker::Host);
    }

    /// Turns the status of a table's function into a result. `what` names the function. An error
    /// that a plugin raised begins with its name (HOST-A10).
    pub(crate) fn check(&self, status: i32, what: impl FnOnce() -> String) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        match self.take_raised() {
            Some(Raised { error, by }) => {
                let error = from_call(&error, status);
                Err(match by {
                    Speaker::Plugin(plugin) => error.said_by(&format!("plugin \"{plugin}\""), plugin),
                    Speaker::Host | Speaker::Code => error,
                })
            }
            None => Err(Error::new(
                ErrorKind::BrokenPlugin,
                format!("{} returned status {status} and raised no error", what()),
            )
            .hint("report it to the maintainer of the plugin")),
        }
    }

    /// As [`Self::check`], for a call of a function: what compiled code raised begins with the
    /// function's name (HOST-A10).
    pub(crate) fn check_function(&self, status: i32, name: &str, plugin: &str) -> Result<(), Error> {
        let is_code = ERRORS.try_with(|errors| {
            let errors = errors.borrow();
            errors.iter().any(|(id, raised)| *id == self.id && matches!(raised.by, Speaker::Code))
        });
        let checked = self.check(status, || format!("function \"{name}\""));
        checked.map_err(|error| match is_code {
            Ok(true) => error.said_by(&format!("function \"{name}\""), plugin),
            _ => error,
        })
    }

    /// Returns the stream that is active on this thread for a device; null is the default.
    pub(crate) fn current_stream(&self, device: ChipdockDevice) -> *mut c_void {
        if count(|counts| &counts.streams) == 0 {
            return ptr::null_mut();
        }
        let found = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            let stream = streams.iter().find(|(id, at, _)| *id == self.id && *at == device);
            stream.map_or(ptr::null_mut(), |(_, _, stream)| *stream)
        });
        found.unwrap_or(ptr::null_mut())
    }

    /// Returns the host, or an error once it has been shut down.
    pub(crate) fn live(&self) -> Result<Arc<HostInner>, Error> {
        self.inner().ok_or_else(|| Error::new(ErrorKind::Unavailable, "the host has been shut down"))
    }

    /// Checks that a device exists (H.10).
    fn known_device(&self, device: ChipdockDevice) -> Result<(), Error> {
        self.live()?.device_state_by_number(device).map(drop)
    }

    /// Returns true if this thread has a stream other than the default active on any device.
    pub(crate) fn has_current_stream() -> bool {
        count(|counts| &counts.streams) != 0
    }

    /// Makes a stream active on this thread for a device, and returns the one before.
    pub(crate) fn set_current_stream(&self, device: ChipdockDevice, stream: *mut c_void) -> *mut c_void {
        let before = self.current_stream(device);
        let _ = STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            streams.retain(|(id, at, _)| *id != self.id || *at != device);
            if !stream.is_null() {
                streams.push((self.id, device, stream));
            }
            set_count(|counts| &counts.streams, u32::try_from(streams.len()).unwrap_or(u32::MAX));
        });
        before
    }

    /// Returns the streams other than the default that are active on this thread.
    pub(crate) fn current_streams(&self) -> Vec<(ChipdockDevice, *mut c_void)> {
        if count(|counts| &counts.streams) == 0 {
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
    pub(crate) fn set_current_device(&self, device: ChipdockDevice) {
        let _ = DEVICES.try_with(|devices| {
            let mut devices = devices.borrow_mut();
            devices.retain(|(id, at)| *id != self.id || at.device_type != device.device_type);
            devices.push((self.id, device));
            set_count(|counts| &counts.devices, u32::try_from(devices.len()).unwrap_or(u32::MAX));
        });
    }

    /// Returns the device of a type that is active on this thread; the first where none was chosen.
    pub(crate) fn current_device(&self, device_type: i32) -> i32 {
        if count(|counts| &counts.devices) == 0 {
            return 0;
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            let own = devices.iter().find(|(id, device)| *id == self.id && device.device_type == device_type);
            own.map_or(0, |(_, device)| device.device_id)
        });
        found.unwrap_or(0)
    }

    /// Returns the devices that are active on this thread, one for each type for which one was
    /// chosen.
    pub(crate) fn current_devices(&self) -> Vec<ChipdockDevice> {
        if count(|counts| &counts.devices) == 0 {
            return Vec::new();
        }
        let found = DEVICES.try_with(|devices| {
            let devices = devices.borrow();
            devices.iter().filter(|(id, _)| *id == self.id).map(|(_, device)| *device).collect()
        });
        found.unwrap_or_default()
    }
}

/// Converts an error of the plugin layer to the host's.
pub(crate) fn from_api(error: &api::Error) -> Error {
    from_call(error, error.kind().status())
}

/// Converts a plugin's error to the host's, with the status of the call that raised it.
fn from_call(error: &api::Error, status: i32) -> Error {
    let mut message = bounds::cut(&error.message(), MESSAGE_BYTES_MAX);
    let mut cause = error.cause();
    for _ in 0..CAUSES_MAX {
        let Some(inner) = cause else { break };
        let kind = bounds::cut(inner.kind().as_str(), NAME_BYTES_MAX);
        message += &format!("; caused by {kind}: {}", bounds::cut(&inner.message(), MESSAGE_BYTES_MAX));
        cause = inner.cause();
    }
    let kind = bounds::cut(error.kind().as_str(), NAME_BYTES_MAX);
    let message = bounds::cut(&message, MESSAGE_BYTES_MAX);
    let error = Error::with_status(ErrorKind::new(kind), message, status);
    match error.fault() {
        // The plugin that raised it declares itself at fault.
        Fault::Bug => error.about(Subject::Plugin),
        Fault::Caller | Fault::Environment => error,
    }
}

/// Makes the table of services for a plugin whose own `self_` is that of a [`PluginTable`].
pub(crate) fn host_table(self_: *mut c_void) -> ChipdockHost {
    ChipdockHost {
        abi_major: CHIPDOCK_ABI_MAJOR,
        abi_minor: CHIPDOCK_ABI_MINOR,
        version: static_str(env!("CARGO_PKG_VERSION")),
        self_,
        raise,
        raise_object,
        take_error,
        log: write_log,
        function,
        current_stream,
        query,
    }
}

/// # Safety
///
/// `self_` is that of a [`PluginTable`].
unsafe fn services(self_: *mut c_void) -> &'static Services {
    // SAFETY: `self_` is that of a `PluginTable`, as this function requires.
    unsafe { plugin_table(self_) }.services()
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.guarded("raise", (), || {
        // SAFETY: strings that live for the call.
        let (kind, message) =
            unsafe { (bounds::shown(kind, NAME_BYTES_MAX), bounds::shown(message, MESSAGE_BYTES_MAX)) };
        // SAFETY: the caller passes the table's `self_`.
        let by = unsafe { speaker(self_) };
        services.raise_by(api::Error::new(api::ErrorKind::new(kind), message), by);
    });
}

/// Returns whose words an error is that is raised through this table.
///
/// # Safety
///
/// `self_` is that of a [`PluginTable`].
unsafe fn speaker(self_: *mut c_void) -> Speaker {
    // SAFETY: `self_` is that of a `PluginTable`, as this function requires.
    match unsafe { plugin_table(self_) }.plugin() {
        HOST_PLUGIN => Speaker::Host,
        plugin => Speaker::Plugin(plugin),
    }
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.guarded("raise_object", (), || {
        // SAFETY: a value that lives for the call, or null.
        let error = unsafe { raised_object(error) };
        // SAFETY: the caller passes the table's `self_`.
        let by = unsafe { speaker(self_) };
        match error {
            Ok(error) => services.raise_by(error, by),
            Err(what) => services.raise_own(&Error::new(
                ErrorKind::BrokenPlugin,
                format!("raise_object was given {what}; expected an error object"),
            )),
        }
    });
}

/// Returns the error object of a value, or what the value is instead.
///
/// # Safety
///
/// * `error` is null, misaligned or a value that lives for the call.
unsafe fn raised_object(error: *const ChipdockAny) -> Result<api::Error, String> {
    // SAFETY: `error` lives for the call where it is aligned and not null, as this function
    // requires.
    let raw = unsafe { aligned(error).as_ref() }.ok_or_else(|| format!("a value at {error:p}"))?;
    if raw.type_index != CHIPDOCK_TYPE_ERROR {
        return Err(format!("a value of type index {}", raw.type_index));
    }
    let text = |error: api::Error| error.message().into_owned();
    // SAFETY: a live value; once it was checked, a view of it can be read.
    unsafe {
        api::received::check_received(raw).map_err(text)?;
        api::AnyView::from_raw(*raw).to::<api::Error>().map_err(text)
    }
}

/// Returns the pointer, or null where it is misaligned: memory that cannot be read or written is
/// treated as absent.
pub(crate) fn aligned<T>(pointer: *const T) -> *const T {
    if pointer.is_aligned() { pointer } else { ptr::null() }
}

unsafe extern "C" fn take_error(self_: *mut c_void, out_error: *mut ChipdockAny) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.guarded("take_error", (), || {
        // SAFETY: a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_error).cast_mut().as_mut() } {
            *out = services.take().map_or(api::Any::NONE, api::Any::from).into_raw();
        }
    });
}

unsafe extern "C" fn write_log(self_: *mut c_void, level: i32, message: ChipdockStr) {
    let level = LogLevel::of(level);
    // SAFETY: the caller passes the table's `self_`.
    let (services, plugin) = unsafe { (services(self_), plugin_table(self_).plugin()) };
    services.guarded("log", (), || {
        // SAFETY: a string that lives for the call.
        let message = unsafe { bounds::shown(message, MESSAGE_BYTES_MAX) };
        services.log_of(Some(plugin), level, &message);
    });
}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out: *mut ChipdockAny) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.guarded("function", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call.
        let name = unsafe { bounds::text(name, "the function's name", NAME_BYTES_MAX) };
        let name = name.map_err(|message| Error::new(ErrorKind::Value, message));
        let found = name.and_then(|name| services.live()?.registered_function(name));
        match found {
            Ok(function) => {
                let value = function.map_or(api::Any::NONE, api::Any::from);
                // SAFETY: the caller passes a place that is writable, or null.
                if let Some(out) = unsafe { aligned(out).cast_mut().as_mut() } {
                    *out = value.into_raw();
                }
                CHIPDOCK_OK
            }
            Err(error) => {
                services.raise_own(&error);
                CHIPDOCK_ERROR
            }
        }
    })
}

unsafe extern "C" fn current_stream(
    self_: *mut c_void,
    device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.guarded("current_stream", CHIPDOCK_ERROR, || {
        let stream = services.current_stream(device);
        // A stream that was made active is one of a device that is there.
        let known = if stream.is_null() { services.known_device(device) } else { Ok(()) };
        if let Err(error) = known {
            services.raise_own(&error);
            return CHIPDOCK_ERROR;
        }
        // SAFETY: the caller passes a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_stream).cast_mut().as_mut() } {
            *out = stream;
        }
        CHIPDOCK_OK
    })
}

unsafe extern "C" fn query(
    self_: *mut c_void,
    name: ChipdockStr,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let (services, plugin) = unsafe { (services(self_), plugin_table(self_)) };
    services.guarded("query", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call; an invalid name has no interface (H.5).
        let name = unsafe { bounds::text(name, "the interface's name", NAME_BYTES_MAX) };
        // SAFETY: the caller passes a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_interface).cast_mut().as_mut() } {
            *out = name.map_or(ChipdockInterface::NONE, |name| plugin.interface(name, version));
        }
        CHIPDOCK_OK
    })
}

#[cfg(test)]
pub(crate) mod tests;
