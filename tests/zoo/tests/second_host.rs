//! `examples/host-c`, a host that is written from the header and the contract alone, run with every
//! plugin of this repository and with every broken one. `second-host.toml` has the verdict of each.
//!
//! Beside every one of them it must end by itself unless the plugin hangs, crash nowhere but in the
//! plugin, which it names with the call, and print nothing that steers a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chipdock_test_support::command::{Scratch, built, end};
use chipdock_test_support::{plugins, setup, workspace};
use chipdock_test_zoo::compiled::{self, HEALTHY, here};
use chipdock_test_zoo::files::FILE_FAULTS;
use chipdock_test_zoo::table::{End, Wanted};
use chipdock_test_zoo::watch::{self, Ended};
use serde::Deserialize;

/// Longest time of a run; a plugin that hangs is watched for a shorter one.
const LIMIT: Duration = Duration::from_secs(60);
const HANGS: Duration = Duration::from_millis(1500);
/// So many runs at once.
const AT_ONCE: usize = 4;
/// Lines of `host.c` at most: a host is that small.
const LINES_MAX: usize = 500;

const HEALTHY_LIST: &str =
    "0 zoo 1.0.0, ABI 1.0 … device_api.zoo/zoo.hours/1 … target.kind.zoo for device zoo";
const HEALTHY_RUN: &str = "0 0 11 22 C = A + B: 3 of 3 right";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    unused: String,
    unseen: String,
    plugins: BTreeMap<String, PluginRow>,
    faults: BTreeMap<String, FaultRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PluginRow {
    list: String,
    target: Option<String>,
    source: String,
    run: String,
    absent: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultRow {
    list: Option<String>,
    run: Option<String>,
}

fn table() -> Table {
    let text = fs::read_to_string(here().join("second-host.toml")).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("second-host.toml: {error}"))
}

/// Compiles the host with a compiler and further flags, with its warnings as errors.
fn compile(compiler: &str, flags: &[&str], program: &Path) {
    let mut command = Command::new(compiler);
    command.args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(flags).arg("-I");
    command.arg(workspace().join("plugin-api/abi/include")).arg(workspace().join("examples/host-c/host.c"));
    let output = command.arg("-o").arg(program).args(["-ldl", "-lm"]).output();
    let output = output.unwrap_or_else(|error| panic!("{compiler} is needed for this test: {error}"));
    assert!(output.status.success(), "{compiler}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Puts a copy of a library, which nobody else may write, into a folder of its own.
fn caged(scratch: &Scratch, name: &str, library: &Path) -> PathBuf {
    let folder = scratch.path(name);
    fs::create_dir_all(&folder).unwrap();
    let caged = folder.join("zoo.so");
    fs::copy(library, &caged).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&caged, fs::Permissions::from_mode(0o755)).unwrap();
    caged
}

/// Compiles a kernel to an artifact with the plugin of that library and those of this repository.
fn artifact(scratch: &Scratch, library: &Path, target: &str, source: &str) -> PathBuf {
    let (kernel, out) = (workspace().join(source), library.with_extension("artifact"));
    let manifest = end(scratch.command("manifest").arg(library));
    assert_eq!(manifest.code, Some(0), "{}", manifest.stderr);
    let mut command = scratch.command("build");
    command.arg(kernel).args(["--target", target, "--emit", "artifact", "-o"]).arg(&out);
    let ended = end(command.arg("--plugin").arg(library.parent().unwrap()));
    assert_eq!(ended.code, Some(0), "{target}: {}", ended.stderr);
    out
}

/// Runs the host and returns what is not as wanted.
fn judged(program: &Path, args: &[&str], wanted: &Wanted, may_print: bool) -> Result<(), String> {
    let limit = if wanted.hangs() { HANGS } else { LIMIT };
    let mut command = Command::new(program);
    command.args(args).current_dir(program.parent().unwrap());
    let run = watch::run(&mut command, limit);
    let printed = [run.stdout, run.stderr].concat();
    let shown = String::from_utf8_lossy(&printed[..printed.len().min(2000)]).into_owned();
    let text = String::from_utf8_lossy(&printed);
    if let End::So(end) = wanted.end
        && end != run.ended
    {
        return Err(format!("expected {end:?}, found {:?}:\n{shown}", run.ended));
    }
    if let Some(part) = wanted.says.iter().find(|part| !text.contains(*part)) {
        return Err(format!("expected {part:?} in:\n{shown}"));
    }
    let steers = |byte: &u8| *byte != b'\n' && !(b' '..=b'~').contains(byte);
    if !may_print && printed.iter().any(steers) {
        return Err(format!("it prints what is no text: {shown:?}"));
    }
    // A signal that nobody expected is the host's own.
    if let (Ended::Signal(signal), End::Any) = (run.ended, wanted.end)
        && ![libc::SIGALRM, libc::SIGKILL].contains(&signal)
    {
        return Err(format!("signal {signal}:\n{shown}"));
    }
    Ok(())
}

#[test]
fn host_c_is_small_and_needs_the_header_alone() {
    let text = fs::read_to_string(workspace().join("examples/host-c/host.c")).unwrap();
    assert!(text.lines().count() <= LINES_MAX, "host.c has {} lines", text.lines().count());
    let tools = fs::read_to_string(workspace().join("examples/host-c/tools.h")).unwrap();
    let own: BTreeSet<&str> = [text.as_str(), &tools]
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.strip_prefix("#include "))
        .filter(|name| name.contains("chipdock") || name.starts_with('"'))
        .collect();
    assert_eq!(own, BTreeSet::from(["\"tools.h\"", "<chipdock.h>"]));
    let scratch = Scratch::new();
    for compiler in ["gcc", "clang-19"] {
        if Command::new(compiler).arg("--version").output().is_err() {
            setup::missing(&format!("{compiler}, for the host in C"));
            continue;
        }
        compile(compiler, &[], &scratch.path(compiler));
    }
}

#[test]
fn host_c_with_each_plugin_of_the_repository() {
    let (table, scratch) = (table(), Scratch::new());
    let program = scratch.path("host-c");
    compile("cc", &[], &program);
    let reference = plugins::build(&["chipdock-reference-plugin"]).remove(0);
    let mut libraries = BTreeMap::from([("reference".to_owned(), reference)]);
    for folder in plugins::folders().unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let library = built().plugins.join(format!("chipdock_plugin_{}.so", name.replace('-', "_")));
        libraries.insert(name, library);
    }
    let names: Vec<&String> = table.plugins.keys().collect();
    assert_eq!(names, libraries.keys().collect::<Vec<_>>(), "the plugins of second-host.toml");
    let mut wrong = Vec::new();
    for (name, row) in &table.plugins {
        let library = caged(&scratch, name, &libraries[name]);
        let target = row.target.as_deref().unwrap_or(name);
        let artifact = artifact(&scratch, &library, target, &row.source);
        let (library, artifact) = (library.to_str().unwrap(), artifact.to_str().unwrap());
        let is_kernel = !row.source.ends_with("vector_add.py");
        let function = if is_kernel { "vector_add_kernel" } else { "vector_add" };
        let args = [library, artifact, function, "1000"];
        let as_wanted =
            |args: &[&str], text: &str| judged(&program, args, &Wanted::parse(text).unwrap(), false);
        if let Err(why) = as_wanted(&args[..1], &row.list) {
            wrong.push(format!("{name} list: {why}"));
        }
        if let Err(why) = as_wanted(&args, &row.run) {
            match row.absent.as_deref().map(|absent| as_wanted(&args, absent)) {
                Some(Ok(())) if name == "cuda" => {
                    chipdock_test_support::skipped("host-c with cuda: no driver")
                }
                Some(Ok(())) => setup::missing(&format!("a device of plugin {name}, for the host in C")),
                _ => wrong.push(format!("{name} run: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A broken plugin, as it lies in its folder.
struct Caged {
    name: String,
    library: PathBuf,
}

/// Returns the healthy plugin, every broken one, and every file that is no plugin.
fn zoo(scratch: &Scratch) -> Vec<Caged> {
    let cache = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("zoo");
    let libraries = compiled::libraries(&compiled::sources(), &cache);
    let mut all = Vec::new();
    for (name, library) in &libraries {
        all.push(Caged { name: name.clone(), library: caged(scratch, name, library) });
    }
    for fault in FILE_FAULTS.iter().filter(|fault| fault.name.starts_with("library_")) {
        let library = caged(scratch, fault.name, &libraries[fault.library]);
        // The faults of files keep the digest of a manifest right, which this host does not read.
        fs::write(library.with_extension("chipdock.json"), "{}").unwrap();
        (fault.spoil)(library.parent().unwrap());
        all.push(Caged { name: fault.name.to_owned(), library });
    }
    all
}

#[test]
fn host_c_with_each_broken_plugin() {
    let (table, scratch) = (table(), Scratch::new());
    let program = scratch.path("host-c");
    compile("cc", &[], &program);
    let zoo = zoo(&scratch);
    let healthy = zoo.iter().find(|caged| caged.name == HEALTHY).unwrap();
    let artifact = artifact(&scratch, &healthy.library, "zoo", "examples/kernels/vector_add.py");
    let artifact = artifact.to_str().unwrap();

    let as_healthy: BTreeSet<&str> =
        table.unused.split_whitespace().chain(table.unseen.split_whitespace()).chain([HEALTHY]).collect();
    let names: BTreeSet<&str> = zoo.iter().map(|caged| caged.name.as_str()).collect();
    let rows: BTreeSet<&str> = table.faults.keys().map(String::as_str).chain(as_healthy.clone()).collect();
    assert_eq!(names, rows, "each broken plugin is in second-host.toml, and nothing else is");
    let twice: Vec<&&str> = as_healthy.iter().filter(|name| table.faults.contains_key(**name)).collect();
    assert!(twice.is_empty(), "in second-host.toml twice: {twice:?}");

    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(caged) = zoo.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = table.faults.get(&caged.name);
            let library = caged.library.to_str().unwrap();
            let args = [library, artifact, "vector_add", "3"];
            let list = row.and_then(|row| row.list.as_deref()).unwrap_or(HEALTHY_LIST);
            let run = row.and_then(|row| row.run.as_deref()).unwrap_or(HEALTHY_RUN);
            for (name, args, text) in [("list", &args[..1], list), ("run", &args[..], run)] {
                let wanted = Wanted::parse(text).unwrap_or_else(|error| panic!("{}: {error}", caged.name));
                // These two print for themselves.
                let may_print = ["constructor_prints", "function_prints"].contains(&caged.name.as_str());
                if let Err(why) = judged(&program, args, &wanted, may_print) {
                    wrong.lock().unwrap().push(format!("{} {name}: {why}", caged.name));
                }
            }
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} are not as wanted:\n{}", wrong.len(), wrong.join("\n"));
}

/// Nothing of the host leaks, nor of a plugin that frees what it has (P9.4).
#[test]
fn host_c_leaks_nothing() {
    let scratch = Scratch::new();
    let program = scratch.path("host-c");
    compile("gcc", &["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"], &program);
    let reference = plugins::build(&["chipdock-reference-plugin"]).remove(0);
    for (name, library) in [("c", built().plugins.join("chipdock_plugin_c.so")), ("reference", reference)] {
        let library = caged(&scratch, name, &library);
        let artifact = artifact(&scratch, &library, name, "examples/kernels/vector_add.py");
        for args in [&[][..], &["vector_add", "1000"], &["vector_sub", "1000"]] {
            let mut command = Command::new(&program);
            command.arg(&library);
            if !args.is_empty() {
                command.arg(&artifact).args(args);
            }
            let ended = end(&mut command);
            let expected = if args.contains(&"vector_sub") { 2 } else { 0 };
            assert_eq!(ended.code, Some(expected), "{name} {args:?}: {}{}", ended.stdout, ended.stderr);
            assert!(!ended.stderr.contains("Sanitizer"), "{name} {args:?}: {}", ended.stderr);
        }
    }
}
