//! Rows that are no kernels: compiling one, and a bare call beside a packed one.

use std::path::Path;
use std::time::Instant;

use chipdock_test_backends::run;
use serde_json::json;

use super::contender::{Contender, Kind};
use super::measure::contest;
use super::report::{Entry, Said};
use super::rows::{BARE, Row};
use super::session::Session;
use crate::Result;
use crate::packed::{ELEMENTS, compile_bare};
use crate::peers::child::positive;

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
        let mut fastest = f64::INFINITY;
        for _ in 0..5 {
            let ns = crate::contest::ns_per_call(calls.div_ceil(5).max(1), || {
                // SAFETY: all three pointers are to arrays of 16 floats.
                unsafe { add(a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), std::hint::black_box(16)) }
            });
            fastest = fastest.min(ns);
        }
        Ok(fastest)
    };
    Ok(Contender { who: BARE.to_owned(), threads, before_ns: 0.0, kind: Kind::Other(Box::new(visit)) })
}

/// Measures a row of compiling, with the first number of threads: nothing is in a cache.
///
/// # Errors
///
/// A build fails.
pub fn compile(
    session: &mut Session,
    row: &'static Row,
    kernels: &Path,
    rounds: usize,
) -> Result<Vec<Entry>> {
    let path = kernels.join(format!("{}.py", row.file));
    let module = chipdock_test_backends::cases::read_module(&path)?;
    let threads = session.lanes.first().map_or(1, |lane| lane.threads);
    let mut contenders = Vec::new();
    for (index, backend) in session.lanes.first().map_or(&[][..], |lane| &lane.backends).iter().enumerate() {
        let module = module.clone();
        let visit = move |session: &mut Session, calls: u32| {
            let lane = session.lanes.first().ok_or("no host")?;
            let backend = lane.backends.get(index).ok_or("no backend")?;
            let mut fastest = f64::INFINITY;
            for _ in 0..calls {
                let start = Instant::now();
                let built = run::build(&lane.host, backend, &module)?;
                let function = built.function(row.file).map_err(|error| error.to_string())?;
                fastest = fastest.min(start.elapsed().as_secs_f64() * 1e9);
                drop(function);
            }
            Ok(fastest)
        };
        contenders.push(Contender {
            who: backend.target.kind.clone(),
            threads,
            before_ns: 0.0,
            kind: Kind::Other(Box::new(visit)),
        });
    }
    let request = json!({"path": path, "function": row.file});
    let visit = move |session: &mut Session, calls: u32| {
        let mut fastest = f64::INFINITY;
        for _ in 0..calls {
            fastest = fastest.min(positive(&session.ask(0, threads, "compile", request.clone())?, "ns")?);
        }
        Ok(fastest)
    };
    contenders.push(Contender {
        who: "tvm".to_owned(),
        threads,
        before_ns: 0.0,
        kind: Kind::Other(Box::new(visit)),
    });
    let times = contest(session, &contenders, rounds)?;
    Ok(vec![Entry::of_times(row, threads, &times, &Said::default())])
}
