//! Partial results that a thread combines on its own.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, Block, Buffer, Expr, ForKind, IterKind, IterVar, Stmt, StmtKind, StorageScope, Var,
};

use super::combine::Combination;
use super::nest::Nest;
use crate::simplify;
use crate::walk::vars_of;

/// The partial results of a thread.
pub(super) struct Own {
    pub(super) buffers: Vec<Buffer>,
    /// The loops within the outermost reduction loop that are not reduction loops: variable, first
    /// value, extent.
    pub(super) loops: Vec<(Var, Expr, i128)>,
}

impl Own {
    /// Returns `None` if an extent is not constant, or a first value depends on the other loops.
    pub(super) fn from_nest(
        nest: &Nest<'_>,
        reduced: &HashSet<Var>,
        combination: &Combination,
    ) -> Option<Self> {
        let mut loops = Vec::new();
        let inner: HashSet<&Var> = nest.heads().map(|(var, ..)| var).collect();
        for (var, min, extent, kind) in nest.heads() {
            if !reduced.contains(var) && !matches!(kind, ForKind::ThreadBinding(_)) {
                if vars_of(min).iter().any(|var| inner.contains(var)) {
                    return None;
                }
                loops.push((var.clone(), min.clone(), extent.as_int()?));
            }
        }
        let mut shape: Vec<Expr> = loops.iter().map(|(var, _, n)| Expr::int(*n, var.dtype)).collect();
        if shape.is_empty() {
            shape.push(Expr::i32(1));
        }
        let buffers = combination.parts.iter().map(|part| {
            let name = format!("{}_own", part.buffer.name);
            Buffer::new(name, shape.clone(), part.buffer.dtype, StorageScope::LOCAL)
        });
        Some(Self { buffers: buffers.collect(), loops })
    }

    pub(super) fn index(&self, fresh: &mut Substitution) -> Vec<Expr> {
        if self.loops.is_empty() {
            return vec![Expr::i32(0)];
        }
        let at = self.loops.iter().map(|(var, min, _)| {
            let from_zero = var.expr() - min.clone();
            fresh.expr(&simplify::expr(&from_zero))
        });
        at.collect()
    }

    pub(super) fn start(&self, combination: &Combination) -> Stmt {
        let mut fresh = Substitution::new();
        let mut loops = Vec::new();
        for (var, min, n) in &self.loops {
            let new = Var::new(Arc::clone(&var.name), var.dtype);
            fresh.map_var(var, new.expr() + min.clone());
            loops.push((new, Expr::int(*n, var.dtype)));
        }
        let index: Vec<Expr> = self.index(&mut fresh).iter().map(simplify::expr).collect();
        let stores = self.buffers.iter().zip(&combination.parts);
        let stores = stores.map(|(own, part)| Stmt::store(own, index.clone(), part.start.clone()));
        loops
            .into_iter()
            .rev()
            .fold(Stmt::seq(stores), |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body))
    }

    /// Rewrites the statement so that the block works on the thread's own memory.
    pub(super) fn steps(&self, stmt: &Stmt, block: &Arc<Block>, combination: &Combination) -> Stmt {
        let StmtKind::BlockRealize { iter_values, predicate, block: found } = &stmt.kind else {
            return stmt.map_children(&mut Expr::clone, &mut |s| self.steps(s, block, combination));
        };
        if !Arc::ptr_eq(found, block) {
            return stmt.clone();
        }
        let index = self.index(&mut Substitution::new());
        let axes = block.iter_vars.iter().map(|axis| match axis.kind {
            IterKind::Reduce => IterVar { kind: IterKind::Opaque, ..axis.clone() },
            _ => axis.clone(),
        });
        let own = Block {
            iter_vars: axes.collect(),
            reads: None,
            writes: None,
            init: None,
            annotations: Attrs::new(),
            body: combination.on(&self.buffers, &index, &block.body),
            ..(**block).clone()
        };
        let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
        Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(own) })
    }
}
