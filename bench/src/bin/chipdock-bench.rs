//! `cargo xtask bench`: measures ratios against a bare call and the machine's own limits, with the
//! contenders in turn; with `--peers`, kernels against peers ([`chipdock_bench::speed`]).

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chipdock_bench::contest::{duel, median, ns_per_call};
use chipdock_bench::device::Figure;
use chipdock_bench::options::Options;
use chipdock_bench::packed::{self, ADD_16, Packed};
use chipdock_bench::speed::{figures, run::bench as bench_peers};
use chipdock_bench::{Result, cached, device, export, fork, limits};
use chipdock_host::{Host, HostOptions, Tensor};
use chipdock_ir::{DType, TargetCapabilities};
use chipdock_passes::{LowerOptions, lower};
use chipdock_test_backends::backends::{self, Absent, Backend};
use chipdock_test_backends::cases::{CASES, Case, arguments, symbols};
use chipdock_test_backends::run;
use comfy_table::{Table, presets};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, command @ ..] = arguments.as_slice()
        && flag == PEAK_MEMORY
    {
        return peak_memory(command);
    }
    if let [flag, of @ ..] = arguments.as_slice()
        && flag == device::SECOND_RUN
    {
        return exit(device::second_run_once(of).map(|ms| println!("{ms}")));
    }
    if let [flag, kind, plugins] = arguments.as_slice()
        && flag == figures::FIRST_BUILD
    {
        return exit(figures::first_build(kind, Path::new(plugins)).map(|answer| println!("{answer}")));
    }
    exit(Options::parse(arguments).and_then(|options| match options.peers {
        false => bench(&options),
        true => match bench_peers(&options)? {
            0 => Ok(()),
            failures => Err(format!("{failures} contenders failed; the table says who and why")),
        },
    }))
}

fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One line of the report: a figure and its goal.
#[derive(Default)]
struct Line {
    name: &'static str,
    /// The target kind that was measured; empty if the figure belongs to none.
    on: String,
    measured: String,
    value: f64,
    goal: Option<f64>,
}

impl Line {
    /// Makes the line of a figure that was measured on a target kind, or on several.
    fn new(on: String, figure: Figure) -> Self {
        let Figure { name, measured, value, goal } = figure;
        Self { name, on, measured, value, goal }
    }

    /// Compares the figure with its goal, which is an upper bound.
    fn verdict(&self) -> &'static str {
        match self.goal {
            None => "for information",
            Some(goal) if self.value <= goal => "reached",
            Some(_) => "not reached",
        }
    }
}

/// Names of the measurements; filters are parts of these names.
const TOPICS: &[&str] = &[
    "device-time",
    "codegen",
    "launch",
    "copy",
    "second-run",
    "default-schedule",
    "elementwise",
    "call",
    "export",
    "cache-hit",
    "matmul",
    "pool",
    "fork-join",
    "script",
    "list",
];

fn bench(options: &Options) -> Result<()> {
    options.check_filters(TOPICS)?;
    let mut lines = Vec::new();
    let host = backends::open_host(&options.plugins)?;
    let (present, absent) = backends::present(&host)?;
    for Absent { kind, reason } in absent {
        eprintln!("not here: {kind}: {reason}");
    }
    for backend in &present {
        let own = lines_of_backend(options, &host, backend)?;
        lines.extend(own.into_iter().map(|line| Line { on: backend.target.kind.clone(), ..line }));
    }
    let together = device::measure_together(options, &host, &present)?;
    lines.extend(together.into_iter().map(|(on, figure)| Line::new(on, figure)));
    if options.wants("export") {
        let figures = export::measure(options, &host, &present)?;
        lines.extend(figures.into_iter().map(|(on, figure)| Line::new(on, figure)));
    }
    if options.wants("pool") {
        lines.push(pool(&host)?);
    }
    if options.wants("fork-join") {
        lines.extend(fork_join()?);
    }
    if options.wants("script") {
        lines.push(script()?);
    }
    if options.wants("list") {
        lines.extend(list(options)?);
    }
    report(options, &lines);
    Ok(())
}

fn lines_of_backend(options: &Options, host: &Host, backend: &Backend) -> Result<Vec<Line>> {
    let figures = device::measure(options, host, backend)?.into_iter();
    let on = || backend.target.kind.clone();
    let mut lines: Vec<Line> = figures.map(|figure| Line::new(on(), figure)).collect();
    // The remaining figures are of code that runs on the host itself.
    if backend.is_host() {
        if options.wants("call") {
            lines.extend(packed_call(host, backend)?);
        }
        if options.wants("cache-hit") {
            lines.extend(cache_hit(host, backend)?);
        }
        if options.wants("matmul") {
            lines.push(matmul(host, backend)?);
        }
    }
    Ok(lines)
}

fn report(options: &Options, lines: &[Line]) {
    if options.json {
        println!("{}", to_json(lines));
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(["what", "on", "measured", "goal", ""]);
    for line in lines {
        let goal =
            line.goal.map(|goal| format!("at most {}", (goal * 1e3).round() / 1e3)).unwrap_or_default();
        table.add_row([line.name, &line.on, &line.measured, &goal, line.verdict()]);
    }
    println!("{table}");
}

/// Returns the report as JSON. Schema: `bench/schemas/bench.schema.json`.
fn to_json(lines: &[Line]) -> Value {
    let line = |line: &Line| {
        json!({"name": line.name, "on": line.on, "measured": line.measured, "value": line.value,
               "goal": line.goal, "verdict": line.verdict()})
    };
    json!({"schema": "chipdock.bench/1", "lines": lines.iter().map(line).collect::<Vec<_>>()})
}

/// Compares a packed call with every check with a call of the same loop compiled by the system's
/// compiler alone.
fn packed_call(host: &Host, backend: &Backend) -> Result<Vec<Line>> {
    let module = chipdock_script::parse(ADD_16, "add.py").map_err(|errors| errors.to_string())?;
    let loaded = run::build(host, backend, &module)?;
    let bare = packed::compile_bare()?;
    let tensors = packed::tensors(backend)?;
    let mut lines = Vec::new();
    let names = [
        ("add", "packed call of a 16-element add, fixed size / bare call"),
        ("add_n", "packed call of a 16-element add, symbolic size / bare call"),
    ];
    for (function, name) in names {
        let callable = loaded.function(function).map_err(|error| error.to_string())?;
        let ours = Packed::new(&callable, &tensors);
        // SAFETY: a function of a loaded module.
        let ours = || unsafe { ours.ns() };
        let mut data = [[0.0_f32; 16]; 3];
        let [a, b, c] = &mut data;
        // SAFETY: the library just compiled holds this function with this signature.
        let bare: libloading::Symbol<'_, unsafe extern "C" fn(*const f32, *const f32, *mut f32, i32)> =
            unsafe { bare.get(function) }.map_err(|error| error.to_string())?;
        let bare = || {
            ns_per_call(20_000, || {
                // SAFETY: all three pointers are to arrays of 16 floats.
                unsafe { bare(a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), std::hint::black_box(16)) }
            })
        };
        let (ours, peer, ratio) = duel(51, ours, bare);
        let measured = format!("{ratio:.2} ({ours:.1} ns / {peer:.1} ns)");
        lines.push(Line { name, measured, value: ratio, goal: Some(2.2), ..Line::default() });
    }
    Ok(lines)
}

/// Measures the time from a module to a callable function if its build is in the compile cache.
fn cache_hit(host: &Host, backend: &Backend) -> Result<Option<Line>> {
    let name = "compile-cache hit of the add until it is callable, library open, ms";
    Ok(cached::measure(host, backend)?.map(|hit| Line {
        name,
        measured: format!("{:.2} (compile {:.2}, load {:.2})", hit.callable_ms, hit.compile_ms, hit.load_ms),
        value: hit.callable_ms,
        goal: Some(1.0),
        ..Line::default()
    }))
}

/// Compares the scheduled matmul with the fused multiply-add peak of one thread of the machine,
/// measured in turn.
fn matmul(host: &Host, backend: &Backend) -> Result<Line> {
    let case: &Case =
        CASES.iter().find(|case| case.file == "matmul_scheduled").ok_or("no scheduled matmul")?;
    // Compiled into the program, because the program also runs on machines without a checkout.
    let text = include_str!("../../../examples/kernels/matmul_scheduled.py");
    let module = chipdock_script::parse(text, "matmul_scheduled.py").map_err(|errors| errors.to_string())?;
    let function = module.function(case.function).ok_or("no function in the scheduled matmul")?;
    let loaded =
        run::build(host, backend, &module)?.function(case.function).map_err(|error| error.to_string())?;
    let values = run::upload(backend, &arguments(function, &symbols(case.time))?)?;
    run::call(&loaded, &values)?;
    let (mut rates, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let start = Instant::now();
        run::call(&loaded, &values)?;
        rates.push(case.amount(function, case.time) / start.elapsed().as_secs_f64() / 1e9);
        peaks.push(limits::fma_peak_gflops(5));
    }
    let share = median(rates.iter().zip(&peaks).map(|(rate, peak)| rate / peak).collect());
    let measured = format!("{:.0} of {:.0} GFLOP/s, {:.0} %", median(rates), median(peaks), 100.0 * share);
    Ok(Line {
        name: "scheduled matmul 1024³ beside the FMA peak of one thread",
        measured,
        value: share,
        ..Line::default()
    })
}

/// Measures allocation and release of a tensor from the warm pool.
fn pool(host: &Host) -> Result<Line> {
    let device = host.device("cpu", 0).map_err(|error| error.to_string())?;
    let mut failed = None;
    let mut once = || {
        ns_per_call(20_000, || {
            if let Err(error) = Tensor::empty(&device, &[1 << 18], DType::FLOAT32) {
                failed = Some(error.to_string());
            }
        })
    };
    once();
    let ns = median((0..51).map(|_| once()).collect());
    if let Some(error) = failed {
        return Err(error);
    }
    let name = "allocation and release of a 1 MiB tensor from the warm pool, ns";
    Ok(Line { name, measured: format!("{ns:.1}"), value: ns, goal: Some(50.0), ..Line::default() })
}

/// Measures a parallel region of two tasks in which both threads take part, with the other thread
/// awake and asleep.
fn fork_join() -> Result<Vec<Line>> {
    let host = Host::new(HostOptions { threads: Some(2), ..HostOptions::isolated() });
    let host = host.map_err(|error| error.to_string())?;
    let launch = || fork::launch(&host);
    launch();
    // Short rounds, because on a busy machine most of them are undisturbed.
    let hot = median((0..1001).map(|_| ns_per_call(100, launch)).collect());
    let parked = |_| {
        std::thread::sleep(Duration::from_millis(2));
        ns_per_call(1, launch)
    };
    let parked = median((0..201).map(parked).collect());
    let line =
        |name, ns: f64, goal| Line { name, measured: format!("{ns:.0}"), value: ns, goal, ..Line::default() };
    Ok(vec![
        line("fork-join of two threads, hot, ns", hot, Some(1000.0)),
        line("fork-join of two threads, one asleep, ns", parked, None),
    ])
}

/// Measures reading and lowering for a host of each script of the corpus, and reports the slowest.
fn script() -> Result<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut longest = 0.0_f64;
    let mut measured = String::new();
    for folder in ["host/conformance/kernels/tvm", "tests/filetests/corpus/lowered"] {
        for entry in fs::read_dir(root.join(folder)).map_err(|error| error.to_string())?.flatten() {
            let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (lowers, ms) = read_and_lower(&text)?;
            if ms > longest {
                longest = ms;
                let what = if lowers { "read and lowered" } else { "read" };
                measured = format!("{ms:.2} ({name}, {} bytes, {what})", text.len());
            }
        }
    }
    let name = "reading and lowering the slowest script of the corpus, ms";
    Ok(Line { name, measured, value: longest, goal: Some(5.0), ..Line::default() })
}

/// Returns whether a script can be lowered for a host, and the median time in ms of reading and
/// lowering it. A script that is already lowered, or bound to threads, is only read.
fn read_and_lower(text: &str) -> Result<(bool, f64)> {
    let capabilities = Arc::new(host_capabilities());
    let once = || -> Result<(bool, f64)> {
        let start = Instant::now();
        let module = chipdock_script::parse(text, "kernel.py").map_err(|errors| errors.to_string())?;
        let lowered = lower(&module, &LowerOptions::new(Arc::clone(&capabilities)));
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok((lowered.is_ok(), ms))
    };
    let (lowers, _) = once()?;
    let times = (0..51).map(|_| once().map(|(_, ms)| ms)).collect::<Result<Vec<f64>>>()?;
    Ok((lowers, median(times)))
}

/// Returns the capabilities of a generic host.
fn host_capabilities() -> TargetCapabilities {
    TargetCapabilities::host("host")
}

/// Measures time and memory of listing eight plugins with the command, and checks that the command
/// opens none of them.
fn list(options: &Options) -> Result<Vec<Line>> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let plugins = folder.path().join("eight");
    fs::create_dir(&plugins).map_err(|error| error.to_string())?;
    eight_plugins(&options.plugins, &plugins)?;
    // In a folder without plugins beside the command, because those would be listed too.
    let alone = folder.path().join("chipdock");
    fs::copy(&options.command, &alone).map_err(|error| error.to_string())?;
    let list = || {
        let mut command = Command::new(&alone);
        command.args(["plugins", "--plugin"]).arg(&plugins).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", folder.path());
        command
    };
    let trace = list().env("LD_DEBUG", "files").output().map_err(|error| error.to_string())?;
    if String::from_utf8_lossy(&trace.stderr).contains("chipdock_plugin") {
        return Err("listing opened a plugin".to_owned());
    }
    let text = String::from_utf8_lossy(&trace.stdout);
    let (shown, all) = (text.matches("eight-").count(), text.lines().count().saturating_sub(1));
    if (shown, all) != (8, 8) {
        return Err(format!("expected a list of eight plugins, found {all}, {shown} of them the right ones"));
    }
    let once = || {
        let start = Instant::now();
        let _ = list().output();
        start.elapsed().as_secs_f64() * 1e3
    };
    once();
    let ms = median((0..51).map(|_| once()).collect());
    let listing = list();
    let mut measure = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    measure.arg(PEAK_MEMORY).arg(listing.get_program()).args(listing.get_args());
    let kib = measure.output().map_err(|error| error.to_string())?.stderr;
    let kib: f64 =
        String::from_utf8_lossy(&kib).trim().parse().map_err(|_| "the peak memory was not measured")?;
    let mib = kib / 1024.0;
    Ok(vec![
        Line {
            name: "listing eight plugins, ms",
            measured: format!("{ms:.2}"),
            value: ms,
            goal: Some(3.0),
            ..Line::default()
        },
        Line {
            name: "listing eight plugins, MiB",
            measured: format!("{mib:.1}"),
            value: mib,
            goal: Some(8.0),
            ..Line::default()
        },
    ])
}

/// Argument that makes this program measure the memory of another program. The peak of a child
/// begins with its parent's, so the parent must be a fresh, small process.
const PEAK_MEMORY: &str = "--peak-memory-of";

/// Runs a command and prints the peak of its resident memory in KiB on stderr.
fn peak_memory(command: &[String]) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else { return ExitCode::FAILURE };
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status();
    // SAFETY: `rusage` is plain data, for which all zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is live and writable. The usage is that of the only child, which has ended.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    eprintln!("{}", usage.ru_maxrss);
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Copies the plugins of a folder, repeated in turn, under eight names.
fn eight_plugins(from: &Path, to: &Path) -> Result<()> {
    let entries = fs::read_dir(from).map_err(|error| error.to_string())?;
    let mut manifests: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".chipdock.json"))
        .collect();
    manifests.sort();
    for index in 0..8 {
        let manifest = manifests.get(index % manifests.len().max(1)).ok_or("no manifest to copy")?;
        let library = manifest.with_extension("").with_extension("so");
        let stem = format!("libchipdock_plugin_{index}");
        let text = fs::read_to_string(manifest).map_err(|error| error.to_string())?;
        let mut json: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        json["name"] = format!("eight-{index}").into();
        fs::write(to.join(format!("{stem}.chipdock.json")), json.to_string())
            .map_err(|error| error.to_string())?;
        fs::copy(&library, to.join(format!("{stem}.so")))
            .map_err(|error| format!("{}: {error}", library.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_keeps_its_schema() {
        let line = |value, goal| Line { name: "a figure, ms", value, goal, ..Line::default() };
        let lines = [line(1.0, None), line(1.0, Some(2.0)), line(3.0, Some(2.0)), line(f64::NAN, None)];
        chipdock_test_support::schemas::check(&to_json(&lines));
        chipdock_test_support::schemas::check(&to_json(&[]));
    }
}
