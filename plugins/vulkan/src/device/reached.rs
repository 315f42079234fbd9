//! Points in streams for other streams and the host (VK-D21).

use std::sync::{Arc, Weak};
use std::time::Duration;

use chipdock_plugin_api::Error;

use super::stream::{Queue, Shared};
use crate::driver::Point;

/// A point in a stream, which may live longer than it.
#[derive(Clone)]
pub(crate) struct Reached {
    shared: Arc<Shared>,
    queue: Weak<Queue>,
    /// `None` if all work was done.
    point: Option<Point>,
}

impl Queue {
    /// Submits what is recorded, and returns the point at which it is done; reports a failure that
    /// is kept instead.
    pub(crate) fn reached(self: &Arc<Self>) -> Result<Reached, Error> {
        self.report()?;
        let point = self.point();
        self.report()?;
        Ok(Reached { shared: Arc::clone(self.shared()), queue: Arc::downgrade(self), point })
    }

    /// Makes later work wait for a point, on the device.
    pub(crate) fn wait_on(&self, reached: &Reached) -> Result<(), Error> {
        match &reached.point {
            Some(Point::Fence(_)) => match reached.queue.upgrade() {
                // A fence is the host's to wait for: this waits for what came later, too.
                Some(from) if !reached.is_reached() => self.wait_for(&from),
                // A stream that is gone was synchronised.
                _ => Ok(()),
            },
            Some(point) => {
                self.wait_at(point.clone());
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl Reached {
    /// Returns true if it is reached; then the host sees what the work wrote.
    pub(crate) fn is_reached(&self) -> bool {
        let is_reached = self.point.as_ref().is_none_or(|point| point.is_reached(&self.shared.gpu));
        if is_reached {
            self.shared.complete_host_copies();
        }
        is_reached
    }

    /// Waits for it, at most that long.
    pub(crate) fn wait(&self, most: Duration) {
        if let Some(point) = &self.point {
            // A lost device is seen by the next call.
            let _ = point.wait_at_most(&self.shared.gpu, most);
        }
    }
}
