//! Values of names and expressions of the script while it is read.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::{Buffer, DType, Expr, PointerType, Reducer, ThreadAxis};

use crate::metadata::Metadata;

/// Value of an expression of the script.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A Python integer, without a type yet.
    Int(i128),
    /// A Python float.
    Float(f64),
    /// A Python boolean.
    Bool(bool),
    /// A string.
    Str(Arc<str>),
    /// `None`.
    None,
    /// A tuple or a list.
    List(Arc<Vec<Value>>),
    /// Result of `tvm.ir.load_json`: nodes by the name of their type.
    Metadata(Arc<Metadata>),
    /// One list of such a result.
    MetadataList(Arc<Metadata>, usize),
    /// An expression of the IR.
    Expr(Expr),
    /// A buffer.
    Buffer(Buffer),
    /// A local scalar that may be assigned: a buffer of one element, read and written by its bare
    /// name.
    Scalar(Buffer),
    /// An element type, as `T.int32`.
    DType(DType),
    /// The type of a pointer, as `T.handle("float32", "global")`.
    Handle(Option<PointerType>),
    /// A way to combine values, `T.comm_reducer`.
    Reducer(Arc<Reducer>),
    /// A zero of a type that stands for the type, `T.type_annotation("float32")`.
    TypeOf(DType),
    /// A buffer that was named before it was declared, `A = T.Buffer((16,))`.
    Late(Buffer),
    /// A thread axis that was named but not launched yet.
    ThreadAxis(ThreadAxis),
    /// A size variable of the module, made anew for each function.
    Symbol(DType),
    /// A value that could not be read; the error was reported at its place.
    Failed,
    /// A value of the surrounding Python program that means nothing to a kernel.
    Foreign,
}

impl Value {
    /// Describes the value for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Int(value) => format!("the integer {value}"),
            Self::Float(value) => format!("the float {value:?}"),
            Self::Bool(value) => format!("the boolean {}", if *value { "True" } else { "False" }),
            Self::Str(value) => format!("the string \"{value}\""),
            Self::None => "None".to_owned(),
            Self::List(items) => format!("a list of {}", items.len()),
            Self::Expr(expr) => format!("an expression of type {}", expr.dtype),
            Self::Buffer(buffer) => format!("the buffer {}", buffer.name),
            Self::Scalar(buffer) => format!("the scalar {} of type {}", buffer.name, buffer.dtype),
            Self::DType(dtype) => format!("the type {dtype}"),
            Self::Handle(_) => "a pointer type".to_owned(),
            Self::Metadata(_) | Self::MetadataList(..) => "metadata".to_owned(),
            Self::Reducer(_) => "a reducer".to_owned(),
            Self::TypeOf(dtype) => format!("T.type_annotation of {dtype}"),
            Self::Late(buffer) => format!("the buffer {}, which has no memory yet", buffer.name),
            Self::ThreadAxis(axis) => format!("the thread axis {axis}, not launched yet"),
            Self::Symbol(dtype) => format!("a size of type {dtype}"),
            Self::Failed => "something that has an error".to_owned(),
            Self::Foreign => "a Python object".to_owned(),
        }
    }

    /// Returns true for a number of Python's that is no expression yet.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Float(_) | Self::Bool(_))
    }
}

/// The names in scope, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    levels: Vec<HashMap<Arc<str>, Value>>,
}

impl Scopes {
    pub(crate) fn push(&mut self) {
        self.levels.push(HashMap::new());
    }

    pub(crate) fn pop(&mut self) {
        self.levels.pop();
    }

    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    pub(crate) fn truncate(&mut self, depth: usize) {
        self.levels.truncate(depth);
    }

    pub(crate) fn define(&mut self, name: impl Into<Arc<str>>, value: Value) {
        if let Some(level) = self.levels.last_mut() {
            level.insert(name.into(), value);
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        self.levels.iter().rev().find_map(|level| level.get(name))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().flat_map(|level| level.keys().map(AsRef::as_ref))
    }
}
