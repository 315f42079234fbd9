//! Copies of whole buffers: what a block reads, and what it writes, in other memory.

use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Attrs, Block, Buffer, BufferNode, BufferRegion, Callee, Child, Expr, ExprKind, ForKind, IterKind,
    IterVar, Op, PrimFunc, Stmt, StmtKind, StorageRank, StorageScope, Var,
};

use super::access::{loads, stores};
use super::args::Args;
use super::find::TouchedData;
use super::independent::{has_noalias, may_alias, parameters};
use super::inline::{Uses, is_known_everywhere, refused, whole, without};
use super::nest::{Names, Realized, StmtPath};
use super::reduction::plain_block;
use super::widen::is_allocated;
use super::written::Written;
use super::{BlockRef, Handle, Made, Schedule, ScheduleError};
use crate::walk::{any_stmt, depends_on_memory, is_thread};

impl Schedule {
    /// Copies a buffer that a block reads into a new one in a storage scope, which this block reads
    /// instead, and returns the block of the copy (SCHED-15).
    ///
    /// The copy stands before the outermost loop around the block at which the buffer is known. It
    /// is a block of one store in loops of its own, which [`Schedule::compute_at`] can move to
    /// where the block needs it. Block and buffer are named after the buffer and the scope,
    /// `A_local`.
    ///
    /// # Shapes
    ///
    /// * `read_buffer_index` counts buffers, not accesses as [`Schedule::read_at`] does: those that
    ///   the block declares to read, or else those that it loads, in order of evaluation, without
    ///   those that it writes if it has an init.
    /// * The new buffer has the shape of the old one, without its strides. All of a parameter is
    ///   copied, and of a buffer that the function allocates what its writer writes: other elements
    ///   have no value. Nothing is copied where that is empty.
    ///
    /// # Errors
    ///
    /// There is no such buffer; it is a view, is used as one or by its pointer, or exists only
    /// within the block; something under the outermost loop may write it (SCHED-10); of an
    /// allocated buffer, it is not known what is written before the loop, because the writer stands
    /// elsewhere, writes no dense region, or is one of several of which none writes all; the scope
    /// is not known, or is one that threads around the block do not share. The schedule is as it
    /// was.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.cache_read` (`src/s_tir/schedule/primitive/cache_read_write.cc`). There,
    /// other blocks that read the buffer read the copy too, unless `consumer_blocks` says which.
    ///
    /// # Examples
    ///
    /// ```text
    /// for i in range(128):                 for ax0 in range(128):
    ///     with T.sblock("B"):                  with T.sblock("A_local"):
    ///         B[vi] = A[vi] * 2    ->              A_local[v0] = A[v0]
    ///                                      for i in range(128):
    ///                                          with T.sblock("B"):
    ///                                              B[vi] = A_local[vi] * 2
    /// ```
    ///
    /// ```
    /// # use chipdock_ir::{DType, build, print};
    /// # use chipdock_passes::schedule::{Schedule, Tail};
    /// let mut f = build::function("double");
    /// f.noalias();
    /// let (a, b) = (f.buffer("A", [128], DType::FLOAT32), f.buffer("B", [128], DType::FLOAT32));
    /// f.grid(["i"], [128], |f, [i]| {
    ///     f.block("B", |f| {
    ///         let vi = f.spatial("vi", 128, &i);
    ///         f.store(&b, &vi, a.at(&vi) * 2.0);
    ///     });
    /// });
    /// let mut sch = Schedule::new(&f.finish());
    /// let block = sch.get_sblock("B")?;
    /// let copy = sch.cache_read(&block, 0, "local")?;
    /// assert_eq!(copy.name(), "A_local");
    /// let loops = sch.get_loops(&block)?;
    /// let parts = sch.split(&loops[0], &[None, Some(16)], Tail::Predicate)?;
    /// sch.compute_at(&copy, &parts[0])?;
    /// let text = print::function(sch.function());
    /// assert!(text.contains("B[vi] = A_local[vi] * T.float32(2.0)"));
    /// # Ok::<(), chipdock_passes::schedule::ScheduleError>(())
    /// ```
    pub fn cache_read(
        &mut self,
        block: &BlockRef,
        read_buffer_index: usize,
        storage_scope: &str,
    ) -> Result<BlockRef, ScheduleError> {
        let args = Args::new().with(block).with(read_buffer_index).with(storage_scope);
        self.run_one("cache_read", args, |function| {
            cache_read(function, block, read_buffer_index, storage_scope)
        })
    }

    /// Makes a block write a new buffer in a storage scope in place of one that it writes, and
    /// returns the block that copies it to the old one (SCHED-15).
    ///
    /// The copy stands after the outermost loop around the block at which the buffer is known. It
    /// is a block of one store in loops of its own, which [`Schedule::reverse_compute_at`] can move
    /// to where the block has completed it. What the block reads of the buffer, as a reduction
    /// does, is read from the new one. Block and buffer are named after the buffer and the scope,
    /// `C_local`.
    ///
    /// # Shapes
    ///
    /// * `write_buffer_index` counts buffers: those that the block declares to write, or else those
    ///   that it stores to, in order.
    /// * The new buffer has the shape of the old one, without its strides. What the block writes is
    ///   copied: nothing if it runs for no element, or if its reduction has no step, of which the
    ///   block of the copy has the condition as its predicate.
    ///
    /// # Errors
    ///
    /// There is no such buffer; it is a view, is used as one or by its pointer, or exists only
    /// within the block; another statement under the outermost loop may read or write it
    /// (SCHED-10), or leaves the function; the block does not write one element in every run, or
    /// all together no dense region; it has a predicate that is not the domain of its axes; it
    /// reads what was there before; the scope is not known, or is one that threads around the block
    /// do not share. The schedule is as it was.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.cache_write` (`src/s_tir/schedule/primitive/cache_read_write.cc`), without
    /// `consumer_blocks`.
    ///
    /// # Examples
    ///
    /// ```text
    /// for i in range(128):                 for i in range(128):
    ///     with T.sblock("B"):                  with T.sblock("B"):
    ///         B[vi] = A[vi] * 2    ->              B_local[vi] = A[vi] * 2
    ///                                      for ax0 in range(128):
    ///                                          with T.sblock("B_local"):
    ///                                              B[v0] = B_local[v0]
    /// ```
    ///
    /// ```
    /// # use chipdock_ir::{DType, build, print};
    /// # use chipdock_passes::schedule::{Schedule, Tail};
    /// let mut f = build::function("double");
    /// f.noalias();
    /// let (a, b) = (f.buffer("A", [128], DType::FLOAT32), f.buffer("B", [128], DType::FLOAT32));
    /// f.grid(["i"], [128], |f, [i]| {
    ///     f.block("B", |f| {
    ///         let vi = f.spatial("vi", 128, &i);
    ///         f.store(&b, &vi, a.at(&vi) * 2.0);
    ///     });
    /// });
    /// let mut sch = Schedule::new(&f.finish());
    /// let block = sch.get_sblock("B")?;
    /// let copy = sch.cache_write(&block, 0, "local")?;
    /// assert_eq!(copy.name(), "B_local");
    /// let loops = sch.get_loops(&block)?;
    /// let parts = sch.split(&loops[0], &[None, Some(16)], Tail::Predicate)?;
    /// sch.reverse_compute_at(&copy, &parts[0])?;
    /// let text = print::function(sch.function());
    /// assert!(text.contains("B_local[vi] = A[vi] * T.float32(2.0)"));
    /// # Ok::<(), chipdock_passes::schedule::ScheduleError>(())
    /// ```
    pub fn cache_write(
        &mut self,
        block: &BlockRef,
        write_buffer_index: usize,
        storage_scope: &str,
    ) -> Result<BlockRef, ScheduleError> {
        let args = Args::new().with(block).with(write_buffer_index).with(storage_scope);
        self.run_one("cache_write", args, |function| {
            cache_write(function, block, write_buffer_index, storage_scope)
        })
    }

    /// Moves an intermediate buffer that a block writes to another storage scope (SCHED-16).
    ///
    /// # Shapes
    ///
    /// `buffer_index` counts the buffers that the block writes, as in [`Schedule::cache_write`].
    ///
    /// # Errors
    ///
    /// There is no such buffer; the function does not allocate it; it is viewed as another buffer,
    /// or used by its pointer; the scope is not known; the buffer is used under loops that are
    /// bound to threads, of which other threads share memory of the new scope than of the old one.
    /// The schedule is as it was.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.set_scope` (`src/s_tir/schedule/primitive/block_annotate.cc`), which does
    /// not ask which threads use the buffer.
    ///
    /// # Examples
    ///
    /// ```text
    /// C = T.alloc_buffer((128,))    ->    C = T.alloc_buffer((128,), scope="local")
    /// ```
    ///
    /// ```
    /// # use chipdock_ir::{DType, build, print};
    /// # use chipdock_passes::schedule::Schedule;
    /// let mut f = build::function("double");
    /// let (a, b) = (f.buffer("A", [128], DType::FLOAT32), f.buffer("B", [128], DType::FLOAT32));
    /// f.grid(["i"], [128], |f, [i]| {
    ///     f.block("B", |f| {
    ///         let vi = f.spatial("vi", 128, &i);
    ///         f.store(&b, &vi, a.at(&vi) * 2.0);
    ///     });
    /// });
    /// # f.noalias();
    /// let mut sch = Schedule::new(&f.finish());
    /// let block = sch.get_sblock("B")?;
    /// let copy = sch.cache_read(&block, 0, "global")?;
    /// sch.set_scope(&copy, 0, "local")?;
    /// assert!(print::function(sch.function()).contains("scope=\"local\""));
    /// assert!(sch.set_scope(&block, 0, "local").is_err()); // B is a parameter.
    /// # Ok::<(), chipdock_passes::schedule::ScheduleError>(())
    /// ```
    pub fn set_scope(
        &mut self,
        block: &BlockRef,
        buffer_index: usize,
        storage_scope: &str,
    ) -> Result<(), ScheduleError> {
        let args = Args::new().with(block).with(buffer_index).with(storage_scope);
        self.run("set_scope", args, |function| set_scope(function, block, buffer_index, storage_scope))
            .map(|_| ())
    }
}

/// The buffers that a block reads, counted as TVM does.
fn read_by(block: &Block) -> Vec<Buffer> {
    if let Some(regions) = &block.reads {
        return distinct(regions.iter().map(|region| region.buffer.clone()));
    }
    let bodies = block.init.iter().chain([&block.body]);
    let all = distinct(bodies.flat_map(loads).map(|load| load.buffer));
    let own = if block.init.is_some() { written_by(block) } else { Vec::new() };
    all.into_iter().filter(|buffer| !own.contains(buffer)).collect()
}

/// The buffers that a block writes.
fn written_by(block: &Block) -> Vec<Buffer> {
    if let Some(regions) = &block.writes {
        return distinct(regions.iter().map(|region| region.buffer.clone()));
    }
    let bodies = block.init.iter().chain([&block.body]);
    distinct(bodies.flat_map(stores).map(|store| store.buffer))
}

fn distinct(all: impl Iterator<Item = Buffer>) -> Vec<Buffer> {
    let mut found: Vec<Buffer> = Vec::new();
    for buffer in all {
        if !found.contains(&buffer) {
            found.push(buffer);
        }
    }
    found
}

fn picked(block: &BlockRef, verb: &str, all: &[Buffer], index: usize) -> Result<Buffer, ScheduleError> {
    match all.get(index) {
        Some(buffer) => Ok(buffer.clone()),
        None => {
            let names: Vec<&str> = all.iter().map(|buffer| &*buffer.name).collect();
            refused(
                block,
                format!("{verb} no buffer number {index}; it {verb} {}: {}", all.len(), names.join(", ")),
            )
        }
    }
}

/// Where a buffer is known.
struct Level {
    /// The outermost nest there around a block.
    top: StmtPath,
    /// In all of the function.
    is_everywhere: bool,
}

impl Level {
    fn find(
        function: &PrimFunc,
        block: &BlockRef,
        place: &StmtPath,
        buffer: &Buffer,
    ) -> Result<Self, ScheduleError> {
        let declares = |stmt: &Stmt| match &stmt.kind {
            StmtKind::BlockRealize { block, .. } => block.alloc_buffers.contains(buffer),
            StmtKind::Seq(stmts) => stmts.iter().any(|stmt| match &stmt.kind {
                StmtKind::AllocBuffer { buffer: own, .. } => own == buffer,
                _ => false,
            }),
            _ => false,
        };
        let is_everywhere = is_known_everywhere(function, buffer);
        let at =
            if is_everywhere { Some(0) } else { place.around().iter().rposition(declares).map(|at| at + 1) };
        let Some(at) = at else {
            return refused(
                block,
                format!(
                    "uses buffer \"{}\", which is a view, or exists only within the block: expected a parameter or a buffer \
                     that is allocated around it",
                    buffer.name
                ),
            );
        };
        let n_seqs =
            place.path()[at..].iter().take_while(|stmt| matches!(stmt.kind, StmtKind::Seq(_))).count();
        Ok(Self { top: place.at_depth(at + n_seqs), is_everywhere })
    }

    /// The scope of a buffer that is written before or after the nest, and used in it.
    fn scope(&self, block: &BlockRef, place: &StmtPath, text: &str) -> Result<StorageScope, ScheduleError> {
        let scope = known_scope(text)?;
        let (outside, nest) = place.path().split_at(self.top.around().len());
        if let Some(of) = outside.iter().find(|stmt| is_thread(stmt))
            && scope.rank != StorageRank::Local
        {
            return refused(
                block,
                format!(
                    "stands under {}, whose threads would all write one copy in scope \"{scope}\": expected \"local\"",
                    thread(of)
                ),
            );
        }
        if let Some(of) = nest.iter().find(|stmt| is_thread(stmt))
            && scope.rank != StorageRank::Global
        {
            return refused(
                block,
                format!(
                    "stands under {}, whose threads do not see memory of scope \"{scope}\" outside of it: expected \
                     \"global\", or read_at or write_at, whose copies stand within",
                    thread(of)
                ),
            );
        }
        Ok(scope)
    }
}

fn known_scope(text: &str) -> Result<StorageScope, ScheduleError> {
    let scope = StorageScope::parse(text);
    if scope.rank == StorageRank::Other {
        return Err(ScheduleError::new(format!(
            "there is no scope \"{text}\"; expected global, shared, warp or local, with or without a tag such as shared.dyn"
        )));
    }
    Ok(scope)
}

fn thread(stmt: &Stmt) -> String {
    match &stmt.kind {
        StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } => {
            format!("loop \"{}\", which is bound to threads", var.name)
        }
        _ => "threads".to_owned(),
    }
}

/// The buffer is used by its elements alone: a statement cannot write it by a pointer or a view
/// that was made elsewhere.
fn expect_by_elements(function: &PrimFunc, block: &BlockRef, buffer: &Buffer) -> Result<(), ScheduleError> {
    let data = &buffer.data;
    let may_be_any = parameters(function).contains(data) && !has_noalias(function);
    let is_view = any_stmt(&function.body, &mut |kind| match kind {
        StmtKind::DeclBuffer { buffer: view, .. } => view.data == *data,
        StmtKind::BlockRealize { block, .. } => {
            block.match_buffers.iter().any(|view| view.source.buffer.data == *data)
        }
        _ => false,
    });
    if is_view {
        return refused(
            block,
            format!("uses buffer \"{}\", of which there is a view: expected single elements", buffer.name),
        );
    }
    let mut by_pointer = false;
    function.body.walk_exprs(&mut |e| {
        by_pointer |= match &e.kind {
            ExprKind::Var(var) => *var == *data || (may_be_any && var.dtype.is_handle()),
            ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => args.iter().any(|arg| {
                matches!(&arg.kind, ExprKind::Load { buffer: of, .. } if may_alias(function, data, &of.data))
            }),
            _ => false,
        };
    });
    if by_pointer {
        return refused(
            block,
            format!(
                "uses buffer \"{}\", which may be used by a pointer too: expected single elements",
                buffer.name
            ),
        );
    }
    Ok(())
}

fn cache_read(function: &PrimFunc, block: &BlockRef, index: usize, scope: &str) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let buffer = picked(block, "reads", &read_by(place.as_block()?.block), index)?;
    let level = Level::find(function, block, &place, &buffer)?;
    let scope = level.scope(block, &place, scope)?;
    expect_by_elements(function, block, &buffer)?;
    expect_unwritten(function, block, &level, &buffer)?;
    let valid = match parameters(function).contains(&buffer.data) {
        true => Written::whole(&buffer),
        false => written_before(function, block, &level, &buffer)?,
    };
    let cache = Cache::new(function, &buffer, scope);
    let copy = cache.copy(&buffer, &cache.buffer, &valid);
    cache.put(function, block, &buffer, Some(copy), None)
}

/// Nothing under the nest writes what is copied before it.
fn expect_unwritten(
    function: &PrimFunc,
    block: &BlockRef,
    level: &Level,
    buffer: &Buffer,
) -> Result<(), ScheduleError> {
    let written = TouchedData::of_stmt(level.top.stmt()).written;
    let name = &buffer.name;
    match written.iter().find(|other| may_alias(function, &buffer.data, other)) {
        Some(other) if *other == buffer.data => refused(
            block,
            format!(
                "reads buffer \"{name}\", which is written in the same nest: a copy before it would be stale"
            ),
        ),
        Some(other) => refused(
            block,
            format!(
                "reads buffer \"{name}\", which may overlap with buffer \"{}\", which is written in the same nest: promise \
                 that parameters do not by tirx.noalias",
                other.name
            ),
        ),
        None => Ok(()),
    }
}

/// What has a value in an allocated buffer before the nest.
fn written_before(
    function: &PrimFunc,
    block: &BlockRef,
    level: &Level,
    buffer: &Buffer,
) -> Result<Written, ScheduleError> {
    let uses = Uses::collect(function, buffer);
    let name = &buffer.name;
    if uses.otherwise {
        return refused(
            block,
            format!("reads buffer \"{name}\", which is used in other ways than by elements of blocks"),
        );
    }
    let mut order = Vec::new();
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            order.push(stmt.address());
        }
    });
    let at = |stmt: &Stmt| order.iter().position(|address| *address == stmt.address());
    let mut writers: Vec<Arc<str>> = Vec::new();
    for writer in uses.writers {
        if !writers.contains(&writer) {
            writers.push(writer);
        }
    }
    let before = |writer: &Arc<str>| {
        let writer = BlockRef(Arc::clone(writer));
        let place = StmtPath::of_block(function, &writer)?;
        let top = Level::find(function, &writer, &place, buffer)?.top;
        if at(top.stmt()) >= at(level.top.stmt()) {
            return refused(
                &writer,
                format!("writes buffer \"{name}\" after block \"{}\" reads it", block.0),
            );
        }
        Written::by_block(function, &writer, &top, buffer)
    };
    let why = |error: ScheduleError| {
        ScheduleError::new(format!(
            "it is not known which elements of buffer \"{name}\" have a value before block \"{}\" reads them: {}",
            block.0, error.message
        ))
    };
    match writers.as_slice() {
        [] => refused(block, format!("reads buffer \"{name}\", which nothing writes")),
        [writer] => before(writer).map_err(why),
        _ => {
            let found: Vec<Option<Written>> = writers.iter().map(|writer| before(writer).ok()).collect();
            // Where the condition does not hold, none of them writes.
            let covers =
                |all: &Written| all.covers(buffer) && found.iter().all(|other| all.runs_with(other.as_ref()));
            let at = found.iter().position(|one| one.as_ref().is_some_and(covers));
            match at.and_then(|at| found.into_iter().nth(at).flatten()) {
                Some(all) => Ok(all),
                None => refused(
                    block,
                    format!(
                        "reads buffer \"{name}\", which {} blocks write, none of them all of it before: {}",
                        writers.len(),
                        writers.join(", ")
                    ),
                ),
            }
        }
    }
}

fn cache_write(function: &PrimFunc, block: &BlockRef, index: usize, scope: &str) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let buffer = picked(block, "writes", &written_by(place.as_block()?.block), index)?;
    let level = Level::find(function, block, &place, &buffer)?;
    let scope = level.scope(block, &place, scope)?;
    expect_by_elements(function, block, &buffer)?;
    expect_alone(function, block, &place, &level, &buffer)?;
    let written = Written::by_block(function, block, &level.top, &buffer)?;
    Written::expect_first(function, block, &level.top, &buffer)?;
    let cache = Cache::new(function, &buffer, scope);
    let copy = cache.copy(&cache.buffer, &buffer, &written);
    cache.put(function, block, &buffer, None, Some(copy))
}

/// Nothing else under the nest touches what is written after it, and it runs to its end.
fn expect_alone(
    function: &PrimFunc,
    block: &BlockRef,
    place: &StmtPath,
    level: &Level,
    buffer: &Buffer,
) -> Result<(), ScheduleError> {
    let (top, name) = (level.top.stmt(), &buffer.name);
    if any_stmt(top, &mut |kind| matches!(kind, StmtKind::Return(_))) {
        return refused(block, "stands in a nest that is left by return: a copy after it might not run");
    }
    if place.as_block()?.values.iter().any(depends_on_memory) {
        return refused(block, "has axes whose values are read from memory");
    }
    let rest = TouchedData::of_stmt(&without(top, place.stmt()));
    let own = TouchedData::of_stmt(place.stmt());
    let others = rest.read.iter().chain(&rest.written);
    let own = own.read.iter().chain(&own.written).filter(|data| **data != buffer.data);
    match others.chain(own).find(|other| may_alias(function, &buffer.data, other)) {
        Some(other) if *other == buffer.data => refused(
            block,
            format!(
                "is not the only one in its nest to touch buffer \"{name}\", which would be written after the nest"
            ),
        ),
        Some(other) => refused(
            block,
            format!(
                "writes buffer \"{name}\", which may overlap with buffer \"{}\", which is touched in the same nest: promise \
                 that parameters do not by tirx.noalias",
                other.name
            ),
        ),
        None => Ok(()),
    }
}

/// A new buffer, and the name of the block that copies it.
struct Cache {
    buffer: Buffer,
    block: Arc<str>,
}

impl Cache {
    fn new(function: &PrimFunc, old: &Buffer, scope: StorageScope) -> Self {
        let wanted = format!("{}_{scope}", old.name).replace('.', "_");
        let block = Names::collect(function).fresh(&wanted);
        let buffer = Buffer::new(Arc::clone(&block), old.shape.clone(), old.dtype, scope);
        Self { buffer, block }
    }

    /// Loops over a region, around a block that copies it.
    fn copy(&self, from: &Buffer, to: &Buffer, region: &Written) -> Stmt {
        let (mut loops, mut values, mut iter_vars) = (Vec::new(), Vec::new(), Vec::new());
        for (at, ((first, count), extent)) in region.region.iter().zip(&from.shape).enumerate() {
            let dtype = extent.dtype;
            let var = Var::new(format!("ax{at}"), dtype);
            let is_zero = first.as_int() == Some(0);
            values.push(if is_zero { var.expr() } else { first.clone() + var.expr() });
            iter_vars.push(IterVar {
                var: Var::new(format!("v{at}"), dtype),
                min: Expr::int(0, dtype),
                extent: extent.clone(),
                kind: IterKind::Spatial,
            });
            loops.push((var, count.clone()));
        }
        let indices: Vec<Expr> = iter_vars.iter().map(|axis| axis.var.expr()).collect();
        let body = Stmt::store(to, indices.clone(), Expr::load(from, indices));
        let block = plain_block(Arc::clone(&self.block), iter_vars, None, body);
        let realized = Stmt::new(StmtKind::BlockRealize {
            iter_values: values,
            predicate: region.guard.clone(),
            block: Arc::new(block),
        });
        loops
            .into_iter()
            .rev()
            .fold(realized, |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body))
    }

    /// The function with the new buffer in a block, in place of the old one, and with a copy before
    /// or after the nest.
    fn put(
        self,
        function: &PrimFunc,
        block: &BlockRef,
        old: &Buffer,
        before: Option<Stmt>,
        after: Option<Stmt>,
    ) -> Made {
        let place = StmtPath::of_block(function, block)?;
        let depth = Level::find(function, block, &place, old)?.top.around().len();
        let outer = place.around().get(depth..).unwrap_or_default();
        let names: Vec<BlockRef> = outer
            .iter()
            .filter_map(Realized::from_stmt)
            .filter(|outer| outer.block.reads.is_some())
            .map(|outer| BlockRef(Arc::clone(&outer.block.name)))
            .collect();
        let mut changed = place.replaced(function, self.in_block(&place, old)?);
        for name in names {
            let place = StmtPath::of_block(&changed, &name)?;
            changed = place.replaced(&changed, with_read(&place, &self.buffer)?);
        }
        let place = StmtPath::of_block(&changed, block)?;
        let level = Level::find(&changed, block, &place, old)?;
        let allocation = (!level.is_everywhere).then(|| {
            Stmt::new(StmtKind::AllocBuffer { buffer: self.buffer.clone(), annotations: Attrs::new() })
        });
        let nest = level.top.stmt().clone();
        let stmts = allocation.into_iter().chain(before).chain([nest]).chain(after);
        let mut changed = level.top.replaced(&changed, Stmt::seq(stmts));
        if level.is_everywhere {
            changed.alloc_buffers.push(self.buffer);
        }
        Ok((changed, vec![Handle::Block(BlockRef(self.block))]))
    }

    /// The block with the new buffer. The values of its axes and its predicate are not part of it.
    fn in_block(&self, place: &StmtPath, old: &Buffer) -> Result<Stmt, ScheduleError> {
        let realized = place.as_block()?;
        let new = Substitution::new().with_buffer(old, &self.buffer).stmt(place.stmt());
        let block = Arc::clone(Realized::from_stmt(&new).map_or(realized.block, |new| new.block));
        let (iter_values, predicate) = (realized.values.to_vec(), realized.predicate.clone());
        let kind = StmtKind::BlockRealize { iter_values, predicate, block };
        Ok(Stmt::new(kind).with_span(place.stmt().span))
    }
}

/// A block that declares to read a buffer too.
fn with_read(place: &StmtPath, buffer: &Buffer) -> Result<Stmt, ScheduleError> {
    let realized = place.as_block()?;
    let regions = realized.block.reads.iter().flatten().cloned();
    let reads: Vec<BufferRegion> = regions.chain([whole(buffer)]).collect();
    let block = Arc::new(Block { reads: Some(reads), ..Block::clone(realized.block) });
    let (iter_values, predicate) = (realized.values.to_vec(), realized.predicate.clone());
    let kind = StmtKind::BlockRealize { iter_values, predicate, block };
    Ok(Stmt::new(kind).with_span(place.stmt().span))
}

fn set_scope(function: &PrimFunc, block: &BlockRef, index: usize, text: &str) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let old = picked(block, "writes", &written_by(place.as_block()?.block), index)?;
    if !is_allocated(function, &old) {
        return refused(
            block,
            format!("writes buffer \"{}\", which is no intermediate of the function", old.name),
        );
    }
    expect_by_elements(function, block, &old)?;
    let scope = known_scope(text)?;
    if scope.rank != old.scope.rank
        && let Some(of) = user_thread(&function.body, &old.data, None)
    {
        return refused(
            block,
            format!(
                "writes buffer \"{}\", which is used under {of}: other threads share memory of scope \"{scope}\" than of \
                 \"{}\"",
                old.name, old.scope
            ),
        );
    }
    let data = Var::pointer(Arc::clone(&old.name), old.dtype, scope.clone());
    let new = Buffer::from_node(BufferNode { scope, data: data.clone(), ..BufferNode::clone(&old) });
    // The data variable also stands in annotations.
    let mut moved = Substitution::new().with_buffer(&old, &new).with_var(&old.data, data.expr());
    Ok((moved.function(function), Vec::new()))
}

/// The threads under which memory is used, if there are any.
fn user_thread(stmt: &Stmt, data: &Var, around: Option<&Stmt>) -> Option<String> {
    let around = if is_thread(stmt) { Some(stmt) } else { around };
    let mut is_used = matches!(&stmt.kind, StmtKind::Store { buffer, .. } if buffer.data == *data);
    let mut found = None;
    stmt.for_each_child(&mut |child| match child {
        Child::Stmt(inner) => found = found.take().or_else(|| user_thread(inner, data, around)),
        Child::Expr(expr) => expr.walk(&mut |e| {
            is_used |= matches!(&e.kind, ExprKind::Load { buffer, .. } if buffer.data == *data);
        }),
    });
    found.or_else(|| around.filter(|_| is_used).map(thread))
}
