//! Tests of `chipdock build -o OUT.so` and `OUT.tar`: what is in the files, and who can link and
//! load them. Rules EXPORT-X1 to EXPORT-X7 and EXPORT-R1 to EXPORT-R7 are those of
//! `host/src/export/mod.rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, end};
use chipdock_test_support::{setup::missing, workspace};

/// A parallel loop, whose result says on how many elements it ran.
const PARALLEL: &str = "\
@T.prim_func(s_tir=True)
def twice(A: T.Buffer((\"n\",), \"float32\"), B: T.Buffer((n,), \"float32\")):
    n = T.int32()
    for i in T.parallel(n):
        B[i] = A[i] * T.float32(2) + T.float32(1)
";

/// A program without TVM-FFI that loads a library and calls `twice`: prints the status of a right
/// and of a wrong call, the number of wrong elements, the threads of the process before and after,
/// the status of a child that was forked and calls again, and the number of elements that were not
/// rounded as the caller rounds by then.
const CALLER: &str = r#"
#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "chipdock.h"
enum { N = 100000 };
static float a[N], b[N];
static int threads(void) {
    int count = -2;
    DIR *folder = opendir("/proc/self/task");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}
static int call(ChipdockSafeCall function, int count) {
    int64_t shape[1] = {N}, strides[1] = {1};
    ChipdockTensor from = {.data = a, .device = {1, 0}, .ndim = 1, .dtype = {2, 32, 1}, .shape = shape, .strides = strides};
    ChipdockTensor to = from;
    to.data = b;
    ChipdockAny args[2] = {{.type_index = 7}, {.type_index = 7}}, result = {0};
    args[0].value.v_ptr = &from;
    args[1].value.v_ptr = &to;
    return function(NULL, args, count, &result);
}
static int wrong(void) {
    int count = 0;
    for (int i = 0; i < N; i++) count += b[i] != 2 * (float)i + 1;
    return count;
}
int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 1;
    ChipdockSafeCall function = (ChipdockSafeCall)dlsym(library, "__tvm_ffi_twice");
    for (int i = 0; i < N; i++) a[i] = (float)i;
    int before = threads(), right = call(function, 2), bad = wrong(), after = threads(), refused = call(function, 1);
    int child = fork(), status = 0;
    if (child == 0) {
        for (int i = 0; i < N; i++) b[i] = 0;
        _exit(call(function, 2) || wrong());
    }
    waitpid(child, &status, 0);
    // 2 a + 1 lies between 2^28 and the next number.
    for (int i = 0; i < N; i++) a[i] = 0x1p27f;
    int others = 0, was = fegetround();
    fesetround(FE_UPWARD);
    call(function, 2);
    fesetround(was);
    for (int i = 0; i < N; i++) others += b[i] != 0x1p28f + 32;
    dlclose(library);
    printf("%d %d %d %d %d %d %d\n", right, bad, before, after, refused, status, others);
    return 0;
}
"#;

/// A program that is its own TVM-FFI: prints what the functions other than `vector_add` answer, and
/// whether the function itself and `__tvm_ffi_main` refuse a call in the same way.
#[cfg(target_arch = "x86_64")]
const ASKS: &str = r#"
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
typedef struct { int32_t type, small; const void *value; } Any;
typedef struct { const char *data; size_t size; } Bytes;
typedef int32_t (*Function)(void *, const Any *, int32_t, Any *);
static const char *asked;
int TVMFFIStringFromByteArray(const Bytes *bytes, Any *result) {
    result->value = asked;
    return printf("%s: %.*s\n", asked, (int)bytes->size, bytes->data) < 0;
}
int main(int count, char **words) {
    const char *names[] = {"doc", "metadata"};
    char symbol[64];
    void *library = dlopen(words[count - 1], RTLD_NOW);
    if (!library) return puts(dlerror());
    for (int i = 0; i < 2; i++) {
        Any none = {0}, result = {0};
        snprintf(symbol, sizeof(symbol), "__tvm_ffi__%s_vector_add", asked = names[i]);
        if (((Function)dlsym(library, symbol))(0, &none, 0, &result) || result.value != asked) return puts(symbol);
    }
    Any result = {0};
    Function one = (Function)dlsym(library, "__tvm_ffi_vector_add"), whole = (Function)dlsym(library, "__tvm_ffi_main");
    printf("%d %d\n", one(0, &result, 0, &result), whole(0, &result, 0, &result));
    return dlclose(library);
}
"#;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    scratch.write("twice.py", PARALLEL);
    scratch.write("caller.c", CALLER);
    scratch
}

fn output(program: &str, arguments: &[&str]) -> String {
    let ended = end(Command::new(program).args(arguments));
    assert_eq!(ended.code, Some(0), "{program}: {}", ended.stderr);
    ended.stdout
}

fn built(scratch: &Scratch, words: &str) -> Ended {
    let ended = scratch.run(words);
    assert_eq!(ended.code, Some(0), "{words}: {}", ended.stderr);
    ended
}

/// Defined and undefined dynamic symbols of a library.
fn symbols(scratch: &Scratch, library: &str) -> (Vec<String>, Vec<String>) {
    let path = scratch.path(library).display().to_string();
    let names = |which: &str| {
        let list = output("nm", &["-D", which, "--format=just-symbols", &path]);
        let mut names: Vec<String> =
            list.lines().map(|line| line.split('@').next().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    (names("--defined-only"), names("--undefined-only"))
}

/// EXPORT-X1, EXPORT-X2.
#[test]
fn a_library_has_the_symbols_of_its_functions_and_no_others() {
    let scratch = scratch();
    for target in ["c", "llvm"] {
        built(&scratch, &format!("build vector_add.py --target {target} -o one.so"));
        let (defined, undefined) = symbols(&scratch, "one.so");
        assert_eq!(
            defined,
            [
                "__chipdock_env",
                "__chipdock_library",
                "__tvm_ffi__doc_vector_add",
                "__tvm_ffi__library_ctx",
                "__tvm_ffi__metadata_vector_add",
                "__tvm_ffi_main",
                "__tvm_ffi_vector_add",
            ]
        );
        assert!(undefined.iter().all(|name| !name.contains("TVMFFI")), "{undefined:?}");
        let path = scratch.path("one.so").display().to_string();
        let dynamic = output("readelf", &["-d", &path]);
        let needed: Vec<&str> = dynamic.lines().filter(|line| line.contains("(NEEDED)")).collect();
        let is_of_c = |line: &&str| {
            line.contains("[libc.so") || line.contains("[libm.so") || line.contains("[ld-linux")
        };
        assert!(needed.iter().all(is_of_c), "{needed:?}");
        let first = fs::read(scratch.path("one.so")).unwrap();
        assert!(
            !String::from_utf8_lossy(&first).contains(&*scratch.path("").to_string_lossy()),
            "a path is in it"
        );
        built(&scratch, &format!("build vector_add.py --target {target} -o one.so"));
        assert!(fs::read(scratch.path("one.so")).unwrap() == first, "{target}: the same bytes");
    }
    built(&scratch, "build multi.py --target c -o several.so");
    let (defined, _) = symbols(&scratch, "several.so");
    assert!(!defined.contains(&"__tvm_ffi_main".to_owned()), "{defined:?}");
    assert!(defined.iter().filter(|name| name.starts_with("__tvm_ffi__doc_")).count() > 1, "{defined:?}");
}

/// EXPORT-R1, EXPORT-R4 to EXPORT-R6: a program in C without TVM-FFI; also one for another machine.
#[test]
fn a_program_without_tvm_ffi_calls_a_library_on_several_threads() {
    let scratch = scratch();
    let include = workspace().join("plugin-api/abi/include").display().to_string();
    let cross = "aarch64-linux-gnu-gcc";
    let own = std::env::consts::ARCH;
    for (target, machine) in [
        ("c", own),
        ("llvm", own),
        (r#"{"kind":"llvm","mtriple":"aarch64-linux-gnu"}"#, "aarch64"),
        ("c --config c.compiler=aarch64-linux-gnu-gcc", "aarch64"),
    ] {
        let is_own = machine == own;
        if !is_own && Command::new("qemu-aarch64").arg("--version").output().is_err() {
            missing("qemu-aarch64, which runs programs of another machine (Debian: qemu-user)");
            continue;
        }
        built(&scratch, &format!("build twice.py --target {target} -o twice.so"));
        let (caller, source) = (scratch.path("caller"), scratch.path("caller.c").display().to_string());
        let caller = caller.display().to_string();
        output(
            if is_own { "cc" } else { cross },
            &["-I", &include, "-w", "-o", &caller, &source, "-ldl", "-lm"],
        );
        let library = scratch.path("twice.so").display().to_string();
        let run = |threads: &str| {
            let mut command = match is_own {
                true => Command::new(&caller),
                false => Command::new("qemu-aarch64"),
            };
            if !is_own {
                command.args(["-L", "/usr/aarch64-linux-gnu", &caller]);
            }
            let ended = end(command.arg(&library).env("CHIPDOCK_THREADS", threads));
            assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
            let numbers: Vec<i64> =
                ended.stdout.split_whitespace().map(|word| word.parse().unwrap()).collect();
            <[i64; 7]>::try_from(numbers).unwrap()
        };
        for threads in [1, 3] {
            let [right, wrong, before, after, refused, child, others] = run(&threads.to_string());
            assert_eq!((right, wrong, refused, child), (0, 0, -1, 0), "{target} on {threads} threads");
            assert_eq!(after - before, threads - 1, "{target}: EXPORT-R4");
            assert_eq!(others, 0, "{target}: EXPORT-R5, the caller's rounding");
        }
    }
}

/// EXPORT-R8: code that this processor cannot run is refused in the library's own entry, by whoever
/// links it; nothing that begins to run ends by a signal.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_library_for_another_processor_refuses_each_call() {
    if std::arch::is_x86_feature_detected!("tbm") {
        return chipdock_test_support::skipped(
            "a library for another processor: this one has the extension tbm",
        );
    }
    let scratch = scratch();
    let input = (0..8).map(|at| at as f32).collect::<Vec<_>>();
    scratch.write_f32("a.npy", &[8], &input);
    scratch.write_f32("b.npy", &[8], &input);
    let run = |library: &str| scratch.run(&format!("run {library} --in A=a.npy --in B=b.npy --out C=c.npy"));
    let is_haswell =
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("movbe");
    if !is_haswell {
        chipdock_test_support::skipped("a library for this processor by name: it is none of Haswell's");
    }
    for (kind, processor) in [("c", "march"), ("llvm", "mcpu")] {
        for linker in ["", " --linker cc"] {
            let build = |value: &str, more: &str| {
                let target = format!(r#"{{"kind":"{kind}","{processor}":"{value}"}}"#);
                built(&scratch, &format!("build vector_add.py --target {target} -o one.so{linker}{more}"));
            };
            build("bdver2", "");
            run("one.so").failed(1, &["this library needs", "tbm", "this machine's processor", processor]);
            let (defined, _) = symbols(&scratch, "one.so");
            assert!(
                defined.iter().all(|name| !name.contains("cpu") && !name.contains("needs")),
                "{defined:?}"
            );
            assert!(defined.contains(&"__tvm_ffi_main".to_owned()), "{defined:?}");
            build("x86-64", "");
            assert_eq!(run("one.so").code, Some(0));
            if is_haswell {
                build("haswell", "");
                let ended = run("one.so");
                assert_eq!(ended.code, Some(0), "{}", ended.stderr);
                assert_eq!(scratch.read_npy::<f32>("c.npy").1[3], 6.0);
            }
        }
    }
}

/// EXPORT-X4.
#[test]
fn device_code_is_in_the_library_or_beside_it() {
    let scratch = scratch();
    built(&scratch, "build vector_add.py --target metal -o inside.so");
    let (defined, _) = symbols(&scratch, "inside.so");
    assert!(defined.contains(&"__tvm_ffi__library_bin".to_owned()), "{defined:?}");
    let json =
        built(&scratch, "build vector_add.py --target metal --device-code aside -o out.so --json").json();
    assert_eq!((json["emit"].as_str(), json["aside"].as_str()), (Some("library"), Some("out.chipdock")));
    let (defined, _) = symbols(&scratch, "out.so");
    assert!(!defined.contains(&"__tvm_ffi__library_bin".to_owned()), "{defined:?}");
    assert!(fs::read(scratch.path("out.chipdock")).unwrap().starts_with(b"CHIPDOCK"));
    // Without device code there is nothing to write beside it.
    let json =
        built(&scratch, "build vector_add.py --target c --device-code aside -o plain.so --json").json();
    assert_eq!(json["aside"], serde_json::Value::Null);
    assert!(!scratch.path("plain.chipdock").exists());
    for words in ["-o x.o --device-code aside", "-o x.tar --linker cc", "-o x.o --linker cc"] {
        scratch.run(&format!("build vector_add.py --target c {words}")).failed(2, &["is for"]);
    }
    scratch
        .run("build vector_add.py --target metal --device-code aside -o y.chipdock --emit library")
        .failed(2, &["go"]);
}

/// EXPORT-X6: another compiler links what is in the archive to the same library.
#[test]
fn an_archive_is_linked_with_make() {
    let scratch = scratch();
    built(&scratch, "build twice.py --target c -o twice.tar");
    let first = fs::read(scratch.path("twice.tar")).unwrap();
    built(&scratch, "build twice.py --target c -o twice.tar");
    assert!(fs::read(scratch.path("twice.tar")).unwrap() == first, "the same bytes");
    let folder = scratch.path("linked");
    fs::create_dir(&folder).unwrap();
    let (tar, folder) = (scratch.path("twice.tar").display().to_string(), folder.display().to_string());
    output("tar", &["-xf", &tar, "-C", &folder]);
    output("make", &["-C", &folder, "CC=cc", "OUT=twice.so"]);
    built(&scratch, "build twice.py --target c --linker cc -o twice.so");
    assert_eq!(symbols(&scratch, "linked/twice.so"), symbols(&scratch, "twice.so"));
}

/// EXPORT-X7: the linker makes what the compiler makes, but for the compiler's start files; where
/// it may not be taken or does not link, the compiler does.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_linker_links_without_a_compiler() {
    let scratch = scratch();
    let (tools, log) = (scratch.path("tools"), scratch.path("log"));
    fs::create_dir(&tools).unwrap();
    let tool = |name: &str, before: &str, real: &str| {
        let text = format!("#!/bin/sh\necho {name} >> {}\n{before}exec {real} \"$@\"\n", log.display());
        fs::write(tools.join(name), text).unwrap();
        fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let real = |name: &str| output("sh", &["-c", &format!("command -v {name}")]).trim().to_owned();
    let (cc, ld, path) = (real("cc"), real("ld"), std::env::var("PATH").unwrap());
    scratch.write("asks.c", ASKS);
    let [source, asks] = ["asks.c", "asks"].map(|name| scratch.path(name).display().to_string());
    output("cc", &["-rdynamic", "-o", &asks, &source, "-ldl"]);
    // The file's defined symbols, what it needs of others, and what it answers; and the tools that
    // ran for it.
    let made = |name: &str, variables: &[(&str, &str)]| {
        let _ = fs::remove_file(&log);
        let mut command = scratch.command("build vector_add.py --target llvm -o out.so");
        command.env_remove("CC").env("PATH", format!("{}:{path}", tools.display()));
        let ended = end(command.envs(variables.iter().copied()));
        assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
        let (defined, mut undefined) = symbols(&scratch, "out.so");
        let start =
            ["_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__cxa_finalize", "__gmon_start__"];
        undefined.retain(|name| !start.contains(&name.as_str()));
        let texts = output(&asks, &[&scratch.path("out.so").display().to_string()]);
        let tools: Vec<String> =
            fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect();
        ((defined, undefined, texts), tools.join(" "))
    };
    tool("cc", "", &cc);
    let (by_compiler, tools_run) = made("a linker elsewhere", &[]);
    assert_eq!(tools_run, "cc", "no linker beside it");
    assert!(
        by_compiler.2.starts_with("doc: vector_add(A: ") && by_compiler.2.contains("type_schema"),
        "{}",
        by_compiler.2
    );
    tool("ld", "", &ld);
    assert_eq!(made("beside it", &[]), (by_compiler.clone(), "ld".to_owned()));
    let with_variable = made("a variable that compilers read", &[("LIBRARY_PATH", "/none")]);
    assert!(with_variable.1.starts_with("cc"), "{}", with_variable.1);
    assert_eq!(with_variable.0, by_compiler);
    assert!(made("CC", &[("CC", "cc")]).1.starts_with("cc"));
    // The compiler's run of it succeeds: it names the libraries by their folders.
    tool("ld", "case \"$*\" in *-L*) ;; *) exit 1;; esac\n", &ld);
    let refused = made("a linker that does not link alone", &[]);
    assert!(refused.1.starts_with("ld cc"), "{}", refused.1);
    assert_eq!(refused.0, by_compiler);
}

/// EXPORT-X5, EXPORT-X6: what cannot be linked is said, and nothing is left behind.
#[test]
fn link_failures_are_reported() {
    let scratch = scratch();
    scratch.write(
        "extern.py",
        "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4,), \"int32\")):\n    A[0] = T.call_extern(\"int32\", \"nobody_has_this\", A[1])\n",
    );
    let other = "--target {\"kind\":\"llvm\",\"mtriple\":\"riscv64-linux-gnu\"}";
    let windows = "--target {\"kind\":\"llvm\",\"mtriple\":\"x86_64-pc-windows-msvc\"}";
    for (words, code, says) in [
        (
            "vector_add.py --target c --linker no-such-compiler",
            3,
            &["x86_64", "no-such-compiler", "that is there"][..],
        ),
        ("vector_add.py --target c --linker false", 3, &["`false`", "did not link"]),
        ("vector_add.py --target c --linker true", 1, &["`true` ended with success", "No such file"]),
        (
            &format!("vector_add.py {other}"),
            3,
            &["riscv64", "gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross", "OUT.tar"],
        ),
        (&format!("vector_add.py {windows}"), 2, &["not an ELF object", "OUT.o"]),
        ("extern.py --target c", 2, &["`nobody_has_this`", "OUT.tar"]),
    ] {
        let before = scratch.names();
        let says: Vec<&str> =
            says.iter().copied().filter(|says| *says != "x86_64" || cfg!(target_arch = "x86_64")).collect();
        let ended = scratch.run(&format!("build {words} -o no.so"));
        ended.failed(code, &says);
        assert_eq!(scratch.names(), before, "{words}");
    }
    let named = end(scratch
        .command("build vector_add.py --target c -o no.so")
        .env("CHIPDOCK_LINKER", "no-such-compiler"));
    named.failed(3, &["no-such-compiler", "CHIPDOCK_LINKER"]);
}

/// EXPORT-X6: for this machine the run time is compiled already; where that does not link, or the
/// compiler has arguments of its own, its text is compiled.
#[test]
fn the_run_time_is_compiled_once() {
    let scratch = scratch();
    let log = scratch.path("log");
    let refuses = "case \"$*\" in *runtime.o*) exit 1;; esac\n";
    let runs = |name: &str, before: &str, words: &str| {
        let compiler = scratch.path(name);
        let text = format!("#!/bin/sh\necho \"$*\" >> {}\n{before}exec cc \"$@\"\n", log.display());
        fs::write(&compiler, text).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        let _ = fs::remove_file(&log);
        let linker = format!("{}{words}", compiler.display());
        let ended =
            end(scratch.command("build twice.py --target c -o out.so").env("CHIPDOCK_LINKER", linker));
        assert!(ended.code == Some(0), "{}", ended.stderr);
        let runs = fs::read_to_string(&log).unwrap();
        (symbols(&scratch, "out.so"), runs.lines().map(|line| line.contains("runtime.o")).collect::<Vec<_>>())
    };
    let (whole, with_object) = runs("takes", "", "");
    assert_eq!(with_object, [true]);
    assert_eq!(runs("refuses", refuses, ""), (whole.clone(), vec![true, false]));
    assert_eq!(runs("has-arguments", "", " -DANY"), (whole, vec![false]));
}
