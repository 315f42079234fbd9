//! Tests of the checks of the target kind.

use chipdock_plugin_api::TargetKind;
use serde_json::{Value, json};

use crate::target_kind::WebGpuTargetKind;

fn canonical(target: Value) -> Result<Value, String> {
    let answer = WebGpuTargetKind.canonicalize(&target.to_string());
    answer.map(|json| serde_json::from_str(&json).unwrap()).map_err(|error| error.message().into_owned())
}

#[test]
fn warps_need_subgroups() {
    let one = json!({ "kind": "webgpu", "tag": "", "keys": [], "supports_subgroups": false, "thread_warp_size": 1 });
    assert_eq!(canonical(one.clone()).unwrap(), one);
    let mut wide = one.clone();
    wide["thread_warp_size"] = 32.into();
    let error = canonical(wide).unwrap_err();
    assert!(error.contains("supports_subgroups = true") && error.contains("32"), "{error}");
}

#[test]
fn subgroups_have_one_size() {
    let small =
        json!({ "kind": "webgpu", "tag": "", "keys": [], "supports_subgroups": true, "thread_warp_size": 8 });
    let canonical_once = canonical(small).unwrap();
    assert_eq!(canonical_once["thread_warp_size"], 32);
    assert_eq!(canonical(canonical_once.clone()).unwrap(), canonical_once);
}
