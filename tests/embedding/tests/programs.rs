//! The library in programs in C and C++, which have no libtvm_ffi.

use std::collections::BTreeSet;
use std::process::Command;

use chipdock_test_embedding::{callbacks, compile, program, run};
use chipdock_test_support::command::{Scratch, built, kernels};
use chipdock_test_support::workspace;

/// Targets with a device that the machine of the tests has.
const TARGETS: &[(&str, &str)] =
    &[("c", "cpu:0"), ("llvm", "cpu:0"), ("opencl", "opencl:0"), ("vulkan", "vulkan:0")];

/// The examples compile a kernel and run it on each device; what is wrong they report with kind and
/// reason.
#[test]
fn the_examples_run_a_kernel_on_every_device() {
    let folder = Scratch::new();
    let kernel = kernels().join("vector_add.py");
    let examples = [("cc", "c99", "embed-c/main.c"), ("c++", "c++11", "embed-cpp/main.cpp")];
    for (compiler, standard, source) in examples {
        let program = program(&folder, compiler, standard, &workspace().join("examples").join(source));
        for (target, device) in TARGETS {
            let output = run(Command::new(&program).arg(&kernel).args([target, device]));
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(
                (out.as_ref(), output.status.code()),
                ("11 22 33 \n", Some(0)),
                "{source} {target}: {err}"
            );
        }
        for (words, status, said) in [
            (&["nonsense"][..], 1, "ValueError: target kind \"nonsense\" is not known"),
            (&["c", "npu"], 1, "Unavailable: "),
        ] {
            let output = run(Command::new(&program).arg(&kernel).args(words));
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{source} {words:?}: {err}");
            assert!(err.contains(said), "{source} {words:?}: {err}");
        }
        assert_eq!(run(&mut Command::new(&program)).status.code(), Some(2), "{source} without a kernel");
    }
}

/// FFI-3, FFI-4, FFI-5, FFI-7 and FFI-8 without TVM-FFI.
#[test]
fn a_program_has_what_the_header_promises() {
    let folder = Scratch::new();
    let plugin = callbacks(&folder);
    for standard in ["c++11", "c++20"] {
        let source = workspace().join("tests/embedding/program.cpp");
        let program = program(&folder, "c++", standard, &source);
        for (target, device) in TARGETS {
            let mut command = Command::new(&program);
            command.arg(kernels().join("vector_add.py")).arg(&plugin).arg(folder.path("."));
            let output = run(command.args([target, device]));
            let (out, err) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(
                (out.as_ref(), output.status.code()),
                ("as promised\n", Some(0)),
                "{standard} {target}: {err}"
            );
        }
    }
}

/// PROGRAM-F1, COMPOSE-I1 and C.41 from C.
#[test]
fn a_program_in_c_brings_functions_and_composes_modules() {
    let folder = Scratch::new();
    let program = program(&folder, "cc", "c99", &workspace().join("tests/embedding/hooks.c"));
    let output = run(Command::new(&program).arg(kernels().join("vector_add.py")));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((out.as_ref(), output.status.code()), ("as promised\n", Some(0)), "{err}");
}

fn symbols() -> BTreeSet<String> {
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(built().library()).output().expect("nm");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

/// FFI-1: the header declares every function of the library, and the library exports nothing else,
/// and nothing of TVM-FFI's.
#[test]
fn the_header_declares_what_the_library_exports() {
    let symbols = symbols();
    let names: BTreeSet<&str> = symbols
        .iter()
        .filter_map(|symbol| symbol.strip_prefix("__tvm_ffi_"))
        .filter(|name| !name.starts_with('_'))
        .collect();
    let header =
        std::fs::read_to_string(workspace().join("host/ffi/include/chipdock_host.h")).expect("the header");
    let declared: BTreeSet<&str> = header
        .split("F(")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|name| *name != "F")
        .collect();
    assert_eq!(declared, names);
    let helpers = ["str", "bytes", "take_error", "raise", "retain", "release", "function"]
        .map(|name| format!("chipdock_{name}"));
    for symbol in &symbols {
        let is_described =
            symbol.strip_prefix("__tvm_ffi__metadata_").or(symbol.strip_prefix("__tvm_ffi__doc_"));
        let is_known =
            symbol.strip_prefix("__tvm_ffi_").or(is_described).is_some_and(|name| names.contains(name));
        let is_ours =
            is_known || is_described.is_some_and(|name| names.contains(name)) || helpers.contains(symbol);
        assert!(is_ours, "the library exports {symbol}");
    }
    for helper in &helpers {
        assert!(symbols.contains(helper) && header.contains(&format!("{helper}(")), "{helper}");
    }
}

/// The library needs the C library alone, and stays loaded.
#[test]
fn the_library_needs_the_c_library_alone() {
    let output = Command::new("readelf").args(["-d", "-W"]).arg(built().library()).output().expect("readelf");
    let text = String::from_utf8_lossy(&output.stdout);
    let needed: Vec<&str> = text.lines().filter(|line| line.contains("(NEEDED)")).collect();
    let known = ["libc.so", "libm.so", "libgcc_s.so", "libdl.so", "libpthread.so", "ld-linux"];
    for line in &needed {
        assert!(known.iter().any(|name| line.contains(name)), "{line}");
    }
    assert!(!needed.is_empty() && text.contains("NODELETE"), "{text}");
}

/// The header is C99 and C++11, and may be included before and after DLPack's and twice.
#[test]
fn the_header_is_plain() {
    let folder = Scratch::new();
    let source = folder.path("twice.c");
    std::fs::write(
        &source,
        "#include <chipdock_host.h>\n#include <chipdock_host.h>\nint main(void) { return 0; }\n",
    )
    .expect("written");
    compile("cc", &["-std=c99", "-c", "-Wshadow", "-Wstrict-prototypes"], &source, &folder.path("twice.o"));
    let in_cpp = folder.path("twice.cpp");
    std::fs::copy(&source, &in_cpp).expect("copied");
    for standard in ["c++11", "c++23"] {
        let standard = format!("-std={standard}");
        compile("c++", &[&standard, "-c", "-Wshadow"], &in_cpp, &folder.path("twice.o"));
    }
}
