//! Views of regions (`T.match_buffer` within a block).

use std::collections::HashSet;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    Buffer, BufferNode, Child, CompareOp, DType, Expr, ExprKind, MatchBufferRegion, Param, PrimFunc, Stmt,
    StmtKind, Var, print,
};

use super::Lowerer;
use crate::PassError;
use crate::reach;
use crate::simplify;

impl Lowerer<'_> {
    /// Declares the view as a buffer over the source's memory, with the source's strides and an
    /// offset to the region. Symbolic extents, strides and a symbolic offset of the view are bound
    /// first; known ones must agree.
    pub(super) fn view(&mut self, view: &MatchBufferRegion, parts: &mut Vec<Stmt>) -> Result<(), PassError> {
        let source = self.substitution.buffer(&view.source.buffer);
        let declared = &view.buffer;
        let axes = declared.shape.len();
        if source.shape.len() != view.source.region.len() || axes > source.shape.len() {
            return Err(self.caller(format!(
                "expected the view {} of {} to have at most {} axes, found {axes}",
                declared.name,
                source.name,
                source.shape.len()
            )));
        }
        if declared.dtype != source.dtype {
            return Err(self.caller(format!(
                "expected the view {} of {} to have dtype {}, found {}",
                declared.name, source.name, source.dtype, declared.dtype
            )));
        }
        let dtype = self.index_type(&source);
        let strides = element_strides(&source, dtype);
        let start = source.elem_offset.as_ref().map(|offset| offset.clone().cast(dtype));
        let mut offset = start.unwrap_or_else(|| Expr::int(0, dtype));
        for (range, stride) in view.source.region.iter().zip(&strides) {
            let min = self.expr(&range.min);
            offset = simplify::expr_with(
                &(offset.clone() + min.cast(dtype) * stride.clone().cast(dtype)),
                &self.ranges,
            );
        }
        let leading = source.shape.len() - axes;
        let strides: Vec<Expr> = strides[leading..].to_vec();
        self.agree(view, leading, &strides, &offset, parts)?;
        let shape = declared.shape.iter().map(|extent| self.expr(extent)).collect();
        let new = Buffer::from_node(BufferNode {
            shape,
            strides,
            elem_offset: Some(offset),
            data: source.data.clone(),
            scope: source.scope.clone(),
            ..(**declared).clone()
        });
        self.substitution.map_buffer(declared, &new);
        self.substitution.map_var(&declared.data, source.data.expr());
        parts.push(Stmt::new(StmtKind::DeclBuffer { buffer: new, data: None }));
        Ok(())
    }

    /// Checks the view's declaration against its region.
    fn agree(
        &mut self,
        view: &MatchBufferRegion,
        leading: usize,
        strides: &[Expr],
        offset: &Expr,
        parts: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        let (declared, region) = (&view.buffer, &view.source.region);
        let mut known = Substitution::new();
        let one = Expr::int(1, DType::INT32);
        for (axis, range) in region.iter().enumerate() {
            let (what, wanted) = match axis.checked_sub(leading) {
                None => (format!("the extent of axis {axis}, which it drops,"), &one),
                Some(axis) => (format!("shape[{axis}]"), &declared.shape[axis]),
            };
            let found = self.expr(&range.extent);
            self.unify(&mut known, (declared, &what), wanted, &found, parts)?;
        }
        if let Some(wanted) = &declared.elem_offset {
            self.unify(&mut known, (declared, "elem_offset"), wanted, offset, parts)?;
        }
        for (axis, (wanted, stride)) in declared.strides.iter().zip(strides).enumerate() {
            // The stride of a single index is never used; a symbol is bound all the same.
            let is_single = declared.shape.get(axis).and_then(Expr::as_int).is_some_and(|extent| extent <= 1);
            if !is_single || self.unbound(wanted).is_some() {
                let what = format!("strides[{axis}]");
                self.unify(&mut known, (declared, &what), wanted, stride, parts)?;
            }
        }
        Ok(())
    }

    /// Type of the offsets into a buffer: that of its extents, but int64 where int32 is not known
    /// to hold them.
    fn index_type(&self, buffer: &Buffer) -> DType {
        let is_long = buffer.shape.first().is_some_and(|extent| extent.dtype.bits == 64);
        if is_long { DType::INT64 } else { reach::index_type(buffer, &self.ranges) }
    }

    /// The variable of a symbolic extent, stride or offset that the view is to bind.
    fn unbound<'e>(&self, wanted: &'e Expr) -> Option<&'e Var> {
        match &wanted.kind {
            ExprKind::Var(var) if !self.named.contains(var) && !self.depths.contains_key(var) => Some(var),
            _ => None,
        }
    }

    /// Binds a symbol of the view to the region's value. Anything else must agree: provably, or by
    /// a check at run time, which raises an error if it does not; threads cannot raise.
    fn unify(
        &mut self,
        known: &mut Substitution,
        (view, what): (&Buffer, &str),
        wanted: &Expr,
        found: &Expr,
        parts: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        if let Some(var) = self.unbound(wanted).cloned() {
            self.depths.insert(var.clone(), self.frames.len());
            let value = found.clone().cast(var.dtype);
            self.holds(view, what, found, &value, parts)?;
            known.map_var(&var, value.clone());
            parts.push(Stmt::new(StmtKind::Bind { var, value }));
            return Ok(());
        }
        let wanted = known.expr(&self.expr(wanted));
        let dtype = if found.dtype.bits > wanted.dtype.bits { found.dtype } else { wanted.dtype };
        let (wanted, found) = (wanted.cast(dtype), found.clone().cast(dtype));
        let alike = Expr::compare(CompareOp::Eq, wanted.clone(), found.clone());
        let alike = simplify::expr_with(&alike, &self.ranges);
        let (name, is, gives) = (&view.name, print::expr_line(&wanted), print::expr_line(&found));
        match alike.as_int() {
            Some(0) => Err(self.caller(format!(
                "expected {what} of the view {name} to be what its region gives, found {is}, where that is {gives}"
            ))),
            Some(_) => Ok(()),
            None if self.is_launched => Err(self.caller(format!(
                "expected {what} of the view {name}, within loops bound to threads, to be what its region gives for \
                 certain; found {is}, where that is {gives}: leave it out, or make it a symbol of its own"
            ))),
            None => {
                let text = format!("expected {what} of the view {name} to be what its region gives (");
                let message = vec![Expr::str(text), found, Expr::str("), found "), wanted];
                let kind = "ValueError".into();
                parts.push(Stmt::new(StmtKind::Assert { condition: alike, kind, message }));
                Ok(())
            }
        }
    }

    /// Checks that the type of a symbol holds its value, if that may have more bits: now, or at run
    /// time; threads cannot raise.
    fn holds(
        &self,
        view: &Buffer,
        what: &str,
        found: &Expr,
        value: &Expr,
        parts: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        if found.dtype.bits <= value.dtype.bits {
            return Ok(());
        }
        let same = Expr::compare(CompareOp::Eq, value.clone().cast(found.dtype), found.clone());
        let (same, dtype) = (simplify::expr_with(&same, &self.ranges), value.dtype);
        let text = format!("expected {what} of the view {} to fit its symbol's {dtype}, found ", view.name);
        match same.as_int() {
            Some(0) => Err(self.caller(format!("{text}{}: make it int64", print::expr_line(found)))),
            None if !self.is_launched => {
                let message = vec![Expr::str(text), found.clone()];
                parts.push(Stmt::new(StmtKind::Assert {
                    condition: same,
                    kind: "ValueError".into(),
                    message,
                }));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The variables that parameters and statements bind, except views.
pub(super) fn named(function: &PrimFunc) -> HashSet<Var> {
    let mut named = HashSet::new();
    for param in &function.params {
        match param {
            Param::Var(var) => {
                named.insert(var.clone());
            }
            Param::Buffer(buffer) => {
                let sizes = buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset);
                sizes.for_each(|size| named.extend(crate::walk::vars_of(size)));
            }
        }
    }
    function.body.walk(&mut |child| match child {
        Child::Stmt(stmt) => match &stmt.kind {
            StmtKind::Bind { var, .. } | StmtKind::For { var, .. } | StmtKind::LaunchThread { var, .. } => {
                named.insert(var.clone());
            }
            StmtKind::BlockRealize { block, .. } => {
                named.extend(block.iter_vars.iter().map(|axis| axis.var.clone()));
            }
            _ => {}
        },
        Child::Expr(expr) => expr.walk(&mut |e| {
            if let ExprKind::Let { var, .. } = &e.kind {
                named.insert(var.clone());
            }
        }),
    });
    named
}

/// Strides of a buffer in elements, computed in that type for a compact buffer.
fn element_strides(buffer: &Buffer, dtype: DType) -> Vec<Expr> {
    if !buffer.strides.is_empty() {
        return buffer.strides.clone();
    }
    let mut strides = Vec::with_capacity(buffer.shape.len());
    let mut stride = Expr::int(1, dtype);
    for extent in buffer.shape.iter().rev() {
        strides.push(stride.clone());
        stride = simplify::expr(&(stride * extent.clone().cast(dtype)));
    }
    strides.reverse();
    strides
}
