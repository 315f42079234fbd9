//! `device_api.opencl`: memory, copies and streams of every OpenCL device.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceRequest, DeviceApi, Error, ErrorKind, Stream, attribute, bail, ensure,
};

use crate::attributes;
use crate::driver::{Buffer, Event, HostMemory};
use crate::error::OrFailed;
use crate::hardware::{Device, Hardware, NAME};
use crate::memory::Space;
use crate::stream::{Part, Queue, Work};

/// Maximum number of bytes in host memory at a time during a copy between two devices.
const STAGE_BYTES: u64 = 16 << 20;

/// The device API of one host.
pub(crate) struct OpenClDeviceApi(pub(crate) Arc<Hardware>);

/// An end of a copy, resolved when the copy is queued.
pub(crate) enum End {
    Host(HostMemory),
    Device(Arc<Device>, Arc<Space>, usize),
}

impl Hardware {
    /// Resolves an end of a copy: looks handles up, and checks ranges against sizes.
    ///
    /// # Safety
    ///
    /// * The requirements of [`DeviceApi::copy_data`] for host memory.
    unsafe fn end(&self, end: &CopyEnd, size_bytes: u64) -> Result<End, Error> {
        if end.is_host() {
            // SAFETY: the caller guarantees that `size_bytes` bytes of host memory are live until
            // the copy is done.
            return Ok(End::Host(unsafe { HostMemory::new(end.address()) }));
        }
        self.devices.check_end(end.device)?;
        let device = self.device(end.device.device_id)?;
        let (space, offset) =
            device.spaces.range(end.data.addr(), end.offset_bytes, size_bytes, device.name())?;
        Ok(match (space.buffer(), space.address()) {
            (None, Some(address)) => {
                let address = address.cast::<u8>().wrapping_add(offset);
                // SAFETY: within a live data space in host memory, which is not freed until the
                // copy is done (D.6).
                End::Host(unsafe { HostMemory::new(address) })
            }
            _ => End::Device(Arc::clone(device), space, offset),
        })
    }
    /// Resolves the ends of a copy that is recorded or replayed (N.42).
    pub(crate) fn recorded_ends(&self, device_id: i32, copy: &CopyRequest) -> Result<(End, End), Error> {
        for end in [&copy.from, &copy.to] {
            ensure!(
                !end.is_host() && end.device.device_id == device_id,
                ErrorKind::UNSUPPORTED,
                "expected data spaces of {NAME}:{device_id} as ends of a copy that is recorded"
            );
        }
        // SAFETY: neither end is host memory of the caller's, and a host keeps both until the
        // replays are done (N.48).
        let ends = unsafe { (self.end(&copy.from, copy.size_bytes)?, self.end(&copy.to, copy.size_bytes)?) };
        ensure!(
            !matches!(ends, (End::Host(_), End::Host(_))),
            ErrorKind::UNSUPPORTED,
            "copies from page-locked memory of {NAME}:{device_id} to other such memory are not recorded: copy on the host"
        );
        Ok(ends)
    }
}

/// Queues a copy within one device, or between it and the host; it fails if a test asked for that.
pub(crate) fn queue_copy(
    device: &Device,
    (queue, part): (&Queue, Part),
    from: &End,
    to: &End,
    size_bytes: u64,
) -> Result<(), Error> {
    let size_bytes = usize::try_from(size_bytes).unwrap_or(usize::MAX);
    let fails = device.injected_failure()?;
    if fails.is_some() {
        // PoCL of 2025 and earlier may end the process if one thing that a command waits for fails
        // while another ends (its pull request 2216): the copy waits only for the event that fails.
        queue.drain();
    }
    copy_within((queue, part), from, to, size_bytes, fails.as_ref())?;
    if let Some(event) = fails {
        event.fail(-1).or_failed(|| format!("{}: a copy that is to fail", device.name()))?;
    }
    Ok(())
}

impl End {
    fn device_id(&self) -> Option<i32> {
        match self {
            Self::Host(_) => None,
            Self::Device(device, ..) => Some(device.id()),
        }
    }
}

/// The buffer and offset of an end in the driver's memory.
fn place(space: &Space, offset: usize) -> Result<(&Buffer, usize), Error> {
    let buffer = space.buffer();
    let buffer =
        buffer.ok_or_else(|| Error::new(ErrorKind::INTERNAL, "host memory where a buffer belongs"))?;
    Ok((buffer, offset))
}

/// Copies within one device, or between it and the host.
fn copy_within(
    (queue, part): (&Queue, Part),
    from: &End,
    to: &End,
    size_bytes: usize,
    after: Option<&Event>,
) -> Result<(), Error> {
    let work = Work::Copy { size_bytes: size_bytes as u64 };
    match (from, to) {
        (End::Host(source), End::Device(_, space, offset)) => {
            let to = place(space, *offset)?;
            queue.submit(part, work, |raw| raw.write(to, *source, size_bytes, after))
        }
        (End::Device(_, space, offset), End::Host(destination)) => {
            let from = place(space, *offset)?;
            queue.submit(part, work, |raw| raw.read(from, *destination, size_bytes, after))
        }
        (End::Device(_, source, from), End::Device(_, destination, to)) => {
            let (from, to) = (place(source, *from)?, place(destination, *to)?);
            queue.submit(part, work, |raw| raw.copy(from, to, size_bytes, after))
        }
        (End::Host(source), End::Host(destination)) => {
            // Page-locked memory on both sides: the host copies after the device's work is done.
            queue.sync()?;
            destination.copy_from(*source, size_bytes);
            Ok(())
        }
    }
}

/// Copies from one device to another through the host, after the work queued on `queue`: drivers
/// share no memory across contexts. The copy is done when this returns.
fn copy_across(queue: &Queue, from: &End, to: &End, size_bytes: usize) -> Result<(), Error> {
    let (End::Device(source, source_space, start), End::Device(destination, destination_space, end)) =
        (from, to)
    else {
        bail!(ErrorKind::INTERNAL, "expected two devices");
    };
    queue.sync()?;
    let queue_of =
        |device: &Arc<Device>| -> Result<Arc<Queue>, Error> { Ok(Arc::clone(&device.open()?.transfer)) };
    let (reading, writing) = (queue_of(source)?, queue_of(destination)?);
    let what = || format!("{}: a copy of {size_bytes} bytes between devices", source.name());
    let mut stage = Vec::new();
    let stage_bytes = size_bytes.min(STAGE_BYTES as usize);
    if stage.try_reserve_exact(stage_bytes).is_err() {
        bail!(ErrorKind::OUT_OF_MEMORY, "{}: no host memory is left for it", what());
    }
    stage.resize(stage_bytes, 0);
    let mut done = 0;
    while done < size_bytes {
        let part = &mut stage[..(size_bytes - done).min(stage_bytes)];
        reading.raw().read_now(place(source_space, start + done)?, part).or_failed(what)?;
        writing.raw().write_now(place(destination_space, end + done)?, part).or_failed(what)?;
        done += part.len();
    }
    Ok(())
}

impl DeviceApi for OpenClDeviceApi {
    fn registered_as(&self, device_type: i32) {
        self.0.devices.set_device_type(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        self.0.devices.count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from((0..self.device_count()?).contains(&device_id))));
        }
        attributes::attribute(self.0.device(device_id)?, key)
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
        let device = self.0.devices.get(device_id)?;
        device.spaces.take(data.addr(), device.name())?;
        device.check()
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        if copy.from.is_host() && copy.to.is_host() {
            bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on an {NAME} device");
        }
        let queue = device.stream(stream.into_raw().addr())?;
        // SAFETY: the caller guarantees the requirements of `copy_data` for both ends.
        let (from, to) =
            unsafe { (self.0.end(&copy.from, copy.size_bytes)?, self.0.end(&copy.to, copy.size_bytes)?) };
        let size_bytes = usize::try_from(copy.size_bytes).unwrap_or(usize::MAX);
        match (from.device_id(), to.device_id()) {
            (Some(from_id), Some(to_id)) if from_id != to_id => copy_across(&queue, &from, &to, size_bytes),
            (Some(end), _) | (None, Some(end)) if end != device_id => bail!(
                ErrorKind::VALUE_ERROR,
                "the copy is between {NAME}:{end} and host memory, and was given to {NAME}:{device_id}: give it to the device \
                 that it is of"
            ),
            _ => queue_copy(device, (&queue, Part::Alone), &from, &to, copy.size_bytes),
        }
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        let handle = self.0.device(device_id)?.create_stream()?;
        Ok(Stream::from_raw(ptr::without_provenance_mut(handle)))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let device = self.0.devices.get(device_id)?;
        device.free_stream(stream.into_raw().addr())?;
        device.check()
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // Queued work may still access the host's memory: it is waited for even if the device is
        // lost.
        let device = self.0.devices.get(device_id)?;
        let done = device.stream(stream.into_raw().addr())?.sync();
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
