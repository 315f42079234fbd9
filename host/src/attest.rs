//! The layout check (rule P4): the types of the frozen tables, as the plugin was compiled, against ours.

use std::ffi::c_void;

use chipdock_plugin_api::attestation::{SYMBOL, attest};
use libloading::os::unix::Library;

use crate::problem::{Problem, ProblemKind};

/// Compares the type layouts that a library carries with ours; `false` when it carries none. `descriptor` is what its
/// entry symbol answered: both doors lead to the same.
pub(crate) fn check(library: &Library, descriptor: *const c_void) -> Result<bool, Problem> {
    // SAFETY: the symbol's address is taken as a plain pointer.
    let symbol = unsafe { library.get::<*const c_void>(SYMBOL.as_bytes()) };
    let Ok(symbol) = symbol else { return Ok(false) };
    // SAFETY: the address of that symbol, in a library that is never unloaded.
    let attested = unsafe { attest(*symbol) }.map_err(|message| {
        let message = format!("built with other type layouts: {message}; rebuild it against this ABI");
        Problem::new(ProblemKind::OtherLayout, message)
    })?;
    if std::ptr::eq(std::ptr::from_ref(attested).cast(), descriptor) {
        return Ok(true);
    }
    let message = "its layout check carries another descriptor than its entry symbol answers";
    Err(Problem::new(ProblemKind::BadDescriptor, message))
}
