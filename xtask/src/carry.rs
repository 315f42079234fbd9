//! `cargo xtask carry`: packs one archive that runs on a machine with the hardware, with nothing
//! installed there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::commands::{Result, cargo, output, root, step, target_folder};
use crate::{plugins, wheels};

const RUN: &str = "#!/bin/sh
# Runs everything on this machine's devices and writes report.json here; `./run.sh --help` says what can be left out.
here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1
for wheels in \"$here\"/wheels/*; do
  [ -d \"$wheels\" ] || continue
  name=$(basename \"$wheels\" | tr 'a-z-' 'A-Z_')
  export \"CHIPDOCK_${name}_WHEELS=$wheels\"
done
exec \"$here/bin/chipdock-carried\" \"$@\"
";

const README: &str = "What this is: the command chipdock, its plugins, the corpus, the examples, the device tests and the
benchmark, built on another machine. `./run.sh` runs them all on the devices of this one and leaves report.json, whose field
`text` is for people. It needs a system with glibc as new as the building machine's (see BUILD), the vendor's driver (for
Vulkan its loader too, libvulkan.so.1), and nothing else: no network, no Rust, no Python. A run takes up to an hour;
`./run.sh --help` says what can be left out.

The folder `wheels`, where it is there, holds vendors' compilers under the vendors' own licences: they are here for your own
machine, and not to be handed on.
";

/// Beginnings of the names of the wheels' libraries that the archive contains; tools used by tests
/// are left out.
const CARRIED_WHEELS: &[&str] = &["libnvrtc.so.", "libnvrtc-builtins.so."];

/// Makes the archive: `--debug` builds quickly and runs slowly, `--without-wheels` leaves out the
/// vendors' compilers.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let known = ["--debug", "--without-wheels"];
    if let Some(unknown) = arguments.iter().find(|argument| !known.contains(&argument.as_str())) {
        return Err(format!("carry knows {}, found {unknown}", known.join(" and ")));
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let release = !has("--debug");
    let built = plugins::build(release)?;
    let (programs, tests) = (programs(release)?, device_tests(release)?);
    let name = format!("chipdock-carry-{}", std::env::consts::ARCH);
    let folder = target_folder().join(&name);
    let _ = fs::remove_dir_all(&folder);
    copy_folder(&built.folder, &folder.join("bin/plugins"), &|_| true)?;
    copy_file(&built.command, &folder.join("bin/chipdock"))?;
    for program in programs {
        let file = program.file_name().unwrap_or_default().to_owned();
        copy_file(&program, &folder.join("bin").join(file))?;
    }
    copy_file(&tests, &folder.join("bin/devices"))?;
    for part in [
        "tests/filetests/corpus",
        "host/conformance/kernels",
        "host/conformance/programs/regressions",
        "examples/kernels",
        "examples/digits",
    ] {
        copy_folder(&root().join(part), &folder.join(part), &|_| true)?;
    }
    for (plugin, _) in plugins::all()? {
        // The tests take a folder of `plugins` for a plugin's if it has a Cargo.toml.
        for file in ["Cargo.toml", "expectations.toml"] {
            let part = Path::new("plugins").join(&plugin).join(file);
            copy_file(&root().join(&part), &folder.join(&part))?;
        }
    }
    if !has("--without-wheels") {
        carry_wheels(&folder)?;
    }
    write(&folder.join("run.sh"), RUN, 0o755)?;
    write(&folder.join("README.txt"), README, 0o644)?;
    write(&folder.join("BUILD"), &build_facts(release), 0o644)?;
    let archive = target_folder().join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--gzip").arg("--file").arg(&archive).arg("--directory").arg(target_folder());
    step("pack", tar.arg(&name))?;
    println!("{}", archive.display());
    Ok(())
}

/// Builds the programs that run on the other machine, and returns their paths.
fn programs(release: bool) -> Result<Vec<PathBuf>> {
    let mut command = cargo();
    command.args(["build", "--package", "chipdock-carry", "--bin", "chipdock-carried"]);
    command.args(["--package", "chipdock-bench", "--bin", "chipdock-bench"]);
    if release {
        command.arg("--release");
    }
    step("build the programs that run there", &mut command)?;
    let profile = target_folder().join(if release { "release" } else { "debug" });
    Ok(["chipdock-carried", "chipdock-bench"].map(|name| profile.join(name)).to_vec())
}

/// Builds the device tests and returns the path of their executable.
fn device_tests(release: bool) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["test", "--no-run", "--package", "chipdock-differential", "--test", "devices"]);
    command.args(["--message-format", "json"]).stderr(Stdio::inherit());
    if release {
        command.arg("--release");
    }
    eprintln!("==> build the device tests");
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the device tests cannot be built".to_owned());
    }
    // One line of JSON for each artifact; only the line of the test has an executable.
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().filter_map(|line| line.split_once("\"executable\":\"")).next_back();
    let path = found.and_then(|(_, rest)| rest.split('"').next());
    path.map(PathBuf::from).ok_or_else(|| "cargo names no executable of the device tests".to_owned())
}

/// Returns a description of this build for readers of the report: commit, profile, rustc and libc.
fn build_facts(release: bool) -> String {
    let says = |program: &str, arguments: &[&str]| {
        output(program, arguments).and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
    };
    let root = root().display().to_string();
    format!(
        "commit {}\nprofile {}\n{}\n{}\n",
        says("git", &["-C", &root, "describe", "--always", "--dirty", "--abbrev=12"]),
        if release { "release" } else { "debug" },
        says("rustc", &["--version"]),
        says("ldd", &["--version"]),
    )
}

/// Copies into the archive the vendors' compilers that can be fetched.
fn carry_wheels(folder: &Path) -> Result<()> {
    for wheels in wheels::all()? {
        let Ok(from) = wheels::install(&wheels) else {
            eprintln!("not carried: the wheels of {}, which could not be fetched", wheels.plugin);
            continue;
        };
        let is_carried = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            CARRIED_WHEELS.iter().any(|start| name.starts_with(start)) && !name.contains(".alt.")
        };
        copy_folder(&from, &folder.join("wheels").join(&wheels.plugin), &is_carried)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path, keep: &dyn Fn(&Path) -> bool) -> Result<()> {
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_folder(&path, &target, keep)?;
        } else if keep(&path) {
            copy_file(&path, &target)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::copy(from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
}

fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::write(path, text).map_err(said)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(said)
}
