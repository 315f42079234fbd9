//! Handles of timelines that are wrong, and places that are null.

use std::ffi::c_void;
use std::ptr;

use chipdock_plugin_api::Error;
use chipdock_raw_host::Device;

use super::Body;
use crate::stop::{equal, refused};
use crate::{Profile, Verdict};

const UNKNOWN: &[&str] = &["WrongState", "ValueError"];

pub(super) fn add(timeline: &mut impl FnMut(&str, &'static str, &'static [Profile], Body)) {
    let checked = &[Profile::CheckedHandles];
    timeline("null", "N.30", &[], null);
    timeline("freed", "N.30", checked, freed);
    timeline("garbage", "N.30", checked, garbage);
    timeline("of-another-device", "N.30", &[Profile::CheckedHandles, Profile::SeveralDevices], elsewhere);
    timeline("no-such-device", "N.30", &[], no_device);
    timeline("no-such-stream", "N.30", checked, no_stream);
    timeline("null-place", "D.2", &[], null_places);
}

/// The answers of every call to that timeline; `free` is not called.
fn calls(device: &Device, device_id: i32, raw: *mut c_void) -> [(&'static str, Result<(), Error>); 5] {
    [
        ("signal", device.signal_raw(device_id, ptr::null_mut(), raw, 100)),
        ("wait", device.wait_raw(device_id, ptr::null_mut(), raw, 0)),
        ("query", device.query_raw(device_id, raw).map(drop)),
        ("host_wait", device.host_wait_raw(device_id, raw, 0, 0).map(drop)),
        ("host_signal", device.host_signal_raw(device_id, raw, 100)),
    ]
}

fn all_refused(device: &Device, device_id: i32, raw: *mut c_void, what: &str, kinds: &[&str]) -> Verdict {
    for (call, answer) in calls(device, device_id, raw) {
        refused(&format!("{call} of {what}"), answer, kinds)?;
    }
    Ok(())
}

fn null(device: &Device) -> Verdict {
    all_refused(device, 0, ptr::null_mut(), "null", &["ValueError"])
}

fn freed(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    let raw = timeline.raw();
    timeline.free()?;
    all_refused(device, 0, raw, "a freed timeline", UNKNOWN)?;
    // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
    refused("free of a freed timeline", unsafe { device.free_timeline_raw(0, raw) }, UNKNOWN)
}

fn garbage(device: &Device) -> Verdict {
    let (timeline, space) = (device.create_timeline(0, 3)?, device.allocate(64)?);
    for raw in [ptr::without_provenance_mut(0x10), ptr::without_provenance_mut(usize::MAX), space.data()] {
        all_refused(device, 0, raw, &format!("{raw:p}"), UNKNOWN)?;
        // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
        refused(&format!("free of {raw:p}"), unsafe { device.free_timeline_raw(0, raw) }, UNKNOWN)?;
    }
    equal("a timeline after wrong calls", &timeline.query()?, &3)
}

fn elsewhere(device: &Device) -> Verdict {
    let other = device.create_timeline(1, 3)?;
    all_refused(device, 0, other.raw(), "another device's timeline", UNKNOWN)?;
    // SAFETY: the case tests an invalid handle, and the plugin reports that it checks handles.
    let freed = unsafe { device.free_timeline_raw(0, other.raw()) };
    refused("free of another device's timeline", freed, UNKNOWN)?;
    equal("the other device's timeline", &other.query()?, &3)
}

fn no_device(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    for device_id in [-1, device.count()?] {
        let created = device.create_timeline(device_id, 0).map(drop);
        refused(&format!("create on device {device_id}, which is not there"), created, &["ValueError"])?;
        let what = format!("a timeline of device {device_id}, which is not there");
        all_refused(device, device_id, timeline.raw(), &what, &["ValueError"])?;
    }
    Ok(())
}

fn no_stream(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    let stream = ptr::without_provenance_mut(0x10);
    let (signal, wait) =
        (device.signal_raw(0, stream, timeline.raw(), 1), device.wait_raw(0, stream, timeline.raw(), 0));
    refused("signal on what is no stream", signal, UNKNOWN)?;
    refused("wait on what is no stream", wait, UNKNOWN)?;
    equal("the value after them", &timeline.query()?, &0)
}

fn null_places(device: &Device) -> Verdict {
    let timeline = device.create_timeline(0, 0)?;
    let calls = ["create", "query", "host_wait"];
    for (call, answer) in calls.into_iter().zip(device.timeline_nowhere(0, &timeline)) {
        refused(&format!("{call} with no place for the result"), answer, &["ValueError"])?;
    }
    Ok(())
}
