//! What libLLVM answered to earlier processes, kept as files (rules KEPT-K1 to KEPT-K8), so that a
//! command whose results are all cached does not open it.
//!
//! * **LLKEPT-P1 What.** Which libLLVM the usual names lead to, with its version, its parts and its
//!   answer about this machine's processor; canonical targets; verdicts on artifacts for other
//!   processors. No error is kept, and nothing that a build delivers.
//! * **LLKEPT-P2 Key.** An answer is found again while everything that it depends on is unchanged:
//!   this plugin's file and libLLVM's (path, device, inode, size, times of modification and of
//!   change); this machine's processor, as it describes itself to a program; whether Linux lets
//!   this process use tiles; the question itself, and for a target the sizes of the caches. Which
//!   library a name leads to depends on the linker's index of libraries, on its folders, and on the
//!   program.
//! * **LLKEPT-P3 Not kept.** Nothing is kept or believed where the setting `remember` is false,
//!   which the host says where it is to remember nothing; for a libLLVM that was changed less than
//!   two seconds ago; on a processor that is not known here; and where `LD_LIBRARY_PATH` may lead
//!   to another libLLVM.
//! * **LLKEPT-P4 One libLLVM.** A process that believed an answer opens the very file that gave it.
//!   If that file was replaced meanwhile, the error says so (`Unavailable`), and the next process
//!   looks again.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::Path;

use chipdock_plugin_api::files::cache::{Cache, Key, Kind};
use chipdock_plugin_api::files::identity::FileIdentity;
use chipdock_plugin_api::process::{library_of, variable};
use chipdock_plugin_api::setting::REMEMBER;
use chipdock_plugin_api::{Error, HostRef, Setting};
use serde_json::Value;

use crate::llvm::processor;

/// Kind of the cache. A change of the form of answers, or of the parts of keys, needs a new
/// version.
const KIND: Kind = Kind { name: "cpu-llvm", version: 1 };
/// Maximum size in bytes of all answers: some hundred targets.
const SIZE_BYTES_MAX: u64 = 1 << 20;
/// The linker's index of libraries.
const INDEX: &str = "/etc/ld.so.cache";
/// Folders in which the linker looks for what is not in its index.
const FOLDERS: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
];
/// Folders within one of `LD_LIBRARY_PATH` in which the linker looks first.
const WITHIN: &[&str] = &["glibc-hwcaps", "tls", "haswell", "avx512_1", "x86_64", "aarch64", "atomics"];

/// The setting of rule LLKEPT-P3.
pub(crate) const SETTING: Setting<bool> = Setting::bool(
    REMEMBER,
    "Whether libLLVM's answers about this machine and about targets are kept for the next process.",
);

/// The answers that are kept for this user.
#[derive(Debug)]
pub(crate) struct Memory {
    cache: Cache,
    /// What every answer depends on besides the question.
    around: String,
}

impl Memory {
    /// Returns true if the host asks for a memory (LLKEPT-P3). A host by itself has no settings,
    /// and asks for none.
    ///
    /// # Errors
    ///
    /// The host's error for the setting.
    pub(crate) fn is_asked_for(host: HostRef) -> Result<bool, Error> {
        Ok(host.setting(&SETTING)? == Some(true))
    }

    /// The memory of this user; `None` where there is no folder for it, or where this plugin's file
    /// or the processor cannot be told from another.
    pub(crate) fn open() -> Option<Self> {
        let around = format!("{}; {}", library_of(Self::open as *const _)?, processor::description()?);
        Some(Self { cache: Cache::of_process(KIND, SIZE_BYTES_MAX)?, around })
    }

    /// A memory in a folder, for tests.
    #[cfg(test)]
    pub(crate) fn at(folder: &Path, around: &str) -> Self {
        let cache = Cache::at(folder, KIND, SIZE_BYTES_MAX).unwrap();
        Self { cache, around: around.to_owned() }
    }

    fn key(&self, question: &[&str]) -> Key {
        KIND.key(&[&[self.around.as_str()], question].concat())
    }

    /// The answer to a question, if it is kept and can be read.
    pub(crate) fn read(&self, question: &[&str]) -> Option<Value> {
        serde_json::from_slice(&self.cache.read(&self.key(question))?).ok()
    }

    /// Keeps an answer; failures are ignored.
    pub(crate) fn write(&self, question: &[&str], answer: &Value) {
        self.cache.write(&self.key(question), answer.to_string().as_bytes());
    }
}

/// Identifies a file as the file system does.
fn identity(of: &Metadata) -> String {
    FileIdentity::of(of).to_string()
}

/// Identifies the file to which an absolute path leads, over links; `None` if it is not there, or
/// was changed just now (LLKEPT-P3).
pub(crate) fn settled(path: &Path) -> Option<String> {
    if !path.is_absolute() {
        return None;
    }
    let file = path.metadata().ok()?;
    (file.is_file() && FileIdentity::of(&file).is_settled()).then(|| identity(&file))
}

/// Everything that decides to which file the linker follows these names (LLKEPT-P2); `None` where
/// that cannot be said.
pub(crate) fn way_to(names: &[&OsStr]) -> Option<String> {
    if !cfg!(target_env = "gnu") || !is_without(&variable("LD_LIBRARY_PATH").unwrap_or_default(), names) {
        return None;
    }
    // A path from the current folder leads elsewhere from another.
    if names.iter().any(|name| is_path(name) && !Path::new(name).is_absolute()) {
        return None;
    }
    let program = identity(&std::fs::metadata("/proc/self/exe").ok()?);
    let of = |path: &OsStr| Path::new(path).metadata().map_or_else(|_| "none".to_owned(), |it| identity(&it));
    let places = std::iter::once(&INDEX).chain(FOLDERS).map(OsStr::new);
    let places: Vec<String> =
        places.chain(names.iter().copied().filter(|name| is_path(name))).map(of).collect();
    Some(format!("{names:?}; {program}; {}", places.join("; ")))
}

/// Whether a name is one that the linker does not look for in folders.
fn is_path(name: &OsStr) -> bool {
    name.as_encoded_bytes().contains(&b'/')
}

/// Whether a list of folders, as in `LD_LIBRARY_PATH`, cannot lead to any of these names.
fn is_without(folders: &OsStr, names: &[&OsStr]) -> bool {
    // The linker takes both signs, and replaces words behind a dollar.
    let text = folders.to_string_lossy();
    let is_there = |folder: &str, name: &OsStr| Path::new(folder).join(name).symlink_metadata().is_ok();
    text.is_empty()
        || !text.contains('$')
            && text.split([':', ';']).all(|folder| {
                let folder = if folder.is_empty() { "." } else { folder };
                let bare = names.iter().copied().filter(|name| !is_path(name));
                !bare.chain(WITHIN.iter().map(OsStr::new)).any(|name| is_there(folder, name))
            })
}

#[cfg(test)]
#[path = "tests/cache.rs"]
mod tests;
