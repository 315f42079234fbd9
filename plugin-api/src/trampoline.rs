//! The only place where panics are caught: every function that the other side may call goes through
//! it.

use std::any::Any as Payload;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chipdock_abi::CHIPDOCK_OK;

use crate::{Error, ErrorKind, HostRef};

// With `panic = "abort"` nothing can be caught: the host would die with the plugin.
#[cfg(not(panic = "unwind"))]
compile_error!(
    "a Chipdock plugin must be built with panic = \"unwind\": remove `panic = \"abort\"` from its profile"
);

/// Runs `body`, and returns the text of its panic if it panics. A host guards calls of plugins with
/// it, as this crate's shims guard calls of hosts (P8.1).
///
/// # Errors
///
/// The panic's message. State that `body` was changing may be incomplete.
#[inline]
pub fn caught<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(panic_text)
}

/// Runs `body` for the other side: an error or a panic is raised with `host`, and the result is the
/// status.
#[inline]
pub(crate) fn guard(host: HostRef, body: impl FnOnce() -> Result<(), Error>) -> i32 {
    let error = match caught(body) {
        Ok(Ok(())) => return CHIPDOCK_OK,
        Ok(Err(error)) => error,
        Err(text) => Error::new(
            ErrorKind::PANIC,
            format!("panicked: {text}; this is a bug, report it to the plugin's maintainer"),
        ),
    };
    host.raise(&error);
    error.kind().status()
}

/// Runs a destructor for the other side. A panic cannot be reported to anyone: the panic hook has
/// printed it.
pub(crate) fn guard_release(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        forget(payload);
    }
}

fn panic_text(payload: Box<dyn Payload + Send>) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    forget(payload);
    text.unwrap_or_else(|| "a value that is no text".to_owned())
}

/// Drops a panic's payload, whose own destructor may panic again.
fn forget(payload: Box<dyn Payload + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        core::mem::forget(again);
    }
}
