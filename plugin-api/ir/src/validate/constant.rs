//! Checks of constants (IR-B8): their size, their form, and that nothing writes them.

use super::{At, Checker};
use crate::limits::CONSTANT_ALIGNMENT_BYTES_MAX;
use crate::{Buffer, Callee, ConstantData, DType, Expr, ExprKind, Op, Stmt, StorageScope, Var};

impl Checker<'_> {
    /// Checks a buffer that is declared over the bytes of a constant.
    pub(super) fn constant(&mut self, stmt: &Stmt, buffer: &Buffer, data: &ConstantData) {
        self.constants.insert(buffer.data.clone());
        let name = &buffer.name;
        if buffer.scope != StorageScope::GLOBAL {
            let text = format!("constant `{name}`: expected scope `global`, found `{}`", buffer.scope);
            return self.at_stmt(stmt, text);
        }
        if !buffer.strides.is_empty() || buffer.elem_offset.is_some() {
            let text = format!("constant `{name}` has strides or an offset; declare a view of it for that");
            return self.at_stmt(stmt, text);
        }
        if buffer.data_alignment_bytes > CONSTANT_ALIGNMENT_BYTES_MAX {
            let text = format!("constant `{name}` is aligned to {} bytes", buffer.data_alignment_bytes);
            return self.at_stmt(stmt, format!("{text}; at most {CONSTANT_ALIGNMENT_BYTES_MAX}"));
        }
        let elements = buffer.constant_size().and_then(|size| usize::try_from(size).ok());
        let Some(elements) = elements else {
            let text = format!("constant `{name}`: expected constant extents, 0 or more");
            return self.at_stmt(stmt, text);
        };
        let found = data.bytes().len();
        let expected = buffer.dtype.array_size_bytes(elements);
        if expected != Some(found) {
            let expected = expected.map_or("fewer elements".to_owned(), |bytes| format!("{bytes} bytes"));
            let text = format!("constant `{name}` has {elements} elements of {}", buffer.dtype);
            return self.at_stmt(stmt, format!("{text}: expected {expected}, found {found} bytes"));
        }
        if let Some(problem) = bits_problem(buffer.dtype, elements, data) {
            self.at_stmt(stmt, format!("constant `{name}`: {problem}"));
        }
    }

    /// Notes that a buffer is a view of a constant, if its data says so.
    pub(super) fn view_of_constant(&mut self, view: &Buffer, data: &Expr) {
        if self.points_to_constant(data) {
            self.constants.insert(view.data.clone());
        }
    }

    /// Notes that a view of a block is one of a constant.
    pub(super) fn view_of(&mut self, view: &Buffer, source: &Buffer) {
        if self.constants.contains(&source.data) {
            self.constants.insert(view.data.clone());
        }
    }

    /// Notes that a variable points to a constant, if its value does.
    pub(super) fn bound_to_constant(&mut self, var: &Var, value: &Expr) {
        if self.points_to_constant(value) {
            self.constants.insert(var.clone());
        }
    }

    /// Refuses a write to a buffer that is a constant.
    pub(super) fn no_constant(&mut self, at: At<'_>, buffer: &Buffer) {
        if self.constants.contains(&buffer.data) {
            let text = format!("`{}` is a constant, which nothing writes", buffer.name);
            self.at_node(at, format!("{text}; copy it to a buffer of T.alloc_buffer and write that"));
        }
    }

    /// Refuses an atomic operation on a constant.
    pub(super) fn no_atomic_constant(&mut self, expr: &Expr, op: Op, args: &[Expr]) {
        if op == Op::AtomicAdd && args.first().is_some_and(|place| self.points_to_constant(place)) {
            self.at_expr(expr, format!("{} writes a constant, which nothing writes", op.name()));
        }
    }

    fn points_to_constant(&self, pointer: &Expr) -> bool {
        match &pointer.kind {
            ExprKind::Var(var) => self.constants.contains(var),
            ExprKind::Call { callee: Callee::Op(Op::AddressOf), args } => args.iter().any(
                |arg| matches!(&arg.kind, ExprKind::Load { buffer, .. } if self.constants.contains(&buffer.data)),
            ),
            ExprKind::Call { callee: Callee::Op(Op::HandleAddByteOffset), args } => {
                args.first().is_some_and(|arg| self.points_to_constant(arg))
            }
            ExprKind::Call { callee: Callee::Op(Op::AccessPtr), args } => {
                args.get(1).is_some_and(|arg| self.points_to_constant(arg))
            }
            _ => false,
        }
    }
}

/// Returns the problem of bytes that no array of the type has, if any.
fn bits_problem(dtype: DType, elements: usize, data: &ConstantData) -> Option<String> {
    if dtype.is_bool() {
        let found = data.bytes().iter().find(|byte| **byte > 1)?;
        return Some(format!("a bool is 0 or 1, found a byte of {found}"));
    }
    let used = elements.checked_mul(usize::from(dtype.bits) * usize::from(dtype.lanes))? % 8;
    let last = data.bytes().last().filter(|_| dtype.is_sub_byte() && used > 0)?;
    (last >> used != 0).then(|| format!("unused bits of its last byte are 0, found a byte of {last:#04x}"))
}
