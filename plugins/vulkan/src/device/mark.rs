//! Marks of streams: timestamps that the device writes (VK-D19).

use std::sync::Arc;

use chipdock_plugin_api::{Error, ErrorKind, ensure};

use super::hardware::Device;
use super::stream::Work;
use crate::driver::{OrFailed, Point, Timestamp, failed, failed_later, name_of};

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
        let timestamp = Timestamp::new(queue.gpu()).or_failed(|| format!("{}: a mark", self.name()))?;
        let timestamp = Arc::new(timestamp);
        queue.record(Work::Mark, vec![Arc::clone(&timestamp) as _], |recorded| {
            timestamp.write(recorded.commands);
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
        let gpu = self.timestamp.gpu();
        let what = || format!("{}: a mark", gpu.name());
        if let Some(point) = &self.point {
            point.wait(gpu).map_err(|why| failed(what(), why))?;
        }
        let never = |why| failed_later(what(), format_args!("the Vulkan driver answered {}", name_of(why)));
        self.timestamp.ticks().map_err(never)
    }
}

/// The nanoseconds of the device from one mark to another, negative if that was reached first.
pub(crate) fn nanoseconds_between(from: &Mark, to: &Mark) -> Result<f64, Error> {
    let (start, end) = (from.ticks()?, to.ticks()?);
    Ok(ticks_between(start, end, from.bits) as f64 * from.timestamp.gpu().nanoseconds_per_tick())
}

/// The difference of two counts that have so many bits and may have wrapped around once between
/// them.
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
