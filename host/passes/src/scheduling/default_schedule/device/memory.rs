//! Moving buffers to another scope.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Buffer, BufferNode, Child, ExprKind, ForKind, Stmt, StmtKind, StorageScope, Var,
};

use crate::scheduling::default_schedule::nest::with_body;

/// Buffers that a statement allocates, including those of blocks in it, in order.
pub(super) fn allocations(stmt: &Stmt) -> Vec<Buffer> {
    let mut found = Vec::new();
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            match &stmt.kind {
                StmtKind::AllocBuffer { buffer, .. } => found.push(buffer.clone()),
                StmtKind::BlockRealize { block, .. } => found.extend(block.alloc_buffers.iter().cloned()),
                _ => {}
            }
        }
    });
    found
}

/// Size in bytes of a buffer of constant size.
pub(super) fn size_bytes(buffer: &Buffer) -> Option<i128> {
    buffer.constant_size()?.checked_mul(buffer.dtype.size_bytes() as i128)
}

/// Every buffer that a statement mentions, and the data variable that each view of a region refers
/// to.
fn mentioned(stmt: &Stmt) -> (HashSet<Buffer>, Vec<(Buffer, Var)>) {
    let (mut buffers, mut views) = (HashSet::new(), Vec::new());
    stmt.walk(&mut |child| {
        let stmt = match child {
            Child::Stmt(stmt) => stmt,
            Child::Expr(expr) => {
                return expr.walk(&mut |e| {
                    if let ExprKind::Load { buffer, .. } = &e.kind {
                        buffers.insert(buffer.clone());
                    }
                });
            }
        };
        match &stmt.kind {
            StmtKind::Store { buffer, .. }
            | StmtKind::AllocBuffer { buffer, .. }
            | StmtKind::DeclBuffer { buffer, .. }
            | StmtKind::Attr { node: AttrNode::Buffer(buffer), .. } => {
                buffers.insert(buffer.clone());
            }
            StmtKind::BlockRealize { block, .. } => {
                buffers.extend(block.alloc_buffers.iter().cloned());
                for view in &block.match_buffers {
                    buffers.insert(view.buffer.clone());
                    buffers.insert(view.source.buffer.clone());
                    views.push((view.buffer.clone(), view.source.buffer.data.clone()));
                }
                let regions = block.reads.iter().chain(&block.writes).flatten();
                buffers.extend(regions.map(|region| region.buffer.clone()));
            }
            _ => {}
        }
    });
    (buffers, views)
}

/// Moves buffers to another scope: those of `moved`, and all views of their memory.
///
/// Returns the substitution that does so in all of `stmt` and in the lists of buffers that belong
/// to it.
pub(super) fn moved(stmt: &Stmt, moved: &[Buffer], scope: &StorageScope) -> Substitution {
    let (mut buffers, views) = mentioned(stmt);
    buffers.extend(moved.iter().cloned());
    let mut data: HashSet<Var> = moved.iter().map(|buffer| buffer.data.clone()).collect();
    loop {
        let n_known = data.len();
        let within = views.iter().filter(|(_, source)| data.contains(source));
        let within: Vec<Var> = within.map(|(view, _)| view.data.clone()).collect();
        data.extend(within);
        if data.len() == n_known {
            break;
        }
    }
    let mut substitution = Substitution::new();
    let mut pointers: HashMap<Var, Var> = HashMap::new();
    for buffer in buffers.iter().filter(|buffer| data.contains(&buffer.data)) {
        let pointer = pointers.entry(buffer.data.clone()).or_insert_with(|| {
            let element = buffer.data.pointer.as_ref().map_or(buffer.dtype, |pointer| pointer.element);
            Var::pointer(Arc::clone(&buffer.data.name), element, scope.clone())
        });
        substitution.map_var(&buffer.data, pointer.expr());
        let node = BufferNode { data: pointer.clone(), scope: scope.clone(), ..BufferNode::clone(buffer) };
        substitution.map_buffer(buffer, &Buffer::from_node(node));
    }
    substitution
}

/// Removes the allocations of those buffers from the statement. A parallel loop that had one
/// becomes serial: its iterations would share that memory.
pub(super) fn without_allocations(stmt: &Stmt, gone: &HashSet<Buffer>) -> Stmt {
    let new = stmt.map_children(&mut chipdock_ir::Expr::clone, &mut |s| without_allocations(s, gone));
    match &new.kind {
        StmtKind::AllocBuffer { buffer, .. } if gone.contains(buffer) => Stmt::nop(),
        StmtKind::Seq(stmts) if !new.same(stmt) => Stmt::seq(stmts.iter().cloned()),
        StmtKind::For { kind: ForKind::Parallel, body, .. }
            if allocations(stmt).iter().any(|buffer| gone.contains(buffer)) =>
        {
            with_body(stmt, body.clone(), Some(ForKind::Serial))
        }
        StmtKind::BlockRealize { iter_values, predicate, block }
            if !new.same(stmt) || block.alloc_buffers.iter().any(|buffer| gone.contains(buffer)) =>
        {
            let mut block = chipdock_ir::Block::clone(block);
            // Reads and writes of memory allocated elsewhere would have to be declared.
            (block.reads, block.writes) = (None, None);
            block.alloc_buffers.retain(|buffer| !gone.contains(buffer));
            let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
            Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) })
        }
        _ => new,
    }
}
