//! Views that are declared around launches, over memory whose address only a device can compute.

use chipdock_ir::{Buffer, Callee, Child, Expr, ExprKind, Op, Stmt, StmtKind};

use super::function::is_launching;
use super::memory;
use crate::PassError;
use crate::callees::Callees;
use crate::capture::Captured;
use crate::walk::is_thread;

/// Makes a launch of a statement.
type Launch<'a> = &'a dyn Fn(&Stmt) -> Result<Stmt, PassError>;

/// The statements behind a view's declaration, each of which that uses the view being a launch that declares it itself; what
/// is no launch yet becomes one by `launch`. `None` where the address may be another one later, or another declaration is
/// built on it.
pub(super) fn sunk(
    declaration: &Stmt,
    rest: &[Stmt],
    callees: &Callees,
    launch: Launch<'_>,
) -> Result<Option<Stmt>, PassError> {
    let StmtKind::DeclBuffer { buffer, data: Some(data) } = &declaration.kind else { return Ok(None) };
    if !is_fixed(data, callees) || rest.iter().any(|stmt| builds_on(stmt, buffer)) {
        return Ok(None);
    }
    let view = View { declaration, buffer, launch };
    rest.iter()
        .map(|stmt| view.sunk_into(stmt))
        .collect::<Result<Vec<_>, _>>()
        .map(|all| Some(Stmt::seq(all)))
}

/// Whether a declaration outside of launches uses the view.
fn builds_on(stmt: &Stmt, buffer: &Buffer) -> bool {
    let declares = matches!(&stmt.kind, StmtKind::DeclBuffer { .. } | StmtKind::Bind { .. });
    if declares {
        return Captured::of(stmt).vars.contains(&buffer.data);
    }
    let mut found = false;
    if is_launching(stmt) && !is_thread(stmt) {
        stmt.for_each_child(&mut |child| {
            if let Child::Stmt(stmt) = child {
                found |= builds_on(stmt, buffer);
            }
        });
    }
    found
}

/// Whether an address is the same wherever it is computed: of an element at indices that the host knows, or a pointer's.
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
    launch: Launch<'a>,
}

impl View<'_> {
    fn sunk_into(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if !Captured::of(stmt).vars.contains(&self.buffer.data) {
            return Ok(stmt.clone());
        }
        if is_thread(stmt) {
            return Ok(stmt.map_children(&mut Expr::clone, &mut |body| self.declared(body)));
        }
        if !is_launching(stmt) {
            return (self.launch)(&self.declared(stmt));
        }
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |inner| self.sunk_into(inner))
    }

    /// The statement behind a declaration of its own: no two statements declare one buffer.
    fn declared(&self, stmt: &Stmt) -> Stmt {
        let whole = Stmt::seq([self.declaration.clone(), stmt.clone()]);
        memory::moved(&whole, std::slice::from_ref(self.buffer), &self.buffer.scope).stmt(&whole)
    }
}
