//! Builds kernels in Rust, so that they read about as the script does.
//!
//! Nothing is checked here: [`crate::validate`] does that.
//!
//! ```
//! use chipdock_ir::{DType, Expr, Stage, build, print, validate::validate};
//!
//! let mut f = build::function("row_sum");
//! let n = f.size("n");
//! let a = f.buffer("A", [&n, &Expr::i32(8)], DType::FLOAT32);
//! let b = f.buffer("B", [&n], DType::FLOAT32);
//! f.grid(["i", "k"], [&n, &Expr::i32(8)], |f, [i, k]| {
//!     f.block("B", |f| {
//!         let vi = f.spatial("vi", &n, &i);
//!         let vk = f.reduce("vk", 8, &k);
//!         f.init(|f| f.store(&b, [&vi], Expr::float(0.0, DType::FLOAT32)));
//!         f.store(&b, [&vi], b.at([&vi]) + a.at([&vi, &vk]));
//!     });
//! });
//! let module = build::module([f.finish()]);
//! validate(&module, Stage::Blocks).unwrap();
//! assert_eq!(
//!     print::function(&module.functions[0]),
//!     r#"# from tvm.script import tirx as T
//!
//! @T.prim_func(s_tir=True)
//! def row_sum(A: T.Buffer(("n", 8), "float32"), B: T.Buffer((n,), "float32")):
//!     n = T.int32()
//!     ## with T.sblock("root"):
//!     for i, k in T.grid(n, 8):
//!         with T.sblock("B"):
//!             vi, vk = T.axis.remap("SR", [i, k])
//!             with T.init():
//!                 B[vi] = T.float32(0.0)
//!             B[vi] = B[vi] + A[vi, vk]
//! "#
//! );
//! ```

use std::array;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::{
    AttrValue, Attrs, Block, Buffer, BufferRegion, DType, Expr, ForKind, IrModule, IterKind, IterVar,
    MatchBufferRegion, Param, PrimFunc, Range, Stmt, StmtKind, StorageScope, ThreadAxis, Var, attr,
};

impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Self::i32(value)
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

impl From<&Var> for Expr {
    fn from(var: &Var) -> Self {
        var.expr()
    }
}

impl Buffer {
    /// The element at these indices, as an expression.
    pub fn at<I: Into<Expr>>(&self, indices: impl IntoIterator<Item = I>) -> Expr {
        Expr::load(self, indices.into_iter().map(Into::into).collect())
    }

    /// A region: first index and number of indices on each axis.
    pub fn region<A: Into<Expr>, B: Into<Expr>>(
        &self,
        ranges: impl IntoIterator<Item = (A, B)>,
    ) -> BufferRegion {
        let ranges = ranges.into_iter().map(|(min, extent)| Range { min: min.into(), extent: extent.into() });
        BufferRegion { buffer: self.clone(), region: ranges.collect() }
    }
}

/// A module of these functions.
pub fn module(functions: impl IntoIterator<Item = PrimFunc>) -> IrModule {
    IrModule { functions: functions.into_iter().collect(), attrs: Attrs::new() }
}

/// Starts a function of blocks.
pub fn function(name: impl Into<Arc<str>>) -> FunctionBuilder {
    FunctionBuilder {
        function: PrimFunc {
            name: name.into(),
            params: Vec::new(),
            ret: None,
            attrs: Attrs::new(),
            s_tir: true,
            alloc_buffers: Vec::new(),
            body: Stmt::nop(),
        },
        body: Body::default(),
    }
}

/// A function in the making; a [`Body`] too.
#[derive(Debug)]
pub struct FunctionBuilder {
    function: PrimFunc,
    body: Body,
}

impl FunctionBuilder {
    /// A symbolic size, bound by the first parameter whose shape has it.
    pub fn size(&mut self, name: impl Into<Arc<str>>) -> Expr {
        Var::new(name, DType::INT32).expr()
    }

    /// A tensor parameter.
    pub fn buffer<I: Into<Expr>>(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl IntoIterator<Item = I>,
        dtype: DType,
    ) -> Buffer {
        let shape = shape.into_iter().map(Into::into).collect();
        let buffer = Buffer::new(name, shape, dtype, StorageScope::GLOBAL);
        self.function.params.push(Param::Buffer(buffer.clone()));
        buffer
    }

    /// A scalar parameter.
    pub fn scalar(&mut self, name: impl Into<Arc<str>>, dtype: DType) -> Expr {
        let var = Var::new(name, dtype);
        self.function.params.push(Param::Var(var.clone()));
        var.expr()
    }

    /// Says that buffers of different parameters do not overlap.
    pub fn noalias(&mut self) {
        self.function.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    }

    /// Says what the function returns.
    pub fn returns(&mut self, dtype: DType) {
        self.function.ret = Some(dtype);
    }

    /// The function.
    #[must_use]
    pub fn finish(mut self) -> PrimFunc {
        self.function.body = self.body.finish();
        self.function
    }
}

impl From<PrimFunc> for FunctionBuilder {
    /// Goes on with a function: what is appended comes after its body.
    fn from(function: PrimFunc) -> Self {
        let body = Body { stmts: vec![function.body.clone()] };
        Self { function, body }
    }
}

impl Deref for FunctionBuilder {
    type Target = Body;
    fn deref(&self) -> &Body {
        &self.body
    }
}

impl DerefMut for FunctionBuilder {
    fn deref_mut(&mut self) -> &mut Body {
        &mut self.body
    }
}

/// Statements in the making, one after the other.
#[derive(Debug, Default)]
pub struct Body {
    stmts: Vec<Stmt>,
}

impl Body {
    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
    }

    fn finish(self) -> Stmt {
        Stmt::seq(self.stmts)
    }

    fn inner(build: impl FnOnce(&mut Self)) -> Stmt {
        let mut body = Self::default();
        build(&mut body);
        body.finish()
    }

    /// `buffer[indices] = value`.
    pub fn store<I: Into<Expr>>(
        &mut self,
        buffer: &Buffer,
        indices: impl IntoIterator<Item = I>,
        value: impl Into<Expr>,
    ) {
        self.push(Stmt::store(buffer, indices.into_iter().map(Into::into).collect(), value.into()));
    }

    /// A name for a value, for the rest of this body.
    pub fn bind(&mut self, name: impl Into<Arc<str>>, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let var = Var::new(name, value.dtype);
        self.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
        var.expr()
    }

    /// A buffer for the rest of this body.
    pub fn alloc<I: Into<Expr>>(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl IntoIterator<Item = I>,
        dtype: DType,
        scope: StorageScope,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.into_iter().map(Into::into).collect(), dtype, scope);
        self.push(Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() }));
        buffer
    }

    /// An expression evaluated for its effect.
    pub fn evaluate(&mut self, value: impl Into<Expr>) {
        self.push(Stmt::new(StmtKind::Evaluate(value.into())));
    }

    /// `return value`.
    pub fn return_value(&mut self, value: impl Into<Expr>) {
        self.push(Stmt::new(StmtKind::Return(Some(value.into()))));
    }

    /// A loop from 0.
    pub fn for_loop(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        kind: ForKind,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        let extent = extent.into();
        let var = Var::new(name, extent.dtype);
        let body = Self::inner(|body| build(body, var.expr()));
        self.push(Stmt::for_loop(var, extent, kind, body));
    }

    /// A serial loop from 0.
    pub fn range(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::Serial, build);
    }

    /// A loop from 0 over the threads of an axis.
    pub fn thread_binding(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        axis: ThreadAxis,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::ThreadBinding(axis), build);
    }

    /// Serial loops from 0 within each other, the first outermost.
    pub fn grid<const N: usize, I: Into<Expr>>(
        &mut self,
        names: [&str; N],
        extents: [I; N],
        build: impl FnOnce(&mut Body, [Expr; N]),
    ) {
        let extents = extents.map(Into::into);
        let vars: [Var; N] = array::from_fn(|axis| Var::new(names[axis], extents[axis].dtype));
        let body = Self::inner(|body| build(body, array::from_fn(|axis| vars[axis].expr())));
        let nest = vars
            .into_iter()
            .zip(extents)
            .rev()
            .fold(body, |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body));
        self.push(nest);
    }

    /// A choice without an else.
    pub fn if_then(&mut self, condition: impl Into<Expr>, then: impl FnOnce(&mut Body)) {
        self.push(Stmt::if_then(condition.into(), Self::inner(then), None));
    }

    /// A choice.
    pub fn if_then_else(
        &mut self,
        condition: impl Into<Expr>,
        then: impl FnOnce(&mut Body),
        otherwise: impl FnOnce(&mut Body),
    ) {
        let otherwise = Some(Self::inner(otherwise));
        self.push(Stmt::if_then(condition.into(), Self::inner(then), otherwise));
    }

    /// A block.
    pub fn block(&mut self, name: impl Into<Arc<str>>, build: impl FnOnce(&mut BlockBuilder)) {
        let mut block = BlockBuilder {
            axes: Vec::new(),
            values: Vec::new(),
            predicate: Expr::bool(true),
            reads: None,
            writes: None,
            init: None,
            alloc_buffers: Vec::new(),
            match_buffers: Vec::new(),
            body: Self::default(),
        };
        build(&mut block);
        let realize = StmtKind::BlockRealize {
            iter_values: block.values,
            predicate: block.predicate,
            block: Arc::new(Block {
                name: name.into(),
                iter_vars: block.axes,
                reads: block.reads,
                writes: block.writes,
                init: block.init,
                alloc_buffers: block.alloc_buffers,
                match_buffers: block.match_buffers,
                annotations: Attrs::new(),
                body: block.body.finish(),
            }),
        };
        self.push(Stmt::new(realize));
    }
}

/// A block in the making; a [`Body`] too.
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
    body: Body,
}

impl BlockBuilder {
    /// An axis from 0, with its value.
    pub fn axis(
        &mut self,
        name: impl Into<Arc<str>>,
        kind: IterKind,
        extent: impl Into<Expr>,
        value: impl Into<Expr>,
    ) -> Expr {
        let extent = extent.into();
        let var = Var::new(name, extent.dtype);
        self.axes.push(IterVar { var: var.clone(), min: Expr::int(0, extent.dtype), extent, kind });
        self.values.push(value.into());
        var.expr()
    }

    /// A spatial axis from 0.
    pub fn spatial(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        value: impl Into<Expr>,
    ) -> Expr {
        self.axis(name, IterKind::Spatial, extent, value)
    }

    /// An axis of reduction from 0.
    pub fn reduce(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        value: impl Into<Expr>,
    ) -> Expr {
        self.axis(name, IterKind::Reduce, extent, value)
    }

    /// Where the block happens at all.
    pub fn predicate(&mut self, condition: impl Into<Expr>) {
        self.predicate = condition.into();
    }

    /// Declares what the block reads; undeclared, it is not said.
    pub fn reads(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.reads = Some(regions.into_iter().collect());
    }

    /// Declares what the block writes; undeclared, it is not said.
    pub fn writes(&mut self, regions: impl IntoIterator<Item = BufferRegion>) {
        self.writes = Some(regions.into_iter().collect());
    }

    /// A buffer that lives in the block.
    pub fn block_alloc<I: Into<Expr>>(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl IntoIterator<Item = I>,
        dtype: DType,
        scope: StorageScope,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.into_iter().map(Into::into).collect(), dtype, scope);
        self.alloc_buffers.push(buffer.clone());
        buffer
    }

    /// A buffer that stands for a region of another.
    pub fn match_buffer<I: Into<Expr>>(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl IntoIterator<Item = I>,
        source: BufferRegion,
    ) -> Buffer {
        let (dtype, scope) = (source.buffer.dtype, source.buffer.scope.clone());
        let buffer = Buffer::new(name, shape.into_iter().map(Into::into).collect(), dtype, scope);
        self.match_buffers.push(MatchBufferRegion { buffer: buffer.clone(), source });
        buffer
    }

    /// What runs before the first iteration of the reduction.
    pub fn init(&mut self, build: impl FnOnce(&mut Body)) {
        self.init = Some(Body::inner(build));
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
