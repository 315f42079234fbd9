//! Compilation of a module for a target into an artifact.
//!
//! * **COMPILE-C1** The module is validated once; then the passes run as far as the target kind's
//!   stage.
//! * **COMPILE-C2** A code generator is asked to build once; if it cannot, the error lists every
//!   node that it reported (C.5 of the contract).
//! * **COMPILE-C3** The wire version is the lower of the host's and the code generator's newest.
//! * **COMPILE-C4** What was delivered before a failure is dropped.
//! * **COMPILE-C5** A code generator receives positions, and its diagnostics refer to them.
//! * **COMPILE-C6** A function that names a target is compiled for that target, others for the one
//!   that is asked for. Functions whose canonical targets are equal are one module for one code
//!   generator. If no function is compiled for the target that is asked for, that of the first
//!   function takes its place ([`Compiled::target`]).
//! * **COMPILE-C7** The artifact of the target that was asked for imports those of all others.
//!   Another artifact of host functions imports all device code, and of the artifacts before it
//!   those with a function whose name is a text in its module.
//! * **COMPILE-C8** An error about a limit of a device's target names the option that sets it, and
//!   ends with what helps: to set that option, or to take the limits of a device where the target
//!   has its defaults; a smaller kernel or another device where they are a device's already.
//! * **COMPILE-C9** Each output that the option `emit` asks for is in the artifact or in one that
//!   it imports: a section of that name, the format of its code, or for `source` its text. Another
//!   is an error that names those which are there.
//! * **COMPILE-C10** While a code generator works, [`CompileOptions::on_step`] is called with each
//!   step that it names (C.42), cut to one line. A build that comes from a cache has none.

pub mod artifact;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod delivered;
pub mod describe;
pub(crate) mod emitted;
pub(crate) mod lookup;
mod plan;
pub(crate) mod resolve;
pub(crate) mod signature;
pub(crate) mod step;
pub(crate) mod way_out;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chipdock_ir::{AttrValue, IrModule, Stage, Target, attr, validate};
use chipdock_passes::{Fault as PassFault, LowerOptions, PassError, lower};

use crate::boundary::registrar::{CodegenEntry, Entry};
use crate::boundary::session::BuildMessage;
use crate::compile::artifact::Artifact;
use crate::compile::build::Said;
use crate::compile::cache::CompileCache;
use crate::compile::resolve::{ResolvedTarget, TargetSource};
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::log::LogLevel;
use crate::runtime::Device;

pub use chipdock_passes::Scheduling;
pub use step::{BuildStep, OnStep};

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Whether unscheduled functions get a default schedule.
    pub schedule: Scheduling,
    /// The greatest number of threads that a code generator may use; 0: the number of processors.
    pub threads_max: u32,
    /// Options for the code generator; it ignores those that it does not know. `emit` lists outputs
    /// that are wanted beyond those needed to load the module, each a section of that name (`ll`,
    /// `asm`) or `source`, the text that the code generator itself wrote; one that no part of the
    /// artifact has is an error (COMPILE-C9).
    pub options: serde_json::Map<String, serde_json::Value>,
    /// The file that the module was read from; code generators may put it into debug information.
    pub file: Option<String>,
    /// Set from another thread, it makes a long build give up with `Cancelled`.
    pub cancel: Arc<AtomicBool>,
    /// Called with each step that a code generator says it is at (COMPILE-C10).
    pub on_step: Option<OnStep>,
    /// Cache in which builds are looked for and kept: rules CACHE-V1 to CACHE-V8 of
    /// [`CompileCache`]. With None, nothing is kept.
    pub cache: Option<Arc<CompileCache>>,
    /// The device that the code is for, if it is known: then the loader's
    /// [`check`](Host::check_artifact) decides whether a build is taken from the cache. A build
    /// does not depend on it.
    pub device: Option<Device>,
}

/// The result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The code, with what it imports.
    pub artifact: Arc<Artifact>,
    /// The target that was asked for, or the one that took its place (COMPILE-C6).
    pub target: Arc<ResolvedTarget>,
    /// The target of its host functions.
    pub host: Arc<ResolvedTarget>,
    /// The host functions as the code generator was given them.
    pub lowered: IrModule,
    /// The device functions as each code generator was given them, by target.
    pub lowered_devices: Vec<(Arc<ResolvedTarget>, IrModule)>,
    /// Messages of code generators that are no failures.
    pub messages: Vec<BuildMessage>,
    /// True if all of it came from [`CompileOptions::cache`], so that no code generator ran.
    pub cached: bool,
}

impl Compiled {
    /// Returns the artifact for the target itself: for a device's target, the one that the artifact
    /// of its host functions imports.
    #[must_use]
    pub fn of_target(&self) -> &Artifact {
        let id = self.target.id();
        let imported = self.artifact.imports().iter().find(|import| import.target_id() == id);
        imported.map_or(&*self.artifact, AsRef::as_ref)
    }
}

impl Host {
    /// Refuses an invalid module; logs the findings that make no difference.
    pub(crate) fn check(&self, module: &IrModule) -> Result<(), Error> {
        tracing::debug_span!("validate").in_scope(|| check_valid(module))?;
        for unknown in chipdock_passes::unknown_annotations(module) {
            self.0.services.log(LogLevel::Debug, &unknown.to_string());
        }
        Ok(())
    }

    /// Returns the one target of a module.
    ///
    /// # Errors
    ///
    /// `ValueError`: a function names another one, for which it would be compiled (COMPILE-C6).
    fn only_target(&self, module: &IrModule, target: TargetSource) -> Result<Arc<ResolvedTarget>, Error> {
        let target = self.complete(target)?;
        self.tell_of_assigned_number(&target)?;
        let plain = target.without_device();
        for function in &module.functions {
            let Some(AttrValue::Target(named)) = function.attrs.get(attr::TARGET) else { continue };
            if **named != **target.target() && self.named_by_function(named, &plain)?.id() != plain.id() {
                let message = format!(
                    "function \"{}\" names target {}; expected one that names {} or none",
                    function.name,
                    named.to_json(),
                    plain.target().to_json()
                );
                return Err(Error::new(ErrorKind::Value, message).hint("ask for the target that it names"));
            }
        }
        Ok(target)
    }

    /// Lowers a module as far as a target's code generator takes it.
    ///
    /// # Errors
    ///
    /// With positions: `ValueError` for a module that is not valid or cannot be lowered, or a
    /// function that names another target; `Unsupported` for one that needs something that the
    /// target does not support.
    pub fn lower(
        &self,
        module: &IrModule,
        target: impl Into<TargetSource>,
        schedule: Scheduling,
    ) -> Result<chipdock_passes::Lowered, Error> {
        self.check(module)?;
        let target = self.only_target(module, target.into())?;
        let options = LowerOptions { schedule, ..LowerOptions::new(Arc::clone(target.capabilities())) };
        lower(module, &options).map_err(|error| self.pass_error(error, &target))
    }

    /// Lowers a module as far as [`Stage::Scheduled`], whatever stage the target's code generator
    /// takes: for a person who wants to see the schedules.
    ///
    /// # Errors
    ///
    /// As of [`Self::lower`].
    pub fn schedule(
        &self,
        module: &IrModule,
        target: impl Into<TargetSource>,
        schedule: Scheduling,
    ) -> Result<IrModule, Error> {
        self.check(module)?;
        let target = self.only_target(module, target.into())?;
        let capabilities = Arc::clone(target.capabilities());
        let options = LowerOptions { schedule, stage: Stage::Scheduled, ..LowerOptions::new(capabilities) };
        let lowered = lower(module, &options).map_err(|error| self.pass_error(error, &target));
        lowered.map(|lowered| lowered.module)
    }

    /// Returns the steps of the default schedule of each function that has one made of steps, by
    /// name: a line of Python each.
    ///
    /// They can be edited, and given to the function as its attribute `chipdock.schedule`.
    ///
    /// # Errors
    ///
    /// As of [`Self::lower`].
    pub fn schedule_steps(
        &self,
        module: &IrModule,
        target: impl Into<TargetSource>,
    ) -> Result<Vec<(Arc<str>, String)>, Error> {
        self.check(module)?;
        let capabilities = Arc::clone(self.only_target(module, target.into())?.capabilities());
        let of = |function: &chipdock_ir::PrimFunc| {
            let steps = chipdock_passes::default_steps(function, &capabilities);
            (!steps.steps().is_empty()).then(|| (Arc::clone(&function.name), steps.to_string()))
        };
        Ok(module.functions.iter().filter_map(of).collect())
    }

    /// Compiles a module for a target: one made by [`Self::target`], or a source that it
    /// accepts.
    ///
    /// A target whose kind supports host functions gives one artifact. For another, the device
    /// functions become an artifact that the artifact of the host functions imports; the host
    /// functions are compiled for the target's `host`, or for [`Self::default_host`] when it has
    /// none. Functions that name another target are compiled for that one, and the artifact imports
    /// the result too (COMPILE-C6).
    ///
    /// # Errors
    ///
    /// * `ValueError`, with positions: the module is not valid or cannot be lowered.
    /// * `Unsupported`: the module needs something that the target does not support; or every node
    ///   that the code generator cannot build.
    /// * `Unavailable`: a plugin that is needed is missing or refused.
    /// * `Cancelled`, and errors that the code generator raised.
    ///
    /// A failed build leaves nothing.
    pub fn compile(
        &self,
        module: &IrModule,
        target: impl Into<TargetSource>,
        options: &CompileOptions,
    ) -> Result<Compiled, Error> {
        self.0.services.check_process()?;
        let wanted = emitted::wanted(&options.options)?;
        let target = self.complete(target.into())?.without_device();
        let name = target.kind().name.as_str();
        let span = tracing::info_span!("compile", target = name, cached = tracing::field::Empty).entered();
        let mut codegens = Codegens::new(self);
        // A plugin that is missing is reported before the work begins.
        codegens.of(target.target())?;
        let plan = self.plan(module, &target, options, &mut codegens)?;
        let (mut said, mut imports) = (Said::default(), Vec::new());
        for job in &plan.devices {
            imports.push(Arc::new(self.build(
                job,
                codegens.of(job.target.target())?,
                options,
                Vec::new(),
                &mut said,
            )?));
        }
        for job in &plan.others {
            let codegen = codegens.of(job.target.target())?;
            // COMPILE-C7: its functions launch kernels, and may call what others have.
            let (devices, before) = imports.split_at(plan.devices.len());
            let called = job.names_one_of(before);
            let own: Vec<Arc<Artifact>> = devices.iter().cloned().chain(called).collect();
            let artifact = self.build(job, codegen, options, own, &mut said)?;
            imports.push(Arc::new(artifact.with_signatures(module)));
        }
        let codegen = codegens.of(plan.own.target.target())?;
        let artifact = self.build(&plan.own, codegen, options, imports, &mut said)?.with_signatures(module);
        span.record("cached", said.built == 0);
        let compiled = Compiled {
            artifact: Arc::new(artifact),
            target: Arc::clone(&plan.target),
            host: Arc::clone(&plan.host),
            lowered: plan.own.module.clone(),
            lowered_devices: plan.lowered_devices.clone(),
            cached: said.built == 0,
            messages: said.messages,
        };
        emitted::check(&wanted, &compiled, &target.kind().source_ending)?;
        Ok(compiled)
    }

    /// Makes the error of a pass, with what helps (COMPILE-C8).
    pub(crate) fn pass_error(&self, error: PassError, target: &ResolvedTarget) -> Error {
        self.with_way_out(pass_error(error), target)
    }

    fn codegen(&self, kind: &str) -> Result<Arc<CodegenEntry>, Error> {
        let key = format!("target.build.{kind}");
        match self.0.registry.entry(&key)? {
            Some(Entry::Codegen(entry)) => Ok(entry),
            _ => Err(self.0.registry.missing(&key)),
        }
    }
}

/// The code generators of one compilation, each looked up once.
pub(crate) struct Codegens<'a> {
    host: &'a Host,
    known: Vec<Arc<CodegenEntry>>,
}

impl<'a> Codegens<'a> {
    pub(crate) fn new(host: &'a Host) -> Self {
        Self { host, known: Vec::new() }
    }

    /// Returns the code generator of a target, or an error that names the missing key.
    pub(crate) fn of(&mut self, target: &Target) -> Result<Arc<CodegenEntry>, Error> {
        if let Some(known) = self.known.iter().find(|known| known.kind == target.kind) {
            return Ok(Arc::clone(known));
        }
        let found = self.host.codegen(&target.kind)?;
        self.known.push(Arc::clone(&found));
        Ok(found)
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
