//! Checks whether an artifact runs on a device: the answer is a verdict with a reason, not an
//! error.

use chipdock_abi::{CHIPDOCK_ARTIFACT_OK, CHIPDOCK_ARTIFACT_RECOMPILE, CHIPDOCK_ARTIFACT_UNSUPPORTED};
use chipdock_plugin_api::ChipdockDevice;
use chipdock_raw_host::{Loader, RawArtifact};
use serde_json::Value;

use super::made::{Made, loader};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, body: fn(&Context<'_>) -> Verdict| {
        cases.case(Group::Module, format_args!("check/{name}"), "M.2", Subject::Loader).run(body);
    };
    case("own-device", own_device);
    case("device-type-of-nobody", |c| other_devices(c, &[7777, -1, 0, i32::MAX]));
    case("odd-device-ids", odd_ids);
    case("other-kind", |c| foreign(c, "module_kind"));
    case("other-format", |c| foreign(c, "format"));
    case("as-load-does", as_load_does);
}

/// Returns the device of the target, with its device type at the suite's own host.
pub(super) fn own(c: &Context<'_>, made: &Made) -> Verdict<Option<ChipdockDevice>> {
    let Ok(device) = &made.device else { return Ok(None) };
    let own = c.plugin()?.devices().into_iter().find(|own| own.name == device.name());
    Ok(Some(own.map_or_else(|| device.number(), |own| own.device(0))))
}

/// Asks for a verdict and checks that it is valid, with a reason unless it is positive.
fn asked(loader: &Loader, artifact: &RawArtifact, device: ChipdockDevice) -> Verdict<(i32, String)> {
    let (verdict, reason) = loader.check(artifact, device).map_err(|error| {
        let found = format!("{}: {}", error.kind().as_str(), error.message());
        Stop::failed("a verdict, not an error", found)
    })?;
    let known = [CHIPDOCK_ARTIFACT_OK, CHIPDOCK_ARTIFACT_RECOMPILE, CHIPDOCK_ARTIFACT_UNSUPPORTED];
    ensure(known.contains(&verdict), "a verdict that the header has", verdict)?;
    let text = reason.to::<String>().unwrap_or_default();
    let has_reason = verdict == CHIPDOCK_ARTIFACT_OK || !text.is_empty();
    ensure(has_reason, "a reason for a verdict that is not OK", "none")?;
    Ok((verdict, text))
}

fn own_device(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let Some(device) = own(c, &made)? else {
        c.not_run("the device is not here");
        return Ok(());
    };
    for _ in 0..10 {
        let (verdict, why) = asked(&loader, &made.own, device)?;
        ensure(verdict == CHIPDOCK_ARTIFACT_OK, "OK for the device that it was compiled for", why)?;
    }
    if let Ok(device) = &made.device {
        let found = c.host()?.check_artifact(&made.root, device)?;
        equal("what a host is told", &found, &chipdock_host::Verdict::Ok)?;
    }
    Ok(())
}

fn other_devices(c: &Context<'_>, types: &[i32]) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    for device_type in types {
        let (verdict, _) =
            asked(&loader, &made.own, ChipdockDevice { device_type: *device_type, device_id: 0 })?;
        let expected = format!("not OK for device type {device_type}, which nobody has");
        ensure(verdict != CHIPDOCK_ARTIFACT_OK, expected, "OK")?;
    }
    made.still(c)
}

fn odd_ids(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let device = own(c, &made)?.unwrap_or(ChipdockDevice { device_type: 1, device_id: 0 });
    for device_id in [-1, 1, 7777, i32::MIN, i32::MAX] {
        asked(&loader, &made.own, ChipdockDevice { device_id, ..device })
            .map_err(|stop| stop.note(format!("device id {device_id}")))?;
    }
    made.still(c)
}

/// Checks that an artifact of another kind or format does not fit.
fn foreign(c: &Context<'_>, field: &str) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let device = own(c, &made)?.unwrap_or(ChipdockDevice { device_type: 1, device_id: 0 });
    let mut artifact = made.own.clone();
    let mut index: Value = serde_json::from_slice(&artifact.index_json).map_err(Stop::suite)?;
    index[field] = Value::from("something-else-of-the-suite");
    artifact.index_json = index.to_string().into_bytes();
    let (verdict, _) = asked(&loader, &artifact, device)?;
    ensure(verdict != CHIPDOCK_ARTIFACT_OK, format!("not OK for an artifact of another \"{field}\""), "OK")?;
    made.still(c)
}

/// Checks that an artifact with a positive verdict loads.
fn as_load_does(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let Some(device) = own(c, &made)? else {
        c.not_run("the device is not here");
        return Ok(());
    };
    let (verdict, _) = asked(&loader, &made.own, device)?;
    if verdict == CHIPDOCK_ARTIFACT_OK {
        made.loads(&loader).map_err(|stop| stop.note("`check` said that it runs"))?;
    }
    made.still(c)
}
