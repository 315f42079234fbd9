//! Every kernel of the corpus and the examples, scheduled by hand and by default.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use chipdock_filetests::{CorpusFile, bless, corpus, skipped, workspace};
use chipdock_host::Host;
use chipdock_ir::interpret::compare;
use chipdock_ir::{AttrValue, DType, IrModule, Param, Target, attr};
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
