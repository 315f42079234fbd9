//! Counting devices, attributes.

use chipdock_plugin_api::attribute;

use crate::stop::{ensure, refused};
use crate::{Cases, Context, Group, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    cases.case(Group::Query, "exist/first", "D.3", Subject::DeviceApi).run(first_exists);
    cases.case(Group::Query, "exist/past-the-last", "D.3", Subject::DeviceApi).run(past_the_last);
}

fn first_exists(c: &Context) -> Verdict {
    let found = c.device()?.attribute(0, attribute::EXIST)?;
    let answer = found.to::<bool>().ok();
    ensure(answer == Some(true), "exist of device 0: true", format!("{answer:?}"))
}

fn past_the_last(c: &Context) -> Verdict {
    let device = c.device()?;
    let count = device.count()?;
    let answer = device.attribute(count, attribute::EXIST)?.to::<bool>().ok();
    ensure(answer == Some(false), format!("exist of device {count}: false"), format!("{answer:?}"))?;
    refused(
        "device_name of a device that is not there",
        device.attribute(count, attribute::DEVICE_NAME),
        &["ValueError"],
    )
}
