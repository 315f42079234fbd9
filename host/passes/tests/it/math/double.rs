//! Functions of float64 against values of 60 digits (`tools/cases.py`), and at the borders.

use std::collections::BTreeMap;

use chipdock_interpret::Array;
use chipdock_ir::{DType, Op};
use chipdock_passes::lowered_ulps;

use super::run;

/// Argument, the nearest float64 of the value, and the rest.
type Case = (f64, f64, f64);

fn cases() -> BTreeMap<&'static str, Vec<Case>> {
    let mut cases: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for line in include_str!("../data/float64.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| f64::from_bits(u64::from_str_radix(words[index], 16).unwrap());
        cases.entry(words[0]).or_default().push((number(1), number(2), number(3)));
    }
    cases
}

pub(super) fn ulps(found: f64, (nearest, rest): (f64, f64)) -> f64 {
    let exponent = ((nearest.to_bits() >> 52) & 0x7ff).max(1) as i32 - 1023;
    if !found.is_finite() || found.is_sign_negative() != nearest.is_sign_negative() {
        return f64::INFINITY;
    }
    // In two steps: a unit may be subnormal.
    ((found - nearest) - rest).abs()
        * 2.0_f64.powi(52 - exponent.max(-900))
        * 2.0_f64.powi((-900 - exponent).max(0))
}

#[test]
fn functions_of_float64_are_within_their_bounds() {
    let cases = cases();
    assert_eq!(cases.len(), 11);
    for (name, cases) in cases {
        let op = Op::by_name(name).unwrap();
        let bound = lowered_ulps(op, DType::FLOAT64).unwrap();
        let values: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let array = Array::from_f64(DType::FLOAT64, &[values.len()], &values);
        let found = run(op, DType::FLOAT64, DType::FLOAT64, array).to_f64();
        let mut worst: f64 = 0.0;
        for ((x, nearest, rest), found) in cases.into_iter().zip(found) {
            let off = ulps(found, (nearest, rest));
            assert!(
                off <= bound,
                "{name}({x:e}): {off} ulp, more than {bound}: {found:e}, exact {nearest:e}"
            );
            worst = worst.max(off);
        }
        println!("{name}: {worst:.4} ulp");
        assert!(worst > 0.4, "{name}: a bound of {worst} measures nothing");
    }
}

/// The interpreter's own functions, whose bounds allow them four units.
#[test]
fn the_reference_is_within_two_units() {
    for (name, cases) in cases() {
        let op = Op::by_name(name).unwrap();
        let values: Vec<f64> = cases.iter().map(|case| case.0).collect();
        let array = Array::from_f64(DType::FLOAT64, &[values.len()], &values);
        let module = super::module(op, &[DType::FLOAT64], DType::FLOAT64, values.len());
        let found = super::interpret(&module, DType::FLOAT64, vec![array]).to_f64();
        for ((x, nearest, rest), found) in cases.into_iter().zip(found) {
            let off = ulps(found, (nearest, rest));
            assert!(off <= 2.0, "{name}({x:e}): {off} ulp: {found:e}, exact {nearest:e}");
        }
    }
}

/// Arguments and values that are exact.
fn borders(op: Op) -> &'static [(f64, f64)] {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    match op {
        Op::Exp => {
            &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (710.0, INF), (-746.0, 0.0)]
        }
        Op::Exp2 => &[(0.0, 1.0), (1.0, 2.0), (-1074.0, 5e-324), (-1076.0, 0.0), (1024.0, INF), (NAN, NAN)],
        Op::Exp10 => {
            &[(0.0, 1.0), (1.0, 10.0), (INF, INF), (-INF, 0.0), (309.0, INF), (-324.0, 0.0), (NAN, NAN)]
        }
        Op::Log | Op::Log2 | Op::Log10 => {
            &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)]
        }
        Op::Log1p => &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (-1.0, -INF),
            (-1.5, NAN),
            (INF, INF),
            (5e-324, 5e-324),
            (-5e-324, -5e-324),
            (NAN, NAN),
        ],
        Op::Erf | Op::Tanh => {
            &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (30.0, 1.0), (-1e300, -1.0), (NAN, NAN)]
        }
        Op::Sigmoid => &[(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (1e300, 1.0), (-1e300, 0.0), (NAN, NAN)],
        Op::Rsqrt => &[(0.0, INF), (-0.0, -INF), (4.0, 0.5), (INF, 0.0), (-1.0, NAN), (NAN, NAN)],
        _ => &[],
    }
}

#[test]
fn borders_of_float64_are_exact() {
    for op in cases().into_keys().filter_map(Op::by_name) {
        assert!(!borders(op).is_empty(), "{} has no borders", op.name());
        let values: Vec<f64> = borders(op).iter().map(|border| border.0).collect();
        let array = Array::from_f64(DType::FLOAT64, &[values.len()], &values);
        let found = run(op, DType::FLOAT64, DType::FLOAT64, array).to_f64();
        for ((x, wanted), found) in borders(op).iter().zip(found) {
            let same = wanted.to_bits() == found.to_bits() || wanted.is_nan() && found.is_nan();
            assert!(same, "{}({x:e}): {found:e}, not {wanted:e}", op.name());
        }
    }
}

/// Logarithms of powers of the base are whole numbers, though nobody promises it.
#[test]
fn logarithms_of_powers_are_whole() {
    let twos: Vec<f64> = (-1074..1024)
        .map(|k| f64::from_bits(if k < -1022 { 1 << (k + 1074) } else { ((k + 1023) as u64) << 52 }))
        .collect();
    let array = Array::from_f64(DType::FLOAT64, &[twos.len()], &twos);
    let found = run(Op::Log2, DType::FLOAT64, DType::FLOAT64, array).to_f64();
    assert!(found.into_iter().zip(-1074..1024).all(|(found, k)| found == f64::from(k)));
    let tens: Vec<f64> = (0..23).map(|k| 10.0_f64.powi(k)).collect();
    let array = Array::from_f64(DType::FLOAT64, &[tens.len()], &tens);
    let found = run(Op::Log10, DType::FLOAT64, DType::FLOAT64, array).to_f64();
    assert!(found.into_iter().zip(0..23).all(|(found, k)| found == f64::from(k)));
}
