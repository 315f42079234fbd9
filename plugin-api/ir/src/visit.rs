//! Walking and rewriting: the children of each node in evaluation order, in one place, so that a
//! new node breaks the build here and is not silently ignored in a pass.

use std::convert::Infallible;
use std::sync::Arc;

use crate::{Block, BufferRegion, Expr, ExprKind, IterVar, MatchBufferRegion, Range, Stmt, StmtKind};

impl Expr {
    /// Calls `f` on each child, in evaluation order. Shapes and offsets of buffers are not
    /// children.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Var(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::ConstantData(_) => {}
            ExprKind::Cast(value) | ExprKind::Not(value) | ExprKind::Broadcast { value, .. } => f(value),
            ExprKind::Binary(_, a, b)
            | ExprKind::Compare(_, a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Ramp { base: a, stride: b, .. }
            | ExprKind::Let { value: a, body: b, .. } => {
                f(a);
                f(b);
            }
            ExprKind::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            ExprKind::Load { indices, predicate, .. } => {
                indices.iter().for_each(&mut *f);
                predicate.iter().for_each(f);
            }
            ExprKind::Shuffle { vectors, .. } => vectors.iter().for_each(f),
            ExprKind::Call { args, .. } => args.iter().for_each(f),
        }
    }

    /// Replaces each child by the result of `f`; returns this very node if nothing changed. Type
    /// and position are kept.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map_children<E>(&self, f: &mut dyn FnMut(&Expr) -> Result<Expr, E>) -> Result<Expr, E> {
        let mut changed = false;
        let mut child = |e: &Expr| -> Result<Expr, E> {
            let new = f(e)?;
            changed |= !new.same(e);
            Ok(new)
        };
        let kind = match &self.kind {
            ExprKind::Var(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::ConstantData(_) => {
                return Ok(self.clone());
            }
            ExprKind::Cast(value) => ExprKind::Cast(child(value)?),
            ExprKind::Not(value) => ExprKind::Not(child(value)?),
            ExprKind::Broadcast { value, lanes } => {
                ExprKind::Broadcast { value: child(value)?, lanes: *lanes }
            }
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, child(a)?, child(b)?),
            ExprKind::Compare(op, a, b) => ExprKind::Compare(*op, child(a)?, child(b)?),
            ExprKind::And(a, b) => ExprKind::And(child(a)?, child(b)?),
            ExprKind::Or(a, b) => ExprKind::Or(child(a)?, child(b)?),
            ExprKind::Select(a, b, c) => ExprKind::Select(child(a)?, child(b)?, child(c)?),
            ExprKind::Load { buffer, indices, predicate } => ExprKind::Load {
                buffer: buffer.clone(),
                indices: indices.iter().map(&mut child).collect::<Result<_, E>>()?,
                predicate: predicate.as_ref().map(&mut child).transpose()?,
            },
            ExprKind::Ramp { base, stride, lanes } => {
                ExprKind::Ramp { base: child(base)?, stride: child(stride)?, lanes: *lanes }
            }
            ExprKind::Shuffle { vectors, indices } => ExprKind::Shuffle {
                vectors: vectors.iter().map(&mut child).collect::<Result<_, E>>()?,
                indices: indices.clone(),
            },
            ExprKind::Let { var, value, body } => {
                ExprKind::Let { var: var.clone(), value: child(value)?, body: child(body)? }
            }
            ExprKind::Call { callee, args } => ExprKind::Call {
                callee: callee.clone(),
                args: args.iter().map(&mut child).collect::<Result<_, E>>()?,
            },
        };
        Ok(if changed { Expr::new(kind, self.dtype).with_span(self.span) } else { self.clone() })
    }

    /// Does the same as [`Expr::try_map_children`], without errors.
    #[must_use]
    pub fn map_children(&self, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
        match self.try_map_children::<Infallible>(&mut |e| Ok(f(e))) {
            Ok(expr) => expr,
            Err(never) => match never {},
        }
    }

    /// Calls `f` on this expression and everything below it, parents first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        self.for_each_child(&mut |child| child.walk(f));
    }
}

/// A child of a statement.
#[derive(Clone, Copy, Debug)]
pub enum Child<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A statement.
    Stmt(&'a Stmt),
}

impl Stmt {
    /// Calls `f` on each child, in evaluation order. The regions that a block declares and the
    /// shapes of buffers are not children; a block's iteration domains, init and body are.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(Child<'a>)) {
        match &self.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|stmt| f(Child::Stmt(stmt))),
            StmtKind::Bind { value, .. } | StmtKind::Evaluate(value) => f(Child::Expr(value)),
            StmtKind::Store { indices, value, predicate, .. } => {
                f(Child::Expr(value));
                indices.iter().chain(predicate).for_each(|e| f(Child::Expr(e)));
            }
            StmtKind::AllocBuffer { .. } | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::DeclBuffer { data, .. } => data.iter().for_each(|e| f(Child::Expr(e))),
            StmtKind::For { min, extent, step, body, .. } => {
                [min, extent].into_iter().chain(step).for_each(|e| f(Child::Expr(e)));
                f(Child::Stmt(body));
            }
            StmtKind::While { condition, body } => {
                f(Child::Expr(condition));
                f(Child::Stmt(body));
            }
            StmtKind::If { condition, then, otherwise } => {
                f(Child::Expr(condition));
                [then].into_iter().chain(otherwise).for_each(|s| f(Child::Stmt(s)));
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                iter_values.iter().chain([predicate]).for_each(|e| f(Child::Expr(e)));
                for axis in &block.iter_vars {
                    f(Child::Expr(&axis.min));
                    f(Child::Expr(&axis.extent));
                }
                block.init.iter().chain([&block.body]).for_each(|s| f(Child::Stmt(s)));
            }
            StmtKind::Assert { condition, message, .. } => {
                [condition].into_iter().chain(message).for_each(|e| f(Child::Expr(e)));
            }
            StmtKind::Attr { value: e, body, .. } | StmtKind::LaunchThread { extent: e, body, .. } => {
                f(Child::Expr(e));
                f(Child::Stmt(body));
            }
            StmtKind::Return(value) => value.iter().for_each(|e| f(Child::Expr(e))),
        }
    }

    /// Replaces each child by the result of `expr` or `stmt`; returns this very node if nothing
    /// changed. The position is kept; declared regions of blocks are rewritten by `expr` too.
    ///
    /// # Errors
    ///
    /// The first error of either.
    pub fn try_map_children<E>(
        &self,
        expr: &mut dyn FnMut(&Expr) -> Result<Expr, E>,
        stmt: &mut dyn FnMut(&Stmt) -> Result<Stmt, E>,
    ) -> Result<Stmt, E> {
        let mut map = Map { expr, stmt, changed: false };
        let kind = map.stmt_kind(&self.kind)?;
        Ok(if map.changed { Stmt::new(kind).with_span(self.span) } else { self.clone() })
    }

    /// Does the same as [`Stmt::try_map_children`], without errors.
    #[must_use]
    pub fn map_children(
        &self,
        expr: &mut dyn FnMut(&Expr) -> Expr,
        stmt: &mut dyn FnMut(&Stmt) -> Stmt,
    ) -> Stmt {
        match self.try_map_children::<Infallible>(&mut |e| Ok(expr(e)), &mut |s| Ok(stmt(s))) {
            Ok(stmt) => stmt,
            Err(never) => match never {},
        }
    }

    /// Calls `f` on this statement, and on every statement and every outermost expression below it,
    /// parents first.
    pub fn walk<'a>(&'a self, f: &mut dyn FnMut(Child<'a>)) {
        f(Child::Stmt(self));
        self.for_each_child(&mut |child| match child {
            Child::Expr(_) => f(child),
            Child::Stmt(stmt) => stmt.walk(f),
        });
    }

    /// Calls `f` on every expression in this statement, parents first.
    pub fn walk_exprs<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        self.walk(&mut |child| {
            if let Child::Expr(expr) = child {
                expr.walk(f);
            }
        });
    }
}

struct Map<'f, E> {
    expr: &'f mut dyn FnMut(&Expr) -> Result<Expr, E>,
    stmt: &'f mut dyn FnMut(&Stmt) -> Result<Stmt, E>,
    changed: bool,
}

impl<E> Map<'_, E> {
    fn expr(&mut self, e: &Expr) -> Result<Expr, E> {
        let new = (self.expr)(e)?;
        self.changed |= !new.same(e);
        Ok(new)
    }

    fn stmt(&mut self, s: &Stmt) -> Result<Stmt, E> {
        let new = (self.stmt)(s)?;
        self.changed |= !new.same(s);
        Ok(new)
    }

    fn exprs(&mut self, list: &[Expr]) -> Result<Vec<Expr>, E> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    fn opt(&mut self, e: &Option<Expr>) -> Result<Option<Expr>, E> {
        e.as_ref().map(|e| self.expr(e)).transpose()
    }

    fn region(&mut self, region: &BufferRegion) -> Result<BufferRegion, E> {
        let ranges = region
            .region
            .iter()
            .map(|range| Ok(Range { min: self.expr(&range.min)?, extent: self.expr(&range.extent)? }));
        Ok(BufferRegion { region: ranges.collect::<Result<_, E>>()?, buffer: region.buffer.clone() })
    }

    fn block(&mut self, block: &Block) -> Result<Block, E> {
        let iter_vars = block.iter_vars.iter().map(|axis| {
            Ok(IterVar {
                var: axis.var.clone(),
                min: self.expr(&axis.min)?,
                extent: self.expr(&axis.extent)?,
                kind: axis.kind,
            })
        });
        let iter_vars = iter_vars.collect::<Result<_, E>>()?;
        let mut regions = |list: &Option<Vec<BufferRegion>>| {
            list.as_ref().map(|list| list.iter().map(|region| self.region(region)).collect()).transpose()
        };
        let (reads, writes) = (regions(&block.reads)?, regions(&block.writes)?);
        let matches = block.match_buffers.iter().map(|view| {
            Ok(MatchBufferRegion { buffer: view.buffer.clone(), source: self.region(&view.source)? })
        });
        Ok(Block {
            name: Arc::clone(&block.name),
            iter_vars,
            reads,
            writes,
            match_buffers: matches.collect::<Result<_, E>>()?,
            alloc_buffers: block.alloc_buffers.clone(),
            annotations: block.annotations.clone(),
            init: block.init.as_ref().map(|init| self.stmt(init)).transpose()?,
            body: self.stmt(&block.body)?,
        })
    }

    fn stmt_kind(&mut self, kind: &StmtKind) -> Result<StmtKind, E> {
        Ok(match kind {
            StmtKind::Seq(stmts) => {
                StmtKind::Seq(stmts.iter().map(|s| self.stmt(s)).collect::<Result<_, E>>()?)
            }
            StmtKind::Bind { var, value } => StmtKind::Bind { var: var.clone(), value: self.expr(value)? },
            StmtKind::Evaluate(value) => StmtKind::Evaluate(self.expr(value)?),
            StmtKind::Store { buffer, indices, value, predicate } => StmtKind::Store {
                buffer: buffer.clone(),
                value: self.expr(value)?,
                indices: self.exprs(indices)?,
                predicate: self.opt(predicate)?,
            },
            StmtKind::AllocBuffer { .. } | StmtKind::Break | StmtKind::Continue => kind.clone(),
            StmtKind::DeclBuffer { buffer, data } => {
                StmtKind::DeclBuffer { buffer: buffer.clone(), data: self.opt(data)? }
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => StmtKind::For {
                var: var.clone(),
                min: self.expr(min)?,
                extent: self.expr(extent)?,
                kind: *kind,
                step: self.opt(step)?,
                annotations: annotations.clone(),
                body: self.stmt(body)?,
            },
            StmtKind::While { condition, body } => {
                StmtKind::While { condition: self.expr(condition)?, body: self.stmt(body)? }
            }
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: self.expr(condition)?,
                then: self.stmt(then)?,
                otherwise: otherwise.as_ref().map(|s| self.stmt(s)).transpose()?,
            },
            StmtKind::BlockRealize { iter_values, predicate, block } => StmtKind::BlockRealize {
                iter_values: self.exprs(iter_values)?,
                predicate: self.expr(predicate)?,
                block: Arc::new(self.block(block)?),
            },
            StmtKind::Assert { condition, kind, message } => StmtKind::Assert {
                condition: self.expr(condition)?,
                kind: Arc::clone(kind),
                message: self.exprs(message)?,
            },
            StmtKind::Attr { node, key, value, body } => StmtKind::Attr {
                node: node.clone(),
                key: Arc::clone(key),
                value: self.expr(value)?,
                body: self.stmt(body)?,
            },
            StmtKind::LaunchThread { var, axis, extent, body } => StmtKind::LaunchThread {
                var: var.clone(),
                axis: *axis,
                extent: self.expr(extent)?,
                body: self.stmt(body)?,
            },
            StmtKind::Return(value) => StmtKind::Return(self.opt(value)?),
        })
    }
}
