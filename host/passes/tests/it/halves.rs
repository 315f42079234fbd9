//! Rules HALVES-F1 to HALVES-F3 of `lower_halves`: on the interpreter, a module gives the same bits
//! before and after it.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    Callee, Child, CompareOp, DType, Expr, ExprKind, IrModule, Op, Param, Stage, StorageScope,
    TargetCapabilities, build, print,
};
use chipdock_passes::simplify::simplify;
use chipdock_passes::{lower_halves, lower_intrinsics};
use proptest::prelude::*;

use crate::capabilities::device;

const HALVES: [DType; 2] = [DType::FLOAT16, DType::BFLOAT16];

/// A device without these types, whose code generator spells the tests of floats.
fn without(missing: &[DType]) -> TargetCapabilities {
    device().with(|it| {
        it.types.missing_types = missing.to_vec();
        it.execution.native_ops = vec![Op::Isnan, Op::Isinf, Op::Isfinite];
    })
}

/// Whether one of the types is left anywhere.
fn is_left(module: &IrModule, types: &[DType]) -> bool {
    let is = |dtype: DType| types.contains(&dtype.scalar());
    let mut found = false;
    for function in &module.functions {
        found |= function.ret.is_some_and(is);
        found |= function.params.iter().any(|param| match param {
            Param::Var(var) => is(var.dtype),
            Param::Buffer(buffer) => is(buffer.dtype),
        });
        function.body.walk(&mut |child| {
            if let Child::Expr(e) = child {
                e.walk(&mut |e| {
                    found |=
                        is(e.dtype) || matches!(&e.kind, ExprKind::Load { buffer, .. } if is(buffer.dtype))
                });
            }
        });
    }
    found
}

fn lowered(module: &IrModule, missing: &[DType]) -> IrModule {
    let target = without(missing);
    let plain = lower_intrinsics(module, &target).unwrap();
    let lowered = simplify(&lower_halves(&plain, &target).unwrap(), &target).unwrap();
    assert!(!is_left(&lowered, missing), "{}", print::module(&lowered));
    if let Err(problems) = validate(&lowered, Stage::Flattened) {
        unreachable!("not valid: {problems:?}\n{}", print::module(&lowered));
    }
    lowered
}

fn run(module: &IrModule, args: &[Array]) -> Vec<Array> {
    let mut args: Vec<Arg> = args.iter().cloned().map(Arg::Tensor).collect();
    if let Err(error) = Interpreter::new(module).run("f", &mut args) {
        unreachable!("{error}\n{}", print::module(module));
    }
    let array = |arg| if let Arg::Tensor(array) = arg { Some(array) } else { None };
    args.into_iter().filter_map(array).collect()
}

/// Runs `f` before and after, and compares all tensors. Which NaN a NaN is, is left open (IR-N6).
fn same(module: &IrModule, missing: &[DType], args: &[Array]) {
    let after = lowered(module, missing);
    let in_bits = |array: &Array| {
        let dtype = if missing.contains(&array.dtype) { DType::UINT16 } else { array.dtype };
        Array { dtype, ..array.clone() }
    };
    let found = run(&after, &args.iter().map(in_bits).collect::<Vec<_>>());
    for (found, expected) in found.into_iter().zip(run(module, args)) {
        let found = Array { dtype: expected.dtype, ..found };
        for lane in 0..expected.n_lanes() {
            let (a, b) = (found.float(lane), expected.float(lane));
            let is_nan = a.is_some_and(f64::is_nan) && b.is_some_and(f64::is_nan);
            let bits = |float: Option<f64>| float.map(f64::to_bits);
            let is_same = is_nan || (bits(a) == bits(b) && found.int(lane) == expected.int(lane));
            assert!(is_same, "lane {lane}: {a:?}, expected {b:?}\n{}", print::module(&after));
        }
    }
}

fn one(f: build::FunctionBuilder) -> IrModule {
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

/// `B[i] = make(A[i])`, `lanes` at once.
fn elementwise(a: &Array, to: DType, lanes: u16, make: &dyn Fn(Expr) -> Expr) -> (IrModule, [Array; 2]) {
    let n = a.shape[0];
    let mut f = build::function("f");
    let (from, into) = (f.buffer("A", [n as i32], a.dtype), f.buffer("B", [n as i32], to));
    f.range("i", n as i32 / i32::from(lanes), |f, i| {
        let at = if lanes == 1 { i } else { (i * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes) };
        f.store(&into, [&at], make(Expr::load(&from, vec![at.clone()])));
    });
    (one(f), [a.clone(), Array::zeros(to, &[n])])
}

fn cast(a: &Array, to: DType, lanes: u16) {
    let (module, args) = elementwise(a, to, lanes, &|value| value.cast(to.with_lanes(lanes)));
    same(&module, &HALVES, &args);
}

fn every_half(dtype: DType) -> Array {
    let data = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    Array { dtype, shape: vec![1 << 16], data }
}

/// HALVES-F2, HALVES-F3: every value to every type, in vectors; integers are saturated.
#[test]
fn every_half_to_every_type() {
    for from in HALVES {
        for &to in DType::SCALARS.iter().filter(|to| **to != from) {
            cast(&every_half(from), to, 8);
        }
    }
}

/// Floats at and beside each half and each middle between two, which are all the places where
/// rounding changes.
fn around_halves(dtype: DType) -> Vec<u32> {
    let values = every_half(dtype);
    let values: Vec<f32> =
        (0..values.n_lanes()).filter_map(|lane| Some(values.float(lane)? as f32)).collect();
    let middle = |pair: &[f32]| ((f64::from(pair[0]) + f64::from(pair[1])) / 2.0) as f32;
    let middles: Vec<f32> = values.windows(2).map(middle).collect();
    let beside = |value: &f32| [-1_i32, 0, 1].map(|by| value.to_bits().wrapping_add_signed(by));
    let limits = [65519.996_f32, 65520.0, 3.389_531_3e38, 3.396_211_9e38, f32::MAX, f32::MIN_POSITIVE];
    values.iter().chain(&middles).chain(&limits).flat_map(beside).collect()
}

fn floats(bits: &[u32]) -> Array {
    let data = bits.iter().flat_map(|bits| bits.to_ne_bytes()).collect();
    Array { dtype: DType::FLOAT32, shape: vec![bits.len()], data }
}

/// HALVES-F2: to nearest, ties to even, subnormals kept, infinite beyond the greatest.
#[test]
fn floats_are_rounded_to_even() {
    for to in HALVES {
        let mut bits = around_halves(to);
        bits.resize(bits.len().next_multiple_of(8), 0);
        cast(&floats(&bits), to, 8);
    }
}

/// HALVES-F3: integers and float64s near the places where rounding twice would differ from rounding
/// once.
#[test]
fn halves_round_once_and_not_through_float32() {
    let mut integers: Vec<i128> = (0..300).collect();
    for exponent in 8..64_u32 {
        for digits in [9, 10, 11, 12, 24, 25] {
            let half = 1_i128 << exponent.saturating_sub(digits);
            let base = 1_i128 << exponent;
            integers
                .extend([-1, 0, 1].iter().flat_map(|by| [base + half + by, base + 3 * half + by, base + by]));
        }
    }
    integers.extend(integers.clone().iter().map(|value| -value));
    let floats: Vec<f64> = integers
        .iter()
        .flat_map(|value| {
            [-200, -149, -140, -24, -10, 0, 10, 64, 80].map(|by| *value as f64 * 2_f64.powi(by))
        })
        .flat_map(|value| [-1_i64, 0, 1].map(|by| f64::from_bits(value.to_bits().wrapping_add_signed(by))))
        .chain([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324, -0.0])
        .collect();
    for to in HALVES {
        cast(&Array::from_f64(DType::FLOAT64, &[floats.len()], &floats), to, 1);
        for &from in DType::SCALARS.iter().filter(|from| !from.is_float()) {
            let wrapped: Vec<i128> = integers.iter().map(|value| from.wrap(*value)).collect();
            cast(&Array::from_int(from, &[wrapped.len()], &wrapped), to, 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// HALVES-F2, HALVES-F3: numbers of all sizes.
    #[test]
    fn random_numbers_too(bits in prop::collection::vec((any::<u64>(), 0_u32..64), 64)) {
        let integers: Vec<i128> = bits.iter().map(|(bits, by)| i128::from((*bits as i64) >> by)).collect();
        let words: Vec<u32> = bits.iter().map(|(bits, _)| *bits as u32).collect();
        let doubles = bits.iter().flat_map(|(bits, _)| bits.to_ne_bytes()).collect();
        let doubles = Array { dtype: DType::FLOAT64, shape: vec![bits.len()], data: doubles };
        for to in HALVES {
            cast(&floats(&words), to, 1);
            cast(&doubles, to, 1);
            for from in [DType::INT32, DType::UINT32, DType::INT64, DType::UINT64] {
                let wrapped: Vec<i128> = integers.iter().map(|value| from.wrap(*value)).collect();
                cast(&Array::from_int(from, &[64], &wrapped), to, 1);
            }
        }
    }
}

/// HALVES-F1: what only passes values on passes on their bits.
#[test]
fn bits_are_passed_on() {
    for dtype in HALVES {
        let all = every_half(dtype);
        let few = Array { shape: vec![64], data: all.data[..128].to_vec(), ..all.clone() };
        let zero = |e: &Expr| Expr::float(0.0, e.dtype);
        let wide = |e: Expr| {
            let dtype = DType::FLOAT32.with_lanes(e.dtype.lanes);
            e.cast(dtype)
        };
        let makes: [(DType, &dyn Fn(Expr) -> Expr); 8] = [
            (dtype, &|e| e),
            (dtype, &|e| {
                let negative = Expr::compare(CompareOp::Lt, e.clone(), zero(&e));
                Expr::select(negative, Expr::float(f64::INFINITY, e.dtype), e)
            }),
            (dtype, &|e| {
                let is_zero = Expr::compare(CompareOp::Eq, e.clone(), zero(&e));
                Expr::call(Op::IfThenElse, vec![is_zero, Expr::float(-0.1, dtype), e], dtype)
            }),
            (dtype, &|e| Expr::float(f64::NAN, e.dtype)),
            (dtype, &|e| e.clone() * e + Expr::float(1.5, dtype)),
            (DType::BOOL, &|e| Expr::call(Op::Isnan, vec![e], DType::BOOL)),
            (DType::UINT16, &|e| Expr::call(Op::Reinterpret, vec![e], DType::UINT16)),
            (DType::FLOAT32, &|e| wide(e.clone()) + wide(e)),
        ];
        for (to, make) in makes {
            let (module, args) = elementwise(&all, to, 1, make);
            same(&module, &HALVES, &args);
        }
        let (module, args) = elementwise(&few, dtype, 4, &|e| {
            let indices = vec![3, 1, 0, 2];
            Expr::new(ExprKind::Shuffle { vectors: vec![e.clone()], indices }, e.dtype)
        });
        same(&module, &HALVES, &args);
        let (module, args) = elementwise(&few, dtype, 4, &|e| {
            let one = Expr::float(1.1, dtype);
            e + Expr::new(ExprKind::Broadcast { value: one.clone() + one, lanes: 4 }, dtype.with_lanes(4))
        });
        same(&module, &HALVES, &args);
        let (module, args) = elementwise(&few, dtype, 2, &|e| {
            let word = Expr::call(Op::Reinterpret, vec![e.clone()], DType::UINT32);
            Expr::call(Op::Reinterpret, vec![word], e.dtype)
        });
        same(&module, &HALVES, &args);
    }
}

/// HALVES-F1: memory of a function's own, names, and functions that take and return halves.
#[test]
fn memory_and_functions_follow() {
    let dtype = DType::FLOAT16;
    let mut g = build::function("g");
    let x = g.scalar("x", dtype);
    g.returns(dtype);
    g.return_value(x.clone() + x);
    let mut g = g.finish();
    g.s_tir = false;
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [8], dtype), f.buffer("B", [8], DType::BFLOAT16));
    let own = f.alloc("own", [8], dtype, StorageScope::LOCAL);
    f.range("i", 8, |f, i| {
        let x = f.bind("x", Expr::load(&a, vec![i.clone()]) + Expr::float(0.5, dtype));
        let kind = ExprKind::Call { callee: Callee::Global("g".into()), args: vec![x] };
        f.store(&own, [&i], Expr::new(kind, dtype));
    });
    f.range("i", 8, |f, i| {
        let value = Expr::load(&own, vec![Expr::i32(7) - i.clone()]);
        f.store(&b, [&i], value.cast(DType::BFLOAT16));
    });
    let mut f = f.finish();
    f.s_tir = false;
    let a = Array::from_f64(dtype, &[8], &[0.0, -1.0, 2.5, 65504.0, 6e-8, 0.1, -3.0, 1000.0]);
    same(&build::module([f, g]), &HALVES, &[a, Array::zeros(DType::BFLOAT16, &[8])]);
}

/// A target may lack only one of them.
#[test]
fn one_of_them_may_be_native() {
    for missing in HALVES {
        for (from, to) in [(HALVES[0], HALVES[1]), (HALVES[1], HALVES[0]), (DType::FLOAT32, HALVES[0])] {
            let few = if from.bits == 16 { every_half(from) } else { floats(&[0x3f80_1234; 8]) };
            let (module, args) = elementwise(&few, to, 8, &|value| value.cast(to.with_lanes(8)));
            same(&module, &[missing], &args);
        }
    }
}

#[test]
fn a_malformed_value_is_refused() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::FLOAT16);
    let address = Expr::call(Op::AddressOf, vec![Expr::load(&a, vec![Expr::i32(0)])], DType::HANDLE);
    f.evaluate(Expr::call(Op::AtomicAdd, vec![address, Expr::float(1.0, DType::FLOAT16)], DType::FLOAT16));
    let atomic = one(f);
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::FLOAT16);
    let value = Expr::load(&a, vec![Expr::i32(0)]);
    let callee = Callee::Extern { name: "hsin".into(), pure: true };
    let call = Expr::new(ExprKind::Call { callee, args: vec![value] }, DType::FLOAT16);
    f.store(&a, [&Expr::i32(0)], call);
    let wanted = [
        (atomic, "has no float16, and atomic_add of one cannot be made of its bits; use float32"),
        (one(f), "has no float16, and the C function hsin takes or returns one; use float32"),
    ];
    for (module, says) in wanted {
        let error = lower_halves(&module, &without(&HALVES)).unwrap_err().to_string();
        assert!(error.contains(&format!("target \"device-kind\" {says}")), "{error}");
        assert_eq!(lower_halves(&module, &without(&[DType::BFLOAT16])).unwrap(), module);
    }
}

/// Without need nothing is changed.
#[test]
fn a_device_that_has_them_keeps_them() {
    let (module, _) = elementwise(&every_half(HALVES[0]), HALVES[1], 1, &|value| value.cast(HALVES[1]));
    assert_eq!(lower_halves(&module, &without(&[])).unwrap(), module);
    let host = without(&HALVES).with(|it| it.is_host = true);
    assert_eq!(lower_halves(&module, &host).unwrap(), module);
    let (other, _) = elementwise(&floats(&[0; 8]), DType::INT32, 1, &|value| value.cast(DType::INT32));
    assert_eq!(lower_halves(&other, &without(&HALVES)).unwrap(), other);
}
