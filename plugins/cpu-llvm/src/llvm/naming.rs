//! Names of loaded code, for `perf` and `gdb`; off by default.
//!
//! - **LLNAME-J1** With the setting `perf-map`, each loaded function, including internal ones, gets
//!   a line in `/tmp/perf-PID.map`: address and size in hexadecimal digits, and its symbol.
//!   `perf report` reads that file. It is created for its owner only, is appended to and never
//!   shortened, and remains when the process ends; a path that is not a plain file of this user is
//!   left alone.
//! - **LLNAME-J2** With the setting `gdb`, each loaded object is registered with gdb through its
//!   JIT interface (`__jit_debug_register_code` of libLLVM) until its module is dropped: functions,
//!   and the lines of the kernel if the object has them. LLVM's linker links such objects.
//! - **LLNAME-J3** A write that fails is a warning in the log, once, and does not prevent loading.
//!   Code in a section without a global function has no known address and is not named.

use core::ptr;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_plugin_api::kit::{PerProcess, lock};
use chipdock_plugin_api::{Error, HostRef, LogLevel, Setting};

use super::library::Llvm;
use super::object::{self, Function};

/// The setting of rule LLNAME-J1.
pub(crate) const PERF_MAP: Setting<bool> =
    Setting::bool("perf-map", "Whether loaded code is named to perf, in /tmp/perf-PID.map.").or(false);
/// The setting of rule LLNAME-J2.
pub(crate) const GDB: Setting<bool> =
    Setting::bool("gdb", "Whether loaded code is shown to gdb, with the lines of the kernel.").or(false);

/// Tools that loaded code is reported to.
#[derive(Clone, Copy)]
pub(crate) struct Naming {
    host: HostRef,
    perf: bool,
    gdb: bool,
}

impl Naming {
    /// Reads the host's settings.
    ///
    /// # Errors
    ///
    /// The host's error for a setting.
    pub(crate) fn read(host: HostRef) -> Result<Self, Error> {
        let is_on = |setting| Ok::<_, Error>(host.setting(setting)?.unwrap_or(false));
        Ok(Self { host, perf: is_on(&PERF_MAP)?, gdb: is_on(&GDB)? })
    }

    /// Reports to no tool.
    #[cfg(test)]
    pub(crate) fn off() -> Self {
        Self::with(HostRef::standalone(), false, false)
    }

    /// Reports to these tools.
    #[cfg(test)]
    pub(crate) fn with(host: HostRef, perf: bool, gdb: bool) -> Self {
        Self { host, perf, gdb }
    }

    /// The functions of a checked object; empty if no tool is enabled.
    pub(super) fn functions(self, object: &[u8]) -> Vec<Function> {
        if self.perf || self.gdb { object::functions(object) } else { Vec::new() }
    }

    /// Whether LLVM's linker is needed: gdb is told through libLLVM's list.
    pub(super) fn is_for_llvm(self) -> bool {
        self.gdb
    }

    /// Names the functions of a linked object to `perf`; `addresses` has at least their
    /// [`anchors`].
    pub(super) fn tell_perf(self, functions: &[Function], addresses: &HashMap<String, usize>) {
        static WAS_TOLD: AtomicBool = AtomicBool::new(false);
        if self.perf
            && let Err(error) = append(&lines(functions, &sections(functions, addresses)))
            && !WAS_TOLD.swap(true, Ordering::Relaxed)
        {
            let line = format!("loaded code is not named to perf: {}: {error}", perf_map());
            self.host.log(LogLevel::Warning, &line);
        }
    }

    /// Registers a linked object with gdb; `addresses` has at least the [`anchors`] of its
    /// functions.
    pub(super) fn show(
        self,
        llvm: &Llvm,
        object: &[u8],
        functions: &[Function],
        addresses: &HashMap<String, usize>,
    ) -> Option<Shown> {
        let is_asked_for = self.gdb && !functions.is_empty();
        is_asked_for.then(|| Shown::new(llvm, object.to_vec(), &sections(functions, addresses))).flatten()
    }
}

/// One global function of each section that has any: its address determines the address of the
/// section.
pub(super) fn anchors(functions: &[Function]) -> BTreeMap<usize, &Function> {
    let globals = functions.iter().filter(|function| function.is_global);
    globals.map(|function| (function.section, function)).collect()
}

/// Addresses of the sections of code.
fn sections(functions: &[Function], addresses: &HashMap<String, usize>) -> BTreeMap<usize, usize> {
    let place = |(section, anchor): (usize, &Function)| {
        Some((section, addresses.get(&anchor.name)?.checked_sub(anchor.offset)?))
    };
    anchors(functions).into_iter().filter_map(place).collect()
}

/// Lines of the perf map (LLNAME-J1).
fn lines(functions: &[Function], sections: &BTreeMap<usize, usize>) -> String {
    let mut text = String::new();
    for Function { name, section, offset, size_bytes, .. } in functions {
        let Some(base) = sections.get(section) else { continue };
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let _ = writeln!(text, "{:x} {size_bytes:x} {name}", base + offset);
    }
    text
}

fn perf_map() -> String {
    format!("/tmp/perf-{}.map", std::process::id())
}

/// Appends lines to the map in one write: other users of this process' map may append theirs.
fn append(lines: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(perf_map())?;
    let metadata = file.metadata()?;
    // SAFETY: only returns a number.
    let user = unsafe { libc::geteuid() };
    if !metadata.is_file() || metadata.uid() != user {
        return Err(io::Error::other("it is not a plain file of this user"));
    }
    file.write_all(lines.as_bytes())
}

/// Entries of gdb's list of objects: its `struct jit_code_entry` and `struct jit_descriptor`.
#[repr(C)]
struct JitCodeEntry {
    next: *mut JitCodeEntry,
    prev: *mut JitCodeEntry,
    object: *const u8,
    size_bytes: u64,
}

#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut JitCodeEntry,
    first: *mut JitCodeEntry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// libLLVM's symbols of gdb's interface.
#[derive(Clone, Copy)]
struct Debugger {
    descriptor: *mut Descriptor,
    /// An empty function with a breakpoint of gdb.
    changed: unsafe extern "C" fn(),
}

// SAFETY: addresses of a function, and of a variable that is only changed while `LIST` is locked;
// the library is never closed.
unsafe impl Send for Debugger {}
// SAFETY: as above.
unsafe impl Sync for Debugger {}

static LIST: PerProcess<Mutex<()>> = PerProcess::new(|_| Mutex::default());

impl Debugger {
    fn find(llvm: &Llvm) -> Option<Self> {
        // SAFETY: symbols of these types, by gdb's documentation.
        unsafe {
            let descriptor = llvm.library.get::<*mut Descriptor>(b"__jit_debug_descriptor\0").ok()?;
            let changed = llvm.library.get::<unsafe extern "C" fn()>(b"__jit_debug_register_code\0").ok()?;
            Some(Self { descriptor: *descriptor, changed: *changed })
        }
    }
}

/// An object that is registered with gdb. Dropping it removes it from the list.
pub(super) struct Shown {
    debugger: Debugger,
    entry: *mut JitCodeEntry,
    _object: Vec<u8>,
}

// SAFETY: the entry is only accessed while `LIST` is locked.
unsafe impl Send for Shown {}
// SAFETY: as above.
unsafe impl Sync for Shown {}

impl Shown {
    fn new(llvm: &Llvm, mut object: Vec<u8>, sections: &BTreeMap<usize, usize>) -> Option<Self> {
        let debugger = Debugger::find(llvm)?;
        object::place_sections(&mut object, sections);
        let (next, prev) = (ptr::null_mut(), ptr::null_mut());
        let entry = JitCodeEntry { next, prev, object: object.as_ptr(), size_bytes: object.len() as u64 };
        let entry = Box::into_raw(Box::new(entry));
        let _list = lock(LIST.of_this());
        // SAFETY: the list is only changed while this lock is held; its entries live until they are
        // removed.
        unsafe {
            let list = debugger.descriptor;
            (*entry).next = (*list).first;
            if let Some(next) = (*entry).next.as_mut() {
                next.prev = entry;
            }
            (*list).first = entry;
            notify(debugger, entry, REGISTER);
        }
        Some(Self { debugger, entry, _object: object })
    }
}

/// # Safety
///
/// * The caller holds `LIST`; the entry lives for the call.
unsafe fn notify(debugger: Debugger, entry: *mut JitCodeEntry, action: u32) {
    // SAFETY: the caller guarantees that `LIST` is locked and that the entry lives for the call.
    unsafe {
        let list = debugger.descriptor;
        (*list).relevant = entry;
        (*list).action = action;
        (debugger.changed)();
        (*list).action = 0;
        (*list).relevant = ptr::null_mut();
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _list = lock(LIST.of_this());
        // SAFETY: as in `new`; the entry is in the list until here, and is freed after gdb was
        // notified.
        unsafe {
            let JitCodeEntry { next, prev, .. } = *self.entry;
            match prev.as_mut() {
                Some(prev) => prev.next = next,
                None => (*self.debugger.descriptor).first = next,
            }
            if let Some(next) = next.as_mut() {
                next.prev = prev;
            }
            notify(self.debugger, self.entry, UNREGISTER);
            drop(Box::from_raw(self.entry));
        }
    }
}

#[cfg(test)]
#[path = "tests/naming.rs"]
mod tests;
