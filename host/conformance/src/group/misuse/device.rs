//! Every entry of a device API's table, called for an absent device, and with null where a value is
//! required.

use std::ptr;

use chipdock_abi::{CHIPDOCK_DATA_SPACE_DEVICE, ChipdockCopy, ChipdockDataSpaceRequest};
use chipdock_plugin_api::attribute::DEVICE_NAME;
use chipdock_plugin_api::text::str_out;
use chipdock_raw_host::{Device, NO_HINT, host_end};

use super::{OutSlot, marked, no_handle, usable, wrong};
use crate::group::stream::play::streams;
use crate::{Cases, Context, Group, Profile, Subject, Verdict};

const ABSENT: &[&str] = &["ValueError"];

/// An entry's name, its profile, and a call of it for a device id.
type EntryCall = (&'static str, Option<Profile>, fn(&Device, i32) -> Verdict);
/// A call with a null argument.
type Null = (&'static str, fn(&Device) -> Verdict);

pub(super) fn add(cases: &mut Cases) {
    let entries: [EntryCall; 8] = [
        ("attribute", None, attribute),
        ("allocate_data_space", None, allocate),
        ("free_data_space", None, free),
        ("copy_data", None, copy),
        ("create_stream", None, create_stream),
        ("free_stream", Some(Profile::SeveralStreams), free_stream),
        ("sync_stream", None, sync),
        ("sync_stream_from_to", None, sync_from_to),
    ];
    for (entry, profile, body) in entries {
        for (name, device_id) in [("minus-1", Some(-1)), ("count", None), ("max", Some(i32::MAX))] {
            let name = format!("device-id/{entry}/{name}");
            cases.case(Group::Misuse, name, "D.3", Subject::DeviceApi).profile(profile).run(move |c| {
                let device = c.device()?;
                let device_id = device_id.map_or_else(|| device.count(), Ok)?;
                body(&device, device_id)?;
                usable(&device)
            });
        }
    }
    for (name, body) in [
        ("attribute", attribute as fn(&Device, i32) -> Verdict),
        ("allocate_data_space", allocate),
        ("create_stream", create_stream),
    ] {
        let name = format!("no-result/{name}");
        cases.case(Group::Misuse, name, "P7.8", Subject::DeviceApi).run(move |c| {
            let device = c.device()?;
            (-50..0).try_for_each(|id| body(&device, id))?;
            usable(&device)
        });
    }
    let nulls: [Null; 10] = [
        ("device_count/out", null_count),
        ("attribute/out", null_attribute),
        ("attribute/key", null_key),
        ("allocate_data_space/request", null_request),
        ("allocate_data_space/out", null_data),
        ("allocate_data_space/scope", null_scope),
        ("copy_data/request", null_copy),
        ("copy_data/from", |device| null_end(device, true)),
        ("copy_data/to", |device| null_end(device, false)),
        ("create_stream/out", null_stream),
    ];
    for (name, body) in nulls {
        cases.case(Group::Misuse, format!("null/{name}"), "D.2", Subject::DeviceApi).run(
            move |c: &Context| {
                let device = c.device()?;
                body(&device)?;
                usable(&device)
            },
        );
    }
}

fn attribute(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    let mut out = OutSlot::new();
    let place = out.as_mut_ptr();
    // SAFETY: the table is registered and called with its `self_`; the key is live, and there is
    // room for the result.
    wrong(device.host(), "attribute", ABSENT, &[&id.to_string()], || unsafe {
        (table.attribute)(self_, id, str_out(DEVICE_NAME), place)
    })?;
    out.untouched("attribute")
}

pub(super) fn request(size_bytes: u64) -> ChipdockDataSpaceRequest {
    ChipdockDataSpaceRequest {
        size_bytes,
        alignment_bytes: 64,
        dtype_hint: NO_HINT,
        kind: CHIPDOCK_DATA_SPACE_DEVICE,
        scope: str_out(""),
        next: std::ptr::null(),
    }
}

/// Checks that an allocation is refused and returns no handle.
pub(super) fn no_space(
    device: &Device,
    id: i32,
    request: &ChipdockDataSpaceRequest,
    kinds: &[&str],
    tells: &[&str],
) -> Verdict {
    let (table, self_) = device.table()?;
    let mut out = marked();
    // SAFETY: the table is registered and called with its `self_`; the request is live, and there
    // is room for the result.
    wrong(device.host(), "allocate_data_space", kinds, tells, || unsafe {
        (table.allocate_data_space)(self_, id, request, &mut out)
    })?;
    no_handle("allocate_data_space", out)
}

fn allocate(device: &Device, id: i32) -> Verdict {
    no_space(device, id, &request(64), ABSENT, &[&id.to_string()])
}

/// Checks that the data space still exists with its contents.
fn free(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    let space = device.allocate(64)?;
    space.write(0, &[7; 64])?;
    // SAFETY: the table is registered and called with its `self_`; the data space belongs to
    // another device than the named one.
    wrong(device.host(), "free_data_space", ABSENT, &[&id.to_string()], || unsafe {
        (table.free_data_space)(self_, id, space.data())
    })?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    super::same("data space", 0, &found, &[7; 64])?;
    Ok(space.free()?)
}

/// Checks that the data space keeps its contents.
fn copy(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    let space = device.allocate(64)?;
    space.write(0, &[7; 64])?;
    let mut bytes = [8_u8; 64];
    let copy = ChipdockCopy {
        from: host_end(bytes.as_mut_ptr(), 0),
        to: space.end(0),
        size_bytes: 64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: the table is registered and called with its `self_`; the ends of the live request
    // live until the read below synchronises.
    wrong(device.host(), "copy_data", ABSENT, &[&id.to_string()], || unsafe {
        (table.copy_data)(self_, id, &copy, ptr::null_mut())
    })?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    super::same("data space", 0, &found, &[7; 64])
}

fn create_stream(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    let mut out = marked();
    // SAFETY: the table is registered and called with its `self_`, and there is room for the
    // result.
    wrong(device.host(), "create_stream", ABSENT, &[&id.to_string()], || unsafe {
        (table.create_stream)(self_, id, &mut out)
    })?;
    no_handle("create_stream", out)
}

fn free_stream(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    let Some(stream) = streams(device, 0, 1)?.pop() else { return Ok(()) };
    // SAFETY: the table is registered and called with its `self_`; the stream belongs to another
    // device than the named one.
    wrong(device.host(), "free_stream", ABSENT, &[&id.to_string()], || unsafe {
        (table.free_stream)(self_, id, stream.raw())
    })?;
    stream.sync()?;
    Ok(stream.free()?)
}

fn sync(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; the stream is the default one.
    wrong(device.host(), "sync_stream", ABSENT, &[&id.to_string()], || unsafe {
        (table.sync_stream)(self_, id, ptr::null_mut())
    })
}

fn sync_from_to(device: &Device, id: i32) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; the stream is the default one.
    wrong(device.host(), "sync_stream_from_to", ABSENT, &[&id.to_string()], || unsafe {
        (table.sync_stream_from_to)(self_, id, ptr::null_mut(), ptr::null_mut())
    })
}

fn null_count(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error. So below.
    wrong(device.host(), "device_count to null", ABSENT, &[], || unsafe {
        (table.device_count)(self_, ptr::null_mut())
    })
}

fn null_attribute(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "attribute to null", ABSENT, &[], || unsafe {
        (table.attribute)(self_, 0, str_out(DEVICE_NAME), ptr::null_mut())
    })
}

fn null_key(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    let mut out = OutSlot::new();
    let place = out.as_mut_ptr();
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "attribute of a key of 5 bytes at null", ABSENT, &[], || unsafe {
        (table.attribute)(self_, 0, super::text::null_text(5), place)
    })?;
    out.untouched("attribute")
}

fn null_request(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    let mut out = marked();
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "allocate_data_space of null", ABSENT, &[], || unsafe {
        (table.allocate_data_space)(self_, 0, ptr::null(), &mut out)
    })?;
    no_handle("allocate_data_space", out)
}

fn null_data(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "allocate_data_space to null", ABSENT, &[], || unsafe {
        (table.allocate_data_space)(self_, 0, &request(64), ptr::null_mut())
    })
}

fn null_scope(device: &Device) -> Verdict {
    let request = ChipdockDataSpaceRequest { scope: super::text::null_text(6), ..request(64) };
    no_space(device, 0, &request, ABSENT, &[])
}

fn null_copy(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "copy_data of null", ABSENT, &[], || unsafe {
        (table.copy_data)(self_, 0, ptr::null(), ptr::null_mut())
    })
}

fn null_end(device: &Device, is_source: bool) -> Verdict {
    let (table, self_) = device.table()?;
    let space = device.allocate(64)?;
    let null = host_end(ptr::null_mut(), 0);
    let (from, to) = if is_source { (null, space.end(0)) } else { (space.end(0), null) };
    let copy =
        ChipdockCopy { from, to, size_bytes: 64, dtype_hint: NO_HINT, flags: 0, next: std::ptr::null() };
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "copy_data with an end at null", ABSENT, &[], || unsafe {
        (table.copy_data)(self_, 0, &copy, ptr::null_mut())
    })
}

fn null_stream(device: &Device) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; by D.2, null is answered with an
    // error.
    wrong(device.host(), "create_stream to null", ABSENT, &[], || unsafe {
        (table.create_stream)(self_, 0, ptr::null_mut())
    })
}
