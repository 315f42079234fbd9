//! `module.load.llvm`: makes an object callable in this process, in memory.
//!
//! * **LLLOAD-R1** An artifact runs if its triple is this machine's and the processor has every
//!   feature that it was made with; otherwise `check` names what is missing, and `load` refuses.
//! * **LLLOAD-R2** Code, data and everything that they need live as long as the module or a
//!   function obtained from it, and no longer.
//! * **LLLOAD-R3** Addresses are looked up once, when the module is loaded. The environment is set
//!   before anything is called.
//! * **LLLOAD-R4** An object that is not for this machine is refused by its headers; functions that
//!   it calls are looked up in this process and the C library, by name, and it has no access to
//!   anything else in the process.
//! * **LLLOAD-R5** Interface `object` 1 delivers the object as it was built, for any machine:
//!   libLLVM is not asked. It is refused (`ValueError`) if its headers are damaged, if it is no
//!   relocatable object, or if other symbols are visible in it than those of the index and
//!   `__chipdock_env`.
//! * **LLLOAD-R6** libLLVM is opened only where an object has something that `linker` does not
//!   know, where gdb is to be told of it, and for a verdict on another processor that was not given
//!   before.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_plugin_api::abi::CHIPDOCK_DEVICE_CPU;
use chipdock_plugin_api::kit::{ArtifactKind, PackedFunction, PackedModule};
use chipdock_plugin_api::object_code::Objects;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, HostRef, Module, ModuleLoader, Verdict,
};
use serde_json::Value;

use crate::codegen::{CODE, FORMAT};
use crate::linker::Linked;
use crate::llvm::jit::Jit;
use crate::llvm::naming::Naming;
use crate::llvm::plan::Plan;
use crate::llvm::portable;
use crate::llvm::{Chosen, MachineOptions, chosen};
use crate::runs_here;
use crate::target_kind::NAME;

/// The loader of module kind `llvm`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LlvmLoader(pub(crate) HostRef);

/// The artifacts that the loader accepts.
const ARTIFACT: ArtifactKind = ArtifactKind { kind: NAME, formats: &[FORMAT] };

/// A linked object (LLLOAD-R2).
pub(crate) enum Code {
    /// By this plugin's linker.
    Linked(Linked),
    /// By LLVM's.
    Jit(Jit),
}

/// A loaded object: its functions keep its code (LLLOAD-R2) and its environment (M.4) alive. It was
/// linked anew, so its variable is its own (X.5).
pub(crate) type LlvmModule = PackedModule<(Arc<Code>, Env)>;

impl Code {
    /// Links an object: by this plugin's linker, where it knows all of it and no tool needs LLVM's;
    /// else by that of LLVM (LLLINK-N2, LLLINK-N7).
    ///
    /// # Errors
    ///
    /// Those of [`Plan::new`], [`Jit::link`] and [`Chosen::open`].
    fn link(chosen: &Chosen, plan: &Plan<'_>, env: &Env) -> Result<Self, Error> {
        let own = if plan.is_for_llvm() { None } else { Linked::new(plan) };
        let Some(linked) = own else { return Ok(Self::Jit(Jit::link(chosen.open()?, plan, env.as_ptr())?)) };
        // SAFETY: the addresses of this object, linked just now.
        unsafe { plan.set_environment(linked.addresses(), env.as_ptr()) };
        plan.tell_perf(linked.addresses());
        Ok(Self::Linked(linked))
    }

    fn address(&self, symbol: &str) -> Option<usize> {
        match self {
            Self::Linked(linked) => linked.addresses().get(symbol).copied(),
            Self::Jit(jit) => jit.address(symbol),
        }
    }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// Reads the machine that an object was made for.
fn machine_of(index: &Value) -> Result<MachineOptions, Error> {
    let text = |name: &str| {
        index["options"][name].as_str().map(str::to_owned).ok_or_else(|| {
            let found = &index["options"][name];
            value_error(format!(
                "expected a text `options.{name}` in the artifact's index, found {found}: build the artifact again"
            ))
        })
    };
    Ok(MachineOptions {
        triple: text("triple")?,
        cpu: text("cpu")?,
        features: text("features")?,
        ..MachineOptions::default()
    })
}

/// Links an object whose index is `index`.
///
/// Compiled code calls through `env`, which the module and its functions keep.
pub(crate) fn load(host: HostRef, index: &Value, object: &[u8], env: Env) -> Result<LlvmModule, Error> {
    let functions = ARTIFACT.functions(index)?;
    let machine = machine_of(index)?;
    let chosen = chosen(host)?;
    if let Verdict::Recompile(why) | Verdict::Unsupported(why) = runs_here::verdict(chosen, &machine)? {
        return Err(Error::new(ErrorKind::UNSUPPORTED, format!("the artifact does not run here: {why}")));
    }
    let symbols: Vec<&str> = functions.iter().map(|(_, symbol)| *symbol).collect();
    let plan = Plan::new(object, &symbols, Naming::read(host)?)?;
    let code = Arc::new(Code::link(chosen, &plan, &env)?);
    let mut found = HashMap::new();
    for (name, symbol) in functions {
        let address = code
            .address(symbol)
            .ok_or_else(|| value_error(format!("the object has no function {name} as {symbol}")))?;
        // SAFETY: code of this object, which target llvm wrote with the packed convention.
        let function = unsafe { core::mem::transmute::<usize, PackedFunction>(address) };
        found.insert(name.to_owned(), function);
    }
    // SAFETY: code of this object, which is kept alive.
    Ok(unsafe { LlvmModule::new(found, (code, env)) })
}

impl ModuleLoader for LlvmLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        ARTIFACT.check(artifact, |index| {
            if device.device_type != CHIPDOCK_DEVICE_CPU {
                return Ok(Verdict::Unsupported(format!(
                    "expected the cpu (device type {CHIPDOCK_DEVICE_CPU}), found device type {}",
                    device.device_type
                )));
            }
            runs_here::verdict(chosen(self.0)?, &machine_of(index)?)
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = ARTIFACT.index(artifact)?;
        Ok(Box::new(load(self.0, &index, artifact.section(CODE)?.data, env)?))
    }
}

impl Objects for LlvmLoader {
    fn object(&self, artifact: &Artifact<'_>) -> Result<Vec<u8>, Error> {
        let index = ARTIFACT.index(artifact)?;
        let functions = ARTIFACT.functions(&index)?;
        machine_of(&index)?;
        let object = artifact.section(CODE)?.data;
        let symbols: Vec<&str> = functions.iter().map(|(_, symbol)| *symbol).collect();
        portable::check(object, &symbols)
            .map_err(|why| ARTIFACT.error(format_args!("section `{CODE}`: {why}")))?;
        Ok(object.to_vec())
    }
}
