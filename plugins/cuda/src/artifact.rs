//! The code of an artifact: its form, the devices that run it, and the bytes for the driver.

use chipdock_plugin_api::kit::ArtifactKind;
use chipdock_plugin_api::source::SOURCE;
use chipdock_plugin_api::{Artifact, Error, ErrorKind, HostRef, Verdict};
use serde_json::Value;

use crate::codegen::{self, CODE, KIND};
use crate::compiler::{Choice, Format, Settings};
use crate::device_api::arch;

/// ELF's number for NVIDIA's machine code.
const MACHINE_CUDA: u16 = 190;

/// The code of an artifact.
pub(crate) enum Code {
    /// CUDA C, and options for the compiler.
    Source { text: String, options: Value },
    /// PTX with a terminating zero, and the architecture that it is written for.
    Ptx { text: Vec<u8>, arch: Arch },
    /// Machine code, checked against its headers, and the architecture that it is for.
    Cubin { bytes: Vec<u8>, arch: Arch },
}

/// An architecture: `sm_90a` is 90 with a suffix, which restricts it to this architecture, or to
/// its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arch {
    number: i32,
    suffix: Option<char>,
}

impl Arch {
    /// Parses a name such as `sm_90a`.
    fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(|c: char| c.is_ascii_lowercase());
        Some(Self { number: digits.parse().ok()?, suffix: rest[digits.len()..].chars().next() })
    }
}

/// The artifacts that the loader accepts: source, PTX and machine code.
pub(crate) const ARTIFACT: ArtifactKind =
    ArtifactKind { kind: KIND, formats: &["cuda", Format::Ptx.name(), Format::Cubin.name()] };

fn value_error(message: impl std::fmt::Display) -> Error {
    ARTIFACT.error(message)
}

impl Code {
    /// Reads and checks the code that the format requires.
    pub(crate) fn read(artifact: &Artifact<'_>, index: &Value) -> Result<Self, Error> {
        let options = &index["options"];
        let declared = options["arch"].as_str().and_then(Arch::parse);
        if index["format"] == Format::Ptx.name() {
            let mut text = ARTIFACT.section(artifact, CODE)?.to_vec();
            let written = std::str::from_utf8(&text).ok().and_then(ptx_target);
            let arch = written.ok_or_else(|| value_error("expected PTX with a line .target sm_…"))?;
            if text.contains(&0) {
                return Err(value_error("expected text in PTX, found a zero"));
            }
            text.push(0);
            return Ok(Self::Ptx { text, arch });
        }
        if index["format"] == Format::Cubin.name() {
            let bytes = ARTIFACT.section(artifact, CODE)?.to_vec();
            check_elf(&bytes).map_err(value_error)?;
            let arch = declared.ok_or_else(|| value_error("expected `arch` in the options of the index"))?;
            return Ok(Self::Cubin { bytes, arch });
        }
        let text = ARTIFACT.text(artifact, SOURCE)?.to_owned();
        Ok(Self::Source { text, options: options.clone() })
    }

    /// Decides whether a device with that capability runs the code.
    pub(crate) fn verdict(&self, capability: (i32, i32)) -> Verdict {
        let (major, minor) = capability;
        let here = major * 10 + minor;
        let other = |what: &str, built: Arch| {
            let suffix = built.suffix.map(String::from).unwrap_or_default();
            Verdict::Recompile(format!(
                "{what} for sm_{}{suffix}, and the device is {}: build it with \"arch\": \"{}\"",
                built.number,
                arch(capability),
                arch(capability)
            ))
        };
        match self {
            Self::Source { .. } => Verdict::Runs,
            // Code for an architecture with a suffix runs on no newer one; other PTX runs on every
            // newer one.
            Self::Ptx { arch, .. } if arch.number == here || arch.number < here && arch.suffix.is_none() => {
                Verdict::Runs
            }
            Self::Ptx { arch, .. } => other("its PTX is", *arch),
            // Machine code runs on its architecture and later ones with the same major number.
            Self::Cubin { arch, .. }
                if arch.number == here
                    || arch.number / 10 == major && arch.number < here && arch.suffix.is_none() =>
            {
                Verdict::Runs
            }
            Self::Cubin { arch, .. } => other("its machine code is", *arch),
        }
    }

    /// Compiler settings, if the code must be compiled for a device.
    ///
    /// # Errors
    ///
    /// The host's error for a setting.
    pub(crate) fn settings(&self, host: HostRef) -> Result<Settings, Error> {
        match self {
            Self::Source { .. } => Settings::read(host),
            Self::Ptx { .. } | Self::Cubin { .. } => Ok(Settings::default()),
        }
    }

    /// The bytes for the driver of a device with that capability; source is compiled for it.
    pub(crate) fn bytes_for(&self, settings: &Settings, capability: (i32, i32)) -> Result<Vec<u8>, Error> {
        match self {
            Self::Ptx { text, .. } => Ok(text.clone()),
            Self::Cubin { bytes, .. } => Ok(bytes.clone()),
            Self::Source { text, options } => {
                let mut options = options.clone();
                options["arch"] = arch(capability).into();
                let compiled =
                    codegen::compile(settings, text, &options, Format::Cubin, Choice::Auto, &|_| ())?;
                check_elf(&compiled.code).map_err(|why| {
                    Error::new(ErrorKind::INTERNAL, format!("{} made no cubin: {why}", compiled.compiler))
                })?;
                Ok(compiled.code)
            }
        }
    }
}

/// The target architecture of PTX.
fn ptx_target(text: &str) -> Option<Arch> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(".target"))?;
    Arch::parse(line.trim().split([',', ' ', '\t', '/']).next()?)
}

/// Checks the parts of an ELF file against its length: the driver is given only the start of the
/// file.
fn check_elf(bytes: &[u8]) -> Result<(), String> {
    let number = |at: u64, size: u64| -> Option<u64> {
        let start = usize::try_from(at).ok()?;
        let field = bytes.get(start..start.checked_add(size as usize)?)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let is_64_bit = bytes.starts_with(b"\x7FELF\x02\x01");
    if !is_64_bit || number(18, 2) != Some(u64::from(MACHINE_CUDA)) {
        return Err("expected a cubin, a 64-bit ELF file of machine code for GPUs".to_owned());
    }
    let cut_off = || format!("expected a whole cubin, found {} bytes of a longer one", bytes.len());
    let header = |at| number(at, 2).ok_or_else(cut_off);
    let fits = |start: u64, size: u64| start.checked_add(size).is_some_and(|end| end <= bytes.len() as u64);
    let segments = (number(32, 8).ok_or_else(cut_off)?, header(54)?, header(56)?, (8, 32));
    let sections = (number(40, 8).ok_or_else(cut_off)?, header(58)?, header(60)?, (24, 32));
    for (table, entry_bytes, count, (offset_at, size_at)) in [segments, sections] {
        for index in 0..count {
            let entry = table.saturating_add(index * entry_bytes);
            if !fits(entry, entry_bytes) {
                return Err(cut_off());
            }
            let start = number(entry + offset_at, 8).ok_or_else(cut_off)?;
            let size = number(entry + size_at, 8).ok_or_else(cut_off)?;
            // A section of type 8 has no bytes in the file.
            let is_elsewhere = offset_at == 24 && number(entry + 4, 4) == Some(8);
            if !is_elsewhere && !fits(start, size) {
                return Err(cut_off());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(text: &str) -> Arch {
        Arch::parse(text).unwrap()
    }

    fn runs(code: &Code, capability: (i32, i32)) -> bool {
        code.verdict(capability) == Verdict::Runs
    }

    #[test]
    fn machine_code_runs_on_its_major_from_its_minor_on() {
        let cubin = |text| Code::Cubin { bytes: Vec::new(), arch: arch(text) };
        assert!(runs(&cubin("sm_80"), (8, 0)) && runs(&cubin("sm_80"), (8, 6)));
        assert!(!runs(&cubin("sm_86"), (8, 0)) && !runs(&cubin("sm_80"), (9, 0)));
        assert!(runs(&cubin("sm_90a"), (9, 0)) && !runs(&cubin("sm_100a"), (10, 3)));
    }

    #[test]
    fn ptx_runs_on_newer_devices_unless_it_is_specific() {
        let ptx = |text| Code::Ptx { text: Vec::new(), arch: arch(text) };
        assert!(runs(&ptx("sm_75"), (7, 5)) && runs(&ptx("sm_75"), (12, 0)));
        assert!(!runs(&ptx("sm_90"), (8, 9)) && !runs(&ptx("sm_90a"), (10, 0)));
        let Verdict::Recompile(why) = ptx("sm_90").verdict((8, 6)) else { panic!("a verdict") };
        assert!(why.contains("sm_90") && why.contains("\"arch\": \"sm_86\""), "{why}");
    }

    #[test]
    fn the_target_of_ptx_is_read() {
        assert_eq!(ptx_target(".version 8.0\n.target sm_80\n.address_size 64"), Some(arch("sm_80")));
        assert_eq!(ptx_target("  .target sm_90a, debug"), Some(arch("sm_90a")));
        assert_eq!(ptx_target(".version 8.0"), None);
        assert_eq!(ptx_target(".target nonsense"), None);
    }

    /// A file of one section of 16 bytes, which lie behind the header.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0_u8; 64 + 16 + 64];
        bytes[..6].copy_from_slice(b"\x7FELF\x02\x01");
        bytes[18] = 190;
        bytes[40] = 80;
        bytes[58] = 64;
        bytes[60] = 1;
        bytes[80 + 24] = 64;
        bytes[80 + 32] = 16;
        bytes
    }

    #[test]
    fn a_cubin_that_was_cut_off_is_refused_at_every_length() {
        check_elf(&elf()).unwrap();
        for length in 0..elf().len() {
            check_elf(&elf()[..length]).unwrap_err();
        }
        let mut far = elf();
        far[80 + 32 + 7] = 0xFF;
        check_elf(&far).unwrap_err();
        let mut other = elf();
        other[18] = 62;
        assert!(check_elf(&other).unwrap_err().contains("for GPUs"));
    }
}
