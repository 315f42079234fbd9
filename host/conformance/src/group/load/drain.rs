//! `shutdown` finishes queued work before it returns (P10.5), and leaves what was not freed valid
//! (P10.17).

use std::ptr;

use chipdock_abi::{
    CHIPDOCK_DATA_SPACE_DEVICE, CHIPDOCK_DATA_SPACE_PINNED, CHIPDOCK_DATA_SPACE_UNIFIED, ChipdockCopy,
    ChipdockCopyEnd, ChipdockDataSpaceRequest,
};
use chipdock_plugin_api::text::str_out;
use chipdock_raw_host::{Device, NO_HINT, host_end};

use super::session::Session;
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const COPIES: usize = 16;
const BYTES: usize = 256 << 10;

pub(super) fn add(cases: &mut Cases) {
    let case = cases.case(Group::Load, "shutdown/does-what-is-queued", "P10.5", Subject::DeviceApi);
    case.run(runs_queued_copies);
    let case = cases.case(Group::Load, "shutdown/leaves-what-was-not-freed", "P10.17", Subject::DeviceApi);
    case.run(leaves_what_was_not_freed);
}

fn request(kind: i32) -> ChipdockDataSpaceRequest {
    ChipdockDataSpaceRequest {
        size_bytes: BYTES as u64,
        alignment_bytes: 64,
        dtype_hint: NO_HINT,
        kind,
        scope: str_out(""),
        next: ptr::null(),
    }
}

/// Returns the device API of another host than that of the context.
fn device_of(c: &Context, session: &Session) -> Verdict<Device> {
    let device = session.plugin().devices().into_iter().find(|device| device.name == c.registration());
    device.ok_or_else(|| Stop::suite("the device API is gone with another host"))
}

/// Leaves data spaces and a stream to `shutdown`, and uses those that have an address until the
/// device API is destroyed.
fn leaves_what_was_not_freed(c: &Context) -> Verdict {
    // Reports if there is no device here.
    c.device()?;
    for byte in [0x5A_u8, 0xC3] {
        let session = Session::new(c)?;
        let device = device_of(c, &session)?;
        device.allocate_raw(0, &request(CHIPDOCK_DATA_SPACE_DEVICE))?;
        std::mem::forget(device.create_stream(0)?);
        let mut addresses = Vec::new();
        for kind in [CHIPDOCK_DATA_SPACE_PINNED, CHIPDOCK_DATA_SPACE_UNIFIED] {
            // By D.31 and D.32, its handle is an address.
            let Ok(data) = device.allocate_raw(0, &request(kind)) else { continue };
            let address = data.cast::<u8>();
            // SAFETY: D.31 and D.32, the handle is the address of so many bytes.
            unsafe { address.write_bytes(byte, BYTES) };
            addresses.push(address);
        }
        session.shut_down()?;
        for address in addresses {
            // SAFETY: by P10.17, the memory is valid until the session ends below.
            let found = unsafe { [address.read_volatile(), address.add(BYTES - 1).read_volatile()] };
            equal("the first and the last byte after `shutdown`", &found, &[byte; 2])?;
            // SAFETY: as above.
            unsafe { address.write_bytes(!byte, BYTES) };
        }
    }
    Ok(())
}

/// Queues copies to the host that only `shutdown` waits for.
fn runs_queued_copies(c: &Context) -> Verdict {
    // Reports if there is no device here.
    c.device()?;
    let session = Session::new(c)?;
    let device = device_of(c, &session)?;
    let data = device.allocate_raw(0, &request(CHIPDOCK_DATA_SPACE_DEVICE))?;
    let own = ChipdockCopyEnd { device: device.device(0), data, offset_bytes: 0 };
    // Leaked, so that a plugin that still copies after `shutdown` does not write to memory that is
    // reused.
    let source: &'static mut [u8] = Box::leak(vec![0x5A_u8; BYTES].into_boxed_slice());
    let targets: &'static mut [u8] = Box::leak(vec![0_u8; BYTES * COPIES].into_boxed_slice());
    let base = targets.as_mut_ptr();
    let copy = |from, to| ChipdockCopy {
        from,
        to,
        size_bytes: BYTES as u64,
        dtype_hint: NO_HINT,
        flags: 0,
        next: std::ptr::null(),
    };
    let filled = copy(host_end(source.as_mut_ptr(), 0), own);
    // SAFETY: by D.6, both ends live as long as the process.
    unsafe { device.copy_raw(0, &filled, ptr::null_mut()) }?;
    for number in 0..COPIES {
        let taken = copy(own, host_end(base, (number * BYTES) as u64));
        // SAFETY: by D.6, both ends live as long as the process, and the ranges are disjoint.
        unsafe { device.copy_raw(0, &taken, ptr::null_mut()) }?;
    }
    session.shut_down()?;
    // SAFETY: the memory is live and has that size; a correct plugin no longer writes to it.
    // Volatile, because the device wrote it without the compiler's knowledge.
    let wrong = (0..BYTES * COPIES).find(|at| unsafe { base.add(*at).read_volatile() } != 0x5A);
    let found =
        wrong.map(|at| format!("copy {} of {COPIES} is not done", at / BYTES + 1)).unwrap_or_default();
    ensure(wrong.is_none(), "all copies that were queued are done when shutdown returns", found)
}
