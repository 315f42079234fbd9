//! Functions of float64 that need twice its digits, on devices and hosts: against values of 60
//! digits (`tools/cases.py`), and at the borders.

use std::collections::BTreeMap;

use chipdock_interpret::Array;
use chipdock_ir::{DType, Op, accuracy};
use chipdock_passes::{lower_intrinsics, lowered_ulps};

use super::contracted::Contraction;
use super::{double, interpret, module, run_for};
use crate::capabilities::{device, host};

/// Arguments, the nearest float64 of the value, and the rest.
type Case = (Vec<f64>, (f64, f64));

fn cases() -> BTreeMap<&'static str, Vec<Case>> {
    let mut cases: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for line in include_str!("../data/wide.txt").lines() {
        let (name, words) = line.split_once(' ').unwrap();
        let mut numbers: Vec<f64> =
            words.split(' ').map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect();
        let (rest, nearest) = (numbers.pop().unwrap(), numbers.pop().unwrap());
        cases.entry(name).or_default().push((numbers, (nearest, rest)));
    }
    cases
}

fn functions() -> impl Iterator<Item = Op> {
    cases().into_keys().filter_map(Op::by_name)
}

/// The largest error of a function of float64.
fn stated(op: Op) -> f64 {
    lowered_ulps(op, DType::FLOAT64).unwrap()
}

fn arrays(arguments: &[Vec<f64>]) -> Vec<Array> {
    let count = arguments[0].len();
    (0..count)
        .map(|at| {
            let values: Vec<f64> = arguments.iter().map(|arguments| arguments[at]).collect();
            Array::from_f64(DType::FLOAT64, &[values.len()], &values)
        })
        .collect()
}

fn run(op: Op, arguments: &[Vec<f64>]) -> Vec<f64> {
    let arrays = arrays(arguments);
    let types = vec![DType::FLOAT64; arrays.len()];
    let on_device = run_for(&device(), op, &types, DType::FLOAT64, arrays.clone()).to_f64();
    let on_host = run_for(&host(), op, &types, DType::FLOAT64, arrays).to_f64();
    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    assert!(on_device.iter().zip(&on_host).all(same), "{}: a host's is another", op.name());
    on_host
}

/// The largest error of the op, and where.
fn worst(cases: &[Case], found: Vec<f64>) -> (f64, String) {
    let mut worst = (-1.0, String::new());
    for ((arguments, exact), found) in cases.iter().zip(found) {
        let off = double::ulps(found, *exact);
        if off > worst.0 {
            worst = (off, format!("at {arguments:?}: found {found:e}, exact {:e}", exact.0));
        }
    }
    worst
}

#[test]
fn functions_keep_to_their_bounds() {
    let cases = cases();
    assert_eq!(cases.len(), 14);
    let mut wrong = Vec::new();
    for (name, cases) in cases {
        let op = Op::by_name(name).unwrap();
        let bound = stated(op);
        let arguments: Vec<Vec<f64>> = cases.iter().map(|case| case.0.clone()).collect();
        let (off, at) = worst(&cases, run(op, &arguments));
        println!("{name}: {off:.4} ulp {at}");
        if !(off <= bound && off > 0.4) {
            wrong.push(format!("{name}: {off} ulp, stated {bound}, {at}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// IR-N10
#[test]
fn functions_keep_to_their_bounds_however_they_are_contracted() {
    let mut wrong = Vec::new();
    for (name, cases) in cases() {
        let op = Op::by_name(name).unwrap();
        let arguments: Vec<Vec<f64>> = cases.iter().map(|case| case.0.clone()).collect();
        let types = vec![DType::FLOAT64; arguments[0].len()];
        let lowered = lower_intrinsics(&module(op, &types, DType::FLOAT64, cases.len()), &host()).unwrap();
        let mut most = (-1.0, String::new());
        let mut count = 0;
        for mut contraction in Contraction::all() {
            let contracted = contraction.module(&lowered);
            count += contraction.count;
            let found = interpret(&contracted, DType::FLOAT64, arrays(&arguments)).to_f64();
            let off = worst(&cases, found);
            most = if off.0 > most.0 { off } else { most };
        }
        assert!(count > 0, "{name}: nothing to contract");
        println!("{name}: {:.4} ulp {}", most.0, most.1);
        if most.0 > stated(op) {
            wrong.push(format!("{name}: {} ulp, {}", most.0, most.1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A backend that keeps to the bounds conforms, and the page states them.
#[test]
fn bounds_are_stated_and_conform() {
    for op in functions() {
        let bound = stated(op);
        assert!(bound <= accuracy::ulps(op, DType::FLOAT64), "{}: {bound}", op.name());
    }
}

const SPECIAL: &[f64] = &[
    0.0,
    5e-324,
    1e-310,
    1e-300,
    1e-20,
    0.25,
    0.5,
    1.0 - f64::EPSILON / 2.0,
    1.0,
    1.0 + f64::EPSILON,
    1.5,
    2.0,
    2.5,
    3.0,
    7.0,
    709.0,
    711.0,
    1023.0,
    1074.0,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    1e100,
    1e200,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

/// Zeros, infinities, NaNs and signs are those of the interpreter; numbers are near its own.
#[test]
fn borders_are_right() {
    let signed: Vec<f64> = SPECIAL.iter().flat_map(|x| [*x, -*x]).collect();
    for op in functions() {
        let two = matches!(op, Op::Pow | Op::Atan2 | Op::Hypot);
        let arguments: Vec<Vec<f64>> = if two {
            signed.iter().flat_map(|x| signed.iter().map(move |y| vec![*x, *y])).collect()
        } else {
            signed.iter().map(|x| vec![*x]).collect()
        };
        let types = vec![DType::FLOAT64; arguments[0].len()];
        let module = module(op, &types, DType::FLOAT64, arguments.len());
        let expected = interpret(&module, DType::FLOAT64, arrays(&arguments)).to_f64();
        for ((arguments, found), expected) in arguments.iter().zip(run(op, &arguments)).zip(expected) {
            let is_plain = expected.is_finite() && expected != 0.0;
            let is_right = if expected.is_nan() {
                found.is_nan()
            } else if is_plain {
                double::ulps(found, (expected, 0.0)) <= stated(op) + 1.0
            } else {
                found.to_bits() == expected.to_bits()
            };
            assert!(is_right, "{}{arguments:?}: {found:e}, not {expected:e}", op.name());
        }
    }
}

#[test]
fn ldexp_is_exact() {
    let powers =
        [0, 1, -1, 52, -52, 1000, -1000, 1023, 1024, -1022, -1074, -1075, 2100, -2100, i32::MAX, i32::MIN];
    let pairs: Vec<(f64, i32)> =
        SPECIAL.iter().flat_map(|x| [*x, -*x, *x * 1.234_567]).flat_map(|x| powers.map(|n| (x, n))).collect();
    let n = pairs.len();
    let x: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
    let powers: Vec<i128> = pairs.iter().map(|pair| pair.1.into()).collect();
    let arrays =
        vec![Array::from_f64(DType::FLOAT64, &[n], &x), Array::from_int(DType::INT32, &[n], &powers)];
    let types = [DType::FLOAT64, DType::INT32];
    let expected =
        interpret(&module(Op::Ldexp, &types, DType::FLOAT64, n), DType::FLOAT64, arrays.clone()).to_f64();
    let found = run_for(&host(), Op::Ldexp, &types, DType::FLOAT64, arrays).to_f64();
    for (((x, n), found), expected) in pairs.into_iter().zip(found).zip(expected) {
        let is_right = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(is_right, "{x:e} {n}: {found:e}, not {expected:e}");
    }
}
