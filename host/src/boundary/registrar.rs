//! The registrar: stages the registrations of a plugin's `init`, and commits all of them or none
//! (P5).

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_DEVICE_CPU, CHIPDOCK_DEVICE_FIRST_ASSIGNED, CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_OK,
    ChipdockCodegen, ChipdockDeleter, ChipdockDeviceApi, ChipdockInterface, ChipdockModuleLoader,
    ChipdockRegistrar, ChipdockSafeCall, ChipdockStr, ChipdockTargetKind,
};
use chipdock_ir::DeclaredKind;
use chipdock_plugin_api as api;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::boundary::calling::{Note, TableNotes};
use crate::boundary::extension::{Extension, Extensions};
use crate::boundary::instance::Instance;
use crate::boundary::lent::{self, Loan, Loans};
use crate::boundary::plugin_call::PluginCall;
use crate::bounds::{
    self, INFO_BYTES_MAX, NAME_BYTES_MAX, REFUSED_MAX, REGISTRATIONS_MAX, SCHEMA_BYTES_MAX, aligned,
};
use crate::compile::resolve::schema::check_kind;
use crate::error::{Error, ErrorKind};
use crate::names::{check_interface_key, check_registered_name};

/// A table of function pointers whose first entry releases the object that was registered with it.
///
/// # Safety
///
/// The type consists of function pointers and nothing else, and `destroy` returns its first.
pub(crate) unsafe trait Table: Copy + 'static {
    fn destroy(&self) -> unsafe extern "C" fn(*mut c_void);
}

macro_rules! tables {
    ($($table:ty),*) => {$(
        // SAFETY: function pointers alone, `destroy` first (chipdock-abi's layouts assert it).
        unsafe impl Table for $table {
            fn destroy(&self) -> unsafe extern "C" fn(*mut c_void) {
                self.destroy
            }
        }
    )*};
}
tables!(
    ChipdockDeviceApi,
    ChipdockTargetKind,
    ChipdockCodegen,
    ChipdockModuleLoader,
    chipdock_abi::ChipdockModule
);

/// A `self` and its table, released by the table's `destroy` when dropped.
pub(crate) struct Owned<T: Table> {
    self_: *mut c_void,
    /// A copy: the checked table is the one that is called, whatever happens to the plugin's own
    /// (HOST-A5).
    table: T,
    /// Instance of the plugin that registered it; released after this.
    instance: Arc<Instance>,
}

// SAFETY: every function of a table may be called from any thread (P10).
unsafe impl<T: Table> Send for Owned<T> {}
// SAFETY: every function of a table may be called from any thread (P10).
unsafe impl<T: Table> Sync for Owned<T> {}

impl<T: Table> Owned<T> {
    /// Takes over `self_`, unless the table is null or has a null slot: then nothing can release
    /// it.
    ///
    /// # Safety
    ///
    /// * `table` is null or points to a table of this type that lives as long as the process.
    /// * `self_` is what the table's functions expect, and the caller gives it up.
    pub(crate) unsafe fn new(
        self_: *mut c_void,
        table: *const T,
        instance: &Arc<Instance>,
    ) -> Result<Self, String> {
        // P3.1: a table has no null slot, and so is one.
        let Some(pointer) = NonNull::new(table.cast_mut()) else {
            return Err("its table is null".to_owned());
        };
        if !pointer.as_ptr().is_aligned() {
            return Err("its table is not aligned".to_owned());
        }
        let slots = pointer.as_ptr().cast::<*const c_void>();
        for index in 0..size_of::<T>() / size_of::<*const c_void>() {
            // SAFETY: a table is function pointers and nothing else; read as plain pointers, a null
            // one is seen.
            if unsafe { slots.add(index).read() }.is_null() {
                return Err(format!("slot {index} of its table is null"));
            }
        }
        // SAFETY: not null, aligned, and no null slot.
        let table = unsafe { pointer.as_ptr().read() };
        Ok(Self { self_, table, instance: Arc::clone(instance) })
    }

    pub(crate) fn self_(&self) -> *mut c_void {
        self.self_
    }

    pub(crate) fn table(&self) -> &T {
        &self.table
    }

    /// Returns the instance of the plugin that registered it.
    pub(crate) fn instance(&self) -> &Arc<Instance> {
        &self.instance
    }

    /// Returns the name of the plugin that registered it.
    pub(crate) fn plugin(&self) -> &str {
        self.instance.plugin()
    }

    /// Notes that one of its functions is called (CALLING-N1).
    pub(crate) fn calling(&self, what: &str) -> PluginCall {
        PluginCall::enter(self.instance.log(), Note::of(self.plugin(), what))
    }
}

impl<T: Table> Drop for Owned<T> {
    fn drop(&mut self) {
        let _calling = self.calling("destroy");
        // SAFETY: called once, last, with the `self` that was registered.
        unsafe { self.table.destroy()(self.self_) };
    }
}

/// The functions of a device API's table that the host calls.
const DEVICE_FUNCTIONS: &[&str] = &[
    "device_count",
    "attribute",
    "allocate_data_space",
    "free_data_space",
    "copy_data",
    "create_stream",
    "free_stream",
    "sync_stream",
    "sync_stream_from_to",
];

/// A registered device API.
pub(crate) struct DeviceApiEntry {
    pub(crate) name: String,
    pub(crate) device_type: i32,
    pub(crate) notes: TableNotes,
    /// Whether its devices were asked for.
    pub(crate) is_asked: AtomicBool,
    /// Dropped before what they extend (P3.13).
    pub(crate) extensions: Extensions,
    pub(crate) owned: Owned<ChipdockDeviceApi>,
}

/// A registered target kind.
pub(crate) struct TargetKindEntry {
    pub(crate) declared: DeclaredKind,
    /// The schema as it was registered.
    pub(crate) schema: Box<str>,
    pub(crate) owned: Owned<ChipdockTargetKind>,
}

/// A registered code generator.
pub(crate) struct CodegenEntry {
    pub(crate) kind: String,
    pub(crate) ir_min: semver::Version,
    pub(crate) ir_max: semver::Version,
    pub(crate) owned: Owned<ChipdockCodegen>,
}

/// A registered module loader.
pub(crate) struct ModuleLoaderEntry {
    /// Dropped before what they extend (P3.13).
    pub(crate) extensions: Extensions,
    pub(crate) owned: Owned<ChipdockModuleLoader>,
}

/// The registration under a key.
#[derive(Clone)]
pub(crate) enum Entry {
    DeviceApi(Arc<DeviceApiEntry>),
    TargetKind(Arc<TargetKindEntry>),
    Codegen(Arc<CodegenEntry>),
    ModuleLoader(Arc<ModuleLoaderEntry>),
    Function(api::Function),
    /// A named interface, which is stored with the object that it extends where this host knows one
    /// of that.
    Interface,
}

/// Numbers of device types: DLPack's as plugins give them, others assigned by name.
#[derive(Clone, Default)]
pub(crate) struct DeviceTypes {
    by_name: BTreeMap<String, i32>,
}

impl DeviceTypes {
    /// Returns the name of a number.
    pub(crate) fn name(&self, device_type: i32) -> Option<&str> {
        self.by_name.iter().find(|(_, number)| **number == device_type).map(|(name, _)| name.as_str())
    }

    /// Returns the number for a device of that name. `declared` is DLPack's, or 0 for one of the
    /// host's (P5.12, P5.14).
    pub(crate) fn number(&mut self, name: &str, declared: i32) -> Result<i32, String> {
        if !(0..CHIPDOCK_DEVICE_FIRST_ASSIGNED).contains(&declared) {
            return Err(format!(
                "device type {declared}: expected 0, or a number of DLPack's below {CHIPDOCK_DEVICE_FIRST_ASSIGNED}"
            ));
        }
        if declared == CHIPDOCK_DEVICE_CPU && name != "cpu" {
            return Err(format!(
                "device type {CHIPDOCK_DEVICE_CPU} is that of host memory, \"cpu\", and no other"
            ));
        }
        if let Some(&known) = self.by_name.get(name) {
            let same = declared == 0 || declared == known;
            return if same { Ok(known) } else { Err(format!("\"{name}\" has device type {known} already")) };
        }
        let number = if declared == 0 { derived_number(name) } else { declared };
        if let Some((other, _)) = self.by_name.iter().find(|(_, taken)| **taken == number) {
            return Err(format!("device type {number} of \"{name}\" is taken by \"{other}\""));
        }
        self.by_name.insert(name.to_owned(), number);
        Ok(number)
    }
}

/// Returns the number of a device that has none in DLPack: derived from its name alone, so that
/// hosts agree on the tensors that they exchange (P5.14).
fn derived_number(name: &str) -> i32 {
    let digest = Sha256::digest(name.as_bytes());
    let first_30_bits = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]) >> 2;
    CHIPDOCK_DEVICE_FIRST_ASSIGNED + first_30_bits.cast_signed()
}

/// Registrations of a plugin during `init`, not in force yet.
pub(crate) struct Staging {
    loans: &'static Loans,
    instance: Arc<Instance>,
    device_types: Arc<Mutex<DeviceTypes>>,
    staged: Mutex<Staged>,
}

/// Staged entries by key, and the refused registrations.
#[derive(Default)]
pub(crate) struct Staged {
    pub(crate) entries: BTreeMap<String, Entry>,
    /// Interfaces by the key that they extend.
    extensions: BTreeMap<String, Extensions>,
    /// The first refused registrations, each with its reason.
    pub(crate) refused: Vec<Refused>,
    /// Whether `init` has returned.
    is_closed: bool,
}

/// A refused registration.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) name_taken: bool,
    pub(crate) message: String,
}

impl Staging {
    pub(crate) fn new(
        loans: &'static Loans,
        instance: Arc<Instance>,
        device_types: Arc<Mutex<DeviceTypes>>,
    ) -> Arc<Self> {
        Arc::new(Self { loans, instance, device_types, staged: Mutex::default() })
    }

    /// Lends the registrar that `init` receives (HOST-A6).
    pub(crate) fn lend(self: &Arc<Self>) -> Loan<'static, ChipdockRegistrar> {
        let table = |self_| ChipdockRegistrar {
            self_,
            device_api,
            target_kind,
            codegen,
            module_loader,
            // SAFETY: the same function, except that a null pointer is checked instead of assumed
            // away; an optional function pointer is passed as the pointer itself.
            function: unsafe { std::mem::transmute::<FunctionFn, TableFunctionFn>(function as FunctionFn) },
            // SAFETY: the same function, except that a null pointer is checked instead of assumed
            // away; an optional function pointer is passed as the pointer itself.
            extend: unsafe { std::mem::transmute::<ExtendFn, TableExtendFn>(extend as ExtendFn) },
        };
        self.loans.registrars.lend(Arc::clone(self) as _, table)
    }

    /// Moves the staged registrations out, and closes the staging to later registrations.
    pub(crate) fn take(&self) -> Staged {
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        let mut staged = std::mem::replace(&mut *staged, Staged { is_closed: true, ..Staged::default() });
        for (key, extensions) in std::mem::take(&mut staged.extensions) {
            let place = match staged.entries.get_mut(&key) {
                Some(Entry::DeviceApi(entry)) => Arc::get_mut(entry).map(|entry| &mut entry.extensions),
                Some(Entry::ModuleLoader(entry)) => Arc::get_mut(entry).map(|entry| &mut entry.extensions),
                // This host knows no interfaces of the others: these end here, and the
                // registrations that they extend stay.
                _ => None,
            };
            if let Some(place) = place {
                *place = extensions;
            }
        }
        staged
    }

    fn add(&self, prefix: &str, name: ChipdockStr, make: impl FnOnce(&str) -> Result<Entry, Refused>) -> i32 {
        // SAFETY: names live for the call.
        let name = unsafe { bounds::text(name, "its name", NAME_BYTES_MAX) }.and_then(check_registered_name);
        let added =
            name.map_err(|message| Refused { name_taken: false, message: format!("{prefix}?: {message}") });
        let added = added.and_then(|name| {
            let key = format!("{prefix}{name}");
            let entry = make(name)
                .map_err(|refused| Refused { message: format!("{key}: {}", refused.message), ..refused })?;
            self.staged.lock().unwrap_or_else(PoisonError::into_inner).insert(key, entry)
        });
        self.answer(added)
    }

    /// Returns the status for a registration; a refusal is raised as an error and kept.
    fn answer(&self, added: Result<(), Refused>) -> i32 {
        let Err(refused) = added else { return CHIPDOCK_OK };
        self.loans.slots.raise_own(&Error::new(ErrorKind::Value, refused.message.clone()));
        let mut staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        if staged.refused.len() < REFUSED_MAX {
            staged.refused.push(refused);
        }
        CHIPDOCK_INVALID_ARGUMENT
    }
}

impl Staged {
    /// Adds a registration (P5.2, P13.1).
    fn insert(&mut self, key: String, entry: Entry) -> Result<(), Refused> {
        if self.is_closed {
            return Err(refused(format!("{key} is registered after `init`")));
        }
        if self.entries.len() >= REGISTRATIONS_MAX {
            let message = format!("{key} is one registration too many; expected at most {REGISTRATIONS_MAX}");
            return Err(refused(message));
        }
        if self.entries.contains_key(&key) {
            let message = format!("{key} is registered twice by the same plugin");
            return Err(Refused { name_taken: true, message });
        }
        self.entries.insert(key, entry);
        Ok(())
    }
}

fn refused(message: String) -> Refused {
    Refused { name_taken: false, message }
}

/// The fields of a code generator's info that the host reads.
#[derive(Deserialize)]
struct CodegenInfo {
    ir_min: String,
    ir_max: String,
}

/// Info of a device API or a loader, of which nothing is read.
type AnyInfo = IgnoredAny;

/// Reads a registration's info: an object, or empty for none; unknown keys are ignored (P3.18).
///
/// # Safety
///
/// * `info_json` is a string that lives for the call.
unsafe fn read_info<T: DeserializeOwned>(info_json: ChipdockStr) -> Result<T, String> {
    // SAFETY: `info_json` lives for the call, as this function requires.
    let text = unsafe { bounds::text(info_json, "its info", INFO_BYTES_MAX) }?;
    let text = if text.is_empty() { "{}" } else { text };
    let object: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| format!("its info: expected a JSON object, or no text for none: {error}"))?;
    T::deserialize(Value::Object(object)).map_err(|error| format!("its info: {error}"))
}

/// Runs a function of the registrar of a `self_` (HOST-A6, HOST-A7). A registrar whose call is over
/// takes nothing.
fn enter(self_: *mut c_void, what: &str, body: impl FnOnce(&Staging) -> i32) -> i32 {
    lent::enter(self_, what, |loans| &loans.registrars, body)
}

unsafe extern "C" fn device_api(
    self_: *mut c_void,
    name: ChipdockStr,
    device_type: i32,
    info_json: ChipdockStr,
    api_self: *mut c_void,
    table: *const ChipdockDeviceApi,
    out_device_type: *mut i32,
) -> i32 {
    enter(self_, "device_api", |staging| {
        // SAFETY: called during `init`; tables are static and `self`s given up, texts live for the
        // call.
        let (owned, info) =
            unsafe { (Owned::new(api_self, table, &staging.instance), read_info::<AnyInfo>(info_json)) };
        staging.add("device_api.", name, |name| {
            let owned = owned.map_err(refused)?;
            info.map_err(refused)?;
            let mut types = staging.device_types.lock().unwrap_or_else(PoisonError::into_inner);
            let number =
                types.number(name, device_type).map_err(|message| Refused { name_taken: true, message })?;
            // SAFETY: the caller guarantees that it is writable or null.
            if let Some(out) = unsafe { aligned(out_device_type).cast_mut().as_mut() } {
                *out = number;
            }
            let notes = TableNotes::of(owned.plugin(), &format!("device_api.{name}"), DEVICE_FUNCTIONS);
            let name = name.to_owned();
            let extensions = Extensions::default();
            let is_asked = AtomicBool::new(false);
            let entry = DeviceApiEntry { name, device_type: number, owned, notes, is_asked, extensions };
            Ok(Entry::DeviceApi(Arc::new(entry)))
        })
    })
}

unsafe extern "C" fn target_kind(
    self_: *mut c_void,
    name: ChipdockStr,
    schema_json: ChipdockStr,
    kind_self: *mut c_void,
    table: *const ChipdockTargetKind,
) -> i32 {
    enter(self_, "target_kind", |staging| {
        // SAFETY: as in `device_api`; the schema lives for the call.
        let (owned, schema) = unsafe {
            (
                Owned::new(kind_self, table, &staging.instance),
                bounds::text(schema_json, "its schema", SCHEMA_BYTES_MAX),
            )
        };
        // P3.1, T.1 and T.5.
        staging.add("target.kind.", name, |name| {
            let owned = owned.map_err(refused)?;
            let schema = schema.map_err(refused)?;
            let declared = DeclaredKind::parse(schema)
                .and_then(|declared| check_kind(name, &declared).map(|()| declared))
                .map_err(|message| refused(format!("its schema: {message}")))?;
            Ok(Entry::TargetKind(Arc::new(TargetKindEntry { declared, schema: schema.into(), owned })))
        })
    })
}

unsafe extern "C" fn codegen(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    codegen_self: *mut c_void,
    table: *const ChipdockCodegen,
) -> i32 {
    enter(self_, "codegen", |staging| {
        // SAFETY: as in `device_api`.
        let (owned, info) = unsafe {
            (Owned::new(codegen_self, table, &staging.instance), read_info::<CodegenInfo>(info_json))
        };
        staging.add("target.build.", kind, |kind| {
            let owned = owned.map_err(refused)?;
            let info = info.map_err(refused)?;
            // P3.18.
            let version = |text: &str, what: &str| {
                let text = bounds::cut(text, NAME_BYTES_MAX);
                semver::Version::parse(&text).map_err(|error| refused(format!("{what} \"{text}\": {error}")))
            };
            let (ir_min, ir_max) = (version(&info.ir_min, "ir_min")?, version(&info.ir_max, "ir_max")?);
            if ir_min > ir_max {
                return Err(refused(format!("ir_min {ir_min} is above ir_max {ir_max}")));
            }
            Ok(Entry::Codegen(Arc::new(CodegenEntry { kind: kind.to_owned(), ir_min, ir_max, owned })))
        })
    })
}

unsafe extern "C" fn module_loader(
    self_: *mut c_void,
    kind: ChipdockStr,
    info_json: ChipdockStr,
    loader_self: *mut c_void,
    table: *const ChipdockModuleLoader,
) -> i32 {
    enter(self_, "module_loader", |staging| {
        // SAFETY: as in `device_api`.
        let (owned, info) =
            unsafe { (Owned::new(loader_self, table, &staging.instance), read_info::<AnyInfo>(info_json)) };
        staging.add("module.load.", kind, |_| {
            let owned = owned.map_err(refused)?;
            info.map_err(refused)?;
            let extensions = Extensions::default();
            Ok(Entry::ModuleLoader(Arc::new(ModuleLoaderEntry { owned, extensions })))
        })
    })
}

type OptionalSafeCall = Option<
    unsafe extern "C" fn(
        *mut c_void,
        *const chipdock_abi::ChipdockAny,
        i32,
        *mut chipdock_abi::ChipdockAny,
    ) -> i32,
>;
type FunctionFn = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    *mut c_void,
    OptionalSafeCall,
    Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32;
type TableFunctionFn =
    unsafe extern "C" fn(*mut c_void, ChipdockStr, *mut c_void, ChipdockSafeCall, ChipdockDeleter) -> i32;

unsafe extern "C" fn function(
    self_: *mut c_void,
    name: ChipdockStr,
    function_self: *mut c_void,
    call: OptionalSafeCall,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32 {
    enter(self_, "function", |staging| {
        // D.2: null is allowed only where that is stated.
        let function = match (call, deleter) {
            // SAFETY: a packed function and the deleter of its `self`, which the caller gives up.
            (Some(call), Some(deleter)) => Ok(unsafe {
                let (call, deleter) = (ChipdockSafeCall(call), ChipdockDeleter(deleter));
                staging.instance.function(function_self, call, deleter)
            }),
            (None, _) => Err(refused("its function is null".to_owned())),
            (_, None) => Err(refused("its deleter is null; an empty one is allowed".to_owned())),
        };
        staging.add("function.", name, |_| function.map(Entry::Function))
    })
}

type ExtendFn = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    ChipdockStr,
    u32,
    *const ChipdockInterface,
    Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32;
type TableExtendFn = unsafe extern "C" fn(
    *mut c_void,
    ChipdockStr,
    ChipdockStr,
    u32,
    *const ChipdockInterface,
    ChipdockDeleter,
) -> i32;

unsafe extern "C" fn extend(
    self_: *mut c_void,
    key: ChipdockStr,
    name: ChipdockStr,
    version: u32,
    interface: *const ChipdockInterface,
    deleter: Option<unsafe extern "C" fn(*mut c_void)>,
) -> i32 {
    enter(self_, "extend", |staging| {
        // SAFETY: an interface that is live for the call, or null.
        let extension = match (unsafe { aligned(interface).as_ref() }, deleter) {
            // SAFETY: P3.11 and P3.13, a static table, and a `self` that the caller gives up.
            (Some(raw), Some(deleter)) => unsafe {
                Extension::new(*raw, ChipdockDeleter(deleter), &staging.instance)
            },
            (None, _) => Err("the interface is null or not aligned".to_owned()),
            (_, None) => Err("its deleter is null; an empty one is allowed".to_owned()),
        };
        // SAFETY: texts live for the call.
        let names = unsafe {
            bounds::text(key, "the key that it extends", NAME_BYTES_MAX)
                .and_then(|key| Ok((key, bounds::text(name, "its name", NAME_BYTES_MAX)?)))
        };
        let added = names.map_err(refused).and_then(|(key, name)| {
            let full = format!("{key}/{name}/{version}");
            check_interface_key(&full).map_err(refused)?;
            let extension = extension.map_err(|message| refused(format!("{full}: {message}")))?;
            let mut staged = staging.staged.lock().unwrap_or_else(PoisonError::into_inner);
            if key != staging.instance.plugin() && !staged.entries.contains_key(key) {
                let message = format!(
                    "{full} extends what is not there; expected a key that this plugin registered before, or its name"
                );
                return Err(refused(message));
            }
            staged.insert(full, Entry::Interface)?;
            staged.extensions.entry(key.to_owned()).or_default().add(name, version, extension);
            Ok(())
        });
        staging.answer(added)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p5_14_a_number_comes_from_the_name_alone() {
        let (mut one, mut other) = (DeviceTypes::default(), DeviceTypes::default());
        let numbers = ["npu", "tpu"].map(|name| one.number(name, 0).unwrap());
        assert_eq!(["tpu", "npu"].map(|name| other.number(name, 0).unwrap()), [numbers[1], numbers[0]]);
        // The first four bytes of the digests, as `sha256sum` prints them, without the last 2 bits.
        assert_eq!(numbers, [0xba33_9dfb_u32, 0x1aa2_826e].map(|word| 4096 + (word >> 2) as i32));
        assert_eq!(one.number("npu", 0), Ok(numbers[0]), "asked again");
        assert_eq!(one.name(numbers[1]), Some("tpu"));
    }

    #[test]
    fn p5_14_two_names_of_one_number_are_refused_with_both() {
        let mut seen = BTreeMap::new();
        let pair = (0..1_000_000).find_map(|index| {
            let name = format!("npu{index}");
            let before = seen.insert(derived_number(&name), name.clone());
            before.map(|before| (before, name))
        });
        let (first, second) = pair.expect("30 bits collide");
        let mut types = DeviceTypes::default();
        let number = types.number(&first, 0).unwrap();
        let error = types.number(&second, 0).unwrap_err();
        assert_eq!(error, format!("device type {number} of \"{second}\" is taken by \"{first}\""));
        assert_eq!(types.number(&second, 10), Ok(10), "DLPack's own numbers are free");
    }
}
