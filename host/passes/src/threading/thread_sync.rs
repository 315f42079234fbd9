//! Insertion of barriers between accesses to memory that the threads of a block share.

mod access;
mod gather;
mod guard;

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Expr, ExprKind, ForKind, IrModule, PrimFunc, Span, Stmt, StmtKind, TargetCapabilities, Var, attr,
};

use crate::PassError;
use crate::simplify::{self, Ranges, leaves_loop};
use crate::threading::threads::{Threads, barrier, barrier_scope, is_shared, try_map_launches};
use crate::walk::{any_stmt, try_map_functions};
use access::{Access, VarFacts};

const PASS: &str = "thread_sync";

/// Makes the implicit barriers of IR-K5 explicit, inserting as few as analysis shows to be
/// necessary: a barrier stands between two statements of a sequence, or at the end of an iteration,
/// if two threads of a block may touch one element of shared memory, one of them writing, and no
/// barrier lies between them already. Elements are distinguished by memory, by the bounds of
/// indices, and by evaluating indices thread by thread if the extents of the block are constant.
///
/// A barrier that would stand in a branch on which threads decide differently is moved out of it:
/// the branch is split at barriers, and the loops in it are moved around its parts.
///
/// Launches without the attribute `chipdock.implicit_barriers` are as their author wrote them, and
/// are unchanged.
///
/// # Before and after
///
/// ```text
/// with T.launch_thread("threadIdx.x", 128) as tx:       with T.launch_thread("threadIdx.x", 128) as tx:
///     T.attr(0, "chipdock.implicit_barriers", 1)            S[tx] = A[tx]
///     S[tx] = A[tx]                                  ->     T.tvm_storage_sync("shared")
///     B[tx] = S[127 - tx]                                   B[tx] = S[127 - tx]
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers, and no virtual threads. No such attribute is left; memory that the
/// threads of a block share has explicit barriers, each at a point that all threads of the block
/// reach.
///
/// # Errors
///
/// The caller's: a barrier in a loop whose number of iterations differs between threads, or that
/// some threads leave early; a reduction across threads in a branch on which threads decide
/// differently.
pub fn thread_sync(module: &IrModule, _capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        let body = try_map_launches(&function.body, &mut |launch| {
            if !is_marked(launch) {
                return Ok(launch.clone());
            }
            Syncer::new(function, launch).process(launch).map(|(launch, _)| launch)
        })?;
        Ok(PrimFunc { body, ..function.clone() })
    })
}

fn is_marked(launch: &Stmt) -> bool {
    any_stmt(
        launch,
        &mut |kind| matches!(kind, StmtKind::Attr { key, .. } if **key == *attr::IMPLICIT_BARRIERS),
    )
}

/// The accesses of a statement around its barriers.
#[derive(Default)]
struct Flow {
    /// Accesses before the first barrier.
    head: Vec<Access>,
    /// Accesses after the last barrier.
    tail: Vec<Access>,
    /// Whether every path through the statement has a barrier.
    is_ordered: bool,
    /// Whether threads wait for each other anywhere in the statement.
    waits: bool,
}

impl Flow {
    fn new(accesses: Vec<Access>) -> Self {
        Self { head: accesses.clone(), tail: accesses, is_ordered: false, waits: false }
    }

    /// The union with the flow of an alternative.
    fn or(mut self, other: Self) -> Self {
        merge(&mut self.head, other.head);
        merge(&mut self.tail, other.tail);
        let is_ordered = self.is_ordered && other.is_ordered;
        Self { is_ordered, waits: self.waits || other.waits, ..self }
    }
}

fn merge(into: &mut Vec<Access>, from: Vec<Access>) {
    for access in from {
        if !into.iter().any(|known| known.same(&access)) {
            into.push(access);
        }
    }
}

struct Syncer<'a> {
    function: &'a PrimFunc,
    threads: Threads,
    ranges: Ranges,
    /// Variables with the same value in all threads of a block.
    uniform: HashSet<Var>,
    /// Names of values that are computed from indices alone, with their values.
    names: Substitution,
    pointed: HashSet<Var>,
    written: HashSet<Var>,
    /// Conditions that hold for the threads that reach the current statement.
    conditions: Vec<Expr>,
    /// Whether some threads may leave the innermost loop before others.
    leaves: bool,
    span: Span,
}

impl<'a> Syncer<'a> {
    fn new(function: &'a PrimFunc, launch: &Stmt) -> Self {
        let threads = Threads::collect(launch);
        let mut uniform = HashSet::new();
        for param in &function.params {
            match param {
                chipdock_ir::Param::Var(var) => drop(uniform.insert(var.clone())),
                chipdock_ir::Param::Buffer(buffer) => {
                    for extent in buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset) {
                        uniform.extend(crate::walk::vars_of(extent));
                    }
                }
            }
        }
        gather::outside(&function.body, &mut uniform);
        let (pointed, written) = gather::memory(&function.body);
        Self {
            function,
            threads,
            ranges: Ranges::new(),
            uniform,
            names: Substitution::new(),
            pointed,
            written,
            conditions: Vec::new(),
            leaves: false,
            span: Span::NONE,
        }
    }

    fn refuse(&self, message: &str) -> PassError {
        let name = &self.function.name;
        PassError::caller(PASS, name, message).at(self.span)
    }

    fn known(&self) -> VarFacts<'_> {
        VarFacts { threads: &self.threads, ranges: &self.ranges, pointed: &self.pointed }
    }

    /// The scope of the barrier that must stand between the accesses; `None` if none is needed.
    fn between(&self, before: &[Access], after: &[Access]) -> Option<&'static str> {
        let known = self.known();
        let mut scope = None;
        for first in before {
            for second in after {
                let is_dynamic = first.buffer.scope.is_dynamic_shared();
                // One barrier serves both.
                if scope == Some("shared") || scope.is_some() && is_dynamic {
                    continue;
                }
                if first.meets(second, &self.uniform, &known) {
                    scope = Some(if is_dynamic { "shared.dyn" } else { "shared" });
                }
            }
        }
        scope
    }

    fn process(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        let outer = self.span;
        if stmt.span != Span::NONE {
            self.span = stmt.span;
        }
        let result = self.process_kind(stmt);
        self.span = outer;
        let (new, flow) = result?;
        Ok((if new.span == Span::NONE { new.with_span(stmt.span) } else { new }, flow))
    }

    fn process_kind(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.sequence(stmts),
            StmtKind::If { .. } => self.branch(stmt),
            StmtKind::For { var, kind: ForKind::ThreadBinding(_), extent, .. }
            | StmtKind::LaunchThread { var, extent, .. } => {
                self.ranges.set_loop(var, &Expr::int(0, var.dtype), extent, None);
                if self.threads.position(var).is_none() || extent.as_int() == Some(1) {
                    self.uniform.insert(var.clone());
                }
                self.within(stmt)
            }
            StmtKind::For { .. } => self.for_loop(stmt),
            StmtKind::While { .. } => self.while_loop(stmt),
            StmtKind::Attr { key, body, .. } if **key == *attr::IMPLICIT_BARRIERS => self.process(body),
            StmtKind::Attr { .. } => self.within(stmt),
            StmtKind::Bind { var, value } => {
                let flow = Flow::new(self.expr(value));
                if self.is_uniform(value) {
                    self.uniform.insert(var.clone());
                }
                if access::is_index(value.dtype) {
                    let (low, high) = self.ranges.of(value);
                    self.ranges.set(var, low, high);
                }
                if simplify::is_pure(value) && !crate::walk::depends_on_memory(value) {
                    let value = self.names.expr(value);
                    self.names.map_var(var, value);
                }
                Ok((stmt.clone(), flow))
            }
            _ if barrier_scope(stmt).is_some_and(|scope| scope != "warp") => {
                let flow = Flow { is_ordered: true, waits: true, ..Flow::default() };
                Ok((stmt.clone(), flow))
            }
            _ => {
                let (accesses, waits) = self.leaf(stmt);
                Ok((stmt.clone(), Flow { waits, ..Flow::new(accesses) }))
            }
        }
    }

    /// Processes the only child of a statement in place.
    fn within(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        let mut flow = Flow::default();
        let new = stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |body| {
            let (body, inner) = self.process(body)?;
            flow = inner;
            Ok(body)
        })?;
        Ok((new, flow))
    }

    fn sequence(&mut self, stmts: &[Stmt]) -> Result<(Stmt, Flow), PassError> {
        let mut out = Vec::with_capacity(stmts.len());
        let mut whole = Flow::default();
        for stmt in stmts {
            let (stmt, flow) = self.process(stmt)?;
            if let Some(scope) = self.between(&whole.tail, &flow.head) {
                out.push(barrier(scope));
                whole = Flow { tail: Vec::new(), is_ordered: true, waits: true, ..whole };
            }
            if !whole.is_ordered {
                merge(&mut whole.head, flow.head);
            }
            if flow.is_ordered {
                whole.tail = flow.tail;
            } else {
                merge(&mut whole.tail, flow.tail);
            }
            whole.is_ordered |= flow.is_ordered;
            whole.waits |= flow.waits;
            out.push(stmt);
        }
        Ok((Stmt::seq(out), whole))
    }

    fn branch(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        let StmtKind::If { condition, then, otherwise } = &stmt.kind else {
            return Ok((stmt.clone(), Flow::default()));
        };
        let decided = self.expr(condition);
        let is_uniform = self.is_uniform(condition);
        let leaves = self.leaves;
        let side = |this: &mut Self, side: &Stmt, condition: Expr| {
            let condition = this.names.expr(&condition);
            let outside = this.ranges.mark();
            this.ranges.assume(&condition);
            this.conditions.push(condition);
            let result = this.process(side);
            this.conditions.pop();
            this.ranges.back_to(outside);
            result
        };
        let (new_then, mut flow) = side(self, then, condition.clone())?;
        let mut new_otherwise = None;
        let not = simplify::expr(&condition.clone().logical_not());
        match otherwise {
            Some(otherwise) => {
                let (stmt, other) = side(self, otherwise, not)?;
                flow = flow.or(other);
                new_otherwise = Some(stmt);
            }
            None => flow = flow.or(Flow::default()),
        }
        if !is_uniform && flow.waits {
            self.leaves = leaves;
            let moved = self.guarded(condition, then, otherwise.as_ref())?;
            return self.process(&moved);
        }
        self.leaves |= !is_uniform && leaves_loop(stmt);
        let mut head = decided.clone();
        merge(&mut head, flow.head);
        let mut tail = flow.tail;
        if !flow.is_ordered {
            merge(&mut tail, decided);
        }
        let new = Stmt::if_then(condition.clone(), new_then, new_otherwise);
        Ok((new, Flow { head, tail, ..flow }))
    }

    fn for_loop(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return Ok((stmt.clone(), Flow::default()));
        };
        let mut bounds = self.expr(min);
        merge(&mut bounds, self.expr(extent));
        let is_uniform = self.is_uniform(min) && self.is_uniform(extent);
        let is_ordered = matches!(kind, ForKind::Serial | ForKind::Unrolled);
        let named = [self.names.expr(min), self.names.expr(extent)];
        self.ranges.set_loop(var, &named[0], &named[1], step.as_ref());
        if is_uniform && is_ordered {
            self.uniform.insert(var.clone());
        }
        let leaves = std::mem::take(&mut self.leaves);
        let original = body;
        let (mut body, mut flow) = self.process(body)?;
        self.uniform.remove(var);
        self.forget(original);
        if let Some(scope) = self.between(&flow.tail, &flow.head) {
            body = Stmt::seq([body, barrier(scope)]);
            flow = Flow { tail: Vec::new(), is_ordered: true, waits: true, ..flow };
        }
        if flow.waits {
            self.whole_loop(is_uniform && is_ordered)?;
        }
        self.leaves = leaves;
        let runs = extent.as_int().is_some_and(|extent| extent > 0);
        merge(&mut bounds, flow.head);
        let mut tail = flow.tail;
        if !(flow.is_ordered && runs) {
            merge(&mut tail, bounds.clone());
        }
        let flow = Flow { head: bounds, tail, is_ordered: flow.is_ordered && runs, waits: flow.waits };
        let (var, min, extent, kind) = (var.clone(), min.clone(), extent.clone(), *kind);
        let (step, annotations) = (step.clone(), annotations.clone());
        let new = StmtKind::For { var, min, extent, kind, step, annotations, body };
        Ok((Stmt::new(new), flow))
    }

    /// Drops variables that a loop binds: they have other values in the next iteration.
    fn forget(&mut self, body: &Stmt) {
        gather::bound(body, &mut |var| {
            self.uniform.remove(var);
        });
    }

    /// Rejects a loop in which threads wait, unless it runs the same way in all of them.
    fn whole_loop(&self, is_uniform: bool) -> Result<(), PassError> {
        if !is_uniform {
            return Err(self.refuse(
                "expected a loop that runs equally often in every thread of a block, as threads wait for each other in \
                 it; found one whose iterations depend on the thread or run in any order: make its extent the same for all, \
                 with a condition inside",
            ));
        }
        if self.leaves {
            return Err(self.refuse(
                "expected a loop that all threads of a block leave together, as they wait for each other in it; found a \
                 break or continue in a branch that threads decide on differently",
            ));
        }
        Ok(())
    }

    fn while_loop(&mut self, stmt: &Stmt) -> Result<(Stmt, Flow), PassError> {
        let StmtKind::While { condition, body } = &stmt.kind else {
            return Ok((stmt.clone(), Flow::default()));
        };
        let decided = self.expr(condition);
        let is_uniform = self.is_uniform(condition);
        let leaves = std::mem::take(&mut self.leaves);
        let original = body;
        let (mut body, mut flow) = self.process(body)?;
        self.forget(original);
        if let Some(scope) = self.between(&decided, &flow.head) {
            body = Stmt::seq([barrier(scope), body]);
            flow = Flow { head: Vec::new(), is_ordered: true, waits: true, ..flow };
        }
        let mut first = decided.clone();
        if !flow.waits || !flow.is_ordered {
            merge(&mut first, flow.head.clone());
        }
        if let Some(scope) = self.between(&flow.tail, &first) {
            body = Stmt::seq([body, barrier(scope)]);
            flow = Flow { tail: Vec::new(), is_ordered: true, waits: true, ..flow };
        }
        if flow.waits {
            self.whole_loop(is_uniform)?;
        }
        self.leaves = leaves;
        let mut head = decided.clone();
        merge(&mut head, flow.head);
        let mut tail = flow.tail;
        merge(&mut tail, decided);
        let new = Stmt::new(StmtKind::While { condition: condition.clone(), body });
        Ok((new, Flow { head, tail, is_ordered: false, waits: flow.waits }))
    }

    /// Returns true if all threads of a block that evaluate the expression together get the same
    /// value.
    fn is_uniform(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Var(var) => self.uniform.contains(var),
            ExprKind::Call { callee, args } => match callee {
                chipdock_ir::Callee::Op(chipdock_ir::Op::ThreadInvariant) => true,
                chipdock_ir::Callee::Op(op) if op.effect() == chipdock_ir::Effect::Pure => {
                    args.iter().all(|arg| self.is_uniform(arg))
                }
                _ => false,
            },
            // Between two barriers shared memory has the same value for all threads of a block; so
            // does memory that is never written.
            ExprKind::Load { buffer, .. }
                if !(is_shared(&buffer.scope)
                    || buffer.scope.rank == chipdock_ir::StorageRank::Global
                        && !self.written.contains(&buffer.data)) =>
            {
                false
            }
            ExprKind::Let { .. } => false,
            _ => {
                let mut uniform = true;
                expr.for_each_child(&mut |child| uniform &= self.is_uniform(child));
                uniform
            }
        }
    }
}
