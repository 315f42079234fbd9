//! `lower_intrinsics` against the functions it stands for.

use chipdock_ir::interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, Expr, IrModule, Op, build};
use chipdock_passes::lower_intrinsics;

use crate::facts::host;

/// Runs the lowered op on values of a type, elementwise.
fn run(op: Op, from: DType, to: DType, values: Array) -> Array {
    let n = values.shape[0] as i32;
    let mut f = build::function("f");
    let a = f.buffer("A", [n], from);
    let b = f.buffer("B", [n], to);
    f.range("i", n, |f, i| f.store(&b, [&i], Expr::call(op, vec![a.at([&i])], to)));
    let mut function = f.finish();
    function.s_tir = false;
    let module = build::module([function]);
    let lowered = lower_intrinsics(&module, &host()).unwrap();
    assert!(!calls(&lowered, op), "{op:?} is left");
    let mut args = [Arg::Tensor(values), Arg::Tensor(Array::zeros(to, &[n as usize]))];
    Interpreter::new(&lowered).run("f", &mut args).unwrap();
    let [_, Arg::Tensor(found)] = args else { unreachable!("two tensors") };
    found
}

fn calls(module: &IrModule, op: Op) -> bool {
    let mut found = false;
    module.functions[0].body.walk_exprs(&mut |e| {
        found |= matches!(&e.kind, chipdock_ir::ExprKind::Call { callee: chipdock_ir::Callee::Op(o), .. } if *o == op);
    });
    found
}

/// Every float32 whose bits are a multiple of a prime: a dense sample of all exponents and both signs, and the borders.
fn sample() -> Vec<f32> {
    let mut values: Vec<f32> = (0..=u32::MAX).step_by(20_011).map(f32::from_bits).collect();
    values.extend([
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
    ]);
    values.extend([
        88.722_84,
        88.722_83,
        -87.336_55,
        -103.278_93,
        -103.972_08,
        -104.0,
        0.625,
        -0.625,
        9.010_913,
    ]);
    values
}

/// Largest distance from the exact value, in units of the last place of float32.
fn worst(op: Op, exact: impl Fn(f64) -> f64) -> (f64, f32) {
    let values = sample();
    let found = run(op, DType::FLOAT32, DType::FLOAT32, Array::from_f32(&[values.len()], &values)).to_f64();
    let mut worst = (0.0, 0.0);
    for (x, found) in values.into_iter().zip(found) {
        let exact = exact(f64::from(x));
        let off = ulps(found, exact);
        if off > worst.0 {
            worst = (off, x);
        }
    }
    worst
}

fn ulps(found: f64, exact: f64) -> f64 {
    let rounded = f64::from(exact as f32);
    if exact.is_nan() || found.is_nan() || rounded.is_infinite() || found.is_infinite() {
        let same = exact.is_nan() && found.is_nan() || rounded == found;
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (found - exact).abs() / (exponent - 23.0).exp2()
}

#[test]
fn exp_is_within_its_bound() {
    let (off, at) = worst(Op::Exp, f64::exp);
    assert!(off <= 1.1, "{off} ulp at {at}");
}

#[test]
fn tanh_is_within_its_bound() {
    let (off, at) = worst(Op::Tanh, f64::tanh);
    assert!(off <= 1.4, "{off} ulp at {at}");
    let zero = run(Op::Tanh, DType::FLOAT32, DType::FLOAT32, Array::from_f32(&[1], &[-0.0]));
    assert!(zero.to_f64()[0].is_sign_negative(), "tanh(-0.0) is -0.0");
}

#[test]
fn sigmoid_is_within_the_bound_of_the_interpreter() {
    let (off, at) = worst(Op::Sigmoid, |x| 1.0 / (1.0 + (-x).exp()));
    assert!(off <= 6.0, "{off} ulp at {at}");
}

#[test]
fn classes_are_told() {
    let values = [0.0, -1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE / 2.0];
    let told = |op| run(op, DType::FLOAT32, DType::BOOL, Array::from_f32(&[values.len()], &values)).to_int();
    assert_eq!(told(Op::Isnan), [0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(told(Op::Isinf), [0, 0, 0, 1, 1, 0, 0]);
    assert_eq!(told(Op::Isfinite), [1, 1, 0, 0, 0, 1, 1]);
}

#[test]
fn bits_are_counted_in_every_type() {
    for dtype in [
        DType::INT8,
        DType::UINT8,
        DType::INT16,
        DType::UINT16,
        DType::INT32,
        DType::UINT32,
        DType::INT64,
        DType::UINT64,
    ] {
        let mask = u64::MAX >> (64 - u32::from(dtype.bits));
        let values: Vec<u64> = (0..200_u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (i % 64) & mask)
            .chain([0, 1, mask, mask / 2, mask / 2 + 1])
            .collect();
        let ints: Vec<i128> = values.iter().map(|value| dtype.wrap((*value).into())).collect();
        let array = Array::from_int(dtype, &[ints.len()], &ints);
        let ones: Vec<i128> = values.iter().map(|v| v.count_ones().into()).collect();
        assert_eq!(run(Op::Popcount, dtype, dtype, array.clone()).to_int(), ones, "{dtype}");
        let unused = 64 - u32::from(dtype.bits);
        let zeros: Vec<i128> = values.iter().map(|v| (v.leading_zeros() - unused).into()).collect();
        assert_eq!(run(Op::Clz, dtype, DType::INT32, array).to_int(), zeros, "{dtype}");
    }
}
