//! Random programs for several targets in one module: each function names its own target, and
//! computes there what the interpreter does (COMPILE-C6, COMPILE-C7).

use std::sync::Arc;

use chipdock_host::Host;
use chipdock_ir::{AttrValue, IrModule, attr};
use chipdock_programs::{Case, Options, arbitrary};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::{backends, hold, host, outputs, run};
use chipdock_test_support::sample;

/// Modules of a run, each with a program for every target here.
const MODULES: u64 = 2;
/// Modules of a whole run.
const MODULES_IN_ALL: u64 = 40;

/// A program for a target: a function of a joined module.
struct JoinedFunction<'a> {
    backend: &'a Backend,
    case: Case,
    name: String,
}

/// Programs that are drawn for a target before its turn counts as empty.
const DRAWS: u64 = 64;

/// The programs of one seed, one for each target: the first of those drawn for it that has one
/// function and that the target does not refuse.
fn parts<'a>(host: &Host, backends: &'a [Backend], seed: u64) -> Vec<JoinedFunction<'a>> {
    let options = Options { externs: false, ..Options::default() };
    let is_taken = |backend: &Backend, case: &Case| {
        case.module.functions.len() == 1
            && match run::build(host, backend, &case.module) {
                Ok(_) => true,
                Err(why) if backend.may_refuse(&why) => false,
                Err(why) => panic!("seed {seed}, {}: {why}\n{}", backend.name(), case.text()),
            }
    };
    let n_backends = backends.len() as u64;
    let drawn = (0..).zip(backends).map(|(at, backend)| {
        let first = (seed * n_backends + at) * DRAWS;
        let mut cases = (first..first + DRAWS).map(|number| arbitrary(number, &options));
        let case = cases.find(|case| is_taken(backend, case));
        let case = case.unwrap_or_else(|| panic!("seed {seed}: {} takes none", backend.name()));
        JoinedFunction { backend, case, name: format!("f{at}") }
    });
    drawn.collect()
}

/// One module of all programs, each function with the target that it is for.
fn joined(parts: &[JoinedFunction<'_>]) -> IrModule {
    let functions = parts.iter().flat_map(|part| {
        part.case.module.functions.iter().map(|function| {
            let mut function = function.clone();
            function.name = part.name.as_str().into();
            let target = AttrValue::Target(Arc::clone(&part.backend.target));
            function.attrs.insert(attr::TARGET.into(), target);
            function
        })
    });
    IrModule { functions: functions.collect(), ..IrModule::default() }
}

#[test]
fn random_programs_for_several_targets_in_one_module() {
    let host = host();
    let backends = backends(&host);
    let (mut n_modules, mut n_calls) = (0, 0);
    for seed in sample::numbers("modules of random programs for several targets", MODULES, MODULES_IN_ALL) {
        let parts = parts(&host, &backends, seed);
        let module = run::build(&host, &backends[0], &joined(&parts));
        let module = module.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        n_modules += 1;
        for JoinedFunction { backend, case, name } in &parts {
            let what = format!("seed {seed}, {name} on {}", backend.name());
            let expected = case.expected().unwrap_or_else(|error| panic!("{what}: {error}")).outputs;
            let function = module.function(name).unwrap_or_else(|error| panic!("{what}: {error}"));
            let held = outputs(backend, &function, &case.args).and_then(|found| hold(&expected, &found));
            held.unwrap_or_else(|why| panic!("{what}: {why}\n{}", case.text()));
            n_calls += 1;
        }
    }
    println!("{n_calls} programs in {n_modules} modules");
    assert!(n_calls > n_modules, "{n_calls} programs in {n_modules} modules");
}
