//! Random expressions of a requested type, from the values known at a position.

use chipdock_ir::limits::LANES_MAX;
use chipdock_ir::op::{DotProduct, Gives};
use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, Op, Signature, Var};

use super::Generator;
use super::facts::{Scope, Tensor, Val, number};
use super::op;
use super::rotation::takes;

/// Every comparison.
pub(crate) const COMPARES: &[CompareOp] = CompareOp::ALL;

/// Arithmetic operators: those of floats first, then those of integers only.
pub(crate) const ARITHMETIC: [BinaryOp; 9] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::Mod,
    BinaryOp::FloorDiv,
    BinaryOp::FloorMod,
];
/// Number of arithmetic operators for floats.
pub(crate) const N_FLOAT_ARITHMETIC: usize = 6;

/// C library functions that may be called by name, without the suffix of float32.
pub(crate) const EXTERNS: [&str; 6] = ["sqrt", "exp", "fabs", "floor", "tanh", "trunc"];

impl Generator<'_> {
    /// Generates a value of a type, which may be a vector.
    pub(crate) fn value(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(dtype, scope);
        }
        match self.random.weighted(&[8, 6, 2, 1, 3, 1, 2, 1]) {
            0 => self.arithmetic(dtype, scope, depth - 1),
            1 => self.function(dtype, scope, depth - 1),
            2 => self.select(dtype, scope, depth - 1),
            3 => self.lazy(dtype, scope, depth - 1),
            4 => {
                let from = self.any_type().with_lanes(dtype.lanes);
                let value = self.value(from, scope, depth - 1);
                op::convert(value, dtype, &mut self.random)
            }
            5 if dtype.is_scalar() => self.let_in(dtype, scope, depth - 1),
            6 => self.guarded(dtype, scope),
            7 if !dtype.is_scalar() => self.shuffle(dtype, scope, depth - 1),
            _ => self.leaf(dtype, scope),
        }
    }

    /// Generates a boolean, mostly a comparison.
    pub(crate) fn condition(&mut self, lanes: u16, scope: &Scope, depth: u32) -> Expr {
        let value = match self.random.below(4) {
            0 => self.value(DType::BOOL.with_lanes(lanes), scope, depth),
            _ => self.comparison(lanes, scope, depth),
        };
        value.expr
    }

    fn comparison(&mut self, lanes: u16, scope: &Scope, depth: u32) -> Val {
        let dtype = self.any_type().with_lanes(lanes);
        let depth = depth.min(2);
        let (a, b) = (self.value(dtype, scope, depth), self.value(dtype, scope, depth));
        op::compare(*self.random.pick(COMPARES), a, b)
    }

    fn arithmetic(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        if dtype.is_bool() {
            return self.logic(dtype, scope, depth);
        }
        if dtype.is_int() && self.random.one_in(12) {
            return self.negated(dtype, scope, depth);
        }
        let n = if dtype.is_float() { N_FLOAT_ARITHMETIC } else { ARITHMETIC.len() };
        let op = ARITHMETIC[self.random.below(n)];
        let a = self.value(dtype, scope, depth);
        let b = if self.random.one_in(3) { self.constant(dtype) } else { self.value(dtype, scope, depth) };
        op::binary(op, a, b)
    }

    /// Generates a quotient of a number near an end of its type, together with that of its
    /// negation: the least integer is its own.
    fn negated(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        const DIVISIONS: [BinaryOp; 4] =
            [BinaryOp::Div, BinaryOp::FloorDiv, BinaryOp::Mod, BinaryOp::FloorMod];
        let value = self.value(dtype, scope, depth);
        let near = if value.exact { value } else { self.exact_leaf(dtype, scope) }.clamp(-2.0, 2.0);
        let (least, most) = dtype.scalar().integer_range().unwrap_or((0, 0));
        let end = *self.random.pick(&[least, least, most, 0]);
        let number = near.expr + Expr::int(end, dtype);
        let int = |value: i128| Expr::int(value, dtype);
        let other = match self.random.below(3) {
            0 => int(0) - number.clone(),
            1 => number.clone() * int(-1),
            _ => int(end) - (number.clone() + int(end)),
        };
        let by = int(*self.random.pick(&[10, 10, 3, -7, 2, least]));
        let op = *self.random.pick(&DIVISIONS);
        let quotient = |of: Expr| Expr::binary(op, of, by.clone());
        let both = quotient(number) * int(3) - quotient(other);
        Val { exact: near.exact, ..Val::any(both) }
    }

    fn logic(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        if self.random.one_in(3) {
            return self.comparison(dtype.lanes, scope, depth);
        }
        let a = self.value(dtype, scope, depth);
        let kind = self.random.below(4);
        if kind == 0 {
            return Val::any(a.expr.logical_not());
        }
        let b = self.value(dtype, scope, depth);
        Val::any(match kind {
            1 => a.expr.and(b.expr),
            2 => a.expr.or(b.expr),
            _ => Expr::compare(*self.random.pick(COMPARES), a.expr, b.expr),
        })
    }

    /// Generates a call of an op that the options allow for the type.
    fn function(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let ops: Vec<Op> =
            self.options.ops.iter().copied().filter(|op| gives(*op, dtype) && op::is_stated(*op)).collect();
        if ops.is_empty() {
            return self.leaf(dtype, scope);
        }
        let op = *self.random.pick(&ops);
        let operand = match op {
            _ if op.signature() == Signature::FloatTest => match self.float_type() {
                Some(float) => float.with_lanes(dtype.lanes),
                None => return self.leaf(dtype, scope),
            },
            Op::DotAdd => dtype,
            Op::Dp4a if dtype == DType::INT32 => DType::INT8,
            Op::Dp4a => DType::UINT8,
            _ if op.signature() == Signature::IntCount => match self.integer_type() {
                Some(integer) => integer.with_lanes(dtype.lanes),
                None => return self.leaf(dtype, scope),
            },
            _ => dtype,
        };
        if !self.options.has(op, operand) {
            return self.leaf(dtype, scope);
        }
        self.call(op, operand, scope, depth)
    }

    /// Generates a call of an op with a first operand of the type.
    pub(crate) fn call(&mut self, called: Op, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let operand = |this: &mut Self, dtype: DType| {
            let value = this.value(dtype, scope, depth);
            let useless = op::wants_exact(called) && !value.exact && !this.random.one_in(8);
            if useless { this.exact_leaf(dtype, scope) } else { value }
        };
        match called {
            Op::IfThenElse => self.lazy(dtype, scope, depth),
            Op::Likely => {
                let value = operand(self, dtype);
                Val::any(Expr::call(Op::Likely, vec![value.expr], dtype))
            }
            Op::Reinterpret => {
                let value = operand(self, dtype);
                self.reinterpret(value)
            }
            Op::ThreadInvariant => {
                let value = operand(self, dtype);
                Val { expr: Expr::call(Op::ThreadInvariant, vec![value.expr], dtype), ..value }
            }
            Op::QMultiplyShift | Op::QMultiplyShiftPerAxis => {
                let (a, b) = (operand(self, dtype), operand(self, dtype));
                self.quantised(called == Op::QMultiplyShiftPerAxis, a, b)
            }
            Op::DotAdd => self.dot_add(dtype, scope, depth),
            Op::Dp4a => self.dot(dtype, scope, depth),
            _ if called.signature() == Signature::FloatTernary => {
                let [a, b, c] = [(); 3].map(|()| operand(self, dtype));
                op::op3(called, a, b, c)
            }
            Op::Ldexp => {
                let a = operand(self, dtype);
                let power = DType::INT32.with_lanes(dtype.lanes);
                let b = if self.random.one_in(2) { self.leaf(power, scope) } else { self.constant(power) };
                op::op2(called, a, b)
            }
            Op::ShiftLeft | Op::ShiftRight => {
                let a = operand(self, dtype);
                let b = if self.random.one_in(2) { self.shift_amount(dtype) } else { operand(self, dtype) };
                op::op2(called, a, b)
            }
            _ if called.arity() == 2 => {
                let (a, b) = (operand(self, dtype), operand(self, dtype));
                op::op2(called, a, b)
            }
            _ => {
                let value = operand(self, dtype);
                op::op1(called, value)
            }
        }
    }

    /// Generates a product of int32 as in quantised kernels.
    pub(crate) fn quantised(&mut self, per_axis: bool, a: Val, b: Val) -> Val {
        let dtype = a.dtype();
        let scalar = |this: &mut Self, low, high| Expr::i32(this.random.between(low, high) as i32);
        let q = scalar(self, 1, 31);
        let (op, args) = if per_axis {
            let shifts =
                [scalar(self, 0, 7).broadcast(dtype.lanes), scalar(self, 0, 7).broadcast(dtype.lanes)];
            let flags = [scalar(self, 0, 1), scalar(self, 0, 1)];
            let args = [a.expr, b.expr].into_iter().chain(shifts).chain([q]).chain(flags);
            (Op::QMultiplyShiftPerAxis, args.collect())
        } else {
            (Op::QMultiplyShift, vec![a.expr, b.expr, q, scalar(self, -3, 7)])
        };
        Val { exact: a.exact && b.exact, ..Val::any(Expr::call(op, args, dtype)) }
    }

    /// Generates a sum of four products of int8 or uint8.
    pub(crate) fn dot(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let sum = super::rotation::sum_of(dtype);
        let four = dtype.scalar().with_lanes(4);
        let (a, b) = (self.value(four, scope, depth), self.value(four, scope, depth));
        let start = self.value(sum, scope, depth);
        let exact = a.exact && b.exact && start.exact;
        Val { exact, ..Val::any(Expr::call(Op::Dp4a, vec![a.expr, b.expr, start.expr], sum)) }
    }

    /// Generates a sum of int32 and products of groups, of types that the options have.
    pub(crate) fn dot_add(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let has = |dot: &&DotProduct| {
            dot.sum == DType::INT32 && [dot.a, dot.b].iter().all(|of| self.options.types.contains(of))
        };
        let known: Vec<DotProduct> = DotProduct::ALL.iter().filter(has).copied().collect();
        let lanes_max = known.iter().map(|dot| dot.group.saturating_mul(dtype.lanes)).max();
        if dtype.scalar() != DType::INT32 || lanes_max.is_none_or(|lanes| lanes > LANES_MAX) {
            return self.leaf(dtype, scope);
        }
        let dot = *self.random.pick(&known);
        let wide = dot.group * dtype.lanes;
        let [a, b] = [dot.a, dot.b].map(|of| self.value(of.with_lanes(wide), scope, depth));
        let start = self.value(dtype, scope, depth);
        let exact = a.exact && b.exact && start.exact;
        Val { exact, ..Val::any(Expr::call(Op::DotAdd, vec![start.expr, a.expr, b.expr], dtype)) }
    }

    /// Generates a shift amount, which may exceed the width or be negative.
    fn shift_amount(&mut self, dtype: DType) -> Val {
        let bits = i64::from(dtype.bits);
        let amount = self.random.between(if dtype.is_int() { -3 } else { 0 }, bits + 2);
        Val::new(number(amount as f64, dtype), amount as f64, amount as f64, true)
    }

    /// Reinterprets the bits of a value as another type; if that would be an arbitrary float, also
    /// converts them back.
    pub(crate) fn reinterpret(&mut self, value: Val) -> Val {
        let dtype = value.dtype();
        let bits = |code: DType| Expr::call(Op::Reinterpret, vec![value.expr.clone()], code);
        let sized = |list: [DType; 4]| list.into_iter().find(|to| to.bits == dtype.bits);
        let signed = sized([DType::INT8, DType::INT16, DType::INT32, DType::INT64]);
        let unsigned = sized([DType::UINT8, DType::UINT16, DType::UINT32, DType::UINT64]);
        let (Some(signed), Some(unsigned)) = (signed, unsigned) else { return value };
        let other = if dtype.is_int() { unsigned } else { signed }.with_lanes(dtype.lanes);
        let there = bits(other);
        if dtype.is_float() {
            // Flips the sign bit and converts back.
            let mask = Expr::int(-1_i128 << (dtype.bits - 1), other);
            let flipped = Expr::call(Op::BitwiseXor, vec![there, mask], other);
            let back = Expr::call(Op::Reinterpret, vec![flipped], dtype);
            return Val::new(back, -value.hi, -value.lo, value.exact);
        }
        let back = Expr::call(Op::Reinterpret, vec![there + Expr::int(1, other)], dtype);
        Val { exact: value.exact, ..Val::any(back) }
    }

    fn select(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let condition = self.condition(dtype.lanes, scope, depth);
        let (a, b) = (self.value(dtype, scope, depth), self.value(dtype, scope, depth));
        let (lo, hi) = (a.lo.min(b.lo), a.hi.max(b.hi));
        Val::new(Expr::select(condition, a.expr, b.expr), lo, hi, a.exact && b.exact)
    }

    fn lazy(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let condition = self.condition(1, scope, depth);
        let (a, b) = (self.value(dtype, scope, depth), self.value(dtype, scope, depth));
        let (lo, hi) = (a.lo.min(b.lo), a.hi.max(b.hi));
        let call = Expr::call(Op::IfThenElse, vec![condition, a.expr, b.expr], dtype);
        Val::new(call, lo, hi, a.exact && b.exact)
    }

    fn let_in(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let of = self.any_type();
        let value = self.value(of, scope, depth);
        let var = Var::new("v", of);
        let known = Val { expr: var.expr(), ..value.clone() };
        let body = self.value(dtype, &scope.with(known), depth);
        let kind = ExprKind::Let { var, value: value.expr, body: body.expr };
        Val { expr: Expr::new(kind, dtype), ..body }
    }

    /// Generates a call of a C library function by name.
    pub(crate) fn external(&mut self, name: &str, value: Val) -> Val {
        let dtype = value.dtype();
        let value = value.clamp(0.0, 8.0);
        let name = if dtype == DType::FLOAT32 { format!("{name}f") } else { name.to_owned() };
        let callee = Callee::Extern { name: name.into(), pure: true };
        let call = Expr::new(ExprKind::Call { callee, args: vec![value.expr] }, dtype);
        Val::new(call, 0.0, 3000.0, false)
    }

    fn shuffle(&mut self, dtype: DType, scope: &Scope, depth: u32) -> Val {
        let widths: Vec<u16> =
            (0..1 + self.random.below(2)).map(|_| *self.random.pick(&[dtype.lanes, 2, 4, 1])).collect();
        let vectors: Vec<Val> =
            widths.iter().map(|lanes| self.value(dtype.with_lanes(*lanes), scope, depth)).collect();
        let total: usize = widths.iter().map(|lanes| usize::from(*lanes)).sum();
        let indices = (0..dtype.lanes).map(|_| self.random.below(total) as u16).collect();
        self.shuffled(vectors, indices)
    }

    pub(crate) fn shuffled(&mut self, vectors: Vec<Val>, indices: Vec<u16>) -> Val {
        let lo = vectors.iter().map(|vector| vector.lo).fold(f64::INFINITY, f64::min);
        let hi = vectors.iter().map(|vector| vector.hi).fold(f64::NEG_INFINITY, f64::max);
        let exact = vectors.iter().all(|vector| vector.exact);
        let dtype = vectors.first().map_or(DType::BOOL, Val::dtype).with_lanes(indices.len() as u16);
        let vectors = vectors.into_iter().map(|vector| vector.expr).collect();
        Val::new(Expr::new(ExprKind::Shuffle { vectors, indices }, dtype), lo, hi, exact)
    }

    /// Generates a constant, mostly a small one.
    pub(crate) fn constant(&mut self, dtype: DType) -> Val {
        let value = if dtype.is_float() {
            self.random.between(-24, 24) as f64 / 8.0
        } else if dtype.is_bool() {
            self.random.between(0, 1) as f64
        } else {
            let low = if dtype.is_uint() { 0 } else { -4 };
            match self.random.below(4) {
                0 => *self.random.pick(&[1.0, 2.0, 4.0, 8.0, 16.0, 64.0]),
                _ => self.random.between(low, 11) as f64,
            }
        };
        Val::new(number(value, dtype), value, value, true)
    }

    // Readable values.

    pub(crate) fn leaf(&mut self, dtype: DType, scope: &Scope) -> Val {
        if !dtype.is_scalar() {
            return self.vector_leaf(dtype, scope);
        }
        let found = match self.random.weighted(&[2, 3, 7, 1]) {
            0 => None,
            1 => self.known(dtype, scope),
            2 => self.element(dtype, scope),
            _ if scope.at.is_empty() => None,
            _ => {
                let index = self.random.pick(&scope.at).1.clone();
                Some(Val::new(index, 0.0, 100.0, true))
            }
        };
        match found {
            Some(value) => op::convert(value, dtype, &mut self.random),
            None => self.constant(dtype),
        }
    }

    /// Generates a leaf that every backend computes exactly.
    pub(crate) fn exact_leaf(&mut self, dtype: DType, scope: &Scope) -> Val {
        for _ in 0..3 {
            let leaf = self.leaf(dtype, scope);
            if leaf.exact {
                return leaf;
            }
        }
        self.constant(dtype)
    }

    fn known(&mut self, dtype: DType, scope: &Scope) -> Option<Val> {
        let all: Vec<&Val> = scope.known.iter().chain(&self.scalars).collect();
        let alike: Vec<&Val> = all.iter().copied().filter(|known| known.dtype() == dtype).collect();
        let list = if alike.is_empty() || self.random.one_in(3) { all } else { alike };
        (!list.is_empty()).then(|| Val::clone(list[self.random.below(list.len())]))
    }

    /// Loads an element of a tensor, mostly one of that type, if there is one.
    fn element(&mut self, dtype: DType, scope: &Scope) -> Option<Val> {
        let all: Vec<Tensor> = scope.local.iter().chain(&self.tensors).cloned().collect();
        let alike: Vec<Tensor> =
            all.iter().filter(|tensor| tensor.buffer.dtype.scalar() == dtype).cloned().collect();
        let list = if alike.is_empty() || self.random.one_in(3) { all } else { alike };
        let tensor = (!list.is_empty()).then(|| self.random.pick(&list).clone())?;
        self.load(&tensor, scope)
    }

    /// Loads an in-bounds element of a tensor, if there is one; of a vector element one lane.
    pub(crate) fn load(&mut self, tensor: &Tensor, scope: &Scope) -> Option<Val> {
        let indices = tensor.shape.iter().map(|size| self.index(*size, scope)).collect::<Option<Vec<_>>>()?;
        let value = Val::new(Expr::load(&tensor.buffer, indices), tensor.lo, tensor.hi, tensor.exact);
        let lanes = tensor.buffer.dtype.lanes;
        if lanes == 1 {
            return Some(value);
        }
        let lane = self.random.below(usize::from(lanes)) as u16;
        Some(self.shuffled(vec![value], vec![lane]))
    }

    /// Generates a load that is executed only if its index is in bounds.
    fn guarded(&mut self, dtype: DType, scope: &Scope) -> Val {
        let tensors: Vec<Tensor> =
            self.tensors.iter().filter(|tensor| tensor.buffer.dtype.is_scalar()).cloned().collect();
        if !dtype.is_scalar() || tensors.is_empty() {
            return self.leaf(dtype, scope);
        }
        let tensor = self.random.pick(&tensors).clone();
        let mut inside: Option<Expr> = None;
        let mut indices = Vec::new();
        for size in &tensor.shape {
            let near = scope.at.iter().rev().find(|(of, _)| of == size).map(|(_, index)| index.clone());
            let offset = self.random.between(-2, 4);
            let index = match near {
                Some(index) => index + self.index_number(offset),
                None => self.index_number(offset),
            };
            let low = Expr::compare(CompareOp::Ge, index.clone(), self.index_number(0));
            let high = Expr::compare(CompareOp::Lt, index.clone(), self.extent(*size));
            let both = low.and(high);
            inside = Some(match inside {
                Some(inside) => inside.and(both),
                None => both,
            });
            indices.push(index);
        }
        let inside = inside.unwrap_or_else(|| Expr::bool(true));
        let other = self.constant(tensor.buffer.dtype);
        let load = Expr::load(&tensor.buffer, indices);
        let (lo, hi) = (tensor.lo.min(other.lo), tensor.hi.max(other.hi));
        let call = Expr::call(Op::IfThenElse, vec![inside, load, other.expr], tensor.buffer.dtype);
        op::convert(Val::new(call, lo, hi, tensor.exact), dtype, &mut self.random)
    }
}

/// Returns true if an op has a result of the type for some operands.
fn gives(op: Op, dtype: DType) -> bool {
    match op.info().gives {
        _ if op == Op::Dp4a => dtype == DType::INT32 || dtype == DType::UINT32,
        _ if op == Op::DotAdd => dtype.scalar() == DType::INT32,
        Gives::LanesOf(_, result) => dtype.scalar() == result,
        _ => takes(op, dtype),
    }
}
