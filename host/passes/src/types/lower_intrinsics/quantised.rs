//! Arithmetic of quantised kernels, in wider integers.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op};

use super::{named, words};

fn int64_like(value: i128, like: &Expr) -> Expr {
    Expr::int(value, DType::INT64.with_lanes(like.dtype.lanes))
}

fn shift(op: Op, a: Expr, count: Expr) -> Expr {
    let dtype = a.dtype;
    Expr::call(op, vec![a, count], dtype)
}

/// Broadcasts a scalar to the lanes of `like`.
fn spread(e: &Expr, like: &Expr) -> Expr {
    if e.dtype.lanes == like.dtype.lanes { e.clone() } else { e.clone().broadcast(like.dtype.lanes) }
}

fn wide(e: &Expr) -> Expr {
    e.clone().cast(DType::INT64.with_lanes(e.dtype.lanes))
}

/// Half of 2^count, 0 for a count of 0: added before a right shift, it rounds half up.
fn half(count: &Expr) -> Expr {
    let unsigned = DType::UINT64.with_lanes(count.dtype.lanes);
    let one = Expr::int(1, unsigned);
    let power = shift(Op::ShiftLeft, one.clone(), count.clone().cast(unsigned));
    shift(Op::ShiftRight, power, one).cast(count.dtype)
}

/// (x · 2^left · y + 2^(right - 1)) >> right, in int64; without int64, in pairs of uint32.
fn multiply_shift(x: &Expr, y: &Expr, left: Option<Expr>, right: Expr, has_int64: bool) -> Expr {
    if !has_int64 {
        return words::multiply_shift(x, y, left, right);
    }
    let shifted = match left {
        Some(left) => shift(Op::ShiftLeft, wide(x), wide(&left)),
        None => wide(x),
    };
    let product = shifted * wide(y);
    let sum = named("right", wide(&right), |right| shift(Op::ShiftRight, product + half(&right), right));
    sum.cast(x.dtype)
}

/// `q_multiply_shift(x, y, q, s)`.
pub(super) fn multiply_shift_one(x: &Expr, y: &Expr, q: &Expr, s: &Expr, has_int64: bool) -> Expr {
    let above = |s: &Expr| {
        let positive = Expr::compare(CompareOp::Gt, s.clone(), Expr::i32(0));
        spread(&Expr::select(positive, s.clone(), Expr::i32(0)), x)
    };
    named("s", s.clone(), |s| {
        let zero = Expr::i32(0);
        let negative = Expr::compare(CompareOp::Lt, s.clone(), zero.clone());
        let below = Expr::select(negative, Expr::binary(BinaryOp::Sub, zero.clone(), s.clone()), zero);
        let right = spread(&(q.clone() + below), x);
        let left = (s.as_int().is_none_or(|s| s > 0)).then(|| above(&s));
        multiply_shift(x, y, left, right, has_int64)
    })
}

/// `q_multiply_shift_per_axis(x, y, ls, rs, q, is_lshift_required, is_rshift_required)`.
pub(super) fn multiply_shift_per_axis(args: &[Expr; 7], has_int64: bool) -> Expr {
    let [x, y, left, right, q, shifts_left, shifts_right] = args;
    let set = |flag: &Expr| flag.as_int() != Some(0);
    let count = spread(q, x);
    let count = if set(shifts_right) { count + right.clone() } else { count };
    multiply_shift(x, y, set(shifts_left).then(|| left.clone()), count, has_int64)
}

/// `dp4a(a, b, sum)`: products of four lanes, added to a sum.
pub(super) fn dp4a(a: &Expr, b: &Expr, sum: &Expr) -> Expr {
    let dtype = sum.dtype;
    let lane = |vector: &Expr, index: u16| {
        let kind = ExprKind::Shuffle { vectors: vec![vector.clone()], indices: vec![index] };
        Expr::new(kind, vector.dtype.scalar()).cast(dtype)
    };
    named("a", a.clone(), |a| {
        named("b", b.clone(), |b| {
            let products = (0..4).map(|index| lane(&a, index) * lane(&b, index));
            products.fold(sum.clone(), |sum, product| sum + product)
        })
    })
}

/// `tvm_access_ptr(zero, data, offset, extent, rw_mask)`: the pointer moved by elements of the
/// zero's type.
pub(super) fn access_pointer(zero: &Expr, data: &Expr, offset: &Expr) -> Expr {
    let bytes = int64_like(zero.dtype.size_bytes() as i128, offset);
    let moved = vec![data.clone(), wide(offset) * bytes];
    Expr::call(Op::HandleAddByteOffset, moved, DType::HANDLE)
}
