//! Compiles the run time of exported libraries for this machine, so that an export has only to link
//! it. Without a C compiler, and for another machine, the object is empty: an export then compiles
//! the text (EXPORT-X6).

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the text, relative to this crate, and the folder of its header, relative to that.
const FOLDER: &str = "src/export";
const HEADERS: &str = "../../../plugin-api/abi/include";

/// Compiles the text; false if that cannot be done here. Nothing in the object depends on where
/// that is.
fn compile(object: &Path) -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("TARGET") != variable("HOST") || variable("CARGO_CFG_TARGET_OS") != "linux" {
        return false;
    }
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).args(["-c", "-fPIC", "-O2", "-g0", "-std=gnu11", "-fvisibility=hidden", "-w"]);
    command.args(["-I", HEADERS, "runtime.c", "-o"]).arg(object).current_dir(FOLDER);
    command.output().is_ok_and(|ended| ended.status.success())
}

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}/runtime.c");
    println!("cargo::rerun-if-changed={FOLDER}/{HEADERS}/chipdock.h");
    println!("cargo::rerun-if-env-changed=CC");
    let object = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default()).join("runtime.o");
    if !compile(&object) {
        std::fs::write(&object, [])?;
    }
    Ok(())
}
