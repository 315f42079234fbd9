//! Compilation: a module and a target in, an artifact out.
//!
//! * **C1** The module is validated once; then the passes run as far as the target kind's stage.
//! * **C2** The code generator is asked for everything that it cannot build before it builds anything.
//! * **C3** The wire version is the lower of the host's and the code generator's newest.
//! * **C4** What was delivered before a failure is dropped.
//! * **C5** A code generator of wire 1.1 or newer is given positions, and a diagnostic whose message begins with
//!   `line:column: ` is about that place.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};

use chipdock_abi::ChipdockBuildRequest;
use chipdock_ir::{IrModule, Stage, Target, TargetFacts, TargetKind, validate, wire};
use chipdock_passes::{Fault as PassFault, LowerOptions, PassError, lower};
use chipdock_plugin_api::text::str_out;

use crate::artifact::Artifact;
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::options::LogLevel;
use crate::registrar::{CodegenEntry, Entry};
use crate::session::{BuildMessage, Session, Step};
use crate::target::TargetContext;

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
    /// The device functions as the code generator was given them.
    pub lowered_device: Option<IrModule>,
    /// What code generators said, short of failing.
    pub messages: Vec<BuildMessage>,
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
        check_valid(module)?;
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
        check_valid(module)?;
        let facts = Arc::new(self.facts(target)?);
        let options = LowerOptions { schedule, stage: Stage::Scheduled, ..LowerOptions::new(facts) };
        lower(module, &options).map(|lowered| lowered.module).map_err(pass_error)
    }

    /// Compiles a module for a target.
    ///
    /// A target whose kind has host functions itself gives one artifact. Another gives its device functions as one that
    /// the artifact of the host functions imports; these are compiled for the target's `host`, or for
    /// [`Self::default_host`] when it has none.
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
        let kind = self.kind_of(target)?;
        // A plugin that is missing is told before the work begins.
        self.codegen(&target.kind)?;
        let lowered = self.lower(module, target, options.schedule)?;
        let mut messages = Vec::new();
        let Some(device) = lowered.device else {
            let host = if kind.is_host { Arc::clone(target) } else { self.host_of(target)? };
            let artifact = self.build(&lowered.module, target, options, Vec::new(), &mut messages)?;
            return Ok(Compiled {
                artifact: Arc::new(artifact),
                target: Arc::clone(target),
                host,
                lowered: lowered.module,
                lowered_device: None,
                messages,
            });
        };
        let host = self.host_of(target)?;
        let host_facts = Arc::new(self.facts(&host)?);
        let host_options = LowerOptions { schedule: options.schedule, ..LowerOptions::new(host_facts) };
        let host_module = lower(&lowered.module, &host_options).map_err(pass_error)?.module;
        let device_artifact = self.build(&device, target, options, Vec::new(), &mut messages)?;
        let imports = vec![Arc::new(device_artifact)];
        let artifact = self.build(&host_module, &host, options, imports, &mut messages)?;
        Ok(Compiled {
            artifact: Arc::new(artifact),
            target: Arc::clone(target),
            host,
            lowered: host_module,
            lowered_device: Some(device),
            messages,
        })
    }

    fn host_of(&self, target: &Target) -> Result<Arc<Target>, Error> {
        target.host.as_ref().map_or_else(|| self.default_host(), |host| Ok(Arc::clone(host)))
    }

    fn codegen(&self, kind: &str) -> Result<Arc<CodegenEntry>, Error> {
        let key = format!("target.build.{kind}");
        match self.0.entry(&key)? {
            Some(Entry::Codegen(entry)) => Ok(entry),
            _ => Err(self.0.missing(&key)),
        }
    }

    fn build(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        options: &CompileOptions,
        imports: Vec<Arc<Artifact>>,
        messages: &mut Vec<BuildMessage>,
    ) -> Result<Artifact, Error> {
        let codegen = self.codegen(&target.kind)?;
        let at = |error: Error| error.at(format!("target.build.{}", target.kind));
        let version = wire_version(&codegen).map_err(at)?;
        let write = wire::WriteOptions { version: &version, positions: true, file: options.file.as_deref() };
        let ir = wire::write_with(module, &write)
            .map_err(|error| at(Error::new(ErrorKind::Unsupported, error.to_string())))?;
        let target_json = target.to_json().to_string();
        let options_json = serde_json::Value::Object(options.options.clone()).to_string();
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
        let request = ChipdockBuildRequest {
            ir: str_out(&ir),
            target_json: str_out(&target_json),
            options_json: str_out(&options_json),
            threads_max: if options.threads_max == 0 { threads } else { options.threads_max },
            padding: 0,
        };
        let services = self.0.services;
        let session = Session::new(services, Arc::clone(&options.cancel));
        let asked = session.run(&codegen, &request, Step::Unsupported);
        let unsupported = session.take_messages(messages);
        asked.map_err(at)?;
        if !unsupported.is_empty() {
            let message =
                format!("the code generator of target kind \"{}\" cannot build this module", target.kind);
            return Err(Error::new(ErrorKind::Unsupported, message).with_diagnostics(unsupported));
        }
        let built = session.run(&codegen, &request, Step::Build);
        let errors = session.take_messages(messages);
        built.map_err(|error| at(error.with_diagnostics(errors.clone())))?;
        let broken = |message: String| at(Error::new(ErrorKind::BrokenPlugin, message));
        if !errors.is_empty() {
            return Err(
                broken("the build succeeded although it reported errors".into()).with_diagnostics(errors)
            );
        }
        let (index, sections) = session.into_parts();
        let index = index.ok_or_else(|| broken("the build succeeded and set no index".into()))?;
        Artifact::new(index, target_json, sections, imports).map_err(|error| broken(error.to_string()))
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

/// Rule C3.
fn wire_version(codegen: &CodegenEntry) -> Result<String, Error> {
    let own = semver::Version::parse(wire::VERSION).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("wire version {}: {error}", wire::VERSION))
    })?;
    let version = if codegen.ir_max < own { &codegen.ir_max } else { &own };
    if *version < codegen.ir_min || version.major != own.major {
        let message = format!(
            "it reads IR of version {} to {}, this host writes {own}; get a build for this host",
            codegen.ir_min, codegen.ir_max
        );
        return Err(Error::new(ErrorKind::Unavailable, message));
    }
    Ok(version.to_string())
}
