//! A host that records the registrations of a plugin and has its own error slot.

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use chipdock_plugin_api::abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_DEVICE_FIRST_ASSIGNED, ChipdockAny, ChipdockCodegen,
    ChipdockCopy, ChipdockCopyEnd, ChipdockDataSpaceRequest, ChipdockDeleter, ChipdockDeviceApi,
    ChipdockHost, ChipdockInterface, ChipdockModuleLoader, ChipdockPlugin, ChipdockRegistrar,
    ChipdockSafeCall, ChipdockStr, ChipdockTargetKind,
};
use chipdock_plugin_api::text::{static_str, str_in, str_out};
use chipdock_plugin_api::{Any, AnyView, ChipdockDataType, ChipdockDevice, Error, Function, HostRef};

/// A registered device API.
#[derive(Clone, Copy)]
pub struct RegisteredDevice {
    self_: *mut c_void,
    table: &'static ChipdockDeviceApi,
    host: HostRef,
    /// Device type in effect after registration.
    pub device_type: i32,
}

// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl Send for RegisteredDevice {}
// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl Sync for RegisteredDevice {}

/// A registered table, with its `self_`.
#[derive(Clone, Copy)]
pub struct Table<T: 'static> {
    /// First argument of each function of the table.
    pub self_: *mut c_void,
    /// The functions.
    pub table: &'static T,
}

// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl<T> Send for Table<T> {}
// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    /// # Safety
    ///
    /// * `table` points to a static table (P5.1).
    unsafe fn new(self_: *mut c_void, table: *const T) -> Self {
        // SAFETY: `table` is static (P5.1), as this function requires.
        Self { self_, table: unsafe { &*table } }
    }
}

/// Instance that an `init` wrote.
struct Instance(*mut c_void);

// SAFETY: P10.1, `shutdown` and `release` may be called from any thread.
unsafe impl Send for Instance {}

/// The registrations of a plugin, and the errors that it raised.
pub struct RecordingHost {
    errors: Mutex<HashMap<ThreadId, Error>>,
    /// Device APIs by name.
    pub devices: Mutex<Vec<(String, RegisteredDevice)>>,
    /// Functions by name.
    pub functions: Mutex<Vec<(String, Function)>>,
    /// Target kinds by name.
    pub target_kinds: Mutex<Vec<(String, Table<ChipdockTargetKind>)>>,
    /// Code generators by kind.
    pub codegens: Mutex<Vec<(String, Table<ChipdockCodegen>)>>,
    /// Module loaders by kind.
    pub loaders: Mutex<Vec<(String, Table<ChipdockModuleLoader>)>>,
    /// Interfaces by `<key>/<interface>/<version>`.
    pub interfaces: Mutex<Vec<(String, RegisteredInterface)>>,
    /// The `info_json` of code generators and loaders, by their keys.
    pub infos: Mutex<Vec<(String, String)>>,
    /// Keys in the order of registration.
    pub keys: Mutex<Vec<String>>,
    /// Instances that each `init` wrote.
    instances: Mutex<Vec<Instance>>,
    table: Mutex<Option<HostRef>>,
}

fn host_of<'a>(self_: *mut c_void) -> &'a RecordingHost {
    // SAFETY: `self_` is a leaked recording host.
    unsafe { &*self_.cast::<RecordingHost>() }
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: the caller guarantees that both texts are live for the call (H.2).
    let (kind, message) = unsafe { (str_in(kind, "kind"), str_in(message, "message")) };
    let kind = chipdock_plugin_api::ErrorKind::new(kind.expect("UTF-8").to_owned());
    host_of(self_).set(Error::new(kind, message.expect("UTF-8").to_owned()));
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: the caller lends the error for the call.
    let error = unsafe { AnyView::from_raw(*error) }.to::<Error>().expect("an error object");
    host_of(self_).set(error);
}

unsafe extern "C" fn take_error(self_: *mut c_void, out_error: *mut ChipdockAny) {
    let taken = host_of(self_).errors.lock().expect("errors").remove(&thread::current().id());
    // SAFETY: the caller guarantees that `out_error` may be written (H.3).
    unsafe { out_error.write(taken.map_or(Any::NONE, Any::from).into_raw()) };
}

unsafe extern "C" fn log(_self: *mut c_void, _level: i32, _message: ChipdockStr) {}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32 {
    // SAFETY: the caller guarantees that the name is live and the out parameter may be written (H.4).
    unsafe {
        let name = str_in(name, "name").expect("UTF-8");
        out_function.write(Any::from(host_of(self_).function(name)).into_raw());
    }
    0
}

unsafe extern "C" fn current_stream(
    _self: *mut c_void,
    _device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: the caller guarantees that `out_stream` may be written (H.10).
    unsafe { out_stream.write(ptr::null_mut()) };
    0
}

unsafe extern "C" fn query(
    _self: *mut c_void,
    _name: ChipdockStr,
    _version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: the caller guarantees that `out_interface` may be written (H.5).
    unsafe { out_interface.write(ChipdockInterface::NONE) };
    0
}

unsafe extern "C" fn register_device_api(
    self_: *mut c_void,
    name: ChipdockStr,
    device_type: i32,
    _info_json: ChipdockStr,
    api_self: *mut c_void,
    api: *const ChipdockDeviceApi,
    out_device_type: *mut i32,
) -> i32 {
    let host = host_of(self_);
    let name = host.record("device_api", name);
    let mut devices = host.devices.lock().expect("devices");
    let assigned = CHIPDOCK_DEVICE_FIRST_ASSIGNED + devices.len() as i32;
    let device_type = if device_type == 0 { assigned } else { device_type };
    // SAFETY: the caller guarantees that the table is static and the out parameter may be written (P5.1).
    unsafe {
        out_device_type.write(device_type);
        let device = RegisteredDevice { self_: api_self, table: &*api, host: host.reference(), device_type };
        devices.push((name, device));
    }
    0
}

unsafe extern "C" fn register_target_kind(
    self_: *mut c_void,
    name: ChipdockStr,
    _schema_json: ChipdockStr,
    kind_self: *mut c_void,
    kind: *const ChipdockTargetKind,
) -> i32 {
    let host = host_of(self_);
    let name = host.record("target.kind", name);
    // SAFETY: the caller guarantees that the table is static (P5.1).
    let table = unsafe { Table::new(kind_self, kind) };
    host.target_kinds.lock().expect("target_kinds").push((name, table));
    0
}

unsafe extern "C" fn register_codegen(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    codegen_self: *mut c_void,
    codegen: *const ChipdockCodegen,
) -> i32 {
    let host = host_of(self_);
    let name = host.record("target.build", kind);
    host.record_info(format!("target.build.{name}"), info_json);
    // SAFETY: the caller guarantees that the table is static (P5.1).
    let table = unsafe { Table::new(codegen_self, codegen) };
    host.codegens.lock().expect("codegens").push((name, table));
    0
}

unsafe extern "C" fn register_module_loader(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    loader_self: *mut c_void,
    loader: *const ChipdockModuleLoader,
) -> i32 {
    let host = host_of(self_);
    let name = host.record("module.load", kind);
    host.record_info(format!("module.load.{name}"), info_json);
    // SAFETY: the caller guarantees that the table is static (P5.1).
    let table = unsafe { Table::new(loader_self, loader) };
    host.loaders.lock().expect("loaders").push((name, table));
    0
}

unsafe extern "C" fn register_function(
    self_: *mut c_void,
    name: ChipdockStr,
    function_self: *mut c_void,
    call: ChipdockSafeCall,
    deleter: ChipdockDeleter,
) -> i32 {
    let host = host_of(self_);
    let name = host.record("function", name);
    // SAFETY: P5.1, the registration hands over `self_` with its deleter.
    let function = unsafe { Function::from_parts(function_self, call, deleter) };
    host.functions.lock().expect("functions").push((name, function));
    0
}

unsafe extern "C" fn register_interface(
    self_: *mut c_void,
    key: ChipdockStr,
    name: ChipdockStr,
    version: u32,
    interface: *const ChipdockInterface,
    deleter: ChipdockDeleter,
) -> i32 {
    let host = host_of(self_);
    // SAFETY: the caller guarantees that both texts are live for the call (P5.1).
    let (key, name) = unsafe { (str_in(key, "key"), str_in(name, "name")) };
    let key = format!("{}/{}/{version}", key.expect("UTF-8"), name.expect("UTF-8"));
    host.keys.lock().expect("keys").push(key.clone());
    // SAFETY: the caller hands over the interface with its deleter (P3.13).
    let interface = unsafe { RegisteredInterface { raw: *interface, deleter } };
    host.interfaces.lock().expect("interfaces").push((key, interface));
    0
}

/// A registered interface.
#[derive(Clone, Copy)]
pub struct RegisteredInterface {
    /// Table and `self_` of the interface.
    pub raw: ChipdockInterface,
    /// Deleter of its `self_`.
    pub deleter: ChipdockDeleter,
}

impl RecordingHost {
    /// Creates a host that lives as long as the process, as hosts do.
    #[must_use]
    pub fn leak() -> &'static Self {
        let host: &'static Self = Box::leak(Box::new(Self {
            errors: Mutex::default(),
            devices: Mutex::default(),
            functions: Mutex::default(),
            loaders: Mutex::default(),
            codegens: Mutex::default(),
            infos: Mutex::default(),
            target_kinds: Mutex::default(),
            keys: Mutex::default(),
            interfaces: Mutex::default(),
            instances: Mutex::default(),
            table: Mutex::new(None),
        }));
        let table: &'static ChipdockHost = Box::leak(Box::new(ChipdockHost {
            abi_major: CHIPDOCK_ABI_MAJOR,
            abi_minor: CHIPDOCK_ABI_MINOR,
            version: static_str("0.0.0"),
            self_: ptr::from_ref(host).cast_mut().cast(),
            raise,
            raise_object,
            take_error,
            log,
            function,
            current_stream,
            query,
        }));
        // SAFETY: both live as long as the process, and the functions keep H.1 to H.6.
        *host.table.lock().expect("table") = Some(unsafe { HostRef::new(table) });
        host
    }

    /// Returns a reference to the host's table.
    ///
    /// # Panics
    ///
    /// Never: it is set when the host is made.
    pub fn reference(&self) -> HostRef {
        self.table.lock().expect("table").expect("set when the host is made")
    }

    fn set(&self, error: Error) {
        self.errors.lock().expect("errors").insert(thread::current().id(), error);
    }

    fn record(&self, what: &str, name: ChipdockStr) -> String {
        // SAFETY: the caller guarantees that the name is live for the call (P5.1).
        let name = unsafe { str_in(name, "name") }.expect("UTF-8").to_owned();
        self.keys.lock().expect("keys").push(format!("{what}.{name}"));
        name
    }

    fn record_info(&self, key: String, info_json: ChipdockStr) {
        // SAFETY: the caller guarantees that the text is live for the call (P5.1).
        let info = unsafe { str_in(info_json, "info") }.expect("UTF-8").to_owned();
        self.infos.lock().expect("infos").push((key, info));
    }

    /// Returns true if the error slot of any thread holds an error that nobody took.
    ///
    /// # Panics
    ///
    /// Never, unless a plugin panicked through this host.
    pub fn has_error(&self) -> bool {
        !self.errors.lock().expect("errors").is_empty()
    }

    /// Returns the registered function of that name.
    ///
    /// # Panics
    ///
    /// Never, unless a plugin panicked through this host.
    pub fn function(&self, name: &str) -> Option<Function> {
        let functions = self.functions.lock().expect("functions");
        functions.iter().find(|(known, _)| known == name).map(|(_, function)| function.clone())
    }

    /// Returns the registered device API of that name.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn device(&self, name: &str) -> RegisteredDevice {
        let devices = self.devices.lock().expect("devices");
        let found = devices.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no device API `{name}`")).1
    }

    /// Runs a plugin's `init` with this host.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn init(&self, plugin: &ChipdockPlugin) -> Result<(), Error> {
        let registrar = ChipdockRegistrar {
            self_: ptr::from_ref(self).cast_mut().cast(),
            device_api: register_device_api,
            target_kind: register_target_kind,
            codegen: register_codegen,
            module_loader: register_module_loader,
            function: register_function,
            extend: register_interface,
        };
        let host = self.reference();
        let mut instance = ptr::null_mut();
        // SAFETY: P10.2, a host with its table, and a registrar and a place that are valid for the call.
        let status = unsafe { (plugin.init)(host.table(), &registrar, &mut instance) };
        host.check(status, || "init".to_owned())?;
        self.instances.lock().expect("instances").push(Instance(instance));
        Ok(())
    }

    /// Returns the interface of that key, with name and version.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn interface(&self, key: &str) -> RegisteredInterface {
        let interfaces = self.interfaces.lock().expect("interfaces");
        let found = interfaces.iter().find(|(known, _)| known == key);
        found.unwrap_or_else(|| panic!("no interface `{key}`")).1
    }

    /// Runs a plugin's `shutdown` for this host.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn shutdown(&self, plugin: &ChipdockPlugin) -> Result<(), Error> {
        let instance = self.instances.lock().expect("instances").last().map(|instance| instance.0);
        // SAFETY: P10.13, what `init` wrote.
        let status = unsafe { (plugin.shutdown)(instance.unwrap_or(ptr::null_mut())) };
        self.reference().check(status, || "shutdown".to_owned())
    }

    /// Calls a plugin's `release` with the instance of its last `init` with this host.
    ///
    /// # Panics
    ///
    /// If there was none.
    pub fn release(&self, plugin: &ChipdockPlugin) {
        let instance = self.instances.lock().expect("instances").pop().expect("an instance");
        // SAFETY: P10.14, tests release last.
        unsafe { (plugin.release)(instance.0) };
    }
}

/// Opens a plugin, never to close it, and returns its descriptor (P1.1, P11.1).
///
/// # Panics
///
/// If it cannot be opened, has no entry symbol, or returns null.
#[must_use]
pub fn open(path: &Path) -> &'static ChipdockPlugin {
    type Entry = unsafe extern "C" fn() -> *const ChipdockPlugin;
    // SAFETY: plugins of this repository; opening one runs `inventory`'s constructors alone.
    unsafe {
        let library = leak(path);
        let entry = library.get::<Entry>(b"chipdock_plugin_v1").expect("the entry");
        entry().as_ref().expect("a descriptor")
    }
}

/// Opens a library, never to close it.
///
/// # Panics
///
/// If it cannot be opened.
#[must_use]
pub fn leak(path: &Path) -> &'static libloading::Library {
    // SAFETY: as for `open`.
    let library = unsafe { libloading::Library::new(path) };
    Box::leak(Box::new(library.unwrap_or_else(|error| panic!("{}: {error}", path.display()))))
}

impl RegisteredDevice {
    /// Returns device 0 of this API.
    #[must_use]
    pub fn device(&self) -> ChipdockDevice {
        ChipdockDevice { device_type: self.device_type, device_id: 0 }
    }

    fn check(&self, status: i32) -> Result<(), Error> {
        self.host.check(status, || "a device API".to_owned())
    }

    /// Returns the number of devices.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn count(&self) -> Result<i32, Error> {
        let mut count = -1;
        // SAFETY: a registered table and its `self_`.
        self.check(unsafe { (self.table.device_count)(self.self_, &mut count) })?;
        Ok(count)
    }

    /// Returns an attribute of a device.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn attribute(&self, device_id: i32, key: &str) -> Result<Any, Error> {
        let mut raw = Any::NONE.into_raw();
        // SAFETY: a registered table and its `self_`; the result is owned.
        unsafe {
            self.check((self.table.attribute)(self.self_, device_id, str_out(key), &mut raw))?;
            Ok(Any::from_raw(raw))
        }
    }

    /// Allocates a data space, without a check of the request.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate(
        &self,
        device_id: i32,
        size_bytes: u64,
        alignment_bytes: u64,
        kind: i32,
        scope: &str,
    ) -> Result<*mut c_void, Error> {
        let request = ChipdockDataSpaceRequest {
            size_bytes,
            alignment_bytes,
            dtype_hint: ChipdockDataType { code: 0, bits: 0, lanes: 0 },
            kind,
            scope: str_out(scope),
            next: std::ptr::null(),
        };
        let mut data = ptr::null_mut();
        // SAFETY: a registered table and its `self_`.
        self.check(unsafe { (self.table.allocate_data_space)(self.self_, device_id, &request, &mut data) })?;
        Ok(data)
    }

    /// Allocates device memory of scope global.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn allocate_bytes(&self, size_bytes: u64) -> Result<*mut c_void, Error> {
        self.allocate(0, size_bytes, 1, 0, "global")
    }

    /// Frees a data space.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    #[expect(
        clippy::not_unsafe_ptr_arg_deref,
        reason = "a data space is a handle, and tests free what they allocated"
    )]
    pub fn free(&self, data: *mut c_void) -> Result<(), Error> {
        // SAFETY: a registered table and its `self_`; tests free what they allocated.
        self.check(unsafe { (self.table.free_data_space)(self.self_, 0, data) })
    }

    /// Copies between two ends and waits for the copy.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn copy(&self, from: ChipdockCopyEnd, to: ChipdockCopyEnd, size_bytes: u64) -> Result<(), Error> {
        let dtype_hint = ChipdockDataType { code: 0, bits: 0, lanes: 0 };
        let copy = ChipdockCopy { from, to, size_bytes, dtype_hint, next: std::ptr::null() };
        // SAFETY: a registered table and its `self_`; tests keep both ends alive.
        unsafe {
            self.check((self.table.copy_data)(self.self_, 0, &copy, ptr::null_mut()))?;
            self.check((self.table.sync_stream)(self.self_, 0, ptr::null_mut()))
        }
    }

    /// Calls every function for streams, in order.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn exercise_streams(&self) -> Result<(), Error> {
        let mut stream = ptr::null_mut();
        // SAFETY: a registered table and its `self_`; the stream is freed last.
        unsafe {
            self.check((self.table.create_stream)(self.self_, 0, &mut stream))?;
            self.check((self.table.sync_stream_from_to)(self.self_, 0, stream, ptr::null_mut()))?;
            self.check((self.table.sync_stream)(self.self_, 0, stream))?;
            self.check((self.table.free_stream)(self.self_, 0, stream))
        }
    }

    /// Calls the functions with null for every pointer; returns the statuses. Only for plugins that check pointers (the
    /// shim does).
    #[must_use]
    pub fn call_with_nulls(&self) -> Vec<i32> {
        // SAFETY: a registered table and its `self_`; null is answered with an error (D.2).
        unsafe {
            let table = self.table;
            vec![
                (table.device_count)(self.self_, ptr::null_mut()),
                (table.attribute)(self.self_, 0, str_out("exist"), ptr::null_mut()),
                (table.allocate_data_space)(self.self_, 0, ptr::null(), ptr::null_mut()),
                (table.copy_data)(self.self_, 0, ptr::null(), ptr::null_mut()),
                (table.create_stream)(self.self_, 0, ptr::null_mut()),
                (table.device_count)(ptr::null_mut(), ptr::null_mut()),
            ]
        }
    }
}
