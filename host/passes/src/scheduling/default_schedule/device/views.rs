//! Views that are declared around launches, over memory whose address only a device can compute.

use chipdock_ir::{Buffer, Callee, Child, Expr, ExprKind, Op, Stmt, StmtKind};

use super::is_launching;
use super::memory;
use crate::PassError;
use crate::splitting::callees::Callees;
use crate::splitting::capture::Captured;
use crate::walk::Starts;

/// Turns a statement into a launch.
type Launch<'a> = &'a dyn Fn(&Stmt) -> Result<Stmt, PassError>;

/// Moves a view's declaration into the launches after it: each launch that uses the view declares
/// it itself, and a statement that uses it becomes a launch through `launch`. `None` if the address
/// may change later, or another declaration depends on the view.
pub(super) fn sunk(
    declaration: &Stmt,
    rest: &[Stmt],
    callees: &Callees,
    starts: Starts,
    launch: Launch<'_>,
) -> Result<Option<Stmt>, PassError> {
    let StmtKind::DeclBuffer { buffer, data: Some(data) } = &declaration.kind else { return Ok(None) };
    if !is_fixed(data, callees) || rest.iter().any(|stmt| builds_on(stmt, buffer, starts)) {
        return Ok(None);
    }
    let view = View { declaration, buffer, starts, launch };
    rest.iter()
        .map(|stmt| view.sunk_into(stmt))
        .collect::<Result<Vec<_>, _>>()
        .map(|all| Some(Stmt::seq(all)))
}

/// Returns true if a declaration outside of launches uses the view.
fn builds_on(stmt: &Stmt, buffer: &Buffer, starts: Starts) -> bool {
    let declares = matches!(&stmt.kind, StmtKind::DeclBuffer { .. } | StmtKind::Bind { .. });
    if declares {
        return Captured::of(stmt).vars.contains(&buffer.data);
    }
    let mut found = false;
    if is_launching(stmt, starts) && !starts(&stmt.kind) {
        stmt.for_each_child(&mut |child| {
            if let Child::Stmt(stmt) = child {
                found |= builds_on(stmt, buffer, starts);
            }
        });
    }
    found
}

/// Returns true if an address is the same wherever it is computed: a pointer, or an element at
/// indices that the host knows.
fn is_fixed(data: &Expr, callees: &Callees) -> bool {
    match &data.kind {
        ExprKind::Var(_) => true,
        ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => match args.first().map(|arg| &arg.kind)
        {
            Some(ExprKind::Load { indices, .. }) => indices.iter().all(|index| callees.is_of_host(index)),
            _ => false,
        },
        _ => false,
    }
}

struct View<'a> {
    declaration: &'a Stmt,
    buffer: &'a Buffer,
    starts: Starts,
    launch: Launch<'a>,
}

impl View<'_> {
    fn sunk_into(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if !Captured::of(stmt).vars.contains(&self.buffer.data) {
            return Ok(stmt.clone());
        }
        if (self.starts)(&stmt.kind) {
            return Ok(stmt.map_children(&mut Expr::clone, &mut |body| self.declared(body)));
        }
        if !is_launching(stmt, self.starts) {
            return (self.launch)(&self.declared(stmt));
        }
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |inner| self.sunk_into(inner))
    }

    /// The statement with a declaration of its own before it: no two statements declare one buffer.
    fn declared(&self, stmt: &Stmt) -> Stmt {
        let whole = Stmt::seq([self.declaration.clone(), stmt.clone()]);
        memory::moved(&whole, std::slice::from_ref(self.buffer), &self.buffer.scope).stmt(&whole)
    }
}
