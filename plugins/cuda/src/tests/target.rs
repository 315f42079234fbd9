//! Tests of the target kind: its schema, and the values that its canonicalizer fills in and
//! rejects.

use chipdock_plugin_api::{HostRef, TargetKind as _};
use serde_json::{Value, json};

use crate::compiler::Architectures;
use crate::target_kind::{ARCH_DEFAULT, CudaTargetKind, KNOWN, architecture};

/// Canonicalizes without a compiler, so that the table is asked.
fn canonicalize(options: Value) -> Result<Value, String> {
    let mut target = json!({ "kind": "cuda", "tag": "", "keys": ["cuda", "gpu"], "compiler": "none" });
    for (name, value) in options.as_object().unwrap() {
        target[name] = value.clone();
    }
    let answer = CudaTargetKind(HostRef::standalone())
        .canonicalize(&target.to_string())
        .map_err(|error| error.message().into_owned())?;
    let again = CudaTargetKind(HostRef::standalone())
        .canonicalize(&answer)
        .map_err(|error| error.message().into_owned())?;
    assert_eq!(answer, again, "what comes out comes out again");
    Ok(serde_json::from_str(&answer).unwrap())
}

#[test]
fn architectures_are_filled_in_and_taken() {
    assert_eq!(canonicalize(json!({})).unwrap()["arch"], ARCH_DEFAULT);
    for arch in KNOWN {
        assert_eq!(canonicalize(json!({ "arch": arch })).unwrap()["arch"], *arch);
    }
    assert_eq!(canonicalize(json!({ "arch": "9.0" })).unwrap()["arch"], "sm_90");
}

#[test]
fn others_are_refused_with_the_nearest() {
    for (arch, nearest) in [("sm_81", "sm_8"), ("sm90", "sm_90"), ("compute_80", "sm_80"), ("SM_75", "sm_")] {
        let message = canonicalize(json!({ "arch": arch })).unwrap_err();
        let rest = message.split("the nearest is \"").nth(1).unwrap_or_default();
        assert!(
            message.contains("'arch'") && message.contains(arch) && rest.starts_with(nearest),
            "{message}"
        );
    }
    for arch in ["", "--ptxas-options=-v", "sm_75\0", "9.", "9.0.0", "sm_90 ", "ſm_75", "99999999.9"] {
        let message = canonicalize(json!({ "arch": arch })).unwrap_err();
        assert!(message.contains("expected an architecture"), "{message}");
    }
}

/// A compiler's own list counts where there is one, and the message says whose it is.
#[test]
fn a_compiler_knows_best() {
    let known = || Some(Architectures { compiler: "NVRTC 99.1".into(), names: vec!["sm_400".into()] });
    assert_eq!(architecture(Some("sm_400"), &known).unwrap(), "sm_400");
    let message = architecture(Some("sm_90"), &known).unwrap_err();
    assert!(message.contains("an architecture of NVRTC 99.1 (sm_400)"), "{message}");
}

#[test]
fn options_agree_with_each_other() {
    for format in ["ptx", "cubin"] {
        let message = canonicalize(json!({ "format": format })).unwrap_err();
        assert!(message.contains(format) && message.contains("'compiler'"), "{message}");
    }
    assert!(canonicalize(json!({ "format": "cuda" })).is_ok());
    let threads = |most: i64| {
        canonicalize(json!({ "max_num_threads": 512, "max_threads_per_block": most })).unwrap()["max_num_threads"].clone()
    };
    assert_eq!((threads(1024), threads(256)), (512.into(), 256.into()));
    let message = canonicalize(json!({ "compiler": "clang" })).unwrap_err();
    assert!(message.contains("'compiler'") && message.contains("clang"), "{message}");
}
