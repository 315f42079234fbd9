//! `module.load.reference`: reads the module back and hands out its functions.

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::validate::validate;
use chipdock_ir::{AttrValue, IrModule, Stage, Target, attr, wire};
use chipdock_plugin_api::abi::ChipdockEnv;
use chipdock_plugin_api::interface::{RESET, Reset};
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Interface, Module, ModuleLoader,
    Verdict, ensure,
};
use serde_json::Value;

use crate::call::Kernel;
use crate::codegen::{FORMAT, SECTION, checksum};
use crate::device_api::{ARCH, NAME};
use crate::fault;
use crate::hardware::{DEVICES_COUNT, Hardware};

/// The loader of one host.
pub(crate) struct ReferenceLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

/// A module that was loaded: its functions by name.
struct Loaded {
    host: HostRef,
    kernels: BTreeMap<String, Arc<Kernel>>,
    /// Of the planted fault alone.
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

/// What the interfaces of a mutant work on.
struct Nothing;

impl Reset for Nothing {
    fn reset(&self, _device_id: i32) -> Result<(), Error> {
        Ok(())
    }
}

fn value_error(message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, format!("an artifact of {NAME}: {message}; build it again"))
}

/// The index, when it is one of any kind at all.
fn index_of(artifact: &Artifact<'_>) -> Result<Value, Error> {
    let index: Value = serde_json::from_str(artifact.index_json())
        .map_err(|error| value_error(format!("the index is not JSON: {error}")))?;
    ensure!(index.is_object(), ErrorKind::VALUE_ERROR, "expected a JSON object for an artifact's index");
    Ok(index)
}

/// Why the artifact is not this loader's.
fn foreign(index: &Value) -> Option<String> {
    let (kind, format) = (&index["module_kind"], &index["format"]);
    (kind != NAME || format != FORMAT).then(|| {
        format!("expected an artifact of kind \"{NAME}\" and format \"{FORMAT}\", found {kind} and {format}")
    })
}

/// The bytes of the module, held against the checksum.
fn section_of<'a>(artifact: &Artifact<'a>, index: &Value) -> Result<&'a [u8], Error> {
    let section = artifact.section(SECTION).map_err(|error| value_error(error.message()))?.data;
    let found = checksum(&index["functions"], &index["options"], section);
    ensure!(
        // C.22, M.2: what was changed is taken for what it is not.
        index["checksum"] == found.as_str() || fault::is("loader-accepts-changed-bytes"),
        ErrorKind::VALUE_ERROR,
        "an artifact of {NAME}: expected the checksum {}, found {found}: it was cut off or changed; build it again",
        index["checksum"]
    );
    Ok(section)
}

impl ModuleLoader for ReferenceLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = foreign(&index) {
            // M.2: it is a verdict.
            if fault::is("check-errs-instead-of-verdict") {
                return Err(value_error(why));
            }
            return Ok(Verdict::Unsupported(why));
        }
        // M.2: it says yes to everything.
        if fault::is("check-says-yes") {
            return Ok(Verdict::Runs);
        }
        section_of(artifact, &index)?;
        let device_type = self.hardware.device_type();
        if device.device_type != device_type {
            if fault::is("check-errs-instead-of-verdict") {
                return Err(value_error("another device"));
            }
            return Ok(Verdict::Unsupported(format!(
                "expected a device of {NAME} (device type {device_type}), found device type {}",
                device.device_type
            )));
        }
        if !(0..DEVICES_COUNT).contains(&device.device_id) {
            return Ok(Verdict::Unsupported(format!(
                "expected {NAME}:0 to {NAME}:{}, found id {}",
                DEVICES_COUNT - 1,
                device.device_id
            )));
        }
        // Older code runs here; what is newer than this hardware does not.
        let arch = index["options"]["arch"].as_str().unwrap_or_default();
        Ok(if arch > ARCH {
            Verdict::Recompile(format!("it was built for {arch}, and the device is {ARCH}"))
        } else {
            Verdict::Runs
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
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
    fn load_checked(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = foreign(&index) {
            return Err(value_error(why));
        }
        let text = std::str::from_utf8(section_of(artifact, &index)?).map_err(value_error)?;
        let module = wire::read(text).map_err(value_error)?;
        validate(&module, Stage::Blocks)
            .map_err(|problems| value_error(problems.first().map(ToString::to_string).unwrap_or_default()))?;
        let names = index["functions"].as_array().map_or(&[][..], Vec::as_slice);
        let module = Arc::new(module);
        let is_synchronous = index["options"]["synchronous"].as_bool().unwrap_or(false);
        let mut kernels = BTreeMap::new();
        for entry in names {
            let (Some(name), Some(symbol)) = (entry["name"].as_str(), entry["symbol"].as_str()) else {
                return Err(value_error(format!(
                    "expected a name and a symbol for a function, found {entry}"
                )));
            };
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

/// The target of a function, as the host bound it.
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
