//! Tensors as arguments and results of the interpreter: compact bytes in host memory.

use std::fmt;

use crate::scalar;
use chipdock_ir::DType;

/// A compact, row-major tensor: type, extents in elements, little-endian bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Array {
    /// Type of an element; it may have several lanes.
    pub dtype: DType,
    /// Extents in elements, outermost first.
    pub shape: Vec<usize>,
    /// The elements in row-major order, [`DType::array_size_bytes`] in all. A boolean is one byte,
    /// 0 or 1.
    pub data: Vec<u8>,
}

impl Array {
    /// Makes an array of zeros.
    ///
    /// # Panics
    ///
    /// If the allocation fails, as for any `Vec`.
    #[must_use]
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        let elements = shape.iter().fold(1_usize, |size, &extent| size.saturating_mul(extent));
        let size_bytes = dtype.array_size_bytes(elements).unwrap_or(usize::MAX);
        Self { dtype, shape: shape.to_vec(), data: vec![0; size_bytes] }
    }

    /// Makes an array of numbers rounded (floats), or truncated and wrapped (integers), to `dtype`,
    /// one per lane in row-major order; missing values are 0 and excess ones are ignored.
    ///
    /// ```
    /// use chipdock_interpret::Array;
    /// use chipdock_ir::DType;
    /// let array = Array::from_f64(DType::FLOAT16, &[2], &[1.0, 0.1]);
    /// assert_eq!(array.to_f64(), [1.0, 0.0999755859375]);
    /// ```
    #[must_use]
    pub fn from_f64(dtype: DType, shape: &[usize], values: &[f64]) -> Self {
        Self::from_lanes(dtype, shape, values.iter().map(|&value| scalar::from_f64(value, dtype)))
    }

    /// Makes an array of integers wrapped (integers), or rounded (floats), to `dtype`, as
    /// [`Array::from_f64`].
    #[must_use]
    pub fn from_int(dtype: DType, shape: &[usize], values: &[i128]) -> Self {
        Self::from_lanes(dtype, shape, values.iter().map(|&value| scalar::from_int(value, dtype)))
    }

    /// Makes an array of float32.
    #[must_use]
    pub fn from_f32(shape: &[usize], values: &[f32]) -> Self {
        let lanes = values.iter().map(|value| u64::from(value.to_bits()));
        Self::from_lanes(DType::FLOAT32, shape, lanes)
    }

    fn from_lanes(dtype: DType, shape: &[usize], lanes: impl Iterator<Item = u64>) -> Self {
        let mut array = Self::zeros(dtype, shape);
        if dtype.is_sub_byte() {
            for (index, lane) in lanes.take(array.n_lanes()).enumerate() {
                let at = scalar::Lane::of(dtype).map(|lane| lane.at(index * usize::from(dtype.bits)));
                if let Some((byte, place)) = at {
                    place.write(array.data.get_mut(byte..).unwrap_or_default(), lane);
                }
            }
            return array;
        }
        let lane_size_bytes = dtype.lane_size_bytes().max(1);
        for (chunk, lane) in array.data.chunks_exact_mut(lane_size_bytes).zip(lanes) {
            chunk.copy_from_slice(&lane.to_le_bytes()[..lane_size_bytes]);
        }
        array
    }

    /// Returns the number of lanes: elements times lanes of an element.
    #[must_use]
    pub fn n_lanes(&self) -> usize {
        if self.dtype.is_sub_byte() {
            // Part of the last byte may belong to no element.
            let lanes = usize::from(self.dtype.lanes);
            return self.shape.iter().fold(lanes, |size, &extent| size.saturating_mul(extent));
        }
        self.data.len() / self.dtype.lane_size_bytes().max(1)
    }

    /// Returns the value of a lane, in the form of the interpreter's registers; `None` past the
    /// end.
    pub(crate) fn lane(&self, index: usize) -> Option<u64> {
        if self.dtype.is_sub_byte() {
            let lane = scalar::Lane::of(self.dtype)?;
            let (byte, place) = lane.at(index.checked_mul(self.dtype.bits.into())?);
            return (index < self.n_lanes()).then(|| self.data.get(byte..).map(|bytes| place.read(bytes)))?;
        }
        let size_bytes = self.dtype.lane_size_bytes().max(1);
        let start = index.checked_mul(size_bytes)?;
        let bytes = self.data.get(start..start.checked_add(size_bytes)?)?;
        Some(scalar::read(bytes, self.dtype))
    }

    /// Returns a lane as an integer; a float is truncated and saturated. `None` past the end.
    #[must_use]
    pub fn int(&self, lane: usize) -> Option<i128> {
        Some(scalar::to_int(self.lane(lane)?, self.dtype))
    }

    /// Returns a lane as a float64; an integer is rounded. `None` past the end.
    #[must_use]
    pub fn float(&self, lane: usize) -> Option<f64> {
        Some(scalar::to_f64(self.lane(lane)?, self.dtype))
    }

    /// Returns every lane as a float64.
    #[must_use]
    pub fn to_f64(&self) -> Vec<f64> {
        (0..self.n_lanes()).filter_map(|lane| self.float(lane)).collect()
    }

    /// Returns every lane as an integer.
    #[must_use]
    pub fn to_int(&self) -> Vec<i128> {
        (0..self.n_lanes()).filter_map(|lane| self.int(lane)).collect()
    }

    /// Returns true if the size of `data` matches `dtype` and `shape`.
    #[must_use]
    pub fn is_well_formed(&self) -> bool {
        let elements = self.shape.iter().try_fold(1_usize, |size, &extent| size.checked_mul(extent));
        elements.and_then(|n| self.dtype.array_size_bytes(n)) == Some(self.data.len())
    }

    /// Returns the index per axis of a lane (lanes of one element share it), for messages.
    #[must_use]
    pub fn position(&self, lane: usize) -> Vec<usize> {
        let mut rest = lane / usize::from(self.dtype.lanes.max(1));
        let mut position = vec![0; self.shape.len()];
        for (axis, &extent) in self.shape.iter().enumerate().rev() {
            position[axis] = rest % extent.max(1);
            rest /= extent.max(1);
        }
        position
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        write!(f, "{}{:?} [", self.dtype, self.shape)?;
        for lane in 0..self.n_lanes().min(SHOWN) {
            let separator = if lane == 0 { "" } else { ", " };
            if self.dtype.is_float() || self.dtype.is_float8() {
                write!(f, "{separator}{:?}", self.float(lane).unwrap_or_default())?;
            } else {
                write!(f, "{separator}{}", self.int(lane).unwrap_or_default())?;
            }
        }
        if self.n_lanes() > SHOWN { write!(f, ", … {} in all]", self.n_lanes()) } else { f.write_str("]") }
    }
}
