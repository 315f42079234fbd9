//! Runs the conformance suite on two devices of lavapipe under `VK_LAYER_KHRONOS_validation` with
//! synchronisation validation: there is no message at all.
//!
//! Messages are counted twice. The plugin's messenger makes each the failure of the next wait, and
//! so of a case; the layer itself writes each of every process, until its end, to a pipe that the
//! test reads.
//!
//! A run takes a sample of the cases ([`chipdock_test_support::sample`]). Growth of memory
//! (`soak/*`) is not judged here: the layer keeps something of each object.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Command;
use std::thread::{JoinHandle, spawn};

use chipdock_test_support::command::{Ended, Scratch, built, end};
use chipdock_test_support::sample;
use chipdock_test_support::setup::missing;
use serde_json::Value;

/// A run takes one of so many stretches of neighbours, which the suite compiles together.
const SHARE: usize = 6;
const STRETCH: usize = 40;
/// By what the messages of the messenger begin.
const REPORTED: &str = "Vulkan's validation layer reports";
const DRIVERS: &str = "VK_ICD_FILENAMES";
/// Ends the reading of the pipe.
const END: &str = "the end of the test";

/// What the layer writes: it opens the pipe in each process, and never waits for who reads it.
struct Pipe {
    file: File,
    reader: JoinHandle<Vec<String>>,
}

impl Pipe {
    fn new(path: &Path) -> Self {
        assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
        // Open for both, so that there is always who reads.
        let file = OpenOptions::new().read(true).write(true).open(path).expect("the pipe");
        let lines = BufReader::new(file.try_clone().expect("the pipe")).lines();
        let reader = spawn(|| lines.map_while(Result::ok).take_while(|line| line != END).collect());
        Self { file, reader }
    }

    /// The lines that were written.
    fn read(mut self) -> Vec<String> {
        writeln!(self.file, "{END}").expect("the pipe");
        self.reader.join().expect("the lines")
    }
}

/// A scratch folder with the files that the loader and the layer read.
struct Validation {
    scratch: Scratch,
    drivers: String,
}

impl Validation {
    /// None, said so, where lavapipe is not the only driver.
    fn new() -> Option<Self> {
        let lavapipe = std::env::var(DRIVERS).ok().filter(|drivers| drivers.contains("lvp_icd"));
        let Some(lavapipe) = lavapipe.filter(|drivers| Path::new(drivers).is_file()) else {
            missing("VK_ICD_FILENAMES that names the driver lavapipe");
            return None;
        };
        let scratch = Scratch::new();
        let second = scratch.write("second.json", std::fs::read(&lavapipe).expect("the driver's file"));
        let drivers = format!("{lavapipe}:{}", second.display());
        let pipe = scratch.path("pipe");
        let settings = format!(
            "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
             khronos_validation.report_flags = error,warn\n\
             khronos_validation.log_filename = {}\n",
            pipe.display()
        );
        scratch.write("vk_layer_settings.txt", settings);
        Some(Self { scratch, drivers })
    }

    /// Runs these cases under the layer, which enables more checks; returns how it ended, the
    /// report, and what the layer wrote.
    fn run(&self, cases: &[String], enables: &str) -> (Ended, Value, Vec<String>) {
        let pipe = Pipe::new(&self.scratch.path("pipe"));
        let words = "--config vulkan.validation=true --report-json report.json --no-again --patience 4";
        let mut command = self.scratch.command("conformance");
        command.arg(built().plugins.join("chipdock_plugin_vulkan.so")).args(words.split(' '));
        command.args(cases.iter().flat_map(|case| ["--filter", case]));
        command.env(DRIVERS, &self.drivers).env("VK_LAYER_ENABLES", enables);
        command.env("VK_LAYER_SETTINGS_PATH", self.scratch.path("vk_layer_settings.txt"));
        let ended = end(&mut command);
        let text = std::fs::read(self.scratch.path("report.json"));
        let text = text.unwrap_or_else(|error| panic!("no report: {error}: {}", ended.stderr));
        (ended, serde_json::from_slice(&text).expect("a report"), pipe.read())
    }

    /// The ids of all cases that apply to the plugin.
    fn all(&self) -> Vec<String> {
        let mut command = self.scratch.command("conformance --list --json --filter *");
        command.arg(built().plugins.join("chipdock_plugin_vulkan.so")).env(DRIVERS, &self.drivers);
        let list = end(&mut command).json();
        let cases = list["cases"].as_array().expect("cases");
        cases.iter().map(|case| case["id"].as_str().expect("an id").to_owned()).collect()
    }
}

#[test]
fn the_suite_runs_without_a_message() {
    let Some(validation) = Validation::new() else { return };
    let all = validation.all();
    let stretches = all.chunks(STRETCH).collect();
    let what = format!("stretches of {STRETCH} cases of the suite under Vulkan's validation layer");
    let drawn = sample::draw(&what, SHARE, stretches, |cases| cases[0].clone()).concat();
    let filters = if sample::is_whole_run() { &[] } else { &drawn[..] };
    let (_, report, heard) = validation.run(filters, "");
    let cases = report["cases"].as_array().expect("cases");
    let of = |case: &Value, field: &str| case[field].as_str().unwrap_or_default().to_owned();
    let is_soak = |case: &Value| of(case, "group") == "soak";
    let wrong = cases.iter().filter(|case| {
        let ended = match of(case, "status").as_str() {
            "passed" | "unsupported" | "expected" => true,
            // The loader does not have the interface that the case is about, and need not.
            "built" => of(case, "reason").contains("which is optional"),
            _ => false,
        };
        !ended && !is_soak(case) || case.to_string().contains(REPORTED)
    });
    let wrong: Vec<String> = wrong.map(Value::to_string).collect();
    let passed = cases.iter().filter(|case| of(case, "status") == "passed").count();
    println!("{passed} of {} cases passed, {} s", cases.len(), report["seconds"]);
    assert!(wrong.is_empty(), "{} cases: {}", wrong.len(), wrong.join("\n"));
    assert!(heard.is_empty(), "the layer wrote {}", heard.join("\n"));
    // Without a layer or a device most cases are not run.
    assert!(!drawn.is_empty() && passed > drawn.len() / 2, "{passed} of {}", drawn.len());
}

/// Advice of the layer, which it gives only on request, is a message: it fails a run.
#[test]
fn a_message_fails_a_run() {
    let Some(validation) = Validation::new() else { return };
    let advice = "VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT";
    let (ended, report, heard) = validation.run(&["memory/pinned/*".to_owned()], advice);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(report["cases"].to_string().contains(REPORTED), "{}", ended.stdout);
    assert!(heard.iter().any(|line| line.contains("BestPractices")), "{heard:?}");
}
