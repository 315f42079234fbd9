//! Tests of the suite by mutants: plugins with one planted fault each, which the suite must detect
//! under the violated clause. Each mutant runs only the groups of its clause.
//!
//! - Most are copies of the reference plugin with the name of a fault written over its marker
//!   (`tests/reference-plugin/mutants.toml`, `tests/reference-plugin/src/fault.rs`).
//! - Faults of the file itself, and faults that safe Rust cannot have, are text changes of the C
//!   template (`mutants/c.toml`).
//!
//! The original plugins must pass the same cases. A run takes the mutants that it has drawn
//! ([`sample`]).

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_conformance::{Report, Status};
use chipdock_test_support::sample;
use serde::Deserialize;

/// Where the name of a fault goes: see `tests/reference-plugin/src/fault.rs`.
const MARKER: &[u8] = b"chipdock-reference-fault:";
/// Zeros after the marker, for the name of a fault. The text may stand elsewhere too, with less.
const ROOM_BYTES: usize = 64;
/// The suite promises at least as many.
const MUTANTS_MIN: usize = 40;

/// A run takes one mutant in so many.
const SHARE: usize = 8;

/// The first list of mutants, as a sample of it is named.
const REFERENCE_MUTANTS: &str = "mutants of the reference plugin";

/// How often a mutant is run at most before it counts as escaped.
const HUNTS_MAX: usize = 3;

/// A planted fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    name: String,
    /// The clause that it breaks: a case about it has to fail.
    clause: String,
    /// Groups, or globs of ids, that run.
    groups: Vec<String>,
    /// What it does wrong.
    what: String,
    /// For the template in C: pieces of its text and what stands there instead.
    #[serde(default)]
    replace: Vec<(String, String)>,
    /// What is written behind it.
    #[serde(default)]
    append: String,
    /// More arguments for the compiler.
    #[serde(default)]
    flags: Vec<String>,
    /// Changes of the manifest, text for text; a star at the end of what is replaced stands for the
    /// rest of its line.
    #[serde(default)]
    manifest: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutants {
    mutant: Vec<Mutant>,
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn mutants(file: &Path) -> Vec<Mutant> {
    let text = fs::read_to_string(file).expect("the list of mutants");
    toml::from_str::<Mutants>(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())).mutant
}

/// A plugin in a folder of its own, with a manifest.
struct Built {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl Built {
    fn new(name: &str, make: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join(format!("{}.so", name.replace('-', "_")));
        make(&library);
        let command = &chipdock_test_support::command::built().command;
        // A plugin that cannot be opened has no manifest, which is part of what is to be found.
        let output = Command::new(command).arg("manifest").arg(&library).output();
        output.expect("the command starts");
        Self { folder, library }
    }

    fn change_manifest(&self, changes: &[(String, String)]) {
        if changes.is_empty() {
            return;
        }
        let path = self.library.with_extension("chipdock.json");
        let mut text = fs::read_to_string(&path).expect("a manifest");
        for (from, to) in changes {
            // A star at the end is the rest of the line.
            let from = match from.strip_suffix('*').and_then(|start| text.find(start)) {
                Some(at) => text[at..].lines().next().unwrap_or_default().to_owned(),
                None => from.clone(),
            };
            assert!(text.contains(from.as_str()), "the manifest has no {from:?}:\n{text}");
            text = text.replace(&from, to);
        }
        fs::write(&path, text).expect("written");
    }

    /// The suite's report over some groups.
    fn report(&self, groups: &[String], expectations: &Path) -> Report {
        let file = self.folder.path().join("report.json");
        let mut command = Command::new(&chipdock_test_support::command::built().command);
        command.arg("conformance").arg(&self.library).arg("--report-json").arg(&file);
        command.args(["--no-again", "--jobs", "1", "--expectations"]).arg(expectations);
        for group in groups {
            let glob = if group.contains('/') { group.clone() } else { format!("{group}/*") };
            command.args(["--filter", &glob]);
        }
        command.current_dir(self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path());
        let output = command.output().expect("the command starts");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| {
            panic!("no report ({error}):\n{}", String::from_utf8_lossy(&output.stderr))
        });
        serde_json::from_str(&text).expect("a report")
    }
}

pub(crate) fn reference() -> PathBuf {
    chipdock_test_support::plugins::build(&["chipdock-reference-plugin"]).remove(0)
}

/// A copy of the reference plugin with a fault planted; none for an empty name.
pub(crate) fn planted(reference: &Path, name: &str, to: &Path) {
    let mut bytes = fs::read(reference).expect("the reference plugin");
    let at: Vec<usize> = bytes
        .windows(MARKER.len() + ROOM_BYTES)
        .enumerate()
        .filter(|(_, window)| {
            window.starts_with(MARKER) && window[MARKER.len()..].iter().all(|byte| *byte == 0)
        })
        .map(|(at, _)| at + MARKER.len())
        .collect();
    assert_eq!(at.len(), 1, "the marker is there once");
    bytes[at[0]..at[0] + name.len()].copy_from_slice(name.as_bytes());
    fs::write(to, bytes).expect("written");
}

/// The template in C, changed.
fn compiled(mutant: &Mutant, to: &Path) {
    let root = here().join("../..");
    let mut text =
        fs::read_to_string(root.join("examples/plugin-template-c/template.c")).expect("the template");
    for (from, into) in &mutant.replace {
        assert!(text.contains(from.as_str()), "{}: the template has no {from:?}", mutant.name);
        text = text.replace(from, into);
    }
    text.push_str(&mutant.append);
    let source = to.with_extension("c");
    fs::write(&source, text).expect("written");
    let mut command = Command::new("cc");
    command.args(["-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(root.join("plugin-api/abi/include")).arg(&source).arg("-o").arg(to).args(&mutant.flags);
    let output = command.output().expect("cc is there");
    assert!(output.status.success(), "{}:\n{}", mutant.name, String::from_utf8_lossy(&output.stderr));
}

/// What caught a mutant: the case that failed under its clause.
fn caught(mutant: &Mutant, report: &Report) -> Result<String, String> {
    let mut others = Vec::new();
    for case in report.unfine().filter(|case| case.status != Status::SuiteFault) {
        let clause =
            case.failure.as_ref().and_then(|failure| failure.clause.as_ref()).unwrap_or(&case.clause);
        if *clause == mutant.clause {
            return Ok(format!("{} ({})", case.id, case.status.name()));
        }
        others.push(format!("{} under {clause}", case.id));
    }
    let cases = report.cases.len();
    others.truncate(8);
    Err(match (report.refused.is_empty(), others.is_empty()) {
        (false, _) => format!("refused: {}", report.refused),
        (true, true) => format!("{cases} cases, none failed"),
        (true, false) => format!("{cases} cases, failed under other clauses: {}", others.join(", ")),
    })
}

/// Makes and runs mutants, as many at once as there are cores; all of them, even when one escapes.
fn hunt(all: &[Mutant], expectations: &Path, make: &(dyn Fn(&Mutant, &Path) + Sync)) {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(mutant) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let built = Built::new(&mutant.name, |library| make(mutant, library));
                    built.change_manifest(&mutant.manifest);
                    // A race shows itself often, not always: what escapes is hunted again.
                    let mut found = caught(mutant, &built.report(&mutant.groups, expectations));
                    for _ in 1..HUNTS_MAX {
                        if found.is_err() {
                            found = caught(mutant, &built.report(&mutant.groups, expectations));
                        }
                    }
                    let (word, text) = match &found {
                        Ok(text) => ("caught", text),
                        Err(text) => ("ESCAPED", text),
                    };
                    println!("{word:8} {:6} {:32} {text}", mutant.clause, mutant.name);
                    let escaped =
                        found.is_err().then(|| format!("{} ({}): {text}", mutant.name, mutant.what));
                    results.lock().expect("the results").push(escaped);
                }
            });
        }
    });
    let escaped: Vec<String> = results.into_inner().expect("the results").into_iter().flatten().collect();
    assert!(escaped.is_empty(), "{} of {} escaped:\n{}", escaped.len(), all.len(), escaped.join("\n"));
}

/// Those that this run has drawn.
fn drawn(what: &str, all: Vec<Mutant>) -> Vec<Mutant> {
    sample::draw(what, SHARE, all, |mutant| mutant.name.clone())
}

fn reference_mutants() -> Vec<Mutant> {
    mutants(&here().join("../../tests/reference-plugin/mutants.toml"))
}

fn c_mutants() -> Vec<Mutant> {
    mutants(&here().join("tests/mutants/c.toml"))
}

#[test]
fn mutants_of_the_reference_plugin_are_caught() {
    let reference = reference();
    let expectations = here().join("../../tests/reference-plugin/expectations.toml");
    hunt(&drawn(REFERENCE_MUTANTS, reference_mutants()), &expectations, &|mutant, library| {
        planted(&reference, &mutant.name, library)
    });
}

#[test]
fn mutants_of_the_template_in_c_are_caught() {
    let expectations = here().join("../../examples/plugin-template-c/expectations.toml");
    hunt(&drawn("mutants of the template in C", c_mutants()), &expectations, &compiled);
}

/// What is caught in a mutant must not be found in what it was made from: a suite that cries wolf
/// catches everything. A run takes the groups of the mutants that it has drawn, a whole run every
/// case there is.
#[test]
fn the_originals_of_mutants_pass_the_same_cases() {
    let reference = reference();
    let original = Built::new("reference", |library| planted(&reference, "", library));
    let file = here().join("../../tests/reference-plugin/expectations.toml");
    let all: BTreeSet<String> = reference_mutants().into_iter().flat_map(|mutant| mutant.groups).collect();
    let drawn: BTreeSet<String> =
        drawn(REFERENCE_MUTANTS, reference_mutants()).into_iter().flat_map(|mutant| mutant.groups).collect();
    sample::report("groups of cases on what mutants are made from", drawn.len(), all.len());
    let groups: Vec<String> = if sample::is_whole_run() { Vec::new() } else { drawn.into_iter().collect() };
    let report = original.report(&groups, &file);
    let wrong: Vec<&str> = report.unfine().map(|case| case.id.as_str()).collect();
    assert!(wrong.is_empty() && report.exit == 0, "exit {}: {wrong:?} {:?}", report.exit, report.stale);
    let n_passed = report.cases.iter().filter(|case| case.status == Status::Passed).count();
    assert!(n_passed > 0, "no case of {groups:?} passed");
    if sample::is_whole_run() {
        assert_eq!(report.reached(), Some(chipdock_conformance::Level::Full));
    }
}

#[test]
fn there_are_enough_mutants_with_names_of_their_own() {
    let mut names: Vec<String> =
        reference_mutants().into_iter().chain(c_mutants()).map(|mutant| mutant.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two mutants share a name");
    assert!(count >= MUTANTS_MIN, "{count} mutants, expected {MUTANTS_MIN} or more");
}
