//! Reduction through shared memory, with half of the threads combining two values at a time.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Stmt};

use super::{Reduction, named};
use crate::simplify;
use crate::threading::threads::barrier;

pub(super) fn statements(reduction: &Reduction<'_>) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    let (size, rank) = (reduction.group.size, &reduction.group.rank);
    // The input may be in memory that the barriers order.
    let given: Vec<Expr> =
        reduction.given().iter().map(|value| named("own", value, &mut stmts).expr()).collect();
    let shared = reduction.shared("red", size * reduction.group.groups, &mut stmts);
    let base = reduction.base(size);
    let own = simplify::expr(&(base.clone() + rank.clone()));
    for (buffer, value) in shared.iter().zip(&given) {
        stmts.push(Stmt::store(buffer, vec![own.clone()], value.clone()));
    }
    stmts.push(barrier("shared"));
    let less = |e: Expr, most: i128| Expr::compare(CompareOp::Lt, e, Expr::int(most, DType::INT32));
    let mut half = (size as u128).next_power_of_two() as i128 / 2;
    let mut left = size;
    while half > 0 {
        let mut inner = Vec::new();
        let other = simplify::expr(&Expr::binary(BinaryOp::Add, own.clone(), Expr::int(half, DType::INT32)));
        let mut at = |index: &Expr, name: &str| -> Vec<Expr> {
            let loads = shared.iter().map(|buffer| Expr::load(buffer, vec![index.clone()]));
            loads.map(|load| named(name, &load, &mut inner).expr()).collect()
        };
        let (lhs, rhs) = (at(&own, "own"), at(&other, "other"));
        let both = reduction.combined(&lhs, &rhs, &mut inner);
        for (buffer, value) in shared.iter().zip(&both) {
            inner.push(Stmt::store(buffer, vec![own.clone()], value.expr()));
        }
        // In a group whose size is not a power of two, some threads have no partner.
        let taking = half.min(left - half);
        stmts.push(Stmt::if_then(less(rank.clone(), taking), Stmt::seq(inner), None));
        stmts.push(barrier("shared"));
        left = half;
        half /= 2;
    }
    let results: Vec<Expr> = shared.iter().map(|buffer| Expr::load(buffer, vec![base.clone()])).collect();
    stmts.extend(reduction.stores(&results));
    stmts
}
