//! Interface `graph` 1: a list of copies and launches, which a replay queues without looking at
//! anything but its arguments again.

use std::ffi::c_void;
use std::iter;
use std::sync::Arc;

use chipdock_plugin_api::graph::{GRAPH, Graphs};
use chipdock_plugin_api::kit::{GraphTable, Recorded, Recorder, Replayed, Step};
use chipdock_plugin_api::{Context, CopyRequest, Error, Stream, register_interface};

use crate::device_api::queue_copy;
use crate::hardware::Hardware;
use crate::loader::RecordedKernel;
use crate::stream::Part;

register_interface!("device_api.opencl", GRAPH, |context: &Context| -> Box<dyn Graphs> {
    Box::new(context.state::<Hardware>())
});

impl Recorder for Hardware {
    type Kernel = RecordedKernel;
    type Made = ();

    fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error> {
        let device = self.devices.get(device_id)?;
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
        self.recorded_ends(device_id, copy).map(drop)
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
        for step in &recorded.steps {
            match step.with(arguments) {
                Replayed::Copy(copy) => {
                    let (from, to) = self.recorded_ends(device_id, &copy)?;
                    queue_copy(device, (&queue, Part::OfReplay), &from, &to, copy.size_bytes)?;
                }
                Replayed::Launch(kernel, launch) => kernel.replay(device, &queue, &launch)?,
            }
        }
        queue.flush()
    }
}
