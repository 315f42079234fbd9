//! Checks of the target kind: limits that must agree with each other.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind};

/// Target kind `opencl`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenClTargetKind;

impl TargetKind for OpenClTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let mut target = serde_json::from_str(target_json)
            .map_err(|error| error.to_string())
            .and_then(|json| Target::from_canonical_json(&json))
            .map_err(|error| value_error(format!("target opencl: {error}")))?;
        for option in ["max_block_dimensions", "max_grid_dimensions"] {
            let list = target.options.get(option).and_then(serde_json::Value::as_array);
            if let Some(found) = list.map(Vec::len).filter(|length| *length != 3) {
                return Err(value_error(format!(
                    "target opencl: option '{option}': expected 3 numbers, of x, y and z, found {found}"
                )));
            }
        }
        if let Some(most) = target.int("max_threads_per_block") {
            let most = target.int("max_num_threads").map_or(most, |threads| threads.min(most));
            target.options.insert("max_num_threads".into(), most.into());
        }
        let is_one = target.int("thread_warp_size").is_none_or(|size| size == 1);
        if target.bool("supports_subgroups") == Some(true) && is_one {
            return Err(value_error(
                "target opencl: option 'supports_subgroups': expected 'thread_warp_size' to be the size of a subgroup, \
                 found 1; set both"
                    .to_owned(),
            ));
        }
        Ok(target.to_json().to_string())
    }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(options: &str) -> Result<String, Error> {
        OpenClTargetKind.canonicalize(&format!("{{\"kind\": \"opencl\"{options}}}"))
    }

    #[test]
    fn the_smaller_number_of_threads_counts() {
        let target = canonical(", \"max_num_threads\": 256, \"max_threads_per_block\": 64").unwrap();
        assert!(target.contains("\"max_num_threads\":64"), "{target}");
        let target = canonical(", \"max_num_threads\": 32, \"max_threads_per_block\": 64").unwrap();
        assert!(target.contains("\"max_num_threads\":32"), "{target}");
    }

    #[test]
    fn contradicting_options_are_named() {
        for (options, says) in [
            (", \"max_grid_dimensions\": [1, 2]", "'max_grid_dimensions': expected 3 numbers"),
            (", \"supports_subgroups\": true", "'thread_warp_size'"),
            (", \"kind\": 3", "target opencl"),
        ] {
            let error = canonical(options).unwrap_err();
            assert!(error.message().contains(says), "{}", error.message());
        }
        canonical(", \"supports_subgroups\": true, \"thread_warp_size\": 32").unwrap();
    }

    /// Each op that the kind calls native has a spelling, within what the IR allows of float32.
    #[test]
    fn native_ops_are_ops() {
        let kind: serde_json::Value = serde_json::from_str(include_str!("target_kind.json")).unwrap();
        for name in kind["native_ops"].as_array().unwrap() {
            let op = chipdock_ir::Op::by_name(name.as_str().unwrap()).unwrap();
            assert!(crate::dialect::is_spelled(op), "{name}");
        }
    }
}
