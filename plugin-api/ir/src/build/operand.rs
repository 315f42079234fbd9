//! Operands and lists of operands: expressions, variables, and Rust's own numbers.

use crate::{Buffer, CompareOp};
use crate::{BufferRegion, DType, Expr, ExprKind, Range, Var};

impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Self::i32(value)
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

impl From<&Var> for Expr {
    fn from(var: &Var) -> Self {
        var.expr()
    }
}

/// An operand that takes the type of the other one: a Rust number becomes a constant of that type,
/// an expression stays as it is.
///
/// A number that the type cannot hold, such as 0.5 for an integer, becomes a constant of another
/// type, and [`crate::validate`] reports that the types differ.
pub trait Operand {
    /// Converts the operand to an expression, for use with one of type `dtype`.
    fn into_operand(self, dtype: DType) -> Expr;
}

impl Operand for Expr {
    fn into_operand(self, _: DType) -> Expr {
        self
    }
}

impl Operand for &Expr {
    fn into_operand(self, _: DType) -> Expr {
        self.clone()
    }
}

impl Operand for &Var {
    fn into_operand(self, _: DType) -> Expr {
        self.expr()
    }
}

impl Operand for bool {
    fn into_operand(self, _: DType) -> Expr {
        Expr::bool(self)
    }
}

fn integer(value: i64, dtype: DType) -> Expr {
    let held = dtype.integer_range().is_some_and(|(least, most)| (least..=most).contains(&value.into()));
    match dtype {
        _ if held && !dtype.is_bool() => Expr::int(value.into(), dtype),
        _ if dtype.is_float() => Expr::float(value as f64, dtype),
        _ => Expr::int(value.into(), DType::INT64),
    }
}

fn float(value: f64, dtype: DType) -> Expr {
    Expr::float(value, if dtype.is_float() { dtype } else { DType::FLOAT64 })
}

macro_rules! numbers {
    ($($number:ty: $constant:path;)*) => {
        $(
            impl Operand for $number {
                fn into_operand(self, dtype: DType) -> Expr {
                    $constant(self.into(), dtype)
                }
            }
        )*
    };
}
numbers! { i32: integer; i64: integer; f32: float; f64: float; }

// Only one integer and one float type, so that the type of a bare literal is unambiguous.
macro_rules! arithmetic {
    ($number:ty: $($op:ident $method:ident),*) => {
        $(
            impl std::ops::$op<$number> for Expr {
                type Output = Expr;
                fn $method(self, other: $number) -> Expr {
                    let other = other.into_operand(self.dtype);
                    std::ops::$op::$method(self, other)
                }
            }
            impl std::ops::$op<$number> for &Expr {
                type Output = Expr;
                fn $method(self, other: $number) -> Expr {
                    std::ops::$op::$method(self.clone(), other.into_operand(self.dtype))
                }
            }
            impl std::ops::$op<Expr> for $number {
                type Output = Expr;
                fn $method(self, other: Expr) -> Expr {
                    std::ops::$op::$method(self.into_operand(other.dtype), other)
                }
            }
            impl std::ops::$op<&Expr> for $number {
                type Output = Expr;
                fn $method(self, other: &Expr) -> Expr {
                    std::ops::$op::$method(self.into_operand(other.dtype), other.clone())
                }
            }
        )*
    };
}
arithmetic! { i32: Add add, Sub sub, Mul mul, Div div, Rem rem }
arithmetic! { f64: Add add, Sub sub, Mul mul, Div div, Rem rem }

/// A list of `N` expressions: an array, a tuple of expressions, variables and `i32`, or a single
/// one for `N` = 1.
pub trait Exprs<const N: usize> {
    /// Returns the expressions.
    fn exprs(self) -> [Expr; N];
}

/// A list of any number of expressions, such as indices and shapes: all that implement [`Exprs`],
/// and lists.
pub trait List {
    /// Returns the expressions.
    fn list(self) -> Vec<Expr>;
}

impl<I: Into<Expr>, const N: usize> List for [I; N] {
    fn list(self) -> Vec<Expr> {
        self.exprs().into()
    }
}

impl<I: Into<Expr>> List for Vec<I> {
    fn list(self) -> Vec<Expr> {
        self.into_iter().map(Into::into).collect()
    }
}

impl List for &[Expr] {
    fn list(self) -> Vec<Expr> {
        self.to_vec()
    }
}

impl<I: Into<Expr>, const N: usize> Exprs<N> for [I; N] {
    fn exprs(self) -> [Expr; N] {
        self.map(Into::into)
    }
}

macro_rules! one {
    ($($one:ty),*) => {
        $(
            impl Exprs<1> for $one {
                fn exprs(self) -> [Expr; 1] {
                    [self.into()]
                }
            }

            impl List for $one {
                fn list(self) -> Vec<Expr> {
                    self.exprs().into()
                }
            }
        )*
    };
}
one! { Expr, &Expr, &Var, i32 }

impl List for () {
    fn list(self) -> Vec<Expr> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($($n:literal: $($item:ident)*;)*) => {
        $(
            impl<$($item: Into<Expr>),*> Exprs<$n> for ($($item,)*) {
                #[allow(non_snake_case, reason = "a variable for each type")]
                fn exprs(self) -> [Expr; $n] {
                    let ($($item,)*) = self;
                    [$($item.into()),*]
                }
            }

            impl<$($item: Into<Expr>),*> List for ($($item,)*) {
                fn list(self) -> Vec<Expr> {
                    self.exprs().into()
                }
            }
        )*
    };
}
tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}

impl Buffer {
    /// Returns the element at these indices, as an expression.
    pub fn at(&self, indices: impl List) -> Expr {
        Expr::load(self, indices.list())
    }

    /// Returns the lanes at these indices where the mask is true, and 0 in the others.
    pub fn at_where(&self, indices: impl List, mask: impl Into<Expr>) -> Expr {
        let load = self.at(indices.list());
        match &load.kind {
            ExprKind::Load { buffer, indices, .. } => Expr::new(
                ExprKind::Load {
                    buffer: buffer.clone(),
                    indices: indices.clone(),
                    predicate: Some(mask.into()),
                },
                load.dtype,
            ),
            _ => load,
        }
    }

    /// Returns the region of one element.
    pub fn point(&self, indices: impl List) -> BufferRegion {
        let one = |min: Expr| Range { extent: Expr::int(1, min.dtype), min };
        BufferRegion { buffer: self.clone(), region: indices.list().into_iter().map(one).collect() }
    }

    /// Returns a region, from the first index and the number of indices on each axis.
    pub fn region<A: Into<Expr>, B: Into<Expr>>(
        &self,
        ranges: impl IntoIterator<Item = (A, B)>,
    ) -> BufferRegion {
        let ranges = ranges.into_iter().map(|(min, extent)| Range { min: min.into(), extent: extent.into() });
        BufferRegion { buffer: self.clone(), region: ranges.collect() }
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $method:ident $op:ident;)*) => {
        impl Expr {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $method(&self, other: impl Operand) -> Expr {
                    Expr::compare(CompareOp::$op, self.clone(), other.into_operand(self.dtype))
                }
            )*
        }
    };
}
comparisons! {
    /// `==`, as an expression.
    equals Eq;
    /// `!=`, as an expression.
    differs Ne;
    /// `<`.
    lt Lt;
    /// `<=`.
    le Le;
    /// `>`.
    gt Gt;
    /// `>=`.
    ge Ge;
}
