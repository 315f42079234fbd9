//! Import and export of DLPack tensors, in both managed structs.

use core::ffi::c_void;
use core::ptr::{addr_of, addr_of_mut};

use chipdock_abi as abi;
use chipdock_abi::{
    CHIPDOCK_DLPACK_MAJOR, CHIPDOCK_DLPACK_MINOR, CHIPDOCK_DLPACK_READ_ONLY, CHIPDOCK_DLPACK_SUBBYTE_PADDED,
    ChipdockDLPackVersion, ChipdockDevice, ChipdockManagedTensor, ChipdockManagedTensorVersioned,
};

use crate::{Error, ErrorKind, Tensor, TensorParts, TensorView, trampoline};

/// The access that a tensor's receiver needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads and writes: a read-only tensor is refused.
    ReadWrite,
    /// Reads only: any tensor is accepted.
    ReadOnly,
}

/// What a receiver of a foreign tensor requires of its memory; [`Required::NOTHING`] takes any.
///
/// # Source
///
/// The arguments `require_alignment` and `require_contiguous` of TVM-FFI's `TVMFFITensorFromDLPack`
/// and `TVMFFITensorFromDLPackVersioned`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Required {
    /// A number of bytes of which the address of the first element is a multiple; 0 for no
    /// requirement. Where data is a handle and no address, the byte offset is what must be a
    /// multiple.
    pub alignment_bytes: u64,
    /// Whether the elements must be compact and row-major.
    pub compact: bool,
}

impl Required {
    /// No requirement.
    pub const NOTHING: Self = Self { alignment_bytes: 0, compact: false };

    /// Checks a tensor.
    ///
    /// # Errors
    ///
    /// `ValueError` with what was found.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::{Required, Tensor};
    ///
    /// let tensor = Tensor::from_slice(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
    /// let required = Required { alignment_bytes: 4, compact: true };
    /// required.check(tensor.view())?;
    /// let columns = tensor.as_strided(&[2, 2], &[1, 2], 0)?;
    /// assert!(required.check(columns.view()).unwrap_err().message().contains("strides [1, 2]"));
    /// # Ok::<(), chipdock_plugin_api::Error>(())
    /// ```
    pub fn check(self, view: TensorView<'_>) -> Result<(), Error> {
        let offset = view.byte_offset();
        if self.alignment_bytes != 0 {
            let is_address = has_addresses(view.device());
            let at = if is_address { (view.data().addr() as u64).wrapping_add(offset) } else { offset };
            let off = at % self.alignment_bytes;
            crate::ensure!(
                off == 0,
                ErrorKind::VALUE_ERROR,
                "expected a first element at a multiple of {} bytes, found {} {at:#x}, which is {off} bytes past one: copy the \
                 tensor to aligned memory",
                self.alignment_bytes,
                if is_address { "address" } else { "byte offset" }
            );
        }
        crate::ensure!(
            !self.compact || view.is_compact(),
            ErrorKind::VALUE_ERROR,
            "expected compact, row-major elements, found shape {:?} with strides {:?}: copy the tensor",
            view.shape(),
            view.strides().unwrap_or_default()
        );
        Ok(())
    }
}

/// Returns true if data of that device is an address on which one can calculate, as TVM-FFI's
/// `IsDirectAddressDevice` has it: host memory, and the memory of DLPack's devices 2, 3, 10, 11
/// and 13. Elsewhere data is a handle.
pub(crate) fn has_addresses(device: ChipdockDevice) -> bool {
    matches!(device.device_type, abi::CHIPDOCK_DEVICE_CPU | 2 | 3 | 10 | 11 | 13)
}

/// A managed tensor of a producer, and the function that calls its deleter once when the tensor
/// made from it is gone.
struct Producer<T>(*mut T, unsafe fn(*mut T));

// SAFETY: DLPack lets any thread call the deleter.
unsafe impl<T> Send for Producer<T> {}
// SAFETY: nothing is reached through a shared reference.
unsafe impl<T> Sync for Producer<T> {}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        // SAFETY: the managed tensor was taken over, and this runs once.
        unsafe { (self.1)(self.0) };
    }
}

unsafe fn delete_managed(managed: *mut ChipdockManagedTensor) {
    // SAFETY: a live managed tensor that we own; if its deleter is null, there is nothing to free.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

unsafe fn delete_versioned(managed: *mut ChipdockManagedTensorVersioned) {
    // SAFETY: a live managed tensor that we own; if its deleter is null, there is nothing to free.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

fn null() -> Error {
    Error::new(ErrorKind::VALUE_ERROR, "expected a managed tensor, found a null pointer")
}

/// Checks the description of a foreign tensor, beyond what a view requires, and what its receiver
/// requires.
fn check(view: TensorView<'_>, required: Required) -> Result<(), Error> {
    let is_empty = view.size_bytes()? == 0;
    crate::ensure!(
        is_empty || !view.data().is_null() || !has_addresses(view.device()),
        ErrorKind::VALUE_ERROR,
        "expected the address of the elements of shape {:?}, found a null pointer",
        view.shape()
    );
    required.check(view)
}

/// Returns the parts of a foreign tensor, borrowed from its view.
pub(crate) fn parts(view: TensorView<'_>) -> TensorParts<'_> {
    TensorParts {
        data: view.data(),
        device: view.device(),
        dtype: view.dtype(),
        shape: view.shape(),
        strides: view.strides(),
        byte_offset: view.byte_offset(),
    }
}

impl Tensor {
    /// Takes over a managed tensor of DLPack before 1.0; its deleter is called when the last
    /// reference is dropped.
    ///
    /// Shape and strides are copied; null strides become those of a compact tensor.
    ///
    /// # Errors
    ///
    /// `ValueError` for null, an inconsistent description, or a tensor that is not as `required`.
    /// The managed tensor is taken over only on success: after an error the caller still owns it.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    ///
    /// # Source
    ///
    /// TVM-FFI's `TVMFFITensorFromDLPack`, which trusts the description.
    pub unsafe fn from_dlpack(
        managed: *mut ChipdockManagedTensor,
        required: Required,
    ) -> Result<Self, Error> {
        if managed.is_null() {
            return Err(null());
        }
        // SAFETY: the caller guarantees that it is live; the description does not change while the
        // tensor lives.
        unsafe {
            let view = TensorView::from_raw(addr_of!((*managed).dl_tensor))?;
            check(view, required)?;
            Self::from_owner(parts(view), Producer(managed, delete_managed))
        }
    }

    /// Takes over a managed tensor of DLPack 1.x; its deleter is called when the last reference is
    /// dropped.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: another major version, of which only the deleter may be used; or elements
    ///   below one byte that each fill one, where packed ones are what element types mean here.
    /// * `ValueError`: null, an inconsistent description, a tensor that is not as `required`, or a
    ///   read-only tensor where `access` is [`Access::ReadWrite`].
    ///
    /// The managed tensor is taken over only on success: after an error the caller still owns it.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    /// * With [`Access::ReadOnly`] nobody writes to the tensor. It does not remember that it was
    ///   read-only: whoever hands it on says so again.
    ///
    /// # Source
    ///
    /// TVM-FFI's `TVMFFITensorFromDLPackVersioned`, which looks neither at the version nor whether
    /// the tensor is read-only.
    pub unsafe fn from_dlpack_versioned(
        managed: *mut ChipdockManagedTensorVersioned,
        access: Access,
        required: Required,
    ) -> Result<Self, Error> {
        if managed.is_null() {
            return Err(null());
        }
        // SAFETY: the caller guarantees that it is live; the version comes first in every major.
        let version = unsafe { (*managed).version };
        if version.major != CHIPDOCK_DLPACK_MAJOR {
            return Err(Error::new(
                ErrorKind::UNSUPPORTED,
                format!(
                    "expected DLPack {CHIPDOCK_DLPACK_MAJOR}.x, found {}.{}: ask the producer for version \
                     {CHIPDOCK_DLPACK_MAJOR}",
                    version.major, version.minor
                ),
            ));
        }
        // SAFETY: live, and of a major whose layout we know.
        unsafe {
            if (*managed).flags & CHIPDOCK_DLPACK_READ_ONLY != 0 && access == Access::ReadWrite {
                return Err(Error::new(
                    ErrorKind::VALUE_ERROR,
                    "expected a tensor that may be written, found a read-only one: copy it, or take it read-only",
                ));
            }
            crate::ensure!(
                (*managed).flags & CHIPDOCK_DLPACK_SUBBYTE_PADDED == 0,
                ErrorKind::UNSUPPORTED,
                "expected packed elements, found elements that are padded to a byte: ask the producer for a packed tensor"
            );
            let view = TensorView::from_raw(addr_of!((*managed).dl_tensor))?;
            check(view, required)?;
            Self::from_owner(parts(view), Producer(managed, delete_versioned))
        }
    }

    /// Takes over a managed tensor as [`Self::from_dlpack_versioned`] does; after an error it is
    /// deleted.
    ///
    /// # Safety
    ///
    /// * As of [`Self::from_dlpack_versioned`], and `managed` is not null.
    pub(crate) unsafe fn take_versioned(
        managed: *mut ChipdockManagedTensorVersioned,
        access: Access,
        required: Required,
    ) -> Result<Self, Error> {
        // SAFETY: as this function requires; after an error it is still ours, and its deleter is in
        // the same place in every major.
        unsafe {
            let taken = Self::from_dlpack_versioned(managed, access, required);
            if taken.is_err() {
                delete_versioned(managed);
            }
            taken
        }
    }

    /// Converts the tensor to a managed tensor of DLPack before 1.0, which the caller owns and
    /// releases by its deleter. That version cannot say that a tensor is read-only.
    ///
    /// # Source
    ///
    /// TVM-FFI's `TVMFFITensorToDLPack`.
    #[must_use]
    pub fn into_dlpack(self) -> *mut ChipdockManagedTensor {
        let dl_tensor = *self.view().raw();
        let export = Box::into_raw(Box::new(Export {
            managed: ChipdockManagedTensor {
                dl_tensor,
                manager_ctx: core::ptr::null_mut(),
                deleter: Some(delete_export::<ChipdockManagedTensor>),
            },
            _tensor: self,
        }));
        // SAFETY: just allocated; the managed tensor comes first.
        unsafe {
            (*export).managed.manager_ctx = export.cast::<c_void>();
            addr_of_mut!((*export).managed)
        }
    }

    /// Converts the tensor to a managed tensor of DLPack 1.3, which the caller owns and releases by
    /// its deleter. `flags` are `CHIPDOCK_DLPACK_*`: [`abi::CHIPDOCK_DLPACK_READ_ONLY`] for a
    /// tensor that came in as read-only.
    ///
    /// # Source
    ///
    /// TVM-FFI's `TVMFFITensorToDLPackVersioned`, whose flags are always 0.
    #[must_use]
    pub fn into_dlpack_versioned(self, flags: u64) -> *mut ChipdockManagedTensorVersioned {
        let dl_tensor = *self.view().raw();
        let export = Box::into_raw(Box::new(Export {
            managed: ChipdockManagedTensorVersioned {
                version: ChipdockDLPackVersion { major: CHIPDOCK_DLPACK_MAJOR, minor: CHIPDOCK_DLPACK_MINOR },
                manager_ctx: core::ptr::null_mut(),
                deleter: Some(delete_export::<ChipdockManagedTensorVersioned>),
                flags,
                dl_tensor,
            },
            _tensor: self,
        }));
        // SAFETY: just allocated; the managed tensor comes first.
        unsafe {
            (*export).managed.manager_ctx = export.cast::<c_void>();
            addr_of_mut!((*export).managed)
        }
    }
}

/// A managed tensor, and the reference that keeps its memory alive.
#[repr(C)]
struct Export<M> {
    managed: M,
    _tensor: Tensor,
}

unsafe extern "C" fn delete_export<M>(managed: *mut M) {
    if managed.is_null() {
        return;
    }
    // SAFETY: made by `Box::into_raw` of an `Export<M>`, whose first field this is; called once.
    trampoline::guard_release(|| drop(unsafe { Box::from_raw(managed.cast::<Export<M>>()) }));
}
