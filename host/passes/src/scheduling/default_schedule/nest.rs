//! Perfect nests of loops.

use std::collections::HashSet;

use chipdock_ir::{Attrs, Expr, ForKind, Stmt, StmtKind, Var};

use crate::walk::{depends_on_memory, vars_of};

/// A loop without its body, which counts in constant steps between bounds that are known before the
/// nest runs.
#[derive(Clone)]
pub(crate) struct Head {
    stmt: Stmt,
    pub(crate) var: Var,
    pub(super) min: Expr,
    pub(crate) extent: Expr,
    pub(super) step: i128,
    pub(super) kind: ForKind,
}

impl Head {
    pub(crate) fn from_stmt(stmt: &Stmt) -> Option<(Self, &Stmt)> {
        let StmtKind::For { var, min, extent, kind, step, body, .. } = &stmt.kind else { return None };
        let step = step.as_ref().map_or(Some(1), Expr::as_int)?;
        if matches!(kind, ForKind::ThreadBinding(_)) || depends_on_memory(min) || depends_on_memory(extent) {
            return None;
        }
        let (var, min, extent) = (var.clone(), min.clone(), extent.clone());
        Some((Self { stmt: stmt.clone(), var, min, extent, step, kind: *kind }, body))
    }

    /// The loop with another body.
    pub(crate) fn around(&self, body: Stmt) -> Stmt {
        with_body(&self.stmt, body, None)
    }

    /// A serial loop over the same values, without its marks.
    pub(super) fn counted_by(&self, var: Var, body: Stmt) -> Stmt {
        let (min, extent, kind) = (self.min.clone(), self.extent.clone(), ForKind::Serial);
        let step = (self.step != 1).then(|| Expr::int(self.step, var.dtype));
        Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations: Attrs::new(), body })
    }

    pub(super) fn is_said_parallel(&self) -> bool {
        matches!(self.kind, ForKind::Parallel | ForKind::Vectorized)
    }
}

/// The loop with another body, and another kind if one is given.
pub(crate) fn with_body(stmt: &Stmt, body: Stmt, kind: Option<ForKind>) -> Stmt {
    match &stmt.kind {
        StmtKind::For { var, min, extent, kind: own, step, annotations, .. } => Stmt::new(StmtKind::For {
            var: var.clone(),
            min: min.clone(),
            extent: extent.clone(),
            kind: kind.unwrap_or(*own),
            step: step.clone(),
            annotations: annotations.clone(),
            body,
        })
        .with_span(stmt.span),
        _ => body,
    }
}

/// Loops one within the other, with nothing between, whose bounds do not depend on each other.
pub(super) struct Nest<'a> {
    pub(super) heads: Vec<Head>,
    pub(super) body: &'a Stmt,
}

impl<'a> Nest<'a> {
    pub(super) fn from_stmt(stmt: &'a Stmt) -> Self {
        let (mut heads, mut body) = (Vec::<Head>::new(), stmt);
        while let Some((head, inner)) = Head::from_stmt(body) {
            let mut used: HashSet<Var> = vars_of(&head.min);
            used.extend(vars_of(&head.extent));
            if heads.iter().any(|outer| used.contains(&outer.var)) {
                break;
            }
            heads.push(head);
            body = inner;
        }
        Self { heads, body }
    }
}
