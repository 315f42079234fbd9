//! Modules: what was compiled or loaded, its functions, and its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::artifact::{Artifact, write_whole};
use chipdock_host::{DeviceCode, ExportOptions, Host, Module, describe};
use chipdock_ir::print;
use chipdock_plugin_api::{Any, AnyView, Array, Bytes, Error, ErrorKind};
use serde::Deserialize;
use serde_json::json;

use crate::objects::{ModuleObject, arg, object, of, raised};
use crate::{functions, outputs, signals};

pub(crate) fn load(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let path: String = arg(args[1], "path")?;
    let module = host.open(Path::new(&path)).map_err(raised)?;
    Ok(object(ModuleObject { host: host.clone(), module, compiled: None }))
}

pub(crate) fn load_bytes(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let bytes: Bytes = arg(args[1], "data")?;
    let artifact = Artifact::from_bytes(&bytes).map_err(raised)?;
    let module = host.load(&Arc::new(artifact)).map_err(raised)?;
    Ok(object(ModuleObject { host: host.clone(), module, compiled: None }))
}

pub(crate) fn module_function(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let name: String = arg(args[1], "name")?;
    let function = module.module.function(&name).map_err(raised)?;
    Ok(functions::for_callers(function, outputs::signature(&module.module, &name)).into())
}

pub(crate) fn import_module(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let import: &ModuleObject = of(args[1], "import")?;
    module.module.import_module(&import.module).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn module_functions(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    Ok(Array::new(module.module.function_names().map(Any::from)).into())
}

/// Returns what describes a module: its artifact with the modules that were added, but for those
/// that no artifact can contain.
fn described(module: &Module) -> Arc<Artifact> {
    module.composed().unwrap_or_else(|_| Arc::clone(module.artifact()))
}

pub(crate) fn module_describe(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let mut document = describe::artifact(&described(&module.module));
    document["missing"] = json!(module.module.missing_loader().map(ToString::to_string));
    Ok(document.to_string().as_str().into())
}

pub(crate) fn module_source(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let form: Option<String> = arg(args[1], "form")?;
    let form = form.as_deref().unwrap_or("source");
    // The kernels are what a reader wants to see, where the module only launches them.
    let own = module.module.artifact();
    let all = own.imports().iter().map(AsRef::as_ref).chain([&**own]);
    let text = all.into_iter().find_map(|artifact| {
        if form == "source" {
            return artifact.source().map(str::to_owned);
        }
        artifact.section(form).map(|section| String::from_utf8_lossy(section.data()).into_owned())
    });
    Ok(text.map_or(Any::NONE, |text| text.as_str().into()))
}

pub(crate) fn module_lowered(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let Some(compiled) = &module.compiled else { return Ok(Any::NONE) };
    let device = compiled.lowered_devices.iter().map(|(_, module)| module);
    let texts: Vec<String> = device.chain([&compiled.lowered]).map(print::module).collect();
    Ok(texts.join("\n").as_str().into())
}

pub(crate) fn module_target(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let json = match &module.compiled {
        Some(compiled) => compiled.target.json().to_owned(),
        None => module.module.artifact().target_json().to_owned(),
    };
    Ok(json.as_str().into())
}

pub(crate) fn module_bytes(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let bytes = module.module.composed().and_then(|artifact| artifact.to_bytes());
    Ok(Bytes::new(&bytes.map_err(raised)?).into())
}

/// Options of an export, as a JSON object.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// True: device code goes to a file beside the library.
    device_code_aside: bool,
    linker: Option<String>,
}

impl Options {
    fn read(text: Option<&str>) -> Result<ExportOptions, Error> {
        let read: Self = match text {
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let message =
                    format!("options: {error}; expected a JSON object with any of device_code_aside, linker");
                Error::new(ErrorKind::VALUE_ERROR, message)
            })?,
            None => Self::default(),
        };
        let device_code = if read.device_code_aside { DeviceCode::Aside } else { DeviceCode::Embedded };
        Ok(ExportOptions { device_code, linker: read.linker, aside: None })
    }
}

pub(crate) fn module_export(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let module: &ModuleObject = of(args[0], "module")?;
    let path = PathBuf::from(arg::<String>(args[1], "path")?);
    let options = Options::read(arg::<Option<String>>(args[2], "options")?.as_deref())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let artifact = &module.module.composed().map_err(raised)?;
    let saved = match path.extension().and_then(|suffix| suffix.to_str()) {
        Some("so") => module.host.export_library(artifact, &name, &options).and_then(|made| made.save(&path)),
        Some("tar") => {
            module.host.export_archive(artifact, &name, &options).and_then(|made| made.save(&path))
        }
        Some("chipdock") => artifact.to_bytes().and_then(|bytes| write_whole(&path, &bytes)),
        _ => {
            let message =
                format!("path: expected a file name that ends in .so, .tar or .chipdock, found {name:?}");
            return Err(Error::new(ErrorKind::VALUE_ERROR, message));
        }
    };
    // Ctrl-C of a terminal ends the linker, too.
    saved.map_err(|error| signals::or_raised(raised(error)))?;
    Ok(Any::NONE)
}
