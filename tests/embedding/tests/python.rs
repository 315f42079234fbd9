//! The library in Python, under every release of TVM-FFI.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use chipdock_test_embedding::{callbacks, run};
use chipdock_test_interop::driver::each_release;
use chipdock_test_interop::environment::environment;
use chipdock_test_support::command::{Scratch, built};
use chipdock_test_support::workspace;
use serde_json::Value;

/// Cases that old releases cannot run, with the first that can.
const UNABLE: &[(&str, &str)] = &[
    ("the_functions_are_global_and_described", "0.1.4"),
    ("objects_have_their_types_and_methods", "0.1.0"),
    ("a_call_runs_on_the_stream_of_the_environment", "0.1.0"),
];

/// Orders releases by their numbers.
fn numbers(release: &str) -> Vec<u64> {
    release.split('.').filter_map(|part| part.trim_start_matches("post").parse().ok()).collect()
}

/// FFI-1 to FFI-8: each case of `cases.py`, in the oldest and the newest release and in some of
/// those between.
#[test]
fn cases_pass_in_releases() {
    let Some(environment) = environment("libchipdock.so in Python") else { return };
    let environment = environment.drawn();
    let plugin_folder = Scratch::new();
    let plugin = callbacks(&plugin_folder);
    let answers = each_release(&environment, |_, release| {
        let folder = Scratch::new();
        let mut command = Command::new(&environment.python);
        command.arg(workspace().join("tests/embedding/cases.py")).arg(built().library());
        command.arg(folder.path(".")).arg(&plugin).env("PYTHONPATH", release);
        command.env("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1").env("TVM_FFI_CACHE_DIR", folder.path("cache"));
        let output = run(&mut command);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {:?}\n{said}", release.display(), output.status);
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect::<Vec<Value>>()
    });
    let (mut failures, mut unable) = (Vec::new(), BTreeMap::<String, BTreeSet<Vec<u64>>>::new());
    let mut counts = BTreeSet::new();
    for (release, lines) in &answers {
        counts.insert(lines.len());
        for line in lines.iter().skip(1) {
            let (case, why) =
                (line["case"].as_str().expect("a name"), line["why"].as_str().unwrap_or_default());
            match line["state"].as_str() {
                Some("passed") => {}
                Some("unable") => drop(unable.entry(case.to_owned()).or_default().insert(numbers(release))),
                _ => failures.push(format!("{release}, {case}: {why}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} failures, the first:\n{}", failures.len(), failures[0]);
    assert_eq!(counts.len(), 1, "every release answers every case");
    for (case, releases) in unable {
        let known = UNABLE.iter().find(|(known, _)| *known == case);
        let (_, first) = known.unwrap_or_else(|| panic!("{case} cannot run in {releases:?}"));
        let later: Vec<_> = releases.iter().filter(|release| **release >= numbers(first)).collect();
        assert!(later.is_empty(), "{case} cannot run in {later:?}; the list says from {first} on");
    }
}
