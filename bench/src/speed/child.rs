//! The Python process of the peers: requests and answers as lines of JSON.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child as Process, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Result;

/// Time limit of an answer, longer than any request takes: compiling the largest kernel on a busy
/// machine.
const ANSWER_MAX: Duration = Duration::from_secs(180);

/// Longest wait for the threads of the process to stop spinning after an answer.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// A Python process that runs `peers.py`; it is killed when this value is dropped.
pub struct Child {
    process: Process,
    requests: ChildStdin,
    answers: Receiver<String>,
    last_id: u64,
}

impl Child {
    /// Starts a process with that many threads.
    ///
    /// # Errors
    ///
    /// Python cannot be started.
    pub fn start(python: &Path, threads: usize) -> Result<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py");
        let mut command = Command::new(python);
        command.arg(&script).arg(threads.to_string());
        Self::spawn(command)
    }

    /// Starts a process that takes requests as `peers.py` does.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn spawn(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command
            .spawn()
            .map_err(|error| format!("{:?} cannot be started: {error}", command.get_program()))?;
        let requests = process.stdin.take().ok_or("the peers' process has no input")?;
        let output = process.stdout.take().ok_or("the peers' process has no output")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, requests, answers, last_id: 0 })
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    ///
    /// The peer refuses the request; or the process has ended, does not answer within three
    /// minutes, or answers something else, and must not be used any more.
    pub fn ask(&mut self, what: &str, mut request: Value) -> Result<Value> {
        self.last_id += 1;
        request["id"] = json!(self.last_id);
        request["do"] = json!(what);
        writeln!(self.requests, "{request}")
            .and_then(|()| self.requests.flush())
            .map_err(|error| format!("the peers' process takes no request `{what}`: {error}"))?;
        match self.answers.recv_timeout(ANSWER_MAX) {
            Ok(line) => {
                self.settle();
                answer(&line, self.last_id)
            }
            Err(_) => {
                let ended = self.process.try_wait().ok().flatten();
                Err(ended.map_or_else(
                    || format!("the peers' process did not answer `{what}` within {ANSWER_MAX:?}"),
                    |status| format!("the peers' process ended on `{what}` with {status}"),
                ))
            }
        }
    }

    /// Waits until no thread of the process runs: thread pools spin for a while after their work
    /// (TVM's for tens of milliseconds), on a processor that the next contender needs.
    fn settle(&self) {
        let start = Instant::now();
        while start.elapsed() < SETTLE_MAX && is_running(self.process.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns true if the process takes another request.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }
}

/// Returns true while a thread of a process runs or is ready to run, according to Linux.
fn is_running(process: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return false };
    threads.flatten().any(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which is in brackets and may contain any character.
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
    })
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads a line as the answer to the request `id`.
fn answer(line: &str, id: u64) -> Result<Value> {
    let value: Value = serde_json::from_str(line)
        .map_err(|error| format!("the peers' process answered no JSON ({error}): {line:.200}"))?;
    if value["id"] != json!(id) {
        return Err(format!("the peers' process answered request {}, expected {id}", value["id"]));
    }
    match value.get("error") {
        None => Ok(value),
        Some(error) => Err(error.as_str().map_or_else(|| error.to_string(), str::to_owned)),
    }
}

/// Reads a positive number from an answer.
///
/// # Errors
///
/// The number is missing, or is not positive.
pub fn positive(answer: &Value, key: &str) -> Result<f64> {
    match answer[key].as_f64() {
        Some(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(format!("the peers' process answered `{key}`: {}, expected a positive number", answer[key])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_that_of_its_request() {
        let good = answer(r#"{"id": 3, "ns": 12.5}"#, 3).expect("an answer");
        assert_eq!(positive(&good, "ns"), Ok(12.5));
        assert!(
            answer(r#"{"id": 2, "ns": 12.5}"#, 3).expect_err("of another request").contains("expected 3")
        );
        assert!(answer("warming up", 3).expect_err("no JSON").contains("warming up"));
        assert_eq!(answer(r#"{"id": 3, "error": "TVMError: no"}"#, 3), Err("TVMError: no".to_owned()));
    }

    #[test]
    fn a_thread_that_runs_is_seen() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let mut idle = Command::new("sleep").arg("60").spawn().expect("a sleeper");
        std::thread::sleep(Duration::from_millis(50));
        let seen = (is_running(busy.id()), is_running(idle.id()));
        for process in [&mut busy, &mut idle] {
            process.kill().and_then(|()| process.wait()).expect("its end");
        }
        assert_eq!(seen, (true, false));
    }

    #[test]
    fn a_time_is_a_positive_number() {
        for wrong in
            [json!({}), json!({"ns": 0}), json!({"ns": -1.0}), json!({"ns": "12"}), json!({"ns": null})]
        {
            assert!(positive(&wrong, "ns").is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_process_that_ends_is_an_error_and_not_a_wait() {
        let mut command = Command::new("sh");
        command.args(["-c", "read line; exit 7"]);
        let mut child = Child::spawn(command).expect("a shell");
        let error = child.ask("hello", json!({})).expect_err("no answer");
        assert!(error.contains("hello"), "{error}");
    }

    #[test]
    fn other_output_is_not_taken_for_an_answer() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "read line; echo 'pip is out of date'; read line; echo '{\"id\": 2, \"ns\": 1}'; read line",
        ]);
        let mut child = Child::spawn(command).expect("a shell");
        assert!(child.ask("measure", json!({})).is_err());
        assert!(child.ask("measure", json!({})).is_ok());
        assert!(child.is_alive());
    }
}
