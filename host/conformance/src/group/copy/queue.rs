//! Many copies queued on one stream before the first wait.

use std::ffi::c_void;
use std::ptr;

use chipdock_abi::{ChipdockCopy, ChipdockCopyEnd};
use chipdock_raw_host::{Device, NO_HINT, Space, host_end};

use crate::bytes::{pattern, same_bytes};
use crate::{Cases, Context, Group, Subject, Verdict};

type Body = fn(&Device, *mut c_void) -> Verdict;

pub(super) fn add(cases: &mut Cases) {
    let bodies: [(&str, &str, Body); 6] = [
        ("64-to-their-places", "D.8", to_their_places),
        ("64-from-their-places", "D.8", from_their_places),
        ("chain", "D.7", chain),
        ("last-one-stays", "D.7", last_one_stays),
        ("back-and-forth", "D.7", back_and_forth),
        ("1-mib-read-back", "D.8", read_back),
    ];
    for (name, clause, body) in bodies {
        cases
            .case(Group::Copy, format!("queued/{name}"), clause, Subject::DeviceApi)
            .run(move |c| body(&c.device()?, ptr::null_mut()));
        let name = format!("queued-on-own-stream/{name}");
        cases.case(Group::Copy, name, clause, Subject::DeviceApi).run(move |c: &Context| {
            let device = c.device()?;
            let stream = device.create_stream(0)?;
            body(&device, stream.raw())
        });
    }
}

/// Queues a copy on a stream.
///
/// # Safety
///
/// * D.6 holds for both ends until the stream is synchronised.
unsafe fn queue(
    device: &Device,
    stream: *mut c_void,
    from: ChipdockCopyEnd,
    to: ChipdockCopyEnd,
    size: usize,
) -> Verdict {
    let copy = ChipdockCopy {
        from,
        to,
        size_bytes: size as u64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    // SAFETY: the ends live until the stream is synchronised (D.6), as this function requires.
    Ok(unsafe { device.copy_raw(0, &copy, stream) }?)
}

/// Waits for a stream even if queueing failed, because until then nothing may be freed.
fn wait(device: &Device, stream: *mut c_void, queued: Verdict) -> Verdict {
    let done = device.sync(0, stream);
    queued?;
    Ok(done?)
}

fn to_their_places(device: &Device, stream: *mut c_void) -> Verdict {
    const SIZE: usize = 129;
    let mut bytes = pattern(1, 64 * SIZE);
    let space = Space::with(device, 0, &vec![0; bytes.len()])?;
    // The order differs from the order of the places.
    let queued = (0..64).map(|index| index * 37 % 64 * SIZE).try_for_each(|offset| {
        let from = host_end(bytes[offset..].as_mut_ptr(), 0);
        // SAFETY: by D.6, the ends are disjoint parts of a buffer and a data space that live until
        // `wait`.
        unsafe { queue(device, stream, from, space.end(offset as u64), SIZE) }
    });
    wait(device, stream, queued)?;
    same_bytes("64 pieces that were copied to the device", &space.contents()?, &bytes)
}

fn from_their_places(device: &Device, stream: *mut c_void) -> Verdict {
    const SIZE: usize = 129;
    let bytes = pattern(1, 64 * SIZE);
    let space = Space::with(device, 0, &bytes)?;
    let mut found = vec![0_u8; bytes.len()];
    let queued = (0..64).map(|index| index * 37 % 64 * SIZE).try_for_each(|offset| {
        let to = host_end(found[offset..].as_mut_ptr(), 0);
        // SAFETY: by D.6, the ends are disjoint parts of a buffer and a data space that live until
        // `wait`.
        unsafe { queue(device, stream, space.end(offset as u64), to, SIZE) }
    });
    wait(device, stream, queued)?;
    same_bytes("64 pieces that were copied from the device", &found, &bytes)
}

/// Copies from data space to data space; each copy reads what the previous one wrote.
fn chain(device: &Device, stream: *mut c_void) -> Verdict {
    const SIZE: usize = 10_007;
    let mut bytes = pattern(1, SIZE);
    let mut found = vec![0_u8; SIZE];
    let old = vec![0xee; SIZE + 16];
    let spaces = (0..16).map(|_| Ok(Space::with(device, 0, &old)?)).collect::<Verdict<Vec<Space>>>()?;
    // SAFETY: by D.6, the buffers and data spaces live until `wait`, and each copy has a range of
    // its own.
    let mut queued =
        unsafe { queue(device, stream, host_end(bytes.as_mut_ptr(), 0), spaces[0].end(0), SIZE) };
    for (index, pair) in spaces.windows(2).enumerate() {
        let (from, to) = (pair[0].end(index as u64), pair[1].end(index as u64 + 1));
        // SAFETY: by D.6, the buffers and data spaces live until `wait`, and each copy has a range
        // of its own.
        queued = queued.and_then(|()| unsafe { queue(device, stream, from, to, SIZE) });
    }
    let last = spaces[15].end(15);
    // SAFETY: by D.6, the buffers and data spaces live until `wait`, and each copy has a range of
    // its own.
    let queued =
        queued.and_then(|()| unsafe { queue(device, stream, last, host_end(found.as_mut_ptr(), 0), SIZE) });
    wait(device, stream, queued)?;
    same_bytes("what went through 16 data spaces", &found, &bytes)
}

fn last_one_stays(device: &Device, stream: *mut c_void) -> Verdict {
    const SIZE: usize = 4_099;
    let mut all: Vec<Vec<u8>> = (0..32).map(|number| pattern(number, SIZE)).collect();
    let space = Space::with(device, 0, &vec![0; SIZE])?;
    let queued = all.iter_mut().try_for_each(|bytes| {
        // SAFETY: by D.6, the buffers and the data space live until `wait`; the stream orders the
        // copies.
        unsafe { queue(device, stream, host_end(bytes.as_mut_ptr(), 0), space.end(0), SIZE) }
    });
    wait(device, stream, queued)?;
    same_bytes("the last of 32 copies to one place", &space.contents()?, &all[31])
}

/// Repeatedly reads what an earlier copy wrote, then overwrites it.
fn back_and_forth(device: &Device, stream: *mut c_void) -> Verdict {
    const SIZE: usize = 1_031;
    let mut written: Vec<Vec<u8>> = (0..16).map(|number| pattern(number, SIZE)).collect();
    let mut read = vec![vec![0_u8; SIZE]; 16];
    let space = Space::with(device, 0, &vec![0; SIZE])?;
    let queued = written.iter_mut().zip(&mut read).try_for_each(|(written, read)| {
        // SAFETY: by D.6, the buffers and the data space live until `wait`; the stream orders the
        // copies.
        unsafe {
            queue(device, stream, host_end(written.as_mut_ptr(), 0), space.end(0), SIZE)?;
            queue(device, stream, space.end(0), host_end(read.as_mut_ptr(), 0), SIZE)
        }
    });
    wait(device, stream, queued)?;
    written
        .iter()
        .zip(&read)
        .try_for_each(|(written, read)| same_bytes("what was read between two writes", read, written))
}

/// Checks every byte of a large copy right after the stream was synchronised.
fn read_back(device: &Device, stream: *mut c_void) -> Verdict {
    let mut bytes = pattern(1, 1 << 20);
    let size = bytes.len();
    let mut found = vec![0_u8; size];
    let space = device.allocate(size as u64)?;
    // SAFETY: by D.6, the buffers and the data space live until `wait`.
    let queued = unsafe {
        queue(device, stream, host_end(bytes.as_mut_ptr(), 0), space.end(0), size)
            .and_then(|()| queue(device, stream, space.end(0), host_end(found.as_mut_ptr(), 0), size))
    };
    wait(device, stream, queued)?;
    same_bytes("1 MiB right after its stream was waited for", &found, &bytes)
}
