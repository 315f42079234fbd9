//! Tests of stores that need not stay in caches.

use std::process::Command;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::build::Loop;
use chipdock_ir::{AttrValue, DType, Expr, ForKind, IrModule, attr, build};

use super::support::{Argument, built, call, has_compiler, loaded};

/// `B[s + lane] = A[lane]` for each s below 64, as vectors whose distance from an aligned address
/// differs.
fn streams(dtype: DType, lanes: u16) -> IrModule {
    let mut f = build::function("f");
    let size = i32::from(lanes) + 64;
    let (a, b) = (f.buffer("A", [i32::from(lanes)], dtype), f.buffer("B", [size], dtype));
    let streamed = Loop::new("s", ForKind::Serial, 64).annotate(attr::NONTEMPORAL, AttrValue::Int(1));
    f.for_each(streamed, |f, s| {
        let ramp = |first: Expr| first.ramp(Expr::i32(1), lanes);
        f.store(&b, [&ramp(s)], Expr::load(&a, vec![ramp(Expr::i32(0))]));
    });
    build::module([f.finish()])
}

// SRC-S13.
#[test]
fn streamed_stores_write_like_ordinary_ones_at_any_alignment() {
    if !has_compiler() {
        return;
    }
    for (dtype, lanes) in [
        (DType::FLOAT32, 4),
        (DType::FLOAT32, 8),
        (DType::FLOAT32, 16),
        (DType::FLOAT32, 32),
        (DType::INT8, 64),
        (DType::FLOAT64, 2),
        (DType::INT16, 12),
    ] {
        let module = streams(dtype, lanes);
        let lanes = usize::from(lanes);
        let values: Vec<f64> = (0..lanes).map(|lane| lane as f64 + 1.0).collect();
        let arrays = [Array::from_f64(dtype, &[lanes], &values), Array::zeros(dtype, &[lanes + 64])];
        let mut args = arrays.clone().map(Arg::Tensor);
        let wanted = Interpreter::new(&module).run("f", &mut args).unwrap();
        let [mut a, mut b] = arrays;
        call(&loaded(&module), "f", &mut [&mut a, &mut b].map(Argument::Tensor)).unwrap();
        assert_eq!(b.to_f64(), wanted.outputs[1].array.to_f64(), "{dtype}, {lanes}");
    }
}

// SRC-S13.
#[test]
fn streamed_stores_are_instructions_and_a_fence_comes_before_the_end() {
    let source = built(&streams(DType::FLOAT32, 16)).source;
    let fence = source.find("CD_STREAM_FENCE();").unwrap();
    assert_eq!(source[fence..].lines().nth(1), Some("    return 0;"));
    assert!(!built(&streams(DType::FLOAT16, 16)).source.contains("cd_stream_f"), "halves are converted");
    if !has_compiler() || !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.c");
    std::fs::write(&file, &source).unwrap();
    for (flags, register) in [("-mavx512f", "%zmm"), ("-mavx", "%ymm"), ("-msse2", "%xmm")] {
        let output = Command::new("cc")
            .args(["-std=gnu11", "-O3", flags, "-fno-math-errno", "-S", "-o", "-"])
            .arg(&file)
            .output()
            .unwrap();
        let assembly = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_streamed = |line: &str| line.contains("movnt") && line.contains(register);
        assert!(assembly.lines().any(is_streamed), "{flags}: no {register} in\n{assembly}");
        assert!(assembly.contains("sfence"), "{flags}");
    }
}
