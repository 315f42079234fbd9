//! What launches bind besides data spaces, used again when the work that used it has ended
//! (VKMOD-M7): descriptor sets, blocks of arguments, and the buffer that stands for a null pointer.

use std::sync::{Arc, Mutex};

use ash::vk;
use chipdock_plugin_api::Error;
use chipdock_plugin_api::kit::{OnceBuilt, lock};
use gpu_allocator::MemoryLocation;

use super::driver::{Layout, Pool, write_buffer, write_set};
use crate::device::{Buffer, Gpu, Request};

/// Number of sets of the first pool; each later one has twice as many, up to the maximum.
const POOL_SETS_MIN: u32 = 16;
const POOL_SETS_MAX: u32 = 1024;
/// Size of the buffer that stands for a null pointer.
const NULL_BYTES: u64 = 256;

/// The descriptor sets of a kernel.
pub(super) struct Sets {
    layout: Arc<Layout>,
    state: Mutex<Pools>,
}

#[derive(Default)]
struct Pools {
    pools: Vec<Pool>,
    /// Sets that no work uses.
    idle: Vec<vk::DescriptorSet>,
    next_count: u32,
}

/// A descriptor set in use.
pub(super) struct Set {
    sets: Arc<Sets>,
    raw: vk::DescriptorSet,
}

impl Drop for Set {
    fn drop(&mut self) {
        lock(&self.sets.state).idle.push(self.raw);
    }
}

impl Sets {
    pub(super) fn new(layout: &Arc<Layout>) -> Arc<Self> {
        Arc::new(Self { layout: Arc::clone(layout), state: Mutex::default() })
    }

    /// Takes a set and writes the descriptors to it, one for each binding of the layout.
    pub(super) fn take(self: &Arc<Self>, infos: &[vk::DescriptorBufferInfo]) -> Result<Set, Error> {
        let mut state = lock(&self.state);
        let raw = match state.idle.pop() {
            Some(raw) => raw,
            None => {
                let count = state.next_count.clamp(POOL_SETS_MIN, POOL_SETS_MAX);
                let (pool, mut sets) = Pool::new(&self.layout, count)?;
                let raw = sets.pop().unwrap_or_default();
                state.pools.push(pool);
                state.idle.extend(sets);
                state.next_count = count.saturating_mul(2);
                raw
            }
        };
        drop(state);
        let set = Set { sets: Arc::clone(self), raw };
        write_set(&self.layout, raw, infos)?;
        Ok(set)
    }

    /// Number of sets that were made.
    #[cfg(test)]
    pub(crate) fn made_count(self: &Arc<Self>) -> usize {
        lock(&self.state).idle.len() + Arc::strong_count(self) - 1
    }
}

impl Set {
    pub(super) fn raw(&self) -> vk::DescriptorSet {
        self.raw
    }
}

/// The uniform buffers of a kernel, each for one block of arguments.
pub(super) struct Blocks {
    gpu: Arc<Gpu>,
    size_bytes: u32,
    /// Buffers that no work uses.
    idle: Mutex<Vec<Buffer>>,
}

/// A block of arguments in use.
pub(super) struct InBlock {
    blocks: Arc<Blocks>,
    /// Empty only while it is dropped.
    buffer: Option<Buffer>,
}

impl Drop for InBlock {
    fn drop(&mut self) {
        lock(&self.blocks.idle).extend(self.buffer.take());
    }
}

impl Blocks {
    pub(super) fn new(gpu: &Arc<Gpu>, size_bytes: u32) -> Arc<Self> {
        Arc::new(Self { gpu: Arc::clone(gpu), size_bytes, idle: Mutex::default() })
    }

    /// Takes a buffer and writes the arguments to it.
    pub(super) fn take(self: &Arc<Self>, arguments: &[u8]) -> Result<InBlock, Error> {
        let what = || format!("{}: {} bytes of arguments", self.gpu.name(), self.size_bytes);
        let idle = lock(&self.idle).pop();
        let buffer = match idle {
            Some(buffer) => buffer,
            None => self.gpu.buffer(&Request {
                size_bytes: self.size_bytes.into(),
                alignment_bytes: 1,
                location: MemoryLocation::CpuToGpu,
                what: &what,
            })?,
        };
        let taken = InBlock { blocks: Arc::clone(self), buffer: Some(buffer) };
        taken.buffer.as_ref().map_or(Ok(()), |buffer| write_buffer(buffer, arguments))?;
        Ok(taken)
    }
}

impl InBlock {
    pub(super) fn info(&self) -> vk::DescriptorBufferInfo {
        let raw = self.buffer.as_ref().map(Buffer::raw).unwrap_or_default();
        vk::DescriptorBufferInfo::default().buffer(raw).range(self.blocks.size_bytes.into())
    }
}

/// The buffer that is bound for null pointers, made by the first launch with one.
#[derive(Default)]
pub(super) struct Null(OnceBuilt<Arc<Buffer>>);

impl Null {
    pub(super) fn get(&self, gpu: &Arc<Gpu>) -> Result<&Arc<Buffer>, Error> {
        self.0.get_or_build(|| {
            let what = || format!("{}: a buffer for null pointers", gpu.name());
            gpu.buffer(&Request {
                size_bytes: NULL_BYTES,
                alignment_bytes: 1,
                location: MemoryLocation::GpuOnly,
                what: &what,
            })
            .map(Arc::new)
        })
    }
}
