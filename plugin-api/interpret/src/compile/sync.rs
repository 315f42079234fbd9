//! Compiles waits of threads for each other: barriers, implicit ones (IR-K5), reductions over
//! threads (IR-K6), warp operations (IR-K7).

use std::sync::Arc;

use super::{Compiled, Compiler, DEPTH_MAX, walk};
use crate::code::{Allreduce, FoldKind, From, Inst, Reg, Shuffle, Together, Tolerant, Value, Wait, WaitKind};
use crate::kernels;
use chipdock_ir::op::Threads;
use chipdock_ir::{
    BinaryOp, Block, Child, DType, Expr, ExprKind, IterKind, Op, Reducer, Stmt, StmtKind, StorageRank,
    StorageScope, Var,
};

/// The accesses of a statement to memory that the threads of a block, or of a warp, share.
#[derive(Clone, Copy, Default)]
pub(super) struct Touches {
    reads: bool,
    writes: bool,
}

impl Touches {
    fn and(self, other: Self) -> Self {
        Self { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }

    /// Returns true if the order of the two matters.
    fn conflicts(self, other: Self) -> bool {
        self.writes && (other.reads || other.writes) || self.reads && other.writes
    }
}

fn is_shared(scope: &StorageScope) -> bool {
    matches!(scope.rank, StorageRank::Shared | StorageRank::Warp)
}

impl Compiler<'_, '_> {
    /// Emits a place where threads wait.
    pub(super) fn wait(&mut self, kind: WaitKind) -> Compiled<usize> {
        let Some(open) = &self.threads.open else {
            return self.malformed("threads wait outside of a launch");
        };
        if open.is_parallel {
            self.trap("threads that wait for each other within a parallel loop")?;
        }
        let Some(open) = &self.threads.open else { return Ok(0) };
        // A branch that waits cannot be tried on both sides.
        self.branches.iter_mut().skip(open.n_branches).for_each(|(_, escapes)| *escapes = true);
        let laps: Vec<Reg> = open.laps.iter().flatten().copied().collect();
        let list = self.list(&laps);
        let wait = self.out.waits.len() as u32;
        self.out.waits.push(Wait { kind, laps: (list, laps.len() as u32 / 2) });
        self.emit(Inst::Wait { wait })
    }

    // Loops.

    /// Compiles the body of a loop, whose iterations the pair of registers numbers.
    pub(super) fn iteration(
        &mut self,
        is_ordered: bool,
        lap: [Reg; 2],
        run: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<()> {
        let Some(open) = &mut self.threads.open else { return run(self) };
        let outer = (open.is_implicit, open.is_parallel);
        open.laps.push(lap);
        if !is_ordered {
            (open.is_implicit, open.is_parallel) = (false, true);
        }
        let result = run(self);
        if let Some(open) = &mut self.threads.open {
            open.laps.pop();
            (open.is_implicit, open.is_parallel) = outer;
        }
        result
    }

    /// Returns a register that numbers the iterations of a `while` loop in a launch.
    pub(super) fn laps(&mut self) -> Compiled<Option<Reg>> {
        if !self.threads.is_open() {
            return Ok(None);
        }
        let (laps, zero) = (self.reserve(1)?, self.constant(0));
        self.emit(Inst::Move { dst: laps, src: zero, lanes: 1 })?;
        Ok(Some(laps))
    }

    pub(super) fn next_lap(&mut self, laps: Option<Reg>) -> Compiled<()> {
        let lane = self.lane(DType::INT64)?;
        if let (Some(laps), Some(add)) = (laps, kernels::binary(BinaryOp::Add, lane)) {
            let one = self.constant(1);
            self.emit(Inst::Binary { op: add, dst: laps, a: laps, b: one, lanes: 1 })?;
        }
        Ok(())
    }

    // IR-K5.

    fn is_implicit(&self) -> bool {
        self.threads.open.as_ref().is_some_and(|open| open.is_implicit)
    }

    /// Compiles statements one after the other, with implicit barriers between accesses to shared
    /// memory.
    pub(super) fn sequence(&mut self, stmts: &[Stmt]) -> Compiled<()> {
        let mut before = Touches::default();
        for stmt in stmts {
            if self.is_implicit() {
                let now = self.touches(stmt, 0);
                if before.conflicts(now) {
                    self.wait(WaitKind::Implicit)?;
                    before = Touches::default();
                }
                before = before.and(now);
            }
            self.stmt(stmt)?;
        }
        Ok(())
    }

    pub(super) fn barrier_between_iterations(&mut self, body: &Stmt) -> Compiled<()> {
        if self.is_implicit() && self.touches(body, 0).writes {
            self.wait(WaitKind::Implicit)?;
        }
        Ok(())
    }

    fn touches(&mut self, stmt: &Stmt, depth: usize) -> Touches {
        if depth > DEPTH_MAX {
            return Touches::default();
        }
        let known = |this: &Self| this.threads.open.as_ref()?.touches.get(&stmt.address()).copied();
        if let Some(touches) = known(self) {
            return touches;
        }
        let mut touches = Touches::default();
        if let StmtKind::Store { buffer, .. } = &stmt.kind {
            touches.writes = is_shared(&buffer.scope);
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => touches = touches.and(self.touches(stmt, depth + 1)),
            Child::Expr(expr) => walk::exprs(expr, &mut |expr| match &expr.kind {
                ExprKind::Load { buffer, .. } => touches.reads |= is_shared(&buffer.scope),
                // Code that has the pointer may write.
                ExprKind::Var(var) => {
                    touches.writes |= var.pointer.as_ref().is_some_and(|pointer| is_shared(&pointer.scope));
                }
                ExprKind::Call { callee: chipdock_ir::Callee::Op(Op::AddressOf), args } => {
                    touches.writes |= args.iter().any(
                        |arg| matches!(&arg.kind, ExprKind::Load { buffer, .. } if is_shared(&buffer.scope)),
                    );
                }
                _ => {}
            }),
        });
        if let Some(open) = &mut self.threads.open {
            open.touches.insert(stmt.address(), touches);
        }
        touches
    }

    // IR-K6.

    /// Returns the threads whose iterations of a block reduce together; `None` if each reduces
    /// alone.
    pub(super) fn reduced_together(&self, values: &[Expr], block: &Block) -> Option<Arc<Together>> {
        self.threads.open.as_ref()?;
        let reduced = block.iter_vars.iter().zip(values).filter(|(axis, _)| axis.kind == IterKind::Reduce);
        let axes = reduced.fold(0, |axes, (_, value)| axes | self.threads.axes(value));
        // Threads of the grid share no memory that could be reduced into: they race, and are
        // reported.
        let axes = axes & !0b111;
        if axes == 0 {
            return None;
        }
        let mut views = Vec::new();
        let mut stores = |stmt: &Stmt| {
            walk::all(stmt, &mut |child| {
                if let Child::Stmt(stmt) = child
                    && let StmtKind::Store { buffer, .. } = &stmt.kind
                    && buffer.scope.rank == StorageRank::Local
                    && let Some(&view) = self.buffers.get(buffer)
                    && !views.contains(&view)
                {
                    views.push(view);
                }
            });
        };
        block.init.iter().for_each(&mut stores);
        stores(&block.body);
        Some(Arc::new(Together { axes, views }))
    }

    pub(super) fn begin_together(&mut self, together: &Arc<Together>) -> Compiled<()> {
        self.wait(WaitKind::Gather(Arc::clone(together)))?;
        // Within the reduction, threads take turns: none waits for another.
        if let Some(open) = &mut self.threads.open {
            open.is_implicit = false;
        }
        Ok(())
    }

    pub(super) fn end_together(&mut self) -> Compiled<()> {
        if let Some(open) = &mut self.threads.open {
            open.is_implicit = true;
        }
        self.wait(WaitKind::Scatter).map(drop)
    }

    // IR-K3, IR-K7.

    /// Compiles ops of threads.
    pub(super) fn thread_op(&mut self, op: Op, args: &[Expr], dtype: DType) -> Compiled<Reg> {
        match (op, args) {
            (Op::StorageSync, [scope]) => {
                let kind = match &scope.kind {
                    ExprKind::Str(scope) if &**scope == "warp" => WaitKind::Warp,
                    ExprKind::Str(scope) if &**scope == "global" => WaitKind::Grid,
                    _ => WaitKind::Block,
                };
                // Without threads there is nothing to wait for.
                if self.threads.is_open() {
                    self.wait(kind)?;
                }
                self.reserve(1)
            }
            (Op::AtomicAdd, [address, value]) => {
                self.expect(address, DType::HANDLE, op.name())?;
                self.expect(value, dtype, op.name())?;
                let lane = self.lane(dtype)?;
                let Some(add) = kernels::binary(BinaryOp::Add, lane).filter(|_| dtype.is_scalar()) else {
                    return self.malformed(format!("atomic_add of {dtype}"));
                };
                let (address, value) = (self.expr(address)?, self.expr(value)?);
                let dst = self.reserve(1)?;
                self.emit(Inst::Atomic { add, dst, address, value, lane })?;
                Ok(dst)
            }
            _ if op.threads() != Threads::Alone && !self.threads.is_open() => {
                self.unsupported(format!("{} outside of a launch of threads", op.name()), dtype)
            }
            (Op::ThreadReturn, []) => {
                let n_branches = self.threads.open.as_ref().map_or(0, |open| open.n_branches);
                self.branches.iter_mut().skip(n_branches).for_each(|(_, escapes)| *escapes = true);
                self.emit(Inst::ThreadEnd)?;
                self.reserve(1)
            }
            (Op::WarpActivemask, []) => {
                let dst = self.reserve(1)?;
                self.wait(WaitKind::Activemask { dst })?;
                Ok(dst)
            }
            (_, [mask, value, lane, width, _]) if op.threads() == Threads::Shuffle => {
                self.shuffle_lanes(op, [mask, value, lane, width], dtype)
            }
            (Op::ThreadAllreduce, args) => self.allreduce(args),
            _ => self.host_op(op, args, dtype),
        }
    }

    fn shuffle_lanes(
        &mut self,
        op: Op,
        [mask, value, lane, width]: [&Expr; 4],
        dtype: DType,
    ) -> Compiled<Reg> {
        self.expect(mask, DType::UINT32, op.name())?;
        self.expect(value, dtype, op.name())?;
        self.expect(lane, DType::INT32, op.name())?;
        let Some(width) =
            width.as_int().and_then(|width| u32::try_from(width).ok()).filter(|width| *width > 0)
        else {
            return self.malformed(format!("{} needs a constant width of at least 1", op.name()));
        };
        let from = match op {
            Op::WarpShuffleUp => From::Up,
            Op::WarpShuffleDown => From::Down,
            Op::WarpShuffleXor => From::Xor,
            _ => From::Lane,
        };
        let (mask, lane) = (self.expr(mask)?, self.expr(lane)?);
        // The value comes last: if it was never written, the thread waits without it (INT-I10).
        let start = self.here();
        let value = self.expr(value)?;
        let dst = self.reserve(dtype.lanes)?;
        let end = self.here();
        self.out.tolerant.push(Tolerant { start, end, resume: end, target: None });
        let lanes = dtype.lanes.into();
        self.wait(WaitKind::Shuffle(Shuffle { from, mask, value, lane, width, dst, lanes }))?;
        Ok(dst)
    }

    /// Compiles a reduction. Arguments: the number of values, the values, a condition, the
    /// destinations, thread indices.
    fn allreduce(&mut self, args: &[Expr]) -> Compiled<Reg> {
        let Some(reducer) = self.threads.reducers.last().map(Arc::clone) else {
            return self.malformed("a reduction over threads that nothing says how to do");
        };
        let n = reducer.result.len();
        let n_matches = args.first().and_then(Expr::as_int) == Some(n as i128) && args.len() >= 2 * n + 2;
        let is_whole = [reducer.lhs.len(), reducer.rhs.len(), reducer.identity.len()] == [n; 3];
        if !n_matches || !is_whole {
            return self.malformed("a reduction over threads of other values than its reducer's");
        }
        let (values, rest) = args[1..].split_at(n);
        let (condition, rest) = (&rest[0], &rest[1..]);
        let (targets, indices) = rest.split_at(n);
        let axes = indices.iter().fold(0, |axes, index| axes | self.threads.axes(index));
        self.expect(condition, DType::BOOL, "tvm_thread_allreduce")?;
        let mut list = Vec::new();
        for (at, (value, target)) in values.iter().zip(targets).enumerate() {
            list.push(self.reduced_value(&reducer, at, value, target)?);
        }
        let condition = self.expr(condition)?;
        let wait = self.wait(WaitKind::Implicit)?;
        let skip = self.emit(Inst::Jump { to: 0 })?;
        let start = self.here();
        self.scope(|this| this.combination(&reducer, &list))?;
        let code = (start, self.here());
        // The code ends at a place that is no jump's target.
        let end = self.emit(Inst::Jump { to: 0 })?;
        self.land(end);
        self.land(skip);
        let kind = WaitKind::Allreduce(Arc::new(Allreduce { axes, condition, values: list, code }));
        if let Some(Inst::Wait { wait }) = self.out.code.get(wait).copied()
            && let Some(wait) = self.out.waits.get_mut(wait as usize)
        {
            wait.kind = kind;
        }
        self.reserve(1)
    }

    fn reduced_value(
        &mut self,
        reducer: &Reducer,
        at: usize,
        value: &Expr,
        target: &Expr,
    ) -> Compiled<Value> {
        let dtype = value.dtype;
        let lane = self.lane(dtype)?;
        let ExprKind::Load { buffer, indices, predicate: None } = &target.kind else {
            return self.malformed("a reduction over threads stores to what is no element of a buffer");
        };
        self.expect(target, dtype, "tvm_thread_allreduce")?;
        let view = self.view(buffer)?;
        self.share(view);
        let (index, _) = self.indices(buffer, indices)?;
        let value = self.expr(value)?;
        let identity = self.expr(&reducer.identity[at])?;
        let (lhs, rhs) = (self.reserve(dtype.lanes)?, self.reserve(dtype.lanes)?);
        let (a, b) = (&reducer.lhs[at], &reducer.rhs[at]);
        let result = &reducer.result[at];
        let fold = fold_of(result, a, b);
        let is_exact = !dtype.is_float() || rounds_nothing(result);
        Ok(Value { value, lhs, rhs, identity, lane, fold, is_exact, target: (view, index) })
    }

    /// Compiles `lhs = lhs ∘ rhs`.
    fn combination(&mut self, reducer: &Reducer, values: &[Value]) -> Compiled<()> {
        for ((a, b), value) in reducer.lhs.iter().zip(&reducer.rhs).zip(values) {
            self.bind(a, value.lhs);
            self.bind(b, value.rhs);
        }
        let mut results = Vec::new();
        for (result, var) in reducer.result.iter().zip(&reducer.lhs) {
            self.expect(result, var.dtype, "a reducer")?;
            results.push(self.expr(result)?);
        }
        for (src, value) in results.into_iter().zip(values) {
            self.emit(Inst::Move { dst: value.lhs, src, lanes: 1 })?;
        }
        Ok(())
    }
}

/// Returns the kind of a reducer's combination, if it is one operation of both sides.
fn fold_of(result: &Expr, a: &Var, b: &Var) -> Option<FoldKind> {
    let ExprKind::Binary(op, x, y) = &result.kind else { return None };
    let is = |expr: &Expr, var: &Var| matches!(&expr.kind, ExprKind::Var(found) if found == var);
    if !result.dtype.is_float() || !(is(x, a) && is(y, b) || is(x, b) && is(y, a)) {
        return None;
    }
    match op {
        BinaryOp::Add => Some(FoldKind::Sum),
        BinaryOp::Mul => Some(FoldKind::Product),
        BinaryOp::Min | BinaryOp::Max => Some(FoldKind::Extreme),
        _ => None,
    }
}

/// Returns true if an expression only selects among its operands.
fn rounds_nothing(expr: &Expr) -> bool {
    let mut exact = true;
    walk::exprs(expr, &mut |expr| {
        exact &= match &expr.kind {
            ExprKind::Binary(op, ..) => !expr.dtype.is_float() || matches!(op, BinaryOp::Min | BinaryOp::Max),
            ExprKind::Cast(_) | ExprKind::Call { .. } => false,
            _ => true,
        };
    });
    exact
}
