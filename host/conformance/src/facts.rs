//! Facts that an opened plugin reports, gathered once by the probe in a worker of its own.

use chipdock_plugin_api::attribute;
use chipdock_raw_host::{OpenError, Plugin, Role};
use serde::{Deserialize, Serialize};

use crate::Subject;

/// One registration of the plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Kind of the registration.
    pub subject: Subject,
    /// Name, without the prefix of its key.
    pub name: String,
}

impl Registration {
    /// Returns the key under which a host knows it, such as `device_api.x`; a function's key is its
    /// name prefixed with `function.`.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        let prefix = match self.subject {
            Subject::Plugin | Subject::Manifest => return None,
            Subject::DeviceApi => "device_api",
            Subject::TargetKind => "target.kind",
            Subject::Codegen => "target.build",
            Subject::Loader => "module.load",
            Subject::Function => "function",
        };
        Some(format!("{prefix}.{}", self.name))
    }
}

/// Devices of one device API, or the reason why there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Name of the device API.
    pub api: String,
    /// Number of devices.
    pub count: i32,
    /// Reason why there is no device; empty if there is one.
    #[serde(default)]
    pub absent: String,
    /// Name that the first device reports.
    #[serde(default)]
    pub device_name: String,
    /// Driver version that the first device reports.
    #[serde(default)]
    pub driver_version: String,
}

impl DeviceFacts {
    /// Returns the texts that come from the plugin.
    pub(crate) fn texts(&mut self) -> [&mut String; 3] {
        [&mut self.absent, &mut self.device_name, &mut self.driver_version]
    }
}

/// Facts about a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Identifier that distinguishes two builds of the plugin.
    pub build_id: String,
    /// ABI version that the plugin was built for.
    pub abi: String,
    /// Registrations, in the plugin's order.
    pub registered: Vec<Registration>,
    /// Devices, one entry for each device API.
    pub devices: Vec<DeviceFacts>,
    /// Whether a manifest lies beside the library.
    #[serde(default)]
    pub has_manifest: bool,
    /// Target kinds that cannot be compiled for here, with the reasons.
    #[serde(default)]
    pub unusable_kinds: Vec<(String, String)>,
}

impl Facts {
    /// Returns the names of the registrations of one kind.
    pub fn registrations(&self, subject: Subject) -> impl Iterator<Item = &str> {
        self.registered.iter().filter(move |one| one.subject == subject).map(|one| one.name.as_str())
    }

    /// Returns the reason why a device API has no usable device, if it has none.
    #[must_use]
    pub fn absent_device(&self, api: &str) -> Option<&str> {
        let device = self.devices.iter().find(|device| device.api == api)?;
        (!device.absent.is_empty()).then_some(device.absent.as_str())
    }

    /// Returns the number of devices of a device API.
    #[must_use]
    pub fn device_count(&self, api: &str) -> i32 {
        self.devices.iter().find(|device| device.api == api).map_or(0, |device| device.count)
    }

    /// Returns the reason why a target kind cannot be compiled for, if it cannot.
    #[must_use]
    pub fn unusable_kind(&self, kind: &str) -> Option<&str> {
        self.unusable_kinds.iter().find(|(name, _)| name == kind).map(|(_, why)| why.as_str())
    }

    /// Gathers the facts of an opened plugin, its devices included.
    ///
    /// # Errors
    ///
    /// The plugin is refused, with the reason.
    pub fn gather(plugin: &Plugin) -> Result<Self, OpenError> {
        let devices = plugin.devices().into_iter().map(|device| {
            let mut facts = DeviceFacts { api: device.name.clone(), ..DeviceFacts::default() };
            match device.count() {
                Ok(0) => facts.absent = format!("{} has no device here", device.name),
                Ok(count) => {
                    facts.count = count;
                    let text =
                        |key| device.attribute(0, key).ok().and_then(|value| value.to::<String>().ok());
                    facts.device_name = text(attribute::DEVICE_NAME).unwrap_or_default();
                    facts.driver_version = text(attribute::DRIVER_VERSION).unwrap_or_default();
                }
                Err(error) => facts.absent = error.message().into_owned(),
            }
            facts
        });
        Ok(Self { devices: devices.collect(), ..Self::without_devices(plugin) })
    }

    /// Gathers the facts of an opened plugin without querying its devices.
    #[must_use]
    pub fn without_devices(plugin: &Plugin) -> Self {
        let descriptor = plugin.descriptor();
        Self {
            name: descriptor.name.clone(),
            version: descriptor.version.clone(),
            build_id: descriptor.build_id.clone(),
            abi: descriptor.abi.clone(),
            registered: registrations(plugin),
            devices: Vec::new(),
            has_manifest: false,
            unusable_kinds: Vec::new(),
        }
    }
}

/// Returns a plugin's registrations in order, without interfaces.
#[must_use]
pub fn registrations(plugin: &Plugin) -> Vec<Registration> {
    let subject = |role| match role {
        Role::DeviceApi => Subject::DeviceApi,
        Role::TargetKind => Subject::TargetKind,
        Role::Codegen => Subject::Codegen,
        Role::Loader => Subject::Loader,
        Role::Function => Subject::Function,
    };
    let registered = plugin.registered().into_iter();
    registered.map(|(role, name)| Registration { subject: subject(role), name }).collect()
}
