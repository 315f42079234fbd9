//! The threads of a launch, as passes query them.

use std::collections::{BTreeMap, HashMap};

use chipdock_ir::{
    Callee, Child, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, StorageRank, StorageScope, ThreadAxis, Var,
};

use crate::simplify::{expr as simple, fold};
use crate::walk::is_thread;

/// Axes of the threads of a block, fastest-varying first.
pub(crate) const BLOCK_AXES: [ThreadAxis; 3] =
    [ThreadAxis::ThreadX, ThreadAxis::ThreadY, ThreadAxis::ThreadZ];

/// Replaces each outermost launch of a statement.
pub(crate) fn try_map_launches<E>(
    stmt: &Stmt,
    f: &mut dyn FnMut(&Stmt) -> Result<Stmt, E>,
) -> Result<Stmt, E> {
    if is_thread(stmt) {
        return f(stmt);
    }
    stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| try_map_launches(s, f))
}

/// The threads of a launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    /// The axis of each variable that is a thread index.
    pub(crate) axis_of: HashMap<Var, ThreadAxis>,
    /// The extent of each bound axis, as first written.
    pub(crate) extents: BTreeMap<ThreadAxis, Expr>,
}

impl Threads {
    /// Collects the threads of a launch.
    pub(crate) fn collect(launch: &Stmt) -> Self {
        let mut threads = Self::default();
        launch.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            if let StmtKind::LaunchThread { var, axis, extent, .. }
            | StmtKind::For { var, kind: ForKind::ThreadBinding(axis), extent, .. } = &stmt.kind
            {
                threads.axis_of.insert(var.clone(), *axis);
                threads.extents.entry(*axis).or_insert_with(|| simple(extent));
            }
        });
        threads
    }

    /// The extent of an axis if it is constant; 1 if it is not bound.
    pub(crate) fn extent(&self, axis: ThreadAxis) -> Option<i128> {
        self.extents.get(&axis).map_or(Some(1), Expr::as_int)
    }

    /// The extents of a block's axes, if all are constant.
    pub(crate) fn block(&self) -> Option<[i128; 3]> {
        let [x, y, z] = BLOCK_AXES;
        Some([self.extent(x)?, self.extent(y)?, self.extent(z)?])
    }

    /// The position of an axis among those of a block.
    pub(crate) fn position(&self, var: &Var) -> Option<usize> {
        let axis = self.axis_of.get(var)?;
        BLOCK_AXES.iter().position(|known| known == axis)
    }
}

/// Returns true for memory of which each block has one instance.
pub(crate) fn is_shared(scope: &StorageScope) -> bool {
    scope.rank == StorageRank::Shared
}

/// A barrier of the threads of a block.
pub(crate) fn barrier(scope: &str) -> Stmt {
    let call = Expr::call(Op::StorageSync, vec![Expr::str(scope)], chipdock_ir::DType::HANDLE);
    Stmt::new(StmtKind::Evaluate(call))
}

/// The scope of a barrier; `None` for other statements.
pub(crate) fn barrier_scope(stmt: &Stmt) -> Option<&str> {
    let StmtKind::Evaluate(call) = &stmt.kind else { return None };
    let ExprKind::Call { callee: Callee::Op(Op::StorageSync), args } = &call.kind else { return None };
    match args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Str(scope)) => Some(scope),
        _ => None,
    }
}

/// The value of an integer or boolean expression, given its variables; `None` if it contains
/// anything else.
pub(crate) fn evaluate(expr: &Expr, of: &dyn Fn(&Var) -> Option<i128>) -> Option<i128> {
    let both = |a: &Expr, b: &Expr| Some((evaluate(a, of)?, evaluate(b, of)?));
    let is_whole = |e: &Expr| e.dtype.is_scalar() && (e.dtype.is_integer() || e.dtype.is_bool());
    if !is_whole(expr) {
        return None;
    }
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Var(var) => of(var),
        ExprKind::Cast(value) if expr.dtype.is_bool() => Some((evaluate(value, of)? != 0).into()),
        ExprKind::Cast(value) => evaluate(value, of).map(|value| expr.dtype.wrap(value)),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = both(a, b)?;
            Some(fold::int_binary(*op, a, b, expr.dtype))
        }
        ExprKind::Compare(op, a, b) => {
            let (a, b) = both(a, b)?;
            Some(op.holds(&a, &b).into())
        }
        ExprKind::And(a, b) => both(a, b).map(|(a, b)| a & b),
        ExprKind::Or(a, b) => both(a, b).map(|(a, b)| a | b),
        ExprKind::Not(a) => Some(1 - evaluate(a, of)?),
        ExprKind::Select(c, a, b) => {
            let (a, b) = both(a, b)?;
            Some(if evaluate(c, of)? != 0 { a } else { b })
        }
        ExprKind::Call { callee: Callee::Op(op), args } => match (op, args.as_slice()) {
            (Op::Likely | Op::ThreadInvariant, [value]) => evaluate(value, of),
            (Op::IfThenElse, [c, a, b]) => evaluate(if evaluate(c, of)? != 0 { a } else { b }, of),
            (Op::BitwiseAnd, [a, b]) => both(a, b).map(|(a, b)| expr.dtype.wrap(a & b)),
            (Op::BitwiseOr, [a, b]) => both(a, b).map(|(a, b)| expr.dtype.wrap(a | b)),
            (Op::BitwiseXor, [a, b]) => both(a, b).map(|(a, b)| expr.dtype.wrap(a ^ b)),
            (Op::ShiftLeft, [a, b]) => {
                both(a, b).map(|(a, b)| expr.dtype.wrap(a << b.rem_euclid(expr.dtype.bits.into())))
            }
            (Op::ShiftRight, [a, b]) => both(a, b).map(|(a, b)| a >> b.rem_euclid(expr.dtype.bits.into())),
            _ => None,
        },
        _ => None,
    }
}
