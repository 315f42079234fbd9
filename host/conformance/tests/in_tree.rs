//! The suite over the plugins of this repository, as a user runs it: each backend is as its kept
//! card says, and the templates reach the level that their READMEs promise.
//!
//! A run takes samples of operations, kernels and random programs
//! ([`chipdock_test_support::sample`]) and all other cases, and compares the card's plugin, claims
//! and list of cases; `cargo xtask test --all` takes all, and compares levels and counts too.
//! `BLESS=1` writes `plugins/*/conformance.card.json` and the table in the README that is printed
//! from the cards.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use chipdock_conformance::Level;
use chipdock_conformance::card::{self, Card};
use chipdock_conformance::report::LevelState;
use chipdock_test_support::command::built;
use chipdock_test_support::lists::List;
use chipdock_test_support::sample::{Drawn, is_whole_run};
use chipdock_test_support::{bless, is_blessing, workspace};

/// The cases of which a run takes a sample: the beginning of their ids, what they are, and in how
/// many it takes one.
const SAMPLED: [(&str, &str, usize); 7] = [
    ("op/", "operations on types", 32),
    ("kernel/example/", "calls of examples", 12),
    ("kernel/again/", "examples called again", 5),
    ("kernel/saved/", "examples saved and loaded", 5),
    ("kernel/threads/", "kernels with threads", 10),
    ("kernel/printed/", "kernels printed by TVM", 6),
    ("fuzz/", "random programs", 8),
];

const BEGIN: &str = "<!-- conformance:begin -->\n";
const END: &str = "<!-- conformance:end -->";

/// The folders of the backends, by name.
fn backends() -> Vec<PathBuf> {
    let folders = chipdock_test_support::plugins::folders().expect("plugins/");
    assert!(!folders.is_empty(), "no backend");
    folders
}

/// Runs the suite and answers the exit code, what it printed, and the card.
fn conformance(library: &Path, arguments: &[&str]) -> (Option<i32>, String, Card) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("conformance.card.json");
    let mut command = Command::new(&built().command);
    command.arg("conformance").arg(library).arg("--card").arg(&file).args(arguments);
    // Four compilers may share two cores here, and a compiler of C takes tens of seconds for some
    // kernels.
    command.args(["--patience", "4"]);
    // Plugins that are installed on this machine take no part, nor do the tester's settings.
    command.env("XDG_DATA_HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
    command.current_dir(folder.path());
    let output = command.output().expect("the command starts");
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("no card: {error}\n{said}"));
    (output.status.code(), said, Card::parse(&text).expect("a card"))
}

/// What of a card has to be the same on every machine and whatever cases a run takes: the plugin
/// and the suite.
fn subject(card: &Card) -> String {
    let (plugin, suite) = (&card.plugin, &card.suite);
    let lines = [
        format!("plugin {} {:?}", plugin.name, plugin.registered),
        format!("suite {}, {} cases {}, {:?}", suite.version, suite.n_cases, suite.cases_sha256, suite.level),
        format!("claims {:?}", card.claims),
    ];
    lines.join("\n")
}

/// What of a card has to be the same on every machine: not the library's digest, the device, the
/// day.
fn facts(card: &Card) -> String {
    let lines = [
        subject(card),
        format!("filters {:?}", card.suite.filters),
        format!("levels {:?}", card.levels),
        format!("counts {:#?}", card.counts),
        format!("exit {}, {} stale, {} faults", card.exit, card.n_stale, card.n_faults),
    ];
    lines.join("\n")
}

fn library(backend: &Path) -> PathBuf {
    let name = backend.file_name().expect("a name").to_string_lossy().replace('-', "_");
    built().plugins.join(format!("chipdock_plugin_{name}.so"))
}

fn kept(backend: &Path) -> PathBuf {
    backend.join("conformance.card.json")
}

/// The cards of a backend: that of this machine, then those of other ones, by file name.
fn kept_cards(backend: &Path) -> Vec<Card> {
    let files = fs::read_dir(backend).expect("the folder of a backend");
    let names = files.map(|file| file.expect("an entry").file_name().to_string_lossy().into_owned());
    let is_another =
        |name: &String| name.strip_prefix("conformance.").is_some_and(|rest| rest.ends_with(".card.json"));
    let mut others: Vec<String> = names.filter(is_another).collect();
    others.sort();
    let all = std::iter::once(kept(backend)).chain(others.iter().map(|name| backend.join(name)));
    all.map(|file| Card::parse(&fs::read_to_string(file).expect("a card")).expect("a card")).collect()
}

fn main() -> ExitCode {
    let mut list = List::new();
    for backend in backends() {
        let name = backend.file_name().expect("a name").to_string_lossy().into_owned();
        list = list.one(&format!("is_as_its_card_says::{name}"), move || is_as_its_card_says(&backend));
    }
    let others: [(&str, fn()); 5] = [
        (
            "the_table_in_the_readme_is_printed_from_the_cards",
            the_table_in_the_readme_is_printed_from_the_cards,
        ),
        ("the_template_in_rust_reaches_its_level", the_template_in_rust_reaches_its_level),
        ("the_template_in_c_reaches_its_level", the_template_in_c_reaches_its_level),
        ("the_code_generator_in_c_reaches_its_level", the_code_generator_in_c_reaches_its_level),
        ("a_chip_without_threads_reaches_its_level", a_chip_without_threads_reaches_its_level),
    ];
    for (name, test) in others {
        list = list.one(name, move || {
            test();
            Ok(())
        });
    }
    list.run()
}

fn is_as_its_card_says(backend: &Path) -> Result<(), String> {
    let library = library(backend);
    let drawn = drawn(&backend.file_name().unwrap_or_default().to_string_lossy(), &library)?;
    let filters: Vec<&str> = drawn.iter().flat_map(|id| ["--filter", id.as_str()]).collect();
    let (code, said, card) = conformance(&library, &filters);
    println!("{:?}, exit code {code:?}", card.reached());
    if code != Some(0) {
        return Err(format!("it ended with {code:?}:\n{said}"));
    }
    if is_blessing() {
        return fs::write(kept(backend), card.text()).map_err(|error| error.to_string());
    }
    let compared = if drawn.is_empty() { facts } else { subject };
    let text = fs::read_to_string(kept(backend)).unwrap_or_default();
    let before = Card::parse(&text).map(|card| compared(&card)).unwrap_or_default();
    let now = compared(&card);
    if before != now {
        return Err(format!("not as its card says; BLESS=1 keeps the new one\n{before}\n---\n{now}"));
    }
    Ok(())
}

/// Returns filters for the cases that this run takes; none stands for all of them.
fn drawn(backend: &str, library: &Path) -> Result<BTreeSet<String>, String> {
    if is_whole_run() {
        return Ok(BTreeSet::new());
    }
    let mut command = Command::new(&built().command);
    let output = command.arg("conformance").arg(library).args(["--list", "--json", "--filter", "*"]).output();
    let output = output.map_err(|error| error.to_string())?;
    let list: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("the list of cases: {error}"))?;
    let cases = list["cases"].as_array().ok_or("a list without cases")?;
    let ids: Vec<&str> = cases.iter().filter_map(|case| case["id"].as_str()).collect();
    let drawn: Vec<(&str, Drawn)> = SAMPLED
        .iter()
        .map(|(start, what, one_in)| {
            let names = ids.iter().copied().filter(|id| id.starts_with(start));
            (*start, Drawn::of(&format!("{what} on the card of {backend}"), *one_in, names))
        })
        .collect();
    let is_taken = |id: &&&str| {
        drawn.iter().find(|(start, _)| id.starts_with(start)).is_none_or(|(_, drawn)| drawn.has(id))
    };
    Ok(ids.iter().filter(is_taken).map(|id| filter(id)).collect())
}

/// A filter that takes a case, and as few others as a list of filters that fits a command line
/// allows.
fn filter(id: &str) -> String {
    if SAMPLED.iter().any(|(start, ..)| id.starts_with(start)) {
        return id.to_owned();
    }
    match id.split('/').collect::<Vec<_>>().as_slice() {
        ["kernel", kind, ..] => format!("kernel/{kind}/*"),
        [group, _, ..] => format!("{group}/*"),
        _ => id.to_owned(),
    }
}

fn the_table_in_the_readme_is_printed_from_the_cards() {
    let cards: Vec<Card> = backends().iter().flat_map(|backend| kept_cards(backend)).collect();
    let path = workspace().join("README.md");
    let text = fs::read_to_string(&path).expect("the README");
    let (head, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (_, tail) = rest.split_once(END).expect("where the table ends");
    let printed = card::table(&cards);
    bless(&path, &format!("{head}{BEGIN}{printed}{END}{tail}")).unwrap_or_else(|error| panic!("{error}"));
}

/// Writes the manifest of a library beside it.
fn with_manifest(library: &Path) {
    let output = Command::new(&built().command).arg("manifest").arg(library).output();
    assert!(output.expect("the command starts").status.success(), "a manifest");
}

/// A template is where a vendor begins: it is at its level before anything is changed.
fn reaches(library: &Path, level: Level, expectations: &Path) {
    with_manifest(library);
    let expectations = expectations.to_str().expect("a path");
    let (code, said, card) = conformance(library, &["--expectations", expectations]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(card.reached(), Some(Level::Full), "{said}");
    let reached = card.levels.iter().find(|one| one.level == level);
    assert!(reached.is_some_and(|one| one.state == LevelState::Reached), "{level:?}: {said}");
}

fn the_template_in_rust_reaches_its_level() {
    let built = chipdock_test_support::plugins::build(&["chipdock-plugin-template"]).remove(0);
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("template.so");
    fs::copy(built, &library).expect("copied");
    reaches(&library, Level::Device, &workspace().join("examples/plugin-template-rust/expectations.toml"));
}

fn the_template_in_c_reaches_its_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("template.so");
    let source = workspace().join("examples/plugin-template-c/template.c");
    chipdock_test_support::plugins::compile(&["gcc", "-std=c99"], &source, &library);
    reaches(&library, Level::Device, &workspace().join("examples/plugin-template-c/expectations.toml"));
}

/// A run takes samples, as of the cards; a whole run is what reaches the level.
fn the_code_generator_in_c_reaches_its_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("codegen.so");
    // As C++ too: a plugin of C++ may start from it.
    compile_codegen(&["g++", "-x", "c++", "-std=c++11"], &library);
    compile_codegen(&["gcc", "-std=c99"], &library);
    reaches_with_samples("the code generator in C", &library, "expectations.toml");
}

/// A chip without thread axes is no worse: it reaches the same levels, and its kernels run (T.9,
/// K.2, SUITE-S18).
fn a_chip_without_threads_reaches_its_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("codegen.so");
    compile_codegen(&["gcc", "-std=c99", "-DTHREADS=0"], &library);
    let card =
        reaches_with_samples("the chip without threads in C", &library, "expectations.without-threads.toml");
    let passed =
        |group: &str| card.counts.get(group).and_then(|counts| counts.get("passed")).copied().unwrap_or(0);
    for group in ["module", "op", "kernel", "fuzz"] {
        assert!(passed(group) > 0, "no case of {group} passed: {:?}", card.counts);
    }
}

fn compile_codegen(compiler: &[&str], library: &Path) {
    let template = format!("-I{}", workspace().join("examples/plugin-template-c").display());
    let source = workspace().join("examples/codegen-c/plugin.c");
    let command_line = [compiler, &[template.as_str(), "-Wl,--no-as-needed", "-lm"]].concat();
    chipdock_test_support::plugins::compile(&command_line, &source, library);
}

/// Checks that all that a run takes of the suite ends as expected, and in a whole run that level
/// Full is reached.
fn reaches_with_samples(what: &str, library: &Path, expectations: &str) -> Card {
    let expectations = workspace().join("examples/codegen-c").join(expectations);
    with_manifest(library);
    let drawn = drawn(what, library).unwrap_or_else(|why| panic!("{why}"));
    let filters = drawn.iter().flat_map(|id| ["--filter", id.as_str()]);
    let expectations = expectations.to_str().expect("a path");
    let arguments: Vec<&str> = ["--expectations", expectations].into_iter().chain(filters).collect();
    let (code, said, card) = conformance(library, &arguments);
    assert_eq!(code, Some(0), "{said}");
    if is_whole_run() {
        assert_eq!(card.reached(), Some(Level::Full), "{said}");
        assert!(card.levels.iter().all(|one| one.state == LevelState::Reached), "{said}");
    }
    card
}
