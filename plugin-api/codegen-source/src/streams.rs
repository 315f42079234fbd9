//! Stores that need not stay in caches ([`attr::NONTEMPORAL`], SRC-S13).

use chipdock_ir::{AttrNode, AttrValue, Attrs, Callee, Child, Expr, ExprKind, Op, Stmt, StmtKind, attr};

use crate::writer::Writer;

impl<'a> Writer<'a> {
    /// Writes a statement whose stores, to that memory or to any, need not stay in caches.
    pub(crate) fn streamed(&mut self, node: &AttrNode, body: &'a Stmt) {
        self.streams.push(match node {
            AttrNode::Buffer(buffer) => Some(buffer.data.address()),
            AttrNode::Var(var) => Some(var.address()),
            AttrNode::None | AttrNode::Reducer(_) => None,
        });
        self.stmt(body);
        self.streams.pop();
    }

    /// Returns true if stores to the memory of a data variable need not stay in caches here.
    pub(crate) fn is_streamed(&self, address: usize) -> bool {
        self.streams.iter().any(|data| data.is_none_or(|data| data == address))
    }

    /// Writes the statement after which other threads see such stores, in a function that has any.
    pub(crate) fn store_fence(&mut self) {
        if !self.has_streams {
            return;
        }
        if let Some(line) = self.dialect.store_fence(&mut self.prelude) {
            self.text.line(line);
        }
    }

    /// Writes that statement before expressions that call code that may let other threads read.
    pub(crate) fn fence_before<'e>(&mut self, roots: impl IntoIterator<Item = &'e Expr>) {
        if self.has_streams && roots.into_iter().any(hands_over) {
            self.store_fence();
        }
    }
}

/// Returns true if a statement of the function requests such stores.
pub(crate) fn has_streams(body: &Stmt) -> bool {
    let mut found = false;
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        found |= match &stmt.kind {
            StmtKind::Attr { key, value, .. } => is_request(key, value),
            StmtKind::For { annotations, .. } => is_annotated(annotations),
            _ => false,
        };
    });
    found
}

/// Returns true if the attribute of a statement requests such stores.
pub(crate) fn is_request(key: &str, value: &Expr) -> bool {
    key == attr::NONTEMPORAL && value.as_int() != Some(0)
}

/// Returns true if the annotations of a loop request such stores.
pub(crate) fn is_annotated(annotations: &Attrs) -> bool {
    match annotations.get(attr::NONTEMPORAL) {
        None | Some(AttrValue::None | AttrValue::Int(0) | AttrValue::Bool(false)) => false,
        Some(AttrValue::Expr(value)) => value.as_int() != Some(0),
        Some(_) => true,
    }
}

fn hands_over(root: &Expr) -> bool {
    let mut found = false;
    root.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::Call { callee: Callee::Op(op), .. } => {
                matches!(op, Op::ParallelLaunch | Op::CallPacked)
            }
            ExprKind::Call { callee: Callee::Global(_), .. } => true,
            ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => !pure,
            _ => false,
        };
    });
    found
}
