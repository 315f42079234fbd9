//! INT-B1 to INT-B4: the bounds hold for simulated backends, and are not much wider than necessary.

use chipdock_interpret::{Arg, Array, Interpreter, Mismatch, Outcome, Output, compare};
use chipdock_ir::accuracy;
use chipdock_ir::{BinaryOp, Buffer, CompareOp, DType, Expr, ForKind, Op, PrimFunc, Stmt, StmtKind, build};
use chipdock_programs::Random;
use half::f16;
use proptest::prelude::*;

use crate::{apply, floats, ints, last};

const F32: DType = DType::FLOAT32;
const EPS: f64 = 1.0 / (1 << 23) as f64;

fn bounded(function: PrimFunc, args: Vec<Array>) -> Outcome {
    let module = build::module([function]);
    let mut args: Vec<Arg> = args.into_iter().map(Arg::Tensor).collect();
    Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap()
}

/// A reduction of A[n] (and B[n]) of a type into C[1].
fn reduction(
    n: usize,
    dtype: DType,
    start: f64,
    term: impl Fn(&Buffer, &Buffer, &Expr) -> Expr,
    op: BinaryOp,
) -> PrimFunc {
    let mut f = build::function("f");
    let a = f.buffer("A", [n as i32], dtype);
    let b = f.buffer("B", [n as i32], dtype);
    let c = f.buffer("C", [1], dtype);
    f.range("k", n as i32, |f, k| {
        f.block("C", |f| {
            let vk = f.reduce("vk", n as i32, &k);
            f.init(|f| f.store(&c, [0], Expr::float(start, dtype)));
            f.store(&c, [0], Expr::binary(op, c.at([0]), term(&a, &b, &vk)));
        });
    });
    f.finish()
}

fn reduced(function: PrimFunc, a: &Array, b: &Array) -> (f64, f64) {
    let outcome = bounded(function, vec![a.clone(), b.clone(), Array::zeros(a.dtype, &[1])]);
    let output = outcome.output("C").unwrap();
    (output.array.to_f64()[0], output.bound(0))
}

/// A sum in the order of a random tree.
fn tree_sum(
    mut values: Vec<f64>,
    picks: &mut impl FnMut(usize) -> usize,
    add: impl Fn(f64, f64) -> f64,
) -> f64 {
    while values.len() > 1 {
        let a = values.swap_remove(picks(values.len()));
        let at = picks(values.len());
        values[at] = add(a, values[at]);
    }
    values[0]
}

/// Numbers that look random, from a seed.
fn numbers(seed: u64) -> impl FnMut() -> u64 {
    let mut random = Random::new(seed);
    move || random.bits()
}

proptest! {
    /// ir: IR-B6, IR-N10.
    #[test]
    fn int_b3_a_sum_in_any_order_is_within_the_bound(values in prop::collection::vec(-1e3_f32..1e3, 2..300), seed in any::<u64>()) {
        let array = Array::from_f32(&[values.len()], &values);
        let sum = reduction(values.len(), F32, 0.0, |a, _, k| a.at([k]), BinaryOp::Add);
        let (value, bound) = reduced(sum, &array, &array);
        let mut next = numbers(seed);
        let wide: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        for _ in 0..8 {
            let any = tree_sum(wide.clone(), &mut |n| next() as usize % n, |a, b| f64::from(a as f32 + b as f32));
            prop_assert!((any - value).abs() <= bound, "{} {} {}", any, value, bound);
        }
        // And no wider than n roundings of all magnitudes on both sides.
        let magnitudes: f64 = wide.iter().map(|value| value.abs()).sum();
        prop_assert!(bound <= 1.01 * values.len() as f64 * EPS * magnitudes);
    }

    /// ir: IR-N10, IR-B6.
    #[test]
    fn int_b2_b3_a_dot_product_may_be_fused_and_reordered(
        pairs in prop::collection::vec((-10.0_f32..10.0, -10.0_f32..10.0), 2..100), seed in any::<u64>()
    ) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let dot = reduction(a.len(), F32, 0.0, |a, b, k| a.at([k]) * b.at([k]), BinaryOp::Add);
        let (value, bound) = reduced(dot, &Array::from_f32(&[a.len()], &a), &Array::from_f32(&[b.len()], &b));
        let mut next = numbers(seed);
        for fused in [false, true] {
            let mut order: Vec<usize> = (0..a.len()).collect();
            for at in 0..order.len() {
                order.swap(at, next() as usize % (at + 1));
            }
            let any = order.iter().fold(0.0_f32, |sum, &k| if fused { a[k].mul_add(b[k], sum) } else { sum + a[k] * b[k] });
            prop_assert!((f64::from(any) - value).abs() <= bound, "{} {} {}", any, value, bound);
        }
    }

    #[test]
    fn int_b3_halves_too(values in prop::collection::vec(-8.0_f64..8.0, 2..60), seed in any::<u64>()) {
        let array = floats(DType::FLOAT16, &values);
        let sum = reduction(values.len(), DType::FLOAT16, 0.0, |a, _, k| a.at([k]), BinaryOp::Add);
        let (value, bound) = reduced(sum, &array, &array);
        let mut next = numbers(seed);
        let any = tree_sum(array.to_f64(), &mut |n| next() as usize % n, |a, b| f16::from_f64(a + b).to_f64());
        prop_assert!((any - value).abs() <= bound, "{} {} {}", any, value, bound);
    }

    /// ir: IR-N10.
    #[test]
    fn int_b1_b2_any_conforming_backend_is_within_the_bound(
        tree in expression(), inputs in prop::collection::vec(-4.0_f32..4.0, 3), seed in any::<u64>()
    ) {
        let arrays: Vec<Array> = inputs.iter().map(|&x| Array::from_f32(&[1], &[x])).collect();
        let outcome = apply(&arrays, F32, |x| tree.ir(x));
        let output = outcome.outputs.last().unwrap();
        let (value, bound) = (output.array.to_f64()[0], output.bound(0));
        let mut next = numbers(seed);
        for _ in 0..20 {
            let other = f64::from(tree.backend(&inputs, &mut next).0);
            if bound.is_finite() {
                let same = other == value || (other.is_nan() && value.is_nan()) || (other - value).abs() <= bound;
                prop_assert!(same, "{:?}: {} against {} within {}", tree, other, value, bound);
            }
        }
    }
}

/// The new value of a reduction may have a name, which must then not be used for anything else.
#[test]
fn int_b3_new_values_may_have_names() {
    let values: Vec<f32> = (0..300).map(|at| (at as f32 * 0.731).sin() * 100.0).collect();
    let sum = |uses_twice: bool| {
        let mut f = build::function("f");
        let a = f.buffer("A", [300], F32);
        let (c, d) = (f.buffer("C", [1], F32), f.buffer("D", [1], F32));
        f.range("k", 300, |f, k| {
            f.block("C", |f| {
                let vk = f.reduce("vk", 300, &k);
                f.init(|f| {
                    f.store(&c, [0], Expr::float(0.0, F32));
                    f.store(&d, [0], Expr::float(0.0, F32));
                });
                let s = f.bind("s", c.at([0]) + a.at(&vk));
                let q = f.bind("q", d.at([0]) + a.at(&vk) * a.at(&vk));
                f.store(&c, [0], s.clone());
                f.store(&d, [0], if uses_twice { q + s * Expr::float(0.0, F32) } else { q });
            });
        });
        let args = [Array::from_f32(&[300], &values), Array::zeros(F32, &[1]), Array::zeros(F32, &[1])];
        let outcome = bounded(f.finish(), args.to_vec());
        ["C", "D"].map(|name| outcome.output(name).unwrap().bound(0))
    };
    let term = |a: &Buffer, _: &Buffer, k: &Expr| a.at(k);
    let array = Array::from_f32(&[300], &values);
    let (_, plain) = reduced(reduction(300, F32, 0.0, term, BinaryOp::Add), &array, &array);
    let named = sum(false);
    assert_eq!(named[0], plain);
    assert!(named[1] > 0.0, "{named:?}");
    assert!(sum(true)[0] < plain);
}

/// An expression that is both IR and a backend that is as inaccurate as it may be.
#[derive(Clone, Debug)]
enum Tree {
    Input(usize),
    Constant(f32),
    Binary(BinaryOp, Box<Tree>, Box<Tree>),
    Unary(Op, Box<Tree>),
    Select(CompareOp, Box<[Tree; 4]>),
    Lazy(CompareOp, Box<[Tree; 4]>),
    ToInt(Box<Tree>),
}

fn expression() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0_usize..3).prop_map(Tree::Input), (-2.0_f32..2.0).prop_map(Tree::Constant)];
    leaf.prop_recursive(5, 24, 4, |inner| {
        use BinaryOp::{Add, Div, Max, Min, Mul, Sub};
        let op = prop::sample::select(vec![Add, Sub, Mul, Mul, Div, Min, Max]);
        let unary = prop::sample::select(vec![
            Op::Exp,
            Op::Tanh,
            Op::Sqrt,
            Op::Rsqrt,
            Op::Abs,
            Op::Sin,
            Op::Cos,
            Op::Floor,
            Op::Round,
            Op::Sigmoid,
            Op::Erf,
            Op::Log,
            Op::Cosh,
            Op::Atan,
            Op::Log1p,
            Op::Tan,
        ]);
        let compare = prop::sample::select(vec![CompareOp::Lt, CompareOp::Ge, CompareOp::Eq]);
        let four = [inner.clone(), inner.clone(), inner.clone(), inner.clone()];
        prop_oneof![
            (op, inner.clone(), inner.clone()).prop_map(|(op, a, b)| Tree::Binary(op, a.into(), b.into())),
            (unary, inner.clone()).prop_map(|(op, a)| Tree::Unary(op, a.into())),
            (compare.clone(), four.clone()).prop_map(|(op, four)| Tree::Select(op, four.into())),
            (compare, four).prop_map(|(op, four)| Tree::Lazy(op, four.into())),
            inner.prop_map(|a| Tree::ToInt(a.into())),
        ]
    })
}

impl Tree {
    fn ir(&self, x: &[Expr]) -> Expr {
        match self {
            Self::Input(at) => x[*at].clone(),
            Self::Constant(value) => Expr::float(f64::from(*value), F32),
            Self::Binary(op, a, b) => Expr::binary(*op, a.ir(x), b.ir(x)),
            Self::Unary(op, a) => Expr::call(*op, vec![a.ir(x)], F32),
            Self::Select(op, four) => {
                let [a, b, c, d] = &**four;
                Expr::select(Expr::compare(*op, a.ir(x), b.ir(x)), c.ir(x), d.ir(x))
            }
            Self::Lazy(op, four) => {
                let [a, b, c, d] = &**four;
                let condition = Expr::compare(*op, a.ir(x), b.ir(x));
                Expr::call(Op::IfThenElse, vec![condition, c.ir(x), d.ir(x)], F32)
            }
            Self::ToInt(a) => a.ir(x).cast(DType::INT32).cast(F32),
        }
    }

    /// The value, and the factors if it is a product that may still be fused.
    #[expect(clippy::too_many_lines, reason = "one arm per operation")]
    fn backend(&self, x: &[f32], next: &mut impl FnMut() -> u64) -> (f32, Option<(f32, f32)>) {
        let one = |tree: &Self, next: &mut _| tree.backend(x, next).0;
        let value = match self {
            Self::Input(at) => x[*at],
            Self::Constant(value) => *value,
            Self::Binary(op, a, b) => {
                let ((a, fusable), b) = (a.backend(x, next), one(b, next));
                match op {
                    BinaryOp::Add => match fusable {
                        Some((p, q)) if next().is_multiple_of(2) => p.mul_add(q, b),
                        _ => a + b,
                    },
                    BinaryOp::Sub => match fusable {
                        Some((p, q)) if next().is_multiple_of(2) => p.mul_add(q, -b),
                        _ => a - b,
                    },
                    BinaryOp::Mul => return (a * b, Some((a, b))),
                    BinaryOp::Div => a / b,
                    BinaryOp::Min => {
                        if a < b {
                            a
                        } else {
                            b
                        }
                    }
                    _ => {
                        if a > b {
                            a
                        } else {
                            b
                        }
                    }
                }
            }
            Self::Unary(op, a) => {
                let a = f64::from(one(a, next));
                let exact = match op {
                    Op::Exp => a.exp(),
                    Op::Tanh => a.tanh(),
                    Op::Sqrt => a.sqrt(),
                    Op::Rsqrt => 1.0 / a.sqrt(),
                    Op::Abs => a.abs(),
                    Op::Sin => a.sin(),
                    Op::Cos => a.cos(),
                    Op::Floor => a.floor(),
                    Op::Round => a.round_ties_even(),
                    Op::Sigmoid => 1.0 / (1.0 + (-a).exp()),
                    Op::Log => a.ln(),
                    Op::Cosh => a.cosh(),
                    Op::Atan => a.atan(),
                    Op::Log1p => a.ln_1p(),
                    Op::Tan => a.tan(),
                    _ => erf(a),
                };
                let mut value = exact as f32;
                // As far off as it may be; rounding took half a unit of that.
                let ulps = accuracy::ulps(*op, F32);
                if ulps > 0.5 && value.is_finite() {
                    let off = next() % (ulps as u64);
                    let up = next().is_multiple_of(2);
                    (0..off).for_each(|_| value = if up { value.next_up() } else { value.next_down() });
                }
                value
            }
            Self::Select(op, four) | Self::Lazy(op, four) => {
                let [a, b, c, d] = &**four;
                let (a, b) = (one(a, next), one(b, next));
                let holds = match op {
                    CompareOp::Lt => a < b,
                    CompareOp::Ge => a >= b,
                    _ => a == b,
                };
                one(if holds { c } else { d }, next)
            }
            Self::ToInt(a) => one(a, next) as i32 as f32,
        };
        (value, None)
    }
}

/// The error function by Simpson's rule: slow, and another way than the interpreter's.
fn erf(x: f64) -> f64 {
    let steps = 2000;
    let h = x / f64::from(steps);
    let f = |t: f64| (-t * t).exp();
    let inner: f64 = (1..steps).map(|n| f(f64::from(n) * h) * if n % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (std::f64::consts::FRAC_2_SQRT_PI * h / 3.0 * (f(0.0) + inner + f(x))).clamp(-1.0, 1.0)
}

#[test]
fn int_b1_one_rounding_of_exact_operands_is_exact() {
    let arrays = [floats(F32, &[0.1, 3.0, -2.0]), floats(F32, &[0.7, 1e-3, 9.0])];
    for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Div, BinaryOp::Max] {
        let outcome = apply(&arrays, F32, |x| Expr::binary(op, x[0].clone(), x[1].clone()));
        assert_eq!(outcome.outputs[2].bounds, Some(vec![0.0; 3]), "{op:?}");
    }
    // A product may be contracted into a sum (INT-B2), unless it is exact.
    let outcome = apply(&arrays, F32, |x| x[0].clone() * x[1].clone());
    let bounds = outcome.outputs[2].bounds.clone().unwrap();
    assert!(bounds[0] > 0.0 && bounds[0] < 0.07 * EPS && bounds[2] == 0.0, "{bounds:?}");
}

/// ir: IR-N11.
#[test]
fn int_b1_a_function_is_off_by_its_units() {
    let outcome = apply(&[floats(F32, &[1.0, -1.0])], F32, |x| Expr::call(Op::Exp, x.to_vec(), F32));
    for (value, bound) in last(&outcome).to_f64().into_iter().zip(outcome.outputs[1].bounds.clone().unwrap())
    {
        let unit = value * EPS;
        assert!(bound >= 1.5 * unit && bound <= 4.0 * unit, "{value} {bound}");
    }
}

#[test]
fn int_b3_an_order_that_is_kind_here_may_be_unkind_there() {
    // Pairs that cancel at once, here; all of one sign first, there.
    let mut next = numbers(7);
    let large: Vec<f32> = (0..500).map(|_| 1e6 + (next() % 1_000_000) as f32 / 3.0).collect();
    let pairs: Vec<f32> = large.iter().flat_map(|&x| [x, -x]).collect();
    let array = Array::from_f32(&[pairs.len()], &pairs);
    let sum = reduction(pairs.len(), F32, 0.0, |a, _, k| a.at([k]), BinaryOp::Add);
    let (value, bound) = reduced(sum, &array, &array);
    let up = large.iter().fold(0.0_f32, |sum, x| sum + x);
    // In the same order: in reverse each partial sum comes again, and most of its rounding with it.
    let down = large.iter().fold(up, |sum, x| sum - x);
    assert!((f64::from(down) - value).abs() <= bound, "{down} {value} {bound}");
    // The roundings of the order taken here would not have covered it.
    let here: f64 = large.iter().map(|&x| f64::from(x) * EPS / 2.0).sum();
    assert!(f64::from(down).abs() > here, "{down} {here}");
}

#[test]
fn int_b3_max_is_exact_in_any_order_but_for_a_nan() {
    let max = || reduction(3, F32, f64::NEG_INFINITY, |a, _, k| a.at([k]), BinaryOp::Max);
    let array = floats(F32, &[1.0, 5.0, 3.0]);
    assert_eq!(reduced(max(), &array, &array), (5.0, 0.0));
    let array = floats(F32, &[f64::NAN, 5.0, 3.0]);
    assert_eq!(reduced(max(), &array, &array).1, f64::INFINITY);
}

#[test]
fn int_b3_where_some_order_overflows_there_is_no_bound() {
    let sum = |n| reduction(n, F32, 0.0, |a, _, k| a.at([k]), BinaryOp::Add);
    let array = floats(F32, &[3e38, -3e38, 3e38]);
    assert_eq!(reduced(sum(3), &array, &array).1, f64::INFINITY);
    // An infinite term makes an infinity in every order.
    let array = floats(F32, &[1.0, f64::INFINITY, 3.0]);
    assert_eq!(reduced(sum(3), &array, &array), (f64::INFINITY, 0.0));
    let product = reduction(4, F32, 1.0, |a, _, k| a.at([k]), BinaryOp::Mul);
    let array = floats(F32, &[1e30, 1e-30, 1e30, 1e-30]);
    assert_eq!(reduced(product, &array, &array).1, f64::INFINITY);
}

/// ir: IR-N10.
#[test]
fn int_b3_a_plain_loop_keeps_its_order() {
    let mut f = build::function("f");
    let a = f.buffer("A", [3], F32);
    let c = f.buffer("C", [1], F32);
    f.range("k", 3, |f, k| f.store(&c, [0], c.at([0]) + a.at([&k])));
    let outcome = bounded(f.finish(), vec![floats(F32, &[0.1, 1e8, -1e8]), floats(F32, &[0.0])]);
    assert_eq!(outcome.output("C").unwrap().bound(0), 0.0);
}

/// `exp(A[0])` against the interpreter's own value of it: a comparison that a backend may decide
/// either way.
fn on_the_edge(body: impl FnOnce(&mut build::Body, Expr, &Buffer)) -> Output {
    let edge =
        last(&apply(&[floats(F32, &[1.0])], F32, |x| Expr::call(Op::Exp, x.to_vec(), F32))).to_f64()[0];
    let mut f = build::function("f");
    let a = f.buffer("A", [1], F32);
    let c = f.buffer("C", [4], F32);
    let condition =
        Expr::compare(CompareOp::Ge, Expr::call(Op::Exp, vec![a.at([0])], F32), Expr::float(edge, F32));
    body(&mut f, condition, &c);
    let outcome = bounded(f.finish(), vec![floats(F32, &[1.0]), floats(F32, &[5.0, 6.0, 7.0, 8.0])]);
    outcome.output("C").unwrap().clone()
}

#[test]
fn int_b4_a_branch_on_the_edge_is_run_both_ways() {
    let float = |value| Expr::float(value, F32);
    let values = |output: &Output| (output.array.to_f64(), output.bounds.clone().unwrap());
    let output = on_the_edge(|f, edge, c| f.store(c, [0], Expr::select(edge, float(1.0), float(3.0))));
    assert_eq!(values(&output), (vec![1.0, 6.0, 7.0, 8.0], vec![2.0, 0.0, 0.0, 0.0]));
    let output = on_the_edge(|f, edge, c| {
        f.store(c, [0], Expr::call(Op::IfThenElse, vec![edge, float(1.0), float(3.0)], F32));
    });
    assert_eq!(values(&output).1, [2.0, 0.0, 0.0, 0.0]);
    // A store on one side, two on the other, within loops.
    let output = on_the_edge(|f, edge, c| {
        f.if_then_else(
            edge,
            |f| f.range("i", 2, |f, i| f.store(c, [&i], c.at([&i]) + float(10.0))),
            |f| f.store(c, [2], float(0.0)),
        );
    });
    assert_eq!(values(&output), (vec![15.0, 16.0, 7.0, 8.0], vec![10.0, 10.0, 7.0, 0.0]));
    // Branches within branches.
    let output = on_the_edge(|f, edge, c| {
        f.if_then(edge.clone(), |f| {
            f.store(c, [3], float(0.0));
            f.if_then(edge, |f| f.store(c, [3], float(100.0)));
        });
    });
    assert_eq!(values(&output), (vec![5.0, 6.0, 7.0, 100.0], vec![0.0, 0.0, 0.0, 100.0]));
    // Booleans and integers that hang on it are within reach, or anything.
    let output = on_the_edge(|f, edge, c| f.store(c, [1], edge.cast(DType::INT32).cast(F32) * float(2.0)));
    assert!((values(&output).1[1] - 2.0).abs() < 1e-5);
}

#[test]
fn int_b4_unbounded_operations_have_no_bound() {
    let float = |value| Expr::float(value, F32);
    // A loop whose length hangs on it.
    let output = on_the_edge(|f, edge, c| {
        f.range("i", edge.cast(DType::INT32), |f, _| f.store(c, [0], float(1.0)));
    });
    assert_eq!(output.n_unbounded(), 4);
    let output = on_the_edge(|f, edge, c| {
        let body = Stmt::seq([Stmt::store(c, vec![Expr::i32(0)], float(1.0)), Stmt::new(StmtKind::Break)]);
        f.push(Stmt::new(StmtKind::While { condition: edge, body }));
    });
    assert_eq!(output.n_unbounded(), 4);
    // An index that hangs on it.
    let output = on_the_edge(|f, edge, c| f.store(c, [edge.cast(DType::INT32)], float(1.0)));
    assert_eq!(output.n_unbounded(), 4);
    let output = on_the_edge(|f, edge, c| f.store(c, [0], c.at([&edge.cast(DType::INT32)])));
    assert_eq!(output.bounds.unwrap(), [f64::INFINITY, 0.0, 0.0, 0.0]);
    // The other side would fail: it says nothing about this one.
    let output = on_the_edge(|f, edge, c| {
        f.if_then_else(edge, |f| f.store(c, [0], float(1.0)), |f| f.store(c, [9], float(1.0)));
    });
    assert_eq!(output.n_unbounded(), 4);
    // A loop that is left on one side only.
    let output = on_the_edge(|f, edge, c| {
        f.range("i", 4, |f, i| {
            f.store(c, [&i], float(1.0));
            f.if_then(edge, |f| f.push(Stmt::new(StmtKind::Break)));
        });
    });
    assert_eq!(output.n_unbounded(), 4);
}

#[test]
fn int_b4_a_cast_to_an_integer_on_the_edge() {
    // round(exp(log(x))) is x, but a backend may be just below the half or above it.
    let round = |x: &[Expr]| {
        let near = Expr::call(Op::Exp, vec![Expr::call(Op::Log, x.to_vec(), F32)], F32);
        near.cast(DType::INT32)
    };
    let outcome = apply(&[floats(F32, &[7.0, 7.5])], DType::INT32, round);
    assert_eq!(outcome.outputs[1].bounds, Some(vec![1.0, 0.0]));
    let mut actual = ints(DType::INT32, &[6, 7]);
    assert_eq!(last(&outcome).to_int()[1], 7);
    compare(&actual, &outcome.outputs[1]).unwrap();
    actual = ints(DType::INT32, &[6, 8]);
    let mismatch = compare(&actual, &outcome.outputs[1]).unwrap_err();
    assert!(matches!(mismatch, Mismatch::Value { ref index, n_wrong: 1, .. } if index == &[1]), "{mismatch}");
}

#[test]
fn a_comparison_reports_how_near_it_was() {
    let expected = Output {
        parameter: 0,
        name: "C".into(),
        array: Array::from_f32(&[2, 2], &[1.0, f32::NAN, f32::INFINITY, 0.0]),
        bounds: Some(vec![0.5, 0.0, 0.0, f64::INFINITY]),
    };
    let report =
        compare(&Array::from_f32(&[2, 2], &[1.25, -f32::NAN, f32::INFINITY, 9e9]), &expected).unwrap();
    assert_eq!((report.n_lanes, report.n_unbounded), (4, 1));
    assert_eq!((report.max_error, report.max_error_over_bound), (0.25, 0.5));
    let mismatch =
        compare(&Array::from_f32(&[2, 2], &[1.75, 1.0, f32::INFINITY, 0.0]), &expected).unwrap_err();
    let text = "at [0, 0]: expected 1.0 within 5e-1, found 1.75 (off by 7.5e-1); 2 of 4 values are off";
    assert_eq!(mismatch.to_string(), text);
    let mismatch = compare(&Array::zeros(F32, &[4]), &expected).unwrap_err();
    assert_eq!(mismatch.to_string(), "expected float32 of shape [2, 2], found float32 of shape [4]");
    let minus = Array::from_f32(&[2, 2], &[1.0, f32::NAN, f32::NEG_INFINITY, 0.0]);
    assert!(compare(&minus, &expected).is_err());
}

#[test]
fn softmax_is_bounded_tightly() {
    let n = 64;
    let mut f = build::function("f");
    let a = f.buffer("A", [n], F32);
    let b = f.buffer("B", [n], F32);
    let e = f.buffer("E", [n], F32);
    let c = f.buffer("C", [1], F32);
    f.for_loop("i", n, ForKind::Parallel, |f, i| {
        f.store(&e, [&i], Expr::call(Op::Exp, vec![a.at([&i])], F32))
    });
    f.range("k", n, |f, k| {
        f.block("C", |f| {
            let vk = f.reduce("vk", n, &k);
            f.init(|f| f.store(&c, [0], Expr::float(0.0, F32)));
            f.store(&c, [0], c.at([0]) + e.at([&vk]));
        });
    });
    f.range("i", n, |f, i| f.store(&b, [&i], Expr::binary(BinaryOp::Div, e.at([&i]), c.at([0]))));
    let values: Vec<f64> = (0..n).map(|i| f64::from(i) / 50.0 - 1.0).collect();
    let zeros = || floats(F32, &vec![0.0; n as usize]);
    let outcome = bounded(f.finish(), vec![floats(F32, &values), zeros(), zeros(), floats(F32, &[0.0])]);
    let output = outcome.output("B").unwrap();
    for (lane, value) in output.array.to_f64().into_iter().enumerate() {
        let relative = output.bound(lane) / value;
        assert!(relative > 3.0 * EPS && relative < 60.0 * EPS, "{relative}");
    }
}
