//! The tensor pool of a device: freed memory that waits to be used again.
//!
//! * Sizes are rounded up to classes, four to a power of two, so at most a quarter is lost.
//! * A block belongs to the stream that was current when it was allocated, its home. It is handed
//!   out again at once on its home stream, whose order keeps the old work before the new; to other
//!   streams only after the device was synchronised.
//! * A block that was used with another stream current than its home is not handed out before all
//!   streams were synchronised.
//! * The last block of a class that a thread freed waits in a slot of its own, with the body of its
//!   tensor: taking it again allocates nothing and takes no lock.
//! * When the device has no memory left, all cached memory is returned to it, and the allocation is
//!   tried once more.

use chipdock_abi::{ChipdockDataType, ChipdockDevice};
use chipdock_plugin_api as api;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::described::Described;

const SMALLEST_BYTES: u64 = 64;
/// Classes up to 64 MiB have a fast slot in each shard; larger blocks go through the lists.
const FAST_CLASSES: usize = 81;
const SHARDS: usize = 16;
/// Greatest number of bytes that the lists of a device keep.
const CACHED_BYTES_MAX: u64 = 1 << 30;

/// A block of device memory with its class and home.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) data: *mut c_void,
    pub(crate) class: u32,
    pub(crate) home: *mut c_void,
}

/// Memory of a pooled tensor: the description of the tensor and its block, on the heap.
///
/// Bodies are cached together with their blocks, so that a tensor from a warm pool allocates
/// nothing at all.
pub(crate) struct Body {
    described: Described,
    block: Block,
}

// SAFETY: a description that is shared by itself, and an address.
unsafe impl Send for Body {}
// SAFETY: a description that is shared by itself, and an address.
unsafe impl Sync for Body {}

impl Body {
    /// Makes a body for a block; it describes nothing yet.
    pub(crate) fn new(block: Block) -> Self {
        Self { described: Described::new(), block }
    }

    /// Makes the body describe a compact tensor. It points into itself from now on: it lies on the
    /// heap already.
    pub(crate) fn describe(&mut self, device: ChipdockDevice, dtype: ChipdockDataType, shape: &[i64]) {
        let data = self.block.data;
        self.described.set(&api::TensorParts { data, device, dtype, shape, strides: None, byte_offset: 0 });
    }

    pub(super) fn described(&self) -> &Described {
        &self.described
    }

    pub(crate) fn block(&self) -> Block {
        self.block
    }
}

/// Returns the class of a size.
pub(crate) fn class_of(size_bytes: u64) -> u32 {
    if size_bytes <= SMALLEST_BYTES {
        return 0;
    }
    let last = size_bytes - 1;
    let exponent = 63 - last.leading_zeros();
    let quarter = (last >> (exponent - 2)) & 3;
    (exponent - 6) * 4 + quarter as u32 + 1
}

/// Returns the size of a block of that class in bytes; `None` beyond 64 bits.
pub(crate) fn class_bytes(class: u32) -> Option<u64> {
    match class.checked_sub(1) {
        None => Some(SMALLEST_BYTES),
        Some(index) => {
            let (exponent, quarter) = (index / 4 + 6, u64::from(index % 4));
            (5 + quarter).checked_mul(1_u64.checked_shl(exponent - 2)?)
        }
    }
}

/// Returns the class of a size, and the size of its blocks in bytes; `None` beyond 64 bits.
pub(super) fn class_and_bytes(size_bytes: u64) -> Option<(u32, u64)> {
    let class = class_of(size_bytes);
    Some((class, class_bytes(class)?))
}

/// Cached memory of a device.
pub(crate) struct Pool {
    fast: Box<[[AtomicPtr<Body>; FAST_CLASSES]; SHARDS]>,
    lists: Mutex<Lists>,
    /// Number of blocks that are marked as used on several streams.
    marked_count: AtomicUsize,
}

/// Blocks of a pool. Addresses are stored as numbers: they are never dereferenced here.
#[derive(Default)]
struct Lists {
    /// Free blocks by class and home stream.
    by_stream: BTreeMap<(u32, usize), Vec<usize>>,
    /// Free blocks by class that no queued work uses.
    idle: BTreeMap<u32, Vec<usize>>,
    /// Blocks that were used on several streams, with their classes: idle after all streams are
    /// synchronised.
    busy: Vec<(u32, usize)>,
    cached_bytes: u64,
    /// Live blocks that were used with another stream current than their home.
    marked: BTreeSet<usize>,
}

/// Action for a block that was returned to the pool.
pub(crate) enum Given {
    /// It is kept.
    Kept,
    /// The pool is full: synchronise the home stream and free it.
    Free,
    /// The pool is full of blocks that several streams may use: synchronise the device.
    Sync,
}

thread_local! {
    static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // While the thread ends, any shard will do.
    SHARD
        .try_with(|shard| {
            if shard.get() == usize::MAX {
                shard.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
            }
            shard.get()
        })
        .unwrap_or(0)
}

impl Default for Pool {
    fn default() -> Self {
        let fast =
            Box::new(std::array::from_fn(|_| std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()))));
        Self { fast, lists: Mutex::default(), marked_count: AtomicUsize::new(0) }
    }
}

impl Pool {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a cached body with a block of that class for work on the default stream, if there is
    /// one, after `describe` has changed it.
    pub(crate) fn take_body(&self, class: u32, describe: impl FnOnce(&mut Body)) -> Option<Arc<Body>> {
        let slot = self.fast[shard()].get(class as usize)?;
        let body = slot.swap(ptr::null_mut(), Ordering::Acquire);
        if body.is_null() {
            return None;
        }
        // SAFETY: a pointer in a slot came from `Arc::into_raw` of the only reference, and this
        // took it out.
        unsafe {
            describe(&mut *body);
            Some(Arc::from_raw(body))
        }
    }

    /// Keeps a body that has no other owner, with its block, for work on the default stream; or
    /// returns it.
    pub(crate) fn give_body(&self, body: Arc<Body>) -> Result<(), Arc<Body>> {
        let block = body.block();
        let slot = self.fast[shard()].get(block.class as usize);
        let Some(slot) = slot.filter(|_| block.home.is_null() && !self.has_marks()) else { return Err(body) };
        let raw = Arc::into_raw(body).cast_mut();
        match slot.compare_exchange(ptr::null_mut(), raw, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: just made by `Arc::into_raw`, and not kept.
            Err(_) => Err(unsafe { Arc::from_raw(raw) }),
        }
    }

    fn has_marks(&self) -> bool {
        self.marked_count.load(Ordering::Relaxed) != 0
    }

    /// Takes a cached block of that class for work on that stream, if there is one.
    pub(crate) fn take(&self, class: u32, stream: *mut c_void) -> Option<Block> {
        let mut lists = self.lists();
        let on_stream = lists.by_stream.get_mut(&(class, stream.addr())).and_then(Vec::pop);
        let data = on_stream.or_else(|| lists.idle.get_mut(&class).and_then(Vec::pop))?;
        lists.cached_bytes = lists.cached_bytes.saturating_sub(class_bytes(class).unwrap_or(0));
        Some(Block { data: ptr::with_exposed_provenance_mut(data), class, home: stream })
    }

    /// Records that work on another stream than its home may use a block.
    pub(crate) fn mark(&self, data: *mut c_void) {
        if self.lists().marked.insert(data.expose_provenance()) {
            self.marked_count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes the record of [`Self::mark`]; returns whether there was one.
    pub(super) fn unmark(&self, data: *mut c_void) -> bool {
        let is_marked = self.has_marks() && self.lists().marked.remove(&data.expose_provenance());
        if is_marked {
            self.marked_count.fetch_sub(1, Ordering::Relaxed);
        }
        is_marked
    }

    /// Takes a block back, if there is room.
    pub(crate) fn give(&self, block: Block) -> Given {
        let is_marked = self.unmark(block.data);
        let size_bytes = class_bytes(block.class).unwrap_or(u64::MAX);
        let mut lists = self.lists();
        if is_marked {
            lists.cached_bytes += size_bytes;
            lists.busy.push((block.class, block.data.expose_provenance()));
            return if lists.cached_bytes > CACHED_BYTES_MAX { Given::Sync } else { Given::Kept };
        }
        if lists.cached_bytes.saturating_add(size_bytes) > CACHED_BYTES_MAX {
            return Given::Free;
        }
        lists.cached_bytes += size_bytes;
        let key = (block.class, block.home.addr());
        lists.by_stream.entry(key).or_default().push(block.data.expose_provenance());
        Given::Kept
    }

    /// Releases the blocks of a stream to any stream: it will not be used again, or was just
    /// synchronised with nothing queued after that.
    pub(crate) fn release_stream(&self, stream: *mut c_void) {
        let mut lists = self.lists();
        let keys: Vec<(u32, usize)> =
            lists.by_stream.keys().copied().filter(|(_, home)| *home == stream.addr()).collect();
        for key in keys {
            let blocks = lists.by_stream.remove(&key).unwrap_or_default();
            lists.idle.entry(key.0).or_default().extend(blocks);
        }
    }

    /// Takes the blocks that several streams may have used so far; after all streams were
    /// synchronised, they are returned with [`Self::settle`].
    pub(crate) fn unsettled(&self) -> Vec<(u32, usize)> {
        std::mem::take(&mut self.lists().busy)
    }

    /// Makes blocks idle.
    pub(crate) fn settle(&self, blocks: Vec<(u32, usize)>) {
        let mut lists = self.lists();
        for (class, data) in blocks {
            lists.idle.entry(class).or_default().push(data);
        }
    }

    /// Takes all cached memory, to be freed: all streams are synchronised after this, before
    /// anything is freed.
    pub(crate) fn drain(&self) -> Vec<*mut c_void> {
        let slots = self.fast.iter().flatten();
        let mut all: Vec<*mut c_void> = slots
            .map(|slot| slot.swap(ptr::null_mut(), Ordering::Acquire))
            .filter(|body| !body.is_null())
            // SAFETY: a pointer in a slot came from `Arc::into_raw`, and this took it out.
            .map(|body| unsafe { Arc::from_raw(body) }.block().data)
            .collect();
        let mut lists = self.lists();
        let by_stream = std::mem::take(&mut lists.by_stream).into_values().flatten();
        let idle = std::mem::take(&mut lists.idle).into_values().flatten();
        let busy = std::mem::take(&mut lists.busy).into_iter().map(|(_, data)| data);
        all.extend(by_stream.chain(idle).chain(busy).map(ptr::with_exposed_provenance_mut));
        lists.cached_bytes = 0;
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_sizes_and_wastes_at_most_a_quarter() {
        let sizes = (0..5000).chain((12..40).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1]));
        for size in sizes {
            let bytes = class_bytes(class_of(size)).unwrap();
            assert!(bytes >= size, "{size} in {bytes}");
            assert!(size <= 64 || bytes <= size + size / 4, "{size} in {bytes}");
            assert_eq!(class_of(bytes), class_of(size), "the class of {size} holds itself");
        }
        assert_eq!(class_bytes(class_of(1 << 20)), Some(1 << 20));
    }

    fn data(number: usize) -> *mut c_void {
        ptr::with_exposed_provenance_mut(number * 64)
    }

    #[test]
    fn a_block_goes_to_its_home_stream_alone_until_that_is_synchronised() {
        let pool = Pool::default();
        let (home, other) = (data(100), data(101));
        assert!(matches!(pool.give(Block { data: data(1), class: 3, home }), Given::Kept));
        assert!(pool.take(3, other).is_none());
        assert!(pool.take(3, ptr::null_mut()).is_none());
        assert!(pool.take(4, home).is_none(), "another class");
        assert_eq!(pool.take(3, home).unwrap().data, data(1));
        pool.give(Block { data: data(1), class: 3, home });
        pool.release_stream(home);
        assert_eq!(pool.take(3, other).unwrap().data, data(1));
    }

    #[test]
    fn a_marked_block_waits_for_all_streams() {
        let pool = Pool::default();
        let home = ptr::null_mut();
        pool.mark(data(1));
        pool.give(Block { data: data(1), class: 3, home });
        assert!(pool.take(3, home).is_none());
        pool.settle(pool.unsettled());
        assert_eq!(pool.take(3, home).unwrap().data, data(1));
        pool.give(Block { data: data(1), class: 3, home });
        assert_eq!(pool.take(3, home).unwrap().data, data(1), "the mark is gone");
    }

    #[test]
    fn draining_finds_every_block_once() {
        let pool = Pool::default();
        let home = data(100);
        for (number, home) in [(1, ptr::null_mut()), (2, ptr::null_mut()), (3, home), (4, home)] {
            pool.give(Block { data: data(number), class: 3, home });
        }
        pool.mark(data(5));
        pool.give(Block { data: data(5), class: 2, home });
        pool.release_stream(home);
        let body = Arc::new(Body::new(Block { data: data(6), class: 3, home: ptr::null_mut() }));
        assert!(pool.give_body(body).is_ok());
        let mut all = pool.drain();
        all.sort();
        assert_eq!(all, (1..=6).map(data).collect::<Vec<_>>());
        assert!(pool.drain().is_empty());
    }

    #[test]
    fn a_body_waits_for_its_class_on_the_default_stream_alone() {
        let pool = Pool::default();
        let body = |number, home| Arc::new(Body::new(Block { data: data(number), class: 3, home }));
        assert!(pool.give_body(body(1, data(100))).is_err(), "another home");
        assert!(pool.give_body(body(1, ptr::null_mut())).is_ok());
        assert!(pool.give_body(body(2, ptr::null_mut())).is_err(), "the slot is taken");
        assert!(pool.take_body(4, |_| ()).is_none());
        assert_eq!(pool.take_body(3, |_| ()).unwrap().block().data, data(1));
        assert!(pool.take_body(3, |_| ()).is_none());
        pool.mark(data(9));
        assert!(pool.give_body(body(1, ptr::null_mut())).is_err(), "it might be the marked one");
    }

    #[test]
    fn a_full_pool_lets_go() {
        let pool = Pool::default();
        let home = data(100);
        let class = class_of(CACHED_BYTES_MAX);
        assert!(matches!(pool.give(Block { data: data(1), class, home }), Given::Kept));
        assert!(matches!(pool.give(Block { data: data(2), class: 3, home }), Given::Free));
        pool.take(class, home).unwrap();
        assert!(matches!(pool.give(Block { data: data(2), class: 3, home }), Given::Kept));
    }
}
