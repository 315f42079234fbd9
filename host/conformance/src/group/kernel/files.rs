//! The project's example kernels, and files printed by TVM, at several sizes; also called
//! repeatedly, saved and reloaded.

use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_interpret::Arg;
use chipdock_ir::{IrModule, PrimFunc, attr};

use crate::batch::{self, Described, Kernel};
use crate::execute::{self, Guards, Ready};
use crate::script::{Sizes, arguments};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../../../examples/kernels/", $name, ".py"))
    };
}

macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!("../../../kernels/tvm/", $name, ".py"))
    };
}

/// A kernel file: its function, the profiles that it needs, and the sizes that it is called with.
struct File {
    function: &'static str,
    text: &'static str,
    profiles: &'static [Profile],
    sizes: &'static [&'static [(&'static str, i64)]],
}

const fn file(
    function: &'static str,
    text: &'static str,
    profiles: &'static [Profile],
    sizes: &'static [&'static [(&'static str, i64)]],
) -> File {
    File { function, text, profiles, sizes }
}

const LINES: &[&[(&str, i64)]] = &[&[("n", 0)], &[("n", 1)], &[("n", 7)], &[("n", 64)], &[("n", 1000)]];
const ROWS: &[&[(&str, i64)]] =
    &[&[("n", 1), ("d", 1)], &[("n", 9), ("d", 77)], &[("n", 3), ("d", 256)], &[("n", 0), ("d", 5)]];
const PRODUCTS: &[&[(&str, i64)]] = &[
    &[("m", 1), ("n", 1), ("k", 1)],
    &[("m", 7), ("n", 5), ("k", 3)],
    &[("m", 48), ("n", 40), ("k", 56)],
    &[("m", 33), ("n", 65), ("k", 17)],
];
const ONCE: &[&[(&str, i64)]] = &[&[]];
const THREADS: &[Profile] = &[Profile::GpuThreads];
const SHARED: &[Profile] = &[Profile::GpuThreads, Profile::SharedMemory];

const EXAMPLES: &[File] = &[
    file("vector_add", example!("vector_add"), &[], LINES),
    file("scale", example!("multi"), &[], LINES),
    file("add", example!("multi"), &[], LINES),
    file("unroll_vectorize", example!("unroll_vectorize"), &[Profile::Vectors], ONCE),
    file("cast_f16", example!("cast_f16"), &[Profile::Float16], LINES),
    file("compare_select", example!("compare_select"), &[], LINES),
    file("saturating_add_u8", example!("saturating_add_u8"), &[], LINES),
    file("divmod_i64", example!("divmod_i64"), &[Profile::Int64], LINES),
    file("while_loop", example!("while_loop"), &[Profile::Int64], LINES),
    file(
        "gather",
        example!("gather"),
        &[],
        &[
            &[("m", 50), ("d", 8), ("n", 20)],
            &[("m", 1), ("d", 3), ("n", 5)],
            &[("m", 9), ("d", 1), ("n", 40)],
        ],
    ),
    file(
        "transpose",
        example!("transpose"),
        &[],
        &[&[("m", 48), ("n", 64)], &[("m", 1), ("n", 17)], &[("m", 33), ("n", 5)]],
    ),
    file("gelu_tanh", example!("gelu_tanh"), &[], LINES),
    file("softmax", example!("softmax"), &[], ROWS),
    file("layernorm", example!("layernorm"), &[], ROWS),
    file("rms_norm", example!("rms_norm"), &[], ROWS),
    file("conv2d", example!("conv2d"), &[], &[&[("n", 1)]]),
    file("int8_dot", example!("int8_dot"), &[], PRODUCTS),
    file("matmul", example!("matmul"), &[], PRODUCTS),
];

const PRINTED: &[File] = &[
    file("castbf16", printed!("castbf16"), &[Profile::Bfloat16], ONCE),
    file("castf16", printed!("castf16"), &[Profile::Float16], ONCE),
    file("conv2d", printed!("conv2d"), &[], ONCE),
    file("dynadd", printed!("dynadd"), &[], LINES),
    file("ewexp", printed!("ewexp"), &[], ONCE),
    file("int8dot", printed!("int8dot"), &[], ONCE),
    file("layernorm", printed!("layernorm"), &[], ONCE),
    file("softmax", printed!("softmax"), &[], ONCE),
    file("sumred", printed!("sumred"), &[], ONCE),
    file("transpose", printed!("transpose"), &[], ONCE),
    file("vecadd", printed!("vecadd"), &[], ONCE),
    file("g_castbf16", printed!("g_castbf16"), &[Profile::Bfloat16, Profile::GpuThreads], ONCE),
    file("g_castf16", printed!("g_castf16"), &[Profile::Float16, Profile::GpuThreads], ONCE),
    file("g_dynadd", printed!("g_dynadd"), THREADS, LINES),
    file("g_dynshm", printed!("g_dynshm"), &[Profile::GpuThreads, Profile::DynamicSharedMemory], ONCE),
    file("g_exp", printed!("g_exp"), THREADS, ONCE),
    file("g_int8dot", printed!("g_int8dot"), THREADS, ONCE),
    file("g_sumred", printed!("g_sumred"), THREADS, ONCE),
    file("g_transpose", printed!("g_transpose"), SHARED, ONCE),
    file("g_vec4", printed!("g_vec4"), &[Profile::Vectors, Profile::GpuThreads], ONCE),
    file("g_vecadd", printed!("g_vecadd"), THREADS, ONCE),
];

pub(super) fn add(cases: &mut Cases) {
    let mut all = Vec::new();
    for (folder, files) in [("example", EXAMPLES), ("printed", PRINTED)] {
        for file in files {
            for (seed, sizes) in file.sizes.iter().enumerate() {
                let of_sizes: Vec<String> =
                    sizes.iter().map(|(name, value)| format!("{name}-{value}")).collect();
                let of_sizes =
                    if of_sizes.is_empty() { String::new() } else { format!("/{}", of_sizes.join(".")) };
                all.push(Described {
                    name: format!("{folder}/{}{of_sizes}", file.function),
                    clause: if file.profiles.contains(&Profile::GpuThreads) { "C.23" } else { "C.15" },
                    profiles: file.profiles.to_vec(),
                    kernel: Box::new(OfFile {
                        file,
                        sizes: sizes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
                        seed: seed as u64,
                    }),
                });
            }
        }
    }
    all.sort_by(|a, b| a.profiles.cmp(&b.profiles));
    batch::add(cases, Group::Kernel, all);
    for file in EXAMPLES.iter().filter(|file| file.profiles.is_empty()) {
        for (name, clause, body) in
            [("again", "C.21", again as fn(&Context, &'static File) -> Verdict), ("saved", "C.22", saved)]
        {
            cases
                .case(Group::Kernel, format!("{name}/{}", file.function), clause, Subject::Codegen)
                .run(move |c| body(c, file));
        }
    }
    cases.case(Group::Kernel, "together/all-examples", "C.22", Subject::Codegen).deadline(60).run(together);
}

struct OfFile {
    file: &'static File,
    sizes: Sizes,
    seed: u64,
}

impl OfFile {
    fn new(file: &'static File) -> Self {
        let sizes = file.sizes.last().copied().unwrap_or_default();
        let sizes = sizes.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Self { file, sizes, seed: 77 }
    }

    fn function(&self) -> Result<PrimFunc, String> {
        let module = chipdock_script::parse(self.file.text, self.file.function);
        let module = module.map_err(|errors| errors.to_string())?;
        let found = module.function(self.file.function);
        found.cloned().ok_or_else(|| format!("the file has no function {}", self.file.function))
    }

    fn named(&self, name: &str) -> Result<Vec<PrimFunc>, String> {
        let function = self.function()?;
        let mut attrs = function.attrs.clone();
        // Otherwise every function of a batch would be marked as the only entry of its module.
        attrs.remove(attr::IS_ENTRY_FUNC);
        attrs.remove("global_symbol");
        Ok(vec![PrimFunc { name: name.into(), attrs, ..function }])
    }

    fn arguments(&self) -> Result<Vec<Arg>, String> {
        arguments(&self.function()?, &self.sizes, self.seed)
    }
}

impl Kernel for OfFile {
    fn functions(&self, name: &str, _: u8) -> Result<Vec<PrimFunc>, String> {
        self.named(name)
    }

    fn args(&self, _: u8) -> Result<Vec<Arg>, String> {
        self.arguments()
    }

    fn code(&self) -> Option<[&str; 2]> {
        Some([self.file.text, self.file.function])
    }

    fn guards(&self) -> Guards {
        Guards::AROUND
    }
}

fn module_of(kernel: &OfFile) -> Verdict<IrModule> {
    Ok(chipdock_ir::build::module(kernel.named(kernel.file.function).map_err(Stop::suite)?))
}

/// Calls a kernel, checks its results, and returns the bytes of its tensors.
fn held(kernel: &OfFile, ready: &Ready) -> Verdict<Option<Vec<Vec<u8>>>> {
    let Ready::Callable(module, device) = ready else { return Ok(None) };
    let args = kernel.arguments().map_err(Stop::suite)?;
    let name = kernel.file.function;
    let expected = batch::interpret(&module_of(kernel)?, name, &args).map_err(Stop::suite)?;
    let found = execute::call(module, device, name, &args, Guards::AROUND)?;
    batch::hold(&expected, &found)?;
    Ok(Some(found.tensors.into_iter().map(|tensor| tensor.data).collect()))
}

fn built_only(c: &Context, ready: &Ready) {
    if let Ready::Built(why) = ready {
        c.not_run(why.as_str());
    }
}

/// Checks that three calls give identical bits.
fn again(c: &Context, file: &'static File) -> Verdict {
    let kernel = OfFile::new(file);
    let ready = execute::build(c, &module_of(&kernel)?)?;
    built_only(c, &ready);
    let first = held(&kernel, &ready)?;
    for call in ["second", "third"] {
        let next = held(&kernel, &ready)?;
        ensure(next == first, format!("the {call} call to give the first one's bits"), "other bits")?;
    }
    Ok(())
}

/// Checks that a saved and reloaded artifact gives the same results.
fn saved(c: &Context, file: &'static File) -> Verdict {
    let kernel = OfFile::new(file);
    let artifact = execute::compile(c, &module_of(&kernel)?)?.artifact;
    let ready = execute::load(c, &artifact)?;
    built_only(c, &ready);
    let first = held(&kernel, &ready)?;
    let read = Arc::new(Artifact::from_bytes(&artifact.to_bytes()?)?);
    let second = held(&kernel, &execute::load(c, &read)?)?;
    ensure(second == first, "the artifact that was read to give the same bits", "other bits")
}

/// Builds all examples in one module, calls each while the others are loaded, and the first once
/// more.
fn together(c: &Context) -> Verdict {
    let kernels: Vec<OfFile> =
        EXAMPLES.iter().filter(|file| file.profiles.is_empty()).map(OfFile::new).collect();
    let mut functions = Vec::new();
    for kernel in &kernels {
        functions.extend(kernel.named(kernel.file.function).map_err(Stop::suite)?);
    }
    let ready = execute::build(c, &chipdock_ir::build::module(functions))?;
    built_only(c, &ready);
    for kernel in kernels.iter().chain(&kernels[..1]) {
        held(kernel, &ready).map_err(|stop| stop.note(kernel.file.function))?;
    }
    Ok(())
}
