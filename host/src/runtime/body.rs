//! What a pooled tensor consists of: one heap object with the description of the tensor and its block of memory.
//!
//! Bodies are cached together with their blocks, so that a tensor from a warm pool allocates nothing at all.

use std::ptr;

use chipdock_abi::{DLDataType, DLDevice, DLTensor};

use super::pool::Block;

/// Axes whose extents and strides lie within the body.
const INLINE_AXES: usize = 6;

pub(crate) struct Body {
    tensor: DLTensor,
    inline_axes: [i64; INLINE_AXES * 2],
    more_axes: Box<[i64]>,
    block: Block,
}

// SAFETY: a description that does not change while it is shared, and an address.
unsafe impl Send for Body {}
// SAFETY: as above.
unsafe impl Sync for Body {}

impl Body {
    /// A body for a block; it describes nothing yet.
    pub(crate) fn new(block: Block) -> Self {
        let tensor = DLTensor {
            data: block.data,
            device: DLDevice { device_type: 0, device_id: 0 },
            ndim: 0,
            dtype: DLDataType { code: 0, bits: 0, lanes: 0 },
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        Self { tensor, inline_axes: [0; INLINE_AXES * 2], more_axes: Box::default(), block }
    }

    /// Makes the body describe a compact tensor. It points into itself from now on: it lies on the heap already.
    pub(crate) fn describe(&mut self, device: DLDevice, dtype: DLDataType, shape: &[i64]) {
        let count = shape.len();
        let axes: &mut [i64] = if count <= INLINE_AXES {
            &mut self.inline_axes
        } else {
            self.more_axes = vec![0; count * 2].into_boxed_slice();
            &mut self.more_axes
        };
        let (extents, strides) = axes.split_at_mut(count);
        let mut stride = 1_i64;
        for axis in (0..count).rev() {
            extents[axis] = shape[axis];
            strides[axis] = stride;
            stride = stride.wrapping_mul(shape[axis]);
        }
        self.tensor.shape = extents.as_mut_ptr();
        self.tensor.strides = strides.as_mut_ptr();
        // A tensor of more axes than fit was refused before.
        self.tensor.ndim = i32::try_from(count).unwrap_or(0);
        self.tensor.device = device;
        self.tensor.dtype = dtype;
    }

    pub(crate) fn tensor(&self) -> &DLTensor {
        &self.tensor
    }

    pub(crate) fn block(&self) -> Block {
        self.block
    }
}
