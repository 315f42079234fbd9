//! The loader: opens a plugin's library, checks it, lets it register, and commits all or nothing.
//!
//! The checks, in this order; the first that fails is the plugin's [`Problem`]:
//!
//! * **LOAD-L1** the file is a whole shared library for this machine, and matches the digests of
//!   the manifest and of the lock, where there are any: one descriptor is examined and read for all
//!   of it;
//! * **LOAD-L2** the library opens (`RTLD_NOW | RTLD_LOCAL`; it is never closed again, whatever
//!   comes after). It is opened by its path: the system's loader distinguishes libraries by name
//!   and by inode, libraries find the files beside them by their path, and a name like
//!   `/proc/self/fd/9` would mean two libraries one after the other. So the path is examined again
//!   afterwards: it must still lead to the file of LOAD-L1, unchanged. Only those whom rule FIND-D3
//!   trusts can exchange it in between;
//! * **LOAD-L3** the entry symbol is there and returns a descriptor: not null, the magic number,
//!   this ABI major, the layout hash and table sizes of this major, and the name, version and
//!   settings of the manifest; any minor is accepted;
//! * **LOAD-L4** the type information of an abi_stable root module, where the library carries one,
//!   never causes a refusal: where the hash of LOAD-L3 differs, it names the first field or
//!   signature that differs (P4.2);
//! * **LOAD-L5** `init` succeeds, and every registration in it was accepted;
//! * **LOAD-L6** it registered what its manifest lists, no more and no less;
//! * **LOAD-L7** it leaves the process as it was: what it changed is put back and named after each
//!   of its steps, and is no reason to refuse it. See the rules of the guard.
//!
//! Registrations that were staged and not committed are released through their table's `destroy`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_LAYOUT_HASH, CHIPDOCK_MAGIC, ChipdockHost,
    ChipdockPlugin, ChipdockRegistrar, ChipdockStr, ChipdockTableSizes,
};
use chipdock_plugin_api as api;
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::boundary::attest::{self, Attested};
use crate::boundary::calling::{Note, PluginLibrary};
use crate::boundary::guard::{self, Guard, ProcessChange};
use crate::boundary::instance::{Ends, Instance};
use crate::boundary::plugin_call::PluginCall;
use crate::boundary::plugin_table::PluginTable;
use crate::boundary::registrar::{DeviceTypes, Entry, Staged, Staging};
use crate::boundary::services::Services;
use crate::bounds::{self, INFO_BYTES_MAX, NAME_BYTES_MAX};
use crate::error::{Error, ErrorKind};
use crate::files::{self, FileIdentity, LIBRARY_BYTES_MAX};
use crate::log::LogLevel;
use crate::names::{HOST_PLUGIN, check_plugin_name};
use crate::open::digest_memory::Digests;
use crate::open::image;
use crate::open::lock::PluginLock;
use crate::open::manifest::Manifest;
use crate::open::origin::Origin;
use crate::open::problem::{Problem, ProblemKind};
use crate::open::settings::{DeclaredSetting, parse_info};

/// Number of digits of a library's digest that a person is shown to distinguish builds.
const DIGEST_SHOWN: usize = 16;

/// A plugin that was opened.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) version: semver::Version,
    /// Build id of the descriptor, or its replacement (P1.15).
    pub(crate) build_id: String,
    pub(crate) abi: (u32, u32),
    /// Whether the library carried type layouts, which then agreed.
    pub(crate) attested: bool,
    pub(crate) staged: Staged,
    pub(crate) instance: Arc<Instance>,
    /// Info of the descriptor; next, the settings declared there.
    pub(crate) info: String,
    pub(crate) settings: Vec<DeclaredSetting>,
}

type Init = unsafe extern "C" fn(*const ChipdockHost, *const ChipdockRegistrar, *mut *mut c_void) -> i32;

/// [`ChipdockPlugin`] as it is read before it is trusted: function pointers may be null.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawDescriptor {
    magic: u64,
    abi_major: u32,
    abi_minor: u32,
    layout_hash: u64,
    table_sizes: ChipdockTableSizes,
    name: ChipdockStr,
    version: ChipdockStr,
    build_id: ChipdockStr,
    info_json: ChipdockStr,
    init: Option<Init>,
    shutdown: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl RawDescriptor {
    /// Returns the functions of the descriptor; `None` where one is null.
    fn functions(&self) -> Option<(Init, Ends)> {
        Some((self.init?, Ends { shutdown: self.shutdown?, release: self.release? }))
    }
}

const _: () = assert!(size_of::<RawDescriptor>() == size_of::<ChipdockPlugin>());

/// A request to open a plugin.
pub(crate) struct Opening<'a> {
    /// Name of the plugin until its descriptor states one.
    pub(crate) name: &'a str,
    pub(crate) library: &'a Path,
    pub(crate) manifest: Option<&'a Manifest>,
    /// The lock, and the name under which it pins this plugin.
    pub(crate) locked: Option<(&'a PluginLock, &'a str)>,
    pub(crate) digests: &'a Arc<Digests>,
    pub(crate) services: &'static Services,
    pub(crate) device_types: &'a Arc<Mutex<DeviceTypes>>,
    /// Called with the descriptor's name before `init` runs: the name of a library without a
    /// manifest is known only then.
    pub(crate) accept: &'a dyn Fn(&str) -> Option<Problem>,
    /// Changes that the plugin made to the process meanwhile (LOAD-L7).
    pub(crate) changes: &'a RefCell<Vec<ProcessChange>>,
}

impl Opening<'_> {
    /// Runs code of the plugin: `call` is its note, `during` names the step in reports of changes
    /// (LOAD-L7).
    fn step<T>(
        &self,
        guard: &mut Guard,
        plugin: &str,
        call: &str,
        during: &str,
        body: impl FnOnce() -> T,
    ) -> T {
        let calling = PluginCall::enter(self.services.log, Note::of(plugin, call));
        let done = body();
        let changes = guard.settle(during);
        drop(calling);
        guard::warn(self.services.log, plugin, &changes);
        self.changes.borrow_mut().extend(changes);
        done
    }
}

/// Opens a plugin: rules LOAD-L1 to LOAD-L7.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Opened, Problem> {
    let examined = Examined::of(opening.library)?;
    let digest = check_digests(&examined, opening)?;
    let mut guard = Guard::of_opening();
    let entry = format!("chipdock_plugin_v{CHIPDOCK_ABI_MAJOR}");
    PluginLibrary::add(opening.name, &examined.path);
    let library = opening
        .step(&mut guard, opening.name, "dlopen", "opening its library", || open_library(&examined))?;
    let (descriptor, address) =
        opening.step(&mut guard, opening.name, &entry, "its entry", || descriptor(&library))?;
    let mut identity = check_descriptor(&descriptor, opening.manifest)
        .map_err(|problem| explained(problem, &library, address))?;
    let shown = build_id(&identity.build_id, &examined, digest.as_deref());
    let origin = Origin::of_library(
        &identity.version,
        &identity.build_id,
        (&examined.path, examined.identity),
        opening.digests,
        digest,
    );
    identity.build_id = shown;
    if let Some(problem) = (opening.accept)(&identity.name) {
        return Err(problem);
    }
    let attested = attest::check(&library, address);
    if let Attested::Differs(difference) = &attested {
        let name = &identity.name;
        // By the hash, sizes, offsets and types are ours; names, crates or versions differ.
        opening.services.log(LogLevel::Debug, &format!("plugin \"{name}\", layout check: {difference}"));
    }
    let attested = attested == Attested::Same;
    let before = opening.device_types.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let registered = register(opening, &mut guard, &descriptor, identity, origin, attested);
    if registered.is_err() {
        // Device numbers that a refused plugin took are free again.
        *opening.device_types.lock().unwrap_or_else(PoisonError::into_inner) = before;
    }
    registered
}

/// Returns the build id that a person is shown (P1.15).
fn build_id(said: &str, examined: &Examined, digest: Option<&str>) -> String {
    let of_digest = || digest.and_then(|digest| digest.get(..DIGEST_SHOWN)).map(str::to_owned);
    let found = || examined.linked_as.clone().or_else(of_digest).unwrap_or_default();
    if said.is_empty() { found() } else { said.to_owned() }
}

/// A library's file that passed rule LOAD-L1, except for its digests.
struct Examined {
    /// Path without links, so that the system's loader sees the name that was examined.
    path: PathBuf,
    file: File,
    identity: FileIdentity,
    /// Build id that the linker wrote.
    linked_as: Option<String>,
}

impl Examined {
    /// Opens the file and looks at what it is (P1.6, P13.1).
    fn of(library: &Path) -> Result<Self, Problem> {
        // A name without a slash would be searched for among the system's libraries.
        let path =
            library.canonicalize().map_err(|error| cannot_open(format!("cannot be opened: {error}")))?;
        let cannot_open = |what: String| cannot_open(format!("cannot open {}: {what}", path.display()));
        let file = files::open_regular(&path).map_err(|error| cannot_open(error.message().to_owned()))?;
        let metadata = file.metadata().map_err(|error| cannot_open(error.to_string()))?;
        let size_bytes = metadata.len();
        if size_bytes > LIBRARY_BYTES_MAX {
            return Err(cannot_open(format!(
                "it has {size_bytes} bytes; expected at most {LIBRARY_BYTES_MAX}"
            )));
        }
        let linked_as = image::examine(&file, size_bytes).map_err(cannot_open)?;
        Ok(Self { path, file, identity: FileIdentity::of(&metadata), linked_as })
    }

    /// Returns true if the path still leads to the file that was examined.
    fn is_unchanged(&self) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|now| FileIdentity::of(&now) == self.identity)
    }
}

/// The problem of a file that is no library, or cannot be opened as one (P1.6).
fn cannot_open(message: String) -> Problem {
    Problem::new(ProblemKind::CannotOpen, message)
}

/// Checks the library's digest where one is expected (P5.8), and returns it where it was computed.
fn check_digests(examined: &Examined, opening: &Opening<'_>) -> Result<Option<String>, Problem> {
    let expected = opening.manifest.and_then(|manifest| manifest.sha256.as_deref());
    if expected.is_none() && opening.locked.is_none() {
        return Ok(None);
    }
    // What a lock pins is read whole (DIGEST-M3).
    let found = if opening.locked.is_some() {
        files::sha256(&examined.file)
    } else {
        opening.digests.of(&examined.file)
    };
    let found = found.map_err(|error| cannot_open(format!("cannot be read: {error}")))?;
    if let Some(expected) = expected.filter(|expected| !found.eq_ignore_ascii_case(expected)) {
        let message = format!(
            "its digest (SHA-256) is {found}, the manifest says {expected}; install library and manifest together"
        );
        return Err(Problem::new(ProblemKind::WrongDigest, message));
    }
    let problem = opening.locked.and_then(|(lock, name)| lock.refusal_by_digest(name, &found));
    problem.map_or(Ok(Some(found)), Err)
}

/// Libraries that this process has opened, with their files' identity: for a known name the
/// system's loader returns the library that it opened first, and nothing is ever closed (P11).
static OPENED: PerProcess<Mutex<BTreeMap<PathBuf, FileIdentity>>> = PerProcess::new(carried);

/// Opens a library (rule LOAD-L2). It stays open as long as the process (P11.1).
fn open_library(examined: &Examined) -> Result<std::mem::ManuallyDrop<Library>, Problem> {
    let opened = || lock(OPENED.of_this());
    // Not locked while it is opened: its constructors are code that may open others.
    if opened().get(&examined.path).is_some_and(|before| !before.has_content_of(&examined.identity)) {
        let message = "another file of this name was opened before and stays open; restart the process";
        return Err(cannot_open(message.to_owned()));
    }
    // SAFETY: its constructors run; opening a plugin implies that.
    let library = unsafe { Library::open(Some(&examined.path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| cannot_open(format!("the system's loader refused it: {}", loader_text(&error))))?;
    let library = std::mem::ManuallyDrop::new(library);
    opened().insert(examined.path.clone(), examined.identity);
    if !examined.is_unchanged() {
        let message = "it was changed or exchanged while it was being opened; write a plugin beside its place, \
                       then rename it";
        return Err(cannot_open(message.to_owned()));
    }
    Ok(library)
}

fn loader_text(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.unwrap_or_else(|| error.to_string())
}

/// Reads a library's descriptor as bytes, with its address (rule LOAD-L3; P1.1 to P1.3).
fn descriptor(library: &Library) -> Result<(RawDescriptor, *const c_void), Problem> {
    type Entry = unsafe extern "C" fn() -> *const c_void;
    let entry = |major: u32| {
        let symbol = format!("chipdock_plugin_v{major}\0");
        // SAFETY: a symbol of this name has this type, whatever the major (P1).
        unsafe { library.get::<Entry>(symbol.as_bytes()) }.ok().map(|symbol| *symbol)
    };
    let Some(entry) = entry(CHIPDOCK_ABI_MAJOR) else {
        let others = (0..CHIPDOCK_ABI_MAJOR + 8).filter(|major| *major != CHIPDOCK_ABI_MAJOR);
        let found = others.filter_map(|major| entry(major).map(|_| major.to_string())).collect::<Vec<_>>();
        if found.is_empty() {
            let message = format!(
                "it has no symbol chipdock_plugin_v{CHIPDOCK_ABI_MAJOR}: not a plugin, or its entry is hidden"
            );
            return Err(Problem::new(ProblemKind::NoSymbol, message));
        }
        return Err(other_major(&format!("{}.x", found.join(".x, "))));
    };
    // SAFETY: the entry takes nothing and returns a static descriptor.
    let pointer = unsafe { entry() };
    if pointer.is_null() {
        let message =
            format!("chipdock_plugin_v{CHIPDOCK_ABI_MAJOR} answered null; expected a static descriptor");
        return Err(Problem::new(ProblemKind::NullDescriptor, message));
    }
    let bad = |message: String| Err(Problem::new(ProblemKind::BadDescriptor, message));
    if !pointer.cast::<RawDescriptor>().is_aligned() {
        return bad("its descriptor is not aligned to 8 bytes".to_owned());
    }
    // SAFETY: not null and aligned; magic and version come first in every major, so nothing after
    // them is read.
    let (magic, major, minor) = unsafe {
        let words = pointer.cast::<u32>();
        (pointer.cast::<u64>().read(), words.add(2).read(), words.add(3).read())
    };
    if magic != CHIPDOCK_MAGIC {
        return bad(format!("its descriptor begins with {magic:#018x}; expected {CHIPDOCK_MAGIC:#018x}"));
    }
    if major != CHIPDOCK_ABI_MAJOR {
        return Err(other_major(&format!("{major}.{minor}")));
    }
    // SAFETY: a descriptor of this major, which has this size.
    Ok((unsafe { pointer.cast::<RawDescriptor>().read() }, pointer))
}

/// The problem of a plugin for another major of the ABI (P3.3).
fn other_major(built_for: &str) -> Problem {
    let message = format!(
        "built for plugin ABI {built_for}, this host speaks {CHIPDOCK_ABI_MAJOR}.{CHIPDOCK_ABI_MINOR}; \
         get a build for this host"
    );
    Problem::new(ProblemKind::OtherMajor, message)
}

/// Adds to a layout problem the first type that differs, where the library carries its types
/// (P4.2).
fn explained(problem: Problem, library: &Library, descriptor: *const c_void) -> Problem {
    if problem.kind != ProblemKind::OtherLayout {
        return problem;
    }
    match attest::check(library, descriptor) {
        Attested::Differs(difference) => {
            Problem::new(problem.kind, format!("{}; its layout check: {difference}", problem.message))
        }
        Attested::Absent | Attested::Same => problem,
    }
}

struct Identity {
    name: String,
    version: semver::Version,
    build_id: String,
    info: String,
    settings: Vec<DeclaredSetting>,
}

/// Checks the content of the descriptor (rule LOAD-L3; P1.2 to P1.4, P5.6, S.3).
fn check_descriptor(descriptor: &RawDescriptor, manifest: Option<&Manifest>) -> Result<Identity, Problem> {
    let sizes = ChipdockTableSizes::current();
    if descriptor.table_sizes != sizes {
        let message = format!(
            "built with other table sizes: {:?}; this host has {sizes:?}: rebuild it against this ABI",
            descriptor.table_sizes
        );
        return Err(Problem::new(ProblemKind::OtherLayout, message));
    }
    if descriptor.layout_hash != CHIPDOCK_LAYOUT_HASH {
        let message = format!(
            "built with layout hash {:#018x}, this host has {CHIPDOCK_LAYOUT_HASH:#018x}: rebuild it against this ABI",
            descriptor.layout_hash
        );
        return Err(Problem::new(ProblemKind::OtherLayout, message));
    }
    let bad = |message: String| Problem::new(ProblemKind::BadDescriptor, message);
    if descriptor.functions().is_none() {
        return Err(bad("`init`, `shutdown` or `release` of its descriptor is null".to_owned()));
    }
    // SAFETY: strings of a static descriptor whose magic, sizes and layouts are right.
    let (name, version, build_id, info) = unsafe {
        (
            bounds::text(descriptor.name, "its name", NAME_BYTES_MAX)
                .and_then(|name| check_plugin_name(name).map(|()| name.to_owned()))
                .map_err(bad)?,
            bounds::text(descriptor.version, "its version", NAME_BYTES_MAX).map_err(bad)?,
            bounds::text(descriptor.build_id, "its build id", NAME_BYTES_MAX).map_err(bad)?.to_owned(),
            bounds::text(descriptor.info_json, "its info", INFO_BYTES_MAX).map_err(bad)?.to_owned(),
        )
    };
    let settings = parse_info(&info).map_err(bad)?;
    let version = semver::Version::parse(version)
        .map_err(|error| bad(format!("its version \"{version}\" is not semver: {error}")))?;
    if let Some(manifest) = manifest
        && (manifest.name != name || manifest.version != version)
    {
        let message = format!(
            "the library is \"{name}\" {version}, its manifest says \"{}\" {}; install both together",
            manifest.name, manifest.version
        );
        return Err(Problem::new(ProblemKind::WrongName, message));
    }
    if let Some(manifest) = manifest
        && manifest.settings != settings
    {
        let message =
            "the settings in its manifest are not those that it declares; generate the manifest again";
        return Err(Problem::new(ProblemKind::ManifestDiffers, message));
    }
    Ok(Identity { name, version, build_id, info, settings })
}

/// Runs `init` and checks its registrations (rules LOAD-L5 and LOAD-L6; P5.4, P5.10).
fn register(
    opening: &Opening<'_>,
    guard: &mut Guard,
    descriptor: &RawDescriptor,
    identity: Identity,
    origin: Origin,
    attested: bool,
) -> Result<Opened, Problem> {
    let Some((init, ends)) = descriptor.functions() else {
        return Err(Problem::new(ProblemKind::BadDescriptor, "`init`, `shutdown` or `release` is null"));
    };
    let services = opening.services;
    if opening.manifest.is_none() {
        for line in services.settings().unknown_when_opened(&identity.name, &identity.settings) {
            services.log(LogLevel::Warning, &line);
        }
    }
    let needs = opening.manifest.map(|manifest| manifest.needs.keys.clone()).unwrap_or_default();
    let host = PluginTable::leaked(services, &identity.name, identity.settings.clone(), needs);
    let instance = Instance::new(&identity.name, origin, services.of_instances(), ends);
    let staging = Staging::new(services.loans, Arc::clone(&instance), Arc::clone(opening.device_types));
    let registrar = staging.lend();
    services.clear_error();
    let mut pointer = ptr::null_mut();
    let init_failed = opening.step(guard, &identity.name, "init", "its `init`", || {
        // SAFETY: once for each host, with no other call of this host during it; host, registrar
        // and place outlive the call.
        let status = unsafe { init(ptr::from_ref(host.table()), registrar.table(), &mut pointer) };
        drop(registrar);
        services.check(status, || "`init`".to_owned())
    });
    if init_failed.is_ok() {
        instance.is_born(pointer);
    }
    let staged = staging.take();
    drop(staging);
    if let Err(error) = init_failed {
        let kind = match error.kind() {
            ErrorKind::BrokenPlugin => ProblemKind::BrokenPlugin,
            _ if staged.refused.iter().any(|refused| refused.name_taken) => ProblemKind::NameTaken,
            _ => ProblemKind::InitFailed,
        };
        return Err(Problem::new(kind, format!("its `init` failed: {}: {error}", error.kind().as_str())));
    }
    let Identity { name, version, build_id, info, settings } = identity;
    let abi = (descriptor.abi_major, descriptor.abi_minor);
    let opened = Opened { name, version, build_id, abi, attested, staged, instance, info, settings };
    let problem = registration_problem(&opened.staged, opening.manifest);
    let Some(problem) = problem else { return Ok(opened) };
    if let Err(error) = opened.instance.shut_down() {
        let message = format!("{}; and then {error}", problem.message);
        return Err(Problem::new(problem.kind, message));
    }
    Err(problem)
}

/// Returns the problem of what `init` registered, if it has one (P5.2, P5.3, P5.10).
fn registration_problem(staged: &Staged, manifest: Option<&Manifest>) -> Option<Problem> {
    if let Some(refused) = staged.refused.first() {
        let kind = if refused.name_taken { ProblemKind::NameTaken } else { ProblemKind::BrokenPlugin };
        let message =
            format!("its `init` succeeded although a registration was refused: {}", refused.message);
        return Some(Problem::new(kind, message));
    }
    if staged.entries.is_empty() {
        return Some(Problem::new(ProblemKind::BrokenPlugin, "its `init` succeeded and registered nothing"));
    }
    let manifest = manifest?;
    let promised: BTreeSet<&str> = manifest.provides.iter().map(String::as_str).collect();
    let registered: BTreeSet<&str> = staged.entries.keys().map(String::as_str).collect();
    let list = |keys: Vec<&&str>| keys.into_iter().copied().collect::<Vec<_>>().join(", ");
    let missing = list(promised.difference(&registered).collect());
    let extra = list(registered.difference(&promised).collect());
    if missing.is_empty() && extra.is_empty() {
        return schema_problem(staged, manifest);
    }
    let mut message = "it does not register what its manifest says".to_owned();
    if !missing.is_empty() {
        message += &format!("; promised and missing: {missing}");
    }
    if !extra.is_empty() {
        message += &format!("; registered and not promised: {extra}");
    }
    Some(Problem::new(ProblemKind::ManifestDiffers, message + "; generate the manifest again"))
}

/// Returns the problem of the schemas in the manifest, if they have one (P5.7).
fn schema_problem(staged: &Staged, manifest: &Manifest) -> Option<Problem> {
    let other = manifest.target_kinds.iter().find(|kind| {
        let entry = staged.entries.get(&format!("target.kind.{}", kind.name()));
        let Some(Entry::TargetKind(entry)) = entry else { return true };
        // Only a newer host can tell whether two kinds that are not understood are the same.
        match (entry.declared.usable(), kind.usable()) {
            (Ok(registered), Ok(listed)) => registered != listed,
            (registered, listed) => registered.is_ok() != listed.is_ok(),
        }
    })?;
    let message = format!(
        "the schema of target kind \"{}\" in its manifest is not the one that it registers; generate the manifest again",
        other.name()
    );
    Some(Problem::new(ProblemKind::ManifestDiffers, message))
}

/// Registers the plugin that is linked into this program, as a plugin's `init` does.
pub(crate) fn init_host_plugin(
    services: &'static Services,
    device_types: &Arc<Mutex<DeviceTypes>>,
) -> Result<(Staged, Arc<Instance>), Error> {
    let ends = Ends { shutdown: api::__private::shutdown, release: api::__private::release };
    let instance = Instance::new(HOST_PLUGIN, Origin::of_program(), services.of_instances(), ends);
    let staging = Staging::new(services.loans, Arc::clone(&instance), Arc::clone(device_types));
    let registrar = staging.lend();
    services.clear_error();
    let mut pointer = ptr::null_mut();
    // SAFETY: once for each host; the table lives as long as the process, registrar and place
    // longer than the call.
    let status =
        unsafe { api::__private::init(HOST_PLUGIN, services.table(), registrar.table(), &mut pointer) };
    drop(registrar);
    services.check(status, || "the host's own registration".to_owned())?;
    instance.is_born(pointer);
    Ok((staging.take(), instance))
}
