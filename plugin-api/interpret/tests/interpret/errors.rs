//! INT-I3 to INT-I6: reported errors, and the absence of panics.

use chipdock_interpret::{Arg, Array, ErrorKind, InterpretError, Interpreter, Limits};
use chipdock_ir::{
    Buffer, BufferNode, Callee, CompareOp, DType, Expr, ExprKind, ForKind, IrModule, Span, Stmt, StmtKind,
    StorageScope, build,
};

use crate::{floats, ints, run};

const I32: DType = DType::INT32;

fn one_buffer(
    build_body: impl FnOnce(&mut build::Body, &chipdock_ir::Buffer),
) -> Result<Vec<i128>, InterpretError> {
    let mut f = build::function("f");
    let a = f.buffer("A", [4], I32);
    build_body(&mut f, &a);
    run(f.finish(), vec![ints(I32, &[1, 2, 3, 4])]).map(|arrays| arrays[0].to_int())
}

/// ir: IR-E6.
#[test]
fn int_i4_out_of_bounds_says_where_and_what() {
    let mut f = build::function("f");
    let a = f.buffer("A", [2, 3], I32);
    let store = Stmt::store(&a, vec![Expr::i32(1), Expr::i32(3)], Expr::i32(0));
    f.push(store.with_span(Span { line: 7, column: 5 }));
    let error = run(f.finish(), vec![Array::zeros(I32, &[2, 3])]).unwrap_err();
    assert_eq!(error.to_string(), "7:5: in f: store to A[1, 3] is out of bounds: its shape is [2, 3]");
    for index in [-1, 4, i32::MIN, i32::MAX] {
        let error = one_buffer(|f, a| drop(f.bind("t", a.at([index])))).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OutOfBounds { write: false, .. }), "{error}");
    }
}

/// ir: IR-S4.
#[test]
fn int_i3_iterations_of_a_parallel_loop_must_not_meet() {
    // Every iteration adds to A[0].
    let error = one_buffer(|f, a| {
        f.for_loop("i", 4, ForKind::Parallel, |f, i| f.store(a, [0], a.at([0]) + i));
    });
    let text = "in f: two iterations of a parallel loop touch A[0]: one writes it, a later one reads it";
    assert_eq!(error.unwrap_err().to_string(), text);
    // One reads what another writes later.
    let error = one_buffer(|f, a| {
        f.for_loop("i", 3, ForKind::Parallel, |f, i| f.store(a, [&i], a.at([&(i.clone() + Expr::i32(1))])));
    });
    let ErrorKind::Race { write, earlier_write, .. } = error.unwrap_err().kind else { panic!() };
    assert!(write && !earlier_write);
    // Two write.
    let error = one_buffer(|f, a| {
        f.for_loop("i", 4, ForKind::Parallel, |f, i| {
            f.store(a, [Expr::binary(chipdock_ir::BinaryOp::FloorDiv, i, Expr::i32(2))], 0);
        });
    });
    let ErrorKind::Race { write, earlier_write, .. } = error.unwrap_err().kind else { panic!() };
    assert!(write && earlier_write);
}

/// A function with memory of int32, a view of its bytes, and what `fill` does with the view; it
/// gives the bytes.
fn bytes(fill: impl FnOnce(&mut build::Body, &Buffer, &Buffer)) -> Result<Vec<i128>, InterpretError> {
    let mut f = build::function("f");
    let out = f.buffer("A", [8], DType::UINT8);
    let words = f.alloc("W", [2], I32, StorageScope::GLOBAL);
    let view = Buffer::new("V", vec![Expr::i32(8)], DType::UINT8, StorageScope::GLOBAL);
    let view = Buffer::from_node(BufferNode { data: words.data.clone(), ..(*view).clone() });
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data: None }));
    fill(&mut f, &words, &view);
    f.for_loop("i", 8, ForKind::Serial, |f, i| f.store(&out, [&i], view.at([&i])));
    run(f.finish(), vec![Array::zeros(DType::UINT8, &[8])]).map(|arrays| arrays[0].to_int())
}

/// ir: IR-S4. Neighbours in memory of wider elements are two, to races and to what was written.
#[test]
fn int_i4_elements_of_the_narrowest_view_are_distinguished() {
    let byte = |i: &Expr| i.clone().cast(DType::UINT8);
    let found = bytes(|f, _, v| f.for_loop("i", 8, ForKind::Parallel, |f, i| f.store(v, [&i], byte(&i))));
    assert_eq!(found.unwrap(), (0..8).collect::<Vec<_>>());
    let error = bytes(|f, _, v| {
        f.for_loop("i", 8, ForKind::Parallel, |f, i| {
            let at = Expr::binary(chipdock_ir::BinaryOp::FloorDiv, i.clone(), Expr::i32(2));
            f.store(v, [at], byte(&i));
        });
    });
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Race { .. }));
    // A word and a byte of it.
    let error = bytes(|f, w, v| {
        f.for_loop("i", 2, ForKind::Parallel, |f, i| {
            f.store(w, [&i], 7);
            f.store(v, [&i], byte(&i));
        });
    });
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Race { .. }));
    let error = bytes(|f, w, v| {
        f.store(v, [5], Expr::int(1, DType::UINT8));
        f.store(w, [0], 7);
    });
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Uninitialized { .. }), "bytes 4, 6 and 7");
    let found = bytes(|f, w, v| {
        f.store(w, [1], 0x0102_0304);
        f.store(w, [0], 0);
        f.store(v, [5], Expr::int(9, DType::UINT8));
    });
    assert_eq!(found.unwrap(), [0, 0, 0, 0, 4, 9, 2, 1]);
}

/// ir: IR-S4.
#[test]
fn int_i3_ordered_accesses_are_no_race() {
    // Reads of one element by all; each writes its own; then a second loop after the first; a
    // serial loop within.
    let result = one_buffer(|f, a| {
        f.for_loop("i", 3, ForKind::Parallel, |f, i| {
            f.range("k", 3, |f, _| f.store(a, [&i], a.at([&i]) + a.at([3])));
        });
        f.for_loop("i", 3, ForKind::Parallel, |f, i| {
            f.store(a, [&(i.clone() + Expr::i32(1))], a.at([&i.clone()]) * Expr::i32(0))
        });
    });
    // The second loop does race: A[i + 1] is read by the next iteration.
    assert!(matches!(result.unwrap_err().kind, ErrorKind::Race { .. }));
    let result = one_buffer(|f, a| {
        f.for_loop("i", 3, ForKind::Parallel, |f, i| {
            f.range("k", 3, |f, _| f.store(a, [&i], a.at([&i]) + a.at([3])));
        });
        f.for_loop("i", 3, ForKind::Parallel, |f, i| f.store(a, [&i], a.at([&i]) + Expr::i32(1)));
    });
    assert_eq!(result.unwrap(), [14, 15, 16, 4]);
}

#[test]
fn int_i3_an_early_read_is_remembered() {
    // All read A[0]; the last then writes it, and its own read was the latest.
    let result = one_buffer(|f, a| {
        f.for_loop("i", 3, ForKind::Parallel, |f, i| {
            f.bind("t", a.at([0]));
            f.if_then(Expr::compare(CompareOp::Eq, i, Expr::i32(2)), |f| f.store(a, [0], 0));
        });
    });
    assert!(matches!(result.unwrap_err().kind, ErrorKind::Race { write: true, earlier_write: false, .. }));
}

/// ir: IR-S4.
#[test]
fn int_i3_nested_parallel_loops_race_at_either_level() {
    let nested = |index: fn(&Expr, &Expr) -> Expr| {
        one_buffer(|f, a| {
            f.for_loop("i", 2, ForKind::Parallel, |f, i| {
                f.for_loop("j", 2, ForKind::Parallel, |f, j| f.store(a, [index(&i, &j)], 7));
            });
        })
    };
    assert_eq!(nested(|i, j| i.clone() * Expr::i32(2) + j.clone()).unwrap(), [7; 4]);
    assert!(nested(|i, _| i.clone()).is_err(), "inner iterations meet");
    assert!(nested(|_, j| j.clone()).is_err(), "outer iterations meet");
}

/// ir: IR-B2, IR-S4.
#[test]
fn int_i3_a_buffer_allocated_in_an_iteration_is_its_own() {
    let result = one_buffer(|f, a| {
        f.for_loop("i", 4, ForKind::Parallel, |f, i| {
            let t = f.alloc("t", [1], I32, StorageScope::LOCAL);
            f.store(&t, [0], i.clone() * i.clone());
            f.store(a, [&i], t.at([0]));
        });
    });
    assert_eq!(result.unwrap(), [0, 1, 4, 9]);
}

/// ir: IR-B4.
#[test]
fn int_i4_unwritten_elements_are_not_read() {
    let error = one_buffer(|f, a| {
        let t = f.alloc("t", [2, 2], I32, StorageScope::GLOBAL);
        f.store(&t, [0, 1], 5);
        f.store(a, [0], t.at([0, 1]));
        f.store(a, [1], t.at([1, 1]));
    });
    assert_eq!(error.unwrap_err().to_string(), "in f: load from t[1, 1], which was never written");
    // A second pass over the allocation makes it undefined again.
    let error = one_buffer(|f, a| {
        f.range("i", 2, |f, i| {
            let t = f.alloc("t", [2], I32, StorageScope::GLOBAL);
            f.store(&t, [&i], 5);
            f.store(a, [0], t.at([0]));
        });
    });
    assert!(matches!(error.unwrap_err().kind, ErrorKind::Uninitialized { .. }));
}

fn limited(limits: Limits, build_body: impl FnOnce(&mut build::Body)) -> ErrorKind {
    let mut f = build::function("f");
    build_body(&mut f);
    let module = build::module([f.finish()]);
    Interpreter::new(&module).with_limits(limits).run("f", &mut []).unwrap_err().kind
}

#[test]
fn int_i5_an_endless_loop_ends_at_the_step_limit() {
    let limits = Limits { steps_max: 1000, ..Limits::default() };
    let endless = |f: &mut build::Body| {
        f.push(Stmt::new(StmtKind::While { condition: Expr::bool(true), body: Stmt::nop() }));
    };
    assert_eq!(limited(limits, endless), ErrorKind::StepLimit { steps_max: 1000 });
    let long = |f: &mut build::Body| f.grid(["i", "j"], [100, 100], |_, _| {});
    assert_eq!(limited(limits, long), ErrorKind::StepLimit { steps_max: 1000 });
}

#[test]
fn int_i5_memory_and_calls_have_limits() {
    let limits = Limits { memory_bytes_max: 1 << 20, ..Limits::default() };
    let kind = limited(limits, |f| drop(f.alloc("t", [1 << 10, 1 << 10], I32, StorageScope::GLOBAL)));
    assert_eq!(kind, ErrorKind::MemoryLimit { wanted_bytes: 4 << 20, memory_bytes_max: 1 << 20 });
    // Given back when the buffer is allocated anew.
    let mut f = build::function("f");
    f.range("i", 100, |f, _| drop(f.alloc("t", [1 << 10], I32, StorageScope::GLOBAL)));
    let module = build::module([f.finish()]);
    Interpreter::new(&module).with_limits(limits).run("f", &mut []).unwrap();
    let mut f = build::function("f");
    let call = ExprKind::Call { callee: Callee::Global("f".into()), args: vec![] };
    f.evaluate(Expr::new(call, DType::HANDLE));
    let module = build::module([f.finish()]);
    let error = Interpreter::new(&module).run("f", &mut []).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DepthLimit { calls_max: Limits::default().calls_max });
}

#[test]
fn int_i5_sizes_past_all_bounds_are_errors() {
    for extent in [-1, i32::MIN] {
        let kind = limited(Limits::default(), |f| drop(f.alloc("t", [extent], I32, StorageScope::GLOBAL)));
        assert!(matches!(kind, ErrorKind::BadExtent { .. }), "{kind:?}");
    }
    let huge = Expr::int(i128::from(i64::MAX), DType::INT64);
    let kind = limited(Limits::default(), |f| {
        drop(f.alloc("t", [huge.clone(), huge.clone()], I32, StorageScope::GLOBAL));
    });
    assert!(matches!(kind, ErrorKind::BadExtent { .. }), "{kind:?}");
}

#[test]
fn arguments_are_held_to_their_parameters() {
    let mut f = build::function("f");
    let n = f.size("n");
    f.buffer("A", [&n, &Expr::i32(3)], I32);
    f.buffer("B", [&n], I32);
    f.scalar("s", DType::INT8);
    let module = build::module([f.finish()]);
    let call =
        |args: Vec<Arg>| Interpreter::new(&module).run("f", &mut args.clone()).unwrap_err().to_string();
    let (a, b) = (Array::zeros(I32, &[2, 3]), Array::zeros(I32, &[2]));
    let tensors = |a: &Array, b: &Array, s: Arg| vec![Arg::Tensor(a.clone()), Arg::Tensor(b.clone()), s];
    let one = Arg::Int(1);
    assert_eq!(call(vec![]), "in f: expected 3 arguments (A, B, s), found 0");
    let text = "in f: argument for B: expected extent 2 along axis 0, found 4";
    assert_eq!(call(tensors(&a, &Array::zeros(I32, &[4]), one.clone())), text);
    let text = "in f: argument for A: expected extent 3 along axis 1, found 2";
    assert_eq!(call(tensors(&Array::zeros(I32, &[2, 2]), &b, one.clone())), text);
    let text = "in f: argument for A: expected a tensor of int32, found float32";
    assert_eq!(call(tensors(&Array::zeros(DType::FLOAT32, &[2, 3]), &b, one.clone())), text);
    let text = "in f: argument for A: expected 2 axes, found the shape [2]";
    assert_eq!(call(tensors(&b, &b, one)), text);
    let text = "in f: argument for s: 200 is no int8: expected -128 to 127";
    assert_eq!(call(tensors(&a, &b, Arg::Int(200))), text);
    assert!(call(tensors(&a, &b, Arg::Float(1.0))).contains("found a float"));
    let short = Array { data: vec![0; 3], ..a.clone() };
    assert!(call(tensors(&short, &b, Arg::Int(0))).contains("has 3 bytes of data"));
    let error = Interpreter::new(&module).run("g", &mut []).unwrap_err();
    assert_eq!(error.to_string(), "the module has no function \"g\"; it has: f");
}

/// ir: IR-S6.
#[test]
fn an_assertion_that_fails_ends_the_run_with_its_message() {
    let mut f = build::function("f");
    let n = f.size("n");
    f.buffer("A", [&n], I32);
    f.push(Stmt::new(StmtKind::Assert {
        condition: Expr::compare(CompareOp::Lt, n.clone(), Expr::i32(3)),
        kind: "ValueError".into(),
        message: vec![Expr::str("n is "), n],
    }));
    let function = f.finish();
    run(function.clone(), vec![ints(I32, &[0, 0])]).unwrap();
    let error = run(function, vec![ints(I32, &[0; 5])]).unwrap_err();
    assert_eq!(error.to_string(), "in f: assertion failed: ValueError: n is 5");
}

#[test]
fn int_i5_malformed_modules_are_errors() {
    let malformed = |value: Expr| {
        let error = one_buffer(|f, a| f.store(a, [0], value)).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Malformed { .. }), "{error}");
    };
    malformed(Expr::float(1.0, DType::FLOAT32));
    malformed(Expr::i32(1) + Expr::int(1, DType::INT64));
    malformed(Expr::new(ExprKind::Int(1 << 40), I32));
    malformed(Expr::str("text"));
    malformed(Expr::new(ExprKind::Ramp { base: Expr::i32(0), stride: Expr::i32(1), lanes: 3 }, I32));
    malformed(Expr::new(ExprKind::Shuffle { vectors: vec![Expr::i32(0)], indices: vec![4] }, I32));
    malformed(Expr::call(chipdock_ir::Op::Exp, vec![], I32));
    malformed(Expr::call(chipdock_ir::Op::Popcount, vec![Expr::float(1.0, DType::FLOAT32)], I32));
    malformed(Expr::new(
        ExprKind::Cast(Expr::i32(0)),
        DType { code: chipdock_ir::TypeCode::Int, bits: 7, lanes: 1 },
    ));
    malformed(Expr::new(ExprKind::Call { callee: Callee::Global("nobody".into()), args: vec![] }, I32));
    let error = one_buffer(|f, _| f.push(Stmt::new(StmtKind::Break))).unwrap_err();
    assert!(error.to_string().contains("break or continue outside of a loop"), "{error}");
    let other = chipdock_ir::Buffer::new("other", vec![], I32, StorageScope::GLOBAL);
    let error = one_buffer(|f, a| f.store(a, [0], Expr::load(&other, vec![]))).unwrap_err();
    assert!(error.to_string().contains("buffer other is used where it is not declared"), "{error}");
}

#[test]
fn int_i5_deep_and_wide_modules_are_errors_and_no_stack_overflow() {
    let mut deep = Expr::i32(1);
    for _ in 0..5000 {
        deep = deep + Expr::i32(1);
    }
    let error = one_buffer(|f, a| f.store(a, [0], deep)).unwrap_err();
    assert!(error.to_string().contains("nested deeper than"), "{error}");
    // A node that is shared at every level stands for 2 to the 64 nodes.
    let mut wide = Expr::i32(1);
    for _ in 0..64 {
        wide = wide.clone() + wide;
    }
    let error = one_buffer(|f, a| f.store(a, [0], wide)).unwrap_err();
    assert!(error.to_string().contains("instructions"), "{error}");
    let mut stmt = Stmt::nop();
    for _ in 0..5000 {
        stmt = Stmt::if_then(Expr::bool(true), stmt, None);
    }
    assert!(one_buffer(|f, _| f.push(stmt)).is_err());
}

#[test]
fn an_empty_module_has_no_function() {
    let error = Interpreter::new(&IrModule::default()).run("f", &mut []).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::UnknownFunction { .. }));
}

#[test]
fn a_tensor_without_elements_is_fine() {
    let mut f = build::function("f");
    let n = f.size("n");
    let a = f.buffer("A", [&n], DType::FLOAT32);
    f.range("i", &n, |f, i| f.store(&a, [&i], a.at([&i])));
    assert_eq!(run(f.finish(), vec![floats(DType::FLOAT32, &[])]).unwrap()[0].n_lanes(), 0);
}
