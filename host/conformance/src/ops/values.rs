//! Test values for each type.

use chipdock_interpret::Array;
use chipdock_ir::{DType, TypeCode};
use chipdock_programs::Random;

/// Cuts bits to the width of a type.
pub(crate) fn cut(bits: u64, dtype: DType) -> u64 {
    if dtype.is_bool() {
        bits & 1
    } else if dtype.bits == 64 {
        bits
    } else {
        bits & ((1 << dtype.bits) - 1)
    }
}

/// Creates an array of these bits, one lane each.
pub(crate) fn array(dtype: DType, bits: &[u64]) -> Array {
    let size_bytes = dtype.lane_size_bytes();
    let data = bits.iter().flat_map(|lane| lane.to_le_bytes().into_iter().take(size_bytes)).collect();
    Array { dtype, shape: vec![bits.len() / usize::from(dtype.lanes)], data }
}

/// Rounds a value into a float type and returns its bits.
pub(crate) fn float_bits(value: f64, dtype: DType) -> u64 {
    let bytes = Array::from_f64(dtype, &[1], &[value]).data;
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Returns the precision in bits and the least and greatest exponent of a normal number.
pub(crate) fn format(dtype: DType) -> (i32, i32, i32) {
    match (dtype.code, dtype.bits) {
        (TypeCode::BFloat, _) => (8, -126, 127),
        (_, 16) => (11, -14, 15),
        (_, 32) => (24, -126, 127),
        _ => (53, -1022, 1023),
    }
}

/// Returns a few values of a type, at least one of each class that an operation may treat
/// separately.
pub(crate) fn few(dtype: DType) -> Vec<u64> {
    if dtype.is_bool() {
        return vec![0, 1];
    }
    let mut all = if dtype.is_float() { few_floats(dtype) } else { few_integers(dtype) };
    all.sort_unstable();
    all.dedup();
    all
}

fn few_floats(dtype: DType) -> Vec<u64> {
    let (precision, least, greatest) = format(dtype);
    let infinity = float_bits(f64::INFINITY, dtype);
    let normal = float_bits(2_f64.powi(least), dtype);
    let one = float_bits(1.0, dtype);
    let mut positive =
        vec![0, 1, normal - 1, normal, normal + 1, one - 1, one, one + 1, infinity - 1, infinity];
    let values = [
        0.1,
        0.5,
        1.5,
        2.0,
        2.5,
        3.0,
        7.0,
        10.0,
        2_f64.powi(greatest / 2),
        2_f64.powi(least / 2),
        2_f64.powi(precision),
    ];
    positive.extend(values.map(|value| float_bits(value, dtype)));
    let sign = 1 << (dtype.bits - 1);
    positive.iter().flat_map(|&bits| [bits, bits | sign]).chain([float_bits(f64::NAN, dtype)]).collect()
}

fn few_integers(dtype: DType) -> Vec<u64> {
    let bits = u32::from(dtype.bits);
    let mut all: Vec<u64> =
        vec![0, 1, 2, 3, 5, 7, 10, 100, u64::MAX, u64::MAX - 1, u64::MAX - 2, u64::MAX - 6];
    for power in [bits / 2 - 1, bits / 2, bits - 2, bits - 1] {
        let value = 1_u64 << power;
        all.extend([value - 1, value, value + 1, value.wrapping_neg(), value.wrapping_neg().wrapping_sub(1)]);
    }
    // Shift amounts near the width of the type.
    all.extend([u64::from(bits) - 1, u64::from(bits), u64::from(bits) + 1]);
    all.into_iter().map(|value| cut(value, dtype)).collect()
}

/// Returns many values of a type; every value if the type has at most 16 bits.
pub(crate) fn many(dtype: DType, random: &mut Random) -> Vec<u64> {
    if dtype.is_bool() {
        return vec![0, 1];
    }
    if dtype.bits <= 16 {
        return (0..1 << dtype.bits).collect();
    }
    let mut all = few(dtype);
    if dtype.is_float() {
        all.extend(many_floats(dtype, random));
    } else {
        for power in 0..u32::from(dtype.bits) {
            let value = 1_u64 << power;
            // Values between two floats of each format, and near them.
            let ties = [8, 11, 24, 53].map(|precision| value | value.checked_shr(precision).unwrap_or(0));
            all.extend(ties.into_iter().chain([value]).flat_map(|v| [v, v - 1, v + 1, v.wrapping_neg(), !v]));
        }
        all.extend((0..512).map(|_| random.bits() >> (random.bits() % 64)));
        all = all.into_iter().map(|value| cut(value, dtype)).collect();
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Arguments at which float functions overflow, underflow, saturate or turn, or casts to integers
/// do.
const TURNS: &[f64] = &[
    0.25, 0.49999, 0.75, 1.0, 1.25, 2.0, 3.5, 4.5, 5.0, 5.5, 6.0, 8.0, 9.0, 11.0, 11.09, 12.0, 16.6, 17.3,
    18.7, 20.0, 24.0, 36.7, 37.0, 38.23, 38.53, 44.85, 45.0, 87.33, 88.72, 89.41, 100.0, 103.97, 104.0,
    126.0, 127.0, 128.0, 149.0, 150.0, 307.65, 308.25, 323.3, 708.39, 709.78, 710.47, 745.13, 1000.0, 1022.0,
    1024.0, 1074.0, 1075.0, 1e4, 1e5, 1e6, 1e10, 1e15, 1e22, 1e30, 1e38, 1e100, 1e300, 1e-3, 1e-5, 1e-8,
    1e-10, 1e-17, 1e-30, 1e-40, 1e-44, 1e-100, 1e-310,
];

fn many_floats(dtype: DType, random: &mut Random) -> Vec<u64> {
    let mut positive: Vec<u64> = Vec::new();
    let mut near = |value: f64| {
        let bits = float_bits(value, dtype);
        positive.extend([bits.saturating_sub(1), bits, bits + 1]);
    };
    TURNS.iter().for_each(|value| near(*value));
    (1..24).for_each(|quarter| near(f64::from(quarter) * std::f64::consts::FRAC_PI_4));
    (0..66).for_each(|power| near(2_f64.powi(power)));
    (0..24).for_each(|whole| near(f64::from(whole) + 0.5));
    near(std::f64::consts::E);
    let infinity = float_bits(f64::INFINITY, dtype);
    positive.retain(|bits| *bits <= infinity);
    positive.extend((0..200).map(|_| float_bits(random.unit(), dtype)));
    positive.extend((0..300).map(|_| float_bits(random.unit() * 20.0, dtype)));
    positive.extend((0..200).map(|_| float_bits(random.unit() * 1100.0, dtype)));
    // Values near 1, where a logarithm and an arc cosine lose accuracy.
    positive.extend((0..100).map(|_| {
        float_bits(1.0 + (random.unit() - 0.5) * 2_f64.powi(-((random.bits() % 24) as i32)), dtype)
    }));
    let sign = 1 << (dtype.bits - 1);
    let mut all: Vec<u64> = positive.iter().flat_map(|&bits| [bits, bits | sign]).collect();
    all.extend((0..600).map(|_| cut(random.bits(), dtype)));
    all
}
