//! Searches that visit a node once, however often it is shared (SRC-S7).

use std::collections::HashSet;

use chipdock_ir::{Expr, ExprKind};

/// Returns true if `holds` returns true for the expression or any node below it.
pub(crate) fn any_node(e: &Expr, holds: &dyn Fn(&Expr) -> bool) -> bool {
    fn search(e: &Expr, holds: &dyn Fn(&Expr) -> bool, seen: &mut HashSet<usize>) -> bool {
        if !seen.insert(e.address()) {
            return false;
        }
        let mut found = holds(e);
        e.for_each_child(&mut |child| found = found || search(child, holds, seen));
        found
    }
    search(e, holds, &mut HashSet::new())
}

/// Returns true if the expression reads memory.
pub(crate) fn reads(e: &Expr) -> bool {
    any_node(e, &|e| matches!(e.kind, ExprKind::Load { .. }))
}
