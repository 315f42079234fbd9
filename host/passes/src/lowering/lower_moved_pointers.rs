//! Views of moved pointers, for targets whose pointers cannot be moved.

use std::collections::HashMap;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Child, Expr, ExprKind, IrModule, Stmt, StmtKind, TargetCapabilities, Var};

use super::pointers::{Moved, pointed_to};
use crate::PassError;
use crate::walk::map_bodies;

/// Replaces views of a moved pointer in device functions by views of the memory itself, and moves
/// their indices instead, if the target cannot move a pointer
/// ([`chipdock_ir::Memory::fixed_pointers`]).
///
/// # Rules
///
/// * **MOVED-P1** A view of `address_of(B[first])`, or of `handle_add_byte_offset(b, bytes)` by
///   whole elements, becomes a view of the memory, longer by `first` elements; `first` is added to
///   the index of each access. A view over such a view follows.
/// * **MOVED-P2** The sum of index and `first` is computed in the wider of their types, so that it
///   does not wrap where the address did not.
/// * **MOVED-P3** A view is unchanged if `first` reads memory or has an effect, since it would be
///   computed anew at each access; if the memory is not a buffer of one axis of the view's type
///   that begins at its pointer; or if the number of bytes is not known to be of whole elements. A
///   code generator refuses what it cannot write.
///
/// # Before and after
///
/// ```text
/// V = T.decl_buffer((4,), "int32", data=T.address_of(B[n]))      V = T.decl_buffer((4 + n,), "int32", data=B.data)
/// V[i] = A[i]                                                ->  V[i + n] = A[i]
/// ```
///
/// # Requires / # Ensures
///
/// Requires flat buffers. If the target's pointers are fixed, a view is of a named pointer or one
/// of those that MOVED-P3 names; otherwise, and for a host, the module is unchanged.
///
/// # Errors
///
/// None.
pub fn lower_moved_pointers(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    if capabilities.is_host || !capabilities.memory.fixed_pointers {
        return Ok(module.clone());
    }
    Ok(map_bodies(module, |function| {
        let mut body = function.body.clone();
        // A view may itself be declared over a view.
        while let Some(next) = views_resolved(&body) {
            body = next;
        }
        body
    }))
}

fn views_resolved(body: &Stmt) -> Option<Stmt> {
    let (mut with, mut moved) = (Substitution::new(), HashMap::new());
    let mut views: Vec<Var> = Vec::new();
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let StmtKind::DeclBuffer { buffer, data: Some(data) } = &stmt.kind else { return };
        let is_moved = matches!(data.kind, ExprKind::Call { .. });
        let resolved = pointed_to(data, buffer.dtype).filter(|(base, _)| is_moved && !views.contains(base));
        let Some((base, first)) = resolved else { return };
        moved.extend(first.map(|first| (buffer.data.clone(), first)));
        with.map_var(&buffer.data, base.expr());
        views.push(buffer.data.clone());
    });
    (!views.is_empty()).then(|| with.stmt(&declared_by_name(&Moved::by(moved).stmt(body), &views)))
}

/// Rewrites the statement so that views of those pointers are declared over named memory.
fn declared_by_name(stmt: &Stmt, views: &[Var]) -> Stmt {
    match &stmt.kind {
        StmtKind::DeclBuffer { buffer, .. } if views.contains(&buffer.data) => {
            Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }).with_span(stmt.span)
        }
        _ => stmt.map_children(&mut Expr::clone, &mut |inner| declared_by_name(inner, views)),
    }
}
