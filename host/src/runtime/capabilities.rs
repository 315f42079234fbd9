//! What a device can do, as a list.

use chipdock_plugin_api::attribute;
use serde_json::{Value, json};

use super::device::Device;
use super::memory_kind::{GLOBAL, MemoryKind, Place};
use super::tables::ALIGNMENT_BYTES;
use crate::error::{Error, ErrorKind};

/// Size of the data space that is allocated to find out whether a device has such memory.
const TRIAL_BYTES: u64 = 64;
/// Scopes that are tried. One that only a plugin knows is found in its documentation.
const SCOPES: [&str; 1] = [GLOBAL];

/// What a device can do ([`Device::capabilities`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Kinds of memory that it has, in the order of [`MemoryKind::ALL`].
    pub memory: Vec<MemoryCapability>,
    /// Named interfaces of its device API, as `timer/1`, sorted.
    pub interfaces: Vec<String>,
    /// Whether it has streams of its own, besides the default one.
    pub streams: bool,
    /// Whether it refuses wrong handles (D.19).
    pub checked_handles: bool,
}

/// A kind of memory that a device has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryCapability {
    /// The kind.
    pub kind: MemoryKind,
    /// The scopes of that kind, sorted.
    pub scopes: Vec<String>,
}

impl Capabilities {
    /// Returns them as the JSON object that `chipdock devices --json` prints.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let memory: Vec<Value> = self
            .memory
            .iter()
            .map(|memory| json!({"kind": memory.kind.name(), "scopes": memory.scopes}))
            .collect();
        json!({
            "memory": memory,
            "interfaces": self.interfaces,
            "streams": self.streams,
            "checked_handles": self.checked_handles,
        })
    }
}

impl Device {
    /// Returns what the device can do. Kinds of memory are found by trial: a small data space of
    /// each is allocated and freed (D.9); so is a stream.
    ///
    /// # Errors
    ///
    /// Errors of the device: one that is lost has no answer.
    pub fn capabilities(&self) -> Result<Capabilities, Error> {
        let state = self.state();
        state.services.check_process()?;
        let mut memory = Vec::new();
        for kind in MemoryKind::ALL {
            let mut scopes = Vec::new();
            for scope in SCOPES {
                if self.has_memory(kind, scope)? {
                    scopes.push(scope.to_owned());
                }
            }
            if !scopes.is_empty() {
                memory.push(MemoryCapability { kind, scopes });
            }
        }
        let stream = state.api.create_stream(state.id)?;
        state.api.free_stream(state.id, stream)?;
        let checked = self.attribute(attribute::CHECKED_HANDLES)?;
        Ok(Capabilities {
            memory,
            interfaces: state.api.extensions.names(),
            streams: !stream.is_null(),
            checked_handles: checked == Some(Value::Bool(true)),
        })
    }

    fn has_memory(&self, kind: MemoryKind, scope: &str) -> Result<bool, Error> {
        let state = self.state();
        let place = Place { kind, scope: scope.to_owned(), alignment_bytes: ALIGNMENT_BYTES };
        let unknown = chipdock_abi::ChipdockDataType { code: 0, bits: 8, lanes: 0 };
        match state.api.allocate_in(state.id, TRIAL_BYTES, unknown, &place) {
            Ok(data) => state.free_raw(data).map(|()| true),
            Err(error) if *error.kind() == ErrorKind::Unsupported => Ok(false),
            // It has it, and has none left.
            Err(error) if *error.kind() == ErrorKind::OutOfMemory => Ok(true),
            Err(error) => Err(error),
        }
    }
}
