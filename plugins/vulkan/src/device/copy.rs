//! Copies between data spaces and host memory (VK-D16 to VK-D18).

use std::sync::Arc;

use chipdock_plugin_api::{Error, ErrorKind, bail};

use super::hardware::Device;
use super::memory::Space;
use super::stream::{Keep, Queue, Work};
use crate::driver::{HostMemory, Stage};

/// Maximum number of bytes in host memory at a time during a copy between two devices.
const STAGE_BYTES: usize = 16 << 20;

/// An end of a copy, resolved when the copy is queued.
pub(crate) enum End {
    /// Host memory.
    Host(HostMemory),
    /// A range in a data space, which begins at an offset in bytes.
    Device(Arc<Device>, Arc<Space>, u64),
}

impl End {
    /// The device of a data space.
    pub(crate) fn device_id(&self) -> Option<i32> {
        match self {
            Self::Host(_) => None,
            Self::Device(device, ..) => Some(device.id()),
        }
    }
}

/// Copies within one device, or between it and the host.
pub(crate) fn copy_within(queue: &Queue, from: &End, to: &End, size_bytes: usize) -> Result<(), Error> {
    queue.report()?;
    let is_direct = queue.gpu().has_direct_copies();
    match (from, to) {
        (End::Host(source), End::Device(_, space, offset)) => {
            queue.shared().settle(source.addr(), size_bytes)?;
            match space.host_memory().filter(|_| is_direct && queue.is_idle()) {
                Some(mapped) => {
                    mapped.at(*offset as usize).copy_from(*source, size_bytes);
                    Ok(())
                }
                None => queue.copy_in(*source, space, *offset, size_bytes),
            }
        }
        (End::Device(_, space, offset), End::Host(destination)) => {
            queue.shared().settle(destination.addr(), size_bytes)?;
            match space.host_memory().filter(|_| is_direct && space.is_cached()) {
                Some(mapped) => {
                    queue.finish()?;
                    queue.report()?;
                    destination.copy_from(mapped.at(*offset as usize), size_bytes);
                    Ok(())
                }
                None => queue.copy_out(space, *offset, *destination, size_bytes),
            }
        }
        (End::Device(_, source, start), End::Device(_, destination, end)) => {
            let (from, to) = (source.buffer(), destination.buffer());
            let (from, to) = ((from.0, from.1 + start), (to.0, to.1 + end));
            let size = size_bytes as u64;
            let keep: Keep = vec![Arc::clone(source) as _, Arc::clone(destination) as _];
            queue.record(Work::Copy { size_bytes: size }, keep, |recorded| {
                queue.gpu().copy(recorded.commands, from, to, size);
                Ok(())
            })
        }
        (End::Host(_), End::Host(_)) => bail!(ErrorKind::INTERNAL, "expected a data space"),
    }
}

/// Copies from one device to another through the host, after the work queued on `queue`: two
/// logical devices share no memory. The copy is done when this returns.
pub(crate) fn copy_across(queue: &Queue, from: &End, to: &End, size_bytes: usize) -> Result<(), Error> {
    let (End::Device(source, source_space, start), End::Device(destination, destination_space, end)) =
        (from, to)
    else {
        bail!(ErrorKind::INTERNAL, "expected two devices");
    };
    queue.sync()?;
    let transfer =
        |device: &Arc<Device>| -> Result<Arc<Queue>, Error> { Ok(Arc::clone(&device.open()?.transfer)) };
    let (reading, writing) = (transfer(source)?, transfer(destination)?);
    let stage_bytes = size_bytes.min(STAGE_BYTES);
    let Some(mut stage) = Stage::new(stage_bytes) else {
        bail!(
            ErrorKind::OUT_OF_MEMORY,
            "{}: a copy of {size_bytes} bytes between devices: no host memory is left for it",
            source.name()
        );
    };
    for done in (0..size_bytes).step_by(STAGE_BYTES) {
        let part = stage_bytes.min(size_bytes - done);
        let at = |device: &Arc<Device>, space: &Arc<Space>, offset: u64| {
            End::Device(Arc::clone(device), Arc::clone(space), offset + done as u64)
        };
        let (from, to) = (at(source, source_space, *start), at(destination, destination_space, *end));
        let host = End::Host(stage.memory());
        let copied = copy_within(&reading, &from, &host, part);
        reading.sync().and(copied)?;
        let copied = copy_within(&writing, &host, &to, part);
        writing.sync().and(copied)?;
    }
    Ok(())
}
