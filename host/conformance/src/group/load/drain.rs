//! `shutdown` finishes queued work before it returns (P10.5).

use std::ptr;

use chipdock_abi::{CHIPDOCK_DATA_SPACE_DEVICE, ChipdockCopy, ChipdockCopyEnd, ChipdockDataSpaceRequest};
use chipdock_plugin_api::text::str_out;
use chipdock_raw_host::{NO_HINT, host_end};

use super::session::Session;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

const COPIES: usize = 16;
const BYTES: usize = 256 << 10;

pub(super) fn add(cases: &mut Cases) {
    let case = cases.case(Group::Load, "shutdown/does-what-is-queued", "P10.5", Subject::DeviceApi);
    case.run(runs_queued_copies);
}

/// Queues copies to the host that only `shutdown` waits for.
fn runs_queued_copies(c: &Context) -> Verdict {
    // Reports if there is no device here.
    c.device()?;
    let session = Session::new(c)?;
    let device = session.plugin().devices().into_iter().find(|device| device.name == c.registration());
    let Some(device) = device else { return Err(Stop::suite("the device API is gone with another host")) };
    let request = ChipdockDataSpaceRequest {
        size_bytes: BYTES as u64,
        alignment_bytes: 64,
        dtype_hint: NO_HINT,
        kind: CHIPDOCK_DATA_SPACE_DEVICE,
        scope: str_out(""),
        next: std::ptr::null(),
    };
    let data = device.allocate_raw(0, &request)?;
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
