//! Names of processors and features in LLVM 19.
//!
//! LLVM's C interface has no list of them, and LLVM only warns about a name that it does not know.
//! The tables beside this file were printed by the library itself (processor `help`); a test
//! compares them with the installed library. A table belongs to the version of LLVM that it names.
//! Another minor version of the same major may know more names, which are rejected here, and must
//! know all of these.

use std::collections::BTreeSet;

use chipdock_plugin_api::kit::PerProcess;

#[cfg(test)]
mod tests;

/// Second names of processors, which LLVM takes and does not list.
const ALIASES: &[(Family, &str, &str)] = &[
    (Family::AArch64, "apple-m1", "apple-a14"),
    (Family::AArch64, "apple-m2", "apple-a15"),
    (Family::AArch64, "apple-m3", "apple-a16"),
    (Family::AArch64, "grace", "neoverse-v2"),
];

/// Architectures that share their processors and features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Family {
    X86,
    AArch64,
    Arm,
    RiscV,
    WebAssembly,
    PowerPc,
    LoongArch,
    Mips,
    Hexagon,
}

impl Family {
    pub(crate) const ALL: [Self; 9] = [
        Self::X86,
        Self::AArch64,
        Self::Arm,
        Self::RiscV,
        Self::WebAssembly,
        Self::PowerPc,
        Self::LoongArch,
        Self::Mips,
        Self::Hexagon,
    ];

    /// LLVM's name of the component that compiles for the family.
    pub(crate) fn component(self) -> &'static str {
        match self {
            Self::X86 => "X86",
            Self::AArch64 => "AArch64",
            Self::Arm => "ARM",
            Self::RiscV => "RISCV",
            Self::WebAssembly => "WebAssembly",
            Self::PowerPc => "PowerPC",
            Self::LoongArch => "LoongArch",
            Self::Mips => "Mips",
            Self::Hexagon => "Hexagon",
        }
    }

    /// The table of the family.
    pub(crate) fn names(self) -> &'static Names {
        &TABLES.of_this()[Self::ALL.iter().position(|family| *family == self).unwrap_or_default()]
    }

    /// The name that LLVM lists for a processor which it knows by a second one.
    pub(crate) fn own_name(self, cpu: &str) -> &str {
        let alias = ALIASES.iter().find(|(family, alias, _)| *family == self && *alias == cpu);
        alias.map_or(cpu, |(.., name)| name)
    }

    fn table(self) -> &'static str {
        match self {
            Self::X86 => include_str!("x86.txt"),
            Self::AArch64 => include_str!("aarch64.txt"),
            Self::Arm => include_str!("arm.txt"),
            Self::RiscV => include_str!("riscv.txt"),
            Self::WebAssembly => include_str!("webassembly.txt"),
            Self::PowerPc => include_str!("powerpc.txt"),
            Self::LoongArch => include_str!("loongarch.txt"),
            Self::Mips => include_str!("mips.txt"),
            Self::Hexagon => include_str!("hexagon.txt"),
        }
    }
}

/// Names of the processors and features of a family.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The LLVM version that printed them.
    pub(crate) version: String,
    pub(crate) processors: BTreeSet<String>,
    pub(crate) features: BTreeSet<String>,
}

static TABLES: PerProcess<Vec<Names>> =
    PerProcess::new(|_| Family::ALL.iter().map(|family| Names::read(family.table())).collect());

impl Names {
    /// Reads a table: a line `LLVM <version>`, then words below `processors:` and `features:`.
    fn read(text: &str) -> Self {
        let mut names = Self::default();
        let mut section = None;
        for line in text.lines() {
            match line.trim() {
                line if line.starts_with('#') => {}
                line if line.starts_with("LLVM ") => line["LLVM ".len()..].clone_into(&mut names.version),
                "processors:" => section = Some(false),
                "features:" => section = Some(true),
                line => {
                    let words = line.split_whitespace().map(str::to_owned);
                    match section {
                        Some(false) => names.processors.extend(words),
                        Some(true) => names.features.extend(words),
                        None => {}
                    }
                }
            }
        }
        names
    }
}

/// A hint about known names for the end of a message: all of them if there are few, or the nearest
/// one, or nothing.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    const FEW: usize = 6;
    const ALIKE: f64 = 0.3;
    let known: Vec<&str> = known.collect();
    if known.len() <= FEW {
        let quoted: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        return format!("; known are {}", quoted.join(", "));
    }
    let word: String = word.chars().take(60).collect::<String>().to_lowercase();
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(name, &word);
    let near = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).copied().unwrap_or_default();
    if likeness(near) < ALIKE { String::new() } else { format!("; the nearest known one is \"{near}\"") }
}
