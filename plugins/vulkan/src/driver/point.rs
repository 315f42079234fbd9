//! Points in streams, and the semaphores and fences that tell whether they are reached (VK-D14).

use std::sync::Arc;
use std::time::Duration;

use ash::vk;

use super::gpu::Gpu;

/// Longest wait before the device's state is looked at again, in nanoseconds.
const WAIT_NANOSECONDS: u64 = 1_000_000_000;

/// A semaphore.
pub(crate) struct Semaphore {
    gpu: Arc<Gpu>,
    raw: vk::Semaphore,
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: work that uses it keeps it alive until it has ended; dropped once.
        unsafe { self.gpu.raw().destroy_semaphore(self.raw, None) };
    }
}

impl Semaphore {
    /// A timeline semaphore, with the value 0.
    pub(crate) fn timeline(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        let mut sort = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        Self::new(gpu, &vk::SemaphoreCreateInfo::default().push_next(&mut sort))
    }

    /// A semaphore that is waited for once.
    pub(crate) fn binary(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        Self::new(gpu, &vk::SemaphoreCreateInfo::default())
    }

    fn new(gpu: &Arc<Gpu>, info: &vk::SemaphoreCreateInfo<'_>) -> Result<Self, vk::Result> {
        // SAFETY: a live description.
        let raw = unsafe { gpu.raw().create_semaphore(info, None) }?;
        Ok(Self { gpu: Arc::clone(gpu), raw })
    }

    pub(crate) fn raw(&self) -> vk::Semaphore {
        self.raw
    }
}

/// A fence.
pub(crate) struct Fence {
    gpu: Arc<Gpu>,
    raw: vk::Fence,
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the batch that signals it keeps it alive until it has ended; dropped once.
        unsafe { self.gpu.raw().destroy_fence(self.raw, None) };
    }
}

impl Fence {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, vk::Result> {
        // SAFETY: a live description.
        let raw = unsafe { gpu.raw().create_fence(&vk::FenceCreateInfo::default(), None) }?;
        Ok(Self { gpu: Arc::clone(gpu), raw })
    }

    pub(crate) fn raw(&self) -> vk::Fence {
        self.raw
    }
}

/// A point in a stream that its work reaches.
#[derive(Clone)]
pub(crate) enum Point {
    /// A value of a stream's timeline semaphore.
    Value(Arc<Semaphore>, u64),
    /// The fence of a batch, where there are no timeline semaphores.
    Fence(Arc<Fence>),
    /// A semaphore for one wait of another stream.
    Once(Arc<Semaphore>),
}

impl Point {
    /// The semaphore and its value for which work waits; `None` for a fence, for which only the
    /// host waits.
    pub(crate) fn to_wait(&self) -> Option<(vk::Semaphore, u64)> {
        match self {
            Self::Value(semaphore, value) => Some((semaphore.raw(), *value)),
            Self::Once(semaphore) => Some((semaphore.raw(), 0)),
            Self::Fence(_) => None,
        }
    }

    /// Returns true if it is reached.
    pub(crate) fn is_reached(&self, gpu: &Gpu) -> bool {
        match self {
            Self::Value(semaphore, value) => gpu.value_of(semaphore.raw()).is_ok_and(|now| now >= *value),
            // SAFETY: a live fence of this device.
            Self::Fence(fence) => match unsafe { gpu.raw().get_fence_status(fence.raw()) } {
                Ok(is_reached) => is_reached,
                Err(why) => {
                    gpu.see(why);
                    false
                }
            },
            Self::Once(_) => false,
        }
    }

    /// Waits until it is reached. Each wait is finite, so that a device that another call found
    /// lost ends it.
    ///
    /// # Errors
    ///
    /// The driver's, or `ERROR_DEVICE_LOST`.
    pub(crate) fn wait(&self, gpu: &Gpu) -> Result<(), vk::Result> {
        loop {
            match self.wait_at_most(gpu, Duration::from_nanos(WAIT_NANOSECONDS)) {
                Err(vk::Result::TIMEOUT) if gpu.lost().is_some() => {
                    return Err(vk::Result::ERROR_DEVICE_LOST);
                }
                Err(vk::Result::TIMEOUT) => {}
                result => return result,
            }
        }
    }

    /// Waits until it is reached, at most that long.
    ///
    /// # Errors
    ///
    /// The driver's, or `TIMEOUT`.
    pub(crate) fn wait_at_most(&self, gpu: &Gpu, most: Duration) -> Result<(), vk::Result> {
        let nanoseconds = u64::try_from(most.as_nanos()).unwrap_or(WAIT_NANOSECONDS);
        match self {
            Self::Value(semaphore, value) => gpu.wait_for(semaphore.raw(), *value, nanoseconds),
            Self::Fence(fence) => {
                // SAFETY: a live fence of this device.
                let waited = unsafe { gpu.raw().wait_for_fences(&[fence.raw()], true, nanoseconds) };
                waited.inspect_err(|why| gpu.see(*why))
            }
            Self::Once(_) => Err(vk::Result::ERROR_UNKNOWN),
        }
    }
}
