//! Compiles `chipdock.h` together with other headers: DLPack's own in either order, and macros that
//! system headers define (P2.1); with gcc and clang, for this machine and for aarch64.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiler and standards, of C or of C++. The one for aarch64 has no library of C: none is needed.
const COMPILERS: &[(&str, &str, &[&str], &[&str])] = &[
    ("c", "gcc", &["-std=c99", "-std=c11"], &[]),
    ("c", "clang-19", &["-std=c99", "-std=c11"], &[]),
    ("c", "aarch64-linux-gnu-gcc", &["-std=c99", "-std=c11"], &["-ffreestanding"]),
    ("cc", "g++", &["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"], &[]),
    ("cc", "clang++-19", &["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20"], &[]),
];

/// Macros that `<windows.h>` and macOS' `AssertMacros.h` define.
const MACROS: &str = "#define interface struct\n#define check(assertion) ((void)(assertion), no_such_name)\n";

/// A plugin that calls what the header declares.
const PLUGIN: &str = "
static int32_t start(const ChipdockHost *host, const ChipdockRegistrar *registrar, void **out_instance) {
  ChipdockInterface none = {NULL, NULL, 0, 0};
  ChipdockStr name = CHIPDOCK_STR(\"x\");
  ChipdockDeleter deleter = NULL;
  (void)host;
  *out_instance = NULL;
  return registrar->extend(registrar->self_, name, name, 1, &none, deleter);
}
static int32_t stop(void *instance) {
  (void)instance;
  return CHIPDOCK_OK;
}
static void end(void *instance) {
  (void)instance;
}
int32_t asks(const ChipdockModuleLoader *loader, void *self_, const ChipdockArtifact *artifact, ChipdockDevice device);
int32_t asks(const ChipdockModuleLoader *loader, void *self_, const ChipdockArtifact *artifact, ChipdockDevice device) {
  int32_t verdict = 0;
  return loader->verdict(self_, artifact, device, &verdict, NULL);
}
static const ChipdockPlugin plugin = CHIPDOCK_PLUGIN(\"empty\", \"1.0.0\", \"\", start, stop, end);
const ChipdockPlugin *chipdock_plugin_v1(void) { return &plugin; }
";

/// Ours and DLPack's, and the fields of both.
const SAME: &[(&str, &str, &[&str])] = &[
    ("ChipdockDevice", "DLDevice", &["device_type", "device_id"]),
    ("ChipdockDataType", "DLDataType", &["code", "bits", "lanes"]),
    ("ChipdockTensor", "DLTensor", &["data", "device", "ndim", "dtype", "shape", "strides", "byte_offset"]),
    ("ChipdockManagedTensor", "DLManagedTensor", &["dl_tensor", "manager_ctx", "deleter"]),
    (
        "ChipdockManagedTensorVersioned",
        "DLManagedTensorVersioned",
        &["version", "manager_ctx", "deleter", "flags", "dl_tensor"],
    ),
];

fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin-api/abi/include")
}

/// The folder of `dlpack/dlpack.h`, of the wheel of tvm-ffi; none where there is no such Python.
fn dlpack_folder() -> Option<PathBuf> {
    let python = std::env::var_os("CHIPDOCK_TVM_PYTHON")?;
    let find = "import importlib.util as u; print(u.find_spec('tvm_ffi').submodule_search_locations[0])";
    let output = Command::new(python).args(["-c", find]).output().expect("Python starts");
    let folder = String::from_utf8(output.stdout).expect("a path");
    let folder = Path::new(folder.trim()).join("include");
    assert!(
        folder.join("dlpack/dlpack.h").exists(),
        "{}: the wheel of tvm-ffi has dlpack.h",
        folder.display()
    );
    Some(folder)
}

/// Returns C code that asserts equal layouts, so that a cast is right.
fn layouts_are_alike() -> String {
    let mut text = String::new();
    for (ours, theirs, fields) in SAME {
        let alike = |what: &str| format!("{what}({ours}) == {what}({theirs})");
        let offsets =
            fields.iter().map(|field| format!("offsetof({ours}, {field}) == offsetof({theirs}, {field})"));
        let all: Vec<String> = std::iter::once(alike("sizeof")).chain(offsets).collect();
        writeln!(text, "typedef char {ours}_is_{theirs}[({}) ? 1 : -1];", all.join(" && ")).expect("written");
    }
    text
}

/// Compiles a source by all; each that refuses it is named.
fn compiles(source: &str, dlpack: Option<&Path>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (extension, compiler, standards, more) in COMPILERS {
        let file = folder.path().join(format!("plugin.{extension}"));
        fs::write(&file, source).expect("written");
        for standard in *standards {
            let mut command = Command::new(compiler);
            command.args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]);
            command.args(*more).arg("-I").arg(include_folder());
            if let Some(dlpack) = dlpack {
                command.arg("-isystem").arg(dlpack);
            }
            let output = match command.arg(&file).output() {
                Ok(output) => output,
                Err(error) => {
                    chipdock_test_support::setup::missing(&format!("chipdock.h by {compiler}: {error}"));
                    break;
                }
            };
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{compiler} {standard}:\n{text}\n{source}");
        }
    }
}

#[test]
fn p2_1_the_header_compiles_alone() {
    compiles(&format!("#include <chipdock.h>\n{PLUGIN}"), None);
}

#[test]
fn p2_1_macros_of_systems_do_no_harm() {
    compiles(&format!("{MACROS}#include <chipdock.h>\n{PLUGIN}"), None);
}

#[test]
fn p2_1_dlpack_may_come_before_or_after() {
    let Some(dlpack) = dlpack_folder() else {
        chipdock_test_support::skipped("chipdock.h beside dlpack.h: CHIPDOCK_TVM_PYTHON is not set");
        return;
    };
    let (ours, theirs) = ("#include <chipdock.h>\n", "#include <dlpack/dlpack.h>\n");
    for includes in [format!("{ours}{theirs}"), format!("{theirs}{ours}")] {
        compiles(&format!("{includes}{}{PLUGIN}", layouts_are_alike()), Some(&dlpack));
    }
}
