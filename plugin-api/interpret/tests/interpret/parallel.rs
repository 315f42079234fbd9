//! INT-I12: parallel launches.

use chipdock_interpret::{Arg, ErrorKind, InterpretError, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    BinaryOp, Buffer, BufferNode, CompareOp, DType, Expr, IrModule, Op, Param, Stage, Stmt, StmtKind,
    StorageScope, StructField, Var, build,
};

use crate::ints;

const I32: DType = DType::INT32;
const N: i32 = 17;

/// A function that writes `A[0..17]` by tasks, each of which `task` writes out of its id, their
/// number and `A`; and the status that it returns.
fn launch(tasks_max: i32, task: impl Fn(&mut build::Body, [Expr; 2], &Buffer)) -> IrModule {
    let mut body = build::function("task");
    let [id, count] = ["task_id", "tasks_count"].map(|name| body.scalar(name, I32));
    let data = body.scalar("data", DType::HANDLE);
    let of = Buffer::new("A", vec![Expr::i32(N)], I32, StorageScope::GLOBAL);
    let pointer = Var::pointer("A", I32, StorageScope::GLOBAL);
    let of = Buffer::from_node(BufferNode { data: pointer, ..(*of).clone() });
    let field = Expr::i32(StructField::AnyValue as i32);
    let value = Expr::call(Op::StructGet, vec![data, Expr::i32(1), field], DType::HANDLE);
    body.push(Stmt::new(StmtKind::Bind { var: of.data.clone(), value }));
    body.push(Stmt::new(StmtKind::DeclBuffer { buffer: of.clone(), data: None }));
    body.returns(I32);
    task(&mut body, [id, count], &of);
    body.return_value(0);

    let mut f = build::function("f");
    let var = Var::pointer("A", I32, StorageScope::GLOBAL);
    let captured = f.alloc("captured", [4], DType::INT64, StorageScope::LOCAL);
    let args = vec![captured.data.expr(), Expr::i32(1), Expr::i32(StructField::AnyValue as i32), var.expr()];
    f.evaluate(Expr::call(Op::StructSet, args, DType::HANDLE));
    f.returns(I32);
    let args = vec![Expr::str("task"), captured.data.expr(), Expr::i32(tasks_max)];
    f.return_value(Expr::call(Op::ParallelLaunch, args, I32));
    let mut f = f.finish();
    f.params = vec![Param::Var(var)];
    let module = build::module([f, body.finish()]);
    assert_eq!(validate(&module, Stage::Host), Ok(()));
    module
}

/// The status, and what `A` holds.
fn run(module: &IrModule) -> Result<(i128, Vec<i128>), InterpretError> {
    let mut args = [Arg::Tensor(ints(I32, &[-1; N as usize]))];
    let outcome = Interpreter::new(module).with_bounds().run("f", &mut args)?;
    let status = outcome.returned.unwrap().0.to_int()[0];
    Ok((status, outcome.outputs[0].array.to_int()))
}

/// `for i in [from, to): A[i] = i`.
fn fill(f: &mut build::Body, a: &Buffer, from: Expr, to: Expr) {
    let extent = to - from.clone();
    f.range("i", extent, |f, i| f.store(a, [&(&i + &from)], &i + &from));
}

fn share(of: Expr, count: &Expr, id: Expr) -> Expr {
    Expr::binary(BinaryOp::Div, of * id, count.clone())
}

#[test]
fn int_i12_tasks_split_the_work_between_them() {
    for tasks_max in [1, 2, 3, 4, 5, 16, 0] {
        let module = launch(tasks_max, |f, [id, count], a| {
            let next = &id + &Expr::i32(1);
            fill(f, a, share(Expr::i32(N), &count, id), share(Expr::i32(N), &count, next));
        });
        let expected: Vec<i128> = (0..i128::from(N)).collect();
        assert_eq!(run(&module).unwrap(), (0, expected), "{tasks_max}");
    }
}

#[test]
fn int_i12_several_tasks_run_and_no_more_than_are_allowed() {
    for (tasks_max, expected) in [(1, 1), (2, 2), (3, 3), (5, 5), (100, 5), (0, 5), (-1, 5)] {
        let module = launch(tasks_max, |f, [id, count], a| f.store(a, [&id], count));
        let (status, written) = run(&module).unwrap();
        let tasks = written.iter().filter(|value| **value >= 0).count();
        assert_eq!((status, tasks), (0, expected as usize), "{tasks_max}");
        assert!(written[..tasks].iter().all(|count| *count == expected), "{tasks_max}: {written:?}");
    }
}

/// A split that leaves the remainder out, and one whose tasks meet.
#[test]
fn int_i12_a_wrong_split_shows() {
    let module = launch(4, |f, [id, count], a| {
        let each = Expr::binary(BinaryOp::Div, Expr::i32(N), count);
        fill(f, a, &each * &id, &each * &(id + Expr::i32(1)));
    });
    assert_eq!(run(&module).unwrap().1[16], -1);
    let module = launch(4, |f, [id, count], a| {
        let end = share(Expr::i32(N), &count, &id + &Expr::i32(1));
        fill(
            f,
            a,
            share(Expr::i32(N), &count, id),
            Expr::binary(BinaryOp::Min, end + Expr::i32(1), Expr::i32(N)),
        );
    });
    let error = run(&module).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Race { .. }), "{error}");
    // One task alone cannot meet another.
    let module = launch(1, |f, _, a| f.store(a, [0], 1));
    assert_eq!(run(&module).unwrap().1[0], 1);
    let module = launch(2, |f, _, a| f.store(a, [0], 1));
    assert!(matches!(run(&module).unwrap_err().kind, ErrorKind::Race { .. }));
}

/// What one task reads, no other writes; what all read is theirs.
#[test]
fn int_i12_tasks_may_read_the_same_elements() {
    let module = launch(3, |f, [id, _], a| {
        let at = &id + &Expr::i32(1);
        f.store(a, [&at], a.at([0]));
    });
    assert_eq!(run(&module).unwrap().1[..4], [-1, -1, -1, -1]);
    let module = launch(3, |f, [id, _], a| f.store(a, [&id], a.at([0])));
    assert!(matches!(run(&module).unwrap_err().kind, ErrorKind::Race { .. }));
}

#[test]
fn int_i12_a_task_that_fails_is_the_launch_that_fails() {
    let module = launch(4, |f, [id, _], a| {
        f.store(a, [&id], 7);
        let is_second = Expr::compare(CompareOp::Eq, id, Expr::i32(2));
        f.if_then(is_second, |f| f.push(Stmt::new(StmtKind::Return(Some(Expr::i32(-1))))));
    });
    let (status, written) = run(&module).unwrap();
    assert_eq!((status, &written[..5]), (-1, &[7, 7, 7, 7, -1][..]));
    let module = launch(4, |f, [id, _], _| {
        let holds = Expr::compare(CompareOp::Ne, id, Expr::i32(2));
        let message = vec![Expr::str("task 2")];
        f.push(Stmt::new(StmtKind::Assert { condition: holds, kind: "ValueError".into(), message }));
    });
    assert!(matches!(run(&module).unwrap_err().kind, ErrorKind::Assertion { .. }));
}

/// Accesses after a launch are in order with those of its tasks, and one launch after another is.
#[test]
fn int_i12_statements_after_a_launch_are_ordered_after_it() {
    let mut module = launch(4, |f, [id, _], a| f.store(a, [&id], a.at([id.clone()]) + Expr::i32(1)));
    let body = module.functions[0].body.clone();
    let again = body.map_children(&mut Expr::clone, &mut |stmt| match &stmt.kind {
        StmtKind::Return(Some(launch)) => Stmt::new(StmtKind::Evaluate(launch.clone())),
        _ => stmt.clone(),
    });
    module.functions[0].body = Stmt::seq([
        again,
        body.map_children(&mut Expr::clone, &mut |stmt| match &stmt.kind {
            StmtKind::Return(_) => stmt.clone(),
            _ => Stmt::nop(),
        }),
    ]);
    assert_eq!(run(&module).unwrap().1[..5], [1, 1, 1, 1, -1]);
}
