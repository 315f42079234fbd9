//! What a program brings to its host: functions, hooks of code generators, and modules that it
//! composes (PROGRAM-F1 to PROGRAM-F5, C.41, COMPOSE-I1 to COMPOSE-I4), through the plugins.

use std::process::Command;
use std::sync::{Arc, Mutex};

use chipdock_host::artifact::Artifact;
use chipdock_host::{
    Any, AnyView, COMPILE_CACHE, CompileCache, CompileOptions, Compiled, ErrorKind, Host, HostOptions,
    LogLevel, Module, ProgramFunction, Tensor,
};
use chipdock_ir::IrModule;
use chipdock_plugin_api::Bytes;
use chipdock_test_backends::backends::present;
use chipdock_test_backends::{host, host_with};
use serde_json::{Value, json};

/// Adds 12345 to each element.
const ADD: &str = "
@T.prim_func(s_tir=True)
def add(A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\")):
    for i in range(8):
        with T.sblock(\"B\"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + 12345
";

/// Calls `inner` with its argument, of 8 elements, and then again.
const OUTER: &str = "
@T.prim_func(s_tir=True)
def outer(A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\")):
    with T.sblock(\"twice\"):
        T.reads()
        T.writes()
        T.call_packed(\"add\", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(8), 0, 1, 0, 0), T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(8), 0, 1, 0, 0))
";

fn parsed(text: &str) -> IrModule {
    chipdock_script::parse(text, "k.py").unwrap_or_else(|error| panic!("{error:?}"))
}

fn built(host: &Host, text: &str, target: Value) -> Compiled {
    built_with(host, text, target, &CompileOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn built_with(
    host: &Host,
    text: &str,
    target: Value,
    options: &CompileOptions,
) -> Result<Compiled, chipdock_host::Error> {
    host.compile(&parsed(text), &host.target(target)?, options)
}

/// The second result of a function of two vectors, whose first is 0, 1, 2, …
fn second(host: &Host, module: &Module, name: &str, device: &str) -> Vec<i32> {
    let device = host.device(device, 0).unwrap();
    let a = Tensor::from_slice(&device, &[8], &[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let b = Tensor::zeros(&device, &[8], a.dtype()).unwrap();
    module
        .function(name)
        .unwrap()
        .call(&[(&a).into(), (&b).into()])
        .unwrap_or_else(|error| panic!("{error}"));
    b.to_vec().unwrap()
}

fn counted(from: i32) -> Vec<i32> {
    (from..from + 8).collect()
}

/// A hook that replaces a number of the source.
fn replacing(number: &'static str) -> ProgramFunction {
    ProgramFunction::new(move |args: &[AnyView<'_>]| {
        let source: String = args[0].to()?;
        let target: Value = serde_json::from_str(&args[1].to::<String>()?).unwrap();
        assert!(target["kind"].is_string());
        Ok(Any::from(source.replace("12345", number).as_str()))
    })
}

/// C.41: the text that is delivered and run is the one that the hook returned, on each kind.
#[test]
fn c41_a_program_postprocesses_sources() {
    let host = host();
    let (usable, _) = present(&host).unwrap();
    for kind in ["c", "opencl", "cuda", "metal", "webgpu"] {
        host.register_function(&format!("{kind}.postprocess_source"), replacing("54321")).unwrap();
    }
    for (kind, more) in [("c", ""), ("opencl", ""), ("cuda", "cuda"), ("metal", ""), ("webgpu", "")] {
        let target = if more.is_empty() { json!(kind) } else { json!({"kind": kind, "format": more}) };
        let compiled = built(&host, ADD, target);
        let source = compiled.of_target().source().unwrap().to_owned();
        assert!(source.contains("54321") && !source.contains("12345"), "{kind}: {source}");
        let Some(backend) = usable.iter().find(|backend| backend.target.kind == kind) else { continue };
        if kind == "c" || kind == "opencl" {
            let module = host.load(&compiled.artifact).unwrap();
            let device = host.target_kind(&backend.target.kind).unwrap().device.clone();
            assert_eq!(second(&host, &module, "add", &device), counted(54321), "{kind}");
        }
    }
    // PROGRAM-F3, and the hook's own failures.
    assert!(host.unregister_function("c.postprocess_source"));
    assert!(!host.unregister_function("c.postprocess_source"));
    let plain = built(&host, ADD, json!("c"));
    assert!(plain.artifact.source().unwrap().contains("12345"));
    let number = ProgramFunction::new(|_: &[AnyView<'_>]| Ok(Any::from(7_i64)));
    host.register_function("c.postprocess_source", number).unwrap();
    let error = built_with(&host, ADD, json!("c"), &CompileOptions::default()).unwrap_err();
    assert!(error.to_string().contains("c.postprocess_source: expected the source as a string"), "{error}");
}

/// Compiles C to a shared library, with another number.
fn compiler(number: &'static str) -> ProgramFunction {
    ProgramFunction::new(move |args: &[AnyView<'_>]| {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("k.c"), folder.path().join("k.so"));
        std::fs::write(&source, args[0].to::<String>()?.replace("12345", number)).unwrap();
        let words = ["-std=c11", "-O1", "-shared", "-fPIC", "-o"];
        let done = Command::new("cc").args(words).arg(&library).arg(&source).arg("-lm").status().unwrap();
        assert!(done.success());
        Ok(Bytes::new(&std::fs::read(library).unwrap()).into())
    })
}

/// C.41: a program's compiler takes the place of the one that the loader of `c` runs.
#[test]
fn c41_a_program_compiles_c_itself() {
    let host = host();
    host.register_function("c.compile_source", compiler("777")).unwrap();
    let compiled = built(&host, ADD, json!("c"));
    assert!(compiled.artifact.source().unwrap().contains("12345"), "the source is what it was");
    let module = host.load(&compiled.artifact).unwrap();
    assert_eq!(second(&host, &module, "add", "cpu"), counted(777));
    // The code is in the artifact: who loads it needs neither the function nor a compiler.
    let bytes = compiled.artifact.to_bytes().unwrap();
    let other = self::host_without_compiler();
    let loaded = other.load(&Arc::new(Artifact::from_bytes(&bytes).unwrap())).unwrap();
    assert_eq!(second(&other, &loaded, "add", "cpu"), counted(777));
    let error = host.export_library(&compiled.artifact, "k.so", &Default::default()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("c.compile_source made"), "{error}");
    let none = ProgramFunction::new(|_: &[AnyView<'_>]| Ok(Any::NONE)).replacing();
    host.register_function("c.compile_source", none).unwrap();
    let error = built_with(&host, ADD, json!("c"), &CompileOptions::default()).unwrap_err();
    assert!(
        error.to_string().contains("c.compile_source: expected the code as bytes or a string"),
        "{error}"
    );
}

/// A host whose plugin `c` has no compiler.
fn host_without_compiler() -> Host {
    let nowhere = ("c".to_owned(), "compiler".to_owned(), "/no/such/compiler".to_owned());
    host_with(|options| HostOptions { settings: vec![nowhere], ..options })
}

/// C.41: of `cuda` text is PTX and an ELF file a cubin, and of `metal` it is a library.
#[test]
fn c41_a_program_compiles_device_code_itself() {
    let host = host();
    let answering = |code: &'static [u8]| {
        ProgramFunction::new(move |_: &[AnyView<'_>]| Ok(Bytes::new(code).into())).replacing()
    };
    let code = |compiled: &Compiled| {
        let artifact = compiled.of_target();
        (artifact.index().format.clone(), artifact.section("code").map(|section| section.data().to_vec()))
    };
    const PTX: &[u8] = b"// of the program\n.version 8.0\n";
    const CUBIN: &[u8] = b"\x7fELF of the program";
    for (written, target, format) in [
        (PTX, json!("cuda"), "ptx"),
        (CUBIN, json!("cuda"), "cubin"),
        (CUBIN, json!({"kind": "cuda", "format": "cubin"}), "cubin"),
    ] {
        host.register_function("cuda.compile_source", answering(written)).unwrap();
        assert_eq!(code(&built(&host, ADD, target)), (format.to_owned(), Some(written.to_vec())));
    }
    for target in [json!({"kind": "cuda", "format": "cuda"}), json!({"kind": "cuda", "compiler": "none"})] {
        assert_eq!(code(&built(&host, ADD, target)), ("cuda".to_owned(), None));
    }
    for (written, format, says) in
        [(CUBIN, "ptx", "expected ptx"), (PTX, "cubin", "expected cubin"), (b"\xff\x00", "ptx", "neither")]
    {
        host.register_function("cuda.compile_source", answering(written)).unwrap();
        let target = json!({"kind": "cuda", "format": format});
        let error = built_with(&host, ADD, target, &CompileOptions::default()).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    host.register_function("metal.compile_source", answering(b"MTLB")).unwrap();
    let compiled = built(&host, ADD, json!("metal"));
    assert_eq!(code(&compiled), ("msl".to_owned(), Some(b"MTLB".to_vec())));
    assert!(compiled.of_target().source().unwrap().contains("kernel void"));
}

/// PROGRAM-F4, C.41: a hook is part of what a build is kept under, or the build is not kept.
#[test]
fn program_f4_hooks_are_part_of_the_key_of_builds() {
    use std::os::unix::fs::PermissionsExt as _;
    let host = host();
    let private = std::fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(private).tempdir().unwrap();
    let cache = Arc::new(CompileCache::at(&folder.path().join(COMPILE_CACHE), 64 << 20).unwrap());
    let options = CompileOptions { cache: Some(cache), ..CompileOptions::default() };
    for kind in ["c", "opencl", "cuda", "metal", "webgpu"] {
        let target = if kind == "cuda" { json!({"kind": kind, "format": "cuda"}) } else { json!(kind) };
        let build = || built_with(&host, ADD, target.clone(), &options).unwrap();
        let (first, again) = (build(), build());
        assert!(!first.cached && again.cached, "{kind}: kept without a hook");
        let hook = format!("{kind}.postprocess_source");
        let number = |compiled: &Compiled| {
            let source = compiled.of_target().source().unwrap();
            ["12345", "111", "222"].into_iter().find(|number| source.contains(number)).unwrap()
        };
        host.register_function(&hook, replacing("111")).unwrap();
        assert!((0..2).all(|_| {
            let compiled = build();
            (number(&compiled), compiled.cached) == ("111", false)
        }));
        for (text, becomes) in [("one", "111"), ("two", "222")] {
            let hooked = replacing(becomes).fingerprint(text).replacing();
            host.register_function(&hook, hooked).unwrap();
            for is_kept in [false, true] {
                let compiled = build();
                // A device's module is kept, its host's was kept before.
                assert_eq!((number(&compiled), compiled.cached), (becomes, is_kept), "{kind} {text}");
            }
        }
        // Replaced by one without a fingerprint, then by none.
        host.register_function(&hook, replacing("111").replacing()).unwrap();
        assert!(!build().cached);
        host.unregister_function(&hook);
        assert_eq!((number(&build()), build().cached), ("12345", true));
    }
}

/// PROGRAM-F1, PROGRAM-F2.
#[test]
fn program_f1_compiled_code_and_the_program_find_it_by_its_name() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log: chipdock_host::LogSink = Arc::new(move |level, line| {
        if level == LogLevel::Info {
            sink.lock().unwrap().push(line.to_owned());
        }
    });
    let host = host_with(|options| HostOptions { log, ..options });
    let calls = Arc::new(Mutex::new(0));
    let count = Arc::clone(&calls);
    let add = ProgramFunction::new(move |args: &[AnyView<'_>]| {
        *count.lock().unwrap() += args.len();
        Ok(Any::NONE)
    });
    host.register_function("add", add).unwrap();
    for kind in ["c", "llvm"] {
        if host.usable_target(kind).is_err() {
            continue;
        }
        let module = host.load(&built(&host, OUTER, json!(kind)).artifact).unwrap();
        let before = *calls.lock().unwrap();
        assert_eq!(second(&host, &module, "outer", "cpu"), [0; 8]);
        assert_eq!(*calls.lock().unwrap(), before + 2, "{kind}");
    }
    let other = || ProgramFunction::new(|_: &[AnyView<'_>]| Ok(Any::from(1_i64)));
    let error = host.register_function("add", other()).unwrap_err();
    assert!(error.to_string().contains("registered a function \"add\" already; replace it"), "{error}");
    host.register_function("add", other().replacing()).unwrap();
    let result = host.function("add").unwrap().unwrap().call(&[]).unwrap();
    assert_eq!(result.to::<i64>().unwrap(), 1);
    for name in ["", "a b", "chipdock.mine", "a/b"] {
        assert_eq!(*host.register_function(name, other()).unwrap_err().kind(), ErrorKind::Value, "{name}");
    }
    assert_eq!(host.registered_functions(), ["add"]);
    // A function of the host itself gives way too.
    assert!(host.function("tvm.contrib.sort.sort").unwrap().is_some());
    host.register_function("tvm.contrib.sort.sort", other()).unwrap();
    let sort = host.function("tvm.contrib.sort.sort").unwrap().unwrap();
    assert_eq!(sort.call(&[]).unwrap().to::<i64>().unwrap(), 1);
    host.unregister_function("tvm.contrib.sort.sort");
    let sort = host.function("tvm.contrib.sort.sort").unwrap().unwrap();
    assert!(sort.call(&[]).is_err());
}

/// COMPOSE-I1 to COMPOSE-I3.
#[test]
fn compose_i1_modules_find_the_functions_of_those_that_a_program_adds() {
    let host = host();
    for (outer, inner) in [("c", "c"), ("c", "llvm"), ("llvm", "c"), ("c", "opencl")] {
        let is_usable = |kind: &str| host.usable_target(kind).is_ok();
        if !is_usable(outer) || !is_usable(inner) {
            continue;
        }
        let load = |text: &str, kind: &str| host.load(&built(&host, text, json!(kind)).artifact).unwrap();
        let (outer_module, inner_module) = (load(OUTER, outer), load(ADD, inner));
        let call = || outer_module.function("outer").unwrap();
        if inner != "opencl" {
            let device = host.device("cpu", 0).unwrap();
            let a = Tensor::zeros(&device, &[8], chipdock_ir::DType::INT32).unwrap();
            let error = call().call(&[(&a).into(), (&a).into()]).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::NotFound, "{error}");
        }
        assert!(outer_module.function("add").is_err());
        outer_module.import_module(&inner_module).unwrap();
        outer_module.import_module(&inner_module).unwrap();
        assert_eq!((outer_module.all_imports().len(), outer_module.imports().len()), (1, 0));
        let device = host.target_kind(inner).unwrap().device.clone();
        assert_eq!(second(&host, &outer_module, "add", &device), counted(12345), "{outer} {inner}");
        if inner != "opencl" {
            assert_eq!(second(&host, &outer_module, "outer", "cpu"), counted(12345), "{outer} {inner}");
        }
        // As a file and on another machine.
        let bytes = outer_module.composed().unwrap().to_bytes().unwrap();
        let loaded = host.load(&Arc::new(Artifact::from_bytes(&bytes).unwrap())).unwrap();
        assert_eq!(second(&host, &loaded, "add", &device), counted(12345), "{outer} {inner}");
        assert!(outer_module.artifact().imports().is_empty());
        for (into, module) in [(&inner_module, &outer_module), (&outer_module, &outer_module)] {
            let error = into.import_module(module).unwrap_err();
            assert!(error.to_string().contains("is this module, or imports it"), "{error}");
        }
    }
    let other = self::host();
    let foreign = other.load(&built(&other, ADD, json!("c")).artifact).unwrap();
    let module = host.load(&built(&host, ADD, json!("c")).artifact).unwrap();
    let error = module.import_module(&foreign).unwrap_err();
    assert!(error.to_string().contains("belong to two hosts"), "{error}");
}
