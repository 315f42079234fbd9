//! The entry and the descriptor that it returns (P1.1 to P1.4).

use std::ptr;

use chipdock_abi::{ChipdockPlugin, ChipdockStr};
use chipdock_plugin_api::text::bytes_in;
use chipdock_raw_host::Plugin;

use super::session::{Session, descriptor, refusal};
use crate::group::image;
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

const N_CALLS: usize = 1000;
const N_THREADS: usize = 16;
const NAME_BYTES_MAX: usize = 64;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Load, name, clause, Subject::Plugin).run(body);
    };
    case("entry/same-at-every-call", "P1.2", same_at_every_call);
    case("entry/same-on-16-threads", "P1.2", same_on_threads);
    case("entry/descriptor-never-changes", "P1.2", never_changes);
    case("descriptor/numbers", "P1.3", |c| descriptor(c).map(drop));
    case("descriptor/name", "P1.4", name);
    case("descriptor/version", "P1.4", version);
    case("descriptor/build-id", "P1.4", build_id);
    cases
        .case(Group::Load, "descriptor/as-in-the-manifest", "P1.4", Subject::Manifest)
        .run(as_in_the_manifest);
}

fn entry(c: &Context) -> Verdict<&'static ChipdockPlugin> {
    Plugin::entry(c.library()).map_err(|error| refusal(&error))
}

fn same_at_every_call(c: &Context) -> Verdict {
    let first = entry(c)?;
    for number in 2..=N_CALLS {
        let again = entry(c)?;
        let expected = format!("the descriptor at {first:p} at call {number} too");
        ensure(ptr::eq(first, again), expected, format!("{again:p}"))?;
    }
    Ok(())
}

fn same_on_threads(c: &Context) -> Verdict {
    let first = ptr::from_ref(entry(c)?).addr();
    let library = c.library();
    let ask = || Plugin::entry(library).map(|raw| ptr::from_ref(raw).addr());
    let answers: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(ask)).collect();
        handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    for answer in answers {
        let answer = answer.map_err(|_| Stop::suite("a thread of the suite panicked"))?;
        let found = answer.map_err(|error| refusal(&error))?;
        ensure(
            found == first,
            format!("the descriptor at {first:#x} on every thread"),
            format!("{found:#x}"),
        )?;
    }
    Ok(())
}

/// Returns the bytes of the descriptor and of its texts.
fn contents(raw: &'static ChipdockPlugin) -> Vec<u8> {
    let words = ptr::from_ref(raw).cast::<u64>();
    let n_words = size_of::<ChipdockPlugin>() / size_of::<u64>();
    // SAFETY: the descriptor is live and has no padding; read as volatile, because the plugin could
    // change it.
    let words = (0..n_words).map(|index| unsafe { words.add(index).read_volatile() });
    let mut all: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
    for text in [raw.name, raw.version, raw.build_id, raw.info_json] {
        all.extend_from_slice(bytes(text));
    }
    all
}

fn bytes(text: ChipdockStr) -> &'static [u8] {
    // SAFETY: by P9.3, the descriptor's texts are static.
    unsafe { bytes_in(text) }
}

fn never_changes(c: &Context) -> Verdict {
    let raw = descriptor(c)?;
    let before = contents(raw);
    let session = Session::open(raw, hosts::host())?;
    let during = contents(entry(c)?);
    session.shut_down()?;
    let after = contents(entry(c)?);
    for (when, found) in [("after init", during), ("after shutdown", after)] {
        let expected = format!("the same descriptor {when} as before init: make it const");
        ensure(found == before, expected, "other bytes")?;
    }
    Ok(())
}

/// Checks and returns a text of the descriptor.
fn text(what: &str, text: ChipdockStr) -> Verdict<&'static str> {
    ensure(text.size == 0 || !text.data.is_null(), format!("{what} of the descriptor"), "null with a size")?;
    std::str::from_utf8(bytes(text)).map_err(|_| {
        Stop::failed(format!("{what} in UTF-8"), format!("{:?}", String::from_utf8_lossy(bytes(text))))
    })
}

fn name(c: &Context) -> Verdict {
    let name = text("the name", descriptor(c)?.name)?;
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    let is_good = !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(good);
    let expected = format!("a name of 1 to {NAME_BYTES_MAX} lower-case letters, digits, `-` and `_`");
    ensure(is_good, expected, format!("{name:?}"))
}

fn version(c: &Context) -> Verdict {
    let version = text("the version", descriptor(c)?.version)?;
    let parsed = semver::Version::parse(version);
    let why = parsed.as_ref().err().map(ToString::to_string).unwrap_or_default();
    ensure(parsed.is_ok(), "a version of the form 1.2.3 (semver)", format!("{version:?}: {why}"))
}

fn build_id(c: &Context) -> Verdict {
    let id = text("the build id", descriptor(c)?.build_id)?;
    let is_good = id.chars().all(|character| !character.is_control());
    ensure(is_good, "a build id of one line, or an empty one", format!("{id:?}"))
}

fn as_in_the_manifest(c: &Context) -> Verdict {
    let manifest = image::manifest(c)?;
    let raw = descriptor(c)?;
    let note = |stop: Stop| stop.note("install library and manifest together: chipdock manifest PLUGIN.so");
    equal(
        "the name of the descriptor, as in the manifest",
        &text("the name", raw.name)?,
        &manifest.name.as_str(),
    )
    .map_err(note)?;
    let version = manifest.version.to_string();
    let found = text("the version", raw.version)?;
    equal("the version of the descriptor, as in the manifest", &found, &version.as_str()).map_err(note)
}
