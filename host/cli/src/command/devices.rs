//! `chipdock devices`: every device API and its devices, or why there are none.

use std::time::Duration;

use chipdock_host::{Error, Host};
use chipdock_plugin_api::attribute;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ask::{Answers, Question, Row, ask_all};
use crate::args::{DevicesArgs, GlobalArgs};
use crate::report::{Exit, Failure, Result};
use crate::{output, table};

/// Attributes that a table shows in addition to the name; `-v` and `--json` show all attributes of
/// a device.
const SHOWN: &[&str] = &[
    attribute::VENDOR_NAME,
    attribute::ARCH,
    attribute::COMPUTE_VERSION,
    attribute::DRIVER_VERSION,
    attribute::MULTI_PROCESSOR_COUNT,
    attribute::MAX_CLOCK_RATE_KHZ,
    attribute::TOTAL_GLOBAL_MEMORY_BYTES,
];

/// The question that is asked of each device API.
pub(super) struct Devices;

impl Question for Devices {
    const PREFIX: &'static str = "device_api.";
    const WORD: &'static str = "devices";
    type Answer = Vec<DeviceInfo>;

    fn ask(host: &Host, name: &str) -> std::result::Result<Vec<DeviceInfo>, Error> {
        (0..host.device_count(name)?)
            .map(|id| {
                let device = host.device(name, id)?;
                let mut attributes = Map::new();
                for key in attribute::ALL {
                    if let Some(value) = device.attribute(key)? {
                        attributes.insert((*key).to_owned(), value);
                    }
                }
                let device_type = device.number().device_type;
                Ok(DeviceInfo { id, device_type, attributes, capabilities: None })
            })
            .collect()
    }
}

/// The question of each device API that also finds out what its devices can do, which uses them.
pub(super) struct Capable;

impl Question for Capable {
    const PREFIX: &'static str = Devices::PREFIX;
    const WORD: &'static str = "capabilities";
    type Answer = Vec<DeviceInfo>;

    fn ask(host: &Host, name: &str) -> std::result::Result<Vec<DeviceInfo>, Error> {
        let mut all = Devices::ask(host, name)?;
        for info in &mut all {
            info.capabilities = Some(host.device(name, info.id)?.capabilities()?.to_json());
        }
        Ok(all)
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DeviceInfo {
    id: i32,
    /// DLPack's number, or the one that the host assigned.
    device_type: i32,
    attributes: Map<String, Value>,
    /// What it can do, where that was asked.
    capabilities: Option<Value>,
}

/// Lists devices.
///
/// # Errors
///
/// Exit code 4, after the result is printed, when there is no device at all.
pub(crate) fn run(args: &DevicesArgs, global: &GlobalArgs) -> Result<()> {
    let deadline = Duration::from_secs_f64(args.deadline);
    let apis = match args.capabilities {
        true => ask_all::<Capable>(global, deadline)?,
        false => ask_all::<Devices>(global, deadline)?,
    };
    if global.json {
        output::print_json(&to_json(&apis))?;
    } else {
        output::print(&to_text(&apis.rows, global.verbose))?;
    }
    if apis.rows.iter().any(|api| api.found.as_ref().is_ok_and(|devices| !devices.is_empty())) {
        return Ok(());
    }
    Err(Failure::new(Exit::NoDevice, "there is no device")
        .help("chipdock plugins lists the device APIs found, and why any is not used"))
}

fn to_json(apis: &Answers<Vec<DeviceInfo>>) -> Value {
    let api = |api: &Row<Vec<DeviceInfo>>| match &api.found {
        Ok(devices) => {
            let devices: Vec<Value> = devices.iter().map(|device| device_json(&api.name, device)).collect();
            json!({"name": api.name, "available": true, "devices": devices})
        }
        Err(lack) => {
            json!({"name": api.name, "available": false, "devices": [], "problem": lack.to_json()})
        }
    };
    let all: Vec<Value> = apis.rows.iter().map(api).collect();
    json!({"schema": "chipdock.devices/1", "device_apis": all, "failed": apis.failed})
}

fn device_json(name: &str, device: &DeviceInfo) -> Value {
    let mut all = json!({
        "device": format!("{name}:{}", device.id),
        "id": device.id,
        "device_type": device.device_type,
        "attributes": device.attributes,
    });
    if let Some(capabilities) = &device.capabilities {
        all["capabilities"] = capabilities.clone();
    }
    all
}

/// Returns what a device can do as words for a table.
fn capable(capabilities: &Value) -> Vec<String> {
    let list = |key: &str, name: fn(&Value) -> Option<&str>| {
        let all = capabilities[key].as_array().into_iter().flatten();
        all.filter_map(name).collect::<Vec<_>>().join("+")
    };
    let is = |key: &str| if capabilities[key] == true { "yes" } else { "no" };
    let interfaces = list("interfaces", Value::as_str);
    vec![
        format!("memory={}", list("memory", |memory| memory["kind"].as_str())),
        format!("interfaces={}", if interfaces.is_empty() { "none" } else { &interfaces }),
        format!("streams={}", is("streams")),
        format!("checked_handles={}", is("checked_handles")),
    ]
}

fn to_text(apis: &[Row<Vec<DeviceInfo>>], verbose: bool) -> String {
    let mut rows = table::new(&["DEVICE", "TYPE", "NAME", "ATTRIBUTES"]);
    for api in apis {
        match &api.found {
            Ok(devices) if devices.is_empty() => {
                rows.add_row([api.name.clone(), "-".to_owned(), "no device".to_owned()]);
            }
            Ok(devices) => {
                for device in devices {
                    rows.add_row(row(&api.name, device, verbose));
                }
            }
            Err(lack) => {
                rows.add_row([api.name.clone(), "-".to_owned(), "unavailable".to_owned(), lack.line()]);
            }
        }
    }
    table::text(&rows)
}

fn row(api: &str, device: &DeviceInfo, verbose: bool) -> [String; 4] {
    let (mut name, mut others) = (String::new(), Vec::new());
    for (key, value) in &device.attributes {
        let (label, shown) = readable(key, value);
        if key == attribute::DEVICE_NAME {
            name = shown;
        } else if verbose || SHOWN.contains(&key.as_str()) {
            others.push(format!("{label}={shown}"));
        }
    }
    others.extend(device.capabilities.iter().flat_map(capable));
    [format!("{api}:{}", device.id), device.device_type.to_string(), name, others.join(", ")]
}

/// Returns a value with its unit: the unit at the end of its key, scaled where the number is large.
fn readable<'a>(key: &'a str, value: &Value) -> (&'a str, String) {
    let scaled = |number: f64, step: f64, units: &[&str]| {
        let (mut number, mut index) = (number, 0);
        while number >= step && index + 1 < units.len() {
            number /= step;
            index += 1;
        }
        let digits = if number >= 99.95 || number.fract() == 0.0 { 0 } else { 1 };
        format!("{number:.digits$} {}", units[index])
    };
    let number = value.as_f64();
    match (key.strip_suffix("_bytes"), key.strip_suffix("_khz"), number) {
        (Some(label), _, Some(number)) => (label, scaled(number, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])),
        (_, Some(label), Some(number)) => (label, scaled(number, 1000.0, &["kHz", "MHz", "GHz"])),
        _ => (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_units() {
        let shown = |key, value: Value| readable(key, &value).1;
        assert_eq!(readable("l1_cache_size_bytes", &json!(49152)), ("l1_cache_size", "48 KiB".to_owned()));
        assert_eq!(shown("total_global_memory_bytes", json!(25_325_268_992_u64)), "23.6 GiB");
        assert_eq!(shown("max_clock_rate_khz", json!(2_100_000)), "2.1 GHz");
        assert_eq!(shown("arch", json!("x86_64")), "x86_64");
        assert_eq!(shown("max_grid_dimensions", json!([1, 2, 3])), "[1,2,3]");
    }

    #[test]
    fn what_a_device_lacks_is_said_too() {
        let memory =
            json!([{"kind": "device", "scopes": ["global"]}, {"kind": "pinned", "scopes": ["global"]}]);
        let all = json!({"memory": memory, "interfaces": ["map/1", "timer/1"], "streams": true, "checked_handles": false});
        let words = ["memory=device+pinned", "interfaces=map/1+timer/1", "streams=yes", "checked_handles=no"];
        assert_eq!(capable(&all), words);
        assert_eq!(capable(&json!({"interfaces": []}))[1], "interfaces=none");
    }
}
