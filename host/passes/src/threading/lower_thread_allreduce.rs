//! Lowering of reductions across threads to the steps of each thread.

mod shuffle;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Attrs, Buffer, Callee, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Op, PrimFunc,
    Reducer, Stmt, StmtKind, StorageRank, StorageScope, TargetCapabilities, ThreadAxis, Var,
};

use crate::PassError;
use crate::simplify;
use crate::threading::threads::{BLOCK_AXES, Threads, barrier, try_map_launches};
use crate::walk::{try_map_functions, vars_of};

const PASS: &str = "lower_thread_allreduce";

/// Replaces each `tvm_thread_allreduce` by the steps of the threads of a group: the threads with
/// equal indices on the axes that are not reduced.
///
/// If the target names the shuffles in `native_ops`, values have 32 or 64 bits, and a group is a
/// part of a warp or several whole warps, warps reduce by shuffles, and the results of several
/// warps go through shared memory once. Otherwise all values go through shared memory, and half of
/// the threads combine two at a time, with a barrier after each step; groups may have any size.
///
/// # Before and after
///
/// ```text
/// with T.attr(T.comm_reducer(…), "reduce_scope", 0):        red[tx] = A[tx]
///     T.tvm_thread_allreduce(1, A[tx], True, t[0], tx)  ->  T.tvm_storage_sync("shared")
///                                                           if tx < 64: red[tx] = red[tx] + red[tx + 64]
///                                                           … (a barrier after each step, down to tx < 1)
///                                                           t[0] = red[0]
/// ```
///
/// # Requires / # Ensures
///
/// Requires flattened buffers and explicit barriers. No `tvm_thread_allreduce` is left.
///
/// # Errors
///
/// The caller's: a block whose extents are not constant, values that are vectors, an index that is
/// not a thread's. The target's: one without shared memory.
pub fn lower_thread_allreduce(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        let body = try_map_launches(&function.body, &mut |launch| {
            let threads = Threads::collect(launch);
            let (here, reducers) = (BTreeMap::new(), Vec::new());
            Lowerer { function, capabilities, threads, here, reducers, loops: 0 }.stmt(launch)
        })?;
        Ok(PrimFunc { body, ..function.clone() })
    })
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    threads: Threads,
    /// The variables of the enclosing axes.
    here: BTreeMap<ThreadAxis, Var>,
    reducers: Vec<Arc<Reducer>>,
    /// Number of enclosing loops.
    loops: usize,
}

/// A reduction: its reducer, values, condition, and the destinations of the results.
struct Reduction<'a> {
    reducer: &'a Reducer,
    values: &'a [Expr],
    condition: &'a Expr,
    targets: &'a [Expr],
    group: Group,
    /// Whether other threads may still read the same memory in an earlier iteration.
    again: bool,
}

/// Position of a thread among those that reduce together.
struct Group {
    /// Rank of the thread in its group.
    rank: Expr,
    /// Number of threads in a group.
    size: i128,
    /// Index of the group in the block.
    number: Expr,
    groups: i128,
    /// Whether the threads of a group are consecutive in the block.
    is_contiguous: bool,
}

impl Lowerer<'_> {
    fn refuse(&self, message: &str) -> PassError {
        PassError::caller(PASS, &self.function.name, message)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::For { var, kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { var, axis, .. } => {
                let outer = self.here.insert(*axis, var.clone());
                let result = self.children(stmt);
                match outer {
                    Some(outer) => self.here.insert(*axis, outer),
                    None => self.here.remove(axis),
                };
                result
            }
            StmtKind::For { .. } | StmtKind::While { .. } => {
                self.loops += 1;
                let result = self.children(stmt);
                self.loops -= 1;
                result
            }
            StmtKind::Attr { node: AttrNode::Reducer(reducer), body, .. } => {
                self.reducers.push(Arc::clone(reducer));
                let body = self.stmt(body);
                self.reducers.pop();
                body
            }
            StmtKind::Evaluate(call) => match &call.kind {
                ExprKind::Call { callee: Callee::Op(Op::ThreadAllreduce), args } => {
                    self.reduction(args).map_err(|error| error.at(stmt.span))
                }
                _ => Ok(stmt.clone()),
            },
            _ => self.children(stmt),
        }
    }

    fn children(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| self.stmt(s))
    }

    fn reduction(&mut self, args: &[Expr]) -> Result<Stmt, PassError> {
        let reducer = self.reducers.last().map(Arc::clone);
        let n = args.first().and_then(Expr::as_int).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let (Some(reducer), true) = (reducer, n > 0 && args.len() >= 2 * n + 2) else {
            return Err(self
                .refuse("expected a reduction across threads with a reducer around it, found one without"));
        };
        if reducer.result.len() != n {
            return Err(self.refuse("expected as many values as the reducer has, found others"));
        }
        let (values, condition, targets) = (&args[1..=n], &args[n + 1], &args[n + 2..2 * n + 2]);
        if let Some(value) = values.iter().find(|value| !value.dtype.is_scalar()) {
            let message = format!("expected scalars reduced across threads, found {}", value.dtype);
            return Err(self.refuse(&message));
        }
        let outer = self.here.clone();
        let missing = self.bind_missing();
        let group = self.group(&args[2 * n + 2..]);
        self.here = outer;
        let reduction =
            Reduction { reducer: &reducer, values, condition, targets, group: group?, again: self.loops > 0 };
        let shuffles = shuffle::Shuffles::for_reduction(self.capabilities, &reduction);
        let needs_memory = reduction.group.size > 1 && shuffles.as_ref().is_none_or(|s| s.needs_memory());
        if needs_memory && !self.capabilities.memory.storage_scopes.iter().any(|scope| scope == "shared") {
            let message = format!(
                "expected shared memory on target \"{}\" for a reduction across threads, which has none",
                self.capabilities.target.kind
            );
            return Err(PassError::target(PASS, &self.function.name, message));
        }
        let stmts = match shuffles {
            _ if reduction.group.size == 1 => reduction.stores(&reduction.given()),
            Some(shuffles) => shuffles.statements(&reduction),
            None => tree::statements(&reduction),
        };
        // An axis that is not bound here is bound around the statements that need its index.
        let body = missing.into_iter().fold(Stmt::seq(stmts), |body, (axis, var, extent)| {
            Stmt::for_loop(var, extent, ForKind::ThreadBinding(axis), body)
        });
        Ok(body)
    }

    /// Binds variables for axes of the block that are not bound here.
    fn bind_missing(&mut self) -> Vec<(ThreadAxis, Var, Expr)> {
        let mut missing = Vec::new();
        for axis in BLOCK_AXES {
            let Some(extent) = self.threads.extents.get(&axis) else { continue };
            if !self.here.contains_key(&axis) && extent.as_int() != Some(1) {
                let var = Var::new(axis.name().replace('.', "_"), extent.dtype);
                self.here.insert(axis, var.clone());
                missing.push((axis, var, extent.clone()));
            }
        }
        missing
    }

    fn group(&self, indices: &[Expr]) -> Result<Group, PassError> {
        let Some(block) = self.threads.block() else {
            return Err(self.refuse(
                "expected threads of a block whose number is constant, as values are reduced across them; found an extent \
                 that is not",
            ));
        };
        let mut reduced = [false; 3];
        for index in indices {
            for var in vars_of(index) {
                let Some(position) = self.threads.position(&var) else {
                    let message = format!(
                        "expected indices of the threads of a block to reduce across, found {} in one",
                        var.name
                    );
                    return Err(self.refuse(&message));
                };
                reduced[position] = true;
            }
        }
        let linear = |wanted: bool| {
            let (mut sum, mut size) = (Expr::i32(0), 1_i128);
            for (position, axis) in BLOCK_AXES.iter().enumerate().filter(|(at, _)| reduced[*at] == wanted) {
                if let Some(var) = self.here.get(axis).filter(|_| block[position] != 1) {
                    sum = sum + var.expr().cast(DType::INT32) * Expr::int(size, DType::INT32);
                }
                size *= block[position];
            }
            (simplify::expr(&sum), size)
        };
        let ((rank, size), (number, groups)) = (linear(true), linear(false));
        let real = (0..3).filter(|at| block[*at] != 1);
        let order: Vec<bool> = real.map(|at| reduced[at]).collect();
        let is_contiguous = order.is_sorted_by(|a, b| a >= b);
        Ok(Group { rank, size, number, groups, is_contiguous })
    }
}

impl Reduction<'_> {
    /// The input values, one for each result: the identity if the condition does not hold.
    fn given(&self) -> Vec<Expr> {
        let given = self.values.iter().zip(&self.reducer.identity).map(|(value, identity)| {
            if self.condition.as_int() == Some(1) {
                return value.clone();
            }
            let args = vec![self.condition.clone(), value.clone(), identity.clone()];
            Expr::call(Op::IfThenElse, args, value.dtype)
        });
        given.collect()
    }

    /// Combines two sides under new names, after binding names for the sides.
    fn combined(&self, lhs: &[Expr], rhs: &[Expr], stmts: &mut Vec<Stmt>) -> Vec<Var> {
        let mut sides = Substitution::new().fresh();
        for (var, value) in self.reducer.lhs.iter().zip(lhs).chain(self.reducer.rhs.iter().zip(rhs)) {
            sides.map_var(var, value.clone());
        }
        let results = self.reducer.result.iter().map(|result| named("both", &sides.expr(result), stmts));
        results.collect()
    }

    /// Allocates memory that the threads of a block share, with `size` elements of each value.
    fn shared(&self, name: &str, size: i128, stmts: &mut Vec<Stmt>) -> Vec<Buffer> {
        let buffers = self.values.iter().map(|value| {
            let size = vec![Expr::int(size, DType::INT32)];
            let buffer = Buffer::new(name, size, value.dtype, StorageScope::SHARED);
            stmts
                .push(Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() }));
            buffer
        });
        let buffers = buffers.collect();
        if self.again {
            stmts.push(barrier("shared"));
        }
        buffers
    }

    /// Stores the results: each thread to its own memory, or the first thread of the group to
    /// shared memory.
    fn stores(&self, results: &[Expr]) -> Vec<Stmt> {
        let (mut stmts, mut is_shared) = (Vec::new(), false);
        for (target, result) in self.targets.iter().zip(results) {
            let ExprKind::Load { buffer, indices, .. } = &target.kind else { continue };
            let store = Stmt::store(buffer, indices.clone(), result.clone());
            if buffer.scope.rank == StorageRank::Local {
                stmts.push(store);
            } else {
                is_shared |= self.group.size > 1;
                stmts.push(Stmt::if_then(equals(&self.group.rank, 0), store, None));
            }
        }
        if is_shared {
            stmts.push(barrier("shared"));
        }
        stmts
    }

    /// The position of a group's first value, with `size` values per group.
    fn base(&self, size: i128) -> Expr {
        simplify::expr(&(self.group.number.clone() * Expr::int(size, DType::INT32)))
    }
}

fn equals(e: &Expr, value: i128) -> Expr {
    simplify::expr(&Expr::compare(CompareOp::Eq, e.clone(), Expr::int(value, e.dtype)))
}

/// Binds a value to a name.
fn named(name: &str, value: &Expr, stmts: &mut Vec<Stmt>) -> Var {
    let var = Var::new(name, value.dtype);
    stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: value.clone() }));
    var
}
