//! Views of regions (`T.match_buffer` within a block).

use chipdock_ir::{Buffer, BufferNode, DType, Expr, ExprKind, MatchBufferRegion, Stmt, StmtKind};

use super::Lowerer;
use crate::PassError;
use crate::simplify;

impl Lowerer<'_> {
    /// Declares the view as a buffer over the source's memory, with the source's strides and an offset to the region.
    /// Symbolic strides and a symbolic offset of the view are bound first.
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
        let strides = element_strides(&source);
        let zero = Expr::int(0, index_type(&source));
        let mut offset = source.elem_offset.clone().unwrap_or_else(|| zero.clone());
        for (range, stride) in view.source.region.iter().zip(&strides) {
            let min = self.expr(&range.min);
            offset = simplify::expr_with(
                &(offset.clone() + min.cast(offset.dtype) * stride.clone().cast(offset.dtype)),
                &self.ranges,
            );
        }
        let strides: Vec<Expr> = strides[strides.len() - axes..].to_vec();
        for (wanted, stride) in declared.strides.iter().zip(&strides) {
            self.unify(declared, "stride", wanted, stride, parts)?;
        }
        if let Some(wanted) = &declared.elem_offset {
            self.unify(declared, "offset", wanted, &offset, parts)?;
        }
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

    /// Binds a symbol of the view to what the source says; a constant must agree.
    fn unify(
        &mut self,
        view: &Buffer,
        what: &str,
        wanted: &Expr,
        found: &Expr,
        parts: &mut Vec<Stmt>,
    ) -> Result<(), PassError> {
        if let ExprKind::Var(var) = &wanted.kind
            && !self.depths.contains_key(var)
        {
            self.depths.insert(var.clone(), self.frames.len());
            let value = found.clone().cast(var.dtype);
            parts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            return Ok(());
        }
        match (self.expr(wanted).as_int(), found.as_int()) {
            (Some(wanted), Some(found)) if wanted != found => Err(self.caller(format!(
                "expected the view {} to have {what} {wanted}, found {found} in what it stands for",
                view.name
            ))),
            _ => Ok(()),
        }
    }
}

/// Type of the offsets of a buffer: that of its extents.
fn index_type(buffer: &Buffer) -> DType {
    buffer.shape.first().map_or(DType::INT32, |extent| extent.dtype)
}

/// Strides of a buffer in elements, those of a compact one worked out.
fn element_strides(buffer: &Buffer) -> Vec<Expr> {
    if !buffer.strides.is_empty() {
        return buffer.strides.clone();
    }
    let mut strides = Vec::with_capacity(buffer.shape.len());
    let mut stride = Expr::int(1, index_type(buffer));
    for extent in buffer.shape.iter().rev() {
        strides.push(stride.clone());
        let dtype = stride.dtype;
        stride = simplify::expr(&(stride * extent.clone().cast(dtype)));
    }
    strides.reverse();
    strides
}
