//! Archives: the parts of a library, for linking on another machine (EXPORT-X6).

use super::link::{ARGUMENTS, LIBRARIES};
use super::parts::{EXPORTS, OBJECT, Parts, SOURCE, TREE};
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind};
use crate::library::ARCHIVED_ARTIFACT;

/// The name of the file that links.
const MAKEFILE: &str = "Makefile";

fn makefile() -> String {
    format!(
        "# Links the library: make, or make CC=aarch64-linux-gnu-gcc OUT=name.so\nOUT = library.so\n\n\
         $(OUT): {SOURCE} {OBJECT} {EXPORTS}\n\t$(CC) {} -Wl,--version-script={EXPORTS} -o $@ {SOURCE} {OBJECT} {}\n",
        ARGUMENTS.join(" "),
        LIBRARIES.join(" ")
    )
}

/// Packs the parts into a tar archive, with the artifact itself for whoever opens it (LIB-10): the
/// same parts give the same bytes.
pub(super) fn pack(artifact: &Artifact, parts: &Parts) -> Result<Vec<u8>, Error> {
    // What the library embeds is in the archive already.
    let has_tree = parts.files.iter().any(|(name, _)| *name == TREE);
    let artifact =
        if has_tree { artifact.with_imports(Vec::new())?.to_bytes()? } else { artifact.to_bytes()? };
    let mut archive = tar::Builder::new(Vec::new());
    let others = [(MAKEFILE, makefile().into_bytes()), (ARCHIVED_ARTIFACT, artifact)];
    for (name, bytes) in parts.files.iter().chain(&others) {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, bytes.as_slice()).map_err(|error| packed(&error))?;
    }
    archive.into_inner().map_err(|error| packed(&error))
}

fn packed(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("the archive could not be packed: {error}"))
}
