//! Inlining of blocks into the blocks that read their results, or that make what they read.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, Block, Buffer, BufferRegion, Child, Expr, ExprKind, IterKind, Param,
    PrimFunc, Range, Stmt, StmtKind, Var,
};

use super::access::{Element, loads, stores};
use super::args::Args;
use super::find::TouchedData;
use super::independent::{may_alias, parameters};
use super::nest::{Loop, Realized, StmtPath, add_range, bound_in};
use super::{BlockRef, Made, Schedule, ScheduleError};
use crate::simplify::{self, Ranges};
use crate::walk::vars_of;

impl Schedule {
    /// Computes what a block computes wherever it is read, and removes the block and its buffer.
    ///
    /// # Errors
    ///
    /// The block is not one store to elements of an intermediate buffer whose indices are its
    /// spatial axes; it has a predicate, is not the only one to write the buffer, or the buffer is
    /// read as vectors, as a view or by pointer; what it reads may be written after it.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.compute_inline`.
    pub fn compute_inline(&mut self, block: &BlockRef) -> Result<(), ScheduleError> {
        self.run("compute_inline", Args::new().with(block), |function| inline(function, block)).map(|_| ())
    }

    /// Moves the consumer's computation into the producer of the intermediate result, and removes
    /// the consumer and the buffer of the intermediate result.
    ///
    /// The producer is one store that does not read the buffer; for the epilogue of a reduction,
    /// first put accumulators in place of its output ([`Schedule::write_at`]): their copy to the
    /// output is such a producer.
    ///
    /// # Errors
    ///
    /// The block is not one store that reads an intermediate buffer once, at its spatial axes, over
    /// all of the buffer; it has a predicate; the buffer has several writers or other readers;
    /// other statements between the producer and the block touch what the block writes, or write
    /// what it reads.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.reverse_compute_inline`, which also takes reductions.
    pub fn reverse_compute_inline(&mut self, block: &BlockRef) -> Result<(), ScheduleError> {
        let args = Args::new().with(block);
        self.run("reverse_compute_inline", args, |function| reverse_inline(function, block)).map(|_| ())
    }
}

pub(super) fn refused<T>(block: &BlockRef, message: impl std::fmt::Display) -> Result<T, ScheduleError> {
    Err(ScheduleError::new(format!("block \"{}\" {message}", block.0)))
}

/// A block of spatial axes that is one store.
struct Plain<'a> {
    block: Realized<'a>,
    element: Element,
    value: &'a Expr,
}

impl<'a> Plain<'a> {
    fn from_block(place: &'a StmtPath, block: &BlockRef) -> Result<Self, ScheduleError> {
        let realized = place.as_block()?;
        let spatial = realized.block.iter_vars.iter().all(|axis| axis.kind == IterKind::Spatial);
        let own = realized.block.alloc_buffers.is_empty() && realized.block.match_buffers.is_empty();
        let StmtKind::Store { buffer, indices, value, predicate: None } = &realized.block.body.kind else {
            return refused(block, "is not one store of an element");
        };
        if !spatial
            || !own
            || realized.block.init.is_some()
            || !value.dtype.is_scalar()
            || !simplify::is_pure(value)
        {
            return refused(
                block,
                "has axes that are not spatial, or buffers or views of its own, or calls that write",
            );
        }
        let element = Element { buffer: buffer.clone(), indices: indices.clone() };
        Ok(Self { block: realized, element, value })
    }

    /// The axes that are the indices of an element, if each is an axis of its own.
    fn axes_of(&self, element: &Element) -> Option<Vec<Var>> {
        let mut axes = Vec::new();
        for index in &element.indices {
            let ExprKind::Var(var) = &index.kind else { return None };
            let is_axis = self.block.block.iter_vars.iter().any(|axis| axis.var == *var);
            if !is_axis || axes.contains(var) {
                return None;
            }
            axes.push(var.clone());
        }
        Some(axes)
    }
}

/// A block uses nothing but its axes, its own names, what is known in all of the function, and what
/// loops of `shared` bind.
pub(super) fn is_closed(function: &PrimFunc, block: &Block, shared: &[&Stmt]) -> bool {
    let mut bound = bound_in(&function.body);
    for of in shared.iter().filter_map(|stmt| Loop::from_stmt(stmt)) {
        bound.remove(of.var);
    }
    let mut own: HashSet<Var> = block.iter_vars.iter().map(|axis| axis.var.clone()).collect();
    let mut used: HashSet<Var> =
        block.iter_vars.iter().flat_map(|axis| [&axis.min, &axis.extent]).flat_map(vars_of).collect();
    for stmt in block.init.iter().chain([&block.body]) {
        own.extend(bound_in(stmt));
        stmt.walk_exprs(&mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                used.insert(var.clone());
            }
        });
    }
    used.iter().all(|var| own.contains(var) || !bound.contains(var))
}

/// A buffer that the function allocates for all of its body.
pub(super) fn is_intermediate(function: &PrimFunc, buffer: &Buffer) -> bool {
    function.alloc_buffers.contains(buffer) && buffer.strides.is_empty()
}

/// Buffers that are known in all of the function.
pub(super) fn is_known_everywhere(function: &PrimFunc, buffer: &Buffer) -> bool {
    function.alloc_buffers.contains(buffer)
        || function.params.iter().any(|param| matches!(param, Param::Buffer(own) if own == buffer))
}

/// How a function uses a buffer.
#[derive(Default)]
pub(super) struct Uses {
    /// Names of the blocks that store to it.
    pub(super) writers: Vec<Arc<str>>,
    /// Names of the blocks that load from it.
    pub(super) readers: Vec<Arc<str>>,
    /// Whether it is used in other ways: outside of blocks, in vectors, under a predicate, through
    /// its pointer or a view, in an annotation.
    pub(super) otherwise: bool,
}

impl Uses {
    pub(super) fn collect(function: &PrimFunc, buffer: &Buffer) -> Self {
        let mut uses = Self::default();
        uses.stmt(&function.body, buffer, None);
        uses.otherwise |= names(&function.attrs, &buffer.data);
        uses
    }

    fn stmt(&mut self, stmt: &Stmt, buffer: &Buffer, block: Option<&Arc<str>>) {
        match &stmt.kind {
            StmtKind::Store { buffer: to, indices, predicate, .. } if to.data == buffer.data => {
                self.otherwise |= to != buffer || predicate.is_some() || block.is_none();
                self.otherwise |= indices.iter().any(|index| !index.dtype.is_scalar());
                self.writers.extend(block.cloned());
            }
            StmtKind::DeclBuffer { buffer: view, .. } if view.data == buffer.data => self.otherwise = true,
            StmtKind::For { annotations, .. } | StmtKind::AllocBuffer { annotations, .. } => {
                self.otherwise |= names(annotations, &buffer.data);
            }
            StmtKind::Attr { node: AttrNode::Buffer(about), .. } => {
                self.otherwise |= about.data == buffer.data;
            }
            StmtKind::BlockRealize { block: inner, .. } => {
                self.otherwise |= inner.match_buffers.iter().any(|v| v.source.buffer.data == buffer.data);
                self.otherwise |= names(&inner.annotations, &buffer.data);
                stmt.for_each_child(&mut |child| match child {
                    Child::Stmt(stmt) => self.stmt(stmt, buffer, Some(&inner.name)),
                    Child::Expr(expr) => self.expr(expr, buffer, None),
                });
                return;
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Stmt(stmt) => self.stmt(stmt, buffer, block),
            Child::Expr(expr) => self.expr(expr, buffer, block),
        });
    }

    fn expr(&mut self, expr: &Expr, buffer: &Buffer, block: Option<&Arc<str>>) {
        expr.walk(&mut |e| match &e.kind {
            ExprKind::Load { buffer: from, predicate, .. } if from.data == buffer.data => {
                self.otherwise |= from != buffer || predicate.is_some() || block.is_none();
                self.otherwise |= !e.dtype.is_scalar();
                self.readers.extend(block.cloned());
            }
            ExprKind::Var(var) => self.otherwise |= *var == buffer.data,
            _ => {}
        });
    }
}

/// Returns true if annotations name a variable.
fn names(annotations: &Attrs, var: &Var) -> bool {
    fn value_names(value: &AttrValue, var: &Var) -> bool {
        match value {
            AttrValue::Expr(e) => {
                let mut found = false;
                e.walk(&mut |e| {
                    found |= match &e.kind {
                        ExprKind::Var(own) => own == var,
                        ExprKind::Load { buffer, .. } => buffer.data == *var,
                        _ => false,
                    }
                });
                found
            }
            AttrValue::List(values) => values.iter().any(|value| value_names(value, var)),
            AttrValue::Map(values) => values.values().any(|value| value_names(value, var)),
            _ => false,
        }
    }
    annotations.values().any(|value| value_names(value, var))
}

/// What stands after a block: all statements that may run after its first iteration but itself.
pub(super) fn after(function: &PrimFunc, place: &StmtPath) -> Stmt {
    let repeats = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
    let top = place.around().iter().find(repeats).unwrap_or(place.stmt());
    after_from(function, top, place.stmt())
}

/// A statement and all that follows it, without a statement of these.
pub(super) fn after_from(function: &PrimFunc, top: &Stmt, own: &Stmt) -> Stmt {
    let mut later = Vec::new();
    let mut met = false;
    collect_after(&function.body, top, own, &mut met, &mut later);
    Stmt::seq(later)
}

fn collect_after(stmt: &Stmt, top: &Stmt, own: &Stmt, met: &mut bool, later: &mut Vec<Stmt>) {
    if stmt.same(top) {
        *met = true;
        later.push(without(stmt, own));
    } else if *met {
        later.push(stmt.clone());
    } else {
        stmt.for_each_child(&mut |child| {
            if let Child::Stmt(inner) = child {
                collect_after(inner, top, own, met, later);
            }
        });
    }
}

/// The statement without another, and without the loops of which it was the whole body.
pub(super) fn without(stmt: &Stmt, removed: &Stmt) -> Stmt {
    if stmt.same(removed) {
        return Stmt::nop();
    }
    let new = match &stmt.kind {
        StmtKind::Seq(stmts) => {
            let kept: Vec<Stmt> = stmts.iter().map(|s| without(s, removed)).filter(|s| !s.is_nop()).collect();
            if kept.len() == stmts.len() && kept.iter().zip(stmts).all(|(a, b)| a.same(b)) {
                return stmt.clone();
            }
            return Stmt::seq(kept).with_span(stmt.span);
        }
        _ => stmt.map_children(&mut Expr::clone, &mut |s| without(s, removed)),
    };
    match &new.kind {
        StmtKind::For { body, .. } if body.is_nop() && !new.same(stmt) => Stmt::nop(),
        _ => new,
    }
}

/// Nothing that may run later writes what is read.
pub(super) fn expect_unchanged(
    function: &PrimFunc,
    block: &BlockRef,
    read: &HashSet<Var>,
    later: &Stmt,
    except: &[Var],
) -> Result<(), ScheduleError> {
    let written = TouchedData::of_stmt(later).written;
    for other in written.iter().filter(|other| !except.contains(other)) {
        if let Some(own) = read.iter().find(|own| may_alias(function, own, other)) {
            return refused(
                block,
                format!(
                    "reads buffer \"{}\", which is, or may overlap with, buffer \"{}\" that is written later",
                    own.name, other.name
                ),
            );
        }
    }
    Ok(())
}

fn inline(function: &PrimFunc, block: &BlockRef) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let plain = Plain::from_block(&place, block)?;
    let buffer = plain.element.buffer.clone();
    if !is_intermediate(function, &buffer) {
        return refused(
            block,
            format!("writes buffer \"{}\", which is no intermediate of the function", buffer.name),
        );
    }
    let Some(axes) = plain.axes_of(&plain.element) else {
        return refused(block, "stores to other indices than axes of its own");
    };
    if axes.len() != plain.block.block.iter_vars.len() || plain.block.predicate.as_int() != Some(1) {
        return refused(block, "has a predicate, or an axis that is no index of its output");
    }
    if !is_closed(function, plain.block.block, &[]) {
        return refused(block, "uses variables of loops other than by its axes");
    }
    let uses = Uses::collect(function, &buffer);
    if uses.otherwise || uses.writers.len() != 1 || uses.readers.contains(&block.0) {
        return refused(
            block,
            format!(
                "is not the only one to write buffer \"{}\", or that is read in other ways than by its elements",
                buffer.name
            ),
        );
    }
    let loaded = loads(&plain.block.block.body);
    if let Some(load) = loaded.iter().find(|load| !is_known_everywhere(function, &load.buffer)) {
        return refused(
            block,
            format!("reads buffer \"{}\", which is not known everywhere", load.buffer.name),
        );
    }
    let read = loaded.iter().map(|load| load.buffer.data.clone()).collect();
    expect_unchanged(function, block, &read, &after(function, &place), std::slice::from_ref(&buffer.data))?;
    let body = without(&function.body, place.stmt());
    let inlined = Inlined { buffer: &buffer, axes: &axes, value: plain.value, reads: &loaded };
    let alloc_buffers = function.alloc_buffers.iter().filter(|own| **own != buffer).cloned().collect();
    Ok((PrimFunc { body: inlined.stmt(&body), alloc_buffers, ..function.clone() }, Vec::new()))
}

/// A value in place of the elements of a buffer.
struct Inlined<'a> {
    buffer: &'a Buffer,
    axes: &'a [Var],
    value: &'a Expr,
    reads: &'a [Element],
}

impl Inlined<'_> {
    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let new = stmt.map_children(&mut |e| self.expr(e), &mut |s| self.stmt(s));
        if !matches!(new.kind, StmtKind::BlockRealize { .. }) {
            return new;
        }
        let new = if loads(stmt).iter().any(|load| load.buffer == *self.buffer) { tidied(&new) } else { new };
        let StmtKind::BlockRealize { iter_values, predicate, block } = &new.kind else { return new };
        let Some(reads) = &block.reads else { return new };
        if !reads.iter().any(|region| region.buffer == *self.buffer) {
            return new;
        }
        let kept = reads.iter().filter(|region| region.buffer != *self.buffer).cloned();
        let reads = kept.chain(self.reads.iter().map(|read| whole(&read.buffer))).collect();
        let block = Arc::new(Block { reads: Some(reads), ..Block::clone(block) });
        let (iter_values, predicate) = (iter_values.clone(), predicate.clone());
        Stmt::new(StmtKind::BlockRealize { iter_values, predicate, block }).with_span(stmt.span)
    }

    fn expr(&self, expr: &Expr) -> Expr {
        let new = expr.map_children(&mut |e| self.expr(e));
        match &new.kind {
            ExprKind::Load { buffer, indices, .. } if buffer == self.buffer => {
                let mut substitution = Substitution::new().fresh();
                for (axis, index) in self.axes.iter().zip(indices) {
                    substitution.map_var(axis, index.clone().cast(axis.dtype));
                }
                substitution.expr(self.value)
            }
            _ => new,
        }
    }
}

/// A block with the indices of its elements simplified: those of a reshaped buffer are often plain
/// axes, which later steps need.
pub(super) fn tidied(stmt: &Stmt) -> Stmt {
    let mut ranges = Ranges::new();
    add_range(&mut ranges, stmt);
    let tidied = |indices: &[Expr]| indices.iter().map(|index| simplify::expr_with(index, &ranges)).collect();
    indices_mapped(stmt, &tidied)
}

/// The statement with the indices of all elements replaced.
fn indices_mapped(stmt: &Stmt, change: &impl Fn(&[Expr]) -> Vec<Expr>) -> Stmt {
    fn of_expr(expr: &Expr, change: &impl Fn(&[Expr]) -> Vec<Expr>) -> Expr {
        let new = expr.map_children(&mut |e| of_expr(e, change));
        match &new.kind {
            ExprKind::Load { buffer, indices, predicate } => {
                let (buffer, predicate) = (buffer.clone(), predicate.clone());
                let kind = ExprKind::Load { buffer, indices: change(indices), predicate };
                Expr::new(kind, new.dtype).with_span(new.span)
            }
            _ => new,
        }
    }
    let new = stmt.map_children(&mut |e| of_expr(e, change), &mut |s| indices_mapped(s, change));
    match &new.kind {
        StmtKind::Store { buffer, indices, value, predicate } => {
            let (buffer, value, predicate) = (buffer.clone(), value.clone(), predicate.clone());
            let kind = StmtKind::Store { buffer, indices: change(indices), value, predicate };
            Stmt::new(kind).with_span(new.span)
        }
        _ => new,
    }
}

/// All of a buffer, as a region.
pub(super) fn whole(buffer: &Buffer) -> BufferRegion {
    let zero = |extent: &Expr| Range { min: Expr::int(0, extent.dtype), extent: extent.clone() };
    BufferRegion { buffer: buffer.clone(), region: buffer.shape.iter().map(zero).collect() }
}

fn reverse_inline(function: &PrimFunc, block: &BlockRef) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let plain = Plain::from_block(&place, block)?;
    if plain.block.predicate.as_int() != Some(1) || !is_closed(function, plain.block.block, &[]) {
        return refused(block, "has a predicate, or uses variables of loops other than by its axes");
    }
    let (read, axes) = intermediate(function, block, &plain)?;
    let uses = Uses::collect(function, &read.buffer);
    let [producer] = uses.writers.as_slice() else {
        return refused(
            block,
            format!(
                "reads buffer \"{}\", which has {} writers: a reduction needs write_at first",
                read.buffer.name,
                uses.writers.len()
            ),
        );
    };
    let producer = BlockRef(Arc::clone(producer));
    if uses.otherwise || uses.readers.iter().any(|reader| *reader != block.0) || producer == *block {
        return refused(block, format!("is not the only one to read buffer \"{}\"", read.buffer.name));
    }
    let source = StmtPath::of_block(function, &producer)?;
    let StmtKind::Store { indices, value, predicate: None, .. } = &source.as_block()?.block.body.kind else {
        return refused(block, format!("reads what block \"{}\" computes in several statements", producer.0));
    };
    expect_movable(function, block, &plain, &source, &read)?;
    let mut by_indices = Substitution::new().fresh();
    for (axis, index) in axes.iter().zip(indices) {
        by_indices.map_var(axis, index.clone().cast(axis.dtype));
    }
    let made = Replaced { element: &read, value };
    let moved = by_indices.expr(&made.expr(plain.value));
    let to = plain.element.indices.iter().map(|index| by_indices.expr(index)).collect();
    let new = Block {
        reads: None,
        writes: None,
        body: Stmt::store(&plain.element.buffer, to, moved),
        ..Block::clone(source.as_block()?.block)
    };
    let realized = source.as_block()?;
    let new = Stmt::new(StmtKind::BlockRealize {
        iter_values: realized.values.to_vec(),
        predicate: realized.predicate.clone(),
        block: Arc::new(new),
    });
    let changed = source.replaced(function, tidied(&new));
    let place = StmtPath::of_block(&changed, block)?;
    let body = without(&changed.body, place.stmt());
    let alloc_buffers = function.alloc_buffers.iter().filter(|own| **own != read.buffer).cloned().collect();
    Ok((PrimFunc { body, alloc_buffers, ..changed }, Vec::new()))
}

/// The intermediate buffer that the block reads, all of it, and its axes for the buffer's.
fn intermediate(
    function: &PrimFunc,
    block: &BlockRef,
    plain: &Plain<'_>,
) -> Result<(Element, Vec<Var>), ScheduleError> {
    let reads = loads(&plain.block.block.body);
    let mut found = reads.iter().filter(|read| is_intermediate(function, &read.buffer));
    let (Some(read), None) = (found.next(), found.next()) else {
        return refused(block, "does not read one element of exactly one intermediate buffer");
    };
    let axes = plain.axes_of(read).filter(|axes| axes.len() == plain.block.block.iter_vars.len());
    let whole = axes.as_ref().is_some_and(|axes| {
        axes.iter().zip(&read.buffer.shape).all(|(var, extent)| {
            let mut all = plain.block.block.iter_vars.iter();
            all.any(|axis| axis.var == *var && axis.min.as_int() == Some(0) && axis.extent == *extent)
        })
    });
    match axes.filter(|_| whole) {
        Some(axes) => Ok((read.clone(), axes)),
        None => refused(
            block,
            format!(
                "does not read all of buffer \"{}\", one element for each value of its axes",
                read.buffer.name
            ),
        ),
    }
}

/// Nothing from the producer on touches what the block writes, or writes what it reads.
fn expect_movable(
    function: &PrimFunc,
    block: &BlockRef,
    plain: &Plain<'_>,
    source: &StmtPath,
    read: &Element,
) -> Result<(), ScheduleError> {
    let own = TouchedData::of_block(plain.block.block);
    let place = StmtPath::of_block(function, block)?;
    let later = after(function, source);
    let later = without(&later, place.stmt());
    let mut others = TouchedData::of_stmt(&later);
    let producer = TouchedData::of_stmt(source.stmt());
    others.read.extend(producer.read);
    let to = &plain.element.buffer.data;
    let touched = others.read.union(&others.written).find(|other| may_alias(function, to, other));
    if let Some(other) = touched.filter(|other| **other != read.buffer.data) {
        return refused(
            block,
            format!(
                "writes buffer \"{}\", which is, or may overlap with, buffer \"{}\" that is touched between",
                to.name, other.name
            ),
        );
    }
    let read_too: HashSet<Var> = own.read.into_iter().filter(|data| *data != read.buffer.data).collect();
    if let Some(data) = read_too.iter().find(|data| !parameters(function).contains(*data)) {
        return refused(block, format!("reads buffer \"{}\" too, which is no parameter", data.name));
    }
    expect_unchanged(function, block, &read_too, &later, std::slice::from_ref(&read.buffer.data))?;
    if stores(&plain.block.block.body).iter().any(|store| !is_known_everywhere(function, &store.buffer)) {
        return refused(block, "writes a buffer that is not known everywhere");
    }
    Ok(())
}

/// A value in place of an element.
struct Replaced<'a> {
    element: &'a Element,
    value: &'a Expr,
}

impl Replaced<'_> {
    fn expr(&self, expr: &Expr) -> Expr {
        match &expr.kind {
            ExprKind::Load { buffer, indices, .. }
                if *buffer == self.element.buffer && *indices == self.element.indices =>
            {
                self.value.clone()
            }
            _ => expr.map_children(&mut |e| self.expr(e)),
        }
    }
}
