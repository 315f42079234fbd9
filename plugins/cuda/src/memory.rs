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

/// The data spaces of a host.
#[derive(Default)]
pub(crate) struct Spaces(RwLock<Table>);

#[derive(Default)]
struct Table {
    live: BTreeMap<usize, Space>,
    /// Gone with the context that they were of, and not freed yet (D.40).
    gone: BTreeMap<usize, Gone>,
}

/// The driver may give the address out again. Such memory is kept here, unused, until the handle is freed that stood for
/// the address before: one handle is never two data spaces.
struct Gone {
    device_id: i32,
    unused: Option<Memory>,
}

impl Spaces {
    /// Keeps memory that was allocated and answers its handle, which is its address; nothing where that still stands for a
    /// data space that is gone: other memory has to be asked for.
    pub(crate) fn keep(&self, memory: Memory, size_bytes: usize, device_id: i32) -> Option<usize> {
        let base = memory.address();
        let is_device = memory.kind() == MemoryKind::Device;
        let range = Range { base, size_bytes, device_id, is_device };
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(gone) = table.gone.get_mut(&base) {
            // What somebody else owns is theirs again.
            gone.unused = (memory.kind() != MemoryKind::Adopted).then_some(memory);
            return None;
        }
        table.live.insert(base, Space { memory, range });
        Some(base)
    }

    /// Takes a data space out, for it to be freed; nothing for one that is gone already.
    ///
    /// # Errors
    ///
    /// `WrongState`: the device has none there.
    pub(crate) fn take(&self, handle: usize, device_id: i32) -> Result<Option<Memory>, Error> {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_of = |id: i32| id == device_id;
        if table.gone.get(&handle).is_some_and(|gone| is_of(gone.device_id)) {
            return Ok(table.gone.remove(&handle).and_then(|gone| gone.unused));
        }
        match table.live.get(&handle) {
            Some(space) if is_of(space.range.device_id) => {}
            _ => return Err(unknown(handle, device_id)),
        }
        Ok(table.live.remove(&handle).map(|space| space.memory))
    }

    /// Lets go of every data space of a device, which are gone with its context; their handles may still be freed.
    pub(crate) fn forget(&self, device_id: i32) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let of_device = |space: &Space| space.range.device_id == device_id;
        let handles: Vec<usize> =
            table.live.iter().filter(|(_, space)| of_device(space)).map(|(handle, _)| *handle).collect();
        for handle in handles {
            table.live.remove(&handle);
            table.gone.insert(handle, Gone { device_id, unused: None });
        }
        for gone in table.gone.values_mut().filter(|gone| gone.device_id == device_id) {
            gone.unused = None;
        }
    }

    /// Whether an address is the handle of a data space that is gone.
    pub(crate) fn is_gone(&self, handle: usize) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).gone.contains_key(&handle)
    }

    /// The data space that an address lies in.
    pub(crate) fn find(&self, address: usize) -> Option<Range> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (_, space) = table.live.range(..=address).next_back()?;
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
