//! Tests of rules LLKEPT-P1 and LLKEPT-P4: which libLLVM is opened, and when.

use std::ffi::OsStr;
use std::path::Path;

use chipdock_plugin_api::ErrorKind;
use serde_json::{Value, json};

use super::super::chosen::{Chosen, Known, question};
use super::super::library::{NAMES, is_loaded};
use super::{child, is_child};
use crate::cache::Memory;

/// The variable that names the folder of the memory in a child.
const FOLDER: &str = "CHIPDOCK_TEST_FOLDER";

fn memory() -> Memory {
    Memory::at(Path::new(&std::env::var_os(FOLDER).unwrap()), "around")
}

fn choose() -> Chosen {
    Chosen::new(None, Some(memory())).unwrap()
}

fn is_open() -> bool {
    NAMES.iter().any(|name| is_loaded(OsStr::new(name)))
}

/// Runs the part `name` of a test in a process of its own, with the same folder as other parts.
fn part(name: &str, folder: &Path) {
    child(&format!("chosen::{name}"), &[(FOLDER, folder.to_str().unwrap())]);
}

#[test]
fn llkept_p1_the_first_process_opens_it() {
    if !is_child() {
        return;
    }
    let chosen = choose();
    assert!(is_open());
    let answer = chosen.recall(&["question"], |_| Ok(json!(7))).unwrap();
    assert_eq!(answer, json!(7));
    assert_eq!(Known::of(chosen.open().unwrap()), chosen.known);
}

#[test]
fn llkept_p1_the_second_process_opens_it_when_it_has_work() {
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("kept");
        part("llkept_p1_the_first_process_opens_it", &folder);
        return part("llkept_p1_the_second_process_opens_it_when_it_has_work", &folder);
    }
    let chosen = choose();
    let answer = chosen.recall(&["question"], |_| panic!("it is kept")).unwrap();
    assert_eq!(answer, json!(7));
    assert!(!chosen.host().features.is_empty() && chosen.fingerprint().is_some());
    assert!(!is_open());
    let other = chosen.recall(&["another"], |llvm| Ok(json!(llvm.host().cpu))).unwrap();
    assert!(is_open());
    assert_eq!(other, json!(chosen.host().cpu));
    // What was believed is what it says.
    assert_eq!(Known::of(chosen.open().unwrap()), chosen.known);
    assert_eq!(format!("{chosen}"), format!("{}", chosen.open().unwrap()));
}

/// LLKEPT-P4: what is kept says another file than the one that is there.
#[test]
fn llkept_p4_a_library_that_was_replaced_is_told_once() {
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("kept");
        part("llkept_p1_the_first_process_opens_it", &folder);
        return part("llkept_p4_a_library_that_was_replaced_is_told_once", &folder);
    }
    let (memory, question) = (memory(), question(&None).unwrap());
    let mut kept = memory.read(&["library", &question]).unwrap();
    kept["file"] = json!("/elsewhere 1 2.3");
    memory.write(&["library", &question], &kept);
    let chosen = choose();
    assert!(!is_open());
    let error = chosen.open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    assert!(error.message().contains("start the process again"), "{error}");
    assert!(error.message().contains("its file has changed"), "{error}");
    assert_eq!(chosen.open().err().unwrap().kind(), ErrorKind::UNAVAILABLE, "in this process");
    assert_eq!(memory.read(&["library", &question]), Some(Value::Null));
}

/// LLKEPT-P4: the process after it looks again. A file that cannot be opened any more is as one
/// that was replaced.
#[test]
fn llkept_p4_the_next_process_looks_again() {
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("kept");
        part("llkept_p1_the_first_process_opens_it", &folder);
        part("llkept_p4_the_next_process_looks_again", &folder);
        return part("llkept_p1_the_first_process_opens_it", &folder);
    }
    let (memory, question) = (memory(), question(&None).unwrap());
    let mut kept = memory.read(&["library", &question]).unwrap();
    let path = std::env::current_exe().unwrap();
    kept["path"] = json!(path);
    kept["identity"] = json!(crate::cache::settled(&path).expect("a test that was built a while ago"));
    memory.write(&["library", &question], &kept);
    let error = choose().open().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::UNAVAILABLE);
    assert_eq!(memory.read(&["library", &question]), Some(Value::Null));
}

/// LLKEPT-P2: a libLLVM that the file system says is another is opened, and answers.
#[test]
fn llkept_p2_another_library_gives_another_answer() {
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("kept");
        part("llkept_p1_the_first_process_opens_it", &folder);
        return part("llkept_p2_another_library_gives_another_answer", &folder);
    }
    let (memory, question) = (memory(), question(&None).unwrap());
    let mut kept = memory.read(&["library", &question]).unwrap();
    kept["identity"] = json!("1 2 3");
    kept["cpu"] = json!("unheard-of");
    memory.write(&["library", &question], &kept);
    let chosen = choose();
    assert!(is_open());
    assert_ne!(chosen.host().cpu, "unheard-of");
    // Damaged answers are none.
    for damaged in [Value::Null, json!([]), json!({"name": 1})] {
        assert_eq!(Known::from_json(&damaged), None);
    }
    let (known, identity) = Known::from_json(&memory.read(&["library", &question]).unwrap()).unwrap();
    assert_eq!((&known, identity == "1 2 3"), (&chosen.known, false), "written anew");
}
