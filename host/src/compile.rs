//! Compilation: a module and a target in, an artifact out.
//!
//! * **C1** The module is validated once; then the passes run as far as the target kind's stage.
//! * **C2** A code generator is asked to build, once; where it cannot, the error has every node that it reported (C.5 of the
//!   contract).
//! * **C3** The wire version is the lower of the host's and the code generator's newest.
//! * **C4** What was delivered before a failure is dropped.
//! * **C5** A code generator of wire 1.1 or newer is given positions, and answers them in its diagnostics.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use chipdock_ir::{AttrValue, IrModule, Stage, Target, TargetFacts, TargetKind, attr, validate};
use chipdock_passes::{Fault as PassFault, LowerOptions, PassError, lower};

use crate::artifact::Artifact;
use crate::build::Said;
use crate::cache::CompileCache;
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::options::LogLevel;
use crate::registrar::{CodegenEntry, Entry};
use crate::runtime::Device;
use crate::session::BuildMessage;
use crate::target::{TargetContext, TargetSource};

pub use chipdock_passes::Schedule;

/// How a module is compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Whether what is not scheduled gets a schedule.
    pub schedule: Schedule,
    /// How many threads a code generator may use; 0: as many as there are processors.
    pub threads_max: u32,
    /// Options for the code generator; it ignores those that it does not know. `emit` is a list of what is wished for
    /// beyond what is needed to load the module, each a section of that name (`ll`, `asm`) or `source`, the text that
    /// the code generator itself wrote; it ignores those that it does not go through.
    pub options: serde_json::Map<String, serde_json::Value>,
    /// The file that the module was read from; code generators may put it into debug information.
    pub file: Option<String>,
    /// Set from another thread, it makes a long build give up with `Cancelled`.
    pub cancel: Arc<AtomicBool>,
    /// Where what is built is kept, and looked for before it is built: rules V1 to V7 of [`CompileCache`]. Nowhere when
    /// nobody says.
    pub cache: Option<Arc<CompileCache>>,
    /// Where it is to run, if that is known: then the loader's [`check`](Host::check_artifact) decides whether what the cache
    /// has is taken. A build does not depend on it.
    pub device: Option<Device>,
}

/// What compilation answers.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The code, with what it imports.
    pub artifact: Arc<Artifact>,
    /// The target.
    pub target: Arc<Target>,
    /// The target of its host functions.
    pub host: Arc<Target>,
    /// The host functions as the code generator was given them.
    pub lowered: IrModule,
    /// The device functions as each code generator was given them, by target.
    pub lowered_devices: Vec<(Arc<Target>, IrModule)>,
    /// What code generators said, short of failing.
    pub messages: Vec<BuildMessage>,
    /// Whether all of it was found in [`CompileOptions::cache`], so that no code generator built anything.
    pub cached: bool,
}

impl Host {
    /// What passes may know of a target: the kind's declarations, with the numbers that the target sets.
    ///
    /// # Errors
    ///
    /// `Unavailable` when nobody provides the kind.
    pub fn facts(&self, target: &Arc<Target>) -> Result<TargetFacts, Error> {
        let kind = self.kind_of(target)?;
        let device_type = match target.int("target_device_type").and_then(|number| i32::try_from(number).ok())
        {
            Some(number) => number,
            None => self.device_type(&kind)?,
        };
        Ok(kind.facts(target, device_type))
    }

    /// Refuses a module that is not valid; says what of another changes nothing.
    fn check(&self, module: &IrModule) -> Result<(), Error> {
        check_valid(module)?;
        for unknown in chipdock_passes::unknown_annotations(module) {
            self.0.services.log(LogLevel::Debug, &unknown.to_string());
        }
        Ok(())
    }

    fn kind_of(&self, target: &Target) -> Result<Arc<TargetKind>, Error> {
        TargetContext::kind(&*self.0, &target.kind)?
            .ok_or_else(|| self.0.missing(&format!("target.kind.{}", target.kind)))
    }

    fn device_type(&self, kind: &TargetKind) -> Result<i32, Error> {
        if let Some(api) = self.0.device_api(&kind.device)? {
            if kind.device_type != 0 && kind.device_type != api.device_type {
                let message = format!(
                    "target kind \"{}\" says that device_api.{} has type {}, and it is registered with type {}",
                    kind.name, kind.device, kind.device_type, api.device_type
                );
                return Err(Error::new(ErrorKind::BrokenPlugin, message)
                    .hint("the two plugins were not made for each other; choose one with --prefer"));
            }
            return Ok(api.device_type);
        }
        if kind.device_type != 0 {
            return Ok(kind.device_type);
        }
        // Without the device's plugin one can still compile for it; the number is checked where it runs.
        let line = format!(
            "target kind \"{}\": no plugin provides device_api.{}; its type number is assigned by this host",
            kind.name, kind.device
        );
        self.0.services.log(LogLevel::Warning, &line);
        let mut types = self.0.device_types.lock().unwrap_or_else(PoisonError::into_inner);
        types.number(&kind.device, 0).map_err(|message| Error::new(ErrorKind::Value, message))
    }

    /// Lowers a module as far as a target's code generator takes it.
    ///
    /// # Errors
    ///
    /// With positions: `ValueError` for a module that is not valid or cannot be lowered, `Unsupported` for one that needs
    /// what the target does not have.
    pub fn lower(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        schedule: Schedule,
    ) -> Result<chipdock_passes::Lowered, Error> {
        self.check(module)?;
        let facts = Arc::new(self.facts(target)?);
        let options = LowerOptions { schedule, ..LowerOptions::new(facts) };
        lower(module, &options).map_err(pass_error)
    }

    /// Lowers a module as far as [`Stage::Scheduled`], whatever the target's code generator takes: for a person who
    /// wants to see the schedules.
    ///
    /// # Errors
    ///
    /// As of [`Self::lower`].
    pub fn schedule(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        schedule: Schedule,
    ) -> Result<IrModule, Error> {
        self.check(module)?;
        let facts = Arc::new(self.facts(target)?);
        let options = LowerOptions { schedule, stage: Stage::Scheduled, ..LowerOptions::new(facts) };
        lower(module, &options).map(|lowered| lowered.module).map_err(pass_error)
    }

    /// Compiles a module for a target.
    ///
    /// A target whose kind has host functions itself gives one artifact. Another gives its device functions as one that
    /// the artifact of the host functions imports; these are compiled for the target's `host`, or for
    /// [`Self::default_host`] when it has none. Functions that name a target of another kind are compiled for that: the
    /// artifact imports theirs too.
    ///
    /// # Errors
    ///
    /// * `ValueError`, with positions: the module is not valid or cannot be lowered.
    /// * `Unsupported`: what the module needs and the target does not have, or every node that the code generator cannot
    ///   build.
    /// * `Unavailable`: a plugin that is needed is missing or refused.
    /// * `Cancelled`, and what the code generator raised.
    ///
    /// Nothing of a failed build is left.
    pub fn compile(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        options: &CompileOptions,
    ) -> Result<Compiled, Error> {
        self.0.services.check_process()?;
        // A plugin that is missing is told before the work begins.
        self.codegen(&target.kind)?;
        self.check(module)?;
        let mut build =
            Building { host: self, options, said: Said::default(), hosts: Vec::new(), devices: Vec::new() };
        let groups = self.by_target(module, target)?;
        for (target, module) in &groups {
            build.lower(module, target)?;
        }
        build.finish(target)
    }

    /// The functions of a module by the target that each names; those that name none, or one of the same kind, first.
    fn by_target(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
    ) -> Result<Vec<(Arc<Target>, IrModule)>, Error> {
        let of = |functions| IrModule { functions, attrs: module.attrs.clone() };
        let mut groups: Vec<(Arc<Target>, IrModule)> = vec![(Arc::clone(target), of(Vec::new()))];
        for function in &module.functions {
            let named = match function.attrs.get(attr::TARGET) {
                Some(AttrValue::Target(named)) if named.kind != target.kind => {
                    self.codegen(&named.kind)?;
                    self.target(TargetSource::Json(named.to_json()))?
                }
                _ => Arc::clone(target),
            };
            match groups.iter_mut().find(|(known, _)| *known == named) {
                Some((_, group)) => group.functions.push(function.clone()),
                None => groups.push((named, of(vec![function.clone()]))),
            }
        }
        groups.retain(|(known, group)| !group.functions.is_empty() || known == target);
        Ok(groups)
    }

    fn host_of(&self, target: &Target) -> Result<Arc<Target>, Error> {
        target.host.as_ref().map_or_else(|| self.default_host(), |host| Ok(Arc::clone(host)))
    }

    pub(crate) fn codegen(&self, kind: &str) -> Result<Arc<CodegenEntry>, Error> {
        let key = format!("target.build.{kind}");
        match self.0.entry(&key)? {
            Some(Entry::Codegen(entry)) => Ok(entry),
            _ => Err(self.0.missing(&key)),
        }
    }
}

/// A module of several targets on its way to artifacts.
struct Building<'a> {
    host: &'a Host,
    options: &'a CompileOptions,
    said: Said,
    /// Functions by the target that compiles them, at the stage that they came to: those that need no host, and hosts'.
    hosts: Vec<HostGroup>,
    /// Device functions by target.
    devices: Vec<(Arc<Target>, IrModule)>,
}

/// Functions that one code generator takes.
struct HostGroup {
    target: Arc<Target>,
    module: IrModule,
    from: Option<Stage>,
}

impl Building<'_> {
    /// Lowers the functions of one target as far as what is the device's and what is a host's part from each other.
    fn lower(&mut self, module: &IrModule, target: &Arc<Target>) -> Result<(), Error> {
        let facts = Arc::new(self.host.facts(target)?);
        let stage = facts.stage.min(Stage::Device);
        let schedule = self.options.schedule;
        let options = LowerOptions { schedule, stage, ..LowerOptions::new(facts) };
        let lowered = lower(module, &options).map_err(pass_error)?;
        let Some(device) = lowered.device else {
            self.join(target, lowered.module, stage);
            return Ok(());
        };
        let host = self.host.host_of(target)?;
        self.join(&host, lowered.module, Stage::Device);
        self.devices.push((Arc::clone(target), device));
        Ok(())
    }

    fn join(&mut self, target: &Arc<Target>, module: IrModule, from: Stage) {
        match self.hosts.iter_mut().find(|group| group.target == *target && group.from == Some(from)) {
            Some(group) => group.module.functions.extend(module.functions),
            None => self.hosts.push(HostGroup { target: Arc::clone(target), module, from: Some(from) }),
        }
    }

    /// Compiles everything; the artifact of `target`'s functions, or of their host functions, imports the others.
    fn finish(mut self, target: &Arc<Target>) -> Result<Compiled, Error> {
        let kind = self.host.kind_of(target)?;
        let mut imports = Vec::new();
        for (target, device) in &self.devices {
            if !device.functions.is_empty() {
                let built = self.host.build(device, target, self.options, Vec::new(), &mut self.said)?;
                imports.push(Arc::new(built));
            }
        }
        // What stands first is the target's own: the others are imported.
        let mut groups = std::mem::take(&mut self.hosts).into_iter();
        let Some(first) = groups.next() else {
            return Err(Error::new(ErrorKind::Value, "the module has no functions"));
        };
        for group in groups.filter(|group| !group.module.functions.is_empty()) {
            let (module, host) = self.lowered(&group)?;
            // Its functions launch kernels of the same artifacts.
            let built = self.host.build(&module, &host, self.options, imports.clone(), &mut self.said)?;
            imports.push(Arc::new(built));
        }
        let (module, host) = self.lowered(&first)?;
        let artifact = self.host.build(&module, &host, self.options, imports, &mut self.said)?;
        let is_alone = !kind.is_host && self.devices.is_empty();
        Ok(Compiled {
            artifact: Arc::new(artifact),
            target: Arc::clone(target),
            host: if is_alone { self.host.host_of(target)? } else { host },
            lowered: module,
            lowered_devices: self.devices,
            cached: self.said.built == 0,
            messages: self.said.messages,
        })
    }

    fn lowered(&self, group: &HostGroup) -> Result<(IrModule, Arc<Target>), Error> {
        let facts = Arc::new(self.host.facts(&group.target)?);
        if group.from == Some(facts.stage) {
            return Ok((group.module.clone(), Arc::clone(&group.target)));
        }
        if facts.stage != Stage::Host {
            let message = format!(
                "target kind \"{}\" takes modules at stage {}; expected a host that takes packed functions (stage {})",
                group.target.kind,
                facts.stage,
                Stage::Host
            );
            return Err(Error::new(ErrorKind::Value, message).hint("name another host with --host"));
        }
        let options =
            LowerOptions { schedule: self.options.schedule, from: group.from, ..LowerOptions::new(facts) };
        let lowered = lower(&group.module, &options).map_err(pass_error)?;
        Ok((lowered.module, Arc::clone(&group.target)))
    }
}

fn check_valid(module: &IrModule) -> Result<(), Error> {
    validate::validate(module, Stage::Blocks).map_err(|diagnostics| {
        Error::new(ErrorKind::Value, "the module is not valid").with_diagnostics(diagnostics)
    })
}

fn pass_error(error: PassError) -> Error {
    let kind = match error.fault {
        PassFault::Caller => ErrorKind::Value,
        PassFault::Target => ErrorKind::Unsupported,
        PassFault::Environment => ErrorKind::Unavailable,
        PassFault::Bug => ErrorKind::Internal,
    };
    let message = format!("the module cannot be lowered for this target (pass {})", error.pass);
    let lowered = Error::new(kind, message).with_diagnostics(error.diagnostics);
    if error.fault == PassFault::Bug {
        lowered.hint("this is a bug of the pass; please report it")
    } else {
        lowered
    }
}
