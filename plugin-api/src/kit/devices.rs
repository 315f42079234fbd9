//! The devices of one host.

use core::fmt;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use super::first_failure;
use crate::{ChipdockDevice, Error, ErrorKind, bail, ensure};

/// The devices of one host, by id (KIT-13 to KIT-15).
///
/// Methods may be called from any thread at once.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::ErrorKind;
/// use chipdock_plugin_api::kit::Devices;
///
/// let devices = Devices::new("npu", 0, || Ok(vec!["first chip", "second chip"]));
/// assert_eq!(**devices.get(1)?, "second chip");
/// let error = devices.get(2).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
pub struct Devices<D> {
    name: &'static str,
    device_type: AtomicI32,
    search: Box<Search<D>>,
    found: OnceLock<Result<Vec<Arc<D>>, Error>>,
    is_shut_down: AtomicBool,
}

/// What finds the devices.
type Search<D> = dyn Fn() -> Result<Vec<D>, Error> + Send + Sync;

impl<D> fmt::Debug for Devices<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Devices")
            .field("name", &self.name)
            .field("type", &self.device_type)
            .finish_non_exhaustive()
    }
}

impl<D> Devices<D> {
    /// Makes the set of the devices named `name` (`device_api.<name>`), of that DLPack number or 0.
    /// `search` finds them, in the order of their ids; nothing is opened yet.
    #[must_use]
    pub fn new(
        name: &'static str,
        device_type: i32,
        search: impl Fn() -> Result<Vec<D>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            device_type: AtomicI32::new(device_type),
            search: Box::new(search),
            found: OnceLock::new(),
            is_shut_down: AtomicBool::new(false),
        }
    }

    /// Returns the device type that is used: the declared one, or the number that the host
    /// assigned.
    #[must_use]
    pub fn device_type(&self) -> i32 {
        self.device_type.load(Ordering::Acquire)
    }

    /// Records the device type that [`DeviceApi::registered_as`](crate::DeviceApi::registered_as)
    /// received.
    pub fn set_device_type(&self, device_type: i32) {
        self.device_type.store(device_type, Ordering::Release);
    }

    /// Returns all devices; the first call searches for them (KIT-13).
    ///
    /// # Errors
    ///
    /// The error of the search, the same each time.
    pub fn all(&self) -> Result<&[Arc<D>], Error> {
        let search = || Ok((self.search)()?.into_iter().map(Arc::new).collect());
        match self.found.get_or_init(search) {
            Ok(devices) => Ok(devices),
            Err(error) => Err(error.clone()),
        }
    }

    /// Returns the devices that were found, without a search; none before the first search.
    #[must_use]
    pub fn found(&self) -> &[Arc<D>] {
        match self.found.get() {
            Some(Ok(devices)) => devices,
            _ => &[],
        }
    }

    /// Returns the number of devices.
    ///
    /// # Errors
    ///
    /// As [`Self::all`].
    pub fn count(&self) -> Result<i32, Error> {
        Ok(i32::try_from(self.all()?.len()).unwrap_or(i32::MAX))
    }

    /// Returns the device of that id.
    ///
    /// # Errors
    ///
    /// * `ValueError`: there is none (KIT-14).
    /// * As [`Self::all`].
    pub fn get(&self, device_id: i32) -> Result<&Arc<D>, Error> {
        let devices = self.all()?;
        match usize::try_from(device_id).ok().and_then(|id| devices.get(id)) {
            Some(device) => Ok(device),
            None => bail!(
                ErrorKind::VALUE_ERROR,
                "device {}:{device_id}: expected an id from 0 to {}, there are {} devices",
                self.name,
                devices.len() as i64 - 1,
                devices.len()
            ),
        }
    }

    /// Returns the reason of a verdict if `device` is of another type, so that an artifact for
    /// these devices does not run on it.
    #[must_use]
    pub fn other_type(&self, device: ChipdockDevice) -> Option<String> {
        let (name, device_type) = (self.name, self.device_type());
        (device.device_type != device_type).then(|| {
            format!(
                "expected a device of {name} (device type {device_type}), found device type {}",
                device.device_type
            )
        })
    }

    /// Checks that an end of a copy that is not in host memory is on one of these devices.
    ///
    /// # Errors
    ///
    /// `Unsupported`: it is of another type (D.19).
    pub fn check_end(&self, device: ChipdockDevice) -> Result<(), Error> {
        ensure!(
            device.device_type == self.device_type(),
            ErrorKind::UNSUPPORTED,
            "expected an end of a copy on a device of {} (device type {}) or in host memory, found device type {}",
            self.name,
            self.device_type(),
            device.device_type
        );
        Ok(())
    }

    /// Checks that the plugin was not shut down for the host.
    ///
    /// # Errors
    ///
    /// `Unavailable`: it was shut down (KIT-15).
    pub fn check_running(&self) -> Result<(), Error> {
        ensure!(
            !self.is_shut_down.load(Ordering::Acquire),
            ErrorKind::UNAVAILABLE,
            "the plugin was shut down for this host: load it with a new host"
        );
        Ok(())
    }

    /// Shuts down for the host: `drain` runs on each device that was found.
    ///
    /// # Errors
    ///
    /// The first failure of `drain`; the other devices are drained nevertheless.
    pub fn shut_down(&self, drain: impl Fn(&D) -> Result<(), Error>) -> Result<(), Error> {
        self.is_shut_down.store(true, Ordering::Release);
        first_failure(self.found().iter().map(|device| drain(device)))
    }
}
