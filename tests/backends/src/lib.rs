//! Compares every backend present with the reference interpreter, and with each other, through
//! `dlopen` as a user does.
//!
//! The plugins are those of `CHIPDOCK_TEST_PLUGINS`. If it is not set they are built first, since
//! `cargo test` builds no cdylib and would use outdated ones. A run that finds no plugin fails.
//!
//! Where `cargo xtask test` has installed the dependencies of the plugins (stated by
//! `CHIPDOCK_TEST_SETUP=done`), each target kind that a plugin's `expectations.toml` lists as
//! `usable` (see [`Claims`]) must be present; elsewhere a missing one is skipped with the reason.

pub mod backends;
pub mod cases;
pub mod corpus;
pub mod device_code;
pub mod digits;
pub mod launches;
pub mod npy;
pub mod run;
pub mod specials;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use chipdock_host::{Function, Host, HostOptions};
use chipdock_interpret::{Arg, Array, Output, compare};
use chipdock_test_support::sample;
use serde::Deserialize;

use crate::backends::{Absent, Backend, present};

/// Result of a step; the error is a message for the user.
pub type Result<T> = std::result::Result<T, String>;

/// Returns the folder with the plugins and their manifests.
///
/// # Panics
///
/// If they cannot be built.
#[must_use]
pub fn plugins() -> &'static Path {
    &chipdock_test_support::command::built().plugins
}

/// Opens a host with these plugins only.
///
/// # Panics
///
/// If it finds none.
#[must_use]
pub fn host() -> Host {
    host_without(&[])
}

/// Opens a host with these plugins except those of the given names.
///
/// # Panics
///
/// If it finds none.
#[must_use]
pub fn host_without(names: &[&str]) -> Host {
    let disable = names.iter().map(|name| (*name).to_owned()).collect();
    host_with(|options| HostOptions { disable, ..options })
}

/// Opens a host with these plugins and changed options.
///
/// # Panics
///
/// If it finds no plugin.
#[must_use]
pub fn host_with(change: impl FnOnce(HostOptions) -> HostOptions) -> Host {
    let options = HostOptions { plugin_paths: vec![plugins().to_owned()], ..HostOptions::isolated() };
    let host = Host::new(change(options)).unwrap_or_else(|error| panic!("{error}"));
    let found = host.plugins().iter().filter(|plugin| plugin.library.starts_with(plugins())).count();
    assert!(found > 0, "no plugin in {}", plugins().display());
    host
}

/// Returns the backends that can be used, and checks that all required ones are among them.
///
/// # Panics
///
/// If there is none, or a required one is missing.
#[must_use]
pub fn backends(host: &Host) -> Vec<Backend> {
    let (usable, unusable) = present(host).unwrap_or_else(|error| panic!("{error}"));
    for kind in claims().usable {
        if usable.iter().any(|backend| backend.target.kind == kind) {
            continue;
        }
        let why = unusable.iter().find(|absent| absent.kind == kind);
        let why = why.map_or("no plugin provides it", |absent| absent.reason.as_str());
        chipdock_test_support::setup::missing(&format!("everything on {kind}: {why}"));
    }
    assert!(!usable.is_empty(), "no backend can be used: {unusable:?}");
    usable
}

/// Returns the backends that can be used, and the others, of a host that lacks plugins on purpose.
///
/// # Panics
///
/// If no backend can be used.
#[must_use]
pub fn backends_left(host: &Host) -> (Vec<Backend>, Vec<Absent>) {
    let (usable, unusable) = present(host).unwrap_or_else(|error| panic!("{error}"));
    assert!(!usable.is_empty(), "no backend can be used: {unusable:?}");
    (usable, unusable)
}

/// Claims of a plugin for the project's tests, in the table `tests` of its `expectations.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Claims {
    /// Target kinds that must be usable once everything is installed.
    pub usable: Vec<String>,
    /// Target kinds whose compiler and loader start no program, so that a test may load hundreds of
    /// modules.
    pub in_process: Vec<String>,
    /// Target kinds whose modules leave nothing in memory when they are dropped.
    pub forgetting: Vec<String>,
    /// Further targets on which what runs on a device is tested, and what targets may refuse.
    pub target: Vec<TestTarget>,
}

/// A target of tests: a device's own (without a name), that of its kind's defaults (`defaults`), or
/// one with other options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TestTarget {
    /// The kind.
    pub kind: String,
    /// The name of the configuration.
    pub name: String,
    /// Options in addition to those of the device.
    pub options: serde_json::Map<String, serde_json::Value>,
    /// Words of the errors with which it may refuse a kernel.
    pub refuses: Vec<String>,
}

/// Reads the claims of all plugins, in order of the folders' names.
///
/// # Panics
///
/// If an `expectations.toml` cannot be read, or no target kind must be usable.
#[must_use]
pub fn claims() -> Claims {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        tests: Claims,
    }
    let folders =
        chipdock_test_support::plugins::folders().unwrap_or_else(|error| panic!("plugins: {error}"));
    let mut all = Claims::default();
    for path in folders.iter().map(|folder| folder.join("expectations.toml")) {
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let file = text.and_then(|text| toml::from_str::<File>(&text).map_err(|error| error.to_string()));
        let claims = file.unwrap_or_else(|error| panic!("{}: {error}", path.display())).tests;
        all.usable.extend(claims.usable);
        all.in_process.extend(claims.in_process);
        all.forgetting.extend(claims.forgetting);
        all.target.extend(claims.target);
    }
    assert!(!all.usable.is_empty(), "no expectations.toml of plugins/ lists a `usable` target kind");
    all
}

/// Returns the backends whose compiler and loader start no program.
///
/// # Panics
///
/// As [`backends()`].
#[must_use]
pub fn in_process(host: &Host) -> Vec<Backend> {
    let claimed = claims().in_process;
    let mut backends = backends(host);
    backends.retain(|backend| claimed.contains(&backend.target.kind));
    backends
}

/// Runs a test on each backend, on all of them even if one fails, and reports the failed ones. A
/// device is tested with the target made from it, with the defaults of its kind, because the two
/// may be scheduled differently, and with each `[[tests.target]]` of its plugin's
/// `expectations.toml`.
///
/// # Panics
///
/// If the test failed on any backend.
pub fn on_each(host: &Host, test: impl Fn(&Backend)) {
    on_all(&with_configurations(host, backends(host)), test);
}

/// Returns each backend, followed by the same device with a target of defaults, if that target
/// differs, and with each other target that the plugins' `expectations.toml` list.
fn with_configurations(host: &Host, backends: Vec<Backend>) -> Vec<Backend> {
    let claimed = claims().target;
    let all = backends.into_iter().flat_map(|backend| {
        let kind = backend.target.kind.clone();
        let failed = |error: String| -> Option<Backend> { panic!("{kind}: {error}") };
        let mut own = Vec::new();
        if !backend.is_host() {
            own.extend(backend.with_defaults(host).unwrap_or_else(failed));
            let others = claimed.iter().filter(|target| target.kind == kind && !target.options.is_empty());
            let made = others.map(|target| backend.with_options(host, &target.name, &target.options));
            own.extend(made.filter_map(|made| made.map(Some).unwrap_or_else(failed)));
        }
        own.insert(0, backend);
        own
    });
    let with_refusals = all.map(|mut backend| {
        let of =
            |target: &&TestTarget| target.kind == backend.target.kind && target.name == backend.configuration;
        backend.refuses = claimed.iter().filter(of).flat_map(|target| target.refuses.clone()).collect();
        backend
    });
    with_refusals.collect()
}

/// Runs a test on each backend whose code runs on the host itself, as [`on_each`] does.
///
/// # Panics
///
/// If the test failed on any backend, or there is none.
pub fn on_each_host(host: &Host, test: impl Fn(&Backend)) {
    on_all(&hosts(host), test);
}

/// Returns the backends whose code runs on the host itself.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn hosts(host: &Host) -> Vec<Backend> {
    let mut hosts = backends(host);
    hosts.retain(Backend::is_host);
    assert!(!hosts.is_empty(), "no target kind with host functions can be used");
    hosts
}

/// Runs a test on each backend whose code a host launches on a device, as [`on_each`] does. If
/// there is none, that is reported.
///
/// # Panics
///
/// If the test failed on any backend.
pub fn on_each_device(host: &Host, test: impl Fn(&Backend)) {
    on_all(&with_configurations(host, devices(host)), test);
}

/// Runs a test of devices, whatever code is compiled for them: on each device once. A whole run
/// takes each target as [`on_each_device`] does.
///
/// # Panics
///
/// If the test failed on any backend.
pub fn on_each_device_once(host: &Host, what: &str, test: impl Fn(&Backend)) {
    let all = with_configurations(host, devices(host));
    let n_all = all.len();
    let is_taken = |backend: &Backend| sample::is_whole_run() || backend.configuration.is_empty();
    let taken: Vec<Backend> = all.into_iter().filter(is_taken).collect();
    if n_all > 0 {
        sample::report(&format!("targets of devices, for {what}"), taken.len(), n_all);
    }
    on_all(&taken, test);
}

/// Returns the backends whose code a host launches on a device. If there is none, that is reported.
///
/// # Panics
///
/// As [`backends()`].
#[must_use]
pub fn devices(host: &Host) -> Vec<Backend> {
    let mut devices = backends(host);
    devices.retain(|backend| !backend.is_host());
    if devices.is_empty() {
        chipdock_test_support::skipped("what runs on a device: no target kind has one here");
    }
    devices
}

fn on_all(all: &[Backend], test: impl Fn(&Backend)) {
    let mut failed = Vec::new();
    for backend in all {
        let what = backend.name();
        let ended = catch_unwind(AssertUnwindSafe(|| test(backend)));
        println!("{what}: {}", if ended.is_ok() { "passed" } else { "FAILED" });
        if ended.is_err() {
            failed.push(what);
        }
    }
    assert!(failed.is_empty(), "failed on {}, of {} backends; see above", failed.join(", "), all.len());
}

/// Calls a function; returns the content of its tensors afterwards, in the order of its parameters.
///
/// # Errors
///
/// The device or the function fails.
pub fn outputs(backend: &Backend, function: &Function, args: &[Arg]) -> Result<Vec<Array>> {
    let values = run::upload(backend, args)?;
    run::call(function, &values)?;
    let mut found = Vec::new();
    for (value, arg) in values.iter().zip(args) {
        if let (run::Value::Tensor(tensor), Arg::Tensor(array)) = (value, arg) {
            let data = tensor.to_bytes().map_err(|error| error.to_string())?;
            found.push(Array { dtype: array.dtype, shape: array.shape.clone(), data });
        }
    }
    Ok(found)
}

/// Checks the results of a backend against the interpreter's outputs, within their bounds.
///
/// # Errors
///
/// The first tensor that is out of bounds, and the position.
pub fn hold(expected: &[Output], found: &[Array]) -> Result<()> {
    if expected.len() != found.len() {
        return Err(format!("expected {} tensors, found {}", expected.len(), found.len()));
    }
    for (output, found) in expected.iter().zip(found) {
        compare(found, output).map_err(|mismatch| format!("{}: {mismatch}", output.name))?;
    }
    Ok(())
}

/// Checks the results of one backend against those of another: integers exactly, floats within the
/// interpreter's bounds for both.
///
/// # Errors
///
/// The first tensor that differs, and the position.
pub fn hold_alike(expected: &[Output], one: &[Array], other: &[Array]) -> Result<()> {
    for ((output, one), other) in expected.iter().zip(one).zip(other) {
        let doubled = |bounds: &Vec<f64>| bounds.iter().map(|bound| 2.0 * bound).collect();
        let first =
            Output { array: one.clone(), bounds: output.bounds.as_ref().map(doubled), ..output.clone() };
        compare(other, &first).map_err(|mismatch| format!("{}: {mismatch}", output.name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use chipdock_ir::DType;

    use super::*;

    fn output(dtype: DType, value: f64, bound: f64) -> Output {
        let array = Array::from_f64(dtype, &[1], &[value]);
        Output { parameter: 0, name: "A".to_owned(), array, bounds: Some(vec![bound]) }
    }

    #[test]
    fn backends_may_differ_by_what_both_are_allowed() {
        let one = |dtype, value| vec![Array::from_f64(dtype, &[1], &[value])];
        let float = [output(DType::FLOAT32, 1.0, 0.25)];
        let floats = |a, b| hold_alike(&float, &one(DType::FLOAT32, a), &one(DType::FLOAT32, b));
        assert!(floats(0.75, 1.25).is_ok() && floats(1.25, 0.75).is_ok());
        assert!(floats(0.75, 1.5).is_err() && floats(f64::NAN, 1.0).is_err());
        let int = [output(DType::INT32, 7.0, 0.0)];
        assert!(hold_alike(&int, &one(DType::INT32, 7.0), &one(DType::INT32, 7.0)).is_ok());
        assert!(hold_alike(&int, &one(DType::INT32, 7.0), &one(DType::INT32, 8.0)).is_err());
        assert!(hold(&int, &one(DType::INT32, 8.0)).is_err() && hold(&int, &[]).is_err());
    }

    /// Every claim names a target kind that a plugin here provides; `in-process` and `forgetting`
    /// name usable ones only.
    #[test]
    fn claims_are_of_kinds_that_are_there() {
        let claims = claims();
        let kinds: Vec<String> =
            host().target_kinds().into_iter().map(|(kind, _)| kind.name.clone()).collect();
        for kind in &claims.usable {
            assert!(kinds.contains(kind), "usable: no plugin provides {kind}; they provide {kinds:?}");
        }
        for kind in claims.in_process.iter().chain(&claims.forgetting) {
            assert!(claims.usable.contains(kind), "{kind} is claimed and need not be usable");
        }
        assert!(!claims.in_process.is_empty() && !claims.forgetting.is_empty(), "{claims:?}");
    }
}
