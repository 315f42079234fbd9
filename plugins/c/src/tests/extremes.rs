//! Tests of the minimum and the maximum of vectors of floats: the instructions of x86 are what the
//! text says elsewhere.

use chipdock_interpret::Array;
use chipdock_ir::{BinaryOp, DType, Expr, IrModule, build};
use chipdock_plugin_api::HostRef;

use super::support::{Argument, built, call, env, has_compiler};
use crate::loader::load;

/// `C = min(A, B)`, or the maximum, of a vector.
fn module(op: BinaryOp, dtype: DType, lanes: u16) -> IrModule {
    let mut f = build::function("f");
    let [a, b, c] = ["A", "B", "C"].map(|name| f.buffer(name, [i32::from(lanes)], dtype));
    let at = || vec![Expr::i32(0).ramp(Expr::i32(1), lanes)];
    f.store(&c, at(), Expr::binary(op, Expr::load(&a, at()), Expr::load(&b, at())));
    build::module([f.finish()])
}

#[test]
fn min_and_max_become_the_expected_instructions() {
    if !has_compiler() {
        return;
    }
    let special = [0.0, -0.0, 1.5, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40];
    let pairs: Vec<(f64, f64)> = special.iter().flat_map(|a| special.map(|b| (*a, b))).collect();
    for (dtype, lanes) in [(DType::FLOAT32, [4, 8, 16]), (DType::FLOAT64, [2, 4, 8])] {
        for (op, lanes) in [BinaryOp::Min, BinaryOp::Max].into_iter().flat_map(|op| lanes.map(|n| (op, n))) {
            let written = built(&module(op, dtype, lanes));
            let name = if op == BinaryOp::Min { "vmin" } else { "vmax" };
            assert!(written.source.contains(name), "{}", written.source);
            let of = |march: &str| {
                let mut index = written.index.clone();
                if !march.is_empty() {
                    index["options"]["march"] = march.into();
                }
                load(HostRef::standalone(), &index, &written.source, env()).unwrap()
            };
            let plain = if cfg!(target_arch = "x86_64") { "x86-64" } else { "" };
            let (here, plain) = (of(""), of(plain));
            for chunk in pairs.chunks(usize::from(lanes)) {
                let array = |values: Vec<f64>| Array::from_f64(dtype, &[usize::from(lanes)], &values);
                let (a, b) = chunk.iter().copied().unzip();
                let [mut one, mut other] =
                    [&here, &plain].map(|_| [array(Vec::clone(&a)), array(Vec::clone(&b)), array(vec![])]);
                call(&here, "f", &mut one.each_mut().map(Argument::Tensor)).unwrap();
                call(&plain, "f", &mut other.each_mut().map(Argument::Tensor)).unwrap();
                // The sign of zero and that of a NaN too.
                assert_eq!(one[2], other[2], "{op:?} {dtype} of {lanes}: {chunk:?}");
            }
        }
    }
}
