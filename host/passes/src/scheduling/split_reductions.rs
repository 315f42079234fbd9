//! Splitting of float reductions over adjacent elements into lanes.

mod choice;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrValue, Attrs, BinaryOp, Block, Buffer, Callee, CompareOp, DType, Effect, Expr, ExprKind, ForKind,
    IrModule, IterKind, Param, PrimFunc, Stmt, StmtKind, StorageScope, TargetCapabilities, Var, attr,
};

use crate::PassError;
use crate::lowering::vectorize::stays_on_vectors;
use crate::marks::is_unmarked;
use crate::scheduling::default_schedule::steps;
use crate::simplify::{self, is_pure};
use crate::walk::{depends_on_memory, map_bodies, vars_of};
use choice::Choice;

/// Size in bytes of the partial results of one reduction: a vector in the widest registers, several
/// in narrower ones.
const LANES_SIZE_BYTES: usize = 64;
/// Minimum number of terms per lane in a reduction of constant extent.
const TERMS_MIN: i128 = 2;

/// Splits the innermost reduction of a block into partial results, one for each lane of a vector,
/// which are combined at the end: the reductions of a block may associate in any order (rule IR-B6
/// of the IR), and a sequential sum must wait for each addition.
///
/// Applies to a serial loop without marks around one block, where the loop is an axis of the block:
/// the block's statements are reductions `S[..] = S[..] op x` of float32 or float64 by `+`, `*`,
/// `min` or `max`, perhaps by a name for the new value, and bindings; every access steps to the
/// adjacent element along the axis or stays; all of `x` can be vectors; nothing in it reads a
/// result. Or the statements choose the greatest or the least value together with its index
/// (`argmax`), where equal values are decided by the index. Constant extents must give each lane at
/// least two terms; the remainder is added one by one.
///
/// # Before and after
///
/// ```text
/// for k in range(77):                               with T.sblock("S"):
///     with T.sblock("S"):                               with T.init(): S[i] = 0
///         with T.init(): S[i] = 0                       for l in T.vectorized(16): S_lanes[l] = -0.0
///         S[i] = S[i] + E[i, k]            ->           for k in range(4): for l in T.vectorized(16):
///                                                           S_lanes[l] = S_lanes[l] + E[i, k * 16 + l]
///                                                       S[i] = S[i] + (S_lanes[0] + S_lanes[1] + ...)
///                                                       for k in range(13): S[i] = S[i] + E[i, k + 64]
/// ```
///
/// There are 64 bytes of partial results on every target, so that results do not depend on it, in
/// vectors as wide as the target's (`processor.vector_bits`): C compilers take comparisons of wider
/// ones apart.
///
/// # Requires / # Ensures
///
/// Requires a valid module. Applies only to hosts without threads, and to devices whose threads run
/// one after the other; otherwise the module is unchanged.
///
/// # Errors
///
/// None.
pub fn split_reductions(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    let is_host = capabilities.is_host && capabilities.execution.thread_axes.is_empty();
    if !is_host && !capabilities.execution.runs_threads_serially {
        return Ok(module.clone());
    }
    let scope = if is_host { StorageScope::GLOBAL } else { StorageScope::LOCAL };
    Ok(map_bodies(module, |function| {
        let splitter = Splitter { capabilities, shared: shared_memory(function), scope: scope.clone() };
        if function.s_tir { splitter.stmt(&function.body) } else { function.body.clone() }
    }))
}

/// Memory that may overlap with other memory: that of parameters, unless they are declared not to.
fn shared_memory(function: &PrimFunc) -> HashSet<Var> {
    if function.attrs.get(attr::NOALIAS) == Some(&AttrValue::Bool(true)) {
        return HashSet::new();
    }
    let data = function.params.iter().map(|param| match param {
        Param::Buffer(buffer) => buffer.data.clone(),
        Param::Var(var) => var.clone(),
    });
    data.collect()
}

struct Splitter<'a> {
    capabilities: &'a TargetCapabilities,
    shared: HashSet<Var>,
    /// Storage scope of the partial results.
    scope: StorageScope,
}

/// A reduction: `buffer[indices] = buffer[indices] op term`, or the other way round.
struct Reduction {
    op: BinaryOp,
    buffer: Buffer,
    indices: Vec<Expr>,
    term: Expr,
    own_first: bool,
    /// Buffer with one partial result for each lane.
    lanes: Buffer,
}

/// The statements of a block's body.
enum BodyStmt {
    Name(Var, Expr),
    Reduction(Reduction),
}

/// The loop and its axis.
struct Axis<'a> {
    var: &'a Var,
    min: &'a Expr,
    extent: &'a Expr,
}

impl Splitter<'_> {
    fn stmt(&self, stmt: &Stmt) -> Stmt {
        if let Some(split) = self.split(stmt) {
            return split.with_span(stmt.span);
        }
        stmt.map_children(&mut Expr::clone, &mut |s| self.stmt(s))
    }

    fn split(&self, stmt: &Stmt) -> Option<Stmt> {
        let StmtKind::For { var, min, extent, kind: ForKind::Serial, step: None, annotations, body } =
            &stmt.kind
        else {
            return None;
        };
        let StmtKind::BlockRealize { iter_values, predicate, block } = &body.kind else { return None };
        let plain = is_unmarked(annotations)
            && predicate.as_int() == Some(1)
            && is_unmarked(&block.annotations)
            && block.alloc_buffers.is_empty()
            && block.match_buffers.is_empty()
            && block.init.is_some()
            && block.iter_vars.iter().all(|axis| matches!(axis.kind, IterKind::Spatial | IterKind::Reduce));
        plain.then_some(())?;
        let position = only_axis(var, iter_values)?;
        let axis = block.iter_vars.get(position)?;
        let whole = axis.kind == IterKind::Reduce && axis.min == *min && axis.extent == *extent;
        (whole && is_pure(extent)).then_some(())?;
        let (lanes, width): (Box<dyn Lanes>, i128) = match self.parts(block, &axis.var) {
            Some(parts) => {
                let sums = Sums::from_parts(parts)?;
                let width = sums.width;
                (Box::new(sums), width)
            }
            None => (Box::new(self.choice(block, &axis.var)?), choice::WIDTH),
        };
        if let Some(extent) = extent.as_int() {
            (extent >= TERMS_MIN * width).then_some(())?;
        }
        let axis = Axis { var: &axis.var, min, extent };
        let vector = self.vector(&lanes.buffers(), width);
        let body = Body { lanes: &*lanes, axis: &axis, width, vector }.statements(&block.body);
        let positive = Expr::compare(CompareOp::Gt, extent.clone(), Expr::int(0, extent.dtype));
        let without = |list: &[Expr]| {
            let others = list.iter().enumerate().filter(|(index, _)| *index != position);
            others.map(|(_, value)| value.clone()).collect()
        };
        let mut iter_vars = block.iter_vars.clone();
        iter_vars.remove(position);
        // Without another reduction axis each iteration is the first.
        let reduces = iter_vars.iter().any(|axis| axis.kind == IterKind::Reduce);
        let (init, start) = if reduces { (block.init.clone(), None) } else { (None, block.init.clone()) };
        let body = Stmt::seq(start.into_iter().chain([body]));
        Some(Stmt::new(StmtKind::BlockRealize {
            iter_values: without(iter_values),
            predicate: simplify::expr(&positive),
            block: Arc::new(Block {
                name: block.name.clone(),
                iter_vars,
                reads: None,
                writes: None,
                init,
                alloc_buffers: lanes.buffers(),
                match_buffers: Vec::new(),
                annotations: Attrs::new(),
                body,
            }),
        }))
    }

    /// The number of lanes of a vector of the target, at most `width`: compilers may take wider
    /// comparisons apart.
    fn vector(&self, lanes: &[Buffer], width: i128) -> i128 {
        let element_bits =
            lanes.iter().map(|buffer| 8 * buffer.dtype.size_bytes() as i128).max().unwrap_or(8);
        let bits = self.capabilities.processor.vector_bits.map_or(i128::MAX, i128::from);
        let fits = |lanes: &i128| lanes * element_bits <= bits;
        std::iter::successors(Some(width), |lanes| (lanes % 2 == 0).then_some(lanes / 2))
            .find(|lanes| *lanes > 1 && fits(lanes))
            .unwrap_or(width)
    }

    /// The statements of the body, if each may be split along the axis.
    fn parts(&self, block: &Block, axis: &Var) -> Option<Vec<BodyStmt>> {
        let stmts = match &block.body.kind {
            StmtKind::Seq(stmts) => stmts.as_slice(),
            _ => std::slice::from_ref(&block.body),
        };
        let stmts = without_sums_by_name(stmts);
        let parts: Vec<BodyStmt> = stmts.iter().map(|stmt| part(stmt, &self.scope)).collect::<Option<_>>()?;
        let reductions = || {
            parts.iter().filter_map(|part| match part {
                BodyStmt::Reduction(reduction) => Some(reduction),
                BodyStmt::Name(..) => None,
            })
        };
        let written: HashSet<&Var> = reductions().map(|reduction| &reduction.buffer.data).collect();
        let names: HashSet<&Var> = parts
            .iter()
            .filter_map(|part| match part {
                BodyStmt::Name(var, _) => Some(var),
                BodyStmt::Reduction(_) => None,
            })
            .collect();
        let width = reductions().next()?.buffer.constant_lanes()?;
        let mut fine = written.len() == reductions().count();
        let mut by_neighbours = false;
        for part in &parts {
            let value = match part {
                BodyStmt::Name(_, value) => value,
                BodyStmt::Reduction(Reduction { buffer, indices, term, .. }) => {
                    fine &= buffer.constant_lanes() == Some(width);
                    for index in indices {
                        let vars = vars_of(index);
                        fine &= !vars.contains(axis) && vars.iter().all(|var| !names.contains(var));
                        fine &= !depends_on_memory(index);
                    }
                    term
                }
            };
            value.walk(&mut |e| fine &= self.is_for_lanes(e, axis, &written, &mut by_neighbours));
        }
        (fine && by_neighbours).then_some(parts)
    }

    /// The choice that a block makes, if it may be split along the axis.
    fn choice(&self, block: &Block, axis: &Var) -> Option<Choice> {
        let choice = Choice::from_body(&block.body, block.init.as_ref()?, &self.scope)?;
        let written: HashSet<&Var> = choice.data().collect();
        let outside = |index: &Expr| !vars_of(index).contains(axis) && !depends_on_memory(index);
        let (mut fine, mut by_neighbours) = (written.len() == 2 && choice.indices().all(outside), false);
        for new in choice.news() {
            new.walk(&mut |e| fine &= self.is_for_lanes(e, axis, &written, &mut by_neighbours));
        }
        (fine && by_neighbours).then_some(choice)
    }

    /// Returns true if a node of a term may be computed for several adjacent elements at once,
    /// before the results are written.
    fn is_for_lanes(&self, e: &Expr, axis: &Var, written: &HashSet<&Var>, by_neighbours: &mut bool) -> bool {
        match &e.kind {
            ExprKind::Load { buffer, indices, predicate: None } => {
                let steps = steps(indices, axis);
                *by_neighbours |= steps == Some(true);
                let overlaps = self.shared.contains(&buffer.data)
                    && written.iter().any(|data| self.shared.contains(*data));
                steps.is_some() && buffer.strides.is_empty() && !written.contains(&buffer.data) && !overlaps
            }
            ExprKind::Load { .. } => false,
            ExprKind::Call { callee: Callee::Op(op), .. } => {
                op.effect() == Effect::Pure && stays_on_vectors(*op, e.dtype, self.capabilities)
            }
            ExprKind::Call { .. } => false,
            _ => e.dtype.is_scalar(),
        }
    }
}

/// The axis whose value is the loop variable, if no other value mentions it.
fn only_axis(var: &Var, values: &[Expr]) -> Option<usize> {
    let mut with = values.iter().enumerate().filter(|(_, value)| vars_of(value).contains(var));
    let (position, value) = with.next()?;
    let bare = matches!(&value.kind, ExprKind::Var(found) if found == var);
    (bare && with.next().is_none()).then_some(position)
}

/// The statements, with values in place of names that are stored and used nowhere else: a block
/// with several results binds the new value of each before it stores one.
///
/// This keeps the meaning of statements that [`Splitter::parts`] accepts: each result is written
/// once, and read by nothing else.
fn without_sums_by_name(stmts: &[Stmt]) -> Vec<Stmt> {
    let mut uses: HashMap<Var, usize> = HashMap::new();
    for stmt in stmts {
        stmt.walk_exprs(&mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                *uses.entry(var.clone()).or_default() += 1;
            }
        });
    }
    let stored = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Store { value, predicate: None, .. } => match &value.kind {
            ExprKind::Var(var) if uses.get(var) == Some(&1) => Some(var.clone()),
            _ => None,
        },
        _ => None,
    };
    let names: HashSet<Var> = stmts.iter().filter_map(stored).collect();
    let mut values: HashMap<Var, Expr> = HashMap::new();
    let mut kept = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Bind { var, value } if names.contains(var) => {
                values.insert(var.clone(), value.clone());
            }
            StmtKind::Store { buffer, indices, .. } => {
                let value = stored(stmt).and_then(|var| values.remove(&var));
                let new = value.map(|value| Stmt::store(buffer, indices.clone(), value).with_span(stmt.span));
                kept.push(new.unwrap_or_else(|| stmt.clone()));
            }
            _ => kept.push(stmt.clone()),
        }
    }
    kept
}

fn part(stmt: &Stmt, scope: &StorageScope) -> Option<BodyStmt> {
    let (buffer, indices, value) = match &stmt.kind {
        StmtKind::Bind { var, value } => {
            return is_pure(value).then(|| BodyStmt::Name(var.clone(), value.clone()));
        }
        StmtKind::Store { buffer, indices, value, predicate: None } => (buffer, indices, value),
        _ => return None,
    };
    let ExprKind::Binary(op, a, b) = &value.kind else { return None };
    let wanted = matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max);
    (wanted && buffer.constant_lanes().is_some() && is_pure(value)).then_some(())?;
    let is_own = |e: &Expr| {
        matches!(&e.kind, ExprKind::Load { buffer: from, indices: at, predicate: None }
            if from == buffer && at == indices)
    };
    let (term, own_first) = if is_own(a) { (b, true) } else { (a, false) };
    (own_first || is_own(b)).then_some(())?;
    let size = vec![Expr::int(buffer.constant_lanes()?, DType::INT32)];
    let lanes = Buffer::new(format!("{}_lanes", buffer.name), size, buffer.dtype, scope.clone());
    Some(BodyStmt::Reduction(Reduction {
        op: *op,
        buffer: buffer.clone(),
        indices: indices.clone(),
        term: term.clone(),
        own_first,
        lanes,
    }))
}

/// Number of partial results of a reduction into a buffer.
trait Width {
    fn constant_lanes(&self) -> Option<i128>;
}

impl Width for Buffer {
    fn constant_lanes(&self) -> Option<i128> {
        let wanted = self.dtype == DType::FLOAT32 || self.dtype == DType::FLOAT64;
        wanted.then(|| (LANES_SIZE_BYTES / self.dtype.size_bytes()) as i128)
    }
}

impl Reduction {
    fn combined(&self, own: Expr, term: Expr) -> Expr {
        let (a, b) = if self.own_first { (own, term) } else { (term, own) };
        Expr::binary(self.op, a, b)
    }

    /// The identity of the operator; -0.0 plus 0.0 is 0.0.
    fn identity(&self) -> Expr {
        let value = match self.op {
            BinaryOp::Mul => 1.0,
            BinaryOp::Min => f64::INFINITY,
            BinaryOp::Max => f64::NEG_INFINITY,
            _ => -0.0,
        };
        Expr::float(value, self.buffer.dtype)
    }

    fn partial(&self, lane: &Expr) -> Expr {
        Expr::load(&self.lanes, vec![lane.clone()])
    }

    /// Combines all partial results, adjacent ones first, to keep dependency chains short.
    fn all_lanes(&self, width: i128) -> Expr {
        let mut values: Vec<Expr> =
            (0..width).map(|lane| self.partial(&Expr::int(lane, DType::INT32))).collect();
        while values.len() > 1 {
            let pairs = values.chunks(2).map(|pair| match pair {
                [a, b] => Expr::binary(self.op, a.clone(), b.clone()),
                _ => pair[0].clone(),
            });
            values = pairs.collect();
        }
        values.remove(0)
    }
}

/// What is computed in lanes.
trait Lanes {
    /// The buffers of partial results.
    fn buffers(&self) -> Vec<Buffer>;

    /// Sets the partial results of a lane.
    fn start(&self, lane: &Expr) -> Stmt;

    /// Takes one more step of the axis into those of a lane.
    fn step(&self, lane: &Expr) -> Stmt;

    /// Combines all partial results with the results.
    fn finish(&self) -> Stmt;
}

/// Independent reductions, each with an operator.
struct Sums {
    parts: Vec<BodyStmt>,
    width: i128,
}

impl Sums {
    fn from_parts(parts: Vec<BodyStmt>) -> Option<Self> {
        let mut sums = Self { parts, width: 0 };
        let width = sums.reductions().find_map(|reduction| reduction.buffer.constant_lanes())?;
        sums.width = width;
        Some(sums)
    }

    fn reductions(&self) -> impl Iterator<Item = &Reduction> {
        self.parts.iter().filter_map(|part| match part {
            BodyStmt::Reduction(reduction) => Some(reduction),
            BodyStmt::Name(..) => None,
        })
    }
}

impl Lanes for Sums {
    fn buffers(&self) -> Vec<Buffer> {
        self.reductions().map(|reduction| reduction.lanes.clone()).collect()
    }

    fn start(&self, lane: &Expr) -> Stmt {
        let starts = self
            .reductions()
            .map(|reduction| Stmt::store(&reduction.lanes, vec![lane.clone()], reduction.identity()));
        Stmt::seq(starts)
    }

    fn step(&self, lane: &Expr) -> Stmt {
        let parts = self.parts.iter().map(|part| match part {
            BodyStmt::Name(var, value) => {
                Stmt::new(StmtKind::Bind { var: var.clone(), value: value.clone() })
            }
            BodyStmt::Reduction(reduction) => {
                let sum = reduction.combined(reduction.partial(lane), reduction.term.clone());
                Stmt::store(&reduction.lanes, vec![lane.clone()], sum)
            }
        });
        Stmt::seq(parts)
    }

    fn finish(&self) -> Stmt {
        let results = self.reductions().map(|reduction| {
            let own = Expr::load(&reduction.buffer, reduction.indices.clone());
            let value = reduction.combined(own, reduction.all_lanes(self.width));
            Stmt::store(&reduction.buffer, reduction.indices.clone(), value)
        });
        Stmt::seq(results)
    }
}

/// Builder of the new body.
struct Body<'a> {
    lanes: &'a dyn Lanes,
    axis: &'a Axis<'a>,
    width: i128,
    /// Number of lanes of a vector.
    vector: i128,
}

impl Body<'_> {
    fn statements(&self, body: &Stmt) -> Stmt {
        let dtype = self.axis.extent.dtype;
        let width = || Expr::int(self.width, dtype);
        let extent = self.axis.extent.clone();
        let count = simplify::expr(&Expr::binary(BinaryOp::FloorDiv, extent.clone(), width()));
        let rest = simplify::expr(&Expr::binary(BinaryOp::FloorMod, extent.clone(), width()));
        let split = Stmt::seq([self.start(), self.main(&count), self.lanes.finish()]);
        let split = if extent.as_int().is_some() {
            split
        } else {
            Stmt::if_then(Expr::compare(CompareOp::Ge, extent, width()), split, None)
        };
        if rest.as_int() == Some(0) {
            return split;
        }
        let last = Var::new("k_rest", dtype);
        let value = self.axis.min.clone() + count * width() + last.expr();
        let tail = self.at(&value, body);
        Stmt::seq([split, Stmt::for_loop(last, rest, ForKind::Serial, tail)])
    }

    /// The statement at a value of the axis, with fresh names.
    fn at(&self, value: &Expr, stmt: &Stmt) -> Stmt {
        Substitution::new().fresh().with_var(self.axis.var, simplify::expr(value)).stmt(stmt)
    }

    /// All lanes, a vector at a time.
    fn vectors(&self, make: impl Fn(&Expr) -> Stmt) -> Stmt {
        let vectors = (0..self.width / self.vector).map(|at| {
            let lane = Var::new("lane", DType::INT32);
            let body = make(&simplify::expr(&(lane.expr() + Expr::int(at * self.vector, DType::INT32))));
            Stmt::for_loop(lane, Expr::int(self.vector, DType::INT32), ForKind::Vectorized, body)
        });
        Stmt::seq(vectors)
    }

    fn start(&self) -> Stmt {
        self.vectors(|lane| self.lanes.start(lane))
    }

    fn main(&self, count: &Expr) -> Stmt {
        let dtype = self.axis.extent.dtype;
        let outer = Var::new("k_outer", dtype);
        let body = self.vectors(|lane| {
            let step = outer.expr() * Expr::int(self.width, dtype) + lane.clone().cast(dtype);
            self.at(&(self.axis.min.clone() + step), &self.lanes.step(lane))
        });
        Stmt::for_loop(outer, count.clone(), ForKind::Serial, body)
    }
}
