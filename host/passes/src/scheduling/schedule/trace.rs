//! Traces: the steps of a schedule as text.

use std::fmt;
use std::sync::Arc;

use chipdock_ir::FloatBits;

/// A value in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A finite float.
    Float(FloatBits),
    /// A string.
    Str(Arc<str>),
    /// The name of a block or a loop.
    Name(Arc<str>),
    /// A list.
    List(Vec<Value>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Str(value.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(bits) => write!(f, "{:?}", bits.value()),
            Self::Str(text) => string(text, f),
            Self::Name(name) => f.write_str(name),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A string as Python writes it, in double quotes.
fn string(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c if c.is_control() && u32::from(c) < 0x100 => write!(f, "\\x{:02x}", u32::from(c))?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// A step of a schedule: `outputs = sch.op(args, key=value)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Names of the blocks and loops that the step returned.
    pub outputs: Vec<Arc<str>>,
    /// Name of the step.
    pub op: Arc<str>,
    /// Arguments without a key.
    pub args: Vec<Value>,
    /// Arguments with a key.
    pub keys: Vec<(Arc<str>, Value)>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Python unpacks a list of one into `a, = ...`; steps that return one handle return no
        // list.
        let one = if is_list(&self.op) { "," } else { "" };
        match self.outputs.as_slice() {
            [] => {}
            [name] => write!(f, "{name}{one} = ")?,
            names => write!(f, "{} = ", names.join(", "))?,
        }
        write!(f, "sch.{}(", self.op)?;
        let plain = self.args.iter().map(ToString::to_string);
        let keys = self.keys.iter().map(|(key, value)| format!("{key}={value}"));
        let all: Vec<String> = plain.chain(keys).collect();
        write!(f, "{})", all.join(", "))
    }
}

/// Returns true for the steps that return a list of blocks or loops.
fn is_list(op: &str) -> bool {
    const LISTS: &[&str] = &[
        "get_loops",
        "get_child_blocks",
        "get_producers",
        "get_consumers",
        "get_output_blocks",
        "split",
        "read_at",
        "write_at",
        "partition",
    ];
    LISTS.contains(&op)
}

/// The steps of a schedule. It prints as Python that makes the same schedule, a line for each step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    steps: Vec<Step>,
}

impl Trace {
    /// Returns the steps in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}
