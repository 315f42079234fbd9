//! Streams and tensors of frameworks in Python, under every release of TVM-FFI: a framework in
//! miniature (`frameworks.py`), and TVM-FFI's own tensors.

use std::path::PathBuf;
use std::process::Command;

use chipdock_test_interop::driver::{Plan, each_release};
use chipdock_test_interop::environment::{Environment, environment};
use chipdock_test_interop::libraries::{control, kernels};
use chipdock_test_support::command::Scratch;
use chipdock_test_support::{plugins, workspace};
use serde_json::{Value, json};

/// Links an exported library together with a function of its own that asks its run time
/// (`stream.c`).
fn with_stream(folder: &Scratch, target: &str) -> PathBuf {
    let (parts, archive) = (folder.path(target), folder.path(&format!("{target}.tar")));
    let built =
        folder.run(&format!("build {}:add --target {target} -o {}", kernels().display(), archive.display()));
    assert_eq!(built.code, Some(0), "{target}: {}", built.stderr);
    std::fs::create_dir(&parts).expect("a folder");
    let ran = |command: &mut Command| {
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    ran(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&parts));
    let source = workspace().join("tests/interop/stream.c");
    let compiler = format!("CC=cc -I. {}", source.display());
    ran(Command::new("make").arg("-C").arg(&parts).arg(compiler));
    parts.join("library.so")
}

/// Runs a scenario under every release.
fn seen(environment: &Environment, libraries: &[(String, PathBuf)], job: &Value) -> Vec<(String, Value)> {
    let plan = Plan { libraries: libraries.to_vec(), scenarios: vec![job.clone()], ..Plan::default() };
    let answers = each_release(environment, |_, release| plan.run(&environment.python, release));
    let answers = answers.into_iter().map(|(release, answers)| {
        let answers = answers.unwrap_or_else(|why| panic!("{release}: {why}"));
        let answer = &answers[job["name"].as_str().expect("a name")];
        assert!(answer["seen"].is_object(), "{release}: {answer}");
        (release, answer["seen"].clone())
    });
    answers.collect()
}

/// EXPORT-R2: the run time of an exported library answers the stream that TVM-FFI's environment has
/// for the device: that of `use_raw_stream`, and in a call with a tensor of a framework the one on
/// which it works, as a library does that nothing of Chipdock made.
#[test]
fn exported_libraries_see_the_frameworks_stream() {
    let Some(environment) = environment("streams in exported libraries") else { return };
    let folder = Scratch::new();
    let mut libraries: Vec<(String, PathBuf)> =
        ["c", "llvm"].map(|target| (target.to_owned(), with_stream(&folder, target))).into();
    libraries.push(("control".to_owned(), control(&folder)));
    let names: Vec<&String> = libraries.iter().map(|(name, _)| name).collect();
    let job = json!({"name": "streams", "scenario": "streams", "libraries": names});
    let (mut cannot_set, mut cannot_take) = (Vec::new(), Vec::new());
    for (release, seen) in seen(&environment, &libraries, &job) {
        if seen["can_set"] == json!(false) {
            cannot_set.push(release);
            continue;
        }
        let all = |stream: u64| json!([stream, stream, stream]);
        for (when, stream) in [
            ("before", 0),
            ("within", 0x7000),
            ("other_device", 0),
            ("other_type", 0),
            ("inner", 0x8000),
            ("restored", 0x7000),
            ("thread", 0),
            ("after", 0),
            ("after_framework", 0),
        ] {
            assert_eq!(seen[when], all(stream), "{release}, {when}: {seen}");
        }
        if seen["framework"].is_string() {
            cannot_take.push(release);
        } else {
            assert_eq!(seen["framework"], all(0x9000), "{release}: {seen}");
            // One for each library.
            assert_eq!([&seen["taken"], &seen["deleted"], &seen["live"]], [3, 3, 0], "{release}: {seen}");
        }
    }
    assert_eq!(cannot_set, [""; 0], "releases that cannot set a stream");
    assert_eq!(cannot_take, [""; 0], "releases that do not know such tensors");
}

/// DLPack's exchange table, through `chipdock_plugin_api::exchange` and `TvmEnv` in a library that
/// Python loads.
#[test]
fn objects_of_frameworks_are_taken_and_made() {
    let Some(environment) = environment("objects of frameworks") else { return };
    let library = plugins::build(&["chipdock-test-exchange-library"]).remove(0);
    let job = json!({"name": "exchange", "scenario": "exchange", "library": "exchange"});
    for (release, seen) in seen(&environment, &[("exchange".to_owned(), library)], &job) {
        check_exchange(&release, &seen);
    }
}

fn check_exchange(release: &str, seen: &Value) {
    // Objects come in, whatever chain of tables leads to them, and go out; the framework allocates.
    for way in ["take", "take_chained", "take_to_read", "take_aligned", "take_hollow", "own_take"] {
        assert_eq!(seen[way], json!([0.0, 1.0, 2.0]), "{release}, {way}: {seen}");
    }
    for way in ["look", "look_chained", "own_look"] {
        assert_eq!(seen[way], json!("[3] float32 1"), "{release}, {way}: {seen}");
    }
    assert_eq!(seen["give"], json!([7, 8]), "{release}: {seen}");
    assert_eq!(seen["own_give"], json!(["Tensor", [7, 8]]), "{release}: {seen}");
    assert_eq!(seen["allocate"], json!([[0.0, 0.0], [0.0, 0.0]]), "{release}: {seen}");
    let says = |way: &str, words: &[&str]| {
        let text = seen[way].as_str().unwrap_or_default();
        assert!(words.iter().all(|word| text.contains(word)), "{release}, {way}: {words:?} {seen}");
    };
    says("take_lone", &["DLPack 1.x", "found 2.0"]);
    says("give_hollow", &["managed_tensor_to_py_object_no_sync", "null"]);
    // TVM-FFI's own table is of that kind.
    says("own_allocate", &["managed_tensor_allocator", "null"]);
    says("take_no_table", &["ValueError: ", "a null pointer"]);
    says("take_no_object", &["ValueError: ", "a null pointer"]);
    says("take_refused", &["returned status -1", "exception"]);
    says("take_read_only", &["ValueError: ", "read-only"]);
    says("take_skewed", &["ValueError: ", "64 bytes", "4 bytes past"]);
    says("take_strided", &["ValueError: ", "[2]"]);
    // Old releases have no class for the kind.
    says("allocate_elsewhere", &["Error: no such device has memory"]);
    says("env_allocate", &["RuntimeError: ", "TVMFFIEnvSetDLPackManagedTensorAllocator"]);
    // The environment's stream is what a guard sets, and in a call that of the framework of its
    // tensors, as is its allocator.
    for (way, stream) in [
        ("work_stream", 0x9000),
        ("inside", 0xA000),
        ("outside", 0),
        ("called_with", 0x9000),
        ("own_stream", 0xB000),
    ] {
        assert_eq!(seen[way], json!(stream), "{release}, {way}: {seen}");
    }
    assert_eq!(seen["allocates_with"], json!("True"), "{release}: {seen}");
    assert_eq!(
        (&seen["deleted"], &seen["live"]),
        (&seen["made"], &json!(0)),
        "{release}: every deleter, once"
    );
}
