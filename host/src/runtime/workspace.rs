//! Workspace: short-lived memory of kernels, a stack for each thread, device and stream.
//!
//! A stack hands out and takes back memory in the order of one stream, so freed memory may be
//! handed out again at once: the stream keeps the old work before the new. It goes back to the
//! device when the thread ends or the device is trimmed, after the stream was synchronised. A
//! device with workspace of its own (`workspace` 1, N.36 to N.39) gives and takes each piece
//! itself.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use chipdock_abi::ChipdockDataType;

use super::{DeviceState, capture};
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
    /// Whether it is workspace of the device's own.
    is_own: bool,
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

    /// Takes a piece back, searching from the last allocated; returns whether it is the device's
    /// own, and `None` for an address that it does not have.
    fn give(&mut self, data: usize) -> Option<bool> {
        let index = self.used.iter().rposition(|piece| piece.data == data)?;
        let piece = self.used.remove(index);
        if !piece.is_own {
            self.free.push(piece);
        }
        Some(piece.is_own)
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
        let recorded = capture::current().and_then(|capture| capture.workspace(self.at(), size_bytes));
        if let Some(allocated) = recorded {
            return allocated;
        }
        let key = (thread(), stream.addr());
        if let Some(data) = self.allocate_own_workspace(size_bytes.max(1), stream)? {
            self.watch_thread_end();
            let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
            let piece = Piece { data: data.expose_provenance(), size_bytes, is_own: true };
            stacks.entry(key).or_default().used.push(piece);
            return Ok(data);
        }
        let size_bytes = size_bytes.max(1).checked_next_multiple_of(PAGE_BYTES).ok_or_else(|| {
            Error::new(ErrorKind::OutOfMemory, format!("{size_bytes} bytes of workspace cannot be allocated"))
        })?;
        let with_stacks = |change: &mut dyn FnMut(&mut Stack) -> Option<usize>| {
            let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(stacks.entry(key).or_default())
        };
        if let Some(data) = with_stacks(&mut |stack| stack.take(size_bytes)) {
            return Ok(ptr::with_exposed_provenance_mut(data));
        }
        self.watch_thread_end();
        let unknown = ChipdockDataType { code: 0, bits: 8, lanes: 0 };
        let data = self.allocate_raw(size_bytes, unknown, stream)?;
        with_stacks(&mut |stack| {
            stack.used.push(Piece { data: data.expose_provenance(), size_bytes, is_own: false });
            None
        });
        Ok(data)
    }

    /// Frees workspace of this thread.
    pub(crate) fn free_workspace(&self, data: *mut c_void, stream: *mut c_void) -> Result<(), Error> {
        if capture::current().is_some_and(|capture| capture.free_workspace(data)) {
            return Ok(());
        }
        let (me, address) = (thread(), data.expose_provenance());
        let given = {
            let mut stacks = self.workspaces.0.lock().unwrap_or_else(PoisonError::into_inner);
            let here = stacks.get_mut(&(me, stream.addr())).and_then(|stack| stack.give(address));
            // The current stream was changed in between: the piece stays with the stream it was
            // allocated for.
            here.map(|is_own| (stream.addr(), is_own)).or_else(|| {
                let mut all = stacks.range_mut((me, 0)..=(me, usize::MAX));
                all.find_map(|(key, stack)| Some((key.1, stack.give(address)?)))
            })
        };
        match given {
            Some((_, false)) => Ok(()),
            Some((home, true)) => self.free_own_workspace(data, ptr::with_exposed_provenance_mut(home)),
            None => {
                let message = format!(
                    "workspace {address:#x} was not allocated on this thread and device, or is free already"
                );
                Err(Error::new(ErrorKind::Value, message))
            }
        }
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
            let stream = ptr::with_exposed_provenance_mut(stream);
            self.warn_of(self.sync_raw(stream));
            // N.37: the last first.
            for piece in stack.free.iter().chain(stack.used.iter().rev()) {
                let data = ptr::with_exposed_provenance_mut(piece.data);
                let freed = match piece.is_own {
                    true => self.free_own_workspace(data, stream),
                    false => self.free_raw(data),
                };
                self.warn_of(freed);
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
