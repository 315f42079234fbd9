//! Checks that a command worked as expected beside a fault, and kept the rules of the front page.

use serde_json::Value;

use crate::cage::{Kind, Run, SUM, bytes};
use crate::table::{End, Wanted};
use crate::watch::Ended;

/// Rule ZOO-Z5: largest output, on both streams together.
pub const TEXT_BYTES_MAX: u64 = 256 << 10;
/// Rule ZOO-Z5: largest memory use: that of the command in a debug build, and three times the
/// longest text that a fault returns.
pub const MEMORY_BYTES_MAX: u64 = 320 << 20;
/// The same of the suite: five threads of a worker call at once, and each holds a text and its
/// copies.
pub const SUITE_MEMORY_BYTES_MAX: u64 = 2 << 30;

/// Beginnings of forged lines.
const FORGED: &[&str] = &["error: forged", "help: forged"];

/// Returns the violations, a line each; none if all is as expected.
#[must_use]
pub fn complaints(kind: Kind, wanted: Option<&Wanted>, run: &Run) -> Vec<String> {
    let mut wrong = Vec::new();
    let stdout = String::from_utf8_lossy(&run.watched.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&run.watched.stderr).into_owned();
    if kind.is_slow {
        judged(run, &mut wrong);
    } else {
        ended(wanted, run, &stderr, &mut wrong);
    }
    let all = format!("{stdout}\n{stderr}");
    for part in wanted.iter().flat_map(|wanted| &wanted.says) {
        if !all.contains(part.as_str()) {
            wrong.push(format!("does not say {part:?}"));
        }
    }
    result(kind, wanted, run, &stdout, &mut wrong);
    texts(kind, wanted, run, [("stdout", &stdout), ("stderr", &stderr)], &mut wrong);
    written(kind, wanted, run, &mut wrong);
    wrong
}

/// Checks a run of the conformance suite, which exists to find faults: it must come to an end and
/// have a verdict, of either kind.
fn judged(run: &Run, wrong: &mut Vec<String>) {
    // No fault writes to the descriptor by which a worker reports.
    if String::from_utf8_lossy(&run.watched.stdout).contains("garbled") {
        wrong.push("ZOO-Z7: the suite accuses the plugin of what it did not do".to_owned());
    }
    if ![0, 1, 2, 3, 5].into_iter().any(|code| is_code(run, code)) {
        wrong.push(format!(
            "ZOO-Z1: ended as {:?}, which is no verdict of the suite on a plugin",
            run.watched.ended
        ));
    }
}

fn is_code(run: &Run, code: i32) -> bool {
    run.watched.ended == Ended::Code(code)
}

/// Checks rules ZOO-Z1 and ZOO-Z7.
fn ended(wanted: Option<&Wanted>, run: &Run, stderr: &str, wrong: &mut Vec<String>) {
    let end = wanted.map_or(End::So(Ended::Code(0)), |wanted| wanted.end);
    let ended = run.watched.ended;
    if end == End::Any {
        return;
    }
    if end != End::So(ended) {
        wrong.push(format!("ended as {ended:?}, wanted {end:?}"));
    }
    match ended {
        // Who is killed says nothing.
        Ended::Signal(libc::SIGKILL) => {}
        Ended::Signal(_) if !stderr.contains("zoo") => {
            wrong.push("ZOO-Z1: nothing names the plugin".to_owned())
        }
        Ended::Code(code) if code != 0 && !stderr.contains("error: ") => {
            wrong.push(format!("ZOO-Z7: exit code {code} without an error"));
        }
        _ => {}
    }
}

/// Checks rules ZOO-Z2 and ZOO-Z3.
fn result(kind: Kind, wanted: Option<&Wanted>, run: &Run, stdout: &str, wrong: &mut Vec<String>) {
    let command = kind.name.split('-').next().unwrap_or_default();
    let is_list = ["plugins", "check", "devices", "targets"].contains(&command);
    if kind.is_for_text {
        let good = if command == "devices" { "cpu:0 " } else { "c " };
        let is_there = stdout.lines().any(|line| line.starts_with(good));
        if command != "targets" && !is_there {
            wrong.push("ZOO-Z2: the good plugin is not listed".to_owned());
        }
        return;
    }
    if kind.is_slow || (stdout.is_empty() && !is_code(run, 0)) {
        return;
    }
    if stdout.is_empty() && wanted.is_some_and(|wanted| wanted.end == End::Any) {
        return;
    }
    let json: Value = match serde_json::from_str(stdout) {
        Ok(json) => json,
        Err(error) => return wrong.push(format!("ZOO-Z3: standard output is no JSON: {error}")),
    };
    let name = if command == "check" { "plugins" } else { command };
    if command != "manifest" && json["schema"] != format!("chipdock.{name}/1") {
        wrong.push(format!("ZOO-Z3: standard output has schema {}", json["schema"]));
    }
    if is_list {
        listed(command, wanted, &json, wrong);
    }
}

fn find<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut items = list.as_array().into_iter().flatten();
    items.find(|item| item["name"] == name).unwrap_or(&Value::Null)
}

/// Message for a name that two plugins claim: neither has it.
const DISPUTED: &str = "is provided by 2 plugins, and none is preferred";

fn listed(command: &str, wanted: Option<&Wanted>, json: &Value, wrong: &mut Vec<String>) {
    let is_healthy = wanted.is_none();
    let is_disputed = wanted.is_some_and(|wanted| wanted.says.iter().any(|part| part == DISPUTED));
    let mut good = |what: &str, is_good: bool| {
        if !is_good {
            wrong.push(format!("{what}: {json}").chars().take(600).collect());
        }
    };
    match command {
        "plugins" => {
            let ready = |name| find(&json["plugins"], name)["status"] == "ready";
            good("ZOO-Z2: plugin c is harmed", ready("c"));
            good("zoo is refused", !is_healthy || ready("zoo"));
        }
        "check" => {
            let opened = |name| {
                let check = &find(&json["plugins"], name)["check"];
                check["outcome"] == "opened" && check["unusable"] == Value::Array(Vec::new())
            };
            good("ZOO-Z2: plugin c is harmed", opened("c"));
            good("zoo is not opened", !is_healthy || opened("zoo"));
        }
        "devices" => {
            let count = |name| find(&json["device_apis"], name)["devices"].as_array().map_or(0, Vec::len);
            good("ZOO-Z2: the device cpu is harmed", count("cpu") == 1);
            good("the device zoo is missing", !is_healthy || count("zoo") == 1);
        }
        _ => {
            let usable = |name| find(&json["kinds"], name)["usable"] == true;
            let is_unharmed = usable("c") && json["default_host"] == "c";
            good("ZOO-Z2: the target c is harmed", is_unharmed || is_disputed);
            good("the target zoo is not usable", !is_healthy || usable("zoo"));
        }
    }
}

/// Checks rules ZOO-Z4 and ZOO-Z5.
fn texts(
    kind: Kind,
    wanted: Option<&Wanted>,
    run: &Run,
    streams: [(&str, &String); 2],
    wrong: &mut Vec<String>,
) {
    for (name, stream) in streams {
        if let Some(control) = stream.chars().find(|c| c.is_control() && *c != '\n') {
            wrong.push(format!("ZOO-Z4: {control:?} in {name}"));
        }
        if let Some(line) =
            stream.lines().find(|line| FORGED.iter().any(|forged| line.trim_start().starts_with(forged)))
        {
            wrong.push(format!("ZOO-Z4: {name} has the line {line:?}"));
        }
    }
    let (text, memory) = (run.watched.text_bytes, run.watched.memory_bytes);
    // What is ended by its deadline may have talked until then.
    if text > TEXT_BYTES_MAX && !wanted.is_some_and(Wanted::waits) {
        wrong.push(format!("ZOO-Z5: {text} bytes of text came out"));
    }
    if memory > if kind.is_slow { SUITE_MEMORY_BYTES_MAX } else { MEMORY_BYTES_MAX } {
        wrong.push(format!("ZOO-Z5: {} MiB of memory were used", memory >> 20));
    }
}

/// Checks rule ZOO-Z6.
fn written(kind: Kind, wanted: Option<&Wanted>, run: &Run, wrong: &mut Vec<String>) {
    let names: Vec<&str> = run.written.keys().map(String::as_str).collect();
    let expected: &[&str] = match kind.name.split('-').next() {
        _ if !is_code(run, 0) && !wanted.is_some_and(|wanted| wanted.has_files) => &[],
        Some("run") => &["c.npy"],
        Some("build") => &["out.artifact"],
        _ => &[],
    };
    let is_promised = wanted.is_none_or(|wanted| wanted.end != End::Any);
    if names.is_empty() && !is_promised {
        return;
    }
    if names != expected {
        wrong.push(format!("ZOO-Z6: wrote {names:?}, wanted {expected:?}"));
    } else if expected == ["c.npy"] && !run.written["c.npy"].ends_with(&bytes(&SUM)) {
        wrong.push("ZOO-Z6: the sum is wrong".to_owned());
    } else if expected == ["out.artifact"] && !run.written["out.artifact"].starts_with(b"CHIPDOCK") {
        wrong.push("ZOO-Z6: the artifact is none".to_owned());
    }
}
