//! Registrations made by `init` (I.4, P3.1, P3.11, P3.14, P5.2, P5.3, P5.5, P5.7, P5.9 to P5.12,
//! P5.17, P5.18).

use std::path::Path;

use chipdock_abi::{CHIPDOCK_ABI_MINOR, CHIPDOCK_DEVICE_CPU, CHIPDOCK_DEVICE_FIRST_ASSIGNED};
use chipdock_host::generation::generate;
use chipdock_host::manifest::{Manifest, Needs};
use chipdock_host::{PluginReport, PluginState};
use chipdock_plugin_api::names::{check_info_key, check_interface};
use chipdock_plugin_api::text::bytes_in;
use chipdock_raw_host::{Plugin, REFUSED};
use serde_json::{Map, Value};

use super::session::{Session, call_everything, descriptor};
use crate::facts::registrations;
use crate::group::image;
use crate::group::stream::HOOKS;
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

const NAME_BYTES_MAX: usize = 128;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Load, name, clause, Subject::Plugin).run(body);
    };
    case("registered/something", "P5.2", something);
    case("registered/sorted", "P5.2", sorted);
    case("registered/names", "P5.9", names);
    case("registered/no-null-slot", "P3.1", |c| nothing_broken(c, "P3.1"));
    case("registered/interfaces-are-tables", "P3.11", interfaces_are_tables);
    case("registered/interfaces-of-what-is-there", "P3.14", interfaces_belong_to_registrations);
    case("registered/names-of-its-own", "P5.17", names_of_its_own);
    case("registered/hooks-and-nothing-else", "P5.18", hooks_and_nothing_else);
    case("registered/hooks-for-the-suite-alone", "I.4", hooks_for_the_suite_alone);
    case("registered/infos", "P3.18", infos);
    case("registered/asks-for-no-function", "P10.3", |c| nothing_broken(c, "P10.3"));
    case("registered/device-types", "P5.12", device_types);
    case("registered/a-manifest-can-be-made", "P5.6", a_manifest_can_be_made);
    case("registered/taken-by-a-host", "P4.1", taken_by_a_host);
    case("refused/the-first", "P5.10", |c| refuse(c, |_| vec![0]));
    case("refused/the-last", "P5.10", |c| refuse(c, |count| vec![count - 1]));
    case("refused/each", "P5.10", |c| refuse(c, |count| (0..count).collect()));
    case("refused/then-taken-by-another", "P5.11", taken_after_refusal);
    let draft = cases.case(Group::Load, "registered/device-type-in-force", "P5.5", Subject::DeviceApi);
    draft.run(device_type_in_force);
    cases
        .case(Group::Load, "registered/as-in-the-manifest", "P5.3", Subject::Manifest)
        .run(as_in_the_manifest);
    cases
        .case(Group::Load, "registered/schemas-as-in-the-manifest", "P5.7", Subject::Manifest)
        .run(schemas_as_in_the_manifest);
}

fn something(c: &Context) -> Verdict {
    let keys = c.plugin()?.keys();
    ensure(!keys.is_empty(), "one registration at least", "none, and success")
}

/// Checks that interfaces are tables of functions without null slots.
fn interfaces_are_tables(c: &Context) -> Verdict {
    nothing_broken(c, "P3.11")?;
    for interface in c.plugin()?.interfaces() {
        let what = format!("{}/{}/{}", interface.key, interface.name, interface.version);
        let (slots, size_bytes) = (interface.raw.table.cast::<usize>(), interface.raw.table_size_bytes);
        let is_table = !slots.is_null() && slots.is_aligned();
        ensure(is_table, format!("{what}: a static table"), format!("one at {slots:p}"))?;
        let slot_bytes = size_of::<usize>() as u64;
        let is_whole = size_bytes > 0 && size_bytes.is_multiple_of(slot_bytes) && size_bytes <= 1024;
        ensure(
            is_whole,
            format!("{what}: a table of function pointers, {slot_bytes} bytes each"),
            size_bytes,
        )?;
        for slot in 0..(size_bytes / slot_bytes) as usize {
            // SAFETY: by P3.11, the slot is within the table.
            let is_null = unsafe { slots.add(slot).read() } == 0;
            ensure(!is_null, format!("{what}: every slot filled in"), format!("slot {slot} is null"))?;
        }
    }
    Ok(())
}

fn interfaces_belong_to_registrations(c: &Context) -> Verdict {
    let plugin = c.plugin()?;
    let (keys, name) = (plugin.keys(), &plugin.descriptor().name);
    for interface in plugin.interfaces() {
        let what = format!("{}/{}/{}", interface.key, interface.name, interface.version);
        let is_there = interface.key == *name || keys.contains(&interface.key);
        let expected = format!("{what}: of a key that this plugin registers, or of its name");
        ensure(is_there, expected, &interface.key)?;
        ensure(interface.version > 0, format!("{what}: a version from 1 up"), interface.version)?;
    }
    Ok(())
}

/// Checks that names in sets that everybody may extend are Chipdock's or the plugin's: interfaces,
/// and the keys of infos. A plugin of a later minor may use names that this suite does not know.
fn names_of_its_own(c: &Context) -> Verdict {
    let plugin = c.plugin()?;
    let name = &plugin.descriptor().name;
    let is_newer = plugin.raw().abi_minor > CHIPDOCK_ABI_MINOR;
    let good = |checked: Result<(), String>| match checked {
        Err(wrong) if !is_newer => {
            Err(Stop::failed("names of Chipdock's, or names that begin with the plugin's", wrong))
        }
        _ => Ok(()),
    };
    for interface in plugin.interfaces() {
        good(check_interface(&interface.name, name))?;
    }
    // SAFETY: P9.3, the texts of a descriptor are static.
    let own = unsafe { bytes_in(descriptor(c)?.info_json) }.to_vec();
    let infos = plugin.host().infos().into_iter().map(|(_, info)| info).chain([own]);
    for info in infos {
        // What is no object is another case's matter.
        let object: Map<String, Value> = serde_json::from_slice(&info).unwrap_or_default();
        object.keys().try_for_each(|key| good(check_info_key(key, name)))?;
    }
    Ok(())
}

/// Checks that the functions that begin with `conformance.` are hooks of a registered device.
fn hooks_and_nothing_else(c: &Context) -> Verdict {
    let plugin = c.plugin()?;
    let devices: Vec<String> = plugin.devices().into_iter().map(|device| device.name).collect();
    for (function, _) in plugin.functions() {
        let Some(hook) = function.strip_prefix("conformance.") else { continue };
        let is_hook = hook.rsplit_once('.').is_some_and(|(device, hook)| {
            devices.iter().any(|known| known == device) && HOOKS.contains(&hook)
        });
        ensure(is_hook, "only hooks of a device as functions `conformance.…`", &function)?;
    }
    Ok(())
}

/// Checks that a host that does not run the suite is offered no functions that can break a device.
fn hooks_for_the_suite_alone(c: &Context) -> Verdict {
    let session = Session::open(descriptor(c)?, hosts::without_hooks())?;
    let expected = c.plugin()?.keys();
    equal(
        "what is registered with a host that has no `conformance` 1",
        &session.plugin().keys_with_hooks(),
        &expected,
    )?;
    session.end()
}

fn sorted(c: &Context) -> Verdict {
    let keys = c.plugin()?.keys_with_hooks();
    let wrong = keys.windows(2).find(|pair| pair[0] >= pair[1]);
    let found = wrong.map(|pair| format!("{} before {}", pair[0], pair[1])).unwrap_or_default();
    ensure(wrong.is_none(), "registrations sorted by key (`device_api.x`, `function.y`), no key twice", found)
}

fn names(c: &Context) -> Verdict {
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    for registration in registrations(c.plugin()?) {
        let name = &registration.name;
        let is_good = is_part(name) && name.len() <= NAME_BYTES_MAX && !name.starts_with("chipdock.");
        let expected = "a name of 1 to 128 letters, digits, `_`, `.` and `-`, the first no `.` or `-`, not of `chipdock.`";
        ensure(is_good, expected, format!("{name:?} of {:?}", registration.subject))?;
    }
    Ok(())
}

/// Checks each `info_json`: an object or empty, and for a code generator the wire versions that it
/// reads.
fn infos(c: &Context) -> Verdict {
    for (key, info) in c.plugin()?.host().infos() {
        let shown = || String::from_utf8_lossy(&info).chars().take(200).collect::<String>();
        let object: Option<Map<String, Value>> = match info.as_slice() {
            [] => Some(Map::new()),
            text => serde_json::from_slice(text).ok(),
        };
        let Some(object) = object else {
            return Err(Stop::failed(format!("{key}: a JSON object as its info, or no text"), shown()));
        };
        if key.starts_with("target.build.") {
            let is_version = |name| object.get(name).and_then(Value::as_str).is_some_and(is_semver);
            let has_both = is_version("ir_min") && is_version("ir_max");
            ensure(has_both, format!("{key}: `ir_min` and `ir_max` in its info, each as 1.0.0"), shown())?;
        }
    }
    Ok(())
}

/// Returns true if a text begins like a version, with three numbers.
fn is_semver(text: &str) -> bool {
    let core = text.split(['-', '+']).next().unwrap_or_default();
    core.split('.').count() == 3 && core.split('.').all(|part| part.parse::<u64>().is_ok())
}

/// Checks that no violation of a clause was recorded while the plugin registered.
fn nothing_broken(c: &Context, clause: &str) -> Verdict {
    let broken = c.plugin()?.host().broken();
    let found = broken.iter().find_map(|line| line.strip_prefix(clause)?.strip_prefix(": "));
    let expected = match clause {
        "P3.1" => "every slot of every table filled in; what a plugin does not have answers `Unsupported`",
        _ => {
            "a registration that asks the host for nothing; functions of others are asked for when they are used"
        }
    };
    ensure(found.is_none(), expected, found.unwrap_or_default())
}

fn device_types(c: &Context) -> Verdict {
    for (name, asked, _) in c.plugin()?.device_types() {
        let what = format!("the device type that device_api.{name} asks for");
        let expected = format!(
            "{what}: 0 for one that the host gives, or DLPack's, below {CHIPDOCK_DEVICE_FIRST_ASSIGNED}"
        );
        ensure((0..CHIPDOCK_DEVICE_FIRST_ASSIGNED).contains(&asked), expected, asked)?;
        let is_right = asked != CHIPDOCK_DEVICE_CPU || name == "cpu";
        ensure(is_right, format!("{what}: another than host memory's, which is `cpu`"), asked)?;
    }
    Ok(())
}

fn as_in_the_manifest(c: &Context) -> Verdict {
    let manifest = image::manifest(c)?;
    let keys = c.plugin()?.keys();
    let list = |keys: Vec<&String>| keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", ");
    let missing = list(manifest.provides.iter().filter(|key| !keys.contains(key)).collect());
    let extra = list(keys.iter().filter(|key| !manifest.provides.contains(key)).collect());
    let note = |stop: Stop| stop.note("generate it again: chipdock manifest PLUGIN.so");
    ensure(missing.is_empty(), "what the manifest lists, registered", format!("not registered: {missing}"))
        .map_err(note)?;
    ensure(extra.is_empty(), "what is registered, listed in the manifest", format!("not listed: {extra}"))
        .map_err(note)
}

fn schemas_as_in_the_manifest(c: &Context) -> Verdict {
    let manifest = image::manifest(c)?;
    for (name, schema_json, _) in c.plugin()?.target_kinds() {
        let listed = manifest.target_kinds.iter().find(|kind| kind.name() == name);
        let listed = listed.and_then(|kind| serde_json::to_value(kind).ok());
        let registered = serde_json::from_str::<chipdock_ir::TargetKind>(&schema_json).map_err(|error| {
            Stop::failed(format!("the schema of target.kind.{name}"), error).clause("T.1")
        })?;
        let registered = serde_json::to_value(registered).map_err(Stop::suite)?;
        let expected = format!("the schema of target.kind.{name} in the manifest, as it is registered");
        ensure(listed.as_ref() == Some(&registered), expected, "another, or none")
            .map_err(|stop| stop.note("generate it again: chipdock manifest PLUGIN.so"))?;
    }
    Ok(())
}

fn a_manifest_can_be_made(c: &Context) -> Verdict {
    let manifest = generate(c.library(), &Needs::default())
        .map_err(|error| Stop::failed("`chipdock manifest PLUGIN.so` makes a manifest", error))?;
    let read = Manifest::parse(&manifest.to_text()?)?;
    equal("the keys of the manifest that is made", &read.provides, &c.plugin()?.keys())
}

/// Checks that a host of this repository accepts the plugin, layouts included.
fn taken_by_a_host(c: &Context) -> Verdict {
    let host = c.host()?;
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let library = real(c.library());
    // Without a manifest, a host calls the plugin by its file name until it is open.
    let candidate = host.plugins().into_iter().find(|report| real(&report.library) == library);
    let Some(PluginReport { name, .. }) = &candidate else {
        return Err(Stop::failed("a host finds the library", "it is not among its candidates"));
    };
    let report =
        host.open_plugin(name).map_err(|error| Stop::failed(format!("a host opens {name}"), error))?;
    let problem = report.problem.as_ref().map(ToString::to_string).unwrap_or_default();
    ensure(
        report.state == PluginState::Opened,
        format!("{name}: opened"),
        format!("{:?} {problem}", report.state),
    )
}

/// Runs `init` with a registrar that refuses a registration: `init` must stop there and pass the
/// error on.
fn refuse(c: &Context, which: impl FnOnce(usize) -> Vec<usize>) -> Verdict {
    let raw = descriptor(c)?;
    let keys = c.plugin()?.keys_with_hooks();
    ensure(!keys.is_empty(), "one registration at least", "none")?;
    for number in which(keys.len()) {
        let host = hosts::host();
        host.refuse_registration(number);
        let result = Plugin::init(raw, host).map(|plugin| plugin.shutdown());
        let n_registered = host.n_registered();
        // SAFETY: `init` failed or `shutdown` was called, and nothing that was registered is used.
        unsafe { host.destroy_registered() };
        let what = format!("init, when the registrar refuses {}", keys[number]);
        let Err(error) = result else {
            let found = "success, as if it had been taken";
            return Err(Stop::failed(format!("{what}: the registrar's failure, returned"), found));
        };
        let said = &error.message;
        ensure(said.contains(REFUSED), format!("{what}: fails with the registrar's error"), said)?;
        let found = format!("{} more", n_registered.saturating_sub(number + 1));
        ensure(n_registered == number + 1, format!("{what}: registers nothing more"), found)?;
    }
    Ok(())
}

fn taken_after_refusal(c: &Context) -> Verdict {
    refuse(c, |_| vec![0])?;
    let session = Session::new(c).map_err(|stop| stop.note("init for another host was refused before"))?;
    equal("what is registered after a refusal", &session.plugin().keys(), &c.plugin()?.keys())?;
    drop(call_everything(session.plugin()));
    session.end()
}

fn device_type_in_force(c: &Context) -> Verdict {
    let device = c.device()?;
    let space = device.allocate(16)?;
    let note = |stop: Stop| {
        stop.note(format!(
            "the ends of the copies say device type {}, the one in force; a plugin must not compare with the one that \
             it asked for",
            device.device_type
        ))
    };
    space.write(0, &[7; 16]).map_err(Stop::from).map_err(note)?;
    let mut back = [0; 16];
    space.read(0, &mut back).map_err(Stop::from).map_err(note)?;
    equal("16 bytes, copied there and back", &back, &[7; 16])?;
    Ok(space.free()?)
}
