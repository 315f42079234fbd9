//! The passes follow the table of ops (OP1 to OP13, `chipdock_ir::op`).

use std::collections::BTreeSet;

use chipdock_ir::op::{Class, Gives, Lowering, Takes};
use chipdock_ir::{Callee, DType, Expr, ExprKind, IrModule, Op, TargetCapabilities, build};
use chipdock_passes::{lower_intrinsics, lowered_ulps, vectorize};

use crate::capabilities::{device, host, narrow};

/// A type that an argument may have, given those before it.
fn operand(takes: Takes, before: &[DType]) -> DType {
    match takes {
        Takes::Float | Takes::Any => DType::FLOAT32,
        Takes::Bool => DType::BOOL,
        Takes::Like(index) => before[index],
        Takes::LanesOf(_, dtype) | Takes::Lanes(dtype) | Takes::Exactly(dtype) | Takes::Constant(dtype) => {
            dtype
        }
        _ => DType::INT32,
    }
}

/// `B[v] = op(A0[v], …)` in a vectorized loop, what is one value for all lanes a parameter or a
/// constant.
fn in_vectorized_loop(op: Op) -> IrModule {
    let mut f = build::function("f");
    let mut types = Vec::new();
    for param in op.info().params {
        types.push(operand(param.takes, &types));
    }
    let result = match op.info().gives {
        Gives::Stated => DType::INT32,
        Gives::LanesOf(_, dtype) => dtype,
        Gives::Like(index) => types[index],
        Gives::Exactly(dtype) => dtype,
        Gives::Nothing => DType::HANDLE,
    };
    let mut args = Vec::new();
    for (position, (param, dtype)) in op.info().params.iter().zip(&types).enumerate() {
        let name = format!("x{position}");
        args.push(match param.takes {
            Takes::Constant(_) => Err(Expr::int(1, *dtype)),
            takes if takes.is_uniform() => Err(f.scalar(name, *dtype)),
            _ => Ok(f.buffer(name, [4], *dtype)),
        });
    }
    let b = f.buffer("B", [4], result);
    f.vectorized("v", 4, |f, v| {
        let args = args.iter().map(|arg| match arg {
            Ok(buffer) => buffer.at([&v]),
            Err(one) => one.clone(),
        });
        f.store(&b, [&v], Expr::call(op, args.collect(), result));
    });
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

/// How many calls of an op are on scalars.
fn scalar_calls(module: &IrModule, op: Op) -> usize {
    let mut count = 0;
    module.functions[0].body.walk_exprs(&mut |e| {
        let is_one = matches!(&e.kind, ExprKind::Call { callee: Callee::Op(called), .. } if *called == op);
        count += usize::from(is_one && e.dtype.is_scalar());
    });
    count
}

/// Ops of values but those whose operands are vectors in any case.
fn computing() -> impl Iterator<Item = Op> {
    Op::all_where(|op| op.class == Class::Value).filter(|op| !matches!(op, Op::Dp4a | Op::DotAdd))
}

// OP7.
#[test]
fn vectorize_widens_elementwise_calls_only() {
    let capabilities = host().with(|it| it.execution.native_ops = Op::ALL.to_vec());
    for op in computing() {
        let vectorized = vectorize(&in_vectorized_loop(op), &capabilities).unwrap();
        let is_vector = scalar_calls(&vectorized, op) == 0;
        assert_eq!(is_vector, op.info().is_elementwise, "{}", op.name());
    }
    assert!(!Op::Dp4a.info().is_elementwise && !Op::DotAdd.info().is_elementwise);
}

// OP10: a call on vectors that would be a call of the C library for each lane is not made.
#[test]
fn vectorize_leaves_calls_of_the_library_alone() {
    for op in computing().filter(|op| op.info().is_elementwise) {
        let vectorized = vectorize(&in_vectorized_loop(op), &host()).unwrap();
        let is_called =
            op.info().lowering == Lowering::Function && lowered_ulps(op, DType::FLOAT32).is_none();
        assert_eq!(scalar_calls(&vectorized, op) != 0, is_called, "{}", op.name());
    }
}

// OP10, OP12: what is left is core ops, and the C functions that the rows name.
#[test]
fn lowering_leaves_core_ops_and_c_functions() {
    for op in computing() {
        let lowered = lower_intrinsics(&in_vectorized_loop(op), &host()).unwrap();
        let mut left = Vec::new();
        lowered.functions[0].body.walk_exprs(&mut |e| match &e.kind {
            ExprKind::Call { callee: Callee::Op(op), .. } => left.push(Ok(*op)),
            ExprKind::Call { callee: Callee::Extern { name, .. }, .. } => left.push(Err(name.to_string())),
            _ => {}
        });
        let info = op.info();
        for call in left {
            match call {
                Ok(left) => assert_eq!(left.info().lowering, Lowering::Core, "{} leaves {left:?}", op.name()),
                Err(name) => {
                    assert_eq!(info.lowering, Lowering::Function, "{} calls {name}", op.name());
                    assert_eq!(name, format!("{}f", info.c_names[0]));
                }
            }
        }
    }
}

/// Names of the C functions that are called when every op of floats is called on scalars of a type.
fn c_functions(capabilities: &TargetCapabilities, dtype: DType) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for op in computing().filter(|op| matches!(op.info().takes(0), Some(Takes::Float | Takes::Number))) {
        let mut f = build::function("f");
        let types = op.info().params.iter().map(|param| match param.takes {
            Takes::LanesOf(_, other) => other,
            _ => dtype,
        });
        let args: Vec<Expr> = types.enumerate().map(|(i, dtype)| f.scalar(format!("x{i}"), dtype)).collect();
        let result = op.result_dtype(&args).unwrap();
        f.evaluate(Expr::call(op, args, result));
        let lowered = lower_intrinsics(&build::module([f.finish()]), capabilities).unwrap();
        lowered.functions[0].body.walk_exprs(&mut |e| {
            if let ExprKind::Call { callee: Callee::Extern { name, .. }, .. } = &e.kind {
                names.insert(name.to_string());
            }
        });
    }
    names
}

#[test]
fn pass_h6_the_c_functions_that_remain_without_native_ops() {
    let of = |capabilities: &TargetCapabilities, dtype| {
        c_functions(capabilities, dtype).into_iter().collect::<Vec<_>>()
    };
    for capabilities in [host(), device()] {
        assert!(capabilities.execution.native_ops.is_empty());
        assert_eq!(of(&capabilities, DType::FLOAT64), ["fmod"]);
    }
    let no_float64 = host().with(|it| it.types.missing_types = vec![DType::FLOAT64]);
    for dtype in [DType::FLOAT32, DType::FLOAT16, DType::BFLOAT16] {
        for capabilities in [&no_float64, &device(), &narrow()] {
            assert_eq!(of(capabilities, dtype), ["fmodf"], "of {dtype}");
        }
        assert!(of(&host(), dtype).is_empty(), "of {dtype}");
    }
    // Named, it remains an op.
    let native = device().with(|it| it.execution.native_ops = vec![Op::Fmod]);
    assert!(c_functions(&native, DType::FLOAT32).is_empty());
}

// OP10, OP12: a function without one in C never needs one.
#[test]
fn a_function_that_c_does_not_have_is_arithmetic_on_every_type() {
    for op in Op::all_where(|op| op.lowering == Lowering::Function && op.c_names.is_empty()) {
        for dtype in [DType::FLOAT32, DType::FLOAT64] {
            assert!(lowered_ulps(op, dtype).is_some(), "{} of {dtype} would be called", op.name());
        }
    }
}

// OP10: without the op, a target is told of it.
#[test]
fn native_ops_are_refused_by_name_where_a_target_does_not_have_them() {
    for op in Op::all_where(|op| op.lowering == Lowering::Native) {
        let mut f = build::function("f");
        let args: Vec<Expr> =
            op.info().params.iter().map(|param| Expr::int(1, operand(param.takes, &[]))).collect();
        let result = op.result_dtype(&args).unwrap();
        f.evaluate(Expr::call(op, args, result));
        let error = lower_intrinsics(&build::module([f.finish()]), &host()).unwrap_err();
        assert!(error.to_string().contains(op.name()), "{error}");
    }
}
