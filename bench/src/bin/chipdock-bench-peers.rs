//! `cargo xtask bench --peers`: measures the example kernels through Chipdock and its peers, with
//! the contenders in turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chipdock_bench::peers::kernels::Session;
use chipdock_bench::peers::options::{HELP, PeersOptions, Set};
use chipdock_bench::peers::report::{Entry, GOALS_OF, Goal, Report, SCHEMA, Store, Verdict, fingerprint};
use chipdock_bench::peers::{figures, kernels, readme, show};
use chipdock_bench::speed;
use chipdock_bench::{Result, machine};
use chipdock_test_backends::cases::{CASES, Case};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, kind, plugins] = arguments.as_slice()
        && flag == figures::FIRST_BUILD
    {
        return match figures::first_build(kind, Path::new(plugins), &kernels_folder()) {
            Ok(answer) => {
                println!("{answer}");
                ExitCode::SUCCESS
            }
            Err(error) => failure(&error),
        };
    }
    match PeersOptions::parse(arguments).and_then(|options| bench(&options)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => failure(&format!("{failures} contenders failed; the table says who and why")),
        Err(error) => failure(&error),
    }
}

fn failure(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn kernels_folder() -> PathBuf {
    root().join("examples/kernels")
}

/// Measures the selected entries that the report does not have yet; returns the number of
/// contenders that failed.
fn bench(options: &PeersOptions) -> Result<usize> {
    if options.help {
        println!("{HELP}");
        return Ok(0);
    }
    match options.set {
        Set::Speed => return speed::run::bench(options),
        Set::Topi => return speed::topi::bench(options),
        Set::Examples => {}
    }
    let mut sessions =
        options.threads.iter().map(|threads| Session::open(options, *threads)).collect::<Result<Vec<_>>>()?;
    let peers = sessions.first_mut().ok_or("no number of threads")?.ask("hello", json!({}))?;
    let mut store = Store::open(&options.store, fresh(options, peers)?, options.resume)?;
    let cases: Vec<&Case> = CASES.iter().filter(|case| options.wants(&case.name())).collect();
    let figures: usize = sessions.iter().map(|session| figures::names(session.threads).len()).sum();
    let progress = ProgressBar::new((sessions.len() * cases.len() + figures) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}") {
        progress.set_style(style);
    }
    for session in &mut sessions {
        for name in figures::names(session.threads) {
            if options.wants(name) && store.report.entry(name, session.threads).is_none() {
                progress.set_message(*name);
                if let Some(entry) = figures::measure(session, options, &kernels_folder(), name)? {
                    store.add(entry)?;
                }
            }
            progress.inc(1);
        }
    }
    for case in &cases {
        for session in &mut sessions {
            let name = case.name();
            if store.report.entry(&name, session.threads).is_none() {
                progress.set_message(format!("{name}, {} threads", session.threads));
                let measured = kernels::measure(session, case, &kernels_folder(), options.rounds);
                store.add(measured.unwrap_or_else(|why| broken(&name, session, why)))?;
            }
            progress.inc(1);
        }
    }
    for session in &sessions {
        progress.set_message("the machine's limits");
        if !store.report.limits.iter().any(|limit| limit.threads == session.threads) {
            store.report.limits.extend(figures::limits(session.threads));
            store.save()?;
        }
    }
    progress.finish_and_clear();
    finish(options, &store.report)
}

/// Returns the entry for a kernel that could not be measured at all.
fn broken(name: &str, session: &Session, why: String) -> Entry {
    let absent = session.ours().into_iter().map(|ours| (ours, why.clone())).collect();
    let entry = Entry::of_rounds(name, session.threads, &[], &[]);
    Entry { goal: Goal::NoSlowerThanTvm, absent, failed: session.ours(), ..entry }
}

/// Returns the report as JSON, with its verdicts. Schema: `bench/schemas/bench.peers.schema.json`.
fn to_json(report: &Report) -> Result<Value> {
    let mut json = serde_json::to_value(report).map_err(|error| error.to_string())?;
    if let Some(entries) = json["entries"].as_array_mut() {
        for (entry, json) in report.entries.iter().zip(entries) {
            json["verdict"] = json!(show::verdict(entry.verdict(GOALS_OF)));
        }
    }
    Ok(json)
}

fn finish(options: &PeersOptions, report: &Report) -> Result<usize> {
    if options.json {
        println!("{}", to_json(report)?);
    } else {
        println!("{}", show::table(report, GOALS_OF));
        for entry in &report.entries {
            for who in &entry.failed {
                let why = entry.absent.get(who).map_or("", String::as_str);
                println!("failed: {}: {who}: {why}", entry.title());
            }
        }
        let goals =
            |verdict| report.entries.iter().filter(|entry| entry.verdict(GOALS_OF) == verdict).count();
        println!(
            "goals of {GOALS_OF}: {} reached, {} not reached",
            goals(Verdict::Reached),
            goals(Verdict::NotReached)
        );
    }
    if options.bless {
        let missing = missing(options, report);
        if !missing.is_empty() {
            return Err(format!("not measured, so not blessed: {}", missing.join("; ")));
        }
        readme::bless(&root().join("plugins/cpu-llvm"), report)?;
    }
    Ok(report.entries.iter().map(|entry| entry.failed.len()).sum())
}

/// Returns the entries of a complete table that this report lacks.
fn missing(options: &PeersOptions, report: &Report) -> Vec<String> {
    let mut missing = Vec::new();
    for threads in &options.threads {
        let figures = figures::names(*threads).iter().map(|name| (*name).to_owned());
        for name in figures.chain(CASES.iter().map(Case::name)) {
            if report.entry(&name, *threads).is_none() {
                missing.push(format!("{name}, {threads} threads"));
            }
        }
    }
    missing
}

fn fresh(options: &PeersOptions, peers: Value) -> Result<Report> {
    let mut files: Vec<PathBuf> = fs::read_dir(&options.plugins)
        .map_err(|error| format!("{}: {error}", options.plugins.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "so"))
        .collect();
    files.sort();
    files.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py"));
    Ok(Report {
        schema: SCHEMA.to_owned(),
        build: fingerprint(&files)?,
        date: machine::date(),
        machine: machine::machine(),
        peers,
        rounds: options.rounds,
        limits: Vec::new(),
        entries: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use chipdock_bench::peers::report::{Amount, Limit, TVM};

    use super::*;

    #[test]
    fn a_report_keeps_its_schema_with_verdicts_and_without() {
        let rounds = [(GOALS_OF.to_owned(), vec![1.0, 2.0, 3.0]), (TVM.to_owned(), vec![2.0, 3.0, 4.0])];
        let entry = |goal| Entry { goal, ..Entry::of_rounds("add", 1, &[GOALS_OF.to_owned()], &rounds) };
        let unit = "GB/s".to_owned();
        let counted = Entry {
            work: Some(Amount { amount: 1e9, unit: unit.clone() }),
            absent: [("ort".to_owned(), "it has no such operation".to_owned())].into(),
            failed: vec!["ort".to_owned()],
            ..entry(Goal::NoSlowerThanTvm)
        };
        let report = Report {
            schema: SCHEMA.to_owned(),
            build: "b".to_owned(),
            date: "2026-05-30".to_owned(),
            machine: [("machine".to_owned(), "2 × a processor".to_owned())].into(),
            peers: json!({"tvm": "0.23"}),
            rounds: 3,
            limits: vec![Limit { name: "copy".to_owned(), threads: 1, value: 12.5, unit }],
            entries: vec![counted, entry(Goal::None), entry(Goal::AtMostNs(1.0))],
        };
        chipdock_test_support::schemas::check(&to_json(&report).expect("JSON"));
        chipdock_test_support::schemas::check(&serde_json::to_value(&report).expect("JSON"));
    }
}
