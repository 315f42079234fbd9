//! Uses of memory in a function: which buffers are read, written, added to atomically, and whether
//! a barrier stands between accesses to one of them.

use std::collections::{HashMap, HashSet};

use chipdock_ir::{
    AttrValue, Attrs, Buffer, Callee, Child, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, StorageRank,
    ThreadAxis,
};

use crate::DEPTH_MAX;

/// The annotation of an allocation whose accesses must all happen as written.
const VOLATILE: &str = "tirx.volatile";

/// The uses of a piece of memory in a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Whether it may be read.
    pub is_read: bool,
    /// Whether it may be written, atomically or not.
    pub is_written: bool,
    /// Whether a type narrower than 32 bits is stored in it.
    pub is_written_narrow: bool,
    /// Whether it is added to atomically.
    pub is_atomic: bool,
    /// Whether its allocation requires that every access happens as written.
    pub is_volatile: bool,
}

/// A launched axis and its number of threads or blocks, where that is constant.
pub(crate) type Launched = (ThreadAxis, Option<i128>);

/// Accesses of one piece of memory: positions of the first and the last in the walk.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    last: usize,
    is_written: bool,
}

/// The uses of memory in one function.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    uses: HashMap<usize, Uses>,
    /// Axes that the body launches, in order.
    pub(crate) launched: Vec<Launched>,
    /// Allocations, in order.
    pub(crate) allocations: Vec<Buffer>,
    /// Whether the function has warp operations.
    pub(crate) uses_warp: bool,
    /// Whether a barrier orders accesses to global memory.
    pub(crate) orders_global: bool,
    spans: HashMap<usize, Span>,
    barriers: Vec<usize>,
    /// Whether a pointer escapes from this walk.
    has_escaped: bool,
    at: usize,
}

impl Memory {
    /// Analyses a function's body. With `is_noalias`, different parameters do not overlap.
    pub(crate) fn of(body: &Stmt, is_noalias: bool) -> Self {
        let mut memory = Self::default();
        memory.stmt(body, 0);
        memory.orders_global = memory.is_global_ordered(is_noalias);
        memory
    }

    /// The uses of the memory of a data variable.
    pub(crate) fn uses(&self, address: usize) -> Uses {
        self.uses.get(&address).copied().unwrap_or_default()
    }

    fn is_global_ordered(&self, is_noalias: bool) -> bool {
        let is_around = |span: &Span| {
            span.is_written
                && self.barriers.iter().any(|barrier| span.first < *barrier && *barrier < span.last)
        };
        if is_noalias && !self.has_escaped {
            return self.spans.values().any(is_around);
        }
        let all = self.spans.values().copied().reduce(|a, b| Span {
            first: a.first.min(b.first),
            last: a.last.max(b.last),
            is_written: a.is_written || b.is_written,
        });
        all.as_ref().is_some_and(is_around) || self.has_escaped && !self.barriers.is_empty()
    }

    fn touch(&mut self, buffer: &Buffer, is_write: bool) {
        let address = buffer.data.address();
        let uses = self.uses.entry(address).or_default();
        uses.is_read |= !is_write;
        uses.is_written |= is_write;
        uses.is_written_narrow |= is_write && (buffer.dtype.bits < 32 || buffer.dtype.is_bool());
        if matches!(buffer.scope.rank, StorageRank::Global | StorageRank::Other) {
            let at = self.at;
            let span = self.spans.entry(address).or_insert(Span { first: at, last: at, is_written: false });
            span.last = at;
            span.is_written |= is_write;
        }
    }

    /// Records a pointer that is used as a value: its memory may be accessed in any way.
    fn escape(&mut self, address: usize) {
        let uses = self.uses.entry(address).or_default();
        (uses.is_read, uses.is_written) = (true, true);
        self.has_escaped = true;
    }

    fn stmt(&mut self, s: &Stmt, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        self.at += 1;
        let (start, barriers) = (self.at, self.barriers.len());
        let mut seen = HashSet::new();
        match &s.kind {
            StmtKind::Store { buffer, .. } => self.touch(buffer, true),
            StmtKind::AllocBuffer { buffer, annotations } => self.allocate(buffer, annotations),
            StmtKind::LaunchThread { axis, extent, .. } => self.launched.push((*axis, extent.as_int())),
            StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } => {
                self.launched.push((*axis, extent.as_int()));
            }
            // A view of a known variable is not a use of it.
            StmtKind::DeclBuffer { buffer, data: Some(data) } if matches!(&data.kind, ExprKind::Var(var) if var.address() == buffer.data.address()) =>
            {
                return;
            }
            StmtKind::Evaluate(e) if is_barrier(e) => self.barriers.push(self.at),
            _ => {}
        }
        s.for_each_child(&mut |child| match child {
            Child::Expr(e) => self.expr(e, 0, &mut seen),
            Child::Stmt(s) => self.stmt(s, depth + 1),
        });
        let is_loop = match &s.kind {
            StmtKind::For { kind, .. } => !matches!(kind, ForKind::ThreadBinding(_)),
            StmtKind::While { .. } => true,
            _ => false,
        };
        if is_loop && self.barriers.len() > barriers {
            self.repeat(start);
        }
    }

    /// Extends the accesses in a loop with a barrier: they happen before and after that barrier.
    fn repeat(&mut self, start: usize) {
        self.at += 1;
        let first = self.barriers.iter().copied().find(|barrier| *barrier >= start).unwrap_or(start);
        for span in self.spans.values_mut().filter(|span| span.last >= start) {
            span.first = span.first.min(first - 1);
            span.last = self.at;
        }
    }

    fn allocate(&mut self, buffer: &Buffer, annotations: &Attrs) {
        self.allocations.push(buffer.clone());
        let is_volatile =
            matches!(annotations.get(VOLATILE), Some(AttrValue::Bool(true) | AttrValue::Int(1)));
        self.uses.entry(buffer.data.address()).or_default().is_volatile |= is_volatile;
    }

    fn expr(&mut self, e: &Expr, depth: usize, seen: &mut HashSet<usize>) {
        if depth > DEPTH_MAX || !seen.insert(e.address()) {
            return;
        }
        match &e.kind {
            ExprKind::Load { buffer, .. } => self.touch(buffer, false),
            ExprKind::Var(var) if var.dtype.is_handle() => self.escape(var.address()),
            ExprKind::Call { callee: Callee::Op(op), args } => {
                self.uses_warp |= is_of_warp(*op, args);
                if self.address(*op, args, depth, seen) {
                    return;
                }
            }
            _ => {}
        }
        e.for_each_child(&mut |child| self.expr(child, depth + 1, seen));
    }

    /// Handles ops on the address of an element; returns true if their arguments need no further
    /// visit.
    fn address(&mut self, op: Op, args: &[Expr], depth: usize, seen: &mut HashSet<usize>) -> bool {
        match (op, args) {
            (Op::AtomicAdd, [place, value]) => {
                if let ExprKind::Call { callee: Callee::Op(Op::AccessPtr), args } = &place.kind
                    && let Some(ExprKind::Var(var)) = args.get(1).map(|data| &data.kind)
                {
                    self.uses.entry(var.address()).or_default().is_atomic = true;
                }
                if let Some(ExprKind::Load { buffer, indices, .. }) = address_of(place).map(|e| &e.kind) {
                    self.touch(buffer, false);
                    self.touch(buffer, true);
                    self.uses.entry(buffer.data.address()).or_default().is_atomic = true;
                    indices.iter().chain([value]).for_each(|e| self.expr(e, depth + 1, seen));
                    return true;
                }
                false
            }
            (Op::AddressOf, [place]) => {
                if let ExprKind::Load { buffer, .. } = &place.kind {
                    self.touch(buffer, true);
                    self.escape(buffer.data.address());
                }
                false
            }
            _ => false,
        }
    }
}

/// Returns the load whose address the expression takes.
fn address_of(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => args.first(),
        _ => None,
    }
}

fn is_barrier(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::StorageSync), .. })
}

fn is_of_warp(op: Op, args: &[Expr]) -> bool {
    let is_warp_barrier = op == Op::StorageSync
        && matches!(args.first().map(|arg| &arg.kind), Some(ExprKind::Str(scope)) if &**scope == "warp");
    is_warp_barrier || op.threads().is_of_warp()
}
