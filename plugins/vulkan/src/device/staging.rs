//! Staging: a ring of host memory through which a stream copies from and to memory that the device cannot reach (VK-D16,
//! VK-D17).

use std::ptr;
use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind, bail};
use gpu_allocator::MemoryLocation;

use super::gpu::{Buffer, Request};
use super::memory::Space;
use super::queue::{Keep, Queue, State, Work};

/// Size of a ring.
const RING_BYTES: u64 = 16 << 20;
/// Largest part of a copy: several fit, so that the host fills one while the device reads another.
const PART_BYTES: usize = 4 << 20;
/// Granularity of parts: that of a cache line, and of what drivers copy best.
const PART_ALIGNMENT_BYTES: u64 = 64;

/// A ring of staging memory. Positions count up for ever; a part lies at its position modulo the size.
pub(super) struct Ring {
    buffer: Buffer,
    mapped: *mut u8,
    head: u64,
    tail: u64,
}

// SAFETY: the address of memory that any thread may access; a ring has one user at a time.
unsafe impl Send for Ring {}

impl Ring {
    /// Takes contiguous bytes, at most the ring's size; `None` until others are given back.
    fn take(&mut self, size_bytes: usize) -> Option<Part> {
        let size = self.buffer.size_bytes();
        let (start, end) = fit(self.head, size_bytes as u64, size);
        if end - self.tail > size {
            return None;
        }
        self.head = end;
        let offset = start % size;
        let address = self.mapped.wrapping_add(offset as usize);
        Some(Part { buffer: self.buffer.raw(), offset, address, size_bytes, end })
    }

    /// Gives everything before a position back.
    pub(super) fn free_to(&mut self, position: u64) {
        self.tail = position;
    }
}

/// The start and end of so many bytes from `head` on that do not wrap around.
fn fit(head: u64, size_bytes: u64, ring_bytes: u64) -> (u64, u64) {
    let start = head.next_multiple_of(PART_ALIGNMENT_BYTES);
    let is_whole = start % ring_bytes + size_bytes <= ring_bytes;
    let start = if is_whole { start } else { start.next_multiple_of(ring_bytes) };
    (start, start + size_bytes)
}

/// A part of a ring that is taken.
struct Part {
    buffer: vk::Buffer,
    offset: u64,
    address: *mut u8,
    size_bytes: usize,
    /// Position of its end in the ring.
    end: u64,
}

/// A copy from the ring to host memory, made by the host once the batch that fills the ring has ended.
pub(super) struct HostCopy {
    from: *const u8,
    to: *mut u8,
    size_bytes: usize,
}

// SAFETY: addresses of a ring, and of memory that the caller of a copy keeps until its stream is synchronised; any thread
// may access both.
unsafe impl Send for HostCopy {}

impl HostCopy {
    /// Makes the copy.
    ///
    /// # Safety
    ///
    /// * The ring lives, and the batch that fills its part has ended.
    /// * The stream's synchronisation has not returned since the copy was queued.
    pub(super) unsafe fn make(&self) {
        // SAFETY: the part of the ring that the batch took, and host memory that is live until the stream is synchronised
        // (D.6).
        unsafe { ptr::copy_nonoverlapping(self.from, self.to, self.size_bytes) };
    }

    /// Returns true if it writes to a range of host memory.
    pub(super) fn overlaps(&self, address: usize, size_bytes: usize) -> bool {
        let to = self.to.addr();
        to < address.saturating_add(size_bytes) && address < to.saturating_add(self.size_bytes)
    }
}

impl Queue {
    /// Takes staging memory, once earlier batches have given it back, if need be.
    fn stage(&self, state: &mut State, size_bytes: usize) -> Result<Part, Error> {
        if state.ring.is_none() {
            let kept = lock(&self.shared().rings).pop();
            state.ring = Some(kept.map_or_else(|| self.make_ring(), Ok)?);
        }
        loop {
            if let Some(part) = state.ring.as_mut().and_then(|ring| ring.take(size_bytes)) {
                return Ok(part);
            }
            self.submit(state, None);
            if !self.wait_for_oldest(state) {
                bail!(
                    ErrorKind::OUT_OF_MEMORY,
                    "{}: no staging memory is left for {size_bytes} bytes",
                    self.gpu().name()
                );
            }
        }
    }

    fn make_ring(&self) -> Result<Ring, Error> {
        let what = || format!("{}: {RING_BYTES} bytes of staging memory", self.gpu().name());
        let buffer = self.gpu().buffer(&Request {
            size_bytes: RING_BYTES,
            alignment_bytes: PART_ALIGNMENT_BYTES,
            location: MemoryLocation::GpuToCpu,
            what: &what,
        })?;
        let Some(mapped) = buffer.mapped() else {
            bail!(ErrorKind::INTERNAL, "{}: it is not mapped", what());
        };
        Ok(Ring { buffer, mapped, head: 0, tail: 0 })
    }

    /// Queues a copy from host memory, which is read before this returns.
    ///
    /// # Safety
    ///
    /// * `size_bytes` bytes can be read at `from`.
    pub(super) unsafe fn copy_in(
        &self,
        from: *const u8,
        to: &Arc<Space>,
        offset: u64,
        size_bytes: usize,
    ) -> Result<(), Error> {
        self.in_parts(to, offset, size_bytes, |part, done| {
            // SAFETY: a part of the ring that is taken, and as many bytes of the caller's memory.
            unsafe { ptr::copy_nonoverlapping(from.add(done), part.address, part.size_bytes) };
            Direction::In
        })
    }

    /// Queues a copy to host memory, which is written before the stream's next synchronisation returns.
    ///
    /// # Safety
    ///
    /// * `size_bytes` bytes can be written at `to` until then.
    pub(super) unsafe fn copy_out(
        &self,
        from: &Arc<Space>,
        offset: u64,
        to: *mut u8,
        size_bytes: usize,
    ) -> Result<(), Error> {
        self.in_parts(from, offset, size_bytes, |_, done| Direction::Out(to.wrapping_add(done)))
    }

    /// Queues a copy through the ring. `prepare` gets each part with the number of bytes before it.
    fn in_parts(
        &self,
        space: &Arc<Space>,
        offset: u64,
        size_bytes: usize,
        prepare: impl Fn(&Part, usize) -> Direction,
    ) -> Result<(), Error> {
        self.report()?;
        let (buffer, base, _) = space.buffer();
        let is_long = size_bytes > PART_BYTES;
        for done in (0..size_bytes).step_by(PART_BYTES) {
            self.with(|state| {
                let part = self.stage(state, PART_BYTES.min(size_bytes - done))?;
                let direction = prepare(&part, done);
                let (inner, size) = (base + offset + done as u64, part.size_bytes as u64);
                let (from, to, region) = match direction {
                    Direction::In => (part.buffer, buffer, (part.offset, inner)),
                    Direction::Out(_) => (buffer, part.buffer, (inner, part.offset)),
                };
                let region = vk::BufferCopy { src_offset: region.0, dst_offset: region.1, size };
                let work = Work::Copy { size_bytes: size_bytes as u64 };
                let keep: Keep = vec![Arc::clone(space) as _];
                self.record_in(state, work, keep, |commands| {
                    // SAFETY: a command buffer that is recorded, and live buffers that contain the ranges.
                    unsafe { self.gpu().raw().cmd_copy_buffer(commands, from, to, &[region]) };
                    Ok(())
                })?;
                self.use_ring(state, part.end);
                if let Direction::Out(to) = direction {
                    let copy = HostCopy { from: part.address, to, size_bytes: part.size_bytes };
                    self.copy_to_host(state, copy);
                }
                // The device begins with a long copy while the host goes on.
                self.submit_if(state, is_long);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The direction of a part of a copy.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out(*mut u8),
}
