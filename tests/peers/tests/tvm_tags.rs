//! The tags of all plugins are TVM's: each of TVM's list, with the same options (T.10, TARGET-T14).

use std::collections::BTreeSet;

use chipdock_peers::python::{python, script};
use chipdock_test_backends::host;
use serde_json::{Map, Value, json};

/// Kinds of TVM's that no plugin here has, with their tags.
const ABSENT: &[(&str, &[&str])] = &[
    (
        "hexagon",
        &[
            "qcom/hexagon-v65",
            "qcom/hexagon-v66",
            "qcom/hexagon-v68",
            "qcom/hexagon-v69",
            "qcom/hexagon-v73",
            "qcom/hexagon-v75",
        ],
    ),
    ("trn", &["aws/trn1/trn1.2xlarge", "aws/trn1/trn1.32xlarge"]),
];

/// Architectures of tags that NVIDIA's compilers from CUDA 12 on do not have.
const OLD: &[&str] = &["sm_20", "sm_21", "sm_30", "sm_35", "sm_37"];

/// Processors that LLVM 19 does not have, in tags.
const UNKNOWN: &[&str] = &["spacemit-x100"];

/// Returns every tag that is declared here, as the configuration of a target.
fn ours() -> Map<String, Value> {
    let tags = host().target_tags().into_iter().map(|(tag, kind)| {
        let mut config = kind.tags[&tag].clone();
        config.insert("kind".to_owned(), kind.name.clone().into());
        (tag, Value::Object(config))
    });
    let all: Map<String, Value> = tags.collect();
    all.into_iter().filter(|(tag, _)| !tag.starts_with("reference/")).collect()
}

#[test]
fn every_tag_of_tvm_is_one_here_with_the_same_options() {
    let Some(python) = python("the comparison with TVM's tags") else { return };
    let ours = ours();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ours.json"), Value::Object(ours.clone()).to_string()).unwrap();
    let answer: Map<String, Value> =
        serde_json::from_str(&script(&python, "tags.py", folder.path()).unwrap()).unwrap();
    let mut wrong = Vec::new();
    let mut absent: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (tag, both) in &answer {
        match (both.get("tvm"), both.get("ours")) {
            (Some(tvm), Some(ours)) if tvm == ours => {}
            (Some(_), None) => drop(absent.insert((both["kind"].as_str().unwrap(), tag))),
            (tvm, ours) => wrong.push(format!("{tag}: TVM has {tvm:?}, and makes of ours {ours:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed = ABSENT.iter().flat_map(|(kind, tags)| tags.iter().map(move |tag| (*kind, *tag)));
    assert_eq!(absent, listed.collect());
    assert_eq!((answer.len(), ours.len()), (287, 279));
}

/// TARGET-T14: each tag makes a target here, or is refused for its architecture.
#[test]
fn every_tag_makes_a_target_or_is_refused_for_its_processor() {
    let host = host();
    let mut wrong = Vec::new();
    for (tag, config) in ours() {
        let kind = config["kind"].as_str().unwrap();
        if host.usable_target(kind).is_err() {
            continue;
        }
        // Without a compiler of the machine, so that a table has the architectures.
        let source = if kind == "cuda" { json!({"tag": tag, "compiler": "none"}) } else { json!(tag) };
        let old = config["arch"].as_str().filter(|arch| OLD.contains(arch));
        let unknown = config["mcpu"].as_str().filter(|cpu| UNKNOWN.contains(cpu));
        match (host.target(source), old.or(unknown)) {
            (Ok(target), None) => {
                let target = target.target();
                if target.tag != tag || target.kind != kind {
                    wrong.push(format!("{tag}: {}", target.to_json()));
                }
            }
            (Err(error), Some(words)) => {
                let text = error.to_string();
                if !text.contains(words) || !text.contains(&format!("target tag \"{tag}\"")) {
                    wrong.push(format!("{tag}: {text} should say {words}, and name the tag"));
                }
            }
            (Ok(_), Some(words)) => wrong.push(format!("{tag}: a target, should be refused: {words}")),
            (Err(error), None) => wrong.push(format!("{tag}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} of all tags:\n{}", wrong.len(), wrong.join("\n"));
}
