//! In-bounds indices, and vectors of elements.

use chipdock_ir::{BinaryOp, DType, Expr, ExprKind};

use super::Generator;
use super::facts::{Lanes, Scope, Size, Tensor, Val};
use super::op;

impl Generator<'_> {
    /// Returns a constant of the index type.
    pub(crate) fn index_number(&self, value: i64) -> Expr {
        Expr::int(value.into(), self.index)
    }

    pub(crate) fn extent(&self, size: Size) -> Expr {
        if self.n.as_int().is_some() {
            return self.index_number(self.length(size) as i64);
        }
        match size {
            Size::N => self.n.clone(),
            Size::M => self.index_number(self.m_value as i64),
            Size::Next => self.n.clone() + self.index_number(1),
            Size::Product => self.n.clone() * self.index_number(self.m_value as i64),
            Size::Const(value) => self.index_number(value.into()),
        }
    }

    pub(crate) fn length(&self, size: Size) -> usize {
        match size {
            Size::N => self.n_value,
            Size::M => self.m_value,
            Size::Next => self.n_value + 1,
            Size::Product => self.n_value * self.m_value,
            Size::Const(value) => value.into(),
        }
    }

    /// Returns true if the size is known to be positive when the program is generated.
    fn has_elements(&self, size: Size, scope: &Scope) -> bool {
        match size {
            Size::M | Size::Next | Size::Const(_) => true,
            Size::N | Size::Product => {
                self.never_empty || scope.at.iter().any(|(of, _)| matches!(of, Size::N | Size::Product))
            }
        }
    }

    /// Returns an in-bounds index: a known or a computed one; `None` if the size may be 0.
    pub(crate) fn index(&mut self, size: Size, scope: &Scope) -> Option<Expr> {
        if !self.has_elements(size, scope) {
            return None;
        }
        let known: Vec<Expr> = scope
            .at
            .iter()
            .filter(|(of, _)| *of == size || (*of == Size::N && size == Size::Next))
            .map(|(_, index)| index.clone())
            .collect();
        let extent = self.extent(size);
        if known.is_empty() {
            return Some(self.index_from(size, extent, scope));
        }
        let at = self.random.pick(&known).clone();
        let last = extent.clone() - self.index_number(1);
        let offset = self.random.between(0, 3);
        Some(match self.random.below(12) {
            0 => last - at,
            1 => Expr::binary(BinaryOp::FloorMod, at + self.index_number(offset), extent),
            2 => Expr::binary(BinaryOp::Min, at + self.index_number(offset), last),
            3 => Expr::binary(BinaryOp::Max, at - self.index_number(offset), self.index_number(0)),
            4 => Expr::binary(BinaryOp::FloorDiv, at, self.index_number(2)),
            5 => self.index_from(size, extent, scope),
            6 if size == Size::Next => at + self.index_number(0),
            _ => at,
        })
    }

    /// Returns an index that does not depend on a known index of this size.
    fn index_from(&mut self, size: Size, extent: Expr, scope: &Scope) -> Expr {
        let both =
            |of: Size| scope.at.iter().rev().find(|(size, _)| *size == of).map(|(_, index)| index.clone());
        if size == Size::Product
            && let (Some(i), Some(j)) = (both(Size::N), both(Size::M))
            && !self.random.one_in(4)
        {
            return i * self.index_number(self.m_value as i64) + j;
        }
        // A computed index may itself be an element at a computed index.
        if self.nested >= 2 || self.random.one_in(3) {
            let constant = match size {
                Size::M | Size::Const(_) => self.random.between(0, self.length(size) as i64 - 1),
                _ => 0,
            };
            return self.index_number(constant);
        }
        self.nested += 1;
        let value = self.exact_leaf(self.index, scope).expr;
        self.nested -= 1;
        if self.random.one_in(2) {
            return Expr::binary(BinaryOp::FloorMod, value, extent);
        }
        let last = extent - self.index_number(1);
        Expr::binary(BinaryOp::Max, Expr::binary(BinaryOp::Min, value, last), self.index_number(0))
    }

    // Vectors.

    pub(crate) fn vector_leaf(&mut self, dtype: DType, scope: &Scope) -> Val {
        let lanes = scope.lanes.clone().filter(|here| here.lanes == dtype.lanes);
        match (self.random.weighted(&[2, 5, 2, 1]), lanes) {
            (1, Some(lanes)) => self.vector_load(dtype, scope, &lanes),
            (2, _) if dtype.is_integer() => self.ramp(dtype, scope),
            (3, _) => self.element_vector(dtype, scope),
            _ => {
                let one = self.leaf(dtype.scalar(), scope);
                Val { expr: one.expr.broadcast(dtype.lanes), ..one }
            }
        }
    }

    fn ramp(&mut self, dtype: DType, scope: &Scope) -> Val {
        let base = self.leaf(dtype.scalar(), scope);
        let stride = self.random.between(if dtype.is_uint() { 0 } else { -2 }, 3);
        let reach = (stride * (i64::from(dtype.lanes) - 1)) as f64;
        let exact = base.exact;
        let (lo, hi) = (base.lo + reach.min(0.0), base.hi + reach.max(0.0));
        let ramp = base.expr.ramp(Expr::int(stride.into(), dtype.scalar()), dtype.lanes);
        let all = Val { exact, ..Val::any(ramp) };
        if all.lo <= lo && hi <= all.hi { Val { lo, hi, ..all } } else { all }
    }

    /// Loads a vector element with the same number of lanes, or returns a constant if there is no
    /// tensor of such elements.
    fn element_vector(&mut self, dtype: DType, scope: &Scope) -> Val {
        let list: Vec<Tensor> =
            scope.local.iter().filter(|tensor| tensor.buffer.dtype.lanes == dtype.lanes).cloned().collect();
        if list.is_empty() {
            return self.constant(dtype);
        }
        let tensor = self.random.pick(&list).clone();
        let indices: Option<Vec<Expr>> = tensor.shape.iter().map(|size| self.index(*size, scope)).collect();
        let Some(indices) = indices else { return self.constant(dtype) };
        let load = Expr::load(&tensor.buffer, indices);
        op::convert(Val::new(load, tensor.lo, tensor.hi, tensor.exact), dtype, &mut self.random)
    }

    /// Loads elements that are adjacent along the last axis, or anywhere along it.
    fn vector_load(&mut self, dtype: DType, scope: &Scope, lanes: &Lanes) -> Val {
        let list: Vec<Tensor> = self
            .tensors
            .iter()
            .filter(|tensor| tensor.shape.last() == Some(&Size::M) && tensor.buffer.dtype.is_scalar())
            .cloned()
            .collect();
        if list.is_empty() {
            return self.constant(dtype);
        }
        let alike: Vec<Tensor> =
            list.iter().filter(|tensor| tensor.buffer.dtype == dtype.scalar()).cloned().collect();
        let list = if alike.is_empty() || self.random.one_in(3) { list } else { alike };
        let tensor = self.random.pick(&list).clone();
        let outer = &tensor.shape[..tensor.shape.len() - 1];
        let indices: Option<Vec<Expr>> = outer.iter().map(|size| self.index(*size, scope)).collect();
        let Some(mut indices) = indices else { return self.constant(dtype) };
        let last = self.lane_index(lanes, scope);
        let gathers = !matches!(last.kind, ExprKind::Ramp { .. });
        indices.push(last);
        let load = Expr::load(&tensor.buffer, indices);
        let predicate = match &lanes.predicate {
            Some(predicate) if !gathers => Some(predicate.clone()),
            _ if self.random.one_in(4) => Some(self.condition(lanes.lanes, scope, 1)),
            _ => None,
        };
        let (lo, hi) = if predicate.is_some() {
            (tensor.lo.min(0.0), tensor.hi.max(0.0))
        } else {
            (tensor.lo, tensor.hi)
        };
        let load = with_predicate(load, predicate);
        op::convert(Val::new(load, lo, hi, tensor.exact), dtype, &mut self.random)
    }

    /// Returns an index along `M` for each lane, mostly the lane's own.
    fn lane_index(&mut self, lanes: &Lanes, scope: &Scope) -> Expr {
        let one = self.index_number(1);
        if !self.random.one_in(4) {
            return lanes.base.clone().ramp(one, lanes.lanes);
        }
        let wide = self.index.with_lanes(lanes.lanes);
        let any = self.vector_leaf(wide, &Scope { lanes: None, ..scope.clone() }).expr;
        let size = self.index_number(self.m_value as i64).broadcast(lanes.lanes);
        Expr::binary(BinaryOp::FloorMod, any, size)
    }
}

/// Restricts a load to some lanes.
pub(crate) fn with_predicate(load: Expr, predicate: Option<Expr>) -> Expr {
    match (&load.kind, predicate) {
        (ExprKind::Load { buffer, indices, .. }, Some(predicate)) => {
            let kind = ExprKind::Load {
                buffer: buffer.clone(),
                indices: indices.clone(),
                predicate: Some(predicate),
            };
            Expr::new(kind, load.dtype)
        }
        _ => load,
    }
}
