//! Memory accesses of a single statement.

use std::collections::HashSet;

use chipdock_ir::{Buffer, Callee, Child, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, Var};

use super::Syncer;
use super::access::{Access, How};
use crate::threading::threads::is_shared;
use crate::walk::is_thread;

/// Collects the variables that are bound outside of launches.
pub(super) fn outside(stmt: &Stmt, uniform: &mut HashSet<Var>) {
    if is_thread(stmt) {
        return;
    }
    if let StmtKind::Bind { var, .. } | StmtKind::For { var, .. } = &stmt.kind {
        uniform.insert(var.clone());
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(stmt) = child {
            outside(stmt, uniform);
        }
    });
}

/// Calls `f` on every variable that a statement binds.
pub(super) fn bound(stmt: &Stmt, f: &mut dyn FnMut(&Var)) {
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::Bind { var, .. }
            | StmtKind::For { var, kind: ForKind::Serial | ForKind::Unrolled, .. } = &stmt.kind
        {
            f(var);
        }
    });
}

/// Memory of computed pointers, and memory that is written in any way.
pub(super) fn memory(body: &Stmt) -> (HashSet<Var>, HashSet<Var>) {
    let (mut pointed, mut written) = (HashSet::new(), HashSet::new());
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        match &stmt.kind {
            // Nothing writes a constant.
            StmtKind::DeclBuffer { .. } if stmt.as_constant().is_some() => {}
            StmtKind::DeclBuffer { buffer, data: Some(_) } => drop(pointed.insert(buffer.data.clone())),
            StmtKind::Bind { var, .. } if var.dtype.is_handle() => drop(pointed.insert(var.clone())),
            StmtKind::Store { buffer, .. } => drop(written.insert(buffer.data.clone())),
            _ => {}
        }
    });
    body.walk_exprs(&mut |expr| match &expr.kind {
        ExprKind::Var(var) if var.dtype.is_handle() => drop(written.insert(var.clone())),
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => {
            if let Some(ExprKind::Load { buffer, .. }) = args.first().map(|arg| &arg.kind) {
                written.insert(buffer.data.clone());
            }
        }
        _ => {}
    });
    // The holder of a pointer may write any memory that it may point to.
    if !pointed.is_empty() {
        written.extend(pointed.iter().cloned());
    }
    (pointed, written)
}

impl Syncer<'_> {
    fn access(&mut self, buffer: &Buffer, how: How, indices: &[Expr], found: &mut Vec<Access>) {
        if !is_shared(&buffer.scope) {
            return;
        }
        let access = match indices {
            [index] => {
                let index = self.names.expr(index);
                Access::at((buffer, how), &index, &self.conditions, &self.known())
            }
            _ => Access::anywhere(buffer, how),
        };
        if !found.iter().any(|known| known.same(&access)) {
            found.push(access);
        }
    }

    /// The accesses of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Vec<Access> {
        let mut found = Vec::new();
        self.gather(expr, &mut found);
        found
    }

    fn gather(&mut self, expr: &Expr, found: &mut Vec<Access>) {
        match &expr.kind {
            ExprKind::Load { buffer, indices, .. } => self.access(buffer, How::Read, indices, found),
            ExprKind::Var(var) => {
                // The holder of the pointer may write anywhere.
                if let Some(pointer) = var.pointer.as_ref().filter(|pointer| is_shared(&pointer.scope)) {
                    let buffer = Buffer::new("pointer", Vec::new(), pointer.element, pointer.scope.clone());
                    let node = chipdock_ir::BufferNode { data: var.clone(), ..(*buffer).clone() };
                    found.push(Access::anywhere(&Buffer::from_node(node), How::Write));
                }
            }
            ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
                (Op::AtomicAdd, [address, value]) => {
                    self.pointed_at(address, How::Atomic, found);
                    self.gather(value, found);
                    return;
                }
                (Op::AddressOf, _) => {
                    self.pointed_at(expr, How::Write, found);
                    return;
                }
                (Op::ThreadAllreduce, _) => {
                    let n = args.first().and_then(Expr::as_int).and_then(|n| usize::try_from(n).ok());
                    let targets = n.map_or(0..0, |n| (n + 2).min(args.len())..(2 * n + 2).min(args.len()));
                    for target in &args[targets] {
                        if let ExprKind::Load { buffer, indices, .. } = &target.kind {
                            self.access(buffer, How::Write, indices, found);
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
        let mut children = Vec::new();
        expr.for_each_child(&mut |child| children.push(child));
        for child in children {
            self.gather(child, found);
        }
    }

    /// The access to an element through its address; any other address is treated as an expression.
    fn pointed_at(&mut self, address: &Expr, how: How, found: &mut Vec<Access>) {
        if let ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } = &address.kind
            && let Some(ExprKind::Load { buffer, indices, .. }) = args.first().map(|arg| &arg.kind)
        {
            // An address that is passed on gives access to the whole buffer.
            match how {
                How::Atomic => self.access(buffer, how, indices, found),
                How::Read | How::Write => self.access(buffer, how, &[], found),
            }
            for index in indices {
                self.gather(index, found);
            }
        } else {
            self.gather(address, found);
        }
    }

    /// The accesses of a statement without nested statements, and whether threads wait in it.
    pub(super) fn leaf(&mut self, stmt: &Stmt) -> (Vec<Access>, bool) {
        let (mut found, mut waits) = (Vec::new(), false);
        let mut exprs = Vec::new();
        stmt.for_each_child(&mut |child| {
            if let Child::Expr(expr) = child {
                exprs.push(expr);
            }
        });
        for expr in exprs {
            expr.walk(&mut |e| {
                waits |= matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::ThreadAllreduce), .. });
            });
            self.gather(expr, &mut found);
        }
        if let StmtKind::Store { buffer, indices, .. } = &stmt.kind {
            self.access(buffer, How::Write, indices, &mut found);
        }
        (found, waits)
    }
}
