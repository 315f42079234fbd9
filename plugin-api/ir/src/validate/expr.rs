//! Checks of expressions: types, scope, constants.

use super::{At, Checker};
use crate::limits::{LANES_MAX, STRING_BYTES_MAX};
use crate::number::round_to;
use crate::{BinaryOp, Buffer, Callee, DType, Expr, ExprKind, Op, StorageRank};

/// The only NaN that a constant may be.
const NAN_BITS: u64 = 0x7ff8_0000_0000_0000;

/// Returns the problem of a type, if any.
pub(super) fn type_problem(dtype: DType) -> Option<String> {
    if dtype == DType::HANDLE {
        return None;
    }
    let is_known = DType::SCALARS.contains(&dtype.scalar()) || DType::STORAGE.contains(&dtype.scalar());
    if !is_known {
        return Some(format!("there is no type {dtype}"));
    }
    (dtype.lanes == 0 || dtype.lanes > LANES_MAX)
        .then(|| format!("type {dtype}: expected 1 to {LANES_MAX} lanes, found {}", dtype.lanes))
}

/// Returns true for the types of sizes and indices.
pub(super) fn is_index(dtype: DType) -> bool {
    dtype == DType::INT32 || dtype == DType::INT64
}

impl Checker<'_> {
    /// Checks an expression that is used as a value.
    pub(super) fn value(&mut self, expr: &Expr) {
        self.expr(expr);
        if let ExprKind::Call { callee, .. } = &expr.kind
            && self.gives_nothing(callee)
        {
            self.at_expr(expr, "this call gives nothing; it cannot be a value, only a statement");
        }
        if let ExprKind::Str(_) = expr.kind {
            self.at_expr(expr, "a string is no value; it may stand only in calls, messages and attributes");
        }
    }

    /// Checks an expression that may also be a string.
    pub(super) fn value_or_string(&mut self, expr: &Expr) {
        if let ExprKind::Str(_) = expr.kind { self.expr(expr) } else { self.value(expr) }
    }

    /// Checks a value and its type.
    pub(super) fn typed(&mut self, expr: &Expr, what: &str, expected: DType) {
        self.value(expr);
        if expr.dtype != expected {
            self.at_expr(expr, format!("{what}: expected type {expected}, found {}", expr.dtype));
        }
    }

    /// Checks an expression, whatever its use.
    pub(super) fn expr(&mut self, expr: &Expr) {
        let taken = self.takes.take();
        if let ExprKind::Call { callee: Callee::Op(op @ (Op::StackMakeShape | Op::StackMakeArray)), .. } =
            &expr.kind
            && taken != Some(*op)
        {
            let around = if *op == Op::StackMakeShape { Op::StackMakeArray } else { Op::CallPacked };
            self.at_expr(expr, format!("{} stands only as an argument of {}", op.name(), around.name()));
        }
        if let Some(problem) = type_problem(expr.dtype) {
            return self.at_expr(expr, problem);
        }
        let dtype = expr.dtype;
        self.storage_type(expr);
        match &expr.kind {
            ExprKind::Var(var) => self.var(expr, var),
            ExprKind::Int(value) => self.int(expr, *value),
            ExprKind::Float(bits) => self.float(expr, bits.value()),
            ExprKind::Str(text) => {
                self.expect(expr, dtype == DType::HANDLE, "a string has type handle");
                if text.len() > STRING_BYTES_MAX {
                    self.at_expr(expr, format!("a string is longer than {STRING_BYTES_MAX} bytes"));
                }
            }
            ExprKind::ConstantData(_) => {
                let text = "the bytes of a constant stand only as the data of a declared buffer";
                self.at_expr(expr, format!("{text}; write K = T.allocate_const(...), and use K"));
            }
            ExprKind::Cast(value) => {
                self.value(value);
                let fits = value.dtype.lanes == dtype.lanes && !dtype.is_handle() && !value.dtype.is_handle();
                if !fits {
                    let text = "expected numbers or booleans of as many lanes";
                    self.at_expr(expr, format!("no cast from {} to {dtype}; {text}", value.dtype));
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, a, b),
            ExprKind::Compare(_, a, b) => {
                self.value(a);
                self.value(b);
                self.same_types(expr, a, b);
                self.expect(expr, !a.dtype.is_handle(), "a comparison takes numbers or booleans");
                self.result(expr, DType::BOOL.with_lanes(a.dtype.lanes));
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.typed(a, "left side", dtype);
                let deciding = i128::from(matches!(expr.kind, ExprKind::Or(..)));
                let is_decided = a.as_int() == Some(deciding);
                self.reached(!is_decided, |c| c.typed(b, "right side", dtype));
                self.expect(expr, dtype.is_bool(), "`and` and `or` give booleans");
            }
            ExprKind::Not(value) => {
                self.typed(value, "operand", dtype);
                self.expect(expr, dtype.is_bool(), "`not` gives a boolean");
            }
            ExprKind::Select(condition, a, b) => {
                self.typed(condition, "condition", DType::BOOL.with_lanes(dtype.lanes));
                self.typed(a, "first choice", dtype);
                self.typed(b, "second choice", dtype);
            }
            _ => self.compound(expr),
        }
    }

    /// Checks that an expression of a storage type is loaded, stored, selected, moved between lanes
    /// or cast, nothing else.
    fn storage_type(&mut self, expr: &Expr) {
        let moves = matches!(
            &expr.kind,
            ExprKind::Var(_)
                | ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::Cast(_)
                | ExprKind::Load { .. }
                | ExprKind::Select(..)
                | ExprKind::Broadcast { .. }
                | ExprKind::Shuffle { .. }
                | ExprKind::Let { .. }
                | ExprKind::Call { callee: Callee::Op(Op::IfThenElse), .. }
        );
        let mut found = Some(expr.dtype).filter(|dtype| dtype.is_storage() && !moves);
        // An expression that moves values has operands of storage types only if its own type is
        // one.
        if !moves {
            expr.for_each_child(&mut |child| {
                found = found.or(Some(child.dtype).filter(|dtype| dtype.is_storage()))
            });
        }
        if let Some(dtype) = found {
            let text = format!(
                "{dtype} is a type of memory, which is loaded, stored and cast; cast it to compute with it, as \
                 T.Cast(\"float32\", x)"
            );
            self.at_expr(expr, text);
        } else if expr.dtype.is_storage() && self.stage >= crate::Stage::Device {
            self.at_expr(expr, format!("{} is lowered before this stage", expr.dtype));
        }
    }

    fn compound(&mut self, expr: &Expr) {
        let dtype = expr.dtype;
        match &expr.kind {
            ExprKind::Load { buffer, indices, predicate } => {
                self.access(At::Expr(expr), buffer, indices, predicate.as_ref(), false);
                self.result(expr, accessed(buffer, indices));
            }
            ExprKind::Ramp { base, stride, lanes } => {
                self.value(base);
                self.typed(stride, "stride", base.dtype);
                let fits = base.dtype.is_integer() && base.dtype.is_scalar();
                self.expect(expr, fits, "base and stride of a ramp are scalar integers");
                self.lanes(expr, *lanes);
                self.result(expr, base.dtype.with_lanes(*lanes));
            }
            ExprKind::Broadcast { value, lanes } => {
                self.value(value);
                let fits = !value.dtype.is_handle() && value.dtype.is_scalar();
                self.expect(expr, fits, "the value of a broadcast is a scalar number or boolean");
                self.lanes(expr, *lanes);
                self.result(expr, value.dtype.with_lanes(*lanes));
            }
            ExprKind::Shuffle { vectors, indices } => self.shuffle(expr, vectors, indices),
            ExprKind::Let { var, value, body } => {
                self.typed(value, "bound value", var.dtype);
                self.scoped(|c| {
                    if c.let_vars.insert(var.clone()) || c.vars.contains(var) {
                        c.bind(var);
                    } else {
                        c.know(var);
                    }
                    c.typed(body, "body", dtype);
                });
            }
            ExprKind::Call { callee, args } => self.call(expr, callee, args),
            _ => {}
        }
    }

    pub(super) fn expect(&mut self, expr: &Expr, holds: bool, message: &str) {
        if !holds {
            let mut found = Vec::new();
            expr.for_each_child(&mut |child| found.push(child.dtype.to_string()));
            let found = if found.is_empty() { expr.dtype.to_string() } else { found.join(", ") };
            self.at_expr(expr, format!("{message}; found {found}"));
        }
    }

    /// Checks that the node has the type that its parts imply.
    pub(super) fn result(&mut self, expr: &Expr, expected: DType) {
        if expr.dtype != expected {
            self.at_expr(expr, format!("the node says type {}, its parts give {expected}", expr.dtype));
        }
    }

    pub(super) fn same_types(&mut self, expr: &Expr, a: &Expr, b: &Expr) {
        if a.dtype != b.dtype {
            let text = "both sides must have one type; cast one of them";
            self.at_expr(expr, format!("{text}; found {} and {}", a.dtype, b.dtype));
        }
    }

    fn var(&mut self, expr: &Expr, var: &crate::Var) {
        if !self.vars.contains(var) {
            self.at_expr(
                expr,
                format!("variable `{}` is not known here; bind it before it is used", var.name),
            );
        } else if self.banned.contains(var) {
            self.at_expr(
                expr,
                format!(
                    "the init of a block runs once for all of a reduction: no use of its axis `{}`",
                    var.name
                ),
            );
        }
        self.result(expr, var.dtype);
    }

    fn int(&mut self, expr: &Expr, value: i128) {
        match expr.dtype.integer_range() {
            Some((least, greatest)) if expr.dtype.is_scalar() => {
                if value < least || value > greatest {
                    self.at_expr(
                        expr,
                        format!("constant {value} is out of range of {} ({least} to {greatest})", expr.dtype),
                    );
                }
            }
            _ => self.at_expr(expr, "an integer constant has a scalar integer type or bool; broadcast it"),
        }
    }

    fn float(&mut self, expr: &Expr, value: f64) {
        let is_float = expr.dtype.is_float() || expr.dtype.is_float8();
        if !is_float || !expr.dtype.is_scalar() {
            self.at_expr(expr, "a float constant has a scalar float type; broadcast it");
        } else if value.is_nan() {
            if value.to_bits() != NAN_BITS {
                self.at_expr(expr, "a NaN constant is the quiet NaN of bits 0x7ff8000000000000, no other");
            }
        } else if round_to(value, expr.dtype).to_bits() != value.to_bits() {
            self.at_expr(expr, format!("constant {value:?} is no value of {}; round it first", expr.dtype));
        }
    }

    fn binary(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) {
        self.value(a);
        self.value(b);
        self.same_types(expr, a, b);
        let integers = matches!(op, BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod);
        if integers {
            self.expect(expr, a.dtype.is_integer(), "floor division and remainders are of integers");
        } else {
            let number = a.dtype.is_integer() || a.dtype.is_float();
            self.expect(expr, number, "arithmetic is of numbers; cast booleans first");
        }
        self.result(expr, a.dtype);
    }

    fn lanes(&mut self, expr: &Expr, lanes: u16) {
        if !(2..=LANES_MAX).contains(&lanes) {
            self.at_expr(expr, format!("expected 2 to {LANES_MAX} lanes, found {lanes}"));
        }
    }

    fn shuffle(&mut self, expr: &Expr, vectors: &[Expr], indices: &[u16]) {
        vectors.iter().for_each(|vector| self.value(vector));
        let Some(first) = vectors.first() else {
            return self.at_expr(expr, "a shuffle picks lanes of at least one vector; found none");
        };
        let scalar = first.dtype.scalar();
        let one_type = vectors.iter().all(|vector| vector.dtype.scalar() == scalar);
        self.expect(expr, one_type && !scalar.is_handle(), "the vectors of a shuffle have one lane type");
        let lanes: u32 = vectors.iter().map(|vector| u32::from(vector.dtype.lanes)).sum();
        if let Some(index) = indices.iter().find(|index| u32::from(**index) >= lanes) {
            self.at_expr(expr, format!("lane {index} is out of range; the vectors have {lanes} lanes"));
        }
        let count = u16::try_from(indices.len()).unwrap_or(0);
        self.result(expr, scalar.with_lanes(count));
    }

    /// Checks a load or a store of an element: buffer, indices, predicate.
    pub(super) fn access(
        &mut self,
        at: At<'_>,
        buffer: &Buffer,
        indices: &[Expr],
        predicate: Option<&Expr>,
        writes: bool,
    ) {
        let is_address = std::mem::take(&mut self.is_address);
        if writes {
            self.no_constant(at, buffer);
        }
        self.known_buffer(buffer, at);
        self.declared(buffer, at, writes);
        if self.stage >= crate::Stage::Flattened {
            self.flat(buffer);
        }
        if indices.len() != buffer.shape.len() {
            self.at_node(
                at,
                format!(
                    "buffer `{}` has {} axes, found {} indices",
                    buffer.name,
                    buffer.shape.len(),
                    indices.len()
                ),
            );
        }
        for (position, index) in indices.iter().enumerate() {
            self.value(index);
            if !index.dtype.is_integer() || index.dtype.is_storage() {
                self.at_expr(index, format!("an index is an integer, found {}", index.dtype));
            }
            if !index.dtype.is_scalar() && position + 1 != indices.len() {
                self.at_expr(index, "only the last index may be a vector");
            }
        }
        let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
        match predicate {
            Some(predicate) => self.typed(predicate, "predicate", DType::BOOL.with_lanes(lanes)),
            None if is_address => {}
            None => self.within(at, buffer, indices),
        }
    }

    /// Checks that a buffer that a node uses is in scope.
    pub(super) fn known_buffer(&mut self, buffer: &Buffer, at: At<'_>) {
        if !self.buffers.contains(buffer) {
            self.at_node(
                at,
                format!(
                    "buffer `{}` is not known here; take it as a parameter, or declare it before",
                    buffer.name
                ),
            );
        }
    }

    /// Checks the address of an element, for [`Op::AddressOf`].
    pub(super) fn address_of(&mut self, expr: &Expr, arg: &Expr) {
        let plain = matches!(&arg.kind, ExprKind::Load { predicate: None, indices, .. }
            if indices.last().is_none_or(|index| index.dtype.is_scalar()));
        if !plain {
            self.at_expr(
                expr,
                format!("{} takes a load of one element, without a predicate", Op::AddressOf.name()),
            );
        }
    }

    /// Checks that a buffer has the form that it must have after flattening.
    pub(super) fn flat(&mut self, buffer: &Buffer) {
        if buffer.shape.len() != 1 || !buffer.strides.is_empty() || buffer.elem_offset.is_some() {
            let name = buffer.name.clone();
            self.at(
                &name,
                format!(
                    "buffer `{name}` is used after flattening: expected one axis, no strides and no offset"
                ),
            );
        }
        if self.stage == crate::Stage::Host
            && !matches!(buffer.scope.rank, StorageRank::Global | StorageRank::Local)
        {
            let name = buffer.name.clone();
            self.at(&name, format!("buffer `{name}`: a host function has no scope `{}`", buffer.scope));
        }
    }
}

/// Returns the type that a load gives and a store takes.
pub(super) fn accessed(buffer: &Buffer, indices: &[Expr]) -> DType {
    let lanes = indices.last().map_or(1, |index| index.dtype.lanes);
    buffer.dtype.with_lanes(buffer.dtype.lanes.saturating_mul(lanes))
}
