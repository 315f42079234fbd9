//! Annotations of loops and blocks.

use std::sync::Arc;

use chipdock_ir::{AttrValue, Attrs, Block, PrimFunc, Stmt, StmtKind};

use super::args::{Args, Given};
use super::nest::StmtPath;
use super::{Handle, Made, Schedule, ScheduleError, Value};

impl Schedule {
    /// Annotates a loop or a block; an annotation of that name is replaced.
    ///
    /// # Errors
    ///
    /// The loop or block does not exist, or the value contains a [`Value::Name`] or a
    /// float that is not finite.
    pub fn annotate(
        &mut self,
        of: impl Into<Handle>,
        key: &str,
        value: impl Into<Value>,
    ) -> Result<(), ScheduleError> {
        let (of, value) = (of.into(), value.into());
        let args = Args::new().with(&of).with(key).with(Given::Value(value.clone()));
        self.run("annotate", args, |function| {
            let attr = attr(&value).ok_or_else(|| {
                ScheduleError::new(format!("\"{key}\": expected a constant as the value, found {value}"))
            })?;
            edited(function, &of, |attrs| {
                attrs.insert(key.into(), attr);
                Ok(())
            })
        })
        .map(|_| ())
    }

    /// Removes an annotation of a loop or a block.
    ///
    /// # Errors
    ///
    /// The loop or block does not exist or has no such annotation.
    pub fn unannotate(&mut self, of: impl Into<Handle>, key: &str) -> Result<(), ScheduleError> {
        let of = of.into();
        self.run("unannotate", Args::new().with(&of).with(key), |function| {
            edited(function, &of, |attrs| match attrs.remove(key) {
                Some(_) => Ok(()),
                None => Err(ScheduleError::new(format!("{of} has no annotation \"{key}\""))),
            })
        })
        .map(|_| ())
    }
}

fn attr(value: &Value) -> Option<AttrValue> {
    Some(match value {
        Value::None => AttrValue::None,
        Value::Bool(value) => AttrValue::Bool(*value),
        Value::Int(value) => AttrValue::Int(*value),
        Value::Float(bits) if bits.value().is_finite() => AttrValue::Float(*bits),
        Value::Str(text) => AttrValue::Str(Arc::clone(text)),
        Value::Name(_) | Value::Float(_) => return None,
        Value::List(values) => AttrValue::List(values.iter().map(attr).collect::<Option<_>>()?),
    })
}

fn edited(
    function: &PrimFunc,
    of: &Handle,
    edit: impl FnOnce(&mut Attrs) -> Result<(), ScheduleError>,
) -> Made {
    let place = match of {
        Handle::Block(block) => StmtPath::of_block(function, block)?,
        Handle::Loop(of) => StmtPath::of_loop(function, of)?,
    };
    let mut kind = place.stmt().kind.clone();
    match &mut kind {
        StmtKind::For { annotations, .. } => edit(annotations)?,
        StmtKind::BlockRealize { block, .. } => {
            let mut new = Block::clone(block);
            edit(&mut new.annotations)?;
            *block = Arc::new(new);
        }
        _ => {}
    }
    let new = Stmt::new(kind).with_span(place.stmt().span);
    Ok((place.replaced(function, new), Vec::new()))
}
