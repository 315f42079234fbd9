//! Common parts of the command's children: the note of the called plugin, and the message when a
//! child ended abnormally.

use std::ffi::OsString;
use std::fs::File;
use std::sync::OnceLock;
use std::time::Duration;

use chipdock_host::calling::{self, Note};
use chipdock_plugin_api::files::whole::remove_unplaced;
use chipdock_supervise::{
    Ended, Fate, Inside, Meaning, Notebook, Outcome, OwnEnd, Spot, Start, Words, speak_at_the_end,
    tell_of_crashes,
};
use serde::Serialize;

use crate::blame::{self, Scene, Whose};
use crate::report::{Exit, Failure, Result};

/// Number of bytes of a child's standard error that are shown with its end.
pub(crate) const STDERR_SHOWN_BYTES: usize = 400;
/// Separator between the plugin and the call in a notebook; no name contains it.
const BETWEEN: char = '\0';
/// Sign in a notebook that the instruction lies in this command.
const OWN: &str = "own";

/// Reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Fault {
    /// The plugin that was being called; None when none was.
    pub(crate) plugin: Option<String>,
    /// The call of that plugin.
    pub(crate) call: Option<String>,
    /// End of its process: `killed`, `exited`, `timed_out`, `not_started`.
    pub(crate) outcome: &'static str,
    /// The whole reason as a sentence.
    pub(crate) message: String,
    /// Whom the reader turns to.
    #[serde(skip)]
    pub(crate) whose: Whose,
}

impl Fault {
    /// Makes the reason from the child's last note, what it wrote about its end, and its standard
    /// error.
    fn new(ended: &Ended, note: &str, end: &str, stderr: &str) -> Self {
        let note = note.split_once(BETWEEN);
        let (plugin, call) =
            note.map_or((None, None), |(plugin, call)| (Some(plugin.to_owned()), Some(call.to_owned())));
        let scene = scene(note, if matches!(ended, Ended::Killed { .. }) { end } else { "" });
        let mut message = String::new();
        let whose = scene.write(&[&ended.to_string()], &mut |part| message.push_str(part));
        if whose == Whose::Command {
            message = format!("a process of {message} while it called no plugin");
        }
        if !stderr.is_empty() {
            message = format!("{message}, saying: {stderr}");
        }
        let outcome = match ended {
            Ended::Killed { .. } => "killed",
            Ended::Exited { .. } => "exited",
            Ended::Silent { .. } => "timed_out",
            Ended::NotStarted { .. } => "not_started",
        };
        Self { plugin, call, outcome, message, whose }
    }
}

/// Reads what a child wrote about its end.
fn scene<'a>(note: Option<(&'a str, &'a str)>, end: &'a str) -> Scene<'a> {
    let mut parts = end.split(BETWEEN);
    let mut part = || parts.next().unwrap_or_default();
    let (owner, library, is_own, heap) = (part(), part(), part(), part());
    Scene { note, owner: Some(owner).filter(|owner| !owner.is_empty()), library, is_own: is_own == OWN, heap }
}

/// In a child, in a signal's handler: writes about the end into its notebook.
fn write_end(signal: i32, spot: Option<Spot>) {
    let Some(notebook) = NOTEBOOK.get() else { return };
    let scene = blame::look(calling::current(), signal, spot);
    let between: &[u8] = &[BETWEEN as u8];
    let own = if scene.is_own { OWN } else { "" };
    let owner = scene.owner.unwrap_or_default().as_bytes();
    notebook.write_end(&[
        owner,
        between,
        scene.library.as_bytes(),
        between,
        own.as_bytes(),
        between,
        scene.heap.as_bytes(),
    ]);
    // A plugin's thread may have a note of its own.
    write_down(calling::current());
}

/// Result of asking a child: its report and its standard error, or the reason why there is none.
pub(crate) type Answer = std::result::Result<(Vec<u8>, String), Fault>;

/// Asks a child: this command again, whose first shared file is its notebook.
pub(crate) fn ask(start: std::io::Result<Start>, more: Option<File>, deadline: Option<Duration>) -> Answer {
    let not_started =
        |error: std::io::Error| Fault::new(&Ended::NotStarted { message: error.to_string() }, "", "", "");
    let (notebook, file) = Notebook::new().map_err(not_started)?;
    let mut start = start.map_err(not_started)?.share(file);
    if let Some(more) = more {
        start = start.share(more);
    }
    let asked = chipdock_supervise::ask(start, deadline);
    match asked.outcome {
        Outcome::Reported(report) => Ok((report, asked.stderr.text())),
        Outcome::Ended(ended) => {
            let stderr = asked.stderr.last_lines(STDERR_SHOWN_BYTES);
            Err(Fault::new(&ended, &notebook.read(), &notebook.read_end(), &stderr))
        }
    }
}

/// Makes the options to run this command again, with a hidden command and its arguments.
pub(crate) fn again(hidden: &str, arguments: Vec<OsString>) -> std::io::Result<Start> {
    Start::again(std::iter::once(hidden.into()).chain(arguments))
}

static NOTEBOOK: OnceLock<Notebook> = OnceLock::new();

fn write_down(note: Option<&'static Note>) {
    let Some(notebook) = NOTEBOOK.get() else { return };
    match note {
        None => notebook.write(b""),
        Some(note) => {
            let parts = [note.plugin().as_bytes(), &[BETWEEN as u8], note.call().as_bytes()];
            notebook.write_parts(&parts);
        }
    }
}

/// In a child: takes the supervisor's descriptors, and reports calls on this thread to it from now
/// on.
///
/// # Errors
///
/// Exit code 2: this process has no supervisor.
pub(crate) fn enter() -> Result<(Inside, Vec<File>)> {
    let refused =
        |error: std::io::Error| Failure::input(format!("this command is for chipdock itself: {error}"));
    let mut inside = Inside::take().map_err(refused)?;
    let mut shared = inside.take_shared();
    if shared.is_empty() {
        return Err(refused(std::io::Error::other("it was given no notebook")));
    }
    let notebook = Notebook::open(&shared.remove(0)).map_err(refused)?;
    let _ = NOTEBOOK.set(notebook);
    calling::watch_this_thread(Some(write_down));
    tell_of_crashes(write_end);
    Ok((inside, shared))
}

/// For a process without a supervisor: writes a message before a fatal signal or a plugin's `exit`
/// ends it.
pub(crate) fn speak_for_myself() -> OwnEnd {
    calling::watch_this_thread(None);
    speak_at_the_end(speak, Exit::Plugin as i32)
}

/// Runs in a signal's handler.
fn speak(fate: Fate, words: &mut Words) {
    remove_unplaced();
    let note = calling::current();
    // A progress message may stand on the last line.
    words.put(if words.is_terminal() { "\r\x1b[K" } else { "" });
    words.put("error: ");
    let whose = match fate {
        Fate::Signal { number, spot } => {
            let scene = blame::look(note, number, spot);
            let whose = scene.write(&blame::how(number), &mut |part| words.put(part));
            words.put("\n");
            match Meaning::of(number) {
                Meaning::Request => return,
                Meaning::TimeLimit => {
                    words.put("  help: allow more processor time (ulimit -t)\n");
                    return;
                }
                _ => whose,
            }
        }
        Fate::Exit => say_exit(note, words),
    };
    words.put("  help: ");
    words.put(match whose {
        Whose::Plugin => "report it to the maintainer of the plugin; chipdock plugins --check tries every plugin by itself, ",
        Whose::Function => "see that the function stays within its buffers, whatever its arguments are, ",
        Whose::Nobody => {
            "a plugin or a kernel may have damaged memory before; chipdock plugins --check tries every plugin by itself, "
        }
        Whose::Command => {
            words.put("allow more memory if there is no more; else it is a bug of this command, please report it\n");
            return;
        }
    });
    words.put("and --isolate of run and build keeps such an end away from this command\n");
}

fn say_exit(note: Option<&Note>, words: &mut Words) -> Whose {
    let Some(note) = note else {
        words.put("this command was ended by an `exit` that is not its own\n");
        return Whose::Command;
    };
    let scene = Scene::of_call(Some((note.plugin(), note.call())));
    let whose = scene.write(&["ended this command by `exit`"], &mut |part| words.put(part));
    words.put("\n");
    whose
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_plugin_and_call() {
        let crashed = Ended::Killed { signal: 11 };
        let fault = Fault::new(&crashed, "toy\0device_api.toy: device_count", "", "");
        assert_eq!(fault.message, "plugin \"toy\" crashed (SIGSEGV) in `device_api.toy: device_count`");
        let fault = Fault::new(&Ended::Exited { code: 0 }, "toy\0init", "", "bye");
        assert_eq!(fault.message, "plugin \"toy\" ended its process with exit code 0 in `init`, saying: bye");
        assert_eq!(fault.outcome, "exited");
        let fault = Fault::new(&crashed, "", "", "");
        assert_eq!(fault.message, "a process of this command crashed (SIGSEGV) while it called no plugin");
        let end = "other\0/lib/other.so\0\0";
        let fault = Fault::new(&crashed, "toy\0init", end, "");
        let expected = "plugin \"other\" crashed (SIGSEGV) outside of its calls while plugin \"toy\" was called in `init`";
        assert_eq!((fault.message.as_str(), fault.whose), (expected, Whose::Plugin));
        let fault = Fault::new(&crashed, "toy\0init", "\0/lib/libc.so.6\0\0free(): invalid pointer", "");
        assert!(fault.message.contains("damaged memory (free(): invalid pointer)"), "{}", fault.message);
        assert_eq!(fault.whose, Whose::Nobody);
    }
}
