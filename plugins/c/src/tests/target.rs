//! Tests of the target kind: its schema, and the values that its canonicalizer rejects.

use chipdock_plugin_api::TargetKind as _;
use serde_json::json;

use super::support::kind;
use crate::target_kind::CTargetKind;

fn canonicalize(options: serde_json::Value) -> Result<serde_json::Value, String> {
    let mut target = json!({ "kind": "c", "tag": "", "keys": ["cpu"] });
    for (name, value) in options.as_object().unwrap() {
        target[name] = value.clone();
    }
    let answer =
        CTargetKind.canonicalize(&target.to_string()).map_err(|error| error.message().into_owned())?;
    Ok(serde_json::from_str(&answer).unwrap())
}

#[test]
fn the_schema_is_one() {
    let kind = kind();
    assert_eq!((kind.name.as_str(), kind.device.as_str(), kind.host_preference), ("c", "cpu", 10));
    assert!(kind.is_host && kind.thread_axes.is_empty());
    let level = kind.options.iter().find(|option| option.name == "opt-level").unwrap();
    assert_eq!((level.min, level.max, level.default.clone()), (Some(0), Some(3), Some(json!(3))));
}

#[test]
fn processors_that_compilers_know_are_taken() {
    for march in ["native", "x86-64-v3", "sapphirerapids", "armv8.2-a+sve", "rv64gcv_zba", "znver5"] {
        let canonical = canonicalize(json!({ "march": march })).unwrap();
        assert_eq!(canonical["march"], march);
    }
}

#[test]
fn others_are_refused_with_the_nearest() {
    let found = |options| canonicalize(options).unwrap_err();
    let message = found(json!({ "march": "sapphirerapid" }));
    assert!(message.contains("'march'") && message.contains("\"sapphirerapids\""), "{message}");
    let message = found(json!({ "mcpu": "cortex_a72" }));
    assert!(message.contains("'mcpu'") && message.contains("\"cortex-a72\""), "{message}");
    for march in ["", "-O3", "native -fplugin=x", "native;rm", "haswell+\u{e9}", "rv64", "native\0"] {
        assert!(found(json!({ "march": march })).contains("expected a processor"), "{march:?}");
    }
}

#[test]
fn alignments_are_powers_of_two() {
    assert!(canonicalize(json!({ "workspace-byte-alignment": 32 })).is_ok());
    for alignment in [0, -8, 24, 128, i64::MIN] {
        let message = canonicalize(json!({ "constants-byte-alignment": alignment })).unwrap_err();
        assert!(message.contains("'constants-byte-alignment'") && message.contains("found"), "{message}");
    }
}

#[test]
fn dot_products_are_those_that_are_written() {
    let integers = json!(["uint8*int8", "int8*int8", "uint8*uint8", "int16*int16"]);
    let found = canonicalize(json!({ "dot-products": ["int8*int8"], "march": "cascadelake" })).unwrap();
    assert_eq!(found["dot-products"], json!(["int8*int8"]));
    let here = canonicalize(json!({})).unwrap();
    let with_halves =
        json!([integers.as_array().unwrap().as_slice(), &[json!("bfloat16*bfloat16")]].concat());
    let known = [integers, with_halves];
    assert!(here.get("dot-products").is_none_or(|found| known.contains(found)), "{here}");
    assert!(canonicalize(json!({ "march": "cascadelake" })).unwrap().get("dot-products").is_none());
    let message = canonicalize(json!({ "dot-products": ["float16*float16"] })).unwrap_err();
    assert!(message.contains("'dot-products'") && message.contains("int16*int16"), "{message}");
}
