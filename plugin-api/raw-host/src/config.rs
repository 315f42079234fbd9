//! Interface `config` 1 of the host: a plugin's settings.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_abi::{
    CHIPDOCK_INVALID_ARGUMENT, CHIPDOCK_NOT_FOUND, CHIPDOCK_OK, ChipdockAny, ChipdockConfig1,
    ChipdockInterface, ChipdockStr,
};
use chipdock_plugin_api::text::str_in_lossy;
use chipdock_plugin_api::{Any, Error, ErrorKind};

use crate::host::host_of;

/// Answers a plugin's settings.
pub trait Answers: Send + Sync {
    /// Returns the value of a setting; `None` if it has none.
    ///
    /// # Errors
    ///
    /// `KeyError` for a setting that the plugin does not declare; otherwise the reason why it
    /// cannot be had.
    fn value(&self, key: &str) -> Result<Any, Error>;
}

/// Finds the answers for a plugin, from its name and its `info_json`; `None` for a host without the
/// interface.
pub type SettingsOf = Box<dyn Fn(&str, &str) -> Option<Arc<dyn Answers>> + Send + Sync>;

/// Returns the interface of the host with this `self_`.
pub(crate) fn interface(self_: *mut c_void) -> ChipdockInterface {
    static CONFIG: ChipdockConfig1 = ChipdockConfig1 { get };
    ChipdockInterface {
        self_,
        table: ptr::from_ref(&CONFIG).cast(),
        table_size_bytes: size_of::<ChipdockConfig1>() as u64,
        features: 0,
    }
}

unsafe extern "C" fn get(self_: *mut c_void, key: ChipdockStr, out_value: *mut ChipdockAny) -> i32 {
    let host = host_of(self_);
    // SAFETY: the text lives for the call.
    let key = unsafe { str_in_lossy(key) };
    let Some(settings) = host.settings.get().filter(|_| !out_value.is_null()) else {
        host.set(Error::new(ErrorKind::VALUE_ERROR, "the place for the setting is null"));
        return CHIPDOCK_INVALID_ARGUMENT;
    };
    match settings.value(&key) {
        Ok(value) => {
            // SAFETY: `out_value` is not null, so there is room to write the result.
            unsafe { out_value.write(value.into_raw()) };
            CHIPDOCK_OK
        }
        Err(error) => {
            let is_undeclared = error.kind() == ErrorKind::KEY_ERROR;
            if is_undeclared {
                host.broke(format!("S.6: it asks for the setting {key:?}"));
            }
            host.set(error);
            if is_undeclared { CHIPDOCK_NOT_FOUND } else { CHIPDOCK_INVALID_ARGUMENT }
        }
    }
}
