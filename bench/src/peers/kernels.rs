//! Measures one kernel with all contenders (BENCH-B1 to BENCH-B5).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chipdock_host::{AnyView, Function, Host, HostOptions};
use chipdock_interpret::Arg;
use serde_json::{Value, json};

use super::VISIT_NS;
use super::child::{Child, positive};
use super::judge::Judge;
use super::options::PeersOptions;
use super::report::{Amount, Entry, Goal, TVM};
use crate::Result;
use crate::contest::order;
use chipdock_test_backends::backends::{Backend, present};
use chipdock_test_backends::cases::{Case, Sizes};
use chipdock_test_backends::run;

/// Duration after which a contest ends, if it had [`ROUNDS_MIN`] rounds.
const CONTEST_MAX: Duration = Duration::from_secs(9);
/// Minimum number of rounds, below which quartiles mean little.
const ROUNDS_MIN: usize = 7;

/// Number of parts of a visit that has at least as many calls. The time of the fastest part counts,
/// because disturbances only add time.
const BATCHES: u32 = 5;

/// Size of a memory page. A load waits for an earlier store to the same offset of another page, so
/// offsets within pages change times by tens of percents.
const PAGE_BYTES: usize = 4096;

/// All contenders, each with the same number of threads.
pub struct Session {
    /// Number of threads.
    pub threads: usize,
    /// Host whose code runs with this number of threads.
    pub host: Host,
    /// Chipdock's backends.
    pub backends: Vec<Backend>,
    child: Option<Child>,
    python: PathBuf,
    torch: Option<Child>,
    torch_python: Option<PathBuf>,
    peers: Vec<String>,
}

impl Session {
    /// Opens a host with the plugins; the peers start with the first request.
    ///
    /// # Errors
    ///
    /// There is no plugin or no backend, or the number of threads is too large.
    pub fn open(options: &PeersOptions, threads: usize) -> Result<Self> {
        let plugin_paths = vec![options.plugins.clone()];
        let threads_wanted = u32::try_from(threads).map_err(|_| format!("{threads} threads are too many"))?;
        let host_options =
            HostOptions { plugin_paths, threads: Some(threads_wanted), ..HostOptions::isolated() };
        let host = Host::new(host_options).map_err(|error| error.to_string())?;
        let (backends, absent) = present(&host)?;
        if backends.is_empty() {
            return Err(format!("no backend can be used here: {absent:?}"));
        }
        for absent in absent {
            eprintln!("not here: {}: {}", absent.kind, absent.reason);
        }
        let mut peers = vec![TVM.to_owned(), "numpy".to_owned()];
        peers.extend(options.with.iter().cloned());
        let python = options.python.clone();
        let torch_python = options.torch_python.clone();
        Ok(Self { threads, host, backends, child: None, python, torch: None, torch_python, peers })
    }

    /// Sends a request to the peers, whose process is started if none is running.
    ///
    /// # Errors
    ///
    /// The peers' process cannot be started, or its answer is an error.
    pub fn ask(&mut self, what: &str, request: Value) -> Result<Value> {
        asked(&mut self.child, &self.python, self.threads, what, request)
    }

    /// As [`Self::ask`], the process that has this peer: torch is in a Python of its own.
    fn ask_of(&mut self, peer: &str, what: &str, request: Value) -> Result<Value> {
        if peer != TORCH {
            return self.ask(what, request);
        }
        let python = self.torch_python.as_ref().ok_or("no Python with torch was found")?;
        asked(&mut self.torch, python, self.threads, what, request)
    }

    /// Returns the target kinds of Chipdock's backends.
    #[must_use]
    pub fn ours(&self) -> Vec<String> {
        self.backends.iter().map(|backend| backend.target.kind.clone()).collect()
    }
}

/// Peer that is in a Python of its own.
const TORCH: &str = "torch";

fn asked(
    child: &mut Option<Child>,
    python: &Path,
    threads: usize,
    what: &str,
    request: Value,
) -> Result<Value> {
    if !child.as_mut().is_some_and(Child::is_alive) {
        *child = Some(Child::start(python, threads)?);
    }
    child.as_mut().ok_or("no peers")?.ask(what, request)
}

/// A function compiled by Chipdock, ready to be called.
pub struct Ours {
    /// The function.
    pub function: Function,
    /// The arguments of the function, on its device.
    pub values: Vec<run::Value>,
}

impl Ours {
    /// Returns the offset of each argument within its memory page; 0 for a scalar.
    #[must_use]
    pub fn places(&self) -> Vec<usize> {
        let place = |value: &run::Value| match value {
            run::Value::Tensor(tensor) => tensor.view().data() as usize % PAGE_BYTES,
            _ => 0,
        };
        self.values.iter().map(place).collect()
    }

    /// Returns the nanoseconds per call through the packed entry, after one untimed call: the
    /// fastest of several batches.
    ///
    /// # Errors
    ///
    /// The function fails.
    pub fn nanoseconds(&self, calls: u32) -> Result<f64> {
        run::call(&self.function, &self.values)?;
        self.nanoseconds_cold(calls)
    }

    /// As [`Self::nanoseconds`], without the untimed call: for calls so long that it makes no
    /// difference.
    ///
    /// # Errors
    ///
    /// The function fails.
    pub fn nanoseconds_cold(&self, calls: u32) -> Result<f64> {
        let raw: Vec<_> = self
            .values
            .iter()
            .map(|value| match value {
                run::Value::Tensor(tensor) => AnyView::from(tensor).into_raw(),
                run::Value::Int(value) => AnyView::from(*value).into_raw(),
                run::Value::Float(value) => AnyView::from(*value).into_raw(),
            })
            .collect();
        let object = self.function.value().object().as_ptr().cast();
        let call = self.function.value().safe_call().0;
        let mut failures = 0;
        let (batches, calls) = batches(calls);
        let mut fastest = f64::INFINITY;
        for _ in 0..batches {
            let start = Instant::now();
            for _ in 0..calls {
                let mut result = chipdock_host::Any::NONE.into_raw();
                // SAFETY: `object` is the function's own, the arguments are live, and the result is
                // None.
                let status = unsafe { call(object, raw.as_ptr(), raw.len() as i32, &raw mut result) };
                failures += i32::from(status != 0);
            }
            fastest = fastest.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
        }
        if failures == 0 { Ok(fastest) } else { Err(format!("{failures} calls failed")) }
    }
}

/// A contender: a function of Chipdock, or a peer.
enum Contender {
    Ours(Box<Ours>),
    Peer,
}

impl Contender {
    /// Returns the offset of each tensor of ours within its memory page; the peers' tensors start
    /// at the same offsets (BENCH-B2).
    fn places(&self) -> Vec<usize> {
        match self {
            Self::Ours(ours) => ours.places(),
            Self::Peer => Vec::new(),
        }
    }

    fn visit(&self, session: &mut Session, name: &str, calls: u32) -> Result<f64> {
        match self {
            Self::Ours(ours) => ours.nanoseconds(calls),
            Self::Peer => {
                let (batches, calls) = batches(calls);
                let request = json!({"contender": name, "batches": batches, "calls": calls});
                positive(&session.ask_of(name, "measure", request)?, "ns")
            }
        }
    }
}

/// Divides a visit into parts; returns their number and the number of calls of each.
pub(crate) fn batches(calls: u32) -> (u32, u32) {
    let batches = calls.clamp(1, BATCHES);
    (batches, calls.div_ceil(batches).max(1))
}

/// Measures a kernel.
///
/// # Errors
///
/// The kernel or the interpreter fails; the error of a contender is recorded in the entry.
pub fn measure(session: &mut Session, case: &Case, kernels: &Path, rounds: usize) -> Result<Entry> {
    let module = case.module(kernels)?;
    let function = module.function(case.function).ok_or_else(|| format!("no function {}", case.function))?;
    let arguments = case.arguments(function, case.time)?;
    let judge = Judge::new(case, kernels, &module, &arguments)?;
    let mut absent = BTreeMap::new();
    let mut failed = Vec::new();
    let mut contenders = Vec::new();
    for backend in &session.backends {
        let name = backend.target.kind.clone();
        match ours(&session.host, backend, &module, case.function, &arguments, &judge) {
            Ok(ours) => contenders.push((name, Contender::Ours(Box::new(ours)))),
            Err(why) => {
                failed.push(name.clone());
                absent.insert(name, why);
            }
        }
    }
    let path = kernels.join(format!("{}.py", case.file));
    let places = contenders.first().map_or(Vec::new(), |(_, contender)| contender.places());
    let answers = prepare(session, &path, case.function, &arguments, &judge, &places)?;
    for (name, state) in answers {
        match state {
            Peer::Ready => contenders.push((name, Contender::Peer)),
            Peer::Without(why) => drop(absent.insert(name, why)),
            Peer::Failed(why) => {
                failed.push(name.clone());
                absent.insert(name, why);
            }
        }
    }
    let rounds = contest(session, &contenders, rounds)?;
    let work = Some(Amount { amount: case.amount(function, case.time), unit: case.unit().to_owned() });
    let entry = Entry::of_rounds(&case.name(), session.threads, &session.ours(), &rounds);
    Ok(Entry { sizes: sizes(case.time), work, goal: Goal::NoSlowerThanTvm, absent, failed, ..entry })
}

fn sizes(sizes: Sizes) -> String {
    if sizes.is_empty() {
        return "its own".to_owned();
    }
    sizes.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

fn ours(
    host: &Host,
    backend: &Backend,
    module: &chipdock_ir::IrModule,
    name: &str,
    arguments: &[Arg],
    judge: &Judge,
) -> Result<Ours> {
    let function = run::build(host, backend, module)?.function(name).map_err(|error| error.to_string())?;
    let values = run::upload(backend, arguments)?;
    run::call(&function, &values)?;
    judge.hold(|parameter| match values.get(parameter) {
        Some(run::Value::Tensor(tensor)) => tensor.to_bytes().map_err(|error| error.to_string()),
        _ => Err(format!("parameter {parameter} is no tensor")),
    })?;
    Ok(Ours { function, values })
}

/// State of a peer for a kernel: ready, without the operation, or failed.
enum Peer {
    Ready,
    Without(String),
    Failed(String),
}

/// Describes arguments in the form that the peers read, with tensors in files of `folder`.
pub(crate) fn described(arguments: &[Arg], places: &[usize], folder: &Path) -> Result<Vec<Value>> {
    let one = |(k, argument): (usize, &Arg)| {
        Ok(match argument {
            Arg::Tensor(array) => {
                let file = folder.join(format!("in.{k}"));
                fs::write(&file, &array.data).map_err(|error| format!("{}: {error}", file.display()))?;
                let place = places.get(k).copied().unwrap_or(0);
                json!({"dtype": array.dtype.to_string(), "shape": array.shape, "file": file, "place": place})
            }
            Arg::Int(value) => json!({"int": i64::try_from(*value).unwrap_or_default()}),
            Arg::Float(value) => json!({"float": value}),
        })
    };
    arguments.iter().enumerate().map(one).collect()
}

/// Gives the peers their arguments, and checks their results.
fn prepare(
    session: &mut Session,
    path: &Path,
    function: &str,
    arguments: &[Arg],
    judge: &Judge,
    places: &[usize],
) -> Result<Vec<(String, Peer)>> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let described = described(arguments, places, folder.path())?;
    let peers = session.peers.clone();
    let mut ask = |of: &str, wanted: Vec<&String>| {
        let request = json!({"path": path, "function": function, "arguments": described,
                             "contenders": wanted, "out": folder.path()});
        session.ask_of(of, "prepare", request)
    };
    let (torch, others): (Vec<&String>, Vec<&String>) = peers.iter().partition(|name| *name == TORCH);
    let answer = ask(TVM, others);
    let torch = if torch.is_empty() { Ok(json!({})) } else { ask(TORCH, torch) };
    let state = |name: &str| {
        let answer = match if name == TORCH { &torch } else { &answer } {
            Ok(answer) => answer,
            Err(why) => return Peer::Failed(why.clone()),
        };
        let said = |key: &str| answer[key].get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(why) = said("absent") {
            return Peer::Without(why);
        }
        if let Some(why) = said("failed") {
            return Peer::Failed(why);
        }
        let held = judge.hold(|parameter| {
            let file = folder.path().join(format!("{name}.{parameter}"));
            fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
        });
        held.map_or_else(Peer::Failed, |()| Peer::Ready)
    };
    Ok(peers.iter().map(|name| (name.clone(), state(name))).collect())
}

/// Measures the times of every contender in order of rounds (BENCH-B3).
fn contest(
    session: &mut Session,
    contenders: &[(String, Contender)],
    rounds: usize,
) -> Result<Vec<(String, Vec<f64>)>> {
    let mut calls = Vec::new();
    for (name, contender) in contenders {
        calls.push(calibrate(|n| contender.visit(session, name, n)).map_err(|why| format!("{name}: {why}"))?);
    }
    let mut times: Vec<(String, Vec<f64>)> =
        contenders.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    let start = Instant::now();
    for round in 0..rounds {
        if round >= ROUNDS_MIN && start.elapsed() > CONTEST_MAX {
            break;
        }
        for index in order(contenders.len(), round) {
            let (name, contender) = &contenders[index];
            let ns = contender.visit(session, name, calls[index]).map_err(|why| format!("{name}: {why}"))?;
            times[index].1.push(ns);
        }
    }
    Ok(times)
}

/// Returns the number of calls that take [`VISIT_NS`].
pub(crate) fn calibrate(mut visit: impl FnMut(u32) -> Result<f64>) -> Result<u32> {
    let mut calls = 1_u32;
    loop {
        let ns = visit(calls)?.max(1.0);
        let wanted = (VISIT_NS / ns).ceil().clamp(1.0, 1e7) as u32;
        // A short visit is only a rough estimate, so it is followed by a longer one.
        if wanted <= calls.saturating_mul(8) {
            return Ok(wanted);
        }
        calls = wanted.min(calls.saturating_mul(100));
    }
}

/// Function that makes a visit and returns nanoseconds per call.
pub(super) type Visit<'a> = &'a dyn Fn(&mut Session) -> Result<f64>;

/// Runs the rounds of contenders that are closures, for figures other than kernels.
///
/// # Errors
///
/// A contender fails.
pub(super) fn rounds_of(
    session: &mut Session,
    contenders: &[(String, Visit<'_>)],
    rounds: usize,
) -> Result<Vec<(String, Vec<f64>)>> {
    let mut times: Vec<(String, Vec<f64>)> =
        contenders.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for (name, visit) in contenders {
        visit(session).map_err(|why| format!("{name}: {why}"))?;
    }
    for round in 0..rounds {
        for index in order(contenders.len(), round) {
            let (name, visit) = &contenders[index];
            times[index].1.push(visit(session).map_err(|why| format!("{name}: {why}"))?);
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_all_calls() {
        for calls in [1, 2, 5, 6, 1000] {
            let (batches, each) = batches(calls);
            assert!(batches * each >= calls && batches * each < calls + BATCHES, "{batches} of {each}");
        }
    }

    #[test]
    fn a_visit_is_long_enough_whatever_a_call_takes() {
        for ns in [20.0, 3e3, 1e6, 4e7] {
            let calls = calibrate(|_| Ok(ns)).unwrap_or(0);
            let visit = f64::from(calls) * ns;
            assert!(visit >= VISIT_NS && visit < VISIT_NS + 2.0 * ns, "{calls} calls of {ns} ns");
        }
        // The first call is slow: what it says is not the last word.
        let calls = calibrate(|calls| Ok(if calls == 1 { 5e5 } else { 100.0 })).unwrap_or(0);
        assert!(f64::from(calls) * 100.0 >= VISIT_NS);
        assert!(calibrate(|_| Err("gone".to_owned())).is_err());
    }
}
