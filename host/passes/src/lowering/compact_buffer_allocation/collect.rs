//! All uses of the buffers that a function allocates.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Block, Buffer, Callee, Child, CompareOp, Expr, ExprKind, ForKind, Op, PrimFunc, Stmt, StmtKind,
    ThreadAxis, Var, attr,
};

use super::region::Sum;
use super::symbols::{sizes, unique};
use crate::simplify::linear::Linear;
use crate::simplify::{self, Ranges};
use crate::walk::{any_stmt, conjuncts, depends_on_memory, is_device_scope, is_thread, vars_of};

/// A loop around an access.
pub(super) struct Around {
    /// The variable; none for a loop that runs as long as a condition holds.
    pub(super) var: Option<Var>,
    pub(super) kind: ForKind,
    /// The launch that the loop stands in, or is the outermost loop of.
    pub(super) launch: Option<usize>,
    /// Whether the device runs it: in a launch, or under the note of IR-K8.
    pub(super) is_in_kernel: bool,
    /// Whether it has one iteration.
    pub(super) is_one: bool,
    /// Whether all threads of a block run the same iterations, and may meet in each.
    pub(super) is_uniform: bool,
}

/// The first to the last index on one axis of a buffer, in terms of loops.
pub(super) struct Index {
    pub(super) first: Sum,
    /// The greatest distance of another index from the first, to either side.
    pub(super) reach: (i128, i128),
    pub(super) bits: u16,
    /// Whether the first is that in whole numbers: nothing wraps.
    pub(super) is_exact: bool,
}

/// An access to a buffer, or a view of a region of it.
pub(super) struct Access {
    /// One for each axis; `None` where it is not known.
    pub(super) indices: Vec<Option<Index>>,
    /// The loops around, outermost first.
    pub(super) around: Vec<usize>,
    /// Axes of threads that are bound here.
    pub(super) axes: BTreeSet<ThreadAxis>,
    pub(super) launch: Option<usize>,
    /// Upper bounds, excluded, that hold here.
    pub(super) below: Arc<Vec<(Sum, i128)>>,
}

/// A buffer that is allocated, with all its accesses.
pub(super) struct Candidate {
    pub(super) buffer: Buffer,
    pub(super) accesses: Vec<Access>,
    /// The loops around its allocation.
    pub(super) around: Vec<usize>,
    /// Whether it is used in ways that are not known here.
    pub(super) is_open: bool,
    /// Axes whose stride is to be `offset` more than a multiple of `factor`: axis, factor, offset.
    pub(super) alignment: Vec<(usize, i128, i128)>,
}

/// The allocated buffers of a function, and what is known of its loops.
pub(super) struct Collected {
    pub(super) candidates: Vec<Candidate>,
    pub(super) around: Vec<Around>,
    /// For each launch, whether barriers in it are implicit (IR-K5).
    pub(super) has_implicit_barriers: Vec<bool>,
    /// The variable that stands for each axis of each launch.
    pub(super) threads: HashMap<Var, ThreadAxis>,
    pub(super) ranges: Ranges,
    /// Scalar parameters and sizes, which are the same everywhere.
    pub(super) sizes: HashSet<Var>,
}

pub(super) fn collect(function: &PrimFunc) -> Collected {
    let mut collector = Collector {
        all: Collected {
            candidates: Vec::new(),
            around: Vec::new(),
            has_implicit_barriers: Vec::new(),
            threads: HashMap::new(),
            ranges: Ranges::new(),
            sizes: sizes(function),
        },
        by_buffer: HashMap::new(),
        by_data: HashMap::new(),
        views: HashSet::new(),
        unique: unique(function),
        substitution: Substitution::new(),
        path: Vec::new(),
        axes: BTreeSet::new(),
        launch: None,
        is_noted: false,
        of_launch: HashMap::new(),
        below: Arc::new(Vec::new()),
        divergent: HashSet::new(),
        is_uniform: true,
    };
    for buffer in &function.alloc_buffers {
        collector.allocated(buffer);
    }
    collector.stmt(&function.body);
    collector.all
}

pub(super) struct Collector {
    pub(super) all: Collected,
    pub(super) by_buffer: HashMap<Buffer, usize>,
    /// By the data variables of the buffers and of views of them.
    pub(super) by_data: HashMap<Var, usize>,
    pub(super) views: HashSet<Buffer>,
    /// Symbols of views that are bound to a stride or an offset and used for nothing else.
    pub(super) unique: HashSet<Var>,
    /// Axes of blocks by their values, and threads by the variable that stands for their axis.
    substitution: Substitution,
    path: Vec<usize>,
    axes: BTreeSet<ThreadAxis>,
    launch: Option<usize>,
    /// Whether the current statement is under the note of IR-K8: a launch of one thread.
    is_noted: bool,
    of_launch: HashMap<ThreadAxis, Var>,
    below: Arc<Vec<(Sum, i128)>>,
    /// Variables whose values may differ between the threads of a block.
    divergent: HashSet<Var>,
    /// Whether all threads of a block are here if one is.
    is_uniform: bool,
}

impl Collector {
    fn allocated(&mut self, buffer: &Buffer) {
        let at = self.all.candidates.len();
        let whole = buffer.strides.is_empty() && buffer.elem_offset.is_none() && !buffer.shape.is_empty();
        self.by_buffer.insert(buffer.clone(), at);
        self.by_data.insert(buffer.data.clone(), at);
        self.all.candidates.push(Candidate {
            buffer: buffer.clone(),
            accesses: Vec::new(),
            around: self.path.clone(),
            is_open: !whole,
            alignment: Vec::new(),
        });
    }

    pub(super) fn open(&mut self, data: &Var) {
        if let Some(candidate) = self.by_data.get(data).and_then(|at| self.all.candidates.get_mut(*at)) {
            candidate.is_open = true;
        }
    }

    pub(super) fn in_loops(&mut self, expr: &Expr) -> Expr {
        simplify::expr_with(&self.substitution.expr(expr), &self.all.ranges)
    }

    /// Whether an expression has one value for all threads of a block.
    fn has_one_value(&mut self, expr: &Expr) -> bool {
        let expr = self.in_loops(expr);
        !depends_on_memory(&expr) && vars_of(&expr).is_disjoint(&self.divergent)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For { var, min, extent, kind, step, body, .. } => {
                [min, extent].into_iter().chain(step).for_each(|e| self.expr(e));
                if let ForKind::ThreadBinding(axis) = kind {
                    return self.thread(stmt, var, *axis, extent, body);
                }
                let (min, extent) = (self.in_loops(min), self.in_loops(extent));
                self.all.ranges.set_loop(var, &min, &extent, step.as_ref());
                let has_one_value = self.has_one_value(&min) && self.has_one_value(&extent);
                let is_uniform = has_one_value && !leaves_early(body);
                if !is_uniform {
                    self.divergent.insert(var.clone());
                }
                let is_one = extent.as_int() == Some(1);
                self.uniform(is_uniform, |this| this.within(Some(var.clone()), *kind, is_one, body));
            }
            StmtKind::LaunchThread { var, axis, extent, body } => {
                self.expr(extent);
                self.thread(stmt, var, *axis, extent, body);
            }
            StmtKind::While { condition, body } => {
                // The condition is evaluated in every iteration.
                let check = Stmt::new(StmtKind::Evaluate(condition.clone()));
                self.within(None, ForKind::Serial, false, &check);
                self.uniform(false, |this| this.within(None, ForKind::Serial, false, body));
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                let is_uniform = self.has_one_value(condition);
                self.uniform(is_uniform, |this| {
                    this.under(condition, |this| this.stmt(then));
                    otherwise.iter().for_each(|stmt| this.stmt(stmt));
                });
            }
            StmtKind::Bind { var, value } => {
                self.expr(value);
                if !self.has_one_value(value) {
                    self.divergent.insert(var.clone());
                }
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                iter_values.iter().chain([predicate]).for_each(|e| self.expr(e));
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    let value = self.in_loops(value);
                    self.substitution.map_var(&axis.var, value);
                }
                let is_uniform = self.has_one_value(predicate);
                self.uniform(is_uniform, |this| this.under(predicate, |this| this.block(block)));
            }
            StmtKind::Store { buffer, indices, .. } => {
                self.access(buffer, indices);
                self.children(stmt);
            }
            StmtKind::AllocBuffer { buffer, .. } => self.allocated(buffer),
            kind if is_device_scope(kind) => {
                let outer = std::mem::replace(&mut self.is_noted, true);
                self.children(stmt);
                self.is_noted = outer;
            }
            StmtKind::DeclBuffer { buffer, .. } => {
                self.open(&buffer.data);
                self.children(stmt);
            }
            _ => self.children(stmt),
        }
    }

    fn children(&mut self, stmt: &Stmt) {
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt),
            Child::Expr(expr) => self.expr(expr),
        });
    }

    fn within(&mut self, var: Option<Var>, kind: ForKind, is_one: bool, body: &Stmt) {
        self.path.push(self.all.around.len());
        let is_uniform = self.is_uniform;
        let (launch, is_in_kernel) = (self.launch, self.launch.is_some() || self.is_noted);
        self.all.around.push(Around { var, kind, launch, is_in_kernel, is_one, is_uniform });
        self.stmt(body);
        self.path.pop();
    }

    /// Runs `inner` where all threads of a block are only if they were before, and if `is_uniform`.
    fn uniform(&mut self, is_uniform: bool, inner: impl FnOnce(&mut Self)) {
        let outer = self.is_uniform;
        self.is_uniform &= is_uniform;
        inner(self);
        self.is_uniform = outer;
    }

    fn thread(&mut self, stmt: &Stmt, var: &Var, axis: ThreadAxis, extent: &Expr, body: &Stmt) {
        let is_outermost = self.launch.is_none();
        if is_outermost {
            let has_blocks = any_stmt(stmt, &mut |kind| match kind {
                StmtKind::BlockRealize { .. } => true,
                StmtKind::Attr { key, .. } => **key == *attr::IMPLICIT_BARRIERS,
                _ => false,
            });
            self.launch = Some(self.all.has_implicit_barriers.len());
            self.all.has_implicit_barriers.push(has_blocks && is_thread(stmt) && !ends_threads(stmt));
            self.of_launch.clear();
            self.is_uniform = true;
        }
        match self.of_launch.get(&axis) {
            Some(known) => self.substitution.map_var(var, known.expr().cast(var.dtype)),
            None => {
                self.of_launch.insert(axis, var.clone());
                self.all.threads.insert(var.clone(), axis);
                let extent = self.in_loops(extent);
                self.all.ranges.set_loop(var, &Expr::int(0, var.dtype), &extent, None);
            }
        }
        if !super::region::is_block(axis) {
            self.divergent.insert(var.clone());
        }
        let is_new = self.axes.insert(axis);
        self.within(Some(var.clone()), ForKind::ThreadBinding(axis), false, body);
        if is_new {
            self.axes.remove(&axis);
        }
        if is_outermost {
            self.launch = None;
        }
    }

    /// Runs `inner` where a condition holds. Bounds of memory hold only until it changes.
    fn under(&mut self, condition: &Expr, inner: impl FnOnce(&mut Self)) {
        let outer = Arc::clone(&self.below);
        for part in conjuncts(condition) {
            if let ExprKind::Compare(CompareOp::Lt, a, b) = &part.kind
                && a.dtype.is_integer()
                && a.dtype.is_scalar()
                && let Some(end) = self.in_loops(b).as_int()
            {
                let a = self.in_loops(a);
                if !depends_on_memory(&a)
                    && Linear::of(&a).fits(&self.all.ranges)
                    && let Some(sum) = Sum::of(&a, &self.all.ranges)
                {
                    Arc::make_mut(&mut self.below).push((sum, end));
                }
            }
        }
        inner(self);
        self.below = outer;
    }

    fn block(&mut self, block: &Block) {
        for buffer in &block.alloc_buffers {
            self.allocated(buffer);
        }
        for view in &block.match_buffers {
            self.view(view);
        }
        self.alignment(block);
        for axis in &block.iter_vars {
            self.expr(&axis.min);
            self.expr(&axis.extent);
        }
        block.init.iter().chain([&block.body]).for_each(|stmt| self.stmt(stmt));
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Var(var) if var.dtype.is_handle() => self.open(var),
            ExprKind::Load { buffer, indices, .. } => self.access(buffer, indices),
            ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => {
                for arg in args {
                    if let ExprKind::Load { buffer, .. } = &arg.kind {
                        self.open(&buffer.data);
                    }
                }
            }
            _ => {}
        }
        expr.for_each_child(&mut |child| self.expr(child));
    }

    fn access(&mut self, buffer: &Buffer, indices: &[Expr]) {
        if !self.by_buffer.contains_key(buffer) {
            // The region of a view is known; anything else is another view of the memory.
            if !self.views.contains(buffer) {
                self.open(&buffer.data);
            }
            return;
        }
        let indices = indices.iter().map(|index| {
            let index = self.substitution.expr(index);
            self.index(&index, 0)
        });
        let indices = indices.collect();
        self.accessed(buffer, indices);
    }

    pub(super) fn index(&self, index: &Expr, reach: i128) -> Option<Index> {
        let index = simplify::expr_with(index, &self.all.ranges);
        let (base, low, high) = match &index.kind {
            ExprKind::Broadcast { value, .. } => (value.clone(), 0, 0),
            ExprKind::Ramp { base, stride, lanes } => {
                let reach = stride.as_int()?.checked_mul(i128::from(*lanes) - 1)?;
                (base.clone(), reach.min(0), reach.max(0))
            }
            _ => (index.clone(), 0, 0),
        };
        let first = Sum::of(&base, &self.all.ranges)?;
        let is_exact = Linear::of(&base).fits(&self.all.ranges);
        Some(Index { first, reach: (low, high.checked_add(reach)?), bits: base.dtype.bits.into(), is_exact })
    }

    pub(super) fn accessed(&mut self, buffer: &Buffer, indices: Vec<Option<Index>>) {
        let Some(at) = self.by_buffer.get(buffer) else { return };
        let access = Access {
            indices,
            around: self.path.clone(),
            axes: self.axes.clone(),
            launch: self.launch,
            below: Arc::clone(&self.below),
        };
        if let Some(candidate) = self.all.candidates.get_mut(*at) {
            candidate.accesses.push(access);
        }
    }
}

/// Whether the loop with this body may end before its last iteration.
fn leaves_early(body: &Stmt) -> bool {
    any_stmt(body, &mut |kind| matches!(kind, StmtKind::Break | StmtKind::Continue))
}

/// Whether threads may end before the launch does.
fn ends_threads(launch: &Stmt) -> bool {
    let mut ends = false;
    launch.walk_exprs(&mut |e| {
        ends |= matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::ThreadReturn), .. });
    });
    ends
}
