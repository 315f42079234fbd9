//! Packing: copies of what a block reads, in the order in which it reads it.

use std::sync::Arc;

use chipdock_ir::{Attrs, Block, Expr, ExprKind, Op, PrimFunc, Stmt, StmtKind, Var};

use super::access::{Element, Facts, Nest, loads, reads, redeclared, with_element};
use super::args::Args;
use super::find::TouchedData;
use super::independent::{may_alias, parameters};
use super::nest::{Loop, Names, Realized, StmtPath, all_of, bound_in, parts};
use super::tile::is_filled;
use super::{BlockRef, Handle, LoopRef, Made, Schedule, ScheduleError, loops_of};
use crate::simplify;
use crate::walk::{depends_on_memory, vars_of};

/// A block that a step made, with its loops, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The block.
    pub block: BlockRef,
    /// The loops that the step made around it.
    pub loops: Vec<LoopRef>,
}

impl Packed {
    /// Splits the last block and its loops off the handles that a step returned.
    pub(super) fn last_of(handles: &mut Vec<Handle>) -> Option<Self> {
        let at = handles.iter().rposition(|handle| matches!(handle, Handle::Block(_)))?;
        let mut own = handles.split_off(at);
        let block = BlockRef::try_from(own.remove(0)).ok()?;
        Some(Self { block, loops: loops_of(own) })
    }
}

impl Schedule {
    /// Copies what a block reads through one access into a buffer of the order in which the block
    /// reads it (SCHED-8).
    ///
    /// The copy stands at the start of the body of `of`, and so does the allocation of the buffer,
    /// which has one axis for each loop of `order`: loops between `of` and the block, of constant
    /// extents or such with a constant bound. The access may have any indices. This is a cache with
    /// a change of layout: `P[l5, l9, l7] = A[..]`.
    ///
    /// `read_index` counts the loads of the block's body, distinct ones in order of evaluation,
    /// without those of what the block writes. Elements whose loop values the block's predicate
    /// excludes, as far as it depends on the loops of `order` and those outside, or that are no
    /// elements of the buffer, are set to `fill`; without it they are not written. Branches under
    /// `of` count as the predicate does, for memory of which some elements may have no value.
    ///
    /// # Errors
    ///
    /// The block is not under the loop, or in another block there; there is no such access; it
    /// depends on loops under `of` that are not in `order`, or on names bound in the block; the
    /// extent of one has no constant bound; something under `of` may write the memory (SCHED-10).
    pub fn read_at(
        &mut self,
        of: &LoopRef,
        block: &BlockRef,
        read_index: usize,
        scope: &str,
        order: &[LoopRef],
        fill: Option<i64>,
    ) -> Result<Packed, ScheduleError> {
        let args = Args::new().with(of).with(block).with(read_index).with(scope);
        let args = args.key("order", order).key("fill", fill);
        let mut handles = self
            .run("read_at", args, |function| read_at(function, of, block, read_index, scope, order, fill))?;
        Packed::last_of(&mut handles)
            .ok_or_else(|| ScheduleError::new("internal error, please report it: read_at made no block"))
    }
}

fn read_at(
    function: &PrimFunc,
    of: &LoopRef,
    block: &BlockRef,
    read_index: usize,
    scope: &str,
    order: &[LoopRef],
    fill: Option<i64>,
) -> Made {
    let (outer, place) = (StmtPath::of_loop(function, of)?, StmtPath::of_block(function, block)?);
    let ranges = place.ranges(function);
    let nest = Nest::new(&outer, &place, order, &ranges)?;
    let realized = place.as_block()?;
    let read = access(&realized, read_index)?;
    let indices = read.by_loops(&realized, &ranges);
    expect_known(&outer, &nest, &realized.block.name, &read, &indices)?;
    expect_unwritten(function, &outer, &read)?;
    let loops: Vec<Loop<'_>> = place.around().iter().filter_map(Loop::from_stmt).collect();
    let mut known = parts(realized.predicate);
    // Every element of a parameter has a value. Of memory that is not wholly written, a branch may
    // tell which have.
    let by_loops = Element { buffer: read.buffer.clone(), indices: indices.clone() };
    let is_parameter = parameters(function).contains(&read.buffer.data);
    if !is_parameter && !is_filled(&function.body, &by_loops, &loops, &ranges) {
        let is_bound = |part: &Expr| {
            expect_bound_outside(&outer, &nest, std::slice::from_ref(part), &read.buffer.name).is_ok()
        };
        known.extend(place.branches(outer.stmt()).into_iter().filter(is_bound));
    }
    known.retain(|part| nest.missing(part).is_none() && !depends_on_memory(part));
    let mut facts = Facts { conditions: nest.within(), loops, ranges: &ranges };
    facts.conditions.extend(known);
    let missing = facts.missing(&read.buffer, &indices);
    let guard = all_of(facts.conditions.into_iter().chain(missing));
    let buffer = nest.buffer(&format!("{}_packed", read.buffer.name), read.buffer.dtype, scope);
    let name = Names::collect(function).fresh(&buffer.name);
    let element = Expr::load(&read.buffer, indices);
    let (value, predicate) = match fill {
        Some(fill) => (filled(&guard, element, Expr::constant(fill, buffer.dtype)), Expr::bool(true)),
        None => (element, guard),
    };
    let (copy, vars) = nest.over(Arc::clone(&name), &predicate, |by_axes, at| {
        Stmt::store(&buffer, at, simplify::expr_with(&by_axes.expr(&value), &ranges))
    });
    let body = with_read(&realized, &read, &nest.element(&buffer));
    let changed = place.replaced(function, body);
    let outer = StmtPath::of_loop(&changed, of)?;
    let allocation = Stmt::new(StmtKind::AllocBuffer { buffer, annotations: Attrs::new() });
    let new = at_start(&outer, [allocation, copy])?;
    let loops = vars.into_iter().map(|var| Handle::Loop(LoopRef(var)));
    let handles = [Handle::Block(BlockRef(name))].into_iter().chain(loops).collect();
    Ok((outer.replaced(&changed, new), handles))
}

/// The value where the guard holds, or else the other one.
pub(super) fn filled(guard: &Expr, value: Expr, otherwise: Expr) -> Expr {
    if guard.as_int() == Some(1) {
        return value;
    }
    let dtype = value.dtype;
    Expr::call(Op::IfThenElse, vec![guard.clone(), value, otherwise], dtype)
}

/// The loop with statements before its body.
pub(super) fn at_start(
    place: &StmtPath,
    first: impl IntoIterator<Item = Stmt>,
) -> Result<Stmt, ScheduleError> {
    let body = place.as_loop()?.body.clone();
    let body = Stmt::seq(first.into_iter().chain([body]));
    Ok(crate::scheduling::default_schedule::nest::with_body(place.stmt(), body, None))
}

/// An access of a block, by number.
pub(super) fn access(block: &Realized<'_>, index: usize) -> Result<Element, ScheduleError> {
    let name = &block.block.name;
    let all = reads(block.block);
    let Some(read) = all.get(index) else {
        let buffers: Vec<&str> = all.iter().map(|read| &*read.buffer.name).collect();
        return Err(ScheduleError::new(format!(
            "block \"{name}\" has no read access {index}; it reads {} elements, of: {}",
            all.len(),
            buffers.join(", ")
        )));
    };
    let mut plain = true;
    block.block.body.walk_exprs(&mut |e| {
        if let ExprKind::Load { buffer, indices, predicate } = &e.kind {
            let is_own = *buffer == read.buffer && *indices == read.indices;
            plain &= !is_own || (predicate.is_none() && e.dtype.is_scalar());
        }
    });
    if !plain {
        return Err(ScheduleError::new(format!(
            "block \"{name}\" reads vectors of buffer \"{}\", or under a predicate; expected single elements",
            read.buffer.name
        )));
    }
    let is_view = block.block.match_buffers.iter().any(|view| view.buffer == read.buffer)
        || block.block.alloc_buffers.contains(&read.buffer);
    if is_view {
        return Err(ScheduleError::new(format!(
            "buffer \"{}\" exists only within block \"{name}\"",
            read.buffer.name
        )));
    }
    Ok(read.clone())
}

/// The indices are known at the outer loop, but for the loops of the order.
fn expect_known(
    outer: &StmtPath,
    nest: &Nest<'_>,
    block: &str,
    read: &Element,
    indices: &[Expr],
) -> Result<(), ScheduleError> {
    let buffer = &read.buffer.name;
    for index in indices {
        if let Some(of) = nest.missing(index) {
            return Err(ScheduleError::new(format!(
                "what block \"{block}\" reads of buffer \"{buffer}\" depends on loop \"{}\", which is not in the order",
                of.var.name
            )));
        }
        if depends_on_memory(index) {
            return Err(ScheduleError::new(format!(
                "an index of what block \"{block}\" reads of buffer \"{buffer}\" is read from memory"
            )));
        }
    }
    expect_bound_outside(outer, nest, indices, buffer)
}

/// No name that is bound below the outer loop occurs, but for loops of the nest.
pub(super) fn expect_bound_outside(
    outer: &StmtPath,
    nest: &Nest<'_>,
    exprs: &[Expr],
    buffer: &str,
) -> Result<(), ScheduleError> {
    let inner = bound_in(outer.as_loop()?.body);
    let is_loop = |var: &Var| nest.below.iter().any(|of| of.var == var);
    for expr in exprs {
        if let Some(var) = vars_of(expr).iter().find(|var| inner.contains(*var) && !is_loop(var)) {
            return Err(ScheduleError::new(format!(
                "an index of buffer \"{buffer}\" depends on \"{}\", which is bound within the nest",
                var.name
            )));
        }
    }
    Ok(())
}

fn expect_unwritten(function: &PrimFunc, outer: &StmtPath, read: &Element) -> Result<(), ScheduleError> {
    let memory = TouchedData::of_stmt(outer.as_loop()?.body);
    let data = &read.buffer.data;
    let Some(other) = memory.written.iter().find(|written| may_alias(function, data, written)) else {
        return Ok(());
    };
    let (name, outer) = (&read.buffer.name, &outer.as_loop()?.var.name);
    Err(ScheduleError::new(if other == data {
        format!("buffer \"{name}\" is written under loop \"{outer}\": a copy of it would be stale")
    } else {
        format!(
            "buffer \"{}\", which is written under loop \"{outer}\", may overlap with buffer \"{name}\": promise that \
             parameters do not by tirx.noalias",
            other.name
        )
    }))
}

/// The block with another element in place of the one that it reads.
fn with_read(block: &Realized<'_>, read: &Element, new: &Element) -> Stmt {
    let body = with_element(&block.block.body, read, new);
    let keeps = loads(&body).iter().any(|load| load.buffer == read.buffer);
    let changed = Block {
        reads: redeclared(&block.block.reads, &read.buffer, keeps, new),
        body,
        ..Block::clone(block.block)
    };
    Stmt::new(StmtKind::BlockRealize {
        iter_values: block.values.to_vec(),
        predicate: block.predicate.clone(),
        block: Arc::new(changed),
    })
}
