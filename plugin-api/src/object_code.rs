//! Interface `object` 1 of a module loader: object files for linkers (M.15 to M.20).

pub mod needs;

use core::ffi::c_void;

use chipdock_abi::{ChipdockAny, ChipdockArtifact, ChipdockObject1};

use crate::device_api::not_null;
use crate::host::write_any;
use crate::interface::{InterfaceKind, check_place, enter};
use crate::{Artifact, Bytes, Error};

/// Interface `object` 1 of a module loader: returns an artifact's code as an object file, from
/// which a linker makes libraries that work without the plugin.
///
/// For loaders of host code. Code of a device is not linked: it is embedded in a library as an
/// artifact.
pub trait Objects: Send + Sync + 'static {
    /// Returns the artifact's code as one relocatable object for the machine that the artifact was
    /// built for (M.15 to M.17).
    ///
    /// The machine may differ from this one: whether the code runs here is not asked.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the artifact cannot be read, or is of another kind or format.
    /// * `Unavailable`: a tool is missing; the message names what was tried and what provides it.
    /// * `OutOfMemory`, `IoError`: nothing is left behind, including files.
    fn object(&self, artifact: &Artifact<'_>) -> Result<Vec<u8>, Error>;
}

unsafe extern "C" fn object(
    self_: *mut c_void,
    artifact: *const ChipdockArtifact,
    out_object: *mut ChipdockAny,
) -> i32 {
    let body = |objects: &dyn Objects| {
        check_place(out_object)?;
        // SAFETY: M.3, null or an artifact that lives for the call.
        let artifact = unsafe { Artifact::from_raw(not_null(artifact, "the artifact")?) }?;
        let object = Bytes::new(&objects.object(&artifact)?);
        // SAFETY: the caller's place.
        unsafe { write_any(out_object, object.into_any()) }
    };
    // SAFETY: P3.11, the `self_` of the interface.
    unsafe { enter::<dyn Objects>(self_, body) }
}

static TABLE: ChipdockObject1 = ChipdockObject1 { object };

/// Interface `object` 1 of a module loader.
// SAFETY: the table of that name and version, whose function goes through `enter`.
pub const OBJECT: InterfaceKind<dyn Objects> = unsafe { InterfaceKind::new("object", 1, &TABLE) };
