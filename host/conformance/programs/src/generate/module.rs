//! The kernel, its parameters, and the functions that it calls.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::build::{self, Body};
use chipdock_ir::{
    AttrValue, Attrs, Buffer, BufferNode, Callee, CompareOp, DType, Expr, ExprKind, FloatBits, ForKind,
    Param, PrimFunc, Stmt, StmtKind, StorageScope, Var, attr,
};

use super::body::Target;
use super::decorate::decorate;
use super::facts::{Scope, Size, Tensor, Val};
use super::{Generator, inner, range_of};
use crate::Case;

/// Name of the kernel.
const KERNEL: &str = "kernel";

/// Types of scalar parameters.
const SCALARS: [DType; 6] =
    [DType::INT32, DType::FLOAT32, DType::INT64, DType::FLOAT64, DType::UINT8, DType::BOOL];

impl Generator<'_> {
    pub(crate) fn case(mut self, seed: u64) -> Case {
        self.inputs();
        let n_stages = 1 + self.random.below(self.options.stages_max.max(1));
        let mut body = inner(|f| {
            self.entry(f);
            if self.options.rotation {
                self.turn(f, seed);
            }
            for at in 0..n_stages {
                self.stage(f, at, at + 1 == n_stages);
            }
        });
        if self.options.exits && self.random.one_in(8) {
            body = Stmt::seq([body, Stmt::new(StmtKind::Return(None))]);
        }
        let kernel = PrimFunc {
            name: KERNEL.into(),
            params: std::mem::take(&mut self.params),
            ret: None,
            attrs: self.attributes(),
            s_tir: self.options.blocks,
            alloc_buffers: std::mem::take(&mut self.allocated),
            body,
        };
        let functions: Vec<PrimFunc> = self.helpers.drain(..).chain([kernel]).collect();
        let module = decorate(&build::module(functions), &mut self.random, self.options);
        Case { module, function: KERNEL.to_owned(), args: self.args }
    }

    fn attributes(&mut self) -> Attrs {
        let mut attrs = Attrs::new();
        if self.random.one_in(2) {
            attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
        }
        if self.random.one_in(8) {
            attrs.insert("tuning.level".into(), AttrValue::Int(self.random.between(-3, 9)));
            attrs.insert("tuning.factor".into(), AttrValue::Float(FloatBits::new(0.5)));
            let list = vec![AttrValue::Str("a".into()), AttrValue::Bool(false), AttrValue::Int(2)];
            attrs.insert("tuning.list".into(), AttrValue::List(list));
        }
        attrs
    }

    fn inputs(&mut self) {
        let is_symbolic = self.n.as_int().is_none();
        for at in 0..1 + self.random.below(3) {
            let shapes: &[&[Size]] = match (at, is_symbolic) {
                // The first tensor binds the symbolic size.
                (0, _) => &[&[Size::N], &[Size::N, Size::M]],
                (_, true) => &[
                    &[Size::N],
                    &[Size::M],
                    &[Size::N, Size::M],
                    &[Size::M, Size::N],
                    &[Size::Next],
                    &[Size::Product],
                    &[Size::Const(2), Size::N, Size::M],
                ],
                (_, false) => &[&[Size::N], &[Size::M], &[Size::N, Size::M], &[Size::Next, Size::M]],
            };
            let shape = self.random.pick(shapes).to_vec();
            let dtype = self.any_type();
            self.input(format!("A{at}"), shape, dtype);
        }
        if is_symbolic && self.random.one_in(6) {
            self.strides();
        }
        if self.random.one_in(3) {
            self.scalar();
        }
    }

    /// Gives the last input explicit strides, the outer ones symbolic.
    fn strides(&mut self) {
        let (Some(Param::Buffer(buffer)), Some(tensor)) = (self.params.last(), self.tensors.last_mut())
        else {
            return;
        };
        let rank = buffer.shape.len();
        if rank != 2 {
            return;
        }
        let strides = vec![Var::new("stride", self.index).expr(), Expr::int(1, self.index)];
        let new = Buffer::from_node(BufferNode { strides, ..BufferNode::clone(buffer) });
        tensor.buffer = new.clone();
        self.params.pop();
        self.params.push(Param::Buffer(new));
    }

    fn scalar(&mut self) {
        let types: Vec<DType> =
            SCALARS.into_iter().filter(|dtype| self.options.types.contains(dtype)).collect();
        if types.is_empty() {
            return;
        }
        let dtype = *self.random.pick(&types);
        let var = Var::new("s", dtype);
        let value = self.number(dtype);
        self.params.push(Param::Var(var.clone()));
        self.args.push(if dtype.is_float() {
            Arg::Float(Array::from_f64(dtype, &[1], &[value]).float(0).unwrap_or_default())
        } else {
            Arg::Int(value as i128)
        });
        let (lo, hi) = range_of(dtype);
        self.scalars.push(Val::new(var.expr(), lo, hi, true));
    }

    /// Appends checks and early returns at the start of the kernel.
    fn entry(&mut self, f: &mut Body) {
        if !self.options.exits {
            return;
        }
        if self.random.one_in(6) {
            let condition = Expr::compare(CompareOp::Ge, self.n.clone(), self.index_number(0));
            let message = vec![Expr::str("n is not negative; found "), self.n.clone()];
            f.push(Stmt::new(StmtKind::Assert { condition, kind: "ValueError".into(), message }));
        }
        if self.random.one_in(8) {
            let empty = Expr::compare(CompareOp::Eq, self.n.clone(), self.index_number(0));
            f.if_then(empty, |f| f.push(Stmt::new(StmtKind::Return(None))));
        }
    }

    // Functions that the kernel calls.

    fn helper_name(&mut self) -> Arc<str> {
        self.n_helpers += 1;
        format!("helper{}", self.n_helpers).into()
    }

    /// Adds a function of a few numbers that returns one; returns its name and the types of its
    /// parameters.
    pub(crate) fn helper_with_result(&mut self, dtype: DType) -> (Arc<str>, Vec<DType>) {
        let types: Vec<DType> = (0..1 + self.random.below(2)).map(|_| self.any_type()).collect();
        let mut f = build::function(self.helper_name());
        let mut scope = Scope::default();
        for (at, dtype) in types.iter().enumerate() {
            let value = f.scalar(format!("x{at}"), *dtype);
            let known = if dtype.is_float() { Val::new(value, -50.0, 50.0, false) } else { Val::any(value) };
            scope.known.push(known);
        }
        f.returns(dtype);
        let outside = self.leave_kernel();
        let give = |this: &mut Self, f: &mut Body| {
            let value = this.value(dtype, &scope, 2);
            let value = if dtype.is_float() { value.clamp(-50.0, 50.0) } else { value };
            f.return_value(value.expr);
        };
        if self.random.one_in(2) {
            let condition = self.condition(1, &scope, 1);
            f.if_then(condition, |f| give(self, f));
        }
        give(self, &mut f);
        self.come_back(outside);
        let function = PrimFunc { s_tir: self.options.blocks, ..f.finish() };
        let name = function.name.clone();
        self.helpers.push(function);
        (name, types)
    }

    /// Computes a tensor by calling a function that takes pointers.
    pub(crate) fn call_stage(&mut self, f: &mut Body, to: &Buffer) {
        let read = self.tensors.iter().find(|tensor| tensor.shape == [Size::N]).cloned();
        let name = self.helper_name();
        let pointer = |name: &str, buffer: &Buffer| Var::pointer(name, buffer.dtype, StorageScope::GLOBAL);
        let out = pointer("p", to);
        let from = read.as_ref().map(|tensor| pointer("q", &tensor.buffer));
        let count = Var::new("count", self.index);
        let extra = self.any_type();
        let x = Var::new("x", extra);
        let outer = self.n.clone();
        let function = self.helper(name.clone(), [&out, &count, &x], from.as_ref(), (to, read.as_ref()));
        self.n = outer.clone();
        self.helpers.push(function);
        let value = self.value(extra, &Scope::default(), 1);
        let value = if extra.is_float() { value.clamp(-50.0, 50.0) } else { value };
        let data = |this: &mut Self, buffer: &Buffer| {
            if this.never_empty && this.random.one_in(3) { Self::address(buffer) } else { buffer.data.expr() }
        };
        let mut args = vec![data(self, to), outer, value.expr];
        if let Some(tensor) = &read {
            args.push(data(self, &tensor.buffer));
        }
        let call = ExprKind::Call { callee: Callee::Global(name), args };
        f.evaluate(Expr::new(call, DType::HANDLE));
    }

    fn helper(
        &mut self,
        name: Arc<str>,
        [out, count, x]: [&Var; 3],
        from: Option<&Var>,
        (to, read): (&Buffer, Option<&Tensor>),
    ) -> PrimFunc {
        let outside = self.leave_kernel();
        self.n = count.expr();
        let view = |data: &Var, name: &str, dtype: DType| {
            let plain = Buffer::new(name, vec![count.expr()], dtype, StorageScope::GLOBAL);
            Buffer::from_node(BufferNode { data: data.clone(), ..BufferNode::clone(&plain) })
        };
        let p = view(out, "P", to.dtype);
        let mut stmts = vec![Stmt::new(StmtKind::DeclBuffer { buffer: p.clone(), data: None })];
        if let (Some(from), Some(tensor)) = (from, read) {
            let q = view(from, "Q", tensor.buffer.dtype);
            stmts.push(Stmt::new(StmtKind::DeclBuffer { buffer: q.clone(), data: None }));
            self.tensors.push(Tensor { buffer: q, ..tensor.clone() });
        }
        let known =
            if x.dtype.is_float() { Val::new(x.expr(), -50.0, 50.0, false) } else { Val::any(x.expr()) };
        let scope = Scope { known: vec![known], ..Scope::default() };
        let kind = if self.random.one_in(3) { ForKind::Parallel } else { ForKind::Serial };
        stmts.push(inner(|f| {
            f.for_loop("i", count, kind, |f, i| {
                let target = Target { buffer: p.clone(), at: vec![i.clone()] };
                let form = self.form();
                self.element_body(f, form, &target, &scope.with_index(Size::N, i));
            });
        }));
        let written = self.written;
        self.come_back(outside);
        self.written = written;
        let params = [out, count, x].into_iter().chain(from).cloned().map(Param::Var).collect();
        PrimFunc {
            name,
            params,
            ret: None,
            attrs: Attrs::new(),
            s_tir: self.options.blocks,
            alloc_buffers: Vec::new(),
            body: Stmt::seq(stmts),
        }
    }

    /// Removes and returns what is known only inside the kernel.
    fn leave_kernel(&mut self) -> (Vec<Tensor>, Vec<Val>, Expr) {
        (std::mem::take(&mut self.tensors), std::mem::take(&mut self.scalars), self.n.clone())
    }

    fn come_back(&mut self, outside: (Vec<Tensor>, Vec<Val>, Expr)) {
        (self.tensors, self.scalars, self.n) = outside;
    }
}
