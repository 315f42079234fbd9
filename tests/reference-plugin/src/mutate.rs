//! Faults of a code generator: the built module differs from the requested one.

use std::sync::Arc;

use chipdock_ir::{
    BinaryOp, Block, Callee, Child, CompareOp, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt, StmtKind,
};

use crate::fault;

/// Returns the module with the planted fault, if it is a fault of a code generator; else the
/// unchanged module.
pub(crate) fn mutated(module: IrModule) -> IrModule {
    if fault::planted().is_empty() {
        return module;
    }
    let has_bytes = module.functions.iter().any(computes_bytes);
    // SUITE-S17: faults that depend on the functions of one module.
    if fault::is("aborts-at-bytes") && has_bytes
        || fault::is("aborts-at-several") && module.functions.len() > 1
    {
        std::process::abort();
    }
    if fault::is("hangs-at-bytes") && has_bytes {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    let is_planted = fault::is("adds-wrongly-beside-bytes") && has_bytes;
    let function = |function: &PrimFunc| {
        let own = if is_planted && !computes_bytes(function) {
            subtracts(&function.body)
        } else {
            stmt(&function.body)
        };
        PrimFunc { body: own, ..function.clone() }
    };
    IrModule { functions: module.functions.iter().map(function).collect(), attrs: module.attrs.clone() }
}

/// Returns true if a function has values of uint8.
fn computes_bytes(function: &PrimFunc) -> bool {
    let mut found = false;
    function.body.walk(&mut |child| {
        found |= matches!(child, Child::Expr(expr) if expr.dtype.scalar() == DType::UINT8);
    });
    found
}

/// Subtracts where numbers are added.
fn subtracts(s: &Stmt) -> Stmt {
    fn expr(e: &Expr) -> Expr {
        let e = e.map_children(&mut expr);
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add, a, b) if e.dtype.is_float() => binary(BinaryOp::Sub, a, b),
            _ => e,
        }
    }
    s.map_children(&mut expr, &mut subtracts)
}

fn expr(e: &Expr) -> Expr {
    let e = e.map_children(&mut expr);
    wrong(&e).unwrap_or(e)
}

fn stmt(s: &Stmt) -> Stmt {
    let s = s.map_children(&mut expr, &mut stmt);
    wrong_stmt(&s).unwrap_or(s)
}

fn call(op: Op, args: &[&Expr], dtype: DType) -> Expr {
    Expr::call(op, args.iter().map(|arg| (*arg).clone()).collect(), dtype)
}

fn number(value: f64, dtype: DType) -> Expr {
    let scalar = Expr::float(value, dtype.scalar());
    broadcast(scalar, dtype)
}

fn integer(value: i128, dtype: DType) -> Expr {
    broadcast(Expr::int(value, dtype.scalar()), dtype)
}

fn broadcast(value: Expr, dtype: DType) -> Expr {
    if dtype.is_scalar() {
        return value;
    }
    Expr::new(ExprKind::Broadcast { value, lanes: dtype.lanes }, dtype)
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::binary(op, a.clone(), b.clone())
}

/// Returns the wrong replacement of an expression.
fn wrong(e: &Expr) -> Option<Expr> {
    let dtype = e.dtype;
    match &e.kind {
        ExprKind::Binary(op, a, b) => wrong_binary(*op, a, b, dtype),
        ExprKind::Cast(value) => wrong_cast(value, dtype),
        ExprKind::Call { callee: Callee::Op(op), args } => wrong_op(*op, args, dtype),
        // C.11: what compares as numbers without a sign is compared with one.
        ExprKind::Compare(op @ (CompareOp::Lt | CompareOp::Gt), a, b)
            if a.dtype.is_uint() && fault::is("unsigned-compared-as-signed") =>
        {
            let signed = |e: &Expr| {
                let dtype = DType { code: chipdock_ir::TypeCode::Int, ..e.dtype };
                e.clone().cast(dtype)
            };
            Some(Expr::compare(*op, signed(a), signed(b)))
        }
        // C.13: every lane is accessed.
        ExprKind::Load { buffer, indices, predicate: Some(_) } if fault::is("predicate-ignored") => {
            let kind = ExprKind::Load { buffer: buffer.clone(), indices: indices.clone(), predicate: None };
            Some(Expr::new(kind, dtype))
        }
        // C.9: both sides are evaluated, so that nothing guards an index.
        ExprKind::And(a, b) if dtype.is_scalar() && fault::is("and-evaluates-both") => {
            Some(call(Op::BitwiseAnd, &[a, b], dtype))
        }
        _ => None,
    }
}

fn wrong_binary(op: BinaryOp, a: &Expr, b: &Expr, dtype: DType) -> Option<Expr> {
    match op {
        // C.9: rounded towards zero.
        BinaryOp::FloorDiv if fault::is("floor-division-truncates") => Some(binary(BinaryOp::Div, a, b)),
        // C.9: the sign of the first.
        BinaryOp::FloorMod if fault::is("floor-mod-truncates") => Some(binary(BinaryOp::Mod, a, b)),
        // C.11: max(1.5, NaN) is 1.5.
        BinaryOp::Max if dtype.is_float() && fault::is("max-drops-nan") => {
            let is_nan = call(Op::Isnan, &[b], DType::BOOL.with_lanes(dtype.lanes));
            Some(Expr::select(is_nan, a.clone(), binary(op, a, b)))
        }
        // C.9: sums stop at the greatest number.
        BinaryOp::Add if dtype == DType::INT32 && fault::is("sum-saturates") => {
            let wide = |e: &Expr| e.clone().cast(DType::INT64);
            let sum = Expr::binary(BinaryOp::Add, wide(a), wide(b));
            let most = integer(i128::from(i32::MAX), DType::INT64);
            Some(Expr::binary(BinaryOp::Min, sum, most).cast(DType::INT32))
        }
        // C.9: x / 0 is 0.
        BinaryOp::Div if dtype.is_integer() && fault::is("division-by-zero-gives-zero") => {
            let zero = integer(0, dtype);
            let is_zero = Expr::compare(CompareOp::Eq, b.clone(), zero.clone());
            Some(Expr::select(is_zero, zero, binary(op, a, b)))
        }
        // C.10: rounded into bfloat16 on the way.
        BinaryOp::Add | BinaryOp::Mul
            if dtype.scalar() == DType::FLOAT16 && fault::is("float16-through-bfloat16") =>
        {
            let narrow = DType::BFLOAT16.with_lanes(dtype.lanes);
            Some(binary(op, a, b).cast(narrow).cast(dtype))
        }
        _ => None,
    }
}

fn wrong_cast(value: &Expr, dtype: DType) -> Option<Expr> {
    // C.12: what is out of range wraps instead of being the greatest.
    if value.dtype.is_float() && dtype.is_integer() && dtype.bits < 64 && fault::is("float-cast-wraps") {
        let wide = DType::INT64.with_lanes(dtype.lanes);
        return Some(value.clone().cast(wide).cast(dtype));
    }
    None
}

fn wrong_op(op: Op, args: &[Expr], dtype: DType) -> Option<Expr> {
    match (op, args) {
        // C.11: halves go away from zero.
        (Op::Round | Op::Nearbyint, [x]) if fault::is("round-half-away") => {
            let half = call(Op::Copysign, &[&number(0.5, dtype), x], dtype);
            Some(call(Op::Trunc, &[&binary(BinaryOp::Add, x, &half)], dtype))
        }
        // C.9: an amount of the width or more leaves nothing.
        (Op::ShiftLeft, [x, amount]) if fault::is("shift-not-modulo") => {
            let width = integer(i128::from(dtype.bits.min(127)), dtype);
            let past = Expr::compare(CompareOp::Ge, amount.clone(), width);
            Some(Expr::select(past, integer(0, dtype), call(op, &[x, amount], dtype)))
        }
        // C.10: hundreds of units off.
        (Op::Exp, [x]) if dtype.bits >= 32 && fault::is("exp-off-by-many-ulp") => {
            let factor = number(1.0 + 1.0 / 16384.0, dtype);
            Some(binary(BinaryOp::Mul, &call(op, &[x], dtype), &factor))
        }
        // C.10: the least numbers are flushed to zero.
        (Op::Sqrt, [x]) if dtype.bits == 32 && fault::is("sqrt-flushes-subnormals") => {
            let tiny = Expr::compare(CompareOp::Lt, x.clone(), number(f64::from(f32::MIN_POSITIVE), dtype));
            let is_positive = Expr::compare(CompareOp::Gt, x.clone(), number(0.0, dtype));
            let zero = number(0.0, dtype);
            let guarded = Expr::select(tiny, zero, call(op, &[x], dtype));
            Some(Expr::select(is_positive, guarded, call(op, &[x], dtype)))
        }
        // What threads add is lost.
        (Op::AtomicAdd, [address, value]) if fault::is("atomic-add-lost") => {
            let nothing = if dtype.is_float() { number(0.0, dtype) } else { integer(0, dtype) };
            let _ = value;
            Some(call(op, &[address, &nothing], dtype))
        }
        // A value from the lane next to the one that was asked for.
        (Op::WarpShuffle, [mask, value, lane, rest @ ..]) if fault::is("shuffle-from-another-lane") => {
            let one = integer(1, lane.dtype);
            let other = call(Op::BitwiseXor, &[lane, &one], lane.dtype);
            let mut args = vec![mask.clone(), value.clone(), other];
            args.extend(rest.iter().cloned());
            Some(Expr::call(op, args, dtype))
        }
        _ => None,
    }
}

fn nothing() -> Stmt {
    Stmt::seq([])
}

/// Returns the wrong replacement of a statement.
fn wrong_stmt(s: &Stmt) -> Option<Stmt> {
    match &s.kind {
        // Nobody waits.
        StmtKind::Evaluate(value) if fault::is("barrier-left-out") => match &value.kind {
            ExprKind::Call { callee: Callee::Op(Op::StorageSync), .. } => Some(nothing()),
            _ => None,
        },
        // C.18: nobody is told.
        StmtKind::Assert { .. } if fault::is("assertion-left-out") => Some(nothing()),
        // C.14: every iteration, not every so many.
        StmtKind::For { var, min, extent, kind, step: Some(_), annotations, body }
            if fault::is("loop-step-ignored") =>
        {
            Some(Stmt::new(StmtKind::For {
                var: var.clone(),
                min: min.clone(),
                extent: extent.clone(),
                kind: *kind,
                step: None,
                annotations: annotations.clone(),
                body: body.clone(),
            }))
        }
        // C.14: the other branch is never taken.
        StmtKind::If { condition, then, otherwise: Some(_) } if fault::is("else-left-out") => {
            Some(Stmt::if_then(condition.clone(), then.clone(), None))
        }
        // C.15: the predicate of a block says nothing.
        StmtKind::BlockRealize { iter_values, block, .. } if fault::is("block-predicate-ignored") => {
            Some(Stmt::new(StmtKind::BlockRealize {
                iter_values: iter_values.clone(),
                predicate: Expr::bool(true),
                block: Arc::clone(block),
            }))
        }
        // C.15: a reduction adds to what was there.
        StmtKind::BlockRealize { iter_values, predicate, block } if fault::is("block-init-left-out") => {
            Some(Stmt::new(StmtKind::BlockRealize {
                iter_values: iter_values.clone(),
                predicate: predicate.clone(),
                block: Arc::new(Block { init: None, ..Block::clone(block) }),
            }))
        }
        _ => None,
    }
}
