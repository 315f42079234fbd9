//! What is printed, given to real TVM: it takes it, and finds it equal to what it reads in the original.
//!
//! Needs a Python with apache-tvm 0.27, named by `CHIPDOCK_TVM_PYTHON`; without, the test says what it skips. The first
//! line of a corpus file may say otherwise: `# tvm: accepted (why)` where TVM's reading differs, `# tvm: refused (why)`
//! where only this project takes the file, `# tvm: printed (why)` where TVM takes what is printed and not the file.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::process::Command;

use chipdock_filetests::{CorpusFile, corpus, root, skipped};
use chipdock_ir::print;

/// How TVM is to take a file.
fn mode(file: &CorpusFile) -> &'static str {
    let first = file.text.lines().next().unwrap_or_default();
    match first.strip_prefix("# tvm: ").unwrap_or_default().split(' ').next() {
        Some("accepted") => "accepted",
        Some("refused") => "refused",
        Some("printed") => "printed",
        _ => "equal",
    }
}

#[test]
fn tvm_reads_what_is_printed_as_it_reads_the_original() {
    let files = corpus().unwrap();
    let Ok(python) = std::env::var("CHIPDOCK_TVM_PYTHON") else {
        skipped(&format!("{} files not given to TVM: CHIPDOCK_TVM_PYTHON is not set", files.len()));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut pairs = String::new();
    for (index, file) in files.iter().enumerate() {
        let module = chipdock_script::parse(&file.text, &file.name).unwrap();
        let printed = folder.path().join(format!("printed{index}.py"));
        std::fs::write(&printed, print::module(&module)).unwrap();
        writeln!(pairs, "{}\t{}\t{}\t{}", mode(file), file.name, file.path.display(), printed.display())
            .unwrap();
    }
    let list = folder.path().join("pairs");
    std::fs::write(&list, pairs).unwrap();
    let output = Command::new(python).arg(root().join("tests/tvm_check.py")).arg(list).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "of {} files TVM says:\n{out}{err}", files.len());
}
