//! Access to nodes by their position in pre-order.

use std::cell::RefCell;

use chipdock_ir::{Expr, Stmt};

/// Traversal in pre-order that replaces one node.
struct Cursor<'f> {
    left: usize,
    stmt: &'f mut dyn FnMut(&Stmt) -> Option<Stmt>,
    expr: &'f mut dyn FnMut(&Expr) -> Option<Expr>,
    /// Whether positions count statements; otherwise they count expressions.
    statements: bool,
    done: bool,
}

impl Cursor<'_> {
    fn is_here(&mut self) -> bool {
        if self.done {
            return false;
        }
        self.done = self.left == 0;
        self.left = self.left.saturating_sub(1);
        self.done
    }

    fn walk_stmt(&mut self, stmt: &Stmt) -> Stmt {
        if self.statements
            && self.is_here()
            && let Some(new) = (self.stmt)(stmt)
        {
            return new;
        }
        if self.done {
            return stmt.clone();
        }
        let this = RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow_mut().walk_expr(e), &mut |s| this.borrow_mut().walk_stmt(s))
    }

    fn walk_expr(&mut self, expr: &Expr) -> Expr {
        if self.statements || self.done {
            return expr.clone();
        }
        if self.is_here()
            && let Some(new) = (self.expr)(expr)
        {
            return new;
        }
        if self.done { expr.clone() } else { expr.map_children(&mut |e| self.walk_expr(e)) }
    }
}

/// Returns the statement at a position.
pub(crate) fn stmt(body: &Stmt, position: usize) -> Option<Stmt> {
    let mut found = None;
    let mut take = |stmt: &Stmt| {
        found = Some(stmt.clone());
        None
    };
    Cursor { left: position, stmt: &mut take, expr: &mut |_| None, statements: true, done: false }
        .walk_stmt(body);
    found
}

/// Returns the body with the statement at a position replaced.
pub(crate) fn with_stmt(body: &Stmt, position: usize, new: &Stmt) -> Stmt {
    let mut put = |_: &Stmt| Some(new.clone());
    Cursor { left: position, stmt: &mut put, expr: &mut |_| None, statements: true, done: false }
        .walk_stmt(body)
}

/// Returns the expression at a position.
pub(crate) fn expr(body: &Stmt, position: usize) -> Option<Expr> {
    let mut found = None;
    let mut take = |expr: &Expr| {
        found = Some(expr.clone());
        None
    };
    Cursor { left: position, stmt: &mut |_| None, expr: &mut take, statements: false, done: false }
        .walk_stmt(body);
    found
}

/// Returns the body with the expression at a position replaced.
pub(crate) fn with_expr(body: &Stmt, position: usize, new: &Expr) -> Stmt {
    let mut put = |_: &Expr| Some(new.clone());
    Cursor { left: position, stmt: &mut |_| None, expr: &mut put, statements: false, done: false }
        .walk_stmt(body)
}
