//! What a function is compiled to: a flat list of instructions over numbered registers and views, so that a thread of
//! execution is no more than a position and two tables, and may stop and go on anywhere.

use std::sync::Arc;

use crate::kernels::{Binary, Ternary, Unary};
use crate::scalar::Lane;
use crate::sort::HostFunction;
use crate::{ErrorKind, InterpretError};
use chipdock_ir::{DType, Span, StorageRank, ThreadAxis};

/// The number of a register; a vector takes consecutive ones.
pub(crate) type Reg = u32;

/// No register, no fold.
pub(crate) const NONE: u32 = u32::MAX;

/// One instruction. Operand lists stand in [`Function::lists`], from an index on.
#[derive(Clone, Copy)]
pub(crate) enum Inst {
    Move {
        dst: Reg,
        src: Reg,
        lanes: u32,
    },
    /// One value into every lane.
    Fill {
        dst: Reg,
        src: Reg,
        lanes: u32,
    },
    Ramp {
        dst: Reg,
        base: Reg,
        stride: Reg,
        lanes: u32,
        add: &'static Binary,
    },
    Unary {
        op: &'static Unary,
        dst: Reg,
        a: Reg,
        lanes: u32,
    },
    Binary {
        op: &'static Binary,
        dst: Reg,
        a: Reg,
        b: Reg,
        lanes: u32,
    },
    Ternary {
        op: &'static Ternary,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
        lanes: u32,
    },
    Select {
        dst: Reg,
        condition: Reg,
        a: Reg,
        b: Reg,
        lanes: u32,
        lane: Lane,
    },
    /// The bits of `n` lanes of one type as lanes of another; `n` counts the narrower ones.
    Reinterpret {
        dst: Reg,
        src: Reg,
        from: Lane,
        to: Lane,
        lanes: u32,
    },
    /// `lanes` is the number of lanes of the last index; `predicate` is [`NONE`] or that many booleans.
    Load {
        dst: Reg,
        view: u32,
        index: u32,
        lanes: u32,
        predicate: Reg,
    },
    Store {
        src: Reg,
        view: u32,
        index: u32,
        lanes: u32,
        predicate: Reg,
        fold: u32,
    },
    /// The address of an element, checked like a load.
    Address {
        dst: Reg,
        view: u32,
        index: u32,
    },
    /// Memory of its own for a view; `list` as in `Declare`.
    Allocate {
        view: u32,
        list: u32,
        form: Form,
        data: Reg,
    },
    /// A view of the memory behind `data`. The list: extents; strides and offset where the form has them.
    Declare {
        view: u32,
        list: u32,
        form: Form,
        data: Reg,
    },
    /// A view of a region of another. The list: first indices, then extents. `offset` is [`NONE`] or takes the offset.
    Match {
        view: u32,
        source: u32,
        list: u32,
        data: Reg,
        offset: Reg,
    },
    /// An extent (or stride) of a view.
    Dim {
        dst: Reg,
        view: u32,
        axis: u32,
        is_stride: bool,
    },
    /// Whether it is so; where it is not known yet, it becomes so.
    DimCheck {
        src: Reg,
        view: u32,
        axis: u32,
        is_stride: bool,
    },
    /// Whether a view begins where its declaration says; each argument begins at element 0.
    BeginCheck {
        src: Reg,
        view: u32,
    },
    /// Strides that are not known yet become compact.
    Compact {
        view: u32,
    },
    Jump {
        to: u32,
    },
    /// Goes on, or jumps to `otherwise` where the condition is false. Both ways meet at `join`, with a value at `dst`.
    Branch {
        condition: Reg,
        otherwise: u32,
        join: u32,
        dst: Reg,
        lanes: u32,
        lane: Lane,
        /// Whether a branch may leave for somewhere else.
        escapes: bool,
    },
    /// Ends a `while` loop where the condition is false.
    WhileTest {
        condition: Reg,
        end: u32,
    },
    /// Back to the test of a `while` loop.
    WhileNext {
        to: u32,
    },
    StepCheck {
        src: Reg,
    },
    LoopBegin {
        counter: Reg,
        min: Reg,
        extent: Reg,
        end: u32,
    },
    LoopNext {
        var: Reg,
        counter: Reg,
        step: Reg,
        add: &'static Binary,
        body: u32,
    },
    ParallelBegin,
    ParallelIteration,
    ParallelEnd,
    AxisCheck {
        value: Reg,
        min: Reg,
        extent: Reg,
        /// Into [`Function::axes`].
        axis: u32,
    },
    /// Jumps unless every pair of registers of the list is equal.
    UnlessFirst {
        list: u32,
        n_pairs: u32,
        to: u32,
    },
    /// The list: pairs of a kind (0 register, 1 view) and a number.
    Call {
        function: u32,
        list: u32,
        n_args: u32,
        dst: Reg,
        lanes: u32,
    },
    Return {
        src: Reg,
    },
    /// Into [`Function::failures`].
    Fail {
        failure: u32,
    },
    /// Into [`Function::traps`].
    Trap {
        trap: u32,
    },
    /// Runs what follows, up to the launch's end, once per thread. Into [`Function::launches`].
    Launch {
        launch: u32,
    },
    /// As `Allocate`, for memory of which threads have one instance together.
    AllocateOnce {
        view: u32,
        list: u32,
        form: Form,
        data: Reg,
        rank: StorageRank,
    },
    /// Stops the thread until others are where it is. Into [`Function::waits`].
    Wait {
        wait: u32,
    },
    /// Ends the thread.
    ThreadEnd,
    /// Ends the run where the condition is false.
    Assume {
        condition: Reg,
    },
    /// Adds to the element at an address; `dst` takes what it held.
    Atomic {
        add: &'static Binary,
        dst: Reg,
        address: Reg,
        value: Reg,
        lane: Lane,
    },
    /// The list: x, y, then either q and s (scalars) or ls, rs (as many lanes, or [`NONE`]) and q.
    QMultiplyShift {
        dst: Reg,
        list: u32,
        lanes: u32,
        per_axis: bool,
    },
    /// What lies at an address.
    LoadAt {
        dst: Reg,
        address: Reg,
        lane: Lane,
    },
    StoreAt {
        src: Reg,
        address: Reg,
        lane: Lane,
    },
    /// Memory of so many bytes, until it is freed.
    Workspace {
        dst: Reg,
        size: Reg,
    },
    FreeWorkspace {
        data: Reg,
    },
    /// A call of a function of the host ([`Function::calls`]).
    CallHost {
        call: u32,
    },
    /// The address of a text ([`Function::texts`]).
    Text {
        dst: Reg,
        text: u32,
    },
    /// Four lanes, four lanes, the sum.
    Dp4a {
        dst: Reg,
        a: Reg,
        b: Reg,
        sum: Reg,
        is_signed: bool,
    },
}

/// A call of a function that every host has.
pub(crate) struct HostCall {
    pub(crate) function: HostFunction,
    pub(crate) args: HostArgs,
}

/// The arguments of such a call.
pub(crate) enum HostArgs {
    /// As they are written.
    Written(Vec<HostArg>),
    /// Packed values behind an address, and how many.
    Packed { values: Reg, count: Reg },
}

/// An argument as it is written.
pub(crate) enum HostArg {
    Number(Reg, DType),
    Text(Arc<str>),
    /// Extents and strides (none: compact) are registers; `offset` counts elements.
    Tensor {
        data: Reg,
        dtype: DType,
        shape: Vec<Reg>,
        strides: Option<Vec<Reg>>,
        offset: Reg,
    },
}

/// Threads that are launched together.
pub(crate) struct Launch {
    /// What each axis that is bound has, by its number ([`chipdock_ir::ThreadAxis`]).
    pub(crate) axes: Vec<Axis>,
    /// Memory from outside of the launch of which there are instances: view, register of its address, whose it is.
    pub(crate) outer: Vec<(u32, Reg, StorageRank)>,
    /// One past the last instruction that threads run.
    pub(crate) end: u32,
}

/// A thread axis of a launch.
pub(crate) struct Axis {
    pub(crate) axis: ThreadAxis,
    /// Takes the thread's index.
    pub(crate) index: Reg,
    /// The extent, wherever it is bound.
    pub(crate) extents: Vec<Reg>,
}

/// A place where threads wait for each other.
pub(crate) struct Wait {
    pub(crate) kind: WaitKind,
    /// Pairs of registers whose differences are the iterations of the loops around it: a list, and how many pairs.
    pub(crate) laps: (u32, u32),
}

/// What threads wait for.
#[derive(Clone)]
pub(crate) enum WaitKind {
    /// All threads of the block.
    Block,
    /// All threads of the grid, which is the block when there is one.
    Grid,
    /// All threads of the warp.
    Warp,
    /// The threads of the block that come here (IR-K5).
    Implicit,
    /// As `Implicit`; then they go on one after the other, each to its next wait (IR-K6).
    Turns,
    /// As `Implicit`; from here on the threads that reduce together share the memory of these views (IR-K6).
    Gather(Arc<Together>),
    /// As `Implicit`; from here on each thread has its own again, with what the others made of it.
    Scatter,
    /// The threads of the warp that come here.
    Activemask { dst: Reg },
    /// The threads of the warp that the mask names.
    Shuffle(Shuffle),
    /// All threads of the block.
    Allreduce(Arc<Allreduce>),
}

/// Threads that reduce together, and the views of memory of one thread that they reduce into.
pub(crate) struct Together {
    /// A bit per axis that is reduced over.
    pub(crate) axes: u16,
    pub(crate) views: Vec<u32>,
}

#[derive(Clone, Copy)]
pub(crate) struct Shuffle {
    pub(crate) from: From,
    pub(crate) mask: Reg,
    pub(crate) value: Reg,
    pub(crate) lane: Reg,
    /// Lanes of a group.
    pub(crate) width: u32,
    pub(crate) dst: Reg,
    /// Lanes of the value.
    pub(crate) lanes: u32,
}

/// How a shuffle's operand names a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Lane,
    Up,
    Down,
    Xor,
}

/// A reduction over threads.
pub(crate) struct Allreduce {
    pub(crate) axes: u16,
    pub(crate) condition: Reg,
    pub(crate) values: Vec<Value>,
    /// The code that combines `rhs` into `lhs`.
    pub(crate) code: (u32, u32),
}

/// One of the values that are reduced together.
pub(crate) struct Value {
    pub(crate) value: Reg,
    pub(crate) lhs: Reg,
    pub(crate) rhs: Reg,
    pub(crate) identity: Reg,
    pub(crate) lane: Lane,
    /// How it combines, if it is that simple.
    pub(crate) fold: Option<FoldKind>,
    /// Whether it rounds nothing, so that every order gives the same.
    pub(crate) is_exact: bool,
    /// Where the result goes: a view and the list of indices.
    pub(crate) target: (u32, u32),
}

/// Code in which a read of what was never written is no error yet (INT-I10), and what is done about it.
pub(crate) struct Tolerant {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Where it goes on.
    pub(crate) resume: u32,
    /// The element of a store, which then holds nothing: a view and the list of indices. Else the value of a shuffle.
    pub(crate) target: Option<(u32, u32, u32)>,
}

/// What a list of `Allocate` and `Declare` holds.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) rank: u32,
    pub(crate) has_strides: bool,
    pub(crate) has_offset: bool,
}

/// How a store of a block's reduction combines, for bounds of any association (INT-B3).
#[derive(Clone, Copy)]
pub(crate) struct Fold {
    pub(crate) kind: FoldKind,
    /// What the element held.
    pub(crate) old: Reg,
    /// What is combined into it.
    pub(crate) term: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    Sum,
    Product,
    Extreme,
}

/// What is known of a view before the run.
pub(crate) struct ViewInfo {
    pub(crate) name: Arc<str>,
    pub(crate) lane: Lane,
    /// Lanes of an element.
    pub(crate) lanes: u32,
    pub(crate) rank: u32,
    pub(crate) dtype: chipdock_ir::DType,
    /// Whether its memory may be written, through it or another view; else no read of it can race.
    pub(crate) shared: bool,
    /// Whether only one thread of a launch sees it.
    pub(crate) private: bool,
}

impl ViewInfo {
    /// What an element takes, in units of its lanes.
    pub(crate) fn element_units(&self) -> usize {
        self.lane.size_units() * self.lanes as usize
    }
}

/// A parameter.
pub(crate) enum ParamCode {
    /// A view, filled in before the code runs; `data` takes its address.
    Tensor { view: u32, data: Reg },
    /// A number.
    Scalar { reg: Reg, dtype: chipdock_ir::DType, lane: Lane },
}

/// A failure of an assertion.
pub(crate) struct Failure {
    pub(crate) kind: Arc<str>,
    pub(crate) parts: Vec<Part>,
}

/// A part of a message.
pub(crate) enum Part {
    Text(Arc<str>),
    Number(Reg, chipdock_ir::DType),
}

/// A function, compiled.
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) params: Vec<(Arc<str>, ParamCode)>,
    /// Type of what it returns.
    pub(crate) ret: Option<chipdock_ir::DType>,
    pub(crate) n_regs: usize,
    /// Registers 0 and up hold these, and nothing writes them.
    pub(crate) constants: Vec<u64>,
    pub(crate) code: Vec<Inst>,
    /// Where each instruction was read.
    pub(crate) spans: Vec<Span>,
    pub(crate) lists: Vec<Reg>,
    pub(crate) views: Vec<ViewInfo>,
    pub(crate) folds: Vec<Fold>,
    pub(crate) axes: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) traps: Vec<String>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) tolerant: Vec<Tolerant>,
    pub(crate) calls: Vec<HostCall>,
    pub(crate) texts: Vec<Arc<str>>,
    /// Threads of a warp.
    pub(crate) warp_size: u32,
}

impl Function {
    /// Where the code ends a run since it is not run.
    pub(crate) fn refused(&self) -> impl Iterator<Item = InterpretError> {
        self.code.iter().zip(&self.spans).filter_map(|(inst, span)| {
            let Inst::Trap { trap } = inst else { return None };
            let what = self.traps.get(*trap as usize)?.clone();
            Some(InterpretError::new(&self.name, *span, ErrorKind::Unsupported { what }))
        })
    }
}
