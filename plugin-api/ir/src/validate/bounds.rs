//! Checks that constant indices lie within constant extents (IR-E10).

use super::{At, Checker};
use crate::analysis::Ranges;
use crate::{Buffer, Expr, ExprKind, Op, Stage};

/// Returns the value of a condition that constants determine.
pub(super) fn truth(condition: &Expr) -> Option<bool> {
    match &condition.kind {
        ExprKind::Int(value) => Some(*value != 0),
        ExprKind::Not(value) => truth(value).map(|value| !value),
        ExprKind::And(a, b) => decided(truth(a), truth(b), false),
        ExprKind::Or(a, b) => decided(truth(a), truth(b), true),
        ExprKind::Compare(op, a, b) => Some(op.holds(&constant(a)?, &constant(b)?)),
        ExprKind::Call { callee: crate::Callee::Op(Op::Likely), args } => args.first().and_then(truth),
        _ => None,
    }
}

/// Returns the result of `and` if `deciding` is false, of `or` if it is true.
fn decided(a: Option<bool>, b: Option<bool>, deciding: bool) -> Option<bool> {
    if a == Some(deciding) || b == Some(deciding) {
        return Some(deciding);
    }
    (a.is_some() && b.is_some()).then_some(!deciding)
}

/// Returns the value of a scalar integer expression over constants.
fn constant(expr: &Expr) -> Option<i128> {
    expr.dtype.integer_range()?;
    let (low, high) = Ranges::default().of(expr);
    (low == high).then_some(low)
}

/// Returns the least and the greatest lane of a constant index.
fn lanes(index: &Expr) -> Option<(i128, i128)> {
    match &index.kind {
        ExprKind::Broadcast { value, .. } => lanes(value),
        ExprKind::Ramp { base, stride, lanes } => {
            let (first, stride) = (constant(base)?, constant(stride)?);
            let last = first.checked_add(stride.checked_mul(i128::from(*lanes).checked_sub(1)?)?)?;
            // Lanes that wrap are checked at run time.
            let (least, greatest) = base.dtype.integer_range()?;
            (least <= last && last <= greatest).then_some((first.min(last), first.max(last)))
        }
        _ => constant(index).map(|value| (value, value)),
    }
}

/// Returns the least and the greatest lane of a constant index, if one of them is not within a
/// constant extent.
pub(crate) fn outside(index: &Expr, extent: &Expr) -> Option<(i128, i128)> {
    let extent = extent.as_int().filter(|extent| *extent > 0)?;
    lanes(index).filter(|(low, high)| *low < 0 || *high >= extent)
}

impl Checker<'_> {
    /// Checks `inner`, which is never evaluated where `may_run` is false.
    pub(super) fn reached(&mut self, may_run: bool, inner: impl FnOnce(&mut Self)) {
        let outer = self.is_reached;
        self.is_reached &= may_run;
        inner(self);
        self.is_reached = outer;
    }

    /// Checks the constant indices of an access that is evaluated. From [`Stage::Flattened`] on,
    /// loops are unrolled: an access that a condition kept within bounds in the loop has constant
    /// indices in copies that never run.
    pub(super) fn within(&mut self, at: At<'_>, buffer: &Buffer, indices: &[Expr]) {
        if !self.is_reached || self.stage >= Stage::Flattened {
            return;
        }
        for (axis, (index, extent)) in indices.iter().zip(&buffer.shape).enumerate() {
            let Some((low, high)) = outside(index, extent) else { continue };
            let found = if low == high { low.to_string() } else { format!("lanes from {low} to {high}") };
            let (name, last) = (&buffer.name, extent.as_int().unwrap_or(1) - 1);
            let text = format!("index of axis {axis} is outside of buffer `{name}`: expected 0 to {last}");
            self.at_node(at, format!("{text}, found {found}"));
        }
    }
}
