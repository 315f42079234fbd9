//! Tests of built files: `build -o OUT.chipdock`, `run` of what was built, `inspect`. Rules are
//! those of the command's front page.

use std::process::Command;

use chipdock_test_support::command::{Scratch, built};
use chipdock_test_support::workspace;
use serde_json::{Value, json};

/// A folder with a built vector_add, its inputs of `n` elements, and their sum.
fn built_add(n: usize, target: &str) -> (Scratch, Vec<f32>) {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| 100.0 - i as f32).collect();
    scratch.write_f32("a.npy", &[n as u64], &a);
    scratch.write_f32("b.npy", &[n as u64], &b);
    let ended = scratch.run(&format!("build vector_add.py --target {target} -o add.chipdock"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("add.chipdock: artifact for "), "{}", ended.stdout);
    // The kernel is not needed any more.
    std::fs::remove_file(scratch.path("vector_add.py")).unwrap();
    (scratch, a.iter().zip(&b).map(|(a, b)| a + b).collect())
}

const ADD: &str = "--in A=a.npy --in B=b.npy --out C=c.npy";

#[test]
fn cli_c14_an_artifact_runs_as_its_kernel_does() {
    for n in [0, 1, 1000] {
        let (scratch, sum) = built_add(n, "c");
        for file in ["add.chipdock", "add.chipdock:vector_add"] {
            let ended = scratch.run(&format!("run {file} {ADD}"));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stderr);
            assert!(ended.stdout.contains("built before"), "{}", ended.stdout);
            assert_eq!(scratch.read_npy::<f32>("c.npy"), (vec![n as u64], sum.clone()));
        }
        // Its contents decide, not its name.
        std::fs::rename(scratch.path("add.chipdock"), scratch.path("add.py")).unwrap();
        let run = scratch.run(&format!("run add.py {ADD} --json")).json();
        assert_eq!(
            (&run["built"], &run["compile_seconds"], &run["device"]),
            (&json!(true), &json!(0.0), &json!("cpu:0"))
        );
    }
}

#[test]
fn cli_c7_a_built_function_binds_symbols_and_checks_inputs_as_its_kernel() {
    let (scratch, _) = built_add(4, "c");
    let zeros = scratch.run("run add.chipdock --set n=8 --out C=c.npy");
    assert_eq!(zeros.code, Some(0), "{}", zeros.stderr);
    assert_eq!(scratch.read_npy::<f32>("c.npy"), (vec![8], vec![0.0; 8]));
    scratch.run("run add.chipdock").failed(2, &["n has no value", "--set n=VALUE"]);
    scratch.run("run add.chipdock --in X=a.npy").failed(2, &["no buffer \"X\"", "\"A\", \"B\", \"C\""]);
    scratch.write_f32("long.npy", &[5], &[0.0; 5]);
    scratch.run("run add.chipdock --in A=a.npy --in B=long.npy").failed(2, &["expected n = 4", "found 5"]);
    let scale = scratch.run("build multi.py --target c -o multi.artifact");
    assert_eq!(scale.code, Some(0), "{}", scale.stderr);
    scratch
        .run("run multi.artifact")
        .failed(2, &["several functions: \"scale\", \"add\"", "multi.artifact:scale"]);
    scratch.run("run multi.artifact:none").failed(2, &["no function \"none\""]);
    let scaled = scratch.run("run multi.artifact:scale --set factor=2 --in A=a.npy --out B=s.npy");
    assert_eq!(scaled.code, Some(0), "{}", scaled.stderr);
    assert_eq!(scratch.read_npy::<f32>("s.npy").1, [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn cli_c14_options_for_compiling_are_wrong_with_a_built_file() {
    let (scratch, _) = built_add(4, "c");
    for option in ["--target c", "--host c", "--schedule none", "--no-cache"] {
        scratch.run(&format!("run add.chipdock {ADD} {option}")).failed(
            2,
            &[&format!("{option} is for compiling").replace(" c is", " is"), "add.chipdock is built already"],
        );
    }
    let file = std::fs::read(scratch.path("add.chipdock")).unwrap();
    scratch.write("cut.chipdock", &file[..file.len() / 2]);
    scratch.run(&format!("run cut.chipdock {ADD}")).failed(2, &["not a whole artifact", "cut.chipdock"]);
    // Without the plugin that loads it.
    let missing = scratch.run(&format!("run add.chipdock {ADD} --disable c"));
    assert_eq!(missing.code, Some(3), "{}", missing.stderr);
}

#[test]
fn cli_c14_device_code_runs_on_the_device_that_it_was_built_for() {
    let (scratch, sum) = built_add(1000, "opencl");
    let inspected = scratch.run("inspect add.chipdock --json").json();
    assert_eq!(inspected["module"]["imports"][0]["target"]["kind"], "opencl");
    let devices = scratch.run("devices --json").json();
    let mut all =
        devices["device_apis"].as_array().unwrap().iter().flat_map(|api| api["devices"].as_array().unwrap());
    let is_here = all.any(|device| device["device"] == "opencl:0");
    let ended = scratch.run(&format!("run add.chipdock {ADD} --json"));
    if !is_here {
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        return chipdock_test_support::skipped("run of a built file on a device: no device of opencl");
    }
    let run = ended.json();
    assert_eq!((&run["device"], &run["target"]["kind"]), (&json!("opencl:0"), &json!("opencl")));
    assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
    scratch.run(&format!("run add.chipdock {ADD} --device cpu:0")).failed(2, &["runs on opencl, not on cpu"]);
}

/// Makes a library as Chipdock's: the source that target c writes, compiled, with the description
/// of its artifact.
fn library(scratch: &Scratch, name: &str, artifact: Option<&Value>, aside: &Value) {
    let source = scratch.run("build vector_add.py --target c -o add.c");
    assert_eq!(source.code, Some(0), "{}", source.stderr);
    let mut text = std::fs::read_to_string(scratch.path("add.c")).unwrap();
    if let Some(artifact) = artifact {
        let document = json!({
            "schema": "chipdock.library/1", "made_by": "a test", "main": "vector_add", "artifact": artifact, "aside": aside,
        });
        let document = document.to_string();
        let size = (document.len() as u64).to_le_bytes();
        let bytes: Vec<String> = size.iter().chain(document.as_bytes()).map(u8::to_string).collect();
        text += &format!(
            "\n__attribute__((visibility(\"default\"))) const unsigned char __chipdock_library[] = {{{}}};\n",
            bytes.join(",")
        );
    }
    let path = scratch.write(&format!("{name}.c"), text);
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-w", "-I"]).arg(workspace().join("plugin-api/abi/include"));
    assert!(command.arg("-o").arg(scratch.path(name)).arg(path).arg("-lm").status().expect("cc").success());
}

/// The description of the built artifact: its index, its target, and the signatures of its
/// functions.
fn described(scratch: &Scratch) -> Value {
    let ended = scratch.run("build vector_add.py --target c -o add.chipdock");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let bytes = std::fs::read(scratch.path("add.chipdock")).unwrap();
    let size = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[56..56 + size]).unwrap();
    let target = "{\"kind\":\"c\",\"tag\":\"\",\"keys\":[\"cpu\"]}";
    let module = &header["modules"][0];
    json!({"index": module["index"], "target": target, "signatures": module["signatures"]})
}

#[test]
fn cli_c14_a_library_runs_without_any_plugin() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    scratch.write_f32("a.npy", &[4], &[1.0, 2.0, 3.0, 4.0]);
    scratch.write_f32("b.npy", &[4], &[10.0, 20.0, 30.0, 40.0]);
    library(&scratch, "add.so", Some(&described(&scratch)), &Value::Null);
    let bare = Scratch::without_plugins();
    for name in ["add.so", "a.npy", "b.npy"] {
        std::fs::copy(scratch.path(name), bare.path(name)).unwrap();
    }
    for file in ["add.so", "add.so:vector_add", "add.so:main"] {
        let run = bare.run(&format!("run {file} {ADD} --json")).json();
        assert_eq!((&run["target"]["kind"], &run["device"]), (&json!("c"), &json!("cpu:0")));
        assert_eq!(bare.read_npy::<f32>("c.npy").1, [11.0, 22.0, 33.0, 44.0]);
    }
    bare.run(&format!("run add.so {ADD} --device opencl:0")).failed(2, &["runs on cpu, not on opencl"]);
    // A library of others has no types.
    library(&scratch, "plain.so", None, &Value::Null);
    scratch
        .run(&format!("run plain.so {ADD}"))
        .failed(2, &["does not say what function \"vector_add\" takes"]);
}

/// What `build -o OUT.so` wrote, with device code in it and beside it.
#[test]
fn cli_c14_a_library_runs_with_its_device_code() {
    let (scratch, sum) = built_add(1000, "opencl");
    scratch.kernel("vector_add.py");
    let devices = scratch.run("devices --json").json();
    let mut all =
        devices["device_apis"].as_array().unwrap().iter().flat_map(|api| api["devices"].as_array().unwrap());
    let is_here = all.any(|device| device["device"] == "opencl:0");
    for (name, more) in [("in.so", ""), ("aside.so", " --device-code aside")] {
        let build = scratch.run(&format!("build vector_add.py --target opencl --host c -o {name}{more}"));
        assert_eq!(build.code, Some(0), "{}", build.stderr);
        let shown = scratch.run(&format!("inspect {name} --json")).json();
        assert_eq!(shown["what"], "library");
        let imports = shown["module"]["imports"].as_array().unwrap();
        assert_eq!(imports.len(), usize::from(more.is_empty()), "{shown:#}");
        assert_eq!(shown["needs"]["aside"].is_null(), more.is_empty(), "{shown:#}");
        let ended = scratch.run(&format!("run {name} {ADD} --json"));
        if !is_here {
            assert_eq!(ended.code, Some(4), "{}", ended.stderr);
            continue;
        }
        let run = ended.json();
        assert_eq!((&run["device"], &run["host"]["kind"]), (&json!("opencl:0"), &json!("c")));
        assert_eq!(scratch.read_npy::<f32>("c.npy").1, sum);
        std::fs::remove_file(scratch.path("c.npy")).unwrap();
    }
    std::fs::remove_file(scratch.path("aside.chipdock")).unwrap();
    let ended = scratch.run(&format!("run aside.so {ADD}"));
    assert_ne!(ended.code, Some(0), "{}", ended.stdout);
    assert!(ended.stderr.contains("aside.chipdock"), "{}", ended.stderr);
    if !is_here {
        chipdock_test_support::skipped("run of a library with device code: no device of opencl");
    }
}

#[test]
fn cli_c14_inspect_shows_the_contents_of_an_artifact() {
    let (scratch, _) = built_add(4, "c");
    let json = scratch.run("inspect add.chipdock --json").json();
    assert_eq!((&json["schema"], &json["what"]), (&json!("chipdock.inspect/1"), &json!("artifact")));
    let module = &json["module"];
    assert_eq!((&module["kind"], &module["target"]["kind"]), (&json!("c"), &json!("c")));
    let params = module["functions"][0]["params"].as_array().unwrap();
    assert_eq!(params[0], json!({"name": "A", "kind": "buffer", "dtype": "float32", "shape": ["n"]}));
    assert_eq!(module["sections"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(module.get("source").is_none(), "{module:#}");
    let text = scratch.run("inspect add.chipdock");
    for says in
        ["FILE", "artifact", "A: float32[n], B: float32[n], C: float32[n]", "__tvm_ffi_vector_add", "SECTION"]
    {
        assert!(text.stdout.contains(says), "{says} in {}", text.stdout);
    }
    let source = scratch.run("inspect add.chipdock --source");
    assert!(source.stdout.contains("SOURCE OF MODULE 1\n"), "{}", source.stdout);
    assert!(source.stdout.contains("int32_t __tvm_ffi_vector_add("), "{}", source.stdout);
    scratch.write("text.py", "hello");
    scratch.run("inspect text.py").failed(2, &["no built file", "text.py"]);
    scratch.run("inspect nowhere.so").failed(2, &["nowhere.so"]);
}

/// No code of a library runs: it would end the command.
#[test]
fn cli_c14_inspect_reads_any_library_and_opens_none() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    let aside = json!({"file": "add-device.chipdock", "sha256": "0".repeat(64)});
    library(&scratch, "add.so", Some(&described(&scratch)), &aside);
    let json = scratch.run("inspect add.so --json").json();
    assert_eq!(
        (&json["what"], &json["made_by"], &json["main"]),
        (&json!("library"), &json!("a test"), &json!("vector_add"))
    );
    assert_eq!(json["needs"]["environment"], true);
    assert!(json["needs"]["aside"]["problem"].as_str().unwrap().contains("beside it"), "{json:#}");
    assert!(
        json["needs"]["libraries"].as_array().unwrap().iter().any(|name| name == "libc.so.6"),
        "{json:#}"
    );
    let text = "#include <stdlib.h>\nextern int TVMFFIErrorSetRaised(void *);\n\
        __attribute__((constructor)) static void start(void) { _Exit(77); }\n\
        int __tvm_ffi_f(void) { return TVMFFIErrorSetRaised(0); }\n";
    let source = scratch.write("foreign.c", text);
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(scratch.path("foreign.so")).arg(source);
    assert!(command.status().expect("cc").success());
    let foreign = scratch.run("inspect foreign.so --json").json();
    assert_eq!(foreign["needs"]["tvm_ffi"], json!(["the symbol TVMFFIErrorSetRaised"]));
    assert_eq!(
        (&foreign["made_by"], &foreign["module"]["functions"][0]["name"]),
        (&Value::Null, &json!("f"))
    );
    let text = scratch.run("inspect foreign.so");
    assert!(text.stdout.contains("others") && text.stdout.contains("not described"), "{}", text.stdout);
    scratch.run("run foreign.so").failed(2, &["does not say what function"]);
    // A plugin is a library as well, without functions; it is not opened either.
    let plugin = built().plugins.join("chipdock_plugin_c.so");
    let plugin = scratch.run(&format!("inspect {} --json", plugin.display())).json();
    assert_eq!(plugin["module"]["functions"], json!([]));
}
