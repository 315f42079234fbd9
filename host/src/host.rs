//! The host: the entry point to plugins, targets, devices and compilation.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use chipdock_abi::ChipdockEnv;
use chipdock_ir::{Target, TargetKind};
use chipdock_plugin_api as api;
use serde_json::Value;

use crate::boundary::registrar::{DeviceApiEntry, DeviceTypes, Entry};
use crate::boundary::services::Services;
use crate::compile::cache::CompileCache;
use crate::compile::plan::Plans;
use crate::compile::resolve::{self, TargetContext, TargetSource};
use crate::error::{Error, ErrorKind};
use crate::export::NamedLinkers;
use crate::library::TVM_FFI_VARIABLE;
use crate::names::name_in_key;
use crate::open::digest_memory::Digests;
use crate::open::discovery::{self, Discovery, Filters, SearchedPlace};
use crate::open::lock::PluginLock;
use crate::open::registry::{HOST_PLUGIN, KeyReport, PluginReport, State};
use crate::open::settings::{SettingReport, Settings};
use crate::options::{HostOptions, LogLevel};
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
    pub(crate) discovery: Discovery,
    pub(crate) filters: Filters,
    pub(crate) prefer: BTreeMap<String, String>,
    pub(crate) locked: Option<Arc<PluginLock>>,
    pub(crate) digests: Arc<Digests>,
    pub(crate) state: RwLock<State>,
    pub(crate) opening: Mutex<()>,
    /// Warnings about targets that are given once.
    told: Mutex<BTreeSet<String>>,
    pub(crate) device_types: Arc<Mutex<DeviceTypes>>,
    pub(crate) devices: Devices,
    pub(crate) plans: Mutex<Plans>,
    pub(crate) linkers: NamedLinkers,
    /// The file that `CHIPDOCK_TVM_FFI` names.
    pub(crate) tvm_ffi: Option<OsString>,
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
        let inner = Arc::new(HostInner {
            services,
            discovery,
            filters,
            prefer,
            locked: options.locked.clone(),
            digests: Arc::new(Digests::of_process(options.remember)),
            state: RwLock::default(),
            opening: Mutex::new(()),
            told: Mutex::default(),
            device_types: Arc::default(),
            devices: Devices::default(),
            plans: Mutex::default(),
            linkers: NamedLinkers::of(&options.environment),
            tvm_ffi: options.environment.variable(TVM_FFI_VARIABLE).map(OsStr::to_owned),
        });
        services.connect(Arc::downgrade(&inner));
        inner.open_host_plugin()?;
        Ok(Self(inner))
    }

    /// Returns the settings of a plugin, each with its value and the source of the value; as its
    /// manifest lists them, or as it declares them once it is open. Opens nothing.
    ///
    /// # Errors
    ///
    /// `Unavailable`: there is no such plugin, or it has no manifest and is not open.
    pub fn settings(&self, plugin: &str) -> Result<Vec<SettingReport>, Error> {
        let declared = self.0.declared_settings(plugin)?;
        Ok(self.0.services.settings().reports(plugin, &declared))
    }

    /// Returns every plugin that was met, in the order of the search, with its state. Opens
    /// nothing.
    #[must_use]
    pub fn plugins(&self) -> Vec<PluginReport> {
        self.0.reports()
    }

    /// Returns every place of the search, with the reason where it was not searched.
    #[must_use]
    pub fn places(&self) -> &[SearchedPlace] {
        &self.0.discovery.places
    }

    /// Returns every known key, with the plugins that provide it or that were refused. Opens
    /// nothing.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyReport> {
        self.0.key_reports()
    }

    /// Opens the plugin of that name now, instead of when it is first needed.
    ///
    /// # Errors
    ///
    /// `Unavailable` or `BrokenPlugin`: there is no such plugin, or the reason why it is not used.
    /// Other plugins are as they were.
    pub fn open_plugin(&self, name: &str) -> Result<PluginReport, Error> {
        self.0.open_by_name(name)
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
            match self.0.target_kind(name) {
                Ok(Some(kind)) => kinds.push((kind, self.provider(&report))),
                Ok(None) => {}
                Err(error) => self.0.services.log(LogLevel::Warning, &error.to_string()),
            }
        }
        kinds
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
        self.0.target_kind(name)?.ok_or_else(|| self.0.missing(&format!("target.kind.{name}")))
    }

    /// Returns the reason why a key is unusable though plugins provide it: several do, and none is
    /// preferred. `None` for a key that is not disputed. Opens nothing.
    #[must_use]
    pub fn dispute(&self, key: &str) -> Option<Error> {
        self.0.dispute(key)
    }

    /// Returns the reason why a key is unavailable though plugins would provide it: discovery
    /// refused them, or the user left them out. `None` for a key that a plugin or the host
    /// provides, and for one that is unknown. Opens nothing.
    #[must_use]
    pub fn refusal(&self, key: &str) -> Option<Error> {
        self.0.refusal(key)
    }

    fn provider(&self, report: &KeyReport) -> String {
        let preferred = self.0.prefer.get(&report.key).cloned();
        preferred.or_else(|| report.plugins.first().cloned()).unwrap_or_default()
    }

    /// Makes a target from a kind's name, JSON or a target: checked, with defaults filled in,
    /// canonicalized.
    ///
    /// # Errors
    ///
    /// `ValueError`, naming the option, the value and what is allowed; or the error with which the
    /// kind's plugin failed to open.
    pub fn target(&self, source: impl Into<TargetSource>) -> Result<Arc<Target>, Error> {
        self.0.services.check_process()?;
        let span = tracing::info_span!("target", kind = tracing::field::Empty).entered();
        let made = resolve::make(&*self.0, &source.into());
        made.inspect(|target| {
            span.record("kind", &*target.kind);
        })
    }

    /// Returns the target of a kind with its defaults, if it can be compiled for: its plugin opens,
    /// makes the target (at which point a library that it needs is looked for), and has a code
    /// generator.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be compiled for.
    pub fn usable_target(&self, kind: &str) -> Result<Arc<Target>, Error> {
        let target = self.target(kind)?;
        let key = format!("target.build.{kind}");
        self.0.entry(&key)?.map(|_| target).ok_or_else(|| self.0.missing(&key))
    }

    /// Returns the default target of host functions: of the usable kinds that declare themselves a
    /// host, one of a plugin that came with the program before others
    /// ([`Source::standing`](discovery::Source::standing)), among those the one with the highest
    /// preference. A kind that is passed over for a reason, a disputed one among them, is named in
    /// the log.
    ///
    /// A plugin that must be opened before its kinds are known is opened only when no other kind
    /// can be used.
    ///
    /// # Errors
    ///
    /// `Unavailable` when there is none.
    pub fn default_host(&self) -> Result<Arc<Target>, Error> {
        let mut reasons = Vec::new();
        let listed = self.listed_host_kinds(&mut reasons);
        if let Some(target) = self.first_usable(&listed, &mut reasons) {
            return Ok(target);
        }
        let opened = self.target_kinds().into_iter().map(|(kind, _)| kind);
        let others: Vec<_> =
            opened.filter(|kind| !listed.iter().any(|known| known.name == kind.name)).collect();
        if let Some(target) = self.first_usable(&others, &mut reasons) {
            return Ok(target);
        }
        let error = Error::new(ErrorKind::Unavailable, "no usable target kind has host functions");
        Err(if reasons.is_empty() {
            error.hint("see `chipdock plugins` for the plugins found, and why any is not used")
        } else {
            error.hint(reasons.join("; "))
        })
    }

    /// Returns the kinds whose schemas are known without opening a plugin; the reasons why others
    /// are not among them are logged.
    fn listed_host_kinds(&self, reasons: &mut Vec<String>) -> Vec<Arc<TargetKind>> {
        let mut kinds = Vec::new();
        for KeyReport { key, .. } in self.keys() {
            let Some(name) = name_in_key(&key, "target.kind.") else { continue };
            if let Some(refusal) = self.0.refusal(&key) {
                // No log line: discovery reports it, and it may be no host at all.
                reasons.push(format!("target kind \"{name}\" is unavailable: {refusal}"));
                continue;
            }
            match self.0.dispute(&key) {
                Some(error) => self.pass_over(name, &error, reasons),
                None => match self.0.listed_target_kind(name) {
                    Some(Err(error)) => self.pass_over(name, &error, reasons),
                    Some(Ok(kind)) => kinds.push(kind),
                    None => {}
                },
            }
        }
        kinds
    }

    fn first_usable(&self, kinds: &[Arc<TargetKind>], reasons: &mut Vec<String>) -> Option<Arc<Target>> {
        let mut hosts: Vec<_> = kinds.iter().filter(|kind| kind.is_host).collect();
        hosts.sort_by_cached_key(|kind| {
            let standing = self.0.standing_of(&format!("target.kind.{}", kind.name));
            (standing, Reverse(kind.host_preference), kind.name.clone())
        });
        for kind in hosts {
            match self.usable_target(&kind.name) {
                Ok(target) => return Some(target),
                Err(error) => self.pass_over(&kind.name, &error, reasons),
            }
        }
        None
    }

    fn pass_over(&self, kind: &str, error: &Error, reasons: &mut Vec<String>) {
        let reason = format!("target kind \"{kind}\" is not a usable host: {error}");
        self.0.services.log(LogLevel::Warning, &reason);
        reasons.push(reason);
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
        EnvState::shared(self.0.services)
    }

    /// Returns the plain function that a plugin registered under that name, or `None`.
    ///
    /// # Errors
    ///
    /// The error with which the plugin that registers it failed to open, or the reason why it was
    /// refused.
    pub fn function(&self, name: &str) -> Result<Option<crate::Function>, Error> {
        let function = self.0.registered_function(name)?;
        let plugin = self.0.plugin_of(&format!("function.{name}"));
        Ok(function.map(|function| crate::Function::new(self, &plugin, name, function)))
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
            self.shut_down();
            // The services live as long as the process.
            self.services.decide(Settings::default());
        }
    }
}

impl HostInner {
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
            Error::new(ErrorKind::NotFound, message).about(crate::error::Subject::Plugin)
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

impl TargetContext for HostInner {
    fn kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error> {
        // A plugin that is there and not used is the better answer than "unknown kind".
        match self.target_kind(name)? {
            Some(kind) => Ok(Some(kind)),
            None => self.refusal(&format!("target.kind.{name}")).map_or(Ok(None), Err),
        }
    }

    fn kind_names(&self) -> Vec<String> {
        let keys = self.key_reports().into_iter().filter(|report| !report.plugins.is_empty());
        keys.filter_map(|report| name_in_key(&report.key, "target.kind.").map(str::to_owned)).collect()
    }

    fn canonicalize(&self, kind: &str, target_json: &str) -> Result<String, Error> {
        let key = format!("target.kind.{kind}");
        let Some(Entry::TargetKind(entry)) = self.entry(&key)? else { return Err(self.missing(&key)) };
        entry.canonicalize(self.services, target_json)
    }

    fn device_count(&self, device: &str) -> Result<Option<i32>, Error> {
        match self.device_api(device)? {
            Some(entry) => entry.count(self.services).map(Some),
            None => self.refusal(&format!("device_api.{device}")).map_or(Ok(None), Err),
        }
    }

    fn attribute(&self, device: &str, device_id: i32, key: &str) -> Result<Option<Value>, Error> {
        let Some(entry) = self.device_api(device)? else { return Ok(None) };
        entry.attribute(self.services, device_id, key)
    }

    fn unread_manifests(&self) -> Vec<String> {
        Self::unread_manifests(self)
    }

    fn warn(&self, line: &str) {
        self.services.log(LogLevel::Warning, line);
    }

    fn warn_once(&self, line: &str) {
        let is_new = self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(line.to_owned());
        if is_new {
            TargetContext::warn(self, line);
        }
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.plugins().into_iter().map(|plugin| plugin.name).collect();
        f.debug_struct("Host").field("plugins", &names).field("built_in", &HOST_PLUGIN).finish()
    }
}
