//! The contenders of a row: functions of Chipdock, peers, and the machine's limit.

use serde_json::json;

use super::rows::Work;
use super::session::Session;
use super::streams::Streams;
use crate::Result;
use crate::limits::{self, Stores};
use crate::peers::child::positive;
use crate::peers::kernels::{Ours, batches};

/// Name of the machine's limit as a contender.
pub const LIMIT: &str = "limit";

/// Calls at least this long are not preceded by one that is not timed, in nanoseconds.
const LONG_NS: f64 = 2e8;

/// The machine's limit for the work of a row, as a time.
pub enum Limit {
    /// Streams of memory.
    Streams(Box<Streams>, Work),
    /// Fused multiply-adds in registers: number of operations of a call.
    Arithmetic(f64),
}

impl Limit {
    /// Makes the limit of that work.
    #[must_use]
    pub fn new(work: Work, threads: usize) -> Self {
        match work {
            Work::Streams { reads, writes, bytes } => {
                Self::Streams(Box::new(Streams::new(reads, writes, bytes, threads)), work)
            }
            Work::MultiplyAdds(_) | Work::ByteMultiplyAdds(_) | Work::Bf16MultiplyAdds(_) => {
                Self::Arithmetic(work.amount().0)
            }
        }
    }

    /// Returns what is measured, in words.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Streams(streams, Work::Streams { reads, writes, bytes }) => {
                let stores = match streams.stores() {
                    Stores::NonTemporal => ", non-temporal stores",
                    Stores::Plain => "",
                };
                format!("{reads} read, {writes} written, {} MiB each{stores}", bytes >> 20)
            }
            Self::Streams(..) | Self::Arithmetic(_) => "FMA peak, float32".to_owned(),
        }
    }
}

/// A contender.
pub enum Kind {
    /// A function of Chipdock.
    Ours(Box<Ours>),
    /// A peer in the process of that group.
    Peer(usize),
    /// The machine's limit.
    Limit(Limit),
}

/// A contender with its name and number of threads.
pub struct Contender {
    /// Name: a target kind, a peer, or [`LIMIT`].
    pub who: String,
    /// Number of threads.
    pub threads: usize,
    /// What is called.
    pub kind: Kind,
}

impl Contender {
    /// Returns the nanoseconds per call of a visit of so many calls; `last` is what a call took before.
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
            Kind::Limit(Limit::Streams(streams, _)) => Ok(streams.nanoseconds(calls)),
            Kind::Limit(Limit::Arithmetic(amount)) => Ok(amount / limits::fma_gflops(self.threads, 1)),
        }
    }
}
