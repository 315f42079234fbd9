//! Measures exported libraries: a call of their functions against the host's own and against a
//! kernel written with TVM-FFI's C++ headers, and the command that makes them against TVM's export.

use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use chipdock_abi::{ChipdockAny, ChipdockSafeCall};
use chipdock_host::{CompileOptions, ExportOptions, Host};
use chipdock_test_backends::backends::Backend;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Result;
use super::contest::{duel, median, paired};
use super::device::Figure;
use super::options::Options;
use super::packed::{self, ADD_16, Packed};
use super::speed::child::{Child, positive};

// Compiled into the program, because the program also runs on machines without a checkout.
const SCRIPT: &str = include_str!("../export.py");
const PEER: &str = include_str!("../export_peer.cpp");
const VECTOR_ADD: &str = include_str!("../../examples/kernels/vector_add.py");

/// Number of measurements of native calls, of calls from Python, and of builds.
const ROUNDS: usize = 51;
const PYTHON_ROUNDS: usize = 101;
const BUILD_ROUNDS: usize = 15;
/// Number of calls in a measurement from Python.
const PYTHON_CALLS: usize = 2000;
/// The largest ratio of a call's time that reaches the goal.
const CALL_GOAL: f64 = 1.05;
/// The same for building.
const BUILD_GOAL: f64 = 0.5;

/// A function, and the names of its figures: a native call, through the host, from Python with
/// arrays, and with tensors.
struct Names {
    function: &'static str,
    native: &'static str,
    opened: &'static str,
    numpy: &'static str,
    torch: &'static str,
}

const NAMES: [Names; 2] = [
    Names {
        function: "add",
        native: "exported, dlopen: packed call of a 16-element add, fixed size / in our own host",
        opened: "exported, opened by a host: packed call, fixed size / in our own host",
        numpy: "exported, from Python with numpy arrays, fixed size / by TVM-FFI's C++ headers",
        torch: "exported, from Python with torch tensors, fixed size / by TVM-FFI's C++ headers",
    },
    Names {
        function: "add_n",
        native: "exported, dlopen: packed call of a 16-element add, symbolic size / in our own host",
        opened: "exported, opened by a host: packed call, symbolic size / in our own host",
        numpy: "exported, from Python with numpy arrays, symbolic size / by TVM-FFI's C++ headers",
        torch: "exported, from Python with torch tensors, symbolic size / by TVM-FFI's C++ headers",
    },
];

/// Measures all of it for each backend of the host; what is not here is said on stderr.
///
/// # Errors
///
/// A step failed.
pub fn measure(options: &Options, host: &Host, backends: &[Backend]) -> Result<Vec<(String, Figure)>> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut python = match &options.python {
        Some(python) => Some(Python::start(python, folder.path(), None)?),
        None => {
            eprintln!(
                "not here: a Python with numpy and TVM; calls from Python and TVM's export are not measured"
            );
            None
        }
    };
    let mut torch = python.as_ref().and_then(|python| {
        let started = options.torch_python.as_ref().ok_or("there is no Python with torch".to_owned());
        let started = started.and_then(|with| Python::start(with, folder.path(), Some(python)));
        started.map_err(|why| eprintln!("not here: calls with tensors of torch: {why}")).ok()
    });
    let peer = python.as_ref().map(|python| python.compile_peer(folder.path())).transpose()?;
    let mut figures = Vec::new();
    for backend in backends.iter().filter(|backend| backend.is_host()) {
        let kind = backend.target.kind.as_str();
        let library = folder.path().join(format!("{kind}.so"));
        let mut own = native(host, backend, &library)?;
        if let (Some(python), Some(peer)) = (&mut python, &peer) {
            for Names { function, numpy, .. } in NAMES {
                own.push(python.calls(&library, peer, function, "numpy", numpy)?);
            }
            if let Some(torch) = &mut torch {
                for Names { function, torch: name, .. } in NAMES {
                    own.push(torch.calls(&library, peer, function, "torch", name)?);
                }
            }
            own.extend(builds(options, python, kind, &folder)?);
        }
        figures.extend(own.into_iter().map(|figure| (kind.to_owned(), figure)));
    }
    Ok(figures)
}

/// The figure of a ratio of two times, given in a unit of that many nanoseconds.
fn figure(name: &'static str, times: (f64, f64, f64), unit: (&str, f64), goal: Option<f64>) -> Figure {
    let ((ours, peer, ratio), (unit, ns)) = (times, unit);
    let measured = format!("{ratio:.2} ({:.1} {unit} / {:.1} {unit})", ours / ns, peer / ns);
    Figure { name, measured, value: ratio, goal }
}

/// Exports the addition to `path`, and compares its functions with the same ones loaded by the
/// host.
fn native(host: &Host, backend: &Backend, path: &Path) -> Result<Vec<Figure>> {
    let text = |error: chipdock_host::Error| error.to_string();
    let module = chipdock_script::parse(ADD_16, "add.py").map_err(|errors| errors.to_string())?;
    let compiled = host.compile(&module, &backend.target, &CompileOptions::default()).map_err(text)?;
    let loaded = host.load(&compiled.artifact).map_err(text)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let exported = host.export_library(&compiled.artifact, &name, &ExportOptions::default());
    exported.and_then(|exported| exported.save(path)).map_err(text)?;
    let opened = host.open(path).map_err(text)?;
    // SAFETY: the library was just exported; its constructor sets its environment.
    let plain = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    let tensors = packed::tensors(backend)?;
    let mut figures = Vec::new();
    for Names { function, native, opened: through_host, .. } in NAMES {
        let own = loaded.function(function).map_err(text)?;
        let (own, symbol) = (
            Packed::new(&own, &tensors),
            Packed::raw(symbol(&plain, function)?, std::ptr::null_mut(), &tensors),
        );
        let opened = opened.function(function).map_err(text)?;
        let opened = Packed::new(&opened, &tensors);
        // SAFETY: functions of loaded modules, and one of a library that ignores its first argument
        // (X.1).
        let (own, symbol, opened) = unsafe { (|| own.ns(), || symbol.ns(), || opened.ns()) };
        figures.push(figure(native, duel(ROUNDS, symbol, own), ("ns", 1.0), Some(CALL_GOAL)));
        figures.push(figure(through_host, duel(ROUNDS, opened, own), ("ns", 1.0), Some(CALL_GOAL)));
    }
    Ok(figures)
}

/// Returns the packed function of a library.
fn symbol(library: &libloading::Library, function: &str) -> Result<ChipdockSafeCall> {
    type Call = unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32;
    // SAFETY: EXPORT-X1, such a symbol is a packed function.
    let call = unsafe { library.get::<Call>(format!("__tvm_ffi_{function}").as_bytes()) };
    call.map(|call| ChipdockSafeCall(*call)).map_err(|error| error.to_string())
}

/// A process that runs `export.py`.
struct Python {
    child: Child,
    /// What it says of itself: its folder, headers and library of TVM-FFI.
    hello: Value,
}

impl Python {
    /// Starts a process. One with torch that has no TVM-FFI gets the one of `ffi`.
    fn start(python: &Path, folder: &Path, ffi: Option<&Self>) -> Result<Self> {
        let script = folder.join("export.py");
        fs::write(&script, SCRIPT).map_err(|error| error.to_string())?;
        let start = |path: Option<&Path>| {
            let mut command = Command::new(python);
            command.arg(&script);
            if let Some(path) = path {
                command.env("PYTHONPATH", path);
            }
            let mut child = Child::spawn(command)?;
            let imports =
                if ffi.is_some() { ["numpy", "torch", "tvm_ffi"] } else { ["numpy", "tvm", "tvm_ffi"] };
            let hello = child.ask("hello", json!({"imports": imports}))?;
            Ok(Self { child, hello })
        };
        let Some(ffi) = ffi else { return start(None) };
        start(None).or_else(|_: String| {
            let only = folder.join("only-tvm-ffi");
            fs::create_dir_all(&only).map_err(|error| error.to_string())?;
            std::os::unix::fs::symlink(ffi.path("package")?, only.join("tvm_ffi"))
                .map_err(|error| error.to_string())?;
            start(Some(&only))
        })
    }

    fn path(&self, key: &str) -> Result<PathBuf> {
        let path = self.hello[key].as_str();
        path.map(PathBuf::from).ok_or(format!("export.py did not say its `{key}`"))
    }

    /// Compiles the addition that is written with the headers.
    fn compile_peer(&self, folder: &Path) -> Result<PathBuf> {
        let (source, library) = (folder.join("peer.cpp"), folder.join("peer.so"));
        fs::write(&source, PEER).map_err(|error| error.to_string())?;
        let mut command = Command::new(std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned()));
        command
            .args(["-std=c++17", "-O3", "-march=native", "-fPIC", "-shared", "-I"])
            .arg(self.path("include")?);
        command
            .arg("-I")
            .arg(self.path("dlpack")?)
            .arg(&source)
            .arg("-o")
            .arg(&library)
            .arg(self.path("library")?);
        let status = command.status().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
        if status.success() { Ok(library) } else { Err("the peer in C++ does not compile".to_owned()) }
    }

    /// Compares calls of a function of two libraries.
    fn calls(
        &mut self,
        library: &Path,
        peer: &Path,
        function: &str,
        kind: &str,
        name: &'static str,
    ) -> Result<Figure> {
        let request = json!({"ours": library, "peer": peer, "function": function, "kind": kind,
                             "rounds": PYTHON_ROUNDS, "calls": PYTHON_CALLS});
        let answer = self.child.ask("calls", request)?;
        let (ours, peer) = (numbers(&answer, "ours")?, numbers(&answer, "peer")?);
        let ratio = median(paired(&ours, &peer));
        Ok(figure(name, (median(ours), median(peer), ratio), ("ns", 1.0), Some(CALL_GOAL)))
    }
}

/// Reads the times of all rounds from an answer.
fn numbers(answer: &Value, key: &str) -> Result<Vec<f64>> {
    let numbers: Option<Vec<f64>> =
        answer[key].as_array().and_then(|list| list.iter().map(Value::as_f64).collect());
    match numbers {
        Some(numbers) if numbers.len() == PYTHON_ROUNDS && numbers.iter().all(|ns| *ns > 0.0) => Ok(numbers),
        _ => Err(format!("expected {PYTHON_ROUNDS} times `{key}` of export.py, found {}", answer[key])),
    }
}

/// Compares the command, as a process that compiles and links, with TVM in a process that has it
/// imported. A plugin may keep what its compiler made of the same source before; a second run of
/// each round keeps nothing.
fn builds(options: &Options, python: &mut Python, kind: &str, folder: &TempDir) -> Result<Vec<Figure>> {
    let at = |name: &str| folder.path().join(name);
    let (source, ours, peer) = (at("vector_add.py"), at("ours.so"), at("tvm.so"));
    fs::write(&source, VECTOR_ADD).map_err(|error| error.to_string())?;
    let mut command = Command::new(&options.command);
    command.arg("build").arg(&source).args(["--target", kind, "--no-cache", "-o"]).arg(&ours);
    command.env("XDG_CONFIG_HOME", folder.path()).stdin(Stdio::null());
    let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for round in 0..=BUILD_ROUNDS {
        let kept_ns = timed(command.env("CHIPDOCK_CACHE_DIR", folder.path().join("kept")))?;
        let anew_ns = timed(command.env("CHIPDOCK_CACHE_DIR", ""))?;
        let request = json!({"path": source, "function": "vector_add", "out": peer});
        let answer = python.child.ask("export", request)?;
        // The first round is not counted: files are read, and TVM makes its registries.
        if round > 0 {
            let all = [kept_ns, anew_ns, positive(&answer, "ns")?, positive(&answer, "export_ns")?];
            times.iter_mut().zip(all).for_each(|(list, ns)| list.push(ns));
        }
    }
    let [kept, anew, whole, export] = times;
    let compare = |name, ours: &[f64], peer: &[f64], goal| {
        let ratio = median(paired(ours, peer));
        figure(name, (median(ours.to_vec()), median(peer.to_vec()), ratio), ("ms", 1e6), goal)
    };
    let goal = Some(BUILD_GOAL);
    Ok(vec![
        compare(
            "`chipdock build -o out.so` of the add, built before / TVM's compile and export_library",
            &kept,
            &whole,
            goal,
        ),
        compare("the same, nothing kept from before / TVM's compile and export_library", &anew, &whole, goal),
        compare(
            "the same, built before / TVM's export_library alone, of what it compiled",
            &kept,
            &export,
            None,
        ),
    ])
}

/// Returns the time of a command in nanoseconds.
fn timed(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let ns = start.elapsed().as_secs_f64() * 1e9;
    if output.status.success() {
        return Ok(ns);
    }
    Err(format!("`chipdock build`: {}", String::from_utf8_lossy(&output.stderr)))
}
