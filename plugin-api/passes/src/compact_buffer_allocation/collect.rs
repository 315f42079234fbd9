//! All uses of the buffers that a function allocates.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Block, Buffer, Callee, Expr, ExprKind, ForKind, MatchBufferRegion, Op, PrimFunc, Stmt,
    StmtKind, ThreadAxis, Var, attr,
};

use super::region::Sum;
use crate::simplify::{self, Ranges};
use crate::walk::{any_stmt, conjuncts, is_thread};

/// A loop around an access.
pub(super) struct Around {
    /// The variable; none for a loop that runs as long as a condition holds.
    pub(super) var: Option<Var>,
    pub(super) kind: ForKind,
    /// The launch that the loop stands in, or is the outermost loop of.
    pub(super) launch: Option<usize>,
    /// Whether it has one iteration.
    pub(super) is_one: bool,
}

/// The first to the last index on one axis of a buffer, in terms of loops.
pub(super) struct Index {
    pub(super) first: Sum,
    /// The greatest distance of another index from the first, to either side.
    pub(super) reach: (i128, i128),
    pub(super) bits: u16,
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
}

pub(super) fn collect(function: &PrimFunc) -> Collected {
    let mut collector = Collector {
        all: Collected {
            candidates: Vec::new(),
            around: Vec::new(),
            has_implicit_barriers: Vec::new(),
            threads: HashMap::new(),
            ranges: Ranges::new(),
        },
        by_buffer: HashMap::new(),
        by_data: HashMap::new(),
        substitution: Substitution::new(),
        path: Vec::new(),
        axes: BTreeSet::new(),
        launch: None,
        of_launch: HashMap::new(),
        below: Arc::new(Vec::new()),
    };
    for buffer in &function.alloc_buffers {
        collector.allocated(buffer);
    }
    collector.stmt(&function.body);
    collector.all
}

struct Collector {
    all: Collected,
    by_buffer: HashMap<Buffer, usize>,
    by_data: HashMap<Var, usize>,
    /// Axes of blocks by their values, and threads by the variable that stands for their axis.
    substitution: Substitution,
    path: Vec<usize>,
    axes: BTreeSet<ThreadAxis>,
    launch: Option<usize>,
    of_launch: HashMap<ThreadAxis, Var>,
    below: Arc<Vec<(Sum, i128)>>,
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

    fn open(&mut self, data: &Var) {
        if let Some(candidate) = self.by_data.get(data).and_then(|at| self.all.candidates.get_mut(*at)) {
            candidate.is_open = true;
        }
    }

    fn in_loops(&mut self, expr: &Expr) -> Expr {
        simplify::expr_with(&self.substitution.expr(expr), &self.all.ranges)
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
                self.within(Some(var.clone()), *kind, extent.as_int() == Some(1), body);
            }
            StmtKind::LaunchThread { var, axis, extent, body } => {
                self.expr(extent);
                self.thread(stmt, var, *axis, extent, body);
            }
            StmtKind::While { condition, body } => {
                // The condition is evaluated in every iteration.
                let check = Stmt::new(StmtKind::Evaluate(condition.clone()));
                self.within(None, ForKind::Serial, false, &check);
                self.within(None, ForKind::Serial, false, body);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.under(condition, |this| this.stmt(then));
                otherwise.iter().for_each(|stmt| self.stmt(stmt));
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                iter_values.iter().chain([predicate]).for_each(|e| self.expr(e));
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    let value = self.in_loops(value);
                    self.substitution.map_var(&axis.var, value);
                }
                self.under(predicate, |this| this.block(block));
            }
            StmtKind::Store { buffer, indices, .. } => {
                self.access(buffer, indices);
                self.children(stmt);
            }
            StmtKind::AllocBuffer { buffer, .. } => self.allocated(buffer),
            StmtKind::DeclBuffer { buffer, .. } => {
                self.open(&buffer.data);
                self.children(stmt);
            }
            _ => self.children(stmt),
        }
    }

    fn children(&mut self, stmt: &Stmt) {
        stmt.for_each_child(&mut |child| match child {
            chipdock_ir::Child::Stmt(stmt) => self.stmt(stmt),
            chipdock_ir::Child::Expr(expr) => self.expr(expr),
        });
    }

    fn within(&mut self, var: Option<Var>, kind: ForKind, is_one: bool, body: &Stmt) {
        self.path.push(self.all.around.len());
        self.all.around.push(Around { var, kind, launch: self.launch, is_one });
        self.stmt(body);
        self.path.pop();
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
            self.all.has_implicit_barriers.push(has_blocks && is_thread(stmt));
            self.of_launch.clear();
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
        let is_new = self.axes.insert(axis);
        self.within(Some(var.clone()), ForKind::ThreadBinding(axis), false, body);
        if is_new {
            self.axes.remove(&axis);
        }
        if is_outermost {
            self.launch = None;
        }
    }

    /// Runs `inner` where a condition holds.
    fn under(&mut self, condition: &Expr, inner: impl FnOnce(&mut Self)) {
        let outer = Arc::clone(&self.below);
        for part in conjuncts(condition) {
            if let ExprKind::Compare(chipdock_ir::CompareOp::Lt, a, b) = &part.kind
                && let Some(end) = self.in_loops(b).as_int()
                && a.dtype.is_integer()
                && a.dtype.is_scalar()
            {
                let a = self.in_loops(a);
                if let Some(sum) = Sum::of(&a, &self.all.ranges) {
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

    /// A view of a region: an access to all of it, through pointers too.
    fn view(&mut self, view: &MatchBufferRegion) {
        let source = &view.source;
        for range in &source.region {
            self.expr(&range.min);
            self.expr(&range.extent);
        }
        // Strides that are stated could be no longer those of the source, except that of the last axis.
        let is_symbol = |e: &Expr| matches!(e.kind, ExprKind::Var(_));
        let stated = match view.buffer.strides.split_last() {
            Some((last, rest)) if last.as_int() == Some(1) => rest,
            _ => view.buffer.strides.as_slice(),
        };
        if !stated.iter().chain(&view.buffer.elem_offset).all(is_symbol) {
            self.open(&source.buffer.data);
        }
        let region = source.region.iter().map(|range| {
            let (_, most) = self
                .all
                .ranges
                .of(&simplify::expr_with(&self.substitution.expr(&range.extent), &self.all.ranges));
            let min = self.substitution.expr(&range.min);
            self.index(&min, most.max(1) - 1)
        });
        let region = region.collect();
        self.accessed(&source.buffer, region);
    }

    /// Alignments of strides: TVM's `storage_align`, of the buffers that the block writes.
    fn alignment(&mut self, block: &Block) {
        let Some(AttrValue::List(entries)) = block.annotations.get("buffer_dim_align") else { return };
        for entry in entries {
            let AttrValue::List(entry) = entry else { continue };
            let number = |at: usize| match entry.get(at) {
                Some(AttrValue::Int(value)) => Some(i128::from(*value)),
                Some(AttrValue::Expr(value)) => value.as_int(),
                _ => None,
            };
            let (Some(of), Some(axis), Some(factor), Some(offset)) =
                (number(0), number(1), number(2), number(3))
            else {
                continue;
            };
            let written = block.writes.as_ref().and_then(|list| list.get(usize::try_from(of).ok()?));
            let Some(written) = written.and_then(|region| self.by_buffer.get(&region.buffer)) else {
                continue;
            };
            let Some(candidate) = self.all.candidates.get_mut(*written) else { continue };
            // Elements of the last axis stay adjacent.
            let last = candidate.buffer.shape.len() as i128 - 1;
            if let Some(axis) = usize::try_from(axis).ok().filter(|_| axis < last && factor > 0) {
                candidate.alignment.push((axis, factor, offset));
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
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
            // Another view of the memory.
            self.open(&buffer.data);
            return;
        }
        let indices = indices.iter().map(|index| {
            let index = self.substitution.expr(index);
            self.index(&index, 0)
        });
        let indices = indices.collect();
        self.accessed(buffer, indices);
    }

    fn index(&self, index: &Expr, reach: i128) -> Option<Index> {
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
        Some(Index { first, reach: (low, high + reach), bits: base.dtype.bits.into() })
    }

    fn accessed(&mut self, buffer: &Buffer, indices: Vec<Option<Index>>) {
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
