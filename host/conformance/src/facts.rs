//! What a plugin says of itself when it is opened: found out once, by the probe, in a worker of its own.

use chipdock_plugin_api::attribute;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::raw::{OpenError, Plugin};

/// Something that the plugin registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// What it is.
    pub subject: Subject,
    /// Its name, without the prefix of its key.
    pub name: String,
}

impl Registration {
    /// Its key with a host, as `device_api.x`; a function's is its name with `function.` before it.
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

/// A device that is there, or why there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// The device API's name.
    pub api: String,
    /// How many devices there are.
    pub count: i32,
    /// Why there is none; empty when there is one.
    #[serde(default)]
    pub absent: String,
    /// What the first one calls itself.
    #[serde(default)]
    pub device_name: String,
    /// The version of its driver, as it says.
    #[serde(default)]
    pub driver_version: String,
}

/// What a plugin is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What tells two builds apart.
    pub build_id: String,
    /// The ABI that it was built for.
    pub abi: String,
    /// What it registered, in that order.
    pub registered: Vec<Registration>,
    /// Its devices, by device API.
    pub devices: Vec<DeviceFacts>,
    /// Whether a manifest lies beside the library.
    #[serde(default)]
    pub has_manifest: bool,
    /// Target kinds that cannot be compiled for here, with the reason.
    #[serde(default)]
    pub unusable_kinds: Vec<(String, String)>,
}

impl Facts {
    /// Names of what it registered of that sort.
    pub fn registrations(&self, subject: Subject) -> impl Iterator<Item = &str> {
        self.registered.iter().filter(move |one| one.subject == subject).map(|one| one.name.as_str())
    }

    /// Why the device of that name cannot be used, if it cannot.
    #[must_use]
    pub fn absent_device(&self, api: &str) -> Option<&str> {
        let device = self.devices.iter().find(|device| device.api == api)?;
        (!device.absent.is_empty()).then_some(device.absent.as_str())
    }

    /// How many devices of that name there are.
    #[must_use]
    pub fn device_count(&self, api: &str) -> i32 {
        self.devices.iter().find(|device| device.api == api).map_or(0, |device| device.count)
    }

    /// Why the target kind of that name cannot be compiled for, if it cannot.
    #[must_use]
    pub fn unusable_kind(&self, kind: &str) -> Option<&str> {
        self.unusable_kinds.iter().find(|(name, _)| name == kind).map(|(_, why)| why.as_str())
    }

    /// Asks an opened plugin.
    ///
    /// # Errors
    ///
    /// Why it is refused.
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

    /// What an opened plugin registered; its devices are not asked.
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
