//! Tests of `examples/codegen-c`: a target kind, a code generator and a loader in C alone, compiled
//! here, opened as a user's plugin, and compared with the interpreter.
//! `host/conformance/tests/in_tree.rs` runs the suite's cases for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs};
use chipdock_host::{CompileOptions, Host, HostOptions};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::CASES;
use chipdock_test_backends::{backends_left, host_with, run};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::{plugins, sample, workspace};

const KIND: &str = "template_c";

/// A run takes one example in so many.
const SHARE: usize = 5;

/// Examples that use float16, which this target does not support.
const REFUSED: &[&str] = &["cast_f16"];

/// The example in a folder of its own, and a host that has it beside the plugins of this
/// repository.
fn example() -> (Scratch, Host, Backend) {
    let scratch = Scratch::new();
    let (folder, library) = (scratch.path("plugins"), scratch.path("plugins/codegen.so"));
    fs::create_dir(&folder).expect("a folder");
    let template = format!("-I{}", workspace().join("examples/plugin-template-c").display());
    let source = workspace().join("examples/codegen-c/plugin.c");
    plugins::compile(&["gcc", "-std=c99", template.as_str(), "-Wl,--no-as-needed", "-lm"], &source, &library);
    let described = generation::generate(&library, &Needs::default()).expect("a manifest");
    let manifest = manifest::manifest_path(&library);
    fs::write(&manifest, described.to_text().expect("its text")).expect("written");
    // A plugin that others may write is refused.
    for path in [&folder, &library, &manifest] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    let host = host_with(|mut options: HostOptions| {
        options.plugin_paths.push(folder);
        options
    });
    let found = backends_left(&host).0.into_iter().find(|backend| backend.target.kind == KIND);
    let backend = found.expect("the example can be used");
    (scratch, host, backend)
}

fn kernels() -> PathBuf {
    workspace().join("examples/kernels")
}

#[test]
fn kernels_of_the_example_in_c_agree_with_the_interpreter() {
    let (_scratch, host, backend) = example();
    let (mut n_agreed, mut n_refused) = (0, 0);
    let drawn = sample::draw("examples on the code generator in C", SHARE, CASES.iter().collect(), |case| {
        case.name.to_owned()
    });
    for case in &drawn {
        match run::judge(&host, &backend, case, &kernels()) {
            Ok(_) => n_agreed += 1,
            Err(why) => {
                assert!(REFUSED.contains(&case.function) && why.contains("float16"), "{}: {why}", case.name);
                n_refused += 1;
            }
        }
    }
    assert_eq!(n_refused, drawn.iter().filter(|case| REFUSED.contains(&case.function)).count());
    assert!(n_agreed > 0 || n_refused == drawn.len());
}

/// The example refuses constructs that it cannot build by kind, function and node, all in one
/// report.
#[test]
fn the_example_in_c_names_refused_constructs() {
    let (_scratch, host, backend) = example();
    let text = "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((8,), \"float16\"), B: \
                T.Buffer((8,), \"int32\")):\n        for i in range(8):\n            B[i] = \
                T.call_extern(\"int32\", \"nobody\", T.Cast(\"int32\", A[i]))\n";
    let module = chipdock_script::parse(text, "f.py").unwrap_or_else(|errors| panic!("{errors}"));
    let error = host
        .compile(&module, &backend.target, &CompileOptions::default())
        .map(drop)
        .expect_err("float16 and a C function");
    assert_eq!(error.kind().as_str(), "Unsupported", "{error:?}");
    let said = format!("{:?}", error.diagnostics());
    for part in ["f_kernel", "float16", "CallExtern"] {
        assert!(said.contains(part), "expected {part} in {said}");
    }
}
