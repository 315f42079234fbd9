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

/// The programs of one seed, one for each target; those of several functions, and those that a
/// target may refuse, are left out.
fn parts<'a>(host: &Host, backends: &'a [Backend], seed: u64) -> Vec<JoinedFunction<'a>> {
    let options = Options { externs: false, ..Options::default() };
    let n_backends = backends.len() as u64;
    let drawn = (0..).zip(backends).map(|(at, backend)| JoinedFunction {
        backend,
        case: arbitrary(seed * n_backends + at, &options),
        name: format!("f{at}"),
    });
    let is_taken = |part: &JoinedFunction<'_>| {
        part.case.module.functions.len() == 1
            && match run::build(host, part.backend, &part.case.module) {
                Ok(_) => true,
                Err(why) if part.backend.may_refuse(&why) => false,
                Err(why) => panic!("seed {seed}, {}: {why}\n{}", part.backend.name(), part.case.text()),
            }
    };
    drawn.filter(is_taken).collect()
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
        let [first, _, ..] = parts.as_slice() else { continue };
        let module = run::build(&host, first.backend, &joined(&parts));
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
    assert!(n_modules > 0 && n_calls > n_modules, "{n_calls} programs in {n_modules} modules");
}
