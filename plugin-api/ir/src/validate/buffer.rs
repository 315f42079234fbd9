//! Checks of buffers: their declarations, and their shapes.

use super::Checker;
use super::expr::{is_index, type_problem};
use crate::limits::RANK_MAX;
use crate::{Buffer, Callee, Effect, Expr, ExprKind, Stage};

/// Returns true for an expression that may be a size of a function: it reads no memory and has no
/// side effects.
fn is_size(expr: &Expr) -> bool {
    let mut fits = true;
    expr.walk(&mut |e| {
        fits &= match &e.kind {
            ExprKind::Load { .. } => false,
            ExprKind::Call { callee, .. } => matches!(callee, Callee::Op(op) if op.effect() == Effect::Pure),
            _ => true,
        };
    });
    fits
}

impl Checker<'_> {
    /// Declares a buffer for the rest of the scope. `owns`: its data variable is bound with it.
    pub(super) fn declare(&mut self, buffer: &Buffer, owns: bool) {
        let name = std::sync::Arc::clone(&buffer.name);
        self.name(&name);
        self.name(&buffer.scope.to_string());
        if !self.bound_buffers.insert(buffer.clone()) {
            let text = format!("buffer `{name}` is declared twice; make a new one for each declaration");
            self.at(&name, text);
        }
        if let Some(problem) = type_problem(buffer.dtype) {
            self.at(&name, format!("buffer `{name}`: {problem}"));
        } else if buffer.dtype.is_handle() {
            self.at(&name, format!("buffer `{name}`: elements are numbers or booleans, found handle"));
        } else if buffer.dtype.is_storage() && !buffer.dtype.is_scalar() {
            let (scalar, text) = (buffer.dtype.scalar(), "elements of a type of memory have one lane");
            self.at(&name, format!("buffer `{name}`: {text}; expected {scalar}, found {}", buffer.dtype));
        }
        if buffer.dtype.is_storage() && self.stage >= Stage::Device {
            self.at(&name, format!("buffer `{name}`: {} is lowered before this stage", buffer.dtype));
        }
        self.data(buffer, owns);
        self.shape(buffer);
        if self.buffers.insert(buffer.clone())
            && let Some((_, buffers)) = self.scopes.last_mut()
        {
            buffers.push(buffer.clone());
        }
    }

    fn data(&mut self, buffer: &Buffer, owns: bool) {
        let (name, data) = (&buffer.name, &buffer.data);
        if owns {
            self.bind(data);
        } else if !self.vars.contains(data) {
            self.at(name, format!("buffer `{name}`: its data variable `{}` is not known here", data.name));
        }
        if !data.dtype.is_handle() {
            let text = format!("buffer `{name}`: its data variable is a handle, found {}", data.dtype);
            self.at(name, text);
        }
        match &data.pointer {
            Some(pointer) if pointer.scope != buffer.scope => self.at(
                name,
                format!(
                    "buffer `{name}` is in scope `{}`, its data variable points into `{}`",
                    buffer.scope, pointer.scope
                ),
            ),
            Some(pointer) if owns && pointer.element != buffer.dtype => self.at(
                name,
                format!(
                    "buffer `{name}` has elements {}, its data variable points to {}",
                    buffer.dtype, pointer.element
                ),
            ),
            Some(pointer)
                if pointer.element != buffer.dtype
                    && (pointer.element.is_sub_byte() || buffer.dtype.is_sub_byte())
                    && self.stage < Stage::Flattened =>
            {
                let text = format!(
                    "buffer `{name}` of {} is a view of memory of {}: integers that share bytes are seen as what they are; \
                     take the bytes as a parameter of type uint8",
                    buffer.dtype, pointer.element
                );
                self.at(name, text);
            }
            None if owns => {
                self.at(name, format!("buffer `{name}`: its data variable is a typed pointer of its own"));
            }
            _ => {}
        }
    }

    fn shape(&mut self, buffer: &Buffer) {
        let name = std::sync::Arc::clone(&buffer.name);
        if buffer.shape.len() > RANK_MAX {
            let text = format!("buffer `{name}` has {} axes; at most {RANK_MAX}", buffer.shape.len());
            self.at(&name, text);
        }
        if !buffer.strides.is_empty() && buffer.strides.len() != buffer.shape.len() {
            let (strides, axes) = (buffer.strides.len(), buffer.shape.len());
            self.at(
                &name,
                format!("buffer `{name}` has {axes} axes and {strides} strides; one per axis, or none"),
            );
        }
        for (what, part) in buffer
            .shape
            .iter()
            .map(|e| ("extent", e))
            .chain(buffer.strides.iter().map(|e| ("stride", e)))
            .chain(buffer.elem_offset.iter().map(|e| ("offset", e)))
        {
            self.value(part);
            if !is_index(part.dtype) {
                let text =
                    format!("{what} of buffer `{name}`: expected int32 or int64, found {}", part.dtype);
                self.at_expr(part, text);
            }
            if !is_size(part) {
                let text = format!("{what} of buffer `{name}` reads memory; bind it to a variable before");
                self.at_expr(part, text);
            }
            if let Some(value) = part.as_int().filter(|value| *value < 0 && what != "stride") {
                self.at_expr(part, format!("{what} of buffer `{name}` is {value}; expected 0 or more"));
            }
        }
        self.size(buffer);
        if !buffer.data_alignment_bytes.is_power_of_two() && buffer.data_alignment_bytes != 0 {
            let text = format!(
                "buffer `{name}` is aligned to {} bytes; expected a power of two",
                buffer.data_alignment_bytes
            );
            self.at(&name, text);
        }
    }

    /// Checks that the constant extents together, in bytes, fit a signed 64-bit integer.
    fn size(&mut self, buffer: &Buffer) {
        let bytes = i128::try_from(buffer.dtype.size_bytes()).unwrap_or(0);
        let extents = buffer.shape.iter().filter_map(Expr::as_int).filter(|extent| *extent > 0);
        let size = extents.fold(bytes, i128::saturating_mul);
        if size > i64::MAX.into() {
            let name = std::sync::Arc::clone(&buffer.name);
            self.at(&name, format!("buffer `{name}` is larger than {} bytes", i64::MAX));
        }
    }

    /// Checks a buffer that is allocated for the rest of a scope.
    pub(super) fn allocate(&mut self, buffer: &Buffer) {
        self.declare(buffer, true);
        if let Some(offset) = buffer.elem_offset.as_ref().filter(|offset| offset.as_int().is_none()) {
            let (name, found) = (&buffer.name, crate::print::expr_line(offset));
            let text =
                format!("buffer `{name}` is allocated: expected no offset, or a constant, found `{found}`");
            self.at(name, text);
        }
        if self.stage >= Stage::Flattened {
            self.flat(buffer);
        }
    }
}
