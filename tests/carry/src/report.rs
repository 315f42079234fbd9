//! The report: one JSON file whose field `text` is for people.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::steps::{fact, line_of};

/// The results, as text and as JSON.
#[derive(Default)]
pub(crate) struct Report {
    text: Vec<String>,
    machine: Map<String, Value>,
    steps: Vec<Value>,
    n_failed: usize,
}

impl Report {
    /// Adds a line to the text, and prints it.
    pub(crate) fn line(&mut self, text: &str) {
        println!("{text}");
        self.text.extend(text.lines().map(str::to_owned));
    }

    /// Adds a description of the machine, and of the build of Chipdock.
    pub(crate) fn machine(&mut self, root: &Path) {
        let mut know = |name: &str, value: Option<String>| {
            let value = value.unwrap_or_default();
            if !value.is_empty() {
                self.machine.insert(name.to_owned(), value.into());
            }
        };
        know("system", fact("uname", &["-srm"]));
        know("processor", line_of(Path::new("/proc/cpuinfo"), "model name"));
        know("distribution", line_of(Path::new("/etc/os-release"), "PRETTY_NAME"));
        let query = ["--query-gpu=name,driver_version,memory.total,compute_cap", "--format=csv,noheader"];
        know("nvidia-smi", fact("nvidia-smi", &query));
        know("driver", fs::read_to_string("/sys/module/nvidia/version").ok());
        know("build", fs::read_to_string(root.join("BUILD")).ok());
        let lines: Vec<String> = self
            .machine
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default().trim()))
            .collect();
        for line in lines {
            self.line(&line);
        }
    }

    fn step(&mut self, name: &str, status: &str, said: &str, data: Value) {
        self.line(&format!("{name}: {status}: {said}"));
        self.steps.push(json!({"name": name, "status": status, "said": said, "data": data}));
    }

    /// Adds a step that succeeded.
    pub(crate) fn passed(&mut self, name: &str, said: &str, data: Value) {
        self.step(name, "passed", said, data);
    }

    /// Adds a step that failed.
    pub(crate) fn failed(&mut self, name: &str, said: &str, data: Value) {
        self.n_failed += 1;
        self.step(name, "FAILED", said, data);
    }

    /// Adds a step that could not run, because something is missing here.
    pub(crate) fn absent(&mut self, name: &str, why: &str) {
        self.step(name, "not here", why, Value::Null);
    }

    /// Returns true if there is a step of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.steps.iter().any(|step| step["name"] == name)
    }

    /// Returns true if no step failed.
    pub(crate) fn is_good(&self) -> bool {
        self.n_failed == 0
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn write(&mut self, path: &Path) -> Result<(), String> {
        let count = |status: &str| self.steps.iter().filter(|step| step["status"] == status).count();
        let (passed, failed, absent) = (count("passed"), count("FAILED"), count("not here"));
        self.line(&format!("{passed} steps passed, {failed} failed, {absent} have nothing to run on here"));
        let written = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let report = json!({
            "schema": "chipdock.carried/1",
            "text": self.text,
            "machine": self.machine,
            "written_unix": written,
            "steps": self.steps,
        });
        let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("written: {}", path.display());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_failed_step_makes_a_bad_run_and_both_forms_say_so() {
        let mut report = Report::default();
        report.passed("devices", "exit code 0", json!([1]));
        report.absent("corpus on x", "no driver");
        assert!(report.is_good());
        report.failed("bench", "exit code 1\nlast words", Value::Null);
        assert!(!report.is_good() && report.has("bench") && !report.has("tests"));
        let path = std::env::temp_dir().join(format!("chipdock-carried-{}.json", std::process::id()));
        report.write(&path).unwrap();
        let found: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        fs::remove_file(&path).unwrap();
        chipdock_test_support::schemas::check(&found);
        assert_eq!(found["steps"][1]["status"], "not here");
        let text: Vec<&str> = found["text"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(text.contains(&"bench: FAILED: exit code 1") && text.contains(&"last words"), "{text:?}");
        assert!(text.contains(&"1 steps passed, 1 failed, 1 have nothing to run on here"), "{text:?}");
    }
}
