//! Lowering of reductions whose axes are bound to threads.

mod combine;
mod nest;
mod own;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Block, Buffer, CompareOp, DType, Expr, ForKind, IrModule, Op, PrimFunc, Stmt, StmtKind,
    StorageRank, TargetCapabilities, ThreadAxis, Var,
};

use crate::PassError;
use crate::simplify;
use crate::threading::threads::barrier;
use crate::walk::{any_stmt, conjuncts, depends_on_memory, is_thread, try_map_functions, vars_of};
use combine::{Combination, Inits};
use nest::Nest;
use own::Own;

const PASS: &str = "lower_cross_thread_reduction";

/// Lowers a reduction whose axes are bound to threads of a block (IR-K6) to three steps: each
/// thread combines its own iterations in local memory; `tvm_thread_allreduce` combines the values
/// of the threads; the first thread of each group writes the result, or every thread if the result
/// is in its own local memory.
///
/// The steps of a thread include all loops of the reduction within the launch, whatever other
/// statements they contain (a prefetch into shared memory), if none of these touches the result.
/// Otherwise, each time that the threads reach the block they combine into the current value, the
/// first time into the init value. A loop of the reduction around a launch, with no other statement
/// in it, moves into the launch.
///
/// A combination is `own op term`, of one of `+ * min max`, bitwise or boolean and, or and
/// exclusive or, one for each result; or any combination that only selects between the old and the
/// new values (an argmax), which starts at its init value.
///
/// # Before and after
///
/// ```text
/// for tx in T.thread_binding(128, …):         for tx in T.thread_binding(128, …):
///     with T.sblock("B"):                         with T.sblock("B"):
///         vi, vk = T.axis.remap("SR", [i, tx])        B_own[0] = 0
///         with T.init(): B[vi] = 0        ->          B_own[0] = B_own[0] + A[i, tx]
///         B[vi] = B[vi] + A[vi, vk]                   T.tvm_thread_allreduce(1, B_own[0], True, B_own[0], tx)
///                                                     if tx == 0: B[i] = B_own[0]
/// ```
///
/// # Requires / # Ensures
///
/// Requires a valid module. No reduction axis of a block depends on a thread.
///
/// # Errors
///
/// The caller's: a reduction over blocks of a grid or virtual threads, one whose other axes depend
/// on the same threads, or one that does not combine in a form listed above.
pub fn lower_cross_thread_reduction(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    if capabilities.execution.thread_axes.is_empty() {
        return Ok(module.clone());
    }
    try_map_functions(module, |function| {
        if !any_stmt(&function.body, &mut crate::walk::binds_threads) {
            return Ok(function.clone());
        }
        let mut lowerer =
            Lowerer { function, launch: None, threads: HashMap::new(), names: Substitution::new() };
        Ok(PrimFunc { body: lowerer.stmt(&function.body)?, ..function.clone() })
    })
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    /// The enclosing launch.
    launch: Option<Stmt>,
    /// Variables of loops bound to threads.
    threads: HashMap<Var, ThreadAxis>,
    /// Values of bound names.
    names: Substitution,
}

/// A reduction across threads.
struct Reduction<'a> {
    nest: Nest<'a>,
    /// Variables that its reduction axes depend on.
    reduced: HashSet<Var>,
    /// Those of `reduced` that are threads, by axis.
    together: Vec<(Var, ThreadAxis)>,
}

/// The statements that a reduction is lowered to, apart from its steps.
struct Parts {
    own: Own,
    combination: Combination,
    finish: Stmt,
}

impl Lowerer<'_> {
    fn refuse(&self, block: &Block, message: &str) -> PassError {
        let message = format!("block \"{}\" is reduced across threads: {message}", block.name);
        PassError::caller(PASS, &self.function.name, message)
    }

    fn vars(&mut self, exprs: impl IntoIterator<Item = Expr>) -> HashSet<Var> {
        exprs.into_iter().flat_map(|e| vars_of(&self.names.expr(&e))).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let found = self.starting(stmt);
        if self.launch.is_some() {
            if !found.is_empty()
                && let Some(lowered) = self.reductions(stmt, &found).map_err(|error| error.at(stmt.span))?
            {
                return Ok(lowered);
            }
        } else if let [reduction] = found.as_slice()
            && let Some(launch) = reduction.nest.threads_outermost()
        {
            return self.stmt(&launch.with_span(stmt.span));
        }
        self.inside(stmt)
    }

    fn inside(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let is_launch = self.launch.is_none() && is_thread(stmt);
        if is_launch {
            self.launch = Some(stmt.clone());
        }
        match &stmt.kind {
            StmtKind::For { var, kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { var, axis, .. } => {
                self.threads.insert(var.clone(), *axis);
            }
            StmtKind::BlockRealize { iter_values, block, .. } => {
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    let value = self.names.expr(value);
                    self.names.map_var(&axis.var, value);
                }
            }
            StmtKind::Bind { var, value } => self.name(var, value),
            _ => {}
        }
        let result = stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| self.stmt(s));
        if is_launch {
            self.launch = None;
        }
        result
    }

    fn name(&mut self, var: &Var, value: &Expr) {
        if simplify::is_pure(value) && !depends_on_memory(value) {
            let value = self.names.expr(value);
            self.names.map_var(var, value);
        }
    }

    /// The reductions across threads whose outermost reduction loop is this statement, or which
    /// have no loop around the block.
    fn starting<'s>(&mut self, stmt: &'s Stmt) -> Vec<Reduction<'s>> {
        let around = match &stmt.kind {
            StmtKind::For { kind: ForKind::ThreadBinding(_), .. } => return Vec::new(),
            StmtKind::For { var, .. } => Some(var),
            StmtKind::BlockRealize { .. } => None,
            _ => return Vec::new(),
        };
        let mut found = Vec::new();
        for nest in Nest::all(stmt) {
            for (var, value) in &nest.binds {
                self.name(var, value);
            }
            let reduced = self.vars(nest.axes(true).map(|(_, value)| value.clone()));
            let inner = nest.heads().filter_map(|(var, _, _, kind)| match kind {
                ForKind::ThreadBinding(axis) => Some((var.clone(), axis)),
                _ => None,
            });
            let inner: HashMap<Var, ThreadAxis> = inner.collect();
            let axis = |var: &Var| inner.get(var).or_else(|| self.threads.get(var)).copied();
            let mut together: Vec<(Var, ThreadAxis)> =
                reduced.iter().filter_map(|var| Some((var.clone(), axis(var)?))).collect();
            together.sort_by_key(|(_, axis)| *axis);
            if !together.is_empty() && around.is_none_or(|var| reduced.contains(var)) {
                found.push(Reduction { nest, reduced, together });
            }
        }
        found
    }

    fn check(&mut self, reduction: &Reduction<'_>) -> Result<(), PassError> {
        let Reduction { nest, reduced, together } = reduction;
        if let Some((_, axis)) = together.iter().find(|(_, axis)| *axis < ThreadAxis::ThreadX) {
            let message = format!(
                "expected threads of a block, found {axis}: blocks of a grid cannot wait for each other"
            );
            return Err(self.refuse(nest.block, &message));
        }
        if let Some((_, axis)) = together.iter().find(|(_, axis)| *axis > ThreadAxis::ThreadZ) {
            let message = format!("expected threads of a block, found {axis}: make it a loop");
            return Err(self.refuse(nest.block, &message));
        }
        let spatial = self.vars(nest.axes(false).map(|(_, value)| value.clone()));
        if let Some(var) = spatial.iter().find(|var| reduced.contains(*var)) {
            let message = format!(
                "expected axes of its own for the reduction; found {}, which other axes depend on too: bind them to \
                 different loops",
                var.name
            );
            return Err(self.refuse(nest.block, &message));
        }
        Ok(())
    }

    /// Lowers all reductions that start at the statement; `None` if another part of it needs their
    /// partial results: they then start further in.
    fn reductions(&mut self, stmt: &Stmt, found: &[Reduction<'_>]) -> Result<Option<Stmt>, PassError> {
        let mut all = Vec::with_capacity(found.len());
        for reduction in found {
            match self.parts(stmt, reduction)? {
                Some(parts) => all.push(parts),
                None => return Ok(None),
            }
        }
        let is_twice =
            |at: usize| found[..at].iter().any(|other| Arc::ptr_eq(other.nest.block, found[at].nest.block));
        if (0..found.len()).any(is_twice) {
            return Ok(None);
        }
        let starts: Vec<Stmt> = all.iter().map(|parts| parts.own.start(&parts.combination)).collect();
        let mut steps = stmt.clone();
        for (reduction, parts) in found.iter().zip(&all) {
            steps = parts.own.steps(&steps, reduction.nest.block, &parts.combination);
        }
        let steps = self.inside(&steps)?;
        let buffers: Vec<Buffer> = all.iter().flat_map(|parts| parts.own.buffers.clone()).collect();
        let finishes = all.into_iter().map(|parts| parts.finish);
        let body = Stmt::seq(starts.into_iter().chain([steps]).chain(finishes));
        // A single block keeps its name and its annotations.
        let block = match found {
            [reduction] => (**reduction.nest.block).clone(),
            _ => Block {
                name: "reductions".into(),
                annotations: Default::default(),
                ..Block::clone(found[0].nest.block)
            },
        };
        Ok(Some(Stmt::new(StmtKind::BlockRealize {
            iter_values: Vec::new(),
            predicate: Expr::bool(true),
            block: Arc::new(Block {
                iter_vars: Vec::new(),
                reads: None,
                writes: None,
                init: None,
                alloc_buffers: buffers,
                match_buffers: Vec::new(),
                body,
                ..block
            }),
        })))
    }

    fn parts(&mut self, stmt: &Stmt, reduction: &Reduction<'_>) -> Result<Option<Parts>, PassError> {
        self.check(reduction)?;
        let nest = &reduction.nest;
        let block = nest.block;
        let starts_here = self.starts_here(reduction);
        let inits = match starts_here.as_int() {
            _ if block.init.is_none() => Inits::Never,
            Some(0) => Inits::Never,
            Some(_) => Inits::Always,
            None => Inits::Sometimes,
        };
        let combination =
            Combination::from_block(block, inits).map_err(|message| self.refuse(block, &message))?;
        let results: Vec<&Buffer> = combination.parts.iter().map(|part| &part.buffer).collect();
        let data: HashSet<&Var> = results.iter().map(|buffer| &buffer.data).collect();
        if !nest.is_alone && nest::touches(stmt, block, &data) {
            return Ok(None);
        }
        let Some(own) = Own::from_nest(nest, &reduction.reduced, &combination) else {
            let message = "expected loops of constant extents within it, whose starts depend on none of them";
            return if nest.is_alone { Err(self.refuse(block, message)) } else { Ok(None) };
        };
        let finish = self.finish(reduction, &combination, &own, starts_here)?;
        if !nest.is_alone && nest::declares(stmt, &results, nest, &finish) {
            return Ok(None);
        }
        Ok(Some(Parts { own, combination, finish }))
    }

    /// The condition that the first iteration of the reduction is among the remaining ones.
    fn starts_here(&mut self, reduction: &Reduction<'_>) -> Expr {
        let mut first = self.first(reduction);
        let mut all = Expr::bool(true);
        for (axis, value) in reduction.nest.axes(true) {
            let value = first.expr(&self.names.expr(value));
            let is_first = Expr::compare(CompareOp::Eq, value, self.names.expr(&axis.min));
            all = simplify::expr(&all.and(is_first));
        }
        all
    }

    /// Replaces the variable of each loop of the reduction by its first value.
    fn first(&mut self, reduction: &Reduction<'_>) -> Substitution {
        let mut first = Substitution::new();
        for (var, min, _, kind) in reduction.nest.heads() {
            if reduction.reduced.contains(var) && !matches!(kind, ForKind::ThreadBinding(_)) {
                let min = first.expr(&self.names.expr(min));
                first.map_var(var, min);
            }
        }
        for (var, _) in &reduction.together {
            first.map_var(var, Expr::int(0, var.dtype));
        }
        first
    }

    /// Combines the threads' results and writes them.
    fn finish(
        &mut self,
        reduction: &Reduction<'_>,
        combination: &Combination,
        own: &Own,
        starts_here: Expr,
    ) -> Result<Stmt, PassError> {
        let nest = &reduction.nest;
        let mut fresh = Substitution::new();
        let around = self.again(nest, own, &mut fresh);
        let here: Vec<Expr> = reduction.together.iter().map(|(var, _)| fresh.expr(&var.expr())).collect();
        let guard = fresh.expr(&self.when_written(reduction, combination)?);
        let runs_init = match combination.inits {
            Inits::Sometimes => {
                let runs = starts_here.and(self.when_first(reduction));
                Some(fresh.expr(&simplify::expr(&runs)))
            }
            Inits::Always | Inits::Never => None,
        };
        let index = own.index(&mut fresh);
        let loads: Vec<Expr> = own.buffers.iter().map(|own| Expr::load(own, index.clone())).collect();
        let mut stmts = vec![allreduce(combination, &loads, &here)];
        let mut axes = Substitution::new();
        for (axis, value) in nest.block.iter_vars.iter().zip(nest.values) {
            axes.map_var(&axis.var, self.names.expr(value));
        }
        let mut mapped = |e: &Expr| fresh.expr(&axes.expr(e));
        let results = combination.writes(&loads, runs_init.as_ref());
        let stores = results.into_iter().map(|(buffer, indices, value)| {
            Stmt::store(buffer, indices.iter().map(&mut mapped).collect(), mapped(&value))
        });
        let is_local = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Store { buffer, .. } if buffer.scope.rank == StorageRank::Local);
        let (by_each, by_one): (Vec<Stmt>, Vec<Stmt>) = stores.partition(is_local);
        for store in by_each {
            stmts.push(if is_true(&guard) { store } else { Stmt::if_then(guard.clone(), store, None) });
        }
        let is_global = |part: &combine::ReductionResult| part.buffer.scope.rank == StorageRank::Global;
        if !by_one.is_empty() {
            let zero = here.iter().map(|e| Expr::compare(CompareOp::Eq, e.clone(), Expr::int(0, e.dtype)));
            let is_first = zero.fold(guard, |all, zero| simplify::expr(&all.and(zero)));
            stmts.push(Stmt::if_then(is_first, Stmt::seq(by_one), None));
        }
        if combination.parts.iter().any(is_global) && self.touched_elsewhere(nest.block, combination) {
            stmts.push(barrier("shared"));
        }
        let whole = around
            .into_iter()
            .rev()
            .fold(Stmt::seq(stmts), |body, (var, extent, kind)| Stmt::for_loop(var, extent, kind, body));
        Ok(whole)
    }

    /// Copies the loops over threads and results with new variables.
    fn again(&mut self, nest: &Nest<'_>, own: &Own, fresh: &mut Substitution) -> Vec<(Var, Expr, ForKind)> {
        let mut around = Vec::new();
        for (var, min, extent, kind) in nest.heads() {
            let is_thread = matches!(kind, ForKind::ThreadBinding(_));
            if is_thread || own.loops.iter().any(|(known, ..)| known == var) {
                let new = Var::new(Arc::clone(&var.name), var.dtype);
                fresh.map_var(var, simplify::expr(&(new.expr() + self.names.expr(min))));
                let extent = self.names.expr(extent);
                around.push((new, extent, if is_thread { kind } else { ForKind::Serial }));
            }
        }
        around
    }

    /// The condition that the first iteration, which runs init, runs.
    fn when_first(&mut self, reduction: &Reduction<'_>) -> Expr {
        let mut first = self.first(reduction);
        let mut when = Expr::bool(true);
        for extent in reduced_extents(reduction) {
            let some = Expr::compare(CompareOp::Gt, extent.clone(), Expr::int(0, extent.dtype));
            when = simplify::expr(&when.and(first.expr(&self.names.expr(&some))));
        }
        let predicate = first.expr(&self.names.expr(reduction.nest.predicate));
        simplify::expr(&when.and(predicate))
    }

    /// The condition that a result is written: the first iteration, which runs init, may run;
    /// without init, any iteration may.
    fn when_written(
        &mut self,
        reduction: &Reduction<'_>,
        combination: &Combination,
    ) -> Result<Expr, PassError> {
        if combination.inits == Inits::Always {
            return Ok(self.when_first(reduction));
        }
        let nest = &reduction.nest;
        let loops: HashSet<&Var> = nest.heads().map(|(var, ..)| var).collect();
        let mut kept = Expr::bool(true);
        for extent in reduced_extents(reduction) {
            let some = Expr::compare(CompareOp::Gt, extent.clone(), Expr::int(0, extent.dtype));
            let some = self.names.expr(&some);
            if vars_of(&some).iter().all(|var| !loops.contains(var)) {
                kept = simplify::expr(&kept.and(some));
            }
        }
        for condition in conjuncts(nest.predicate) {
            let vars = self.vars([condition.clone()]);
            if vars.iter().all(|var| !reduction.reduced.contains(var)) {
                kept = simplify::expr(&kept.and(self.names.expr(&condition)));
            } else if !vars.iter().all(|var| reduction.reduced.contains(var)) {
                return Err(self.refuse(
                    nest.block,
                    "expected an init, or a predicate whose parts are about the reduction or about the other axes; found a \
                     part about both",
                ));
            }
        }
        Ok(kept)
    }

    /// Returns true if anything in the launch other than the block touches the memory of its
    /// results.
    fn touched_elsewhere(&self, block: &Arc<Block>, combination: &Combination) -> bool {
        let results: HashSet<&Var> = combination.parts.iter().map(|part| &part.buffer.data).collect();
        self.launch.as_ref().is_some_and(|launch| nest::touches(launch, block, &results))
    }
}

/// Extents of the reduction loops that are not threads.
fn reduced_extents<'a>(reduction: &Reduction<'a>) -> Vec<&'a Expr> {
    let heads = reduction.nest.heads();
    let reduced = heads.filter(|(var, _, _, kind)| {
        reduction.reduced.contains(*var) && !matches!(kind, ForKind::ThreadBinding(_))
    });
    reduced.map(|(_, _, extent, _)| extent).collect()
}

/// Combines the values of the threads.
fn allreduce(combination: &Combination, own: &[Expr], threads: &[Expr]) -> Stmt {
    let n = Expr::int(own.len() as i128, DType::UINT32);
    let args = [n].into_iter().chain(own.iter().cloned()).chain([Expr::bool(true)]);
    let args: Vec<Expr> = args.chain(own.iter().cloned()).chain(threads.iter().cloned()).collect();
    let call = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadAllreduce, args, DType::HANDLE)));
    Stmt::new(StmtKind::Attr {
        node: AttrNode::Reducer(Arc::new(combination.reducer())),
        key: "reduce_scope".into(),
        value: Expr::i32(0),
        body: call,
    })
}

fn is_true(expr: &Expr) -> bool {
    expr.as_int() == Some(1)
}
