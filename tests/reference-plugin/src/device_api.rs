//! `device_api.reference`: memory, copies and streams of two devices.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::graph::Graphs;
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Any, CopyEnd, CopyRequest, DataSpaceRequest, DeviceApi, Error, ErrorKind, Shape, Stream, attribute, bail,
};

use crate::fault;
use crate::graph::ReferenceGraphs;
use crate::hardware::{DEVICES_COUNT, Device, Hardware};
use crate::memory::{Block, MEMORY_BYTES, Owner};
use crate::timeline::ReferenceTimelines;

/// Name of the devices: `device_api.reference`, and `--device reference:0`.
pub(crate) const NAME: &str = "reference";

/// Maximum number of threads in a block.
pub(crate) const THREADS_PER_BLOCK_MAX: i64 = 1024;
/// Maximum size of a block's shared memory, in bytes.
pub(crate) const SHARED_MEMORY_BYTES_MAX: i64 = 48 << 10;
/// Number of threads in a warp.
pub(crate) const WARP_SIZE: i64 = 32;
/// Name of the hardware in compilers.
pub(crate) const ARCH: &str = "reference-2";

/// The device API of one host.
pub(crate) struct ReferenceDeviceApi(Arc<Hardware>, ReferenceTimelines, ReferenceGraphs);

/// An end of a copy, resolved when the copy is queued.
enum End {
    Host(*mut u8),
    Device(Arc<Device>, Arc<Block>, usize),
}

// SAFETY: host memory is the caller's until the copy is done (D.6), whatever thread copies it.
unsafe impl Send for End {}
// SAFETY: host memory is the caller's until the copy is done (D.6), whatever thread copies it.
unsafe impl Sync for End {}

/// A copy, resolved when it is queued.
pub(crate) struct Copying {
    device_id: i32,
    from: End,
    to: End,
    size: usize,
    /// Whether it is to fail (I.1).
    pub(crate) fails: bool,
}

impl Copying {
    /// Copies.
    pub(crate) fn run(&self) -> Result<(), Error> {
        let Self { device_id, from, to, size, fails } = self;
        from.check()?;
        to.check()?;
        if *fails {
            bail!(
                ErrorKind::IO,
                "the copy of {size} bytes failed on reference:{device_id}, as was asked for"
            );
        }
        let mut bytes = from.read(*size)?;
        // D.34: one byte more than asked for.
        if fault::is("copy-one-byte-long") {
            bytes.push(0xEE);
            if to.write(&bytes).is_ok() {
                return Ok(());
            }
            bytes.pop();
        }
        to.write(&bytes)
    }
}

impl End {
    fn check(&self) -> Result<(), Error> {
        match self {
            Self::Host(_) => Ok(()),
            Self::Device(device, ..) => device.check(),
        }
    }

    fn read(&self, size: usize) -> Result<Vec<u8>, Error> {
        match self {
            // SAFETY: live host memory of that size until the copy is done (D.6).
            Self::Host(address) => Ok(unsafe { std::slice::from_raw_parts(*address, size) }.to_vec()),
            Self::Device(_, block, offset) => block.read(*offset, size),
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            // SAFETY: live host memory of that size until the copy is done (D.6); the bytes are our
            // own, so they do not overlap.
            Self::Host(address) => unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), *address, bytes.len()) },
            Self::Device(_, block, offset) => return block.write(*offset, bytes),
        }
        Ok(())
    }
}

impl Hardware {
    fn end(&self, end: &CopyEnd, size_bytes: u64) -> Result<End, Error> {
        if end.is_host() {
            return Ok(End::Host(end.address()));
        }
        self.devices.check_end(end.device)?;
        let device = self.device(end.device.device_id)?;
        let (block, offset) = device.memory.range(end.data.addr(), end.offset_bytes, size_bytes)?;
        Ok(End::Device(Arc::clone(device), block, offset))
    }

    /// Resolves a copy: looks handles up, and checks ranges.
    pub(crate) fn resolve(&self, copy: &CopyRequest) -> Result<Copying, Error> {
        let (mut source, mut destination) = (copy.from, copy.to);
        // D.33: the range begins where the data space does.
        if fault::is("copy-ignores-source-offset") {
            source.offset_bytes = 0;
        }
        if fault::is("copy-ignores-destination-offset") {
            destination.offset_bytes = 0;
        }
        let from = self.end(&source, copy.size_bytes)?;
        let to = self.end(&destination, copy.size_bytes)?;
        let device_id = if source.is_host() { destination.device.device_id } else { source.device.device_id };
        Ok(Copying { device_id, from, to, size: wrong_size(copy.size_bytes as usize), fails: false })
    }
}

impl ReferenceDeviceApi {
    /// Makes the device API of a host's hardware.
    pub(crate) fn new(hardware: Arc<Hardware>) -> Self {
        let graphs = ReferenceGraphs::new(Arc::clone(&hardware));
        Self(Arc::clone(&hardware), ReferenceTimelines::new(hardware), graphs)
    }

    fn number(&self, device_id: i32, key: &str) -> Result<Option<i64>, Error> {
        Ok(Some(match key {
            attribute::MAX_THREADS_PER_BLOCK => THREADS_PER_BLOCK_MAX,
            attribute::WARP_SIZE => WARP_SIZE,
            attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES => SHARED_MEMORY_BYTES_MAX,
            attribute::MAX_CLOCK_RATE_KHZ => 1_000_000,
            attribute::MULTI_PROCESSOR_COUNT | attribute::PHYSICAL_CORE_COUNT => 1,
            attribute::MAX_REGISTERS_PER_BLOCK => 65_536,
            attribute::API_VERSION => 1,
            attribute::L1_CACHE_SIZE_BYTES => 32 << 10,
            attribute::L2_CACHE_SIZE_BYTES => 1 << 20,
            attribute::L3_CACHE_SIZE_BYTES => 4 << 20,
            attribute::CACHE_LINE_SIZE_BYTES => 64,
            attribute::TOTAL_GLOBAL_MEMORY_BYTES => MEMORY_BYTES.cast_signed(),
            attribute::AVAILABLE_GLOBAL_MEMORY_BYTES => {
                self.0.device(device_id)?.memory.available_bytes().cast_signed()
            }
            attribute::IMAGE_PITCH_ALIGNMENT => 64,
            _ => return Ok(None),
        }))
    }
}

/// Returns the number of bytes that a copy with an injected fault moves.
fn wrong_size(size: usize) -> usize {
    match fault::planted() {
        // D.33: the last byte stays.
        "copy-one-byte-short" if size > 1 => size - 1,
        // D.36: whole words alone.
        "copy-rounds-to-words" if size > 4 => size / 4 * 4,
        // D.33: at most a megabyte at once.
        "copy-stops-at-a-page" => size.min(4096),
        _ => size,
    }
}

impl DeviceApi for ReferenceDeviceApi {
    fn registered_as(&self, device_type: i32) {
        self.0.devices.set_device_type(device_type);
    }

    fn device_count(&self) -> Result<i32, Error> {
        Ok(DEVICES_COUNT)
    }

    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error> {
        if key == attribute::EXIST {
            return Ok(Some(Any::from((0..DEVICES_COUNT).contains(&device_id))));
        }
        self.0.device(device_id)?;
        Ok(match key {
            attribute::DEVICE_NAME => Some(Any::from(format!("Reference device {device_id}"))),
            attribute::VENDOR_NAME => Some(Any::from("Chipdock")),
            attribute::CHECKED_HANDLES => Some(Any::from(true)),
            attribute::COMPUTE_VERSION => Some(Any::from("2.0")),
            attribute::ARCH => Some(Any::from(ARCH)),
            attribute::DRIVER_VERSION => Some(Any::from(env!("CARGO_PKG_VERSION"))),
            attribute::MAX_THREAD_DIMENSIONS => Some(Any::from(Shape::new(&[1024, 1024, 64]))),
            attribute::MAX_GRID_DIMENSIONS => {
                Some(Any::from(Shape::new(&[i64::from(i32::MAX), 65_535, 65_535])))
            }
            _ => self.number(device_id, key)?.map(Any::from),
        })
    }

    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error> {
        let device = self.0.device(device_id)?;
        device.health.check_memory(&device.name)?;
        // Exposed where it is an address: the host reaches such memory by it.
        device.memory.allocate(request, Owner::DeviceApi).map(ptr::with_exposed_provenance_mut)
    }

    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        let device = self.0.device_even_lost(device_id)?;
        device.memory.free(data.addr())?;
        device.check()
    }

    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error> {
        let device = self.0.device(device_id)?;
        if copy.from.is_host() && copy.to.is_host() {
            bail!(ErrorKind::UNSUPPORTED, "neither end of the copy lives on a reference device");
        }
        let queue = self.0.streams(device_id)?.get(stream.into_raw().addr())?;
        let mut copying = self.0.resolve(copy)?;
        copying.fails = device.health.takes_failure();
        queue.push(Box::new(move || copying.run()))
    }

    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        self.0.device(device_id)?;
        let handle = self.0.streams(device_id)?.create();
        Ok(Stream::from_raw(ptr::without_provenance_mut(handle)))
    }

    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        self.0.streams(device_id)?.free(stream.into_raw().addr())?;
        self.0.device(device_id).map(drop)
    }

    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        // What is queued may still touch the host's memory: it is waited for even when the device
        // is lost.
        let done = self.0.streams(device_id)?.get(stream.into_raw().addr())?.sync();
        self.0.device(device_id)?;
        done
    }

    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        self.0.device(device_id)?;
        self.0.streams(device_id)?.order(from.into_raw().addr(), to.into_raw().addr())
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        // N.28: copies do not know it.
        (!fault::is("copies-know-no-timeline")).then_some(&self.1)
    }

    fn graphs(&self) -> Option<&dyn Graphs> {
        // N.41: copies do not know it.
        (!fault::is("copies-know-no-graph")).then_some(&self.2)
    }

    fn shutdown(&self) -> Result<(), Error> {
        self.0.shut_down()
    }
}
