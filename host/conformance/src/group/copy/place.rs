//! Both ends of a copy with margins around their ranges, and the copy between them.

use std::ffi::c_void;

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd, ChipdockDataType};
use chipdock_raw_host::{Device, NO_HINT, Space, host_end};

use crate::bytes::{pattern, same_bytes};
use crate::{Context, Verdict};

/// Margin after each range: odd, so that rounding up is detected.
const MARGIN_BYTES: usize = 67;

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From host memory to a data space.
    HostToDevice,
    /// From a data space to host memory.
    DeviceToHost,
    /// Between two data spaces of a device.
    Between,
    /// Between two ranges of one data space.
    Within,
}

impl Direction {
    pub(super) const ALL: [Self; 4] = [Self::HostToDevice, Self::DeviceToHost, Self::Between, Self::Within];

    /// Returns the direction as spelled in ids.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HostToDevice => "h2d",
            Self::DeviceToHost => "d2h",
            Self::Between => "d2d",
            Self::Within => "within",
        }
    }
}

/// Parameters of a copy to test.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) direction: Direction,
    pub(super) size: usize,
    pub(super) from_offset: usize,
    pub(super) to_offset: usize,
    /// Distance of host addresses from a multiple of 64.
    pub(super) host_skew: usize,
    pub(super) hint: ChipdockDataType,
}

impl Transfer {
    pub(super) fn new(direction: Direction, size: usize) -> Self {
        Self { direction, size, from_offset: 0, to_offset: 0, host_skew: 0, hint: NO_HINT }
    }

    /// Runs the copy on the default stream of device 0 and checks both ends with their margins.
    pub(super) fn hold(&self, c: &Context) -> Verdict {
        self.hold_on(&c.device()?, 0, std::ptr::null_mut())
    }

    /// Runs the copy on a stream of a device and checks both ends with their margins.
    pub(super) fn hold_on(&self, device: &Device, device_id: i32, stream: *mut c_void) -> Verdict {
        if self.direction == Direction::Within {
            return self.hold_within(device, device_id, stream);
        }
        let from_bytes = pattern(1, self.from_offset + self.size + MARGIN_BYTES);
        let to_bytes = pattern(2, self.to_offset + self.size + MARGIN_BYTES);
        let place = |bytes: &[u8], is_host: bool| {
            if is_host {
                Ok(CopyEnd::host(bytes, self.host_skew))
            } else {
                CopyEnd::space(device, device_id, bytes)
            }
        };
        let mut from = place(&from_bytes, self.direction == Direction::HostToDevice)?;
        let mut to = place(&to_bytes, self.direction == Direction::DeviceToHost)?;
        let copy = ChipdockCopy {
            from: from.end(self.from_offset),
            to: to.end(self.to_offset),
            size_bytes: self.size as u64,
            dtype_hint: self.hint,
            flags: 0,
            next: std::ptr::null(),
        };
        // SAFETY: by D.6, both ends live, do not overlap, and are not used until the sync.
        unsafe { device.copy_raw(device_id, &copy, stream) }?;
        device.sync(device_id, stream)?;
        let moved = &from_bytes[self.from_offset..self.from_offset + self.size];
        hold_destination(&to.bytes()?, &to_bytes, self.to_offset, moved)?;
        hold_source(&from.bytes()?, &from_bytes)
    }

    fn hold_within(&self, device: &Device, device_id: i32, stream: *mut c_void) -> Verdict {
        let behind_source = self.from_offset + self.size + MARGIN_BYTES;
        let to_offset = behind_source.next_multiple_of(4096) + self.to_offset;
        let before = pattern(1, to_offset + self.size + MARGIN_BYTES);
        let place = Space::with(device, device_id, &before)?;
        let copy = ChipdockCopy {
            from: place.end(self.from_offset as u64),
            to: place.end(to_offset as u64),
            size_bytes: self.size as u64,
            dtype_hint: self.hint,
            flags: 0,
            next: std::ptr::null(),
        };
        // SAFETY: by D.6, the data space lives and is not used until the sync, and the two ranges
        // do not overlap.
        unsafe { device.copy_raw(device_id, &copy, stream) }?;
        device.sync(device_id, stream)?;
        let moved = &before[self.from_offset..self.from_offset + self.size];
        let after = place.contents()?;
        hold_destination(
            &after[behind_source..],
            &before[behind_source..],
            to_offset - behind_source,
            moved,
        )?;
        hold_source(&after[..behind_source], &before[..behind_source])
    }
}

/// Checks that the copied bytes are in place and that nothing else has changed (D.34).
pub(super) fn hold_destination(after: &[u8], before: &[u8], offset: usize, moved: &[u8]) -> Verdict {
    let end = offset + moved.len();
    same_bytes("the destination's range", &after[offset..end], moved)?;
    same_bytes("what stands before the destination's range", &after[..offset], &before[..offset])
        .and_then(|()| {
            same_bytes("what stands behind the destination's range", &after[end..], &before[end..])
        })
        .map_err(|stop| stop.clause("D.34"))
}

/// Checks that the source is unchanged (D.35).
pub(super) fn hold_source(after: &[u8], before: &[u8]) -> Verdict {
    same_bytes("the source, which is only read", after, before).map_err(|stop| stop.clause("D.35"))
}

/// One end of a copy, whose contents are known.
pub(super) enum CopyEnd<'d> {
    /// Host memory, from byte `start` of the buffer on.
    Host { buffer: Vec<u8>, start: usize, size: usize },
    /// A data space.
    Space(Space<'d>),
}

impl<'d> CopyEnd<'d> {
    /// Creates host memory whose address is `skew` past a multiple of 64.
    pub(super) fn host(bytes: &[u8], skew: usize) -> Self {
        let mut buffer = vec![0; bytes.len() + 64 + skew];
        let start = buffer.as_ptr().addr().next_multiple_of(64) - buffer.as_ptr().addr() + skew;
        buffer[start..start + bytes.len()].copy_from_slice(bytes);
        Self::Host { buffer, start, size: bytes.len() }
    }

    /// Creates a data space of a device.
    pub(super) fn space(device: &'d Device, device_id: i32, bytes: &[u8]) -> Verdict<Self> {
        Ok(Self::Space(Space::with(device, device_id, bytes)?))
    }

    pub(super) fn end(&mut self, offset: usize) -> ChipdockCopyEnd {
        match self {
            Self::Host { buffer, start, .. } => host_end(buffer[*start..].as_mut_ptr(), offset as u64),
            Self::Space(space) => space.end(offset as u64),
        }
    }

    pub(super) fn bytes(&self) -> Verdict<Vec<u8>> {
        match self {
            Self::Host { buffer, start, size } => Ok(buffer[*start..start + size].to_vec()),
            Self::Space(space) => Ok(space.contents()?),
        }
    }
}
