//! Tests of parallel loops on every backend for host memory, through the host's pool: correct with
//! any number of threads, and actually parallel.

use chipdock_host::{AnyView, Function, Host, HostOptions, Tensor};
use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::DType;
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host_with, on_each_host, outputs};

/// Sizes of the pool: none besides the caller, as many as there are cores, more than there are.
const POOLS: &[u32] = &[1, 2, 5];
/// Iterations: none, one, fewer than threads, a prime.
const SIZES: &[i64] = &[0, 1, 3, 97];

fn host(threads: u32) -> Host {
    host_with(|options| HostOptions { threads: Some(threads), ..options })
}

const KERNELS: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def captures(A: T.Buffer((\"n\", 5), \"float32\"), B: T.Buffer((n, 5), \"float32\"), c: T.int8, u: T.uint64,
                 x: T.float64, h: T.float16, p: T.bool):
        n = T.int32()
        W = T.alloc_buffer((n, 5))
        for i, j in T.grid(n, 5):
            W[i, j] = A[i, j] + T.float32(1)
        for i in T.parallel(n):
            L = T.alloc_buffer((5,), scope=\"local\")
            for j in range(5):
                L[j] = W[i, 4 - j] * T.Cast(\"float32\", x)
            for j in range(5):
                B[i, j] = L[j] + T.Cast(\"float32\", c) + T.Cast(\"float32\", u) + T.Cast(\"float32\", h) + T.Cast(
                    \"float32\", p) + T.Cast(\"float32\", i * n)

    @T.prim_func(s_tir=True)
    def nested(A: T.Buffer((\"n\", 7, 3), \"int32\"), B: T.Buffer((n, 7, 3), \"int32\")):
        n = T.int32()
        for i in T.parallel(n):
            for j in T.parallel(7):
                for k in T.parallel(3):
                    B[i, j, k] = A[i, j, k] * 2 + i * 100 + j * 10 + k

    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\")):
        n = T.int32()
        W = T.alloc_buffer((n,), \"int32\")
        for i in T.parallel(n):
            W[i] = A[i] + 1
        for i in T.parallel(n):
            B[i] = W[n - 1 - i] * W[i]

    @T.prim_func(s_tir=True)
    def adds(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((4,), \"int32\")):
        n = T.int32()
        for i in T.parallel(n):
            T.call_intrin(\"int32\", \"tirx.atomic_add\", T.address_of(B[i % 4]), A[i])

    @T.prim_func(s_tir=True)
    def fails(A: T.Buffer((\"n\",), \"int32\"), B: T.Buffer((n,), \"int32\"), bad: T.int32):
        n = T.int32()
        W = T.alloc_buffer((n,), \"int32\")
        for i in range(n):
            W[i] = A[i]
        for i in T.parallel(n):
            V = T.alloc_buffer((1000,), \"int32\")
            V[i % 1000] = W[i]
            assert i != bad, (\"ValueError\", [\"iteration is bad\"])
            B[i] = V[i % 1000] + 1
";

fn module() -> chipdock_ir::IrModule {
    chipdock_script::parse(KERNELS, "parallel.py").unwrap_or_else(|errors| panic!("{errors}"))
}

fn counted(dtype: DType, shape: &[i64]) -> Arg {
    let shape: Vec<usize> = shape.iter().map(|extent| *extent as usize).collect();
    let values: Vec<f64> = (0..shape.iter().product::<usize>()).map(|value| value as f64).collect();
    Arg::Tensor(Array::from_f64(dtype, &shape, &values))
}

/// A function of the module on arguments, against the interpreter.
fn agrees(backend: &Backend, function: &Function, name: &str, args: &[Arg]) {
    let outcome = Interpreter::new(&module()).with_bounds().run(name, &mut args.to_vec());
    let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = outputs(backend, function, args).unwrap_or_else(|error| panic!("{name}: {error}"));
    hold(&outcome.outputs, &found).unwrap_or_else(|error| panic!("{name}: {error}"));
}

fn all_agree(backend: &Backend, function: &dyn Fn(&str) -> Function, n: i64) {
    let numbers = [Arg::Int(-100), Arg::Int(1 << 40), Arg::Float(1.25), Arg::Float(0.5), Arg::Int(1)];
    let tables = [counted(DType::FLOAT32, &[n, 5]), counted(DType::FLOAT32, &[n, 5])];
    agrees(backend, &function("captures"), "captures", &[&tables[..], &numbers[..]].concat());
    let cubes = [counted(DType::INT32, &[n, 7, 3]), counted(DType::INT32, &[n, 7, 3])];
    agrees(backend, &function("nested"), "nested", &cubes);
    let rows = [counted(DType::INT32, &[n]), counted(DType::INT32, &[n])];
    agrees(backend, &function("twice"), "twice", &rows);
    agrees(backend, &function("adds"), "adds", &[rows[0].clone(), counted(DType::INT32, &[4])]);
}

#[test]
fn regions_are_right_at_any_number_of_threads() {
    for threads in POOLS {
        let host = host(*threads);
        on_each_host(&host, |backend| {
            let loaded = run::build(&host, backend, &module()).unwrap_or_else(|error| panic!("{error}"));
            let function = |name: &str| loaded.function(name).expect("there");
            for n in SIZES {
                all_agree(backend, &function, *n);
            }
        });
    }
}

/// Several callers share the pool, each with regions of its own.
#[test]
fn regions_of_several_callers_are_right() {
    let host = host(3);
    on_each_host(&host, |backend| {
        let loaded = run::build(&host, backend, &module()).unwrap_or_else(|error| panic!("{error}"));
        let function = |name: &str| loaded.function(name).expect("there");
        std::thread::scope(|scope| {
            for caller in 0..4 {
                let function = &function;
                scope.spawn(move || {
                    (0..10).for_each(|round| all_agree(backend, function, 11 + caller * 7 + round))
                });
            }
        });
    });
}

/// The failure is the caller's, with its kind and words, and nothing is held back: the next call
/// works.
#[test]
fn a_failing_region_is_reported_and_leaves_all_usable() {
    for threads in POOLS {
        let host = host(*threads);
        on_each_host(&host, |backend| {
            let loaded = run::build(&host, backend, &module()).unwrap_or_else(|error| panic!("{error}"));
            let fails = loaded.function("fails").expect("there");
            let a = Tensor::from_slice(&backend.device, &[64], &[7_i32; 64]).expect("made");
            for round in 0..200 {
                let b = Tensor::zeros(&backend.device, &[64], DType::INT32).expect("made");
                let bad = if round % 2 == 0 { round % 64 } else { -1 };
                let ended = fails.call(&[AnyView::from(&a), AnyView::from(&b), i64::from(bad).into()]);
                match ended {
                    Ok(_) => {
                        assert_eq!(bad, -1, "iteration {bad} has to fail");
                        assert_eq!(b.to_vec::<i32>().expect("read"), [8; 64]);
                    }
                    Err(error) => {
                        assert_eq!((error.kind().as_str(), bad >= 0), ("ValueError", true), "{error}");
                        assert!(error.to_string().contains("iteration is bad"), "{error}");
                    }
                }
            }
        });
    }
}
