//! Runs generated programs, with threads of their own and without, on every device backend.

use chipdock_host::Host;
use chipdock_ir::Op;
use chipdock_programs::{Case, Failure, Options, Trial};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host, on_each_device, outputs};

/// A driver starts a compiler for each program: this many take about a minute.
const PROGRAMS: u64 = 48;

/// Returns the options of programs that a device's target must take; a refusal is a failure. Only hosts call C functions by
/// name.
fn options(backend: &Backend, threads: bool) -> Options {
    let has_warps = backend.capabilities.execution.has_native(Op::WarpShuffle)
        && backend.capabilities.execution.warp_size == Some(32);
    Options { externs: false, warps: has_warps, threads, ..Options::default() }
}

fn check(host: &Host, backend: &Backend, case: &Case) -> Result<(), Failure> {
    let failed = |what: &str, error: String| Failure::new(format!("{} {what}", backend.target.kind), error);
    let expected = case.expected().map_err(|error| Failure::new("interpreter", error))?.outputs;
    let module = match run::build(host, backend, &case.module) {
        Err(error) if backend.may_refuse(&error) => return Ok(()),
        built => built.map_err(|error| failed("build", error))?,
    };
    let function = module.function(&case.function).map_err(|error| failed("function", error.to_string()))?;
    let found = outputs(backend, &function, &case.args).map_err(|error| failed("call", error))?;
    hold(&expected, &found).map_err(|error| failed("result", error))
}

#[test]
fn random_programs_bound_to_threads_agree_with_the_interpreter() {
    let host = host();
    on_each_device(&host, |backend| {
        let name = "random_programs_bound_to_threads_agree_with_the_interpreter";
        Trial::new(name, env!("CARGO_TARGET_TMPDIR"))
            .options(options(backend, true))
            .programs(PROGRAMS)
            .candidates_max(300)
            .run(|case| check(&host, backend, case));
    });
}

#[test]
fn random_programs_scheduled_by_default_agree_with_the_interpreter() {
    let host = host();
    on_each_device(&host, |backend| {
        let name = "random_programs_scheduled_by_default_agree_with_the_interpreter";
        Trial::new(name, env!("CARGO_TARGET_TMPDIR"))
            .options(options(backend, false))
            .programs(PROGRAMS)
            .candidates_max(300)
            .run(|case| check(&host, backend, case));
    });
}

/// Kernels that a pass or a code generator once got wrong, as they were reduced.
#[test]
fn what_once_was_wrong_is_right_on_devices() {
    let host = host();
    let folder = chipdock_test_support::workspace().join("host/conformance/programs/regressions");
    on_each_device(&host, |backend| {
        let (mut n_kernels, mut wrong) = (0, Vec::new());
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let module = chipdock_script::parse(&text, &path.to_string_lossy()).expect("it is a kernel");
            let case = Case::of(module, "kernel").expect("it has arguments");
            if let Err(failure) = check(&host, backend, &case) {
                wrong.push(format!("{}: {}\n{}", path.display(), failure.what, failure.details));
            }
            n_kernels += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(n_kernels > 0);
    });
}
