//! Staging: a ring of host memory through which a stream copies from and to memory that the device
//! cannot reach (VK-D16, VK-D17).

use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind, bail};
use gpu_allocator::MemoryLocation;

use super::memory::Space;
use super::stream::{Keep, Queue, State, Work};
use crate::driver::{Buffer, HostMemory, Request};

/// Size of a ring.
const RING_BYTES: u64 = 16 << 20;
/// Largest part of a copy: several fit, so that the host fills one while the device reads another.
const PART_BYTES: usize = 4 << 20;
/// Granularity of parts: that of a cache line, and of what drivers copy best.
const PART_ALIGNMENT_BYTES: u64 = 64;

/// A ring of staging memory.
pub(super) struct Ring {
    buffer: Buffer,
    mapped: HostMemory,
    taken: Taken,
}

impl Ring {
    /// Takes contiguous bytes, at most the ring's size; `None` until others are given back.
    fn take(&mut self, size_bytes: usize) -> Option<Part> {
        let (start, end) = self.taken.take(size_bytes as u64)?;
        let offset = start % self.taken.ring_bytes;
        let address = self.mapped.at(offset as usize);
        Some(Part { buffer: self.buffer.raw(), offset, address, size_bytes, end })
    }

    /// Gives everything before a position back.
    pub(super) fn free_to(&mut self, position: u64) {
        self.taken.tail = position;
    }
}

/// The bytes of a ring that are taken. Positions count up for ever; a part lies at its position
/// modulo the size.
struct Taken {
    head: u64,
    tail: u64,
    ring_bytes: u64,
}

impl Taken {
    /// Reserves a contiguous range of that many bytes; returns where it starts and ends, or `None`
    /// if it does not fit.
    ///
    /// A ring of which nothing is taken is used from its start again, so that short copies touch
    /// the same memory and not, one after the other, all of the ring.
    fn take(&mut self, size_bytes: u64) -> Option<(u64, u64)> {
        if self.head == self.tail {
            self.head = self.head.next_multiple_of(self.ring_bytes);
            self.tail = self.head;
        }
        let start = self.head.next_multiple_of(PART_ALIGNMENT_BYTES);
        let is_whole = start % self.ring_bytes + size_bytes <= self.ring_bytes;
        let start = if is_whole { start } else { start.next_multiple_of(self.ring_bytes) };
        let end = start + size_bytes;
        if end - self.tail > self.ring_bytes {
            return None;
        }
        self.head = end;
        Some((start, end))
    }
}

/// A part of a ring that is taken.
struct Part {
    buffer: vk::Buffer,
    offset: u64,
    address: HostMemory,
    size_bytes: usize,
    /// Position of its end in the ring.
    end: u64,
}

/// A copy from the ring to host memory, made by the host once the batch that fills the ring has
/// ended.
pub(super) struct HostCopy {
    from: HostMemory,
    to: HostMemory,
    size_bytes: usize,
}

impl HostCopy {
    /// Makes the copy, once the batch that fills the ring's part has ended, and before the stream's
    /// synchronisation returns.
    pub(super) fn make(&self) {
        self.to.copy_from(self.from, self.size_bytes);
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
        let Some(mapped) = buffer.host_memory() else {
            bail!(ErrorKind::INTERNAL, "{}: it is not mapped", what());
        };
        let taken = Taken { head: 0, tail: 0, ring_bytes: RING_BYTES };
        Ok(Ring { buffer, mapped, taken })
    }

    /// Queues a copy from host memory, which is read before this returns.
    pub(super) fn copy_in(
        &self,
        from: HostMemory,
        to: &Arc<Space>,
        offset: u64,
        size_bytes: usize,
    ) -> Result<(), Error> {
        self.in_parts(to, offset, size_bytes, |part, done| {
            part.address.copy_from(from.at(done), part.size_bytes);
            Direction::In
        })
    }

    /// Queues a copy to host memory, which is written before the stream's next synchronisation
    /// returns.
    pub(super) fn copy_out(
        &self,
        from: &Arc<Space>,
        offset: u64,
        to: HostMemory,
        size_bytes: usize,
    ) -> Result<(), Error> {
        self.in_parts(from, offset, size_bytes, |_, done| Direction::Out(to.at(done)))
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
                let (stage, inner) = ((part.buffer, part.offset), (buffer, inner));
                let (from, to) = match direction {
                    Direction::In => (stage, inner),
                    Direction::Out(_) => (inner, stage),
                };
                let work = Work::Copy { size_bytes: size_bytes as u64 };
                let keep: Keep = vec![Arc::clone(space) as _];
                self.record_in(state, work, keep, |recorded| {
                    self.gpu().copy(recorded.commands, from, to, size);
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
    Out(HostMemory),
}

#[cfg(test)]
mod tests {
    use super::Taken;

    #[test]
    fn vk_d17_a_ring_of_which_nothing_is_taken_is_used_from_its_start() {
        let mut taken = Taken { head: 0, tail: 0, ring_bytes: 4096 };
        for _ in 0..3 {
            let (start, end) = taken.take(1000).unwrap();
            assert_eq!(start % 4096, 0);
            let (second, last) = taken.take(1000).unwrap();
            assert_eq!(second % 4096, 1024);
            taken.tail = end;
            assert_eq!(taken.take(2500).map(|(start, _)| start % 4096), None, "it would wrap around");
            assert_eq!(taken.take(2000).map(|(start, _)| start % 4096), Some(2048));
            taken.tail = last;
            taken.tail = taken.head;
        }
        assert_eq!(taken.take(4096).map(|(start, _)| start % 4096), Some(0));
        assert_eq!(taken.take(1), None);
    }
}
