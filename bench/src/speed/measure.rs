//! Measures a row: makes its contenders, checks their results, and visits them in turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chipdock_interpret::Arg;
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use serde_json::{Value, json};

use super::VISIT_NS;
use super::contender::{Contender, Kind, LIMIT, Limit, Ours};
use super::figures;
use super::judge::Judge;
use super::report::{Entry, GOALS_OF, Said, Times};
use super::rows::{By, Row, Work, example_kernels};
use super::session::{Lane, Session};
use crate::Result;
use crate::contest::order;
use crate::options::Set;

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
pub fn measure(session: &mut Session, row: &Row, rounds: usize) -> Result<Vec<Entry>> {
    match row.work {
        Work::Compile => return figures::compile(session, row, rounds),
        Work::FirstBuild => return figures::first_builds(session, row),
        Work::Launch => return figures::launch(session, row),
        _ => {}
    }
    let threads: Vec<usize> =
        session.lanes.iter().map(|lane| lane.threads).filter(|threads| row.is_for(*threads)).collect();
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let prepared = prepare(session, row)?;
    let (mut contenders, mut said) = (Vec::new(), Said::default());
    for lane in session.lanes.iter().filter(|lane| row.is_for(lane.threads)) {
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
    let offsets = contenders.iter().find_map(|contender| match &contender.kind {
        Kind::Ours(ours) => Some(ours.page_offsets()),
        _ => None,
    });
    let described = described(&prepared.arguments, &offsets.unwrap_or_default(), prepared.folder.path())?;
    for threads in &threads {
        peers(session, &prepared, *threads, &described, &mut contenders, &mut said);
        if let Some(limit) = Limit::new(row.work, *threads) {
            said.limits.insert(*threads, limit.name().to_owned());
            contenders.push(Contender::new(LIMIT, *threads, Kind::Limit(limit)));
        }
        if row.work == Work::Call && row.set == Set::Speed {
            contenders.push(figures::bare(*threads)?);
        }
    }
    let times = contest(session, &contenders, rounds)?;
    Ok(threads.into_iter().map(|threads| Entry::from_times(row, threads, &times, &said)).collect())
}

fn prepare<'a>(session: &mut Session, row: &'a Row) -> Result<Prepared<'a>> {
    let path = row.path();
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let module =
        chipdock_script::parse(&text, &path.display().to_string()).map_err(|errors| errors.to_string())?;
    let function =
        module.function(row.function()).ok_or_else(|| format!("no function {}", row.function()))?;
    let arguments = row.arguments(function)?;
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let judge = match row.by {
        By::Example(case) => Judge::example(case, &example_kernels(), &module, &arguments)?,
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
    let function = built.function(prepared.row.function()).map_err(|error| error.to_string())?;
    let values = run::upload(backend, &prepared.arguments)?;
    let start = Instant::now();
    run::call(&function, &values)?;
    let before_ns = start.elapsed().as_secs_f64() * 1e9;
    prepared.judge.check(|parameter| match values.get(parameter) {
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
    let is_speed = prepared.row.set == Set::Speed;
    // An example may write several tensors.
    let outputs = if is_speed { prepared.arguments.len().saturating_sub(1) } else { 0 };
    let outputs: Vec<usize> = (outputs..prepared.arguments.len()).collect();
    for (group, wanted) in session.groups(prepared.row.peers) {
        let request = json!({"path": prepared.path, "function": prepared.row.function(), "arguments": described,
                             "contenders": wanted, "out": prepared.folder.path(), "outputs": outputs,
                             "speed": is_speed});
        let answer = session.ask(group, threads, "prepare", request);
        for name in wanted {
            let key = (name.to_owned(), threads);
            match state(&answer, name, prepared) {
                Ok(way) => {
                    said.ways.insert(key, way);
                    contenders.push(Contender::new(name, threads, Kind::Peer(group)));
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
    let checked = prepared.judge.check(|parameter| {
        let file = prepared.folder.path().join(format!("{name}.{parameter}"));
        fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
    });
    checked.map_err(|why| (true, why))?;
    Ok(text("ways").unwrap_or_default())
}

/// Describes arguments in the form that the peers read, with tensors in files of `folder`.
pub(super) fn described(arguments: &[Arg], offsets: &[usize], folder: &Path) -> Result<Vec<Value>> {
    let one = |(k, argument): (usize, &Arg)| {
        Ok(match argument {
            Arg::Tensor(array) => {
                let file = folder.join(format!("in.{k}"));
                fs::write(&file, &array.data).map_err(|error| format!("{}: {error}", file.display()))?;
                let offset = offsets.get(k).copied().unwrap_or(0);
                json!({"dtype": array.dtype.to_string(), "shape": array.shape, "file": file, "place": offset})
            }
            Arg::Int(value) => json!({"int": i64::try_from(*value).unwrap_or_default()}),
            Arg::Float(value) => json!({"float": value}),
        })
    };
    arguments.iter().enumerate().map(one).collect()
}

/// Progress of a contender in a contest.
struct Pace {
    calls: u32,
    last: f64,
    spent: Duration,
}

/// Visits the contenders in turn (SPEED-4), each for at most [`SHARE_MAX`].
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

/// Finds out how many calls a visit has.
fn calibrated(session: &mut Session, contender: &Contender) -> Result<Pace> {
    let start = Instant::now();
    let (calls, last) = calibrate(contender.before_ns, |calls, last| contender.visit(session, calls, last))?;
    Ok(Pace { calls, last, spent: start.elapsed() })
}

/// Returns the number of calls that take [`VISIT_NS`], and the nanoseconds of one; a visit is given
/// its number of calls and what a call took before.
fn calibrate(before_ns: f64, mut visit: impl FnMut(u32, f64) -> Result<f64>) -> Result<(u32, f64)> {
    let (mut calls, mut last) = (1_u32, before_ns);
    loop {
        last = visit(calls, last)?.max(1.0);
        let wanted = (VISIT_NS / last).ceil().clamp(1.0, 1e7) as u32;
        // A short visit is only a rough estimate, so it is followed by a longer one.
        if wanted <= calls.saturating_mul(8) {
            return Ok((wanted, last));
        }
        calls = wanted.min(calls.saturating_mul(100));
    }
}

/// Returns the entry of a row that could not be measured at all.
#[must_use]
pub fn broken(row: &Row, threads: usize, why: String) -> Entry {
    let key = (GOALS_OF.to_owned(), threads);
    let said = Said { absent: [(key.clone(), why)].into(), failed: vec![key], ..Said::default() };
    Entry::from_times(row, threads, &[], &said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_long_enough_whatever_a_call_takes() {
        for ns in [20.0, 3e3, 1e6, 4e7] {
            let (calls, last) = calibrate(0.0, |_, _| Ok(ns)).unwrap_or_default();
            let visit = f64::from(calls) * ns;
            assert!(visit >= VISIT_NS && visit < VISIT_NS + 2.0 * ns, "{calls} calls of {ns} ns");
            assert_eq!(last, ns);
        }
        // The first call is slow: what it says is not the last word.
        let slow_at_first = |calls, _| Ok(if calls == 1 { 5e5 } else { 100.0 });
        let (calls, _) = calibrate(0.0, slow_at_first).unwrap_or_default();
        assert!(f64::from(calls) * 100.0 >= VISIT_NS);
        assert!(calibrate(0.0, |_, _| Err("gone".to_owned())).is_err());
    }
}
