//! Runs batches in workers, several at once, and attributes each end and each death to a case
//! (SUITE-S9).

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use chipdock_host::manifest::manifest_path;
use chipdock_supervise::spread;

use super::plan::Batch;
use super::process::{Next, Worker};
use super::together::EndTogether;
use super::{Ended, Job, Message, Options, Task};
use crate::report::Death;
use crate::{Facts, Instance, Stop};

/// Time limit from the start of a worker to its first message.
const START: Duration = Duration::from_secs(30);
/// Time limit of the probe for opening and querying the plugin.
const OPENING: Duration = Duration::from_secs(60);
/// Extra time for the first case of a worker, which opens the plugin: the larger of this and
/// `FIRST_TIMES` times the duration of the probe, but at most `OPENING`.
const FIRST: Duration = Duration::from_secs(5);
const FIRST_TIMES: u32 = 10;
/// Time limit from a worker's last message to its end, and between two cases.
const END: Duration = Duration::from_secs(20);

/// Unjudged result of an instance.
#[derive(Clone, Debug)]
pub(super) struct Raw {
    /// Index of the instance in the plan.
    pub(super) index: usize,
    pub(super) outcome: Outcome,
    pub(super) seconds: f64,
    pub(super) repro: String,
    /// Indices of the worker's instances, in order; empty if the case passed, since it is not run
    /// again.
    pub(super) worker: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Ended(Ended),
    Died(Death),
    Hung(Death),
}

/// Event of a run of batches.
pub(super) enum Event {
    Ended(Raw),
    /// The plugin failed its health check after this instance ended its process.
    Unwell(usize, Outcome),
    Fault(String),
}

/// Result of one worker.
struct Run {
    /// Number of instances that ended.
    n_ended: usize,
    /// Set if the worker ended abnormally: the instance to blame, if any.
    died: Option<Option<usize>>,
    death: Option<Death>,
    /// Set if it ended while it built kernels of several cases together: nobody was charged with
    /// that yet.
    together: Option<EndTogether>,
}

/// Abnormal end of a worker.
#[derive(Clone)]
pub(super) enum Bad {
    Died(Death),
    Hung(Death),
}

impl Bad {
    fn death(&self) -> &Death {
        match self {
            Self::Died(death) | Self::Hung(death) => death,
        }
    }

    /// Adds the circumstances to the text.
    pub(super) fn say(&mut self, when: &str) {
        let (Self::Died(death) | Self::Hung(death)) = self;
        death.text = format!("{} {when}", death.text);
    }

    pub(super) fn outcome(self) -> Outcome {
        match self {
            Self::Died(death) => Outcome::Died(death),
            Self::Hung(death) => Outcome::Hung(death),
        }
    }
}

/// Runs the instances of a plan in workers.
pub(super) struct Runner<'a> {
    pub(super) options: &'a Options,
    pub(super) instances: &'a [Instance],
    job: Job,
    /// Time that opening the plugin may take.
    opening: Duration,
    n_started: AtomicUsize,
}

impl<'a> Runner<'a> {
    /// Creates a runner; workers have their folders in `scratch`.
    pub(super) fn new(
        options: &'a Options,
        instances: &'a [Instance],
        facts: Facts,
        scratch: &Path,
        probe_took: Duration,
    ) -> Self {
        Self {
            options,
            instances,
            job: job(options, facts, scratch),
            opening: FIRST.max(probe_took * FIRST_TIMES).min(OPENING),
            n_started: AtomicUsize::new(0),
        }
    }

    fn start(&self, task: Task) -> Result<Worker, String> {
        let number = self.n_started.fetch_add(1, Ordering::Relaxed);
        let job = Job {
            task,
            scratch: self.job.scratch.join(format!("w{number}")),
            token: token(),
            ..self.job.clone()
        };
        let (executable, arguments) = &self.options.worker;
        let executable = std::path::absolute(executable).unwrap_or_else(|_| executable.clone());
        Worker::start(&(executable, arguments.clone()), &job)
            .map_err(|error| format!("a worker cannot be started: {error}"))
    }

    fn patient(&self, duration: Duration) -> Duration {
        duration.mul_f64(self.options.patience.clamp(0.01, 1000.0))
    }

    /// Runs batches, as many at once as there are jobs, and the exclusive ones after them.
    pub(super) fn run_all(&self, batches: Vec<Batch>, each: &mut dyn FnMut(Event)) {
        let (alone, shared): (Vec<_>, Vec<_>) = batches.into_iter().partition(|batch| batch.exclusive);
        for (batches, n_threads) in [(shared, self.options.jobs.max(1)), (alone, 1)] {
            spread(batches, n_threads, each, &|batch, sender| {
                self.run_batch(&batch.indices, &mut |event| drop(sender.send(event)));
            });
        }
    }

    /// Runs a batch to its end, in as many workers as it needs.
    fn run_batch(&self, indices: &[usize], each: &mut dyn FnMut(Event)) {
        let mut left = indices;
        let mut n_mute = 0;
        let mut together: Option<EndTogether> = None;
        let fault = loop {
            if left.is_empty() {
                break None;
            }
            let builds_alone = together.is_some();
            let run = match self.run_worker(left, builds_alone, &mut |raw| tell(&mut together, raw, each)) {
                Ok(run) => run,
                Err(fault) => break Some(fault),
            };
            left = &left[run.n_ended..];
            if let Some(Some(index)) = run.died
                && let Some(unwell) = self.health()
            {
                each(Event::Unwell(index, unwell));
            }
            if run.together.is_some() {
                together = run.together;
                continue;
            }
            // A worker that dies before its first case may do so once: two in a row end the batch.
            n_mute = if run.n_ended == 0 { n_mute + 1 } else { 0 };
            if n_mute == 2 {
                let how = run.death.map_or_else(|| "well".to_owned(), |death| death.text);
                break Some(format!("a worker ended before any case: {how}"));
            }
        };
        if let Some(fault) = fault {
            each(Event::Fault(fault.clone()));
            given_up(left, &fault).for_each(|raw| tell(&mut together, raw, each));
        }
        together.and_then(EndTogether::conclude).into_iter().for_each(|raw| each(Event::Ended(raw)));
    }

    /// Runs instances in one new worker, until the first abnormal end.
    pub(super) fn run_in_one(&self, indices: &[usize]) -> Result<Vec<Raw>, String> {
        let mut all = Vec::new();
        let run = self.run_worker(indices, false, &mut |raw| all.push(raw))?;
        all.extend(run.together.map(EndTogether::charge));
        Ok(all)
    }

    fn run_worker(
        &self,
        indices: &[usize],
        builds_alone: bool,
        each: &mut dyn FnMut(Raw),
    ) -> Result<Run, String> {
        let ids = indices.iter().map(|index| self.instances[*index].id.clone()).collect();
        let mut worker = self.start(Task::Cases { ids, builds_alone })?;
        let mut heard = Hearing { indices, held: None, begun: None, since: None, n_ended: 0, done: false };
        let started = Instant::now();
        loop {
            let allowed = self.allowed(&heard);
            let since = heard.begun.map_or_else(|| heard.since.unwrap_or(started), |(_, since)| since);
            let bad = match worker.next(since + allowed) {
                Next::Said(message) => {
                    heard.take(message, each);
                    continue;
                }
                Next::Gone if heard.done && heard.begun.is_none() && worker.ended_well() => {
                    heard.flush(each);
                    return Ok(Run { n_ended: heard.n_ended, died: None, death: None, together: None });
                }
                Next::Gone => Bad::Died(worker.death()),
                Next::Garbled => Bad::Died(worker.garbled()),
                Next::Silent => Bad::Hung(worker.hang(allowed)),
            };
            let is_shared = !builds_alone && worker.builds_together();
            return Ok(if is_shared { heard.postpone(bad, each) } else { heard.blame(bad, each) });
        }
    }

    /// Returns how long the worker may be silent.
    fn allowed(&self, heard: &Hearing<'_>) -> Duration {
        match heard.begun {
            None if heard.n_ended == 0 => self.patient(START),
            None => self.patient(END),
            Some((place, _)) => {
                let deadline = self.instances[heard.indices[place]].case.deadline;
                self.patient(deadline + if place == 0 { self.opening } else { Duration::ZERO })
            }
        }
    }

    /// Checks the plugin's health in a new worker; returns the outcome if the check fails.
    fn health(&self) -> Option<Outcome> {
        let mut worker = match self.start(Task::Health) {
            Ok(worker) => worker,
            Err(fault) => {
                return Some(Outcome::Ended(Stop::suite(fault).into()));
            }
        };
        let allowed = self.patient(START + self.opening);
        let until = Instant::now() + allowed;
        let mut found = None;
        loop {
            match worker.next(until) {
                Next::Said(Message::Health { stop: Some(stop) }) => {
                    found = Some(Outcome::Ended(stop.into()));
                }
                Next::Said(_) => {}
                Next::Gone if worker.ended_well() => return found,
                Next::Gone => return Some(Outcome::Died(worker.death())),
                Next::Garbled => return Some(Outcome::Died(worker.garbled())),
                Next::Silent => return Some(Outcome::Hung(worker.hang(allowed))),
            }
        }
    }
}

/// Passes on how an instance ended, unless that has to wait until others have run.
pub(super) fn tell(together: &mut Option<EndTogether>, raw: Raw, each: &mut dyn FnMut(Event)) {
    let raw = match together {
        Some(end) => end.hear(raw),
        None => Some(raw),
    };
    raw.into_iter().for_each(|raw| each(Event::Ended(raw)));
}

/// Returns the reports of instances that no worker could run.
pub(super) fn given_up(left: &[usize], fault: &str) -> impl Iterator<Item = Raw> {
    left.iter().map(move |index| Raw {
        index: *index,
        outcome: Outcome::Ended(Stop::suite(fault).into()),
        seconds: 0.0,
        repro: String::new(),
        worker: Vec::new(),
    })
}

/// State of the messages received from one worker.
struct Hearing<'a> {
    indices: &'a [usize],
    /// Last case that ended: a failure before the next one begins is charged to it.
    held: Option<Raw>,
    begun: Option<(usize, Instant)>,
    since: Option<Instant>,
    n_ended: usize,
    done: bool,
}

impl Hearing<'_> {
    fn take(&mut self, message: Message, each: &mut dyn FnMut(Raw)) {
        match message {
            Message::Begin { index } if index == self.n_ended && index < self.indices.len() => {
                self.flush(each);
                self.begun = Some((index, Instant::now()));
            }
            Message::End { index, seconds, ended, repro }
                if self.begun.is_some_and(|(begun, _)| begun == index) =>
            {
                self.begun = None;
                self.since = Some(Instant::now());
                self.n_ended = index + 1;
                self.held = Some(self.raw(index, Outcome::Ended(ended), seconds, repro));
            }
            Message::Done => self.done = true,
            _ => {}
        }
    }

    fn raw(&self, place: usize, outcome: Outcome, seconds: f64, repro: String) -> Raw {
        let passed = matches!(outcome, Outcome::Ended(Ended { stop: None, .. }));
        let worker = if passed { Vec::new() } else { self.indices.to_vec() };
        Raw { index: self.indices[place], outcome, seconds, repro, worker }
    }

    fn flush(&mut self, each: &mut dyn FnMut(Raw)) {
        if let Some(raw) = self.held.take() {
            each(raw);
        }
    }

    /// Leaves open who is charged with an abnormal end while kernels of several cases were built
    /// together.
    fn postpone(mut self, bad: Bad, each: &mut dyn FnMut(Raw)) -> Run {
        let Some((place, begun)) = self.begun else { return self.blame(bad, each) };
        self.flush(each);
        let raw = self.raw(place, bad.clone().outcome(), begun.elapsed().as_secs_f64(), String::new());
        let (died, death) = (Some(Some(raw.index)), Some(bad.death().clone()));
        Run { n_ended: place, died, death, together: Some(EndTogether::new(raw, bad)) }
    }

    /// Charges an abnormal end to the case that had begun, or else to the one that ended last.
    fn blame(mut self, mut bad: Bad, each: &mut dyn FnMut(Raw)) -> Run {
        let death = Some(bad.death().clone());
        let to_blame = if let Some((place, begun)) = self.begun {
            self.flush(each);
            self.n_ended = place + 1;
            let seconds = begun.elapsed().as_secs_f64();
            let raw = self.raw(place, bad.outcome(), seconds, String::new());
            let index = raw.index;
            each(raw);
            Some(index)
        } else if let Some(mut raw) = self.held.take() {
            bad.say(if self.done { "at the end of its process" } else { "after the case had ended" });
            let index = raw.index;
            raw.outcome = bad.outcome();
            raw.worker = self.indices.to_vec();
            each(raw);
            Some(index)
        } else {
            None
        };
        Run { n_ended: self.n_ended, died: Some(to_blame), death, together: None }
    }
}

/// Builds the part of a worker's job that all workers share: all but task, folder and token.
pub(super) fn job(options: &Options, facts: Facts, scratch: &Path) -> Job {
    let absolute = |path: &std::path::PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Job {
        library: absolute(&options.library),
        facts,
        companions: options.companions.iter().map(absolute).collect(),
        trust: options.trust.iter().map(absolute).collect(),
        settings: options.settings.clone(),
        scratch: absolute(&scratch.to_owned()),
        repros: absolute(&options.repro_folder),
        seeds: options.seeds,
        token: String::new(),
        task: Task::Probe,
    }
}

/// Returns a random token that cannot be guessed by accident.
fn token() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

/// Result of the probe.
#[derive(Debug, Default)]
pub(super) struct Probed {
    pub(super) facts: Facts,
    /// Reason why the plugin is refused; empty if it is not.
    pub(super) refused: String,
    /// Facts about devices that the probe could not determine; empty if there are none.
    pub(super) note: String,
    /// Duration of the probe.
    pub(super) took: Duration,
}

/// Opens and queries the plugin in a worker of its own.
pub(super) fn probe(options: &Options, scratch: &Path) -> Result<Probed, String> {
    let started = Instant::now();
    let runner = Runner::new(options, &[], Facts::default(), scratch, Duration::ZERO);
    let mut worker = runner.start(Task::Probe)?;
    let allowed = runner.patient(START + OPENING);
    let until = Instant::now() + allowed;
    let mut opened = None;
    let mut found = None;
    let death = loop {
        match worker.next(until) {
            Next::Said(Message::Opened { facts }) => opened = Some(facts),
            Next::Said(Message::Probed { facts }) => found = Some(facts),
            // The facts are complete: an abnormal end after them is a matter of the cases.
            Next::Said(Message::Done) => break None,
            Next::Said(_) => {}
            Next::Gone => break Some(worker.death()),
            Next::Garbled => break Some(worker.garbled()),
            Next::Silent => break Some(worker.hang(allowed)),
        }
    };
    let how = death.map_or_else(|| "it said nothing".to_owned(), |death| described(&death));
    let mut probed = match (found, opened) {
        (Some(Ok(facts)), _) => Probed { facts, ..Probed::default() },
        (Some(Err(refusal)), _) => {
            Probed { refused: format!("{}: {}", refusal.clause, refusal.message), ..Probed::default() }
        }
        (None, Some(facts)) => {
            let note = format!("whether its devices are there could not be found out: the probe {how}");
            Probed { facts, note, ..Probed::default() }
        }
        (None, None) => Probed { refused: format!("the process that opened it {how}"), ..Probed::default() },
    };
    probed.facts.has_manifest = manifest_path(&options.library).exists();
    Ok(Probed { took: started.elapsed(), ..probed })
}

fn described(death: &Death) -> String {
    let was = if death.signal.is_some() || death.text.starts_with("silent") { "was " } else { "" };
    let place = death.backtrace.first().map(|frame| format!(" in {frame}")).unwrap_or_default();
    let said = death.stderr.lines().last().map(|line| format!(", saying: {line}")).unwrap_or_default();
    format!("{was}{}{place}{said}", death.text)
}
