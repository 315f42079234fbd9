//! Repeats failures: each failed case once more alone and, if it then passes, once more after its predecessors
//! (SUITE-S10).

use std::time::{Duration, Instant};

use super::judge::{Judge, is_failing};
use chipdock_supervise::spread;

use super::pool::Runner;
use crate::Status;
use crate::report::CaseReport;

/// Maximum number of failures that are run again.
const N_AGAIN: usize = 50;
/// Maximum number of hangs that are run again, because each lasts as long as its deadline.
const N_HANGS_AGAIN: usize = 4;
/// Time limit of all repeated runs together.
const AGAIN: Duration = Duration::from_secs(120);
/// Maximum number of workers that search for the predecessor to blame.
const N_NARROWED: usize = 12;

/// A failure that may be run again.
pub(super) struct Failed {
    /// Index of the instance in the plan.
    pub(super) index: usize,
    /// Indices of the instances that ran before it in the same worker.
    pub(super) before: Vec<usize>,
}

/// Result of a repeated run.
enum Second {
    /// The case fails again.
    Same,
    /// The case passes alone and after its predecessors.
    Flaky,
    /// The case fails after these predecessors.
    After(Vec<usize>),
    /// No time was left.
    Cut,
    /// A worker could not be started, with the reason.
    Fault(String),
}

/// Notes and faults from the repeated runs, for the report.
#[derive(Default)]
pub(super) struct Told {
    pub(super) notes: Vec<String>,
    pub(super) faults: Vec<String>,
}

/// Chooses the failures that are run again, and notes how many are not.
pub(super) fn choose<'r>(cases: &[Option<CaseReport>], raws: &'r [Failed]) -> (Vec<&'r Failed>, Told) {
    let status = |raw: &Failed| cases[raw.index].as_ref().map(|case| case.status);
    let failing: Vec<&Failed> = raws.iter().filter(|raw| status(raw).is_some_and(is_failing)).collect();
    let mut n_hangs = 0;
    let mut chosen = Vec::new();
    for raw in &failing {
        let hung = status(raw) == Some(Status::Hung);
        n_hangs += usize::from(hung);
        if chosen.len() < N_AGAIN && !(hung && n_hangs > N_HANGS_AGAIN) {
            chosen.push(*raw);
        }
    }
    let mut told = Told::default();
    told.cut(failing.len() - chosen.len());
    (chosen, told)
}

impl Told {
    fn cut(&mut self, n: usize) {
        if n > 0 {
            self.notes.push(format!("{n} failures were not run again: there are too many"));
        }
    }
}

/// Runs the chosen failures again and updates their reports.
pub(super) fn again(
    runner: &Runner<'_>,
    judge: &Judge<'_>,
    chosen: Vec<&Failed>,
    cases: &mut [Option<CaseReport>],
    told: &mut Told,
) {
    let (alone, shared): (Vec<&Failed>, Vec<&Failed>) =
        chosen.into_iter().partition(|raw| runner.instances[raw.index].case.group.is_exclusive());
    let until = Instant::now() + AGAIN;
    let mut n_cut = 0;
    for (raws, n_threads) in [(shared, runner.options.jobs.max(1)), (alone, 1)] {
        let mut each = |(index, second): (usize, Second)| {
            let Some(case) = cases[index].as_mut() else { return };
            match second {
                Second::Same => {}
                Second::Cut => n_cut += 1,
                Second::Fault(fault) => told.faults.push(fault),
                Second::Flaky => {
                    case.status = Status::Flaky;
                    "it failed once, and passed when it was run again".clone_into(&mut case.reason);
                }
                Second::After(before) => {
                    let ids: Vec<&str> =
                        before.iter().map(|index| runner.instances[*index].id.as_str()).collect();
                    case.status = Status::OrderDependent;
                    case.reason = match ids.as_slice() {
                        [one] => format!("it passes alone, and fails after {one}"),
                        _ => format!("it passes alone, and fails after these {}", ids.len()),
                    };
                    let all: Vec<&str> = ids.into_iter().chain([case.id.as_str()]).collect();
                    case.repeat = judge.repeat(&all);
                }
            }
        };
        spread(raws, n_threads, &mut each, &|raw, sender| {
            let second = if Instant::now() < until { second(runner, judge, raw) } else { Second::Cut };
            let _ = sender.send((raw.index, second));
        });
    }
    told.cut(n_cut);
}

fn second(runner: &Runner<'_>, judge: &Judge<'_>, raw: &Failed) -> Second {
    let fails_after = |before: &[usize]| -> Result<bool, String> {
        let indices: Vec<usize> = before.iter().copied().chain([raw.index]).collect();
        let all = runner.run_in_one(&indices)?;
        let last = all.into_iter().find(|one| one.index == raw.index);
        let instance = &runner.instances[raw.index];
        // A case that was not reached, because an earlier one ended the process, proves nothing.
        Ok(last.is_some_and(|last| is_failing(judge.report(instance, &last).status)))
    };
    let look = || {
        if fails_after(&[])? {
            return Ok(Second::Same);
        }
        if raw.before.is_empty() || !fails_after(&raw.before)? {
            return Ok(Second::Flaky);
        }
        narrow(&raw.before, &fails_after).map(Second::After)
    };
    look().unwrap_or_else(Second::Fault)
}

/// Bisects the predecessors as long as one half is enough to make the case fail.
fn narrow(
    before: &[usize],
    fails_after: &dyn Fn(&[usize]) -> Result<bool, String>,
) -> Result<Vec<usize>, String> {
    let mut before = before;
    let mut n_left = N_NARROWED;
    while before.len() > 1 && n_left > 1 {
        n_left -= 2;
        let (early, late) = before.split_at(before.len() / 2);
        before = if fails_after(late)? {
            late
        } else if fails_after(early)? {
            early
        } else {
            break;
        };
    }
    Ok(before.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUITE-S10: the one that has to come before is found among many.
    #[test]
    fn what_comes_before_is_narrowed() {
        let before: Vec<usize> = (0..40).collect();
        for culprit in [0, 17, 39] {
            let found = narrow(&before, &|tried| Ok(tried.contains(&culprit)));
            assert_eq!(found, Ok(vec![culprit]));
        }
        let both = narrow(&before, &|tried| Ok(tried.contains(&3) && tried.contains(&30)));
        assert_eq!(both, Ok(before));
    }
}
