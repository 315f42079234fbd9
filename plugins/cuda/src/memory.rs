//! Data spaces that live, by address: what a handle is looked up in before the driver is called (D.19).

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use chipdock_plugin_api::{Error, ErrorKind, bail};

use crate::driver::{Memory, MemoryKind};

/// What every data space is aligned to: `cuMemAlloc` promises as much, the other two kinds give pages.
pub(crate) const ALIGNMENT_BYTES: u64 = 256;

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// Where the memory begins.
    pub(crate) base: usize,
    /// How large it is.
    pub(crate) size_bytes: usize,
    /// The device that it is of.
    pub(crate) device_id: i32,
    /// Whether it is the device's own, rather than host memory or managed memory.
    pub(crate) is_device: bool,
}

impl Range {
    /// The address `offset_bytes` behind `handle`, when so many bytes from there lie within.
    ///
    /// # Errors
    ///
    /// `IndexError`: they do not; the message tells all numbers.
    pub(crate) fn at(&self, handle: usize, offset_bytes: u64, size_bytes: u64) -> Result<usize, Error> {
        let inner = (handle - self.base) as u64;
        let end = inner.checked_add(offset_bytes).and_then(|start| start.checked_add(size_bytes));
        if end.is_none_or(|end| end > self.size_bytes as u64) {
            bail!(
                ErrorKind::INDEX_ERROR,
                "expected a range within the {} bytes of the data space {:#x} of cuda:{}, found {size_bytes} bytes at \
                 {}",
                self.size_bytes,
                self.base,
                self.device_id,
                u128::from(inner) + u128::from(offset_bytes)
            );
        }
        Ok(handle + offset_bytes as usize)
    }
}

/// A data space.
struct Space {
    memory: Memory,
    range: Range,
}

/// The data spaces of a host that live.
#[derive(Default)]
pub(crate) struct Spaces(RwLock<BTreeMap<usize, Space>>);

impl Spaces {
    /// Keeps memory that was allocated and answers its handle, which is its address.
    pub(crate) fn keep(&self, memory: Memory, size_bytes: usize, device_id: i32) -> usize {
        let base = memory.address();
        let is_device = memory.kind() == MemoryKind::Device;
        let range = Range { base, size_bytes, device_id, is_device };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(base, Space { memory, range });
        base
    }

    /// Takes a data space out, for it to be freed.
    ///
    /// # Errors
    ///
    /// `WrongState`: the device has none there.
    pub(crate) fn take(&self, handle: usize, device_id: i32) -> Result<Memory, Error> {
        let mut spaces = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match spaces.get(&handle) {
            Some(space) if space.range.device_id == device_id => {}
            _ => return Err(unknown(handle, device_id)),
        }
        spaces.remove(&handle).map(|space| space.memory).ok_or_else(|| unknown(handle, device_id))
    }

    /// The data space that an address lies in.
    pub(crate) fn find(&self, address: usize) -> Option<Range> {
        let spaces = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (_, space) = spaces.range(..=address).next_back()?;
        (address - space.range.base < space.range.size_bytes).then_some(space.range)
    }
}

/// What is said of an address that nobody knows.
pub(crate) fn unknown(handle: usize, device_id: i32) -> Error {
    Error::new(
        ErrorKind::WRONG_STATE,
        format!(
            "{handle:#x} is no data space of cuda:{device_id}: it was freed, or is another device's or the host's; \
             expected a handle that this device gave out"
        ),
    )
}
