//! Execution context of a case: the plugin's raw tables, and a real host that has loaded the
//! plugin.

use std::any::Any as StdAny;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use chipdock_host::{DeviceChoice, Environment, Host, HostOptions, ResolvedTarget, TargetRequest};
use chipdock_raw_host::{Device, Plugin};

use crate::settings::given;
use crate::{Facts, Profile, Stop, Verdict, hosts};

/// State of one worker, shared by its cases: the plugin and a host, each opened on first use.
pub struct Shared {
    library: PathBuf,
    facts: Facts,
    companions: Vec<PathBuf>,
    trust: Vec<PathBuf>,
    scratch: PathBuf,
    repros: PathBuf,
    plugin: OnceCell<Result<&'static Plugin, Stop>>,
    host: OnceCell<Result<Host, Stop>>,
    cache: RefCell<HashMap<String, Rc<dyn StdAny>>>,
    /// Ids of the instances that the worker runs; `None` stands for any.
    ids: Option<HashSet<String>>,
    builds_alone: bool,
}

/// File in a worker's folder that exists while kernels of several cases are built in one module
/// (SUITE-S17).
pub(crate) const BUILDS_TOGETHER: &str = "builds-together";

impl Shared {
    /// Creates the state for a library without opening it. `scratch` is a folder that the cases may
    /// write to.
    #[must_use]
    pub fn new(
        library: &Path,
        facts: Facts,
        companions: &[PathBuf],
        trust: &[PathBuf],
        scratch: &Path,
    ) -> Self {
        Self {
            library: library.to_owned(),
            facts,
            companions: companions.to_owned(),
            trust: trust.to_owned(),
            scratch: scratch.to_owned(),
            repros: scratch.to_owned(),
            plugin: OnceCell::new(),
            host: OnceCell::new(),
            cache: RefCell::default(),
            ids: None,
            builds_alone: false,
        }
    }

    /// Announces which instances will run; with `builds_alone`, no two of them share a module
    /// (SUITE-S17).
    #[must_use]
    pub fn with_instances(self, ids: &[String], builds_alone: bool) -> Self {
        Self { ids: Some(ids.iter().cloned().collect()), builds_alone, ..self }
    }

    /// Uses `folder` for reproducer programs in place of `scratch`.
    #[must_use]
    pub fn with_repros(self, folder: &Path) -> Self {
        Self { repros: folder.to_owned(), ..self }
    }
}

/// Context that a case runs with.
pub struct Context<'a> {
    shared: &'a Shared,
    registration: &'a str,
    not_run: RefCell<Option<String>>,
    untested: RefCell<Vec<Profile>>,
    repro: RefCell<String>,
}

impl<'a> Context<'a> {
    /// Creates the context of an instance about one registration.
    #[must_use]
    pub fn new(shared: &'a Shared, registration: &'a str) -> Self {
        Self {
            shared,
            registration,
            not_run: RefCell::default(),
            untested: RefCell::default(),
            repro: RefCell::default(),
        }
    }

    /// Returns the path of the library under test.
    #[must_use]
    pub fn library(&self) -> &'a Path {
        &self.shared.library
    }

    /// Returns the libraries and folders that are trusted regardless of their owner and
    /// permissions.
    #[must_use]
    pub fn trust(&self) -> &'a [PathBuf] {
        &self.shared.trust
    }

    /// Returns what the probe found out about the plugin.
    #[must_use]
    pub fn facts(&self) -> &'a Facts {
        &self.shared.facts
    }

    /// Returns the name of the registration that the case is about: a device API, a target kind or
    /// a function.
    #[must_use]
    pub fn registration(&self) -> &'a str {
        self.registration
    }

    /// Returns the scratch folder of this worker, removed afterwards.
    #[must_use]
    pub fn scratch(&self) -> &'a Path {
        &self.shared.scratch
    }

    /// Returns the plugin through its tables, opened on first use.
    ///
    /// # Errors
    ///
    /// The plugin is refused.
    pub fn plugin(&self) -> Verdict<&'static Plugin> {
        let open = || {
            let opened = Plugin::open(&self.shared.library, hosts::host())
                .map_err(|error| Stop::failed("a plugin that opens", error.message).clause(error.clause))?;
            Ok(&*Box::leak(Box::new(opened)))
        };
        self.shared.plugin.get_or_init(open).clone()
    }

    /// Returns the device API that the case is about, through its table.
    ///
    /// # Errors
    ///
    /// The plugin is refused, or the API has no device here.
    pub fn device(&self) -> Verdict<Device> {
        if let Some(why) = self.shared.facts.absent_device(self.registration) {
            return Err(Stop::Absent(why.to_owned()));
        }
        let device = self.plugin()?.devices().into_iter().find(|device| device.name == self.registration);
        device.ok_or_else(|| Stop::suite(format!("no device API {}", self.registration)))
    }

    /// Returns the device API that the case is about if this machine has several of its devices.
    ///
    /// # Errors
    ///
    /// The plugin is refused, or the API has fewer than two devices here.
    pub fn several_devices(&self) -> Verdict<Device> {
        let device = self.device()?;
        match self.shared.facts.device_count(self.registration) {
            count if count < 2 => Err(Stop::Absent(format!("{} has {count} device here", device.name))),
            _ => Ok(device),
        }
    }

    /// Returns a host that loads this plugin first, then its companions, then the installed
    /// plugins. An installed plugin of the same name takes no part, whatever the file of this one
    /// is called.
    ///
    /// # Errors
    ///
    /// The host cannot be created.
    pub fn host(&self) -> Verdict<&'a Host> {
        self.shared.host.get_or_init(|| self.new_host()).as_ref().map_err(Clone::clone)
    }

    /// Makes another host like [`Self::host`].
    ///
    /// # Errors
    ///
    /// The host cannot be created.
    pub fn new_host(&self) -> Verdict<Host> {
        let shared = self.shared;
        let mut paths = vec![shared.library.clone()];
        paths.extend(shared.companions.iter().cloned());
        let options = HostOptions {
            plugin_paths: paths,
            trust: shared.trust.clone(),
            settings: given().to_vec(),
            // SUITE-S16.
            environment: Environment { config_home: None, ..Environment::of_process() },
            log: Arc::new(|_, _| {}),
            ..HostOptions::default()
        };
        let (own, first) = (&shared.facts.name, Host::new(options.clone())?);
        let name = name_with_host(&first, &shared.library).unwrap_or_else(|| own.clone());
        let keys = shared.facts.registered.iter().filter_map(|registered| registered.key());
        let prefer = keys.map(|key| (key, name.clone())).collect();
        let options = HostOptions { prefer, ..options };
        let options = if name == *own { options } else { without_namesakes(&first, options, own) };
        Host::new(options).map_err(Stop::from)
    }

    /// Returns the target of the kind that the case is about, with the facts that its device
    /// reports if there is a device, else with the kind's defaults.
    ///
    /// # Errors
    ///
    /// The kind cannot be compiled for here.
    pub fn target(&self) -> Verdict<Arc<ResolvedTarget>> {
        if let Some(why) = self.shared.facts.unusable_kind(self.registration) {
            return Err(Stop::Absent(why.to_owned()));
        }
        let (host, name) = (self.host()?, self.registration);
        let kind = host.target_kind(name)?;
        // No device is queried for a host kind: its code runs wherever the host runs.
        if kind.is_host || host.device(&kind.device, 0).is_err() {
            return Ok(host.target(name)?);
        }
        let request = TargetRequest::new(name).device(DeviceChoice::First);
        Ok(host.target(request)?)
    }

    /// Returns a value that the cases of a worker share, made on first use.
    ///
    /// # Errors
    ///
    /// The error of `make`; the next caller then tries again.
    pub fn cached<T: 'static>(&self, key: &str, make: impl FnOnce() -> Verdict<T>) -> Verdict<Rc<T>> {
        let key = format!("{key}@{}", self.registration);
        if let Some(found) = self.shared.cache.borrow().get(&key).cloned() {
            return found.downcast::<T>().map_err(|_| Stop::suite(format!("two types are cached as {key}")));
        }
        let made = Rc::new(make()?);
        self.shared.cache.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    /// Returns true if this worker runs the case with this id, about the same registration.
    #[must_use]
    pub fn runs(&self, case: &str) -> bool {
        let ids = self.shared.ids.as_ref();
        ids.is_none_or(|ids| ids.contains(&format!("{case}@{}", self.registration)))
    }

    /// Returns the result of `build`, which builds kernels of several cases in one module; the
    /// supervisor can tell whether the process ended in it. Returns `None` if each kernel is to be
    /// built alone (SUITE-S17).
    pub(crate) fn build_together<T>(&self, build: impl FnOnce() -> T) -> Option<T> {
        if self.shared.builds_alone {
            return None;
        }
        let marker = self.scratch().join(BUILDS_TOGETHER);
        // If the file cannot be written, an end of the process is charged to the case that had
        // begun.
        let _ = fs::write(&marker, "");
        let built = build();
        let _ = fs::remove_file(&marker);
        Some(built)
    }

    /// Records that the case built a result but could not run it, and why (SUITE-S4).
    pub fn not_run(&self, why: impl Into<String>) {
        *self.not_run.borrow_mut() = Some(why.into());
    }

    /// Records the profiles of which nothing reached the device, so that the case is silent about
    /// them (SUITE-S6).
    pub fn shows_nothing_of(&self, profiles: Vec<Profile>) {
        *self.untested.borrow_mut() = profiles;
    }

    /// Returns the persistent folder for reproducer programs, which need not exist yet.
    #[must_use]
    pub fn repros(&self) -> &'a Path {
        &self.shared.repros
    }

    /// Records the file that holds the failing program, for the report.
    pub fn left_repro(&self, file: &Path) {
        *self.repro.borrow_mut() = file.display().to_string();
    }

    /// Takes the file recorded by [`Self::left_repro`]; empty if none.
    #[must_use]
    pub fn take_repro(&self) -> String {
        self.repro.take()
    }

    /// Takes the profiles recorded by [`Self::shows_nothing_of`].
    #[must_use]
    pub fn take_untested(&self) -> Vec<Profile> {
        self.untested.take()
    }

    /// Takes the reason recorded by [`Self::not_run`].
    #[must_use]
    pub fn take_not_run(&self) -> Option<String> {
        self.not_run.borrow_mut().take()
    }
}

/// Names every usable plugin of a host by its path, but those of a name. A host knows a library
/// without a manifest by its file's name until it is open, and would use a plugin with a manifest
/// in its place.
fn without_namesakes(host: &Host, options: HostOptions, name: &str) -> HostOptions {
    let others = host.plugins().into_iter().filter(|plugin| plugin.problem.is_none() && plugin.name != name);
    let environment = Environment {
        plugin_path: None,
        data_home: None,
        system_folders: Vec::new(),
        executable_folder: None,
        ..options.environment
    };
    HostOptions { plugin_paths: others.map(|plugin| plugin.library).collect(), environment, ..options }
}

/// Returns a host's name for a library that is not open yet: the manifest's name or, without a
/// manifest, the file's.
fn name_with_host(host: &Host, library: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let library = real(library);
    let found = host.plugins().into_iter().find(|plugin| real(&plugin.library) == library);
    found.map(|plugin| plugin.name)
}
