//! What is known of a device's memory, and the cache of memory that is not the pool's (MEMORY-K4
//! to MEMORY-K7).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chipdock_abi::ChipdockDevice;

use super::memory_kind::{GLOBAL, MemoryKind, Place};
use super::pool::class_bytes;

/// Greatest number of bytes that a device caches of memory other than the pool's: pinned pages are
/// taken from the whole machine.
const CACHED_BYTES_MAX: u64 = 256 << 20;

/// What is known of a data space that is in use.
#[derive(Clone)]
pub(crate) struct Known {
    pub(super) size_bytes: u64,
    pub(super) place: Arc<Place>,
    /// The address at which the host reaches it, as a number.
    pub(super) address: Option<usize>,
    /// The device that copies from and to it, where that is not the one it is registered with.
    pub(super) worker: Option<ChipdockDevice>,
    pub(super) is_pooled: bool,
}

/// The data spaces of a device. Addresses are stored as numbers: they are never dereferenced here.
pub(crate) struct Spaces {
    lists: Mutex<Lists>,
    /// Number of data spaces in use that are not the pool's.
    placed_count: AtomicUsize,
    /// Number of data spaces of the pool that are older than the last reset.
    stale_count: AtomicUsize,
    /// Number of resets of the device.
    resets: AtomicU64,
    pool_place: Arc<Place>,
}

type Key = (Arc<Place>, u32);

/// Free memory that queued work may use until all streams were synchronised.
pub(super) struct Unsettled {
    resets: u64,
    busy: Vec<(Key, usize)>,
}

#[derive(Default)]
struct Lists {
    known: BTreeMap<usize, Known>,
    /// Data spaces of the pool that are older than the last reset.
    stale: BTreeSet<usize>,
    /// Free memory that no queued work uses.
    idle: BTreeMap<Key, Vec<usize>>,
    /// Free memory that queued work may use.
    busy: Vec<(Key, usize)>,
    cached_bytes: u64,
}

impl Default for Spaces {
    fn default() -> Self {
        let (kind, alignment_bytes) = (MemoryKind::Device, super::tables::ALIGNMENT_BYTES);
        let pool_place = Arc::new(Place { kind, scope: GLOBAL.to_owned(), alignment_bytes });
        Self {
            lists: Mutex::default(),
            placed_count: AtomicUsize::new(0),
            stale_count: AtomicUsize::new(0),
            resets: AtomicU64::new(0),
            pool_place,
        }
    }
}

impl Spaces {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a data space in use.
    pub(super) fn add(&self, data: *mut c_void, known: Known) {
        let is_placed = !known.is_pooled;
        let before = self.lists().known.insert(data.expose_provenance(), known);
        let was_placed = before.is_some_and(|before| !before.is_pooled);
        if is_placed && !was_placed {
            self.placed_count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds a data space of the pool, which is in use until it is freed.
    pub(super) fn add_pooled(&self, data: *mut c_void, size_bytes: u64, is_host_memory: bool) {
        let address = is_host_memory.then(|| data.expose_provenance());
        let place = Arc::clone(&self.pool_place);
        self.forget(data);
        self.add(data, Known { size_bytes, place, address, worker: None, is_pooled: true });
    }

    /// Forgets a data space, known or not.
    pub(super) fn forget(&self, data: *mut c_void) {
        let mut lists = self.lists();
        if lists.known.remove(&data.addr()).is_some_and(|known| !known.is_pooled) {
            self.placed_count.fetch_sub(1, Ordering::Relaxed);
        }
        if lists.stale.remove(&data.addr()) {
            self.stale_count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns true for a data space of the pool that is older than the last reset (MEMORY-K6).
    pub(super) fn is_stale(&self, data: *mut c_void) -> bool {
        self.stale_count.load(Ordering::Relaxed) > 0 && self.lists().stale.contains(&data.addr())
    }

    /// Returns what is known of the data space of a handle, or of the one in which an address lies.
    pub(super) fn find(&self, data: *mut c_void) -> Option<Known> {
        let lists = self.lists();
        let (start, known) = lists.known.range(..=data.addr()).next_back()?;
        let inner_bytes = data.addr() - start;
        let is_in = known.address == Some(*start) && (inner_bytes as u64) < known.size_bytes;
        (inner_bytes == 0 || is_in)
            .then(|| Known { address: known.address.map(|address| address + inner_bytes), ..known.clone() })
    }

    /// Returns true if a handle may be one of a data space that is not the pool's.
    pub(super) fn may_be_placed(&self, data: *mut c_void) -> bool {
        self.placed_count.load(Ordering::Relaxed) > 0 && self.find(data).is_some_and(|known| !known.is_pooled)
    }

    /// Takes cached memory that no queued work uses.
    pub(super) fn take(&self, place: &Arc<Place>, class: u32) -> Option<*mut c_void> {
        let mut lists = self.lists();
        let data = lists.idle.get_mut(&(Arc::clone(place), class)).and_then(Vec::pop)?;
        lists.cached_bytes = lists.cached_bytes.saturating_sub(class_bytes(class).unwrap_or(0));
        Some(ptr::with_exposed_provenance_mut(data))
    }

    /// Returns true if there is cached memory that queued work may use.
    pub(super) fn has_busy(&self, place: &Arc<Place>, class: u32) -> bool {
        self.lists().busy.iter().any(|((busy, of), _)| busy == place && *of == class)
    }

    /// Caches memory, if there is room and the device was not reset since; returns whether it did.
    pub(super) fn give(&self, place: &Arc<Place>, class: u32, data: *mut c_void, resets: u64) -> bool {
        let size_bytes = class_bytes(class).unwrap_or(u64::MAX);
        let mut lists = self.lists();
        // Under the lock: a reset that comes now drains it.
        let is_kept = resets == self.resets()
            && lists.cached_bytes.checked_add(size_bytes).is_some_and(|all| all <= CACHED_BYTES_MAX);
        if is_kept {
            lists.cached_bytes += size_bytes;
            lists.busy.push(((Arc::clone(place), class), data.expose_provenance()));
        }
        is_kept
    }

    /// Takes the memory that queued work may use; after all streams were synchronised it is
    /// returned with [`Self::settle`].
    pub(super) fn unsettled(&self) -> Unsettled {
        let mut lists = self.lists();
        Unsettled { resets: self.resets(), busy: std::mem::take(&mut lists.busy) }
    }

    /// Makes memory idle. Returns what is to be freed, because the device was reset meanwhile.
    #[must_use]
    pub(super) fn settle(&self, settled: Unsettled) -> Vec<*mut c_void> {
        let mut lists = self.lists();
        if settled.resets != self.resets() {
            return settled
                .busy
                .into_iter()
                .map(|(_, data)| ptr::with_exposed_provenance_mut(data))
                .collect();
        }
        for (key, data) in settled.busy {
            lists.idle.entry(key).or_default().push(data);
        }
        Vec::new()
    }

    /// Takes all cached memory, to be freed after all streams were synchronised.
    pub(super) fn drain(&self) -> Vec<*mut c_void> {
        let mut lists = self.lists();
        let idle = std::mem::take(&mut lists.idle).into_values().flatten();
        let busy = std::mem::take(&mut lists.busy).into_iter().map(|(_, data)| data);
        let all = idle.chain(busy).map(ptr::with_exposed_provenance_mut).collect();
        lists.cached_bytes = 0;
        all
    }

    /// Returns the number of resets of the device so far.
    pub(super) fn resets(&self) -> u64 {
        self.resets.load(Ordering::Relaxed)
    }

    /// Counts a reset: memory that was allocated before is not cached any more.
    pub(super) fn reset(&self) {
        let mut lists = self.lists();
        let pooled = lists.known.iter().filter(|(_, known)| known.is_pooled).map(|(data, _)| *data);
        let pooled: Vec<usize> = pooled.collect();
        lists.stale.extend(pooled);
        self.stale_count.store(lists.stale.len(), Ordering::Relaxed);
        self.resets.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(kind: MemoryKind, alignment_bytes: u64) -> Arc<Place> {
        Arc::new(Place { kind, scope: GLOBAL.to_owned(), alignment_bytes })
    }

    fn data(number: usize) -> *mut c_void {
        ptr::without_provenance_mut(number)
    }

    #[test]
    fn memory_k4_freed_memory_waits_for_all_streams() {
        let (spaces, pinned) = (Spaces::default(), place(MemoryKind::Pinned, 64));
        assert!(spaces.give(&pinned, 3, data(64), 0));
        assert!(spaces.take(&pinned, 3).is_none() && spaces.has_busy(&pinned, 3));
        let before = spaces.unsettled();
        assert!(spaces.give(&pinned, 3, data(128), 0), "freed while the streams are synchronised");
        assert!(spaces.settle(before).is_empty());
        assert_eq!(spaces.take(&pinned, 3), Some(data(64)));
        assert!(spaces.take(&pinned, 3).is_none(), "what came later waits for the next time");
    }

    #[test]
    fn memory_k4_only_like_memory_is_handed_out() {
        let (spaces, pinned) = (Spaces::default(), place(MemoryKind::Pinned, 64));
        spaces.give(&pinned, 3, data(64), 0);
        assert!(spaces.settle(spaces.unsettled()).is_empty());
        assert!(spaces.take(&place(MemoryKind::Unified, 64), 3).is_none());
        assert!(spaces.take(&place(MemoryKind::Pinned, 4096), 3).is_none());
        let scoped = Place { scope: "npu.near".to_owned(), ..(*pinned).clone() };
        assert!(spaces.take(&Arc::new(scoped), 3).is_none());
        assert!(spaces.take(&pinned, 4).is_none());
        assert_eq!(spaces.take(&place(MemoryKind::Pinned, 64), 3), Some(data(64)));
    }

    #[test]
    fn memory_k5_a_full_cache_takes_no_more_until_it_is_drained() {
        let (spaces, pinned) = (Spaces::default(), place(MemoryKind::Pinned, 64));
        let class = super::super::pool::class_of(CACHED_BYTES_MAX);
        assert!(spaces.give(&pinned, class, data(64), 0));
        assert!(!spaces.give(&pinned, 0, data(128), 0));
        assert_eq!(spaces.drain(), [data(64)]);
        assert!(spaces.drain().is_empty() && spaces.give(&pinned, 0, data(128), 0));
    }

    #[test]
    fn memory_k6_what_a_reset_left_behind_is_not_cached() {
        let (spaces, pinned) = (Spaces::default(), place(MemoryKind::Pinned, 64));
        let before = spaces.resets();
        spaces.reset();
        assert!(!spaces.give(&pinned, 0, data(64), before));
        assert!(spaces.give(&pinned, 0, data(64), spaces.resets()));
        let before = spaces.unsettled();
        spaces.add_pooled(data(128), 100, false);
        assert!(!spaces.is_stale(data(128)));
        spaces.reset();
        assert!(spaces.is_stale(data(128)));
        assert_eq!(spaces.settle(before), [data(64)], "the device was reset while it was synchronised");
        spaces.add_pooled(data(128), 100, false);
        assert!(!spaces.is_stale(data(128)), "the device gave the handle out again");
    }

    #[test]
    fn memory_k7_an_address_is_found_inside_and_a_handle_alone() {
        let spaces = Spaces::default();
        let known = |address| Known {
            size_bytes: 100,
            place: place(MemoryKind::HostVisible, 64),
            address,
            worker: None,
            is_pooled: false,
        };
        spaces.add(data(7), known(Some(64_000)));
        spaces.add(data(6400), known(Some(6400)));
        assert_eq!(spaces.find(data(7)).unwrap().address, Some(64_000));
        assert!(spaces.find(data(8)).is_none(), "another handle");
        assert_eq!(spaces.find(data(6499)).unwrap().address, Some(6499));
        assert!(spaces.find(data(6500)).is_none() && spaces.find(data(6)).is_none());
        spaces.add_pooled(data(9), 100, false);
        assert!(spaces.may_be_placed(data(7)) && !spaces.may_be_placed(data(9)));
        spaces.forget(data(7));
        assert!(spaces.find(data(7)).is_none());
    }
}
