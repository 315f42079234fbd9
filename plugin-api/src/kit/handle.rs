//! Handles: numbers that identify an object of one device in the whole process (KIT-1 to KIT-3).

use core::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Error, ErrorKind};

/// Lowest bit of the serial number in a handle: the bits below are zero, so that a handle is as
/// aligned as a data space may be.
const SERIAL_SHIFT: u32 = 16;
/// Mask of a serial number, which ends below the bits of the kinds.
const SERIAL_MASK: usize = (1 << 44) - 1;

/// The kind of object that a handle identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleKind {
    /// Memory.
    DataSpace,
    /// A queue of work.
    Stream,
    /// A point in a stream whose time is known.
    Mark,
    /// A value that rises.
    Timeline,
    /// Copies and launches that are replayed.
    Graph,
}

impl HandleKind {
    /// Makes a handle (KIT-1, KIT-2). [`Table`](super::Table) and [`Spaces`](super::Spaces) call it
    /// for each added object.
    #[must_use]
    pub fn new_handle(self) -> usize {
        // One count for all tables of the process: a handle of another device or host is in no
        // other table.
        static LAST_SERIAL: AtomicUsize = AtomicUsize::new(0);
        let serial = LAST_SERIAL.fetch_add(1, Ordering::Relaxed) + 1;
        self.bit() | (serial & SERIAL_MASK) << SERIAL_SHIFT
    }

    /// Makes the error for a handle that is not live on `device` (KIT-3).
    #[must_use]
    pub fn unknown(self, handle: usize, device: impl fmt::Display) -> Error {
        let what = self.noun();
        let message = format!(
            "{handle:#x} is no {what} of {device}: it was freed, or is another device's; expected the handle of a {what} \
             that this device made"
        );
        Error::new(ErrorKind::WRONG_STATE, message)
    }

    /// Returns bits, one of which at least no address of a process on a 64-bit machine has, so that
    /// using a handle as an address faults at once.
    const fn bit(self) -> usize {
        match self {
            Self::DataSpace => 1 << 62,
            Self::Stream => 1 << 61,
            Self::Mark => 1 << 60,
            Self::Timeline => 1 << 59,
            Self::Graph => (1 << 59) | (1 << 60),
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::DataSpace => "data space",
            Self::Stream => "stream",
            Self::Mark => "mark",
            Self::Timeline => "timeline",
            Self::Graph => "graph",
        }
    }
}
