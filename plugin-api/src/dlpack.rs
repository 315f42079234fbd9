//! Import and export of DLPack tensors, in both managed structs.

use core::ffi::c_void;
use core::ptr::{addr_of, addr_of_mut};

use chipdock_abi::{
    CHIPDOCK_DLPACK_MAJOR, CHIPDOCK_DLPACK_MINOR, CHIPDOCK_DLPACK_READ_ONLY, ChipdockDLPackVersion,
    ChipdockManagedTensor, ChipdockManagedTensorVersioned,
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

/// A managed tensor of a producer, and the function that calls its deleter once when the tensor made from it is gone.
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

/// Returns the parts of a foreign tensor, borrowed from its view.
fn parts(view: TensorView<'_>) -> TensorParts<'_> {
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
    /// Takes over a managed tensor of DLPack before 1.0; its deleter is called when the last reference is dropped.
    ///
    /// Shape and strides are copied; null strides become those of a compact tensor.
    ///
    /// # Errors
    ///
    /// `ValueError` for null or an inconsistent description. The managed tensor is taken over only on success: after an
    /// error the caller still owns it.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    pub unsafe fn from_dlpack(managed: *mut ChipdockManagedTensor) -> Result<Self, Error> {
        if managed.is_null() {
            return Err(null());
        }
        // SAFETY: the caller guarantees that it is live; the description does not change while the tensor lives.
        unsafe {
            let view = TensorView::from_raw(addr_of!((*managed).dl_tensor))?;
            view.size_bytes()?;
            Self::from_owner(parts(view), Producer(managed, delete_managed))
        }
    }

    /// Takes over a managed tensor of DLPack 1.x; its deleter is called when the last reference is dropped.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: another major version; only the deleter of such a tensor may be used.
    /// * `ValueError`: null or an inconsistent description, or a read-only tensor where `access` is
    ///   [`Access::ReadWrite`].
    ///
    /// The managed tensor is taken over only on success: after an error the caller still owns it.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    /// * With [`Access::ReadOnly`] nobody writes to the tensor.
    pub unsafe fn from_dlpack_versioned(
        managed: *mut ChipdockManagedTensorVersioned,
        access: Access,
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
            let view = TensorView::from_raw(addr_of!((*managed).dl_tensor))?;
            view.size_bytes()?;
            Self::from_owner(parts(view), Producer(managed, delete_versioned))
        }
    }

    /// Converts the tensor to a managed tensor of DLPack before 1.0, which the caller owns and releases by its deleter.
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

    /// Converts the tensor to a managed tensor of DLPack 1.3, which the caller owns and releases by its deleter. `flags`
    /// are `CHIPDOCK_DLPACK_*`.
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
