//! The backends present: every target kind whose code generator, loader and device answer.

use std::path::Path;
use std::sync::Arc;

use chipdock_host::{Device, DeviceChoice, Host, HostOptions, TargetRequest};
use chipdock_ir::{Target, TargetCapabilities};

use super::Result;

/// A target that can be compiled for and run here.
pub struct Backend {
    /// The target, as `chipdock run` makes it: with what the device tells of itself.
    pub target: Arc<Target>,
    /// The device that it runs on.
    pub device: Device,
    /// The device's name, as its driver says it.
    pub device_name: String,
    /// What passes may know of the target.
    pub capabilities: TargetCapabilities,
}

impl Backend {
    /// Whether it compiles functions of the host itself; the others need one that does.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.capabilities.is_host
    }

    /// The same device, compiled for without a look at it: with the defaults of the kind, if they are others.
    ///
    /// # Errors
    ///
    /// The target cannot be made.
    pub fn with_defaults(&self, host: &Host) -> Result<Option<Self>> {
        let made = || {
            let target = host.target(self.target.kind.as_str())?;
            let capabilities = host.capabilities(&target)?;
            let (device, device_name) = (self.device.clone(), self.device_name.clone());
            Ok(Self { target, device, device_name, capabilities })
        };
        let made = made().map_err(|error: chipdock_host::Error| error.to_string())?;
        Ok((made.target != self.target).then_some(made))
    }
}

/// A target kind that cannot be used here, and why.
#[derive(Clone, Debug)]
pub struct Absent {
    /// The kind's name.
    pub kind: String,
    /// Why not.
    pub reason: String,
}

/// A host over the plugins of one folder alone, so that nothing installed on this machine takes part.
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

/// The backends that can be used, and for each of the others the reason.
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
            // A device without a code generator runs nothing, and code without a device runs nowhere.
            host.usable_target(kind.name.as_str())?;
            let request = TargetRequest::new(kind.name.as_str()).device(DeviceChoice::First);
            let resolved = host.resolve(request)?;
            let device = resolved.device().cloned().expect("the device that was chosen");
            let device_name = device
                .attribute("device_name")?
                .and_then(|name| name.as_str().map(str::to_owned))
                .unwrap_or_default();
            let (target, capabilities) = (Arc::clone(resolved.target()), (**resolved.capabilities()).clone());
            Ok(Backend { target, device, device_name, capabilities })
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
