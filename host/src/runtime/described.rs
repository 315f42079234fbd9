//! Keeps a tensor's description twice (HOST-A9): one for the host, and one to be lent to calls,
//! which can write there though they must not. The host computes its own accesses from its own
//! copy; a call costs nothing more for it.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_abi::{ChipdockDataType, ChipdockDevice, ChipdockTensor};
use chipdock_plugin_api as api;

use super::tables::broken;
use crate::error::Error;

/// Number of axes whose extents and strides fit within a description.
const INLINE_AXES: usize = 6;

/// A description with its extents and strides. It points into itself once it was set, and must not
/// move after that.
struct Description {
    tensor: ChipdockTensor,
    inline_axes: [i64; INLINE_AXES * 2],
    more_axes: Box<[i64]>,
}

impl Description {
    fn new() -> Self {
        let tensor = ChipdockTensor {
            data: ptr::null_mut(),
            device: ChipdockDevice { device_type: 0, device_id: 0 },
            ndim: 0,
            dtype: ChipdockDataType { code: 0, bits: 0, lanes: 0 },
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        Self { tensor, inline_axes: [0; INLINE_AXES * 2], more_axes: Box::default() }
    }

    fn set(&mut self, parts: &api::TensorParts<'_>) {
        let count = parts.shape.len();
        let axes: &mut [i64] = if count <= INLINE_AXES {
            &mut self.inline_axes
        } else {
            self.more_axes = vec![0; count * 2].into_boxed_slice();
            &mut self.more_axes
        };
        let (extents, strides) = axes.split_at_mut(count);
        let mut stride = 1_i64;
        for axis in (0..count).rev() {
            extents[axis] = parts.shape[axis];
            strides[axis] = parts.strides.map_or(stride, |given| given[axis]);
            stride = stride.wrapping_mul(parts.shape[axis]);
        }
        self.tensor = ChipdockTensor {
            data: parts.data,
            device: parts.device,
            // A tensor of more axes than fit was refused before.
            ndim: i32::try_from(count).unwrap_or(0),
            dtype: parts.dtype,
            shape: extents.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: parts.byte_offset,
        };
    }

    /// Returns extents, then strides, from their original place, whatever the description says now.
    fn axes(&self, count: usize) -> &[i64] {
        if count <= INLINE_AXES { &self.inline_axes[..count * 2] } else { &self.more_axes }
    }

    /// Returns the original places of extents and strides.
    fn places(&self, count: usize) -> (*const i64, *const i64) {
        let axes = self.axes(count);
        (axes.as_ptr(), axes[count..].as_ptr())
    }
}

/// The two descriptions of a tensor.
pub(crate) struct Described {
    own: Description,
    lent: UnsafeCell<Description>,
    /// Whether the lent description was found changed and repaired, and this has not been reported
    /// yet.
    is_changed: AtomicBool,
}

// SAFETY: the host's own description does not change while it is shared; the lent one is read and
// repaired as plain words, which another thread writes only if a callee breaks the contract.
unsafe impl Send for Described {}
// SAFETY: the host's own description does not change while it is shared; the lent one is read and
// repaired as plain words, which another thread writes only if a callee breaks the contract.
unsafe impl Sync for Described {}

impl Described {
    /// Makes a description of nothing yet.
    pub(super) fn new() -> Self {
        let is_changed = AtomicBool::new(false);
        Self { own: Description::new(), lent: UnsafeCell::new(Description::new()), is_changed }
    }

    /// Describes a tensor. The description points into itself from now on: it lies on the heap
    /// already.
    pub(super) fn set(&mut self, parts: &api::TensorParts<'_>) {
        self.own.set(parts);
        self.lent.get_mut().set(parts);
        *self.is_changed.get_mut() = false;
    }

    /// Returns the host's own description.
    pub(super) fn own(&self) -> &ChipdockTensor {
        &self.own.tensor
    }

    fn count(&self) -> usize {
        usize::try_from(self.own.tensor.ndim).unwrap_or(0)
    }

    /// Returns the description for a call, repaired if an earlier call has changed it. Valid as
    /// long as this.
    pub(super) fn lent(&self) -> *mut ChipdockTensor {
        if self.found().is_some() {
            self.mend();
        }
        // SAFETY: within the cell.
        unsafe { &raw mut (*self.lent.get()).tensor }
    }

    /// Checks that calls left the lent description unchanged; repairs it in any case.
    ///
    /// # Errors
    ///
    /// `BrokenPlugin`, once for each time that it was found changed.
    pub(super) fn check(&self) -> Result<(), Error> {
        let found = self.found();
        if found.is_some() {
            self.mend();
        }
        if !self.is_changed.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let what = found.unwrap_or_else(|| "it was put right since".to_owned());
        Err(broken(format!("a function that a tensor was passed to changed what describes it: {what}")))
    }

    fn mend(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
        let (own, count) = (&self.own, self.count());
        // SAFETY: ours, and no other reference into it exists; the written values are those that
        // stood there.
        unsafe {
            let lent = &mut *self.lent.get();
            let (shape, strides) = lent.places(count);
            lent.tensor =
                ChipdockTensor { shape: shape.cast_mut(), strides: strides.cast_mut(), ..own.tensor };
            if count <= INLINE_AXES {
                lent.inline_axes = own.inline_axes;
            } else {
                lent.more_axes.copy_from_slice(&own.more_axes);
            }
        }
    }

    /// Returns the difference between the lent description and the host's own, if there is one.
    fn found(&self) -> Option<String> {
        let (own, count) = (&self.own.tensor, self.count());
        // SAFETY: ours, and only a callee that breaks the contract writes it; read as plain words.
        let description = unsafe { &*self.lent.get() };
        let (lent, (shape, strides)) = (&description.tensor, description.places(count));
        let is_same = lent.data == own.data
            && lent.device == own.device
            && lent.ndim == own.ndim
            && lent.dtype == own.dtype
            && lent.byte_offset == own.byte_offset
            && lent.shape.cast_const() == shape
            && lent.strides.cast_const() == strides
            && description.axes(count) == self.own.axes(count);
        (!is_same).then(|| self.changed(description))
    }

    #[cold]
    fn changed(&self, description: &Description) -> String {
        let (own, count, lent) = (&self.own.tensor, self.count(), &description.tensor);
        let text = api::dtype::text;
        if lent.ndim != own.ndim {
            return format!("its {} axes became {}", own.ndim, lent.ndim);
        }
        if lent.dtype != own.dtype {
            return format!("its element type {} became {}", text(own.dtype), text(lent.dtype));
        }
        if lent.data != own.data || lent.byte_offset != own.byte_offset {
            return "where its elements are".to_owned();
        }
        if lent.device != own.device {
            return "its device".to_owned();
        }
        if (lent.shape.cast_const(), lent.strides.cast_const()) != description.places(count) {
            return "where its extents or strides are".to_owned();
        }
        let (before, now) = (&self.own.axes(count)[..count], &description.axes(count)[..count]);
        if before == now { "its strides".to_owned() } else { format!("its shape {before:?} became {now:?}") }
    }
}
