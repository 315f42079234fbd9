//! Lowering of virtual threads to loops of their thread.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, Buffer, BufferNode, Callee, Child, DType, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc, Stmt,
    StmtKind, StorageRank, StorageScope, TargetCapabilities, ThreadAxis, Var,
};

use crate::PassError;
use crate::simplify;
use crate::threading::threads::{Threads, barrier_scope, try_map_launches};
use crate::walk::{any_stmt, depends_on_memory, is_thread, try_map_functions, vars_of};

const PASS: &str = "inject_virtual_thread";

/// Maximum number of virtual threads whose loop is unrolled.
const UNROLLED_MAX: i128 = 16;

/// Turns the virtual threads of a thread into loops in it, each around as many statements as need
/// no waiting between them: accesses to shared memory are in loops of their own, so that barriers
/// stand between them. Local memory has one part for each virtual thread.
///
/// # Before and after
///
/// ```text
/// for vx in T.thread_binding(2, thread="vthread.x"):       R = T.alloc_buffer((2, 4), scope="local")
///     for tx in T.thread_binding(32, …):                   for tx in T.thread_binding(32, …):
///         R = T.alloc_buffer((4,), scope="local")     ->       for vx in T.unroll(2): R[vx, 0] = A[vx, tx]
///         R[0] = A[vx, tx]
/// ```
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. No loop is bound to a virtual thread.
///
/// # Errors
///
/// The caller's: virtual threads of an extent that is not constant; shared memory, or waits, in a
/// loop that virtual threads do not run alike; a view of local memory; one of several virtual
/// threads that ends early while others go on.
pub fn inject_virtual_thread(
    module: &IrModule,
    _capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        let body = try_map_launches(&function.body, &mut |launch| match Injector::new(function, launch)? {
            Some(mut injector) => injector.launch(launch),
            None => Ok(launch.clone()),
        })?;
        Ok(PrimFunc { body, ..function.clone() })
    })
}

struct Injector<'a> {
    function: &'a PrimFunc,
    /// The loop variable that replaces each axis, and its extent.
    axes: Vec<(ThreadAxis, Var, i128)>,
    /// Replacements for indices of virtual threads, names and local memory.
    names: Substitution,
    locals: HashMap<Buffer, Buffer>,
    /// Names that depend on the virtual thread.
    dependent: HashSet<Var>,
    /// Bindings at the start of every loop.
    carried: Vec<Stmt>,
    /// Memory that is allocated at the start of the launch.
    front: Vec<Stmt>,
    loops: usize,
}

impl<'a> Injector<'a> {
    fn new(function: &'a PrimFunc, launch: &Stmt) -> Result<Option<Self>, PassError> {
        let threads = Threads::collect(launch);
        let mut axes = Vec::new();
        for (axis, extent) in threads.extents.iter().filter(|(axis, _)| **axis > ThreadAxis::ThreadZ) {
            let Some(n) = extent.as_int() else {
                let message =
                    format!("expected a constant number of virtual threads, found another on {axis}");
                return Err(PassError::caller(PASS, &function.name, message));
            };
            axes.push((*axis, Var::new(axis.name().replace('.', "_"), extent.dtype), n));
        }
        if axes.is_empty() {
            return Ok(None);
        }
        let dependent = axes.iter().map(|(_, var, _)| var.clone()).collect();
        Ok(Some(Self {
            function,
            axes,
            names: Substitution::new(),
            locals: HashMap::new(),
            dependent,
            carried: Vec::new(),
            front: Vec::new(),
            loops: 0,
        }))
    }

    fn refuse(&self, message: &str) -> PassError {
        PassError::caller(PASS, &self.function.name, message)
    }

    fn launch(&mut self, launch: &Stmt) -> Result<Stmt, PassError> {
        let ends = has_op(launch, &|op| op == Op::ThreadReturn);
        let outside = self.locals_of(launch)?;
        for buffer in outside {
            let own = self.locals[&buffer].clone();
            self.front.push(allocation(&own));
        }
        let body = self.distribute(&self.within_real(launch))?;
        if ends && (self.loops > 1 || has_op(&body, &|op| op == Op::ThreadReturn)) {
            return Err(self.refuse(
                "expected virtual threads that all end together; found one that ends early, within a loop or in a launch \
                 that goes on in several parts",
            ));
        }
        let front = std::mem::take(&mut self.front);
        Ok(if front.is_empty() { body } else { with_front(&body, &front) })
    }

    /// The launch within a remaining axis: one that is bound within it, if there is any.
    fn within_real(&self, launch: &Stmt) -> Stmt {
        let axis = match &launch.kind {
            StmtKind::For { kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { axis, .. } => *axis,
            _ => return launch.clone(),
        };
        if axis <= ThreadAxis::ThreadZ {
            return launch.clone();
        }
        let extents = Threads::collect(launch).extents;
        let real = extents.into_iter().find(|(axis, _)| *axis <= ThreadAxis::ThreadZ);
        let (axis, extent) = real.unwrap_or((ThreadAxis::ThreadX, Expr::i32(1)));
        let var = Var::new(axis.name().replace('.', "_"), extent.dtype);
        // The attribute for implicit barriers must stand within the remaining launch.
        Stmt::for_loop(var, extent, ForKind::ThreadBinding(axis), launch.clone())
    }

    /// Splits local memory into parts; returns the buffers that are allocated outside of the
    /// launch.
    fn locals_of(&mut self, launch: &Stmt) -> Result<Vec<Buffer>, PassError> {
        let (mut allocated, mut used, mut viewed) = (Vec::new(), Vec::new(), Vec::new());
        let is_local = |buffer: &Buffer| buffer.scope.rank == StorageRank::Local;
        launch.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::AllocBuffer { buffer, .. } if is_local(buffer) => allocated.push(buffer.clone()),
                StmtKind::DeclBuffer { buffer, .. } if is_local(buffer) => viewed.push(buffer.clone()),
                StmtKind::Store { buffer, .. } if is_local(buffer) => used.push(buffer.clone()),
                _ => {}
            }
        });
        launch.walk_exprs(&mut |e| match &e.kind {
            ExprKind::Load { buffer, .. } if is_local(buffer) => used.push(buffer.clone()),
            ExprKind::Var(var)
                if var.pointer.as_ref().is_some_and(|p| p.scope.rank == StorageRank::Local) =>
            {
                viewed.push(Buffer::new(Arc::clone(&var.name), Vec::new(), DType::INT8, StorageScope::LOCAL));
            }
            _ => {}
        });
        if let Some(view) = viewed.first() {
            let message = format!(
                "expected local memory that virtual threads index; found {} as a view or a pointer",
                view.name
            );
            return Err(self.refuse(&message));
        }
        let mut outside: Vec<Buffer> = Vec::new();
        for buffer in used {
            if !allocated.contains(&buffer) && !outside.contains(&buffer) {
                outside.push(buffer);
            }
        }
        for buffer in allocated.iter().chain(&outside) {
            let parts = self.axes.iter().map(|(_, var, n)| Expr::int(*n, var.dtype));
            let shape = parts.chain(buffer.shape.iter().cloned()).collect();
            let data = Var::pointer(Arc::clone(&buffer.name), buffer.dtype, buffer.scope.clone());
            let node =
                BufferNode { shape, data, strides: Vec::new(), elem_offset: None, ..(**buffer).clone() };
            self.locals.insert(buffer.clone(), Buffer::from_node(node));
        }
        Ok(outside)
    }

    fn indices(&self) -> Vec<Expr> {
        self.axes.iter().map(|(_, var, _)| var.expr()).collect()
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let named = self.names.expr(expr);
        self.on_parts(&named)
    }

    fn on_parts(&self, expr: &Expr) -> Expr {
        let new = expr.map_children(&mut |e| self.on_parts(e));
        match &new.kind {
            ExprKind::Load { buffer, indices, predicate } => match self.locals.get(buffer) {
                Some(own) => {
                    let indices = self.indices().into_iter().chain(indices.iter().cloned()).collect();
                    let kind = ExprKind::Load { buffer: own.clone(), indices, predicate: predicate.clone() };
                    Expr::new(kind, new.dtype).with_span(new.span)
                }
                None => new,
            },
            _ => new,
        }
    }

    /// A statement with names and memory replaced, all in one loop of virtual threads.
    fn renamed(&mut self, stmt: &Stmt) -> Stmt {
        if let StmtKind::For { var, kind: ForKind::ThreadBinding(axis), body, .. }
        | StmtKind::LaunchThread { var, axis, body, .. } = &stmt.kind
        {
            let own = self.axes.iter().find(|(known, ..)| known == axis).map(|(_, own, _)| own.expr());
            if let Some(own) = own {
                self.names.map_var(var, own.cast(var.dtype));
                return self.renamed(body);
            }
        }
        let this = std::cell::RefCell::new(&mut *self);
        let new =
            stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().renamed(s));
        let kind = match &new.kind {
            StmtKind::Store { buffer, indices, value, predicate } => match self.locals.get(buffer) {
                Some(own) => StmtKind::Store {
                    buffer: own.clone(),
                    indices: self.indices().into_iter().chain(indices.iter().cloned()).collect(),
                    value: value.clone(),
                    predicate: predicate.clone(),
                },
                None => return new,
            },
            StmtKind::AllocBuffer { buffer, annotations } => match self.locals.get(buffer) {
                Some(own) => {
                    // Its parts belong to the thread: they outlive the loop.
                    let stmt =
                        StmtKind::AllocBuffer { buffer: own.clone(), annotations: annotations.clone() };
                    self.front.push(Stmt::new(stmt));
                    return Stmt::nop();
                }
                None => return new,
            },
            _ => return new,
        };
        Stmt::new(kind).with_span(new.span)
    }

    /// The loops of the virtual threads around statements that are renamed.
    fn around(&mut self, stmts: Vec<Stmt>) -> Stmt {
        let body = Stmt::seq(self.carried.iter().cloned().chain(stmts));
        if body.is_nop() {
            return body;
        }
        self.loops += 1;
        let ends = has_op(&body, &|op| op == Op::ThreadReturn);
        let body = if ends { next_instead(&body) } else { body };
        let total: i128 = self.axes.iter().map(|(_, _, n)| *n).product();
        let kind = if ends || total > UNROLLED_MAX { ForKind::Serial } else { ForKind::Unrolled };
        let mut fresh = Substitution::new().fresh();
        let mut heads = Vec::new();
        for (_, var, n) in &self.axes {
            let new = Var::new(Arc::clone(&var.name), var.dtype);
            fresh.map_var(var, new.expr());
            heads.push((new, Expr::int(*n, var.dtype)));
        }
        let body = fresh.stmt(&body);
        heads.into_iter().rev().fold(body, |body, (var, extent)| Stmt::for_loop(var, extent, kind, body))
    }

    fn depends(&mut self, expr: &Expr) -> bool {
        let expr = self.expr(expr);
        let mut loads = false;
        expr.walk(&mut |e| {
            loads |=
                matches!(&e.kind, ExprKind::Load { buffer, .. } if buffer.scope.rank == StorageRank::Local);
        });
        loads || vars_of(&expr).iter().any(|var| self.dependent.contains(var))
    }

    fn distribute(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if is_private(stmt) {
            let whole = self.renamed(stmt);
            return Ok(self.around(vec![whole]));
        }
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.sequence(stmts, None),
            StmtKind::For { var, kind: ForKind::ThreadBinding(axis), body, .. }
            | StmtKind::LaunchThread { var, axis, body, .. }
                if *axis > ThreadAxis::ThreadZ =>
            {
                if let Some((_, own, _)) = self.axes.iter().find(|(known, ..)| known == axis).cloned() {
                    self.names.map_var(var, own.expr().cast(var.dtype));
                }
                self.distribute(body)
            }
            StmtKind::For { min, extent, .. } if self.depends(min) || self.depends(extent) => Err(self.refuse(
                "expected a loop that virtual threads run alike, as they share memory or wait in it; found one whose bounds \
                 depend on the virtual thread",
            )),
            StmtKind::If { condition, then, otherwise } if self.depends(condition) => {
                let taken = self.kept("taken", condition);
                let mut parts = vec![taken.1];
                parts.push(self.guarded(&taken.0, then)?);
                if let Some(otherwise) = otherwise {
                    parts.push(self.guarded(&taken.0.logical_not(), otherwise)?);
                }
                Ok(Stmt::seq(parts))
            }
            StmtKind::For { .. } | StmtKind::LaunchThread { .. } | StmtKind::If { .. } | StmtKind::Attr { .. } => {
                let this = std::cell::RefCell::new(self);
                stmt.try_map_children(&mut |e| Ok(this.borrow_mut().expr(e)), &mut |s| {
                    this.borrow_mut().distribute(s)
                })
            }
            StmtKind::While { .. } => Err(self.refuse(
                "expected no while loop in which virtual threads share memory or wait, found one",
            )),
            StmtKind::AllocBuffer { .. } | StmtKind::DeclBuffer { .. } => Ok(self.renamed(stmt)),
            _ if barrier_scope(stmt).is_some() => Ok(stmt.clone()),
            _ => {
                let leaf = self.renamed(stmt);
                Ok(self.around(vec![leaf]))
            }
        }
    }

    /// Keeps a value of each virtual thread in memory: returns the expression that reads it, and
    /// the statement that writes it.
    fn kept(&mut self, name: &str, value: &Expr) -> (Expr, Stmt) {
        let shape = self.axes.iter().map(|(_, var, n)| Expr::int(*n, var.dtype)).collect();
        let memory = Buffer::new(name, shape, value.dtype, StorageScope::LOCAL);
        self.front.push(allocation(&memory));
        let value = self.expr(value);
        let store = Stmt::store(&memory, self.indices(), value);
        let store = self.around(vec![store]);
        (Expr::load(&memory, self.indices()), store)
    }

    fn guarded(&mut self, condition: &Expr, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::Seq(stmts) => self.sequence(stmts, Some(condition)),
            StmtKind::For { min, extent, .. }
                if !is_private(stmt) && !self.depends(min) && !self.depends(extent) =>
            {
                let this = std::cell::RefCell::new(self);
                stmt.try_map_children(&mut |e| Ok(this.borrow_mut().expr(e)), &mut |s| {
                    this.borrow_mut().guarded(condition, s)
                })
            }
            StmtKind::For { .. } | StmtKind::While { .. } if !is_private(stmt) => self.distribute(stmt),
            StmtKind::If { condition: inner, then, otherwise: None } if !is_private(stmt) => {
                let both = Expr::call(
                    Op::IfThenElse,
                    vec![condition.clone(), inner.clone(), Expr::bool(false)],
                    DType::BOOL,
                );
                let taken = self.kept("taken", &both);
                Ok(Stmt::seq([taken.1, self.guarded(&taken.0, then)?]))
            }
            _ if barrier_scope(stmt).is_some() => Ok(stmt.clone()),
            _ => {
                let inner = self.renamed(stmt);
                Ok(self.around(vec![Stmt::if_then(condition.clone(), inner, None)]))
            }
        }
    }

    fn sequence(&mut self, stmts: &[Stmt], condition: Option<&Expr>) -> Result<Stmt, PassError> {
        let outer = self.carried.clone();
        let (mut out, mut group) = (Vec::new(), Vec::new());
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Bind { var, value } if simplify::is_pure(value) && !depends_on_memory(value) => {
                    if self.depends(value) {
                        self.dependent.insert(var.clone());
                    }
                    self.flush(&mut group, &mut out);
                    let bound = self.renamed(stmt);
                    if self.dependent.contains(var) { self.carried.push(bound) } else { out.push(bound) }
                }
                StmtKind::Bind { var, value } => {
                    self.flush(&mut group, &mut out);
                    let value = match condition {
                        Some(taken) if !var.dtype.is_handle() => {
                            let zero = Expr::constant(0, value.dtype);
                            Expr::call(Op::IfThenElse, vec![taken.clone(), value.clone(), zero], value.dtype)
                        }
                        _ => value.clone(),
                    };
                    let (load, store) = self.kept(&var.name, &value);
                    out.push(store);
                    self.names.map_var(var, load);
                }
                StmtKind::AllocBuffer { .. } | StmtKind::DeclBuffer { .. } => {
                    self.flush(&mut group, &mut out);
                    out.push(self.renamed(stmt));
                }
                _ if is_private(stmt) => {
                    let own = self.renamed(stmt);
                    group.push(match condition {
                        Some(taken) => Stmt::if_then(taken.clone(), own, None),
                        None => own,
                    });
                }
                _ => {
                    self.flush(&mut group, &mut out);
                    out.push(match condition {
                        Some(taken) => self.guarded(taken, stmt)?,
                        None => self.distribute(stmt)?,
                    });
                }
            }
        }
        self.flush(&mut group, &mut out);
        self.carried = outer;
        Ok(Stmt::seq(out))
    }

    fn flush(&mut self, group: &mut Vec<Stmt>, out: &mut Vec<Stmt>) {
        if !group.is_empty() {
            out.push(self.around(std::mem::take(group)));
        }
    }
}

fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

fn with_front(stmt: &Stmt, front: &[Stmt]) -> Stmt {
    if is_thread(stmt) {
        return stmt.map_children(&mut Expr::clone, &mut |body| with_front(body, front));
    }
    Stmt::seq(front.iter().cloned().chain([stmt.clone()]))
}

fn has_op(stmt: &Stmt, is_one: &dyn Fn(Op) -> bool) -> bool {
    let mut found = false;
    stmt.walk_exprs(&mut |e| {
        found |= matches!(&e.kind, ExprKind::Call { callee: Callee::Op(op), .. } if is_one(*op));
    });
    found
}

/// Returns true if threads share no memory, do not wait and are not bound in the statement, so that
/// virtual threads may run it one after the other.
fn is_private(stmt: &Stmt) -> bool {
    let is_shared = |scope: &StorageScope| matches!(scope.rank, StorageRank::Shared | StorageRank::Warp);
    let mut private = !has_op(stmt, &|op| op.threads().is_collective())
        && !any_stmt(stmt, &mut |kind| match kind {
            StmtKind::Store { buffer, .. }
            | StmtKind::AllocBuffer { buffer, .. }
            | StmtKind::DeclBuffer { buffer, .. } => is_shared(&buffer.scope),
            StmtKind::LaunchThread { axis, .. }
            | StmtKind::For { kind: ForKind::ThreadBinding(axis), .. } => *axis <= ThreadAxis::ThreadZ,
            StmtKind::Attr { key, .. } => **key == *chipdock_ir::attr::IMPLICIT_BARRIERS,
            _ => false,
        });
    stmt.walk_exprs(&mut |e| match &e.kind {
        ExprKind::Load { buffer, .. } => private &= !is_shared(&buffer.scope),
        ExprKind::Var(var) => private &= !var.pointer.as_ref().is_some_and(|p| is_shared(&p.scope)),
        _ => {}
    });
    private
}

/// Replaces the end of a virtual thread by the next iteration.
fn next_instead(stmt: &Stmt) -> Stmt {
    if let StmtKind::Evaluate(e) = &stmt.kind
        && matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::ThreadReturn), .. })
    {
        return Stmt::new(StmtKind::Continue);
    }
    if matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. }) {
        return stmt.clone();
    }
    stmt.map_children(&mut Expr::clone, &mut next_instead)
}
