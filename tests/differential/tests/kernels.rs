//! The example kernels, the corpus and the digits on every backend present.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use chipdock_differential::{backends, host, plugins};
use chipdock_host::{Host, HostOptions, Module, PluginState};
use chipdock_ir::interpret::{Arg, Array, Interpreter, Limits, compare};
use chipdock_ir::{Child, ForKind, IrModule, Param, PrimFunc, StmtKind};
use chipdock_xtask::runner::backends::Backend;
use chipdock_xtask::runner::cases::{self, CASES};
use chipdock_xtask::runner::{digits, run};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn example_kernels_agree_with_the_interpreter() {
    let host = host();
    for backend in backends(&host) {
        for case in CASES {
            let judged = run::judge(&host, &backend, case, &examples().join("kernels"));
            judged.unwrap_or_else(|error| panic!("{} on {}: {error}", case.name(), backend.target.kind));
        }
    }
}

#[test]
fn digits_are_read() {
    let host = host();
    for backend in backends(&host) {
        let reading = digits::read(&host, &backend, &examples().join("digits")).expect("the pipeline runs");
        assert!(reading.accuracy() >= reading.accuracy_min, "{reading:?}");
        assert_eq!(reading.n_images, 450);
    }
}

/// Host memory is always there: a plugin's `device_api.cpu` only takes the place of the host's own.
#[test]
fn kernels_run_without_a_plugin_for_host_memory() {
    let options = HostOptions {
        plugin_paths: vec![plugins().to_owned()],
        disable: vec!["cpu-llvm".to_owned()],
        ..HostOptions::isolated()
    };
    let host = Host::new(options).expect("a host");
    let open = |name: &str| {
        host.plugins().iter().any(|plugin| plugin.name == name && plugin.state == PluginState::Opened)
    };
    for backend in backends(&host) {
        let judged = run::judge(&host, &backend, &CASES[0], &examples().join("kernels"));
        judged.unwrap_or_else(|error| panic!("on {}: {error}", backend.target.kind));
    }
    assert!(open("c") && !open("cpu-llvm"));
}

/// Loops bound to threads need a GPU; what they do there is another test's.
fn is_for_host(function: &PrimFunc) -> bool {
    let mut bound = false;
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            bound |= matches!(&stmt.kind, StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
                || matches!(&stmt.kind, StmtKind::LaunchThread { .. });
        }
    });
    !bound
}

/// Small enough for the interpreter: at most this many elements in any buffer.
const ELEMENTS_MAX: i64 = 1 << 15;

fn arguments(function: &PrimFunc) -> Option<Vec<Arg>> {
    let symbols =
        ["n", "m", "k", "d"].iter().zip([37, 12, 9, 21]).map(|(name, size)| ((*name).to_owned(), size));
    let symbols = symbols.collect();
    for param in &function.params {
        if let Param::Buffer(buffer) = param {
            let size: i64 = cases::shape(buffer, &symbols).ok()?.iter().product();
            if size > ELEMENTS_MAX || !buffer.strides.is_empty() || buffer.elem_offset.is_some() {
                return None;
            }
        }
    }
    cases::arguments(function, &symbols).ok()
}

/// What a host's target refuses of the corpus, and the words that say why.
const REFUSED: &[(&str, &str)] = &[
    ("construct/blocks.py", "shared"),
    ("construct/memory.py", "shared"),
    ("construct/intrinsics.py", "the C function `fill`"),
    ("construct/views.py", "the C function `tile`"),
];

#[test]
fn corpus_agrees_with_the_interpreter() {
    let host = host();
    let (mut n_run, mut refused) = (0, Vec::<String>::new());
    for file in chipdock_filetests::corpus().expect("the corpus") {
        // The examples have a test of their own above.
        if file.name.starts_with("kernels/") || file.name.starts_with("digits/") {
            continue;
        }
        let module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
        let functions: Vec<PrimFunc> = module.functions.iter().filter(|f| is_for_host(f)).cloned().collect();
        let kept = IrModule { functions, attrs: module.attrs.clone() };
        if !kept.functions.iter().any(|function| arguments(function).is_some()) {
            continue;
        }
        for backend in backends(&host) {
            match run::build(&host, &backend, &kept) {
                Ok(loaded) => n_run += agree(&file.name, &kept, &backend, &loaded),
                Err(error) => refused.push(format!("{} on {}: {error}", file.name, backend.target.kind)),
            }
        }
    }
    let expected =
        |error: &String| REFUSED.iter().any(|(name, why)| error.starts_with(name) && error.contains(why));
    assert!(refused.iter().all(expected), "{}", refused.join("\n"));
    assert!(n_run >= 25, "only {n_run} functions of the corpus ran");
}

/// Runs every function of a module on both; returns how many.
fn agree(file: &str, module: &IrModule, backend: &Backend, loaded: &Module) -> usize {
    let mut n_run = 0;
    for function in &module.functions {
        let Some(inputs) = arguments(function) else { continue };
        // What the interpreter refuses (an index out of bounds, say) no backend is asked for.
        let limits = Limits { steps_max: 2_000_000, ..Limits::default() };
        let interpreter = Interpreter::new(module).with_bounds().with_limits(limits);
        let Ok(outcome) = interpreter.run(&function.name, &mut inputs.clone()) else { continue };
        let context = format!("{file}:{} on {}", function.name, backend.target.kind);
        let callable = loaded.function(&function.name).unwrap_or_else(|error| panic!("{context}: {error}"));
        let values = run::upload(backend, &inputs).expect("uploaded");
        run::call(&callable, &values).unwrap_or_else(|error| panic!("{context}: {error}"));
        for output in &outcome.outputs {
            let run::Value::Tensor(tensor) = &values[output.parameter] else { continue };
            let data = tensor.to_bytes().expect("read back");
            let found = Array { dtype: output.array.dtype, shape: output.array.shape.clone(), data };
            compare(&found, output).unwrap_or_else(|error| panic!("{context}: {}: {error}", output.name));
        }
        n_run += 1;
    }
    n_run
}
