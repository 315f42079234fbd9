//! Interface `graph` 1: a list of copies and launches, which a replay records into the batch of its
//! stream, one after the other and nothing between them.

use std::ffi::c_void;
use std::iter;
use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::graph::{GRAPH, Graphs};
use chipdock_plugin_api::kit::{GraphTable, Recorded, Recorder, Replayed, Step};
use chipdock_plugin_api::{
    Context, CopyEnd, CopyRequest, Error, ErrorKind, Stream, ensure, register_interface,
};

use crate::device::{Device, Hardware, Keep, Space, Work};
use crate::loader::RecordedKernel;
use crate::program::launch::Call;

register_interface!("device_api.vulkan", GRAPH, |context: &Context| -> Box<dyn Graphs> {
    Box::new(context.state::<Hardware>())
});

/// A copy between two buffers.
struct Copying {
    from: (vk::Buffer, u64),
    to: (vk::Buffer, u64),
    size_bytes: u64,
}

/// What a replay records.
enum Command {
    Copy(Copying),
    Launch(Call),
}

/// Finds the data space of an end, and the start of its range there.
fn end(device: &Device, end: &CopyEnd, size_bytes: u64) -> Result<(Arc<Space>, u64), Error> {
    ensure!(
        !end.is_host() && end.device.device_id == device.id(),
        ErrorKind::UNSUPPORTED,
        "{}: expected data spaces of this device as ends of a copy that is recorded",
        device.name()
    );
    let found = device.spaces.range(end.data.addr(), end.offset_bytes, size_bytes, device.name())?;
    Ok((found.0, found.1 as u64))
}

/// Checks a copy and prepares it.
fn prepare(device: &Device, copy: &CopyRequest) -> Result<(Work, Keep, Copying), Error> {
    let size_bytes = copy.size_bytes;
    let (source, start) = end(device, &copy.from, size_bytes)?;
    let (destination, offset) = end(device, &copy.to, size_bytes)?;
    let (from, to) = (source.buffer(), destination.buffer());
    let copying = Copying { from: (from.0, from.1 + start), to: (to.0, to.1 + offset), size_bytes };
    Ok((Work::Copy { size_bytes }, vec![source as _, destination as _], copying))
}

impl Recorder for Hardware {
    type Kernel = RecordedKernel;
    type Made = ();

    fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error> {
        let device = self.devices().get(device_id)?;
        Ok((&device.graphs, device.name()))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id).map(drop)
    }

    fn check_data(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        let device = self.device(device_id)?;
        device.spaces.each(iter::once(data.addr()), device.name()).map(drop)
    }

    fn check_copy(&self, device_id: i32, copy: &CopyRequest) -> Result<(), Error> {
        self.devices().check_end(copy.from.device)?;
        self.devices().check_end(copy.to.device)?;
        prepare(self.device(device_id)?, copy).map(drop)
    }

    fn make(&self, _device_id: i32, _steps: &[Step<RecordedKernel>]) -> Result<(), Error> {
        Ok(())
    }

    fn replay(
        &self,
        device_id: i32,
        stream: Stream,
        recorded: &Arc<Recorded<Self>>,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        let device = self.device(device_id)?;
        let queue = device.stream(stream.into_raw().addr())?;
        queue.report()?;
        let mut commands = Vec::with_capacity(recorded.steps.len());
        let mut failing = Vec::new();
        for step in &recorded.steps {
            commands.push(match step.with(arguments) {
                Replayed::Copy(copy) => {
                    let (work, keep, copying) = prepare(device, &copy)?;
                    // Before anything is recorded: it is not copied, and the batch fails (I.1).
                    if device.health.takes_failure() {
                        failing.push(work);
                        continue;
                    }
                    (work, keep, Command::Copy(copying))
                }
                Replayed::Launch(RecordedKernel { loaded, position }, launch) => {
                    let built = loaded.built(device, queue.gpu())?;
                    let (work, keep, call) = built.prepare(*position, device, &launch)?;
                    (work, keep, Command::Launch(call))
                }
            });
        }
        for work in failing {
            queue.fail_later(work, "a test requested it")?;
        }
        queue.record_all(commands, |recorded, command| match command {
            Command::Copy(Copying { from, to, size_bytes }) => {
                queue.gpu().copy(recorded.commands, from, to, size_bytes);
                Ok(())
            }
            Command::Launch(call) => call.record(recorded),
        })
    }
}
