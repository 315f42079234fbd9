//! The host: registrations, and the error slot of each thread (RAW-2 to RAW-6).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_DEVICE_FIRST_ASSIGNED, CHIPDOCK_INVALID_ARGUMENT,
    CHIPDOCK_OK, ChipdockAny, ChipdockCodegen, ChipdockConformance1, ChipdockDeleter, ChipdockDevice,
    ChipdockDeviceApi, ChipdockHost, ChipdockInterface, ChipdockModuleLoader, ChipdockRegistrar,
    ChipdockSafeCall, ChipdockStr, ChipdockTargetKind,
};
use chipdock_plugin_api::text::{bytes_in, static_str, str_in_lossy};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, Function, HostRef};

use serde_json::Value;

use crate::config::{self, Answers, SettingsOf};
use crate::env::Lent;
use crate::plugin::{Interface, Registered, Role, Table};

/// Message of the error with which a host refuses a registration on request.
pub const REFUSED: &str = "the host refuses this registration to see what becomes of it";

/// Recording host. Lives as long as the process, as hosts do.
pub struct RawHost {
    id: usize,
    registered: Mutex<Vec<Registered>>,
    streams: Mutex<HashMap<(i32, i32), usize>>,
    /// Whether `init` is running, during which the plugin must not request functions (P10.3).
    initialising: Mutex<bool>,
    /// Violations of the contract that were detected as they happened.
    broken: Mutex<Vec<String>>,
    table: Mutex<Option<HostRef>>,
    /// Raw `info_json` of each registration by key; it need not be text.
    infos: Mutex<Vec<(String, Vec<u8>)>>,
    /// Index of the registration that is refused, which tests the plugin's side of P5.4.
    refuse: Mutex<Option<usize>>,
    offer: Offer,
    /// Shared environment of loads whose releases are not counted, so that a case that loads
    /// repeatedly grows only by what the plugin keeps.
    env: OnceLock<&'static Lent>,
    /// Errors in the slots of all threads.
    n_errors: AtomicUsize,
    /// Errors that were taken without a failed call that would have reported them.
    n_strays: AtomicUsize,
    /// Texts that were not UTF-8.
    n_not_utf8: AtomicUsize,
    /// Settings of its plugin, if it has `config` 1.
    pub(crate) settings: OnceLock<Arc<dyn Answers>>,
}

/// What a host has beyond its table.
pub struct Offer {
    /// Minor version of the ABI that the host reports (P3.8).
    pub abi_minor: u32,
    /// Whether the host wants test hooks (I.4).
    pub has_hooks: bool,
    /// Settings of the plugin, which are asked for when it is known (interface `config` 1).
    pub settings: Option<SettingsOf>,
}

impl Default for Offer {
    fn default() -> Self {
        Self { abi_minor: CHIPDOCK_ABI_MINOR, has_hooks: true, settings: None }
    }
}

thread_local! {
    /// Errors of this thread by host.
    static ERRORS: RefCell<HashMap<usize, Error>> = RefCell::default();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn host_of<'a>(self_: *mut c_void) -> &'a RawHost {
    // SAFETY: `self_` points to a leaked host: every table that is handed out carries one.
    unsafe { &*self_.cast::<RawHost>() }
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    let host = host_of(self_);
    // SAFETY: by H.2, both texts are live for the call.
    let (kind, message) = unsafe { (host.text(kind), host.text(message)) };
    host.set(Error::new(ErrorKind::new(kind), message));
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    let host = host_of(self_);
    if error.is_null() {
        return host.broke("P7.1: raise_object was given null");
    }
    // SAFETY: the value is not null and borrowed for the call.
    match unsafe { AnyView::from_raw(*error) }.to::<Error>() {
        Ok(error) => host.set(error),
        Err(_) => host.broke("P7.1: raise_object was given a value that is no error object"),
    }
}

unsafe extern "C" fn take_error(self_: *mut c_void, out_error: *mut ChipdockAny) {
    let taken = host_of(self_).take_error();
    if !out_error.is_null() {
        // SAFETY: by H.3, there is room to write the error.
        unsafe { out_error.write(taken.map_or(Any::NONE, Any::from).into_raw()) };
    }
}

/// Ignores the plugin's log, which does not affect conformance.
unsafe extern "C" fn log(_self: *mut c_void, _level: i32, _message: ChipdockStr) {}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32 {
    let host = host_of(self_);
    // SAFETY: by H.4, the name is live for the call.
    let name = unsafe { str_in_lossy(name).into_owned() };
    if *lock(&host.initialising) {
        host.broke(format!("P10.3: `init` asked the host for the function {name}"));
    }
    if out_function.is_null() {
        host.set(Error::new(ErrorKind::VALUE_ERROR, "the place for the function is null"));
        return CHIPDOCK_INVALID_ARGUMENT;
    }
    // SAFETY: by H.4, there is room to write the function.
    unsafe { out_function.write(Any::from(host.function(&name)).into_raw()) };
    CHIPDOCK_OK
}

unsafe extern "C" fn current_stream(
    self_: *mut c_void,
    device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    if out_stream.is_null() {
        return CHIPDOCK_INVALID_ARGUMENT;
    }
    let streams = lock(&host_of(self_).streams);
    let stream = streams.get(&(device.device_type, device.device_id)).copied().unwrap_or_default();
    // SAFETY: by H.10, there is room to write the stream.
    unsafe { out_stream.write(ptr::with_exposed_provenance_mut(stream)) };
    CHIPDOCK_OK
}

/// Answers `conformance` 1 (I.4) if the host wants test hooks, and `config` 1 if it has settings.
unsafe extern "C" fn query(
    self_: *mut c_void,
    name: ChipdockStr,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    static CONFORMANCE: ChipdockConformance1 = ChipdockConformance1 { wants_hooks };
    let host = host_of(self_);
    if out_interface.is_null() {
        host.set(Error::new(ErrorKind::VALUE_ERROR, "the place for the interface is null"));
        return CHIPDOCK_INVALID_ARGUMENT;
    }
    // SAFETY: by H.5, the name is live for the call.
    let name = unsafe { str_in_lossy(name) };
    let conformance = ChipdockInterface {
        self_,
        table: ptr::from_ref(&CONFORMANCE).cast(),
        table_size_bytes: size_of::<ChipdockConformance1>() as u64,
        features: 0,
    };
    let found = match (&*name, version) {
        ("conformance", 1) if host.offer.has_hooks => conformance,
        ("config", 1) if host.settings.get().is_some() => config::interface(self_),
        _ => ChipdockInterface::NONE,
    };
    // SAFETY: by H.5, there is room to write the interface.
    unsafe { out_interface.write(found) };
    CHIPDOCK_OK
}

unsafe extern "C" fn wants_hooks(_self: *mut c_void) -> i32 {
    1
}

impl RawHost {
    /// Creates a host that wants test hooks and has no settings. It is never freed.
    #[must_use]
    pub fn leak() -> &'static Self {
        Self::leak_with(Offer::default())
    }

    /// Makes the host answer the settings of this plugin; called before `init`.
    pub(crate) fn meets(&self, plugin: &str, info: &str) {
        if self.settings.get().is_none()
            && let Some(answers) = self.offer.settings.as_ref().and_then(|of| of(plugin, info))
        {
            let _ = self.settings.set(answers);
        }
    }

    /// Returns an environment that may be lent any number of times.
    pub(crate) fn env(&'static self) -> &'static Lent {
        self.env.get_or_init(|| Lent::new(self))
    }

    /// Creates a host that has what is offered. It is never freed.
    #[must_use]
    pub fn leak_with(offer: Offer) -> &'static Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let abi_minor = offer.abi_minor;
        let host: &'static Self = Box::leak(Box::new(Self {
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            registered: Mutex::default(),
            streams: Mutex::default(),
            initialising: Mutex::default(),
            broken: Mutex::default(),
            table: Mutex::new(None),
            infos: Mutex::default(),
            refuse: Mutex::new(None),
            offer,
            env: OnceLock::new(),
            n_errors: AtomicUsize::new(0),
            n_strays: AtomicUsize::new(0),
            n_not_utf8: AtomicUsize::new(0),
            settings: OnceLock::new(),
        }));
        let table: &'static ChipdockHost = Box::leak(Box::new(ChipdockHost {
            abi_major: CHIPDOCK_ABI_MAJOR,
            abi_minor,
            version: static_str(env!("CARGO_PKG_VERSION")),
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
        *lock(&host.table) = Some(unsafe { HostRef::new(table) });
        host
    }

    /// Returns the host as a plugin sees it.
    #[must_use]
    pub fn reference(&self) -> HostRef {
        // Set by `leak_with`, which makes every host.
        lock(&self.table).unwrap_or_else(HostRef::standalone)
    }

    /// Makes the registration with this index fail; the plugin's `init` must pass the error on.
    pub fn refuse_registration(&self, number: usize) {
        *lock(&self.refuse) = Some(number);
    }

    /// Makes `stream` the active stream of a device on every thread.
    pub fn set_current_stream(&self, device: ChipdockDevice, stream: *mut c_void) {
        lock(&self.streams).insert((device.device_type, device.device_id), stream.expose_provenance());
    }

    /// Takes the error of this thread.
    #[must_use]
    pub fn take_error(&self) -> Option<Error> {
        let taken = ERRORS.with_borrow_mut(|errors| errors.remove(&self.id));
        self.n_errors.fetch_sub(usize::from(taken.is_some()), Ordering::Relaxed);
        taken
    }

    /// Returns the number of registrations, including a refused one.
    #[must_use]
    pub fn n_registered(&self) -> usize {
        self.registered().len()
    }

    /// Releases all registrations once each, the last one first (P9.1).
    ///
    /// # Safety
    ///
    /// * `shutdown` was called or `init` failed, and nothing that was registered is used
    ///   afterwards.
    pub unsafe fn destroy_registered(&self) {
        let registered = std::mem::take(&mut *self.registered());
        // SAFETY: nothing that was registered is used afterwards, as this function requires.
        registered.into_iter().rev().for_each(|registered| unsafe { registered.destroy() });
    }

    /// Returns the violations detected so far, each beginning with its clause.
    #[must_use]
    pub fn broken(&self) -> Vec<String> {
        lock(&self.broken).clone()
    }

    /// Returns the `info_json` of device APIs, code generators and loaders by key, in order.
    #[must_use]
    pub fn infos(&self) -> Vec<(String, Vec<u8>)> {
        lock(&self.infos).clone()
    }

    fn note_info(&self, key: String, info_json: ChipdockStr) {
        // SAFETY: by P5.1, the text is live for the call.
        lock(&self.infos).push((key, unsafe { bytes_in(info_json) }.to_vec()));
    }

    /// Returns the registered function of a name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<Function> {
        lock(&self.registered).iter().find_map(|registered| match registered {
            Registered::Function { name: known, function } if known == name => Some(function.clone()),
            _ => None,
        })
    }

    /// Turns the status of a call into a result: the raised error, or an error that none was raised
    /// (P7.1, P7.2).
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; kind `BrokenPlugin` if the call failed and raised none.
    pub fn check(&self, status: i32, what: &str) -> Result<(), Error> {
        if status == CHIPDOCK_OK {
            self.begin();
            return Ok(());
        }
        let raised = self.take_error();
        Err(raised.unwrap_or_else(|| {
            let message = format!("{what} answered status {status} and raised no error (P7.1)");
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        }))
    }

    /// Returns the number of errors that were raised and that no failed call reported, on any
    /// thread (RAW-4).
    #[must_use]
    pub fn n_stray_errors(&self) -> usize {
        self.n_errors.load(Ordering::Relaxed) + self.n_strays.load(Ordering::Relaxed)
    }

    /// Returns the number of texts that were not UTF-8 (RAW-6).
    #[must_use]
    pub fn n_not_utf8(&self) -> usize {
        self.n_not_utf8.load(Ordering::Relaxed)
    }

    /// Empties this thread's slot before a call: what an earlier call left there does not belong to
    /// it.
    pub(crate) fn begin(&self) {
        self.n_strays.fetch_add(usize::from(self.take_error().is_some()), Ordering::Relaxed);
    }

    /// Reads a text, and notes one that is not UTF-8.
    ///
    /// # Safety
    ///
    /// * The text is live.
    unsafe fn text(&self, text: ChipdockStr) -> String {
        // SAFETY: the text is live, as this function requires.
        let read = unsafe { str_in_lossy(text) };
        // A text that is UTF-8 is borrowed.
        self.n_not_utf8.fetch_add(usize::from(matches!(read, Cow::Owned(_))), Ordering::Relaxed);
        read.into_owned()
    }

    /// Copies the name of a registration; of a longer one no more than shows that it is too long.
    fn name_of(&self, name: ChipdockStr) -> String {
        self.copied(name, NAME_BYTES_MAX)
    }

    /// Copies a text; of one beyond its bound no more than one byte beyond.
    fn copied(&self, text: ChipdockStr, bytes_max: usize) -> String {
        let size = text.size.min(bytes_max + 1);
        // SAFETY: by P5.1, the text is live for the call, and no more of it is read than it has.
        unsafe { self.text(ChipdockStr { size, ..text }) }
    }

    pub(crate) fn set(&self, error: Error) {
        let replaced = ERRORS.with_borrow_mut(|errors| errors.insert(self.id, error));
        self.n_errors.fetch_add(usize::from(replaced.is_none()), Ordering::Relaxed);
    }

    pub(crate) fn broke(&self, what: impl Into<String>) {
        lock(&self.broken).push(what.into());
    }

    pub(crate) fn registered(&self) -> MutexGuard<'_, Vec<Registered>> {
        lock(&self.registered)
    }

    /// Calls `body`, which runs `init`, with a registrar that is valid for the call.
    pub(crate) fn during_init<T>(&self, body: impl FnOnce(&ChipdockRegistrar) -> T) -> T {
        let registrar = ChipdockRegistrar {
            self_: ptr::from_ref(self).cast_mut().cast(),
            device_api: register_device_api,
            target_kind: register_target_kind,
            codegen: register_codegen,
            module_loader: register_module_loader,
            // SAFETY: the same function, except that it checks for null pointers; an optional
            // function pointer has the layout of the pointer itself.
            function: unsafe { std::mem::transmute::<OptionalFunction, RegisterFunction>(register_function) },
            // SAFETY: the same function, except that it checks for null pointers; an optional
            // function pointer has the layout of the pointer itself.
            extend: unsafe { std::mem::transmute::<OptionalExtend, RegisterExtend>(register_interface) },
        };
        *lock(&self.initialising) = true;
        let result = body(&registrar);
        *lock(&self.initialising) = false;
        result
    }

    /// Records a registration, and refuses it if the case asked for that.
    fn register(&self, registered: Registered) -> i32 {
        let mut all = self.registered();
        let number = all.len();
        let beyond = registered.beyond();
        // A refused registration is still owned by the host (P5.1): it stays in the list, to be
        // destroyed.
        all.push(registered);
        if number >= REGISTRATIONS_MAX {
            let message = format!("a plugin registers at most {REGISTRATIONS_MAX} things; this is one more");
            self.set(Error::new(ErrorKind::VALUE_ERROR, message));
            return CHIPDOCK_INVALID_ARGUMENT;
        }
        if let Some(message) = beyond {
            self.set(Error::new(ErrorKind::VALUE_ERROR, message));
            return CHIPDOCK_INVALID_ARGUMENT;
        }
        if *lock(&self.refuse) == Some(number) {
            self.set(Error::new(ErrorKind::WRONG_STATE, REFUSED));
            return chipdock_abi::CHIPDOCK_WRONG_STATE;
        }
        CHIPDOCK_OK
    }
}

/// Bytes of a registration's name and of a target kind's schema, and registrations of one plugin:
/// what the host takes (HOST-A3).
const NAME_BYTES_MAX: usize = 1 << 10;
const SCHEMA_BYTES_MAX: usize = 1 << 20;
const REGISTRATIONS_MAX: usize = 4096;

/// Wraps a registered table; if it is null or has a null slot, records a violation and wraps no
/// table.
///
/// # Safety
///
/// * P5.1: `table` is null, or static and made of function pointers alone.
unsafe fn table_of<T: Slots>(
    self_: *mut c_void,
    key: &str,
    registered_self: *mut c_void,
    table: *const T,
) -> Table<T> {
    let null = if table.is_null() {
        Some("its table is null".to_owned())
    } else {
        let slots = table.cast::<*const c_void>();
        // SAFETY: the caller guarantees that the table consists of that many pointers, which are
        // read as plain pointers.
        let null = (0..T::NAMES.len()).find(|index| unsafe { slots.add(*index).read() }.is_null());
        null.map(|index| format!("slot {index} of its table, `{}`, is null", T::NAMES[index]))
    };
    let Some(null) = null else {
        // SAFETY: the table is neither null nor has a null slot, and the caller guarantees that it
        // is static.
        return unsafe { Table::new(registered_self, table) };
    };
    host_of(self_).broke(format!("P3.1: {key}: {null}"));
    Table { self_: registered_self, table: None }
}

/// A table of the ABI, with the names of its slots in order.
trait Slots: Sized + 'static {
    const NAMES: &'static [&'static str];
}

macro_rules! slots {
    ($($table:ident: $($slot:ident)*;)*) => {$(
        impl Slots for $table {
            const NAMES: &'static [&'static str] = &[$(stringify!($slot)),*];
        }

        const _: () = assert!(size_of::<$table>() == size_of::<usize>() * <$table as Slots>::NAMES.len());
    )*};
}
slots! {
    ChipdockDeviceApi: destroy device_count attribute allocate_data_space free_data_space copy_data create_stream
        free_stream sync_stream sync_stream_from_to;
    ChipdockTargetKind: destroy canonicalize;
    ChipdockCodegen: destroy unsupported build fingerprint;
    ChipdockModuleLoader: destroy verdict load;
}

unsafe extern "C" fn register_device_api(
    self_: *mut c_void,
    name: ChipdockStr,
    asked: i32,
    info_json: ChipdockStr,
    api_self: *mut c_void,
    api: *const ChipdockDeviceApi,
    out_device_type: *mut i32,
) -> i32 {
    let host = host_of(self_);
    let count = host.registered().len();
    let assigned = CHIPDOCK_DEVICE_FIRST_ASSIGNED + i32::try_from(count).unwrap_or_default();
    let device_type = if asked == 0 { assigned } else { asked };
    if !out_device_type.is_null() {
        // SAFETY: by P5.5, there is room to write the device type.
        unsafe { out_device_type.write(device_type) };
    }
    let name = host.name_of(name);
    // SAFETY: by P5.1, the table is static or null.
    let table = unsafe { table_of(self_, &format!("device_api.{name}"), api_self, api) };
    host.note_info(format!("device_api.{name}"), info_json);
    host.register(Registered::DeviceApi { name, asked, device_type, table })
}

unsafe extern "C" fn register_target_kind(
    self_: *mut c_void,
    name: ChipdockStr,
    schema_json: ChipdockStr,
    kind_self: *mut c_void,
    kind: *const ChipdockTargetKind,
) -> i32 {
    let name = host_of(self_).name_of(name);
    // SAFETY: by P5.1, the table is static or null.
    let table = unsafe { table_of(self_, &format!("target.kind.{name}"), kind_self, kind) };
    host_of(self_).register(Registered::TargetKind {
        name,
        schema_json: host_of(self_).copied(schema_json, SCHEMA_BYTES_MAX),
        table,
    })
}

unsafe extern "C" fn register_codegen(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    codegen_self: *mut c_void,
    codegen: *const ChipdockCodegen,
) -> i32 {
    let info: Value =
        serde_json::from_str(&host_of(self_).copied(info_json, SCHEMA_BYTES_MAX)).unwrap_or_default();
    let version = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
    let (ir_min, ir_max) = (version("ir_min"), version("ir_max"));
    let name = host_of(self_).name_of(kind);
    host_of(self_).note_info(format!("target.build.{name}"), info_json);
    // SAFETY: by P5.1, the table is static or null.
    let table = unsafe { table_of(self_, &format!("target.build.{name}"), codegen_self, codegen) };
    host_of(self_).register(Registered::Codegen { name, ir_min, ir_max, table })
}

unsafe extern "C" fn register_module_loader(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    loader_self: *mut c_void,
    loader: *const ChipdockModuleLoader,
) -> i32 {
    let name = host_of(self_).name_of(kind);
    // SAFETY: by P5.1, the table is static or null.
    let table = unsafe { table_of(self_, &format!("module.load.{name}"), loader_self, loader) };
    host_of(self_).note_info(format!("module.load.{name}"), info_json);
    host_of(self_).register(Registered::Loader { name, table })
}

type RegisterFunction =
    unsafe extern "C" fn(*mut c_void, ChipdockStr, *mut c_void, ChipdockSafeCall, ChipdockDeleter) -> i32;
type OptionalFunction = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    *mut c_void,
    Option<unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32>,
    Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32;

unsafe extern "C" fn register_function(
    self_: *mut c_void,
    name: ChipdockStr,
    function_self: *mut c_void,
    call: Option<unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32>,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32 {
    let host = host_of(self_);
    let name = host.name_of(name);
    let (Some(call), Some(deleter)) = (call, deleter) else {
        host.broke(format!("P3.1: function.{name}: its function or its deleter is null"));
        return CHIPDOCK_OK;
    };
    // SAFETY: by P5.1, the registration hands over `self_` with its deleter.
    let function =
        unsafe { Function::from_parts(function_self, ChipdockSafeCall(call), ChipdockDeleter(deleter)) };
    host.register(Registered::Function { name, function })
}

type RegisterExtend = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    ChipdockStr,
    u32,
    *const ChipdockInterface,
    ChipdockDeleter,
) -> i32;
type OptionalExtend = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    ChipdockStr,
    u32,
    *const ChipdockInterface,
    Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32;

unsafe extern "C" fn register_interface(
    self_: *mut c_void,
    key: ChipdockStr,
    name: ChipdockStr,
    version: u32,
    interface: *const ChipdockInterface,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32 {
    let host = host_of(self_);
    let (key, name) = (host.name_of(key), host.name_of(name));
    // SAFETY: the interface is live for the call, or null.
    let (Some(raw), Some(deleter)) = (unsafe { interface.as_ref() }, deleter) else {
        host.broke(format!("P3.11: {key}/{name}/{version}: the interface or its deleter is null"));
        return CHIPDOCK_OK;
    };
    let interface = Interface { key, name, version, raw: *raw, deleter: ChipdockDeleter(deleter) };
    host.register(Registered::Interface(interface))
}

impl Registered {
    /// Returns the key, spelled as in a manifest.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::DeviceApi { name, .. } => format!("device_api.{name}"),
            Self::TargetKind { name, .. } => format!("target.kind.{name}"),
            Self::Codegen { name, .. } => format!("target.build.{name}"),
            Self::Loader { name, .. } => format!("module.load.{name}"),
            Self::Function { name, .. } => format!("function.{name}"),
            Self::Interface(Interface { key, name, version, .. }) => format!("{key}/{name}/{version}"),
        }
    }

    /// Releases the registration once, as an unloading host does (P9.1, P3.13).
    ///
    /// # Safety
    ///
    /// * Nothing of the registration is used afterwards.
    pub(crate) unsafe fn destroy(self) {
        // SAFETY: by P9.1, each table's `destroy` takes the registered `self_`; the caller
        // guarantees that it is called once.
        unsafe {
            match self {
                Self::DeviceApi { table, .. } => table.destroy(|table| table.destroy),
                Self::TargetKind { table, .. } => table.destroy(|table| table.destroy),
                Self::Codegen { table, .. } => table.destroy(|table| table.destroy),
                Self::Loader { table, .. } => table.destroy(|table| table.destroy),
                // Dropping the last reference calls the plugin's deleter.
                Self::Function { function, .. } => drop(function),
                Self::Interface(interface) => (interface.deleter.0)(interface.raw.self_),
            }
        }
    }

    /// Returns what is longer than the host takes (HOST-A3), if anything is.
    fn beyond(&self) -> Option<String> {
        let (what, text, bytes_max) = match self {
            Self::TargetKind { schema_json, .. } if schema_json.len() > SCHEMA_BYTES_MAX => {
                ("the schema of a target kind", schema_json, SCHEMA_BYTES_MAX)
            }
            Self::Interface(Interface { key, name, .. }) => (
                "the key and the name of an interface",
                if key.len() > name.len() { key } else { name },
                NAME_BYTES_MAX,
            ),
            Self::DeviceApi { name, .. }
            | Self::TargetKind { name, .. }
            | Self::Codegen { name, .. }
            | Self::Loader { name, .. }
            | Self::Function { name, .. } => ("the name of a registration", name, NAME_BYTES_MAX),
        };
        (text.len() > bytes_max).then(|| format!("{what}: expected at most {bytes_max} bytes, found more"))
    }

    /// Returns what the registration is and its name; `None` for an interface.
    pub(crate) fn role(&self) -> Option<(Role, &str)> {
        Some(match self {
            Self::DeviceApi { name, .. } => (Role::DeviceApi, name),
            Self::TargetKind { name, .. } => (Role::TargetKind, name),
            Self::Codegen { name, .. } => (Role::Codegen, name),
            Self::Loader { name, .. } => (Role::Loader, name),
            Self::Function { name, .. } => (Role::Function, name),
            Self::Interface(_) => return None,
        })
    }
}
