//! The properties of the CPU that Linux reports. Each is read on request; an unreadable one is
//! unknown, not an error.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Any, attribute};

/// Returns the attribute, if Linux reports it.
pub(super) fn attribute(key: &str) -> Option<Any> {
    match key {
        attribute::DEVICE_NAME => cpu_info("model name").or_else(|| cpu_info("Model")).map(Any::from),
        attribute::VENDOR_NAME => cpu_info("vendor_id").map(Any::from),
        attribute::ARCH => Some(Any::from(std::env::consts::ARCH)),
        attribute::MULTI_PROCESSOR_COUNT => Some(Any::from(usable_cores())),
        attribute::PHYSICAL_CORE_COUNT => physical_cores().map(Any::from),
        attribute::MAX_CLOCK_RATE_KHZ => clock_rate_khz().map(Any::from),
        attribute::TOTAL_GLOBAL_MEMORY_BYTES => total_memory().and_then(any_of_size),
        attribute::AVAILABLE_GLOBAL_MEMORY_BYTES => available_memory().and_then(any_of_size),
        attribute::L1_CACHE_SIZE_BYTES => cache("1", "size").and_then(any_of_size),
        attribute::L2_CACHE_SIZE_BYTES => cache("2", "size").and_then(any_of_size),
        attribute::L3_CACHE_SIZE_BYTES => cache("3", "size").and_then(any_of_size),
        attribute::CACHE_LINE_SIZE_BYTES => cache("1", "coherency_line_size").and_then(any_of_size),
        _ => None,
    }
}

/// Lists the sizes in bytes of the data caches of the first core that Linux reports, by the usual
/// names of the options of a target kind.
pub fn cache_options() -> impl Iterator<Item = (&'static str, u64)> {
    let options = [("l1-cache-bytes", "1"), ("l2-cache-bytes", "2"), ("l3-cache-bytes", "3")];
    options.into_iter().filter_map(|(name, level)| Some((name, cache(level, "size")?)))
}

/// Returns the bits of a vector register of the processor that this process runs on, and the number
/// of these registers; `None` on a processor that is not known here.
#[must_use]
pub fn vector_registers() -> Option<(u32, u32)> {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            Some((512, 32))
        } else if std::arch::is_x86_feature_detected!("avx") {
            Some((256, 16))
        } else {
            Some((128, 16))
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        (cfg!(target_arch = "aarch64")).then_some((128, 32))
    }
}

fn any_of_size(size_bytes: u64) -> Option<Any> {
    Any::try_from(size_bytes).ok()
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// Returns the value of the first line `name : value` of /proc/cpuinfo.
fn cpu_info(name: &str) -> Option<String> {
    field(&read("/proc/cpuinfo")?, name).map(str::to_owned)
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// Returns the number of logical cores that this process may use, by its affinity and the quota of
/// its control group.
fn usable_cores() -> i64 {
    // The standard library considers both, and never returns 0.
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as i64)
}

/// Counts the different (package, core) pairs.
fn physical_cores() -> Option<i64> {
    let mut cores: Vec<(String, String)> = fs::read_dir("/sys/devices/system/cpu")
        .ok()?
        .filter_map(|entry| {
            let topology = entry.ok()?.path().join("topology");
            Some((read(topology.join("physical_package_id"))?, read(topology.join("core_id"))?))
        })
        .collect();
    cores.sort_unstable();
    cores.dedup();
    i64::try_from(cores.len()).ok().filter(|count| *count > 0)
}

/// Returns the highest clock rate, or the current rate on a machine that does not report it.
fn clock_rate_khz() -> Option<i64> {
    let highest = read("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    if let Some(khz) = highest.and_then(|text| text.parse().ok()) {
        return Some(khz);
    }
    let mhz: f64 = cpu_info("cpu MHz")?.parse().ok()?;
    Some((mhz * 1000.0).round() as i64)
}

/// Returns the value of a line `Name:  123 kB` of /proc/meminfo, in bytes.
fn memory_info(name: &str) -> Option<u64> {
    let text = read("/proc/meminfo")?;
    let kibibytes: u64 = field(&text, name)?.strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the machine's memory, or the control group's limit if that is less.
fn total_memory() -> Option<u64> {
    let machine = memory_info("MemTotal")?;
    Some(group_limit().map_or(machine, |limit| machine.min(limit)))
}

/// Returns the free memory, or the remainder of the control group's limit if that is less.
fn available_memory() -> Option<u64> {
    let machine = memory_info("MemAvailable")?;
    let group = group_limit()
        .zip(group_number(&["memory.current", "memory/memory.usage_in_bytes"]))
        .map(|(limit, used)| limit.saturating_sub(used));
    Some(group.map_or(machine, |group| machine.min(group)))
}

/// Returns the control group's memory limit, if there is one.
fn group_limit() -> Option<u64> {
    group_number(&["memory.max", "memory/memory.limit_in_bytes"])
}

/// Reads the first of these files of this process' control group (version 2, then 1) that holds a
/// number. In a container the group is mounted at the root; `max` is no number, and no limit.
fn group_number(files: &[&str]) -> Option<u64> {
    let own = read("/proc/self/cgroup").and_then(|text| {
        let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
        Some(PathBuf::from("/sys/fs/cgroup").join(path.trim_start_matches('/')))
    });
    let roots = own.into_iter().chain([PathBuf::from("/sys/fs/cgroup")]);
    roots
        .flat_map(|root| files.iter().map(move |file| root.join(file)))
        .find_map(|path| read(path)?.parse().ok())
}

/// Reads a number of the data or unified cache of the first core at that level; sizes have the form
/// `48K`.
fn cache(level: &str, file: &str) -> Option<u64> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let cache = caches.filter_map(|entry| Some(entry.ok()?.path())).find(|path| {
        read(path.join("level")).as_deref() == Some(level)
            && read(path.join("type")).is_some_and(|kind| kind != "Instruction")
    })?;
    let text = read(cache.join(file))?;
    let (digits, unit) = match text.strip_suffix(['K', 'M']) {
        Some(digits) if text.ends_with('K') => (digits, 1024),
        Some(digits) => (digits, 1024 * 1024),
        None => (text.as_str(), 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the values that this machine reports are consistent.
    #[test]
    fn facts_agree_with_each_other() {
        let number = |key| attribute(key).map(|value| value.to::<i64>().unwrap());
        for key in crate::attribute::ALL {
            println!("{key}: {:?}", attribute(key));
        }
        let total = number(crate::attribute::TOTAL_GLOBAL_MEMORY_BYTES).unwrap();
        let available = number(crate::attribute::AVAILABLE_GLOBAL_MEMORY_BYTES).unwrap();
        assert!(0 < available && available <= total, "{available} of {total}");
        assert!(total > 64 << 20, "in bytes, not in kB");
        let caches = [
            number(crate::attribute::L1_CACHE_SIZE_BYTES),
            number(crate::attribute::L2_CACHE_SIZE_BYTES),
            number(crate::attribute::L3_CACHE_SIZE_BYTES),
        ];
        let known: Vec<i64> = caches.into_iter().flatten().collect();
        assert!(known.is_sorted() && known.iter().all(|size| *size >= 4096), "{known:?}");
        let line = number(crate::attribute::CACHE_LINE_SIZE_BYTES).unwrap_or(64);
        assert!((line as u64).is_power_of_two(), "{line}");
        assert!(number(crate::attribute::MULTI_PROCESSOR_COUNT).unwrap() > 0);
        let clock = number(crate::attribute::MAX_CLOCK_RATE_KHZ).unwrap_or(1_000_000);
        assert!((100_000..20_000_000).contains(&clock), "{clock} kHz");
    }

    #[test]
    fn fields_are_matched_whole() {
        let text = "model\t\t: 85\nmodel name\t: A Processor\n";
        assert_eq!(field(text, "model name"), Some("A Processor"));
        assert_eq!(field(text, "name"), None);
    }
}
