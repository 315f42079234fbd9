//! Tensors: [`Tensor`] is owned, [`TensorView`] is borrowed.

use core::ffi::c_void;
use core::fmt;
use core::ptr::{addr_of, addr_of_mut};

use chipdock_abi as abi;
use chipdock_abi::{
    CHIPDOCK_TYPE_TENSOR, ChipdockDataType, ChipdockDevice, ChipdockTensor, ChipdockTensorObject,
};

use crate::dlpack::has_addresses;
use crate::object::{ObjectBody, allocate, header, own};
use crate::{Error, ErrorKind, ObjectRef, dtype};

/// The device of host memory.
pub const CPU: ChipdockDevice = ChipdockDevice { device_type: abi::CHIPDOCK_DEVICE_CPU, device_id: 0 };

/// A borrowed tensor: a description of elements that another owner keeps alive for `'a`.
///
/// The description is checked when the view is made: the number of axes is not negative, extents
/// are not negative, and there is a shape if there are axes. Nobody can check that `data` points to
/// the elements.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorView<'a>(&'a ChipdockTensor);

// SAFETY: a description that does not change; the elements are reached only by unsafe code.
unsafe impl Send for TensorView<'_> {}
// SAFETY: a description that does not change; the elements are reached only by unsafe code.
unsafe impl Sync for TensorView<'_> {}

/// The parts of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct TensorParts<'a> {
    /// The data space: an address on the CPU, an opaque handle elsewhere.
    pub data: *mut c_void,
    /// The tensor's device.
    pub device: ChipdockDevice,
    /// Type of an element.
    pub dtype: ChipdockDataType,
    /// Extents, in elements.
    pub shape: &'a [i64],
    /// Strides, in elements; `None` means compact and row-major.
    pub strides: Option<&'a [i64]>,
    /// The start of the first element, in bytes from `data`.
    pub byte_offset: u64,
}

fn bad(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// Returns the number of elements of a shape.
///
/// # Errors
///
/// `ValueError` for a negative extent or a product that does not fit 64 bits.
pub fn element_count(shape: &[i64]) -> Result<u64, Error> {
    if let Some((axis, extent)) = shape.iter().enumerate().find(|(_, extent)| **extent < 0) {
        return Err(bad(format!("axis {axis}: expected an extent of 0 or more, found {extent}")));
    }
    // An extent of 0 makes the product 0, whatever the others are.
    if shape.contains(&0) {
        return Ok(0);
    }
    let count = shape.iter().try_fold(1_u64, |count, extent| count.checked_mul(extent.unsigned_abs()));
    count.ok_or_else(|| bad(format!("shape {shape:?}: the number of elements does not fit 64 bits")))
}

/// Returns the size of a compact tensor's elements in bytes: `ceil(elements * bits * lanes / 8)`,
/// so that seven `int4` take four.
///
/// # Errors
///
/// As [`element_count`]; also when the bytes do not fit 64 bits, or the type has no fixed size.
pub fn size_bytes(shape: &[i64], dtype: ChipdockDataType) -> Result<u64, Error> {
    let lanes = u64::try_from(dtype.lanes.cast_signed())
        .map_err(|_| bad(format!("`{}` has no fixed size: its lanes are scalable", dtype::text(dtype))))?;
    let bits = element_count(shape)?.checked_mul(u64::from(dtype.bits) * lanes);
    bits.map(|bits| bits.div_ceil(8)).ok_or_else(|| {
        bad(format!("shape {shape:?} of `{}`: the number of bytes does not fit 64 bits", dtype::text(dtype)))
    })
}

/// Returns true if the strides are compact and row-major. Those of axes of extent 1 do not matter,
/// nor do those of empty tensors.
fn is_compact(shape: &[i64], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1_i64;
    for (extent, stride) in shape.iter().zip(strides).rev() {
        if *extent != 1 && *stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(*extent);
    }
    true
}

/// Returns the elements that a strided tensor reaches, counted from its first one; `None` if they
/// do not fit the numbers.
fn reach(shape: &[i64], strides: &[i64]) -> Option<core::ops::Range<i128>> {
    if shape.contains(&0) {
        return Some(0..0);
    }
    let (mut low, mut high) = (0_i128, 1_i128);
    for (extent, stride) in shape.iter().zip(strides) {
        let last = i128::from(*extent - 1) * i128::from(*stride);
        let place = if last < 0 { &mut low } else { &mut high };
        *place = place.checked_add(last)?;
    }
    Some(low..high)
}

impl<'a> TensorView<'a> {
    /// Borrows a tensor whose description was checked when it was made.
    ///
    /// # Safety
    ///
    /// * `tensor` satisfies the requirements of [`TensorView::from_raw`]: axes, shape and extents
    ///   are valid.
    #[must_use]
    pub unsafe fn from_checked(tensor: &'a ChipdockTensor) -> Self {
        Self(tensor)
    }

    /// Borrows a tensor.
    ///
    /// # Errors
    ///
    /// `ValueError` for null, a negative number of axes, axes without a shape, or a negative
    /// extent.
    ///
    /// # Safety
    ///
    /// * `tensor` is null or points to a `ChipdockTensor` that lives and does not change for `'a`,
    ///   with `ndim` extents and, unless null, `ndim` strides.
    pub unsafe fn from_raw(tensor: *const ChipdockTensor) -> Result<Self, Error> {
        // SAFETY: the caller guarantees that `tensor` is null or live.
        let tensor = unsafe { tensor.as_ref() };
        let tensor = tensor.ok_or_else(|| bad("expected a tensor, found a null pointer".to_owned()))?;
        if tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape.is_null()) {
            return Err(bad(format!(
                "expected a tensor with a shape, found {} axes and shape {:p}",
                tensor.ndim, tensor.shape
            )));
        }
        let view = Self(tensor);
        if let Some((axis, extent)) = view.shape().iter().enumerate().find(|(_, extent)| **extent < 0) {
            return Err(bad(format!("axis {axis}: expected an extent of 0 or more, found {extent}")));
        }
        Ok(view)
    }

    /// Returns the description.
    #[must_use]
    pub fn raw(self) -> &'a ChipdockTensor {
        self.0
    }

    /// Returns the extents, in elements.
    #[must_use]
    pub fn shape(self) -> &'a [i64] {
        // SAFETY: checked when the view was made, live for `'a`.
        unsafe { axes(self.0.shape, self.0.ndim) }.unwrap_or(&[])
    }

    /// Returns the strides, in elements; `None` means compact and row-major (DLPack before 1.2).
    #[must_use]
    pub fn strides(self) -> Option<&'a [i64]> {
        // SAFETY: null, or `ndim` strides that live for `'a`.
        unsafe { axes(self.0.strides, self.0.ndim) }
    }

    /// Returns the type of an element.
    #[must_use]
    pub fn dtype(self) -> ChipdockDataType {
        self.0.dtype
    }

    /// Returns the tensor's device.
    #[must_use]
    pub fn device(self) -> ChipdockDevice {
        self.0.device
    }

    /// Returns the data space: an address on the CPU, an opaque handle elsewhere.
    #[must_use]
    pub fn data(self) -> *mut c_void {
        self.0.data
    }

    /// Returns the start of the first element, in bytes from [`Self::data`].
    #[must_use]
    pub fn byte_offset(self) -> u64 {
        self.0.byte_offset
    }

    /// Returns the number of elements.
    ///
    /// # Errors
    ///
    /// `ValueError` when the product does not fit 64 bits.
    pub fn element_count(self) -> Result<u64, Error> {
        element_count(self.shape())
    }

    /// Returns the size of the elements when compact, in bytes.
    ///
    /// # Errors
    ///
    /// As [`size_bytes`].
    pub fn size_bytes(self) -> Result<u64, Error> {
        size_bytes(self.shape(), self.dtype())
    }

    /// Returns true if the first element lies at a multiple of `alignment` bytes: of addresses, or
    /// counted from the handle of a device whose memory has none. Nothing is aligned to 0 bytes.
    ///
    /// # Source
    ///
    /// TVM-FFI's `IsAligned`.
    #[must_use]
    pub fn is_aligned(self, alignment: usize) -> bool {
        let base = if has_addresses(self.device()) { self.data().addr() as u64 } else { 0 };
        base.wrapping_add(self.byte_offset()).checked_rem(alignment as u64) == Some(0)
    }

    /// Returns true if the elements are compact and row-major.
    #[must_use]
    pub fn is_compact(self) -> bool {
        self.strides().is_none_or(|strides| is_compact(self.shape(), strides))
    }

    /// Returns the elements of a compact tensor in host memory.
    ///
    /// # Errors
    ///
    /// `TypeError` if they are of another type, `ValueError` if they are elsewhere, strided, null
    /// or misaligned.
    ///
    /// # Safety
    ///
    /// * The tensor describes live memory, and nobody writes it for `'a`.
    pub unsafe fn as_slice<T: Element>(self) -> Result<&'a [T], Error> {
        let (first, count) = self.host_elements::<T>()?;
        // SAFETY: aligned and of that type, as checked; the caller guarantees that they are live
        // and initialised.
        Ok(unsafe { core::slice::from_raw_parts(first, count) })
    }

    /// Returns the elements of a compact tensor in host memory, for writing.
    ///
    /// # Errors
    ///
    /// As [`Self::as_slice`].
    ///
    /// # Safety
    ///
    /// * The tensor describes live memory, and nobody else reads or writes it for `'a`.
    pub unsafe fn as_mut_slice<T: Element>(self) -> Result<&'a mut [T], Error> {
        let (first, count) = self.host_elements::<T>()?;
        // SAFETY: aligned and of that type, as checked; the caller guarantees that they are live,
        // initialised and not shared.
        Ok(unsafe { core::slice::from_raw_parts_mut(first, count) })
    }

    fn host_elements<T: Element>(self) -> Result<(*mut T, usize), Error> {
        if self.dtype() != T::DTYPE {
            let (expected, found) = (dtype::text(T::DTYPE), dtype::text(self.dtype()));
            return Err(Error::new(
                ErrorKind::TYPE_ERROR,
                format!("expected a tensor of {expected}, found {found}"),
            ));
        }
        if self.device().device_type != abi::CHIPDOCK_DEVICE_CPU {
            let found = self.device();
            return Err(bad(format!(
                "expected a tensor in host memory, found device type {} id {}: copy it to the host first",
                found.device_type, found.device_id
            )));
        }
        if !self.is_compact() {
            return Err(bad(format!("expected a compact tensor, found strides {:?}", self.strides())));
        }
        let count =
            usize::try_from(self.element_count()?).map_err(|_| bad("too many elements".to_owned()))?;
        if count == 0 {
            return Ok((core::ptr::NonNull::dangling().as_ptr(), 0));
        }
        let first = self.data().cast::<u8>().wrapping_add(self.byte_offset() as usize).cast::<T>();
        if self.data().is_null() || !first.is_aligned() {
            return Err(bad(format!(
                "expected data aligned to {} bytes, found {first:p} (offset {})",
                align_of::<T>(),
                self.byte_offset()
            )));
        }
        Ok((first, count))
    }
}

/// # Safety
///
/// * `data` is null or points to `count` numbers that live and do not change for `'a`.
unsafe fn axes<'a>(data: *const i64, count: i32) -> Option<&'a [i64]> {
    match usize::try_from(count) {
        Ok(0) | Err(_) => (!data.is_null()).then_some(&[]),
        // SAFETY: the caller guarantees that `data` is null or points to `count` numbers.
        Ok(count) => (!data.is_null()).then(|| unsafe { core::slice::from_raw_parts(data, count) }),
    }
}

impl fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({:?}, {}, {:?})", self.shape(), dtype::text(self.dtype()), self.device())
    }
}

/// A Rust type that corresponds to an element type, for typed access to host memory.
///
/// # Safety
///
/// `Self` is laid out as `DTYPE` says, and every bit pattern is a value.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The element type.
    const DTYPE: ChipdockDataType;
}

macro_rules! elements {
    ($($type:ty, $code:expr;)*) => {
        $(
            // SAFETY: a plain number of that width.
            unsafe impl Element for $type {
                const DTYPE: ChipdockDataType = dtype::scalar($code, (size_of::<$type>() * 8) as u8);
            }
        )*
    };
}

elements! {
    i8, abi::CHIPDOCK_DTYPE_INT;
    i16, abi::CHIPDOCK_DTYPE_INT;
    i32, abi::CHIPDOCK_DTYPE_INT;
    i64, abi::CHIPDOCK_DTYPE_INT;
    u8, abi::CHIPDOCK_DTYPE_UINT;
    u16, abi::CHIPDOCK_DTYPE_UINT;
    u32, abi::CHIPDOCK_DTYPE_UINT;
    u64, abi::CHIPDOCK_DTYPE_UINT;
    f32, abi::CHIPDOCK_DTYPE_FLOAT;
    f64, abi::CHIPDOCK_DTYPE_FLOAT;
}

/// The number of axes whose extents and strides are stored within the object: one allocation for
/// nearly every tensor.
const INLINE_AXES: usize = 6;

/// An owned tensor: a reference to an object whose owner frees the memory when it is dropped.
/// Cloning shares it.
#[derive(Clone)]
#[repr(transparent)]
pub struct Tensor(ObjectRef);

#[repr(C)]
struct TensorBody<O> {
    object: ChipdockTensorObject,
    inline_axes: [i64; INLINE_AXES * 2],
    more_axes: Box<[i64]>,
    owner: O,
}

// SAFETY: repr(C), starts with the ABI's tensor object; `allocate` checks the alignment.
unsafe impl<O> ObjectBody for TensorBody<O> {
    const TYPE_INDEX: i32 = CHIPDOCK_TYPE_TENSOR;
}

impl Tensor {
    /// Makes a tensor over memory that `owner` keeps alive; dropping the last reference drops
    /// `owner`, on any thread.
    ///
    /// # Errors
    ///
    /// `ValueError` for a negative extent, a size that does not fit 64 bits, or a number of strides
    /// that differs from that of the axes. `owner` is then dropped.
    ///
    /// # Safety
    ///
    /// * The parts describe memory that lives at least as long as `owner`.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::{CPU, Element, Tensor, TensorParts};
    ///
    /// let mut numbers = vec![1.0_f32, 2.0, 3.0];
    /// let parts = TensorParts {
    ///     data: numbers.as_mut_ptr().cast(),
    ///     device: CPU,
    ///     dtype: f32::DTYPE,
    ///     shape: &[3],
    ///     strides: None,
    ///     byte_offset: 0,
    /// };
    /// // SAFETY: the vector keeps its memory and moves into the tensor.
    /// let tensor = unsafe { Tensor::from_owner(parts, numbers)? };
    /// assert_eq!(tensor.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), chipdock_plugin_api::Error>(())
    /// ```
    pub unsafe fn from_owner<O: Send + Sync + 'static>(
        parts: TensorParts<'_>,
        owner: O,
    ) -> Result<Self, Error> {
        let axes_count = parts.shape.len();
        size_bytes(parts.shape, parts.dtype)?;
        if let Some(strides) = parts.strides.filter(|strides| strides.len() != axes_count) {
            return Err(bad(format!("expected {axes_count} strides, found {}", strides.len())));
        }
        let ndim = i32::try_from(axes_count).map_err(|_| bad(format!("too many axes: {axes_count}")))?;
        let more = if axes_count > INLINE_AXES { axes_count * 2 } else { 0 };
        let body = allocate(TensorBody {
            object: ChipdockTensorObject {
                object: header::<TensorBody<O>>(),
                tensor: ChipdockTensor {
                    data: parts.data,
                    device: parts.device,
                    ndim,
                    dtype: parts.dtype,
                    shape: core::ptr::null_mut(),
                    strides: core::ptr::null_mut(),
                    byte_offset: parts.byte_offset,
                },
            },
            inline_axes: [0; INLINE_AXES * 2],
            more_axes: vec![0; more].into_boxed_slice(),
            owner,
        });
        let pointer = body.as_ptr();
        // SAFETY: just allocated and not shared yet; neither place for the axes moves while the
        // object lives, and the one that is used is long enough.
        unsafe {
            let axes = if more == 0 {
                addr_of_mut!((*pointer).inline_axes).cast::<i64>()
            } else {
                (*addr_of_mut!((*pointer).more_axes)).as_mut_ptr()
            };
            let (shape, strides) = (axes, axes.add(axes_count));
            shape.copy_from_nonoverlapping(parts.shape.as_ptr(), axes_count);
            let mut stride = 1_i64;
            for axis in (0..axes_count).rev() {
                *strides.add(axis) = parts.strides.map_or(stride, |given| given[axis]);
                stride = stride.wrapping_mul(parts.shape[axis]);
            }
            (*pointer).object.tensor.shape = shape;
            (*pointer).object.tensor.strides = strides;
        }
        Ok(Self(own(body)))
    }

    /// Makes a compact tensor in host memory with a copy of `elements`.
    ///
    /// # Errors
    ///
    /// `ValueError` if the shape has another number of elements.
    pub fn from_slice<T: Element>(shape: &[i64], elements: &[T]) -> Result<Self, Error> {
        let count = element_count(shape)?;
        if count != elements.len() as u64 {
            return Err(bad(format!("shape {shape:?}: expected {count} elements, found {}", elements.len())));
        }
        let mut owned = elements.to_vec();
        let data = owned.as_mut_ptr().cast();
        let parts = TensorParts { data, device: CPU, dtype: T::DTYPE, shape, strides: None, byte_offset: 0 };
        // SAFETY: the vector keeps its memory where it is and moves into the tensor.
        unsafe { Self::from_owner(parts, owned) }
    }

    /// Copies the elements of a compact tensor in host memory. Work that writes it must be
    /// complete.
    ///
    /// # Errors
    ///
    /// As [`TensorView::as_slice`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        // SAFETY: the maker of the tensor guaranteed that its memory is live; the copy is complete
        // before the borrow ends.
        unsafe { self.view().as_slice() }.map(<[T]>::to_vec)
    }

    /// Makes another view of the same memory, which it keeps alive: `shape` and `strides` count
    /// elements, and `element_offset` is from this tensor's first element.
    ///
    /// # Errors
    ///
    /// * `ValueError`: a negative extent, another number of strides than axes, or an element that
    ///   begins within a byte (`int4`).
    /// * `IndexError`: an element would lie outside of those of this tensor.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_plugin_api::Tensor;
    ///
    /// let matrix = Tensor::from_slice(&[2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let row = matrix.as_strided(&[3], &[1], 3)?;
    /// drop(matrix);
    /// assert_eq!(row.to_vec::<i32>()?, [4, 5, 6]);
    /// # Ok::<(), chipdock_plugin_api::Error>(())
    /// ```
    ///
    /// # Source
    ///
    /// TVM-FFI's `Tensor::as_strided`, which does not look at the bounds.
    pub fn as_strided(&self, shape: &[i64], strides: &[i64], element_offset: i64) -> Result<Self, Error> {
        if shape.len() != strides.len() {
            return Err(bad(format!(
                "expected {} strides, one for each axis, found {}",
                shape.len(),
                strides.len()
            )));
        }
        let dtype = self.view().dtype();
        size_bytes(shape, dtype)?;
        let outside = || {
            Error::new(
                ErrorKind::INDEX_ERROR,
                format!(
                    "a view of shape {shape:?} and strides {strides:?} at {element_offset} reaches outside of {self:?}: expected \
                     elements of that tensor"
                ),
            )
        };
        let source = self.view();
        let own = match source.strides() {
            Some(strides) => reach(source.shape(), strides),
            None => Some(0..i128::from(source.element_count()?)),
        };
        let (own, wanted) = own.zip(reach(shape, strides)).ok_or_else(outside)?;
        let first = i128::from(element_offset);
        if first.saturating_add(wanted.start) < own.start || first.saturating_add(wanted.end) > own.end {
            return Err(outside());
        }
        let offset_bits = first * i128::from(dtype.bits) * i128::from(dtype.lanes);
        if offset_bits % 8 != 0 {
            return Err(bad(format!(
                "expected an offset of whole bytes, found {element_offset} elements of `{}`: copy the elements",
                dtype::text(dtype)
            )));
        }
        let offset = i128::from(source.byte_offset()) + offset_bits / 8;
        let mut byte_offset = u64::try_from(offset).map_err(|_| outside())?;
        let mut data = source.data();
        if has_addresses(source.device()) {
            data = data.cast::<u8>().wrapping_add(byte_offset as usize).cast();
            byte_offset = 0;
        }
        let parts =
            TensorParts { data, device: source.device(), dtype, shape, strides: Some(strides), byte_offset };
        // SAFETY: its elements are elements of this tensor, which the view keeps.
        unsafe { self.unsafe_view(parts) }
    }

    /// Makes a tensor of any description over memory that this tensor keeps alive: of another type,
    /// or beyond its own elements.
    ///
    /// # Errors
    ///
    /// `ValueError` as for [`Self::from_owner`].
    ///
    /// # Safety
    ///
    /// * The parts describe memory that lives at least as long as this tensor's.
    ///
    /// # Source
    ///
    /// TVM-FFI's `TVMFFITensorCreateUnsafeView`, whose prototype must have strides.
    pub unsafe fn unsafe_view(&self, prototype: TensorParts<'_>) -> Result<Self, Error> {
        // SAFETY: as this function requires; the owner is a reference to this tensor.
        unsafe { Self::from_owner(prototype, self.clone()) }
    }

    /// Takes over a tensor object.
    ///
    /// # Safety
    ///
    /// * `object` is an owned reference to an object of type `CHIPDOCK_TYPE_TENSOR` that keeps V.6.
    #[must_use]
    pub unsafe fn from_object(object: ObjectRef) -> Self {
        Self(object)
    }

    /// Returns the object, which this tensor still owns.
    #[must_use]
    pub fn object(&self) -> &ObjectRef {
        &self.0
    }

    pub(crate) fn into_object(self) -> ObjectRef {
        self.0
    }

    /// Borrows the tensor.
    #[must_use]
    pub fn view(&self) -> TensorView<'_> {
        let object = self.0.as_ptr().cast::<ChipdockTensorObject>();
        // SAFETY: V.6, the layout of a tensor object; checked when it was made or taken over.
        TensorView(unsafe { &*addr_of!((*object).tensor) })
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}
