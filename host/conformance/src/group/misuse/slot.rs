//! Location of an error: the slot of the calling host on the calling thread, until it is taken
//! (P7.1, P7.4).

use chipdock_plugin_api::Error;
use chipdock_plugin_api::attribute::DEVICE_NAME;
use chipdock_raw_host::Device;

use super::usable;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut slot = |name: &str, clause, body: fn(&Device) -> Verdict| {
        let draft = cases.case(Group::Misuse, format!("slot/{name}"), clause, Subject::DeviceApi);
        draft.run(move |c: &Context| {
            let device = c.device()?;
            body(&device)?;
            usable(&device)
        });
    };
    slot("other-thread", "P7.1", other_thread);
    slot("latest", "P7.1", latest);
    slot("left-there", "P7.9", left_there);
    slot("nothing-raised-by-success", "P7.1", silent_success);
    slot("a-thousand-errors", "P7.9", thousand);
    slot("status-of-its-kind", "P7.10", status);
}

/// Makes a wrong call that names an absent device.
fn fail(device: &Device, id: i32) -> i32 {
    let Ok((table, self_)) = device.table() else { return 0 };
    // SAFETY: the table is registered and called with its `self_`.
    unsafe { (table.sync_stream)(self_, id, std::ptr::null_mut()) }
}

fn tells(error: Option<Error>, id: i32) -> Verdict {
    let message = error.map(|error| error.message().into_owned());
    let names_device = message.as_ref().is_some_and(|message| message.contains(&id.to_string()));
    ensure(
        names_device,
        format!("the error of this thread's call, about device {id}"),
        format!("{message:?}"),
    )
}

fn other_thread(device: &Device) -> Verdict {
    let host = device.host();
    drop(host.take_error());
    fail(device, 7_001);
    let other = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let before = host.take_error();
            fail(device, 7_002);
            (before, host.take_error())
        });
        thread.join().map_err(|_| Stop::suite("a thread of the case panicked"))
    });
    let mine = host.take_error();
    let (before, others) = other?;
    ensure(before.is_none(), "no error on a thread that called nothing", format!("{before:?}"))?;
    tells(others, 7_002)?;
    tells(mine, 7_001)
}

/// Checks that of two errors not taken the later one remains.
fn latest(device: &Device) -> Verdict {
    drop(device.host().take_error());
    fail(device, 7_003);
    fail(device, 7_004);
    tells(device.host().take_error(), 7_004)?;
    let again = device.host().take_error();
    ensure(again.is_none(), "one error in the slot", format!("{again:?}"))
}

/// Checks that an error not taken does not affect a later call.
fn left_there(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    fail(device, 7_005);
    let mut count = -1;
    // SAFETY: the table is registered and called with its `self_`, and there is room for the
    // result.
    let status = unsafe { (table.device_count)(self_, &mut count) };
    drop(device.host().take_error());
    ensure(status == 0 && count > 0, "device_count: success", format!("status {status}, count {count}"))
}

/// Checks that a successful call raises no error.
fn silent_success(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    let host = device.host();
    drop(host.take_error());
    let mut count = -1;
    // SAFETY: the table is registered and called with its `self_`, and there is room for the
    // result.
    let status = unsafe { (table.device_count)(self_, &mut count) };
    let raised = host.take_error();
    ensure(status == 0 && raised.is_none(), "device_count: success without an error", format!("{raised:?}"))?;
    let mut data = std::ptr::null_mut();
    // SAFETY: the table is registered and called with its `self_`; the request is live, and there
    // is room for the result.
    let status = unsafe { (table.allocate_data_space)(self_, 0, &super::device::request(64), &mut data) };
    let raised = host.take_error();
    // SAFETY: by D.5, the data space was allocated above and is freed once; null is allowed.
    unsafe { device.free_raw(0, data) }?;
    ensure(
        status == 0 && raised.is_none(),
        "allocate_data_space: success without an error",
        format!("{raised:?}"),
    )
}

/// Checks that two error kinds have two statuses; every wrong call of this group checks its status
/// too.
fn status(device: &Device) -> Verdict {
    super::device::no_space(device, -1, &super::device::request(64), &["ValueError"], &[])?;
    let unknown = chipdock_abi::ChipdockDataSpaceRequest { kind: 1000, ..super::device::request(64) };
    super::device::no_space(device, 0, &unknown, &["Unsupported"], &[])
}

fn thousand(device: &Device) -> Verdict {
    for id in 0..1000 {
        let id = 10_000 + id;
        let refused = device.attribute(id, DEVICE_NAME);
        tells(refused.err(), id)?;
    }
    Ok(())
}
