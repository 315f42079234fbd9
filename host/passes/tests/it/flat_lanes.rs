//! Tests of vectors of lanes that are adjacent, before and after `flatten_buffers`.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{DType, Expr, ExprKind, ForKind, IrModule, Stage, Stmt, StmtKind, build, print};
use chipdock_passes::simplify::simplify;
use chipdock_passes::{flatten_buffers, vectorize};

use crate::capabilities::host;

const I32: DType = DType::INT32;

fn one(f: build::FunctionBuilder) -> IrModule {
    let mut function = f.finish();
    function.s_tir = false;
    build::module([function])
}

fn flattened(module: &IrModule) -> IrModule {
    assert_eq!(validate(module, Stage::Blocks), Ok(()));
    let flat = simplify(&flatten_buffers(module, &host()).unwrap(), &host()).unwrap();
    simplify(&vectorize(&flat, &host()).unwrap(), &host()).unwrap()
}

/// The indices of all loads and stores of several lanes.
fn indices(module: &IrModule) -> Vec<Expr> {
    let mut found = Vec::new();
    let mut see = |index: &Expr| {
        if !index.dtype.is_scalar() {
            found.push(index.clone());
        }
    };
    let body: &Stmt = &module.functions[0].body;
    body.walk_exprs(&mut |e| {
        if let ExprKind::Load { indices, .. } = &e.kind {
            indices.iter().for_each(&mut see);
        }
    });
    body.walk(&mut |child| {
        if let chipdock_ir::Child::Stmt(stmt) = child
            && let StmtKind::Store { indices, .. } = &stmt.kind
        {
            indices.iter().for_each(&mut see);
        }
    });
    found
}

fn run(module: &IrModule, args: &[Array]) -> Array {
    let mut args: Vec<Arg> = args.iter().cloned().map(Arg::Tensor).collect();
    let ran = Interpreter::new(module).run("f", &mut args);
    assert!(ran.is_ok(), "{ran:?}\n{}", print::module(module));
    match args.pop() {
        Some(Arg::Tensor(array)) => array,
        other => unreachable!("{other:?}"),
    }
}

/// `B[i, k + lane] = A[i, k + lane]`, where nothing is known of `k`.
fn copied(is_ramp: bool) -> IrModule {
    let mut f = build::function("f");
    let [m, n, k] = f.sizes(["m", "n", "k"]);
    let a = f.buffer("A", [m.clone(), n.clone()], I32);
    f.buffer("S", [k.clone()], I32);
    let b = f.buffer("B", [m.clone(), n], I32);
    f.range("i", m, |f, i| {
        if is_ramp {
            let at = k.clone().ramp(Expr::i32(1), 4);
            f.store(&b, [&i, &at], Expr::load(&a, vec![i.clone(), at.clone()]));
        } else {
            f.for_each(build::Loop::new("v", ForKind::Vectorized, 4), |f, v| {
                let at = k.clone() + v;
                f.store(&b, [&i, &at], Expr::load(&a, vec![i.clone(), at.clone()]));
            });
        }
    });
    one(f)
}

/// An index within its axis does not wrap (IR-E6), so that its lanes stay adjacent whatever is
/// known of it.
#[test]
fn lanes_stay_adjacent_wherever_they_begin() {
    for is_ramp in [true, false] {
        let module = copied(is_ramp);
        let flat = flattened(&module);
        let found = indices(&flat);
        assert_eq!(found.len(), 2, "{}", print::module(&flat));
        for index in found {
            let is_adjacent =
                matches!(&index.kind, ExprKind::Ramp { stride, .. } if stride.as_int() == Some(1));
            assert!(is_adjacent, "{}", print::module(&flat));
        }
        let values: Vec<i128> = (0..30).collect();
        let args =
            [Array::from_int(I32, &[3, 10], &values), Array::zeros(I32, &[5]), Array::zeros(I32, &[3, 10])];
        assert_eq!(run(&flat, &args).data, run(&module, &args).data);
        assert_eq!(run(&flat, &args).to_int()[10..20], [0, 0, 0, 0, 0, 15, 16, 17, 18, 0]);
    }
}

/// Unsigned integers wrap to others that are within the axis, and so does a sum with a negative
/// number.
#[test]
fn lanes_that_wrap_within_the_axis_are_kept() {
    let mut f = build::function("f");
    let [n] = f.sizes(["n"]);
    let (a, starts) = (f.buffer("A", [256], I32), f.buffer("S", [n.clone()], DType::UINT8));
    let b = f.buffer("B", [n.clone(), 8.into()], I32);
    f.range("i", n, |f, i| {
        let at = Expr::load(&starts, vec![i.clone()]).ramp(Expr::int(1, DType::UINT8), 8);
        f.store(&b, [&i, &Expr::i32(0).ramp(Expr::i32(1), 8)], Expr::load(&a, vec![at]));
    });
    let module = one(f);
    let flat = flattened(&module);
    let values: Vec<i128> = (0..256).collect();
    let args = [
        Array::from_int(I32, &[256], &values),
        Array::from_int(DType::UINT8, &[2], &[252, 7]),
        Array::zeros(I32, &[2, 8]),
    ];
    assert_eq!(run(&module, &args).to_int()[..8], [252, 253, 254, 255, 0, 1, 2, 3]);
    assert_eq!(run(&flat, &args).data, run(&module, &args).data);
}
