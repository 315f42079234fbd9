//! Workspace: short-lived memory of kernels, a stack for each thread, device and stream.
//!
//! A stack hands out and takes back memory in the order of one stream, so freed memory may be
//! handed out again at once: the stream keeps the old work before the new. It goes back to the
//! device when the thread ends or the device is trimmed, after the stream was synchronised.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use chipdock_abi::ChipdockDataType;

use super::DeviceState;
use crate::error::{Error, ErrorKind};

const PAGE_BYTES: u64 = 4096;

/// Workspace of one thread on one stream. Addresses are stored as numbers: they are never
/// dereferenced here.
#[derive(Default)]
struct Stack {
    /// Pieces in use, in the order of their allocation.
    used: Vec<Piece>,
    free: Vec<Piece>,
}

#[derive(Clone, Copy)]
struct Piece {
    data: usize,
    size_bytes: u64,
}

impl Stack {
    /// Takes the smallest free piece that is large enough.
    fn take(&mut self, size_bytes: u64) -> Option<usize> {
        let fits = self.free.iter().enumerate().filter(|(_, piece)| piece.size_bytes >= size_bytes);
        let (index, _) = fits.min_by_key(|(_, piece)| piece.size_bytes)?;
        let piece = self.free.swap_remove(index);
        self.used.push(piece);
        Some(piece.data)
    }

    /// Takes a piece back, searching from the last allocated; returns false for an address that it
    /// does not have.
    fn give(&mut self, data: usize) -> bool {
        let Some(index) = self.used.iter().rposition(|piece| piece.data == data) else { return false };
        let piece = self.used.remove(index);
        self.free.push(piece);
        true
    }
}

/// The stacks of a device, by thread and stream.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<BTreeMap<(u64, usize), Stack>>);

/// Frees a thread's workspace when the thread ends.
struct ThreadEnd(RefCell<Vec<Weak<DeviceState>>>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        for device in self.0.borrow().iter().filter_map(Weak::upgrade) {
            device.release_workspace_of_thread(THREAD.get());
        }
    }
}

static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
    static END: ThreadEnd = const { ThreadEnd(RefCell::new(Vec::new())) };
}

fn thread() -> u64 {
    if THREAD.get() == 0 {
        THREAD.set(NEXT_THREAD.fetch_add(1, Ordering::Relaxed));
    }
    THREAD.get()
}

impl DeviceState {
    /// Allocates workspace for this thread on a stream, 64-byte aligned.
    pub(crate) fn allocate_workspace(
        self: &Arc<Self>,
        size_bytes: u64,
        stream: *mut c_void,
    ) -> Result<*mut c_void, Error> {
        let size_bytes = size_bytes.max(1).checked_next_multiple_of(PAGE_BYTES).ok_or_else(|| {
            Error::new(ErrorKind::OutOfMemory, format!("{size_bytes} bytes of workspace cannot be allocated"))
        })?;
        let key = (thread(), stream.addr());
        let with_stacks = |change: &mut dyn FnMut(&mut Stack) -> Option<usize>| {
            let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(stacks.entry(key).or_default())
        };
        if let Some(data) = with_stacks(&mut |stack| stack.take(size_bytes)) {
            return Ok(ptr::with_exposed_provenance_mut(data));
        }
        self.watch_thread_end();
        let unknown = ChipdockDataType { code: 0, bits: 8, lanes: 0 };
        let data = self.allocate_raw(size_bytes, unknown)?;
        with_stacks(&mut |stack| {
            stack.used.push(Piece { data: data.expose_provenance(), size_bytes });
            None
        });
        Ok(data)
    }

    /// Frees workspace of this thread.
    pub(crate) fn free_workspace(&self, data: *mut c_void, stream: *mut c_void) -> Result<(), Error> {
        let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (me, data) = (thread(), data.expose_provenance());
        let given = stacks.get_mut(&(me, stream.addr())).is_some_and(|stack| stack.give(data))
            // The current stream was changed in between: the piece stays with the stream it was
            // allocated for.
            || stacks.range_mut((me, 0)..=(me, usize::MAX)).any(|(_, stack)| stack.give(data));
        if given {
            return Ok(());
        }
        let message =
            format!("workspace {data:#x} was not allocated on this thread and device, or is free already");
        Err(Error::new(ErrorKind::Value, message))
    }

    fn watch_thread_end(self: &Arc<Self>) {
        // While the thread ends, its workspace stays with the device until that is trimmed.
        let _ = END.try_with(|end| {
            let mut devices = end.0.borrow_mut();
            if !devices.iter().any(|device| ptr::eq(device.as_ptr(), Arc::as_ptr(self))) {
                devices.push(Arc::downgrade(self));
            }
        });
    }

    fn release_workspace_of_thread(&self, thread: u64) {
        let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys: Vec<(u64, usize)> =
            stacks.range((thread, 0)..=(thread, usize::MAX)).map(|(key, _)| *key).collect();
        let ended: Vec<(usize, Stack)> =
            keys.into_iter().filter_map(|key| Some((key.1, stacks.remove(&key)?))).collect();
        drop(stacks);
        for (stream, stack) in ended {
            let synchronised = self.sync_raw(ptr::with_exposed_provenance_mut(stream));
            self.warn_of(synchronised);
            for piece in stack.free.iter().chain(&stack.used) {
                self.warn_of(self.free_raw(ptr::with_exposed_provenance_mut(piece.data)));
            }
        }
    }

    /// Takes unused workspace out, to be freed after all streams were synchronised.
    pub(crate) fn drain_workspaces(&self) -> Vec<*mut c_void> {
        let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
        let pieces: Vec<Piece> =
            stacks.values_mut().flat_map(|stack| std::mem::take(&mut stack.free)).collect();
        pieces.into_iter().map(|piece| ptr::with_exposed_provenance_mut(piece.data)).collect()
    }
}
