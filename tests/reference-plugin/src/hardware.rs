//! The devices of one host, shared by its device API, its loader and its functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_plugin_api::kit::{
    Devices, GraphTable, HandleKind, Health, Table, TimelineTable, first_failure,
};
use chipdock_plugin_api::{Error, HostRef, HostState};

use crate::device_api::NAME;
use crate::fault;
use crate::memory::Memory;
use crate::stream::Streams;
use crate::timeline::Reached;
use crate::timer::Point;

/// Number of devices.
pub(crate) const DEVICES_COUNT: i32 = 2;

/// One device. Queued work keeps it alive, but keeps no stream alive.
pub(crate) struct Device {
    pub(crate) memory: Memory,
    pub(crate) marks: Table<Arc<Point>>,
    pub(crate) timelines: TimelineTable<Reached>,
    pub(crate) graphs: GraphTable<Hardware>,
    pub(crate) health: Health,
    pub(crate) name: Arc<str>,
}

impl Device {
    /// Returns `DeviceLost` while the device is lost.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let checked = self.health.check(&self.name);
        // P7.6: told once, it is as if nothing had been.
        if checked.is_err() && fault::is("device-lost-forgotten") {
            self.health.restore();
        }
        checked
    }
}

/// A device and its streams.
pub(crate) struct OpenDevice {
    pub(crate) device: Arc<Device>,
    pub(crate) streams: Streams,
}

impl OpenDevice {
    fn new(id: i32) -> Self {
        let name: Arc<str> = format!("device {NAME}:{id}").into();
        Self {
            device: Arc::new(Device {
                memory: Memory::new(&name),
                marks: Table::new(HandleKind::Mark),
                timelines: TimelineTable::default(),
                graphs: GraphTable::default(),
                health: Health::default(),
                name: Arc::clone(&name),
            }),
            streams: Streams::new(name),
        }
    }

    /// Completes queued work and ends every thread; returns the first failure that was not reported
    /// yet.
    fn close(&self) -> Result<(), Error> {
        // P10.5: what is queued is not done.
        let drops_work = fault::is("shutdown-does-not-drain");
        first_failure(self.streams.all().iter().map(|queue| queue.close(drops_work)))
    }
}

/// Both devices and their streams.
pub(crate) struct Hardware {
    pub(crate) devices: Devices<OpenDevice>,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        static HOSTS_COUNT: AtomicUsize = AtomicUsize::new(0);
        // P10.7: one host is all that it expects.
        if HOSTS_COUNT.fetch_add(1, Ordering::Relaxed) > 0 && fault::is("crash-on-second-host") {
            std::process::abort();
        }
        Self { devices: Devices::new(NAME, 0, || Ok((0..DEVICES_COUNT).map(OpenDevice::new).collect())) }
    }
}

impl Hardware {
    /// Returns a device, lost or not.
    pub(crate) fn device_even_lost(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        self.devices.get(device_id).map(|entry| &entry.device)
    }

    /// Returns a device that is not lost.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let device = self.device_even_lost(device_id)?;
        device.check()?;
        Ok(device)
    }

    /// Returns the streams of a device, lost or not.
    pub(crate) fn streams(&self, device_id: i32) -> Result<&Streams, Error> {
        self.devices.get(device_id).map(|entry| &entry.streams)
    }

    /// Opens a device again. Earlier failures, and failures that were to be injected, are discarded
    /// (I.4).
    pub(crate) fn reopen(&self, device_id: i32) -> Result<(), Error> {
        let OpenDevice { device, streams } = &**self.devices.get(device_id)?;
        for queue in streams.all() {
            let _ = queue.sync();
        }
        device.health.restore();
        Ok(())
    }

    /// Completes queued work on both devices and ends every thread.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        self.devices.shut_down(OpenDevice::close)
    }
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // There is nobody left to be told of a failure.
        let _ = self.shut_down();
    }
}
