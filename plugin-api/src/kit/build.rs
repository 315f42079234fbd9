//! Slots for values that their first user opens or builds.

use std::sync::{Mutex, OnceLock};

use super::lock;
use crate::{Error, ErrorKind};

/// A slot for a value that its first user builds (KIT-16).
///
/// To remember a failure too, use a [`OnceLock`] of a `Result`.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kit::OnceBuilt;
/// use chipdock_plugin_api::{Error, ErrorKind};
///
/// let slot = OnceBuilt::default();
/// let busy = || Err(Error::new(ErrorKind::OUT_OF_MEMORY, "no memory is left for the program"));
/// assert!(slot.get_or_build(busy).is_err());
/// assert_eq!(*slot.get_or_build(|| Ok(42))?, 42);
/// assert_eq!(*slot.get_or_build(busy)?, 42);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct OnceBuilt<T> {
    built: OnceLock<T>,
    building: Mutex<()>,
}

impl<T> Default for OnceBuilt<T> {
    fn default() -> Self {
        Self { built: OnceLock::new(), building: Mutex::new(()) }
    }
}

impl<T> OnceBuilt<T> {
    /// Returns the value, if it was built.
    #[must_use]
    pub fn get(&self) -> Option<&T> {
        self.built.get()
    }

    /// Returns the value; if there is none, `build` makes it, under the lock of this slot.
    ///
    /// # Errors
    ///
    /// The error of `build`. The slot stays empty.
    pub fn get_or_build(&self, build: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        let _building = lock(&self.building);
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        let built = build()?;
        Ok(self.built.get_or_init(|| built))
    }
}

/// A slot for each device, for programs, images or entries of kernels (KIT-16).
#[derive(Debug)]
pub struct PerDevice<T>(Vec<OnceBuilt<T>>);

impl<T> PerDevice<T> {
    /// Makes empty slots for the devices with the ids from 0 to `devices_count` - 1.
    #[must_use]
    pub fn new(devices_count: usize) -> Self {
        Self((0..devices_count).map(|_| OnceBuilt::default()).collect())
    }

    /// Returns the value for a device; if there is none, `build` makes it, under the lock of the
    /// device's slot.
    ///
    /// # Errors
    ///
    /// * The error of `build`. The slot stays empty.
    /// * `InternalError`: an id without a slot.
    pub fn get_or_build(
        &self,
        device_id: i32,
        build: impl FnOnce() -> Result<T, Error>,
    ) -> Result<&T, Error> {
        let slot = usize::try_from(device_id).ok().and_then(|id| self.0.get(id));
        let slot = slot.ok_or_else(|| {
            let count = self.0.len();
            let message =
                format!("device {device_id} has no slot, there are {count}; this is a bug of the plugin");
            Error::new(ErrorKind::INTERNAL, message)
        })?;
        slot.get_or_build(build)
    }
}
