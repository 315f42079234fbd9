//! Artifacts for a loader under test, built by any code generator that produces its kind.

use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;

use chipdock_host::artifact::{Artifact, Section};
use chipdock_host::{CompileOptions, Device, Host, Module};
use chipdock_programs::Case;
use chipdock_raw_host::{Environment, Loader, RawArtifact, RawSection};

use super::samples::ELEMENTWISE;
use crate::execute::{self, Guards};
use crate::{Context, Stop, Subject, Verdict};

/// An artifact that the loader accepts, with its expected results.
pub(super) struct Made {
    /// The whole artifact, which a host loads.
    pub root: Arc<Artifact>,
    /// The part of the loader's kind: the root, or one that the root imports.
    pub own: RawArtifact,
    /// Whether the part is the root.
    pub is_root: bool,
    /// Name of a function of the part.
    pub function: String,
    /// Device of the target, or the reason why there is none here.
    pub device: Result<Device, String>,
    /// Target kind that the artifact was compiled for.
    pub target_kind: String,
    case: Case,
}

/// Returns the part of an artifact tree that has a kind.
pub(super) fn of_kind<'a>(artifact: &'a Artifact, kind: &str) -> Option<&'a Artifact> {
    if artifact.index().module_kind == kind {
        return Some(artifact);
    }
    artifact.imports().iter().find_map(|import| of_kind(import, kind))
}

impl Made {
    /// Returns the artifact for the loader that the case is about, shared by its cases in a worker.
    ///
    /// # Errors
    ///
    /// No code generator here produces such artifacts.
    pub(super) fn cached(c: &Context<'_>) -> Verdict<Rc<Self>> {
        c.cached("module/made", || Self::new(c))
    }

    fn new(c: &Context<'_>) -> Verdict<Self> {
        let host = c.host()?;
        let own: Vec<&str> = c.facts().registrations(Subject::Codegen).collect();
        let others = host.target_kinds().into_iter().map(|(kind, _)| kind.name.clone());
        let others: Vec<String> = others.filter(|kind| !own.contains(&kind.as_str())).collect();
        let mut why = String::new();
        for kind in own.into_iter().chain(others.iter().map(String::as_str)) {
            match Self::by(host, kind, c.registration()) {
                Ok(Some(made)) => return Ok(made),
                Ok(None) => {}
                Err(Stop::Failed(failure)) if c.facts().unusable_kind(kind).is_none() => {
                    let own = c.facts().registrations(Subject::Codegen).any(|own| own == kind);
                    if own {
                        return Err(Stop::Failed(failure));
                    }
                }
                Err(stop) => why = format!("; {kind}: {stop:?}"),
            }
        }
        let message = format!("no code generator here makes artifacts of kind {}{why}", c.registration());
        Err(Stop::Absent(message))
    }

    /// Compiles for a target kind, and returns the artifact if it has a part of the module kind.
    fn by(host: &Host, target_kind: &str, module_kind: &str) -> Verdict<Option<Self>> {
        let target = host.usable_target(target_kind)?;
        let case = ELEMENTWISE.case()?;
        let root = host.compile(&case.module, &target, &CompileOptions::default())?.artifact;
        let Some(own) = of_kind(&root, module_kind) else { return Ok(None) };
        let function = own.index().functions.first().map(|function| function.name.clone());
        let device = host.device(&target.capabilities().device.name, 0).map_err(|error| error.to_string());
        Ok(Some(Self {
            own: raw(own),
            is_root: std::ptr::eq(own, &*root),
            function: function.unwrap_or_default(),
            target_kind: target_kind.to_owned(),
            root,
            device,
            case,
        }))
    }

    /// Checks the results of a module; if there is no device, records that it was not run
    /// (SUITE-S4).
    pub(super) fn computes(&self, c: &Context<'_>, module: &Module) -> Verdict {
        let device = match &self.device {
            Ok(device) => device,
            Err(why) => {
                c.not_run(why);
                return module.function(&self.case.function).map(drop).map_err(Stop::from);
            }
        };
        let found = execute::call(module, device, &self.case.function, &self.case.args, Guards::BEHIND)?;
        self.case.check(&found.tensors).map(drop).map_err(|wrong| {
            Stop::failed("what the interpreter computes of the module", wrong).clause("C.30")
        })
    }

    /// Compiles, loads and runs it once more, with another host.
    pub(super) fn anew(&self, host: &Host) -> Verdict {
        let target = host.usable_target(&self.target_kind)?;
        let root = host.compile(&self.case.module, &target, &CompileOptions::default())?.artifact;
        let module = host.load(&root)?;
        if self.device.is_err() {
            return module.function(&self.case.function).map(drop).map_err(Stop::from);
        }
        let device = host.device(&target.capabilities().device.name, 0)?;
        let found = execute::call(&module, &device, &self.case.function, &self.case.args, Guards::BEHIND)?;
        self.holds(&found.tensors)
    }

    /// Compares the tensors after a call with the interpreter's.
    pub(super) fn holds(&self, found: &[chipdock_interpret::Array]) -> Verdict {
        let held = self.case.check(found).map(drop);
        held.map_err(|wrong| Stop::failed("what the interpreter computes of the module", wrong))
    }

    /// Returns the name of the function of the whole artifact.
    pub(super) fn root_function(&self) -> &str {
        &self.case.function
    }

    /// Returns the arguments of the function.
    pub(super) fn args(&self) -> &[chipdock_interpret::Arg] {
        &self.case.args
    }

    /// Turns an error of the loader into a failure; `Unavailable` is passed on if the target has no
    /// device here.
    pub(super) fn refused(&self, error: chipdock_plugin_api::Error, expected: impl Display) -> Stop {
        match (&self.device, error.kind().as_str()) {
            (Err(_), "Unavailable") => error.into(),
            (_, kind) => Stop::failed(expected, format!("{kind}: {}", error.message())),
        }
    }

    /// Checks that the whole artifact loads through a real host and computes the right results.
    pub(super) fn still(&self, c: &Context<'_>) -> Verdict {
        let module = c.host()?.load(&self.root)?;
        let held = self.computes(c, &module);
        held.map_err(|stop| stop.note("the good artifact, after what this case did"))
    }

    /// Checks that the part loads through the raw table and has its function.
    pub(super) fn loads(&self, loader: &Loader) -> Verdict {
        let module = loader.load(&self.own, Environment::Working)?;
        let found = module.function(self.function.as_bytes())?;
        found.map(drop).ok_or_else(|| Stop::failed(format!("function \"{}\"", self.function), "None"))
    }
}

/// Returns the loader that the case is about, through its table.
pub(super) fn loader(c: &Context<'_>) -> Verdict<Loader> {
    Loader::find(c.plugin()?, c.registration()).ok_or_else(|| Stop::suite("the loader is gone"))
}

/// Returns an artifact in the form in which a loader is given it through its table.
pub(super) fn raw(artifact: &Artifact) -> RawArtifact {
    let section = |section: &Section| RawSection {
        name: section.name().into(),
        kind: section.kind().into(),
        alignment_bytes: section.alignment_bytes(),
        data: section.data().to_vec(),
    };
    RawArtifact {
        index_json: artifact.index_json().into(),
        sections: artifact.sections().iter().map(section).collect(),
        extensions: Vec::new(),
    }
}
