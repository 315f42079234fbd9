//! Compiles statements.

use std::sync::Arc;

use super::{Compiled, Compiler, Loop};
use crate::code::{Failure, Inst, MessagePart, NONE, Reg, Tolerant, WaitKind};
use crate::kernels;
use crate::scalar::Lane;
use chipdock_ir::{
    AttrNode, BinaryOp, Block, Buffer, DType, Expr, ExprKind, ForKind, IterKind, MatchBufferRegion, Stmt,
    StmtKind, StorageRank, Var,
};

impl Compiler<'_, '_> {
    /// Compiles a statement in a scope of its own.
    pub(super) fn body(&mut self, stmt: &Stmt) -> Compiled<()> {
        self.scope(|this| this.stmt(stmt))
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Compiled<()> {
        let outer = self.span;
        if stmt.span != chipdock_ir::Span::NONE {
            self.span = stmt.span;
        }
        let result = self.nested(|this| this.stmt_kind(stmt));
        self.span = outer;
        result
    }

    fn stmt_kind(&mut self, stmt: &Stmt) -> Compiled<()> {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.scope(|this| this.sequence(stmts)),
            StmtKind::Bind { var, value } => self.bind_value(var, value),
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.scope(|this| this.store(buffer, indices, value, predicate.as_ref()))
            }
            StmtKind::AllocBuffer { buffer, .. } => self.allocate(buffer),
            StmtKind::DeclBuffer { buffer, data } => self.declare(buffer, data.as_ref()).map(drop),
            StmtKind::For { var, min, extent, kind, step, body, .. } => self.scope(|this| match kind {
                ForKind::ThreadBinding(axis) => this.bound(stmt, var, *axis, body),
                _ => this.for_loop(var, [min, extent], step.as_ref(), *kind, body),
            }),
            StmtKind::While { condition, body } => self.scope(|this| this.while_loop(condition, body)),
            StmtKind::If { condition, then, otherwise } => {
                self.scope(|this| this.branch(condition, |this| this.body(then), otherwise.as_ref()))
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                self.scope(|this| this.realize(iter_values, predicate, block))
            }
            StmtKind::Evaluate(value) => self.scope(|this| match value.kind {
                ExprKind::Str(_) => Ok(()),
                _ => this.expr(value).map(drop),
            }),
            StmtKind::Assert { condition, kind, message } => {
                self.scope(|this| this.assert(condition, kind, message))
            }
            StmtKind::Attr { node: AttrNode::Reducer(reducer), body, .. } => {
                self.threads.reducers.push(Arc::clone(reducer));
                let result = self.body(body);
                self.threads.reducers.pop();
                result
            }
            StmtKind::Attr { body, .. } => self.body(body),
            StmtKind::LaunchThread { var, axis, body, .. } => {
                self.scope(|this| this.bound(stmt, var, *axis, body))
            }
            StmtKind::Return(value) => self.return_value(value.as_ref()),
            StmtKind::Break | StmtKind::Continue => {
                self.leave(self.loops.len());
                let jump = self.emit(Inst::Jump { to: 0 })?;
                let is_break = matches!(stmt.kind, StmtKind::Break);
                match self.loops.last_mut() {
                    Some(open) if is_break => open.breaks.push(jump),
                    Some(open) => open.continues.push(jump),
                    None => return self.malformed("break or continue outside of a loop"),
                }
                Ok(())
            }
        }
    }

    /// Records that the code leaves the branches that were opened since the loop of that depth
    /// began.
    pub(super) fn leave(&mut self, depth: usize) {
        for (loops, escapes) in &mut self.branches {
            *escapes |= *loops >= depth;
        }
    }

    fn return_value(&mut self, value: Option<&Expr>) -> Compiled<()> {
        if self.threads.is_open() {
            return self.malformed("a return within a launch of threads");
        }
        self.leave(0);
        let src = match (value, self.function.ret) {
            (None, _) => NONE,
            (Some(value), Some(ret)) if value.dtype == ret && ret.is_scalar() => self.expr(value)?,
            (Some(value), ret) => {
                return self.malformed(format!("the function returns {ret:?}, not {}", value.dtype));
            }
        };
        self.emit(Inst::Return { src })?;
        Ok(())
    }

    fn scalar_bool(&mut self, condition: &Expr) -> Compiled<Reg> {
        if condition.dtype != DType::BOOL {
            return self.malformed(format!("expected a scalar boolean, found {}", condition.dtype));
        }
        self.expr(condition)
    }

    fn branch(
        &mut self,
        condition: &Expr,
        then: impl FnOnce(&mut Self) -> Compiled<()>,
        otherwise: Option<&Stmt>,
    ) -> Compiled<()> {
        let condition = self.scalar_bool(condition)?;
        let branch = self.emit(Inst::Branch {
            condition,
            otherwise: 0,
            join: 0,
            dst: NONE,
            lanes: 0,
            lane: Lane::Bool,
            escapes: false,
        })?;
        self.branches.push((self.loops.len(), false));
        then(self)?;
        // The jump is emitted without an `else` too: both ways then end at the join, which no
        // instruction inside is.
        let jump = self.emit(Inst::Jump { to: 0 })?;
        self.land(branch);
        if let Some(otherwise) = otherwise {
            self.body(otherwise)?;
        }
        self.land(jump);
        let escapes = self.branches.pop().is_some_and(|(_, escapes)| escapes);
        self.join(branch, escapes);
        Ok(())
    }

    pub(super) fn join(&mut self, branch: usize, escaping: bool) {
        let here = self.here();
        if let Some(Inst::Branch { join, escapes, .. }) = self.out.code.get_mut(branch) {
            *join = here;
            *escapes = escaping;
        }
    }

    fn for_loop(
        &mut self,
        var: &Var,
        [min, extent]: [&Expr; 2],
        step: Option<&Expr>,
        kind: ForKind,
        body: &Stmt,
    ) -> Compiled<()> {
        let dtype = var.dtype;
        if !dtype.is_integer() || !dtype.is_scalar() || min.dtype != dtype {
            return self.malformed(format!("a loop over {} from {} to {}", var.name, min.dtype, dtype));
        }
        let Some(add) = kernels::binary(BinaryOp::Add, self.lane(dtype)?) else {
            return self.malformed(format!("a loop over {dtype}"));
        };
        let (first, count) = (self.size(min)?, self.size(extent)?);
        let step_reg = self.step(step, dtype)?;
        let (reg, counter) = (self.reserve(1)?, self.reserve(1)?);
        self.bind(var, reg);
        if let (Some((low, _)), Some((_, n))) = (self.range(min), self.range(extent))
            && step.is_none()
            && let Some((_, high)) = self.range(min)
        {
            self.ranges.insert(var.clone(), (low, high.saturating_add((n - 1).max(0))));
        }
        self.emit(Inst::Move { dst: reg, src: first, lanes: 1 })?;
        let is_parallel = kind == ForKind::Parallel;
        if is_parallel {
            self.emit(Inst::ParallelBegin)?;
        }
        let begin = self.emit(Inst::LoopBegin { counter, min: first, extent: count, end: 0 })?;
        let start = self.here();
        if is_parallel {
            self.emit(Inst::ParallelIteration)?;
        }
        self.threads.derive(var, &[min, extent]);
        self.loops.push(Loop::default());
        let is_ordered = matches!(kind, ForKind::Serial | ForKind::Unrolled);
        self.iteration(is_ordered, [count, counter], |this| this.body(body))?;
        let ends = self.loops.pop().unwrap_or_default();
        ends.continues.into_iter().for_each(|jump| self.land(jump));
        if is_ordered {
            self.barrier_between_iterations(body)?;
        }
        self.emit(Inst::LoopNext { var: reg, counter, step: step_reg, add, body: start })?;
        self.land(begin);
        ends.breaks.into_iter().for_each(|jump| self.land(jump));
        if is_parallel {
            self.emit(Inst::ParallelEnd)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Option<&Expr>, dtype: DType) -> Compiled<Reg> {
        let Some(step) = step else { return Ok(self.constant(1)) };
        if step.dtype != dtype {
            return self.malformed(format!("a step of type {} in a loop over {dtype}", step.dtype));
        }
        let src = self.size(step)?;
        if self.range(step).is_none_or(|(low, _)| low < 1) {
            self.emit(Inst::StepCheck { src })?;
        }
        Ok(src)
    }

    fn while_loop(&mut self, condition: &Expr, body: &Stmt) -> Compiled<()> {
        let laps = self.laps()?;
        let top = self.here();
        let condition = self.scalar_bool(condition)?;
        let test = self.emit(Inst::WhileTest { condition, end: 0 })?;
        self.loops.push(Loop::default());
        let zero = self.constant(0);
        self.iteration(true, [laps.unwrap_or(zero), zero], |this| this.body(body))?;
        let ends = self.loops.pop().unwrap_or_default();
        ends.continues.into_iter().for_each(|jump| self.land(jump));
        self.barrier_between_iterations(body)?;
        self.next_lap(laps)?;
        self.emit(Inst::WhileNext { to: top })?;
        self.land(test);
        ends.breaks.into_iter().for_each(|jump| self.land(jump));
        Ok(())
    }

    fn realize(&mut self, iter_values: &[Expr], predicate: &Expr, block: &Block) -> Compiled<()> {
        let together = self.reduced_together(iter_values, block);
        if let Some(together) = &together {
            self.begin_together(together)?;
        }
        let takes_turns = together.is_some();
        if predicate.as_int() == Some(1) {
            self.block(iter_values, block, takes_turns)?;
        } else {
            self.branch(
                predicate,
                |this| this.scope(|this| this.block(iter_values, block, takes_turns)),
                None,
            )?;
        }
        match &together {
            Some(_) => self.end_together(),
            None => Ok(()),
        }
    }

    fn block(&mut self, iter_values: &[Expr], block: &Block, takes_turns: bool) -> Compiled<()> {
        if iter_values.len() != block.iter_vars.len() {
            return self.malformed(format!(
                "block \"{}\" has {} axes and {} values for them",
                block.name,
                block.iter_vars.len(),
                iter_values.len()
            ));
        }
        let mut firsts = Vec::new();
        for (axis, value) in block.iter_vars.iter().zip(iter_values) {
            let reg = self.axis(block, axis, value)?;
            if axis.kind == IterKind::Reduce {
                firsts.extend([reg, self.size(&axis.min)?]);
            }
        }
        let outer = std::mem::replace(&mut self.reduces, !firsts.is_empty());
        for buffer in &block.alloc_buffers {
            self.allocate(buffer)?;
        }
        for view in &block.match_buffers {
            self.match_buffer(view)?;
        }
        if let Some(init) = &block.init {
            let list = self.list(&firsts);
            let n_pairs = (firsts.len() / 2) as u32;
            let skip = self.emit(Inst::UnlessFirst { list, n_pairs, to: 0 })?;
            self.body(init)?;
            self.land(skip);
        }
        if takes_turns {
            self.wait(WaitKind::Turns)?;
        }
        self.name_sums(&block.body);
        self.body(&block.body)?;
        self.reduces = outer;
        Ok(())
    }

    fn axis(&mut self, block: &Block, axis: &chipdock_ir::IterVar, value: &Expr) -> Compiled<Reg> {
        let dtype = axis.var.dtype;
        let is_size = |expr: &Expr| expr.dtype.is_integer() && expr.dtype.is_scalar();
        if value.dtype != dtype || !is_size(value) || !is_size(&axis.min) || !is_size(&axis.extent) {
            return self.malformed(format!(
                "axis {} of block \"{}\" is {dtype}, its value {}",
                axis.var.name, block.name, value.dtype
            ));
        }
        let reg = self.expr(value)?;
        let known = self.range(value);
        let domain = self.range(&axis.min).zip(self.range(&axis.extent));
        let is_inside = known.zip(domain).is_some_and(|((low, high), (min, extent))| {
            low >= min.1 && high < min.0.saturating_add(extent.0)
        });
        if !is_inside {
            let (min, extent) = (self.size(&axis.min)?, self.size(&axis.extent)?);
            let number = self.out.axes.len() as u32;
            self.out.axes.push((block.name.clone(), axis.var.name.clone()));
            self.emit(Inst::AxisCheck { value: reg, min, extent, axis: number })?;
        }
        self.bind(&axis.var, reg);
        self.threads.derive(&axis.var, &[value]);
        // The check keeps the value in its domain, whatever is known of it.
        let within = known.or_else(|| {
            let (min, extent) = domain?;
            Some((min.0, min.1.saturating_add(extent.1).saturating_sub(1)))
        });
        if let Some(within) = within {
            self.ranges.insert(axis.var.clone(), within);
        }
        Ok(reg)
    }

    fn match_buffer(&mut self, matched: &MatchBufferRegion) -> Compiled<()> {
        let (buffer, region) = (&matched.buffer, &matched.source);
        let source = self.view(&region.buffer)?;
        let is_alike = buffer.dtype == region.buffer.dtype
            && region.region.len() == region.buffer.shape.len()
            && buffer.shape.len() <= region.region.len()
            && (buffer.strides.is_empty() || buffer.strides.len() == buffer.shape.len());
        if !is_alike {
            return self.malformed(format!(
                "buffer {} cannot stand for a region of {}: type or number of axes differ",
                buffer.name, region.buffer.name
            ));
        }
        let mut list = Vec::new();
        for range in &region.region {
            list.push(self.size(&range.min)?);
        }
        for range in &region.region {
            list.push(self.size(&range.extent)?);
        }
        let list = self.list(&list);
        self.share(source);
        let view = self.new_view(buffer)?;
        self.share(view);
        let data = self.reserve(1)?;
        let offset = match buffer.elem_offset.as_ref().map(|offset| &offset.kind) {
            Some(ExprKind::Var(var)) if !self.vars.contains_key(var) => {
                let reg = self.reserve(1)?;
                self.bind(var, reg);
                reg
            }
            _ => NONE,
        };
        self.emit(Inst::Match { view, source, list, data, offset })?;
        self.bind(&buffer.data, data);
        self.bind_sizes(buffer)?;
        self.check_sizes(buffer)?;
        if let Some(wanted) = buffer.elem_offset.as_ref().filter(|_| offset == NONE) {
            let src = self.size(wanted)?;
            self.emit(Inst::BeginCheck { src, view })?;
        }
        Ok(())
    }

    fn assert(&mut self, condition: &Expr, kind: &std::sync::Arc<str>, message: &[Expr]) -> Compiled<()> {
        let condition = self.scalar_bool(condition)?;
        let holds = self.emit(Inst::Branch {
            condition,
            otherwise: 0,
            join: 0,
            dst: NONE,
            lanes: 0,
            lane: Lane::Bool,
            escapes: true,
        })?;
        let jump = self.emit(Inst::Jump { to: 0 })?;
        self.land(holds);
        let mut parts = Vec::with_capacity(message.len());
        for part in message {
            parts.push(match &part.kind {
                ExprKind::Str(text) => MessagePart::Text(text.clone()),
                _ if part.dtype == DType::BOOL => MessagePart::Number(self.expr(part)?, part.dtype),
                _ => MessagePart::Number(self.size(part)?, part.dtype),
            });
        }
        let failure = self.out.failures.len() as u32;
        self.out.failures.push(Failure { kind: kind.clone(), parts });
        self.emit(Inst::Fail { failure })?;
        self.land(jump);
        self.join(holds, true);
        Ok(())
    }

    fn store(
        &mut self,
        buffer: &Buffer,
        indices: &[Expr],
        value: &Expr,
        predicate: Option<&Expr>,
    ) -> Compiled<()> {
        let view = self.view(buffer)?;
        self.share(view);
        // The stored value may be undefined (INT-I10): then the destination must be recorded.
        let tolerates =
            self.threads.shuffles && buffer.scope.rank == StorageRank::Local && predicate.is_none();
        let early = if tolerates { Some(self.indices(buffer, indices)?) } else { None };
        let start = self.here();
        let (src, fold) = self.stored(buffer, indices, value)?;
        let (index, lanes) = match early {
            Some(early) => early,
            None => self.indices(buffer, indices)?,
        };
        let found = u32::from(buffer.dtype.lanes) * u32::from(lanes);
        if value.dtype.scalar() != buffer.dtype.scalar() || u32::from(value.dtype.lanes) != found {
            return self.malformed(format!(
                "a store of {} to {lanes} elements of buffer {}, {}",
                value.dtype, buffer.name, buffer.dtype
            ));
        }
        let predicate = self.predicate(predicate, lanes)?;
        self.emit(Inst::Store { src, view, index, lanes: lanes.into(), predicate, fold })?;
        if tolerates {
            let target = Some((view, index, lanes.into()));
            let end = self.here();
            self.out.tolerant.push(Tolerant { start, end, resume: end, target });
        }
        Ok(())
    }
}
