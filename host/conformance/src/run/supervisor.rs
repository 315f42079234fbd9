//! The supervisor: runs the probe, the plan, the workers and the second runs, and builds the
//! report.

use std::time::Instant;

use chipdock_host::files;
use chipdock_plugin_api::files::scratch::Scratch;
use sha2::{Digest as _, Sha256};

use super::again::{Failed, Remarks, again, choose};
use super::conclude;
use super::judge::{Judge, cut, is_failing};
use super::plan::{Filters, batches};
use super::pool::{self, Event, Probed, Runner};
use super::{Options, Progress, RunError, machine};
use crate::case::instances;
use crate::report::{CaseReport, LevelState, SCHEMA};
use crate::{Case, Facts, Instance, Report, SUITE_VERSION, Subject, cases};

/// Total size of the failure texts that are kept in full, in bytes.
const TEXTS_BYTES: usize = 16 << 20;
/// Maximum size of each text past that total, in bytes.
const SHORT_BYTES: usize = 256;

/// Runs the suite over a plugin.
///
/// # Errors
///
/// The request is wrong, or the suite itself is at fault, before there is a result.
pub fn supervise(options: &Options, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Report, RunError> {
    let started = Instant::now();
    let filters = Filters::new(&options.filters)?;
    let bytes = files::read_regular(&options.library, files::LIBRARY_BYTES_MAX)
        .map_err(|error| RunError::Usage(format!("{}: {}", options.library.display(), error.message())))?;
    let mut report = empty(options, &bytes);
    drop(bytes);
    let scratch = scratch()?;
    progress(Progress::Probing);
    let probed = pool::probe(options, scratch.path()).map_err(RunError::Suite)?;
    let probe_took = probed.took;
    take_probed(&mut report, probed);
    let known = cases(&options.seeds);
    let planned = applicable(&known, &report);
    let of_level: Vec<Instance> = planned
        .iter()
        .filter(|instance| options.level.includes(instance.case.group.level()))
        .cloned()
        .collect();
    let chosen: Vec<Instance> =
        of_level.iter().filter(|instance| filters.takes(&instance.id)).cloned().collect();
    let ids = of_level.iter().map(|instance| instance.id.as_str());
    // The instances of a refused plugin are unknown, so filters are also checked against the ids of
    // cases.
    let of_cases = known.iter().map(|case| case.id.as_str()).filter(|_| !report.refused.is_empty());
    filters.check(&options.filters, ids.chain(of_cases))?;
    progress(Progress::Planned(chosen.len()));
    let runner = Runner::new(options, &chosen, report.plugin.clone(), scratch.path(), probe_took);
    run(&runner, &mut report, progress);
    finish(options, &mut report, &planned, of_level.len() - chosen.len());
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// Opens the plugin in a worker and returns its facts, or the reason why it is refused.
///
/// # Errors
///
/// The suite itself is at fault, before there is a result.
pub fn probe(options: &Options) -> Result<Result<Facts, String>, RunError> {
    let probed = pool::probe(options, scratch()?.path()).map_err(RunError::Suite)?;
    Ok(if probed.refused.is_empty() { Ok(probed.facts) } else { Err(probed.refused) })
}

/// Creates the scratch folder, which plugins are copied into and opened from; the next run removes
/// what a killed run left.
fn scratch() -> Result<Scratch, RunError> {
    Scratch::new("conformance").map_err(|error| RunError::Suite(format!("no scratch folder: {error}")))
}

fn take_probed(report: &mut Report, probed: Probed) {
    report.plugin = probed.facts;
    report.refused = probed.refused;
    report.notes.extend((!probed.note.is_empty()).then_some(probed.note));
}

/// Id prefixes of the cases that still run for a refused plugin: all others would repeat the reason
/// of the refusal.
const OF_THE_REFUSED: &[&str] = &["image/", "load/entry/", "load/descriptor/", "load/opening/"];

/// Returns the instances that apply to the plugin; for a refused plugin, those that need no
/// registration.
fn applicable(known: &[Case], report: &Report) -> Vec<Instance> {
    let mut all = instances(known, &report.plugin);
    if !report.refused.is_empty() {
        let is_left = |instance: &Instance| {
            matches!(instance.case.subject, Subject::Plugin | Subject::Manifest)
                && OF_THE_REFUSED.iter().any(|start| instance.id.starts_with(start))
        };
        all.retain(is_left);
    }
    all
}

/// Runs the chosen instances, then repeats the failed ones.
fn run(runner: &Runner<'_>, report: &mut Report, progress: &mut dyn FnMut(Progress<'_>)) {
    let (options, chosen) = (runner.options, runner.instances);
    let facts = report.plugin.clone();
    let judge = Judge::new(options, &facts);
    let mut cases: Vec<Option<CaseReport>> = vec![None; chosen.len()];
    let mut failed: Vec<Failed> = Vec::new();
    let mut room_bytes = TEXTS_BYTES;
    let mut unwell = Vec::new();
    runner.run_all(batches(chosen, options.jobs), &mut |event| match event {
        Event::Ended(raw) => {
            let mut case = judge.report(&chosen[raw.index], &raw);
            fit(&mut case, &mut room_bytes);
            progress(Progress::Ended(&case));
            if is_failing(case.status) {
                failed.push(Failed { index: raw.index, worker: raw.worker });
            }
            cases[raw.index] = Some(case);
        }
        Event::Unwell(index, outcome) => unwell.push(judge.unwell(&chosen[index], &outcome)),
        Event::Fault(fault) => report.faults.push(fault),
    });
    if options.again && report.refused.is_empty() && !failed.is_empty() {
        failed.sort_by_key(|failed| failed.index);
        let (chosen, mut remarks) = choose(&cases, &failed);
        progress(Progress::Again(chosen.len()));
        again(runner, &judge, chosen, &mut cases, &mut remarks);
        let Remarks { notes, faults } = remarks;
        report.notes.extend(notes);
        report.faults.extend(faults);
    }
    unwell.iter().for_each(|case| progress(Progress::Ended(case)));
    report.cases = cases.into_iter().flatten().chain(unwell).collect();
    // A fault met by many cases is reported once.
    report.faults.sort();
    report.faults.dedup();
}

/// Truncates the texts of a failure once all failures together are too long (SUITE-S12).
fn fit(case: &mut CaseReport, room_bytes: &mut usize) {
    let mut texts: Vec<&mut String> = Vec::new();
    if let Some(failure) = &mut case.failure {
        texts.extend([&mut failure.expected, &mut failure.found, &mut failure.note]);
    }
    if let Some(death) = &mut case.death {
        texts.push(&mut death.stderr);
        texts.extend(&mut death.backtrace);
    }
    for text in texts {
        if *room_bytes < text.len() {
            cut(text, SHORT_BYTES);
        }
        *room_bytes = room_bytes.saturating_sub(text.len());
    }
}

/// Fills in the conclusions of the report.
fn finish(options: &Options, report: &mut Report, planned: &[Instance], n_omitted: usize) {
    let facts = report.plugin.clone();
    let judge = Judge::new(options, &facts);
    if report.refused.is_empty() {
        let (profiles, mut stale) = conclude::profiles(&judge, planned, &report.cases);
        stale.extend(conclude::stale(&judge, planned, &report.cases));
        (report.profiles, report.stale) = (profiles, stale);
    }
    report.levels =
        conclude::levels(options.level, &report.cases, &report.profiles, n_omitted, &report.plugin);
    if !report.refused.is_empty() {
        for level in &mut report.levels {
            (level.state, level.note) = (LevelState::NotReached, "the plugin is refused".to_owned());
        }
    }
    report.exit = conclude::exit(report);
}

fn empty(options: &Options, bytes: &[u8]) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        suite_version: SUITE_VERSION.to_owned(),
        library: options.library.display().to_string(),
        sha256: Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        plugin: Facts::default(),
        refused: String::new(),
        machine: machine::here(),
        level: options.level,
        filters: options.filters.clone(),
        settings: options
            .settings
            .iter()
            .map(|(plugin, key, value)| format!("{plugin}.{key}={value}"))
            .collect(),
        claims: options.expectations.claims.clone(),
        seed: options.seeds.first,
        programs: options.seeds.programs,
        started_unix: machine::now_unix(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Group;
    use crate::{Failure, Status};

    /// SUITE-S12: ten thousand long failures stay small.
    #[test]
    fn failure_texts_are_bounded() {
        let case = CaseReport {
            id: String::new(),
            group: Group::Op,
            clause: String::new(),
            profiles: Vec::new(),
            status: Status::Failed,
            seconds: 0.0,
            reason: String::new(),
            failure: Some(Failure { found: "x".repeat(16 << 10), ..Failure::default() }),
            death: None,
            repro: String::new(),
            repeat: String::new(),
        };
        let mut room_bytes = TEXTS_BYTES;
        let found = |_| {
            let mut case = case.clone();
            fit(&mut case, &mut room_bytes);
            case.failure.map_or(0, |failure| failure.found.len())
        };
        let lengths: Vec<usize> = (0..10_000).map(found).collect();
        assert_eq!(lengths[0], 16 << 10);
        assert!(lengths.iter().sum::<usize>() < TEXTS_BYTES + 10_000 * 300);
    }
}
