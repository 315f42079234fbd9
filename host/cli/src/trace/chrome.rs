//! A file in Chrome's trace format, for chrome://tracing and Perfetto: "Trace Event Format", its
//! JSON object format.
//!
//! After each event the file is whole: the brackets that end it are written with the event, and
//! overwritten by the next. So the file can be read whatever ends the process, and an unfinished
//! span is in it as begun.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chipdock_host::files::advice_of_writing;
use rustix::fs::{Mode, OFlags, open};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::{Failure, Result};

const HEAD: &str = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
const TAIL: &str = "\n]}\n";

/// The file, with the state of its writing.
pub(super) struct TraceFile {
    file: File,
    path: PathBuf,
    /// Offset of the brackets that end it.
    size_bytes: u64,
    events: u64,
    /// Threads whose name is written.
    named: Vec<u64>,
    failed: Option<String>,
}

/// An event in the form of the format.
#[derive(Serialize)]
struct Event<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'a str,
    /// Microseconds.
    ts: f64,
    pid: u32,
    tid: u64,
    /// Scope of an instant: its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    args: &'a Map<String, Value>,
}

/// Returns the system's number of this thread, as `perf` and `gdb` show it.
pub(super) fn thread() -> u64 {
    thread_local! {
        static THREAD: Cell<u64> = const { Cell::new(0) };
    }
    THREAD.with(|known| {
        if known.get() == 0 {
            known.set(u64::from(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()));
        }
        known.get()
    })
}

impl TraceFile {
    /// Creates the file. An existing file that is not a trace is not overwritten.
    ///
    /// # Errors
    ///
    /// Exit code 2 for a file that is not a trace, 1 for one that cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let failed = |error: io::Error| {
            Failure::work(format!("cannot write the trace: {error}"))
                .in_file(path)
                .help(advice_of_writing(&error))
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = open(path, flags, Mode::from_raw_mode(0o666)).map_err(|error| failed(error.into()))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() || (metadata.len() > 0 && !is_trace(&file)) {
            let what = "there is something else than a trace, which is not overwritten";
            return Err(Failure::input(what).in_file(path).help("remove it, or name another file"));
        }
        file.set_len(0).map_err(failed)?;
        file.write_all_at(format!("{HEAD}{TAIL}").as_bytes(), 0).map_err(failed)?;
        let size_bytes = HEAD.len() as u64;
        let (path, named) = (path.to_owned(), Vec::new());
        Ok(Self { file, path, size_bytes, events: 0, named, failed: None })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of events.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Returns the reason why the file is not whole, if there is one.
    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Writes the begin of a span.
    pub(super) fn begin(&mut self, at: Duration, tid: u64, cat: &str, name: &str, args: &Map<String, Value>) {
        self.write("B", at, tid, cat, name, args);
    }

    /// Writes the end of the last unfinished span of that thread.
    pub(super) fn end(&mut self, at: Duration, tid: u64, args: &Map<String, Value>) {
        self.write("E", at, tid, "", "", args);
    }

    /// Writes an instant event.
    pub(super) fn instant(
        &mut self,
        at: Duration,
        tid: u64,
        cat: &str,
        name: &str,
        args: &Map<String, Value>,
    ) {
        self.write("i", at, tid, cat, name, args);
    }

    fn write(&mut self, ph: &str, at: Duration, tid: u64, cat: &str, name: &str, args: &Map<String, Value>) {
        if !self.named.contains(&tid) {
            self.named.push(tid);
            let thread = std::thread::current();
            let called = thread.name().unwrap_or("of a plugin").to_owned();
            let args = Map::from_iter([("name".to_owned(), Value::from(called))]);
            self.write("M", Duration::ZERO, tid, "", "thread_name", &args);
        }
        let (ts, pid, s) = (at.as_secs_f64() * 1e6, std::process::id(), (ph == "i").then_some("t"));
        let event = Event { name, cat, ph, ts, pid, tid, s, args };
        if let Err(error) = self.append(&event) {
            self.failed.get_or_insert_with(|| error.to_string());
        }
    }

    fn append(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut bytes = if self.events == 0 { Vec::new() } else { b",\n".to_vec() };
        serde_json::to_writer(&mut bytes, event)?;
        let size_bytes = bytes.len() as u64;
        bytes.extend_from_slice(TAIL.as_bytes());
        self.file.write_all_at(&bytes, self.size_bytes)?;
        self.size_bytes += size_bytes;
        self.events += 1;
        Ok(())
    }
}

fn is_trace(file: &File) -> bool {
    let mut head = [0; HEAD.len()];
    file.read_exact_at(&mut head, 0).is_ok() && head == *HEAD.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Value {
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    /// CLI-C13: the file is JSON after each event, an error is told once, and a file that is not a
    /// trace stays.
    #[test]
    fn cli_c13_a_trace_is_whole_after_each_event() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let none = Map::new();
        let mut trace = TraceFile::create(&path).unwrap();
        assert_eq!(read(&path)["traceEvents"], serde_json::json!([]));
        for count in 1..5 {
            trace.begin(Duration::from_nanos(1500), 7, "chipdock", "a \"name\"\n", &none);
            // The name of the thread is an event too.
            assert_eq!(read(&path)["traceEvents"].as_array().unwrap().len(), count + 1);
        }
        assert_eq!(read(&path)["traceEvents"][1]["ts"], 1.5);
        drop(trace);
        assert_eq!(TraceFile::create(&path).unwrap().events(), 0);
        assert_eq!(read(&path)["traceEvents"], serde_json::json!([]), "nothing of the one before is left");
        std::fs::write(&path, "my kernel").unwrap();
        assert!(TraceFile::create(&path).is_err_and(|failed| failed.exit as u8 == 2));
        assert_eq!(std::fs::read(&path).unwrap(), b"my kernel");
    }

    #[test]
    fn cli_c13_write_errors_are_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        let mut trace = TraceFile::create(&path).unwrap();
        trace.file = File::open(&path).unwrap();
        trace.end(Duration::ZERO, 7, &Map::new());
        assert!(trace.failed().is_some());
    }
}
