//! Checks of the target kind: warps are subgroups, which WebGPU has as a feature.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};

/// Number of threads of a subgroup for which kernels are written.
const SUBGROUP_SIZE: i64 = 32;

/// Target kind `webgpu`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebGpuTargetKind;

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

impl TargetKind for WebGpuTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let json = serde_json::from_str(target_json).map_err(|error| wrong(error.to_string()))?;
        let mut target = Target::from_canonical_json(&json).map_err(wrong)?;
        let warp = target.int("thread_warp_size").unwrap_or(1);
        if target.bool("supports_subgroups") == Some(true) {
            // Kernels with shuffles are compiled for this size, whatever the target says.
            target.options.insert("thread_warp_size".to_owned(), SUBGROUP_SIZE.into());
        } else if warp > 1 {
            return Err(wrong(format!(
                "target webgpu: option \"thread_warp_size\" is {warp}, which requires supports_subgroups = true; \
                 expected 1 without subgroups"
            )));
        }
        Ok(target.to_json().to_string())
    }
}
