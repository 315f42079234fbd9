//! Tests of float functions on every backend for host functions, through `dlopen`: results are within the bounds that the
//! passes state, which are narrower than those of the accuracy contract, with any contraction by the backend's compiler.

use chipdock_host::{Host, Module};
use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, Expr, IrModule, Op, PrimFunc, Signature, build};
use chipdock_passes::{high_ulps, lowered_ulps};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, on_each_host};

/// Arguments and values of float64 functions, of 60 digits; the passes' own test says how they were made.
const FLOAT64: &str = include_str!("../../../plugin-api/passes/tests/it/data/float64.txt");

fn functions(dtype: DType) -> Vec<Op> {
    let unary = |op: &&Op| op.signature() == Signature::FloatUnary && lowered_ulps(**op, dtype).is_some();
    Op::ALL.iter().filter(unary).copied().collect()
}

/// Each function on `n` values, under its own name.
fn module(ops: &[Op], dtype: DType, sizes: &[usize]) -> IrModule {
    let function = |(op, n): (&Op, &usize)| -> PrimFunc {
        let n = *n as i32;
        let mut f = build::function(format!("run_{}", op.name()));
        let (a, b) = (f.buffer("A", [n], dtype), f.buffer("B", [n], dtype));
        f.range("i", n, |f, i| f.store(&b, [&i], Expr::call(*op, vec![a.at([&i])], dtype)));
        f.finish()
    };
    build::module(ops.iter().zip(sizes).map(function))
}

/// Whether a backend's functions go through the pass; an op that it has itself is held to the contract alone.
fn is_lowered(host: &Host, backend: &Backend, op: Op) -> bool {
    let kinds = host.target_kinds();
    let kind = kinds.iter().find(|(kind, _)| kind.name == backend.target.kind).expect("the backend's kind");
    kind.0.is_host && !kind.0.native_ops.iter().any(|native| native == op.name())
}

fn values(backend: &Backend, loaded: &Module, op: Op, input: Array) -> Vec<f64> {
    let form = Array::zeros(input.dtype, &input.shape);
    let function = loaded.function(&format!("run_{}", op.name())).expect("the function");
    let values = run::upload(backend, &[Arg::Tensor(input), Arg::Tensor(form.clone())]).expect("uploaded");
    run::call(&function, &values).expect("run");
    let Some(run::Value::Tensor(tensor)) = values.last() else { panic!("the result is a tensor") };
    Array { data: tensor.to_bytes().expect("read back"), ..form }.to_f64()
}

/// Whether the distance, in units of the last place, is within the bound; signs, infinities and NaNs are as they are.
fn within(found: f64, (nearest, rest): (f64, f64), digits: i32, exponent_min: i32, bound: f64) -> bool {
    if nearest.is_nan() || !nearest.is_finite() || nearest == 0.0 && rest == 0.0 {
        return found == nearest && found.is_sign_negative() == nearest.is_sign_negative()
            || found.is_nan() && nearest.is_nan();
    }
    let exponent = (((nearest.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(exponent_min);
    // In two steps: a unit may be subnormal, and its inverse infinite.
    let scale = |x: f64| {
        x * 2.0_f64.powi(-exponent / 2) * 2.0_f64.powi(-exponent - -exponent / 2) * 2.0_f64.powi(digits)
    };
    ((scale(found) - scale(nearest)) - scale(rest)).abs() <= bound
}

#[test]
fn float32_is_within_its_bounds() {
    let host = host();
    let ops = functions(DType::FLOAT32);
    let sample: Vec<f32> = (0..=u32::MAX).step_by(20_011).map(f32::from_bits).collect();
    let n = sample.len();
    let module_single = module(&ops, DType::FLOAT32, &vec![n; ops.len()]);
    let module_double = module(&ops, DType::FLOAT64, &vec![n; ops.len()]);
    let wide: Vec<f64> = sample.iter().map(|x| f64::from(*x)).collect();
    let exact = |op: &Op| -> Vec<f64> {
        let mut args = [
            Arg::Tensor(Array::from_f64(DType::FLOAT64, &[n], &wide)),
            Arg::Tensor(Array::zeros(DType::FLOAT64, &[n])),
        ];
        let name = format!("run_{}", op.name());
        Interpreter::new(&module_double).run(&name, &mut args).expect("interpreted");
        let [_, Arg::Tensor(exact)] = args else { panic!("two tensors") };
        exact.to_f64()
    };
    let exact: Vec<Vec<f64>> = ops.iter().map(exact).collect();
    let check = |backend: &Backend, bound: fn(Op) -> Option<f64>| {
        let loaded = run::build(&host, backend, &module_single).expect("built");
        let mut n_ops = 0;
        for (op, exact) in ops.iter().zip(&exact).filter(|(op, _)| is_lowered(&host, backend, **op)) {
            let bound = bound(*op).expect("a bound");
            let found = values(backend, &loaded, *op, Array::from_f32(&[n], &sample));
            for ((x, found), exact) in sample.iter().zip(found).zip(exact) {
                // What overflows is infinite.
                let rounded = f64::from(*exact as f32);
                let exact = if rounded.is_infinite() { rounded } else { *exact };
                assert!(
                    within(found, (exact, 0.0), 23, -126, bound),
                    "{}({x:e}): {found:e} is more than {bound} ulp from {exact:e}",
                    op.name()
                );
            }
            n_ops += 1;
        }
        assert!(n_ops > 8, "only {n_ops} functions go through the passes");
    };
    let high = serde_json::Map::from_iter([("accuracy".to_owned(), "high".into())]);
    let exact_hosts = std::cell::Cell::new(0);
    on_each_host(&host, |backend| {
        check(backend, |op| lowered_ulps(op, DType::FLOAT32));
        let kinds = host.target_kinds();
        let kind = kinds.iter().find(|(kind, _)| kind.name == backend.target.kind).expect("its kind");
        if kind.0.capabilities.accuracy == "accuracy" {
            check(&backend.with_options(&host, "high", &high).expect("a target"), high_ulps);
            exact_hosts.set(exact_hosts.get() + 1);
        }
    });
    assert!(exact_hosts.get() > 1, "only {} targets have the option", exact_hosts.get());
}

#[test]
fn float64_is_within_its_bounds() {
    let host = host();
    let ops = functions(DType::FLOAT64);
    let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"));
    let cases = |op: &Op| -> Vec<(f64, f64, f64)> {
        let lines = FLOAT64.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let own = lines.filter(|words| words[0] == op.name());
        own.map(|words| (number(words[1]), number(words[2]), number(words[3]))).collect()
    };
    let sizes: Vec<usize> = ops.iter().map(|op| cases(op).len()).collect();
    assert!(sizes.iter().all(|n| *n > 100), "{sizes:?}");
    let module = module(&ops, DType::FLOAT64, &sizes);
    on_each_host(&host, |backend| {
        let loaded = run::build(&host, backend, &module).expect("built");
        for op in ops.iter().filter(|op| is_lowered(&host, backend, **op)) {
            let bound = lowered_ulps(*op, DType::FLOAT64).expect("a bound");
            let cases = cases(op);
            let arguments: Vec<f64> = cases.iter().map(|case| case.0).collect();
            let input = Array::from_f64(DType::FLOAT64, &[arguments.len()], &arguments);
            let found = values(backend, &loaded, *op, input);
            for ((x, nearest, rest), found) in cases.into_iter().zip(found) {
                assert!(
                    within(found, (nearest, rest), 52, -1022, bound),
                    "{}({x:e}): {found:e} is more than {bound} ulp from {nearest:e}",
                    op.name()
                );
            }
        }
    });
}
