//! Opens a built file as a module.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chipdock_abi::{CHIPDOCK_TYPE_OBJECT_BEGIN, ChipdockAny, ChipdockDeleter, ChipdockEnv, ChipdockSafeCall};
use chipdock_plugin_api as api;
use chipdock_plugin_api::files::scratch::Scratch;
use chipdock_plugin_api::kit::PackedFunction;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::file::{BLOB, ENVIRONMENT, Embedded, LibraryFile};
use super::own_copy::Changes;
use super::tvm::caller::{Caller, fill_in};
use super::tvm::context::{self, BARRIER};
use super::tvm::ffi::{TvmFfi, VARIABLE};
use super::tvm::module::TvmModule;
use super::tvm::side::tvm_side;
use super::{BuiltFile, Contents, LIBRARY_KIND};
use crate::boundary::guard::{self, Guard};
use crate::boundary::values::{Carried, carried_back};
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind, quoted};
use crate::host::Host;
use crate::log::LogLevel;
use crate::open::image;
use crate::runtime::{EnvState, Made, Module, check_environment};

/// The opened code of a library (LIB-7).
pub(crate) struct LibraryCode {
    /// Symbols of functions, by name.
    symbols: BTreeMap<String, String>,
    /// What a note of a call names.
    label: String,
    opened: Arc<Opened>,
}

/// An open library with the environment of its code.
struct Opened {
    /// `None` only while it is dropped.
    library: Option<Library>,
    /// The library as libtvm_ffi's module, which its code may ask for (LIB-11).
    context: Option<TvmModule>,
    /// Another's library, which may read its `self` and may return objects of its own.
    is_foreign: bool,
    /// What a library that needs libtvm_ffi, or TVM's run time, is called by.
    caller: Option<Caller>,
    /// An object of the library may be alive somewhere.
    stays: AtomicBool,
    /// Released after the library is closed.
    env: Arc<EnvState>,
}

impl Opened {
    /// Returns the host's side, for a library whose functions belong to another: libtvm_ffi's.
    fn home(&self) -> Option<api::HostRef> {
        let caller = self.caller.filter(|caller| caller.tvm_ffi.is_some())?;
        // SAFETY: the table lives as long as the process and keeps the rules of a host.
        Some(unsafe { api::HostRef::new(caller.services.table()) })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let context = self.context.take();
        if *self.stays.get_mut() {
            std::mem::forget(self.library.take());
            std::mem::forget(Arc::clone(&self.env));
        }
        drop(context);
        drop(self.library.take());
    }
}

impl LibraryCode {
    /// Opens a library: rules LIB-6 and LIB-7.
    fn open(path: &Path, file: &LibraryFile, env: Arc<EnvState>, caller: Caller) -> Result<Self, Error> {
        let (library, context) = opened(path, file, caller)?;
        fill_in(caller.tvm_ffi, &library, file.filled_in())?;
        if file.has_environment() {
            let name = format!("{ENVIRONMENT}\0");
            // SAFETY: X.3, a library that exports this variable exports it with this type.
            let place = unsafe { library.get::<*mut *const ChipdockEnv>(name.as_bytes()) };
            let place = place.map_err(|error| not_opened(&error))?;
            // SAFETY: X.4, no function of the copy was called yet, and nobody else has it.
            unsafe { **place = env.table() };
        }
        let document = file.document();
        let symbols = match document {
            None => file.functions().map(|(name, symbol)| (name.to_owned(), symbol.to_owned())).collect(),
            Some(_) => {
                let index = file.artifact().index().functions.iter();
                let main = file.functions().filter(|(name, _)| *name == "main");
                let main = main.map(|(name, symbol)| (name.to_owned(), symbol.to_owned()));
                main.chain(index.map(|info| (info.name.clone(), info.symbol.clone()))).collect()
            }
        };
        let label = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let asks = caller.tvm_ffi.is_some() || asks_for_run_time(file).next().is_some();
        let opened = Opened {
            library: Some(library),
            context,
            is_foreign: document.is_none(),
            caller: asks.then_some(caller),
            stays: AtomicBool::new(false),
            env,
        };
        Ok(Self { symbols, label, opened: Arc::new(opened) })
    }

    /// Returns the file's name.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Returns the library as libtvm_ffi's module, where it is one.
    pub(crate) fn context(&self) -> Option<&TvmModule> {
        self.opened.context.as_ref()
    }

    /// Returns true if it has a function of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }

    /// Returns the function of that name.
    pub(crate) fn function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        let (Some(symbol), Some(library)) = (self.symbols.get(name), &self.opened.library) else {
            return Ok(None);
        };
        let text = format!("{symbol}\0");
        // SAFETY: LIB-3, an exported function under such a symbol has the packed convention.
        let call = unsafe { library.get::<PackedFunction>(text.as_bytes()) };
        let call = *call.map_err(|error| not_opened(&error))?;
        let opened = Arc::clone(&self.opened);
        if !opened.is_foreign {
            // SAFETY: X.1 and X.2, and the code stays as long as a clone of `opened`.
            return Ok(Some(unsafe { api::Function::from_safe_call(ChipdockSafeCall(call), opened) }));
        }
        let foreign = Box::into_raw(Box::new(Foreign { call, opened })).cast();
        // SAFETY: `call_foreign` passes the arguments on with null as `self`; the box is given up.
        let function = unsafe {
            api::Function::from_parts(
                foreign,
                ChipdockSafeCall(call_foreign),
                ChipdockDeleter(delete_foreign),
            )
        };
        Ok(Some(function))
    }
}

/// A function of a library of others (LIB-8).
struct Foreign {
    call: PackedFunction,
    opened: Arc<Opened>,
}

unsafe extern "C" fn call_foreign(
    self_: *mut c_void,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
) -> i32 {
    // SAFETY: the box of `LibraryCode::function`, alive as long as the function object.
    let foreign = unsafe { &*self_.cast::<Foreign>() };
    let call = |args: *const ChipdockAny| {
        // SAFETY: the parameters of a packed call, passed on.
        let call = || unsafe { (foreign.call)(std::ptr::null_mut(), args, num_args, result) };
        match foreign.opened.caller {
            Some(caller) => caller.call(call),
            None => call(),
        }
    };
    let Some(home) = foreign.opened.home() else {
        let status = call(args);
        // SAFETY: the result of the call.
        unsafe { foreign.keep(status, result) };
        return status;
    };
    // SAFETY: borrowed for the call, V.10.
    let views = unsafe { api::AnyView::slice_from_raw(args, num_args) }.unwrap_or_default();
    let status = match Carried::of(views, home, tvm_side()) {
        Some(carried) => call(carried.views(views).as_ptr().cast()),
        None => call(args),
    };
    // SAFETY: the result of the call, a value of ours where it succeeded.
    unsafe {
        foreign.keep(status, result);
        if status == 0
            && let Some(carried) = carried_back(api::AnyView::from_raw(*result), tvm_side(), home)
        {
            drop(api::Any::from_raw(std::mem::replace(&mut *result, carried.into_raw())));
        }
    }
    status
}

impl Foreign {
    /// Keeps the library open if its object was returned.
    ///
    /// # Safety
    ///
    /// * `result` is that of a packed call that returned the status.
    unsafe fn keep(&self, status: i32, result: *const ChipdockAny) {
        // SAFETY: V.10, the result of a packed call can be read.
        if status == 0 && unsafe { (*result).type_index } >= CHIPDOCK_TYPE_OBJECT_BEGIN {
            self.opened.stays.store(true, Ordering::Relaxed);
        }
    }
}

unsafe extern "C" fn delete_foreign(self_: *mut c_void) {
    // SAFETY: the box of `LibraryCode::function`, given up once.
    drop(unsafe { Box::from_raw(self_.cast::<Foreign>()) });
}

/// Returns the functions of TVM's run time that a library asks its loader for, by variables and by
/// symbols.
fn asks_for_run_time(file: &LibraryFile) -> impl Iterator<Item = &str> {
    let variables = file.filled_in().iter().map(|variable| context::of_variable(variable));
    let known = variables.filter(|function| context::function(function).is_some());
    known.chain(file.needs_of_host().iter().map(String::as_str))
}

/// Opens the file, or a copy of it that nothing else opens; also as libtvm_ffi's module, where its
/// code may ask for that.
fn opened(path: &Path, file: &LibraryFile, caller: Caller) -> Result<(Library, Option<TvmModule>), Error> {
    let io = |error: std::io::Error| Error::io("cannot copy the library", path, &error);
    let open = |path: &Path| {
        let mut guard = Guard::of_opening();
        // SAFETY: the caller asked for the library's code, and it is a whole library for this
        // machine; initialisers of it run.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        guard::warn_of_library(caller.services.log, path, &guard.settle("opening it"));
        let library = library.map_err(|error| not_opened(&error))?;
        let tvm_ffi = caller.tvm_ffi.filter(|_| file.may_have_modules());
        let context = tvm_ffi.map(|tvm_ffi| TvmModule::of_library(tvm_ffi, caller, path));
        Ok((library, context.transpose()?))
    };
    if file.stays_in_place() {
        return open(&std::path::absolute(path).map_err(io)?);
    }
    let of_host = file.needs_of_host().iter().map(String::as_str);
    let lead_to = of_host.filter_map(|name| Some((name, context::function(name)?.addr())));
    // Its modules are loaded here, one by one.
    let changes = Changes { lead_to: lead_to.collect(), hidden: file.may_have_modules().then_some(BLOB) };
    let bytes = changes.apply(file.bytes()).map_err(|what| Error::new(ErrorKind::Value, what))?;
    let scratch = Scratch::new("library").map_err(io)?;
    let name = scratch.file_name("so");
    scratch.write(&name, &bytes).map_err(io)?;
    open(&scratch.library(&name).map_err(io)?)
}

fn not_opened(error: &libloading::Error) -> Error {
    // The loader's message is in the source of the error.
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    let error = Error::new(ErrorKind::Unavailable, format!("the library could not be opened: {why}"));
    if why.contains("Operation not permitted") || why.contains("failed to map") {
        return error.hint("if the folder for temporary files is mounted noexec, let TMPDIR name another");
    }
    error.hint("install what it needs, or build it again for this machine")
}

impl Host {
    /// Opens a built file: an artifact, a library of Chipdock's with its embedded or accompanying
    /// artifacts, or a library that others made for TVM-FFI, as rules LIB-1 to LIB-10 of
    /// [`library`](crate::library) say. Opening a library runs its code.
    ///
    /// # Errors
    ///
    /// As of [`BuiltFile::read`] and [`Self::open_file`].
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use chipdock_host::{Host, HostOptions};
    /// let host = Host::new(HostOptions::default())?;
    /// let module = host.open("add.so".as_ref())?;
    /// let add = module.function("add")?;
    /// # let _ = add;
    /// # Ok::<(), chipdock_host::Error>(())
    /// ```
    pub fn open(&self, path: &Path) -> Result<Module, Error> {
        self.0.services.check_process()?;
        self.open_file(&BuiltFile::read(path)?)
    }

    /// Opens a built file that was read.
    ///
    /// # Errors
    ///
    /// Of an artifact as of [`Self::load`]. Of a library: `ValueError` when it is no whole library
    /// for this machine; `Unavailable` when it needs libtvm_ffi, another library or a later
    /// environment; `IoError` when it cannot be copied.
    pub fn open_file(&self, file: &BuiltFile) -> Result<Module, Error> {
        let at = |error: Error| error.at(file.path().display().to_string());
        match file.contents() {
            Contents::Artifact(artifact) | Contents::Archive(artifact) => self.load(artifact).map_err(at),
            Contents::Library(library) => self.open_library(file, library).map_err(at),
        }
    }

    /// Returns the libtvm_ffi that a library needs, or that of the process if the library may have
    /// modules of it; `None` for one that needs none.
    fn tvm_ffi_for(&self, library: &LibraryFile) -> Result<Option<&'static TvmFfi>, Error> {
        let listed = |names: &[String]| quoted(names.iter().map(String::as_str));
        let cannot_bind = library.stays_in_place() || !context::binds_addresses();
        let of_tvm = match library.needs_of_tvm() {
            [] if cannot_bind => library.needs_of_host(),
            of_tvm => of_tvm,
        };
        if !of_tvm.is_empty() {
            let message = format!("the library needs functions of TVM's own run time: {}", listed(of_tvm));
            return Err(Error::new(ErrorKind::Unavailable, message).hint(
                "compile it for a target whose code asks its loader for that (TVM's LLVM targets), or open it with TVM",
            ));
        }
        let needs = library.needs_of_tvm_ffi();
        if needs.is_empty() {
            return Ok(if library.may_have_modules() { TvmFfi::present_for_library() } else { None });
        }
        let has_others = library.embedded().iter().any(Embedded::is_of_others);
        if library.stays_in_place() && library.has_context() && has_others {
            let message = "the library looks for others beside itself, so that it is opened where it lies, and asks for its \
                           embedded modules, which is answered for a copy alone";
            let hint = "link it without $ORIGIN, or open it in Python with tvm_ffi.load_module";
            return Err(Error::new(ErrorKind::Unavailable, message).hint(hint));
        }
        let named = self.0.environment.variable(VARIABLE).map(ToOwned::to_owned);
        let found = TvmFfi::open(named.as_ref());
        found.map(Some).map_err(|error| error.while_doing(&format!("the library needs {}", listed(needs))))
    }

    fn open_library(&self, file: &BuiltFile, library: &LibraryFile) -> Result<Module, Error> {
        self.0.services.check_process()?;
        let _span = tracing::info_span!("load", kind = LIBRARY_KIND).entered();
        image::examine_bytes(library.bytes()).map_err(|what| Error::new(ErrorKind::Value, what))?;
        let tvm_ffi = self.tvm_ffi_for(library)?;
        check_environment(library.artifact())?;
        let env = EnvState::new(self.0.services);
        let waits = asks_for_run_time(library).any(|function| function == BARRIER);
        let caller = Caller { services: env.services(), tvm_ffi, waits };
        let code = Arc::new(LibraryCode::open(file.path(), library, Arc::clone(&env), caller)?);
        let mut made = Made::default();
        let mut tree =
            Tree { host: self, file, library, code, env, caller, made: BTreeMap::new(), loaded: &mut made };
        tree.module(0)
    }
}

/// The modules of a library on their way to a tree.
struct Tree<'a> {
    host: &'a Host,
    file: &'a BuiltFile,
    library: &'a LibraryFile,
    code: Arc<LibraryCode>,
    env: Arc<EnvState>,
    caller: Caller,
    /// Modules by their place in the library's list: several may import one.
    made: BTreeMap<usize, Module>,
    /// Imports of its artifacts.
    loaded: &'a mut Made,
}

impl Tree<'_> {
    fn module(&mut self, at: usize) -> Result<Module, Error> {
        if let Some(made) = self.made.get(&at) {
            return Ok(made.clone());
        }
        let Some(embedded) = self.library.embedded().get(at) else {
            return Err(Error::new(ErrorKind::Internal, format!("no embedded module {at}")));
        };
        let imports: Result<Vec<Module>, Error> =
            embedded.imports.iter().map(|import| self.module(*import)).collect();
        let module = self.make(embedded, imports?)?;
        self.made.insert(at, module.clone());
        Ok(module)
    }

    fn make(&mut self, embedded: &Embedded, mut imports: Vec<Module>) -> Result<Module, Error> {
        if let Some(artifact) = &embedded.artifact {
            return self.host.load_import(artifact, self.loaded);
        }
        if embedded.kind != LIBRARY_KIND {
            return self.of_others(embedded, imports);
        }
        match self.file.aside() {
            Ok(None) => {}
            Ok(Some(artifact)) => {
                for import in artifact.imports() {
                    imports.push(self.host.load_import(import, self.loaded)?);
                }
            }
            Err(error) => imports.push(self.opaque(super::EMBEDDED_KIND, error, Vec::new())?),
        }
        if let Some(context) = self.code.context() {
            imports.iter().filter_map(Module::of_tvm_ffi).try_for_each(|import| context.import(import))?;
        }
        let artifact = Arc::clone(self.library.artifact());
        let module = Module::of_library(self.host, Arc::clone(&self.code), imports, artifact);
        module.connect(&self.env);
        Ok(module)
    }

    /// Loads an embedded module of a kind that is none of Chipdock's (LIB-4).
    fn of_others(&self, embedded: &Embedded, imports: Vec<Module>) -> Result<Module, Error> {
        let kind = &embedded.kind;
        let no_loader = || {
            let message = format!("no loader for embedded modules of kind \"{kind}\"");
            let hint = "Chipdock loads the device code of its own libraries, and what others have registered a loader for with the \
                        TVM-FFI of this process";
            Error::new(ErrorKind::Unavailable, message).hint(hint)
        };
        let payload = self.library.payload(embedded);
        let loaded = match self.caller.tvm_ffi {
            Some(tvm_ffi) => TvmModule::of_bytes(tvm_ffi, self.caller, kind, payload),
            None => Ok(None),
        };
        let module = match loaded {
            Ok(Some(module)) => module,
            Ok(None) => return self.opaque(kind, no_loader(), imports),
            Err(error) => {
                let error =
                    error.while_doing(&format!("the embedded module of kind \"{kind}\" was not loaded"));
                return self.opaque(kind, error, imports);
            }
        };
        imports.iter().filter_map(Module::of_tvm_ffi).try_for_each(|import| module.import(import))?;
        let artifact = Artifact::described(kind, "unknown", Vec::new(), Vec::new())?;
        Ok(Module::of_tvm_module(self.host, module, imports, Arc::new(artifact)))
    }

    /// Makes a module whose functions are not known, which LIB-4 and LIB-5 leave as it is.
    fn opaque(&self, kind: &str, why: Error, imports: Vec<Module>) -> Result<Module, Error> {
        self.host.0.services.log(LogLevel::Warning, &why.to_string());
        let artifact = Artifact::described(kind, "unknown", Vec::new(), Vec::new())?;
        Ok(Module::opaque(self.host, why, imports, Arc::new(artifact)))
    }
}
