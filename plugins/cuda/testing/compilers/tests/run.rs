//! Runs the CUDA C of every kernel on the processor (`testing/cuda-on-cpu`) and compares the
//! results with the interpreter, on machines without an NVIDIA GPU.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use chipdock_host::{CompileOptions, Host, HostOptions};
use chipdock_interpret::{Arg, Array};
use chipdock_ir::{DType, IrModule, Op};
use chipdock_programs::{Case, Failure, Options, ProgramCheck};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::device_code::list_drawn;
use chipdock_test_backends::{corpus, hold, outputs};
use chipdock_test_backends::{run, specials};
use chipdock_test_support::sample::Drawn;

/// A run takes one file of the corpus in so many.
const SHARE: usize = 5;

/// Random programs of either sort: clang takes most of a second for each.
const PROGRAMS: u64 = 12;

/// A host whose CUDA device is the processor, and that backend; nothing without clang, which is
/// then said.
fn processor(what: &str) -> Option<(Host, Backend)> {
    if Command::new("clang++-19").arg("--version").output().is_err() {
        chipdock_test_support::setup::missing(&format!("{what}: no clang++-19"));
        return None;
    }
    let shim: PathBuf = chipdock_test_support::plugins::build(&["chipdock-cuda-on-cpu"]).remove(0);
    let plugins = chipdock_test_support::command::built().plugins.clone();
    let prefer = ["device_api.cuda", "module.load.cuda"]
        .map(|key| (key.to_owned(), "chipdock-cuda-on-cpu".to_owned()));
    let options =
        HostOptions { plugin_paths: vec![plugins, shim], prefer: prefer.to_vec(), ..HostOptions::isolated() };
    let host = Host::new(options).expect("a host");
    let target = host.usable_target("cuda").expect("the target");
    let device = host.device("cuda", 0).expect("the processor as a device");
    let capabilities = (**target.capabilities()).clone();
    let backend = Backend {
        target: Arc::clone(target.target()),
        device,
        device_name: "the processor".to_owned(),
        capabilities,
        configuration: String::new(),
        refuses: Vec::new(),
    };
    Some((host, backend))
}

fn single(module: &IrModule, name: &str) -> IrModule {
    let functions = module.functions.iter().filter(|function| &*function.name == name).cloned().collect();
    IrModule { functions, attrs: module.attrs.clone() }
}

#[test]
fn corpus_agrees_with_the_interpreter() {
    let Some((host, backend)) = processor("the corpus as CUDA C on the processor") else { return };
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    let mut files = chipdock_test_support::corpus().expect("the corpus");
    files.retain(|file| !file.name.starts_with("lowered/"));
    let what = "files of the corpus in CUDA C, run on the processor";
    let drawn = Drawn::of(what, SHARE, files.iter().map(|file| file.name.as_str()));
    for file in files.into_iter().filter(|file| drawn.has(&file.name)) {
        let (module, kernels) = corpus::kernels(&file, |_| true);
        let whole = run::build(&host, &backend, &module);
        for kernel in kernels {
            let name = format!("{}:{}", file.name, kernel.name);
            let built = match &whole {
                Ok(module) => Ok(module.clone()),
                Err(_) => run::build(&host, &backend, &single(&module, &kernel.name)),
            };
            let built = match built {
                Ok(built) => built,
                Err(why) => {
                    lines.push(format!("{name}: refused: {why}"));
                    continue;
                }
            };
            let function = built.function(&kernel.name).expect("its function");
            lines.push(format!("{name}: run"));
            // What the text does against the language's rules ends the process: this says where.
            println!("{name}");
            if let Err(why) =
                outputs(&backend, &function, &kernel.args).and_then(|found| hold(&kernel.outputs, &found))
            {
                wrong.push(format!("{name} {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("goldens/on-cpu.txt");
    list_drawn(&golden, lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
}

fn check(host: &Host, backend: &Backend, case: &Case) -> Result<(), Failure> {
    let failed = |what: &str, error: String| Failure::new(what.to_owned(), error);
    let expected = case.expected().map_err(|error| failed("interpreter", error.to_string()))?.outputs;
    let module = match run::build(host, backend, &case.module) {
        // Tests of the passes hold what they take.
        Err(why) if why.contains("cannot be lowered for this target") => return Ok(()),
        other => other.map_err(|error| failed("build", error))?,
    };
    let function = module.function(&case.function).map_err(|error| failed("function", error.to_string()))?;
    let found = outputs(backend, &function, &case.args).map_err(|error| failed("call", error))?;
    hold(&expected, &found).map_err(|error| failed("result", error))
}

#[test]
fn random_programs_agree_with_the_interpreter() {
    let Some((host, backend)) = processor("random programs as CUDA C on the processor") else { return };
    assert!(backend.capabilities.execution.has_native(Op::WarpShuffle));
    for threads in [true, false] {
        ProgramCheck::new("random_programs_agree_with_the_interpreter", env!("CARGO_TARGET_TMPDIR"))
            .options(Options { externs: false, threads, ..Options::default() })
            .programs(PROGRAMS)
            .candidates_max(100)
            .run(|case| check(&host, &backend, case));
    }
}

/// Special values, bit by bit, as clang reads the text (IR-N6, IR-N7, IR-N9).
#[test]
fn specials_are_exact_as_cuda_c() {
    let Some((host, backend)) = processor("special values as CUDA C on the processor") else { return };
    let mut wrong = Vec::new();
    for program in specials::programs().unwrap_or_else(|error| panic!("{error}")) {
        let loaded = run::build(&host, &backend, &program.module).unwrap_or_else(|error| panic!("{error}"));
        for call in &program.calls {
            let function = loaded.function(call.function).expect("there");
            let found = outputs(&backend, &function, &call.args);
            let held = found.and_then(|found| specials::hold_bits(call, &found));
            wrong.extend(held.err().map(|why| format!("{}: {why}", program.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A function that a plugin registers comes between text and compiler: what it answers is what the
/// artifact holds, and what runs; what it refuses is not built.
#[test]
fn a_function_between_text_and_compiler_has_the_last_word() {
    let Some((host, backend)) = processor("cuda.postprocess_source") else { return };
    let module = |name: &str| {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def {name}(A: T.Buffer((8,), \"int32\")):\n        \
             for i in range(8):\n            A[i] = 12345\n"
        );
        chipdock_script::parse(&text, "f.py").expect("a kernel")
    };
    let compiled = |name: &str| host.compile(&module(name), &backend.target, &CompileOptions::default());
    let artifact = compiled("plain").expect("it compiles").artifact;
    let [kernels] = artifact.imports() else { panic!("{} imports", artifact.imports().len()) };
    let source = kernels.source().expect("the source").to_string();
    let (first, rest) = source.split_once('\n').expect("lines");
    assert!(first.starts_with("// for {") && first.contains("\"kind\":\"cuda\""), "{first}");
    assert!(rest.contains("54321") && !rest.contains("12345"), "{rest}");
    let function = host.load(&artifact).expect("loaded").function("plain").expect("there");
    let args = [Arg::Tensor(Array::zeros(DType::INT32, &[8]))];
    let found = outputs(&backend, &function, &args).expect("it runs");
    assert_eq!(found[0].to_int(), [54321; 8]);

    let refused = compiled("no_such_kernel_here").expect_err("the function refuses it").to_string();
    assert!(refused.contains("the processor takes no such kernel"), "{refused}");
    let wrong = compiled("answered_by_a_number").expect_err("a number is no source").to_string();
    assert!(wrong.contains("cuda.postprocess_source: expected the source as a string"), "{wrong}");
}
