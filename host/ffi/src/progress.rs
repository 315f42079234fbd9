//! Progress of a build: the host's spans as steps (FFI-10).

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Instant;

use chipdock_host::OnStep;
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, Error};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::side;

/// A step of a build: what it is, and what it works on.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    name: &'static str,
    detail: String,
}

/// The function that a caller gave, and when the build began.
#[derive(Debug)]
pub(crate) struct Progress {
    function: api::Function,
    start: Instant,
}

impl Progress {
    pub(crate) fn new(function: api::Function) -> Self {
        Self { function, start: Instant::now() }
    }

    /// Calls the function with a step.
    pub(crate) fn report(&self, name: &str, detail: &str) -> Result<(), Error> {
        let (name, detail) = (Any::from(name), Any::from(detail));
        let args = [name.view(), detail.view(), AnyView::from(self.start.elapsed().as_secs_f64())];
        self.function.call(side::callers(), &args).map(drop)
    }

    pub(crate) fn step(&self, step: &Step) -> Result<(), Error> {
        self.report(step.name, &step.detail)
    }
}

/// Sends each step that a code generator names.
pub(crate) fn of_codegens(steps: Sender<Step>) -> OnStep {
    // A sender is not shared between threads.
    let steps = Mutex::new(steps);
    OnStep::new(move |step| {
        let detail = format!("{}: {}", step.target, step.text);
        // Nobody listens any more where the build is given up.
        let _ = steps.lock().map(|steps| steps.send(Step { name: "codegen", detail }));
    })
}

/// Sends each span of the thread on which it is the default.
#[derive(Debug)]
pub(crate) struct Spans {
    steps: Mutex<Sender<Step>>,
    ids: AtomicU64,
}

impl Spans {
    pub(crate) fn new(steps: Sender<Step>) -> Self {
        Self { steps: Mutex::new(steps), ids: AtomicU64::new(1) }
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && *metadata.level() <= Level::DEBUG
    }

    fn max_level_hint(&self) -> Option<tracing::level_filters::LevelFilter> {
        Some(tracing::level_filters::LevelFilter::DEBUG)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut detail = Detail::default();
        span.record(&mut detail);
        let step = Step { name: span.metadata().name(), detail: detail.0 };
        // Nobody listens any more where the build is given up.
        let _ = self.steps.lock().map(|steps| steps.send(step));
        Id::from_u64(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The first text among the fields of a span: a pass, a target, a plugin.
#[derive(Default)]
struct Detail(String);

impl Visit for Detail {
    fn record_str(&mut self, _: &Field, value: &str) {
        if self.0.is_empty() {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
