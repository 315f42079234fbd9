//! Builds the command, libchipdock.so and the plugins, with manifests, into one folder.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::commands::{Result, cargo, root, step, target_folder};

/// Paths of the built command and plugins.
pub(crate) struct Built {
    /// The command `chipdock`.
    pub(crate) command: PathBuf,
    /// The folder with the plugins and their manifests.
    pub(crate) folder: PathBuf,
}

/// Returns the plugins of this repository as (folder name, stem of the library): every folder of
/// `plugins` with a `Cargo.toml`.
pub(crate) fn all() -> Result<Vec<(String, String)>> {
    let folder = root().join("plugins");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names
        .into_iter()
        .map(|name| (name.clone(), format!("chipdock_plugin_{}", name.replace('-', "_"))))
        .collect())
}

/// Builds the command, libchipdock.so and every plugin in one profile, copies the plugins into
/// `<profile>/plugins` and writes a manifest beside each, generated from the plugin's
/// registrations.
pub(crate) fn build(release: bool) -> Result<Built> {
    build_beside("chipdock-ffi", release)
}

/// Builds the command, the plugins and another package at once, so that what they share is compiled
/// once.
fn build_beside(package: &str, release: bool) -> Result<Built> {
    let mut command = cargo();
    command.arg("build");
    if release {
        command.arg("--release");
    }
    build_with(command, &[package], &target_folder().join(if release { "release" } else { "debug" }))
}

/// As [`build`], with every other library and test of the workspace: what they share is compiled
/// once, since cargo chooses the features of a crate by what is built together.
pub(crate) fn build_with_tests() -> Result<Built> {
    let mut command = cargo();
    command.args(["build", "--workspace", "--lib", "--bins", "--examples", "--tests"]);
    step("build the command, the plugins and the tests", &mut command)?;
    installed(&target_folder().join("debug"), &all()?)
}

/// Builds the command, every plugin and other packages, by a command of cargo's that is complete
/// but for the packages, and that leaves its files in `output`.
pub(crate) fn build_with(mut command: Command, others: &[&str], output: &Path) -> Result<Built> {
    let plugins = all()?;
    for package in ["chipdock-cli"].iter().chain(others) {
        command.args(["--package", package]);
    }
    for (name, _) in &plugins {
        command.args(["--package", &format!("chipdock-plugin-{name}")]);
    }
    step("build the command and the plugins", &mut command)?;
    installed(output, &plugins)
}

/// Copies the plugins that cargo built in `output`, and writes their manifests.
fn installed(output: &Path, plugins: &[(String, String)]) -> Result<Built> {
    let built = Built { command: output.join("chipdock"), folder: output.join("plugins") };
    fs::create_dir_all(&built.folder).map_err(|error| format!("{}: {error}", built.folder.display()))?;
    let ours = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&built.folder, ours)
        .map_err(|error| format!("{}: {error}", built.folder.display()))?;
    remove_stale(&built.folder, plugins)?;
    for (name, stem) in plugins {
        install(&built, &output.join(format!("lib{stem}.so")), name, stem)?;
    }
    Ok(built)
}

/// Removes files of plugins that no longer exist, so that no test uses an outdated plugin.
fn remove_stale(folder: &Path, plugins: &[(String, String)]) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stem = file.split('.').next().unwrap_or_default();
        if path.is_file() && !plugins.iter().any(|(_, known)| known == stem) {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Copies one plugin to a new inode (an open library keeps its old one) and writes its manifest.
fn install(built: &Built, library: &Path, name: &str, stem: &str) -> Result<()> {
    let installed = built.folder.join(format!("{stem}.so"));
    // A unique name, so that two builds at once do not remove each other's file.
    let fresh = built.folder.join(format!("{stem}.so.{}", std::process::id()));
    fs::copy(library, &fresh).map_err(|error| format!("{}: {error}", library.display()))?;
    // A library that its group may write is refused, and the umask may have allowed that.
    let ours = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&fresh, ours).map_err(|error| format!("{}: {error}", fresh.display()))?;
    fs::rename(&fresh, &installed).map_err(|error| format!("{}: {error}", installed.display()))?;
    let mut command = Command::new(&built.command);
    command.arg("manifest").arg(&installed);
    // The expectations for the conformance suite lie beside the library.
    let expectations = root().join("plugins").join(name).join("expectations.toml");
    let beside = built.folder.join(format!("{stem}.expectations.toml"));
    fs::copy(&expectations, &beside).map_err(|error| format!("{}: {error}", expectations.display()))?;
    let needs = root().join("plugins").join(name).join("needs.json");
    if needs.is_file() {
        command.arg("--needs").arg(needs);
    }
    step(&format!("write the manifest of {name}"), &mut command)
}

/// Builds everything that the demo shows, then runs it. Without `--release` this takes half of the
/// time, and kernels are as fast: their code is that of the compilers behind the plugins.
pub(crate) fn demo(arguments: &[String]) -> Result<()> {
    let built = build_beside("chipdock-demo", arguments.iter().any(|argument| argument == "--release"))?;
    let mut command = Command::new(built.command.with_file_name("chipdock-demo"));
    step("chipdock-demo", command.arg("--plugins").arg(&built.folder).args(arguments))
}

const BENCH: &str = "chipdock-bench";

/// Builds everything in release mode, then runs the benchmark with it.
pub(crate) fn run_bench(arguments: &[String]) -> Result<()> {
    let built = build_beside(BENCH, true)?;
    let mut command = Command::new(built.command.with_file_name(BENCH));
    command.arg("--plugins").arg(&built.folder).arg("--command").arg(&built.command);
    step(BENCH, command.args(arguments).current_dir(root()))
}

/// Runs the benchmark without plugins, for its help.
pub(crate) fn run_bench_alone(arguments: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", BENCH, "--"]).args(arguments);
    step(BENCH, &mut command)
}
