//! This library in its process.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Returns the file that this library was loaded from.
pub(crate) fn own_path() -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the address of a function of this library; it writes the description where it answers
    // another number than 0.
    let status = unsafe { libc::dladdr(own_path as *const () as *const _, found.as_mut_ptr()) };
    // SAFETY: zeroed, and every field may be null.
    let found = unsafe { found.assume_init() };
    if status == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a text that the dynamic linker keeps as long as the library is loaded, which is for
    // ever.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    std::fs::canonicalize(std::ffi::OsStr::from_bytes(name.to_bytes())).ok()
}

/// Returns whether this is the thread that the process began with; true where that is not known.
pub(crate) fn is_main_thread() -> bool {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: both take nothing.
        unsafe { libc::gettid() == libc::getpid() }
    }
    #[cfg(not(target_os = "linux"))]
    true
}
