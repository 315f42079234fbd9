//! The device: blocks of host memory behind opaque handles, like the buffers of a real device.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::kit::{Budget, Devices, Reserved, Spaces, lock};
use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Error, ErrorKind, Stream,
    attribute, bail, ensure,
};

/// The name of the device: `device_api.template`, and `--device template:0`.
pub(crate) const NAME: &str = "template";

/// Memory of the device in bytes. A real plugin asks its driver.
const MEMORY_BYTES: u64 = 1 << 30;

/// The device API of one host. Streams are trivial: every call is done when it returns.
#[derive(Debug)]
pub(crate) struct TemplateDeviceApi {
    /// The devices. A real plugin searches for them here, when the first call needs one.
    devices: Devices<Chip>,
}

/// One device with its own memory. The kit looks handles up, and rejects those that it did not
/// make.
#[derive(Debug)]
struct Chip {
    spaces: Spaces<Block>,
    budget: Budget,
}

/// A data space. A real plugin has the driver's buffer here.
#[derive(Debug)]
struct Block {
    bytes: Mutex<Vec<u8>>,
    /// Keeps the bytes reserved until the block is freed.
    _reserved: Reserved,
}

impl Default for TemplateDeviceApi {
    fn default() -> Self {
        let search = || Ok(vec![Chip { spaces: Spaces::default(), budget: Budget::new(MEMORY_BYTES) }]);
        Self { devices: Devices::new(NAME, 0, search) }
    }
}

impl Chip {
    /// The block at one end of a copy, and the range in it.
    fn range(&self, end: &CopyEnd, size_bytes: u64) -> Result<(Arc<Block>, std::ops::Range<usize>), Error> {
        let (block, start) = self.spaces.range(end.data.addr(), end.offset_bytes, size_bytes, NAME)?;
        Ok((block, start..start + size_bytes as usize))
    }
}

impl DeviceApi for TemplateDeviceApi {
    fn registered_as(&self, device_type: i32) {
        self.devices.set_device_type(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        self.devices.count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from(self.devices.get(device_id).is_ok())));
        }
        let chip = self.devices.get(device_id)?;
        Ok(match key {
            attribute::DEVICE_NAME => Some(Any::from("Template device in host memory")),
            attribute::TOTAL_GLOBAL_MEMORY_BYTES => Some(Any::try_from(MEMORY_BYTES)?),
            attribute::AVAILABLE_GLOBAL_MEMORY_BYTES => Some(Any::try_from(chip.budget.available_bytes())?),
            // An unknown attribute is not an error.
            _ => None,
        })
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        let chip = self.devices.get(device_id)?;
        ensure!(
            request.kind == DataSpaceKind::Device && matches!(request.scope, "" | "global"),
            ErrorKind::UNSUPPORTED,
            "{NAME} has device memory of scope `global` only, found {:?} of scope `{}`",
            request.kind,
            request.scope
        );
        // Given back when it is dropped: on failure nothing has changed.
        let reserved = chip.budget.reserve(request.size_bytes, NAME)?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(request.size_bytes as usize).is_err() {
            bail!(ErrorKind::OUT_OF_MEMORY, "{NAME}: the host has no {} bytes left", request.size_bytes);
        }
        bytes.resize(request.size_bytes as usize, 0);
        let block = Block { bytes: Mutex::new(bytes), _reserved: reserved };
        Ok(ptr::without_provenance_mut(chip.spaces.add(block, request.size_bytes)))
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        self.devices.get(device_id)?.spaces.take(data.addr(), NAME).map(drop)
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, _stream: Stream) -> Result<(), Error> {
        let chip = self.devices.get(device_id)?;
        let (from, to) = (&copy.from, &copy.to);
        let size = copy.size_bytes as usize;
        match (from.is_host(), to.is_host()) {
            (true, false) => {
                let (block, range) = chip.range(to, copy.size_bytes)?;
                let mut bytes = lock(&block.bytes);
                // SAFETY: the source is live host memory of that size, and does not overlap a block
                // of this plugin.
                unsafe { ptr::copy_nonoverlapping(from.address(), bytes[range].as_mut_ptr(), size) };
            }
            (false, true) => {
                let (block, range) = chip.range(from, copy.size_bytes)?;
                let bytes = lock(&block.bytes);
                // SAFETY: the destination is live host memory of that size, and does not overlap a
                // block of this plugin.
                unsafe { ptr::copy_nonoverlapping(bytes[range].as_ptr(), to.address(), size) };
            }
            (false, false) => {
                let (source, from_range) = chip.range(from, copy.size_bytes)?;
                let (target, to_range) = chip.range(to, copy.size_bytes)?;
                let bytes = lock(&source.bytes)[from_range].to_vec();
                lock(&target.bytes)[to_range].copy_from_slice(&bytes);
            }
            (true, true) => bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on {NAME}"),
        }
        Ok(())
    }
}
