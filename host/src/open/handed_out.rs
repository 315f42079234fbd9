//! Interfaces of plugins that are handed out to other plugins (H.11).

use chipdock_abi::ChipdockInterface;

use crate::boundary::extension::Extension;
use crate::boundary::registrar::Entry;
use crate::error::{Error, ErrorKind};
use crate::open::registry::Registry;

impl Registry {
    /// Returns the interface that is registered under a key `<key>/<name>/<version>` (H.11).
    ///
    /// # Errors
    ///
    /// What it extends is not available; `NotFound`: it has no such interface.
    pub(crate) fn interface(&self, key: &str) -> Result<ChipdockInterface, Error> {
        let missing = || {
            let message = format!("no object that this host keeps has the interface {key}");
            Error::new(ErrorKind::NotFound, message)
        };
        let mut parts = key.splitn(3, '/');
        let (Some(extended), Some(name), Some(Ok(version))) =
            (parts.next(), parts.next(), parts.next().map(str::parse))
        else {
            return Err(missing());
        };
        let found = match self.entry(extended)? {
            Some(Entry::DeviceApi(entry)) => entry.extensions.find(name, version).map(Extension::raw),
            Some(Entry::ModuleLoader(entry)) => entry.extensions.find(name, version).map(Extension::raw),
            _ => None,
        };
        found.ok_or_else(missing)
    }
}
