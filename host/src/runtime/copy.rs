//! Copies: compact ranges by the device API, strided tensors and two kinds of device through host memory.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, ChipdockCopy, ChipdockCopyEnd, DLDataType, DLDevice};

use super::device::DeviceState;
use super::tensor::Tensor;
use crate::error::{Error, ErrorKind};

const HOST_MEMORY: DLDevice = DLDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };

impl DeviceState {
    /// Copies bytes and waits until they are there.
    ///
    /// # Safety
    ///
    /// * Both ends are live, as large as it says, and do not overlap; at least one is of this device.
    unsafe fn copy_now(
        &self,
        from: ChipdockCopyEnd,
        to: ChipdockCopyEnd,
        size_bytes: u64,
        dtype_hint: DLDataType,
    ) -> Result<(), Error> {
        if size_bytes == 0 {
            return Ok(());
        }
        let stream = self.current_stream();
        let copy = ChipdockCopy { from, to, size_bytes, dtype_hint };
        // SAFETY: the caller's word; the ends stay as they are until the stream is synchronised below.
        unsafe { self.api.copy(self.services, self.id, &copy, stream) }?;
        self.sync_raw(stream)
    }
}

fn host_end(data: *mut c_void) -> ChipdockCopyEnd {
    ChipdockCopyEnd { device: HOST_MEMORY, data, offset_bytes: 0 }
}

/// Calls `each` with the offset in bytes, from the first element, of each run of compact elements, in row-major order.
/// All runs are equally long; answers that length in bytes.
fn for_each_run(shape: &[i64], strides: &[i64], item_bytes: i64, mut each: impl FnMut(i64, usize)) {
    if shape.contains(&0) {
        return;
    }
    let mut inner = shape.len();
    let mut run = 1_i64;
    while inner > 0 && (strides[inner - 1] == run || shape[inner - 1] == 1) {
        run *= shape[inner - 1];
        inner -= 1;
    }
    let run_bytes = usize::try_from(run * item_bytes).unwrap_or(0);
    let (shape, strides) = (&shape[..inner], &strides[..inner]);
    let mut index = vec![0_i64; inner];
    loop {
        let offset: i64 = index.iter().zip(strides).map(|(index, stride)| index * stride).sum();
        each(offset * item_bytes, run_bytes);
        let Some(axis) = (0..inner).rev().find(|axis| index[*axis] + 1 < shape[*axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// Where the elements of a tensor lie, in bytes from its first: the lowest, and one past the highest.
pub(super) fn span(shape: &[i64], strides: &[i64], item_bytes: i64) -> Option<(i64, i64)> {
    if shape.contains(&0) {
        return Some((0, 0));
    }
    let (mut low, mut high) = (0_i64, 0_i64);
    for (extent, stride) in shape.iter().zip(strides) {
        let reach = (extent - 1).checked_mul(*stride)?;
        let side = if reach < 0 { &mut low } else { &mut high };
        *side = side.checked_add(reach)?;
    }
    Some((low.checked_mul(item_bytes)?, high.checked_add(1)?.checked_mul(item_bytes)?))
}

impl Tensor {
    fn item_bytes(&self) -> i64 {
        self.dtype().size_bytes() as i64
    }

    /// The range of memory that the elements lie in: the end of a copy, and its size in bytes; and where in it the first
    /// element lies.
    fn whole(&self) -> (ChipdockCopyEnd, u64, usize) {
        let (low, high) = span(self.shape(), self.strides(), self.item_bytes()).unwrap_or((0, 0));
        let view = self.view();
        let offset_bytes = view.byte_offset().wrapping_add_signed(low);
        let end = ChipdockCopyEnd { device: view.device(), data: view.data(), offset_bytes };
        (end, (high - low).unsigned_abs(), usize::try_from(-low).unwrap_or(0))
    }

    /// The elements as bytes, compact and row-major. Waits for the current stream; work on other streams that writes
    /// the tensor must be done.
    ///
    /// # Errors
    ///
    /// What the device answers.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let (end, size_bytes, first) = self.whole();
        let mut whole = vec![0_u8; to_usize(size_bytes)?];
        let state = self.device().state();
        state.services.check_process()?;
        let to = host_end(whole.as_mut_ptr().cast());
        // SAFETY: the tensor's own range; the vector is as large and lives on.
        unsafe { state.copy_now(end, to, size_bytes, self.view().dtype()) }?;
        if self.is_compact() {
            return Ok(whole);
        }
        let mut compact = Vec::with_capacity(to_usize(self.size_bytes())?);
        for_each_run(self.shape(), self.strides(), self.item_bytes(), |offset, run| {
            let start = first.wrapping_add_signed(offset as isize);
            compact.extend_from_slice(&whole[start..start + run]);
        });
        Ok(compact)
    }

    /// Writes the elements from bytes, compact and row-major. Waits until they are there.
    ///
    /// # Errors
    ///
    /// `ValueError` for another number of bytes, or a read-only tensor: nothing was written. What the device answers.
    pub fn copy_from_bytes(&self, bytes: &[u8]) -> Result<(), Error> {
        self.check_writable()?;
        if bytes.len() as u64 != self.size_bytes() {
            let message = format!("expected {} bytes for {self:?}, found {}", self.size_bytes(), bytes.len());
            return Err(Error::new(ErrorKind::Value, message));
        }
        let (end, size_bytes, first) = self.whole();
        let state = self.device().state();
        state.services.check_process()?;
        let dtype = self.view().dtype();
        if self.is_compact() {
            let from = host_end(bytes.as_ptr().cast_mut().cast());
            // SAFETY: the tensor's own range; the bytes are as many, only read, and live on.
            return unsafe { state.copy_now(from, end, size_bytes, dtype) };
        }
        // What lies between the elements is not ours to change.
        let mut whole = vec![0_u8; to_usize(size_bytes)?];
        let buffer = host_end(whole.as_mut_ptr().cast());
        // SAFETY: the tensor's own range; the vector is as large and lives on.
        unsafe { state.copy_now(end, buffer, size_bytes, dtype) }?;
        let mut rest = bytes;
        for_each_run(self.shape(), self.strides(), self.item_bytes(), |offset, run| {
            let start = first.wrapping_add_signed(offset as isize);
            let (head, tail) = rest.split_at(run);
            whole[start..start + run].copy_from_slice(head);
            rest = tail;
        });
        let buffer = host_end(whole.as_mut_ptr().cast());
        // SAFETY: as above, the other way.
        unsafe { state.copy_now(buffer, end, size_bytes, dtype) }
    }

    /// Copies every element of `from`, whatever its device and strides are. Waits until they are there.
    ///
    /// Copies between two kinds of device are staged through host memory; so are strided tensors, and pairs of devices
    /// that cannot copy to each other.
    ///
    /// # Errors
    ///
    /// `ValueError` for another shape, `TypeError` for another element type, `ValueError` for a read-only tensor:
    /// nothing was written. What the devices answer.
    pub fn copy_from(&self, from: &Self) -> Result<(), Error> {
        self.check_writable()?;
        if self.dtype() != from.dtype() {
            let message = format!("expected elements of {}, found {}", self.dtype(), from.dtype());
            return Err(Error::new(ErrorKind::Type, message));
        }
        if self.shape() != from.shape() {
            let message = format!("expected shape {:?}, found {:?}", self.shape(), from.shape());
            return Err(Error::new(ErrorKind::Value, message));
        }
        let (to_state, from_state) = (self.device().state(), from.device().state());
        let same_kind = to_state.api.name == from_state.api.name;
        let direct = same_kind || self.device().is_host_memory() || from.device().is_host_memory();
        if direct && self.is_compact() && from.is_compact() {
            to_state.services.check_process()?;
            let ((from_end, size_bytes, _), (to_end, ..)) = (from.whole(), self.whole());
            if overlap(from_end, to_end, size_bytes) {
                return self.copy_from_bytes(&from.to_bytes()?);
            }
            let state = if self.device().is_host_memory() { from_state } else { to_state };
            // Work that makes the source may be queued on its own current stream.
            from_state.sync_raw(from_state.current_stream())?;
            // SAFETY: the tensors' own ranges, equally long, apart from each other.
            let done = unsafe { state.copy_now(from_end, to_end, size_bytes, self.view().dtype()) };
            match done {
                Err(error) if *error.kind() == ErrorKind::Unsupported => {}
                done => return done,
            }
        }
        self.copy_from_bytes(&from.to_bytes()?)
    }
}

fn overlap(from: ChipdockCopyEnd, to: ChipdockCopyEnd, size_bytes: u64) -> bool {
    let start = |end: ChipdockCopyEnd| (end.data.addr() as u64).wrapping_add(end.offset_bytes);
    from.device == to.device
        && (ptr::eq(from.data, to.data) || from.device == HOST_MEMORY)
        && start(from).abs_diff(start(to)) < size_bytes
}

fn to_usize(size_bytes: u64) -> Result<usize, Error> {
    usize::try_from(size_bytes).ok().filter(|size| isize::try_from(*size).is_ok()).ok_or_else(|| {
        Error::new(ErrorKind::OutOfMemory, format!("{size_bytes} bytes of host memory cannot be had"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_each_element_once_in_order() {
        let runs = |shape: &[i64], strides: &[i64]| {
            let mut runs = Vec::new();
            for_each_run(shape, strides, 4, |offset, bytes| runs.push((offset / 4, bytes / 4)));
            runs
        };
        assert_eq!(runs(&[2, 3], &[3, 1]), [(0, 6)]);
        assert_eq!(runs(&[2, 3], &[4, 1]), [(0, 3), (4, 3)]);
        assert_eq!(runs(&[2, 2], &[1, 2]), [(0, 1), (2, 1), (1, 1), (3, 1)]);
        assert_eq!(runs(&[3], &[-1]), [(0, 1), (-1, 1), (-2, 1)]);
        assert_eq!(runs(&[], &[]), [(0, 1)]);
        assert_eq!(runs(&[2, 0], &[1, 1]), []);
        assert_eq!(runs(&[2, 1, 2], &[8, 99, 1]), [(0, 2), (8, 2)]);
    }

    #[test]
    fn the_span_reaches_from_the_lowest_to_the_highest_element() {
        assert_eq!(span(&[2, 3], &[4, 1], 4), Some((0, 28)));
        assert_eq!(span(&[3], &[-2], 4), Some((-16, 4)));
        assert_eq!(span(&[], &[], 4), Some((0, 4)));
        assert_eq!(span(&[0], &[1], 4), Some((0, 0)));
        assert_eq!(span(&[i64::MAX, 3], &[i64::MAX, 1], 4), None);
    }
}
