//! Functions that end early on a condition that only the device knows.

use chipdock_ir::{Attrs, Buffer, CompareOp, DType, Expr, ForKind, Stmt, StmtKind, StorageScope};

use crate::walk::any_stmt;

pub(super) fn returns(stmt: &Stmt) -> bool {
    any_stmt(stmt, &mut |kind| matches!(kind, StmtKind::Return(_)))
}

/// Removes `return` from the statements: statements after one move under the other branch, and a
/// loop that is left by one records it for the statements after the loop. `None` if a `return`
/// leaves another kind of statement.
pub(super) fn without_returns(stmts: &[Stmt]) -> Option<Stmt> {
    let mut done = Vec::new();
    for (index, stmt) in stmts.iter().enumerate() {
        let rest = &stmts[index + 1..];
        if !returns(stmt) {
            done.push(stmt.clone());
            continue;
        }
        match &stmt.kind {
            StmtKind::Return(None) => {}
            StmtKind::Seq(inner) => done.push(without_returns(&[inner, rest].concat())?),
            StmtKind::If { condition, then, otherwise } => {
                let nothing = Stmt::nop();
                let other = otherwise.as_ref().unwrap_or(&nothing);
                let follow = |stmt: &Stmt| {
                    let ends = ends(stmt);
                    let stmts: Vec<Stmt> =
                        std::iter::once(stmt).chain(if ends { &[] } else { rest }).cloned().collect();
                    without_returns(&stmts)
                };
                if !ends(then) && !ends(other) && !rest.is_empty() {
                    return None;
                }
                let (then, other) = (follow(then)?, follow(other)?);
                let other = (!other.is_nop()).then_some(other);
                done.push(Stmt::if_then(condition.clone(), then, other).with_span(stmt.span));
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                let ended = Ended::new();
                done.extend([ended.allocation(), ended.set(0), ended.within_loop(stmt)?]);
                let rest = without_returns(rest)?;
                if !rest.is_nop() {
                    done.push(Stmt::if_then(ended.is(0), rest, None));
                }
            }
            _ => return None,
        }
        break;
    }
    Some(Stmt::seq(done))
}

/// Returns true if the statement always ends the function.
fn ends(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Seq(stmts) => stmts.iter().any(ends),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => ends(then) && ends(otherwise),
        _ => false,
    }
}

/// A flag of the one thread that runs the function: whether a loop was left because the function
/// ends.
struct Ended(Buffer);

impl Ended {
    fn new() -> Self {
        Self(Buffer::new("ended", vec![Expr::i32(1)], DType::INT32, StorageScope::LOCAL))
    }

    fn allocation(&self) -> Stmt {
        Stmt::new(StmtKind::AllocBuffer { buffer: self.0.clone(), annotations: Attrs::new() })
    }

    fn set(&self, value: i32) -> Stmt {
        Stmt::store(&self.0, vec![Expr::i32(0)], Expr::i32(value))
    }

    fn is(&self, value: i32) -> Expr {
        Expr::compare(CompareOp::Eq, Expr::load(&self.0, vec![Expr::i32(0)]), Expr::i32(value))
    }

    /// A loop that is left where the function would have ended.
    fn within_loop(&self, stmt: &Stmt) -> Option<Stmt> {
        let is_serial = match &stmt.kind {
            StmtKind::For { kind, .. } => *kind == ForKind::Serial,
            kind => matches!(kind, StmtKind::While { .. }),
        };
        let map = &mut |body: &Stmt| self.breaking(body).ok_or(());
        is_serial.then(|| stmt.try_map_children(&mut |e| Ok(e.clone()), map).ok())?
    }

    fn breaking(&self, stmt: &Stmt) -> Option<Stmt> {
        if !returns(stmt) {
            return Some(stmt.clone());
        }
        match &stmt.kind {
            StmtKind::Return(None) => Some(Stmt::seq([self.set(1), Stmt::new(StmtKind::Break)])),
            StmtKind::Seq(_) | StmtKind::If { .. } => {
                let map = &mut |inner: &Stmt| self.breaking(inner).ok_or(());
                stmt.try_map_children(&mut |e| Ok(e.clone()), map).ok()
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                let leave = Stmt::if_then(self.is(1), Stmt::new(StmtKind::Break), None);
                Some(Stmt::seq([self.within_loop(stmt)?, leave]))
            }
            _ => None,
        }
    }
}
