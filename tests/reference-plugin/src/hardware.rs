//! The devices of one host: what its device API, its loader and its functions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use chipdock_plugin_api::{Error, ErrorKind, HostRef, HostState, bail, ensure};

use crate::fault;
use crate::memory::Memory;
use crate::stream::{Queue, Streams};
use crate::timer::Marks;

/// How many devices there are.
pub(crate) const DEVICES_COUNT: i32 = 2;

/// One device. What is queued holds it, but no stream.
pub(crate) struct Device {
    pub(crate) memory: Memory,
    pub(crate) marks: Marks,
    id: i32,
    is_lost: AtomicBool,
    fails_next_copy: AtomicBool,
    is_out_of_memory_next: AtomicBool,
}

impl Device {
    fn new(id: i32) -> Self {
        Self {
            memory: Memory::new(id),
            marks: Marks::default(),
            id,
            is_lost: AtomicBool::new(false),
            fails_next_copy: AtomicBool::new(false),
            is_out_of_memory_next: AtomicBool::new(false),
        }
    }

    /// Answers `DeviceLost` while it is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        // P7.6: told once, it is as if nothing had been.
        let is_lost = match fault::is("device-lost-forgotten") {
            true => self.is_lost.swap(false, Ordering::AcqRel),
            false => self.is_lost.load(Ordering::Acquire),
        };
        ensure!(!is_lost, ErrorKind::DEVICE_LOST, "device reference:{} is lost: open it again", self.id);
        Ok(())
    }

    /// Whether the copy that is queued now fails later; once for each time that it was asked for.
    pub(crate) fn takes_failure(&self) -> bool {
        self.fails_next_copy.swap(false, Ordering::AcqRel)
    }

    /// Lets the next copy that is queued fail after the return.
    pub(crate) fn fail_next_copy(&self) {
        self.fails_next_copy.store(true, Ordering::Release);
    }

    /// Lets the next data space be the one too many.
    pub(crate) fn out_of_memory_next(&self) {
        self.is_out_of_memory_next.store(true, Ordering::Release);
    }

    /// The failure that was asked for, once.
    pub(crate) fn check_injected_out_of_memory(&self) -> Result<(), Error> {
        ensure!(
            !self.is_out_of_memory_next.swap(false, Ordering::AcqRel),
            ErrorKind::OUT_OF_MEMORY,
            "device reference:{}: no memory is left, as was asked for; ask again",
            self.id
        );
        Ok(())
    }
}

/// Both devices and their streams.
pub(crate) struct Hardware {
    device_type: AtomicI32,
    devices: Vec<(Arc<Device>, Streams)>,
    is_shut_down: AtomicBool,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        static HOSTS_COUNT: AtomicUsize = AtomicUsize::new(0);
        // P10.7: one host is all that it expects.
        if HOSTS_COUNT.fetch_add(1, Ordering::Relaxed) > 0 && fault::is("crash-on-second-host") {
            std::process::abort();
        }
        Self {
            device_type: AtomicI32::new(0),
            devices: (0..DEVICES_COUNT).map(|id| (Arc::new(Device::new(id)), Streams::new(id))).collect(),
            is_shut_down: AtomicBool::new(false),
        }
    }
}

impl Hardware {
    /// The number that the host gave the kind of device.
    pub(crate) fn device_type(&self) -> i32 {
        self.device_type.load(Ordering::Acquire)
    }

    /// Says which number the host gave.
    pub(crate) fn set_device_type(&self, device_type: i32) {
        self.device_type.store(device_type, Ordering::Release);
    }

    fn entry(&self, device_id: i32) -> Result<&(Arc<Device>, Streams), Error> {
        let device = usize::try_from(device_id).ok().and_then(|id| self.devices.get(id));
        let Some(device) = device else {
            bail!(
                ErrorKind::VALUE_ERROR,
                "device reference:{device_id}: expected an id from 0 to {}, there are {DEVICES_COUNT} devices",
                DEVICES_COUNT - 1
            );
        };
        Ok(device)
    }

    /// A device, lost or not.
    pub(crate) fn device_even_lost(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        self.entry(device_id).map(|(device, _)| device)
    }

    /// A device that is not lost.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let device = self.device_even_lost(device_id)?;
        device.check()?;
        Ok(device)
    }

    /// The streams of a device, lost or not.
    pub(crate) fn streams(&self, device_id: i32) -> Result<&Streams, Error> {
        self.entry(device_id).map(|(_, streams)| streams)
    }

    /// The marks of a device, lost or not.
    pub(crate) fn marks(&self, device_id: i32) -> Result<&Marks, Error> {
        self.device_even_lost(device_id).map(|device| &device.marks)
    }

    /// Loses a device: what is queued fails, and so does every call until it is opened again.
    pub(crate) fn lose(&self, device_id: i32) -> Result<(), Error> {
        self.device_even_lost(device_id)?.is_lost.store(true, Ordering::Release);
        Ok(())
    }

    /// Opens a device again. What failed until now, and what was to fail, is forgotten (I.4).
    pub(crate) fn reopen(&self, device_id: i32) -> Result<(), Error> {
        let (device, streams) = self.entry(device_id)?;
        for queue in streams.all() {
            let _ = queue.sync();
        }
        for flag in [&device.fails_next_copy, &device.is_out_of_memory_next, &device.is_lost] {
            flag.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Whether the plugin was shut down for the host.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.is_shut_down.load(Ordering::Acquire)
    }

    fn queues(&self) -> impl Iterator<Item = Arc<Queue>> {
        self.devices.iter().flat_map(|(_, streams)| streams.all())
    }

    /// Does what is queued, ends every thread; the first failure that nobody was told is the answer.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        self.is_shut_down.store(true, Ordering::Release);
        let mut first = Ok(());
        for queue in self.queues() {
            // P10.5: what is queued is not done.
            let closed = queue.close(fault::is("shutdown-does-not-drain"));
            if first.is_ok() {
                first = closed;
            }
        }
        first
    }
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // There is nobody left to be told of a failure.
        let _ = self.shut_down();
    }
}
