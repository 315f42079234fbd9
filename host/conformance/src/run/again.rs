//! Repeats failures: each failed case once more alone and, if it then passes, once more among the
//! others of its worker (SUITE-S10).

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
/// Maximum number of workers that search for the other case to blame.
const N_NARROWED: usize = 12;

/// A failure that may be run again.
pub(super) struct Failed {
    /// Index of the instance in the plan.
    pub(super) index: usize,
    /// Indices of all instances of its worker, in order.
    pub(super) worker: Vec<usize>,
}

/// Result of a repeated run.
enum Second {
    /// The case fails again.
    Same,
    /// The case passes alone and among the others of its worker.
    Flaky,
    /// The case fails after these others.
    After(Vec<usize>),
    /// The case fails among these others, of which some come after it: its module has their kernels
    /// too (SUITE-S17).
    Among(Vec<usize>),
    /// No time was left.
    Cut,
    /// A worker could not be started, with the reason.
    Fault(String),
}

/// Notes and faults from the repeated runs, for the report.
#[derive(Default)]
pub(super) struct Remarks {
    pub(super) notes: Vec<String>,
    pub(super) faults: Vec<String>,
}

/// Chooses the failures that are run again, and notes how many are not.
pub(super) fn choose<'r>(cases: &[Option<CaseReport>], raws: &'r [Failed]) -> (Vec<&'r Failed>, Remarks) {
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
    let mut remarks = Remarks::default();
    remarks.cut(failing.len() - chosen.len());
    (chosen, remarks)
}

impl Remarks {
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
    remarks: &mut Remarks,
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
                Second::Fault(fault) => remarks.faults.push(fault),
                Second::Flaky => {
                    case.status = Status::Flaky;
                    "it failed once, and passed when it was run again".clone_into(&mut case.reason);
                }
                Second::After(others) => depend(runner, judge, case, "after", &others),
                Second::Among(others) => depend(runner, judge, case, "together with", &others),
            }
        };
        spread(raws, n_threads, &mut each, &|raw, sender| {
            let second = if Instant::now() < until { second(runner, judge, raw) } else { Second::Cut };
            let _ = sender.send((raw.index, second));
        });
    }
    remarks.cut(n_cut);
}

/// Writes into the report of a case that it fails only with these others.
fn depend(runner: &Runner<'_>, judge: &Judge<'_>, case: &mut CaseReport, how: &str, others: &[usize]) {
    let ids: Vec<&str> = others.iter().map(|index| runner.instances[*index].id.as_str()).collect();
    case.status = Status::OrderDependent;
    case.reason = match ids.as_slice() {
        [one] => format!("it passes alone, and fails {how} {one}"),
        _ => format!("it passes alone, and fails {how} these {}", ids.len()),
    };
    let all: Vec<&str> = ids.into_iter().chain([case.id.as_str()]).collect();
    case.repeat = judge.repeat(&all);
}

fn second(runner: &Runner<'_>, judge: &Judge<'_>, raw: &Failed) -> Second {
    let fails_among = |others: &[usize]| -> Result<bool, String> {
        let mut indices: Vec<usize> = others.iter().copied().chain([raw.index]).collect();
        // A worker has its instances in the order of the plan.
        indices.sort_unstable();
        let all = runner.run_in_one(&indices)?;
        let last = all.into_iter().find(|one| one.index == raw.index);
        let instance = &runner.instances[raw.index];
        // A case that was not reached, because an earlier one ended the process, proves nothing.
        Ok(last.is_some_and(|last| is_failing(judge.report(instance, &last).status)))
    };
    let others: Vec<usize> = raw.worker.iter().copied().filter(|index| *index != raw.index).collect();
    let before: Vec<usize> = others.iter().copied().filter(|index| *index < raw.index).collect();
    let shares_module = runner.instances[raw.index].case.group.shares_modules();
    let look = || {
        if fails_among(&[])? {
            return Ok(Second::Same);
        }
        if !before.is_empty() && fails_among(&before)? {
            return narrow(&before, &fails_among).map(Second::After);
        }
        if shares_module && others.len() > before.len() && fails_among(&others)? {
            return narrow(&others, &fails_among).map(Second::Among);
        }
        Ok(Second::Flaky)
    };
    look().unwrap_or_else(Second::Fault)
}

/// Bisects other cases as long as one half is enough to make the case fail.
fn narrow(
    others: &[usize],
    fails_among: &dyn Fn(&[usize]) -> Result<bool, String>,
) -> Result<Vec<usize>, String> {
    let mut others = others;
    let mut n_left = N_NARROWED;
    while others.len() > 1 && n_left > 1 {
        n_left -= 2;
        let (early, late) = others.split_at(others.len() / 2);
        others = if fails_among(late)? {
            late
        } else if fails_among(early)? {
            early
        } else {
            break;
        };
    }
    Ok(others.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUITE-S10: the one to blame is found among many.
    #[test]
    fn the_others_are_narrowed() {
        let before: Vec<usize> = (0..40).collect();
        for culprit in [0, 17, 39] {
            let found = narrow(&before, &|tried| Ok(tried.contains(&culprit)));
            assert_eq!(found, Ok(vec![culprit]));
        }
        let both = narrow(&before, &|tried| Ok(tried.contains(&3) && tried.contains(&30)));
        assert_eq!(both, Ok(before));
    }
}
