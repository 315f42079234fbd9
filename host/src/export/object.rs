//! Object files of artifacts, by interface `object` 1 of their loader (M.15 to M.19).

use chipdock_abi::ChipdockObject1;
use chipdock_plugin_api as api;

use crate::bounds::OBJECT_BYTES_MAX;
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind};
use crate::host::Host;
use crate::runtime::{answered, broken, with_raw};

/// First bytes of an ELF file.
const ELF_MAGIC: &[u8] = b"\x7fELF";
/// Type of relocatable ELF files.
const ELF_RELOCATABLE: u16 = 1;
/// Offset of the type in an ELF file, whose byte order the byte at `ELF_ORDER_OFFSET` states.
const ELF_TYPE_OFFSET: usize = 16;
const ELF_ORDER_OFFSET: usize = 5;
/// The smallest header of an ELF file.
const ELF_HEADER_BYTES_MIN: usize = 52;

impl Host {
    /// Returns the code of an artifact as one relocatable object, for the linker of the machine
    /// that it was built for (M.15 to M.17). Code of its imports is not part of it.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: the loader of the artifact's kind makes no objects; the message names its
    ///   plugin.
    /// * `Unavailable`: no plugin loads the kind, or a tool is missing, such as a compiler.
    /// * Other errors of the loader; `ValueError` for an artifact that it does not understand.
    pub fn object(&self, artifact: &Artifact) -> Result<Vec<u8>, Error> {
        let services = self.0.services;
        services.check_process()?;
        let kind = &artifact.index().module_kind;
        let loader = self.loader(artifact)?;
        let (extension, table) = loader.extensions.get::<ChipdockObject1>("object", 1).ok_or_else(|| {
            let plugin = loader.owned.plugin();
            let message = format!(
                "module.load.{kind} of plugin \"{plugin}\" has no interface `object` 1, by which a loader makes object files"
            );
            Error::new(ErrorKind::Unsupported, message)
                .hint("write the artifact as it is, or compile for a target of the host whose plugin has that interface")
        })?;
        let what = || format!("`object` of module.load.{kind}");
        let mut answer = api::Any::NONE.into_raw();
        services.clear_error();
        let calling = extension.calling(&format!("module.load.{kind}: object"));
        // SAFETY: P3.11, the table with its `self_`; an artifact that lives for the call, a place
        // for an owned value.
        let status = with_raw(artifact, |raw| unsafe { (table.object)(extension.self_(), raw, &mut answer) });
        drop(calling);
        services.check(status, what).map_err(|error| error.at(format!("module.load.{kind}")))?;
        // SAFETY: a value that we own now.
        let answer = unsafe { answered(answer, &what) }?;
        let object =
            answer.to::<api::Bytes>().map_err(|error| broken(format!("{}: {}", what(), error.message())))?;
        check(&object).map_err(|why| broken(format!("{} answered {why}", what())))?;
        Ok(object.to_vec())
    }
}

/// Checks what this host can tell of an object for any machine; the error says what was found.
fn check(object: &[u8]) -> Result<(), String> {
    if object.is_empty() || object.len() > OBJECT_BYTES_MAX {
        return Err(format!("{} bytes; expected 1 to {OBJECT_BYTES_MAX}", object.len()));
    }
    // Other machines have formats of their own.
    if !object.starts_with(ELF_MAGIC) {
        return Ok(());
    }
    if object.len() < ELF_HEADER_BYTES_MIN {
        return Err(format!("{} bytes of an ELF file; expected a whole header", object.len()));
    }
    let two = [object[ELF_TYPE_OFFSET], object[ELF_TYPE_OFFSET + 1]];
    let is_big_endian = object[ELF_ORDER_OFFSET] == 2;
    let found = if is_big_endian { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) };
    if found != ELF_RELOCATABLE {
        return Err(format!(
            "an ELF file of type {found}; expected a relocatable one (type {ELF_RELOCATABLE})"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
