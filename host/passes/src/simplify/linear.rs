//! Integer sums as constant plus multiples of terms. Sums and products wrap, so that this form is
//! exact modulo two to the width, in any order.

use chipdock_ir::{BinaryOp, DType, Expr, ExprKind};

use super::interval::{Interval, Ranges, full};

/// `constant + sum of coefficient * term`, modulo two to the width of the type. Terms are distinct,
/// in the order of their first appearance; coefficients are not 0 and lie between minus and plus
/// half of the type's count of values.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) dtype: DType,
    pub(crate) terms: Vec<(Expr, i128)>,
    pub(crate) constant: i128,
}

impl Linear {
    /// Decomposes an expression whose parts are already simplified.
    pub(crate) fn of(expr: &Expr) -> Self {
        let mut linear = Self { dtype: expr.dtype, terms: Vec::new(), constant: 0 };
        linear.add(expr, 1);
        linear.terms.retain(|(_, coefficient)| *coefficient != 0);
        while linear.join() {}
        linear
    }

    fn constant_like(dtype: DType) -> Self {
        Self { dtype, terms: Vec::new(), constant: 0 }
    }

    fn add(&mut self, expr: &Expr, factor: i128) {
        match &expr.kind {
            ExprKind::Int(value) => {
                self.constant = self.wrap(self.constant.wrapping_add(value.wrapping_mul(factor)))
            }
            ExprKind::Binary(BinaryOp::Add, a, b) => {
                self.add(a, factor);
                self.add(b, factor);
            }
            ExprKind::Binary(BinaryOp::Sub, a, b) => {
                self.add(a, factor);
                self.add(b, self.wrap(-factor));
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => match (a.as_int(), b.as_int()) {
                (_, Some(value)) => self.add(a, self.wrap(value.wrapping_mul(factor))),
                (Some(value), _) => self.add(b, self.wrap(value.wrapping_mul(factor))),
                _ => self.add_term(expr, factor),
            },
            _ => self.add_term(expr, factor),
        }
    }

    fn add_term(&mut self, term: &Expr, factor: i128) {
        let dtype = self.dtype;
        match self.terms.iter_mut().find(|(known, _)| known == term) {
            Some((_, coefficient)) => *coefficient = balanced(dtype, *coefficient + factor),
            None => self.terms.push((term.clone(), balanced(dtype, factor))),
        }
    }

    /// Joins a quotient and its remainder: `k * c * (x / c) + k * (x % c)` is `k * x`, for either
    /// kind of division, as the constant `c` is positive. Returns false if there is no such pair.
    fn join(&mut self) -> bool {
        let Some((quotient, rest, whole, factor)) = self.parts() else { return false };
        let first = quotient.min(rest);
        let behind = self.terms.split_off(first);
        self.add(&whole, factor);
        for (index, (term, coefficient)) in behind.iter().enumerate() {
            if first + index != quotient && first + index != rest {
                self.add_term(term, *coefficient);
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        true
    }

    /// Positions of a quotient and its remainder, the dividend, and its factor in the sum.
    fn parts(&self) -> Option<(usize, usize, Expr, i128)> {
        for (rest, (term, factor)) in self.terms.iter().enumerate() {
            // A cast of integers keeps sums and products, modulo two to the width.
            let (inner, is_cast) = match &term.kind {
                ExprKind::Cast(inner) if inner.dtype.is_integer() && inner.dtype.is_scalar() => (inner, true),
                _ => (term, false),
            };
            let Some((whole, divisor, quotients)) = quotients(inner) else { continue };
            let like = |expr: Expr| if is_cast { expr.cast(self.dtype) } else { expr };
            let Some(wanted) = divisor.checked_mul(*factor) else { continue };
            let quotients = quotients.map(like);
            let is_quotient =
                |(term, coefficient): &(Expr, i128)| *coefficient == wanted && quotients.contains(term);
            if let Some(quotient) = self.terms.iter().position(is_quotient) {
                return Some((quotient, rest, like(whole), *factor));
            }
        }
        None
    }

    /// Wraps a value to the signed range of the width, whatever the sign of the type: a factor of
    /// -1 is shorter than 2^32-1.
    fn wrap(&self, value: i128) -> i128 {
        balanced(self.dtype, value)
    }

    /// The difference of two sums of one type, in whole numbers: its bounds are meaningful only if
    /// neither sum wraps.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut result = self.clone();
        for (term, coefficient) in &other.terms {
            match result.terms.iter_mut().find(|(known, _)| known == term) {
                Some((_, own)) => *own -= coefficient,
                None => result.terms.push((term.clone(), -coefficient)),
            }
        }
        result.constant -= other.constant;
        result.terms.retain(|(_, coefficient)| *coefficient != 0);
        result
    }

    /// Bounds of the sum in whole numbers, before it wraps.
    pub(crate) fn exact(&self, ranges: &Ranges) -> Option<Interval> {
        let mut sum = (self.constant, self.constant);
        for (term, coefficient) in &self.terms {
            let (low, high) = ranges.of(term);
            let (a, b) = (low.checked_mul(*coefficient)?, high.checked_mul(*coefficient)?);
            sum = (sum.0.checked_add(a.min(b))?, sum.1.checked_add(a.max(b))?);
        }
        Some(sum)
    }

    /// Returns true if the sum in whole numbers is the value, so that nothing wraps.
    pub(crate) fn fits(&self, ranges: &Ranges) -> bool {
        let (low, high) = full(self.dtype);
        self.exact(ranges).is_some_and(|sum| sum.0 >= low && sum.1 <= high)
    }

    /// Splits the sum into the parts that are multiples of `divisor`, divided by it, and the
    /// remainder.
    pub(crate) fn split(&self, divisor: i128) -> (Self, Self) {
        let (mut quotient, mut rest) = (Self::constant_like(self.dtype), Self::constant_like(self.dtype));
        for (term, coefficient) in &self.terms {
            if coefficient % divisor == 0 {
                quotient.terms.push((term.clone(), coefficient / divisor));
            } else {
                rest.terms.push((term.clone(), *coefficient));
            }
        }
        quotient.constant = super::fold::floor_div(self.constant, divisor);
        rest.constant = self.constant - quotient.constant * divisor;
        (quotient, rest)
    }

    /// The sum as an expression.
    pub(crate) fn to_expr(&self) -> Expr {
        self.to_expr_mapped(self.dtype, &|term| term.clone())
    }

    /// The sum as an expression of another type, each term converted by `map`.
    pub(crate) fn to_expr_mapped(&self, dtype: DType, map: &dyn Fn(&Expr) -> Expr) -> Expr {
        let first_positive = self.terms.iter().position(|(_, coefficient)| *coefficient > 0);
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        if let Some(first) = first_positive {
            order.remove(first);
            order.insert(0, first);
        }
        let mut constant = balanced(dtype, self.constant);
        // Without a positive term, 3 - n is shorter than n * -1 + 3.
        let leads = first_positive.is_none() && !self.terms.is_empty();
        let mut sum: Option<Expr> = leads.then(|| Expr::int(std::mem::take(&mut constant), dtype));
        for index in order {
            let (term, coefficient) = &self.terms[index];
            sum = Some(Self::plus(sum, map(term), *coefficient, dtype));
        }
        match sum {
            None => Expr::int(constant, dtype),
            Some(sum) if constant == 0 => sum,
            Some(sum) if constant < 0 && dtype.wrap(-constant) == -constant => {
                sum - Expr::int(-constant, dtype)
            }
            Some(sum) => sum + Expr::int(constant, dtype),
        }
    }

    fn plus(sum: Option<Expr>, term: Expr, coefficient: i128, dtype: DType) -> Expr {
        let product = |c: i128| {
            if c == 1 { term.clone() } else { term.clone() * Expr::int(c, dtype) }
        };
        match sum {
            None => product(coefficient),
            Some(sum) if coefficient < 0 && dtype.wrap(-coefficient) == -coefficient => {
                sum - product(-coefficient)
            }
            Some(sum) => sum + product(coefficient),
        }
    }
}

/// For a remainder by a positive constant: the dividend, the constant, and the possible forms of
/// the quotient: as written, or with two floor divisions joined.
fn quotients(rest: &Expr) -> Option<(Expr, i128, [Expr; 2])> {
    let ExprKind::Binary(op, whole, divisor) = &rest.kind else { return None };
    let op = match op {
        BinaryOp::Mod => BinaryOp::Div,
        BinaryOp::FloorMod => BinaryOp::FloorDiv,
        _ => return None,
    };
    let by = divisor.as_int().filter(|by| *by > 0)?;
    let plain = Expr::binary(op, whole.clone(), divisor.clone());
    let nested = super::nested_division(op, whole, by).unwrap_or_else(|| plain.clone());
    Some((whole.clone(), by, [plain, nested]))
}

fn balanced(dtype: DType, value: i128) -> i128 {
    DType { code: chipdock_ir::TypeCode::Int, ..dtype.scalar() }.wrap(value)
}
