//! Functions of two float32.

use chipdock_interpret::Array;
use chipdock_ir::{Accuracy, DType, Op, TargetCapabilities};
use chipdock_passes::{high_ulps, lower_intrinsics, lowered_ulps};

use super::contracted::Contraction;
use super::{exact, run_all, run_for, ulps};
use crate::capabilities::host;

const SPECIAL: &[f32] = &[
    0.0,
    1e-45,
    1e-40,
    1e-38,
    1e-20,
    0.25,
    0.5,
    0.333_333_34,
    0.999_999_94,
    1.0,
    1.000_000_1,
    1.5,
    2.0,
    2.5,
    3.0,
    4.0,
    7.0,
    10.0,
    127.0,
    128.0,
    149.0,
    150.0,
    1e5,
    8_388_607.0,
    8_388_607.5,
    16_777_215.0,
    16_777_216.0,
    33_554_430.0,
    1e10,
    1e20,
    1e38,
    f32::MAX,
    f32::INFINITY,
    f32::NAN,
];

/// Each special value with each, of both signs; and random ones, by bits and of middling size.
pub(super) fn sample() -> Vec<Vec<f32>> {
    let signed: Vec<f32> = SPECIAL.iter().flat_map(|x| [*x, -*x]).collect();
    let mut pairs: Vec<(f32, f32)> =
        signed.iter().flat_map(|x| signed.iter().map(move |y| (*x, *y))).collect();
    let mut random = chipdock_programs::Random::new(0);
    let mut next = || random.bits_32();
    for _ in 0..30_000 {
        pairs.push((f32::from_bits(next()), f32::from_bits(next())));
        let middling = |bits: u32| (bits as f32 / 2.0_f32.powi(29)) - 4.0;
        pairs.push((middling(next()), middling(next())));
        pairs.push((2.0_f32.powf(middling(next())), middling(next()) * 30.0));
    }
    vec![pairs.iter().map(|pair| pair.0).collect(), pairs.iter().map(|pair| pair.1).collect()]
}

fn within(op: Op) {
    check(op, lowered_ulps(op, DType::FLOAT32).unwrap(), &host());
    check(op, high_ulps(op).unwrap(), &host().with(|it| it.math.accuracy = Accuracy::High));
}

fn check(op: Op, bound: f64, capabilities: &TargetCapabilities) {
    let values = sample();
    let exact = exact(op, &values);
    let arrays = values.iter().map(|list| Array::from_f32(&[list.len()], list)).collect();
    let found = run_for(capabilities, op, &[DType::FLOAT32; 2], DType::FLOAT32, arrays).to_f64();
    let mut worst: f64 = 0.0;
    for (index, (found, exact)) in found.into_iter().zip(exact).enumerate() {
        let off = ulps(found, exact);
        let (x, y) = (values[0][index], values[1][index]);
        let name = op.name();
        assert!(off <= bound, "{name}({x:e}, {y:e}): {off} ulp: found {found:e}, exact {exact:e}");
        worst = worst.max(off);
    }
    println!("{}: {worst:.4} ulp", op.name());
}

#[test]
fn pow() {
    within(Op::Pow);
}

#[test]
fn atan2() {
    within(Op::Atan2);
}

#[test]
fn hypot() {
    within(Op::Hypot);
}

#[test]
fn nextafter_is_exact() {
    is_exact(Op::Nextafter, &sample());
}

/// Also where one operand is a multiple of the other, or next to one.
#[test]
fn fmod_is_exact() {
    let mut values = sample();
    let mut random = chipdock_programs::Random::new(1);
    for _ in 0..30_000 {
        let y = f32::from_bits(random.bits_32());
        let multiple = random.bits_32() >> (random.bits_32() % 32);
        let x = y * 2.0_f32.powi((random.bits_32() % 128) as i32) * (multiple as f32);
        let near = f32::from_bits(x.to_bits().wrapping_add(random.bits_32() % 3).wrapping_sub(1));
        values[0].extend([near, x, y * 0.5]);
        values[1].extend([y, -y, y]);
    }
    is_exact(Op::Fmod, &values);
}

fn is_exact(op: Op, values: &[Vec<f32>]) {
    let arrays =
        |values: &[Vec<f32>]| values.iter().map(|list| Array::from_f32(&[list.len()], list)).collect();
    let types = [DType::FLOAT32; 2];
    let module = super::module(op, &types, DType::FLOAT32, values[0].len());
    let expected = super::interpret(&module, DType::FLOAT32, arrays(values)).to_f64();
    let lowered = lower_intrinsics(&module, &host()).unwrap();
    let contracted = Contraction::all().into_iter().take(2).map(|mut it| it.module(&lowered));
    let contracted = contracted.map(|module| super::interpret(&module, DType::FLOAT32, arrays(values)));
    let plain = run_all(op, &types, DType::FLOAT32, arrays(values));
    let found = contracted.chain([plain]).flat_map(|found| found.to_f64().into_iter().enumerate());
    for (index, found) in found {
        let expected = expected[index];
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        let (x, y) = (values[0][index], values[1][index]);
        assert!(same, "{}({x:e}, {y:e}): {found:e}, not {expected:e}", op.name());
    }
}

#[test]
fn ldexp_is_exact() {
    is_exact_ldexp(&host());
}

pub(super) fn is_exact_ldexp(capabilities: &TargetCapabilities) {
    let values: Vec<f32> = SPECIAL.iter().flat_map(|x| [*x, -*x]).collect();
    let powers = [
        0,
        1,
        -1,
        23,
        -23,
        100,
        -100,
        127,
        128,
        -126,
        -149,
        -150,
        200,
        -200,
        276,
        277,
        -300,
        i32::MAX,
        i32::MIN,
    ];
    let pairs: Vec<(f32, i32)> = values.iter().flat_map(|x| powers.map(|n| (*x, n))).collect();
    let n = pairs.len();
    let x: Vec<f32> = pairs.iter().map(|pair| pair.0).collect();
    let powers: Vec<i128> = pairs.iter().map(|pair| pair.1.into()).collect();
    let arrays = vec![Array::from_f32(&[n], &x), Array::from_int(DType::INT32, &[n], &powers)];
    let found =
        run_for(capabilities, Op::Ldexp, &[DType::FLOAT32, DType::INT32], DType::FLOAT32, arrays).to_f64();
    for ((x, n), found) in pairs.into_iter().zip(found) {
        let exact = f64::from((f64::from(x) * 2.0_f64.powi(n.clamp(-300, 300))) as f32);
        assert!(found.to_bits() == exact.to_bits() || found.is_nan() && x.is_nan(), "{x:e} {n}: {found:e}");
    }
}
