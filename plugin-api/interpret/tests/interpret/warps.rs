//! IR-K7, INT-I9, INT-I10: operations of the threads of a warp, atomics, reductions over threads.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, ErrorKind, Interpreter};
use chipdock_ir::{
    AttrNode, Buffer, CompareOp, DType, Expr, Op, Reducer, Stmt, StmtKind, StorageScope, ThreadAxis, Var,
    build,
};

use crate::threads::{equal, i, sync, threads};
use crate::{floats, run};

const F32: DType = DType::FLOAT32;
const I32: DType = DType::INT32;
const U32: DType = DType::UINT32;

fn activemask() -> Expr {
    Expr::call(Op::WarpActivemask, vec![], U32)
}

fn shuffle(op: Op, mask: Expr, value: Expr, lane: impl Into<Expr>, width: i32) -> Expr {
    let dtype = value.dtype;
    Expr::call(op, vec![mask, value, lane.into(), i(width), i(32)], dtype)
}

fn all() -> Expr {
    Expr::int(0xffff_ffff, U32)
}

fn local(f: &mut build::Body, name: &str, dtype: DType) -> Buffer {
    f.alloc(name, [1], dtype, StorageScope::LOCAL)
}

fn add_to(buffer: &Buffer, index: Expr, value: Expr) -> Expr {
    let dtype = value.dtype;
    let address = Expr::call(Op::AddressOf, vec![buffer.at([&index])], DType::HANDLE);
    Expr::call(Op::AtomicAdd, vec![address, value], dtype)
}

/// ir: IR-K7.
#[test]
fn ir_k7_shuffles_take_the_value_of_a_lane_of_the_group() {
    let take = |op: Op, lane: fn(&Expr) -> Expr, width: i32| {
        threads(8, |f, tx, a, b| {
            let t = local(f, "t", I32);
            f.store(&t, [0], shuffle(op, all(), a.at([&tx]), lane(&tx), width));
            f.store(b, [&tx], t.at([0]));
        })
    };
    assert_eq!(take(Op::WarpShuffle, |_| i(3), 32).unwrap(), [3; 8]);
    assert_eq!(take(Op::WarpShuffle, |_| i(5), 4).unwrap(), [1, 1, 1, 1, 5, 5, 5, 5]);
    assert_eq!(take(Op::WarpShuffleUp, |_| i(1), 4).unwrap(), [0, 0, 1, 2, 4, 4, 5, 6]);
    assert_eq!(take(Op::WarpShuffleDown, |_| i(3), 4).unwrap(), [3, 1, 2, 3, 7, 5, 6, 7]);
    assert_eq!(take(Op::WarpShuffleXor, |_| i(1), 32).unwrap(), [1, 0, 3, 2, 5, 4, 7, 6]);
    // From lanes that no thread runs: the warp has 8.
    let error = take(Op::WarpShuffle, |tx| tx.clone() + i(1), 32).unwrap_err();
    assert_eq!(
        error.to_string(),
        "in f: a shuffle from lane 8, which the mask 0xffffffff leaves out or no thread runs (by thread (7, 0, 0) of \
         block (0, 0, 0))"
    );
}

/// ir: IR-K7.
#[test]
fn ir_k7_masks_name_those_who_take_part() {
    // Lower and upper half, each for itself, in a branch.
    let halves = |lower: u32| {
        threads(8, |f, tx, a, b| {
            let t = local(f, "t", I32);
            let part = |mask: u32, first: i32| {
                let (tx, t, a) = (tx.clone(), t.clone(), a.clone());
                move |f: &mut build::Body| {
                    let mask = Expr::int(mask.into(), U32);
                    f.store(&t, [0], shuffle(Op::WarpShuffle, mask, a.at([&tx]), first, 32));
                }
            };
            let is_low = Expr::compare(CompareOp::Lt, tx.clone(), i(4));
            f.if_then_else(is_low, part(lower, 0), part(0xf0, 4));
            f.push(sync("shared"));
            f.store(b, [&tx], t.at([0]));
        })
    };
    assert_eq!(halves(0x0f).unwrap(), [0, 0, 0, 0, 4, 4, 4, 4]);
    // A lane that leaves itself out; a mask that names some who are elsewhere.
    assert!(matches!(halves(0x07).unwrap_err().kind, ErrorKind::InactiveLane { lane: 3, mask: 7 }));
    assert!(matches!(halves(0xff).unwrap_err().kind, ErrorKind::BarrierDivergence { .. }));
}

/// ir: IR-K7.
#[test]
fn int_i9_an_activemask_has_those_who_come_together() {
    let result = threads(8, |f, tx, _, b| {
        let m = local(f, "m", U32);
        f.store(&m, [0], Expr::int(0, U32));
        f.if_then(Expr::compare(CompareOp::Ge, tx.clone(), i(5)), |f| f.store(&m, [0], activemask()));
        f.store(b, [&tx], m.at([0]).cast(I32));
    });
    assert_eq!(result.unwrap(), [0, 0, 0, 0, 0, 0xe0, 0xe0, 0xe0]);
}

/// TVM's reduction of a block of 64 threads by shuffles: by warps, then the first warp over what
/// they staged.
fn sum_by_shuffles(n_staged: i32) -> chipdock_ir::PrimFunc {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [64], F32), f.buffer("B", [1], F32));
    f.thread_binding("tx", 64, ThreadAxis::ThreadX, |f, tx| {
        let staging = f.alloc("staging", [2], F32, StorageScope::SHARED);
        let (mask, value, taken) = (local(f, "mask", U32), local(f, "value", F32), local(f, "taken", F32));
        let (value_2, lane) = (local(f, "value_2", F32), f.bind("lane", modulo(&tx, 32)));
        f.store(&value, [0], a.at([&tx]));
        let reduce = |f: &mut build::Body, value: &Buffer, from: i32| {
            f.store(&mask, [0], activemask());
            for delta in [16, 8, 4, 2, 1].into_iter().filter(|delta| *delta <= from) {
                f.store(&taken, [0], shuffle(Op::WarpShuffleDown, mask.at([0]), value.at([0]), delta, 32));
                f.store(value, [0], value.at([0]) + taken.at([0]));
            }
        };
        reduce(f, &value, 16);
        let warp = f.bind("warp", Expr::binary(chipdock_ir::BinaryOp::FloorDiv, tx.clone(), i(32)));
        f.if_then(equal(&lane, 0), |f| f.store(&staging, [&warp], value.at([0])));
        f.push(sync("shared"));
        // The other threads' value_2 is never written: it goes through shuffles, and into nothing
        // else.
        f.if_then(Expr::compare(CompareOp::Lt, tx.clone(), i(n_staged)), |f| {
            f.store(&value_2, [0], staging.at([&tx]));
        });
        reduce(f, &value_2, 1);
        f.if_then(equal(&tx, 0), |f| f.store(&b, [0], value_2.at([0])));
    });
    f.finish()
}

fn modulo(a: &Expr, b: i32) -> Expr {
    Expr::binary(chipdock_ir::BinaryOp::FloorMod, a.clone(), i(b))
}

/// ir: IR-K7.
#[test]
fn ir_k7_a_sum_by_shuffles_is_right_and_i10_lets_undefined_values_pass() {
    let values: Vec<f64> = (0..64).map(f64::from).collect();
    let args = || vec![floats(F32, &values), Array::zeros(F32, &[1])];
    let result = run(sum_by_shuffles(2), args()).unwrap();
    assert_eq!(result[1].to_f64(), [2016.0]);
    // Here the result itself is made of one.
    let error = run(sum_by_shuffles(1), args()).unwrap_err();
    assert!(
        matches!(&error.kind, ErrorKind::Uninitialized { buffer, .. } if &**buffer == "value_2"),
        "{error}"
    );
    // Bounds go along: the order is the kernel's.
    let module = build::module([sum_by_shuffles(2)]);
    let mut args: Vec<Arg> = args().into_iter().map(Arg::Tensor).collect();
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    assert_eq!(outcome.outputs[1].bounds.as_ref().unwrap(), &[0.0]);
}

/// ir: IR-K7.
#[test]
fn ir_k7_atomics_do_not_race_with_each_other() {
    let histogram = |read_after: bool, barrier: bool| {
        threads(64, |f, tx, a, b| {
            let s = f.alloc("S", [4], I32, StorageScope::SHARED);
            f.if_then(Expr::compare(CompareOp::Lt, tx.clone(), i(4)), |f| f.store(&s, [&tx], 0));
            f.push(sync("shared"));
            f.evaluate(add_to(&s, modulo(&a.at([&tx]), 4), i(1)));
            if barrier {
                f.push(sync("shared"));
            }
            if read_after {
                f.if_then(Expr::compare(CompareOp::Lt, tx.clone(), i(4)), |f| f.store(b, [&tx], s.at([&tx])));
            }
        })
    };
    let mut expected = vec![0; 64];
    expected[..4].fill(16);
    assert_eq!(histogram(true, true).unwrap(), expected);
    let ErrorKind::ThreadRace { write, earlier_write, .. } = histogram(true, false).unwrap_err().kind else {
        panic!()
    };
    assert!(earlier_write || write);
    // Across blocks, on global memory.
    let mut f = build::function("f");
    let b = f.buffer("B", [1], F32);
    f.thread_binding("bx", 5, ThreadAxis::BlockX, |f, _| {
        f.thread_binding("tx", 7, ThreadAxis::ThreadX, |f, _| {
            f.evaluate(add_to(&b, i(0), Expr::float(0.1, F32)));
        });
    });
    let module = build::module([f.finish()]);
    let mut args = [Arg::Tensor(Array::zeros(F32, &[1]))];
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    let (found, bound) =
        (outcome.outputs[0].array.to_f64()[0], outcome.outputs[0].bounds.as_ref().unwrap()[0]);
    // INT-B3: in any order.
    assert!((found - 3.5).abs() < 1e-5 && bound > 0.0 && bound < 1e-4, "{found} ± {bound}");
}

/// A reduction over the threads of x, for each of y, as `tvm_thread_allreduce` says it.
fn allreduce(
    dtypes: &[DType],
    combine: impl Fn(&[Expr], &[Expr]) -> Vec<Expr>,
    identity: Vec<Expr>,
    condition: impl Fn(&Expr) -> Expr,
) -> chipdock_ir::PrimFunc {
    let vars = |name: &str| -> Vec<Var> { dtypes.iter().map(|&dtype| Var::new(name, dtype)).collect() };
    let exprs = |vars: &[Var]| -> Vec<Expr> { vars.iter().map(Var::expr).collect() };
    let (lhs, rhs) = (vars("x"), vars("y"));
    let result = combine(&exprs(&lhs), &exprs(&rhs));
    let reducer = Arc::new(Reducer { lhs, rhs, result, identity });
    let mut f = build::function("f");
    let inputs: Vec<Buffer> = dtypes.iter().map(|&dtype| f.buffer("A", [2, 4], dtype)).collect();
    let outputs: Vec<Buffer> = dtypes.iter().map(|&dtype| f.buffer("B", [2, 4], dtype)).collect();
    f.thread_binding("ty", 2, ThreadAxis::ThreadY, |f, ty| {
        f.thread_binding("tx", 4, ThreadAxis::ThreadX, |f, tx| {
            let results: Vec<Buffer> = dtypes.iter().map(|&dtype| local(f, "r", dtype)).collect();
            let mut args = vec![Expr::int(dtypes.len() as i128, U32)];
            args.extend(inputs.iter().map(|input| input.at([&ty, &tx])));
            args.push(condition(&tx));
            args.extend(results.iter().map(|result| result.at([0])));
            args.push(tx.clone());
            let body = Stmt::new(StmtKind::Evaluate(Expr::call(Op::ThreadAllreduce, args, DType::HANDLE)));
            let node = AttrNode::Reducer(Arc::clone(&reducer));
            f.push(Stmt::new(StmtKind::Attr { node, key: "reduce_scope".into(), value: i(0), body }));
            for (output, result) in outputs.iter().zip(&results) {
                f.store(output, [&ty, &tx], result.at([0]));
            }
        });
    });
    f.finish()
}

/// ir: IR-K7.
#[test]
fn ir_k7_an_allreduce_combines_over_its_axes() {
    let sum = |x: &[Expr], y: &[Expr]| vec![x[0].clone() + y[0].clone()];
    let f = allreduce(&[F32], sum, vec![Expr::float(0.0, F32)], |tx| {
        Expr::compare(CompareOp::Ne, tx.clone(), i(1))
    });
    let module = build::module([f]);
    assert_eq!(chipdock_ir::validate::validate(&module, chipdock_ir::Stage::Scheduled).err(), None);
    let values = Array::from_f64(F32, &[2, 4], &[0.1, 9.0, 0.2, 0.3, 1.0, 9.0, 2.0, 3.0]);
    let mut args = [Arg::Tensor(values), Arg::Tensor(Array::zeros(F32, &[2, 4]))];
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    let first = f64::from(0.1_f32 + 0.2 + 0.3);
    assert_eq!(outcome.outputs[1].array.to_f64(), [first, first, first, first, 6.0, 6.0, 6.0, 6.0]);
    let bounds = outcome.outputs[1].bounds.as_ref().unwrap();
    assert!(bounds[0] > 0.0 && bounds[0] < 1e-6, "INT-B3: {bounds:?}");
    // Nobody's condition holds: the identity.
    let f = allreduce(&[F32], sum, vec![Expr::float(0.5, F32)], |_| Expr::bool(false));
    let result = run(f, vec![Array::zeros(F32, &[2, 4]), Array::zeros(F32, &[2, 4])]).unwrap();
    assert_eq!(result[1].to_f64(), [0.5; 8]);
}

/// ir: IR-K7.
#[test]
fn ir_k7_an_allreduce_of_several_values_is_an_argmax() {
    let larger = |x: &[Expr], y: &[Expr]| {
        let takes = Expr::compare(CompareOp::Ge, x[1].clone(), y[1].clone());
        (0..2).map(|at| Expr::select(takes.clone(), x[at].clone(), y[at].clone())).collect()
    };
    let identity = vec![Expr::i32(-1), Expr::float(-1e30, F32)];
    let f = allreduce(&[I32, F32], larger, identity, |_| Expr::bool(true));
    let index = Array::from_int(I32, &[2, 4], &[0, 1, 2, 3, 0, 1, 2, 3]);
    let values = Array::from_f64(F32, &[2, 4], &[0.5, 9.0, 0.25, 0.75, 1.0, -9.0, 2.0, 3.0]);
    let outputs = [Array::zeros(I32, &[2, 4]), Array::zeros(F32, &[2, 4])];
    let [first, second] = outputs;
    let module = build::module([f]);
    let mut args = [index, values, first, second].map(Arg::Tensor);
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    assert_eq!(outcome.outputs[2].array.to_int(), [1, 1, 1, 1, 3, 3, 3, 3]);
    assert_eq!(outcome.outputs[3].bounds.as_ref().unwrap(), &[0.0; 8]);
}

/// ir: IR-K2.
#[test]
fn ir_k2_warps_have_memory_and_barriers_of_their_own() {
    let reverse = |barrier: &'static str| {
        threads(64, move |f, tx, a, b| {
            let w = f.alloc("W", [32], I32, StorageScope::parse("warp"));
            let lane = f.bind("lane", modulo(&tx, 32));
            f.store(&w, [&lane], a.at([&tx]));
            if !barrier.is_empty() {
                f.push(sync(barrier));
            }
            f.store(b, [&tx], w.at([&(i(31) - lane.clone())]));
        })
    };
    let expected: Vec<i128> = (0..32).rev().chain((32..64).rev()).collect();
    assert_eq!(reverse("warp").unwrap(), expected);
    assert_eq!(reverse("shared").unwrap(), expected);
    assert!(reverse("").is_err());
    // A barrier of the warp orders nothing between warps.
    let error = threads(64, |f, tx, a, b| {
        let s = f.alloc("S", [64], I32, StorageScope::SHARED);
        f.store(&s, [&tx], a.at([&tx]));
        f.push(sync("warp"));
        f.store(b, [&tx], s.at([&(i(63) - tx.clone())]));
    });
    assert!(matches!(error.unwrap_err().kind, ErrorKind::ThreadRace { .. }));
}
