//! If parameters may overlap, the function compares their addresses at entry and runs the optimised
//! loops only when they do not.

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, BinaryOp, Buffer, CompareOp, DType, Expr, Op, Param, PrimFunc, Stmt, StmtKind,
    TargetCapabilities, attr,
};

use crate::scheduling::schedule::{Trace, written_by};

/// Greatest number of pairs of parameters that are compared.
const PAIRS_MAX: usize = 16;

/// Schedules a function for parameters that overlap and for those that do not, with a choice at its
/// beginning; `None` if the schedule is the same, or parameters are not plain.
pub(super) fn schedule(function: &PrimFunc, capabilities: &TargetCapabilities) -> Option<(PrimFunc, Trace)> {
    let apart = apart(function)?;
    let mut assumed = function.clone();
    assumed.attrs.insert(attr::NOALIAS.into(), AttrValue::Bool(true));
    let (faster, steps) = super::scheduled(&assumed, capabilities);
    let needs = ["read_at", "compute_at", "compute_inline", "tensorize"];
    steps.steps().iter().any(|step| needs.contains(&&*step.op)).then_some(())?;
    let (other, _, _) = super::by_rules(function, capabilities, false);
    // Each branch binds names of its own.
    let other = Substitution::new().fresh().stmt(&allocated(&other));
    let body = Stmt::if_then(apart, allocated(&faster), Some(other));
    Some((PrimFunc { body, alloc_buffers: Vec::new(), ..function.clone() }, steps))
}

/// The body with the allocations of the function.
pub(super) fn allocated(function: &PrimFunc) -> Stmt {
    let allocation = |buffer: &Buffer| {
        Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
    };
    Stmt::seq(function.alloc_buffers.iter().map(allocation).chain([function.body.clone()]))
}

/// The condition that no parameter that is written overlaps with another.
fn apart(function: &PrimFunc) -> Option<Expr> {
    let mut buffers: Vec<&Buffer> = Vec::new();
    for param in &function.params {
        match param {
            Param::Buffer(buffer) => buffers.push(buffer),
            Param::Var(var) if var.dtype.is_handle() => return None,
            Param::Var(_) => {}
        }
    }
    let written = written_by(&function.body);
    let outputs: Vec<bool> = buffers.iter().map(|buffer| written.contains(&buffer.data)).collect();
    let (mut conditions, mut pairs) = (Expr::bool(true), 0);
    for (at, a) in buffers.iter().enumerate() {
        for (other, b) in buffers.iter().enumerate().skip(at + 1) {
            if !outputs[at] && !outputs[other] {
                continue;
            }
            let ((a, a_end), (b, b_end)) = (bytes(a)?, bytes(b)?);
            let first = Expr::compare(CompareOp::Le, a_end, b);
            let apart = first.or(Expr::compare(CompareOp::Le, b_end, a));
            conditions = if pairs == 0 { apart } else { conditions.and(apart) };
            pairs += 1;
            if pairs > PAIRS_MAX {
                return None;
            }
        }
    }
    (pairs > 0).then_some(conditions)
}

/// The addresses of the first byte of a parameter and of the first after it.
fn bytes(buffer: &Buffer) -> Option<(Expr, Expr)> {
    let plain =
        buffer.strides.is_empty() && buffer.elem_offset.is_none() && buffer.dtype.bits.is_multiple_of(8);
    plain.then_some(())?;
    let long = DType::UINT64;
    let start = Expr::call(Op::Reinterpret, vec![buffer.data.expr()], long);
    let size = Expr::int(buffer.dtype.size_bytes() as i128, long);
    let size = buffer
        .shape
        .iter()
        .fold(size, |size, extent| Expr::binary(BinaryOp::Mul, size, extent.clone().cast(long)));
    let end = Expr::binary(BinaryOp::Add, start.clone(), size);
    Some((start, end))
}
