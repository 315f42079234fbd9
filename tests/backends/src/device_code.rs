//! Builds texts for kinds of devices that this machine lacks, to be read or run by other tools.

use std::path::Path;
use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_host::{CompileOptions, Host};
use chipdock_ir::{
    AttrValue, DType, Expr, IrModule, Op, Stage, Target, TargetCapabilities, ThreadAxis, attr,
};
use chipdock_passes::{LowerOptions, lower};
use chipdock_test_support::sample::{self, Drawn};
use chipdock_test_support::{CorpusFile, bless, corpus};

/// The device part of a module built for a target.
#[derive(Debug)]
pub struct Shader {
    /// The module given to the code generator.
    pub module: IrModule,
    /// Index of the artifact.
    pub index: serde_json::Value,
    /// Source text.
    pub source: String,
    /// The artifact itself.
    pub artifact: Arc<Artifact>,
}

/// Builds a module for a target; returns `None` if it has no part for a device.
///
/// # Errors
///
/// The passes or the code generator fail.
pub fn build(host: &Host, module: &IrModule, target: &Arc<Target>) -> Result<Option<Shader>, String> {
    let compiled =
        host.compile(module, target, &CompileOptions::default()).map_err(|error| error.to_string())?;
    let Some((_, device)) = compiled.lowered_devices.first() else { return Ok(None) };
    let artifact = Arc::clone(compiled.artifact.imports().first().ok_or("the artifact imports nothing")?);
    let index = serde_json::from_str(artifact.index_json()).map_err(|error| error.to_string())?;
    let source = artifact.source().ok_or("the artifact has no source")?.to_owned();
    Ok(Some(Shader { module: device.clone(), index, source, artifact }))
}

/// Reads the corpus and the examples as modules; with `CHIPDOCK_ONLY` only those whose names
/// contain its value.
///
/// # Panics
///
/// If they cannot be read.
#[must_use]
pub fn modules() -> Vec<(CorpusFile, IrModule)> {
    let read = |file: CorpusFile| {
        let module = chipdock_script::parse(&file.text, &file.name).ok()?;
        Some((file, module))
    };
    let only = std::env::var("CHIPDOCK_ONLY").unwrap_or_default();
    corpus().unwrap().into_iter().filter(|file| file.name.contains(&only)).filter_map(read).collect()
}

/// Compares the result for each file with the golden at `path`, a line each: the number of checked
/// kernels, or the reason for none, which is the first line of the error and its first cause. If
/// `CHIPDOCK_ONLY` selects some files, nothing is compared.
///
/// # Errors
///
/// As for [`bless`].
pub fn list(path: &Path, mut lines: Vec<String>) -> Result<(), String> {
    if std::env::var_os("CHIPDOCK_ONLY").is_some() {
        return Ok(());
    }
    lines.sort();
    let text: String = lines.iter().map(|line| head(line) + "\n").collect();
    bless(path, &text)
}

/// Does the same as [`list`] for the files, or the names before a colon, that a run has drawn: only
/// their lines are compared.
///
/// # Errors
///
/// As of [`list`], or the golden cannot be read.
pub fn list_drawn(path: &Path, mut lines: Vec<String>, drawn: &Drawn) -> Result<(), String> {
    if sample::is_whole_run() {
        return list(path, lines);
    }
    lines.sort();
    let found: Vec<String> = lines.iter().map(|line| head(line)).collect();
    let golden = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_drawn = |line: &&str| drawn.has(name_of(line));
    let expected: Vec<&str> = golden.lines().filter(is_drawn).collect();
    match expected.iter().zip(&found).find(|(expected, found)| *expected != found) {
        None if expected.len() == found.len() => Ok(()),
        None => Err(format!("{}: expected {} lines, found {}", path.display(), expected.len(), found.len())),
        Some((expected, found)) => {
            Err(format!("{}\n  expected: {expected}\n  found:    {found}", path.display()))
        }
    }
}

/// The name of the file, or of anything else, that a line of a list begins with.
fn name_of(line: &str) -> &str {
    let of_file = line.split_once(".py").map(|(stem, _)| &line[..stem.len() + 3]);
    of_file.or_else(|| line.split_once(": ").map(|(name, _)| name)).unwrap_or(line)
}

/// The first line of a reason and its first cause, in one line.
fn head(line: &str) -> String {
    line.lines().take(2).map(str::trim).collect::<Vec<_>>().join(": ")
}

/// Compares texts with the goldens `NAME.EXTENSION` of a folder, and checks that the folder has no
/// other golden with that extension.
///
/// # Errors
///
/// As for [`bless`], for every text that differs; the numbers of texts and of goldens, if they
/// differ.
pub fn check_texts(folder: &Path, extension: &str, texts: &[(String, String)]) -> Result<(), String> {
    let compare =
        |(name, text): &(String, String)| bless(&folder.join(format!("{name}.{extension}")), text).err();
    let wrong: Vec<String> = texts.iter().filter_map(compare).collect();
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let entries = folder.read_dir().map_err(|error| format!("{}: {error}", folder.display()))?;
    let goldens = entries.flatten().map(|entry| entry.path());
    let count = goldens.filter(|path| path.extension().is_some_and(|found| found == extension)).count();
    match texts.len() == count {
        true => Ok(()),
        false => Err(format!("{}: expected {} goldens, found {count}", folder.display(), texts.len())),
    }
}

/// Builds a module; returns `None` if it is refused, with the reason added to `refused`, or has no
/// part for a device.
pub fn built(
    host: &Host,
    target: &Arc<Target>,
    file: &CorpusFile,
    module: &IrModule,
    refused: &mut Vec<String>,
) -> Option<Shader> {
    build(host, &retargeted(module, target), target).unwrap_or_else(|error| {
        refused.push(format!("{}: {error}", file.name));
        None
    })
}

/// Returns the module with its kernels bound to the target, because TVM's own device functions name
/// TVM's targets.
#[must_use]
pub fn retargeted(module: &IrModule, target: &Arc<Target>) -> IrModule {
    let mut module = module.clone();
    for function in &mut module.functions {
        if function.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(2)) {
            function.attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::clone(target)));
        }
    }
    module
}

/// Returns the target of that kind with host functions in C.
///
/// # Panics
///
/// If there is no such kind.
#[must_use]
pub fn target(host: &Host, kind: &str) -> Arc<Target> {
    let json = serde_json::json!({ "kind": kind, "host": { "kind": "c" } });
    Arc::clone(host.target(json.to_string()).unwrap().target())
}

/// Builds TVM's own device functions for a kind of device; returns (function name, text), where the
/// text of a refused one is the reason as a comment.
///
/// # Panics
///
/// If there is no such kind.
#[must_use]
pub fn texts(host: &Host, kind: &str) -> Vec<(String, String)> {
    texts_of(host, &target(host, kind), "//")
}

/// Does the same as [`texts`] for a target, with the sign by which its language starts a comment.
#[must_use]
pub fn texts_of(host: &Host, target: &Arc<Target>, comment: &str) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for (file, module) in modules() {
        let name = file.name.strip_prefix("lowered/opencl_g_").and_then(|name| name.strip_suffix(".py"));
        let Some(name) = name else { continue };
        let text = match build(host, &retargeted(&module, target), target) {
            Ok(shader) => shader.unwrap().source,
            Err(error) => format!("{comment} {}\n", error.replace('\n', &format!("\n{comment} "))),
        };
        texts.push((name.to_owned(), text));
    }
    texts
}

/// Returns the capabilities of a common device without 64-bit integers.
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

/// Returns a module of the kernels of the module's functions in 32-bit words; `None` if a function
/// is refused or already has kernels.
#[must_use]
pub fn in_words(module: &IrModule) -> Option<IrModule> {
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

/// Script with arithmetic, conditions and conversions of 64-bit data.
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

/// Returns modules with 64-bit data in 32-bit words (INT64-W1 to INT64-W8 of the pass
/// `lower_int64`), from the corpus and written for this purpose.
///
/// # Panics
///
/// If a script cannot be read.
#[must_use]
pub fn modules_in_words() -> Vec<(CorpusFile, IrModule)> {
    let data = ["int64", "uint64"].map(|dtype| {
        let text = DATA.replace("DT", dtype);
        let module = chipdock_script::parse(&text, "data.py").unwrap();
        (CorpusFile { name: format!("{dtype}.py"), path: "data.py".into(), text }, module)
    });
    let all = modules().into_iter().chain(data);
    all.filter_map(|(file, module)| Some((file, in_words(&module)?))).collect()
}

/// Script with elements of more lanes than the languages have, and with lanes that are not
/// neighbours, at 64-bit indices.
const VECTORS: &str = r#"
@T.prim_func(s_tir=True)
def vectors(A: T.Buffer((6,), "DTxLANES"), B: T.Buffer((6,), "DTxLANES"), C: T.Buffer((64,), "DT"), D: T.Buffer((64,), "DT")):
    for i in T.thread_binding(6, thread="threadIdx.x"):
        B[5 - i] = A[i]
    for i in T.thread_binding(4, thread="threadIdx.x"):
        D[T.Ramp(i * 16, 3, 4)] = C[T.Ramp(i * 8 + 1, 2, 4)]
        D[T.Ramp(T.Cast("int64", i) * T.int64(16) + T.int64(4), T.int64(-1), 2)] = C[T.Ramp(T.int64(9), T.int64(0), 2)]
"#;

/// Returns modules with elements of more lanes than device languages have, by the name of the
/// element.
///
/// # Panics
///
/// If a script cannot be read.
#[must_use]
pub fn modules_of_long_elements() -> Vec<(String, IrModule)> {
    let elements = [("int32", 3), ("float32", 4), ("int8", 8), ("float16", 8), ("float32", 16), ("bool", 5)];
    let module = |(dtype, lanes): (&str, u16)| {
        let text = VECTORS.replace("DT", dtype).replace("LANES", &lanes.to_string());
        (format!("{dtype}x{lanes}"), chipdock_script::parse(&text, "vectors.py").unwrap())
    };
    elements.into_iter().map(module).collect()
}
