//! Tests of settings of plugins as a user sets and sees them (contract, section S; rules SET-O1 to
//! SET-O5 of `host/src/open/settings.rs`).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, end};
use serde_json::{Value, json};

const FILE: &str = "config/chipdock/config.toml";

/// The user's file.
fn with_file(text: &str) -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let path = scratch.write(FILE, text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    (scratch, path)
}

/// The setting `compiler` of plugin c, as `plugins c --json` has it.
fn compiler(scratch: &Scratch, words: &str, variables: &[(&str, &str)]) -> Value {
    let mut command = scratch.command(&format!("plugins c --json {words}"));
    command.env_remove("CC").envs(variables.iter().copied());
    let listed = end(&mut command).json();
    let settings = listed["plugins"][0]["settings"].as_array().unwrap();
    assert_eq!((settings.len(), &settings[1]["name"]), (3, &json!("cache-dir")));
    assert_eq!((&settings[0]["name"], &settings[0]["type"]), (&json!("compiler"), &json!("str")));
    settings[0].clone()
}

#[test]
fn s4_a_setting_is_shown_with_its_value_and_where_that_is_from() {
    let (scratch, path) = with_file("# mine\n[c]\ncompiler = 'from file'\n");
    let option = "--config c.compiler=from=option";
    let (own, generic) = (("CC", "from CC"), ("CHIPDOCK_C_COMPILER", "from generic"));
    let file = json!({"source": "file", "file": path.to_string_lossy(), "line": 3});
    let variable = |name: &str| json!({"source": "variable", "variable": name});
    for (words, variables, value, from) in [
        (option, &[own, generic][..], "from=option", json!({"source": "option"})),
        ("", &[own, generic], "from generic", variable("CHIPDOCK_C_COMPILER")),
        ("", &[own], "from CC", variable("CC")),
        ("", &[], "from file", file),
    ] {
        let shown = compiler(&scratch, words, variables);
        assert_eq!(
            (&shown["value"], &shown["from"], &shown["problem"]),
            (&json!(value), &from, &Value::Null)
        );
    }
    let none = compiler(&Scratch::new(), "", &[]);
    assert_eq!((&none["value"], &none["from"]), (&Value::Null, &json!({"source": "default"})));

    let text = scratch.run("plugins c --config c.compiler=mine");
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    let line = text.stdout.lines().find(|line| line.starts_with("compiler ")).unwrap();
    for part in ["\"mine\"", "str", "--config", "CHIPDOCK_C_COMPILER CC", "The C compiler"] {
        assert!(line.contains(part), "{line} should say {part}");
    }
    assert!(!text.stdout.contains("cpu-llvm"), "one plugin alone: {}", text.stdout);
}

#[test]
fn an_option_that_names_nothing_is_wrong_usage() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    for (option, says) in [
        ("c.compiler", "expected PLUGIN.KEY=VALUE"),
        ("compiler=x", "expected PLUGIN.KEY=VALUE"),
        (".compiler=x", "expected PLUGIN.KEY=VALUE"),
        ("cpu-lvm.library=x", "did you mean \"cpu-llvm\"?"),
        ("c.compilr=x", "did you mean \"compiler\"?"),
        ("cuda.something=x", "it has nvrtc, wheels, nvcc"),
    ] {
        for command in ["plugins", "plugins --check", "devices", "targets", "build vector_add.py --target c"]
        {
            scratch.run(&format!("{command} --config {option}")).failed(2, &["--config ", says]);
        }
    }
    scratch.run("plugins lvm").failed(3, &["there is no plugin \"lvm\"", "\"cpu-llvm\""]);
}

/// Runs a kernel that is compiled by the C compiler.
fn run(scratch: &Scratch, words: &str, cc: &str) -> Ended {
    scratch.kernel("vector_add.py");
    let mut command = scratch.command(&format!("run vector_add.py --target c --set n=4 {words}"));
    end(command.env("CC", cc))
}

#[test]
fn a_plugin_goes_by_its_settings() {
    let scratch = Scratch::new();
    run(&scratch, "", "no-such-cc").failed(3, &["no-such-cc"]);
    run(&scratch, "--config c.compiler=no-such-option", "cc").failed(3, &["no-such-option"]);
    let ended = run(&scratch, "--config c.compiler=cc", "no-such-cc");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended = run(&scratch, "--isolate --config c.compiler=cc", "no-such-cc");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (scratch, _) = with_file("[c]\ncompiler = 'no-such-file'\n");
    let mut command = scratch.kernel("vector_add.py").command("run vector_add.py --target c --set n=4");
    end(command.env_remove("CC")).failed(3, &["no-such-file"]);
    let ended = run(&scratch, "", "cc");
    assert_eq!((ended.code, ended.stderr.contains("warning")), (Some(0), false), "{}", ended.stderr);
}

#[test]
fn targets_and_checks_see_the_settings_too() {
    let scratch = Scratch::new();
    let nowhere = "--config cpu-llvm.library=/nonexistent/libLLVM.so";
    let targets = scratch.run(&format!("targets llvm {nowhere} --json")).json();
    let kind = targets["kinds"][0].to_string();
    assert!(kind.contains("/nonexistent/libLLVM.so"), "{kind}");
    let plugins = scratch.run(&format!("plugins cpu-llvm --check {nowhere} --json")).json();
    let check = plugins["plugins"][0]["check"].to_string();
    assert!(check.contains("/nonexistent/libLLVM.so"), "{check}");
}

#[test]
fn s7_a_wrong_value_is_shown_and_harms_nobody() {
    let (scratch, path) = with_file("[template-c]\naxes-max = 'many'\n[c]\ncompiler = 'cc'\n");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-fPIC", "-shared", "-fvisibility=hidden", "-I"]);
    command.arg(root.join("plugin-api/abi/include")).arg(root.join("examples/plugin-template-c/template.c"));
    assert!(command.arg("-o").arg(scratch.path("template.so")).status().expect("cc").success());
    assert_eq!(scratch.run("manifest template.so").code, Some(0));
    let shown = scratch.run("plugins template-c --plugin template.so");
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    for says in ["expected an integer", "found \"many\"", &format!("{}:2", path.display())] {
        assert!(shown.stdout.contains(says), "{} should say {says}", shown.stdout);
    }
    let shown =
        scratch.run("plugins template-c --plugin template.so --config template-c.axes-max=7 --json").json();
    assert_eq!(shown["plugins"][0]["settings"][0]["value"], 7);
    let option = "--config template-c.axes-max=seven";
    scratch
        .run(&format!("plugins --plugin template.so {option}"))
        .failed(2, &["found \"seven\"", "--config"]);
    let mut command = scratch
        .kernel("vector_add.py")
        .command("run vector_add.py --target c --set n=4 --plugin template.so");
    let ended = end(command.env_remove("CC"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn set_o4_a_file_that_is_not_trusted_is_ignored_and_reported() {
    let (scratch, path) = with_file("[c]\ncompiler = 'no-such-file'\n[nobody]\nx = 1\n");
    let output = scratch.run("plugins c");
    assert_eq!(output.code, Some(0));
    assert!(output.stderr.contains(&format!("{}:4: the settings of \"nobody\" are ignored", path.display())));
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
    assert_eq!(scratch.run("targets --json").stderr.lines().count(), 1, "once, not by each child");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let output = scratch.run("plugins c");
    assert!(
        output.stderr.contains("are ignored: ") && output.stderr.contains("group or others"),
        "{}",
        output.stderr
    );
    let ended = run(&scratch, "", "cc");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let shown = scratch.run(&format!("plugins c --allow-path {}", path.display()));
    assert!(shown.stdout.contains("\"no-such-file\""), "{}", shown.stdout);
}

#[test]
fn a_manifest_is_made_with_settings_that_are_the_plugins() {
    let scratch = Scratch::new();
    let c = chipdock_test_support::command::built().plugins.join("chipdock_plugin_c.so");
    fs::copy(c, scratch.path("c.so")).unwrap();
    assert_eq!(scratch.run("manifest c.so --config c.compiler=tcc").code, Some(0));
    for (option, says) in [
        ("c.compilr=x", "did you mean \"compiler\"?"),
        ("d.compiler=x", "the plugin is \"c\""),
        ("bad", "expected PLUGIN.KEY=VALUE"),
    ] {
        scratch.run(&format!("manifest c.so --config {option}")).failed(2, &[says]);
    }
}
