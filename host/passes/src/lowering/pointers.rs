//! Pointers that are a named pointer, moved by a number of elements.

use std::collections::HashMap;

use chipdock_ir::analysis::is_pure;
use chipdock_ir::{BinaryOp, Buffer, BufferNode, Callee, DType, Expr, ExprKind, Op, Stmt, StmtKind, Var};

use crate::walk::reads;

/// The named pointer that a pointer is derived from, and the number of elements of a type by which
/// it is moved, if any.
pub(crate) fn pointed_to(pointer: &Expr, element: DType) -> Option<(Var, Option<Expr>)> {
    let (var, first) = match &pointer.kind {
        ExprKind::Var(var) => (var.clone(), None),
        ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
            (Op::AddressOf, [place]) => match &place.kind {
                ExprKind::Load { buffer, indices, predicate: None } => match indices.as_slice() {
                    [index] if index.dtype.is_scalar() && is_like(buffer, element) => {
                        (buffer.data.clone(), Some(index.clone()))
                    }
                    _ => return None,
                },
                _ => return None,
            },
            (Op::HandleAddByteOffset, [base, bytes]) => match &base.kind {
                ExprKind::Var(var) => (var.clone(), Some(in_elements(bytes, element.size_bytes() as i128)?)),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let first = first.filter(|first| first.as_int() != Some(0));
    // The offset is recomputed at every access to the memory.
    first.as_ref().is_none_or(|first| is_pure(first) && !reads(first)).then_some((var, first))
}

/// Returns true if the elements of a buffer have that type and are contiguous from its pointer on.
fn is_like(buffer: &Buffer, element: DType) -> bool {
    let is_plain = buffer.strides.iter().all(|stride| stride.as_int() == Some(1));
    buffer.dtype == element
        && is_plain
        && buffer.elem_offset.as_ref().is_none_or(|offset| offset.as_int() == Some(0))
}

/// Converts a number of bytes to a number of elements.
fn in_elements(bytes: &Expr, size: i128) -> Option<Expr> {
    match &bytes.kind {
        ExprKind::Int(value) if size > 0 && value % size == 0 => Some(Expr::int(value / size, bytes.dtype)),
        ExprKind::Binary(BinaryOp::Mul, a, b) => Some(a.clone() * in_elements(b, size)?),
        ExprKind::Binary(BinaryOp::Add, a, b) => Some(in_elements(a, size)? + in_elements(b, size)?),
        _ => None,
    }
}

/// Adds an offset in elements to a position or a vector of positions, in the wider of both types.
fn sum(index: &Expr, first: &Expr) -> Expr {
    let dtype = if first.dtype.bits > index.dtype.bits { first.dtype } else { index.dtype.scalar() };
    let first = first.clone().cast(dtype);
    let lanes = index.dtype.lanes;
    let index = index.clone().cast(DType { lanes, ..dtype });
    index + if lanes == 1 { first } else { first.broadcast(lanes) }
}

/// Moves accesses through some pointers by a number of elements; their buffers become longer by as
/// much.
pub(crate) struct Moved {
    first: HashMap<Var, Expr>,
    /// The result for a buffer, by its address, with the buffer itself so that the address is not
    /// reused.
    longer: HashMap<usize, (Buffer, Buffer)>,
    /// The result for an expression, with the expression itself so that its address is not reused.
    done: HashMap<usize, (Expr, Expr)>,
}

impl Moved {
    pub(crate) fn by(first: HashMap<Var, Expr>) -> Self {
        Self { first, longer: HashMap::new(), done: HashMap::new() }
    }

    /// Extends the buffer so that it begins at the start of its memory.
    fn longer(&mut self, buffer: &Buffer) -> Option<Buffer> {
        let (first, [extent]) = (self.first.get(&buffer.data)?, buffer.shape.as_slice()) else { return None };
        if let Some((_, longer)) = self.longer.get(&buffer.address()) {
            return Some(longer.clone());
        }
        let shape = vec![sum(extent, first)];
        let longer = Buffer::from_node(BufferNode { shape, ..BufferNode::clone(buffer) });
        self.longer.insert(buffer.address(), (buffer.clone(), longer.clone()));
        Some(longer)
    }

    fn shifted(&mut self, buffer: &Buffer, indices: &[Expr]) -> Option<(Buffer, Vec<Expr>)> {
        let [index] = indices else { return None };
        let longer = self.longer(buffer)?;
        Some((longer, vec![sum(index, self.first.get(&buffer.data)?)]))
    }

    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if self.first.is_empty() {
            return stmt.clone();
        }
        let this = std::cell::RefCell::new(&mut *self);
        let new =
            stmt.map_children(&mut |e| this.borrow_mut().expr(e), &mut |inner| this.borrow_mut().stmt(inner));
        match &new.kind {
            StmtKind::Store { buffer, value, indices, predicate } => match self.shifted(buffer, indices) {
                Some((buffer, indices)) => {
                    let (value, predicate) = (value.clone(), predicate.clone());
                    Stmt::new(StmtKind::Store { buffer, value, indices, predicate }).with_span(stmt.span)
                }
                None => new,
            },
            StmtKind::DeclBuffer { buffer, data } => match self.longer(buffer) {
                Some(buffer) => {
                    Stmt::new(StmtKind::DeclBuffer { buffer, data: data.clone() }).with_span(stmt.span)
                }
                None => new,
            },
            _ => new,
        }
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        if let Some((_, done)) = self.done.get(&e.address()) {
            return done.clone();
        }
        let mut new = e.map_children(&mut |child| self.expr(child));
        if let ExprKind::Load { buffer, indices, predicate } = &new.kind
            && let Some((buffer, indices)) = self.shifted(buffer, indices)
        {
            let kind = ExprKind::Load { buffer, indices, predicate: predicate.clone() };
            new = Expr::new(kind, new.dtype);
        }
        self.done.insert(e.address(), (e.clone(), new.clone()));
        new
    }
}
