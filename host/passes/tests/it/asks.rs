//! Tests of `ask_to_go_on`: which loops ask, and that blocks cover each iteration once.

use std::sync::Arc;

use chipdock_interpret::{Array, Interpreter, Limits, PackedArg};
use chipdock_ir::validate::validate;
use chipdock_ir::{Callee, DType, ExprKind, IrModule, Op, Stage, TargetCapabilities, environment};
use chipdock_passes::{LowerOptions, lower};

fn lowered(body: &str) -> IrModule {
    let text = format!(
        "@T.prim_func\ndef f(A: T.Buffer((\"n\", \"m\"), \"int32\"), B: T.Buffer((\"k\",), \"int32\"), x: T.int32, y: T.int64):\n    \
         n = T.int32()\n    m = T.int32()\n    k = T.int32()\n    {}\n",
        body.trim().replace('\n', "\n    ")
    );
    let module = chipdock_script::parse(&text, "f.py").unwrap();
    let capabilities = TargetCapabilities::host("test").with(|it| {
        it.execution.native_ops = vec![Op::ParallelLaunch];
        it.execution.asks_to_go_on = true;
    });
    let module = lower(&module, &LowerOptions::new(Arc::new(capabilities))).unwrap().module;
    assert_eq!(validate(&module, Stage::Host), Ok(()));
    module
}

fn asks(module: &IrModule) -> usize {
    let mut count = 0;
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| {
            let is_question = |callee: &Callee| {
                matches!(callee, Callee::Extern { name, pure: false } if **name == *environment::GO_ON)
            };
            count += usize::from(matches!(&e.kind, ExprKind::Call { callee, .. } if is_question(callee)));
        });
    }
    count
}

/// X.15: as few loops ask as will do.
#[test]
fn loops_ask_that_may_be_long() {
    for (body, expected) in [
        ("for i in range(k):\n    B[i] = 1", 1),
        ("for i in range(1000):\n    B[i] = 1", 0),
        ("for i, j in T.grid(1000, 1000):\n    B[j] = B[j] + i", 0),
        // Known to be long: the loop around does not ask too.
        ("for i, j in T.grid(100000, 10000):\n    B[j] = B[j] + i", 1),
        ("for r in range(k):\n    for i, j in T.grid(100000, 10000):\n        B[j] = B[j] + i", 1),
        // Rows of any size: the loop over them asks. What goes through no memory asks by itself.
        ("for i, j in T.grid(n, m):\n    A[i, j] = 1", 1),
        ("for i, j in T.grid(n, m):\n    B[i] = B[i] + A[i, j] * 2", 1),
        ("for i, j in T.grid(n, m):\n    B[i] = B[i] * 3 + j", 2),
        ("for i in range(n):\n    for j in range(T.min(m, 64)):\n        A[i, j] = 1", 1),
        ("for i in T.parallel(k):\n    B[i] = 1", 1),
        ("while B[0] > 0:\n    B[0] = B[0] - 1", 1),
        ("for i in range(k):\n    if B[i] == 7:\n        break", 1),
        ("B[0] = 1", 0),
    ] {
        let module = lowered(body);
        assert_eq!(asks(&module), expected, "{body}\n{}", chipdock_ir::print::module(&module));
    }
}

fn run(module: &IrModule, shape: [usize; 2], scalars: [i64; 2]) -> Vec<i128> {
    let (a, b) = (Array::zeros(DType::INT32, &shape), Array::zeros(DType::INT32, &[8]));
    let mut args = vec![PackedArg::Tensor(a.into()), PackedArg::Tensor(b.into())];
    args.extend(scalars.map(PackedArg::Int));
    let limits = Limits { steps_max: u64::MAX, ..Limits::default() };
    let outcome = Interpreter::new(module).with_limits(limits).run_packed("__tvm_ffi_f", &mut args).unwrap();
    outcome.outputs[1].array.to_int()
}

/// Each iteration of a loop in blocks is run once, in order, whatever the loop counts in and begins
/// with, and however many iterations a block has.
#[test]
fn blocks_cover_each_iteration_once() {
    // B[0] counts, B[1] is the sum of the variable, B[2] its last value, B[3] breaks of the order.
    let step = "B[0] = B[0] + 1\nB[1] = B[1] + T.Cast(\"int32\", i) % 1000\n\
                B[3] = B[3] + T.if_then_else(T.Cast(\"int32\", i) < B[2], 1, 0)\nB[2] = T.Cast(\"int32\", i)";
    let within =
        |head: &str, indent: &str| format!("{head}\n{indent}{}", step.replace('\n', &format!("\n{indent}")));
    for (head, first, by) in [
        ("for i in range(x):", 0, 1),
        ("for i in range(y):", 0, 1),
        ("for i in range(-70, x - 70):", -70, 1),
        ("for i in range(m, m + x):", 3, 1),
        ("for i in T.serial(5, 5 + x * 3, step=3):", 5, 3),
    ] {
        let module = lowered(&within(head, "    "));
        assert_eq!(asks(&module), 1, "{head}");
        for count in [0, 1, 1000, 1 << 17, (1 << 17) + 1, 300_000] {
            let found = run(&module, [2, 3], [count, count]);
            let values = || (0..i128::from(count)).map(|at| first + at * by);
            let sum: i128 = values().map(|value| value.rem_euclid(1000)).sum();
            assert_eq!(found[..2], [count.into(), sum], "{head} {count}");
            assert_eq!(found[2], values().next_back().unwrap_or(0), "{head} {count}");
            assert!(found[3] <= i128::from(first < 0), "{head} {count}");
        }
    }
}

/// The iterations of a block of rows are computed from the size of a row.
#[test]
fn blocks_of_rows_cover_each_row_once() {
    let module = lowered(
        "for i in range(x):\n    for j in range(m):\n        B[0] = B[0] + 1\n    B[1] = B[1] + i % 1000",
    );
    assert_eq!(asks(&module), 2);
    for (rows, columns) in [(0, 5), (5, 0), (7, 300_000), (300_000, 7), (1000, 1000)] {
        let found = run(&module, [2, columns], [rows, 0]);
        let sum: i128 = (0..i128::from(rows)).map(|row| row % 1000).sum();
        assert_eq!(found[..2], [i128::from(rows) * columns as i128, sum], "{rows} {columns}");
    }
}
