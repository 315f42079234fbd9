//! float16 and bfloat16 that are only moved, as their bits: C computes them in float, and would
//! convert them there and back.
//!
//! * **CMOVE-1** A store of a value of such a type that is loaded, chosen or shuffled, or is a
//!   constant, is one of uint16 over the same memory; so is what is reinterpreted, and the factors
//!   of `dot_add` of bfloat16, whose types become uint16.
//! * **CMOVE-2** What such values are computed of is as before.

use std::collections::HashMap;

use chipdock_ir::{
    Buffer, BufferNode, Callee, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt, StmtKind, number,
};

/// The module, with what it moves of float16 and bfloat16 as bits.
pub(crate) fn as_bits(module: &IrModule) -> IrModule {
    let function = |function: &PrimFunc| {
        let body = Moves::default().stmt(&function.body);
        PrimFunc { body, ..function.clone() }
    };
    IrModule { functions: module.functions.iter().map(function).collect(), attrs: module.attrs.clone() }
}

/// The buffers of bits over the memory of others.
#[derive(Default)]
struct Moves(HashMap<Buffer, Buffer>);

impl Moves {
    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        if let StmtKind::Store { buffer, indices, value, predicate } = &stmt.kind
            && let Some(value) = self.bits(value)
        {
            let indices = indices.iter().map(|index| self.expr(index)).collect();
            let predicate = predicate.as_ref().map(|predicate| self.expr(predicate));
            let kind = StmtKind::Store { buffer: self.over(buffer), indices, value, predicate };
            return Stmt::new(kind).with_span(stmt.span);
        }
        // Both closures need the buffers, one after the other.
        let moves = std::cell::RefCell::new(self);
        stmt.map_children(&mut |e| moves.borrow_mut().expr(e), &mut |inner| moves.borrow_mut().stmt(inner))
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        if let ExprKind::Call { callee: Callee::Op(op), args } = &e.kind {
            match (op, args.as_slice()) {
                (Op::Reinterpret, [value]) if e.dtype.scalar() == DType::UINT16 => {
                    if let Some(bits) = self.bits(value) {
                        return bits;
                    }
                }
                // Those of float16 would look the same.
                (Op::DotAdd, [sum, a, b]) if a.dtype.scalar() == DType::BFLOAT16 => {
                    if let (Some(a), Some(b)) = (self.bits(a), self.bits(b)) {
                        return Expr::call(Op::DotAdd, vec![self.expr(sum), a, b], e.dtype).with_span(e.span);
                    }
                }
                _ => {}
            }
        }
        e.map_children(&mut |child| self.expr(child))
    }

    /// The bits of a value of such a type, if it is only moved.
    fn bits(&mut self, e: &Expr) -> Option<Expr> {
        [DType::FLOAT16, DType::BFLOAT16].contains(&e.dtype.scalar()).then_some(())?;
        let dtype = DType::UINT16.with_lanes(e.dtype.lanes);
        let kind = match &e.kind {
            ExprKind::Load { buffer, indices, predicate } => ExprKind::Load {
                buffer: self.over(buffer),
                indices: indices.iter().map(|index| self.expr(index)).collect(),
                predicate: predicate.as_ref().map(|predicate| self.expr(predicate)),
            },
            ExprKind::Float(value) => {
                ExprKind::Int(number::half_bits(value.value(), e.dtype.scalar()).into())
            }
            ExprKind::Broadcast { value, lanes } => {
                ExprKind::Broadcast { value: self.bits(value)?, lanes: *lanes }
            }
            ExprKind::Shuffle { vectors, indices } => ExprKind::Shuffle {
                vectors: vectors.iter().map(|vector| self.bits(vector)).collect::<Option<_>>()?,
                indices: indices.clone(),
            },
            ExprKind::Select(condition, a, b) => {
                ExprKind::Select(self.expr(condition), self.bits(a)?, self.bits(b)?)
            }
            ExprKind::Call { callee: callee @ Callee::Op(Op::IfThenElse), args } => {
                let [condition, a, b] = args.as_slice() else { return None };
                let args = vec![self.expr(condition), self.bits(a)?, self.bits(b)?];
                ExprKind::Call { callee: callee.clone(), args }
            }
            _ => return None,
        };
        Some(Expr::new(kind, dtype).with_span(e.span))
    }

    /// The buffer of bits over a buffer's memory.
    fn over(&mut self, buffer: &Buffer) -> Buffer {
        let bits = || {
            let dtype = DType::UINT16.with_lanes(buffer.dtype.lanes);
            Buffer::from_node(BufferNode { dtype, ..BufferNode::clone(buffer) })
        };
        self.0.entry(buffer.clone()).or_insert_with(bits).clone()
    }
}
