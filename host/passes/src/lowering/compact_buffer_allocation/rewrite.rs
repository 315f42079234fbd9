//! Replacement of buffers by shorter ones.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Attrs, Block, Buffer, BufferRegion, Expr, ExprKind, ForKind, PrimFunc, Range, Stmt, StmtKind,
    ThreadAxis, Var,
};

use super::region::{Part, Sum};
use crate::simplify;
use crate::walk::vars_of;

/// A buffer that takes the place of another.
pub(super) struct Shorter {
    pub(super) buffer: Buffer,
    pub(super) parts: Vec<Part>,
    /// The loop into which the allocation moves.
    pub(super) into: Option<Var>,
    /// Its place among the function's allocations.
    pub(super) at: usize,
}

pub(super) struct Rewriter {
    shorter: HashMap<Buffer, Shorter>,
    /// The axis of each variable that stands for a thread in a region.
    threads: HashMap<Var, ThreadAxis>,
    /// Variables bound to each axis here, innermost last.
    bound: HashMap<ThreadAxis, Vec<Var>>,
    /// Values of the axes of blocks.
    values: Substitution,
}

impl Rewriter {
    pub(super) fn new(shorter: HashMap<Buffer, Shorter>, threads: HashMap<Var, ThreadAxis>) -> Self {
        Self { shorter, threads, bound: HashMap::new(), values: Substitution::new() }
    }

    pub(super) fn function(&mut self, function: &PrimFunc) -> PrimFunc {
        let alloc_buffers = self.allocated(&function.alloc_buffers);
        PrimFunc { alloc_buffers, body: self.stmt(&function.body), ..function.clone() }
    }

    /// The buffers in place of these that are still allocated here.
    fn allocated(&self, buffers: &[Buffer]) -> Vec<Buffer> {
        let new = |buffer: &Buffer| match self.shorter.get(buffer) {
            Some(shorter) => shorter.into.is_none().then(|| shorter.buffer.clone()),
            None => Some(buffer.clone()),
        };
        buffers.iter().filter_map(new).collect()
    }

    fn new_buffer(&self, buffer: &Buffer) -> Buffer {
        self.shorter.get(buffer).map_or(buffer, |shorter| &shorter.buffer).clone()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match &stmt.kind {
            StmtKind::For { var, kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { var, axis, .. } => {
                self.bound.entry(*axis).or_default().push(var.clone());
                let new = self.children(stmt);
                self.bound.entry(*axis).or_default().pop();
                new
            }
            StmtKind::For { var, .. } => {
                let new = self.children(stmt);
                let mut own: Vec<&Shorter> =
                    self.shorter.values().filter(|shorter| shorter.into.as_ref() == Some(var)).collect();
                own.sort_by_key(|shorter| shorter.at);
                if own.is_empty() { new } else { with_front(&new, own.into_iter().map(|s| &s.buffer)) }
            }
            StmtKind::BlockRealize { iter_values, block, .. } => {
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    let value = self.values.expr(value);
                    self.values.map_var(&axis.var, value);
                }
                let new = self.children(stmt);
                let StmtKind::BlockRealize { iter_values, predicate, block: inner } = &new.kind else {
                    return new;
                };
                let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
                let block = Arc::new(self.block(inner));
                Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block }).with_span(stmt.span)
            }
            StmtKind::AllocBuffer { buffer, annotations } => match self.shorter.get(buffer) {
                Some(Shorter { into: Some(_), .. }) => Stmt::nop(),
                Some(shorter) => {
                    let (buffer, annotations) = (shorter.buffer.clone(), annotations.clone());
                    Stmt::new(StmtKind::AllocBuffer { buffer, annotations }).with_span(stmt.span)
                }
                None => stmt.clone(),
            },
            StmtKind::Seq(stmts) => {
                let stmts: Vec<Stmt> = stmts.iter().map(|stmt| self.stmt(stmt)).collect();
                Stmt::seq(stmts).with_span(stmt.span)
            }
            _ => {
                let new = self.children(stmt);
                self.with_buffer(&new)
            }
        }
    }
}

/// The loop with allocations at the start of its body.
fn with_front<'a>(stmt: &Stmt, buffers: impl Iterator<Item = &'a Buffer>) -> Stmt {
    let allocation = |buffer: &Buffer| {
        Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
    };
    let front: Vec<Stmt> = buffers.map(allocation).collect();
    stmt.map_children(&mut Expr::clone, &mut |body| Stmt::seq(front.iter().cloned().chain([body.clone()])))
}

impl Rewriter {
    fn children(&mut self, stmt: &Stmt) -> Stmt {
        let this = RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }

    fn with_buffer(&mut self, stmt: &Stmt) -> Stmt {
        let kind = match &stmt.kind {
            StmtKind::Store { buffer, indices, value, predicate } if self.shorter.contains_key(buffer) => {
                StmtKind::Store {
                    buffer: self.new_buffer(buffer),
                    indices: self.indices(buffer, indices),
                    value: value.clone(),
                    predicate: predicate.clone(),
                }
            }
            StmtKind::Attr { node: AttrNode::Buffer(buffer), key, value, body }
                if self.shorter.contains_key(buffer) =>
            {
                let node = AttrNode::Buffer(self.new_buffer(buffer));
                StmtKind::Attr { node, key: Arc::clone(key), value: value.clone(), body: body.clone() }
            }
            _ => return stmt.clone(),
        };
        Stmt::new(kind).with_span(stmt.span)
    }

    fn block(&mut self, block: &Block) -> Block {
        let declared = |list: &Option<Vec<BufferRegion>>| {
            list.as_ref().map(|list| list.iter().map(|region| self.whole(region)).collect())
        };
        let (reads, writes) = (declared(&block.reads), declared(&block.writes));
        let mut match_buffers = block.match_buffers.clone();
        for view in &mut match_buffers {
            let source = &mut view.source;
            if self.shorter.contains_key(&source.buffer) {
                let first: Vec<Expr> = source.region.iter().map(|range| range.min.clone()).collect();
                let first = self.indices(&source.buffer, &first);
                source.region.iter_mut().zip(first).for_each(|(range, first)| range.min = first);
                source.buffer = self.new_buffer(&source.buffer);
            }
        }
        let alloc_buffers = self.allocated(&block.alloc_buffers);
        Block { reads, writes, match_buffers, alloc_buffers, ..block.clone() }
    }

    /// A declared region: all that is left of the buffer.
    fn whole(&self, region: &BufferRegion) -> BufferRegion {
        let Some(shorter) = self.shorter.get(&region.buffer) else { return region.clone() };
        let all = |extent: &Expr| Range { min: Expr::int(0, extent.dtype), extent: extent.clone() };
        let region = shorter.buffer.shape.iter().map(all).collect();
        BufferRegion { buffer: shorter.buffer.clone(), region }
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let new = expr.map_children(&mut |e| self.expr(e));
        match &new.kind {
            ExprKind::Load { buffer, indices, predicate } if self.shorter.contains_key(buffer) => {
                let kind = ExprKind::Load {
                    buffer: self.new_buffer(buffer),
                    indices: self.indices(buffer, indices),
                    predicate: predicate.clone(),
                };
                Expr::new(kind, new.dtype).with_span(new.span)
            }
            _ => new,
        }
    }

    fn indices(&mut self, buffer: &Buffer, indices: &[Expr]) -> Vec<Expr> {
        let Some(shorter) = self.shorter.get(buffer) else { return indices.to_vec() };
        let firsts: Vec<Option<Sum>> = shorter
            .parts
            .iter()
            .map(|part| match part {
                Part::Whole => None,
                Part::Some { first, .. } => Some(first.clone()),
            })
            .collect();
        let from = |(index, first): (&Expr, Option<Sum>)| match first {
            Some(first) if !first.terms.is_empty() || first.constant != 0 => {
                let first = self.here(&first.to_expr(index.dtype.scalar()), index);
                simplify::expr(&(index.clone() - first.broadcast(index.dtype.lanes)))
            }
            _ => index.clone(),
        };
        indices.iter().zip(firsts).map(from).collect()
    }

    /// The expression with threads as they are called here; where an axis is bound by several
    /// loops, as in the index.
    fn here(&mut self, first: &Expr, index: &Expr) -> Expr {
        let used = vars_of(&self.values.expr(index));
        let mut names = Substitution::new();
        for var in vars_of(first) {
            let bound = self.threads.get(&var).and_then(|axis| self.bound.get(axis));
            let Some(bound) = bound else { continue };
            if let Some(own) = bound.iter().find(|own| used.contains(own)).or(bound.last()) {
                names.map_var(&var, own.expr().cast(var.dtype));
            }
        }
        names.expr(first)
    }
}
