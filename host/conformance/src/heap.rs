//! The bytes that the C library's allocator has handed out.

/// What `mallinfo2` and, with narrower numbers, `mallinfo` return.
#[cfg(target_env = "gnu")]
type Mallinfo<T> = unsafe extern "C" fn() -> T;

/// Returns the bytes handed out by the C library's allocator, to all its users; `None` where it
/// does not say.
///
/// `mallinfo2` is looked up when this runs: glibc has it from 2.33 on, and the program is to start
/// with an older one.
#[cfg(target_env = "gnu")]
pub(crate) fn in_use_bytes() -> Option<u64> {
    use std::sync::OnceLock;

    static NEWER: OnceLock<Option<Mallinfo<libc::mallinfo2>>> = OnceLock::new();
    let newer = NEWER.get_or_init(|| {
        let process = libloading::os::unix::Library::this();
        // SAFETY: the function has this type wherever it exists.
        unsafe { process.get::<Mallinfo<libc::mallinfo2>>(b"mallinfo2\0") }.ok().map(|found| *found)
    });
    // SAFETY: both take nothing and read the allocator's own counters.
    unsafe {
        Some(match newer {
            Some(mallinfo2) => {
                let info = mallinfo2();
                (info.uordblks + info.hblkhd) as u64
            }
            // Numbers above 2 GiB wrap around.
            None => {
                let info = libc::mallinfo();
                u64::from(info.uordblks.cast_unsigned()) + u64::from(info.hblkhd.cast_unsigned())
            }
        })
    }
}

/// Returns the bytes handed out by the C library's allocator, to all its users; `None` where it
/// does not say.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn in_use_bytes() -> Option<u64> {
    None
}
