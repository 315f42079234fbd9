//! Known facts about values and positions, which keep values small and indices in bounds.

use chipdock_ir::{BinaryOp, Buffer, DType, Expr};

/// A value with its range, apart from special values of inputs.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub(crate) expr: Expr,
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// Whether every conforming backend computes exactly this value, so that decisions by it are
    /// the same everywhere.
    pub(crate) exact: bool,
}

impl Val {
    pub(crate) fn new(expr: Expr, lo: f64, hi: f64, exact: bool) -> Self {
        Self { expr, lo, hi, exact }
    }

    /// Creates an integer or boolean value with the whole range of its type.
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

    /// Clamps the value between two constants; a NaN becomes one of them.
    pub(crate) fn clamp(self, lo: f64, hi: f64) -> Self {
        if self.is_within(lo, hi) {
            return self;
        }
        let dtype = self.dtype();
        let [low, high] = [lo, hi].map(|bound| number(bound, dtype));
        let expr = Expr::binary(BinaryOp::Min, self.expr, high);
        Self::new(Expr::binary(BinaryOp::Max, expr, low), lo, hi, self.exact)
    }

    /// Clamps a float so that its type has room for a few more operations.
    pub(crate) fn fit(self) -> Self {
        let limit = comfortable(self.dtype());
        if self.dtype().is_float() { self.clamp(-limit, limit) } else { self }
    }
}

/// Creates a constant in every lane.
pub(crate) fn number(value: f64, dtype: DType) -> Expr {
    if dtype.is_float() { Expr::float(value, dtype) } else { Expr::int(value as i128, dtype) }
}

/// Returns the magnitude that values of a float type should not exceed.
pub(crate) fn comfortable(dtype: DType) -> f64 {
    match (dtype.is_float(), dtype.bits, dtype.code) {
        (true, 16, chipdock_ir::TypeCode::Float) => 1e3,
        (true, 16, _) => 1e4,
        (true, 32, _) => 1e6,
        _ => 1e9,
    }
}

/// A size of shapes. `N` may be symbolic; the others are constants or derived from it.
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

/// A readable tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) buffer: Buffer,
    pub(crate) shape: Vec<Size>,
    /// Range of the elements.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) exact: bool,
}

/// Facts that are known at one position of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Known indices, each in bounds of its size.
    pub(crate) at: Vec<(Size, Expr)>,
    /// Readable scalars: names, parameters and elements.
    pub(crate) known: Vec<Val>,
    /// Readable tensors of constant shape that are local to this position.
    pub(crate) local: Vec<Tensor>,
    /// Vector lanes, in a vector stage.
    pub(crate) lanes: Option<Lanes>,
}

/// Vectors along the size `M` that start at a multiple of their lanes.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    pub(crate) base: Expr,
    pub(crate) lanes: u16,
    /// Mask of the existing lanes, if the size is no multiple.
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
