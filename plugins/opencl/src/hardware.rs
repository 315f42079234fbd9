//! The devices of one host: what its device API, its loader and its functions share.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use chipdock_plugin_api::{ChipdockDevice, Error, ErrorKind, HostRef, HostState, bail, ensure};

use crate::attributes::Limits;
use crate::discovery::{Found, discover};
use crate::driver::{CommandQueue, Context, DeviceId, Event};
use crate::error::OrFailed;
use crate::memory::Memory;
use crate::stream::{Queue, Streams, lock};
use crate::timer::Marks;
use crate::turns::{self, Turns};

/// The name of the devices: `device_api.opencl`, and `--device opencl:0`.
pub(crate) const NAME: &str = "opencl";
/// DLPack's number for them.
pub(crate) const DEVICE_TYPE: i32 = 4;

/// What a device has once it was used.
pub(crate) struct Opened {
    pub(crate) context: Arc<Context>,
    /// The default stream.
    pub(crate) default: Arc<Queue>,
    /// For what is ordered on no stream: mapping, and the far end of copies between devices.
    pub(crate) transfer: Arc<Queue>,
}

/// One device. Its context is created by the first call that needs one.
pub(crate) struct Device {
    pub(crate) found: Found,
    pub(crate) memory: Memory,
    pub(crate) marks: Marks,
    streams: Streams,
    turns: Option<Turns>,
    id: i32,
    name: Arc<str>,
    opened: OnceLock<Opened>,
    opening: Mutex<()>,
    is_lost: AtomicBool,
    fails_next_copy: AtomicBool,
    is_out_of_memory_next: AtomicBool,
}

impl Device {
    fn new(id: i32, found: Found) -> Self {
        Self {
            name: format!("device {NAME}:{id} ({})", found.name).into(),
            turns: turns::are_needed(&found.platform_name, &found.limits.driver_version).then(Turns::default),
            found,
            memory: Memory::default(),
            marks: Marks::default(),
            streams: Streams::default(),
            id,
            opened: OnceLock::new(),
            opening: Mutex::default(),
            is_lost: AtomicBool::new(false),
            fails_next_copy: AtomicBool::new(false),
            is_out_of_memory_next: AtomicBool::new(false),
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> i32 {
        self.id
    }

    /// How errors name it.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The driver's handle.
    pub(crate) fn raw(&self) -> DeviceId {
        self.found.id
    }

    /// What it has.
    pub(crate) fn limits(&self) -> &Limits {
        &self.found.limits
    }

    /// The turns of its kernels, where they have to take any.
    pub(crate) fn turns(&self) -> Option<&Turns> {
        self.turns.as_ref()
    }

    /// Its context and queues.
    pub(crate) fn open(&self) -> Result<&Opened, Error> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let _opening = lock(&self.opening);
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let what = || format!("{}: opening it", self.name);
        let context = Context::new(self.raw()).or_failed(what)?;
        let queue = || {
            let raw = context.queue(self.raw(), false).or_failed(what);
            raw.map(|raw| Arc::new(Queue::new(raw, &self.name)))
        };
        let (default, transfer) = (queue()?, queue()?);
        Ok(self.opened.get_or_init(|| Opened { context: Arc::new(context), default, transfer }))
    }

    /// The stream of that handle; 0 is the default.
    pub(crate) fn stream(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        match handle {
            0 => Ok(Arc::clone(&self.open()?.default)),
            _ => self.streams.get(handle, &self.name),
        }
    }

    /// Makes a stream.
    pub(crate) fn create_stream(&self) -> Result<usize, Error> {
        let raw = self.open()?.context.queue(self.raw(), false);
        let raw = raw.or_failed(|| format!("{}: making a stream", self.name))?;
        Ok(self.streams.add(Queue::new(raw, &self.name)))
    }

    /// Keeps somebody else's queue as a stream and answers its handle.
    pub(crate) fn adopt_stream(&self, raw: CommandQueue) -> usize {
        self.streams.add(Queue::adopted(raw, &self.name))
    }

    /// A stream whose events tell times, as far as the driver can that: from now on its native queue is the same.
    pub(crate) fn timed_stream(&self, handle: usize) -> Result<Arc<Queue>, Error> {
        let (queue, context) = (self.stream(handle)?, &self.open()?.context);
        queue.be_timed(|| context.queue(self.raw(), true))?;
        Ok(queue)
    }

    /// Frees a stream after its work.
    pub(crate) fn free_stream(&self, handle: usize) -> Result<(), Error> {
        self.streams.remove(handle, &self.name)?.sync()
    }

    /// Answers `DeviceLost` while it is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        ensure!(
            !self.is_lost.load(Ordering::Acquire),
            ErrorKind::DEVICE_LOST,
            "{} is lost: open it again",
            self.name
        );
        Ok(())
    }

    /// Every stream that there is.
    fn queues(&self) -> Vec<Arc<Queue>> {
        let mut queues = self.streams.all();
        queues.extend(self.opened.get().map(|opened| Arc::clone(&opened.default)));
        queues
    }

    /// An event that has failed already, where the copy that is queued now is to fail later; once for each time that it was
    /// asked for.
    pub(crate) fn injected_failure(&self) -> Result<Option<Event>, Error> {
        if !self.fails_next_copy.swap(false, Ordering::AcqRel) {
            return Ok(None);
        }
        let what = || format!("{}: a copy that is to fail", self.name);
        let event = self.open()?.context.user_event().or_failed(what)?;
        Ok(Some(event))
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
            "{}: no memory is left, as was asked for; ask again",
            self.name
        );
        Ok(())
    }

    /// Loses the device: every call fails until it is opened again.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Release);
    }

    /// Opens the device again. What failed until now, and what was to fail, is forgotten (I.4).
    pub(crate) fn reopen(&self) {
        for queue in self.queues() {
            queue.forget();
        }
        for flag in [&self.fails_next_copy, &self.is_out_of_memory_next, &self.is_lost] {
            flag.store(false, Ordering::Release);
        }
    }
}

/// The devices of one host.
pub(crate) struct Hardware {
    devices: OnceLock<Result<Vec<Arc<Device>>, Error>>,
    device_type: AtomicI32,
    is_shut_down: AtomicBool,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        Self {
            devices: OnceLock::new(),
            device_type: AtomicI32::new(DEVICE_TYPE),
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

    /// The devices, looked for by the first call.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is none; what was tried, and what brings one.
    pub(crate) fn devices(&self) -> Result<&[Arc<Device>], Error> {
        let devices = self.devices.get_or_init(|| {
            let found = discover()?;
            Ok((0..).zip(found).map(|(id, found)| Arc::new(Device::new(id, found))).collect())
        });
        match devices {
            Ok(devices) => Ok(devices),
            Err(error) => Err(error.clone()),
        }
    }

    /// A device, lost or not.
    pub(crate) fn device_even_lost(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let devices = self.devices()?;
        let device = usize::try_from(device_id).ok().and_then(|id| devices.get(id));
        let Some(device) = device else {
            bail!(
                ErrorKind::VALUE_ERROR,
                "device {NAME}:{device_id}: expected an id from 0 to {}, there are {} devices",
                devices.len() as i64 - 1,
                devices.len()
            );
        };
        Ok(device)
    }

    /// A device that is not lost.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Arc<Device>, Error> {
        let device = self.device_even_lost(device_id)?;
        device.check()?;
        Ok(device)
    }

    /// Whether a device is one of these.
    pub(crate) fn is_own(&self, device: ChipdockDevice) -> bool {
        device.device_type == self.device_type()
    }

    /// Whether the plugin was shut down for the host.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.is_shut_down.load(Ordering::Acquire)
    }

    /// Waits for what is queued; the first failure that nobody was told is the answer.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        self.is_shut_down.store(true, Ordering::Release);
        let Some(Ok(devices)) = self.devices.get() else { return Ok(()) };
        let mut first = Ok(());
        for device in devices {
            for queue in device.queues() {
                let done = queue.sync();
                if first.is_ok() {
                    first = done;
                }
            }
        }
        first
    }
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // There is nobody left to be told of a failure.
        let _ = self.shut_down();
        if let Some(Ok(devices)) = self.devices.get() {
            devices.iter().for_each(|device| device.memory.clear());
        }
    }
}
