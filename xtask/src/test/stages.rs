//! The stages of a run, such as the lints and the tests, and how long each took.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::commands::Result;

/// The time of a stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) minutes: f64,
    /// Minutes of all processors together, of programs that have ended; none where the system does
    /// not say.
    pub(crate) processor_minutes: Option<f64>,
}

static DONE: Mutex<Vec<Stage>> = Mutex::new(Vec::new());

/// Runs a stage and keeps its time, whether it succeeds or not. Stages do not contain each other.
///
/// # Errors
///
/// Those of the stage.
pub(crate) fn stage<T>(name: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    let (start, before) = (Instant::now(), processor_seconds());
    let result = run();
    let minutes = start.elapsed().as_secs_f64() / 60.0;
    let processor_minutes = before.zip(processor_seconds()).map(|(before, after)| (after - before) / 60.0);
    let stage = Stage { name: name.to_owned(), minutes, processor_minutes };
    DONE.lock().unwrap_or_else(PoisonError::into_inner).push(stage);
    result
}

/// Returns the stages that have ended, in order.
pub(crate) fn done() -> Vec<Stage> {
    DONE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The processor time of this process and of those that it waited for, in seconds, as Linux says.
fn processor_seconds() -> Option<f64> {
    seconds_of(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Reads utime, stime, cutime and cstime, the fields 14 to 17 of proc_pid_stat(5), in hundredths of
/// a second.
fn seconds_of(stat: &str) -> Option<f64> {
    // The second field, the name, may contain spaces and brackets.
    let (_, rest) = stat.rsplit_once(')')?;
    let times: Vec<f64> =
        rest.split_whitespace().skip(11).take(4).filter_map(|word| word.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum::<f64>() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_past_any_name() {
        let stat = "12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 100 200 300 400 20 0 1";
        assert_eq!(seconds_of(stat), Some(10.0));
        for text in ["", "12 (a) S 1 2", "12 a S 1 2 3 4 5 6 7 8 9 10 100 200 300 400"] {
            assert_eq!(seconds_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_stage_is_kept_whether_it_succeeds_or_not() {
        let failed: Result<()> = stage("one that fails", || Err("why".to_owned()));
        assert_eq!(failed, Err("why".to_owned()));
        assert!(done().iter().any(|stage| stage.name == "one that fails" && stage.minutes >= 0.0));
    }
}
