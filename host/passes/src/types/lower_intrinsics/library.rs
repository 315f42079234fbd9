//! Functions of the C library, on scalars.

use chipdock_ir::op::Lowering;
use chipdock_ir::{Callee, DType, Expr, ExprKind, Op, TypeCode, Var};

/// Calls the C function; for a vector, once per lane. `None` if there is no such function.
pub(super) fn call(op: Op, args: &[Expr], dtype: DType) -> Option<Expr> {
    if dtype.code != TypeCode::Float || dtype.bits < 32 {
        return None;
    }
    if dtype.is_scalar() { scalar(op, args, dtype) } else { lane_by_lane(op, args, dtype) }
}

fn scalar(op: Op, args: &[Expr], dtype: DType) -> Option<Expr> {
    let info = op.info();
    let name = info.c_names.first().filter(|_| info.lowering == Lowering::Function)?;
    let name = if dtype.bits == 32 { format!("{name}f") } else { (*name).to_owned() };
    let callee = Callee::Extern { name: name.into(), pure: true };
    Some(Expr::new(ExprKind::Call { callee, args: args.to_vec() }, dtype))
}

fn lane_by_lane(op: Op, args: &[Expr], dtype: DType) -> Option<Expr> {
    let vars: Vec<Var> = args.iter().map(|arg| Var::new("lanes", arg.dtype)).collect();
    let lane = |var: &Var, index: u16| {
        let kind = ExprKind::Shuffle { vectors: vec![var.expr()], indices: vec![index] };
        Expr::new(kind, var.dtype.scalar())
    };
    let calls = (0..dtype.lanes).map(|index| {
        let args: Vec<Expr> = vars.iter().map(|var| lane(var, index)).collect();
        scalar(op, &args, dtype.scalar())
    });
    let vectors = calls.collect::<Option<Vec<_>>>()?;
    let body = Expr::new(ExprKind::Shuffle { vectors, indices: (0..dtype.lanes).collect() }, dtype);
    let bound = vars.into_iter().zip(args).rev();
    Some(
        bound.fold(body, |body, (var, value)| {
            Expr::new(ExprKind::Let { var, value: value.clone(), body }, dtype)
        }),
    )
}
