//! Signs of life for a person who waits: on a terminal only, on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::args::GlobalArgs;
use crate::report;

/// A spinner with a word on what is being done. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    verbose: bool,
}

impl Progress {
    /// Nothing shows before the work has taken a moment.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        let bar = report::is_watched().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, verbose: global.verbose }
    }

    /// Says what is being done now.
    pub(crate) fn step(&self, what: impl Into<String>) {
        let what = what.into();
        match &self.bar {
            Some(bar) => {
                if self.verbose {
                    bar.println(&what);
                }
                bar.set_message(what);
            }
            None if self.verbose => eprintln!("{what}"),
            None => {}
        }
    }

    /// Says what only those want to know who asked for more.
    pub(crate) fn note(&self, what: &str) {
        match &self.bar {
            _ if !self.verbose => {}
            Some(bar) => bar.println(format!("note: {what}")),
            None => eprintln!("note: {what}"),
        }
    }

    /// Says what a person should know although the work goes on.
    pub(crate) fn warn(&self, what: &str) {
        let line = format!("warning: {what}");
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
