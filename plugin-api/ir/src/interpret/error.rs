//! Why a run ended early.

use std::fmt;
use std::sync::Arc;

use crate::Span;

/// Why a run ended early, and where. The arguments are as they were before the run.
#[derive(Clone, Debug, PartialEq)]
pub struct InterpretError {
    /// The function that was running; nothing when it is about the call itself.
    pub function: Arc<str>,
    /// Where the statement or expression was read, if it was.
    pub span: Span,
    /// What happened.
    pub kind: ErrorKind,
}

/// What ended a run. The caller's mistakes are `UnknownFunction`, `Argument` and the three limits; `Unsupported` is
/// what this interpreter cannot run; everything else is a defect of the module.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorKind {
    /// No function of that name.
    UnknownFunction {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// An argument that does not fit its parameter.
    Argument {
        /// The parameter, or nothing when the count is wrong.
        parameter: String,
        /// Expected and found.
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
    /// A view that reaches outside of the memory that it is a view of.
    OutsideMemory {
        /// The view.
        buffer: Arc<str>,
        /// First byte touched.
        offset_bytes: i64,
        /// Bytes that there are.
        size_bytes: usize,
    },
    /// Two iterations of a parallel loop touch one element and one of them writes it.
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
    /// A read of what was never written.
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
        /// The error's kind, as the module says.
        kind: Arc<str>,
        /// The message.
        message: String,
    },
    /// A buffer of a negative size, or one past what can be addressed.
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
        /// What was asked for in all.
        wanted_bytes: u64,
        /// The limit.
        memory_bytes_max: u64,
    },
    /// Calls nested deeper than the limit.
    DepthLimit {
        /// The limit.
        calls_max: usize,
    },
    /// What this interpreter does not run.
    Unsupported {
        /// What it is, and what to do.
        what: String,
    },
    /// A module that [`crate::validate`] would reject.
    Malformed {
        /// What is wrong.
        what: String,
    },
}

impl InterpretError {
    pub(crate) fn new(function: &Arc<str>, span: Span, kind: ErrorKind) -> Self {
        Self { function: Arc::clone(function), span, kind }
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
        self.kind.fmt(f)
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
            Self::Race { buffer, indices, write, earlier_write } => write!(
                f,
                "two iterations of a parallel loop touch {buffer}{indices:?}: one {} it, a later one {} it",
                if *earlier_write { "writes" } else { "reads" },
                if *write { "writes" } else { "reads" }
            ),
            Self::Uninitialized { buffer, indices } => {
                write!(f, "load from {buffer}{indices:?}, which was never written")
            }
            Self::AxisOutOfDomain { block, axis, value, min, extent } => write!(
                f,
                "block \"{block}\": axis {axis} is bound to {value}, outside of its domain of {extent} values from {min}"
            ),
            Self::Assertion { kind, message } => write!(f, "assertion failed: {kind}: {message}"),
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
