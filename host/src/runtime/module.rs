//! Modules: loaded artifacts, which form a tree.

use chipdock_plugin_api::text::str_out;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, Weak};

use chipdock_abi::{
    CHIPDOCK_ARTIFACT_OK, CHIPDOCK_ARTIFACT_RECOMPILE, CHIPDOCK_ARTIFACT_UNSUPPORTED, CHIPDOCK_DEVICE_CPU,
    CHIPDOCK_ENV_VERSION, ChipdockArtifact, ChipdockDevice, ChipdockInterface, ChipdockModule,
    ChipdockModuleHandle, ChipdockSection,
};
use chipdock_plugin_api as api;

use super::capture;
use super::device::Device;
use super::env::{EnvState, Importer, not_imported};
use super::function::Function;
use super::tables::{answered, broken};
use crate::boundary::registrar::{Entry, ModuleLoaderEntry, Owned};
use crate::bounds::{self, MESSAGE_BYTES_MAX};
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind, nearest, quoted};
use crate::host::Host;
use crate::library::{LibraryCode, TvmModule};
use crate::log::LogLevel;

/// The verdict of a loader: whether an artifact runs on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The artifact runs on the device.
    Ok,
    /// The artifact runs after being compiled again, for this reason.
    Recompile(String),
    /// The artifact does not run, for this reason.
    Unsupported(String),
}

/// A loaded artifact with its imports. Cloning shares it.
#[derive(Clone)]
pub struct Module(pub(super) Arc<ModuleInner>);

/// What has a module's functions.
enum Code {
    /// A module that a plugin loaded.
    Plugin(Owned<ChipdockModule>),
    /// An opened library.
    Library(Arc<LibraryCode>),
    /// A module object of libtvm_ffi's, whose functions are known to it alone.
    TvmFfi(TvmModule),
}

pub(crate) struct ModuleInner {
    // Released before what it imports and before its loader.
    loaded: Result<Code, Error>,
    /// Which functions it has is not known.
    is_opaque: bool,
    imports: Vec<Module>,
    /// Functions of imports, by name.
    imported: BTreeMap<String, Imported>,
    /// Imports that the program added.
    pub(super) added: RwLock<Vec<Arc<Added>>>,
    /// The environment of its compiled code, where it has one.
    env: OnceLock<Weak<EnvState>>,
    artifact: Arc<Artifact>,
    host: Host,
    #[expect(dead_code, reason = "held, not read: the module's code may belong to it")]
    loader: Option<Arc<ModuleLoaderEntry>>,
}

/// An import that the program added, with its functions by name (COMPOSE-I1).
pub(super) struct Added {
    pub(super) module: Module,
    pub(super) functions: BTreeMap<String, Imported>,
}

/// A function of an import.
pub(super) struct Imported {
    /// The function, once compiled code requested it; released before its module.
    function: OnceLock<api::Function>,
    owner: Module,
}

impl Imported {
    /// Returns the function, the same one at every call; `None` where its loader does not have it.
    pub(super) fn function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        if let Some(function) = self.function.get() {
            return Ok(Some(function.clone()));
        }
        let owner = &self.owner.0;
        let function = match owner.own_kernel(name)? {
            Some(kernel) => Some(kernel.into_function()),
            None => owner.own_function(name)?.map(|function| owner.expect_recordable(name, function)),
        };
        Ok(function.map(|function| self.function.get_or_init(|| function).clone()))
    }

    /// Collects the functions of all these modules, by name; of several with one name the first.
    pub(super) fn of(imports: &[Module]) -> BTreeMap<String, Self> {
        let mut all = BTreeMap::new();
        for owner in imports {
            for name in owner.function_names() {
                let imported = || Self { function: OnceLock::new(), owner: owner.clone() };
                all.entry(name.to_owned()).or_insert_with(imported);
            }
        }
        all
    }
}

/// Calls `body` with the artifact in the form that a loader receives.
pub(crate) fn with_raw<R>(artifact: &Artifact, body: impl FnOnce(&ChipdockArtifact) -> R) -> R {
    let sections: Vec<ChipdockSection> = artifact
        .sections()
        .iter()
        .map(|section| ChipdockSection {
            name: str_out(section.name()),
            kind: str_out(section.kind()),
            alignment_bytes: section.alignment_bytes(),
            data: section.data().as_ptr().cast(),
            size_bytes: section.data().len() as u64,
        })
        .collect();
    body(&ChipdockArtifact {
        index_json: str_out(artifact.index_json()),
        sections: sections.as_ptr(),
        sections_count: sections.len() as u64,
        next: std::ptr::null(),
    })
}

/// Checks rule X.12: code that relies on a later environment is not loaded.
pub(crate) fn check_environment(artifact: &Artifact) -> Result<(), Error> {
    let version = artifact.index().env.unwrap_or(CHIPDOCK_ENV_VERSION);
    if version <= CHIPDOCK_ENV_VERSION {
        return Ok(());
    }
    let message = format!(
        "its code relies on version {version} of the environment of compiled code, this host lends version \
         {CHIPDOCK_ENV_VERSION}"
    );
    Err(Error::new(ErrorKind::Unavailable, message).hint("use a newer Chipdock, or compile the module again"))
}

/// The imports that one load has made, by the place of their artifacts, which stay alive: several
/// modules may import one.
#[derive(Default)]
pub(crate) struct Made(BTreeMap<usize, (Module, Arc<Artifact>)>);

/// What an artifact is loaded for, which decides whether one that cannot run here is an error or
/// stays an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// To be run: it is an error.
    Wanted,
    /// It was compiled here, perhaps for another machine.
    Compiled,
    /// Another module imports it, and may have functions that do not need it: one that lacks a
    /// driver or a device stays an artifact.
    Imported,
}

impl Host {
    pub(crate) fn loader(&self, artifact: &Artifact) -> Result<Arc<ModuleLoaderEntry>, Error> {
        let key = format!("module.load.{}", artifact.index().module_kind);
        match self.0.registry.entry(&key)? {
            Some(Entry::ModuleLoader(entry)) => Ok(entry),
            _ => Err(self.0.registry.missing(&key)),
        }
    }

    /// Makes an artifact runnable, with everything that it imports.
    ///
    /// An artifact of a kind that no plugin loads is no error here: the module stays an artifact
    /// that can be inspected and saved, and asking it for a function reports what is missing. So
    /// one kind without a loader does not make the others unusable; nor does an import that lacks a
    /// driver or a device here, which is logged as a warning.
    ///
    /// # Errors
    ///
    /// Errors of the loader: `ValueError` for an artifact that it does not understand,
    /// `Unavailable` for a tool or library that it needs.
    pub fn load(&self, artifact: &Arc<Artifact>) -> Result<Module, Error> {
        self.load_as(artifact, Role::Wanted, &mut Made::default())
    }

    /// Makes what was just compiled runnable, as [`Self::load`] does. Code for another machine
    /// stays an artifact, as one without a loader does: it can be inspected and saved, and asking
    /// it for a function reports why it does not run here.
    ///
    /// # Errors
    ///
    /// As of [`Self::load`], but for `Unsupported`.
    pub fn load_compiled(&self, artifact: &Arc<Artifact>) -> Result<Module, Error> {
        self.load_as(artifact, Role::Compiled, &mut Made::default())
    }

    fn load_as(&self, artifact: &Arc<Artifact>, role: Role, made: &mut Made) -> Result<Module, Error> {
        self.0.services.check_process()?;
        let _span = tracing::info_span!("load", kind = &*artifact.index().module_kind).entered();
        let imports = artifact.imports().iter().map(|import| self.load_import(import, made));
        let imports: Result<Vec<Module>, Error> = imports.collect();
        let imports = imports?;
        // The loader releases it with the last of the module and its functions, which may be long
        // after the module here is dropped; a load that fails releases it too (M.4).
        let env = EnvState::new(self.0.services);
        let kind = artifact.index().module_kind.clone();
        let (loaded, loader) = match self.loader(artifact) {
            Ok(loader) => {
                let loaded =
                    check_environment(artifact).and_then(|()| self.load_with(&loader, artifact, &env));
                match loaded.map_err(|error| error.at(format!("module.load.{kind}"))) {
                    Err(error) if role == Role::Compiled && *error.kind() == ErrorKind::Unsupported => {
                        (Err(error), Some(loader))
                    }
                    Err(error) if role == Role::Imported && *error.kind() == ErrorKind::Unavailable => {
                        self.0.services.log(LogLevel::Warning, &error.to_string());
                        (Err(error), Some(loader))
                    }
                    loaded => (Ok(Code::Plugin(loaded?)), Some(loader)),
                }
            }
            Err(missing) => (Err(missing), None),
        };
        let module = Module::new(self, loaded, imports, Arc::clone(artifact), loader);
        module.connect(&env);
        Ok(module)
    }

    /// Loads an artifact that another module imports, once: one that cannot run here stays an
    /// artifact.
    pub(crate) fn load_import(&self, artifact: &Arc<Artifact>, made: &mut Made) -> Result<Module, Error> {
        let place = Arc::as_ptr(artifact).addr();
        if let Some((module, _)) = made.0.get(&place) {
            return Ok(module.clone());
        }
        let module = self.load_as(artifact, Role::Imported, made)?;
        made.0.insert(place, (module.clone(), Arc::clone(artifact)));
        Ok(module)
    }

    fn load_with(
        &self,
        loader: &ModuleLoaderEntry,
        artifact: &Artifact,
        env: &Arc<EnvState>,
    ) -> Result<Owned<ChipdockModule>, Error> {
        let mut handle = ChipdockModuleHandle { self_: std::ptr::null_mut(), table: std::ptr::null() };
        let services = self.0.services;
        services.clear_error();
        // Until the module is taken over: it belongs to the plugin that is called.
        let _calling = loader.owned.calling(&format!("module.load.{}: load", artifact.index().module_kind));
        let status = with_raw(artifact, |raw| {
            // SAFETY: the registered `self`, an artifact that lives for the call, an environment
            // that lives until it is released, a place to write to.
            unsafe { (loader.owned.table().load)(loader.owned.self_(), raw, env.lend(), &mut handle) }
        });
        services.check(status, || "`load`".to_owned())?;
        // SAFETY: on success a loader returns a `self` that we own now and its static table.
        unsafe { Owned::new(handle.self_, handle.table, loader.owned.instance()) }
            .map_err(|message| Error::new(ErrorKind::BrokenPlugin, format!("the module's {message}")))
    }

    /// Asks the loaders of an artifact whether it would run on a device: the loader of the kernels
    /// for the device, where it imports any, and that of the functions that launch them for host
    /// memory.
    ///
    /// # Errors
    ///
    /// `Unavailable` when no plugin loads it; errors of the loader.
    pub fn check_artifact(&self, artifact: &Artifact, device: &Device) -> Result<Verdict, Error> {
        let own = self.check_alone(artifact, device.number())?;
        if own == Verdict::Ok || artifact.imports().is_empty() {
            return Ok(own);
        }
        let host = ChipdockDevice { device_type: CHIPDOCK_DEVICE_CPU, device_id: 0 };
        let of_host = self.check_alone(artifact, host)?;
        if of_host != Verdict::Ok {
            return Ok(of_host);
        }
        let mut first = None;
        for import in artifact.imports() {
            match self.check_artifact(import, device)? {
                Verdict::Ok => return Ok(Verdict::Ok),
                other => first = first.or(Some(other)),
            }
        }
        Ok(first.unwrap_or(own))
    }

    pub(crate) fn check_alone(&self, artifact: &Artifact, device: ChipdockDevice) -> Result<Verdict, Error> {
        let loader = self.loader(artifact)?;
        let (mut verdict, mut reason) = (CHIPDOCK_ARTIFACT_OK, api::Any::NONE.into_raw());
        let services = self.0.services;
        services.clear_error();
        let _calling =
            loader.owned.calling(&format!("module.load.{}: verdict", artifact.index().module_kind));
        let status = with_raw(artifact, |raw| {
            // SAFETY: the registered `self`, an artifact that lives for the call, places to write
            // to.
            unsafe {
                (loader.owned.table().verdict)(loader.owned.self_(), raw, device, &mut verdict, &mut reason)
            }
        });
        let what = || format!("`verdict` of module.load.{}", artifact.index().module_kind);
        services.check(status, what)?;
        // SAFETY: None, or a value that we own now.
        let reason = unsafe { answered(reason, &what) }?;
        let reason = reason
            .to::<Option<String>>()
            .map_err(|error| broken(format!("{} gave as its reason: {}", what(), error.message())))?;
        let reason = reason.map_or_else(
            || "its loader gave no reason".to_owned(),
            |reason| bounds::cut(&reason, MESSAGE_BYTES_MAX),
        );
        Ok(match verdict {
            CHIPDOCK_ARTIFACT_OK => Verdict::Ok,
            CHIPDOCK_ARTIFACT_RECOMPILE => Verdict::Recompile(reason),
            CHIPDOCK_ARTIFACT_UNSUPPORTED => Verdict::Unsupported(reason),
            // A verdict of a newer plugin (P3.6).
            other => {
                Verdict::Unsupported(format!("verdict {other}, which this host does not know: {reason}"))
            }
        })
    }
}

/// Returns the table of an interface that was answered; `None` where it is null.
///
/// # Safety
///
/// * Where it is not null and has the size of `T`, the table can be read, and is a `T`.
unsafe fn table_in<T: Copy + 'static>(found: &ChipdockInterface) -> Result<Option<T>, String> {
    let table = found.table.cast::<T>();
    if table.is_null() {
        return Ok(None);
    }
    if found.table_size_bytes != size_of::<T>() as u64 || !table.is_aligned() {
        return Err(format!(
            "expected a table of {} bytes, found one of {} at {table:p}",
            size_of::<T>(),
            found.table_size_bytes
        ));
    }
    let slots = table.cast::<*const c_void>();
    for index in 0..size_of::<T>() / size_of::<*const c_void>() {
        // SAFETY: a table is function pointers and nothing else; read as plain pointers, a null one
        // is seen.
        if unsafe { slots.add(index).read() }.is_null() {
            return Err(format!("slot {index} of its table is null"));
        }
    }
    // SAFETY: not null, aligned, of that size, and no null slot.
    Ok(Some(unsafe { table.read() }))
}

impl ModuleInner {
    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the name of the plugin that loaded it, or of the library that has its code.
    pub(super) fn plugin(&self) -> &str {
        match &self.loaded {
            Ok(Code::Plugin(loaded)) => loaded.plugin(),
            Ok(Code::Library(code)) => code.label(),
            Ok(Code::TvmFfi(_)) => self.kind(),
            Err(_) => "",
        }
    }

    pub(super) fn kind(&self) -> &str {
        &self.artifact.index().module_kind
    }

    pub(super) fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Returns the module's interface of that name and version, with a copy of its table (HOST-A5);
    /// `None` where it has none. `T` is the struct of function pointers that belongs to name and
    /// version.
    pub(super) fn query<T: Copy + 'static>(
        &self,
        name: &str,
        version: u32,
    ) -> Result<Option<(*mut c_void, T)>, Error> {
        let Code::Plugin(loaded) = self.loaded.as_ref().map_err(Clone::clone)? else { return Ok(None) };
        let services = self.host.0.services;
        let mut found = ChipdockInterface::NONE;
        services.clear_error();
        let _calling = loaded.calling(&format!("module.load.{}: query", self.kind()));
        // SAFETY: the module's `self`, a string that lives for the call, a place to write to.
        let status = unsafe { (loaded.table().query)(loaded.self_(), str_out(name), version, &mut found) };
        let what = || format!("`query` for {name}/{version} of a module of kind \"{}\"", self.kind());
        services.check(status, what)?;
        // SAFETY: P3.12, a table that lives as long as the module, by name and version a `T`.
        let table = unsafe { table_in::<T>(&found) };
        let table = table.map_err(|message| broken(format!("{}: {message}", what())))?;
        Ok(table.map(|table| (found.self_, table)))
    }

    /// Returns true for a module whose functions are kernels: they were compiled for a device that
    /// is not host memory.
    pub(super) fn is_of_device(&self) -> Result<bool, Error> {
        let device = self.host().device_of_target(self.artifact().target_json())?;
        Ok(device.is_some_and(|(_, number)| number != CHIPDOCK_DEVICE_CPU))
    }

    /// Returns a kernel that the loader launches itself, for compiled code: it refuses to run where
    /// the thread records a graph, to which nobody would add it (GRAPH-G4).
    fn expect_recordable(&self, name: &str, function: api::Function) -> api::Function {
        if !self.is_of_device().unwrap_or(false) {
            return function;
        }
        let what = format!("kernel \"{name}\", whose loader has no interface `launch` 1,");
        // SAFETY: H.1, the table of this host lives as long as the process.
        let host = unsafe { api::HostRef::new(self.host().0.services.table()) };
        api::Function::from_fn(host, move |args| {
            capture::refuse(&what).map_err(|error| error.to_api())?;
            function.call(host, args)
        })
    }

    /// Returns the function of that name in this module alone.
    fn own_function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        let loaded = match self.loaded.as_ref().map_err(Clone::clone)? {
            Code::Plugin(loaded) => loaded,
            Code::Library(code) => return code.function(name),
            Code::TvmFfi(module) => return module.function(name),
        };
        let services = self.host.0.services;
        let mut out = api::Any::NONE.into_raw();
        services.clear_error();
        let _calling = loaded.calling(&format!("module.load.{}: function", self.kind()));
        // SAFETY: the module's `self`, a string that lives for the call, a place for an owned
        // value.
        let status = unsafe { (loaded.table().function)(loaded.self_(), str_out(name), &mut out) };
        let what = || format!("`function` of a module of kind \"{}\"", self.kind());
        services.check(status, what)?;
        // SAFETY: None, or a function that we own now.
        let out = unsafe { answered(out, &what) }?;
        out.to::<Option<api::Function>>().map_err(|error| broken(format!("{}: {}", what(), error.message())))
    }
}

impl Importer for ModuleInner {
    fn imported_function(&self, name: &str) -> Result<api::Function, Error> {
        let added = || self.added.read().unwrap_or_else(PoisonError::into_inner).clone();
        let reached = || self.imports.iter().flat_map(Module::reached);
        let unknown = || reached().find_map(|module| module.opaque_error().cloned());
        let missing =
            || unknown().unwrap_or_else(|| not_imported(name, self.imported.keys().map(String::as_str)));
        let found = match self.imported.get(name) {
            Some(imported) => imported.function(name)?,
            None => self.imports.iter().find_map(|import| import.unlisted(name).transpose()).transpose()?,
        };
        match found {
            Some(function) => Ok(function),
            None => Module::added_function(&added(), name)?.ok_or_else(missing),
        }
    }
}

impl Module {
    fn new(
        host: &Host,
        loaded: Result<Code, Error>,
        imports: Vec<Self>,
        artifact: Arc<Artifact>,
        loader: Option<Arc<ModuleLoaderEntry>>,
    ) -> Self {
        Self::made(host, loaded, false, imports, artifact, loader)
    }

    fn made(
        host: &Host,
        loaded: Result<Code, Error>,
        is_opaque: bool,
        imports: Vec<Self>,
        artifact: Arc<Artifact>,
        loader: Option<Arc<ModuleLoaderEntry>>,
    ) -> Self {
        let (imported, host) = (Imported::of(&imports), host.clone());
        let (added, env) = Default::default();
        Self(Arc::new(ModuleInner {
            loaded,
            is_opaque,
            imports,
            imported,
            added,
            env,
            artifact,
            host,
            loader,
        }))
    }

    /// Makes the module of an opened library.
    pub(crate) fn of_library(
        host: &Host,
        code: Arc<LibraryCode>,
        imports: Vec<Self>,
        artifact: Arc<Artifact>,
    ) -> Self {
        Self::new(host, Ok(Code::Library(code)), imports, artifact, None)
    }

    /// Makes the module of a module object of libtvm_ffi's.
    pub(crate) fn of_tvm_module(
        host: &Host,
        module: TvmModule,
        imports: Vec<Self>,
        artifact: Arc<Artifact>,
    ) -> Self {
        Self::new(host, Ok(Code::TvmFfi(module)), imports, artifact, None)
    }

    /// Returns what libtvm_ffi knows the module as, where it does.
    pub(crate) fn of_tvm_ffi(&self) -> Option<&TvmModule> {
        match self.0.loaded.as_ref().ok()? {
            Code::TvmFfi(module) => Some(module),
            Code::Library(code) => code.context(),
            Code::Plugin(_) => None,
        }
    }

    /// Returns a function that no index lists: one of a module object of libtvm_ffi's, here or
    /// among its imports.
    pub(super) fn unlisted(&self, name: &str) -> Result<Option<api::Function>, Error> {
        for module in self.reached() {
            if let Ok(Code::TvmFfi(module)) = &module.0.loaded
                && let Some(function) = module.function(name)?
            {
                return Ok(Some(function));
            }
        }
        Ok(None)
    }

    /// Makes a module whose functions are not known, for this reason; whoever asks for one of them
    /// is told.
    pub(crate) fn opaque(host: &Host, why: Error, imports: Vec<Self>, artifact: Arc<Artifact>) -> Self {
        Self::made(host, Err(why), true, imports, artifact, None)
    }

    /// Lets code that calls through this environment find the functions that the module imports.
    pub(crate) fn connect(&self, env: &Arc<EnvState>) {
        let _ = self.0.env.set(Arc::downgrade(env));
        if !self.0.imports.is_empty() {
            env.connect(Arc::downgrade(&(Arc::clone(&self.0) as Arc<dyn Importer>)));
        }
    }

    /// Lets its compiled code find the functions of an import that was added.
    pub(super) fn connect_added(&self) {
        if let Some(env) = self.0.env.get().and_then(Weak::upgrade) {
            env.connect(Arc::downgrade(&(Arc::clone(&self.0) as Arc<dyn Importer>)));
        }
    }

    /// Returns true for the code of an opened library.
    pub(super) fn is_of_library(&self) -> bool {
        matches!(self.0.loaded, Ok(Code::Library(_) | Code::TvmFfi(_)))
    }

    /// Returns the reason why it is not known which functions the module itself has.
    pub(super) fn opaque_error(&self) -> Option<&Error> {
        self.missing_loader().filter(|_| self.0.is_opaque)
    }

    /// Returns true if the module itself has a function of that name.
    fn has_function(&self, name: &str) -> bool {
        // A library has the name `main` beside the ones of its index.
        let beside = |code: &Code| matches!(code, Code::Library(code) if code.has(name));
        self.function_names().any(|known| known == name) || self.0.loaded.as_ref().is_ok_and(beside)
    }

    /// Returns the artifact that it was loaded from, without what was added ([`Self::composed`]).
    /// Of a library that was opened this is a description, without sections.
    #[must_use]
    pub fn artifact(&self) -> &Arc<Artifact> {
        &self.0.artifact
    }

    /// Returns the modules that its artifact imports ([`Self::all_imports`] has those that were
    /// added too).
    #[must_use]
    pub fn imports(&self) -> &[Module] {
        &self.0.imports
    }

    /// Returns the reason why it cannot be called: no plugin loads its kind, or the one that does
    /// cannot here.
    #[must_use]
    pub fn missing_loader(&self) -> Option<&Error> {
        self.0.loaded.as_ref().err()
    }

    pub(crate) fn host(&self) -> &Host {
        &self.0.host
    }

    /// Returns the names of its functions, as its index lists them.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.0.artifact.index().functions.iter().map(|function| function.name.as_str())
    }

    /// Returns the function of that name, in this module or one that it imports.
    ///
    /// # Errors
    ///
    /// `NotFound` when there is none. `Unavailable` when no plugin loads the module that has it:
    /// the message says what is missing.
    pub fn function(&self, name: &str) -> Result<Function, Error> {
        self.0.host.0.services.check_process()?;
        let _span = tracing::debug_span!("find_function", function = name).entered();
        let all = self.reached();
        for module in &all {
            match module.own(name) {
                Ok(None) => {}
                // Another import may have it.
                Err(_) if module.0.is_opaque => {}
                Err(error) => return Err(error),
                Ok(Some(found)) => return Ok(found),
            }
        }
        if let Some(unknown) = all.iter().find_map(Self::opaque_error) {
            return Err(unknown.clone().at(format!("function \"{name}\"")));
        }
        let known: Vec<&str> = self.function_names().collect();
        let error = Error::new(ErrorKind::NotFound, format!("the module has no function \"{name}\""));
        Err(match nearest(name, known.iter().copied()) {
            Some(near) => error.hint(format!("did you mean \"{near}\"?")),
            None => error.hint(format!("it has: {}", quoted(known))),
        })
    }
}

impl Module {
    /// Returns the function of that name in the module itself.
    fn own(&self, name: &str) -> Result<Option<Function>, Error> {
        if self.has_function(name) {
            let loaded =
                self.0.own_function(name).map_err(|error| error.at(format!("function \"{name}\"")))?;
            return match loaded {
                Some(function) => Ok(Some(Function::of_module(&self.0, name, function))),
                None => Err(Error::new(
                    ErrorKind::BrokenPlugin,
                    format!("function \"{name}\" is in the artifact, but its loader does not have it"),
                )),
            };
        }
        if let Ok(Code::TvmFfi(_)) = &self.0.loaded
            && let Some(function) = self.0.own_function(name)?
        {
            return Ok(Some(Function::of_module(&self.0, name, function)));
        }
        Ok(None)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.function_names().collect();
        f.debug_struct("Module").field("kind", &self.0.kind()).field("functions", &names).finish()
    }
}
