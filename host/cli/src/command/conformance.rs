//! `chipdock conformance`: runs the suite over one plugin, lists cases, and shows cards.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;

use chipdock_conformance::Level;
use chipdock_conformance::case::Seeds;
use chipdock_conformance::expectations::Expectations;
use chipdock_conformance::list::{Coverage, List, Wanted, matcher};
use chipdock_conformance::report::grid::Paint;
use chipdock_conformance::report::text;
use chipdock_conformance::run::{self, Options, RunError};
use chipdock_host::HostOptions;
use chipdock_host::discovery::discover;
use chipdock_host::files::check_regular;
use chipdock_host::settings::Settings;
use serde_json::Value;

use self::meter::Meter;
use crate::args::{Action, ConformanceArgs, ConformanceWorkerArgs, GlobalArgs, LevelArg};
use crate::report::{self as errors, Exit, Failure, Result};
use crate::{output, streams};

mod cards;
mod files;
mod meter;
mod repro;

/// The hidden command of a worker.
pub(crate) const WORKER: &str = "__conformance-worker";
/// Default for the greatest number of cases at once.
const JOBS_MAX: usize = 4;

/// Runs the suite, or lists its cases, or shows cards.
pub(crate) fn run(args: &ConformanceArgs, global: &GlobalArgs) -> Result<ExitCode> {
    no_other_plugins(global)?;
    let done = |result: Result<()>| result.map(|()| ExitCode::SUCCESS);
    match &args.action {
        Some(Action::Verify(args)) => cards::verify(args, global),
        Some(Action::Compare(args)) => done(cards::compare(args, global)),
        None if args.coverage => done(coverage(args, global)),
        None if args.list => done(list(args, global)),
        None if args.repro.is_some() => repro::replay(args, global),
        None => prove(args, global),
    }
}

/// Refuses options that choose among plugins: one plugin is under test, and `--plugin` names those
/// that help it.
fn no_other_plugins(global: &GlobalArgs) -> Result<()> {
    let given = [("--select", &global.select), ("--disable", &global.disable), ("--prefer", &global.prefer)];
    match given.iter().find(|(_, values)| !values.is_empty()) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::input(format!("{name} does not go with conformance"))
            .help("it tests the plugin that is named; --plugin PATH adds one that may help it, as to compile host code")),
    }
}

fn prove(args: &ConformanceArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let library = library(args)?;
    let opened: Vec<&Path> =
        std::iter::once(library).chain(global.plugins.iter().map(PathBuf::as_path)).collect();
    super::check_named(&opened, global)?;
    check_settings(&opened, global)?;
    let options = options(args, global, library)?;
    let places = files::Places::from_args(args, global)?;
    let mut meter = Meter::new(global);
    let report = run::supervise(&options, &mut |event| meter.show(&event));
    drop(meter);
    let report = report.map_err(|error| not_run(&error))?;
    let written = places.write(&report)?;
    if global.json {
        output::print_json(&value(&report)?)?;
    } else {
        if !written.took_standard_output {
            output::print_painted(&text::render(&report, paint(global)))?;
        }
        written.tell();
    }
    Ok(ExitCode::from(report.exit))
}

/// Refuses a setting that the plugins of the run do not declare, or whose value is wrong, as far as
/// manifests tell.
fn check_settings(opened: &[&Path], global: &GlobalArgs) -> Result<()> {
    let options = HostOptions {
        plugin_paths: opened.iter().map(|path| path.to_path_buf()).collect(),
        trust: global.allow_path.clone(),
        settings: super::settings(global)?,
        ..HostOptions::isolated()
    };
    let found = discover(&options).and_then(|discovery| Settings::new(&options, &discovery));
    found.map(drop).map_err(|error| super::failure(&error))
}

/// A model as JSON.
fn value(model: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(model).map_err(|error| Failure::new(Exit::Suite, error.to_string()))
}

fn paint(global: &GlobalArgs) -> Paint {
    Paint(errors::use_color(global.color(), streams::results_are_watched()))
}

fn library(args: &ConformanceArgs) -> Result<&Path> {
    let Some(library) = &args.library else {
        return Err(Failure::input("no plugin is given").help("chipdock conformance PLUGIN.so"));
    };
    existing(library)?;
    Ok(library)
}

fn existing(file: &Path) -> Result<()> {
    check_regular(file)
        .map_err(|error| Failure::input(format!("cannot be read: {}", error.message())).in_file(file))
}

fn options(args: &ConformanceArgs, global: &GlobalArgs, library: &Path) -> Result<Options> {
    // Workers get them in a document, and a report must name them.
    let paths = global.plugins.iter().chain(&global.allow_path).map(PathBuf::as_path);
    if let Some(path) = paths.chain([library]).find(|path| path.to_str().is_none()) {
        return Err(Failure::input("conformance takes only paths that are text (UTF-8)")
            .in_file(path)
            .help("give the file another name, or name it by a link"));
    }
    let _ = matcher(&args.filter).map_err(|what| Failure::input(format!("--filter: {what}")))?;
    let executable = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Suite, format!("this command cannot find itself: {error}")))?;
    Ok(Options {
        library: library.to_owned(),
        worker: (executable, vec![WORKER.to_owned()]),
        level: level(args),
        filters: args.filter.clone(),
        expectations: expectations(args, library)?,
        companions: global.plugins.clone(),
        trust: global.allow_path.clone(),
        settings: super::settings(global)?,
        seeds: seeds(args),
        jobs: args.jobs.map_or_else(jobs, usize::from),
        patience: args.patience,
        again: !args.no_again,
        repro_folder: args.repro_folder.clone(),
        repeat: repeat(args, global),
    })
}

fn not_run(error: &RunError) -> Failure {
    match error {
        RunError::Usage(what) => Failure::input(what),
        RunError::Suite(what) => Failure::new(Exit::Suite, what),
    }
}

/// Returns the words that the command that repeats a case needs besides library and filter: all
/// that affects its result.
fn repeat(args: &ConformanceArgs, global: &GlobalArgs) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    paths(&global.plugins).into_iter().for_each(|path| add("--plugin", path));
    paths(&global.allow_path).into_iter().for_each(|path| add("--allow-path", path));
    global.config.iter().for_each(|text| add("--config", text.clone()));
    if let Some(file) = &args.expectations {
        add("--expectations", file.display().to_string());
    }
    let (seeds, usual) = (seeds(args), Seeds::default());
    if seeds.first != usual.first {
        add("--seed", seeds.first.to_string());
    }
    if seeds.programs != usual.programs {
        add("--programs", seeds.programs.to_string());
    }
    if args.patience != 1.0 {
        add("--patience", args.patience.to_string());
    }
    words
}

fn level(args: &ConformanceArgs) -> Level {
    match args.level {
        LevelArg::Loadable => Level::Loadable,
        LevelArg::Device => Level::Device,
        LevelArg::Codegen => Level::Codegen,
        LevelArg::Full => Level::Full,
    }
}

fn seeds(args: &ConformanceArgs) -> Seeds {
    Seeds { first: args.seed, programs: args.programs }
}

fn jobs() -> usize {
    available_parallelism().map_or(1, usize::from).min(JOBS_MAX)
}

/// Returns the plugin's claims: of the named file, or of the one beside the library, or none.
fn expectations(args: &ConformanceArgs, library: &Path) -> Result<Expectations> {
    let default = library.with_extension("expectations.toml");
    let file: Option<PathBuf> = args.expectations.clone().or_else(|| default.exists().then_some(default));
    match file {
        None => Ok(Expectations::default()),
        Some(file) => Expectations::read(&file).map_err(Failure::input),
    }
}

fn list(args: &ConformanceArgs, global: &GlobalArgs) -> Result<()> {
    let facts = match &args.library {
        None => None,
        Some(_) => {
            let options = options(args, global, library(args)?)?;
            let facts = run::probe(&options).map_err(|error| not_run(&error))?;
            Some(facts.map_err(|why| {
                Failure::new(Exit::Plugin, format!("the plugin is refused: {why}")).in_file(&options.library)
            })?)
        }
    };
    let seeds = seeds(args);
    let wanted = Wanted { seeds: &seeds, level: level(args), filters: &args.filter, facts: facts.as_ref() };
    let list = List::new(&wanted).map_err(|what| Failure::input(format!("--filter: {what}")))?;
    if list.cases.is_empty() && !args.filter.is_empty() {
        return Err(Failure::input(format!("--filter {}: matches no case", args.filter.join(" ")))
            .help("chipdock conformance --list --filter '*' prints every id"));
    }
    if global.json {
        return output::print_json(&value(&list)?);
    }
    output::print_painted(&list.text(!args.filter.is_empty(), paint(global)))
}

fn coverage(args: &ConformanceArgs, global: &GlobalArgs) -> Result<()> {
    let coverage = Coverage::new(&seeds(args));
    if global.json {
        return output::print_json(&value(&coverage)?);
    }
    output::print_painted(&coverage.text(paint(global)))
}

/// Does the job of a worker.
pub(crate) fn worker(args: &ConformanceWorkerArgs) -> Result<()> {
    run::work(&args.job).map_err(Failure::work)
}
