//! Expressions: those of 64 bits as words, others with their operands lowered.

use std::sync::Arc;

use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, Op, Var};

use super::{Answer, Lowerer, is_wide};
use crate::PassError;
use crate::types::words::{self, Value, Words};

fn is_held(dtype: DType, (low, high): (i128, i128)) -> bool {
    dtype.integer_range().is_some_and(|(least, most)| least <= low && high <= most)
}

fn int32(e: &Expr) -> DType {
    DType::INT32.with_lanes(e.dtype.lanes)
}

/// A constant shift count, modulo 64.
fn count_of(e: &Expr) -> Option<i128> {
    let value = match &e.kind {
        ExprKind::Broadcast { value, .. } => value.as_int(),
        _ => e.as_int(),
    };
    value.map(|value| value.rem_euclid(64))
}

impl Lowerer<'_> {
    /// An index or an extent; if it has 64 bits, modulo 2^32 (INT64-W4).
    pub(super) fn index(&mut self, e: &Expr) -> Answer<Expr> {
        if is_wide(e.dtype) { self.low(e) } else { self.other(e) }
    }

    /// An integer of 64 bits, as short as its range allows (INT64-W1).
    pub(super) fn value(&mut self, e: &Expr) -> Answer<Value> {
        let range = self.ranges.of(e);
        if is_held(DType::INT32, range) {
            return Ok(Value::Signed(self.low(e)?));
        }
        if is_held(DType::UINT32, range) {
            return Ok(Value::Unsigned(words::as_unsigned(self.low(e)?)));
        }
        self.whole(e).map(Value::Words)
    }

    /// Both words of an expression, each of which may be used more than once.
    pub(super) fn words(&mut self, e: &Expr) -> Answer<Words> {
        let value = self.value(e)?;
        Ok(self.arithmetic(e.dtype.lanes, |s| {
            let words = value.words(s);
            words::named(s, words.high, words.low)
        }))
    }

    /// Two operands in 32 bits, if their ranges fit.
    fn short(&mut self, a: &Expr, b: &Expr) -> Answer<Option<(Expr, Expr)>> {
        let (x, y) = (self.ranges.of(a), self.ranges.of(b));
        if is_held(DType::INT32, x) && is_held(DType::INT32, y) {
            return Ok(Some((self.low(a)?, self.low(b)?)));
        }
        if is_held(DType::UINT32, x) && is_held(DType::UINT32, y) {
            return Ok(Some((words::as_unsigned(self.low(a)?), words::as_unsigned(self.low(b)?))));
        }
        Ok(None)
    }

    /// An integer of 64 bits modulo 2^32, in int32.
    pub(super) fn low(&mut self, e: &Expr) -> Answer<Expr> {
        let dtype = int32(e);
        Ok(match &e.kind {
            ExprKind::Int(value) => Expr::int(*value, dtype),
            ExprKind::Var(var) => self.variable(var)?.low(),
            ExprKind::Cast(value) if is_wide(value.dtype) => self.low(value)?,
            ExprKind::Cast(value) if value.dtype.is_integer() || value.dtype.is_bool() => {
                self.other(value)?.cast(dtype)
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                Expr::binary(*op, self.low(a)?, self.low(b)?)
            }
            ExprKind::Binary(op, a, b) => match self.short(a, b)? {
                Some((a, b)) => Expr::binary(*op, a, b).cast(dtype),
                None => self.low_of_whole(e)?,
            },
            ExprKind::Select(condition, a, b) => {
                Expr::select(self.other(condition)?, self.low(a)?, self.low(b)?)
            }
            ExprKind::Load { buffer, indices, predicate } => {
                let low = self.load_words(e, buffer, indices, predicate.as_ref())?.low;
                words::as_signed(low)
            }
            ExprKind::Ramp { base, stride, lanes } => self.low(base)?.ramp(self.low(stride)?, *lanes),
            ExprKind::Broadcast { value, lanes } => self.low(value)?.broadcast(*lanes),
            ExprKind::Shuffle { vectors, indices } => {
                let vectors = vectors.iter().map(|vector| self.low(vector)).collect::<Answer<_>>()?;
                words::shuffled(vectors, indices.clone())
            }
            ExprKind::Let { var, value, body } => {
                self.name(var, value)?;
                self.low(body)?
            }
            ExprKind::Call { callee: Callee::Op(op), args } => self.low_of_op(e, *op, args)?,
            _ => self.low_of_whole(e)?,
        })
    }

    fn low_of_whole(&mut self, e: &Expr) -> Answer<Expr> {
        Ok(words::as_signed(self.whole(e)?.low))
    }

    fn low_of_op(&mut self, e: &Expr, op: Op, args: &[Expr]) -> Answer<Expr> {
        let dtype = int32(e);
        let lowered = match (op, args) {
            (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) => vec![self.low(a)?, self.low(b)?],
            (Op::BitwiseNot, [a]) => vec![self.low(a)?],
            (Op::Abs, [a]) if is_held(DType::INT32, self.ranges.of(a)) => vec![self.low(a)?],
            (Op::ShiftLeft, [a, b]) if count_of(b).is_some_and(|count| count < 32) => {
                vec![self.low(a)?, Expr::int(count_of(b).unwrap_or(0), dtype)]
            }
            (Op::ShiftRight, [a, b]) if count_of(b).is_some() => {
                return self.low_of_right_shift(e, a, count_of(b).unwrap_or(0));
            }
            (Op::IfThenElse, [condition, a, b]) => {
                let condition = self.other(condition)?;
                vec![condition, self.apart(|this| this.low(a))?, self.apart(|this| this.low(b))?]
            }
            _ => return self.low_of_whole(e),
        };
        Ok(Expr::call(op, lowered, dtype))
    }

    fn low_of_right_shift(&mut self, e: &Expr, a: &Expr, count: i128) -> Answer<Expr> {
        let (dtype, range) = (int32(e), self.ranges.of(a));
        let shift = |a: Expr, count: i128| {
            let dtype = a.dtype;
            Expr::call(Op::ShiftRight, vec![a, Expr::int(count, dtype)], dtype)
        };
        if is_held(DType::INT32, range) {
            return Ok(shift(self.low(a)?, count.min(31)));
        }
        if is_held(DType::UINT32, range) && count < 32 {
            return Ok(shift(words::as_unsigned(self.low(a)?), count).cast(dtype));
        }
        self.low_of_whole(e)
    }

    pub(super) fn variable(&self, var: &Var) -> Answer<Value> {
        self.values.get(var).cloned().ok_or_else(|| {
            let message = format!("expected a variable that is bound, found {}", var.name);
            PassError::bug(super::PASS, &self.function.name, message)
        })
    }

    /// Binds the variable of a `Let` for the following steps.
    pub(super) fn name(&mut self, var: &Var, value: &Expr) -> Answer<()> {
        self.learn(var, value);
        if is_wide(var.dtype) {
            let value = self.value(value)?;
            let value = self.kept(&var.name, value);
            self.values.insert(var.clone(), value);
        } else {
            let value = self.other(value)?;
            let value = self.named(&var.name, value);
            self.others.insert(var.clone(), value);
        }
        Ok(())
    }

    /// Records the range of a variable's value.
    pub(super) fn learn(&mut self, var: &Var, value: &Expr) {
        if value.dtype.is_integer() && value.dtype.is_scalar() {
            let (low, high) = self.ranges.of(value);
            self.ranges.set(var, low, high);
        }
    }

    /// Binds the value to a name.
    pub(super) fn kept(&mut self, name: &Arc<str>, value: Value) -> Value {
        match value {
            Value::Signed(value) => Value::Signed(self.named(name, value)),
            Value::Unsigned(value) => Value::Unsigned(self.named(name, value)),
            Value::Words(Words { high, low }) => {
                let low = self.named(&format!("{name}_low"), low);
                Value::Words(Words { high: self.named(&format!("{name}_high"), high), low })
            }
        }
    }

    /// Lowers an expression that is not a 64-bit integer.
    pub(super) fn other(&mut self, e: &Expr) -> Answer<Expr> {
        let new = match &e.kind {
            ExprKind::Var(var) if var.dtype.is_handle() => {
                let known = self.others.get(var).cloned();
                known.unwrap_or_else(|| self.pointer(var).expr())
            }
            ExprKind::Var(var) => return Ok(self.others.get(var).cloned().unwrap_or_else(|| e.clone())),
            ExprKind::Cast(value) if is_wide(value.dtype) => self.cast_to(e, value)?,
            ExprKind::Compare(op, a, b) if is_wide(a.dtype) => self.compare(*op, a, b)?,
            ExprKind::Load { buffer, indices, predicate } => {
                return self.load(e, buffer, indices, predicate.as_ref());
            }
            ExprKind::And(a, b) => self.other(a)?.and(self.apart(|this| this.other(b))?),
            ExprKind::Or(a, b) => self.other(a)?.or(self.apart(|this| this.other(b))?),
            ExprKind::Let { var, value, body } => {
                self.name(var, value)?;
                self.other(body)?
            }
            ExprKind::Call { callee, args } => self.other_call(e, callee, args)?,
            _ => return e.try_map_children(&mut |child| self.other(child)),
        };
        Ok(if new == *e { e.clone() } else { new.with_span(e.span) })
    }

    fn compare(&mut self, op: CompareOp, a: &Expr, b: &Expr) -> Answer<Expr> {
        if let Some((a, b)) = self.short(a, b)? {
            return Ok(Expr::compare(op, a, b));
        }
        let (x, y) = (self.words(a)?, self.words(b)?);
        Ok(self.arithmetic(a.dtype.lanes, |_| words::compare(op, &x, &y, a.dtype.is_int())))
    }

    fn cast_to(&mut self, e: &Expr, value: &Expr) -> Answer<Expr> {
        let to = e.dtype;
        if to.is_integer() {
            return Ok(self.low(value)?.cast(to));
        }
        match self.value(value)? {
            Value::Signed(short) | Value::Unsigned(short) => Ok(short.cast(to)),
            Value::Words(words) => {
                let signed = value.dtype.is_int();
                Ok(self.arithmetic(to.lanes, |s| {
                    if to.is_bool() {
                        words::is_zero(s, &words).logical_not()
                    } else {
                        words::to_float(s, &words, signed, to)
                    }
                }))
            }
        }
    }
}
