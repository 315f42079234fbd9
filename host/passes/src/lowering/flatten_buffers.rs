//! One-dimensional buffers.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chipdock_ir::{
    AttrNode, Buffer, BufferNode, DType, Expr, ExprKind, ForKind, IrModule, Param, PrimFunc, Stmt, StmtKind,
    TargetCapabilities, Var,
};

use crate::PassError;
use crate::reach;
use crate::simplify::linear::Linear;
use crate::simplify::{self, Ranges};
use crate::walk::try_map_functions;

const PASS: &str = "flatten_buffers";

/// Makes every buffer one-dimensional and compact: strides and offset become part of the index.
///
/// Parameters keep their shape, which the argument check needs; the body begins with a
/// one-dimensional buffer declared over the data of each. No index wraps: it has 32 bits only where
/// the buffer, its offset, strides and lanes included, is known to reach at most 2^31 - 1 elements
/// (a constant size, or one extent in int32), and on a host always 64. Sizes are computed in the
/// type of the index.
///
/// # Before and after
///
/// ```text
/// A: T.Buffer((16, 77))                A_1 = T.decl_buffer((1232,), data=A.data)
/// B[i, j] = A[i, j]             ->     B_1[i * 77 + j] = A_1[i * 77 + j]
/// ```
/// (each `i` and `j` cast to int64 for a host)
///
/// # Requires / # Ensures
///
/// Requires a module without blocks. Each load and store has one index, into a buffer without
/// strides and offset. A boolean still takes one byte.
///
/// # Errors
///
/// An access whose number of indices is not that of the buffer's axes, or a vector index that is
/// not the last: a violated guarantee of validation.
pub fn flatten_buffers(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    try_map_functions(module, |function| {
        let mut flattener = Flattener {
            function,
            wide: capabilities.is_host,
            flat: HashMap::new(),
            ranges: Ranges::new(),
            lanes: HashSet::new(),
        };
        let mut stmts = Vec::new();
        for param in &function.params {
            if let Param::Buffer(buffer) = param {
                let buffer = flattener.flat(buffer).buffer;
                stmts.push(Stmt::new(StmtKind::DeclBuffer { buffer, data: None }));
            }
        }
        stmts.push(flattener.stmt(&function.body)?);
        Ok(PrimFunc { body: Stmt::seq(stmts), ..function.clone() })
    })
}

/// A flat buffer and the type of its indices.
#[derive(Clone)]
struct Flat {
    buffer: Buffer,
    strides: Vec<Expr>,
    offset: Option<Expr>,
    index: DType,
}

struct Flattener<'a> {
    function: &'a PrimFunc,
    wide: bool,
    flat: HashMap<Buffer, Flat>,
    ranges: Ranges,
    /// Variables of vectorized loops.
    lanes: HashSet<Var>,
}

impl Flattener<'_> {
    fn flat(&mut self, buffer: &Buffer) -> Flat {
        if let Some(flat) = self.flat.get(buffer) {
            return flat.clone();
        }
        let index = if self.wide { DType::INT64 } else { reach::index_type(buffer, &self.ranges) };
        let wide = |e: &Expr| simplify::expr(&e.clone().cast(index));
        let strides: Vec<Expr> = if buffer.strides.is_empty() {
            compact_strides(buffer, index)
        } else {
            buffer.strides.iter().map(wide).collect()
        };
        let offset = buffer.elem_offset.as_ref().map(wide).filter(|offset| offset.as_int() != Some(0));
        let node = BufferNode {
            shape: vec![flat_size(buffer, &strides, offset.as_ref(), index)],
            strides: Vec::new(),
            elem_offset: None,
            ..(**buffer).clone()
        };
        let flat = Flat { buffer: Buffer::from_node(node), strides, offset, index };
        self.flat.insert(buffer.clone(), flat.clone());
        flat
    }

    fn index(&mut self, buffer: &Buffer, indices: &[Expr]) -> Result<(Buffer, Expr), PassError> {
        let flat = self.flat(buffer);
        let broken = |message: String| Err(PassError::bug(PASS, &self.function.name, message));
        if indices.len() != flat.strides.len() {
            return broken(format!(
                "expected {} indices into {}, found {}",
                flat.strides.len(),
                buffer.name,
                indices.len()
            ));
        }
        let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
        let mut sum: Option<Expr> = flat.offset.clone().map(|offset| offset.broadcast(lanes));
        for (axis, (index, stride)) in indices.iter().zip(&flat.strides).enumerate() {
            let own = index.dtype.lanes;
            if own != 1 && axis + 1 != indices.len() {
                return broken(format!(
                    "expected a scalar as index {axis} into {}, found {}",
                    buffer.name, index.dtype
                ));
            }
            let wide = self.widened(index, flat.index);
            let product = wide * stride.clone().broadcast(own);
            let product = if own == lanes { product } else { product.broadcast(lanes) };
            sum = Some(match sum {
                Some(sum) => sum + product,
                None => product,
            });
        }
        let sum = sum.unwrap_or_else(|| Expr::int(0, flat.index));
        Ok((flat.buffer, simplify::expr_with(&sum, &self.ranges)))
    }

    /// Converts an index of one axis to the type of the flat index, so that lanes are still seen to
    /// be adjacent: a ramp stays one, and the variables of vectorized loops stand outside of the
    /// conversion.
    ///
    /// Neither is true of any number, but of an index within its axis it is. Signed integers whose
    /// sum with a smaller one that is not negative wraps are negative; lanes that are masked are
    /// not looked at.
    fn widened(&self, index: &Expr, to: DType) -> Expr {
        let own = index.dtype;
        let whole = || index.clone().cast(to.with_lanes(own.lanes));
        let Some((_, max)) = own.integer_range().filter(|_| own.is_int() && own.bits < to.bits) else {
            return whole();
        };
        if let ExprKind::Ramp { base, stride, lanes } = &index.kind {
            let reach = stride.as_int().map(|stride| stride * (i128::from(*lanes) - 1));
            if reach.is_some_and(|reach| (0..=max).contains(&reach)) {
                return base.clone().cast(to).ramp(stride.clone().cast(to), *lanes);
            }
        }
        if !own.is_scalar() || self.lanes.is_empty() {
            return whole();
        }
        let mut rest = Linear::of(index);
        let mut outside: Option<Expr> = None;
        let mut reach = 0;
        rest.terms.retain(|(term, coefficient)| {
            let is_lane = matches!(&term.kind, ExprKind::Var(var) if self.lanes.contains(var));
            let (low, high) = self.ranges.of(term);
            let is_small = *coefficient > 0 && low >= 0 && reach + high * coefficient <= max;
            if is_lane && is_small {
                reach += high * coefficient;
                let part = term.clone().cast(to) * Expr::int(*coefficient, to);
                outside = Some(outside.take().map_or(part.clone(), |sum| sum + part));
            }
            !(is_lane && is_small)
        });
        outside.map_or_else(whole, |outside| rest.to_expr().cast(to) + outside)
    }

    fn expr(&mut self, expr: &Expr) -> Result<Expr, PassError> {
        let mapped = expr.try_map_children(&mut |child| self.expr(child))?;
        let ExprKind::Load { buffer, indices, predicate } = &mapped.kind else { return Ok(mapped) };
        let (buffer, index) = self.index(buffer, indices)?;
        let kind = ExprKind::Load { buffer, indices: vec![index], predicate: predicate.clone() };
        Ok(Expr::new(kind, mapped.dtype).with_span(mapped.span))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::For { var, min, extent, step, kind, .. } => {
                self.ranges.set_loop(var, min, extent, step.as_ref());
                if *kind == ForKind::Vectorized {
                    self.lanes.insert(var.clone());
                }
            }
            StmtKind::LaunchThread { var, extent, .. } => {
                self.ranges.set_loop(var, &Expr::int(0, var.dtype), extent, None);
            }
            StmtKind::Bind { var, value } if value.dtype.is_integer() && value.dtype.is_scalar() => {
                let (low, high) = self.ranges.of(value);
                self.ranges.set(var, low, high);
            }
            _ => {}
        }
        let this = RefCell::new(&mut *self);
        let mapped =
            stmt.try_map_children(&mut |e| this.borrow_mut().expr(e), &mut |s| this.borrow_mut().stmt(s))?;
        let kind = match &mapped.kind {
            StmtKind::Store { buffer, indices, value, predicate } => {
                let (buffer, index) = self.index(buffer, indices)?;
                let (value, predicate) = (value.clone(), predicate.clone());
                StmtKind::Store { buffer, indices: vec![index], value, predicate }
            }
            StmtKind::AllocBuffer { buffer, annotations } => {
                StmtKind::AllocBuffer { buffer: self.flat(buffer).buffer, annotations: annotations.clone() }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                StmtKind::DeclBuffer { buffer: self.flat(buffer).buffer, data: data.clone() }
            }
            StmtKind::Attr { node: AttrNode::Buffer(buffer), key, value, body } => StmtKind::Attr {
                node: AttrNode::Buffer(self.flat(buffer).buffer),
                key: key.clone(),
                value: value.clone(),
                body: body.clone(),
            },
            _ => return Ok(mapped),
        };
        Ok(Stmt::new(kind).with_span(mapped.span))
    }
}

/// Strides of a compact buffer, computed in the type of the index so that no product of extents
/// wraps.
fn compact_strides(buffer: &Buffer, index: DType) -> Vec<Expr> {
    let mut stride = Expr::int(1, index);
    let mut strides: Vec<Expr> = Vec::with_capacity(buffer.shape.len());
    for extent in buffer.shape.iter().rev() {
        strides.push(stride.clone());
        stride = simplify::expr(&(extent.clone().cast(index) * stride));
    }
    strides.reverse();
    strides
}

/// Number of elements, from the data pointer on, that the buffer can reach.
fn flat_size(buffer: &Buffer, strides: &[Expr], offset: Option<&Expr>, index: DType) -> Expr {
    let size = if buffer.strides.is_empty() {
        buffer.shape.iter().fold(Expr::int(1, index), |size, extent| size * extent.clone().cast(index))
    } else {
        let one = || Expr::int(1, index);
        let last =
            buffer.shape.iter().zip(strides).fold(one(), |sum, (extent, stride)| {
                sum + (extent.clone().cast(index) - one()) * stride.clone()
            });
        Expr::binary(chipdock_ir::BinaryOp::Max, last, Expr::int(0, index))
    };
    let size = match offset {
        Some(offset) => size + offset.clone(),
        None => size,
    };
    simplify::expr(&size)
}
