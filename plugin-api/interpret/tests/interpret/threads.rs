//! IR-K1 to IR-K6, INT-I7 to INT-I9: launches, instances, barriers, races, blocks scheduled to
//! threads.

use chipdock_interpret::{Arg, Array, ErrorKind, InterpretError, Interpreter, ThreadIndex};
use chipdock_ir::{
    Attrs, BinaryOp, Buffer, CompareOp, DType, Expr, ForKind, IrModule, Op, Param, PrimFunc, Span, Stmt,
    StmtKind, StorageScope, ThreadAxis, Var, build, validate,
};

use crate::{floats, ints, run};

const F32: DType = DType::FLOAT32;
const I32: DType = DType::INT32;

pub(crate) fn sync(scope: &str) -> Stmt {
    Stmt::new(StmtKind::Evaluate(Expr::call(Op::StorageSync, vec![Expr::str(scope)], DType::HANDLE)))
}

fn less(a: &Expr, b: i32) -> Expr {
    Expr::compare(CompareOp::Lt, a.clone(), Expr::i32(b))
}

pub(crate) fn equal(a: &Expr, b: i32) -> Expr {
    Expr::compare(CompareOp::Eq, a.clone(), Expr::i32(b))
}

pub(crate) fn i(value: i32) -> Expr {
    Expr::i32(value)
}

/// `n` threads of one block over A[n] and B[n], int32, A being 0, 1, ...; gives B.
pub(crate) fn threads(
    n: i32,
    body: impl FnOnce(&mut build::Body, Expr, &Buffer, &Buffer),
) -> Result<Vec<i128>, InterpretError> {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [n], I32), f.buffer("B", [n], I32));
    f.thread_binding("tx", n, ThreadAxis::ThreadX, |f, tx| body(f, tx, &a, &b));
    let values: Vec<i128> = (0..i128::from(n)).collect();
    let module = build::module([f.finish()]);
    assert_eq!(validate::validate(&module, chipdock_ir::Stage::Scheduled), Ok(()));
    let mut args = [Arg::Tensor(ints(I32, &values)), Arg::Tensor(Array::zeros(I32, &[n as usize]))];
    let mut bounded = args.clone();
    let outcome = Interpreter::new(&module).run("f", &mut args)?;
    let again = Interpreter::new(&module).with_bounds().run("f", &mut bounded).unwrap();
    assert_eq!(outcome.outputs[1].array, again.outputs[1].array, "the same with bounds");
    Ok(outcome.outputs[1].array.to_int())
}

fn kind(result: Result<Vec<i128>, InterpretError>) -> ErrorKind {
    result.unwrap_err().kind
}

fn thread(x: u32) -> ThreadIndex {
    ThreadIndex { thread: [x, 0, 0], ..ThreadIndex::default() }
}

/// ir: IR-K1.
#[test]
fn ir_k1_every_thread_of_the_grid_runs_the_body_once() {
    let mut f = build::function("f");
    let a = f.buffer("A", [2, 3, 4, 5], I32);
    f.thread_binding("by", 2, ThreadAxis::BlockY, |f, by| {
        f.thread_binding("bx", 3, ThreadAxis::BlockX, |f, bx| {
            f.thread_binding("ty", 4, ThreadAxis::ThreadY, |f, ty| {
                f.thread_binding("tx", 5, ThreadAxis::ThreadX, |f, tx| {
                    let at = [&by, &bx, &ty, &tx];
                    f.store(&a, at, a.at(at) + i(1));
                });
            });
        });
    });
    let result = run(f.finish(), vec![Array::zeros(I32, &[2, 3, 4, 5])]).unwrap();
    assert_eq!(result[0].to_int(), [1; 120]);
}

/// ir: IR-K1.
#[test]
fn ir_k1_an_axis_bound_again_is_the_same_thread() {
    // Cooperative fetching: all load, then each reads its own and its neighbour's.
    let result = threads(4, |f, tx, a, b| {
        let s = f.alloc("S", [4], I32, StorageScope::SHARED);
        f.thread_binding("t2", 4, ThreadAxis::ThreadX, |f, t| f.store(&s, [&t], a.at([&t]) * i(10)));
        f.push(sync("shared"));
        f.store(b, [&tx], s.at([&(i(3) - tx.clone())]));
    });
    assert_eq!(result.unwrap(), [30, 20, 10, 0]);
}

/// ir: IR-K1.
#[test]
fn ir_k1_statements_outside_of_an_axis_are_run_by_all_its_threads() {
    // The store is outside of the loop over y: all 3 threads of y do it, and race.
    let mut f = build::function("f");
    let a = f.buffer("A", [2], I32);
    f.thread_binding("tx", 2, ThreadAxis::ThreadX, |f, tx| {
        f.store(&a, [&tx], 1);
        f.thread_binding("ty", 3, ThreadAxis::ThreadY, |_, _| {});
    });
    let error = run(f.finish(), vec![Array::zeros(I32, &[2])]).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::ThreadRace { write: true, earlier_write: true, .. }), "{error}");
}

/// ir: IR-K1.
#[test]
fn ir_k1_extents_are_equal_and_known_at_the_start() {
    let launch = |first: i32, second: i32| {
        let mut f = build::function("f");
        let n = f.size("n");
        let a = f.buffer("A", [&n], I32);
        f.thread_binding("bx", 1, ThreadAxis::BlockX, |f, _| {
            f.thread_binding("t", n.clone() + i(first), ThreadAxis::ThreadX, |_, _| {});
            f.thread_binding("t", n.clone() + i(second), ThreadAxis::ThreadX, |f, t| f.store(&a, [&t], &t));
        });
        run(f.finish(), vec![Array::zeros(I32, &[3])]).map(|arrays| arrays[0].to_int())
    };
    assert_eq!(launch(0, 0).unwrap(), [0, 1, 2]);
    let error = launch(1, 0).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::BadLaunch { what } if what.contains("4 threads")), "{error}");
    assert_eq!(launch(-3, -3).unwrap(), [0, 0, 0], "no threads");
}

/// ir: IR-K1.
#[test]
fn ir_k1_two_launches_run_one_after_the_other() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], I32);
    f.thread_binding("t", 4, ThreadAxis::ThreadX, |f, t| f.store(&a, [&t], &t));
    f.thread_binding("t", 4, ThreadAxis::BlockX, |f, t| {
        f.if_then(equal(&t, 0), |f| f.range("k", 3, |f, k| f.store(&a, [&k], a.at([&(k.clone() + i(1))]))));
    });
    assert_eq!(run(f.finish(), vec![Array::zeros(I32, &[4])]).unwrap()[0].to_int(), [1, 2, 3, 3]);
}

/// ir: IR-K1.
#[test]
fn ir_k1_virtual_threads_are_threads_of_the_block() {
    let mut f = build::function("f");
    let b = f.buffer("B", [2, 3], I32);
    f.thread_binding("v", 2, ThreadAxis::VirtualX, |f, v| {
        f.thread_binding("tx", 3, ThreadAxis::ThreadX, |f, tx| {
            let s = f.alloc("S", [2, 3], I32, StorageScope::SHARED);
            let own = f.alloc("L", [1], I32, StorageScope::LOCAL);
            f.store(&own, [0], v.clone() * i(10) + tx.clone());
            f.store(&s, [&v, &tx], own.at([0]));
            f.push(sync("shared"));
            f.store(&b, [&v, &tx], s.at([i(1) - v.clone(), i(2) - tx.clone()]));
        });
    });
    let result = run(f.finish(), vec![Array::zeros(I32, &[2, 3])]).unwrap();
    assert_eq!(result[0].to_int(), [12, 11, 10, 2, 1, 0]);
}

/// ir: IR-K2.
#[test]
fn ir_k2_the_scope_says_how_many_instances_there_are() {
    // One global buffer for the launch; a shared one per block; a local one per thread, wherever
    // they are allocated.
    for inside in [false, true] {
        let mut f = build::function("f");
        let b = f.buffer("B", [2, 4], I32);
        let scopes = || [StorageScope::SHARED, StorageScope::LOCAL];
        let alloc = |f: &mut build::Body| scopes().map(|scope| f.alloc(scope.to_string(), [1], I32, scope));
        let body = |f: &mut build::Body, [s, l]: [Buffer; 2], bx: &Expr, tx: &Expr| {
            f.store(&l, [0], tx.clone() + bx.clone() * i(100));
            f.if_then(equal(tx, 3), |f| f.store(&s, [0], l.at([0])));
            f.push(sync("shared"));
            f.store(&b, [bx, tx], s.at([0]) * i(1000) + l.at([0]));
        };
        let outside = if inside { None } else { Some(alloc(&mut f)) };
        f.thread_binding("bx", 2, ThreadAxis::BlockX, |f, bx| {
            f.thread_binding("tx", 4, ThreadAxis::ThreadX, |f, tx| {
                let memory = outside.unwrap_or_else(|| alloc(f));
                body(f, memory, &bx, &tx);
            });
        });
        let result = run(f.finish(), vec![Array::zeros(I32, &[2, 4])]).unwrap();
        let expected = [3000, 3001, 3002, 3003, 103_100, 103_101, 103_102, 103_103];
        assert_eq!(result[0].to_int(), expected);
    }
}

/// ir: IR-K2.
#[test]
fn ir_k2_nothing_of_a_block_is_left_to_the_next() {
    // Block 0 writes shared memory, block 1 only reads it: what it reads was never written.
    for inside in [false, true] {
        let mut f = build::function("f");
        let b = f.buffer("B", [2], I32);
        let alloc = |f: &mut build::Body| f.alloc("S", [1], I32, StorageScope::SHARED);
        let outside = if inside { None } else { Some(alloc(&mut f)) };
        f.thread_binding("bx", 2, ThreadAxis::BlockX, |f, bx| {
            let s = outside.unwrap_or_else(|| alloc(f));
            f.if_then(equal(&bx, 0), |f| f.store(&s, [0], 1));
            f.store(&b, [&bx], s.at([0]));
        });
        let error = run(f.finish(), vec![Array::zeros(I32, &[2])]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "in f: load from S[0], which was never written (by thread (0, 0, 0) of block (1, 0, 0))"
        );
    }
}

/// ir: IR-K3.
#[test]
fn ir_k3_a_barrier_orders_the_threads_of_a_block() {
    let reverse = |barrier: bool| {
        threads(8, |f, tx, a, b| {
            let s = f.alloc("S", [8], I32, StorageScope::SHARED);
            f.store(&s, [&tx], a.at([&tx]));
            if barrier {
                f.push(sync("shared"));
            }
            f.store(b, [&tx], s.at([&(i(7) - tx.clone())]));
        })
    };
    assert_eq!(reverse(true).unwrap(), [7, 6, 5, 4, 3, 2, 1, 0]);
    // Without, thread 0 reads what thread 7 has yet to write.
    let error = reverse(false).unwrap_err();
    assert_eq!(error.thread.as_deref(), Some(&thread(0)));
    assert!(matches!(error.kind, ErrorKind::Uninitialized { .. }), "{error}");
}

/// ir: IR-K3.
#[test]
fn ir_k3_a_barrier_that_not_all_threads_reach_is_reported_with_both_places() {
    let at = |line| Span { line, column: 5 };
    let error = threads(4, |f, tx, _, b| {
        f.if_then(less(&tx, 2), |f| f.push(sync("shared").with_span(at(7))));
        f.push(sync("shared").with_span(at(9)));
        f.store(b, [&tx], 1);
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "9:5: in f: a barrier of the block is not reached by all threads: thread (0, 0, 0) of block (0, 0, 0) waits at \
         a barrier of the block in 7:5 (by thread (2, 0, 0) of block (0, 0, 0))"
    );
    // The same place in another iteration.
    let error = threads(2, |f, tx, _, b| {
        f.range("k", 2, |f, k| {
            f.if_then(Expr::compare(CompareOp::Eq, k, tx.clone()), |f| f.push(sync("shared")));
        });
        f.store(b, [&tx], 1);
    });
    assert!(matches!(kind(error), ErrorKind::BarrierDivergence { same_place: true, .. }));
    // Threads that have ended are not waited for.
    let result = threads(4, |f, tx, _, b| {
        f.if_then(less(&tx, 2), |f| {
            f.evaluate(Expr::call(Op::ThreadReturn, vec![], DType::HANDLE));
        });
        f.push(sync("shared"));
        f.store(b, [&tx], 1);
    });
    assert_eq!(result.unwrap(), [0, 0, 1, 1]);
}

/// ir: IR-K3.
#[test]
fn ir_k3_barriers_in_loops_go_by_iterations() {
    // A sum by halving, in a loop and in a while loop.
    for is_while in [false, true] {
        let result = threads(8, |f, tx, a, b| {
            let s = f.alloc("S", [8], I32, StorageScope::SHARED);
            let n = f.alloc("n", [1], I32, StorageScope::LOCAL);
            f.store(&s, [&tx], a.at([&tx]));
            f.store(&n, [0], 4);
            f.push(sync("shared"));
            let step = |f: &mut build::Body| {
                f.if_then(Expr::compare(CompareOp::Lt, tx.clone(), n.at([0])), |f| {
                    f.store(&s, [&tx], s.at([&tx]) + s.at([&(tx.clone() + n.at([0]))]));
                });
                f.push(sync("shared"));
                f.store(&n, [0], Expr::binary(BinaryOp::FloorDiv, n.at([0]), i(2)));
            };
            if is_while {
                let mut inner = build::function("x");
                step(&mut inner);
                let condition = Expr::compare(CompareOp::Gt, n.at([0]), i(0));
                f.push(Stmt::new(StmtKind::While { condition, body: inner.finish().body }));
            } else {
                f.range("k", 3, |f, _| step(f));
            }
            f.store(b, [&tx], s.at([0]));
        });
        assert_eq!(result.unwrap(), [28; 8]);
    }
}

/// ir: IR-K4.
#[test]
fn ir_k4_a_race_within_a_block_names_both_threads() {
    let error = threads(4, |f, tx, a, b| {
        f.store(b, [0], a.at([&tx]));
    });
    assert_eq!(
        error.unwrap_err().to_string(),
        "in f: two threads touch B[0] with no barrier between: thread (0, 0, 0) of block (0, 0, 0) writes it, then this \
         one writes it (by thread (1, 0, 0) of block (0, 0, 0))"
    );
    // A read of all, then a write by one of the readers.
    let error = threads(4, |f, tx, _, b| {
        let own = f.alloc("L", [1], I32, StorageScope::LOCAL);
        f.store(&own, [0], b.at([0]));
        f.if_then(equal(&tx, 3), |f| f.store(b, [0], own.at([0])));
    });
    let ErrorKind::ThreadRace { write, earlier_write, other, .. } = kind(error) else { panic!() };
    assert!(write && !earlier_write && other != thread(3));
    // In one thread's second iteration, after the others read.
    let error = threads(4, |f, tx, _, b| {
        let s = f.alloc("S", [1], I32, StorageScope::SHARED);
        f.range("k", 2, |f, k| {
            f.if_then(equal(&tx, 0), |f| f.store(&s, [0], &k));
            f.push(sync("shared"));
            f.store(b, [&tx], s.at([0]));
        });
    });
    let ErrorKind::ThreadRace { write, earlier_write, other, .. } = kind(error) else { panic!() };
    assert!(!write && earlier_write && other == thread(0));
}

/// ir: IR-K4.
#[test]
fn ir_k4_blocks_race_whatever_barriers_there_are() {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], I32);
    f.thread_binding("bx", 3, ThreadAxis::BlockX, |f, bx| {
        f.store(&a, [&bx], &bx);
        f.push(sync("shared"));
        let t = f.bind("t", a.at([&(bx.clone() + i(1))]));
        f.push(sync("shared"));
        f.store(&a, [&bx], t);
    });
    let error = run(f.finish(), vec![Array::zeros(I32, &[4])]).unwrap_err();
    assert_eq!(error.thread.as_ref().unwrap().block, [1, 0, 0]);
    let ErrorKind::ThreadRace { write: true, earlier_write: false, other, indices, .. } = error.kind else {
        panic!("{error}")
    };
    assert_eq!((other.block, indices), ([0, 0, 0], vec![1]));
}

/// ir: IR-E6.
#[test]
fn int_i4_one_thread_out_of_bounds_is_named() {
    let error = threads(4, |f, tx, a, b| f.store(b, [&tx], a.at([&(tx.clone() + i(1))])));
    assert_eq!(
        error.unwrap_err().to_string(),
        "in f: load from A[4] is out of bounds: its shape is [4] (by thread (3, 0, 0) of block (0, 0, 0))"
    );
}

/// ir: IR-B4, IR-K2.
#[test]
fn int_i4_local_memory_is_undefined_in_each_thread() {
    let error = threads(4, |f, tx, _, b| {
        let own = f.alloc("L", [1], I32, StorageScope::LOCAL);
        f.if_then(less(&tx, 2), |f| f.store(&own, [0], 1));
        f.store(b, [&tx], own.at([0]));
    });
    let error = error.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Uninitialized { .. }) && error.thread.as_deref() == Some(&thread(2)),
        "{error}"
    );
}

/// A device function as lowered: pointers, launched axes, a matmul of tiles in shared memory.
fn tiled_matmul(n: i32, tile: i32, barriers: bool) -> IrModule {
    let pointers = ["A", "B", "C"].map(|name| Var::pointer(name, F32, StorageScope::GLOBAL));
    let mut f = build::function("f");
    let launched = ["bx", "by", "tx", "ty"].map(|name| Var::new(name, I32));
    let [bx, by, tx, ty] = launched.clone().map(|var| var.expr());
    let size = vec![i(n * n)];
    let buffers = pointers.clone().map(|data| {
        let node = Buffer::new(&*data.name, size.clone(), F32, StorageScope::GLOBAL);
        let buffer = Buffer::from_node(chipdock_ir::BufferNode { data, ..(*node).clone() });
        f.push(Stmt::new(StmtKind::DeclBuffer { buffer: buffer.clone(), data: None }));
        buffer
    });
    let [a, b, c] = &buffers;
    let shared =
        ["As", "Bs"].map(|name| f.alloc(name, [tile * tile], F32, StorageScope::parse("shared.dyn")));
    let sum = f.alloc("sum", [1], F32, StorageScope::LOCAL);
    f.store(&sum, [0], Expr::float(0.0, F32));
    let (row, column) = (by * i(tile) + ty.clone(), bx * i(tile) + tx.clone());
    let own = ty.clone() * i(tile) + tx.clone();
    f.range("ko", n / tile, |f, ko| {
        let k = ko * i(tile);
        f.store(&shared[0], [&own], a.at([row.clone() * i(n) + k.clone() + tx.clone()]));
        f.store(&shared[1], [&own], b.at([(k + ty.clone()) * i(n) + column.clone()]));
        f.push(sync("shared.dyn"));
        f.range("ki", tile, |f, ki| {
            let left = shared[0].at([ty.clone() * i(tile) + ki.clone()]);
            let right = shared[1].at([ki * i(tile) + tx.clone()]);
            f.store(&sum, [0], sum.at([0]) + left * right);
        });
        if barriers {
            f.push(sync("shared.dyn"));
        }
    });
    f.store(c, [row * i(n) + column], sum.at([0]));
    let mut body = f.finish().body;
    let axes = [ThreadAxis::BlockX, ThreadAxis::BlockY, ThreadAxis::ThreadX, ThreadAxis::ThreadY];
    let extents = [n / tile, n / tile, tile, tile];
    for ((var, axis), extent) in launched.into_iter().zip(axes).zip(extents).rev() {
        body = Stmt::new(StmtKind::LaunchThread { var, axis, extent: i(extent), body });
    }
    build::module([PrimFunc {
        name: "f".into(),
        params: pointers.into_iter().map(Param::Var).collect(),
        ret: None,
        attrs: Attrs::new(),
        s_tir: true,
        alloc_buffers: vec![],
        body,
    }])
}

fn matrices(n: usize) -> ([Arg; 3], Vec<f64>) {
    let at = |seed: usize, index: usize| ((index * 7 + seed * 3) % 11) as f64 - 5.0;
    let values = |seed| (0..n * n).map(|index| at(seed, index)).collect::<Vec<f64>>();
    let (a, b) = (values(1), values(2));
    let mut c = vec![0.0; n * n];
    for (index, c) in c.iter_mut().enumerate() {
        *c = (0..n).map(|k| a[index / n * n + k] * b[k * n + index % n]).sum();
    }
    let zeros = Array::zeros(F32, &[n * n]);
    ([Arg::Tensor(floats(F32, &a)), Arg::Tensor(floats(F32, &b)), Arg::Tensor(zeros)], c)
}

#[test]
fn int_i7_a_lowered_tiled_matmul_takes_tensors_for_its_pointers() {
    let module = tiled_matmul(16, 4, true);
    assert_eq!(validate::validate(&module, chipdock_ir::Stage::Device), Ok(()));
    let (mut args, expected) = matrices(16);
    let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
    assert_eq!(outcome.output("C").unwrap().array.to_f64(), expected);
    // Tiles that are filled again while others still read them.
    let (mut args, _) = matrices(16);
    let before = args.clone();
    let error = Interpreter::new(&tiled_matmul(16, 4, false)).run("f", &mut args).unwrap_err();
    assert_eq!(args, before, "INT-I6");
    assert!(
        matches!(&error.kind, ErrorKind::ThreadRace { buffer, write: false, earlier_write: true, .. } if &**buffer == "As"),
        "{error}"
    );
}

/// ir: IR-K5.
#[test]
fn ir_k5_statements_that_share_memory_are_in_order_while_there_are_blocks() {
    // g_dynshm: what one loop over the threads writes, the next reads.
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [8], I32), f.buffer("B", [8], I32));
    let s = f.alloc("S", [8], I32, StorageScope::parse("shared.dyn"));
    f.thread_binding("bx", 1, ThreadAxis::BlockX, |f, _| {
        for (from, to, is_reversed) in [(&a, &s, false), (&s, &b, true)] {
            f.thread_binding("tx", 8, ThreadAxis::ThreadX, |f, tx| {
                f.block("copy", |f| {
                    let v = f.spatial("v", 8, tx);
                    let at = if is_reversed { i(7) - v.clone() } else { v.clone() };
                    f.store(to, [&v], from.at([&at]));
                });
            });
        }
    });
    let values = ints(I32, &[0, 1, 2, 3, 4, 5, 6, 7]);
    let result = run(f.finish(), vec![values, Array::zeros(I32, &[8])]).unwrap();
    assert_eq!(result[1].to_int(), [7, 6, 5, 4, 3, 2, 1, 0]);
}

/// ir: IR-K5.
#[test]
fn ir_k5_iterations_that_share_memory_are_in_order_while_there_are_blocks() {
    // Each iteration fills the tile again.
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [3, 4], I32), f.buffer("B", [3, 4], I32));
    let s = f.alloc("S", [4], I32, StorageScope::SHARED);
    f.thread_binding("tx", 4, ThreadAxis::ThreadX, |f, tx| {
        f.range("k", 3, |f, k| {
            for is_first in [true, false] {
                f.block("copy", |f| {
                    let (vk, v) = (f.spatial("vk", 3, &k), f.spatial("v", 4, &tx));
                    if is_first {
                        f.store(&s, [&v], a.at([&vk, &v]));
                    } else {
                        f.store(&b, [&vk, &v], s.at([&(i(3) - v.clone())]));
                    }
                });
            }
        });
    });
    let values = Array::from_int(I32, &[3, 4], &(0..12).collect::<Vec<_>>());
    let result = run(f.finish(), vec![values, Array::zeros(I32, &[3, 4])]).unwrap();
    assert_eq!(result[1].to_int(), [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]);
}

/// B[i] = the sum of A[i, k], k over threads and perhaps a loop; through `scope` if that is given.
fn sum_over_threads(scope: Option<StorageScope>, is_reversed: bool) -> IrModule {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [3, 16], F32), f.buffer("B", [3], F32));
    let through = scope.map(|scope| f.alloc("T", [3], F32, scope));
    let to = through.clone().unwrap_or_else(|| b.clone());
    f.thread_binding("bx", 3, ThreadAxis::BlockX, |f, bx| {
        f.range("ko", 2, |f, ko| {
            f.thread_binding("tx", 8, ThreadAxis::ThreadX, |f, tx| {
                let tx = if is_reversed { i(7) - tx } else { tx };
                f.block("sum", |f| {
                    let v = f.spatial("v", 3, &bx);
                    let k = f.reduce("k", 16, ko.clone() * i(8) + tx);
                    f.init(|f| f.store(&to, [&v], Expr::float(0.0, F32)));
                    f.store(&to, [&v], to.at([&v]) + a.at([&v, &k]));
                });
            });
        });
        if let Some(through) = &through {
            f.thread_binding("tx", 8, ThreadAxis::ThreadX, |f, tx| {
                f.block("out", |f| {
                    let v = f.spatial("v", 3, &bx);
                    f.predicate(equal(&tx, 5));
                    f.store(&b, [&v], through.at([&v]));
                });
            });
        }
    });
    build::module([f.finish()])
}

/// ir: IR-K6.
#[test]
fn ir_k6_threads_reduce_together_into_memory_of_any_scope() {
    let values: Vec<f64> = (0..48).map(|index| f64::from(index % 7) * 0.1).collect();
    let rounded: Vec<f64> = values.iter().map(|value| f64::from(*value as f32)).collect();
    let scopes = [None, Some(StorageScope::SHARED), Some(StorageScope::LOCAL), Some(StorageScope::GLOBAL)];
    for (scope, is_reversed) in scopes.into_iter().flat_map(|scope| [(scope.clone(), false), (scope, true)]) {
        let module = sum_over_threads(scope.clone(), is_reversed);
        assert_eq!(validate::validate(&module, chipdock_ir::Stage::Scheduled), Ok(()));
        let mut args =
            [Arg::Tensor(Array::from_f64(F32, &[3, 16], &values)), Arg::Tensor(Array::zeros(F32, &[3]))];
        let outcome = Interpreter::new(&module).with_bounds().run("f", &mut args).unwrap();
        let output = outcome.output("B").unwrap();
        let bounds = output.bounds.as_ref().unwrap();
        for (row, found) in output.array.to_f64().into_iter().enumerate() {
            let row_values = &rounded[row * 16..][..16];
            // INT-B3: any order.
            let forward: f32 = row_values.iter().map(|value| *value as f32).sum();
            let backward: f32 = row_values.iter().rev().map(|value| *value as f32).sum();
            let exact: f64 = row_values.iter().sum();
            assert!(bounds[row] > 0.0 && bounds[row] < 1e-4, "{}", bounds[row]);
            for other in [f64::from(forward), f64::from(backward), exact] {
                assert!((found - other).abs() <= bounds[row], "{found} {other} {}", bounds[row]);
            }
        }
    }
}

/// ir: IR-K6.
#[test]
fn ir_k6_partners_of_each_group_reduce_into_their_own() {
    // Two rows of threads; each row has a sum of its own in local memory.
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [2, 4], I32), f.buffer("B", [2, 4], I32));
    let t = f.alloc("T", [1], I32, StorageScope::LOCAL);
    f.thread_binding("ty", 2, ThreadAxis::ThreadY, |f, ty| {
        f.thread_binding("tx", 4, ThreadAxis::ThreadX, |f, tx| {
            f.block("sum", |f| {
                let v = f.spatial("v", 2, &ty);
                let k = f.reduce("k", 4, &tx);
                f.predicate(less(&tx, 3));
                f.init(|f| f.store(&t, [0], 0));
                f.store(&t, [0], t.at([0]) + a.at([&v, &k]));
            });
            f.block("out", |f| {
                let (v, k) = (f.spatial("v", 2, &ty), f.spatial("k", 4, &tx));
                f.store(&b, [&v, &k], t.at([0]) * i(10) + k.clone());
            });
        });
    });
    let values = Array::from_int(I32, &[2, 4], &[1, 2, 3, 100, 4, 5, 6, 100]);
    let result = run(f.finish(), vec![values, Array::zeros(I32, &[2, 4])]).unwrap();
    assert_eq!(result[1].to_int(), [60, 61, 62, 63, 150, 151, 152, 153]);
}

#[test]
fn int_i5_a_launch_counts_its_threads() {
    let mut f = build::function("f");
    f.thread_binding("bx", i32::MAX, ThreadAxis::BlockX, |f, _| {
        f.thread_binding("by", i32::MAX, ThreadAxis::BlockY, |f, _| {
            f.thread_binding("bz", i32::MAX, ThreadAxis::BlockZ, |_, _| {});
        });
    });
    let module = build::module([f.finish()]);
    let limits = chipdock_interpret::Limits { steps_max: 10_000, ..Default::default() };
    let error = Interpreter::new(&module).with_limits(limits).run("f", &mut []).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::StepLimit { .. }), "{error}");
    let mut f = build::function("f");
    f.thread_binding("tx", 1 << 17, ThreadAxis::ThreadX, |_, _| {});
    assert!(matches!(run(f.finish(), vec![]).unwrap_err().kind, ErrorKind::BadLaunch { .. }));
}

/// ir: IR-K3.
#[test]
fn ir_k3_outside_of_launches_barriers_do_nothing() {
    let mut f = build::function("f");
    let a = f.buffer("A", [1], I32);
    f.push(sync("shared"));
    f.for_loop("p", 1, ForKind::Parallel, |f, _| f.store(&a, [0], 3));
    assert_eq!(run(f.finish(), vec![Array::zeros(I32, &[1])]).unwrap()[0].to_int(), [3]);
}

/// ir: IR-K3, IR-E8.
#[test]
fn ir_k3_functions_that_threads_call_compute_and_do_not_wait() {
    let callee = |waits: bool| {
        let mut f = build::function("g");
        let x = f.scalar("x", I32);
        f.returns(I32);
        if waits {
            f.push(sync("shared"));
        }
        f.return_value(x * i(3));
        f.finish()
    };
    let caller = |waits: bool| {
        let mut f = build::function("f");
        let a = f.buffer("A", [4], I32);
        f.thread_binding("tx", 4, ThreadAxis::ThreadX, |f, tx| {
            let callee = chipdock_ir::Callee::Global("g".into());
            let call = chipdock_ir::ExprKind::Call { callee, args: vec![tx.clone()] };
            f.store(&a, [&tx], Expr::new(call, I32));
        });
        let module = build::module([f.finish(), callee(waits)]);
        crate::run_module(&module, "f", vec![Array::zeros(I32, &[4])]).map(|arrays| arrays[0].to_int())
    };
    assert_eq!(caller(false).unwrap(), [0, 3, 6, 9]);
    let error = caller(true).unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Unsupported { what } if what.contains("inline it")), "{error}");
}
