//! A short text that two processes share: one writes its current action, the other reads it after
//! the first has ended (CHILD-V9).

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, compiler_fence};

/// Greatest length of the text in bytes; a longer one is cut.
const TEXT_BYTES: usize = 1020;

/// The shared memory: two texts.
#[repr(C)]
struct Page {
    note: Text,
    end: Text,
}

/// A length and bytes.
#[repr(C)]
struct Text {
    length: AtomicU32,
    bytes: [AtomicU8; TEXT_BYTES],
}

impl Text {
    fn write(&self, parts: &[&[u8]]) {
        // Empty while it is written, so that a process that ends here leaves no mixture.
        self.length.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::Release);
        let mut length = 0;
        for (to, from) in self.bytes.iter().zip(parts.iter().copied().flatten()) {
            to.store(*from, Ordering::Relaxed);
            length += 1;
        }
        compiler_fence(Ordering::Release);
        self.length.store(length, Ordering::Relaxed);
    }

    fn read(&self) -> String {
        let length = usize::try_from(self.length.load(Ordering::Acquire)).unwrap_or(0).min(TEXT_BYTES);
        let bytes: Vec<u8> = self.bytes[..length].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A shared page for one text, and another about the end, written by one thread of a child and read
/// by its supervisor.
///
/// Never unmapped: it is made once for each child, and code that writes to it may run until the
/// process ends.
#[derive(Clone, Copy)]
pub struct Notebook(&'static Page);

impl Notebook {
    /// Makes a notebook, with the file by which a child opens it; see
    /// [`Start::share`](crate::Start::share).
    ///
    /// # Errors
    ///
    /// The system has no descriptors or no memory left.
    pub fn new() -> io::Result<(Self, File)> {
        let file = anonymous(c"chipdock-note")?;
        file.set_len(size_of::<Page>() as u64)?;
        Ok((Self::open(&file)?, file))
    }

    /// Opens a notebook that another process made.
    ///
    /// # Errors
    ///
    /// The file is no notebook, or cannot be mapped.
    pub fn open(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() < size_of::<Page>() as u64 {
            return Err(io::Error::other("the file of a notebook is too short"));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place that the system chooses, of a file that is long enough.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Page>(),
                protection,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let page = NonNull::new(address.cast::<Page>()).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: a page of the right size, aligned as pages are, never unmapped; it is atomics
        // alone, for which every content is valid.
        Ok(Self(unsafe { page.as_ref() }))
    }

    /// Replaces the text. One thread at a time.
    pub fn write(&self, text: &[u8]) {
        self.write_parts(&[text]);
    }

    /// Replaces the text by these parts, one after the other, without joining them first.
    pub fn write_parts(&self, parts: &[&[u8]]) {
        self.0.note.write(parts);
    }

    /// Returns the text; whole once the process that writes it is gone.
    #[must_use]
    pub fn read(&self) -> String {
        self.0.note.read()
    }

    /// Writes about the end of the process, in addition to the text: by whichever thread the end
    /// comes, once.
    pub fn write_end(&self, parts: &[&[u8]]) {
        self.0.end.write(parts);
    }

    /// Returns what was written about its end; empty where nothing was.
    #[must_use]
    pub fn read_end(&self) -> String {
        self.0.end.read()
    }
}

/// Makes a file without a name, in memory, closed when another program is run.
///
/// # Errors
///
/// The system has no descriptors left.
pub fn anonymous(name: &std::ffi::CStr) -> io::Result<File> {
    // SAFETY: a string that lives for the call.
    let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, with no other owner.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CHILD-V9: what was written last is read through another mapping, and cut where it is too
    /// long.
    #[test]
    fn the_last_note_is_read() {
        let (ours, file) = Notebook::new().unwrap();
        let theirs = Notebook::open(&file).unwrap();
        assert_eq!(ours.read(), "");
        theirs.write(b"a long note, then");
        theirs.write("ü".as_bytes());
        assert_eq!(ours.read(), "ü");
        theirs.write(&[b'x'; 5000]);
        assert_eq!(ours.read().len(), TEXT_BYTES);
        assert_eq!(ours.read_end(), "");
        theirs.write_end(&[b"in ", b"libc"]);
        assert_eq!((ours.read_end().as_str(), ours.read().len()), ("in libc", TEXT_BYTES));
        assert!(Notebook::open(&tempfile()).is_err());
    }

    fn tempfile() -> File {
        anonymous(c"empty").unwrap()
    }
}
