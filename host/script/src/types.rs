//! Types of operands: conversion of two to one, as TVM does it, and types of constants.

use chipdock_ir::{BinaryOp, DType, Expr, ExprKind, TypeCode};

/// Returns true if constants of the type have a fraction: floats, and those that are only stored.
pub(crate) fn is_float(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_float8()
}

/// Returns the scalar type that operands of two scalar types are converted to, or `None` when there
/// is none.
///
/// Floats win over integers and booleans, integers over booleans, wide over narrow; of an integer
/// and an unsigned integer of one width the unsigned wins; of float16 and bfloat16, float16.
pub(crate) fn common(left: DType, right: DType) -> Option<DType> {
    use TypeCode::{BFloat, Bool, Float, Float8E4M3Fn, Float8E5M2, Handle, Int, UInt};
    if left == right {
        return Some(left);
    }
    let (narrow, wide) = if left.bits < right.bits { (left, right) } else { (right, left) };
    Some(match (left.code, right.code) {
        (Handle, _) | (_, Handle) => return None,
        (Float, Float) | (Int, Int) | (UInt, UInt) => wide,
        (Float, _) => left,
        (_, Float) => right,
        (BFloat, _) => left,
        (_, BFloat) => right,
        (Float8E4M3Fn, Float8E5M2) | (Float8E5M2, Float8E4M3Fn) => return None,
        (Float8E4M3Fn | Float8E5M2, _) => left,
        (_, Float8E4M3Fn | Float8E5M2) => right,
        (Bool, _) => right,
        (_, Bool) => left,
        (Int | UInt, Int | UInt) if narrow.bits < wide.bits => wide,
        (Int, UInt) => right,
        (UInt, Int) => left,
    })
}

/// Converts `value` to a scalar type with as many lanes; constants that fit are converted here.
pub(crate) fn convert(value: &Expr, scalar: DType) -> Expr {
    let dtype = scalar.with_lanes(value.dtype.lanes);
    if value.dtype == dtype {
        return value.clone();
    }
    constant(value, scalar).unwrap_or_else(|| value.clone().cast(dtype)).with_span(value.span)
}

/// Returns a constant in another type, when it is one and keeps its value there.
fn constant(value: &Expr, scalar: DType) -> Option<Expr> {
    match &value.kind {
        ExprKind::Int(number) if is_float(scalar) => {
            let float = *number as f64;
            let rounded = Expr::float(float, scalar);
            let kept = matches!(rounded.kind, ExprKind::Float(bits) if bits.value() == float);
            (kept && float as i128 == *number).then_some(rounded)
        }
        ExprKind::Int(number) => {
            let (least, greatest) = scalar.integer_range()?;
            (least..=greatest).contains(number).then(|| Expr::int(*number, scalar))
        }
        ExprKind::Float(bits) if is_float(scalar) => Some(Expr::float(bits.value(), scalar)),
        ExprKind::Broadcast { value: lane, lanes } => {
            Some(constant(lane, scalar)?.with_span(value.span).broadcast(*lanes))
        }
        _ => None,
    }
}

/// A sum of terms with integer factors, and a constant.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    terms: Vec<(Expr, i128)>,
    constant: i128,
    dtype: DType,
}

impl Linear {
    /// `stop - start`.
    pub(crate) fn difference(stop: &Expr, start: &Expr) -> Option<Self> {
        let mut sum = Self { terms: Vec::new(), constant: 0, dtype: stop.dtype };
        sum.add(stop, 1)?;
        sum.add(start, -1)?;
        sum.terms.retain(|(_, factor)| *factor != 0);
        Some(sum)
    }

    fn add(&mut self, expr: &Expr, factor: i128) -> Option<()> {
        match &expr.kind {
            ExprKind::Int(value) => {
                self.constant = self.constant.checked_add(value.checked_mul(factor)?)?;
                return Some(());
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                self.add(a, factor)?;
                return self.add(b, factor);
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                self.add(a, factor)?;
                return self.add(b, factor.checked_neg()?);
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                if let Some(value) = b.as_int() {
                    return self.add(a, factor.checked_mul(value)?);
                }
                if let Some(value) = a.as_int() {
                    return self.add(b, factor.checked_mul(value)?);
                }
            }
            _ => {}
        }
        match self.terms.iter_mut().find(|(term, _)| term == expr) {
            Some((_, known)) => *known = known.checked_add(factor)?,
            None => self.terms.push((expr.clone(), factor)),
        }
        Some(())
    }

    /// Returns the value, when no term is left.
    pub(crate) fn value(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Divides every factor of the sum, when all are multiples of the divisor.
    pub(crate) fn divided(&self, divisor: i128) -> Option<Self> {
        let whole = |number: i128| (number.checked_rem(divisor) == Some(0)).then(|| number / divisor);
        let terms = self.terms.iter().map(|(term, factor)| Some((term.clone(), whole(*factor)?)));
        Some(Self {
            terms: terms.collect::<Option<_>>()?,
            constant: whole(self.constant)?,
            dtype: self.dtype,
        })
    }

    /// Returns the sum as an expression, when it is simple: a constant, or one positive term and
    /// perhaps a constant.
    pub(crate) fn simple(&self) -> Option<Expr> {
        match self.terms.as_slice() {
            [] => Some(Expr::int(self.constant, self.dtype)),
            [(term, factor)] if *factor >= 1 => {
                let scaled = if *factor == 1 { term.clone() } else { term * &Expr::int(*factor, self.dtype) };
                let offset = Expr::int(self.constant.checked_abs()?, self.dtype);
                Some(match self.constant {
                    0 => scaled,
                    1.. => scaled + offset,
                    _ => scaled - offset,
                })
            }
            _ => None,
        }
    }
}

/// Returns `stop - start`, computed where that is simple.
pub(crate) fn difference(stop: &Expr, start: &Expr) -> Expr {
    if start.as_int() == Some(0) {
        return stop.clone();
    }
    // As ranges are printed: the end is the start and the extent.
    if let ExprKind::Binary(BinaryOp::Add, a, b) = &stop.kind
        && a == start
    {
        return b.clone();
    }
    let simple = Linear::difference(stop, start).and_then(|linear| linear.simple());
    simple.unwrap_or_else(|| stop - start).with_span(stop.span)
}
