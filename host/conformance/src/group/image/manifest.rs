//! Cases about the manifest beside the library.
//!
//! A plugin without a manifest is allowed: hosts find it and open it late. These cases test the
//! manifest of a plugin that has one ([`Subject::Manifest`]); the group `load` tests that one can
//! be generated.

use chipdock_abi::{CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR};
use chipdock_host::manifest::{Manifest, glibc_floor, manifest_path, sha256_of};
use object::elf as numbers;

use super::elf::image;
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const MAKE_IT: &str = "generate it again: chipdock manifest PLUGIN.so";

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Image, name, clause, Subject::Manifest).run(body);
    };
    case("manifest/readable", "P5.6", |c| manifest(c).map(drop));
    case("manifest/platform", "P5.6", platform);
    case("manifest/abi", "P5.6", abi);
    case("manifest/keys-sorted", "P5.7", keys_sorted);
    case("manifest/schemas", "P5.7", schemas);
    case("manifest/names", "P5.9", names);
    case("manifest/known-fields", "P5.13", known_fields);
    case("manifest/needed-keys", "P5.16", needed_keys);
    case("manifest/digest", "P5.8", digest);
    case("manifest/libc-floor", "P12.3", libc_floor);
    case("manifest/needed-libraries", "P12.1", needed_libraries);
}

/// Reads the manifest of the library under test.
pub(in crate::group) fn manifest(c: &Context) -> Verdict<Manifest> {
    Manifest::read(&manifest_path(c.library()))
        .map_err(|error| Stop::failed("a manifest that can be read", error).clause("P5.6").note(MAKE_IT))
}

fn platform(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    let arch = match image(c)?.machine {
        numbers::EM_X86_64 => "x86_64".to_owned(),
        numbers::EM_AARCH64 => "aarch64".to_owned(),
        numbers::EM_RISCV => "riscv64".to_owned(),
        other => format!("machine {other}"),
    };
    equal("\"os\" of the manifest", &manifest.os.as_str(), &"linux")?;
    equal("\"arch\" of the manifest, as the library is built", &manifest.arch, &arch)
}

fn abi(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    let version = semver::Version::new(CHIPDOCK_ABI_MAJOR.into(), CHIPDOCK_ABI_MINOR.into(), 0);
    let newer = semver::Version::new(CHIPDOCK_ABI_MAJOR.into(), u64::from(CHIPDOCK_ABI_MINOR) + 1, 0);
    for version in [version, newer] {
        let expected =
            format!("\"abi\" of the manifest that allows {version}; a major has no minors that do not fit");
        ensure(manifest.abi.matches(&version), expected, &manifest.abi)?;
    }
    Ok(())
}

fn keys_sorted(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    ensure(!manifest.provides.is_empty(), "\"provides\" with one key at least", "none")?;
    let wrong = manifest.provides.windows(2).find(|pair| pair[0] >= pair[1]);
    let found = wrong.map(|pair| format!("{:?} before {:?}", pair[0], pair[1])).unwrap_or_default();
    ensure(wrong.is_none(), "\"provides\" sorted, no key twice", found).map_err(|stop| stop.note(MAKE_IT))
}

fn schemas(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    let mut listed: Vec<&str> = manifest.target_kinds.iter().map(|kind| kind.name()).collect();
    let provided: Vec<&str> =
        manifest.provides.iter().filter_map(|key| key.strip_prefix("target.kind.")).collect();
    listed.sort_unstable();
    equal("schemas in \"target_kinds\" for each target.kind of \"provides\"", &listed, &provided)
        .map_err(|stop| stop.note(MAKE_IT))
}

fn names(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    let good = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_good = |key: &&String| {
        let parts: Vec<&str> = key.split('/').collect();
        matches!(parts.len(), 1 | 3) && parts.iter().all(|part| !part.is_empty() && part.chars().all(good))
    };
    let bad = manifest.provides.iter().find(|key| !is_good(key));
    ensure(
        bad.is_none(),
        "keys of letters, digits, `_`, `.` and `-`, those of interfaces <key>/<interface>/<version>",
        format!("{bad:?}"),
    )
}

/// Checks for unknown fields: a host ignores them (P3.9), but here one is a misspelling.
fn known_fields(c: &Context) -> Verdict {
    let path = manifest_path(c.library());
    let unknown = Manifest::unknown_fields(&std::fs::read_to_string(path).map_err(Stop::suite)?)
        .map_err(|error| Stop::failed("a manifest that can be read", error).clause("P5.6").note(MAKE_IT))?;
    ensure(unknown.is_empty(), "a manifest of fields that are known", format!("{unknown:?}"))
        .map_err(|stop| stop.note("a host would ignore them"))
}

/// Checks the needed keys: a host skips duplicates and keys of the plugin itself, and cannot
/// resolve a text that is no key.
fn needed_keys(c: &Context) -> Verdict {
    let manifest = manifest(c)?;
    manifest.needs.check_keys(&manifest.provides).map_err(|wrong| {
        Stop::failed("\"needs\".\"keys\" of the manifest: keys of other plugins, each once", wrong)
            .note(MAKE_IT)
    })
}

fn digest(c: &Context) -> Verdict {
    // A manifest without a digest is allowed: checking one costs a read of the whole library at
    // each opening.
    let Some(expected) = manifest(c)?.sha256 else { return Ok(()) };
    let found = sha256_of(c.library())?;
    ensure(
        found.eq_ignore_ascii_case(&expected),
        format!("the library's SHA-256 in the manifest, {found}"),
        expected,
    )
    .map_err(|stop| stop.note("the library was built again, or changed, after the manifest was made"))
}

/// Parses a version into numbers for comparison.
fn parts(version: &str) -> Vec<u64> {
    version.trim_start_matches("GLIBC_").split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn libc_floor(c: &Context) -> Verdict {
    let declared = manifest(c)?.needs.glibc;
    let versions = image(c)?.versions;
    let needed = versions.iter().filter(|version| version.starts_with("GLIBC_"));
    let Some(needed) = needed.max_by_key(|version| parts(version)) else { return Ok(()) };
    let bytes = std::fs::read(c.library()).map_err(Stop::suite)?;
    let generated = glibc_floor(&bytes).unwrap_or_default();
    let is_enough = declared.as_deref().is_some_and(|declared| parts(declared) >= parts(needed));
    let expected =
        format!("\"needs\".\"glibc\" of the manifest: {generated}, since it uses symbols of {needed}");
    ensure(is_enough, expected, declared.as_deref().unwrap_or("none")).map_err(|stop| stop.note(MAKE_IT))
}

fn needed_libraries(c: &Context) -> Verdict {
    for library in manifest(c)?.needs.libraries {
        ensure(!library.names.is_empty(), "a needed library with the names that it is tried by", "none")?;
        let path = library.names.iter().find(|name| name.is_empty() || name.contains('/'));
        ensure(path.is_none(), "needed libraries by their SONAME", format!("{path:?}"))?;
    }
    Ok(())
}
