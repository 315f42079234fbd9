//! Runs `driver.py`: a process for a release, with a time limit.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use chipdock_test_support::workspace;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::Result;
use crate::environment::Environment;

/// Time after which a process is said to hang.
const PATIENCE: Duration = Duration::from_secs(180);

/// What a process is to do.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Paths of libraries by name.
    pub libraries: Vec<(String, PathBuf)>,
    /// Calls.
    pub cases: Vec<Value>,
    /// Scenarios.
    pub scenarios: Vec<Value>,
    /// Variables of the process.
    pub variables: Vec<(&'static str, String)>,
}

/// What a process said, by the names of cases, scenarios, and `load NAME`.
pub type Answers = Map<String, Value>;

impl Plan {
    /// Runs the plan with a Python under a release.
    ///
    /// # Errors
    ///
    /// The process cannot be started, crashes, hangs, or does not answer what it was asked
    /// (INTEROP-J2).
    pub fn run(&self, python: &Path, release: &Path) -> Result<Answers> {
        let folder = TempDir::new().map_err(|error| format!("a folder: {error}"))?;
        let place = |name: &str| folder.path().join(name);
        let failed = |error: std::io::Error| format!("{}: {error}", folder.path().display());
        let libraries: Map<String, Value> =
            self.libraries.iter().map(|(name, path)| (name.clone(), json!(path))).collect();
        let plan = json!({"libraries": libraries, "cases": self.cases, "scenarios": self.scenarios});
        std::fs::write(place("plan"), plan.to_string()).map_err(failed)?;
        let mut command = Command::new(python);
        command.arg(workspace().join("tests/interop/driver.py")).env("PYTHONPATH", release);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHIPDOCK_") {
                command.env_remove(name);
            }
        }
        // Old releases compile an extension for torch when they are imported, for a minute each;
        // they work without it.
        command.env("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1").env("TVM_FFI_CACHE_DIR", place("cache"));
        command.envs(self.variables.iter().cloned());
        command.stdin(File::open(place("plan")).map_err(failed)?);
        command.stdout(File::create(place("out")).map_err(failed)?);
        command.stderr(File::create(place("err")).map_err(failed)?);
        let ended = within(&mut command)?;
        let out = std::fs::read_to_string(place("out")).map_err(failed)?;
        let err = std::fs::read(place("err")).map_err(failed)?;
        let answers = read(&out)?;
        match ended {
            Some(status) if status.success() => self.complete(answers),
            ended => {
                let last = out.lines().last().unwrap_or("nothing");
                let how = ended.map_or("hangs".to_owned(), |status| format!("ended with {status}"));
                let err = String::from_utf8_lossy(&err);
                Err(format!("the process {how} after {last}\n{err}"))
            }
        }
    }

    /// Asserts that everything was answered.
    fn complete(&self, answers: Answers) -> Result<Answers> {
        let asked = self.cases.iter().chain(&self.scenarios).filter_map(|job| job["name"].as_str());
        let left: Vec<&str> = asked.filter(|name| !answers.contains_key(*name)).collect();
        if left.is_empty() { Ok(answers) } else { Err(format!("no answer to {left:?}")) }
    }
}

/// Waits for a process; `None` if it hangs, and is killed.
fn within(command: &mut Command) -> Result<Option<std::process::ExitStatus>> {
    let mut child = command.spawn().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => return Ok(Some(status)),
            None if start.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn read(out: &str) -> Result<Answers> {
    let mut answers = Answers::new();
    for line in out.lines() {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        if let Some(name) = value["name"].as_str() {
            answers.insert(name.to_owned(), value);
        }
    }
    Ok(answers)
}

/// Runs `each` for every release, some at once; returns the results in the order of releases.
pub fn each_release<T: Send>(
    environment: &Environment,
    each: impl Fn(&str, &Path) -> T + Sync,
) -> Vec<(String, T)> {
    let next = Mutex::new(environment.releases.iter().enumerate());
    let results = Mutex::new(Vec::new());
    let at_once = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let Some((index, release)) = next.lock().expect("the releases").next() else { break };
                    let result = each(release, &environment.folder.join(release));
                    results.lock().expect("the results").push((index, release.clone(), result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("the results");
    results.sort_by_key(|(index, ..)| *index);
    results.into_iter().map(|(_, release, result)| (release, result)).collect()
}
