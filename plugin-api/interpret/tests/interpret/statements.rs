//! INT-I3, INT-I4: loops, memory, vectors, calls.

use chipdock_interpret::{Arg, Array, ErrorKind, Interpreter};
use chipdock_ir::{
    Attrs, Buffer, BufferNode, Callee, CompareOp, DType, Expr, ExprKind, ForKind, Op, Param, Stmt, StmtKind,
    StorageScope, Var, build,
};

use crate::{floats, ints, run, run_module};

const I32: DType = DType::INT32;
const F32: DType = DType::FLOAT32;

/// ir: IR-S4.
#[test]
fn int_i3_every_kind_of_loop_computes_like_a_serial_one() {
    for kind in [ForKind::Serial, ForKind::Parallel, ForKind::Vectorized, ForKind::Unrolled] {
        let mut f = build::function("f");
        let a = f.buffer("A", [8], I32);
        f.for_loop("i", 8, kind, |f, i| f.store(&a, [&i], a.at([&i]) * i.clone()));
        assert_eq!(run(f.finish(), vec![ints(I32, &[1; 8])]).unwrap()[0].to_int(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

fn stepping(min: i32, extent: i32, step: Expr) -> Result<Vec<i128>, chipdock_interpret::InterpretError> {
    let mut f = build::function("f");
    let a = f.buffer("A", [12], I32);
    let i = Var::new("i", I32);
    let body = Stmt::store(&a, vec![i.expr()], Expr::i32(1));
    f.push(Stmt::new(StmtKind::For {
        var: i,
        min: Expr::i32(min),
        extent: Expr::i32(extent),
        kind: ForKind::Serial,
        step: Some(step),
        annotations: Attrs::new(),
        body,
    }));
    run(f.finish(), vec![ints(I32, &[0; 12])]).map(|arrays| arrays[0].to_int())
}

/// ir: IR-S3.
#[test]
fn int_i3_loops_go_in_steps_and_not_at_all_for_a_negative_extent() {
    assert_eq!(stepping(2, 3, Expr::i32(4)).unwrap(), [0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    assert_eq!(stepping(2, -3, Expr::i32(4)).unwrap(), [0; 12]);
    let error = stepping(2, 3, Expr::i32(0)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadStep { step: 0 });
}

/// ir: IR-S5.
#[test]
fn int_i3_while_break_and_continue() {
    // Sums the odd numbers below 10, stopping when the sum passes 10: 1 + 3 + 5 + 7.
    let mut f = build::function("f");
    let a = f.buffer("A", [2], I32);
    let at = |index: i32| a.at([index]);
    let condition = Expr::compare(CompareOp::Lt, at(0), Expr::i32(10));
    let mut body = Vec::new();
    body.push(Stmt::store(&a, vec![Expr::i32(0)], at(0) + Expr::i32(1)));
    let even = Expr::compare(
        CompareOp::Eq,
        Expr::binary(chipdock_ir::BinaryOp::FloorMod, at(0), Expr::i32(2)),
        Expr::i32(0),
    );
    body.push(Stmt::if_then(even, Stmt::new(StmtKind::Continue), None));
    body.push(Stmt::store(&a, vec![Expr::i32(1)], at(1) + at(0)));
    let enough = Expr::compare(CompareOp::Gt, at(1), Expr::i32(10));
    body.push(Stmt::if_then(enough, Stmt::new(StmtKind::Break), None));
    f.push(Stmt::new(StmtKind::While { condition, body: Stmt::seq(body) }));
    assert_eq!(run(f.finish(), vec![ints(I32, &[0, 0])]).unwrap()[0].to_int(), [7, 16]);
}

/// ir: IR-E6, IR-E7.
#[test]
fn int_i4_vectors_load_and_store_their_lanes() {
    let mut f = build::function("f");
    let a = f.buffer("A", [8], F32);
    let b = f.buffer("B", [8], F32);
    let base = Expr::i32(6).ramp(Expr::i32(-2), 4);
    let two = Expr::float(2.0, F32).broadcast(4);
    let loaded = a.at([Expr::i32(0).ramp(Expr::i32(1), 4)]);
    f.store(&b, [base], loaded * two);
    let arrays =
        run(f.finish(), vec![floats(F32, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), floats(F32, &[0.0; 8])]);
    assert_eq!(arrays.unwrap()[1].to_f64(), [8.0, 0.0, 6.0, 0.0, 4.0, 0.0, 2.0, 0.0]);
}

/// ir: IR-E6.
#[test]
fn int_i4_a_predicate_masks_lanes_out_of_bounds_too() {
    let mut f = build::function("f");
    let a = f.buffer("A", [3], I32);
    let lanes = Expr::i32(0).ramp(Expr::i32(1), 4);
    let inside = Expr::compare(CompareOp::Lt, lanes.clone(), Expr::i32(3).broadcast(4));
    let load =
        ExprKind::Load { buffer: a.clone(), indices: vec![lanes.clone()], predicate: Some(inside.clone()) };
    let value = Expr::new(load, I32.with_lanes(4)) + Expr::i32(1).broadcast(4);
    f.push(Stmt::new(StmtKind::Store { buffer: a, indices: vec![lanes], value, predicate: Some(inside) }));
    assert_eq!(run(f.finish(), vec![ints(I32, &[5, 6, 7])]).unwrap()[0].to_int(), [6, 7, 8]);
}

/// ir: IR-T2.
#[test]
fn int_i4_a_buffer_of_vectors_holds_them_together() {
    let mut f = build::function("f");
    let pairs = F32.with_lanes(2);
    let a = f.buffer("A", [2], pairs);
    let swapped = Expr::new(ExprKind::Shuffle { vectors: vec![a.at([1])], indices: vec![1, 0] }, pairs);
    f.store(&a, [0], swapped);
    let array = Array::from_f64(pairs, &[2], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(run(f.finish(), vec![array]).unwrap()[0].to_f64(), [4.0, 3.0, 3.0, 4.0]);
}

/// ir: IR-B2, IR-B3.
#[test]
fn int_i4_a_declared_buffer_is_a_view() {
    // After flattening: a parameter of two axes is one of one axis over the same data.
    let mut f = build::function("f");
    let (m, n) = (f.size("m"), f.size("n"));
    let a = f.buffer("A", [&m, &n], I32);
    let flat = Buffer::from_node(BufferNode {
        shape: vec![m.clone() * n.clone()],
        ..(*Buffer::new("A_1", vec![], I32, StorageScope::GLOBAL)).clone()
    });
    let data = Some(a.data.expr());
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: flat.clone(), data }));
    f.range("i", m * n, |f, i| f.store(&flat, [&i], &i));
    let array = Array::zeros(I32, &[2, 3]);
    assert_eq!(run(f.finish(), vec![array]).unwrap()[0].to_int(), [0, 1, 2, 3, 4, 5]);
}

/// ir: IR-B1.
#[test]
fn int_i4_a_view_with_strides_reaches_a_column() {
    let mut f = build::function("f");
    let a = f.buffer("A", [3, 4], I32);
    let column = Buffer::from_node(BufferNode {
        shape: vec![Expr::i32(3)],
        strides: vec![Expr::i32(4)],
        elem_offset: Some(Expr::i32(1)),
        data: a.data.clone(),
        ..(*Buffer::new("column", vec![], I32, StorageScope::GLOBAL)).clone()
    });
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: column.clone(), data: None }));
    f.range("i", 3, |f, i| f.store(&column, [&i], i.clone() + Expr::i32(1)));
    let arrays = run(f.finish(), vec![Array::zeros(I32, &[3, 4])]).unwrap();
    assert_eq!(arrays[0].to_int(), [0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0]);
}

/// ir: IR-E4.
#[test]
fn int_i4_if_then_else_evaluates_one_branch_and_select_both() {
    let guarded = |lazy: bool| {
        let mut f = build::function("f");
        let a = f.buffer("A", [2], I32);
        f.range("i", 4, |f, i| {
            let inside = Expr::compare(CompareOp::Lt, i.clone(), Expr::i32(2));
            let (then, otherwise) = (a.at([&i]), Expr::i32(0));
            let value = if lazy {
                Expr::call(Op::IfThenElse, vec![inside, then, otherwise], I32)
            } else {
                Expr::select(inside, then, otherwise)
            };
            f.bind("t", value);
        });
        run(f.finish(), vec![ints(I32, &[1, 2])])
    };
    guarded(true).unwrap();
    assert!(matches!(guarded(false).unwrap_err().kind, ErrorKind::OutOfBounds { .. }));
}

/// ir: IR-E4.
#[test]
fn int_i4_and_and_or_stop_where_the_first_decides() {
    let mut f = build::function("f");
    let a = f.buffer("A", [2], I32);
    let c = f.buffer("C", [4], DType::BOOL);
    f.range("i", 4, |f, i| {
        let inside = Expr::compare(CompareOp::Lt, i.clone(), Expr::i32(2));
        let outside = Expr::compare(CompareOp::Ge, i.clone(), Expr::i32(2));
        let one = Expr::compare(CompareOp::Eq, a.at([&i]), Expr::i32(1));
        f.store(&c, [&i], inside.and(one.clone()));
        let either = outside.or(one);
        f.store(&c, [&i], Expr::compare(CompareOp::Ne, c.at([&i]), either));
    });
    let arrays = run(f.finish(), vec![ints(I32, &[1, 2]), ints(DType::BOOL, &[0; 4])]).unwrap();
    assert_eq!(arrays[1].to_int(), [0, 0, 1, 1]);
}

/// ir: IR-E8.
#[test]
fn functions_call_each_other_and_return_values() {
    // square(x) = x * x; fill(B: [n]): B[i] = square(i); f(A) calls fill(A).
    let mut square = build::function("square");
    let x = square.scalar("x", I32);
    square.returns(I32);
    square.return_value(x.clone() * x);
    let mut fill = build::function("fill");
    let n = fill.size("n");
    let b = fill.buffer("B", [&n], I32);
    let call = |name: &str, args, dtype| {
        Expr::new(ExprKind::Call { callee: Callee::Global(name.into()), args }, dtype)
    };
    fill.range("i", &n, |f, i| f.store(&b, [&i], call("square", vec![i.clone()], I32)));
    let mut f = build::function("f");
    let a = f.buffer("A", [5], I32);
    f.evaluate(call("fill", vec![a.data.expr()], DType::HANDLE));
    let module = build::module([square.finish(), fill.finish(), f.finish()]);
    let arrays = run_module(&module, "f", vec![ints(I32, &[0; 5])]).unwrap();
    assert_eq!(arrays[0].to_int(), [0, 1, 4, 9, 16]);
    let outcome = Interpreter::new(&module).with_bounds().run("square", &mut [Arg::Int(-7)]).unwrap();
    assert_eq!(outcome.returned.unwrap().0.to_int(), [49]);
}

/// ir: IR-E8.
#[test]
fn a_pointer_parameter_takes_an_address() {
    // inner(p: handle, n): declares n elements behind p; f passes the address of A[2].
    let p = Var::pointer("p", I32, StorageScope::GLOBAL);
    let n = Var::new("n", I32);
    let behind = Buffer::from_node(BufferNode {
        shape: vec![n.expr()],
        data: p.clone(),
        ..(*Buffer::new("P", vec![], I32, StorageScope::GLOBAL)).clone()
    });
    let i = Var::new("i", I32);
    let mut inner = build::function("inner").finish();
    inner.params = vec![Param::Var(p), Param::Var(n.clone())];
    inner.body = Stmt::new(StmtKind::Seq(vec![
        Stmt::new(StmtKind::DeclBuffer { buffer: behind.clone(), data: None }),
        Stmt::for_loop(
            i.clone(),
            n.expr(),
            ForKind::Serial,
            Stmt::store(&behind, vec![i.expr()], Expr::i32(9)),
        ),
    ]));
    let call = |count: i32| {
        let mut f = build::function("f");
        let a = f.buffer("A", [4], I32);
        let address = Expr::call(Op::AddressOf, vec![a.at([2])], DType::HANDLE);
        let callee = Callee::Global("inner".into());
        let call = ExprKind::Call { callee, args: vec![address, Expr::i32(count)] };
        f.evaluate(Expr::new(call, DType::HANDLE));
        run_module(&build::module([inner.clone(), f.finish()]), "f", vec![ints(I32, &[0; 4])])
    };
    assert_eq!(call(2).unwrap()[0].to_int(), [0, 0, 9, 9]);
    let error = call(3).unwrap_err();
    assert_eq!(error.to_string(), "in inner: P is a view of 16 bytes of memory and reaches byte 16 of it");
}

/// ir: IR-E5.
#[test]
fn a_let_binds_within_its_body_only() {
    let mut f = build::function("f");
    let a = f.buffer("A", [1], I32);
    let x = Var::new("x", I32);
    let body = x.expr() * x.expr();
    f.store(&a, [0], Expr::new(ExprKind::Let { var: x.clone(), value: Expr::i32(6), body }, I32));
    assert_eq!(run(f.finish(), vec![ints(I32, &[0])]).unwrap()[0].to_int(), [36]);
    let mut f = build::function("f");
    let a = f.buffer("A", [1], I32);
    f.store(&a, [0], x.expr());
    let error = run(f.finish(), vec![ints(I32, &[0])]).unwrap_err();
    assert_eq!(error.to_string(), "in f: malformed module: variable x is used where it has no value");
}

#[test]
fn pure_functions_of_cs_library_are_the_ops_that_they_compute() {
    let call = |name: &str, dtype: DType, value: f64| {
        let mut f = build::function("f");
        let a = f.buffer("A", [1], dtype);
        let callee = Callee::Extern { name: name.into(), pure: true };
        f.store(&a, [0], Expr::new(ExprKind::Call { callee, args: vec![a.at([0])] }, dtype));
        run(f.finish(), vec![floats(dtype, &[value])]).map(|arrays| arrays[0].to_f64()[0])
    };
    assert_eq!(call("expf", F32, 1.0).unwrap(), f64::from(std::f64::consts::E as f32));
    assert_eq!(call("exp", F32, 1.0).unwrap(), f64::from(std::f64::consts::E as f32));
    assert_eq!(call("exp", DType::FLOAT64, 1.0).unwrap(), std::f64::consts::E);
    assert_eq!(call("fabsf", F32, -1.0).unwrap(), 1.0);
    for (name, dtype) in
        [("expf", DType::FLOAT64), ("roundf", F32), ("rsqrtf", F32), ("popcount", DType::FLOAT64)]
    {
        let error = call(name, dtype, 1.0).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
    }
    // With other arguments than the function's own: what C would pass is not said.
    for (name, args) in [
        ("fabs", vec![Expr::i32(0)]),
        ("exp", vec![]),
        ("pow", vec![Expr::float(2.0, DType::FLOAT64)]),
        ("ldexp", vec![Expr::float(2.0, DType::FLOAT64), Expr::int(1, DType::INT64)]),
        ("fma", vec![Expr::i32(1); 3]),
    ] {
        let mut f = build::function("f");
        let a = f.buffer("A", [1], DType::FLOAT64);
        let callee = Callee::Extern { name: name.into(), pure: true };
        f.store(&a, [0], Expr::new(ExprKind::Call { callee, args }, DType::FLOAT64));
        let error = run(f.finish(), vec![floats(DType::FLOAT64, &[0.0])]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
    }
}
