//! Facts about a plugin, which the probe collects once, in a worker of its own, when it opens the plugin.

use chipdock_plugin_api::attribute;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::raw::{OpenError, Plugin};

/// A registration of the plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// Sort of the registration.
    pub subject: Subject,
    /// Name without the prefix of its key.
    pub name: String,
}

impl Registration {
    /// Returns its key in a host, as `device_api.x`; a function's is its name with `function.` before it.
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

/// The devices of a device API, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The device API's name.
    pub api: String,
    /// Number of devices.
    pub count: i32,
    /// Reason why there is none; empty when there is one.
    #[serde(default)]
    pub absent: String,
    /// Name of the first device, as it reports it.
    #[serde(default)]
    pub device_name: String,
    /// Version of its driver, as it reports it.
    #[serde(default)]
    pub driver_version: String,
}

/// Facts about a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// Id of the build.
    pub build_id: String,
    /// The ABI that it was built for.
    pub abi: String,
    /// Its registrations, in their order.
    pub registered: Vec<Registration>,
    /// Its devices, by device API.
    pub devices: Vec<DeviceFacts>,
    /// Whether a manifest is beside the library.
    #[serde(default)]
    pub has_manifest: bool,
    /// Target kinds that cannot be compiled for here, with the reason.
    #[serde(default)]
    pub unusable_kinds: Vec<(String, String)>,
}

impl Facts {
    /// Returns the names of its registrations of that sort.
    pub fn registrations(&self, subject: Subject) -> impl Iterator<Item = &str> {
        self.registered.iter().filter(move |one| one.subject == subject).map(|one| one.name.as_str())
    }

    /// Returns the reason why the device of that name cannot be used, if there is one.
    #[must_use]
    pub fn absent_device(&self, api: &str) -> Option<&str> {
        let device = self.devices.iter().find(|device| device.api == api)?;
        (!device.absent.is_empty()).then_some(device.absent.as_str())
    }

    /// Returns the number of devices of that name.
    #[must_use]
    pub fn device_count(&self, api: &str) -> i32 {
        self.devices.iter().find(|device| device.api == api).map_or(0, |device| device.count)
    }

    /// Returns the reason why the target kind of that name cannot be compiled for, if there is one.
    #[must_use]
    pub fn unusable_kind(&self, kind: &str) -> Option<&str> {
        self.unusable_kinds.iter().find(|(name, _)| name == kind).map(|(_, why)| why.as_str())
    }

    /// Collects the facts of an opened plugin.
    ///
    /// # Errors
    ///
    /// The reason why the plugin is refused.
    pub fn of(plugin: &Plugin) -> Result<Self, OpenError> {
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

    /// Collects the facts of an opened plugin without querying its devices.
    #[must_use]
    pub fn without_devices(plugin: &Plugin) -> Self {
        let descriptor = plugin.descriptor();
        Self {
            name: descriptor.name.clone(),
            version: descriptor.version.clone(),
            build_id: descriptor.build_id.clone(),
            abi: descriptor.abi.clone(),
            registered: plugin.registered(),
            devices: Vec::new(),
            has_manifest: false,
            unusable_kinds: Vec::new(),
        }
    }
}
