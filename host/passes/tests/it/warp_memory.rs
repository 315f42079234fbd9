//! Tests of warp memory: as interpreted, and as lowered to local memory with shuffles.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{
    BinaryOp, DType, Expr, IrModule, Op, StorageScope, TargetCapabilities, ThreadAxis, build, print,
};
use chipdock_passes::{Fault, lower_warp_memory};
use proptest::prelude::*;

use crate::capabilities::device;

const WARP: i32 = 32;

/// A block of warps, each thread with parts of so many elements in so many turns.
#[derive(Clone, Debug)]
struct Case {
    /// Threads along x and y.
    block: [i32; 2],
    neighbours: i32,
    turns: i32,
    /// Whose elements a thread loads: its own number `op` this.
    partner: (usize, i32),
    dtype: usize,
    is_guarded: bool,
    again: bool,
    /// Whether the number within the warp is written digit by digit.
    by_digits: bool,
}

fn capabilities() -> TargetCapabilities {
    use Op::{WarpActivemask, WarpShuffle};
    let thread_axes = vec![ThreadAxis::BlockX, ThreadAxis::ThreadX, ThreadAxis::ThreadY];
    let storage_scopes = ["global", "shared", "local", "warp"].map(str::to_owned).to_vec();
    let native_ops = vec![WarpActivemask, WarpShuffle];
    device().with(|it| {
        it.execution.thread_axes = thread_axes;
        it.memory.storage_scopes = storage_scopes;
        it.execution.native_ops = native_ops;
        it.execution.warp_size = Some(WARP.into());
    })
}

impl Case {
    fn dtype(&self) -> DType {
        [DType::INT32, DType::FLOAT32, DType::INT8, DType::FLOAT16][self.dtype]
    }

    fn partner(&self, lane: &Expr) -> Expr {
        let (how, by) = self.partner;
        let moved = match how {
            0 => lane.clone() + by,
            1 => Expr::i32(by) - lane.clone(),
            2 => lane.clone() * by,
            _ => Expr::i32(by),
        };
        Expr::binary(BinaryOp::FloorMod, moved, Expr::i32(WARP))
    }

    fn module(&self) -> (IrModule, Vec<Arg>) {
        let [x, y] = self.block;
        let part = self.neighbours * self.turns;
        let all = x * y * part;
        let (t, dtype) = (WARP * self.neighbours, self.dtype());
        let mut f = build::function("f");
        let a = f.buffer("A", [all], dtype);
        let b = f.buffer("B", [all], dtype);
        f.launch_thread("ty", y, ThreadAxis::ThreadY, |f, ty| {
            f.launch_thread("tx", x, ThreadAxis::ThreadX, |f, tx| {
                let w = f.alloc("W", [WARP * part], dtype, StorageScope::parse("warp"));
                let thread = ty.clone() * x + tx.clone();
                let lane = if self.by_digits && WARP % x == 0 {
                    Expr::binary(BinaryOp::FloorMod, ty.clone(), Expr::i32(WARP / x)) * x + tx
                } else {
                    Expr::binary(BinaryOp::FloorMod, thread.clone(), Expr::i32(WARP))
                };
                let lane = f.bind("lane", lane);
                let place = |turn: &Expr, lane: &Expr, n: &Expr| {
                    turn.clone() * t + lane.clone() * self.neighbours + n.clone()
                };
                let of_thread = |turn: &Expr, n: &Expr| {
                    thread.clone() * part + turn.clone() * self.neighbours + n.clone()
                };
                for round in 0..=i32::from(self.again) {
                    f.grid(["turn", "n"], [self.turns, self.neighbours], |f, [turn, n]| {
                        let value = a.at([of_thread(&turn, &n)]) + Expr::constant(0, dtype);
                        let value = if round == 0 { value } else { value.clone() + value };
                        f.store(&w, [place(&turn, &lane, &n)], value);
                    });
                    f.barrier("warp");
                    f.grid(["turn", "n"], [self.turns, self.neighbours], |f, [turn, n]| {
                        let load = w.at([place(&turn, &self.partner(&lane), &n)]);
                        let own = w.at([place(&turn, &lane, &n)]);
                        let value = if self.is_guarded {
                            let some = Expr::compare(chipdock_ir::CompareOp::Lt, lane.clone(), Expr::i32(20));
                            Expr::call(Op::IfThenElse, vec![some, load, own], dtype)
                        } else {
                            load + own
                        };
                        let at = of_thread(&turn, &n);
                        f.store(&b, [&at], b.at([&at]) + value);
                    });
                    f.barrier("warp");
                }
            });
        });
        let values: Vec<i128> = (0..all).map(|at| i128::from(at * 5 % 23 - 11)).collect();
        let floats: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        let array = if dtype.is_float() {
            Array::from_f64(dtype, &[all as usize], &floats)
        } else {
            Array::from_int(dtype, &[all as usize], &values)
        };
        let zeros = Array::zeros(dtype, &[all as usize]);
        (build::module([f.finish()]), vec![Arg::Tensor(array), Arg::Tensor(zeros)])
    }
}

fn result(module: &IrModule, args: &[Arg]) -> Result<Array, String> {
    let run = Interpreter::new(module).run("f", &mut args.to_vec());
    run.map(|outcome| outcome.outputs[1].array.clone()).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// PASS-L3.
    #[test]
    fn memory_of_a_warp_stays(
        block in prop_oneof![Just([32, 1]), Just([64, 1]), Just([32, 2]), Just([16, 4]), Just([8, 4]), Just([96, 1])],
        neighbours in 1..4_i32,
        turns in 1..4_i32,
        partner in (0..4_usize, 0..40_i32),
        dtype in 0..4_usize,
        [is_guarded, again, by_digits] in any::<[bool; 3]>(),
    ) {
        let case = Case { block, neighbours, turns, partner, dtype, is_guarded, again, by_digits };
        let (module, args) = case.module();
        let lowered = lower_warp_memory(&module, &capabilities()).unwrap();
        let text = print::module(&lowered);
        prop_assert!(!text.contains("scope=\"warp\""), "{}", text);
        let expected = result(&module, &args);
        prop_assert!(expected.is_ok(), "{:?}", expected);
        prop_assert_eq!(result(&lowered, &args), expected, "{}", text);
    }
}

/// PASS-L4: what cannot be lowered, and on which target.
#[test]
fn memory_that_is_not_of_a_warp_is_refused() {
    let case = Case {
        block: [32, 1],
        neighbours: 1,
        turns: 1,
        partner: (0, 1),
        dtype: 0,
        is_guarded: false,
        again: false,
        by_digits: false,
    };
    let (module, _) = case.module();
    for (capabilities, says) in [
        (capabilities().with(|it| it.execution.native_ops = Vec::new()), "do not shuffle"),
        (capabilities().with(|it| it.execution.warp_size = None), "not known"),
        (capabilities().with(|it| it.execution.warp_size = Some(1)), "not known"),
        (capabilities().with(|it| it.execution.warp_size = Some(64)), "not known"),
    ] {
        let error = lower_warp_memory(&module, &capabilities).unwrap_err();
        assert_eq!(error.fault, Fault::Target);
        assert!(error.to_string().contains(says) && error.to_string().contains("buffer W"), "{error}");
    }
    // Of warps of 16 threads each has two elements, and which one its neighbour loads depends on
    // the thread.
    let error =
        lower_warp_memory(&module, &capabilities().with(|it| it.execution.warp_size = Some(16))).unwrap_err();
    assert!(error.to_string().contains("from the same place"), "{error}");
}
