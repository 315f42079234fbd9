//! Accumulators: a buffer in place of what a block writes.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, BinaryOp, Block, CompareOp, Expr, ExprKind, IterKind, IterVar, PrimFunc, Stmt, StmtKind, Var,
};

use super::access::{Axis, Element, Facts, Nest, loads, redeclared, stores, values_of, with_element};
use super::args::Args;
use super::find::{TouchedData, all_blocks};
use super::independent::{by_axes, may_alias, parameters};
use super::nest::{Loop, Names, Realized, StmtPath, all_of, both, parts};
use super::pack::{Packed, expect_bound_outside, filled};
use super::{BlockRef, Handle, LoopRef, Schedule, ScheduleError};
use crate::scheduling::default_schedule::nest::{Head, with_body};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::{depends_on_memory, vars_of};

/// The blocks that [`Schedule::write_at`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulated {
    /// Sets the accumulators to the block's init; `None` if the block has none.
    pub init: Option<Packed>,
    /// Loads the accumulators from the output; `None` if each use starts from the init, or writes
    /// all of them.
    pub load: Option<Packed>,
    /// Copies the accumulators to the output.
    pub back: Packed,
}

impl Schedule {
    /// Puts a buffer in place of what a block writes, within the body of a loop (SCHED-9).
    ///
    /// The buffer has one axis for each loop of `order`: all loops between `of` and the block that
    /// the element written depends on, of constant extents or such with a constant bound. Before
    /// the rest of the body, the accumulators of a reduction are set to its init in the first step
    /// of the reduction loops that are `of` or outside it, and to the output otherwise, for which
    /// `accumulate` must be true; after it, they are copied to the output.
    ///
    /// Parts of the block's predicate that concern only loops of `order` guard the copies, and are
    /// dropped from the block if all that it reads exists without them: elements of parameters, and
    /// of buffers that [`Schedule::read_at`] filled.
    ///
    /// # Errors
    ///
    /// The block is not under the loop, or in another block or a branch there; it writes several
    /// elements, or conditionally; other statements under the loop touch that memory; `order` is
    /// not the loops that the element depends on, or does not follow from the element; the
    /// reduction may skip its first step; without `accumulate`, there are steps of the reduction
    /// outside.
    pub fn write_at(
        &mut self,
        of: &LoopRef,
        block: &BlockRef,
        scope: &str,
        order: &[LoopRef],
        accumulate: bool,
    ) -> Result<Accumulated, ScheduleError> {
        let args = Args::new().with(of).with(block).with(scope);
        let args = args.key("order", order).key("accumulate", accumulate);
        let mut made = (false, false);
        let mut handles = self.run("write_at", args, |function| {
            let (function, handles, kinds) = write_at(function, of, block, scope, order, accumulate)?;
            made = kinds;
            Ok((function, handles))
        })?;
        let back = Packed::last_of(&mut handles)
            .ok_or_else(|| ScheduleError::new("internal error, please report it: write_at made no block"))?;
        let load = if made.1 { Packed::last_of(&mut handles) } else { None };
        let init = if made.0 { Packed::last_of(&mut handles) } else { None };
        Ok(Accumulated { init, load, back })
    }
}

/// What is known of the block and its nest.
struct Tile<'a> {
    function: &'a PrimFunc,
    outer: &'a StmtPath,
    block: Realized<'a>,
    nest: Nest<'a>,
    ranges: &'a Ranges,
    /// The element that the block writes, and its indices in terms of loops.
    element: Element,
    indices: Vec<Expr>,
    /// All loops around the block, outermost first.
    loops: Vec<Loop<'a>>,
    /// Parts of the predicate that concern only loops of the order and those outside.
    outside: Vec<Expr>,
    /// The other parts.
    inside: Vec<Expr>,
    /// Whether the block reads what it writes.
    reads_own: bool,
}

/// The function, its new blocks with their loops, and whether an init block and a load block were
/// created.
type Tiled = Result<(PrimFunc, Vec<Handle>, (bool, bool)), ScheduleError>;

fn write_at(
    function: &PrimFunc,
    of: &LoopRef,
    block: &BlockRef,
    scope: &str,
    order: &[LoopRef],
    accumulate: bool,
) -> Tiled {
    let (outer, place) = (StmtPath::of_loop(function, of)?, StmtPath::of_block(function, block)?);
    let ranges = place.ranges(function);
    let nest = Nest::new(&outer, &place, order, &ranges)?;
    let tile = Tile::new(function, &outer, &place, nest, &ranges)?;
    tile.expect_only(&place)?;
    let first = tile.first()?;
    let runs = tile.runs()?;
    let needs_load = tile.reads_own && first.as_int() != Some(1);
    if needs_load && !accumulate {
        return Err(ScheduleError::new(format!(
            "block \"{}\" adds to what it wrote before, outside of loop \"{}\": accumulate must be True",
            block.0, of.0.name
        )));
    }
    let buffer =
        tile.nest.buffer(&format!("{}_acc", tile.element.buffer.name), tile.element.buffer.dtype, scope);
    let accumulators = tile.nest.element(&buffer);
    let guard = all_of(tile.nest.within().into_iter().chain(tile.outside.iter().cloned()).chain([runs]));
    let mut names = Names::collect(function);
    let mut made: Vec<(Arc<str>, Vec<Var>)> = Vec::new();
    let has_init = tile.block.block.init.is_some();
    let name = &tile.element.buffer.name;
    let mut start = Stmt::nop();
    if has_init {
        let init = tile.init(names.fresh(&format!("{name}_init")), &accumulators, &guard, &mut made)?;
        start = init;
    }
    if needs_load {
        let load = tile.load(names.fresh(&format!("{name}_load")), &accumulators, &guard, &mut made);
        start = if has_init { Stmt::if_then(first, start, Some(load)) } else { load };
    }
    let back = tile.back(names.fresh(&format!("{name}_back")), &accumulators, &guard, &mut made);
    let changed = place.replaced(function, tile.block_with(&accumulators));
    let outer = StmtPath::of_loop(&changed, of)?;
    let allocation = Stmt::new(StmtKind::AllocBuffer { buffer, annotations: Attrs::new() });
    let body = Stmt::seq([allocation, start, outer.as_loop()?.body.clone(), back]);
    let handles = made.into_iter().flat_map(|(name, vars)| {
        let loops = vars.into_iter().map(|var| Handle::Loop(LoopRef(var)));
        [Handle::Block(BlockRef(name))].into_iter().chain(loops)
    });
    let function = outer.replaced(&changed, with_body(outer.stmt(), body, None));
    Ok((function, handles.collect(), (has_init, needs_load)))
}

impl<'a> Tile<'a> {
    fn new(
        function: &'a PrimFunc,
        outer: &'a StmtPath,
        place: &'a StmtPath,
        nest: Nest<'a>,
        ranges: &'a Ranges,
    ) -> Result<Self, ScheduleError> {
        let block = place.as_block()?;
        let element = written(&block)?;
        let indices = element.by_loops(&block, ranges);
        let loops = place.around().iter().filter_map(Loop::from_stmt).collect();
        let (inside, outside) =
            parts(block.predicate).into_iter().partition(|part| nest.missing(part).is_some());
        let reads_own = loads(&block.block.body).contains(&element);
        Ok(Self { function, outer, block, nest, ranges, element, indices, loops, outside, inside, reads_own })
    }

    fn name(&self) -> &str {
        &self.block.block.name
    }

    fn refused<T>(&self, message: impl std::fmt::Display) -> Result<T, ScheduleError> {
        Err(ScheduleError::new(format!("block \"{}\" {message}", self.name())))
    }

    /// Nothing else under the loop touches the memory, the block always runs, and the order is that
    /// of the element.
    fn expect_only(&self, place: &StmtPath) -> Result<(), ScheduleError> {
        let outer_name = &self.outer.as_loop()?.var.name;
        let below = place.below(self.outer.stmt()).unwrap_or_default();
        let is_plain = |stmt: &Stmt| {
            matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Seq(_) | StmtKind::BlockRealize { .. })
        };
        if !below.iter().all(is_plain) {
            return self.refused(format!("stands in a branch or a while loop under loop \"{outer_name}\""));
        }
        self.expect_alone(place)?;
        if let Some((index, of)) =
            self.indices.iter().find_map(|index| Some((index, self.nest.missing(index)?)))
        {
            let _ = index;
            return self.refused(format!(
                "writes elements of buffer \"{}\" that depend on loop \"{}\", which is not in the order",
                self.element.buffer.name, of.var.name
            ));
        }
        if self.indices.iter().chain(&self.outside).any(depends_on_memory) {
            return self.refused("writes elements whose indices, or predicate, are read from memory");
        }
        let exprs: Vec<Expr> = self.indices.iter().chain(&self.outside).cloned().collect();
        expect_bound_outside(self.outer, &self.nest, &exprs, &self.element.buffer.name)?;
        self.expect_determined()
    }

    /// No other access to the memory that the block writes.
    fn expect_alone(&self, place: &StmtPath) -> Result<(), ScheduleError> {
        let data = &self.element.buffer.data;
        let buffer = &self.element.buffer.name;
        let without = place.replaced(self.function, Stmt::nop());
        let rest = StmtPath::of_loop(&without, &LoopRef(self.outer.as_loop()?.var.clone()));
        // A sequence of one statement is that statement: the loop is still there.
        let rest = TouchedData::of_stmt(rest?.as_loop()?.body);
        let own = TouchedData::of_block(self.block.block);
        let mut others: HashSet<Var> = rest.read.union(&rest.written).cloned().collect();
        others.extend(own.read.into_iter().filter(|read| read != data));
        match others.iter().find(|other| may_alias(self.function, data, other)) {
            Some(other) if other == data => {
                self.refused(format!("is not alone under the loop: another statement touches buffer \"{buffer}\""))
            }
            Some(other) => self.refused(format!(
                "writes buffer \"{buffer}\", which may overlap with buffer \"{}\": promise that parameters do not by \
                 tirx.noalias",
                other.name
            )),
            None => Ok(()),
        }
    }

    /// Different iterations of the order write different elements.
    fn expect_determined(&self) -> Result<(), ScheduleError> {
        let by_element = Element::clone(&self.element);
        let fake: Vec<IterVar> = by_element
            .indices
            .iter()
            .map(|index| IterVar {
                var: Var::new("index", index.dtype),
                min: Expr::int(0, index.dtype),
                extent: Expr::int(0, index.dtype),
                kind: IterKind::Spatial,
            })
            .collect();
        let fake = Arc::new(Block { iter_vars: fake, init: None, ..Block::clone(self.block.block) });
        let predicate = Expr::bool(true);
        let block = Realized { values: &self.indices, predicate: &predicate, block: &fake };
        let heads: Vec<Head> = self
            .nest
            .axes
            .iter()
            .filter_map(|axis| Head::from_stmt(&head_stmt(axis)).map(|(head, _)| head))
            .collect();
        let known = by_axes(&heads, &Stmt::nop(), &block, self.ranges);
        let is_unknown =
            |axis: &&Axis<'_>| axis.bound().is_none_or(|bound| bound > 1) && !known.contains(axis.of.var);
        if let Some(axis) = self.nest.axes.iter().find(is_unknown) {
            return self.refused(format!(
                "may write one element of buffer \"{}\" in several iterations of loop \"{}\", which cannot be in the \
                 order",
                self.element.buffer.name, axis.of.var.name
            ));
        }
        Ok(())
    }

    /// The condition that this is the first step of the reduction: `false` if there is no init.
    fn first(&self) -> Result<Expr, ScheduleError> {
        if self.block.block.init.is_none() {
            return Ok(Expr::bool(false));
        }
        let mut first = Expr::bool(true);
        for (axis, value) in self.block.block.iter_vars.iter().zip(self.block.values) {
            if axis.kind != IterKind::Reduce {
                continue;
            }
            if self.nest.axes.iter().any(|loop_| vars_of(value).contains(loop_.of.var)) {
                return self.refused(format!(
                    "reduces along axis \"{}\", which a loop of the order drives",
                    axis.var.name
                ));
            }
            let offset = simplify::expr_with(&(value.clone() - axis.min.clone()), self.ranges);
            if !self.counts_up(&offset) {
                return self.refused(format!("does not count axis \"{}\" up along the loops", axis.var.name));
            }
            let outside = self.at_start(&offset);
            first = both(first, self.is_zero(&outside));
        }
        if let Some(of) =
            self.nest.others().find(|of| of.extent.as_int() != Some(1) && !self.is_reducing(of.var))
        {
            return self.refused(format!(
                "runs again in each iteration of loop \"{}\", which drives no reduction axis",
                of.var.name
            ));
        }
        Ok(simplify::expr_with(&first, self.ranges))
    }

    fn is_reducing(&self, var: &Var) -> bool {
        let mut axes = self.block.block.iter_vars.iter().zip(self.block.values);
        axes.any(|(axis, value)| axis.kind == IterKind::Reduce && vars_of(value).contains(var))
    }

    /// An expression in the first iteration of the loops of the nest that are not in the order.
    fn at_start(&self, expr: &Expr) -> Expr {
        let mut substitution = Substitution::new();
        for of in self.nest.others() {
            substitution.map_var(of.var, of.min.clone());
        }
        simplify::expr_with(&substitution.expr(expr), self.ranges)
    }

    fn counts_up(&self, offset: &Expr) -> bool {
        Linear::of(offset).terms.iter().all(|(term, factor)| {
            let is_loop = self.loops.iter().any(|of| *term == of.var.expr());
            if is_loop { *factor > 0 } else { !self.loops.iter().any(|of| vars_of(term).contains(of.var)) }
        })
    }

    /// The sum is 0: each loop in it that counts from 0 is at its start.
    fn is_zero(&self, sum: &Expr) -> Expr {
        let linear = Linear::of(sum);
        let from_zero =
            |term: &Expr| self.loops.iter().any(|of| *term == of.var.expr() && of.min.as_int() == Some(0));
        let zero = |term: &Expr| Expr::compare(CompareOp::Eq, term.clone(), Expr::int(0, term.dtype));
        if linear.constant == 0 && linear.terms.iter().all(|(term, factor)| *factor > 0 && from_zero(term)) {
            return all_of(linear.terms.iter().map(|(term, _)| zero(term)));
        }
        zero(sum)
    }

    /// The condition that the block runs at all for an element whose own conditions hold.
    fn runs(&self) -> Result<Expr, ScheduleError> {
        let loops: Vec<Loop<'a>> = self.loops.clone();
        let facts = Facts { conditions: Vec::new(), loops, ranges: self.ranges };
        let mut conditions = Vec::new();
        for of in self.nest.others() {
            if facts.is_positive(of.extent) {
                continue;
            }
            let some = Expr::compare(CompareOp::Gt, of.extent.clone(), Expr::int(0, of.extent.dtype));
            let some = self.at_start(&some);
            if self.nest.missing(of.extent).is_some() || depends_on_memory(&some) {
                return self.refused(format!(
                    "may not run at all: the extent of loop \"{}\" depends on a loop that is not in the order, or on \
                     memory",
                    of.var.name
                ));
            }
            conditions.push(some);
        }
        for part in &self.inside {
            if !self.ends_once(part) {
                return self.refused(
                    "has a predicate that may hold again after it does not, along loops that are not in the order",
                );
            }
            let at_start = self.at_start(part);
            let known = parts(&all_of(conditions.clone())).contains(&at_start);
            if at_start.as_int() != Some(1) && !known {
                conditions.push(at_start);
            }
        }
        Ok(simplify::expr_with(&all_of(conditions), self.ranges))
    }

    /// Along loops that are not in the order, once the condition does not hold, it holds no more.
    fn ends_once(&self, part: &Expr) -> bool {
        let ExprKind::Compare(CompareOp::Lt | CompareOp::Le, a, b) = &part.kind else { return false };
        let difference = Linear::of(a).minus(&Linear::of(b));
        !depends_on_memory(part)
            && difference.terms.iter().all(|(term, factor)| {
                let bare = self.nest.others().any(|of| *term == of.var.expr());
                if bare { *factor > 0 } else { self.nest.missing(term).is_none() }
            })
    }

    fn init(
        &self,
        name: Arc<str>,
        accumulators: &Element,
        guard: &Expr,
        made: &mut Vec<(Arc<str>, Vec<Var>)>,
    ) -> Result<Stmt, ScheduleError> {
        let value = match self.block.block.init.as_ref().map(|init| &init.kind) {
            Some(StmtKind::Store { buffer, indices, value, predicate: None })
                if *buffer == self.element.buffer && *indices == self.element.indices =>
            {
                values_of(&self.block).expr(value)
            }
            _ => {
                return self.refused("has an init that is not one store to the element that its body writes");
            }
        };
        let zero = Expr::constant(0, value.dtype);
        let value = if depends_on_memory(&value) { filled(guard, value, zero) } else { value };
        Ok(self.whole(name, accumulators, &value, made))
    }

    /// Sets every accumulator to a value in terms of the loops of the nest.
    fn whole(
        &self,
        name: Arc<str>,
        accumulators: &Element,
        value: &Expr,
        made: &mut Vec<(Arc<str>, Vec<Var>)>,
    ) -> Stmt {
        let (stmt, vars) = self.nest.over(Arc::clone(&name), &Expr::bool(true), |by_axes, at| {
            Stmt::store(&accumulators.buffer, at, simplify::expr_with(&by_axes.expr(value), self.ranges))
        });
        made.push((name, vars));
        stmt
    }

    fn load(
        &self,
        name: Arc<str>,
        accumulators: &Element,
        guard: &Expr,
        made: &mut Vec<(Arc<str>, Vec<Var>)>,
    ) -> Stmt {
        let value = Expr::load(&self.element.buffer, self.indices.clone());
        let zero = Expr::constant(0, value.dtype);
        self.whole(name, accumulators, &filled(guard, value, zero), made)
    }

    fn back(
        &self,
        name: Arc<str>,
        accumulators: &Element,
        guard: &Expr,
        made: &mut Vec<(Arc<str>, Vec<Var>)>,
    ) -> Stmt {
        let (stmt, vars) = self.nest.over(Arc::clone(&name), guard, |by_axes, at| {
            let indices =
                self.indices.iter().map(|e| simplify::expr_with(&by_axes.expr(e), self.ranges)).collect();
            Stmt::store(&self.element.buffer, indices, Expr::load(&accumulators.buffer, at))
        });
        made.push((name, vars));
        stmt
    }

    /// The block, which writes accumulators, without its init.
    fn block_with(&self, accumulators: &Element) -> Stmt {
        let old = self.block.block;
        let drops = self.may_drop();
        let kept =
            |part: &&Expr| !drops || !self.nest.axes.iter().any(|axis| vars_of(part).contains(axis.of.var));
        let predicate = all_of(self.outside.iter().filter(kept).chain(&self.inside).cloned());
        let iter_vars = old.iter_vars.iter().zip(self.block.values);
        let iter_vars =
            iter_vars.map(|(axis, value)| if drops { self.widened(axis, value) } else { axis.clone() });
        let block = Block {
            iter_vars: iter_vars.collect(),
            reads: redeclared(&old.reads, &self.element.buffer, false, accumulators),
            writes: redeclared(&old.writes, &self.element.buffer, false, accumulators),
            init: None,
            body: with_element(&old.body, &self.element, accumulators),
            ..Block::clone(old)
        };
        let iter_values = self.block.values.to_vec();
        Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) })
    }

    /// Whether the block may run where the parts of its predicate that concern loops of the order
    /// do not hold.
    fn may_drop(&self) -> bool {
        let params = parameters(self.function);
        let kept = |part: &&Expr| !self.nest.axes.iter().any(|axis| vars_of(part).contains(axis.of.var));
        let conditions = self.outside.iter().filter(kept).chain(&self.inside).cloned().collect();
        let facts = Facts { conditions, loops: self.loops.clone(), ranges: self.ranges };
        let mut pure = true;
        self.block.block.body.walk_exprs(&mut |e| pure &= simplify::is_pure(e));
        let widens = self.block.block.iter_vars.iter().zip(self.block.values).all(|(_, value)| {
            let changes = self.nest.axes.iter().any(|axis| vars_of(value).contains(axis.of.var));
            !changes || !facts.greatest(value).is_empty()
        });
        let exists = |load: &Element| {
            let indices = load.by_loops(&self.block, self.ranges);
            *load == self.element
                || ((params.contains(&load.buffer.data) || self.is_filled(load, &indices))
                    && !indices.iter().any(depends_on_memory)
                    && facts.missing(&load.buffer, &indices).is_empty())
        };
        pure && widens && loads(&self.block.block.body).iter().all(exists)
    }

    fn is_filled(&self, load: &Element, indices: &[Expr]) -> bool {
        let by_loops = Element { buffer: load.buffer.clone(), indices: indices.to_vec() };
        is_filled(&self.function.body, &by_loops, &self.loops, self.ranges)
    }

    /// The axis with a domain that has all values of the loops of the order.
    fn widened(&self, axis: &IterVar, value: &Expr) -> IterVar {
        if !self.nest.axes.iter().any(|of| vars_of(value).contains(of.of.var)) {
            return axis.clone();
        }
        let facts = Facts { conditions: Vec::new(), loops: self.loops.clone(), ranges: self.ranges };
        let Some(last) = facts.greatest(value).into_iter().next() else { return axis.clone() };
        let count = last - axis.min.clone() + Expr::int(1, axis.var.dtype);
        let extent = Expr::binary(BinaryOp::Max, axis.extent.clone(), count);
        IterVar { extent: simplify::expr_with(&extent, self.ranges), ..axis.clone() }
    }
}

fn head_stmt(axis: &Axis<'_>) -> Stmt {
    Stmt::for_loop(axis.of.var.clone(), axis.size.clone(), chipdock_ir::ForKind::Serial, Stmt::nop())
}

/// The one element that a block writes, always.
fn written(block: &Realized<'_>) -> Result<Element, ScheduleError> {
    let name = &block.block.name;
    let all = stores(&block.block.body);
    let stmts = match &block.block.body.kind {
        StmtKind::Seq(stmts) => stmts.as_slice(),
        _ => std::slice::from_ref(&block.block.body),
    };
    let is_store = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Store { predicate: None, .. });
    let is_plain = |stmt: &Stmt| is_store(&stmt) || matches!(stmt.kind, StmtKind::Bind { .. });
    let [element] = all.as_slice() else {
        return Err(ScheduleError::new(format!(
            "block \"{name}\" writes {} different elements, expected one",
            all.len()
        )));
    };
    let reads = loads(&block.block.body);
    let other = reads.iter().any(|read| read.buffer.data == element.buffer.data && read != element);
    let scalar = element.indices.iter().all(|index| index.dtype.is_scalar());
    let is_own = block.block.match_buffers.iter().any(|view| view.buffer == element.buffer)
        || block.block.alloc_buffers.contains(&element.buffer);
    if !stmts.iter().all(is_plain) || stmts.iter().filter(is_store).count() != 1 || other || !scalar || is_own
    {
        return Err(ScheduleError::new(format!(
            "block \"{name}\" must consist of names and one store of one element of a buffer from outside, of which it \
             reads no other element"
        )));
    }
    Ok(element.clone())
}

/// Whether a copy, such as `read_at` makes, wrote the element before the block loads it: the only
/// block that writes the buffer writes it for all values of its loops, and the block that loads has
/// loops of the same extents.
pub(super) fn is_filled(function: &Stmt, load: &Element, loops: &[Loop<'_>], ranges: &Ranges) -> bool {
    let Some(writer) = only_writer(function, &load.buffer) else { return false };
    let StmtKind::Store { buffer, indices, predicate: None, .. } = &writer.body.kind else { return false };
    let is_plain = *buffer == load.buffer
        && indices.len() == writer.iter_vars.len()
        && indices.iter().zip(&writer.iter_vars).all(|(index, axis)| *index == axis.var.expr());
    is_plain
        && (covers(function, &writer.name) && is_whole(&writer, buffer)
            || written_by_the_same_loops(function, &writer.name, load, (loops, ranges)))
}

/// The block that writes a buffer, if there is only one.
pub(super) fn only_writer(function: &Stmt, buffer: &chipdock_ir::Buffer) -> Option<Arc<Block>> {
    let writes =
        |block: &Arc<Block>| stores(&block.body).iter().any(|store| store.buffer.data == buffer.data);
    let mut writers = all_blocks(function).into_iter().filter(writes);
    let writer = writers.next()?;
    writers.next().is_none().then_some(writer)
}

/// Whether the axes of a block have the extents of the buffer that it writes.
fn is_whole(writer: &Block, buffer: &chipdock_ir::Buffer) -> bool {
    let mut axes = writer.iter_vars.iter().zip(&buffer.shape);
    axes.all(|(axis, extent)| axis.min.as_int() == Some(0) && axis.extent == *extent)
}

/// Returns true if the writer covers every element that the load reads: each of its loops is at
/// least as long as the range of the corresponding index, and the block has no predicate.
fn written_by_the_same_loops(
    function: &Stmt,
    writer: &str,
    load: &Element,
    (loops, ranges): (&[Loop<'_>], &Ranges),
) -> bool {
    let Some(own) = loops_around(function, writer) else { return false };
    let StmtKind::BlockRealize { iter_values, predicate, .. } = &own.block.kind else { return false };
    if predicate.as_int() != Some(1) || iter_values.len() != load.indices.len() {
        return false;
    }
    let mut theirs = Substitution::new();
    iter_values.iter().zip(&load.indices).all(|(value, index)| {
        let ExprKind::Var(writes) = &value.kind else { return false };
        let written = own.loops.iter().filter_map(Loop::from_stmt).find(|of| of.var == writes);
        let ExprKind::Var(reads) = &index.kind else {
            let count = written.and_then(|of| {
                of.extent.as_int().filter(|_| of.min.as_int() == Some(0) && of.step.is_none())
            });
            theirs.map_var(writes, index.clone());
            return count
                .zip(ranges.exact(index))
                .is_some_and(|(count, (low, high))| low >= 0 && high < count);
        };
        let read = loops.iter().find(|of| of.var == reads);
        let (Some(written), Some(read)) = (written, read) else { return false };
        let same = theirs.expr(written.min) == *read.min
            && theirs.expr(written.extent) == *read.extent
            && written.step.is_none()
            && read.step.is_none();
        theirs.map_var(writes, index.clone());
        same
    })
}

/// A block with the loops around it, outermost first.
struct Around {
    block: Stmt,
    loops: Vec<Stmt>,
}

/// Finds a block that has only loops and sequences around it.
fn loops_around(stmt: &Stmt, name: &str) -> Option<Around> {
    match &stmt.kind {
        StmtKind::Seq(stmts) => stmts.iter().find_map(|stmt| loops_around(stmt, name)),
        StmtKind::For { body, .. } => {
            let mut found = loops_around(body, name)?;
            found.loops.insert(0, stmt.clone());
            Some(found)
        }
        StmtKind::BlockRealize { block, .. } if *block.name == *name => {
            Some(Around { block: stmt.clone(), loops: Vec::new() })
        }
        _ => None,
    }
}

/// Whether loops of constant extents run a block for all values of its axes.
fn covers(within: &Stmt, name: &str) -> bool {
    fn search(stmt: &Stmt, name: &str, loops: &mut Vec<(Var, i128)>) -> Option<bool> {
        match &stmt.kind {
            StmtKind::Seq(stmts) => stmts.iter().find_map(|stmt| search(stmt, name, &mut loops.clone())),
            StmtKind::For { var, min, extent, body, .. } => {
                if let (Some(0), Some(extent)) = (min.as_int(), extent.as_int()) {
                    loops.push((var.clone(), extent));
                }
                search(body, name, loops)
            }
            StmtKind::BlockRealize { iter_values, predicate, block } if *block.name == *name => {
                let mut axes = block.iter_vars.iter().zip(iter_values);
                Some(predicate.as_int() == Some(1) && axes.all(|(axis, value)| runs_over(axis, value, loops)))
            }
            _ => None,
        }
    }
    search(within, name, &mut Vec::new()).unwrap_or(false)
}

/// Whether loops, which no other axis then may use, count a value through the domain of an axis.
fn runs_over(axis: &IterVar, value: &Expr, loops: &mut Vec<(Var, i128)>) -> bool {
    let mut terms = Linear::of(value).terms;
    terms.sort_by_key(|(_, factor)| *factor);
    let mut weight = 1;
    for (term, factor) in &terms {
        let Some(at) = loops.iter().position(|(var, _)| *term == var.expr()) else { return false };
        let (_, extent) = loops.swap_remove(at);
        if *factor != weight {
            return false;
        }
        weight *= extent;
    }
    Linear::of(value).constant == 0 && axis.extent.as_int() == Some(weight)
}
