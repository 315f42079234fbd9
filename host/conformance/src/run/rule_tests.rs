//! Rules SUITE-S6, SUITE-S7, SUITE-S8, SUITE-S13 and SUITE-S14 on made-up verdicts: the decisions
//! after the workers have ended.

use super::conclude;
use super::judge::Judge;
use super::pool::{Outcome, Raw};
use super::{Ended, Options, machine};
use crate::case::{Cases, Seeds, instances};
use crate::expectations::Expectations;
use crate::facts::{DeviceFacts, Registration};
use crate::report::text::profile_words;
use crate::report::{CaseReport, Death, LevelState, ProfileReport, StaleReport};
use crate::{Facts, Group, Instance, Level, Profile, Report, SUITE_VERSION, Status, Stop, Subject};

fn options(expectations: &str) -> Options {
    Options {
        library: "./lib npu.so".into(),
        worker: (String::new().into(), Vec::new()),
        level: Level::Full,
        filters: Vec::new(),
        expectations: Expectations::parse(expectations).unwrap(),
        companions: Vec::new(),
        trust: Vec::new(),
        settings: Vec::new(),
        seeds: Seeds::default(),
        jobs: 1,
        patience: 1.0,
        again: true,
        repro_folder: ".".into(),
        repeat: vec!["--plugin".to_owned(), "it's.so".to_owned()],
    }
}

fn facts(absent: &str) -> Facts {
    let registered = |subject, name: &str| Registration { subject, name: name.to_owned() };
    Facts {
        registered: vec![
            registered(Subject::DeviceApi, "npu"),
            registered(Subject::TargetKind, "npu"),
            registered(Subject::Codegen, "npu"),
        ],
        devices: vec![DeviceFacts {
            api: "npu".to_owned(),
            count: i32::from(absent.is_empty()),
            absent: absent.to_owned(),
            device_name: "Model A1".to_owned(),
            driver_version: "2.1".to_owned(),
        }],
        ..Facts::default()
    }
}

/// Instances of `npu`: their names and profiles, all of one group.
fn plan(group: Group, cases: &[(&str, &[Profile])]) -> Vec<Instance> {
    let mut list = Cases::default();
    for (name, profiles) in cases {
        list.case(group, name, "D.9", Subject::DeviceApi).profile(profiles.iter().copied()).run(|_| Ok(()));
    }
    instances(&list.into_vec(), &facts(""))
}

fn raw(stop: Option<Stop>) -> Raw {
    raw_of(Ended { stop, ..Ended::default() })
}

fn raw_of(ended: Ended) -> Raw {
    let outcome = Outcome::Ended(ended);
    Raw { index: 0, outcome, seconds: 0.5, repro: String::new(), worker: Vec::new() }
}

fn unsupported() -> Option<Stop> {
    Some(Stop::Unsupported("not here".to_owned()))
}

/// Judges made-up verdicts and returns the cases, profiles and stale lines.
fn judged(
    expectations: &str,
    cases: &[(&str, &[Profile], Option<Stop>)],
) -> (Vec<CaseReport>, Vec<ProfileReport>, Vec<StaleReport>) {
    let ended = |stop: &Option<Stop>| Ended { stop: stop.clone(), ..Ended::default() };
    let cases: Vec<_> = cases.iter().map(|(name, profiles, stop)| (*name, *profiles, ended(stop))).collect();
    judged_of(expectations, &cases)
}

fn judged_of(
    expectations: &str,
    cases: &[(&str, &[Profile], Ended)],
) -> (Vec<CaseReport>, Vec<ProfileReport>, Vec<StaleReport>) {
    let (options, facts) = (options(expectations), facts(""));
    let judge = Judge::new(&options, &facts);
    let named: Vec<(&str, &[Profile])> = cases.iter().map(|(name, profiles, _)| (*name, *profiles)).collect();
    let plan = plan(Group::Op, &named);
    let raws = cases.iter().map(|(.., ended)| raw_of(ended.clone()));
    let reports: Vec<CaseReport> =
        plan.iter().zip(raws).map(|(instance, raw)| judge.report(instance, &raw)).collect();
    let (profiles, mut stale) = conclude::profiles(&judge, &plan, &reports);
    stale.extend(conclude::stale(&judge, &plan, &reports));
    (reports, profiles, stale)
}

const F16: &[Profile] = &[Profile::Float16];
const BOTH: &[Profile] = &[Profile::Float16, Profile::Float64];

#[test]
fn suite_s6_a_claim_must_not_be_unsupported() {
    let claims = "claims = [\"float16\"]";
    let (cases, profiles, stale) = judged(claims, &[("a", F16, unsupported()), ("b", F16, None)]);
    let failure = cases[0].failure.as_ref().unwrap();
    assert_eq!(cases[0].status, Status::Failed);
    assert_eq!(failure.expected, "an answer: the plugin claims float16");
    assert_eq!(failure.found, "Unsupported: not here");
    assert!(profiles[0].claimed && profiles[0].n_passed == 1 && stale.is_empty());
    // What needs no profile must not be either.
    let (cases, ..) = judged("", &[("a", &[], unsupported())]);
    assert_eq!(cases[0].status, Status::Failed);
}

#[test]
fn suite_s6_all_cases_of_one_missing_claim_are_refused_alike() {
    let (cases, profiles, stale) = judged("", &[("a", F16, unsupported()), ("b", F16, unsupported())]);
    assert!(cases.iter().all(|case| case.status == Status::Unsupported));
    assert_eq!((profiles[0].n_unsupported, profiles[0].problem.as_str(), stale.len()), (2, "", 0));
    let (_, profiles, _) = judged("", &[("a", F16, None), ("b", F16, unsupported())]);
    let problem = &profiles[0].problem;
    assert!(problem.contains("op/a@npu") && problem.contains("op/b@npu"), "{problem}");
    let (_, profiles, stale) = judged("", &[("a", F16, None), ("b", F16, None)]);
    assert_eq!((profiles[0].problem.as_str(), stale[0].what.as_str()), ("", "float16"));
    // A wrong answer is one whatever is claimed.
    let (cases, ..) = judged("", &[("a", F16, Some(Stop::failed("1", "2")))]);
    assert_eq!(cases[0].status, Status::Failed);
}

#[test]
fn suite_s6_a_case_of_several_profiles_counts_for_those_that_are_not_claimed() {
    let claims = "claims = [\"float16\"]";
    let cases = [("a", F16, None), ("b", BOTH, unsupported())];
    let (cases, profiles, stale) = judged(claims, &cases);
    assert_eq!(cases[1].status, Status::Unsupported);
    let n_cases: Vec<_> = profiles.iter().map(|profile| (profile.profile, profile.n_cases)).collect();
    assert_eq!(n_cases, [(Profile::Float16, 1), (Profile::Float64, 1)]);
    assert!(profiles.iter().all(|profile| profile.problem.is_empty()) && stale.is_empty());
}

/// Computed by the host alone, and how that ended.
fn on_host(stop: Option<Stop>) -> Ended {
    Ended { stop, not_run: None, untested: Profile::ALL.to_vec() }
}

#[test]
fn suite_s6_cases_that_never_reached_a_device_count_for_no_profile() {
    let refused = || Ended::from(Stop::Unsupported("not here".to_owned()));
    let cases = [("a", F16, on_host(None)), ("b", F16, refused())];
    let (cases, profiles, stale) = judged_of("", &cases);
    assert_eq!((cases[0].status, cases[0].profiles.len()), (Status::Passed, 0));
    assert_eq!((profiles[0].n_cases, profiles[0].problem.as_str(), stale.len()), (1, "", 0));
    // One that is built only is no other.
    let built = Ended { not_run: Some("no device".to_owned()), ..on_host(None) };
    let (cases, profiles, _) = judged_of("", &[("a", F16, built), ("b", F16, refused())]);
    assert_eq!((cases[0].status, profiles[0].problem.as_str()), (Status::Built, ""));
    // Of several profiles one may have come to it.
    let part = Ended { untested: vec![Profile::Float64], ..Ended::default() };
    let (cases, profiles, stale) =
        judged_of("claims = [\"float16\"]", &[("a", BOTH, part), ("b", BOTH, refused())]);
    assert_eq!(cases[0].profiles, F16);
    let n_cases: Vec<_> = profiles.iter().map(|profile| (profile.profile, profile.n_cases)).collect();
    assert_eq!(n_cases, [(Profile::Float16, 1), (Profile::Float64, 1)]);
    assert!(profiles.iter().all(|profile| profile.problem.is_empty()) && stale.is_empty());
    // What the device is refused or computes wrongly counts.
    let wrong = [on_host(Some(Stop::failed("1", "2"))), on_host(unsupported())];
    for ended in wrong {
        let (cases, ..) = judged_of("claims = [\"float16\"]", &[("a", F16, ended)]);
        assert_eq!((cases[0].status, cases[0].profiles.as_slice()), (Status::Failed, F16));
    }
}

/// Several streams, shown by two cases of a target kind whose device is its own or another
/// plugin's.
#[test]
fn suite_s6_a_profile_of_devices_is_claimed_by_the_plugin_of_the_device() {
    let options = options("");
    let mut list = Cases::default();
    for (name, profile) in [("a", Profile::SeveralStreams), ("b", Profile::Float16)] {
        list.case(Group::Op, name, "K.6", Subject::TargetKind).profile(profile).run(|_| Ok(()));
    }
    let list = list.into_vec();
    let mut without = facts("");
    without.registered.retain(|one| one.subject != Subject::DeviceApi);
    without.devices.clear();
    for (facts, expected) in [(facts(""), vec!["float16", "several-streams"]), (without, vec!["float16"])] {
        let judge = Judge::new(&options, &facts);
        let plan = instances(&list, &facts);
        let cases: Vec<_> = plan.iter().map(|instance| judge.report(instance, &raw(None))).collect();
        let (profiles, stale) = conclude::profiles(&judge, &plan, &cases);
        let claims: Vec<_> = stale.iter().map(|stale| stale.what.as_str()).collect();
        assert_eq!(claims, expected);
        // The table says the same.
        let report = Report { profiles, stale, ..report(cases) };
        let words = |profile: &ProfileReport| profile_words(profile, &report).1;
        let advised = report.profiles.iter().filter(|profile| words(profile).contains("claim it"));
        assert_eq!(advised.map(|profile| profile.profile.name()).collect::<Vec<_>>(), expected);
        assert_eq!(report.profiles.len(), 2, "both are counted");
    }
}

#[test]
fn suite_s6_claims_go_by_the_cases_that_say_something() {
    // Of two that are left, one passes: all of the profile does.
    let cases = [("a", F16, on_host(None)), ("b", F16, Ended::default())];
    let (_, profiles, stale) = judged_of("", &cases);
    assert_eq!((profiles[0].n_cases, stale.len(), stale[0].what.as_str()), (1, 1, "float16"));
    // Where none is left, nothing shows a claim, and nothing asks for one.
    let cases = [("a", F16, on_host(None)), ("b", F16, on_host(None))];
    let (_, profiles, stale) = judged_of("", &cases);
    assert!(profiles.is_empty() && stale.is_empty(), "{profiles:?} {stale:?}");
    let (_, profiles, stale) = judged_of("claims = [\"float16\"]", &cases);
    assert!(profiles.is_empty());
    assert!(stale[0].what == "float16" && stale[0].why.contains("any of the 2 cases"), "{stale:?}");
}

#[test]
fn suite_s7_an_expected_refusal_of_a_claimed_profile_is_neither_failure_nor_mixed() {
    let line =
        "[[case]]\nmatch = \"op/b*\"\nstatus = \"unsupported\"\nreason = \"no unit\"\nissue = \"#2\"\n";
    let claimed = format!("claims = [\"float16\"]\n{line}");
    for expectations in [claimed.as_str(), line] {
        let (cases, profiles, stale) = judged(expectations, &[("a", F16, None), ("b", F16, unsupported())]);
        assert_eq!((cases[1].status, cases[1].reason.as_str()), (Status::Unsupported, "no unit (#2)"));
        assert_eq!((profiles[0].problem.as_str(), stale.len()), ("", 0));
    }
    let (cases, _, stale) = judged(&claimed, &[("a", F16, None), ("b", F16, None)]);
    assert_eq!((cases[1].status, stale.len()), (Status::Stale, 1));
}

#[test]
fn suite_s7_an_expectation_counts_for_its_device_and_its_days() {
    let line = "[[case]]\nmatch = \"op/*\"\nstatus = \"fail\"\nreason = \"known\"\nuntil = \"2999-01-01\"\n";
    let failed = || [("a", &[] as &[Profile], Some(Stop::failed("1", "2")))];
    let status = |expectations: &str| judged(expectations, &failed()).0[0].status;
    assert_eq!(status(line), Status::Expected);
    assert_eq!(status(&format!("{line}device = \"Model A*\"")), Status::Expected);
    assert_eq!(status(&format!("{line}device = \"Model B*\"")), Status::Failed);
    assert_eq!(status(&format!("{line}driver = \"3.*\"")), Status::Failed);
    let today = machine::day(machine::now_unix());
    assert_eq!(status(&line.replace("2999-01-01", &today)), Status::Expected, "the last day counts");
    assert_eq!(status(&line.replace("2999-01-01", "2020-01-01")), Status::Failed);
}

#[test]
fn suite_s7_a_line_behind_another_that_takes_all_is_stale() {
    let line = "[[case]]\nmatch = \"op/*\"\nstatus = \"fail\"\nreason = \"known\"\nissue = \"#1\"\n";
    let twice = format!("{line}{}", line.replace("op/*", "op/a*"));
    let (_, _, stale) = judged(&twice, &[("a", &[], Some(Stop::failed("1", "2")))]);
    assert_eq!((stale.len(), stale[0].what.as_str()), (1, "op/a*"));
    assert!(stale[0].why.contains("a line before it"), "{}", stale[0].why);
}

#[test]
fn suite_s8_a_case_is_absent_if_the_probe_says_so() {
    let options = options("");
    let instance = &plan(Group::Copy, &[("a", &[])])[0];
    let absent = raw(Some(Stop::Absent("no such file".to_owned())));
    for (found, status) in [("no driver", Status::Absent), ("", Status::Failed)] {
        let facts = facts(found);
        assert_eq!(Judge::new(&options, &facts).report(instance, &absent).status, status);
    }
}

#[test]
fn suite_s18_a_case_without_its_axes_is_no_failure() {
    let instance = &plan(Group::Copy, &[("a", &[Profile::GpuThreads])])[0];
    let none = raw(Some(Stop::NoAxis("no axis threadIdx.x".to_owned())));
    for (claims, status) in [("claims = [\"gpu-threads\"]", Status::Absent), ("", Status::Unsupported)] {
        let (options, facts) = (options(claims), facts(""));
        let case = Judge::new(&options, &facts).report(instance, &none);
        assert_eq!((case.status, case.reason.as_str()), (status, "no axis threadIdx.x"));
    }
    // A claim of which nothing ran.
    let none = || Some(Stop::NoAxis("the target kind declares no axis threadIdx.x".to_owned()));
    let claims = "claims = [\"gpu-threads\"]";
    let (_, _, stale) = judged(claims, &[("a", &[Profile::GpuThreads], none())]);
    assert!(stale.len() == 1 && stale[0].why.contains("axes"), "{stale:?}");
    let (_, _, stale) =
        judged(claims, &[("a", &[Profile::GpuThreads], none()), ("b", &[Profile::GpuThreads], None)]);
    assert!(stale.is_empty(), "{stale:?}");
}

#[test]
fn suite_s15_the_command_that_repeats_is_quoted_for_a_shell() {
    let (options, facts) = (options(""), facts(""));
    let repeat = Judge::new(&options, &facts).repeat(&["op/a@npu"]);
    let expected = "chipdock conformance './lib npu.so' --plugin 'it'\\''s.so' --filter 'op/a@npu'";
    assert_eq!(repeat, expected);
}

fn ended(group: Group, name: &str, status: Status) -> CaseReport {
    let (options, facts) = (options(""), facts(""));
    let judge = Judge::new(&options, &facts);
    let mut case = judge.report(&plan(group, &[(name, &[])])[0], &raw(None));
    case.status = status;
    case
}

/// A plugin that registers something of each sort.
fn with_all() -> Facts {
    let one = |subject| Registration { subject, name: "x".to_owned() };
    let registered = [Subject::DeviceApi, Subject::Codegen].map(one).to_vec();
    Facts { registered, ..Facts::default() }
}

/// The levels that have a state.
fn levels_in(wanted: LevelState, cases: &[CaseReport], n_omitted: usize, facts: &Facts) -> Vec<Level> {
    let levels = conclude::levels(Level::Full, cases, &[], n_omitted, facts);
    levels.into_iter().filter(|level| level.state == wanted).map(|level| level.level).collect()
}

#[test]
fn suite_s13_a_level_about_nothing_is_not_reached() {
    let cases = [Group::Load, Group::Stream, Group::Target].map(|group| ended(group, "a", Status::Passed));
    let reached = |subject| {
        let mut facts = with_all();
        facts.registered.retain(|registered| registered.subject == subject);
        levels_in(LevelState::Reached, &cases, 0, &facts)
    };
    assert_eq!(reached(Subject::Codegen), [Level::Loadable, Level::Codegen, Level::Full]);
    assert_eq!(reached(Subject::DeviceApi), [Level::Loadable, Level::Device, Level::Full]);
}

#[test]
fn suite_s13_a_level_is_reached_when_all_is_well_and_every_group_ran() {
    let of = |state, cases: &[CaseReport], n_omitted| levels_in(state, cases, n_omitted, &with_all());
    let reached = |cases: &[CaseReport], n_omitted| of(LevelState::Reached, cases, n_omitted);
    let (load, copy, op) = (
        ended(Group::Load, "a", Status::Passed),
        ended(Group::Copy, "b", Status::Passed),
        ended(Group::Op, "c", Status::Passed),
    );
    let with = |case: &CaseReport, status| CaseReport { status, ..case.clone() };
    let all = [load.clone(), copy.clone(), op.clone()];
    assert_eq!(reached(&all, 0), Level::ALL);
    assert_eq!(reached(&all, 1), [], "who left cases out has not shown them");
    let codegen_alone = [load.clone(), op.clone()];
    assert_eq!(reached(&codegen_alone, 0), [Level::Loadable, Level::Codegen, Level::Full]);
    let device_fails = [load.clone(), with(&copy, Status::Failed), op.clone()];
    assert_eq!(reached(&device_fails, 0), [Level::Loadable, Level::Codegen]);
    assert_eq!(of(LevelState::NotReached, &device_fails, 0), [Level::Device, Level::Full]);
    let not_loadable = [with(&load, Status::Crashed), copy.clone(), op.clone()];
    assert_eq!(of(LevelState::NotReached, &not_loadable, 0), Level::ALL);
    let expected = [load.clone(), copy.clone(), with(&op, Status::Expected)];
    assert_eq!(reached(&expected, 0), [Level::Loadable, Level::Device], "nothing of it passed");
    // One group that ran says nothing of another that did not.
    let misuse = ended(Group::Misuse, "d", Status::Passed);
    let no_device = [load.clone(), with(&copy, Status::Absent), misuse, op.clone()];
    assert_eq!(reached(&no_device, 0), [Level::Loadable, Level::Codegen]);
    assert_eq!(of(LevelState::NotRun, &no_device, 0), [Level::Device, Level::Full]);
    let target = ended(Group::Target, "e", Status::Passed);
    let built = [load, copy, target, with(&op, Status::Built)];
    assert_eq!(reached(&built, 0), [Level::Loadable, Level::Device]);
    assert_eq!(of(LevelState::BuiltOnly, &built, 0), [Level::Codegen, Level::Full]);
    let one_ran = [built.as_slice(), &[op]].concat();
    assert_eq!(reached(&one_ran, 0), Level::ALL);
    let notes = |cases: &[CaseReport]| {
        let levels = conclude::levels(Level::Full, cases, &[], 0, &with_all());
        levels.last().unwrap().note.clone()
    };
    assert_eq!(notes(&built), "the code of op was built, and none of it run: 1 built only");
    assert_eq!(notes(&no_device), "nothing of copy ran: 1 absent");
    assert_eq!(notes(&one_ran), "1 built only");
}

#[test]
fn suite_s13_a_profile_that_is_answered_in_two_ways_holds_its_level_back() {
    let mut case = ended(Group::Op, "a", Status::Passed);
    case.profiles = F16.to_vec();
    let profile = ProfileReport {
        profile: Profile::Float16,
        claimed: false,
        n_cases: 2,
        n_passed: 1,
        n_unsupported: 1,
        problem: "two ways".to_owned(),
    };
    let levels = conclude::levels(Level::Codegen, &[case], &[profile], 0, &with_all());
    assert_eq!(levels.last().unwrap().state, LevelState::NotReached);
}

fn report(cases: Vec<CaseReport>) -> Report {
    Report {
        schema: String::new(),
        suite_version: SUITE_VERSION.to_owned(),
        library: String::new(),
        sha256: String::new(),
        plugin: Facts::default(),
        refused: String::new(),
        machine: machine::here(),
        level: Level::Full,
        filters: Vec::new(),
        settings: Vec::new(),
        claims: Vec::new(),
        seed: 0,
        programs: 0,
        started_unix: 0,
        seconds: 0.0,
        cases,
        profiles: Vec::new(),
        levels: Vec::new(),
        stale: Vec::new(),
        notes: Vec::new(),
        faults: Vec::new(),
        exit: 0,
    }
}

#[test]
fn suite_s14_the_exit_code_is_the_first_of_those_that_hold() {
    use Status::{
        Absent, Built, Crashed, Expected, Failed, Flaky, Hung, OrderDependent, Passed, Stale, SuiteFault,
        Unsupported,
    };
    let table: &[(&[Status], u8)] = &[
        (&[], 0),
        (&[Passed, Built, Unsupported, Expected], 0),
        (&[Passed, Absent], 0),
        (&[Absent, Absent], 4),
        (&[Absent, Stale], 6),
        (&[Passed, Stale], 6),
        (&[Stale, Failed], 1),
        (&[Flaky], 1),
        (&[OrderDependent, Stale], 1),
        (&[Failed, Crashed], 5),
        (&[Hung, Stale], 5),
        (&[SuiteFault, Crashed, Failed, Stale], 7),
    ];
    for (statuses, expected) in table {
        let cases = statuses.iter().map(|status| ended(Group::Copy, "a", *status)).collect();
        assert_eq!(conclude::exit(&report(cases)), *expected, "{statuses:?}");
    }
    let loadable = || ended(Group::Load, "a", Passed);
    let absent = || ended(Group::Copy, "a", Absent);
    assert_eq!(conclude::exit(&report(vec![loadable()])), 0, "nothing beyond Loadable was asked for");
    assert_eq!(conclude::exit(&report(vec![loadable(), absent()])), 4);
    let mut died = ended(Group::Copy, "a", Flaky);
    died.death = Some(Death::default());
    assert_eq!(conclude::exit(&report(vec![died])), 5, "flaky, but it crashed");
    let mut refused = report(vec![ended(Group::Load, "a", Crashed)]);
    refused.refused = "P1.3".to_owned();
    assert_eq!(conclude::exit(&refused), 3);
    refused.faults.push("no worker".to_owned());
    assert_eq!(conclude::exit(&refused), 7);
    let mut mixed = report(vec![loadable()]);
    let problem = "two ways".to_owned();
    let profile = Profile::Float16;
    mixed.profiles =
        vec![ProfileReport { profile, claimed: false, n_cases: 2, n_passed: 1, n_unsupported: 1, problem }];
    assert_eq!(conclude::exit(&mixed), 1);
    let mut stale = report(vec![loadable()]);
    stale.stale.push(StaleReport { what: "float16".to_owned(), why: "claim it".to_owned() });
    assert_eq!(conclude::exit(&stale), 6);
}
