//! Interface `map` 1: host addresses of memory whose handle is no address.

use std::ptr;

use chipdock_abi::{
    CHIPDOCK_DATA_SPACE_HOST_VISIBLE, CHIPDOCK_DATA_SPACE_PINNED, CHIPDOCK_DATA_SPACE_UNIFIED,
};
use chipdock_raw_host::{Device, Space};

use crate::case::Profile;
use crate::stop::{ensure, equal, refused};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const VALUE_ERROR: &[&str] = &["ValueError"];
const HOST_VISIBLE: i32 = CHIPDOCK_DATA_SPACE_HOST_VISIBLE;

pub(super) fn add(cases: &mut Cases) {
    let mut map = |name: &str, clause, profile: &'static [Profile], body: fn(&Device) -> Verdict| {
        let draft = cases.case(Group::Memory, format!("map/{name}"), clause, Subject::DeviceApi);
        let draft = draft.profile([Profile::Map, Profile::HostVisible]).profile(profile.iter().copied());
        draft.run(move |c| mapped(c).and_then(|device| body(&device)));
    };
    map("same-again", "N.16", &[], same_again);
    map("of-its-own", "N.16", &[], of_its_own);
    map("host-and-device", "N.16", &[], host_and_device);
    map("pinned", "N.16", &[Profile::Pinned], |device| is_the_handle(device, CHIPDOCK_DATA_SPACE_PINNED));
    map("unified", "N.16", &[Profile::Unified], |device| is_the_handle(device, CHIPDOCK_DATA_SPACE_UNIFIED));
    map("not-reached", "N.17", &[], not_reached);
    map("freed", "N.17", &[Profile::CheckedHandles], freed);
    map("null", "D.2", &[], null);
    map("no-such-device", "N.15", &[], no_device);
}

/// Returns the device, if its plugin has the interface.
pub(in crate::group) fn mapped(c: &Context) -> Verdict<Device> {
    let device = c.device()?;
    if !device.has("map") {
        return Err(Stop::Unsupported(format!("device_api.{} has no interface `map` 1", device.name)));
    }
    Ok(device)
}

fn host_visible(device: &Device, size: u64) -> Verdict<Space<'_>> {
    Ok(device.allocate_kind(0, size, 64, HOST_VISIBLE, "")?)
}

fn same_again(device: &Device) -> Verdict {
    let space = host_visible(device, 1000)?;
    let address = device.address_raw(0, space.data())?;
    ensure(!address.is_null(), "an address", "null")?;
    space.write(0, &[5; 1000])?;
    let _other = host_visible(device, 1 << 20)?;
    for _ in 0..3 {
        equal("the address, asked again", &device.address_raw(0, space.data())?, &address)?;
    }
    Ok(())
}

/// Checks that no two ranges overlap.
fn of_its_own(device: &Device) -> Verdict {
    let spaces = (1..50).map(|size| host_visible(device, size * 40)).collect::<Verdict<Vec<_>>>()?;
    let mut ranges = Vec::new();
    for space in &spaces {
        ranges.push((device.address_raw(0, space.data())?.addr() as u64, space.size_bytes));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let ((one, size), (other, _)) = (pair[0], pair[1]);
        let found = format!("{size} bytes at {one:#x} and others at {other:#x}");
        ensure(one.saturating_add(size) <= other, "ranges apart from each other", found)?;
    }
    Ok(())
}

/// Checks that the device copies, by handle, what was written at the address, and the other way
/// round.
fn host_and_device(device: &Device) -> Verdict {
    let space = host_visible(device, 4096)?;
    let address = device.address_raw(0, space.data())?.cast::<u8>();
    ensure(!address.is_null(), "an address", "null")?;
    // SAFETY: by N.16, that many bytes are at the address, and no queued work uses them.
    unsafe { address.write_bytes(0x5A, 4096) };
    equal("what the device copied", &space.contents()?, &vec![0x5A; 4096])?;
    space.write(0, &[0xA5; 4096])?;
    // SAFETY: by N.16, that many bytes are at the address, and no queued work uses them; the write
    // is finished.
    let bytes = unsafe { std::slice::from_raw_parts(address, 4096) }.to_vec();
    equal("what the host reads", &bytes, &vec![0xA5; 4096])
}

fn is_the_handle(device: &Device, kind: i32) -> Verdict {
    let space = device.allocate_kind(0, 512, 64, kind, "")?;
    equal("the address", &device.address_raw(0, space.data())?, &space.data())
}

fn not_reached(device: &Device) -> Verdict {
    let space = device.allocate(64)?;
    let answered = device.address_raw(0, space.data()).map(drop);
    refused("the address of memory of kind 0", answered, &["Unsupported"])
}

fn freed(device: &Device) -> Verdict {
    let space = host_visible(device, 64)?;
    let data = space.data();
    space.free()?;
    let kinds = &["WrongState", "ValueError", "Unsupported"];
    refused("the address of a freed data space", device.address_raw(0, data).map(drop), kinds)
}

fn null(device: &Device) -> Verdict {
    refused("the address of null", device.address_raw(0, ptr::null_mut()).map(drop), VALUE_ERROR)?;
    let space = host_visible(device, 64)?;
    refused("`address` with null for its result", device.address_without_place(&space), VALUE_ERROR)
}

fn no_device(device: &Device) -> Verdict {
    let space = host_visible(device, 64)?;
    for id in [-1, device.count()?, i32::MAX] {
        let answered = device.address_raw(id, space.data()).map(drop);
        refused(&format!("the address on device {id}"), answered, VALUE_ERROR)?;
    }
    Ok(())
}
