//! What the C library said when it ended the process: of a damaged heap, or of an assertion
//! (CHILD-V11).

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where glibc keeps its last message: the address of a pointer to a size and bytes.
static MESSAGE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Looks for the message's place, which a handler may not do.
pub(crate) fn prepare() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let (name, version) = (c"__abort_msg", c"GLIBC_PRIVATE");
        // SAFETY: texts that live for the call.
        let found = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), version.as_ptr()) };
        MESSAGE.store(found, Ordering::Relaxed);
    }
}

/// Returns what glibc said before it aborted, such as `free(): invalid pointer`, in a buffer of the
/// caller's; empty where it said nothing. It may be called in a signal's handler.
#[must_use]
pub fn abort_message(into: &mut [u8]) -> &[u8] {
    let place = MESSAGE.load(Ordering::Relaxed).cast::<*const u32>();
    if place.is_null() {
        return &[];
    }
    // SAFETY: a variable of the C library.
    let message = unsafe { place.read_volatile() };
    if message.is_null() {
        return &[];
    }
    // SAFETY: a live message begins with the size of its mapping, then has a text that ends with
    // NUL.
    let text = unsafe { message.add(1).cast::<u8>() };
    let mut n_bytes = 0;
    for place in into.iter_mut() {
        // SAFETY: within the text: its end was not met.
        let byte = unsafe { text.add(n_bytes).read() };
        if byte == 0 || byte == b'\n' {
            break;
        }
        *place = byte;
        n_bytes += 1;
    }
    into.get(..n_bytes).unwrap_or_default()
}
