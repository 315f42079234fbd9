//! Known bounds of values and places, which keep values small and indices in bounds.

use chipdock_ir::{BinaryOp, Buffer, DType, Expr};

/// A value with the range that contains it, special values of the inputs excepted.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) expr: Expr,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Whether every conforming backend computes exactly this value, so that a decision by it is the same everywhere.
    pub(crate) exact: bool,
}

impl Val {
    pub(crate) fn new(expr: Expr, lo: f64, hi: f64, exact: bool) -> Self {
        Self { expr, lo, hi, exact }
    }

    /// Makes a value of an integer or a boolean of which only the type is known.
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

    /// Clamps the value between two constants. A NaN becomes one of them.
    pub(crate) fn clamp(self, lo: f64, hi: f64) -> Self {
        if self.is_within(lo, hi) {
            return self;
        }
        let dtype = self.dtype();
        let [low, high] = [lo, hi].map(|bound| number(bound, dtype));
        let expr = Expr::binary(BinaryOp::Min, self.expr, high);
        Self::new(Expr::binary(BinaryOp::Max, expr, low), lo, hi, self.exact)
    }

    /// Clamps the value so that a few more operations fit into its type.
    pub(crate) fn fit(self) -> Self {
        let limit = comfortable(self.dtype());
        if self.dtype().is_float() { self.clamp(-limit, limit) } else { self }
    }
}

/// Returns a constant in every lane.
pub(crate) fn number(value: f64, dtype: DType) -> Expr {
    if dtype.is_float() { Expr::float(value, dtype) } else { Expr::int(value as i128, dtype) }
}

/// Returns the greatest magnitude that values of a type should reach.
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
    /// A small constant.
    Const(u8),
}

/// A tensor that may be read.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) buffer: Buffer,
    pub(crate) shape: Vec<Size>,
    /// Range of its elements.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) exact: bool,
}

/// The facts that are known at a place of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Indices with the sizes that they are in bounds of.
    pub(crate) at: Vec<(Size, Expr)>,
    /// Scalars that may be read too: names, parameters and elements.
    pub(crate) known: Vec<Val>,
    /// Tensors of constant shape that live here.
    pub(crate) local: Vec<Tensor>,
    /// The vectors at this place, if there are any.
    pub(crate) lanes: Option<Lanes>,
}

/// Vectors along the size `M`, starting at a multiple of their lanes.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) base: Expr,
    pub(crate) lanes: u16,
    /// Lanes that exist, when the size is no multiple.
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
