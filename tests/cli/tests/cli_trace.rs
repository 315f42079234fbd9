//! Tests of `--trace` and `--verbose`. Rules CLI-C1 to CLI-C13 are those of the command's front
//! page, SP1 to SP5 those of `chipdock_host::trace`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use chipdock_test_support::command::{Ended, Scratch, end, opened_does};
use serde_json::{Value, json};

const RUN: &str = "run vector_add.py --target c --set n=1000";

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    scratch
}

/// A span of a trace, in the order in which they begin.
#[derive(Debug)]
struct Span {
    name: String,
    thread: u64,
    /// Fields that were known at its beginning and at its end.
    args: BTreeMap<String, Value>,
    /// The names of the spans that it is in, the outermost first.
    within: Vec<String>,
    begin: f64,
    end: Option<f64>,
}

/// A trace, as "Trace Event Format" has it.
struct Trace {
    spans: Vec<Span>,
    instants: Vec<Value>,
    threads: BTreeMap<u64, String>,
}

impl Trace {
    fn read(scratch: &Scratch, name: &str) -> Self {
        let text = std::fs::read_to_string(scratch.path(name)).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(file["displayTimeUnit"], "ms");
        let mut trace = Self { spans: Vec::new(), instants: Vec::new(), threads: BTreeMap::new() };
        let (mut open, mut last) = (BTreeMap::<u64, Vec<usize>>::new(), BTreeMap::new());
        let args = |event: &Value| event["args"].as_object().cloned().unwrap_or_default();
        for event in file["traceEvents"].as_array().unwrap() {
            let (thread, ts) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
            assert!(event["pid"].as_u64().is_some() && ts >= 0.0, "{event}");
            let open = open.entry(thread).or_default();
            let text = |name: &str| event[name].as_str().unwrap_or_else(|| panic!("{event}")).to_owned();
            match event["ph"].as_str().unwrap() {
                "M" => {
                    assert_eq!(event["name"], "thread_name");
                    trace.threads.insert(thread, event["args"]["name"].as_str().unwrap().to_owned());
                    continue;
                }
                "B" => {
                    assert!(text("cat").starts_with("chipdock"), "{event}");
                    let within = open.iter().map(|index| trace.spans[*index].name.clone()).collect();
                    let (name, args) = (text("name"), args(event).into_iter().collect());
                    open.push(trace.spans.len());
                    trace.spans.push(Span { name, thread, args, within, begin: ts, end: None });
                }
                "E" => {
                    let span = &mut trace.spans[open.pop().expect("SP2: a span that began ends")];
                    assert!(ts >= span.begin, "{event}");
                    span.end = Some(ts);
                    span.args.extend(args(event));
                }
                "i" => {
                    assert_eq!(event["s"], "t", "{event}");
                    trace.instants.push(event.clone());
                }
                other => panic!("{other}: {event}"),
            }
            let last = last.entry(thread).or_insert(0.0);
            assert!(ts >= *last, "the events of a thread are in order: {event}");
            *last = ts;
        }
        trace
    }

    fn find(&self, name: &str) -> &Span {
        self.spans
            .iter()
            .find(|span| span.name == name)
            .unwrap_or_else(|| panic!("{name}: {:#?}", self.names()))
    }

    fn names(&self) -> Vec<&str> {
        self.spans.iter().map(|span| span.name.as_str()).collect()
    }

    fn passes(&self) -> Vec<&str> {
        self.names().into_iter().filter_map(|name| name.strip_prefix("pass ")).collect()
    }
}

/// The passes of a target that has host functions, which takes them at the last stage.
const PASSES: &[&str] = &[
    "bind_target",
    "apply_schedules",
    "default_schedule",
    "split_reductions",
    "lower_cross_thread_reduction",
    "compact_buffer_allocation",
    "lower_blocks",
    "rescope_memory",
    "inject_virtual_thread",
    "bind_offsets",
    "flatten_buffers",
    "simplify",
    "lower_storage_types",
    "vectorize",
    "unroll",
    "simplify",
    "storage_rewrite",
    "verify_memory",
    "lower_warp_memory",
    "thread_sync",
    "lower_thread_allreduce",
    "merge_shared_memory",
    "split_host_device",
    "verify_limits",
    "make_packed_api",
    "outline_parallel",
    "ask_to_go_on",
    "lower_workspace",
    "lower_intrinsics",
    "simplify",
];

/// CLI-C13, SP2, SP3: spans nest, every pass is there, and a plugin's calls have its name.
#[test]
fn cli_c13_a_trace_shows_the_compile_and_the_run() {
    let scratch = scratch();
    let plain = scratch.run(&format!("{RUN} --json"));
    let ended = scratch.run(&format!("{RUN} --json --trace trace.json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(ended.json()["arguments"], plain.json()["arguments"], "CLI-C13: no result changes");
    let trace = Trace::read(&scratch, "trace.json");
    assert!(trace.spans.iter().all(|span| span.end.is_some()), "all that began has ended");
    assert_eq!(trace.passes(), PASSES);
    let pass = trace.find("pass make_packed_api");
    assert_eq!(pass.within, ["command run", "compile c", "lower host"]);
    let [before, after] = ["functions", "functions_after"].map(|name| pass.args[name].as_u64().unwrap());
    assert!(before == 1 && after > 1, "{:?}", pass.args);
    for (name, within) in [
        ("discover", "command run"),
        ("read vector_add.py", "command run"),
        ("open_plugin c", "target"),
        ("plugin_call init", "open_plugin c"),
        ("plugin_call target.kind.c: canonicalize", "target"),
        ("validate", "compile c"),
        ("write_ir c", "compile c"),
        ("plugin_call target.build.c: build", "build c"),
        ("plugin_call module.load.c: load", "load c"),
        ("plugin_call module.load.c: function", "find_function vector_add"),
        ("call vector_add", "round"),
    ] {
        let mut spans = trace.spans.iter().filter(|span| span.name == name);
        let span = spans.find(|span| span.within.iter().any(|outer| outer == within));
        let span = span.unwrap_or_else(|| panic!("no {name} within {within}: {:?}", trace.names()));
        if name.starts_with("plugin_call") || name.starts_with("call") {
            assert_eq!(span.args["plugin"], "c", "SP3: {span:?}");
        }
    }
    let first = trace.spans[0].thread;
    assert_eq!(trace.threads[&first], "main");
    let opening = trace.instants.iter().find(|event| event["name"].as_str().unwrap().starts_with("opening "));
    assert_eq!(opening.unwrap()["args"]["level"], "debug", "SP4");
    // A second one replaces it.
    assert_eq!(scratch.run("build vector_add.py --target c --trace trace.json").code, Some(0));
    let again = Trace::read(&scratch, "trace.json");
    assert_eq!((again.passes(), again.names()[0]), (PASSES.to_vec(), "command build"));
}

/// CLI-C13: tasks of a parallel loop are on the threads that run them.
#[test]
fn cli_c13_a_trace_shows_parallel_loops() {
    let scratch = Scratch::new();
    scratch.kernel("matmul_scheduled.py");
    let words = "run matmul_scheduled.py --target c --threads 2 --repeat 20 --trace trace.json";
    let ended = scratch.run(words);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let trace = Trace::read(&scratch, "trace.json");
    let tasks: Vec<&Span> = trace.spans.iter().filter(|span| span.name == "task").collect();
    let numbers: BTreeSet<u64> = tasks.iter().map(|span| span.args["task"].as_u64().unwrap()).collect();
    assert_eq!(numbers, BTreeSet::from([0, 1]), "{:?}", trace.names());
    let threads: BTreeSet<&str> = tasks.iter().map(|span| trace.threads[&span.thread].as_str()).collect();
    assert_eq!(threads, BTreeSet::from(["chipdock-1", "main"]));
}

/// CLI-C13: also of work that fails, and of work that a plugin ends.
#[test]
fn cli_c13_a_trace_is_whole_however_it_ends() {
    let scratch = scratch();
    scratch.write_f32("a.npy", &[3], &[1.0; 3]);
    scratch.write_f32("b.npy", &[4], &[1.0; 4]);
    let refused = scratch.run("run vector_add.py --target c --in A=a.npy --in B=b.npy --trace refused.json");
    assert_eq!(refused.code, Some(2));
    assert_eq!(Trace::read(&scratch, "refused.json").names(), ["command run", "read vector_add.py"]);

    let crash = opened_does(&scratch, "crash", "*(volatile int *)8 = 1;");
    for isolate in ["", " --isolate"] {
        let words = format!("{RUN} --trace crash.json{isolate}");
        let ended = end(scratch.command(&words).env("LD_PRELOAD", &crash));
        for part in ["crash.so crashed (SIGSEGV) while plugin ", " was called in `dlopen`"] {
            assert!(ended.stderr.contains(part), "{isolate}: {}", ended.stderr);
        }
        let trace = Trace::read(&scratch, "crash.json");
        let open: Vec<&str> =
            trace.spans.iter().filter(|span| span.end.is_none()).map(|span| span.name.as_str()).collect();
        assert_eq!(open[0], "command run");
        assert_eq!(open.last(), Some(&"plugin_call dlopen"), "{isolate}");
        assert!(trace.find("plugin_call dlopen").args["plugin"].is_string());
        std::fs::remove_file(scratch.path("crash.json")).unwrap();
    }
}

/// CLI-C13: nothing else is overwritten.
#[test]
fn cli_c13_a_trace_replaces_no_other_file() {
    let scratch = scratch();
    let kernel = std::fs::read(scratch.path("vector_add.py")).unwrap();
    for (words, code, says) in [
        ("--trace vector_add.py", 2, "not overwritten"),
        ("--trace c.npy --out C=c.npy", 2, "go to one file"),
        ("--trace /dev/stdout", 2, "standard output"),
        ("--trace /dev/null", 2, "not overwritten"),
        ("--trace none/trace.json", 1, "cannot write"),
    ] {
        let ended = scratch.run(&format!("{RUN} {words}"));
        ended.failed(code, &[says]);
    }
    assert_eq!(std::fs::read(scratch.path("vector_add.py")).unwrap(), kernel);
    assert_eq!(scratch.names(), ["vector_add.py"]);
}

/// The table of `--verbose`: cells by the first one.
fn rows(ended: &Ended) -> Vec<String> {
    let lines = ended.stderr.lines().skip_while(|line| !line.starts_with("PHASE "));
    lines.map(str::to_owned).collect()
}

/// CLI-C13, CLI-C1: phases on standard error, with times and sizes; results are the same.
#[test]
fn cli_c13_verbose_shows_the_phases() {
    let scratch = scratch();
    let plain = scratch.run("build vector_add.py --target c");
    let ended = scratch.run("build vector_add.py --target c --verbose");
    assert_eq!((ended.code, &ended.stdout), (Some(0), &plain.stdout));
    let rows = rows(&ended);
    let words: Vec<&str> = rows[0].split_whitespace().collect();
    assert_eq!(words, ["PHASE", "TIME", "PLUGIN", "FUNCTIONS", "STATEMENTS", "EXPRESSIONS"]);
    let passes: Vec<&str> =
        rows.iter().filter_map(|row| row.trim_start().strip_prefix("pass ")?.split(' ').next()).collect();
    assert_eq!(passes, PASSES);
    let packed = rows.iter().find(|row| row.contains("pass make_packed_api ")).unwrap();
    assert!(
        packed.starts_with("      pass") && packed.contains("s ") && packed.contains("1 -> "),
        "{packed}"
    );
    let build = rows.iter().find(|row| row.contains("plugin_call target.build.c: build ")).unwrap();
    assert!(build.trim_end().ends_with('c'), "{build}");
    assert!(!ended.stderr.contains('\x1b'), "no colour but on a terminal");
    let coloured = scratch.run("build vector_add.py --target c --verbose --color always");
    assert!(coloured.stderr.contains("\x1b[1mPHASE"));

    let run = scratch.run(&format!("{RUN} --verbose --repeat 3 --json"));
    assert_eq!(run.json()["schema"], json!("chipdock.run/1"));
    assert!(run.stderr.contains("  round (3 times) "), "{}", run.stderr);
    let isolated = scratch.run(&format!("{RUN} --verbose --isolate"));
    assert_eq!(isolated.stderr.matches("PHASE ").count(), 1, "{}", isolated.stderr);
    let failed = scratch.run("run vector_add.py --target c --verbose");
    assert!(failed.stderr.contains("  read vector_add.py "), "{}", failed.stderr);
    assert!(failed.stderr.lines().last().unwrap().starts_with("  help: "), "the error comes last");
}
