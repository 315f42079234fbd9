//! Values that need both words, and calls with 64-bit arguments.

use std::sync::Arc;

use chipdock_ir::op::Threads;
use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, Op};

use super::{Answer, Lowerer, is_wide};
use crate::types::lower_intrinsics::bits;
use crate::types::lower_intrinsics::kit::Steps;
use crate::types::words::{self, Quotient, Words};

impl Lowerer<'_> {
    /// Both words of an integer of 64 bits, whatever its range (INT64-W2).
    pub(super) fn whole(&mut self, e: &Expr) -> Answer<Words> {
        let lanes = e.dtype.lanes;
        match &e.kind {
            ExprKind::Int(value) => Ok(self.arithmetic(lanes, |s| words::constant(s, *value))),
            ExprKind::Var(var) => {
                let value = self.variable(var)?;
                Ok(self.arithmetic(lanes, |s| value.words(s)))
            }
            ExprKind::Cast(value) => self.cast_from(e, value),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.words(a)?, self.words(b)?);
                Ok(self.arithmetic(lanes, |s| binary(s, *op, &x, &y, e.dtype.is_int())))
            }
            ExprKind::Select(condition, a, b) => {
                let condition = self.other(condition)?;
                let condition = self.named("condition", condition);
                let (a, b) = (self.words(a)?, self.words(b)?);
                Ok(self.arithmetic(lanes, |s| words::choice(s, &condition, &a, &b)))
            }
            ExprKind::Load { buffer, indices, predicate } => {
                self.load_words(e, buffer, indices, predicate.as_ref())
            }
            ExprKind::Ramp { base, stride, lanes } => {
                let count = Expr::i32(0).ramp(Expr::i32(1), *lanes).cast(e.dtype);
                let sum = base.clone().broadcast(*lanes) + stride.clone().broadcast(*lanes) * count;
                self.words(&sum)
            }
            ExprKind::Broadcast { value, lanes } => {
                let Words { high, low } = self.words(value)?;
                Ok(Words { high: high.broadcast(*lanes), low: low.broadcast(*lanes) })
            }
            ExprKind::Shuffle { vectors, indices } => {
                let parts = vectors.iter().map(|vector| self.words(vector)).collect::<Answer<Vec<_>>>()?;
                let pick = |word: &dyn Fn(&Words) -> Expr| {
                    words::shuffled(parts.iter().map(word).collect(), indices.clone())
                };
                let (high, low) = (pick(&|words| words.high.clone()), pick(&|words| words.low.clone()));
                Ok(self.arithmetic(lanes, |s| words::named(s, high, low)))
            }
            ExprKind::Let { var, value, body } => {
                self.name(var, value)?;
                self.words(body)
            }
            ExprKind::Call { callee, args } => self.call(e, callee, args),
            _ => Err(self.refused(format!("{e:?} is none"))),
        }
    }

    fn cast_from(&mut self, e: &Expr, value: &Expr) -> Answer<Words> {
        if is_wide(value.dtype) {
            return self.words(value);
        }
        let is_signed = e.dtype.is_int();
        let x = self.other(value)?;
        Ok(self.arithmetic(e.dtype.lanes, |s| {
            if x.dtype.is_float() {
                words::from_float(s, &x, is_signed)
            } else if x.dtype.is_int() {
                words::extended(s, &words::as_signed(x))
            } else {
                Words { high: s.u32(0), low: s.name("low", words::as_unsigned(x)) }
            }
        }))
    }

    fn call(&mut self, e: &Expr, callee: &Callee, args: &[Expr]) -> Answer<Words> {
        let op = match callee {
            Callee::Op(op) => *op,
            Callee::Global(name) => return self.call_of_function(name, args),
            Callee::Extern { name, .. } => {
                return Err(self.refused(format!("the C function {name} returns one")));
            }
        };
        let lanes = e.dtype.lanes;
        match (op, args) {
            (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) => {
                let (a, b) = (self.words(a)?, self.words(b)?);
                Ok(self.arithmetic(lanes, |s| words::bitwise(s, op, &a, &b)))
            }
            (Op::ShiftLeft | Op::ShiftRight, [a, b]) => {
                let (a, count) = (self.words(a)?, self.low(b)?);
                Ok(self.arithmetic(lanes, |s| match op {
                    Op::ShiftLeft => words::to_left(s, &a, &count),
                    _ => words::to_right(s, &a, &count, e.dtype.is_int()),
                }))
            }
            (Op::BitwiseNot, [a]) => {
                let a = self.words(a)?;
                Ok(self.arithmetic(lanes, |s| words::complement(s, &a)))
            }
            (Op::Abs, [a]) => {
                let a = self.words(a)?;
                Ok(if e.dtype.is_int() { self.arithmetic(lanes, |s| words::magnitude(s, &a)) } else { a })
            }
            (Op::Popcount, [a]) => {
                let Words { high, low } = self.words(a)?;
                let low = self.named("count", self.ones(low) + self.ones(high));
                Ok(self.arithmetic(lanes, |s| Words { high: s.u32(0), low }))
            }
            (Op::IfThenElse, [condition, a, b]) => {
                let condition = self.other(condition)?;
                let a = self.apart(|this| Ok(words::packed(&this.words(a)?)))?;
                let b = self.apart(|this| Ok(words::packed(&this.words(b)?)))?;
                let dtype = a.dtype;
                let both = self.named("both", Expr::call(op, vec![condition, a, b], dtype));
                Ok(self.arithmetic(lanes, |s| words::unpacked(s, &both)))
            }
            (Op::Reinterpret, [a]) if is_wide(a.dtype) => self.words(a),
            (Op::Reinterpret, [a]) => {
                let a = self.other(a)?;
                Ok(self.arithmetic(lanes, |s| words::bits_of(s, &a)))
            }
            (_, [mask, value, lane, width, size]) if op.threads() == Threads::Shuffle => {
                self.shuffle(op, [mask, value, lane, width, size])
            }
            _ => Err(self.refused(format!("{} of one cannot be made of two of 32 bits", op.name()))),
        }
    }

    /// Number of set bits of a word.
    fn ones(&self, word: Expr) -> Expr {
        if !self.capabilities.execution.has_native(Op::Popcount) {
            return bits::popcount(&word);
        }
        let dtype = word.dtype;
        Expr::call(Op::Popcount, vec![word], dtype)
    }

    fn shuffle(&mut self, op: Op, [mask, value, lane, width, size]: [&Expr; 5]) -> Answer<Words> {
        let (mask, lane) = (self.other(mask)?, self.other(lane)?);
        let (mask, lane) = (self.named("mask", mask), self.named("lane", lane));
        let Words { high, low } = self.words(value)?;
        let mut moved = |word: Expr| {
            let dtype = word.dtype;
            let args = vec![mask.clone(), word, lane.clone(), width.clone(), size.clone()];
            self.named("moved", Expr::call(op, args, dtype))
        };
        let low = moved(low);
        Ok(Words { high: moved(high), low })
    }

    /// The arguments of a function of the module, each integer of 64 bits as two (INT64-W7).
    fn arguments(&mut self, args: &[Expr]) -> Answer<Vec<Expr>> {
        let mut own = Vec::with_capacity(args.len());
        for arg in args {
            if is_wide(arg.dtype) {
                let Words { high, low } = self.words(arg)?;
                own.extend([low, high]);
            } else {
                own.push(self.other(arg)?);
            }
        }
        Ok(own)
    }

    fn call_of_function(&mut self, name: &Arc<str>, args: &[Expr]) -> Answer<Words> {
        let args = self.arguments(args)?;
        let args: Vec<Expr> = args.into_iter().map(|arg| self.named("argument", arg)).collect();
        let upper = self.upper.get(name).cloned().unwrap_or_else(|| Arc::clone(name));
        let mut word = |name: &Arc<str>| {
            let kind = ExprKind::Call { callee: Callee::Global(Arc::clone(name)), args: args.clone() };
            self.named("word", Expr::new(kind, DType::UINT32))
        };
        let low = word(name);
        Ok(Words { high: word(&upper), low })
    }

    pub(super) fn other_call(&mut self, e: &Expr, callee: &Callee, args: &[Expr]) -> Answer<Expr> {
        let takes_one = args.iter().any(|arg| is_wide(arg.dtype));
        match (callee, args) {
            (Callee::Global(_), _) => {
                let kind = ExprKind::Call { callee: callee.clone(), args: self.arguments(args)? };
                Ok(Expr::new(kind, e.dtype))
            }
            (Callee::Op(Op::IfThenElse), [condition, a, b]) => {
                let condition = self.other(condition)?;
                let a = self.apart(|this| this.other(a))?;
                let b = self.apart(|this| this.other(b))?;
                Ok(Expr::call(Op::IfThenElse, vec![condition, a, b], e.dtype))
            }
            (Callee::Op(Op::AddressOf), [target]) => self.address(e, target),
            (Callee::Op(Op::Clz), [a]) if takes_one => {
                let a = self.words(a)?;
                Ok(self.arithmetic(e.dtype.lanes, |s| leading_zeros(s, &a)))
            }
            (Callee::Op(Op::Reinterpret), [a]) if takes_one => {
                let a = self.words(a)?;
                Ok(words::bits_as(&a, e.dtype))
            }
            (Callee::Op(Op::HandleAddByteOffset), [data, offset]) => {
                let args = vec![self.other(data)?, self.index(offset)?];
                Ok(Expr::call(Op::HandleAddByteOffset, args, e.dtype))
            }
            (Callee::Op(op), _) if takes_one => {
                Err(self.refused(format!("{} of one cannot be made of two of 32 bits", op.name())))
            }
            (Callee::Extern { name, .. }, _) if takes_one => {
                Err(self.refused(format!("the C function {name} takes one")))
            }
            _ => e.try_map_children(&mut |child| self.other(child)),
        }
    }
}

fn binary(s: &Steps, op: BinaryOp, a: &Words, b: &Words, is_signed: bool) -> Words {
    match op {
        BinaryOp::Add => words::sum(s, a, b),
        BinaryOp::Sub => words::difference(s, a, b),
        BinaryOp::Mul => words::product(s, a, b),
        BinaryOp::Div => words::divide(s, (a, b), Quotient::Whole, is_signed, false),
        BinaryOp::Mod => words::divide(s, (a, b), Quotient::Rest, is_signed, false),
        BinaryOp::FloorDiv => words::divide(s, (a, b), Quotient::Whole, is_signed, true),
        BinaryOp::FloorMod => words::divide(s, (a, b), Quotient::Rest, is_signed, true),
        BinaryOp::Min | BinaryOp::Max => {
            let order = if op == BinaryOp::Min { CompareOp::Lt } else { CompareOp::Gt };
            let is_first = s.name("is_first", words::compare(order, a, b, is_signed));
            words::choice(s, &is_first, a, b)
        }
    }
}

/// Number of leading zeros, as int32.
fn leading_zeros(s: &Steps, a: &Words) -> Expr {
    let dtype = s.i32(0).dtype;
    let zeros = |word: &Expr| Expr::call(Op::Clz, vec![word.clone()], dtype);
    let is_short = Expr::compare(CompareOp::Eq, a.high.clone(), s.u32(0));
    Expr::select(is_short, s.i32(32) + zeros(&a.low), zeros(&a.high))
}
