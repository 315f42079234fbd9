//! Records the spans and events of a piece of work, in the order in which they began.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A span, or an event, which has an empty name.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Name of the span.
    pub name: &'static str,
    /// Level of the span or event.
    pub level: Level,
    /// Fields, as text.
    pub fields: BTreeMap<String, String>,
    /// Names of the enclosing spans, the outermost first.
    pub within: Vec<&'static str>,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

#[derive(Clone, Default)]
struct Collector {
    seen: Arc<Mutex<Vec<(u64, Seen)>>>,
    next: Arc<AtomicU64>,
    level: Option<LevelFilter>,
}

thread_local! {
    static WITHIN: RefCell<Vec<(u64, &'static str)>> = const { RefCell::new(Vec::new()) };
}

impl Collector {
    fn seen(&self) -> MutexGuard<'_, Vec<(u64, Seen)>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, name: &'static str, metadata: &Metadata<'_>, record: impl FnOnce(&mut Seen)) -> u64 {
        let within = WITHIN.with_borrow(|within| within.iter().map(|(_, name)| *name).collect());
        let mut seen = Seen { name, level: *metadata.level(), fields: BTreeMap::new(), within };
        record(&mut seen);
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.seen().push((id, seen));
        id
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.level.is_some_and(|level| *metadata.level() <= level)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        self.level
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        Id::from_u64(self.add(metadata.name(), metadata, |seen| attributes.record(seen)))
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        if let Some((_, seen)) = self.seen().iter_mut().find(|(known, _)| *known == id.into_u64()) {
            values.record(seen);
        }
    }

    fn record_follows_from(&self, _id: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.add("", event.metadata(), |seen| event.record(seen));
    }

    fn enter(&self, id: &Id) {
        let seen = self.seen();
        let found = seen.iter().find(|(known, _)| *known == id.into_u64());
        let name = found.map_or("", |(_, seen)| seen.name);
        WITHIN.with_borrow_mut(|within| within.push((id.into_u64(), name)));
    }

    fn exit(&self, id: &Id) {
        let last = WITHIN.with_borrow_mut(Vec::pop);
        assert_eq!(last.map(|(last, _)| last), Some(id.into_u64()), "the spans of a thread nest");
    }
}

/// Runs the work; returns its result and the spans and events of this thread, up to a level.
pub fn seen<R>(level: Level, work: impl FnOnce() -> R) -> (R, Vec<Seen>) {
    let collector = Collector { level: Some(level.into()), ..Collector::default() };
    let done = tracing::subscriber::with_default(collector.clone(), work);
    let seen = collector.seen().drain(..).map(|(_, seen)| seen).collect();
    (done, seen)
}
