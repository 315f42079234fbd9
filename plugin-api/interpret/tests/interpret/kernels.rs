//! Ops of quantised kernels and for optimisers.

use chipdock_interpret::{Array, ErrorKind};
use chipdock_ir::op::DotProduct;
use chipdock_ir::{Buffer, DType, Expr, Op, Stmt, StmtKind, StorageScope, Var, build};

use crate::{apply, ints, last, run};

const I32: DType = DType::INT32;

/// ir: IR-E8.
#[test]
fn dp4a_adds_four_products() {
    for (four, one, a, b, sum, expected) in [
        (DType::INT8, I32, [-128, 127, 3, -1], [-128, 127, -5, 7], 10, 16384 + 16129 - 15 - 7 + 10),
        (DType::INT8, I32, [127; 4], [127; 4], i32::MAX.into(), i128::from(i32::MAX.wrapping_add(4 * 16129))),
        (DType::UINT8, DType::UINT32, [255, 255, 1, 0], [255, 255, 2, 9], 4_294_967_295, 2 * 65025 + 2 - 1),
    ] {
        let mut f = build::function("f");
        let [x, y] = ["A", "B"].map(|name| f.buffer(name, [1], four.with_lanes(4)));
        let c = f.buffer("C", [1], one);
        f.store(&c, [0], Expr::call(Op::Dp4a, vec![x.at([0]), y.at([0]), c.at([0])], one));
        let lanes = |values: &[i128]| Array::from_int(four.with_lanes(4), &[1], values);
        let result = run(f.finish(), vec![lanes(&a), lanes(&b), ints(one, &[sum])]).unwrap();
        assert_eq!(result[2].to_int(), [expected]);
    }
}

/// ir: IR-E8.
#[test]
fn dot_add_adds_the_products_of_each_group() {
    for dot in DotProduct::ALL {
        let group = usize::from(dot.group);
        let mut f = build::function("f");
        let wide = DType::with_lanes;
        let [a, b] =
            [("A", dot.a), ("B", dot.b)].map(|(name, of)| f.buffer(name, [1], wide(of, 2 * dot.group)));
        let c = f.buffer("C", [1], dot.sum.with_lanes(2));
        let args = vec![c.at([0]), a.at([0]), b.at([0])];
        f.store(&c, [0], Expr::call(Op::DotAdd, args, dot.sum.with_lanes(2)));
        let least = if dot.b == DType::INT8 { -128 } else { -100 };
        let first: Vec<i128> =
            (0..2 * group as i128).map(|i| if dot.a.is_uint() { 255 - i } else { 127 - i }).collect();
        let second: Vec<i128> =
            first.iter().map(|i| if dot.b.is_uint() { 255 - i } else { least + i % 3 }).collect();
        let array = |dtype: DType, values: &[i128]| {
            let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            Array::from_f64(wide(dtype, values.len() as u16), &[1], &values)
        };
        let sums = [7, -1000];
        let given = vec![array(dot.a, &first), array(dot.b, &second), array(dot.sum, &sums)];
        let result = run(f.finish(), given).unwrap();
        let expected = [0, 1].map(|lane| {
            let part = lane * group..(lane + 1) * group;
            (sums[lane] + part.map(|at| first[at] * second[at]).sum::<i128>()) as f64
        });
        assert_eq!(result[2].to_f64(), expected, "{}", dot.name());
    }
}

/// The formula of [`Op::QMultiplyShift`], worked out wider than it is defined.
fn q_multiply(x: i128, y: i128, left: i128, right: i128) -> i128 {
    let product = (x << left) * y;
    let half = if right > 0 { 1 << (right - 1) } else { 0 };
    i128::from(((product + half) >> right) as i32)
}

/// ir: IR-E8.
#[test]
fn q_multiply_shift_rounds_half_up() {
    let values = [0, 1, -1, 3, -3, 100, -77, 1 << 20, -(1 << 20), i128::from(i32::MAX), i128::from(i32::MIN)];
    for (y, q, s) in [(1 << 30, 31, 0), (1_073_741_824, 31, 2), (-5, 3, -2), (7, 0, 1), (3, 1, 0)] {
        let result = apply(&[ints(I32, &values)], I32, |operands| {
            let args = [y, q, s].map(|value| Expr::int(value, I32));
            Expr::call(Op::QMultiplyShift, [vec![operands[0].clone()], args.to_vec()].concat(), I32)
        });
        let expected: Vec<i128> = values.iter().map(|&x| q_multiply(x, y, s.max(0), q - s.min(0))).collect();
        assert_eq!(last(&result).to_int(), expected, "{y} {q} {s}");
        for (shifts_left, shifts_right) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let result = apply(&[ints(I32, &values)], I32, |operands| {
                let args = [y, 2, 1, q, shifts_left, shifts_right].map(|value| Expr::int(value, I32));
                let args = [vec![operands[0].clone()], args.to_vec()].concat();
                Expr::call(Op::QMultiplyShiftPerAxis, args, I32)
            });
            let expected: Vec<i128> =
                values.iter().map(|&x| q_multiply(x, y, 2 * shifts_left, q + shifts_right)).collect();
            assert_eq!(last(&result).to_int(), expected, "{y} {q} {shifts_left} {shifts_right}");
        }
    }
}

/// ir: IR-E8.
#[test]
fn assumptions_hold_and_access_pointers_point() {
    let assume = |value: bool| {
        let mut f = build::function("f");
        f.evaluate(Expr::call(Op::Assume, vec![Expr::bool(value)], DType::HANDLE));
        run(f.finish(), vec![])
    };
    assert!(assume(true).is_ok());
    assert!(matches!(assume(false).unwrap_err().kind, ErrorKind::Assumption));
    let mut f = build::function("f");
    let a = f.buffer("A", [4], I32);
    let args = vec![Expr::i32(0), a.data.expr(), Expr::i32(2), Expr::i32(2), Expr::i32(3)];
    let data = Var::pointer("p", I32, StorageScope::GLOBAL);
    let value = Expr::call(Op::AccessPtr, args, DType::HANDLE);
    f.push(Stmt::new(StmtKind::Bind { var: data.clone(), value }));
    let view = Buffer::new("V", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
    let view = Buffer::from_node(chipdock_ir::BufferNode { data, ..(*view).clone() });
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data: None }));
    let invariant = Expr::call(Op::ThreadInvariant, vec![view.at([0])], I32);
    f.store(&view, [1], invariant * Expr::i32(10));
    assert_eq!(run(f.finish(), vec![ints(I32, &[1, 2, 3, 4])]).unwrap()[0].to_int(), [1, 2, 3, 30]);
}
