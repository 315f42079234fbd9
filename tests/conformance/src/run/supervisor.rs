//! The supervisor: one worker after the other, blame for deaths, and the report.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use super::{Job, Message, Options, Progress, RunError, Signed};
use crate::case::{DEADLINE, Instance, instances};
use crate::report::{CaseReport, Death, LevelReport, Machine, SCHEMA};
use crate::{Facts, Level, Report, SUITE_VERSION, Status, Stop, cases};

/// Runs the suite over a plugin.
///
/// # Errors
///
/// The suite's own fault, before anything could be found out.
pub fn supervise(options: &Options, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Report, RunError> {
    let started = Instant::now();
    progress(Progress::Probing);
    let bytes = std::fs::read(&options.library)
        .map_err(|error| RunError::Usage(format!("{}: {error}", options.library.display())))?;
    let mut report = empty(options, &bytes);
    let scratch =
        tempfile::tempdir().map_err(|error| RunError::Suite(format!("no scratch folder: {error}")))?;
    let job = job(options, scratch.path());
    match probe_in(options, &job).map_err(RunError::Suite)? {
        Ok(facts) => report.plugin = facts,
        Err(why) => report.refused = why,
    }
    if !report.refused.is_empty() {
        report.exit = 3;
        report.seconds = started.elapsed().as_secs_f64();
        return Ok(report);
    }
    let mut left: Vec<Instance> = instances(&cases(&options.seeds), &report.plugin);
    left.retain(|instance| options.level.includes(instance.case.group.level()));
    progress(Progress::Planned(left.len()));
    while !left.is_empty() {
        let job = Job {
            facts: report.plugin.clone(),
            instances: Some(left.iter().map(|instance| instance.id.clone()).collect()),
            ..job.clone()
        };
        let mut begun = None;
        let mut n_ended = 0;
        let death = run_worker(options, &job, DEADLINE, &mut |message| match message {
            Message::Begin { index } => begun = Some(index),
            Message::End { index, seconds, stop, not_run, repro } => {
                n_ended = index + 1;
                let case = CaseReport { repro, ..ended(&left[index], seconds, stop, not_run) };
                progress(Progress::Ended(&case));
                report.cases.push(case);
            }
            _ => {}
        })
        .map_err(RunError::Suite)?;
        if let (Some(death), Some(index)) = (death, begun.filter(|index| *index >= n_ended)) {
            let mut case = ended(&left[index], 0.0, None, None);
            case.status = Status::Crashed;
            case.death = Some(death);
            progress(Progress::Ended(&case));
            report.cases.push(case);
            n_ended = index + 1;
        }
        let ends = left.iter().take(n_ended).any(|instance| instance.case.ends_process);
        if n_ended == 0 && !ends {
            report.faults.push("a worker ended without a word".to_owned());
            break;
        }
        left.drain(..n_ended);
    }
    report.levels = Level::ALL
        .iter()
        .filter(|level| options.level.includes(**level))
        .map(|level| LevelReport {
            level: *level,
            reached: report
                .cases
                .iter()
                .all(|case| !level.includes(case.group.level()) || case.status.is_fine()),
            note: String::new(),
        })
        .collect();
    let failed = report.unfine().next().is_some();
    report.exit = u8::from(failed);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// Opens the plugin in a worker and asks what it is; or why it is refused.
///
/// # Errors
///
/// The suite's own fault, before anything could be found out.
pub fn probe(options: &Options) -> Result<Result<Facts, String>, RunError> {
    let scratch =
        tempfile::tempdir().map_err(|error| RunError::Suite(format!("no scratch folder: {error}")))?;
    probe_in(options, &job(options, scratch.path())).map_err(RunError::Suite)
}

fn job(options: &Options, scratch: &Path) -> Job {
    Job {
        library: std::path::absolute(&options.library).unwrap_or_else(|_| options.library.clone()),
        facts: Facts::default(),
        companions: options.companions.clone(),
        trust: options.trust.clone(),
        scratch: scratch.to_owned(),
        repros: std::path::absolute(&options.repro_folder).unwrap_or_else(|_| options.repro_folder.clone()),
        seeds: options.seeds,
        token: format!("{:x}", SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()),
        instances: None,
    }
}

fn probe_in(options: &Options, job: &Job) -> Result<Result<Facts, String>, String> {
    let mut found = None;
    let death = run_worker(options, job, DEADLINE, &mut |message| {
        if let Message::Probed { facts } = message {
            found = Some(facts);
        }
    })?;
    Ok(match found {
        Some(Ok(facts)) => Ok(facts),
        Some(Err(refusal)) => Err(format!("{}: {}", refusal.clause, refusal.message)),
        None => Err(death.map_or_else(|| "the probe said nothing".to_owned(), |death| death.text)),
    })
}

fn empty(options: &Options, bytes: &[u8]) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        suite_version: SUITE_VERSION.to_owned(),
        library: options.library.display().to_string(),
        sha256: Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        plugin: Facts::default(),
        refused: String::new(),
        machine: Machine::default(),
        level: options.level,
        filters: options.filters.clone(),
        claims: options.expectations.claims.clone(),
        seed: options.seeds.first,
        programs: options.seeds.programs,
        started_unix: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        seconds: 0.0,
        cases: Vec::new(),
        profiles: Vec::new(),
        levels: Vec::new(),
        stale: Vec::new(),
        notes: Vec::new(),
        faults: Vec::new(),
        exit: 0,
    }
}

fn ended(instance: &Instance, seconds: f64, stop: Option<Stop>, not_run: Option<String>) -> CaseReport {
    let mut case = CaseReport {
        id: instance.id.clone(),
        group: instance.case.group,
        clause: instance.case.clause.to_owned(),
        profiles: instance.case.profiles.clone(),
        status: Status::Passed,
        seconds,
        reason: String::new(),
        failure: None,
        death: None,
        repro: String::new(),
        repeat: String::new(),
    };
    match (stop, not_run) {
        (None, None) => {}
        (None, Some(why)) => (case.status, case.reason) = (Status::Built, why),
        (Some(Stop::Unsupported(why)), _) => (case.status, case.reason) = (Status::Unsupported, why),
        (Some(Stop::Absent(why)), _) => (case.status, case.reason) = (Status::Absent, why),
        (Some(Stop::Suite(why)), _) => (case.status, case.reason) = (Status::SuiteFault, why),
        (Some(Stop::Failed(failure)), _) => (case.status, case.failure) = (Status::Failed, Some(failure)),
    }
    case
}

/// Runs one worker to its end; answers how it ended when that was not as it should be.
fn run_worker(
    options: &Options,
    job: &Job,
    deadline: Duration,
    each: &mut dyn FnMut(Message),
) -> Result<Option<Death>, String> {
    let fault = |error: std::io::Error| format!("a worker cannot be started: {error}");
    let file = job.scratch.join("job.json");
    std::fs::write(&file, serde_json::to_vec(job).map_err(|error| error.to_string())?).map_err(fault)?;
    let (reader, writer) = std::io::pipe().map_err(fault)?;
    let mut command = Command::new(&options.worker.0);
    command.args(&options.worker.1).arg(&file).stdin(writer).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(fault)?;
    command.stdin(Stdio::null());
    let (sender, messages) = mpsc::channel();
    let token = job.token.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            match serde_json::from_str::<Signed>(&line) {
                Ok(signed) if signed.token == token => drop(sender.send(signed.message)),
                _ => {}
            }
        }
    });
    loop {
        match messages.recv_timeout(deadline) {
            Ok(Message::Done) => {
                let _ = child.wait();
                return Ok(None);
            }
            Ok(message) => each(message),
            Err(RecvTimeoutError::Timeout) => return Ok(Some(kill(&mut child, deadline))),
            Err(RecvTimeoutError::Disconnected) => {
                let status = child.wait().map_err(fault)?;
                let text = match (status.signal(), status.code()) {
                    (Some(signal), _) => format!("killed by signal {signal}"),
                    (_, code) => format!("ended its process with code {}", code.unwrap_or_default()),
                };
                return Ok(Some(Death {
                    signal: status.signal(),
                    exit_code: status.code(),
                    text,
                    ..Death::default()
                }));
            }
        }
    }
}

fn kill(child: &mut Child, deadline: Duration) -> Death {
    let _ = child.kill();
    let _ = child.wait();
    Death { text: format!("silent for {} s", deadline.as_secs()), ..Death::default() }
}
