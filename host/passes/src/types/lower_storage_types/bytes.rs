//! Packed memory: loads and stores of parts of bytes, and the loops that may make them.

use std::collections::HashSet;

use chipdock_ir::{
    BinaryOp, Buffer, Callee, Child, DType, Expr, ExprKind, ForKind, Op, Param, PrimFunc, Stmt, StmtKind, Var,
};

use super::value::extended;
use crate::simplify::{self, linear::Linear};
use crate::types::narrow_floats::{and, named, or};

/// Number of elements in a byte.
fn per_byte(dtype: DType) -> i128 {
    8 / i128::from(dtype.bits.max(1))
}

fn like(value: i128, e: &Expr) -> Expr {
    Expr::int(value, e.dtype.scalar()).broadcast(e.dtype.lanes)
}

/// Number of bytes that the elements take, in 64 bits unless it is constant: the sum on the way may
/// not fit.
pub(super) fn count(elements: &Expr, dtype: DType) -> Expr {
    let is_constant = elements.as_int().is_some_and(|count| count < i128::from(i32::MAX) - per_byte(dtype));
    let wide = if is_constant { elements.dtype } else { DType::INT64 };
    let elements = &elements.clone().cast(wide);
    let more = elements.clone() + like(per_byte(dtype) - 1, elements);
    simplify::expr(&Expr::binary(BinaryOp::FloorDiv, more, like(per_byte(dtype), elements)))
}

/// Index of the byte that contains an element.
fn byte(index: &Expr, dtype: DType) -> Expr {
    simplify::expr(&Expr::binary(BinaryOp::FloorDiv, index.clone(), like(per_byte(dtype), index)))
}

/// Number of bits below an element in its byte, as uint32.
fn shift(index: &Expr, dtype: DType) -> Expr {
    let within = Expr::binary(BinaryOp::FloorMod, index.clone(), like(per_byte(dtype), index));
    let within = within.cast(DType::UINT32.with_lanes(index.dtype.lanes));
    let bits = like(dtype.bits.into(), &within);
    simplify::expr(&(within * bits))
}

fn shifted(op: Op, value: Expr, by: Expr) -> Expr {
    let dtype = value.dtype;
    Expr::call(op, vec![value, by], dtype)
}

/// Loads the elements at an index.
pub(super) fn load(bytes: &Buffer, dtype: DType, index: &Expr, predicate: Option<Expr>) -> Expr {
    let lanes = index.dtype.lanes;
    let reads = crate::walk::depends_on_memory(index);
    let at = |index: &Expr| {
        let kind = ExprKind::Load {
            buffer: bytes.clone(),
            indices: vec![byte(index, dtype)],
            predicate: predicate.clone(),
        };
        let loaded = Expr::new(kind, DType::UINT8.with_lanes(lanes)).cast(DType::UINT32.with_lanes(lanes));
        extended(shifted(Op::ShiftRight, loaded, shift(index, dtype)), dtype)
    };
    if reads { named("at", index.clone(), at) } else { at(index) }
}

/// Stores elements at an index.
pub(super) fn store(
    bytes: &Buffer,
    dtype: DType,
    (index, value, predicate): (Expr, Expr, Option<Expr>),
) -> Stmt {
    let lanes = index.dtype.lanes;
    let mut stmts = Vec::new();
    let mut bound = |name: &str, value: Expr| {
        if matches!(value.kind, ExprKind::Var(_) | ExprKind::Int(_)) {
            return value;
        }
        let var = Var::new(name, value.dtype);
        stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
        var.expr()
    };
    let bits = bound("value", value.cast(DType::UINT32.with_lanes(lanes)));
    if let Some(stored) = whole(bytes, dtype, (&index, &bits, predicate.as_ref())) {
        stmts.push(stored);
        return Stmt::seq(stmts);
    }
    // The ramp of a vector is kept: its lanes are simple sums.
    let index = if matches!(index.kind, ExprKind::Ramp { .. }) { index } else { bound("at", index) };
    let predicate = predicate.map(|predicate| bound("mask", predicate));
    for lane in 0..lanes {
        let of = |vector: &Expr| match (&vector.kind, lanes) {
            (_, 1) => vector.clone(),
            (ExprKind::Ramp { base, stride, .. }, _) => {
                simplify::expr(&(base.clone() + stride.clone() * like(lane.into(), stride)))
            }
            _ => picked(vector, vec![lane]),
        };
        let stored = one(bytes, dtype, &of(&index), of(&bits));
        stmts.push(match &predicate {
            Some(predicate) => Stmt::if_then(of(predicate), stored, None),
            None => stored,
        });
    }
    Stmt::seq(stmts)
}

fn picked(vector: &Expr, lanes: Vec<u16>) -> Expr {
    let dtype = vector.dtype.scalar().with_lanes(lanes.len() as u16);
    Expr::new(ExprKind::Shuffle { vectors: vec![vector.clone()], indices: lanes }, dtype)
}

/// Stores one element into its byte.
fn one(bytes: &Buffer, dtype: DType, index: &Expr, bits: Expr) -> Stmt {
    let (at, shift) = (byte(index, dtype), shift(index, dtype));
    let mask = (1 << dtype.bits) - 1;
    let place = shifted(Op::ShiftLeft, Expr::int(mask, DType::UINT32), shift.clone());
    let others = Expr::call(Op::BitwiseNot, vec![place], DType::UINT32);
    let old = Expr::load(bytes, vec![at.clone()]).cast(DType::UINT32);
    let kept = shifted(Op::BitwiseAnd, old, others);
    let new = shifted(Op::ShiftLeft, and(bits, mask), shift);
    Stmt::store(bytes, vec![at], or(kept, new).cast(DType::UINT8))
}

/// Stores adjacent elements from a multiple of a byte's elements on, as whole bytes (STORAGE-Y4).
fn whole(
    bytes: &Buffer,
    dtype: DType,
    (index, bits, predicate): (&Expr, &Expr, Option<&Expr>),
) -> Option<Stmt> {
    let ExprKind::Ramp { base, stride, lanes } = &index.kind else { return None };
    let per = per_byte(dtype);
    let count = u16::try_from(i128::from(*lanes) / per).ok()?;
    let is_whole = i128::from(*lanes) % per == 0 && stride.as_int() == Some(1) && is_multiple(base, per);
    if predicate.is_some() || !is_whole {
        return None;
    }
    let mask = (1 << dtype.bits) - 1;
    let step = usize::try_from(per).ok()?;
    let parts = (0..step).map(|part| {
        let lanes = (0..*lanes).skip(part).step_by(step).collect();
        let bits = and(picked(bits, lanes), mask);
        let by = like(i128::from(dtype.bits) * part as i128, &bits);
        shifted(Op::ShiftLeft, bits, by)
    });
    let value = parts.reduce(or)?.cast(DType::UINT8.with_lanes(count));
    let first = byte(base, dtype);
    let at = if count == 1 { first } else { first.clone().ramp(like(1, &first), count) };
    Some(Stmt::store(bytes, vec![at], value))
}

/// Returns true if every term of a sum is a multiple of `of`.
fn is_multiple(sum: &Expr, of: i128) -> bool {
    let linear = Linear::of(&simplify::expr(sum));
    linear.constant % of == 0 && linear.terms.iter().all(|(_, factor)| factor % of == 0)
}

/// A statement around the one being lowered.
enum Around {
    /// A loop whose iterations may run concurrently, and whether it contains a store of a part of a
    /// byte.
    AtOnce {
        is_thread: bool,
        is_split: bool,
    },
    /// A serial loop from 0 over a number of iterations; for one that was vectorized, whether it
    /// must be serial.
    Serial {
        var: Var,
        extent: i128,
        is_split: bool,
    },
    /// A statement that may skip its body.
    Condition,
    Other,
}

fn at_once(extent: &Expr, is_thread: bool) -> Around {
    match extent.as_int() {
        Some(..=1) => Around::Other,
        _ => Around::AtOnce { is_thread, is_split: false },
    }
}

fn ends_thread(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |child| {
        if let Child::Expr(e) = child {
            found |= matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::ThreadReturn), .. });
        }
    });
    found
}

/// The loops around a statement.
pub(super) struct Loops {
    around: Vec<Around>,
    /// Offsets of packed parameters: each is at the start of a byte.
    offsets: HashSet<Var>,
}

impl Loops {
    pub(super) fn of(function: &PrimFunc) -> Self {
        let offsets = function.params.iter().filter_map(|param| match param {
            Param::Buffer(buffer) if buffer.dtype.is_sub_byte() => match &buffer.elem_offset.as_ref()?.kind {
                ExprKind::Var(var) => Some(var.clone()),
                _ => None,
            },
            _ => None,
        });
        Self { around: Vec::new(), offsets: offsets.collect() }
    }

    /// Enters a statement; returns the depth to go back to.
    pub(super) fn enter(&mut self, stmt: &Stmt) -> usize {
        let depth = self.around.len();
        self.around.push(match &stmt.kind {
            StmtKind::LaunchThread { extent, .. } => at_once(extent, true),
            StmtKind::For { extent, kind: ForKind::ThreadBinding(_), .. } => at_once(extent, true),
            StmtKind::For { extent, kind: ForKind::Parallel, .. } => at_once(extent, false),
            StmtKind::For { body, .. } if simplify::leaves_loop(body) || ends_thread(body) => {
                Around::Condition
            }
            StmtKind::For { var, min, extent, step, .. } => {
                let is_counted =
                    min.as_int() == Some(0) && step.as_ref().is_none_or(|step| step.as_int() == Some(1));
                let extent = extent.as_int().filter(|_| is_counted).unwrap_or(0);
                Around::Serial { var: var.clone(), extent, is_split: false }
            }
            StmtKind::If { .. } | StmtKind::While { .. } => Around::Condition,
            _ => Around::Other,
        });
        depth
    }

    /// Leaves a statement; returns true if it was a loop that must be serial.
    pub(super) fn leave(&mut self, depth: usize) -> bool {
        let is_split = matches!(
            self.around.get(depth),
            Some(Around::AtOnce { is_split: true, .. } | Around::Serial { is_split: true, .. })
        );
        self.around.truncate(depth);
        is_split
    }

    /// Records a store that loads its byte first: no loop around it may become a vector.
    pub(super) fn changes_byte(&mut self) {
        for around in &mut self.around {
            if let Around::Serial { is_split, .. } = around {
                *is_split = true;
            }
        }
    }

    /// Records a store of a part of a byte; returns true if threads make it concurrently.
    pub(super) fn part_of_byte(&mut self) -> bool {
        let mut threads = false;
        for around in &mut self.around {
            if let Around::AtOnce { is_thread, is_split } = around {
                threads |= *is_thread;
                *is_split = true;
            }
        }
        threads
    }

    /// Returns true if a store at the index writes all elements of each byte that it writes
    /// (STORAGE-Y4), in one iteration of each loop whose iterations run concurrently.
    pub(super) fn writes_whole_bytes(&self, dtype: DType, index: &Expr) -> bool {
        let per = per_byte(dtype);
        let index = simplify::expr(index);
        if let ExprKind::Ramp { base, stride, lanes } = &index.kind {
            return i128::from(*lanes) % per == 0
                && stride.as_int() == Some(1)
                && self.is_at_byte(base, per, None);
        }
        if !index.dtype.is_scalar() {
            return false;
        }
        for around in self.around.iter().rev() {
            match around {
                Around::Serial { var, extent, .. }
                    if *extent > 0 && extent % per == 0 && self.is_at_byte(&index, per, Some(var)) =>
                {
                    return true;
                }
                Around::Serial { .. } | Around::Other => {}
                Around::AtOnce { .. } | Around::Condition => return false,
            }
        }
        false
    }

    /// Returns true if a sum, leaving out one variable, is a multiple of a byte's elements.
    fn is_at_byte(&self, sum: &Expr, per: i128, but: Option<&Var>) -> bool {
        let linear = Linear::of(&simplify::expr(sum));
        let mut but = but;
        let is_multiple = |(term, factor): &(Expr, i128)| {
            let var = match &term.kind {
                ExprKind::Var(var) => Some(var),
                ExprKind::Cast(inner) => match &inner.kind {
                    ExprKind::Var(var) => Some(var),
                    _ => None,
                },
                _ => None,
            };
            if *factor == 1 && var.is_some() && var == but {
                but = None;
                return true;
            }
            factor % per == 0 || var.is_some_and(|var| self.offsets.contains(var))
        };
        linear.constant % per == 0 && linear.terms.iter().all(is_multiple) && but.is_none()
    }
}
