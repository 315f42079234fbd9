//! A check run on many programs, and the report of a failure.

use std::any::Any;
use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::{Case, Options, arbitrary, reduce_case};

/// Failure of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind of the failure: a program is reduced only while the kind stays the same.
    pub what: String,
    /// Description of the failure.
    pub details: String,
}

impl Failure {
    /// Creates a failure of a kind, with details.
    pub fn new(what: impl Into<String>, details: impl ToString) -> Self {
        Self { what: what.into(), details: details.to_string() }
    }
}

/// A check to run on many programs.
///
/// In the environment, `CHIPDOCK_PROGRAMS=N` sets the number of programs, and
/// `CHIPDOCK_PROGRAMS_SEED=S` runs only that seed.
///
/// ```
/// use chipdock_programs::{Failure, ProgramCheck};
///
/// ProgramCheck::new("runs", std::env::temp_dir()).programs(5).run(|case| {
///     case.run(&case.module).map(drop).map_err(|error| Failure::new("run", error))
/// });
/// ```
#[derive(Clone, Debug)]
pub struct ProgramCheck {
    name: String,
    directory: PathBuf,
    options: Options,
    seeds: Range<u64>,
    candidates_max: usize,
}

impl ProgramCheck {
    /// Creates a check with the name of its test, which the repeat command uses. Failing programs
    /// are written to `directory` (`env!("CARGO_TARGET_TMPDIR")` in an integration test).
    pub fn new(name: impl Into<String>, directory: impl Into<PathBuf>) -> Self {
        let (name, directory) = (name.into(), directory.into());
        Self { name, directory, options: Options::default(), seeds: 0..300, candidates_max: 4000 }
    }

    /// Sets the options of the generator.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Sets the number of programs, of the first seeds, unless the environment sets it.
    #[must_use]
    pub fn programs(self, programs: u64) -> Self {
        self.seeds(0..programs)
    }

    /// Sets the seeds of the programs, unless the environment sets a number of programs or a seed.
    #[must_use]
    pub fn seeds(self, seeds: Range<u64>) -> Self {
        Self { seeds, ..self }
    }

    /// Sets the maximum number of smaller programs tried after a failure; use fewer if a check
    /// starts a compiler.
    #[must_use]
    pub fn candidates_max(self, candidates_max: usize) -> Self {
        Self { candidates_max, ..self }
    }

    /// Runs the check on the programs. A panic of the check is a failure too.
    ///
    /// # Panics
    ///
    /// On the first failing program; the message says where it was written and how to repeat it.
    pub fn run(&self, mut check: impl FnMut(&Case) -> Result<(), Failure>) {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        let seeds = match number("CHIPDOCK_PROGRAMS_SEED") {
            Some(seed) => seed..seed + 1,
            None => number("CHIPDOCK_PROGRAMS").map_or(self.seeds.clone(), |programs| 0..programs),
        };
        for seed in seeds {
            let case = arbitrary(seed, &self.options);
            if let Err(failure) = caught(&mut check, &case) {
                panic!("{}", self.report(seed, &case, &failure, &mut check));
            }
        }
    }

    /// Reduces the case, writes it, and returns the message.
    fn report(
        &self,
        seed: u64,
        case: &Case,
        failure: &Failure,
        check: &mut dyn FnMut(&Case) -> Result<(), Failure>,
    ) -> String {
        let mut left = self.candidates_max;
        let mut last = failure.clone();
        let small = reduce_case(case, &mut |smaller| {
            if left == 0 {
                return false;
            }
            left -= 1;
            match caught(check, smaller) {
                Err(found) if found.what == failure.what => {
                    last = found;
                    true
                }
                _ => false,
            }
        });
        let repeat = format!("CHIPDOCK_PROGRAMS_SEED={seed} cargo nextest run {}", self.name);
        let mut text = format!("# Seed {seed} of {}: {}\n# Repeat: {repeat}\n", self.name, last.what);
        for line in last.details.lines().take(40) {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str(&small.text());
        let path = self.directory.join(format!("{}-{seed}.py", self.name));
        let written = fs::create_dir_all(&self.directory).and_then(|()| fs::write(&path, &text));
        let place = match written {
            Ok(()) => format!("the reduced kernel is in {}", path.display()),
            Err(error) => format!("the reduced kernel could not be written to {}: {error}", path.display()),
        };
        format!("seed {seed}: {}\n{place}\n\n{text}", failure.what)
    }
}

fn caught(check: &mut dyn FnMut(&Case) -> Result<(), Failure>, case: &Case) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| check(case)))
        .unwrap_or_else(|payload| Err(Failure::new("panic", message(payload.as_ref()))))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
