//! The registered tables of device APIs and target kinds, called safely: errors come out of the slot, owned results are taken.

use chipdock_plugin_api::text::{static_str, str_out};
use std::ffi::c_void;

use chipdock_abi::{ChipdockCopy, ChipdockDataSpaceRequest, ChipdockDeviceApi, DLDataType};
use chipdock_plugin_api as api;
use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::registrar::{DeviceApiEntry, TargetKindEntry};
use crate::services::Services;

/// What a data space is aligned to when nobody says, in bytes.
pub(crate) const ALIGNMENT_BYTES: u64 = 64;

impl DeviceApiEntry {
    fn call(
        &self,
        services: &'static Services,
        what: &str,
        call: impl FnOnce(&ChipdockDeviceApi, *mut c_void) -> i32,
    ) -> Result<(), Error> {
        services.clear_error();
        let status = call(self.owned.table(), self.owned.self_());
        services.check(status, || format!("`{what}` of device_api.{}", self.name))
    }

    /// How many devices there are.
    pub(crate) fn count(&self, services: &'static Services) -> Result<i32, Error> {
        let mut count = 0;
        // SAFETY: the registered `self` and a place to write to.
        self.call(services, "device_count", |table, self_| unsafe {
            (table.device_count)(self_, &mut count)
        })?;
        if count < 0 {
            let message = format!("device_api.{} counts {count} devices", self.name);
            return Err(Error::new(ErrorKind::BrokenPlugin, message));
        }
        Ok(count)
    }

    /// A device's attribute as JSON, or nothing when it is not known there.
    pub(crate) fn attribute(
        &self,
        services: &'static Services,
        device_id: i32,
        key: &str,
    ) -> Result<Option<Value>, Error> {
        let mut raw = api::Any::NONE.into_raw();
        // SAFETY: the registered `self`, a string that lives for the call, a place for an owned value.
        let done = self.call(services, "attribute", |table, self_| unsafe {
            (table.attribute)(self_, device_id, str_out(key), &mut raw)
        });
        // SAFETY: None, or a value that we own now.
        let value = unsafe { api::Any::from_raw(raw) };
        done?;
        json(value.view()).map_err(|message| {
            let message = format!("attribute \"{key}\" of device_api.{}: {message}", self.name);
            Error::new(ErrorKind::BrokenPlugin, message)
        })
    }

    /// Allocates device memory.
    pub(crate) fn allocate(
        &self,
        services: &'static Services,
        device_id: i32,
        size_bytes: u64,
        dtype_hint: DLDataType,
    ) -> Result<*mut c_void, Error> {
        let request = ChipdockDataSpaceRequest {
            size_bytes,
            alignment_bytes: ALIGNMENT_BYTES,
            dtype_hint,
            kind: chipdock_abi::CHIPDOCK_DATA_SPACE_DEVICE,
            scope: static_str(""),
        };
        let mut data = std::ptr::null_mut();
        // SAFETY: the registered `self`, a request that lives for the call, a place to write to.
        self.call(services, "allocate_data_space", |table, self_| unsafe {
            (table.allocate_data_space)(self_, device_id, &request, &mut data)
        })?;
        Ok(data)
    }

    /// Frees device memory that no queued work uses.
    pub(crate) fn free(
        &self,
        services: &'static Services,
        device_id: i32,
        data: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; the pool gives each data space here once.
        self.call(services, "free_data_space", |table, self_| unsafe {
            (table.free_data_space)(self_, device_id, data)
        })
    }

    /// Queues a copy.
    ///
    /// # Safety
    ///
    /// * Both ends are live and as large as the copy says, do not overlap, and stay so until the stream is
    ///   synchronised.
    pub(crate) unsafe fn copy(
        &self,
        services: &'static Services,
        device_id: i32,
        copy: &ChipdockCopy,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; the ends by the caller's word.
        self.call(services, "copy_data", |table, self_| unsafe {
            (table.copy_data)(self_, device_id, copy, stream)
        })
    }

    pub(crate) fn create_stream(
        &self,
        services: &'static Services,
        device_id: i32,
    ) -> Result<*mut c_void, Error> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the registered `self` and a place to write to.
        self.call(services, "create_stream", |table, self_| unsafe {
            (table.create_stream)(self_, device_id, &mut stream)
        })?;
        Ok(stream)
    }

    pub(crate) fn free_stream(
        &self,
        services: &'static Services,
        device_id: i32,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; a stream of it, freed once.
        self.call(services, "free_stream", |table, self_| unsafe {
            (table.free_stream)(self_, device_id, stream)
        })
    }

    pub(crate) fn sync(
        &self,
        services: &'static Services,
        device_id: i32,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; a stream of it, or the default.
        self.call(services, "sync_stream", |table, self_| unsafe {
            (table.sync_stream)(self_, device_id, stream)
        })
    }

    pub(crate) fn sync_from_to(
        &self,
        services: &'static Services,
        device_id: i32,
        from: *mut c_void,
        to: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; streams of it, or the default.
        self.call(services, "sync_stream_from_to", |table, self_| unsafe {
            (table.sync_stream_from_to)(self_, device_id, from, to)
        })
    }

    pub(crate) fn set_device(&self, services: &'static Services, device_id: i32) -> Result<(), Error> {
        // SAFETY: the registered `self`.
        self.call(services, "set_device", |table, self_| unsafe { (table.set_device)(self_, device_id) })
    }

    pub(crate) fn set_stream(
        &self,
        services: &'static Services,
        device_id: i32,
        stream: *mut c_void,
    ) -> Result<(), Error> {
        // SAFETY: the registered `self`; a stream of it, or the default.
        self.call(services, "set_stream", |table, self_| unsafe {
            (table.set_stream)(self_, device_id, stream)
        })
    }
}

impl TargetKindEntry {
    /// The kind's own canonicalizer: canonical JSON in and out.
    pub(crate) fn canonicalize(
        &self,
        services: &'static Services,
        target_json: &str,
    ) -> Result<String, Error> {
        let mut answer = api::Any::NONE.into_raw();
        services.clear_error();
        // SAFETY: the registered `self`, a string that lives for the call, a place for an owned value.
        let (status, answer) = unsafe {
            let table = self.owned.table();
            let status = (table.canonicalize)(self.owned.self_(), str_out(target_json), &mut answer);
            (status, api::Any::from_raw(answer))
        };
        services.check(status, || format!("the canonicalizer of target kind \"{}\"", self.kind.name))?;
        answer.to::<String>().map_err(|error| {
            let message =
                format!("the canonicalizer of target kind \"{}\": {}", self.kind.name, error.message());
            Error::new(ErrorKind::BrokenPlugin, message)
        })
    }
}

/// A value of the boundary as JSON; `None` is nothing.
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
        _ => value.to::<String>().map_err(bad)?.into(),
    }))
}
