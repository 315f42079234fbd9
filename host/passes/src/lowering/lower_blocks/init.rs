//! Placement of the init of a reduction.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{BinaryOp, Block, Buffer, Child, CompareOp, Expr, ExprKind, ForKind, Stmt, StmtKind, Var};

use super::{Frame, LoopHead, Lowerer};
use crate::simplify::{self, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};
use chipdock_ir::subst::Substitution;

/// Memory that a statement touches, by data variable.
#[derive(Default)]
struct Touched {
    read: HashSet<Var>,
    written: HashSet<Var>,
    /// Whether memory is touched in ways that are not known here.
    unknown: bool,
}

impl Lowerer<'_> {
    /// Puts the lowered init before the outermost reduction loop and returns `None`, or returns it
    /// under the `if` that it needs in place.
    pub(super) fn place_init(
        &mut self,
        block: &Arc<Block>,
        init: Stmt,
        starts: &[(Expr, Expr)],
        predicate: &Expr,
        depth: usize,
    ) -> Option<Stmt> {
        if starts.is_empty() {
            return Some(init);
        }
        if let Some((outermost, nest)) = self.hoisted(block, &init, starts, predicate, depth)
            && let Some(Frame::Loop { before, .. }) = self.frames.get_mut(outermost)
        {
            before.push(nest);
            return None;
        }
        let mut first = Expr::bool(true);
        for (value, start) in starts {
            let here = Expr::compare(CompareOp::Eq, value.clone(), start.clone());
            first = simplify::expr_with(&first.and(here), &self.ranges);
        }
        Some(if first.as_int() == Some(1) { init } else { Stmt::if_then(first, init, None) })
    }

    /// The frame before which init may run, and its own loops; `None` if it may not move.
    fn hoisted(
        &self,
        block: &Arc<Block>,
        init: &Stmt,
        starts: &[(Expr, Expr)],
        predicate: &Expr,
        depth: usize,
    ) -> Option<(usize, Stmt)> {
        let reducing = self.reduction_loops(starts, depth)?;
        let outermost = self.frames.iter().position(
            |frame| matches!(frame, Frame::Loop { lowered, .. } if reducing.contains(&lowered.var)),
        )?;
        let mut heads: Vec<&LoopHead> = Vec::new();
        for frame in &self.frames[outermost..depth] {
            match frame {
                Frame::Loop { lowered, .. } if !matches!(lowered.kind, ForKind::ThreadBinding(_)) => {
                    heads.push(lowered)
                }
                _ => return None,
            }
        }
        let mut at_start = Substitution::new();
        for head in heads.iter().filter(|head| reducing.contains(&head.var)) {
            at_start.map_var(&head.var, head.min.clone());
        }
        let predicate = simplify::expr_with(&at_start.expr(predicate), &self.ranges);
        self.movable(block, init, &heads, &reducing, &predicate, outermost)?;
        Some((outermost, self.nest(init, &heads, &reducing, predicate)))
    }

    /// The loops that the reduction axes depend on: each axis is its start plus positive multiples
    /// of loop variables that start at their own first value, so that the axis is at its start if,
    /// and only if, all of them are.
    fn reduction_loops(&self, starts: &[(Expr, Expr)], depth: usize) -> Option<HashSet<Var>> {
        let loops: HashSet<&Var> = self.frames[..depth]
            .iter()
            .filter_map(|frame| match frame {
                Frame::Loop { lowered, .. } => Some(&lowered.var),
                Frame::Barrier => None,
            })
            .collect();
        let mut reducing = HashSet::new();
        for (value, start) in starts {
            let sum = Linear::of(&simplify::expr_with(
                &Expr::binary(BinaryOp::Sub, value.clone(), start.clone()),
                &self.ranges,
            ));
            let mut first = Expr::int(sum.constant, sum.dtype);
            for (term, coefficient) in &sum.terms {
                let inner = match &term.kind {
                    ExprKind::Cast(inner) => inner,
                    _ => term,
                };
                let ExprKind::Var(var) = &inner.kind else { return None };
                if loops.contains(var) {
                    if *coefficient <= 0 || !reducing_once(&mut reducing, var) {
                        return None;
                    }
                    let min = self.head(var)?.min.clone().cast(sum.dtype);
                    first = first + min * Expr::int(*coefficient, sum.dtype);
                } else {
                    first = first + term.clone() * Expr::int(*coefficient, sum.dtype);
                }
            }
            if simplify::expr_with(&first, &self.ranges).as_int() != Some(0) {
                return None;
            }
        }
        (!reducing.is_empty()).then_some(reducing)
    }

    fn head(&self, var: &Var) -> Option<&LoopHead> {
        self.frames.iter().find_map(|frame| match frame {
            Frame::Loop { lowered, .. } if lowered.var == *var => Some(lowered),
            _ => None,
        })
    }

    /// Checks that the init nest is equivalent before the frame `outermost`.
    fn movable(
        &self,
        block: &Arc<Block>,
        init: &Stmt,
        heads: &[&LoopHead],
        reducing: &HashSet<Var>,
        predicate: &Expr,
        outermost: usize,
    ) -> Option<()> {
        let copied: HashSet<&Var> =
            heads.iter().map(|head| &head.var).filter(|var| !reducing.contains(*var)).collect();
        let mut bound = HashSet::new();
        bound_vars(init, &mut bound);
        let known = |var: &Var| {
            copied.contains(var)
                || bound.contains(var)
                || self.depths.get(var).is_none_or(|depth| *depth <= outermost)
        };
        let ok = |expr: &Expr| vars_of(expr).iter().all(known);
        let mut fine = ok(predicate) && !depends_on_memory(predicate);
        for head in heads {
            for expr in [Some(&head.min), Some(&head.extent), head.step.as_ref()].into_iter().flatten() {
                fine &= ok(expr) && !depends_on_memory(expr);
            }
        }
        init.walk_exprs(&mut |expr| {
            if let ExprKind::Var(var) = &expr.kind {
                fine &= known(var);
            }
        });
        let mut by_init = Touched::default();
        by_init.stmt(init, None);
        fine &= by_init.written.iter().chain(&by_init.read).all(known) && !by_init.unknown;
        // Each of the copied loops must select another element, or else a later iteration would
        // restart the reduction.
        fine &= copied.iter().all(|var| mentions(init, var));
        let Some(Frame::Loop { original, .. }) = self.frames.get(outermost) else { return None };
        let mut others = Touched::default();
        others.stmt(original, Some(block));
        // The loop is in its original form: a view in it refers to the memory that it was resolved
        // to.
        let resolve = |vars: HashSet<Var>| -> HashSet<Var> {
            let resolved = vars.into_iter().map(|var| match self.substitution.var(&var).map(|e| &e.kind) {
                Some(ExprKind::Var(memory)) => memory.clone(),
                _ => var,
            });
            resolved.collect()
        };
        let (read, written) = (resolve(others.read), resolve(others.written));
        let aliases =
            |touched: &HashSet<Var>, with: &HashSet<Var>| touched.iter().any(|var| with.contains(var));
        fine &= !others.unknown
            && !aliases(&written, &by_init.written)
            && !aliases(&read, &by_init.written)
            && !aliases(&written, &by_init.read);
        fine.then_some(())
    }

    /// Wraps init in copies of the loops that are not reduction loops.
    fn nest(&self, init: &Stmt, heads: &[&LoopHead], reducing: &HashSet<Var>, predicate: Expr) -> Stmt {
        // Without iterations of a reduction there is no first one.
        let mut guard = predicate;
        for head in heads.iter().filter(|head| reducing.contains(&head.var)) {
            let some = Expr::compare(CompareOp::Gt, head.extent.clone(), Expr::int(0, head.extent.dtype));
            guard = simplify::expr_with(&guard.and(some), &self.ranges);
        }
        let guarded = |stmt: Stmt, guard: &Expr| {
            if guard.as_int() == Some(1) { stmt } else { Stmt::if_then(guard.clone(), stmt, None) }
        };
        let copied: Vec<&&LoopHead> = heads.iter().filter(|head| !reducing.contains(&head.var)).collect();
        let in_guard = vars_of(&guard);
        let outside = !copied.iter().any(|head| in_guard.contains(&head.var));
        let mut body = if outside { init.clone() } else { guarded(init.clone(), &guard) };
        for head in copied.iter().rev() {
            body = Stmt::new(StmtKind::For {
                var: head.var.clone(),
                min: head.min.clone(),
                extent: head.extent.clone(),
                kind: head.kind,
                step: head.step.clone(),
                annotations: chipdock_ir::Attrs::new(),
                body,
            });
        }
        let body = if outside { guarded(body, &guard) } else { body };
        Substitution::new().fresh().stmt(&body)
    }
}

fn reducing_once(reducing: &mut HashSet<Var>, var: &Var) -> bool {
    reducing.insert(var.clone())
}

fn mentions(stmt: &Stmt, var: &Var) -> bool {
    let mut found = false;
    stmt.walk_exprs(&mut |e| found |= matches!(&e.kind, ExprKind::Var(v) if v == var));
    found
}

fn bound_vars(stmt: &Stmt, bound: &mut HashSet<Var>) {
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            match &stmt.kind {
                StmtKind::Bind { var, .. }
                | StmtKind::For { var, .. }
                | StmtKind::LaunchThread { var, .. } => {
                    bound.insert(var.clone());
                }
                StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                    bound.insert(buffer.data.clone());
                }
                _ => {}
            }
        }
    });
    stmt.walk_exprs(&mut |e| {
        if let ExprKind::Let { var, .. } = &e.kind {
            bound.insert(var.clone());
        }
    });
}

impl Touched {
    /// Adds the accesses of the statement, including those of blocks before lowering, `except` one
    /// block.
    fn stmt(&mut self, stmt: &Stmt, except: Option<&Arc<Block>>) {
        match &stmt.kind {
            StmtKind::Store { buffer, .. } => {
                self.written.insert(buffer.data.clone());
            }
            StmtKind::BlockRealize { block, .. } => {
                if except.is_some_and(|except| Arc::ptr_eq(except, block)) {
                    return;
                }
                // A view writes through to its source.
                for view in &block.match_buffers {
                    self.read.insert(view.source.buffer.data.clone());
                    self.written.insert(view.source.buffer.data.clone());
                }
            }
            StmtKind::DeclBuffer { data: Some(_), .. } if stmt.as_constant().is_none() => self.unknown = true,
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt, except),
            Child::Expr(expr) => self.expr(expr),
        });
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer, .. } => self.load(buffer),
            // A pointer that is passed on may be used for reads and writes.
            ExprKind::Var(var) if var.dtype.is_handle() => {
                self.read.insert(var.clone());
                self.written.insert(var.clone());
            }
            ExprKind::Call { callee: chipdock_ir::Callee::Op(op), .. } => {
                self.unknown |=
                    op.effect() == chipdock_ir::Effect::Writes || *op == chipdock_ir::Op::AddressOf;
            }
            ExprKind::Call { callee: chipdock_ir::Callee::Extern { pure, .. }, .. } => self.unknown |= !pure,
            ExprKind::Call { callee: chipdock_ir::Callee::Global(_), .. } => self.unknown = true,
            _ => {}
        });
    }

    fn load(&mut self, buffer: &Buffer) {
        self.read.insert(buffer.data.clone());
    }
}
