//! The target kind: its schema defines everything; an invalid target is refused.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};

/// Target kind `metal`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetalTargetKind;

impl TargetKind for MetalTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let wrong = |message: String| Error::new(ErrorKind::VALUE_ERROR, message);
        let json = serde_json::from_str(target_json).map_err(|error| wrong(error.to_string()))?;
        Ok(Target::from_canonical_json(&json).map_err(wrong)?.to_json().to_string())
    }
}
