//! Constant indices, and how many parameters there may be.

use super::*;
use crate::limits::{PARAMS_MAX, SIZES_MAX};

const OUTSIDE: &str = "is outside of buffer `A`";

/// A store to `A`, which has 4 × 8 elements, in a function with `n: int32`.
fn store(
    fill: impl FnOnce(&mut build::FunctionBuilder, &Buffer, &Expr),
) -> impl FnOnce(&mut build::FunctionBuilder) {
    |f| {
        let a = f.buffer("A", [4, 8], DType::FLOAT32);
        let n = f.scalar("n", DType::INT32);
        fill(f, &a, &n);
    }
}

fn at(row: i32, column: i32) -> impl FnOnce(&mut build::FunctionBuilder) {
    store(move |f, a, _| f.store(a, [row, column], float(0.0)))
}

/// ir: IR-E10.
#[test]
fn constant_indices_are_within_their_extent() {
    for (row, column) in [(0, 0), (3, 7)] {
        accepts(at(row, column));
    }
    rejects(at(4, 0), "index of axis 0 is outside of buffer `A`: expected 0 to 3, found 4");
    rejects(at(0, 8), "index of axis 1 is outside of buffer `A`: expected 0 to 7, found 8");
    rejects(at(-1, 0), "expected 0 to 3, found -1");
    // A load, and what constants make.
    rejects(store(|f, a, _| f.evaluate(a.at([3, 8]))), OUTSIDE);
    rejects(store(|f, a, _| f.store(a, [Expr::i32(2) * Expr::i32(2), Expr::i32(0)], float(0.0))), OUTSIDE);
    rejects(
        store(|f, a, _| {
            f.store(a, [Expr::int(4, DType::INT64).cast(DType::INT32), Expr::i32(0)], float(0.0))
        }),
        OUTSIDE,
    );
    rejects(store(|f, a, n| f.store(a, [n.clone(), Expr::i32(8)], float(0.0))), OUTSIDE);
    // What is not constant is asked when it runs.
    accepts(store(|f, a, n| f.store(a, [n.clone() + Expr::i32(4), Expr::i32(0)], float(0.0))));
    accepts(|f| {
        let n = f.size("n");
        let a = f.buffer("A", [&n], DType::FLOAT32);
        f.store(&a, [100], float(0.0));
    });
    accepts(|f| {
        let a = f.buffer("A", [0], DType::FLOAT32);
        f.store(&a, [0], float(0.0));
    });
}

/// ir: IR-E10.
#[test]
fn each_lane_of_a_constant_ramp_is_within_its_extent() {
    let ramp = |base: i32, stride: i32| {
        store(move |f, a, _| {
            let index = Expr::i32(base).ramp(Expr::i32(stride), 4);
            f.store(a, [Expr::i32(0), index], float(0.0).broadcast(4));
        })
    };
    for (base, stride) in [(0, 1), (4, 1), (0, 2), (7, -2), (3, 0)] {
        accepts(ramp(base, stride));
    }
    rejects(ramp(5, 1), "index of axis 1 is outside of buffer `A`: expected 0 to 7, found lanes from 5 to 8");
    rejects(ramp(2, -1), "found lanes from -1 to 2");
    rejects(ramp(0, 3), "found lanes from 0 to 9");
    // The stride of the last lane wraps: what that is, is known when it runs.
    accepts(ramp(0, i32::MAX));
    accepts(store(|f, a, n| {
        f.store(a, [Expr::i32(0), n.clone().ramp(Expr::i32(9), 4)], float(0.0).broadcast(4))
    }));
    rejects(
        store(|f, a, _| f.store(a, [Expr::i32(0), Expr::i32(8).broadcast(4)], float(0.0).broadcast(4))),
        "expected 0 to 7, found 8",
    );
}

/// ir: IR-E10.
#[test]
fn an_access_that_never_runs_may_have_any_index() {
    let outside = |f: &mut Body, a: &Buffer| f.store(a, [9, 9], float(0.0));
    let never = || Expr::compare(CompareOp::Lt, Expr::i32(3), Expr::i32(3));
    let always = || Expr::compare(CompareOp::Le, Expr::i32(3), Expr::i32(3));
    accepts(store(|f, a, _| f.if_then(never(), |f| outside(f, a))));
    accepts(store(|f, a, n| {
        let condition = n.clone().lt(Expr::i32(3)).and(Expr::bool(false));
        f.if_then(condition, |f| outside(f, a));
    }));
    accepts(store(|f, a, _| f.if_then_else(always(), |_| (), |f| outside(f, a))));
    accepts(store(|f, a, _| f.while_loop(never(), |f| outside(f, a))));
    accepts(store(|f, a, _| f.range("i", 0, |f, _| outside(f, a))));
    accepts(store(|f, a, _| {
        let choice = vec![never(), a.at([9, 9]), float(0.0)];
        f.store(a, [0, 0], Expr::call(Op::IfThenElse, choice, DType::FLOAT32));
    }));
    accepts(store(|f, a, _| {
        let right = Expr::compare(CompareOp::Lt, a.at([9, 9]), float(0.0));
        f.evaluate(Expr::bool(false).and(right));
    }));
    // An address alone, as of the element behind the last; but not what its index reads.
    let address = |a: &Buffer, row: Expr| {
        Expr::call(Op::AddressOf, vec![Expr::load(a, vec![row, Expr::i32(0)])], DType::HANDLE)
    };
    accepts(store(|f, a, _| {
        f.evaluate(Expr::call(Op::Isnullptr, vec![address(a, Expr::i32(4))], DType::BOOL))
    }));
    rejects(
        store(|f, a, _| {
            let row = a.at([9, 9]).cast(DType::INT32);
            f.evaluate(Expr::call(Op::Isnullptr, vec![address(a, row)], DType::BOOL));
        }),
        OUTSIDE,
    );
    accepts(store(|f, a, _| {
        let (indices, lanes) = (vec![Expr::i32(0), Expr::i32(8).broadcast(4)], DType::FLOAT32.with_lanes(4));
        let predicate = Some(Expr::bool(false).broadcast(4));
        f.evaluate(node(ExprKind::Load { buffer: a.clone(), indices, predicate }, lanes));
    }));
    // Elsewhere it is accessed.
    rejects(store(|f, a, n| f.if_then(n.clone().lt(Expr::i32(3)), |f| outside(f, a))), OUTSIDE);
    rejects(store(|f, a, _| f.if_then_else(never(), |_| (), |f| outside(f, a))), OUTSIDE);
    rejects(store(|f, a, _| f.if_then(always(), |f| outside(f, a))), OUTSIDE);
    rejects(store(|f, a, _| f.range("i", 1, |f, _| outside(f, a))), OUTSIDE);
    rejects(
        store(|f, a, _| {
            f.if_then(never(), |_| ());
            outside(f, a)
        }),
        OUTSIDE,
    );
}

/// ir: IR-E10.
#[test]
fn copies_of_unrolled_loops_have_any_index() {
    let one = |f: &mut build::FunctionBuilder| {
        let data = f.pointer("A", DType::FLOAT32, StorageScope::GLOBAL);
        let a = f.view("A", [4], DType::FLOAT32, &data);
        f.store(&a, [4], float(0.0));
    };
    assert!(problems(Stage::Scheduled, one).iter().any(|message| message.contains(OUTSIDE)));
    assert_eq!(problems(Stage::Flattened, one), Vec::<String>::new());
}

/// ir: IR-L1.
#[test]
fn parameters_and_sizes_are_counted() {
    let scalars = |count: usize| {
        move |f: &mut build::FunctionBuilder| {
            (0..count).for_each(|i| drop(f.scalar(format!("p{i}"), DType::INT32)))
        }
    };
    accepts(scalars(PARAMS_MAX));
    rejects(scalars(PARAMS_MAX + 1), "the function has 1025 parameters; expected at most 1024");
    assert_eq!(problems(Stage::Device, scalars(PARAMS_MAX + 1)), Vec::<String>::new());
    let sizes = |count: usize| {
        move |f: &mut build::FunctionBuilder| {
            let sizes: Vec<Expr> = (0..count).map(|i| f.size(format!("n{i}"))).collect();
            for (i, shape) in sizes.chunks(4).enumerate() {
                f.buffer(format!("A{i}"), shape, DType::FLOAT32);
            }
        }
    };
    accepts(sizes(SIZES_MAX));
    rejects(sizes(SIZES_MAX + 1), "the parameters bind 1025 sizes; expected at most 1024");
}
