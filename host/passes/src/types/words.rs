//! 64-bit integers as pairs of uint32, for targets without them: arithmetic modulo 2^64, as the IR
//! defines it.

mod division;
mod floats;

use chipdock_ir::{CompareOp, DType, Expr, ExprKind, Op};

pub(crate) use division::{Quotient, divide};
pub(crate) use floats::{from_float, to_float};

use crate::types::lower_intrinsics::kit::{Steps, and, less, or, pair, reinterpret, shl, shr, unary};

/// An integer of 64 bits, modulo 2^64, in each lane.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// Its upper 32 bits, uint32.
    pub(crate) high: Expr,
    /// Its lower 32 bits, uint32.
    pub(crate) low: Expr,
}

/// A 64-bit integer in the shortest form that its range allows.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A value that fits int32, in int32.
    Signed(Expr),
    /// A value that fits uint32, in uint32.
    Unsigned(Expr),
    /// Any other value.
    Words(Words),
}

impl Value {
    /// Its lower 32 bits, int32.
    pub(crate) fn low(&self) -> Expr {
        match self {
            Self::Signed(value) => value.clone(),
            Self::Unsigned(value) | Self::Words(Words { low: value, .. }) => as_signed(value.clone()),
        }
    }

    /// Both words.
    pub(crate) fn words(self, s: &Steps) -> Words {
        match self {
            Self::Signed(value) => extended(s, &value),
            Self::Unsigned(low) => Words { high: s.u32(0), low },
            Self::Words(words) => words,
        }
    }
}

/// The bits as int32.
pub(crate) fn as_signed(word: Expr) -> Expr {
    let dtype = DType::INT32.with_lanes(word.dtype.lanes);
    word.cast(dtype)
}

/// The bits as uint32.
pub(crate) fn as_unsigned(word: Expr) -> Expr {
    let dtype = DType::UINT32.with_lanes(word.dtype.lanes);
    word.cast(dtype)
}

/// 1 if the condition holds, 0 otherwise.
fn one_if(s: &Steps, condition: Expr) -> Expr {
    Expr::select(condition, s.u32(1), s.u32(0))
}

/// Sign-extends an int32.
pub(crate) fn extended(s: &Steps, x: &Expr) -> Words {
    let x = s.name("x", x.clone());
    let low = s.name("low", as_unsigned(x.clone()));
    let negative = less(x, s.i32(0));
    Words { high: s.name("high", Expr::select(negative, s.u32(u32::MAX), s.u32(0))), low }
}

/// A constant.
pub(crate) fn constant(s: &Steps, value: i128) -> Words {
    let word = |value: i128| s.u32((value & 0xffff_ffff) as u32);
    Words { high: word(value >> 32), low: word(value) }
}

/// Binds words that more than one step uses to names.
pub(crate) fn named(s: &Steps, high: Expr, low: Expr) -> Words {
    let low = s.name("low", low);
    Words { high: s.name("high", high), low }
}

/// `a + b`.
pub(crate) fn sum(s: &Steps, a: &Words, b: &Words) -> Words {
    let low = s.name("low", a.low.clone() + b.low.clone());
    let carry = one_if(s, less(low.clone(), a.low.clone()));
    Words { high: s.name("high", a.high.clone() + b.high.clone() + carry), low }
}

/// `a - b`.
pub(crate) fn difference(s: &Steps, a: &Words, b: &Words) -> Words {
    let borrow = one_if(s, less(a.low.clone(), b.low.clone()));
    named(s, a.high.clone() - b.high.clone() - borrow, a.low.clone() - b.low.clone())
}

/// `-a`.
pub(crate) fn negated(s: &Steps, a: &Words) -> Words {
    difference(s, &constant(s, 0), a)
}

/// `a * b`.
pub(crate) fn product(s: &Steps, a: &Words, b: &Words) -> Words {
    let crossed = a.low.clone() * b.high.clone() + a.high.clone() * b.low.clone();
    Words {
        high: s.name("high", crossed + s.high_product(&a.low, &b.low)),
        low: s.name("low", a.low.clone() * b.low.clone()),
    }
}

/// Selects one of two integers.
pub(crate) fn choice(s: &Steps, condition: &Expr, then: &Words, otherwise: &Words) -> Words {
    let word = |a: &Expr, b: &Expr| Expr::select(condition.clone(), a.clone(), b.clone());
    named(s, word(&then.high, &otherwise.high), word(&then.low, &otherwise.low))
}

/// A bitwise operation on each word.
pub(crate) fn bitwise(s: &Steps, op: Op, a: &Words, b: &Words) -> Words {
    named(s, pair(op, a.high.clone(), b.high.clone()), pair(op, a.low.clone(), b.low.clone()))
}

/// The bitwise complement.
pub(crate) fn complement(s: &Steps, a: &Words) -> Words {
    named(s, unary(Op::BitwiseNot, &a.high), unary(Op::BitwiseNot, &a.low))
}

/// The condition that the integer, taken as signed, is negative.
pub(crate) fn is_negative(s: &Steps, a: &Words) -> Expr {
    s.name("negative", less(as_signed(a.high.clone()), s.i32(0)))
}

/// The condition that the integer is 0.
pub(crate) fn is_zero(s: &Steps, a: &Words) -> Expr {
    Expr::compare(CompareOp::Eq, or(a.low.clone(), a.high.clone()), s.u32(0))
}

/// The absolute value; for the least integer, itself.
pub(crate) fn magnitude(s: &Steps, a: &Words) -> Words {
    choice(s, &is_negative(s, a), &negated(s, a), a)
}

fn is_below(a: &Words, b: &Words, is_signed: bool) -> Expr {
    let top = |word: &Expr| if is_signed { as_signed(word.clone()) } else { word.clone() };
    let equal = Expr::compare(CompareOp::Eq, a.high.clone(), b.high.clone());
    Expr::select(equal, less(a.low.clone(), b.low.clone()), less(top(&a.high), top(&b.high)))
}

/// A comparison.
pub(crate) fn compare(op: CompareOp, a: &Words, b: &Words, is_signed: bool) -> Expr {
    match op {
        CompareOp::Lt => is_below(a, b, is_signed),
        CompareOp::Gt => is_below(b, a, is_signed),
        CompareOp::Le => is_below(b, a, is_signed).logical_not(),
        CompareOp::Ge => is_below(a, b, is_signed).logical_not(),
        CompareOp::Eq | CompareOp::Ne => {
            let bits = |x: &Expr, y: &Expr| pair(Op::BitwiseXor, x.clone(), y.clone());
            let differing = or(bits(&a.low, &b.low), bits(&a.high, &b.high));
            let zero = Expr::int(0, differing.dtype);
            Expr::compare(op, differing, zero)
        }
    }
}

/// A shift count modulo 64: whether it is at least 32, and the remainder modulo 32.
fn count(s: &Steps, count: &Expr) -> (Expr, Expr) {
    let count = s.name("count", as_unsigned(count.clone()));
    let is_long = Expr::compare(CompareOp::Ne, and(count.clone(), s.u32(32)), s.u32(0));
    (s.name("is_long", is_long), s.name("count", and(count, s.u32(31))))
}

/// Shifts to the left by the count modulo 64.
pub(crate) fn to_left(s: &Steps, a: &Words, by: &Expr) -> Words {
    let (is_long, by) = count(s, by);
    let low = s.name("low", shl(a.low.clone(), by.clone()));
    let high = Expr::select(is_long.clone(), low.clone(), s.moved(&a.high, &a.low, &by));
    Words { high: s.name("high", high), low: s.name("low", Expr::select(is_long, s.u32(0), low)) }
}

/// Shifts to the right by the count modulo 64; for a signed integer the sign is kept.
pub(crate) fn to_right(s: &Steps, a: &Words, by: &Expr, is_signed: bool) -> Words {
    let (is_long, by) = count(s, by);
    let (moved, filled) = if is_signed {
        let signed = s.name("signed", as_signed(a.high.clone()));
        let moved = shr(signed.clone(), as_signed(by.clone()));
        (as_unsigned(moved), as_unsigned(shr(signed, s.i32(31))))
    } else {
        (shr(a.high.clone(), by.clone()), s.u32(0))
    };
    let moved = s.name("moved", moved);
    let over = shl(shl(a.high.clone(), s.u32(1)), s.u32(31) - by.clone());
    let near = or(shr(a.low.clone(), by), over);
    let low = s.name("low", Expr::select(is_long.clone(), moved.clone(), near));
    Words { high: s.name("high", Expr::select(is_long, filled, moved)), low }
}

/// Packs the words into one vector: all lower words, then all upper words.
pub(crate) fn packed(words: &Words) -> Expr {
    let lanes = words.low.dtype.lanes;
    shuffled(vec![words.low.clone(), words.high.clone()], (0..2 * lanes).collect())
}

/// Splits a vector made by [`packed`].
pub(crate) fn unpacked(s: &Steps, vector: &Expr) -> Words {
    let lanes = vector.dtype.lanes / 2;
    let part = |from: u16| shuffled(vec![vector.clone()], (from..from + lanes).collect());
    named(s, part(lanes), part(0))
}

/// Reinterprets the bits as another type of the same size.
pub(crate) fn bits_as(words: &Words, dtype: DType) -> Expr {
    let lanes = words.low.dtype.lanes;
    let order = (0..lanes).flat_map(|lane| [lane, lane + lanes]).collect();
    let vector = shuffled(vec![words.low.clone(), words.high.clone()], order);
    Expr::call(Op::Reinterpret, vec![vector], dtype)
}

/// The bits of a value whose size in bytes is a multiple of 8.
pub(crate) fn bits_of(s: &Steps, value: &Expr) -> Words {
    let lanes = (value.dtype.size_bytes() / 8) as u16;
    let dtype = DType::UINT32.with_lanes(2 * lanes);
    let vector = if value.dtype == dtype {
        value.clone()
    } else {
        Expr::call(Op::Reinterpret, vec![value.clone()], dtype)
    };
    let vector = s.name("bits", vector);
    let part = |from: u16| shuffled(vec![vector.clone()], (0..lanes).map(|lane| 2 * lane + from).collect());
    named(s, part(1), part(0))
}

pub(crate) fn shuffled(vectors: Vec<Expr>, indices: Vec<u16>) -> Expr {
    let scalar = vectors.first().map_or(DType::UINT32, |vector| vector.dtype.scalar());
    let dtype = scalar.with_lanes(indices.len() as u16);
    Expr::new(ExprKind::Shuffle { vectors, indices }, dtype)
}

/// A float32 of these bits.
fn float_of(bits: Expr) -> Expr {
    reinterpret(bits, DType::FLOAT32)
}
