//! Valid artifacts: loaded, loaded again, dropped, saved.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chipdock_abi::{CHIPDOCK_DEVICE_CPU, CHIPDOCK_EXTENSIONS_MAX, ChipdockDevice};
use chipdock_host::artifact::Artifact;
use chipdock_host::{AnyView, CompileOptions, Host, HostOptions, Module};
use chipdock_interpret::Array;
use chipdock_programs::Random;
use chipdock_raw_host::{Environment, Lent, RawArtifact, RawSection};

use super::extended;
use super::leftovers::Watched;
use super::made::{Made, loader};
use crate::execute::{self, Guards, Value};
use crate::settings::given;
use crate::stop::{ensure, equal, refused};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, clause, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Module, format_args!("load/{name}"), clause, Subject::Loader).run(body);
    };
    case("computes", "M.9", computes);
    case("function-by-name", "M.6", by_name);
    case("no-such-function", "M.6", no_such_function);
    case("no-such-interface", "P3.12", no_such_interface);
    case("odd-names", "M.6", odd_names);
    case("twice", "M.10", twice);
    case("many-dropped-in-any-order", "M.10", many);
    case("again-after-drop", "M.10", again);
    case("function-outlives-module", "M.5", outlives_module);
    case("function-outlives-host", "M.5", outlives_host);
    case("two-threads", "P10.1", two_threads);
    case("saved-and-read", "M.13", saved);
    case("null-environment", "M.12", null_environment);
    case("environment-released", "M.4", environment_released);
    case("environment-released-where-load-failed", "M.4", environment_released_on_failure);
    case("two-hosts", "X.5", two_hosts);
    case("unknown-section", "M.11", unknown_section);
    case("unknown-fields-of-the-index", "M.11", unknown_fields);
    case("index-of-a-later-version", "P3.19", later_index);
    case("unknown-extensions", "M.14", unknown_extensions);
    case("extension-that-must-be-understood", "M.14", must_be_understood);
    case("too-many-extensions", "P3.15", too_many_extensions);
    case("strict-alignment", "M.11", strict_alignment);
    case("leaves-no-file", "M.8", leaves_no_file);
}

fn computes(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    made.computes(c, &c.host()?.load(&made.root)?)
}

fn by_name(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let module = loader(c)?.load(&made.own, Environment::Working)?;
    for _ in 0..100 {
        let found = module.function(made.function.as_bytes())?;
        ensure(found.is_some(), format!("function \"{}\"", made.function), "None")?;
    }
    Ok(())
}

fn no_such_function(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let module = loader(c)?.load(&made.own, Environment::Working)?;
    let name = &made.function;
    let near =
        [format!("{name}x"), format!("x{name}"), name[..name.len() - 1].to_owned(), name.to_uppercase()];
    for name in
        near.iter().map(String::as_str).chain(["no_such_function", "main", "malloc", "__chipdock_env"])
    {
        let found = module.function(name.as_bytes()).map_err(|error| {
            let found = format!("{}: {}", error.kind().as_str(), error.message());
            Stop::failed(format!("None for function \"{name}\", which is not there"), found)
        })?;
        ensure(found.is_none(), format!("None for function \"{name}\""), "a function")?;
    }
    drop(module);
    made.loads(&loader(c)?)
}

fn no_such_interface(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let module = loader(c)?.load(&made.own, Environment::Working)?;
    for (name, version) in [("nobody-has-this", 1), ("launch", u32::MAX), ("", 0), ("a/b", 1)] {
        let what = format!("`query` for \"{name}\" {version}, which nobody knows: success");
        let found = module.query(name, version).map_err(|error| {
            Stop::failed(what.as_str(), format!("{}: {}", error.kind().as_str(), error.message()))
        })?;
        ensure(found.table.is_null(), format!("{what}, and a null table"), "a table")?;
    }
    made.computes(c, &c.host()?.load(&made.root)?)
}

/// Looks up invalid names: the answer is `None`, or `ValueError` if the name is no text.
fn odd_names(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let module = loader(c)?.load(&made.own, Environment::Working)?;
    let long = vec![b'f'; 1 << 20];
    let with_nul = [made.function.as_bytes(), b"\0"].concat();
    for name in [&b""[..], b"\0", &with_nul, b" ", b"\xff\xfe", "ä".as_bytes(), &long] {
        let shown = String::from_utf8_lossy(&name[..name.len().min(20)]).into_owned();
        match module.function(name) {
            Ok(found) => {
                ensure(found.is_none(), format!("None for a function named {shown:?}"), "a function")?
            }
            Err(error) => {
                let is_text = std::str::from_utf8(name).is_ok();
                let fits = error.kind().as_str() == "ValueError" && !is_text;
                let expected = format!("None for a function named {shown:?}; ValueError where it is no text");
                ensure(fits, expected, format!("{}: {}", error.kind().as_str(), error.message()))?;
            }
        }
    }
    drop(module);
    made.loads(&loader(c)?)
}

fn twice(c: &Context<'_>) -> Verdict {
    let (made, host) = (Made::cached(c)?, c.host()?);
    let (first, second) = (host.load(&made.root)?, host.load(&made.root)?);
    made.computes(c, &first)?;
    made.computes(c, &second)?;
    drop(first);
    made.computes(c, &second).map_err(|stop| stop.note("the second module, after the first was dropped"))
}

/// Loads as many modules as fit into a moment, at least 8 and at most 50.
fn many(c: &Context<'_>) -> Verdict {
    let (made, host) = (Made::cached(c)?, c.host()?);
    let begun = Instant::now();
    let mut modules = Vec::new();
    while modules.len() < 50 && (modules.len() < 8 || begun.elapsed() < Duration::from_millis(1500)) {
        modules.push(host.load(&made.root)?);
    }
    let mut random = Random::new(11);
    while !modules.is_empty() {
        drop(modules.swap_remove(random.index(modules.len())));
        if let Some(module) = modules.get(random.index(modules.len())) {
            made.computes(c, module)
                .map_err(|stop| stop.note(format!("{} modules are left", modules.len())))?;
        }
    }
    made.still(c)
}

fn again(c: &Context<'_>) -> Verdict {
    let (made, host) = (Made::cached(c)?, c.host()?);
    for _ in 0..4 {
        made.computes(c, &host.load(&made.root)?)?;
    }
    Ok(())
}

/// Loads through the raw table, so that no host keeps the module alive.
fn outlives_module(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let module = loader.load(&made.own, Environment::Working)?;
    let function = module.function(made.function.as_bytes())?;
    let function = function.ok_or_else(|| Stop::failed("the function", "None"))?;
    // Without arguments the function's own code refuses the call, on any device, even after the
    // module has been dropped.
    let answer = || -> Verdict<Option<String>> {
        let answer = function.call(c.plugin()?.host().reference(), &[]);
        Ok(answer.err().map(|error| format!("{}: {}", error.kind().as_str(), error.message())))
    };
    let before = answer()?;
    drop(module);
    let after = answer();
    equal("a call without arguments, after the module was destroyed", &after?, &before)?;
    if !made.is_root {
        drop(function);
        return made.still(c);
    }
    call_raw(c, &made, &function).map_err(|stop| stop.note("after the module was destroyed"))
}

/// Calls a function through the raw table with tensors in host memory; on other devices, checks the
/// whole artifact through a host instead.
fn call_raw(c: &Context<'_>, made: &Made, function: &chipdock_plugin_api::Function) -> Verdict {
    let device = match &made.device {
        Ok(device) if device.is_host_memory() => device,
        Ok(_) => return made.still(c),
        Err(why) => {
            c.not_run(why);
            return Ok(());
        }
    };
    let values = execute::upload(device, made.args(), Guards::BEHIND)?;
    let views: Vec<AnyView<'_>> = values.iter().map(Value::view).collect();
    function.call(c.plugin()?.host().reference(), &views)?;
    let mut found: Vec<Array> = Vec::new();
    for value in &values {
        if let Value::Tensor(tensor) = value {
            found.push(tensor.read("an argument")?);
        }
    }
    made.holds(&found)
}

/// Returns options of a host that has this plugin and none of its companions.
fn alone(c: &Context<'_>) -> HostOptions {
    let own = given().iter().filter(|(plugin, _, _)| *plugin == c.facts().name).cloned();
    let plugin_paths = vec![c.library().to_owned()];
    let mut options = HostOptions { plugin_paths, settings: own.collect(), ..HostOptions::default() };
    // SUITE-S16.
    options.environment.config_home = None;
    options
}

/// Drops a host of its own while one of its functions is still held.
fn outlives_host(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let host = Host::new(alone(c))?;
    let Ok(target) = host.usable_target(&target_kind(&made)?) else { return made.still(c) };
    let case = super::samples::ELEMENTWISE.case()?;
    let compiled = host.compile(&case.module, &target, &CompileOptions::default())?;
    let module = host.load(&compiled.artifact)?;
    let function = module.function(&case.function)?;
    let device = host.device(&target.capabilities().device.name, 0);
    drop((module, compiled, host));
    let device = match device {
        Ok(device) => device,
        Err(error) => {
            c.not_run(error.to_string());
            return Ok(());
        }
    };
    let values = execute::upload(&device, &case.args, Guards::BEHIND)?;
    let views: Vec<AnyView<'_>> = values.iter().map(Value::view).collect();
    function.call(&views)?;
    drop((function, device));
    let mut found = Vec::new();
    for value in &values {
        if let Value::Tensor(tensor) = value {
            found.push(tensor.read("an argument")?);
        }
    }
    made.holds(&found).map_err(|stop| stop.note("called after module and host were let go"))
}

/// Returns the target kind that an artifact was compiled for.
fn target_kind(made: &Made) -> Verdict<String> {
    let json: serde_json::Value = serde_json::from_str(made.root.target_json()).map_err(Stop::suite)?;
    let kind = json["kind"].as_str().map(str::to_owned);
    kind.ok_or_else(|| Stop::suite("an artifact without a target"))
}

fn two_threads(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let (own, function) = (&made.own, made.function.as_bytes());
    let one = || -> Verdict {
        for _ in 0..3 {
            let module = loader.load(own, Environment::Working)?;
            ensure(module.function(function)?.is_some(), "the function of a module", "None")?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..2).map(|_| scope.spawn(one)).collect();
        handles.into_iter().try_for_each(|handle| {
            handle.join().map_err(|_| Stop::suite("a thread of the suite panicked"))?
        })
    })?;
    made.still(c)
}

fn saved(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let bytes = made.root.to_bytes()?;
    let read = Artifact::from_bytes(&bytes)?;
    equal("the index that is read", &read.index_json(), &made.root.index_json())?;
    let module = c.host()?.load(&Arc::new(read))?;
    made.computes(c, &module).map_err(|stop| stop.note("an artifact that was written and read"))
}

/// Loads without an environment: compiled code then uses its own functions.
fn null_environment(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let runs_in_host_memory =
        made.is_root && made.device.as_ref().is_ok_and(chipdock_host::Device::is_host_memory);
    match loader.load(&made.own, Environment::Null) {
        Ok(module) => {
            let function = module.function(made.function.as_bytes())?;
            let function = function.ok_or_else(|| Stop::failed("the function", "None"))?;
            if runs_in_host_memory {
                call_raw(c, &made, &function)?;
            }
        }
        Err(error) if !runs_in_host_memory => {
            if !["ValueError", "Unsupported"].contains(&error.kind().as_str()) {
                return Err(
                    made.refused(error, "a module, ValueError or Unsupported, without an environment")
                );
            }
        }
        Err(error) => return Err(error.into()),
    }
    made.still(c)
}

fn unknown_extensions(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    for extensions in [extended::unknown_extensions(), extended::many_extensions(CHIPDOCK_EXTENSIONS_MAX)] {
        let artifact = RawArtifact { extensions, ..made.own.clone() };
        let module = loader.load(&artifact, Environment::Working);
        let module = module.map_err(|error| made.refused(error, "extensions to be ignored"))?;
        ensure(module.function(made.function.as_bytes())?.is_some(), "its function", "None")?;
    }
    made.still(c)
}

fn must_be_understood(c: &Context<'_>) -> Verdict {
    is_refused(c, extended::extensions_with_a_must(), "Unsupported", "suite.must")
}

fn too_many_extensions(c: &Context<'_>) -> Verdict {
    is_refused(c, extended::many_extensions(CHIPDOCK_EXTENSIONS_MAX + 1), "ValueError", "")
}

/// Checks that an artifact with these extensions is neither checked nor loaded.
fn is_refused(c: &Context<'_>, extensions: Vec<(String, u32)>, kind: &str, tells: &str) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let artifact = RawArtifact { extensions, ..made.own.clone() };
    let cpu = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
    extended::refused_as("check", kind, tells, loader.check(&artifact, cpu).map(drop))?;
    let loaded = loader.load(&artifact, Environment::Working).map(drop);
    extended::refused_as("load", kind, tells, loaded)?;
    made.still(c)
}

/// Checks that the environment is released with the last of the module and its functions, in either
/// order, and not before.
fn environment_released(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    for is_module_first in [true, false] {
        let lent = Lent::new(loader.host());
        let module = loader.load_lent(&made.own, lent)?;
        let function = module.function(made.function.as_bytes())?;
        let function = function.ok_or_else(|| Stop::failed("the function", "None"))?;
        let (mut module, mut function) = (Some(module), Some(function));
        let mut let_go =
            |of_module: bool| if of_module { drop(module.take()) } else { drop(function.take()) };
        let held = if is_module_first { "its function" } else { "the module" };
        let_go(is_module_first);
        // Gives a plugin that releases it from elsewhere some time to do so.
        std::thread::sleep(Duration::from_millis(20));
        equal(&format!("releases of the environment while {held} is held"), &lent.released(), &0)?;
        let_go(!is_module_first);
        equal("releases of the environment when nothing is held", &lent.released_in_time(), &1)?;
        std::thread::sleep(Duration::from_millis(20));
        equal("releases of the environment in all", &lent.released(), &1)?;
        equal("uses of the environment after it was released", &lent.used_late(), &0)?;
    }
    Ok(())
}

fn environment_released_on_failure(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let mut artifact = made.own.clone();
    artifact.index_json = b"no index".to_vec();
    let lent = Lent::new(loader.host());
    let loaded = loader.load_lent(&artifact, lent);
    ensure(loaded.is_err(), "an index that is no JSON to be refused", "a module")?;
    equal("releases of the environment of a load that failed", &lent.released_in_time(), &1)?;
    made.loads(&loader)
}

/// Loads one artifact with two hosts at once: a failure must be raised with the calling host, in
/// any order of calls.
fn two_hosts(c: &Context<'_>) -> Verdict {
    let made = Made::cached(c)?;
    let other = Host::new(alone(c))?;
    let modules = [c.host()?.load(&made.root)?, other.load(&made.root)?];
    if modules.iter().any(|module| module.missing_loader().is_some()) {
        return made.still(c);
    }
    let refused = |module: &Module| -> Verdict<String> {
        let answer = module.function(made.root_function())?.call(&[]);
        answer.err().map(|error| error.to_string()).ok_or_else(|| {
            Stop::failed("an error of a function that is called without its arguments", "success")
        })
    };
    let expected = refused(&modules[0])?;
    for module in [&modules[1], &modules[0], &modules[1]] {
        equal(
            "the error that a call without arguments raises, in each of two hosts",
            &refused(module)?,
            &expected,
        )?;
    }
    let [first, second] = modules;
    drop(first);
    equal("the same, when the other host's module has gone", &refused(&second)?, &expected)?;
    drop((second, other));
    made.still(c)
}

fn unknown_section(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let extra = |name: &str, kind: &str, data: &[u8]| RawSection {
        name: name.into(),
        kind: kind.into(),
        alignment_bytes: 1,
        data: data.to_vec(),
    };
    for section in [
        extra("section-of-the-suite", "debug", b"something"),
        extra("section-of-the-suite", "constants", b""),
        extra("section-of-the-suite", "kind-of-tomorrow", &[0; 100]),
    ] {
        let mut artifact = made.own.clone();
        artifact.sections.push(section.clone());
        artifact.sections.rotate_right(1);
        let module = loader.load(&artifact, Environment::Working);
        let module = module.map_err(|error| {
            let what = String::from_utf8_lossy(&section.kind).into_owned();
            made.refused(error, format!("a further section of kind \"{what}\" to be ignored"))
        })?;
        ensure(module.function(made.function.as_bytes())?.is_some(), "its function", "None")?;
    }
    made.still(c)
}

fn unknown_fields(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let mut artifact = made.own.clone();
    let mut index: serde_json::Value = serde_json::from_slice(&artifact.index_json).map_err(Stop::suite)?;
    index["field-of-the-suite"] = serde_json::json!({ "x": [1, null] });
    artifact.index_json = index.to_string().into_bytes();
    let module = loader.load(&artifact, Environment::Working);
    let module = module
        .map_err(|error| made.refused(error, "a field of the index that is not known to be ignored"))?;
    ensure(module.function(made.function.as_bytes())?.is_some(), "its function", "None")?;
    made.still(c)
}

/// Checks that of an index of a later version nothing is read: everything else in it may mean
/// something else.
fn later_index(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let cpu = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
    for version in [2_u64, u64::MAX] {
        let mut artifact = made.own.clone();
        let mut index: serde_json::Value =
            serde_json::from_slice(&artifact.index_json).map_err(Stop::suite)?;
        index["schema"] = version.into();
        artifact.index_json = index.to_string().into_bytes();
        let what = format!("`load` of an index of version {version}");
        refused(&what, loader.load(&artifact, Environment::Working).map(drop), &["Unavailable"])?;
        let what = format!("`verdict` on an index of version {version}");
        refused(&what, loader.check(&artifact, cpu).map(drop), &["Unavailable"])?;
        // The version that it is without the field may be said too.
        index["schema"] = 1.into();
        artifact.index_json = index.to_string().into_bytes();
        let module = loader.load(&artifact, Environment::Working);
        let module =
            module.map_err(|error| made.refused(error, "an index that says that its version is 1"))?;
        ensure(module.function(made.function.as_bytes())?.is_some(), "its function", "None")?;
    }
    made.still(c)
}

/// Checks that sections may have a stricter alignment than they require.
fn strict_alignment(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let mut artifact = made.own.clone();
    for section in &mut artifact.sections {
        section.alignment_bytes = section.alignment_bytes.max(1 << 16);
    }
    let module = loader.load(&artifact, Environment::Working)?;
    ensure(module.function(made.function.as_bytes())?.is_some(), "its function", "None")?;
    made.still(c)
}

fn leaves_no_file(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let watched = Watched::new(c)?;
    for _ in 0..3 {
        let module = loader.load(&made.own, Environment::Working)?;
        let function = module.function(made.function.as_bytes())?;
        watched.nothing_left("a load", false)?;
        drop((function, module));
    }
    watched.nothing_left("modules that were dropped", false)
}
