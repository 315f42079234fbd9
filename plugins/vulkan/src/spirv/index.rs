//! Indices: computed in 64 bits where addresses are, otherwise modulo 2^32, which no buffer of a
//! descriptor exceeds. Those of bytes are widened where the buffer may have 2^31 or more, as an
//! index of an access is signed (SPV-14).

use chipdock_ir::{BinaryOp, DType, Expr, ExprKind};
use rspirv::spirv::{Op, Word};

use super::emitter::Type;
use super::environment::BufferAccess;
use super::value::{Value, register};
use super::writer::Writer;

impl<'a> Writer<'a> {
    /// The type of indices.
    pub(super) fn index_type(&self) -> Type {
        let is_wide = self.environment.buffer_access == BufferAccess::Address && self.environment.has_int64;
        Type::Int(if is_wide { 64 } else { 32 })
    }

    pub(super) fn index_constant(&mut self, value: u32) -> Word {
        let of = self.index_type();
        self.out.constant(of, value.into())
    }

    /// An index: exactly in 64 bits, or modulo 2^32.
    pub(super) fn index(&mut self, e: &'a Expr) -> Value {
        let wide = if self.index_type() == Type::Int(64) { DType::INT64 } else { DType::INT32 };
        let dtype = wide.with_lanes(e.dtype.lanes);
        let key = (e.address(), true);
        if let Some(known) = self.recall(key) {
            return known;
        }
        let before = self.effects;
        self.depth += 1;
        let value = self.index_node(e, wide, dtype);
        self.depth -= 1;
        if self.effects == before {
            self.remember(key, &value);
        }
        value
    }

    /// Returns true if a sum of this type may be computed in the type of indices instead: its value
    /// is exact, or its lower bits are all that counts.
    fn may_be_wider(&mut self, e: &'a Expr, wide: DType) -> bool {
        if wide == DType::INT32 {
            return e.dtype.bits >= 32;
        }
        e.dtype.bits == 64 || self.diagnostics.is_empty() && self.positions.contains(e)
    }

    fn index_node(&mut self, e: &'a Expr, wide: DType, dtype: DType) -> Value {
        if self.depth > chipdock_ir::limits::DEPTH_MAX {
            return self.index_of_value(e, dtype);
        }
        let of = register(wide);
        match &e.kind {
            ExprKind::Int(value) if e.dtype.is_integer() => self.integer(*value, dtype),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b)
                if a.dtype == e.dtype && b.dtype == e.dtype && self.may_be_wider(e, wide) =>
            {
                let instruction = match op {
                    BinaryOp::Add => Op::IAdd,
                    BinaryOp::Sub => Op::ISub,
                    _ => Op::IMul,
                };
                let (a, b) = (self.index(a), self.index(b));
                self.zip(dtype, &a, &b, |w, a, b| w.out.op(instruction, of, &[a, b]))
            }
            ExprKind::Cast(value)
                if value.dtype.is_integer()
                    && value.dtype.lanes == e.dtype.lanes
                    && (chipdock_ir::analysis::holds(e.dtype, value.dtype)
                        || wide == DType::INT32 && e.dtype.bits >= 32 && value.dtype.bits >= 32) =>
            {
                self.index(value)
            }
            ExprKind::Broadcast { value, lanes } if value.dtype.is_scalar() => {
                let value = self.index(value);
                Value { dtype, lanes: vec![value.first(); (*lanes).into()] }
            }
            ExprKind::Ramp { base, stride, lanes }
                if base.dtype.is_scalar()
                    && stride.dtype == base.dtype
                    && self.may_be_wider(base, wide)
                    && self.may_be_wider(stride, wide) =>
            {
                let (base, stride) = (self.index(base).first(), self.index(stride).first());
                let mut all = Vec::with_capacity((*lanes).into());
                for lane in 0..*lanes {
                    let number = self.lane_of_integer(lane.into(), wide);
                    let offset = self.out.op(Op::IMul, of, &[stride, number]);
                    all.push(self.out.op(Op::IAdd, of, &[base, offset]));
                }
                Value { dtype, lanes: all }
            }
            _ => self.index_of_value(e, dtype),
        }
    }

    /// The value as the IR defines it, in the type of indices.
    fn index_of_value(&mut self, e: &'a Expr, dtype: DType) -> Value {
        let value = self.value(e);
        self.cast(&value, dtype)
    }
}
