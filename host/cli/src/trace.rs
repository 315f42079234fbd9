//! Records spans and events of the host: the file of `--trace` and the table of `--verbose`
//! (CLI-C13).

mod chrome;
mod phases;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::args::GlobalArgs;
use crate::destination::Destination;
use crate::report::{self, Failure, Result};
use crate::streams;
use chrome::TraceFile;
use phases::Phases;

/// Prefix of the crates whose spans are recorded.
const OURS: &str = "chipdock";

/// Does the work of a command while recording it: with `--trace`, all spans go to a file; with
/// `--verbose`, the phases are shown on standard error once the work is done, or has failed.
/// `outputs` are the files that the work writes.
///
/// # Errors
///
/// Those of the work; exit code 1 or 2 when the file of `--trace` cannot be written, before any
/// work is done.
pub(crate) fn observed(
    name: &'static str,
    trace: Option<&Path>,
    outputs: &[&Path],
    global: &GlobalArgs,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let file = trace.map(|path| open(path, outputs)).transpose()?;
    if file.is_none() && !global.verbose {
        return work();
    }
    let recorder = Arc::new(Recorder {
        started: Instant::now(),
        spans: Mutex::default(),
        next: AtomicU64::new(1),
        file: file.map(Mutex::new),
        phases: global.verbose.then(|| Mutex::new(Phases::of_this_thread())),
    });
    // A process has one command.
    let _ = tracing::subscriber::set_global_default(Seen(Arc::clone(&recorder)));
    let done = tracing::info_span!("command", name).in_scope(work);
    recorder.tell(global);
    done
}

/// Opens the file of `--trace`, which must not be an output.
fn open(path: &Path, outputs: &[&Path]) -> Result<TraceFile> {
    let named = outputs.iter().map(|output| ("an output".to_owned(), *output));
    let places = Destination::of_all([("the trace".to_owned(), path)].into_iter().chain(named))?;
    if places[0].is_standard_output() {
        return Err(Failure::input("--trace goes to a file, not to standard output").help("name a file"));
    }
    TraceFile::create(path)
}

/// Recorder of spans and events.
struct Recorder {
    started: Instant,
    spans: Mutex<BTreeMap<u64, Span>>,
    next: AtomicU64,
    file: Option<Mutex<TraceFile>>,
    phases: Option<Mutex<Phases>>,
}

/// An open span.
struct Span {
    metadata: &'static Metadata<'static>,
    /// Fields that were known when it began.
    fields: Fields,
    /// Fields that were recorded later.
    later: Fields,
    has_begun: bool,
    /// Time and thread at which it was last left: its end, unless it is entered again.
    left: Option<(Duration, u64)>,
    holders: usize,
}

/// Fields in their order.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}

impl Span {
    /// Returns its name, with the field that distinguishes it from others of its name; of a path
    /// the last part.
    fn title(&self) -> String {
        let name = self.metadata.name();
        let first = self.metadata.fields().iter().next();
        let text =
            first.and_then(|field| self.fields.text(field.name()).or_else(|| self.later.text(field.name())));
        let last = text.map(|text| text.rsplit('/').next().unwrap_or(text));
        last.map_or_else(|| name.to_owned(), |text| format!("{name} {text}"))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorder {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn phases(&self, span: &Span) -> Option<MutexGuard<'_, Phases>> {
        let phases = self.phases.as_ref().filter(|_| *span.metadata.level() <= Level::DEBUG)?;
        Some(locked(phases))
    }

    fn enter(&self, id: u64) {
        let (now, thread) = (self.now(), chrome::thread());
        let mut spans = locked(&self.spans);
        let Some(span) = spans.get_mut(&id) else { return };
        if let Some(file) = &self.file {
            let mut file = locked(file);
            if let Some((end, on)) = span.left.take() {
                file.end(end, on, &span.later.0);
            }
            file.begin(now, thread, span.metadata.target(), &span.title(), &span.fields.0);
        }
        span.has_begun = true;
        if let Some(mut phases) = self.phases(span) {
            phases.begin(id, span.title(), span.fields.text("plugin").unwrap_or_default(), now);
        }
    }

    fn leave(&self, id: u64) {
        let (now, thread) = (self.now(), chrome::thread());
        let mut spans = locked(&self.spans);
        let Some(span) = spans.get_mut(&id) else { return };
        span.left = Some((now, thread));
        if let Some(mut phases) = self.phases(span) {
            phases.end(id, now);
        }
    }

    /// Closes a span; returns whether that was its end.
    fn close(&self, id: u64) -> bool {
        let mut spans = locked(&self.spans);
        let Some(span) = spans.get_mut(&id) else { return false };
        span.holders = span.holders.saturating_sub(1);
        if span.holders > 0 {
            return false;
        }
        let Some(span) = spans.remove(&id) else { return false };
        if let (Some(file), Some((end, on))) = (&self.file, span.left) {
            locked(file).end(end, on, &span.later.0);
        }
        if let Some(mut phases) = self.phases(&span) {
            phases.close(id, span.title(), &[&span.fields.0, &span.later.0]);
        }
        true
    }

    fn event(&self, event: &Event<'_>) {
        let Some(file) = &self.file else { return };
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_lowercase();
        fields.0.insert("level".to_owned(), level.into());
        let message = fields.0.shift_remove("message");
        let message = message.as_ref().and_then(Value::as_str).unwrap_or_default();
        locked(file).instant(self.now(), chrome::thread(), event.metadata().target(), message, &fields.0);
    }

    /// Writes the report at the end.
    fn tell(&self, global: &GlobalArgs) {
        if let Some(phases) = &self.phases {
            streams::say(&locked(phases).table(report::use_color(global.color(), report::is_watched())));
        }
        let Some(file) = &self.file else { return };
        let file = locked(file);
        if let Some(why) = file.failed() {
            streams::say(&report::labelled("warning", &format!("--trace: the file is not whole: {why}")));
        } else if global.verbose {
            let how = "open it at https://ui.perfetto.dev or in chrome://tracing";
            let what = format!("{}: {} events; {how}", file.path().display(), file.events());
            streams::say(&report::labelled("trace", &what));
        }
    }
}

/// The recorder as a subscriber of `tracing`.
struct Seen(Arc<Recorder>);

impl Subscriber for Seen {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let wanted = self.max_level_hint().unwrap_or(LevelFilter::OFF);
        metadata.target().starts_with(OURS) && *metadata.level() <= wanted
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if self.0.file.is_some() { LevelFilter::TRACE } else { LevelFilter::DEBUG })
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let (metadata, later) = (attributes.metadata(), Fields::default());
        let span = Span { metadata, fields, later, has_begun: false, left: None, holders: 1 };
        locked(&self.0.spans).insert(id, span);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some(span) = locked(&self.0.spans).get_mut(&id.into_u64()) {
            values.record(if span.has_begun { &mut span.later } else { &mut span.fields });
        }
    }

    fn record_follows_from(&self, _id: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.0.event(event);
    }

    fn enter(&self, id: &Id) {
        self.0.enter(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        self.0.leave(id.into_u64());
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(span) = locked(&self.0.spans).get_mut(&id.into_u64()) {
            span.holders += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.0.close(id.into_u64())
    }
}
