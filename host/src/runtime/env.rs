//! The environment of compiled code: the table behind `__chipdock_env`.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use chipdock_abi::{
    CHIPDOCK_ERROR, CHIPDOCK_OK, CHIPDOCK_TYPE_NONE, ChipdockAny, ChipdockEnv, ChipdockParallelBody, DLDevice,
};
use chipdock_plugin_api as api;

use super::device::DeviceState;
use super::module::{ModuleInner, not_imported};
use super::tables::answered;
use crate::bounds::{MESSAGE_BYTES_MAX, NAME_BYTES_MAX};
use crate::error::{Error, ErrorKind};
use crate::services::{Services, from_api};

/// The environment of a module, or of all modules of a host that import nothing.
///
/// Leaked: a function may outlive its module, and be called by code that the host does not see. So that this stays small,
/// only modules that import others, whose calls have to find those, have one of their own (some 150 bytes each).
pub(crate) struct EnvState {
    env: OnceLock<ChipdockEnv>,
    services: &'static Services,
    imports: RwLock<Imports>,
}

/// Where calls of imported functions go.
enum Imports {
    /// Nothing is imported.
    None,
    Of(Weak<ModuleInner>),
    /// The module was released.
    Gone,
}

impl EnvState {
    /// The one for everything that imports nothing.
    pub(crate) fn shared(services: &'static Services) -> &'static Self {
        services.env.get_or_init(|| Self::leaked(services))
    }

    /// A new one.
    pub(crate) fn leaked(services: &'static Services) -> &'static Self {
        let imports = RwLock::new(Imports::None);
        let state: &'static Self = Box::leak(Box::new(Self { env: OnceLock::new(), services, imports }));
        state.env();
        state
    }

    /// Lets calls find what a module imports.
    pub(crate) fn connect(&self, module: Weak<ModuleInner>) {
        self.set_imports(Imports::Of(module));
    }

    /// The module is being released. Its memory is not kept for the environment's sake.
    pub(crate) fn disconnect(&self) {
        self.set_imports(Imports::Gone);
    }

    fn set_imports(&self, imports: Imports) {
        *self.imports.write().unwrap_or_else(PoisonError::into_inner) = imports;
    }

    fn imported_function(&self, name: &str) -> Result<api::Function, Error> {
        let gone =
            || Error::new(ErrorKind::WrongState, format!("the module that calls \"{name}\" was released"));
        let module = match &*self.imports.read().unwrap_or_else(PoisonError::into_inner) {
            Imports::None => return Err(not_imported(name, [])),
            Imports::Of(module) => module.upgrade().ok_or_else(gone)?,
            Imports::Gone => return Err(gone()),
        };
        module.imported_function(name)
    }

    /// The function that a packed call names: of an imported module, else registered with the host, as in TVM.
    fn called_function(&self, name: &str) -> Result<api::Function, Error> {
        let missing = match self.imported_function(name) {
            Err(error) if *error.kind() == ErrorKind::NotFound => error,
            found => return found,
        };
        match self.services.inner() {
            Some(inner) => inner.registered_function(name)?.ok_or(missing),
            None => Err(missing),
        }
    }

    /// The table for compiled code; lives as long as the process.
    pub(crate) fn env(&'static self) -> &'static ChipdockEnv {
        self.env.get_or_init(|| ChipdockEnv {
            version: 1,
            padding: 0,
            self_: ptr::from_ref(self).cast_mut().cast(),
            raise,
            allocate_workspace,
            free_workspace,
            current_stream,
            set_device,
            call_imported,
            parallel_launch,
            current_device,
        })
    }

    fn device(&self, device: DLDevice) -> Result<Arc<DeviceState>, Error> {
        let gone = || Error::new(ErrorKind::Unavailable, "the host has been shut down");
        let inner = self.services.inner().ok_or_else(gone)?;
        if let Some(device) = inner.devices.by_number(device) {
            return Ok(device);
        }
        let name = inner.device_type_name(device.device_type)?;
        inner.device_state(&name, device.device_id)
    }

    /// Raises what failed, and answers the status.
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
/// `env` is that of a state made above.
unsafe fn state(env: *const ChipdockEnv) -> &'static EnvState {
    // SAFETY: leaked, so it lives as long as the process.
    unsafe { &*(*env).self_.cast::<EnvState>() }
}

/// A NUL-terminated text, for as far as a message is read.
///
/// # Safety
///
/// * `text` is null or NUL-terminated.
unsafe fn c_text(text: *const c_char, bytes_max: usize) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: up to the NUL, by the caller's word.
    let bytes: Vec<u8> =
        (0..bytes_max).map(|at| unsafe { text.add(at).read() } as u8).take_while(|byte| *byte != 0).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

unsafe extern "C" fn raise(env: *const ChipdockEnv, kind: *const c_char, message: *const c_char) {
    // SAFETY: compiled code passes the environment that it was given.
    let services = unsafe { state(env) }.services;
    services.guarded("env.raise", (), || {
        // SAFETY: null or NUL-terminated, by the caller's word.
        let (kind, message) = unsafe { (c_text(kind, NAME_BYTES_MAX), c_text(message, MESSAGE_BYTES_MAX)) };
        let kind = api::ErrorKind::new(kind.unwrap_or_else(|| "InternalError".to_owned()));
        services.raise(api::Error::new(kind, message.unwrap_or_else(|| "no message".to_owned())));
    });
}

unsafe extern "C" fn allocate_workspace(
    env: *const ChipdockEnv,
    device: DLDevice,
    size_bytes: u64,
) -> *mut c_void {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.allocate_workspace", ptr::null_mut(), || {
        let allocated = state.device(device).and_then(|device| {
            let stream = device.current_stream();
            device.allocate_workspace(size_bytes, stream)
        });
        allocated.unwrap_or_else(|error| {
            state.services.raise_own(&error);
            ptr::null_mut()
        })
    })
}

unsafe extern "C" fn free_workspace(env: *const ChipdockEnv, device: DLDevice, data: *mut c_void) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.free_workspace", CHIPDOCK_ERROR, || {
        state.status(state.device(device).and_then(|device| {
            let stream = device.current_stream();
            device.free_workspace(data, stream)
        }))
    })
}

unsafe extern "C" fn current_stream(env: *const ChipdockEnv, device: DLDevice) -> *mut c_void {
    // SAFETY: compiled code passes the environment that it was given.
    let services = unsafe { state(env) }.services;
    services.guarded("env.current_stream", ptr::null_mut(), || services.current_stream(device))
}

unsafe extern "C" fn set_device(env: *const ChipdockEnv, device: DLDevice) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.set_device", CHIPDOCK_ERROR, || state.status(state.make_current(device)))
}

unsafe extern "C" fn current_device(env: *const ChipdockEnv, device_type: i32) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let services = unsafe { state(env) }.services;
    services.guarded("env.current_device", 0, || services.current_device(device_type))
}

/// What the name of the function that tells a device's number begins with; the device's name follows.
const DEVICE_TYPE: &str = "chipdock.device_type.";
/// The function that makes a device current: device type, device id. TVM's name.
const SET_DEVICE: &str = "__tvm_set_device";

impl EnvState {
    /// The number of the device type of that name.
    fn device_type_of(&'static self, name: &str) -> Result<api::Any, Error> {
        let gone = || Error::new(ErrorKind::Unavailable, "the host has been shut down");
        let number = self.services.inner().ok_or_else(gone)?.device_type_of(name)?;
        Ok(api::Any::from(i64::from(number)))
    }

    fn set_device_of(&'static self, args: &[api::AnyView<'_>]) -> Result<(), Error> {
        let number = |index: usize, what: &str| {
            api::argument::<i32>(args, index, what).map_err(|error| from_api(&error))
        };
        let device = DLDevice { device_type: number(0, "device_type")?, device_id: number(1, "device_id")? };
        self.make_current(device)
    }

    fn make_current(&self, device: DLDevice) -> Result<(), Error> {
        let state = self.device(device)?;
        state.api.set_device(state.services, state.id)?;
        state.services.set_current_device(device);
        Ok(())
    }
}

unsafe extern "C" fn call_imported(
    env: *const ChipdockEnv,
    name: *const c_char,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: compiled code passes the environment that it was given.
    let state = unsafe { state(env) };
    state.services.guarded("env.call_imported", CHIPDOCK_ERROR, || {
        let bad = |what: &str| {
            state.status(Err(Error::new(ErrorKind::BrokenPlugin, format!("call_imported was given {what}"))))
        };
        if name.is_null() {
            return bad("no name");
        }
        if result.is_null() || !result.is_aligned() || !args.is_aligned() {
            return bad("arguments or a place for the result that are null or not aligned");
        }
        // SAFETY: a NUL-terminated name, as many arguments as it says, a place for an owned value: V.10.
        unsafe { state.call_imported(&CStr::from_ptr(name).to_string_lossy(), args, num_args, result) }
    })
}

impl EnvState {
    /// # Safety
    ///
    /// * `args`, `num_args` and `result` are those of a packed call (V.10).
    unsafe fn call_imported(
        &'static self,
        name: &str,
        args: *const ChipdockAny,
        num_args: i32,
        result: *mut ChipdockAny,
    ) -> i32 {
        let device = name.strip_prefix(DEVICE_TYPE);
        if name == SET_DEVICE || device.is_some() {
            let answer = match device {
                Some(device) => self.device_type_of(device),
                // SAFETY: V.10, as many arguments as it says, for the call.
                None => match unsafe { api::AnyView::slice_from_raw(args, num_args) } {
                    Ok(views) => self.set_device_of(views).map(|()| api::Any::NONE),
                    Err(error) => Err(from_api(&error)),
                },
            };
            return self.status(answer.map(|value| {
                // SAFETY: V.10, a place for an owned value.
                unsafe { result.write(value.into_raw()) };
            }));
        }
        let function = match self.called_function(name) {
            Ok(function) => function,
            Err(error) => return self.status(Err(error)),
        };
        // SAFETY: a packed function with its object as `self`; the caller's arguments and place for the result, which
        // after success holds a value that is the caller's.
        unsafe {
            let status = (function.safe_call().0)(function.object().as_ptr().cast(), args, num_args, result);
            if status != CHIPDOCK_OK || (*result).type_index == CHIPDOCK_TYPE_NONE {
                return status;
            }
            let answered =
                answered(result.replace(api::Any::NONE.into_raw()), &|| format!("function \"{name}\""));
            self.status(answered.map(|value| result.write(value.into_raw())))
        }
    }
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
