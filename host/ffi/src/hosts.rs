//! Functions of hosts: options, plugins, devices, targets.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use chipdock_abi::ChipdockDevice;
use chipdock_host::{
    Device, DeviceChoice, Host, HostOptions, LogLevel, LogSink, OnAsk, PluginLock, ProgramFunction,
    TargetRequest, name_in_key,
};
use chipdock_ir::TargetKind;
use chipdock_plugin_api::kit::{PerProcess, lock};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, attribute};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::objects::{TargetObject, arg, object, of, raised};
use crate::{functions, side, signals};

/// Options of a host, as a JSON object.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// Libraries of plugins, or folders of them, searched before all others.
    plugin_paths: Vec<PathBuf>,
    /// True: no other plugins than those are seen.
    isolated: bool,
    /// Globs of plugins' names.
    select: Vec<String>,
    disable: Vec<String>,
    /// Plugins by key.
    prefer: std::collections::BTreeMap<String, String>,
    /// Files and folders that are used whatever their owner.
    trust: Vec<PathBuf>,
    /// Settings: `{"plugin": {"name": "value"}}`.
    settings: std::collections::BTreeMap<String, Map<String, Value>>,
    /// A lock file.
    locked: Option<PathBuf>,
    /// Threads of parallel loops.
    threads: Option<u32>,
    /// What is written to stderr.
    log: Log,
}

/// The least grave lines of the log that are written to stderr.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Log {
    Off,
    Error,
    #[default]
    Warning,
    Info,
    Debug,
}

impl Log {
    fn sink(self) -> LogSink {
        match self {
            Self::Off => Arc::new(|_, _| {}),
            Self::Error => LogLevel::Error.to_stderr(),
            Self::Warning => LogLevel::Warning.to_stderr(),
            Self::Info => LogLevel::Info.to_stderr(),
            Self::Debug => LogLevel::Debug.to_stderr(),
        }
    }
}

impl Options {
    fn read(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text).map_err(|error| {
            let message = format!(
                "options: {error}; expected a JSON object with any of plugin_paths, isolated, select, disable, prefer, trust, \
                 settings, locked, threads, log"
            );
            Error::new(ErrorKind::VALUE_ERROR, message)
        })
    }

    fn into_host(self) -> Result<Host, Error> {
        let mut options = if self.isolated { HostOptions::isolated() } else { HostOptions::default() };
        // The program is another's, Python for instance: plugins lie beside this library.
        if !self.isolated
            && let Some(folder) = own_folder()
        {
            options.environment.executable_folder = Some(folder);
        }
        options.plugin_paths = self.plugin_paths;
        options.select = self.select;
        options.disable = self.disable;
        options.prefer = self.prefer.into_iter().collect();
        options.trust = self.trust;
        options.threads = self.threads;
        options.remember = !self.isolated;
        options.log = self.log.sink();
        options.on_ask = Some(OnAsk::new(signals::none_raised_on_main_thread));
        for (plugin, settings) in self.settings {
            for (name, value) in settings {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                options.settings.push((plugin.clone(), name, value));
            }
        }
        if let Some(path) = &self.locked {
            options.locked = Some(Arc::new(PluginLock::read(path, &options).map_err(raised)?));
        }
        Host::new(options).map_err(raised)
    }
}

/// Returns the folder in which this library lies.
fn own_folder() -> Option<PathBuf> {
    let path = crate::process::own_path()?;
    Path::new(&path).parent().map(Path::to_owned)
}

/// The host of the process, which functions take that are given none. A forked child has none of
/// the parent's threads and drivers, and makes its own.
static DEFAULT: PerProcess<Mutex<Option<Host>>> = PerProcess::new(|_| Mutex::default());

/// Returns the host of the process (FFI-7).
pub(crate) fn default_host() -> Result<Host, Error> {
    let mut found = lock(DEFAULT.of_this());
    if let Some(host) = &*found {
        return Ok(host.clone());
    }
    let host = Options::default().into_host()?;
    *found = Some(host.clone());
    Ok(host)
}

pub(crate) fn version(_: &[AnyView<'_>]) -> Result<Any, Error> {
    Ok(env!("CARGO_PKG_VERSION").into())
}

pub(crate) fn host(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let options: Option<String> = arg(args[0], "options")?;
    let made = match options {
        None => default_host()?,
        Some(text) => Options::read(&text)?.into_host()?,
    };
    Ok(object(made))
}

pub(crate) fn plugins(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let document = json!({"plugins": host.plugins(), "places": host.places(), "keys": host.keys()});
    Ok(document.to_string().as_str().into())
}

pub(crate) fn open_plugin(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let name: String = arg(args[1], "name")?;
    let report = host.open_plugin(&name).map_err(raised)?;
    Ok(json!(report).to_string().as_str().into())
}

pub(crate) fn function(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let name: String = arg(args[1], "name")?;
    let found = host.function(&name).map_err(raised)?;
    Ok(found.map_or(Any::NONE, |function| functions::for_callers(function, None).into()))
}

pub(crate) fn devices(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let apis: Vec<Value> = host.device_names().iter().map(|name| devices_of(host, name)).collect();
    Ok(json!({ "device_apis": apis }).to_string().as_str().into())
}

fn devices_of(host: &Host, name: &str) -> Value {
    let found = || -> Result<Vec<Value>, chipdock_host::Error> {
        let described = |id| {
            let device = host.device(name, id)?;
            let mut attributes = Map::new();
            for key in attribute::ALL {
                if let Some(value) = device.attribute(key)? {
                    attributes.insert((*key).to_owned(), value);
                }
            }
            let device_type = device.number().device_type;
            Ok(
                json!({"device": format!("{name}:{id}"), "id": id, "device_type": device_type, "attributes": attributes}),
            )
        };
        (0..host.device_count(name)?).map(described).collect()
    };
    match found() {
        Ok(devices) => json!({"name": name, "available": true, "devices": devices}),
        Err(error) => json!({"name": name, "available": false, "devices": [], "problem": problem(&error)}),
    }
}

fn problem(error: &chipdock_host::Error) -> Value {
    json!({"kind": error.kind().as_str(), "message": error.message(), "hint": error.advice()})
}

pub(crate) fn targets(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let described = |name: &str| match host.usable_target(name) {
        Ok(target) => json!({"kind": name, "usable": true, "target": target.target().to_json()}),
        Err(error) => json!({"kind": name, "usable": false, "problem": problem(&error)}),
    };
    let keys = host.keys();
    let kinds: Vec<Value> =
        keys.iter().filter_map(|report| name_in_key(&report.key, "target.kind.")).map(described).collect();
    let default = host.default_host().ok().map(|target| target.kind().name.clone());
    Ok(json!({"targets": kinds, "default_host": default}).to_string().as_str().into())
}

pub(crate) fn register_function(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let name: String = arg(args[1], "name")?;
    let mut function = ProgramFunction::of_side(side::callers(), arg(args[2], "function")?);
    if let Some(text) = arg::<Option<String>>(args[3], "fingerprint")? {
        function = function.fingerprint(text);
    }
    if arg::<Option<bool>>(args[4], "replace")? == Some(true) {
        function = function.replacing();
    }
    host.register_function(&name, function).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn unregister_function(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    Ok(host.unregister_function(&arg::<String>(args[1], "name")?).into())
}

pub(crate) fn target_tags(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let described = |(tag, kind): (String, Arc<TargetKind>)| {
        let mut options = kind.tags.get(&tag).cloned().unwrap_or_default();
        options.insert("kind".to_owned(), kind.name.clone().into());
        (tag, Value::Object(options))
    };
    let tags: Map<String, Value> = host.target_tags().into_iter().map(described).collect();
    Ok(Value::Object(tags).to_string().as_str().into())
}

/// Splits a device's name: `NAME:ID`, or the name alone for the first of them.
fn named(text: &str) -> Result<(&str, i32), Error> {
    let Some((name, id)) = text.split_once(':') else { return Ok((text, 0)) };
    let id = id.parse().map_err(|_| {
        let message = format!("device: expected NAME or NAME:ID, as in cpu:0, found {text:?}");
        Error::new(ErrorKind::VALUE_ERROR, message)
    })?;
    Ok((name, id))
}

/// Returns the device of an argument: its name, or its DLPack device.
pub(crate) fn device_of(host: &Host, view: AnyView<'_>, at: &str) -> Result<Device, Error> {
    if let Ok(text) = view.to::<String>() {
        let (name, id) = named(&text)?;
        return host.device(name, id).map_err(raised);
    }
    let number: ChipdockDevice = view.to().map_err(|_| {
        let message = format!("{at}: expected a Device, or the name of one, found {}", view.type_name());
        Error::new(ErrorKind::TYPE_ERROR, message)
    })?;
    host.device_by_number(number).map_err(raised)
}

pub(crate) fn device(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "name")?;
    Ok(device.number().into())
}

pub(crate) fn device_name(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    Ok(format!("{}:{}", device.name(), device.id()).as_str().into())
}

pub(crate) fn device_attribute(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    let key: String = arg(args[2], "key")?;
    let value = device.attribute(&key).map_err(raised)?;
    Ok(value.map_or(Any::NONE, |value| any_of(&value)))
}

pub(crate) fn device_capabilities(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    Ok(device.capabilities().map_err(raised)?.to_json().to_string().as_str().into())
}

/// Makes a value of an attribute; one that is neither a number, a truth value nor a text is its
/// JSON text.
fn any_of(value: &Value) -> Any {
    match value {
        Value::Bool(value) => (*value).into(),
        Value::String(text) => text.as_str().into(),
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().into(),
        Value::Number(number) => {
            number.as_i64().map_or_else(|| number.to_string().as_str().into(), Any::from)
        }
        other => other.to_string().as_str().into(),
    }
}

pub(crate) fn device_sync(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    device_of(host, args[1], "device")?.sync().map_err(raised)?;
    Ok(Any::NONE)
}

/// Returns the target of an argument: an object, the name of a kind or a tag, or JSON; that of the
/// host by default. Of a device what the source does not set.
pub(crate) fn target_of(
    host: &Host,
    view: AnyView<'_>,
    of_host: Option<&str>,
    device: Option<&str>,
) -> Result<TargetObject, Error> {
    if !view.is_none() && view.to::<String>().is_err() {
        let target = of::<TargetObject>(view, "target")?;
        if let Some(device) = device {
            let message = format!(
                "device: expected none beside a target that is made already, which sets every option, found {device:?}; \
                 name the device when the target is made"
            );
            return Err(Error::new(ErrorKind::VALUE_ERROR, message));
        }
        return Ok(target.clone());
    }
    let source: Option<String> = arg(view, "target")?;
    resolved(host, source, of_host, device)
}

fn resolved(
    host: &Host,
    source: Option<String>,
    of_host: Option<&str>,
    device: Option<&str>,
) -> Result<TargetObject, Error> {
    let mut request = source.map_or_else(TargetRequest::default, TargetRequest::new);
    if let Some(of_host) = of_host {
        request = request.host(of_host);
    }
    if let Some((name, id)) = device.map(named).transpose()? {
        request = request.device(DeviceChoice::Named { name: name.to_owned(), id });
    }
    host.target(request).map(TargetObject).map_err(raised)
}

pub(crate) fn target(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let [source, of_host, device]: [Option<String>; 3] =
        [arg(args[1], "source")?, arg(args[2], "host_target")?, arg(args[3], "from_device")?];
    resolved(host, source, of_host.as_deref(), device.as_deref()).map(object)
}

pub(crate) fn target_json(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let target: &TargetObject = of(args[0], "target")?;
    Ok(target.0.json().into())
}
