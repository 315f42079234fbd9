//! Faults that tests can plant: a mutant is a copy of this library in which a fault's name
//! overwrites the marker.
//!
//! So each mutant is a separate library with its own digest, and forty of them take a single build.
//! The test that makes mutants searches the file for [`PREFIX`] and writes the fault's name after
//! it, padded with zeros.

/// Beginning of the marker.
pub(crate) const PREFIX: &str = "chipdock-reference-fault:";

const NAME_BYTES_MAX: usize = 64;

/// The marker. [`planted`] reads its value in the loaded file, not the value known to the compiler.
#[used]
static MARKER: [u8; PREFIX.len() + NAME_BYTES_MAX] = marker();

const fn marker() -> [u8; PREFIX.len() + NAME_BYTES_MAX] {
    let mut bytes = [0; PREFIX.len() + NAME_BYTES_MAX];
    let prefix = PREFIX.as_bytes();
    let mut index = 0;
    while index < prefix.len() {
        bytes[index] = prefix[index];
        index += 1;
    }
    bytes
}

/// Returns the name of the planted fault; empty in the unchanged plugin.
pub(crate) fn planted() -> &'static str {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| {
        // SAFETY: a static of that type; volatile, since the file was changed after the compiler
        // had seen it.
        let bytes = unsafe { std::ptr::read_volatile(&raw const MARKER) };
        let name = bytes[PREFIX.len()..].iter().take_while(|byte| **byte != 0).copied().collect();
        String::from_utf8(name).unwrap_or_default()
    })
}

/// Returns true if that fault is planted.
pub(crate) fn is(name: &str) -> bool {
    planted() == name
}

/// Executes the faults of opening and ending.
pub(crate) fn at_init() {
    // P10.3: `init` starts no thread.
    if is("thread-in-init") {
        let _ = std::thread::Builder::new().spawn(|| std::thread::sleep(std::time::Duration::from_secs(600)));
    }
    // P10.9: the process ends otherwise than it was told to.
    if is("exit-at-exit") || is("abort-at-exit") {
        // SAFETY: a C function of that type, which the C library calls when the process ends.
        unsafe { atexit(at_exit) };
    }
    // P10.8: the process is in another folder afterwards.
    if is("folder-changed-in-init") {
        let _ = std::env::set_current_dir("/");
    }
    // P10.8: what was written to is not the plugin's.
    if is("environment-changed-in-init") {
        // SAFETY: not sound, which is the fault: another thread may read the environment meanwhile.
        unsafe { std::env::set_var("CHIPDOCK_REFERENCE", "1") };
    }
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
    fn _exit(code: i32) -> !;
}

extern "C" fn at_exit() {
    if is("abort-at-exit") {
        std::process::abort();
    }
    // SAFETY: ends the process at once.
    unsafe { _exit(3) };
}
