//! Reductions in parts: the init apart from the updates, and partial results.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, BinaryOp, Block, Buffer, CompareOp, Expr, ExprKind, ForKind, IterKind, IterVar, PrimFunc, Stmt,
    StmtKind, Var,
};

use super::access::{Element, Facts};
use super::args::Args;
use super::find::TouchedData;
use super::independent::by_axes;
use super::nest::{Loop, Names, Realized, StmtPath, all_of, parts};
use super::{BlockRef, Handle, LoopRef, Made, Schedule, ScheduleError};
use crate::scheduling::default_schedule::nest::Head;
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

impl Schedule {
    /// Makes the init of a reduction a block of its own, in loops of its own before `of`; returns
    /// it.
    ///
    /// # Errors
    ///
    /// The block has no init, or is not directly nested in loops under `of`; a loop outside of `of`
    /// drives the reduction; the axes of the reduction do not count up from their start along the
    /// loops; other statements under `of` touch what the init touches.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.decompose_reduction`, which renames the block to `C_update`; here it keeps
    /// its name.
    pub fn decompose_reduction(&mut self, block: &BlockRef, of: &LoopRef) -> Result<BlockRef, ScheduleError> {
        let args = Args::new().with(block).with(of);
        self.run_one("decompose_reduction", args, |function| decompose(function, block, of))
    }

    /// Computes partial results of a reduction, one for each iteration of a loop of it, and then
    /// combines them.
    ///
    /// The partial results lie in a new buffer with an axis for the loop, at the position
    /// `factor_axis` among those of the output; a negative one counts from the end. The block that
    /// computes them takes the place of the old one in its loops, and is returned; the old one, in
    /// loops of its own after them, combines the results.
    ///
    /// # Errors
    ///
    /// The block is not alone in its loops, has no init, or does not consist of one
    /// `C[..] = C[..] op x` with `+`, `*`, `min` or `max`; the loop drives other than reduction
    /// axes; the extent of the loop depends on other loops; the predicate may hold again along the
    /// reduction after it does not; the position is none.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.rfactor`.
    pub fn rfactor(&mut self, of: &LoopRef, factor_axis: i64) -> Result<BlockRef, ScheduleError> {
        let args = Args::new().with(of).with(factor_axis);
        self.run_one("rfactor", args, |function| rfactor(function, of, factor_axis))
    }
}

/// A reduction block directly nested in loops, from a given one on.
struct Reduction<'a> {
    block: Realized<'a>,
    /// The loops from the given one down to the block, outermost first.
    loops: Vec<Loop<'a>>,
    /// Those that drive axes of the reduction.
    reducing: HashSet<Var>,
    ranges: Ranges,
    all: Vec<Loop<'a>>,
}

impl<'a> Reduction<'a> {
    fn new(function: &PrimFunc, outer: &StmtPath, place: &'a StmtPath) -> Result<Self, ScheduleError> {
        let block = place.as_block()?;
        let name = &block.block.name;
        let refused = |message: String| Err(ScheduleError::new(format!("block \"{name}\" {message}")));
        let top = &outer.as_loop()?.var.name;
        let Some(below) = place.below(outer.stmt()) else {
            return refused(format!("is not under loop \"{top}\""));
        };
        if block.block.init.is_none() {
            return refused(
                "has no init: it is no reduction, or its init is a block of its own already".to_owned(),
            );
        }
        let inner = &below[..below.len() - 1];
        if !inner.iter().all(|stmt| matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Seq(_))) {
            return refused(format!("stands in a branch or another block under loop \"{top}\""));
        }
        let start = place.around().len() - below.len();
        let loops: Vec<Loop<'a>> = place.around()[start..].iter().filter_map(Loop::from_stmt).collect();
        let all: Vec<Loop<'a>> = place.around().iter().filter_map(Loop::from_stmt).collect();
        let ranges = place.ranges(function);
        let axes = || block.block.iter_vars.iter().zip(block.values);
        let mut reducing = HashSet::new();
        for (axis, value) in axes().filter(|(axis, _)| axis.kind == IterKind::Reduce) {
            let offset = simplify::expr_with(&(value.clone() - axis.min.clone()), &ranges);
            for var in vars_of(&offset) {
                if let Some(outside) = all.iter().find(|of| *of.var == var)
                    && !loops.iter().any(|of| of.var == outside.var)
                {
                    return refused(format!(
                        "is reduced along loop \"{}\" too, which is outside of loop \"{top}\"",
                        outside.var.name
                    ));
                }
            }
            let sum = Linear::of(&offset);
            let counts = sum.constant == 0
                && sum.terms.iter().all(|(term, factor)| {
                    *factor > 0 && loops.iter().any(|of| *term == of.var.expr() && of.min.as_int() == Some(0))
                });
            if !counts {
                let axis = &axis.var.name;
                return refused(format!("does not count axis \"{axis}\" up from its start along the loops"));
            }
            reducing.extend(sum.terms.iter().flat_map(|(term, _)| vars_of(term)));
        }
        let mixed = axes().find(|(axis, value)| {
            axis.kind != IterKind::Reduce && vars_of(value).iter().any(|var| reducing.contains(var))
        });
        if let Some((axis, _)) = mixed {
            return refused(format!(
                "has axis \"{}\", which a loop of the reduction drives too",
                axis.var.name
            ));
        }
        let this = Self { block, loops, reducing, ranges, all };
        this.expect_once()?;
        Ok(this)
    }

    /// The other loops run the block once for each value of its spatial axes.
    fn expect_once(&self) -> Result<(), ScheduleError> {
        let name = &self.block.block.name;
        let heads: Vec<Head> = self
            .loops
            .iter()
            .filter_map(|of| {
                let empty = Stmt::for_loop(of.var.clone(), of.extent.clone(), ForKind::Serial, Stmt::nop());
                Head::from_stmt(&empty).map(|(head, _)| head)
            })
            .collect();
        let known = by_axes(&heads, &Stmt::nop(), &self.block, &self.ranges);
        let repeats = self.spatial().find(|of| of.extent.as_int() != Some(1) && !known.contains(of.var));
        match repeats {
            Some(of) => Err(ScheduleError::new(format!(
                "block \"{name}\" may run again for the same values of its spatial axes in another iteration of loop \
                 \"{}\"",
                of.var.name
            ))),
            None => Ok(()),
        }
    }

    fn spatial(&self) -> impl Iterator<Item = &Loop<'a>> {
        self.loops.iter().filter(|of| !self.reducing.contains(of.var))
    }

    fn reductions(&self) -> impl Iterator<Item = &Loop<'a>> {
        self.loops.iter().filter(|of| self.reducing.contains(of.var))
    }

    /// Loops of the reduction at their first iteration, but for `except`.
    fn at_start(&self, except: Option<&Var>) -> Substitution {
        let mut substitution = Substitution::new();
        for of in self.reductions().filter(|of| Some(of.var) != except) {
            substitution.map_var(of.var, of.min.clone());
        }
        substitution
    }

    /// The condition that the first iteration of the loops of the reduction, but for `except`,
    /// runs.
    fn runs(&self, except: Option<&Var>) -> Expr {
        let facts = Facts { conditions: Vec::new(), loops: self.all.clone(), ranges: &self.ranges };
        let mut start = self.at_start(except);
        let some = self
            .reductions()
            .filter(|of| Some(of.var) != except && !facts.is_positive(of.extent))
            .map(|of| Expr::compare(CompareOp::Gt, of.extent.clone(), Expr::int(0, of.extent.dtype)));
        let all = all_of(some.chain(parts(self.block.predicate)));
        simplify::expr_with(&start.expr(&all), &self.ranges)
    }

    /// Fresh copies of loops around a statement, of which they are the variables.
    fn around<'b>(&self, loops: impl Iterator<Item = &'b Loop<'a>>, body: Stmt) -> Stmt
    where
        'a: 'b,
    {
        let loops: Vec<&Loop<'a>> = loops.collect();
        let nest = loops.into_iter().rev().fold(body, |body, of| {
            Stmt::new(StmtKind::For {
                var: of.var.clone(),
                min: of.min.clone(),
                extent: of.extent.clone(),
                kind: of.kind,
                step: of.step.cloned(),
                annotations: Attrs::new(),
                body,
            })
        });
        Substitution::new().fresh().stmt(&nest)
    }

    fn refused<T>(&self, message: impl std::fmt::Display) -> Result<T, ScheduleError> {
        Err(ScheduleError::new(format!("block \"{}\" {message}", self.block.block.name)))
    }

    /// The bounds of the loops that are copied do not depend on loops of the reduction.
    fn expect_bounds(&self) -> Result<(), ScheduleError> {
        for of in self.spatial() {
            let used: HashSet<Var> = vars_of(of.min).into_iter().chain(vars_of(of.extent)).collect();
            if let Some(var) = used.iter().find(|var| self.reducing.contains(*var)) {
                return self.refused(format!(
                    "is in loop \"{}\", whose bounds depend on loop \"{}\" of the reduction",
                    of.var.name, var.name
                ));
            }
            if !of.has_plain_bounds() {
                return self.refused(format!("is in loop \"{}\", whose bounds read memory", of.var.name));
            }
        }
        Ok(())
    }

    /// The spatial axes with their values.
    fn spatial_axes(&self) -> (Vec<IterVar>, Vec<Expr>) {
        let axes = self.block.block.iter_vars.iter().zip(self.block.values);
        axes.filter(|(axis, _)| axis.kind != IterKind::Reduce).map(|(a, v)| (a.clone(), v.clone())).unzip()
    }
}

/// A block without buffers, annotations and declared regions.
pub(super) fn plain_block(name: Arc<str>, iter_vars: Vec<IterVar>, init: Option<Stmt>, body: Stmt) -> Block {
    Block {
        name,
        iter_vars,
        reads: None,
        writes: None,
        init,
        alloc_buffers: Vec::new(),
        match_buffers: Vec::new(),
        annotations: Attrs::new(),
        body,
    }
}

fn decompose(function: &PrimFunc, block: &BlockRef, of: &LoopRef) -> Made {
    let (outer, place) = (StmtPath::of_loop(function, of)?, StmtPath::of_block(function, block)?);
    let reduction = Reduction::new(function, &outer, &place)?;
    reduction.expect_bounds()?;
    let old = reduction.block.block;
    let Some(init) = &old.init else { return reduction.refused("has no init") };
    if !old.match_buffers.is_empty() || !old.alloc_buffers.is_empty() {
        return reduction.refused("has buffers or views of its own, which its init may use");
    }
    expect_apart(&reduction, &outer, &place, init)?;
    let runs = reduction.runs(None);
    if depends_on_memory(&runs) {
        return reduction.refused("has a predicate, or loops with bounds, that read memory");
    }
    let name = Names::collect(function).fresh(&format!("{}_init", old.name));
    let (iter_vars, iter_values) = reduction.spatial_axes();
    let new = plain_block(Arc::clone(&name), iter_vars, None, init.clone());
    let realized = Stmt::new(StmtKind::BlockRealize { iter_values, predicate: runs, block: Arc::new(new) });
    let nest = reduction.around(reduction.spatial(), realized);
    let update = Block { init: None, ..Block::clone(old) };
    let update = Stmt::new(StmtKind::BlockRealize {
        iter_values: reduction.block.values.to_vec(),
        predicate: reduction.block.predicate.clone(),
        block: Arc::new(update),
    });
    let changed = place.replaced(function, update);
    let outer = StmtPath::of_loop(&changed, of)?;
    let both = Stmt::seq([nest, outer.stmt().clone()]);
    Ok((outer.replaced(&changed, both), vec![Handle::Block(BlockRef(name))]))
}

/// Other statements under the loop do not touch what the init touches.
fn expect_apart(
    reduction: &Reduction<'_>,
    outer: &StmtPath,
    place: &StmtPath,
    init: &Stmt,
) -> Result<(), ScheduleError> {
    let mut rest = outer.stmt().clone();
    if let Some(below) = place.below(outer.stmt()) {
        rest = without(&rest, &below[below.len() - 1]);
    }
    let (others, own) = (TouchedData::of_stmt(&rest), TouchedData::of_stmt(init));
    let touched = own.written.iter().find(|var| others.read.contains(*var) || others.written.contains(*var));
    let changed = own.read.iter().find(|var| others.written.contains(*var));
    match touched.or(changed) {
        Some(var) => reduction.refused(format!(
            "is not alone: another statement under the loop touches buffer \"{}\", which its init uses",
            var.name
        )),
        None => Ok(()),
    }
}

fn without(stmt: &Stmt, removed: &Stmt) -> Stmt {
    if stmt.same(removed) {
        return Stmt::nop();
    }
    stmt.map_children(&mut Expr::clone, &mut |s| without(s, removed))
}

/// `C[..] = C[..] op x`, or with the sides exchanged.
struct Update {
    element: Element,
    op: BinaryOp,
    term: Expr,
    own_first: bool,
}

impl Update {
    fn from_block(block: &Block) -> Option<Self> {
        let StmtKind::Store { buffer, indices, value, predicate: None } = &block.body.kind else {
            return None;
        };
        let ExprKind::Binary(op, a, b) = &value.kind else { return None };
        let known = matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max);
        let own = Expr::load(buffer, indices.clone());
        let (term, own_first) = if *a == own { (b, true) } else { (a, false) };
        let others = super::access::loads(&Stmt::new(StmtKind::Evaluate(term.clone())));
        let fine = known
            && (own_first || *b == own)
            && value.dtype.is_scalar()
            && others.iter().all(|load| load.buffer.data != buffer.data);
        let element = Element { buffer: buffer.clone(), indices: indices.clone() };
        fine.then(|| Self { element, op: *op, term: term.clone(), own_first })
    }

    fn combined(&self, own: Expr, term: Expr) -> Expr {
        let (a, b) = if self.own_first { (own, term) } else { (term, own) };
        Expr::binary(self.op, a, b)
    }

    /// The identity of the operator; -0.0 plus 0.0 is 0.0.
    fn identity(&self) -> Expr {
        let dtype = self.element.buffer.dtype;
        let (least, most) = dtype.integer_range().unwrap_or_default();
        match (self.op, dtype.is_float()) {
            (BinaryOp::Mul, _) => Expr::constant(1, dtype),
            (BinaryOp::Min, true) => Expr::float(f64::INFINITY, dtype),
            (BinaryOp::Max, true) => Expr::float(f64::NEG_INFINITY, dtype),
            (BinaryOp::Min, false) => Expr::int(most, dtype),
            (BinaryOp::Max, false) => Expr::int(least, dtype),
            (_, true) => Expr::float(-0.0, dtype),
            (_, false) => Expr::int(0, dtype),
        }
    }
}

/// What the two blocks share.
struct Factoring<'a> {
    reduction: &'a Reduction<'a>,
    update: Update,
    of: Loop<'a>,
    /// The partial results.
    buffer: Buffer,
    position: usize,
}

fn rfactor(function: &PrimFunc, of: &LoopRef, factor_axis: i64) -> Made {
    let factored = StmtPath::of_loop(function, of)?;
    let block = only_block_under(&factored)?;
    let place = StmtPath::of_block(function, &block)?;
    let outermost =
        place.loops().first().and_then(|stmt| Loop::from_stmt(stmt)).map(|l| LoopRef(l.var.clone()));
    let outer = StmtPath::of_loop(function, outermost.as_ref().unwrap_or(of))?;
    let reduction = Reduction::new(function, &outer, &place)?;
    reduction.expect_bounds()?;
    let old = reduction.block.block;
    if place.below(outer.stmt()).unwrap_or_default().iter().any(|stmt| matches!(stmt.kind, StmtKind::Seq(_)))
    {
        return reduction.refused("is not alone in its loops");
    }
    if !reduction.reducing.contains(&of.0) {
        return reduction.refused(format!("has no reduction axis that loop \"{}\" drives", of.0.name));
    }
    let Some(update) = Update::from_block(old) else {
        return reduction.refused(
            "is not one reduction C[..] = C[..] op x with +, *, min or max, where x reads nothing of C",
        );
    };
    let factoring = Factoring::new(&reduction, update, factored.as_loop()?, factor_axis)?;
    factoring.expect_predicate()?;
    let name = Names::collect(function).fresh(&format!("{}_rf", old.name));
    let partial = factoring.partial(Arc::clone(&name));
    let nest = [partial, factoring.whole()];
    let buffer = factoring.buffer.clone();
    let partial_place = place.replaced(function, nest[0].clone());
    let outer = StmtPath::of_loop(&partial_place, outermost.as_ref().unwrap_or(of))?;
    let both = Stmt::seq([outer.stmt().clone(), nest[1].clone()]);
    let mut function = outer.replaced(&partial_place, both);
    allocate(&mut function, &place, buffer)?;
    Ok((function, vec![Handle::Block(BlockRef(name))]))
}

/// Allocates a buffer in the block around a place, or for the whole function.
pub(super) fn allocate(
    function: &mut PrimFunc,
    place: &StmtPath,
    buffer: Buffer,
) -> Result<(), ScheduleError> {
    let around = place.around().iter().rev().find_map(Realized::from_stmt);
    if let Some(around) = around {
        let inside = StmtPath::of_block(function, &BlockRef(Arc::clone(&around.block.name)))?;
        let found = inside.as_block()?;
        let mut block = Block::clone(found.block);
        block.alloc_buffers.push(buffer);
        let new = Stmt::new(StmtKind::BlockRealize {
            iter_values: found.values.to_vec(),
            predicate: found.predicate.clone(),
            block: Arc::new(block),
        });
        *function = inside.replaced(function, new);
    } else if function.s_tir {
        function.alloc_buffers.push(buffer);
    } else {
        let allocation = Stmt::new(StmtKind::AllocBuffer { buffer, annotations: Attrs::new() });
        function.body = Stmt::seq([allocation, function.body.clone()]);
    }
    Ok(())
}

fn only_block_under(place: &StmtPath) -> Result<BlockRef, ScheduleError> {
    match super::independent::only_block(place.as_loop()?.body) {
        Some(block) => Ok(BlockRef(Arc::clone(&block.block.name))),
        None => Err(ScheduleError::new(format!(
            "loop \"{}\" has other statements under it than loops around one block",
            place.as_loop()?.var.name
        ))),
    }
}

impl<'a> Factoring<'a> {
    fn new(
        reduction: &'a Reduction<'a>,
        update: Update,
        of: Loop<'a>,
        factor_axis: i64,
    ) -> Result<Self, ScheduleError> {
        let rank = update.element.buffer.shape.len();
        let count = i64::try_from(rank + 1).unwrap_or(i64::MAX);
        let position = if factor_axis < 0 { factor_axis + count } else { factor_axis };
        let Some(position) = usize::try_from(position).ok().filter(|position| *position <= rank) else {
            return Err(ScheduleError::new(format!(
                "factor_axis {factor_axis}: expected a position among {count} axes"
            )));
        };
        let used: HashSet<Var> =
            update.element.buffer.shape.iter().chain([of.extent]).flat_map(vars_of).collect();
        if let Some(other) = reduction.all.iter().find(|other| used.contains(other.var)) {
            return Err(ScheduleError::new(format!(
                "the extent of loop \"{}\", or of the output, depends on loop \"{}\"",
                of.var.name, other.var.name
            )));
        }
        let old = &update.element.buffer;
        let mut shape = old.shape.clone();
        let extent = Expr::binary(BinaryOp::Max, of.extent.clone(), Expr::int(0, of.extent.dtype));
        shape.insert(position, simplify::expr_with(&extent, &reduction.ranges));
        let buffer = Buffer::new(format!("{}_rf", old.name), shape, old.dtype, old.scope.clone());
        Ok(Self { reduction, update, of, buffer, position })
    }

    /// Along the reduction, once the predicate does not hold, it holds no more.
    fn expect_predicate(&self) -> Result<(), ScheduleError> {
        let reducing = &self.reduction.reducing;
        for part in parts(self.reduction.block.predicate) {
            if vars_of(&part).is_disjoint(reducing) {
                continue;
            }
            let ends = match &part.kind {
                ExprKind::Compare(CompareOp::Lt | CompareOp::Le, a, b) => {
                    let difference = Linear::of(a).minus(&Linear::of(b));
                    difference.terms.iter().all(|(term, factor)| match &term.kind {
                        ExprKind::Var(var) if reducing.contains(var) => *factor > 0,
                        _ => vars_of(term).is_disjoint(reducing),
                    })
                }
                _ => false,
            };
            if !ends || depends_on_memory(&part) {
                return self
                    .reduction
                    .refused("has a predicate that may hold again along the reduction after it does not");
            }
        }
        Ok(())
    }

    fn at(&self, index: Expr, indices: &[Expr]) -> Vec<Expr> {
        let mut indices = indices.to_vec();
        indices.insert(self.position, index);
        indices
    }

    fn axis(&self, kind: IterKind) -> IterVar {
        let dtype = self.of.var.dtype;
        IterVar {
            var: Var::new(format!("v_{}", self.of.var.name), dtype),
            min: Expr::int(0, dtype),
            extent: self.of.extent.clone(),
            kind,
        }
    }

    fn index(&self) -> Expr {
        simplify::expr_with(&(self.of.var.expr() - self.of.min.clone()), &self.reduction.ranges)
    }

    /// The block that computes partial results, in the old loops.
    fn partial(&self, name: Arc<str>) -> Stmt {
        let old = self.reduction.block;
        let (mut iter_vars, mut iter_values) = self.reduction.spatial_axes();
        let factor = self.axis(IterKind::Spatial);
        let index = factor.var.expr();
        let mut by_axes = Substitution::new().with_var(self.of.var, self.of.min.clone() + index.clone());
        iter_vars.push(factor);
        iter_values.push(self.index());
        let others: Vec<&Loop<'_>> = self.reduction.reductions().filter(|of| of.var != self.of.var).collect();
        for of in &others {
            let var = Var::new(format!("v_{}", of.var.name), of.var.dtype);
            by_axes.map_var(of.var, var.expr());
            let (min, extent) = (of.min.clone(), of.extent.clone());
            iter_vars.push(IterVar { var, min, extent, kind: IterKind::Reduce });
            iter_values.push(of.var.expr());
        }
        let mut of_old = Substitution::new();
        for (axis, value) in old.block.iter_vars.iter().zip(old.values) {
            if axis.kind == IterKind::Reduce {
                of_old.map_var(&axis.var, simplify::expr_with(&by_axes.expr(value), &self.reduction.ranges));
            }
        }
        let element = &self.update.element;
        let indices = self.at(index, &element.indices);
        let term = of_old.expr(&self.update.term);
        let own = Expr::load(&self.buffer, indices.clone());
        let (init, value) = if others.is_empty() {
            (None, term)
        } else {
            let init = Stmt::store(&self.buffer, indices.clone(), self.update.identity());
            (Some(init), self.update.combined(own, term))
        };
        let block = plain_block(name, iter_vars, init, Stmt::store(&self.buffer, indices, value));
        let predicate = old.predicate.clone();
        let fresh = Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) });
        // The axes of the old block stay with it.
        let mut copies = Substitution::new().fresh();
        copies.stmt(&fresh)
    }

    /// The old block, in loops of its own, which combines the partial results.
    fn whole(&self) -> Stmt {
        let (mut iter_vars, mut iter_values) = self.reduction.spatial_axes();
        let factor = self.axis(IterKind::Reduce);
        let element = &self.update.element;
        let indices = self.at(factor.var.expr(), &element.indices);
        iter_vars.push(factor);
        iter_values.push(self.index());
        let own = Expr::load(&element.buffer, element.indices.clone());
        let value = self.update.combined(own, Expr::load(&self.buffer, indices));
        let body = Stmt::store(&element.buffer, element.indices.clone(), value);
        let old = self.reduction.block.block;
        let block = Block {
            annotations: old.annotations.clone(),
            ..plain_block(Arc::clone(&old.name), iter_vars, old.init.clone(), body)
        };
        let predicate = self.reduction.runs(Some(self.of.var));
        let realized = Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) });
        let factor = Stmt::new(StmtKind::For {
            var: self.of.var.clone(),
            min: self.of.min.clone(),
            extent: self.of.extent.clone(),
            kind: ForKind::Serial,
            step: None,
            annotations: Attrs::new(),
            body: realized,
        });
        self.reduction.around(self.reduction.spatial(), factor)
    }
}
