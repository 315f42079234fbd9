//! Interface `object` 1 of a module loader, called through its table, with artifacts that may be
//! invalid on purpose.

use chipdock_abi::ChipdockObject1;
use chipdock_plugin_api::{Any, Bytes, Error, ErrorKind};

use crate::loader::{Loader, RawArtifact};
use crate::plugin::{Interface, Plugin};

/// Interface `object` 1 of a loader.
#[derive(Clone)]
pub struct Objects {
    loader: Loader,
    interface: Interface,
}

impl Objects {
    /// Returns the interface of the loader of a module kind, if the plugin registered it.
    #[must_use]
    pub fn find(plugin: &Plugin, loader: Loader) -> Option<Self> {
        let key = format!("module.load.{}", loader.kind);
        let is_it = |found: &Interface| found.key == key && found.name == "object" && found.version == 1;
        let interface = plugin.interfaces().into_iter().find(is_it)?;
        Some(Self { loader, interface })
    }

    /// Returns an artifact's code as an object file.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` for a table of another size, and if the
    /// answer is not Bytes.
    pub fn object(&self, artifact: &RawArtifact) -> Result<Vec<u8>, Error> {
        let raw = &self.interface.raw;
        if raw.table.is_null() || raw.table_size_bytes != size_of::<ChipdockObject1>() as u64 {
            let message = format!("`object` 1: a table of {} bytes at {:p}", raw.table_size_bytes, raw.table);
            return Err(Error::new(ErrorKind::BROKEN_PLUGIN, message));
        }
        // SAFETY: by P3.11, this is the table of that name and version, not null and of that size.
        let table = unsafe { &*raw.table.cast::<ChipdockObject1>() };
        let (host, mut out) = (self.loader.host(), Any::NONE.into_raw());
        host.begin();
        let status = artifact.with(|artifact| {
            // SAFETY: by P3.11, the table is called with its `self_`; the artifact lives for the
            // call, and there is room for the result.
            unsafe { (table.object)(raw.self_, artifact, &mut out) }
        });
        // SAFETY: by P7.8, the result is `None` or a value that we now own.
        let out = unsafe { Any::from_raw(out) };
        host.check(status, "object")?;
        let bytes = out.to::<Bytes>().map_err(|error| {
            let message = format!("`object` answered no Bytes: {}", error.message());
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        })?;
        Ok(bytes.to_vec())
    }
}
