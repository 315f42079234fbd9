//! Tests of running code for wasm32: pointers of 32 bits, other offsets, a device passed by its
//! address.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::cross::{module, output};
use super::kinds::canonical;
use crate::llvm::{Wanted, compile, library};
use crate::target::machine_options;

/// The linker that comes with the compiler of Rust.
fn linker() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "target-libdir"]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    Some(folder.parent()?.join("bin/rust-lld")).filter(|path| path.exists())
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {out}{err}");
}

#[test]
fn code_for_webassembly_runs() {
    let (Some(linker), true) = (linker(), Command::new("node").arg("--version").output().is_ok()) else {
        return chipdock_test_support::skipped(
            "code for WebAssembly, run: no node, or no rust-lld beside rustc",
        );
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = json!({ "mtriple": "wasm32", "mattr": ["+simd128"] });
    std::fs::write(at("kernels.o"), output(&module(), options.clone()).object).unwrap();
    let wanted = Wanted { object: true, ..Wanted::default() };
    let env = include_str!("wasm.ll");
    let env =
        compile(library().unwrap(), env, &machine_options(&canonical(options)), wanted, &|| false).unwrap();
    std::fs::write(at("env.o"), env.object).unwrap();
    run(Command::new(linker)
        .args(["-flavor", "wasm", "--no-entry", "--export-all", "--allow-undefined", "-o"])
        .args(["linked.wasm", "kernels.o", "env.o"].map(at)));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/wasm.js");
    run(Command::new("node").arg(script).arg(at("linked.wasm")));
}
