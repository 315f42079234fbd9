//! The files that a run leaves: looked at before it begins, written together when it is over (C5).

use std::path::{Path, PathBuf};

use chipdock_conformance::Report;
use chipdock_conformance::card::Card;
use chipdock_conformance::report::{html, junit};

use crate::args::ConformanceArgs;
use crate::output;
use crate::report::{Exit, Failure, Result};

/// How a report is written.
type Form = fn(&Report) -> std::result::Result<String, String>;

/// Where what goes.
pub(super) struct Places {
    files: Vec<(PathBuf, Form)>,
}

impl Places {
    /// Those that were asked for.
    ///
    /// # Errors
    ///
    /// One that could not be written, before a long run is made for it; two that are the same.
    pub(super) fn of(args: &ConformanceArgs) -> Result<Self> {
        let wanted: [(&Option<PathBuf>, Form); 4] = [
            (&args.report_json, |report| json(report)),
            (&args.junit, junit::render),
            (&args.html, |report| Ok(html::render(report))),
            (&args.card, |report| Ok(Card::of(report).text())),
        ];
        let files: Vec<(PathBuf, Form)> =
            wanted.into_iter().filter_map(|(path, form)| Some((path.clone()?, form))).collect();
        for (index, (path, _)) in files.iter().enumerate() {
            output::check_writable(path)?;
            let is_stream = !path.is_file() && path.exists();
            if !is_stream && files[..index].iter().any(|(other, _)| other == path) {
                return Err(Failure::input("two reports go into one file").in_file(path));
            }
        }
        if !args.repro_folder.is_dir() {
            return Err(Failure::input("--repro-folder: no such folder").in_file(&args.repro_folder));
        }
        Ok(Self { files })
    }

    /// Writes them all, or none.
    ///
    /// # Errors
    ///
    /// The first that could not be written.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        let mut pending = Vec::new();
        for (path, form) in &self.files {
            let text = form(report).map_err(|what| Failure::new(Exit::Suite, what).in_file(path))?;
            pending.push(output::prepare(path, |out| out.write_all(text.as_bytes()))?);
        }
        output::commit(pending)
    }

    /// Says where they are, on standard error: they are no result of their own.
    pub(super) fn tell(&self) {
        let files: Vec<&Path> = self.files.iter().map(|(path, _)| path.as_path()).collect();
        if crate::report::is_watched() {
            for file in files {
                eprintln!("written: {}", file.display());
            }
        }
    }
}

fn json(model: &impl serde::Serialize) -> std::result::Result<String, String> {
    serde_json::to_string_pretty(model).map(|text| text + "\n").map_err(|error| error.to_string())
}
