//! DLPack's C exchange table (`__dlpack_c_exchange_api__`): tensors from objects of a framework,
//! and back, without Python's calls.
//!
//! A framework hands its table over as a pointer: in Python, that of the capsule
//! `dlpack_exchange_api` which is the attribute `__dlpack_c_exchange_api__` of the type of its
//! tensors. [`Exchange::from_raw`] reads it.
//!
//! # What is served
//!
//! [`ExchangeTable::of`] makes a table of our own, for a consumer in the same process that is
//! written against DLPack. Its objects are tensor objects of the boundary (`CHIPDOCK_TYPE_TENSOR`,
//! TVM-FFI's `TensorObj`), whoever made them, where a framework in Python has `PyObject`s; and an
//! error is raised with [`ExchangeServer::host`], where Python's would be an exception. All five
//! functions are there. Not served: a table for objects of Python. In Python our tensors are
//! objects of `tvm_ffi.Tensor`, which gives them away by `__dlpack__`.

use core::ffi::{c_char, c_void};
use std::ffi::CString;

use chipdock_abi::{
    CHIPDOCK_DLPACK_MAJOR, CHIPDOCK_DLPACK_MINOR, CHIPDOCK_TYPE_TENSOR, ChipdockDLPackVersion,
    ChipdockDataType, ChipdockDevice, ChipdockManagedTensorVersioned, ChipdockObject, ChipdockTensor,
};

use crate::host::write_out;
use crate::interface::check_place;
use crate::{Access, Error, ErrorKind, HostRef, ObjectRef, Required, Tensor, TensorView, trampoline};

/// The length of a chain of tables that is followed; one that is longer is a circle.
const CHAIN_MAX: usize = 64;

/// DLPack's `SetError` of an allocator: kind and message end with NUL, and are borrowed for the
/// call.
pub type SetError =
    unsafe extern "C" fn(error_context: *mut c_void, kind: *const c_char, message: *const c_char);

/// DLPack's `DLPackManagedTensorAllocator`: makes a tensor with the extents, element type and
/// device of the prototype, whose other fields it ignores, and writes it, owned; returns 0, or
/// another number after it called `set_error`.
pub type ManagedTensorAllocator = unsafe extern "C" fn(
    prototype: *mut ChipdockTensor,
    out: *mut *mut ChipdockManagedTensorVersioned,
    error_context: *mut c_void,
    set_error: Option<SetError>,
) -> i32;

/// DLPack's `DLPackManagedTensorFromPyObjectNoSync`.
pub type ManagedTensorFromObject =
    unsafe extern "C" fn(object: *mut c_void, out: *mut *mut ChipdockManagedTensorVersioned) -> i32;

/// DLPack's `DLPackManagedTensorToPyObjectNoSync`, which takes the tensor over.
pub type ManagedTensorToObject =
    unsafe extern "C" fn(tensor: *mut ChipdockManagedTensorVersioned, out_object: *mut *mut c_void) -> i32;

/// DLPack's `DLPackDLTensorFromPyObjectNoSync`.
pub type TensorFromObject = unsafe extern "C" fn(object: *mut c_void, out: *mut ChipdockTensor) -> i32;

/// DLPack's `DLPackCurrentWorkStream`.
pub type CurrentWorkStream =
    unsafe extern "C" fn(device_type: i32, device_id: i32, out_stream: *mut *mut c_void) -> i32;

/// DLPack's `DLPackExchangeAPIHeader`, which is the same in every version.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ExchangeHeader {
    /// Version of the table that begins with this header.
    pub version: ChipdockDLPackVersion,
    /// A table of an older major version, or null.
    pub prev_api: *const ExchangeHeader,
}

/// DLPack's `DLPackExchangeAPI` of version 1.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ExchangeTable {
    /// The version.
    pub header: ExchangeHeader,
    /// Makes a tensor. Not null.
    pub managed_tensor_allocator: Option<ManagedTensorAllocator>,
    /// Returns the tensor of an object. Not null.
    pub managed_tensor_from_py_object_no_sync: Option<ManagedTensorFromObject>,
    /// Makes an object of a tensor. Not null.
    pub managed_tensor_to_py_object_no_sync: Option<ManagedTensorToObject>,
    /// Describes the tensor of an object, which still owns it. May be null.
    pub dltensor_from_py_object_no_sync: Option<TensorFromObject>,
    /// Returns the stream on which the framework works. Not null.
    pub current_work_stream: Option<CurrentWorkStream>,
}

const _: () = assert!(size_of::<ExchangeHeader>() == 16 && size_of::<ExchangeTable>() == 56);

/// A framework's exchange table of major version 1.
///
/// DLPack forbids null for every function but `dltensor_from_py_object_no_sync`, and tables with
/// other nulls exist: TVM-FFI makes one for old releases of torch that has no more than streams. So
/// a null function is an error of the method that needs it, `BrokenPlugin` with its name, and of no
/// other.
///
/// Functions that take an object of Python are called as DLPack demands: with Python's lock held,
/// and with an object of the type that has the table.
#[derive(Clone, Copy, Debug)]
pub struct Exchange(ExchangeTable);

impl Exchange {
    /// Reads a table: that of the major version 1 in the chain that begins here.
    ///
    /// # Errors
    ///
    /// * `ValueError`: null, or an address at which no table can be.
    /// * `Unsupported`: no table of the chain has that major version.
    ///
    /// # Safety
    ///
    /// * `table` is null or points to a table of DLPack's, which lives and keeps DLPack's rules as
    ///   long as the process, as do the tables that it leads to.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::exchange::Exchange;
    ///
    /// // SAFETY: null is answered.
    /// let error = unsafe { Exchange::from_raw(std::ptr::null()) }.unwrap_err();
    /// assert!(error.message().contains("null"));
    /// ```
    pub unsafe fn from_raw(table: *const c_void) -> Result<Self, Error> {
        let mut at = table.cast::<ExchangeHeader>();
        crate::ensure!(
            !at.is_null() && at.is_aligned(),
            ErrorKind::VALUE_ERROR,
            "expected the address of an exchange table of DLPack, found {at:p}{}",
            if at.is_null() { ", a null pointer" } else { "" }
        );
        let mut found = Vec::new();
        // SAFETY: the caller guarantees that the chain is of live headers.
        while let Some(header) = unsafe { at.as_ref() } {
            if header.version.major == CHIPDOCK_DLPACK_MAJOR {
                // SAFETY: a live table of that major, whose layout we know.
                return Ok(Self(unsafe { *at.cast::<ExchangeTable>() }));
            }
            if found.len() == CHAIN_MAX {
                break;
            }
            found.push(format!("{}.{}", header.version.major, header.version.minor));
            at = header.prev_api;
        }
        found.truncate(8);
        crate::bail!(
            ErrorKind::UNSUPPORTED,
            "expected an exchange table of DLPack {CHIPDOCK_DLPACK_MAJOR}.x, found {}: use a release of the framework that has it",
            found.join(", ")
        )
    }

    /// Returns the version of the table.
    #[must_use]
    pub fn version(self) -> ChipdockDLPackVersion {
        self.0.header.version
    }

    /// Returns the framework's allocator, for [`Tensor::from_managed_alloc`] and
    /// [`TvmEnv::enter_allocator`](crate::TvmEnv::enter_allocator).
    ///
    /// # Errors
    ///
    /// `BrokenPlugin`: the table has none.
    pub fn allocator(self) -> Result<ManagedTensorAllocator, Error> {
        there(self.0.managed_tensor_allocator, "managed_tensor_allocator")
    }

    /// Makes a tensor by the framework's allocator.
    ///
    /// # Errors
    ///
    /// As of [`Self::allocator`] and [`Tensor::from_managed_alloc`].
    pub fn allocate(
        self,
        shape: &[i64],
        dtype: ChipdockDataType,
        device: ChipdockDevice,
    ) -> Result<Tensor, Error> {
        // SAFETY: an allocator of a table that keeps DLPack's rules.
        unsafe { Tensor::from_managed_alloc(self.allocator()?, shape, dtype, device) }
    }

    /// Returns the tensor of an object of the framework, which shares its elements and keeps them
    /// alive. Nothing is synchronised: work on it goes to [`Self::current_work_stream`].
    ///
    /// # Errors
    ///
    /// * `RuntimeError`: the framework refuses. Its own exception is set on this thread (in Python,
    ///   `PyErr_Occurred`).
    /// * As of [`Tensor::from_dlpack_versioned`]; `ValueError` for null.
    ///
    /// After an error nothing is left behind but the exception.
    ///
    /// # Safety
    ///
    /// * `object` is null or a live object of the type that has the table, and Python's lock is
    ///   held if it is one of Python's.
    /// * With [`Access::ReadOnly`] nobody writes to the tensor.
    pub unsafe fn tensor_of(
        self,
        object: *mut c_void,
        access: Access,
        required: Required,
    ) -> Result<Tensor, Error> {
        check_object(object)?;
        let name = "managed_tensor_from_py_object_no_sync";
        let from_object = there(self.0.managed_tensor_from_py_object_no_sync, name)?;
        let mut managed = core::ptr::null_mut();
        // SAFETY: an object of the table's type, as this function requires, and a writable place.
        let status = unsafe { from_object(object, &mut managed) };
        succeeded(status, name)?;
        check_made(managed, name)?;
        // SAFETY: success wrote a managed tensor that is ours.
        unsafe { Tensor::take_versioned(managed, access, required) }
    }

    /// Calls `body` with a borrowed view of the tensor of an object, without an allocation where
    /// the table can do that. Whether the tensor may be written is not known.
    ///
    /// # Errors
    ///
    /// As of [`Self::tensor_of`]; `body` is then not called.
    ///
    /// # Safety
    ///
    /// * As of [`Self::tensor_of`]; `body` neither writes to the tensor unless it knows that it
    ///   may, nor lets Python change the object.
    pub unsafe fn with_view<R>(
        self,
        object: *mut c_void,
        body: impl FnOnce(TensorView<'_>) -> R,
    ) -> Result<R, Error> {
        let Some(view_object) = self.0.dltensor_from_py_object_no_sync else {
            // SAFETY: as this function requires.
            return unsafe { self.tensor_of(object, Access::ReadOnly, Required::NOTHING) }
                .map(|tensor| body(tensor.view()));
        };
        check_object(object)?;
        let mut tensor = ChipdockTensor {
            data: core::ptr::null_mut(),
            device: crate::CPU,
            ndim: 0,
            dtype: ChipdockDataType { code: 0, bits: 0, lanes: 0 },
            shape: core::ptr::null_mut(),
            strides: core::ptr::null_mut(),
            byte_offset: 0,
        };
        // SAFETY: an object of the table's type, as this function requires, and a writable place.
        let status = unsafe { view_object(object, &mut tensor) };
        succeeded(status, "dltensor_from_py_object_no_sync")?;
        // SAFETY: success described a tensor of the object, which lives for the call.
        unsafe { TensorView::from_raw(&tensor) }.map(body)
    }

    /// Makes an object of the framework of a tensor, and returns it, owned; in Python a new
    /// reference. `flags` are those of [`Tensor::into_dlpack_versioned`].
    ///
    /// # Errors
    ///
    /// * `RuntimeError`: the framework refuses. Its own exception is set on this thread; the tensor
    ///   is its in any case.
    /// * `BrokenPlugin`: it succeeded without an object.
    ///
    /// # Safety
    ///
    /// * Python's lock is held if the table is one of Python's.
    pub unsafe fn object_of(self, tensor: Tensor, flags: u64) -> Result<*mut c_void, Error> {
        let name = "managed_tensor_to_py_object_no_sync";
        let to_object = there(self.0.managed_tensor_to_py_object_no_sync, name)?;
        let mut object = core::ptr::null_mut();
        // SAFETY: a managed tensor that is given up, and a writable place.
        let status = unsafe { to_object(tensor.into_dlpack_versioned(flags), &mut object) };
        succeeded(status, name)?;
        check_made(object, name)?;
        Ok(object)
    }

    /// Returns the stream on which the framework works on this thread: a native one, such as a
    /// `CUstream`. Null is the default stream, and the answer for host memory.
    ///
    /// # Errors
    ///
    /// * `RuntimeError`: the framework does not know the device. Its own exception is set on this
    ///   thread.
    ///
    /// # Safety
    ///
    /// * Python's lock is held if the table is one of Python's.
    pub unsafe fn current_work_stream(self, device: ChipdockDevice) -> Result<*mut c_void, Error> {
        let work_stream = there(self.0.current_work_stream, "current_work_stream")?;
        let mut stream = core::ptr::null_mut();
        // SAFETY: a writable place.
        let status = unsafe { work_stream(device.device_type, device.device_id, &mut stream) };
        succeeded(status, "current_work_stream")?;
        Ok(stream)
    }
}

fn there<F>(function: Option<F>, name: &str) -> Result<F, Error> {
    function.ok_or_else(|| {
        let message = format!("`{name}` of the exchange table is null, which DLPack forbids");
        Error::new(ErrorKind::BROKEN_PLUGIN, message + ": report it to the maintainer of the framework")
    })
}

fn check_object(object: *mut c_void) -> Result<(), Error> {
    crate::ensure!(
        !object.is_null(),
        ErrorKind::VALUE_ERROR,
        "expected an object of the framework that has the exchange table, found a null pointer"
    );
    Ok(())
}

fn succeeded(status: i32, name: &str) -> Result<(), Error> {
    crate::ensure!(
        status == 0,
        ErrorKind::RUNTIME_ERROR,
        "`{name}` of the exchange table returned status {status}: the framework's own exception on this thread says why"
    );
    Ok(())
}

fn check_made<T>(made: *mut T, name: &str) -> Result<(), Error> {
    crate::ensure!(
        !made.is_null(),
        ErrorKind::BROKEN_PLUGIN,
        "`{name}` of the exchange table succeeded and made nothing: report it to the maintainer of the framework"
    );
    Ok(())
}

/// What a table of our own needs to know: [`ExchangeTable::of`].
pub trait ExchangeServer: 'static {
    /// Returns the host that errors are raised with.
    fn host() -> HostRef;

    /// Makes a tensor of that description.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a device of which there is no memory, `OutOfMemory`.
    fn allocate(shape: &[i64], dtype: ChipdockDataType, device: ChipdockDevice) -> Result<Tensor, Error>;

    /// Returns the native stream of the device on which work on this thread goes; null for the
    /// default stream.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown device.
    fn current_work_stream(device: ChipdockDevice) -> Result<*mut c_void, Error>;
}

impl ExchangeTable {
    /// Returns a table whose objects are tensor objects of the boundary.
    #[must_use]
    pub fn of<S: ExchangeServer>() -> &'static Self {
        const {
            &Self {
                header: ExchangeHeader {
                    version: ChipdockDLPackVersion {
                        major: CHIPDOCK_DLPACK_MAJOR,
                        minor: CHIPDOCK_DLPACK_MINOR,
                    },
                    prev_api: core::ptr::null(),
                },
                managed_tensor_allocator: Some(serve_allocate::<S>),
                managed_tensor_from_py_object_no_sync: Some(serve_managed::<S>),
                managed_tensor_to_py_object_no_sync: Some(serve_object::<S>),
                dltensor_from_py_object_no_sync: Some(serve_view::<S>),
                current_work_stream: Some(serve_stream::<S>),
            }
        }
    }

    /// Returns its address, as a consumer takes it.
    #[must_use]
    pub fn as_ptr(&'static self) -> *const c_void {
        core::ptr::from_ref(self).cast()
    }
}

/// Runs a function of a served table.
fn served<S: ExchangeServer>(body: impl FnOnce() -> Result<(), Error>) -> i32 {
    if trampoline::guard(S::host(), body) == 0 { 0 } else { -1 }
}

unsafe extern "C" fn serve_allocate<S: ExchangeServer>(
    prototype: *mut ChipdockTensor,
    out: *mut *mut ChipdockManagedTensorVersioned,
    error_context: *mut c_void,
    set_error: Option<SetError>,
) -> i32 {
    let made = trampoline::caught(|| {
        check_place(out)?;
        // SAFETY: DLPack's contract, a live prototype.
        let asked = unsafe { TensorView::from_raw(prototype) }?;
        let tensor = S::allocate(asked.shape(), asked.dtype(), asked.device())?;
        // SAFETY: the caller's place.
        unsafe { write_out(out, tensor.into_dlpack_versioned(0)) }
    });
    let error = match made {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error,
        Err(text) => Error::new(ErrorKind::PANIC, format!("panicked: {text}; this is a bug, report it")),
    };
    if let Some(set_error) = set_error {
        // The one kind that Python has a class of another name for.
        let kind = match error.kind() {
            kind if kind == ErrorKind::OUT_OF_MEMORY => ErrorKind::MEMORY_ERROR,
            kind => kind,
        };
        let text = |text: &str| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        let (kind, message) = (text(kind.as_str()), text(&error.message()));
        // SAFETY: the caller's function with its context, and two texts that live for the call.
        unsafe { set_error(error_context, kind.as_ptr(), message.as_ptr()) };
    }
    -1
}

/// Returns the tensor object that a consumer passed.
///
/// # Safety
///
/// * `object` is null or a live object.
unsafe fn tensor_object(object: *mut c_void) -> Result<Tensor, Error> {
    let object = core::ptr::NonNull::new(object.cast::<ChipdockObject>())
        .filter(|object| object.is_aligned())
        .ok_or_else(|| {
            Error::new(ErrorKind::VALUE_ERROR, format!("expected a tensor object, found {object:p}"))
        })?;
    // SAFETY: a live object, which begins with its header.
    let type_index = unsafe { (*object.as_ptr()).type_index };
    crate::ensure!(
        type_index == CHIPDOCK_TYPE_TENSOR,
        ErrorKind::TYPE_ERROR,
        "expected a tensor object (type {CHIPDOCK_TYPE_TENSOR}), found an object of type {type_index}"
    );
    // SAFETY: a live tensor object, of which a reference is added.
    Ok(unsafe { Tensor::from_object(ObjectRef::from_borrowed(object)) })
}

unsafe extern "C" fn serve_managed<S: ExchangeServer>(
    object: *mut c_void,
    out: *mut *mut ChipdockManagedTensorVersioned,
) -> i32 {
    served::<S>(|| {
        check_place(out)?;
        // SAFETY: DLPack's contract, with our kind of objects.
        let tensor = unsafe { tensor_object(object) }?;
        // SAFETY: the caller's place.
        unsafe { write_out(out, tensor.into_dlpack_versioned(0)) }
    })
}

unsafe extern "C" fn serve_object<S: ExchangeServer>(
    managed: *mut ChipdockManagedTensorVersioned,
    out_object: *mut *mut c_void,
) -> i32 {
    served::<S>(|| {
        crate::ensure!(
            !managed.is_null(),
            ErrorKind::VALUE_ERROR,
            "expected a managed tensor, found a null pointer"
        );
        // SAFETY: the tensor is given up by the caller in any case. A tensor object cannot say that
        // it is read-only.
        let tensor = unsafe { Tensor::take_versioned(managed, Access::ReadWrite, Required::NOTHING) }?;
        check_place(out_object)?;
        // SAFETY: the caller's place, which owns the reference afterwards.
        unsafe { write_out(out_object, tensor.into_object().into_raw().as_ptr().cast()) }
    })
}

unsafe extern "C" fn serve_view<S: ExchangeServer>(object: *mut c_void, out: *mut ChipdockTensor) -> i32 {
    served::<S>(|| {
        // SAFETY: DLPack's contract, with our kind of objects, and the caller's place; the object
        // outlives the description.
        unsafe { write_out(out, *tensor_object(object)?.view().raw()) }
    })
}

unsafe extern "C" fn serve_stream<S: ExchangeServer>(
    device_type: i32,
    device_id: i32,
    out_stream: *mut *mut c_void,
) -> i32 {
    served::<S>(|| {
        let stream = S::current_work_stream(ChipdockDevice { device_type, device_id })?;
        // SAFETY: the caller's place.
        unsafe { write_out(out_stream, stream) }
    })
}
