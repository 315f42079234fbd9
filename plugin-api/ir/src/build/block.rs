//! The builder of blocks.

use std::array;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::body::{Body, Domains};
use super::{Exprs, List, Operand};
use crate::{
    AttrValue, Attrs, Block, Buffer, BufferRegion, DType, Expr, ExprKind, IterKind, IterVar,
    MatchBufferRegion, Range, Stmt, StmtKind, StorageScope, Var,
};

/// A block under construction; also a [`Body`].
#[derive(Debug)]
pub struct BlockBuilder {
    axes: Vec<IterVar>,
    values: Vec<Expr>,
    predicate: Expr,
    reads: Option<Vec<BufferRegion>>,
    writes: Option<Vec<BufferRegion>>,
    init: Option<Stmt>,
    alloc_buffers: Vec<Buffer>,
    match_buffers: Vec<MatchBufferRegion>,
    annotations: Attrs,
    body: Body,
}

impl BlockBuilder {
    pub(super) fn within(domains: &Domains) -> Self {
        Self {
            axes: Vec::new(),
            values: Vec::new(),
            predicate: Expr::bool(true),
            reads: None,
            writes: None,
            init: None,
            alloc_buffers: Vec::new(),
            match_buffers: Vec::new(),
            annotations: Attrs::new(),
            body: Body::within(domains),
        }
    }

    pub(super) fn finish(self, name: Arc<str>) -> Stmt {
        let block = Block {
            name,
            iter_vars: self.axes,
            reads: self.reads,
            writes: self.writes,
            init: self.init,
            alloc_buffers: self.alloc_buffers,
            match_buffers: self.match_buffers,
            annotations: self.annotations,
            body: self.body.finish(),
        };
        Stmt::new(StmtKind::BlockRealize {
            iter_values: self.values,
            predicate: self.predicate,
            block: Arc::new(block),
        })
    }

    fn push_axis(&mut self, name: Arc<str>, kind: IterKind, domain: Range, value: Expr) -> Expr {
        let var = Var::new(name, domain.extent.dtype);
        self.axes.push(IterVar { var: var.clone(), min: domain.min, extent: domain.extent, kind });
        self.values.push(value);
        var.expr()
    }

    /// Adds an axis from 0, with its value.
    pub fn axis(
        &mut self,
        name: impl Into<Arc<str>>,
        kind: IterKind,
        extent: impl Into<Expr>,
        value: impl Operand,
    ) -> Expr {
        let extent = extent.into();
        let value = value.into_operand(extent.dtype);
        self.push_axis(name.into(), kind, Range { min: Expr::int(0, extent.dtype), extent }, value)
    }

    /// Adds a spatial axis from 0: `T.axis.spatial(extent, value)`.
    pub fn spatial(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        value: impl Operand,
    ) -> Expr {
        self.axis(name, IterKind::Spatial, extent, value)
    }

    /// Adds a reduction axis from 0: `T.axis.reduce(extent, value)`.
    pub fn reduce(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        value: impl Operand,
    ) -> Expr {
        self.axis(name, IterKind::Reduce, extent, value)
    }

    /// Adds axes that are loop variables, with the domains of their loops:
    /// `T.axis.remap("SR", [i, k])`.
    ///
    /// A variable that is no loop variable of this function has no domain, and [`crate::validate`]
    /// then refuses the block.
    pub fn remap<const N: usize>(
        &mut self,
        kinds: [IterKind; N],
        names: [&str; N],
        loops: impl Exprs<N>,
    ) -> [Expr; N] {
        let loops = loops.exprs();
        array::from_fn(|index| {
            let value = loops[index].clone();
            let domain = match &value.kind {
                ExprKind::Var(var) => self.body.domains.borrow().get(var).cloned(),
                _ => None,
            };
            let domain = domain.unwrap_or_else(|| Range {
                min: Expr::i32(0),
                extent: Expr::str(format!("remap: {} is no loop variable", names[index])).cast(DType::INT32),
            });
            self.push_axis(names[index].into(), kinds[index], domain, value)
        })
    }

    /// Sets the condition under which the block runs: `T.where(condition)`.
    pub fn predicate(&mut self, condition: impl Into<Expr>) {
        self.predicate = condition.into();
    }

    /// Declares the regions that the block reads; without this, they are undeclared.
    pub fn reads(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.reads = Some(regions.into_iter().collect());
    }

    /// Declares the regions that the block writes; without this, they are undeclared.
    pub fn writes(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.writes = Some(regions.into_iter().collect());
    }

    /// Adds an annotation for passes: `T.sblock_attr({name: value})`.
    pub fn annotate(&mut self, name: impl Into<Arc<str>>, value: impl Into<AttrValue>) {
        self.annotations.insert(name.into(), value.into());
    }

    /// Allocates a buffer for the block.
    pub fn block_alloc(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl List,
        dtype: DType,
        scope: StorageScope,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.list(), dtype, scope);
        self.alloc_buffers.push(buffer.clone());
        buffer
    }

    /// Makes a buffer that is a view of a region of another.
    pub fn match_buffer(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl List,
        source: BufferRegion,
    ) -> Buffer {
        let (dtype, scope) = (source.buffer.dtype, source.buffer.scope.clone());
        let buffer = Buffer::new(name, shape.list(), dtype, scope);
        self.match_buffers.push(MatchBufferRegion { buffer: buffer.clone(), source });
        buffer
    }

    /// Sets the statements that run before the first iteration of the reduction: `with T.init()`.
    pub fn init(&mut self, build: impl FnOnce(&mut Body)) {
        self.init = Some(self.body.inner(build));
    }
}

impl Deref for BlockBuilder {
    type Target = Body;
    fn deref(&self) -> &Body {
        &self.body
    }
}

impl DerefMut for BlockBuilder {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}
