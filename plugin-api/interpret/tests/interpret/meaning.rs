//! The meaning of statements, buffers and sizes, rule by rule of the specification.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::build::{self, Body, Loop};
use chipdock_ir::{
    AttrNode, Buffer, BufferNode, DType, Expr, IterKind, Op, Param, PrimFunc, Stmt, StmtKind, StorageScope,
    Var,
};

use crate::{ints, run};

const I32: DType = DType::INT32;

/// What `fill` leaves in an int32 array that starts as `start`.
fn after(start: &[i128], fill: impl FnOnce(&mut Body, &Buffer)) -> Vec<i128> {
    let mut f = build::function("f");
    let a = f.buffer("A", i32::try_from(start.len()).unwrap(), I32);
    fill(&mut f, &a);
    run(f.finish(), vec![ints(I32, start)]).unwrap()[0].to_int()
}

/// ir: IR-S2.
#[test]
fn a_store_reads_before_it_writes() {
    // The index is read from the element that the store overwrites.
    assert_eq!(after(&[0, 7], |f, a| f.store(a, a.at(0), a.at(1) + a.at(0))), [7, 7]);
    let both = |f: &mut Body, a: &Buffer| {
        let lanes = Expr::i32(0).ramp(Expr::i32(1), 2);
        let mask = a.at(&lanes).gt(Expr::i32(1).broadcast(2));
        f.store_where(a, &lanes, a.at(Expr::i32(1).ramp(Expr::i32(-1), 2)), mask);
    };
    assert_eq!(after(&[5, 6], both), [6, 5]);
}

/// ir: IR-S2.
#[test]
fn a_bound_value_is_evaluated_where_it_is_bound() {
    let bound = |f: &mut Body, a: &Buffer| {
        let was = f.bind("was", a.at(0));
        f.store(a, 0, 9);
        f.store(a, 1, was);
    };
    assert_eq!(after(&[4, 0], bound), [9, 4]);
}

/// ir: IR-S1.
#[test]
fn two_variables_of_one_name_are_two() {
    let nested = |f: &mut Body, a: &Buffer| {
        f.range("i", 2, |f, outer| {
            f.range("i", 2, |f, inner| f.store(a, &outer * 2 + &inner, &outer * 10 + &inner));
        });
    };
    assert_eq!(after(&[0; 4], nested), [0, 1, 10, 11]);
}

/// ir: IR-S7.
#[test]
fn notes_change_nothing() {
    let noted = |f: &mut Body, a: &Buffer| {
        f.attr("some.note", 3, |f| {
            f.for_each(Loop::serial("i", 3).annotate("other.note", "x"), |f, i| f.store(a, &i, &i + 1));
        });
        let body = Stmt::store(a, vec![Expr::i32(0)], Expr::i32(8));
        let node = AttrNode::Buffer(a.clone());
        f.push(Stmt::new(StmtKind::Attr { node, key: "a.note".into(), value: Expr::str("y"), body }));
    };
    assert_eq!(after(&[0; 3], noted), [8, 2, 3]);
}

/// ir: IR-S3.
#[test]
fn bounds_of_a_loop_are_evaluated_once() {
    let growing = |f: &mut Body, a: &Buffer| {
        f.for_each(Loop::serial("i", a.at(0)).from(a.at(1)), |f, _| {
            f.store(a, 0, a.at(0) + 5);
            f.store(a, 2, a.at(2) + 1);
        });
    };
    assert_eq!(after(&[3, 1, 0], growing), [18, 1, 3]);
}

/// ir: IR-S5.
#[test]
fn a_return_leaves_all_loops() {
    let mut f = build::function("f");
    let a = f.buffer("A", 4, I32);
    f.returns(I32);
    f.range("i", 4, |f, i| {
        f.range("j", 4, |f, j| {
            f.store(&a, &i, &j);
            f.if_then((&i + &j).equals(3), |f| f.return_value(&i));
        });
    });
    f.return_value(-1);
    assert_eq!(run(f.finish(), vec![ints(I32, &[9; 4])]).unwrap()[0].to_int(), [3, 9, 9, 9]);
}

/// ir: IR-B2.
#[test]
fn views_of_one_memory_see_each_other_and_allocations_do_not() {
    let aliased = |f: &mut Body, a: &Buffer| {
        let bytes = f.view("bytes", 8, DType::UINT8, &a.data);
        f.store(&bytes, 5, Expr::int(1, DType::UINT8));
        f.store(a, 0, a.at(1));
        let x = f.alloc("x", 1, I32, StorageScope::LOCAL);
        let y = f.alloc("y", 1, I32, StorageScope::LOCAL);
        f.store(&x, 0, 3);
        f.store(&y, 0, 4);
        f.store(a, 1, x.at(0));
    };
    assert_eq!(after(&[0, 0], aliased), [256, 3]);
}

/// ir: IR-B1, IR-F3.
#[test]
fn sizes_are_bound_bare_and_compared_compound() {
    let padded = || -> PrimFunc {
        let mut f = build::function("f");
        let n = f.size("n");
        let a = f.buffer("A", &n, I32);
        let b = f.buffer("B", (&n * 2 + 1).floor_div(3), I32);
        f.store(&b, 0, a.at(0));
        f.finish()
    };
    let arrays = |n: usize, m: usize| vec![Array::zeros(I32, &[n]), Array::zeros(I32, &[m])];
    assert!(run(padded(), arrays(4, 3)).is_ok());
    let error = run(padded(), arrays(4, 2)).unwrap_err().to_string();
    assert!(error.contains('3') && error.contains('2'), "{error}");
}

/// ir: IR-B1.
#[test]
fn an_element_lies_where_offset_and_strides_say() {
    let strided = |f: &mut Body, a: &Buffer| {
        let plain = Buffer::new("V", vec![Expr::i32(2), Expr::i32(2)], I32, StorageScope::GLOBAL);
        let view = Buffer::from_node(BufferNode {
            data: a.data.clone(),
            strides: vec![Expr::i32(1), Expr::i32(4)],
            elem_offset: Some(Expr::i32(2)),
            ..BufferNode::clone(&plain)
        });
        f.push(Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data: None }));
        f.grid(["i", "j"], (2, 2), |f, [i, j]| f.store(&view, (&i, &j), &i * 10 + &j + 1));
    };
    assert_eq!(after(&[0; 8], strided), [0, 0, 1, 11, 0, 0, 2, 12]);
}

/// ir: IR-F3. An offset is bound where it is a symbol, and compared where it is anything else: a
/// tensor begins at its data.
#[test]
fn offsets_of_parameters_are_bound_bare_and_compared_else() {
    let beginning = |elem_offset: Expr, scalar: Option<Var>| {
        let plain = Buffer::new("A", vec![Expr::i32(2)], I32, StorageScope::GLOBAL);
        let a = Buffer::from_node(BufferNode { elem_offset: Some(elem_offset), ..BufferNode::clone(&plain) });
        let mut f = build::function("f").finish();
        f.params = scalar.map(Param::Var).into_iter().chain([Param::Buffer(a.clone())]).collect();
        f.body = Stmt::store(&a, vec![Expr::i32(1)], Expr::i32(7));
        f
    };
    let called = |function: PrimFunc, scalar: Option<i128>| {
        let module = build::module([function]);
        let mut args: Vec<Arg> = scalar.map(Arg::Int).into_iter().collect();
        args.push(Arg::Tensor(ints(I32, &[0, 0])));
        let run = Interpreter::new(&module).run("f", &mut args);
        run.map(|outcome| outcome.outputs[0].array.to_int()).map_err(|error| error.to_string())
    };
    let at = Var::new("at", I32);
    assert_eq!(called(beginning(at.expr(), None), None).unwrap(), [0, 7]);
    assert_eq!(called(beginning(Expr::i32(0), None), None).unwrap(), [0, 7]);
    assert_eq!(called(beginning(at.expr() * 2, Some(at.clone())), Some(0)).unwrap(), [0, 7]);
    for (offset, scalar) in [(Expr::i32(4), None), (at.expr() * 2, Some(2)), (at.expr() + 2, Some(2))] {
        let error = called(beginning(offset, scalar.map(|_| at.clone())), scalar).unwrap_err();
        assert!(error.contains('A') && error.contains("begins at element 4"), "{error}");
    }
}

/// ir: IR-B6.
#[test]
fn iterations_of_ordered_axes_run_in_order() {
    let mut f = build::function("f");
    let a = f.buffer("A", 5, I32);
    f.range("i", 4, |f, i| {
        f.block("scan", |f| {
            let v = f.axis("v", IterKind::Ordered, 4, &i);
            f.store(&a, &v + 1, a.at(&v) + a.at(&v + 1));
        });
    });
    assert_eq!(run(f.finish(), vec![ints(I32, &[1, 2, 3, 4, 5])]).unwrap()[0].to_int(), [1, 3, 6, 10, 15]);
}

/// ir: IR-E5.
#[test]
fn one_let_may_stand_in_two_places() {
    let twice = |f: &mut Body, a: &Buffer| {
        let x = Var::new("x", I32);
        let value = Expr::new(
            chipdock_ir::ExprKind::Let { var: x.clone(), value: a.at(0) + 1, body: x.expr() * x.expr() },
            I32,
        );
        f.store(a, 1, &value + &value);
    };
    assert_eq!(after(&[2, 0], twice), [2, 18]);
}

/// ir: IR-E3.
#[test]
fn a_call_that_writes_returns_the_old_value() {
    let mut f = build::function("f");
    let a = f.buffer("A", 2, I32);
    let address = a.at(0).address_of();
    let old = Expr::call(Op::AtomicAdd, vec![address, Expr::i32(5)], I32);
    f.store(&a, 1, old);
    assert_eq!(run(f.finish(), vec![ints(I32, &[7, 0])]).unwrap()[0].to_int(), [12, 7]);
}
