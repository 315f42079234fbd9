//! `device_api.cuda`: memory, copies and streams of NVIDIA's GPUs over the driver's interface.
//!
//! * The default stream is the driver's legacy one: it waits for the work that other libraries of
//!   the process queue on their blocking streams, and they wait for it. Streams that are created
//!   here do not wait for it.
//! * A handle is an address. It is looked up in the data spaces of this host, then with the driver,
//!   which knows memory that other code of the process allocated: such memory may be an end of a
//!   copy and an argument of a kernel.
//! * A failure of queued work poisons the context of the process; calls fail with `DeviceLost` from
//!   then on, until `reset` makes the driver drop the context, for every host and library of the
//!   process.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::interface::Reset;
use chipdock_plugin_api::kit::NotAdded;
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceKind, DataSpaceRequest, DeviceApi, Error, ErrorKind, Shape, Stream,
    attribute, bail, ensure,
};
use cudarc::driver::sys::CUdevice_attribute_enum as A;

use crate::driver::{Driver, Memory, MemoryKind, Route};
use crate::hardware::{Device, Hardware, PointerLocation};

/// Name of the devices: `device_api.cuda`, and `--device cuda:0`.
pub(crate) const NAME: &str = "cuda";
/// DLPack's device type.
pub(crate) const DEVICE_TYPE: i32 = 2;
/// Alignment of every data space: `cuMemAlloc` guarantees it, the other two kinds return pages.
const ALIGNMENT_BYTES: u64 = 256;
/// A key of this plugin: maximum shared memory per block for kernels that opt in to more than the
/// default, in bytes.
const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN_BYTES: &str = "cuda.max_shared_memory_per_block_optin_bytes";
/// A key of this plugin: whether the blocks of a launch may wait for each other.
const COOPERATIVE_LAUNCH: &str = "cuda.cooperative_launch";
/// The file in which the kernel part of the driver reports its version.
const DRIVER_VERSION_FILE: &str = "/sys/module/nvidia/version";

/// The device API of one host.
pub(crate) struct CudaDeviceApi(pub(crate) Arc<Hardware>);

/// An end of a copy, after look-up.
#[derive(Clone, Copy)]
struct End {
    address: usize,
    place: PointerLocation,
}

/// Interface `reset` 1 (D.40).
pub(crate) struct CudaReset(pub(crate) Arc<Hardware>);

impl Reset for CudaReset {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        self.0.device(device_id)?.reset()
    }
}

impl CudaDeviceApi {
    fn end(&self, end: &CopyEnd, size_bytes: u64) -> Result<End, Error> {
        if end.is_host() {
            return Ok(End { address: end.address().expose_provenance(), place: PointerLocation::Host });
        }
        self.0.devices.check_end(end.device)?;
        let device = self.0.device(end.device.device_id)?;
        let found = self.0.range(device, end.data.addr())?;
        let start = found.start_of(end.offset_bytes, size_bytes, &device.name)?;
        Ok(End { address: found.base + start, place: found.value })
    }

    fn text(device: &Device, key: &str) -> Result<Option<String>, Error> {
        let (driver, id) = (device.driver(), device.id());
        Ok(Some(match key {
            attribute::DEVICE_NAME => device.checked(driver.device_name(id))?,
            attribute::VENDOR_NAME => "NVIDIA".to_owned(),
            attribute::COMPUTE_VERSION => {
                device.capability().map(|(major, minor)| format!("{major}.{minor}"))?
            }
            attribute::ARCH => arch(device.capability()?),
            attribute::DRIVER_VERSION => driver_version(driver)?,
            _ => return Ok(None),
        }))
    }

    fn number(device: &Device, key: &str) -> Result<Option<i64>, Error> {
        let (driver, id) = (device.driver(), device.id());
        let asked = match key {
            attribute::MAX_THREADS_PER_BLOCK => A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            attribute::WARP_SIZE => A::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
            attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES => {
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK
            }
            MAX_SHARED_MEMORY_PER_BLOCK_OPTIN_BYTES => {
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
            }
            attribute::MAX_CLOCK_RATE_KHZ => A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
            attribute::MULTI_PROCESSOR_COUNT => A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
            attribute::MAX_REGISTERS_PER_BLOCK => A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
            attribute::L2_CACHE_SIZE_BYTES => A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
            attribute::API_VERSION => return device.checked(driver.version()).map(|it| Some(it.into())),
            attribute::TOTAL_GLOBAL_MEMORY_BYTES => {
                return device.checked(driver.total_memory_bytes(id)).map(|it| Some(it.cast_signed()));
            }
            attribute::AVAILABLE_GLOBAL_MEMORY_BYTES => {
                let (free, _) = device.checked(device.context()?.memory_info())?;
                return Ok(Some(free.cast_signed()));
            }
            _ => return Ok(None),
        };
        let value = device.checked(driver.attribute(id, asked))?;
        // The driver returns 0 for values that it does not report, such as the clock rate of newer
        // devices.
        Ok((value > 0).then_some(i64::from(value)))
    }

    fn extents(device: &Device, axes: [A; 3]) -> Result<Any, Error> {
        let mut extents = [0_i64; 3];
        for (extent, axis) in extents.iter_mut().zip(axes) {
            *extent = i64::from(device.checked(device.driver().attribute(device.id(), axis))?);
        }
        Ok(Any::from(Shape::new(&extents)))
    }
}

/// The compilers' name for the architecture of a compute capability.
pub(crate) fn arch((major, minor): (i32, i32)) -> String {
    format!("sm_{major}{minor}")
}

/// The version of the driver's package; if the system does not report it, that of its interface.
fn driver_version(driver: &Driver) -> Result<String, Error> {
    let version = std::fs::read_to_string(DRIVER_VERSION_FILE).unwrap_or_default();
    if !version.trim().is_empty() {
        return Ok(version.trim().to_owned());
    }
    let version = driver.version().map_err(crate::driver::Failure::into_error)?;
    Ok(format!("CUDA {}.{}", version / 1000, version % 1000 / 10))
}

/// Registers memory that `allocate` gets from the driver as a data space.
pub(crate) fn allocate(
    device: &Device,
    request: &DataSpaceRequest<'_>,
    allocate: impl Fn() -> Result<Memory, Error>,
) -> Result<*mut c_void, Error> {
    // Addresses of removed data spaces: while they are allocated the driver must return others, so
    // the loop ends.
    let mut held = Vec::new();
    loop {
        let memory = allocate()
            .map_err(|error| error.context(format_args!("{} bytes are asked for", request.size_bytes)))?;
        let address = memory.address();
        ensure!(
            (address as u64).is_multiple_of(request.alignment_bytes),
            ErrorKind::UNSUPPORTED,
            "{}: expected memory at a multiple of {} bytes, found {address:#x}; ask for less",
            device.name,
            request.alignment_bytes
        );
        match device.spaces.add_at(address, memory, request.size_bytes) {
            Ok(handle) => return Ok(ptr::with_exposed_provenance_mut(handle)),
            Err(NotAdded::Gone(memory)) => held.push(memory),
            Err(NotAdded::Overlaps(_)) => bail!(
                ErrorKind::INTERNAL,
                "{}: the driver gave memory at {address:#x}, where a data space is",
                device.name
            ),
        }
    }
}

/// Checks scope, size and alignment of a request, and returns the size in bytes.
pub(crate) fn checked_size(device: &Device, request: &DataSpaceRequest<'_>) -> Result<usize, Error> {
    let name = &device.name;
    ensure!(
        matches!(request.scope, "" | "global"),
        ErrorKind::UNSUPPORTED,
        "{name}: expected memory of the scope `global`, found scope `{}`",
        request.scope
    );
    // No address space is that large, whatever the alignment.
    let Ok(size_bytes) = isize::try_from(request.size_bytes).map(isize::cast_unsigned) else {
        bail!(
            ErrorKind::OUT_OF_MEMORY,
            "{name}: {} bytes are asked for, more than there are addresses",
            request.size_bytes
        );
    };
    ensure!(
        request.alignment_bytes <= ALIGNMENT_BYTES,
        ErrorKind::UNSUPPORTED,
        "{name}: expected an alignment of at most {ALIGNMENT_BYTES} bytes, found {}",
        request.alignment_bytes
    );
    Ok(size_bytes)
}

impl DeviceApi for CudaDeviceApi {
    fn registered_as(&self, device_type: i32) {
        self.0.devices.set_device_type(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        self.0.devices.count()
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from(self.0.device(device_id).is_ok())));
        }
        let device = self.0.device(device_id)?;
        device.check()?;
        let driver = device.driver();
        Ok(match key {
            attribute::CHECKED_HANDLES => Some(Any::from(true)),
            COOPERATIVE_LAUNCH => {
                let has = driver.attribute(device_id, A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
                Some(Any::from(device.checked(has)? != 0))
            }
            attribute::MAX_THREAD_DIMENSIONS => Some(Self::extents(
                device,
                [
                    A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                    A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                    A::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
                ],
            )?),
            attribute::MAX_GRID_DIMENSIONS => Some(Self::extents(
                device,
                [
                    A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                    A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                    A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
                ],
            )?),
            _ => match Self::text(device, key)? {
                Some(text) => Some(Any::from(text)),
                None => Self::number(device, key)?.map(Any::from),
            },
        })
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let size_bytes = checked_size(device, request)?;
        let kind = match request.kind {
            DataSpaceKind::Device => MemoryKind::Device,
            DataSpaceKind::Pinned => MemoryKind::Pinned,
            DataSpaceKind::Unified => {
                // Without concurrent access the host may not touch it while anything at all runs on
                // the device.
                let has = device.checked(
                    device.driver().attribute(device_id, A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS),
                )?;
                ensure!(
                    has != 0,
                    ErrorKind::UNSUPPORTED,
                    "device cuda:{device_id}: the host cannot use managed memory while the device works; use kind 0 \
                     (device) or 1 (pinned)"
                );
                MemoryKind::Managed
            }
            DataSpaceKind::HostVisible => bail!(
                ErrorKind::UNSUPPORTED,
                "device cuda:{device_id} has no memory of its own that the host addresses; use kind 0 (device) or 3 \
                 (unified)"
            ),
            other => bail!(
                ErrorKind::UNSUPPORTED,
                "device cuda:{device_id} has no memory of kind {other:?}; use kind 0 (device)"
            ),
        };
        if size_bytes == 0 {
            return Ok(ptr::null_mut());
        }
        allocate(device, request, || device.checked(device.context()?.allocate(kind, size_bytes)))
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        // A data space that was lost with its context was freed then (D.40).
        let memory = device.spaces.take(data.addr(), &device.name)?;
        let Some(memory) = memory.and_then(Arc::into_inner) else { return device.check() };
        let freed = device.checked(memory.free());
        device.check().and(freed)
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        let from = self.end(&copy.from, copy.size_bytes)?;
        let to = self.end(&copy.to, copy.size_bytes)?;
        let (from_context, to_context);
        let route = match (from.place, to.place) {
            (PointerLocation::Host, PointerLocation::Host) => {
                bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on a device of {NAME}")
            }
            (PointerLocation::Host, PointerLocation::Device(id)) if id == device_id => Route::ToDevice,
            (PointerLocation::Device(id), PointerLocation::Host) if id == device_id => Route::ToHost,
            (PointerLocation::Device(one), PointerLocation::Device(other)) if one == other => Route::Within,
            (PointerLocation::Device(one), PointerLocation::Device(other)) => {
                (from_context, to_context) =
                    (self.0.device(one)?.context()?, self.0.device(other)?.context()?);
                Route::Peer(&to_context, &from_context)
            }
            _ => Route::Any,
        };
        let size_bytes = copy.size_bytes as usize;
        // SAFETY: D.6, the ranges live until the stream was synchronised and do not overlap; those
        // that are not host memory were looked up above.
        let queued =
            unsafe { device.context()?.copy(route, to.address, from.address, size_bytes, stream.as_deref()) };
        device.checked(queued)
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        let device = self.0.device(device_id)?;
        let stream = device.checked(device.context()?.create_stream())?;
        Ok(Stream::from_raw(ptr::without_provenance_mut(device.streams.add(stream))))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        let stream = device.streams.take(stream.into_raw().addr(), &device.name)?;
        let Some(stream) = stream else { return device.check() };
        device.checked(device.context()?.synchronize(Some(&stream)))
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        // A caller that waits for all streams need not wait for a destroyed one.
        if device.streams.is_gone(stream.into_raw().addr()) {
            return Ok(());
        }
        let stream = device.stream(stream.into_raw())?;
        match device.opened() {
            Some(context) => device.checked(context.synchronize(stream.as_deref())),
            // Nothing was ever queued, so no context is created for this.
            None => Ok(()),
        }
    }

    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        device.check()?;
        let is_same = from == to;
        let (from, to) = (device.stream(from.into_raw())?, device.stream(to.into_raw())?);
        match device.opened() {
            Some(context) if !is_same => device.checked(context.order(from.as_deref(), to.as_deref())),
            _ => Ok(()),
        }
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        Some(&self.0)
    }

    fn graphs(&self) -> Option<&dyn Graphs> {
        Some(&self.0)
    }

    fn shutdown(&self) -> Result<(), Error> {
        let drained = self.0.devices.shut_down(Device::drain);
        // What was recorded keeps modules, which keep the devices.
        self.0.devices.found().iter().for_each(|device| device.graphs.abandon());
        drained
    }
}
