//! Accesses of statements to memory that the threads of a block share, and conflicts between them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use chipdock_ir::{Buffer, DType, Expr, ExprKind, Var};

use crate::simplify::{Ranges, expr_with, linear::Linear};
use crate::threading::threads::{Threads, evaluate};

/// Maximum number of threads of a block that are examined one by one.
const THREADS_MAX: i128 = 4096;
/// Maximum number of distances between two indices that are examined one by one.
const DISTANCES_MAX: i128 = 256;

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Read,
    Write,
    Atomic,
}

/// An access to an element, or any part, of a buffer by the threads whose conditions hold.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) buffer: Buffer,
    pub(super) how: How,
    /// The accessed element; `None` for any.
    place: Option<Rc<ThreadTerms>>,
}

/// An index split into its terms.
#[derive(Debug)]
struct ThreadTerms {
    index: Expr,
    conditions: Vec<Expr>,
    /// Least and greatest value.
    range: (i128, i128),
    /// The value for each thread that reaches the access, without the other terms; `None` if
    /// threads cannot be distinguished.
    of_threads: Option<Vec<(usize, i128)>>,
    /// Terms without a thread index.
    others: Vec<(Expr, i128)>,
    /// Contribution of the lanes of a vector: a step, and its maximum multiple.
    lanes: (i128, i128),
}

impl Access {
    pub(super) fn anywhere(buffer: &Buffer, how: How) -> Self {
        Self { buffer: buffer.clone(), how, place: None }
    }

    /// An access at an index whose variables are unbound names, by the threads for which the
    /// conditions hold.
    pub(super) fn at(
        (buffer, how): (&Buffer, How),
        index: &Expr,
        conditions: &[Expr],
        known: &VarFacts<'_>,
    ) -> Self {
        let place = known.place(index, conditions).map(Rc::new);
        Self { buffer: buffer.clone(), how, place }
    }

    pub(super) fn same(&self, other: &Self) -> bool {
        let places = match (&self.place, &other.place) {
            (None, None) => true,
            (Some(a), Some(b)) => a.index == b.index && a.conditions == b.conditions,
            _ => false,
        };
        self.buffer == other.buffer && self.how == other.how && places
    }

    /// Returns true if two threads may touch one element with accesses whose order matters, where
    /// the variables of `same` have one value in both threads.
    pub(super) fn meets(&self, other: &Self, same: &HashSet<Var>, known: &VarFacts<'_>) -> bool {
        let order_matters = match (self.how, other.how) {
            (How::Read, How::Read) | (How::Atomic, How::Atomic) => false,
            (How::Read | How::Write | How::Atomic, _) => true,
        };
        let pointed = |buffer: &Buffer| known.pointed.contains(&buffer.data);
        if !order_matters {
            return false;
        }
        if self.buffer.data != other.buffer.data {
            return pointed(&self.buffer) || pointed(&other.buffer);
        }
        let (Some(a), Some(b)) = (&self.place, &other.place) else { return true };
        if self.buffer.dtype != other.buffer.dtype {
            return true;
        }
        if a.range.1 < b.range.0 || b.range.1 < a.range.0 {
            return false;
        }
        let (Some(first), Some(second)) = (&a.of_threads, &b.of_threads) else { return true };
        let Some(distances) = distances(a, b, same, known) else { return true };
        let mut by_value: HashMap<i128, (usize, bool)> = HashMap::new();
        for (thread, value) in first {
            let entry = by_value.entry(*value).or_insert((*thread, false));
            entry.1 |= entry.0 != *thread;
        }
        second.iter().any(|(thread, value)| {
            distances.iter().any(|distance| {
                by_value.get(&(value + distance)).is_some_and(|(other, several)| *several || other != thread)
            })
        })
    }
}

/// The values of "second minus first" for the terms other than thread indices: two indices are
/// equal if "first minus second" of the thread terms is such a value; `None` if there are too many,
/// or they are not known.
fn distances(
    a: &ThreadTerms,
    b: &ThreadTerms,
    same: &HashSet<Var>,
    known: &VarFacts<'_>,
) -> Option<Vec<i128>> {
    let mut terms: Vec<(Expr, i128, bool)> = Vec::new();
    for (place, sign) in [(a, -1), (b, 1)] {
        for (term, coefficient) in &place.others {
            let is_same = known.only(term, &|var| same.contains(var));
            match terms.iter_mut().find(|(found, _, cancels)| *cancels && is_same && found == term) {
                Some((_, sum, _)) => *sum += sign * coefficient,
                None => terms.push((term.clone(), sign * coefficient, is_same)),
            }
        }
    }
    let (mut low, mut high, mut step) = (0_i128, 0_i128, 0_i128);
    let mut add = |coefficient: i128, range: (i128, i128)| -> Option<()> {
        let ends = [coefficient.checked_mul(range.0)?, coefficient.checked_mul(range.1)?];
        low = low.checked_add(ends[0].min(ends[1]))?;
        high = high.checked_add(ends[0].max(ends[1]))?;
        step = gcd(step, coefficient);
        Some(())
    };
    for (term, coefficient, _) in terms.iter().filter(|(_, coefficient, _)| *coefficient != 0) {
        add(*coefficient, known.ranges.of(term))?;
    }
    add(-a.lanes.0, (0, a.lanes.1))?;
    add(b.lanes.0, (0, b.lanes.1))?;
    if step == 0 {
        return Some(vec![0]);
    }
    let (first, last) = (low.div_euclid(step) * step, high);
    ((last - first) / step <= DISTANCES_MAX).then_some(())?;
    Some((0..).map(|n| first + n * step).take_while(|value| *value <= last).collect())
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Facts about variables.
pub(super) struct VarFacts<'a> {
    pub(super) threads: &'a Threads,
    pub(super) ranges: &'a Ranges,
    /// Data variables of pointers that do not come from an allocation.
    pub(super) pointed: &'a HashSet<Var>,
}

impl VarFacts<'_> {
    /// Returns true if an expression consists only of such variables and constants.
    fn only(&self, expr: &Expr, is: &dyn Fn(&Var) -> bool) -> bool {
        let mut only = true;
        expr.walk(&mut |e| {
            only &= match &e.kind {
                ExprKind::Var(var) => is(var),
                ExprKind::Load { .. } => false,
                ExprKind::Call { callee: chipdock_ir::Callee::Op(op), .. } => {
                    op.effect() == chipdock_ir::Effect::Pure
                }
                ExprKind::Call { .. } => false,
                _ => true,
            };
        });
        only
    }

    fn place(&self, index: &Expr, conditions: &[Expr]) -> Option<ThreadTerms> {
        let index = expr_with(index, self.ranges);
        let (base, lanes) = match &index.kind {
            ExprKind::Ramp { base, stride, lanes } => (base, (stride.as_int()?, i128::from(*lanes) - 1)),
            ExprKind::Broadcast { value, .. } => (value, (0, 0)),
            _ if index.dtype.is_scalar() => (&index, (0, 0)),
            _ => return None,
        };
        let sum = Linear::of(base);
        let range = self.ranges.of(&index);
        if !sum.fits(self.ranges) {
            let (others, conditions) = (Vec::new(), conditions.to_vec());
            return Some(ThreadTerms {
                index: index.clone(),
                conditions,
                range,
                of_threads: None,
                others,
                lanes,
            });
        }
        let is_thread = |var: &Var| self.threads.position(var).is_some();
        let (mut of_threads, mut others, mut mixed) = (Vec::new(), Vec::new(), false);
        for (term, coefficient) in &sum.terms {
            if self.only(term, &is_thread) {
                of_threads.push((term.clone(), *coefficient));
            } else {
                term.walk(&mut |e| {
                    mixed |= matches!(&e.kind, ExprKind::Var(var) if is_thread(var) || var.dtype.is_handle())
                });
                // An unknown variable may depend on a thread index, which its range covers.
                others.push((term.clone(), *coefficient));
            }
        }
        let of_threads = if mixed { None } else { self.values(&of_threads, sum.constant, conditions) };
        let conditions = conditions.to_vec();
        Some(ThreadTerms { index: index.clone(), conditions, range, of_threads, others, lanes })
    }

    /// The value of a sum for each thread of a block that reaches the access.
    fn values(
        &self,
        terms: &[(Expr, i128)],
        constant: i128,
        conditions: &[Expr],
    ) -> Option<Vec<(usize, i128)>> {
        let block = self.threads.block()?;
        let n_threads = block.iter().product::<i128>();
        (n_threads <= THREADS_MAX).then_some(())?;
        let mut values = Vec::new();
        for thread in 0..n_threads {
            let [x, y, _] = block;
            let at = [thread % x, thread / x % y, thread / (x * y)];
            let of = |var: &Var| self.threads.position(var).map(|axis| at[axis]);
            if conditions.iter().any(|condition| evaluate(condition, &of) == Some(0)) {
                continue;
            }
            let mut sum = constant;
            for (term, coefficient) in terms {
                sum += coefficient * evaluate(term, &of)?;
            }
            values.push((thread as usize, sum));
        }
        Some(values)
    }
}

/// Returns true for types of positions.
pub(super) fn is_index(dtype: DType) -> bool {
    dtype.is_integer() && dtype.is_scalar()
}
