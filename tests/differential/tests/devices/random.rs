//! Runs generated programs, with threads of their own and without, on every device backend.
//!
//! A run takes some; a whole one ([`sample`]) takes more, and checks how many ran and how many were
//! refused, by reason, on targets that may refuse programs, numbers which `BLESS=1` writes.

use std::collections::BTreeMap;

use chipdock_host::Host;
use chipdock_ir::Op;
use chipdock_programs::{Case, Failure, Options, ProgramCheck};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host, on_each_device, outputs};
use chipdock_test_support::sample;

/// A driver starts a compiler for each program: this many take about twenty seconds on six targets.
const PROGRAMS: u64 = 12;
/// Programs of a whole run: on the target that refuses most, more than 200 of both kinds run.
const PROGRAMS_IN_ALL: u64 = 300;

/// Returns the options of programs that a device's target must take; a refusal is a failure. Only
/// hosts call C functions by name.
fn options(backend: &Backend, threads: bool) -> Options {
    let execution = &backend.capabilities.execution;
    let size = execution.warp_size.filter(|_| execution.has_native(Op::WarpShuffle));
    let warps = size.and_then(|size| u8::try_from(size).ok()).filter(|size| [4, 8, 16, 32].contains(size));
    Options { externs: false, warps, threads, ..Options::default() }
}

/// Runs programs on each device; those that its target may refuse are counted, by reason.
fn run_programs(name: &str, list: &str, threads: bool) {
    let is_whole = sample::is_whole_run();
    let sort = if threads { "bound to threads" } else { "scheduled by default" };
    let host = host();
    on_each_device(&host, |backend| {
        let what = format!("random programs {sort}, on {}", backend.name());
        let mut counts = BTreeMap::new();
        ProgramCheck::new(name, env!("CARGO_TARGET_TMPDIR"))
            .options(options(backend, threads))
            .seeds(sample::numbers(&what, PROGRAMS, PROGRAMS_IN_ALL))
            .candidates_max(300)
            .run(|case| {
                let refusal = check(&host, backend, case)?;
                let what =
                    refusal.map_or("as the interpreter".to_owned(), |words| format!("refused: {words}"));
                *counts.entry(what).or_insert(0_u64) += 1;
                Ok(())
            });
        let lines: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        println!("{}: {lines:?}", backend.name());
        if is_whole {
            backend.check_list(list, lines).unwrap_or_else(|error| panic!("{error}"));
        }
    });
}

/// Checks a program against the interpreter; returns why the target refuses it, if it may.
fn check<'a>(host: &Host, backend: &'a Backend, case: &Case) -> Result<Option<&'a str>, Failure> {
    let failed = |what: &str, error: String| Failure::new(format!("{} {what}", backend.target.kind), error);
    let expected = case.expected().map_err(|error| Failure::new("interpreter", error))?.outputs;
    let module = match run::build(host, backend, &case.module) {
        Ok(module) => module,
        Err(error) => return backend.refusal(&error).map(Some).ok_or_else(|| failed("build", error)),
    };
    let function = module.function(&case.function).map_err(|error| failed("function", error.to_string()))?;
    let found = outputs(backend, &function, &case.args).map_err(|error| failed("call", error))?;
    hold(&expected, &found).map_err(|error| failed("result", error))?;
    Ok(None)
}

#[test]
fn random_programs_bound_to_threads_agree_with_the_interpreter() {
    run_programs("random_programs_bound_to_threads_agree_with_the_interpreter", "random-threads", true);
}

#[test]
fn random_programs_scheduled_by_default_agree_with_the_interpreter() {
    run_programs("random_programs_scheduled_by_default_agree_with_the_interpreter", "random", false);
}

/// Kernels that a pass or a code generator once got wrong, as they were reduced.
#[test]
fn reduced_kernels_of_past_bugs_agree_on_devices() {
    let host = host();
    let folder = chipdock_test_support::workspace().join("host/conformance/programs/regressions");
    on_each_device(&host, |backend| {
        let (mut n_kernels, mut wrong) = (0, Vec::new());
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("it can be listed").path();
            let text = std::fs::read_to_string(&path).expect("it can be read");
            let module = chipdock_script::parse(&text, &path.to_string_lossy()).expect("it is a kernel");
            let case = Case::from_module(module, "kernel").expect("it has arguments");
            if let Err(failure) = check(&host, backend, &case) {
                wrong.push(format!("{}: {}\n{}", path.display(), failure.what, failure.details));
            }
            n_kernels += 1;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(n_kernels > 0);
    });
}
