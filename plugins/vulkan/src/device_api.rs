//! `device_api.vulkan`: memory, copies and streams of every Vulkan device.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::interface::Reset;
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceRequest, DeviceApi, Error, ErrorKind, Stream, argument, attribute,
    bail, register_failure_hooks,
};

use crate::device::{End, Hardware, NAME, Work, attributes, copy_across, copy_within};
use crate::driver::HostMemory;

/// The device API of one host.
pub(crate) struct VulkanDeviceApi(pub(crate) Arc<Hardware>);

impl VulkanDeviceApi {
    /// Resolves an end of a copy on that device: looks handles up, and checks ranges against sizes.
    /// An address in a data space is the data space's (D.31).
    ///
    /// # Safety
    ///
    /// * The requirements of [`DeviceApi::copy_data`] for host memory.
    unsafe fn end(&self, device_id: i32, end: &CopyEnd, size_bytes: u64) -> Result<End, Error> {
        if end.is_host() {
            let (device, address) = (self.0.device(device_id)?, end.address());
            let found = device.spaces.range(address.addr(), 0, size_bytes, device.name());
            return Ok(match found {
                Ok((space, offset)) if space.host_address().is_some() => {
                    End::Device(Arc::clone(device), space, offset as u64)
                }
                // SAFETY: the caller guarantees the requirements of `copy_data` for host memory.
                _ => End::Host(unsafe { HostMemory::new(address) }),
            });
        }
        self.0.devices().check_end(end.device)?;
        let device = self.0.device(end.device.device_id)?;
        let (space, offset) =
            device.spaces.range(end.data.addr(), end.offset_bytes, size_bytes, device.name())?;
        Ok(End::Device(Arc::clone(device), space, offset as u64))
    }
}

impl DeviceApi for VulkanDeviceApi {
    fn registered_as(&self, device_type: i32) {
        self.0.set_device_type(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        self.0.devices().count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from((0..self.device_count()?).contains(&device_id))));
        }
        Ok(attributes::attribute(self.0.device(device_id)?, key))
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.health.check_memory(device.name())?;
        device.allocate(request)
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        let device = self.0.devices().get(device_id)?;
        device.spaces.take(data.addr(), device.name())?;
        device.check()
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        if copy.from.is_host() && copy.to.is_host() {
            bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on an {NAME} device");
        }
        let queue = device.stream(stream.into_raw().addr())?;
        // SAFETY: D.6, the caller keeps both ends until the stream is synchronised.
        let (from, to) = unsafe {
            let end = |end| self.end(device_id, end, copy.size_bytes);
            (end(&copy.from)?, end(&copy.to)?)
        };
        let size_bytes = usize::try_from(copy.size_bytes).unwrap_or(usize::MAX);
        match (from.device_id(), to.device_id()) {
            (Some(from_id), Some(to_id)) if from_id != to_id => copy_across(&queue, &from, &to, size_bytes),
            (Some(end), _) | (None, Some(end)) if end != device_id => bail!(
                ErrorKind::VALUE_ERROR,
                "the copy is between {NAME}:{end} and host memory, and was given to {NAME}:{device_id}: give it to the device \
                 that it is of"
            ),
            _ if device.health.takes_failure() => {
                queue.fail_later(Work::Copy { size_bytes: copy.size_bytes }, "a test requested it")
            }
            _ => copy_within(&queue, &from, &to, size_bytes),
        }
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        let handle = self.0.device(device_id)?.create_stream()?;
        Ok(Stream::from_raw(ptr::without_provenance_mut(handle)))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let device = self.0.devices().get(device_id)?;
        device.free_stream(stream.into_raw().addr())?;
        device.check()
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // Queued work may still access the host's memory: it is waited for even if the device is
        // lost.
        let device = self.0.devices().get(device_id)?;
        let done = device.stream(stream.into_raw().addr()).and_then(|queue| queue.sync());
        device.check()?;
        done
    }

    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        let from = device.stream(from.into_raw().addr())?;
        let to = device.stream(to.into_raw().addr())?;
        if Arc::ptr_eq(&from, &to) {
            return Ok(());
        }
        to.wait_for(&from)
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        Some(&self.0)
    }

    fn graphs(&self) -> Option<&dyn Graphs> {
        Some(&self.0)
    }

    fn shutdown(&self) -> Result<(), Error> {
        self.0.shut_down()
    }
}

/// Opens lost devices again: interface `reset` 1 (D.40).
pub(crate) struct Reopen(pub(crate) Arc<Hardware>);

impl Reset for Reopen {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.0.devices().get(device_id)?.reopen();
        Ok(())
    }
}

register_failure_hooks!("vulkan", |context, args, hook| {
    hook(&context.state::<Hardware>().devices().get(argument(args, 0, "device_id")?)?.health);
    Ok(())
});
