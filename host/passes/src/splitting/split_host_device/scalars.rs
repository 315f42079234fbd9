//! Passing of scalars to a kernel: with their own type, or through types that every device
//! supports.

use std::sync::Arc;

use chipdock_ir::{
    BinaryOp, CompareOp, DType, Expr, ExprKind, Op, Param, PrimFunc, Stmt, StmtKind, TargetCapabilities, Var,
};

use crate::splitting::capture::copy;
use crate::types::lower_int64::is_wide;

/// The way in which one variable is passed.
pub(super) enum Passed {
    /// Through a parameter of its type.
    As(Var),
    /// Through other parameters.
    MadeOf {
        /// The kernel's parameters, and the arguments that the host function passes.
        parts: Vec<(Var, Expr)>,
        /// The value of the variable in the kernel.
        value: Expr,
    },
}

pub(super) fn passed(var: &Var, function: &PrimFunc, capabilities: &TargetCapabilities) -> Passed {
    if var.dtype.is_float() && var.dtype.bits < 32 {
        let param = Var::new(Arc::clone(&var.name), DType::FLOAT32);
        let value = param.expr().cast(var.dtype);
        return Passed::MadeOf { parts: vec![(param, var.expr().cast(DType::FLOAT32))], value };
    }
    if !is_wide(var.dtype) || capabilities.types.has(var.dtype) {
        return Passed::As(copy(var));
    }
    if is_size(var, function) { short(var, is_extent(var, function)) } else { in_words(var) }
}

fn mentions(parts: &[Expr], var: &Var) -> bool {
    let mut found = false;
    for part in parts {
        part.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(other) if other == var));
    }
    found
}

/// Returns true if the variable is a size of the function's tensors.
fn is_size(var: &Var, function: &PrimFunc) -> bool {
    function.params.iter().any(|param| match param {
        Param::Buffer(buffer) => [&buffer.shape, &buffer.strides]
            .into_iter()
            .map(Vec::as_slice)
            .chain(buffer.elem_offset.as_ref().map(std::slice::from_ref))
            .any(|parts| mentions(parts, var)),
        Param::Var(_) => false,
    })
}

/// Returns true if the variable is itself an extent and so never negative, which makes conditions
/// shorter.
fn is_extent(var: &Var, function: &PrimFunc) -> bool {
    function.params.iter().any(|param| match param {
        Param::Buffer(buffer) => buffer.shape.contains(&var.expr()),
        Param::Var(_) => false,
    })
}

/// Passes a size as int32.
fn short(var: &Var, is_extent: bool) -> Passed {
    let param = Var::new(Arc::clone(&var.name), DType::INT32);
    let own = if is_extent { Expr::binary(BinaryOp::Max, param.expr(), Expr::i32(0)) } else { param.expr() };
    Passed::MadeOf { parts: vec![(param, var.expr().cast(DType::INT32))], value: own.cast(var.dtype) }
}

/// The check with which a host function fails if one of its sizes cannot be passed to its kernels.
pub(super) fn check(var: &Var, function: &PrimFunc, capabilities: &TargetCapabilities) -> Option<Stmt> {
    if !is_wide(var.dtype) || capabilities.types.has(var.dtype) || !is_size(var, function) {
        return None;
    }
    let passed = var.expr().cast(DType::INT32);
    let condition = Expr::compare(CompareOp::Eq, passed.cast(var.dtype), var.expr());
    let message = format!(
        "{}: expected {} within the int32 that indices of the device have, found ",
        function.name, var.name
    );
    let message = vec![Expr::str(message), var.expr()];
    Some(Stmt::new(StmtKind::Assert { condition, kind: "ValueError".into(), message }))
}

/// Passes both words of an integer of 64 bits.
fn in_words(var: &Var) -> Passed {
    let param = |half: &str| Var::new(format!("{}_{half}", var.name), DType::UINT32);
    let (low, high) = (param("low"), param("high"));
    let by = || Expr::int(32, var.dtype);
    let above = Expr::call(Op::ShiftLeft, vec![high.expr().cast(var.dtype), by()], var.dtype);
    let value = Expr::call(Op::BitwiseOr, vec![above, low.expr().cast(var.dtype)], var.dtype);
    let upper = Expr::call(Op::ShiftRight, vec![var.expr(), by()], var.dtype);
    let parts = vec![(low, var.expr().cast(DType::UINT32)), (high, upper.cast(DType::UINT32))];
    Passed::MadeOf { parts, value }
}
