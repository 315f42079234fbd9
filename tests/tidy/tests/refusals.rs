//! TIDY-T17: a refusal of a plugin cites its clause.

use std::fs;
use std::path::Path;

use chipdock_tidy::{clauses, uncited_refusals};

/// The files of the host that judge a plugin and what it hands over.
const JUDGES: [&str; 12] = [
    "host/src/boundary/extension.rs",
    "host/src/boundary/registrar.rs",
    "host/src/boundary/session.rs",
    "host/src/compile/artifact.rs",
    "host/src/compile/delivered.rs",
    "host/src/compile/resolve/schema.rs",
    "host/src/names.rs",
    "host/src/open/image.rs",
    "host/src/open/loader.rs",
    "host/src/open/manifest.rs",
    "host/src/open/settings/declared.rs",
    "plugin-api/ir/src/targets/declared.rs",
];

#[test]
fn tidy_t17_a_refusal_of_a_plugin_cites_its_clause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read =
        |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let known = clauses(&read("plugin-api/src/lib.rs"));
    assert!(known.contains("P3.5") && known.contains("C.8") && known.len() > 200, "{known:?}");
    let mut findings = Vec::new();
    for path in JUDGES {
        let uncited = uncited_refusals(&read(path), &known);
        findings.extend(uncited.into_iter().map(|function| format!("{path}: `{function}`")));
    }
    assert!(
        findings.is_empty(),
        "each of these refuses what a plugin does, and names no clause of the contract that forbids it (CONTRIBUTING.md): \
         without one, newer plugins would be refused by this host for ever\n{}",
        findings.join("\n")
    );
}
