//! State of the process that a plugin must not change, compared before and after a step.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::fs;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use crate::{Stop, Verdict};

/// Part of the process state, with a case of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatePart {
    Threads,
    Files,
    Settings,
    Libraries,
    Output,
}

/// Snapshot of the process state.
pub(super) struct State {
    threads: BTreeMap<String, String>,
    children: BTreeSet<String>,
    files: BTreeMap<String, String>,
    libraries: BTreeSet<String>,
    settings: BTreeMap<String, String>,
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the names of the entries of a folder.
fn entries(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

impl State {
    /// Takes a snapshot of this process.
    pub(super) fn now() -> Self {
        let mut threads = BTreeMap::new();
        let mut children = BTreeSet::new();
        for id in entries("/proc/self/task") {
            let name = read(&format!("/proc/self/task/{id}/comm")).trim().to_owned();
            let of_thread = read(&format!("/proc/self/task/{id}/children"));
            children.extend(of_thread.split_whitespace().map(str::to_owned));
            threads.insert(id, name);
        }
        let files = entries("/proc/self/fd").into_iter().filter_map(|number| {
            let to = fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
            Some((number, to.display().to_string()))
        });
        let libraries = read("/proc/self/maps");
        let libraries = libraries.lines().filter_map(|line| line.find('/').map(|at| line[at..].to_owned()));
        let libraries = libraries.filter(|path| path.contains(".so"));
        Self {
            threads,
            children,
            files: files.collect(),
            libraries: libraries.collect(),
            settings: settings(),
        }
    }

    /// Returns the libraries that were loaded since `before`.
    pub(super) fn new_libraries(&self, before: &Self) -> Vec<String> {
        self.libraries.difference(&before.libraries).cloned().collect()
    }

    /// Describes the changes of a part since `before`.
    pub(super) fn changes(&self, before: &Self, part: StatePart) -> Vec<String> {
        match part {
            StatePart::Threads => {
                let new = self.threads.iter().filter(|(id, _)| !before.threads.contains_key(*id));
                let mut changes: Vec<String> =
                    new.map(|(id, name)| format!("thread {id} ({name:?}) was started")).collect();
                let children = self.children.difference(&before.children);
                changes.extend(children.map(|id| format!("the child process {id} was started")));
                changes
            }
            StatePart::Files => differences("descriptor ", &before.files, &self.files),
            StatePart::Settings => differences("", &before.settings, &self.settings),
            StatePart::Libraries => {
                self.new_libraries(before).into_iter().map(|path| format!("{path} was opened")).collect()
            }
            StatePart::Output => Vec::new(),
        }
    }
}

fn differences(
    prefix: &str,
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<String> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
    let word = |value: Option<&String>| value.cloned().unwrap_or_else(|| "nothing".to_owned());
    changed
        .map(|name| format!("{prefix}{name}: {} became {}", word(before.get(name)), word(after.get(name))))
        .collect()
}

/// Collects signal handlers, signal mask, environment, folder and other settings as texts that can
/// be compared.
fn settings() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let name = format!("environment variable {}", name.to_string_lossy());
        all.insert(name, value.to_string_lossy().into_owned());
    }
    let folder = std::env::current_dir().map(|path| path.display().to_string());
    all.insert("working folder".to_owned(), folder.unwrap_or_default());
    for line in read("/proc/self/status").lines() {
        let known = ["Umask", "SigBlk", "SigIgn", "SigCgt", "NoNewPrivs", "Seccomp"];
        if let Some((name, value)) = line.split_once(':').filter(|(name, _)| known.contains(name)) {
            all.insert(format!("{name} of /proc/self/status"), value.trim().to_owned());
        }
    }
    for line in read("/proc/self/limits").lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        all.insert(format!("limit {}", line.get(..26).unwrap_or_default().trim()), words.join(" "));
    }
    for signal in 1..=31 {
        // SAFETY: all zero is a valid struct to be filled in, and no handler is installed.
        let action = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            action
        };
        let value = format!("handler {:#x} flags {:#x}", action.sa_sigaction, action.sa_flags);
        all.insert(format!("signal {signal}"), value);
    }
    // SAFETY: a null locale only reads the name, which is live until the next change.
    let locale = unsafe { libc::setlocale(libc::LC_ALL, std::ptr::null()) };
    if !locale.is_null() {
        // SAFETY: the name is not null and NUL-terminated.
        let locale = unsafe { CStr::from_ptr(locale) };
        all.insert("locale".to_owned(), locale.to_string_lossy().into_owned());
    }
    all.insert("floating-point mode".to_owned(), format!("{:#x}", floating_point_mode()));
    all
}

/// Returns the rounding, denormal and trap bits of this thread, without the exception flags.
#[cfg(target_arch = "x86_64")]
fn floating_point_mode() -> u64 {
    const HAPPENED: u32 = 0x3f;
    let mut mode = 0_u32;
    // SAFETY: stores the control register into a local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    u64::from(mode & !HAPPENED)
}

/// Returns the rounding, denormal and trap bits of this thread, without the exception flags.
#[cfg(target_arch = "aarch64")]
fn floating_point_mode() -> u64 {
    let mode: u64;
    // SAFETY: reads the control register.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) mode, options(nomem, nostack, preserves_flags)) };
    mode
}

/// Returns 0: the mode is not known for this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn floating_point_mode() -> u64 {
    0
}

/// Runs `body` with standard output and standard error redirected to files, and returns what was
/// printed.
pub(super) fn printed<T>(body: impl FnOnce() -> T) -> Verdict<(T, String)> {
    let fault = |error: std::io::Error| Stop::suite(format!("standard output cannot be looked at: {error}"));
    let mut file = memory_file().map_err(fault)?;
    let saved = [1, 2].map(|number| (number, duplicate(number)));
    flush();
    for (number, _) in &saved {
        // SAFETY: both descriptors are open; the number is standard output or error.
        unsafe { libc::dup2(file.as_raw_fd(), *number) };
    }
    let result = body();
    flush();
    for (number, old) in saved {
        match old {
            // SAFETY: both descriptors are open; restores the previous one.
            Ok(old) => unsafe { libc::dup2(old.as_raw_fd(), number) },
            // SAFETY: the descriptor was closed before.
            Err(_) => unsafe { libc::close(number) },
        };
    }
    let mut text = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut text)).map_err(fault)?;
    text.truncate(400);
    Ok((result, String::from_utf8_lossy(&text).into_owned()))
}

fn memory_file() -> std::io::Result<fs::File> {
    // SAFETY: the name is static, and the result is checked.
    let number = unsafe { libc::memfd_create(c"printed".as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and has no other owner.
    Ok(unsafe { fs::File::from_raw_fd(number) })
}

fn duplicate(number: i32) -> std::io::Result<OwnedFd> {
    // SAFETY: duplicates a descriptor, whether it is open or not.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Flushes the buffers of the C library.
fn flush() {
    // SAFETY: null means all streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
