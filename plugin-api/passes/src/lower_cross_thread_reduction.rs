//! Reductions whose axes are bound to threads.

mod combine;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, Attrs, Block, Buffer, Child, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, IterKind,
    IterVar, Op, PrimFunc, Stmt, StmtKind, StorageRank, StorageScope, TargetFacts, ThreadAxis, Var,
};

use crate::PassError;
use crate::simplify;
use crate::threads::{barrier, try_map_launches};
use crate::walk::{depends_on_memory, try_map_functions, vars_of};
use combine::Combination;

const PASS: &str = "lower_cross_thread_reduction";

/// Makes a reduction whose axes are bound to threads of a block (K6) three steps: each thread combines its own iterations
/// in local memory; `tvm_thread_allreduce` combines what the threads have; the first thread of each group writes the
/// result, or every thread where the result is in its own local memory.
///
/// A combination is `own op term`, of one of `+ * min max`, bitwise or boolean and, or and exclusive or, one for each
/// result; or any that only picks between what was and what comes (an argmax), which starts at the value of its init.
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
/// Requires a valid module. No axis of reduction of a block depends on a thread.
///
/// # Errors
///
/// The caller's: a reduction over blocks of a grid or virtual threads, whose other axes depend on the same threads, with
/// anything between its loops, or that does not combine as said.
pub fn lower_cross_thread_reduction(module: &IrModule, facts: &TargetFacts) -> Result<IrModule, PassError> {
    if facts.thread_axes.is_empty() {
        return Ok(module.clone());
    }
    try_map_functions(module, |function| {
        let body = try_map_launches(&function.body, &mut |launch| {
            let mut lowerer = Lowerer {
                function,
                launch,
                threads: HashMap::new(),
                serial: Vec::new(),
                names: Substitution::new(),
            };
            lowerer.stmt(launch)
        })?;
        Ok(PrimFunc { body, ..function.clone() })
    })
}

struct Lowerer<'a> {
    function: &'a PrimFunc,
    launch: &'a Stmt,
    /// Variables of loops bound to threads.
    threads: HashMap<Var, ThreadAxis>,
    /// Variables of the other loops around, within the launch.
    serial: Vec<Var>,
    /// What names within the launch stand for.
    names: Substitution,
}

/// The loops from the outermost that reduces down to the block, and the block.
struct Nest<'a> {
    loops: Vec<&'a Stmt>,
    values: &'a [Expr],
    predicate: &'a Expr,
    block: &'a Arc<Block>,
}

impl<'a> Nest<'a> {
    fn of(stmt: &'a Stmt) -> Option<Self> {
        let mut loops = Vec::new();
        let mut inner = stmt;
        loop {
            match &inner.kind {
                // A note is kept where it is.
                StmtKind::For { body, .. } | StmtKind::Attr { body, .. } => {
                    loops.push(inner);
                    inner = body;
                }
                StmtKind::BlockRealize { iter_values, predicate, block } => {
                    return Some(Self { loops, values: iter_values, predicate, block });
                }
                _ => return None,
            }
        }
    }

    fn axes(&self, reduced: bool) -> impl Iterator<Item = (&'a IterVar, &'a Expr)> {
        let axes = self.block.iter_vars.iter().zip(self.values);
        axes.filter(move |(axis, _)| (axis.kind == IterKind::Reduce) == reduced)
    }
}

fn head(stmt: &Stmt) -> Option<(&Var, &Expr, &Expr, ForKind)> {
    match &stmt.kind {
        StmtKind::For { var, min, extent, kind, .. } => Some((var, min, extent, *kind)),
        _ => None,
    }
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
        if let Some(nest) = Nest::of(stmt) {
            let reduced = self.vars(nest.axes(true).map(|(_, value)| value.clone()));
            let mut bound = self.threads.clone();
            bound.extend(nest.loops.iter().filter_map(|stmt| match head(stmt)? {
                (var, _, _, ForKind::ThreadBinding(axis)) => Some((var.clone(), axis)),
                _ => None,
            }));
            let together: Vec<(Var, ThreadAxis)> =
                reduced.iter().filter_map(|var| Some((var.clone(), *bound.get(var)?))).collect();
            let starts = match stmt.kind {
                StmtKind::For { ref var, kind, .. } => {
                    !matches!(kind, ForKind::ThreadBinding(_)) && reduced.contains(var)
                }
                StmtKind::Attr { .. } => false,
                _ => true,
            };
            if !together.is_empty() && starts {
                return self.reduction(&nest, &reduced, together).map_err(|error| error.at(stmt.span));
            }
        }
        match &stmt.kind {
            StmtKind::For { var, kind: ForKind::ThreadBinding(axis), .. }
            | StmtKind::LaunchThread { var, axis, .. } => {
                self.threads.insert(var.clone(), *axis);
                self.children(stmt)
            }
            StmtKind::For { var, .. } => {
                self.serial.push(var.clone());
                let result = self.children(stmt);
                self.serial.pop();
                result
            }
            StmtKind::BlockRealize { iter_values, block, .. } => {
                for (axis, value) in block.iter_vars.iter().zip(iter_values) {
                    let value = self.names.expr(value);
                    self.names.map_var(&axis.var, value);
                }
                self.children(stmt)
            }
            StmtKind::Bind { var, value } if simplify::is_pure(value) && !depends_on_memory(value) => {
                let value = self.names.expr(value);
                self.names.map_var(var, value);
                Ok(stmt.clone())
            }
            _ => self.children(stmt),
        }
    }

    fn children(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| self.stmt(s))
    }

    fn reduction(
        &mut self,
        nest: &Nest<'_>,
        reduced: &HashSet<Var>,
        mut together: Vec<(Var, ThreadAxis)>,
    ) -> Result<Stmt, PassError> {
        let block = nest.block;
        together.sort_by_key(|(_, axis)| *axis);
        if let Some((_, axis)) = together.iter().find(|(_, axis)| *axis < ThreadAxis::ThreadX) {
            let message = format!(
                "expected threads of a block, found {axis}: blocks of a grid cannot wait for each other"
            );
            return Err(self.refuse(block, &message));
        }
        if let Some((_, axis)) = together.iter().find(|(_, axis)| *axis > ThreadAxis::ThreadZ) {
            let message = format!("expected threads of a block, found {axis}: make it a loop");
            return Err(self.refuse(block, &message));
        }
        if self.serial.iter().any(|var| reduced.contains(var)) {
            return Err(self.refuse(
                block,
                "expected nothing but loops between its outermost loop of reduction and the block; found other statements",
            ));
        }
        let spatial = self.vars(nest.axes(false).map(|(_, value)| value.clone()));
        if let Some(var) = spatial.iter().find(|var| reduced.contains(*var)) {
            let message = format!(
                "expected axes of its own for the reduction; found {}, which other axes depend on too: bind them to \
                 different loops",
                var.name
            );
            return Err(self.refuse(block, &message));
        }
        let combination = Combination::of(block).map_err(|message| self.refuse(block, &message))?;
        let own = Own::of(nest, reduced, &combination)
            .ok_or_else(|| self.refuse(block, "expected loops of constant extents within it"))?;
        let parts = [
            own.start(&combination),
            own.steps(nest, &combination),
            self.finish(nest, reduced, &together, &combination, &own)?,
        ];
        Ok(Stmt::new(StmtKind::BlockRealize {
            iter_values: Vec::new(),
            predicate: Expr::bool(true),
            block: Arc::new(Block {
                name: Arc::clone(&block.name),
                iter_vars: Vec::new(),
                reads: None,
                writes: None,
                init: None,
                alloc_buffers: own.buffers.clone(),
                match_buffers: Vec::new(),
                annotations: block.annotations.clone(),
                body: Stmt::seq(parts),
            }),
        }))
    }

    /// The threads' results combined, and written.
    fn finish(
        &mut self,
        nest: &Nest<'_>,
        reduced: &HashSet<Var>,
        together: &[(Var, ThreadAxis)],
        combination: &Combination,
        own: &Own,
    ) -> Result<Stmt, PassError> {
        let block = nest.block;
        let mut fresh = Substitution::new();
        let mut around: Vec<(Var, Expr, ForKind)> = Vec::new();
        let mut first = Substitution::new();
        let mut guard = Expr::bool(true);
        for (var, min, extent, kind) in nest.loops.iter().filter_map(|stmt| head(stmt)) {
            let is_thread = matches!(kind, ForKind::ThreadBinding(_));
            if is_thread || own.loops.iter().any(|(known, ..)| known == var) {
                let new = Var::new(Arc::clone(&var.name), var.dtype);
                fresh.map_var(var, new.expr());
                around.push((new, extent.clone(), if is_thread { kind } else { ForKind::Serial }));
            } else {
                first.map_var(var, min.clone());
                let some = Expr::compare(CompareOp::Gt, extent.clone(), Expr::int(0, extent.dtype));
                guard = simplify::expr(&guard.and(some));
            }
        }
        for (axis, value) in nest.block.iter_vars.iter().zip(nest.values) {
            first.map_var(&axis.var, value.clone());
        }
        let here: Vec<Expr> = together.iter().map(|(var, _)| fresh.expr(&var.expr())).collect();
        let mut at_first = Substitution::new();
        for (var, _) in together {
            at_first.map_var(var, Expr::int(0, var.dtype));
        }
        let predicate = self.when_first(nest, reduced, combination)?;
        let predicate = fresh.expr(&at_first.expr(&first.expr(&predicate)));
        let guard = simplify::expr(&guard.and(predicate));
        let index = own.index(&mut fresh);
        let loads: Vec<Expr> = own.buffers.iter().map(|own| Expr::load(own, index.clone())).collect();
        let n = Expr::int(loads.len() as i128, DType::UINT32);
        let args = [n].into_iter().chain(loads.iter().cloned()).chain([Expr::bool(true)]);
        let args: Vec<Expr> = args.chain(loads.iter().cloned()).chain(here.iter().cloned()).collect();
        let call = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadAllreduce, args, DType::HANDLE)));
        let mut stmts = vec![Stmt::new(StmtKind::Attr {
            node: AttrNode::Reducer(Arc::new(combination.reducer())),
            key: "reduce_scope".into(),
            value: Expr::i32(0),
            body: call,
        })];
        let mut mapped = |e: &Expr| fresh.expr(&first.expr(e));
        let mut writes_elsewhere = false;
        let mut by_one = Vec::new();
        for (at, part) in combination.parts.iter().enumerate() {
            let indices: Vec<Expr> = part.indices.iter().map(&mut mapped).collect();
            let value = mapped(&combination.result(at, &loads));
            let store = Stmt::store(&part.buffer, indices, value);
            if part.buffer.scope.rank == StorageRank::Local {
                stmts.push(if is_true(&guard) { store } else { Stmt::if_then(guard.clone(), store, None) });
            } else {
                writes_elsewhere |= part.buffer.scope.rank == StorageRank::Global;
                by_one.push(store);
            }
        }
        if !by_one.is_empty() {
            let zero = here.iter().map(|e| Expr::compare(CompareOp::Eq, e.clone(), Expr::int(0, e.dtype)));
            let is_first = zero.fold(guard, |all, zero| simplify::expr(&all.and(zero)));
            stmts.push(Stmt::if_then(is_first, Stmt::seq(by_one), None));
        }
        if writes_elsewhere && self.touched_elsewhere(block, combination) {
            stmts.push(barrier("shared"));
        }
        let body = around
            .into_iter()
            .rev()
            .fold(Stmt::seq(stmts), |body, (var, extent, kind)| Stmt::for_loop(var, extent, kind, body));
        Ok(body)
    }

    /// What of the predicate must hold for a result to be written: where the first iteration, which runs init, may run;
    /// without init, where any may.
    fn when_first(
        &mut self,
        nest: &Nest<'_>,
        reduced: &HashSet<Var>,
        combination: &Combination,
    ) -> Result<Expr, PassError> {
        if combination.has_init {
            return Ok(nest.predicate.clone());
        }
        let mut kept = Expr::bool(true);
        for condition in conjuncts(nest.predicate) {
            let vars = self.vars([condition.clone()]);
            if vars.iter().all(|var| !reduced.contains(var)) {
                kept = simplify::expr(&kept.and(condition));
            } else if !vars.iter().all(|var| reduced.contains(var)) {
                return Err(self.refuse(
                    nest.block,
                    "expected an init, or a predicate whose parts are about the reduction or about the other axes; found a \
                     part about both",
                ));
            }
        }
        Ok(kept)
    }

    /// Whether anything in the launch but the block touches the memory of its results.
    fn touched_elsewhere(&self, block: &Arc<Block>, combination: &Combination) -> bool {
        let results: HashSet<&Var> = combination.parts.iter().map(|part| &part.buffer.data).collect();
        touches(self.launch, block, &results)
    }
}

fn touches(stmt: &Stmt, but: &Arc<Block>, data: &HashSet<&Var>) -> bool {
    match &stmt.kind {
        StmtKind::BlockRealize { block, .. } if Arc::ptr_eq(block, but) => return false,
        StmtKind::Store { buffer, .. } if data.contains(&buffer.data) => return true,
        _ => {}
    }
    let mut found = false;
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(stmt) => found = found || touches(stmt, but, data),
        Child::Expr(expr) => expr.walk(&mut |e| {
            found |= match &e.kind {
                ExprKind::Load { buffer, .. } => data.contains(&buffer.data),
                ExprKind::Var(var) => data.contains(var),
                _ => false,
            };
        }),
    });
    found
}

fn is_true(expr: &Expr) -> bool {
    expr.as_int() == Some(1)
}

fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match &expr.kind {
        ExprKind::And(a, b) => conjuncts(a).into_iter().chain(conjuncts(b)).collect(),
        _ => vec![expr.clone()],
    }
}

/// What a thread combines on its own.
struct Own {
    buffers: Vec<Buffer>,
    /// The loops within the outermost of reduction that are not of the reduction: variable, first value, extent.
    loops: Vec<(Var, Expr, i128)>,
}

impl Own {
    fn of(nest: &Nest<'_>, reduced: &HashSet<Var>, combination: &Combination) -> Option<Self> {
        let mut loops = Vec::new();
        for (var, min, extent, kind) in nest.loops.iter().filter_map(|stmt| head(stmt)) {
            if !reduced.contains(var) && !matches!(kind, ForKind::ThreadBinding(_)) {
                loops.push((var.clone(), min.clone(), extent.as_int()?));
            }
        }
        let mut shape: Vec<Expr> = loops.iter().map(|(var, _, n)| Expr::int(*n, var.dtype)).collect();
        if shape.is_empty() {
            shape.push(Expr::i32(1));
        }
        let buffers = combination.parts.iter().map(|part| {
            let name = format!("{}_own", part.buffer.name);
            Buffer::new(name, shape.clone(), part.buffer.dtype, StorageScope::LOCAL)
        });
        Some(Self { buffers: buffers.collect(), loops })
    }

    fn index(&self, fresh: &mut Substitution) -> Vec<Expr> {
        if self.loops.is_empty() {
            return vec![Expr::i32(0)];
        }
        let at = self.loops.iter().map(|(var, min, _)| {
            let from_zero = var.expr() - min.clone();
            fresh.expr(&simplify::expr(&from_zero))
        });
        at.collect()
    }

    fn start(&self, combination: &Combination) -> Stmt {
        let mut fresh = Substitution::new();
        let mut loops = Vec::new();
        for (var, min, n) in &self.loops {
            let new = Var::new(Arc::clone(&var.name), var.dtype);
            fresh.map_var(var, new.expr() + min.clone());
            loops.push((new, Expr::int(*n, var.dtype)));
        }
        let index: Vec<Expr> = self.index(&mut fresh).iter().map(simplify::expr).collect();
        let stores = self.buffers.iter().zip(&combination.parts);
        let stores = stores.map(|(own, part)| Stmt::store(own, index.clone(), part.start.clone()));
        loops
            .into_iter()
            .rev()
            .fold(Stmt::seq(stores), |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body))
    }

    /// The loops and the block as they were, on the thread's own memory.
    fn steps(&self, nest: &Nest<'_>, combination: &Combination) -> Stmt {
        let index = self.index(&mut Substitution::new());
        let body = combination.on(&self.buffers, &index, &nest.block.body);
        let axes = nest.block.iter_vars.iter().map(|axis| match axis.kind {
            IterKind::Reduce => IterVar { kind: IterKind::Opaque, ..axis.clone() },
            _ => axis.clone(),
        });
        let block = Block {
            iter_vars: axes.collect(),
            reads: None,
            writes: None,
            init: None,
            annotations: Attrs::new(),
            body,
            ..(**nest.block).clone()
        };
        let realize = Stmt::new(StmtKind::BlockRealize {
            iter_values: nest.values.to_vec(),
            predicate: nest.predicate.clone(),
            block: Arc::new(block),
        });
        nest.loops
            .iter()
            .rev()
            .fold(realize, |body, stmt| stmt.map_children(&mut Expr::clone, &mut |_| body.clone()))
    }
}
