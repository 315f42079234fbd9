//! Tests of `examples/wire-reader-cpp`: it compiles without a warning, and is run on every kept
//! document and on bad ones.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use chipdock_test_support::{bless, skipped};
use chipdock_test_wire::all_documents;

/// Whether the compiler is there, and finds the header.
fn is_there() -> bool {
    let mut probe = Command::new("g++");
    probe.args(["-std=c++17", "-fsyntax-only", "-include", "nlohmann/json.hpp", "-x", "c++", "/dev/null"]);
    match probe.output() {
        Err(error) => skipped(&format!("the wire's reader in C++: g++: {error}")),
        Ok(output) if !output.status.success() => {
            skipped("the wire's reader in C++: no nlohmann/json.hpp (Debian's package nlohmann-json3-dev)");
        }
        Ok(_) => return true,
    }
    false
}

fn compile(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wire-reader-cpp/wire_reader.cpp");
    let program = folder.join("wire-reader");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o"]);
    let output = compiler.arg(&program).arg(source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Runs the reader on a text, given as its standard input.
fn read(program: &Path, text: &str) -> Output {
    let mut reader = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    reader.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    reader.wait_with_output().unwrap()
}

#[track_caller]
fn refuses(program: &Path, text: &str, says: &str) {
    let output = read(program, text);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{says}: {error}");
    assert!(output.stdout.is_empty(), "nothing of a bad document is printed");
    assert!(error.starts_with("wire-reader: ") && error.contains(says), "expected \"{says}\", found {error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn the_reader_takes_the_corpus_and_refuses_what_is_bad() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path());
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let documents = all_documents().unwrap();
    assert!(documents.len() >= 30, "only {} documents", documents.len());
    for document in &documents {
        let output = Command::new(&program).arg(&document.path).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && error.is_empty(), "{}: {error}", document.name);
        let golden = goldens.join(document.name.replace(".json", ".txt"));
        bless(&golden, &String::from_utf8(output.stdout).unwrap()).unwrap_or_else(|text| panic!("{text}"));
    }
    bad_documents(
        &program,
        &documents.iter().find(|document| document.name == "1.0/positions.json").unwrap().text,
    );
    let missing = Command::new(&program).arg(folder.path().join("none.json")).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

fn bad_documents(program: &Path, good: &str) {
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    refuses(program, "", "not a JSON document");
    refuses(program, &good[..good.len() / 2], "not a JSON document");
    refuses(program, "[]", "expected a JSON object, found []");
    refuses(program, &with("1.0.0", "1.1.0"), "version 1.1.0 is not for this reader, which takes 1.0 to 1.0");
    refuses(program, &with("1.0.0", "one"), "expected a version as \"1.0.0\", found \"one\"");
    refuses(program, &with("\"Add\"", "\"Plus\""), "unknown node \"Plus\"");
    refuses(
        program,
        &with("\"node\":\"Add\",", "\"node\":\"Add\",\"more\":1,"),
        "Add: unknown field \"more\"",
    );
    refuses(
        program,
        &with("\"node\":\"Add\",\"dtype\":\"int32\",", "\"node\":\"Add\","),
        "\"dtype\" is missing",
    );
    refuses(program, &with("\"a\":", "\"c\":"), "Add: field \"a\" is missing");
    refuses(program, &with("\"body\":", "\"body\":-1,\"body\":-"), "the id of an earlier node, below");
    refuses(program, &with("\"functions\"", "\"function\""), "field \"functions\" is missing");
    // An id that refers to itself or forwards, and a statement where an expression is due.
    let int = r#"{"node":"Int","dtype":"int32","value":"1"}"#;
    let document = |nodes: &str, body: usize| {
        format!(
            "{{\"chipdock_ir\":\"1.0.0\",\"nodes\":[{nodes}],\"functions\":[{{\"name\":\"f\",\"params\":[],\"ret\":null,\
             \"attrs\":[],\"s_tir\":true,\"alloc_buffers\":[],\"body\":{body}}}],\"attrs\":[]}}"
        )
    };
    let cast = |id: &str| {
        let nodes = format!(
            "{int},{{\"node\":\"Cast\",\"dtype\":\"int32\",\"value\":{id}}},{{\"node\":\"Evaluate\",\"value\":1}}"
        );
        document(&nodes, 2)
    };
    assert!(read(program, &cast("0")).status.success());
    for id in ["1", "2", "-1", "0.5", "\"0\"", "99999999999999999999", "1e400", "null"] {
        let says = if id == "1e400" { "not a JSON document" } else { "the id of an earlier node, below 1" };
        refuses(program, &cast(id), says);
    }
    refuses(program, &document(int, 0), "is no statement that this reader knows");
    // What is shared is written once: 2^100 additions; and what is deep is refused.
    let doubled = |levels: usize| {
        let mut nodes = int.to_owned();
        for id in 0..levels {
            nodes.push_str(&format!(",{{\"node\":\"Add\",\"dtype\":\"int32\",\"a\":{id},\"b\":{id}}}"));
        }
        document(&format!("{nodes},{{\"node\":\"Evaluate\",\"value\":{levels}}}"), levels + 1)
    };
    assert!(read(program, &doubled(100)).status.success());
    refuses(program, &doubled(100_000), "nests too deep");
    let mut nodes = r#"{"node":"Break"}"#.to_owned();
    for id in 0..40 {
        nodes.push_str(&format!(",{{\"node\":\"Seq\",\"stmts\":[{id},{id}]}}"));
    }
    refuses(program, &document(&nodes, 40), "the outline has more than 100000 lines");
    refuses(program, &"[".repeat(1_000_000), "not a JSON document");
}
