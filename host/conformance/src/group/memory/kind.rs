//! Kinds of memory that host and device share: pinned, host-visible, unified.

use std::ptr;

use chipdock_abi::{
    CHIPDOCK_DATA_SPACE_HOST_VISIBLE, CHIPDOCK_DATA_SPACE_PINNED, CHIPDOCK_DATA_SPACE_UNIFIED, ChipdockCopy,
    ChipdockCopyEnd,
};
use chipdock_raw_host::{Device, NO_HINT, Space, host_end};

use super::size::aligned;
use crate::bytes::{pattern, same_bytes};
use crate::case::Profile;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Subject, Verdict};

/// A kind of memory that the host can address.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    raw: i32,
    profile: Profile,
    clause: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { name: "pinned", raw: CHIPDOCK_DATA_SPACE_PINNED, profile: Profile::Pinned, clause: "D.31" },
    Kind {
        name: "host-visible",
        raw: CHIPDOCK_DATA_SPACE_HOST_VISIBLE,
        profile: Profile::HostVisible,
        clause: "D.32",
    },
    Kind { name: "unified", raw: CHIPDOCK_DATA_SPACE_UNIFIED, profile: Profile::Unified, clause: "D.32" },
];

pub(super) fn add(cases: &mut Cases) {
    for kind in KINDS {
        let mut one = |name: &str, clause, body: fn(&Context, Kind) -> Verdict| {
            cases
                .case(Group::Memory, format!("{}/{name}", kind.name), clause, Subject::DeviceApi)
                .profile(kind.profile)
                .run(move |c| body(c, kind));
        };
        one("host-reads-and-writes", kind.clause, in_place);
        one("copied-to", kind.clause, copied_to);
        one("copied-from", kind.clause, copied_from);
        one("within", kind.clause, within);
        one("neighbours", "D.21", neighbours);
        one("size-0", "D.22", |c, kind| {
            let device = c.device()?;
            for _ in 0..10 {
                device.allocate_kind(0, 0, 64, kind.raw, "")?.free()?;
            }
            Ok(())
        });
        one("too-much", "D.26", |c, kind| {
            let device = c.device()?;
            // A small allocation shows whether the kind is supported at all.
            device.allocate_kind(0, 64, 64, kind.raw, "")?.free()?;
            let refused = device.allocate_kind(0, 1 << 60, 64, kind.raw, "");
            crate::stop::refused("2 to the 60 bytes", refused, &["OutOfMemory"])
        });
        for alignment in [1, 8, 64, 4096] {
            one_aligned(cases, kind, alignment);
        }
    }
}

fn one_aligned(cases: &mut Cases, kind: Kind, alignment: u64) {
    cases
        .case(Group::Memory, format!("{}/alignment-{alignment}", kind.name), "D.4", Subject::DeviceApi)
        .profile(kind.profile)
        .run(move |c| {
            // An unsupported kind is reported as such, not as a problem of the alignment.
            c.device()?.allocate_kind(0, 64, 64, kind.raw, "")?.free()?;
            aligned(c, alignment, kind.raw)
        });
}

impl Kind {
    /// Returns the address at which the host accesses a data space.
    fn address(self, space: &Space<'_>) -> Verdict<*mut u8> {
        let is_host_visible = self.raw == CHIPDOCK_DATA_SPACE_HOST_VISIBLE;
        let address = if is_host_visible { space.address()? } else { space.data() };
        ensure(!address.is_null(), "an address", "null")?;
        Ok(address.cast())
    }

    /// Writes directly, as the host does.
    fn host_writes(self, space: &Space<'_>, bytes: &[u8]) -> Verdict {
        // SAFETY: by D.31 and D.32, that many bytes are at the address, and no queued work uses
        // them.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.address(space)?, bytes.len()) };
        Ok(())
    }

    /// Reads directly, as the host does.
    fn host_reads(self, space: &Space<'_>, size: usize) -> Verdict<Vec<u8>> {
        let mut bytes = vec![0; size];
        // SAFETY: by D.31 and D.32, that many bytes are at the address, and no queued work uses
        // them.
        unsafe { ptr::copy_nonoverlapping(self.address(space)?, bytes.as_mut_ptr(), size) };
        Ok(bytes)
    }

    /// Returns a data space as an end of a copy: pinned memory is host memory, the other kinds
    /// belong to the device.
    fn end(self, space: &Space<'_>, offset: u64) -> ChipdockCopyEnd {
        if self.raw == CHIPDOCK_DATA_SPACE_PINNED {
            host_end(space.data().cast(), offset)
        } else {
            space.end(offset)
        }
    }
}

/// Allocates a data space of a kind that the host can address.
fn shared<'d>(device: &'d Device, kind: Kind, size: usize) -> Verdict<Space<'d>> {
    let space = device.allocate_kind(0, size as u64, 64, kind.raw, "")?;
    kind.address(&space)?;
    Ok(space)
}

/// Copies on the default stream and waits.
fn copy(device: &Device, from: ChipdockCopyEnd, to: ChipdockCopyEnd, size: usize) -> Verdict {
    let copy = ChipdockCopy {
        from,
        to,
        size_bytes: size as u64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: by D.6, both ends live, do not overlap, and are not used until the sync.
    unsafe { device.copy_raw(0, &copy, ptr::null_mut()) }?;
    Ok(device.sync(0, ptr::null_mut())?)
}

fn in_place(c: &Context, kind: Kind) -> Verdict {
    let device = c.device()?;
    for size in [1, 7, 4096, 4097, 100_003] {
        let space = shared(&device, kind, size)?;
        let bytes = pattern(size as u64, size);
        kind.host_writes(&space, &bytes)?;
        same_bytes("what the host wrote in place", &kind.host_reads(&space, size)?, &bytes)?;
        space.free()?;
    }
    Ok(())
}

/// Checks that the host reads directly what the device copied to the data space.
fn copied_to(c: &Context, kind: Kind) -> Verdict {
    const SIZE: usize = 10_007;
    let device = c.device()?;
    let (bytes, before) = (pattern(1, SIZE), pattern(2, SIZE + 100));
    let space = shared(&device, kind, SIZE + 100)?;
    kind.host_writes(&space, &before)?;
    let from = Space::with(&device, 0, &bytes)?;
    copy(&device, from.end(0), kind.end(&space, 33), SIZE)?;
    let mut expected = before;
    expected[33..33 + SIZE].copy_from_slice(&bytes);
    same_bytes("what the host reads in place", &kind.host_reads(&space, SIZE + 100)?, &expected)
}

/// Checks that the device copies what the host wrote directly, before and after a change.
fn copied_from(c: &Context, kind: Kind) -> Verdict {
    const SIZE: usize = 10_007;
    let device = c.device()?;
    let space = shared(&device, kind, SIZE + 100)?;
    let to = device.allocate(SIZE as u64)?;
    for round in 0..5 {
        let bytes = pattern(round, SIZE + 100);
        kind.host_writes(&space, &bytes)?;
        copy(&device, kind.end(&space, 33), to.end(0), SIZE)?;
        let what = format!("what the device read in round {round}");
        same_bytes(&what, &to.contents()?, &bytes[33..33 + SIZE])?;
        same_bytes("the source", &kind.host_reads(&space, SIZE + 100)?, &bytes)
            .map_err(|stop| stop.clause("D.35"))?;
    }
    Ok(())
}

/// Copies from one data space of the kind to another through device memory.
fn within(c: &Context, kind: Kind) -> Verdict {
    const SIZE: usize = 4099;
    let device = c.device()?;
    let (one, other) = (shared(&device, kind, SIZE)?, shared(&device, kind, SIZE)?);
    let middle = device.allocate(SIZE as u64)?;
    let bytes = pattern(1, SIZE);
    kind.host_writes(&one, &bytes)?;
    copy(&device, kind.end(&one, 0), middle.end(0), SIZE)?;
    copy(&device, middle.end(0), kind.end(&other, 0), SIZE)?;
    same_bytes("what came through the device", &kind.host_reads(&other, SIZE)?, &bytes)
}

fn neighbours(c: &Context, kind: Kind) -> Verdict {
    let device = c.device()?;
    let spaces: Vec<Space> =
        (0..32).map(|number| shared(&device, kind, 100 + number * 37)).collect::<Verdict<_>>()?;
    for (number, space) in spaces.iter().enumerate() {
        kind.host_writes(space, &pattern(number as u64, 100 + number * 37))?;
    }
    let ordinary = Space::with(&device, 0, &pattern(77, 5000))?;
    spaces.iter().enumerate().try_for_each(|(number, space)| {
        let size = 100 + number * 37;
        same_bytes(
            &format!("number {number} of 32"),
            &kind.host_reads(space, size)?,
            &pattern(number as u64, size),
        )
    })?;
    same_bytes("memory of the device beside them", &ordinary.contents()?, &pattern(77, 5000))
}
