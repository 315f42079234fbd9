//! Loops bound to the threads of a device: a function becomes host statements and launches. Here it
//! is parted, and each nest gets the special schedule that fits (`matmul`, `reduction`,
//! `registers`, `runs`, `transpose`) or the general one; `launch` binds loops to blocks and
//! threads.

mod launch;
mod limits;
mod matmul;
mod memory;
mod reduction;
mod registers;
mod returns;
mod runs;
mod tile;
mod transpose;
mod vector;
mod views;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, Block, Buffer, Callee, Child, Expr, ExprKind, ForKind, IrModule, IterKind, Op, Param,
    PrimFunc, Stmt, StmtKind, StorageRank, StorageScope, TargetCapabilities, Var, attr,
};

use crate::PassError;
use crate::scheduling::default_schedule::access::Accesses;
use crate::scheduling::default_schedule::nest::{Head, Nest, with_body};
use crate::simplify::leaves_loop;
use crate::splitting::callees::Callees;
use crate::walk::{Starts, any_stmt, starts, try_map_functions, vars_of};
use launch::Axis;
use limits::Limits;
use returns::{returns, without_returns};

const PASS: &str = "default_schedule";

/// Maximum number of bytes that one thread keeps in local memory; larger allocations go to device
/// memory, and one thread runs.
const LOCAL_SIZE_BYTES_MAX: i128 = 4096;

/// Binds unscheduled loops to the threads of a target.
pub(super) fn schedule(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let limits = Limits::from_capabilities(capabilities);
    if !limits.has_blocks && !limits.has_threads && !limits.is_one {
        return Ok(module.clone());
    }
    let called = called(module);
    let callees = Callees::of(module);
    try_map_functions(module, |function| {
        // Entry points of the host and existing kernels are left alone.
        if matches!(function.attrs.get(attr::CALLING_CONV), Some(AttrValue::Int(1..))) {
            return Ok(function.clone());
        }
        let scheduler = Scheduler::new(function, capabilities, limits, &callees);
        if called.contains(&function.name) { Ok(scheduler.within_threads()) } else { scheduler.function() }
    })
}

/// Functions that others call: they run in the threads of their callers.
fn called(module: &IrModule) -> HashSet<Arc<str>> {
    let mut called = HashSet::new();
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| called.extend(e.called().cloned()));
    }
    called
}

/// Result of scheduling a statement.
enum ScheduledStmt {
    /// The statement touches no memory: the host runs it.
    Host(Stmt),
    /// The statement touches memory, and is unchanged.
    Device(Stmt),
    /// The statement touches memory; it is unchanged except for variables that the given statements
    /// bind, which the host runs before it.
    WithBefore(Vec<Stmt>, Stmt),
    /// The statement launches everything in it that touches memory.
    Launched(Stmt),
}

struct Scheduler<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    limits: Limits,
    /// Which statements start a launch.
    starts: Starts,
    callees: &'a Callees,
    /// Memory of parameters that may overlap.
    overlapping: HashSet<Var>,
    /// Variables that are never negative.
    sizes: HashSet<Var>,
}

impl<'a> Scheduler<'a> {
    fn new(
        function: &'a PrimFunc,
        capabilities: &'a TargetCapabilities,
        limits: Limits,
        callees: &'a Callees,
    ) -> Self {
        let (mut overlapping, mut sizes) = (HashSet::new(), HashSet::new());
        for param in &function.params {
            match param {
                Param::Buffer(buffer) => {
                    overlapping.insert(buffer.data.clone());
                    sizes.extend(buffer.shape.iter().filter_map(|extent| match &extent.kind {
                        ExprKind::Var(var) => Some(var.clone()),
                        _ => None,
                    }));
                }
                Param::Var(var) => {
                    overlapping.insert(var.clone());
                }
            }
        }
        if function.attrs.get(attr::NOALIAS) == Some(&AttrValue::Bool(true)) {
            overlapping.clear();
        }
        let starts = starts(capabilities);
        Self { function, capabilities, limits, starts, callees, overlapping, sizes }
    }

    fn is_launching(&self, stmt: &Stmt) -> bool {
        is_launching(stmt, self.starts)
    }

    /// The function as threads call it: its allocations belong to one thread.
    fn within_threads(&self) -> PrimFunc {
        let mut own = memory::allocations(&self.function.body);
        own.extend(self.function.alloc_buffers.iter().cloned());
        own.retain(|buffer| !self.keeps_scope(buffer));
        if own.is_empty() {
            return self.function.clone();
        }
        memory::moved(&self.function.body, &own, &StorageScope::LOCAL).function(self.function)
    }

    /// Returns true for memory of a launch that stays in its scope: local memory, and on a device
    /// without thread axes that in a scope of its own.
    fn keeps_scope(&self, buffer: &Buffer) -> bool {
        buffer.scope == StorageScope::LOCAL || self.is_scratch(buffer)
    }

    /// Returns true for memory in a scope of its own of a device without thread axes.
    fn is_scratch(&self, buffer: &Buffer) -> bool {
        let scope = &buffer.scope;
        let is_plain = [StorageScope::GLOBAL, StorageScope::LOCAL].contains(scope);
        let needs_threads = scope.is_dynamic_shared() || scope.rank == StorageRank::Warp;
        let declared = &self.capabilities.memory.storage_scopes;
        self.limits.is_one && !is_plain && !needs_threads && declared.contains(&scope.to_string())
    }

    fn refused(&self, stmt: &Stmt, message: String) -> PassError {
        PassError::target(PASS, &self.function.name, message).at(stmt.span)
    }

    /// Rejects packed calls with tensors: the called function runs on the host, which has no access
    /// to the tensors here.
    fn without_packed_tensors(&self) -> Result<(), PassError> {
        let mut found = None;
        self.function.body.walk(&mut |child| {
            if let Child::Expr(expr) = child
                && calls_packed(expr)
                && let ExprKind::Call { args, .. } = &expr.kind
                && args.iter().any(is_packed_tensor)
            {
                found.get_or_insert((expr.span, args.first().cloned()));
            }
        });
        let Some((span, name)) = found else { return Ok(()) };
        let name = match name.map(|name| name.kind.clone()) {
            Some(ExprKind::Str(name)) => name.to_string(),
            _ => "a function".to_owned(),
        };
        let message = format!(
            "{name} is called with tensors, and runs on the host, which does not have the memory of target \"{}\"; build \
             this function for a target of the host",
            self.capabilities.target.kind
        );
        Err(PassError::target(PASS, &self.function.name, message).at(span))
    }

    fn function(&self) -> Result<PrimFunc, PassError> {
        self.without_packed_tensors()?;
        let mut body = self.whole(&self.function.body);
        // If only the device knows whether the function ends, the statements after it run under
        // that condition.
        if let (Err(_), None) = (&body, self.function.ret)
            && let Some(plain) = without_returns(std::slice::from_ref(&self.function.body))
        {
            body = self.whole(&plain);
        }
        let body = body?;
        let new = PrimFunc { body, ..self.function.clone() };
        Ok(self.between_launches(new))
    }

    /// Moves buffers that are allocated around launches to global memory, except those that
    /// launches bound by hand touch, and memory of one launch that keeps its scope.
    fn between_launches(&self, function: PrimFunc) -> PrimFunc {
        let mut by_hand = HashSet::new();
        memory_of_launches(&self.function.body, self.starts, &mut |vars| by_hand.extend(vars));
        let mut outer = function.alloc_buffers.clone();
        allocated_outside(&function.body, self.starts, &mut outer);
        let mut scheduled = HashSet::new();
        memory_outside_launches(&self.function.body, self.starts, &mut scheduled);
        let mut n_launches: HashMap<Var, usize> = HashMap::new();
        memory_of_launches(&function.body, self.starts, &mut |vars| {
            vars.into_iter().for_each(|var| *n_launches.entry(var).or_default() += 1);
        });
        outer.retain(|buffer| {
            let is_scheduled = scheduled.contains(&buffer.data) && !by_hand.contains(&buffer.data);
            let is_of_one = self.limits.is_one && n_launches.get(&buffer.data) == Some(&1);
            buffer.scope != StorageScope::GLOBAL && is_scheduled && !(is_of_one && self.is_scratch(buffer))
        });
        if outer.is_empty() {
            return function;
        }
        memory::moved(&function.body, &outer, &StorageScope::GLOBAL).function(&function)
    }

    fn stmt(&self, stmt: &Stmt) -> Result<ScheduledStmt, PassError> {
        let by_effect = |is_host: bool| {
            if is_host { ScheduledStmt::Host(stmt.clone()) } else { ScheduledStmt::Device(stmt.clone()) }
        };
        Ok(match &stmt.kind {
            kind if (self.starts)(kind) => ScheduledStmt::Launched(stmt.clone()),
            StmtKind::LaunchThread { .. } => ScheduledStmt::Launched(stmt.clone()),
            StmtKind::For { .. } => return self.loops(stmt),
            StmtKind::Seq(stmts) => return self.sequence(stmt, stmts),
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                return self.block(stmt, iter_values, predicate, block);
            }
            StmtKind::If { condition, then, otherwise } => {
                return self.branches(stmt, condition, then, otherwise.as_ref());
            }
            StmtKind::Attr { node, key, value, body } => {
                let note = |body| StmtKind::Attr {
                    node: node.clone(),
                    key: Arc::clone(key),
                    value: value.clone(),
                    body,
                };
                match self.stmt(body)? {
                    ScheduledStmt::Launched(body) => {
                        ScheduledStmt::Launched(Stmt::new(note(body)).with_span(stmt.span))
                    }
                    ScheduledStmt::WithBefore(before, body) => {
                        ScheduledStmt::WithBefore(before, Stmt::new(note(body)).with_span(stmt.span))
                    }
                    ScheduledStmt::Host(_) if self.is_of_host(value) => ScheduledStmt::Host(stmt.clone()),
                    _ => ScheduledStmt::Device(stmt.clone()),
                }
            }
            StmtKind::While { condition, body } if self.is_launching(stmt) => {
                let body = self.whole(body)?;
                ScheduledStmt::Launched(Stmt::new(StmtKind::While { condition: condition.clone(), body }))
            }
            StmtKind::Store { .. } => self.by_memory(stmt),
            StmtKind::While { .. } | StmtKind::Break | StmtKind::Continue => {
                ScheduledStmt::Device(stmt.clone())
            }
            StmtKind::AllocBuffer { .. } => ScheduledStmt::Host(stmt.clone()),
            // A constant is wherever it is read.
            StmtKind::DeclBuffer { data, .. } => by_effect(data.is_none() || stmt.as_constant().is_some()),
            StmtKind::Bind { var, value } => {
                by_effect(self.is_of_host(value) && value.dtype.is_scalar() && !var.dtype.is_handle())
            }
            StmtKind::Evaluate(value) if self.is_of_host(value) || calls_packed(value) => {
                ScheduledStmt::Host(stmt.clone())
            }
            StmtKind::Evaluate(_) => self.by_memory(stmt),
            StmtKind::Assert { condition, message, .. } => {
                by_effect(self.is_of_host(condition) && message.iter().all(|e| self.is_of_host(e)))
            }
            StmtKind::Return(value) => {
                if value.as_ref().is_some_and(|value| !self.is_of_host(value)) {
                    return Err(self.refused(
                        stmt,
                        format!(
                            "expected a result that the host knows, found one that is computed on the device of target \
                             \"{}\": store it to a buffer, or build for a host target",
                            self.capabilities.target.kind
                        ),
                    ));
                }
                ScheduledStmt::Host(stmt.clone())
            }
        })
    }

    /// Classifies a simple statement that touches memory: the host makes the calls in it that may
    /// raise an error.
    fn by_memory(&self, stmt: &Stmt) -> ScheduledStmt {
        match self.callees.hoisted(stmt) {
            (before, _) if before.is_empty() => ScheduledStmt::Device(stmt.clone()),
            (before, stmt) => ScheduledStmt::WithBefore(before, stmt),
        }
    }

    /// Launches everything in the statement that touches memory.
    fn whole(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match self.stmt(stmt)? {
            ScheduledStmt::Host(stmt) | ScheduledStmt::Launched(stmt) => Ok(stmt),
            ScheduledStmt::Device(stmt) => self.on_one_thread(&stmt),
            ScheduledStmt::WithBefore(before, stmt) => {
                Ok(Stmt::seq(before.into_iter().chain([self.on_one_thread(&stmt)?])))
            }
        }
    }

    /// Returns true if the host can evaluate the expression: it touches no memory, and changes
    /// nothing.
    fn is_of_host(&self, expr: &Expr) -> bool {
        self.callees.is_of_host(expr)
    }

    /// Returns true if the statement does something that threads cannot do: raise an error, end the
    /// function, call an imported function.
    fn needs_host(&self, stmt: &Stmt) -> bool {
        let mut needs = any_stmt(stmt, &mut |kind| match kind {
            StmtKind::Assert { .. } | StmtKind::Return(_) => true,
            StmtKind::Evaluate(value) => calls_packed(value),
            _ => false,
        });
        stmt.walk(&mut |child| {
            if let Child::Expr(expr) = child {
                needs |= self.callees.raises(expr);
            }
        });
        needs
    }

    fn sequence(&self, stmt: &Stmt, stmts: &[Stmt]) -> Result<ScheduledStmt, PassError> {
        let mut parts = Vec::new();
        for (index, inner) in stmts.iter().enumerate() {
            let rest = || Stmt::new(StmtKind::Seq(stmts[index..].to_vec()));
            match self.stmt(inner)? {
                ScheduledStmt::Device(_) if self.is_launching(inner) => {
                    parts.push(ScheduledStmt::Launched(inner.clone()))
                }
                // Only the device knows the bound value, so the rest of the sequence belongs to the
                // device.
                ScheduledStmt::Device(_)
                    if matches!(inner.kind, StmtKind::Bind { .. } | StmtKind::DeclBuffer { .. }) =>
                {
                    let rest = rest();
                    parts.push(match self.without_view(inner, &rest, &stmts[index + 1..])? {
                        Some(rest) => self.stmt(&rest)?,
                        None if self.is_launching(&rest) => ScheduledStmt::Launched(rest),
                        None => ScheduledStmt::Device(rest),
                    });
                    break;
                }
                part => parts.push(part),
            }
        }
        let launches = parts.iter().any(|part| matches!(part, ScheduledStmt::Launched(_)));
        let is_host = parts.iter().all(|part| matches!(part, ScheduledStmt::Host(_)));
        if is_host {
            return Ok(ScheduledStmt::Host(stmt.clone()));
        }
        if !launches && !self.needs_host(stmt) {
            return Ok(ScheduledStmt::Device(stmt.clone()));
        }
        let (mut done, mut alone) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                ScheduledStmt::Device(stmt) => alone.push(stmt),
                // The host's calls touch no memory: they may run before the statements that do.
                ScheduledStmt::WithBefore(before, stmt) => {
                    done.extend(before);
                    alone.push(stmt);
                }
                ScheduledStmt::Host(stmt) | ScheduledStmt::Launched(stmt) => {
                    if !alone.is_empty() {
                        done.push(self.on_one_thread(&Stmt::seq(std::mem::take(&mut alone)))?);
                    }
                    done.push(stmt);
                }
            }
        }
        if !alone.is_empty() {
            done.push(self.on_one_thread(&Stmt::seq(alone))?);
        }
        Ok(ScheduledStmt::Launched(Stmt::seq(done)))
    }

    /// Schedules the statements after a view that is declared around launches, each of which then
    /// declares the view itself.
    fn without_view(&self, view: &Stmt, all: &Stmt, rest: &[Stmt]) -> Result<Option<Stmt>, PassError> {
        if !self.is_launching(all) {
            return Ok(None);
        }
        views::sunk(view, rest, self.callees, self.starts, &|stmt| self.on_one_thread(stmt))
    }

    fn branches(
        &self,
        stmt: &Stmt,
        condition: &Expr,
        then: &Stmt,
        otherwise: Option<&Stmt>,
    ) -> Result<ScheduledStmt, PassError> {
        if !self.is_of_host(condition) {
            let launches = self.is_launching(stmt);
            return Ok(if launches {
                ScheduledStmt::Launched(stmt.clone())
            } else {
                ScheduledStmt::Device(stmt.clone())
            });
        }
        let parts = [Some(then), otherwise];
        let mut launches = self.needs_host(stmt);
        let mut is_host = true;
        for branch in parts.into_iter().flatten() {
            let part = self.stmt(branch)?;
            launches |= matches!(part, ScheduledStmt::Launched(_));
            is_host &= matches!(part, ScheduledStmt::Host(_));
        }
        if is_host {
            return Ok(ScheduledStmt::Host(stmt.clone()));
        }
        if !launches {
            return Ok(ScheduledStmt::Device(stmt.clone()));
        }
        let then = self.whole(then)?;
        let otherwise = otherwise.map(|stmt| self.whole(stmt)).transpose()?;
        Ok(ScheduledStmt::Launched(Stmt::if_then(condition.clone(), then, otherwise).with_span(stmt.span)))
    }

    /// Replaces a block around launches by its statements, in order.
    fn block(
        &self,
        stmt: &Stmt,
        values: &[Expr],
        predicate: &Expr,
        block: &Block,
    ) -> Result<ScheduledStmt, PassError> {
        let plain = block.init.is_none()
            && block.match_buffers.is_empty()
            && predicate.as_int() == Some(1)
            && block.iter_vars.iter().all(|axis| axis.kind != IterKind::Reduce)
            && values.iter().all(|e| self.is_of_host(e));
        let left = |launches| {
            if launches { ScheduledStmt::Launched(stmt.clone()) } else { ScheduledStmt::Device(stmt.clone()) }
        };
        if !plain {
            return Ok(left(self.is_launching(stmt)));
        }
        let mut substitution = Substitution::new();
        for (axis, value) in block.iter_vars.iter().zip(values) {
            substitution.map_var(&axis.var, value.clone());
        }
        let allocations = block.alloc_buffers.iter().map(|buffer| {
            let (buffer, annotations) = (buffer.clone(), Attrs::new());
            Stmt::new(StmtKind::AllocBuffer { buffer, annotations })
        });
        let body = substitution.stmt(&Stmt::seq(allocations.chain([block.body.clone()])));
        Ok(match self.stmt(&body)? {
            ScheduledStmt::Launched(body) => ScheduledStmt::Launched(body),
            ScheduledStmt::WithBefore(..) => ScheduledStmt::Launched(self.whole(&body)?),
            ScheduledStmt::Host(_) | ScheduledStmt::Device(_) => left(false),
        })
    }

    fn loops(&self, stmt: &Stmt) -> Result<ScheduledStmt, PassError> {
        let StmtKind::For { min, extent, kind, step, body, .. } = &stmt.kind else {
            return Ok(ScheduledStmt::Device(stmt.clone()));
        };
        if self.is_of_host(min)
            && self.is_of_host(extent)
            && (body.is_nop() || extent.as_int().is_some_and(|n| n <= 0))
        {
            return Ok(ScheduledStmt::Launched(Stmt::nop()));
        }
        let launches = self.is_launching(stmt);
        if !launches && !self.limits.is_one && !self.needs_host(stmt) && has_room(stmt) && !shares_bytes(stmt)
        {
            let nest = Nest::from_stmt(stmt);
            let on_threads = self.on_threads(&nest);
            for pattern in [matmul::tiled, reduction::across_threads, registers::tiled, transpose::tiled] {
                if let Some(launch) = pattern(&nest, &on_threads, &self.limits, &self.sizes) {
                    return Ok(ScheduledStmt::Launched(launch));
                }
            }
            let run = runs::of_neighbours(&nest, &on_threads, &self.limits, self.capabilities, &self.sizes);
            if let Some(launch) = run {
                return Ok(ScheduledStmt::Launched(self.of_thread(&launch)));
            }
            if !on_threads.is_empty() {
                return Ok(ScheduledStmt::Launched(self.bound(&nest, &on_threads)));
            }
        }
        let left = |launches| {
            if launches { ScheduledStmt::Launched(stmt.clone()) } else { ScheduledStmt::Device(stmt.clone()) }
        };
        if leaves_loop(body)
            || !self.is_of_host(min)
            || !self.is_of_host(extent)
            || !step.iter().all(|e| self.is_of_host(e))
        {
            return Ok(left(launches));
        }
        // Launches run one after the other, in order.
        let kind = if *kind == ForKind::Unrolled { ForKind::Unrolled } else { ForKind::Serial };
        Ok(match self.stmt(body)? {
            ScheduledStmt::Launched(body) if body.is_nop() => ScheduledStmt::Launched(body),
            ScheduledStmt::Launched(body) => ScheduledStmt::Launched(with_body(stmt, body, Some(kind))),
            ScheduledStmt::Host(_) => ScheduledStmt::Host(stmt.clone()),
            ScheduledStmt::WithBefore(..) => {
                ScheduledStmt::Launched(with_body(stmt, self.whole(body)?, Some(kind)))
            }
            ScheduledStmt::Device(_) if can_move_out(stmt) => ScheduledStmt::Device(stmt.clone()),
            ScheduledStmt::Device(body) => {
                ScheduledStmt::Launched(with_body(stmt, self.on_one_thread(&body)?, Some(kind)))
            }
        })
    }

    /// The loops of a nest that may run on threads.
    fn on_threads(&self, nest: &Nest<'_>) -> HashSet<Var> {
        if leaves_loop(nest.body) {
            return HashSet::new();
        }
        let accesses = Accesses::collect(&nest.heads, nest.body);
        let mut loops = accesses.independent(&nest.heads);
        // The axis kinds of a block state that iterations may run in any order.
        let is_block = matches!(nest.body.kind, StmtKind::BlockRealize { .. });
        if !is_block && accesses.may_overlap(&self.overlapping) {
            loops.clear();
        }
        // Iterations marked parallel are so within one iteration of the loops around.
        for head in &nest.heads {
            if head.is_said_parallel() {
                loops.insert(head.var.clone());
            } else if !loops.contains(&head.var) {
                break;
            }
        }
        loops
    }

    /// Binds those loops of the nest to threads and keeps the others within.
    fn bound(&self, nest: &Nest<'_>, on_threads: &HashSet<Var>) -> Stmt {
        let (heads, within): (Vec<&Head>, Vec<&Head>) =
            nest.heads.iter().partition(|head| on_threads.contains(&head.var));
        let is_loop = !within.is_empty();
        let mut body = within.into_iter().rev().fold(nest.body.clone(), |body, head| head.around(body));
        let mut axes: Vec<Axis> = heads.into_iter().map(Axis::from_head).collect();
        if let Some((var, lanes)) = vector::lanes(nest, on_threads, self.capabilities)
            && let Some(position) = axes.iter().position(|axis| axis.var == var)
        {
            let (axis, lanes) = vector::split(&axes.remove(position), lanes, &body);
            axes.push(axis);
            body = lanes;
        }
        let limits = Limits { threads: self.limits.threads_of(is_loop), ..self.limits };
        launch::fused(&axes, &self.of_thread(&body), &limits, &self.sizes)
    }

    /// Launches one thread that runs the statement.
    fn on_one_thread(&self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if returns(stmt) {
            return Err(self.refused(
                stmt,
                format!(
                    "expected a function that ends where the host knows it, found one that ends by what is computed on the \
                     device of target \"{}\": put what follows under a condition, or build for a host target",
                    self.capabilities.target.kind
                ),
            ));
        }
        let mut left = LOCAL_SIZE_BYTES_MAX;
        let mut gone = Vec::new();
        for buffer in memory::allocations(stmt).into_iter().filter(|buffer| !self.is_scratch(buffer)) {
            match memory::size_bytes(&buffer) {
                Some(bytes) if bytes <= left && self.limits.has_local => left -= bytes,
                _ => gone.push(buffer),
            }
        }
        if !are_known_around(stmt, &gone) {
            return Err(self.refused(
                stmt,
                format!(
                    "expected memory of a size that the host knows, found an allocation whose size is computed on the \
                     device of target \"{}\": give it a size that is known before",
                    self.capabilities.target.kind
                ),
            ));
        }
        let stmt = memory::without_allocations(stmt, &gone.iter().cloned().collect());
        let launch = launch::single(&self.limits, self.of_thread(&stmt));
        let around = gone.into_iter().map(|buffer| {
            let annotations = Attrs::new();
            Stmt::new(StmtKind::AllocBuffer { buffer, annotations })
        });
        Ok(Stmt::seq(around.chain([launch])))
    }

    /// The statement as threads run it: its allocations belong to the thread.
    fn of_thread(&self, stmt: &Stmt) -> Stmt {
        let mut own = memory::allocations(stmt);
        own.retain(|buffer| !self.keeps_scope(buffer));
        if own.is_empty() {
            return stmt.clone();
        }
        memory::moved(stmt, &own, &StorageScope::LOCAL).stmt(stmt)
    }
}

/// Returns true if each thread may keep the statement's allocations in its local memory.
fn has_room(stmt: &Stmt) -> bool {
    let sizes = memory::allocations(stmt).iter().map(memory::size_bytes).collect::<Option<Vec<_>>>();
    sizes.is_some_and(|sizes| sizes.iter().sum::<i128>() <= LOCAL_SIZE_BYTES_MAX)
}

/// Returns true if the statement stores elements of which several share a byte: two threads must
/// not store into one byte.
fn shares_bytes(stmt: &Stmt) -> bool {
    let own: HashSet<Var> = memory::allocations(stmt).iter().map(|buffer| buffer.data.clone()).collect();
    any_stmt(stmt, &mut |kind| match kind {
        StmtKind::Store { buffer, .. } => buffer.dtype.is_sub_byte() && !own.contains(&buffer.data),
        _ => false,
    })
}

/// Returns true if allocations that are too large for one thread can be moved before the statement.
fn can_move_out(stmt: &Stmt) -> bool {
    has_room(stmt) || are_known_around(stmt, &memory::allocations(stmt))
}

/// Returns true if the sizes of buffers are known before the statement that allocates them.
fn are_known_around(stmt: &Stmt, buffers: &[Buffer]) -> bool {
    let sizes = buffers.iter().flat_map(|buffer| buffer.shape.iter().chain(&buffer.strides));
    let used: HashSet<Var> = sizes.flat_map(vars_of).collect();
    if used.is_empty() {
        return true;
    }
    let mut known = true;
    stmt.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            match &stmt.kind {
                StmtKind::For { var, .. }
                | StmtKind::Bind { var, .. }
                | StmtKind::LaunchThread { var, .. } => {
                    known &= !used.contains(var);
                }
                StmtKind::BlockRealize { block, .. } => {
                    known &= !block.iter_vars.iter().any(|axis| used.contains(&axis.var));
                }
                _ => {}
            }
        }
    });
    known
}

fn calls_packed(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { callee: Callee::Op(Op::CallPacked), .. })
}

fn is_packed_tensor(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { callee: Callee::Op(Op::StackMakeArray), .. })
}

pub(super) fn is_launching(stmt: &Stmt, starts: Starts) -> bool {
    any_stmt(stmt, &mut |kind| starts(kind))
}

/// Calls `f` with the variables that each launch captures, data variables of buffers among them.
fn memory_of_launches(stmt: &Stmt, starts: Starts, f: &mut dyn FnMut(Vec<Var>)) {
    if starts(&stmt.kind) {
        return f(crate::splitting::capture::Captured::of(stmt).vars);
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(stmt) = child {
            memory_of_launches(stmt, starts, f);
        }
    });
}

/// Data variables of the buffers that are touched outside of launches.
fn memory_outside_launches(stmt: &Stmt, starts: Starts, found: &mut HashSet<Var>) {
    match &stmt.kind {
        kind if starts(kind) => return,
        StmtKind::Store { buffer, .. } => drop(found.insert(buffer.data.clone())),
        StmtKind::BlockRealize { block, .. } => {
            found.extend(block.match_buffers.iter().map(|view| view.source.buffer.data.clone()));
        }
        _ => {}
    }
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => memory_outside_launches(stmt, starts, found),
        Child::Expr(expr) => expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer, .. } => drop(found.insert(buffer.data.clone())),
            ExprKind::Var(var) if var.dtype.is_handle() => drop(found.insert(var.clone())),
            _ => {}
        }),
    });
}

/// Buffers that are allocated around launches.
fn allocated_outside(stmt: &Stmt, starts: Starts, found: &mut Vec<Buffer>) {
    match &stmt.kind {
        kind if starts(kind) => return,
        StmtKind::AllocBuffer { buffer, .. } => found.push(buffer.clone()),
        StmtKind::BlockRealize { block, .. } => found.extend(block.alloc_buffers.iter().cloned()),
        _ => {}
    }
    stmt.for_each_child(&mut |child| {
        if let Child::Stmt(stmt) = child {
            allocated_outside(stmt, starts, found);
        }
    });
}
