//! Links by the linker itself (EXPORT-X7), which takes a third of the time of a compiler that
//! starts it.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chipdock_plugin_api::files::scratch::Scratch;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object as _, ObjectSymbol as _};

use super::link::{OUTPUT, unwritable};
use super::parts::{COMPILED, EXPORTS, JOINT, OBJECT, Parts, RUNTIME_OBJECT};
use crate::bounds::ARTIFACT_BYTES_MAX;
use crate::environment::Environment;
use crate::error::Error;
use crate::library::ENVIRONMENT;

/// The linker, beside the compiler that would start it.
const LINKER: &str = "ld";
/// Names of the compilers, in the order in which they are tried.
pub(super) const COMPILERS: &[&str] = &["cc", "gcc", "clang"];
/// Arguments of the linker, those that a compiler passes on and those that it adds itself.
const ARGUMENTS: &[&str] = &[
    "-shared",
    "-Bsymbolic",
    "-z",
    "defs",
    "-z",
    "noexecstack",
    "--as-needed",
    "--hash-style=gnu",
    "--build-id",
    "--eh-frame-hdr",
];
/// Variables by which compilers choose another linker, or other libraries.
const VARIABLES: &[&str] =
    &["COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "CCC_OVERRIDE_OPTIONS", "SDKROOT"];

/// Returns the linker of the compiler that is found first, if it is in the same folder and the
/// first of that name: the two are then of one tool chain.
pub(super) fn linker(environment: &Environment) -> Option<PathBuf> {
    if VARIABLES.iter().any(|name| environment.variable(name).is_some()) {
        return None;
    }
    let path = environment.variable("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    // What a folder holds that is found from the current one depends on where that is.
    if folders.iter().any(|folder| !folder.is_absolute()) {
        return None;
    }
    let compiler = COMPILERS.iter().find_map(|name| folder_of(&folders, name))?;
    let linker = folder_of(&folders, LINKER)?;
    (compiler == linker).then(|| linker.join(LINKER))
}

fn folder_of<'a>(folders: &'a [PathBuf], name: &str) -> Option<&'a Path> {
    let is_program = |folder: &&PathBuf| {
        let status = folder.join(name).metadata();
        status.is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
    };
    folders.iter().find(is_program).map(PathBuf::as_path)
}

/// Returns true if an object has symbols of other files besides the environment: the library of
/// mathematics may have them.
fn needs_more(object: &[u8]) -> bool {
    let Ok(file) = ElfFile64::<LittleEndian>::parse(object) else { return true };
    let known = ["", ENVIRONMENT, "_GLOBAL_OFFSET_TABLE_"];
    file.symbols()
        .any(|symbol| symbol.is_undefined() && symbol.name().map_or(true, |name| !known.contains(&name)))
}

/// Links the parts; `None` where that does not go, for whatever reason: a compiler then links, and
/// says why it cannot.
///
/// # Errors
///
/// `IoError`: the files cannot be written.
pub(super) fn link(folder: &Scratch, linker: &Path, parts: &Parts) -> Result<Option<Vec<u8>>, Error> {
    let Some(joint) = parts.joint.as_ref().filter(|_| !RUNTIME_OBJECT.is_empty()) else { return Ok(None) };
    folder.write(JOINT, joint).map_err(|error| unwritable(&error))?;
    let kernels = parts.files.iter().find(|(name, _)| *name == OBJECT);
    let exports = format!("--version-script={EXPORTS}");
    let files = [exports.as_str(), "-o", OUTPUT, JOINT, OBJECT, COMPILED];
    let libraries: &[&str] =
        if kernels.is_none_or(|(_, object)| needs_more(object)) { &["-lm", "-lc"] } else { &["-lc"] };
    let arguments = ARGUMENTS.iter().chain(&files).chain(libraries).map(OsString::from);
    let arguments: Vec<OsString> = arguments.collect();
    let is_linked = folder.run(OsStr::new(linker), &arguments).is_ok_and(|ended| ended.status.success());
    Ok(is_linked.then(|| folder.read(OUTPUT, ARTIFACT_BYTES_MAX * 2).ok()).flatten())
}
