//! Tests of the command with plugins and kernels that crash, hang or end the process: `devices`,
//! `targets`, `run` and `build`, with and without `--isolate` (CLI-C11, and the rules of the
//! command's modules `ask` and `isolate`).

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chipdock_test_support::command::{Ended, Scratch, end};
use serde_json::Value;

/// A folder with a plugin that is bad when it is told to be, its manifest, and a kernel with its
/// inputs.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    build_plugin(&scratch, "bad");
    scratch.kernel("vector_add.py");
    scratch.write_f32("a.npy", &[2], &[1.0, 2.0]);
    scratch.write_f32("b.npy", &[2], &[10.0, 20.0]);
    scratch
}

fn build_plugin(scratch: &Scratch, name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::create_dir_all(scratch.path("plugins")).unwrap();
    let library = scratch.path(&format!("plugins/{name}.so"));
    let mut command = Command::new("cc");
    command.args(["-std=gnu99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"]);
    command.arg("-I").arg(root.join("plugin-api/abi/include"));
    command.arg("-I").arg(root.join("examples/plugin-template-c"));
    command.arg(format!("-DNAME=\"{name}\""));
    command.arg(root.join("tests/cli/tests/bad/bad.c")).arg("-o").arg(&library);
    assert!(command.status().expect("a C compiler").success(), "{command:?}");
    let ended = scratch.run(&format!("manifest {}", library.display()));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

fn bad(scratch: &Scratch, fault: &str, words: &str) -> Ended {
    end(scratch.command(&format!("{words} --plugin plugins")).env("BAD", fault))
}

/// The answer about a name: its row, and the list of those that failed.
fn row(list: &Value, field: &str, name: &str) -> Value {
    let rows = list[field].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} in {list:#}")).clone()
}

/// Returns the list without the rows of the bad plugin.
fn without_it(mut list: Value, field: &str) -> Value {
    let rows = list[field].as_array_mut().unwrap();
    rows.retain(|row| row["name"] != "bad");
    // What is free changes from one moment to the next.
    for device in rows.iter_mut().filter_map(|row| row["devices"].as_array_mut()).flatten() {
        device["attributes"]["available_global_memory_bytes"] = Value::Null;
    }
    list["failed"] = Value::Null;
    list
}

/// ASK-A1: one row with plugin and call; the others are as if it were not there.
#[test]
fn a_bad_plugin_is_a_row_of_devices_and_targets() {
    let scratch = scratch();
    let ways = [
        ("crash", "plugin \"bad\" crashed (SIGSEGV) in `"),
        ("abort", "plugin \"bad\" crashed (SIGABRT) in `"),
        ("hang", "plugin \"bad\" did not come back within 2 s in `"),
        ("exit", "plugin \"bad\" ended its process with exit code 0 in `"),
        ("_exit", "plugin \"bad\" ended its process with exit code 0 in `"),
        ("thread", "plugin \"bad\" crashed (SIGSEGV) in `"),
    ];
    let of_devices = [("init", "init`"), ("device_count", "device_api.bad: device_count`")];
    let of_targets = [("constructor", "dlopen`"), ("canonicalize", "target.kind.bad: canonicalize`")];
    for (command, field, places) in [("devices", "device_apis", of_devices), ("targets", "kinds", of_targets)]
    {
        let alone = scratch.run(&format!("{command} --json")).json();
        let well = bad(&scratch, "", &format!("{command} --json")).json();
        assert_eq!(without_it(well.clone(), field), without_it(alone.clone(), field), "ASK-A2");
        assert_eq!(well["failed"], serde_json::json!([]));
        for (place, call) in places {
            for (what, sentence) in ways {
                let ended =
                    bad(&scratch, &format!("{place}:{what}"), &format!("{command} --json --deadline 2"));
                let list = ended.json();
                let message = row(&list, field, "bad")["problem"]["message"].clone();
                let expected = format!("{sentence}{call}");
                assert!(message.as_str().unwrap().starts_with(&expected), "{place}:{what}: {message}");
                assert_eq!(list["failed"][0]["plugin"], "bad", "{place}:{what}");
                assert_eq!(without_it(list, field), without_it(alone.clone(), field), "{place}:{what}");
            }
        }
        let text = bad(&scratch, "init:crash", command);
        assert_eq!(text.code, Some(0), "{}", text.stderr);
        assert!(text.stdout.contains("crashed (SIGSEGV) in `init`"), "{}", text.stdout);
    }
}

/// Plugins that hang are waited for at the same time, not one after the other.
#[test]
fn children_run_at_once() {
    let scratch = scratch();
    (1..4).for_each(|number| build_plugin(&scratch, &format!("slow{number}")));
    let started = Instant::now();
    let list = bad(&scratch, "device_count:hang", "devices --json --deadline 3").json();
    assert_eq!(list["failed"].as_array().unwrap().len(), 4, "{list:#}");
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
}

const RUN: &str = "run vector_add.py --in A=a.npy --in B=b.npy --out C=c.npy";

/// ISOLATE-I1, ISOLATE-I2: the same results as without it.
#[test]
fn isolated_work_is_the_same_work() {
    let scratch = scratch();
    let plain = scratch.run("build vector_add.py --target c --emit source");
    let isolated = scratch.run("build vector_add.py --target c --emit source --isolate");
    assert_eq!((plain.code, plain.stderr.as_str()), (Some(0), ""));
    assert_eq!((isolated.code, isolated.stdout, isolated.stderr.as_str()), (Some(0), plain.stdout, ""));
    let ended = scratch.run(&format!("{RUN} --target c --isolate --json"));
    assert_eq!(ended.json()["target"]["kind"], "c");
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [11.0, 22.0]);
    let ended = scratch.run("build vector_add.py --target c --isolate -o add.artifact");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("add.artifact: artifact"), "{}", ended.stdout);
    // Errors are the work's own, with their codes; `--deadline` implies it.
    scratch.run("run vector_add.py:nothing --isolate").failed(2, &["no function \"nothing\""]);
    scratch.run("run missing.py --deadline 20").failed(2, &["missing.py"]);
    // ISOLATE-I4: what a plugin prints is no result.
    let ended = bad(&scratch, "build:print", "build vector_add.py --target bad --emit source --isolate");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "the source\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("a line of the plugin's"), "{}", ended.stderr);
}

/// ISOLATE-I2, CLI-C11: one sentence with plugin and call, code 3, nothing written.
#[test]
fn isolated_work_that_ends_badly_is_one_sentence() {
    let scratch = scratch();
    let names = scratch.names();
    let ways = [
        ("crash", "crashed (SIGSEGV)"),
        ("hang", "was being called"),
        ("exit", "ended its process with exit code 0"),
        ("_exit", "ended its process with exit code 0"),
    ];
    for (place, call) in [
        ("init", "init"),
        ("canonicalize", "target.kind.bad: canonicalize"),
        ("build", "target.build.bad: build"),
        ("shutdown", "shutdown"),
    ] {
        for (what, how) in ways {
            let words = "build vector_add.py --target bad -o out.txt --deadline 3";
            let ended = bad(&scratch, &format!("{place}:{what}"), words);
            ended.failed(3, &[&format!("plugin \"bad\" {how} in `{call}`")]);
            assert_eq!(ended.stderr.matches("error:").count(), 1, "{}", ended.stderr);
            assert_eq!(scratch.names(), names, "{place}:{what}");
        }
    }
}

/// A kernel that calls a function of the C library.
fn kernel_that(scratch: &Scratch, name: &str, call: &str) {
    let body = if call.contains("parallel") {
        "for i in T.parallel(64):\n            A[i] = T.float32(0)\n            T.evaluate(T.call_extern(\"int32\", \"raise\", 11))"
            .to_owned()
    } else {
        format!("A[0] = T.float32(1)\n        T.evaluate(T.call_extern(\"int32\", {call}))")
    };
    let text = format!(
        "from __future__ import annotations\nfrom tvm.script import ir as I\nfrom tvm.script import tirx as T\n\n\
         @I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    \
         def {name}(A: T.Buffer((64,), \"float32\")):\n        {body}\n"
    );
    scratch.write(&format!("{name}.py"), text);
}

/// CLI-C11: a compiled kernel's end is charged to the function, with `--isolate` and without.
#[test]
fn a_kernel_that_ends_badly_is_named() {
    let scratch = scratch();
    for (name, call, how, signal) in [
        ("crashes", "\"raise\", 11", "crashed (SIGSEGV)", Some(libc::SIGSEGV)),
        ("parallel", "parallel", "crashed (SIGSEGV)", Some(libc::SIGSEGV)),
        ("aborts", "\"abort\"", "crashed (SIGABRT)", Some(libc::SIGABRT)),
        ("exits", "\"exit\", 0", "exit code 0", None),
        ("leaves", "\"_exit\", 0", "exit code 0", None),
        ("hangs", "\"pause\"", "", None),
    ] {
        kernel_that(&scratch, name, call);
        let names = scratch.names();
        let words = format!("run {name}.py --target c --out A=out.npy --threads 2");
        let deadline = if name == "hangs" { 6 } else { 60 };
        let ended = scratch.run(&format!("{words} --deadline {deadline}"));
        if name == "hangs" {
            let late = "the whole work took longer than --deadline, 6 s; function \"hangs\" was running";
            ended.failed(3, &[late, "allow more time"]);
        } else {
            ended.failed(3, &[&format!("function \"{name}\" "), how, ", called through plugin \"c\""]);
        }
        assert_eq!(scratch.names(), names);
        if name == "hangs" || name == "leaves" {
            continue;
        }
        let output = scratch.command(&words).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let how = if name == "exits" { "ended this command by `exit`" } else { how };
        let expected = format!("error: function \"{name}\" {how}, called through plugin \"c\"");
        assert!(stderr.starts_with(&expected), "{stderr}");
        assert!(stderr.contains("help: see that the function stays within its buffers"), "{stderr}");
        assert_eq!(output.status.signal(), signal, "the signal does its work");
        if signal.is_none() {
            assert_eq!(output.status.code(), Some(3), "an exit of somebody else is no success");
        }
        assert_eq!(scratch.names(), names);
    }
}

/// BLAME-B2: an index out of bounds is the function's, whoever compiled it.
#[test]
fn an_index_out_of_bounds_is_the_function_s() {
    let scratch = scratch();
    scratch.write(
        "far.py",
        "@T.prim_func(s_tir=True)\ndef far(A: T.Buffer((8,), \"float32\"), n: T.int32):\n    A[n] = T.float32(1)\n",
    );
    for target in ["c", "llvm"] {
        let words = format!("run far.py --set n=2000000000 --target {target}");
        let expected =
            format!("function \"far\" crashed (SIGSEGV), called through plugin \"{}\"", plugin_of(target));
        scratch.run(&format!("{words} --isolate")).failed(3, &[&expected, "stays within its buffers"]);
        let output = scratch.command(&words).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with(&format!("error: {expected}")), "{stderr}");
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV));
    }
}

fn plugin_of(target: &str) -> &str {
    if target == "llvm" { "cpu-llvm" } else { target }
}

/// BLAME-B1, BLAME-B3: what a plugin's thread does, or finds of a heap that was damaged before, is
/// not charged to the plugin that is being called meanwhile.
#[test]
fn a_healthy_plugin_is_not_blamed() {
    let scratch = scratch();
    kernel_that(&scratch, "sleeps", "\"usleep\", 600000");
    // Opens the plugin, and calls nothing of it afterwards.
    let words =
        "run sleeps.py --target {\"kind\":\"c\",\"host\":\"bad\"} --no-cache --plugin plugins --out A=a.npy";
    let well = bad(&scratch, "", words);
    assert_eq!(well.code, Some(0), "{}", well.stderr);
    for (what, expected) in [
        ("later", "plugin \"bad\" crashed (SIGSEGV) outside of its calls"),
        ("abort_later", "plugin \"bad\" crashed (SIGABRT) outside of its calls"),
        (
            "heap",
            "this command crashed (SIGABRT) on damaged memory (malloc(): unaligned tcache chunk detected)",
        ),
    ] {
        let fault = format!("init:{what}");
        let isolated = bad(&scratch, &fault, &format!("{words} --isolate"));
        // The C library's own line stands before ours.
        assert_eq!(isolated.code, Some(3), "{what}: {}", isolated.stderr);
        let output = scratch.command(words).env("BAD", &fault).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        for text in [&*stderr, &isolated.stderr] {
            let line = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
            assert!(line.strip_prefix("error: ").unwrap_or_default().starts_with(expected), "{what}: {text}");
        }
    }
}

/// HOST-A10, CLI-C9: an error that a plugin raises is not taken for one of ours, whoever prints it.
#[test]
fn host_a10_messages_of_a_plugin_begin_with_its_name() {
    let scratch = scratch();
    let says = "plugin \"bad\" says: run `curl x | sh` to repair it";
    for (place, words) in [
        ("init", "build vector_add.py --target bad"),
        ("canonicalize", "build vector_add.py --target bad"),
        ("build", "build vector_add.py --target bad"),
        ("build", "build vector_add.py --target bad --isolate"),
        ("build", "build vector_add.py --target bad --json"),
        ("device_count", "devices"),
        ("device_count", "devices --json"),
        ("canonicalize", "targets"),
        ("canonicalize", "targets --json"),
        ("device_count", "plugins --check"),
        ("device_count", "plugins --check --json"),
    ] {
        let ended = bad(&scratch, &format!("{place}:raise"), words);
        let all = format!("{}\n{}", ended.stdout, ended.stderr);
        let plain = all.replace("\\\"", "\"");
        assert!(plain.contains(says), "{place}, {words}: {all}");
        assert_eq!(plain.matches("curl").count(), plain.matches(says).count(), "{place}, {words}: {all}");
        assert!(!all.contains('\u{1b}'), "{place}, {words}: {all:?}");
        let forged = |line: &&str| {
            ["error: forged", "help: forged"].iter().any(|what| line.trim_start().starts_with(what))
        };
        assert_eq!(all.lines().find(forged), None, "{place}, {words}: {all}");
        if words.contains("build") && place != "init" {
            assert!(ended.stderr.starts_with(&format!("error: {says}")), "{}", ended.stderr);
        }
    }
}

/// ISOLATE-I5: a deadline that is too short for the work is nobody's fault.
#[test]
fn a_deadline_that_is_too_short_blames_nobody() {
    let scratch = scratch();
    let ended = bad(&scratch, "build:hang", "build vector_add.py --target bad --deadline 1 -o out.txt");
    ended.failed(3, &[
        "the whole work took longer than --deadline, 1 s; plugin \"bad\" was being called in `target.build.bad: build`",
        "allow more time",
    ]);
}

/// CLI-C11: every signal that ends a process is reported, with `--isolate` and without; one that
/// the command was started to ignore does nothing.
#[test]
fn every_signal_is_reported() {
    let scratch = scratch();
    let named = [
        (libc::SIGHUP, "was killed (SIGHUP)"),
        (libc::SIGINT, "was killed (SIGINT)"),
        (libc::SIGQUIT, "was killed (SIGQUIT)"),
        (libc::SIGILL, "crashed (SIGILL)"),
        (libc::SIGTRAP, "crashed (SIGTRAP)"),
        (libc::SIGBUS, "crashed (SIGBUS)"),
        (libc::SIGFPE, "crashed (SIGFPE)"),
        (libc::SIGUSR1, "was killed (SIGUSR1)"),
        (libc::SIGUSR2, "was killed (SIGUSR2)"),
        (libc::SIGALRM, "was killed (SIGALRM)"),
        (libc::SIGTERM, "was killed (SIGTERM)"),
        (libc::SIGSTKFLT, "was killed (SIGSTKFLT)"),
        (libc::SIGXCPU, "was killed (SIGXCPU)"),
        (libc::SIGVTALRM, "was killed (SIGVTALRM)"),
        (libc::SIGPROF, "was killed (SIGPROF)"),
        (libc::SIGIO, "was killed (SIGIO)"),
        (libc::SIGPWR, "was killed (SIGPWR)"),
        (libc::SIGSYS, "crashed (SIGSYS)"),
        (libc::SIGRTMIN(), "was killed (a real-time signal)"),
        (libc::SIGRTMAX(), "was killed (a real-time signal)"),
    ];
    for (signal, how) in named {
        kernel_that(&scratch, "signals", &format!("\"raise\", {signal}"));
        let words = "run signals.py --target c --out A=out.npy";
        let output = scratch.command(words).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: function \"signals\" {how}, called through plugin \"c\"");
        assert!(stderr.starts_with(&expected), "{signal}: {stderr}");
        assert_eq!(output.status.signal(), Some(signal), "the signal does its work");
        scratch
            .run(&format!("{words} --isolate"))
            .failed(3, &[&format!("function \"signals\" {how}, called through plugin \"c\"")]);
        assert!(!scratch.path("out.npy").exists());
    }
    // Nobody wants to be told to report what he did himself.
    kernel_that(&scratch, "signals", "\"raise\", 2");
    let output = scratch.command("run signals.py --target c").output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("help:"), "{output:?}");
    let command = scratch.command("run signals.py --target c --out A=out.npy");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' INT; exec \"$@\"", "sh"]).arg(command.get_program()).args(command.get_args());
    shell
        .current_dir(scratch.path(""))
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = end(&mut shell);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(scratch.path("out.npy").exists());
}

/// CLI-C11: without `--isolate`, the plugin is named and the signal stays what it is.
#[test]
fn a_fatal_signal_is_not_silent() {
    let scratch = scratch();
    for (place, call) in [
        ("constructor", "dlopen"),
        ("entry", "chipdock_plugin_v1"),
        ("init", "init"),
        ("build", "target.build.bad: build"),
        ("shutdown", "shutdown"),
    ] {
        for what in ["crash", "abort", "exit", "thread"] {
            let mut command = scratch.command("build vector_add.py --target bad --plugin plugins -o out.txt");
            let output = command.env("BAD", format!("{place}:{what}")).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            let (how, ended) = match what {
                "abort" => ("crashed (SIGABRT)", (Some(libc::SIGABRT), None)),
                "exit" => ("ended this command by `exit`", (None, Some(3))),
                _ => ("crashed (SIGSEGV)", (Some(libc::SIGSEGV), None)),
            };
            let expected = format!("error: plugin \"bad\" {how} in `{call}`\n");
            assert!(stderr.starts_with(&expected), "{place}:{what}: {stderr}");
            assert_eq!((output.status.signal(), output.status.code()), ended, "{place}:{what}");
        }
    }
}

/// CHILD-V10: other threads write at the same time. A socket of datagrams keeps each write apart.
#[test]
fn last_words_are_written_at_once() {
    let scratch = scratch();
    let (read, write) = UnixDatagram::pair().unwrap();
    read.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut command = scratch.command("build vector_add.py --target bad --plugin plugins -o out.txt");
    let status = command.env("BAD", "init:abort").stderr(OwnedFd::from(write)).status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGABRT));
    let mut bytes = [0; 4096];
    let n_bytes = read.recv(&mut bytes).unwrap();
    let text = std::str::from_utf8(&bytes[..n_bytes]).unwrap();
    assert!(
        text.starts_with("error: plugin \"bad\" crashed (SIGABRT) in `init`\n  help: report it"),
        "{text}"
    );
    assert!(text.ends_with("away from this command\n"), "{text}");
}

/// Nobody is fooled by an environment without a supervisor.
#[test]
fn hidden_commands_are_for_chipdock_alone() {
    let scratch = Scratch::new();
    for words in ["__ask devices cpu", "__isolated run x.py"] {
        scratch.run(words).failed(2, &["this command is for chipdock itself"]);
    }
}
