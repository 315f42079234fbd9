//! The devices of one host, shared by its device API, its loader and its functions.

use std::sync::Arc;

use chipdock_plugin_api::kit::{
    Budget, Devices, GraphTable, HandleKind, Health, OnceBuilt, Spaces, Table, TimelineTable, first_failure,
};
use chipdock_plugin_api::{Error, HostRef, HostState};

use crate::attributes::Limits;
use crate::discovery::{Found, discover};
use crate::driver::{CommandQueue, Context, DeviceId, Event};
use crate::error::OrFailed;
use crate::memory::Space;
use crate::stream::Queue;
use crate::turns::{self, Turns};

/// Name of the devices: `device_api.opencl`, and `--device opencl:0`.
pub(crate) const NAME: &str = "opencl";
/// DLPack's device type.
pub(crate) const DEVICE_TYPE: i32 = 4;

/// Driver objects of a device, created on first use.
pub(crate) struct Opened {
    pub(crate) context: Arc<Context>,
    /// The default stream.
    pub(crate) default: Arc<Queue>,
    /// The stream for operations without a stream: mapping, and the far end of copies between
    /// devices.
    pub(crate) transfer: Arc<Queue>,
}

/// One device. Its context is created by the first call that needs one.
pub(crate) struct Device {
    pub(crate) found: Found,
    pub(crate) health: Health,
    pub(crate) spaces: Spaces<Space>,
    pub(crate) budget: Budget,
    pub(crate) marks: Table<Event>,
    pub(crate) timelines: TimelineTable<Arc<Event>>,
    pub(crate) graphs: GraphTable<Hardware>,
    streams: Table<Queue>,
    turns: Option<Turns>,
    id: i32,
    name: Arc<str>,
    opened: OnceBuilt<Opened>,
}

impl Device {
    fn new(id: i32, found: Found) -> Self {
        Self {
            name: format!("device {NAME}:{id} ({})", found.name).into(),
            turns: turns::are_needed(&found.platform_name, &found.limits.driver_version).then(Turns::default),
            health: Health::default(),
            spaces: Spaces::default(),
            budget: Budget::new(found.limits.memory_bytes),
            marks: Table::new(HandleKind::Mark),
            timelines: TimelineTable::default(),
            graphs: GraphTable::default(),
            streams: Table::new(HandleKind::Stream),
            id,
            opened: OnceBuilt::default(),
            found,
        }
    }

    /// Number of the device.
    pub(crate) fn id(&self) -> i32 {
        self.id
    }

    /// Name of the device in errors.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> DeviceId {
        self.found.id
    }

    /// Limits of the device.
    pub(crate) fn limits(&self) -> &Limits {
        &self.found.limits
    }

    /// The turns of its kernels, if they must take turns.
    pub(crate) fn turns(&self) -> Option<&Turns> {
        self.turns.as_ref()
    }

    /// The context and queues of the device, created by the first call.
    pub(crate) fn open(&self) -> Result<&Opened, Error> {
        self.opened.get_or_build(|| {
            let what = || format!("{}: opening it", self.name);
            let context = Context::new(self.raw()).or_failed(what)?;
            let queue = || {
                let raw = context.queue(self.raw(), false).or_failed(what);
                raw.map(|raw| Arc::new(Queue::new(raw, &self.name)))
            };
            let (default, transfer) = (queue()?, queue()?);
            Ok(Opened { context: Arc::new(context), default, transfer })
        })
    }

    /// The stream with that handle; 0 is the default stream.
    pub(crate) fn stream(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        match handle {
            0 => Ok(Arc::clone(&self.open()?.default)),
            _ => self.streams.get(handle, &self.name),
        }
    }

    /// Creates a stream.
    pub(crate) fn create_stream(&self) -> Result<usize, Error> {
        let raw = self.open()?.context.queue(self.raw(), false);
        let raw = raw.or_failed(|| format!("{}: making a stream", self.name))?;
        Ok(self.streams.add(Queue::new(raw, &self.name)))
    }

    /// Adopts a queue that other code created as a stream and returns its handle.
    pub(crate) fn adopt_stream(&self, raw: CommandQueue) -> usize {
        self.streams.add(Queue::adopted(raw, &self.name))
    }

    /// A stream whose events record times, if the driver supports that: from now on its native
    /// queue does not change.
    pub(crate) fn timed_stream(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        let (queue, context) = (self.stream(handle)?, &self.open()?.context);
        queue.be_timed(|| context.queue(self.raw(), true))?;
        Ok(queue)
    }

    /// Frees a stream after its work.
    pub(crate) fn free_stream(&self, handle: usize) -> Result<(), Error> {
        self.streams.take(handle, &self.name)?.map_or(Ok(()), |queue| queue.sync())
    }

    /// Fails with `DeviceLost` if the device is lost.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.health.check(&self.name)
    }

    /// All streams of the device.
    fn queues(&self) -> Vec<Arc<Queue>> {
        let mut queues = self.streams.values();
        queues.extend(self.opened.get().map(|opened| Arc::clone(&opened.default)));
        queues
    }

    /// An event that has already failed, if the copy being queued is to fail later; once for each
    /// requested failure.
    pub(crate) fn injected_failure(&self) -> Result<Option<Event>, Error> {
        if !self.health.takes_failure() {
            return Ok(None);
        }
        let what = || format!("{}: a copy that is to fail", self.name);
        let event = self.open()?.context.user_event().or_failed(what)?;
        Ok(Some(event))
    }

    /// Waits for queued work; returns the first failure that was not yet reported.
    fn drain(&self) -> Result<(), Error> {
        first_failure(self.queues().iter().map(|queue| queue.sync()))
    }

    /// Opens the device again. Earlier failures, and requested ones, are dropped (I.4).
    pub(crate) fn reopen(&self) {
        let _ = self.drain();
        self.health.restore();
    }
}

/// The devices of one host, discovered by the first call that needs one.
pub(crate) struct Hardware {
    pub(crate) devices: Devices<Device>,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        let search = || Ok((0..).zip(discover()?).map(|(id, found)| Device::new(id, found)).collect());
        Self { devices: Devices::new(NAME, DEVICE_TYPE, search) }
    }
}

impl Hardware {
    /// A device that is not lost.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let device = self.devices.get(device_id)?;
        device.check()?;
        Ok(device)
    }

    /// Waits for the work queued on every device.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        let drained = self.devices.shut_down(Device::drain);
        // What was recorded keeps modules, which keep this.
        self.devices.found().iter().for_each(|device| device.graphs.abandon());
        drained
    }
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // A failure can no longer be reported.
        let _ = self.shut_down();
        self.devices.found().iter().for_each(|device| device.spaces.abandon());
    }
}
