//! Runs the example kernels, the corpus and the digits on every backend present.

use std::path::PathBuf;

use chipdock_host::{Module, PluginState};
use chipdock_interpret::Array;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::CASES;
use chipdock_test_backends::corpus::{self, Kernel};
use chipdock_test_backends::{backends_left, hold, hold_alike, host, host_without, hosts, on_each, outputs};
use chipdock_test_backends::{digits, run};
use chipdock_test_support::sample::Drawn;

/// Of a target that is not the device's own, a run takes one example in so many.
const SHARE: usize = 5;

fn examples() -> PathBuf {
    chipdock_test_support::workspace().join("examples")
}

#[test]
fn example_kernels_agree_with_the_interpreter() {
    let host = host();
    on_each(&host, |backend| {
        let (mut failed, mut lines) = (Vec::new(), Vec::new());
        // Another target for the same device has a sample.
        let one_in = if backend.configuration.is_empty() { 1 } else { SHARE };
        let what = format!("examples on {}", backend.name());
        let drawn = Drawn::of(&what, one_in, CASES.iter().map(|case| case.name.to_owned()));
        for case in CASES.iter().filter(|case| drawn.has(case.name)) {
            match run::judge(&host, backend, case, &examples().join("kernels")) {
                Ok(_) => lines.push(format!("{}: runs", case.name)),
                Err(error) if backend.may_refuse(&error) => lines.push(format!("{}: {error}", case.name)),
                Err(error) => failed.push(format!("{}: {error}", case.name)),
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n"));
        backend.check_drawn("examples", lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn digits_are_read() {
    let host = host();
    on_each(&host, |backend| {
        let reading = digits::read(&host, backend, &examples().join("digits")).expect("the pipeline runs");
        assert!(reading.accuracy() >= reading.accuracy_min, "{reading:?}");
        assert_eq!(reading.n_images, 450);
    });
}

/// Host memory is always there: a plugin's `device_api.cpu` only takes the place of the host's own.
/// And a backend needs no other one.
#[test]
fn kernels_run_with_one_plugin_alone() {
    let whole = host();
    let all: Vec<String> = whole.plugins().into_iter().map(|plugin| plugin.name).collect();
    let kinds = whole.target_kinds();
    for backend in hosts(&whole) {
        let kind = &backend.target.kind;
        let (_, plugin) = kinds.iter().find(|(known, _)| known.name == *kind).expect("its plugin");
        let others: Vec<&str> = all.iter().map(String::as_str).filter(|name| name != plugin).collect();
        assert!(!others.is_empty());
        let host = host_without(&others);
        let left = backends_left(&host).0;
        assert!(left.iter().map(|left| &left.target.kind).eq([kind]), "{kind} alone");
        let judged = run::judge(&host, &left[0], &CASES[0], &examples().join("kernels"));
        judged.unwrap_or_else(|error| panic!("on {kind}: {error}"));
        for report in host.plugins() {
            let is_open = report.state == PluginState::Opened;
            assert_eq!(is_open, report.name == *plugin, "{}", report.name);
        }
    }
}

/// Files of the corpus that a host's target refuses, with words of the reason.
const REFUSED: &[(&str, &str)] = &[("construct/intrinsics.py", "the C function `fill`")];

/// Functions of the corpus that run on a host, but those of the refused files.
const KERNELS: usize = 73;

#[test]
fn corpus_agrees_with_the_interpreter() {
    let host = host();
    // What devices make of it is a test of theirs.
    let backends = hosts(&host);
    let (mut n_run, mut refused, mut wrong) = (0, Vec::<String>::new(), Vec::<String>::new());
    for file in chipdock_test_support::corpus().expect("the corpus") {
        // The examples have a test of their own above.
        if file.name.starts_with("kernels/") || file.name.starts_with("digits/") {
            continue;
        }
        let (module, kernels) = corpus::kernels(&file, corpus::is_for_host);
        if kernels.is_empty() {
            continue;
        }
        let mut found = Vec::new();
        for backend in &backends {
            match run::build(&host, backend, &module) {
                Ok(loaded) => found.push((backend, loaded)),
                Err(error) => refused.push(format!("{} on {}: {error}", file.name, backend.target.kind)),
            }
        }
        for kernel in &kernels {
            n_run += found.len();
            if let Err(error) = agree(kernel, &found) {
                wrong.push(format!("{}:{} {error}", file.name, kernel.name));
            }
        }
    }
    let n_refused = refused.len();
    let expected =
        |error: &String| REFUSED.iter().any(|(name, why)| error.starts_with(name) && error.contains(why));
    refused.retain(|error| !expected(error));
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
    assert_eq!(n_refused, REFUSED.len() * backends.len(), "what is taken now is struck off the list");
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
    assert_eq!(n_run, KERNELS * backends.len(), "functions of the corpus, each on every backend");
}

/// Runs a kernel on each backend: against the interpreter, and against the first backend.
fn agree(kernel: &Kernel, loaded: &[(&Backend, Module)]) -> Result<(), String> {
    let mut first: Option<(&str, Vec<Array>)> = None;
    for (backend, module) in loaded {
        let kind = backend.target.kind.as_str();
        let on = |error: String| format!("on {kind}: {error}");
        let callable = module.function(&kernel.name).map_err(|error| on(error.to_string()))?;
        let found = outputs(backend, &callable, &kernel.args).map_err(on)?;
        hold(&kernel.outputs, &found).map_err(on)?;
        match &first {
            None => first = Some((kind, found)),
            Some((other, theirs)) => hold_alike(&kernel.outputs, theirs, &found)
                .map_err(|error| format!("on {kind} is not as on {other}: {error}"))?,
        }
    }
    Ok(())
}
