//! The registrations of a plugin, which `inventory` collects, and the `init` that passes them to
//! the host.

use core::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::{ChipdockAny, ChipdockDeleter, ChipdockHost, ChipdockRegistrar, ChipdockSafeCall};

use crate::device_api::not_null;
use crate::function::run_packed;
use crate::host::write_out;
use crate::interface::wants_hooks;
use crate::session::{Registered, Session};
use crate::text::{static_str, str_out};
use crate::{
    Any, AnyView, Codegen, Context, DeviceApi, Error, HostRef, Interface, ModuleLoader, TargetKind, codegen,
    device_api, module, target_kind, trampoline,
};

/// The `info_json` of a registration without information.
const NO_INFO: &str = "{}";

/// A packed function as a plugin defines it. The context belongs to the host with which the
/// function is registered.
pub type PluginFunction = fn(&Context, &[AnyView<'_>]) -> Result<Any, Error>;

/// Something that a plugin registers; made by the `register_*!` macros.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Registration {
    /// `device_api.<name>`.
    DeviceApi {
        /// The name.
        name: &'static str,
        /// DLPack's number, or 0 to have the host assign one.
        device_type: i32,
        /// Makes the device API of one host; opens nothing.
        create: fn(&Context) -> Box<dyn DeviceApi>,
    },
    /// `target.kind.<name>`.
    TargetKind {
        /// The name.
        name: &'static str,
        /// The schema, JSON.
        schema_json: &'static str,
        /// Makes the target kind of one host.
        create: fn(&Context) -> Box<dyn TargetKind>,
    },
    /// `target.build.<kind>`.
    Codegen {
        /// The target kind's name.
        kind: &'static str,
        /// The oldest wire version that the generator reads.
        ir_min: &'static str,
        /// The newest wire version that the generator reads.
        ir_max: &'static str,
        /// Makes the code generator of one host; opens nothing.
        create: fn(&Context) -> Box<dyn Codegen>,
    },
    /// `module.load.<kind>`.
    ModuleLoader {
        /// The module kind.
        kind: &'static str,
        /// Makes the loader of one host; opens nothing.
        create: fn(&Context) -> Box<dyn ModuleLoader>,
    },
    /// A plain function.
    Function {
        /// The name.
        name: &'static str,
        /// The function.
        call: PluginFunction,
    },
    /// A plain function with which the conformance suite makes a device fail (I.4).
    TestHook {
        /// The name.
        name: &'static str,
        /// The function.
        call: PluginFunction,
    },
    /// A named interface of another registration, or of the plugin itself.
    Interface {
        /// The key that the interface extends.
        key: &'static str,
        /// The interface's name.
        name: &'static str,
        /// The interface's version.
        version: u32,
        /// Feature bits, which mark harmless behaviours.
        features: u64,
        /// Makes the interface of one host.
        create: fn(&Context) -> Interface,
    },
}

inventory::collect!(Registration);

impl Registration {
    /// Returns the registration's key, as a manifest lists it.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::DeviceApi { name, .. } => format!("device_api.{name}"),
            Self::TargetKind { name, .. } => format!("target.kind.{name}"),
            Self::Codegen { kind, .. } => format!("target.build.{kind}"),
            Self::ModuleLoader { kind, .. } => format!("module.load.{kind}"),
            Self::Function { name, .. } | Self::TestHook { name, .. } => format!("function.{name}"),
            Self::Interface { key, name, version, .. } => format!("{key}/{name}/{version}"),
        }
    }

    /// Passes the registration to the host.
    ///
    /// # Safety
    ///
    /// * `registrar` keeps P5.1.
    unsafe fn hand_over(&self, session: &Arc<Session>, registrar: &ChipdockRegistrar) -> Result<(), Error> {
        let (host, context) = (session.host(), session.context());
        let host_self = registrar.self_;
        // SAFETY: P5.1; names are copied, tables are static, `self_` is taken over whatever the
        // registrar returns.
        let status = unsafe {
            match *self {
                Self::DeviceApi { name, device_type, create } => {
                    return hand_over_device_api(session, registrar, name, device_type, create(context));
                }
                Self::TargetKind { name, schema_json, create } => {
                    let self_ = Registered::into_raw(session, Arc::<dyn TargetKind>::from(create(context)));
                    let schema = static_str(schema_json);
                    (registrar.target_kind)(host_self, static_str(name), schema, self_, &target_kind::TABLE)
                }
                Self::Codegen { kind, ir_min, ir_max, create } => {
                    let info = format!(r#"{{"ir_min":"{ir_min}","ir_max":"{ir_max}"}}"#);
                    let self_ = Registered::into_raw(session, Arc::<dyn Codegen>::from(create(context)));
                    let (kind, info) = (static_str(kind), str_out(&info));
                    (registrar.codegen)(host_self, kind, info, self_, &codegen::TABLE)
                }
                Self::ModuleLoader { kind, create } => {
                    let self_ = Registered::into_raw(session, Arc::<dyn ModuleLoader>::from(create(context)));
                    let (kind, info) = (static_str(kind), static_str(NO_INFO));
                    (registrar.module_loader)(host_self, kind, info, self_, &module::LOADER_TABLE)
                }
                Self::Function { name, call } | Self::TestHook { name, call } => {
                    let self_ = Registered::into_raw(session, Arc::new(call));
                    let deleter = ChipdockDeleter(delete_function);
                    let call = ChipdockSafeCall(call_function);
                    (registrar.function)(host_self, static_str(name), self_, call, deleter)
                }
                Self::Interface { key, name, version, features, create } => {
                    let (interface, deleter) = create(context).into_raw(session, features);
                    let (key, name) = (static_str(key), static_str(name));
                    (registrar.extend)(host_self, key, name, version, &interface, deleter)
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
    // SAFETY: P5.1; the name is copied, the table is static, `self_` is taken over whatever the
    // registrar returns.
    let status = unsafe {
        let (info, table) = (static_str(NO_INFO), &device_api::TABLE);
        (registrar.device_api)(registrar.self_, name, device_type, info, self_, table, &mut in_force)
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
    // SAFETY: V.10, the `self_` that was registered, live for the call; the parameters of a packed
    // call, passed on.
    unsafe {
        let Some(registered) = FunctionSelf::from_raw(self_) else { return chipdock_abi::CHIPDOCK_ERROR };
        let session = registered.session();
        run_packed(session.host(), args, num_args, result, |args| {
            session.run(|| registered.value()(session.context(), args))
        })
    }
}

unsafe extern "C" fn delete_function(self_: *mut c_void) {
    // SAFETY: P9.1, called once, last.
    unsafe { FunctionSelf::destroy(self_) };
}

/// Returns the registrations of this plugin, sorted by key: the order of `inventory` varies from
/// build to build.
#[must_use]
pub fn registrations() -> Vec<&'static Registration> {
    let mut all: Vec<_> = inventory::iter::<Registration>.into_iter().collect();
    all.sort_by_cached_key(|registration| registration.key());
    all
}

/// Implements `init` for every plugin that is written in Rust.
///
/// # Safety
///
/// * P10.2: called by a host with its table and a registrar that is valid for the call.
#[doc(hidden)]
pub unsafe fn init(
    plugin: &'static str,
    host: *const ChipdockHost,
    registrar: *const ChipdockRegistrar,
    out_instance: *mut *mut c_void,
) -> i32 {
    // SAFETY: `host` is the host's table or null (P10.2), as this function requires.
    let Some(host) = (unsafe { HostRef::from_raw(host) }) else {
        // Without a host there is nobody to raise an error with.
        return chipdock_abi::CHIPDOCK_INVALID_ARGUMENT;
    };
    trampoline::guard(host, || {
        // SAFETY: `registrar` is null or valid for the call (P10.2), as this function requires.
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
        let wants_hooks = wants_hooks(host);
        for registration in all {
            if matches!(registration, Registration::TestHook { .. }) && !wants_hooks {
                continue;
            }
            // SAFETY: `registrar` is valid for the call (P10.2), as this function requires.
            unsafe { registration.hand_over(&session, registrar) }
                .map_err(|error| error.context(format_args!("registering `{}`", registration.key())))?;
        }
        // SAFETY: P10.13, a place for the instance.
        unsafe { write_out(out_instance, Arc::into_raw(Arc::clone(&session)).cast_mut().cast())? };
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

/// Implements `shutdown` for every plugin that is written in Rust.
///
/// # Safety
///
/// * P10.13: `instance` is null, or [`init`] returned it and [`release`] was not called for it yet.
#[doc(hidden)]
pub unsafe extern "C" fn shutdown(instance: *mut c_void) -> i32 {
    // SAFETY: `instance` is null or an instance that is not released (P10.13), as this function
    // requires.
    let Some(session) = (unsafe { instance.cast::<Session>().as_ref() }) else {
        // Without an instance there is no host to raise an error with.
        return chipdock_abi::CHIPDOCK_INVALID_ARGUMENT;
    };
    trampoline::guard(session.host(), || session.close())
}

/// Implements `release` for every plugin that is written in Rust.
///
/// # Safety
///
/// * P10.14: `instance` is null, or [`init`] returned it, and it is not used any more.
#[doc(hidden)]
pub unsafe extern "C" fn release(instance: *mut c_void) {
    if !instance.is_null() {
        // SAFETY: `instance` came from `init` and is not used afterwards (P10.14), as this function
        // requires.
        trampoline::guard_release(|| drop(unsafe { Arc::from_raw(instance.cast::<Session>()) }));
    }
}
