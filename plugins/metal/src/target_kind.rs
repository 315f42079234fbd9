//! The target kind: warps are SIMD groups where the target has them, and `max_threads_per_block`
//! bounds `max_num_threads`, which is the one in effect; its schema defines the rest.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};

/// Threads of a SIMD group on every GPU of Apple.
const SIMDGROUP_THREADS: i64 = 32;

/// Target kind `metal`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetalTargetKind;

impl TargetKind for MetalTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let wrong = |message: String| Error::new(ErrorKind::VALUE_ERROR, message);
        let json = serde_json::from_str(target_json).map_err(|error| wrong(error.to_string()))?;
        let mut target = Target::from_canonical_json(&json).map_err(wrong)?;
        if target.bool("supports_simdgroups") == Some(true) {
            target.options.insert("thread_warp_size".into(), SIMDGROUP_THREADS.into());
        }
        if let Some(most) = target.int("max_threads_per_block") {
            let most = target.int("max_num_threads").map_or(most, |threads| threads.min(most));
            target.options.insert("max_num_threads".into(), most.into());
        }
        Ok(target.to_json().to_string())
    }
}
