//! The files from which a library is linked.

use std::collections::BTreeSet;
use std::path::Path;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _};
use serde_json::Value;

use super::options::{DeviceCode, ExportOptions};
use super::{blob, entries, glue};
use crate::compile::artifact::Artifact;
use crate::compile::resolve::TargetContext;
use crate::error::{Error, ErrorKind};
use crate::files::sha256_of_bytes;
use crate::host::Host;
use crate::library::{ARCHIVED_MODULES, Aside, EMBEDDED_KIND, ENVIRONMENT, FUNCTION, LibraryDocument};
use crate::runtime::check_environment;

/// Names of the files, in the order in which they are packed.
pub(super) const OBJECT: &str = "kernels.o";
pub(super) const SOURCE: &str = "library.c";
pub(super) const RUNTIME: &str = "runtime.c";
pub(super) const COMPILED: &str = "runtime.o";
pub(super) const JOINT: &str = "library.o";
pub(super) const HEADER: &str = "chipdock.h";
pub(super) const ABOUT: &str = "library.json";
pub(super) const TREE: &str = ARCHIVED_MODULES;
pub(super) const EXPORTS: &str = "exports.map";

const RUNTIME_TEXT: &str = include_str!("runtime.c");
/// The run time compiled for the machine of this host; empty if `build.rs` could not.
pub(super) const RUNTIME_OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));
const HEADER_TEXT: &str = chipdock_abi::HEADER;

/// The symbols that a library has for others (EXPORT-X2).
const EXPORTS_TEXT: &str =
    "{\n    global: __tvm_ffi_*; __chipdock_env; __chipdock_library;\n    local: *;\n};\n";

/// A file beside the library: its name and its bytes.
pub(super) type AsideFile = Option<(String, Vec<u8>)>;

/// The files of a library, and the machine that it is for.
pub(super) struct Parts {
    /// `e_machine` of its object.
    pub(super) machine: u16,
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
    /// What the text that joins them compiles to, where this host can write it.
    pub(super) joint: Option<Vec<u8>>,
}

impl Parts {
    /// Makes the parts of a library, and the file beside it.
    pub(super) fn of(
        host: &Host,
        artifact: &Artifact,
        name: &str,
        options: &ExportOptions,
    ) -> Result<(Self, AsideFile), Error> {
        // The environment that is built in is of this host's version (X.12).
        check_environment(artifact)?;
        let mut object = host.object(artifact)?;
        let (machine, has_environment) = examine(&object, artifact)?;
        let has_entries = entries::rename(&mut object, artifact.index())?;
        let has_devices = !artifact.imports().is_empty();
        let aside = match options.device_code {
            DeviceCode::Aside if has_devices => Some((aside_name(name, options), artifact.to_bytes()?)),
            _ => None,
        };
        let tree = (has_devices && aside.is_none()).then(|| tree(artifact)).transpose()?;
        let beside = aside.as_ref();
        let beside = beside.map(|(file, bytes)| Aside { file: file.clone(), sha256: sha256_of_bytes(bytes) });
        let document = LibraryDocument::of(artifact, beside);
        let about = serde_json::to_vec(&document).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("description of the library: {error}"))
        })?;
        let glue = glue::Glue {
            artifact,
            devices: devices(host, artifact)?,
            defines_environment: !has_environment,
            document: &document,
            about_bytes: about.len(),
            has_tree: tree.is_some(),
            has_entries,
        };
        let joint = glue.object(machine, &about, tree.as_deref())?;
        let mut files = vec![
            (OBJECT, object),
            (SOURCE, glue.text()?.into_bytes()),
            (RUNTIME, RUNTIME_TEXT.as_bytes().to_vec()),
            (HEADER, HEADER_TEXT.as_bytes().to_vec()),
            (ABOUT, about),
            (EXPORTS, EXPORTS_TEXT.as_bytes().to_vec()),
        ];
        files.extend(tree.map(|tree| (TREE, tree)));
        Ok((Self { machine, files, joint }, aside))
    }
}

/// Returns the name of the file beside a library.
fn aside_name(name: &str, options: &ExportOptions) -> String {
    let beside = || Path::new(name).with_extension(EMBEDDED_KIND).to_string_lossy().into_owned();
    options.aside.clone().unwrap_or_else(beside)
}

fn tree(artifact: &Artifact) -> Result<Vec<u8>, Error> {
    let imports = artifact.imports();
    // Modules that import others share them: together in one file, each is there once.
    if imports.iter().any(|import| !import.imports().is_empty()) {
        return Ok(blob::tree(&[Artifact::bundle(imports.to_vec())?.to_bytes()?]));
    }
    let imports: Result<Vec<Vec<u8>>, Error> = imports.iter().map(|import| import.to_bytes()).collect();
    Ok(blob::tree(&imports?))
}

/// Returns name and number of the device types that the artifact's device code is for.
fn devices(host: &Host, artifact: &Artifact) -> Result<Vec<(String, i32)>, Error> {
    let mut devices: Vec<(String, i32)> = Vec::new();
    for import in artifact.imports() {
        let target: Value = serde_json::from_str(import.target_json()).unwrap_or_default();
        let Some(kind) = target["kind"].as_str() else { continue };
        let found = TargetContext::kind(&*host.0, kind)?;
        let kind = found.ok_or_else(|| host.0.registry.missing(&format!("target.kind.{kind}")))?;
        let device = (kind.device.clone(), host.device_type(&kind)?);
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    Ok(devices)
}

/// The error for an object that its plugin should not have delivered.
pub(super) fn broken_object(kind: &str, why: &str) -> Error {
    Error::new(ErrorKind::BrokenPlugin, format!("the object of module kind \"{kind}\" {why}"))
        .hint("report it to the makers of the plugin")
}

/// Checks the object of an artifact; returns its machine, and true if it has the variable of the
/// environment.
fn examine(object: &[u8], artifact: &Artifact) -> Result<(u16, bool), Error> {
    let kind = &artifact.index().module_kind;
    let broken = |why: String| broken_object(kind, &why);
    if !object.starts_with(&elf::ELFMAG) {
        let message = format!(
            "the object of module kind \"{kind}\" is not an ELF object; libraries are linked for Linux alone"
        );
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("write the object file (-o OUT.o) and link it with the tools of its system"));
    }
    let file =
        ElfFile64::<LittleEndian>::parse(object).map_err(|error| broken(format!("is damaged: {error}")))?;
    let defined: BTreeSet<&str> = file
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    for function in &artifact.index().functions {
        let (name, symbol) = (&function.name, &function.symbol);
        if *symbol != format!("{FUNCTION}{name}") {
            return Err(broken(format!(
                "has function \"{name}\" as `{symbol}`; expected `{FUNCTION}{name}` (X.1)"
            )));
        }
        if !defined.contains(&symbol.as_str()) {
            return Err(broken(format!("has no symbol `{symbol}`, which the artifact's index lists")));
        }
    }
    let machine = file.elf_header().e_machine(LittleEndian);
    Ok((machine, defined.contains(&ENVIRONMENT)))
}
