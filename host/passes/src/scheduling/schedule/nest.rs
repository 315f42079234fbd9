//! Places in a function: finding loops and blocks, and replacing them.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::{
    Attrs, BinaryOp, Block, Child, Expr, ExprKind, ForKind, Param, PrimFunc, Stmt, StmtKind, Var,
};

use super::{BlockRef, LoopRef, ScheduleError};
use crate::simplify::{self, Ranges, leaves_loop};
use crate::walk::{conjuncts, depends_on_memory};

/// A loop's parts.
#[derive(Clone, Copy)]
pub(super) struct Loop<'a> {
    pub(super) var: &'a Var,
    pub(super) min: &'a Expr,
    pub(super) extent: &'a Expr,
    pub(super) kind: ForKind,
    pub(super) step: Option<&'a Expr>,
    pub(super) annotations: &'a Attrs,
    pub(super) body: &'a Stmt,
}

impl<'a> Loop<'a> {
    pub(super) fn from_stmt(stmt: &'a Stmt) -> Option<Self> {
        match &stmt.kind {
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                Some(Self { var, min, extent, kind: *kind, step: step.as_ref(), annotations, body })
            }
            _ => None,
        }
    }

    /// The variable's value at a number of iterations from the start.
    pub(super) fn value_at(&self, iteration: Expr) -> Expr {
        let steps = match self.step {
            Some(step) if step.as_int() != Some(1) => iteration * step.clone(),
            _ => iteration,
        };
        if self.min.as_int() == Some(0) { steps } else { self.min.clone() + steps }
    }

    /// The bounds do not change while the loops around run, nor read memory.
    pub(super) fn has_plain_bounds(&self) -> bool {
        !depends_on_memory(self.min) && !depends_on_memory(self.extent)
    }
}

/// A block with its values.
#[derive(Clone, Copy)]
pub(super) struct Realized<'a> {
    pub(super) values: &'a [Expr],
    pub(super) predicate: &'a Expr,
    pub(super) block: &'a Arc<Block>,
}

impl<'a> Realized<'a> {
    pub(super) fn from_stmt(stmt: &'a Stmt) -> Option<Self> {
        match &stmt.kind {
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                Some(Self { values: iter_values, predicate, block })
            }
            _ => None,
        }
    }
}

/// A statement with those around it: the outermost first, itself last; never empty.
pub(super) struct StmtPath {
    stmts: Vec<Stmt>,
}

impl StmtPath {
    fn find(body: &Stmt, wanted: &dyn Fn(&Stmt) -> bool) -> Option<Self> {
        fn search(stmt: &Stmt, wanted: &dyn Fn(&Stmt) -> bool, path: &mut Vec<Stmt>) -> bool {
            path.push(stmt.clone());
            let mut found = wanted(stmt);
            stmt.for_each_child(&mut |child| {
                if let Child::Stmt(inner) = child {
                    found = found || search(inner, wanted, path);
                }
            });
            if !found {
                path.pop();
            }
            found
        }
        let mut stmts = Vec::new();
        search(body, wanted, &mut stmts).then_some(Self { stmts })
    }

    /// The place of a loop.
    pub(super) fn of_loop(function: &PrimFunc, of: &LoopRef) -> Result<Self, ScheduleError> {
        let is = |stmt: &Stmt| Loop::from_stmt(stmt).is_some_and(|found| *found.var == of.0);
        Self::find(&function.body, &is).ok_or_else(|| {
            let name = &of.0.name;
            ScheduleError::new(format!(
                "loop \"{name}\" no longer exists: a step has replaced it; use the loops that this step \
                 returned, or get_loops"
            ))
        })
    }

    /// The place of a block.
    pub(super) fn of_block(function: &PrimFunc, block: &BlockRef) -> Result<Self, ScheduleError> {
        let is = |stmt: &Stmt| Realized::from_stmt(stmt).is_some_and(|found| found.block.name == block.0);
        Self::find(&function.body, &is).ok_or_else(|| {
            let names = block_names(&function.body).join(", ");
            ScheduleError::new(format!("there is no block \"{}\"; the blocks are: {names}", block.0))
        })
    }

    /// The statement itself.
    pub(super) fn stmt(&self) -> &Stmt {
        &self.stmts[self.stmts.len() - 1]
    }

    /// The loop at this place.
    pub(super) fn as_loop(&self) -> Result<Loop<'_>, ScheduleError> {
        Loop::from_stmt(self.stmt())
            .ok_or_else(|| ScheduleError::new("internal error, please report it: no loop here"))
    }

    /// The block at this place.
    pub(super) fn as_block(&self) -> Result<Realized<'_>, ScheduleError> {
        Realized::from_stmt(self.stmt())
            .ok_or_else(|| ScheduleError::new("internal error, please report it: no block here"))
    }

    /// The statements around this one, outermost first.
    pub(super) fn around(&self) -> &[Stmt] {
        &self.stmts[..self.stmts.len() - 1]
    }

    /// This statement and those around it, outermost first.
    pub(super) fn path(&self) -> &[Stmt] {
        &self.stmts
    }

    /// The place of a statement of the path, by number.
    pub(super) fn at_depth(&self, depth: usize) -> Self {
        Self { stmts: self.stmts[..=depth.min(self.stmts.len() - 1)].to_vec() }
    }

    /// The statements from below `outer` (not included) down to this one (included); `None` if it
    /// is not within.
    pub(super) fn below(&self, outer: &Stmt) -> Option<&[Stmt]> {
        let at = self.stmts.iter().position(|stmt| stmt.same(outer))?;
        Some(&self.stmts[at + 1..])
    }

    /// The conditions of the branches from below `outer` down to this statement, negated where it
    /// is in the other branch.
    pub(super) fn branches(&self, outer: &Stmt) -> Vec<Expr> {
        let below = self.below(outer).unwrap_or_default();
        let conditions = below.iter().zip(below.iter().skip(1)).filter_map(|(stmt, next)| match &stmt.kind {
            StmtKind::If { condition, then, .. } if then.same(next) => Some(condition.clone()),
            StmtKind::If { condition, .. } => Some(condition.clone().logical_not()),
            _ => None,
        });
        conditions.flat_map(|condition| parts(&condition)).collect()
    }

    /// The loops around this statement up to the block around it, outermost first.
    pub(super) fn loops(&self) -> Vec<&Stmt> {
        let around = self.around();
        let start =
            around.iter().rposition(|stmt| Realized::from_stmt(stmt).is_some()).map_or(0, |at| at + 1);
        around[start..].iter().filter(|stmt| Loop::from_stmt(stmt).is_some()).collect()
    }

    /// The function with another statement at this place.
    pub(super) fn replaced(&self, function: &PrimFunc, new: Stmt) -> PrimFunc {
        let mut new = new;
        for pair in self.stmts.windows(2).rev() {
            let [outer, inner] = pair else { continue };
            let outer_new = match &outer.kind {
                // Spliced, so that what a sequence binds is in scope of what follows it.
                StmtKind::Seq(stmts) => {
                    Stmt::seq(stmts.iter().map(|s| if s.same(inner) { new.clone() } else { s.clone() }))
                        .with_span(outer.span)
                }
                _ => outer.map_children(&mut Expr::clone, &mut |s| {
                    if s.same(inner) { new.clone() } else { s.clone() }
                }),
            };
            new = outer_new;
        }
        PrimFunc { body: new, ..function.clone() }
    }

    /// Ranges of the sizes of the function and of the loops around this statement; its own too, if
    /// it is one.
    pub(super) fn ranges(&self, function: &PrimFunc) -> Ranges {
        let mut ranges = sizes(function);
        for stmt in &self.stmts {
            add_range(&mut ranges, stmt);
        }
        ranges
    }
}

/// Adds the range of the loop's variable, or of a block's axes.
pub(super) fn add_range(ranges: &mut Ranges, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::For { var, min, extent, step, .. } => ranges.set_loop(var, min, extent, step.as_ref()),
        StmtKind::LaunchThread { var, extent, .. } => {
            ranges.set_loop(var, &Expr::int(0, var.dtype), extent, None);
        }
        StmtKind::BlockRealize { block, .. } => {
            for axis in &block.iter_vars {
                ranges.set_loop(&axis.var, &axis.min, &axis.extent, None);
            }
        }
        _ => {}
    }
}

/// The number of iterations or indices that an extent stands for: a negative one is of none.
pub(super) fn at_least_zero(extent: &Expr, ranges: &Ranges) -> Expr {
    if ranges.of(extent).0 >= 0 {
        return extent.clone();
    }
    let zero = Expr::int(0, extent.dtype);
    simplify::expr_with(&Expr::binary(BinaryOp::Max, extent.clone(), zero), ranges)
}

/// Everything that a statement binds: names, loops, axes of blocks, names within expressions.
pub(super) fn bound_in(stmt: &Stmt) -> HashSet<Var> {
    let mut bound = HashSet::new();
    stmt.walk(&mut |child| match child {
        Child::Stmt(stmt) => match &stmt.kind {
            StmtKind::Bind { var, .. } | StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } => {
                bound.insert(var.clone());
            }
            StmtKind::BlockRealize { block, .. } => {
                bound.extend(block.iter_vars.iter().map(|axis| axis.var.clone()));
            }
            _ => {}
        },
        Child::Expr(expr) => expr.walk(&mut |e| {
            if let ExprKind::Let { var, .. } = &e.kind {
                bound.insert(var.clone());
            }
        }),
    });
    bound
}

/// Ranges of the sizes that parameters bind: extents are not negative (rule IR-B1 of the IR).
pub(super) fn sizes(function: &PrimFunc) -> Ranges {
    let mut ranges = Ranges::new();
    for param in &function.params {
        let Param::Buffer(buffer) = param else { continue };
        for extent in &buffer.shape {
            if let (ExprKind::Var(var), Some((_, most))) = (&extent.kind, extent.dtype.integer_range()) {
                ranges.set(var, 0, most);
            }
        }
    }
    ranges
}

/// Names of the blocks of a statement, outer ones first.
pub(super) fn block_names(body: &Stmt) -> Vec<Arc<str>> {
    let mut names = Vec::new();
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let Some(realized) = Realized::from_stmt(stmt)
        {
            names.push(Arc::clone(&realized.block.name));
        }
    });
    names
}

/// Names for new blocks.
pub(super) struct Names {
    taken: HashSet<Arc<str>>,
}

impl Names {
    pub(super) fn collect(function: &PrimFunc) -> Self {
        Self { taken: block_names(&function.body).into_iter().collect() }
    }

    /// A name that no block has yet: the given one if possible, or with a number.
    pub(super) fn fresh(&mut self, wanted: &str) -> Arc<str> {
        let mut name: Arc<str> = wanted.into();
        let mut number = 1;
        while !self.taken.insert(Arc::clone(&name)) {
            name = format!("{wanted}_{number}").into();
            number += 1;
        }
        name
    }
}

/// The function with a different name for each block: of several blocks with one name, the first
/// keeps it.
pub(super) fn with_unique_names(function: &PrimFunc) -> PrimFunc {
    let all = block_names(&function.body);
    let mut seen = HashSet::new();
    if all.iter().all(|name| seen.insert(Arc::clone(name))) {
        return function.clone();
    }
    let mut names = Names { taken: seen };
    let mut met = HashSet::new();
    let body = renamed(&function.body, &mut |name| {
        if met.insert(Arc::clone(name)) { Arc::clone(name) } else { names.fresh(name) }
    });
    PrimFunc { body, ..function.clone() }
}

/// The statement with other names of blocks, asked for in order, outer blocks first.
pub(super) fn renamed(stmt: &Stmt, name: &mut dyn FnMut(&Arc<str>) -> Arc<str>) -> Stmt {
    let new = match &stmt.kind {
        StmtKind::BlockRealize { iter_values, predicate, block } => {
            let block = Block { name: name(&block.name), ..Block::clone(block) };
            let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
            Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) })
                .with_span(stmt.span)
        }
        _ => stmt.clone(),
    };
    new.map_children(&mut Expr::clone, &mut |s| renamed(s, name))
}

/// The conjunction, without parts that are `true`.
pub(super) fn both(a: Expr, b: Expr) -> Expr {
    match (a.as_int(), b.as_int()) {
        (Some(1), _) => b,
        (_, Some(1)) => a,
        _ => a.and(b),
    }
}

/// The parts of a conjunction, without those that are `true`.
pub(super) fn parts(condition: &Expr) -> Vec<Expr> {
    conjuncts(condition).into_iter().filter(|part| !matches!(part.kind, ExprKind::Int(1))).collect()
}

/// The conjunction of conditions.
pub(super) fn all_of(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().fold(Expr::bool(true), both)
}

/// The statement, run only where the guard holds: by the predicates of its blocks if it consists of
/// loops and blocks.
pub(super) fn guarded(stmt: &Stmt, guard: &Expr) -> Stmt {
    if guard.as_int() == Some(1) {
        return stmt.clone();
    }
    if is_of_blocks(stmt) {
        within_blocks(stmt, guard)
    } else {
        Stmt::if_then(guard.clone(), stmt.clone(), None)
    }
}

/// Nothing but loops, sequences, allocations, and blocks.
fn is_of_blocks(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Seq(stmts) => stmts.iter().all(is_of_blocks),
        StmtKind::For { body, .. } => {
            Loop::from_stmt(stmt).is_some_and(|l| l.has_plain_bounds()) && is_of_blocks(body)
        }
        StmtKind::BlockRealize { .. } | StmtKind::AllocBuffer { .. } => true,
        _ => false,
    }
}

fn within_blocks(stmt: &Stmt, guard: &Expr) -> Stmt {
    match &stmt.kind {
        StmtKind::BlockRealize { iter_values, predicate, block } => Stmt::new(StmtKind::BlockRealize {
            iter_values: iter_values.clone(),
            predicate: both(guard.clone(), predicate.clone()),
            block: Arc::clone(block),
        })
        .with_span(stmt.span),
        _ => stmt.map_children(&mut Expr::clone, &mut |s| within_blocks(s, guard)),
    }
}

/// Checks that a loop is serial and has no annotations, as a step needs that replaces it.
pub(super) fn expect_plain(of: &Loop<'_>) -> Result<(), ScheduleError> {
    if of.kind != ForKind::Serial {
        return Err(ScheduleError::new(format!(
            "loop \"{}\" is {}, expected a serial one: make this step before the loop's kind is set",
            of.var.name,
            kind_name(of.kind)
        )));
    }
    if let Some(key) = of.annotations.keys().next() {
        return Err(ScheduleError::new(format!(
            "loop \"{}\" has the annotation \"{key}\", which would be lost: annotate the new loops instead",
            of.var.name
        )));
    }
    if leaves_loop(of.body) {
        return Err(ScheduleError::new(format!(
            "loop \"{}\" is left by break or continue, and so it stays as it is",
            of.var.name
        )));
    }
    Ok(())
}

fn kind_name(kind: ForKind) -> &'static str {
    match kind {
        ForKind::Serial => "serial",
        ForKind::Parallel => "parallel",
        ForKind::Vectorized => "vectorized",
        ForKind::Unrolled => "unrolled",
        ForKind::ThreadBinding(_) => "bound to a thread axis",
    }
}
