//! Reduction by shuffles within warps.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op, Stmt, TargetCapabilities};

use super::{Reduction, equals, named};
use crate::simplify;
use crate::threading::threads::barrier;

/// The ops that reduction by shuffles needs.
const NEEDED: [Op; 3] = [Op::WarpActivemask, Op::WarpShuffle, Op::WarpShuffleDown];

/// Parameters of a reduction by shuffles.
pub(super) struct Shuffles {
    warp: i128,
    /// Number of warps in a group; at most 1 if a group is a part of a warp.
    warps: i128,
}

impl Shuffles {
    /// Returns `None` if the target lacks the ops or the group does not fit warps.
    pub(super) fn for_reduction(
        capabilities: &TargetCapabilities,
        reduction: &Reduction<'_>,
    ) -> Option<Self> {
        let warp = i128::from(capabilities.execution.warp_size?);
        let size = reduction.group.size;
        let has = NEEDED.iter().all(|op| capabilities.execution.has_native(*op));
        let fits_type =
            reduction.values.iter().all(|v| matches!(v.dtype.bits, 32 | 64) && !v.dtype.is_handle());
        let is_power = |n: i128| n > 0 && n & (n - 1) == 0;
        let is_part = size <= warp && is_power(size);
        let is_whole = size % warp == 0 && size / warp <= warp;
        let fits = is_power(warp) && (2..=64).contains(&warp) && (is_part || is_whole);
        (has && fits_type && fits && reduction.group.is_contiguous)
            .then_some(Self { warp, warps: size / warp })
    }

    /// Returns true if the reduction goes through shared memory too.
    pub(super) fn needs_memory(&self) -> bool {
        self.warps > 1
    }

    pub(super) fn statements(&self, reduction: &Reduction<'_>) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        let given: Vec<Expr> =
            reduction.given().iter().map(|value| named("own", value, &mut stmts).expr()).collect();
        if !self.needs_memory() {
            let results = self.within(reduction, given, reduction.group.size, &mut stmts);
            stmts.extend(reduction.stores(&results));
            return stmts;
        }
        let int = |value: i128| Expr::int(value, DType::INT32);
        let firsts = self.within(reduction, given, self.warp, &mut stmts);
        let shared = reduction.shared("red", self.warps * reduction.group.groups, &mut stmts);
        let (rank, base) = (&reduction.group.rank, reduction.base(self.warps));
        let part = |op: BinaryOp, n: i128| simplify::expr(&Expr::binary(op, rank.clone(), int(n)));
        let at = simplify::expr(&(base.clone() + part(BinaryOp::FloorDiv, self.warp)));
        let stores = shared.iter().zip(&firsts);
        let stores = stores.map(|(buffer, value)| Stmt::store(buffer, vec![at.clone()], value.clone()));
        let is_first = equals(&part(BinaryOp::FloorMod, self.warp), 0);
        stmts.push(Stmt::if_then(is_first, Stmt::seq(stores), None));
        stmts.push(barrier("shared"));
        // Each part of a warp reduces the results of all warps, so that no second barrier is
        // needed.
        let width = (self.warps as u128).next_power_of_two() as i128;
        let lane = part(BinaryOp::FloorMod, width);
        let from = simplify::expr(&(base + lane.clone()));
        let values = shared.iter().zip(&reduction.reducer.identity).map(|(buffer, identity)| {
            let load = Expr::load(buffer, vec![from.clone()]);
            if width == self.warps {
                return load;
            }
            let inside = Expr::compare(CompareOp::Lt, lane.clone(), int(self.warps));
            let dtype = load.dtype;
            Expr::call(Op::IfThenElse, vec![inside, load, identity.clone()], dtype)
        });
        let values: Vec<Expr> = values.collect();
        let values: Vec<Expr> = values.iter().map(|value| named("first", value, &mut stmts).expr()).collect();
        let results = self.within(reduction, values, width, &mut stmts);
        stmts.extend(reduction.stores(&results));
        stmts
    }

    /// Reduces parts of a warp of `width` lanes each; every lane gets the result.
    fn within(
        &self,
        reduction: &Reduction<'_>,
        mut values: Vec<Expr>,
        width: i128,
        stmts: &mut Vec<Stmt>,
    ) -> Vec<Expr> {
        let int = |value: i128| Expr::int(value, DType::INT32);
        let mask = named("mask", &Expr::call(Op::WarpActivemask, Vec::new(), DType::UINT32), stmts);
        let shuffle = |op: Op, value: &Expr, lane: i128, name: &str, stmts: &mut Vec<Stmt>| {
            let args = vec![mask.expr(), value.clone(), int(lane), int(width), int(self.warp)];
            named(name, &Expr::call(op, args, value.dtype), stmts).expr()
        };
        let mut delta = width / 2;
        while delta > 0 {
            let others: Vec<Expr> = values
                .iter()
                .map(|value| shuffle(Op::WarpShuffleDown, value, delta, "other", stmts))
                .collect();
            values = reduction.combined(&values, &others, stmts).iter().map(|var| var.expr()).collect();
            delta /= 2;
        }
        values.iter().map(|value| shuffle(Op::WarpShuffle, value, 0, "all", stmts)).collect()
    }
}
