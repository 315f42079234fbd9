//! Interface `timeline` 1: events of the driver, for which streams and the host wait.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use chipdock_plugin_api::kit::{Events, TimelineTable};
use chipdock_plugin_api::timeline::{TIMELINE, Timelines};
use chipdock_plugin_api::{Context, Error, Stream, register_interface};

use crate::hardware::Hardware;
use crate::timer::Event;

/// First and longest time between two looks at an event: the driver has no wait that ends.
const LOOKS: (Duration, Duration) = (Duration::from_micros(5), Duration::from_millis(1));

register_interface!("device_api.cuda", TIMELINE, |context: &Context| -> Box<dyn Timelines> {
    Box::new(context.state::<Hardware>())
});

impl Events for Hardware {
    type Event = Arc<Event>;

    fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Arc<Event>>, &str), Error> {
        let device = self.device(device_id)?;
        Ok((&device.timelines, &device.name))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id)?.check()
    }

    fn check_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        self.device(device_id)?.stream(stream.into_raw()).map(drop)
    }

    fn record(&self, device_id: i32, stream: Stream) -> Result<Arc<Event>, Error> {
        let device = self.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        device.checked(Event::record_untimed(&device.context()?, stream.as_deref())).map(Arc::new)
    }

    fn wait_on(&self, device_id: i32, stream: Stream, event: &Arc<Event>) -> Result<(), Error> {
        let device = self.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        device.checked(event.delay(stream.as_deref()))
    }

    fn is_reached(&self, device_id: i32, event: &Arc<Event>) -> Result<bool, Error> {
        let device = self.device(device_id)?;
        device.check()?;
        device.checked(event.is_reached())
    }

    fn wait_for(&self, device_id: i32, event: &Arc<Event>, most: Duration) -> Result<(), Error> {
        let (mut next, longest) = LOOKS;
        let begin = Instant::now();
        while !Events::is_reached(self, device_id, event)? && begin.elapsed() < most {
            thread::sleep(next);
            next = (next * 2).min(longest);
        }
        Ok(())
    }
}
