//! Progress of a run, for a person who waits.

use chipdock_conformance::Status;
use chipdock_conformance::run::Progress;
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::GlobalArgs;
use crate::progress::tick;
use crate::report;
use crate::streams::say;

/// A bar on a terminal, on standard error; with `--verbose` a line for each case too. Gone when
/// dropped.
pub(super) struct Meter {
    bar: Option<ProgressBar>,
    verbose: bool,
    n_wrong: usize,
}

impl Meter {
    /// Makes a meter, which shows nothing before the first event.
    pub(super) fn new(global: &GlobalArgs) -> Self {
        let bar = report::is_watched().then(|| {
            let bar = ProgressBar::new_spinner();
            tick(&bar);
            bar
        });
        Self { bar, verbose: global.verbose, n_wrong: 0 }
    }

    /// Shows an event.
    pub(super) fn show(&mut self, event: &Progress<'_>) {
        match event {
            Progress::Probing => self.message("opening the plugin"),
            Progress::Planned(n) => {
                if let Some(bar) = &self.bar {
                    bar.set_length(u64::try_from(*n).unwrap_or(u64::MAX));
                    let template = "{spinner} {pos}/{len} [{bar:24}] {msg}  {elapsed}";
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style.progress_chars("=> "));
                    }
                }
            }
            Progress::Ended(case) => {
                if !case.status.is_fine() && case.status != Status::Stale {
                    self.n_wrong += 1;
                }
                if self.verbose {
                    self.line(&format!("{}  {}", case.status.name(), case.id));
                }
                let failures = match self.n_wrong {
                    0 => String::new(),
                    n => format!(", {n} failed"),
                };
                self.message(&format!("{}{failures}", case.group));
                if let Some(bar) = &self.bar {
                    bar.inc(1);
                }
            }
            Progress::Again(n) => self.message(&format!("{n} of what failed, once more alone")),
        }
    }

    fn message(&self, what: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(shown(what, LINE_CHARS_MAX).into_owned());
        }
    }

    fn line(&self, what: &str) {
        let what = shown(what, LINE_CHARS_MAX);
        match &self.bar {
            Some(bar) => bar.println(what),
            None => say(&format!("{what}\n")),
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
