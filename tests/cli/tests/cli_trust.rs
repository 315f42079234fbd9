//! Tests of the files that the command reads, opens or refuses: regular files, digests, locks.
//! Rules FIND-D3 and FIND-D5 of discovery, LOAD-L1 of the loader, LOCK-K1 to LOCK-K4 of the lock.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use chipdock_test_support::command::{Ended, Scratch, built, end};
use serde_json::{Value, json};

/// Runs the command, which is killed when it hangs.
fn in_time(scratch: &Scratch, words: &str) -> Ended {
    let command = scratch.command(words);
    let mut timed = Command::new("timeout");
    timed.args(["--signal=KILL", "20"]).arg(command.get_program()).args(command.get_args());
    timed.current_dir(command.get_current_dir().unwrap()).stdin(std::process::Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => timed.env(name, value),
            None => timed.env_remove(name),
        };
    }
    let ended = end(&mut timed);
    assert_ne!(ended.code, Some(137), "{words}: it hangs");
    ended
}

fn fifo(scratch: &Scratch, name: &str) {
    let status = Command::new("mkfifo").arg(scratch.path(name)).status();
    assert!(status.expect("mkfifo is there").success());
}

/// A copy of the plugin that compiles C, in a folder of its own.
fn copied(scratch: &Scratch) {
    fs::create_dir(scratch.path("vendor")).unwrap();
    for ending in ["so", "chipdock.json"] {
        let name = format!("chipdock_plugin_c.{ending}");
        fs::copy(built().plugins.join(&name), scratch.path("vendor").join(name)).unwrap();
    }
}

fn edit(scratch: &Scratch, name: &str, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(scratch.path(name)).unwrap();
    scratch.write(name, change(text));
}

/// Another library, which would open just as well.
fn change_library(scratch: &Scratch) {
    let path = scratch.path("vendor/chipdock_plugin_c.so");
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(0);
    fs::write(&path, bytes).unwrap();
}

fn plugin<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["plugins"].as_array().unwrap().iter().find(|plugin| plugin["name"] == name).unwrap()
}

#[test]
fn no_command_waits_for_a_file_that_never_ends() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    fs::create_dir(scratch.path("odd")).unwrap();
    scratch.write("odd/a.so", "text");
    fifo(&scratch, "odd/a.chipdock.json");
    fifo(&scratch, "odd/b.so");
    scratch.write("odd/c.so", "text");
    std::os::unix::fs::symlink("/dev/zero", scratch.path("odd/c.chipdock.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", scratch.path("odd/d.so")).unwrap();
    fifo(&scratch, "fifo.py");
    std::os::unix::fs::symlink("/dev/zero", scratch.path("endless.py")).unwrap();
    fifo(&scratch, "needs.json");
    for words in [
        "plugins --plugin odd --json",
        "plugins --plugin odd --allow-path odd --json",
        "plugins --plugin odd --plugin odd/b.so --check --deadline 5 --json",
        "plugins --plugin odd --lock here.lock --json",
    ] {
        let list = in_time(&scratch, words).json();
        assert_eq!(plugin(&list, "c")["status"], "refused", "the first of that name");
        assert_eq!(plugin(&list, "b")["problem"]["reason"], "cannot_open");
        let message = plugin(&list, "a")["problem"]["message"].as_str().unwrap();
        assert!(message.contains("it is a FIFO; expected a regular file"), "{message}");
    }
    for words in [
        "targets --plugin odd",
        "devices --plugin odd",
        "build vector_add.py --target c --plugin odd --emit source",
    ] {
        let ended = in_time(&scratch, words);
        assert_eq!(ended.code, Some(0), "{words}: {}", ended.stderr);
    }
    let kind = "expected a regular file";
    in_time(&scratch, "run fifo.py")
        .failed(2, &["cannot read the kernel file: it is a FIFO", kind, "--> fifo.py"]);
    in_time(&scratch, "build endless.py").failed(2, &["it is a character device", kind]);
    in_time(&scratch, "manifest odd/b.so").failed(3, &["it is a FIFO", kind]);
    in_time(&scratch, "conformance odd/b.so").failed(2, &["it is a FIFO", kind]);
    let c = built().plugins.join("chipdock_plugin_c.so");
    let words = format!("manifest {} --needs needs.json -o -", c.display());
    in_time(&scratch, &words).failed(2, &["cannot read the needs: it is a FIFO", "--> needs.json"]);
    in_time(&scratch, "plugins --locked needs.json").failed(2, &["cannot read the lock: it is a FIFO"]);
}

#[test]
fn another_kind_of_file_is_refused_by_name() {
    let scratch = Scratch::new();
    let whole = fs::read(built().plugins.join("chipdock_plugin_c.so")).unwrap();
    for (bytes, says) in [
        (&b""[..], "it is empty"),
        (b"GROUP ( libreal.so.1 )", "it is text, for instance a script of a linker"),
        (b"!<arch>\nx", "it is a static archive"),
        // Within its segments: what is behind them, debug information for instance, no loader
        // needs.
        (&whole[..2 * 4096], "it is cut short: its segments need"),
        (&whole[..32], "it is cut short: an ELF header"),
    ] {
        scratch.write("x.so", bytes);
        let place = format!("--> {}", scratch.path("x.so").canonicalize().unwrap().display());
        scratch.run("manifest x.so").failed(3, &[says, &place]);
    }
}

#[test]
fn a_manifest_has_the_digest_of_its_library_and_no_other_is_opened() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    copied(&scratch);
    let run = "build vector_add.py --target c --emit source --plugin vendor";
    assert_eq!(scratch.run(run).code, Some(0), "as it was installed");
    let manifest: Value =
        serde_json::from_slice(&fs::read(scratch.path("vendor/chipdock_plugin_c.chipdock.json")).unwrap())
            .unwrap();
    let digest = manifest["sha256"].as_str().expect("a digest").to_owned();
    change_library(&scratch);
    scratch
        .run(run)
        .failed(3, &[&format!("the manifest says {digest}"), "install library and manifest together"]);
    assert_eq!(scratch.run("manifest vendor/chipdock_plugin_c.so").code, Some(0));
    assert_eq!(scratch.run(run).code, Some(0), "with a manifest of its own");
}

#[test]
fn a_lock_pins_plugins_by_their_digests() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    copied(&scratch);
    // Without the manifest's own digest it is the lock alone that finds another library.
    edit(&scratch, "vendor/chipdock_plugin_c.chipdock.json", |text| {
        let mut manifest: Value = serde_json::from_str(&text).unwrap();
        manifest.as_object_mut().unwrap().remove("sha256");
        manifest.to_string()
    });
    let written = scratch.run("plugins --plugin vendor --lock plugins.lock");
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stdout.contains("\nplugins.lock pins "), "{}", written.stdout);
    let lock: Value = serde_json::from_slice(&fs::read(scratch.path("plugins.lock")).unwrap()).unwrap();
    assert_eq!(lock["schema"], "chipdock.plugins-lock/1");
    let pinned = plugin(&lock, "c")["sha256"].as_str().unwrap().to_owned();

    let list = scratch.run("plugins --plugin vendor --locked plugins.lock --json").json();
    assert_eq!(plugin(&list, "c")["status"], "ready");
    let build = "build vector_add.py --target c --emit source --plugin vendor";
    let locked = format!("{build} --locked plugins.lock");
    assert_eq!(scratch.run(&locked).code, Some(0));

    change_library(&scratch);
    let found = Command::new("sha256sum").arg(scratch.path("vendor/chipdock_plugin_c.so")).output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap()[..64].to_owned();
    scratch.run(&locked).failed(3, &[&pinned, &found, "plugins.lock pins"]);
    assert_eq!(
        scratch.run(build).code,
        Some(0),
        "LOCK-K1: a lock that lies there and is not named locks nothing"
    );
    let list = scratch.run("plugins --plugin vendor --locked plugins.lock --json").json();
    assert_eq!(plugin(&list, "c")["problem"]["reason"], "not_locked");
    let message = plugin(&list, "c")["problem"]["message"].as_str().unwrap();
    assert!(message.contains(&pinned) && message.contains(&found), "both digests: {message}");
    let checked = scratch.run("plugins --plugin vendor --locked plugins.lock --check --json").json();
    assert_eq!(plugin(&checked, "c")["check"], json!(null), "what the lock refuses is not opened");
    for words in ["manifest vendor/chipdock_plugin_c.so -o -", "conformance vendor/chipdock_plugin_c.so"] {
        scratch.run(&format!("{words} --locked plugins.lock")).failed(3, &[&pinned, &found]);
    }
}

#[test]
fn a_lock_refuses_unnamed_plugins_and_no_lock_is_an_error() {
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    assert_eq!(scratch.run("plugins --lock plugins.lock").code, Some(0));
    edit(&scratch, "plugins.lock", |text| {
        let mut lock: Value = serde_json::from_str(&text).unwrap();
        lock["plugins"].as_array_mut().unwrap().retain(|plugin| plugin["name"] != "c");
        lock.to_string()
    });
    let build = "build vector_add.py --target c --emit source --locked plugins.lock";
    scratch.run(build).failed(3, &["plugins.lock pins no plugin \"c\""]);
    let targets = scratch.run("targets --locked plugins.lock --json").json();
    let kinds = targets["kinds"].as_array().unwrap();
    let refused = kinds.iter().find(|kind| kind["name"] == "c").unwrap();
    assert_eq!(refused["usable"], false, "{refused:#}");
    let why = refused["problem"]["help"].as_str().unwrap();
    assert!(why.contains("plugins.lock pins no plugin \"c\""), "{why}");
    scratch.run("build vector_add.py --locked none.lock").failed(2, &["cannot read the lock", "--> "]);
    scratch.write("plugins.lock", "{}");
    scratch.run(build).failed(2, &["not a lock of plugins: missing field `schema`"]);
}

#[test]
fn a_variable_that_is_no_text_is_an_error_and_not_ignored() {
    let scratch = Scratch::new();
    let mut command = scratch.command("plugins");
    command.env("CHIPDOCK_PLUGINS_DISABLE", std::ffi::OsStr::from_bytes(b"\xff"));
    end(&mut command).failed(2, &["CHIPDOCK_PLUGINS_DISABLE is", "not UTF-8"]);
}

/// ASK-A4, REG-R7: `devices`, `targets` and `run` know a refused plugin by its manifest, and by its
/// name where that was not read.
#[test]
fn each_command_says_why_a_plugin_was_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    scratch.kernel("vector_add.py");
    copied(&scratch);
    // Another name, so that no other plugin provides the same.
    for ending in ["so", "chipdock.json"] {
        let [from, to] =
            ["chipdock_plugin_c", "npu"].map(|stem| scratch.path(&format!("vendor/{stem}.{ending}")));
        fs::rename(from, to).unwrap();
    }
    edit(&scratch, "vendor/npu.chipdock.json", |text| {
        let text = text.replace("\"c\"", "\"npu\"").replace(".c\"", ".npu\"");
        text.replacen("\"provides\": [", "\"provides\": [\"device_api.npu\",", 1)
    });
    let permit = |ending: &str, mode: u32| {
        let path = scratch.path(&format!("vendor/npu.{ending}"));
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let problem = |command: &str, rows: &str, name: &str| {
        let ended = scratch.run(&format!("{command} --plugin vendor --json"));
        let list: Value = serde_json::from_str(&ended.stdout).unwrap();
        let row = list[rows].as_array().unwrap().iter().find(|row| row["name"] == name);
        let problem = row.unwrap_or_else(|| panic!("{command}: no row {name}"))["problem"].clone();
        assert_eq!(problem["kind"], "Unavailable", "{command}: {problem}");
        format!("{} {}", problem["message"], problem["help"])
    };
    let run = "run vector_add.py --set n=4 --plugin vendor";
    permit("so", 0o757);
    let reason = "may be written by group or others (mode 757)";
    for (command, rows) in [("devices", "device_apis"), ("targets", "kinds")] {
        let shown = problem(command, rows, "npu");
        assert!(shown.contains(reason), "{command}: {shown}");
    }
    let shown = scratch.run("targets npu --plugin vendor").stdout;
    assert!(shown.contains("npu is unavailable") && shown.contains(reason), "{shown}");
    scratch.run(&format!("{run} --target npu")).failed(3, &[reason]);
    scratch.run(&format!("{run} --device npu:0")).failed(3, &[reason]);
    scratch.run(&format!("{run} --target c --prefer target.kind.c=npu")).failed(3, &[reason]);

    permit("so", 0o755);
    permit("chipdock.json", 0o646);
    let reason = "may be written by group or others (mode 646)";
    for (command, rows) in [("devices", "device_apis"), ("targets", "kinds")] {
        let shown = problem(command, rows, "npu");
        assert!(shown.contains(reason), "{command}: {shown}");
    }
    for command in
        ["plugins other --plugin vendor", "run vector_add.py --set n=4 --plugin vendor --device npu:0"]
    {
        scratch.run(command).failed(3, &[reason]);
    }
}
