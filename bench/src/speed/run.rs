//! Runs the sets `speed` and `examples`: each row is printed as soon as it is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::report::{Entry, GOALS_OF};
use super::results::{Results, SCHEMA, fingerprint, folder, limits, not_run};
use super::rows::{ROWS, Row, examples};
use super::session::Session;
use super::{measure, page, plot, readme, show, topi};
use crate::Result;
use crate::machine;
use crate::options::{HELP, Options, Set};

/// Measures what is selected; returns the number of contenders that failed.
///
/// # Errors
///
/// A target cannot be used here, or nothing is selected.
pub fn bench(options: &Options) -> Result<usize> {
    if options.help {
        println!("{HELP}");
        return Ok(0);
    }
    let all = match options.set {
        Set::Speed => ROWS.to_vec(),
        Set::Examples => examples()?,
        Set::Topi => return topi::bench(options),
    };
    let rows: Vec<&Row> = all.iter().filter(|row| options.wants(row.name)).collect();
    if rows.is_empty() {
        let names: Vec<&str> = all.iter().map(|row| row.name).collect();
        return Err(format!(
            "no row's name holds any of {:?}; there are {}",
            options.filters,
            names.join(", ")
        ));
    }
    let mut session = Session::open(options)?;
    let mut results = store(options, fresh(options, &mut session)?)?;
    let progress = bar(rows.len());
    for row in rows {
        progress.set_message(row.name);
        if !options.threads.iter().any(|threads| results.row(row.name, *threads).is_some()) {
            let measured = measure::measure(&mut session, row, options.rounds);
            let threads = || options.threads.iter().filter(|threads| row.is_for(**threads));
            let measured = measured.unwrap_or_else(|why| {
                threads().map(|threads| measure::broken(row, *threads, why.clone())).collect()
            });
            for entry in &measured {
                // Not `ProgressBar::println`, which prints nothing where there is no terminal.
                progress.suspend(|| eprintln!("{}", show::line(entry)));
            }
            results.rows.extend(measured);
            results.write(&options.store)?;
        }
        progress.inc(1);
    }
    // A run of some rows is to be short.
    if options.filters.is_empty() {
        progress.set_message("the machine's limits");
        for threads in &options.threads {
            if !results.limits.iter().any(|limit| limit.threads == *threads) {
                results.limits.extend(limits(*threads));
            }
        }
        results.write(&options.store)?;
    }
    progress.finish_and_clear();
    finish(options, &results, &all)
}

fn finish(options: &Options, results: &Results, all: &[Row]) -> Result<usize> {
    if options.json {
        println!("{}", to_json(results)?);
    } else {
        println!("{}", show::table(&results.rows, &results.limits));
        let with_goals = results.rows.iter().filter(|entry| !entry.goals.is_empty()).count();
        let missed = results.rows.iter().filter(|entry| !entry.missed().is_empty()).count();
        println!(
            "{} rows, goals of {GOALS_OF}: {} reached theirs, {missed} did not",
            results.rows.len(),
            with_goals - missed
        );
    }
    if !results.limits.is_empty() && options.set == Set::Speed {
        let path = options.store.with_extension("svg");
        fs::write(&path, plot::draw(results, 1)).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("plot: {}", path.display());
    }
    if options.bless {
        let missing: Vec<&str> = all
            .iter()
            .filter(|row| [1, 2].iter().any(|n| row.is_for(*n) && results.row(row.name, *n).is_none()))
            .map(|row| row.name)
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "not measured with one and two threads, so not blessed: {}",
                missing.join(", ")
            ));
        }
        match options.set {
            Set::Examples => readme::bless(&readme::folder(), results)?,
            Set::Speed | Set::Topi => write_all(results)?,
        }
    }
    Ok(results.rows.iter().map(Entry::failures).sum())
}

/// Returns a bar for so many steps.
#[must_use]
pub fn bar(steps: usize) -> ProgressBar {
    let progress = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}") {
        progress.set_style(style);
    }
    progress.enable_steady_tick(Duration::from_millis(500));
    progress
}

/// Returns the results as JSON, with what each row missed. Schema:
/// `bench/schemas/bench.speed.schema.json`.
///
/// # Errors
///
/// They cannot be written as JSON.
pub fn to_json(results: &Results) -> Result<Value> {
    let mut json = serde_json::to_value(results).map_err(|error| error.to_string())?;
    if let Some(rows) = json["rows"].as_array_mut() {
        for (entry, json) in results.rows.iter().zip(rows) {
            json["missed"] = json!(entry.missed());
        }
    }
    Ok(json)
}

/// Returns results without any row.
///
/// # Errors
///
/// A plugin cannot be read, or a peer does not start.
pub fn fresh(options: &Options, session: &mut Session) -> Result<Results> {
    let plugins = fs::read_dir(&options.plugins);
    let mut files: Vec<PathBuf> = plugins
        .map_err(|error| format!("{}: {error}", options.plugins.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "so"))
        .collect();
    files.sort();
    files.extend(
        ["peers.py", "speed_peers.py", "topi_kernels.py"]
            .map(|file| Path::new(env!("CARGO_MANIFEST_DIR")).join(file)),
    );
    let threads = session.lanes.first().map_or(1, |lane| lane.threads);
    let groups = 0..session.groups_count();
    let peers =
        groups.map(|group| session.ask(group, threads, "hello", json!({}))).collect::<Result<Vec<_>>>()?;
    Ok(Results {
        schema: SCHEMA.to_owned(),
        processor: machine::processor(),
        date: machine::date(),
        machine: machine::machine(),
        build: fingerprint(&files)?,
        peers: Value::Array(peers),
        rounds: options.rounds,
        limits: Vec::new(),
        rows: Vec::new(),
        topi: Vec::new(),
        not_run: not_run(&machine::features()),
    })
}

/// Returns `fresh`, or the saved results if they are to be continued.
///
/// # Errors
///
/// The saved results cannot be read, or are of another build.
pub fn store(options: &Options, fresh: Results) -> Result<Results> {
    if !options.resume || !options.store.is_file() {
        return Ok(fresh);
    }
    let saved = Results::read(&options.store)?;
    if saved.build == fresh.build {
        Ok(saved)
    } else {
        let name = options.store.display();
        Err(format!("{name} was measured with other plugins or scripts; measure anew, without --resume"))
    }
}

/// Writes the results of this processor, and the page from those of all. What a run has not
/// measured is taken from the results that are there: the kernels of TOPI and the rows are measured
/// by runs of their own.
///
/// # Errors
///
/// A reason is missing, or a file cannot be written; nothing is written to the guide then.
pub fn write_all(results: &Results) -> Result<()> {
    let path = folder().join(format!("{}.json", results.processor));
    let mut results = results.clone();
    if path.is_file() {
        let kept = Results::read(&path)?;
        if results.topi.is_empty() {
            results.topi = kept.topi;
        } else if results.rows.is_empty() {
            results = Results { topi: results.topi, ..kept };
        }
    }
    // The page is tried first in a folder of its own, so that results are only kept with their
    // reasons.
    let trial = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    copy(&folder(), trial.path())?;
    results.write(&trial.path().join(format!("{}.json", results.processor)))?;
    page::files(trial.path())?;
    fs::create_dir_all(folder()).map_err(|error| format!("{}: {error}", folder().display()))?;
    results.write(&path)?;
    page::write(&folder(), &page::guide())?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let target = to.join(entry.file_name());
        fs::copy(entry.path(), &target).map_err(|error| format!("{}: {error}", target.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::results;
    use super::*;

    /// A run is continued with the plugins and scripts with which it was begun.
    #[test]
    fn results_of_another_build_are_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let parse = |words: &str| Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
        let options = |words: &str| Options { store: folder.path().join("kept.json"), ..parse(words) };
        let (anew, resume) = (options("--peers"), options("--peers --resume"));
        let (kept, fresh) = (results(Vec::new()), Results { rounds: 7, ..results(Vec::new()) });
        assert_eq!(store(&resume, fresh.clone()).unwrap(), fresh, "nothing is kept yet");
        kept.write(&resume.store).unwrap();
        assert_eq!(store(&resume, fresh.clone()).unwrap(), kept);
        assert_eq!(store(&anew, fresh.clone()).unwrap(), fresh);
        let other = Results { build: "another".to_owned(), ..fresh };
        let error = store(&resume, other).unwrap_err();
        assert!(error.contains("kept.json was measured with other plugins"), "{error}");
    }
}
