//! Wider elements of intermediate buffers.

use std::sync::Arc;

use chipdock_ir::{
    Block, Buffer, BufferRegion, Child, DType, Expr, ExprKind, PrimFunc, Stmt, StmtKind, TypeCode,
};

use super::access::stores;
use super::args::Args;
use super::inline::{Uses, refused};
use super::nest::StmtPath;
use super::{BlockRef, Made, Schedule, ScheduleError};

impl Schedule {
    /// Makes the elements of the intermediate buffer that a block writes wider: what it stores is
    /// cast once, and readers that cast elements to that type read them as they are (SCHED-13).
    ///
    /// # Errors
    ///
    /// The block does not write exactly one element of an intermediate buffer, or is not the only
    /// one to write it; not every value of the buffer's type is one of `dtype`; the buffer is read
    /// as vectors, as a view or by pointer.
    ///
    /// # Source
    ///
    /// TVM's `Schedule.unsafe_set_dtype`, which also takes types that round.
    pub fn set_dtype(&mut self, block: &BlockRef, dtype: DType) -> Result<(), ScheduleError> {
        let args = Args::new().with(block).with(&*dtype.to_string());
        self.run("set_dtype", args, |function| set_dtype(function, block, dtype)).map(|_| ())
    }
}

fn set_dtype(function: &PrimFunc, block: &BlockRef, dtype: DType) -> Made {
    let place = StmtPath::of_block(function, block)?;
    let all = stores(&place.as_block()?.block.body);
    let [element] = all.as_slice() else { return refused(block, "does not write exactly one element") };
    let old = &element.buffer;
    let is_plain = old.strides.is_empty() && old.elem_offset.is_none();
    if !is_plain || !is_allocated(function, old) {
        return refused(
            block,
            format!("writes buffer \"{}\", which is no intermediate of the function", old.name),
        );
    }
    let uses = Uses::collect(function, old);
    if uses.otherwise || uses.writers.iter().any(|writer| *writer != block.0) {
        return refused(
            block,
            format!("is not the only one to write buffer \"{}\", or not by elements", old.name),
        );
    }
    if !holds(dtype, old.dtype) {
        return refused(
            block,
            format!("writes elements of {}, and not every such value is one of {dtype}", old.dtype),
        );
    }
    let new = Buffer::new(&*old.name, old.shape.clone(), dtype, old.scope.clone());
    let widened = Widened { old: old.clone(), new };
    let mut changed = function.clone();
    changed.body = widened.stmt(&function.body);
    for own in &mut changed.alloc_buffers {
        if own == old {
            *own = widened.new.clone();
        }
    }
    Ok((changed, Vec::new()))
}

/// Whether the function allocates the buffer, anywhere.
pub(super) fn is_allocated(function: &PrimFunc, buffer: &Buffer) -> bool {
    let mut found = function.alloc_buffers.contains(buffer);
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        found |= match &stmt.kind {
            StmtKind::AllocBuffer { buffer: own, .. } => own == buffer,
            StmtKind::BlockRealize { block, .. } => block.alloc_buffers.contains(buffer),
            _ => false,
        };
    });
    found
}

/// Whether every value of a type is one of the wider type.
fn holds(wider: DType, dtype: DType) -> bool {
    if !wider.is_scalar() || !dtype.is_scalar() || wider == dtype {
        return false;
    }
    if let (Some((low, high)), Some((least, most))) = (dtype.integer_range(), wider.integer_range()) {
        return dtype != DType::BOOL && wider != DType::BOOL && least <= low && high <= most;
    }
    let is_half = dtype == DType::FLOAT16 || dtype == DType::BFLOAT16;
    match wider.code {
        TypeCode::Float if wider.bits == 32 => is_half,
        TypeCode::Float if wider.bits == 64 => is_half || dtype == DType::FLOAT32,
        _ => false,
    }
}

/// A buffer, and the wider one in its place.
struct Widened {
    old: Buffer,
    new: Buffer,
}

impl Widened {
    fn stmt(&self, stmt: &Stmt) -> Stmt {
        let stmt = stmt.map_children(&mut |e| self.expr(e), &mut |s| self.stmt(s));
        let kind = match stmt.kind.clone() {
            StmtKind::Store { buffer, indices, value, predicate } if buffer == self.old => {
                let value = value.cast(self.new.dtype);
                StmtKind::Store { buffer: self.new.clone(), indices, value, predicate }
            }
            StmtKind::AllocBuffer { buffer, annotations } if buffer == self.old => {
                StmtKind::AllocBuffer { buffer: self.new.clone(), annotations }
            }
            StmtKind::BlockRealize { iter_values, predicate, block } => {
                let block = Arc::new(self.block(&block));
                StmtKind::BlockRealize { iter_values, predicate, block }
            }
            _ => return stmt,
        };
        Stmt::new(kind).with_span(stmt.span)
    }

    fn block(&self, block: &Block) -> Block {
        let regions = |list: &Option<Vec<BufferRegion>>| {
            let one = |region: &BufferRegion| BufferRegion {
                buffer: self.buffer(&region.buffer),
                region: region.region.clone(),
            };
            list.as_ref().map(|list| list.iter().map(one).collect())
        };
        Block {
            reads: regions(&block.reads),
            writes: regions(&block.writes),
            alloc_buffers: block.alloc_buffers.iter().map(|own| self.buffer(own)).collect(),
            ..block.clone()
        }
    }

    fn buffer(&self, buffer: &Buffer) -> Buffer {
        if *buffer == self.old { self.new.clone() } else { buffer.clone() }
    }

    fn expr(&self, expr: &Expr) -> Expr {
        if let ExprKind::Cast(value) = &expr.kind
            && expr.dtype == self.new.dtype
            && let Some(load) = self.load(value)
        {
            return load;
        }
        match self.load(expr) {
            Some(load) => load.cast(self.old.dtype),
            None => expr.map_children(&mut |e| self.expr(e)),
        }
    }

    /// The load from the wider buffer in place of one from the other.
    fn load(&self, expr: &Expr) -> Option<Expr> {
        let ExprKind::Load { buffer, indices, predicate } = &expr.kind else { return None };
        (*buffer == self.old).then(|| {
            let indices = indices.iter().map(|index| self.expr(index)).collect();
            let predicate = predicate.as_ref().map(|predicate| self.expr(predicate));
            let kind = ExprKind::Load { buffer: self.new.clone(), indices, predicate };
            Expr::new(kind, self.new.dtype).with_span(expr.span)
        })
    }
}
