//! What a machine is: its processor in words, its memory pages, the day.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// Returns today's date in UTC, from the system's `date`.
#[must_use]
pub fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns what the machine is, by name, in words.
#[must_use]
pub fn machine() -> BTreeMap<String, String> {
    let mut machine = BTreeMap::new();
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let name = field(&cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let model = field(&cpu, "model\t").unwrap_or_default();
    machine.insert("machine".to_owned(), format!("{count} × {name}, model {model}"));
    let pages = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let chosen = pages.split(['[', ']']).nth(1).unwrap_or("none").to_owned();
    machine.insert("transparent huge pages".to_owned(), chosen);
    machine
}

/// Returns the name of the processor's design, by which its results are filed: `cascade-lake`, or
/// its numbers if it is unknown.
#[must_use]
pub fn processor() -> String {
    processor_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// Returns the processor's features that matter to the rows, by the names that Linux gives them.
#[must_use]
pub fn features() -> Vec<String> {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let all = field(&cpu, "flags").or_else(|| field(&cpu, "Features")).unwrap_or_default();
    all.split_whitespace().map(str::to_owned).collect()
}

fn field(cpu: &str, name: &str) -> Option<String> {
    let line = cpu.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn processor_of(cpu: &str) -> String {
    let number = |name: &str| {
        let text = field(cpu, name)?;
        text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())
    };
    let has =
        |feature: &str| field(cpu, "flags").is_some_and(|all| all.split(' ').any(|flag| flag == feature));
    let vendor = field(cpu, "vendor_id").unwrap_or_default();
    let (family, model) = (number("cpu family").unwrap_or(0), number("model\t").unwrap_or(0));
    let known = match (vendor.as_str(), family, model) {
        ("GenuineIntel", 6, 85) if has("avx512_bf16") => "cooper-lake",
        ("GenuineIntel", 6, 85) if has("avx512_vnni") => "cascade-lake",
        ("GenuineIntel", 6, 85) => "skylake-server",
        ("GenuineIntel", 6, 106 | 108) => "ice-lake-server",
        ("GenuineIntel", 6, 143) => "sapphire-rapids",
        ("GenuineIntel", 6, 207) => "emerald-rapids",
        ("GenuineIntel", 6, 173 | 174) => "granite-rapids",
        ("GenuineIntel", 6, 79) => "broadwell-server",
        ("GenuineIntel", 6, 63) => "haswell-server",
        ("AuthenticAMD", 23, 0x30..) => "zen-2",
        ("AuthenticAMD", 23, _) => "zen",
        ("AuthenticAMD", 25, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => "zen-4",
        ("AuthenticAMD", 25, _) => "zen-3",
        ("AuthenticAMD", 26, _) => "zen-5",
        _ => match (number("CPU implementer"), number("CPU part")) {
            (Some(0x41), Some(0xd0c)) => "neoverse-n1",
            (Some(0x41), Some(0xd40)) => "neoverse-v1",
            (Some(0x41), Some(0xd49)) => "neoverse-n2",
            (Some(0x41), Some(0xd4f)) => "neoverse-v2",
            (Some(implementer), Some(part)) => return format!("arm-{implementer:x}-{part:x}"),
            _ => return format!("{}-{family}-{model}", vendor.to_lowercase()),
        },
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_by_its_numbers_and_features() {
        let intel = |model: u32, flags: &str| {
            format!(
                "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: {model}\nmodel name\t: Xeon\nflags\t\t: fpu {flags}\n"
            )
        };
        assert_eq!(processor_of(&intel(85, "avx512f avx512_vnni")), "cascade-lake");
        assert_eq!(processor_of(&intel(85, "avx512f avx512_vnni avx512_bf16")), "cooper-lake");
        assert_eq!(processor_of(&intel(85, "avx512f")), "skylake-server");
        assert_eq!(processor_of(&intel(9999, "")), "genuineintel-6-9999");
        assert_eq!(processor_of("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"), "neoverse-n1");
        assert_eq!(processor_of("CPU implementer\t: 0x51\nCPU part\t: 0x1\n"), "arm-51-1");
    }
}
