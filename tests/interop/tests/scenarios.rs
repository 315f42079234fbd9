//! What a process sees that uses exported libraries often, from many threads, after a fork, or
//! beside others.

use std::path::PathBuf;

use chipdock_test_interop::driver::{Plan, each_release};
use chipdock_test_interop::environment::{Environment, environment};
use chipdock_test_interop::libraries::{EXPORTERS, Exporter, build, control, kernels};
use chipdock_test_support::command::Scratch;
use serde_json::{Map, Value, json};

/// The ways by which the command makes a whole library.
fn whole() -> impl Iterator<Item = Exporter> {
    EXPORTERS.iter().copied().filter(|exporter| exporter.is_whole)
}

/// Runs the same jobs on the libraries of each whole exporter, in releases that `chosen` selects of
/// all; `job` completes a job for a library. Returns what was seen, with release and library.
fn seen(
    environment: &Environment,
    libraries: &[(String, PathBuf)],
    variables: &[(&'static str, String)],
    job: &Value,
) -> Vec<(String, Value)> {
    let jobs: Vec<Value> = libraries
        .iter()
        .map(|(library, _)| {
            let mut job = job.clone();
            job["library"] = json!(library);
            job["name"] = json!(format!("{library}: {}", job["scenario"].as_str().expect("a scenario")));
            job
        })
        .collect();
    let plan = Plan {
        libraries: libraries.to_vec(),
        scenarios: jobs.clone(),
        variables: variables.to_vec(),
        ..Plan::default()
    };
    let answers = each_release(environment, |_, release| plan.run(&environment.python, release));
    let mut all = Vec::new();
    for (release, answers) in answers {
        let answers = answers.unwrap_or_else(|why| panic!("{release}: {why}"));
        for job in &jobs {
            let name = job["name"].as_str().expect("a name");
            let answer = &answers[name];
            assert!(answer["seen"].is_object(), "{release}, {name}: {answer}");
            all.push((format!("{release}, {name}"), answer["seen"].clone()));
        }
    }
    all
}

/// The oldest and the newest release.
fn ends(environment: Environment) -> Environment {
    let releases = environment.releases;
    let ends = [releases.first(), releases.last()].into_iter().flatten().cloned().collect();
    Environment { releases: ends, ..environment }
}

fn libraries(folder: &Scratch, function: Option<&str>) -> Vec<(String, PathBuf)> {
    whole()
        .map(|exporter| (exporter.name.to_owned(), build(folder, exporter, &kernels(), function)))
        .collect()
}

/// EXPORT-X1: by attribute, by item and by name; the only function is also the entry.
#[test]
fn functions_are_found_by_name_and_as_the_entry() {
    let Some(environment) = environment("names of exported functions") else { return };
    let folder = Scratch::new();
    let sums = json!([0.0, 2.0, 4.0, 6.0, 8.0]);
    let job = json!({"scenario": "names", "function": "add"});
    for (is_only, libraries) in [(true, libraries(&folder, Some("add"))), (false, libraries(&folder, None))] {
        for (who, seen) in seen(&environment, &libraries, &[], &job) {
            assert_eq!((&seen["kind"], &seen["implements"]), (&json!("library"), &json!(true)), "{who}");
            for way in ["attribute", "item", "get_function"] {
                assert_eq!(seen[way], sums, "{who}: {way}");
            }
            let missing = |name: &str| json!(format!("AttributeError: Module has no function '{name}'"));
            let entry = if is_only { sums.clone() } else { missing("main") };
            assert_eq!((&seen["main"], &seen["call"]), (&entry, &entry), "{who}");
            for name in ["nobody", "_library_bin", ""] {
                assert_eq!(seen[format!("[{name}]")], missing(name), "{who}");
            }
        }
    }
}

/// EXPORT-X1: metadata and documentation, from the release on that asks for them.
#[test]
fn functions_say_what_they_are() {
    let Some(environment) = environment("metadata of exported functions") else { return };
    let folder = Scratch::new();
    let functions = ["add", "scalars", "twice", "mean", "is_more"];
    let job = json!({"scenario": "metadata", "functions": functions});
    let mut silent = Vec::new();
    for (who, seen) in seen(&environment, &libraries(&folder, None), &[], &job) {
        if seen["can_ask"] == json!(false) {
            silent.push(who.split(',').next().unwrap_or_default().to_owned());
            continue;
        }
        let schema = |name: &str| seen["answers"][name]["schema"].as_str().unwrap_or_default().to_owned();
        let expected = [
            ("add", "Callable[[Tensor, Tensor, Tensor], None]"),
            ("scalars", "Callable[[Tensor, int, int, int, bool, float], None]"),
            ("twice", "Callable[[int], int]"),
            ("mean", "Callable[[Tensor], float]"),
            ("is_more", "Callable[[int, float], bool]"),
        ];
        for (name, expected) in expected {
            assert_eq!(schema(name), expected, "{who}: {name} {seen}");
        }
        let doc = seen["answers"]["add"]["doc"].as_str().unwrap_or_default();
        let signature = "add(A: Tensor([n], float32), B: Tensor([n], float32), C: Tensor([n], float32))";
        assert!(doc.contains(signature), "{who}: {doc}");
    }
    silent.dedup();
    assert_eq!(silent, ["0.1.0", "0.1.1", "0.1.2", "0.1.3"], "releases that cannot ask");
}

/// EXPORT-R4, EXPORT-R5: a parallel loop has more threads than the caller's.
#[test]
fn a_parallel_loop_runs_on_several_threads() {
    let Some(environment) = environment("threads of exported libraries") else { return };
    let folder = Scratch::new();
    let libraries = libraries(&folder, None);
    let processors = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let counts: [(Option<&str>, u64, u64); 3] =
        [(None, processors.min(2), processors), (Some("4"), 2, 4), (Some("1"), 1, 1)];
    for (variable, least, most) in counts {
        let job = json!({"scenario": "threads_of_loop", "function": "threads", "iterations": 16, "wanted": least,
                         "calls_max": 50});
        let variables: Vec<_> =
            variable.iter().map(|count| ("CHIPDOCK_THREADS", (*count).to_owned())).collect();
        for (who, seen) in seen(&environment, &libraries, &variables, &job) {
            let threads = seen["threads"].as_u64().expect("a number");
            assert!((least..=most).contains(&threads), "{who}, CHIPDOCK_THREADS={variable:?}: {seen}");
            assert_eq!((&seen["with_caller"], &seen["zeros"]), (&json!(true), &json!(0)), "{who}: {seen}");
        }
    }
}

/// EXPORT-R6: whichever iteration fails, the caller gets the error, and the next call works.
#[test]
fn errors_of_workers_are_the_callers() {
    let Some(environment) = environment("errors in exported libraries") else { return };
    let folder = Scratch::new();
    let job = json!({"scenario": "raised_in_worker", "function": "in_parallel_bounded", "iterations": 24});
    let variables = [("CHIPDOCK_THREADS", "4".to_owned())];
    for (who, seen) in seen(&environment, &libraries(&folder, None), &variables, &job) {
        assert_eq!(seen["seen"], json!(["ValueError: too large"]), "{who}");
    }
}

/// Calls release Python's lock; nothing is mixed up between threads, neither results nor errors.
#[test]
fn eight_python_threads_call_at_once() {
    let Some(environment) = environment("exported libraries in eight threads") else { return };
    let folder = Scratch::new();
    let job = json!({"scenario": "many_threads", "slow": "slow", "parallel": "in_parallel", "add": "add", "rounds": 100});
    let variables = [("CHIPDOCK_THREADS", "3".to_owned())];
    for (who, seen) in seen(&environment, &libraries(&folder, None), &variables, &job) {
        assert_eq!(seen, json!({"at_once": true, "wrong": [], "errors": [], "alive": 0}), "{who}");
    }
}

/// EXPORT-R5: a forked child has none of its parent's threads, and calls all the same.
#[test]
fn a_forked_child_calls_again() {
    let Some(environment) = environment("exported libraries after a fork") else { return };
    let folder = Scratch::new();
    let job = json!({"scenario": "after_fork", "parallel": "in_parallel", "add": "add", "patience_s": 30});
    let variables = [("CHIPDOCK_THREADS", "4".to_owned())];
    for (who, seen) in seen(&environment, &libraries(&folder, None), &variables, &job) {
        assert_eq!(seen, json!({"before": "works", "child": "works", "after": "works"}), "{who}");
    }
}

#[test]
fn arguments_are_freed_after_good_and_bad_calls() {
    let Some(environment) = environment("arguments of exported libraries") else { return };
    let folder = Scratch::new();
    let job = json!({"scenario": "keeps_arguments", "add": "add"});
    for (who, seen) in seen(&environment, &libraries(&folder, None), &[], &job) {
        assert_eq!(seen["before"], seen["after"], "{who}");
    }
}

/// Ten thousand loads and calls, among them parallel and wrong ones, beside as many loads of a
/// library that nothing of Chipdock made.
#[test]
fn ten_thousand_loads_and_calls_grow_nothing() {
    let Some(environment) = environment("ten thousand loads and calls") else { return };
    let folder = Scratch::new();
    let job = json!({"scenario": "often", "add": "add", "parallel": "in_parallel", "rounds": 10_000,
                     "control": control(&folder)});
    let variables = [("CHIPDOCK_THREADS", "2".to_owned())];
    for (who, seen) in seen(&ends(environment), &libraries(&folder, None), &variables, &job) {
        assert_eq!(seen["wrong"], json!(0), "{who}");
        let grown = |phase: &str, what: &str| {
            let of = |when: &str| seen[phase][when][what].as_i64().expect("a number");
            of("late") - of("early")
        };
        for phase in ["serial", "parallel"] {
            for what in ["threads", "files"] {
                assert_eq!(grown(phase, what), 0, "{who}, {phase}: {what} {seen}");
            }
            // The allocator may map some; one for every hundred of nine thousand rounds would be
            // 90.
            assert!(grown(phase, "mappings") < 20, "{who}, {phase}: mappings {seen}");
            // One page for every ten of nine thousand rounds would be 3,600 KiB. Newer releases
            // keep some 300 bytes at each load themselves, in steps; the older one, which keeps
            // nothing, shows what ours is.
            let (ours, theirs) = (grown(phase, "resident_kib"), grown("control", "resident_kib"));
            assert!(
                ours < 2 * theirs.max(0) + 1024,
                "{who}, {phase}: {ours} KiB, {theirs} KiB without Chipdock, {seen}"
            );
        }
    }
}

/// EXPORT-X2: a library that opened its names to the whole process does not meet another of the
/// same names.
#[test]
fn libraries_of_the_same_names_do_not_meet() {
    let Some(environment) = environment("exported libraries beside each other") else { return };
    let environment = ends(environment);
    let folder = Scratch::new();
    // The entry calls the only function, by a name that both libraries have.
    let text = |factor: u32| {
        format!(
            "from tvm.script import ir as I\nfrom tvm.script import tirx as T\n\n\n@T.prim_func\ndef whole(A: T.Buffer((8,), \
             \"int32\"), n: T.int32):\n    for i in T.parallel(8):\n        A[i] = (n + i) * {factor}\n"
        )
    };
    for exporter in whole() {
        let library = |name: &str, factor| {
            let kernels = folder.write(&format!("{name}/kernels.py"), text(factor));
            let made = build(&folder, exporter, &kernels, None);
            let place = folder.path(&format!("{}.{name}.so", exporter.name));
            std::fs::rename(made, &place).expect("renamed");
            place
        };
        let first = (exporter.name.to_owned(), library("first", 10));
        let job = json!({"scenario": "beside_a_global_one", "global": exporter.name, "path": library("second", 1000),
                         "functions": ["whole", "main"]});
        for (who, seen) in seen(&environment, &[first], &[], &job) {
            let expected: Vec<i32> = (3..11).map(|x| x * 1000).collect();
            assert_eq!(seen, json!({"whole": expected, "main": expected}), "{who}");
        }
    }
}

/// EXPORT-X4: a library with device code inside needs a loader, which stock tvm_ffi asks for by
/// name; with the device code aside its CPU functions work, and the others say what they need.
#[test]
fn device_code_is_inside_or_aside() {
    let Some(environment) = environment("exported libraries with device code") else { return };
    let folder = Scratch::new();
    folder.kernel("vector_add.py");
    let mut files = Map::new();
    for place in ["embedded", "aside"] {
        let words = format!("build vector_add.py --target opencl --device-code {place} -o {place}.so");
        let built = folder.run(&words);
        assert_eq!(built.code, Some(0), "{words}: {}", built.stderr);
        files.insert(place.to_owned(), json!(folder.path(&format!("{place}.so"))));
    }
    let function = "vector_add";
    let job = json!({"scenario": "with_device_code", "files": files, "function": function});
    for (who, seen) in seen(&environment, &libraries(&folder, Some("add"))[..1], &[], &job) {
        let embedded = seen["embedded"].as_str().unwrap_or_default();
        assert!(embedded.starts_with("RuntimeError: ") && embedded.contains("chipdock"), "{who}: {embedded}");
        let aside = seen["aside"].as_str().unwrap_or_default();
        assert!(aside.starts_with("RuntimeError: ") || aside.starts_with("ValueError: "), "{who}: {aside}");
        assert_ne!(aside, embedded, "{who}");
    }
}
