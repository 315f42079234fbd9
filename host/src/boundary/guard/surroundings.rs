//! Environment, working folder, umask and locale.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::{env, fs, ptr};

use super::part::{Found, Part};

/// So many names of variables are written out.
const NAMES_SHOWN: usize = 6;

/// The variables of the environment.
pub(super) struct Variables(BTreeMap<OsString, OsString>);

impl Variables {
    pub(super) fn now() -> Self {
        Self(env::vars_os().collect())
    }
}

/// Returns true if the standard library can set a variable of that name.
fn can_be_set(name: &OsString) -> bool {
    !name.is_empty() && !name.as_bytes().contains(&b'=')
}

impl Part for Variables {
    fn settle(&mut self, found: &mut Found) {
        let (before, after) = (&self.0, Self::now().0);
        if *before == after {
            return;
        }
        let names: BTreeSet<&OsString> = before.keys().chain(after.keys()).collect();
        let changed: Vec<&OsString> =
            names.into_iter().filter(|name| before.get(*name) != after.get(*name)).collect();
        for name in changed.iter().filter(|name| can_be_set(name)) {
            // SAFETY: the library's own lock excludes other Rust code. C code that reads the
            // environment without one at this moment would have met the plugin's change, which it
            // made without that lock.
            unsafe {
                match before.get(*name) {
                    Some(value) => env::set_var(name, value),
                    None => env::remove_var(name),
                }
            }
        }
        let word = |name: &&OsString| {
            let shown = name.to_string_lossy();
            match (before.contains_key(*name), after.contains_key(*name)) {
                (true, false) => format!("{shown} removed"),
                (false, true) => format!("{shown} added"),
                _ => format!("{shown} changed"),
            }
        };
        let mut told = changed.iter().take(NAMES_SHOWN).map(word).collect::<Vec<_>>().join(", ");
        if changed.len() > NAMES_SHOWN {
            told.push_str(&format!(" and {} more", changed.len() - NAMES_SHOWN));
        }
        let now = Self::now().0;
        let undone = *before == now;
        let counted = |variables: &BTreeMap<_, _>| format!("{} variables", variables.len());
        found.add("the environment", counted(before), format!("{} ({told})", counted(&after)), undone);
        self.0 = now;
    }
}

/// The working folder.
pub(super) struct Folder {
    path: Option<PathBuf>,
    identity: Option<(u64, u64)>,
    file: Option<File>,
}

fn identity() -> Option<(u64, u64)> {
    fs::metadata(".").ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(target_os = "linux")]
const ONLY_TO_GO_THERE: i32 = libc::O_PATH;
#[cfg(not(target_os = "linux"))]
const ONLY_TO_GO_THERE: i32 = 0;

impl Folder {
    pub(super) fn now() -> Self {
        let flags = libc::O_DIRECTORY | ONLY_TO_GO_THERE;
        let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(".").ok();
        Self { path: env::current_dir().ok(), identity: identity(), file }
    }

    /// Goes back: by the descriptor, which a folder that was moved keeps, else by the path.
    fn go_back(&self) -> bool {
        if let Some(file) = &self.file {
            // SAFETY: a descriptor of ours; the result is checked below.
            unsafe { libc::fchdir(file.as_raw_fd()) };
        }
        if identity() == self.identity {
            return true;
        }
        let by_path = self.path.as_ref().is_some_and(|path| env::set_current_dir(path).is_ok());
        by_path && identity() == self.identity
    }
}

impl Part for Folder {
    fn settle(&mut self, found: &mut Found) {
        if identity() == self.identity {
            return;
        }
        let words = |path: &Option<PathBuf>| {
            path.as_ref().map_or_else(|| "unknown".to_owned(), |path| path.display().to_string())
        };
        let after = env::current_dir().ok();
        let undone = self.go_back();
        found.add("the working folder", words(&self.path), words(&after), undone);
        if !undone {
            *self = Self::now();
        }
    }
}

/// The umask.
pub(super) struct Umask(libc::mode_t);

impl Umask {
    pub(super) fn now() -> Self {
        let listed = fs::read_to_string("/proc/thread-self/status").ok().and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
            libc::mode_t::from_str_radix(line.trim(), 8).ok()
        });
        Self(listed.unwrap_or_else(|| {
            // It can only be read by setting it: for this moment to one that gives files to nobody
            // else. SAFETY: takes a number and returns one, twice.
            unsafe {
                let mask = libc::umask(0o077);
                libc::umask(mask);
                mask
            }
        }))
    }
}

impl Part for Umask {
    fn settle(&mut self, found: &mut Found) {
        let after = Self::now();
        if after.0 != self.0 {
            // SAFETY: takes a number and returns one; cannot fail.
            unsafe { libc::umask(self.0) };
            found.add("the umask", format!("{:04o}", self.0), format!("{:04o}", after.0), true);
        }
    }
}

/// The locales of process and thread.
pub(super) struct Locale {
    of_process: Option<CString>,
    of_thread: libc::locale_t,
}

fn of_process() -> Option<CString> {
    // SAFETY: a null locale only asks for the name.
    let name = unsafe { libc::setlocale(libc::LC_ALL, ptr::null()) };
    // SAFETY: a text that ends with a zero, and lives until the locale is next set.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
}

impl Locale {
    pub(super) fn now() -> Self {
        // SAFETY: a null locale only asks for the current one.
        Self { of_process: of_process(), of_thread: unsafe { libc::uselocale(ptr::null_mut()) } }
    }
}

impl Part for Locale {
    fn settle(&mut self, found: &mut Found) {
        let after = Self::now();
        if after.of_thread != self.of_thread {
            // SAFETY: the locale that this thread had before; its owner keeps it as long as it is
            // in use.
            unsafe { libc::uselocale(self.of_thread) };
            found.add("the locale of the thread", "its own".to_owned(), "another".to_owned(), true);
        }
        if after.of_process == self.of_process {
            return;
        }
        let words = |name: &Option<CString>| {
            name.as_ref().map_or_else(|| "unknown".to_owned(), |name| name.to_string_lossy().into_owned())
        };
        let undone = self.of_process.as_ref().is_some_and(|name| {
            // SAFETY: the name that the C library gave before.
            !unsafe { libc::setlocale(libc::LC_ALL, name.as_ptr()) }.is_null()
        });
        found.add("the locale", words(&self.of_process), words(&after.of_process), undone);
        if !undone {
            self.of_process = after.of_process;
        }
    }
}
