//! Interface `timeline` 1: values that rise with the work, and waits for them (N.18 to N.30).

mod handles;
mod order;
mod values;

use chipdock_raw_host::Device;

use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Nanoseconds that a value which must be reached is waited for.
const LONG: u64 = 20_000_000_000;

type Body = fn(&Device) -> Verdict;

pub(super) fn add(cases: &mut Cases) {
    let mut timeline = |name: &str, clause: &'static str, profile: &'static [Profile], body: Body| {
        let draft = cases.case(Group::Stream, format!("timeline/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([Profile::Timeline]).profile(profile.iter().copied());
        draft.run(move |c| with_timelines(c, profile).and_then(|device| body(&device)));
    };
    values::add(&mut timeline);
    order::add(&mut timeline);
    handles::add(&mut timeline);
}

/// Returns the device, if its plugin has the interface.
fn with_timelines(c: &Context, profile: &[Profile]) -> Verdict<Device> {
    let is_of_several = profile.contains(&Profile::SeveralDevices);
    let device = if is_of_several { c.several_devices() } else { c.device() }?;
    if !device.has("timeline") {
        return Err(Stop::Unsupported(format!("device_api.{} has no interface `timeline` 1", device.name)));
    }
    Ok(device)
}
