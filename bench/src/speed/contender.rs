//! The contenders of a row: functions of Chipdock, peers, and the machine's limit.

use serde_json::json;

use super::peaks::peak;
use super::rows::Work;
use super::session::Session;
use super::streams::Streams;
use crate::Result;
use crate::peers::child::positive;
use crate::peers::kernels::{Ours, batches};

/// Name of the machine's limit as a contender.
pub const LIMIT: &str = "limit";

/// Calls at least this long are not preceded by one that is not timed, in nanoseconds.
const LONG_NS: f64 = 2e8;

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
    /// Returns the nanoseconds per call of a visit of so many calls; `last` is what a call took
    /// before.
    ///
    /// # Errors
    ///
    /// The contender fails.
    pub fn visit(&self, session: &mut Session, calls: u32, last: f64) -> Result<f64> {
        let cold = last >= LONG_NS;
        match &self.kind {
            Kind::Ours(ours) if cold => ours.nanoseconds_cold(calls),
            Kind::Ours(ours) => ours.nanoseconds(calls),
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
