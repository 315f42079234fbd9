//! The context of a case: access to the plugin through its tables, and through a real host.

use std::any::Any as StdAny;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use chipdock_host::{DeviceChoice, Environment, Host, HostOptions, TargetRequest};
use chipdock_ir::Target;

use crate::raw::{Device, Plugin, given};
use crate::{Facts, Profile, Stop, Verdict};

/// The plugin under test, shared by all cases of a worker. Opened at the first access.
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
}

impl Shared {
    /// Makes the state for a library that is not opened yet. `scratch` is a folder that the cases may write to.
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
        }
    }

    /// Sets another folder than `scratch` for programs that fail.
    #[must_use]
    pub fn with_repros(self, folder: &Path) -> Self {
        Self { repros: folder.to_owned(), ..self }
    }
}

/// Context of one case.
pub struct Context<'a> {
    shared: &'a Shared,
    registration: &'a str,
    not_run: RefCell<Option<String>>,
    untested: RefCell<Vec<Profile>>,
    repro: RefCell<String>,
}

impl<'a> Context<'a> {
    /// Makes the context of an instance about that registration.
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

    /// Returns the path of the library.
    #[must_use]
    pub fn library(&self) -> &'a Path {
        &self.shared.library
    }

    /// Returns the libraries and folders that are used whatever their owner and permissions are.
    #[must_use]
    pub fn trust(&self) -> &'a [PathBuf] {
        &self.shared.trust
    }

    /// Returns the result of the probe.
    #[must_use]
    pub fn facts(&self) -> &'a Facts {
        &self.shared.facts
    }

    /// Returns the registration under test: a device API's, kind's or function's name.
    #[must_use]
    pub fn registration(&self) -> &'a str {
        self.registration
    }

    /// Returns a folder of this worker, removed afterwards.
    #[must_use]
    pub fn scratch(&self) -> &'a Path {
        &self.shared.scratch
    }

    /// Opens the plugin for access through its tables.
    ///
    /// # Errors
    ///
    /// The plugin is refused.
    pub fn plugin(&self) -> Verdict<&'static Plugin> {
        let open = || {
            let opened = Plugin::open(&self.shared.library)
                .map_err(|error| Stop::failed("a plugin that opens", error.message).clause(error.clause))?;
            Ok(&*Box::leak(Box::new(opened)))
        };
        self.shared.plugin.get_or_init(open).clone()
    }

    /// Returns the device API under test, for access through its table.
    ///
    /// # Errors
    ///
    /// The plugin is refused, or has no device here.
    pub fn device(&self) -> Verdict<Device> {
        if let Some(why) = self.shared.facts.absent_device(self.registration) {
            return Err(Stop::Absent(why.to_owned()));
        }
        let device = self.plugin()?.devices().into_iter().find(|device| device.name == self.registration);
        device.ok_or_else(|| Stop::suite(format!("no device API {}", self.registration)))
    }

    /// Returns the device API under test, where it has several devices: their number depends on the machine.
    ///
    /// # Errors
    ///
    /// The plugin is refused, or has fewer than two devices here.
    pub fn several_devices(&self) -> Verdict<Device> {
        let device = self.device()?;
        match self.shared.facts.device_count(self.registration) {
            count if count < 2 => Err(Stop::Absent(format!("{} has {count} device here", device.name))),
            _ => Ok(device),
        }
    }

    /// Returns a host with this plugin before all others, its companion plugins, and those that are installed here.
    ///
    /// # Errors
    ///
    /// The host cannot be made.
    pub fn host(&self) -> Verdict<&'a Host> {
        let shared = self.shared;
        let open = || {
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
            let name = name_with_host(&Host::new(options.clone())?, &shared.library);
            let name = name.unwrap_or_else(|| shared.facts.name.clone());
            let keys = shared.facts.registered.iter().filter_map(|registered| registered.key());
            let prefer = keys.map(|key| (key, name.clone())).collect();
            Host::new(HostOptions { prefer, ..options }).map_err(Stop::from)
        };
        shared.host.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Returns a target of the kind under test: with the values of its device where there is one, else with its
    /// defaults.
    ///
    /// # Errors
    ///
    /// The target cannot be compiled for here.
    pub fn target(&self) -> Verdict<Arc<Target>> {
        if let Some(why) = self.shared.facts.unusable_kind(self.registration) {
            return Err(Stop::Absent(why.to_owned()));
        }
        let (host, name) = (self.host()?, self.registration);
        let kind = host.target_kinds().into_iter().map(|(kind, _)| kind).find(|kind| kind.name == name);
        // A host kind needs no device: its code runs wherever the host does.
        let device = kind.filter(|kind| !kind.is_host).map(|kind| host.device(&kind.device, 0));
        Ok(match device {
            Some(Ok(_)) => {
                let request = TargetRequest::new(name).device(DeviceChoice::First);
                Arc::clone(host.resolve(request)?.target())
            }
            _ => host.target(name)?,
        })
    }

    /// Returns a value that several cases of a worker share, made at the first request.
    ///
    /// # Errors
    ///
    /// The error of making it; the next request tries again.
    pub fn cached<T: 'static>(&self, key: &str, make: impl FnOnce() -> Verdict<T>) -> Verdict<Rc<T>> {
        let key = format!("{key}@{}", self.registration);
        if let Some(found) = self.shared.cache.borrow().get(&key).cloned() {
            return found.downcast::<T>().map_err(|_| Stop::suite(format!("two types are cached as {key}")));
        }
        let made = Rc::new(make()?);
        self.shared.cache.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    /// Records that the case could build but not run the result, and why (SUITE-S4).
    pub fn not_run(&self, why: impl Into<String>) {
        *self.not_run.borrow_mut() = Some(why.into());
    }

    /// Records the profiles that the case did not exercise on the device, so that it proves nothing of them (SUITE-S6).
    pub fn shows_nothing_of(&self, profiles: Vec<Profile>) {
        *self.untested.borrow_mut() = profiles;
    }

    /// Returns the folder for programs that fail, which is kept; it need not exist yet.
    #[must_use]
    pub fn repros(&self) -> &'a Path {
        &self.shared.repros
    }

    /// Records the file of the failing program, for the report.
    pub fn left_repro(&self, file: &Path) {
        *self.repro.borrow_mut() = file.display().to_string();
    }

    /// Takes the file of [`Self::left_repro`]; empty when there is none.
    #[must_use]
    pub fn take_repro(&self) -> String {
        self.repro.take()
    }

    /// Takes the profiles of [`Self::shows_nothing_of`]; empty when there are none.
    #[must_use]
    pub fn take_untested(&self) -> Vec<Profile> {
        self.untested.take()
    }

    /// Takes the reason of [`Self::not_run`].
    #[must_use]
    pub fn take_not_run(&self) -> Option<String> {
        self.not_run.borrow_mut().take()
    }
}

/// Returns the host's name of a library that is not open: the manifest's or, without one, the file's.
fn name_with_host(host: &Host, library: &Path) -> Option<String> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let library = real(library);
    let found = host.plugins().into_iter().find(|plugin| real(&plugin.library) == library);
    found.map(|plugin| plugin.name)
}
