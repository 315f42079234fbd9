//! Tests of parallel regions: tasks on threads with a host, one task without a host.

use std::ptr;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::build::Loop;
use chipdock_ir::{
    AttrValue, BufferNode, DType, Expr, ForKind, IrModule, Op, Stmt, StmtKind, StorageScope, Var, attr, build,
};
use chipdock_plugin_api::{Env, HostRef};

use super::support::{Argument, built, call, has_compiler, loaded, tasks};
use crate::loader::{CModule, load};

/// The module loaded without a host.
fn alone(module: &IrModule) -> CModule {
    let built = built(module);
    // SAFETY: no environment.
    let env = unsafe { Env::new(HostRef::standalone(), ptr::null()) };
    load(HostRef::standalone(), &built.index, &built.source, env).unwrap()
}

/// `B[min + 3k] = A[min + 3k] + 1` for each k below n, in parallel; `C[i, j]` likewise in two
/// nested loops.
fn loops() -> IrModule {
    let mut f = build::function("f");
    let n = f.size("n");
    let (a, b) = (f.buffer("A", [&n], DType::FLOAT32), f.buffer("B", [&n], DType::FLOAT32));
    let c = f.buffer("C", [&n, &Expr::i32(3)], DType::INT32);
    let one = || Expr::float(1.0, DType::FLOAT32);
    f.for_loop("i", &n, ForKind::Parallel, |f, i| f.store(&b, [&i], a.at([&i]) + one()));
    f.for_loop("i", &n, ForKind::Parallel, |f, i| {
        f.for_loop("j", 3, ForKind::Parallel, |f, j| f.store(&c, [&i, &j], &(&i * &Expr::i32(3)) + &j));
    });
    build::module([f.finish()])
}

#[test]
fn tasks_on_threads_compute_like_one_thread() {
    if !has_compiler() {
        return;
    }
    let (threads, alone) = (loaded(&loops()), alone(&loops()));
    for n in [0, 1, 2, 3, 4, 5, 100] {
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let expected: Vec<f64> = values.iter().map(|value| value + 1.0).collect();
        for (module, n_tasks) in [(&threads, if n < 2 { 0 } else { 2 * n.min(4) }), (&alone, 0)] {
            let mut a = Array::from_f64(DType::FLOAT32, &[n], &values);
            let (mut b, mut c) = (Array::zeros(DType::FLOAT32, &[n]), Array::zeros(DType::INT32, &[n, 3]));
            let args = &mut [&mut a, &mut b, &mut c].map(Argument::Tensor);
            call(module, "f", args).unwrap();
            assert_eq!(tasks(), n_tasks, "no launch for one iteration or none, and none without a host");
            assert_eq!(b.to_f64(), expected);
            assert_eq!(c.to_int(), (0..3 * n as i128).collect::<Vec<_>>());
        }
    }
}

/// `grain` iterations of a loop of n pay for a task: a task for each so many, and no launch for
/// one.
#[test]
fn a_loop_has_as_many_tasks_as_pay() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    let n = f.size("n");
    let b = f.buffer("B", [&n], DType::INT32);
    let least = f.scalar("least", DType::INT64);
    let grain = AttrValue::Expr(least * Expr::int(2, DType::INT64));
    let parallel = Loop::new("i", ForKind::Parallel, &n).annotate(attr::GRAIN, grain);
    f.for_each(parallel, |f, i| f.store(&b, [&i], &i + &Expr::i32(1)));
    let compiled = loaded(&build::module([f.finish()]));
    for (n, grain, n_tasks) in
        [(0, 1, 0), (3, 1, 0), (4, 1, 2), (7, 1, 3), (39, 10, 0), (40, 10, 2), (60, 10, 3), (100, 1, 4)]
            .into_iter()
            .chain([(3, 0, 3), (3, -5, 3), (100, i64::MAX / 2, 0)])
    {
        let mut b = Array::zeros(DType::INT32, &[n]);
        call(&compiled, "f", &mut [Argument::Tensor(&mut b), Argument::Int(grain)]).unwrap();
        assert_eq!(tasks(), n_tasks, "{n} iterations, {grain}");
        assert_eq!(b.to_int(), (1..=n as i128).collect::<Vec<_>>());
    }
}

/// A loop that takes along a scalar of each type, a vector of each type, memory on the stack and
/// workspace.
fn captures() -> IrModule {
    let mut f = build::function("f");
    let mut seen = Vec::new();
    for &dtype in DType::SCALARS {
        let from = f.buffer(format!("A_{dtype}"), [4], dtype);
        let to = f.buffer(format!("B_{dtype}"), [16], dtype);
        let scalar = f.bind("s", from.at([3]));
        let vector = f.bind("v", from.at([Expr::i32(0).ramp(Expr::i32(1), 4)]));
        seen.push((to, scalar, vector));
    }
    let stack = f.alloc("stack", [16], DType::INT32, StorageScope::GLOBAL);
    let large = f.alloc("large", [4096], DType::INT64, StorageScope::GLOBAL);
    let sum = f.buffer("sum", [16], DType::INT64);
    let most = f.scalar("most", DType::UINT64);
    f.for_loop("k", 16, ForKind::Serial, |f, k| {
        f.store(&stack, [&k], &k * &k);
        f.store(&large, [&k], k.clone().cast(DType::INT64));
    });
    f.for_loop("k", 2, ForKind::Serial, |f, k| {
        f.for_loop("i", 8, ForKind::Parallel, |f, i| {
            let at = &k * &Expr::i32(8) + i.clone();
            for (to, scalar, vector) in &seen {
                // Lane i mod 4, but the scalar in the place of the first.
                let lane = |lane: u16| {
                    Expr::new(
                        chipdock_ir::ExprKind::Shuffle { vectors: vec![vector.clone()], indices: vec![lane] },
                        to.dtype,
                    )
                };
                let is = |n: i32| Expr::compare(chipdock_ir::CompareOp::Eq, &i % &Expr::i32(4), Expr::i32(n));
                let value = Expr::select(is(1), lane(1), Expr::select(is(2), lane(2), lane(3)));
                f.store(to, [&at], Expr::select(is(0), scalar.clone(), value));
            }
            let is_most = Expr::compare(
                chipdock_ir::CompareOp::Eq,
                most.clone(),
                Expr::int(i64::MAX.into(), DType::UINT64),
            );
            let total = stack.at([&at]).cast(DType::INT64) + large.at([&at]) + is_most.cast(DType::INT64);
            f.store(&sum, [&at], total);
        });
    });
    build::module([f.finish()])
}

#[test]
fn every_type_is_taken_along() {
    if !has_compiler() {
        return;
    }
    let module = captures();
    assert_eq!(chipdock_ir::validate::validate(&module, chipdock_ir::Stage::Blocks), Ok(()));
    let mut arrays = Vec::new();
    for &dtype in DType::SCALARS {
        let values: &[f64] = match dtype {
            dtype if dtype.is_bool() => &[1.0, 0.0, 0.0, 1.0],
            dtype if dtype.is_float() => &[1.5, -0.0, f64::INFINITY, -2.25],
            dtype if dtype.is_uint() => &[1.0, 255.0, 0.0, 200.0],
            _ => &[-1.0, 127.0, -128.0, -100.0],
        };
        arrays.push(Array::from_f64(dtype, &[4], values));
        arrays.push(Array::zeros(dtype, &[16]));
    }
    arrays.push(Array::zeros(DType::INT64, &[16]));
    let mut args: Vec<Arg> = arrays.iter().cloned().map(Arg::Tensor).collect();
    args.push(Arg::Int(i64::MAX.into()));
    let expected = Interpreter::new(&module).run("f", &mut args).unwrap();
    for compiled in [loaded(&module), alone(&module)] {
        let mut found = arrays.clone();
        let mut packed: Vec<Argument> = found.iter_mut().map(Argument::Tensor).collect();
        packed.push(Argument::Int(i64::MAX));
        call(&compiled, "f", &mut packed).unwrap();
        for (found, expected) in found.iter().zip(&expected.outputs) {
            assert_eq!(found.data, expected.array.data, "{}", expected.name);
        }
    }
}

/// The pool's threads raise errors, and the function that launched them has the first.
#[test]
fn a_failure_of_a_task_ends_the_function_with_its_error() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    let n = f.size("n");
    let (a, b) = (f.buffer("A", [&n], DType::INT32), f.buffer("B", [&n], DType::INT32));
    f.for_loop("i", &n, ForKind::Parallel, |f, i| {
        let own = f.alloc("own", [2000], DType::INT32, StorageScope::GLOBAL);
        f.store(&own, [&i], a.at([&i]));
        let holds = Expr::compare(chipdock_ir::CompareOp::Lt, own.at([&i]), Expr::i32(100));
        let message = vec![Expr::str("too large at "), i.clone()];
        f.push(Stmt::new(StmtKind::Assert { condition: holds, kind: "ValueError".into(), message }));
        f.store(&b, [&i], own.at([&i]));
    });
    f.store(&b, [0], 77);
    let module = build::module([f.finish()]);
    for compiled in [loaded(&module), alone(&module)] {
        let (mut a, mut b) = (Array::zeros(DType::INT32, &[40]), Array::zeros(DType::INT32, &[40]));
        call(&compiled, "f", &mut [&mut a, &mut b].map(Argument::Tensor)).unwrap();
        assert_eq!(b.to_int()[0], 77);
    }
    let compiled = loaded(&module);
    let mut values = vec![1; 40];
    values[37] = 100;
    let mut a = Array::from_int(DType::INT32, &[40], &values);
    let mut b = Array::zeros(DType::INT32, &[40]);
    let error = call(&compiled, "f", &mut [&mut a, &mut b].map(Argument::Tensor)).unwrap_err();
    assert_eq!(error, ("ValueError".to_owned(), "too large at 37".to_owned()));
    assert_eq!((tasks(), b.to_int()[0]), (4, 1), "what comes after the loop did not run");
}

/// A view of a parameter and the parameter itself: both may be the same memory, whatever the
/// function says of parameters.
#[test]
fn a_view_may_overlap_its_own_parameter() {
    if !has_compiler() {
        return;
    }
    let mut f = build::function("f");
    f.noalias();
    let a = f.buffer("A", [64], DType::INT32);
    let view = chipdock_ir::Buffer::from_node(BufferNode {
        data: Var::pointer("V", DType::INT32, StorageScope::GLOBAL),
        ..(*chipdock_ir::Buffer::new("V", vec![Expr::i32(64)], DType::INT32, StorageScope::GLOBAL)).clone()
    });
    let address = Expr::call(Op::AddressOf, vec![a.at([0])], DType::HANDLE);
    f.push(Stmt::new(StmtKind::DeclBuffer { buffer: view.clone(), data: Some(address) }));
    f.for_loop("i", 2, ForKind::Parallel, |f, i| {
        f.for_loop("j", 31, ForKind::Serial, |f, j| {
            let at = &i * &Expr::i32(32) + j;
            f.store(&view, [&at + &Expr::i32(1)], a.at([&at]) + Expr::i32(1));
        });
    });
    let compiled = loaded(&build::module([f.finish()]));
    let mut a = Array::zeros(DType::INT32, &[64]);
    call(&compiled, "f", &mut [Argument::Tensor(&mut a)]).unwrap();
    assert_eq!(a.to_int(), (0..64).map(|i| i % 32).collect::<Vec<i128>>());
}
