//! Extensions of a device API's requests: ignored, or refused by name without effect.

use chipdock_abi::{CHIPDOCK_EXTENSIONS_MAX, ChipdockCopy, ChipdockDataSpaceRequest};
use chipdock_raw_host::{Chain, Device, NO_HINT, host_end};

use super::device::{no_space, request};
use super::{same, usable, wrong};
use crate::group::module::extended::{extensions_with_a_must, many_extensions, unknown_extensions};
use crate::{Cases, Context, Group, Subject, Verdict};

type Extensions = fn() -> Vec<(String, u32)>;

/// Refused chains: name, clause, entries, expected error kind, and a word of its message.
const REFUSED: [(&str, &str, Extensions, &str, &str); 2] = [
    ("must-be-understood", "P3.16", extensions_with_a_must, "Unsupported", "suite.must"),
    ("too-many", "P3.15", || many_extensions(CHIPDOCK_EXTENSIONS_MAX + 1), "ValueError", ""),
];

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: String, clause, body: Box<dyn Fn(&Device) -> Verdict + Send + Sync>| {
        cases.case(Group::Misuse, format!("extension/{name}"), clause, Subject::DeviceApi).run(
            move |c: &Context| {
                let device = c.device()?;
                body(&device)?;
                usable(&device)
            },
        );
    };
    let ignored: [(&str, Extensions); 2] =
        [("unknown", unknown_extensions), ("many", || many_extensions(CHIPDOCK_EXTENSIONS_MAX))];
    for (name, extensions) in ignored {
        case(format!("{name}/data-space"), "D.41", Box::new(move |d| data_space_ignores(d, &extensions())));
        case(format!("{name}/copy"), "D.41", Box::new(move |d| copy_ignores(d, &extensions())));
    }
    for (name, clause, extensions, kind, tells) in REFUSED {
        let space = move |device: &Device| {
            let extensions = extensions();
            let chain = Chain::new(&extensions);
            let request = ChipdockDataSpaceRequest { next: chain.first(), ..request(64) };
            no_space(device, 0, &request, &[kind], &[tells])
        };
        case(format!("{name}/data-space"), clause, Box::new(space));
        let copy = move |device: &Device| copy_refuses(device, &extensions(), kind, tells);
        case(format!("{name}/copy"), clause, Box::new(copy));
    }
}

/// Checks that the data space is allocated and can be freed.
fn data_space_ignores(device: &Device, extensions: &[(String, u32)]) -> Verdict {
    let chain = Chain::new(extensions);
    let request = ChipdockDataSpaceRequest { next: chain.first(), ..request(64) };
    let mut data = std::ptr::null_mut();
    device.call("allocate_data_space", |table, self_| {
        // SAFETY: the table is registered and called with its `self_`; the request is live, and
        // there is room for the result.
        unsafe { (table.allocate_data_space)(self_, 0, &request, &mut data) }
    })?;
    Ok(device.call("free_data_space", |table, self_| {
        // SAFETY: the table is registered and called with its `self_`, and nothing uses this data
        // space of the device.
        unsafe { (table.free_data_space)(self_, 0, data) }
    })?)
}

/// Copies 64 bytes of 8 over 64 bytes of 7, and checks the contents afterwards.
fn with_copy(
    device: &Device,
    extensions: &[(String, u32)],
    holds: u8,
    copies: impl FnOnce(&ChipdockCopy) -> Verdict,
) -> Verdict {
    let space = device.allocate(64)?;
    space.write(0, &[7; 64])?;
    let (mut bytes, chain) = ([8_u8; 64], Chain::new(extensions));
    copies(&ChipdockCopy {
        from: host_end(bytes.as_mut_ptr(), 0),
        to: space.end(0),
        size_bytes: 64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: chain.first(),
    })?;
    let mut found = [0; 64];
    space.read(0, &mut found)?;
    same("data space", 0, &found, &[holds; 64])?;
    Ok(space.free()?)
}

fn copy_ignores(device: &Device, extensions: &[(String, u32)]) -> Verdict {
    with_copy(device, extensions, 8, |copy| {
        device.call("copy_data", |table, self_| {
            // SAFETY: the table is registered and called with its `self_`; the ends of the live
            // request live until the queue is done.
            unsafe { (table.copy_data)(self_, 0, copy, std::ptr::null_mut()) }
        })?;
        Ok(device.sync(0, std::ptr::null_mut())?)
    })
}

fn copy_refuses(device: &Device, extensions: &[(String, u32)], kind: &str, tells: &str) -> Verdict {
    with_copy(device, extensions, 7, |copy| {
        let (table, self_) = device.table()?;
        // SAFETY: the table is registered and called with its `self_`; the ends of the live request
        // live until the queue is done.
        wrong(device.host(), "copy_data", &[kind], &[tells], || unsafe {
            (table.copy_data)(self_, 0, copy, std::ptr::null_mut())
        })
    })
}
