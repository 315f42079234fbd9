//! Measures code generators: the time from a module at the stage that they take to the artifact,
//! through the boundary.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use chipdock_host::{CompileOptions, Host};
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::cases::CASES;
use chipdock_test_support::workspace;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::super::Result;
use super::super::contest::median;
use super::Figure;

/// The example that counts alone.
const ADD: &str = "vector_add";
/// Number of compilations of each example, of which the median counts.
const TRIES: usize = 21;
/// The largest times in ms that reach the goals of target `vulkan`: of the addition, and of the
/// slowest example.
const GOALS: [f64; 2] = [1.0, 5.0];

/// Measures the time of the code generator for the addition and for the slowest example.
///
/// # Errors
///
/// An example cannot be read or compiled.
pub(super) fn measure(host: &Host, backend: &Backend) -> Result<Vec<Figure>> {
    let folder = workspace().join("examples/kernels");
    let mut times = Vec::new();
    for case in CASES {
        // An example of several functions is listed once for each.
        if times.iter().all(|(file, _)| *file != case.file) {
            times.push((case.file, of_module(host, backend, &case.module(&folder)?)?));
        }
    }
    let add = times.iter().find(|(file, _)| *file == ADD).ok_or("no addition among the examples")?.1;
    let (slowest, most) =
        times.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).ok_or("no examples")?;
    let goals = (backend.target.kind == "vulkan").then_some(GOALS);
    let figure = |name, ms: f64, what: &str, goal| Figure {
        name,
        measured: format!("{ms:.3}{what}"),
        value: ms,
        goal,
    };
    Ok(vec![
        figure("device code of the addition from its module, ms", add, "", goals.map(|goals| goals[0])),
        figure(
            "device code of the slowest example from its module, ms",
            most,
            &format!(" ({slowest})"),
            goals.map(|goals| goals[1]),
        ),
    ])
}

/// Returns the median time in ms.
fn of_module(host: &Host, backend: &Backend, module: &IrModule) -> Result<f64> {
    let options = CompileOptions::default();
    let once = || {
        let clock = Clock::new(&backend.target.kind);
        let dispatch = tracing::Dispatch::new(clock);
        let compiled = tracing::dispatcher::with_default(&dispatch, || {
            host.compile(module, &backend.target, &options).map_err(|error| error.to_string())
        });
        compiled.map(drop)?;
        let clock = dispatch.downcast_ref::<Clock>().ok_or("no clock")?;
        Ok(clock.took().as_secs_f64() * 1e3)
    };
    // The first opens the plugin.
    once()?;
    (0..TRIES).map(|_| once()).collect::<Result<Vec<f64>>>().map(median)
}

/// Adds up the time of the host's spans `write_ir` and `build` of one target kind: the module is
/// written, and the code generator makes an artifact of it.
struct Clock {
    kind: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    began: Option<Instant>,
    took: Duration,
}

/// The ids of spans: those of the target kind, and others.
const OWN: u64 = 1;
const OTHER: u64 = 2;

impl Clock {
    fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), state: Mutex::default() }
    }

    fn took(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).took
    }
}

/// Whether a span's field `target` is the kind.
struct IsOf<'a>(&'a str, bool);

impl Visit for IsOf<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.1 |= field.name() == "target" && value == self.0;
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Clock {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && matches!(metadata.name(), "write_ir" | "build")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut is_own = IsOf(&self.kind, false);
        span.record(&mut is_own);
        Id::from_u64(if is_own.1 { OWN } else { OTHER })
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        if span.into_u64() == OWN {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).began = Some(Instant::now());
        }
    }

    fn exit(&self, span: &Id) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if span.into_u64() == OWN
            && let Some(began) = state.began.take()
        {
            state.took += began.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only spans of that kind count, and each by its own time.
    #[test]
    fn a_clock_adds_up_its_own_spans() {
        let dispatch = tracing::Dispatch::new(Clock::new("vulkan"));
        let pause = Duration::from_millis(5);
        tracing::dispatcher::with_default(&dispatch, || {
            tracing::debug_span!("write_ir", target = "vulkan").in_scope(|| std::thread::sleep(pause));
            tracing::info_span!("build", target = "vulkan").in_scope(|| std::thread::sleep(pause));
            tracing::info_span!("build", target = "c").in_scope(|| std::thread::sleep(20 * pause));
            tracing::info_span!("load", target = "vulkan").in_scope(|| std::thread::sleep(20 * pause));
        });
        let took = dispatch.downcast_ref::<Clock>().unwrap().took();
        assert!((2 * pause..20 * pause).contains(&took), "{took:?}");
    }
}
