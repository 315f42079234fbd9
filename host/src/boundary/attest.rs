//! Reads the type information that a library's abi_stable root module declares (P4.2). It is only
//! reported: nothing is refused for it.

use std::ffi::c_void;

use chipdock_plugin_api::attestation::{SYMBOL, attest};
use libloading::os::unix::Library;

/// The types of the frozen tables, as the plugin was compiled, beside ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attested {
    /// It carries none.
    Absent,
    /// They are ours.
    Same,
    /// The first difference, in one line.
    Differs(String),
}

/// Compares the types that a library carries with ours. `descriptor` is what its entry symbol
/// answered: both doors lead to the same.
pub(crate) fn check(library: &Library, descriptor: *const c_void) -> Attested {
    // SAFETY: the symbol's address is taken as a plain pointer.
    let symbol = unsafe { library.get::<*const c_void>(SYMBOL.as_bytes()) };
    let Ok(symbol) = symbol else { return Attested::Absent };
    // SAFETY: the address of that symbol, in a library that is never unloaded.
    match unsafe { attest(*symbol) } {
        Ok(attested) if std::ptr::eq(std::ptr::from_ref(attested).cast(), descriptor) => Attested::Same,
        Ok(_) => Attested::Differs("it carries another descriptor than its entry symbol answers".to_owned()),
        Err(message) => Attested::Differs(message),
    }
}
