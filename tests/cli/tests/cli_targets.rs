//! Tests of modules whose functions name targets: COMPILE-C6, COMPILE-C7, CONTAINER-1. Rules are
//! those of the host.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use chipdock_test_support::command::{Scratch, built};
use serde_json::{Value, json};

/// A kernel file of functions `f0`, `f1`, … that add their number, each for its target.
fn file(targets: &[Value]) -> String {
    let mut text = "@I.ir_module\nclass Module:\n".to_owned();
    for (at, target) in targets.iter().enumerate() {
        let attrs = if target.is_null() { String::new() } else { format!("\"target\": T.target({target})") };
        let _ = write!(
            text,
            "    @T.prim_func(s_tir=True)\n    def f{at}(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n        \
             T.func_attr({{{attrs}}})\n        for i in range(8):\n            with T.sblock(\"B\"):\n                \
             vi = T.axis.spatial(8, i)\n                B[vi] = A[vi] + T.float32({at})\n\n"
        );
    }
    text
}

fn with(targets: &[Value]) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("k.py", file(targets));
    scratch.write_f32("a.npy", &[8], &[0.5; 8]);
    scratch
}

/// The target of each module of a built file, and its functions.
fn modules(inspected: &Value, into: &mut BTreeSet<(String, String)>) {
    let names = inspected["functions"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|function| function["name"].as_str().unwrap()).collect();
    into.insert((inspected["target"].to_string(), names.join(" ")));
    inspected["imports"].as_array().unwrap().iter().for_each(|import| modules(import, into));
}

/// TARGET-T14, TARGET-T15: wherever a target is named, and with options over those of the tag.
#[test]
fn target_t14_a_tag_is_a_target() {
    let scratch = with(&[Value::Null]);
    let listed = scratch.run("targets --tags");
    let line = listed.stdout.lines().find(|line| line.starts_with("nvidia/geforce-rtx-3090 ")).unwrap();
    assert!(line.contains("cuda") && line.contains("arch=\"sm_86\""), "{line}");
    assert!(!scratch.run("targets opencl --tags").stdout.contains("nvidia/"));
    assert_eq!(scratch.run("targets c --tags").stdout, "there are no tags\n");
    let source = "--emit source";
    for (target, option) in
        [("qcom/adreno-opencl", 256), ("{\"tag\":\"qcom/adreno-opencl\",\"max_num_threads\":64}", 64)]
    {
        let ended = scratch.run(&format!("build k.py --target {target} --host c -o k.artifact --json"));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{target}");
        let made = &ended.json()["target"];
        assert_eq!((&made["tag"], &made["keys"][0]), (&json!("qcom/adreno-opencl"), &json!("adreno")));
        assert_eq!(made["max_num_threads"], option);
    }
    scratch.run(&format!("build k.py --target nvidia/geforce-rtx-3091 {source}")).failed(
        3,
        &["target tag \"nvidia/geforce-rtx-3091\" is not known", "did you mean \"nvidia/geforce-rtx-3090\"?"],
    );
    let wrong = "{\"tag\":\"qcom/adreno-opencl\",\"max_num_threads\":0}";
    scratch
        .run(&format!("build k.py --target {wrong} {source}"))
        .failed(2, &["option \"max_num_threads\"", "target tag \"qcom/adreno-opencl\""]);
    // A host too, and a function that names one.
    let named = with(&[json!("qcom/adreno-opencl")]);
    let ended = named.run("build k.py --host c -o k.artifact --json");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut found = BTreeSet::new();
    modules(&named.run("inspect k.artifact --json").json()["module"], &mut found);
    assert!(found.iter().any(|(target, _)| target.contains("\"tag\":\"qcom/adreno-opencl\"")), "{found:?}");
}

/// TARGET-T15: a library without a manifest is opened where no manifest has the tag.
#[test]
fn target_t15_tags_of_a_library_without_a_manifest_are_found() {
    let scratch = Scratch::without_plugins();
    scratch.write("k.py", file(&[Value::Null]));
    std::fs::create_dir(scratch.path("alone")).unwrap();
    for name in ["chipdock_plugin_opencl.so", "chipdock_plugin_c.so", "chipdock_plugin_c.chipdock.json"] {
        std::fs::copy(built().plugins.join(name), scratch.path("alone").join(name)).unwrap();
    }
    let build = |tag: &str| {
        scratch.run(&format!("build k.py --plugin alone --target {tag} --host c -o k.artifact --json"))
    };
    let ended = build("qcom/adreno-opencl");
    assert_eq!(
        (ended.code, &ended.json()["target"]["kind"]),
        (Some(0), &json!("opencl")),
        "{}",
        ended.stderr
    );
    build("qcom/adreno-opencl7").failed(3, &["did you mean \"qcom/adreno-opencl\"?"]);
}

/// COMPILE-C6: as the functions say, whatever the kind of the module's target.
#[test]
fn functions_are_compiled_for_the_targets_that_they_name() {
    let arch =
        |arch: &str| json!({"kind": "cuda", "arch": arch, "max_num_threads": 64, "host": {"kind": "c"}});
    let scratch = with(&[arch("sm_75"), arch("sm_80"), arch("sm_75")]);
    for target in ["--target cuda", ""] {
        let ended = scratch.run(&format!("build k.py {target} -o k.artifact"));
        assert_eq!(
            (ended.code, ended.stderr.contains("sm_75")),
            (Some(0), !target.is_empty()),
            "{}",
            ended.stderr
        );
        let mut found = BTreeSet::new();
        modules(&scratch.run("inspect k.artifact --json").json()["module"], &mut found);
        let of = |arch: &str| {
            let one = |(target, _): &&(String, String)| target.contains(&format!("\"arch\":\"{arch}\""));
            found.iter().filter(one).map(|(_, names)| names.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            (of("sm_75"), of("sm_80")),
            (vec!["f0_kernel f2_kernel".to_owned()], vec!["f1_kernel".to_owned()])
        );
    }
}

/// A target that is named in addition to `--target` is never passed over without a word.
#[test]
fn a_target_of_a_function_and_target_tell_which_one_is_taken() {
    let scratch = with(&[json!({"kind": "c", "opt-level": 1}), Value::Null]);
    let kept = scratch.run("build k.py --target {\"kind\":\"c\",\"opt-level\":2} -o k.artifact");
    assert_eq!(kept.code, Some(0), "{}", kept.stderr);
    assert!(
        kept.stderr.contains("warning: function \"f0\" is compiled for the target that it names"),
        "{}",
        kept.stderr
    );
    assert!(!kept.stderr.contains("\"f1\""), "{}", kept.stderr);
    let mut found = BTreeSet::new();
    modules(&scratch.run("inspect k.artifact --json").json()["module"], &mut found);
    let levels: Vec<(bool, &str)> =
        found.iter().map(|(target, names)| (target.contains("\"opt-level\":1"), names.as_str())).collect();
    assert_eq!(BTreeSet::from_iter(levels), BTreeSet::from([(true, "f0"), (false, "f1")]));

    let run = "run k.py:f0 --in A=a.npy --out B=b.npy --json";
    let own = scratch.run(run);
    assert_eq!((own.stderr.as_str(), &own.json()["target"]["opt-level"]), ("", &json!(1)));
    assert_eq!(scratch.read_npy::<f32>("b.npy").1, [0.5; 8]);
    let over = scratch.run(&format!("{run} --target {{\"kind\":\"c\",\"opt-level\":2}}"));
    assert_eq!((over.code, &over.json()["target"]["opt-level"]), (Some(0), &json!(2)));
    assert!(over.stderr.contains("warning: function \"f0\" names the target"), "{}", over.stderr);
    let same = scratch.run(&format!("{run} --target {{\"kind\":\"c\",\"opt-level\":1}}"));
    assert_eq!((same.code, same.stderr.as_str()), (Some(0), ""));
}

/// One of another kind is passed over without a warning only where `--target` has functions of its
/// own; what is lowered for one target alone is refused.
#[test]
fn a_target_for_which_no_function_is_left_is_said() {
    const SAYS: &str = "warning: function \"f0\" is compiled for the target that it names";
    let scratch = with(&[json!({"kind": "c", "opt-level": 1}), Value::Null]);
    let build = |kernel: &str| scratch.run(&format!("build {kernel} --target llvm -o k.artifact"));
    for (kernel, is_said) in [("k.py", false), ("k.py:f0", true), ("k.py:f1", false)] {
        let ended = build(kernel);
        assert_eq!(
            (ended.code, ended.stderr.contains(SAYS)),
            (Some(0), is_said),
            "{kernel}: {}",
            ended.stderr
        );
    }
    scratch
        .run("build k.py --target {\"kind\":\"c\",\"opt-level\":2} --emit schedule")
        .failed(2, &["function \"f0\" names target", "\"opt-level\":1", "ask for the target that it names"]);
    let ended = scratch.run("build k.py:f0 --target {\"kind\":\"c\",\"opt-level\":1} --emit schedule");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// `run` takes the device of the target that the function names.
#[test]
fn run_takes_the_device_of_the_function_s_target() {
    let scratch = with(&[json!({"kind": "opencl"}), json!({"kind": "opencl", "host": {"kind": "c"}})]);
    let ended = scratch.run("run k.py:f1 --in A=a.npy --out B=b.npy --json");
    let devices = scratch.run("devices --json").json().to_string();
    if !devices.contains("\"opencl:0\"") {
        println!("no OpenCL device here");
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        return;
    }
    assert_eq!((ended.code, &ended.json()["device"]), (Some(0), &json!("opencl:0")), "{}", ended.stderr);
    assert_eq!(scratch.read_npy::<f32>("b.npy").1, [1.5; 8]);
}

/// A kernel file whose function adds as many buffers as it is said.
fn sum_of(n_buffers: usize) -> String {
    let names: Vec<String> = (0..n_buffers).map(|at| format!("A{at}")).collect();
    let params: Vec<String> =
        names.iter().map(|name| format!("{name}: T.Buffer((8,), \"float32\")")).collect();
    let terms: Vec<String> = names.iter().map(|name| format!("{name}[vi]")).collect();
    format!(
        "@T.prim_func(s_tir=True)\ndef many({}, B: T.Buffer((8,), \"float32\")):\n    for i in range(8):\n        \
         with T.sblock(\"B\"):\n            vi = T.axis.spatial(8, i)\n            B[vi] = {}\n",
        params.join(", "),
        terms.join(" + ")
    )
}

/// COMPILE-C8, TARGET-T9: a limit of a target is no dead end. `build` takes the device's as `run`
/// does.
#[test]
fn a_limit_is_the_device_s_where_a_device_is_named() {
    let scratch = Scratch::new();
    scratch.kernel("layernorm.py");
    scratch.write("many.py", sum_of(20));
    let works = |words: &str| {
        let ended = scratch.run(words);
        assert_eq!(ended.code, Some(0), "{words}: {}", ended.stderr);
    };
    works("build layernorm.py --target vulkan -o l.artifact");
    let limit = "found 21; option \"max_storage_buffers\" sets the limit";
    let kind = "{\"kind\": \"vulkan\", \"max_storage_buffers\": ...}";
    let refused = scratch.run("build many.py --target vulkan -o m.artifact");
    refused.failed(2, &[limit, "help: set \"max_storage_buffers\" in the target", kind, "--device vulkan:0"]);
    let few =
        "{\"kind\":\"vulkan\",\"max_per_stage_descriptor_storage_buffer\":32,\"max_storage_buffers\":21}";
    works(&format!("build many.py --target {few} -o m.artifact"));
    scratch
        .run("build many.py --target vulkan --device cpu:0")
        .failed(2, &["target vulkan runs on vulkan, not on cpu"]);
    scratch.run("build many.py --device vulkan:x").failed(2, &["expected NAME:ID"]);
    let devices = scratch.run("devices --json").json().to_string();
    if !devices.contains("\"vulkan:0\"") {
        chipdock_test_support::skipped("limits of a Vulkan device: there is none");
        scratch.run("build many.py --target vulkan --device vulkan:0").failed(4, &["vulkan"]);
        return;
    }
    works("build many.py --target vulkan --device vulkan:0 -o m.artifact");
    let own = scratch.run("build many.py --target vulkan --device vulkan:0 --json").json();
    assert!(own["target"]["max_storage_buffers"].as_i64().unwrap() > 20, "{own:#}");
    let less = "{\"kind\":\"vulkan\",\"max_storage_buffers\":20}";
    scratch
        .run(&format!("build many.py --target {less} --device vulkan:0"))
        .failed(2, &[limit, "help: the limits are those of device vulkan:0", "\"max_storage_buffers\""]);
}

/// `build --device` takes the target that the function names, as `run` does.
#[test]
fn build_takes_the_function_s_target_for_the_device() {
    let scratch = with(&[json!({"kind": "opencl"}), json!({"kind": "opencl"})]);
    let ended = scratch.run("build k.py --device opencl:0 --json");
    if !scratch.run("devices --json").json().to_string().contains("\"opencl:0\"") {
        chipdock_test_support::skipped("targets of functions on an OpenCL device: there is none");
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        return;
    }
    let (found, plain) = (ended.json(), scratch.run("build k.py --target opencl --json").json());
    assert_eq!(found["target"]["kind"], "opencl");
    assert_ne!(found["target"], plain["target"], "the device has other limits than the kind's defaults");
    let run = scratch.run("run k.py:f0 --in A=a.npy --out B=b.npy --json --target opencl").json();
    assert_eq!(found["target"], run["target"]);
}

/// CONTAINER-1, EXPORT-X4, LIB-10: each further target costs what it is, and 4 KiB at most.
#[test]
fn a_file_is_as_large_as_its_parts() {
    let target = |at: usize| json!({"kind": "c", "num-cores": at + 1});
    let one = with(&[target(0)]);
    let size = |scratch: &Scratch, name: &str| {
        let ended = scratch.run(&format!("build k.py --target c -o {name}"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        std::fs::metadata(scratch.path(name)).unwrap().len()
    };
    for name in ["k.artifact", "k.so", "k.tar"] {
        let part = size(&one, "k.artifact");
        let alone = size(&one, name);
        for count in [2, 8, 32] {
            let targets: Vec<Value> = (0..count).map(target).collect();
            let scratch = with(&targets);
            let (found, more) = (size(&scratch, name), count as u64 - 1);
            // A tar archive has blocks.
            let bound = alone + more * (part + 4096) + if name == "k.tar" { 10 << 10 } else { 4096 };
            assert!(found <= bound, "{name} of {count} targets: {found} bytes; expected at most {bound}");
            let last = count - 1;
            let ended = scratch.run(&format!("run {name}:f{last} --in A=a.npy --out B=b.npy"));
            assert_eq!(ended.code, Some(0), "{name}: {}", ended.stderr);
            assert_eq!(scratch.read_npy::<f32>("b.npy").1, [last as f32 + 0.5; 8]);
        }
    }
}
