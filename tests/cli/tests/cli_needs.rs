//! Tests of the command with plugins that need keys of others (P5.15), of build ids (P1.15), and of
//! files that `--plugin` names.

use std::fs;

use chipdock_test_support::command::{Scratch, built, end};
use serde_json::{Value, json};

/// Copies a plugin of this repository into the folder `p`; its manifest needs keys.
fn copy(scratch: &Scratch, stem: &str, keys: &[&str]) {
    let from = |ending: &str| built().plugins.join(format!("chipdock_plugin_{stem}.{ending}"));
    scratch.write(&format!("p/{stem}.so"), fs::read(from("so")).unwrap());
    let text = fs::read_to_string(from("chipdock.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    manifest["needs"]["keys"] = json!(keys);
    scratch.write(&format!("p/{stem}.chipdock.json"), manifest.to_string());
}

#[test]
fn p5_15_a_missing_key_is_listed_and_named_by_who_asks() {
    let scratch = Scratch::without_plugins();
    copy(&scratch, "c", &["target.build.metal", "device_api.cpu"]);
    let list = scratch.run("plugins --plugin p --json").json();
    let c = &list["plugins"][0];
    assert_eq!((&c["status"], &c["problem"]["reason"]), (&json!("refused"), &json!("missing_key")));
    let needed =
        json!([{"key": "target.build.metal", "plugins": []}, {"key": "device_api.cpu", "plugins": ["host"]}]);
    assert_eq!(c["needed_keys"], needed);
    let shown = scratch.run("plugins c --plugin p");
    for says in ["needs target.build.metal, which no plugin provides", "NEEDS", "nobody"] {
        assert!(shown.stdout.contains(says), "{} should say {says}", shown.stdout);
    }
    let build = "build vector_add.py --target c --emit source --plugin p";
    scratch.kernel("vector_add.py").run(build).failed(
        3,
        &[
            "no plugin provides target.kind.c",
            "plugin \"c\" is not used: needs target.build.metal",
            "install one",
        ],
    );

    copy(&scratch, "metal", &[]);
    let list = scratch.run("plugins c --plugin p --check --json").json();
    assert_eq!(list["plugins"][0]["check"]["outcome"], "opened", "{list:#}");
    assert_eq!(list["plugins"][0]["needed_keys"][0]["plugins"], json!(["metal"]));
    let ended = scratch.run(build);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);

    copy(&scratch, "metal", &["target.build.c"]);
    let list = scratch.run("plugins --plugin p --json").json();
    for plugin in list["plugins"].as_array().unwrap() {
        assert!(plugin["problem"]["message"].as_str().unwrap().contains("a circle"), "{plugin}");
    }
}

#[test]
fn p1_15_a_check_shows_which_build_it_is() {
    let scratch = Scratch::without_plugins();
    copy(&scratch, "c", &[]);
    let check = scratch.run("plugins c --plugin p --check --json").json();
    let id = check["plugins"][0]["check"]["build_id"].as_str().unwrap().to_owned();
    // The linker's, or the beginning of the digest that the manifest had the host compute.
    assert!(id.len() >= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id:?}");
    let shown = scratch.run("plugins c --plugin p --check").stdout;
    assert!(shown.contains(&format!("\nbuild {id}\n")), "{shown}");
}

#[test]
fn a_file_that_is_named_and_refused_is_no_reason_to_take_another() {
    let scratch = Scratch::new();
    copy(&scratch, "c", &[]);
    scratch.write("p/c.chipdock.json", "{");
    scratch.kernel("vector_add.py");
    for command in ["build vector_add.py --emit source", "run vector_add.py --set n=4"] {
        let ended = scratch.run(&format!("{command} --target c --plugin p/c.so"));
        ended.failed(3, &["plugin \"c\" cannot be used", "not a plugin manifest"]);
        scratch.run(&format!("{command} --target c --plugin p/none.so")).failed(3, &["there is no"]);
    }
    // In a folder it is one of several, and the next is taken, as ever.
    let ended = scratch.run("build vector_add.py --emit source --target c --plugin p");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // What the user ruled out is no surprise.
    let ruled_out = scratch.run("build vector_add.py --emit ir --target c --plugin p/c.so --disable c");
    assert_eq!(ruled_out.code, Some(0), "{}", ruled_out.stderr);
}

#[test]
fn find_d2_a_plugin_that_two_options_name_is_listed_once() {
    let scratch = Scratch::without_plugins();
    copy(&scratch, "c", &[]);
    let list = end(&mut scratch.command("plugins --plugin p --plugin p/c.so --plugin ./p --json")).json();
    assert_eq!(list["plugins"].as_array().unwrap().len(), 1, "{list:#}");
}

#[test]
fn a_kind_of_which_nothing_is_known_has_dashes_and_a_reason() {
    let scratch = Scratch::without_plugins();
    let text = "__attribute__((constructor)) static void opened(void) { __builtin_trap(); }\n";
    let source = scratch.write("p/w.c", text);
    let mut command = std::process::Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(scratch.path("p/w.so")).arg(source);
    assert!(command.status().expect("cc").success());
    let shown = scratch.run("targets --plugin p").stdout;
    let row: Vec<&str> = shown.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row, ["w", "unavailable", "-", "-", "-", "w"], "{shown}");
    assert!(shown.contains("w is unavailable: plugin \"w\" crashed"), "{shown}");
}
