//! Statements.

use std::sync::Arc;

use crate::{Attrs, Buffer, ConstantData, Expr, ExprKind, Span, ThreadAxis, Var};

/// A statement: shared, immutable. Equality is structural and ignores positions.
#[derive(Clone, Debug)]
pub struct Stmt(Arc<StmtNode>);

/// The fields of a [`Stmt`].
#[derive(Debug)]
pub struct StmtNode {
    /// The kind of node, with its operands.
    pub kind: StmtKind,
    /// Position in the text from which it was read, for messages.
    pub span: Span,
}

/// The kind of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForKind {
    /// Iterations run one after the other.
    Serial,
    /// Iterations run in any order, perhaps at once.
    Parallel,
    /// Iterations are the lanes of vectors.
    Vectorized,
    /// Iterations run one after the other and are written out.
    Unrolled,
    /// Each thread of an axis runs one iteration.
    ThreadBinding(ThreadAxis),
}

/// The relation between the iterations of a block axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IterKind {
    /// Independent: each iteration writes its own elements.
    Spatial,
    /// Iterations combine into the same elements, associated in any order.
    Reduce,
    /// Iterations run in order (`T.axis.scan`).
    Ordered,
    /// Opaque: iterations run as the surrounding loops do (`T.axis.opaque`).
    Opaque,
}

/// An axis of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterVar {
    /// Variable of the axis.
    pub var: Var,
    /// First value, most often 0.
    pub min: Expr,
    /// Number of values.
    pub extent: Expr,
    /// Relation between the iterations.
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
    /// Ranges, one per axis.
    pub region: Vec<Range>,
}

/// A buffer that is a view of a region of another within a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchBufferRegion {
    /// The new buffer.
    pub buffer: Buffer,
    /// The region that the new buffer is a view of.
    pub source: BufferRegion,
}

/// A block: a piece of computation with axes of its own. If regions are declared, it reads and
/// writes only those; `None` means not declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Name for messages and schedules.
    pub name: Arc<str>,
    /// Axes of the block.
    pub iter_vars: Vec<IterVar>,
    /// Regions that the block reads.
    pub reads: Option<Vec<BufferRegion>>,
    /// Regions that the block writes.
    pub writes: Option<Vec<BufferRegion>>,
    /// Statement that runs before the first iteration of the reduction axes, for each value of the
    /// other axes.
    pub init: Option<Stmt>,
    /// Buffers that live within the block.
    pub alloc_buffers: Vec<Buffer>,
    /// Views of regions.
    pub match_buffers: Vec<MatchBufferRegion>,
    /// Annotations for passes.
    pub annotations: Attrs,
    /// The computation.
    pub body: Stmt,
}

/// The kinds of statement. A variable or buffer that `Bind`, `AllocBuffer` or `DeclBuffer` binds is
/// in scope in the rest of the enclosing sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// Statements that run one after the other. An empty sequence does nothing.
    Seq(Vec<Stmt>),
    /// `value` bound to `var` for the rest of the sequence.
    Bind {
        /// The variable.
        var: Var,
        /// Its value.
        value: Expr,
    },
    /// A store to an element of a buffer. One index per axis; the last may be a vector.
    Store {
        /// The buffer.
        buffer: Buffer,
        /// The indices, one per axis.
        indices: Vec<Expr>,
        /// The value, of the buffer's type and with the lanes of the last index.
        value: Expr,
        /// The lanes that are written.
        predicate: Option<Expr>,
    },
    /// A buffer allocated for the rest of the sequence. Its content is undefined until written.
    AllocBuffer {
        /// The buffer.
        buffer: Buffer,
        /// Annotations for passes.
        annotations: Attrs,
    },
    /// A buffer declared over existing memory (its data variable), for the rest of the sequence.
    DeclBuffer {
        /// The buffer.
        buffer: Buffer,
        /// Pointer to the memory; `None` if the data variable is bound elsewhere.
        data: Option<Expr>,
    },
    /// A loop from `min` in steps of `step`, `extent` iterations. The extent is evaluated once;
    /// none when negative.
    For {
        /// The loop variable.
        var: Var,
        /// First value.
        min: Expr,
        /// Number of iterations.
        extent: Expr,
        /// Kind of the loop.
        kind: ForKind,
        /// Distance between values, at least 1; `None` is 1.
        step: Option<Expr>,
        /// Annotations for passes.
        annotations: Attrs,
        /// The body.
        body: Stmt,
    },
    /// A loop that runs as long as the condition holds.
    While {
        /// A scalar boolean.
        condition: Expr,
        /// The body.
        body: Stmt,
    },
    /// A conditional statement.
    If {
        /// A scalar boolean.
        condition: Expr,
        /// Statement that runs if the condition is true.
        then: Stmt,
        /// Statement that runs if the condition is false.
        otherwise: Option<Stmt>,
    },
    /// A block with values for its axes. It does not run where the predicate is false.
    BlockRealize {
        /// Values, one per axis of the block.
        iter_values: Vec<Expr>,
        /// A scalar boolean.
        predicate: Expr,
        /// The block.
        block: Arc<Block>,
    },
    /// An expression evaluated for its effect.
    Evaluate(Expr),
    /// An assertion: the function ends with an error unless the condition holds.
    Assert {
        /// A scalar boolean.
        condition: Expr,
        /// The error's kind, such as `ValueError`.
        kind: Arc<str>,
        /// Parts of the message: strings, and integers that are printed in decimal.
        message: Vec<Expr>,
    },
    /// An attribute of a statement.
    Attr {
        /// Subject of the attribute.
        node: AttrNode,
        /// Name of the attribute.
        key: Arc<str>,
        /// Value of the attribute.
        value: Expr,
        /// Statement that the attribute applies to.
        body: Stmt,
    },
    /// A thread axis of an extent, launched around the body (`T.launch_thread`), as after lowering.
    LaunchThread {
        /// Variable of the thread's index.
        var: Var,
        /// The axis.
        axis: ThreadAxis,
        /// Number of threads.
        extent: Expr,
        /// Statement that each thread runs.
        body: Stmt,
    },
    /// Ends the function with a value.
    Return(Option<Expr>),
    /// Ends the innermost loop.
    Break,
    /// Ends the iteration of the innermost loop.
    Continue,
}

/// The subject of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttrNode {
    /// Nothing in particular.
    None,
    /// A buffer.
    Buffer(Buffer),
    /// A variable.
    Var(Var),
    /// The combination of values (`reduce_scope`), for the [`Op::ThreadAllreduce`](crate::Op)
    /// within.
    Reducer(Arc<Reducer>),
}

/// A commutative and associative combination of values: `T.comm_reducer`. It may combine several
/// values at once (an argmax: value and index), so each field has one entry per value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reducer {
    /// Variables for the values combined so far, used only in the results.
    pub lhs: Vec<Var>,
    /// Variables for the values to combine, used only in the results.
    pub rhs: Vec<Var>,
    /// Results of the combination.
    pub result: Vec<Expr>,
    /// Neutral values of the combination; constants.
    pub identity: Vec<Expr>,
}

impl Stmt {
    /// Makes a node without a position. Nothing is checked: [`crate::validate`] does that.
    #[must_use]
    pub fn new(kind: StmtKind) -> Self {
        Self(Arc::new(StmtNode { kind, span: Span::NONE }))
    }

    /// Returns the same statement with a position.
    #[must_use]
    pub fn with_span(self, span: Span) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(node) => Self(Arc::new(StmtNode { span, ..node })),
            Err(shared) => Self(Arc::new(StmtNode { kind: shared.kind.clone(), span })),
        }
    }

    /// Makes a sequence; nested sequences are spliced in, and a sequence of one statement is that
    /// statement.
    ///
    /// Splicing widens the scope of variables that an inner sequence binds; variables are unique,
    /// so that no name is captured.
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

    /// Makes an empty sequence.
    #[must_use]
    pub fn nop() -> Self {
        Self::new(StmtKind::Seq(Vec::new()))
    }

    /// Returns true for an empty sequence.
    #[must_use]
    pub fn is_nop(&self) -> bool {
        matches!(&self.kind, StmtKind::Seq(stmts) if stmts.is_empty())
    }

    /// Returns true if both are the same node, not only equal ones.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies this node among all live ones.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Returns the constant that a statement declares (IR-B8): its buffer and its bytes.
    #[must_use]
    pub fn as_constant(&self) -> Option<(&Buffer, &ConstantData)> {
        match &self.kind {
            StmtKind::DeclBuffer { buffer, data: Some(data) } => match &data.kind {
                ExprKind::ConstantData(bytes) => Some((buffer, bytes)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Makes a store.
    #[must_use]
    pub fn store(buffer: &Buffer, indices: Vec<Expr>, value: Expr) -> Self {
        Self::new(StmtKind::Store { buffer: buffer.clone(), indices, value, predicate: None })
    }

    /// Makes a loop from 0.
    #[must_use]
    pub fn for_loop(var: Var, extent: Expr, kind: ForKind, body: Stmt) -> Self {
        let min = Expr::int(0, var.dtype);
        Self::new(StmtKind::For { var, min, extent, kind, step: None, annotations: Attrs::new(), body })
    }

    /// Makes a conditional statement.
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
