//! Tests of the kept documents, WIRE-W5: the current reader reads every one of them, and writes exactly the same bytes again.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use chipdock_ir::validate::validate;
use chipdock_ir::wire::{self, WriteOptions};
use chipdock_ir::{IrModule, Stage};
use chipdock_test_support::{is_blessing, skipped};
use chipdock_test_wire::{MINORS, documents, folder, modules};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Scripts of the corpus that are kept as documents too.
const SCRIPTS: &[&str] = &[
    "construct/blocks.py",
    "construct/casts.py",
    "construct/loops.py",
    "construct/memory.py",
    "construct/sizes.py",
    "construct/vectors.py",
    "lowered/cuda_g_dynshm.py",
    "lowered/cuda_g_matmul.py",
    "lowered/host_softmax.py",
    "kernels/conv2d.py",
    "kernels/layernorm.py",
    "kernels/matmul_scheduled.py",
    "tvm/g_sumred.py",
];

/// A document to be kept: its file, how it is written at the newest minor, the oldest that has an equal.
struct Wanted {
    name: String,
    module: IrModule,
    stage: Stage,
    options: WriteOptions<'static>,
    since: &'static str,
}

/// Returns the documents that are kept from now on.
fn wanted() -> Vec<Wanted> {
    let plain = WriteOptions::default();
    let mut wanted: Vec<_> = modules::all()
        .into_iter()
        .map(|kept| Wanted {
            name: format!("{}.json", kept.name),
            module: kept.module,
            stage: kept.stage,
            options: plain,
            since: kept.since,
        })
        .collect();
    let placed = WriteOptions { positions: true, file: Some("kernels/placed.py"), ..plain };
    let of =
        |name: String, module, options, since| Wanted { name, module, stage: Stage::Blocks, options, since };
    wanted.push(of("positions.json".to_owned(), modules::placed(), placed, "1.1.0"));
    for file in chipdock_test_support::corpus().unwrap() {
        if SCRIPTS.contains(&&*file.name) {
            let module = chipdock_script::parse(&file.text, &file.name).unwrap();
            let name = file.name.trim_end_matches(".py").replace('/', "-");
            wanted.push(of(format!("script-{name}.json"), module, plain, "1.0.0"));
        }
    }
    wanted
}

/// With `BLESS=1`, adds what is missing to the newest minor; a published document is never written again.
#[test]
fn wire_w5_the_corpus_is_complete() {
    let bless = is_blessing();
    for (minor, version) in MINORS {
        let folder = folder().join("corpus").join(minor);
        fs::create_dir_all(&folder).unwrap();
        for Wanted { name, module, stage, options, since } in wanted() {
            let path = folder.join(&name);
            if since > *version || path.exists() {
                continue;
            }
            assert!(bless, "{minor}/{name} is not kept yet; run this test with BLESS=1 to add it");
            assert_eq!(validate(&module, stage), Ok(()), "{name}");
            let text = wire::write_with(&module, &WriteOptions { version, ..options }).unwrap();
            fs::write(path, text).unwrap();
        }
        if bless {
            add_digests(minor);
        }
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

/// Adds a line for each document that has none.
fn add_digests(minor: &str) {
    let path = folder().join("corpus").join(minor).join("SHA256SUMS");
    let mut sums = fs::read_to_string(&path).unwrap_or_default();
    for document in documents(minor).unwrap() {
        if !sums.lines().any(|line| line.ends_with(&format!("  {}", document.name))) {
            writeln!(sums, "{}  {}", digest(&document.text), document.name).unwrap();
        }
    }
    fs::write(path, sums).unwrap();
}

/// Published documents never change.
#[test]
fn wire_w5_kept_documents_are_what_they_were() {
    for (minor, _) in MINORS {
        let sums = fs::read_to_string(folder().join("corpus").join(minor).join("SHA256SUMS")).unwrap();
        let kept: BTreeSet<(String, String)> = sums
            .lines()
            .filter_map(|line| line.split_once("  "))
            .map(|(digest, name)| (name.to_owned(), digest.to_owned()))
            .collect();
        let there: BTreeSet<(String, String)> = documents(minor)
            .unwrap()
            .into_iter()
            .map(|document| (document.name, digest(&document.text)))
            .collect();
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
        let folder = folder().join("corpus").join(minor);
        let mut check = std::process::Command::new("sha256sum");
        match check.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(folder).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => skipped(&format!("digests of the wire's corpus by sha256sum: {error}")),
        }
    }
}
