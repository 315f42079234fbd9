//! Tests of `chipdock plugins`, `devices`, `targets` and `manifest`. Rules are those of the
//! command's front page.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use chipdock_test_support::command::{Scratch, built, end, fields};
use serde_json::{Value, json};

/// The plugin of that name or stem of library.
fn plugin<'a>(list: &'a Value, name: &str) -> &'a Value {
    let plugins = list["plugins"].as_array().unwrap();
    let is_it = |plugin: &&Value| {
        plugin["name"] == name || plugin["library"].as_str().unwrap().ends_with(&format!("/{name}.so"))
    };
    plugins.iter().find(is_it).unwrap_or_else(|| panic!("{name} in {list:#}"))
}

#[test]
fn the_plugins_of_this_repository_are_ready() {
    let list = end(Scratch::new().command("plugins --json").env_remove("CC")).json();
    assert_eq!(list["schema"], "chipdock.plugins/1");
    let c = plugin(&list, "c");
    assert_eq!((&c["status"], &c["source"]), (&json!("ready"), &json!("executable")));
    let provides: Vec<&str> = c["provides"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for key in ["target.build.c", "target.kind.c", "module.load.c"] {
        assert!(provides.contains(&key), "{key} in {provides:?}");
    }
    let expected = "\
places[].ignored: null
places[].ignored: string
places[].path: string
places[].source: string
plugins[].library: string
plugins[].manifest: string
plugins[].name: string
plugins[].needed_keys[]
plugins[].problem: null
plugins[].provides[]: string
plugins[].settings[]
plugins[].settings[].default: bool
plugins[].settings[].doc: string
plugins[].settings[].from.source: string
plugins[].settings[].from.variable: string
plugins[].settings[].name: string
plugins[].settings[].problem: null
plugins[].settings[].type: string
plugins[].settings[].value: bool
plugins[].settings[].value: null
plugins[].settings[].value: string
plugins[].settings[].variables[]: string
plugins[].source: string
plugins[].status: string
plugins[].version: string
schema: string";
    assert_eq!(fields(&list), expected, "CLI-C4: fields are added, never changed or removed");
}

#[test]
fn a_bad_file_hides_no_other_and_is_no_failure() {
    let scratch = Scratch::new();
    scratch.write("bad/broken.so", "no library");
    scratch.write("bad/lonely.chipdock.json", "{}");
    scratch.write("bad/notes.txt", "not a candidate");
    let ended = scratch.run("plugins --plugin bad");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "CLI-C2");
    assert!(ended.stdout.starts_with("NAME"), "{}", ended.stdout);
    for (word, status) in [("broken", "ready"), ("lonely", "refused")] {
        let line =
            ended.stdout.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{word}"));
        assert!(line.contains(status), "{line}");
    }
    assert!(!ended.stdout.contains("notes"));
    assert!(ended.stdout.lines().any(|line| line.starts_with("c ") && line.contains("ready")));
}

#[test]
fn each_plugin_not_used_has_its_reason() {
    let scratch = Scratch::new();
    let c = fs::read_dir(&built().plugins)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("plugin_c."));
    fs::create_dir(scratch.path("first")).unwrap();
    for path in c {
        fs::copy(&path, scratch.path("first").join(path.file_name().unwrap())).unwrap();
    }
    let list = scratch.run("plugins --plugin first --disable cpu-* --json").json();
    let status = |name: &str| -> Vec<&str> {
        let plugins = list["plugins"].as_array().unwrap().iter();
        plugins
            .filter(|plugin| plugin["name"] == name)
            .map(|plugin| plugin["status"].as_str().unwrap())
            .collect()
    };
    assert_eq!(status("c"), ["ready", "shadowed"]);
    assert_eq!(status("cpu-llvm"), ["disabled"]);
    assert_eq!(list["plugins"][1]["problem"]["reason"], "shadowed");

    let library = scratch.path("first/chipdock_plugin_c.so");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o666)).unwrap();
    let refused = scratch.run("plugins --plugin first");
    assert!(
        refused.stdout.contains("refused") && refused.stdout.contains("--allow-path"),
        "{}",
        refused.stdout
    );
    let allowed = scratch.run("plugins --plugin first --allow-path first --json").json();
    assert_eq!(allowed["plugins"][0]["status"], "ready");
}

/// Compiles a C file into a plugin that does something when it is opened.
fn plugin_that(scratch: &Scratch, name: &str, body: &str) {
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void start(void) {{ {body} }}\n"
    );
    let source = scratch.write(&format!("{name}.c"), text);
    fs::create_dir_all(scratch.path("wrong")).unwrap();
    let library = scratch.path("wrong").join(format!("{name}.so"));
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(status.expect("cc").success());
}

#[test]
fn a_check_survives_misbehaving_plugins() {
    let scratch = Scratch::new();
    plugin_that(&scratch, "crashes", "fputs(\"out of luck\\n\", stderr); abort();");
    plugin_that(&scratch, "hangs", "for (;;) sleep(1);");
    plugin_that(&scratch, "leaves", "exit(0);");
    plugin_that(
        &scratch,
        "talks",
        "puts(\"{\\\"outcome\\\": \\\"opened\\\"}\"); fputs(\"noise\\n\", stderr);",
    );
    scratch.write("wrong/text.so", "no library");
    let list = scratch.run("plugins --plugin wrong --check --deadline 1 --json").json();
    let outcome = |name: &str| plugin(&list, name)["check"].clone();
    assert_eq!(outcome("crashes")["signal"], 6);
    assert!(outcome("crashes")["message"].as_str().unwrap().contains("out of luck"));
    assert_eq!(outcome("hangs")["outcome"], "timed_out");
    assert_eq!((&outcome("leaves")["outcome"], &outcome("leaves")["code"]), (&json!("exited"), &json!(0)));
    assert_eq!(outcome("talks")["outcome"], "refused", "what it prints is no report");
    assert_eq!(outcome("text")["outcome"], "refused");
    let good = outcome("c");
    assert_eq!(good["outcome"], "opened");
    assert_eq!(good["keys"], plugin(&list, "c")["provides"]);

    let ended = scratch.run("plugins --plugin wrong --check --deadline 1");
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("killed by signal 6 (SIGABRT), saying: out of luck"), "{}", ended.stdout);
    assert!(ended.stdout.contains("did not come back within 1 s"), "{}", ended.stdout);
}

#[test]
fn devices_are_listed() {
    let scratch = Scratch::new();
    let list = scratch.run("devices --json").json();
    assert_eq!(list["schema"], "chipdock.devices/1");
    let apis = list["device_apis"].as_array().unwrap();
    let cpu = apis.iter().find(|api| api["name"] == "cpu").expect("host memory is always there");
    assert_eq!(
        (&cpu["devices"][0]["device"], &cpu["devices"][0]["device_type"]),
        (&json!("cpu:0"), &json!(1))
    );
    assert!(cpu["devices"][0]["attributes"]["multi_processor_count"].as_i64().unwrap() > 0);
    let text = scratch.run("devices");
    assert!(text.stdout.lines().any(|line| line.starts_with("cpu:0")), "{}", text.stdout);
    assert_eq!(Scratch::without_plugins().run("devices").code, Some(0));
}

#[test]
fn capabilities_of_devices_are_listed_on_request() {
    let scratch = Scratch::new();
    let plain = scratch.run("devices --json").json();
    let list = scratch.run("devices --json --capabilities").json();
    let of = |list: &Value| {
        let api = list["device_apis"].as_array().unwrap().iter().find(|api| api["name"] == "cpu").cloned();
        api.expect("host memory is always there")["devices"][0]["capabilities"].clone()
    };
    assert_eq!(of(&plain), Value::Null);
    let kinds: Vec<String> =
        of(&list)["memory"].as_array().unwrap().iter().map(|memory| memory["kind"].to_string()).collect();
    assert_eq!(kinds, ["\"device\"", "\"pinned\"", "\"host-visible\"", "\"unified\""]);
    let text = scratch.run("devices --capabilities").stdout;
    let line = text.lines().find(|line| line.starts_with("cpu:0")).expect("host memory");
    assert!(text.contains("memory=device+pinned+host-visible+unified"), "{line}");
}

#[test]
fn targets_are_listed_with_their_options() {
    let scratch = Scratch::new();
    let list = scratch.run("targets --json").json();
    assert_eq!(list["schema"], "chipdock.targets/1");
    let kinds = list["kinds"].as_array().unwrap();
    let c = kinds.iter().find(|kind| kind["name"] == "c").expect("the kind c");
    assert_eq!((&c["stage"], &c["is_host"]), (&json!("host"), &json!(true)));
    let text = scratch.run("targets c");
    for option in c["options"].as_array().unwrap() {
        let name = option["name"].as_str().unwrap();
        let starts = format!("  {name}: ");
        assert!(text.stdout.lines().any(|line| line.starts_with(&starts)), "{name} in {}", text.stdout);
    }
    assert_eq!((&c["usable"], &c["problem"]), (&json!(true), &json!(null)));
    assert_eq!(c["target"]["kind"], "c");
    assert!(text.stdout.contains("opt-level: int, 0 to 3, here 3\n"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|line| line.len() <= 120), "{}", text.stdout);
    scratch.run("targets nosuch").failed(3, &["no target kind \"nosuch\"", "\"c\""]);
    let none = Scratch::without_plugins().run("targets");
    assert_eq!((none.code, none.stdout.starts_with("no target kind was found")), (Some(0), true));
}

#[test]
fn a_manifest_is_written_beside_its_plugin() {
    let scratch = Scratch::new();
    let library = built().plugins.join("chipdock_plugin_c.so");
    fs::copy(&library, scratch.path("toy.so")).unwrap();
    let ended = scratch.run("manifest toy.so");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "toy.chipdock.json\n"), "{}", ended.stderr);
    let written: Value =
        serde_json::from_slice(&fs::read(scratch.path("toy.chipdock.json")).unwrap()).unwrap();
    assert_eq!(written["name"], "c");
    let shown = scratch.run("manifest toy.so -o -").json();
    assert_eq!(shown["provides"], written["provides"]);

    scratch.write("needs.json", r#"{"programs": ["cc"]}"#);
    let with = scratch.run("manifest toy.so --needs needs.json -o -").json();
    assert_eq!(with["needs"]["programs"], json!(["cc"]));

    let stated = ["--vendor Npu --licence MIT", "--homepage https://npu.example --support help@npu.example"];
    let stated = scratch.run(&format!("manifest toy.so {}", stated.join(" ")));
    assert_eq!(stated.code, Some(0), "{}", stated.stderr);
    let listed = scratch.run("plugins c --plugin toy.so --json").json();
    let toy =
        listed["plugins"].as_array().unwrap().iter().find(|plugin| plugin["vendor"].is_string()).unwrap();
    assert_eq!((&toy["vendor"], &toy["licence"]), (&json!("Npu"), &json!("MIT")), "P5.19");
    assert_eq!(
        (&toy["homepage"], &toy["support"]),
        (&json!("https://npu.example"), &json!("help@npu.example"))
    );
    let text = scratch.run("plugins c --plugin toy.so").stdout;
    assert!(text.contains("\nvendor Npu\nlicence MIT\nhomepage https://npu.example\n"), "{text}");
    scratch.run("manifest toy.so --vendor=").failed(2, &["\"vendor\" has \"\"", "P5.19"]);

    scratch.write("needs.json", r#"{"programms": []}"#);
    let says =
        ["not a plugin's needs: unknown field \"programms\"", "--> needs.json", "cpu_features, programs"];
    scratch.run("manifest toy.so --needs needs.json").failed(2, &says);
    scratch.run("manifest none.so").failed(2, &["--> none.so"]);
    scratch.write("text.so", "no library");
    scratch.run("manifest text.so").failed(3, &["text.so"]);
    assert!(!scratch.path("text.chipdock.json").exists());
    scratch.run("manifest toy.so -o no/such.json").failed(1, &["cannot write", "--> no/such.json"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    let mut command = scratch.command("targets c --json");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = end(command.stdout(writer));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "CLI-C1");
}

#[test]
fn wrong_usage_has_one_shape() {
    let scratch = Scratch::new();
    for (words, says) in [
        ("", "no command is given"),
        ("nosuch", "unrecognized subcommand 'nosuch'"),
        ("plugin", "'plugins'"),
        ("run", "FILE[:FUNC]"),
        ("run k.py --repeat 0", "0 is not in 1..=1000000"),
        ("run k.py --schedule maybe", "'maybe'"),
        ("plugins --deadline -1", "deadline"),
        ("plugins --prefer x", "expected KEY=PLUGIN"),
        ("plugins --select [", "glob"),
        ("help nosuch", "no command \"nosuch\""),
        ("build k.py --emit no/thing", "'no/thing'"),
    ] {
        scratch.run(words).failed(2, &[says]);
    }
}

#[test]
fn help_and_version_are_results() {
    let scratch = Scratch::new();
    for words in
        ["--help", "-h", "help", "--version", "help run", "run --help", "plugins -h", "help manifest"]
    {
        let ended = scratch.run(words);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{words}");
        assert!(!ended.stdout.is_empty(), "{words}");
    }
    for command in ["plugins", "devices", "targets", "build", "run", "manifest"] {
        assert!(scratch.run(&format!("{command} --help")).stdout.contains("Examples:"), "{command}");
    }
    assert!(!scratch.run("--help").stdout.contains("__check"));
}

#[test]
fn colour_is_for_those_who_ask() {
    let scratch = Scratch::new();
    assert!(!scratch.run("run none.py").stderr.contains('\x1b'));
    assert!(scratch.run("run none.py --color always").stderr.contains("\x1b[1;31merror"));
    assert!(scratch.run("nosuch --color=always").stderr.contains("\x1b[1;31merror"));
}
