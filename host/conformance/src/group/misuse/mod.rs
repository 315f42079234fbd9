//! Wrong calls: each returns a typed error and leaves the device usable.

mod build;
mod device;
mod extension;
mod handles;
mod slot;
mod text;

use std::ffi::c_void;

use chipdock_abi::{CHIPDOCK_OK, ChipdockAny};
use chipdock_plugin_api::{Any, Error, ErrorKind, Fault};
use chipdock_raw_host::{Device, RawHost};

use super::stream::play::same;
use crate::stop::ensure;
use crate::{Cases, Stop, Verdict};

pub(super) fn add(cases: &mut Cases) {
    device::add(cases);
    extension::add(cases);
    text::add(cases);
    handles::add(cases);
    slot::add(cases);
    build::add(cases);
}

/// Checks that a wrong call was answered as P7 requires: an error of one of these kinds, its
/// status, and a message that contains every one of `tells`.
fn wrong(host: &RawHost, what: &str, kinds: &[&str], tells: &[&str], call: impl FnOnce() -> i32) -> Verdict {
    drop(host.take_error());
    let status = call();
    let error = host.take_error();
    let expected = || format!("{what}: refused with {}", kinds.join(" or "));
    ensure(status != CHIPDOCK_OK, expected(), "success")?;
    let Some(error) = error else {
        let found = format!("status {status}, and no error was raised");
        return Err(Stop::failed(expected(), found).clause("P7.1"));
    };
    typed(what, &error)?;
    let found = format!("{}: {}", error.kind(), error.message());
    ensure(kinds.contains(&error.kind().as_str()), expected(), &found)?;
    ensure(
        status == error.kind().status(),
        format!("{what}: status {}, that of {}", error.kind().status(), error.kind()),
        status,
    )
    .map_err(|stop| stop.clause("P7.10"))?;
    match tells.iter().find(|wanted| !error.message().contains(**wanted)) {
        Some(missing) => {
            let expected = format!("{what}: a message that tells what was found, {missing}");
            Err(Stop::failed(expected, found).clause("P7.3"))
        }
        None => Ok(()),
    }
}

/// Checks that an error blames the caller or the environment and has a message: the caller's
/// mistake is no bug of the plugin.
fn typed(what: &str, error: &Error) -> Verdict {
    let found = format!("{}: {}", error.kind(), error.message());
    if error.kind() == ErrorKind::PANIC {
        return Err(Stop::failed(format!("{what}: an error that is the caller's"), found).clause("P8.4"));
    }
    ensure(error.kind().class() != Fault::Bug, format!("{what}: an error that is the caller's"), &found)
        .map_err(|stop| stop.clause("P7.3"))?;
    let message = error.message();
    let is_text = !message.trim().is_empty() && !message.contains('\u{FFFD}');
    ensure(is_text, format!("{what}: a message in words, as UTF-8"), &found)
        .map_err(|stop| stop.clause("P7.3"))
}

/// Checks that a device works after a call that failed (P7.9).
fn usable(device: &Device) -> Verdict {
    let works = || -> Verdict {
        let space = device.allocate(256)?;
        let bytes: Vec<u8> = (0..=255).collect();
        let mut found = vec![0; 256];
        space.write(0, &bytes)?;
        space.read(0, &mut found)?;
        same("what was written after the wrong call", 0, &found, &bytes)?;
        Ok(space.free()?)
    };
    works().map_err(|stop| stop.note("right calls after the wrong one").clause("P7.9"))
}

/// Output location for a value, marked so that a write is detected.
struct OutSlot(ChipdockAny);

const MARK: i64 = 0x5A5A_5A5A_0BAD;

impl OutSlot {
    fn new() -> Self {
        Self(Any::from(MARK).into_raw())
    }

    fn as_mut_ptr(&mut self) -> *mut ChipdockAny {
        &mut self.0
    }

    /// Checks that a failed call left no value that must be released.
    fn untouched(&self, what: &str) -> Verdict {
        // SAFETY: the value is the integer mark, `None` or what the plugin wrote; it is inspected
        // and never released.
        let found = std::mem::ManuallyDrop::new(unsafe { Any::from_raw(self.0) });
        let is_mark = found.to::<i64>().is_ok_and(|number| number == MARK);
        ensure(is_mark || found.is_none(), format!("{what}: no result of a call that failed"), "a value")
            .map_err(|stop| stop.clause("P7.8"))
    }
}

/// Checks that a failed call wrote no handle.
fn no_handle(what: &str, found: *mut c_void) -> Verdict {
    let found = found.addr();
    ensure(found == 0 || found == MARK as usize, format!("{what}: no handle of a call that failed"), found)
        .map_err(|stop| stop.clause("P7.8"))
}

fn marked() -> *mut c_void {
    std::ptr::without_provenance_mut(MARK as usize)
}
