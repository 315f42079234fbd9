//! Stages of a program: each computes one tensor from earlier ones.

use chipdock_ir::build::Body;
use chipdock_ir::{
    Attrs, BinaryOp, Buffer, CompareOp, DType, Expr, ForKind, IterKind, Op, Stmt, StmtKind, StorageScope,
};

use super::body::Target;
use super::facts::{Scope, Size, Tensor, Val, number};
use super::loops::Nest;
use super::{Generator, op};

/// Kind of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Each element independently.
    Map,
    /// A reduction over one of two axes, in a block.
    Reduce,
    /// Each element from the previous one.
    Scan,
    /// Elements in any order, one at a time.
    Scatter,
    /// Vectors along the last axis.
    Vectors,
    /// Through another buffer over the same memory.
    View,
    /// A block inside a block.
    Nested,
    /// By calling a function of the module.
    Call,
    /// Atomic additions to elements.
    Atomic,
    /// By threads.
    Threads,
}

const KINDS: [(Kind, usize); 10] = [
    (Kind::Atomic, 1),
    (Kind::Threads, 24),
    (Kind::Map, 10),
    (Kind::Reduce, 4),
    (Kind::Scan, 2),
    (Kind::Scatter, 2),
    (Kind::Vectors, 4),
    (Kind::View, 4),
    (Kind::Nested, 2),
    (Kind::Call, 3),
];

/// Shapes of computed tensors.
const SHAPES: [&[Size]; 7] = [
    &[Size::N],
    &[Size::M],
    &[Size::N, Size::M],
    &[Size::M, Size::N],
    &[Size::Next],
    &[Size::Product],
    &[Size::N, Size::M, Size::Const(2)],
];

impl<'o> Generator<'o> {
    fn allows_kind(&self, kind: Kind) -> bool {
        match kind {
            Kind::Reduce | Kind::Nested => self.options.blocks,
            Kind::Vectors => self.options.vectors,
            Kind::View => self.options.views,
            Kind::Call => self.options.calls,
            Kind::Atomic => self.options.atomics,
            Kind::Threads => self.options.threads,
            Kind::Map | Kind::Scan | Kind::Scatter => true,
        }
    }

    /// Returns the buffer of a tensor to be computed: a new output parameter, or memory of the
    /// kernel.
    pub(crate) fn result_buffer(
        &mut self,
        f: &mut Body,
        name: String,
        shape: &[Size],
        dtype: DType,
        is_output: bool,
    ) -> Buffer {
        if is_output || self.random.one_in(2) {
            return self.output(name, shape, dtype);
        }
        let buffer = Buffer::new(name, self.extents(shape), dtype, StorageScope::GLOBAL);
        if self.options.blocks && self.random.one_in(2) {
            self.allocated.push(buffer.clone());
        } else {
            f.push(Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() }));
        }
        buffer
    }

    /// Makes the computed tensor readable by later stages.
    pub(crate) fn finish_stage(&mut self, buffer: Buffer, shape: Vec<Size>) {
        let (lo, hi, exact) = self.written.take().unwrap_or((-128.0, 128.0, false));
        self.tensors.push(Tensor { buffer, shape, lo, hi, exact });
    }

    pub(crate) fn stage(&mut self, f: &mut Body, at: usize, is_last: bool) {
        let weights: Vec<usize> =
            KINDS.iter().map(|(kind, weight)| if self.allows_kind(*kind) { *weight } else { 0 }).collect();
        let kind = KINDS[self.random.weighted(&weights)].0;
        if kind == Kind::Threads {
            return self.thread_stage(f, at);
        }
        let shape: Vec<Size> = match kind {
            Kind::Map => self.random.pick(&SHAPES).to_vec(),
            Kind::Reduce => self.random.pick(&SHAPES[..2]).to_vec(),
            Kind::Scan | Kind::Call | Kind::Threads => vec![Size::N],
            Kind::Scatter | Kind::Atomic => vec![Size::M],
            Kind::Vectors => self.random.pick(&SHAPES[1..3]).to_vec(),
            Kind::View | Kind::Nested => vec![Size::N, Size::M],
        };
        let dtype = match kind {
            Kind::Atomic => self.atomic_type(),
            _ => self.any_type(),
        };
        self.written = None;
        let to = self.result_buffer(f, format!("B{at}"), &shape, dtype, is_last);
        match kind {
            Kind::Map => self.map(f, &to, &shape),
            Kind::Reduce => self.reduce(f, &to, shape[0]),
            Kind::Scan => self.scan(f, &to),
            Kind::Scatter => self.scatter(f, &to),
            Kind::Vectors => self.vectors(f, &to, &shape),
            Kind::View => self.view(f, &to),
            Kind::Nested => self.nested(f, &to),
            Kind::Call => self.call_stage(f, &to),
            Kind::Atomic => self.atomic(f, &to),
            Kind::Threads => {}
        }
        self.finish_stage(to, shape);
    }

    fn map(&mut self, f: &mut Body, to: &Buffer, shape: &[Size]) {
        let form = self.form();
        let nest = Nest {
            ordered: false,
            straight: form.is_straight() || self.random.one_in(4),
            block: self.in_block(),
        };
        self.nest(f, shape, nest, &Scope::default(), &mut |this, f, scope| {
            let at = scope.at.iter().map(|(_, index)| index.clone()).collect();
            let to = Target { buffer: to.clone(), at };
            this.element_body(f, form, &to, scope);
        });
    }

    fn reduce(&mut self, f: &mut Body, to: &Buffer, kept: Size) {
        let mut gone = if kept == Size::M { Size::N } else { Size::M };
        if gone == Size::N && !self.never_empty {
            // A reduction over zero elements leaves its result undefined.
            gone = Size::Const(3);
        }
        let nest = Nest { ordered: false, straight: false, block: true };
        let in_order = Nest { ordered: true, ..nest };
        let (s, r) = (self.extent(kept), self.extent(gone));
        let kinds = [self.kind(&s, false, nest), self.kind(&r, false, in_order)];
        let pick = self.random.below(6);
        let block = |this: &mut Self, f: &mut Body, along: &Expr, over: &Expr| {
            f.block("R", |f| {
                let spatial = f.spatial("vs", &s, along);
                let reduced = f.reduce("vr", &r, over);
                let scope = Scope::default().with_index(kept, spatial.clone()).with_index(gone, reduced);
                let (start, op) = this.reducer(pick, to.dtype);
                f.init(|f| f.store(to, [&spatial], start));
                let term = this.term(op, to.dtype, &scope);
                let own = to.at([&spatial]);
                let (a, b) =
                    if op != BinaryOp::Sub && this.random.one_in(4) { (term, own) } else { (own, term) };
                let value = if to.dtype.is_bool() { a.or(b) } else { Expr::binary(op, a, b) };
                f.store(to, [&spatial], value);
            });
        };
        if self.random.one_in(2) {
            f.for_loop("r", &r, kinds[1], |f, over| {
                f.for_loop("s", &s, kinds[0], |f, along| block(self, f, &along, &over));
            });
        } else {
            f.for_loop("s", &s, kinds[0], |f, along| {
                f.for_loop("r", &r, kinds[1], |f, over| block(self, f, &along, &over));
            });
        }
    }

    /// Returns the initial value and the operator of a reduction. Booleans are reduced by `or`.
    fn reducer(&mut self, pick: usize, dtype: DType) -> (Expr, BinaryOp) {
        if dtype.is_bool() {
            return (Expr::bool(false), BinaryOp::Add);
        }
        let (low, high) = match dtype.integer_range() {
            Some((low, high)) => (Expr::int(low, dtype), Expr::int(high, dtype)),
            None => (Expr::float(-999.0, dtype), Expr::float(999.0, dtype)),
        };
        match pick {
            0 | 1 => (number(0.0, dtype), BinaryOp::Add),
            2 => (low, BinaryOp::Max),
            3 => (high, BinaryOp::Min),
            4 => (number(0.0, dtype), BinaryOp::Sub),
            _ => (number(1.0, dtype), BinaryOp::Mul),
        }
    }

    /// Returns one term of a reduction, small enough that all terms together stay in range.
    fn term(&mut self, op: BinaryOp, dtype: DType, scope: &Scope) -> Expr {
        let depth = self.options.depth;
        let term = self.value(dtype, scope, depth);
        if !dtype.is_float() {
            self.note(&Val::any(term.expr.clone()));
            return term.expr;
        }
        let (term, most) = match op {
            BinaryOp::Mul => (term.clamp(-1.5, 1.5), 60.0),
            BinaryOp::Min | BinaryOp::Max => (term.clamp(-900.0, 900.0), 1000.0),
            _ => (term.clamp(-50.0, 50.0), 600.0),
        };
        self.note(&Val::new(term.expr.clone(), -most, most, false));
        term.expr
    }

    fn scan(&mut self, f: &mut Body, to: &Buffer) {
        let nest = Nest { ordered: true, straight: false, block: self.in_block() };
        self.nest(f, &[Size::N], nest, &Scope::default(), &mut |this, f, scope| {
            let Some((_, i)) = scope.at.first().cloned() else { return };
            let zero = this.index_number(0);
            let first = Expr::compare(CompareOp::Gt, i.clone(), zero);
            let before = to.at([i.clone() - this.index_number(1)]);
            let start = this.constant(to.dtype).expr;
            let carried = Expr::call(Op::IfThenElse, vec![first, before, start], to.dtype);
            let carried =
                if to.dtype.is_float() { Val::new(carried, -100.0, 100.0, false) } else { Val::any(carried) };
            let value = this.value(to.dtype, &scope.with(carried.clone()), 3);
            let value = if this.random.one_in(2) && !to.dtype.is_bool() {
                op::binary(BinaryOp::Add, carried, value)
            } else {
                value
            };
            let value = op::convert(value, to.dtype, &mut this.random);
            let value = if to.dtype.is_float() { value.clamp(-100.0, 100.0) } else { value };
            this.note(&value);
            f.store(to, [i], value.expr);
        });
    }

    fn scatter(&mut self, f: &mut Body, to: &Buffer) {
        let start = self.constant(to.dtype);
        self.note(&start);
        f.for_loop("k", self.extent(Size::M), ForKind::Serial, |f, k| f.store(to, [k], start.expr));
        let nest = Nest { ordered: true, straight: false, block: self.in_block() };
        let size = *self.random.pick(&[Size::N, Size::M, Size::Next]);
        self.nest(f, &[size], nest, &Scope::default(), &mut |this, f, scope| {
            let outside = Scope {
                at: Vec::new(),
                known: scope.at.iter().map(|(_, index)| Val::new(index.clone(), 0.0, 9.0, true)).collect(),
                ..Scope::default()
            };
            let Some(place) = this.index(Size::M, &outside) else { return };
            let place = f.bind("place", place);
            let own = to.at([&place]);
            let own = if to.dtype.is_float() { Val::new(own, -100.0, 100.0, false) } else { Val::any(own) };
            let value = this.value(to.dtype, &scope.with(own.clone()), 2);
            let value = if to.dtype.is_bool() { value } else { op::binary(BinaryOp::Add, own, value) };
            let value = if to.dtype.is_float() { value.clamp(-100.0, 100.0) } else { value };
            this.note(&value);
            f.store(to, [&place], value.expr);
        });
    }

    fn atomic(&mut self, f: &mut Body, to: &Buffer) {
        let start = self.constant(to.dtype);
        f.for_loop("k", self.extent(Size::M), ForKind::Serial, |f, k| f.store(to, [k], start.expr));
        f.for_loop("i", self.extent(Size::N), ForKind::Serial, |f, i| {
            let scope = Scope::default().with_index(Size::N, i);
            self.add_atomically(f, to, Size::M, &scope);
        });
        self.written = Some((-1000.0, 1000.0, false));
    }

    /// Chooses a type that atomic additions support.
    pub(crate) fn atomic_type(&mut self) -> DType {
        let fits = |dtype: DType| {
            dtype.is_integer() && dtype.bits >= 32 || dtype.is_float() && dtype != DType::BFLOAT16
        };
        self.typed(fits).unwrap_or(DType::INT32)
    }

    /// Appends an atomic addition to a random element.
    pub(crate) fn add_atomically(&mut self, f: &mut Body, to: &Buffer, size: Size, scope: &Scope) {
        let Some(place) = self.index(size, scope) else { return };
        let value = self.value(to.dtype, scope, 2);
        let value = if to.dtype.is_float() { value.clamp(-50.0, 50.0) } else { value };
        let address = Expr::call(Op::AddressOf, vec![to.at([&place])], DType::HANDLE);
        f.evaluate(Expr::call(Op::AtomicAdd, vec![address, value.expr], to.dtype));
    }

    /// Computes with a block for each row, and an inner block for each element.
    fn nested(&mut self, f: &mut Body, to: &Buffer) {
        let (n, m) = (self.extent(Size::N), self.extent(Size::M));
        let nest = Nest { ordered: false, straight: false, block: true };
        let kinds = [self.kind(&n, false, nest), self.kind(&m, false, nest)];
        let dtype = self.any_type();
        let form = self.form();
        f.for_loop("i", &n, kinds[0], |f, i| {
            f.block("row", |f| {
                let row = f.axis("vi", IterKind::Spatial, &n, i);
                let scope = Scope::default().with_index(Size::N, row.clone());
                let shared = f.block_alloc("kept", [2], dtype, StorageScope::LOCAL);
                let value = self.value(dtype, &scope, 2);
                let value = if dtype.is_float() { value.clamp(-50.0, 50.0) } else { value };
                f.store(&shared, [1], value.expr.clone());
                let known = Val { expr: shared.at([1]), ..value };
                f.for_loop("j", &m, kinds[1], |f, j| {
                    f.block("cell", |f| {
                        let column = f.spatial("vj", &m, j);
                        let scope = scope.with(known.clone()).with_index(Size::M, column.clone());
                        let to = Target { buffer: to.clone(), at: vec![row.clone(), column] };
                        self.element_body(f, form, &to, &scope);
                    });
                });
            });
        });
    }
}
