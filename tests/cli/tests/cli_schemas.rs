//! Checks the JSON that the command prints with `--json`, or writes to files, against its schemas
//! (rule CLI-C4): each command in each of its forms. The rules of change are in
//! `host/cli/schemas/README.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use chipdock_test_support::command::{Scratch, built, end};
use chipdock_test_support::schemas::{Schema, check};
use chipdock_test_support::workspace;
use serde_json::{Value, json};

/// The output of a command that ends with that code, after its schema was found to describe all of
/// it.
fn checked(mut command: Command, code: i32) -> Value {
    let ended = end(&mut command);
    assert_eq!(ended.code, Some(code), "{command:?}: {}", ended.stderr);
    let document: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}"));
    check(&document);
    document
}

fn run(scratch: &Scratch, words: &str) -> Value {
    checked(scratch.command(words), 0)
}

/// A file that the command wrote.
fn written(scratch: &Scratch, name: &str) -> Value {
    let document = serde_json::from_str(&fs::read_to_string(scratch.path(name)).unwrap()).unwrap();
    check(&document);
    document
}

/// Copies a plugin of this repository with its manifest.
fn copy(scratch: &Scratch, stem: &str, folder: &str) {
    for ending in ["so", "chipdock.json"] {
        let name = format!("chipdock_plugin_{stem}.{ending}");
        scratch.write(&format!("{folder}/{name}"), fs::read(built().plugins.join(&name)).unwrap());
    }
}

/// Compiles a library that does something when it is opened.
fn opened_does(scratch: &Scratch, path: &str, body: &str) {
    let includes = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n";
    let text = format!("{includes}__attribute__((constructor)) static void start(void) {{ {body} }}\n");
    compile(scratch, &text, path, &[]);
}

fn compile(scratch: &Scratch, text: &str, path: &str, flags: &[&str]) {
    let source = scratch.write(&format!("{path}.c"), text);
    let mut command = Command::new("cc");
    command.args(["-fPIC", "-shared"]).args(flags).arg(source).arg("-o").arg(scratch.path(path));
    assert!(command.status().expect("cc").success());
}

/// The words that a field has in a list of objects.
fn words_of(list: &Value, field: &str) -> BTreeSet<String> {
    let all = list.as_array().unwrap().iter();
    all.map(|one| one.pointer(field).and_then(Value::as_str).unwrap_or("-").to_owned()).collect()
}

// What there is

/// The `chipdock.NAME/VERSION` that a source writes as whole strings.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let strings = text.split('"');
    strings.filter(|part| {
        let name = part.strip_prefix("chipdock.").and_then(|rest| rest.split_once('/'));
        name.is_some_and(|(name, version)| {
            let is_name = |c: char| c.is_ascii_lowercase() || ".-".contains(c);
            !name.is_empty() && name.chars().all(is_name) && version.parse::<u32>().is_ok()
        })
    })
}

fn sources(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Tests forge schemas; what a program prints is in its sources.
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("tests") {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.extend(names_in(&fs::read_to_string(path).unwrap()).map(str::to_owned));
        }
    }
}

#[test]
fn schema_of_each_name_in_the_sources_and_back() {
    let mut found = BTreeSet::new();
    for folder in ["host", "plugin-api", "plugins", "bench", "xtask", "tests/carry"] {
        sources(&workspace().join(folder), &mut found);
    }
    let known: BTreeSet<String> = Schema::all().iter().map(|schema| schema.id.clone()).collect();
    assert_eq!(found, known);
    for schema in Schema::all() {
        let name = schema.id.strip_prefix("chipdock.").unwrap().split('/').next().unwrap();
        let file = schema.path.file_name().unwrap().to_string_lossy();
        assert_eq!(file, format!("{name}.schema.json"), "a schema is found by its name");
        assert!(schema.path.parent().unwrap().ends_with("schemas"), "{}", schema.path.display());
    }
}

#[test]
fn schema_parts_are_all_described() {
    for schema in Schema::all() {
        let wrong = schema.undescribed();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", schema.id);
    }
}

#[test]
fn schemas_are_listed_on_the_page_about_changes() {
    let page = fs::read_to_string(workspace().join("host/cli/schemas/README.md")).unwrap();
    for schema in Schema::all() {
        assert!(page.contains(&format!("`{}`", schema.id)), "{} is not in the page's table", schema.id);
    }
}

#[test]
fn schema_of_each_command_is_named_by_its_help() {
    let scratch = Scratch::without_plugins();
    for (words, name) in [
        ("build", "build"),
        ("cache", "cache"),
        ("devices", "devices"),
        ("manifest", "manifest"),
        ("plugins", "plugins"),
        ("run", "run"),
        ("targets", "targets"),
        ("conformance", "conformance"),
        ("conformance verify", "conformance-verify"),
        ("conformance compare", "conformance-compare"),
    ] {
        let help = scratch.run(&format!("{words} --help"));
        let id = &Schema::with_id(&format!("chipdock.{name}/1")).id;
        assert!(help.stdout.contains(id), "{words}: {}", help.stdout);
    }
}

// Each command

#[test]
fn schema_of_plugins() {
    let scratch = Scratch::new();
    for (name, body) in [
        ("crashes", "fputs(\"out of luck\\n\", stderr); abort();"),
        ("hangs", "for (;;) sleep(1);"),
        ("leaves", "exit(0);"),
    ] {
        opened_does(&scratch, &format!("wrong/{name}.so"), body);
    }
    scratch.write("wrong/lonely.chipdock.json", "{}");
    scratch.write("wrong/bad.chipdock.json", "{}");
    for name in ["bad", "text"] {
        scratch.write(&format!("wrong/{name}.so"), "no library");
    }
    let open = scratch.write("wrong/open.so", "no library");
    fs::set_permissions(open, fs::Permissions::from_mode(0o666)).unwrap();
    copy(&scratch, "c", "wrong");
    let selected = "--select c --select crashes --select hangs --select leaves --select lonely --select text --select open --select bad";
    let list = run(
        &scratch,
        &format!("plugins --plugin wrong --plugin none --check --deadline 1 {selected} --json"),
    );
    let plugins = &list["plugins"];
    let all = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<String>>();
    assert_eq!(words_of(plugins, "/status"), all(&["ready", "shadowed", "disabled", "refused"]));
    let ends = all(&["opened", "refused", "killed", "exited", "timed_out", "-"]);
    assert_eq!(words_of(plugins, "/check/outcome"), ends);
    let reasons = words_of(plugins, "/problem/reason");
    assert!(
        reasons.is_superset(&all(&["bad_manifest", "no_library", "untrusted", "shadowed", "not_selected"])),
        "{reasons:?}"
    );
    assert!(list["places"].as_array().unwrap().iter().any(|place| place["ignored"].is_string()));

    let locked = run(&scratch, "plugins --select c --lock plugins.lock --json");
    assert_eq!(locked["lock"]["plugins"][0]["name"], "c");
    assert_eq!(written(&scratch, "plugins.lock")["plugins"], locked["lock"]["plugins"]);
    run(&scratch, "plugins --locked plugins.lock --json");

    let none = Scratch::without_plugins();
    assert_eq!(run(&none, "plugins --json")["plugins"], json!([]));
    run(&none, "plugins --lock empty.lock --json");
    assert_eq!(written(&none, "empty.lock")["plugins"], json!([]));
}

#[test]
fn schema_of_the_settings_of_a_plugin() {
    let scratch = Scratch::new();
    let file = "config/chipdock/config.toml";
    let (mut from, mut n_wrong) = (BTreeSet::new(), 0);
    for (text, words, variables) in [
        ("", "", &[][..]),
        ("[c]\ncompiler = 'from file'\n", "", &[]),
        ("[c]\ncompiler = 3\n", "", &[]),
        ("", "", &[("CC", "from CC")]),
        ("", "--config c.compiler=mine", &[]),
    ] {
        let path = scratch.write(file, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        let mut command = scratch.command(&format!("plugins c --json {words}"));
        command.env_remove("CC").envs(variables.iter().copied());
        let list = checked(command, 0);
        let settings = &list["plugins"][0]["settings"];
        from.extend(words_of(settings, "/from/source"));
        n_wrong += usize::from(settings[0]["problem"].is_string());
    }
    let expected = ["default", "file", "option", "variable"].map(str::to_owned);
    assert_eq!((from, n_wrong), (BTreeSet::from(expected), 1));
}

#[test]
fn schema_of_devices() {
    let scratch = Scratch::new();
    let list = run(&scratch, "devices --json");
    let apis = list["device_apis"].as_array().unwrap();
    assert!(apis.iter().any(|api| api["devices"][0]["attributes"].is_object()), "{list:#}");
    if !apis.iter().any(|api| api["available"] == false) {
        chipdock_test_support::skipped("devices --json where one is unavailable: all are here");
    }
    opened_does(&scratch, "wrong/crashes.so", "abort();");
    opened_does(&scratch, "wrong/hangs.so", "for (;;) sleep(1);");
    let list = run(&scratch, "devices --plugin wrong --select crashes --select hangs --deadline 1 --json");
    assert_eq!(list["failed"].as_array().unwrap().len(), 2, "{list:#}");
    assert_eq!(list["device_apis"][0]["name"], "cpu", "nothing but host memory");
}

#[test]
fn schema_of_targets() {
    let scratch = Scratch::new();
    let list = run(&scratch, "targets --json");
    let kinds = list["kinds"].as_array().unwrap();
    assert!(kinds.iter().any(|kind| kind["is_host"] == true && kind["target"].is_object()));
    assert_eq!(run(&scratch, "targets c --json")["kinds"].as_array().unwrap().len(), 1);
    let of = |words: &str| run(&scratch, words)["kinds"][0]["tags"].clone();
    assert_eq!(of("targets opencl --json"), Value::Null, "without --tags there are none");
    assert_eq!(of("targets opencl --tags --json")["qcom/adreno-opencl"]["device"], "adreno");
    let mut without = scratch.command("targets c --json --config c.compiler=/no/such/compiler");
    without.env("PATH", "/no/such/folder");
    checked(without, 0);
    // What its manifest promises and its library does not have: a problem, with the schema of the
    // manifest.
    copy(&scratch, "c", "wrong");
    opened_does(&scratch, "wrong/chipdock_plugin_c.so", "abort();");
    let manifest = scratch.path("wrong/chipdock_plugin_c.chipdock.json");
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    text.as_object_mut().unwrap().remove("sha256");
    fs::write(&manifest, text.to_string()).unwrap();
    let list = run(&scratch, "targets --plugin wrong --select c --json");
    assert_eq!(
        (&list["kinds"][0]["usable"], &list["default_host"]),
        (&json!(false), &Value::Null),
        "{list:#}"
    );
    assert!(list["kinds"][0]["options"].is_array() && list["failed"][0]["plugin"] == "c", "{list:#}");
    // Without one in the manifest either: a name and the reason.
    text.as_object_mut().unwrap().remove("target_kinds");
    fs::write(&manifest, text.to_string()).unwrap();
    let list = run(&scratch, "targets --plugin wrong --select c --json");
    assert_eq!((&list["kinds"][0]["name"], list["kinds"][0].get("doc")), (&json!("c"), None), "{list:#}");
    assert_eq!(run(&Scratch::without_plugins(), "targets --json")["kinds"], json!([]));
}

#[test]
fn schema_of_build() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    for (words, emitted) in [
        ("--target c --emit ir", "ir"),
        ("--target c --emit schedule", "schedule"),
        ("--target c", "source"),
        ("--target c -o add.c", "source"),
        ("--target c -o add.artifact", "artifact"),
        ("--target opencl", "source"),
        ("--target cuda -o add.artifact", "artifact"),
        ("--target vulkan --emit spv -o add.bin", "spv"),
        ("--target vulkan -o add.spv", "code"),
    ] {
        let build = run(&scratch, &format!("build vector_add.py {words} --json"));
        assert_eq!(build["emit"], emitted, "{words}");
    }
    assert_eq!(run(&scratch, "build multi.py:scale --target c --json")["functions"], json!(["scale"]));
    if !has_llvm() {
        return chipdock_test_support::skipped("build --emit ll|asm|object: plugin cpu-llvm is not here");
    }
    for (words, emitted) in [("--emit ll", "ll"), ("--emit asm", "asm"), ("-o add.o", "object")] {
        let build = run(&scratch, &format!("build vector_add.py --target llvm {words} --json"));
        assert_eq!(build["emit"], emitted);
    }
}

fn has_llvm() -> bool {
    built().plugins.join("chipdock_plugin_cpu_llvm.so").exists()
}

#[test]
fn schema_of_run() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    scratch.write_f32("a.npy", &[3], &[1.0, 2.0, 3.0]);
    let add = "run vector_add.py --in A=a.npy --in B=a.npy --json";
    let ran = run(&scratch, &format!("{add} --out C=c.npy --target c --repeat 2"));
    assert!(ran["device_times_missing"].is_string() && ran["result"].is_null(), "{ran:#}");
    run(&scratch, &format!("{add} --target c --isolate"));
    for factor in ["-2.5", "nan", "-inf"] {
        let words = format!("run multi.py:scale --target c --in A=a.npy --set factor={factor} --json");
        assert_eq!(run(&scratch, &words)["scalars"][0]["name"], "factor");
    }
    let devices = run(&scratch, "devices --json");
    let apis = devices["device_apis"].as_array().unwrap();
    if !apis.iter().any(|api| api["name"] == "opencl" && api["devices"][0].is_object()) {
        return chipdock_test_support::skipped("run --json with the device's time: no device of opencl");
    }
    let ran = run(&scratch, &format!("{add} --target opencl"));
    assert!(ran["device_times_seconds"].is_array() && ran["host"] != ran["target"], "{ran:#}");
}

#[test]
fn schema_of_inspect() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    for target in ["c", "cuda"] {
        run(&scratch, &format!("build vector_add.py --target {target} -o {target}.chipdock --json"));
        let shown = run(&scratch, &format!("inspect {target}.chipdock --source --json"));
        assert_eq!(shown["module"]["imports"].as_array().unwrap().len(), usize::from(target == "cuda"));
    }
    let ran = run(&scratch, "run c.chipdock --set n=3 --json");
    assert_eq!(ran["built"], true);
    // Of another maker: an embedded module of a kind that nobody knows, and nothing known of its
    // function.
    let text = "int __tvm_ffi_f(void) { return 0; }\n\
        const unsigned char __tvm_ffi__library_bin[] = {79,0,0,0,0,0,0,0, 3,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0, \
        1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 1,0,0,0,0,0,0,0, 4,0,0,0,0,0,0,0, '_','l','i','b', \
        1,0,0,0,0,0,0,0, 'k', 2,0,0,0,0,0,0,0, 1,2};\n";
    compile(&scratch, text, "foreign.so", &[]);
    let shown = run(&scratch, "inspect foreign.so --json");
    assert_eq!(shown["module"]["imports"][0]["size_bytes"], 2);
    let description = json!({
        "schema": "chipdock.library/1", "made_by": "chipdock 0.1.0", "main": null,
        "artifact": {"index": "{}", "target": "{}"}, "aside": {"file": "a.chipdock", "sha256": "0".repeat(64)},
    });
    check(&description);
}

#[test]
fn schema_of_cache() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py").kernel("multi.py");
    let cached = |words: &str| {
        let mut command = scratch.command(words);
        command.env("CHIPDOCK_CACHE_DIR", scratch.path("cache"));
        checked(command, 0)
    };
    assert_eq!(run(&scratch, "cache --json")["folder"], Value::Null);
    assert_eq!(cached("cache list --json")["builds"], json!([]));
    assert_eq!(cached("cache size --json")["caches"], json!([]));
    cached("build vector_add.py --target c --json");
    assert_eq!(cached("build vector_add.py --target c --json")["cached"], true);
    cached("build multi.py --target c --json");
    let file = fs::read_dir(scratch.path("cache/compile")).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.extension().is_some_and(|ending| ending == "cached")).min().unwrap();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..80]).unwrap();
    let kinds = words_of(&cached("cache list --json")["builds"], "/target_kind");
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["-", "c"], "one is damaged");
    let caches = cached("cache size --json")["caches"].take();
    assert_eq!((&caches[0]["name"], &caches[0]["files"]), (&json!("compile"), &json!(2)));
    let files: u64 = caches.as_array().unwrap().iter().map(|cache| cache["files"].as_u64().unwrap()).sum();
    assert_eq!(cached("cache clear --json")["removed"]["files"], files);
}

#[test]
fn schema_of_manifest() {
    let scratch = Scratch::new();
    for stem in ["c", "opencl"] {
        fs::copy(built().plugins.join(format!("chipdock_plugin_{stem}.so")), scratch.path("toy.so")).unwrap();
        let document = run(&scratch, "manifest toy.so --json");
        // The manifest has a schema of its own.
        let path = workspace().join("plugin-api/abi/schemas/manifest.schema.json");
        let of_manifests: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        assert!(
            document["content"]
                .as_object()
                .unwrap()
                .keys()
                .all(|name| of_manifests["properties"].get(name).is_some())
        );
    }
}

/// The template in C, which keeps the contract, as `good.so`.
fn with_template() -> Scratch {
    let scratch = Scratch::new();
    let text = fs::read_to_string(workspace().join("examples/plugin-template-c/template.c")).unwrap();
    let include = format!("-I{}", workspace().join("plugin-api/abi/include").display());
    compile(&scratch, &text, "good.so", &["-std=c99", "-O1", "-fvisibility=hidden", &include]);
    let bad = format!("{text}CHIPDOCK_EXPORT int vendor_helper(void) {{ return 1; }}\n");
    compile(&scratch, &bad, "bad.so", &["-std=c99", "-O1", "-fvisibility=hidden", &include]);
    scratch
}

#[test]
fn schema_of_reports_and_cards() {
    let scratch = with_template();
    run(&scratch, "conformance good.so --filter query/exist/* --card good.card --json");
    assert_eq!(written(&scratch, "good.card")["exit"], 0);
    let filter = "--filter image/* --no-again";
    let failed = checked(scratch.command(&format!("conformance bad.so {filter} --card bad.card --json")), 1);
    assert!(failed["cases"].as_array().unwrap().iter().any(|case| case["failure"].is_object()));
    assert_eq!(written(&scratch, "bad.card")["exit"], 1);
    scratch.write("text.so", "no library");
    let refused = checked(scratch.command("conformance text.so --card text.card --json"), 3);
    assert!(refused["refused"].is_string());
    written(&scratch, "text.card");

    assert_eq!(run(&scratch, "conformance compare good.card good.card --json")["same"], true);
    assert_eq!(run(&scratch, "conformance compare good.card bad.card --json")["same"], false);
    assert_eq!(run(&scratch, "conformance verify good.card good.so --json")["holds"], true);
    let other = checked(scratch.command("conformance verify good.card bad.so --json"), 1);
    assert_eq!(words_of(&other["checks"], "/outcome").len(), 3, "{other:#}");
}

#[test]
fn schema_of_lists_and_coverage() {
    let scratch = with_template();
    // A few of each: what is in thousands of rows is in these.
    let list = run(&scratch, "conformance --list --filter */*e/*1* --json");
    assert!(list["cases"].as_array().unwrap().iter().any(|case| case["profiles"].is_array()), "{list:#}");
    let list = run(&scratch, "conformance good.so --list --filter query/* --json");
    assert!(list["n_instances"].is_u64() && list["plugin"].is_string());
    run(&scratch, "conformance --coverage --json");
}

/// A repeated program that passes, one that is only built, and one that the plugin computes
/// otherwise.
#[test]
fn schema_of_a_random_program_again() {
    let scratch = Scratch::new();
    let program = "\
#: function twice
#: tensor float32 4 0000803f000000400000404000008040
#: tensor float32 4 00000000000000000000000000000000
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def twice(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):
        for i in range(4):
            with T.sblock(\"B\"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)
";
    scratch.write("twice.py", program);
    let again = |stem: &str| {
        let library = built().plugins.join(format!("chipdock_plugin_{stem}.so"));
        scratch.command(&format!("conformance {} --repro twice.py --json", library.display()))
    };
    let passed = checked(again("c"), 0);
    assert_eq!(passed["runs"], json!([{"kind": "c", "stop": null, "not_run": null}]));
    assert!(checked(again("metal"), 0)["runs"][0]["not_run"].is_string(), "no device");
    let mut without = again("c");
    without.env("CC", "/no/such/compiler");
    assert!(checked(without, 1)["runs"][0]["stop"].is_object());
}

// Changed documents

/// A change of a document: the path, and a value that is wrong there.
type Change = (&'static str, Value);

fn refuses(document: &Value, changes: &[Change]) {
    let id = document["schema"].as_str().unwrap();
    let schema = Schema::with_id(id);
    let next = id.replace("/1", "/2");
    for (at, value) in changes.iter().chain(&[("/schema", json!(next))]) {
        let mut bad = document.clone();
        *bad.pointer_mut(at).unwrap_or_else(|| panic!("{id}: {at} of {document:#}")) = value.clone();
        assert!(!schema.accepts(&bad), "{id}: {at} may be {value}");
    }
    let mut more = document.clone();
    more["colour"] = json!("red");
    assert!(schema.accepts(&more), "CLI-C4: {id}: fields may be added");
    assert_eq!(schema.complaints(&more), ["/colour: the schema does not describe it"]);
}

#[test]
fn schema_refuses_changed_lists() {
    let scratch = Scratch::new();
    refuses(
        &run(&scratch, "plugins c --check --json"),
        &[
            ("/plugins/0/status", json!("fine")),
            ("/plugins/0/problem", json!({"reason": "a whim", "message": ""})),
            ("/plugins/0/source", json!("somewhere")),
            ("/plugins/0/check/outcome", json!("exploded")),
            ("/plugins/0/check/seconds", json!(-1)),
            ("/plugins/0/check", json!({"outcome": "opened", "message": ""})),
            ("/plugins/0/check", json!({"outcome": "killed", "message": ""})),
            ("/plugins/0/settings/0/from/source", json!("a dream")),
            ("/places/0/ignored", json!(false)),
        ],
    );
    let locked = run(&scratch, "plugins --select c --lock plugins.lock --json");
    refuses(&locked, &[("/lock/plugins/0/sha256", json!("abc")), ("/lock/file", Value::Null)]);
    refuses(
        &written(&scratch, "plugins.lock"),
        &[("/plugins/0/sha256", json!("A".repeat(64))), ("/plugins/0/name", json!(1))],
    );
    refuses(
        &run(&scratch, "devices --select c --json"),
        &[
            ("/device_apis/0/devices/0/id", json!(-1)),
            ("/device_apis/0/devices/0/attributes/exist", Value::Null),
            (
                "/failed",
                json!([{"asked": [], "plugin": null, "call": null, "outcome": "bored", "message": ""}]),
            ),
        ],
    );
    refuses(
        &run(&scratch, "targets c --json"),
        &[
            ("/kinds/0/stage", json!("soon")),
            ("/kinds/0/options/0/type", json!("number")),
            ("/kinds/0/target/keys", json!("cpu")),
            ("/kinds/0/problem", json!({"kind": "Unavailable"})),
            ("/kinds/0/name", Value::Null),
        ],
    );
}

#[test]
fn schema_refuses_changed_results() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    refuses(
        &run(&scratch, "build vector_add.py --target c --json"),
        &[
            ("/emit", json!("a poem")),
            ("/size_bytes", json!(-1)),
            ("/compile_seconds", json!("1 s")),
            ("/target", json!({"kind": "c"})),
            ("/sections/0", json!({"name": "code"})),
        ],
    );
    refuses(
        &run(&scratch, "run vector_add.py --target c --set n=4 --json"),
        &[
            ("/device", json!("cpu")),
            ("/threads", json!(0)),
            ("/times_seconds", json!([])),
            ("/times_seconds/0", json!(-1)),
            ("/buffers/0/shape/0", json!(0.5)),
            ("/buffers/0/dtype", json!(32)),
            ("/result", json!({})),
        ],
    );
    refuses(
        &run(&scratch, "cache list --json"),
        &[("/action", json!("shred")), ("/action", json!("size")), ("/size_bytes_max", json!(-1))],
    );
    fs::copy(built().plugins.join("chipdock_plugin_c.so"), scratch.path("toy.so")).unwrap();
    refuses(
        &run(&scratch, "manifest toy.so --json"),
        &[("/content/schema", json!(0)), ("/content", json!([]))],
    );
}

#[test]
fn schema_refuses_changed_results_of_the_suite() {
    let scratch = with_template();
    run(&scratch, "conformance good.so --filter query/exist/* --card good.card --json");
    refuses(
        &run(&scratch, "conformance verify good.card good.so --json"),
        &[("/checks/0/outcome", json!("perhaps")), ("/holds", json!("yes"))],
    );
    let compared = run(&scratch, "conformance compare good.card good.card --json");
    refuses(&compared, &[("/same", json!(1)), ("/rows/0/left", Value::Null)]);
    refuses(
        &run(&scratch, "conformance good.so --list --json"),
        &[
            ("/cases/0/clause", json!("D")),
            ("/groups/0/group", json!("speed")),
            ("/levels/0/level", json!("great")),
            ("/not_applicable/0", json!({"why": ""})),
            ("/n_instances", json!(-1)),
        ],
    );
    refuses(
        &run(&scratch, "conformance --coverage --json"),
        &[("/clauses/0/by", json!("X")), ("/clauses/0/n_cases", json!(0.5))],
    );
    let run = |stop: Value| json!([{"kind": "c", "stop": stop, "not_run": null}]);
    let failed = json!({"failed": {"expected": "1", "found": "2"}});
    refuses(
        &json!({"schema": "chipdock.conformance-repro/1", "runs": run(failed)}),
        &[
            ("/runs", run(json!({}))),
            ("/runs", run(json!({"absent": "a device", "suite": "its fault"}))),
            ("/runs", run(json!("failed"))),
        ],
    );
}
