//! Runs the set `speed`: each row is printed as soon as it is measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::report::Entry;
use super::rows::{ROWS, Row};
use super::session::Session;
use super::{measure, show};
use crate::Result;
use crate::peers::options::PeersOptions;

/// Returns the folder of the kernels.
#[must_use]
pub fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// Measures the selected rows; returns the number of contenders that failed.
///
/// # Errors
///
/// A target cannot be used here, or nothing is selected.
pub fn bench(options: &PeersOptions) -> Result<usize> {
    let rows: Vec<&Row> = ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!(
            "no row's name holds any of {:?}; there are {}",
            options.filters,
            names.join(", ")
        ));
    }
    let mut session = Session::open(options)?;
    let progress = ProgressBar::new(rows.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}") {
        progress.set_style(style);
    }
    progress.enable_steady_tick(Duration::from_millis(500));
    let mut entries: Vec<Entry> = Vec::new();
    for row in rows {
        progress.set_message(row.title);
        let measured = measure::measure(&mut session, row, &kernels(), options.rounds);
        let measured = measured.unwrap_or_else(|why| {
            options.threads.iter().map(|threads| measure::broken(row, *threads, why.clone())).collect()
        });
        for entry in &measured {
            // Not `ProgressBar::println`, which prints nothing where there is no terminal.
            progress.suspend(|| eprintln!("{}", show::line(entry)));
        }
        entries.extend(measured);
        progress.inc(1);
    }
    progress.finish_and_clear();
    println!("{}", show::table(&entries));
    Ok(entries.iter().map(|entry| entry.failed.len()).sum())
}
