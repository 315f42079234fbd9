//! A Rust vendor has only the published crates: each crate is packaged by itself, and a copy of the
//! template outside the repository builds from the packages alone and reaches its level.

#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_conformance::Level;
use chipdock_conformance::card::Card;
use chipdock_conformance::report::LevelState;
use chipdock_test_support::command::built;
use chipdock_test_support::{sample, workspace};
use sha2::{Digest as _, Sha256};

/// What a plugin is written against, and what that needs of ours.
const CRATES: &[&str] = &["chipdock-abi", "chipdock-ir", "chipdock-plugin-api"];

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo tells the test is of this workspace, and so is the toolchain's choice of a target
    // folder.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO_TARGET_DIR"
        {
            command.env_remove(&name);
        }
    }
    command.current_dir(folder);
    command
}

fn succeeds(mut command: Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}:\n{said}");
}

/// Packages the crates, builds each from its package, and unpacks them: their folders.
fn packaged(target: &Path, to: &Path) -> Vec<(&'static str, PathBuf)> {
    let mut package = cargo(&workspace());
    package.args(["package", "--quiet", "--allow-dirty", "--target-dir"]).arg(target);
    for name in CRATES {
        package.args(["--package", name]);
    }
    succeeds(package, "cargo package");
    let entries = target.join("package").read_dir().expect("packages");
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let unpacked = CRATES.iter().map(|name| {
        let is_of = |file: &&PathBuf| {
            let text = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let version = text.strip_prefix(*name).and_then(|rest| rest.strip_prefix('-'));
            version.is_some_and(|rest| {
                rest.ends_with(".crate") && rest.starts_with(|c: char| c.is_ascii_digit())
            })
        };
        let file = files.iter().find(is_of).unwrap_or_else(|| panic!("a package of {name}"));
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(file).arg("-C").arg(to);
        succeeds(tar, "tar");
        (*name, to.join(file.file_stem().expect("a name")))
    });
    unpacked.collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in from.read_dir().expect("a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("copied");
        }
    }
}

/// A name for the packaged sources. Cargo unpacks a package once for its path and version, and
/// reuses that when the sources have changed: so other sources get another path.
fn digest() -> String {
    fn add(folder: &Path, digest: &mut Sha256) {
        let mut entries: Vec<PathBuf> =
            folder.read_dir().expect("a folder").flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                add(&path, digest);
            } else {
                digest.update(path.as_os_str().as_encoded_bytes());
                digest.update(fs::read(&path).expect("a file"));
            }
        }
    }
    let mut digest = Sha256::new();
    add(&workspace().join("plugin-api"), &mut digest);
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_template_builds_from_the_packages_alone_and_reaches_its_level() {
    if !sample::has_turn("the template built from the packages alone", 3) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // Beside what cargo built for these tests, so that it is kept for the next time.
    let packages =
        built().command.parent().and_then(Path::parent).expect("the target folder").join("packages");
    let target = packages.join(digest());
    if !target.exists() {
        let _ = fs::remove_dir_all(&packages);
    }
    let crates = packaged(&target, folder.path());
    let template = folder.path().join("template");
    copy(&workspace().join("examples/plugin-template-rust"), &template);
    let mut config = "[patch.crates-io]\n".to_owned();
    for (name, path) in &crates {
        writeln!(config, "{name} = {{ path = {:?} }}", path.display().to_string()).expect("written");
    }
    fs::create_dir(template.join(".cargo")).expect("a folder");
    fs::write(template.join(".cargo/config.toml"), config).expect("written");
    // The versions of what others publish are those of this repository.
    fs::copy(workspace().join("Cargo.lock"), template.join("Cargo.lock")).expect("copied");
    let mut build = cargo(&template);
    build.args(["build", "--quiet", "--target-dir"]).arg(target.join("template"));
    succeeds(build, "cargo build of the template");

    let library = folder.path().join("template.so");
    fs::copy(target.join("template/debug/libchipdock_plugin_template.so"), &library).expect("copied");
    let (card, expectations) = (folder.path().join("card.json"), template.join("expectations.toml"));
    let mut manifest = Command::new(&built().command);
    manifest.arg("manifest").arg(&library);
    succeeds(manifest, "chipdock manifest");
    let mut suite = Command::new(&built().command);
    suite.arg("conformance").arg(&library).arg("--expectations").arg(&expectations).arg("--card").arg(&card);
    suite.env("XDG_DATA_HOME", folder.path()).env("XDG_CONFIG_HOME", folder.path());
    suite.current_dir(folder.path());
    let output = suite.output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let card = Card::parse(&fs::read_to_string(&card).expect("a card")).expect("a card");
    assert!(
        card.levels.iter().any(|one| one.level == Level::Device && one.state == LevelState::Reached),
        "level Device"
    );
}
