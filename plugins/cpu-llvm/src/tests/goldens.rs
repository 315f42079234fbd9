//! Test that LLVM accepts the goldens of chipdock-codegen-llvm.

use std::path::PathBuf;

use crate::llvm::{MachineOptions, Wanted, compile, library};

#[test]
fn llvm_reads_verifies_and_compiles_every_golden() {
    let llvm = library().unwrap();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/codegen-llvm/goldens");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 11, "{} goldens in {}", paths.len(), folder.display());
    for path in paths {
        // What nobody calls would be dropped before it is compiled.
        let text = std::fs::read_to_string(&path).unwrap().replace("define internal", "define");
        for opt_level in [0, 3] {
            let options = MachineOptions {
                triple: "x86_64-unknown-linux-gnu".to_owned(),
                cpu: "x86-64-v3".to_owned(),
                opt_level,
                ..MachineOptions::default()
            };
            let wanted = Wanted { object: true, ..Wanted::default() };
            let output = compile(llvm, &text, &options, wanted, &|| false)
                .unwrap_or_else(|error| panic!("{} at {opt_level}: {}", path.display(), error.message()));
            assert!(!output.object.is_empty());
            assert_eq!(output.notes, [], "{} at {opt_level}", path.display());
        }
    }
}
