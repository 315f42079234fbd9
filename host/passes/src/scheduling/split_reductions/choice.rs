//! Reductions that choose: the greatest or the least of some values, with the place where it is
//! (`argmax`, `argmin`).

use chipdock_ir::{Buffer, CompareOp, DType, Expr, ExprKind, Stmt, StmtKind, StorageScope, Var};

use super::{LANES_SIZE_BYTES, Lanes};
use crate::simplify::is_pure;

/// Number of partial results: as many as values of 32 bits.
pub(super) const WIDTH: i128 = (LANES_SIZE_BYTES / 4) as i128;

/// Two results of a block, of which every iteration keeps both or takes both new ones: where the
/// value is greater (or less), or where it is the same and the index less (or greater). That is an
/// order of all pairs, so that the best pair does not depend on the order of iterations.
pub(super) struct Choice {
    results: [Chosen; 2],
}

/// One of the results.
struct Chosen {
    buffer: Buffer,
    indices: Vec<Expr>,
    new: Expr,
    /// Whether the old result stays, in terms of the old ones and the new ones.
    stays: Expr,
    /// The value before the first iteration.
    start: Expr,
    lanes: Buffer,
}

impl Chosen {
    fn own(&self) -> Expr {
        Expr::load(&self.buffer, self.indices.clone())
    }

    fn partial(&self, lane: &Expr) -> Expr {
        Expr::load(&self.lanes, vec![lane.clone()])
    }
}

impl Choice {
    /// The choice that the body of a block makes, by names for both new values, with an init that
    /// sets both.
    pub(super) fn from_body(body: &Stmt, init: &Stmt, scope: &StorageScope) -> Option<Self> {
        let StmtKind::Seq(stmts) = &body.kind else { return None };
        let [first, second, stores @ ..] = stmts.as_slice() else { return None };
        let (a, b) = (named_select(first)?, named_select(second)?);
        let [x, y] = stores else { return None };
        let (x, y) = (stored_name(x)?, stored_name(y)?);
        let (a_at, b_at) = match (x.0 == a.0, x.0 == b.0, y.0 == a.0, y.0 == b.0) {
            (true, false, false, true) => (x, y),
            (false, true, true, false) => (y, x),
            _ => return None,
        };
        let mut results = Vec::new();
        for ((_, stays, kept, new), (_, buffer, indices)) in [(a, a_at), (b, b_at)] {
            let own = Expr::load(buffer, indices.to_vec());
            let wanted = buffer.strides.is_empty() && is_pure(new) && *kept == own;
            let start = wanted.then(|| start(init, buffer, indices)).flatten()?;
            let size = vec![Expr::int(WIDTH, DType::INT32)];
            let lanes = Buffer::new(format!("{}_lanes", buffer.name), size, buffer.dtype, scope.clone());
            results.push(Chosen {
                buffer: buffer.clone(),
                indices: indices.to_vec(),
                new: new.clone(),
                stays: stays.clone(),
                start,
                lanes,
            });
        }
        let results: [Chosen; 2] = results.try_into().ok()?;
        let choice = Self { results };
        (choice.has_types() && choice.is_an_order()).then_some(choice)
    }

    /// The value is one of float32 or a narrow integer, the other an integer.
    fn has_types(&self) -> bool {
        let is_narrow = |dtype: DType| dtype == DType::FLOAT32 || dtype == DType::INT32;
        let is_index = |dtype: DType| dtype == DType::INT32 || dtype == DType::INT64;
        let [a, b] = &self.results;
        let (a, b) = (a.buffer.dtype, b.buffer.dtype);
        (is_narrow(a) && is_index(b)) || (is_index(a) && is_narrow(b))
    }

    /// Whether one result, the index, stays where
    /// `own > new or own == new and own_index < new_index`, with each comparison in either
    /// direction, and the other, the value, there too, or where `own > new`: what is equal may
    /// change places.
    fn is_an_order(&self) -> bool {
        (0..2).any(|value| {
            let (order, stays) = (&self.results[1 - value].stays, &self.results[value].stays);
            let ExprKind::Or(a, b) = &order.kind else { return false };
            let of = |first: &Expr, second: &Expr| {
                let ExprKind::And(x, y) = &second.kind else { return false };
                let with = |x: &Expr, y: &Expr| {
                    self.compares(x, value, |op| op == CompareOp::Eq) && self.is_strict(y, 1 - value)
                };
                self.is_strict(first, value)
                    && (with(x, y) || with(y, x))
                    && (stays == order || stays == first)
            };
            of(a, b) || of(b, a)
        })
    }

    /// Whether an expression says that the old value of a result is less than the new one, or
    /// greater.
    fn is_strict(&self, e: &Expr, result: usize) -> bool {
        self.compares(e, result, |op| matches!(op, CompareOp::Lt | CompareOp::Gt))
    }

    /// Whether an expression compares the old and the new value of a result, in this way.
    fn compares(&self, e: &Expr, result: usize, how: impl Fn(CompareOp) -> bool) -> bool {
        let ExprKind::Compare(op, a, b) = &e.kind else { return false };
        let Chosen { new, .. } = &self.results[result];
        let own = self.results[result].own();
        how(*op) && ((*a == own && b == new) || (*b == own && a == new))
    }

    pub(super) fn data(&self) -> impl Iterator<Item = &Var> {
        self.results.iter().map(|result| &result.buffer.data)
    }

    pub(super) fn indices(&self) -> impl Iterator<Item = &Expr> {
        self.results.iter().flat_map(|result| &result.indices)
    }

    pub(super) fn news(&self) -> impl Iterator<Item = &Expr> {
        self.results.iter().map(|result| &result.new)
    }

    /// The results after one more pair. All values are bound before any is stored, and the
    /// condition reads no memory then: a compiler need not evaluate its second part in some lanes
    /// only.
    fn choose(&self, own: [Expr; 2], new: [Expr; 2], store: impl Fn(&Chosen, Expr) -> Stmt) -> Stmt {
        let mut stmts = Vec::new();
        let mut named = |name: &str, value: Expr| {
            let var = Var::new(name, value.dtype);
            stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            var.expr()
        };
        let (own, new) = (own.map(|own| named("own", own)), new.map(|new| named("new", new)));
        let values = self.results.iter().zip(own.iter().zip(&new)).map(|(result, (kept, taken))| {
            let stays = self.replaced(&result.stays, &own, &new);
            store(result, Expr::select(stays, kept.clone(), taken.clone()))
        });
        stmts.extend(values);
        Stmt::seq(stmts)
    }

    /// The expression with other old and new values.
    fn replaced(&self, e: &Expr, own: &[Expr; 2], new: &[Expr; 2]) -> Expr {
        for (result, (own, new)) in self.results.iter().zip(own.iter().zip(new)) {
            if *e == result.own() {
                return own.clone();
            }
            if *e == result.new {
                return new.clone();
            }
        }
        e.map_children(&mut |e| self.replaced(e, own, new))
    }
}

impl Lanes for Choice {
    fn buffers(&self) -> Vec<Buffer> {
        self.results.iter().map(|result| result.lanes.clone()).collect()
    }

    fn start(&self, lane: &Expr) -> Stmt {
        let stores = self.results.iter();
        Stmt::seq(stores.map(|result| Stmt::store(&result.lanes, vec![lane.clone()], result.start.clone())))
    }

    fn step(&self, lane: &Expr) -> Stmt {
        let own = [0, 1].map(|at: usize| self.results[at].partial(lane));
        let new = [0, 1].map(|at: usize| self.results[at].new.clone());
        self.choose(own, new, |result, value| Stmt::store(&result.lanes, vec![lane.clone()], value))
    }

    fn finish(&self) -> Stmt {
        let lane = Var::new("lane", DType::INT32);
        let own = [0, 1].map(|at: usize| self.results[at].own());
        let new = [0, 1].map(|at: usize| self.results[at].partial(&lane.expr()));
        let body =
            self.choose(own, new, |result, value| Stmt::store(&result.buffer, result.indices.clone(), value));
        Stmt::for_loop(lane, Expr::int(WIDTH, DType::INT32), chipdock_ir::ForKind::Serial, body)
    }
}

/// A name for a selection: the name, the condition, and both values.
type Named<'a> = (&'a Var, &'a Expr, &'a Expr, &'a Expr);

fn named_select(stmt: &Stmt) -> Option<Named<'_>> {
    let StmtKind::Bind { var, value } = &stmt.kind else { return None };
    match &value.kind {
        ExprKind::Select(condition, a, b) => Some((var, condition, a, b)),
        _ => None,
    }
}

/// A store of a name: the name, and where.
fn stored_name(stmt: &Stmt) -> Option<(&Var, &Buffer, &[Expr])> {
    let StmtKind::Store { buffer, indices, value, predicate: None } = &stmt.kind else { return None };
    match &value.kind {
        ExprKind::Var(var) => Some((var, buffer, indices)),
        _ => None,
    }
}

/// The constant that the init stores in an element.
fn start(init: &Stmt, buffer: &Buffer, indices: &[Expr]) -> Option<Expr> {
    let StmtKind::Seq(stmts) = &init.kind else { return None };
    stmts.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Store { buffer: to, indices: at, value, predicate: None }
            if to == buffer
                && at == indices
                && matches!(value.kind, ExprKind::Int(_) | ExprKind::Float(_)) =>
        {
            Some(value.clone())
        }
        _ => None,
    })
}
