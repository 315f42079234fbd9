//! Generated programs on every backend present: integers exactly, floats within the interpreter's bound.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use chipdock_differential::{backends, host};
use chipdock_ir::interpret::{Arg, Array};
use chipdock_test_programs::{Case, Failure, Options, Trial};
use chipdock_xtask::runner::backends::Backend;
use chipdock_xtask::runner::run;

/// Programs per backend; each starts a compiler, so that a few dozen are what half a minute allows.
const PROGRAMS: u64 = 64;

/// What a backend has to take: a refusal fails. What none can take is left out, with the reason.
fn options() -> Options {
    Options::default()
}

fn check(host: &chipdock_host::Host, backend: &Backend, case: &Case) -> Result<(), Failure> {
    let kind = &backend.target.kind;
    let failed = |what: &str, error: String| Failure::new(format!("{kind} {what}"), error);
    let module = run::build(host, backend, &case.module).map_err(|error| failed("build", error))?;
    let callable = module.function(&case.function).map_err(|error| failed("function", error.to_string()))?;
    let values = run::upload(backend, &case.args).map_err(|error| failed("upload", error))?;
    run::call(&callable, &values).map_err(|error| failed("call", error))?;
    let mut found = Vec::new();
    for (value, arg) in values.iter().zip(&case.args) {
        if let (run::Value::Tensor(tensor), Arg::Tensor(array)) = (value, arg) {
            let data = tensor.to_bytes().map_err(|error| failed("download", error.to_string()))?;
            found.push(Array { dtype: array.dtype, shape: array.shape.clone(), data });
        }
    }
    case.check(&found).map(drop).map_err(|error| failed("result", error))
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let host = host();
    for backend in backends(&host) {
        Trial::new("random_programs_agree_with_the_interpreter", env!("CARGO_TARGET_TMPDIR"))
            .options(options())
            .programs(PROGRAMS)
            .candidates_max(400)
            .run(|case| check(&host, &backend, case));
    }
}

/// Kernels that a pass or a code generator once got wrong, as they were reduced.
#[test]
fn what_once_was_wrong_is_right_on_every_backend() {
    let host = host();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/regressions");
    let mut n_kernels = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let module = chipdock_script::parse(&text, &path.to_string_lossy()).expect("it is a kernel");
        let case = Case::of(module, "kernel").expect("it has arguments");
        for backend in backends(&host) {
            if let Err(failure) = check(&host, &backend, &case) {
                panic!("{}: {}\n{}", path.display(), failure.what, failure.details);
            }
        }
        n_kernels += 1;
    }
    assert!(n_kernels > 0);
}
