//! Tests of loads and stores under conditions, over short inner loops, on every backend for host
//! functions.
//!
//! gcc before version 14 turns such conditions into masks and takes one load's mask for another's
//! (its bug 114375): from correct C code come zeros instead of elements if the inner extent is not
//! a power of two and short enough to be unrolled.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::DType;
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host, on_each_host, outputs};

const N_ROWS: usize = 4;

/// Kernels with conditional loads that are in bounds in any case, or only under the condition; with
/// conditional stores; and with conditional sums.
const KERNEL: &str = "
    @T.prim_func(s_tir=True)
    def f_N(M: T.Buffer((4, N), \"DT\"), A: T.Buffer((4, N), \"DT\"), O: T.Buffer((4, N), \"DT\"), P: T.Buffer((4, N), \"DT\"), Q: T.Buffer((4, N), \"DT\"), S: T.Buffer((4,), \"DT\"), k: T.int32):
        T.func_attr({\"tirx.noalias\": True})
        for i in range(4):
            for j in range(N):
                O[i, j] = T.if_then_else(M[i, j] > ZERO, A[i, j], ONE)
        for i in range(4):
            for j in range(N):
                P[i, j] = T.if_then_else(j >= k and M[i, j] > ZERO, A[i, j - k], ONE)
        for i in range(4):
            for j in range(N):
                if M[i, j] > ZERO:
                    Q[i, j] = A[i, j]
        for i in range(4):
            for j in range(N):
                S[i] = S[i] + T.if_then_else(M[i, j] > ZERO, A[i, j], ZERO)
        for i in range(4):
            for j in T.unroll(N):
                O[i, j] = O[i, j] + T.if_then_else(M[i, j] > ZERO and A[i, j] > ZERO, A[i, j], ZERO)
";

fn script(dtype: DType, extents: &[usize]) -> String {
    let point = if dtype.is_float() { ".0" } else { "" };
    let constant = |value: i32| format!("T.{dtype}({value}{point})");
    let kernel =
        KERNEL.replace("ZERO", &constant(0)).replace("ONE", &constant(1)).replace("DT", &dtype.to_string());
    let kernels =
        extents.iter().map(|n| kernel.replace("f_N", &format!("f_{n}")).replace("N", &n.to_string()));
    format!("@I.ir_module\nclass Module:{}", kernels.collect::<String>())
}

/// Masks of no period that a vector has, and elements that differ from their neighbours and from
/// zero.
fn args(dtype: DType, n: usize) -> Vec<Arg> {
    let count = N_ROWS * n;
    let masks: Vec<f64> = (0..count).map(|at| if (at * at / 3 + at) % 5 < 3 { 1.0 } else { 0.0 }).collect();
    let elements: Vec<f64> = (0..count).map(|at| (at % 23 + 1) as f64).collect();
    let tensor = |values: &[f64]| Arg::Tensor(Array::from_f64(dtype, &[N_ROWS, n], values));
    let zeros = || Arg::Tensor(Array::zeros(dtype, &[N_ROWS, n]));
    let sums = Arg::Tensor(Array::zeros(dtype, &[N_ROWS]));
    vec![tensor(&masks), tensor(&elements), zeros(), zeros(), zeros(), sums, Arg::Int(1)]
}

/// Every extent of one type, and of the others some of those that were wrong: a compiler takes a
/// second for ten of them.
fn extents(dtype: DType) -> Vec<usize> {
    match dtype {
        DType::FLOAT32 => (1..=33).collect(),
        _ => vec![3, 7, 12, 24],
    }
}

#[test]
fn conditional_loads_happen_only_where_the_condition_holds() {
    let host = host();
    let mut all = Vec::new();
    for dtype in DType::SCALARS.iter().copied().filter(|dtype| !dtype.is_bool()) {
        let extents = extents(dtype);
        let text = script(dtype, &extents);
        let module = chipdock_script::parse(&text, "masks.py").unwrap_or_else(|errors| panic!("{errors}"));
        all.push((dtype, extents, Arc::new(module)));
    }
    on_each_host(&host, |backend| {
        let mut wrong = Vec::new();
        for (dtype, extents, module) in &all {
            let loaded =
                run::build(&host, backend, module).unwrap_or_else(|error| panic!("{dtype}: {error}"));
            for n in extents {
                let (name, given) = (format!("f_{n}"), args(*dtype, *n));
                let expected = Interpreter::new(module).run(&name, &mut given.clone()).expect("interpreted");
                let function = loaded.function(&name).expect("the function");
                let found = outputs(backend, &function, &given).expect("run");
                if let Err(error) = hold(&expected.outputs, &found) {
                    wrong.push(format!("{dtype}, rows of {n}: {error}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}
