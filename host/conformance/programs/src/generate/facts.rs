//! What is known of values and of places, so that values stay small and indices in bounds.

use chipdock_ir::{BinaryOp, Buffer, DType, Expr};

/// A value with what it lies within, specials of the inputs apart.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) expr: Expr,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Whether every conforming backend has the very same value, so that deciding by it decides the same everywhere.
    pub(crate) exact: bool,
}

impl Val {
    pub(crate) fn new(expr: Expr, lo: f64, hi: f64, exact: bool) -> Self {
        Self { expr, lo, hi, exact }
    }

    /// An integer or a boolean of which nothing is known but its type.
    pub(crate) fn any(expr: Expr) -> Self {
        let (lo, hi) = expr.dtype.scalar().integer_range().unwrap_or((-1, 1));
        Self::new(expr, lo as f64, hi as f64, true)
    }

    pub(crate) fn dtype(&self) -> DType {
        self.expr.dtype
    }

    pub(crate) fn is_within(&self, lo: f64, hi: f64) -> bool {
        lo <= self.lo && self.hi <= hi
    }

    /// The same value, held between two constants. A NaN becomes one of them.
    pub(crate) fn clamp(self, lo: f64, hi: f64) -> Self {
        if self.is_within(lo, hi) {
            return self;
        }
        let dtype = self.dtype();
        let [low, high] = [lo, hi].map(|bound| number(bound, dtype));
        let expr = Expr::binary(BinaryOp::Min, self.expr, high);
        Self::new(Expr::binary(BinaryOp::Max, expr, low), lo, hi, self.exact)
    }

    /// The same value, held to what leaves room for a few more operations in its type.
    pub(crate) fn fit(self) -> Self {
        let limit = comfortable(self.dtype());
        if self.dtype().is_float() { self.clamp(-limit, limit) } else { self }
    }
}

/// A constant in every lane.
pub(crate) fn number(value: f64, dtype: DType) -> Expr {
    if dtype.is_float() { Expr::float(value, dtype) } else { Expr::int(value as i128, dtype) }
}

/// How large values of a float type should become.
pub(crate) fn comfortable(dtype: DType) -> f64 {
    match (dtype.is_float(), dtype.bits, dtype.code) {
        (true, 16, chipdock_ir::TypeCode::Float) => 1e3,
        (true, 16, _) => 1e4,
        (true, 32, _) => 1e6,
        _ => 1e9,
    }
}

/// A size that shapes are made of. `N` may be symbolic; the others are constants or follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    N,
    M,
    /// n + 1
    Next,
    /// n * m
    Product,
    /// A few.
    Const(u8),
}

/// A tensor that may be read.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) buffer: Buffer,
    pub(crate) shape: Vec<Size>,
    /// What its elements lie within.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) exact: bool,
}

/// A place in the program: what is known there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Indices that are in bounds of a size.
    pub(crate) at: Vec<(Size, Expr)>,
    /// Names, parameters and elements that may be read too; scalars.
    pub(crate) known: Vec<Val>,
    /// Tensors of constant shape that live here.
    pub(crate) local: Vec<Tensor>,
    /// Where vectors stand.
    pub(crate) lanes: Option<Lanes>,
}

/// Vectors along the size `M`, starting at a multiple of their lanes.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) base: Expr,
    pub(crate) lanes: u16,
    /// Which lanes are there, when the size is no multiple.
    pub(crate) predicate: Option<Expr>,
}

impl Scope {
    pub(crate) fn with(&self, known: Val) -> Self {
        let mut scope = self.clone();
        scope.known.push(known);
        scope
    }

    pub(crate) fn with_index(&self, size: Size, index: Expr) -> Self {
        let mut scope = self.clone();
        scope.at.push((size, index));
        scope
    }

    pub(crate) fn with_local(&self, tensor: Tensor) -> Self {
        let mut scope = self.clone();
        scope.local.push(tensor);
        scope
    }
}
