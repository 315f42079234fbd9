//! The trait of target kinds, and its shim.

use core::ffi::c_void;

use chipdock_abi::{ChipdockAny, ChipdockStr, ChipdockTargetKind};

use crate::host::write_any;
use crate::session::Registered;
use crate::text::str_in;
use crate::{Error, Str};

/// A target kind, beyond its schema: completes and checks a target's options.
///
/// The schema itself is data, given at registration. A kind that needs nothing else registers
/// [`SchemaOnly`].
pub trait TargetKind: Send + Sync + 'static {
    /// Fills in and checks the options of a target, after the host has applied the schema.
    ///
    /// `target_json` and the result are canonical target JSON of this kind. No device is queried.
    /// An option that refers to the current machine (by its absence, or by a word such as "native")
    /// is replaced by the value for that machine; the result canonicalizes to itself on every
    /// machine (T.3).
    ///
    /// # Errors
    ///
    /// * `ValueError`: an option has a value that is not allowed; the message names the option, the
    ///   value, and what is allowed with the nearest known name.
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        Ok(target_json.to_owned())
    }
}

/// A target kind that is completely described by its schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchemaOnly;

impl TargetKind for SchemaOnly {}

type Self_ = Registered<dyn TargetKind>;

unsafe extern "C" fn destroy(self_: *mut c_void) {
    // SAFETY: T.1, called once, last.
    unsafe { Self_::destroy(self_) };
}

unsafe extern "C" fn canonicalize(
    self_: *mut c_void,
    target_json: ChipdockStr,
    out_target_json: *mut ChipdockAny,
) -> i32 {
    // SAFETY: T.1, a registered `self_`, a live string and a place to write to.
    unsafe {
        Self_::enter(self_, |kind| {
            let canonical = kind.canonicalize(str_in(target_json, "the target")?)?;
            write_any(out_target_json, Str::new(&canonical).into_any())
        })
    }
}

/// The table of every target kind that is written in Rust.
pub(crate) static TABLE: ChipdockTargetKind = ChipdockTargetKind { destroy, canonicalize };
