//! Check that all lanes may run a statement before any of them runs the next.

use std::collections::{HashMap, HashSet};

use chipdock_ir::subst::Substitution;
use chipdock_ir::{Callee, Child, DType, Effect, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, Var};

use crate::simplify::linear::Linear;
use crate::walk::{depends_on_memory, vars_of};

/// The effects of a body on memory.
pub(super) struct Memory {
    /// Data variables of buffers that it stores to, including those that it allocates.
    pub(super) stored: HashSet<Var>,
}

/// The effects of the body on memory, if each statement may run for all lanes before the next runs
/// for any: memory that is stored is touched at one index expression only, and no lane ever touches
/// an element of another lane. Memory that the body allocates belongs to a lane. The loop variable
/// takes `extent` consecutive values.
pub(super) fn check(body: &Stmt, var: &Var, extent: i128) -> Option<Memory> {
    statements_are_plain(body).then_some(())?;
    let mut names = Names::default();
    names.collect(body);
    let mut touched: HashMap<&Var, (DType, Expr)> = HashMap::new();
    let mut fine = true;
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let StmtKind::Store { buffer, indices, .. } = &stmt.kind else { return };
        if names.allocated.contains(&buffer.data) {
            return;
        }
        let [index] = indices.as_slice() else {
            fine = false;
            return;
        };
        let here = (buffer.dtype, names.inline.expr(index));
        fine &= *touched.entry(&buffer.data).or_insert_with(|| here.clone()) == here;
    });
    body.walk_exprs(&mut |e| {
        let ExprKind::Load { buffer, indices, .. } = &e.kind else { return };
        if let Some((dtype, stored)) = touched.get(&buffer.data) {
            let mut same = |index: &Expr| names.inline.expr(index) == *stored;
            fine &= *dtype == buffer.dtype && matches!(indices.as_slice(), [index] if same(index));
        }
    });
    fine &= touched.values().all(|(_, index)| is_lanes_own(index, var, extent, &names.within));
    let stored = touched.keys().map(|data| (*data).clone()).chain(names.allocated).collect();
    fine.then_some(Memory { stored })
}

/// Names that a body binds.
#[derive(Default)]
struct Names {
    within: HashSet<Var>,
    allocated: HashSet<Var>,
    /// Names of values that read no memory, with their values.
    inline: Substitution,
}

impl Names {
    fn collect(&mut self, body: &Stmt) {
        body.walk(&mut |child| {
            let Child::Stmt(stmt) = child else { return };
            match &stmt.kind {
                StmtKind::For { var, .. } => {
                    self.within.insert(var.clone());
                }
                StmtKind::Bind { var, value } => {
                    if depends_on_memory(value) {
                        self.within.insert(var.clone());
                    } else {
                        let value = self.inline.expr(value);
                        self.inline.map_var(var, value);
                    }
                }
                StmtKind::AllocBuffer { buffer, .. } => {
                    self.allocated.insert(buffer.data.clone());
                }
                _ => {}
            }
        });
        body.walk_exprs(&mut |e| {
            if let ExprKind::Let { var, .. } = &e.kind {
                self.within.insert(var.clone());
            }
        });
    }
}

/// Returns true if no statement ends the function, has unknown effects, or makes another name for
/// memory.
fn statements_are_plain(body: &Stmt) -> bool {
    let mut plain = true;
    body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        plain &= match &stmt.kind {
            StmtKind::Assert { .. }
            | StmtKind::Return(_)
            | StmtKind::LaunchThread { .. }
            | StmtKind::BlockRealize { .. } => false,
            StmtKind::DeclBuffer { data: Some(_), .. } => stmt.as_constant().is_some(),
            StmtKind::For { kind, .. } => !matches!(kind, ForKind::Parallel | ForKind::ThreadBinding(_)),
            _ => true,
        };
    });
    body.walk_exprs(&mut |e| {
        plain &= match &e.kind {
            ExprKind::Call { callee: Callee::Op(Op::AddressOf | Op::AccessPtr), .. } => false,
            ExprKind::Call { callee: Callee::Op(op), .. } => {
                *op == Op::Assume || op.effect() != Effect::Writes
            }
            ExprKind::Call { callee: Callee::Extern { pure, .. }, .. } => *pure,
            ExprKind::Call { callee: Callee::Global(_), .. } => false,
            ExprKind::Var(var) => !var.dtype.is_handle(),
            _ => true,
        };
    });
    plain
}

/// Returns true if lanes never collide in an index: it is a multiple of the lane, and everything
/// else that changes within the body moves it by multiples larger than the range of all lanes.
fn is_lanes_own(index: &Expr, var: &Var, extent: i128, within: &HashSet<Var>) -> bool {
    let sum = Linear::of(&crate::simplify::expr(index));
    let (mut stride, mut others) = (0_i128, 0_i128);
    for (term, coefficient) in &sum.terms {
        let vars = vars_of(term);
        let plain = match &term.kind {
            ExprKind::Var(v) => Some(v),
            ExprKind::Cast(inner) => match &inner.kind {
                ExprKind::Var(v) => Some(v),
                // A sum that may wrap at a smaller width: lanes still differ, if nothing else in it
                // changes.
                _ if vars.contains(var) => {
                    let inner_stride = vars.is_disjoint(within) && is_lanes_own(inner, var, extent, within);
                    stride += if inner_stride { *coefficient } else { return false };
                    continue;
                }
                _ => None,
            },
            _ => None,
        };
        match plain {
            Some(v) if v == var => stride += coefficient,
            _ if vars.contains(var) => return false,
            _ if !vars.is_disjoint(within) || depends_on_memory(term) => {
                others = gcd(others, coefficient.abs())
            }
            _ => {}
        }
    }
    let reach = stride.abs().saturating_mul(extent);
    stride != 0 && reach <= i128::from(i32::MAX) && (others == 0 || others >= reach)
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
