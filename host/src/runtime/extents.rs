//! Extents of buffers: computed from the values of symbols, by the IR's semantics, except that
//! nothing may wrap.

use chipdock_ir::{BinaryOp, Callee, DType, Expr, ExprKind, Op, Var};

/// Greatest depth of a size's expression.
const DEPTH_MAX: u32 = 256;

/// Returns the value of an integer or boolean expression.
///
/// # Errors
///
/// The part that cannot be computed: a symbol without a value (queried by `value_of`), a result
/// that its type cannot hold, a node that is no arithmetic of integers.
pub fn evaluate(expr: &Expr, value_of: &dyn Fn(&Var) -> Result<i128, String>) -> Result<i128, String> {
    Evaluator { value_of }.value(expr, 0)
}

struct Evaluator<'a> {
    value_of: &'a dyn Fn(&Var) -> Result<i128, String>,
}

impl Evaluator<'_> {
    fn value(&self, expr: &Expr, depth: u32) -> Result<i128, String> {
        if depth > DEPTH_MAX {
            return Err("it is nested too deep for a size".to_owned());
        }
        if !expr.dtype.is_scalar() || expr.dtype.integer_range().is_none() {
            return Err(format!("expected an integer, found {}", expr.dtype));
        }
        let value = self.unchecked(expr, depth + 1)?;
        in_range(value, expr.dtype)
    }

    fn unchecked(&self, expr: &Expr, depth: u32) -> Result<i128, String> {
        let value = |e: &Expr| self.value(e, depth);
        let choice = |condition: &Expr, then: &Expr, otherwise: &Expr| {
            if value(condition)? != 0 { value(then) } else { value(otherwise) }
        };
        match &expr.kind {
            ExprKind::Var(var) => (self.value_of)(var),
            ExprKind::Int(constant) => Ok(*constant),
            ExprKind::Cast(inner) if expr.dtype.is_bool() => Ok(i128::from(value(inner)? != 0)),
            ExprKind::Cast(inner) => value(inner),
            ExprKind::Binary(op, a, b) => binary(*op, value(a)?, value(b)?),
            ExprKind::Compare(op, a, b) => Ok(i128::from(op.holds(&value(a)?, &value(b)?))),
            ExprKind::And(a, b) => Ok(i128::from(value(a)? != 0 && value(b)? != 0)),
            ExprKind::Or(a, b) => Ok(i128::from(value(a)? != 0 || value(b)? != 0)),
            ExprKind::Not(a) => Ok(i128::from(value(a)? == 0)),
            ExprKind::Select(condition, then, otherwise) => choice(condition, then, otherwise),
            ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
                (Op::IfThenElse, [condition, then, otherwise]) => choice(condition, then, otherwise),
                (Op::Likely, [inner]) => value(inner),
                (Op::Abs, [inner]) => Ok(value(inner)?.abs()),
                (Op::BitwiseAnd, [a, b]) => Ok(value(a)? & value(b)?),
                (Op::BitwiseOr, [a, b]) => Ok(value(a)? | value(b)?),
                (Op::BitwiseXor, [a, b]) => Ok(value(a)? ^ value(b)?),
                (Op::ShiftLeft, [a, b]) => Ok(value(a)? << shift_amount(value(b)?, expr.dtype)),
                (Op::ShiftRight, [a, b]) => Ok(value(a)? >> shift_amount(value(b)?, expr.dtype)),
                _ => Err(format!("`T.{}` cannot stand in a size", op.name())),
            },
            _ => Err("it is more than arithmetic of integers".to_owned()),
        }
    }
}

fn in_range(value: i128, dtype: DType) -> Result<i128, String> {
    match dtype.integer_range() {
        Some((least, greatest)) if (least..=greatest).contains(&value) => Ok(value),
        _ => Err(format!("{value} does not fit into {dtype}")),
    }
}

/// Operands are in the range of a 64-bit type, so nothing here leaves that of `i128`.
fn binary(op: BinaryOp, a: i128, b: i128) -> Result<i128, String> {
    let overflow = || "a number in it is too large".to_owned();
    match op {
        BinaryOp::Add => a.checked_add(b).ok_or_else(overflow),
        BinaryOp::Sub => a.checked_sub(b).ok_or_else(overflow),
        BinaryOp::Mul => a.checked_mul(b).ok_or_else(overflow),
        BinaryOp::Div | BinaryOp::FloorDiv if b == 0 => Ok(a),
        BinaryOp::Mod | BinaryOp::FloorMod if b == 0 => Ok(0),
        BinaryOp::Div => Ok(a / b),
        BinaryOp::Mod => Ok(a % b),
        BinaryOp::FloorDiv => Ok(floor_division(a, b)),
        BinaryOp::FloorMod => Ok(a - floor_division(a, b) * b),
        BinaryOp::Min => Ok(a.min(b)),
        BinaryOp::Max => Ok(a.max(b)),
    }
}

fn floor_division(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

/// The amount modulo the width of the type, at most 63.
fn shift_amount(amount: i128, dtype: DType) -> u32 {
    u32::try_from(amount.rem_euclid(i128::from(dtype.bits.max(1)))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn constant(expr: &Expr) -> Result<i128, String> {
        evaluate(expr, &|var| Err(format!("no value of {}", var.name)))
    }

    #[test]
    fn extents_that_do_not_fit_are_errors_and_do_not_wrap() {
        let big = Expr::i32(1 << 20);
        assert_eq!(constant(&(&big * &big)), Err("1099511627776 does not fit into int32".to_owned()));
        let wide = Expr::int(1 << 62, DType::INT64);
        assert!(constant(&(&wide * &wide)).is_err());
        assert_eq!(constant(&(&wide + &wide)), Err(format!("{} does not fit into int64", 1_i128 << 63)));
    }

    #[test]
    fn a_value_that_is_no_integer_is_an_error() {
        assert!(constant(&Expr::float(1.0, DType::FLOAT32)).is_err());
        assert!(constant(&Expr::float(1.0, DType::FLOAT32).cast(DType::INT32)).is_err());
        assert!(constant(&Expr::i32(1).broadcast(4)).is_err());
        assert!(constant(&Expr::call(Op::Popcount, vec![Expr::i32(1)], DType::INT32)).is_err());
        assert_eq!(constant(&Var::new("n", DType::INT32).expr()), Err("no value of n".to_owned()));
        let deep = (0..1_000).fold(Expr::i32(0), |sum, _| &sum + &Expr::i32(0));
        assert!(constant(&deep).unwrap_err().contains("too deep"));
    }

    #[test]
    fn division_by_zero_is_as_the_ir_has_it() {
        let division = |op| constant(&Expr::binary(op, Expr::i32(7), Expr::i32(0)));
        assert_eq!(division(BinaryOp::FloorDiv), Ok(7));
        assert_eq!(division(BinaryOp::Div), Ok(7));
        assert_eq!(division(BinaryOp::FloorMod), Ok(0));
        assert_eq!(division(BinaryOp::Mod), Ok(0));
    }

    #[test]
    fn only_the_branch_taken_is_worked_out() {
        let unknown = Var::new("m", DType::INT32).expr();
        let chosen = Expr::select(Expr::bool(true), Expr::i32(3), unknown);
        assert_eq!(constant(&chosen), Ok(3));
    }

    proptest! {
        #[test]
        fn division_and_remainder_belong_together(a: i64, b in any::<i64>().prop_filter("not zero", |b| *b != 0)) {
            prop_assume!(!(a == i64::MIN && b == -1));
            let value = |op| {
                constant(&Expr::binary(op, Expr::int(a.into(), DType::INT64), Expr::int(b.into(), DType::INT64))).unwrap()
            };
            let (a, b) = (i128::from(a), i128::from(b));
            let (quotient, remainder) = (value(BinaryOp::FloorDiv), value(BinaryOp::FloorMod));
            prop_assert_eq!(quotient * b + remainder, a);
            prop_assert!(remainder.abs() < b.abs() && (remainder == 0 || (remainder < 0) == (b < 0)));
            prop_assert_eq!(value(BinaryOp::Div) * b + value(BinaryOp::Mod), a);
            prop_assert!(value(BinaryOp::Mod) == 0 || (value(BinaryOp::Mod) < 0) == (a < 0));
        }
    }
}
