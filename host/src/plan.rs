//! What a compilation builds, before any of it is built: modules lowered and written, each for its target (rules C1 and C3 of
//! compilation, V8 of the cache).

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use chipdock_ir::{AttrValue, IrModule, Stage, Target, TargetFacts, attr, wire};
use chipdock_passes::{LowerOptions, Schedule, lower};

use crate::compile::{CompileOptions, pass_error};
use crate::error::{Error, ErrorKind};
use crate::files;
use crate::host::Host;
use crate::registrar::CodegenEntry;
use crate::target::TargetSource;

/// Plans that a host remembers, at most.
const PLANS_MAX: usize = 32;
/// Bytes of their texts, at most; what else they hold is in proportion.
const PLANS_BYTES_MAX: usize = 8 << 20;

/// One module for one code generator.
pub(crate) struct Job {
    pub(crate) target: Arc<Target>,
    pub(crate) target_json: String,
    /// As the code generator is given it.
    pub(crate) module: IrModule,
    /// The same as text, with positions and the name of its file.
    pub(crate) ir: String,
    /// SHA-256 of the text, where a cache will ask.
    pub(crate) ir_digest: String,
    /// The version of the text: the lower of the host's and the code generator's newest.
    version: String,
}

/// What is built, in this order: device functions, functions of other targets, the target's own or their host functions.
pub(crate) struct Plan {
    pub(crate) devices: Vec<Job>,
    pub(crate) others: Vec<Job>,
    pub(crate) own: Job,
    /// The target of the host functions.
    pub(crate) host: Arc<Target>,
    pub(crate) lowered_devices: Vec<(Arc<Target>, IrModule)>,
    rests_on: Basis,
}

/// What a plan takes from the host beside the module and the target.
#[derive(Default)]
struct Basis {
    facts: Vec<(Arc<Target>, Arc<TargetFacts>)>,
    /// Targets, each with that of its host functions.
    hosts: Vec<(Arc<Target>, Arc<Target>)>,
}

/// What a plan is asked for by.
#[derive(PartialEq)]
struct Asked {
    /// All of the module (W9 of the IR).
    module: String,
    target: Arc<Target>,
    schedule: Schedule,
    file: Option<String>,
}

/// The plans that a host made last (V8), the one that was used last behind the others.
#[derive(Default)]
pub(crate) struct Plans(VecDeque<(Asked, Arc<Plan>)>);

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
    /// What is to be built of a module, lowered now or, where the build may be kept, before (V8).
    pub(crate) fn plan(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        options: &CompileOptions,
    ) -> Result<Arc<Plan>, Error> {
        // What has no identity is not valid, which lowering says better.
        let identity = options.cache.is_some().then(|| wire::identity(module).ok()).flatten();
        let Some(identity) = identity else { return self.plan_now(module, target, options).map(Arc::new) };
        let asked = Asked {
            module: identity,
            target: Arc::clone(target),
            schedule: options.schedule,
            file: options.file.clone(),
        };
        let plans = || self.0.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let known = plans().find(&asked);
        if let Some(plan) = known.filter(|plan| self.still_holds(plan)) {
            return Ok(plan);
        }
        let plan = Arc::new(self.plan_now(module, target, options)?);
        plans().keep(asked, Arc::clone(&plan));
        Ok(plan)
    }

    /// Whether all that a plan rests on is as it was.
    fn still_holds(&self, plan: &Plan) -> bool {
        let Basis { facts, hosts } = &plan.rests_on;
        let has_version = |job: &Job| {
            self.codegen(&job.target.kind)
                .and_then(|codegen| wire_version(&codegen))
                .is_ok_and(|now| now == job.version)
        };
        facts.iter().all(|(target, facts)| self.facts(target).is_ok_and(|now| now == **facts))
            && hosts.iter().all(|(target, host)| self.host_of(target).is_ok_and(|now| now == *host))
            && plan.jobs().all(has_version)
    }

    fn plan_now(
        &self,
        module: &IrModule,
        target: &Arc<Target>,
        options: &CompileOptions,
    ) -> Result<Plan, Error> {
        self.check(module)?;
        let mut planner = Planner {
            host: self,
            options,
            hosts: Vec::new(),
            devices: Vec::new(),
            rests_on: Basis::default(),
        };
        for (target, module) in self.by_target(module, target)? {
            planner.lower(&module, &target)?;
        }
        planner.finish(target)
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

    /// A module as its code generator is given it (C3).
    fn job(&self, target: &Arc<Target>, module: IrModule, options: &CompileOptions) -> Result<Job, Error> {
        let codegen = self.codegen(&target.kind)?;
        let at = |error: Error| error.at(format!("target.build.{}", target.kind));
        let version = wire_version(&codegen).map_err(at)?;
        let span =
            tracing::debug_span!("write_ir", target = &*target.kind, size_bytes = tracing::field::Empty)
                .entered();
        let write = wire::WriteOptions { version: &version, positions: true, file: options.file.as_deref() };
        let ir = wire::write_with(&module, &write)
            .map_err(|error| at(Error::new(ErrorKind::Unsupported, error.to_string())))?;
        span.record("size_bytes", ir.len());
        let ir_digest =
            options.cache.as_ref().map(|_| files::sha256_of_bytes(ir.as_bytes())).unwrap_or_default();
        let target_json = target.to_json().to_string();
        Ok(Job { target: Arc::clone(target), target_json, module, ir, ir_digest, version })
    }
}

/// A module of several targets on its way to what is built.
struct Planner<'a> {
    host: &'a Host,
    options: &'a CompileOptions,
    /// Functions by the target that compiles them, at the stage that they came to: those that need no host, and hosts'.
    hosts: Vec<HostGroup>,
    /// Device functions by target.
    devices: Vec<(Arc<Target>, IrModule)>,
    rests_on: Basis,
}

/// Functions that one code generator takes.
struct HostGroup {
    target: Arc<Target>,
    module: IrModule,
    from: Option<Stage>,
}

impl Planner<'_> {
    fn facts(&mut self, target: &Arc<Target>) -> Result<Arc<TargetFacts>, Error> {
        if let Some((_, facts)) = self.rests_on.facts.iter().find(|(known, _)| known == target) {
            return Ok(Arc::clone(facts));
        }
        let facts = Arc::new(self.host.facts(target)?);
        self.rests_on.facts.push((Arc::clone(target), Arc::clone(&facts)));
        Ok(facts)
    }

    fn host_of(&mut self, target: &Arc<Target>) -> Result<Arc<Target>, Error> {
        let host = self.host.host_of(target)?;
        self.rests_on.hosts.push((Arc::clone(target), Arc::clone(&host)));
        Ok(host)
    }

    /// Lowers the functions of one target as far as what is the device's and what is a host's part from each other.
    fn lower(&mut self, module: &IrModule, target: &Arc<Target>) -> Result<(), Error> {
        let facts = self.facts(target)?;
        let stage = facts.stage.min(Stage::Device);
        let schedule = self.options.schedule;
        let options = LowerOptions { schedule, stage, ..LowerOptions::new(facts) };
        let lowered = lower(module, &options).map_err(pass_error)?;
        let Some(device) = lowered.device else {
            self.join(target, lowered.module, stage);
            return Ok(());
        };
        let host = self.host_of(target)?;
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

    /// The artifact of `target`'s functions, or of their host functions, imports the others.
    fn finish(mut self, target: &Arc<Target>) -> Result<Plan, Error> {
        let is_host = self.facts(target)?.is_host;
        let mut devices = Vec::new();
        for (target, device) in self.devices.iter().filter(|(_, device)| !device.functions.is_empty()) {
            devices.push(self.host.job(target, device.clone(), self.options)?);
        }
        // What stands first is the target's own: the others are imported.
        let mut groups = std::mem::take(&mut self.hosts).into_iter();
        let Some(first) = groups.next() else {
            return Err(Error::new(ErrorKind::Value, "the module has no functions"));
        };
        let mut others = Vec::new();
        for group in groups.filter(|group| !group.module.functions.is_empty()) {
            others.push(self.group(group)?);
        }
        let own = self.group(first)?;
        let is_alone = !is_host && self.devices.is_empty();
        let host = if is_alone { self.host_of(target)? } else { Arc::clone(&own.target) };
        Ok(Plan { devices, others, own, host, lowered_devices: self.devices, rests_on: self.rests_on })
    }

    fn group(&mut self, group: HostGroup) -> Result<Job, Error> {
        let facts = self.facts(&group.target)?;
        if group.from == Some(facts.stage) {
            return self.host.job(&group.target, group.module, self.options);
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
        self.host.job(&group.target, lowered.module, self.options)
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

#[cfg(test)]
mod tests;
