//! Interface `timeline` 1: markers of the driver, for whose events other queues and the host wait.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use chipdock_plugin_api::kit::{Events, TimelineTable};
use chipdock_plugin_api::timeline::{TIMELINE, Timelines};
use chipdock_plugin_api::{Context, Error, Stream, register_interface};

use crate::driver::{Event, Progress};
use crate::hardware::Hardware;

/// First and longest time between two looks at an event: OpenCL has no wait that ends.
const LOOKS: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

register_interface!("device_api.opencl", TIMELINE, |context: &Context| -> Box<dyn Timelines> {
    Box::new(context.state::<Hardware>())
});

impl Events for Hardware {
    type Event = Arc<Event>;

    fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Arc<Event>>, &str), Error> {
        let device = self.devices.get(device_id)?;
        Ok((&device.timelines, device.name()))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id).map(drop)
    }

    fn check_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        self.device(device_id)?.stream(stream.into_raw().addr()).map(drop)
    }

    fn record(&self, device_id: i32, stream: Stream) -> Result<Arc<Event>, Error> {
        self.device(device_id)?.stream(stream.into_raw().addr())?.mark().map(Arc::new)
    }

    fn wait_on(&self, device_id: i32, stream: Stream, event: &Arc<Event>) -> Result<(), Error> {
        let queue = self.device(device_id)?.stream(stream.into_raw().addr())?;
        match event.progress() {
            Progress::Pending => queue.wait_on(event),
            // One that failed would fail what waits for it.
            Progress::Done | Progress::Failed(_) => Ok(()),
        }
    }

    fn is_reached(&self, device_id: i32, event: &Arc<Event>) -> Result<bool, Error> {
        self.check_device(device_id)?;
        if event.progress() == Progress::Pending {
            return Ok(false);
        }
        // The status alone does not make memory visible, a wait does; a failure is the stream's.
        let _ = event.wait();
        Ok(true)
    }

    fn wait_for(&self, device_id: i32, event: &Arc<Event>, most: Duration) -> Result<(), Error> {
        let (mut next, longest) = LOOKS;
        let begin = Instant::now();
        while event.progress() == Progress::Pending && begin.elapsed() < most {
            thread::sleep(next);
            next = (next * 2).min(longest);
        }
        self.check_device(device_id)
    }
}
