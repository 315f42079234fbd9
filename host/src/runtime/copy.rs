//! Copies: compact ranges through the device API; strided tensors, and copies between two kinds of
//! device, through host memory.

use std::ffi::c_void;
use std::sync::Arc;

use chipdock_abi::ChipdockCopy;

use super::capture;
use super::device::{Device, Stream};
use super::queued::Held;
use super::tensor::{Kept, Tensor};
use super::timeline::Order;
use super::turns;
use crate::error::{Error, ErrorKind};

/// Calls `each` with the offset in bytes, from the first element, of each run of compact elements,
/// in row-major order. All runs are equally long; returns that length in bytes.
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

/// Returns the range of a tensor's elements in bytes from its first: the lowest, and one past the
/// highest.
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

/// The memory of a queued copy's ends.
struct Ends(#[expect(dead_code, reason = "held, not read")] [Kept; 2]);

impl Held for Ends {
    fn settled(self: Box<Self>, _stream: *mut c_void) {}
}

impl Tensor {
    /// In a forked child the parent's tensors do not exist.
    fn check_process(&self) -> Result<(), Error> {
        self.device().state().services.check_process()
    }

    fn item_bytes(&self) -> i64 {
        self.dtype().size_bytes() as i64
    }

    /// Returns the size of the memory range that contains the elements, and the offset of the first
    /// element in it, in bytes.
    fn extent(&self) -> Result<(usize, usize), Error> {
        if self.dtype().is_sub_byte() {
            if !self.is_compact() {
                let message =
                    format!("expected compact elements, found strides {:?} in {self:?}", self.strides());
                return Err(
                    Error::new(ErrorKind::Value, message).hint("its elements share bytes; make it compact")
                );
            }
            return Ok((to_usize(self.size_bytes())?, 0));
        }
        let (low, high) = span(self.shape(), self.strides(), self.item_bytes()).unwrap_or((0, 0));
        Ok((to_usize(high.abs_diff(low))?, to_usize(low.unsigned_abs())?))
    }

    /// Returns the elements as bytes, compact and row-major: all of what another thread's
    /// [`Self::copy_from_bytes`] or [`Self::copy_from`] wrote, or none of it (HOST-W6). Waits for
    /// the current stream; calls and work on other streams that write the tensor must be done.
    ///
    /// # Errors
    ///
    /// `ValueError` for elements that share bytes (`int4`) and are not compact. Errors of the
    /// device.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let (size, first) = self.extent()?;
        let mut whole = zeroed(size)?;
        self.check_process()?;
        {
            let _turn = turns::to_read(self);
            self.read_range(&mut whole)?;
        }
        if self.is_compact() {
            return Ok(whole);
        }
        let mut compact = Vec::new();
        let size = to_usize(self.size_bytes())?;
        compact.try_reserve_exact(size).map_err(|_| no_memory(size as u64))?;
        for_each_run(self.shape(), self.strides(), self.item_bytes(), |offset, run| {
            let start = first.wrapping_add_signed(offset as isize);
            compact.extend_from_slice(&whole[start..start + run]);
        });
        Ok(compact)
    }

    /// Writes the elements from bytes, compact and row-major. Waits until they are there. Calls and
    /// work on other streams that use the tensor must be done; other threads' reads and writes by
    /// [`Self::to_bytes`], this and [`Self::copy_from`] come before it or after it (HOST-W6).
    ///
    /// # Errors
    ///
    /// `ValueError` for another number of bytes, or a read-only tensor: nothing was written. Errors
    /// of the device.
    pub fn copy_from_bytes(&self, bytes: &[u8]) -> Result<(), Error> {
        self.check_writable()?;
        if bytes.len() as u64 != self.size_bytes() {
            let message = format!("expected {} bytes for {self:?}, found {}", self.size_bytes(), bytes.len());
            return Err(Error::new(ErrorKind::Value, message));
        }
        self.check_process()?;
        let _turn = turns::to_write(self);
        if self.is_compact() {
            return self.write_range(bytes);
        }
        // Bytes between the elements must not change.
        let (size, first) = self.extent()?;
        let mut whole = zeroed(size)?;
        self.read_range(&mut whole)?;
        let mut rest = bytes;
        for_each_run(self.shape(), self.strides(), self.item_bytes(), |offset, run| {
            let start = first.wrapping_add_signed(offset as isize);
            let (head, tail) = rest.split_at(run);
            whole[start..start + run].copy_from_slice(head);
            rest = tail;
        });
        self.write_range(&whole)
    }

    /// Copies every element of `from`, whatever its device and strides are. Waits until they are
    /// there, and takes turns with other threads as [`Self::to_bytes`] of `from` and
    /// [`Self::copy_from_bytes`] do (HOST-W6).
    ///
    /// Copies between two kinds of device are staged through host memory; so are strided tensors,
    /// and pairs of devices that cannot copy to each other.
    ///
    /// # Errors
    ///
    /// `ValueError` for another shape, `TypeError` for another element type, `ValueError` for a
    /// read-only tensor: nothing was written. Errors of the devices.
    pub fn copy_from(&self, from: &Self) -> Result<(), Error> {
        self.check_copy(from)?;
        if self.is_direct(from) && self.is_compact() && from.is_compact() {
            self.check_process()?;
            let copied = {
                let _turns = turns::to_copy(from, self);
                self.copy_range(from)
            };
            match copied {
                // Their ranges overlap, or these two devices do not copy to each other.
                Err(error) if *error.kind() == ErrorKind::Unsupported => {}
                done => return done,
            }
        }
        if !self.is_direct(from) && self.is_compact() && from.is_compact() {
            let copied = {
                let _turns = turns::to_copy(from, self);
                self.copy_in_place(from)
            };
            if let Some(done) = copied {
                return done;
            }
        }
        self.copy_from_bytes(&from.to_bytes()?)
    }

    /// Queues a copy of every element of `from` on a stream and waits for nothing: the elements are
    /// there for work that is queued later on the stream, and for the host once the stream was
    /// synchronised, or a timeline shows a value that `order` signals. It takes no turns with other
    /// threads (HOST-W6).
    ///
    /// Both tensors' memory is kept until the stream was synchronised, at the latest when 1024
    /// copies were queued since: then this waits for the stream.
    ///
    /// # Errors
    ///
    /// `ValueError`, `TypeError` as [`Self::copy_from`], and for a stream of another device than
    /// that of an end; `Unsupported` for strided tensors, for ranges that overlap, and for devices
    /// that cannot copy to each other: nothing was queued. Errors of the device, of timelines, and
    /// a failure of earlier work on the stream.
    ///
    /// # Safety
    ///
    /// * Until the copy is done nobody writes `from` or uses the elements of `self`, except by work
    ///   that is ordered after it.
    pub unsafe fn copy_from_on(&self, from: &Self, stream: &Stream, order: Order<'_>) -> Result<(), Error> {
        self.check_copy(from)?;
        self.check_process()?;
        let waits = "`copy_from` does that copy, and waits for it";
        if !self.is_compact() || !from.is_compact() {
            let strided = if self.is_compact() { from } else { self };
            let message = format!("{strided:?} is not compact, and such a copy cannot be queued");
            return Err(Error::new(ErrorKind::Unsupported, message).hint(waits));
        }
        let (to_device, from_device) = (self.device(), from.device());
        if !self.is_direct(from) {
            let message = format!("a copy from {from_device:?} to {to_device:?} cannot be queued");
            return Err(Error::new(ErrorKind::Unsupported, message).hint(waits));
        }
        let at = stream.device();
        let is_at = |device: &Device| Arc::ptr_eq(device.state(), at.state());
        let has_other = |device: &Device| !device.is_host_memory();
        let is_host_alone = at.is_host_memory() && (has_other(to_device) || has_other(from_device));
        if !(is_at(to_device) || is_at(from_device)) || is_host_alone {
            let message = format!(
                "a copy from {from_device:?} to {to_device:?} cannot be queued on a stream of {at:?}"
            );
            return Err(Error::new(ErrorKind::Value, message).hint("use a stream of the device"));
        }
        let (from_end, to_end, size_bytes) = self.copy_ends(from).map_err(|error| {
            if *error.kind() == ErrorKind::Unsupported { error.hint(waits) } else { error }
        })?;
        let (state, dtype_hint) = (at.state(), self.view().dtype());
        order.queued(stream, |next| {
            let copy = ChipdockCopy { from: from_end, to: to_end, size_bytes, dtype_hint, flags: 0, next };
            if size_bytes == 0 && next.is_null() {
                return Ok(());
            }
            let recorded = |capture: &dyn capture::Capture| {
                capture.copy(state.at(), &copy, vec![self.used(), from.used()])
            };
            if let Some(recorded) = capture::current().and_then(recorded) {
                return recorded;
            }
            // SAFETY: the tensors' own ranges, equally long and disjoint; their memory is kept from
            // here on, and the caller leaves the elements alone.
            let copied = unsafe { state.api.copy(state.id, &copy, stream.raw()) };
            // Also after a failure: the copy may be queued, and a signal refused.
            let kept = state.keep(stream.raw(), Box::new(Ends([self.kept(), from.kept()])));
            copied.and(kept)
        })
    }

    /// Checks what every copy needs: the same type and shape, and that it may be written.
    fn check_copy(&self, from: &Self) -> Result<(), Error> {
        self.check_writable()?;
        if self.dtype() != from.dtype() {
            let message = format!("expected elements of {}, found {}", self.dtype(), from.dtype());
            return Err(Error::new(ErrorKind::Type, message));
        }
        if self.shape() != from.shape() {
            let message = format!("expected shape {:?}, found {:?}", self.shape(), from.shape());
            return Err(Error::new(ErrorKind::Value, message));
        }
        Ok(())
    }

    /// Returns true if one device API may copy between their devices.
    fn is_direct(&self, from: &Self) -> bool {
        let same_kind = self.device().name() == from.device().name();
        same_kind || self.device().is_host_memory() || from.device().is_host_memory()
    }
}

fn no_memory(size_bytes: u64) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("{size_bytes} bytes of host memory cannot be allocated"))
}

fn to_usize(size_bytes: u64) -> Result<usize, Error> {
    let size = usize::try_from(size_bytes).ok().filter(|size| isize::try_from(*size).is_ok());
    size.ok_or_else(|| no_memory(size_bytes))
}

/// Returns that many zeros, or an error: a plugin's tensor may claim any size. The system's zeros
/// cost nothing until they are written; reserving and filling would lose that.
pub(super) fn zeroed(size_bytes: usize) -> Result<Vec<u8>, Error> {
    let layout = std::alloc::Layout::array::<u8>(size_bytes).map_err(|_| no_memory(size_bytes as u64))?;
    if layout.size() == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: a layout of some bytes; the returned block has that size and alignment, and all of it
    // is initialised.
    unsafe {
        let data = std::alloc::alloc_zeroed(layout);
        if data.is_null() {
            return Err(no_memory(size_bytes as u64));
        }
        Ok(Vec::from_raw_parts(data, size_bytes, size_bytes))
    }
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

    /// What a plugin's tensor claims ends no process.
    #[test]
    fn memory_that_is_not_there_is_an_error() {
        for size in [isize::MAX as usize, usize::MAX, 1 << 60] {
            assert_eq!(*zeroed(size).unwrap_err().kind(), ErrorKind::OutOfMemory);
        }
        assert_eq!(zeroed(3).unwrap(), [0, 0, 0]);
        assert!(zeroed(0).unwrap().is_empty());
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
