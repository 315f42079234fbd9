//! The devices of one host: what its device API and its loader share.

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use chipdock_plugin_api::{Error, ErrorKind, HostRef, HostState, bail};

use cudarc::driver::sys::CUdevice_attribute_enum as A;

use crate::driver::{Context, Driver, Failure, Stream};
use crate::memory::Spaces;
use crate::timer::Marks;

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

/// Set in every handle of a stream; no address of a process has it.
const STREAM_BIT: usize = 1 << 61;
/// Handles differ in the whole process, and are never given out again: the driver's own are.
static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);

/// A handle that no other has or will have, for a kind of thing that `bit` stands for.
pub(crate) fn new_handle(bit: usize) -> *mut c_void {
    ptr::without_provenance_mut(bit | (LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1) << 4)
}

/// One device of a host. Its primary context is retained on first use, and as long as anything holds it.
pub(crate) struct Device {
    id: i32,
    driver: &'static Driver,
    opened: RwLock<Opened>,
    streams: RwLock<Streams>,
    pub(crate) marks: Marks,
}

#[derive(Default)]
struct Opened {
    context: Option<Arc<Context>>,
    /// Why nothing works on it any more: the first failure of that sort (P7.6).
    lost: Option<String>,
}

#[derive(Default)]
struct Streams {
    live: HashMap<usize, Arc<Stream>>,
    /// Gone with the context that they were of, and not freed yet (D.40).
    gone: HashSet<usize>,
}

impl Device {
    fn new(driver: &'static Driver, id: i32) -> Self {
        Self { id, driver, opened: RwLock::default(), streams: RwLock::default(), marks: Marks::default() }
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
        let opened = self.opened.read().unwrap_or_else(PoisonError::into_inner);
        let cause = match (&opened.lost, &opened.context) {
            (Some(cause), _) => cause.as_str(),
            (None, Some(context)) if context.is_gone() => "another host of this process opened it again",
            _ => return Ok(()),
        };
        bail!(
            ErrorKind::DEVICE_LOST,
            "device cuda:{} is lost since {cause}. The driver refuses every further call, and what the device's memory \
             holds is gone: open it again (`reset`), or end the process and start it again",
            self.id
        )
    }

    /// Its context, if something used it before.
    pub(crate) fn opened(&self) -> Option<Arc<Context>> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner).context.clone()
    }

    /// Its context, retained by the first call.
    pub(crate) fn context(&self) -> Result<Arc<Context>, Error> {
        self.check()?;
        if let Some(context) = self.opened() {
            return Ok(context);
        }
        let context = Arc::new(self.told(Context::retain(self.driver, self.id))?);
        let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread's, if it was faster; this one is released then.
        Ok(Arc::clone(opened.context.get_or_insert(context)))
    }

    /// Opens the device again if it is lost (D.40); `forget` lets go of the data spaces that are gone.
    pub(crate) fn reset(&self, forget: impl FnOnce()) -> Result<(), Error> {
        // What failed, and nobody was told of, shows only now.
        let _ = self.drain();
        if self.check().is_ok() {
            return Ok(());
        }
        {
            let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(context) = &opened.context {
                context.reset().map_err(|failure| {
                    let what = format_args!("cuda:{} cannot be opened again; end the process", self.id);
                    Error::new(ErrorKind::DEVICE_LOST, failure.text).context(what)
                })?;
            }
            *opened = Opened::default();
        }
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<usize> = streams.live.drain().map(|(handle, _)| handle).collect();
        streams.gone.extend(gone);
        drop(streams);
        forget();
        // Whether it works is known when something was asked of it.
        self.told(self.context()?.memory_info()).map(drop)
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
                let mut opened = self.opened.write().unwrap_or_else(PoisonError::into_inner);
                opened.lost.get_or_insert_with(|| failure.to_string());
                drop(opened);
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
        Ok(self.keep_stream(stream))
    }

    /// Keeps a stream and answers its handle.
    pub(crate) fn keep_stream(&self, stream: Stream) -> *mut c_void {
        let handle = new_handle(STREAM_BIT);
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        streams.live.insert(handle.addr(), Arc::new(stream));
        handle
    }

    /// The stream of that handle; nothing for null, which is the default stream.
    pub(crate) fn stream(&self, handle: *mut c_void) -> Result<Option<Arc<Stream>>, Error> {
        if handle.is_null() {
            return Ok(None);
        }
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        streams.live.get(&handle.addr()).cloned().map(Some).ok_or_else(|| self.unknown_stream(handle))
    }

    /// Whether a stream is gone with the context that it was of, and not freed yet.
    pub(crate) fn is_gone(&self, handle: *mut c_void) -> bool {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).gone.contains(&handle.addr())
    }

    /// Forgets a stream, which ends with the last that holds it; nothing for one that is gone already.
    pub(crate) fn take_stream(&self, handle: *mut c_void) -> Result<Option<Arc<Stream>>, Error> {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        match streams.live.remove(&handle.addr()) {
            None if streams.gone.remove(&handle.addr()) => Ok(None),
            stream => stream.map(Some).ok_or_else(|| self.unknown_stream(handle)),
        }
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
            streams.live.values().cloned().collect()
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

    /// Opens a device again if it is lost.
    pub(crate) fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id)?.reset(|| self.spaces.forget(device_id))
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
