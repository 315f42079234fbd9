//! Schedules: pure transformations of the blocks and loops of a function that keep what it
//! computes.
//!
//! A [`Schedule`] holds a function and changes it step by step. Steps have the names and the
//! meaning of those of TVM's `tir.Schedule`, where TVM has them.
//!
//! ```
//! use chipdock_ir::{DType, build};
//! use chipdock_passes::schedule::{Schedule, Tail};
//!
//! let mut f = build::function("double");
//! let n = f.size("n");
//! let (a, b) = (f.buffer("A", &n, DType::FLOAT32), f.buffer("B", &n, DType::FLOAT32));
//! f.grid(["i"], [&n], |f, [i]| {
//!     f.block("B", |f| {
//!         let vi = f.spatial("vi", &n, &i);
//!         f.store(&b, &vi, a.at(&vi) * 2.0);
//!     });
//! });
//! let mut sch = Schedule::new(&f.finish());
//! let block = sch.get_sblock("B")?;
//! let loops = sch.get_loops(&block)?;
//! let parts = sch.split(&loops[0], &[None, Some(16)], Tail::Predicate)?;
//! sch.vectorize(&parts[1])?;
//! let text = r#"b0 = sch.get_sblock("B")
//! l1, = sch.get_loops(b0)
//! l2, l3 = sch.split(l1, factors=[None, 16])
//! sch.vectorize(l3)
//! "#;
//! assert_eq!(sch.trace().to_string(), text);
//! # Ok::<(), chipdock_passes::schedule::ScheduleError>(())
//! ```
//!
//! # Rules
//!
//! - **SCHED-1 Steps are pure.** A step makes a new function from the function, and a step that
//!   fails changes neither the function nor the trace. Its [`ScheduleError`] says which condition
//!   does not hold, of which loop, block or buffer.
//! - **SCHED-2 Meaning.** A step keeps what the function computes: integers to the bit, floats up
//!   to the association of reductions that rule IR-B6 of the IR allows. A valid function stays
//!   valid. A step that may not keep the meaning is refused. Sums of a loop's extent and the
//!   product of the factors of a split are assumed not to wrap.
//! - **SCHED-3 Names.** [`Schedule::new`] makes the names of blocks unique (`C`, `C_1`, ...), and
//!   steps give blocks that they make unique names. A [`BlockRef`] is a block's name, a [`LoopRef`]
//!   the loop's variable. Those of blocks and loops that no longer exist are refused by name.
//! - **SCHED-4 Trace.** Every step is recorded as a line of Python that calls the step. The trace
//!   of a schedule, applied to the function that the schedule began with, gives the schedule's
//!   function, up to the identity of variables.
//! - **SCHED-5 Predicates.** Where new loops overrun the old ones, the predicate of each block
//!   under them excludes the overrun; statements other than blocks stand in an `if`. Predicates
//!   that the ranges of the loops prove are dropped.
//! - **SCHED-6 Order.** Loops change their order if they drive axes of one block: spatial ones,
//!   from which the loops are determined, or reduction ones, which count up along them; otherwise
//!   (several blocks, bare statements) only if at most one of those that change places carries a
//!   dependence through memory.
//! - **SCHED-7 Concurrency.** Loops become parallel or vectorized if two iterations never access
//!   one element that one of them writes: the elements of all accesses determine the iteration, or
//!   the loop drives spatial axes of a single block, and they determine it. Vectorized and unrolled
//!   loops have constant extents.
//! - **SCHED-8 Packing.** [`Schedule::read_at`] copies what one access of a block reads into a
//!   buffer whose axes are loops. Elements outside of the accessed buffer, and those that the
//!   predicate excludes, are not read: they are filled with a constant, or not written.
//! - **SCHED-9 Accumulators.** [`Schedule::write_at`] puts a buffer whose axes are loops in place
//!   of the output of a block. For a reduction continued in outer loops, it is reloaded from the
//!   output except at the first step. Results are copied back where the block would have written
//!   them, and nowhere else.
//! - **SCHED-10 Aliasing.** Parameters may overlap unless the function has `tirx.noalias` (rule
//!   IR-B2 of the IR). Steps that copy memory are refused if something else may write that memory
//!   in the meantime.
//! - **SCHED-11 Text.** A trace prints and reads back as itself. A function may carry its schedule
//!   as the attribute [`ATTRIBUTE`]; [`from_attribute`] applies it.
//! - **SCHED-12 Compaction.** [`Schedule::compact`] shrinks a buffer only if each iteration of the
//!   loops around all its uses writes what it reads before it reads it.
//! - **SCHED-13 Widening.** [`Schedule::set_dtype`] gives an intermediate buffer a type that has
//!   all the values of the old one.
//! - **SCHED-14 Axes.** [`Schedule::split_axis`] puts two axes in place of one: their values are
//!   the quotient and the remainder of its value, which they determine.
//! - **SCHED-15 Caches.** [`Schedule::cache_read`] copies the elements that a block reads before
//!   the outermost nest around it, [`Schedule::cache_write`] those that it writes after the nest:
//!   only elements that have been written. Nothing in the nest writes an element that was copied
//!   before it, and no other block in the nest touches one that is copied after it.
//! - **SCHED-16 Scopes.** A buffer has a scope in which all that use it see the same memory:
//!   [`Schedule::set_scope`] and the caches refuse others, where loops are bound to threads.
//! - **SCHED-17 Threads.** There is no step `bind`: loops are bound to threads by the kernel's text
//!   (`T.thread_binding`), or, after the steps, by the default schedule
//!   (`default_schedule::device::launch`).

mod access;
mod annotate;
mod args;
mod axes;
mod cache;
mod compact;
mod dot;
mod find;
mod fuse;
mod independent;
mod inline;
mod kinds;
mod nest;
mod pack;
mod parse;
mod partition;
mod place;
mod reduction;
mod reorder;
mod replay;
mod split;
mod tensorize;
mod tile;
mod trace;
mod widen;
mod written;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use chipdock_ir::{PrimFunc, Stmt, Var};

use args::Args;
pub use pack::Packed;
pub use partition::Cut;
pub use replay::{ATTRIBUTE, from_attribute};
pub use split::Tail;
pub use tile::Accumulated;
pub use trace::{Step, Trace, Value};

/// The memory that a statement may write, by data variable: through views and pointers too.
pub(crate) fn written_by(stmt: &Stmt) -> HashSet<Var> {
    find::TouchedData::of_stmt(stmt).written
}

/// A block of a schedule's function, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockRef(Arc<str>);

impl BlockRef {
    /// Returns the name of the block.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A loop of a schedule's function, by its variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoopRef(Var);

impl LoopRef {
    /// Returns the variable of the loop.
    #[must_use]
    pub fn var(&self) -> &Var {
        &self.0
    }
}

/// A block or a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    /// A block.
    Block(BlockRef),
    /// A loop.
    Loop(LoopRef),
}

impl From<&BlockRef> for Handle {
    fn from(block: &BlockRef) -> Self {
        Self::Block(block.clone())
    }
}

impl From<&LoopRef> for Handle {
    fn from(of: &LoopRef) -> Self {
        Self::Loop(of.clone())
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => write!(f, "block \"{}\"", block.0),
            Self::Loop(of) => write!(f, "loop \"{}\"", of.0.name),
        }
    }
}

/// A step that was refused, or a text that is no schedule. The schedule is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// Name of the step, empty if the text of a schedule was not understood.
    pub step: String,
    /// What was expected, what was found, and what to do.
    pub message: String,
}

impl ScheduleError {
    /// An error of the step that is being made: [`Schedule::run`] fills its name in.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { step: String::new(), message: message.into() }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.step.is_empty() {
            write!(f, "{}: ", self.step)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ScheduleError {}

/// What a step makes: the new function, and the blocks and loops that it returns.
type Made = Result<(PrimFunc, Vec<Handle>), ScheduleError>;

/// A function under transformation, with the trace of the steps so far.
#[derive(Clone, Debug)]
pub struct Schedule {
    function: PrimFunc,
    trace: Trace,
    /// The name of each block and loop in the trace.
    names: HashMap<Handle, Arc<str>>,
    n_names: usize,
}

impl Schedule {
    /// Starts a schedule of a function, whose blocks are given unique names.
    #[must_use]
    pub fn new(function: &PrimFunc) -> Self {
        let function = nest::with_unique_names(function);
        Self { function, trace: Trace::default(), names: HashMap::new(), n_names: 0 }
    }

    /// Returns the function as it is after the steps so far.
    #[must_use]
    pub fn function(&self) -> &PrimFunc {
        &self.function
    }

    /// Returns the steps so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Makes a step and records it.
    fn run(
        &mut self,
        op: &'static str,
        args: Args,
        step: impl FnOnce(&PrimFunc) -> Made,
    ) -> Result<Vec<Handle>, ScheduleError> {
        let named = |error: ScheduleError| ScheduleError { step: op.to_owned(), ..error };
        let (args, keys) = args.named(&self.names).map_err(named)?;
        let (function, outputs) = step(&self.function).map_err(named)?;
        self.function = function;
        let names = outputs.iter().map(|handle| self.give_name(handle)).collect();
        self.trace.push(Step { outputs: names, op: op.into(), args, keys });
        Ok(outputs)
    }

    fn give_name(&mut self, handle: &Handle) -> Arc<str> {
        let letter = if matches!(handle, Handle::Block(_)) { 'b' } else { 'l' };
        let name: Arc<str> = format!("{letter}{}", self.n_names).into();
        self.n_names += 1;
        self.names.insert(handle.clone(), Arc::clone(&name));
        name
    }

    fn run_loops(
        &mut self,
        op: &'static str,
        args: Args,
        step: impl FnOnce(&PrimFunc) -> Made,
    ) -> Result<Vec<LoopRef>, ScheduleError> {
        Ok(loops_of(self.run(op, args, step)?))
    }

    fn run_blocks(
        &mut self,
        op: &'static str,
        args: Args,
        step: impl FnOnce(&PrimFunc) -> Made,
    ) -> Result<Vec<BlockRef>, ScheduleError> {
        let handles = self.run(op, args, step)?;
        let blocks = handles.into_iter().filter_map(|handle| match handle {
            Handle::Block(block) => Some(block),
            Handle::Loop(_) => None,
        });
        Ok(blocks.collect())
    }

    /// A step that returns one handle.
    fn run_one<T: TryFrom<Handle>>(
        &mut self,
        op: &'static str,
        args: Args,
        step: impl FnOnce(&PrimFunc) -> Made,
    ) -> Result<T, ScheduleError> {
        let handle = self.run(op, args, step)?.into_iter().next();
        handle.and_then(|handle| T::try_from(handle).ok()).ok_or_else(|| ScheduleError {
            step: op.to_owned(),
            message: "internal error, please report it: the step returned nothing".to_owned(),
        })
    }
}

impl TryFrom<Handle> for BlockRef {
    type Error = Handle;
    fn try_from(handle: Handle) -> Result<Self, Handle> {
        match handle {
            Handle::Block(block) => Ok(block),
            Handle::Loop(_) => Err(handle),
        }
    }
}

impl TryFrom<Handle> for LoopRef {
    type Error = Handle;
    fn try_from(handle: Handle) -> Result<Self, Handle> {
        match handle {
            Handle::Loop(of) => Ok(of),
            Handle::Block(_) => Err(handle),
        }
    }
}

fn loops_of(handles: Vec<Handle>) -> Vec<LoopRef> {
    handles.into_iter().filter_map(|handle| LoopRef::try_from(handle).ok()).collect()
}
