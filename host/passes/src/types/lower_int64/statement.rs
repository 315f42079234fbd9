//! Statements: the words of 64-bit expressions are bound before them.

use std::sync::Arc;

use chipdock_ir::{
    AttrNode, Attrs, Buffer, CompareOp, DType, Expr, ForKind, Stmt, StmtKind, StorageScope, Var,
};

use super::{Answer, Half, Lowerer, is_wide};
use crate::PassError;
use crate::simplify;
use crate::types::words::{self, Value, Words};

impl Lowerer<'_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let kind = match &stmt.kind {
            StmtKind::Seq(stmts) => {
                return Ok(Stmt::seq(stmts.iter().map(|stmt| self.stmt(stmt)).collect::<Answer<Vec<_>>>()?));
            }
            StmtKind::Bind { var, value } => return self.bind(var, value, stmt),
            StmtKind::Store { .. } => return self.store(stmt),
            StmtKind::For { .. } => return self.for_loop(stmt),
            StmtKind::LaunchThread { .. } => return self.launch(stmt),
            StmtKind::If { condition, then, otherwise } => {
                return self.branches(stmt, condition, then, otherwise.as_ref());
            }
            StmtKind::Evaluate(value) => {
                let value = if is_wide(value.dtype) { self.words(value)?.low } else { self.other(value)? };
                return Ok(self.after_steps(&[&value.clone()], StmtKind::Evaluate(value), stmt));
            }
            StmtKind::Return(Some(value)) => {
                let value = if is_wide(value.dtype) { self.returned(value)? } else { self.other(value)? };
                return Ok(self.after_steps(&[&value.clone()], StmtKind::Return(Some(value)), stmt));
            }
            StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue => return Ok(stmt.clone()),
            StmtKind::AllocBuffer { buffer, annotations } => {
                StmtKind::AllocBuffer { buffer: self.buffer(buffer)?, annotations: annotations.clone() }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                let data = data.as_ref().map(|data| self.apart(|this| this.other(data))).transpose()?;
                StmtKind::DeclBuffer { buffer: self.buffer(buffer)?, data }
            }
            StmtKind::While { condition, body } => {
                let condition = self.apart(|this| this.other(condition))?;
                StmtKind::While { condition, body: self.stmt(body)? }
            }
            StmtKind::Attr { node, key, value, body } => {
                let node = match node {
                    AttrNode::Buffer(buffer) => AttrNode::Buffer(self.buffer(buffer)?),
                    AttrNode::Var(var) => AttrNode::Var(self.pointer(var)),
                    other => other.clone(),
                };
                let value = self.apart(|this| this.index(value))?;
                StmtKind::Attr { node, key: Arc::clone(key), value, body: self.stmt(body)? }
            }
            StmtKind::Assert { .. } | StmtKind::BlockRealize { .. } => {
                let message = "expected a body without assertions and blocks";
                return Err(PassError::bug(super::PASS, &self.function.name, message));
            }
        };
        Ok(Stmt::new(kind).with_span(stmt.span))
    }

    /// A statement in place of another, after the pending steps that it needs.
    fn after_steps(&mut self, used: &[&Expr], kind: StmtKind, of: &Stmt) -> Stmt {
        let before = self.bound(used);
        Stmt::seq(before.into_iter().chain([Stmt::new(kind).with_span(of.span)]))
    }

    /// The word that the function returns.
    fn returned(&mut self, value: &Expr) -> Answer<Expr> {
        let Words { high, low } = self.words(value)?;
        Ok(if self.returns == Half::Low { low } else { high })
    }

    fn bind(&mut self, var: &Var, value: &Expr, stmt: &Stmt) -> Answer<Stmt> {
        self.learn(var, value);
        if !is_wide(var.dtype) {
            let value = self.other(value)?;
            let var = self.pointer(var);
            return Ok(self.after_steps(&[&value.clone()], StmtKind::Bind { var, value }, stmt));
        }
        let value = self.value(value)?;
        let value = self.kept(&var.name, value);
        self.values.insert(var.clone(), value.clone());
        let binds = match &value {
            Value::Signed(value) | Value::Unsigned(value) => self.bound(&[value]),
            Value::Words(Words { high, low }) => self.bound(&[high, low]),
        };
        Ok(Stmt::seq(binds))
    }

    fn branches(
        &mut self,
        stmt: &Stmt,
        condition: &Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Answer<Stmt> {
        let own = self.other(condition)?;
        let before = self.bound(&[&own]);
        let then = self.given(condition, then)?;
        let not = simplify::expr(&condition.clone().logical_not());
        let otherwise = otherwise.map(|stmt| self.given(&not, stmt)).transpose()?;
        let branches = Stmt::if_then(own, then, otherwise).with_span(stmt.span);
        Ok(Stmt::seq(before.into_iter().chain([branches])))
    }

    /// Lowers the statement under the assumption that the condition holds.
    fn given(&mut self, condition: &Expr, stmt: &Stmt) -> Answer<Stmt> {
        let outside = self.ranges.mark();
        self.ranges.assume(condition);
        let result = self.stmt(stmt);
        self.ranges.back_to(outside);
        result
    }

    /// Lowers axes that are launched one within the other: the words of their extents are bound
    /// before the first.
    fn launch(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let (mut axes, mut inner) = (Vec::new(), stmt);
        while let StmtKind::LaunchThread { var, axis, extent, body } = &inner.kind {
            self.ranges.set_loop(var, &Expr::int(0, var.dtype), extent, None);
            let extent = self.index(extent)?;
            axes.push((self.counter(var), *axis, extent, inner.span));
            inner = body;
        }
        let before = self.bound(&axes.iter().map(|(_, _, extent, _)| extent).collect::<Vec<_>>());
        let body = self.stmt(inner)?;
        let launch = axes.into_iter().rev().fold(body, |body, (var, axis, extent, span)| {
            Stmt::new(StmtKind::LaunchThread { var, axis, extent, body }).with_span(span)
        });
        Ok(Stmt::seq(before.into_iter().chain([launch])))
    }

    /// The variable of a loop or of threads, in int32.
    fn counter(&mut self, var: &Var) -> Var {
        if !is_wide(var.dtype) {
            return var.clone();
        }
        let own = Var::new(Arc::clone(&var.name), DType::INT32);
        self.values.insert(var.clone(), Value::Signed(own.expr()));
        own
    }

    fn for_loop(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let StmtKind::For { var, min, extent, kind, step, annotations, body } = &stmt.kind else {
            return Ok(stmt.clone());
        };
        if is_wide(var.dtype) && !self.counts_in_int32(min, extent, step.as_ref()) {
            return self.counted(stmt);
        }
        self.ranges.set_loop(var, min, extent, step.as_ref());
        let (min, extent) = (self.index(min)?, self.index(extent)?);
        let step = step.as_ref().map(|step| self.index(step)).transpose()?;
        let before = self.bound(&[&min, &extent]);
        let (var, annotations) = (self.counter(var), annotations.clone());
        let body = self.stmt(body)?;
        let kind = StmtKind::For { var, min, extent, kind: *kind, step, annotations, body };
        Ok(Stmt::seq(before.into_iter().chain([Stmt::new(kind).with_span(stmt.span)])))
    }

    fn counts_in_int32(&self, min: &Expr, extent: &Expr, step: Option<&Expr>) -> bool {
        let (first, count) = (self.ranges.of(min), self.ranges.of(extent));
        let step = step.map_or(Some(1), Expr::as_int).unwrap_or(i128::MAX);
        let end = count.1.max(0).checked_mul(step).and_then(|way| way.checked_add(first.1));
        let bounds = [first.0, first.1, count.0, count.1, step, end.unwrap_or(i128::MAX)];
        bounds.into_iter().all(|bound| i32::try_from(bound).is_ok())
    }

    /// A loop that may count past int32: its counter is in local memory, and is incremented before
    /// the body, which may leave the loop.
    fn counted(&mut self, stmt: &Stmt) -> Answer<Stmt> {
        let StmtKind::For { var, min, extent, kind, step, body, .. } = &stmt.kind else {
            return Ok(stmt.clone());
        };
        if !matches!(kind, ForKind::Serial | ForKind::Unrolled) {
            return Err(
                self.refused(format!("the loop over {}, which has no order, counts in one", var.name))
            );
        }
        let (min, extent) = (self.words(min)?, self.words(extent)?);
        let mut stmts = self.bound(&[&min.low, &min.high, &extent.low, &extent.high]);
        let count = Buffer::new("count", vec![Expr::i32(2)], DType::UINT32, StorageScope::LOCAL);
        let element = |index: i32| Expr::load(&count, vec![Expr::i32(index)]);
        let set = |index: i32, value: Expr| Stmt::store(&count, vec![Expr::i32(index)], value);
        let zero = || Expr::int(0, DType::UINT32);
        stmts.push(Stmt::new(StmtKind::AllocBuffer { buffer: count.clone(), annotations: Attrs::new() }));
        stmts.extend([set(0, zero()), set(1, zero())]);
        let condition = self.apart(|this| {
            let low = this.named("low", element(0));
            let so_far = Words { high: this.named("high", element(1)), low };
            Ok(words::compare(CompareOp::Lt, &so_far, &extent, true))
        })?;
        let low = self.named("low", element(0));
        let so_far = Words { high: self.named("high", element(1)), low };
        let step = step.as_ref().and_then(Expr::as_int).unwrap_or(1);
        let next = self.arithmetic(1, |s| words::sum(s, &so_far, &words::constant(s, 1)));
        let own = self.arithmetic(1, |s| {
            let way = words::product(s, &so_far, &words::constant(s, step));
            words::sum(s, &min, &way)
        });
        let mut inner = self.bound(&[&next.low, &next.high, &own.low, &own.high]);
        inner.extend([set(0, next.low), set(1, next.high)]);
        self.values.insert(var.clone(), Value::Words(own));
        inner.push(self.stmt(body)?);
        let body = Stmt::seq(inner);
        stmts.push(Stmt::new(StmtKind::While { condition, body }).with_span(stmt.span));
        Ok(Stmt::seq(stmts))
    }
}
