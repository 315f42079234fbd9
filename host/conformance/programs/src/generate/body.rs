//! Statements that compute one element of a tensor.

use chipdock_ir::build::Body;
use chipdock_ir::{
    Buffer, Callee, CompareOp, DType, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, StorageScope,
};

use super::facts::{Scope, Size, Tensor, Val};
use super::value::EXTERNS;
use super::{Generator, inner, op};

/// Bound of a value that is updated repeatedly.
const HELD: f64 = 50.0;

/// Element that a body computes.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) buffer: Buffer,
    pub(crate) at: Vec<Expr>,
}

/// Form of a body, in the order of [`FORMS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Store,
    If,
    Over,
    Bind,
    Local,
    While,
    Accumulate,
    Parts,
    Result,
    Extern,
    Note,
    VectorLocal,
}

/// Forms with their weights in the random choice.
const FORMS: [(Form, usize); 12] = [
    (Form::Store, 12),
    (Form::If, 3),
    (Form::Over, 3),
    (Form::Bind, 4),
    (Form::Local, 3),
    (Form::While, 3),
    (Form::Accumulate, 4),
    (Form::Parts, 3),
    (Form::Result, 2),
    (Form::Extern, 1),
    (Form::Note, 2),
    (Form::VectorLocal, 2),
];

impl Form {
    /// Returns true if the body is straight-line code that can be vectorized.
    pub(crate) fn is_straight(self) -> bool {
        matches!(self, Self::Store | Self::Bind | Self::Extern | Self::If)
    }
}

impl Generator<'_> {
    pub(crate) fn form(&mut self) -> Form {
        let weights: Vec<usize> =
            FORMS.iter().map(|(form, weight)| if self.allows(*form) { *weight } else { 0 }).collect();
        FORMS[self.random.weighted(&weights)].0
    }

    fn allows(&self, form: Form) -> bool {
        match form {
            Form::While => self.options.while_loops,
            Form::Result => self.options.results,
            Form::Extern => self.options.externs,
            Form::VectorLocal => self.options.vectors,
            _ => true,
        }
    }

    /// Appends a store of a value, converted to the element's type.
    pub(crate) fn store(&mut self, f: &mut Body, to: &Target, value: Val) {
        let value = op::convert(value, to.buffer.dtype, &mut self.random).fit();
        self.note(&value);
        f.store(&to.buffer, to.at.as_slice(), value.expr);
    }

    /// Appends statements that compute and store the element.
    pub(crate) fn compute(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let depth = self.options.depth;
        let value = self.value(to.buffer.dtype, scope, depth);
        self.store(f, to, value);
    }

    pub(crate) fn element_body(&mut self, f: &mut Body, form: Form, to: &Target, scope: &Scope) {
        let depth = self.options.depth.min(3);
        match form {
            Form::Store => self.compute(f, to, scope),
            Form::If => {
                let condition = self.condition(1, scope, depth);
                let then = inner(|f| {
                    let form = if self.random.one_in(3) { Form::Bind } else { Form::Store };
                    self.element_body(f, form, to, scope);
                });
                let otherwise = inner(|f| self.store_one(f, to, scope));
                f.push(Stmt::if_then(condition, then, Some(otherwise)));
            }
            Form::Over => {
                self.compute(f, to, scope);
                let after = scope.with(self.own(to));
                let condition = self.condition(1, &after, depth);
                f.if_then(condition, |f| self.compute(f, to, &after));
            }
            Form::Bind => {
                let dtype = self.any_type();
                let value = self.value(dtype, scope, depth);
                let name = f.bind("t", value.expr.clone());
                self.compute(f, to, &scope.with(Val { expr: name, ..value }));
            }
            Form::Local => self.local(f, to, scope),
            Form::While => self.while_loop(f, to, scope),
            Form::Accumulate => self.accumulate(f, to, scope),
            Form::Parts => self.parts(f, to, scope),
            Form::Result => self.result(f, to, scope),
            Form::Extern => self.call_extern(f, to, scope),
            Form::Note => self.noted(f, to, scope),
            Form::VectorLocal => self.vector_local(f, to, scope),
        }
    }

    fn store_one(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let value = self.value(to.buffer.dtype, scope, 2);
        self.store(f, to, value);
    }

    /// Returns the element itself, after it was stored.
    fn own(&self, to: &Target) -> Val {
        let (lo, hi, exact) = self.written.unwrap_or((-HELD, HELD, false));
        Val::new(Expr::load(&to.buffer, to.at.clone()), lo, hi, exact)
    }

    /// Returns a value that stays within [`HELD`] when it is updated repeatedly.
    fn held(&self, expr: Expr) -> Val {
        if expr.dtype.is_float() { Val::new(expr, -HELD, HELD, false) } else { Val::any(expr) }
    }

    fn hold(&mut self, value: Val, dtype: DType) -> Expr {
        let value = op::convert(value, dtype, &mut self.random);
        if dtype.is_float() { value.clamp(-HELD, HELD).expr } else { value.expr }
    }

    fn scratch(&mut self, f: &mut Body, name: &str, shape: &[i32], dtype: DType) -> Buffer {
        // Global memory exists once for all threads.
        let is_global = self.random.one_in(4) && !self.in_threads;
        let scope = if is_global { StorageScope::GLOBAL } else { StorageScope::LOCAL };
        let shape: Vec<Expr> = shape.iter().map(|extent| Expr::i32(*extent)).collect();
        f.alloc(name, shape, dtype, scope)
    }

    /// Computes through a buffer of one element or of rank 0, which is set twice.
    fn local(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.any_type();
        let at: Vec<Expr> = if self.random.one_in(5) { Vec::new() } else { vec![Expr::i32(0)] };
        let shape = vec![1; at.len()];
        let buffer = self.scratch(f, "t", &shape, dtype);
        let t = Target { buffer: buffer.clone(), at: at.clone() };
        let depth = self.options.depth.min(3);
        let value = self.value(dtype, scope, depth);
        let stored = self.hold(value, dtype);
        f.store(&t.buffer, t.at.as_slice(), stored);
        let after = scope.with(self.held(Expr::load(&buffer, at)));
        let value = self.value(dtype, &after, depth);
        let stored = self.hold(value, dtype);
        f.store(&t.buffer, t.at.as_slice(), stored);
        self.compute(f, to, &after);
    }

    /// Computes through a `while` loop of a few rounds on a buffer of one element.
    fn while_loop(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.any_type();
        let t = self.scratch(f, "t", &[1], dtype);
        let count = f.alloc("c", [1], DType::INT32, StorageScope::LOCAL);
        let start = self.value(dtype, scope, 1);
        let start = self.hold(start, dtype);
        f.store(&t, [0], start);
        f.store(&count, [0], 0);
        let after = scope.with(self.held(t.at([0]))).with(Val::new(count.at([0]), 0.0, 8.0, true));
        let times = self.random.between(0, 4) as i32;
        let mut condition = Expr::compare(CompareOp::Lt, count.at([0]), Expr::i32(times));
        if self.random.one_in(3) {
            condition = condition.and(self.condition(1, &after, 1));
        }
        let body = inner(|f| {
            f.store(&count, [0], count.at([0]) + Expr::i32(1));
            self.rounds(f, &t, &after);
        });
        f.push(Stmt::new(StmtKind::While { condition, body }));
        self.compute(f, to, &after);
    }

    /// Appends one round: an update, and sometimes an exit before another.
    fn rounds(&mut self, f: &mut Body, t: &Buffer, scope: &Scope) {
        let update = |this: &mut Self, f: &mut Body| {
            let value = this.value(t.dtype, scope, 2);
            let value = this.hold(value, t.dtype);
            f.store(t, [0], value);
        };
        update(self, f);
        if self.options.while_loops && self.random.one_in(2) {
            let condition = self.condition(1, scope, 1);
            let leave = if self.random.one_in(2) { StmtKind::Break } else { StmtKind::Continue };
            f.if_then(condition, |f| f.push(Stmt::new(leave)));
            update(self, f);
        }
    }

    /// Computes through a serial loop that carries a value.
    fn accumulate(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.any_type();
        let t = self.scratch(f, "acc", &[1], dtype);
        let start = self.value(dtype, scope, 1);
        let start = self.hold(start, dtype);
        f.store(&t, [0], start);
        let size = *self.random.pick(&[Size::M, Size::Const(3), Size::N]);
        let extent = self.extent(size);
        let kind = if extent.as_int().is_some() && self.random.one_in(4) {
            ForKind::Unrolled
        } else {
            ForKind::Serial
        };
        let after = scope.with(self.held(t.at([0])));
        f.for_loop("k", extent, kind, |f, k| {
            let within = after.with_index(size, k);
            if kind == ForKind::Serial {
                return self.rounds(f, &t, &within);
            }
            let value = self.value(dtype, &within, 2);
            let value = self.hold(value, dtype);
            f.store(&t, [0], value);
        });
        self.compute(f, to, &after);
    }

    /// Computes through a buffer of several elements, which a loop of any kind fills and which is
    /// read back.
    fn parts(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.any_type();
        // Sometimes more than a stack should hold.
        let n_parts: u8 = if self.random.one_in(8) { 200 } else { *self.random.pick(&[2, 4, 8, 3]) };
        let size = Size::Const(n_parts);
        let t = self.scratch(f, "part", &[n_parts.into()], dtype);
        let kinds = [ForKind::Serial, ForKind::Unrolled, ForKind::Vectorized, ForKind::Parallel];
        let n_kinds = if self.options.vectorized { 4 } else { 2 };
        let kind = if n_parts > 8 { ForKind::Serial } else { *self.random.pick(&kinds[..n_kinds]) };
        f.for_loop("k", self.extent(size), kind, |f, k| {
            let within = scope.with_index(size, k.clone());
            let value = self.value(dtype, &within, 3);
            let value = self.hold(value, dtype);
            f.store(&t, [k], value);
        });
        let (lo, hi) = match dtype.integer_range() {
            Some((lo, hi)) => (lo as f64, hi as f64),
            None => (-HELD, HELD),
        };
        let exact = !dtype.is_float();
        let tensor = Tensor { buffer: t, shape: vec![size], lo, hi, exact };
        let part = self.load(&tensor, scope).unwrap_or_else(|| self.constant(dtype));
        self.compute(f, to, &scope.with_local(tensor).with(part));
    }

    /// Computes through a function of the module that returns a value.
    fn result(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.any_type();
        let (name, types) = self.helper_with_result(dtype);
        let args: Vec<Expr> = types
            .iter()
            .map(|dtype| {
                let value = self.value(*dtype, scope, 1);
                self.hold(value, *dtype)
            })
            .collect();
        let call = ExprKind::Call { callee: Callee::Global(name), args };
        let known = f.bind("r", Expr::new(call, dtype));
        let known = self.held(known);
        self.compute(f, to, &scope.with(known));
    }

    fn call_extern(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let dtype = self.typed(|dtype| dtype == DType::FLOAT32 || dtype == DType::FLOAT64);
        let Some(dtype) = dtype else { return self.compute(f, to, scope) };
        let value = self.value(dtype, scope, 2);
        let name = *self.random.pick(&EXTERNS);
        let called = self.external(name, value);
        self.store(f, to, called);
    }

    /// Computes with statements without effect around and before the store.
    fn noted(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        match self.random.below(4) {
            0 => {
                let value = self.condition(1, scope, 1);
                f.evaluate(value);
            }
            3 => {
                let index = self.exact_leaf(self.index, scope).expr;
                let same = Expr::compare(CompareOp::Eq, index.clone(), index);
                f.evaluate(Expr::call(Op::Assume, vec![same], DType::HANDLE));
            }
            1 if self.options.exits => self.holds(f, scope),
            _ => {
                let value = self.value(DType::INT32, scope, 1);
                f.evaluate(value.expr);
            }
        }
        self.compute(f, to, scope);
    }

    /// Appends an assertion that holds.
    pub(crate) fn holds(&mut self, f: &mut Body, scope: &Scope) {
        let index = self.exact_leaf(self.index, scope).expr;
        let rest = Expr::binary(chipdock_ir::BinaryOp::FloorMod, index.clone(), self.index_number(8));
        let condition = Expr::compare(CompareOp::Lt, rest, self.index_number(8));
        let kind = *self.random.pick(&["ValueError", "RuntimeError"]);
        let message = vec![Expr::str("a remainder is below 8; found "), index];
        f.push(Stmt::new(StmtKind::Assert { condition, kind: kind.into(), message }));
    }

    /// Computes through a buffer of vector elements.
    fn vector_local(&mut self, f: &mut Body, to: &Target, scope: &Scope) {
        let lanes = *self.random.pick(&[2_u16, 4, 8]);
        let dtype = self.any_type().with_lanes(lanes);
        let t = f.alloc("vec", [2], dtype, StorageScope::LOCAL);
        for at in 0..2 {
            let value = self.value(dtype, scope, 3);
            let stored = self.hold(value, dtype);
            f.store(&t, [at], stored);
        }
        let at = self.random.between(0, 1) as i32;
        let known = self.held(t.at([at]));
        let lane = self.random.below(lanes.into()) as u16;
        let part = self.shuffled(vec![known], vec![lane]);
        let (lo, hi, exact) = (part.lo, part.hi, part.exact);
        let tensor = Tensor { buffer: t, shape: vec![Size::Const(2)], lo, hi, exact };
        self.compute(f, to, &scope.with(part).with_local(tensor));
    }

    /// Returns the address of the first element.
    pub(crate) fn address(buffer: &Buffer) -> Expr {
        let first = buffer.shape.iter().map(|extent| Expr::int(0, extent.dtype)).collect();
        Expr::call(Op::AddressOf, vec![Expr::load(buffer, first)], DType::HANDLE)
    }
}
