//! Compiles launches: axes, and the code around and within them (IR-K1).

use std::collections::HashMap;
use std::sync::Arc;

use super::{Compiled, Compiler, walk};
use crate::code::{Axis, Inst, Launch, Reg};
use chipdock_ir::op::Threads;
use chipdock_ir::{
    AttrValue, Callee, Child, Expr, ExprKind, ForKind, IrModule, PrimFunc, Reducer, Stmt, StmtKind,
    StorageRank, ThreadAxis, Var, attr,
};

/// The greatest nesting of the bindings on which an extent depends.
const BINDS_MAX: usize = 32;

/// The properties of a function's threads.
pub(super) struct Knowledge {
    /// Whether the function launches threads.
    pub(super) launches: bool,
    /// Whether the threads shuffle.
    pub(super) shuffles: bool,
    /// Number of threads of a warp.
    pub(super) warp_size: u32,
    /// Memory allocated outside of launches, of which each block, warp or thread has an instance
    /// (IR-K2).
    pub(super) outer: Vec<(u32, Reg, StorageRank)>,
    /// The enclosing reducers, the innermost last.
    pub(super) reducers: Vec<Arc<Reducer>>,
    /// The open launch.
    pub(super) open: Option<Open>,
}

/// An open launch.
pub(super) struct Open {
    /// The register of each axis.
    indices: HashMap<ThreadAxis, Reg>,
    /// Axes that variables depend on: a bit per axis.
    depends: HashMap<Var, u16>,
    /// Number of branches that were open before the launch.
    pub(super) n_branches: usize,
    /// Pairs of registers whose differences are the iterations of the surrounding loops.
    pub(super) laps: Vec<[Reg; 2]>,
    /// Whether there are implicit barriers between statements (IR-K5).
    pub(super) is_implicit: bool,
    /// Whether a parallel loop is open.
    pub(super) is_parallel: bool,
    /// Accesses of statements to memory that threads share, by the statements' address.
    pub(super) touches: HashMap<usize, super::sync::Touches>,
}

impl Knowledge {
    pub(super) fn collect(function: &PrimFunc) -> Self {
        let (mut launches, mut shuffles, mut warp_size) = (false, false, None);
        walk::all(&function.body, &mut |child| match child {
            Child::Stmt(stmt) => launches |= is_thread(stmt),
            Child::Expr(expr) => {
                if let ExprKind::Call { callee: Callee::Op(op), args } = &expr.kind
                    && op.threads() == Threads::Shuffle
                {
                    shuffles = true;
                    warp_size = warp_size.or(args.get(4).and_then(Expr::as_int));
                }
            }
        });
        let of_target = || match function.attrs.get(attr::TARGET) {
            Some(AttrValue::Target(target)) => {
                target.options.get("thread_warp_size")?.as_i64().map(i128::from)
            }
            _ => None,
        };
        let warp_size = warp_size.or_else(of_target).filter(|size| (1..=64).contains(size)).unwrap_or(32);
        let (outer, reducers) = (Vec::new(), Vec::new());
        Self { launches, shuffles, warp_size: warp_size as u32, outer, reducers, open: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Records that a variable depends on the axes of the expressions.
    pub(super) fn derive(&mut self, var: &Var, from: &[&Expr]) {
        if self.open.is_none() {
            return;
        }
        let axes = from.iter().fold(0, |axes, expr| axes | self.axes(expr));
        if let Some(open) = &mut self.open {
            open.depends.insert(var.clone(), axes);
        }
    }

    /// Returns the thread axes that an expression depends on.
    pub(super) fn axes(&self, expr: &Expr) -> u16 {
        let mut axes = 0;
        if let Some(open) = &self.open {
            walk::exprs(expr, &mut |expr| {
                if let ExprKind::Var(var) = &expr.kind {
                    axes |= open.depends.get(var).copied().unwrap_or(0);
                }
            });
        }
        axes
    }
}

fn is_thread(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::LaunchThread { .. } | StmtKind::For { kind: ForKind::ThreadBinding(_), .. })
}

/// Returns true if a function, or one that it calls, does what only code of a launch may do: it
/// waits for other threads, launches some, or allocates memory that several threads share.
pub(super) fn waits_or_shares(module: &IrModule, function: &PrimFunc) -> bool {
    let (mut names, mut found) = (vec![Arc::clone(&function.name)], false);
    let mut next = 0;
    while let Some(function) = names.get(next).and_then(|name| module.function(name)) {
        next += 1;
        walk::all(&function.body, &mut |child| match child {
            Child::Stmt(stmt) => {
                found |= is_thread(stmt);
                if let StmtKind::AllocBuffer { buffer, .. } = &stmt.kind {
                    found |= buffer.scope.rank != StorageRank::Local;
                }
            }
            Child::Expr(expr) => match &expr.kind {
                ExprKind::Call { callee: Callee::Op(op), .. } => {
                    found |= op.threads() != Threads::Alone;
                }
                _ => names.extend(expr.called().filter(|name| !names.contains(name)).cloned()),
            },
        });
    }
    found
}

impl Compiler<'_, '_> {
    /// Compiles a loop bound to an axis, or a launched axis: the outermost one launches, and each
    /// thread then runs the body once.
    pub(super) fn bound(&mut self, stmt: &Stmt, var: &Var, axis: ThreadAxis, body: &Stmt) -> Compiled<()> {
        let dtype = var.dtype;
        if !dtype.is_integer() || !dtype.is_scalar() {
            return self.malformed(format!("a thread index of type {dtype}"));
        }
        if let StmtKind::For { min, step, .. } = &stmt.kind
            && (min.as_int() != Some(0) || step.as_ref().is_some_and(|step| step.as_int() != Some(1)))
        {
            return self.malformed("a thread-bound loop that does not start at 0, or has a step");
        }
        let Some(open) = &mut self.threads.open else {
            return self.launch(stmt, |this| this.bound(stmt, var, axis, body));
        };
        open.depends.insert(var.clone(), 1 << axis as u16);
        let Some(&index) = open.indices.get(&axis) else {
            return self.malformed(format!("{axis} has no extent"));
        };
        self.bind(var, index);
        let extent = match &stmt.kind {
            StmtKind::For { extent, .. } | StmtKind::LaunchThread { extent, .. } => extent.as_int(),
            _ => None,
        };
        if let Some(extent) = extent {
            self.ranges.insert(var.clone(), (0, (extent - 1).max(0)));
        }
        self.body(body)
    }

    fn launch(&mut self, stmt: &Stmt, run: impl FnOnce(&mut Self) -> Compiled<()>) -> Compiled<()> {
        let axes = self.extents(stmt)?;
        let mut has_blocks = false;
        walk::all(stmt, &mut |child| {
            has_blocks |= matches!(child, Child::Stmt(stmt) if match &stmt.kind {
                StmtKind::BlockRealize { .. } => true,
                StmtKind::Attr { key, .. } => &**key == attr::IMPLICIT_BARRIERS,
                _ => false,
            });
        });
        let known: Vec<u32> = self.buffers.values().copied().collect();
        let outer = self.threads.outer.iter().filter(|(view, ..)| known.contains(view)).copied().collect();
        self.threads.open = Some(Open {
            indices: axes.iter().map(|axis| (axis.axis, axis.index)).collect(),
            depends: HashMap::new(),
            n_branches: self.branches.len(),
            laps: Vec::new(),
            is_implicit: has_blocks,
            is_parallel: false,
            touches: HashMap::new(),
        });
        let launch = self.out.launches.len();
        self.out.launches.push(Launch { axes, outer, end: 0 });
        self.emit(Inst::Launch { launch: launch as u32 })?;
        let loops = std::mem::take(&mut self.loops);
        let reduces = std::mem::replace(&mut self.reduces, false);
        let result = run(self);
        self.reduces = reduces;
        self.loops = loops;
        self.threads.open = None;
        // A separate instruction that is no jump's target.
        let end = self.emit(Inst::Jump { to: 0 })? as u32;
        self.land(end as usize);
        if let Some(launch) = self.out.launches.get_mut(launch) {
            launch.end = end;
        }
        result
    }

    /// Returns every axis that is bound within, with registers for its extents and its index.
    fn extents(&mut self, stmt: &Stmt) -> Compiled<Vec<Axis>> {
        let mut found: Vec<(ThreadAxis, &Expr)> = Vec::new();
        let mut binds = HashMap::new();
        walk::all(stmt, &mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::LaunchThread { axis, extent, .. }
                | StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } => {
                    found.push((*axis, extent))
                }
                StmtKind::Bind { var, value } => drop(binds.insert(var.clone(), value.clone())),
                _ => {}
            }
        });
        let mut met = std::collections::HashSet::new();
        found.retain(|(axis, extent)| {
            let key = extent.as_int().ok_or_else(|| extent.address());
            met.insert((*axis, key))
        });
        let mut axes: Vec<Axis> = Vec::new();
        for (axis, extent) in found {
            let extent = self.expand(extent, &binds, 0)?;
            let mut is_known = true;
            walk::exprs(&extent, &mut |expr| {
                is_known &= !matches!(&expr.kind, ExprKind::Var(var) if !self.vars.contains_key(var));
            });
            if !is_known {
                return self
                    .malformed(format!("the extent of {axis} is not known where threads are launched"));
            }
            let extent = self.size(&extent)?;
            match axes.iter_mut().find(|known| known.axis == axis) {
                Some(known) => known.extents.push(extent),
                None => axes.push(Axis { axis, index: self.reserve(1)?, extents: vec![extent] }),
            }
        }
        Ok(axes)
    }

    /// Replaces variables that are bound between the launch and their use by their values.
    fn expand(&self, expr: &Expr, binds: &HashMap<Var, Expr>, depth: usize) -> Compiled<Expr> {
        if depth > BINDS_MAX {
            return self.malformed("the extent of a thread axis is made of too many bindings");
        }
        if let ExprKind::Var(var) = &expr.kind {
            return match binds.get(var) {
                Some(value) if !self.vars.contains_key(var) => self.expand(value, binds, depth + 1),
                _ => Ok(expr.clone()),
            };
        }
        expr.try_map_children(&mut |child| self.expand(child, binds, depth))
    }
}
