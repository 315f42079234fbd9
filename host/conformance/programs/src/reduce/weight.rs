//! Complexity of a module; every step of the reducer decreases it.

use chipdock_ir::{Child, Expr, ExprKind, ForKind, IrModule, StmtKind};

/// Sum of the weights of all nodes.
pub(crate) type Weight = u64;

pub(crate) fn weight(module: &IrModule) -> Weight {
    let mut total = 5 * module.attrs.len() as u64;
    for function in &module.functions {
        total += 100 + 10 * (function.params.len() + function.alloc_buffers.len()) as u64;
        total += 5 * function.attrs.len() as u64;
        function.body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child {
                total += of_stmt(&stmt.kind);
            }
        });
        function.body.walk_exprs(&mut |e| total += of_expr(e));
    }
    total
}

fn of_stmt(kind: &StmtKind) -> Weight {
    let extra = match kind {
        StmtKind::Seq(_) => 0,
        StmtKind::For { kind, step, annotations, .. } => {
            let plain = matches!(kind, ForKind::Serial);
            40 + 5 * (u64::from(!plain) + u64::from(step.is_some()) + annotations.len() as u64)
        }
        StmtKind::AllocBuffer { annotations, .. } => 30 + 5 * annotations.len() as u64,
        StmtKind::BlockRealize { block, .. } => {
            let lists = u64::from(block.reads.is_some()) + u64::from(block.writes.is_some());
            let views = block.match_buffers.len() + block.alloc_buffers.len();
            60 + 5 * (lists + block.annotations.len() as u64) + 20 * views as u64
        }
        StmtKind::While { .. } | StmtKind::LaunchThread { .. } => 50,
        _ => 30,
    };
    extra + 1
}

fn of_expr(expr: &Expr) -> Weight {
    let lanes = u64::from(!expr.dtype.is_scalar());
    let own = match &expr.kind {
        ExprKind::Int(_) if expr.dtype.is_bool() => 0,
        ExprKind::Int(value) => match value.unsigned_abs() {
            0 => 0,
            1 => 1,
            2 => 2,
            3..=8 => 3,
            _ => 4,
        },
        ExprKind::Float(bits) if bits.value() == 0.0 => u64::from(bits.0 != 0),
        ExprKind::Float(bits) if bits.value() == 1.0 => 1,
        ExprKind::Float(_) => 3,
        ExprKind::Broadcast { .. } => 1,
        ExprKind::Var(_) | ExprKind::Str(_) | ExprKind::ConstantData(_) => 4,
        _ => 5,
    };
    10 + own + lanes
}
