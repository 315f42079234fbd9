//! Compiled functions: a flat list of instructions over numbered registers and views, so that a
//! thread of execution is only a position and two tables, and may stop and continue anywhere.

use std::sync::Arc;

use crate::kernels::{Binary, Ternary, Unary};
use crate::scalar::Lane;
use crate::sort::HostFunction;
use crate::{ErrorKind, InterpretError};
use chipdock_ir::{ConstantData, DType, Span, StorageRank, ThreadAxis};

/// The number of a register; a vector takes consecutive ones.
pub(crate) type Reg = u32;

/// The number that means no register, or no fold.
pub(crate) const NONE: u32 = u32::MAX;

/// One instruction. Operand lists are in [`Function::lists`], from an index on.
#[derive(Clone, Copy)]
pub(crate) enum Inst {
    Move {
        dst: Reg,
        src: Reg,
        lanes: u32,
    },
    /// Copies one value to every lane.
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
    /// Reads the bits of `n` lanes of one type as lanes of another; `n` counts the narrower ones.
    Reinterpret {
        dst: Reg,
        src: Reg,
        from: Lane,
        to: Lane,
        lanes: u32,
    },
    /// Loads an element. `lanes` is the number of lanes of the last index; `predicate` is [`NONE`]
    /// or that many booleans.
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
    /// Computes the address of an element, checked like a load.
    Address {
        dst: Reg,
        view: u32,
        index: u32,
    },
    /// Allocates memory for a view; `list` as in `Declare`.
    Allocate {
        view: u32,
        list: u32,
        form: OperandLayout,
        data: Reg,
    },
    /// Makes a view of the memory that `data` points to. The list: extents; strides and offset if
    /// the form has them.
    Declare {
        view: u32,
        list: u32,
        form: OperandLayout,
        data: Reg,
    },
    /// Makes a view of a region of another. The list: first indices, then extents. `offset` is
    /// [`NONE`] or receives the offset.
    Match {
        view: u32,
        source: u32,
        list: u32,
        data: Reg,
        offset: Reg,
    },
    /// Reads an extent (or stride) of a view.
    Dim {
        dst: Reg,
        view: u32,
        axis: u32,
        is_stride: bool,
    },
    /// Checks an extent (or stride) of a view; one that is not known yet is set.
    DimCheck {
        src: Reg,
        view: u32,
        axis: u32,
        is_stride: bool,
    },
    /// Checks that a view begins where its declaration states; each argument begins at element 0.
    BeginCheck {
        src: Reg,
        view: u32,
    },
    /// Makes strides that are not known yet compact.
    Compact {
        view: u32,
    },
    Jump {
        to: u32,
    },
    /// Continues, or jumps to `otherwise` if the condition is false. Both ways meet at `join`, with
    /// a value at `dst`.
    Branch {
        condition: Reg,
        otherwise: u32,
        join: u32,
        dst: Reg,
        lanes: u32,
        lane: Lane,
        /// Whether a branch may jump to somewhere other than `join`.
        escapes: bool,
    },
    /// Ends a `while` loop if the condition is false.
    WhileTest {
        condition: Reg,
        end: u32,
    },
    /// Jumps back to the test of a `while` loop.
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
        /// Index into [`Function::axes`].
        axis: u32,
    },
    /// Jumps unless every pair of registers of the list is equal.
    UnlessFirst {
        list: u32,
        n_pairs: u32,
        to: u32,
    },
    /// Calls a function. The list: pairs of a kind (0 register, 1 view) and a number.
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
    /// Ends the run with a failure, an index into [`Function::failures`].
    Fail {
        failure: u32,
    },
    /// Ends the run as unsupported, with an index into [`Function::traps`].
    Trap {
        trap: u32,
    },
    /// Runs the following code, up to the launch's end, once per thread. `launch` is an index into
    /// [`Function::launches`].
    Launch {
        launch: u32,
    },
    /// Allocates, as `Allocate`, memory of which several threads share one instance.
    AllocateOnce {
        view: u32,
        list: u32,
        form: OperandLayout,
        data: Reg,
        rank: StorageRank,
    },
    /// Stops the thread until others reach the same place. `wait` is an index into
    /// [`Function::waits`].
    Wait {
        wait: u32,
    },
    /// Ends the thread.
    ThreadEnd,
    /// Ends the run if the condition is false.
    Assume {
        condition: Reg,
    },
    /// Adds to the element at an address; `dst` receives its previous value.
    Atomic {
        add: &'static Binary,
        dst: Reg,
        address: Reg,
        value: Reg,
        lane: Lane,
    },
    /// Multiplies and shifts. The list: x, y, then either q and s (scalars) or ls, rs (as many
    /// lanes, or [`NONE`]) and q.
    QMultiplyShift {
        dst: Reg,
        list: u32,
        lanes: u32,
        per_axis: bool,
    },
    /// Loads the value at an address.
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
    /// Allocates so many bytes, until they are freed.
    Workspace {
        dst: Reg,
        size: Reg,
    },
    FreeWorkspace {
        data: Reg,
    },
    /// Calls a function of the host ([`Function::calls`]).
    CallHost {
        call: u32,
    },
    /// Gives the address of a text ([`Function::texts`]).
    Text {
        dst: Reg,
        text: u32,
    },
    /// Gives the address of the bytes of a constant ([`Function::arrays`]).
    Constant {
        dst: Reg,
        constant: u32,
    },
    /// Adds dot products ([`chipdock_ir::Op::DotAdd`]); the list has the sum and the two factors.
    DotAdd {
        dst: Reg,
        list: u32,
        lanes: u16,
        /// The position in [`chipdock_ir::op::DotProduct::ALL`].
        dot: u8,
    },
    /// Computes a dot product; operands: four lanes, four lanes, the sum.
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

/// The arguments of a host call.
pub(crate) enum HostArgs {
    /// As in the source.
    Written(Vec<HostArg>),
    /// Packed values at an address, and their number.
    Packed { values: Reg, count: Reg },
}

/// An argument as in the source.
pub(crate) enum HostArg {
    Number(Reg, DType),
    Text(Arc<str>),
    /// A tensor. Extents and strides (none: compact) are registers; `offset` counts elements.
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
    /// The bound axes, by number ([`chipdock_ir::ThreadAxis`]).
    pub(crate) axes: Vec<Axis>,
    /// Memory from outside of the launch that has instances in it: view, register of its address,
    /// the threads that share an instance.
    pub(crate) outer: Vec<(u32, Reg, StorageRank)>,
    /// One past the last instruction that threads run.
    pub(crate) end: u32,
}

/// A thread axis of a launch.
pub(crate) struct Axis {
    pub(crate) axis: ThreadAxis,
    /// Register that receives the thread's index.
    pub(crate) index: Reg,
    /// Registers of the extent, one per place where the axis is bound.
    pub(crate) extents: Vec<Reg>,
}

/// A place where threads wait for each other.
pub(crate) struct Wait {
    pub(crate) kind: WaitKind,
    /// A list of pairs of registers whose differences are the iterations of the surrounding loops,
    /// and the number of pairs.
    pub(crate) laps: (u32, u32),
}

/// The kind of a wait: the threads that wait for each other.
#[derive(Clone)]
pub(crate) enum WaitKind {
    /// All threads of the block.
    Block,
    /// All threads of the grid, which is the block when there is one.
    Grid,
    /// All threads of the warp.
    Warp,
    /// The threads of the block that reach the wait (IR-K5).
    Implicit,
    /// As `Implicit`; the threads then continue one after the other, each to its next wait (IR-K6).
    Turns,
    /// As `Implicit`; from here on the threads that reduce together share the memory of these views
    /// (IR-K6).
    Gather(Arc<Together>),
    /// As `Implicit`; from here on each thread has its own memory again, with the contents that the
    /// others wrote.
    Scatter,
    /// The threads of the warp that reach the wait.
    Activemask { dst: Reg },
    /// The threads of the warp that the mask names.
    Shuffle(Shuffle),
    /// All threads of the block.
    Allreduce(Arc<Allreduce>),
}

/// Threads that reduce together, and the views of thread-local memory that they reduce into.
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
    /// Number of lanes of a group.
    pub(crate) width: u32,
    pub(crate) dst: Reg,
    /// Number of lanes of the value.
    pub(crate) lanes: u32,
}

/// The meaning of a shuffle's lane operand.
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
    /// Start and end of the code that combines `rhs` into `lhs`.
    pub(crate) code: (u32, u32),
}

/// One of the values that are reduced together.
pub(crate) struct Value {
    pub(crate) value: Reg,
    pub(crate) lhs: Reg,
    pub(crate) rhs: Reg,
    pub(crate) identity: Reg,
    pub(crate) lane: Lane,
    /// The simple operation that combines the value, if it is one.
    pub(crate) fold: Option<FoldKind>,
    /// Whether the combination rounds nothing, so that every order gives the same.
    pub(crate) is_exact: bool,
    /// Destination of the result: a view and the list of indices.
    pub(crate) target: (u32, u32),
}

/// Code in which a read of an uninitialised value is no error yet (INT-I10), and the action to take
/// instead.
pub(crate) struct Tolerant {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Position at which execution continues.
    pub(crate) resume: u32,
    /// The element of a store, which becomes uninitialised: a view and the list of indices. `None`:
    /// the value of a shuffle.
    pub(crate) target: Option<(u32, u32, u32)>,
}

/// The contents of a list of `Allocate` and `Declare`.
#[derive(Clone, Copy)]
pub(crate) struct OperandLayout {
    pub(crate) rank: u32,
    pub(crate) has_strides: bool,
    pub(crate) has_offset: bool,
}

/// The combination in a store of a block's reduction, for bounds of any association (INT-B3).
#[derive(Clone, Copy)]
pub(crate) struct Fold {
    pub(crate) kind: FoldKind,
    /// Previous value of the element.
    pub(crate) old: Reg,
    /// Value that is combined into it.
    pub(crate) term: Reg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    Sum,
    Product,
    Extreme,
}

/// The properties of a view that are known before the run.
pub(crate) struct ViewInfo {
    pub(crate) name: Arc<str>,
    pub(crate) lane: Lane,
    /// Number of lanes of an element.
    pub(crate) lanes: u32,
    pub(crate) rank: u32,
    pub(crate) dtype: chipdock_ir::DType,
    /// Whether its memory may be written, through it or another view; otherwise no read of it can
    /// race.
    pub(crate) shared: bool,
    /// Whether only one thread of a launch can access it.
    pub(crate) private: bool,
}

impl ViewInfo {
    /// Returns the size of an element, in units of its lanes.
    pub(crate) fn element_units(&self) -> usize {
        self.lane.size_units() * self.lanes as usize
    }
}

/// A parameter.
pub(crate) enum ParamCode {
    /// A view, filled in before the code runs; `data` receives its address.
    Tensor { view: u32, data: Reg },
    /// A number.
    Scalar { reg: Reg, dtype: chipdock_ir::DType, lane: Lane },
}

/// A failure of an assertion.
pub(crate) struct Failure {
    pub(crate) kind: Arc<str>,
    pub(crate) parts: Vec<MessagePart>,
}

/// A part of a message.
pub(crate) enum MessagePart {
    Text(Arc<str>),
    Number(Reg, chipdock_ir::DType),
}

/// A compiled function.
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) params: Vec<(Arc<str>, ParamCode)>,
    /// Type of the result, if any.
    pub(crate) ret: Option<chipdock_ir::DType>,
    pub(crate) n_regs: usize,
    /// Values of registers 0 and up, which nothing writes.
    pub(crate) constants: Vec<u64>,
    pub(crate) code: Vec<Inst>,
    /// Source position of each instruction.
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
    pub(crate) arrays: Vec<ConstantData>,
    /// Number of threads of a warp.
    pub(crate) warp_size: u32,
}

impl Function {
    /// Lists the places at which the code ends a run because they are not supported.
    pub(crate) fn refused(&self) -> impl Iterator<Item = InterpretError> {
        self.code.iter().zip(&self.spans).filter_map(|(inst, span)| {
            let Inst::Trap { trap } = inst else { return None };
            let what = self.traps.get(*trap as usize)?.clone();
            Some(InterpretError::new(&self.name, *span, ErrorKind::Unsupported { what }))
        })
    }
}
