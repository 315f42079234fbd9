//! Tests of `outline_parallel`: which loops become functions, and the guarantees for those
//! functions.

use std::sync::Arc;

use chipdock_interpret::{Array, Interpreter, PackedArg};
use chipdock_ir::validate::validate;
use chipdock_ir::{
    AttrValue, DType, Expr, ForKind, IrModule, Op, PrimFunc, Stage, StmtKind, StorageScope,
    TargetCapabilities, attr, build,
};
use chipdock_passes::{LowerOptions, lower};

const F32: DType = DType::FLOAT32;

fn lowered(function: PrimFunc, native_ops: Vec<Op>) -> IrModule {
    let capabilities = TargetCapabilities::host("test").with(|it| it.execution.native_ops = native_ops);
    let module =
        lower(&build::module([function]), &LowerOptions::new(Arc::new(capabilities))).unwrap().module;
    assert_eq!(validate(&module, Stage::Host), Ok(()));
    module
}

fn with_tasks(function: PrimFunc) -> IrModule {
    let module = lowered(function, vec![Op::ParallelLaunch]);
    assert_eq!(n_parallel(&module), 0);
    module
}

fn count(module: &IrModule, mut is: impl FnMut(&StmtKind) -> bool) -> usize {
    let mut n = 0;
    for function in &module.functions {
        function.body.walk(&mut |child| {
            n += usize::from(matches!(child, chipdock_ir::Child::Stmt(stmt) if is(&stmt.kind)));
        });
    }
    n
}

fn n_parallel(module: &IrModule) -> usize {
    count(module, |kind| matches!(kind, StmtKind::For { kind: ForKind::Parallel, .. }))
}

/// The bodies that are launched, each a function of the module.
fn launched(module: &IrModule) -> Vec<&PrimFunc> {
    let mut found = Vec::new();
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| {
            let launch = chipdock_ir::Callee::Op(Op::ParallelLaunch);
            if matches!(&e.kind, chipdock_ir::ExprKind::Call { callee, .. } if *callee == launch) {
                found.extend(e.called().and_then(|name| module.function(name)));
            }
        });
    }
    found
}

/// Runs the packed function on arrays; gives them back.
fn run(module: &IrModule, arrays: &[Array], scalars: &[i64]) -> Vec<Array> {
    let mut args: Vec<PackedArg> =
        arrays.iter().map(|array| PackedArg::Tensor(array.clone().into())).collect();
    args.extend(scalars.iter().map(|value| PackedArg::Int(*value)));
    let outcome = Interpreter::new(module).run_packed("__tvm_ffi_f", &mut args).unwrap();
    outcome.outputs.into_iter().map(|output| output.array).collect()
}

/// `B[i] = A[i] + 1`, `extent` times in parallel.
fn add(extent: i32, noalias: bool) -> PrimFunc {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [64], F32), f.buffer("B", [64], F32));
    if noalias {
        f.noalias();
    }
    f.for_loop("i", extent, ForKind::Parallel, |f, i| f.store(&b, [&i], a.at([&i]) + Expr::float(1.0, F32)));
    f.finish()
}

#[test]
fn loops_stay_where_the_target_has_no_launch() {
    let module = lowered(add(8, true), vec![]);
    assert_eq!((n_parallel(&module), launched(&module).len()), (1, 0));
    assert_eq!(launched(&with_tasks(add(8, true))).len(), 1);
}

#[test]
fn one_iteration_or_none_launches_nothing() {
    for (extent, expected) in [(-1, 0.0), (0, 0.0), (1, 1.0)] {
        let module = with_tasks(add(extent, true));
        assert_eq!(launched(&module).len(), 0, "{extent}");
        let arrays = [Array::zeros(F32, &[64]), Array::zeros(F32, &[64])];
        assert_eq!(run(&module, &arrays, &[])[1].to_f64()[..2], [expected, 0.0], "{extent}");
    }
}

/// IR-B2: a region has the word of the function that it comes from, and only that.
#[test]
fn a_region_says_no_alias_where_its_function_does() {
    let region = |module: &IrModule| {
        let region = module.functions.iter().find(|f| f.name.contains("region0")).cloned().unwrap();
        assert_eq!(region.attrs.get(attr::NO_INLINE), Some(&AttrValue::Bool(true)));
        region.attrs.get(attr::NOALIAS).cloned()
    };
    assert_eq!(region(&with_tasks(add(8, true))), Some(AttrValue::Bool(true)));
    assert_eq!(region(&with_tasks(add(8, false))), None);
}

/// More than fits on the stack: the captured variables are workspace, freed when the region ends.
#[test]
fn any_number_of_variables_is_taken_along() {
    let mut f = build::function("f");
    let (a, b) = (f.buffer("A", [100], DType::INT32), f.buffer("B", [8], DType::INT32));
    let values: Vec<Expr> = (0..100).map(|i| f.bind("x", a.at([i]))).collect();
    f.for_loop("i", 8, ForKind::Parallel, |f, i| {
        let sum = values.iter().cloned().reduce(|sum, x| sum + x).unwrap();
        f.store(&b, [&i], sum * i.clone());
    });
    let module = with_tasks(f.finish());
    let allocates = |kind: &StmtKind| matches!(kind, StmtKind::DeclBuffer { buffer, data: Some(_) } if &*buffer.name == "captured");
    assert_eq!(count(&module, allocates), 1);
    let arrays = [Array::from_int(DType::INT32, &[100], &[2; 100]), Array::zeros(DType::INT32, &[8])];
    let expected: Vec<i128> = (0..8).map(|i| 200 * i).collect();
    assert_eq!(run(&module, &arrays, &[])[1].to_int(), expected);
}

/// Loops that start anywhere, go in steps, and count in int64, in loops around them.
#[test]
fn shares_cover_each_iteration_once() {
    for dtype in [DType::INT32, DType::INT64] {
        let int = |value: i128| Expr::int(value, dtype);
        let mut f = build::function("f");
        let out = f.buffer("A", [400], DType::INT32);
        let (min, extent) = (f.scalar("min", dtype), f.scalar("extent", dtype));
        let own = f.alloc("own", [1], DType::INT32, StorageScope::LOCAL);
        f.store(&own, [0], 1);
        f.for_loop("k", 2, ForKind::Serial, |f, k| {
            let kind = StmtKind::For {
                var: chipdock_ir::Var::new("i", dtype),
                min: min.clone() + k.cast(dtype),
                extent: extent.clone(),
                kind: ForKind::Parallel,
                step: Some(int(4)),
                annotations: Default::default(),
                body: chipdock_ir::Stmt::nop(),
            };
            let StmtKind::For { var, .. } = &kind else { return };
            let i = var.expr();
            let body = chipdock_ir::Stmt::store(&out, vec![i.clone()], out.at([i]) + own.at([0]));
            let StmtKind::For { var, min, extent, kind, step, annotations, .. } = kind else { return };
            f.push(chipdock_ir::Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }));
        });
        let module = with_tasks(f.finish());
        for (min, extent) in [(0, 1), (3, 2), (1, 5), (0, 6), (7, 90), (5, 0), (5, -3)] {
            let found = run(&module, &[Array::zeros(DType::INT32, &[400])], &[min, extent]);
            let is_met = |at: i64| {
                (0..2).any(|k| {
                    (at - min - k) % 4 == 0 && (0..extent).contains(&((at - min - k) / 4)) && at >= min + k
                })
            };
            let expected: Vec<i128> = (0..400).map(|at| i128::from(is_met(at))).collect();
            assert_eq!(found[0].to_int(), expected, "{dtype}: {extent} from {min}");
        }
    }
}

/// `A[i] = A[i] + 1` in parallel, with a grain.
fn with_grain(extent: impl Into<Expr>, grain: AttrValue) -> PrimFunc {
    let mut f = build::function("f");
    let a = f.buffer("A", [64], DType::INT32);
    let parallel = build::Loop::new("i", ForKind::Parallel, extent).annotate(attr::GRAIN, grain);
    f.for_each(parallel, |f, i| f.store(&a, [&i], a.at([&i]) + 1));
    f.finish()
}

/// Whether a loop pays is known here where extent and grain are constants.
#[test]
fn a_loop_of_one_task_is_a_serial_loop() {
    for (extent, grain, launches) in
        [(40, 21, 0), (40, 40, 0), (40, 100, 0), (40, 20, 1), (40, 0, 1), (40, -1, 1)]
    {
        let module = with_tasks(with_grain(extent, AttrValue::Int(grain)));
        assert_eq!(launched(&module).len(), launches, "{extent} by {grain}");
        let found = run(&module, &[Array::zeros(DType::INT32, &[64])], &[]);
        let expected: Vec<i128> = (0..64).map(|i| i128::from(i < 40)).collect();
        assert_eq!(found[0].to_int(), expected, "{extent} by {grain}");
    }
}

/// The note is for `outline_parallel` alone: it is on no loop that is left.
#[test]
fn the_grain_is_on_no_loop_that_is_left() {
    for native_ops in [vec![], vec![Op::ParallelLaunch]] {
        let module = lowered(with_grain(40, AttrValue::Int(5)), native_ops);
        let has_grain = |kind: &StmtKind| matches!(kind, StmtKind::For { annotations, .. } if annotations.contains_key(attr::GRAIN));
        assert_eq!(count(&module, has_grain), 0);
        assert_eq!(count(&module, |kind| matches!(kind, StmtKind::For { .. })), 1);
    }
}

#[test]
fn a_grain_that_is_no_number_is_the_callers_mistake() {
    let refusal = |function: PrimFunc| {
        let capabilities =
            TargetCapabilities::host("test").with(|it| it.execution.native_ops = vec![Op::ParallelLaunch]);
        lower(&build::module([function]), &LowerOptions::new(Arc::new(capabilities))).unwrap_err().to_string()
    };
    let message = refusal(with_grain(40, AttrValue::Str("many".into())));
    assert!(message.contains("\"chipdock.grain\" of loop i is no number; expected an integer"), "{message}");
    let message = refusal(with_grain(40, AttrValue::Expr(Expr::float(2.0, F32))));
    assert!(message.contains("is an expression of type float32"), "{message}");
    let mut f = build::function("f");
    let a = f.buffer("A", [64], DType::INT32);
    let grain = AttrValue::Expr(a.at([0]));
    let parallel = build::Loop::new("i", ForKind::Parallel, 40).annotate(attr::GRAIN, grain);
    f.for_each(parallel, |f, i| f.store(&a, [&i], 1));
    let message = refusal(f.finish());
    assert!(message.contains("is an expression that reads memory"), "{message}");
}

/// The estimate of a grain uses only what is known before the loop: here the inner loop is as long
/// as the outer one counts.
#[test]
fn an_estimated_grain_is_known_before_the_loop() {
    let mut f = build::function("f");
    let n = f.size("n");
    let b = f.buffer("B", (&n, &n), DType::INT32);
    let outer =
        build::Loop::new("i", ForKind::Parallel, &n).annotate(attr::GRAIN, AttrValue::Str("auto".into()));
    f.for_each(outer, |f, i| {
        f.for_each(build::Loop::serial("j", i.clone()), |f, j| f.store(&b, (&i, &j), Expr::i32(1)));
    });
    let module = with_tasks(f.finish());
    let found = run(&module, &[Array::from_f64(DType::INT32, &[3, 3], &[0.0; 9])], &[]);
    assert_eq!(
        found[0],
        Array::from_f64(DType::INT32, &[3, 3], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    );
}

/// Bytes that are copied as vectors are work, as floats are: here 16 vectors of 64 bytes in each
/// iteration, 272 operations.
#[test]
fn copies_of_bytes_are_work() {
    for (rows, launches) in [(59, 0), (62, 1)] {
        let mut f = build::function("f");
        let [a, b] = ["A", "B"].map(|name| f.buffer(name, [rows * 1024], DType::INT8));
        let outer = build::Loop::new("i", ForKind::Parallel, rows)
            .annotate(attr::GRAIN, AttrValue::Str("auto".into()));
        f.for_each(outer, |f, i| {
            f.for_each(build::Loop::serial("j", 16), |f, j| {
                let at = vec![(i.clone() * 1024 + j * 64).ramp(Expr::i32(1), 64)];
                f.store(&b, at.clone(), Expr::load(&a, at));
            });
        });
        assert_eq!(launched(&with_tasks(f.finish())).len(), launches, "{rows}");
    }
}
