//! Tests of float functions on every backend for host functions, through `dlopen`: results are
//! within the bounds that the passes state, which are narrower than those of the accuracy contract,
//! with any contraction by the backend's compiler.

use chipdock_host::{Host, Module};
use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, Expr, IrModule, Op, PrimFunc, Signature, build};
use chipdock_passes::{high_ulps, lowered_ulps};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{host, on_each_host};

/// Arguments and values of float64 functions, of 60 digits; the passes' own test says how they were
/// made.
const FLOAT64: [&str; 2] = [
    include_str!("../../../host/passes/tests/it/data/float64.txt"),
    include_str!("../../../host/passes/tests/it/data/wide.txt"),
];

fn functions(dtype: DType) -> Vec<Op> {
    let unary = |op: &&Op| op.signature() == Signature::FloatUnary && lowered_ulps(**op, dtype).is_some();
    Op::ALL.iter().filter(unary).copied().collect()
}

/// Each function on `n` values, under its own name.
fn module(ops: &[Op], dtype: DType, sizes: &[usize]) -> IrModule {
    let function = |(op, n): (&Op, &usize)| -> PrimFunc {
        let n = *n as i32;
        let mut f = build::function(format!("run_{}", op.name()));
        let inputs = &["A0", "A1"][..op.info().params.len()];
        let inputs: Vec<_> = inputs.iter().map(|name| f.buffer(*name, [n], dtype)).collect();
        let b = f.buffer("B", [n], dtype);
        f.range("i", n, |f, i| {
            let args = inputs.iter().map(|input| input.at([&i])).collect();
            f.store(&b, [&i], Expr::call(*op, args, dtype));
        });
        f.finish()
    };
    build::module(ops.iter().zip(sizes).map(function))
}

/// Whether a backend's functions go through the pass; an op that it has itself is held to the
/// contract alone.
fn is_lowered(host: &Host, backend: &Backend, op: Op) -> bool {
    let kinds = host.target_kinds();
    let kind = kinds.iter().find(|(kind, _)| kind.name == backend.target.kind).expect("the backend's kind");
    kind.0.is_host && !kind.0.native_ops.iter().any(|native| native == op.name())
}

fn values(backend: &Backend, loaded: &Module, op: Op, inputs: Vec<Array>) -> Vec<f64> {
    let form = Array::zeros(inputs[0].dtype, &inputs[0].shape);
    let function = loaded.function(&format!("run_{}", op.name())).expect("the function");
    let args: Vec<Arg> = inputs.into_iter().chain([form.clone()]).map(Arg::Tensor).collect();
    let values = run::upload(backend, &args).expect("uploaded");
    run::call(&function, &values).expect("run");
    let Some(run::Value::Tensor(tensor)) = values.last() else { panic!("the result is a tensor") };
    Array { data: tensor.to_bytes().expect("read back"), ..form }.to_f64()
}

/// Whether the distance, in units of the last place, is within the bound; signs, infinities and
/// NaNs are as they are.
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
            let found = values(backend, &loaded, *op, vec![Array::from_f32(&[n], &sample)]);
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

/// Arguments, the nearest float64 of the value, and the rest.
type Case = (Vec<f64>, (f64, f64));

fn cases(op: Op) -> Vec<Case> {
    let number = |word: &str| f64::from_bits(u64::from_str_radix(word, 16).expect("bits"));
    let lines = FLOAT64.iter().flat_map(|text| text.lines());
    let own = lines.filter_map(|line| line.strip_prefix(op.name())?.strip_prefix(' '));
    own.map(|line| {
        let mut numbers: Vec<f64> = line.split(' ').map(number).collect();
        let (rest, nearest) = (numbers.pop().expect("the rest"), numbers.pop().expect("the value"));
        (numbers, (nearest, rest))
    })
    .collect()
}

fn columns(cases: &[Case]) -> Vec<Array> {
    let column = |index: usize| {
        let values: Vec<f64> = cases.iter().map(|case| case.0[index]).collect();
        Array::from_f64(DType::FLOAT64, &[values.len()], &values)
    };
    (0..cases[0].0.len()).map(column).collect()
}

#[test]
fn float64_is_within_its_bounds() {
    let host = host();
    let mut ops = functions(DType::FLOAT64);
    ops.extend([Op::Pow, Op::Atan2, Op::Hypot]);
    let sizes: Vec<usize> = ops.iter().map(|op| cases(*op).len()).collect();
    assert!(sizes.iter().all(|n| *n > 100), "{sizes:?}");
    let module = module(&ops, DType::FLOAT64, &sizes);
    on_each_host(&host, |backend| {
        let loaded = run::build(&host, backend, &module).expect("built");
        for op in ops.iter().filter(|op| is_lowered(&host, backend, **op)) {
            let bound = lowered_ulps(*op, DType::FLOAT64).expect("a bound");
            let cases = cases(*op);
            let found = values(backend, &loaded, *op, columns(&cases));
            for ((arguments, exact), found) in cases.into_iter().zip(found) {
                assert!(
                    within(found, exact, 52, -1022, bound),
                    "{}{arguments:?}: {found:e} is more than {bound} ulp from {:e}",
                    op.name(),
                    exact.0
                );
            }
        }
    });
}

/// With the interpreter's own, which is exact.
#[test]
fn fmod_of_float32_is_exact() {
    let host = host();
    let mut random = chipdock_programs::Random::new(3);
    let n = 50_000;
    let mut draw = || -> Vec<f32> { (0..n).map(|_| f32::from_bits(random.bits_32())).collect() };
    let [x, y] = [draw(), draw()].map(|values| Array::from_f32(&[n], &values));
    let module = module(&[Op::Fmod], DType::FLOAT32, &[n]);
    let zeros = Array::zeros(DType::FLOAT32, &[n]);
    let mut args = [x.clone(), y.clone(), zeros].map(Arg::Tensor);
    Interpreter::new(&module).run("run_fmod", &mut args).expect("interpreted");
    let [_, _, Arg::Tensor(expected)] = args else { panic!("three tensors") };
    on_each_host(&host, |backend| {
        let loaded = run::build(&host, backend, &module).expect("built");
        let found = values(backend, &loaded, Op::Fmod, vec![x.clone(), y.clone()]);
        for (index, (found, expected)) in found.into_iter().zip(expected.to_f64()).enumerate() {
            let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
            assert!(same, "{index}: {found:e}, not {expected:e}");
        }
    });
}
