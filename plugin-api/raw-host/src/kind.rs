//! A target kind called through its table.

use chipdock_abi::{ChipdockStr, ChipdockTargetKind};
use chipdock_plugin_api::{Any, Error, ErrorKind};

use crate::host::RawHost;
use crate::plugin::{Plugin, Table};

/// A target kind.
#[derive(Clone)]
pub struct Kind {
    /// Name of the kind.
    pub name: String,
    /// Schema as registered.
    pub schema_json: String,
    table: Table<ChipdockTargetKind>,
    host: &'static RawHost,
}

/// Returns bytes as a text of the ABI, without checking them.
pub(crate) fn bytes_out(bytes: &[u8]) -> ChipdockStr {
    ChipdockStr { data: bytes.as_ptr().cast(), size: bytes.len() }
}

/// Returns the error for a null table.
pub(crate) fn null_table() -> Error {
    Error::new(ErrorKind::BROKEN_PLUGIN, "a null table was registered")
}

impl Kind {
    /// Returns the target kind of a name, if the plugin registered it.
    #[must_use]
    pub fn find(plugin: &Plugin, name: &str) -> Option<Self> {
        let kind = plugin.target_kinds().into_iter().find(|(known, ..)| known == name)?;
        let (name, schema_json, table) = kind;
        Some(Self { name, schema_json, table, host: plugin.host() })
    }

    /// Calls `canonicalize` with any bytes and returns the value that it wrote.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised.
    pub fn canonicalize_bytes(&self, target_json: &[u8]) -> Result<Any, Error> {
        let table = self.table.table.ok_or_else(null_table)?;
        let mut raw = Any::NONE.into_raw();
        self.host.begin();
        // SAFETY: the table is registered and called with its `self_`; the text is live, and there
        // is room for the result.
        let status = unsafe { (table.canonicalize)(self.table.self_, bytes_out(target_json), &mut raw) };
        // SAFETY: by P7.8, the result is `None` or a value that we now own.
        let answer = unsafe { Any::from_raw(raw) };
        self.host.check(status, "canonicalize").map(|()| answer)
    }

    /// Returns the canonical form of a target, as the plugin writes it.
    ///
    /// # Errors
    ///
    /// The error that the plugin raised; `BrokenPlugin` if the answer is no string.
    pub fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let answer = self.canonicalize_bytes(target_json.as_bytes())?;
        answer.to::<String>().map_err(|_| {
            let message =
                format!("canonicalize answered a value of type {}, not a string", answer.type_index());
            Error::new(ErrorKind::BROKEN_PLUGIN, message)
        })
    }
}
