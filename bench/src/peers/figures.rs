//! Measures figures besides kernels: compile latency, a packed call, fork and join, and the
//! machine's own limits.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use chipdock_host::{Host, HostOptions};
use chipdock_ir::IrModule;
use serde_json::{Value, json};

use super::child::positive;
use super::kernels::{Ours, Session, Visit, batches, calibrate, described, rounds_of};
use super::options::PeersOptions;
use super::report::{Entry, GOALS_OF, Goal, Limit, TVM};
use crate::Result;
use crate::contest::{median, ns_per_call};
use crate::fork;
use crate::limits::{self, Stores};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::{arguments, read_module, symbols};
use chipdock_test_backends::run;

/// Time from a module in memory to a callable function, with plugin and compiler already open.
pub const COMPILE: &str = "compile vector_add, IR to callable";
/// Additional time of the first build of a process.
pub const FIRST: &str = "first build of a process, beyond a later one";
/// Time of a packed call of a kernel that does almost nothing.
pub const CALL: &str = "packed call of a 16-element add";
/// Time of a parallel region of two tasks that do almost nothing; Chipdock may run both on the
/// caller if no other thread begins.
pub const FORK: &str = "packed call of a parallel loop of two";
/// Time of a region in which two threads wait for each other, launched as compiled code does.
pub const MEET: &str = "fork and join of two threads, hot";

/// Goals of the target `llvm`: 13 ms for [`COMPILE`], and 1 µs for [`MEET`].
const COMPILE_MAX_NS: f64 = 13e6;
const MEET_MAX_NS: f64 = 1e3;

/// Argument that makes the program build in a fresh process; followed by the target kind and the
/// folder of plugins.
pub const FIRST_BUILD: &str = "--first-build";

const SMALL: &str = "from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add_16(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):
        T.func_attr({\"tirx.noalias\": True})
        for i in range(16):
            with T.sblock(\"C\"):
                vi = T.axis.spatial(16, i)
                C[vi] = A[vi] + B[vi]

    @T.prim_func(s_tir=True)
    def fork(A: T.Buffer((64,), \"float32\")):
        T.func_attr({\"tirx.noalias\": True})
        for i in T.parallel(2):
            with T.sblock(\"A\"):
                vi = T.axis.spatial(2, i)
                A[vi * 32] = A[vi * 32] + T.float32(1)
";

/// Measures the figure of that name; returns `None` for an unknown name.
///
/// # Errors
///
/// A contender fails, or a file cannot be written.
pub fn measure(
    session: &mut Session,
    options: &PeersOptions,
    kernels: &Path,
    name: &str,
) -> Result<Option<Entry>> {
    let rounds = options.rounds;
    Ok(match name {
        COMPILE => Some(compile(session, kernels, rounds)?),
        FIRST => Some(first(session, options)?),
        CALL => Some(small(session, CALL, "add_16", Goal::None, rounds)?),
        FORK => Some(small(session, FORK, "fork", Goal::None, rounds)?),
        MEET => Some(meet(session)?),
        _ => None,
    })
}

/// Returns the names of the figures that are measured with that number of threads.
#[must_use]
pub fn names(threads: usize) -> &'static [&'static str] {
    match threads {
        1 => &[COMPILE, FIRST, CALL],
        2 => &[MEET, FORK],
        _ => &[],
    }
}

fn compile(session: &mut Session, kernels: &Path, rounds: usize) -> Result<Entry> {
    let path = kernels.join("vector_add.py");
    let module = read_module(&path)?;
    let tvm = |session: &mut Session| {
        positive(&session.ask("compile", json!({"path": path, "function": "vector_add"}))?, "ns")
    };
    let builds: Vec<_> = (0..session.backends.len())
        .map(|index| {
            let module = &module;
            move |session: &mut Session| build_once(&session.host, &session.backends[index], module)
        })
        .collect();
    let ours = session.ours();
    let mut contenders: Vec<(String, Visit<'_>)> = Vec::new();
    for (name, build) in ours.iter().zip(&builds) {
        contenders.push((name.clone(), build));
    }
    contenders.push((TVM.to_owned(), &tvm));
    let times = rounds_of(session, &contenders, rounds)?;
    let entry = Entry::of_rounds(COMPILE, session.threads, &ours, &times);
    Ok(Entry { goal: Goal::AtMostNs(COMPILE_MAX_NS), sizes: "its own".to_owned(), ..entry })
}

fn build_once(host: &Host, backend: &Backend, module: &IrModule) -> Result<f64> {
    let start = Instant::now();
    let function =
        run::build(host, backend, module)?.function("vector_add").map_err(|error| error.to_string())?;
    let ns = start.elapsed().as_secs_f64() * 1e9;
    drop(function);
    Ok(ns)
}

/// Measures the first build of five fresh processes, each less the median of later builds in the
/// same process.
fn first(session: &Session, options: &PeersOptions) -> Result<Entry> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut times = Vec::new();
    for kind in session.ours() {
        let mut more = Vec::new();
        for _ in 0..5 {
            let mut command = Command::new(&program);
            command.arg(FIRST_BUILD).arg(&kind).arg(&options.plugins);
            let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
            let answer: Value = serde_json::from_slice(&output.stdout)
                .map_err(|_| format!("the first build: {}", String::from_utf8_lossy(&output.stderr)))?;
            more.push(positive(&answer, "first_ns")? - positive(&answer, "later_ns")?);
        }
        times.push((kind, more));
    }
    let entry = Entry::of_rounds(FIRST, session.threads, &session.ours(), &times);
    Ok(Entry { sizes: "its own".to_owned(), ..entry })
}

/// Measures, in a fresh process for [`FIRST`], the first build with nothing open, and the median of
/// later builds.
///
/// # Errors
///
/// The target is not available here, or the build fails.
pub fn first_build(kind: &str, plugins: &Path, kernels: &Path) -> Result<Value> {
    let module = read_module(&kernels.join("vector_add.py"))?;
    let plugin_paths = vec![plugins.to_path_buf()];
    let host =
        Host::new(HostOptions { plugin_paths, ..HostOptions::isolated() }).map_err(|e| e.to_string())?;
    let start = Instant::now();
    let target = host.target(kind).map_err(|error| error.to_string())?;
    let device = host.device("cpu", 0).map_err(|error| error.to_string())?;
    let capabilities = (**target.capabilities()).clone();
    let backend = Backend {
        target: Arc::clone(target.target()),
        device,
        device_name: String::new(),
        capabilities,
        configuration: String::new(),
        refuses: Vec::new(),
    };
    build_once(&host, &backend, &module)?;
    let first = start.elapsed().as_secs_f64() * 1e9;
    let later = (0..5).map(|_| build_once(&host, &backend, &module)).collect::<Result<Vec<f64>>>()?;
    Ok(json!({"first_ns": first, "later_ns": median(later)}))
}

/// Measures the launch of the thread pool, which all targets share. Short rounds, because on a busy
/// machine most of them are undisturbed.
fn meet(session: &Session) -> Result<Entry> {
    let host = Host::new(HostOptions { threads: Some(2), ..HostOptions::isolated() });
    let host = host.map_err(|error| error.to_string())?;
    fork::launch(&host);
    let ns = (0..1001).map(|_| ns_per_call(100, || fork::launch(&host))).collect();
    let ours = [GOALS_OF.to_owned()];
    let entry = Entry::of_rounds(MEET, session.threads, &ours, &[(GOALS_OF.to_owned(), ns)]);
    Ok(Entry { goal: Goal::AtMostNs(MEET_MAX_NS), sizes: "its own".to_owned(), ..entry })
}

/// Measures a function of [`SMALL`].
fn small(session: &mut Session, name: &str, function: &str, goal: Goal, rounds: usize) -> Result<Entry> {
    let folder = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let path = folder.path().join("small.py");
    std::fs::write(&path, SMALL).map_err(|error| format!("{}: {error}", path.display()))?;
    let module = read_module(&path)?;
    let declared = module.function(function).ok_or("no such function in the small module")?;
    let args = arguments(declared, &symbols(&[]))?;
    let mut made = Vec::new();
    for backend in &session.backends {
        let built = run::build(&session.host, backend, &module)?;
        let function = built.function(function).map_err(|error| error.to_string())?;
        made.push(Ours { function, values: run::upload(backend, &args)? });
    }
    let places = made.first().map_or(Vec::new(), Ours::places);
    let described = described(&args, &places, folder.path())?;
    let request = json!({"path": path, "function": function, "arguments": described,
                         "contenders": [TVM], "out": folder.path()});
    let answer = session.ask("prepare", request)?;
    if answer["ready"] != json!([TVM]) {
        return Err(format!("{TVM}: {}", answer["failed"]));
    }
    let tvm = |session: &mut Session, calls: u32| {
        let (batches, calls) = batches(calls);
        let request = json!({"contender": TVM, "batches": batches, "calls": calls});
        positive(&session.ask("measure", request)?, "ns")
    };
    let tvm_calls = calibrate(|calls| tvm(session, calls))?;
    let peer = |session: &mut Session| tvm(session, tvm_calls);
    let mut visits = Vec::new();
    for ours in &made {
        let calls = calibrate(|calls| ours.nanoseconds(calls))?;
        visits.push(move |_: &mut Session| ours.nanoseconds(calls));
    }
    let ours = session.ours();
    let mut contenders: Vec<(String, Visit<'_>)> = Vec::new();
    for (name, visit) in ours.iter().zip(&visits) {
        contenders.push((name.clone(), visit));
    }
    contenders.push((TVM.to_owned(), &peer));
    let times = rounds_of(session, &contenders, rounds)?;
    let entry = Entry::of_rounds(name, session.threads, &ours, &times);
    Ok(Entry { goal, sizes: "its own".to_owned(), ..entry })
}

/// Name of the fused multiply-add peak.
pub const FMA: &str = "FMA peak, float32";

/// Measures the machine's limits for that number of threads.
#[must_use]
pub fn limits(threads: usize) -> Vec<Limit> {
    const NEAR: usize = 12 << 20;
    let far = (2 * last_level_cache_bytes()).clamp(256 << 20, 1 << 30);
    let mut all = vec![Limit {
        name: FMA.to_owned(),
        threads,
        value: limits::fma_gflops(threads, 9),
        unit: "GFLOP/s".to_owned(),
    }];
    for (place, size_bytes, rounds) in [("12 MiB", NEAR, 25), ("memory", far, 5)] {
        for (name, stores) in [("plain", Stores::Plain), ("non-temporal", Stores::NonTemporal)] {
            if let Some(value) = limits::copy_gbps(stores, size_bytes, threads, rounds) {
                let name = format!("copy within {place}, {name} stores");
                all.push(Limit { name, threads, value, unit: "GB/s".to_owned() });
            }
        }
    }
    all
}

/// Returns the size of the largest cache; 0 if the system does not report it.
fn last_level_cache_bytes() -> usize {
    let size = |index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let text = std::fs::read_to_string(path).ok()?;
        let kib: usize = text.trim().strip_suffix('K')?.parse().ok()?;
        Some(kib * 1024)
    };
    (0..5).filter_map(size).max().unwrap_or(0)
}
