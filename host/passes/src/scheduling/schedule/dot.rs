//! Groups of products that are computed by dot products of vectors.

use chipdock_ir::op::DotProduct;
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Callee, CompareOp, DType, Expr, ExprKind, ForKind, Op, PrimFunc, Stmt, StmtKind, Var,
};

use super::access::{Element, Facts};
use super::independent::may_alias;
use super::nest::{Loop, Realized, StmtPath, parts};
use super::tile::{is_filled, only_writer};
use crate::simplify::{self, Ranges, linear::Linear};
use crate::walk::depends_on_memory;

/// A number of groups of elements that a copy puts side by side.
#[derive(Clone, Copy)]
pub(super) struct Interleaved {
    pub(super) group: u16,
    pub(super) lanes: u16,
}

impl Interleaved {
    /// The sizes of a name such as `interleave_4x16`.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let (group, lanes) = name.strip_prefix("interleave_")?.split_once('x')?;
        let (group, lanes) = (group.parse().ok()?, lanes.parse().ok()?);
        ([2, 4].contains(&group) && [2, 4, 8, 16, 32].contains(&lanes)).then_some(Self { group, lanes })
    }

    /// One statement in place of a loop that copies an element in each iteration.
    pub(super) fn stmt(
        self,
        function: &PrimFunc,
        place: &StmtPath,
        of: &Loop<'_>,
        block: &Realized<'_>,
    ) -> Result<Stmt, &'static str> {
        let (ranges, count) = (&place.ranges(function), self.lanes * self.group);
        expect_plain(of, block, count)?;
        if block.predicate.as_int() != Some(1) {
            return Err("the block has a predicate");
        }
        let StmtKind::Store { buffer, indices, value, predicate: None } = &block.block.body.kind else {
            return Err("the block is not one store");
        };
        let to = Element { buffer: buffer.clone(), indices: indices.clone() };
        let from = loaded(value).ok_or("the block does not copy an element")?;
        if may_alias(function, &to.buffer.data, &from.buffer.data) || !buffer.dtype.is_scalar() {
            return Err("the source may overlap with the destination");
        }
        let walk =
            |element: &Element, lanes: &[u16]| Walk::from_element(element, of.var, block, ranges, lanes);
        let all: Vec<u16> = (0..count).collect();
        let Some(written) = walk(&to, &all).filter(|walk| walk.is(|lane| lane)) else {
            return Err("the destination is not contiguous");
        };
        let mut vectors = Vec::new();
        for first in 0..self.group {
            let lanes: Vec<u16> = (0..self.lanes).map(|lane| first + lane * self.group).collect();
            let Some(read) = walk(&from, &lanes).filter(|walk| walk.is(|lane| lane)) else {
                return Err("the source is not contiguous from one group to the next");
            };
            vectors.push(read.load(&from, self.lanes));
        }
        let pick = |lane: u16| (lane % self.group) * self.lanes + lane / self.group;
        let kind = ExprKind::Shuffle { vectors, indices: (0..count).map(pick).collect() };
        let value = Expr::new(kind, DType { lanes: count, ..buffer.dtype });
        let indices = written.vector(count);
        Ok(Stmt::new(StmtKind::Store { buffer: to.buffer, indices, value, predicate: None }))
    }
}

/// Expects a serial loop of so many iterations around a block that has nothing of its own.
fn expect_plain(of: &Loop<'_>, block: &Realized<'_>, count: u16) -> Result<(), &'static str> {
    let is_plain = of.extent.as_int() == Some(i128::from(count)) && of.min.as_int() == Some(0);
    if !is_plain || of.step.is_some() || of.kind != ForKind::Serial {
        return Err("it is not a serial loop of as many iterations as there are elements");
    }
    let own = &block.block;
    if !own.alloc_buffers.is_empty() || !own.match_buffers.is_empty() || own.init.is_some() {
        return Err("the block has buffers of its own, or sets what it adds to");
    }
    Ok(())
}

/// A number of sums, each of a group of products.
#[derive(Clone, Copy)]
pub(super) struct Dots {
    pub(super) dot: DotProduct,
    /// Number of sums.
    pub(super) lanes: u16,
}

/// Where an element lies from one iteration of a loop to the next: its indices in the first one,
/// and the distance of the last index from there in each.
struct Walk {
    first: Vec<Expr>,
    distances: Vec<i128>,
}

impl Dots {
    /// The dot products of a name such as `dot_uint8_int8_16`.
    pub(super) fn by_name(name: &str) -> Option<Self> {
        let (types, lanes) = name.strip_prefix("dot_")?.rsplit_once('_')?;
        let dot = DotProduct::by_name(&types.replacen('_', "*", 1))?;
        let lanes = lanes.parse().ok().filter(|lanes| [2, 4, 8, 16, 32].contains(lanes))?;
        Some(Self { dot, lanes })
    }

    /// One statement in place of a loop over `lanes` sums, and within them over the products of
    /// each.
    pub(super) fn stmt(
        self,
        function: &PrimFunc,
        place: &StmtPath,
        of: &Loop<'_>,
        block: &Realized<'_>,
    ) -> Result<Stmt, &'static str> {
        let ranges = &place.ranges(function);
        let (dot, count) = (self.dot, self.lanes * self.dot.group);
        expect_plain(of, block, count)?;
        let (sum, [x, y]) =
            products(&block.block.body, dot.sum).ok_or("the block does not add a product to an element")?;
        let (a, b) = match (x.buffer.dtype, y.buffer.dtype) {
            (one, other) if (one, other) == (dot.a, dot.b) => (x, y),
            (one, other) if (other, one) == (dot.a, dot.b) => (y, x),
            _ => return Err("its factors have other types"),
        };
        if [&a, &b].iter().any(|factor| may_alias(function, &factor.buffer.data, &sum.buffer.data)) {
            return Err("a factor may overlap with the sums");
        }
        let within = Within { function, place, block, ranges };
        if !within.may_always_run(dot, &sum, [&a, &b]) {
            return Err("its predicate may not hold, and factors are not 0 there, or not in memory");
        }
        let lanes: Vec<u16> = (0..count).collect();
        let walk = |element: &Element| Walk::from_element(element, of.var, block, ranges, &lanes);
        let walks = (walk(&sum), walk(&a), walk(&b));
        let (Some(to), Some(at_a), Some(at_b)) = walks else {
            return Err("an index is read from memory, or is not at a constant distance in each iteration");
        };
        let group = i128::from(dot.group);
        if !to.is(|lane| lane / group) {
            return Err("the sums are not adjacent");
        }
        let factor = |element: &Element, at: &Walk| -> Option<Expr> {
            if at.is(|lane| lane) {
                return Some(at.load(element, count));
            }
            at.is(|lane| lane % group).then(|| {
                let indices = (0..count).map(|lane| lane % dot.group).collect();
                let kind = ExprKind::Shuffle { vectors: vec![at.load(element, dot.group)], indices };
                Expr::new(kind, DType { lanes: count, ..element.buffer.dtype })
            })
        };
        let (Some(va), Some(vb)) = (factor(&a, &at_a), factor(&b, &at_b)) else {
            return Err("the factors are neither adjacent nor the same for each sum");
        };
        let dtype = DType { lanes: self.lanes, ..dot.sum };
        let value = Expr::call(Op::DotAdd, vec![to.load(&sum, self.lanes), va, vb], dtype);
        let indices = to.vector(self.lanes);
        Ok(Stmt::new(StmtKind::Store { buffer: sum.buffer.clone(), indices, value, predicate: None }))
    }
}

/// The surroundings of a block.
struct Within<'a> {
    function: &'a PrimFunc,
    /// The loop around the block.
    place: &'a StmtPath,
    block: &'a Realized<'a>,
    ranges: &'a Ranges,
}

impl Within<'_> {
    /// Whether the block changes nothing where its predicate does not hold: a factor is 0 there, of
    /// floats both, and all elements exist.
    fn may_always_run(&self, dot: DotProduct, sum: &Element, factors: [&Element; 2]) -> bool {
        let parts = parts(self.block.predicate);
        if parts.is_empty() {
            return true;
        }
        let stmts = self.place.around().iter().chain([self.place.stmt()]);
        let loops: Vec<Loop<'_>> = stmts.filter_map(Loop::from_stmt).collect();
        let facts = Facts { conditions: Vec::new(), loops: loops.clone(), ranges: self.ranges };
        let exists = |element: &Element| {
            facts.missing(&element.buffer, &element.by_loops(self.block, self.ranges)).is_empty()
        };
        let is_zero = |part: &Expr, factor: &Element| {
            let indices = factor.by_loops(self.block, self.ranges);
            let factor = Element { buffer: factor.buffer.clone(), indices };
            is_filled(&self.function.body, &factor, &loops, self.ranges) && self.is_zero_unless(part, &factor)
        };
        // A product of 0 and infinity would be no number.
        let adds_nothing = |part: &Expr| match dot.sum.is_integer() {
            true => factors.iter().any(|factor| is_zero(part, factor)),
            false => factors.iter().all(|factor| is_zero(part, factor)),
        };
        [sum, factors[0], factors[1]].into_iter().all(exists) && parts.iter().all(adds_nothing)
    }

    /// Whether the only block that writes an element writes 0 where a condition does not hold.
    fn is_zero_unless(&self, condition: &Expr, element: &Element) -> bool {
        let Some(writer) = only_writer(&self.function.body, &element.buffer) else { return false };
        let StmtKind::Store { value, .. } = &writer.body.kind else { return false };
        let ExprKind::Call { callee: Callee::Op(Op::IfThenElse), args } = &value.kind else { return false };
        let [guard, _, otherwise] = args.as_slice() else { return false };
        let is_zero = match &otherwise.kind {
            ExprKind::Float(value) => value.0 == 0,
            _ => otherwise.as_int() == Some(0),
        };
        if !is_zero || element.indices.len() != writer.iter_vars.len() {
            return false;
        }
        let mut by_loops = Substitution::new();
        for (axis, index) in writer.iter_vars.iter().zip(&element.indices) {
            by_loops.map_var(&axis.var, index.clone());
        }
        let Some(wanted) = less(condition) else { return false };
        parts(guard).iter().any(|part| {
            let found = less(&simplify::expr_with(&by_loops.expr(part), self.ranges));
            found.is_some_and(|found| is_same(&found, &wanted))
        })
    }
}

/// A condition `a < b` as `b - a`.
fn less(condition: &Expr) -> Option<Linear> {
    let ExprKind::Compare(CompareOp::Lt, a, b) = &condition.kind else { return None };
    Some(Linear::of(&(b.clone() - a.clone())))
}

fn is_same(one: &Linear, other: &Linear) -> bool {
    one.constant == other.constant
        && one.terms.len() == other.terms.len()
        && one.terms.iter().all(|term| other.terms.contains(term))
}

impl Walk {
    fn from_element(
        element: &Element,
        var: &Var,
        block: &Realized<'_>,
        ranges: &Ranges,
        lanes: &[u16],
    ) -> Option<Self> {
        let indices = element.by_loops(block, ranges);
        (!indices.iter().any(depends_on_memory)).then_some(())?;
        let at = |lane: u16| -> Vec<Expr> {
            let mut substitution = Substitution::new().with_var(var, Expr::int(lane.into(), var.dtype));
            let index = |index: &Expr| simplify::expr_with(&substitution.expr(index), ranges);
            indices.iter().map(index).collect()
        };
        let first = at(*lanes.first()?);
        let (start, outer) = first.split_last()?;
        let start = Linear::of(start);
        let mut distances = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let here = at(*lane);
            let (last, others) = here.split_last()?;
            let last = Linear::of(last);
            (others == outer && last.terms == start.terms).then_some(())?;
            distances.push(last.constant - start.constant);
        }
        Some(Self { first, distances })
    }

    fn is(&self, distance: impl Fn(i128) -> i128) -> bool {
        self.distances.iter().zip(0..).all(|(found, lane)| *found == distance(lane))
    }

    /// The indices of so many adjacent elements.
    fn vector(&self, lanes: u16) -> Vec<Expr> {
        let mut indices = self.first.clone();
        if let Some(last) = indices.pop() {
            let one = Expr::int(1, last.dtype);
            indices.push(last.ramp(one, lanes));
        }
        indices
    }

    fn load(&self, element: &Element, lanes: u16) -> Expr {
        let kind =
            ExprKind::Load { buffer: element.buffer.clone(), indices: self.vector(lanes), predicate: None };
        Expr::new(kind, DType { lanes, ..element.buffer.dtype })
    }
}

/// The element that a statement adds a product to, and the two factors, each cast to the sum's
/// type.
fn products(body: &Stmt, dtype: DType) -> Option<(Element, [Element; 2])> {
    let StmtKind::Store { buffer, indices, value, predicate: None } = &body.kind else { return None };
    (buffer.dtype == dtype).then_some(())?;
    let ExprKind::Binary(BinaryOp::Add, x, y) = &value.kind else { return None };
    let sum = Element { buffer: buffer.clone(), indices: indices.clone() };
    let term = if loaded(x).as_ref() == Some(&sum) {
        y
    } else if loaded(y).as_ref() == Some(&sum) {
        x
    } else {
        return None;
    };
    let ExprKind::Binary(BinaryOp::Mul, x, y) = &term.kind else { return None };
    let factor = |e: &Expr| match &e.kind {
        ExprKind::Cast(value) if e.dtype == dtype => loaded(value),
        _ => None,
    };
    Some((sum, [factor(x)?, factor(y)?]))
}

fn loaded(e: &Expr) -> Option<Element> {
    match &e.kind {
        ExprKind::Load { buffer, indices, predicate: None } if e.dtype.is_scalar() => {
            Some(Element { buffer: buffer.clone(), indices: indices.clone() })
        }
        _ => None,
    }
}
