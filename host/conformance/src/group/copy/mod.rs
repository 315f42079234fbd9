//! Copies in all directions.

mod edge;
mod place;
mod queue;

use std::ptr;

use chipdock_abi::ChipdockCopy;
use chipdock_plugin_api::ErrorKind;
use chipdock_raw_host::{NO_HINT, Space};

use crate::bytes::pattern;
use crate::case::Profile;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Subject, Verdict};

use super::memory::hints;
use place::{Direction, Transfer, hold_destination, hold_source};

/// Sizes around the alignments of processors, vectors, caches, pages and the small copies of
/// drivers.
const SIZES: [usize; 33] = [
    1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096,
    4097, 65535, 65536, 65537, 262_144, 1_048_575, 1_048_576, 1_048_577,
];

/// Offsets of one end; the other end is at 0.
const OFFSETS: [usize; 11] = [1, 2, 3, 4, 7, 8, 63, 64, 65, 4095, 4096];

/// Offsets of both ends, chosen so that swapping, adding or misapplying them gives a different
/// result.
const OFFSET_PAIRS: [(usize, usize); 9] =
    [(1, 2), (3, 64), (7, 65), (64, 3), (64, 128), (63, 63), (4095, 1), (4096, 64), (4097, 4095)];

/// Distances of host addresses from a multiple of 64.
const SKEWS: [usize; 5] = [1, 2, 4, 8, 33];

pub(super) fn add(cases: &mut Cases) {
    for direction in Direction::ALL {
        for size in SIZES {
            add_transfer(cases, Transfer::new(direction, size));
        }
        // A size with the alignment of the offset, so that an ignored offset is not mistaken for an
        // alignment problem.
        let size_for = |offset: usize| if offset.is_multiple_of(64) { 256 } else { 257 };
        for offset in OFFSETS {
            let one = Transfer::new(direction, size_for(offset));
            add_transfer(cases, Transfer { from_offset: offset, ..one });
            add_transfer(cases, Transfer { to_offset: offset, ..one });
        }
        for (from_offset, to_offset) in OFFSET_PAIRS {
            let one = Transfer::new(direction, size_for(from_offset | to_offset));
            add_transfer(cases, Transfer { from_offset, to_offset, ..one });
        }
    }
    for direction in [Direction::HostToDevice, Direction::DeviceToHost] {
        for host_skew in SKEWS {
            add_transfer(cases, Transfer { host_skew, ..Transfer::new(direction, 257) });
        }
        for size in [64, 4096] {
            add_transfer(cases, Transfer { host_skew: 1, ..Transfer::new(direction, size) });
        }
    }
    for (name, hint) in hints() {
        cases.case(Group::Copy, format!("hint/{name}"), "D.28", Subject::DeviceApi).run(move |c| {
            // Not a multiple of any element size.
            Direction::ALL.iter().try_for_each(|direction| {
                Transfer { hint, to_offset: 3, ..Transfer::new(*direction, 1021) }.hold(c)
            })
        });
    }
    for (mib, directions) in [(8, &Direction::ALL[..3]), (32, &Direction::ALL[..1])] {
        for direction in directions {
            let name = format!("large/{}/{mib}-mib", direction.name());
            let transfer = Transfer { to_offset: 64, ..Transfer::new(*direction, mib << 20) };
            cases
                .case(Group::Copy, name, "D.33", Subject::DeviceApi)
                .deadline(60)
                .run(move |c| transfer.hold(c));
        }
    }
    for direction in Direction::ALL {
        let name = format!("own-stream/{}", direction.name());
        cases.case(Group::Copy, name, "D.38", Subject::DeviceApi).run(move |c| own_stream(c, direction));
    }
    for size in [1, 257, 4096, 65537] {
        for (from, to) in [(0, 1), (1, 0)] {
            for through in [from, to] {
                let name = format!("devices/{size}-bytes-from-{from}-to-{to}-through-{through}");
                cases
                    .case(Group::Copy, name, "D.39", Subject::DeviceApi)
                    .profile(Profile::SeveralDevices)
                    .run(move |c| across(c, [from, to], through, size));
            }
        }
    }
    for direction in Direction::ALL {
        let name = format!("devices/{}-on-1", direction.name());
        cases.case(Group::Copy, name, "D.38", Subject::DeviceApi).profile(Profile::SeveralDevices).run(
            move |c| {
                let transfer = Transfer { from_offset: 64, ..Transfer::new(direction, 4097) };
                transfer.hold_on(&c.several_devices()?, 1, ptr::null_mut())
            },
        );
    }
    edge::add(cases);
    queue::add(cases);
}

fn add_transfer(cases: &mut Cases, transfer: Transfer) {
    let Transfer { direction, size, from_offset, to_offset, host_skew, .. } = transfer;
    let mut name = format!("{}/{size}-bytes", direction.name());
    for (word, offset) in [("from", from_offset), ("to", to_offset)] {
        if offset != 0 {
            name.push_str(&format!("-{word}-{offset}"));
        }
    }
    if host_skew != 0 {
        name.push_str(&format!("-host-address-{host_skew}-off"));
    }
    let aligned = [size, from_offset, to_offset, host_skew].iter().all(|number| number.is_multiple_of(64));
    let clause = if aligned { "D.33" } else { "D.36" };
    cases.case(Group::Copy, name, clause, Subject::DeviceApi).run(move |c| transfer.hold(c));
}

fn own_stream(c: &Context, direction: Direction) -> Verdict {
    let device = c.device()?;
    let stream = device.create_stream(0)?;
    let transfer = Transfer { from_offset: 3, to_offset: 64, ..Transfer::new(direction, 65537) };
    transfer.hold_on(&device, 0, stream.raw())
}

/// Copies from one device to another: the copy is either done, or refused without effect.
fn across(c: &Context, [from_id, to_id]: [i32; 2], through: i32, size: usize) -> Verdict {
    let device = c.several_devices()?;
    let (from_bytes, to_bytes) = (pattern(1, size + 100), pattern(2, size + 100));
    let from = Space::with(&device, from_id, &from_bytes)?;
    let to = Space::with(&device, to_id, &to_bytes)?;
    let copy = ChipdockCopy {
        from: from.end(7),
        to: to.end(64),
        size_bytes: size as u64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: by D.6, both ends live until the sync and are not used meanwhile.
    let copied = unsafe { device.copy_raw(through, &copy, ptr::null_mut()) };
    device.sync(through, ptr::null_mut())?;
    let moved = match copied {
        Ok(()) => &from_bytes[7..7 + size],
        Err(error) => {
            let (kind, message) = (error.kind(), error.message());
            let expected = "a copy from one device to the other, or Unsupported";
            ensure(kind == ErrorKind::UNSUPPORTED, expected, format!("{}: {message}", kind.as_str()))?;
            &to_bytes[64..64 + size]
        }
    };
    hold_destination(&to.contents()?, &to_bytes, 64, moved)?;
    hold_source(&from.contents()?, &from_bytes)
}
