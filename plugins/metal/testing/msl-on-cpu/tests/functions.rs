//! Tests that functions of float32 lowered without float64, compiled from MSL with and without
//! contraction, are within their documented error bounds.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{Buffer, DType, Expr, IrModule, Op, Param, Signature, build};
use chipdock_metal_tests as msl;
use chipdock_passes::narrow_ulps;
use chipdock_test_backends::device_code::build;
use chipdock_test_backends::host;
use chipdock_test_backends::launches::{self, Launch};
use chipdock_test_support::setup::missing;
use chipdock_test_support::skipped;

/// Elements of a kernel.
const N: usize = 1 << 16;

fn functions() -> Vec<(Op, f64)> {
    let bounds = Op::ALL.iter().filter_map(|op| Some((*op, narrow_ulps(*op)?)));
    // Those that are exact are arithmetic on bits.
    bounds.filter(|(_, bound)| *bound > 0.0).collect()
}

fn is_pair(op: Op) -> bool {
    op.signature() != Signature::FloatUnary
}

/// Each function elementwise, in a function of its own.
fn module(dtype: DType) -> IrModule {
    let functions = functions().into_iter().map(|(op, _)| {
        let mut f = build::function(format!("of_{}", op.name()));
        let names = if is_pair(op) { vec!["A", "B"] } else { vec!["A"] };
        let inputs: Vec<Buffer> = names.into_iter().map(|name| f.buffer(name, [N as i32], dtype)).collect();
        let out = f.buffer("Z", [N as i32], dtype);
        f.range("i", N as i32, |f, i| {
            let args = inputs.iter().map(|input| input.at([&i])).collect();
            f.store(&out, [&i], Expr::call(op, args, dtype));
        });
        let mut function = f.finish();
        function.attrs.insert("tirx.noalias".into(), chipdock_ir::AttrValue::Bool(true));
        function
    });
    build::module(functions)
}

/// Floats of all sizes and both signs, and of middling size.
fn inputs() -> [Vec<f32>; 2] {
    let mut random = chipdock_programs::Random::new(0);
    let mut one = |index: usize| {
        let bits = random.bits_32();
        if index.is_multiple_of(2) { f32::from_bits(bits) } else { bits as f32 / 2.0_f32.powi(29) - 4.0 }
    };
    let mut list = || (0..N).map(&mut one).collect();
    [list(), list()]
}

/// Distance in units of the last place of float32; infinite where a sign, an infinity or a NaN is
/// wrong.
fn ulps(found: f64, exact: f64) -> f64 {
    let rounded = f64::from(exact as f32);
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() == found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found == rounded && found.is_sign_negative() == exact.is_sign_negative() {
        return 0.0;
    }
    if rounded.is_infinite() || found.is_infinite() || found.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    (found - exact).abs() / (exact.abs().log2().floor().max(-126.0) - 23.0).exp2()
}

fn exact(op: Op, module: &IrModule, values: &[Vec<f32>]) -> Vec<f64> {
    let wide = |list: &Vec<f32>| {
        let list: Vec<f64> = list.iter().map(|x| f64::from(*x)).collect();
        Arg::Tensor(Array::from_f64(DType::FLOAT64, &[N], &list))
    };
    let mut args: Vec<Arg> = values.iter().map(wide).collect();
    args.push(Arg::Tensor(Array::zeros(DType::FLOAT64, &[N])));
    Interpreter::new(module).run(&format!("of_{}", op.name()), &mut args).unwrap();
    let Some(Arg::Tensor(found)) = args.pop() else { unreachable!("tensors") };
    found.to_f64()
}

/// The launch with these inputs, which begin at the first element.
fn with_inputs(launch: Launch, function: &chipdock_ir::PrimFunc, values: &[Vec<f32>; 2]) -> Launch {
    let args = function.params.iter().map(|param| {
        let Param::Var(var) = param else { unreachable!("a kernel takes variables") };
        let tensor = |list: &[f32]| Arg::Tensor(Array::from_f32(&[N], list));
        match (var.dtype.is_handle(), &*var.name) {
            (true, "A") => tensor(&values[0]),
            (true, "B") => tensor(&values[1]),
            (true, _) => tensor(&vec![0.0; N]),
            _ => Arg::Int(0),
        }
    });
    Launch { args: args.collect(), ..launch }
}

#[test]
fn bounds_hold_however_products_and_sums_are_contracted() {
    let Some(compiler) = msl::Compiler::found().unwrap() else {
        return missing("functions in MSL: no clang++");
    };
    let host = host();
    let json = serde_json::json!({ "kind": "metal", "host": { "kind": "c" } });
    let target = host.target(json.to_string()).unwrap();
    let shader = build(&host, &module(DType::FLOAT32), target.target()).unwrap().unwrap();
    let mut modes: Vec<&[&str]> = vec![&["-ffp-contract=off"]];
    if cfg!(target_arch = "x86_64") && std::arch::is_x86_feature_detected!("fma") {
        modes.push(&["-ffp-contract=fast", "-mfma"]);
    } else {
        skipped("functions in MSL with contraction: the processor has no fma");
    }
    let (wide, values) = (module(DType::FLOAT64), inputs());
    let mut wrong = Vec::new();
    for mode in modes {
        let program = msl::Program::with_flags(&compiler, &shader, mode).unwrap();
        for (launch, (op, bound)) in launches::launches(&shader.module).into_iter().zip(functions()) {
            let launch = launch.unwrap();
            assert!(
                launch.name.starts_with(&format!("of_{}_", op.name())),
                "{} for {}",
                launch.name,
                op.name()
            );
            let function = shader.module.function(&launch.name).unwrap();
            let launch = with_inputs(launch, function, &values);
            let types: Vec<DType> = function
                .params
                .iter()
                .map(|param| if let Param::Var(var) = param { var.dtype } else { DType::HANDLE })
                .collect();
            let exact = exact(op, &wide, &values[..1 + usize::from(is_pair(op))]);
            let found = program.run(&launch, &types, false).unwrap();
            let places = function
                .params
                .iter()
                .filter(|param| matches!(param, Param::Var(var) if var.dtype.is_handle()));
            let out = places.map(|param| param.name().to_string()).position(|name| name == "Z").unwrap();
            let found = found[out].to_f64();
            let mut worst = (0.0, 0);
            for (index, (found, exact)) in found.iter().zip(&exact).enumerate() {
                let off = ulps(*found, *exact);
                worst = if off > worst.0 { (off, index) } else { worst };
            }
            let (off, index) = worst;
            println!("{mode:?} {}: {off:.3} ulp", op.name());
            if !(off <= bound && off > 0.3) {
                let at = (values[0][index], values[1][index], found[index], exact[index]);
                wrong.push(format!("{mode:?} {}: {off} ulp, stated {bound}: {at:?}", op.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
