//! The worker: a process that opens the plugin and runs cases one after the other.

use std::collections::HashMap;
use std::os::fd::AsRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use chipdock_raw_host::{OpenError, Plugin};
use chipdock_supervise::{Inside, leave, raised};

use super::lines::LINE_BYTES;
use super::state::State;
use super::{CLOSED_PIPE, Ended, Job, Message, Refusal, Signed, Task, signals};
use crate::case::instances;
use crate::context::{Context, Shared};
use crate::facts::DeviceFacts;
use crate::settings::give;
use crate::{Facts, Instance, Stop, Subject, Verdict, cases, hosts};

/// Maximum length of a text of a failure, in bytes (SUITE-S12).
const TEXT_BYTES: usize = 16 << 10;

/// Writer of messages to the supervisor, over a private pipe that the plugin's output does not
/// reach (SUITE-S11).
struct Reporter {
    inside: Inside,
    token: String,
    number: u64,
}

impl Reporter {
    fn say(&mut self, message: Message) {
        // A process that the plugin forked returned into our code: it is not the worker.
        if !self.inside.is_the_child() {
            leave(0);
        }
        let signed = Signed { token: self.token.clone(), number: self.number, message };
        self.number += 1;
        let Ok(mut line) = serde_json::to_vec(&signed) else { return };
        if line.len() > LINE_BYTES {
            let Some(message) = too_long(&signed.message, line.len()) else { return };
            line = serde_json::to_vec(&Signed { message, ..signed }).unwrap_or_default();
        }
        if self.inside.say(&line).is_err() {
            leave(CLOSED_PIPE);
        }
    }
}

/// Returns the message in place of one that the supervisor would not read (SUITE-S12): the texts of
/// failures are cut before, so that only the registrations of a plugin can be so long.
fn too_long(message: &Message, size: usize) -> Option<Message> {
    match message {
        Message::Opened { .. } | Message::Probed { .. } => {
            let message = format!(
                "its registrations and devices are described by {size} bytes; the suite takes {LINE_BYTES}"
            );
            Some(Message::Probed { facts: Err(Refusal { clause: "P5.1".to_owned(), message }) })
        }
        _ => None,
    }
}

/// Does the job described by a file, and ends the process.
///
/// # Errors
///
/// The job cannot be read.
pub fn work(job: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(job).map_err(|error| format!("{}: {error}", job.display()))?;
    let file = job;
    let job: Job = serde_json::from_str(&text).map_err(|error| format!("the job: {error}"))?;
    // The file contains the token.
    let _ = std::fs::remove_file(file);
    let inside = Inside::take().map_err(|error| format!("the pipe: {error}"))?;
    give(job.settings.clone());
    let mut reporter = Reporter { inside, token: job.token.clone(), number: 0 };
    if let Ok(stderr) = raised(2) {
        signals::install(stderr.as_raw_fd());
        std::mem::forget(stderr);
    }
    let shared = Shared::new(&job.library, job.facts.clone(), &job.companions, &job.trust, &job.scratch)
        .with_repros(&job.repros);
    match &job.task {
        Task::Probe => {
            let facts = probe(&job, &mut reporter);
            reporter.say(Message::Probed { facts });
        }
        Task::Health => reporter.say(Message::Health { stop: health(&shared).err().map(cut) }),
        Task::Cases { ids, builds_alone } => {
            let shared = shared.with_instances(ids, *builds_alone);
            if run(&job, ids, &shared, &mut reporter) {
                reporter.say(Message::Done);
                drop(shared);
                // Ends as any process does: with its destructors, which are part of the case.
                return Ok(());
            }
        }
    }
    reporter.say(Message::Done);
    // Ends without destructors: a case that tests the end of a process sets `ends_process`.
    leave(0)
}

/// Runs cases; returns true if the last one requires that the process ends normally.
fn run(job: &Job, wanted: &[String], shared: &Shared, reporter: &mut Reporter) -> bool {
    let all = instances(&cases(&job.seeds), &job.facts);
    let by_id: HashMap<&str, &Instance> =
        all.iter().map(|instance| (instance.id.as_str(), instance)).collect();
    let state = State::now();
    for (index, id) in wanted.iter().enumerate() {
        reporter.say(Message::Begin { index });
        let start = Instant::now();
        let instance = by_id.get(id.as_str()).copied();
        let (mut ended, repro) = match instance {
            None => (Stop::suite(format!("the worker has no case {id}")).into(), String::new()),
            Some(instance) => run_one(shared, instance),
        };
        let seconds = start.elapsed().as_secs_f64();
        ended.stop = blame_changes(ended.stop, &state.restore()).map(cut);
        ended.not_run = ended.not_run.map(cut_text);
        reporter.say(Message::End { index, seconds, ended, repro });
        if instance.is_some_and(|instance| instance.case.ends_process) {
            return true;
        }
    }
    false
}

fn run_one(shared: &Shared, instance: &Instance) -> (Ended, String) {
    let context = Context::new(shared, &instance.registration);
    // A plugin's panics end at the ABI boundary: a panic that arrives here is the suite's.
    let caught = catch_unwind(AssertUnwindSafe(|| (instance.case.body)(&context)));
    let stop = match caught {
        Ok(verdict) => verdict.err(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            Some(Stop::suite(format!("the case panicked: {text}")))
        }
    };
    let (not_run, untested) = (context.take_not_run(), context.take_untested());
    (Ended { stop, not_run, untested }, context.take_repro())
}

/// Fails a case that leaves the state of its thread changed (P10.10).
fn blame_changes(stop: Option<Stop>, changed: &[&str]) -> Option<Stop> {
    if changed.is_empty() {
        return stop;
    }
    let left = format!("another {}", changed.join(", another "));
    match stop {
        None => Some(Stop::failed("a thread that is as it was before the calls", left).clause("P10.10")),
        Some(stop) => Some(stop.note(format!("the calls left {left}"))),
    }
}

fn cut_text(mut text: String) -> String {
    if text.len() > TEXT_BYTES {
        let end = (0..=TEXT_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        let n_omitted = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({n_omitted} more bytes)"));
    }
    text
}

fn cut(stop: Stop) -> Stop {
    match stop {
        Stop::Failed(mut failure) => {
            failure.expected = cut_text(failure.expected);
            failure.found = cut_text(failure.found);
            failure.note = cut_text(failure.note);
            Stop::Failed(failure)
        }
        Stop::Unsupported(why) => Stop::Unsupported(cut_text(why)),
        Stop::Absent(why) => Stop::Absent(cut_text(why)),
        Stop::NoAxis(why) => Stop::NoAxis(cut_text(why)),
        Stop::Suite(why) => Stop::Suite(cut_text(why)),
    }
}

/// Opens the plugin, reports its registrations, then checks whether its devices and target kinds
/// are usable.
fn probe(job: &Job, reporter: &mut Reporter) -> Result<Facts, Refusal> {
    let refused =
        |error: OpenError| Refusal { clause: error.clause.to_owned(), message: cut_text(error.message) };
    let plugin = Plugin::open(&job.library, hosts::host()).map_err(refused)?;
    // These facts are sent first, in case a driver kills the process.
    reporter.say(Message::Opened { facts: Facts::without_devices(&plugin) });
    let mut facts = Facts::gather(&plugin).map_err(refused)?;
    for text in facts.devices.iter_mut().flat_map(DeviceFacts::texts) {
        *text = cut_text(std::mem::take(text));
    }
    let shared = Shared::new(&job.library, facts.clone(), &job.companions, &job.trust, &job.scratch);
    let context = Context::new(&shared, "");
    let kinds: Vec<String> = facts.registrations(Subject::TargetKind).map(str::to_owned).collect();
    for kind in kinds {
        let usable = context.host().and_then(|host| Ok(host.usable_target(&kind)?));
        if let Err(stop) = usable {
            facts.unusable_kinds.push((kind, cut_text(why(stop))));
        }
    }
    Ok(facts)
}

fn why(stop: Stop) -> String {
    match stop {
        Stop::Failed(failure) => failure.found,
        Stop::Unsupported(why) | Stop::Absent(why) | Stop::NoAxis(why) | Stop::Suite(why) => why,
    }
}

/// Checks that each available device still allocates memory, keeps its contents and frees it
/// (SUITE-S9).
fn health(shared: &Shared) -> Verdict {
    let plugin = Context::new(shared, "").plugin()?;
    for device in plugin.devices() {
        let context = Context::new(shared, &device.name);
        if context.facts().absent_device(&device.name).is_some() {
            continue;
        }
        let about = |stop: Stop| stop.note(format!("on {}, after the end of another process", device.name));
        let space = device.allocate(4096).map_err(|error| about(error.into()))?;
        let written: Vec<u8> = (0..=u8::MAX).cycle().take(4096).collect();
        let mut read = vec![0; written.len()];
        space.write(0, &written).map_err(|error| about(error.into()))?;
        space.read(0, &mut read).map_err(|error| about(error.into()))?;
        if read != written {
            return Err(about(Stop::failed("the bytes that were written", "others")));
        }
        space.free().map_err(|error| about(error.into()))?;
    }
    Ok(())
}
