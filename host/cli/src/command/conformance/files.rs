//! The output files of a run: checked before it begins, written together when it is over (CLI-C5).

use std::path::PathBuf;

use chipdock_conformance::Report;
use chipdock_conformance::card::Card;
use chipdock_conformance::report::{html, junit};

use crate::args::{ConformanceArgs, GlobalArgs};
use crate::command::alone_on_standard_output;
use crate::destination::{self, Destination};
use crate::report::{Exit, Failure, Result, labelled};
use crate::streams;

/// Function that formats a report.
type Formatter = fn(&Report) -> std::result::Result<String, String>;

/// Destinations of the reports.
pub(super) struct Places {
    files: Vec<(PathBuf, Destination, Formatter)>,
}

/// Written files.
pub(super) struct Written {
    files: Vec<PathBuf>,
    /// Whether one went to standard output, and so is the result.
    pub(super) took_standard_output: bool,
}

impl Places {
    /// Returns the requested destinations.
    ///
    /// # Errors
    ///
    /// A file that could not be written, before a long run is made for it; two that are the same.
    pub(super) fn from_args(args: &ConformanceArgs, global: &GlobalArgs) -> Result<Self> {
        let wanted: [(&str, &Option<PathBuf>, Formatter); 4] = [
            ("--report-json", &args.report_json, |report| json(report)),
            ("--junit", &args.junit, junit::render),
            ("--html", &args.html, |report| Ok(html::render(report))),
            ("--card", &args.card, |report| Ok(Card::from_report(report).text())),
        ];
        let wanted: Vec<(&str, &PathBuf, Formatter)> =
            wanted.into_iter().filter_map(|(name, path, form)| Some((name, path.as_ref()?, form))).collect();
        let named = wanted.iter().map(|(name, path, _)| ((*name).to_owned(), path.as_path()));
        let destinations = Destination::of_all(named)?;
        alone_on_standard_output(&destinations, global)?;
        if !args.repro_folder.is_dir() {
            return Err(Failure::input("--repro-folder: no such folder").in_file(&args.repro_folder));
        }
        let files = wanted.into_iter().zip(destinations);
        let files = files.map(|((_, path, form), destination)| (path.clone(), destination, form));
        Ok(Self { files: files.collect() })
    }

    /// Writes them all, or none.
    ///
    /// # Errors
    ///
    /// The first that could not be written.
    pub(super) fn write(self, report: &Report) -> Result<Written> {
        let took_standard_output = self.files.iter().any(|(_, file, _)| file.is_standard_output());
        let (mut pending, mut files) = (Vec::new(), Vec::new());
        for (path, destination, form) in self.files {
            let text = form(report).map_err(|what| Failure::new(Exit::Suite, what).in_file(&path))?;
            pending.push(destination.prepare(|out| out.write_all(text.as_bytes()))?);
            files.push(path);
        }
        destination::commit(pending)?;
        Ok(Written { files, took_standard_output })
    }
}

impl Written {
    /// Reports their paths on standard error: they are no result of their own.
    pub(super) fn tell(&self) {
        if crate::report::is_watched() {
            for file in &self.files {
                streams::say(&labelled("written", &file.to_string_lossy()));
            }
        }
    }
}

fn json(model: &impl serde::Serialize) -> std::result::Result<String, String> {
    serde_json::to_string_pretty(model).map(|text| text + "\n").map_err(|error| error.to_string())
}
