//! Rate of copies compared with a staged copy by the same driver, made directly. Measured on
//! demand: `cargo test --release -p chipdock-plugin-vulkan copy_speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use ash::vk;
use chipdock_plugin_api::{DataSpaceKind, Stream};

use super::support::{Bench, end, host_end};
use crate::device::{Means, Opened};

const SIZE_BYTES: usize = 64 << 20;

/// A command buffer and a fence, and a staging buffer beside the device's.
struct Direct<'a> {
    opened: &'a Opened,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    stage: vk::Buffer,
    mapped: *mut u8,
    buffer: vk::Buffer,
}

impl Direct<'_> {
    /// Copies between the two buffers, and waits.
    fn copy(&self, from: vk::Buffer, to: vk::Buffer) {
        let device = self.opened.gpu().raw();
        let region = vk::BufferCopy { src_offset: 0, dst_offset: 0, size: SIZE_BYTES as u64 };
        let (begin, commands) = (vk::CommandBufferBeginInfo::default(), [self.commands]);
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: a command buffer that is in no queue, and live buffers of that size; one thread
        // uses the queue.
        unsafe {
            device.begin_command_buffer(self.commands, &begin).unwrap();
            device.cmd_copy_buffer(self.commands, from, to, &[region]);
            device.end_command_buffer(self.commands).unwrap();
            self.opened.gpu().submit(0, &info, self.fence).unwrap();
            device.wait_for_fences(&[self.fence], true, u64::MAX).unwrap();
            device.reset_fences(&[self.fence]).unwrap();
        }
    }

    fn write(&self, from: &[u8]) {
        // SAFETY: mapped memory of that size, which nothing uses.
        unsafe { self.mapped.copy_from_nonoverlapping(from.as_ptr(), SIZE_BYTES) };
        self.copy(self.stage, self.buffer);
    }

    fn read(&self, to: &mut [u8]) {
        self.copy(self.buffer, self.stage);
        // SAFETY: mapped memory of that size, which nothing uses.
        unsafe { to.as_mut_ptr().copy_from_nonoverlapping(self.mapped, SIZE_BYTES) };
    }
}

/// The least of several tries.
fn least(mut run: impl FnMut()) -> Duration {
    let time = |()| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    [(); 9].map(time).into_iter().min().unwrap()
}

fn tell(what: &str, ours: Duration, theirs: Duration) {
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!("{what}: {ours:?} against {theirs:?} directly, {ratio:.2} of its rate");
}

#[test]
#[ignore = "measures, on demand"]
fn copies_beside_a_direct_staged_copy() {
    for direct in [true, false] {
        let bench = Bench::without_validation(Means { timeline: true, direct });
        let device = bench.hardware.device(0).unwrap();
        let opened = device.open().unwrap();
        let raw = opened.gpu().raw();
        let (data, stage) = (
            bench.allocate(0, SIZE_BYTES),
            bench.allocate_kind(0, SIZE_BYTES, DataSpaceKind::Pinned).unwrap(),
        );
        let space = |data: *mut std::ffi::c_void| device.spaces.find(data.addr(), "x").unwrap().value;
        // SAFETY: live descriptions; what is made is left to the end of the process.
        let (commands, fence) = unsafe {
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().flags(flags);
            let pool = raw.create_command_pool(&info, None).unwrap();
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = raw.allocate_command_buffers(&info).unwrap()[0];
            (commands, raw.create_fence(&vk::FenceCreateInfo::default(), None).unwrap())
        };
        let mapped = stage.cast();
        let (stage, buffer) = (space(stage).buffer().0, space(data).buffer().0);
        let theirs = Direct { opened: &opened, commands, fence, stage, mapped, buffer };
        let mut bytes = vec![1_u8; SIZE_BYTES];
        let host = host_end(bytes.as_mut_ptr().cast());
        let way = if direct { "mapped memory" } else { "through the ring" };
        let ours = least(|| {
            bench.copy(0, host, end(0, data), SIZE_BYTES, Stream::DEFAULT).unwrap();
            bench.sync(0, Stream::DEFAULT).unwrap();
        });
        tell(&format!("64 MiB to the device, {way}"), ours, least(|| theirs.write(&bytes)));
        let ours = least(|| {
            bench.copy(0, end(0, data), host, SIZE_BYTES, Stream::DEFAULT).unwrap();
            bench.sync(0, Stream::DEFAULT).unwrap();
        });
        tell(&format!("64 MiB from the device, {way}"), ours, least(|| theirs.read(&mut bytes)));
        // SAFETY: the fence is signalled by nothing that is queued.
        unsafe { raw.destroy_fence(fence, None) };
        std::mem::forget(bench);
    }
}
