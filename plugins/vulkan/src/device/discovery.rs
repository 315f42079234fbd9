//! Discovery of all physical devices, in a stable order (VK-D1, VK-D2).

use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::Error;

use crate::driver::{DRIVER_PACKAGE, Found, Instance, Known, Limits, name_of, no_devices, unavailable};

/// Finds all devices: discrete GPUs, integrated ones, virtual ones, others, and processors; within
/// each group in the order of the drivers.
///
/// # Errors
///
/// `Unavailable`: no library, no driver, no device of Vulkan 1.1 that computes.
pub(crate) fn discover(has_validation: bool) -> Result<Vec<Found>, Error> {
    devices_of(&Arc::new(Instance::new(has_validation)?))
}

/// The devices of an instance, as [`discover`] orders them.
pub(crate) fn devices_of(instance: &Arc<Instance>) -> Result<Vec<Found>, Error> {
    let devices = instance.devices().map_err(no_devices)?;
    let (mut all, mut why_not) = (Vec::new(), Vec::new());
    for raw in devices {
        match look(instance, raw) {
            Ok(limits) => all.push(Found { instance: Arc::clone(instance), raw, limits }),
            Err(why) => why_not.push(why),
        }
    }
    if all.is_empty() {
        let why_not = if why_not.is_empty() { "none listed".to_owned() } else { why_not.join("; ") };
        return Err(unavailable(format!(
            "no Vulkan driver has a device of Vulkan 1.1 or later that computes ({why_not}); on Debian and Ubuntu \
             `{DRIVER_PACKAGE}` brings one for the processor"
        )));
    }
    // The sort is stable: devices of one sort stay in the order of the drivers.
    all.sort_by_key(|found: &Found| rank(found.limits.properties.device_type));
    Ok(all)
}

/// Reads a device, or returns why it is left out.
fn look(instance: &Instance, raw: vk::PhysicalDevice) -> Result<Limits, String> {
    let properties = instance.properties(raw);
    let name = properties.device_name_as_c_str().unwrap_or_default().to_string_lossy().into_owned();
    let (major, minor) =
        (vk::api_version_major(properties.api_version), vk::api_version_minor(properties.api_version));
    if properties.api_version < vk::API_VERSION_1_1 {
        return Err(format!("{name} is of Vulkan {major}.{minor}"));
    }
    let extensions = instance.extensions(raw).map_err(|why| format!("{name} answered {}", name_of(why)))?;
    let names =
        extensions.iter().filter_map(|found| found.extension_name_as_c_str().ok().map(Into::into)).collect();
    let version = vk::make_api_version(0, major, minor, 0).min(instance.version());
    let limits = Limits::of(instance.raw(), raw, Known::new(version, names));
    limits.ok_or_else(|| format!("{name} has no queue for compute"))
}

fn rank(sort: vk::PhysicalDeviceType) -> usize {
    use vk::PhysicalDeviceType as T;
    [T::DISCRETE_GPU, T::INTEGRATED_GPU, T::VIRTUAL_GPU, T::OTHER, T::CPU]
        .iter()
        .position(|known| *known == sort)
        .unwrap_or(3)
}
