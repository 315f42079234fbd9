//! Interface `timeline` 1: points of streams, for which other streams and the host wait (VK-D21).

use std::time::Duration;

use chipdock_plugin_api::kit::{Events, TimelineTable};
use chipdock_plugin_api::timeline::{TIMELINE, Timelines};
use chipdock_plugin_api::{Context, Error, Stream, register_interface};

use crate::device::{Hardware, Reached};

register_interface!("device_api.vulkan", TIMELINE, |context: &Context| -> Box<dyn Timelines> {
    Box::new(context.state::<Hardware>())
});

impl Events for Hardware {
    type Event = Reached;

    fn timelines(&self, device_id: i32) -> Result<(&TimelineTable<Reached>, &str), Error> {
        let device = self.devices().get(device_id)?;
        Ok((&device.timelines, device.name()))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id).map(drop)
    }

    fn check_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        self.device(device_id)?.stream(stream.into_raw().addr()).map(drop)
    }

    fn record(&self, device_id: i32, stream: Stream) -> Result<Reached, Error> {
        self.device(device_id)?.stream(stream.into_raw().addr())?.reached()
    }

    fn wait_on(&self, device_id: i32, stream: Stream, event: &Reached) -> Result<(), Error> {
        self.device(device_id)?.stream(stream.into_raw().addr())?.wait_on(event)
    }

    fn is_reached(&self, device_id: i32, event: &Reached) -> Result<bool, Error> {
        let is_reached = event.is_reached();
        self.check_device(device_id)?;
        Ok(is_reached)
    }

    fn wait_for(&self, device_id: i32, event: &Reached, most: Duration) -> Result<(), Error> {
        event.wait(most);
        self.check_device(device_id)
    }
}
