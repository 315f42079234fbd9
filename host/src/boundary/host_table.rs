//! The functions of the table that a plugin of a host is given (H.1 to H.10).

use std::ffi::c_void;

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_ERROR, CHIPDOCK_OK, CHIPDOCK_TYPE_ERROR, ChipdockAny,
    ChipdockDevice, ChipdockHost, ChipdockInterface, ChipdockStr,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::static_str;

use crate::boundary::plugin_table::plugin_table;
use crate::boundary::services::Services;
use crate::boundary::slots::Speaker;
use crate::bounds::{self, MESSAGE_BYTES_MAX, NAME_BYTES_MAX, aligned};
use crate::error::{Error, ErrorKind};
use crate::log::LogLevel;
use crate::names::HOST_PLUGIN;

/// Makes the table of services for a plugin whose own `self_` is that of a [`PluginTable`].
pub(crate) fn host_table(self_: *mut c_void) -> ChipdockHost {
    ChipdockHost {
        abi_major: CHIPDOCK_ABI_MAJOR,
        abi_minor: CHIPDOCK_ABI_MINOR,
        version: static_str(env!("CARGO_PKG_VERSION")),
        self_,
        raise,
        raise_object,
        take_error,
        log: write_log,
        function,
        current_stream,
        query,
    }
}

/// # Safety
///
/// `self_` is that of a [`PluginTable`].
unsafe fn services(self_: *mut c_void) -> &'static Services {
    // SAFETY: `self_` is that of a `PluginTable`, as this function requires.
    unsafe { plugin_table(self_) }.services()
}

unsafe extern "C" fn raise(self_: *mut c_void, kind: ChipdockStr, message: ChipdockStr) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.slots.guarded("raise", (), || {
        // SAFETY: strings that live for the call.
        let (kind, message) =
            unsafe { (bounds::shown(kind, NAME_BYTES_MAX), bounds::shown(message, MESSAGE_BYTES_MAX)) };
        // SAFETY: the caller passes the table's `self_`.
        let by = unsafe { speaker(self_) };
        services.slots.raise_by(api::Error::new(api::ErrorKind::new(kind), message), by);
    });
}

/// Returns whose words an error is that is raised through this table.
///
/// # Safety
///
/// `self_` is that of a [`PluginTable`].
unsafe fn speaker(self_: *mut c_void) -> Speaker {
    // SAFETY: `self_` is that of a `PluginTable`, as this function requires.
    match unsafe { plugin_table(self_) }.plugin() {
        HOST_PLUGIN => Speaker::Host,
        plugin => Speaker::Plugin(plugin),
    }
}

unsafe extern "C" fn raise_object(self_: *mut c_void, error: *const ChipdockAny) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.slots.guarded("raise_object", (), || {
        // SAFETY: a value that lives for the call, or null.
        let error = unsafe { raised_object(error) };
        // SAFETY: the caller passes the table's `self_`.
        let by = unsafe { speaker(self_) };
        match error {
            Ok(error) => services.slots.raise_by(error, by),
            Err(what) => services.slots.raise_own(&Error::new(
                ErrorKind::BrokenPlugin,
                format!("raise_object was given {what}; expected an error object"),
            )),
        }
    });
}

/// Returns the error object of a value, or what the value is instead.
///
/// # Safety
///
/// * `error` is null, misaligned or a value that lives for the call.
unsafe fn raised_object(error: *const ChipdockAny) -> Result<api::Error, String> {
    // SAFETY: `error` lives for the call where it is aligned and not null, as this function
    // requires.
    let raw = unsafe { aligned(error).as_ref() }.ok_or_else(|| format!("a value at {error:p}"))?;
    if raw.type_index != CHIPDOCK_TYPE_ERROR {
        return Err(format!("a value of type index {}", raw.type_index));
    }
    let text = |error: api::Error| error.message().into_owned();
    // SAFETY: a live value; once it was checked, a view of it can be read.
    unsafe {
        api::received::check_received(raw).map_err(text)?;
        api::AnyView::from_raw(*raw).to::<api::Error>().map_err(text)
    }
}

unsafe extern "C" fn take_error(self_: *mut c_void, out_error: *mut ChipdockAny) {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.slots.guarded("take_error", (), || {
        // SAFETY: a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_error).cast_mut().as_mut() } {
            *out = services.slots.take().map_or(api::Any::NONE, api::Any::from).into_raw();
        }
    });
}

unsafe extern "C" fn write_log(self_: *mut c_void, level: i32, message: ChipdockStr) {
    let level = LogLevel::of(level);
    // SAFETY: the caller passes the table's `self_`.
    let (services, plugin) = unsafe { (services(self_), plugin_table(self_).plugin()) };
    services.slots.guarded("log", (), || {
        // SAFETY: a string that lives for the call.
        let message = unsafe { bounds::shown(message, MESSAGE_BYTES_MAX) };
        services.log.write_of(Some(plugin), level, &message);
    });
}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out: *mut ChipdockAny) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.slots.guarded("function", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call.
        let name = unsafe { bounds::text(name, "the function's name", NAME_BYTES_MAX) };
        let name = name.map_err(|message| Error::new(ErrorKind::Value, message));
        let found = name.and_then(|name| services.live()?.registered_function(name));
        match found {
            Ok(function) => {
                let value = function.map_or(api::Any::NONE, api::Any::from);
                // SAFETY: the caller passes a place that is writable, or null.
                if let Some(out) = unsafe { aligned(out).cast_mut().as_mut() } {
                    *out = value.into_raw();
                }
                CHIPDOCK_OK
            }
            Err(error) => {
                services.slots.raise_own(&error);
                CHIPDOCK_ERROR
            }
        }
    })
}

unsafe extern "C" fn current_stream(
    self_: *mut c_void,
    device: ChipdockDevice,
    out_stream: *mut *mut c_void,
) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let services = unsafe { services(self_) };
    services.slots.guarded("current_stream", CHIPDOCK_ERROR, || {
        let stream = services.slots.current_stream(device);
        // A stream that was made active is one of a device that is there.
        let known = if stream.is_null() { known_device(services, device) } else { Ok(()) };
        if let Err(error) = known {
            services.slots.raise_own(&error);
            return CHIPDOCK_ERROR;
        }
        // SAFETY: the caller passes a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_stream).cast_mut().as_mut() } {
            *out = stream;
        }
        CHIPDOCK_OK
    })
}

unsafe extern "C" fn query(
    self_: *mut c_void,
    name: ChipdockStr,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: the caller passes the table's `self_`.
    let (services, plugin) = unsafe { (services(self_), plugin_table(self_)) };
    services.slots.guarded("query", CHIPDOCK_ERROR, || {
        // SAFETY: a string that lives for the call; an invalid name has no interface (H.5).
        let name = unsafe { bounds::text(name, "the interface's name", NAME_BYTES_MAX) };
        // SAFETY: the caller passes a place that is writable, or null.
        if let Some(out) = unsafe { aligned(out_interface).cast_mut().as_mut() } {
            *out = name.map_or(ChipdockInterface::NONE, |name| plugin.interface(name, version));
        }
        CHIPDOCK_OK
    })
}

/// Checks that a device exists (H.10).
fn known_device(services: &Services, device: ChipdockDevice) -> Result<(), Error> {
    services.live()?.device_state_by_number(device).map(drop)
}
