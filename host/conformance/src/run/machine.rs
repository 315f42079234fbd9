//! Facts about this machine, and the current day.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::DateTime;

use crate::report::Machine;

/// Describes this machine.
pub(super) fn here() -> Machine {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        cpu: processor(&processors),
        n_threads: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: kernel.trim().to_owned(),
    }
}

/// Returns the name of the first processor; ARM processors report numbers only.
fn processor(text: &str) -> String {
    let value = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    };
    let by_number =
        || Some(format!("implementer {}, part {}", value("CPU implementer")?, value("CPU part")?));
    value("model name").or_else(by_number).unwrap_or_default()
}

/// Returns the current time in seconds since 1970.
pub(super) fn now_unix() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns the UTC day of a time in seconds, as `YYYY-MM-DD`.
pub(super) fn day(unix: u64) -> String {
    let moment = i64::try_from(unix).ok().and_then(|unix| DateTime::from_timestamp(unix, 0));
    // A time beyond the representable years counts as later than any date.
    moment.map_or_else(|| "9999-12-31".to_owned(), |moment| moment.format("%F").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SUITE-S7: days as `date -u -d @SECONDS +%F` prints them.
    #[test]
    fn days() {
        let known = [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_709_164_800, "2024-02-29"),
            (1_735_689_599, "2024-12-31"),
            (1_735_689_600, "2025-01-01"),
            (4_107_542_400, "2100-03-01"),
            (4_107_542_399, "2100-02-28"),
        ];
        for (unix, expected) in known {
            assert_eq!(day(unix), expected, "{unix}");
        }
    }

    #[test]
    fn processors() {
        assert_eq!(processor("processor\t: 0\nmodel name\t: A Chip (R) 7\n"), "A Chip (R) 7");
        let arm = "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(processor(arm), "implementer 0x41, part 0xd0c");
        assert_eq!(processor(""), "");
    }
}
