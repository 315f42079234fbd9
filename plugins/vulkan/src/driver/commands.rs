//! Command buffers, and the commands of copies and barriers.

use std::sync::Arc;

use ash::vk;

use super::gpu::Gpu;

/// A pool of command buffers, all of which have run when it is dropped, or never will.
pub(crate) struct Pool {
    gpu: Arc<Gpu>,
    raw: vk::CommandPool,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: its command buffers have run, or the device is lost; dropped once.
        unsafe { self.gpu.raw().destroy_command_pool(self.raw, None) };
    }
}

impl Pool {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: a live description, and a family that the device was made with.
        let raw = unsafe { gpu.raw().create_command_pool(&info, None) }?;
        Ok(Self { gpu: Arc::clone(gpu), raw })
    }

    /// A new command buffer. One thread at a time uses a pool.
    pub(crate) fn allocate(&mut self) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.raw)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: a live description and pool.
        let made = unsafe { self.gpu.raw().allocate_command_buffers(&info) }?;
        made.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)
    }
}

/// Stages and accesses of one side of a barrier.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    stages: vk::PipelineStageFlags,
    writes: vk::AccessFlags,
    accesses: vk::AccessFlags,
}

/// Kernels and copies.
pub(crate) const DEVICE: Scope = Scope {
    stages: vk::PipelineStageFlags::from_raw(
        vk::PipelineStageFlags::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags::TRANSFER.as_raw(),
    ),
    writes: vk::AccessFlags::from_raw(
        vk::AccessFlags::SHADER_WRITE.as_raw() | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
    ),
    accesses: vk::AccessFlags::from_raw(
        vk::AccessFlags::SHADER_READ.as_raw()
            | vk::AccessFlags::SHADER_WRITE.as_raw()
            | vk::AccessFlags::UNIFORM_READ.as_raw()
            | vk::AccessFlags::TRANSFER_READ.as_raw()
            | vk::AccessFlags::TRANSFER_WRITE.as_raw(),
    ),
};

/// The host, after it has waited.
pub(crate) const HOST: Scope = Scope {
    stages: vk::PipelineStageFlags::HOST,
    writes: vk::AccessFlags::empty(),
    accesses: vk::AccessFlags::from_raw(
        vk::AccessFlags::HOST_READ.as_raw() | vk::AccessFlags::HOST_WRITE.as_raw(),
    ),
};

impl Gpu {
    /// Begins a command buffer that is in no batch.
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) -> Result<(), vk::Result> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: a live command buffer that is not pending.
        unsafe { self.raw().begin_command_buffer(commands, &info) }
    }

    /// Records a barrier: what comes after it sees what came before.
    pub(crate) fn order(&self, commands: vk::CommandBuffer, from: Scope, to: Scope) {
        let barrier =
            [vk::MemoryBarrier::default().src_access_mask(from.writes).dst_access_mask(to.accesses)];
        let (flags, raw) = (vk::DependencyFlags::empty(), self.raw());
        // SAFETY: a command buffer that is recorded, outside of any render pass.
        unsafe { raw.cmd_pipeline_barrier(commands, from.stages, to.stages, flags, &barrier, &[], &[]) };
    }

    /// Records a copy of a range, which lies within both buffers and is not empty.
    pub(crate) fn copy(
        &self,
        commands: vk::CommandBuffer,
        from: (vk::Buffer, u64),
        to: (vk::Buffer, u64),
        size: u64,
    ) {
        let region = [vk::BufferCopy { src_offset: from.1, dst_offset: to.1, size }];
        // SAFETY: a command buffer that is recorded, and live buffers that contain the ranges.
        unsafe { self.raw().cmd_copy_buffer(commands, from.0, to.0, &region) };
    }

    /// Ends a command buffer.
    pub(crate) fn end(&self, commands: vk::CommandBuffer) -> Result<(), vk::Result> {
        // SAFETY: a command buffer that is recorded.
        unsafe { self.raw().end_command_buffer(commands) }
    }

    /// Waits until the device does nothing, while no other thread submits.
    pub(crate) fn wait_idle(&self) -> Result<(), vk::Result> {
        // SAFETY: a live device, whose queues no other thread uses.
        unsafe { self.raw().device_wait_idle() }
    }
}
