//! Host memory under another device's type.

use core::ffi::c_void;

use chipdock_plugin_api::cpu::CpuDeviceApi;
use chipdock_plugin_api::{Any, ChipdockDevice, CopyRequest, DataSpaceRequest, DeviceApi, Error, Stream};

/// The processor as a device of CUDA's type.
pub(crate) struct Processor(pub(crate) CpuDeviceApi);

impl DeviceApi for Processor {
    fn device_count(&self) -> Result<i32, Error> {
        self.0.device_count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        self.0.attribute(device_id, key)
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        self.0.allocate_data_space(device_id, request)
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        // SAFETY: `data` is freed once (D.5), as the trait requires.
        unsafe { self.0.free_data_space(device_id, data) }
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let mut copy = *copy;
        let cpu = ChipdockDevice { device_type: 1, device_id: 0 };
        (copy.from.device, copy.to.device) = (cpu, cpu);
        // SAFETY: the ends are live and do not overlap (D.6), as the trait requires; both ends are
        // host memory.
        unsafe { self.0.copy_data(device_id, &copy, stream) }
    }
}
