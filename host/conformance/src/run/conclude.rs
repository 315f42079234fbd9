//! Conclusions from all verdicts: profiles, stale lines, levels and the exit code (SUITE-S6,
//! SUITE-S7, SUITE-S13, SUITE-S14).

use std::collections::HashMap;

use super::judge::Judge;
use crate::report::levels::{LevelState, state};
use crate::report::{CaseReport, LevelReport, ProfileReport, Report, StaleReport};
use crate::{Facts, Group, Instance, Level, Profile, Status, Subject, axes};

/// Reports each profile that an instance needs, and the claims that are stale. `planned` holds
/// every instance that applies to the plugin, run or not: an instance that was left out proves
/// nothing.
pub(super) fn profiles(
    judge: &Judge<'_>,
    planned: &[Instance],
    cases: &[CaseReport],
) -> (Vec<ProfileReport>, Vec<StaleReport>) {
    let (mut reports, mut stale) = (Vec::new(), Vec::new());
    let claims = &judge.options.expectations.claims;
    let ended: HashMap<&str, &CaseReport> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    // The report of a case no longer lists the profiles that the case was silent about.
    let needed = |instance: &'_ Instance| match ended.get(instance.id.as_str()) {
        Some(case) => case.profiles.clone(),
        None => instance.case.profiles.clone(),
    };
    for profile in Profile::ALL.iter().copied() {
        let claimed = claims.contains(&profile);
        let counts = |profiles: &[Profile]| {
            profiles.contains(&profile) && (!claimed || profiles.iter().all(|needed| claims.contains(needed)))
        };
        let of: Vec<&CaseReport> = cases.iter().filter(|case| counts(&case.profiles)).collect();
        let n_planned = planned.iter().filter(|instance| counts(&needed(instance))).count();
        if of.is_empty() {
            let n_silent = planned.iter().filter(|instance| counts(&instance.case.profiles)).count();
            if claimed && n_planned == 0 && n_silent > 0 {
                let why = format!(
                    "claimed, and nothing of it came to the device in any of the {n_silent} cases that need it: remove \
                     the claim"
                );
                stale.push(StaleReport { what: profile.name().to_owned(), why });
            }
            continue;
        }
        let passed = |case: &&&CaseReport| matches!(case.status, Status::Passed | Status::Built);
        // A refusal excused by an expectation says nothing about the profile.
        let refused =
            |case: &&&CaseReport| case.status == Status::Unsupported && judge.expectation(&case.id).is_none();
        let n_unsupported = of.iter().filter(|case| case.status == Status::Unsupported).count();
        let n_passed = of.iter().filter(passed).count();
        let mut problem = String::new();
        if let (false, Some(one), Some(other)) = (claimed, of.iter().find(passed), of.iter().find(refused)) {
            problem = format!(
                "not claimed, and answered in two ways: {n_passed} of {} cases pass, as {}, and {n_unsupported} \
                 are unsupported, as {}; claim it, or refuse all of it",
                of.len(),
                one.id,
                other.id
            );
        }
        let all_ran = of.len() == n_planned;
        let lacks_axes =
            |case: &&CaseReport| case.status == Status::Absent && case.reason.starts_with(axes::LACKS);
        if claimed && all_ran && of.iter().all(lacks_axes) {
            let why = "claimed, and no target kind has the axes of any case that needs it: remove the claim";
            stale.push(StaleReport { what: profile.name().to_owned(), why: why.to_owned() });
        }
        // What passes on the device of another plugin is that plugin's claim.
        let has_device = judge.facts.registrations(Subject::DeviceApi).next().is_some();
        let may_claim = !claimed && (has_device || !profile.is_of_device());
        let all_passed = all_ran && n_passed == of.len();
        if may_claim && all_passed && of.iter().any(|case| case.status == Status::Passed) {
            let why = format!("not claimed, and all {n_passed} cases that need it pass: claim it");
            stale.push(StaleReport { what: profile.name().to_owned(), why });
        }
        let n_cases = of.len();
        reports.push(ProfileReport { profile, claimed, n_cases, n_passed, n_unsupported, problem });
    }
    (reports, stale)
}

/// Returns the expectations that match nothing, or only cases that pass (SUITE-S7).
pub(super) fn stale(judge: &Judge<'_>, planned: &[Instance], cases: &[CaseReport]) -> Vec<StaleReport> {
    let mut stale = Vec::new();
    for expectation in &judge.options.expectations.cases {
        if !expectation.is_in_force(judge.facts, &judge.today) {
            continue;
        }
        let is_about = |id: &str| judge.expectation(id).is_some_and(|found| std::ptr::eq(found, expectation));
        let n_planned = planned.iter().filter(|instance| is_about(&instance.id)).count();
        let matched: Vec<&CaseReport> = cases.iter().filter(|case| is_about(&case.id)).collect();
        let passes = matched.iter().all(|case| case.status == Status::Stale);
        let why = if n_planned == 0 && matched.is_empty() {
            let is_shadowed = planned.iter().any(|instance| expectation.matches(&instance.id));
            match is_shadowed {
                true => "every case that it matches is matched by a line before it: remove it".to_owned(),
                false => "it matches no case of this plugin: remove it".to_owned(),
            }
        } else if !matched.is_empty() && matched.len() >= n_planned && passes {
            format!("all {} cases that it matches end as they should: remove it", matched.len())
        } else {
            continue;
        };
        stale.push(StaleReport { what: expectation.pattern.clone(), why });
    }
    stale
}

/// Reports the requested levels (SUITE-S13). `n_omitted` of their instances were not run.
pub(super) fn levels(
    asked: Level,
    cases: &[CaseReport],
    profiles: &[ProfileReport],
    n_omitted: usize,
    facts: &Facts,
) -> Vec<LevelReport> {
    let asked = Level::ALL.iter().copied().filter(|level| asked.includes(*level));
    let report = |level| match nothing_to_hold(level, facts) {
        // A plugin's loader is also tested for copies and threads, which says nothing about a
        // device.
        Some(note) => LevelReport { level, state: LevelState::NotReached, note: note.to_owned() },
        None => self::level(level, cases, profiles, n_omitted),
    };
    asked.map(report).collect()
}

/// Returns the reason why a level cannot be reached whatever the cases say: the plugin registers
/// nothing for it.
fn nothing_to_hold(level: Level, facts: &Facts) -> Option<&'static str> {
    let has = |subject| facts.registrations(subject).next().is_some();
    match level {
        Level::Device if !has(Subject::DeviceApi) => Some("the plugin registers no device API"),
        Level::Codegen if ![Subject::TargetKind, Subject::Codegen, Subject::Loader].into_iter().any(has) => {
            Some("the plugin registers no target kind, code generator or loader")
        }
        _ => None,
    }
}

fn level(level: Level, cases: &[CaseReport], profiles: &[ProfileReport], n_omitted: usize) -> LevelReport {
    let on_it: Vec<&CaseReport> = cases.iter().filter(|case| level.includes(case.group.level())).collect();
    if let Err(note) = as_expected(level, &on_it, profiles, n_omitted) {
        return LevelReport { level, state: LevelState::NotReached, note };
    }
    let n = |group: Group, status: Status| {
        on_it.iter().filter(|case| (case.group, case.status) == (group, status)).count() as u64
    };
    let (state, groups) = state(level, n);
    let names = listed(&groups);
    let reason = match state {
        LevelState::BuiltOnly => format!("the code of {names} was built, and none of it run"),
        LevelState::NotRun => format!("nothing of {names} ran"),
        LevelState::Reached | LevelState::NotReached => String::new(),
    };
    let notes = [reason, remarks(&on_it)];
    let notes: Vec<&str> = notes.iter().map(String::as_str).filter(|note| !note.is_empty()).collect();
    LevelReport { level, state, note: notes.join(": ") }
}

/// Checks that the cases of a level, and the profiles that they need, are as expected, that none
/// was left out, and that there is something to try in each part.
///
/// # Errors
///
/// The reason why the level is not reached.
fn as_expected(
    level: Level,
    on_it: &[&CaseReport],
    profiles: &[ProfileReport],
    n_omitted: usize,
) -> Result<(), String> {
    let is_good = |case: &&&CaseReport| case.status.is_fine() || case.status == Status::Stale;
    let bad: Vec<&&CaseReport> = on_it.iter().filter(|case| !is_good(case)).collect();
    if let Some(first) = bad.first() {
        let (n_bad, n) = (bad.len(), on_it.len());
        return Err(format!("{n_bad} of {n} cases did not end as they should, first {}", first.id));
    }
    let is_here = |profile: Profile| on_it.iter().any(|case| case.profiles.contains(&profile));
    let wrong = |profile: &&ProfileReport| !profile.problem.is_empty() && is_here(profile.profile);
    if let Some(wrong) = profiles.iter().find(wrong) {
        return Err(format!("the profile {} is answered in two ways", wrong.profile));
    }
    if n_omitted > 0 {
        return Err(format!("filters left {n_omitted} cases out"));
    }
    let parts: &[Level] = match level {
        Level::Full => &[Level::Loadable, Level::Device, Level::Codegen, Level::Full],
        _ => &[level],
    };
    let mut n_tried = 0;
    for part in parts {
        let of: Vec<&&CaseReport> = on_it.iter().filter(|case| case.group.level() == *part).collect();
        let is_tried = |case: &&&&CaseReport| {
            matches!(case.status, Status::Passed | Status::Built | Status::Absent | Status::Stale)
        };
        let n = of.iter().filter(is_tried).count();
        let answers = |case: &&&&CaseReport| case.status != Status::Unsupported;
        if let (0, Some(first)) = (n, of.iter().find(answers)) {
            let why = [first.status.name(), &first.reason].join(": ");
            return Err(format!("none of its {} cases passed: {}", of.len(), why.trim_end_matches(": ")));
        }
        n_tried += if *part == Level::Loadable && level != Level::Loadable { 0 } else { n };
    }
    let is_own = |case: &&&CaseReport| level == Level::Loadable || case.group.level() != Level::Loadable;
    match (n_tried, on_it.iter().filter(is_own).count()) {
        (0, 0) => Err("the plugin registers nothing that it is about".to_owned()),
        (0, n_own) => Err(format!("none of its {n_own} cases passed")),
        _ => Ok(()),
    }
}

/// Lists names of groups, as in "copy, memory and query".
fn listed(groups: &[Group]) -> String {
    let names: Vec<&str> = groups.iter().map(|group| group.name()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Describes remarkable counts of a level that was reached.
fn remarks(cases: &[&CaseReport]) -> String {
    let known = [
        (Status::Expected, "expected failures"),
        (Status::Built, "built only"),
        (Status::Absent, "absent"),
        (Status::Stale, "stale expectations"),
    ];
    let count = |status| cases.iter().filter(|case| case.status == status).count();
    let remarks = known.into_iter().map(|(status, name)| (count(status), name));
    let remarks = remarks.filter(|(n, _)| *n > 0).map(|(n, name)| format!("{n} {name}"));
    remarks.collect::<Vec<_>>().join(", ")
}

/// Computes the exit code: the first of 7, 3, 5, 1, 6, 4, 0 that applies (SUITE-S14). Code 2 is an
/// error before there is a report.
pub(super) fn exit(report: &Report) -> u8 {
    let any = |wanted: fn(&CaseReport) -> bool| report.cases.iter().any(wanted);
    let beyond = |case: &&CaseReport| case.group.level() != Level::Loadable;
    let n_beyond = report.cases.iter().filter(beyond).count();
    let n_absent = report.cases.iter().filter(beyond).filter(|case| case.status == Status::Absent).count();
    let is_crash = |case: &CaseReport| {
        !case.status.is_fine()
            && (case.death.is_some() || matches!(case.status, Status::Crashed | Status::Hung))
    };
    let is_failure =
        |case: &CaseReport| matches!(case.status, Status::Failed | Status::Flaky | Status::OrderDependent);
    let answers = [
        (7, !report.faults.is_empty() || any(|case| case.status == Status::SuiteFault)),
        (3, !report.refused.is_empty()),
        (5, any(is_crash)),
        (1, any(is_failure) || report.profiles.iter().any(|profile| !profile.problem.is_empty())),
        (6, any(|case| case.status == Status::Stale) || !report.stale.is_empty()),
        (4, n_beyond > 0 && n_absent == n_beyond),
    ];
    answers.into_iter().find(|(_, holds)| *holds).map_or(0, |(code, _)| code)
}
