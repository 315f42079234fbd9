//! The three standard streams: open, and leading to the same file in the same way.

use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::os::unix::fs::MetadataExt as _;

use super::part::{Found, Part};

const NAMES: [&str; 3] = ["standard input", "standard output", "standard error"];

#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    /// Status flags, such as whether it blocks.
    flags: i32,
}

/// Returns the file that a descriptor leads to; `None` where it is closed.
fn seen(number: RawFd) -> Option<Seen> {
    // SAFETY: a query about a number, whether it is open or not.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFL) };
    if flags < 0 {
        return None;
    }
    // SAFETY: open, as it just had flags; it is not closed here.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(number) });
    let metadata = file.metadata().ok()?;
    Some(Seen { device: metadata.dev(), inode: metadata.ino(), flags })
}

fn words(seen: Option<Seen>) -> String {
    match seen {
        None => "closed".to_owned(),
        Some(Seen { device, inode, flags }) => {
            format!("file {inode} of device {device} with flags {flags:#o}")
        }
    }
}

struct Stream {
    before: Option<Seen>,
    /// A second descriptor of the same file, to put it back from.
    copy: Option<File>,
}

pub(super) struct Streams([Stream; 3]);

impl Streams {
    pub(super) fn now() -> Self {
        Self([0, 1, 2].map(|number| {
            let before = seen(number);
            let copy = before.and_then(|_| {
                // SAFETY: makes another descriptor, which is checked.
                let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
                // SAFETY: just made, with no other owner.
                (copy >= 0).then(|| unsafe { File::from_raw_fd(copy) })
            });
            Stream { before, copy }
        }))
    }
}

impl Stream {
    /// Puts the stream back, from its copy if that still leads to the file; returns whether it did.
    fn put_back(&self, number: RawFd) -> bool {
        let Some(before) = self.before else {
            // SAFETY: closes what was closed before.
            return unsafe { libc::close(number) } == 0;
        };
        let Some(copy) = &self.copy else { return false };
        let of_file = |seen: Seen| (seen.device, seen.inode);
        if seen(copy.as_raw_fd()).map(of_file) != Some(of_file(before)) {
            return false;
        }
        let is_elsewhere = seen(number).map(of_file) != Some(of_file(before));
        // SAFETY: the number is that of a standard stream; `copy` was just seen to be open.
        unsafe {
            let done = !is_elsewhere || libc::dup2(copy.as_raw_fd(), number) >= 0;
            done && libc::fcntl(number, libc::F_SETFL, before.flags) >= 0
        }
    }
}

impl Part for Streams {
    fn settle(&mut self, found: &mut Found) {
        for ((number, name), stream) in (0..).zip(NAMES).zip(&mut self.0) {
            let after = seen(number);
            if after == stream.before {
                continue;
            }
            let undone = stream.put_back(number);
            found.add(name, words(stream.before), words(after), undone);
            if !undone {
                stream.before = after;
            }
        }
    }
}
