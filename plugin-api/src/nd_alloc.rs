//! Tensors over memory of an allocator, as TVM-FFI's `FromNDAlloc`, `FromNDAllocStrided` and
//! `FromEnvAlloc` make them, and by DLPack's allocators.

use core::ffi::{CStr, c_char, c_void};

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockTensor};

use crate::exchange::ManagedTensorAllocator;
use crate::{
    Access, Any, Error, ErrorKind, HostRef, Required, Tensor, TensorParts, TensorView, dtype, size_bytes,
    trampoline,
};

/// Memory for the elements of tensors, on one kind of device.
///
/// # Safety
///
/// * What [`NdAlloc::allocate`] returns is at least as many bytes as it was asked for, on the
///   device of the tensor, and they stay until [`NdAlloc::free`].
pub unsafe trait NdAlloc: Send + Sync + 'static {
    /// Returns memory for the elements of a tensor whose other parts are set: an address on the
    /// CPU, a handle elsewhere. `size_bytes` is from the first element to the end of the last; if
    /// it is 0, null will do.
    ///
    /// # Errors
    ///
    /// Why there is none; `OutOfMemory` if none is left.
    fn allocate(&self, tensor: &TensorParts<'_>, size_bytes: u64) -> Result<*mut c_void, Error>;

    /// Frees the memory of a tensor, on any thread, once the last reference is gone.
    ///
    /// # Safety
    ///
    /// * `data` is what [`NdAlloc::allocate`] returned for `size_bytes` on `device`, and nobody
    ///   uses it any more.
    unsafe fn free(&self, data: *mut c_void, size_bytes: u64, device: ChipdockDevice);
}

/// The type of `TVMFFIEnvTensorAlloc`: writes an owned tensor object with the extents, element type
/// and device of the first argument, whose other fields it ignores; returns 0, or another number
/// with an error raised.
pub type EnvTensorAlloc =
    unsafe extern "C" fn(prototype: *mut ChipdockTensor, out_tensor: *mut *mut c_void) -> i32;

/// What a tensor owns: its memory, and who frees it.
struct Allocation<A: NdAlloc> {
    allocator: A,
    data: *mut c_void,
    size_bytes: u64,
    device: ChipdockDevice,
}

// SAFETY: the allocator may be called on any thread; `data` is only handed back to it.
unsafe impl<A: NdAlloc> Send for Allocation<A> {}
// SAFETY: nothing is reached through a shared reference.
unsafe impl<A: NdAlloc> Sync for Allocation<A> {}

impl<A: NdAlloc> Drop for Allocation<A> {
    fn drop(&mut self) {
        // SAFETY: the allocator's own memory, dropped with the last reference to the tensor, once.
        unsafe { self.allocator.free(self.data, self.size_bytes, self.device) };
    }
}

fn bad(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// Returns the number of bytes from the first element of a strided tensor to the end of its last; 0
/// if it has none.
///
/// # Errors
///
/// `ValueError` for another number of strides than axes, a negative extent or stride, a size that
/// does not fit 64 bits, or a type of no fixed size.
pub fn strided_size_bytes(shape: &[i64], strides: &[i64], dtype: ChipdockDataType) -> Result<u64, Error> {
    if shape.len() != strides.len() {
        return Err(bad(format!(
            "expected {} strides, one for each axis, found {}",
            shape.len(),
            strides.len()
        )));
    }
    if let Some((axis, stride)) = strides.iter().enumerate().find(|(_, stride)| **stride < 0) {
        return Err(bad(format!("axis {axis}: expected a stride of 0 or more, found {stride}")));
    }
    if size_bytes(shape, dtype)? == 0 {
        return Ok(0);
    }
    let too_large =
        || bad(format!("shape {shape:?} of strides {strides:?}: the number of bytes does not fit 64 bits"));
    let last = shape.iter().zip(strides).try_fold(0_i64, |last, (extent, stride)| {
        stride.checked_mul(extent - 1).and_then(|more| last.checked_add(more))
    });
    let count = last.and_then(|last| last.checked_add(1)).ok_or_else(too_large)?;
    size_bytes(&[count], dtype).map_err(|_| too_large())
}

impl Tensor {
    /// Makes a compact tensor over memory that an allocator provides, and frees when the last
    /// reference is dropped.
    ///
    /// # Errors
    ///
    /// The allocator's; `ValueError` as for [`Tensor::from_owner`], before it is called.
    ///
    /// # Source
    ///
    /// TVM-FFI's `Tensor::FromNDAlloc`. Ours differs in one point: the size in bytes is given to
    /// the allocator, for both calls.
    ///
    /// # Examples
    ///
    /// ```
    /// use core::ffi::c_void;
    /// use std::alloc::{Layout, alloc_zeroed, dealloc};
    ///
    /// use chipdock_plugin_api::{CPU, ChipdockDevice, Element, Error, NdAlloc, Tensor, TensorParts};
    ///
    /// struct Zeroed;
    ///
    /// fn layout(size_bytes: u64) -> Layout {
    ///     Layout::from_size_align(size_bytes.max(1) as usize, 64).expect("a layout")
    /// }
    ///
    /// // SAFETY: memory of the system's allocator, of the size that is asked for.
    /// unsafe impl NdAlloc for Zeroed {
    ///     fn allocate(&self, _: &TensorParts<'_>, size_bytes: u64) -> Result<*mut c_void, Error> {
    ///         // SAFETY: not of size 0.
    ///         Ok(unsafe { alloc_zeroed(layout(size_bytes)) }.cast())
    ///     }
    ///
    ///     unsafe fn free(&self, data: *mut c_void, size_bytes: u64, _: ChipdockDevice) {
    ///         // SAFETY: allocated above with that layout.
    ///         unsafe { dealloc(data.cast(), layout(size_bytes)) };
    ///     }
    /// }
    ///
    /// let tensor = Tensor::from_nd_alloc(Zeroed, &[2, 3], f32::DTYPE, CPU)?;
    /// assert_eq!(tensor.to_vec::<f32>()?, [0.0; 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_nd_alloc(
        allocator: impl NdAlloc,
        shape: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Self, Error> {
        let size_bytes = size_bytes(shape, dtype)?;
        allocated(allocator, shape, None, dtype, device, size_bytes)
    }

    /// Makes a strided tensor over memory that an allocator provides, as [`Tensor::from_nd_alloc`];
    /// strides count elements.
    ///
    /// # Errors
    ///
    /// The allocator's; `ValueError` as for [`strided_size_bytes`], before it is called.
    ///
    /// # Source
    ///
    /// TVM-FFI's `Tensor::FromNDAllocStrided`, which leaves it to the allocator how much memory the
    /// strides take.
    pub fn from_nd_alloc_strided(
        allocator: impl NdAlloc,
        shape: &[i64],
        strides: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Self, Error> {
        let size_bytes = strided_size_bytes(shape, strides, dtype)?;
        allocated(allocator, shape, Some(strides), dtype, device, size_bytes)
    }

    /// Makes a tensor by the allocator of the surrounding framework, such as torch: `allocate` is
    /// `TVMFFIEnvTensorAlloc` of the TVM-FFI that `host` raises its errors through.
    /// [`TvmEnv::allocate`](crate::TvmEnv::allocate) is the same for a libtvm_ffi with errors of
    /// its own.
    ///
    /// # Errors
    ///
    /// * The error that `allocate` raised: a `RuntimeError` where no framework has set an
    ///   allocator.
    /// * `ValueError`: a negative extent, or a size that does not fit 64 bits.
    /// * `BrokenPlugin`: what it made is no tensor of that shape, type and device.
    ///
    /// # Safety
    ///
    /// * `allocate` keeps what [`EnvTensorAlloc`] says.
    ///
    /// # Source
    ///
    /// TVM-FFI's `Tensor::FromEnvAlloc`, which does not look at what was made.
    pub unsafe fn from_env_alloc(
        host: HostRef,
        allocate: EnvTensorAlloc,
        shape: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Self, Error> {
        let check = |status| host.check(status, || "`TVMFFIEnvTensorAlloc`".to_owned());
        // SAFETY: as this function requires.
        unsafe { env_allocated(allocate, check, shape, dtype, device) }
    }

    /// Makes a tensor by an allocator of DLPack's, such as
    /// [`Exchange::allocator`](crate::exchange::Exchange::allocator).
    ///
    /// # Errors
    ///
    /// * The error that `allocate` reported.
    /// * `ValueError`: a negative extent, or a size that does not fit 64 bits.
    /// * `BrokenPlugin`: it failed and reported nothing, or what it made is no tensor of that
    ///   shape, type and device.
    ///
    /// # Safety
    ///
    /// * `allocate` keeps what [`ManagedTensorAllocator`] says.
    pub unsafe fn from_managed_alloc(
        allocate: ManagedTensorAllocator,
        shape: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Self, Error> {
        let mut reported: Option<Error> = None;
        let mut managed = core::ptr::null_mut();
        let status = with_prototype(shape, dtype, device, |prototype| {
            // SAFETY: a prototype whose extents live for the call, a writable place, and a context
            // that is ours.
            unsafe { allocate(prototype, &mut managed, (&raw mut reported).cast(), Some(keep_error)) }
        })?;
        if status != 0 {
            return Err(reported.unwrap_or_else(|| {
                let message = format!("DLPack's allocator returned status {status} and reported no error");
                Error::new(
                    ErrorKind::BROKEN_PLUGIN,
                    message + ": report it to the maintainer of the framework",
                )
            }));
        }
        let tensor = match managed.is_null() {
            true => None,
            // SAFETY: success wrote a managed tensor that is ours.
            false => Some(unsafe { Self::take_versioned(managed, Access::ReadWrite, Required::NOTHING) }?),
        };
        checked(tensor, shape, dtype, device)
    }
}

/// Keeps the first error that an allocator reports.
unsafe extern "C" fn keep_error(context: *mut c_void, kind: *const c_char, message: *const c_char) {
    trampoline::guard_release(|| {
        let text = |text: *const c_char| {
            // SAFETY: DLPack gives two texts that end with NUL; null is answered.
            (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        let kind = text(kind).map_or(ErrorKind::RUNTIME_ERROR, |kind| ErrorKind::new(kind.into_owned()));
        let message =
            text(message).map_or_else(|| "without a message".to_owned(), |message| message.into_owned());
        // SAFETY: the context of `from_managed_alloc`, which waits.
        let place = unsafe { &mut *context.cast::<Option<Error>>() };
        place.get_or_insert_with(|| Error::new(kind, message));
    });
}

/// Calls `body` with a prototype of a tensor: extents, element type and device.
fn with_prototype<R>(
    shape: &[i64],
    dtype: ChipdockDataType,
    device: ChipdockDevice,
    body: impl FnOnce(*mut ChipdockTensor) -> R,
) -> Result<R, Error> {
    size_bytes(shape, dtype)?;
    // The other side gets a pointer through which it might write.
    let mut extents = shape.to_vec();
    let mut prototype = ChipdockTensor {
        data: core::ptr::null_mut(),
        device,
        ndim: axes_count(shape)?,
        dtype,
        shape: extents.as_mut_ptr(),
        strides: core::ptr::null_mut(),
        byte_offset: 0,
    };
    Ok(body(&mut prototype))
}

/// Makes a tensor by `TVMFFIEnvTensorAlloc`; `check` turns its status into a result.
///
/// # Safety
///
/// * `allocate` keeps what [`EnvTensorAlloc`] says.
pub(crate) unsafe fn env_allocated(
    allocate: EnvTensorAlloc,
    check: impl FnOnce(i32) -> Result<(), Error>,
    shape: &[i64],
    dtype: ChipdockDataType,
    device: ChipdockDevice,
) -> Result<Tensor, Error> {
    let mut made = core::ptr::null_mut();
    // SAFETY: a prototype whose extents live for the call, and a writable place.
    let status = with_prototype(shape, dtype, device, |prototype| unsafe { allocate(prototype, &mut made) })?;
    check(status)?;
    let mut raw = Any::NONE.into_raw();
    if !made.is_null() {
        // SAFETY: success wrote an owned object, which begins with its header.
        raw.type_index = unsafe { (*made.cast::<chipdock_abi::ChipdockObject>()).type_index };
        raw.value.v_object = made.cast();
    }
    // SAFETY: None, or an owned object under its own type index.
    checked(unsafe { Any::from_raw(raw) }.to::<Tensor>().ok(), shape, dtype, device)
}

/// Checks that an allocator made what it was asked for.
fn checked(
    made: Option<Tensor>,
    shape: &[i64],
    dtype: ChipdockDataType,
    device: ChipdockDevice,
) -> Result<Tensor, Error> {
    let asked = |view: TensorView<'_>| {
        let (found, place) = (view.dtype(), view.device());
        view.shape() == shape
            && (found.code, found.bits, found.lanes) == (dtype.code, dtype.bits, dtype.lanes)
            && (place.device_type, place.device_id) == (device.device_type, device.device_id)
    };
    made.filter(|tensor| asked(tensor.view())).ok_or_else(|| {
        Error::new(
            ErrorKind::BROKEN_PLUGIN,
            format!(
                "expected the allocator of the environment to make a tensor of shape {shape:?} of `{}` on device {}:{}, \
                 found something else: report it to the maintainer of the framework",
                dtype::text(dtype),
                device.device_type,
                device.device_id
            ),
        )
    })
}

fn axes_count(shape: &[i64]) -> Result<i32, Error> {
    i32::try_from(shape.len()).map_err(|_| bad(format!("{} axes are too many", shape.len())))
}

fn allocated(
    allocator: impl NdAlloc,
    shape: &[i64],
    strides: Option<&[i64]>,
    dtype: ChipdockDataType,
    device: ChipdockDevice,
    size_bytes: u64,
) -> Result<Tensor, Error> {
    axes_count(shape)?;
    let mut parts =
        TensorParts { data: core::ptr::null_mut(), device, dtype, shape, strides, byte_offset: 0 };
    parts.data = allocator.allocate(&parts, size_bytes)?;
    if parts.data.is_null() && size_bytes > 0 {
        return Err(Error::new(
            ErrorKind::OUT_OF_MEMORY,
            format!(
                "expected {size_bytes} bytes for a tensor of shape {shape:?}, the allocator has returned null"
            ),
        ));
    }
    let owner = Allocation { allocator, data: parts.data, size_bytes, device };
    // SAFETY: the memory holds all elements, and stays until `owner` is dropped.
    unsafe { Tensor::from_owner(parts, owner) }
}
