//! LLVM's triples: the architectures that host functions are compiled for, and the parts of a
//! triple.
//!
//! LLVM accepts any text as a triple and uses the parts that it understands; here an unknown word
//! is rejected. A triple is written back with all of its parts: `aarch64-linux-gnu` as
//! `aarch64-unknown-linux-gnu`.

use crate::names::{Family, nearest};

/// An architecture: its name in a triple, and the width of its pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Architecture {
    /// The first word of the triple.
    pub(crate) name: &'static str,
    /// The family whose processors and features it has.
    pub(crate) family: Family,
    /// Pointer width in bits, 32 or 64.
    pub(crate) bits: u32,
}

const fn arch(name: &'static str, family: Family, bits: u32) -> Architecture {
    Architecture { name, family, bits }
}

/// Architectures with little-endian memory and pointers of 32 or 64 bits, as a tensor's descriptor
/// needs them.
pub(crate) const ARCHITECTURES: &[Architecture] = &[
    arch("x86_64", Family::X86, 64),
    arch("amd64", Family::X86, 64),
    arch("i386", Family::X86, 32),
    arch("i486", Family::X86, 32),
    arch("i586", Family::X86, 32),
    arch("i686", Family::X86, 32),
    arch("aarch64", Family::AArch64, 64),
    arch("arm64", Family::AArch64, 64),
    arch("arm", Family::Arm, 32),
    arch("armv6", Family::Arm, 32),
    arch("armv7", Family::Arm, 32),
    arch("armv7a", Family::Arm, 32),
    arch("armv7l", Family::Arm, 32),
    arch("armv7r", Family::Arm, 32),
    arch("armv8a", Family::Arm, 32),
    arch("armv8l", Family::Arm, 32),
    arch("armv8r", Family::Arm, 32),
    arch("thumbv6m", Family::Arm, 32),
    arch("thumbv7a", Family::Arm, 32),
    arch("thumbv7m", Family::Arm, 32),
    arch("thumbv7em", Family::Arm, 32),
    arch("thumbv8m.base", Family::Arm, 32),
    arch("thumbv8m.main", Family::Arm, 32),
    arch("thumbv8.1m.main", Family::Arm, 32),
    arch("riscv64", Family::RiscV, 64),
    arch("riscv32", Family::RiscV, 32),
    arch("wasm32", Family::WebAssembly, 32),
    arch("wasm64", Family::WebAssembly, 64),
    arch("powerpc64le", Family::PowerPc, 64),
    arch("ppc64le", Family::PowerPc, 64),
    arch("loongarch64", Family::LoongArch, 64),
    arch("mips64el", Family::Mips, 64),
    arch("mipsel", Family::Mips, 32),
    arch("hexagon", Family::Hexagon, 32),
];

/// Architectures that LLVM supports and this kind does not, by prefix of the name, with the reason.
/// The longest match counts.
const REFUSED: &[(&str, &str)] = &[
    ("aarch64_32", "its pointers have half the width of its registers"),
    ("aarch64_be", BIG_ENDIAN),
    ("amdgcn", DEVICE),
    ("arm64_32", "its pointers have half the width of its registers"),
    ("armeb", BIG_ENDIAN),
    ("avr", SHORT),
    ("bpf", "it has no floating point"),
    ("lanai", BIG_ENDIAN),
    ("loongarch32", "LLVM 19 cannot compile for it yet"),
    ("m68k", BIG_ENDIAN),
    ("mips", BIG_ENDIAN),
    ("msp430", SHORT),
    ("nvptx", DEVICE),
    ("powerpc", BIG_ENDIAN),
    ("ppc", BIG_ENDIAN),
    ("r600", DEVICE),
    ("s390x", BIG_ENDIAN),
    ("sparc", BIG_ENDIAN),
    ("spirv", DEVICE),
    ("systemz", BIG_ENDIAN),
    ("thumbeb", BIG_ENDIAN),
    ("ve", "its vectors have no masks that LLVM 19 can always write"),
    ("xcore", "LLVM 19 cannot compile floating point for it"),
    ("xtensa", "LLVM 19 cannot compile floating point for it"),
];
const BIG_ENDIAN: &str = "its memory is big-endian, tensors and packed arguments are little-endian";
const DEVICE: &str =
    "it is a device's; this kind is for processors, and a device has a target kind of its own";
const SHORT: &str = "its pointers have 16 bits";

/// Operating systems; a version may follow.
const SYSTEMS: &[&str] = &[
    "darwin",
    "dragonfly",
    "emscripten",
    "freebsd",
    "fuchsia",
    "haiku",
    "hermit",
    "ios",
    "linux",
    "macos",
    "macosx",
    "netbsd",
    "none",
    "openbsd",
    "rtems",
    "tvos",
    "uefi",
    "unknown",
    "wasi",
    "wasip1",
    "wasip2",
    "watchos",
    "win32",
    "windows",
];

/// Environments; a version may follow.
const ENVIRONMENTS: &[&str] = &[
    "android",
    "androideabi",
    "cygnus",
    "eabi",
    "eabihf",
    "elf",
    "gnu",
    "gnuabi64",
    "gnueabi",
    "gnueabihf",
    "gnuf32",
    "gnuf64",
    "gnusf",
    "itanium",
    "macabi",
    "macho",
    "msvc",
    "musl",
    "musleabi",
    "musleabihf",
    "ohos",
    "simulator",
    "threads",
];

/// Maximum length of a triple in bytes.
const LENGTH_MAX: usize = 128;

/// A parsed triple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Triple {
    pub(crate) architecture: Architecture,
    vendor: String,
    /// Operating system, with its version, if any.
    pub(crate) system: String,
    /// Environment, with its version; empty if there is none.
    pub(crate) environment: String,
}

impl Triple {
    /// Reads `architecture[-vendor][-system[-environment]]`.
    ///
    /// # Errors
    ///
    /// Describes the word that was expected and the one that was found, with the nearest known
    /// word.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if text.is_empty() || text.len() > LENGTH_MAX || !text.bytes().all(is_plain) {
            let shown = shown(text);
            return Err(format!(
                "expected architecture-vendor-system, of letters, digits, \".\" and \"_\", found {shown}"
            ));
        }
        let words: Vec<&str> = text.split('-').collect();
        let architecture = architecture(words[0])?;
        let is = |list: &[&str], word: &str| list.contains(&unversioned(word));
        // The system is the first known word; a vendor before it may have any name.
        let (vendor, rest) = match &words[1..] {
            [] => ("unknown", &[][..]),
            [only] if !is(SYSTEMS, only) && !is(ENVIRONMENTS, only) => (*only, &[][..]),
            rest @ [first] if is(SYSTEMS, first) || is(ENVIRONMENTS, first) => ("unknown", rest),
            rest @ [first, second] if is(SYSTEMS, first) && !is(SYSTEMS, second) => ("unknown", rest),
            [first, rest @ ..] => (*first, rest),
        };
        let (system, environment) = match rest {
            [] => ("unknown", ""),
            [only] if is(ENVIRONMENTS, only) && !is(SYSTEMS, only) => ("unknown", *only),
            [system] => (*system, ""),
            [system, environment] => (*system, *environment),
            _ => {
                return Err(format!("expected at most four words, found {} in {}", words.len(), shown(text)));
            }
        };
        check("an operating system", SYSTEMS, system)?;
        if !environment.is_empty() {
            check("an environment", ENVIRONMENTS, environment)?;
        }
        if vendor.is_empty() {
            return Err(format!("expected a vendor, found nothing in {}", shown(text)));
        }
        let owned = str::to_owned;
        Ok(Self {
            architecture,
            vendor: owned(vendor),
            system: owned(system),
            environment: owned(environment),
        })
    }

    /// Returns true if programs run on an operating system that has its own rules about registers.
    pub(crate) fn is_hosted(&self) -> bool {
        !matches!(self.system.as_str(), "none" | "unknown")
    }

    /// Returns true if programs run on Linux.
    pub(crate) fn is_linux(&self) -> bool {
        unversioned(&self.system) == "linux"
    }

    /// Returns true for ARM's profile for microcontrollers.
    pub(crate) fn is_microcontroller(&self) -> bool {
        self.architecture.family == Family::Arm
            && (self.architecture.name.ends_with('m') || self.architecture.name.contains("m."))
    }

    /// Whether the environment passes floats in float registers ("hard") or not ("soft"); `None` if
    /// it does not say.
    pub(crate) fn float_abi(&self) -> Option<&'static str> {
        match unversioned(&self.environment) {
            "gnueabihf" | "musleabihf" | "eabihf" => Some("hard"),
            "gnueabi" | "musleabi" | "eabi" | "androideabi" => Some("soft"),
            _ => None,
        }
    }

    /// The triple with that float ABI, if its environment has both.
    pub(crate) fn with_float_abi(&self, abi: &str) -> Option<Self> {
        let stem = unversioned(&self.environment).trim_end_matches("hf");
        if !["gnueabi", "musleabi", "eabi"].contains(&stem) {
            return None;
        }
        let environment = if abi == "hard" { format!("{stem}hf") } else { stem.to_owned() };
        Some(Self { environment, ..self.clone() })
    }
}

impl std::fmt::Display for Triple {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.architecture.name, self.vendor, self.system)?;
        if self.environment.is_empty() { Ok(()) } else { write!(f, "-{}", self.environment) }
    }
}

/// A name without the version after it.
fn unversioned(word: &str) -> &str {
    if ENVIRONMENTS.contains(&word) || SYSTEMS.contains(&word) {
        return word;
    }
    word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn architecture(name: &str) -> Result<Architecture, String> {
    if let Some(found) = ARCHITECTURES.iter().find(|known| known.name == name) {
        return Ok(*found);
    }
    let refused = REFUSED.iter().filter(|(prefix, _)| name.starts_with(prefix));
    if let Some((_, reason)) = refused.max_by_key(|(prefix, _)| prefix.len()) {
        return Err(format!("host functions are not compiled for {}: {reason}", shown(name)));
    }
    let near = nearest(name, ARCHITECTURES.iter().map(|known| known.name));
    Err(format!("expected an architecture, found {}{near}", shown(name)))
}

fn check(what: &str, known: &'static [&'static str], word: &str) -> Result<(), String> {
    if known.contains(&unversioned(word)) {
        return Ok(());
    }
    Err(format!("expected {what}, found {}{}", shown(word), nearest(word, known.iter().copied())))
}

/// A user's text in a message: quoted, cut, on one line.
pub(crate) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{:?}{dots}", cut)
}
