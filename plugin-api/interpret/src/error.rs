//! Errors that end a run early.

use std::fmt;
use std::sync::Arc;

use chipdock_ir::Span;

/// An error that ended a run early, with its position. The arguments are as they were before the
/// run.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpretError {
    /// The function that was running; empty if the error is about the call itself.
    pub function: Arc<str>,
    /// Source position of the statement or expression, if known.
    pub span: Span,
    /// The thread that ran, within a launch.
    pub thread: Option<Box<ThreadIndex>>,
    /// Kind of the error.
    pub kind: ErrorKind,
}

/// A thread of a launch: its index per axis, x first; 0 for an axis that is not bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadIndex {
    /// Index of its block within the grid.
    pub block: [u32; 3],
    /// Index within its block.
    pub thread: [u32; 3],
    /// Index among the virtual threads.
    pub virtual_thread: [u32; 3],
}

impl fmt::Display for ThreadIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        write!(f, "thread ({x}, {y}, {z})")?;
        if self.virtual_thread != [0; 3] {
            let [x, y, z] = self.virtual_thread;
            write!(f, ", virtual ({x}, {y}, {z}),")?;
        }
        let [x, y, z] = self.block;
        write!(f, " of block ({x}, {y}, {z})")
    }
}

/// The kind of an error that ended a run. `UnknownFunction`, `Argument` and the three limits are
/// the caller's mistakes; `Unsupported` is code that this interpreter does not run; everything else
/// is a defect of the module.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorKind {
    /// No function of that name.
    UnknownFunction {
        /// The requested name.
        name: String,
        /// The names of the module's functions.
        known: Vec<String>,
    },
    /// An argument that does not fit its parameter.
    Argument {
        /// The parameter; empty if the number of arguments is wrong.
        parameter: String,
        /// Message: what was expected and what was found.
        message: String,
    },
    /// An index outside of its buffer.
    OutOfBounds {
        /// The buffer.
        buffer: Arc<str>,
        /// The index per axis.
        indices: Vec<i64>,
        /// The extent per axis.
        shape: Vec<i64>,
        /// True for a store.
        write: bool,
    },
    /// A view that extends outside of the memory that it is a view of.
    OutsideMemory {
        /// The view.
        buffer: Arc<str>,
        /// First byte that was accessed.
        offset_bytes: i64,
        /// Size of the memory in bytes.
        size_bytes: usize,
    },
    /// A write to a constant, which nothing writes (IR-B8).
    ConstantWritten {
        /// The buffer.
        buffer: Arc<str>,
    },
    /// Two iterations of a parallel loop that access one element, where at least one writes it.
    Race {
        /// The buffer, as the later access names it.
        buffer: Arc<str>,
        /// The index per axis of the later access.
        indices: Vec<i64>,
        /// True when the later access writes.
        write: bool,
        /// True when the earlier access wrote.
        earlier_write: bool,
    },
    /// Two threads of a launch that access one element with no barrier between, where at least one
    /// writes it.
    ThreadRace {
        /// The buffer.
        buffer: Arc<str>,
        /// The index per axis of the later access.
        indices: Vec<i64>,
        /// True when the later access writes.
        write: bool,
        /// True when the earlier access wrote.
        earlier_write: bool,
        /// The thread of the earlier access.
        other: ThreadIndex,
    },
    /// A barrier, or an operation of several threads, that not all of them reach.
    BarrierDivergence {
        /// The kind of wait at which the thread waits.
        waits_at: &'static str,
        /// A thread that does not reach it.
        other: ThreadIndex,
        /// The kind of wait at which the other thread waits.
        other_waits_at: &'static str,
        /// Source position of the other wait, if known.
        other_span: Span,
        /// True if it is the same place in another iteration.
        same_place: bool,
    },
    /// A shuffle from a lane that its mask leaves out, or that no thread of the warp runs.
    InactiveLane {
        /// The requested lane.
        lane: u32,
        /// The mask.
        mask: u32,
    },
    /// A launch of threads that no device can run.
    BadLaunch {
        /// Description of the problem.
        what: String,
    },
    /// An assumption of the module that does not hold.
    Assumption,
    /// A workspace that is freed twice, or never.
    Workspace {
        /// Description of the problem.
        what: String,
    },
    /// A packed function that failed with a status, but without an error of the module's own.
    Status {
        /// The returned status.
        status: i32,
    },
    /// A read of an element that was never written.
    Uninitialized {
        /// The buffer.
        buffer: Arc<str>,
        /// The index per axis.
        indices: Vec<i64>,
    },
    /// A block whose axis gets a value outside of its domain.
    AxisOutOfDomain {
        /// The block's name.
        block: Arc<str>,
        /// The axis.
        axis: Arc<str>,
        /// The value.
        value: i64,
        /// First value of the domain.
        min: i64,
        /// Number of values of the domain.
        extent: i64,
    },
    /// An assertion of the module that does not hold.
    Assertion {
        /// The error's kind, as the module states it.
        kind: Arc<str>,
        /// The message.
        message: String,
    },
    /// A function of the host that does not accept its arguments.
    HostCall {
        /// The function.
        function: &'static str,
        /// Message: what was expected and what was found.
        message: String,
    },
    /// A buffer of a negative size, or of one that cannot be addressed.
    BadExtent {
        /// The buffer.
        buffer: Arc<str>,
        /// The extent per axis.
        shape: Vec<i64>,
    },
    /// A loop whose step is not positive.
    BadStep {
        /// The step.
        step: i64,
    },
    /// More iterations and calls than the limit.
    StepLimit {
        /// The limit.
        steps_max: u64,
    },
    /// More memory than the limit.
    MemoryLimit {
        /// Total size that was requested.
        wanted_bytes: u64,
        /// The limit.
        memory_bytes_max: u64,
    },
    /// Calls nested deeper than the limit.
    DepthLimit {
        /// The limit.
        calls_max: usize,
    },
    /// Code that this interpreter does not run.
    Unsupported {
        /// Description of the code, and what to do.
        what: String,
    },
    /// A module that [`chipdock_ir::validate`] would reject.
    Malformed {
        /// Description of the problem.
        what: String,
    },
}

impl InterpretError {
    pub(crate) fn new(function: &Arc<str>, span: Span, kind: ErrorKind) -> Self {
        Self { function: Arc::clone(function), span, thread: None, kind }
    }
}

impl fmt::Display for InterpretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.span != Span::NONE {
            write!(f, "{}:{}: ", self.span.line, self.span.column)?;
        }
        if !self.function.is_empty() {
            write!(f, "in {}: ", self.function)?;
        }
        self.kind.fmt(f)?;
        match &self.thread {
            Some(thread) => write!(f, " (by {thread})"),
            None => Ok(()),
        }
    }
}

/// Returns the verb for an access, for messages.
fn verb(is_write: bool) -> &'static str {
    if is_write { "writes" } else { "reads" }
}

impl ErrorKind {
    /// Formats an error between threads of a launch.
    fn of_threads(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadRace { buffer, indices, write, earlier_write, other } => {
                let (first, second) = (verb(*earlier_write), verb(*write));
                write!(
                    f,
                    "two threads touch {buffer}{indices:?} with no barrier between: {other} {first} it, then this one {second} it"
                )
            }
            Self::BarrierDivergence { waits_at, other, other_waits_at, other_span, same_place } => {
                let place = match (*same_place, *other_span) {
                    (true, _) => " in another iteration".to_owned(),
                    (false, Span::NONE) => " elsewhere".to_owned(),
                    (false, span) => format!(" in {}:{}", span.line, span.column),
                };
                write!(
                    f,
                    "{waits_at} is not reached by all threads: {other} waits at {other_waits_at}{place}"
                )
            }
            Self::InactiveLane { lane, mask } => write!(
                f,
                "a shuffle from lane {lane}, which the mask {mask:#010x} leaves out or no thread runs"
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFunction { name, known } => {
                write!(f, "the module has no function \"{name}\"; it has: {}", known.join(", "))
            }
            Self::Argument { parameter, message } if parameter.is_empty() => f.write_str(message),
            Self::Argument { parameter, message } => write!(f, "argument for {parameter}: {message}"),
            Self::OutOfBounds { buffer, indices, shape, write } => {
                let verb = if *write { "store to" } else { "load from" };
                write!(f, "{verb} {buffer}{indices:?} is out of bounds: its shape is {shape:?}")
            }
            Self::OutsideMemory { buffer, offset_bytes, size_bytes } => write!(
                f,
                "{buffer} is a view of {size_bytes} bytes of memory and reaches byte {offset_bytes} of it"
            ),
            Self::ConstantWritten { buffer } => write!(f, "store to {buffer}: it is a constant"),
            Self::Race { buffer, indices, write, earlier_write } => {
                let (first, second) = (verb(*earlier_write), verb(*write));
                write!(
                    f,
                    "two iterations of a parallel loop touch {buffer}{indices:?}: one {first} it, a later one {second} it"
                )
            }
            Self::ThreadRace { .. } | Self::BarrierDivergence { .. } | Self::InactiveLane { .. } => {
                self.of_threads(f)
            }
            Self::BadLaunch { what } => write!(f, "the launch of threads is wrong: {what}"),
            Self::Workspace { what } => write!(f, "workspaces are wrong: {what}"),
            Self::Status { status } => write!(f, "the function ended with the status {status}"),
            Self::Assumption => f.write_str("an assumption of the module does not hold"),
            Self::Uninitialized { buffer, indices } => {
                write!(f, "load from {buffer}{indices:?}, which was never written")
            }
            Self::AxisOutOfDomain { block, axis, value, min, extent } => write!(
                f,
                "block \"{block}\": axis {axis} is bound to {value}, outside of its domain of {extent} values from {min}"
            ),
            Self::Assertion { kind, message } => write!(f, "assertion failed: {kind}: {message}"),
            Self::HostCall { function, message } => write!(f, "the call of {function}: {message}"),
            Self::BadExtent { buffer, shape } => {
                write!(f, "buffer {buffer} has the shape {shape:?}: extents are expected to be at least 0")
            }
            Self::BadStep { step } => write!(f, "a loop has the step {step}, expected at least 1"),
            Self::StepLimit { steps_max } => write!(
                f,
                "more than {steps_max} iterations and calls: the program may not end, or needs a higher step limit"
            ),
            Self::MemoryLimit { wanted_bytes, memory_bytes_max } => write!(
                f,
                "{wanted_bytes} bytes of memory are wanted and the limit is {memory_bytes_max}: raise the limit"
            ),
            Self::DepthLimit { calls_max } => {
                write!(f, "calls are nested deeper than {calls_max}: the recursion may not end")
            }
            Self::Unsupported { what } => write!(f, "the interpreter does not run {what}"),
            Self::Malformed { what } => write!(f, "malformed module: {what}"),
        }
    }
}

impl std::error::Error for InterpretError {}
