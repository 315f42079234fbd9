//! Compiles every kernel of the corpus, and a sample of random programs, with NVRTC and ptxas for each architecture.

use chipdock_cuda_tests::{check, compiled, has_compiler, host};
use chipdock_ir::{IrModule, PrimFunc};
use chipdock_programs::{Options, arbitrary};

/// What the target refuses of the corpus, and the words that say why.
const REFUSED: &[(&str, &str)] = &[
    // What the passes take is held by tests of theirs.
    ("", "cannot be lowered for this target"),
    ("construct/calls.py:use", "there is no function `twice`"),
    ("construct/externs.py:handed", "has no function \"use\""),
    ("construct/externs_ours.py:handed", "has no function \"use\""),
    ("construct/intrinsics.py:pointers", "has no function \"fill\""),
    ("construct/memory.py:memory", "has no function \"touch\""),
    ("construct/views.py:free", "has no function \"tile\""),
    ("construct/warps.py:shuffles", "warps of 32 threads, not of 64"),
];

/// Random programs of either sort.
const PROGRAMS: u64 = 16;

fn single(module: &IrModule, function: &PrimFunc) -> IrModule {
    IrModule { functions: vec![function.clone()], attrs: module.attrs.clone() }
}

#[test]
fn every_kernel_of_the_corpus_compiles() {
    let host = host();
    if !has_compiler("compiling the corpus") {
        return;
    }
    let (mut kernels, mut failed) = (0, Vec::new());
    for file in chipdock_test_support::corpus().expect("the corpus") {
        if file.name.starts_with("lowered/host_") || file.name.starts_with("lowered/opencl_") {
            continue;
        }
        let module = chipdock_script::parse(&file.text, &file.name).expect("the corpus is readable");
        // A file whose functions call each other is one module; else one that is refused must not hide the others.
        let modules = match check(&host, &module) {
            Ok(found) => {
                kernels += found;
                continue;
            }
            Err(_) => {
                module.functions.iter().map(|function| (function.name.clone(), single(&module, function)))
            }
        };
        for (name, module) in modules {
            match check(&host, &module) {
                Ok(found) => kernels += found,
                Err(why) => failed.push(format!("{}:{name} {why}", file.name)),
            }
        }
    }
    println!("{kernels} kernels compiled");
    failed.retain(|why| !REFUSED.iter().any(|(name, word)| why.starts_with(name) && why.contains(word)));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(kernels >= 140, "only {kernels} kernels");
}

#[test]
fn random_programs_compile() {
    let host = host();
    if !has_compiler("compiling random programs") {
        return;
    }
    let sorts = [("threads", Options::with_threads()), ("default", Options::default())];
    let (mut compiled, mut failed) = (0, Vec::new());
    for (sort, options) in sorts {
        let options = Options { externs: false, ..options };
        for seed in 0..PROGRAMS {
            match check(&host, &arbitrary(seed, &options).module) {
                Ok(_) => compiled += 1,
                Err(why) if why.contains("cannot be lowered for this target") => {}
                Err(why) => failed.push(format!("{sort} {seed}: {why}")),
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(compiled >= PROGRAMS, "only {compiled} programs");
}

/// The source needs no compiler, and is there beside what a compiler made of it.
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
