//! Checks of a library's file before the system's loader opens it.
//!
//! The loader maps segments without asking whether the file has them: a truncated library ends the
//! process with SIGBUS when the missing page is first touched. So a few fields are read beforehand,
//! bounded, through the descriptor:
//!
//! * **IMAGE-E1** an ELF file of 64 bits for this machine; for another file the error says what it
//!   is;
//! * **IMAGE-E2** a shared library (`ET_DYN`) with program headers, loadable segments and a dynamic
//!   segment;
//! * **IMAGE-E3** whole: headers, every loadable segment and the dynamic segment end within the
//!   file;
//! * **IMAGE-E4** the dynamic segment ends with its end mark, and the tables that it points to lie
//!   in loadable segments.
//!
//! The linker's build id is read on the way (P1.15); no library is refused for it.
//!
//! Section headers are not needed: a stripped library has none. These checks do not make a hostile
//! library safe: opening a library runs its code.

mod note;

use std::fs::File;
use std::os::unix::fs::FileExt as _;

const HEADER_BYTES: u64 = 64;
const PROGRAM_HEADER_BYTES: u64 = 56;
/// Size of an entry of the dynamic segment: tag and value.
const DYNAMIC_BYTES: u64 = 16;
/// Greatest size of a dynamic segment: that of a large library has some kilobytes.
const DYNAMIC_BYTES_MAX: u64 = 1 << 20;
const SHOWN_BYTES: usize = 64;

const TYPE_SHARED: u16 = 3;
const SEGMENT_LOAD: u32 = 1;
const SEGMENT_DYNAMIC: u32 = 2;
const SEGMENT_NOTE: u32 = 4;
const TAG_END: u64 = 0;
/// Tags whose values are addresses of tables that the loader reads: hash, strings, symbols, the
/// newer hash.
const TAGS_OF_TABLES: [u64; 4] = [4, 5, 6, 0x6fff_fef5];

/// Machines, as `e_machine` numbers them, by Rust's names.
const MACHINES: &[(u16, &str)] = &[
    (3, "x86"),
    (8, "mips"),
    (20, "powerpc"),
    (21, "powerpc64"),
    (22, "s390x"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (258, "loongarch64"),
];

/// Checks that a file is a whole shared library for this machine (rules IMAGE-E1 to IMAGE-E4), and
/// returns the linker's build id, in hexadecimal, where it has one.
///
/// # Errors
///
/// A sentence about the file, which it calls `it`.
pub(crate) fn examine(file: &File, size_bytes: u64) -> Result<Option<String>, String> {
    if cfg!(target_vendor = "apple") {
        // Another format, whose loader checks sizes.
        return Ok(None);
    }
    examine_source(Source::File(file), size_bytes)
}

/// Checks the bytes of a file as [`examine`] checks a file.
pub(crate) fn examine_bytes(bytes: &[u8]) -> Result<Option<String>, String> {
    if cfg!(target_vendor = "apple") {
        return Ok(None);
    }
    examine_source(Source::Bytes(bytes), bytes.len() as u64)
}

/// Returns Rust's name of a machine, or its number.
pub(crate) fn machine(number: u16) -> String {
    let named = MACHINES.iter().find(|(known, _)| *known == number);
    named.map_or_else(|| format!("machine {number}"), |(_, name)| (*name).to_owned())
}

fn examine_source(source: Source<'_>, size_bytes: u64) -> Result<Option<String>, String> {
    let image = Image { source, size_bytes };
    let start = image.read(0, HEADER_BYTES.min(size_bytes))?;
    check_start(&start, size_bytes)?;
    let segments = image.segments(&start)?;
    image.check_whole(&segments)?;
    image.check_dynamic(&segments)?;
    Ok(image.build_id(&segments))
}

/// A program header.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    file_bytes: u64,
    memory_bytes: u64,
    align: u64,
}

impl Segment {
    fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.file_bytes)
    }

    fn holds(&self, address: u64) -> bool {
        self.kind == SEGMENT_LOAD
            && address.checked_sub(self.address).is_some_and(|offset| offset < self.memory_bytes)
    }
}

/// Where the bytes of a library are.
enum Source<'a> {
    File(&'a File),
    Bytes(&'a [u8]),
}

struct Image<'a> {
    source: Source<'a>,
    size_bytes: u64,
}

impl Image<'_> {
    /// Reads bytes of the file (P1.6); the caller has checked their number and that they are there.
    fn read(&self, offset: u64, count: u64) -> Result<Vec<u8>, String> {
        let count = usize::try_from(count).map_err(|_| damaged("a size does not fit"))?;
        let file = match &self.source {
            Source::File(file) => file,
            Source::Bytes(bytes) => {
                let start = usize::try_from(offset).ok();
                let range = start.and_then(|start| Some(start..start.checked_add(count)?));
                let part = range.and_then(|range| bytes.get(range));
                return part.map(<[u8]>::to_vec).ok_or_else(|| self.cut("its parts", offset + count as u64));
            }
        };
        let mut bytes = vec![0; count];
        match file.read_exact_at(&mut bytes, offset) {
            Ok(()) => Ok(bytes),
            Err(error) => Err(format!("it cannot be read: {error}")),
        }
    }

    fn cut(&self, what: &str, needed: u64) -> String {
        format!(
            "it is cut short: {what} need {needed} bytes, the file has {}; install it again",
            self.size_bytes
        )
    }

    /// Reads the program headers (P1.6).
    fn segments(&self, header: &[u8]) -> Result<Vec<Segment>, String> {
        let field = || damaged("its header");
        let offset = u64_at(header, 32).ok_or_else(field)?;
        let (size, count) = (u16_at(header, 54).ok_or_else(field)?, u16_at(header, 56).ok_or_else(field)?);
        if count == 0 {
            return Err("it has no program headers; expected a shared library".to_owned());
        }
        if u64::from(size) != PROGRAM_HEADER_BYTES {
            return Err(damaged(&format!("a program header of {size} bytes")));
        }
        let bytes = u64::from(count) * PROGRAM_HEADER_BYTES;
        let end = offset.checked_add(bytes).ok_or_else(|| damaged("the place of its program headers"))?;
        if end > self.size_bytes {
            return Err(self.cut("its program headers", end));
        }
        let bytes = self.read(offset, bytes)?;
        let entry = |entry: &[u8]| {
            Some(Segment {
                kind: u32_at(entry, 0)?,
                offset: u64_at(entry, 8)?,
                address: u64_at(entry, 16)?,
                file_bytes: u64_at(entry, 32)?,
                memory_bytes: u64_at(entry, 40)?,
                align: u64_at(entry, 48)?,
            })
        };
        let entries = bytes.chunks_exact(PROGRAM_HEADER_BYTES as usize);
        entries.map(|bytes| entry(bytes).ok_or_else(field)).collect()
    }

    /// Checks rule IMAGE-E3.
    fn check_whole(&self, segments: &[Segment]) -> Result<(), String> {
        let mut needed = 0;
        for segment in
            segments.iter().filter(|segment| [SEGMENT_LOAD, SEGMENT_DYNAMIC].contains(&segment.kind))
        {
            let end = segment.end().ok_or_else(|| damaged("the place of a segment"))?;
            needed = end.max(needed);
            let fits = segment.file_bytes <= segment.memory_bytes
                && segment.address.checked_add(segment.memory_bytes).is_some();
            if !fits {
                return Err(damaged("the size of a segment"));
            }
        }
        if needed > self.size_bytes {
            return Err(self.cut("its segments", needed));
        }
        Ok(())
    }

    /// Checks rule IMAGE-E4.
    fn check_dynamic(&self, segments: &[Segment]) -> Result<(), String> {
        let no_library = || "it has no loadable dynamic segment; expected a shared library".to_owned();
        let dynamic =
            segments.iter().find(|segment| segment.kind == SEGMENT_DYNAMIC).ok_or_else(no_library)?;
        let load = segments.iter().find(|segment| segment.holds(dynamic.address)).ok_or_else(no_library)?;
        // The loader reads the dynamic segment where it is mapped, which must be where it stands in
        // the file.
        let shift = dynamic.address - load.address;
        let is_mapped = load.offset.checked_add(shift) == Some(dynamic.offset)
            && dynamic.end().zip(load.end()).is_some_and(|(end, load_end)| end <= load_end);
        if !is_mapped || dynamic.file_bytes > DYNAMIC_BYTES_MAX {
            return Err(damaged("the place of its dynamic segment"));
        }
        let bytes = self.read(dynamic.offset, dynamic.file_bytes)?;
        for entry in bytes.chunks_exact(DYNAMIC_BYTES as usize) {
            let (Some(tag), Some(value)) = (u64_at(entry, 0), u64_at(entry, 8)) else { break };
            if tag == TAG_END {
                return Ok(());
            }
            if TAGS_OF_TABLES.contains(&tag) && !segments.iter().any(|segment| segment.holds(value)) {
                return Err(damaged("the place of a table of its dynamic segment"));
            }
        }
        Err(damaged("its dynamic segment, which has no end"))
    }
}

fn damaged(what: &str) -> String {
    format!("it is damaged: {what} is not as in an ELF file; install it again")
}

/// Checks rules IMAGE-E1 and IMAGE-E2 (P1.6), as far as the first bytes tell.
fn check_start(start: &[u8], size_bytes: u64) -> Result<(), String> {
    if size_bytes == 0 {
        return Err("it is empty; expected a shared library".to_owned());
    }
    if !start.starts_with(b"\x7fELF") {
        return Err(format!("it is {}; expected a shared library", what_it_is(start)));
    }
    if size_bytes < HEADER_BYTES {
        return Err(format!(
            "it is cut short: an ELF header needs {HEADER_BYTES} bytes, the file has {size_bytes}"
        ));
    }
    let (class, order) = (start.get(4), start.get(5));
    if class != Some(&2) {
        return Err("it is not a library of 64 bits, as this program is".to_owned());
    }
    let here = if cfg!(target_endian = "little") { 1 } else { 2 };
    if order != Some(&here) {
        return Err("it is built for a machine of another byte order".to_owned());
    }
    let (kind, machine) = (u16_at(start, 16), u16_at(start, 18));
    let here = std::env::consts::ARCH;
    let is_other = |(number, name): &(u16, &str)| *name == here && Some(*number) != machine;
    if MACHINES.iter().any(is_other) {
        let found = self::machine(machine.unwrap_or_default());
        return Err(format!("it is built for {found}, this machine is {here}"));
    }
    match kind {
        Some(TYPE_SHARED) => Ok(()),
        Some(1) => Err("it is an object file; expected a shared library: link it with -shared".to_owned()),
        Some(2) => Err("it is a program; expected a shared library: link it with -shared".to_owned()),
        Some(4) => Err("it is a core dump; expected a shared library".to_owned()),
        _ => Err(damaged("its type")),
    }
}

/// Returns a word for the kind of a file that does not begin like an ELF file.
fn what_it_is(start: &[u8]) -> String {
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let start = &start[..start.len().min(SHOWN_BYTES)];
    if start.starts_with(b"!<arch>\n") || start.starts_with(b"!<thin>\n") {
        "a static archive (.a)".to_owned()
    } else if start.iter().all(is_text) {
        "text, for instance a script of a linker".to_owned()
    } else {
        let first: Vec<String> = start.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("no ELF file: it begins with the bytes {}", first.join(" "))
    }
}

fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array_at(bytes, at).map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_ne_bytes)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn examined(bytes: &[u8]) -> Result<Option<String>, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        examine(&file, bytes.len() as u64)
    }

    fn verdict(bytes: &[u8]) -> Result<(), String> {
        examined(bytes).map(drop)
    }

    /// Small, of this machine, and with what a library has: symbols, relocations, a table of
    /// pointers.
    fn library() -> &'static [u8] {
        static LIBRARY: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        LIBRARY.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            let text = "#include <stdio.h>\nint (*table[900])(const char *) = {puts};\nint answer(void) { return table[0](\"\"); }\n";
            std::fs::write(at("x.c"), text).unwrap();
            let mut command = Command::new("cc");
            command.args(["-shared", "-fPIC", "-Wl,--build-id=0xc0ffee0123", "-o"]).arg(at("x.so")).arg(at("x.c"));
            assert!(command.status().expect("cc is there").success());
            std::fs::read(at("x.so")).unwrap()
        })
    }

    #[test]
    fn p1_15_the_linkers_build_id_is_read_and_refuses_nothing() {
        assert_eq!(examined(library()), Ok(Some("c0ffee0123".to_owned())));
        let id = [0xc0, 0xff, 0xee, 0x01, 0x23];
        let at = library().windows(5).position(|bytes| bytes == id).unwrap();
        // Before it: the name, its type, its size, the size of the name.
        for (before, bytes) in
            [(4, *b"GNX\0"), (8, [9, 0, 0, 0]), (12, [0xff; 4]), (12, [0; 4]), (16, [0xff; 4])]
        {
            let mut changed = library().to_vec();
            changed[at - before..at - before + 4].copy_from_slice(&bytes);
            assert_eq!(examined(&changed), Ok(None), "{before} bytes before it");
        }
    }

    #[test]
    fn image_e1_a_file_that_is_no_library_is_named() {
        let with = |at: usize, bytes: &[u8]| {
            let mut library = library().to_vec();
            library[at..at + bytes.len()].copy_from_slice(bytes);
            library
        };
        let foreign: u16 = if cfg!(target_arch = "aarch64") { 62 } else { 183 };
        let cases: [(&[u8], &str); 11] = [
            (b"", "it is empty"),
            (b"not a library", "it is text"),
            (b"INPUT(libreal.so.1)\n", "a script of a linker"),
            (b"!<arch>\n/               0", "a static archive"),
            (b"MZ\x90\0\x03", "begins with the bytes 4d 5a 90 00"),
            (b"\x7fELF\x02\x01", "an ELF header needs 64 bytes, the file has 6"),
            (&with(4, &[1]), "64 bits"),
            (&with(5, &[3]), "byte order"),
            (&with(18, &foreign.to_ne_bytes()), "this machine is"),
            (&with(16, &1_u16.to_ne_bytes()), "an object file"),
            (&with(16, &2_u16.to_ne_bytes()), "a program"),
        ];
        for (bytes, says) in cases {
            let message = verdict(bytes).unwrap_err();
            assert!(message.contains(says), "{message} should say {says}");
        }
        assert_eq!(verdict(library()), Ok(()));
    }

    #[test]
    fn image_e3_a_library_that_is_cut_within_its_segments_is_refused_with_both_sizes() {
        let message = verdict(&library()[..4096]).unwrap_err();
        assert!(message.contains("its segments need"), "{message}");
        assert!(message.contains("the file has 4096"), "{message}");
        let message = verdict(&library()[..100]).unwrap_err();
        assert!(message.contains("its program headers need"), "{message}");
    }

    /// A program that opens a library, calls it, and ends with 9 when the system's loader refuses
    /// it.
    fn opener(folder: &Path) -> PathBuf {
        let (source, program) = (folder.join("open.c"), folder.join("open"));
        let text = "#include <dlfcn.h>\nint main(int n, char **words) {\n  void *library = dlopen(words[n - 1], RTLD_NOW);\n  if (!library) return 9;\n  int (*answer)(void) = (int (*)(void))dlsym(library, \"answer\");\n  if (!answer) return 9;\n  answer();\n  return 0;\n}\n";
        std::fs::write(&source, text).unwrap();
        let mut command = Command::new("cc");
        command.arg("-o").arg(&program).arg(&source).arg("-ldl");
        assert!(command.status().expect("cc is there").success());
        program
    }

    #[test]
    fn image_e3_what_passes_of_a_cut_library_does_not_end_its_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.so");
        let opener = opener(folder.path());
        let whole = library().len();
        let cuts = (0..64).map(|step| whole * step / 64).chain((0..8).map(|step| whole - step * step * step));
        let (mut passed, mut refused) = (0, 0);
        for cut in cuts {
            match verdict(&library()[..cut]) {
                Err(_) => refused += 1,
                Ok(()) => {
                    std::fs::write(&path, &library()[..cut]).unwrap();
                    let status = Command::new(&opener).arg(&path).output().unwrap().status;
                    assert!(matches!(status.code(), Some(0 | 9)), "cut at {cut} of {whole}: {status}");
                    passed += 1;
                }
            }
        }
        assert!(passed >= 2 && refused >= 32, "{passed} passed, {refused} refused");
    }

    proptest! {
        #[test]
        fn image_e1_no_bytes_make_it_panic(flips in prop::collection::vec((0..2048_usize, any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
            let mut bytes = library().to_vec();
            for (at, byte) in flips {
                bytes[at] = byte;
            }
            bytes.truncate(cut.index(bytes.len() + 1).max(64));
            let _ = verdict(&bytes);
        }
    }
}
