//! Builds the fuzzer with coverage and sanitizer on the stable toolchain, runs it, and keeps inputs
//! that reach more code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{Result, cargo, output, root, step, target_folder};
use crate::plugins;

/// Crate that provides `cargo fuzz`.
const TOOL: &str = "cargo-fuzz";
/// Memory that a run may use, including the sanitizer's own share.
const MEMORY_MB_MAX: u32 = 4096;
/// Time for one input; an input that takes longer counts as a failure.
const INPUT_SECONDS_MAX: u32 = 25;
/// Targets, in the order in which they are run; each is a file of `tests/fuzz/fuzz/fuzz_targets`.
const TARGETS: &[&str] = &["script", "wire", "npy", "manifest", "targets", "artifact", "library", "pipeline"];

/// The task read from the command line.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    targets: Vec<String>,
    seconds: u32,
    action: Action,
}

#[derive(Debug, PartialEq, Eq)]
enum Action {
    Fuzz,
    /// Runs one input.
    Input(PathBuf),
    /// Reduces a failing input.
    Minimise(PathBuf),
    /// Copies into the kept corpus a minimal set of inputs that reaches the same code as all
    /// inputs.
    Keep,
}

/// Fuzzes each named target, or all; after a failure the remaining targets still run.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let wanted = wanted(arguments)?;
    ready()?;
    let folder = target_folder().join("fuzz");
    let binaries = build(&folder, &wanted.targets)?;
    let built = plugins::build(false)?;
    let mut failed = Vec::new();
    for target in &wanted.targets {
        let size_bytes_max = write_seeds(target, &folder.join("seeds").join(target), &built.folder)?;
        let mut fuzzer = Command::new(binaries.join(target));
        fuzzer.current_dir(root()).env("CHIPDOCK_TEST_PLUGINS", &built.folder);
        fuzzer.env("CHIPDOCK_TEST_COMMAND", &built.command);
        // As `cargo fuzz run` does: plugins hold copies of the same crates, which is no violation.
        fuzzer.env("ASAN_OPTIONS", "detect_odr_violation=0:allocator_may_return_null=1");
        fuzzer.env("CHIPDOCK_FUZZ_STATISTICS", folder.join(format!("{target}.statistics")));
        let what = arguments_of(&mut fuzzer, target, &folder, &wanted, &size_bytes_max)?;
        failed.extend(step(&format!("{target}: {what}"), &mut fuzzer).err());
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\nerror: ")) }
}

fn wanted(arguments: &[String]) -> Result<Wanted> {
    let mut wanted = Wanted { targets: Vec::new(), seconds: 60, action: Action::Fuzz };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument}: expected a value behind it"));
        match argument.as_str() {
            "--seconds" => {
                let text = value()?;
                wanted.seconds =
                    text.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| {
                        format!("--seconds {text}: expected a number of seconds, at least 1")
                    })?;
            }
            "--input" => wanted.action = Action::Input(value()?.into()),
            "--minimise" => wanted.action = Action::Minimise(value()?.into()),
            "--keep" => wanted.action = Action::Keep,
            target if TARGETS.contains(&target) => wanted.targets.push(target.to_owned()),
            other => {
                return Err(format!("fuzz {other}: expected a target ({}) or an option", TARGETS.join(", ")));
            }
        }
    }
    if matches!(wanted.action, Action::Input(_) | Action::Minimise(_)) && wanted.targets.len() != 1 {
        return Err("--input and --minimise are about one target: name it".to_owned());
    }
    if wanted.targets.is_empty() {
        wanted.targets = TARGETS.iter().map(|target| (*target).to_owned()).collect();
    }
    Ok(wanted)
}

/// Installs `cargo fuzz` if it is missing.
fn ready() -> Result<()> {
    let mut version = cargo();
    if version.args(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    eprintln!("missing: {TOOL}, which builds with libFuzzer; it is installed now");
    step(&format!("cargo install {TOOL}"), cargo().args(["install", "--locked", TOOL]))
}

/// Builds the targets with coverage and the address sanitizer; returns the folder of the
/// executables.
fn build(folder: &Path, targets: &[String]) -> Result<PathBuf> {
    let host = output("rustc", &["-vV"]).unwrap_or_default();
    let triple = host.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    let triple = triple.ok_or("rustc -vV does not say for which machine it builds")?;
    // A single target is built by name, several as part of all targets.
    let one = targets.first().filter(|_| targets.len() == 1);
    let mut command = cargo();
    command.args(["fuzz", "build", "--fuzz-dir", "tests/fuzz/fuzz", "--target"]).arg(&triple);
    command.arg("--target-dir").arg(folder).args(one);
    // The stable compiler contains coverage and sanitizers; this variable enables them.
    step("build the fuzzer", command.env("RUSTC_BOOTSTRAP", "1"))?;
    Ok(folder.join(triple).join("release"))
}

/// Writes the seeds of a target; returns the length of the longest input that it takes.
fn write_seeds(target: &str, folder: &Path, plugins: &Path) -> Result<String> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "chipdock-fuzz", "--bin", "chipdock-fuzz-seeds", "--"]);
    command.arg(target).arg(folder).env("CHIPDOCK_TEST_PLUGINS", plugins);
    let ended = command.output().map_err(|error| format!("the seeds of {target}: {error}"))?;
    if !ended.status.success() {
        return Err(format!("the seeds of {target}: {}", String::from_utf8_lossy(&ended.stderr)));
    }
    let text = String::from_utf8_lossy(&ended.stdout);
    text.lines()
        .last()
        .map(str::to_owned)
        .ok_or_else(|| format!("the seeds of {target}: no size was printed"))
}

/// Adds libFuzzer's arguments; returns a description of the action for the user.
fn arguments_of(
    fuzzer: &mut Command,
    target: &str,
    folder: &Path,
    wanted: &Wanted,
    size_bytes_max: &str,
) -> Result<String> {
    let made = |name: &str| -> Result<PathBuf> {
        let path = folder.join(name).join(target);
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    };
    let (work, found, seeds) = (made("corpus")?, made("found")?, made("seeds")?);
    let kept = root().join("tests/fuzz/corpus").join(target);
    fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    fuzzer.arg(format!("-artifact_prefix={}/", found.display()));
    fuzzer.arg(format!("-rss_limit_mb={MEMORY_MB_MAX}")).arg(format!("-timeout={INPUT_SECONDS_MAX}"));
    let seconds = wanted.seconds;
    Ok(match &wanted.action {
        Action::Fuzz => {
            let dictionary = root().join("tests/fuzz/fuzz/dictionaries").join(target);
            if dictionary.is_file() {
                fuzzer.arg(format!("-dict={}", dictionary.display()));
            }
            fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={size_bytes_max}"));
            fuzzer.arg("-print_final_stats=1").args([work, seeds, kept]);
            format!("fuzzing for {seconds} s; what fails is written to {}", found.display())
        }
        Action::Input(file) => {
            fuzzer.arg(file);
            format!("running {}", file.display())
        }
        Action::Minimise(file) => {
            fuzzer.args(["-minimize_crash=1", &format!("-max_total_time={seconds}")]).arg(file);
            format!(
                "making {} smaller for {seconds} s; the smallest is in {}",
                file.display(),
                found.display()
            )
        }
        Action::Keep => {
            fuzzer.arg("-merge=1").args([kept, work]);
            "adding to tests/fuzz/corpus what reaches more".to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Wanted> {
        wanted(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn targets_are_those_of_the_fuzz_package() {
        let folder = root().join("tests/fuzz/fuzz/fuzz_targets");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<String> =
            files.filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned())).collect();
        let mut known = TARGETS.to_vec();
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn wanted_outputs_are_read() {
        assert_eq!(read("").map(|wanted| wanted.targets.len()), Ok(TARGETS.len()));
        let wanted = Wanted { targets: vec!["npy".to_owned()], seconds: 5, action: Action::Fuzz };
        assert_eq!(read("npy --seconds 5"), Ok(wanted));
        let input = read("wire --input a").map(|wanted| wanted.action);
        assert_eq!(input, Ok(Action::Input("a".into())));
        for (text, says) in [
            ("nope", "expected a target (script,"),
            ("npy --seconds", "expected a value"),
            ("npy --seconds 0", "at least 1"),
            ("npy --seconds x", "a number of seconds"),
            ("--input a", "name it"),
            ("npy wire --minimise a", "name it"),
        ] {
            let error = read(text).err().unwrap_or_default();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
