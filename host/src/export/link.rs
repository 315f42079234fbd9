//! Links the parts of a library by a C compiler (EXPORT-X6).

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind as IoKind;
use std::path::PathBuf;
use std::process::Output;

use chipdock_plugin_api::files::scratch::Scratch;
use object::elf;

use super::direct;
use super::options::ExportOptions;
use super::parts::{COMPILED, EXPORTS, OBJECT, Parts, RUNTIME_OBJECT, SOURCE};
use crate::bounds::ARTIFACT_BYTES_MAX;
use crate::environment::Environment;
use crate::error::{Error, ErrorKind};
use crate::host::Host;

/// Arguments that decide what the library is; `Makefile` of an archive has them too.
pub(super) const ARGUMENTS: &[&str] = &[
    "-shared",
    "-fPIC",
    "-O2",
    "-std=gnu11",
    "-fvisibility=hidden",
    "-w",
    "-Wl,-Bsymbolic",
    "-Wl,-z,defs",
    "-Wl,-z,noexecstack",
    "-Wl,--as-needed",
];
/// The file that is linked.
pub(super) const OUTPUT: &str = "library.so";
/// Libraries of the C library, for those releases that have them apart.
pub(super) const LIBRARIES: &[&str] = &["-lm", "-ldl", "-lpthread"];

/// Machines that have a C compiler by the name of their system: `e_machine`, the machine as that
/// name spells it, and as Debian's packages do.
const MACHINES: &[(u16, &str, &str)] = &[
    (elf::EM_X86_64, "x86_64", "amd64"),
    (elf::EM_AARCH64, "aarch64", "arm64"),
    (elf::EM_RISCV, "riscv64", "riscv64"),
    (elf::EM_PPC64, "powerpc64le", "ppc64el"),
    (elf::EM_LOONGARCH, "loongarch64", "loong64"),
];

/// The compilers to try, each in words, and what was tried, for a message.
struct Candidates {
    words: Vec<Vec<String>>,
    tried: String,
    /// Advice where none of them is there.
    advice: String,
}

/// Returns the name of a machine.
fn machine_name(machine: u16) -> String {
    let known = MACHINES.iter().find(|(number, ..)| *number == machine);
    known.map_or_else(|| format!("machine {machine} of ELF"), |(_, name, _)| (*name).to_owned())
}

/// Returns the packages of Debian that bring a compiler and a C library for a machine.
fn packages(machine: u16) -> String {
    match MACHINES.iter().find(|(number, ..)| *number == machine) {
        Some((_, name, debian)) if *name != std::env::consts::ARCH => {
            format!("gcc-{}-linux-gnu and libc6-dev-{debian}-cross", name.replace('_', "-"))
        }
        _ => "gcc and libc6-dev".to_owned(),
    }
}

/// Linkers that variables of the process name, in words; none with raised privileges.
#[derive(Debug, Default)]
struct NamedLinkers {
    /// `CHIPDOCK_LINKER`, for any machine.
    any: Option<Vec<String>>,
    /// `CC`, for this machine.
    own: Option<Vec<String>>,
    /// The linker for this machine, where no variable names a compiler.
    direct: Option<PathBuf>,
}

impl NamedLinkers {
    fn of(environment: &Environment) -> Self {
        let words = |name: &str| {
            let words: Vec<String> =
                environment.variable(name)?.to_str()?.split_whitespace().map(str::to_owned).collect();
            (!words.is_empty()).then_some(words)
        };
        let (any, own) = (words("CHIPDOCK_LINKER"), words("CC"));
        let direct = if any.is_none() && own.is_none() { direct::linker(environment) } else { None };
        Self { any, own, direct }
    }
}

impl Candidates {
    fn of(host: &Host, machine: u16, options: &ExportOptions) -> Self {
        let one = |words: Vec<String>, source: &str| Self {
            tried: format!("{} ({source})", words.join(" ")),
            words: vec![words],
            advice: "name a C compiler that is there".to_owned(),
        };
        if let Some(linker) = &options.linker {
            let words: Vec<String> = linker.split_whitespace().map(str::to_owned).collect();
            return one(words, "the linker that was asked for");
        }
        let named = NamedLinkers::of(&host.0.environment);
        if let Some(words) = named.any {
            return one(words, "the variable CHIPDOCK_LINKER");
        }
        let name = machine_name(machine);
        let is_own = name == std::env::consts::ARCH;
        if let Some(words) = named.own.filter(|_| is_own) {
            return one(words, "the variable CC");
        }
        let cross = format!("{name}-linux-gnu-gcc");
        let names = if is_own { direct::COMPILERS.to_vec() } else { vec![cross.as_str()] };
        Self {
            words: names.iter().map(|name| vec![(*name).to_owned()]).collect(),
            tried: format!("{} on PATH", names.join(", ")),
            advice: format!(
                "install one (on Debian the packages {}), name one by --linker or CHIPDOCK_LINKER, or write an archive (-o \
                 OUT.tar) and link it where there is one",
                packages(machine)
            ),
        }
    }
}

pub(super) fn unwritable(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("the files of a library could not be written: {error}"))
        .hint("let TMPDIR name a folder that can be written")
}

/// Links a library, in a private folder that is removed afterwards.
pub(super) fn library(host: &Host, parts: &Parts, options: &ExportOptions) -> Result<Vec<u8>, Error> {
    let candidates = Candidates::of(host, parts.machine, options);
    let folder = Scratch::new("export").map_err(|error| unwritable(&error))?;
    for (name, bytes) in &parts.files {
        folder.write(name, bytes).map_err(|error| unwritable(&error))?;
    }
    let is_own = machine_name(parts.machine) == std::env::consts::ARCH;
    if is_own && !RUNTIME_OBJECT.is_empty() {
        folder.write(COMPILED, RUNTIME_OBJECT).map_err(|error| unwritable(&error))?;
    }
    let named = NamedLinkers::of(&host.0.environment);
    let linker = named.direct.as_ref().filter(|_| is_own && options.linker.is_none());
    if let Some(linker) = linker
        && let Some(bytes) = direct::link(&folder, linker, parts)?
        && let Ok(bytes) = check(bytes, &[linker.display().to_string()], parts.machine)
    {
        return Ok(bytes);
    }
    for words in &candidates.words {
        let Some(ended) = link(&folder, words, parts.machine)? else { continue };
        if !ended.status.success() {
            return Err(refused(words, &ended, parts.machine));
        }
        let bytes = folder.read(OUTPUT, ARTIFACT_BYTES_MAX * 2).map_err(|error| {
            let message = format!("`{}` ended with success, and its library: {error}", words.join(" "));
            Error::new(ErrorKind::Io, message)
        })?;
        return check(bytes, words, parts.machine);
    }
    let message = format!(
        "expected a C compiler that links for {}, found none: tried {}",
        machine_name(parts.machine),
        candidates.tried
    );
    Err(Error::new(ErrorKind::Unavailable, message).hint(candidates.advice))
}

/// Links by a compiler, with the run time that is compiled already if that is for the machine;
/// `None` if there is no such program. The text is compiled where the object does not link, as with
/// an older C library than this host was built with, and where the compiler has arguments of its
/// own, which are for all of the library.
fn link(folder: &Scratch, words: &[String], machine: u16) -> Result<Option<Output>, Error> {
    let is_own = machine_name(machine) == std::env::consts::ARCH;
    if is_own && words.len() == 1 && !RUNTIME_OBJECT.is_empty() {
        let ended = run(folder, words, &["-DCHIPDOCK_RUNTIME_IS_COMPILED", COMPILED])?;
        if ended.as_ref().is_none_or(|ended| ended.status.success()) {
            return Ok(ended);
        }
    }
    run(folder, words, &[])
}

/// Runs a compiler with further arguments; `None` if there is no such program.
fn run(folder: &Scratch, words: &[String], further: &[&str]) -> Result<Option<Output>, Error> {
    let Some((program, own)) = words.split_first() else { return Ok(None) };
    let exports = format!("-Wl,--version-script={EXPORTS}");
    let arguments = own.iter().map(String::as_str).chain(ARGUMENTS.iter().copied());
    let files = [exports.as_str(), "-o", OUTPUT, SOURCE, OBJECT];
    let arguments: Vec<OsString> = arguments
        .chain(files)
        .chain(further.iter().copied())
        .chain(LIBRARIES.iter().copied())
        .map(OsString::from)
        .collect();
    match folder.run(OsStr::new(program), &arguments) {
        Ok(ended) => Ok(Some(ended)),
        Err(error) if error.kind() == IoKind::NotFound => Ok(None),
        Err(error) => Err(Error::new(
            ErrorKind::Unavailable,
            format!("the C compiler {program} could not be run: {error}"),
        )),
    }
}

/// Checks that the library is one for the machine: a compiler for another machine may succeed.
fn check(bytes: Vec<u8>, words: &[String], machine: u16) -> Result<Vec<u8>, Error> {
    let half = |at: usize| bytes.get(at..at + 2).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let found = (bytes.starts_with(&elf::ELFMAG), half(16), half(18));
    if found == (true, Some(elf::ET_DYN), Some(machine)) {
        return Ok(bytes);
    }
    let message = format!(
        "expected `{}` to make a shared library for {}, found a file of {} bytes that is none",
        words.join(" "),
        machine_name(machine),
        bytes.len()
    );
    Err(Error::new(ErrorKind::Unavailable, message).hint("name a C compiler for that machine by --linker"))
}

/// The error of a compiler that did not link: an unknown C function is the kernel's, another
/// machine the compiler's.
fn refused(words: &[String], ended: &Output, machine: u16) -> Error {
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let unknown = |line: &str| {
        let name =
            line.split_once("undefined reference to ").or_else(|| line.split_once("undefined symbol: "))?.1;
        Some(name.trim_matches(|c: char| c == '`' || c == '\'' || c.is_whitespace()).to_owned())
    };
    if let Some(name) = stderr.lines().find_map(unknown) {
        let message = format!("the kernel calls the C function `{name}`, which the C library does not have");
        return Error::new(ErrorKind::Value, message).hint(
            "write an archive (-o OUT.tar) or an object (-o OUT.o), and link it with the library that has it",
        );
    }
    let mut lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.dedup();
    lines.truncate(4);
    let message = format!(
        "`{}` did not link the library for {} ({}): {}",
        words.join(" "),
        machine_name(machine),
        ended.status,
        lines.join("; ")
    );
    Error::new(ErrorKind::Unavailable, message).hint(
        "expected gcc or clang for that machine, with the headers of its C library (on Debian libc6-dev)",
    )
}
