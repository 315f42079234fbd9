//! Judges a verdict for this plugin by its claims, expectations and available devices (SUITE-S6,
//! SUITE-S7, SUITE-S8).

use super::pool::{Outcome, Raw};
use super::{Ended, Options, machine};
use crate::expectations::{Expectation, Outcome as Expected};
use crate::report::CaseReport;
use crate::{Facts, Failure, Group, Instance, Profile, Status, Stop, Subject};

/// Maximum length of a reason in bytes (SUITE-S12).
const REASON_BYTES: usize = 2 << 10;

/// Options and facts that verdicts are judged by.
pub(super) struct Judge<'a> {
    pub(super) options: &'a Options,
    pub(super) facts: &'a Facts,
    /// Current day, as `YYYY-MM-DD`.
    pub(super) today: String,
}

/// Returns true if the status calls for a second run.
pub(super) fn is_failing(status: Status) -> bool {
    matches!(status, Status::Failed | Status::Crashed | Status::Hung)
}

impl<'a> Judge<'a> {
    pub(super) fn new(options: &'a Options, facts: &'a Facts) -> Self {
        Self { options, facts, today: machine::day(machine::now_unix()) }
    }

    /// Builds the report of an instance.
    pub(super) fn report(&self, instance: &Instance, raw: &Raw) -> CaseReport {
        let mut case = blank(instance);
        case.seconds = raw.seconds;
        let answered_unsupported =
            matches!(&raw.outcome, Outcome::Ended(Ended { stop: Some(Stop::Unsupported(_)), .. }));
        self.status(instance, &raw.outcome, &mut case);
        self.expect(&mut case, answered_unsupported);
        cut(&mut case.reason, REASON_BYTES);
        if !case.status.is_fine() {
            case.repeat = self.repeat(&[&case.id]);
            case.repro = raw.repro.clone();
        }
        case
    }

    /// Builds the report of a plugin that failed its health check after an instance.
    pub(super) fn unwell(&self, instance: &Instance, outcome: &Outcome) -> CaseReport {
        let mut case = blank(instance);
        self.status(instance, outcome, &mut case);
        case.id = format!("load/health-after/{}", instance.id);
        case.group = Group::Load;
        case.profiles.clear();
        case.reason = format!("the process of {} had ended", instance.id);
        case.repeat = self.repeat(&[&instance.id]);
        case
    }

    fn status(&self, instance: &Instance, outcome: &Outcome, case: &mut CaseReport) {
        match outcome {
            Outcome::Died(death) => (case.status, case.death) = (Status::Crashed, Some(death.clone())),
            Outcome::Hung(death) => (case.status, case.death) = (Status::Hung, Some(death.clone())),
            Outcome::Ended(Ended { stop: Some(stop), .. }) => self.stopped(instance, stop, case),
            Outcome::Ended(Ended { stop: None, not_run, untested }) => {
                if let Some(why) = not_run {
                    (case.status, case.reason) = (Status::Built, why.clone());
                }
                case.profiles.retain(|profile| !untested.contains(profile));
            }
        }
    }

    fn stopped(&self, instance: &Instance, stop: &Stop, case: &mut CaseReport) {
        let failure = match stop {
            Stop::Suite(why) => {
                (case.status, case.reason) = (Status::SuiteFault, why.clone());
                return;
            }
            Stop::Unsupported(why) | Stop::NoAxis(why)
                if self.unclaimed(&instance.case.profiles).next().is_some() =>
            {
                (case.status, case.reason) = (Status::Unsupported, why.clone());
                return;
            }
            Stop::NoAxis(why) => {
                (case.status, case.reason) = (Status::Absent, why.clone());
                return;
            }
            Stop::Absent(why) if self.is_absent(instance) => {
                (case.status, case.reason) = (Status::Absent, why.clone());
                return;
            }
            Stop::Failed(failure) => failure.clone(),
            Stop::Unsupported(why) => {
                let names: Vec<&str> = instance.case.profiles.iter().map(|profile| profile.name()).collect();
                let expected = match names.is_empty() {
                    true => "an answer: it needs no profile".to_owned(),
                    false => format!("an answer: the plugin claims {}", names.join(", ")),
                };
                Failure { expected, found: format!("Unsupported: {why}"), ..Failure::default() }
            }
            Stop::Absent(why) => Failure {
                expected: "a device, which was there when the run began".to_owned(),
                found: format!("Unavailable: {why}"),
                ..Failure::default()
            },
        };
        (case.status, case.failure) = (Status::Failed, Some(failure));
    }

    /// Returns those of the profiles that the plugin does not claim.
    pub(super) fn unclaimed(&self, profiles: &'a [Profile]) -> impl Iterator<Item = Profile> + use<'a> {
        let claims = &self.options.expectations.claims;
        profiles.iter().copied().filter(move |profile| !claims.contains(profile))
    }

    /// Returns true if the probe found that the subject of the instance is absent here (SUITE-S8).
    fn is_absent(&self, instance: &Instance) -> bool {
        let (facts, name) = (self.facts, instance.registration.as_str());
        match instance.case.subject {
            Subject::DeviceApi => {
                let is_short = facts.device_count(name) < 2;
                facts.absent_device(name).is_some()
                    || is_short && instance.case.profiles.contains(&Profile::SeveralDevices)
            }
            Subject::TargetKind | Subject::Codegen => facts.unusable_kind(name).is_some(),
            // Instances of these subjects may use any device.
            Subject::Plugin | Subject::Manifest | Subject::Loader | Subject::Function => {
                !facts.unusable_kinds.is_empty()
                    || facts.devices.iter().any(|device| !device.absent.is_empty())
            }
        }
    }

    /// Returns the expectation about an instance that applies here today.
    pub(super) fn expectation(&self, id: &str) -> Option<&'a Expectation> {
        self.options.expectations.about(id, self.facts, &self.today)
    }

    fn expect(&self, case: &mut CaseReport, answered_unsupported: bool) {
        let Some(expectation) = self.expectation(&case.id) else {
            self.expired(case);
            return;
        };
        let met = match expectation.status {
            Expected::Unsupported => answered_unsupported,
            Expected::Fail => case.status == Status::Failed,
            Expected::Crash => case.status == Status::Crashed,
            Expected::Hang => case.status == Status::Hung,
        };
        let followed_up = [expectation.issue.as_str(), expectation.until.as_str()].join(" ");
        let reason = format!("{} ({})", expectation.reason, followed_up.trim());
        match case.status {
            _ if met && answered_unsupported => {
                (case.status, case.reason, case.failure) = (Status::Unsupported, reason, None);
            }
            _ if met => (case.status, case.reason) = (Status::Expected, reason),
            Status::Passed | Status::Unsupported => {
                let how = if case.status == Status::Passed { "passes" } else { "is unsupported" };
                case.reason = format!("it {how}; \"{}\" expects otherwise: {reason}", expectation.pattern);
                case.status = Status::Stale;
            }
            _ if is_failing(case.status) => {
                case.reason = format!("\"{}\" expects another end: {reason}", expectation.pattern);
            }
            _ => {}
        }
    }

    /// Adds to a failure that an expectation for it has expired (SUITE-S7).
    fn expired(&self, case: &mut CaseReport) {
        if !is_failing(case.status) {
            return;
        }
        let mut known = self.options.expectations.cases.iter();
        let passed =
            |one: &&Expectation| one.matches(&case.id) && !one.until.is_empty() && one.until < self.today;
        if let Some(expectation) = known.find(passed) {
            case.reason = format!("it was expected until {}: {}", expectation.until, expectation.reason);
        }
    }

    /// Returns the shell command that repeats cases (SUITE-S15).
    pub(super) fn repeat(&self, ids: &[&str]) -> String {
        let library = self.options.library.display().to_string();
        let mut words = vec!["chipdock".to_owned(), "conformance".to_owned(), quoted(&library)];
        words.extend(self.options.repeat.iter().map(|word| quoted(word)));
        words.extend(ids.iter().flat_map(|id| ["--filter".to_owned(), format!("'{id}'")]));
        words.join(" ")
    }
}

/// Truncates a text to a number of bytes.
pub(super) fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn blank(instance: &Instance) -> CaseReport {
    CaseReport {
        id: instance.id.clone(),
        group: instance.case.group,
        clause: instance.case.clause.to_owned(),
        profiles: instance.case.profiles.clone(),
        status: Status::Passed,
        seconds: 0.0,
        reason: String::new(),
        failure: None,
        death: None,
        repro: String::new(),
        repeat: String::new(),
    }
}
