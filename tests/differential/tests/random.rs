//! Random well-formed programs on every backend present: integers exactly, floats within the interpreter's bound.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use chipdock_differential::{backends, host};
use chipdock_ir::interpret::{Arg, Array};
use chipdock_test_programs::{Case, program};
use chipdock_xtask::runner::backends::Backend;
use chipdock_xtask::runner::run;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Programs per backend; each starts a compiler, so that a few dozen are what a minute allows.
const CASES: u32 = 64;

fn check(host: &chipdock_host::Host, backend: &Backend, case: &Case) -> Result<(), String> {
    let callable =
        run::build(host, backend, &case.module)?.function(&case.function).map_err(|e| e.to_string())?;
    let values = run::upload(backend, &case.args)?;
    run::call(&callable, &values)?;
    let mut found = Vec::new();
    for (value, arg) in values.iter().zip(&case.args) {
        if let (run::Value::Tensor(tensor), Arg::Tensor(array)) = (value, arg) {
            let data = tensor.to_bytes().map_err(|error| error.to_string())?;
            found.push(Array { dtype: array.dtype, shape: array.shape.clone(), data });
        }
    }
    case.check(&found)
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let host = host();
    for backend in backends(&host) {
        let config =
            Config { cases: CASES, max_shrink_iters: 64, failure_persistence: None, ..Config::default() };
        let result = TestRunner::new(config).run(&program(), |case| {
            check(&host, &backend, &case).map_err(|error| {
                TestCaseError::fail(format!("on {}: {error}\n{}", backend.target.kind, case.text()))
            })
        });
        result.unwrap_or_else(|failure| panic!("{failure}"));
    }
}
