//! Copies at boundaries: page ends, ends of data spaces, adjacent ranges, and ranges of zero bytes.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd};
use chipdock_raw_host::{Device, NO_HINT, Space, host_end};

use super::place::{hold_destination, hold_source};
use crate::bytes::{pattern, same_bytes};
use crate::guarded::{Guarded, Side};
use crate::{Cases, Context, Group, Subject, Verdict};

type Body = fn(&Context) -> Verdict;

const GUARDED_SIZES: [usize; 7] = [1, 3, 64, 1000, 4095, 4096, 4097];

pub(super) fn add(cases: &mut Cases) {
    for size in GUARDED_SIZES {
        for (side, word) in [(Side::Start, "start"), (Side::End, "end")] {
            let name = format!("page/h2d-from-its-{word}/{size}-bytes");
            cases
                .case(Group::Copy, name, "D.35", Subject::DeviceApi)
                .run(move |c| from_page(c, Guarded::new(&pattern(1, size), side)?));
            let name = format!("page/d2h-to-its-{word}/{size}-bytes");
            cases.case(Group::Copy, name, "D.34", Subject::DeviceApi).run(move |c| to_page(c, size, side));
        }
        let name = format!("page/h2d-from-read-only/{size}-bytes");
        cases
            .case(Group::Copy, name, "D.35", Subject::DeviceApi)
            .run(move |c| from_page(c, Guarded::new(&pattern(1, size), Side::End)?.read_only()?));
    }
    for size in [1, 64, 257, 4096, 65537] {
        for (name, forwards) in [("forwards", true), ("backwards", false)] {
            let name = format!("touching/{name}/{size}-bytes");
            cases
                .case(Group::Copy, name, "D.33", Subject::DeviceApi)
                .run(move |c| touching(c, size, forwards));
        }
    }
    let zero: [(&str, Body); 7] = [
        ("both-null", |c| zero(c, End::Null, End::Null)),
        ("from-null", |c| zero(c, End::Null, End::Space)),
        ("to-null", |c| zero(c, End::Space, End::Null)),
        ("from-host", |c| zero(c, End::Forbidden, End::Space)),
        ("to-host", |c| zero(c, End::Space, End::Forbidden)),
        ("between-data-spaces", |c| zero(c, End::Space, End::Space)),
        ("at-the-end-of-a-data-space", |c| zero(c, End::Forbidden, End::Behind)),
    ];
    for (name, body) in zero {
        cases.case(Group::Copy, format!("nothing/{name}"), "D.37", Subject::DeviceApi).run(body);
    }
    cases.case(Group::Copy, "nothing/of-size-0", "D.22", Subject::DeviceApi).run(of_size_0);
    cases.case(Group::Copy, "whole/data-space", "D.33", Subject::DeviceApi).run(whole);
}

/// Copies on the default stream of device 0 and waits.
fn copy(device: &Device, from: ChipdockCopyEnd, to: ChipdockCopyEnd, size: usize) -> Verdict {
    let copy = ChipdockCopy {
        from,
        to,
        size_bytes: size as u64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: by D.6, both ends live until the sync, or the size is 0.
    unsafe { device.copy_raw(0, &copy, ptr::null_mut()) }?;
    Ok(device.sync(0, ptr::null_mut())?)
}

/// Copies from the edge of a page: an access beside the range is a segmentation fault.
fn from_page(c: &Context, page: Guarded) -> Verdict {
    let device = c.device()?;
    let size = page.bytes().len();
    let before = pattern(2, size + 100);
    let space = Space::with(&device, 0, &before)?;
    copy(&device, host_end(page.address(), 0), space.end(33), size)?;
    hold_destination(&space.contents()?, &before, 33, page.bytes())?;
    hold_source(page.bytes(), &pattern(1, size))
}

/// Copies to the edge of a page: an access beside the range is a segmentation fault.
fn to_page(c: &Context, size: usize, side: Side) -> Verdict {
    let device = c.device()?;
    let from = pattern(1, size + 100);
    let space = Space::with(&device, 0, &from)?;
    let page = Guarded::new(&pattern(2, size), side)?;
    copy(&device, space.end(33), host_end(page.address(), 0), size)?;
    same_bytes("the destination's range", page.bytes(), &from[33..33 + size])
        .map_err(|stop| stop.clause("D.36"))?;
    hold_source(&space.contents()?, &from)
}

/// Copies between two adjacent ranges of one data space, which do not overlap.
fn touching(c: &Context, size: usize, forwards: bool) -> Verdict {
    let device = c.device()?;
    let before = pattern(1, 3 * size + 128);
    let space = Space::with(&device, 0, &before)?;
    let (from, to) = if forwards { (64, 64 + size) } else { (64 + size, 64) };
    copy(&device, space.end(from as u64), space.end(to as u64), size)?;
    hold_destination(&space.contents()?, &before, to, &before[from..from + size])
}

enum End {
    /// Null.
    Null,
    /// A live data space.
    Space,
    /// Past the last byte of a live data space.
    Behind,
    /// Inaccessible host memory.
    Forbidden,
}

/// Copies zero bytes, and checks that neither end was touched.
fn zero(c: &Context, from: End, to: End) -> Verdict {
    let device = c.device()?;
    let bytes = pattern(1, 256);
    let spaces = [Space::with(&device, 0, &bytes)?, Space::with(&device, 0, &bytes)?];
    // The page after the buffer is inaccessible, so an address there cannot be read.
    let forbidden = Guarded::new(&[0; 1], Side::End)?;
    let end = |end: End, space: &Space| match end {
        End::Null => ChipdockCopyEnd { data: ptr::null_mut(), ..space.end(0) },
        End::Space => space.end(64),
        End::Behind => space.end(256),
        End::Forbidden => host_end(forbidden.address().wrapping_add(1), 0),
    };
    copy(&device, end(from, &spaces[0]), end(to, &spaces[1]), 0)?;
    let host_null: *mut c_void = ptr::null_mut();
    copy(&device, host_end(host_null.cast(), 0), spaces[1].end(0), 0)?;
    spaces.iter().try_for_each(|space| same_bytes("a data space", &space.contents()?, &bytes))
}

/// Copies zero bytes between data spaces of size 0.
fn of_size_0(c: &Context) -> Verdict {
    let device = c.device()?;
    let (one, other, some) = (device.allocate(0)?, device.allocate(0)?, device.allocate(64)?);
    copy(&device, one.end(0), other.end(0), 0)?;
    copy(&device, some.end(64), one.end(0), 0)?;
    copy(&device, one.end(0), some.end(0), 0)?;
    for space in [one, other, some] {
        space.free()?;
    }
    Ok(())
}

/// Copies a whole data space, from its first byte to its last.
fn whole(c: &Context) -> Verdict {
    let device = c.device()?;
    for size in [1, 3, 64, 4096, 65_537] {
        let bytes = pattern(size as u64, size);
        let one = Space::with(&device, 0, &bytes)?;
        let other = Space::with(&device, 0, &vec![0; size])?;
        copy(&device, one.end(0), other.end(0), size)?;
        same_bytes("the copy of a whole data space", &other.contents()?, &bytes)?;
    }
    Ok(())
}
