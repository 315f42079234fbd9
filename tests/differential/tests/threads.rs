//! Compiles, loads, calls and drops modules from several threads at once, and calls functions that
//! outlive their module.

use std::sync::Barrier;

use chipdock_host::{AnyView, Function, Host, Tensor};
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, on_each};

/// Threads at once: more than there are cores.
const N_THREADS: i64 = 6;
/// Modules of each.
const N_MODULES: i64 = 4;

/// A kernel of its own per number: B[i] = A[i] * 2 + number, with workspace between.
fn module(number: i64) -> IrModule {
    let text = format!(
        "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        W = T.alloc_buffer((n,), \"int32\")
        for i in range(n):
            W[i] = A[i] * 2
        for i in range(n):
            B[i] = W[i] + {number}
"
    );
    chipdock_script::parse(&text, "number.py").unwrap_or_else(|errors| panic!("{errors}"))
}

fn build(host: &Host, backend: &Backend, number: i64) -> Function {
    let loaded =
        run::build(host, backend, &module(number)).unwrap_or_else(|error| panic!("{number}: {error}"));
    loaded.function("f").expect("there")
}

/// Calls on `n` elements and holds the result.
fn check(backend: &Backend, f: &Function, number: i64, n: i64) {
    let values: Vec<i32> = (0..n as i32).collect();
    let a = Tensor::from_slice(&backend.device, &[n], &values).expect("made");
    let b = Tensor::from_slice(&backend.device, &[n], &vec![-1_i32; n as usize]).expect("made");
    f.call(&[AnyView::from(&a), AnyView::from(&b)]).expect("a good call");
    let expected: Vec<i32> = values.iter().map(|value| value * 2 + number as i32).collect();
    assert_eq!(b.to_vec::<i32>().expect("read"), expected, "number {number}");
}

/// All threads begin together: the first one to compile opens the library or finds the compiler.
#[test]
fn modules_are_made_and_called_from_many_threads() {
    let host = host();
    on_each(&host, |backend| {
        let start = Barrier::new(N_THREADS as usize);
        std::thread::scope(|scope| {
            for thread in 0..N_THREADS {
                let (host, start) = (&host, &start);
                scope.spawn(move || {
                    start.wait();
                    for number in (0..N_MODULES).map(|module| thread * 100 + module) {
                        let f = build(host, backend, number);
                        (1..20).for_each(|n| check(backend, &f, number, n * 7));
                    }
                });
            }
        });
    });
}

/// Two hosts in a process, as two programs in one have: what one does is nothing to the other.
#[test]
fn two_hosts_do_not_disturb_each_other() {
    let one = host();
    on_each(&one, |backend| {
        let kept = build(&one, backend, 1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let other = host();
                on_each(&other, |backend| check(backend, &build(&other, backend, 2), 2, 33));
            });
            (0..50).for_each(|n| check(backend, &kept, 1, n));
            other.join().expect("no panic");
        });
        // The other host is gone.
        check(backend, &kept, 1, 33);
        check(backend, &build(&one, backend, 3), 3, 33);
    });
}

/// `build` above keeps no module: each function here has outlived its own.
#[test]
fn functions_outlive_their_modules() {
    let host = host();
    on_each(&host, |backend| {
        let kept: Vec<Function> = (0..3).map(|number| build(&host, backend, number)).collect();
        // Code of others comes and goes where theirs was freed, if it was.
        (10..14).for_each(|number| check(backend, &build(&host, backend, number), number, 9));
        for (number, f) in kept.iter().enumerate() {
            check(backend, f, number as i64, 100);
        }
        let copy = kept[0].clone();
        drop(kept);
        check(backend, &copy, 0, 100);
    });
}

/// While some call, others drop the modules that the functions are of.
#[test]
fn modules_are_dropped_while_they_run() {
    let host = host();
    on_each(&host, |backend| {
        for number in 0..4 {
            let loaded = run::build(&host, backend, &module(number)).expect("built");
            let f = loaded.function("f").expect("there");
            let start = Barrier::new(3);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    let f = f.clone();
                    scope.spawn(|| {
                        let f = f;
                        start.wait();
                        (1..200).for_each(|n| check(backend, &f, number, n));
                    });
                }
                start.wait();
                drop(loaded);
            });
        }
    });
}
