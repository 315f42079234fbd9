//! What launches bind besides data spaces, used again when the work that used it has ended (VKMOD-M7): descriptor sets,
//! blocks of arguments, and the buffer that stands for a null pointer.

use std::sync::{Arc, Mutex};

use ash::vk;
use chipdock_plugin_api::Error;
use chipdock_plugin_api::kit::{OnceBuilt, lock};
use gpu_allocator::MemoryLocation;

use super::pipeline::Layout;
use crate::device::{Buffer, Gpu, OrFailed, Request};

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
    pools: Vec<vk::DescriptorPool>,
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

impl Drop for Sets {
    fn drop(&mut self) {
        for pool in lock(&self.state).pools.drain(..) {
            // SAFETY: sets in use keep this alive, so no work uses one; destroyed once.
            unsafe { self.layout.gpu().raw().destroy_descriptor_pool(pool, None) };
        }
    }
}

impl Sets {
    pub(super) fn new(layout: &Arc<Layout>) -> Arc<Self> {
        Arc::new(Self { layout: Arc::clone(layout), state: Mutex::default() })
    }

    /// Takes a set and writes the descriptors to it, one for each binding of the layout.
    pub(super) fn take(self: &Arc<Self>, infos: &[vk::DescriptorBufferInfo]) -> Result<Set, Error> {
        debug_assert_eq!(infos.len(), self.layout.bindings.len());
        let mut state = lock(&self.state);
        if state.idle.is_empty() {
            self.grow(&mut state).or_failed(|| format!("{}: descriptor sets", self.layout.gpu().name()))?;
        }
        let raw = state.idle.pop().unwrap_or_default();
        drop(state);
        let set = Set { sets: Arc::clone(self), raw };
        let functions = self.layout.gpu().raw();
        // SAFETY: a set that no work uses, and as many descriptions as the template reads.
        unsafe {
            functions.update_descriptor_set_with_template(raw, self.layout.template, infos.as_ptr().cast());
        }
        Ok(set)
    }

    fn grow(&self, state: &mut Pools) -> Result<(), vk::Result> {
        let count = state.next_count.clamp(POOL_SETS_MIN, POOL_SETS_MAX);
        let of = |sort| self.layout.bindings.iter().filter(|found| **found == sort).count() as u32;
        let sizes = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::UNIFORM_BUFFER].map(|sort| {
            vk::DescriptorPoolSize::default().ty(sort).descriptor_count(of(sort).saturating_mul(count))
        });
        let sizes: Vec<_> = sizes.into_iter().filter(|size| size.descriptor_count > 0).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(count).pool_sizes(&sizes);
        let functions = self.layout.gpu().raw();
        // SAFETY: a live description.
        let pool = unsafe { functions.create_descriptor_pool(&info, None) }?;
        state.pools.push(pool);
        let layouts = vec![self.layout.set; count as usize];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: a live description; the pool has room for exactly these sets.
        state.idle.extend(unsafe { functions.allocate_descriptor_sets(&info) }?);
        state.next_count = count.saturating_mul(2);
        Ok(())
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
        let Some(address) = buffer.mapped() else {
            return Err(Error::new(
                chipdock_plugin_api::ErrorKind::INTERNAL,
                format!("{}: memory that the host does not reach", what()),
            ));
        };
        let count = arguments.len().min(self.size_bytes as usize);
        // SAFETY: mapped memory of at least `size_bytes`, which no work uses; the source is as long.
        unsafe { std::ptr::copy_nonoverlapping(arguments.as_ptr(), address, count) };
        Ok(InBlock { blocks: Arc::clone(self), buffer: Some(buffer) })
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
