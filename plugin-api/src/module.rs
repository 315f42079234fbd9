//! Safe traits for modules and their loaders, and their shims.

use core::ffi::c_void;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi as abi;
use chipdock_abi::{
    ChipdockAny, ChipdockArtifact, ChipdockDevice, ChipdockEnv, ChipdockInterface, ChipdockModule,
    ChipdockModuleHandle, ChipdockModuleLoader, ChipdockSection, ChipdockStr,
};

use crate::device_api::not_null;
use crate::host::{write_any, write_out};
use crate::interface::HandedOut;
use crate::session::{Registered, Session};
use crate::text::{bytes_in, str_in};
use crate::{Any, Error, ErrorKind, Function, HostRef, Interface, Str, Stream, extension};

/// An artifact, borrowed for the call.
#[derive(Clone, Copy)]
pub struct Artifact<'a> {
    index_json: &'a str,
    sections: &'a [ChipdockSection],
}

/// One section of an artifact, or of a build request.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// The section's name, unique within the artifact or the request.
    pub name: &'a str,
    /// `code`, `constants`, `debug` or `source`.
    pub kind: &'a str,
    /// The alignment of `data`, in bytes.
    pub alignment_bytes: u64,
    /// The bytes.
    pub data: &'a [u8],
}

impl<'a> Artifact<'a> {
    /// Reads an artifact of the boundary.
    ///
    /// # Errors
    ///
    /// `ValueError` for null pointers and text that is not UTF-8, `Unsupported` for an unknown
    /// extension that is mandatory (P3.16).
    ///
    /// # Safety
    ///
    /// * M.3: the artifact and all that it points to live for `'a`.
    pub unsafe fn from_raw(raw: &'a ChipdockArtifact) -> Result<Self, Error> {
        // SAFETY: M.3.
        unsafe {
            extension::check(raw.next, "the artifact")?;
            let sections = sections_in(raw.sections, raw.sections_count)?;
            Ok(Self { index_json: str_in(raw.index_json, "the artifact's index")?, sections })
        }
    }

    /// Returns the index: JSON with `module_kind`, `format` and `functions`.
    #[must_use]
    pub fn index_json(&self) -> &'a str {
        self.index_json
    }

    /// Returns the sections, in order.
    pub fn sections(&self) -> impl Iterator<Item = Section<'a>> + use<'a> {
        // SAFETY: M.3; checked when the artifact was read.
        self.sections.iter().map(|section| unsafe { section_in(section) })
    }

    /// Returns the section of that name.
    ///
    /// # Errors
    ///
    /// `NotFound` with the names that exist.
    pub fn section(&self, name: &str) -> Result<Section<'a>, Error> {
        self.sections().find(|section| section.name == name).ok_or_else(|| {
            let names: Vec<_> = self.sections().map(|section| section.name).collect();
            let message = format!("expected a section `{name}`, found {names:?}: build the artifact again");
            Error::new(ErrorKind::NOT_FOUND, message)
        })
    }
}

/// Reads the sections of an artifact or a build request.
///
/// # Errors
///
/// `ValueError` for null pointers and text that is not UTF-8.
///
/// # Safety
///
/// * M.3 or C.3: `count` sections, and all that they point to, live for `'a`.
pub(crate) unsafe fn sections_in<'a>(
    sections: *const ChipdockSection,
    count: u64,
) -> Result<&'a [ChipdockSection], Error> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    crate::ensure!(
        count == 0 || !sections.is_null(),
        ErrorKind::VALUE_ERROR,
        "expected {count} sections, found a null pointer"
    );
    let sections = match count {
        0 => &[],
        // SAFETY: there are `count` sections that live for `'a`, as this function requires.
        _ => unsafe { core::slice::from_raw_parts(sections, count) },
    };
    for section in sections {
        // SAFETY: the sections and all that they point to live for `'a`, as this function requires.
        unsafe {
            str_in(section.name, "a section's name")?;
            str_in(section.kind, "a section's kind")?;
        }
        crate::ensure!(
            section.size_bytes == 0 || !section.data.is_null(),
            ErrorKind::VALUE_ERROR,
            "a section of {} bytes is null",
            section.size_bytes
        );
    }
    Ok(sections)
}

/// Reads one of the sections that [`sections_in`] has checked.
///
/// # Safety
///
/// * As for [`sections_in`].
pub(crate) unsafe fn section_in<'a>(section: &ChipdockSection) -> Section<'a> {
    let data = ChipdockStr { data: section.data.cast(), size: section.size_bytes as usize };
    // SAFETY: all that `section` points to lives for `'a`, as this function requires.
    unsafe {
        Section {
            name: core::str::from_utf8(bytes_in(section.name)).unwrap_or_default(),
            kind: core::str::from_utf8(bytes_in(section.kind)).unwrap_or_default(),
            alignment_bytes: section.alignment_bytes,
            data: bytes_in(data),
        }
    }
}

/// The environment of compiled code, to which the variable `__chipdock_env` is set to point.
///
/// A loader and what it makes of an artifact hold clones: a module, and each of its functions, for
/// as long as they may be called. Dropping the last clone releases the environment (M.4).
#[derive(Clone, Debug)]
pub struct Env(Arc<Lent>);

/// An environment that is released when this is dropped.
#[derive(Debug)]
struct Lent {
    host: HostRef,
    raw: *const ChipdockEnv,
}

// SAFETY: a table whose functions may be called from any thread.
unsafe impl Send for Lent {}
// SAFETY: a table whose functions may be called from any thread.
unsafe impl Sync for Lent {}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: M.4, called once, by the last user.
            unsafe { ((*self.raw).release)(self.raw) };
        }
    }
}

impl Env {
    /// Takes over an environment, from its table.
    ///
    /// # Safety
    ///
    /// * M.4: `raw` is null, or lives until its `release` is called, which nobody else does; it
    ///   raises its errors with `host`.
    #[must_use]
    pub unsafe fn new(host: HostRef, raw: *const ChipdockEnv) -> Self {
        Self(Arc::new(Lent { host, raw }))
    }

    /// Returns the table, for `__chipdock_env`. It is valid as long as a clone of this is kept.
    #[must_use]
    pub fn as_ptr(&self) -> *const ChipdockEnv {
        self.0.raw
    }

    /// Returns the host with which errors are raised.
    #[must_use]
    pub fn host(&self) -> HostRef {
        self.0.host
    }

    /// Returns the id of the device of that type that is active on this thread, on which a kernel
    /// runs: 0 if none was made active, or without an environment.
    ///
    /// # Errors
    ///
    /// The host's error: `Unavailable` after it was shut down.
    pub fn current_device(&self, device_type: i32) -> Result<i32, Error> {
        let raw = self.0.raw;
        if raw.is_null() {
            return Ok(0);
        }
        let mut id = 0;
        // SAFETY: M.4, the environment lives; its functions may be called from any thread; a place
        // for the answer.
        let status = unsafe { ((*raw).current_device)(raw, device_type, &mut id) };
        self.0.host.check(status, || "`current_device` of the environment".to_owned()).map(|()| id)
    }

    /// Returns the stream that is active on this thread for a device, on which a kernel is queued
    /// (D.18).
    ///
    /// # Errors
    ///
    /// The host's error: the host does not know the device, or `Unavailable` after it was shut
    /// down.
    pub fn current_stream(&self, device: ChipdockDevice) -> Result<Stream, Error> {
        let raw = self.0.raw;
        if raw.is_null() {
            return Ok(Stream::DEFAULT);
        }
        let mut stream = core::ptr::null_mut();
        // SAFETY: M.4, the environment lives; its functions may be called from any thread; a place
        // for the answer.
        let status =
            unsafe { ((*raw).current_stream)(raw, device.device_type, device.device_id, &mut stream) };
        let checked = self.0.host.check(status, || "`current_stream` of the environment".to_owned());
        checked.map(|()| Stream::from_raw(stream))
    }
}

/// A loader's verdict on an artifact for a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The artifact runs on the device.
    Runs,
    /// The artifact runs after it is compiled again, for the given reason.
    Recompile(String),
    /// The artifact does not run, for the given reason.
    Unsupported(String),
}

/// A loaded module.
///
/// Every method may be called from any thread at once. Functions stay usable after their module is
/// dropped: they keep what they need.
pub trait Module: Send + Sync + 'static {
    /// Returns the function of that name, or `None` if there is none. The name is the IrModule's.
    ///
    /// # Errors
    ///
    /// * The function exists and cannot be used: the reason.
    fn function(&self, name: &str) -> Result<Option<Function>, Error>;

    /// Makes the interface of that name and version, once for each module; `None` by default
    /// (P3.12).
    fn query(&self, name: &str, version: u32) -> Option<Interface> {
        let _ = (name, version);
        None
    }
}

/// A module loader, which makes artifacts runnable; its key is `module.load.<kind>`.
///
/// Every method may be called from any thread at once.
pub trait ModuleLoader: Send + Sync + 'static {
    /// Checks whether the artifact would run on `device`, without loading it. The default verdict
    /// is [`Verdict::Runs`].
    ///
    /// # Errors
    ///
    /// * `ValueError`: the artifact cannot be read. An artifact that does not fit is a verdict, not
    ///   an error.
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        let _ = (artifact, device);
        Ok(Verdict::Runs)
    }

    /// Makes the artifact runnable. Compiled code reaches the host only through `env`, which the
    /// module and each of its functions keep.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the artifact cannot be read, or is of another kind.
    /// * `Unavailable`: something that it needs is missing; the message names what was tried and
    ///   what provides it.
    /// * `OutOfMemory`, `IoError`: nothing is left behind, including files.
    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error>;
}

type Loader = Registered<dyn ModuleLoader>;
type Loaded = Registered<LoadedModule>;

/// A module with the interfaces that were requested of it, which live as long as the module.
struct LoadedModule {
    module: Box<dyn Module>,
    interfaces: Mutex<HashMap<(String, u32), Option<HandedOut>>>,
}

impl LoadedModule {
    fn interface(&self, session: &Arc<Session>, name: &str, version: u32) -> ChipdockInterface {
        let mut interfaces = self.interfaces.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || self.module.query(name, version).map(|interface| HandedOut::new(interface, session));
        let found = interfaces.entry((name.to_owned(), version)).or_insert_with(make);
        found.as_ref().map_or(ChipdockInterface::NONE, HandedOut::raw)
    }
}

unsafe extern "C" fn destroy_loader(self_: *mut c_void) {
    // SAFETY: M.1, called once, last.
    unsafe { Loader::destroy(self_) };
}

unsafe extern "C" fn verdict(
    self_: *mut c_void,
    artifact: *const ChipdockArtifact,
    device: ChipdockDevice,
    out_verdict: *mut i32,
    out_reason: *mut ChipdockAny,
) -> i32 {
    // SAFETY: M.2 and M.3, a registered `self_`, a live artifact and places to write to.
    unsafe {
        Loader::enter(self_, |loader| {
            let artifact = Artifact::from_raw(not_null(artifact, "the artifact")?)?;
            crate::ensure!(!out_reason.is_null(), ErrorKind::VALUE_ERROR, "the place for the reason is null");
            let (verdict, reason) = match loader.check(&artifact, device)? {
                Verdict::Runs => (abi::CHIPDOCK_ARTIFACT_OK, Any::NONE),
                Verdict::Recompile(why) => (abi::CHIPDOCK_ARTIFACT_RECOMPILE, Str::new(&why).into_any()),
                Verdict::Unsupported(why) => (abi::CHIPDOCK_ARTIFACT_UNSUPPORTED, Str::new(&why).into_any()),
            };
            write_out(out_verdict, verdict)?;
            write_any(out_reason, reason)
        })
    }
}

unsafe extern "C" fn load(
    self_: *mut c_void,
    artifact: *const ChipdockArtifact,
    env: *const ChipdockEnv,
    out_module: *mut ChipdockModuleHandle,
) -> i32 {
    // SAFETY: M.2 to M.4, a registered `self_`, a live artifact, an environment and a place to
    // write to.
    unsafe {
        // First of all: the environment is released whatever happens.
        let env = Loader::from_raw(self_).map(|loader| Env::new(loader.session().host(), env));
        Loader::enter_registered(self_, |registered| {
            let artifact = Artifact::from_raw(not_null(artifact, "the artifact")?)?;
            crate::ensure!(!out_module.is_null(), ErrorKind::VALUE_ERROR, "the place for the module is null");
            let env = env.ok_or_else(|| Error::new(ErrorKind::VALUE_ERROR, "the loader is null"))?;
            let module = registered.value().load(&artifact, env)?;
            let module = Arc::new(LoadedModule { module, interfaces: Mutex::default() });
            let self_ = Loaded::into_raw(registered.session(), module);
            write_out(out_module, ChipdockModuleHandle { self_, table: &MODULE_TABLE })
        })
    }
}

unsafe extern "C" fn destroy_module(self_: *mut c_void) {
    // SAFETY: M.5, called once, last.
    unsafe { Loaded::destroy(self_) };
}

unsafe extern "C" fn function(self_: *mut c_void, name: ChipdockStr, out_function: *mut ChipdockAny) -> i32 {
    // SAFETY: M.5, a loaded `self_`, a live string and a place to write to.
    unsafe {
        Loaded::enter(self_, |loaded| {
            let name = str_in(name, "the function's name")?;
            write_any(out_function, loaded.module.function(name)?.map_or(Any::NONE, Any::from))
        })
    }
}

unsafe extern "C" fn query(
    self_: *mut c_void,
    name: ChipdockStr,
    version: u32,
    out_interface: *mut ChipdockInterface,
) -> i32 {
    // SAFETY: M.5 and P3.12, a loaded `self_`, a live string and a place to write to.
    unsafe {
        Loaded::enter_registered(self_, |registered| {
            let name = str_in(name, "the interface's name")?;
            write_out(out_interface, registered.value().interface(registered.session(), name, version))
        })
    }
}

/// The table of every module loader that is written in Rust.
pub(crate) static LOADER_TABLE: ChipdockModuleLoader =
    ChipdockModuleLoader { destroy: destroy_loader, verdict, load };

static MODULE_TABLE: ChipdockModule = ChipdockModule { destroy: destroy_module, function, query };
