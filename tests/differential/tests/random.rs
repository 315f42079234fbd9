//! Runs generated programs on every backend for host memory present: integers exactly, floats
//! within the interpreter's bound, and the backends against each other.

use std::ops::Range;

use chipdock_host::Host;
use chipdock_interpret::Array;
use chipdock_programs::{Case, Failure, Options, ProgramCheck};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, hold_alike, host, hosts, in_process, outputs};
use chipdock_test_support::sample;

/// Programs for all backends; where a backend starts a compiler, a few dozen are what half a minute
/// allows.
const PROGRAMS: u64 = 32;
/// Programs for a backend that compiles within this process.
const PROGRAMS_IN_PROCESS: u64 = 128;
/// A whole run ([`sample`]) takes so many times as many.
const WHOLE: u64 = 2;

/// Seeds of that many programs, or in a whole run of more.
fn seeds(what: &str, programs: u64) -> Range<u64> {
    sample::numbers(what, programs, programs * WHOLE)
}

/// Returns the options of programs that a backend must take; a refusal is a failure. Constructs
/// that no backend takes are left out, with the reason.
fn options() -> Options {
    Options::default()
}

/// Compiles and runs a case on a backend.
fn ran(host: &Host, backend: &Backend, case: &Case) -> Result<Vec<Array>, Failure> {
    let kind = &backend.target.kind;
    let failed = |what: &str, error: String| Failure::new(format!("{kind} {what}"), error);
    let module = run::build(host, backend, &case.module).map_err(|error| failed("build", error))?;
    let callable = module.function(&case.function).map_err(|error| failed("function", error.to_string()))?;
    outputs(backend, &callable, &case.args).map_err(|error| failed("call", error))
}

/// Checks a case on each of these backends against the interpreter, and against the first of them.
fn check(host: &Host, backends: &[Backend], case: &Case) -> Result<(), Failure> {
    let expected = case.expected().map_err(|error| Failure::new("interpreter", error))?.outputs;
    let mut first: Option<(&str, Vec<Array>)> = None;
    for backend in backends {
        let kind = backend.target.kind.as_str();
        let found = ran(host, backend, case)?;
        hold(&expected, &found).map_err(|error| Failure::new(format!("{kind} result"), error))?;
        match &first {
            None => first = Some((kind, found)),
            Some((other, theirs)) => hold_alike(&expected, theirs, &found)
                .map_err(|error| Failure::new(format!("{other} and {kind} differ"), error))?,
        }
    }
    Ok(())
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let host = host();
    let backends = hosts(&host);
    ProgramCheck::new("random_programs_agree_with_the_interpreter", env!("CARGO_TARGET_TMPDIR"))
        .options(options())
        .seeds(seeds("random programs on hosts", PROGRAMS))
        .candidates_max(400)
        .run(|case| check(&host, &backends, case));
}

#[test]
fn many_random_programs_agree_where_that_is_quick() {
    let host = host();
    let mut backends = in_process(&host);
    backends.retain(Backend::is_host);
    ProgramCheck::new("many_random_programs_agree_where_that_is_quick", env!("CARGO_TARGET_TMPDIR"))
        .options(options())
        .seeds(if backends.is_empty() {
            0..0
        } else {
            seeds("random programs on hosts that compile in process", PROGRAMS_IN_PROCESS)
        })
        .candidates_max(2000)
        .run(|case| check(&host, &backends, case));
}

/// Kernels that a pass or a code generator once got wrong, as they were reduced.
#[test]
fn reduced_kernels_of_past_bugs_agree_on_every_backend() {
    let host = host();
    let backends = hosts(&host);
    let folder = chipdock_test_support::workspace().join("host/conformance/programs/regressions");
    let (mut n_kernels, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let module = chipdock_script::parse(&text, &path.to_string_lossy()).expect("it is a kernel");
        let case = Case::from_module(module, "kernel").expect("it has arguments");
        if let Err(failure) = check(&host, &backends, &case) {
            wrong.push(format!("{}: {}\n{}", path.display(), failure.what, failure.details));
        }
        n_kernels += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_kernels > 0);
}
