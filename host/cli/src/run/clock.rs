//! Measures runs by the device's clock, in addition to the host's clock.

use chipdock_host::{Device, Error, ErrorKind, Mark, Stream};

/// The device's times of runs, or the reason why there are none.
pub(crate) enum DeviceTimes {
    /// Seconds, one for each run.
    Known(Vec<f64>),
    /// The device's plugin has no timer, or the device cannot time the stream.
    Missing(String),
}

/// Measures runs on a device's default stream.
pub(super) struct Clock {
    stream: Stream,
    times: DeviceTimes,
}

impl Clock {
    /// Makes a clock for runs on that device.
    pub(super) fn new(device: &Device) -> Self {
        Self { stream: device.default_stream(), times: DeviceTimes::Known(Vec::new()) }
    }

    /// Queues a mark after the queued work; `None` where the device has no timer.
    ///
    /// # Errors
    ///
    /// A failure of work on the stream.
    pub(super) fn mark(&mut self) -> Result<Option<Mark>, Error> {
        if matches!(self.times, DeviceTimes::Missing(_)) {
            return Ok(None);
        }
        match self.stream.mark() {
            Ok(mark) => Ok(Some(mark)),
            Err(error) if *error.kind() == ErrorKind::Unsupported => {
                self.times = DeviceTimes::Missing(error.message().to_owned());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Records the time between two marks.
    ///
    /// # Errors
    ///
    /// The device's error.
    pub(super) fn note(&mut self, begin: Option<&Mark>, end: Option<&Mark>) -> Result<(), Error> {
        if let (DeviceTimes::Known(times), Some(begin), Some(end)) = (&mut self.times, begin, end) {
            times.push(end.nanoseconds_since(begin)? / 1e9);
        }
        Ok(())
    }

    /// Returns the measured times.
    pub(super) fn into_times(self) -> DeviceTimes {
        self.times
    }
}
