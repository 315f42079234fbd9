//! Tests of `lower_intrinsics` against the functions that it lowers.

mod bounds;
mod contracted;
mod double;
mod effects;
mod narrow;
mod pairs;
mod single;
mod wide;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{Buffer, Callee, DType, Expr, ExprKind, IrModule, Op, Stage, TargetCapabilities, build};
use chipdock_passes::lower_intrinsics;

use crate::capabilities::host;

/// An op on values of some types, elementwise, as a module.
fn module(op: Op, from: &[DType], to: DType, n: usize) -> IrModule {
    let n = n as i32;
    let mut f = build::function("f");
    let inputs: Vec<Buffer> =
        from.iter().enumerate().map(|(index, dtype)| f.buffer(format!("A{index}"), [n], *dtype)).collect();
    let b = f.buffer("B", [n], to);
    f.range("i", n, |f, i| {
        let args = inputs.iter().map(|a| a.at([&i])).collect();
        f.store(&b, [&i], Expr::call(op, args, to));
    });
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

fn interpret(module: &IrModule, to: DType, values: Vec<Array>) -> Array {
    let n = values[0].shape[0];
    let mut args: Vec<Arg> = values.into_iter().map(Arg::Tensor).collect();
    args.push(Arg::Tensor(Array::zeros(to, &[n])));
    Interpreter::new(module).run("f", &mut args).unwrap();
    let Some(Arg::Tensor(found)) = args.pop() else { unreachable!("tensors") };
    found
}

/// Runs the lowered op, of which nothing may be left.
fn run_all(op: Op, from: &[DType], to: DType, values: Vec<Array>) -> Array {
    run_for(&host(), op, from, to, values)
}

fn run_for(
    capabilities: &TargetCapabilities,
    op: Op,
    from: &[DType],
    to: DType,
    values: Vec<Array>,
) -> Array {
    let lowered = lower_intrinsics(&module(op, from, to, values[0].shape[0]), capabilities).unwrap();
    assert!(!uses(&lowered, &capabilities.types.missing_types), "{op:?} takes a type that is missing");
    assert!(!calls(&lowered, op), "{op:?} is left");
    if let Err(problems) = validate(&lowered, Stage::Flattened) {
        unreachable!("{op:?} lowered is not valid: {problems:?}");
    }
    interpret(&lowered, to, values)
}

fn run(op: Op, from: DType, to: DType, values: Array) -> Array {
    run_all(op, &[from], to, vec![values])
}

/// The interpreter's own values in float64, exact to a few of its units.
fn exact(op: Op, values: &[Vec<f32>]) -> Vec<f64> {
    let n = values[0].len();
    let wide = values.iter().map(|list| {
        let list: Vec<f64> = list.iter().map(|x| f64::from(*x)).collect();
        Array::from_f64(DType::FLOAT64, &[n], &list)
    });
    let from = vec![DType::FLOAT64; values.len()];
    interpret(&module(op, &from, DType::FLOAT64, n), DType::FLOAT64, wide.collect()).to_f64()
}

/// Whether values of these types are left.
fn uses(module: &IrModule, types: &[DType]) -> bool {
    let mut found = false;
    module.functions[0].body.walk_exprs(&mut |e| found |= types.contains(&e.dtype.scalar()));
    found
}

/// True where a call of that op, or of the C library, is left.
fn calls(module: &IrModule, op: Op) -> bool {
    let mut found = false;
    module.functions[0].body.walk_exprs(&mut |e| {
        found |= match &e.kind {
            ExprKind::Call { callee: Callee::Op(o), .. } => *o == op,
            ExprKind::Call { callee: Callee::Extern { .. }, .. } => true,
            _ => false,
        };
    });
    found
}

/// Distance in units of the last place of float32; infinite where a sign, an infinity or a NaN is
/// wrong.
fn ulps(found: f64, exact: f64) -> f64 {
    let rounded = f64::from(exact as f32);
    let wrong = if exact.is_nan() || found.is_nan() {
        exact.is_nan() != found.is_nan()
    } else {
        found.is_sign_negative() != exact.is_sign_negative()
            || (rounded.is_infinite() || found.is_infinite()) && rounded != found
    };
    if wrong {
        return f64::INFINITY;
    }
    if exact == 0.0 || found == exact || rounded.is_infinite() || exact.is_nan() {
        return if exact == 0.0 && found != 0.0 { f64::INFINITY } else { 0.0 };
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (found - exact).abs() / (exponent - 23.0).exp2()
}

#[test]
fn nan_inf_and_finite_are_distinguished() {
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
