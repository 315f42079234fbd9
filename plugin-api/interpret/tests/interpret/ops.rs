//! INT-I1: the results of each operation, compared with the tables of TVM's numbers and Rust's own
//! arithmetic.

use chipdock_ir::{BinaryOp, CompareOp, DType, Expr, ExprKind, Op};
use half::{bf16, f16};
use proptest::prelude::*;

use crate::{apply, floats, ints, last};

const SIGNED: [DType; 4] = [DType::INT8, DType::INT16, DType::INT32, DType::INT64];
const UNSIGNED: [DType; 4] = [DType::UINT8, DType::UINT16, DType::UINT32, DType::UINT64];
const FLOATS: [DType; 4] = [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32, DType::FLOAT64];

fn int_op(op: BinaryOp, dtype: DType, a: &[i128], b: &[i128]) -> Vec<i128> {
    let outcome =
        apply(&[ints(dtype, a), ints(dtype, b)], dtype, |x| Expr::binary(op, x[0].clone(), x[1].clone()));
    assert_eq!(outcome.outputs[2].bounds.as_deref(), Some(&vec![0.0; a.len()][..]), "exact");
    last(&outcome).to_int()
}

fn float_op(op: BinaryOp, dtype: DType, a: &[f64], b: &[f64]) -> Vec<f64> {
    let outcome =
        apply(&[floats(dtype, a), floats(dtype, b)], dtype, |x| Expr::binary(op, x[0].clone(), x[1].clone()));
    last(&outcome).to_f64()
}

fn call(op: Op, dtype: DType, args: &[&[f64]]) -> Vec<f64> {
    let arrays: Vec<_> = args.iter().map(|values| floats(dtype, values)).collect();
    last(&apply(&arrays, dtype, |x| Expr::call(op, x.to_vec(), dtype))).to_f64()
}

fn call_int(op: Op, dtype: DType, args: &[&[i128]]) -> Vec<i128> {
    let arrays: Vec<_> = args.iter().map(|values| ints(dtype, values)).collect();
    let result = if op == Op::Clz { DType::INT32 } else { dtype };
    last(&apply(&arrays, result, |x| Expr::call(op, x.to_vec(), result))).to_int()
}

/// ir: IR-N3.
#[test]
fn int_i1_divisions_as_in_tvms_table() {
    let (a, b) = ([7, -7, 7, -7, 0, 6], [3, 3, -3, -3, 5, 3]);
    for dtype in SIGNED {
        assert_eq!(int_op(BinaryOp::FloorDiv, dtype, &a, &b), [2, -3, -3, 2, 0, 2]);
        assert_eq!(int_op(BinaryOp::FloorMod, dtype, &a, &b), [1, 2, -2, -1, 0, 0]);
        assert_eq!(int_op(BinaryOp::Div, dtype, &a, &b), [2, -2, -2, 2, 0, 2]);
        assert_eq!(int_op(BinaryOp::Mod, dtype, &a, &b), [1, -1, 1, -1, 0, 0]);
    }
}

/// ir: IR-N2.
#[test]
fn int_i1_divisions_that_others_trap_on() {
    for dtype in SIGNED {
        let (least, _) = dtype.integer_range().unwrap();
        for op in [BinaryOp::Div, BinaryOp::FloorDiv] {
            assert_eq!(
                int_op(op, dtype, &[5, -5, 0, least, least], &[0, 0, 0, 0, -1]),
                [5, -5, 0, least, least]
            );
        }
        for op in [BinaryOp::Mod, BinaryOp::FloorMod] {
            assert_eq!(int_op(op, dtype, &[5, -5, 0, least, least], &[0, 0, 0, 0, -1]), [0; 5]);
        }
    }
    for dtype in UNSIGNED {
        let (_, most) = dtype.integer_range().unwrap();
        assert_eq!(int_op(BinaryOp::FloorDiv, dtype, &[most, most, 7], &[2, 0, 2]), [most / 2, most, 3]);
        assert_eq!(int_op(BinaryOp::Mod, dtype, &[most, 9], &[0, 4]), [0, 1]);
    }
}

/// ir: IR-N1.
#[test]
fn int_i1_integers_wrap() {
    for dtype in SIGNED.into_iter().chain(UNSIGNED) {
        let (least, most) = dtype.integer_range().unwrap();
        assert_eq!(int_op(BinaryOp::Add, dtype, &[most], &[1]), [least]);
        assert_eq!(int_op(BinaryOp::Sub, dtype, &[least], &[1]), [most]);
        assert_eq!(int_op(BinaryOp::Mul, dtype, &[most], &[2]), [dtype.wrap(most * 2)]);
    }
}

/// ir: IR-N7.
#[test]
fn int_i1_min_and_max_drop_a_nan_in_front() {
    for dtype in FLOATS {
        assert_eq!(float_op(BinaryOp::Max, dtype, &[f64::NAN, 2.0], &[1.5, 3.0]), [1.5, 3.0]);
        assert_eq!(float_op(BinaryOp::Min, dtype, &[f64::NAN, 2.0], &[1.5, 3.0]), [1.5, 2.0]);
        assert!(float_op(BinaryOp::Max, dtype, &[1.5], &[f64::NAN])[0].is_nan());
        // Neither zero is less: the second stays.
        let zeros = float_op(BinaryOp::Max, dtype, &[0.0, -0.0], &[-0.0, 0.0]);
        assert!(zeros[0].is_sign_negative() && zeros[1].is_sign_positive());
    }
}

/// ir: IR-N8.
#[test]
fn int_i1_rounding_takes_halves_to_even() {
    for dtype in FLOATS {
        for op in [Op::Round, Op::Nearbyint] {
            assert_eq!(call(op, dtype, &[&[1.5, 2.5, -2.5, 0.499, -3.5]]), [2.0, 2.0, -2.0, 0.0, -4.0]);
            assert!(call(op, dtype, &[&[-0.0]])[0].is_sign_negative());
        }
        assert_eq!(call(Op::Floor, dtype, &[&[-1.5, 1.5]]), [-2.0, 1.0]);
        assert_eq!(call(Op::Ceil, dtype, &[&[-1.5, 1.5]]), [-1.0, 2.0]);
        assert_eq!(call(Op::Trunc, dtype, &[&[-1.5, 1.5]]), [-1.0, 1.0]);
    }
}

fn cast(from: DType, to: DType, values: &[f64]) -> Vec<f64> {
    last(&apply(&[floats(from, values)], to, |x| x[0].clone().cast(to))).to_f64()
}

/// ir: IR-N9.
#[test]
fn int_i1_casts_truncate_saturate_and_wrap() {
    let values = [1.9, -1.9, 1e30, -1e30, f64::NAN, f64::INFINITY];
    let (least, most) = (f64::from(i32::MIN), f64::from(i32::MAX));
    assert_eq!(cast(DType::FLOAT32, DType::INT32, &values), [1.0, -1.0, most, least, 0.0, most]);
    assert_eq!(cast(DType::FLOAT64, DType::UINT8, &values), [1.0, 0.0, 255.0, 0.0, 0.0, 255.0]);
    assert_eq!(cast(DType::INT32, DType::UINT8, &[300.0, -1.0]), [44.0, 255.0]);
    assert_eq!(cast(DType::INT32, DType::INT8, &[200.0, -129.0]), [-56.0, 127.0]);
    assert_eq!(cast(DType::FLOAT32, DType::BOOL, &[0.0, -0.0, 0.25, f64::NAN]), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(cast(DType::INT32, DType::BOOL, &[0.0, 256.0]), [0.0, 1.0]);
    assert_eq!(cast(DType::BOOL, DType::FLOAT16, &[0.0, 1.0]), [0.0, 1.0]);
    assert_eq!(
        cast(DType::FLOAT32, DType::FLOAT16, &[1e6, 65519.0, 65520.0]),
        [f64::INFINITY, 65504.0, f64::INFINITY]
    );
}

/// ir: IR-N9.
#[test]
fn int_i1_a_cast_to_a_half_is_rounded_once() {
    // Just above the middle of two halves by less than a float32 sees: rounding twice would take
    // the even one.
    let above = 1.0 + 2.0_f64.powi(-11) + 2.0_f64.powi(-40);
    assert_eq!(cast(DType::FLOAT64, DType::FLOAT16, &[above]), [1.0 + 2.0_f64.powi(-10)]);
    let above = 1.0 + 2.0_f64.powi(-8) + 2.0_f64.powi(-50);
    assert_eq!(cast(DType::FLOAT64, DType::BFLOAT16, &[above]), [1.0 + 2.0_f64.powi(-7)]);
    let outcome = apply(&[ints(DType::INT64, &[(1 << 60) + (1 << 52) + 1])], DType::BFLOAT16, |x| {
        x[0].clone().cast(DType::BFLOAT16)
    });
    assert_eq!(last(&outcome).to_f64(), [2.0_f64.powi(60) + 2.0_f64.powi(53)]);
}

/// ir: IR-N4.
#[test]
fn int_i1_shifts_are_taken_modulo_the_width() {
    assert_eq!(
        call_int(Op::ShiftLeft, DType::INT32, &[&[1, 1, 3], &[33, -1, 31]]),
        [2, i128::from(i32::MIN), i128::from(i32::MIN)]
    );
    assert_eq!(call_int(Op::ShiftRight, DType::INT8, &[&[-128, -1], &[9, 7]]), [-64, -1]);
    assert_eq!(call_int(Op::ShiftRight, DType::UINT8, &[&[128], &[7]]), [1]);
    assert_eq!(call_int(Op::ShiftLeft, DType::UINT64, &[&[1], &[127]]), [1 << 63]);
}

/// ir: IR-N5.
#[test]
fn int_i1_bits() {
    assert_eq!(call_int(Op::Popcount, DType::INT8, &[&[-1, 0, 5]]), [8, 0, 2]);
    assert_eq!(call_int(Op::Clz, DType::INT16, &[&[0, 1, -1]]), [16, 15, 0]);
    assert_eq!(call_int(Op::Clz, DType::UINT64, &[&[1]]), [63]);
    assert_eq!(call_int(Op::BitwiseAnd, DType::UINT8, &[&[0b1100], &[0b1010]]), [0b1000]);
    assert_eq!(call_int(Op::BitwiseOr, DType::INT32, &[&[0b1100], &[-16]]), [-4]);
    assert_eq!(call_int(Op::BitwiseXor, DType::BOOL, &[&[1, 1], &[1, 0]]), [0, 1]);
    assert_eq!(call_int(Op::BitwiseNot, DType::UINT8, &[&[1]]), [254]);
    assert_eq!(call_int(Op::BitwiseNot, DType::BOOL, &[&[1, 0]]), [0, 1]);
    assert_eq!(call_int(Op::Abs, DType::INT8, &[&[-128, -3]]), [-128, 3]);
}

/// ir: IR-T2.
#[test]
fn int_i1_reinterpretation_keeps_the_bits() {
    let reinterpret = |from: &[f64]| {
        let cast = |x: &[Expr]| Expr::call(Op::Reinterpret, x.to_vec(), DType::INT32);
        last(&apply(&[floats(DType::FLOAT32, from)], DType::INT32, cast)).to_int()
    };
    assert_eq!(reinterpret(&[1.0, -0.0]), [0x3f80_0000, i128::from(i32::MIN)]);
}

#[test]
fn int_i1_special_values_of_ops() {
    assert_eq!(
        call(Op::Sigmoid, DType::FLOAT32, &[&[f64::INFINITY, f64::NEG_INFINITY, 0.0]]),
        [1.0, 0.0, 0.5]
    );
    assert!(call(Op::Sigmoid, DType::FLOAT32, &[&[f64::NAN]])[0].is_nan());
    assert!(call(Op::Tanh, DType::FLOAT32, &[&[-0.0]])[0].is_sign_negative());
    assert_eq!(call(Op::Copysign, DType::FLOAT16, &[&[2.0, -2.0], &[-0.0, 1.0]]), [-2.0, 2.0]);
    assert_eq!(call(Op::Fmod, DType::FLOAT64, &[&[-7.5], &[2.0]]), [-1.5]);
    assert_eq!(
        call(Op::Nextafter, DType::FLOAT16, &[&[1.0, 0.0], &[2.0, -1.0]]),
        [1.0 + 2.0_f64.powi(-10), -(2.0_f64.powi(-24))]
    );
    assert_eq!(call(Op::Pow, DType::FLOAT32, &[&[-2.0, 0.0], &[3.0, 0.0]]), [-8.0, 1.0]);
}

#[test]
fn int_i1_erf_is_the_error_function() {
    // Values of Abramowitz and Stegun, table 7.1.
    let table = [
        (0.0, 0.0),
        (0.5, 0.520_499_877_8),
        (1.0, 0.842_700_792_9),
        (2.0, 0.995_322_265_0),
        (3.0, 0.999_977_909_5),
        (7.0, 1.0),
    ];
    for (x, value) in table {
        assert!((call(Op::Erf, DType::FLOAT64, &[&[x]])[0] - value).abs() < 1e-10, "{x}");
        assert!((call(Op::Erf, DType::FLOAT64, &[&[-x]])[0] + value).abs() < 1e-10, "{x}");
    }
}

#[test]
fn int_i1_ldexp_scales_and_rounds_once() {
    let ldexp = |x: f64, n: i128, dtype: DType| {
        let arrays = [floats(dtype, &[x]), ints(DType::INT32, &[n])];
        last(&apply(&arrays, dtype, |x| Expr::call(Op::Ldexp, x.to_vec(), dtype))).to_f64()[0]
    };
    assert_eq!(ldexp(1.5, 4, DType::FLOAT32), 24.0);
    assert_eq!(ldexp(1.5, 2000, DType::FLOAT64), f64::INFINITY);
    assert_eq!(ldexp(1.0, -1074, DType::FLOAT64), f64::from_bits(1));
    assert_eq!(ldexp(2.0_f64.powi(1000), -2074, DType::FLOAT64), f64::from_bits(1));
    assert_eq!(ldexp(f64::from_bits(1), 1074, DType::FLOAT64), 1.0);
    assert_eq!(ldexp(3.0, -1075, DType::FLOAT64), f64::from_bits(2));
    assert_eq!(ldexp(1.0, -3000, DType::FLOAT64), 0.0);
}

/// ir: IR-N6.
#[test]
fn int_i1_comparisons_with_nan_are_false_but_one() {
    let compare = |op| {
        let arrays = [floats(DType::FLOAT32, &[f64::NAN, 1.0]), floats(DType::FLOAT32, &[1.0, 1.0])];
        last(&apply(&arrays, DType::BOOL, |x| Expr::compare(op, x[0].clone(), x[1].clone()))).to_int()
    };
    assert_eq!(compare(CompareOp::Eq), [0, 1]);
    assert_eq!(compare(CompareOp::Ne), [1, 0]);
    assert_eq!(compare(CompareOp::Le), [0, 1]);
    assert_eq!(compare(CompareOp::Gt), [0, 0]);
}

/// ir: IR-N6.
#[test]
fn int_i1_float_division_by_zero_is_ieees() {
    let quotients = float_op(BinaryOp::Div, DType::FLOAT16, &[1.0, -1.0, 0.0], &[0.0, 0.0, 0.0]);
    assert_eq!(quotients[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(quotients[2].is_nan());
}

#[test]
fn a_sum_of_floats_by_floor_division_is_refused() {
    let function = crate::elementwise(&[DType::FLOAT32], DType::FLOAT32, |x| {
        Expr::new(ExprKind::Binary(BinaryOp::FloorDiv, x[0].clone(), x[0].clone()), DType::FLOAT32)
    });
    let arrays = vec![floats(DType::FLOAT32, &[1.0]), floats(DType::FLOAT32, &[1.0])];
    let error = crate::run(function, arrays).unwrap_err();
    assert!(error.to_string().contains("FloorDiv has no operands of type float32"), "{error}");
}

fn wide(dtype: DType) -> impl Strategy<Value = i128> {
    let (low, high) = dtype.integer_range().unwrap();
    prop_oneof![low..=high, Just(low), Just(high), -3_i128..=3].prop_map(move |value| dtype.wrap(value))
}

proptest! {
    /// ir: IR-N1, IR-N2, IR-N3, IR-N4, IR-N5.
    #[test]
    fn int_i1_integers_of_every_width_agree_with_wide_arithmetic(
        (dtype, a, b) in prop::sample::select(&DType::SCALARS[1..9])
            .prop_flat_map(|dtype| (Just(dtype), wide(dtype), wide(dtype)))
    ) {
        let is = |op, value: i128| prop_assert_eq_one(int_op(op, dtype, &[a], &[b])[0], dtype.wrap(value));
        is(BinaryOp::Add, a + b)?;
        is(BinaryOp::Sub, a - b)?;
        is(BinaryOp::Mul, a.wrapping_mul(b))?;
        is(BinaryOp::Div, if b == 0 { a } else { a / b })?;
        is(BinaryOp::Mod, if b == 0 { 0 } else { a % b })?;
        let floor = if b == 0 { a } else { a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0) };
        is(BinaryOp::FloorDiv, floor)?;
        is(BinaryOp::FloorMod, if b == 0 { 0 } else { a - floor * b })?;
        is(BinaryOp::Min, a.min(b))?;
        is(BinaryOp::Max, a.max(b))?;
    }

    /// ir: IR-N6.
    #[test]
    fn int_i1_floats_agree_with_rusts(a in any::<f32>(), b in any::<f32>()) {
        let (x, y) = (f64::from(a), f64::from(b));
        for (op, value) in [(BinaryOp::Add, a + b), (BinaryOp::Sub, a - b), (BinaryOp::Mul, a * b), (BinaryOp::Div, a / b)] {
            prop_assert_eq_one(float_op(op, DType::FLOAT32, &[x], &[y])[0].to_bits(), f64::from(value).to_bits())?;
        }
        prop_assert_eq_one(call(Op::Sqrt, DType::FLOAT32, &[&[x.abs()]])[0], f64::from(a.abs().sqrt()))?;
        prop_assert_eq_one(call(Op::Fma, DType::FLOAT32, &[&[x], &[y], &[1.0]])[0], f64::from(a.mul_add(b, 1.0)))?;
    }

    /// ir: IR-N6.
    #[test]
    fn int_i1_halves_are_computed_in_float32_and_rounded_once(a in any::<u16>(), b in any::<u16>()) {
        let (x, y) = (f16::from_bits(a), f16::from_bits(b));
        let is = |found: f64, value: f16| prop_assert_eq_one(
            f16::from_f64(found).to_bits() & if found.is_nan() { 0 } else { !0 },
            value.to_bits() & if value.is_nan() { 0 } else { !0 });
        is(float_op(BinaryOp::Add, DType::FLOAT16, &[x.to_f64()], &[y.to_f64()])[0], f16::from_f32(x.to_f32() + y.to_f32()))?;
        is(float_op(BinaryOp::Mul, DType::FLOAT16, &[x.to_f64()], &[y.to_f64()])[0], f16::from_f32(x.to_f32() * y.to_f32()))?;
        is(float_op(BinaryOp::Div, DType::FLOAT16, &[x.to_f64()], &[y.to_f64()])[0], f16::from_f32(x.to_f32() / y.to_f32()))?;
        let (x, y) = (bf16::from_bits(a), bf16::from_bits(b));
        let sum = float_op(BinaryOp::Add, DType::BFLOAT16, &[x.to_f64()], &[y.to_f64()])[0];
        let expected = bf16::from_f32(x.to_f32() + y.to_f32()).to_f64();
        prop_assert!(sum == expected || (sum.is_nan() && expected.is_nan()), "{} {}", sum, expected);
    }

    #[test]
    fn int_i1_next_after_is_the_neighbour(a in any::<f32>(), b in any::<f32>()) {
        prop_assume!(!a.is_nan() && !b.is_nan() && a != b);
        let expected = if b > a { a.next_up() } else { a.next_down() };
        let found = call(Op::Nextafter, DType::FLOAT32, &[&[f64::from(a)], &[f64::from(b)]])[0];
        prop_assert_eq!(found, f64::from(expected));
    }
}

fn prop_assert_eq_one<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), TestCaseError> {
    let nan = format!("{found:?}") == "NaN" && format!("{expected:?}") == "NaN";
    if nan || found == expected {
        Ok(())
    } else {
        Err(TestCaseError::fail(format!("{found:?} is not {expected:?}")))
    }
}
