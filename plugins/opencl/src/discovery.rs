//! Discovery of all devices of all platforms, in a stable order.

use std::sync::Mutex;

use chipdock_plugin_api::kit::{Claim, PerProcess, lock};
use chipdock_plugin_api::process::has_raised_privileges;
use chipdock_plugin_api::{Error, ErrorKind};
use opencl3::device::{
    CL_DEVICE_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_ENDIAN_LITTLE, CL_DEVICE_NAME,
    CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU,
};
use opencl3::error_codes::{CL_DEVICE_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR};
use opencl3::platform::platform::{CL_PLATFORM_NAME, CL_PLATFORM_VERSION};

use crate::attributes::Limits;
use crate::driver::{DeviceId, PlatformId, error_name, open_library, platforms};
use crate::error::NO_LIBRARY;

/// The library that finds the drivers, and its package in Debian and Ubuntu.
const LIBRARY: &str = "libOpenCL.so.1";
const LIBRARY_PACKAGE: &str = "ocl-icd-libopencl1";
/// The package of a driver for machines without a GPU.
const DRIVER_PACKAGE: &str = "pocl-opencl-icd";

/// Locked while drivers are queried for their devices; it belongs to no host.
static ONE_AT_A_TIME: PerProcess<Mutex<()>> = PerProcess::new(|_| Mutex::default());
/// Drivers have threads that a forked child lacks: PoCL waits for them for ever.
static DRIVERS: Claim = Claim::new();

/// A device that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) id: DeviceId,
    /// Name of the device.
    pub(crate) name: String,
    pub(crate) platform_name: String,
    pub(crate) platform_version: String,
    /// Sort of the device: `gpu`, `accelerator` or `cpu`.
    pub(crate) sort: &'static str,
    pub(crate) limits: Limits,
}

/// Finds all devices: GPUs, then accelerators, then the rest; within each group by the platform's
/// name, then in the platform's order.
///
/// # Errors
///
/// * `Unavailable`: no library, no driver, no device.
/// * `WrongState`: the process was forked from one that opened the drivers.
pub(crate) fn discover() -> Result<Vec<Found>, Error> {
    // Two hosts may search at once, and PoCL opens its devices without a lock when it is first
    // queried.
    let _one = lock(ONE_AT_A_TIME.of_this());
    if has_raised_privileges() {
        return Err(raised());
    }
    DRIVERS.take("OpenCL with its drivers")?;
    let platforms = match platforms() {
        Ok(platforms) => platforms,
        Err(NO_LIBRARY) => {
            DRIVERS.give_up();
            return Err(no_library());
        }
        Err(CL_PLATFORM_NOT_FOUND_KHR) => Vec::new(),
        Err(code) => {
            let why = error_name(code);
            return Err(unavailable(format!("{LIBRARY} answered {why} when it was asked for drivers")));
        }
    };
    if platforms.is_empty() {
        return Err(unavailable(format!(
            "{LIBRARY} found no OpenCL driver in /etc/OpenCL/vendors, or in what OCL_ICD_VENDORS names; install that of \
             the device (on Debian and Ubuntu `{DRIVER_PACKAGE}` brings one for the processor)"
        )));
    }
    let (mut all, mut without) = (Vec::new(), Vec::new());
    for platform in platforms {
        let name = platform.text(CL_PLATFORM_NAME).unwrap_or_default();
        let (found, why_not) = of_platform(platform, &name);
        if found.is_empty() {
            without.push(format!("{name}: {}", why_not.join(", ")));
        }
        all.extend(found);
    }
    if all.is_empty() {
        return Err(unavailable(format!(
            "no OpenCL driver has a device ({}); PoCL has none where it cannot write POCL_CACHE_DIR or XDG_CACHE_HOME",
            without.join("; ")
        )));
    }
    // The sort is stable: equal devices stay in the platform's order.
    all.sort_by(|a, b| (rank(a.sort), &a.platform_name).cmp(&(rank(b.sort), &b.platform_name)));
    Ok(all)
}

fn rank(sort: &str) -> usize {
    ["gpu", "accelerator"].iter().position(|known| *known == sort).unwrap_or(2)
}

/// The devices of one platform, and the reasons why there are no more.
fn of_platform(platform: PlatformId, platform_name: &str) -> (Vec<Found>, Vec<String>) {
    let mut why_not = Vec::new();
    let devices = match platform.devices(CL_DEVICE_TYPE_ALL) {
        Ok(devices) => devices,
        Err(CL_DEVICE_NOT_FOUND) => Vec::new(),
        Err(code) => {
            why_not.push(error_name(code));
            Vec::new()
        }
    };
    if devices.is_empty() && why_not.is_empty() {
        why_not.push("none listed".to_owned());
    }
    let platform_version = platform.text(CL_PLATFORM_VERSION).unwrap_or_default();
    let mut found = Vec::new();
    for id in devices {
        let name = id.text(CL_DEVICE_NAME).unwrap_or_default();
        let usable = [
            (CL_DEVICE_AVAILABLE, "is not available"),
            (CL_DEVICE_COMPILER_AVAILABLE, "has no compiler"),
            (CL_DEVICE_ENDIAN_LITTLE, "is not little-endian"),
        ];
        if let Some((_, why)) = usable.iter().find(|(key, _)| id.number(*key).unwrap_or(0) == 0) {
            why_not.push(format!("{name} {why}"));
            continue;
        }
        let types = id.number(CL_DEVICE_TYPE).unwrap_or(0);
        found.push(Found {
            id,
            name,
            platform_name: platform_name.to_owned(),
            platform_version: platform_version.clone(),
            sort: match types {
                types if types & CL_DEVICE_TYPE_GPU != 0 => "gpu",
                types if types & CL_DEVICE_TYPE_ACCELERATOR != 0 => "accelerator",
                _ => "cpu",
            },
            limits: Limits::read(id),
        });
    }
    (found, why_not)
}

/// The error for raised privileges: OpenCL's loader and drivers read variables of their own
/// (`OPENCL_DYLIB_PATH`, `OCL_ICD_VENDORS`, `POCL_CACHE_DIR`, …), and open the libraries that some
/// of them name; that cannot be disabled in all of them.
fn raised() -> Error {
    unavailable(
        "OpenCL is not opened with raised privileges (set-user-id, set-group-id or file capabilities), because its loader \
         and drivers open what variables of the environment name; run without them"
            .to_owned(),
    )
}

fn no_library() -> Error {
    // Opened again for its error message: the crate only records that it failed.
    let why = open_library(LIBRARY).err().unwrap_or_else(|| "it lacks functions".to_owned());
    unavailable(format!(
        "no OpenCL library: tried what OPENCL_DYLIB_PATH names, then {LIBRARY}: {why}; on Debian and Ubuntu \
         `{LIBRARY_PACKAGE}` brings it, and the device's driver or `{DRIVER_PACKAGE}` what it finds"
    ))
}

fn unavailable(message: String) -> Error {
    Error::new(ErrorKind::UNAVAILABLE, message)
}
