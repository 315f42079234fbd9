//! `--isolate`: the work of `run` and `build` in a child, whose end is not ours.
//!
//! * **ISOLATE-I1** The child is this command with the same arguments. It reads and computes; it
//!   hands its output over instead of writing it, as bytes in a file without a name that both
//!   share.
//! * **ISOLATE-I2** The parent writes files and standard output, once the child has said that all
//!   is well, released every plugin and ended with code 0. So a plugin that crashes, hangs or ends
//!   the process leaves nothing written.
//! * **ISOLATE-I3** Only files that the command line names are written, whatever the child says.
//! * **ISOLATE-I4** What plugins print to standard output goes to standard error; errors and
//!   progress are the child's own.
//! * **ISOLATE-I5** `--deadline` is for the whole work, from the start of the child until
//!   everything is written; it implies `--isolate`. An output that is not written by then, such as
//!   a pipe that nobody reads, is an error of that output, with code 1. Work that takes longer is
//!   nobody's fault: the error says what was being done, and blames nobody.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chipdock_host::calling::FUNCTION;
use chipdock_plugin_api::files::whole::remove_unplaced;
use chipdock_supervise::{Start, anonymous, leave};
use serde::{Deserialize, Serialize};

use crate::args::{ColorChoice, IsolateArgs};
use crate::blame::Whose;
use crate::destination::{self, Destination};
use crate::report::{self, Exit, Failure, Result};
use crate::supervised::Fault;
use crate::{streams, supervised};

/// The hidden command.
pub(crate) const CHILD: &str = "__isolated";

/// A part of the bytes that the child hands over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Chunk {
    /// Path of the file that they are for, as bytes; None for standard output.
    file: Option<Vec<u8>>,
    size_bytes: u64,
}

/// The child's report.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Report {
    exit: u8,
    parts: Vec<Chunk>,
}

/// Parts that the child has handed over so far.
struct Handover {
    to: File,
    parts: Vec<Chunk>,
}

static HANDOVER: Mutex<Option<Handover>> = Mutex::new(None);
/// Whether the parent's output goes to a terminal.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// In the child of `--isolate`, returns whether its parent's output goes to a terminal. `None`
/// elsewhere.
pub(crate) fn is_watched() -> Option<bool> {
    let hands_over = HANDOVER.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    hands_over.then(|| IS_WATCHED.load(Ordering::Relaxed))
}

/// In the child of `--isolate`, hands over output for a file or, without one, for standard output.
/// `None` elsewhere: then the caller writes it.
pub(crate) fn hand_over(
    file: Option<&Path>,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Option<io::Result<()>> {
    streams::leave_if_forked();
    let mut handover = HANDOVER.lock().unwrap_or_else(PoisonError::into_inner);
    let Handover { to, parts } = handover.as_mut()?;
    let mut hand = || {
        let start = to.stream_position()?;
        let mut buffered = io::BufWriter::with_capacity(1 << 16, &mut *to);
        write(&mut buffered)?;
        buffered.flush()?;
        drop(buffered);
        let size_bytes = to.stream_position()? - start;
        parts.push(Chunk { file: file.map(|file| file.as_os_str().as_bytes().to_vec()), size_bytes });
        Ok(())
    };
    Some(hand())
}

/// Does the work in a child. `files` are those that it may have written.
///
/// # Errors
///
/// Exit code 3 when the child ended abnormally, with the plugin that was being called. The child
/// reports its own errors, and only its exit code is returned.
pub(crate) fn run(args: &IsolateArgs, files: &[&Path]) -> Result<ExitCode> {
    // Held from now on, before anything is opened.
    let held = |path: &&Path| Ok((path.to_path_buf(), Destination::resolve(path)?));
    let mut places: Vec<(PathBuf, Destination)> = files.iter().map(held).collect::<Result<_>>()?;
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let shared = anonymous(c"chipdock-results").and_then(|file| Ok((file.try_clone()?, file)));
    let (mut results, childs) =
        shared.map_err(|error| Failure::work(format!("no memory to share: {error}")))?;
    let deadline = args.deadline.map(Duration::from_secs_f64);
    let started = Instant::now();
    let (report, _) = supervised::ask(start(arguments), Some(childs), deadline)
        .map_err(|fault| failed(&fault, deadline))?;
    let garbled = |_| Failure::new(Exit::Plugin, "the report of the isolated work is garbled");
    let report: Report = serde_json::from_slice(&report).map_err(garbled)?;
    let _bound = deadline.map(|deadline| Bound::since(started, deadline));
    deliver(&report, &mut results, &mut places)?;
    Ok(ExitCode::from(report.exit))
}

/// Makes the failure of work that was not done. A deadline is for the whole work: that it was too
/// short is nobody's fault.
fn failed(fault: &Fault, deadline: Option<Duration>) -> Failure {
    if let (Some(deadline), "timed_out") = (deadline, fault.outcome) {
        let mut what = format!("the whole work took longer than --deadline, {} s", deadline.as_secs_f64());
        if let (Some(plugin), Some(call)) = (&fault.plugin, &fault.call) {
            what += &match call.strip_prefix(FUNCTION) {
                Some(function) => format!("; function \"{function}\" was running"),
                None => format!("; plugin \"{plugin}\" was being called in `{call}`"),
            };
        }
        return Failure::new(Exit::Plugin, what).help(
            "nothing was written; allow more time where the work needs it; if it does not end without --deadline either, report \
             it to whoever made the plugin or the function",
        );
    }
    Failure::new(Exit::Plugin, &fault.message).help(match fault.whose {
        Whose::Plugin | Whose::Command => {
            "nothing was written; report it to the maintainer of the plugin, or use another one: chipdock plugins lists them"
        }
        Whose::Function => {
            "nothing was written; see that the function stays within its buffers, whatever its arguments are"
        }
        Whose::Nobody => {
            "nothing was written; a plugin or a kernel may have damaged memory before: chipdock plugins --check tries every \
             plugin by itself"
        }
    })
}

/// Ends this command at the deadline, unless it is dropped before: a write that waits for somebody
/// else cannot be called off.
struct Bound {
    _over: mpsc::Sender<()>,
}

impl Bound {
    fn since(started: Instant, deadline: Duration) -> Self {
        let (over, is_over) = mpsc::channel();
        let wait = deadline.saturating_sub(started.elapsed());
        std::thread::spawn(move || {
            if is_over.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let failure = late(destination::now_writing().as_deref(), deadline);
                remove_unplaced();
                streams::say(&failure.render(report::use_color(ColorChoice::Auto, report::is_watched())));
                leave(failure.exit as i32);
            }
        });
        Self { _over: over }
    }
}

fn late(file: Option<&Path>, deadline: Duration) -> Failure {
    let what = format!("not written within {} s", deadline.as_secs_f64());
    let failure = Failure::work(what).help("see that somebody reads it, or allow more time (--deadline)");
    match file {
        Some(file) => failure.in_file(file),
        None => failure.at("standard output"),
    }
}

fn start(arguments: Vec<OsString>) -> io::Result<Start> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(CHILD).args(streams::results_are_watched().then_some("--watched")).arg("--").args(arguments);
    // ISOLATE-I4; standard input may be a kernel or an array.
    command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
    Ok(Start::new(command))
}

/// Writes the child's output to its destinations (ISOLATE-I2, ISOLATE-I3).
fn deliver(report: &Report, results: &mut File, places: &mut Vec<(PathBuf, Destination)>) -> Result<()> {
    let failed =
        |error: io::Error| Failure::work(format!("cannot read what the isolated work left: {error}"));
    let foreign = |what: &str| {
        Failure::new(Exit::Plugin, format!("the isolated work left {what}; nothing was written"))
    };
    let size_bytes = results.metadata().map_err(failed)?.len();
    results.seek(SeekFrom::Start(0)).map_err(failed)?;
    let (mut left, mut pending, mut shown) = (size_bytes, Vec::new(), Vec::new());
    for part in &report.parts {
        left = left.checked_sub(part.size_bytes).ok_or_else(|| foreign("less than it says"))?;
        let mut bytes = (&mut *results).take(part.size_bytes);
        let Some(file) = &part.file else {
            bytes.read_to_end(&mut shown).map_err(failed)?;
            continue;
        };
        let path = PathBuf::from(OsStr::from_bytes(file));
        let Some(index) = places.iter().position(|(known, _)| *known == path) else {
            return Err(foreign("a file that was not requested").in_file(&path));
        };
        let (_, place) = places.swap_remove(index);
        // Output from before a failure is discarded.
        if report.exit == 0 {
            pending.push(place.prepare(|out| io::copy(&mut bytes, out).map(drop))?);
        } else {
            io::copy(&mut bytes, &mut io::sink()).map_err(failed)?;
        }
    }
    destination::commit(pending)?;
    // Escaped by the child where a person looks at it.
    if shown.is_empty() { Ok(()) } else { streams::write_results(&shown) }
}

/// Runs the child: does the work of these arguments by `work`, and ends.
///
/// # Errors
///
/// Exit code 2: this process has no supervisor.
pub(crate) fn child(is_watched: bool, work: impl FnOnce() -> u8) -> Result<ExitCode> {
    let (mut inside, shared) = supervised::enter()?;
    let to = shared.into_iter().next();
    let to =
        to.ok_or_else(|| Failure::input("this command is for chipdock itself: nothing to hand over by"))?;
    *HANDOVER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Handover { to, parts: Vec::new() });
    IS_WATCHED.store(is_watched, Ordering::Relaxed);
    // Once it has returned, its host is gone and every plugin shut down.
    let exit = work();
    let handover = HANDOVER.lock().unwrap_or_else(PoisonError::into_inner).take();
    let report = Report { exit, parts: handover.map(|handover| handover.parts).unwrap_or_default() };
    let line = serde_json::to_vec(&report).unwrap_or_default();
    // No destructor of a library runs after the report: it could still spoil what is well.
    leave(i32::from(inside.say(&line).is_err()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(text: &[u8]) -> File {
        let mut file = anonymous(c"test").unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn part(file: Option<&Path>, size_bytes: u64) -> Chunk {
        Chunk { file: file.map(|file| file.as_os_str().as_bytes().to_vec()), size_bytes }
    }

    /// ISOLATE-I2, ISOLATE-I3: files come whole into their places; what nobody asked for, or is not
    /// there, leaves nothing.
    #[test]
    fn an_object_handed_over_is_delivered() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let report = |parts| Report { exit: 0, parts };
        let places = |files: &[&Path]| {
            let place = |path: &&Path| (path.to_path_buf(), Destination::resolve(path).unwrap());
            files.iter().map(place).collect::<Vec<_>>()
        };
        let parts = report(vec![part(Some(&one), 3), part(Some(&two), 4)]);
        assert!(
            deliver(&parts, &mut results(b"onetwo"), &mut places(&[&one, &two])).is_err(),
            "two is short"
        );
        assert!(
            deliver(&parts, &mut results(b"onetwo2"), &mut places(&[&one])).is_err(),
            "two was not asked for"
        );
        let failed = Report { exit: 1, parts: parts.parts.clone() };
        deliver(&failed, &mut results(b"onetwo2"), &mut places(&[&one, &two])).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        deliver(&parts, &mut results(b"onetwo2"), &mut places(&[&one, &two])).unwrap();
        assert_eq!(
            (std::fs::read(one).unwrap(), std::fs::read(two).unwrap()),
            (b"one".to_vec(), b"two2".to_vec())
        );
    }
}
