//! TIDY-T18: comments fit into 100 columns.

use std::fs;
use std::path::Path;

use chipdock_tidy::{files, long_comments};

/// Files with lines of C in their strings, which look like comments of Rust.
const TEXTS_OF_C: [&str; 2] =
    ["plugin-api/codegen-source/src/c_family/halves.rs", "plugins/c/src/dialect/runtime.rs"];

#[test]
fn tidy_t18_comments_fit_into_100_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut findings = Vec::new();
    let all = files(&root, &[".rs"]);
    assert!(all.len() > 1000, "found {} files", all.len());
    for path in all {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if TEXTS_OF_C.contains(&name.as_str()) {
            continue;
        }
        let lines = long_comments(&fs::read_to_string(&path).unwrap());
        findings.extend(lines.into_iter().map(|line| format!("{name}:{line}")));
    }
    assert!(findings.is_empty(), "comments of more than 100 columns:\n{}", findings.join("\n"));
}
