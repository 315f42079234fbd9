//! Streams and marks by handle.

use core::fmt;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

use super::{HandleKind, read, write};
use crate::Error;

/// The objects of a device that are not freed yet, by handle (KIT-1 to KIT-5).
///
/// Methods may be called from any thread at once. `device` is the device's name, for messages.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::ErrorKind;
/// use chipdock_plugin_api::kit::{HandleKind, Table};
///
/// let streams = Table::new(HandleKind::Stream);
/// let handle = streams.add("the driver's queue");
/// assert_eq!(*streams.get(handle, "npu:0")?, "the driver's queue");
/// streams.take(handle, "npu:0")?;
/// let error = streams.get(handle, "npu:0").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::WRONG_STATE);
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Debug)]
pub struct Table<T> {
    kind: HandleKind,
    entries: RwLock<Entries<T>>,
}

#[derive(Debug)]
struct Entries<T> {
    live: HashMap<usize, Arc<T>>,
    gone: HashSet<usize>,
}

impl<T> Table<T> {
    /// Makes an empty table of objects of that kind.
    #[must_use]
    pub fn new(kind: HandleKind) -> Self {
        Self { kind, entries: RwLock::new(Entries { live: HashMap::new(), gone: HashSet::new() }) }
    }

    /// Adds a value and returns its new handle.
    pub fn add(&self, value: T) -> usize {
        let handle = self.kind.new_handle();
        write(&self.entries).live.insert(handle, Arc::new(value));
        handle
    }

    /// Looks a handle up.
    ///
    /// # Errors
    ///
    /// `WrongState`: it is not live here (KIT-3).
    pub fn get(&self, handle: usize, device: impl fmt::Display) -> Result<Arc<T>, Error> {
        let found = read(&self.entries).live.get(&handle).cloned();
        found.ok_or_else(|| self.kind.unknown(handle, device))
    }

    /// Removes a handle, whose object is then to be freed; `None` for one that is gone with its
    /// device (KIT-5).
    ///
    /// # Errors
    ///
    /// `WrongState`: it is not live here (KIT-3).
    pub fn take(&self, handle: usize, device: impl fmt::Display) -> Result<Option<Arc<T>>, Error> {
        let mut entries = write(&self.entries);
        match entries.live.remove(&handle) {
            Some(value) => Ok(Some(value)),
            None if entries.gone.remove(&handle) => Ok(None),
            None => Err(self.kind.unknown(handle, device)),
        }
    }

    /// Returns everything that is live, in no order.
    #[must_use]
    pub fn values(&self) -> Vec<Arc<T>> {
        read(&self.entries).live.values().cloned().collect()
    }

    /// Returns true if a handle is gone and not freed yet (KIT-5).
    #[must_use]
    pub fn is_gone(&self, handle: usize) -> bool {
        read(&self.entries).gone.contains(&handle)
    }

    /// Makes every live handle a gone one (KIT-5), and releases the values.
    pub fn abandon(&self) {
        let mut entries = write(&self.entries);
        let live = std::mem::take(&mut entries.live);
        entries.gone.extend(live.keys());
        // Values are dropped after the lock is released: that may call a driver.
        drop(entries);
        drop(live);
    }
}
