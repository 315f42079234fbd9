//! The trait of device APIs, and its shim.

use core::ffi::c_void;

use chipdock_abi as abi;
use chipdock_abi::{
    ChipdockAny, ChipdockCopy, ChipdockDataSpaceRequest, ChipdockDataType, ChipdockDevice, ChipdockDeviceApi,
    ChipdockStr,
};

use crate::graph::{Chain, Graphs, chain_of};
use crate::host::{write_any, write_out};
use crate::session::Registered;
use crate::text::str_in;
use crate::timeline::Timelines;
use crate::{Any, Error, ErrorKind, extension, timeline};

/// An ordered queue of a device: an opaque handle. Null is the default stream of a device and
/// always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Stream(*mut c_void);

// SAFETY: an opaque handle; only the device API uses what it refers to, and it may be called from
// any thread (P10).
unsafe impl Send for Stream {}
// SAFETY: an opaque handle; only the device API uses what it refers to, and it may be called from
// any thread (P10).
unsafe impl Sync for Stream {}

impl Stream {
    /// The default stream.
    pub const DEFAULT: Self = Self(core::ptr::null_mut());

    /// Makes a stream from its handle.
    #[must_use]
    pub const fn from_raw(handle: *mut c_void) -> Self {
        Self(handle)
    }

    /// Returns the handle.
    #[must_use]
    pub const fn into_raw(self) -> *mut c_void {
        self.0
    }
}

/// The kind of a data space's memory. Later versions add kinds; an unknown one is `Unsupported`
/// (D.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(i32)]
pub enum DataSpaceKind {
    /// Memory of the device itself.
    Device = abi::CHIPDOCK_DATA_SPACE_DEVICE,
    /// Page-locked host memory that the device copies from and to at full speed; the handle is its
    /// address.
    Pinned = abi::CHIPDOCK_DATA_SPACE_PINNED,
    /// Device memory that the host may read and write in place: at the handle, or at the address
    /// that interface `map` 1 returns ([`crate::map`], D.32).
    HostVisible = abi::CHIPDOCK_DATA_SPACE_HOST_VISIBLE,
    /// Memory that both sides address alike; the handle is the address.
    Unified = abi::CHIPDOCK_DATA_SPACE_UNIFIED,
}

impl DataSpaceKind {
    fn from_raw(kind: i32) -> Result<Self, Error> {
        Ok(match kind {
            abi::CHIPDOCK_DATA_SPACE_DEVICE => Self::Device,
            abi::CHIPDOCK_DATA_SPACE_PINNED => Self::Pinned,
            abi::CHIPDOCK_DATA_SPACE_HOST_VISIBLE => Self::HostVisible,
            abi::CHIPDOCK_DATA_SPACE_UNIFIED => Self::Unified,
            // P3.6: a value that a newer host knows and we do not.
            other => crate::bail!(
                ErrorKind::UNSUPPORTED,
                "data space kind {other} is not known to this plugin: use kind 0 (device)"
            ),
        })
    }
}

/// The request of [`DeviceApi::allocate_data_space`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DataSpaceRequest<'a> {
    /// Size in bytes; 0 is allowed.
    pub size_bytes: u64,
    /// Alignment in bytes, a power of two: the shim has checked it.
    pub alignment_bytes: u64,
    /// The element type, a hint; lanes 0 means unknown.
    pub dtype_hint: ChipdockDataType,
    /// The kind of memory.
    pub kind: DataSpaceKind,
    /// Memory scope; empty means `global`.
    pub scope: &'a str,
}

impl<'a> DataSpaceRequest<'a> {
    /// Makes a request for memory of that kind in the scope `global`, without a hint.
    #[must_use]
    pub const fn new(size_bytes: u64, alignment_bytes: u64, kind: DataSpaceKind) -> Self {
        Self { size_bytes, alignment_bytes, dtype_hint: NO_HINT, kind, scope: "" }
    }
}

/// The hint for elements of an unknown type.
const NO_HINT: ChipdockDataType = ChipdockDataType { code: 0, bits: 0, lanes: 0 };

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
pub struct CopyEnd {
    /// The device that `data` belongs to: one of this device API, or host memory.
    pub device: ChipdockDevice,
    /// The data space.
    pub data: *mut c_void,
    /// The start of the range, in bytes from `data`.
    pub offset_bytes: u64,
}

impl CopyEnd {
    /// Returns true for host memory, where `data` is an address.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.device.device_type == abi::CHIPDOCK_DEVICE_CPU
    }

    /// Returns the address of the range, for data spaces that are addresses.
    #[must_use]
    pub fn address(&self) -> *mut u8 {
        self.data.cast::<u8>().wrapping_add(self.offset_bytes as usize)
    }
}

/// The request of [`DeviceApi::copy_data`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CopyRequest {
    /// The source.
    pub from: CopyEnd,
    /// The destination.
    pub to: CopyEnd,
    /// The size in bytes; 0 touches no memory.
    pub size_bytes: u64,
    /// The element type, a hint; lanes 0 means unknown.
    pub dtype_hint: ChipdockDataType,
}

impl CopyRequest {
    /// Makes a request for a copy without a hint.
    #[must_use]
    pub const fn new(from: CopyEnd, to: CopyEnd, size_bytes: u64) -> Self {
        Self { from, to, size_bytes, dtype_hint: NO_HINT }
    }
}

/// A device API: memory, copies and streams of one kind of device; its key is `device_api.<name>`.
///
/// Every method may be called from any thread at once. `device_id` counts from 0; an id that no
/// device has is `ErrorKind::VALUE_ERROR` with the number of devices in its text. The vendor's
/// library is opened by the first call, not by the constructor (P10.3); if it is missing, every
/// call returns `ErrorKind::UNAVAILABLE` with the names that were tried and the package that
/// provides it (P12.2).
pub trait DeviceApi: Send + Sync + 'static {
    /// Receives the device type that is used: the declared one, or the number that the host
    /// assigned by name.
    ///
    /// Called once, during `init`, before anything else.
    fn registered_as(&self, device_type: i32) {
        let _ = device_type;
    }

    /// Counts the devices that are present now; 0 is no error.
    ///
    /// # Errors
    ///
    /// * `Unavailable`: there can be none, for instance because a driver is missing; the message
    ///   names it.
    fn device_count(&self) -> Result<i32, Error>;

    /// Returns the attribute `key` of a device, or `None` if the key is unknown.
    ///
    /// Keys, their types and units are in [`crate::attribute`]; a plugin may have keys of its own.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is no such device. For the key [`crate::attribute::EXIST`] the answer
    ///   is `false` instead.
    /// * `DeviceLost`, `Unavailable`: the device cannot be queried.
    fn attribute(&self, device_id: i32, key: &str) -> Result<Option<Any>, Error>;

    /// Allocates a data space and returns its handle: an address, or what the device uses instead.
    ///
    /// # Shapes and units
    ///
    /// * Sizes and alignments are in bytes. The alignment is a power of two; every device supports
    ///   alignments up to 64.
    /// * Size 0 returns a handle that may be freed, and copied with size 0; it may be null.
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`: nothing has changed; the host may trim its pools and try once more.
    /// * `Unsupported`: the device does not support the kind, the scope or the alignment.
    fn allocate_data_space(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
    ) -> Result<*mut c_void, Error>;

    /// Frees a data space.
    ///
    /// # Errors
    ///
    /// * `DeviceLost`: the device is gone; the handle is released nevertheless.
    ///
    /// # Safety
    ///
    /// * `data` came from [`Self::allocate_data_space`] of the same device, and is freed once. It
    ///   is not null: the shim handles null.
    /// * No queued work uses it any more.
    unsafe fn free_data_space(&self, device_id: i32, data: *mut c_void) -> Result<(), Error>;

    /// Copies bytes between two data spaces, in the order of `stream`.
    ///
    /// At least one end lives on a device of this API; the other lives there too or in host memory.
    /// The host stages copies between two other kinds of device through host memory, so a backend
    /// never sees them.
    ///
    /// # Ordering
    ///
    /// Returns when the copy is *queued*, not when it is done. Work queued later on `stream` sees
    /// its effect; the host sees it after [`Self::sync_stream`]. An implementation may also
    /// complete the copy before it returns.
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`: no staging memory was left. Nothing was copied.
    /// * `Unsupported`: these two devices cannot copy to each other. Nothing was copied.
    /// * `DeviceLost`: the device is gone. What the destination holds is unknown.
    ///
    /// # Safety
    ///
    /// * Both data spaces are live and hold `offset_bytes + size_bytes` bytes or more.
    /// * The two ranges do not overlap.
    /// * Until [`Self::sync_stream`] returns, nobody frees either end, writes the source, or
    ///   touches the destination, except through work ordered after it on `stream`.
    ///
    /// # Source
    ///
    /// TVM's protected `DeviceAPI::CopyDataFromTo`; ours specifies overlap and lifetime, which TVM
    /// leaves open.
    unsafe fn copy_data(&self, device_id: i32, copy: &CopyRequest, stream: Stream) -> Result<(), Error>;

    /// Creates a stream. The default implementation returns [`Stream::DEFAULT`], for a device
    /// without streams of its own.
    ///
    /// # Errors
    ///
    /// * `OutOfMemory`, `DeviceLost`: no stream was created.
    fn create_stream(&self, device_id: i32) -> Result<Stream, Error> {
        check_device(self, device_id)?;
        Ok(Stream::DEFAULT)
    }

    /// Frees a stream after its work is done. The default implementation does nothing.
    ///
    /// # Errors
    ///
    /// * The first failure of work on the stream that was not reported yet. The stream is freed
    ///   nevertheless.
    ///
    /// # Safety
    ///
    /// * `stream` came from [`Self::create_stream`] of the same device and is freed once. It is not
    ///   the default stream: the shim handles null.
    unsafe fn free_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let _ = stream;
        check_device(self, device_id)
    }

    /// Waits until all work queued on `stream` is done. The default implementation does nothing,
    /// which is correct for a device whose calls are all complete when they return.
    ///
    /// # Errors
    ///
    /// * The first failure of work on the stream since the last report (P7.5).
    /// * `DeviceLost`: the device is gone, and the work with it.
    ///
    /// # Safety
    ///
    /// * `stream` is the default stream or one of this device that is not freed.
    unsafe fn sync_stream(&self, device_id: i32, stream: Stream) -> Result<(), Error> {
        let _ = stream;
        check_device(self, device_id)
    }

    /// Makes work queued later on `to` wait for the work that is queued on `from` now, without
    /// blocking the caller.
    ///
    /// The default implementation waits for `from`, which is correct but blocks.
    ///
    /// # Errors
    ///
    /// * As [`Self::sync_stream`], for `from`.
    ///
    /// # Safety
    ///
    /// * Both are the default stream or streams of this device that are not freed.
    unsafe fn sync_stream_from_to(&self, device_id: i32, from: Stream, to: Stream) -> Result<(), Error> {
        let _ = to;
        // SAFETY: `from` is the default stream or a live one of this device, as this function
        // requires.
        unsafe { self.sync_stream(device_id, from) }
    }

    /// Returns what the plugin registers as interface `timeline` 1, so that copies understand the
    /// extensions that wait for timelines and signal them (N.28). The default is none.
    fn timelines(&self) -> Option<&dyn Timelines> {
        None
    }

    /// Returns what the plugin registers as interface `graph` 1, so that copies understand the
    /// extension that records them (N.41). The default is none.
    fn graphs(&self) -> Option<&dyn Graphs> {
        None
    }

    /// Waits until all work is done and releases the device, because the plugin is shutting down.
    ///
    /// # Errors
    ///
    /// * The first failure of work that was not reported yet.
    fn shutdown(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Checks the device's id, for the default implementations that do nothing else (D.3).
fn check_device<D: DeviceApi + ?Sized>(api: &D, device_id: i32) -> Result<(), Error> {
    let count = api.device_count()?;
    crate::ensure!(
        (0..count).contains(&device_id),
        ErrorKind::VALUE_ERROR,
        "device {device_id}: expected an id from 0 up, there are {count} devices"
    );
    Ok(())
}

type Self_ = Registered<dyn DeviceApi>;

/// Runs `body` with the registered device API that `self_` points to.
///
/// # Safety
///
/// * `self_` is null or was registered with [`TABLE`], and is not destroyed yet.
unsafe fn enter(self_: *mut c_void, body: impl FnOnce(&dyn DeviceApi) -> Result<(), Error>) -> i32 {
    // SAFETY: `self_` is null or registered and not destroyed, as this function requires.
    unsafe { Self_::enter(self_, |api| body(api)) }
}

unsafe extern "C" fn destroy(self_: *mut c_void) {
    // SAFETY: D.1, called once, last.
    unsafe { Self_::destroy(self_) };
}

unsafe extern "C" fn device_count(self_: *mut c_void, out_count: *mut i32) -> i32 {
    // SAFETY: D.2, a registered `self_` and a place to write to.
    unsafe { enter(self_, |api| write_out(out_count, api.device_count()?)) }
}

unsafe extern "C" fn attribute(
    self_: *mut c_void,
    device_id: i32,
    key: ChipdockStr,
    out_value: *mut ChipdockAny,
) -> i32 {
    // SAFETY: D.2, a registered `self_`, a live string and a place to write to.
    unsafe {
        enter(self_, |api| {
            let key = str_in(key, "the attribute's key")?;
            write_any(out_value, api.attribute(device_id, key)?.unwrap_or(Any::NONE))
        })
    }
}

/// Reads a request for a data space, and checks what every device API would check.
///
/// # Safety
///
/// * `request` is null or lives for `'a`, with its text and its extensions.
pub(crate) unsafe fn checked_request<'a>(
    request: *const ChipdockDataSpaceRequest,
) -> Result<DataSpaceRequest<'a>, Error> {
    // SAFETY: null or live, as this function requires.
    let request = unsafe { not_null(request, "the request") }?;
    // SAFETY: the chain lives as long as the request.
    unsafe { extension::check(request.next, "the request for a data space") }?;
    let alignment_bytes = request.alignment_bytes;
    crate::ensure!(
        alignment_bytes.is_power_of_two(),
        ErrorKind::VALUE_ERROR,
        "alignment: expected a power of two, found {alignment_bytes}"
    );
    Ok(DataSpaceRequest {
        size_bytes: request.size_bytes,
        alignment_bytes,
        dtype_hint: request.dtype_hint,
        kind: DataSpaceKind::from_raw(request.kind)?,
        // SAFETY: the text lives as long as the request.
        scope: unsafe { str_in(request.scope, "the memory scope") }?,
    })
}

unsafe extern "C" fn allocate_data_space(
    self_: *mut c_void,
    device_id: i32,
    request: *const ChipdockDataSpaceRequest,
    out_data: *mut *mut c_void,
) -> i32 {
    // SAFETY: D.2, a registered `self_`, a live request and a place to write to.
    unsafe {
        enter(self_, |api| {
            crate::ensure!(
                !out_data.is_null(),
                ErrorKind::VALUE_ERROR,
                "the place for the data space is null"
            );
            let request = checked_request(request)?;
            write_out(out_data, api.allocate_data_space(device_id, &request)?)
        })
    }
}

unsafe extern "C" fn free_data_space(self_: *mut c_void, device_id: i32, data: *mut c_void) -> i32 {
    // SAFETY: D.2 and D.5, a registered `self_` and null or a data space of it.
    unsafe { enter(self_, |api| if data.is_null() { Ok(()) } else { api.free_data_space(device_id, data) }) }
}

unsafe extern "C" fn copy_data(
    self_: *mut c_void,
    device_id: i32,
    copy: *const ChipdockCopy,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: D.2 and D.6, a registered `self_`, a live request, and ranges and a stream as the
    // trait requires.
    unsafe {
        enter(self_, |api| {
            let copy = not_null(copy, "the copy")?;
            let (timelines, graphs) = (api.timelines(), api.graphs());
            let chain = chain_of(copy.next, "the copy", timelines.is_some(), graphs.is_some())?;
            let end = |end: abi::ChipdockCopyEnd| CopyEnd {
                device: end.device,
                data: end.data,
                offset_bytes: end.offset_bytes,
            };
            let copy = CopyRequest {
                from: end(copy.from),
                to: end(copy.to),
                size_bytes: copy.size_bytes,
                dtype_hint: copy.dtype_hint,
            };
            for (end, name) in [(copy.from, "source"), (copy.to, "destination")] {
                crate::ensure!(
                    copy.size_bytes == 0 || !end.data.is_null(),
                    ErrorKind::VALUE_ERROR,
                    "the {name} of the copy is null"
                );
            }
            let (copy, stream) = ((copy.size_bytes > 0).then_some(&copy), Stream::from_raw(stream));
            match chain {
                Chain::Record(graph) => match graphs {
                    Some(graphs) => graphs.record_copy(device_id, graph, copy),
                    None => crate::bail!(ErrorKind::UNSUPPORTED, "copies of this device cannot be recorded"),
                },
                Chain::Queue(order) => timeline::in_order(timelines, device_id, stream, &order, || {
                    copy.map_or(Ok(()), |copy| api.copy_data(device_id, copy, stream))
                }),
            }
        })
    }
}

unsafe extern "C" fn create_stream(self_: *mut c_void, device_id: i32, out_stream: *mut *mut c_void) -> i32 {
    // SAFETY: D.2, a registered `self_` and a place to write to.
    unsafe {
        enter(self_, |api| {
            crate::ensure!(!out_stream.is_null(), ErrorKind::VALUE_ERROR, "the place for the stream is null");
            write_out(out_stream, api.create_stream(device_id)?.into_raw())
        })
    }
}

unsafe extern "C" fn free_stream(self_: *mut c_void, device_id: i32, stream: *mut c_void) -> i32 {
    // SAFETY: D.2 and D.7, a registered `self_` and null or a stream of it.
    unsafe {
        enter(self_, |api| {
            if stream.is_null() { Ok(()) } else { api.free_stream(device_id, Stream::from_raw(stream)) }
        })
    }
}

unsafe extern "C" fn sync_stream(self_: *mut c_void, device_id: i32, stream: *mut c_void) -> i32 {
    // SAFETY: D.2 and D.7, a registered `self_` and null or a stream of it.
    unsafe { enter(self_, |api| api.sync_stream(device_id, Stream::from_raw(stream))) }
}

unsafe extern "C" fn sync_stream_from_to(
    self_: *mut c_void,
    device_id: i32,
    from: *mut c_void,
    to: *mut c_void,
) -> i32 {
    // SAFETY: D.2 and D.7, a registered `self_` and null or streams of it.
    unsafe {
        enter(self_, |api| api.sync_stream_from_to(device_id, Stream::from_raw(from), Stream::from_raw(to)))
    }
}

/// Returns a reference to what an argument of a call points to.
///
/// # Errors
///
/// `ValueError`: it is null; `what` names the argument.
///
/// # Safety
///
/// * `pointer` is null or live for `'a`.
pub(crate) unsafe fn not_null<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller guarantees that `pointer` is null or live for `'a`.
    let reference = unsafe { pointer.as_ref() };
    reference
        .ok_or_else(|| Error::new(ErrorKind::VALUE_ERROR, format!("{what} is null: pass a valid pointer")))
}

/// The table of every device API that is written in Rust.
pub(crate) static TABLE: ChipdockDeviceApi = ChipdockDeviceApi {
    destroy,
    device_count,
    attribute,
    allocate_data_space,
    free_data_space,
    copy_data,
    create_stream,
    free_stream,
    sync_stream,
    sync_stream_from_to,
};
