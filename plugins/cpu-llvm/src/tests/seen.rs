//! Tests that a user sees loaded code in `perf` and `gdb` (rules LLNAME-J1 and LLNAME-J2 of
//! `llvm::naming`).

use std::process::{Command, Output};

use chipdock_test_support::command::Scratch;
use chipdock_test_support::setup;

const RUN: &str = "run matmul.py --target llvm --set m=256 --set n=256 --set k=256 --no-cache --threads 1";

fn has(program: &str) -> bool {
    let has = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        setup::missing(&format!("{program}, to look at loaded code with"));
    }
    has
}

/// A tool, with `before`, and after it the command of `RUN`.
fn tool(scratch: &Scratch, before: &[&str], more: &str) -> Output {
    let inner = scratch.command(&format!("{RUN} {more}"));
    let mut command = Command::new(before[0]);
    command.args(&before[1..]).arg(inner.get_program()).args(inner.get_args());
    command.current_dir(scratch.path("")).env("CHIPDOCK_CACHE_DIR", "");
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn llname_j1_perf_names_the_kernel() {
    if !has("perf") {
        return;
    }
    let scratch = Scratch::new();
    scratch.kernel("matmul.py");
    let record = ["perf", "record", "-e", "cpu-clock", "-F", "5000", "-o", "perf.data", "--"];
    for (setting, is_named) in [("true", true), ("false", false)] {
        let recorded = tool(&scratch, &record, &format!("--repeat 30 --config cpu-llvm.perf-map={setting}"));
        let said = text(&recorded.stderr);
        if said.contains("Permission") || said.contains("permission") || said.contains("not supported") {
            return setup::skipped(&format!("perf may not count here: {said}"));
        }
        assert!(recorded.status.success(), "{said}");
        let mut report = Command::new("perf");
        report.args(["report", "-i", "perf.data", "--stdio", "--sort", "symbol"]);
        let report = text(&report.current_dir(scratch.path("")).output().unwrap().stdout);
        assert_eq!(report.contains("matmul_compute_"), is_named, "{report}");
    }
}

#[test]
fn llname_j2_gdb_stops_at_the_line_of_the_kernel() {
    if !has("gdb") {
        return;
    }
    let scratch = Scratch::new();
    scratch.kernel("matmul.py");
    let words = "set breakpoint pending on|set debuginfod enabled off|break 'cd.f.matmul_compute_'|run|backtrace 3|continue";
    let words = words.split('|').flat_map(|word| ["-ex", word]);
    let before: Vec<&str> = ["gdb", "-nx", "-batch"].into_iter().chain(words).chain(["--args"]).collect();
    let seen = tool(&scratch, &before, "--config cpu-llvm.gdb=true");
    let (out, said) = (text(&seen.stdout), text(&seen.stderr));
    if said.contains("ptrace") || out.contains("ptrace") {
        return setup::skipped(&format!("gdb may not trace here: {said}"));
    }
    let frame = out.lines().find(|line| line.starts_with("#0"));
    assert!(frame.is_some_and(|line| line.contains(" matmul") && line.contains("matmul.py:")), "{out}{said}");
    assert!(out.contains("exited normally"), "{out}{said}");
}
