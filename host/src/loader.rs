//! The loader: opens a plugin's library, checks what it is, lets it register, and commits all or nothing.
//!
//! The checks, in this order; the first that fails is the plugin's [`Problem`]:
//!
//! * **L1** the digest, where the manifest has one;
//! * **L2** the library opens (`RTLD_NOW | RTLD_LOCAL`; it is never closed again, whatever comes after);
//! * **L3** the entry symbol is there and answers a descriptor: not null, the magic number, this ABI major, the layout
//!   hash and table sizes of this major, a name and version that are the manifest's; any minor will do;
//! * **L4** where the library carries an abi_stable root module, the type layouts of the frozen tables agree;
//! * **L5** `init` succeeds, and every registration in it was taken;
//! * **L6** it registered what the manifest says, no more and no less.
//!
//! What was staged and not committed is released through its table's `destroy`.

use chipdock_plugin_api::text::str_in_lossy;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_abi::{
    CHIPDOCK_ABI_MAJOR, CHIPDOCK_ABI_MINOR, CHIPDOCK_LAYOUT_HASH, CHIPDOCK_MAGIC, ChipdockHost,
    ChipdockPlugin, ChipdockRegistrar, ChipdockStr, ChipdockTableSizes,
};
use chipdock_plugin_api as api;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::attest;
use crate::error::{Error, ErrorKind};
use crate::manifest::{Manifest, check_name, sha256_of};
use crate::options::LogLevel;
use crate::problem::{Problem, ProblemKind};
use crate::registrar::{DeviceTypes, Entry, Staged, Staging};
use crate::registry::HOST_PLUGIN;
use crate::services::{Services, text_in};

/// A plugin that was opened.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) version: semver::Version,
    pub(crate) build_id: String,
    pub(crate) abi: (u32, u32),
    /// Whether it carried type layouts, which then agreed.
    pub(crate) attested: bool,
    pub(crate) staged: Staged,
    shutdown: unsafe extern "C" fn(host: *const ChipdockHost) -> i32,
}

impl Opened {
    /// Lets the plugin drain what works for this host.
    pub(crate) fn shutdown(&self, services: &'static Services) -> Result<(), Error> {
        services.clear_error();
        // SAFETY: P10, called once for each `init` that succeeded, with no other call of this host during it.
        let status = unsafe { (self.shutdown)(services.table()) };
        services.check(status, || format!("`shutdown` of plugin \"{}\"", self.name))
    }
}

type Init = unsafe extern "C" fn(*const ChipdockHost, *const ChipdockRegistrar) -> i32;

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
    init: Option<Init>,
    shutdown: Option<unsafe extern "C" fn(*const ChipdockHost) -> i32>,
}

const _: () = assert!(size_of::<RawDescriptor>() == size_of::<ChipdockPlugin>());

/// What a plugin is opened for.
pub(crate) struct Opening<'a> {
    pub(crate) library: &'a Path,
    pub(crate) manifest: Option<&'a Manifest>,
    pub(crate) services: &'static Services,
    pub(crate) device_types: &'a Arc<Mutex<DeviceTypes>>,
    /// Asked with the descriptor's name before `init` runs: a library without a manifest tells its name only then.
    pub(crate) accept: &'a dyn Fn(&str) -> Option<Problem>,
}

/// Opens a plugin: rules L1 to L6.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Opened, Problem> {
    if let Some(expected) = opening.manifest.and_then(|manifest| manifest.sha256.as_deref()) {
        check_digest(opening.library, expected)?;
    }
    let library = open_library(opening.library)?;
    let (descriptor, address) = descriptor(&library)?;
    let identity = check_descriptor(&descriptor, opening.manifest)?;
    if let Some(problem) = (opening.accept)(&identity.name) {
        return Err(problem);
    }
    let attested = attest::check(&library, address)?;
    let before = opening.device_types.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let registered = register(opening, &descriptor, identity, attested);
    if registered.is_err() {
        // Numbers that a refused plugin took are free again.
        *opening.device_types.lock().unwrap_or_else(PoisonError::into_inner) = before;
    }
    registered
}

fn check_digest(library: &Path, expected: &str) -> Result<(), Problem> {
    let found =
        sha256_of(library).map_err(|error| Problem::new(ProblemKind::CannotOpen, error.to_string()))?;
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let message = format!(
        "its SHA-256 is {found}, the manifest says {expected}; install library and manifest together"
    );
    Err(Problem::new(ProblemKind::WrongDigest, message))
}

/// Rule L2. The library stays open as long as the process (P11).
fn open_library(path: &Path) -> Result<std::mem::ManuallyDrop<Library>, Problem> {
    let cannot = |message: String| Problem::new(ProblemKind::CannotOpen, message);
    // A name without a slash would be searched for among the system's libraries.
    let path = path.canonicalize().map_err(|error| cannot(format!("cannot be opened: {error}")))?;
    // SAFETY: its constructors run; that is what opening a plugin means.
    let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| cannot(format!("the system's loader refused it: {}", loader_text(&error))))?;
    Ok(std::mem::ManuallyDrop::new(library))
}

fn loader_text(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.unwrap_or_else(|| error.to_string())
}

/// Rule L3, up to the bytes of the descriptor, with their address.
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
    // SAFETY: the entry takes nothing and answers a static descriptor.
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
    // SAFETY: not null and aligned; magic and version come first in every major, so nothing behind them is read.
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

fn other_major(built_for: &str) -> Problem {
    let message = format!(
        "built for plugin ABI {built_for}, this host speaks {CHIPDOCK_ABI_MAJOR}.{CHIPDOCK_ABI_MINOR}; \
         get a build for this host"
    );
    Problem::new(ProblemKind::OtherMajor, message)
}

struct Identity {
    name: String,
    version: semver::Version,
    build_id: String,
}

/// Rule L3, what the descriptor says.
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
    if descriptor.init.is_none() || descriptor.shutdown.is_none() {
        return Err(bad("`init` or `shutdown` of its descriptor is null".to_owned()));
    }
    // SAFETY: strings of a static descriptor whose magic, sizes and layouts are right.
    let (name, version, build_id) = unsafe {
        (
            text_in(descriptor.name, "its name")
                .and_then(|name| check_name(&name).map(|()| name))
                .map_err(bad)?,
            text_in(descriptor.version, "its version").map_err(bad)?,
            str_in_lossy(descriptor.build_id).into_owned(),
        )
    };
    let version = semver::Version::parse(&version)
        .map_err(|error| bad(format!("its version \"{version}\" is no semver: {error}")))?;
    if let Some(manifest) = manifest
        && (manifest.name != name || manifest.version != version)
    {
        let message = format!(
            "the library is \"{name}\" {version}, its manifest says \"{}\" {}; install both together",
            manifest.name, manifest.version
        );
        return Err(Problem::new(ProblemKind::WrongName, message));
    }
    Ok(Identity { name, version, build_id })
}

/// Rules L5 and L6.
fn register(
    opening: &Opening<'_>,
    descriptor: &RawDescriptor,
    identity: Identity,
    attested: bool,
) -> Result<Opened, Problem> {
    let (Some(init), Some(shutdown)) = (descriptor.init, descriptor.shutdown) else {
        return Err(Problem::new(ProblemKind::BadDescriptor, "`init` or `shutdown` is null"));
    };
    let services = opening.services;
    let staging = Staging::new(services, Arc::clone(opening.device_types));
    let registrar = staging.registrar();
    services.clear_error();
    // SAFETY: once for each host, with no other call of this host during it; host and registrar outlive the call.
    let status = unsafe { init(ptr::from_ref(services.table()), &registrar) };
    let init_failed = services.check(status, || "`init`".to_owned());
    let staged = staging.into_staged();
    if let Err(error) = init_failed {
        let kind = match error.kind() {
            ErrorKind::BrokenPlugin => ProblemKind::BrokenPlugin,
            _ if staged.refused.iter().any(|refused| refused.name_taken) => ProblemKind::NameTaken,
            _ => ProblemKind::InitFailed,
        };
        return Err(Problem::new(kind, format!("its `init` failed: {}: {error}", error.kind().name())));
    }
    let Identity { name, version, build_id } = identity;
    let abi = (descriptor.abi_major, descriptor.abi_minor);
    let opened = Opened { name, version, build_id, abi, attested, staged, shutdown };
    let problem = registration_problem(&opened.staged, opening.manifest);
    let Some(problem) = problem else { return Ok(opened) };
    if let Err(error) = opened.shutdown(services) {
        let message = format!("{}; and then {error}", problem.message);
        return Err(Problem::new(problem.kind, message));
    }
    Err(problem)
}

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
    Some(Problem::new(ProblemKind::ManifestLies, message + "; generate the manifest again"))
}

fn schema_problem(staged: &Staged, manifest: &Manifest) -> Option<Problem> {
    let other = manifest.target_kinds.iter().find(|kind| {
        let entry = staged.entries.get(&format!("target.kind.{}", kind.name));
        !matches!(entry, Some(Entry::TargetKind(entry)) if *entry.kind == **kind)
    })?;
    let message = format!(
        "the schema of target kind \"{}\" in its manifest is not the one that it registers; generate the manifest again",
        other.name
    );
    Some(Problem::new(ProblemKind::ManifestLies, message))
}

/// Lets what is linked into this program register itself, as a plugin's `init` does.
pub(crate) fn init_host_plugin(
    services: &'static Services,
    registrar: &ChipdockRegistrar,
) -> Result<(), Error> {
    services.clear_error();
    // SAFETY: once for each host; the table lives as long as the process, the registrar for the call.
    let status = unsafe { api::__private::init(HOST_PLUGIN, services.table(), registrar) };
    services.check(status, || "the host's own registration".to_owned())
}

/// Its `shutdown`.
pub(crate) fn shut_down_host_plugin(services: &'static Services) {
    // SAFETY: `init` succeeded for this host when it was made.
    let status = unsafe { api::__private::shutdown(services.table()) };
    if let Err(error) = services.check(status, || "the host's own shutdown".to_owned()) {
        services.log(LogLevel::Warning, &error.to_string());
    }
}
