//! Every kernel of the corpus and the examples, scheduled by hand and by default.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use chipdock_filetests::{CorpusFile, bless, corpus, skipped, workspace};
use chipdock_host::Host;
use chipdock_ir::interpret::compare;
use chipdock_ir::{
    AttrValue, DType, Expr, IrModule, Op, Param, Stage, Target, TargetCapabilities, ThreadAxis, attr,
};
use chipdock_passes::{LowerOptions, lower};
use chipdock_shader_tests::{Shader, build, host, kernels, msl, wgsl};

fn modules() -> Vec<(CorpusFile, IrModule)> {
    let read = |file: CorpusFile| {
        let module = chipdock_script::parse(&file.text, &file.name).ok()?;
        Some((file, module))
    };
    let only = std::env::var("CHIPDOCK_ONLY").unwrap_or_default();
    corpus().unwrap().into_iter().filter(|file| file.name.contains(&only)).filter_map(read).collect()
}

/// Each function of the module that can be built alone, with what it calls; a file has several that are unlike.
fn built(
    host: &Host,
    target: &Arc<Target>,
    file: &CorpusFile,
    module: &IrModule,
    refused: &mut Vec<String>,
) -> Vec<Shader> {
    match build(host, &retargeted(module, target), target) {
        Ok(shader) => shader.into_iter().collect(),
        Err(error) => {
            refused.push(format!("{}: {error}", file.name));
            Vec::new()
        }
    }
}

/// The module with its kernels for the target: TVM's own device functions name TVM's.
fn retargeted(module: &IrModule, target: &Arc<Target>) -> IrModule {
    let mut module = module.clone();
    for function in &mut module.functions {
        if function.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(2)) {
            function.attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::clone(target)));
        }
    }
    module
}

fn target(host: &Host, kind: &str) -> Arc<Target> {
    let json = serde_json::json!({ "kind": kind, "host": { "kind": "c" } });
    host.target(json.to_string()).unwrap()
}

#[test]
fn naga_takes_every_kernel() {
    let host = host();
    let target = target(&host, "webgpu");
    let (mut refused, mut wrong, mut count) = (Vec::new(), Vec::new(), 0);
    for (file, module) in modules() {
        for shader in built(&host, &target, &file, &module, &mut refused) {
            count += 1;
            wrong.extend(wgsl::check(&shader.source).err().map(|error| format!("{}: {error}", file.name)));
        }
    }
    println!("{count} texts; refused:\n{}", refused.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 20, "only {count} kernels were built");
}

#[test]
fn msl_computes_what_the_interpreter_does() {
    let Some(compiler) = msl::Compiler::found().unwrap() else { return skipped("MSL as C++: no clang++") };
    let host = host();
    let target = target(&host, "metal");
    let (mut refused, mut wrong, mut unsuited, mut count) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (file, module) in modules() {
        for shader in built(&host, &target, &file, &module, &mut refused) {
            match held(&compiler, &shader) {
                Ok((ran, left)) => {
                    count += ran;
                    unsuited.extend(left);
                }
                Err(error) => wrong.push(format!("{}: {error}", file.name)),
            }
        }
    }
    println!("{count} kernels; refused:\n{}\nnot run:\n{}", refused.join("\n"), unsuited.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 20, "only {count} kernels were run");
}

/// A device like those in use, without integers of 64 bits.
fn capabilities_of_32_bits() -> TargetCapabilities {
    TargetCapabilities::host("device-kind").with(|it| {
        it.stage = Stage::Device;
        it.is_host = false;
        it.execution.thread_axes = ThreadAxis::ALL.iter().map(|(axis, _)| *axis).collect();
        it.memory.storage_scopes = ["global", "shared", "shared.dyn", "local"].map(str::to_owned).to_vec();
        it.limits.threads_per_block_max = Some(256);
        it.memory.shared_memory_bytes_max = Some(32 * 1024);
        it.execution.warp_size = Some(1);
        it.execution.native_ops = vec![Op::Clz, Op::Popcount];
        it.types.missing_types = vec![DType::FLOAT64, DType::INT64, DType::UINT64];
    })
}

/// The kernels of the module's functions in words of 32 bits, as a module; none where a function is refused or has kernels already.
fn in_words(module: &IrModule) -> Option<IrModule> {
    let uses_int64 = |expr: &Expr| {
        let mut found = false;
        expr.walk(&mut |e| found |= e.dtype.is_integer() && e.dtype.bits == 64);
        found
    };
    let mut found = false;
    for function in &module.functions {
        function.body.walk_exprs(&mut |e| found |= uses_int64(e));
    }
    let lowered = lower(module, &LowerOptions::new(Arc::new(capabilities_of_32_bits()))).ok()?;
    let mut device = lowered.device.filter(|device| found && !device.functions.is_empty())?;
    for function in &mut device.functions {
        function.attrs.remove(attr::TARGET);
    }
    Some(device)
}

/// Arithmetic, conditions and conversions of data of 64 bits.
const DATA: &str = r#"
@T.prim_func(s_tir=True)
def data(A: T.Buffer((64,), "DT"), B: T.Buffer((64,), "DT"), C: T.Buffer((9, 64), "DT"), F: T.Buffer((64,), "float32"), D: T.Buffer((4, 64), "int32")):
    for i in T.thread_binding(64, thread="threadIdx.x"):
        C[0, i] = A[i] * B[63 - i] + T.Cast("DT", i)
        C[1, i] = A[i] * A[i] * T.DT(65537) // (B[i] - T.DT(3))
        C[2, i] = (A[i] * T.DT(1000003) - B[i]) % (B[63 - i] * T.DT(70000))
        C[3, i] = T.max(A[i], B[i]) - T.min(A[i], B[i] * T.DT(4294967296))
        C[4, i] = T.shift_left(A[i], B[i]) ^ T.shift_right(A[i] * T.DT(4294967297), B[i])
        C[5, i] = T.if_then_else(i < 32, A[i + 32] - B[i], T.Cast("DT", F[i] * T.float32(1e12)))
        C[6, i] = T.truncdiv(A[i] * T.DT(123456789), B[i]) | T.truncmod(A[i] * T.DT(123456789), B[i] + T.DT(1))
        C[7, i] = T.Select(A[i] < B[i], T.bitwise_not(A[i]), B[i]) & T.DT(1099511627775)
        C[8, i] = T.DT(0)
        for j in range(T.Cast("int64", A[i] & T.DT(7))):
            C[8, i] = C[8, i] + T.Cast("DT", j) * B[i]
        F[i] = T.Cast("float32", A[i] * B[i] * T.DT(987654321987))
        D[0, i] = T.clz(A[i] * B[i])
        D[1, i] = T.Cast("int32", T.popcount(A[i] * B[i]))
        D[2, i] = T.Cast("int32", A[i] >= B[i]) + T.Cast("int32", A[i] != B[i])
        D[3, i] = T.Cast("int32", A[i] * B[i])
"#;

/// Passes: W1 to W8 of `lower_int64`, by a compiler of C++: a language that has such integers is given none.
#[test]
fn words_of_64_bit_integers_are_compiled_right() {
    let Some(compiler) = msl::Compiler::found().unwrap() else { return skipped("words as C++: no clang++") };
    let host = host();
    let (metal, webgpu) = (target(&host, "metal"), target(&host, "webgpu"));
    let (mut refused, mut wrong, mut count) = (Vec::new(), Vec::new(), 0);
    let data = ["int64", "uint64"].map(|dtype| {
        let text = DATA.replace("DT", dtype);
        let module = chipdock_script::parse(&text, "data.py").unwrap();
        (CorpusFile { name: format!("{dtype}.py"), path: "data.py".into(), text }, module)
    });
    for (file, module) in modules().into_iter().chain(data) {
        let Some(words) = in_words(&module) else { continue };
        for shader in built(&host, &webgpu, &file, &words, &mut refused) {
            wrong.extend(wgsl::check(&shader.source).err().map(|error| format!("{}: {error}", file.name)));
        }
        for shader in built(&host, &metal, &file, &words, &mut refused) {
            match held(&compiler, &shader) {
                Ok((ran, _)) => count += ran,
                Err(error) => wrong.push(format!("{}: {error}", file.name)),
            }
        }
    }
    println!("{count} kernels; refused:\n{}", refused.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 10, "only {count} kernels were run");
}

/// Elements of more lanes than the languages have, and lanes that are not neighbours, at positions of 64 bits.
const VECTORS: &str = r#"
@T.prim_func(s_tir=True)
def vectors(A: T.Buffer((6,), "DTxLANES"), B: T.Buffer((6,), "DTxLANES"), C: T.Buffer((64,), "DT"), D: T.Buffer((64,), "DT")):
    for i in T.thread_binding(6, thread="threadIdx.x"):
        B[5 - i] = A[i]
    for i in T.thread_binding(4, thread="threadIdx.x"):
        D[T.Ramp(i * 16, 3, 4)] = C[T.Ramp(i * 8 + 1, 2, 4)]
        D[T.Ramp(T.Cast("int64", i) * T.int64(16) + T.int64(4), T.int64(-1), 2)] = C[T.Ramp(T.int64(9), T.int64(0), 2)]
"#;

#[test]
fn long_elements_and_scattered_lanes_are_right() {
    let host = host();
    let compiler = msl::Compiler::found().unwrap();
    if compiler.is_none() {
        skipped("vectors in MSL: no clang++");
    }
    for (dtype, lanes) in
        [("int32", 3), ("float32", 4), ("int8", 8), ("float16", 8), ("float32", 16), ("bool", 5)]
    {
        let text = VECTORS.replace("DT", dtype).replace("LANES", &lanes.to_string());
        let module = chipdock_script::parse(&text, "vectors.py").unwrap();
        let shader = build(&host, &module, &target(&host, "webgpu")).unwrap().unwrap();
        wgsl::check(&shader.source)
            .unwrap_or_else(|error| panic!("{dtype}x{lanes}: {error}\n{}", shader.source));
        let Some(compiler) = &compiler else { continue };
        let shader = build(&host, &module, &target(&host, "metal")).unwrap().unwrap();
        let (count, left) =
            held(compiler, &shader).unwrap_or_else(|error| panic!("{error}\n{}", shader.source));
        assert_eq!((count, left.len()), (2, 0), "{left:?}");
    }
}

/// TVM's own device functions: their texts are kept in the plugins' folders, or why there is none.
#[test]
fn texts_are_the_kept_ones() {
    let host = host();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (kind, ending) in [("webgpu", "wgsl"), ("metal", "metal")] {
        let target = target(&host, kind);
        for (file, module) in modules() {
            let name = file.name.strip_prefix("lowered/opencl_g_").and_then(|name| name.strip_suffix(".py"));
            let Some(name) = name else { continue };
            let text = match build(&host, &retargeted(&module, &target), &target) {
                Ok(shader) => shader.unwrap().source,
                Err(error) => format!("// {}\n", error.replace('\n', "\n// ")),
            };
            let golden =
                workspace().join("plugins").join(kind).join("goldens").join(format!("{name}.{ending}"));
            wrong.extend(bless(&golden, &text).err());
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 20, "only {count} texts");
}

/// How many kernels of a text were run in both orders and found right, and those whose arguments could not be made up.
fn held(compiler: &msl::Compiler, shader: &Shader) -> Result<(usize, Vec<String>), String> {
    let program = msl::Program::new(compiler, shader)?;
    let (mut count, mut left) = (0, Vec::new());
    for launch in kernels::launches(&shader.module) {
        let expected = launch.and_then(|launch| Ok((kernels::expected(&shader.module, &launch)?, launch)));
        let (expected, launch) = match expected {
            Ok(expected) => expected,
            Err(error) => {
                left.push(error);
                continue;
            }
        };
        let function = shader.module.function(&launch.name).unwrap();
        let types: Vec<DType> = function
            .params
            .iter()
            .map(|param| match param {
                Param::Var(var) => var.dtype,
                Param::Buffer(_) => DType::HANDLE,
            })
            .collect();
        for reversed in [false, true] {
            let found = program.run(&launch, &types, reversed)?;
            for (output, found) in expected.outputs.iter().zip(&found) {
                compare(found, output).map_err(|mismatch| {
                    format!("{} (reversed {reversed}), {}: {mismatch}", launch.name, output.name)
                })?;
            }
        }
        count += 1;
    }
    Ok((count, left))
}
