//! Rows: nests one after the other whose outer loops count the same, such as those of a softmax,
//! run row by row.
//!
//! What one nest computes of a row stays in the caches until the next reads it, and intermediate
//! results shrink to a row. A chain with several products, such as attention, runs by blocks of
//! rows, which products need.

use std::sync::Arc;

use chipdock_ir::{Buffer, Expr, ExprKind, PrimFunc, Stmt, StmtKind};

use super::leaf::{Leaf, innermost, lists, loads};
use super::product::Product;
use super::spread::threads;
use crate::scheduling::schedule::{BlockRef, Schedule, ScheduleError, Tail};

/// Least number of rows: fewer leave threads without work.
const ROWS_MIN: i128 = 4;
/// Bounds of the number of rows of a block for products, and the number that is best.
const BLOCK: [i128; 3] = [24, 160, 64];

/// Nests that run row by row.
pub(super) struct Rows {
    /// Their blocks, in order.
    blocks: Vec<Arc<str>>,
    /// The number of outer loops that count rows.
    depth: usize,
    /// The number of rows of a block, if products need several.
    rows: Option<i64>,
    /// Whether a parallel loop is around them.
    is_inside: bool,
    /// The number of loops of the last nest.
    n_loops: usize,
}

/// A nest with what it makes.
struct Member {
    leaf: Leaf,
    product: Option<Product>,
}

impl Member {
    fn output(&self) -> Option<(&Buffer, &[Expr])> {
        match &self.leaf.block.body.kind {
            StmtKind::Store { buffer, indices, predicate: None, .. } => Some((buffer, indices)),
            _ => None,
        }
    }

    /// The indices of its loads from a buffer.
    fn loads(&self, buffer: &Buffer) -> Vec<Vec<Expr>> {
        loads(&self.leaf.block.body, buffer)
    }

    /// The number of outer loops, at most `most`, that are spatial axes and the first indices of
    /// each element.
    fn depth(&self, elements: &[Vec<Expr>], most: usize) -> usize {
        let fits = |at: &usize| {
            let Some(axis) = self.leaf.axis(*at) else { return false };
            let var = &self.leaf.block.iter_vars[axis].var;
            let is_axis = |indices: &Vec<Expr>| {
                indices
                    .get(*at)
                    .is_some_and(|index| matches!(&index.kind, ExprKind::Var(index) if index == var))
            };
            self.leaf.is_spatial(*at) && self.leaf.extent(*at).is_some() && elements.iter().all(is_axis)
        };
        (0..most).take_while(fits).count()
    }
}

impl Rows {
    /// The first group of nests of a function that is worth it, among those that were not tried.
    pub(super) fn find(function: &PrimFunc, tried: &[Arc<str>]) -> Option<Self> {
        let mut found = Vec::new();
        lists(&function.body, false, &mut found);
        for (stmts, is_inside) in found {
            for run in runs(&stmts, is_inside) {
                let group = groups(function, run).into_iter().find(|group| !tried.contains(&group.name()));
                if group.is_some() {
                    return group;
                }
            }
        }
        None
    }

    /// The name of the last block.
    pub(super) fn name(&self) -> Arc<str> {
        self.blocks.last().cloned().unwrap_or_else(|| "".into())
    }

    fn from_members(function: &PrimFunc, members: &[Member], depth: usize) -> Option<Self> {
        let (last, others) = members.split_last()?;
        (!others.is_empty() && depth > 0).then_some(())?;
        // A row has more than one element, and there are several rows.
        let several = last.leaf.iterations(0..depth).is_none_or(|rows| rows >= ROWS_MIN);
        let products = members.iter().filter(|member| member.product.is_some()).count();
        let needs_block = members
            .iter()
            .any(|member| member.product.as_ref().is_some_and(|product| product.is_row(depth - 1)));
        let rows = if needs_block { Some(block(last.leaf.extent(depth - 1)?.as_int()?)?) } else { None };
        let closed = others.iter().all(|member| {
            member.output().is_some_and(|(buffer, _)| {
                loads(&function.body, buffer).len()
                    == members.iter().map(|m| m.loads(buffer).len()).sum::<usize>()
            })
        });
        (several && closed && products != 1).then(|| Self {
            blocks: members.iter().map(|member| Arc::clone(&member.leaf.block.name)).collect(),
            depth,
            rows,
            is_inside: last.leaf.is_inside,
            n_loops: last.leaf.heads.len(),
        })
    }

    pub(super) fn schedule(&self, schedule: &mut Schedule) -> Result<(), ScheduleError> {
        let Some((last, others)) = self.blocks.split_last() else { return Ok(()) };
        let block = schedule.get_sblock(last)?;
        let mut rows = innermost(schedule, &block, self.n_loops)?;
        rows.truncate(self.depth);
        if let (Some(size), Some(of)) = (self.rows, rows.pop_if(|_| self.rows.is_some())) {
            let parts = schedule.split(&of, &[None, Some(size)], Tail::Predicate)?;
            rows.extend(parts.into_iter().take(1));
        }
        let Some(at) = rows.last().cloned() else { return Err(ScheduleError::new("rows without a loop")) };
        let mut moved: Vec<BlockRef> = Vec::new();
        for name in others.iter().rev() {
            let block = schedule.get_sblock(name)?;
            schedule.compute_at(&block, &at)?;
            moved.push(block);
        }
        for block in &moved {
            schedule.compact(block)?;
        }
        if self.is_inside {
            return Ok(());
        }
        let before = schedule.clone();
        let spread = if rows.len() > 1 { schedule.fuse(&rows) } else { Ok(at) };
        if spread.and_then(|of| threads(schedule, &of)).is_err() {
            *schedule = before;
            return threads(schedule, &rows[0]);
        }
        Ok(())
    }
}

/// A divisor of a number of rows for the blocks of products.
fn block(rows: i128) -> Option<i64> {
    let [least, most, best] = BLOCK;
    let fits = (least..=most.min(rows)).filter(|size| rows % size == 0);
    fits.min_by_key(|size| (size - best).abs()).and_then(|size| i64::try_from(size).ok())
}

/// Nests that follow each other.
fn runs(stmts: &[Stmt], is_inside: bool) -> Vec<Vec<Member>> {
    let mut found = vec![Vec::new()];
    for stmt in stmts {
        match Leaf::from_stmt(stmt, is_inside).filter(|leaf| !leaf.is_guarded) {
            Some(leaf) => {
                let product = Product::from_leaf(&leaf);
                if let Some(run) = found.last_mut() {
                    run.push(Member { leaf, product });
                }
            }
            None => found.push(Vec::new()),
        }
    }
    found
}

/// Groups of nests of a run, formed from the last to the first.
fn groups(function: &PrimFunc, mut run: Vec<Member>) -> Vec<Rows> {
    let mut found = Vec::new();
    while !run.is_empty() {
        let (from, depth) = start(function, &run);
        found.extend(Rows::from_members(function, &run[from..], depth));
        // If there is one product, what follows it may be a group.
        let single = run[from..].iter().rposition(|member| member.product.is_some());
        if let Some(at) = single
            && at > 0
        {
            let (after, depth) = start(function, &run[from + at + 1..]);
            if after == 0 {
                found.extend(Rows::from_members(function, &run[from + at + 1..], depth));
            }
        }
        run.truncate(from);
    }
    found
}

/// Where the group of the last nest of a run begins, and its number of outer loops.
fn start(function: &PrimFunc, run: &[Member]) -> (usize, usize) {
    let Some((last, before)) = run.split_last() else { return (0, 0) };
    let mut depth = last.depth(&[], last.leaf.heads.len().saturating_sub(1));
    let mut from = before.len();
    for (at, member) in before.iter().enumerate().rev() {
        match joined(function, member, &run[at + 1..], depth) {
            Some(joined) => (from, depth) = (at, joined),
            None => break,
        }
    }
    (from, depth)
}

/// The number of outer loops that a nest has in common with a group that follows it.
fn joined(function: &PrimFunc, member: &Member, group: &[Member], most: usize) -> Option<usize> {
    let (buffer, indices) = member.output()?;
    function.alloc_buffers.contains(buffer).then_some(())?;
    let most = most.min(member.leaf.heads.len().saturating_sub(1));
    let mut depth = member.depth(&[indices.to_vec()], most);
    for reader in group {
        let loads = reader.loads(buffer);
        depth = if loads.is_empty() { depth } else { reader.depth(&loads, depth) };
        let same = |at: &usize| reader.leaf.extent(*at) == member.leaf.extent(*at);
        depth = (0..depth).take_while(same).count();
    }
    let rows = member.leaf.iterations(0..depth);
    (depth > 0 && rows.is_none_or(|rows| rows >= ROWS_MIN)).then_some(depth)
}
