//! The size of a thread pool: the allowed numbers, and the automatic one.

use std::num::NonZeroU64;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::process::{affinity_count, online_count};

/// Greatest number of threads of a pool.
pub(crate) const THREADS_MAX: u32 = 1024;

/// Returns the requested number of threads; the option wins over the variable, `None` is automatic.
///
/// # Errors
///
/// `ValueError` for more than [`THREADS_MAX`], and for a variable that is no number.
pub(crate) fn wanted(option: Option<u32>, variable: Option<&str>) -> Result<Option<u32>, Error> {
    let expected = format!("expected 1 to {THREADS_MAX}, or 0 for as many as the process has processors");
    let refused = |found: String| Err(Error::new(ErrorKind::Value, format!("{found}; {expected}")));
    let (threads, found) = match (option, variable.map(str::trim).filter(|text| !text.is_empty())) {
        (Some(threads), _) => (threads, format!("{threads} threads are asked for")),
        (None, Some(text)) => {
            let found = format!("CHIPDOCK_THREADS is \"{text}\"");
            match text.parse() {
                Ok(threads) => (threads, found),
                Err(_) => return refused(found),
            }
        }
        (None, None) => return Ok(None),
    };
    if threads > THREADS_MAX { refused(found) } else { Ok(Some(threads).filter(|threads| *threads != 0)) }
}

/// Returns as many threads as the process may use processors: the least of the processors online,
/// those in this thread's affinity mask, and the quota of the process's control group rounded up.
pub(crate) fn automatic() -> u32 {
    let online = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
    let counts = [affinity_count().or(online), online_count(), quota_count(Path::new("/"))];
    counts.into_iter().flatten().min().unwrap_or(1).clamp(1, THREADS_MAX)
}

/// Returns the least quota of the control groups that the process is in, of either version, as
/// processors rounded up. `root` is the folder in which `proc` and the mounts are looked for.
fn quota_count(root: &Path) -> Option<u32> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let (groups, mounts) = (read("proc/self/cgroup")?, read("proc/self/mountinfo")?);
    let folders = groups.lines().filter_map(|line| {
        // `hierarchy:controllers:path`; version 2 has no controllers.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_unified = controllers.is_empty();
        if !is_unified && !controllers.split(',').any(|name| name == "cpu") {
            return None;
        }
        let mount = mounts.lines().filter_map(Mount::parse).find(|mount| mount.holds(is_unified))?;
        Some((is_unified, mount.point_in(root), mount.inner(Path::new(path))))
    });
    folders.filter_map(|(is_unified, point, inner)| least_quota(&point, &inner, is_unified)).min()
}

/// A line of `mountinfo`.
struct Mount<'a> {
    /// The part of the file system that is mounted.
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let (root, point) = (before.next()?, before.next()?);
        Some(Self { root, point, kind: after.next()?, options: after.nth(1)? })
    }

    fn holds(&self, is_unified: bool) -> bool {
        match is_unified {
            true => self.kind == "cgroup2",
            false => self.kind == "cgroup" && self.options.split(',').any(|name| name == "cpu"),
        }
    }

    fn point_in(&self, root: &Path) -> PathBuf {
        root.join(self.point.trim_start_matches('/'))
    }

    /// Returns a group's path below the mount. A group that is not below it (the mount is a
    /// container's) counts as its top.
    fn inner(&self, group: &Path) -> PathBuf {
        let inner = group.strip_prefix(self.root).unwrap_or(Path::new(""));
        let is_below = inner.components().all(|part| matches!(part, Component::Normal(_)));
        if is_below { inner.to_owned() } else { PathBuf::new() }
    }
}

/// Returns the least quota of a group and its ancestors, up to the mount.
fn least_quota(point: &Path, inner: &Path, is_unified: bool) -> Option<u32> {
    let quotas = inner.ancestors().filter_map(|group| {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let read = |name: &str| std::fs::read_to_string(point.join(group).join(name)).ok();
        // `max` and -1 are no numbers, and no limit.
        let (quota, period) = if is_unified {
            let text = read("cpu.max")?;
            let (quota, period) = text.trim().split_once(' ')?;
            (number(quota)?, number(period)?)
        } else {
            (number(&read("cpu.cfs_quota_us")?)?, number(&read("cpu.cfs_period_us")?)?)
        };
        let count = quota.div_ceil(NonZeroU64::new(period)?.get());
        u32::try_from(count).ok().map(|count| count.max(1))
    });
    quotas.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    fn quota(files: &[(&str, &str)]) -> Option<u32> {
        quota_count(root(files).path())
    }

    const UNIFIED: (&str, &str) = (
        "proc/self/mountinfo",
        "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    );
    const VERSION_1: (&str, &str) = (
        "proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
         33 31 0:30 /docker/1 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
    );

    /// POOL-F9.
    #[test]
    fn a_quota_of_version_2_is_rounded_up() {
        let group = ("proc/self/cgroup", "0::/user.slice/job\n");
        let at = |text| quota(&[group, UNIFIED, ("sys/fs/cgroup/user.slice/job/cpu.max", text)]);
        assert_eq!(at("150000 100000\n"), Some(2));
        assert_eq!(at("200000 100000\n"), Some(2));
        assert_eq!(at("1000 100000\n"), Some(1));
        assert_eq!(at("max 100000\n"), None);
        assert_eq!(at("nonsense"), None);
        assert_eq!(at("100000 0\n"), None);
    }

    /// POOL-F9: an outer group's quota holds too.
    #[test]
    fn the_least_quota_on_the_way_up_counts() {
        let group = ("proc/self/cgroup", "0::/a/b\n");
        let (inner, outer) = ("sys/fs/cgroup/a/b/cpu.max", "sys/fs/cgroup/a/cpu.max");
        let both = |b, a| quota(&[group, UNIFIED, (inner, b), (outer, a)]);
        assert_eq!(both("800000 100000", "300000 100000"), Some(3));
        assert_eq!(both("200000 100000", "300000 100000"), Some(2));
        assert_eq!(both("max 100000", "300000 100000"), Some(3));
    }

    /// POOL-F9: in a container the group's own path is not below the mount.
    #[test]
    fn a_container_sees_its_own_top() {
        let files = |group| {
            quota(&[("proc/self/cgroup", group), UNIFIED, ("sys/fs/cgroup/cpu.max", "400000 100000")])
        };
        assert_eq!(files("0::/\n"), Some(4));
        assert_eq!(files("0::/../other\n"), Some(4));
    }

    /// POOL-F9.
    #[test]
    fn a_quota_of_version_1_is_found_by_its_controller() {
        let at = |group, folder: &str, quota_us| {
            let file = |name| format!("sys/fs/cgroup/cpu,cpuacct{folder}/{name}");
            quota(&[
                ("proc/self/cgroup", group),
                VERSION_1,
                (&file("cpu.cfs_quota_us"), quota_us),
                (&file("cpu.cfs_period_us"), "100000\n"),
            ])
        };
        assert_eq!(at("4:cpuset:/\n3:cpu,cpuacct:/docker/1\n", "", "250000\n"), Some(3));
        assert_eq!(at("3:cpu,cpuacct:/docker/1/job\n", "/job", "250000\n"), Some(3));
        assert_eq!(at("3:cpu,cpuacct:/docker/1\n", "", "-1\n"), None);
        assert_eq!(at("4:cpuset:/docker/1\n", "", "250000\n"), None);
    }

    #[test]
    fn without_the_files_there_is_no_quota() {
        assert_eq!(quota(&[]), None);
        assert_eq!(quota(&[("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", "half a line -")]), None);
    }

    /// POOL-F9.
    #[test]
    fn automatic_is_at_most_what_the_system_says() {
        let available = std::thread::available_parallelism().unwrap().get() as u32;
        // The system's own count rounds a quota down.
        assert!((1..=available + 1).contains(&automatic()), "{} of {available}", automatic());
    }

    /// POOL-F9.
    #[test]
    fn an_absurd_number_is_refused() {
        assert_eq!(wanted(None, None).unwrap(), None);
        assert_eq!(wanted(Some(0), Some("7")).unwrap(), None);
        assert_eq!(wanted(Some(3), Some("7")).unwrap(), Some(3));
        assert_eq!(wanted(None, Some(" 7 ")).unwrap(), Some(7));
        assert_eq!(wanted(None, Some("0")).unwrap(), None);
        assert_eq!(wanted(None, Some("")).unwrap(), None);
        assert_eq!(wanted(Some(1024), None).unwrap(), Some(1024));
        for (option, variable) in
            [(Some(1025), None), (None, Some("-1")), (None, Some("two")), (None, Some("99999999999"))]
        {
            let error = wanted(option, variable).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Value);
            assert!(error.message().contains("expected 1 to 1024"), "{error}");
        }
    }
}
