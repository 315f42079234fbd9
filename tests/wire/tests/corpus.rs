//! Tests of the kept documents, WIRE-W5: the current reader reads every one of them, and writes
//! exactly the same bytes again.

use std::collections::BTreeSet;
use std::fs;

use chipdock_ir::wire;
use chipdock_test_support::skipped;
use chipdock_test_wire::{MINORS, digest, documents, folder, missing};
use serde_json::Value;

/// With `BLESS=1`, [`documents`] has added what was missing; a published document is never written
/// again.
#[test]
fn wire_w5_the_corpus_is_complete() {
    assert!(!documents("1.0").unwrap().is_empty());
    let missing: Vec<String> = missing().unwrap().into_iter().map(|wanted| wanted.name).collect();
    assert!(missing.is_empty(), "{missing:?} are not kept yet; run this test with BLESS=1 to add them");
}

/// Published documents never change.
#[test]
fn wire_w5_kept_documents_are_what_they_were() {
    for (minor, _) in MINORS {
        let documents = documents(minor).unwrap();
        let sums = fs::read_to_string(folder().join("corpus").join(minor).join("SHA256SUMS")).unwrap();
        let kept: BTreeSet<(String, String)> = sums
            .lines()
            .filter_map(|line| line.split_once("  "))
            .map(|(digest, name)| (name.to_owned(), digest.to_owned()))
            .collect();
        let there: BTreeSet<(String, String)> =
            documents.into_iter().map(|document| (document.name, digest(&document.text))).collect();
        assert_eq!(there, kept, "{minor}: a kept document was changed, added without BLESS=1 or removed");
        assert!(there.len() >= 15, "{minor}: only {} documents", there.len());
    }
}

/// Nodes and ops that a document holds.
fn held(text: &str, nodes: &mut BTreeSet<String>, ops: &mut BTreeSet<String>) {
    let json: Value = serde_json::from_str(text).unwrap();
    for node in json["nodes"].as_array().unwrap() {
        let name = node["node"].as_str().unwrap();
        nodes.insert(name.to_owned());
        if name == "CallOp" {
            ops.insert(node["op"].as_str().unwrap().to_owned());
        }
    }
}

/// WIRE-W5: every node and every op that the minor's schema has stands in some document.
#[test]
fn wire_w5_every_node_and_op_of_a_minor_is_kept() {
    for (minor, version) in MINORS {
        let (mut nodes, mut ops) = (BTreeSet::new(), BTreeSet::new());
        for document in documents(minor).unwrap() {
            held(&document.text, &mut nodes, &mut ops);
        }
        let schema = wire::schema(version).unwrap();
        let names: BTreeSet<String> = schema["$defs"]["node"]["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["$ref"].as_str().unwrap().trim_start_matches("#/$defs/").to_owned())
            .collect();
        let all: BTreeSet<String> = schema["$defs"]["CallOp"]["properties"]["op"]["enum"]
            .as_array()
            .unwrap()
            .iter()
            .map(|op| op.as_str().unwrap().to_owned())
            .collect();
        assert!(names.len() > 50 && all.len() > 60);
        assert_eq!(nodes, names, "{minor}");
        assert_eq!(ops, all, "{minor}");
    }
}

/// The digests are in the form that `sha256sum -c` takes.
#[test]
fn digests_are_checked_by_other_tools() {
    for (minor, _) in MINORS {
        assert!(!documents(minor).unwrap().is_empty());
        let folder = folder().join("corpus").join(minor);
        let mut check = std::process::Command::new("sha256sum");
        match check.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(folder).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => skipped(&format!("digests of the wire's corpus by sha256sum: {error}")),
        }
    }
}
