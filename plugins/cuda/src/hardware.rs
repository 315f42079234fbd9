//! The devices of one host: what its device API and its loader share.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use chipdock_plugin_api::{Error, ErrorKind, HostRef, HostState, bail};

use cudarc::driver::sys::CUdevice_attribute_enum as A;

use crate::driver::{Context, Driver, Failure, Stream};
use crate::memory::Spaces;

/// Locks; every change under these locks is whole before anything can panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a launch may be at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Threads of a block.
    pub(crate) threads: u64,
    /// Threads of a block by axis.
    pub(crate) block: [u64; 3],
    /// Blocks of a grid by axis.
    pub(crate) grid: [u64; 3],
    /// Shared memory of a block, in bytes.
    pub(crate) shared_bytes: u64,
    /// The same where a kernel asks for more.
    pub(crate) shared_optin_bytes: u64,
}

/// One device of a host. Its primary context is retained on first use, and as long as anything holds it.
pub(crate) struct Device {
    id: i32,
    driver: &'static Driver,
    context: OnceLock<Arc<Context>>,
    opening: Mutex<()>,
    /// Why nothing works on it any more: the first failure of that sort (P7.6).
    lost: OnceLock<String>,
    streams: RwLock<HashMap<usize, Arc<Stream>>>,
}

impl Device {
    fn new(driver: &'static Driver, id: i32) -> Self {
        Self {
            id,
            driver,
            context: OnceLock::new(),
            opening: Mutex::new(()),
            lost: OnceLock::new(),
            streams: RwLock::default(),
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> i32 {
        self.id
    }

    /// The driver.
    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// Answers `DeviceLost` when it is.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(cause) = self.lost.get() else { return Ok(()) };
        bail!(
            ErrorKind::DEVICE_LOST,
            "device cuda:{} is lost since {cause}. The driver refuses every further call of this process, and what the \
             device's memory holds is gone: end the process and start it again",
            self.id
        )
    }

    /// Its context, if something used it before.
    pub(crate) fn opened(&self) -> Option<&Arc<Context>> {
        self.context.get()
    }

    /// Its context, retained by the first call.
    pub(crate) fn context(&self) -> Result<&Arc<Context>, Error> {
        self.check()?;
        if self.context.get().is_none() {
            let _opening = lock(&self.opening);
            if self.context.get().is_none() {
                let context = self.told(Context::retain(self.driver, self.id))?;
                let _ = self.context.set(Arc::new(context));
            }
        }
        match self.context.get() {
            Some(context) => Ok(context),
            None => bail!(ErrorKind::INTERNAL, "the context of cuda:{} was not kept; this is a bug", self.id),
        }
    }

    fn attribute(&self, attribute: A) -> Result<i32, Error> {
        self.told(self.driver.attribute(self.id, attribute))
    }

    /// Its compute capability: major and minor.
    pub(crate) fn capability(&self) -> Result<(i32, i32), Error> {
        let major = self.attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        Ok((major, self.attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?))
    }

    /// What a launch may be at most.
    pub(crate) fn limits(&self) -> Result<Limits, Error> {
        let ask = |attribute| self.attribute(attribute).map(|value| u64::try_from(value).unwrap_or(0));
        Ok(Limits {
            threads: ask(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block: [
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            grid: [
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                ask(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_bytes: ask(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_optin_bytes: ask(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        })
    }

    /// What the driver answered, as an error of the boundary; keeps in mind when the device is lost.
    pub(crate) fn told<T>(&self, answer: Result<T, Failure>) -> Result<T, Error> {
        answer.map_err(|failure| {
            if failure.is_fatal() {
                let _ = self.lost.set(failure.to_string());
                if let Err(lost) = self.check() {
                    return lost;
                }
            }
            failure.into_error().context(format_args!("device cuda:{}", self.id))
        })
    }

    /// Makes a stream and answers its handle.
    pub(crate) fn create_stream(&self) -> Result<*mut c_void, Error> {
        let stream = self.told(self.context()?.create_stream())?;
        let handle = stream.handle();
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.insert(handle.addr(), Arc::new(stream));
        Ok(handle)
    }

    /// The stream of that handle; nothing for null, which is the default stream.
    pub(crate) fn stream(&self, handle: *mut c_void) -> Result<Option<Arc<Stream>>, Error> {
        if handle.is_null() {
            return Ok(None);
        }
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.get(&handle.addr()).cloned().map(Some).ok_or_else(|| self.unknown_stream(handle))
    }

    /// Forgets a stream, which ends with the last that holds it.
    pub(crate) fn take_stream(&self, handle: *mut c_void) -> Result<Arc<Stream>, Error> {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.remove(&handle.addr()).ok_or_else(|| self.unknown_stream(handle))
    }

    fn unknown_stream(&self, handle: *mut c_void) -> Error {
        let message = format!(
            "{handle:p} is no stream of cuda:{}: it was freed, or is another device's; expected one that this device \
             created, or null",
            self.id
        );
        Error::new(ErrorKind::WRONG_STATE, message)
    }

    /// Waits for everything that was queued through this host.
    fn drain(&self) -> Result<(), Error> {
        let Some(context) = self.opened() else { return Ok(()) };
        let streams: Vec<Arc<Stream>> = {
            let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
            streams.values().cloned().collect()
        };
        let mut first = self.told(context.synchronize(None));
        for stream in &streams {
            let drained = self.told(context.synchronize(Some(stream)));
            first = first.and(drained);
        }
        first
    }
}

/// The devices of one host, and their memory.
pub(crate) struct Hardware {
    device_type: AtomicI32,
    devices: OnceLock<Vec<Device>>,
    /// Data spaces, whatever device they are of: addresses are one space for all devices and the host.
    pub(crate) spaces: Spaces,
    is_shut_down: AtomicBool,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        Self {
            device_type: AtomicI32::new(0),
            devices: OnceLock::new(),
            spaces: Spaces::default(),
            is_shut_down: AtomicBool::new(false),
        }
    }
}

impl Hardware {
    /// The number of the kind of device.
    pub(crate) fn device_type(&self) -> i32 {
        self.device_type.load(Ordering::Acquire)
    }

    /// Says which number is in force.
    pub(crate) fn set_device_type(&self, device_type: i32) {
        self.device_type.store(device_type, Ordering::Release);
    }

    /// The devices, in the driver's order.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is no driver.
    pub(crate) fn devices(&self) -> Result<&[Device], Error> {
        let driver = Driver::get()?;
        let make = || (0..driver.devices_count()).map(|id| Device::new(driver, id)).collect();
        Ok(self.devices.get_or_init(make))
    }

    /// A device, lost or not.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Device, Error> {
        let devices = self.devices()?;
        match usize::try_from(device_id).ok().and_then(|id| devices.get(id)) {
            Some(device) => Ok(device),
            None => bail!(
                ErrorKind::VALUE_ERROR,
                "device cuda:{device_id}: expected an id from 0 up, there are {} devices",
                devices.len()
            ),
        }
    }

    /// Waits for what is queued; the first failure is the answer.
    pub(crate) fn shut_down(&self) -> Result<(), Error> {
        self.is_shut_down.store(true, Ordering::Release);
        let mut first = Ok(());
        for device in self.devices.get().into_iter().flatten() {
            first = first.and(device.drain());
        }
        first
    }
}
