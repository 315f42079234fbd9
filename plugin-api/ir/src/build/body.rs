//! The builder of statements, one after the other.

use std::array;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::{BlockBuilder, Exprs, List, Operand};
use crate::{
    AttrNode, AttrValue, Attrs, Buffer, BufferNode, ConstantData, DType, Expr, ForKind, Op, Range, Stmt,
    StmtKind, StorageScope, ThreadAxis, Var,
};

/// The domains of the loops of a function, by variable, for `remap`.
pub(super) type Domains = Rc<RefCell<HashMap<Var, Range>>>;

/// A sequence of statements under construction.
#[derive(Debug, Default)]
pub struct Body {
    stmts: Vec<Stmt>,
    pub(super) domains: Domains,
}

/// A loop: its variable's name, its bounds, its kind, and annotations.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{DType, build::{self, Loop}, print};
///
/// let mut f = build::function("fill");
/// let a = f.buffer("A", 64, DType::FLOAT32);
/// f.for_each(Loop::serial("i", 10).from(4).step(6).annotate("note", true), |f, i| f.store(&a, &i, 1.0));
/// let text = print::function(&f.finish());
/// assert!(text.contains(r#"for i in T.serial(4, 64, step=6, annotations={"note": True}):"#), "{text}");
/// ```
#[derive(Clone, Debug)]
pub struct Loop {
    name: Arc<str>,
    min: Option<Expr>,
    extent: Expr,
    step: Option<Expr>,
    kind: ForKind,
    annotations: Attrs,
}

impl Loop {
    /// Makes a loop of `extent` iterations from 0.
    pub fn new(name: impl Into<Arc<str>>, kind: ForKind, extent: impl Into<Expr>) -> Self {
        let (name, extent) = (name.into(), extent.into());
        Self { name, min: None, extent, step: None, kind, annotations: Attrs::new() }
    }

    /// Makes a serial loop from 0.
    pub fn serial(name: impl Into<Arc<str>>, extent: impl Into<Expr>) -> Self {
        Self::new(name, ForKind::Serial, extent)
    }

    /// Sets the first value, instead of 0.
    #[must_use]
    pub fn from(mut self, min: impl Operand) -> Self {
        self.min = Some(min.into_operand(self.extent.dtype));
        self
    }

    /// Sets the distance between values, instead of 1; the extent still counts iterations.
    #[must_use]
    pub fn step(mut self, step: impl Operand) -> Self {
        self.step = Some(step.into_operand(self.extent.dtype));
        self
    }

    /// Adds an annotation for passes.
    #[must_use]
    pub fn annotate(mut self, name: impl Into<Arc<str>>, value: impl Into<AttrValue>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }
}

impl Body {
    /// Appends a statement.
    pub fn push(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
    }

    pub(super) fn new(stmt: Stmt) -> Self {
        Self { stmts: vec![stmt], domains: Domains::default() }
    }

    pub(super) fn finish(self) -> Stmt {
        Stmt::seq(self.stmts)
    }

    pub(super) fn within(domains: &Domains) -> Self {
        Self { stmts: Vec::new(), domains: Rc::clone(domains) }
    }

    pub(super) fn inner(&self, build: impl FnOnce(&mut Self)) -> Stmt {
        let mut body = Self::within(&self.domains);
        build(&mut body);
        body.finish()
    }

    /// Appends a store: `buffer[indices] = value`.
    pub fn store(&mut self, buffer: &Buffer, indices: impl List, value: impl Operand) {
        let indices = indices.list();
        let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
        let dtype = buffer.dtype.with_lanes(buffer.dtype.lanes.saturating_mul(lanes));
        self.push(Stmt::store(buffer, indices, value.into_operand(dtype)));
    }

    /// Appends a store of only those lanes where the mask is true.
    pub fn store_where(
        &mut self,
        buffer: &Buffer,
        indices: impl List,
        value: impl Into<Expr>,
        mask: impl Into<Expr>,
    ) {
        self.push(Stmt::new(StmtKind::Store {
            buffer: buffer.clone(),
            indices: indices.list(),
            value: value.into(),
            predicate: Some(mask.into()),
        }));
    }

    /// Binds a variable to a value, for the rest of this body.
    pub fn bind(&mut self, name: impl Into<Arc<str>>, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        let var = Var::new(name, value.dtype);
        self.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
        var.expr()
    }

    /// Allocates a buffer for the rest of this body.
    pub fn alloc(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl List,
        dtype: DType,
        scope: StorageScope,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.list(), dtype, scope);
        self.push(Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() }));
        buffer
    }

    /// Declares a buffer over existing memory, for the rest of this body: the memory of `data`,
    /// which is another buffer's data variable or a pointer.
    pub fn view(&mut self, name: impl Into<Arc<str>>, shape: impl List, dtype: DType, data: &Var) -> Buffer {
        let scope = data.pointer.as_ref().map_or(StorageScope::GLOBAL, |pointer| pointer.scope.clone());
        let plain = Buffer::new(name, shape.list(), dtype, scope);
        let buffer = Buffer::from_node(BufferNode { data: data.clone(), ..BufferNode::clone(&plain) });
        self.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }));
        buffer
    }

    /// Declares a constant of those bytes (IR-B8), for the rest of this body.
    pub fn constant(
        &mut self,
        name: impl Into<Arc<str>>,
        shape: impl List,
        dtype: DType,
        data: ConstantData,
    ) -> Buffer {
        let buffer = Buffer::new(name, shape.list(), dtype, StorageScope::GLOBAL);
        let data = Some(Expr::constant_data(data));
        self.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data }));
        buffer
    }

    /// Appends an expression that is evaluated for its effect.
    pub fn evaluate(&mut self, value: impl Into<Expr>) {
        self.push(Stmt::new(StmtKind::Evaluate(value.into())));
    }

    /// Appends a call of an op for its effect.
    pub fn call(&mut self, op: Op, args: impl IntoIterator<Item = Expr>) {
        let args: Vec<Expr> = args.into_iter().collect();
        let dtype = op.result_dtype(&args).unwrap_or(DType::HANDLE);
        self.evaluate(Expr::call(op, args, dtype));
    }

    /// Appends a barrier: `T.tvm_storage_sync(scope)`.
    pub fn barrier(&mut self, scope: impl Into<Arc<str>>) {
        self.call(Op::StorageSync, [Expr::str(scope)]);
    }

    /// Appends `return value`.
    pub fn return_value(&mut self, value: impl Into<Expr>) {
        self.push(Stmt::new(StmtKind::Return(Some(value.into()))));
    }

    /// Appends `break`.
    pub fn break_loop(&mut self) {
        self.push(Stmt::new(StmtKind::Break));
    }

    /// Appends `continue`.
    pub fn continue_loop(&mut self) {
        self.push(Stmt::new(StmtKind::Continue));
    }

    /// Appends an assertion: the function ends with an error of that kind unless the condition
    /// holds.
    pub fn assert(
        &mut self,
        condition: impl Into<Expr>,
        kind: impl Into<Arc<str>>,
        message: impl IntoIterator<Item = Expr>,
    ) {
        self.push(Stmt::new(StmtKind::Assert {
            condition: condition.into(),
            kind: kind.into(),
            message: message.into_iter().collect(),
        }));
    }

    /// Appends a loop with the given options.
    pub fn for_each(&mut self, domain: Loop, build: impl FnOnce(&mut Body, Expr)) {
        let Loop { name, min, extent, step, kind, annotations } = domain;
        let var = Var::new(name, extent.dtype);
        let min = min.unwrap_or_else(|| Expr::int(0, extent.dtype));
        self.domains.borrow_mut().insert(var.clone(), Range { min: min.clone(), extent: extent.clone() });
        let body = self.inner(|body| build(body, var.expr()));
        self.push(Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }));
    }

    /// Appends a loop from 0.
    pub fn for_loop(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        kind: ForKind,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_each(Loop::new(name, kind, extent), build);
    }

    /// Appends `for name in range(extent)`.
    pub fn range(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::Serial, build);
    }

    /// Appends `for name in T.parallel(extent)`.
    pub fn parallel(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::Parallel, build);
    }

    /// Appends `for name in T.vectorized(extent)`.
    pub fn vectorized(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::Vectorized, build);
    }

    /// Appends `for name in T.unroll(extent)`.
    pub fn unroll(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::Unrolled, build);
    }

    /// Appends `for name in T.thread_binding(extent, axis)`.
    pub fn thread_binding(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        axis: ThreadAxis,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        self.for_loop(name, extent, ForKind::ThreadBinding(axis), build);
    }

    /// Appends `with T.launch_thread(axis, extent) as name`: threads in the form that they have
    /// after lowering.
    pub fn launch_thread(
        &mut self,
        name: impl Into<Arc<str>>,
        extent: impl Into<Expr>,
        axis: ThreadAxis,
        build: impl FnOnce(&mut Body, Expr),
    ) {
        let extent = extent.into();
        let var = Var::new(name, extent.dtype);
        let body = self.inner(|body| build(body, var.expr()));
        self.push(Stmt::new(StmtKind::LaunchThread { var, axis, extent, body }));
    }

    /// Appends nested serial loops from 0, the first outermost: `for i, j in T.grid(n, m)`.
    pub fn grid<const N: usize>(
        &mut self,
        names: [&str; N],
        extents: impl Exprs<N>,
        build: impl FnOnce(&mut Body, [Expr; N]),
    ) {
        let extents = extents.exprs();
        let vars: [Var; N] = array::from_fn(|axis| Var::new(names[axis], extents[axis].dtype));
        for (var, extent) in vars.iter().zip(&extents) {
            let domain = Range { min: Expr::int(0, extent.dtype), extent: extent.clone() };
            self.domains.borrow_mut().insert(var.clone(), domain);
        }
        let body = self.inner(|body| build(body, array::from_fn(|axis| vars[axis].expr())));
        let nest = vars
            .into_iter()
            .zip(extents)
            .rev()
            .fold(body, |body, (var, extent)| Stmt::for_loop(var, extent, ForKind::Serial, body));
        self.push(nest);
    }

    /// Appends `while condition:`.
    pub fn while_loop(&mut self, condition: impl Into<Expr>, build: impl FnOnce(&mut Body)) {
        let body = self.inner(build);
        self.push(Stmt::new(StmtKind::While { condition: condition.into(), body }));
    }

    /// Appends an `if` without an else.
    pub fn if_then(&mut self, condition: impl Into<Expr>, then: impl FnOnce(&mut Body)) {
        let then = self.inner(then);
        self.push(Stmt::if_then(condition.into(), then, None));
    }

    /// Appends an `if` with an else.
    pub fn if_then_else(
        &mut self,
        condition: impl Into<Expr>,
        then: impl FnOnce(&mut Body),
        otherwise: impl FnOnce(&mut Body),
    ) {
        let (then, otherwise) = (self.inner(then), self.inner(otherwise));
        self.push(Stmt::if_then(condition.into(), then, Some(otherwise)));
    }

    /// Appends `with T.attr({key: value})`: an attribute of the statements within.
    pub fn attr(&mut self, key: impl Into<Arc<str>>, value: impl Into<Expr>, build: impl FnOnce(&mut Body)) {
        let body = self.inner(build);
        let (node, key, value) = (AttrNode::None, key.into(), value.into());
        self.push(Stmt::new(StmtKind::Attr { node, key, value, body }));
    }

    /// Appends `with T.sblock(name)`: a block.
    pub fn block(&mut self, name: impl Into<Arc<str>>, build: impl FnOnce(&mut BlockBuilder)) {
        let mut block = BlockBuilder::within(&self.domains);
        build(&mut block);
        self.push(block.finish(name.into()));
    }
}
