//! Tests of the interpreter against its contract; names of tests cite the rule
//! (`chipdock_interpret`, INT-I1 to INT-I12, INT-B1 to INT-B4).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, its helpers too")]

mod blocks;
mod bounds;
mod constants;
mod errors;
mod kernels;
mod meaning;
mod ops;
mod packed;
mod parallel;
mod statements;
mod storage;
mod threads;
mod warps;

use chipdock_interpret::{Arg, Array, InterpretError, Interpreter, Outcome};
use chipdock_ir::{DType, Expr, ForKind, IrModule, PrimFunc, build};

/// A function `C[i] = value(A[i], ...)` over arrays of one length.
fn elementwise(inputs: &[DType], output: DType, value: impl FnOnce(&[Expr]) -> Expr) -> PrimFunc {
    let mut f = build::function("f");
    let n = f.size("n");
    let from: Vec<_> =
        inputs.iter().enumerate().map(|(at, &t)| f.buffer(format!("A{at}"), [&n], t)).collect();
    let to = f.buffer("C", [&n], output);
    f.for_loop("i", &n, ForKind::Serial, |f, i| {
        let operands: Vec<Expr> = from.iter().map(|buffer| buffer.at([&i])).collect();
        f.store(&to, [&i], value(&operands));
    });
    f.finish()
}

/// Runs an elementwise function on arrays; gives the result with bounds.
fn apply(inputs: &[Array], output: DType, value: impl FnOnce(&[Expr]) -> Expr) -> Outcome {
    let dtypes: Vec<DType> = inputs.iter().map(|array| array.dtype).collect();
    let module = build::module([elementwise(&dtypes, output, value)]);
    let mut args: Vec<Arg> = inputs.iter().cloned().map(Arg::Tensor).collect();
    args.push(Arg::Tensor(Array::zeros(output, &inputs[0].shape)));
    let plain = Interpreter::new(&module).run("f", &mut args.clone()).unwrap();
    let bounded = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    let (plain, kept) = (plain.outputs.last().unwrap(), bounded.outputs.last().unwrap());
    // Bits, but for NaN, are the same with and without bounds.
    for lane in 0..kept.array.n_lanes() {
        let (a, b) = (plain.array.float(lane).unwrap(), kept.array.float(lane).unwrap());
        assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{a} {b}");
    }
    bounded
}

fn floats(dtype: DType, values: &[f64]) -> Array {
    Array::from_f64(dtype, &[values.len()], values)
}

fn ints(dtype: DType, values: &[i128]) -> Array {
    Array::from_int(dtype, &[values.len()], values)
}

/// The last tensor of a run.
fn last(outcome: &Outcome) -> &Array {
    &outcome.outputs.last().unwrap().array
}

fn run(function: PrimFunc, args: Vec<Array>) -> Result<Vec<Array>, InterpretError> {
    run_module(&build::module([function]), "f", args)
}

fn run_module(module: &IrModule, name: &str, args: Vec<Array>) -> Result<Vec<Array>, InterpretError> {
    let mut args: Vec<Arg> = args.into_iter().map(Arg::Tensor).collect();
    let before = args.clone();
    match Interpreter::new(module).run(name, &mut args) {
        Ok(outcome) => Ok(outcome.outputs.into_iter().map(|output| output.array).collect()),
        Err(error) => {
            assert_eq!(args, before, "INT-I6: arguments stay as they were");
            Err(error)
        }
    }
}
