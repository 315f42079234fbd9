//! The contenders of a row: functions of Chipdock, peers, and the machine's limit.

use std::time::Instant;

use chipdock_host::{AnyView, Function};
use chipdock_test_backends::run;
use serde_json::json;

use super::child::positive;
use super::peaks::peak;
use super::rows::Work;
use super::session::Session;
use super::streams::Streams;
use crate::Result;

/// Name of the machine's limit as a contender.
pub const LIMIT: &str = "limit";

/// Calls at least this long are not preceded by one that is not timed, in nanoseconds.
const LONG_NS: f64 = 2e8;

/// Number of parts of a visit that has at least as many calls. The time of the fastest part counts,
/// because disturbances only add time.
const BATCHES: u32 = 5;

/// Size of a memory page. A load waits for an earlier store to the same offset of another page, so
/// offsets within pages change times by tens of percents.
const PAGE_BYTES: usize = 4096;

/// The machine's limit for the work of a row, as a time.
pub enum Limit {
    /// Streams of memory: what they are, in words.
    Streams(Box<Streams>, String),
    /// Arithmetic in registers.
    Arithmetic(Work, String),
}

impl Limit {
    /// Makes the limit of that work; `None` for work without one.
    #[must_use]
    pub fn new(work: Work, threads: usize) -> Option<Self> {
        let Work::Streams { reads, writes, bytes } = work else {
            let (_, name) = peak(work, threads)?;
            return Some(Self::Arithmetic(work, name.to_owned()));
        };
        let streams = Streams::new(reads, writes, bytes, threads);
        let name = format!("{reads} read, {writes} written, {} MiB each", bytes >> 20);
        Some(Self::Streams(Box::new(streams), name))
    }

    /// Returns what is measured, in words.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Streams(_, name) | Self::Arithmetic(_, name) => name,
        }
    }

    /// Returns the nanoseconds that the work takes at the limit.
    ///
    /// # Errors
    ///
    /// The work has no limit.
    pub fn nanoseconds(&self, calls: u32, threads: usize) -> Result<f64> {
        match self {
            Self::Streams(streams, _) => Ok(streams.nanoseconds(calls)),
            Self::Arithmetic(work, _) => {
                let (rate, _) = peak(*work, threads).ok_or("no rate was measured")?;
                Ok(work.amount().0 / rate)
            }
        }
    }
}

/// A function compiled by Chipdock, ready to be called.
pub struct Ours {
    /// The function.
    pub function: Function,
    /// The arguments of the function, on its device.
    pub values: Vec<run::Value>,
}

impl Ours {
    /// Returns the offset of each argument within its memory page; 0 for a scalar. The peers'
    /// tensors start at the same offsets (SPEED-2).
    #[must_use]
    pub fn page_offsets(&self) -> Vec<usize> {
        let offset = |value: &run::Value| match value {
            run::Value::Tensor(tensor) => tensor.view().data() as usize % PAGE_BYTES,
            _ => 0,
        };
        self.values.iter().map(offset).collect()
    }

    /// Returns the nanoseconds per call through the packed entry, the fastest of several batches;
    /// after one untimed call unless `cold`.
    ///
    /// # Errors
    ///
    /// The function fails.
    pub fn nanoseconds(&self, calls: u32, cold: bool) -> Result<f64> {
        if !cold {
            run::call(&self.function, &self.values)?;
        }
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

/// Divides a visit into parts; returns their number and the number of calls of each.
fn batches(calls: u32) -> (u32, u32) {
    let batches = calls.clamp(1, BATCHES);
    (batches, calls.div_ceil(batches).max(1))
}

/// Makes so many calls, and returns the nanoseconds of each.
pub type Timed = Box<dyn Fn(&mut Session, u32) -> Result<f64>>;

/// A contender.
pub enum Kind {
    /// A function of Chipdock.
    Ours(Box<Ours>),
    /// A peer in the process of that group.
    Peer(usize),
    /// The machine's limit.
    Limit(Limit),
    /// Any other: nanoseconds per call of so many calls.
    Other(Timed),
}

/// A contender with its name and number of threads.
pub struct Contender {
    /// Name: a target kind, a peer, or [`LIMIT`].
    pub who: String,
    /// Number of threads.
    pub threads: usize,
    /// Nanoseconds that a call has taken before the contest; 0 if none was timed.
    pub before_ns: f64,
    /// What is called.
    pub kind: Kind,
}

impl Contender {
    /// Makes a contender of which no call was timed yet.
    #[must_use]
    pub fn new(who: &str, threads: usize, kind: Kind) -> Self {
        Self { who: who.to_owned(), threads, before_ns: 0.0, kind }
    }

    /// Returns the nanoseconds per call of a visit of so many calls; `last` is what a call took
    /// before.
    ///
    /// # Errors
    ///
    /// The contender fails.
    pub fn visit(&self, session: &mut Session, calls: u32, last: f64) -> Result<f64> {
        let cold = last >= LONG_NS;
        match &self.kind {
            Kind::Ours(ours) => ours.nanoseconds(calls, cold),
            Kind::Peer(group) => {
                let (batches, calls) = batches(calls);
                let request =
                    json!({"contender": self.who, "batches": batches, "calls": calls, "cold": cold});
                positive(&session.ask(*group, self.threads, "measure", request)?, "ns")
            }
            Kind::Limit(limit) => limit.nanoseconds(calls, self.threads),
            Kind::Other(visit) => visit(session, calls),
        }
    }
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
}
