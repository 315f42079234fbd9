//! Statements that run lane by lane among vectors.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{AttrNode, BinaryOp, Buffer, Expr, ExprKind, ForKind, Stmt, StmtKind, Var};

use super::lanes::Lanes;
use crate::simplify;
use crate::walk::vars_of;

impl Lanes<'_> {
    /// A serial loop over the lanes, with the names and conditions that apply to the statements.
    /// `None` if these may have changed, since they read memory that the body stores to.
    pub(super) fn one_by_one(&self, stmts: &[Stmt]) -> Option<Stmt> {
        let (var, first, stride) = self.head.as_ref()?;
        let mut needed: HashSet<Var> = self.conditions.iter().flat_map(vars_of).collect();
        for stmt in stmts {
            stmt.walk_exprs(&mut |e| {
                if let ExprKind::Var(var) = &e.kind {
                    needed.insert(var.clone());
                }
            });
        }
        let mut bindings = Vec::new();
        for (name, value) in self.bindings.iter().rev().filter(|(name, _)| self.changed.contains(name)) {
            if needed.contains(name) {
                self.is_stable(value).then_some(())?;
                needed.extend(vars_of(value));
                bindings.push((name, value));
            }
        }
        let body = Stmt::seq(stmts.iter().cloned());
        let body = match self.conditions.iter().cloned().reduce(Expr::and) {
            Some(condition) => {
                self.is_stable(&condition).then_some(())?;
                Stmt::if_then(condition, body, None)
            }
            None => body,
        };
        let bindings = bindings
            .into_iter()
            .rev()
            .map(|(name, value)| Stmt::new(StmtKind::Bind { var: name.clone(), value: value.clone() }));
        let body = Stmt::seq(bindings.chain([body]));
        let lane = Var::new(var.name.clone(), var.dtype);
        let offset = Expr::binary(BinaryOp::Mul, lane.expr(), stride.clone());
        let value = simplify::expr(&(first.clone() + offset));
        let body = Substitution::new().fresh().with_var(var, value).stmt(&body);
        let body = own_elements(&body, &Own { buffers: &self.own, lanes: self.lanes, lane: lane.expr() });
        let extent = Expr::int(self.lanes.into(), var.dtype);
        Some(Stmt::for_loop(lane, extent, ForKind::Serial, body))
    }
}

/// Buffers of which each lane has its own part, and the current lane.
struct Own<'a> {
    buffers: &'a HashMap<Var, Buffer>,
    lanes: u16,
    lane: Expr,
}

impl Own<'_> {
    fn place(&self, buffer: &Buffer, indices: &[Expr]) -> Option<(Buffer, Vec<Expr>)> {
        let wide = self.buffers.get(&buffer.data)?;
        let [index] = indices else { return None };
        let dtype = index.dtype;
        // An index that is already a vector remains one.
        let lane = self.lane.clone().cast(dtype.scalar()).broadcast(dtype.lanes);
        let own = index.clone() * Expr::int(self.lanes.into(), dtype) + lane;
        Some((wide.clone(), vec![simplify::expr(&own)]))
    }
}

/// Moves accesses of such buffers to the lane's elements.
fn own_elements(stmt: &Stmt, own: &Own<'_>) -> Stmt {
    if own.buffers.is_empty() {
        return stmt.clone();
    }
    let mapped = stmt.map_children(&mut |e| in_expr(e, own), &mut |s| own_elements(s, own));
    if let StmtKind::Attr { node: AttrNode::Buffer(buffer), key, value, body } = &mapped.kind
        && let Some(wide) = own.buffers.get(&buffer.data)
    {
        let (node, key) = (AttrNode::Buffer(wide.clone()), key.clone());
        let kind = StmtKind::Attr { node, key, value: value.clone(), body: body.clone() };
        return Stmt::new(kind).with_span(stmt.span);
    }
    let StmtKind::Store { buffer, indices, value, predicate } = &mapped.kind else { return mapped };
    match own.place(buffer, indices) {
        Some((buffer, indices)) => {
            let (value, predicate) = (value.clone(), predicate.clone());
            Stmt::new(StmtKind::Store { buffer, indices, value, predicate }).with_span(stmt.span)
        }
        None => mapped,
    }
}

fn in_expr(expr: &Expr, own: &Own<'_>) -> Expr {
    let mapped = expr.map_children(&mut |child| in_expr(child, own));
    let ExprKind::Load { buffer, indices, predicate } = &mapped.kind else { return mapped };
    match own.place(buffer, indices) {
        Some((buffer, indices)) => {
            let predicate = predicate.clone();
            Expr::new(ExprKind::Load { buffer, indices, predicate }, mapped.dtype).with_span(mapped.span)
        }
        None => mapped,
    }
}
