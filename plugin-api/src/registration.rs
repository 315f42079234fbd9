//! What a plugin registers, collected by `inventory`, and the `init` that hands it over.

use core::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::{
    ChipdockAny, ChipdockCodegenInfo, ChipdockDeleter, ChipdockHost, ChipdockRegistrar, ChipdockSafeCall,
};

use crate::device_api::not_null;
use crate::function::run_packed;
use crate::session::{self, Registered, Session};
use crate::text::static_str;
use crate::{
    Any, AnyView, Codegen, DeviceApi, Error, HostRef, ModuleLoader, TargetKind, codegen, device_api, module,
    target_kind, trampoline,
};

/// A packed function as a plugin writes it. The host is the one that it is registered with.
pub type PluginFunction = fn(HostRef, &[AnyView<'_>]) -> Result<Any, Error>;

/// Something that a plugin registers; made by the `register_*!` macros.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Registration {
    /// `device_api.<name>`.
    DeviceApi {
        /// The name.
        name: &'static str,
        /// DLPack's number, or 0 to be given one by the host.
        device_type: i32,
        /// Makes the device API of one host; opens nothing.
        create: fn(HostRef) -> Box<dyn DeviceApi>,
    },
    /// `target.kind.<name>`.
    TargetKind {
        /// The name.
        name: &'static str,
        /// The schema, JSON.
        schema_json: &'static str,
        /// Makes the target kind of one host.
        create: fn(HostRef) -> Box<dyn TargetKind>,
    },
    /// `target.build.<kind>`.
    Codegen {
        /// The target kind's name.
        kind: &'static str,
        /// The oldest wire version that it reads.
        ir_min: &'static str,
        /// The newest wire version that it reads.
        ir_max: &'static str,
        /// Makes the code generator of one host; opens nothing.
        create: fn(HostRef) -> Box<dyn Codegen>,
    },
    /// `module.load.<kind>`.
    ModuleLoader {
        /// The module kind.
        kind: &'static str,
        /// Makes the loader of one host; opens nothing.
        create: fn(HostRef) -> Box<dyn ModuleLoader>,
    },
    /// A plain function.
    Function {
        /// The name.
        name: &'static str,
        /// The function.
        call: PluginFunction,
    },
    /// A named interface.
    Interface {
        /// The name.
        name: &'static str,
        /// The version.
        version: u32,
        /// Bits that mark harmless behaviours.
        features: u64,
        /// Makes the interface's `self` and table for one host.
        create: fn(HostRef) -> Interface,
    },
}

/// The table of a named interface with its `self`.
pub struct Interface {
    self_: *mut c_void,
    table: *const c_void,
    size_bytes: u64,
}

impl Interface {
    /// An interface by its table.
    ///
    /// # Safety
    ///
    /// * `T` is the `#[repr(C)]` struct that belongs to the interface's name and version, and its functions may be
    ///   called with `self_` from any thread.
    #[must_use]
    pub unsafe fn new<T>(self_: *mut c_void, table: &'static T) -> Self {
        Self { self_, table: core::ptr::from_ref(table).cast(), size_bytes: size_of::<T>() as u64 }
    }
}

inventory::collect!(Registration);

impl Registration {
    /// What it is registered under, as a manifest lists it.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::DeviceApi { name, .. } => format!("device_api.{name}"),
            Self::TargetKind { name, .. } => format!("target.kind.{name}"),
            Self::Codegen { kind, .. } => format!("target.build.{kind}"),
            Self::ModuleLoader { kind, .. } => format!("module.load.{kind}"),
            Self::Function { name, .. } => format!("function.{name}"),
            Self::Interface { name, version, .. } => format!("interface.{name}/{version}"),
        }
    }

    /// Hands it to the host.
    ///
    /// # Safety
    ///
    /// * `registrar` keeps P5.1.
    unsafe fn hand_over(&self, session: &Arc<Session>, registrar: &ChipdockRegistrar) -> Result<(), Error> {
        let host = session.host();
        let host_self = registrar.self_;
        // SAFETY: P5.1; names are copied, tables are static, `self_` is taken over whatever the answer.
        let status = unsafe {
            match *self {
                Self::DeviceApi { name, device_type, create } => {
                    return hand_over_device_api(session, registrar, name, device_type, create(host));
                }
                Self::TargetKind { name, schema_json, create } => {
                    let self_ = Registered::into_raw(session, Arc::<dyn TargetKind>::from(create(host)));
                    let schema = static_str(schema_json);
                    (registrar.target_kind)(host_self, static_str(name), schema, self_, &target_kind::TABLE)
                }
                Self::Codegen { kind, ir_min, ir_max, create } => {
                    let info = ChipdockCodegenInfo { ir_min: static_str(ir_min), ir_max: static_str(ir_max) };
                    let self_ = Registered::into_raw(session, Arc::<dyn Codegen>::from(create(host)));
                    (registrar.codegen)(host_self, static_str(kind), &info, self_, &codegen::TABLE)
                }
                Self::ModuleLoader { kind, create } => {
                    let self_ = Registered::into_raw(session, Arc::<dyn ModuleLoader>::from(create(host)));
                    (registrar.module_loader)(host_self, static_str(kind), self_, &module::LOADER_TABLE)
                }
                Self::Function { name, call } => {
                    let self_ = Registered::into_raw(session, Arc::new(call));
                    let deleter = ChipdockDeleter(delete_function);
                    let call = ChipdockSafeCall(call_function);
                    (registrar.function)(host_self, static_str(name), self_, call, deleter)
                }
                Self::Interface { name, version, features, create } => {
                    let Interface { self_, table, size_bytes } = create(host);
                    let name = static_str(name);
                    (registrar.interface)(host_self, name, version, self_, table, size_bytes, features)
                }
            }
        };
        host.check(status, || format!("the host's registrar for `{}`", self.key()))
    }
}

/// # Safety
///
/// * `registrar` keeps P5.1.
unsafe fn hand_over_device_api(
    session: &Arc<Session>,
    registrar: &ChipdockRegistrar,
    name: &'static str,
    device_type: i32,
    api: Box<dyn DeviceApi>,
) -> Result<(), Error> {
    let api: Arc<dyn DeviceApi> = Arc::from(api);
    let self_ = Registered::into_raw(session, Arc::clone(&api));
    let mut in_force = device_type;
    let name = static_str(name);
    // SAFETY: P5.1; the name is copied, the table is static, `self_` is taken over whatever the answer.
    let status = unsafe {
        (registrar.device_api)(registrar.self_, name, device_type, self_, &device_api::TABLE, &mut in_force)
    };
    session.host().check(status, || "the host's registrar for a device API".to_owned())?;
    api.registered_as(in_force);
    session.drain_at_shutdown(&api);
    Ok(())
}

type FunctionSelf = Registered<PluginFunction>;

unsafe extern "C" fn call_function(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: V.10, the `self_` that was registered, live for the call; the parameters of a packed call, passed on.
    unsafe {
        let Some(registered) = FunctionSelf::from_raw(self_) else { return chipdock_abi::CHIPDOCK_ERROR };
        let session = registered.session();
        run_packed(session.host(), args, num_args, result, |args| {
            session.run(|| registered.value()(session.host(), args))
        })
    }
}

unsafe extern "C" fn delete_function(self_: *mut c_void) {
    // SAFETY: P9.1, called once, last.
    unsafe { FunctionSelf::destroy(self_) };
}

/// What this plugin registers, sorted by name: the order that `inventory` collects in varies from build to build.
#[must_use]
pub fn registrations() -> Vec<&'static Registration> {
    let mut all: Vec<_> = inventory::iter::<Registration>.into_iter().collect();
    all.sort_by_cached_key(|registration| registration.key());
    all
}

/// The `init` of every plugin that is written in Rust.
///
/// # Safety
///
/// * P10.2: called by a host with its table and a registrar that is valid for the call.
#[doc(hidden)]
pub unsafe fn init(
    plugin: &'static str,
    host: *const ChipdockHost,
    registrar: *const ChipdockRegistrar,
) -> i32 {
    // SAFETY: the caller's word.
    let Some(host) = (unsafe { HostRef::from_raw(host) }) else {
        // Without a host there is nobody to raise an error with.
        return chipdock_abi::CHIPDOCK_INVALID_ARGUMENT;
    };
    trampoline::guard(host, || {
        // SAFETY: the caller's word.
        let registrar = unsafe { not_null(registrar, "the registrar")? };
        let all = registrations();
        crate::ensure!(
            !all.is_empty(),
            crate::ErrorKind::INTERNAL,
            "the plugin `{plugin}` registers nothing: name the crates that hold its registrations in its lib.rs \
             (`extern crate kernels as _;`), or the linker drops them"
        );
        let session = Session::open(host, plugin);
        let opened = Opened(Some(&session));
        for registration in all {
            // SAFETY: the caller's word.
            unsafe { registration.hand_over(&session, registrar) }
                .map_err(|error| error.context(format_args!("registering `{}`", registration.key())))?;
        }
        opened.keep();
        Ok(())
    })
}

/// A session that is abandoned when `init` ends in an error or a panic.
struct Opened<'a>(Option<&'a Arc<Session>>);

impl Opened<'_> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.abandon();
        }
    }
}

/// The `shutdown` of every plugin that is written in Rust.
///
/// # Safety
///
/// * P10.5: called by a host that called `init`.
#[doc(hidden)]
pub unsafe fn shutdown(host: *const ChipdockHost) -> i32 {
    // SAFETY: the caller's word.
    let Some(host) = (unsafe { HostRef::from_raw(host) }) else {
        return chipdock_abi::CHIPDOCK_INVALID_ARGUMENT;
    };
    trampoline::guard(host, || session::shutdown(host))
}
