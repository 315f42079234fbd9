//! Checks that the time of each stage grows linearly with the text, not quadratically: scripts of n
//! and of 8 n functions, parameters, buffers or statements, from reading to packed host functions
//! and kernels, and their wire format. Eight times the text takes eight times the processor time of
//! this thread, more if the caches no longer hold it, and 64 times if each item looks at all
//! others; the tests limit each stage to 24 times. A stage that takes less than [`NOTICED`] is not
//! judged.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use chipdock_ir::validate::validate;
use chipdock_ir::{IrModule, Op, Stage, Target, TargetCapabilities, ThreadAxis, attr, print, wire};
use chipdock_passes::{DEVICE_PIPELINE, PIPELINE};
use rustix::time::{ClockId, clock_gettime};

/// Ratio of the lengths of the two texts.
const FACTOR: usize = 8;
/// Largest ratio of the times.
const RATIO_MAX: f64 = 24.0;
/// Shortest time of a stage that is judged: shorter times are mostly noise.
const NOTICED: Duration = Duration::from_millis(60);

/// A host whose code launches parallel regions.
fn host() -> TargetCapabilities {
    TargetCapabilities::host("host-kind").with(|it| it.execution.native_ops = vec![Op::ParallelLaunch])
}

/// A device with threads, without pointers that are values and long vectors.
fn device() -> TargetCapabilities {
    TargetCapabilities::host("host-kind").with(|it| {
        it.target = Arc::new(Target { kind: "device-kind".into(), ..Target::default() });
        it.device.device_type = 2;
        it.device.name = "device".into();
        it.stage = Stage::Device;
        it.is_host = false;
        it.execution.thread_axes = ThreadAxis::ALL.iter().map(|(axis, _)| *axis).collect();
        it.memory.storage_scopes = ["global", "shared", "local"].map(Into::into).to_vec();
        it.limits.threads_per_block_max = Some(256);
        it.memory.shared_memory_bytes_max = Some(4096);
        it.execution.warp_size = Some(32);
        it.memory.fixed_pointers = true;
        it.memory.scalar_arguments = true;
        it.types.lanes_max = 4;
    })
}

/// Time that this thread has run: others of the machine do not count.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// Times of stages by name, in order; a pass that runs twice is one stage.
#[derive(Default)]
struct Times(Vec<(String, Duration)>);

impl Times {
    fn of<T>(&mut self, stage: &str, run: impl FnOnce() -> T) -> T {
        let start = thread_time();
        let result = run();
        let took = thread_time() - start;
        match self.0.iter_mut().find(|(name, _)| name == stage) {
            Some((_, time)) => *time += took,
            None => self.0.push((stage.to_owned(), took)),
        }
        result
    }
}

/// The whole way of a script, stage by stage.
fn whole_way(text: &str, all_capabilities: &[(&str, TargetCapabilities)]) -> Times {
    let mut times = Times::default();
    let module = times.of("read", || chipdock_script::parse(text, "growth.py")).unwrap();
    times.of("validate", || validate(&module, Stage::Blocks)).unwrap();
    times.of("print", || print::module(&module));
    for (name, capabilities) in all_capabilities {
        lowered(&mut times, name, &module, capabilities);
    }
    times
}

fn lowered(times: &mut Times, target: &str, module: &IrModule, capabilities: &TargetCapabilities) {
    let mut module = module.clone();
    let last = if capabilities.is_host { Stage::Host } else { Stage::Device };
    for (_, name, pass) in PIPELINE.iter().filter(|(stage, ..)| *stage <= last) {
        module = times.of(&format!("{target}: {name}"), || pass(&module, capabilities)).unwrap();
    }
    if !capabilities.is_host {
        module.functions.retain(|function| function.attrs.contains_key(attr::TARGET));
    }
    for (name, pass) in DEVICE_PIPELINE.iter().filter(|_| !capabilities.is_host) {
        module = times.of(&format!("{target}: {name}"), || pass(&module, capabilities)).unwrap();
    }
    times.of(&format!("{target}: validate"), || validate(&module, last)).unwrap();
    let bytes = times.of(&format!("{target}: write wire"), || wire::write(&module)).unwrap();
    times.of(&format!("{target}: read wire"), || wire::read(&bytes)).unwrap();
}

/// Checks that the time of every stage grows from `text(n)` to `text(8 n)` by at most
/// [`RATIO_MAX`].
fn grows_no_faster(n: usize, text: impl Fn(usize) -> String) {
    grows_on(n, text, &[("host", host()), ("device", device())]);
}

fn grows_on(n: usize, text: impl Fn(usize) -> String, all_capabilities: &[(&str, TargetCapabilities)]) {
    let slow = || {
        let [few, many] = [n, FACTOR * n].map(|n| least(&text(n), all_capabilities));
        let mut slow = String::new();
        for ((stage, before), (_, after)) in few.iter().zip(&many) {
            let ratio = after.as_secs_f64() / before.as_secs_f64().max(1e-9);
            if *after >= NOTICED && ratio > RATIO_MAX {
                writeln!(slow, "{stage}: {before:?} for {n}, {after:?} for {}: {ratio:.1} times", FACTOR * n)
                    .unwrap();
            }
            println!("{stage}: {before:?}, {after:?}, {ratio:.1}");
        }
        slow
    };
    let found = slow();
    // Another test that takes the caches for a while does not do so twice.
    let found = if found.is_empty() { found } else { slow() };
    assert!(found.is_empty(), "{FACTOR} times the text takes more than {RATIO_MAX} times as long:\n{found}");
}

/// Returns the least time of each stage in three runs.
fn least(text: &str, all_capabilities: &[(&str, TargetCapabilities)]) -> Vec<(String, Duration)> {
    let runs: Vec<Times> = (0..3).map(|_| whole_way(text, all_capabilities)).collect();
    let stages = runs[0].0.iter().enumerate();
    let least = |stage: usize| runs.iter().map(|times| times.0[stage].1).min().unwrap_or_default();
    stages.map(|(stage, (name, _))| (name.clone(), least(stage))).collect()
}

fn many(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// A function over `A` and `n` with these statements.
fn function(body: &str) -> String {
    format!("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((100000,), \"float32\"), n: T.int32):\n{body}")
}

#[test]
fn with_functions() {
    grows_no_faster(60, |n| {
        let one = |i: usize| {
            format!(
                "    @T.prim_func(s_tir=True)\n    def f{i}(A: T.Buffer((16,), \"float32\"), n: T.int32):\n        for i in \
                 range(16):\n            A[i] = A[i] + T.float32({i})\n"
            )
        };
        format!("@I.ir_module\nclass Module:\n{}", many(n, one))
    });
}

#[test]
fn with_functions_that_call_each_other() {
    // Callees behind their callers: what looks for one whose callees are all known finds the last
    // one first.
    grows_on(
        250,
        |n| {
            let one = |i: usize| {
                let value = if i + 1 < n { format!("Module.g{}(x + 1)", i + 1) } else { "x".to_owned() };
                format!(
                    "    @T.prim_func(private=True)\n    def g{i}(x: T.int32) -> T.int32:\n        return {value}\n"
                )
            };
            let uses = many(n, |i| format!("        A[{i}] = Module.g{i}(A[{i}])\n"));
            format!(
                "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def use(A: T.Buffer((100000,), \"int32\")):\n{uses}{}",
                many(n, one)
            )
        },
        // Who can be relied on for what is asked where there are threads.
        &[("device", device())],
    );
}

#[test]
fn with_scalar_parameters() {
    grows_no_faster(120, |n| {
        let params = many(n, |i| format!(", p{i}: T.int32"));
        let body = many(n, |i| format!("    A[{i}] = p{i}\n"));
        format!("@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((100000,), \"int32\"){params}):\n{body}")
    });
}

#[test]
fn with_tensor_parameters_and_sizes() {
    grows_on(
        100,
        |n| {
            let params = many(n, |i| format!("A{i}: T.Buffer((\"n{i}\", \"n{}\"), \"float32\"), ", i / 2));
            let body = many(n, |i| format!("    A{i}[0, 0] = T.float32(1)\n"));
            format!("@T.prim_func(s_tir=True)\ndef f({params}):\n{body}")
        },
        // The device of these tests takes few arguments.
        &[("host", host())],
    );
}

#[test]
fn with_buffers() {
    grows_no_faster(250, |n| {
        let allocated = many(n, |i| format!("    B{i} = T.alloc_buffer((4,), \"float32\")\n"));
        let used = many(n, |i| format!("    B{i}[0] = A[{i}]\n"));
        let read = many(n, |i| format!("    A[{i}] = B{i}[0]\n"));
        function(&format!("{allocated}{used}{read}"))
    });
}

#[test]
fn with_buffers_one_after_the_other() {
    grows_no_faster(250, |n| {
        function(&many(n, |i| {
            let size = i % 200 + 1;
            format!(
                "    B{i} = T.alloc_buffer(({size},), \"float32\")\n    B{i}[0] = A[{i}]\n    A[{i}] = B{i}[0]\n"
            )
        }))
    });
}

#[test]
fn with_statements() {
    grows_no_faster(500, |n| function(&many(n, |i| format!("    A[{i}] = A[{i}] + T.float32(1)\n"))));
}

#[test]
fn with_loops() {
    grows_no_faster(250, |n| {
        function(&many(n, |i| format!("    for i in range(16):\n        A[i + {i}] = A[i] + T.float32(1)\n")))
    });
}

#[test]
fn with_names_and_conditions() {
    grows_no_faster(250, |n| {
        function(&many(n, |i| {
            format!("    v{i}: T.let = n * {i} + n\n    if v{i} > {i}:\n        A[{i}] = T.float32(1)\n")
        }))
    });
}
