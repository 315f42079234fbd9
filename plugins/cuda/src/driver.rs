//! The CUDA driver, opened at run time: a table of the functions in use, and owned resources.
//!
//! The driver is never closed; nothing here panics if it is missing. Results are kept as numbers: a
//! newer driver may return codes that are in no enumeration here.

mod functions;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use chipdock_plugin_api::kit::{Claim, PerProcess};
use chipdock_plugin_api::process::has_raised_privileges;
use chipdock_plugin_api::{Error, ErrorKind};
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdeviceptr, CUstream, cudaError_enum};
use libloading::Library;

pub(crate) use functions::Api;

use crate::graph;
use crate::pools::Pools;

/// Library names of the driver, in the order in which they are tried.
const LIBRARY_NAMES: &[&str] = &["libcuda.so.1", "libcuda.so"];

/// A result code of the driver; 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Code(u32);

impl Code {
    const SUCCESS: Self = Self(0);
    /// A code that is not the driver's: the call's object belongs to a context that was reset.
    const RESET: Self = Self(u32::MAX);

    fn is(self, codes: &[cudaError_enum]) -> bool {
        codes.iter().any(|code| *code as u32 == self.0)
    }
}

/// A failed call of the driver, with the driver's message.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    code: Code,
    pub(crate) text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Failure {
    /// Returns true if nothing works on the device any more: the driver returns the same error for
    /// every later call of this process.
    pub(crate) fn is_fatal(&self) -> bool {
        use cudaError_enum as E;
        self.code.is(&[
            E::CUDA_ERROR_DEINITIALIZED,
            E::CUDA_ERROR_ECC_UNCORRECTABLE,
            E::CUDA_ERROR_NVLINK_UNCORRECTABLE,
            E::CUDA_ERROR_ILLEGAL_ADDRESS,
            E::CUDA_ERROR_LAUNCH_TIMEOUT,
            E::CUDA_ERROR_CONTEXT_IS_DESTROYED,
            E::CUDA_ERROR_ASSERT,
            E::CUDA_ERROR_HARDWARE_STACK_ERROR,
            E::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            E::CUDA_ERROR_MISALIGNED_ADDRESS,
            E::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            E::CUDA_ERROR_INVALID_PC,
            E::CUDA_ERROR_LAUNCH_FAILED,
            E::CUDA_ERROR_EXTERNAL_DEVICE,
            E::CUDA_ERROR_UNKNOWN,
        ])
    }

    /// Returns true if the device or the host ran out of memory.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code.is(&[cudaError_enum::CUDA_ERROR_OUT_OF_MEMORY])
    }

    /// Returns true if an event is not reached yet.
    pub(crate) fn is_not_ready(&self) -> bool {
        self.code.is(&[cudaError_enum::CUDA_ERROR_NOT_READY])
    }

    /// Returns true if a name was not found.
    pub(crate) fn is_not_found(&self) -> bool {
        self.code.is(&[cudaError_enum::CUDA_ERROR_NOT_FOUND])
    }

    /// Error kind of the failure.
    pub(crate) fn kind(&self) -> ErrorKind {
        use cudaError_enum as E;
        if self.is_out_of_memory() {
            return ErrorKind::OUT_OF_MEMORY;
        }
        if self.is_fatal() {
            return ErrorKind::DEVICE_LOST;
        }
        if self.is_not_found() {
            return ErrorKind::NOT_FOUND;
        }
        if self.code == Code::RESET {
            return ErrorKind::WRONG_STATE;
        }
        let mistakes = [
            E::CUDA_ERROR_INVALID_VALUE,
            E::CUDA_ERROR_INVALID_DEVICE,
            E::CUDA_ERROR_INVALID_IMAGE,
            E::CUDA_ERROR_INVALID_PTX,
            E::CUDA_ERROR_INVALID_SOURCE,
            E::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            E::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        ];
        let unsupported = [
            E::CUDA_ERROR_NOT_SUPPORTED,
            E::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
            E::CUDA_ERROR_NO_BINARY_FOR_GPU,
            E::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        ];
        let absent = [
            E::CUDA_ERROR_STUB_LIBRARY,
            E::CUDA_ERROR_DEVICE_UNAVAILABLE,
            E::CUDA_ERROR_NO_DEVICE,
            E::CUDA_ERROR_DEVICE_NOT_LICENSED,
            E::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
            E::CUDA_ERROR_JIT_COMPILATION_DISABLED,
            E::CUDA_ERROR_NOT_PERMITTED,
            E::CUDA_ERROR_SYSTEM_NOT_READY,
            E::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
            E::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
            E::CUDA_ERROR_MPS_CONNECTION_FAILED,
            E::CUDA_ERROR_MPS_RPC_FAILURE,
            E::CUDA_ERROR_MPS_SERVER_NOT_READY,
            E::CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
            E::CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
        ];
        match self.code {
            code if code.is(&mistakes) => ErrorKind::VALUE_ERROR,
            code if code.is(&unsupported) => ErrorKind::UNSUPPORTED,
            code if code.is(&absent) => ErrorKind::UNAVAILABLE,
            code if code.is(&[E::CUDA_ERROR_OPERATING_SYSTEM]) => ErrorKind::IO,
            _ => ErrorKind::INTERNAL,
        }
    }

    /// Converts the failure to an error of the plugin interface.
    pub(crate) fn into_error(self) -> Error {
        Error::new(self.kind(), self.text)
    }
}

/// The driver of this process.
pub(crate) struct Driver {
    api: Api,
    devices_count: i32,
    /// Number of resets of each device's primary context by this plugin, on behalf of any host.
    resets: Vec<AtomicU64>,
    process_id: u32,
}

/// The reason why it is not opened with raised privileges.
const RAISED: &str = "the CUDA driver is not opened with raised privileges (set-user-id, set-group-id or file capabilities), \
                      because it opens what variables of the environment name; run without them";

/// The driver belongs to the process, not to a host: it is opened once and never closed.
static DRIVER: PerProcess<OnceLock<Result<Driver, String>>> = PerProcess::new(|_| OnceLock::new());
/// It does not work in a forked child.
static CLAIM: Claim = Claim::new();

impl Driver {
    /// Returns the driver, opened by the first call.
    ///
    /// # Errors
    ///
    /// * `Unavailable`: the driver is missing, or has no device; the message has the names that
    ///   were tried, or the driver's message.
    /// * `WrongState`: the process was forked from one that opened the driver.
    pub(crate) fn get() -> Result<&'static Self, Error> {
        CLAIM.take("the CUDA driver")?;
        let driver = DRIVER.of_this().get_or_init(|| {
            // It opens the library that CUDA_INJECTION64_PATH names, which cannot be disabled.
            if has_raised_privileges() { Err(RAISED.to_owned()) } else { Self::open(LIBRARY_NAMES) }
        });
        driver.as_ref().map_err(|why| {
            CLAIM.give_up();
            Error::new(ErrorKind::UNAVAILABLE, why.clone())
        })
    }

    /// Opens the first of these libraries that is there and has every function. One that lacks a
    /// function is too old, or not NVIDIA's: to install the driver is no advice then.
    pub(crate) fn open(names: &[&str]) -> Result<Self, String> {
        let mut lacking = None;
        let mut reasons = Vec::new();
        for name in names {
            // SAFETY: opening the vendor's driver runs its initialisers, as intended.
            match unsafe { Library::new(*name) } {
                // SAFETY: the driver under its own name.
                Ok(library) => match unsafe { Api::load(&library) } {
                    Ok(api) => {
                        // It has threads of its own, so it is never closed.
                        std::mem::forget(library);
                        return Self::started(api).map_err(|failure| format!("{name}: {failure}"));
                    }
                    Err(symbol) => {
                        // SAFETY: the driver under its own name.
                        let version = unsafe { version_of(&library) };
                        let of = version
                            .map_or_else(String::new, |v| format!(" of CUDA {}.{}", v / 1000, v % 1000 / 10));
                        lacking = lacking.or_else(|| Some(format!(
                            "the CUDA driver {name}{of} lacks {symbol}, which NVIDIA's drivers since 396 (CUDA 9.2) have; update \
                             NVIDIA's driver, or let the linker find it before this library"
                        )));
                    }
                },
                Err(error) => reasons.push(format!("{name}: {}", loader_text(&error))),
            }
        }
        if let Some(lacking) = lacking {
            return Err(lacking);
        }
        Err(format!(
            "no CUDA driver: tried {} ({}); it comes with NVIDIA's driver (package nvidia-driver, libcuda1 on Debian)",
            names.join(", "),
            reasons.join("; ")
        ))
    }

    fn started(api: Api) -> Result<Self, Failure> {
        let mut driver = Self { api, devices_count: 0, resets: Vec::new(), process_id: std::process::id() };
        let mut count = 0;
        // SAFETY: cuInit takes 0, and the count is written to a valid place.
        unsafe {
            driver.check("cuInit", (driver.api.init)(0))?;
            driver.check("cuDeviceGetCount", (driver.api.device_count)(&mut count))?;
        }
        driver.devices_count = count;
        driver.resets = (0..count).map(|_| AtomicU64::new(0)).collect();
        Ok(driver)
    }

    /// Number of devices.
    pub(crate) fn devices_count(&self) -> i32 {
        self.devices_count
    }

    /// Returns true if this is the process that opened the driver: a forked child must not call it.
    fn is_ours(&self) -> bool {
        std::process::id() == self.process_id
    }

    fn words(&self, ask: unsafe extern "C" fn(Code, *mut *const c_char) -> Code, code: Code) -> String {
        let mut text = ptr::null();
        // SAFETY: writes null or a text that lives as long as the driver.
        unsafe {
            if ask(code, &mut text) == Code::SUCCESS && !text.is_null() {
                return CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
        "not known to the driver".to_owned()
    }

    fn check(&self, call: &str, code: Code) -> Result<(), Failure> {
        if code == Code::SUCCESS {
            return Ok(());
        }
        let name = self.words(self.api.error_name, code);
        let meaning = self.words(self.api.error_string, code);
        Err(Failure { code, text: format!("{call} answered {name} ({}): {meaning}", code.0) })
    }

    /// The version of the driver's interface: 1000 × major + 10 × minor.
    pub(crate) fn version(&self) -> Result<i32, Failure> {
        let mut version = 0;
        // SAFETY: a valid place to write to.
        self.check("cuDriverGetVersion", unsafe { (self.api.driver_version)(&mut version) })?;
        Ok(version)
    }

    fn resets(&self, device_id: i32) -> Option<&AtomicU64> {
        usize::try_from(device_id).ok().and_then(|id| self.resets.get(id))
    }

    fn device(&self, device_id: i32) -> Result<CUdevice, Failure> {
        let mut device = 0;
        // SAFETY: a valid place to write to.
        self.check("cuDeviceGet", unsafe { (self.api.device_get)(&mut device, device_id) })?;
        Ok(device)
    }

    /// Name of a device.
    pub(crate) fn device_name(&self, device_id: i32) -> Result<String, Failure> {
        let mut name = [0 as c_char; 256];
        let device = self.device(device_id)?;
        // SAFETY: a buffer of that size; the driver terminates the text with a zero, and the last
        // byte is zero anyway.
        unsafe {
            let code = (self.api.device_name)(name.as_mut_ptr(), name.len() as c_int - 1, device);
            self.check("cuDeviceGetName", code)?;
            Ok(CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned())
        }
    }

    /// Total memory of a device, in bytes.
    pub(crate) fn total_memory_bytes(&self, device_id: i32) -> Result<u64, Failure> {
        let mut bytes = 0;
        let device = self.device(device_id)?;
        // SAFETY: a valid place to write to.
        self.check("cuDeviceTotalMem", unsafe { (self.api.device_total_memory)(&mut bytes, device) })?;
        Ok(bytes as u64)
    }

    /// Returns the functions for memory in the order of a stream, where the driver has them.
    pub(crate) fn pools(&self) -> Option<Pools> {
        self.api.pools
    }

    /// Returns the functions for graphs, where the driver has them.
    pub(crate) fn graphs(&self) -> Option<graph::Functions> {
        self.api.graphs
    }

    /// An attribute of a device, in the driver's units.
    pub(crate) fn attribute(
        &self,
        device_id: i32,
        attribute: sys::CUdevice_attribute,
    ) -> Result<i32, Failure> {
        let mut value = 0;
        let device = self.device(device_id)?;
        // SAFETY: a valid place to write to.
        let code = unsafe { (self.api.device_attribute)(&mut value, attribute as u32, device) };
        self.check("cuDeviceGetAttribute", code)?;
        Ok(value)
    }
}

/// The version of the interface of a library that lacks a function, if it has at least the one that
/// says so: 1000 × major + 10 × minor.
///
/// # Safety
///
/// * `library` is the CUDA driver: its symbols have the types of its header.
unsafe fn version_of(library: &Library) -> Option<c_int> {
    let mut version = 0;
    // SAFETY: the caller guarantees that the symbol has that type; it writes a number, and may be
    // called before `cuInit`.
    unsafe {
        let ask = library.get::<unsafe extern "C" fn(*mut c_int) -> Code>("cuDriverGetVersion").ok()?;
        (ask(&mut version) == Code::SUCCESS && version > 0).then_some(version)
    }
}

/// The dynamic linker's message, without the wrapping errors.
fn loader_text(error: &libloading::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// A device's primary context, shared with all other code of the process; retained while this
/// lives.
pub(crate) struct Context {
    driver: &'static Driver,
    device: CUdevice,
    device_id: i32,
    pub(crate) raw: CUcontext,
    /// Number of resets at the time when it was retained.
    n_resets: u64,
}

// SAFETY: a context may be current on any number of threads; the driver has its own locks.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// Makes the context current on this thread; when this is dropped, the previous context is current
/// again (P10.10).
struct Entered<'a> {
    context: &'a Context,
    before: CUcontext,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.before != self.context.raw {
            // SAFETY: the driver reported this context as current on this thread.
            unsafe { (self.context.driver.api.context_set)(self.before) };
        }
    }
}

/// Kind of memory to allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// Memory of the device.
    Device,
    /// Page-locked host memory.
    Pinned,
    /// Host memory that another owner allocated, page-locked as long as this lives.
    Adopted,
    /// Managed memory, which migrates between host and device.
    Managed,
    /// Memory of the device in the order of a stream.
    Pooled,
}

/// The driver's information about an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocation {
    pub(crate) base: usize,
    pub(crate) size_bytes: usize,
    pub(crate) device_id: i32,
    /// Whether it is host memory or managed memory, rather than memory of the device.
    pub(crate) is_shared: bool,
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// From host memory to device memory.
    ToDevice,
    /// From device memory to host memory.
    ToHost,
    /// Within the memory of one device.
    Within,
    /// Between the memories of two devices, with the contexts of destination and source.
    Peer(&'a Context, &'a Context),
    /// Between memories that both sides address: the driver decides by the addresses.
    Any,
}

impl Context {
    /// Returns true if a native stream belongs to this context.
    ///
    /// # Safety
    ///
    /// * `stream` is a live stream of the driver.
    pub(crate) unsafe fn has_stream(&self, stream: CUstream) -> Result<bool, Failure> {
        let mut context = ptr::null_mut();
        // SAFETY: a valid place to write to; the caller guarantees a live stream.
        self.call("cuStreamGetCtx", |api| unsafe { (api.stream_context)(stream, &mut context) })?;
        Ok(context == self.raw)
    }
}

impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({:p} of device {})", self.raw, self.device)
    }
}

impl Context {
    /// Retains the primary context of a device.
    pub(crate) fn retain(driver: &'static Driver, device_id: i32) -> Result<Self, Failure> {
        let device = driver.device(device_id)?;
        let n_resets = driver.resets(device_id).map_or(0, |resets| resets.load(Ordering::Acquire));
        let mut raw = ptr::null_mut();
        // SAFETY: a valid place to write to and a device of the driver.
        let code = unsafe { (driver.api.primary_context_retain)(&mut raw, device) };
        driver.check("cuDevicePrimaryCtxRetain", code)?;
        Ok(Self { driver, device, device_id, raw, n_resets })
    }

    /// Returns true if the context was reset since it was retained: its resources are gone, and
    /// their handles may have been reused.
    pub(crate) fn is_gone(&self) -> bool {
        self.driver.resets(self.device_id).is_some_and(|it| it.load(Ordering::Acquire) != self.n_resets)
    }

    /// Resets the context for the whole process, unless another host already has.
    pub(crate) fn reset(&self) -> Result<(), Failure> {
        let Some(resets) = self.driver.resets(self.device_id) else { return Ok(()) };
        let (now, next) = (self.n_resets, self.n_resets + 1);
        if resets.compare_exchange(now, next, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Ok(());
        }
        // SAFETY: a device of the driver; resources of its context are no longer passed to the
        // driver (`enter`).
        let code = unsafe { (self.driver.api.primary_context_reset)(self.device) };
        self.driver.check("cuDevicePrimaryCtxReset", code)
    }

    fn enter(&self) -> Result<Entered<'_>, Failure> {
        if self.is_gone() {
            let text = "it was made before the device was opened again, and is gone: make it anew".to_owned();
            return Err(Failure { code: Code::RESET, text });
        }
        let mut before = ptr::null_mut();
        // SAFETY: a valid place to write to; the context is retained.
        unsafe {
            self.driver.check("cuCtxGetCurrent", (self.driver.api.context_get)(&mut before))?;
            if before != self.raw {
                self.driver.check("cuCtxSetCurrent", (self.driver.api.context_set)(self.raw))?;
            }
        }
        Ok(Entered { context: self, before })
    }

    pub(crate) fn call(&self, name: &str, body: impl FnOnce(&Api) -> Code) -> Result<(), Failure> {
        let _entered = self.enter()?;
        self.driver.check(name, body(&self.driver.api))
    }

    /// Like [`Self::call`], for releasing a resource: errors cannot be reported, and a forked child
    /// has nothing to release.
    pub(crate) fn release(&self, body: impl FnOnce(&Api) -> Code) {
        if self.driver.is_ours()
            && let Ok(_entered) = self.enter()
        {
            let _ = body(&self.driver.api);
        }
    }

    /// Free and total memory, in bytes.
    pub(crate) fn memory_info(&self) -> Result<(u64, u64), Failure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: valid places to write to.
        self.call("cuMemGetInfo", |api| unsafe { (api.memory_info)(&mut free, &mut total) })?;
        Ok((free as u64, total as u64))
    }

    /// Allocates memory; the size must not be 0.
    pub(crate) fn allocate(self: &Arc<Self>, kind: MemoryKind, size_bytes: usize) -> Result<Memory, Failure> {
        let mut address: CUdeviceptr = 0;
        let mut host: *mut c_void = ptr::null_mut();
        // SAFETY: valid places to write to; the flags are those of the header.
        unsafe {
            match kind {
                MemoryKind::Device => {
                    self.call("cuMemAlloc", |api| (api.memory_allocate)(&mut address, size_bytes))?;
                }
                MemoryKind::Pinned => self.call("cuMemHostAlloc", |api| {
                    (api.memory_allocate_host)(&mut host, size_bytes, sys::CU_MEMHOSTALLOC_PORTABLE)
                })?,
                MemoryKind::Managed | MemoryKind::Adopted | MemoryKind::Pooled => {
                    let flags = sys::CUmemAttach_flags_enum::CU_MEM_ATTACH_GLOBAL as c_uint;
                    self.call("cuMemAllocManaged", |api| {
                        (api.memory_allocate_managed)(&mut address, size_bytes, flags)
                    })?;
                }
            }
        }
        let address = if kind == MemoryKind::Pinned { host.addr() } else { address as usize };
        Ok(Memory { context: Arc::clone(self), kind, address })
    }

    /// Looks an address up with the driver, whoever allocated it; `None` if the driver does not
    /// know it.
    pub(crate) fn find(&self, address: usize) -> Option<Allocation> {
        use sys::CUpointer_attribute_enum as A;
        let ask = |attribute: A, place: *mut c_void| {
            // SAFETY: a valid place of the attribute's size; the address is only looked up.
            let asked = |api: &Api| unsafe {
                (api.pointer_attribute)(place, attribute as u32, address as CUdeviceptr)
            };
            self.call("cuPointerGetAttribute", asked).ok()
        };
        let (mut memory_type, mut device_id, mut is_managed) = (0_u32, 0_i32, 0_u32);
        let (mut base, mut size_bytes): (CUdeviceptr, usize) = (0, 0);
        ask(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (&raw mut memory_type).cast())?;
        ask(A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, (&raw mut device_id).cast())?;
        ask(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (&raw mut base).cast())?;
        ask(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, (&raw mut size_bytes).cast())?;
        ask(A::CU_POINTER_ATTRIBUTE_IS_MANAGED, (&raw mut is_managed).cast())?;
        let is_device = memory_type == sys::CUmemorytype_enum::CU_MEMORYTYPE_DEVICE as u32;
        let is_shared = !is_device || is_managed != 0;
        Some(Allocation { base: base as usize, size_bytes, device_id, is_shared })
    }

    /// Queues a copy.
    ///
    /// # Safety
    ///
    /// * Both ranges are live and of the route's memories until the copy is done, and do not
    ///   overlap.
    pub(crate) unsafe fn copy(
        &self,
        route: Route<'_>,
        to: usize,
        from: usize,
        size_bytes: usize,
        stream: Option<&Stream>,
    ) -> Result<(), Failure> {
        let stream = raw_stream(stream);
        let (device_to, device_from) = (to as CUdeviceptr, from as CUdeviceptr);
        let host_from: *const c_void = ptr::with_exposed_provenance(from);
        let host_to: *mut c_void = ptr::with_exposed_provenance_mut(to);
        // SAFETY: the caller guarantees that both ranges are live and do not overlap; the stream is
        // alive and of this context.
        unsafe {
            match route {
                Route::ToDevice => self.call("cuMemcpyHtoDAsync", |api| {
                    (api.copy_to_device)(device_to, host_from, size_bytes, stream)
                }),
                Route::ToHost => self.call("cuMemcpyDtoHAsync", |api| {
                    (api.copy_to_host)(host_to, device_from, size_bytes, stream)
                }),
                Route::Within => self.call("cuMemcpyDtoDAsync", |api| {
                    (api.copy_within)(device_to, device_from, size_bytes, stream)
                }),
                Route::Peer(to_context, from_context) => self.call("cuMemcpyPeerAsync", |api| {
                    let (to_raw, from_raw) = (to_context.raw, from_context.raw);
                    (api.copy_peer)(device_to, to_raw, device_from, from_raw, size_bytes, stream)
                }),
                Route::Any => self
                    .call("cuMemcpyAsync", |api| (api.copy_any)(device_to, device_from, size_bytes, stream)),
            }
        }
    }

    /// Creates a stream that does not wait for the default stream.
    pub(crate) fn create_stream(self: &Arc<Self>) -> Result<Stream, Failure> {
        let mut raw = ptr::null_mut();
        let flags = sys::CUstream_flags_enum::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: a valid place to write to.
        self.call("cuStreamCreate", |api| unsafe { (api.stream_create)(&mut raw, flags) })?;
        Ok(Stream { context: Arc::clone(self), raw, is_adopted: false })
    }

    /// Waits for a stream.
    pub(crate) fn synchronize(&self, stream: Option<&Stream>) -> Result<(), Failure> {
        let stream = raw_stream(stream);
        // SAFETY: a stream of this context that is alive.
        self.call("cuStreamSynchronize", |api| unsafe { (api.stream_synchronize)(stream) })
    }

    /// Makes later work on `to` wait for the work currently queued on `from`.
    pub(crate) fn order(&self, from: Option<&Stream>, to: Option<&Stream>) -> Result<(), Failure> {
        let (from, to) = (raw_stream(from), raw_stream(to));
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING as c_uint;
        let _entered = self.enter()?;
        let (driver, api) = (self.driver, &self.driver.api);
        // SAFETY: live streams of this context. An event may be destroyed before it is reached.
        unsafe {
            driver.check("cuEventCreate", (api.event_create)(&mut event, flags))?;
            let recorded = driver.check("cuEventRecord", (api.event_record)(event, from));
            let ordered = recorded
                .and_then(|()| driver.check("cuStreamWaitEvent", (api.stream_wait_event)(to, event, 0)));
            let destroyed = driver.check("cuEventDestroy", (api.event_destroy)(event));
            ordered.and(destroyed)
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.driver.is_ours() {
            // SAFETY: retained once, by this value.
            unsafe { (self.driver.api.primary_context_release)(self.device) };
        }
    }
}

/// Allocated memory, freed when this is dropped.
pub(crate) struct Memory {
    pub(crate) context: Arc<Context>,
    pub(crate) kind: MemoryKind,
    pub(crate) address: usize,
}

impl Memory {
    /// Address of the memory.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Kind of the memory.
    pub(crate) fn kind(&self) -> MemoryKind {
        self.kind
    }

    fn freed(&self, api: &Api) -> Code {
        // SAFETY: allocated by this value, and freed once: every caller drops or forgets it.
        unsafe {
            match self.kind {
                MemoryKind::Pinned => (api.memory_free_host)(ptr::with_exposed_provenance_mut(self.address)),
                MemoryKind::Adopted => {
                    (api.memory_unregister)(ptr::with_exposed_provenance_mut(self.address))
                }
                _ => (api.memory_free)(self.address as CUdeviceptr),
            }
        }
    }

    /// Frees the memory and returns the driver's error, if any.
    pub(crate) fn free(self) -> Result<(), Failure> {
        let freed = self.context.call("cuMemFree", |api| self.freed(api));
        // The reference to the context is dropped; the memory is not freed again.
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: read once, from a value that is never dropped.
        drop(unsafe { ptr::read(&this.context) });
        freed
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.context.release(|api| self.freed(api));
    }
}

/// A stream; destroyed when this is dropped, after its work is done, unless it was adopted.
pub(crate) struct Stream {
    pub(crate) context: Arc<Context>,
    pub(crate) raw: CUstream,
    pub(crate) is_adopted: bool,
}

// SAFETY: a handle; the driver has its own locks.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_adopted {
            return;
        }
        // SAFETY: created by this value, destroyed once.
        self.context.release(|api| unsafe { (api.stream_destroy)(self.raw) });
    }
}

/// The handle of a stream; null is the driver's default stream.
pub(crate) fn raw_stream(stream: Option<&Stream>) -> CUstream {
    stream.map_or(ptr::null_mut(), |stream| stream.raw)
}
