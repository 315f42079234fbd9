//! Reuse of the memory of buffers that are no longer used.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Buffer, Child, ExprKind, IrModule, Stmt, StmtKind, TargetCapabilities, Var};

use crate::PassError;
use crate::walk::map_bodies;

/// Maximum number of owners of memory that an allocation considers, the last ones before it: with
/// more, the time for long sequences would grow with their square.
const OWNERS_MAX: usize = 256;

/// Lets an allocation reuse the memory of an earlier one in the same sequence whose last use is
/// before the first use of the later one: same scope, at least as large and as aligned. The element
/// type is the same too, unless both exceed the stack limit
/// ([`STACK_SIZE_BYTES_MAX`](chipdock_ir::limits::STACK_SIZE_BYTES_MAX) bytes, or a size that is
/// not constant): then elements of the earlier one are at least as large. A buffer whose address is
/// passed on keeps its own memory. Only the last 256 owners are considered.
///
/// # Before and after
///
/// ```text
/// M = T.alloc_buffer((16,))              M = T.alloc_buffer((16,))
/// S = T.alloc_buffer((16,))              S = T.decl_buffer((16,), data=M.data)
/// M[0] = A[0]                    ->      M[0] = A[0]
/// B[0] = M[0]                            B[0] = M[0]
/// S[0] = A[1]                            S[0] = A[1]
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers. No more memory is allocated than before.
///
/// # Errors
///
/// None.
pub fn storage_rewrite(module: &IrModule, _capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    Ok(map_bodies(module, |function| rewrite(&function.body)))
}

fn rewrite(stmt: &Stmt) -> Stmt {
    let stmt = stmt.map_children(&mut chipdock_ir::Expr::clone, &mut rewrite);
    match &stmt.kind {
        StmtKind::Seq(stmts) => Stmt::new(StmtKind::Seq(share(stmts))).with_span(stmt.span),
        _ => stmt,
    }
}

/// Positions in a sequence at which a buffer is used.
#[derive(Clone, Copy)]
struct Lifetime {
    first: usize,
    last: usize,
    escapes: bool,
}

fn share(stmts: &[Stmt]) -> Vec<Stmt> {
    let allocated: Vec<&Buffer> = stmts
        .iter()
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::AllocBuffer { buffer, .. } => Some(buffer),
            _ => None,
        })
        .collect();
    if allocated.len() < 2 {
        return stmts.to_vec();
    }
    let lifetimes = lifetimes(stmts, &allocated);
    // Buffers with memory of their own, each with the last use of any buffer in it.
    let mut owners: Vec<(&Buffer, usize)> = Vec::new();
    let mut moved: HashMap<Var, Var> = HashMap::new();
    let mut substitution = Substitution::new();
    for buffer in allocated {
        let Some(lifetime) = lifetimes.get(&buffer.data).copied() else { continue };
        let near = owners.len().saturating_sub(OWNERS_MAX);
        let mut near = owners[near..].iter_mut();
        let owner = near.find(|(owner, last)| *last < lifetime.first && holds(owner, buffer));
        match owner {
            Some((owner, last)) if !lifetime.escapes => {
                *last = lifetime.last;
                moved.insert(buffer.data.clone(), owner.data.clone());
                substitution.map_var(&buffer.data, owner.data.expr());
            }
            _ if lifetime.escapes => {}
            _ => owners.push((buffer, lifetime.last)),
        }
    }
    if moved.is_empty() {
        return stmts.to_vec();
    }
    let substitution = RefCell::new(substitution);
    let replace = |stmt: &Stmt| match &stmt.kind {
        StmtKind::AllocBuffer { buffer, .. } if moved.contains_key(&buffer.data) => {
            let buffer = substitution.borrow_mut().buffer(buffer);
            Stmt::new(StmtKind::DeclBuffer { buffer, data: None }).with_span(stmt.span)
        }
        _ => substitution.borrow_mut().stmt(stmt),
    };
    stmts.iter().map(replace).collect()
}

/// Returns true if the memory of `owner` is large enough for `buffer`, and of the same kind.
fn holds(owner: &Buffer, buffer: &Buffer) -> bool {
    let (have, want) = (bytes(owner), bytes(buffer));
    let large =
        |bytes: Option<i128>| bytes.is_none_or(|bytes| bytes > chipdock_ir::limits::STACK_SIZE_BYTES_MAX);
    let element = owner.dtype == buffer.dtype
        || owner.dtype.size_bytes() >= buffer.dtype.size_bytes()
            && owner.dtype.lane_size_bytes() >= buffer.dtype.lane_size_bytes()
            && large(have)
            && large(want);
    let size = match (have, want) {
        (Some(have), Some(want)) => have >= want,
        _ => owner.shape == buffer.shape,
    };
    size && element
        && owner.scope == buffer.scope
        && owner.data_alignment_bytes >= buffer.data_alignment_bytes
}

fn bytes(buffer: &Buffer) -> Option<i128> {
    buffer.constant_size()?.checked_mul(buffer.dtype.size_bytes() as i128)
}

/// The lifetime of each allocated buffer; one that is never used has no entry.
fn lifetimes(stmts: &[Stmt], allocated: &[&Buffer]) -> HashMap<Var, Lifetime> {
    let allocated: HashSet<&Var> = allocated.iter().map(|buffer| &buffer.data).collect();
    let mut lifetimes: HashMap<Var, Lifetime> = HashMap::new();
    for (position, stmt) in stmts.iter().enumerate() {
        if matches!(stmt.kind, StmtKind::AllocBuffer { .. }) {
            continue;
        }
        let mut used = |data: &Var, escapes: bool| {
            if !allocated.contains(data) {
                return;
            }
            let new = Lifetime { first: position, last: position, escapes };
            let lifetime = lifetimes.entry(data.clone()).or_insert(new);
            lifetime.last = position;
            lifetime.escapes |= escapes;
        };
        stmt.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::Store { buffer, .. } => used(&buffer.data, false),
                // A view may be used anywhere later: its uses count as uses of its memory, which it
                // names.
                StmtKind::DeclBuffer { buffer, .. } => used(&buffer.data, false),
                _ => {}
            }
        });
        stmt.walk_exprs(&mut |expr| match &expr.kind {
            ExprKind::Load { buffer, .. } => used(&buffer.data, false),
            ExprKind::Var(var) if var.dtype.is_handle() => used(var, true),
            ExprKind::Call { callee: chipdock_ir::Callee::Op(chipdock_ir::Op::AddressOf), args } => {
                if let [arg] = args.as_slice()
                    && let ExprKind::Load { buffer, .. } = &arg.kind
                {
                    used(&buffer.data, true);
                }
            }
            _ => {}
        });
    }
    lifetimes
}
