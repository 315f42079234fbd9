//! Traces applied to functions.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::{AttrValue, DType, PrimFunc};

use super::trace::{Step, Trace, Value};
use super::{BlockRef, Cut, Handle, LoopRef, Packed, Schedule, ScheduleError, Tail};

/// The attribute of a function with its schedule: a list of strings, one a step, or one string with
/// a line for each.
pub const ATTRIBUTE: &str = "chipdock.schedule";

/// Applies the schedule that a function carries as the attribute [`ATTRIBUTE`], and removes the
/// attribute. Returns `None` if there is none.
///
/// # Errors
///
/// The attribute is neither a string nor a list of strings, is no trace, or a step is refused.
pub fn from_attribute(function: &PrimFunc) -> Result<Option<PrimFunc>, ScheduleError> {
    let Some(value) = function.attrs.get(ATTRIBUTE) else { return Ok(None) };
    let lines: Option<Vec<&str>> = match value {
        AttrValue::Str(text) => Some(vec![text]),
        AttrValue::List(items) => items
            .iter()
            .map(|item| match item {
                AttrValue::Str(text) => Some(&**text),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    let lines = lines.ok_or_else(|| {
        ScheduleError::new(format!("attribute \"{ATTRIBUTE}\": expected a string or a list of strings"))
    })?;
    let trace: Trace = lines.join("\n").parse()?;
    let mut function = function.clone();
    function.attrs.remove(ATTRIBUTE);
    trace.apply(&function).map(Some)
}

impl Trace {
    /// Makes the steps on a function, and returns the result.
    ///
    /// # Errors
    ///
    /// A step is not known, its arguments are not those that it takes, or it is refused. The
    /// message begins with the number of the step, from 1.
    pub fn apply(&self, function: &PrimFunc) -> Result<PrimFunc, ScheduleError> {
        self.replay(function).map(|schedule| schedule.function().clone())
    }

    /// Makes the steps on a function, and returns the schedule, to go on with.
    ///
    /// # Errors
    ///
    /// Those of [`Trace::apply`].
    pub fn replay(&self, function: &PrimFunc) -> Result<Schedule, ScheduleError> {
        let mut schedule = Schedule::new(function);
        let mut known = HashMap::new();
        for (index, step) in self.steps().iter().enumerate() {
            let numbered = |error: ScheduleError| ScheduleError {
                step: step.op.to_string(),
                message: format!("step {}: {}", index + 1, error.message),
            };
            let made = make(&mut schedule, step, &known).map_err(numbered)?;
            if !step.outputs.is_empty() && step.outputs.len() != made.len() {
                let (expected, found) = (made.len(), step.outputs.len());
                return Err(numbered(ScheduleError::new(format!(
                    "the step returns {expected} blocks and loops, found {found} names for them"
                ))));
            }
            known.extend(step.outputs.iter().cloned().zip(made));
        }
        Ok(schedule)
    }
}

/// The steps and the names of their arguments; `*` stands for any number of loops.
const STEPS: &[(&str, &[&str])] = &[
    ("get_sblock", &["name"]),
    ("get_loops", &["block"]),
    ("get_child_blocks", &["block_or_loop"]),
    ("get_producers", &["block"]),
    ("get_consumers", &["block"]),
    ("get_output_blocks", &[]),
    ("split", &["loop", "factors", "tail"]),
    ("fuse", &["*"]),
    ("reorder", &["*"]),
    ("parallel", &["loop"]),
    ("vectorize", &["loop"]),
    ("unroll", &["loop"]),
    ("annotate", &["block_or_loop", "ann_key", "ann_val"]),
    ("unannotate", &["block_or_loop", "ann_key"]),
    ("decompose_reduction", &["block", "loop"]),
    ("rfactor", &["loop", "factor_axis"]),
    ("partition", &["loop", "at"]),
    ("compute_inline", &["block"]),
    ("reverse_compute_inline", &["block"]),
    ("compact", &["block"]),
    ("set_dtype", &["block", "dtype"]),
    ("split_axis", &["block", "axis", "factor"]),
    ("tensorize", &["loop", "intrin"]),
    ("compute_at", &["block", "loop"]),
    ("reverse_compute_at", &["block", "loop"]),
    ("read_at", &["loop", "block", "read_index", "scope", "order", "fill"]),
    ("write_at", &["loop", "block", "scope", "order", "accumulate"]),
    ("cache_read", &["block", "read_buffer_index", "storage_scope"]),
    ("cache_write", &["block", "write_buffer_index", "storage_scope"]),
    ("set_scope", &["block", "buffer_index", "storage_scope"]),
];

/// The arguments of a step by name.
struct Call<'a> {
    values: HashMap<&'static str, &'a Value>,
    variadic: &'a [Value],
    known: &'a HashMap<Arc<str>, Handle>,
}

impl<'a> Call<'a> {
    fn new(step: &'a Step, known: &'a HashMap<Arc<str>, Handle>) -> Result<Self, ScheduleError> {
        let Some((_, names)) = STEPS.iter().find(|(name, _)| **name == *step.op) else {
            let all: Vec<&str> = STEPS.iter().map(|(name, _)| *name).collect();
            return Err(ScheduleError::new(format!(
                "there is no such step; the steps are: {}",
                all.join(", ")
            )));
        };
        if *names == ["*"] && step.keys.is_empty() {
            return Ok(Self { values: HashMap::new(), variadic: &step.args, known });
        }
        let mut values = HashMap::new();
        if step.args.len() > names.len() {
            let (most, found) = (names.len(), step.args.len());
            return Err(ScheduleError::new(format!("expected at most {most} arguments, found {found}")));
        }
        values.extend(names.iter().copied().zip(&step.args));
        for (key, value) in &step.keys {
            let name = names.iter().find(|name| ***name == **key && **name != "*");
            let name = name.ok_or_else(|| {
                ScheduleError::new(format!("there is no argument {key}; expected: {}", names.join(", ")))
            })?;
            if values.insert(*name, value).is_some() {
                return Err(ScheduleError::new(format!("argument {key} is given twice")));
            }
        }
        Ok(Self { values, variadic: &[], known })
    }

    fn wrong<T>(name: &str, what: &str, found: Option<&Value>) -> Result<T, ScheduleError> {
        let found = found.map_or("nothing".to_owned(), ToString::to_string);
        Err(ScheduleError::new(format!("argument {name}: expected {what}, found {found}")))
    }

    fn handle(&self, value: &Value) -> Option<&'a Handle> {
        match value {
            Value::Name(name) => self.known.get(name),
            _ => None,
        }
    }

    fn any(&self, name: &'static str) -> Result<Handle, ScheduleError> {
        let value = self.values.get(name).copied();
        match value.and_then(|value| self.handle(value)) {
            Some(handle) => Ok(handle.clone()),
            None => Self::wrong(name, "the name of a block or a loop that a step before returned", value),
        }
    }

    fn block(&self, name: &'static str) -> Result<BlockRef, ScheduleError> {
        let value = self.values.get(name).copied();
        match value.and_then(|value| self.handle(value)) {
            Some(Handle::Block(block)) => Ok(block.clone()),
            _ => Self::wrong(name, "the name of a block that a step before returned", value),
        }
    }

    fn loop_of(&self, name: &str, value: Option<&Value>) -> Result<LoopRef, ScheduleError> {
        match value.and_then(|value| self.handle(value)) {
            Some(Handle::Loop(of)) => Ok(of.clone()),
            _ => Self::wrong(name, "the name of a loop that a step before returned", value),
        }
    }

    fn looped(&self, name: &'static str) -> Result<LoopRef, ScheduleError> {
        self.loop_of(name, self.values.get(name).copied())
    }

    fn loops(&self, name: &'static str) -> Result<Vec<LoopRef>, ScheduleError> {
        match self.values.get(name).copied() {
            Some(Value::List(values)) => values.iter().map(|value| self.loop_of(name, Some(value))).collect(),
            found => Self::wrong(name, "a list of loops", found),
        }
    }

    fn all_loops(&self) -> Result<Vec<LoopRef>, ScheduleError> {
        self.variadic.iter().map(|value| self.loop_of("of the step", Some(value))).collect()
    }

    fn text(&self, name: &'static str) -> Result<&'a str, ScheduleError> {
        match self.values.get(name).copied() {
            Some(Value::Str(text)) => Ok(text),
            found => Self::wrong(name, "a string", found),
        }
    }

    fn dtype(&self, name: &'static str) -> Result<DType, ScheduleError> {
        let text = self.text(name)?;
        text.parse().map_err(|error| ScheduleError::new(format!("{name}: {error}")))
    }

    fn index(&self, name: &'static str) -> Result<usize, ScheduleError> {
        match self.values.get(name).copied() {
            Some(Value::Int(value)) if *value >= 0 => Ok(usize::try_from(*value).unwrap_or(usize::MAX)),
            found => Self::wrong(name, "a number that is not negative", found),
        }
    }

    fn int(&self, name: &'static str) -> Result<i64, ScheduleError> {
        match self.values.get(name).copied() {
            Some(Value::Int(value)) => Ok(*value),
            found => Self::wrong(name, "an integer", found),
        }
    }

    fn cut(&self) -> Result<Cut, ScheduleError> {
        match self.values.get("at").copied() {
            Some(Value::Int(count)) => Ok(Cut::After(*count)),
            Some(Value::Str(text)) if **text == *"full" => Ok(Cut::Full),
            found => Self::wrong("at", "\"full\" or a number of iterations", found),
        }
    }

    fn fill(&self) -> Result<Option<i64>, ScheduleError> {
        match self.values.get("fill").copied() {
            None | Some(Value::None) => Ok(None),
            Some(Value::Int(value)) => Ok(Some(*value)),
            found => Self::wrong("fill", "an integer or None", found),
        }
    }

    fn flag(&self, name: &'static str) -> Result<bool, ScheduleError> {
        match self.values.get(name).copied() {
            Some(Value::Bool(value)) => Ok(*value),
            found => Self::wrong(name, "True or False", found),
        }
    }

    fn factors(&self) -> Result<Vec<Option<i64>>, ScheduleError> {
        let found = self.values.get("factors").copied();
        let Some(Value::List(values)) = found else { return Self::wrong("factors", "a list", found) };
        let factors = values.iter().map(|value| match value {
            Value::None => Ok(None),
            Value::Int(factor) => Ok(Some(*factor)),
            other => Self::wrong("factors", "integers and None", Some(other)),
        });
        factors.collect()
    }

    fn tail(&self) -> Result<Tail, ScheduleError> {
        match self.values.get("tail").copied() {
            None => Ok(Tail::Predicate),
            Some(Value::Str(text)) if **text == *"predicate" => Ok(Tail::Predicate),
            Some(Value::Str(text)) if **text == *"shrink" => Ok(Tail::Shrink),
            found => Self::wrong("tail", "\"predicate\" or \"shrink\"", found),
        }
    }
}

fn of_loops(loops: Vec<LoopRef>) -> Vec<Handle> {
    loops.into_iter().map(Handle::Loop).collect()
}

fn of_blocks(blocks: Vec<BlockRef>) -> Vec<Handle> {
    blocks.into_iter().map(Handle::Block).collect()
}

fn of_packed(packed: Packed) -> Vec<Handle> {
    [Handle::Block(packed.block)].into_iter().chain(of_loops(packed.loops)).collect()
}

fn make(
    sch: &mut Schedule,
    step: &Step,
    known: &HashMap<Arc<str>, Handle>,
) -> Result<Vec<Handle>, ScheduleError> {
    let call = Call::new(step, known)?;
    Ok(match &*step.op {
        "get_sblock" => of_blocks(vec![sch.get_sblock(call.text("name")?)?]),
        "get_loops" => of_loops(sch.get_loops(&call.block("block")?)?),
        "get_child_blocks" => of_blocks(sch.get_child_blocks(call.any("block_or_loop")?)?),
        "get_producers" => of_blocks(sch.get_producers(&call.block("block")?)?),
        "get_consumers" => of_blocks(sch.get_consumers(&call.block("block")?)?),
        "get_output_blocks" => of_blocks(sch.get_output_blocks()?),
        "split" => of_loops(sch.split(&call.looped("loop")?, &call.factors()?, call.tail()?)?),
        "fuse" => of_loops(vec![sch.fuse(&call.all_loops()?)?]),
        "reorder" => none(sch.reorder(&call.all_loops()?)?),
        "parallel" => none(sch.parallel(&call.looped("loop")?)?),
        "vectorize" => none(sch.vectorize(&call.looped("loop")?)?),
        "unroll" => none(sch.unroll(&call.looped("loop")?)?),
        "annotate" => {
            let value = call.values.get("ann_val").copied().cloned().unwrap_or(Value::None);
            none(sch.annotate(call.any("block_or_loop")?, call.text("ann_key")?, value)?)
        }
        "unannotate" => none(sch.unannotate(call.any("block_or_loop")?, call.text("ann_key")?)?),
        "decompose_reduction" => {
            of_blocks(vec![sch.decompose_reduction(&call.block("block")?, &call.looped("loop")?)?])
        }
        "rfactor" => of_blocks(vec![sch.rfactor(&call.looped("loop")?, call.int("factor_axis")?)?]),
        _ => return make_move(sch, step, &call),
    })
}

/// The steps that move blocks.
fn make_move(sch: &mut Schedule, step: &Step, call: &Call<'_>) -> Result<Vec<Handle>, ScheduleError> {
    Ok(match &*step.op {
        "compute_inline" => none(sch.compute_inline(&call.block("block")?)?),
        "reverse_compute_inline" => none(sch.reverse_compute_inline(&call.block("block")?)?),
        "tensorize" => none(sch.tensorize(&call.looped("loop")?, call.text("intrin")?)?),
        "compact" => none(sch.compact(&call.block("block")?)?),
        "set_dtype" => none(sch.set_dtype(&call.block("block")?, call.dtype("dtype")?)?),
        "split_axis" => {
            none(sch.split_axis(&call.block("block")?, call.index("axis")?, call.int("factor")?)?)
        }
        "compute_at" => none(sch.compute_at(&call.block("block")?, &call.looped("loop")?)?),
        "reverse_compute_at" => none(sch.reverse_compute_at(&call.block("block")?, &call.looped("loop")?)?),
        "partition" => of_loops(sch.partition(&call.looped("loop")?, call.cut()?)?),
        _ => return make_copy(sch, step, call),
    })
}

fn none((): ()) -> Vec<Handle> {
    Vec::new()
}

/// The steps that copy memory, or move it to another scope.
fn make_copy(sch: &mut Schedule, step: &Step, call: &Call<'_>) -> Result<Vec<Handle>, ScheduleError> {
    Ok(match &*step.op {
        "cache_read" => of_blocks(vec![sch.cache_read(
            &call.block("block")?,
            call.index("read_buffer_index")?,
            call.text("storage_scope")?,
        )?]),
        "cache_write" => of_blocks(vec![sch.cache_write(
            &call.block("block")?,
            call.index("write_buffer_index")?,
            call.text("storage_scope")?,
        )?]),
        "set_scope" => none(sch.set_scope(
            &call.block("block")?,
            call.index("buffer_index")?,
            call.text("storage_scope")?,
        )?),
        "read_at" => of_packed(sch.read_at(
            &call.looped("loop")?,
            &call.block("block")?,
            call.index("read_index")?,
            call.text("scope")?,
            &call.loops("order")?,
            call.fill()?,
        )?),
        "write_at" => {
            let made = sch.write_at(
                &call.looped("loop")?,
                &call.block("block")?,
                call.text("scope")?,
                &call.loops("order")?,
                call.flag("accumulate")?,
            )?;
            let blocks = [made.init, made.load, Some(made.back)];
            blocks.into_iter().flatten().flat_map(of_packed).collect()
        }
        _ => return Err(ScheduleError::new("internal error, please report it: the step cannot be replayed")),
    })
}
