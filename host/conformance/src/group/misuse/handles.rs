//! Invalid handles, handles of another device, and out-of-range copies: a device that reports
//! `checked_handles` answers them with errors (D.19).

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd, ChipdockDevice};
use chipdock_plugin_api::attribute::CHECKED_HANDLES;
use chipdock_raw_host::{Device, NO_HINT, Space, host_end};

use super::{usable, wrong};
use crate::group::stream::play::{same, streams};
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

const UNKNOWN: &[&str] = &["WrongState", "ValueError", "Unsupported"];
const SIZE: usize = 100;

/// Ranges that exceed 100 bytes: name, offset, size.
const RANGES: [(&str, u64, u64); 7] = [
    ("one-past", 1, 100),
    ("twice", 0, 200),
    ("begins-at-the-end", 100, 1),
    ("begins-past-the-end", 5000, 1),
    ("all-there-is", 0, u64::MAX),
    ("sum-wraps-to-1", u64::MAX, 2),
    ("sum-wraps-to-10", u64::MAX - 9, 20),
];

pub(super) fn add(cases: &mut Cases) {
    let mut handle = |name: &str, profile: Option<Profile>, body: fn(&Device, &Witness) -> Verdict| {
        let draft = cases.case(Group::Misuse, format!("handle/{name}"), "D.19", Subject::DeviceApi);
        draft.profile([Profile::CheckedHandles]).profile(profile).run(move |c| witnessed(c, body));
    };
    handle("free/twice", None, free_twice);
    handle("free/garbage", None, free_garbage);
    handle("free/inside", None, free_inside);
    handle("free/a-stream", Some(Profile::SeveralStreams), free_a_stream);
    handle("free/of-another-device", Some(Profile::SeveralDevices), free_elsewhere);
    handle("copy/from-freed", None, |device, witness| copy_freed(device, witness, true));
    handle("copy/to-freed", None, |device, witness| copy_freed(device, witness, false));
    handle("copy/from-garbage", None, |device, witness| copy_garbage(device, witness, true));
    handle("copy/to-garbage", None, |device, witness| copy_garbage(device, witness, false));
    handle("copy/third-device-type", None, third_type);
    handle("copy/absent-device", None, absent_end);
    handle("copy/handle-of-another-device", Some(Profile::SeveralDevices), end_elsewhere);
    handle("copy/within-host-memory", None, within_host);
    let several = Some(Profile::SeveralStreams);
    handle("stream/free-twice", several, |device, _| on_freed_stream(device, Use::Free));
    handle("stream/free-garbage", several, stream_garbage);
    handle("stream/sync-freed", several, |device, _| on_freed_stream(device, Use::Sync));
    handle("stream/wait-for-freed", several, |device, _| on_freed_stream(device, Use::From));
    handle("stream/freed-waits", several, |device, _| on_freed_stream(device, Use::To));
    handle("stream/copy-on-freed", several, copy_on_freed_stream);
    handle("stream/a-data-space", several, stream_is_space);
    for (name, offset, size) in RANGES {
        for (end, is_source) in [("from", true), ("to", false)] {
            let name = format!("range/{name}/{end}");
            let draft = cases.case(Group::Misuse, name, "D.19", Subject::DeviceApi);
            draft.profile([Profile::CheckedHandles]).run(move |c| {
                witnessed(c, |device, witness| {
                    range(device, witness, offset, size, is_source, false)?;
                    range(device, witness, offset, size, is_source, true)
                })
            });
        }
    }
}

/// A data space that no wrong call may change.
struct Witness<'d> {
    space: Space<'d>,
    bytes: Vec<u8>,
}

impl Witness<'_> {
    fn is_untouched(&self) -> Verdict {
        let mut found = vec![0; self.bytes.len()];
        self.space.read(0, &mut found)?;
        same("a data space that the wrong call may not touch", 0, &found, &self.bytes)
    }
}

fn witnessed(c: &Context, body: impl Fn(&Device, &Witness) -> Verdict) -> Verdict {
    let device = c.device()?;
    let says = device.attribute(0, CHECKED_HANDLES)?;
    if !says.to::<bool>().unwrap_or(false) {
        return Err(Stop::Unsupported(format!(
            "{} does not answer {CHECKED_HANDLES} with true",
            device.name
        )));
    }
    let bytes: Vec<u8> = (0..SIZE as u8).collect();
    let witness = Witness { space: device.allocate(SIZE as u64)?, bytes };
    witness.space.write(0, &witness.bytes)?;
    body(&device, &witness)?;
    device.sync(0, ptr::null_mut())?;
    witness.is_untouched()?;
    usable(&device)
}

/// Returns handles that the plugin never returned.
fn garbage() -> [*mut c_void; 3] {
    [0x10, 0x5A5A_5A5A_5A50, usize::MAX].map(ptr::without_provenance_mut)
}

/// Returns the handle of a freed data space, which the plugin may reuse.
fn freed(device: &Device) -> Verdict<*mut c_void> {
    let space = device.allocate(SIZE as u64)?;
    let data = space.data();
    space.free()?;
    Ok(data)
}

fn refuse_free(device: &Device, id: i32, what: &str, data: *mut c_void) -> Verdict {
    let (table, self_) = device.table()?;
    // SAFETY: the table is registered and called with its `self_`; the device reports that it looks
    // a handle up before it uses it.
    wrong(device.host(), what, UNKNOWN, &[], || unsafe { (table.free_data_space)(self_, id, data) })
}

fn free_twice(device: &Device, _: &Witness) -> Verdict {
    let data = freed(device)?;
    refuse_free(device, 0, "free_data_space of what was freed", data)
}

fn free_garbage(device: &Device, _: &Witness) -> Verdict {
    garbage().into_iter().try_for_each(|data| refuse_free(device, 0, "free_data_space of garbage", data))
}

fn free_inside(device: &Device, witness: &Witness) -> Verdict {
    let inside = witness.space.data().wrapping_byte_add(1);
    refuse_free(device, 0, "free_data_space of a handle plus 1", inside)
}

fn free_a_stream(device: &Device, _: &Witness) -> Verdict {
    let streams = streams(device, 0, 1)?;
    refuse_free(device, 0, "free_data_space of a stream", streams[1].raw())?;
    Ok(streams[1].sync()?)
}

/// Checks that the data space still exists on its own device.
fn free_elsewhere(device: &Device, witness: &Witness) -> Verdict {
    if device.count()? < 2 {
        return Err(Stop::Absent(format!("{} has one device here", device.name)));
    }
    refuse_free(device, 1, "free_data_space on another device", witness.space.data())
}

fn refuse_copy(
    device: &Device,
    what: &str,
    kinds: &[&str],
    ends: (ChipdockCopyEnd, ChipdockCopyEnd),
    size_bytes: u64,
    stream: *mut c_void,
) -> Verdict {
    let (table, self_) = device.table()?;
    let copy = ChipdockCopy {
        from: ends.0,
        to: ends.1,
        size_bytes,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: the table is registered and called with its `self_`, and the request is live; the
    // device reports that it checks handles and ranges before it uses them.
    wrong(device.host(), what, kinds, &[], || unsafe { (table.copy_data)(self_, 0, &copy, stream) })
}

/// Copies between an invalid end and the host, and between it and the witness; all copies must be
/// refused.
fn refuse_end(
    device: &Device,
    witness: &Witness,
    what: &str,
    end: ChipdockCopyEnd,
    is_source: bool,
) -> Verdict {
    let mut host = [9_u8; SIZE];
    let others = [host_end(host.as_mut_ptr(), 0), witness.space.end(0)];
    for other in others {
        let ends = if is_source { (end, other) } else { (other, end) };
        refuse_copy(device, what, UNKNOWN, ends, SIZE as u64, ptr::null_mut())?;
    }
    device.sync(0, ptr::null_mut())?;
    same("the host's memory", 0, &host, &[9; SIZE])
}

fn copy_freed(device: &Device, witness: &Witness, is_source: bool) -> Verdict {
    let end = ChipdockCopyEnd { data: freed(device)?, ..witness.space.end(0) };
    refuse_end(device, witness, "copy_data with a data space that was freed", end, is_source)
}

fn copy_garbage(device: &Device, witness: &Witness, is_source: bool) -> Verdict {
    garbage().into_iter().try_for_each(|data| {
        let end = ChipdockCopyEnd { data, ..witness.space.end(0) };
        refuse_end(device, witness, "copy_data with garbage", end, is_source)
    })
}

/// Passes a live handle under a device type that is neither this API's nor the host's.
fn third_type(device: &Device, witness: &Witness) -> Verdict {
    let other = device.allocate(SIZE as u64)?;
    let device_type = if device.device_type == 8191 { 8190 } else { 8191 };
    let of = ChipdockDevice { device_type, device_id: 0 };
    let end = ChipdockCopyEnd { device: of, ..other.end(0) };
    refuse_end(device, witness, "copy_data from a third kind of device", end, true)?;
    refuse_end(device, witness, "copy_data to a third kind of device", end, false)
}

fn absent_end(device: &Device, witness: &Witness) -> Verdict {
    let other = device.allocate(SIZE as u64)?;
    for device_id in [-1, device.count()?, i32::MAX] {
        let end = ChipdockCopyEnd { device: device.device(device_id), ..other.end(0) };
        refuse_end(device, witness, "copy_data from a device that is not there", end, true)?;
        refuse_end(device, witness, "copy_data to a device that is not there", end, false)?;
    }
    Ok(())
}

fn end_elsewhere(device: &Device, witness: &Witness) -> Verdict {
    if device.count()? < 2 {
        return Err(Stop::Absent(format!("{} has one device here", device.name)));
    }
    let other = device.allocate(SIZE as u64)?;
    let end = ChipdockCopyEnd { device: device.device(1), ..other.end(0) };
    refuse_end(device, witness, "copy_data from another device's handle", end, true)?;
    refuse_end(device, witness, "copy_data to another device's handle", end, false)
}

fn within_host(device: &Device, _: &Witness) -> Verdict {
    if device.is_host_memory() {
        return Ok(());
    }
    let (mut a, mut b) = ([1_u8; SIZE], [2_u8; SIZE]);
    let ends = (host_end(a.as_mut_ptr(), 0), host_end(b.as_mut_ptr(), 0));
    refuse_copy(device, "copy_data within host memory", UNKNOWN, ends, SIZE as u64, ptr::null_mut())?;
    device.sync(0, ptr::null_mut())?;
    same("the host's memory", 0, &b, &[2; SIZE])
}

fn range(
    device: &Device,
    witness: &Witness,
    offset: u64,
    size: u64,
    is_source: bool,
    is_within_device: bool,
) -> Verdict {
    let mut host = [9_u8; 2 * SIZE];
    let other = device.allocate(2 * SIZE as u64)?;
    let other = if is_within_device { other.end(0) } else { host_end(host.as_mut_ptr(), 0) };
    let end = witness.space.end(offset);
    let ends = if is_source { (end, other) } else { (other, end) };
    let what = format!("copy_data of {size} bytes at {offset} of a data space of {SIZE}");
    refuse_copy(device, &what, &["IndexError"], ends, size, ptr::null_mut())?;
    device.sync(0, ptr::null_mut())?;
    same("the host's memory", 0, &host, &[9; 2 * SIZE])
}

#[derive(Clone, Copy)]
enum Use {
    Free,
    Sync,
    From,
    To,
}

fn refuse_stream(device: &Device, what: &str, raw: *mut c_void, how: Use) -> Verdict {
    let (table, self_) = device.table()?;
    let null = ptr::null_mut();
    // SAFETY: the table is registered and called with its `self_`; the device reports that it looks
    // a handle up before it uses it.
    wrong(device.host(), what, UNKNOWN, &[], || unsafe {
        match how {
            Use::Free => (table.free_stream)(self_, 0, raw),
            Use::Sync => (table.sync_stream)(self_, 0, raw),
            Use::From => (table.sync_stream_from_to)(self_, 0, raw, null),
            Use::To => (table.sync_stream_from_to)(self_, 0, null, raw),
        }
    })
}

fn freed_stream(device: &Device) -> Verdict<*mut c_void> {
    let Some(stream) = streams(device, 0, 1)?.pop() else { return Err(Stop::suite("no stream")) };
    let raw = stream.raw();
    stream.free()?;
    Ok(raw)
}

fn on_freed_stream(device: &Device, how: Use) -> Verdict {
    let raw = freed_stream(device)?;
    refuse_stream(device, "a call with a stream that was freed", raw, how)
}

fn stream_garbage(device: &Device, _: &Witness) -> Verdict {
    drop(streams(device, 0, 1)?);
    garbage().into_iter().try_for_each(|raw| refuse_stream(device, "free_stream of garbage", raw, Use::Free))
}

fn copy_on_freed_stream(device: &Device, witness: &Witness) -> Verdict {
    let raw = freed_stream(device)?;
    let mut host = [9_u8; SIZE];
    let ends = (host_end(host.as_mut_ptr(), 0), witness.space.end(0));
    refuse_copy(device, "copy_data on a stream that was freed", UNKNOWN, ends, SIZE as u64, raw)
}

fn stream_is_space(device: &Device, witness: &Witness) -> Verdict {
    drop(streams(device, 0, 1)?);
    for how in [Use::Free, Use::Sync, Use::From, Use::To] {
        refuse_stream(device, "a data space where a stream is asked for", witness.space.data(), how)?;
    }
    Ok(())
}
