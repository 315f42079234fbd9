//! The devices of one host, shared by its device API, its loader and its functions.

use std::sync::{Arc, OnceLock, RwLock};

use chipdock_plugin_api::kit::{
    Budget, Devices, GraphTable, HandleKind, Health, Spaces, Table, TimelineTable, first_failure, read, write,
};
use chipdock_plugin_api::{Error, HostRef, HostState};

use super::discovery::discover;
use super::mark::Mark;
use super::memory::Space;
use super::reached::Reached;
use super::stream::{Queue, Shared};
use crate::driver::{Found, Gpu, Limits, Means, VALIDATION};

/// Name of the devices: `device_api.vulkan`, and `--device vulkan:0`.
pub(crate) const NAME: &str = "vulkan";
/// DLPack's device type.
pub(crate) const DEVICE_TYPE: i32 = 7;

/// A logical device with its streams, created on first use. After the device was lost and opened
/// again there is another.
pub(crate) struct Opened {
    shared: Arc<Shared>,
    /// The default stream.
    pub(crate) default: Arc<Queue>,
    /// The stream for the far end of copies between devices.
    pub(super) transfer: Arc<Queue>,
}

impl Opened {
    /// The logical device, which whatever is made from it keeps alive.
    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.shared.gpu
    }
}

/// A stream by handle.
struct Stream(Arc<Queue>);

/// One device. Its logical device is created by the first call that needs one.
pub(crate) struct Device {
    found: Found,
    pub(crate) health: Health,
    pub(crate) spaces: Spaces<Space>,
    pub(crate) budget: Budget,
    pub(crate) marks: Table<Mark>,
    pub(crate) timelines: TimelineTable<Reached>,
    pub(crate) graphs: GraphTable<Hardware>,
    streams: Table<Stream>,
    id: i32,
    name: Arc<str>,
    means: Means,
    opened: RwLock<Option<Arc<Opened>>>,
}

impl Device {
    fn new(id: i32, found: Found, means: Means) -> Self {
        Self {
            name: format!("device {NAME}:{id} ({})", found.limits.properties.device_name).into(),
            health: Health::default(),
            spaces: Spaces::default(),
            budget: Budget::new(found.limits.memory_bytes),
            marks: Table::new(HandleKind::Mark),
            timelines: TimelineTable::default(),
            graphs: GraphTable::default(),
            streams: Table::new(HandleKind::Stream),
            id,
            means,
            opened: RwLock::default(),
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

    /// Limits of the device.
    pub(crate) fn limits(&self) -> &Limits {
        &self.found.limits
    }

    /// What discovery found.
    #[cfg(test)]
    pub(crate) fn found(&self) -> &Found {
        &self.found
    }

    /// The logical device and its streams, created by the first call.
    pub(crate) fn open(&self) -> Result<Arc<Opened>, Error> {
        if let Some(opened) = &*read(&self.opened) {
            return Ok(Arc::clone(opened));
        }
        let mut slot = write(&self.opened);
        if let Some(opened) = &*slot {
            return Ok(Arc::clone(opened));
        }
        let gpu = Arc::new(Gpu::new(&self.found, &self.name, self.means)?);
        let shared = Arc::new(Shared::new(gpu));
        let (default, transfer) = (Queue::new(&shared)?, Queue::new(&shared)?);
        Ok(Arc::clone(slot.insert(Arc::new(Opened { shared, default, transfer }))))
    }

    /// The stream with that handle; 0 is the default stream.
    pub(crate) fn stream(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        match handle {
            0 => Ok(Arc::clone(&self.open()?.default)),
            _ => Ok(Arc::clone(&self.streams.get(handle, &self.name)?.0)),
        }
    }

    /// Creates a stream.
    pub(crate) fn create_stream(&self) -> Result<usize, Error> {
        Ok(self.streams.add(Stream(Queue::new(&self.open()?.shared)?)))
    }

    /// Frees a stream after its work.
    pub(crate) fn free_stream(&self, handle: usize) -> Result<(), Error> {
        self.streams.take(handle, &self.name)?.map_or(Ok(()), |stream| stream.0.sync())
    }

    /// Fails with `DeviceLost` if the device is lost.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(cause) = read(&self.opened).as_ref().and_then(|opened| opened.gpu().lost()) {
            self.health.lose(cause);
        }
        self.health.check(&self.name)
    }

    /// Waits for queued work; returns the first failure that was not yet reported.
    fn drain(&self) -> Result<(), Error> {
        let mut queues: Vec<_> = self.streams.values().iter().map(|stream| Arc::clone(&stream.0)).collect();
        queues.extend(read(&self.opened).as_ref().map(|opened| Arc::clone(&opened.default)));
        first_failure(queues.iter().map(|queue| queue.sync()))
    }

    /// Opens the device again if it is lost (D.40): what was made on it is gone.
    pub(crate) fn reopen(&self) {
        let _ = self.drain();
        if self.check().is_ok() {
            return;
        }
        // The old logical device is destroyed once nothing that was made from it lives.
        let old = write(&self.opened).take();
        self.streams.abandon();
        self.marks.abandon();
        self.timelines.abandon();
        self.graphs.abandon();
        self.spaces.abandon();
        self.health.restore();
        drop(old);
    }
}

/// The devices of one host, discovered by the first call that needs one.
pub(crate) struct Hardware {
    host: HostRef,
    /// The setting `validation`, read before the first search: no lock is held while the host is
    /// asked (P10.11).
    validation: Arc<OnceLock<Result<bool, Error>>>,
    devices: Devices<Device>,
}

impl HostState for Hardware {
    fn new(host: HostRef) -> Self {
        Self::with(host, None, Means::ALL)
    }
}

impl Hardware {
    /// With a value of the setting `validation`, else that of the host.
    pub(crate) fn with(host: HostRef, validation: Option<bool>, means: Means) -> Self {
        Self::over(host, validation, means, discover)
    }

    /// As [`Self::with`], where `discover` finds the devices with that value of the setting.
    pub(crate) fn over(
        host: HostRef,
        validation: Option<bool>,
        means: Means,
        discover: impl Fn(bool) -> Result<Vec<Found>, Error> + Send + Sync + 'static,
    ) -> Self {
        let slot: Arc<OnceLock<Result<bool, Error>>> = Arc::default();
        if let Some(value) = validation {
            let _ = slot.set(Ok(value));
        }
        let setting = Arc::clone(&slot);
        let search = move || {
            let found = discover(setting.get().cloned().unwrap_or(Ok(false))?)?;
            Ok((0..).zip(found).map(|(id, found)| Device::new(id, found, means)).collect())
        };
        Self { host, validation: slot, devices: Devices::new(NAME, DEVICE_TYPE, search) }
    }

    /// The devices; the first call reads the setting that the search needs.
    pub(crate) fn devices(&self) -> &Devices<Device> {
        if self.validation.get().is_none() {
            let value = self.host.setting(&VALIDATION).map(|value| value.unwrap_or(false));
            // Of two threads the first counts; both read the same (S.8).
            let _ = self.validation.set(value);
        }
        &self.devices
    }

    /// Records the device type that the device API received.
    pub(crate) fn set_device_type(&self, device_type: i32) {
        // Asks the host for nothing, since this is called during `init` (P10.12).
        self.devices.set_device_type(device_type);
    }

    /// A device that is not lost.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let device = self.devices().get(device_id)?;
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
