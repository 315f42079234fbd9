//! Constant folding and simplification of index arithmetic. Every rewrite gives the same value for
//! every input: sums wrap as the IR defines, and floats are folded only if one operation on
//! constants has one exact result; nothing is reassociated.
//!
//! # Rewrites of expressions
//!
//! These are all, made from the leaves up. `c`, `d` and `k` are constants; a *pure* operand is one
//! whose evaluation has no effect. Ranges are those of [`Ranges`]: of loops, threads, names and
//! conditions around the expression.
//!
//! * **Constants.** Operators of two scalar integers, and of two scalar floats unless the result is
//!   a NaN; comparisons; `!`; casts of scalars, except of integers to a float of 8 bits or beyond
//!   2^53 to one of 16, and where the result is a NaN; `&`, `|` and `^`; shifts, by the count
//!   modulo the width.
//! * **Sums of scalar integers** (`+`, `-`, and `*` by a constant). Constants are added up, equal
//!   terms joined, terms with factor 0 dropped. `k * d * (x // d) + k * (x % d)` is `k * x`, for
//!   `d > 0`, for floor and truncating division, also if the terms are cast.
//! * **Division of scalar integers by a constant.** By 0 or 1, the quotient is the dividend and the
//!   remainder 0; by `d < 0` nothing changes, nor does truncating division of what may be negative.
//!   If the range gives one quotient, it is that constant `k`, and the remainder is `x - k * d`.
//!   `(x * d + y) // d` is `x + y // d`, and `(x * d + y) % d` is `y % d`, if nothing wraps and,
//!   for truncating division, `y` is not negative; where `0 <= y < d` these are `x` and `y`. For
//!   floor division, `x // c // d` is `x // (c * d)` if the product fits the type, and
//!   `x % (c * d) % d` is `x % d`.
//! * **Minimum and maximum of scalar integers.** The operand that the ranges show to be it; of two
//!   equal ones, either.
//! * **Scalar floats.** `x * 1`, `1 * x`, `x / 1` and `x - 0.0` are `x`.
//! * **Comparisons of scalar integers and booleans.** True or false where the ranges decide, terms
//!   that both sides have apart, and where both sides are equal.
//! * **`and`, `or`.** A constant operand decides, or is dropped (one that decides drops the other
//!   operand if that is the second, or pure); `a and a` and `a or a` are `a`, if `a` is pure.
//! * **`!`.** `!!a` is `a`; `!(a < b)` is `a >= b` and so on for all six comparisons, of floats
//!   only for `==` and `!=`, since a NaN is neither less nor not less.
//! * **`Select(c, a, b)` and `if_then_else`.** With a constant condition (of a vector, the same in
//!   all lanes), the operand chosen; with equal operands and a pure condition, that operand.
//! * **Other ops.** `likely` of a constant is the constant. `a | 0`, `a ^ 0` and shifts by 0 are
//!   `a`; `a & 0` is 0 if `a` is pure. `abs` of an integer that is not negative is the integer.
//! * **`Let`** of an integer constant or of a variable is its body with that in place of the name.
//! * **Casts.** To the same type: the operand. Of a cast of integers: one cast, if the inner one
//!   keeps the value or the outer type has no more bits than the type between. Of a sum that does
//!   not wrap, to a wider scalar integer: the sum of the casts. Of a broadcast: a broadcast of the
//!   cast; of a ramp that does not wrap, to a wider integer: a ramp of the casts.
//! * **Vectors.** An operator of two broadcasts is a broadcast. Of integers, `+` and `-` of a ramp
//!   and a broadcast or of two ramps, `+` of a broadcast and a ramp, and `*` of a ramp and a
//!   broadcast in either order are ramps. A ramp with stride 0 is a broadcast.
//!
//! # Rewrites of statements
//!
//! [`simplify`](simplify()) rewrites all expressions of a function, and:
//!
//! * **`If`** with a constant condition is its branch; in a branch, the condition or its opposite
//!   narrows the ranges. An `If` without statements in its branches is dropped if its condition is
//!   pure, as is an `else` without statements.
//! * **`For`** of no iterations is dropped, of one iteration it is its body with `min` in place of
//!   the variable, if `min` is pure and the loop is not bound to threads; one with its own `Break`
//!   or `Continue` remains. Without statements in its body, a loop is dropped if `min` and its
//!   extent are pure. A step of 1 is dropped.
//! * **`Bind`** of an integer constant or of a variable is dropped, and that stands in place of the
//!   name.
//! * **`Evaluate`** of a pure value and **`Assert`** of a true condition are dropped.

pub(crate) mod fold;
mod interval;
pub(crate) mod linear;
mod statement;

use chipdock_ir::{BinaryOp, Callee, CompareOp, DType, Effect, Expr, ExprKind, Op};

pub use interval::Ranges;
use linear::Linear;
pub(crate) use statement::leaves_loop;
pub use statement::simplify;

/// Simplifies an expression without known ranges of its variables.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{DType, Expr, Var};
/// let i = Var::new("i", DType::INT32).expr();
/// let same = (i.clone() + Expr::i32(3)) * Expr::i32(4) - i.clone() * Expr::i32(4);
/// assert_eq!(chipdock_passes::simplify::expr(&same), Expr::i32(12));
/// ```
#[must_use]
pub fn expr(expr: &Expr) -> Expr {
    expr_with(expr, &Ranges::new())
}

/// Simplifies an expression with known ranges of its variables.
#[must_use]
pub fn expr_with(expr: &Expr, ranges: &Ranges) -> Expr {
    let children = expr.map_children(&mut |child| expr_with(child, ranges));
    let new = node(&children, ranges);
    if new.same(expr) || expr.span == chipdock_ir::Span::NONE { new } else { new.with_span(expr.span) }
}

/// Returns true if evaluating the expression has no effect.
pub(crate) fn is_pure(expr: &Expr) -> bool {
    let mut pure = true;
    expr.walk(&mut |e| {
        pure &= match &e.kind {
            ExprKind::Call { callee: Callee::Op(op), .. } => op.effect() != Effect::Writes,
            ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => *pure,
            ExprKind::Call { callee: Callee::Global(_), .. } => false,
            _ => true,
        };
    });
    pure
}

/// Simplifies a node whose children are simplified.
fn node(expr: &Expr, ranges: &Ranges) -> Expr {
    let simpler = match &expr.kind {
        ExprKind::Cast(value) => cast(value, expr.dtype, ranges),
        ExprKind::Binary(op, a, b) if !expr.dtype.is_scalar() => vector_binary(*op, a, b, expr.dtype, ranges),
        ExprKind::Binary(op, a, b) if expr.dtype.is_integer() => Some(int_binary(expr, *op, a, b, ranges)),
        ExprKind::Binary(op, a, b) if expr.dtype.is_float() => float_binary(*op, a, b, expr.dtype),
        ExprKind::Compare(op, a, b) if a.dtype.is_scalar() => compare(*op, a, b, ranges),
        ExprKind::Compare(op, a, b) => {
            by_interval(*op, a, b, ranges).map(|all| Expr::bool(all).broadcast(expr.dtype.lanes))
        }
        ExprKind::And(a, b) => and_or(a, b, true),
        ExprKind::Or(a, b) => and_or(a, b, false),
        ExprKind::Not(a) => not(a),
        ExprKind::Select(c, a, b) => choose(c, a, b),
        ExprKind::Call { callee: Callee::Op(op), args } => call(*op, args, expr.dtype, ranges),
        ExprKind::Load { buffer, indices, predicate: Some(predicate) } => match all_lanes(predicate) {
            Some(0) if indices.iter().all(is_pure) => {
                let zero = Expr::constant(0, expr.dtype.scalar());
                Some(if expr.dtype.is_scalar() { zero } else { zero.broadcast(expr.dtype.lanes) })
            }
            Some(value) if value != 0 => Some(Expr::new(
                ExprKind::Load { buffer: buffer.clone(), indices: indices.clone(), predicate: None },
                expr.dtype,
            )),
            _ => None,
        },
        ExprKind::Let { var, value, body } if is_plain(value) => {
            let mut substitution = chipdock_ir::subst::Substitution::new();
            substitution.map_var(var, value.clone());
            Some(expr_with(&substitution.expr(body), ranges))
        }
        ExprKind::Ramp { base, stride, lanes } if stride.as_int() == Some(0) => {
            Some(base.clone().broadcast(*lanes))
        }
        _ => None,
    };
    simpler.unwrap_or_else(|| expr.clone())
}

fn int_binary(expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr, ranges: &Ranges) -> Expr {
    let dtype = expr.dtype;
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Expr::int(fold::int_binary(op, a, b, dtype), dtype);
    }
    let short = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let sum = Linear::of(expr).to_expr();
            (sum != *expr).then_some(sum)
        }
        BinaryOp::FloorDiv | BinaryOp::FloorMod | BinaryOp::Div | BinaryOp::Mod => {
            b.as_int().and_then(|divisor| divide(op, a, divisor, ranges))
        }
        BinaryOp::Min | BinaryOp::Max => {
            let (x, y) = (ranges.of(a), ranges.of(b));
            let (first, second) =
                if op == BinaryOp::Min { (x.1 <= y.0, y.1 <= x.0) } else { (x.0 >= y.1, y.0 >= x.1) };
            if first || a == b {
                Some(a.clone())
            } else if second {
                Some(b.clone())
            } else {
                None
            }
        }
    };
    short.unwrap_or_else(|| expr.clone())
}

/// Simplifies a division by a constant. Truncating and floor division are the same if nothing is
/// negative.
fn divide(op: BinaryOp, a: &Expr, divisor: i128, ranges: &Ranges) -> Option<Expr> {
    let dtype = a.dtype;
    let quotient = matches!(op, BinaryOp::FloorDiv | BinaryOp::Div);
    match divisor {
        0 | 1 => return Some(if quotient { a.clone() } else { Expr::int(0, dtype) }),
        d if d < 0 => return None,
        _ => {}
    }
    let floor = matches!(op, BinaryOp::FloorDiv | BinaryOp::FloorMod);
    if !floor && ranges.of(a).0 < 0 {
        return None;
    }
    let sum = Linear::of(a);
    let (low, high) = ranges.of(a);
    if fold::floor_div(low, divisor) == fold::floor_div(high, divisor) {
        let constant = fold::floor_div(low, divisor);
        return Some(if quotient {
            Expr::int(constant, dtype)
        } else {
            simple_sum(a.clone() - Expr::int(constant * divisor, dtype))
        });
    }
    if !sum.fits(ranges) {
        return None;
    }
    let (parts, rest) = sum.split(divisor);
    if parts.terms.is_empty() && parts.constant == 0 || !rest.fits(ranges) || !parts.fits(ranges) {
        return nested_division(op, a, divisor);
    }
    // For a truncating operator the remainder must not be negative either: it could round the other
    // way.
    let (rest_low, rest_high) = rest.exact(ranges)?;
    if !floor && rest_low < 0 {
        return None;
    }
    let rest_expr = rest.to_expr();
    let inside = rest_low >= 0 && rest_high < divisor;
    Some(match (quotient, inside) {
        (true, true) => parts.to_expr(),
        (false, true) => rest_expr,
        (true, false) => simple_sum(parts.to_expr() + Expr::binary(op, rest_expr, Expr::int(divisor, dtype))),
        (false, false) => Expr::binary(op, rest_expr, Expr::int(divisor, dtype)),
    })
}

/// (x // a) // b = x // (a * b), and x % (a * b) % b = x % b, for floor division.
fn nested_division(op: BinaryOp, a: &Expr, divisor: i128) -> Option<Expr> {
    let ExprKind::Binary(inner, x, by) = &a.kind else { return None };
    let by = by.as_int().filter(|by| *by > 0)?;
    let dtype = a.dtype;
    match (op, inner) {
        (BinaryOp::FloorDiv, BinaryOp::FloorDiv) => {
            let product = by.checked_mul(divisor).filter(|product| dtype.wrap(*product) == *product)?;
            Some(Expr::binary(op, x.clone(), Expr::int(product, dtype)))
        }
        (BinaryOp::FloorMod, BinaryOp::FloorMod) if by % divisor == 0 => {
            Some(Expr::binary(op, x.clone(), Expr::int(divisor, dtype)))
        }
        _ => None,
    }
}

fn simple_sum(sum: Expr) -> Expr {
    Linear::of(&sum).to_expr()
}

fn float_binary(op: BinaryOp, a: &Expr, b: &Expr, dtype: DType) -> Option<Expr> {
    if let (Some(a), Some(b)) = (fold::as_float(a), fold::as_float(b)) {
        return fold::float_binary(op, a, b, dtype);
    }
    let one = |e: &Expr| fold::as_float(e) == Some(1.0);
    match op {
        BinaryOp::Mul if one(b) => Some(a.clone()),
        BinaryOp::Mul if one(a) => Some(b.clone()),
        BinaryOp::Div if one(b) => Some(a.clone()),
        // x + 0.0 is not x for x = -0.0, but x - 0.0 is.
        BinaryOp::Sub if fold::as_float(b).is_some_and(|b| b == 0.0 && b.is_sign_positive()) => {
            Some(a.clone())
        }
        _ => None,
    }
}

fn vector_binary(op: BinaryOp, a: &Expr, b: &Expr, dtype: DType, ranges: &Ranges) -> Option<Expr> {
    let both = |x: Expr, y: Expr| node(&Expr::binary(op, x, y), ranges);
    match (&a.kind, &b.kind) {
        (ExprKind::Broadcast { value: x, lanes }, ExprKind::Broadcast { value: y, .. })
            if x.dtype.is_scalar() && y.dtype.is_scalar() =>
        {
            Some(both(x.clone(), y.clone()).broadcast(*lanes))
        }
        (ExprKind::Ramp { base, stride, lanes }, ExprKind::Broadcast { value, .. }) if dtype.is_integer() => {
            let stride = match op {
                BinaryOp::Add | BinaryOp::Sub => stride.clone(),
                BinaryOp::Mul => both(stride.clone(), value.clone()),
                _ => return None,
            };
            Some(both(base.clone(), value.clone()).ramp(stride, *lanes))
        }
        (ExprKind::Broadcast { .. }, ExprKind::Ramp { .. })
            if matches!(op, BinaryOp::Add | BinaryOp::Mul) =>
        {
            vector_binary(op, b, a, dtype, ranges)
        }
        (ExprKind::Ramp { base: x, stride: s, lanes }, ExprKind::Ramp { base: y, stride: t, .. })
            if matches!(op, BinaryOp::Add | BinaryOp::Sub) && dtype.is_integer() =>
        {
            Some(both(x.clone(), y.clone()).ramp(both(s.clone(), t.clone()), *lanes))
        }
        _ => None,
    }
}

fn cast(value: &Expr, to: DType, ranges: &Ranges) -> Option<Expr> {
    if value.dtype == to {
        return Some(value.clone());
    }
    if let Some(constant) = fold::cast(value, to) {
        return Some(constant);
    }
    let widens = |from: DType| {
        let (Some(inner), Some(outer)) = (from.integer_range(), to.integer_range()) else { return false };
        from.is_integer() && to.is_integer() && inner.0 >= outer.0 && inner.1 <= outer.1
    };
    match &value.kind {
        ExprKind::Broadcast { value, lanes } if value.dtype.is_scalar() => {
            Some(node(&value.clone().cast(to.scalar()), ranges).broadcast(*lanes))
        }
        ExprKind::Ramp { base, stride, lanes }
            if widens(value.dtype)
                && ranges.exact(value).is_some_and(|exact| {
                    let full = interval::full(value.dtype);
                    exact.0 >= full.0 && exact.1 <= full.1
                }) =>
        {
            let convert = |e: &Expr| node(&e.clone().cast(to.scalar()), ranges);
            Some(convert(base).ramp(convert(stride), *lanes))
        }
        // A conversion after a lossless one is one conversion.
        ExprKind::Cast(inner) if inner.dtype.is_integer() && value.dtype.is_integer() && to.is_integer() => {
            let (inner_range, middle) = (ranges.of(inner), interval::full(value.dtype));
            let kept = inner_range.0 >= middle.0 && inner_range.1 <= middle.1;
            (kept || to.bits <= value.dtype.bits).then(|| {
                if inner.dtype == to { inner.clone() } else { node(&inner.clone().cast(to), ranges) }
            })
        }
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..)
            if to.is_scalar() && widens(value.dtype) =>
        {
            let sum = Linear::of(value);
            // A product of two variables is one term of the sum; its conversion cannot be split
            // further.
            let single = matches!(sum.terms.as_slice(), [(term, 1)] if sum.constant == 0 && term == value);
            (sum.fits(ranges) && !single)
                .then(|| simple_sum(sum.to_expr_mapped(to, &|term| node(&term.clone().cast(to), ranges))))
        }
        _ => None,
    }
}

fn compare(op: CompareOp, a: &Expr, b: &Expr, ranges: &Ranges) -> Option<Expr> {
    if let (Some(a), Some(b)) = (fold::as_float(a), fold::as_float(b)) {
        return Some(Expr::bool(op.holds(&a, &b)));
    }
    if !a.dtype.is_integer() && !a.dtype.is_bool() {
        return None;
    }
    let (x, y) = (ranges.of(a), ranges.of(b));
    // The difference of the two, exactly where neither side wraps; a common term cancels.
    let difference = (a.dtype.is_integer())
        .then(|| (Linear::of(a), Linear::of(b)))
        .filter(|(a, b)| a.fits(ranges) && b.fits(ranges))
        .and_then(|(a, b)| a.minus(&b).exact(ranges))
        .unwrap_or((x.0 - y.1, x.1 - y.0));
    let difference = (difference.0.max(x.0 - y.1), difference.1.min(x.1 - y.0));
    let known = decided(op, if a == b { (0, 0) } else { difference });
    known.map(Expr::bool)
}

/// What the comparison of two values is, of whose difference the interval is known.
fn decided(op: CompareOp, (low, high): (i128, i128)) -> Option<bool> {
    match op {
        CompareOp::Eq => decide(low == 0 && high == 0, low > 0 || high < 0),
        CompareOp::Ne => decide(low > 0 || high < 0, low == 0 && high == 0),
        CompareOp::Lt => decide(high < 0, low >= 0),
        CompareOp::Le => decide(high <= 0, low > 0),
        CompareOp::Gt => decide(low > 0, high <= 0),
        CompareOp::Ge => decide(low >= 0, high < 0),
    }
}

/// What the comparison of vectors of integers is in all lanes, if the intervals of their elements
/// show it.
fn by_interval(op: CompareOp, a: &Expr, b: &Expr, ranges: &Ranges) -> Option<bool> {
    a.dtype.is_integer().then_some(())?;
    let (x, y) = (ranges.of(a), ranges.of(b));
    decided(op, (x.0 - y.1, x.1 - y.0))
}

/// The value of an integer or boolean, or of all lanes of a vector, that is a literal.
pub(super) fn all_lanes(expr: &Expr) -> Option<i128> {
    match &expr.kind {
        ExprKind::Broadcast { value, .. } => value.as_int(),
        _ => expr.as_int(),
    }
}

/// Whether a name for the value is useless: a literal integer, the same one in all lanes, or
/// another name.
pub(super) fn is_plain(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Var(_)) || all_lanes(value).is_some()
}

fn decide(yes: bool, no: bool) -> Option<bool> {
    if yes { Some(true) } else { no.then_some(false) }
}

fn and_or(a: &Expr, b: &Expr, and: bool) -> Option<Expr> {
    let neutral = i128::from(and);
    match (all_lanes(a), all_lanes(b)) {
        (Some(value), _) if value == neutral => Some(b.clone()),
        (Some(_), _) => Some(a.clone()),
        (_, Some(value)) if value == neutral => Some(a.clone()),
        (_, Some(_)) if is_pure(a) => Some(b.clone()),
        _ if a == b && is_pure(a) => Some(a.clone()),
        _ => None,
    }
}

fn not(a: &Expr) -> Option<Expr> {
    match &a.kind {
        ExprKind::Int(value) => Some(Expr::int(1 - value, a.dtype)),
        ExprKind::Broadcast { value, lanes } => Some(not(value)?.broadcast(*lanes)),
        ExprKind::Not(inner) => Some(inner.clone()),
        // The opposite comparison of floats differs for a NaN, except for these two.
        ExprKind::Compare(op, x, y) => {
            let opposite = match op {
                CompareOp::Eq => CompareOp::Ne,
                CompareOp::Ne => CompareOp::Eq,
                _ if x.dtype.is_float() => return None,
                CompareOp::Lt => CompareOp::Ge,
                CompareOp::Le => CompareOp::Gt,
                CompareOp::Gt => CompareOp::Le,
                CompareOp::Ge => CompareOp::Lt,
            };
            Some(Expr::compare(opposite, x.clone(), y.clone()))
        }
        _ => None,
    }
}

fn choose(condition: &Expr, then: &Expr, otherwise: &Expr) -> Option<Expr> {
    match all_lanes(condition) {
        Some(value) => Some(if value != 0 { then.clone() } else { otherwise.clone() }),
        None => (then == otherwise && is_pure(condition)).then(|| then.clone()),
    }
}

fn call(op: Op, args: &[Expr], dtype: DType, ranges: &Ranges) -> Option<Expr> {
    match (op, args) {
        (Op::IfThenElse, [c, a, b]) => choose(c, a, b),
        (Op::Likely, [a]) => a.as_int().map(|_| a.clone()),
        (Op::BitwiseOr | Op::BitwiseXor, [a, b]) if a.as_int() == Some(0) => Some(b.clone()),
        (Op::BitwiseOr | Op::BitwiseXor, [a, b]) if b.as_int() == Some(0) => Some(a.clone()),
        (Op::BitwiseAnd, [a, b]) if a.as_int() == Some(0) && is_pure(b) => Some(a.clone()),
        (Op::BitwiseAnd, [a, b]) if b.as_int() == Some(0) && is_pure(a) => Some(b.clone()),
        (Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor, [a, b]) if dtype.is_scalar() => {
            let (a, b) = (a.as_int()?, b.as_int()?);
            let value = match op {
                Op::BitwiseAnd => a & b,
                Op::BitwiseOr => a | b,
                _ => a ^ b,
            };
            Some(Expr::int(value, dtype))
        }
        (Op::ShiftLeft | Op::ShiftRight, [a, b]) if dtype.is_scalar() => {
            let count = b.as_int()?.rem_euclid(dtype.bits.into());
            if count == 0 {
                return Some(a.clone());
            }
            let a = a.as_int()?;
            Some(Expr::int(if op == Op::ShiftLeft { a << count } else { a >> count }, dtype))
        }
        (Op::Abs, [a]) if dtype.is_integer() && ranges.of(a).0 >= 0 => Some(a.clone()),
        _ => None,
    }
}
