//! `module.load.c`: compiles the source of an artifact and opens the result, or delivers it as an
//! object file for linkers (interface `object` 1).
//!
//! * **CLOAD-1 Lifetime.** A library stays open as long as its module or a function of it: who
//!   calls a function keeps it. Then it is closed, and nothing of it is left in the process. Its
//!   environment is released after that. Its files are removed as soon as it is open.
//! * **CLOAD-3 Code.** Where the artifact has a section `code`, the library that the hook
//!   `c.compile_source` made, that library is opened and no compiler runs. It is no object for a
//!   linker.
//! * **CLOAD-2 Processor.** Code that may use instructions which this processor does not have is
//!   refused (`Unsupported`) before any of it runs, with their names: the compiler says which,
//!   whatever it was told.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::fs::{self, File};
use std::io::Read as _;
use std::sync::Arc;

use chipdock_plugin_api::abi::{CHIPDOCK_DEVICE_CPU, ChipdockEnv};
use chipdock_plugin_api::cpu::CpuDeviceApi;
use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::kit::{ArtifactKind, PackedFunction, PackedModule};
use chipdock_plugin_api::object_code::{Objects, needs};
use chipdock_plugin_api::process::temporary_folder;
use chipdock_plugin_api::source::{CODE, SOURCE};
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, DeviceApi as _, Env, Error, ErrorKind, HostRef, Module, ModuleLoader, Verdict,
    attribute,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde_json::Value;

use crate::cache;
use crate::codegen::KIND;
use crate::compiler::{self, Compiled, Options};

/// The loader of module kind `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CLoader(pub(crate) HostRef);

/// The artifacts that the loader accepts.
const ARTIFACT: ArtifactKind = ArtifactKind { kind: KIND, formats: &["c"] };

/// A compiled module: its functions keep its library open (CLOAD-1) and its environment alive
/// (M.4), dropped in this order. The library has a file, and so an environment, of its own (X.5).
pub(crate) type CModule = PackedModule<(Arc<Library>, Env)>;

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// Returns the number of this process's memory maps and the greatest that Linux allows, where
/// hardly one more fits.
fn maps_used_up() -> Option<(usize, usize)> {
    const NEARLY: usize = 16;
    let most: usize = fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()?;
    let mut maps = File::open("/proc/self/maps").ok()?;
    // A buffer of its own size: a large one would need a map.
    let (mut buffer, mut count) = ([0_u8; 4096], 0);
    loop {
        match maps.read(&mut buffer).ok()? {
            0 => break,
            size => count += buffer[..size].iter().filter(|byte| **byte == b'\n').count(),
        }
    }
    (count + NEARLY > most).then_some((count, most))
}

/// The error for a compiled library that could not be opened: a mistake in the kernel, or a fault
/// of the machine.
pub(crate) fn not_opened(error: &libloading::Error) -> Error {
    // The loader's message is in the source of the error.
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    if let Some((count, most)) = maps_used_up() {
        let message = format!(
            "the library that the C compiler made could not be opened: {why}; this process has {count} memory maps, of {most} that \
             it may have, and each loaded module of target c keeps five: let go of modules that are no longer called, or raise \
             vm.max_map_count"
        );
        return Error::new(ErrorKind::OUT_OF_MEMORY, message);
    }
    match why.split_once("undefined symbol: ") {
        Some((_, symbol)) => value_error(format!(
            "the kernel calls the C function `{symbol}`, which no library of this process has; expected one of the C \
             library or of what the program links"
        )),
        None => Error::new(
            ErrorKind::IO,
            format!(
                "the library that the C compiler made could not be opened: {why}; if its folder is mounted noexec, let \
                 TMPDIR name another"
            ),
        ),
    }
}

/// The library of a source, compiled now or earlier. Its files are removed before this returns.
fn opened(host: HostRef, source: &str, options: &Options) -> Result<Library, Error> {
    let open = |compiled: &Compiled| {
        // SAFETY: the library was compiled from a source that has no constructors, and its path is
        // new.
        unsafe { Library::open(Some(&compiled.library), RTLD_NOW | RTLD_LOCAL) }
    };
    let cache = cache::of_host(host)?;
    let compiled = compiler::compile(host, source, options, cache.as_ref())?;
    match open(&compiled) {
        // CLIB-O3: the cached library cannot be used here.
        Err(_) if compiled.is_kept => open(&compiler::compile(host, source, options, None)?),
        other => other,
    }
    .map_err(|error| not_opened(&error))
}

/// The library that the hook `c.compile_source` made, opened from a file of its own, which is
/// removed before this returns.
fn opened_code(code: &[u8]) -> Result<Library, Error> {
    let failed = |error: std::io::Error| {
        let message = format!("the library that c.compile_source made could not be written: {error}");
        Error::new(ErrorKind::IO, message)
    };
    let folder = Scratch::within(&temporary_folder(), KIND).map_err(failed)?;
    let name = folder.file_name("so");
    folder.write(&name, code).map_err(failed)?;
    let path = folder.library(&name).map_err(failed)?;
    // SAFETY: the program brought the compiler of this library, as it brings its own code, and the
    // path is new.
    unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| not_opened(&error))
}

/// Compiles and opens a source.
///
/// Compiled code calls through `env`, which the module and its functions keep.
pub(crate) fn load(host: HostRef, index: &Value, source: &str, env: Env) -> Result<CModule, Error> {
    let options = Options::from_index(index);
    loaded(host, index, env, || opened(host, source, &options))
}

/// Opens the library of a module with those functions.
fn loaded(
    host: HostRef,
    index: &Value,
    env: Env,
    open: impl FnOnce() -> Result<Library, Error>,
) -> Result<CModule, Error> {
    let functions = ARTIFACT.functions(index)?;
    let library = open()?;
    check_processor(host, &library)?;
    let mut found = HashMap::new();
    // SAFETY: target c writes this variable with this type into every source that has functions to
    // call.
    let place = unsafe { library.get::<*mut *const ChipdockEnv>(b"__chipdock_env\0") };
    if let Ok(place) = place {
        // SAFETY: no other code knows the library yet.
        unsafe { **place = env.as_ptr() };
    }
    for (name, symbol) in functions {
        // SAFETY: the symbol is a function that target c wrote with the packed convention.
        let address = unsafe { library.get::<PackedFunction>(symbol.as_bytes()) }.map_err(|error| {
            value_error(format!(
                "the index has a function {name} as {symbol}, which the source has not: {error}"
            ))
        })?;
        found.insert(name.to_owned(), *address);
    }
    // SAFETY: functions that target c wrote with the packed convention, of a library that is kept
    // open.
    Ok(unsafe { CModule::new(found, (Arc::new(library), env)) })
}

/// Refuses code for another processor (CLOAD-2).
fn check_processor(host: HostRef, library: &Library) -> Result<(), Error> {
    // SAFETY: `needs::c_text` defines the symbol as an array of characters, whose address is that
    // of the symbol.
    let symbol = unsafe { library.get::<*const c_char>(format!("{}\0", needs::SYMBOL).as_bytes()) };
    let Ok(symbol) = symbol else { return Ok(()) };
    // SAFETY: the text of an open library, which ends with a zero.
    let text = unsafe { CStr::from_ptr(symbol.as_raw_ptr().cast()) };
    let text = text.to_string_lossy();
    let missing = needs::missing(&text);
    if missing.is_empty() {
        return Ok(());
    }
    let name = CpuDeviceApi::new(host).attribute(0, attribute::DEVICE_NAME).ok().flatten();
    let name = name.and_then(|name| name.to::<String>().ok()).unwrap_or_else(|| "unknown".to_owned());
    let message = format!(
        "the code needs {}, which this machine's processor (\"{name}\") does not have; compile for a `march` of target c that it has, \
         or for none",
        missing.join(", ")
    );
    Err(Error::new(ErrorKind::UNSUPPORTED, message))
}

impl ModuleLoader for CLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        ARTIFACT.check(artifact, |_| {
            if device.device_type == CHIPDOCK_DEVICE_CPU {
                return Ok(Verdict::Runs);
            }
            Ok(Verdict::Unsupported(format!(
                "expected the cpu (device type {CHIPDOCK_DEVICE_CPU}), found device type {}",
                device.device_type
            )))
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = ARTIFACT.index(artifact)?;
        match code_of(artifact) {
            Some(code) => Ok(Box::new(loaded(self.0, &index, env, || opened_code(code))?)),
            None => Ok(Box::new(load(self.0, &index, source_of(artifact)?, env)?)),
        }
    }
}

fn source_of<'a>(artifact: &Artifact<'a>) -> Result<&'a str, Error> {
    core::str::from_utf8(artifact.section(SOURCE)?.data)
        .map_err(|error| ARTIFACT.error(format_args!("the source is not UTF-8: {error}")))
}

/// The library that the hook `c.compile_source` made, where there is one.
fn code_of<'a>(artifact: &Artifact<'a>) -> Option<&'a [u8]> {
    artifact.sections().find(|section| section.name == CODE).map(|section| section.data)
}

impl Objects for CLoader {
    fn object(&self, artifact: &Artifact<'_>) -> Result<Vec<u8>, Error> {
        let index = ARTIFACT.index(artifact)?;
        if code_of(artifact).is_some() {
            let message = "the artifact has a library that c.compile_source made, and a linker takes an object: build it without \
                           that function";
            return Err(Error::new(ErrorKind::UNSUPPORTED, message));
        }
        ARTIFACT.functions(&index)?;
        let cache = cache::of_host(self.0)?;
        compiler::object(self.0, source_of(artifact)?, &Options::from_index(&index), cache.as_ref())
    }
}
