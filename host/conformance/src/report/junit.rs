//! Report as JUnit XML, which continuous integration systems read: one suite for each group.
//!
//! Passed is a success; unsupported, absent, built only and expected are skipped, with the reason;
//! a crash, a hang and the suite's own fault are errors; the rest are failures. Problems of the
//! whole run rather than one case (a refusal, a claim that does not hold, the suite's fault) have a
//! suite of their own, `run`.
//!
//! Attributes are one line: a reader of XML takes the end of a line in one for a blank. A text of
//! several lines stands in the element as well, as it is.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::details::{Detail, details, headline};
use super::grid::harmless;
use super::text::seeds;
use super::verdict::{groups, level_name, seconds_of};
use super::{CaseReport, Report, Status};

/// Name of the suite for problems of the whole run.
const RUN: &str = "run";

/// Renders the report as a JUnit document.
///
/// # Errors
///
/// The part of the report that cannot be written as XML.
pub fn render(report: &Report) -> Result<String, String> {
    let mut document = quick_junit::Report::new(one_line(&format!("conformance of {}", report.library)));
    document.set_time(seconds(report.seconds));
    if let Some(begun) =
        i64::try_from(report.started_unix).ok().and_then(|s| chrono::DateTime::from_timestamp(s, 0))
    {
        document.set_timestamp(begun);
    }
    for group in groups(report) {
        let mut suite = suite(report, group.name());
        suite.set_time(seconds(seconds_of(report, Some(group))));
        suite.add_test_cases(report.cases.iter().filter(|case| case.group == group).map(test_case));
        document.add_test_suite(suite);
    }
    let whole = of_the_run(report);
    if !whole.is_empty() {
        let mut suite = suite(report, RUN);
        suite.add_test_cases(whole);
        document.add_test_suite(suite);
    }
    document.to_string().map_err(|error| format!("JUnit: {error}"))
}

/// Converts a time that may be invalid, because the report may have been edited.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn suite(report: &Report, name: &str) -> TestSuite {
    let mut suite = TestSuite::new(name);
    let plugin = &report.plugin;
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            suite.add_property((one_line(name), one_line(value)));
        }
    };
    add("suite_version", &report.suite_version);
    add("plugin", &plugin.name);
    add("plugin_version", &plugin.version);
    add("build_id", &plugin.build_id);
    add("abi", &plugin.abi);
    add("sha256", &report.sha256);
    add("level", level_name(report.level));
    add("seeds", &seeds(report));
    for device in &plugin.devices {
        add(&format!("device.{}", device.api), &device.device_name);
        add(&format!("driver.{}", device.api), &device.driver_version);
    }
    add("os", &report.machine.os);
    add("arch", &report.machine.arch);
    add("cpu", &report.machine.cpu);
    suite
}

/// Formats details as lines.
fn text(details: &[Detail]) -> String {
    details.iter().map(|(label, value)| format!("{label}: {}\n", harmless(value))).collect()
}

/// Makes a text harmless and one line.
fn one_line(text: &str) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn is_long(text: &str) -> bool {
    text.trim_end().contains('\n')
}

fn test_case(case: &CaseReport) -> TestCase {
    let status = match case.status {
        Status::Passed => TestCaseStatus::success(),
        Status::Built | Status::Unsupported | Status::Absent | Status::Expected => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(case.status.name());
            let headline = headline_of(case);
            status.set_message(one_line(&headline));
            if is_long(&headline) {
                status.set_description(harmless(&headline));
            }
            status
        }
        Status::Crashed | Status::Hung | Status::SuiteFault => wrong(case, NonSuccessKind::Error),
        Status::Failed | Status::Flaky | Status::OrderDependent | Status::Stale => {
            wrong(case, NonSuccessKind::Failure)
        }
    };
    let mut test = TestCase::new(one_line(&case.id), status);
    test.set_classname(one_line(&format!("{}.{}", case.group, case.clause)));
    test.set_time(seconds(case.seconds));
    if let Some(death) = case.death.as_ref().filter(|death| !death.stderr.is_empty()) {
        test.set_system_err(harmless(&death.stderr));
    }
    test
}

/// Returns the reason why a case was skipped: the plugin's message or the expectation.
fn headline_of(case: &CaseReport) -> String {
    if case.reason.is_empty() { headline(case) } else { case.reason.clone() }
}

fn wrong(case: &CaseReport, kind: NonSuccessKind) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(case.status.name());
    status.set_message(one_line(&headline(case)));
    status.set_description(text(&details(case)));
    status
}

fn of_the_run(report: &Report) -> Vec<TestCase> {
    let case = |name: &str, kind, ty: &str, what: &str| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(ty).set_message(one_line(what));
        if is_long(what) {
            status.set_description(harmless(what));
        }
        let mut case = TestCase::new(one_line(name), status);
        case.set_classname(RUN);
        case
    };
    let mut cases = Vec::new();
    if !report.refused.is_empty() {
        cases.push(case("open", NonSuccessKind::Error, "refused", &report.refused));
    }
    for profile in report.profiles.iter().filter(|profile| !profile.problem.is_empty()) {
        let name = format!("claim/{}", profile.profile);
        cases.push(case(&name, NonSuccessKind::Failure, "claim", &profile.problem));
    }
    for stale in &report.stale {
        let name = format!("expectation/{}", stale.what);
        cases.push(case(&name, NonSuccessKind::Failure, Status::Stale.name(), &stale.why));
    }
    for (index, fault) in report.faults.iter().enumerate() {
        cases.push(case(&format!("fault/{index}"), NonSuccessKind::Error, Status::SuiteFault.name(), fault));
    }
    cases
}
