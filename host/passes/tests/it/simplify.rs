//! Simplification changes no value.

use chipdock_interpret::{Arg, Array, Interpreter};
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
    /// a / c * c * k + b + a % c * k, or the remainder first: whether floor division, whether cast,
    /// a and b, c and k.
    Join([bool; 3], Box<Tree>, Box<Tree>, [i64; 2]),
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
            3 => (any::<[bool; 3]>(), boxed(), boxed(), -3..40_i64, -3..20_i64)
                .prop_map(|(how, a, b, c, k)| Tree::Join(how, a, b, [c, k])),
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
        Tree::Join([floor, cast, reversed], a, b, [c, k]) => {
            let (a, b) = (expr(a, x, y), expr(b, x, y));
            let (div, rem) = if *floor {
                (BinaryOp::FloorDiv, BinaryOp::FloorMod)
            } else {
                (BinaryOp::Div, BinaryOp::Mod)
            };
            let own = if *cast { DType::INT16 } else { dtype };
            let part = |op| {
                let part = Expr::binary(op, a.clone().cast(own), Expr::int((*c).into(), own));
                part.cast(dtype) * Expr::int((*k).into(), dtype)
            };
            let quotient = part(div) * Expr::int((*c).into(), dtype);
            if *reversed { part(rem) + b + quotient } else { quotient + b + part(rem) }
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

    /// PASS-L3, for every integer type, with what is known about the variables and without.
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

/// A quotient and its remainder are what was divided, wherever they stand in a sum.
#[test]
fn quotients_and_remainders_join() {
    let (x, y) = (Var::new("x", DType::INT32), Var::new("y", DType::INT32));
    let short = |e: &Expr| print::expr(&simplify::expr(e));
    let c = Expr::i32;
    for (div, rem, sign, modulo) in
        [(BinaryOp::FloorDiv, BinaryOp::FloorMod, "//", "%"), (BinaryOp::Div, BinaryOp::Mod, "/", "mod")]
    {
        let quotient = |by: i32| Expr::binary(div, x.expr(), c(by));
        let rest = |by: i32| Expr::binary(rem, x.expr(), c(by));
        assert_eq!(short(&(quotient(7) * c(7) + rest(7))), "x");
        assert_eq!(short(&(rest(7) * c(3) + y.expr() + quotient(7) * c(21))), "x * 3 + y", "{sign} {modulo}");
        let wide = |e: Expr| e.cast(DType::INT64);
        let sum = wide(quotient(5)) * Expr::int(5, DType::INT64) + wide(rest(5));
        assert_eq!(short(&sum), r#"T.Cast("int64", x)"#);
        // Another divisor, another factor, nothing positive.
        for kept in [
            quotient(7) * c(7) + rest(5),
            quotient(7) * c(14) + rest(7),
            quotient(-7) * c(-7) + rest(-7),
            x.expr() + rest(7),
        ] {
            assert_ne!(short(&kept), "x");
            let text = short(&kept);
            assert!(text.contains("7") || text.contains("5"), "{text}");
        }
    }
    // All digits of a number.
    let digit = |by: i32, of: i32| {
        Expr::binary(BinaryOp::FloorMod, Expr::binary(BinaryOp::FloorDiv, x.expr(), c(by)), c(of))
    };
    let outer = Expr::binary(BinaryOp::FloorDiv, x.expr(), c(35));
    let inner = Expr::binary(BinaryOp::FloorMod, x.expr(), c(7));
    assert_eq!(short(&(outer * c(35) + digit(7, 5) * c(7) + inner)), "x");
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
