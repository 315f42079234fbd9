//! Who is charged with the end of a worker that built kernels of several cases in one module
//! (SUITE-S17).

use super::pool::{Bad, Outcome, Raw};

/// The end of a worker during a shared build, until its cases have run with modules of their own.
pub(super) struct EndTogether {
    /// What the case that had begun is charged with if no other case explains the end.
    charge: Raw,
    /// How that case ended when it was run again with a module of its own.
    held: Option<Raw>,
    is_explained: bool,
}

impl EndTogether {
    /// `charge` is the report of the case that had begun, and `bad` how the worker ended.
    pub(super) fn new(charge: Raw, mut bad: Bad) -> Self {
        bad.say("while the kernels of several cases were built in one module");
        Self { charge: Raw { outcome: bad.outcome(), ..charge }, held: None, is_explained: false }
    }

    /// Takes note of a case that ran with a module of its own; returns it unless it has to wait for
    /// the others.
    pub(super) fn hear(&mut self, raw: Raw) -> Option<Raw> {
        self.is_explained |= !matches!(raw.outcome, Outcome::Ended(_));
        if raw.index != self.charge.index {
            return Some(raw);
        }
        self.held = Some(raw);
        None
    }

    /// Returns the report of the case that had begun, when all others have run.
    pub(super) fn conclude(self) -> Option<Raw> {
        if self.is_explained { self.held } else { Some(self.charge) }
    }

    /// Charges the case that had begun.
    pub(super) fn charge(self) -> Raw {
        self.charge
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::{Event, given_up, tell};
    use super::*;
    use crate::Stop;
    use crate::report::Death;

    fn raw(index: usize, outcome: Outcome) -> Raw {
        Raw { index, outcome, seconds: 0.0, repro: String::new(), worker: Vec::new() }
    }

    fn death() -> Death {
        Death {
            signal: Some(11),
            exit_code: None,
            text: "killed".to_owned(),
            backtrace: Vec::new(),
            stderr: String::new(),
        }
    }

    fn passed() -> Outcome {
        let mut ended: super::super::Ended = Stop::suite("").into();
        ended.stop = None;
        Outcome::Ended(ended)
    }

    /// SUITE-S17: the kernel at which a process ends alone is charged, and not the one whose case
    /// had begun.
    #[test]
    fn the_kernel_that_ends_a_process_alone_is_charged() {
        let mut end = EndTogether::new(raw(3, passed()), Bad::Died(death()));
        assert!(end.hear(raw(3, passed())).is_none());
        assert!(end.hear(raw(4, Outcome::Died(death()))).is_some_and(|raw| raw.index == 4));
        let concluded = end.conclude().expect("case 3");
        assert!(concluded.index == 3 && matches!(concluded.outcome, Outcome::Ended(_)));
    }

    /// SUITE-S9: an end that no kernel brings about alone is not lost.
    #[test]
    fn an_end_that_no_kernel_explains_is_charged_to_the_case_that_had_begun() {
        let mut end = EndTogether::new(raw(3, passed()), Bad::Died(death()));
        assert!(end.hear(raw(3, passed())).is_none());
        assert!(end.hear(raw(4, passed())).is_some());
        let concluded = end.conclude().expect("case 3");
        let Outcome::Died(death) = concluded.outcome else { panic!("{concluded:?}") };
        assert!(death.text.contains("in one module"), "{}", death.text);
    }

    /// SUITE-S12: one report per instance, also where no worker can be started for the rest.
    #[test]
    fn every_case_is_reported_once_when_the_rest_is_given_up() {
        for n_run in 0..=2 {
            let (cases, mut reported) = ([3, 4], Vec::new());
            let mut each = |event| match event {
                Event::Ended(raw) => reported.push(raw.index),
                Event::Unwell(..) | Event::Fault(_) => panic!("no such event was expected"),
            };
            let mut together = Some(EndTogether::new(raw(3, passed()), Bad::Died(death())));
            let ran = cases[..n_run].iter().map(|index| raw(*index, passed()));
            let rest = given_up(&cases[n_run..], "no worker can be started");
            ran.chain(rest).for_each(|raw| tell(&mut together, raw, &mut each));
            together.and_then(EndTogether::conclude).into_iter().for_each(|raw| each(Event::Ended(raw)));
            reported.sort_unstable();
            assert_eq!(reported, cases, "{n_run} ran before");
        }
    }
}
