//! Simplification changes no value.

use chipdock_ir::interpret::{Arg, Array, Interpreter};
use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, Op, Stmt, StmtKind, Var, build, print};
use chipdock_passes::simplify::{self, Ranges};
use proptest::prelude::*;

/// An expression without variables of its own: leaves are numbers of `x`, `y` or constants.
#[derive(Clone, Debug)]
enum Tree {
    X,
    Y,
    Constant(i64),
    Binary(usize, Box<Tree>, Box<Tree>),
    Choice(usize, Box<Tree>, Box<Tree>, Box<Tree>),
    Shift(bool, Box<Tree>, i64),
    Narrow(Box<Tree>),
    /// (a * c + b) divided by c, as split loops and flat indices have it; which operator, and c.
    Split(usize, Box<Tree>, Box<Tree>, i64),
}

fn trees() -> impl Strategy<Value = Tree> {
    let small = prop_oneof![Just(0_i64), Just(1), Just(-1), Just(16), Just(7), -40..40_i64, any::<i64>()];
    let leaf = prop_oneof![Just(Tree::X), Just(Tree::Y), small.prop_map(Tree::Constant)];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            6 => (0..BinaryOp::ALL.len(), boxed(), boxed()).prop_map(|(op, a, b)| Tree::Binary(op, a, b)),
            1 => (0..CompareOp::ALL.len(), boxed(), boxed(), boxed()).prop_map(|(op, a, b, c)| Tree::Choice(op, a, b, c)),
            1 => (any::<bool>(), boxed(), -3..70_i64).prop_map(|(left, a, n)| Tree::Shift(left, a, n)),
            1 => boxed().prop_map(Tree::Narrow),
            3 => (3..7_usize, boxed(), boxed(), prop_oneof![Just(16_i64), 2..40_i64])
                .prop_map(|(op, a, b, c)| Tree::Split(op, a, b, c)),
        ]
    })
}

fn expr(tree: &Tree, x: &Expr, y: &Expr) -> Expr {
    let dtype = x.dtype;
    match tree {
        Tree::X => x.clone(),
        Tree::Y => y.clone(),
        Tree::Constant(value) => Expr::int((*value).into(), dtype),
        Tree::Binary(op, a, b) => Expr::binary(BinaryOp::ALL[*op], expr(a, x, y), expr(b, x, y)),
        Tree::Choice(op, a, b, c) => {
            let (a, b) = (expr(a, x, y), expr(b, x, y));
            let condition = Expr::compare(CompareOp::ALL[*op], a.clone(), b);
            Expr::select(condition, a, expr(c, x, y))
        }
        Tree::Shift(left, a, count) => {
            let op = if *left { Op::ShiftLeft } else { Op::ShiftRight };
            Expr::call(op, vec![expr(a, x, y), Expr::int((*count).into(), dtype)], dtype)
        }
        Tree::Split(op, a, b, c) => {
            let c = || Expr::int((*c).into(), dtype);
            Expr::binary(BinaryOp::ALL[*op], expr(a, x, y) * c() + expr(b, x, y), c())
        }
        Tree::Narrow(a) => expr(a, x, y).cast(DType::INT16).cast(dtype),
    }
}

/// The value of an expression of two variables, by the interpreter.
fn value(e: &Expr, vars: &[Var; 2], at: [i128; 2]) -> i128 {
    let mut f = build::function("f");
    let out = f.buffer("O", [1], e.dtype);
    for (var, value) in vars.iter().zip(at) {
        f.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: Expr::int(value, var.dtype) }));
    }
    f.store(&out, [0], e.clone());
    let module = build::module([f.finish()]);
    let mut args = [Arg::Tensor(Array::zeros(e.dtype, &[1]))];
    Interpreter::new(&module).run("f", &mut args).unwrap();
    let [Arg::Tensor(array)] = args else { unreachable!("one tensor") };
    array.to_int()[0]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// L3, for every integer type, with what is known about the variables and without.
    #[test]
    fn values_stay(
        tree in trees(),
        which in 0..4_usize,
        low in -50..50_i128,
        span in 0..100_i128,
        at in 0..100_i128,
        wild in any::<i64>(),
    ) {
        let dtype = [DType::INT32, DType::INT64, DType::UINT8, DType::UINT32][which];
        let vars = [Var::new("x", dtype), Var::new("y", dtype)];
        let e = expr(&tree, &vars[0].expr(), &vars[1].expr());
        let (least, _) = dtype.integer_range().unwrap();
        let low = low.max(least);
        let x = low + at.min(span);
        let y = dtype.wrap(wild.into());
        let mut ranges = Ranges::new();
        ranges.set(&vars[0], low, low + span);
        let simple = simplify::expr_with(&e, &ranges);
        prop_assert_eq!(simple.dtype, e.dtype);
        let (before, after) = (value(&e, &vars, [x, y]), value(&simple, &vars, [x, y]));
        prop_assert_eq!(before, after, "x = {}, y = {}: {} became {}", x, y, print::expr(&e), print::expr(&simple));
        let blind = simplify::expr(&e);
        let after = value(&blind, &vars, [y, x]);
        prop_assert_eq!(value(&e, &vars, [y, x]), after, "{} became {}", print::expr(&e), print::expr(&blind));
        let (low, high) = ranges.of(&e);
        prop_assert!((low..=high).contains(&before), "{before} outside of {low}..={high}: {}", print::expr(&e));
    }
}

fn simple(e: &Expr, x: &Var, low: i128, high: i128) -> String {
    let mut ranges = Ranges::new();
    ranges.set(x, low, high);
    print::expr(&simplify::expr_with(e, &ranges))
}

#[test]
fn index_arithmetic_becomes_short() {
    let (i, j) = (Var::new("i", DType::INT32), Var::new("j", DType::INT32));
    let c = |value: i32| Expr::i32(value);
    let op = Expr::binary;
    let mut ranges = Ranges::new();
    ranges.set(&i, 0, 63);
    ranges.set(&j, 0, 15);
    let short = |e: &Expr| print::expr(&simplify::expr_with(e, &ranges));
    let sum = i.expr() * c(16) + j.expr();
    assert_eq!(short(&op(BinaryOp::FloorDiv, sum.clone(), c(16))), "i");
    assert_eq!(short(&op(BinaryOp::FloorMod, sum.clone(), c(16))), "j");
    assert_eq!(short(&Expr::compare(CompareOp::Lt, sum.clone(), c(1024))), "T.bool(True)");
    assert_eq!(short(&sum.cast(DType::INT64)), r#"T.Cast("int64", i) * T.int64(16) + T.Cast("int64", j)"#);
    assert_eq!(short(&(op(BinaryOp::Sub, c(3), i.expr()) + i.expr())), "3");
}

/// What may wrap is left alone: 2^28 * 16 is 0 in int32.
#[test]
fn sums_that_may_wrap_are_not_divided() {
    let x = Var::new("x", DType::INT32);
    let e = Expr::binary(BinaryOp::FloorDiv, x.expr() * Expr::i32(16), Expr::i32(16));
    assert_eq!(simple(&e, &x, 0, 1 << 20), "x");
    assert_eq!(simple(&e, &x, 0, 1 << 30), "x * 16 // 16");
}

#[test]
fn floats_are_not_reassociated() {
    let x = Var::new("x", DType::FLOAT32).expr();
    let c = |value: f64| Expr::float(value, DType::FLOAT32);
    for kept in [
        (x.clone() + c(0.5)) + c(0.5),
        x.clone() + c(0.0),
        x.clone() * c(0.0),
        Expr::binary(BinaryOp::Sub, x.clone(), x.clone()),
    ] {
        assert_eq!(simplify::expr(&kept), kept);
    }
    assert_eq!(simplify::expr(&(x.clone() * c(1.0))), x);
    assert_eq!(simplify::expr(&(c(0.1) + c(0.2))), c(f64::from(0.1_f32 + 0.2_f32)));
}
