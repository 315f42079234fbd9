//! Cages for faults: the command with the good plugin beside it, a folder with the fault, and a new
//! folder for each command that is run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use chipdock_test_support::command::{built, kernels};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::compiled::hexadecimal;
use crate::watch::{self, Watched};

/// Values of `--deadline`, in seconds, of commands that are to end by it, the next one where a busy
/// machine took the first for something else.
pub const SHORT_DEADLINES: &[u32] = &[1, 15];
/// Value of `--deadline` of all others: long, for a busy machine.
pub const LONG_DEADLINE: u32 = 60;
/// Longest time of a command. If something hangs, the command's own deadline ends it long before.
const LIMIT: Duration = Duration::from_secs(90);
/// The same of the suite, in which each of a dozen cases may wait for its own deadline.
const SUITE_LIMIT: Duration = Duration::from_secs(480);
/// Time for which a command that is expected to hang is watched.
const HANGS: Duration = Duration::from_millis(1500);

/// A command that is run with every fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// Name of the command in the table.
    pub name: &'static str,
    words: &'static str,
    /// Whether it is run only for hostile texts, because it prints text for people instead of JSON.
    pub is_for_text: bool,
    /// Whether only a sample of it is run ordinarily, because it is slow.
    pub is_slow: bool,
}

const fn kind(name: &'static str, words: &'static str) -> Kind {
    Kind { name, words, is_for_text: false, is_slow: false }
}

const fn text(name: &'static str, words: &'static str) -> Kind {
    Kind { name, words, is_for_text: true, is_slow: false }
}

/// Arguments for the files that a run reads and writes.
const FILES: &str = "--in A=a.npy --in B=b.npy --out C=c.npy";

/// Every command; `PLUGIN`, `DEADLINE` and `FILES` are filled in.
pub const KINDS: &[Kind] = &[
    kind("plugins", "plugins --json"),
    kind("check", "plugins --check --deadline DEADLINE --json"),
    kind("devices", "devices --deadline DEADLINE --json"),
    kind("targets", "targets --deadline DEADLINE --json"),
    kind("run-c", "run add.py --target c FILES --json"),
    kind("run", "run add.py --target zoo FILES --json"),
    kind("build", "build add.py --target zoo --emit artifact -o out.artifact --json"),
    kind("manifest", "manifest PLUGIN -o -"),
    kind("run-isolated", "run add.py --target zoo FILES --deadline DEADLINE --json"),
    kind(
        "build-isolated",
        "build add.py --target zoo --emit artifact -o out.artifact --deadline DEADLINE --json",
    ),
    Kind {
        is_slow: true,
        ..kind(
            "conformance",
            "conformance PLUGIN --level loadable --filter load/shutdown/* --no-again --patience 0.2",
        )
    },
    text("plugins-text", "plugins"),
    text("check-text", "plugins --check --deadline DEADLINE"),
    text("devices-text", "devices -v --deadline DEADLINE"),
    text("targets-text", "targets zoo --deadline DEADLINE"),
];

/// The command, the good plugin, and the healthy plugin's manifest.
#[derive(Debug)]
pub struct Zoo {
    folder: tempfile::TempDir,
    manifest: Value,
}

/// A folder that contains one fault.
#[derive(Debug)]
pub struct Cage<'a> {
    zoo: &'a Zoo,
    folder: PathBuf,
}

/// Result of a command, and the files that it left in its folder.
#[derive(Debug)]
pub struct Run {
    /// Output and end of the process.
    pub watched: Watched,
    /// New files, by name.
    pub written: BTreeMap<String, Vec<u8>>,
}

fn private(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("permissions");
}

impl Zoo {
    /// Prepares the command with the plugin `c` beside it, and makes the healthy plugin's manifest
    /// with it.
    ///
    /// # Panics
    ///
    /// If a file is missing.
    #[must_use]
    pub fn new(healthy: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        private(folder.path());
        let plugins = folder.path().join("bin/plugins");
        fs::create_dir_all(&plugins).expect("a folder");
        fs::copy(&built().command, folder.path().join("bin/chipdock")).expect("a copy of the command");
        for ending in ["so", "chipdock.json"] {
            let name = format!("chipdock_plugin_c.{ending}");
            fs::copy(built().plugins.join(&name), plugins.join(&name)).expect("a copy of the good plugin");
        }
        let mut zoo = Self { folder, manifest: Value::Null };
        let mut command = zoo.command(zoo.folder.path());
        let output = command.arg("manifest").arg(healthy).args(["-o", "-"]).output().expect("the command");
        let says = String::from_utf8_lossy(&output.stderr);
        zoo.manifest =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {says}"));
        zoo
    }

    /// Returns the manifest of the healthy plugin with the digest of this library.
    fn manifest_of(&self, library: &Path) -> Value {
        let mut manifest = self.manifest.clone();
        let digest = Sha256::digest(fs::read(library).expect("the library"));
        manifest["sha256"] = hexadecimal(&digest).into();
        manifest
    }

    /// Puts a library into a cage, with the manifest of the healthy plugin beside it; `spoil` may
    /// change both.
    ///
    /// # Panics
    ///
    /// If the files cannot be made.
    pub fn cage(&self, name: &str, library: &Path, spoil: impl FnOnce(&Path)) -> Cage<'_> {
        let folder = self.folder.path().join("cages").join(name);
        fs::create_dir_all(folder.join("zoo")).expect("a folder");
        let caged = folder.join("zoo/zoo.so");
        fs::copy(library, &caged).expect("a copy of the library");
        fs::write(folder.join("zoo/zoo.chipdock.json"), self.manifest_of(library).to_string())
            .expect("written");
        spoil(&folder.join("zoo"));
        Cage { zoo: self, folder }
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(self.folder.path().join("bin/chipdock"));
        command.current_dir(folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CHIPDOCK_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_DATA_HOME", self.folder.path().join("data"));
        command.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        // Nothing is kept: each command asks the plugin itself.
        command.env("CHIPDOCK_CACHE_DIR", "");
        command.env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
        command
    }
}

impl Cage<'_> {
    /// Runs a command in a new folder, with a deadline in seconds.
    ///
    /// # Panics
    ///
    /// If the folder cannot be made or read.
    pub fn run(&self, kind: Kind, is_to_hang: bool, deadline: u32) -> Run {
        let folder = self.folder.join(format!("{}-{deadline}", kind.name));
        let temporary = folder.with_extension("tmp");
        fs::create_dir_all(&folder).expect("a folder");
        fs::create_dir_all(&temporary).expect("a folder");
        private(&folder);
        fs::copy(kernels().join("vector_add.py"), folder.join("add.py")).expect("the kernel");
        fs::write(folder.join("a.npy"), npy(&A)).expect("written");
        fs::write(folder.join("b.npy"), npy(&B)).expect("written");
        let limit = match kind {
            _ if is_to_hang => HANGS,
            Kind { is_slow: true, .. } => SUITE_LIMIT,
            _ => LIMIT,
        };
        let mut command = self.zoo.command(&folder);
        command.arg("--plugin").arg(self.folder.join("zoo")).env("TMPDIR", &temporary);
        let words = kind.words.split(' ').flat_map(|word| match word {
            "FILES" => FILES.split(' ').map(str::to_owned).collect(),
            "PLUGIN" => vec![self.folder.join("zoo/zoo.so").display().to_string()],
            "DEADLINE" => vec![deadline.to_string()],
            word => vec![word.to_owned()],
        });
        command.args(words);
        let watched = watch::run(&mut command, limit);
        let mut written = files(&folder);
        for given in ["add.py", "a.npy", "b.npy"] {
            written.remove(given);
        }
        written.extend(files(&self.folder.join("zoo")));
        for given in ["zoo.so", "zoo.chipdock.json"] {
            written.remove(given);
        }
        Run { watched, written }
    }
}

/// Returns the files of a folder, without reading entries that are not files; unreadable ones are
/// included without content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder").flatten();
    let file = |entry: fs::DirEntry| {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let content = if is_file { fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
        (entry.file_name().to_string_lossy().into_owned(), content)
    };
    entries.map(file).collect()
}

/// The last numbers are subnormal: zero on a thread that flushes them.
const A: [f32; 3] = [1.0, 2.0, 1e-39];
const B: [f32; 3] = [10.0, 20.0, 2e-39];
/// Expected sum, as the end of the file that contains it.
pub const SUM: [f32; 3] = [11.0, 22.0, 1e-39 + 2e-39];

/// Returns floats as the bytes of a file.
#[must_use]
pub fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Returns a row-major array of float32 as an `.npy` file.
fn npy(values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}", values.len());
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").bytes());
    file.extend(bytes(values));
    file
}
