//! Compiles kernels of the corpus, of which an ordinary run takes a sample, and random programs,
//! with NVRTC and ptxas for each architecture.

use std::path::{Path, PathBuf};

use chipdock_cuda_tests::{check, compiled, has_compiler, host};
use chipdock_ir::{AttrValue, IrModule, PrimFunc, attr};
use chipdock_programs::{Options, arbitrary};
use chipdock_test_backends::device_code::{list, list_drawn};
use chipdock_test_backends::specials;
use chipdock_test_support::sample::Drawn;

/// A run takes one file of the corpus in so many.
const SHARE: usize = 4;

/// Random programs of either sort.
const PROGRAMS: u64 = 16;

fn single(module: &IrModule, function: &PrimFunc) -> IrModule {
    IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() }
}

/// Removes the target that a function names where it is one of `cuda`: it is compiled for each
/// architecture.
fn forget_target(function: &mut PrimFunc) {
    let is_cuda = |value: &AttrValue| matches!(value, AttrValue::Target(target) if target.kind == "cuda");
    if function.attrs.get(attr::TARGET).is_some_and(is_cuda) {
        function.attrs.remove(attr::TARGET);
    }
}

/// Path of a golden with the result for each file or program: the number of kernels compiled for
/// each architecture, or the reason for the refusal.
fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens").join(name)
}

#[test]
fn kernels_of_the_corpus_compile() {
    let host = host();
    if !has_compiler("compiling the corpus") {
        return;
    }
    let mut lines = Vec::new();
    let mut files = chipdock_test_support::corpus().expect("the corpus");
    let others = ["lowered/host_", "lowered/opencl_"];
    files.retain(|file| !others.iter().any(|start| file.name.starts_with(start)));
    let drawn = Drawn::of(
        "files of the corpus compiled by NVRTC and ptxas",
        SHARE,
        files.iter().map(|file| file.name.as_str()),
    );
    for file in files.into_iter().filter(|file| drawn.has(&file.name)) {
        let mut module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
        module.functions.iter_mut().for_each(forget_target);
        // A file whose functions call each other is one module; else one that is refused must not
        // hide the others.
        let modules = match check(&host, &module) {
            Ok(found) => {
                lines.push(format!("{}: {found} kernels", file.name));
                continue;
            }
            Err(_) => {
                module.functions.iter().map(|function| (function.name.clone(), single(&module, function)))
            }
        };
        for (name, module) in modules {
            match check(&host, &module) {
                Ok(found) => lines.push(format!("{}:{name}: {found} kernels", file.name)),
                Err(why) => lines.push(format!("{}:{name}: refused: {why}", file.name)),
            }
        }
    }
    list_drawn(&golden("corpus.txt"), lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn random_programs_compile() {
    let host = host();
    if !has_compiler("compiling random programs") {
        return;
    }
    let sorts = [("threads", Options::with_threads()), ("default", Options::default())];
    let mut lines = Vec::new();
    for (sort, options) in sorts {
        let options = Options { externs: false, ..options };
        for seed in 0..PROGRAMS {
            match check(&host, &arbitrary(seed, &options).module) {
                Ok(found) => lines.push(format!("{sort} {seed:02}: {found} kernels")),
                Err(why) => lines.push(format!("{sort} {seed:02}: refused: {why}")),
            }
        }
    }
    list(&golden("random.txt"), lines).unwrap_or_else(|error| panic!("{error}"));
}

/// Special values as NVIDIA's compiler reads them: each constant is in its PTX, by its bits.
#[test]
fn constants_are_exact_for_nvidias_compiler() {
    let host = host();
    if !has_compiler("special values by NVRTC") {
        return;
    }
    for program in specials::programs().unwrap_or_else(|error| panic!("{error}")) {
        check(&host, &program.module).unwrap_or_else(|error| panic!("{}: {error}", program.name));
        let artifacts = compiled(&host, &program.module, "sm_80", "ptx").expect("it compiles");
        let code = artifacts[0].section("code").expect("the PTX").data().to_vec();
        let ptx = String::from_utf8(code).expect("a text").to_lowercase();
        let Some(call) = program.calls.iter().find(|call| call.function == "constants") else { continue };
        let values = &call.expected[0];
        // Zeros and whole numbers may be written otherwise.
        let digits = match (values.dtype.is_float(), values.dtype.bits) {
            (true, 32) => ("0f", 4),
            (true, 64) => ("0d", 8),
            _ => continue,
        };
        for (lane, bytes) in values.data.chunks(digits.1).enumerate() {
            let value = values.float(lane).unwrap_or_default();
            let bits: String = bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            let integer = u64::from_str_radix(&bits, 16).expect("bits");
            let spellings = [
                format!("{}{bits}", digits.0),
                integer.to_string(),
                (integer as i32).to_string(),
                integer.cast_signed().to_string(),
            ];
            assert!(
                value == 0.0 || value.is_nan() || spellings.iter().any(|text| ptx.contains(text)),
                "{}: {value:?}, bits {bits}, is not in\n{ptx}",
                program.name
            );
        }
    }
}

/// The source needs no compiler, and is delivered along with what a compiler made of it.
#[test]
fn the_source_is_always_there() {
    let host = host();
    let text = "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def f(A: T.Buffer((64,), \"float32\")):\n        \
                for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n            A[i] = A[i] + T.float32(1)\n";
    let module = chipdock_script::parse(text, "f.py").expect("a kernel");
    let formats: &[&str] = if has_compiler("PTX and cubins") { &["cuda", "ptx", "cubin"] } else { &["cuda"] };
    for format in formats {
        let artifacts = compiled(&host, &module, "sm_80", format).expect("it compiles");
        let [artifact] = artifacts.as_slice() else { panic!("{} artifacts", artifacts.len()) };
        assert_eq!(artifact.index().format, *format);
        assert!(artifact.source().is_some_and(|source| source.contains("__global__")), "{format}");
        assert_eq!(artifact.section("code").is_some(), *format != "cuda");
    }
}
