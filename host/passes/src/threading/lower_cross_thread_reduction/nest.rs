//! The loops around blocks.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    Block, Buffer, Child, Expr, ExprKind, ForKind, IterKind, IterVar, MatchBufferRegion, Stmt, StmtKind, Var,
};

/// The loops from a statement down to a block, and the block.
pub(super) struct Nest<'a> {
    /// Loops and attributes, outermost first.
    pub(super) loops: Vec<&'a Stmt>,
    /// Names that are bound on the way, other than the loop variables.
    pub(super) binds: Vec<(&'a Var, &'a Expr)>,
    pub(super) values: &'a [Expr],
    pub(super) predicate: &'a Expr,
    pub(super) block: &'a Arc<Block>,
    /// Whether there is nothing but loops between the statement and the block.
    pub(super) is_alone: bool,
}

/// The loops and bindings on the path down to a block.
#[derive(Clone, Default)]
struct Path<'a> {
    loops: Vec<&'a Stmt>,
    binds: Vec<(&'a Var, &'a Expr)>,
    is_among_others: bool,
}

impl<'a> Nest<'a> {
    /// The nests of all blocks below the statement that are not within another block or a branch.
    pub(super) fn all(stmt: &'a Stmt) -> Vec<Self> {
        let mut found = Vec::new();
        collect(stmt, &mut Path::default(), &mut found);
        found
    }

    pub(super) fn axes(&self, reduced: bool) -> impl Iterator<Item = (&'a IterVar, &'a Expr)> {
        let axes = self.block.iter_vars.iter().zip(self.values);
        axes.filter(move |(axis, _)| (axis.kind == IterKind::Reduce) == reduced)
    }

    /// Loops as variable, first value, extent and kind.
    pub(super) fn heads(&self) -> impl Iterator<Item = (&'a Var, &'a Expr, &'a Expr, ForKind)> {
        self.loops.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::For { var, min, extent, kind, .. } => Some((var, min, extent, *kind)),
            _ => None,
        })
    }

    /// Moves the loops bound to threads around the others; `None` if that is not equivalent.
    pub(super) fn threads_outermost(&self) -> Option<Stmt> {
        let is_thread = |stmt: &&&Stmt| crate::walk::is_thread(stmt);
        let vars: HashSet<&Var> = self.heads().map(|(var, ..)| var).collect();
        let movable = self.heads().all(|(_, _, extent, kind)| match kind {
            ForKind::ThreadBinding(_) => crate::walk::vars_of(extent).iter().all(|var| !vars.contains(var)),
            kind => matches!(kind, ForKind::Serial | ForKind::Unrolled),
        });
        if !self.is_alone || !movable {
            return None;
        }
        let (threads, others): (Vec<&Stmt>, Vec<&Stmt>) =
            (self.loops.iter().filter(is_thread).copied().collect(), self.serial().collect());
        let realize = Stmt::new(StmtKind::BlockRealize {
            iter_values: self.values.to_vec(),
            predicate: self.predicate.clone(),
            block: Arc::clone(self.block),
        });
        let around = threads.into_iter().chain(others).rev().collect::<Vec<_>>();
        Some(around.into_iter().fold(realize, |body, stmt| with_body(stmt, &body)))
    }

    fn serial(&self) -> impl Iterator<Item = &'a Stmt> {
        self.loops.iter().copied().filter(|stmt| !crate::walk::is_thread(stmt))
    }
}

fn with_body(stmt: &Stmt, body: &Stmt) -> Stmt {
    stmt.map_children(&mut Expr::clone, &mut |_| body.clone())
}

fn collect<'a>(stmt: &'a Stmt, path: &mut Path<'a>, found: &mut Vec<Nest<'a>>) {
    match &stmt.kind {
        // An attribute is kept where it is.
        StmtKind::For { body, .. } | StmtKind::Attr { body, .. } => {
            path.loops.push(stmt);
            collect(body, path, found);
            path.loops.pop();
        }
        StmtKind::Seq(stmts) => {
            let n_binds = path.binds.len();
            let is_among_others = std::mem::replace(&mut path.is_among_others, true);
            for stmt in stmts {
                match &stmt.kind {
                    StmtKind::Bind { var, value } => path.binds.push((var, value)),
                    _ => collect(stmt, path, found),
                }
            }
            path.binds.truncate(n_binds);
            path.is_among_others = is_among_others;
        }
        StmtKind::BlockRealize { iter_values, predicate, block } => {
            let Path { loops, binds, is_among_others } = path.clone();
            let is_alone = !is_among_others;
            found.push(Nest { loops, binds, values: iter_values, predicate, block, is_alone });
        }
        _ => {}
    }
}

/// Returns true if anything other than the block touches this memory, including through a view of a
/// block.
pub(super) fn touches(stmt: &Stmt, but: &Arc<Block>, data: &HashSet<&Var>) -> bool {
    match &stmt.kind {
        StmtKind::BlockRealize { block, .. } if Arc::ptr_eq(block, but) => return false,
        StmtKind::BlockRealize { block, .. } if block.match_buffers.iter().any(|view| is_of(view, data)) => {
            return true;
        }
        StmtKind::Store { buffer, .. } if data.contains(&buffer.data) => return true,
        _ => {}
    }
    let mut found = false;
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => found = found || touches(stmt, but, data),
        Child::Expr(expr) => expr.walk(&mut |e| {
            found |= match &e.kind {
                ExprKind::Load { buffer, .. } => data.contains(&buffer.data),
                ExprKind::Var(var) => data.contains(var),
                _ => false,
            };
        }),
    });
    found
}

fn is_of(view: &MatchBufferRegion, data: &HashSet<&Var>) -> bool {
    data.contains(&view.source.buffer.data)
}

/// Returns true if the statement allocates any of the buffers, or binds a name that the other
/// statement uses.
pub(super) fn declares(stmt: &Stmt, buffers: &[&Buffer], nest: &Nest<'_>, used_by: &Stmt) -> bool {
    let mut used = HashSet::new();
    used_by.walk_exprs(&mut |e| {
        if let ExprKind::Var(var) = &e.kind {
            used.insert(var);
        }
    });
    let own = |buffer: &Buffer| buffers.iter().any(|known| known.data == buffer.data);
    nest.binds.iter().any(|(var, _)| used.contains(var))
        || crate::walk::any_stmt(stmt, &mut |kind| match kind {
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => own(buffer),
            StmtKind::BlockRealize { block, .. } => block.alloc_buffers.iter().any(own),
            _ => false,
        })
}
