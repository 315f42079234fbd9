//! Every release calls every library with every kind of tensors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_interpret::Outcome;
use chipdock_test_interop::case::{Case, KINDS, LOSING};
use chipdock_test_interop::cases;
use chipdock_test_interop::driver::{Answers, Plan, each_release};
use chipdock_test_interop::environment::{environment, listed};
use chipdock_test_interop::libraries::{EXPORTERS, build, control, kernels, module};
use chipdock_test_interop::table::{self, Counts};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::sample;
use serde_json::json;

const WHAT: &str = "exported libraries in every release of apache-tvm-ffi";

/// The library that nothing of Chipdock made.
const CONTROL: &str = "control";

/// The cases, with what the interpreter computes, for some kinds of tensors.
struct Matrix {
    cases: Vec<(Case, Option<Outcome>)>,
    kinds: Vec<&'static str>,
}

impl Matrix {
    fn calls(&self) -> impl Iterator<Item = (&Case, Option<&Outcome>, &'static str, &'static str)> {
        self.cases.iter().flat_map(move |(case, outcome)| {
            let kinds = self.kinds.iter().filter(|kind| case.kinds.contains(kind));
            kinds.flat_map(move |kind| {
                EXPORTERS.iter().map(move |exporter| (case, outcome.as_ref(), exporter.name, *kind))
            })
        })
    }

    fn plan(&self, libraries: &[(String, PathBuf)]) -> Plan {
        let cases = self.calls().map(|(case, _, library, kind)| case.plan(library, kind)).collect();
        let loses = json!({"name": "loses", "scenario": "loses", "library": CONTROL});
        let scenarios = if self.kinds.contains(&"torch") { vec![loses] } else { vec![] };
        Plan { libraries: libraries.to_vec(), cases, scenarios, ..Plan::default() }
    }

    /// Counts what went as expected, and lists what did not.
    fn judge(&self, release: &str, answers: &Answers, counts: &mut Counts, wrong: &mut Vec<String>) {
        for (case, outcome, library, kind) in self.calls() {
            let title = case.title(library, kind);
            let result = case.judge(outcome, &answers[&title]);
            let count = counts.entry((release.to_owned(), library, kind)).or_default();
            count.0 += usize::from(result.is_ok());
            count.1 += 1;
            let is_theirs = case.is_lost(release, kind, &answers[&title]);
            if let Err(why) = result
                && !is_theirs
            {
                wrong.push(format!("{release}, {title}: {why}"));
            }
        }
        // What LOSING says is true of a library that nothing of Chipdock made, and of no other
        // release.
        if let Some(seen) = answers.get("loses").map(|answer| &answer["seen"]) {
            let is_losing = |kind| LOSING.contains(&(release, kind));
            if *seen != json!({"numpy": is_losing("numpy"), "torch": is_losing("torch")}) {
                wrong.push(format!("{release}, exceptions of the control library: {seen}"));
            }
        }
        for (name, answer) in answers.iter().filter(|(name, _)| name.starts_with("load ")) {
            wrong.push(format!("{release}, {name}: {answer}"));
        }
    }
}

#[test]
fn every_release_calls_every_library() {
    let Some(environment) = environment(WHAT) else { return };
    let folder = Scratch::new();
    let built = |exporter| build(&folder, exporter, &kernels(), None);
    let mut libraries: Vec<(String, PathBuf)> =
        EXPORTERS.iter().map(|exporter| (exporter.name.to_owned(), built(*exporter))).collect();
    libraries.push((CONTROL.to_owned(), control(&folder)));
    let module = module();
    let cases: Vec<_> = cases::all()
        .into_iter()
        .map(|case| {
            let outcome = case.outcome(&module);
            (case, outcome)
        })
        .collect();
    let kinds =
        |is_torch: bool| KINDS.iter().copied().filter(|kind| (*kind == "torch") == is_torch).collect();
    let mut pythons =
        vec![(environment.python.clone(), Matrix { cases: cases.clone(), kinds: kinds(false) })];
    if let Some(torch) = environment.torch(WHAT) {
        pythons.push((torch, Matrix { cases, kinds: kinds(true) }));
    }
    let run = |_: &str, release: &Path| {
        let each = |(python, matrix): &(PathBuf, Matrix)| matrix.plan(&libraries).run(python, release);
        pythons.iter().map(each).collect::<Vec<_>>()
    };
    let (mut counts, mut wrong) = (Counts::new(), Vec::new());
    for (release, answers) in each_release(&environment, run) {
        for ((_, matrix), answers) in pythons.iter().zip(answers) {
            match answers {
                Ok(answers) => matrix.judge(&release, &answers, &mut counts, &mut wrong),
                Err(why) => wrong.push(format!("{release}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} calls:\n{}", wrong.len(), total(&counts), summary(&wrong));
    table::check(&environment.releases, &counts).unwrap_or_else(|error| panic!("{error}"));
}

fn total(counts: &Counts) -> usize {
    counts.values().map(|(_, all)| all).sum()
}

/// What is wrong in many releases is shown once.
fn summary(wrong: &[String]) -> String {
    let mut by_case: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in wrong {
        let (release, what) = line.split_once([',', ':']).unwrap_or(("", line));
        by_case.entry(what).or_default().push(release);
    }
    let lines: Vec<String> = by_case
        .iter()
        .take(40)
        .map(|(what, releases)| format!("{what}\n    in {}", releases.join(" ")))
        .collect();
    lines.join("\n")
}

#[test]
fn the_list_of_releases_is_in_order_and_names_each_once() {
    let number = |release: &String| -> Vec<u32> {
        let (base, post) = release.split_once(".post").unwrap_or((release, ""));
        let numbers = base.split('.').map(|part| part.parse().expect("a number"));
        numbers.chain([post.parse::<u32>().map_or(0, |post| post + 1)]).collect()
    };
    let numbers: Vec<Vec<u32>> = listed().iter().map(number).collect();
    assert!(numbers.len() > 10 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!(numbers[0], [0, 1, 0, 0]);
}

/// Asks PyPI, so it is only asked for (`cargo xtask test --all`): what is released tomorrow breaks
/// nobody's change.
#[test]
fn pypi_offers_no_other_release() {
    if sample::amount("questions to PyPI for new releases of apache-tvm-ffi", 0, 1) == 0 {
        return;
    }
    let Some(environment) = environment("the list of releases of apache-tvm-ffi") else { return };
    let mut pip = Command::new(&environment.python);
    let output = pip.args(["-m", "pip", "index", "versions", "apache-tvm-ffi"]).output().expect("pip");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix("Available versions: ")).expect("the versions");
    let mut offered: Vec<String> = line.split(", ").map(str::to_owned).collect();
    offered.reverse();
    assert_eq!(offered, environment.releases, "PyPI's list, then tests/interop/releases.txt");
}
