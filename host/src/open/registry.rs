//! The registry: finds the registration under a key, and opens as few plugins as possible for it.
//!
//! * **REG-R1 Lazy.** The first request for a key opens the plugin whose manifest provides it; when
//!   no manifest does, all libraries without a manifest.
//! * **REG-R2 One answer.** A key that several plugins provide is *disputed*: asking for it is an
//!   error that names them all, until one is preferred, and opens none of them. A registration of
//!   the host itself gives way to a plugin's, and is used while plugins dispute the key.
//! * **REG-R3 Permanent.** A key that was found once keeps its registration for this host.
//! * **REG-R4 Nothing hidden.** A plugin that provides a key and cannot be used is named in the
//!   error; when no plugin is known to provide it, so are those whose manifests are not trusted or
//!   cannot be read.
//! * **REG-R5 A dispute stays where it is.** It makes one key unusable and nothing else: the other
//!   keys of the plugins are in force, and code that chooses among keys (the default host target,
//!   lists of kinds and devices) leaves disputed ones out and names them.
//! * **REG-R6 Needed keys first.** Before a plugin is opened, the keys that its manifest needs
//!   (P5.15) are found by REG-R1 to REG-R3, with the needs of their providers in turn. An
//!   unavailable key is a reason why the plugin is not opened; so is a circle, which discovery does
//!   not see where `prefer` or a library without a manifest causes it.
//! * **REG-R7 One answer for a refused plugin.** A key that only refused plugins would provide is
//!   listed, and whoever asks for it has the same answer as where opening them failed:
//!   `Unavailable`, with the reason. A plugin that the user left out is not refused.

mod needs;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chipdock_ir::{DeclaredKind, TargetKind};
use chipdock_plugin_api as api;
use serde::Serialize;

use crate::boundary::guard::ProcessChange;
use crate::boundary::instance::Instance;
use crate::boundary::registrar::{DeviceApiEntry, DeviceTypes, Entry, Staged};
use crate::boundary::services::Services;
use crate::compile::resolve::schema::usable_kind;
use crate::compile::resolve::tag::Tags;
use crate::error::{Error, ErrorKind, Subject, nearest};
use crate::log::LogLevel;
use crate::names::{HOST_PLUGIN, name_in_key};
use crate::open::digest_memory::Digests;
use crate::open::discovery::{Candidate, Discovery, Filters};
use crate::open::loader::{self, Opened, Opening};
use crate::open::lock::PluginLock;
use crate::open::manifest::Needs;
use crate::open::problem::{Problem, ProblemKind};
use crate::open::program::ProgramFunctions;
use crate::open::settings::DeclaredSetting;

/// Index of the host among the plugins, after all others.
const HOST_INDEX: usize = usize::MAX;

/// The state of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginState {
    /// Known by its manifest or its file name alone; opened when one of its names is asked for.
    Listed,
    /// Open; its names are in force.
    Opened,
    /// Not used; the problem says why.
    Unused,
}

/// Report on a plugin, for a person.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PluginReport {
    /// Name of the plugin.
    pub name: String,
    /// Its version, when it is known without opening it, or it is open.
    pub version: Option<String>,
    /// The library.
    pub library: std::path::PathBuf,
    /// The manifest, when it has one.
    pub manifest: Option<std::path::PathBuf>,
    /// Place through which it was found.
    pub source: crate::open::discovery::Source,
    /// Its state.
    pub state: PluginState,
    /// Reason why it is not used, if it is not.
    #[serde(flatten)]
    pub problem: Option<Problem>,
    /// Its keys: those that its manifest lists, or those that it registered.
    pub provides: Vec<String>,
    /// The ABI that it was built for, when it is open.
    pub abi: Option<String>,
    /// Id of its build, when it is open: that of its descriptor, else that of the linker, else
    /// the beginning of its SHA-256; empty where none of these is known (P1.15).
    pub build_id: Option<String>,
    /// When it is open, whether it has type layouts (and they match).
    pub attested: Option<bool>,
    /// Changes that it made to the process while it was opened, undone where that was possible
    /// (LOAD-L7).
    pub changes: Vec<ProcessChange>,
    /// Its needs.
    pub needs: Needs,
}

/// A key and the plugins that provide it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeyReport {
    /// The key.
    pub key: String,
    /// Names of the plugins that provide it, in the order of the search; `host` for the host
    /// itself.
    pub plugins: Vec<String>,
    /// Names of plugins that would provide it and that discovery refused: not those that the user
    /// left out (REG-R7).
    pub refused: Vec<String>,
    /// Whether several plugins provide it and none is preferred: it is unusable, unless the host
    /// itself provides it too (rule REG-R2).
    pub disputed: bool,
}

#[derive(Default)]
struct State {
    plugins: BTreeMap<usize, Result<OpenPlugin, Problem>>,
    /// Changes that plugins made to the process while they were opened, by index; of refused ones
    /// too.
    changes: BTreeMap<usize, Vec<ProcessChange>>,
    /// Instances that this host opened, in that order; the host itself before all others.
    opened: Vec<Arc<Instance>>,
    entries: BTreeMap<String, Vec<(usize, Entry)>>,
    resolved: BTreeMap<String, Entry>,
    /// Plugins that are waiting for the provider of a key to be opened, each with the key, in the
    /// order of the requests (REG-R6).
    waiting: Vec<(usize, String)>,
}

struct OpenPlugin {
    opened: Opened,
    keys: Vec<String>,
}

thread_local! {
    /// Hosts in which this thread is currently opening a plugin.
    static OPENING: std::cell::RefCell<Vec<*const c_void>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Holds the right to open plugins of a host.
struct OpeningGuard<'a>(*const c_void, #[expect(dead_code, reason = "held, not read")] MutexGuard<'a, ()>);

impl Drop for OpeningGuard<'_> {
    fn drop(&mut self) {
        OPENING.with_borrow_mut(|hosts| hosts.retain(|host| *host != self.0));
    }
}

/// The plugins that one host knows, with what those that are open have registered.
pub(crate) struct Registry {
    services: &'static Services,
    pub(crate) discovery: Discovery,
    filters: Filters,
    /// Plugins that the user prefers, by key.
    pub(crate) prefer: BTreeMap<String, String>,
    locked: Option<Arc<PluginLock>>,
    digests: Arc<Digests>,
    state: RwLock<State>,
    opening: Mutex<()>,
    /// What the program registered itself.
    pub(crate) program: ProgramFunctions,
    pub(crate) device_types: Arc<Mutex<DeviceTypes>>,
}

impl Registry {
    /// Makes the registry of what discovery found; no plugin is open.
    pub(crate) fn new(
        services: &'static Services,
        discovery: Discovery,
        filters: Filters,
        prefer: BTreeMap<String, String>,
        locked: Option<Arc<PluginLock>>,
        digests: Arc<Digests>,
    ) -> Self {
        let (state, opening, program, device_types) = Default::default();
        Self { services, discovery, filters, prefer, locked, digests, state, opening, program, device_types }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn start_opening(&self) -> Result<OpeningGuard<'_>, Error> {
        let me: *const c_void = std::ptr::from_ref(self).cast();
        if OPENING.with_borrow(|hosts| hosts.contains(&me)) {
            return Err(Error::new(
                ErrorKind::WrongState,
                "a plugin asked its host for a name during `init`",
            ));
        }
        let guard = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        OPENING.with_borrow_mut(|hosts| hosts.push(me));
        Ok(OpeningGuard(me, guard))
    }

    /// Returns the registration under a key, or `None` when no plugin provides it.
    pub(crate) fn entry(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.services.check_process()?;
        if let Some(entry) = self.read().resolved.get(key) {
            return Ok(Some(entry.clone()));
        }
        let _opening = self.start_opening()?;
        self.settle(key)
    }

    /// Resolves a key by rules REG-R1 to REG-R3. The caller holds the right to open.
    fn settle(&self, key: &str) -> Result<Option<Entry>, Error> {
        if let Some(entry) = self.read().resolved.get(key) {
            return Ok(Some(entry.clone()));
        }
        let found = self.resolve(key)?;
        if let Some(entry) = &found {
            self.write().resolved.insert(key.to_owned(), entry.clone());
        }
        Ok(found)
    }

    fn resolve(&self, key: &str) -> Result<Option<Entry>, Error> {
        if let Some(plugin) = self.prefer.get(key) {
            return self.resolve_preferred(key, plugin).map(Some);
        }
        let providers = self.providers(key);
        if providers.len() > 1 {
            return self.resolve_disputed(key, &providers);
        }
        let by_host = self.entry_of_host(key).is_some();
        match providers.first() {
            Some(&provider) => match self.open(provider) {
                Ok(()) => {}
                Err(problem) if by_host => {
                    let name = &self.discovery.candidates[provider].name;
                    let line =
                        format!("{key}: plugin \"{name}\" cannot be used ({problem}); the host's own is");
                    self.services.log(LogLevel::Warning, &line);
                }
                Err(problem) => {
                    let name = &self.discovery.candidates[provider].name;
                    return Err(problem.to_error(name).at(key.to_owned()));
                }
            },
            None if by_host => {}
            // Each build asks for hooks (C.41).
            None if key.strip_prefix("function.").is_some_and(api::hooks::is_hook) => {}
            None => self.open_unlisted(),
        }
        // Libraries without a manifest may have registered it meanwhile.
        let providers = self.providers(key);
        if providers.len() > 1 {
            return self.resolve_disputed(key, &providers);
        }
        let state = self.read();
        let all = state.entries.get(key).map(Vec::as_slice).unwrap_or_default();
        let of_plugin = all.iter().find(|(at, _)| *at != HOST_INDEX);
        Ok(of_plugin.or(all.first()).map(|(_, entry)| entry.clone()))
    }

    /// Resolves a key that several plugins provide (rule REG-R2): the host's own registration, or
    /// an error that names them.
    fn resolve_disputed(&self, key: &str, providers: &[usize]) -> Result<Option<Entry>, Error> {
        let disputed = self.disputed(key, providers);
        let Some(entry) = self.entry_of_host(key) else { return Err(disputed) };
        let line = format!("{}; the host's own is used; {}", disputed.message(), disputed.advice());
        self.services.log(LogLevel::Warning, &line);
        Ok(Some(entry))
    }

    /// Returns the host's own registration under a key.
    fn entry_of_host(&self, key: &str) -> Option<Entry> {
        let state = self.read();
        let mut entries = state.entries.get(key)?.iter();
        entries.find(|(at, _)| *at == HOST_INDEX).map(|(_, entry)| entry.clone())
    }

    fn resolve_preferred(&self, key: &str, plugin: &str) -> Result<Entry, Error> {
        let candidates = self.discovery.candidates.iter().enumerate();
        let named = || candidates.clone().filter(|(_, candidate)| candidate.name == plugin);
        let usable = named().find(|(_, candidate)| candidate.problem.is_none());
        let index = if plugin == HOST_PLUGIN { Some(HOST_INDEX) } else { usable.map(|(index, _)| index) };
        let Some(index) = index else {
            if let Some(problem) = named().find_map(|(_, candidate)| candidate.problem.as_ref()) {
                return Err(problem.to_error(plugin).at(key.to_owned()));
            }
            let error = Error::new(
                ErrorKind::Value,
                format!("{key} is to come from plugin \"{plugin}\", which is not there"),
            );
            return Err(error.hint("see `chipdock plugins`"));
        };
        if index != HOST_INDEX {
            self.open(index).map_err(|problem| problem.to_error(plugin).at(key.to_owned()))?;
        }
        let state = self.read();
        let entries = state.entries.get(key).map(Vec::as_slice).unwrap_or_default();
        let entry = entries.iter().find(|(at, _)| *at == index);
        entry.map(|(_, entry)| entry.clone()).ok_or_else(|| {
            Error::new(
                ErrorKind::Value,
                format!("{key} is to come from plugin \"{plugin}\", which does not provide it"),
            )
        })
    }

    /// Returns the usable plugins whose manifests list a key, and open ones that registered it.
    fn providers(&self, key: &str) -> Vec<usize> {
        let promised = self.discovery.candidates.iter().enumerate().filter(|(_, candidate)| {
            let manifest = candidate.manifest.as_ref().filter(|_| candidate.problem.is_none());
            manifest.is_some_and(|manifest| manifest.provides.iter().any(|provided| provided == key))
        });
        let mut providers: Vec<usize> = promised.map(|(index, _)| index).collect();
        let state = self.read();
        for (index, _) in state.entries.get(key).into_iter().flatten() {
            if *index != HOST_INDEX && !providers.contains(index) {
                providers.push(*index);
            }
        }
        providers
    }

    /// Makes the error for a key that several plugins provide.
    fn disputed(&self, key: &str, providers: &[usize]) -> Error {
        let candidates = || providers.iter().map(|index| &self.discovery.candidates[*index]);
        let named: Vec<String> = candidates()
            .map(|candidate| format!("\"{}\" ({})", candidate.name, candidate.library.display()))
            .collect();
        let first = candidates().next().map_or("PLUGIN", |candidate| candidate.name.as_str());
        let message = format!(
            "{key} is provided by {} plugins, and none is preferred: {}",
            named.len(),
            named.join(" and ")
        );
        Error::new(ErrorKind::WrongState, message)
            .about(Subject::Plugin)
            .hint(format!("choose one with --prefer {key}={first}, or disable the others"))
    }

    /// Returns the error for a disputed key, or `None` when it is not disputed. Opens nothing.
    pub(crate) fn dispute(&self, key: &str) -> Option<Error> {
        let providers = self.providers(key);
        (providers.len() > 1 && !self.prefer.contains_key(key)).then(|| self.disputed(key, &providers))
    }

    /// Opens all libraries without a manifest (second half of rule REG-R1).
    fn open_unlisted(&self) {
        for (index, candidate) in self.discovery.candidates.iter().enumerate() {
            if candidate.problem.is_none() && candidate.manifest.is_none() {
                // Its problem is recorded with it.
                let _ = self.open(index);
            }
        }
    }

    /// Opens a plugin, unless that was done or tried before. The caller holds the right to open.
    fn open(&self, index: usize) -> Result<(), Problem> {
        if let Some(known) = self.read().plugins.get(&index) {
            return known.as_ref().map(|_| ()).map_err(Clone::clone);
        }
        let candidate = &self.discovery.candidates[index];
        if let Some(problem) = candidate.problem.clone().or_else(|| self.waits_for_itself(index)) {
            return Err(problem);
        }
        let changes = RefCell::default();
        let opening = Opening {
            name: &candidate.name,
            library: &candidate.library,
            manifest: candidate.manifest.as_ref(),
            locked: self.locked.as_deref().map(|lock| (lock, candidate.name.as_str())),
            digests: &self.digests,
            services: self.services,
            device_types: &self.device_types,
            accept: &|name| self.refused_name(index, candidate, name),
            changes: &changes,
        };
        let library = candidate.library.display();
        let span = tracing::info_span!("open_plugin", plugin = candidate.name, %library).entered();
        let opened = self.open_needed(index).and_then(|()| {
            self.services.log(LogLevel::Debug, &format!("opening {}", candidate.library.display()));
            loader::open(&opening)
        });
        drop(span);
        let result = opened.as_ref().map(|_| ()).map_err(Clone::clone);
        if let Err(problem) = &result {
            let line = format!("plugin \"{}\" ({}): {problem}", candidate.name, candidate.library.display());
            self.services.log(LogLevel::Info, &line);
        }
        self.write().changes.insert(index, changes.into_inner());
        self.commit(index, opened);
        result
    }

    fn commit(&self, index: usize, opened: Result<Opened, Problem>) {
        let mut state = self.write();
        let open = opened.map(|mut opened| {
            let Staged { entries, .. } = std::mem::take(&mut opened.staged);
            let keys = entries.keys().cloned().collect();
            state.opened.push(Arc::clone(&opened.instance));
            for (key, entry) in entries {
                state.entries.entry(key).or_default().push((index, entry));
            }
            OpenPlugin { opened, keys }
        });
        if let MapEntry::Vacant(place) = state.plugins.entry(index) {
            place.insert(open);
        }
    }

    /// Applies select, disable and shadowing to a library without a manifest, whose name is known
    /// only when it is open.
    fn refused_name(&self, index: usize, candidate: &Candidate, name: &str) -> Option<Problem> {
        if candidate.manifest.is_some() {
            return None;
        }
        let state = self.read();
        let real_name = |(at, other): (usize, &Candidate)| match state.plugins.get(&at) {
            Some(Ok(open)) => open.opened.name.clone(),
            _ => other.name.clone(),
        };
        let others = self.discovery.candidates.iter().enumerate();
        let mut others = others.filter(|(at, other)| {
            let open = matches!(state.plugins.get(at), Some(Ok(_)));
            *at != index && other.problem.is_none() && (other.manifest.is_some() || open)
        });
        if let Some((_, first)) = others.find(|other| real_name(*other) == name) {
            let message = format!("it is \"{name}\", as is {}, which is used", first.library.display());
            return Some(Problem::new(ProblemKind::Shadowed, message));
        }
        self.filters.problem(name)
    }

    /// Registers the host's own plugin, in the same way as any other.
    pub(crate) fn open_host_plugin(&self) -> Result<(), Error> {
        let (staged, instance) = loader::init_host_plugin(self.services, &self.device_types)?;
        let mut state = self.write();
        state.opened.push(instance);
        for (key, entry) in staged.entries {
            state.entries.entry(key).or_default().push((HOST_INDEX, entry));
        }
        Ok(())
    }

    /// Shuts down every open plugin, the last opened first (P10.15), and drops their registrations.
    pub(crate) fn shut_down(&self) {
        let mut state = std::mem::take(&mut *self.write());
        for instance in state.opened.drain(..).rev() {
            if let Err(error) = instance.shut_down() {
                self.services.log(LogLevel::Warning, &format!("plugin \"{}\": {error}", instance.plugin()));
            }
        }
    }

    /// Opens all libraries without a manifest, for code that asks for something that no manifest
    /// has.
    pub(crate) fn open_all_unlisted(&self) -> Result<(), Error> {
        self.services.check_process()?;
        let _opening = self.start_opening()?;
        self.open_unlisted();
        Ok(())
    }

    /// Returns the tags of the manifests and of the registered kinds, also of plugins that were
    /// refused: whoever asks for the kind learns why.
    pub(crate) fn tags(&self) -> Tags {
        let candidates = self.discovery.candidates.iter();
        let present = candidates
            .filter(|candidate| candidate.problem.as_ref().is_none_or(|problem| !problem.kind.is_left_out()));
        let listed = present.filter_map(|candidate| candidate.manifest.as_ref());
        let mut tags = Tags::new();
        let mut add = |declared: &DeclaredKind| {
            let Ok(kind) = declared.usable() else { return };
            for tag in kind.tags.keys() {
                tags.entry(tag.clone()).or_default().insert(kind.name.clone());
            }
        };
        listed.flat_map(|manifest| &manifest.target_kinds).for_each(&mut add);
        for (_, entry) in self.read().entries.values().flatten() {
            if let Entry::TargetKind(entry) = entry {
                add(&entry.declared);
            }
        }
        tags
    }

    /// Returns the plugins that would provide a key but are not used, each with the reason.
    pub(crate) fn unused_providers(&self, key: &str) -> Vec<String> {
        let reports =
            self.reports().into_iter().filter(|report| report.provides.iter().any(|other| other == key));
        let told = reports.filter_map(|report| {
            Some(format!("plugin \"{}\" is not used: {}", report.name, report.problem?))
        });
        told.collect()
    }

    /// Returns the plugins whose manifests are not trusted or cannot be read: the keys that they
    /// would provide are unknown.
    pub(crate) fn unread_manifests(&self) -> Vec<String> {
        self.discovery.candidates.iter().filter_map(Candidate::unread).collect()
    }

    /// Adds advice: the near name, and the plugins whose manifests were not read; `otherwise` where
    /// there is neither.
    fn advised(&self, error: Error, near: Option<&str>, otherwise: &str) -> Error {
        let near = near.map(|near| format!("did you mean \"{near}\"?"));
        let advice: Vec<String> = near.into_iter().chain(self.unread_manifests()).collect();
        error.hint(if advice.is_empty() { otherwise.to_owned() } else { advice.join("; ") })
    }

    /// Makes the error for a key that no plugin provides: near names, and plugins that would
    /// provide it but are not used (REG-R4).
    pub(crate) fn missing(&self, key: &str) -> Error {
        let unused = self.unused_providers(key);
        let error = Error::new(ErrorKind::Unavailable, format!("no plugin provides {key}"));
        if !unused.is_empty() {
            return error.hint(unused.join("; "));
        }
        let mut keys = self.key_reports();
        keys.retain(|report| !report.plugins.is_empty());
        let prefix =
            crate::names::KEY_PREFIXES.iter().find(|prefix| key.starts_with(**prefix)).unwrap_or(&"");
        let names = keys.iter().map(|report| report.key.as_str()).filter(|other| other.starts_with(prefix));
        let otherwise = "see `chipdock plugins` for the plugins found, and why any is not used";
        self.advised(error, nearest(key, names), otherwise)
    }

    /// Returns the settings that a plugin declares, as far as they are known without opening it.
    pub(crate) fn declared_settings(&self, plugin: &str) -> Result<Vec<DeclaredSetting>, Error> {
        let state = self.read();
        let candidates = self.discovery.candidates.iter().enumerate();
        let mut named = candidates.filter(|(index, candidate)| match state.plugins.get(index) {
            Some(Ok(open)) => open.opened.name == plugin,
            _ => candidate.name == plugin,
        });
        let found = named.clone().find(|(_, candidate)| candidate.problem.is_none()).or_else(|| named.next());
        let known = found.and_then(|(index, candidate)| match state.plugins.get(&index) {
            Some(Ok(open)) => Some(open.opened.settings.clone()),
            _ => candidate.manifest.as_ref().map(|manifest| manifest.settings.clone()),
        });
        known.ok_or_else(|| {
            let why = if found.is_some() { "has no manifest and is not open" } else { "is not there" };
            let message = format!("the settings of plugin \"{plugin}\" are not known: it {why}");
            Error::new(ErrorKind::Unavailable, message).hint("see `chipdock plugins`")
        })
    }

    /// Returns the name of the open plugin that has a key.
    pub(crate) fn plugin_of(&self, key: &str) -> String {
        let state = self.read();
        let index = state.entries.get(key).and_then(|all| all.first()).map(|(index, _)| *index);
        let candidate = index.and_then(|index| self.discovery.candidates.get(index));
        candidate.map_or_else(|| HOST_PLUGIN.to_owned(), |candidate| candidate.name.clone())
    }

    /// Returns the standing of the plugin of a key
    /// ([`Source::standing`](crate::open::discovery::Source::standing)): the best of all plugins of
    /// its name, since a file that hides another takes its standing. `None` for a key of the host's
    /// own.
    pub(crate) fn standing_of(&self, key: &str) -> Option<u8> {
        let providers = self.providers(key);
        let preferred = self.prefer.get(key);
        let of = |index: usize| self.discovery.candidates.get(index);
        let is_preferred =
            |index: &usize| preferred.is_none_or(|name| of(*index).is_some_and(|one| one.name == *name));
        let chosen = providers.iter().copied().find(is_preferred)?;
        let name = &of(chosen)?.name;
        let namesakes = self.discovery.candidates.iter().filter(|candidate| candidate.name == *name);
        namesakes.map(|candidate| candidate.source.standing()).min()
    }

    /// Returns the names of the plugins that are known to provide a key, in quotes.
    pub(crate) fn plugins_of(&self, key: &str) -> Vec<String> {
        let of = |index: &usize| format!("\"{}\"", self.discovery.candidates[*index].name);
        self.providers(key).iter().map(of).collect()
    }

    /// Returns the registered function of that name: the program's (PROGRAM-F2), else a plugin's.
    pub(crate) fn registered_function(&self, name: &str) -> Result<Option<api::Function>, Error> {
        if let Some(function) = self.program.get(name) {
            self.services.check_process()?;
            return Ok(Some(function));
        }
        let key = format!("function.{name}");
        match self.entry(&key)? {
            Some(Entry::Function(function)) => Ok(Some(function)),
            _ => self.refusal(&key).map_or(Ok(None), Err),
        }
    }

    /// Returns the schema of a target kind; opens its plugin only when its manifest does not have
    /// it.
    ///
    /// `Unsupported` for a schema with a part that must be known and is not (P3.10).
    pub(crate) fn target_kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error> {
        if let Some(kind) = self.listed_target_kind(name) {
            return kind.map(Some);
        }
        match self.entry(&format!("target.kind.{name}"))? {
            Some(Entry::TargetKind(entry)) => entry.kind().map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the schema of a target kind as far as it is known without opening a plugin: by the
    /// manifest of its provider, or because that plugin is open. `None` for a disputed kind.
    pub(crate) fn listed_target_kind(&self, name: &str) -> Option<Result<Arc<TargetKind>, Error>> {
        let key = format!("target.kind.{name}");
        if let Some(Entry::TargetKind(entry)) = self.read().resolved.get(&key) {
            return Some(entry.kind());
        }
        let providers = self.providers(&key);
        let provider = match (self.prefer.get(&key), providers.as_slice()) {
            (Some(preferred), _) => {
                let is_it = |index: &&usize| self.discovery.candidates[**index].name == *preferred;
                providers.iter().find(is_it)?
            }
            (None, [only]) => only,
            (None, _) => return None,
        };
        let manifest = self.discovery.candidates[*provider].manifest.as_ref()?;
        let kind = manifest.target_kinds.iter().find(|kind| kind.name() == name)?;
        Some(usable_kind(kind))
    }

    /// Returns the reason why a key is unavailable, where only plugins would provide it that
    /// discovery refused or the user left out (REG-R7). Opens nothing.
    pub(crate) fn refusal(&self, key: &str) -> Option<Error> {
        let is_missing = self.providers(key).is_empty() && self.entry_of_host(key).is_none();
        (is_missing && !self.unused_providers(key).is_empty()).then(|| self.missing(key))
    }

    /// Returns every key, by name, with the plugins that provide it, or that were refused.
    pub(crate) fn key_reports(&self) -> Vec<KeyReport> {
        let mut keys: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (index, candidate) in self.discovery.candidates.iter().enumerate() {
            let problem = candidate.problem.as_ref();
            if problem.is_some_and(|problem| problem.kind.is_left_out()) {
                continue;
            }
            for key in candidate.manifest.iter().flat_map(|manifest| &manifest.provides) {
                let indices = keys.entry(key.clone()).or_default();
                match problem {
                    None => indices.push(index),
                    Some(_) => refused.entry(key.clone()).or_default().push(candidate.name.clone()),
                }
            }
        }
        let state = self.read();
        for (key, entries) in &state.entries {
            let indices = keys.entry(key.clone()).or_default();
            for (index, _) in entries {
                if !indices.contains(index) {
                    indices.push(*index);
                }
            }
        }
        let name = |index: usize| {
            let candidate = self.discovery.candidates.get(index);
            candidate.map_or_else(|| HOST_PLUGIN.to_owned(), |candidate| candidate.name.clone())
        };
        let mut report = |(key, indices): (String, Vec<usize>)| {
            let n_plugins = indices.iter().filter(|index| **index != HOST_INDEX).count();
            let disputed = n_plugins > 1 && !self.prefer.contains_key(&key);
            let refused = refused.remove(&key).unwrap_or_default();
            KeyReport { key, plugins: indices.into_iter().map(name).collect(), refused, disputed }
        };
        keys.into_iter().map(&mut report).collect()
    }

    /// Returns a report on every plugin met, in the order of the search.
    pub(crate) fn reports(&self) -> Vec<PluginReport> {
        let state = self.read();
        let candidates = self.discovery.candidates.iter().enumerate();
        candidates.map(|(index, candidate)| report(&state, index, candidate)).collect()
    }

    /// Opens the plugin of that name now.
    pub(crate) fn open_by_name(&self, name: &str) -> Result<PluginReport, Error> {
        self.services.check_process()?;
        let candidates = &self.discovery.candidates;
        let by_name = |usable: bool| {
            candidates
                .iter()
                .position(|candidate| candidate.name == name && candidate.problem.is_none() == usable)
        };
        let Some(index) = by_name(true).or_else(|| by_name(false)) else {
            let near = nearest(name, candidates.iter().map(|candidate| candidate.name.as_str()));
            let error = Error::new(ErrorKind::Unavailable, format!("there is no plugin \"{name}\""));
            return Err(self.advised(error, near, "see `chipdock plugins`"));
        };
        let opened = {
            let _opening = self.start_opening()?;
            self.open(index)
        };
        opened.map_err(|problem| problem.to_error(name))?;
        Ok(report(&self.read(), index, &candidates[index]))
    }

    /// Returns the name of the device API with that type number. A plugin declares its number only
    /// when it is open, so an unknown number opens them all.
    pub(crate) fn device_type_name(&self, device_type: i32) -> Result<String, Error> {
        let known = || {
            let types = self.device_types.lock().unwrap_or_else(PoisonError::into_inner);
            types.name(device_type).map(str::to_owned)
        };
        if let Some(name) = known() {
            return Ok(name);
        }
        for report in self.key_reports() {
            if let Some(name) = name_in_key(&report.key, "device_api.")
                && let Err(error) = self.device_api(name)
            {
                self.services.log(LogLevel::Warning, &error.to_string());
            }
        }
        known().ok_or_else(|| {
            let message = format!("no plugin has a device of type number {device_type}");
            Error::new(ErrorKind::NotFound, message).about(Subject::Plugin)
        })
    }

    /// Returns the type number in force of a device, by name; where no plugin provides it, the
    /// number that it would be given.
    pub(crate) fn device_type_of(&self, name: &str) -> Result<i32, Error> {
        if let Some(api) = self.device_api(name)? {
            return Ok(api.device_type);
        }
        let mut types = self.device_types.lock().unwrap_or_else(PoisonError::into_inner);
        types.number(name, 0).map_err(|message| Error::new(ErrorKind::Value, message))
    }

    pub(crate) fn device_api(&self, name: &str) -> Result<Option<Arc<DeviceApiEntry>>, Error> {
        Ok(match self.entry(&format!("device_api.{name}"))? {
            Some(Entry::DeviceApi(entry)) => Some(entry),
            _ => None,
        })
    }
}

fn report(state: &State, index: usize, candidate: &Candidate) -> PluginReport {
    let manifest = candidate.manifest.as_ref();
    let mut report = PluginReport {
        name: candidate.name.clone(),
        version: manifest.map(|manifest| manifest.version.to_string()),
        library: candidate.library.clone(),
        manifest: candidate.manifest_path.clone(),
        source: candidate.source,
        state: PluginState::Listed,
        problem: candidate.problem.clone(),
        provides: manifest.map(|manifest| manifest.provides.clone()).unwrap_or_default(),
        abi: None,
        build_id: None,
        attested: None,
        changes: state.changes.get(&index).cloned().unwrap_or_default(),
        needs: manifest.map(|manifest| manifest.needs.clone()).unwrap_or_default(),
    };
    match state.plugins.get(&index) {
        Some(Ok(plugin)) => {
            let opened = &plugin.opened;
            report.state = PluginState::Opened;
            report.name.clone_from(&opened.name);
            report.version = Some(opened.version.to_string());
            report.provides.clone_from(&plugin.keys);
            report.abi = Some(format!("{}.{}", opened.abi.0, opened.abi.1));
            report.build_id = Some(opened.build_id.clone());
            report.attested = Some(opened.attested);
        }
        Some(Err(problem)) => report.problem = Some(problem.clone()),
        None => {}
    }
    if report.problem.is_some() {
        report.state = PluginState::Unused;
    }
    report
}

#[cfg(test)]
mod refused_tests;
