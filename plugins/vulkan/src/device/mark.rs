//! Marks of streams: timestamps that the device writes (VK-D19).

use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::{Error, ErrorKind, ensure};

use super::error::{OrFailed, failed, failed_later, name_of};
use super::gpu::Gpu;
use super::hardware::Device;
use super::point::Point;
use super::queue::Work;

/// The place of one timestamp.
struct Timestamp {
    gpu: Arc<Gpu>,
    pool: vk::QueryPool,
}

impl Drop for Timestamp {
    fn drop(&mut self) {
        // SAFETY: the batch that writes it keeps it alive until it has ended; dropped once.
        unsafe { self.gpu.raw().destroy_query_pool(self.pool, None) };
    }
}

/// A mark of a stream, which may live longer than it.
pub(crate) struct Mark {
    timestamp: Arc<Timestamp>,
    /// Where its batch ends; `None` if it had ended when the mark was made.
    point: Option<Point>,
    bits: u32,
}

impl Device {
    /// Queues a mark after the work of a stream, submits it, and returns its handle.
    pub(crate) fn mark(&self, stream: usize) -> Result<usize, Error> {
        let queue = self.stream(stream)?;
        let bits = self.limits().timestamp_bits;
        ensure!(
            bits > 0,
            ErrorKind::UNSUPPORTED,
            "{}: its queues write no timestamps (timestampValidBits is 0)",
            self.name()
        );
        let gpu = queue.gpu();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        // SAFETY: a live description.
        let pool = unsafe { gpu.raw().create_query_pool(&info, None) };
        let pool = pool.or_failed(|| format!("{}: a mark", self.name()))?;
        let timestamp = Arc::new(Timestamp { gpu: Arc::clone(gpu), pool });
        queue.record(Work::Mark, vec![Arc::clone(&timestamp) as _], |commands| {
            // SAFETY: a command buffer that is recorded, and a live pool of one query, which is written once.
            unsafe {
                gpu.raw().cmd_reset_query_pool(commands, pool, 0, 1);
                gpu.raw().cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 0);
            }
            Ok(())
        })?;
        // Submitted so that it is reached even if nothing is queued after it.
        let point = queue.point();
        Ok(self.marks.add(Mark { timestamp, point, bits }))
    }
}

impl Mark {
    /// Waits until it is reached, and returns its time in ticks.
    fn ticks(&self) -> Result<u64, Error> {
        let gpu = &self.timestamp.gpu;
        let what = || format!("{}: a mark", gpu.name());
        if let Some(point) = &self.point {
            point.wait(gpu).map_err(|why| failed(what(), why))?;
        }
        let mut ticks = [0_u64];
        // SAFETY: a live pool of one query, and a place for it.
        let found = unsafe {
            gpu.raw().get_query_pool_results(
                self.timestamp.pool,
                0,
                &mut ticks,
                vk::QueryResultFlags::TYPE_64,
            )
        };
        found.map_err(|why| {
            failed_later(what(), format_args!("the Vulkan driver answered {}", name_of(why)))
        })?;
        Ok(ticks[0])
    }
}

/// The nanoseconds of the device from one mark to another, negative if that was reached first.
pub(crate) fn nanoseconds_between(from: &Mark, to: &Mark) -> Result<f64, Error> {
    let (start, end) = (from.ticks()?, to.ticks()?);
    Ok(ticks_between(start, end, from.bits) as f64 * from.timestamp.gpu.nanoseconds_per_tick())
}

/// The difference of two counts that have so many bits and may have wrapped around once between them.
fn ticks_between(start: u64, end: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (end.wrapping_sub(start) << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_fewer_bits_wrap_around() {
        assert_eq!(ticks_between(7, 9, 64), 2);
        assert_eq!(ticks_between(9, 7, 64), -2);
        assert_eq!(ticks_between((1 << 36) - 1, 1, 36), 2);
        assert_eq!(ticks_between(1, (1 << 36) - 1, 36), -2);
    }
}
