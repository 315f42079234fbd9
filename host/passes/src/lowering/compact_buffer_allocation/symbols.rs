//! Variables of a function by what they are for.

use std::collections::{HashMap, HashSet};

use chipdock_ir::{Buffer, Child, ExprKind, Param, PrimFunc, StmtKind, Var};

use crate::walk::vars_of;

/// The scalar parameters of a function, and its sizes.
pub(super) fn sizes(function: &PrimFunc) -> HashSet<Var> {
    let mut sizes = HashSet::new();
    for param in &function.params {
        match param {
            Param::Var(var) => sizes.extend([var.clone()].into_iter().filter(|var| !var.dtype.is_handle())),
            Param::Buffer(buffer) => sizes.extend(vars_of_layout(buffer)),
        }
    }
    sizes
}

/// The variables that occur once in the function: as a stride or an offset of a view of a block
/// that is bound there, and that nothing else sees.
pub(super) fn unique(function: &PrimFunc) -> HashSet<Var> {
    let mut counts: HashMap<Var, usize> = HashMap::new();
    let mut views: HashSet<Var> = HashSet::new();
    let mut count = |vars: &mut dyn Iterator<Item = Var>| {
        vars.for_each(|var| *counts.entry(var).or_default() += 1);
    };
    for param in &function.params {
        match param {
            Param::Var(var) => count(&mut [var.clone()].into_iter()),
            Param::Buffer(buffer) => count(&mut vars_of_layout(buffer)),
        }
    }
    function.alloc_buffers.iter().for_each(|buffer| count(&mut vars_of_layout(buffer)));
    function.body.walk(&mut |child| match child {
        Child::Expr(expr) => expr.walk(&mut |e| match &e.kind {
            ExprKind::Var(var) | ExprKind::Let { var, .. } => count(&mut [var.clone()].into_iter()),
            _ => {}
        }),
        Child::Stmt(stmt) => match &stmt.kind {
            StmtKind::Bind { var, .. } | StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } => {
                count(&mut [var.clone()].into_iter());
            }
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                count(&mut vars_of_layout(buffer));
            }
            StmtKind::BlockRealize { block, .. } => {
                count(&mut block.iter_vars.iter().map(|axis| axis.var.clone()));
                block.alloc_buffers.iter().for_each(|buffer| count(&mut vars_of_layout(buffer)));
                for view in &block.match_buffers {
                    count(&mut vars_of_layout(&view.buffer));
                    let ranges = view.source.region.iter().flat_map(|range| [&range.min, &range.extent]);
                    count(&mut ranges.flat_map(vars_of));
                    let named = view.buffer.strides.iter().chain(&view.buffer.elem_offset);
                    views.extend(named.flat_map(vars_of));
                }
            }
            _ => {}
        },
    });
    views.retain(|var| counts.get(var) == Some(&1));
    views
}

/// The variables of shape, strides and offset, one for each of these in which they occur.
fn vars_of_layout(buffer: &Buffer) -> impl Iterator<Item = Var> + use<'_> {
    buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset).flat_map(vars_of)
}
