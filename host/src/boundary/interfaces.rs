//! Named interfaces that this host answers to `query` (H.5), the same for every plugin and for
//! compiled code. Those about one plugin itself are in `plugin_table.rs`.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{
    CHIPDOCK_ERROR, CHIPDOCK_OK, ChipdockAny, ChipdockDataType, ChipdockDevice, ChipdockInterface,
    ChipdockMemory1,
};
use chipdock_plugin_api as api;

use crate::boundary::services::Services;
use crate::bounds::{AXES_MAX, aligned};
use crate::error::{Error, ErrorKind};

static MEMORY: ChipdockMemory1 = ChipdockMemory1 { allocate_tensor };

/// Returns the interface of that name and version; [`crate::open::manifest::HOST_INTERFACES`] lists
/// them.
pub(crate) fn of(services: &'static Services, name: &str, version: u32) -> ChipdockInterface {
    match (name, version) {
        ("memory", 1) => ChipdockInterface {
            self_: ptr::from_ref(services).cast_mut().cast(),
            table: ptr::from_ref(&MEMORY).cast(),
            table_size_bytes: size_of::<ChipdockMemory1>() as u64,
            features: 0,
        },
        _ => ChipdockInterface::NONE,
    }
}

unsafe extern "C" fn allocate_tensor(
    self_: *mut c_void,
    device: ChipdockDevice,
    dtype: ChipdockDataType,
    shape: *const i64,
    ndim: i32,
    out_tensor: *mut ChipdockAny,
) -> i32 {
    // SAFETY: the caller passes the interface's `self_`; services live as long as the process.
    let services: &'static Services = unsafe { &*self_.cast::<Services>() };
    services.slots.guarded("memory.allocate_tensor", CHIPDOCK_ERROR, || {
        // SAFETY: the caller guarantees `ndim` extents.
        let made = unsafe { extents(shape, ndim) }
            .and_then(|shape| services.live()?.allocate_tensor(device, dtype, shape));
        // SAFETY: a place that is writable, or null.
        match (made, unsafe { aligned(out_tensor).cast_mut().as_mut() }) {
            (Ok(tensor), Some(out)) => {
                *out = api::Any::from(tensor).into_raw();
                CHIPDOCK_OK
            }
            (Ok(_), None) => {
                let message = "the place for the tensor is null or not aligned";
                services.slots.raise_own(&Error::new(ErrorKind::Value, message));
                CHIPDOCK_ERROR
            }
            (Err(error), _) => {
                services.slots.raise_own(&error);
                CHIPDOCK_ERROR
            }
        }
    })
}

/// # Safety
///
/// * Where it is not null and aligned, `shape` has `ndim` extents that live for `'a`.
unsafe fn extents<'a>(shape: *const i64, ndim: i32) -> Result<&'a [i64], Error> {
    let count = usize::try_from(ndim).ok().filter(|count| *count <= AXES_MAX);
    let count = count.ok_or_else(|| {
        Error::new(ErrorKind::Value, format!("expected 0 to {AXES_MAX} axes, found {ndim}"))
    })?;
    if count == 0 {
        return Ok(&[]);
    }
    if aligned(shape).is_null() {
        return Err(Error::new(ErrorKind::Value, format!("expected {count} extents, found {shape:p}")));
    }
    // SAFETY: not null and aligned; the caller guarantees `count` extents that live for `'a`.
    Ok(unsafe { std::slice::from_raw_parts(shape, count) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Host, HostOptions, Tensor};

    fn float32() -> ChipdockDataType {
        api::dtype::parse("float32").unwrap()
    }

    fn table(host: &Host) -> api::HostRef {
        // SAFETY: H.1, the table of a host.
        unsafe { api::HostRef::new(host.0.services.table()) }
    }

    /// H.9.
    #[test]
    fn a_function_gets_a_tensor_on_any_device_that_is_known() {
        let host = Host::new(HostOptions::isolated()).unwrap();
        for name in ["cpu", "toy"] {
            let device = host.device(name, 0).unwrap();
            let made = table(&host).allocate_tensor(device.number(), float32(), &[3, 5]).unwrap();
            assert_eq!((made.view().shape(), made.view().device()), (&[3, 5][..], device.number()));
            assert_eq!(made.view().dtype(), float32());
            let tensor = Tensor::from_value(&host, made).unwrap();
            tensor.copy_from_bytes(&[7; 60]).unwrap();
            assert_eq!(tensor.to_bytes().unwrap(), [7; 60]);
        }
        assert_eq!(
            table(&host).allocate_tensor(api::CPU, float32(), &[]).unwrap().view().shape(),
            [0_i64; 0]
        );
    }

    /// H.9: it says why not, as `empty` does.
    #[test]
    fn an_allocation_that_is_refused_says_why() {
        let host = Host::new(HostOptions::isolated()).unwrap();
        let ask = |device, dtype: &str, shape: &[i64]| {
            let dtype = api::dtype::parse(dtype).unwrap();
            table(&host).allocate_tensor(device, dtype, shape).unwrap_err()
        };
        let nobody = ChipdockDevice { device_type: 999, device_id: 0 };
        for (device, dtype, shape, kind, says) in [
            (api::CPU, "float32", &[2, -1][..], api::ErrorKind::VALUE_ERROR, "found -1"),
            (api::CPU, "float32", &[1; AXES_MAX + 1], api::ErrorKind::VALUE_ERROR, "axes"),
            (api::CPU, "handle", &[1], api::ErrorKind::UNSUPPORTED, "handle"),
            (nobody, "float32", &[1], api::ErrorKind::NOT_FOUND, "999"),
        ] {
            let error = ask(device, dtype, shape);
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(says), "{error}");
        }
        let services = host.0.services;
        let found = of(services, "memory", 1);
        // SAFETY: the interface's table with its `self_`; null is answered.
        let status =
            unsafe { allocate_tensor(found.self_, api::CPU, float32(), [1].as_ptr(), 1, ptr::null_mut()) };
        assert_eq!(services.slots.check(status, String::new).unwrap_err().kind(), &ErrorKind::Value);
        let table = table(&host);
        drop(host);
        let error = table.allocate_tensor(api::CPU, float32(), &[1]).unwrap_err();
        assert_eq!(error.kind(), api::ErrorKind::UNAVAILABLE, "{error}");
    }

    /// P3.2, H.5: other names and versions are not there; compiled code is answered the same.
    #[test]
    fn each_interface_is_of_one_version() {
        let host = Host::new(HostOptions::isolated()).unwrap();
        let services = host.0.services;
        for interface in crate::open::manifest::HOST_INTERFACES {
            let (name, version) = interface.split_once('/').unwrap();
            let version: u32 = version.parse().unwrap();
            let table =
                crate::boundary::plugin_table::PluginTable::leaked(services, "any", Vec::new(), Vec::new());
            assert!(!table.interface(name, version).table.is_null(), "{interface}");
            assert!(table.interface(name, version + 1).table.is_null(), "{interface}");
        }
        for (name, version) in [("memory", 0), ("memor", 1), ("", 1), ("conformance", 1)] {
            assert!(of(services, name, version).table.is_null(), "{name}/{version}");
        }
    }
}
