//! What a function is compiled to: a flat list of instructions over numbered registers and views, so that a thread of
//! execution is no more than a position and two tables, and may stop and go on anywhere.

use std::sync::Arc;

use crate::Span;
use crate::interpret::kernels::{Binary, Ternary, Unary};
use crate::interpret::scalar::Lane;

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
}

/// What a list of `Allocate` and `Declare` holds.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    pub(crate) rank: u32,
    pub(crate) has_strides: bool,
    pub(crate) has_offset: bool,
}

/// How a store of a block's reduction combines, for bounds of any association (B3).
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
    pub(crate) dtype: crate::DType,
    /// Whether its memory may be written, through it or another view; else no read of it can race.
    pub(crate) shared: bool,
}

impl ViewInfo {
    pub(crate) fn element_size_bytes(&self) -> usize {
        self.lane.size_bytes() * self.lanes as usize
    }
}

/// A parameter.
pub(crate) enum ParamCode {
    /// A view, filled in before the code runs; `data` takes its address.
    Tensor { view: u32, data: Reg },
    /// A number.
    Scalar { reg: Reg, dtype: crate::DType, lane: Lane },
}

/// A failure of an assertion.
pub(crate) struct Failure {
    pub(crate) kind: Arc<str>,
    pub(crate) parts: Vec<Part>,
}

/// A part of a message.
pub(crate) enum Part {
    Text(Arc<str>),
    Number(Reg, crate::DType),
}

/// A function, compiled.
pub(crate) struct Function {
    pub(crate) name: Arc<str>,
    pub(crate) params: Vec<(Arc<str>, ParamCode)>,
    /// Type of what it returns.
    pub(crate) ret: Option<crate::DType>,
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
}
