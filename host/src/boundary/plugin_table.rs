//! The table of services that one plugin of one host is given (H.7), and its settings (S.4 to S.8).

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;

use chipdock_abi::{
    CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockAny, ChipdockConfig1, ChipdockHost, ChipdockInterface,
    ChipdockNeeds1, ChipdockStr,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::setting::{CONFIG, SettingValue};

use crate::boundary::host_table::host_table;
use crate::boundary::interfaces;
use crate::boundary::services::Services;
use crate::bounds::{self, NAME_BYTES_MAX, aligned};
use crate::error::{Error, ErrorKind};
use crate::names::HOST_PLUGIN;
use crate::open::settings::{DeclaredSetting, hint_of};

/// The state of one plugin's table for a host. Leaked: it lives as long as the process.
pub(crate) struct PluginTable {
    table: OnceLock<ChipdockHost>,
    services: &'static Services,
    plugin: String,
    declared: Vec<DeclaredSetting>,
    /// The keys of other plugins that it needs (P5.15).
    needs: Vec<String>,
}

/// Name and version of the interface of H.11.
const NEEDS: (&str, u32) = ("needs", 1);

static CONFIG_TABLE: ChipdockConfig1 = ChipdockConfig1 { get };
static NEEDS_TABLE: ChipdockNeeds1 = ChipdockNeeds1 { find };

impl PluginTable {
    /// Makes the table for one `init` of a plugin, which declares these settings and needs these
    /// keys.
    pub(crate) fn leaked(
        services: &'static Services,
        plugin: &str,
        declared: Vec<DeclaredSetting>,
        needs: Vec<String>,
    ) -> &'static Self {
        let leaked: &'static Self = Box::leak(Box::new(Self {
            table: OnceLock::new(),
            services,
            plugin: plugin.to_owned(),
            declared,
            needs,
        }));
        leaked.table.get_or_init(|| host_table(ptr::from_ref(leaked).cast_mut().cast()));
        leaked
    }

    /// Returns the table, as the plugin receives it.
    pub(crate) fn table(&'static self) -> &'static ChipdockHost {
        self.table.get_or_init(|| host_table(ptr::from_ref(self).cast_mut().cast()))
    }

    pub(crate) fn services(&self) -> &'static Services {
        self.services
    }

    /// The plugin's name.
    pub(crate) fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Returns the interface of that name and version, or none (H.5).
    pub(crate) fn interface(&'static self, name: &str, version: u32) -> ChipdockInterface {
        let (table, size_bytes): (*const c_void, usize) = match (name, version) {
            CONFIG => (ptr::from_ref(&CONFIG_TABLE).cast(), size_of::<ChipdockConfig1>()),
            NEEDS => (ptr::from_ref(&NEEDS_TABLE).cast(), size_of::<ChipdockNeeds1>()),
            _ => return interfaces::of(self.services, name, version),
        };
        let self_ = ptr::from_ref(self).cast_mut().cast();
        ChipdockInterface { self_, table, table_size_bytes: size_bytes as u64, features: 0 }
    }

    /// Returns the interface of another plugin (H.11).
    fn needed(&self, key: &str) -> Result<ChipdockInterface, api::Error> {
        if self.needs.iter().any(|needed| needed == key) {
            let found = self.services.live().and_then(|host| host.registered_interface(key));
            return found.map_err(|error| error.to_api());
        }
        let message = format!(
            "plugin \"{}\" asks for {:?}, which `needs.keys` of its manifest does not name: name it there, and make \
             the manifest anew",
            self.plugin,
            bounds::cut(key, 80)
        );
        Err(api::Error::new(api::ErrorKind::KEY_ERROR, message))
    }

    fn setting(&self, key: &str) -> Result<Option<SettingValue>, api::Error> {
        let Some(declared) = self.declared.iter().find(|declared| declared.name == key) else {
            let shown = bounds::cut(key, 80);
            let message = format!(
                "plugin \"{}\" declares no setting {shown:?}; {}",
                self.plugin,
                hint_of(key, &self.declared)
            );
            return Err(api::Error::new(api::ErrorKind::KEY_ERROR, message));
        };
        self.services.settings().find(&self.plugin, declared).0.map_err(|error| error.to_api())
    }
}

impl Services {
    /// Returns the table for the host's own plugin.
    pub(crate) fn table(&'static self) -> &'static ChipdockHost {
        self.own.get_or_init(|| PluginTable::leaked(self, HOST_PLUGIN, Vec::new(), Vec::new()).table())
    }
}

/// # Safety
///
/// `self_` is the one of a table made here.
pub(crate) unsafe fn plugin_table(self_: *mut c_void) -> &'static PluginTable {
    // SAFETY: leaked, so it lives as long as the process.
    unsafe { &*self_.cast::<PluginTable>() }
}

unsafe extern "C" fn get(self_: *mut c_void, key: ChipdockStr, out_value: *mut ChipdockAny) -> i32 {
    // SAFETY: the caller passes the interface's `self_`.
    let plugin = unsafe { plugin_table(self_) };
    plugin.services.slots.guarded("config", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call.
        let key = unsafe { bounds::text(key, "the setting's name", NAME_BYTES_MAX) };
        let key = key.map_err(|message| Error::new(ErrorKind::Value, message).to_api());
        match key.and_then(|key| plugin.setting(key)) {
            Ok(value) => {
                // SAFETY: the caller passes a writable place, or null.
                if let Some(out) = unsafe { aligned(out_value).cast_mut().as_mut() } {
                    *out = value.map_or(api::Any::NONE, to_any).into_raw();
                }
                CHIPDOCK_OK
            }
            Err(error) => {
                let status = error.kind().status();
                plugin.services.slots.raise(error);
                status
            }
        }
    })
}

unsafe extern "C" fn find(
    self_: *mut c_void,
    key: ChipdockStr,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: the caller passes the interface's `self_`.
    let plugin = unsafe { plugin_table(self_) };
    let slots = plugin.services.slots;
    slots.guarded("needs", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call.
        let key = unsafe { bounds::text(key, "the key", NAME_BYTES_MAX) };
        let wrong = |message: String| api::Error::new(api::ErrorKind::VALUE_ERROR, message);
        let found = key.map_err(wrong).and_then(|key| plugin.needed(key));
        // SAFETY: a place that is writable, or null.
        let out = unsafe { aligned(out_interface).cast_mut().as_mut() };
        let null = || wrong("the place for the interface is null or not aligned".to_owned());
        match found.and_then(|found| Ok((found, out.ok_or_else(null)?))) {
            Ok((found, out)) => {
                *out = found;
                CHIPDOCK_OK
            }
            Err(error) => {
                let status = error.kind().status();
                slots.raise(error);
                status
            }
        }
    })
}

fn to_any(value: SettingValue) -> api::Any {
    match value {
        SettingValue::Bool(value) => value.into(),
        SettingValue::Int(value) => value.into(),
        SettingValue::Float(value) => value.into(),
        SettingValue::Text(value) => value.as_str().into(),
        _ => api::Any::NONE,
    }
}

#[cfg(test)]
mod tests;
