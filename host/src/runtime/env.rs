//! The environment of compiled code: the table behind `__chipdock_env`.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use chipdock_abi::{
    CHIPDOCK_ENV_VERSION, CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockDevice, ChipdockEnv, ChipdockFunctionObject,
    ChipdockInterface, ChipdockParallelBody,
};
use chipdock_plugin_api as api;

use super::device_state::DeviceState;
use super::questions;
use crate::boundary::interfaces;
use crate::boundary::services::Services;
use crate::bounds::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
use crate::error::{Error, ErrorKind, quoted};

/// The environment of one loaded module.
///
/// Its loader has one reference, which `release` drops; then nothing of the environment remains.
/// Functions that compiled code requested are stored here and live as long as the environment.
pub(crate) struct EnvState {
    env: OnceLock<ChipdockEnv>,
    services: &'static Services,
    imports: RwLock<Imports>,
    /// Functions by name. One that was returned is never removed.
    functions: Mutex<BTreeMap<String, api::Function>>,
}

#[cfg(test)]
thread_local! {
    /// Number of live environments that this thread made.
    pub(crate) static LIVE: std::cell::Cell<isize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
impl Drop for EnvState {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

/// Source of imported functions.
enum Imports {
    /// Nothing is imported.
    None,
    /// The module; once it is gone nothing new is found.
    Of(Weak<dyn Importer>),
}

/// A module with imports, as its compiled code calls them.
pub(crate) trait Importer: Send + Sync {
    /// Returns a function of an import.
    fn imported_function(&self, name: &str) -> Result<api::Function, Error>;
}

/// Makes the error that no function of that name is imported.
pub(super) fn not_imported<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Error {
    let message = format!("no imported module has function \"{name}\", and none is registered by that name");
    let error = Error::new(ErrorKind::NotFound, message);
    error.hint(format!("imported are: {}", quoted(known)))
}

impl EnvState {
    /// Returns the environment of code that no loader has loaded: never released.
    pub(crate) fn shared(services: &'static Services) -> &'static ChipdockEnv {
        let state: &'static Arc<Self> = Box::leak(Box::new(Self::new(services)));
        state.table()
    }

    pub(crate) fn new(services: &'static Services) -> Arc<Self> {
        let imports = RwLock::new(Imports::None);
        let state = Arc::new(Self { env: OnceLock::new(), services, imports, functions: Mutex::default() });
        state.table();
        #[cfg(test)]
        LIVE.set(LIVE.get() + 1);
        state
    }

    /// Returns the table for compiled code, which lives in the state.
    pub(crate) fn table(self: &Arc<Self>) -> &ChipdockEnv {
        self.env.get_or_init(|| ChipdockEnv {
            version: CHIPDOCK_ENV_VERSION,
            flags: 0,
            self_: Arc::as_ptr(self).cast_mut().cast(),
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

    /// Returns the services of its host.
    pub(crate) fn services(&self) -> &'static Services {
        self.services
    }

    /// Returns the table with a reference of its own, which `release` drops.
    pub(crate) fn lend(self: &Arc<Self>) -> *const ChipdockEnv {
        std::mem::forget(Arc::clone(self));
        self.table()
    }

    /// Connects the module whose imports calls may find.
    pub(crate) fn connect(&self, module: Weak<dyn Importer>) {
        *self.imports.write().unwrap_or_else(PoisonError::into_inner) = Imports::Of(module);
    }

    fn imported_function(&self, name: &str) -> Result<api::Function, Error> {
        let module = match &*self.imports.read().unwrap_or_else(PoisonError::into_inner) {
            Imports::None => return Err(not_imported(name, [])),
            Imports::Of(module) => module.upgrade().ok_or_else(|| {
                Error::new(ErrorKind::WrongState, format!("the module that calls \"{name}\" was released"))
            })?,
        };
        module.imported_function(name)
    }

    /// Returns the function that a packed call names: of an imported module, else registered with
    /// the host, as in TVM.
    fn called_function(&self, name: &str) -> Result<api::Function, Error> {
        let missing = match self.imported_function(name) {
            Err(error) if *error.kind() == ErrorKind::NotFound => error,
            found => return found,
        };
        match self.services.host() {
            Some(host) => host.registered_function(name)?.ok_or(missing),
            None => Err(missing),
        }
    }

    /// Returns the function that a packed call names, borrowed from the environment.
    fn kept_function(&self, name: &str) -> Result<*const ChipdockFunctionObject, Error> {
        let functions = || self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions().get(name) {
            return Ok(function.object().as_ptr().cast());
        }
        // Not under the lock: a plugin may be opened for it.
        let found = self.called_function(name)?;
        let mut functions = functions();
        let kept = functions.entry(name.to_owned()).or_insert(found);
        Ok(kept.object().as_ptr().cast())
    }

    fn device(&self, device: ChipdockDevice) -> Result<Arc<DeviceState>, Error> {
        self.services.live()?.device_state_by_number(device)
    }

    /// Raises the error of a failed result, and returns the status.
    fn status(&self, result: Result<(), Error>) -> i32 {
        match result {
            Ok(()) => CHIPDOCK_OK,
            Err(error) => {
                self.services.raise_own(&error);
                CHIPDOCK_ERROR
            }
        }
    }
}

/// # Safety
///
/// `env` is the one of a state made above, which is not released before the call is over.
unsafe fn state<'a>(env: *const ChipdockEnv) -> &'a EnvState {
    // SAFETY: the reference that `release` drops keeps it alive.
    unsafe { &*(*env).self_.cast::<EnvState>() }
}

/// Writes a result to its place.
///
/// # Safety
///
/// * `out` is null, misaligned or writable.
unsafe fn put<T>(out: *mut T, value: T, what: &str) -> Result<(), Error> {
    if out.is_null() || !out.is_aligned() {
        let message = format!("expected a place for {what}, found the address {out:p}");
        return Err(Error::new(ErrorKind::BrokenPlugin, message));
    }
    // SAFETY: checked just now; the caller guarantees that `out` is writable.
    unsafe { out.write(value) };
    Ok(())
}

/// Returns a NUL-terminated text, up to the bound of a message.
///
/// # Safety
///
/// * `text` is null or NUL-terminated.
unsafe fn c_text(text: *const c_char, bytes_max: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: up to the NUL, which the caller guarantees.
    let bytes: Vec<u8> =
        (0..bytes_max).map(|at| unsafe { text.add(at).read() } as u8).take_while(|byte| *byte != 0).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Adds the frame of a location, `function: file:line:column` or a part of it.
fn framed(error: api::Error, location: &str) -> api::Error {
    let (function, place) = location.split_once(": ").unwrap_or((location, ""));
    // A file's name may have colons: the parts after the last two are line and column.
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, file) = (parts.next(), parts.next(), parts.next());
    let line = line.and_then(|line| line.parse().ok()).unwrap_or(0);
    error.frame(file.unwrap_or("<compiled>"), line, function)
}

unsafe extern "C" fn raise(
    env: *const ChipdockEnv,
    kind: *const c_char,
    message: *const c_char,
    location: *const c_char,
) {
    // SAFETY: compiled code passes the environment that it was given.
    let services = unsafe { state(env) }.services;
    services.guarded("env.raise", (), || {
        // SAFETY: the caller guarantees null or a NUL-terminated text.
        let (kind, message, location) = unsafe {
            (
                c_text(kind, NAME_BYTES_MAX),
                c_text(message, MESSAGE_BYTES_MAX),
                c_text(location, MESSAGE_BYTES_MAX),
            )
        };
        let kind = api::ErrorKind::new(kind.unwrap_or_else(|| "InternalError".to_owned()));
        let error = api::Error::new(kind, message.unwrap_or_else(|| "no message".to_owned()));
        services.raise(match location {
            Some(location) => framed(error, &location),
            None => error,
        });
    });
}

unsafe extern "C" fn allocate_workspace(
    env: *const ChipdockEnv,
    device_type: i32,
    device_id: i32,
    size_bytes: u64,
) -> *mut c_void {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.allocate_workspace", ptr::null_mut(), || {
        let allocated = state.device(ChipdockDevice { device_type, device_id }).and_then(|device| {
            let stream = device.current_stream();
            device.allocate_workspace(size_bytes, stream)
        });
        allocated.unwrap_or_else(|error| {
            state.services.raise_own(&error);
            ptr::null_mut()
        })
    })
}

unsafe extern "C" fn free_workspace(
    env: *const ChipdockEnv,
    device_type: i32,
    device_id: i32,
    data: *mut c_void,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.free_workspace", CHIPDOCK_ERROR, || {
        state.status(state.device(ChipdockDevice { device_type, device_id }).and_then(|device| {
            let stream = device.current_stream();
            device.free_workspace(data, stream)
        }))
    })
}

unsafe extern "C" fn current_stream(
    env: *const ChipdockEnv,
    device_type: i32,
    device_id: i32,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.current_stream", CHIPDOCK_ERROR, || {
        let device = ChipdockDevice { device_type, device_id };
        let stream = state.services.slots.current_stream(device);
        // A stream that was made active is one of a device that is there.
        let known = if stream.is_null() { state.device(device).map(drop) } else { Ok(()) };
        // SAFETY: a place for a pointer, or null.
        state.status(known.and_then(|()| unsafe { put(out_stream, stream, "the stream") }))
    })
}

unsafe extern "C" fn current_device(
    env: *const ChipdockEnv,
    device_type: i32,
    out_device_id: *mut i32,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.current_device", CHIPDOCK_ERROR, || {
        let id = state.services.live().map(|_| state.services.slots.current_device(device_type));
        // SAFETY: a place for an integer, or null.
        state.status(id.and_then(|id| unsafe { put(out_device_id, id, "the device's id") }))
    })
}

unsafe extern "C" fn set_device(env: *const ChipdockEnv, device_type: i32, device_id: i32) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.set_device", CHIPDOCK_ERROR, || {
        state.status(state.make_current(ChipdockDevice { device_type, device_id }))
    })
}

unsafe extern "C" fn device_type(
    env: *const ChipdockEnv,
    name: *const c_char,
    out_device_type: *mut i32,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.device_type", CHIPDOCK_ERROR, || {
        // SAFETY: null or NUL-terminated; a place for an integer, or null.
        state.status(unsafe { named(name) }.and_then(|name| unsafe {
            put(out_device_type, state.device_type_of(&name)?, "the device's type")
        }))
    })
}

unsafe extern "C" fn imported(
    env: *const ChipdockEnv,
    name: *const c_char,
    out_function: *mut *const ChipdockFunctionObject,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.imported", CHIPDOCK_ERROR, || {
        // SAFETY: null or NUL-terminated; a place for a pointer, or null.
        state.status(
            unsafe { named(name) }
                .and_then(|name| unsafe { put(out_function, state.kept_function(&name)?, "the function") }),
        )
    })
}

/// Returns a requested name in full.
///
/// # Safety
///
/// * `name` is null or NUL-terminated.
unsafe fn named(name: *const c_char) -> Result<String, Error> {
    if name.is_null() {
        return Err(Error::new(
            ErrorKind::BrokenPlugin,
            "the environment was asked for something without a name",
        ));
    }
    // SAFETY: `name` is null or NUL-terminated, as this function requires.
    Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

impl EnvState {
    /// Returns the number of the device type of that name.
    fn device_type_of(&self, name: &str) -> Result<i32, Error> {
        self.services.live()?.device_type_of(name)
    }

    fn make_current(&self, device: ChipdockDevice) -> Result<(), Error> {
        self.device(device)?;
        self.services.slots.set_current_device(device);
        Ok(())
    }
}

/// Answers `query` with `interrupt` 1 and the interfaces of the host, whose `self_` lives as long
/// as the process.
unsafe extern "C" fn query(
    env: *const ChipdockEnv,
    name: *const c_char,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.query", CHIPDOCK_ERROR, || {
        // SAFETY: null or NUL-terminated; a place for an interface, or null.
        state.status(unsafe { named(name) }.and_then(|name| {
            let found = match (&*name, version) {
                ("interrupt", 1) => questions::interface(state.services),
                _ => interfaces::of(state.services, &name, version),
            };
            // SAFETY: null or NUL-terminated; a place for an interface, or null.
            unsafe { put(out_interface, found, "the interface") }
        }))
    })
}

unsafe extern "C" fn release(env: *const ChipdockEnv) {
    // SAFETY: the loader passes the environment that it was lent, for the last time: its reference
    // is dropped.
    let state = unsafe { Arc::from_raw((*env).self_.cast::<EnvState>()) };
    let services = state.services;
    services.guarded("env.release", (), || drop(state));
}

unsafe extern "C" fn parallel_launch(
    env: *const ChipdockEnv,
    body: ChipdockParallelBody,
    data: *mut c_void,
    tasks_max: i32,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let services = unsafe { state(env) }.services;
    // SAFETY: a body that may run on several threads.
    services.guarded("env.parallel_launch", CHIPDOCK_ERROR, || unsafe {
        services.threads.launch(services, body, data, tasks_max)
    })
}
