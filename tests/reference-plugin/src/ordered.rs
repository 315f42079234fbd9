//! Interfaces `memory.async` 1 and `workspace` 1: memory that is freed by a piece of work of its
//! stream.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use chipdock_plugin_api::memory_async::AsyncMemory;
use chipdock_plugin_api::workspace::Workspace;
use chipdock_plugin_api::{DataSpaceKind, DataSpaceRequest, Error, Stream};

use crate::fault;
use crate::hardware::Hardware;
use crate::memory::Owner;
use crate::stream::Queue;

/// Alignment of workspace, in bytes (N.36).
const WORKSPACE_ALIGNMENT_BYTES: u64 = 64;

impl Hardware {
    fn allocate_ordered(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
        stream: Stream,
        owner: Owner,
    ) -> Result<*mut c_void, Error> {
        let device = self.device(device_id)?;
        let queue = self.streams(device_id)?.get(stream.into_raw().addr())?;
        queue.report()?;
        // N.31: it waits for what is queued.
        if fault::is("async-allocate-waits") {
            queue.sync()?;
        }
        device.health.check_memory(&device.name)?;
        let handle = device.memory.allocate(request, owner)?;
        Ok(ptr::with_exposed_provenance_mut(handle))
    }

    fn free_ordered(
        &self,
        device_id: i32,
        data: *mut c_void,
        stream: Stream,
        owner: Owner,
    ) -> Result<(), Error> {
        let device = self.device_even_lost(device_id)?;
        let queue: Arc<Queue> = self.streams(device_id)?.get(stream.into_raw().addr())?;
        let Some(space) = device.memory.take(data.addr(), owner)? else { return device.check() };
        // N.32, N.37: what is queued finds other bytes.
        if fault::is("async-free-at-once") || fault::is("workspace-freed-at-once") {
            space.clear();
        }
        // N.32: it waits for what is queued.
        if fault::is("async-free-waits") {
            queue.sync()?;
        }
        // N.34: it counts as used for ever. N.38: nothing is freed.
        if fault::is("async-memory-stays-used") || fault::is("workspace-never-freed") {
            std::mem::forget(space);
            return device.check();
        }
        queue.push_always(Box::new(move || {
            drop(space);
            Ok(())
        }))?;
        device.check()
    }
}

/// Implementation of `memory.async` 1.
pub(crate) struct ReferenceAsyncMemory(pub(crate) Arc<Hardware>);

impl AsyncMemory for ReferenceAsyncMemory {
    unsafe fn allocate(
        &self,
        device_id: i32,
        request: &DataSpaceRequest<'_>,
        stream: Stream,
    ) -> Result<*mut c_void, Error> {
        self.0.allocate_ordered(device_id, request, stream, Owner::Stream)
    }

    unsafe fn free(&self, device_id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        self.0.free_ordered(device_id, data, stream, Owner::Stream)
    }
}

/// Implementation of `workspace` 1.
pub(crate) struct ReferenceWorkspace(pub(crate) Arc<Hardware>);

impl Workspace for ReferenceWorkspace {
    unsafe fn allocate(&self, device_id: i32, size_bytes: u64, stream: Stream) -> Result<*mut c_void, Error> {
        let (size_bytes, alignment_bytes) = (size_bytes.max(1), WORKSPACE_ALIGNMENT_BYTES);
        let request = DataSpaceRequest::new(size_bytes, alignment_bytes, DataSpaceKind::Device);
        self.0.allocate_ordered(device_id, &request, stream, Owner::Workspace)
    }

    unsafe fn free(&self, device_id: i32, data: *mut c_void, stream: Stream) -> Result<(), Error> {
        self.0.free_ordered(device_id, data, stream, Owner::Workspace)
    }
}
