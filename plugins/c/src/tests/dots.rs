//! Tests of dot products and of the shuffles around them: their values on this processor, and the
//! instructions for others.

use std::process::Command;
use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::op::DotProduct;
use chipdock_ir::{DType, Expr, ExprKind, IrModule, Op, Target, build};
use chipdock_passes::{LowerOptions, lower};
use chipdock_plugin_api::HostRef;
use chipdock_plugin_api::source::Written;

use super::support::{Argument, built, call, env, has_compiler, kind, loaded};
use crate::codegen;
use crate::dialect::dots;
use crate::loader::load;

fn ramp(lanes: u16) -> Vec<Expr> {
    vec![if lanes == 1 { Expr::i32(0) } else { Expr::i32(0).ramp(Expr::i32(1), lanes) }]
}

/// `C = dot_add(C, A, B)` of a number of lanes.
fn module(dot: DotProduct, lanes: u16) -> IrModule {
    module_of(dot, lanes, |factor| factor)
}

/// The same of factors that are made of what is loaded.
fn module_of(dot: DotProduct, lanes: u16, made: impl Fn(Expr) -> Expr) -> IrModule {
    let mut f = build::function("f");
    let wide = lanes * dot.group;
    let (a, b) = (f.buffer("A", [i32::from(wide)], dot.a), f.buffer("B", [i32::from(wide)], dot.b));
    let c = f.buffer("C", [i32::from(lanes)], dot.sum);
    let factors = [&a, &b].map(|buffer| made(Expr::load(buffer, ramp(wide))));
    let args = [Expr::load(&c, ramp(lanes))].into_iter().chain(factors).collect();
    f.store(&c, ramp(lanes), Expr::call(Op::DotAdd, args, dot.sum.with_lanes(lanes)));
    build::module([f.finish()])
}

/// Built for a target that has the dot product.
fn with_dots(dot: DotProduct, lanes: u16) -> Written {
    with_dots_of(dot, &module(dot, lanes))
}

fn with_dots_of(dot: DotProduct, module: &IrModule) -> Written {
    let mut target = Target { kind: "c".into(), ..Target::default() };
    target.options.insert("dot-products".to_owned(), vec![dot.name()].into());
    let target = Arc::new(target);
    let capabilities = Arc::new(kind().capabilities(&target, 1));
    let lowered = lower(module, &LowerOptions::new(capabilities)).unwrap().module;
    codegen::build(&lowered, &target, None).unwrap()
}

/// The extremes, and some values between.
fn numbers(dtype: DType, count: usize, by: usize) -> Array {
    let (least, most) = dtype.integer_range().unwrap();
    let value = |at: usize| match (at * by + at / 7) % 11 {
        0 => least,
        1 => most,
        step => least + (most - least) * step as i128 / 11,
    };
    let values: Vec<f64> = (0..count).map(|at| value(at) as f64).collect();
    Array::from_f64(dtype, &[count], &values)
}

/// Instruction sets that this processor has, as the compiler's -march; the first is its own.
fn instruction_sets() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        let mut all = vec!["native", "haswell", "x86-64"];
        all.extend(std::arch::is_x86_feature_detected!("avx512bw").then_some("skylake-avx512"));
        return all;
    }
    vec!["native"]
}

// CDOT-1.
#[test]
fn dot_products_are_exact() {
    if !has_compiler() {
        return;
    }
    for march in instruction_sets() {
        for dot in dots::written().filter(|dot| dot.sum.is_integer()) {
            for lanes in [1, 2, 3, 4, 8, 16, 21] {
                let mut written = with_dots(dot, lanes);
                assert!(written.source.contains("cd_dot_"), "{}", written.source);
                written.index["options"]["march"] = march.into();
                written.index["options"]["opt-level"] = 1.into();
                let loaded = load(HostRef::standalone(), &written.index, &written.source, env()).unwrap();
                let (lanes, wide) = (usize::from(lanes), usize::from(lanes * dot.group));
                let sums: Vec<f64> = (0..lanes).map(|at| f64::from(i32::MAX) - at as f64 * 1000.0).collect();
                let mut arrays = [
                    numbers(dot.a, wide, 3),
                    numbers(dot.b, wide, 5),
                    Array::from_f64(dot.sum, &[lanes], &sums),
                ];
                let mut args = arrays.clone().map(Arg::Tensor);
                let wanted =
                    Interpreter::new(&module(dot, lanes as u16)).run("f", &mut args).unwrap().outputs;
                call(&loaded, "f", &mut arrays.each_mut().map(Argument::Tensor)).unwrap();
                let wanted = wanted.last().unwrap().array.to_f64();
                assert_eq!(arrays[2].to_f64(), wanted, "{march} {} of {lanes}", dot.name());
            }
        }
    }
}

/// Products of bfloat16 whose results are exact: by the instruction, in arithmetic, and of factors
/// that are computed.
#[test]
fn dot_products_of_halves_are_right() {
    if !has_compiler() {
        return;
    }
    let dot = DotProduct::by_name("bfloat16*bfloat16").unwrap();
    let mut marches = instruction_sets();
    #[cfg(target_arch = "x86_64")]
    marches.extend(std::arch::is_x86_feature_detected!("avx512bf16").then_some("cooperlake"));
    for march in marches {
        for (lanes, is_computed) in
            [1, 2, 3, 4, 8, 16, 21].into_iter().flat_map(|lanes| [(lanes, false), (lanes, true)])
        {
            let doubled = |factor: Expr| if is_computed { factor.clone() + factor } else { factor };
            let module = module_of(dot, lanes, doubled);
            let mut written = with_dots_of(dot, &module);
            assert!(written.source.contains("cd_dot_bf16"), "{}", written.source);
            assert_eq!(written.source.contains("cd_top_"), is_computed, "{}", written.source);
            assert!(is_computed || !written.source.contains("cd_bf16_value"), "{}", written.source);
            written.index["options"]["march"] = march.into();
            let loaded = load(HostRef::standalone(), &written.index, &written.source, env()).unwrap();
            let (lanes, wide) = (usize::from(lanes), usize::from(lanes * dot.group));
            let of = |by: usize| {
                let values: Vec<f64> = (0..wide).map(|at| ((at * by) % 19) as f64 - 9.0).collect();
                Array::from_f64(dot.a, &[wide], &values)
            };
            let sums: Vec<f64> = (0..lanes).map(|at| at as f64 * 0.25 - 3.0).collect();
            let mut arrays = [of(3), of(7), Array::from_f64(dot.sum, &[lanes], &sums)];
            let mut args = arrays.clone().map(Arg::Tensor);
            let wanted = Interpreter::new(&module).run("f", &mut args).unwrap().outputs;
            call(&loaded, "f", &mut arrays.each_mut().map(Argument::Tensor)).unwrap();
            let wanted = wanted.last().unwrap().array.to_f64();
            assert_eq!(arrays[2].to_f64(), wanted, "{march} of {lanes}, computed: {is_computed}");
        }
    }
}

// CDOT-2, CDOT-3.
#[test]
fn processors_use_their_dot_instructions() {
    if !has_compiler() || !cfg!(target_arch = "x86_64") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.c");
    for (march, name, lanes, instruction) in [
        ("cascadelake", "uint8*int8", 16, "vpdpbusd"),
        ("cascadelake", "int8*int8", 8, "vpdpbusd"),
        ("cascadelake", "uint8*uint8", 4, "vpdpbusd"),
        ("cascadelake", "int16*int16", 16, "vpmaddwd"),
        ("alderlake", "uint8*int8", 8, "{vex} vpdpbusd"),
        ("skylake-avx512", "int8*int8", 16, "vpmaddwd"),
        ("cooperlake", "bfloat16*bfloat16", 16, "vdpbf16ps"),
        ("cooperlake", "bfloat16*bfloat16", 8, "vdpbf16ps"),
        ("cooperlake", "bfloat16*bfloat16", 4, "vdpbf16ps"),
        ("skylake-avx512", "bfloat16*bfloat16", 16, "vfmadd"),
        ("x86-64", "bfloat16*bfloat16", 2, "mulps"),
        ("haswell", "uint8*int8", 8, "vpmaddwd"),
        ("haswell", "uint8*int8", 16, "mul"),
        ("x86-64", "uint8*int8", 4, "mul"),
    ] {
        std::fs::write(&file, with_dots(DotProduct::by_name(name).unwrap(), lanes).source).unwrap();
        let compile = |output: &[&str]| {
            let march = format!("-march={march}");
            let flags = ["-std=gnu11", "-O2", &march, "-fPIC"];
            Command::new("cc").args(flags).args(output).arg(&file).output().unwrap()
        };
        let assembly = String::from_utf8_lossy(&compile(&["-S", "-o", "-"]).stdout).into_owned();
        assert!(assembly.contains(instruction), "{march}, {name}: no {instruction} in\n{assembly}");
        assert!(compile(&["-c", "-o", "/dev/null"]).status.success(), "{march}, {name}: not assembled");
    }
}

/// `C = shuffle(A[0:n], A[n:2n], ...)`
fn shuffled(dtype: DType, parts: u16, lanes: u16, indices: Vec<u16>) -> IrModule {
    let mut f = build::function("f");
    let a = f.buffer("A", [i32::from(parts * lanes)], dtype);
    let count = indices.len() as u16;
    let c = f.buffer("C", [i32::from(count)], dtype);
    let part = |at: u16| Expr::load(&a, vec![Expr::i32(i32::from(at * lanes)).ramp(Expr::i32(1), lanes)]);
    let kind = ExprKind::Shuffle { vectors: (0..parts).map(part).collect(), indices };
    f.store(&c, ramp(count), Expr::new(kind, dtype.with_lanes(count)));
    build::module([f.finish()])
}

#[test]
fn repeated_and_interleaved_vectors_are_right() {
    if !has_compiler() {
        return;
    }
    let repeat = |lanes: u16, count: u16| (0..count).map(|at| at % lanes).collect::<Vec<_>>();
    let interleave = |parts: u16, lanes: u16| {
        (0..parts * lanes).map(|at| (at % parts) * lanes + at / parts).collect::<Vec<_>>()
    };
    let reversed = |count: u16| (0..count).rev().collect::<Vec<_>>();
    for (dtype, parts, lanes, indices, helper) in [
        (DType::UINT8, 1, 4, repeat(4, 64), "cd_repeat_"),
        (DType::INT8, 1, 2, repeat(2, 32), "cd_repeat_"),
        (DType::INT16, 1, 2, repeat(2, 16), "cd_repeat_"),
        (DType::FLOAT32, 1, 2, repeat(2, 8), "cd_repeat_"),
        (DType::INT8, 4, 16, interleave(4, 16), "cd_interleave_"),
        (DType::UINT8, 2, 8, interleave(2, 8), "cd_interleave_"),
        (DType::INT16, 2, 16, interleave(2, 16), "cd_interleave_"),
        (DType::UINT16, 4, 4, interleave(4, 4), "cd_interleave_"),
        (DType::INT8, 8, 4, interleave(8, 4), "cd_interleave_"),
        (DType::INT8, 3, 4, interleave(3, 4), "cd_shuffle_"),
        (DType::UINT8, 1, 4, repeat(3, 12), "cd_shuffle_"),
        (DType::INT8, 4, 16, reversed(64), "cd_shuffle_"),
        (DType::FLOAT32, 2, 4, interleave(2, 4), "cd_shuffle_"),
    ] {
        let module = shuffled(dtype, parts, lanes, indices.clone());
        assert!(built(&module).source.contains(helper), "{dtype} {indices:?}: {helper}");
        let size = usize::from(parts * lanes);
        let values: Vec<f64> = (0..size).map(|at| at as f64 + 1.0).collect();
        let mut arrays = [Array::from_f64(dtype, &[size], &values), Array::zeros(dtype, &[indices.len()])];
        call(&loaded(&module), "f", &mut arrays.each_mut().map(Argument::Tensor)).unwrap();
        let wanted: Vec<f64> = indices.iter().map(|index| f64::from(*index) + 1.0).collect();
        assert_eq!(arrays[1].to_f64(), wanted, "{dtype} {indices:?}");
    }
}
