//! Tests of WIRE-W5: the core nodes of 1.0 that replace ops of later minor versions compute the same as the ops.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::op::DotProduct;
use chipdock_ir::validate::validate;
use chipdock_ir::wire::{read, write_at};
use chipdock_ir::{DType, Expr, ForKind, Op, Stage, Stmt, build, print};

/// Runs `C[lane] = value(A[lane], …)` as a reader of 1.0 gets it.
fn as_1_0(inputs: &[Array], lanes: u16, value: impl Fn(&[Expr]) -> Expr) -> Vec<i128> {
    let mut f = build::function("f");
    let size = Expr::i32(inputs[0].shape[0] as i32);
    let from: Vec<_> =
        inputs.iter().enumerate().map(|(i, a)| f.buffer(format!("A{i}"), [&size], a.dtype)).collect();
    let operands =
        |index: &Expr| from.iter().map(|buffer| Expr::load(buffer, vec![index.clone()])).collect::<Vec<_>>();
    let to = f.buffer("C", [&size], DType::INT32);
    let steps = inputs[0].shape[0] as i32 / i32::from(lanes);
    f.for_loop("i", steps, ForKind::Serial, |f, i| {
        let at = if lanes == 1 { i } else { (i * Expr::i32(lanes.into())).ramp(Expr::i32(1), lanes) };
        f.store(&to, [at.clone()], value(&operands(&at)));
    });
    let module = build::module([f.finish()]);
    assert_eq!(validate(&module, Stage::Blocks), Ok(()), "{}", print::module(&module));
    let text = write_at(&module, "1.0.0").unwrap();
    let older = read(&text).unwrap();
    assert_eq!(write_at(&older, "1.0.0").unwrap(), text, "WIRE-W4");
    assert_eq!(validate(&older, Stage::Blocks), Ok(()), "{}", print::module(&older));
    let mut args: Vec<Arg> = inputs.iter().cloned().map(Arg::Tensor).collect();
    args.push(Arg::Tensor(Array::zeros(DType::INT32, &inputs[0].shape)));
    Interpreter::new(&older).run("f", &mut args).unwrap().outputs.last().unwrap().array.to_int()
}

/// (x · 2^l · y + half of 2^r) / 2^r, rounded down.
fn multiplied(x: i128, y: i128, l: i128, r: i128) -> i128 {
    let product = DType::INT64.wrap((x << l) * y);
    let half = if r > 0 { 1 << (r - 1) } else { 0 };
    DType::INT32.wrap(DType::INT64.wrap(product + half) >> r)
}

fn ints(values: &[i128]) -> Array {
    Array::from_int(DType::INT32, &[values.len()], values)
}

/// WIRE-W5: quantised ops in core nodes give what their definition gives.
#[test]
fn quantised_ops_have_equals_in_1_0() {
    let x = [1, -1, 1_234_567, -7, i128::from(i32::MAX), i128::from(i32::MIN), 100, -100];
    let y = [1 << 30, 1 << 30, -1_500_000_000, 3, 2_000_000_000, 1 << 30, 7, i128::from(i32::MIN)];
    for (q, s) in [(31, 0), (31, 5), (31, -3), (0, 0), (0, 2), (7, -1), (1, 0)] {
        let wanted: Vec<i128> =
            x.iter().zip(y).map(|(x, y)| multiplied(*x, y, s.max(0), q - s.min(0))).collect();
        for lanes in [1, 4] {
            let found = as_1_0(&[ints(&x), ints(&y)], lanes, |args| {
                let [q, s] = [q, s].map(|value| Expr::i32(value as i32));
                Expr::call(Op::QMultiplyShift, vec![args[0].clone(), args[1].clone(), q, s], args[0].dtype)
            });
            assert_eq!(found, wanted, "q {q}, s {s}, {lanes} lanes");
        }
    }
    let left = [0, 1, 2, 3, 0, 0, 5, 6];
    let right = [0, 3, 2, 1, 9, 4, 0, 1];
    for (l, r) in [(false, false), (true, false), (false, true), (true, true)] {
        let wanted: Vec<i128> = (0..x.len())
            .map(|i| multiplied(x[i], y[i], if l { left[i] } else { 0 }, 20 + if r { right[i] } else { 0 }))
            .collect();
        for lanes in [1, 4] {
            let found = as_1_0(&[ints(&x), ints(&y), ints(&left), ints(&right)], lanes, |args| {
                let mut all = args.to_vec();
                all.extend([20, i32::from(l), i32::from(r)].map(Expr::i32));
                Expr::call(Op::QMultiplyShiftPerAxis, all, args[0].dtype)
            });
            assert_eq!(found, wanted, "left {l}, right {r}, {lanes} lanes");
        }
    }
}

#[test]
fn dp4a_has_an_equal_in_1_0() {
    for (narrow, wide) in [(DType::INT8, DType::INT32), (DType::UINT8, DType::UINT32)] {
        let mut f = build::function("f");
        let a = f.buffer("A", [8], narrow);
        let b = f.buffer("B", [8], narrow);
        let c = f.buffer("C", [2], wide);
        f.for_loop("i", 2, ForKind::Serial, |f, i| {
            let at = (&i * &Expr::i32(4)).ramp(Expr::i32(1), 4);
            let [x, y] = [&a, &b].map(|buffer| Expr::load(buffer, vec![at.clone()]));
            let sum = c.at([&i]);
            f.store(&c, [&i], Expr::call(Op::Dp4a, vec![x, y, sum], wide));
        });
        let module = build::module([f.finish()]);
        assert_eq!(validate(&module, Stage::Blocks), Ok(()));
        let older = read(&write_at(&module, "1.0.0").unwrap()).unwrap();
        assert_eq!(validate(&older, Stage::Blocks), Ok(()), "{}", print::module(&older));
        let values = [200, 255, 3, -128, 127, 1, 0, -1].map(|value| narrow.wrap(value));
        let sums = [5, -9].map(|value| wide.wrap(value));
        let array = |dtype, values: &[i128]| Arg::Tensor(Array::from_int(dtype, &[values.len()], values));
        let mut args = [array(narrow, &values), array(narrow, &values), array(wide, &sums)];
        let found = Interpreter::new(&older).run("f", &mut args).unwrap().outputs[2].array.to_int();
        let square = |part: &[i128]| part.iter().map(|value| value * value).sum::<i128>();
        let wanted = [sums[0] + square(&values[..4]), sums[1] + square(&values[4..])];
        assert_eq!(found, wanted.map(|value| wide.wrap(value)));
    }
}

#[test]
fn dot_add_has_an_equal_in_1_3() {
    for dot in DotProduct::ALL {
        let mut f = build::function("f");
        let wide = 4 * i32::from(dot.group);
        let (a, b) = (f.buffer("A", [wide], dot.a), f.buffer("B", [wide], dot.b));
        let c = f.buffer("C", [4], dot.sum);
        let ramp = |lanes: u16| vec![Expr::i32(0).ramp(Expr::i32(1), lanes)];
        let factors = [&a, &b].map(|buffer| Expr::load(buffer, ramp(4 * dot.group)));
        let args = [Expr::load(&c, ramp(4))].into_iter().chain(factors).collect();
        f.push(Stmt::store(&c, ramp(4), Expr::call(Op::DotAdd, args, dot.sum.with_lanes(4))));
        let module = build::module([f.finish()]);
        assert_eq!(validate(&module, Stage::Blocks), Ok(()));
        let older = read(&write_at(&module, "1.3.0").unwrap()).unwrap();
        assert_eq!(validate(&older, Stage::Blocks), Ok(()), "{}", print::module(&older));
        let run = |module: &chipdock_ir::IrModule| {
            let numbers = |n: usize, by: i128| (0..n as i128).map(|i| i * by % 100 - 20).collect::<Vec<_>>();
            let array = |dtype: DType, n: usize, by: i128| {
                let values: Vec<f64> =
                    numbers(n, by).into_iter().map(|value| dtype_value(dtype, value)).collect();
                Arg::Tensor(Array::from_f64(dtype, &[n], &values))
            };
            let wide = wide as usize;
            let mut args = [array(dot.a, wide, 37), array(dot.b, wide, 51), array(dot.sum, 4, 7)];
            Interpreter::new(module).run("f", &mut args).unwrap().outputs[2].array.to_f64()
        };
        assert_eq!(run(&older), run(&module), "{}", dot.name());
    }
}

/// A number that the type has.
fn dtype_value(dtype: DType, value: i128) -> f64 {
    (if dtype.is_uint() { value.abs() } else { value }) as f64
}
