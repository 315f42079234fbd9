//! Opens a library and runs its `init` step by step, with a distinct error for each step.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_LAYOUT_HASH, CHIPDOCK_MAGIC, ChipdockCodegen, ChipdockDeleter,
    ChipdockDeviceApi, ChipdockInterface, ChipdockModuleLoader, ChipdockPlugin, ChipdockTableSizes,
    ChipdockTargetKind,
};
use chipdock_plugin_api::text::str_in_lossy;
use chipdock_plugin_api::{Error, ErrorKind, Function};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};

use crate::device::Device;
use crate::host::RawHost;

/// Prefix of the functions through which a plugin lets a test inject failures into its devices.
pub const HOOK: &str = "conformance.";

/// What a registration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A `device_api.<name>`.
    DeviceApi,
    /// A `target.kind.<name>`.
    TargetKind,
    /// A `target.build.<name>`.
    Codegen,
    /// A `module.load.<name>`.
    Loader,
    /// A plain function.
    Function,
}

/// A registered table with its `self_`.
pub struct Table<T: 'static> {
    /// First argument of each function of the table.
    pub self_: *mut c_void,
    /// The functions; `None` if null was registered.
    pub table: Option<&'static T>,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Table<T> {}

// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl<T> Send for Table<T> {}
// SAFETY: P10.1, every function of the table may be called from any thread.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    /// # Safety
    ///
    /// * P5.1: `table` is static or null.
    pub(crate) unsafe fn new(self_: *mut c_void, table: *const T) -> Self {
        // SAFETY: `table` is null or static (P5.1), as this function requires.
        Self { self_, table: unsafe { table.as_ref() } }
    }

    /// # Safety
    ///
    /// * P9.1: nothing of the table is used afterwards.
    pub(crate) unsafe fn destroy(self, of: impl FnOnce(&T) -> unsafe extern "C" fn(*mut c_void)) {
        if let Some(table) = self.table {
            // SAFETY: nothing of it is used afterwards (P9.1), as this function requires.
            unsafe { of(table)(self.self_) };
        }
    }
}

/// One registration.
pub(crate) enum Registered {
    DeviceApi { name: String, asked: i32, device_type: i32, table: Table<ChipdockDeviceApi> },
    TargetKind { name: String, schema_json: String, table: Table<ChipdockTargetKind> },
    Codegen { name: String, ir_min: String, ir_max: String, table: Table<ChipdockCodegen> },
    Loader { name: String, table: Table<ChipdockModuleLoader> },
    Function { name: String, function: Function },
    Interface(Interface),
}

/// An interface as registered.
#[derive(Clone)]
pub struct Interface {
    /// Key of the registration that the interface extends.
    pub key: String,
    /// Name of the interface.
    pub name: String,
    /// Version of the interface.
    pub version: u32,
    /// Table of the interface with its `self_`.
    pub raw: ChipdockInterface,
    pub(crate) deleter: ChipdockDeleter,
}

// SAFETY: P3.11 and P10.1, its functions may be called from any thread.
unsafe impl Send for Interface {}
// SAFETY: P3.11 and P10.1, its functions may be called from any thread.
unsafe impl Sync for Interface {}

/// Texts of the descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Identifier that distinguishes two builds of the plugin.
    pub build_id: String,
    /// ABI version that the plugin was built for, `major.minor`.
    pub abi: String,
}

/// Reason why a plugin cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// Violated clause.
    pub clause: &'static str,
    /// Description of the problem, and advice.
    pub message: String,
}

impl OpenError {
    fn new(clause: &'static str, message: impl Into<String>) -> Self {
        Self { clause, message: message.into() }
    }
}

/// An open plugin with its registrations at one host.
pub struct Plugin {
    raw: &'static ChipdockPlugin,
    descriptor: Descriptor,
    host: &'static RawHost,
    instance: Instance,
}

/// Instance pointer that `init` wrote.
#[derive(Clone, Copy)]
struct Instance(*mut c_void);

// SAFETY: P10.1, `shutdown` and `release` may be called from any thread.
unsafe impl Send for Instance {}
// SAFETY: P10.1, `shutdown` and `release` may be called from any thread.
unsafe impl Sync for Instance {}

impl Plugin {
    /// Opens a library permanently and runs its `init` with a host.
    ///
    /// # Errors
    ///
    /// The first violated clause; the library stays open (P11.1).
    pub fn open(library: &Path, host: &'static RawHost) -> Result<Self, OpenError> {
        let raw = Self::entry(library)?;
        Self::check(raw)?;
        Self::init(raw, host)
    }

    /// Opens a library permanently and asks its entry for the descriptor (P1.1, P1.2).
    ///
    /// # Errors
    ///
    /// The library cannot be opened, has no entry, or returns null.
    pub fn entry(library: &Path) -> Result<&'static ChipdockPlugin, OpenError> {
        type Entry = unsafe extern "C" fn() -> *const ChipdockPlugin;
        // SAFETY: opening runs the library's constructors; the worker process exists to contain
        // them.
        let opened = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) };
        let opened =
            opened.map_err(|error| OpenError::new("P1.1", format!("it cannot be opened: {error}")))?;
        let opened = Box::leak(Box::new(opened));
        // SAFETY: by P1.1, the symbol has this type.
        let entry = unsafe { opened.get::<Entry>(b"chipdock_plugin_v1") };
        let entry = entry.map_err(|_| {
            OpenError::new("P1.1", "it exports no chipdock_plugin_v1: it is no plugin for ABI major 1")
        })?;
        // SAFETY: by P1.1 and P1.2, the function has no parameters and returns a static descriptor
        // or null.
        unsafe { entry().as_ref() }.ok_or_else(|| OpenError::new("P1.2", "its entry answers null"))
    }

    /// Checks the descriptor's numbers (P1.3).
    ///
    /// # Errors
    ///
    /// The first wrong number, with the expected and the found value.
    pub fn check(raw: &ChipdockPlugin) -> Result<(), OpenError> {
        let wrong = |what: &str, expected: u64, found: u64| {
            let message =
                format!("{what}: expected {expected:#x}, found {found:#x}; build it against this header");
            if expected == found { Ok(()) } else { Err(OpenError::new("P1.3", message)) }
        };
        wrong("magic", CHIPDOCK_MAGIC, raw.magic)?;
        wrong("abi_major", CHIPDOCK_ABI_MAJOR.into(), raw.abi_major.into())?;
        let (sizes, found) = (ChipdockTableSizes::current(), raw.table_sizes);
        if found != sizes {
            let message =
                format!("table_sizes: expected {sizes:?}, found {found:?}; build it against this header");
            return Err(OpenError::new("P1.3", message));
        }
        wrong("layout_hash", CHIPDOCK_LAYOUT_HASH, raw.layout_hash)?;
        let init = ptr::from_ref(&raw.init).cast::<*const c_void>();
        let shutdown = ptr::from_ref(&raw.shutdown).cast::<*const c_void>();
        let release = ptr::from_ref(&raw.release).cast::<*const c_void>();
        for (what, slot) in [("init", init), ("shutdown", shutdown), ("release", release)] {
            // SAFETY: the slot of a live descriptor is read as a plain pointer, so that a null one
            // is detected.
            if unsafe { slot.read_volatile() }.is_null() {
                return Err(OpenError::new("P3.1", format!("`{what}` of its descriptor is null")));
            }
        }
        Ok(())
    }

    /// Runs `init` with a host (P10.2).
    ///
    /// # Errors
    ///
    /// The error that `init` raised.
    pub fn init(raw: &'static ChipdockPlugin, host: &'static RawHost) -> Result<Self, OpenError> {
        // SAFETY: by P9.3, the descriptor's texts are static.
        let (name, info) = unsafe { (str_in_lossy(raw.name), str_in_lossy(raw.info_json)) };
        host.meets(&name, &info);
        let mut instance = ptr::null_mut();
        let status = host.during_init(|registrar| {
            // SAFETY: by P10.2, the host is passed with its table, and the registrar and the output
            // pointer are valid for the call.
            unsafe { (raw.init)(host.reference().table(), registrar, &mut instance) }
        });
        host.check(status, "init").map_err(|error| {
            OpenError::new("P5.2", format!("init failed: {}: {}", error.kind().as_str(), error.message()))
        })?;
        // SAFETY: by P9.3, the descriptor's texts are static.
        let text = |text| unsafe { str_in_lossy(text).into_owned() };
        let descriptor = Descriptor {
            name: text(raw.name),
            version: text(raw.version),
            build_id: text(raw.build_id),
            abi: format!("{}.{}", raw.abi_major, raw.abi_minor),
        };
        Ok(Self { raw, descriptor, host, instance: Instance(instance) })
    }

    /// Runs `shutdown` for this host (P10.5).
    ///
    /// # Errors
    ///
    /// The error that `shutdown` raised.
    pub fn shutdown(&self) -> Result<(), Error> {
        // SAFETY: by P10.13, this is the instance that `init` wrote, and `shutdown` is called once.
        let status = unsafe { (self.raw.shutdown)(self.instance.0) };
        self.host.check(status, "shutdown")
    }

    /// Releases all registrations at this host once each (P9.1), and the instance last (P10.14).
    ///
    /// # Safety
    ///
    /// * `shutdown` was called, and nothing of the plugin is used with this host afterwards.
    pub unsafe fn destroy(&self) {
        // SAFETY: `shutdown` was called and nothing is used afterwards, as this function requires.
        unsafe {
            self.host.destroy_registered();
            self.release();
        }
    }

    /// Releases the instance, and nothing that was registered (P10.14).
    ///
    /// # Safety
    ///
    /// * `shutdown` was called, the registrations were released, and nothing of the plugin is used
    ///   with this host afterwards.
    pub unsafe fn release(&self) {
        // SAFETY: this is the instance that `init` wrote, and nothing of it is used afterwards, as
        // this function requires.
        unsafe { (self.raw.release)(self.instance.0) };
    }

    /// Returns true if an error says that a call failed without raising an error (P7.1); see
    /// [`RawHost::check`].
    #[must_use]
    pub fn is_silent(error: &Error) -> bool {
        error.kind() == ErrorKind::BROKEN_PLUGIN && error.message().contains("raised no error")
    }

    /// Returns the texts of the descriptor.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Returns the descriptor itself.
    #[must_use]
    pub fn raw(&self) -> &'static ChipdockPlugin {
        self.raw
    }

    /// Returns the host that the plugin registered with.
    #[must_use]
    pub fn host(&self) -> &'static RawHost {
        self.host
    }

    /// Returns the registrations in order, without interfaces: what each is, and its name.
    #[must_use]
    pub fn registered(&self) -> Vec<(Role, String)> {
        let one = |(role, name): (Role, &str)| (role, name.to_owned());
        self.host.registered().iter().filter_map(|registered| registered.role().map(one)).collect()
    }

    /// Returns the keys of all registrations in order, including interfaces and, as in a manifest,
    /// without test hooks (P5.3).
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys = self.keys_with_hooks();
        keys.retain(|key| !key.strip_prefix("function.").is_some_and(|name| name.starts_with(HOOK)));
        keys
    }

    /// Returns the keys of all registrations in order, including test hooks.
    #[must_use]
    pub fn keys_with_hooks(&self) -> Vec<String> {
        self.host.registered().iter().map(Registered::key).collect()
    }

    /// Returns the device APIs: name, requested device type, and device type in force.
    #[must_use]
    pub fn device_types(&self) -> Vec<(String, i32, i32)> {
        let registered = self.host.registered();
        let types = registered.iter().filter_map(|registered| match registered {
            Registered::DeviceApi { name, asked, device_type, .. } => {
                Some((name.clone(), *asked, *device_type))
            }
            _ => None,
        });
        types.collect()
    }

    /// Returns the plain functions by name.
    #[must_use]
    pub fn functions(&self) -> Vec<(String, Function)> {
        let registered = self.host.registered();
        let functions = registered.iter().filter_map(|registered| match registered {
            Registered::Function { name, function } => Some((name.clone(), function.clone())),
            _ => None,
        });
        functions.collect()
    }

    /// Returns the device APIs.
    #[must_use]
    pub fn devices(&self) -> Vec<Device> {
        let registered = self.host.registered();
        let interfaces_of = |key: &str| -> Vec<Interface> {
            let of_key = registered.iter().filter_map(|registered| match registered {
                Registered::Interface(found) if found.key == key => Some(found.clone()),
                _ => None,
            });
            of_key.collect()
        };
        let devices = registered.iter().filter_map(|registered| match registered {
            Registered::DeviceApi { name, device_type, table, .. } => {
                let key = format!("device_api.{name}");
                Some(Device::new(name.clone(), *device_type, *table, self.host, interfaces_of(&key)))
            }
            _ => None,
        });
        devices.collect()
    }

    /// Returns the target kinds: name, schema and table.
    #[must_use]
    pub fn target_kinds(&self) -> Vec<(String, String, Table<ChipdockTargetKind>)> {
        let registered = self.host.registered();
        let kinds = registered.iter().filter_map(|registered| match registered {
            Registered::TargetKind { name, schema_json, table } => {
                Some((name.clone(), schema_json.clone(), *table))
            }
            _ => None,
        });
        kinds.collect()
    }

    /// Returns the code generators: kind, oldest and newest wire version, and table.
    #[must_use]
    pub fn codegens(&self) -> Vec<(String, [String; 2], Table<ChipdockCodegen>)> {
        let registered = self.host.registered();
        let codegens = registered.iter().filter_map(|registered| match registered {
            Registered::Codegen { name, ir_min, ir_max, table } => {
                Some((name.clone(), [ir_min.clone(), ir_max.clone()], *table))
            }
            _ => None,
        });
        codegens.collect()
    }

    /// Returns the module loaders: kind and table.
    #[must_use]
    pub fn loaders(&self) -> Vec<(String, Table<ChipdockModuleLoader>)> {
        let registered = self.host.registered();
        let loaders = registered.iter().filter_map(|registered| match registered {
            Registered::Loader { name, table } => Some((name.clone(), *table)),
            _ => None,
        });
        loaders.collect()
    }

    /// Returns the interfaces.
    #[must_use]
    pub fn interfaces(&self) -> Vec<Interface> {
        let registered = self.host.registered();
        let interfaces = registered.iter().filter_map(|registered| match registered {
            Registered::Interface(interface) => Some(interface.clone()),
            _ => None,
        });
        interfaces.collect()
    }
}
