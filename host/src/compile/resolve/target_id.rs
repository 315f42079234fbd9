//! The identity of a target: rule TARGET-T11.

use std::fmt;

use chipdock_ir::Target;
use sha2::{Digest, Sha256};

/// The identity of a target: the SHA-256 of its canonical JSON (TARGET-T11). It is the same for
/// equal targets in every process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId([u8; 32]);

impl TargetId {
    /// Returns the identity of a target.
    #[must_use]
    pub fn of(target: &Target) -> Self {
        Self::of_json(&target.to_json().to_string())
    }

    /// Returns the identity of a target from its canonical JSON.
    pub(crate) fn of_json(canonical_json: &str) -> Self {
        Self(Sha256::digest(canonical_json.as_bytes()).into())
    }
}

impl fmt::Display for TargetId {
    /// Writes it in hexadecimal, 64 digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetId({self})")
    }
}
