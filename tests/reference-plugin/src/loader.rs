//! `module.load.reference`: reads the module back and provides its functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::validate::validate;
use chipdock_ir::{AttrValue, IrModule, Target, attr, wire};
use chipdock_plugin_api::abi::ChipdockEnv;
use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::kit::ArtifactKind;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Interface, Module, ModuleLoader,
    Verdict, ensure,
};
use serde_json::Value;

use crate::call::Kernel;
use crate::codegen::{FORMAT, SECTION, checksum};
use crate::device_api::{ARCH, NAME};
use crate::fault;
use crate::hardware::Hardware;

/// The loader of one host.
pub(crate) struct ReferenceLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

/// A loaded module: its functions by name.
struct Loaded {
    host: HostRef,
    kernels: BTreeMap<String, Arc<Kernel>>,
    /// Only used by a planted fault.
    #[expect(dead_code, reason = "held to be dropped")]
    early: Option<Early>,
}

/// Releases an environment that functions may still use.
struct Early(*const ChipdockEnv);

// SAFETY: a table whose functions may be called from any thread.
unsafe impl Send for Early {}
// SAFETY: a table whose functions may be called from any thread.
unsafe impl Sync for Early {}

impl Drop for Early {
    fn drop(&mut self) {
        // SAFETY: not kept, which is the fault: M.4 allows it when no function can use it any more.
        unsafe { ((*self.0).release)(self.0) };
    }
}

/// Object of the interfaces of a mutant.
struct Nothing;

impl Reset for Nothing {
    fn reset(&self, _device_id: i32) -> Result<(), Error> {
        Ok(())
    }
}

/// Artifacts that the loader takes.
const KIND: ArtifactKind = ArtifactKind { kind: NAME, formats: &[FORMAT] };

fn value_error(message: impl std::fmt::Display) -> Error {
    KIND.error(message)
}

/// Returns the bytes of the module, checked against the checksum.
fn section_of<'a>(artifact: &Artifact<'a>, index: &Value) -> Result<&'a [u8], Error> {
    let section = KIND.section(artifact, SECTION)?;
    let mut options = index["options"].clone();
    let expected = options.as_object_mut().and_then(|options| options.remove("checksum")).unwrap_or_default();
    let found = checksum(&index["functions"], &options, section);
    ensure!(
        // C.22, M.2: what was changed is taken for what it is not.
        expected == found.as_str() || fault::is("loader-accepts-changed-bytes"),
        ErrorKind::VALUE_ERROR,
        "an artifact of {NAME}: expected the checksum {expected}, found {found}: it was cut off or changed; build it again"
    );
    Ok(section)
}

impl ModuleLoader for ReferenceLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        let verdict = KIND.check(artifact, |index| self.verdict(artifact, index, device))?;
        match verdict {
            // M.2: it is a verdict.
            Verdict::Unsupported(why) if fault::is("check-errs-instead-of-verdict") => Err(value_error(why)),
            verdict => Ok(verdict),
        }
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        // P10.6: it waits for what the parent has.
        if fault::is("load-hangs-after-a-fork") {
            static FIRST: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
            while *FIRST.get_or_init(std::process::id) != std::process::id() {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        }
        // M.4: nobody releases it.
        if fault::is("environment-never-released") {
            std::mem::forget(env.clone());
        }
        let loaded = self.load_checked(artifact, env);
        if loaded.is_err() {
            // M.8: a file stays behind.
            if fault::is("failed-load-leaves-a-file") {
                let name = format!("chipdock-reference-{}.tmp", std::process::id());
                let _ = std::fs::write(std::env::temp_dir().join(name), "left behind");
            }
            // M.8: memory stays behind.
            if fault::is("leak-on-failed-load") {
                std::mem::forget(vec![1_u8; 256 << 10]);
            }
            // M.2: what was cut off is an empty module.
            if fault::is("loader-accepts-truncated") {
                return Ok(Box::new(Loaded { host: self.host, kernels: BTreeMap::new(), early: None }));
            }
        }
        loaded
    }
}

impl ReferenceLoader {
    fn verdict(
        &self,
        artifact: &Artifact<'_>,
        index: &Value,
        device: ChipdockDevice,
    ) -> Result<Verdict, Error> {
        // M.2: it says yes to everything.
        if fault::is("check-says-yes") {
            return Ok(Verdict::Runs);
        }
        section_of(artifact, index)?;
        let devices = &self.hardware.devices;
        if let Some(why) = devices.other_type(device) {
            return Ok(Verdict::Unsupported(why));
        }
        if let Err(error) = devices.get(device.device_id) {
            return Ok(Verdict::Unsupported(error.message().into_owned()));
        }
        // Older code runs here; what is newer than this hardware does not.
        let arch = index["options"]["arch"].as_str().unwrap_or_default();
        Ok(if arch > ARCH {
            Verdict::Recompile(format!("it was built for {arch}, and the device is {ARCH}"))
        } else {
            Verdict::Runs
        })
    }

    fn load_checked(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = KIND.index(artifact)?;
        let text = std::str::from_utf8(section_of(artifact, &index)?).map_err(value_error)?;
        // C.43: the constants of the module lie beside it.
        let constants = |name: &str| artifact.section(name).ok().map(|section| section.data);
        let module = wire::read_document_with(text, &constants).map_err(value_error)?.module;
        let stage = serde_json::from_value(index["options"]["stage"].clone()).map_err(value_error)?;
        validate(&module, stage)
            .map_err(|problems| value_error(problems.first().map(ToString::to_string).unwrap_or_default()))?;
        let module = Arc::new(module);
        let is_synchronous = index["options"]["synchronous"].as_bool().unwrap_or(false);
        let mut kernels = BTreeMap::new();
        for (name, symbol) in KIND.functions(&index)? {
            let target = target_of(&module, symbol)?;
            let kernel = Kernel::new(&self.hardware, &module, symbol, &target, env.clone(), is_synchronous)?;
            kernels.insert(name.to_owned(), Arc::new(kernel));
        }
        // M.4: it is released with the module, whose functions may be called yet.
        let early =
            (fault::is("environment-released-with-the-module") && !env.as_ptr().is_null()).then(|| {
                std::mem::forget(env.clone());
                Early(env.as_ptr())
            });
        Ok(Box::new(Loaded { host: self.host, kernels, early }))
    }
}

/// Returns the target to which the host bound a function.
fn target_of(module: &IrModule, symbol: &str) -> Result<Arc<Target>, Error> {
    let function = module.function(symbol);
    let function = function.ok_or_else(|| value_error(format!("the module has no function {symbol}")))?;
    Ok(match function.attrs.get(attr::TARGET) {
        Some(AttrValue::Target(target)) => Arc::clone(target),
        _ => Arc::new(Target { kind: NAME.into(), ..Target::default() }),
    })
}

impl Module for Loaded {
    fn query(&self, _name: &str, _version: u32) -> Option<Interface> {
        // P3.12: it has every interface there is.
        fault::is("query-answers-everything").then(|| RESET.of(Box::new(Nothing)))
    }

    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        // M.6: a name that is not there is no error.
        if !self.kernels.contains_key(name) && fault::is("missing-function-raises") {
            return Err(Error::new(ErrorKind::NOT_FOUND, format!("there is no function {name}")));
        }
        Ok(self.kernels.get(name).map(|kernel| {
            // M.5: it ends with its module.
            if fault::is("function-dies-with-module") {
                let kernel = Arc::downgrade(kernel);
                return Function::from_fn(self.host, move |args| match kernel.upgrade() {
                    Some(kernel) => kernel.call(args),
                    None => Err(Error::new(ErrorKind::WRONG_STATE, "the module was released")),
                });
            }
            let kernel = Arc::clone(kernel);
            Function::from_fn(self.host, move |args| kernel.call(args))
        }))
    }
}
