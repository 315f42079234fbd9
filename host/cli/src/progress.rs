//! Progress display for a person who waits: on a terminal only, on standard error.

use std::time::Duration;

use chipdock_host::OnStep;
use chipdock_host::shown::{LINE_CHARS_MAX, shown};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::GlobalArgs;
use crate::report;
use crate::streams::say;

/// A spinner with a word on the current step. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    verbose: bool,
}

impl Progress {
    /// Makes a display that shows nothing before the work has taken a moment.
    pub(crate) fn new(global: &GlobalArgs) -> Self {
        let bar = report::is_watched().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            tick(&bar);
            bar
        });
        Self { bar, verbose: global.verbose }
    }

    /// Shows the current step.
    pub(crate) fn step(&self, what: impl Into<String>) {
        show(self.bar.as_ref(), self.verbose, &what.into());
    }

    /// Shows the steps that code generators name.
    pub(crate) fn on_step(&self) -> OnStep {
        let (bar, verbose) = (self.bar.clone(), self.verbose);
        OnStep::new(move |step| show(bar.as_ref(), verbose, &format!("{}: {}", step.target, step.text)))
    }

    /// Shows a message under `--verbose`.
    pub(crate) fn note(&self, what: &str) {
        if self.verbose {
            self.line("note", what);
        }
    }

    /// Shows a warning.
    pub(crate) fn warn(&self, what: &str) {
        self.line("warning", what);
    }

    fn line(&self, label: &str, what: &str) {
        let text = report::labelled(label, what);
        match &self.bar {
            Some(bar) => bar.println(text.trim_end()),
            None => say(&text),
        }
    }
}

fn show(bar: Option<&ProgressBar>, verbose: bool, what: &str) {
    let what = shown(what, LINE_CHARS_MAX).into_owned();
    match bar {
        Some(bar) => {
            if verbose {
                bar.println(&what);
            }
            bar.set_message(what);
        }
        None if verbose => say(&format!("{what}\n")),
        None => {}
    }
}

/// Keeps a bar moving. Where no thread can be started, it moves with each event.
pub(crate) fn tick(bar: &ProgressBar) {
    // The bar starts its thread without asking whether it can.
    if std::thread::Builder::new().spawn(|| {}).is_ok_and(|thread| thread.join().is_ok()) {
        bar.enable_steady_tick(Duration::from_millis(120));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
