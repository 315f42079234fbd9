//! The libraries that are loaded: one set of kernels, through every way by which Chipdock makes a
//! library.

use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_ir::IrModule;
use chipdock_test_support::command::Scratch;
use chipdock_test_support::workspace;

/// A way to make a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exporter {
    /// Its name in tests and in the table.
    pub name: &'static str,
    /// The target.
    pub target: &'static str,
    /// Whether the command makes the library; else a C compiler does, from what the command prints
    /// or writes.
    pub is_whole: bool,
}

/// Every way.
pub const EXPORTERS: &[Exporter] = &[
    Exporter { name: "c", target: "c", is_whole: true },
    Exporter { name: "llvm", target: "llvm", is_whole: true },
    Exporter { name: "c-text", target: "c", is_whole: false },
    Exporter { name: "llvm-object", target: "llvm", is_whole: false },
];

/// Returns the path of the kernels.
#[must_use]
pub fn kernels() -> PathBuf {
    workspace().join("tests/interop/kernels/kernels.py")
}

/// Returns the module of the kernels, for the interpreter.
///
/// # Panics
///
/// If it cannot be read.
#[must_use]
pub fn module() -> IrModule {
    let text = std::fs::read_to_string(kernels()).expect("the kernels");
    chipdock_script::parse(&text, "kernels.py").unwrap_or_else(|errors| panic!("{errors}"))
}

/// Builds a library of a file of kernels, or of one function of it.
///
/// # Panics
///
/// If the command or the compiler fails.
#[must_use]
pub fn build(folder: &Scratch, exporter: Exporter, kernels: &Path, function: Option<&str>) -> PathBuf {
    let name = function.unwrap_or("all");
    let library = folder.path(&format!("{}.{name}.so", exporter.name));
    let mut file = kernels.display().to_string();
    if let Some(function) = function {
        file = format!("{file}:{function}");
    }
    let build = |words: &str| {
        let mut command = folder.command("build");
        let output = command.arg(&file).args(["--target", exporter.target]).args(words.split(' ')).output();
        let output = output.expect("the command");
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let beside = |suffix: &str| folder.path(&format!("{}.{name}.{suffix}", exporter.name));
    if exporter.is_whole {
        build(&format!("-o {}", library.display()));
    } else if exporter.target == "c" {
        let source = beside("c");
        std::fs::write(&source, build("--emit source")).expect("written");
        link(&["-std=gnu11", "-O2", "-fPIC", "-fno-math-errno", "-w"], &source, &library);
    } else {
        let object = beside("o");
        build(&format!("-o {}", object.display()));
        link(&["-Wl,--no-undefined"], &object, &library);
    }
    library
}

/// Builds the library that nothing of Chipdock made.
///
/// # Panics
///
/// If the compiler fails.
#[must_use]
pub fn control(folder: &Scratch) -> PathBuf {
    let library = folder.path("control.so");
    link(&["-fPIC"], &workspace().join("tests/interop/control.c"), &library);
    library
}

fn link(arguments: &[&str], file: &Path, library: &Path) {
    let mut command = Command::new("cc");
    command.arg("-shared").args(arguments).arg(file).arg("-o").arg(library).arg("-lm");
    let output = command.output().expect("cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
