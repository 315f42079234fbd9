//! `FILE[:FUNC]` where FILE was built: chooses a function of it, and the device that it was built
//! for.

use std::sync::Arc;

use chipdock_host::artifact::{Artifact, FunctionInfo};
use chipdock_host::describe;
use chipdock_host::library::{BuiltFile, Contents, FileKind};
use chipdock_host::{Device, DeviceChoice, Host, TargetRequest};
use chipdock_ir::{AttrValue, PrimFunc, attr};
use serde_json::Value;

use crate::args::{KernelArgs, SchedulingArg};
use crate::command::failure;
use crate::kernel::split;
use crate::report::{Failure, Result, quoted};

/// Name of host memory's device.
const HOST_MEMORY: &str = "cpu";

/// A built file that was read, in place of a kernel file.
pub(crate) struct Built {
    pub(crate) file: BuiltFile,
    /// Name of the requested function, if one was given.
    function: Option<String>,
}

/// A function of a built file.
pub(crate) struct Chosen {
    /// The function as it was in the kernel file, without its body.
    pub(crate) function: PrimFunc,
    /// The target of its code.
    pub(crate) host: Value,
    /// The target of the kernels that it launches, or its own.
    pub(crate) target: Value,
}

impl Built {
    /// Reads `FILE[:FUNC]`; `None` where the file is no built one, which its first bytes say.
    ///
    /// # Errors
    ///
    /// Exit code 2: the file is damaged, or an option is for compiling.
    pub(crate) fn read(args: &KernelArgs) -> Result<Option<Self>> {
        let (path, function) = split(&args.kernel);
        if FileKind::of_file(&path).is_none() {
            return Ok(None);
        }
        let without = [
            ("--target", args.target.is_some()),
            ("--host", args.host.is_some()),
            ("--schedule none", args.schedule == SchedulingArg::None),
            ("--no-cache", args.no_cache),
        ];
        if let Some((option, _)) = without.iter().find(|(_, is_given)| *is_given) {
            let what = format!("{option} is for compiling, and {} is built already", path.display());
            return Err(Failure::input(what).help(format!("leave {option} out, or name a kernel file")));
        }
        let _span = tracing::info_span!("read", file = path.display().to_string()).entered();
        let file = BuiltFile::read(&path).map_err(|error| failure(&error))?;
        Ok(Some(Self { file, function }))
    }

    /// Returns the function to run: the requested one, the only one, the one marked as entry, or
    /// `main`.
    ///
    /// # Errors
    ///
    /// Exit code 2 with the names of the functions; also for a function whose parameters the file
    /// does not describe.
    pub(crate) fn chosen(&self) -> Result<Chosen> {
        let artifact = self.file.artifact();
        let own: Vec<(&Artifact, &FunctionInfo)> = functions(artifact).collect();
        let wrong = |what: String| Failure::input(what).in_file(self.file.path());
        let names = || quoted(own.iter().map(|(_, info)| info.name.clone()));
        let find = |name: &str| own.iter().find(|(_, info)| info.name == name);
        let main = || match self.file.contents() {
            Contents::Library(library) => library.document().and_then(|document| document.main.as_deref()),
            Contents::Artifact(_) | Contents::Archive(_) => None,
        };
        let found = match (&self.function, own.as_slice()) {
            (Some(name), _) => find(name)
                .or_else(|| main().filter(|_| name == "main").and_then(find))
                .ok_or_else(|| wrong(format!("no function \"{name}\"; the file has {}", names())))?,
            (None, []) => return Err(wrong("the file has no function".to_owned())),
            (None, [only]) => only,
            (None, [(_, first), ..]) => entry(&own).or_else(|| find("main")).ok_or_else(|| {
                wrong(format!("the file has several functions: {}", names())).help(format!(
                    "name one, as in {}:{}",
                    self.file.path().display(),
                    first.name
                ))
            })?,
        };
        let (owner, info) = found;
        let signature =
            owner.signature(&info.name).map_err(|error| failure(&error).in_file(self.file.path()))?;
        let function = signature.ok_or_else(|| {
            wrong(format!("the file does not say what function \"{}\" takes", info.name))
                .help("call it from a program; chipdock runs what chipdock build wrote")
        })?;
        let device = self.device_target(owner);
        let json = |artifact: &Artifact| serde_json::from_str(artifact.target_json()).unwrap_or_default();
        let host: Value = json(owner);
        let target = device.map_or_else(|| host.clone(), |import| json(&import));
        Ok(Chosen { function, host, target })
    }

    /// Returns the first artifact with kernels that functions of `owner` launch.
    fn device_target(&self, owner: &Artifact) -> Option<Arc<Artifact>> {
        let inside = owner.imports().first().cloned();
        // What is wrong with a file beside the library is said when it is opened.
        inside.or_else(|| self.file.aside().ok().flatten()?.imports().first().cloned())
    }

    /// Opens the device that the function was built for.
    ///
    /// # Errors
    ///
    /// Exit code 4 where there is none, 2 where the function does not run on the chosen one; the
    /// error of its plugin.
    pub(crate) fn device(&self, host: &Host, chosen: &Chosen, choice: DeviceChoice) -> Result<Device> {
        let is_linked = matches!(self.file.contents(), Contents::Library(_));
        if is_linked && chosen.target == chosen.host {
            // Linked code is the host's, and needs no plugin.
            return match choice {
                DeviceChoice::First => host.device(HOST_MEMORY, 0),
                DeviceChoice::Named { name, id } if name == HOST_MEMORY => host.device(&name, id),
                DeviceChoice::Named { name, .. } => {
                    let what = format!("the library runs on {HOST_MEMORY}, not on {name}");
                    return Err(Failure::input(what).help("leave --device out, or build it for that device"));
                }
            }
            .map_err(|error| failure(&error));
        }
        let mut target = chosen.target.clone();
        // Only the device is wanted: the plugin of the host's target need not be here.
        if let Value::Object(fields) = &mut target {
            fields.remove("host");
        }
        let request = TargetRequest::new(target).device(choice);
        let resolved = host.target(request).map_err(|error| failure(&error))?;
        resolved
            .device()
            .cloned()
            .ok_or_else(|| Failure::work("no device was chosen; please report this bug"))
    }
}

/// Returns the function that is marked as entry.
fn entry<'a, 'b>(
    functions: &'b [(&'a Artifact, &'a FunctionInfo)],
) -> Option<&'b (&'a Artifact, &'a FunctionInfo)> {
    let is_entry = |artifact: &Artifact, info: &FunctionInfo| {
        let signature = describe::signature(artifact, info);
        signature
            .is_some_and(|function| function.attrs.get(attr::IS_ENTRY_FUNC) == Some(&AttrValue::Bool(true)))
    };
    functions.iter().find(|(artifact, info)| is_entry(artifact, info))
}

/// Returns the functions that callers look up: of the artifact, and those of its imports that have
/// signatures.
fn functions(artifact: &Artifact) -> impl Iterator<Item = (&Artifact, &FunctionInfo)> {
    let own = artifact.index().functions.iter().map(move |info| (artifact, info));
    let imported = artifact.imports().iter().flat_map(|import| {
        let functions = import.index().functions.iter();
        functions.filter(|info| import.has_signature(&info.name)).map(move |info| (&**import, info))
    });
    own.chain(imported)
}
