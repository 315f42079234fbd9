//! Timestamps that a queue writes.

use std::sync::Arc;

use ash::vk;

use super::gpu::Gpu;

/// The place of one timestamp.
pub(crate) struct Timestamp {
    gpu: Arc<Gpu>,
    pool: vk::QueryPool,
}

impl Drop for Timestamp {
    fn drop(&mut self) {
        // SAFETY: the batch that writes it keeps it alive until it has ended; dropped once.
        unsafe { self.gpu.raw().destroy_query_pool(self.pool, None) };
    }
}

impl Timestamp {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        // SAFETY: a live description.
        let pool = unsafe { gpu.raw().create_query_pool(&info, None) }?;
        Ok(Self { gpu: Arc::clone(gpu), pool })
    }

    /// The logical device.
    pub(crate) fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Records that it is written once all earlier commands are done.
    pub(crate) fn write(&self, commands: vk::CommandBuffer) {
        let (raw, stage) = (self.gpu.raw(), vk::PipelineStageFlags::BOTTOM_OF_PIPE);
        // SAFETY: a command buffer that is recorded, and a live pool of one query, which is written
        // once.
        unsafe {
            raw.cmd_reset_query_pool(commands, self.pool, 0, 1);
            raw.cmd_write_timestamp(commands, stage, self.pool, 0);
        }
    }

    /// What was written, in ticks; `NOT_READY` if nothing was.
    pub(crate) fn ticks(&self) -> Result<u64, vk::Result> {
        let (mut ticks, flags) = ([0_u64], vk::QueryResultFlags::TYPE_64);
        // SAFETY: a live pool of one query, and a place for it.
        unsafe { self.gpu.raw().get_query_pool_results(self.pool, 0, &mut ticks, flags) }?;
        Ok(ticks[0])
    }
}
