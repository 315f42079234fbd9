//! Arguments of steps, as they are recorded.

use std::collections::HashMap;
use std::sync::Arc;

use super::{BlockRef, Handle, LoopRef, ScheduleError, Value};

/// An argument before handles have their names in the trace.
pub(super) enum Given {
    Handle(Handle),
    Handles(Vec<Handle>),
    Value(Value),
}

impl From<&BlockRef> for Given {
    fn from(block: &BlockRef) -> Self {
        Self::Handle(block.into())
    }
}

impl From<&LoopRef> for Given {
    fn from(of: &LoopRef) -> Self {
        Self::Handle(of.into())
    }
}

impl From<&Handle> for Given {
    fn from(handle: &Handle) -> Self {
        Self::Handle(handle.clone())
    }
}

impl From<&[LoopRef]> for Given {
    fn from(loops: &[LoopRef]) -> Self {
        Self::Handles(loops.iter().map(Handle::from).collect())
    }
}

impl<T: Into<Value>> From<T> for Given {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

/// The arguments of a step: first those without a key.
#[derive(Default)]
pub(super) struct Args {
    plain: Vec<Given>,
    keys: Vec<(&'static str, Given)>,
}

impl Args {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn with(mut self, value: impl Into<Given>) -> Self {
        self.plain.push(value.into());
        self
    }

    pub(super) fn with_all(mut self, loops: &[LoopRef]) -> Self {
        self.plain.extend(loops.iter().map(Given::from));
        self
    }

    pub(super) fn key(mut self, name: &'static str, value: impl Into<Given>) -> Self {
        self.keys.push((name, value.into()));
        self
    }

    /// The values, handles by their names in the trace.
    pub(super) fn named(self, names: &HashMap<Handle, Arc<str>>) -> Result<Named, ScheduleError> {
        let plain = self.plain.into_iter().map(|given| value(given, names));
        let keys = self.keys.into_iter().map(|(key, given)| Ok((key.into(), value(given, names)?)));
        Ok((plain.collect::<Result<_, _>>()?, keys.collect::<Result<_, ScheduleError>>()?))
    }
}

/// Values without a key, and values with one.
pub(super) type Named = (Vec<Value>, Vec<(Arc<str>, Value)>);

fn value(given: Given, names: &HashMap<Handle, Arc<str>>) -> Result<Value, ScheduleError> {
    let name = |handle: &Handle| match names.get(handle) {
        Some(name) => Ok(Value::Name(Arc::clone(name))),
        None => Err(ScheduleError::new(format!(
            "{handle} was not returned by a step of this schedule; find it by get_sblock or get_loops"
        ))),
    };
    match given {
        Given::Handle(handle) => name(&handle),
        Given::Handles(handles) => Ok(Value::List(handles.iter().map(name).collect::<Result<_, _>>()?)),
        Given::Value(value) => Ok(value),
    }
}
