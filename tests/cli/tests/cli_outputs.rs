//! Tests of the paths of results (CLI-C5, CLI-C8), whatever names lead there and whatever a plugin
//! does to folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chipdock_test_support::command::{Scratch, built, end, opened_does};

/// Two outputs, and inputs that tell them apart: B becomes A + B, A becomes A - B.
const TWO: &str = "\
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def two(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):
    for i in range(4):
        with T.sblock(\"B\"):
            v = T.axis.spatial(4, i)
            B[v] = A[v] + B[v]
            A[v] = A[v] + A[v]
";

fn two() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("two.py", TWO);
    scratch.write_f32("a.npy", &[4], &[1.0, 2.0, 3.0, 4.0]);
    scratch.write_f32("b.npy", &[4], &[10.0, 20.0, 30.0, 40.0]);
    scratch
}

#[test]
fn cli_c8_two_outputs_for_one_file_are_refused_before_any_work() {
    let scratch = two();
    fs::create_dir(scratch.path("sub")).unwrap();
    symlink("a.npy", scratch.path("link.npy")).unwrap();
    symlink("new.npy", scratch.path("to-new.npy")).unwrap();
    symlink("sub", scratch.path("sub-too")).unwrap();
    fs::hard_link(scratch.path("a.npy"), scratch.path("hard.npy")).unwrap();
    // Whatever is opened leaves a trace.
    let trace = opened_does(&scratch, "trace", "mkdir(\"opened\", 0700);");
    let before = fs::read(scratch.path("a.npy")).unwrap();
    for (one, other) in [
        ("new.npy", "new.npy"),
        ("new.npy", "./new.npy"),
        ("new.npy", "sub/../new.npy"),
        ("new.npy", "to-new.npy"),
        ("sub/x.npy", "sub-too/x.npy"),
        ("a.npy", "link.npy"),
        ("a.npy", "hard.npy"),
        ("/dev/stdout", "/dev/fd/1"),
    ] {
        let words = format!("run two.py --target c --out A={one} --out B={other}");
        end(scratch.command(&words).env("LD_PRELOAD", &trace))
            .failed(2, &["buffer A and buffer B go to one file", one, other]);
        assert!(!scratch.path("opened").exists() && !scratch.path("new.npy").exists(), "{one}, {other}");
    }
    assert_eq!(fs::read(scratch.path("a.npy")).unwrap(), before);
    let mut command = scratch.command("run two.py --target c --out A=one.npy --out B=two.npy");
    assert_eq!(end(command.env("LD_PRELOAD", &trace)).code, Some(0));
    assert!(scratch.path("opened").exists(), "what is not refused opens a plugin");
    assert_eq!(scratch.run("run two.py --out A=/dev/null --out B=/dev/null --target c").code, Some(0));
    let library = built().plugins.join("chipdock_plugin_c.so");
    let library = library.display();
    scratch
        .run(&format!("conformance {library} --filter none/* --report-json r --junit sub/../r"))
        .failed(2, &["--report-json and --junit go to one file", "sub/../r"]);
}

#[test]
fn cli_c5_an_output_may_go_where_an_input_came_from() {
    let scratch = two();
    let run = |words: &str| {
        let ended = scratch.run(&format!("run two.py --target c --in A=a.npy --in B=b.npy {words}"));
        assert_eq!(ended.code, Some(0), "{words}: {}", ended.stderr);
    };
    // Crosswise.
    run("--out A=b.npy --out B=a.npy");
    assert_eq!(scratch.read_npy::<f32>("b.npy").1, [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(scratch.read_npy::<f32>("a.npy").1, [11.0, 22.0, 33.0, 44.0]);
    run("--out A=./a.npy --out B=b.npy");
    assert_eq!(scratch.read_npy::<f32>("a.npy").1, [22.0, 44.0, 66.0, 88.0]);
    assert_eq!(scratch.read_npy::<f32>("b.npy").1, [13.0, 26.0, 39.0, 52.0]);
}

#[test]
fn cli_c8_a_plugin_moves_no_output() {
    let scratch = two();
    let away = tempfile::tempdir().unwrap();
    let moves = opened_does(&scratch, "moves", &format!("chdir(\"{}\");", away.path().display()));
    let here = |scratch: &Scratch, name: &str| scratch.path(name).exists();
    let run = "run two.py --target c --in A=a.npy --in B=b.npy";
    assert_eq!(end(scratch.command(&format!("{run} --out B=c.npy")).env("LD_PRELOAD", &moves)).code, Some(0));
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [11.0, 22.0, 33.0, 44.0]);
    let mut build = scratch.command("build two.py --target c --emit source -o two.text");
    assert_eq!(end(build.env("LD_PRELOAD", &moves)).code, Some(0));
    assert!(here(&scratch, "two.text"));
    assert_eq!(fs::read_dir(away.path()).unwrap().count(), 0, "nothing went there");

    // A folder that is swapped for another: the output stays with the one that was named.
    fs::create_dir(scratch.path("out")).unwrap();
    let body = "rename(\"out\", \"kept\"); mkdir(\"out\", 0700);";
    let swaps = opened_does(&scratch, "swaps", body);
    assert_eq!(
        end(scratch.command(&format!("{run} --out B=out/c.npy")).env("LD_PRELOAD", &swaps)).code,
        Some(0)
    );
    assert!(here(&scratch, "kept/c.npy") && !here(&scratch, "out/c.npy"));
}

#[test]
fn cli_c8_a_manifest_goes_where_it_was_to_go() {
    let scratch = Scratch::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let template = fs::read_to_string(root.join("examples/plugin-template-c/template.c")).unwrap();
    let more = "\nextern int chdir(const char *);\n__attribute__((constructor)) static void start(void) { chdir(\"/\"); }\n";
    let source = scratch.write("moves.c", template + more);
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-w", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(root.join("plugin-api/abi/include")).arg(source).arg("-o").arg(scratch.path("moves.so"));
    assert!(command.status().expect("cc").success());
    let ended = scratch.run("manifest moves.so");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(scratch.path("moves.chipdock.json").exists());
    assert_eq!(scratch.run("manifest moves.so -o other.json").code, Some(0));
    assert!(scratch.path("other.json").exists());
}

#[test]
fn cli_c8_a_file_on_standard_output_is_the_result() {
    let scratch = two();
    let run = "run two.py --target c --in A=a.npy --in B=b.npy";
    let mut command = scratch.command(&format!("{run} --out B=/dev/stdout"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(scratch.path("piped.npy"), &output.stdout).unwrap();
    assert_eq!(scratch.read_npy::<f32>("piped.npy").1, [11.0, 22.0, 33.0, 44.0]);
    // Redirected into a file, it is that file that gets it.
    let file = fs::File::create(scratch.path("file.npy")).unwrap();
    assert_eq!(end(scratch.command(&format!("{run} --out B=/dev/fd/1")).stdout(file)).code, Some(0));
    assert_eq!(scratch.read_npy::<f32>("file.npy").1, [11.0, 22.0, 33.0, 44.0]);
    scratch.run(&format!("{run} --out B=/dev/stdout --json")).failed(2, &["--json and a file both go to"]);
    scratch.run("build two.py --emit ir -o /dev/stdout --json").failed(2, &["--json and a file both go to"]);
    let text = scratch.run("build two.py --emit ir -o /dev/stdout");
    assert_eq!(text.stdout, scratch.run("build two.py --emit ir").stdout);
}

#[test]
fn cli_c5_an_input_may_be_a_pipe() {
    let scratch = two();
    let mut command = scratch.command("run two.py --target c --in A=/dev/stdin --in B=b.npy --out B=c.npy");
    command.stdin(fs::File::open(scratch.path("a.npy")).unwrap());
    assert_eq!(end(&mut command).code, Some(0));
    let mut cat = Command::new("cat").arg(scratch.path("a.npy")).stdout(Stdio::piped()).spawn().unwrap();
    let ended = end(command.stdin(cat.stdout.take().unwrap()));
    assert!(cat.wait().unwrap().success());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [11.0, 22.0, 33.0, 44.0]);
    // What has no end is not read to it.
    for endless in ["/dev/zero", "/dev/urandom"] {
        scratch.run(&format!("run two.py --in A={endless}")).failed(2, &["not an .npy file", endless]);
    }
}

/// A library that, loaded before the command, sends it a signal when it has written a part of a
/// large file.
fn killed_while_it_writes(scratch: &Scratch) -> std::path::PathBuf {
    let text = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
ssize_t write(int file, const void *bytes, size_t count) {
    static size_t total;
    ssize_t (*real)(int, const void *, size_t) = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    ssize_t written = real(file, bytes, count);
    struct stat found;
    const char *signal = getenv("KILLED_BY");
    if (signal && !strcmp(program_invocation_short_name, "chipdock") && count >= 4096 && !fstat(file, &found)
        && S_ISREG(found.st_mode) && (total += count) > 100000)
        kill(getpid(), atoi(signal)), pause();
    return written;
}
"#;
    let source = scratch.write("killed.c", text);
    let library = scratch.path("killed.so");
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-w", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(command.status().expect("cc").success());
    library
}

/// CLI-C5: whatever ends the command while it writes, what was there is there, and nothing else.
#[test]
fn cli_c5_a_command_that_is_ended_while_it_writes_leaves_nothing() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    scratch.write_f32("large.npy", &[1 << 18], &vec![0.5; 1 << 18]);
    scratch.write("there.npy", "before");
    let library = killed_while_it_writes(&scratch);
    let run = |to: &str| {
        scratch.command(&format!(
            "run vector_add.py --target c --no-cache --in A=large.npy --in B=large.npy --out C={to}"
        ))
    };
    let names = scratch.names();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGKILL, libc::SIGSEGV, libc::SIGXCPU] {
        for to in ["new.npy", "there.npy"] {
            let mut command = run(to);
            let status = command
                .env("LD_PRELOAD", &library)
                .env("KILLED_BY", signal.to_string())
                .output()
                .unwrap()
                .status;
            assert_eq!(status.signal(), Some(signal), "{to}");
            assert_eq!(scratch.names(), names, "{signal} {to}");
            assert_eq!(fs::read(scratch.path("there.npy")).unwrap(), b"before");
        }
    }
    assert_eq!(end(&mut run("there.npy")).code, Some(0));
    assert_eq!(scratch.names(), names);
}

/// ISOLATE-I5: the deadline is for outputs too.
#[test]
fn a_pipe_that_nobody_reads_is_late() {
    let scratch = two();
    assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().unwrap().success());
    let names = scratch.names();
    let words = "run two.py --target c --in A=a.npy --in B=b.npy --out A=pipe --out B=new.npy --deadline 6";
    let started = Instant::now();
    scratch.run(words).failed(1, &["error: not written within 6 s\n  --> pipe\n", "--deadline"]);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!(scratch.names(), names);
}

/// A library that crashes at the end of the process comes too late: the results are there.
#[test]
fn cli_c15_the_end_of_a_library_changes_nothing() {
    let scratch = two();
    let body =
        "extern int atexit(void (*)(void)); extern void abort(void); atexit(abort); printf(\"printed\\n\");";
    let ends = opened_does(&scratch, "ends", body);
    for words in [
        "run two.py --target c --in A=a.npy --in B=b.npy --out B=c.npy",
        "build two.py --target c --emit source -o two.text",
    ] {
        let ended = end(scratch.command(words).env("LD_PRELOAD", &ends));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), "printed\n"), "{words}");
    }
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, [11.0, 22.0, 33.0, 44.0]);
    assert!(scratch.path("two.text").exists());
    let wrong = end(scratch.command("run two.py --target c --in A=none.npy").env("LD_PRELOAD", &ends));
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
}

/// A kernel that forks comes back twice; one of both is the command.
#[test]
fn cli_c15_a_process_that_a_kernel_forks_ends_in_silence() {
    let scratch = Scratch::new();
    scratch.write(
        "forks.py",
        "@T.prim_func(s_tir=True)\ndef forks(A: T.Buffer((4,), \"float32\"), P: T.Buffer((1,), \"int32\")):\n    \
         P[0] = T.call_extern(\"int32\", \"fork\")\n    for i in range(4):\n        A[i] = T.float32(7)\n",
    );
    for words in ["run forks.py --target c --out A=a.npy --out P=p.npy", "run forks.py --target c"] {
        for isolate in ["", "--isolate"] {
            let ended = scratch.run(&format!("{words} {isolate}"));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{words} {isolate}");
            assert_eq!(ended.stdout.matches("FUNCTION").count(), 1, "{}", ended.stdout);
            if words.contains("--out") {
                assert_eq!(scratch.read_npy::<f32>("a.npy").1, [7.0; 4], "{isolate}");
                assert!(scratch.read_npy::<i32>("p.npy").1[0] > 0, "the command's own, {isolate}");
            }
        }
    }
}
