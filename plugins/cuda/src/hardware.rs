//! The devices of one host, shared by its device API and its loader.

use std::ffi::c_void;
use std::sync::{Arc, RwLock};

use chipdock_plugin_api::kit::{
    Devices, GraphTable, HandleKind, Health, Located, Spaces, Table, TimelineTable, first_failure, read,
    write,
};
use chipdock_plugin_api::{Error, ErrorKind, HostRef, HostState};
use cudarc::driver::sys::CUdevice_attribute_enum as A;

use crate::device_api::{DEVICE_TYPE, NAME};
use crate::driver::{Context, Driver, Failure, Memory, MemoryKind, Stream};
use crate::timer::Event;

/// Limits of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Threads per block.
    pub(crate) threads: u64,
    /// Threads per block, by axis.
    pub(crate) block: [u64; 3],
    /// Blocks per grid, by axis.
    pub(crate) grid: [u64; 3],
    /// Shared memory per block, in bytes.
    pub(crate) shared_bytes: u64,
    /// Shared memory per block for kernels that opt in to more, in bytes.
    pub(crate) shared_optin_bytes: u64,
}

/// Memory that contains an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointerLocation {
    /// Host memory, for which its owner is responsible.
    Host,
    /// Memory of a device.
    Device(i32),
    /// Pinned or managed memory, which host and device address.
    Shared,
}

/// One device of a host. Its primary context is retained on first use, and as long as any value
/// refers to it.
pub(crate) struct Device {
    id: i32,
    pub(crate) name: String,
    driver: &'static Driver,
    context: RwLock<Option<Arc<Context>>>,
    pub(crate) health: Health,
    /// Data spaces, by address.
    pub(crate) spaces: Spaces<Memory>,
    pub(crate) streams: Table<Stream>,
    pub(crate) marks: Table<Event>,
    pub(crate) timelines: TimelineTable<Arc<Event>>,
    pub(crate) graphs: GraphTable<Hardware>,
}

impl Device {
    fn new(driver: &'static Driver, id: i32) -> Self {
        Self {
            id,
            name: format!("device {NAME}:{id}"),
            driver,
            context: RwLock::default(),
            health: Health::default(),
            spaces: Spaces::default(),
            streams: Table::new(HandleKind::Stream),
            marks: Table::new(HandleKind::Mark),
            timelines: TimelineTable::default(),
            graphs: GraphTable::default(),
        }
    }

    /// Number of the device.
    pub(crate) fn id(&self) -> i32 {
        self.id
    }

    /// The driver.
    pub(crate) fn driver(&self) -> &'static Driver {
        self.driver
    }

    /// Fails with `DeviceLost` if the device is lost.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.health.check(&self.name)?;
        let is_gone = read(&self.context).as_ref().is_some_and(|context| context.is_gone());
        if is_gone {
            self.health.lose("another host of this process opened it again");
            return self.health.check(&self.name);
        }
        Ok(())
    }

    /// The context of the device, if it was used before.
    pub(crate) fn opened(&self) -> Option<Arc<Context>> {
        read(&self.context).clone()
    }

    /// The context of the device, retained by the first call.
    pub(crate) fn context(&self) -> Result<Arc<Context>, Error> {
        self.check()?;
        if let Some(context) = self.opened() {
            return Ok(context);
        }
        let context = Arc::new(self.checked(Context::retain(self.driver, self.id))?);
        // If another thread was faster its context is used, and this one is released.
        Ok(Arc::clone(write(&self.context).get_or_insert(context)))
    }

    /// Opens the device again if it is lost (D.40); all resources on it are gone.
    pub(crate) fn reset(&self) -> Result<(), Error> {
        // Failures that were not yet reported show up only now.
        let _ = self.drain();
        if self.check().is_ok() {
            return Ok(());
        }
        {
            let mut kept = write(&self.context);
            if let Some(context) = &*kept {
                context.reset().map_err(|failure| {
                    let what = format_args!("{} cannot be opened again; end the process", self.name);
                    Error::new(ErrorKind::DEVICE_LOST, failure.text).context(what)
                })?;
            }
            *kept = None;
            self.health.restore();
        }
        self.streams.abandon();
        self.spaces.abandon();
        self.timelines.abandon();
        self.graphs.abandon();
        // A query shows whether the device works again.
        self.checked(self.context()?.memory_info()).map(drop)
    }

    fn attribute(&self, attribute: A) -> Result<i32, Error> {
        self.checked(self.driver.attribute(self.id, attribute))
    }

    /// Compute capability of the device: major and minor.
    pub(crate) fn capability(&self) -> Result<(i32, i32), Error> {
        let major = self.attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        Ok((major, self.attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?))
    }

    /// Limits of a launch on the device.
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

    /// Converts a driver failure to an error of the plugin interface; records that the device is
    /// lost if the failure is fatal.
    pub(crate) fn checked<T>(&self, answer: Result<T, Failure>) -> Result<T, Error> {
        answer.map_err(|failure| {
            if failure.is_fatal() {
                self.health.lose(&failure);
                if let Err(lost) = self.check() {
                    return lost;
                }
            }
            failure.into_error().context(&self.name)
        })
    }

    /// The stream with that handle; `None` for null, which is the default stream.
    pub(crate) fn stream(&self, handle: *mut c_void) -> Result<Option<Arc<Stream>>, Error> {
        if handle.is_null() {
            return Ok(None);
        }
        self.streams.get(handle.addr(), &self.name).map(Some)
    }

    /// Waits for all work that was queued through this host.
    pub(crate) fn drain(&self) -> Result<(), Error> {
        let Some(context) = self.opened() else { return Ok(()) };
        let first = self.checked(context.synchronize(None));
        let streams = self.streams.values();
        first_failure(
            std::iter::once(first)
                .chain(streams.iter().map(|stream| self.checked(context.synchronize(Some(stream))))),
        )
    }
}

/// The devices of one host, in the driver's order.
pub(crate) struct Hardware {
    pub(crate) devices: Devices<Device>,
}

impl HostState for Hardware {
    fn new(_host: HostRef) -> Self {
        let search = || {
            let driver = Driver::get()?;
            Ok((0..driver.devices_count()).map(|id| Device::new(driver, id)).collect())
        };
        Self { devices: Devices::new(NAME, DEVICE_TYPE, search) }
    }
}

impl Hardware {
    /// A device, whether lost or not.
    pub(crate) fn device(&self, device_id: i32) -> Result<&Device, Error> {
        self.devices.get(device_id).map(|device| &**device)
    }

    /// The memory that contains an address of a device: one of the host's data spaces, or memory
    /// that the driver knows.
    ///
    /// # Errors
    ///
    /// `WrongState`: there is none, or it belongs to another device.
    pub(crate) fn range(&self, device: &Device, address: usize) -> Result<Located<PointerLocation>, Error> {
        let place =
            |is_device| if is_device { PointerLocation::Device(device.id) } else { PointerLocation::Shared };
        let found = device.spaces.look(address, |found| Located {
            value: place(found.value.kind() == MemoryKind::Device),
            base: found.base,
            inner_bytes: found.inner_bytes,
            size_bytes: found.size_bytes,
        });
        if let Some(found) = found {
            return Ok(found);
        }
        // Devices and host share one address space: the driver may know memory of another device,
        // or memory already freed.
        let is_known = |other: &Arc<Device>| {
            other.spaces.is_gone(address) || other.spaces.look(address, |_| ()).is_some()
        };
        let known = match self.devices.found().iter().any(is_known) {
            true => None,
            false => device.context().ok().and_then(|context| context.find(address)),
        };
        match known {
            // Host and managed memory that other code allocated may belong to any device.
            Some(known) if known.device_id == device.id && known.base <= address => Ok(Located {
                value: place(!known.is_shared),
                base: known.base,
                inner_bytes: (address - known.base) as u64,
                size_bytes: known.size_bytes as u64,
            }),
            _ => Err(HandleKind::DataSpace.unknown(address, &device.name)),
        }
    }
}
