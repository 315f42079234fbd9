//! Runs the conformance suite for the plugin `cuda` on the fake driver: data spaces, copies,
//! streams, mistakes, threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The command, a folder with the plugin, and one with the fake driver under the real one's name.
struct Setup {
    command: PathBuf,
    folder: tempfile::TempDir,
}

impl Setup {
    fn new() -> Self {
        let built = chipdock_test_support::plugins::build(&["chipdock-fake-cuda", "chipdock-plugin-cuda"]);
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("driver")).expect("a folder");
        fs::copy(&built[0], folder.path().join("driver/libcuda.so.1")).expect("copied");
        fs::copy(&built[1], folder.path().join("cuda.so")).expect("copied");
        let setup = Self { command: chipdock_test_support::command::built().command.clone(), folder };
        let manifest = setup.run(false, &["manifest", "cuda.so"]);
        assert!(manifest.status.success(), "{}", said(&manifest));
        setup
    }

    fn run(&self, has_driver: bool, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.command);
        command.args(arguments).current_dir(self.folder.path());
        command.env("XDG_DATA_HOME", self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path());
        if has_driver {
            command.env("LD_LIBRARY_PATH", self.folder.path().join("driver"));
            // Time in which a missing order shows.
            command.env("FAKE_CUDA_DELAY_US", "50");
        }
        command.output().expect("the command starts")
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn expectations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../expectations.toml")
}

/// Cases that look at what a kernel has computed.
const RUN_KERNELS: &[&str] =
    &["stream/kernel/", "threads/load/", "threads/call/", "threads/call-on-own-streams/"];

#[test]
fn the_devices_keep_the_contract() {
    let setup = Setup::new();
    let expectations = expectations();
    let expectations = expectations.to_str().expect("a path");
    let arguments = ["conformance", "cuda.so", "--level", "device", "--expectations", expectations];
    let output = setup.run(true, &[&arguments[..], &["--report-json", "report.json"]].concat());
    let text = fs::read_to_string(setup.folder.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let cases: Vec<(&str, &str)> = report["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .filter_map(|case| Some((case["id"].as_str()?, case["status"].as_str()?)))
        .collect();
    // The fake driver runs no kernels: what a kernel is to have computed is not there.
    let is_right = |(id, status): &&(&str, &str)| {
        ["passed", "unsupported", "absent"].contains(status)
            || RUN_KERNELS.iter().any(|start| id.starts_with(start))
    };
    let wrong: Vec<_> = cases.iter().filter(|case| !is_right(case)).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{}", said(&output));
    let on_devices = |case: &&(&str, &str)| case.0.ends_with("@cuda") && case.1 == "passed";
    let passed = cases.iter().filter(on_devices).count();
    assert!(passed > 800, "the devices were there: {passed} of {} cases passed", cases.len());
}

#[test]
fn without_a_driver_the_reason_is_reported() {
    if ["libcuda.so.1", "libcuda.so"].iter().any(|name| {
        // SAFETY: a vendor's driver, opened as the plugin would.
        unsafe { libloading::Library::new(*name) }.is_ok()
    }) {
        chipdock_test_support::skipped("the absence of a CUDA driver: this machine has one");
        return;
    }
    let setup = Setup::new();
    let output = setup.run(false, &["--plugin", "cuda.so", "devices", "--json"]);
    let text = said(&output);
    for word in ["libcuda.so.1", "libcuda.so", "nvidia-driver", "libcuda1"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}
