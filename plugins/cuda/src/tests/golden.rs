//! Tests of texts against goldens, which NVIDIA's compiler also accepts. `BLESS=1` rewrites the
//! goldens.

use std::path::PathBuf;

use chipdock_ir::{DType, IrModule, Stage, accuracy, validate::validate};

use super::kernels;
use super::support::{compiles, written};
use crate::dialect::ops::FUNCTIONS;

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("goldens").join(format!("{name}.cu"))
}

/// The PTX, where there is a compiler.
fn check(name: &str, module: &IrModule) -> Option<String> {
    if let Err(problems) = validate(module, Stage::Device) {
        panic!("{name}: {problems:?}");
    }
    let text = written(module).source;
    chipdock_test_support::bless(&golden(name), &text).unwrap_or_else(|error| panic!("{error}"));
    compiles(name, &text)
}

#[test]
fn tiles_are_current_and_compile() {
    let Some(ptx) = check("tiles", &kernels::tiles()) else { return };
    assert!(ptx.contains(".maxntid 256"), "{ptx}");
    assert!(ptx.matches("bar.sync").count() >= 2 && ptx.contains("fma.rn.f32"), "{ptx}");
}

#[test]
fn scalars_are_current_and_compile() {
    check("scalars", &kernels::scalars());
}

/// Wide accesses are there, and nothing of a vector has left the registers.
#[test]
fn vectors_are_current_and_compile() {
    let Some(ptx) = check("vectors", &kernels::vectors()) else { return };
    for part in ["ld.global.nc.v4", "v2.f64", "st.global.v4"] {
        assert!(ptx.contains(part), "{part} in {ptx}");
    }
    assert!(!ptx.contains(".local"), "{ptx}");
}

#[test]
fn threads_are_current_and_compile() {
    let Some(ptx) = check("threads", &kernels::threads()) else { return };
    for part in
        ["shfl.sync.up", "shfl.sync.down", "shfl.sync.bfly", "atom.global.add.f64", "atom.global.cas.b16"]
    {
        assert!(ptx.contains(part), "{part} in {ptx}");
    }
}

/// The contract of `native_ops`: what NVIDIA documents is within what every backend promises.
#[test]
fn native_functions_are_accurate_enough() {
    let kind: chipdock_ir::TargetKind = serde_json::from_str(include_str!("../target_kind.json")).unwrap();
    for function in FUNCTIONS {
        for (documented, dtype) in function.ulps.into_iter().zip([DType::FLOAT32, DType::FLOAT64]) {
            let allowed = accuracy::ulps(function.op, dtype);
            let is_native = kind.native_ops.iter().any(|name| name == function.op.name());
            assert!(
                !is_native || documented <= allowed,
                "{:?} of {dtype}: {documented} > {allowed}",
                function.op
            );
        }
    }
    for name in &kind.native_ops {
        let op = chipdock_ir::Op::by_name(name).unwrap_or_else(|| panic!("{name} is no op"));
        assert_eq!(op.name(), name);
    }
}
