//! The worker: a process that opens the plugin and runs cases one after the other.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;
use std::time::Instant;

use chipdock_host::{Host, HostOptions};

use super::{Job, Message, Refusal, Signed};
use crate::case::instances;
use crate::context::{Context, Shared};
use crate::raw::Plugin;
use crate::{Facts, Stop, Subject, cases};

/// The pipe to the supervisor. Whatever the plugin prints, it is not this.
struct Reporter {
    pipe: File,
    token: String,
    process: u32,
}

impl Reporter {
    /// Takes standard input, which the supervisor made the writing end of its pipe, and puts nothing in its place.
    fn take(token: String) -> std::io::Result<Self> {
        let pipe: OwnedFd = std::io::stdin().as_fd().try_clone_to_owned()?;
        let nothing = File::open("/dev/null")?;
        // SAFETY: two descriptors that are open; 0 is nobody's but standard input's.
        unsafe { libc::dup2(nothing.as_raw_fd(), 0) };
        Ok(Self { pipe: File::from(pipe), token, process: std::process::id() })
    }

    fn say(&mut self, message: Message) {
        // A fork of the plugin's came back into our code: it is no worker.
        if std::process::id() != self.process {
            // SAFETY: ends this process at once, which is a copy that nobody waits for.
            unsafe { libc::_exit(0) };
        }
        let signed = Signed { token: self.token.clone(), message };
        let Ok(mut line) = serde_json::to_vec(&signed) else { return };
        line.push(b'\n');
        // A supervisor that is gone needs no report.
        let _ = self.pipe.write_all(&line);
    }
}

/// Does the job that stands in a file, and ends the process.
///
/// # Errors
///
/// The job cannot be read.
pub fn work(job: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(job).map_err(|error| format!("{}: {error}", job.display()))?;
    let job: Job = serde_json::from_str(&text).map_err(|error| format!("the job: {error}"))?;
    let mut reporter = Reporter::take(job.token.clone()).map_err(|error| format!("the pipe: {error}"))?;
    let Some(wanted) = &job.instances else {
        let facts = probe(&job);
        reporter.say(Message::Probed { facts });
        reporter.say(Message::Done);
        end_now()
    };
    let all = instances(&cases(&job.seeds), &job.facts);
    let shared = Shared::new(&job.library, job.facts.clone(), &job.companions, &job.trust, &job.scratch)
        .with_repros(&job.repros);
    for (index, id) in wanted.iter().enumerate() {
        reporter.say(Message::Begin { index });
        let start = Instant::now();
        let instance = all.iter().find(|instance| instance.id == *id);
        let (stop, not_run, repro) = match instance {
            None => (Some(Stop::suite(format!("the worker has no case {id}"))), None, String::new()),
            Some(instance) => {
                let context = Context::new(&shared, &instance.registration);
                let stop = (instance.case.body)(&context).err();
                (stop, context.take_not_run(), context.take_repro())
            }
        };
        reporter.say(Message::End { index, seconds: start.elapsed().as_secs_f64(), stop, not_run, repro });
        if instance.is_some_and(|instance| instance.case.ends_process) {
            reporter.say(Message::Done);
            drop(shared);
            // As any process ends: with its destructors, which are part of the case.
            return Ok(());
        }
    }
    reporter.say(Message::Done);
    end_now()
}

/// Ends without destructors: what a case wants to see of an end it asks for by `ends_process`.
fn end_now() -> ! {
    // SAFETY: nothing of ours is left to be written.
    unsafe { libc::_exit(0) }
}

fn probe(job: &Job) -> Result<Facts, Refusal> {
    let plugin = Plugin::open(&job.library)
        .map_err(|error| Refusal { clause: error.clause.to_owned(), message: error.message })?;
    let mut facts = Facts::of(&plugin)
        .map_err(|error| Refusal { clause: error.clause.to_owned(), message: error.message })?;
    let options = HostOptions {
        plugin_paths: vec![job.library.clone()],
        trust: job.trust.clone(),
        ..HostOptions::isolated()
    };
    let kinds: Vec<String> = facts.registrations(Subject::TargetKind).map(str::to_owned).collect();
    match Host::new(options) {
        Ok(host) => {
            for kind in kinds {
                if let Err(error) = host.usable_target(&kind) {
                    facts.unusable_kinds.push((kind, error.to_string()));
                }
            }
        }
        Err(error) => {
            facts.unusable_kinds.extend(kinds.into_iter().map(|kind| (kind, error.to_string())));
        }
    }
    Ok(facts)
}
