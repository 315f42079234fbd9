//! Compiles a source with the shim, opens the result, and launches its kernels.

use core::ffi::{CStr, c_char, c_void};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_plugin_api::kernel::{Kernel, KernelArg, Kernels};
use chipdock_plugin_api::{
    Any, Artifact, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Module, ModuleLoader, Verdict,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// The loader.
pub(crate) struct Loader {
    pub(crate) host: HostRef,
}

/// A function that runs a kernel: takes arguments, grid, block, and bytes of dynamic shared memory;
/// returns an error's text, or null.
type Run = unsafe extern "C" fn(*const *const c_void, *const u32, *const u32, u64) -> *const c_char;

/// A loaded library. Blocks run one by one, since the library has their memory only once.
struct Code {
    _library: Library,
    running: Mutex<()>,
}

struct Loaded {
    host: HostRef,
    code: Arc<Code>,
    kernels: HashMap<String, (Kernel, Run)>,
}

/// Replacements in a source before it is compiled: instructions and declarations that only a GPU
/// supports.
const EDITS: &[(&str, &str)] = &[
    (
        "extern __shared__ __align__(16) unsigned char cd_dynamic[];",
        "static __align__(16) unsigned char cd_dynamic[1 << 18];",
    ),
    (
        "asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits));",
        "_Float16 half; __builtin_memcpy(&half, &bits, 2); x = (float)half;",
    ),
    (
        "asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x));",
        "_Float16 half = (_Float16)x; __builtin_memcpy(&bits, &half, 2);",
    ),
];

fn error(kind: ErrorKind, what: impl core::fmt::Display) -> Error {
    Error::new(kind, format!("CUDA C on the processor: {what}"))
}

impl ModuleLoader for Loader {
    fn check(&self, _: &Artifact<'_>, _: ChipdockDevice) -> Result<Verdict, Error> {
        Ok(Verdict::Runs)
    }

    fn load(&self, artifact: &Artifact<'_>, _: Env) -> Result<Box<dyn Module>, Error> {
        let index =
            serde_json::from_str(artifact.index_json()).map_err(|why| error(ErrorKind::VALUE_ERROR, why))?;
        let kernels = Kernels::from_index(&index)?.usable;
        let source = core::str::from_utf8(artifact.section("source")?.data);
        let mut text = source.map_err(|why| error(ErrorKind::VALUE_ERROR, why))?.to_owned();
        for (from, to) in EDITS {
            text = text.replace(from, to);
        }
        if text.contains("asm(") {
            return Err(error(ErrorKind::UNSUPPORTED, "an instruction that the shim does not have"));
        }
        let runs = kernels.iter().map(|kernel| format!("CD_RUN({})\n", kernel.symbol));
        let text = format!("#include \"shim.h\"\n{text}\n{}", runs.collect::<String>());
        let io = |why: std::io::Error| error(ErrorKind::IO, why);
        let folder = tempfile::tempdir().map_err(io)?;
        std::fs::write(folder.path().join("kernels.cc"), &text).map_err(io)?;
        std::fs::write(folder.path().join("shim.h"), include_str!("shim.h")).map_err(io)?;
        let library = compile(folder.path())?;
        let mut found = HashMap::new();
        for kernel in kernels {
            let symbol = format!("cd_run_{}\0", kernel.symbol);
            // SAFETY: the shim defines such a function for each kernel.
            let run = *unsafe { library.get::<Run>(symbol.as_bytes()) }
                .map_err(|why| error(ErrorKind::INTERNAL, why))?;
            found.insert(kernel.name.clone(), (kernel, run));
        }
        let code = Arc::new(Code { _library: library, running: Mutex::new(()) });
        Ok(Box::new(Loaded { host: self.host, code, kernels: found }))
    }
}

/// Compiles the library; its file is removed with the folder.
fn compile(folder: &Path) -> Result<Library, Error> {
    let library = folder.join("kernels.so");
    let mut command = Command::new("clang++-19");
    // Overflow, division by 0 and out-of-range conversions in a kernel end the process.
    command.args([
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-shared",
        "-w",
        "-ffp-contract=off",
        "-fsanitize=undefined",
    ]);
    command.args(["-fno-sanitize=vptr,function", "-fsanitize-trap=undefined", "-fbracket-depth=2048", "-o"]);
    command.arg(&library).arg("kernels.cc").current_dir(folder);
    let output =
        command.output().map_err(|why| error(ErrorKind::UNAVAILABLE, format!("clang++-19: {why}")))?;
    if !output.status.success() {
        let lines: Vec<String> =
            String::from_utf8_lossy(&output.stderr).lines().take(8).map(str::to_owned).collect();
        return Err(error(ErrorKind::INTERNAL, lines.join("; ")));
    }
    // SAFETY: compiled just now, from a source without constructors, under a new name.
    unsafe { Library::open(Some(&library), RTLD_NOW | RTLD_LOCAL) }.map_err(|why| error(ErrorKind::IO, why))
}

impl Module for Loaded {
    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        let Some((kernel, run)) = self.kernels.get(name) else { return Ok(None) };
        let (kernel, run, code) = (kernel.clone(), *run, Arc::clone(&self.code));
        Ok(Some(Function::from_fn(self.host, move |args| {
            let Some(launch) = kernel.call(args)? else { return Ok(Any::NONE) };
            let pointers: Vec<*const c_void> = launch.args.iter().map(KernelArg::place).collect();
            let size = |extents: [u64; 3]| extents.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
            let (grid, block) = (size(launch.grid), size(launch.block));
            let _running = code.running.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: as many arguments as the kernel has, of their sizes; the host function has
            // checked the tensors.
            let failed =
                unsafe { run(pointers.as_ptr(), grid.as_ptr(), block.as_ptr(), launch.dynamic_shared_bytes) };
            if failed.is_null() {
                return Ok(Any::NONE);
            }
            // SAFETY: a constant text of the shim.
            let failed = unsafe { CStr::from_ptr(failed) }.to_string_lossy();
            Err(error(ErrorKind::INTERNAL, format!("kernel {}: {failed}", kernel.name)))
        })))
    }
}
