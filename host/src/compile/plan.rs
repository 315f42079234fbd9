//! Plans a compilation before anything is built: lowers and writes the modules, each for its target
//! (rules COMPILE-C1, COMPILE-C3 and COMPILE-C6 of compilation, CACHE-V8 of the cache).

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use chipdock_ir::{AttrValue, Expr, ExprKind, IrModule, Stage, Target, TargetCapabilities, attr, wire};
use chipdock_passes::{LowerOptions, Scheduling, lower};

use crate::boundary::registrar::CodegenEntry;
use crate::compile::artifact::Artifact;
use crate::compile::resolve::{ResolvedTarget, TargetId, TargetRequest};
use crate::compile::{Codegens, CompileOptions};
use crate::error::{Error, ErrorKind};
use crate::files;
use crate::host::Host;

/// Greatest number of plans that a host remembers.
const PLANS_MAX: usize = 32;
/// Greatest size of the remembered plans' texts in bytes; their other parts are in proportion.
const PLANS_BYTES_MAX: usize = 8 << 20;

/// One module for one code generator.
pub(crate) struct Job {
    pub(crate) target: Arc<ResolvedTarget>,
    /// The module as the code generator receives it.
    pub(crate) module: IrModule,
    /// The module as text, with positions and the name of its file.
    pub(crate) ir: String,
    /// SHA-256 of the text, where a cache will need it.
    pub(crate) ir_digest: String,
    /// The version of the text: the lower of the host's and the code generator's newest.
    version: String,
}

/// The builds of a compilation, in this order: device functions, functions of other targets, the
/// target's own or their host functions.
pub(crate) struct Plan {
    pub(crate) devices: Vec<Job>,
    pub(crate) others: Vec<Job>,
    pub(crate) own: Job,
    /// The target that was asked for; that of the first functions where none is compiled for that
    /// one (COMPILE-C6).
    pub(crate) target: Arc<ResolvedTarget>,
    /// The target of the host functions.
    pub(crate) host: Arc<ResolvedTarget>,
    pub(crate) lowered_devices: Vec<(Arc<ResolvedTarget>, IrModule)>,
    rests_on: Basis,
}

/// Inputs of a plan that come from the host, beside the module and the target.
#[derive(Default)]
struct Basis {
    /// Targets whose capabilities the passes used.
    targets: Vec<Arc<ResolvedTarget>>,
    /// The default host, where a target named none.
    default_host: Option<Arc<ResolvedTarget>>,
}

/// Key of a remembered plan.
#[derive(PartialEq)]
struct Asked {
    /// Identity of the whole module (WIRE-W9 of the IR).
    module: String,
    target: TargetId,
    schedule: Scheduling,
    file: Option<String>,
}

/// The plans that a host made last (CACHE-V8), the one that was used last at the end.
#[derive(Default)]
pub(crate) struct Plans(VecDeque<(Asked, Arc<Plan>)>);

impl Job {
    /// Returns the artifacts with a function that the module may call by its name (COMPILE-C7).
    pub(crate) fn names_one_of(&self, artifacts: &[Arc<Artifact>]) -> Vec<Arc<Artifact>> {
        let mut texts = BTreeSet::new();
        for function in &self.module.functions {
            function.body.walk_exprs(&mut |expr: &Expr| {
                if let ExprKind::Str(text) = &expr.kind {
                    texts.insert(text.to_string());
                }
            });
        }
        let is_named = |artifact: &&Arc<Artifact>| {
            artifact.index().functions.iter().any(|function| texts.contains(&function.name))
        };
        artifacts.iter().filter(is_named).cloned().collect()
    }
}

impl Plan {
    fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.devices.iter().chain(&self.others).chain([&self.own])
    }

    fn text_bytes(&self) -> usize {
        self.jobs().map(|job| job.ir.len()).sum()
    }
}

impl Plans {
    fn find(&mut self, asked: &Asked) -> Option<Arc<Plan>> {
        let at = self.0.iter().position(|(known, _)| known == asked)?;
        let found = self.0.remove(at)?;
        let plan = Arc::clone(&found.1);
        self.0.push_back(found);
        Some(plan)
    }

    fn keep(&mut self, asked: Asked, plan: Arc<Plan>) {
        self.0.retain(|(known, _)| *known != asked);
        self.0.push_back((asked, plan));
        let bytes = |(asked, plan): &(Asked, Arc<Plan>)| asked.module.len() + plan.text_bytes();
        let mut all: usize = self.0.iter().map(bytes).sum();
        while self.0.len() > PLANS_MAX || all > PLANS_BYTES_MAX {
            let Some(oldest) = self.0.pop_front() else { return };
            all -= bytes(&oldest);
        }
    }
}

impl Host {
    /// Returns the plan of a module's builds, made now or, where the build may be kept, remembered
    /// (CACHE-V8).
    pub(crate) fn plan(
        &self,
        module: &IrModule,
        target: &Arc<ResolvedTarget>,
        options: &CompileOptions,
        codegens: &mut Codegens<'_>,
    ) -> Result<Arc<Plan>, Error> {
        // A module without an identity is invalid, which lowering reports better.
        let identity = options.cache.is_some().then(|| wire::identity(module).ok()).flatten();
        let Some(identity) = identity else {
            return self.plan_now(module, target, options, codegens).map(Arc::new);
        };
        let asked = Asked {
            module: identity,
            target: target.id(),
            schedule: options.schedule,
            file: options.file.clone(),
        };
        let kept = self.0.kept.get::<Mutex<Plans>>();
        let plans = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = plans().find(&asked);
        if let Some(plan) = known.filter(|plan| self.still_holds(plan, codegens)) {
            return Ok(plan);
        }
        let plan = Arc::new(self.plan_now(module, target, options, codegens)?);
        plans().keep(asked, Arc::clone(&plan));
        Ok(plan)
    }

    /// Returns true if everything that a plan depends on is unchanged.
    fn still_holds(&self, plan: &Plan, codegens: &mut Codegens<'_>) -> bool {
        let Basis { targets, default_host } = &plan.rests_on;
        let mut has_version = |job: &Job| {
            codegens
                .of(job.target.target())
                .and_then(|codegen| wire_version(&codegen))
                .is_ok_and(|now| now == job.version)
        };
        let is_as_before = |target: &Arc<ResolvedTarget>| {
            self.capabilities_of(target.kind(), target.target())
                .is_ok_and(|now| now == **target.capabilities())
        };
        let is_default =
            |host: &Arc<ResolvedTarget>| self.default_host().is_ok_and(|now| now.id() == host.id());
        targets.iter().all(is_as_before)
            && default_host.iter().all(is_default)
            && plan.jobs().all(&mut has_version)
    }

    fn plan_now(
        &self,
        module: &IrModule,
        target: &Arc<ResolvedTarget>,
        options: &CompileOptions,
        codegens: &mut Codegens<'_>,
    ) -> Result<Plan, Error> {
        self.check(module)?;
        let mut planner = Planner {
            host: self,
            options,
            codegens,
            hosts: Vec::new(),
            devices: Vec::new(),
            rests_on: Basis::default(),
        };
        let groups = planner.by_target(module, target)?;
        let own = groups.first().map_or_else(|| Arc::clone(target), |(own, _)| Arc::clone(own));
        for (target, module) in groups {
            planner.lower(&module, &target)?;
        }
        planner.finish(&own)
    }

    /// Resolves the target that a function names. One of a device that names no host has the host
    /// of the module's target.
    pub(crate) fn named_by_function(
        &self,
        named: &Arc<Target>,
        target: &ResolvedTarget,
    ) -> Result<Arc<ResolvedTarget>, Error> {
        let request = TargetRequest::named(named);
        let (None, Some(host)) = (&named.host, target.host()) else { return self.target(request) };
        let alone = self.target(request)?;
        // The tag of a target may name a host too.
        if alone.kind().is_host || alone.host().is_some() {
            return Ok(alone);
        }
        self.target(TargetRequest::named(named).host(host))
    }
}

/// A module of several targets on its way to a plan.
struct Planner<'a, 'b> {
    host: &'a Host,
    options: &'a CompileOptions,
    codegens: &'a mut Codegens<'b>,
    /// Functions by the target that compiles them, at the stage that they have reached: those that
    /// need no host, and host functions.
    hosts: Vec<HostGroup>,
    /// Device functions by target.
    devices: Vec<(Arc<ResolvedTarget>, IrModule)>,
    rests_on: Basis,
}

/// Functions for one code generator.
struct HostGroup {
    target: Arc<ResolvedTarget>,
    module: IrModule,
    from: Option<Stage>,
}

impl Planner<'_, '_> {
    /// Returns the capabilities of a target, and records that the plan depends on them.
    fn capabilities(&mut self, target: &Arc<ResolvedTarget>) -> Result<Arc<TargetCapabilities>, Error> {
        if !self.rests_on.targets.iter().any(|known| known.id() == target.id()) {
            self.host.tell_of_assigned_number(target)?;
            self.rests_on.targets.push(Arc::clone(target));
        }
        Ok(Arc::clone(target.capabilities()))
    }

    fn host_of(&mut self, target: &ResolvedTarget) -> Result<Arc<ResolvedTarget>, Error> {
        match (target.host(), &self.rests_on.default_host) {
            (Some(host), _) | (None, Some(host)) => Ok(Arc::clone(host)),
            (None, None) => Ok(Arc::clone(self.rests_on.default_host.insert(self.host.default_host()?))),
        }
    }

    /// Makes the job of a module: the module as its code generator receives it (COMPILE-C3).
    fn job(&mut self, target: &Arc<ResolvedTarget>, module: IrModule) -> Result<Job, Error> {
        let codegen = self.codegens.of(target.target())?;
        let at = |error: Error| error.at(format!("target.build.{}", codegen.kind));
        let version = wire_version(&codegen).map_err(at)?;
        let file = self.options.file.as_deref();
        let span =
            tracing::debug_span!("write_ir", target = &*codegen.kind, size_bytes = tracing::field::Empty);
        let _entered = span.enter();
        let write = wire::WriteOptions { version: &version, positions: true, file };
        let ir = wire::write_with(&module, &write)
            .map_err(|error| at(Error::new(ErrorKind::Unsupported, error.to_string())))?;
        span.record("size_bytes", ir.len());
        let ir_digest =
            self.options.cache.as_ref().map(|_| files::sha256_of_bytes(ir.as_bytes())).unwrap_or_default();
        Ok(Job { target: Arc::clone(target), module, ir, ir_digest, version })
    }

    /// Groups the functions of a module by the target of each (COMPILE-C6); those that name none
    /// come first.
    fn by_target(
        &mut self,
        module: &IrModule,
        target: &Arc<ResolvedTarget>,
    ) -> Result<Vec<(Arc<ResolvedTarget>, IrModule)>, Error> {
        let of = |functions| IrModule { functions, attrs: module.attrs.clone() };
        let mut groups: Vec<(Arc<ResolvedTarget>, IrModule)> = vec![(Arc::clone(target), of(Vec::new()))];
        for function in &module.functions {
            let named = match function.attrs.get(attr::TARGET) {
                Some(AttrValue::Target(named)) if *named != *target.target() => self.named(named, target)?,
                _ => Arc::clone(target),
            };
            match groups.iter_mut().find(|(known, _)| known.id() == named.id()) {
                Some((_, group)) => group.functions.push(function.clone()),
                None => groups.push((named, of(vec![function.clone()]))),
            }
        }
        // Nothing is built for the module's target if no function needs it.
        if groups.len() > 1 && groups[0].1.functions.is_empty() {
            groups.remove(0);
        }
        Ok(groups)
    }

    fn named(&mut self, named: &Arc<Target>, target: &ResolvedTarget) -> Result<Arc<ResolvedTarget>, Error> {
        // The name of a tag says nothing of a code generator (TARGET-T1).
        if !named.kind.contains('/') {
            self.codegens.of(named)?;
        }
        let target = self.host.named_by_function(named, target)?;
        self.codegens.of(target.target())?;
        Ok(target)
    }

    /// Lowers the functions of one target up to the separation of device functions from host
    /// functions.
    fn lower(&mut self, module: &IrModule, target: &Arc<ResolvedTarget>) -> Result<(), Error> {
        let capabilities = self.capabilities(target)?;
        let stage = capabilities.stage.min(Stage::Device);
        let schedule = self.options.schedule;
        let options = LowerOptions { schedule, stage, ..LowerOptions::new(capabilities) };
        let lowered = lower(module, &options).map_err(|error| self.host.pass_error(error, target))?;
        let Some(device) = lowered.device else {
            self.join(target, lowered.module, stage);
            return Ok(());
        };
        let host = self.host_of(target)?;
        self.join(&host, lowered.module, Stage::Device);
        self.devices.push((Arc::clone(target), device));
        Ok(())
    }

    fn join(&mut self, target: &Arc<ResolvedTarget>, module: IrModule, from: Stage) {
        match self.hosts.iter_mut().find(|group| group.target.id() == target.id() && group.from == Some(from))
        {
            Some(group) => group.module.functions.extend(module.functions),
            None => self.hosts.push(HostGroup { target: Arc::clone(target), module, from: Some(from) }),
        }
    }

    /// Makes the plan: the artifact of `target`'s functions, or of their host functions, imports
    /// the others.
    fn finish(mut self, target: &Arc<ResolvedTarget>) -> Result<Plan, Error> {
        let is_host = self.capabilities(target)?.is_host;
        let mut devices = Vec::new();
        let lowered_devices = std::mem::take(&mut self.devices);
        for (target, device) in lowered_devices.iter().filter(|(_, device)| !device.functions.is_empty()) {
            devices.push(self.job(target, device.clone())?);
        }
        // The first group is the target's own: the others are imported.
        let mut groups = std::mem::take(&mut self.hosts).into_iter();
        let Some(first) = groups.next() else {
            return Err(Error::new(ErrorKind::Value, "the module has no functions"));
        };
        let mut others = Vec::new();
        for group in groups.filter(|group| !group.module.functions.is_empty()) {
            others.push(self.group(group)?);
        }
        let own = self.group(first)?;
        let is_alone = !is_host && lowered_devices.is_empty();
        let host = if is_alone { self.host_of(target)? } else { Arc::clone(&own.target) };
        let target = Arc::clone(target);
        Ok(Plan { devices, others, own, target, host, lowered_devices, rests_on: self.rests_on })
    }

    fn group(&mut self, group: HostGroup) -> Result<Job, Error> {
        let capabilities = self.capabilities(&group.target)?;
        if group.from == Some(capabilities.stage) {
            return self.job(&group.target, group.module);
        }
        if capabilities.stage != Stage::Host {
            let message = format!(
                "target kind \"{}\" takes modules at stage {}; expected a host that takes packed functions (stage {})",
                group.target.target().kind,
                capabilities.stage,
                Stage::Host
            );
            return Err(Error::new(ErrorKind::Value, message).hint("name another host with --host"));
        }
        let options = LowerOptions {
            schedule: self.options.schedule,
            from: group.from,
            ..LowerOptions::new(capabilities)
        };
        let lowered = lower(&group.module, &options);
        let lowered = lowered.map_err(|error| self.host.pass_error(error, &group.target))?;
        self.job(&group.target, lowered.module)
    }
}

/// Returns the wire version of rule COMPILE-C3.
fn wire_version(codegen: &CodegenEntry) -> Result<String, Error> {
    let own = semver::Version::parse(wire::VERSION).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("wire version {}: {error}", wire::VERSION))
    })?;
    lower_version(&own, &codegen.ir_min, &codegen.ir_max).map(ToString::to_string)
}

/// Returns the lower of the version that this host writes and the newest that a code generator
/// reads.
fn lower_version<'v>(
    own: &'v semver::Version,
    min: &'v semver::Version,
    max: &'v semver::Version,
) -> Result<&'v semver::Version, Error> {
    let version = own.min(max);
    if version < min || version.major != own.major {
        let message = format!(
            "it reads IR of version {min} to {max}, this host writes {own}; get a build for this host"
        );
        return Err(Error::new(ErrorKind::Unavailable, message));
    }
    Ok(version)
}

#[cfg(test)]
mod tests;
