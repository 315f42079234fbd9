//! `module.load.c`: compiles the source of an artifact and opens the result, or delivers it as an object file for linkers
//! (interface `object` 1).
//!
//! A library is never closed: its functions may be on the stack of some thread, and a host that drops a module cannot
//! know. Each loaded module therefore keeps its code (some tens of kilobytes) until the process ends. Its files are
//! removed as soon as it is open.

use std::collections::HashMap;

use chipdock_plugin_api::abi::{CHIPDOCK_DEVICE_CPU, ChipdockEnv};
use chipdock_plugin_api::kit::{ArtifactKind, PackedFunction, PackedModule};
use chipdock_plugin_api::object_code::Objects;
use chipdock_plugin_api::source::SOURCE;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, HostRef, Module, ModuleLoader, Verdict,
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

/// A compiled module. The library has a file, and so an environment, of its own (X.5).
pub(crate) type CModule = PackedModule<Env>;

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// The error for a compiled library that could not be opened: a mistake in the kernel, or a fault of the machine.
fn not_opened(error: &libloading::Error) -> Error {
    // The loader's message is in the source of the error.
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
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
        // SAFETY: the library was compiled from a source that has no constructors, and its path is new.
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

/// Compiles and opens a source.
///
/// Compiled code calls through `env`, which the module and its functions keep.
pub(crate) fn load(host: HostRef, index: &Value, source: &str, env: Env) -> Result<CModule, Error> {
    let functions = ARTIFACT.functions(index)?;
    let library = opened(host, source, &Options::from_index(index))?;
    let mut found = HashMap::new();
    let result = (|| {
        // SAFETY: target c writes this variable with this type into every source that has functions to call.
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
        Ok(())
    })();
    // Its functions must stay valid even after the module is dropped, so the library is never closed.
    std::mem::forget(library);
    // SAFETY: functions that target c wrote with the packed convention, of a library that stays open.
    result.map(|()| unsafe { CModule::new(found, env) })
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
        Ok(Box::new(load(self.0, &index, source_of(artifact)?, env)?))
    }
}

fn source_of<'a>(artifact: &Artifact<'a>) -> Result<&'a str, Error> {
    core::str::from_utf8(artifact.section(SOURCE)?.data)
        .map_err(|error| ARTIFACT.error(format_args!("the source is not UTF-8: {error}")))
}

impl Objects for CLoader {
    fn object(&self, artifact: &Artifact<'_>) -> Result<Vec<u8>, Error> {
        let index = ARTIFACT.index(artifact)?;
        ARTIFACT.functions(&index)?;
        let cache = cache::of_host(self.0)?;
        compiler::object(self.0, source_of(artifact)?, &Options::from_index(&index), cache.as_ref())
    }
}
