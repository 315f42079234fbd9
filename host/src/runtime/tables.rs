//! Calls the registered tables of device APIs and target kinds safely: errors come out of the slot,
//! owned results are taken.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use chipdock_abi::{
    ChipdockAny, ChipdockCopy, ChipdockDataSpaceRequest, ChipdockDataType, ChipdockDeviceApi, ChipdockReset1,
};
use chipdock_ir::TargetKind;
use chipdock_plugin_api as api;
use chipdock_plugin_api::text::{static_str, str_out};
use serde_json::Value;

use crate::boundary::guard::{self, Guard};
use crate::boundary::plugin_call::PluginCall;
use crate::boundary::registrar::{DeviceApiEntry, TargetKindEntry};
use crate::bounds::{ANSWER_BYTES_MAX, DEVICES_MAX};
use crate::compile::resolve::schema::usable_kind;
use crate::error::{Error, ErrorKind};

/// Default alignment of a data space, in bytes.
pub(crate) const ALIGNMENT_BYTES: u64 = 64;

/// Makes the error for a plugin that broke a rule.
pub(crate) fn broken(message: String) -> Error {
    Error::new(ErrorKind::BrokenPlugin, message).hint("report it to the maintainer of the plugin")
}

/// Takes over the value that a call returned (rule HOST-A2); `what` names the call.
///
/// # Safety
///
/// * As of [`api::Any::received`].
#[inline]
pub(crate) unsafe fn answered(raw: ChipdockAny, what: &dyn Fn() -> String) -> Result<api::Any, Error> {
    // SAFETY: this function requires of `raw` what `received` does.
    unsafe { api::Any::received(raw) }
        .map_err(|error| broken(format!("{} answered {}", what(), error.message())))
}

impl DeviceApiEntry {
    pub(super) fn call(
        &self,
        what: &str,
        call: impl FnOnce(&ChipdockDeviceApi, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        let instance = self.owned.instance();
        instance.slots().clear_error();
        let calling = self.notes.of_function(what).map(|note| PluginCall::enter_device(instance.log(), note));
        let status = call(self.owned.table(), self.owned.self_());
        drop(calling);
        instance.slots().check(status, || format!("`{what}` of device_api.{}", self.name))
    }

    /// Returns the number of devices.
    pub(crate) fn count(&self) -> Result<i32, Error> {
        let mut count = 0;
        // The first call opens the driver (GUARD-G5).
        let is_first = !self.is_asked.swap(true, Ordering::Relaxed);
        let mut guard = is_first.then(Guard::of_first_call);
        self.call("device_count", |table, self_| {
            // SAFETY: the registered `self` and a place to write to.
            let status = unsafe { (table.device_count)(self_, &mut count) };
            if let Some(guard) = &mut guard {
                guard::warn(
                    self.owned.instance().log(),
                    self.owned.plugin(),
                    &guard.settle("opening its driver"),
                );
            }
            status
        })?;
        if !(0..=DEVICES_MAX).contains(&count) {
            let message =
                format!("device_api.{} counts {count} devices; expected 0 to {DEVICES_MAX}", self.name);
            return Err(broken(message));
        }
        Ok(count)
    }

    /// Returns a device's attribute as JSON, or `None` when it is unknown there.
    pub(crate) fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Value>, Error> {
        let mut raw = api::Any::NONE.into_raw();
        // SAFETY: the registered `self`, a string that lives for the call, a place for an owned
        // value.
        self.call("attribute", |table, self_| unsafe {
            (table.attribute)(self_, device_id, str_out(key), &mut raw)
        })?;
        let what = || format!("attribute \"{key}\" of device_api.{}", self.name);
        // SAFETY: None, or a value that we own now.
        let value = unsafe { answered(raw, &what) }?;
        let value = json(value.view()).map_err(|message| broken(format!("{}: {message}", what())))?;
        match value.as_ref().and_then(|value| mistyped(key, value)) {
            Some(expected) => Err(broken(format!(
                "{} is {}; expected {expected}",
                what(),
                crate::compile::resolve::schema::described(value.as_ref().unwrap_or(&Value::Null))
            ))),
            None => Ok(value),
        }
    }

    /// Allocates device memory.
    pub(crate) fn allocate(
        &self,
        device_id: i32,
        size_bytes: u64,
        dtype_hint: ChipdockDataType,
    ) -> Result<*mut c_void, Error> {
        let request = plain_request(size_bytes, dtype_hint);
        let mut data = std::ptr::null_mut();
        // SAFETY: the registered `self`, a request that lives for the call, a place to write to.
        self.call("allocate_data_space", |table, self_| unsafe {
            (table.allocate_data_space)(self_, device_id, &request, &mut data)
        })?;
        let broken = |found: &str| {
            Err(broken(format!(
                "`allocate_data_space` of device_api.{} succeeded and answered {found} for {size_bytes} bytes",
                self.name
            )))
        };
        if data.is_null() && size_bytes != 0 {
            return broken("null");
        }
        // Elsewhere a handle need not be an address (D.4).
        let is_address = self.device_type == chipdock_abi::CHIPDOCK_DEVICE_CPU;
        if is_address && !(data.addr() as u64).is_multiple_of(ALIGNMENT_BYTES) {
            return broken(&format!(
                "{data:p}, which is not aligned to the {ALIGNMENT_BYTES} bytes asked for,"
            ));
        }
        Ok(data)
    }

    /// Frees device memory that no queued work uses.
    pub(crate) fn free(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        // SAFETY: the registered `self`; the pool gives each data space here once.
        self.call("free_data_space", |table, self_| unsafe {
            (table.free_data_space)(self_, device_id, data)
        })
    }

    /// Queues a copy.
    ///
    /// # Safety
    ///
    /// * Both ends are live and as large as the copy states, do not overlap, and stay so until the
    ///   stream is synchronised.
    pub(crate) unsafe fn copy(
        &self,
        device_id: i32,
        copy: &ChipdockCopy,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; the caller guarantees the ends.
        self.call("copy_data", |table, self_| unsafe { (table.copy_data)(self_, device_id, copy, stream) })
    }

    pub(crate) fn create_stream(&self, device_id: i32) -> Result<*mut c_void, Error> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the registered `self` and a place to write to.
        self.call("create_stream", |table, self_| unsafe {
            (table.create_stream)(self_, device_id, &mut stream)
        })?;
        Ok(stream)
    }

    pub(crate) fn free_stream(&self, device_id: i32, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the registered `self`; a stream of it, freed once.
        self.call("free_stream", |table, self_| unsafe { (table.free_stream)(self_, device_id, stream) })
    }

    pub(crate) fn sync(&self, device_id: i32, stream: *mut c_void) -> Result<(), Error> {
        // SAFETY: the registered `self`; a stream of it, or the default.
        self.call("sync_stream", |table, self_| unsafe { (table.sync_stream)(self_, device_id, stream) })
    }

    pub(crate) fn sync_from_to(
        &self,
        device_id: i32,
        from: *mut c_void,
        to: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; streams of it, or the default.
        self.call("sync_stream_from_to", |table, self_| unsafe {
            (table.sync_stream_from_to)(self_, device_id, from, to)
        })
    }

    /// Calls a function of version 1 of a named interface, whose struct is `T`; `missing` is the
    /// error where the plugin does not have it.
    pub(super) fn call_interface<T: Copy + 'static>(
        &self,
        interface: &str,
        what: &str,
        call: impl FnOnce(&T, *mut c_void) -> i32,
        missing: impl FnOnce() -> Error,
    ) -> Result<(), Error> {
        let (extension, table) = self.extensions.get::<T>(interface, 1).ok_or_else(missing)?;
        let instance = self.owned.instance();
        instance.slots().clear_error();
        let calling = extension.calling(what);
        let status = call(&table, extension.self_());
        drop(calling);
        instance.slots().check(status, || format!("`{what}` of device_api.{}", self.name))
    }

    /// Calls interface `reset` 1.
    pub(crate) fn reset(&self, device_id: i32) -> Result<(), Error> {
        // SAFETY: the table of that name and version, with the `self` that was registered with it.
        let call = |table: &ChipdockReset1, self_| unsafe { (table.reset)(self_, device_id) };
        self.call_interface("reset", "reset", call, || {
            let message =
                format!("device {}:{device_id} cannot be opened again: its plugin has no `reset`", self.name);
            Error::new(ErrorKind::Unsupported, message).hint("start a new process")
        })
    }
}

impl TargetKindEntry {
    /// Returns the kind, where this host can use it (P3.10).
    pub(crate) fn kind(&self) -> Result<Arc<TargetKind>, Error> {
        usable_kind(&self.declared)
    }

    /// Calls the kind's own canonicalizer: canonical JSON in and out.
    pub(crate) fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let what = || format!("the canonicalizer of target kind \"{}\"", self.declared.name());
        let mut answer = api::Any::NONE.into_raw();
        let instance = self.owned.instance();
        instance.slots().clear_error();
        let _calling = self.owned.calling(&format!("target.kind.{}: canonicalize", self.declared.name()));
        // SAFETY: the registered `self`, a string that lives for the call, a place for an owned
        // value.
        let status = unsafe {
            (self.owned.table().canonicalize)(self.owned.self_(), str_out(target_json), &mut answer)
        };
        instance.slots().check(status, what)?;
        // SAFETY: a value that we own now.
        let answer = unsafe { answered(answer, &what) }?;
        let text =
            answer.to::<api::Str>().map_err(|error| broken(format!("{}: {}", what(), error.message())))?;
        if text.as_str().len() > ANSWER_BYTES_MAX {
            let (size, bound) = (text.as_str().len(), ANSWER_BYTES_MAX);
            return Err(broken(format!("{} answered {size} bytes; expected at most {bound}", what())));
        }
        Ok(text.as_str().to_owned())
    }
}

/// Makes the request for memory of the device itself, in its global scope.
pub(super) fn plain_request(size_bytes: u64, dtype_hint: ChipdockDataType) -> ChipdockDataSpaceRequest {
    ChipdockDataSpaceRequest {
        size_bytes,
        alignment_bytes: ALIGNMENT_BYTES,
        dtype_hint,
        kind: chipdock_abi::CHIPDOCK_DATA_SPACE_DEVICE,
        scope: static_str(""),
        next: std::ptr::null(),
    }
}

/// Returns the expected type of an attribute of that key, where the value has another one (D.11).
fn mistyped(key: &str, value: &Value) -> Option<&'static str> {
    use api::attribute::{CHECKED_HANDLES, TABLE};
    let described = TABLE.iter().find(|described| described.key == key);
    let value_type = if key == CHECKED_HANDLES { "bool" } else { described?.value_type };
    let is_triple = || value.as_array().is_some_and(|all| all.len() == 3 && all.iter().all(Value::is_i64));
    let (expected, fits) = match value_type {
        "bool" => ("a bool", value.is_boolean()),
        "str" => ("a str", value.is_string()),
        "Shape" => ("a Shape of three", is_triple()),
        _ => ("an int", value.is_i64()),
    };
    (!fits).then_some(expected)
}

/// Returns a value of the boundary as JSON; `None` for an absent one.
fn json(value: api::AnyView<'_>) -> Result<Option<Value>, String> {
    use chipdock_abi as abi;
    let bad = |error: api::Error| error.message().into_owned();
    Ok(Some(match value.type_index() {
        abi::CHIPDOCK_TYPE_NONE => return Ok(None),
        abi::CHIPDOCK_TYPE_INT => value.to::<i64>().map_err(bad)?.into(),
        abi::CHIPDOCK_TYPE_BOOL => value.to::<bool>().map_err(bad)?.into(),
        abi::CHIPDOCK_TYPE_FLOAT => value.to::<f64>().map_err(bad)?.into(),
        abi::CHIPDOCK_TYPE_SHAPE => value.to::<api::Shape>().map_err(bad)?.to_vec().into(),
        abi::CHIPDOCK_TYPE_ARRAY => {
            let array = value.to::<api::Array>().map_err(bad)?;
            let items: Result<Vec<Value>, String> =
                array.as_slice().iter().map(|item| Ok(json(*item)?.unwrap_or(Value::Null))).collect();
            items?.into()
        }
        _ => {
            let text = value.to::<api::Str>().map_err(bad)?;
            if text.as_str().len() > ANSWER_BYTES_MAX {
                let size = text.as_str().len();
                return Err(format!("a text of {size} bytes; expected at most {ANSWER_BYTES_MAX}"));
            }
            text.as_str().into()
        }
    }))
}
