//! The host: the entry point to plugins, targets, devices and compilation.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chipdock_abi::ChipdockEnv;
use chipdock_ir::TargetKind;
use chipdock_plugin_api as api;

use crate::boundary::host_calls::HostCalls;
use crate::boundary::services::Services;
use crate::compile::cache::CompileCache;
use crate::environment::Environment;
use crate::error::{Error, ErrorKind};
use crate::log::LogLevel;
use crate::names::{HOST_PLUGIN, name_in_key};
use crate::open::digest_memory::Digests;
use crate::open::discovery::{self, Filters, SearchedPlace};
use crate::open::registry::{KeyReport, PluginReport, Registry};
use crate::open::settings::{SettingReport, Settings};
use crate::options::HostOptions;
use crate::runtime::{Devices, EnvState, wanted_threads};

// The host's own device API: host memory is always there. A plugin's registration of the same name
// is taken instead.
api::register_device_api!(api::cpu::NAME, api::abi::CHIPDOCK_DEVICE_CPU, |context| Box::new(
    api::cpu::CpuDeviceApi::new(context.host())
));

/// A host: plugins, targets, devices, compilation. Cloning shares it.
///
/// Several hosts may live in a process. When the last handle is gone (devices, tensors, modules and
/// functions hold one too), its plugins are shut down; their libraries stay loaded.
#[derive(Clone)]
pub struct Host(pub(crate) Arc<HostInner>);

pub(crate) struct HostInner {
    pub(crate) services: &'static Services,
    pub(crate) registry: Registry,
    /// The part of the process that it uses, as it was when it was made.
    pub(crate) environment: Environment,
    pub(crate) devices: Devices,
    /// The environment of compiled code that imports nothing.
    env: OnceLock<&'static ChipdockEnv>,
    /// Warnings about targets that are given once.
    pub(crate) told: Mutex<BTreeSet<String>>,
    /// Whether it was said that there is no compile cache.
    pub(crate) told_of_cache: AtomicBool,
    pub(crate) kept: Kept,
}

/// What parts of the host keep for each host: one value of each type, which that part alone knows.
#[derive(Default)]
pub(crate) struct Kept(Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Kept {
    /// Returns the value of a type, made when it is first asked for.
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = || -> Arc<dyn Any + Send + Sync> { Arc::new(T::default()) };
        let kept = Arc::clone(all.entry(TypeId::of::<T>()).or_insert_with(made));
        drop(all);
        // Under its type's id lies a value of that type.
        kept.downcast().unwrap_or_default()
    }
}

impl Host {
    /// Makes a host: searches for plugins, opens none of them.
    ///
    /// # Errors
    ///
    /// `ValueError` for an option that is malformed, or a setting that no plugin declares. A
    /// problem of a plugin is recorded with it, see [`Self::plugins`].
    pub fn new(mut options: HostOptions) -> Result<Self, Error> {
        options.remember &= CompileCache::size_bytes_max_of_process().is_ok_and(|most| most > 0);
        let discovery = discovery::discover(&options)?;
        let filters = Filters::new(&options)?;
        let prefer = preferences(&options)?;
        let threads = threads(&options)?;
        let settings = Settings::new(&options, &discovery)?;
        let services = Services::leaked(Arc::clone(&options.log), threads);
        services.decide(settings);
        options.on_ask.take().into_iter().for_each(|on_ask| services.ask_by(on_ask));
        let digests = Arc::new(Digests::of_process(options.remember));
        let locked = options.locked.clone();
        let inner = Arc::new(HostInner {
            services,
            registry: Registry::new(services, discovery, filters, prefer, locked, digests),
            environment: options.environment,
            devices: Devices::default(),
            env: OnceLock::new(),
            told: Mutex::default(),
            told_of_cache: AtomicBool::new(false),
            kept: Kept::default(),
        });
        services.connect(Arc::downgrade(&(Arc::clone(&inner) as Arc<dyn HostCalls>)));
        inner.registry.open_host_plugin()?;
        Ok(Self(inner))
    }

    /// Returns the settings of a plugin, each with its value and the source of the value; as its
    /// manifest lists them, or as it declares them once it is open. Opens nothing.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is no such plugin, or it has no manifest and is not open.
    pub fn settings(&self, plugin: &str) -> Result<Vec<SettingReport>, Error> {
        let declared = self.0.registry.declared_settings(plugin)?;
        Ok(self.0.services.settings().reports(plugin, &declared))
    }

    /// Returns every plugin that was met, in the order of the search, with its state. Opens
    /// nothing.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginReport> {
        self.0.registry.reports()
    }

    /// Returns every place of the search, with the reason where it was not searched.
    #[must_use]
    pub fn places(&self) -> &[SearchedPlace] {
        &self.0.registry.discovery.places
    }

    /// Returns every known key, with the plugins that provide it or that were refused. Opens
    /// nothing.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyReport> {
        self.0.registry.key_reports()
    }

    /// Opens the plugin of that name now, instead of when it is first needed.
    ///
    /// # Errors
    ///
    /// `Unavailable` or `BrokenPlugin`: there is no such plugin, or the reason why it is not used.
    /// Other plugins are as they were.
    pub fn open_plugin(&self, name: &str) -> Result<PluginReport, Error> {
        self.0.registry.open_by_name(name)
    }

    /// Returns the schemas of all target kinds, by name, each with the plugin that provides it.
    /// Opens only libraries that have no manifest, or whose manifest has no schema. A kind whose
    /// plugin cannot be used, or that several plugins provide ([`KeyReport::disputed`]), is left
    /// out and named in the log.
    #[must_use]
    pub fn target_kinds(&self) -> Vec<(Arc<TargetKind>, String)> {
        let mut kinds = Vec::new();
        for report in self.keys() {
            let Some(name) = name_in_key(&report.key, "target.kind.") else { continue };
            if report.plugins.is_empty() {
                continue;
            }
            match self.0.registry.target_kind(name) {
                Ok(Some(kind)) => kinds.push((kind, self.provider(&report))),
                Ok(None) => {}
                Err(error) => self.0.services.log(LogLevel::Warning, &error.to_string()),
            }
        }
        kinds
    }

    /// Returns the names of all tags, in their order, each with its kind; its options are in
    /// [`TargetKind::tags`]. Opens what [`Self::target_kinds`] opens, and leaves out what that
    /// does.
    #[must_use]
    pub fn target_tags(&self) -> Vec<(String, Arc<TargetKind>)> {
        let kinds = self.target_kinds().into_iter().map(|(kind, _)| kind);
        let mut tags: Vec<_> = kinds
            .flat_map(|kind| kind.tags.clone().into_keys().map(move |tag| (tag, Arc::clone(&kind))))
            .collect();
        tags.sort_by(|(one, _), (other, _)| one.cmp(other));
        tags
    }

    /// Returns the schema of one target kind. Opens its plugin only when its manifest does not have
    /// it.
    ///
    /// # Errors
    ///
    /// `Unavailable` when no plugin provides it; `WrongState` when several plugins do; the reason
    /// why its plugin cannot be used; `Unsupported` when its schema has a stage, an option's type,
    /// a thread axis or a version that this host does not know.
    pub fn target_kind(&self, name: &str) -> Result<Arc<TargetKind>, Error> {
        self.0
            .registry
            .target_kind(name)?
            .ok_or_else(|| self.0.registry.missing(&format!("target.kind.{name}")))
    }

    /// Returns the reason why a key is unusable though plugins provide it: several do, and none is
    /// preferred. `None` for a key that is not disputed. Opens nothing.
    #[must_use]
    pub fn dispute(&self, key: &str) -> Option<Error> {
        self.0.registry.dispute(key)
    }

    /// Returns the reason why a key is unavailable though plugins would provide it: discovery
    /// refused them, or the user left them out. `None` for a key that a plugin or the host
    /// provides, and for one that is unknown. Opens nothing.
    #[must_use]
    pub fn refusal(&self, key: &str) -> Option<Error> {
        self.0.registry.refusal(key)
    }

    fn provider(&self, report: &KeyReport) -> String {
        let preferred = self.0.registry.prefer.get(&report.key).cloned();
        preferred.or_else(|| report.plugins.first().cloned()).unwrap_or_default()
    }

    /// Returns the number of threads for parallel loops, the caller's included. They start when a
    /// loop first needs them.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.0.services.threads.size()
    }

    /// Returns the environment for compiled code that no loader of this host has loaded: the value
    /// for its `__chipdock_env` pointer. Lives as long as the process; once the host has gone its
    /// functions fail, and parallel loops run on their caller's thread. Nothing is imported there.
    #[must_use]
    pub fn environment(&self) -> &'static ChipdockEnv {
        self.0.env.get_or_init(|| EnvState::shared(self.0.services))
    }
}

/// Returns the number of threads from the option, or else from the variable.
fn threads(options: &HostOptions) -> Result<Option<u32>, Error> {
    wanted_threads(options.threads, options.environment.threads_text()?)
}

/// Merges the preferences of option and variable; the option wins.
fn preferences(options: &HostOptions) -> Result<BTreeMap<String, String>, Error> {
    let mut prefer = BTreeMap::new();
    for entry in discovery::with_variable(&[], options.environment.prefer_text()?) {
        let (key, plugin) = entry.split_once('=').ok_or_else(|| {
            let message = format!("CHIPDOCK_PLUGINS_PREFER has \"{entry}\"; expected KEY=PLUGIN");
            Error::new(ErrorKind::Value, message)
        })?;
        prefer.insert(key.trim().to_owned(), plugin.trim().to_owned());
    }
    prefer.extend(options.prefer.iter().cloned());
    if let Some(key) =
        prefer.keys().find(|key| !crate::names::KEY_PREFIXES.iter().any(|prefix| key.starts_with(prefix)))
    {
        let message = format!(
            "\"{key}\" is not a key; expected, for example, device_api.<name> or target.build.<kind>"
        );
        return Err(Error::new(ErrorKind::Value, message));
    }
    Ok(prefer)
}

impl Drop for HostInner {
    fn drop(&mut self) {
        // In a forked child the parent's drivers and locks do not exist: nothing is touched.
        if self.services.check_process().is_ok() {
            // First: threads that end return workspace to devices.
            self.services.threads.shut_down();
            self.devices.release();
            self.registry.shut_down();
            // The services live as long as the process.
            self.services.decide(Settings::default());
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.plugins().into_iter().map(|plugin| plugin.name).collect();
        f.debug_struct("Host").field("plugins", &names).field("built_in", &HOST_PLUGIN).finish()
    }
}
