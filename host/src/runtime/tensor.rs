//! Tensors: reference-counted arrays on a device.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

use chipdock_abi::{
    CHIPDOCK_TYPE_DLTENSOR_PTR, ChipdockAny, ChipdockAnyValue, ChipdockCopyEnd, ChipdockDataType,
    ChipdockManagedTensor, ChipdockManagedTensorVersioned,
};
use chipdock_ir::{DType, TypeCode};
use chipdock_plugin_api as api;

use super::capture::Used;
use super::copy::{span, zeroed};
use super::described::Described;
use super::device::Device;
use super::device_state::DeviceState;
use super::pool::Body;
use crate::boundary::services::from_api;
use crate::error::{Error, ErrorKind};
use crate::host::Host;

/// A tensor: elements of one type on one device, with a shape and strides. Cloning shares the
/// elements.
///
/// Its memory comes from the device's pool and goes back there with the last reference. Reads and
/// writes of whole tensors ([`Tensor::to_bytes`], [`Tensor::copy_from_bytes`],
/// [`Tensor::copy_from`] and what is made of them) take turns where several threads use the same
/// memory at once (HOST-W6). The caller orders calls that use it, as it does with work on streams.
#[derive(Clone)]
pub struct Tensor {
    memory: Memory,
    device: Device,
    read_only: bool,
}

/// Owner of a tensor's elements.
#[derive(Clone)]
enum Memory {
    /// A block of the device's pool.
    Pooled(ManuallyDrop<Arc<Body>>),
    /// Another owner: foreign code, or another tensor of the host.
    Shared(Shared),
}

#[derive(Clone)]
struct Shared {
    described: Arc<Described>,
    #[expect(dead_code, reason = "held, not read: the elements are its")]
    owner: api::Tensor,
}

impl Memory {
    /// Takes over a tensor whose description was checked.
    fn shared(owner: api::Tensor) -> Self {
        let mut described = Arc::new(Described::new());
        let view = owner.view();
        // On the heap first: the description points into itself.
        if let Some(described) = Arc::get_mut(&mut described) {
            described.set(&api::TensorParts {
                data: view.data(),
                device: view.device(),
                dtype: view.dtype(),
                shape: view.shape(),
                strides: view.strides(),
                byte_offset: view.byte_offset(),
            });
        }
        Self::Shared(Shared { described, owner })
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        if let Memory::Pooled(body) = &mut self.memory {
            // SAFETY: taken once, and not used again.
            let body = unsafe { ManuallyDrop::take(body) };
            let state = self.device.state();
            // In a forked child the parent's device does not exist.
            if state.services.check_process().is_ok() {
                state.release(body);
            }
        }
    }
}

/// The memory of a tensor without its device, for queued work that may outlive the tensor.
pub(super) struct Kept {
    memory: Memory,
    state: Weak<DeviceState>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Memory::Pooled(body) = &mut self.memory {
            // SAFETY: taken once, and not used again.
            let body = unsafe { ManuallyDrop::take(body) };
            match self.state.upgrade() {
                Some(state) if state.services.check_process().is_ok() => state.release(body),
                // The memory went with its device.
                _ => {}
            }
        }
    }
}

/// DLPack 1.3's codes of two floats of 8 bits.
const CODE_FLOAT8_E4M3FN: u8 = 10;
const CODE_FLOAT8_E5M2: u8 = 12;

/// Returns the element type of a DLPack type, if the IR has it.
#[must_use]
pub fn dtype_of(dtype: ChipdockDataType) -> Option<DType> {
    use chipdock_abi as abi;
    let code = match dtype.code {
        abi::CHIPDOCK_DTYPE_INT => TypeCode::Int,
        abi::CHIPDOCK_DTYPE_UINT => TypeCode::UInt,
        abi::CHIPDOCK_DTYPE_FLOAT => TypeCode::Float,
        abi::CHIPDOCK_DTYPE_BFLOAT => TypeCode::BFloat,
        abi::CHIPDOCK_DTYPE_BOOL => TypeCode::Bool,
        CODE_FLOAT8_E4M3FN => TypeCode::Float8E4M3Fn,
        CODE_FLOAT8_E5M2 => TypeCode::Float8E5M2,
        _ => return None,
    };
    let scalar = DType { code, bits: dtype.bits, lanes: 1 };
    let is_known = DType::SCALARS.contains(&scalar) || DType::STORAGE.contains(&scalar);
    (is_known && dtype.lanes > 0).then(|| scalar.with_lanes(dtype.lanes))
}

pub(super) fn dl_dtype(dtype: DType) -> ChipdockDataType {
    use chipdock_abi as abi;
    let code = match dtype.code {
        TypeCode::Int => abi::CHIPDOCK_DTYPE_INT,
        TypeCode::UInt => abi::CHIPDOCK_DTYPE_UINT,
        TypeCode::Float => abi::CHIPDOCK_DTYPE_FLOAT,
        TypeCode::BFloat => abi::CHIPDOCK_DTYPE_BFLOAT,
        TypeCode::Bool => abi::CHIPDOCK_DTYPE_BOOL,
        TypeCode::Handle => abi::CHIPDOCK_DTYPE_HANDLE,
        TypeCode::Float8E4M3Fn => CODE_FLOAT8_E4M3FN,
        TypeCode::Float8E5M2 => CODE_FLOAT8_E5M2,
    };
    ChipdockDataType { code, bits: dtype.bits, lanes: dtype.lanes }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::Value, message)
}

impl Tensor {
    /// Makes a compact tensor with uninitialised elements: they keep the former content of the
    /// memory.
    ///
    /// # Errors
    ///
    /// `ValueError` for a negative extent or a size beyond 63 bits; `OutOfMemory` after the pool
    /// was trimmed.
    pub fn empty(device: &Device, shape: &[i64], dtype: DType) -> Result<Self, Error> {
        let state = device.state();
        state.services.check_process()?;
        let dtype = dl_dtype(dtype);
        let size_bytes = api::size_bytes(shape, dtype).map_err(|error| from_api(&error))?;
        if i32::try_from(shape.len()).is_err() {
            return Err(value_error(format!("{} axes are too many", shape.len())));
        }
        let body = state.allocate(size_bytes, dtype, shape)?;
        Ok(Self { memory: Memory::Pooled(ManuallyDrop::new(body)), device: device.clone(), read_only: false })
    }

    /// Makes a compact tensor of zeros.
    ///
    /// # Errors
    ///
    /// As [`Self::empty`] and [`Self::copy_from_bytes`].
    pub fn zeros(device: &Device, shape: &[i64], dtype: DType) -> Result<Self, Error> {
        let tensor = Self::empty(device, shape, dtype)?;
        let size_bytes = usize::try_from(tensor.size_bytes()).unwrap_or(usize::MAX);
        tensor.copy_from_bytes(&zeroed(size_bytes)?)?;
        Ok(tensor)
    }

    /// Makes a compact tensor with the elements in `bytes`, row-major.
    ///
    /// # Errors
    ///
    /// As [`Self::empty`] and [`Self::copy_from_bytes`].
    pub fn from_bytes(device: &Device, shape: &[i64], dtype: DType, bytes: &[u8]) -> Result<Self, Error> {
        let tensor = Self::empty(device, shape, dtype)?;
        tensor.copy_from_bytes(bytes)?;
        Ok(tensor)
    }

    /// Makes a compact tensor with these elements, row-major.
    ///
    /// # Errors
    ///
    /// As [`Self::empty`] and [`Self::copy_from_bytes`].
    pub fn from_slice<T: api::Element>(
        device: &Device,
        shape: &[i64],
        elements: &[T],
    ) -> Result<Self, Error> {
        let Some(dtype) = dtype_of(T::DTYPE) else {
            return Err(Error::new(ErrorKind::Unsupported, "the IR has no such element type"));
        };
        // SAFETY: an `Element` is a plain number without padding.
        let bytes = unsafe {
            std::slice::from_raw_parts(elements.as_ptr().cast::<u8>(), std::mem::size_of_val(elements))
        };
        Self::from_bytes(device, shape, dtype, bytes)
    }

    /// Makes a tensor from a value that other code made: the result of a function, for instance.
    ///
    /// # Errors
    ///
    /// `NotFound` when it lives on a device that this host does not have, `Unsupported` when the IR
    /// does not have its element type.
    pub fn from_value(host: &Host, value: api::Tensor) -> Result<Self, Error> {
        let view = value.view();
        if dtype_of(view.dtype()).is_none() {
            let message = format!("elements of type {} are not known", api::dtype::text(view.dtype()));
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let device = host.device_by_number(view.device())?;
        Ok(Self { memory: Memory::shared(value), device, read_only: false })
    }

    /// Takes over a managed tensor of DLPack before 1.0.
    ///
    /// # Errors
    ///
    /// As [`Self::from_value`]; `ValueError` for null or a malformed tensor. After an error the
    /// caller still owns it.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    pub unsafe fn from_dlpack(host: &Host, managed: *mut ChipdockManagedTensor) -> Result<Self, Error> {
        // SAFETY: `managed` is null or live, as this function requires; a null pointer is answered
        // below.
        if let Some(managed) = unsafe { managed.as_ref() } {
            Self::check_known(host, managed.dl_tensor.dtype, managed.dl_tensor.device)?;
        }
        // SAFETY: `managed` is live and ours to give up, as this function requires.
        let value = unsafe { api::Tensor::from_dlpack(managed, api::Required::NOTHING) }
            .map_err(|error| from_api(&error))?;
        Self::from_value(host, value)
    }

    /// Takes over a managed tensor of DLPack 1.x. One that is marked read-only may be read and
    /// passed to functions that only read it; [`Self::copy_from_bytes`] refuses it.
    ///
    /// # Errors
    ///
    /// As [`Self::from_dlpack`]; `Unsupported` for another major version.
    ///
    /// # Safety
    ///
    /// * `managed` is null or a live managed tensor that the caller owns.
    /// * Nobody writes a read-only tensor through it.
    pub unsafe fn from_dlpack_versioned(
        host: &Host,
        managed: *mut ChipdockManagedTensorVersioned,
    ) -> Result<Self, Error> {
        let mut read_only = false;
        // SAFETY: `managed` is null or live, as this function requires; the version comes first in
        // every major, and the rest is read only where the major is ours.
        if let Some(major) = unsafe { managed.as_ref() }.map(|managed| managed.version.major)
            && major == chipdock_abi::CHIPDOCK_DLPACK_MAJOR
        {
            // SAFETY: live, and of a major whose layout we know.
            let managed = unsafe { &*managed };
            read_only = managed.flags & chipdock_abi::CHIPDOCK_DLPACK_READ_ONLY != 0;
            Self::check_known(host, managed.dl_tensor.dtype, managed.dl_tensor.device)?;
        }
        // SAFETY: `managed` is live and ours to give up, and nobody writes a read-only tensor.
        let value = unsafe {
            api::Tensor::from_dlpack_versioned(managed, api::Access::ReadOnly, api::Required::NOTHING)
        }
        .map_err(|error| from_api(&error))?;
        let mut tensor = Self::from_value(host, value)?;
        tensor.read_only = read_only;
        Ok(tensor)
    }

    /// Checks a foreign tensor before it is taken over: afterwards it could not be returned.
    fn check_known(
        host: &Host,
        dtype: ChipdockDataType,
        device: chipdock_abi::ChipdockDevice,
    ) -> Result<(), Error> {
        if dtype_of(dtype).is_none() {
            let message = format!("elements of type {} are not known", api::dtype::text(dtype));
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        host.device_by_number(device).map(|_| ())
    }

    /// Returns the tensor for code that uses DLPack before 1.0; released by its deleter. That
    /// version cannot express that a tensor is read-only: use [`Self::to_dlpack_versioned`].
    ///
    /// # Errors
    ///
    /// As [`Self::to_value`].
    pub fn to_dlpack(&self) -> Result<*mut ChipdockManagedTensor, Error> {
        Ok(self.to_value()?.into_dlpack())
    }

    /// Returns the tensor for code that uses DLPack 1.x; released by its deleter.
    ///
    /// # Errors
    ///
    /// As [`Self::to_value`].
    pub fn to_dlpack_versioned(&self) -> Result<*mut ChipdockManagedTensorVersioned, Error> {
        let flags = if self.read_only { chipdock_abi::CHIPDOCK_DLPACK_READ_ONLY } else { 0 };
        Ok(self.to_value()?.into_dlpack_versioned(flags))
    }

    /// Returns the tensor as a value of the boundary, for a function that keeps it. It shares the
    /// elements, and keeps the host.
    ///
    /// # Errors
    ///
    /// `ValueError` when its size does not fit 64 bits, which does not happen.
    pub fn to_value(&self) -> Result<api::Tensor, Error> {
        let view = self.view();
        let parts = api::TensorParts {
            data: view.data(),
            device: view.device(),
            dtype: view.dtype(),
            shape: view.shape(),
            strides: view.strides(),
            byte_offset: view.byte_offset(),
        };
        // SAFETY: the parts are this tensor's, and the owner is this tensor.
        unsafe { api::Tensor::from_owner(parts, self.clone()) }.map_err(|error| from_api(&error))
    }

    fn described(&self) -> &Described {
        match &self.memory {
            Memory::Pooled(body) => body.described(),
            Memory::Shared(shared) => &shared.described,
        }
    }

    /// Checks that the functions that it was passed to left its description unchanged (HOST-A9).
    /// The description is restored in any case; the elements are intact if only it was changed.
    /// Reads and writes of elements check this first.
    ///
    /// # Errors
    ///
    /// `BrokenPlugin`, once, with the changed field.
    pub fn check_description(&self) -> Result<(), Error> {
        self.described().check()
    }

    /// Returns the tensor, borrowed.
    #[must_use]
    pub fn view(&self) -> api::TensorView<'_> {
        // SAFETY: our own description, of a shape that was checked, live as long as `self`.
        unsafe { api::TensorView::from_checked(self.described().own()) }
    }

    /// Returns its device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the extents, in elements.
    #[must_use]
    pub fn shape(&self) -> &[i64] {
        self.view().shape()
    }

    /// Returns the strides, in elements.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        // The host's own tensors always have them, and so do the boundary's values (V.6).
        self.view().strides().unwrap_or(&[])
    }

    /// Returns the number of axes.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape().len()
    }

    /// Returns the extent of an axis, in elements; a negative axis counts from the last one.
    ///
    /// # Errors
    ///
    /// `IndexError` when there is no such axis.
    pub fn size(&self, axis: i64) -> Result<i64, Error> {
        self.of_axis(self.shape(), axis)
    }

    /// Returns the stride of an axis, in elements; a negative axis counts from the last one.
    ///
    /// # Errors
    ///
    /// `IndexError` when there is no such axis.
    pub fn stride(&self, axis: i64) -> Result<i64, Error> {
        self.of_axis(self.strides(), axis)
    }

    fn of_axis(&self, values: &[i64], axis: i64) -> Result<i64, Error> {
        let from_start = if axis < 0 { axis.saturating_add_unsigned(self.ndim() as u64) } else { axis };
        let value = usize::try_from(from_start).ok().and_then(|index| values.get(index).copied());
        value.ok_or_else(|| Error::new(ErrorKind::Index, format!("there is no axis {axis} of {self:?}")))
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn numel(&self) -> u64 {
        // The size in bytes was checked when it was made.
        self.view().element_count().unwrap_or(0)
    }

    /// Returns the data space: an address on the CPU, an opaque handle elsewhere.
    #[must_use]
    pub fn data_ptr(&self) -> *mut c_void {
        self.view().data()
    }

    /// Returns the start of the first element, in bytes from [`Self::data_ptr`].
    #[must_use]
    pub fn byte_offset(&self) -> u64 {
        self.view().byte_offset()
    }

    /// Returns true if its first element lies at a multiple of `alignment` bytes
    /// ([`TensorView::is_aligned`](api::TensorView::is_aligned)).
    #[must_use]
    pub fn is_aligned(&self, alignment: usize) -> bool {
        self.view().is_aligned(alignment)
    }

    /// Returns the type of an element.
    #[must_use]
    pub fn dtype(&self) -> DType {
        // Checked when it was made.
        dtype_of(self.view().dtype()).unwrap_or(DType::UINT8)
    }

    /// Returns the size of its elements when compact, in bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.view().size_bytes().unwrap_or(0)
    }

    /// Returns true if its elements are compact and row-major.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        self.view().is_compact()
    }

    /// Returns true if it may only be read.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    pub(super) fn check_writable(&self) -> Result<(), Error> {
        if self.read_only {
            return Err(value_error(format!("{self:?} is read-only")).hint("copy it first"));
        }
        Ok(())
    }

    /// Makes another view of the same elements: extents and strides in elements, `offset` in
    /// elements from this tensor's first. It shares the memory and keeps it alive.
    ///
    /// # Errors
    ///
    /// `ValueError` for a negative extent, for a number of strides that differs from the number of
    /// axes, or for a part of a tensor whose elements share bytes (`int4`); `IndexError` when an
    /// element would lie outside of this tensor's.
    pub fn strided(&self, shape: &[i64], strides: &[i64], offset: i64) -> Result<Self, Error> {
        let item_bytes = self.dtype().size_bytes() as i64;
        if self.dtype().is_sub_byte() && (shape != self.shape() || strides != self.strides() || offset != 0) {
            let message = format!("{self:?} has elements that share bytes; only all of it can be viewed");
            return Err(value_error(message).hint("copy its bytes"));
        }
        if shape.len() != strides.len() {
            return Err(value_error(format!("{} extents and {} strides", shape.len(), strides.len())));
        }
        if let Some(extent) = shape.iter().find(|extent| **extent < 0) {
            return Err(value_error(format!("expected extents of 0 or more, found {extent}")));
        }
        let outside = || {
            let message = format!(
                "a view of shape {shape:?}, strides {strides:?} at {offset} reaches outside of {self:?}"
            );
            Error::new(ErrorKind::Index, message)
        };
        let start = offset.checked_mul(item_bytes).ok_or_else(outside)?;
        let (low, high) = span(shape, strides, item_bytes).ok_or_else(outside)?;
        let (own_low, own_high) = span(self.shape(), self.strides(), item_bytes).ok_or_else(outside)?;
        let inside = start.checked_add(low).is_some_and(|low| low >= own_low)
            && start.checked_add(high).is_some_and(|high| high <= own_high);
        if !inside {
            return Err(outside());
        }
        let view = self.view();
        let parts = api::TensorParts {
            data: view.data(),
            device: view.device(),
            dtype: view.dtype(),
            shape,
            strides: Some(strides),
            byte_offset: view.byte_offset().wrapping_add_signed(start),
        };
        // SAFETY: the range lies within this tensor's, whose memory the owner keeps.
        let value =
            unsafe { api::Tensor::from_owner(parts, self.clone()) }.map_err(|error| from_api(&error))?;
        Ok(Self { memory: Memory::shared(value), device: self.device.clone(), read_only: self.read_only })
    }

    /// Makes a view of the elements `start..start + extent` along `axis`, sharing the memory.
    ///
    /// # Errors
    ///
    /// `IndexError` when there is no such axis or range.
    pub fn slice(&self, axis: usize, start: i64, extent: i64) -> Result<Self, Error> {
        let fits = self.shape().get(axis).is_some_and(|whole| {
            start >= 0 && extent >= 0 && start.checked_add(extent).is_some_and(|end| end <= *whole)
        });
        if !fits {
            let message = format!("no range of {extent} from {start} along axis {axis} of {self:?}");
            return Err(Error::new(ErrorKind::Index, message));
        }
        let mut shape = self.shape().to_vec();
        shape[axis] = extent;
        // An empty range may start past the last element.
        let offset = if shape.contains(&0) { 0 } else { start * self.strides()[axis] };
        self.strided(&shape, self.strides(), offset)
    }

    /// Returns the elements as Rust numbers, row-major. Waits as [`Self::to_bytes`].
    ///
    /// # Errors
    ///
    /// `TypeError` when they are of another type; as [`Self::to_bytes`].
    pub fn to_vec<T: api::Element>(&self) -> Result<Vec<T>, Error> {
        if T::DTYPE != self.view().dtype() {
            let message =
                format!("expected elements of {}, found {}", api::dtype::text(T::DTYPE), self.dtype());
            return Err(Error::new(ErrorKind::Type, message));
        }
        let bytes = self.to_bytes()?;
        let count = bytes.len() / size_of::<T>();
        let mut elements: Vec<T> = Vec::with_capacity(count);
        // SAFETY: as many bytes as the elements take, every bit pattern is a value, and the vector
        // has the room.
        unsafe {
            elements
                .as_mut_ptr()
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), count * size_of::<T>());
            elements.set_len(count);
        }
        Ok(elements)
    }

    /// Makes a compact copy on a device.
    ///
    /// # Errors
    ///
    /// As [`Self::empty`] and [`Self::copy_from`].
    pub fn to_device(&self, device: &Device) -> Result<Self, Error> {
        let copy = Self::empty(device, self.shape(), self.dtype())?;
        copy.copy_from(self)?;
        Ok(copy)
    }
}

/// Copies of whole ranges of memory, the one place where tensors are copied.
impl Tensor {
    /// Returns the memory range of the elements, and its size in bytes.
    fn range(&self) -> (ChipdockCopyEnd, u64) {
        let dtype = self.dtype();
        let view = self.view();
        if dtype.is_sub_byte() {
            // The tensor is compact, and views of a part are not made: it begins at a byte.
            let (device, data) = (view.device(), view.data());
            return (ChipdockCopyEnd { device, data, offset_bytes: view.byte_offset() }, self.size_bytes());
        }
        let item_bytes = dtype.size_bytes() as i64;
        let (low, high) = span(self.shape(), self.strides(), item_bytes).unwrap_or((0, 0));
        let offset_bytes = view.byte_offset().wrapping_add_signed(low);
        (ChipdockCopyEnd { device: view.device(), data: view.data(), offset_bytes }, high.abs_diff(low))
    }

    fn check_size(&self, size_bytes: u64, found: usize) -> Result<(), Error> {
        if size_bytes == found as u64 {
            return Ok(());
        }
        let message = format!("the range of {self:?} has {size_bytes} bytes, the buffer {found}");
        Err(Error::new(ErrorKind::Internal, message))
    }

    /// Reads the range into a buffer of its size. Waits until it is there.
    pub(super) fn read_range(&self, to: &mut [u8]) -> Result<(), Error> {
        self.check_description()?;
        self.wait_for_copies()?;
        let (from, size_bytes) = self.range();
        self.check_size(size_bytes, to.len())?;
        let to = ChipdockCopyEnd { device: api::CPU, data: to.as_mut_ptr().cast(), offset_bytes: 0 };
        // SAFETY: the tensor's own range, which its owner keeps, and a buffer of that size that is
        // ours alone.
        unsafe { self.device.state().copy_now(from, to, size_bytes, self.view().dtype()) }
    }

    /// Writes the range from a buffer of its size. Waits until it is there.
    pub(super) fn write_range(&self, from: &[u8]) -> Result<(), Error> {
        self.check_description()?;
        self.wait_for_copies()?;
        let (to, size_bytes) = self.range();
        self.check_size(size_bytes, from.len())?;
        let from =
            ChipdockCopyEnd { device: api::CPU, data: from.as_ptr().cast_mut().cast(), offset_bytes: 0 };
        // SAFETY: the tensor's own range, which its owner keeps, and a buffer of that size that is
        // only read.
        unsafe { self.device.state().copy_now(from, to, size_bytes, self.view().dtype()) }
    }

    /// Copies another tensor's range of the same size, directly. Waits until it is there.
    ///
    /// # Errors
    ///
    /// `Unsupported` when the ranges overlap; errors of the device.
    pub(super) fn copy_range(&self, from: &Self) -> Result<(), Error> {
        let (from_end, to_end, size_bytes) = self.copy_ends(from)?;
        // Work that produces the source may be queued on its own current stream.
        let from_state = from.device.state();
        from_state.services.check_process()?;
        from_state.sync_raw(from_state.current_stream())?;
        let state = if self.device.is_host_memory() { from_state } else { self.device.state() };
        // SAFETY: the tensors' own ranges, which their owners keep, equally long and disjoint.
        unsafe { state.copy_now(from_end, to_end, size_bytes, self.view().dtype()) }
    }

    /// Keeps the memory for queued work.
    pub(super) fn kept(&self) -> Kept {
        Kept { memory: self.memory.clone(), state: Arc::downgrade(self.device.state()) }
    }

    /// Returns the memory as a recording keeps it.
    pub(super) fn used(&self) -> Used {
        let (at, data) = (self.device.state().at(), self.view().data());
        Used { at, data, held: Box::new(self.kept()) }
    }

    /// Returns the ends and the size in bytes of a copy of another tensor's range, as
    /// [`Self::copy_range`] makes it.
    pub(super) fn copy_ends(&self, from: &Self) -> Result<(ChipdockCopyEnd, ChipdockCopyEnd, u64), Error> {
        self.check_description().and_then(|()| from.check_description())?;
        let ((from_end, from_bytes), (to_end, size_bytes)) = (from.range(), self.range());
        if from_bytes != size_bytes {
            let message = format!("the ranges of {from:?} and {self:?} differ in size");
            return Err(Error::new(ErrorKind::Internal, message));
        }
        let start = |end: ChipdockCopyEnd| (end.data.addr() as u64).wrapping_add(end.offset_bytes);
        let one_space = from_end.data == to_end.data || from.device.is_host_memory();
        let overlap = from_end.device == to_end.device
            && one_space
            && start(from_end).abs_diff(start(to_end)) < size_bytes;
        if overlap {
            return Err(Error::new(ErrorKind::Unsupported, "the ranges overlap"));
        }
        Ok((from_end, to_end, size_bytes))
    }
}

impl<'a> From<&'a Tensor> for api::AnyView<'a> {
    fn from(tensor: &'a Tensor) -> Self {
        let value = ChipdockAnyValue { v_tensor: tensor.described().lent() };
        let raw = ChipdockAny { type_index: CHIPDOCK_TYPE_DLTENSOR_PTR, small_length: 0, value };
        // SAFETY: a borrowed tensor that lives for `'a`.
        unsafe { Self::from_raw(raw) }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {}, {:?})", self.shape(), self.dtype(), self.device)
    }
}
