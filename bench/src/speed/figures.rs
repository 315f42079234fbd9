//! Rows that are no kernels: compiling one, the first build of a process, a bare call against
//! a packed one, and the launch of a parallel region.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use chipdock_host::{Host, HostOptions};
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::read_module;
use chipdock_test_backends::run;
use serde_json::{Value, json};

use super::child::positive;
use super::contender::{Contender, Kind};
use super::measure::contest;
use super::report::{Entry, GOALS_OF, Said, TVM, Times};
use super::rows::{BARE, Row, example_kernels};
use super::session::Session;
use crate::Result;
use crate::contest::{median, ns_per_call};
use crate::fork;
use crate::packed::{ELEMENTS, compile_bare};

/// Argument that makes the program build in a fresh process; followed by the target kind and the
/// folder of plugins.
pub const FIRST_BUILD: &str = "--first-build";

/// Makes the bare call: the loop of 16 additions by the system's compiler.
///
/// # Errors
///
/// There is no compiler.
pub fn bare(threads: usize) -> Result<Contender> {
    let library = compile_bare()?;
    let visit = move |_: &mut Session, calls: u32| {
        // SAFETY: the library just compiled holds this function with this signature.
        let add: libloading::Symbol<'_, unsafe extern "C" fn(*const f32, *const f32, *mut f32, i32)> =
            unsafe { library.get("add") }.map_err(|error| error.to_string())?;
        let mut data = [[0.0_f32; ELEMENTS as usize]; 3];
        let [a, b, c] = &mut data;
        fastest(5, || {
            Ok(ns_per_call(calls.div_ceil(5).max(1), || {
                // SAFETY: all three pointers are to arrays of 16 floats.
                unsafe { add(a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), std::hint::black_box(16)) }
            }))
        })
    };
    Ok(Contender::new(BARE, threads, Kind::Other(Box::new(visit))))
}

/// Returns the least of so many times.
fn fastest(count: u32, mut once: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..count).try_fold(f64::INFINITY, |fastest, _| Ok(fastest.min(once()?)))
}

/// Measures a row of compiling, with the first number of threads: nothing is in a cache.
///
/// # Errors
///
/// A build fails.
pub fn compile(session: &mut Session, row: &Row, rounds: usize) -> Result<Vec<Entry>> {
    let path = row.path();
    let function = row.function();
    let module = read_module(&path)?;
    let Some(lane) = session.lanes.first() else { return Ok(Vec::new()) };
    let threads = lane.threads;
    let mut contenders = Vec::new();
    for (index, backend) in lane.backends.iter().enumerate() {
        let module = module.clone();
        let visit = move |session: &mut Session, calls: u32| {
            let lane = session.lanes.first().ok_or("no host")?;
            let backend = lane.backends.get(index).ok_or("no backend")?;
            fastest(calls, || build_once(&lane.host, backend, &module, function))
        };
        contenders.push(Contender::new(&backend.target.kind, threads, Kind::Other(Box::new(visit))));
    }
    let request = json!({"path": path, "function": function});
    let visit = move |session: &mut Session, calls: u32| {
        fastest(calls, || positive(&session.ask(0, threads, "compile", request.clone())?, "ns"))
    };
    contenders.push(Contender::new(TVM, threads, Kind::Other(Box::new(visit))));
    let times = contest(session, &contenders, rounds)?;
    Ok(vec![Entry::from_times(row, threads, &times, &Said::default())])
}

/// Returns the nanoseconds from a module in memory to a callable function.
fn build_once(host: &Host, backend: &Backend, module: &IrModule, function: &str) -> Result<f64> {
    let start = Instant::now();
    let built = run::build(host, backend, module)?;
    let function = built.function(function).map_err(|error| error.to_string())?;
    let ns = start.elapsed().as_secs_f64() * 1e9;
    drop(function);
    Ok(ns)
}

/// Measures the first build of five fresh processes, each less the median of later builds in the
/// same process.
///
/// # Errors
///
/// A process does not start, or fails.
pub fn first_builds(session: &Session, row: &Row) -> Result<Vec<Entry>> {
    let Some(lane) = session.lanes.iter().find(|lane| row.is_for(lane.threads)) else {
        return Ok(Vec::new());
    };
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut times = Vec::new();
    for backend in &lane.backends {
        let mut ns = Vec::new();
        for _ in 0..5 {
            let mut command = Command::new(&program);
            command.arg(FIRST_BUILD).arg(&backend.target.kind).arg(&session.plugins);
            let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
            let answer: Value = serde_json::from_slice(&output.stdout)
                .map_err(|_| format!("the first build: {}", String::from_utf8_lossy(&output.stderr)))?;
            ns.push(positive(&answer, "first_ns")? - positive(&answer, "later_ns")?);
        }
        times.push(Times { who: backend.target.kind.clone(), threads: lane.threads, ns });
    }
    Ok(vec![Entry::from_times(row, lane.threads, &times, &Said::default())])
}

/// Measures, in a fresh process for [`first_builds`], the first build with nothing open, and the
/// median of later builds.
///
/// # Errors
///
/// The target is not available here, or the build fails.
pub fn first_build(kind: &str, plugins: &Path) -> Result<Value> {
    let module = read_module(&example_kernels().join("vector_add.py"))?;
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
    let build = || build_once(&host, &backend, &module, "vector_add");
    build()?;
    let first = start.elapsed().as_secs_f64() * 1e9;
    let later = (0..5).map(|_| build()).collect::<Result<Vec<f64>>>()?;
    Ok(json!({"first_ns": first, "later_ns": median(later)}))
}

/// Measures the launch of a region in which two threads of the pool, which all targets share, wait
/// for each other. Short rounds, because on a busy machine most of them are undisturbed.
///
/// # Errors
///
/// The host does not open.
pub fn launch(session: &Session, row: &Row) -> Result<Vec<Entry>> {
    if !session.lanes.iter().any(|lane| row.is_for(lane.threads)) {
        return Ok(Vec::new());
    }
    let host = Host::new(HostOptions { threads: Some(2), ..HostOptions::isolated() });
    let host = host.map_err(|error| error.to_string())?;
    fork::launch(&host);
    let ns = (0..1001).map(|_| ns_per_call(100, || fork::launch(&host))).collect();
    let times = [Times { who: GOALS_OF.to_owned(), threads: 2, ns }];
    Ok(vec![Entry::from_times(row, 2, &times, &Said::default())])
}
