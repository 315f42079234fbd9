//! Annotations of loops and blocks.

use chipdock_ir::{Attrs, Child, Diagnostic, IrModule, Stmt, StmtKind, attr};

use crate::lowering::{compact_buffer_allocation, unroll};

/// Prefix of annotations that only this project writes.
const OWN: &str = "chipdock.";

/// Returns true if a pass acts on annotations of that name.
pub(crate) fn is_known(key: &str) -> bool {
    key.starts_with(OWN)
        || [unroll::AUTO_MAX_STEP, unroll::EXPLICIT, compact_buffer_allocation::DIM_ALIGN].contains(&key)
}

/// Returns true if no annotation is one that a pass acts on: unknown annotations do not affect a
/// default schedule, nor does the grain of a parallel loop.
pub(crate) fn is_unmarked(annotations: &Attrs) -> bool {
    !annotations.keys().any(|key| is_known(key) && **key != *attr::GRAIN)
}

/// Annotations of loops and blocks that no pass acts on, with their positions: they change nothing.
///
/// A code generator that takes a module before its loops are lowered may act on them.
#[must_use]
pub fn unknown_annotations(module: &IrModule) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for function in &module.functions {
        function.body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            let Some((what, annotations)) = annotated(stmt) else { return };
            for key in annotations.keys().filter(|key| !is_known(key)) {
                found.push(Diagnostic {
                    function: function.name.clone(),
                    span: stmt.span,
                    node: String::new(),
                    message: format!("the annotation \"{key}\" of {what} changes nothing: no pass knows it"),
                });
            }
        });
    }
    found
}

fn annotated(stmt: &Stmt) -> Option<(String, &Attrs)> {
    match &stmt.kind {
        StmtKind::For { var, annotations, .. } => Some((format!("loop {}", var.name), annotations)),
        StmtKind::BlockRealize { block, .. } => {
            Some((format!("block \"{}\"", block.name), &block.annotations))
        }
        _ => None,
    }
}
