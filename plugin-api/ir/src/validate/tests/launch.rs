//! Parallel launches.

use super::*;

/// A module with a function that launches `body`, which is that function's own body.
fn launches(body: build::FunctionBuilder, name: Expr, data: Expr, tasks: Expr) -> IrModule {
    let mut f = build::function("f");
    f.returns(DType::INT32);
    f.return_value(Expr::call(Op::ParallelLaunch, vec![name, data, tasks], DType::INT32));
    build::module([body.finish(), f.finish()])
}

/// A function that runs a task and does nothing.
fn task(name: &'static str, ret: DType) -> build::FunctionBuilder {
    let mut f = build::function("task");
    f.scalar(name, DType::INT32);
    f.scalar("tasks_count", DType::INT32);
    f.scalar("data", DType::HANDLE);
    f.returns(ret);
    f.return_value(Expr::int(0, ret));
    f
}

/// ir: IR-E8, IR-G4.
#[test]
fn a_parallel_launch_names_a_function_that_runs_a_task() {
    let null = || Expr::call(Op::Reinterpret, vec![Expr::int(0, DType::INT64)], DType::HANDLE);
    let good = || launches(task("task_id", DType::INT32), Expr::str("task"), null(), Expr::i32(4));
    assert_eq!(validate(&good(), Stage::Host), Ok(()));
    let refused = |module: IrModule, stage, says: &str| {
        let problems = validate(&module, stage).unwrap_err();
        let found = problems.iter().any(|problem| problem.message.contains(says));
        assert!(found, "expected \"{says}\", found {problems:?}");
    };
    for stage in [Stage::Blocks, Stage::Flattened, Stage::Device] {
        refused(good(), stage, "a parallel launch stands in modules of stage `host` only");
    }
    let with =
        |body, name, data, tasks, says: &str| refused(launches(body, name, data, tasks), Stage::Host, says);
    let own = || task("task_id", DType::INT32);
    with(
        own(),
        Expr::str("nobody"),
        null(),
        Expr::i32(4),
        "there is no function `nobody` in the module to launch",
    );
    with(own(), null(), null(), Expr::i32(4), "the body of a parallel launch is the name of a function");
    with(
        own(),
        Expr::str("task"),
        Expr::i32(1),
        Expr::i32(4),
        "a name, a handle and an int32; found handle, int32",
    );
    with(own(), Expr::str("task"), null(), Expr::int(4, DType::INT64), "a name, a handle and an int32");
    with(own(), Expr::str("f"), null(), Expr::i32(4), "functions call each other in a circle: f calls f");
    with(
        task("task_id", DType::INT64),
        Expr::str("task"),
        null(),
        Expr::i32(4),
        "function `task` runs no task",
    );
    let mut short = build::function("task");
    short.returns(DType::INT32);
    short.return_value(0);
    with(
        short,
        Expr::str("task"),
        null(),
        Expr::i32(4),
        "expected (task_id: int32, tasks_count: int32, data: handle)",
    );
    let mut buffers = build::function("task");
    buffers.scalar("task_id", DType::INT32);
    buffers.scalar("tasks_count", DType::INT32);
    buffers.buffer("A", [1], DType::INT32);
    buffers.returns(DType::INT32);
    buffers.return_value(0);
    with(buffers, Expr::str("task"), null(), Expr::i32(4), "function `task` runs no task");
    // Elsewhere a string is no argument still.
    rejects_expr(|x, _| Expr::call(Op::BitwiseNot, vec![Expr::str("task")], x.dtype), "takes no string");
}
