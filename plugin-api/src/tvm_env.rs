//! The environment of libtvm_ffi: current streams, and the allocator of tensors.

use core::ffi::{CStr, c_void};
use core::marker::PhantomData;
use core::ptr::NonNull;

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockObject};

use crate::exchange::ManagedTensorAllocator;
use crate::nd_alloc::{EnvTensorAlloc, env_allocated};
use crate::{Error, ErrorKind, ObjectRef, Tensor};

type GetStream = unsafe extern "C" fn(device_type: i32, device_id: i32) -> *mut c_void;
type SetStream = unsafe extern "C" fn(
    device_type: i32,
    device_id: i32,
    stream: *mut c_void,
    out_before: *mut *mut c_void,
) -> i32;
type SetAllocator = unsafe extern "C" fn(
    allocator: Option<ManagedTensorAllocator>,
    is_global: i32,
    out_before: *mut Option<ManagedTensorAllocator>,
) -> i32;
type MoveFromRaised = unsafe extern "C" fn(out_error: *mut *mut ChipdockObject);

/// Bounds of device types and numbers: libtvm_ffi keeps a table that is as long as the greatest it
/// has seen. DLPack's are far smaller; a type that a host assigns (P5.14) is greater, and no
/// framework knows it.
const DEVICE_TYPE_MAX: i32 = chipdock_abi::CHIPDOCK_DEVICE_FIRST_ASSIGNED - 1;
const DEVICE_ID_MAX: i32 = 4095;

/// The environment of a libtvm_ffi that this process has: what a framework such as torch says
/// through it about its streams and its memory. Streams and allocators belong to a thread.
///
/// # Source
///
/// TVM-FFI's `extra/c_env_api.h`.
#[derive(Clone, Copy, Debug)]
pub struct TvmEnv {
    get_stream: GetStream,
    set_stream: SetStream,
    tensor_alloc: EnvTensorAlloc,
    set_allocator: SetAllocator,
    move_from_raised: MoveFromRaised,
}

impl TvmEnv {
    /// Finds the functions by their names; `None` if one is missing.
    ///
    /// # Safety
    ///
    /// * `find` returns null, or the function of that name of one libtvm_ffi of version 0.1, which
    ///   is never closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::TvmEnv;
    ///
    /// // SAFETY: nothing is found.
    /// assert!(unsafe { TvmEnv::find(|_name| std::ptr::null_mut()) }.is_none());
    /// ```
    pub unsafe fn find(mut find: impl FnMut(&CStr) -> *mut c_void) -> Option<Self> {
        let mut address = |name| NonNull::new(find(name)).map(NonNull::as_ptr);
        // SAFETY: `c_env_api.h` and `c_api.h` declare these functions with these types.
        unsafe {
            Some(Self {
                get_stream: core::mem::transmute::<*mut c_void, GetStream>(address(c"TVMFFIEnvGetStream")?),
                set_stream: core::mem::transmute::<*mut c_void, SetStream>(address(c"TVMFFIEnvSetStream")?),
                tensor_alloc: core::mem::transmute::<*mut c_void, EnvTensorAlloc>(address(
                    c"TVMFFIEnvTensorAlloc",
                )?),
                set_allocator: core::mem::transmute::<*mut c_void, SetAllocator>(address(
                    c"TVMFFIEnvSetDLPackManagedTensorAllocator",
                )?),
                move_from_raised: core::mem::transmute::<*mut c_void, MoveFromRaised>(address(
                    c"TVMFFIErrorMoveFromRaised",
                )?),
            })
        }
    }

    /// Returns the current stream of a device on this thread: a native one, such as a `CUstream`.
    /// Null is the default stream, and the answer where nobody has set one.
    ///
    /// # Errors
    ///
    /// `ValueError` for a device that is none of DLPack's.
    pub fn stream(self, device: ChipdockDevice) -> Result<*mut c_void, Error> {
        check_device(device)?;
        // SAFETY: the function of that type; any numbers are answered.
        Ok(unsafe { (self.get_stream)(device.device_type, device.device_id) })
    }

    /// Makes a native stream the current one of a device on this thread until the guard is dropped.
    /// Guards are dropped in reverse order.
    ///
    /// # Errors
    ///
    /// `ValueError` for a device that is none of DLPack's; errors of libtvm_ffi. Nothing has
    /// changed.
    ///
    /// # Safety
    ///
    /// * `stream` is null or a native stream of that device, which lives as long as the guard:
    ///   others queue work on it.
    pub unsafe fn enter_stream(
        self,
        device: ChipdockDevice,
        stream: *mut c_void,
    ) -> Result<TvmStreamGuard, Error> {
        check_device(device)?;
        let mut before = core::ptr::null_mut();
        // SAFETY: the function of that type, and a writable place; the stream is only kept.
        let status = unsafe { (self.set_stream)(device.device_type, device.device_id, stream, &mut before) };
        self.check(status, "TVMFFIEnvSetStream")?;
        Ok(TvmStreamGuard { env: self, device, before, _thread: PhantomData })
    }

    /// Makes a tensor by the allocator of this thread, else by that of the process.
    ///
    /// # Errors
    ///
    /// As of [`Tensor::from_env_alloc`]: a `RuntimeError` where no framework has set an allocator.
    pub fn allocate(
        self,
        shape: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Tensor, Error> {
        let check = |status| self.check(status, "TVMFFIEnvTensorAlloc");
        // SAFETY: libtvm_ffi's own function.
        unsafe { env_allocated(self.tensor_alloc, check, shape, dtype, device) }
    }

    /// Makes an allocator that of this thread until the guard is dropped, so that a function that
    /// asks TVM-FFI for a tensor gets one of it. Guards are dropped in reverse order.
    ///
    /// # Errors
    ///
    /// Errors of libtvm_ffi. Nothing has changed.
    ///
    /// # Safety
    ///
    /// * `allocator` keeps what [`ManagedTensorAllocator`] says.
    pub unsafe fn enter_allocator(
        self,
        allocator: ManagedTensorAllocator,
    ) -> Result<TvmAllocatorGuard, Error> {
        let mut before = None;
        // SAFETY: the function of that type, and a writable place.
        let status = unsafe { (self.set_allocator)(Some(allocator), 0, &mut before) };
        self.check(status, "TVMFFIEnvSetDLPackManagedTensorAllocator")?;
        Ok(TvmAllocatorGuard { env: self, before, _thread: PhantomData })
    }

    /// Moves this thread's error out of libtvm_ffi's slot, if there is one.
    #[must_use]
    pub fn take_error(self) -> Option<Error> {
        let mut error = core::ptr::null_mut();
        // SAFETY: it writes an error object that is ours, or null.
        unsafe { (self.move_from_raised)(&mut error) };
        // SAFETY: an error object of TVM-FFI's, laid out as ours, with a reference that is ours.
        NonNull::new(error).map(|error| unsafe { Error::from_object(ObjectRef::from_raw(error)) })
    }

    fn check(self, status: i32, name: &str) -> Result<(), Error> {
        if status == 0 {
            return Ok(());
        }
        Err(self.take_error().unwrap_or_else(|| {
            Error::new(
                ErrorKind::BROKEN_PLUGIN,
                format!("`{name}` returned status {status} and raised no error: report it to the maintainer of the framework"),
            )
        }))
    }
}

fn check_device(device: ChipdockDevice) -> Result<(), Error> {
    crate::ensure!(
        (1..=DEVICE_TYPE_MAX).contains(&device.device_type)
            && (0..=DEVICE_ID_MAX).contains(&device.device_id),
        ErrorKind::VALUE_ERROR,
        "expected a device type of DLPack's (1 to {DEVICE_TYPE_MAX}) and a number from 0 to {DEVICE_ID_MAX}, found {}:{}",
        device.device_type,
        device.device_id
    );
    Ok(())
}

/// Guard of [`TvmEnv::enter_stream`]: restores the stream that was the current one.
#[derive(Debug)]
pub struct TvmStreamGuard {
    env: TvmEnv,
    device: ChipdockDevice,
    before: *mut c_void,
    /// The table belongs to this thread.
    _thread: PhantomData<*mut ()>,
}

impl Drop for TvmStreamGuard {
    fn drop(&mut self) {
        let (device, before) = (self.device, self.before);
        // SAFETY: as when it was entered. The place exists, so that it cannot fail.
        unsafe { (self.env.set_stream)(device.device_type, device.device_id, before, core::ptr::null_mut()) };
    }
}

/// Guard of [`TvmEnv::enter_allocator`]: restores the allocator that this thread had.
#[derive(Debug)]
pub struct TvmAllocatorGuard {
    env: TvmEnv,
    before: Option<ManagedTensorAllocator>,
    /// The allocator belongs to this thread.
    _thread: PhantomData<*mut ()>,
}

impl Drop for TvmAllocatorGuard {
    fn drop(&mut self) {
        // SAFETY: as when it was entered.
        unsafe { (self.env.set_allocator)(self.before, 0, core::ptr::null_mut()) };
    }
}
