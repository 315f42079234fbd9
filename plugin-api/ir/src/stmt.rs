//! Statements.

use std::sync::Arc;

use crate::{Attrs, Buffer, Expr, Span, ThreadAxis, Var};

/// A statement: shared, immutable. Equality is structural, positions left out.
#[derive(Clone, Debug)]
pub struct Stmt(Arc<StmtNode>);

/// What a [`Stmt`] holds.
#[derive(Debug)]
pub struct StmtNode {
    /// The node.
    pub kind: StmtKind,
    /// Where it was read, for messages.
    pub span: Span,
}

/// How a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForKind {
    /// One iteration after the other.
    Serial,
    /// Iterations in any order, perhaps at once.
    Parallel,
    /// All iterations as the lanes of vectors.
    Vectorized,
    /// One after the other, written out.
    Unrolled,
    /// One iteration per thread of an axis.
    ThreadBinding(ThreadAxis),
}

/// What the iterations of a block axis may do to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IterKind {
    /// Nothing: each writes its own elements.
    Spatial,
    /// They combine into the same elements, associated in any order.
    Reduce,
    /// They run in order (`T.axis.scan`).
    Ordered,
    /// Opaque: as the surrounding loops run it (`T.axis.opaque`).
    Opaque,
}

/// An axis of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterVar {
    /// Its variable.
    pub var: Var,
    /// First value, most often 0.
    pub min: Expr,
    /// Number of values.
    pub extent: Expr,
    /// What its iterations may do to each other.
    pub kind: IterKind,
}

/// A range on one axis of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// First index.
    pub min: Expr,
    /// Number of indices.
    pub extent: Expr,
}

/// A region of a buffer, one range per axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferRegion {
    /// The buffer.
    pub buffer: Buffer,
    /// One per axis.
    pub region: Vec<Range>,
}

/// A buffer that stands for a region of another within a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchBufferRegion {
    /// The new buffer.
    pub buffer: Buffer,
    /// What it stands for.
    pub source: BufferRegion,
}

/// A block: a piece of computation with axes of its own. It reads and writes nothing but what it declares, once
/// regions are given; `None` means not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// A name for people and schedules.
    pub name: Arc<str>,
    /// Its axes.
    pub iter_vars: Vec<IterVar>,
    /// What it reads.
    pub reads: Option<Vec<BufferRegion>>,
    /// What it writes.
    pub writes: Option<Vec<BufferRegion>>,
    /// Run before the first iteration of the reduction axes, for each value of the others.
    pub init: Option<Stmt>,
    /// Buffers that live within the block.
    pub alloc_buffers: Vec<Buffer>,
    /// Views on regions.
    pub match_buffers: Vec<MatchBufferRegion>,
    /// Notes for passes.
    pub annotations: Attrs,
    /// The computation.
    pub body: Stmt,
}

/// The kinds of statement. Names bound by `Bind`, `AllocBuffer` and `DeclBuffer` are known in the rest of the
/// sequence that they stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// One after the other. Empty: nothing.
    Seq(Vec<Stmt>),
    /// `value` bound to `var` for the rest of the sequence.
    Bind {
        /// The variable.
        var: Var,
        /// Its value.
        value: Expr,
    },
    /// An element of a buffer set. One index per axis; the last may be a vector.
    Store {
        /// The buffer.
        buffer: Buffer,
        /// One per axis.
        indices: Vec<Expr>,
        /// The value, of the buffer's type and the last index' lanes.
        value: Expr,
        /// Lanes that are written.
        predicate: Option<Expr>,
    },
    /// A buffer allocated for the rest of the sequence. Its content is undefined until written.
    AllocBuffer {
        /// The buffer.
        buffer: Buffer,
        /// Notes for passes.
        annotations: Attrs,
    },
    /// A buffer declared over memory that is there already (its data variable), for the rest of the sequence.
    DeclBuffer {
        /// The buffer.
        buffer: Buffer,
        /// Where its memory comes from; `None` when the data variable is bound elsewhere.
        data: Option<Expr>,
    },
    /// A loop from `min` in steps of `step`, `extent` iterations. The extent is evaluated once; none when negative.
    For {
        /// The loop variable.
        var: Var,
        /// First value.
        min: Expr,
        /// Number of iterations.
        extent: Expr,
        /// How it runs.
        kind: ForKind,
        /// Between values, at least 1; `None` is 1.
        step: Option<Expr>,
        /// Notes for passes.
        annotations: Attrs,
        /// The body.
        body: Stmt,
    },
    /// A loop as long as the condition holds.
    While {
        /// A scalar boolean.
        condition: Expr,
        /// The body.
        body: Stmt,
    },
    /// A choice.
    If {
        /// A scalar boolean.
        condition: Expr,
        /// If true.
        then: Stmt,
        /// If false.
        otherwise: Option<Stmt>,
    },
    /// A block with values for its axes. Nothing happens where the predicate is false.
    BlockRealize {
        /// One per axis of the block.
        iter_values: Vec<Expr>,
        /// A scalar boolean.
        predicate: Expr,
        /// The block.
        block: Arc<Block>,
    },
    /// An expression evaluated for its effect.
    Evaluate(Expr),
    /// The function ends with an error unless the condition holds.
    Assert {
        /// A scalar boolean.
        condition: Expr,
        /// The error's kind, such as `ValueError`.
        kind: Arc<str>,
        /// Parts of the message: strings, and integers that are printed in decimal.
        message: Vec<Expr>,
    },
    /// A note on a statement.
    Attr {
        /// What it is about.
        node: AttrNode,
        /// Its name.
        key: Arc<str>,
        /// Its value.
        value: Expr,
        /// Where it holds.
        body: Stmt,
    },
    /// A thread axis of an extent, launched around the body (`T.launch_thread`), as after lowering.
    LaunchThread {
        /// The thread's index.
        var: Var,
        /// The axis.
        axis: ThreadAxis,
        /// Number of threads.
        extent: Expr,
        /// What each runs.
        body: Stmt,
    },
    /// Ends the function with a value.
    Return(Option<Expr>),
    /// Ends the innermost loop.
    Break,
    /// Ends the iteration of the innermost loop.
    Continue,
}

/// What an attribute is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrNode {
    /// Nothing in particular.
    None,
    /// A buffer.
    Buffer(Buffer),
    /// A variable.
    Var(Var),
    /// How values are combined (`reduce_scope`), for the [`Op::ThreadAllreduce`](crate::Op) within.
    Reducer(Arc<Reducer>),
}

/// A way to combine values that is commutative and associative: `T.comm_reducer`. Several values are combined at once
/// (an argmax: value and index), so that each field has one entry per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reducer {
    /// Stands for the values so far, in the results alone.
    pub lhs: Vec<Var>,
    /// Stands for the values to combine, in the results alone.
    pub rhs: Vec<Var>,
    /// The combination.
    pub result: Vec<Expr>,
    /// What changes nothing when combined; constants.
    pub identity: Vec<Expr>,
}

impl Stmt {
    /// A node with no position. Nothing is checked: [`crate::validate`] does that.
    #[must_use]
    pub fn new(kind: StmtKind) -> Self {
        Self(Arc::new(StmtNode { kind, span: Span::NONE }))
    }

    /// The same statement, read at a position.
    #[must_use]
    pub fn with_span(self, span: Span) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(node) => Self(Arc::new(StmtNode { span, ..node })),
            Err(shared) => Self(Arc::new(StmtNode { kind: shared.kind.clone(), span })),
        }
    }

    /// One after the other; sequences within are spliced in, and a sequence of one is that one.
    ///
    /// Splicing widens the scope of what an inner sequence binds; variables are unique, so that no name is captured.
    #[must_use]
    pub fn seq(stmts: impl IntoIterator<Item = Stmt>) -> Self {
        let mut flat = Vec::new();
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Seq(inner) => flat.extend(inner.iter().cloned()),
                _ => flat.push(stmt),
            }
        }
        if flat.len() == 1 { flat.remove(0) } else { Self::new(StmtKind::Seq(flat)) }
    }

    /// Nothing.
    #[must_use]
    pub fn nop() -> Self {
        Self::new(StmtKind::Seq(Vec::new()))
    }

    /// True for an empty sequence.
    #[must_use]
    pub fn is_nop(&self) -> bool {
        matches!(&self.kind, StmtKind::Seq(stmts) if stmts.is_empty())
    }

    /// True for one and the same node, not merely an equal one.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that tells this node from every other live one.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// A store.
    #[must_use]
    pub fn store(buffer: &Buffer, indices: Vec<Expr>, value: Expr) -> Self {
        Self::new(StmtKind::Store { buffer: buffer.clone(), indices, value, predicate: None })
    }

    /// A loop from 0.
    #[must_use]
    pub fn for_loop(var: Var, extent: Expr, kind: ForKind, body: Stmt) -> Self {
        let min = Expr::int(0, var.dtype);
        Self::new(StmtKind::For { var, min, extent, kind, step: None, annotations: Attrs::new(), body })
    }

    /// A choice.
    #[must_use]
    pub fn if_then(condition: Expr, then: Stmt, otherwise: Option<Stmt>) -> Self {
        Self::new(StmtKind::If { condition, then, otherwise })
    }
}

impl std::ops::Deref for Stmt {
    type Target = StmtNode;
    fn deref(&self) -> &StmtNode {
        &self.0
    }
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Self) -> bool {
        self.same(other) || self.kind == other.kind
    }
}
impl Eq for Stmt {}
