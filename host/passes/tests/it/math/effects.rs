//! Quantised arithmetic, pointers and atomics.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{Callee, DType, Expr, ExprKind, ForKind, Op, Stmt, StmtKind, TargetCapabilities, build};
use chipdock_passes::lower_intrinsics;

use super::run_for;
use crate::capabilities::{host, narrow};

const EXTREMES: [i32; 12] =
    [0, 1, -1, 2, -2, 77, -12345, 1 << 30, i32::MAX, i32::MIN, i32::MIN + 1, 1_518_500_250];

/// ((x << left) y + half of 2^right) >> right, as the op's page has it, in int64.
fn shifted(x: i32, y: i32, left: i32, right: i32) -> i128 {
    let product = i64::from(x).wrapping_shl(left as u32).wrapping_mul(y.into());
    let half = if right == 0 { 0 } else { 1_i64.wrapping_shl(right as u32 - 1) };
    (product.wrapping_add(half).wrapping_shr(right as u32) as i32).into()
}

#[test]
fn quantised_products_are_rounded_half_up() {
    let counts =
        [(31, 0), (31, -4), (31, 3), (15, -1), (0, 0), (30, -31), (33, 0), (32, 31), (63, 0), (1, 31)];
    for ((q, s), capabilities) in counts.into_iter().flat_map(|count| [(count, host()), (count, narrow())]) {
        let pairs: Vec<(i32, i32)> = EXTREMES.iter().flat_map(|x| EXTREMES.map(|y| (*x, y))).collect();
        let array = |values: Vec<i32>| {
            let values: Vec<i128> = values.into_iter().map(i128::from).collect();
            Array::from_int(DType::INT32, &[values.len()], &values)
        };
        let n = pairs.len();
        let args = vec![
            array(pairs.iter().map(|pair| pair.0).collect()),
            array(pairs.iter().map(|pair| pair.1).collect()),
            array(vec![q; n]),
            array(vec![s; n]),
        ];
        let found =
            run_for(&capabilities, Op::QMultiplyShift, &[DType::INT32; 4], DType::INT32, args).to_int();
        for ((x, y), found) in pairs.into_iter().zip(found) {
            assert_eq!(found, shifted(x, y, s.max(0), q - s.min(0)), "{x} {y} {q} {s}");
        }
    }
}

/// An op on constants, its result stored in an int32.
fn constant(capabilities: &TargetCapabilities, op: Op, args: Vec<Expr>, dtype: DType) -> i128 {
    let mut f = build::function("f");
    let b = f.buffer("B", [1], dtype);
    f.store(&b, [0], Expr::call(op, args, dtype));
    let mut function = f.finish();
    function.s_tir = false;
    let lowered = lower_intrinsics(&build::module([function]), capabilities).unwrap();
    let mut args = [Arg::Tensor(Array::zeros(dtype, &[1]))];
    Interpreter::new(&lowered).run("f", &mut args).unwrap();
    let [Arg::Tensor(found)] = args else { unreachable!("a tensor") };
    found.to_int()[0]
}

#[test]
fn products_per_axis_shift_where_a_flag_says_so() {
    let (x, y, left, right, q) = (-1_234_567, 2_000_000_001, 2, 3, 29);
    for (shift_left, shift_right) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let args = [x, y, left, right, q, shift_left, shift_right].map(Expr::i32).to_vec();
        for capabilities in [host(), narrow()] {
            let found = constant(&capabilities, Op::QMultiplyShiftPerAxis, args.clone(), DType::INT32);
            assert_eq!(found, shifted(x, y, left * shift_left, q + right * shift_right));
        }
    }
}

#[test]
fn four_products_are_summed() {
    let vector = |values: [i128; 4], dtype: DType| {
        let lanes = values.map(|value| Expr::int(value, dtype)).to_vec();
        Expr::new(ExprKind::Shuffle { vectors: lanes, indices: vec![0, 1, 2, 3] }, dtype.with_lanes(4))
    };
    let a = vector([-128, 127, -1, 5], DType::INT8);
    let b = vector([-128, 127, 100, -7], DType::INT8);
    let found = constant(&host(), Op::Dp4a, vec![a, b, Expr::i32(1000)], DType::INT32);
    assert_eq!(found, 128 * 128 + 127 * 127 - 100 - 35 + 1000);
    let a = vector([255, 255, 255, 255], DType::UINT8);
    let sum = Expr::int(u32::MAX.into(), DType::UINT32);
    let found = constant(&host(), Op::Dp4a, vec![a.clone(), a, sum], DType::UINT32);
    assert_eq!(found, 4 * 255 * 255 - 1);
}

#[test]
fn products_of_each_group_are_summed_unless_the_target_does() {
    let lanes = |values: &[i128], dtype: DType| {
        let lanes: Vec<Expr> = values.iter().map(|value| Expr::int(*value, dtype)).collect();
        let indices = (0..values.len() as u16).collect();
        Expr::new(ExprKind::Shuffle { vectors: lanes, indices }, dtype.with_lanes(values.len() as u16))
    };
    let (a, b) = (lanes(&[255, 255, 1, 0], DType::UINT8), lanes(&[-128, -128, 7, 9], DType::INT8));
    let args = vec![Expr::i32(i32::MIN), a, b];
    let found = constant(&host(), Op::DotAdd, args.clone(), DType::INT32);
    assert_eq!(found, i128::from(i32::MIN.wrapping_sub(2 * 255 * 128 - 7)));
    let args =
        vec![Expr::i32(3), lanes(&[-32768, -32768], DType::INT16), lanes(&[-32768, -32768], DType::INT16)];
    assert_eq!(constant(&host(), Op::DotAdd, args.clone(), DType::INT32), i128::from(i32::MIN) + 3);
    let function = |args: Vec<Expr>| {
        let mut f = build::function("f");
        let c = f.buffer("C", [1], DType::INT32);
        f.store(&c, [0], Expr::call(Op::DotAdd, args, DType::INT32));
        build::module([f.finish()])
    };
    let native = host().with(|it| it.execution.dot_products = vec!["int16*int16".to_owned()]);
    let calls = |capabilities: &TargetCapabilities| {
        let mut count = 0;
        let lowered = lower_intrinsics(&function(args.clone()), capabilities).unwrap();
        lowered.functions[0].body.walk_exprs(&mut |e| {
            let dot = Callee::Op(Op::DotAdd);
            count += usize::from(matches!(&e.kind, ExprKind::Call { callee, .. } if *callee == dot));
        });
        count
    };
    assert_eq!((calls(&native), calls(&host())), (1, 0));
}

/// STAGE-H5: within a parallel loop an atomic stays one, elsewhere it is a load, a sum and a store.
#[test]
fn lone_atomics_become_sums() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], DType::INT32);
    let b = f.buffer("B", [8], DType::INT32);
    let add = |index: Expr, value: Expr| {
        let address = Expr::call(Op::AddressOf, vec![Expr::load(&a, vec![index])], DType::HANDLE);
        Expr::call(Op::AtomicAdd, vec![address, value], DType::INT32)
    };
    f.range("i", 8, |f, i| {
        f.store(&b, [&i], add(Expr::load(&b, vec![i.clone()]), i.clone()) * Expr::i32(2));
    });
    let mut function = f.finish();
    function.s_tir = false;
    let mut module = build::module([function]);
    let lowered = lower_intrinsics(&module, &host()).unwrap();
    assert!(!atomics(&lowered));
    let values = [1, 3, 1, 0, 2, 1, 3, 3];
    let mut args = [
        Arg::Tensor(Array::zeros(DType::INT32, &[4])),
        Arg::Tensor(Array::from_int(DType::INT32, &[8], &values)),
    ];
    Interpreter::new(&lowered).run("f", &mut args).unwrap();
    let [Arg::Tensor(sums), Arg::Tensor(before)] = args else { unreachable!("two tensors") };
    assert_eq!(sums.to_int(), [3, 2 + 5, 4, 1 + 6 + 7]);
    assert_eq!(before.to_int(), [0, 0, 0, 0, 0, 4, 2, 14]);

    let body = module.functions[0].body.clone();
    module.functions[0].body = parallel(&body);
    assert!(atomics(&lower_intrinsics(&module, &host()).unwrap()));
}

/// The same with each loop parallel.
fn parallel(stmt: &Stmt) -> Stmt {
    let stmt = stmt.map_children(&mut Clone::clone, &mut parallel);
    let StmtKind::For { var, extent, body, .. } = &stmt.kind else { return stmt };
    Stmt::for_loop(var.clone(), extent.clone(), ForKind::Parallel, body.clone())
}

fn atomics(module: &chipdock_ir::IrModule) -> bool {
    let mut found = false;
    module.functions[0].body.walk_exprs(&mut |e| {
        found |= matches!(&e.kind, ExprKind::Call { callee: Callee::Op(Op::AtomicAdd), .. });
    });
    found
}
