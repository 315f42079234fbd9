//! Finds the backends present: the target kinds with a code generator, a loader and a device that
//! work here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::{Device, DeviceChoice, Host, HostOptions, ResolvedTarget, TargetRequest};
use chipdock_ir::{Target, TargetCapabilities};
use chipdock_test_support::sample::Drawn;
use serde_json::{Map, Value};

use super::Result;

/// A target for which code can be compiled and run here.
pub struct Backend {
    /// The target, as `chipdock run` makes it: with options filled in from the device.
    pub target: Arc<Target>,
    /// The device on which code of the target runs.
    pub device: Device,
    /// Name of the device, as its driver reports it.
    pub device_name: String,
    /// Capabilities of the target.
    pub capabilities: TargetCapabilities,
    /// The name of the configuration: empty for the device's own target, `defaults` for that of its
    /// kind, otherwise that of a `[[tests.target]]` in the plugin's `expectations.toml`.
    pub configuration: String,
    /// Words of the errors with which the target may refuse a kernel; see [`Self::may_refuse`].
    pub refuses: Vec<String>,
}

impl Backend {
    /// Returns true if the target compiles functions of the host itself; other targets need one
    /// that does.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.capabilities.is_host
    }

    /// Returns the same device with a target made from the defaults of its kind, not from the
    /// device; `None` if the targets are equal.
    ///
    /// # Errors
    ///
    /// The target cannot be made.
    pub fn with_defaults(&self, host: &Host) -> Result<Option<Self>> {
        let made = host.target(self.target.kind.as_str()).map(|target| self.with(&target, "defaults"));
        let made = made.map_err(|error| error.to_string())?;
        Ok((made.target != self.target).then_some(made))
    }

    /// Returns the same device with its target changed by some options.
    ///
    /// # Errors
    ///
    /// The target cannot be made.
    pub fn with_options(&self, host: &Host, name: &str, options: &Map<String, Value>) -> Result<Self> {
        let mut json = Value::Object(options.clone());
        json["kind"] = self.target.kind.as_str().into();
        let made = || {
            let request = TargetRequest::new(json).device(DeviceChoice::First);
            host.target(request).map(|target| self.with(&target, name))
        };
        made().map_err(|error| error.to_string())
    }

    fn with(&self, target: &ResolvedTarget, configuration: &str) -> Self {
        let (target, capabilities) = (Arc::clone(target.target()), (**target.capabilities()).clone());
        let (device, device_name) = (self.device.clone(), self.device_name.clone());
        let (configuration, refuses) = (configuration.to_owned(), Vec::new());
        Self { target, device, device_name, capabilities, configuration, refuses }
    }

    /// Returns true if the plugin's `expectations.toml` says that this target may refuse a kernel
    /// with such an error.
    #[must_use]
    pub fn may_refuse(&self, error: &str) -> bool {
        self.refusal(error).is_some()
    }

    /// Returns those words of `expectations.toml` that say that this target may refuse a kernel
    /// with such an error.
    #[must_use]
    pub fn refusal(&self, error: &str) -> Option<&str> {
        self.refuses.iter().map(String::as_str).find(|words| error.contains(words))
    }

    /// Compares what became of each kernel, a line each, with the list `what` that is kept for this
    /// target in `tests/differential/lists`; `BLESS=1` writes it. Targets that may refuse nothing
    /// have none.
    ///
    /// # Errors
    ///
    /// As for [`device_code::list`](crate::device_code::list).
    pub fn check_list(&self, what: &str, lines: Vec<String>) -> Result<()> {
        self.list(what).map_or(Ok(()), |path| crate::device_code::list(&path, lines))
    }

    /// Does the same as [`Self::check_list`] for the kernels that a run has drawn: only their lines
    /// are compared.
    ///
    /// # Errors
    ///
    /// As for [`device_code::list_drawn`](crate::device_code::list_drawn).
    pub fn check_drawn(&self, what: &str, lines: Vec<String>, drawn: &Drawn) -> Result<()> {
        self.list(what).map_or(Ok(()), |path| crate::device_code::list_drawn(&path, lines, drawn))
    }

    /// The file of a list, if there is one.
    fn list(&self, what: &str) -> Option<PathBuf> {
        if self.refuses.is_empty() {
            return None;
        }
        let configuration = if self.configuration.is_empty() { "device" } else { &self.configuration };
        let folder = chipdock_test_support::workspace().join("tests/differential/lists");
        Some(folder.join(&self.target.kind).join(configuration).join(format!("{what}.txt")))
    }

    /// Returns the kind, and the configuration if it is not the device's own: `opencl`,
    /// `opencl with defaults`.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = &self.target.kind;
        if self.configuration.is_empty() {
            kind.clone()
        } else {
            format!("{kind} with {}", self.configuration)
        }
    }
}

/// A target kind that cannot be used here, and why.
#[derive(Clone, Debug)]
pub struct Absent {
    /// The kind's name.
    pub kind: String,
    /// Reason why it cannot be used.
    pub reason: String,
}

/// Opens a host with only the plugins of one folder, so that nothing installed on this machine
/// takes part.
///
/// # Errors
///
/// No plugin was found there: a run that loads no plugin proves nothing.
pub fn open_host(plugins: &Path) -> Result<Host> {
    let host_options = HostOptions { plugin_paths: vec![plugins.to_owned()], ..HostOptions::isolated() };
    let host = Host::new(host_options).map_err(|error| error.to_string())?;
    if host.plugins().is_empty() {
        return Err(format!("no plugin was found in {}", plugins.display()));
    }
    Ok(host)
}

/// Returns the backends that can be used, and each other target kind with the reason.
///
/// # Errors
///
/// The target kinds could not be listed.
pub fn present(host: &Host) -> Result<(Vec<Backend>, Vec<Absent>)> {
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    let plugins = host.plugins();
    let is_provided = |key: &String| plugins.iter().any(|plugin| plugin.provides.contains(key));
    for (kind, _) in host.target_kinds() {
        let opened = || -> std::result::Result<Backend, chipdock_host::Error> {
            // A device without a code generator runs nothing, and code without a device runs
            // nowhere.
            host.usable_target(kind.name.as_str())?;
            let request = TargetRequest::new(kind.name.as_str()).device(DeviceChoice::First);
            let resolved = host.target(request)?;
            let device = resolved.device().cloned().expect("the device that was chosen");
            let device_name = device
                .attribute("device_name")?
                .and_then(|name| name.as_str().map(str::to_owned))
                .unwrap_or_default();
            let (target, capabilities) = (Arc::clone(resolved.target()), (**resolved.capabilities()).clone());
            let (configuration, refuses) = (String::new(), Vec::new());
            Ok(Backend { target, device, device_name, capabilities, configuration, refuses })
        };
        let devices = format!("device_api.{}", kind.device);
        match opened() {
            Ok(backend) => usable.push(backend),
            Err(_) if !is_provided(&devices) => {
                let reason = format!("compiled for, but no plugin here brings its devices ({devices})");
                unusable.push(Absent { kind: kind.name.clone(), reason });
            }
            Err(error) => unusable.push(Absent { kind: kind.name.clone(), reason: error.to_string() }),
        }
    }
    Ok((usable, unusable))
}
