//! A target kind through its table.

use chipdock_abi::{ChipdockStr, ChipdockTargetKind};
use chipdock_plugin_api::{Any, Error, ErrorKind};

use super::host::SuiteHost;
use super::plugin::{Plugin, Table};

/// A target kind.
#[derive(Clone)]
pub struct Kind {
    /// Name of the kind.
    pub name: String,
    /// The schema as it was registered.
    pub schema_json: String,
    table: Table<ChipdockTargetKind>,
    host: &'static SuiteHost,
}

/// Bytes as a text of the boundary, whatever they are.
pub(super) fn bytes_out(bytes: &[u8]) -> ChipdockStr {
    ChipdockStr { data: bytes.as_ptr().cast(), size: bytes.len() }
}

/// The error of a table that is null.
pub(super) fn null_table() -> Error {
    Error::new(ErrorKind::BROKEN_PLUGIN, "a null table was registered")
}

impl Kind {
    /// Returns the kind of that name, if the plugin registered it.
    #[must_use]
    pub fn of(plugin: &Plugin, name: &str) -> Option<Self> {
        let kind = plugin.target_kinds().into_iter().find(|(known, ..)| known == name)?;
        let (name, schema_json, table) = kind;
        Some(Self { name, schema_json, table, host: plugin.host() })
    }

    /// Calls `canonicalize` with these bytes and returns the value that it wrote.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn canonicalize_bytes(&self, target_json: &[u8]) -> Result<Any, Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let mut raw = Any::NONE.into_raw();
        drop(self.host.take_error());
        // SAFETY: a registered table, its `self_`, a live text and a place to write to.
        let status = unsafe { (table.canonicalize)(self.table.self_, bytes_out(target_json), &mut raw) };
        // SAFETY: P7.8, None or a value that is ours now.
        let answer = unsafe { Any::from_raw(raw) };
        self.host.check(status, "canonicalize").map(|()| answer)
    }

    /// Returns the canonical form of a target, as the plugin writes it.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` when it returns something else than a string.
    pub fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let answer = self.canonicalize_bytes(target_json.as_bytes())?;
        answer.to::<String>().map_err(|_| {
            let message =
                format!("canonicalize answered a value of type {}, not a string", answer.type_index());
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        })
    }
}
