//! Compares devices through Chipdock with their own driver: the cost that Chipdock adds to a
//! launch, a copy, and the load of a program that was built before.

mod clock;
mod codegen;
mod cuda;
mod opencl;
mod schedule;
mod vulkan;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use chipdock_host::artifact::{Artifact, FunctionInfo};
use chipdock_host::{AnyView, CompileOptions, Function, Host, Order, Tensor};
use chipdock_ir::DType;
use serde_json::Value;

use super::Result;
use super::contest::{duel, median, ns_per_call};
use super::options::Options;
use chipdock_test_backends::backends::{self, Backend};

/// A measured figure and its goal.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Description of the measurement.
    pub name: &'static str,
    /// The figure as text for the user, with the values that it was computed from.
    pub measured: String,
    /// The figure itself.
    pub value: f64,
    /// The largest value that reaches the goal, if there is a goal.
    pub goal: Option<f64>,
}

/// Argument that makes this program measure a second run in a process of its own; followed by
/// `ours` or `driver`, target kind, folder and plugins.
pub const SECOND_RUN: &str = "--second-run-of";

const ADD: &str = "@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def add(A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\"), C: T.Buffer((16,), \"float32\")):
        T.func_attr({\"tirx.noalias\": True})
        for bx in T.thread_binding(1, thread=\"blockIdx.x\"):
            for tx in T.thread_binding(16, thread=\"threadIdx.x\"):
                C[tx] = A[tx] + B[tx]
";
/// Number of elements of each tensor of the kernel, and of its threads.
const ELEMENTS: usize = 16;
/// Number of tensors of the kernel.
const BUFFERS: usize = 3;
/// Size of the copy whose rate is measured.
const COPY_BYTES: usize = 64 << 20;

/// The kernel in the form that the driver takes.
struct Program {
    code: Vec<u8>,
    /// Options for the driver's compiler.
    options: String,
    /// The artifact's index.
    index: Value,
    kernel: FunctionInfo,
}

impl Program {
    fn from_artifact(artifact: &Artifact) -> Result<Self> {
        let [device] = artifact.imports() else { return Err("one device module is expected".to_owned()) };
        let sections = || device.sections().iter();
        let code = sections().find(|section| section.kind() == "code");
        let code = code.or_else(|| sections().find(|section| section.name() == "source"));
        let index: Value = serde_json::from_str(device.index_json()).map_err(|error| error.to_string())?;
        let options =
            index["options"]["build_options"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Ok(Self {
            code: code.ok_or("the artifact has no code")?.data().to_vec(),
            options: options.collect::<Vec<_>>().join(" "),
            kernel: device.index().functions.first().ok_or("the device module has no kernel")?.clone(),
            index,
        })
    }
}

/// A device that is called through its driver, without Chipdock.
trait Direct {
    /// Makes a kernel, with tensors of its own; from an earlier process's [`DirectKernel::binary`]
    /// if there is one.
    fn kernel<'a>(&'a self, program: &Program, binary: Option<&[u8]>) -> Result<Box<dyn DirectKernel + 'a>>;

    /// Makes a buffer on the device.
    fn buffer<'a>(&'a self, size_bytes: usize) -> Result<Box<dyn DirectBuffer + 'a>>;
}

/// A kernel that is launched through the driver.
trait DirectKernel {
    /// Queues the kernel.
    fn launch(&self) -> Result<()>;

    /// Queues the kernel in a submission of its own; `None` if the driver's interface has no
    /// submissions.
    fn launch_apart(&self) -> Option<Result<()>> {
        None
    }

    /// Waits for all that was queued.
    fn wait(&self) -> Result<()>;

    /// Returns what the driver compiled, in the form that it loads.
    fn binary(&self) -> Result<Vec<u8>>;

    /// Returns what a reader must know of that binary.
    fn remark(&self, _binary: &[u8]) -> &'static str {
        ""
    }
}

/// A buffer on the device that is copied to and from through the driver, by calls that wait.
trait DirectBuffer {
    fn write(&mut self, data: &[u8]) -> Result<()>;
    fn read(&self, data: &mut [u8]) -> Result<()>;
}

/// Opens the driver of a backend's device; `None` if this program does not call it directly.
fn direct(backend: &Backend) -> Option<Result<Box<dyn Direct>>> {
    if opencl::serves(backend) {
        return Some(opencl::Driver::open(backend).map(|driver| Box::new(driver) as _));
    }
    vulkan::serves(backend).then(|| vulkan::Driver::open(backend).map(|driver| Box::new(driver) as _))
}

fn compile(host: &Host, backend: &Backend) -> Result<std::sync::Arc<Artifact>> {
    let module = chipdock_script::parse(ADD, "add.py").map_err(|errors| errors.to_string())?;
    let compiled = host.compile(&module, &backend.target, &CompileOptions::default());
    Ok(compiled.map_err(|error| error.to_string())?.artifact)
}

/// Measures all selected figures of a device; those of launches, copies and second runs only if
/// this program can call its driver directly.
///
/// # Errors
///
/// A call fails. A measurement that needs the driver's own calls and fails is a figure without a
/// value instead.
pub fn measure(options: &Options, host: &Host, backend: &Backend) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if options.wants("device-time") {
        figures.extend(clock::measure(host, backend)?);
    }
    if backend.is_host() {
        return Ok(figures);
    }
    if options.wants("codegen") {
        figures.extend(codegen::measure(host, backend)?);
    }
    if cuda::serves(backend) {
        figures.extend(cuda::measure(options, host, backend)?);
        return Ok(figures);
    }
    let topics = ["launch", "copy", "second-run"].map(|topic| options.wants(topic));
    if topics == [false; 3] {
        return Ok(figures);
    }
    let Some(driver) = direct(backend) else { return Ok(figures) };
    let driver = match driver {
        Ok(driver) => driver,
        Err(why) => return Ok([figures, vec![missing(LAUNCH, &why)]].concat()),
    };
    let [launch, copy, second] = topics;
    let mut add = |name: &'static str, measured: Result<Vec<Figure>>| match measured {
        Ok(found) => figures.extend(found),
        Err(why) => figures.push(missing(name, &why)),
    };
    if launch {
        add(LAUNCH, launches(host, backend, &*driver));
    }
    if copy {
        add(TO_DEVICE, copies(backend, &*driver));
    }
    if second {
        add(SECOND, second_run(options, host, backend, &*driver).map(|figure| vec![figure]));
    }
    Ok(figures)
}

/// Measures kernels with the default schedule on all devices, in turn; returns each figure with its
/// target kind.
///
/// # Errors
///
/// A call fails.
pub fn measure_together(
    options: &Options,
    host: &Host,
    backends: &[Backend],
) -> Result<Vec<(String, Figure)>> {
    if options.wants("default-schedule") { schedule::measure(host, backends) } else { Ok(Vec::new()) }
}

const LAUNCH: &str = "a launch and a wait / the driver's own calls";
const QUEUED: &str = "a hundred launches queued, then a wait / the driver's own calls";
const APART: &str = "a hundred launches queued, then a wait / the driver's own submission of each";
const REPLAYED: &str = "a graph of a hundred launches replayed, then a wait / the driver's own calls";
const TO_DEVICE: &str = "the driver's rate of copies to the device / ours";
const FROM_DEVICE: &str = "the driver's rate of copies from the device / ours";
const SECOND: &str = "a cached program to its first result, ms more than the driver's own binary";

/// A figure that could not be measured.
fn missing(name: &'static str, why: &str) -> Figure {
    Figure { name, measured: format!("not measured: {why}"), value: f64::NAN, goal: None }
}

/// Compares a launch through a host function with all of its checks with setting arguments and
/// queueing the same kernel.
fn launches(host: &Host, backend: &Backend, driver: &dyn Direct) -> Result<Vec<Figure>> {
    let artifact = compile(host, backend)?;
    let bare = driver.kernel(&Program::from_artifact(&artifact)?, None)?;
    let loaded = host.load(&artifact).map_err(|error| error.to_string())?;
    let add = loaded.function("add").map_err(|error| error.to_string())?;
    let tensors = tensors(backend)?;
    let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
    let (mut failed, mut bare_failed) = (None, None);
    let mut figures = Vec::new();
    let has_submissions = bare.launch_apart().is_some();
    bare.wait()?;
    let contests = [(100, QUEUED, false), (1, LAUNCH, false), (100, APART, true)];
    for (queued, name, is_apart) in contests {
        if is_apart && !has_submissions {
            continue;
        }
        let ours = || {
            ns_per_call(200 / queued, || {
                let call = (0..queued).try_for_each(|_| add.call(&views).map(drop));
                failed = call.and_then(|()| backend.device.sync()).err().or(failed.take());
            }) / f64::from(queued)
        };
        let peer = || {
            ns_per_call(200 / queued, || {
                let launch = || match is_apart {
                    true => bare.launch_apart().unwrap_or(Ok(())),
                    false => bare.launch(),
                };
                let call = (0..queued).try_for_each(|_| launch());
                bare_failed = call.and_then(|()| bare.wait()).err().or(bare_failed.take());
            }) / f64::from(queued)
        };
        let (ours, peer, ratio) = duel(51, ours, peer);
        let measured = format!("{ratio:.3} ({:.2} µs / {:.2} µs)", ours / 1e3, peer / 1e3);
        let goal = Some(if is_apart { 0.5 } else { 1.1 });
        figures.push(Figure { name, measured, value: ratio, goal });
    }
    match failed.map(|error| error.to_string()).or(bare_failed) {
        Some(error) => return Err(error),
        None => figures.push(replayed(backend, &add, &tensors, &*bare)?),
    }
    Ok(figures)
}

/// Compares the replay of a graph of a hundred launches with queueing the same kernel so often.
fn replayed(
    backend: &Backend,
    add: &Function,
    tensors: &[Tensor],
    bare: &dyn DirectKernel,
) -> Result<Figure> {
    let text = |error: chipdock_host::Error| error.to_string();
    let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
    let parameters: Vec<&Tensor> = tensors.iter().collect();
    let recording = backend.device.begin_recording(&parameters).map_err(text)?;
    (0..100).try_for_each(|_| add.call(&views).map(drop)).map_err(text)?;
    let graph = recording.finish().map_err(text)?;
    let stream = backend.device.default_stream();
    let (mut failed, mut bare_failed) = (None, None);
    let ours = || {
        ns_per_call(2, || {
            // SAFETY: the tensors of the recording, on the one stream that uses them.
            let queued = unsafe { graph.replay(&stream, &parameters, Order::default()) };
            failed = queued.and_then(|()| stream.sync()).err().or(failed.take());
        }) / 100.0
    };
    let peer = || {
        ns_per_call(2, || {
            let call = (0..100).try_for_each(|_| bare.launch());
            bare_failed = call.and_then(|()| bare.wait()).err().or(bare_failed.take());
        }) / 100.0
    };
    let (ours, peer, ratio) = duel(51, ours, peer);
    if let Some(error) = failed.map(text).or(bare_failed) {
        return Err(error);
    }
    let by = if graph.is_native() { "by the plugin" } else { "by the host's list" };
    let measured = format!("{ratio:.3} ({:.2} µs / {:.2} µs, {by})", ours / 1e3, peer / 1e3);
    Ok(Figure { name: REPLAYED, measured, value: ratio, goal: Some(1.02) })
}

fn tensors(backend: &Backend) -> Result<Vec<Tensor>> {
    let tensor = |_| Tensor::zeros(&backend.device, &[ELEMENTS as i64], DType::FLOAT32);
    (0..3).map(tensor).collect::<std::result::Result<_, _>>().map_err(|error| error.to_string())
}

/// Compares copies of a large tensor, in both directions, with the driver's own blocking calls.
/// Goals are upper bounds: the driver's rate over ours.
fn copies(backend: &Backend, driver: &dyn Direct) -> Result<Vec<Figure>> {
    let mut buffer = driver.buffer(COPY_BYTES)?;
    let tensor = Tensor::empty(&backend.device, &[COPY_BYTES as i64], DType::UINT8)
        .map_err(|error| error.to_string())?;
    let data = vec![1_u8; COPY_BYTES];
    let mut failed: Option<String> = None;
    let mut figures = Vec::new();
    let rate = |seconds: f64| COPY_BYTES as f64 / seconds / 1e9;
    let to_device = {
        let failed = std::cell::RefCell::new(&mut failed);
        let note = |result: Result<()>| {
            if let Err(error) = result {
                **failed.borrow_mut() = Some(error);
            }
        };
        let ours = || timed(|| note(tensor.copy_from_bytes(&data).map_err(|error| error.to_string())));
        let peer = || timed(|| note(buffer.write(&data)));
        duel(21, ours, peer)
    };
    figures.push(copy_figure(TO_DEVICE, to_device, rate));
    let from_device = {
        let failed = std::cell::RefCell::new(&mut failed);
        let note = |result: Result<()>| {
            if let Err(error) = result {
                **failed.borrow_mut() = Some(error);
            }
        };
        let ours = || {
            timed(|| {
                note(
                    tensor
                        .to_bytes()
                        .map(|bytes| drop(std::hint::black_box(bytes)))
                        .map_err(|error| error.to_string()),
                )
            })
        };
        // New memory each time, because `to_bytes` also returns new memory.
        let peer = || timed(|| note(buffer.read(&mut std::hint::black_box(vec![0; COPY_BYTES]))));
        duel(21, ours, peer)
    };
    figures.push(copy_figure(FROM_DEVICE, from_device, rate));
    failed.map_or(Ok(figures), Err)
}

fn copy_figure(
    name: &'static str,
    (ours, peer, ratio): (f64, f64, f64),
    rate: impl Fn(f64) -> f64,
) -> Figure {
    let measured = format!("{ratio:.3} ({:.2} GB/s of {:.2} GB/s)", rate(ours), rate(peer));
    Figure { name, measured, value: ratio, goal: Some(1.0 / 0.95) }
}

fn timed(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// Measures the time to the first result of a program that an earlier process built, compared with
/// loading the driver's own binary: each in a process of its own, after the device was opened.
fn second_run(options: &Options, host: &Host, backend: &Backend, driver: &dyn Direct) -> Result<Figure> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let artifact = compile(host, backend)?;
    artifact.save(&folder.path().join("artifact")).map_err(|error| error.to_string())?;
    let kernel = driver.kernel(&Program::from_artifact(&artifact)?, None)?;
    let binary = kernel.binary()?;
    std::fs::write(folder.path().join("binary"), &binary).map_err(|error| error.to_string())?;
    let child = |who: &str| -> Result<f64> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args([SECOND_RUN, who, &backend.target.kind]).arg(folder.path()).arg(&options.plugins);
        command.env("CHIPDOCK_CACHE_DIR", folder.path().join("cache"));
        let output = command.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        said.parse().map_err(|_| format!("{who}: {said}{}", String::from_utf8_lossy(&output.stderr)))
    };
    // The first run fills the cache.
    child("ours")?;
    child("driver")?;
    let pairs = (0..11).map(|_| Ok((child("ours")?, child("driver")?))).collect::<Result<Vec<_>>>()?;
    let more = median(pairs.iter().map(|(ours, peer)| ours - peer).collect());
    let [ours, peer] = [0, 1]
        .map(|which| median(pairs.iter().map(|pair| if which == 0 { pair.0 } else { pair.1 }).collect()));
    Ok(Figure {
        name: SECOND,
        measured: format!("{more:.2} ({ours:.2} ms, {peer:.2} ms{})", kernel.remark(&binary)),
        value: more,
        goal: Some(10.0),
    })
}

/// Measures one second run in the process started with [`SECOND_RUN`]; returns the milliseconds
/// from the file to the first result.
///
/// # Errors
///
/// A call fails.
pub fn second_run_once(arguments: &[String]) -> Result<f64> {
    let [who, kind, folder, plugins] = arguments else {
        return Err("four arguments are expected".to_owned());
    };
    let folder = Path::new(folder);
    let host = backends::open_host(Path::new(plugins))?;
    let (present, _) = backends::present(&host)?;
    let backend =
        present.into_iter().find(|backend| backend.target.kind == *kind).ok_or("no such backend")?;
    if who == "ours" {
        let tensors = tensors(&backend)?;
        let views: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
        let start = Instant::now();
        let artifact = Artifact::open(&folder.join("artifact")).map_err(|error| error.to_string())?;
        let loaded = host.load(&std::sync::Arc::new(artifact)).map_err(|error| error.to_string())?;
        let add = loaded.function("add").map_err(|error| error.to_string())?;
        add.call(&views).and_then(|_| backend.device.sync()).map_err(|error| error.to_string())?;
        return Ok(start.elapsed().as_secs_f64() * 1e3);
    }
    let artifact = Artifact::open(&folder.join("artifact")).map_err(|error| error.to_string())?;
    let driver = direct(&backend).ok_or("this program does not call that driver")??;
    let program = Program::from_artifact(&artifact)?;
    let start = Instant::now();
    let binary = std::fs::read(folder.join("binary")).map_err(|error| error.to_string())?;
    let kernel = driver.kernel(&program, Some(&binary))?;
    kernel.launch().and_then(|()| kernel.wait())?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
