//! Which file a path led to: as the file system tells files apart.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

/// Age from which a change of a file has a time that no later change has.
pub const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// Identity of a file's content: distinguishes a file from one that replaced it or that was written
/// since. Device, inode, size, and the times of its last modification and of its last change, in
/// nanoseconds; no program can set the time of change.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::files::identity::FileIdentity;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("weights");
///
/// std::fs::write(&path, "1")?;
/// let before = FileIdentity::of(&path.metadata()?);
/// assert!(!before.is_settled(), "written just now");
/// std::fs::write(&path, "12")?;
/// assert_ne!(FileIdentity::of(&path.metadata()?), before);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size_bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileIdentity {
    /// Identifies the file that has this metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size_bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns when the file was last changed, be it only its permissions; `None` before 1970.
    #[must_use]
    pub fn changed_at(&self) -> Option<SystemTime> {
        let (seconds, nanoseconds) = self.changed;
        let after = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(after)
    }

    /// Returns true if any later change gives the file another identity: its last one is at least
    /// [`SETTLED_AFTER`] ago by this machine's clock.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let age = |changed| SystemTime::now().duration_since(changed).ok();
        self.changed_at().and_then(age).is_some_and(|age| age >= SETTLED_AFTER)
    }

    /// Returns true if the content is the same, whatever happened to the permissions and other
    /// names of the file.
    #[must_use]
    pub fn has_content_of(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

impl fmt::Display for FileIdentity {
    /// Formats all that distinguishes the file, in numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, size_bytes, modified, changed } = self;
        write!(
            f,
            "{device} {inode} {size_bytes} {}.{:09} {}.{:09}",
            modified.0, modified.1, changed.0, changed.1
        )
    }
}
