//! Tests of `chipdock build`. Rules are those of the command's front page.

use chipdock_test_support::command::{Scratch, fields};
use serde_json::json;

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    scratch
}

#[test]
fn the_module_as_read_reads_back() {
    let scratch = scratch();
    let first = scratch.run("build multi.py --emit ir -o one.py");
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let again = scratch.run("build one.py --emit ir -o two.py");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let read = |name: &str| std::fs::read_to_string(scratch.path(name)).unwrap();
    assert_eq!(read("one.py"), read("two.py"));
    assert!(read("one.py").contains("def scale(") && read("one.py").contains("def add("));
    let only = scratch.run("build multi.py:add --emit ir");
    assert!(only.stdout.contains("def add(") && !only.stdout.contains("def scale("), "{}", only.stdout);
}

#[test]
fn corrections_while_reading_are_shown_with_verbose() {
    let scratch = Scratch::new();
    let kernel = "@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n    \
                  with T.sblock(\"copy\"):\n        T.reads()\n        T.writes(B[0:8])\n        for i in range(8):\n            \
                  B[i] = A[i]\n";
    std::fs::write(scratch.path("hints.py"), kernel).unwrap();
    let output = scratch.run("build hints.py --target c --verbose");
    let note = "note: in f: block `copy` reads `A`, which its T.reads(...) leaves out; all of it was added (hints.py:3:10)";
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert!(output.stderr.contains(note), "{}", output.stderr);
    let quiet = scratch.run("build hints.py --target c");
    assert!(quiet.code == Some(0) && !quiet.stderr.contains("T.reads"), "{}", quiet.stderr);
}

#[test]
fn a_schedule_is_shown_or_left_out() {
    let scratch = scratch();
    let auto = scratch.run("build vector_add.py --target c --emit schedule");
    let none = scratch.run("build vector_add.py --target c --emit schedule --schedule none");
    assert_eq!((auto.code, none.code), (Some(0), Some(0)), "{}{}", auto.stderr, none.stderr);
    assert!(auto.stdout.contains("def vector_add("), "{}", auto.stdout);
    assert!(none.stdout.contains("def vector_add("), "{}", none.stdout);
}

/// An annotation that no pass knows is not a schedule: the kernel gets the same schedule as without
/// it. `--verbose` reports it.
#[test]
fn an_annotation_that_nobody_knows_changes_nothing() {
    let scratch = Scratch::new();
    let kernel = |annotations: &str| {
        format!(
            "@T.prim_func(s_tir=True)
def f(A: T.Buffer((64, 64), \"float32\"), B: T.Buffer((64, 64), \"float32\"), C: T.Buffer((64, 64), \"float32\")):
    for i in range(64):
        for j in T.serial(64{annotations}):
            for k in range(64):
                with T.sblock(\"C\"):
                    vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])
                    with T.init():
                        C[vi, vj] = T.float32(0)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"
        )
    };
    let note = ", annotations={\"software_pipeline_stage\": [0, 1]}";
    std::fs::write(scratch.path("plain.py"), kernel("")).unwrap();
    std::fs::write(scratch.path("noted.py"), kernel(note)).unwrap();
    let plain = scratch.run("build plain.py --target c");
    let noted = scratch.run("build noted.py --target c");
    assert_eq!((plain.code, noted.code), (Some(0), Some(0)), "{}{}", plain.stderr, noted.stderr);
    assert_eq!(plain.stdout, noted.stdout);
    assert!(!noted.stderr.contains("software_pipeline_stage"), "{}", noted.stderr);
    let output = scratch.run("build noted.py --target c --verbose");
    let line =
        "4:9: in f: the annotation \"software_pipeline_stage\" of loop j changes nothing: no pass knows it";
    assert!(output.stderr.contains(line), "{}", output.stderr);
}

#[test]
fn the_source_goes_to_the_given_file() {
    let scratch = scratch();
    let shown = scratch.run("build vector_add.py --target c");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.contains("__tvm_ffi_vector_add"), "{}", shown.stdout);
    let written = scratch.run("build vector_add.py --target c -o out.c");
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stdout.starts_with("out.c: source for c, compiled in "), "{}", written.stdout);
    assert_eq!(std::fs::read_to_string(scratch.path("out.c")).unwrap(), shown.stdout);
    assert_eq!(scratch.run("build vector_add.py --target c --emit source -o out.txt").code, Some(0));
}

/// Files of a language whose usual ending is not the name of the artifact's format.
#[test]
fn a_text_goes_to_a_file_of_its_usual_ending() {
    let scratch = scratch();
    for (target, ending, format) in
        [("{\"kind\":\"cuda\",\"format\":\"cuda\"}", "cu", "cuda"), ("metal", "metal", "msl")]
    {
        let text = scratch.run(&format!("build vector_add.py --target {target} --emit source")).stdout;
        assert!(text.contains("vector_add"), "{text}");
        for ending in [ending, format] {
            let ended = scratch.run(&format!("build vector_add.py --target {target} -o out.{ending}"));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ending}");
            let file = std::fs::read_to_string(scratch.path(&format!("out.{ending}"))).unwrap();
            assert_eq!(file, text, "{ending}");
        }
        let says = [
            &format!("which delivers {format}; found xyz"),
            &format!("--emit source (-o OUT.{ending}) shows the text"),
            &format!("-o OUT.{format} writes what it delivers"),
        ];
        let ended = scratch.run(&format!("build vector_add.py --target {target} -o out.xyz"));
        ended.failed(2, &says.map(String::as_str));
    }
}

/// A format is the plugin's own word; whether it can be shown is what its section holds.
#[test]
fn a_format_that_is_not_text_goes_to_a_file() {
    let scratch = scratch();
    let spv = "build vector_add.py --target vulkan --emit spv";
    scratch.run(&format!("{spv} --json")).failed(2, &["spv is not text", "help: name a file: -o OUT.spv"]);
    for out in [format!("{spv} -o out.bin"), "build vector_add.py --target vulkan -o out.spv".to_owned()] {
        assert_eq!(scratch.run(&out).code, Some(0), "{out}");
    }
    let words = std::fs::read(scratch.path("out.spv")).unwrap();
    assert!(words.starts_with(&0x0723_0203_u32.to_le_bytes()));
    assert!(std::fs::read(scratch.path("out.bin")).unwrap() == words);
    let piped = scratch.command(spv).output().unwrap();
    assert!(piped.stdout == words, "byte for byte where no terminal is (CLI-C9)");
}

#[test]
fn an_artifact_is_a_container() {
    let scratch = scratch();
    let ended = scratch.run("build vector_add.py --target c -o out.artifact");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(std::fs::read(scratch.path("out.artifact")).unwrap().starts_with(b"CHIPDOCK"));
}

#[test]
fn json_keeps_its_form() {
    let scratch = scratch();
    let json = scratch.run("build multi.py --target c -o out.c --json").json();
    assert_eq!(json["schema"], "chipdock.build/1");
    assert_eq!(json["functions"], json!(["scale", "add"]));
    assert_eq!((json["format"].as_str(), json["emit"].as_str()), (Some("c"), Some("source")));
    let mut pruned = json.clone();
    pruned["target"] = json!(null);
    pruned["host"] = json!(null);
    let expected = "\
aside: null
cached: bool
compile_seconds: number
emit: string
format: string
functions[]: string
host: null
module_kind: string
output: string
schema: string
sections[].kind: string
sections[].name: string
sections[].size_bytes: number
size_bytes: number
target: null
text: null";
    assert_eq!(fields(&pruned), expected, "CLI-C4: fields are added, never changed or removed");
    let text = scratch.run("build multi.py --emit ir --json").json();
    assert!(text["text"].as_str().unwrap().contains("def scale("));
}

#[test]
fn a_failed_build_gives_the_reason_and_leaves_no_file() {
    let scratch = scratch();
    let before = scratch.names();
    for (words, code, says) in [
        (
            "vector_add.py --target c -o out.ll",
            2,
            vec!["expected an output of target c, which delivers c; found ll", "-o OUT.c"],
        ),
        (
            "vector_add.py --target c -o out.ptx",
            2,
            vec!["expected an output of target c, which delivers c; found ptx", "help: it has ", "-o OUT.c"],
        ),
        ("vector_add.py --target c --emit asm", 2, vec!["found asm", "--emit source"]),
        (
            "vector_add.py --target c --emit nothing",
            2,
            vec!["found nothing", "it has \"source\", \"c\"", "--emit source"],
        ),
        (
            "vector_add.py --target c --emit asm -o out.o",
            2,
            vec!["--emit asm and a file .o do not go together"],
        ),
        (
            "vector_add.py --target c --emit object -o out.tar",
            2,
            vec!["do not go together", "leave --emit out"],
        ),
        (
            "vector_add.py --emit object --json",
            2,
            vec!["an object file is not text", "help: name a file: -o OUT.o"],
        ),
        ("vector_add.py --target c --emit artifact --json", 2, vec!["an artifact is not text"]),
        ("vector_add.py --target c -o no/out.c", 1, vec!["cannot write", "--> no/out.c"]),
        ("vector_add.py --target nosuch -o out.c", 3, vec!["nosuch"]),
        ("vector_add.py --target {} -o out.c", 2, vec!["kind"]),
        ("vector_add.py --target {\"kind\":\"c\",\"nosuch\":1} -o out.c", 2, vec!["nosuch"]),
        ("vector_add.py --target {\"kind\": -o out.c", 2, vec!["JSON"]),
        ("vector_add.py --target c --host nosuch -o out.c", 3, vec!["nosuch"]),
        (
            "vector_add.py:nosuch --target c -o out.c",
            2,
            vec!["no function \"nosuch\"; the file has \"vector_add\""],
        ),
        ("none.py --target c -o out.c", 2, vec!["--> none.py"]),
    ] {
        scratch.run(&format!("build {words}")).failed(code, &says);
    }
    assert_eq!(scratch.names(), before);
}

/// Object files come from the loader, so that targets whose artifacts are source deliver them too.
#[test]
fn an_object_file_has_the_functions_of_the_module() {
    let scratch = scratch();
    let ended = scratch.run("build multi.py --target c -o out.o");
    assert!(ended.stdout.starts_with("out.o: object for c, "), "{}{}", ended.stdout, ended.stderr);
    let first = std::fs::read(scratch.path("out.o")).unwrap();
    assert!(first.starts_with(b"\x7fELF") && first[16..18] == [1, 0], "a relocatable ELF file");
    let again = scratch.run("build multi.py --target c --no-cache --emit object -o again.bin");
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(std::fs::read(scratch.path("again.bin")).unwrap() == first, "the same bytes (M.17)");
    // A linker finds nothing missing, and shows both functions.
    let mut link = std::process::Command::new("cc");
    link.args(["-shared", "-Wl,-z,defs", "out.o", "-lm", "-o", "out.linked"]).current_dir(scratch.path("."));
    let linked = link.output().expect("the C compiler of the test before");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let library = std::fs::read(scratch.path("out.linked")).unwrap();
    for symbol in ["__tvm_ffi_scale", "__tvm_ffi_add", "__chipdock_env"] {
        assert!(library.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes()), "{symbol}");
    }
}

#[test]
fn an_object_file_cannot_hold_device_code() {
    let scratch = scratch();
    let ended = scratch.run("build vector_add.py --target opencl --host c -o out.o");
    ended.failed(2, &["host functions alone", "opencl", "-o OUT.chipdock", "-o OUT.so"]);
    let no_compiler = scratch.run("build vector_add.py --target c --config c.compiler=/none/cc -o out.o");
    no_compiler.failed(3, &["object file", "tried /none/cc", "module.load.c"]);
    assert!(!scratch.path("out.o").exists());
}
