//! Measures a row: makes its contenders, holds their results against the judge, and visits them in
//! turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chipdock_interpret::Arg;
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::{arguments, symbols};
use chipdock_test_backends::run;
use serde_json::{Value, json};

use super::contender::{Contender, Kind, LIMIT, Limit};
use super::figures;
use super::judge::Judge;
use super::report::{Entry, GOALS_OF, Said, Times};
use super::rows::{By, Row, Work};
use super::session::{Lane, Session};
use crate::Result;
use crate::contest::order;
use crate::peers::VISIT_NS;
use crate::peers::kernels::{Ours, described};

/// Longest time that a contender takes part for (SPEED-5).
pub const SHARE_MAX: Duration = Duration::from_millis(2500);

/// A kernel with everything that its contenders are given.
struct Prepared<'a> {
    row: &'a Row,
    path: PathBuf,
    module: IrModule,
    arguments: Vec<Arg>,
    judge: Judge,
    folder: tempfile::TempDir,
}

/// Measures a row with each number of threads.
///
/// # Errors
///
/// The kernel or its judge fails; what a contender fails with stands in the entries.
pub fn measure(
    session: &mut Session,
    row: &'static Row,
    kernels: &Path,
    rounds: usize,
) -> Result<Vec<Entry>> {
    if row.work == Work::Compile {
        return figures::compile(session, row, kernels, rounds);
    }
    let prepared = prepare(session, row, kernels)?;
    let (mut contenders, mut said) = (Vec::new(), Said::default());
    for lane in &session.lanes {
        for backend in &lane.backends {
            let (who, threads) = (backend.target.kind.clone(), lane.threads);
            match ours(lane, backend, &prepared) {
                Ok((ours, before_ns)) => {
                    let kind = Kind::Ours(Box::new(ours));
                    contenders.push(Contender { who, threads, before_ns, kind });
                }
                Err(why) => {
                    said.failed.push((who.clone(), threads));
                    said.absent.insert((who, threads), why);
                }
            }
        }
    }
    let places = contenders.iter().find_map(|contender| match &contender.kind {
        Kind::Ours(ours) => Some(ours.places()),
        _ => None,
    });
    let described = described(&prepared.arguments, &places.unwrap_or_default(), prepared.folder.path())?;
    let threads: Vec<usize> = session.lanes.iter().map(|lane| lane.threads).collect();
    for threads in &threads {
        peers(session, &prepared, *threads, &described, &mut contenders, &mut said);
        if let Some(limit) = Limit::new(row.work, *threads) {
            said.limits.insert(*threads, limit.name().to_owned());
            contenders.push(Contender {
                who: LIMIT.to_owned(),
                threads: *threads,
                before_ns: 0.0,
                kind: Kind::Limit(limit),
            });
        }
        if row.work == Work::Call {
            contenders.push(figures::bare(*threads)?);
        }
    }
    let times = contest(session, &contenders, rounds)?;
    let threads = threads.into_iter().filter(|threads| row.over_one().is_some() || *threads == 1);
    Ok(threads.map(|threads| Entry::of_times(row, threads, &times, &said)).collect())
}

fn prepare<'a>(session: &mut Session, row: &'a Row, kernels: &Path) -> Result<Prepared<'a>> {
    let path = kernels.join(format!("{}.py", row.file));
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let module = chipdock_script::parse(&text, row.file).map_err(|errors| errors.to_string())?;
    let function = module.function(row.file).ok_or_else(|| format!("no function {}", row.file))?;
    let arguments = arguments(function, &symbols(&[]))?;
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let judge = match row.by {
        By::Rows(all, few) => Judge::rows(&text, (all, few), row.file, &arguments)?,
        By::Float64 => {
            let described = described(&arguments, &[], folder.path())?;
            let request = json!({"function": row.file, "arguments": described, "out": folder.path()});
            let threads = session.lanes.first().map_or(1, |lane| lane.threads);
            let answer = session.ask(0, threads, "reference", request)?;
            let parameter = answer["parameter"].as_u64().and_then(|index| usize::try_from(index).ok());
            Judge::whole(folder.path(), parameter.ok_or("no parameter was judged")?, &module, row.file)?
        }
    };
    Ok(Prepared { row, path, module, arguments, judge, folder })
}

/// Compiles the kernel, checks what it computes, and returns it with the nanoseconds that its first
/// call took.
fn ours(lane: &Lane, backend: &Backend, prepared: &Prepared<'_>) -> Result<(Ours, f64)> {
    let built = run::build(&lane.host, backend, &prepared.module)?;
    let function = built.function(prepared.row.file).map_err(|error| error.to_string())?;
    let values = run::upload(backend, &prepared.arguments)?;
    let start = Instant::now();
    run::call(&function, &values)?;
    let before_ns = start.elapsed().as_secs_f64() * 1e9;
    prepared.judge.hold(|parameter| match values.get(parameter) {
        Some(run::Value::Tensor(tensor)) => tensor.to_bytes().map_err(|error| error.to_string()),
        _ => Err(format!("parameter {parameter} is no tensor")),
    })?;
    Ok((Ours { function, values }, before_ns))
}

/// Gives the peers their arguments, and checks their results.
fn peers(
    session: &mut Session,
    prepared: &Prepared<'_>,
    threads: usize,
    described: &[Value],
    contenders: &mut Vec<Contender>,
    said: &mut Said,
) {
    let last = prepared.arguments.len().saturating_sub(1);
    for (group, wanted) in session.groups(prepared.row.peers) {
        let request = json!({"path": prepared.path, "function": prepared.row.file, "arguments": described,
                             "contenders": wanted, "out": prepared.folder.path(), "outputs": [last], "speed": true});
        let answer = session.ask(group, threads, "prepare", request);
        for name in wanted {
            let key = (name.to_owned(), threads);
            match state(&answer, name, prepared) {
                Ok(way) => {
                    said.ways.insert(key, way);
                    contenders.push(Contender {
                        who: name.to_owned(),
                        threads,
                        before_ns: 0.0,
                        kind: Kind::Peer(group),
                    });
                }
                Err((is_fault, why)) => {
                    if is_fault {
                        said.failed.push(key.clone());
                    }
                    said.absent.insert(key, why);
                }
            }
        }
    }
}

/// Returns the way of a peer that is ready, or whether it is at fault and why it is not.
fn state(
    answer: &Result<Value>,
    name: &str,
    prepared: &Prepared<'_>,
) -> std::result::Result<String, (bool, String)> {
    let answer = answer.as_ref().map_err(|why| (true, why.clone()))?;
    let text = |key: &str| answer[key].get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(why) = text("absent") {
        return Err((false, why));
    }
    if let Some(why) = text("failed") {
        return Err((true, why));
    }
    let held = prepared.judge.hold(|parameter| {
        let file = prepared.folder.path().join(format!("{name}.{parameter}"));
        fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
    });
    held.map_err(|why| (true, why))?;
    Ok(text("ways").unwrap_or_default())
}

/// Progress of a contender in a contest.
struct Pace {
    calls: u32,
    last: f64,
    spent: Duration,
}

/// Visits the contenders in turn (BENCH-B3), each for at most [`SHARE_MAX`].
pub(super) fn contest(session: &mut Session, contenders: &[Contender], rounds: usize) -> Result<Vec<Times>> {
    let named = |contender: &Contender, why: String| format!("{}: {why}", contender.who);
    let mut paces = Vec::new();
    for contender in contenders {
        paces.push(calibrated(session, contender).map_err(|why| named(contender, why))?);
    }
    let mut times: Vec<Times> = contenders
        .iter()
        .map(|contender| Times { who: contender.who.clone(), threads: contender.threads, ns: Vec::new() })
        .collect();
    for round in 0..rounds {
        for index in order(contenders.len(), round) {
            let (contender, pace) = (&contenders[index], &mut paces[index]);
            if round > 0 && pace.spent > SHARE_MAX {
                continue;
            }
            let start = Instant::now();
            let ns = contender.visit(session, pace.calls, pace.last).map_err(|why| named(contender, why))?;
            pace.spent += start.elapsed();
            times[index].ns.push(ns);
        }
    }
    Ok(times)
}

/// Finds out how many calls a visit has: as many as take [`VISIT_NS`].
fn calibrated(session: &mut Session, contender: &Contender) -> Result<Pace> {
    let start = Instant::now();
    let (mut calls, mut last) = (1_u32, contender.before_ns);
    loop {
        last = contender.visit(session, calls, last)?.max(1.0);
        let wanted = (VISIT_NS / last).ceil().clamp(1.0, 1e7) as u32;
        if wanted <= calls.saturating_mul(8) {
            return Ok(Pace { calls: wanted, last, spent: start.elapsed() });
        }
        calls = wanted.min(calls.saturating_mul(100));
    }
}

/// Returns the name under which an error of the whole row is reported.
#[must_use]
pub fn broken(row: &Row, threads: usize, why: String) -> Entry {
    let key = (GOALS_OF.to_owned(), threads);
    let said = Said { absent: [(key.clone(), why)].into(), failed: vec![key], ..Said::default() };
    Entry::of_times(row, threads, &[], &said)
}
