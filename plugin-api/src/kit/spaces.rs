//! Data spaces by handle or by address, and the budget of their memory.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use super::{HandleKind, read, write};
use crate::{Error, ErrorKind, bail};

/// The data spaces of one device (KIT-1 to KIT-8). `T` is the driver's object for one.
///
/// Methods may be called from any thread at once. `device` is the device's name, for messages.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::ErrorKind;
/// use chipdock_plugin_api::kit::Spaces;
///
/// let spaces = Spaces::default();
/// let handle = spaces.add("a buffer of the driver's", 64);
/// let (buffer, start) = spaces.range(handle, 16, 48, "npu:0")?;
/// assert_eq!((*buffer, start), ("a buffer of the driver's", 16));
/// assert_eq!(spaces.range(handle, 16, 49, "npu:0").unwrap_err().kind(), ErrorKind::INDEX_ERROR);
/// // An opaque handle refers to the first byte only.
/// assert_eq!(spaces.find(handle + 16, "npu:0").unwrap_err().kind(), ErrorKind::WRONG_STATE);
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Debug)]
pub struct Spaces<T>(RwLock<Entries<T>>);

#[derive(Debug)]
struct Entries<T> {
    live: BTreeMap<usize, Entry<T>>,
    gone: BTreeSet<usize>,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    size_bytes: u64,
    /// Whether the handle is the data space's address.
    is_address: bool,
}

/// The position in a data space that a handle points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<V> {
    /// The driver's object for the data space.
    pub value: V,
    /// The handle of the data space itself.
    pub base: usize,
    /// Distance in bytes from `base` to the address that the handle is; 0 for an opaque handle.
    pub inner_bytes: u64,
    /// Size of the data space in bytes.
    pub size_bytes: u64,
}

impl<V> Located<V> {
    /// Returns the start of a range in the data space, in bytes from its base (KIT-8).
    ///
    /// # Errors
    ///
    /// `IndexError`: it does not lie within the data space.
    pub fn start_of(
        &self,
        offset_bytes: u64,
        size_bytes: u64,
        device: impl fmt::Display,
    ) -> Result<usize, Error> {
        let start = self.inner_bytes.checked_add(offset_bytes);
        let end = start.and_then(|start| start.checked_add(size_bytes));
        match (start.map(usize::try_from), end) {
            (Some(Ok(start)), Some(end)) if end <= self.size_bytes => Ok(start),
            _ => bail!(
                ErrorKind::INDEX_ERROR,
                "{device}: expected a range within the {} bytes of the data space {:#x}, found {size_bytes} bytes at {}",
                self.size_bytes,
                self.base,
                u128::from(self.inner_bytes) + u128::from(offset_bytes)
            ),
        }
    }
}

/// The reason why a data space could not be added at an address (KIT-7). The value is returned.
#[derive(Debug)]
pub enum NotAdded<T> {
    /// A live data space has some of its bytes.
    Overlaps(T),
    /// The address is that of a data space that is gone and not freed yet, and the driver allocated
    /// it again: keep this memory while requesting other memory.
    Gone(T),
}

impl<T> Default for Spaces<T> {
    fn default() -> Self {
        Self(RwLock::new(Entries { live: BTreeMap::new(), gone: BTreeSet::new() }))
    }
}

impl<T> Entries<T> {
    fn locate(&self, handle: usize) -> Option<Located<&Arc<T>>> {
        let (base, entry) = self.live.range(..=handle).next_back()?;
        let inner_bytes = (handle - base) as u64;
        let is_within = inner_bytes == 0 || entry.is_address && inner_bytes < entry.size_bytes;
        let (value, size_bytes) = (&entry.value, entry.size_bytes);
        is_within.then_some(Located { value, base: *base, inner_bytes, size_bytes })
    }
}

impl<T> Spaces<T> {
    /// Adds a data space and returns its new, opaque handle.
    pub fn add(&self, value: T, size_bytes: u64) -> usize {
        let handle = HandleKind::DataSpace.new_handle();
        let entry = Entry { value: Arc::new(value), size_bytes, is_address: false };
        write(&self.0).live.insert(handle, entry);
        handle
    }

    /// Adds a data space that is identified by its address, which is its handle. A data space of no
    /// bytes takes one address.
    ///
    /// # Errors
    ///
    /// The value, if the addresses are not free (KIT-7).
    pub fn add_at(&self, address: usize, value: T, size_bytes: u64) -> Result<usize, NotAdded<T>> {
        let mut entries = write(&self.0);
        if entries.gone.contains(&address) {
            return Err(NotAdded::Gone(value));
        }
        let last = address.saturating_add(usize::try_from(size_bytes.max(1) - 1).unwrap_or(usize::MAX));
        let before = entries.live.range(..=last).next_back();
        let overlaps = before.is_some_and(|(base, entry)| {
            entry.is_address
                && base.saturating_add(usize::try_from(entry.size_bytes.max(1) - 1).unwrap_or(usize::MAX))
                    >= address
        });
        if overlaps {
            return Err(NotAdded::Overlaps(value));
        }
        entries.live.insert(address, Entry { value: Arc::new(value), size_bytes, is_address: true });
        Ok(address)
    }

    /// Looks up the data space that a handle points into.
    ///
    /// # Errors
    ///
    /// `WrongState`: no data space that is live here (KIT-3).
    pub fn find(&self, handle: usize, device: impl fmt::Display) -> Result<Located<Arc<T>>, Error> {
        let entries = read(&self.0);
        let found = entries.locate(handle).map(|Located { value, base, inner_bytes, size_bytes }| Located {
            value: Arc::clone(value),
            base,
            inner_bytes,
            size_bytes,
        });
        found.ok_or_else(|| HandleKind::DataSpace.unknown(handle, device))
    }

    /// Calls `look` with the data space that a handle points into, without counting references.
    /// `look` runs under the lock, so it must be short and use no data space. Returns `None` if no
    /// data space is live there.
    pub fn look<R>(&self, handle: usize, look: impl FnOnce(Located<&T>) -> R) -> Option<R> {
        let entries = read(&self.0);
        let Located { value, base, inner_bytes, size_bytes } = entries.locate(handle)?;
        Some(look(Located { value: &**value, base, inner_bytes, size_bytes }))
    }

    /// Returns the data space that contains a range, and the start of the range there, in bytes
    /// from its base (KIT-8).
    ///
    /// # Errors
    ///
    /// * `WrongState`: no data space that is live here (KIT-3).
    /// * `IndexError`: the range does not lie within it.
    pub fn range(
        &self,
        handle: usize,
        offset_bytes: u64,
        size_bytes: u64,
        device: impl fmt::Display,
    ) -> Result<(Arc<T>, usize), Error> {
        let found = self.find(handle, &device)?;
        let start = found.start_of(offset_bytes, size_bytes, device)?;
        Ok((found.value, start))
    }

    /// Returns the data spaces that have exactly these handles, in order, under one lock for all of
    /// them, as a launch needs. Handle 0 gives `None`.
    ///
    /// # Errors
    ///
    /// `WrongState`: one is not the handle of a data space that is live here (KIT-3).
    pub fn each(
        &self,
        handles: impl Iterator<Item = usize>,
        device: impl fmt::Display,
    ) -> Result<Vec<Option<Arc<T>>>, Error> {
        let entries = read(&self.0);
        let mut found = Vec::with_capacity(handles.size_hint().1.unwrap_or(0));
        for handle in handles {
            found.push(match handle {
                0 => None,
                _ => match entries.live.get(&handle) {
                    Some(entry) => Some(Arc::clone(&entry.value)),
                    None => return Err(HandleKind::DataSpace.unknown(handle, device)),
                },
            });
        }
        Ok(found)
    }

    /// Removes a data space, which is then to be freed; `None` for one that is gone with its device
    /// (KIT-5).
    ///
    /// # Errors
    ///
    /// `WrongState`: it is not the handle of a data space that is live here (KIT-3).
    pub fn take(&self, handle: usize, device: impl fmt::Display) -> Result<Option<Arc<T>>, Error> {
        let mut entries = write(&self.0);
        match entries.live.remove(&handle) {
            Some(entry) => Ok(Some(entry.value)),
            None if entries.gone.remove(&handle) => Ok(None),
            None => Err(HandleKind::DataSpace.unknown(handle, device)),
        }
    }

    /// Returns true if a handle is gone and not freed yet (KIT-5).
    #[must_use]
    pub fn is_gone(&self, handle: usize) -> bool {
        read(&self.0).gone.contains(&handle)
    }

    /// Makes every live handle a gone one (KIT-5), and releases the values.
    pub fn abandon(&self) {
        let mut entries = write(&self.0);
        let live = std::mem::take(&mut entries.live);
        entries.gone.extend(live.keys());
        // Values are dropped after the lock is released: that may call a driver.
        drop(entries);
        drop(live);
    }
}

/// The budget of the memory of data spaces (KIT-9).
#[derive(Debug)]
pub struct Budget {
    used: Arc<AtomicU64>,
    total_bytes: u64,
}

/// Bytes that count as used until this is dropped.
#[derive(Debug)]
pub struct Reserved {
    used: Arc<AtomicU64>,
    size_bytes: u64,
}

impl Budget {
    /// Makes a budget of so many bytes, none of them reserved.
    #[must_use]
    pub fn new(total_bytes: u64) -> Self {
        Self { used: Arc::default(), total_bytes }
    }

    /// Returns the bytes that are left.
    #[must_use]
    pub fn available_bytes(&self) -> u64 {
        self.total_bytes - self.used.load(Ordering::Acquire)
    }

    /// Reserves bytes. Keep the result beside the memory for which they are reserved.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`: fewer bytes are left; nothing is reserved.
    pub fn reserve(&self, size_bytes: u64, device: impl fmt::Display) -> Result<Reserved, Error> {
        let taken = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(size_bytes).filter(|sum| *sum <= self.total_bytes)
        });
        match taken {
            Ok(_) => Ok(Reserved { used: Arc::clone(&self.used), size_bytes }),
            Err(used) => bail!(
                ErrorKind::OUT_OF_MEMORY,
                "{device}: {size_bytes} bytes are asked for, and {} of {} are left; free some first",
                self.total_bytes - used,
                self.total_bytes
            ),
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.used.fetch_sub(self.size_bytes, Ordering::AcqRel);
    }
}
