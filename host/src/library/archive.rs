//! Archives of what a library is linked from (LIB-10).

use std::io::Read as _;
use std::sync::Arc;

use super::{EMBEDDED_KIND, FILE_BYTES_MAX, blob};
use crate::compile::artifact::Artifact;
use crate::error::{Error, ErrorKind};

/// The name of the file that is the artifact itself.
pub(crate) const ARTIFACT: &str = "module.chipdock";
/// The name of the file that has the artifacts that it imports, as a library embeds them.
pub(crate) const MODULES: &str = "modules.bin";
/// Greatest number of files of an archive: one that a build left has about ten.
const FILES_MAX: usize = 64;
/// Where a header of the format says so.
const MARK: std::ops::Range<usize> = 257..262;

/// Returns true if a file that begins with these bytes is a tar archive.
pub(super) fn is_archive(start: &[u8]) -> bool {
    start.get(MARK) == Some(b"ustar")
}

/// Returns the number of bytes that [`is_archive`] looks at.
pub(super) const fn start_bytes() -> usize {
    MARK.end
}

/// Reads the artifact of an archive, and what it imports; other files of it are for the linker.
pub(super) fn read(bytes: &[u8]) -> Result<Artifact, Error> {
    let damaged = |error: std::io::Error| value_error(format!("it is a damaged archive: {error}"));
    let mut archive = tar::Archive::new(bytes);
    let (mut artifact, mut modules) = (None, None);
    for (count, entry) in archive.entries().map_err(damaged)?.enumerate() {
        let entry = entry.map_err(damaged)?;
        if count >= FILES_MAX {
            return Err(value_error(format!("the archive has more than {FILES_MAX} files")));
        }
        let (name, place) = match &*entry.path_bytes() {
            path if path == ARTIFACT.as_bytes() => (ARTIFACT, &mut artifact),
            path if path == MODULES.as_bytes() => (MODULES, &mut modules),
            _ => continue,
        };
        let size = entry.size();
        if size > FILE_BYTES_MAX {
            return Err(value_error(format!("{name} has {size} bytes; expected at most {FILE_BYTES_MAX}")));
        }
        let mut bytes = Vec::new();
        entry.take(size).read_to_end(&mut bytes).map_err(damaged)?;
        if bytes.len() as u64 != size {
            return Err(value_error(format!("{name} is cut short")));
        }
        *place = Some(bytes);
    }
    let artifact = artifact.ok_or_else(|| {
        value_error(format!("the archive has no file {ARTIFACT}"))
            .hint("chipdock build -o OUT.tar makes one that has")
    })?;
    let artifact = Artifact::from_bytes(&artifact).map_err(|error| error.while_doing(ARTIFACT))?;
    match modules {
        Some(modules) if artifact.imports().is_empty() => {
            let imports = modules_of(&modules).map_err(|error| error.while_doing(MODULES))?;
            artifact.with_imports(imports)
        }
        _ => Ok(artifact),
    }
}

/// Reads the artifacts that a library embeds.
fn modules_of(bytes: &[u8]) -> Result<Vec<Arc<Artifact>>, Error> {
    let mut found = Vec::new();
    for module in blob::read(bytes).map_err(value_error)? {
        if module.kind != EMBEDDED_KIND {
            continue;
        }
        let payload = bytes.get(module.payload.unwrap_or_default()).unwrap_or_default();
        let artifact = Artifact::from_bytes(payload)?;
        match artifact.bundled() {
            Some(modules) => found.extend_from_slice(modules),
            None => found.push(Arc::new(artifact)),
        }
    }
    Ok(found)
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::Value, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::artifact::Section;

    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, name, *bytes).unwrap();
        }
        archive.into_inner().unwrap()
    }

    /// LIB-10, LIB-2.
    #[test]
    fn an_archive_has_its_artifact_whole_or_is_refused() {
        let index = r#"{"module_kind": "k", "format": "f", "functions": []}"#;
        let section = Section::new("code", "code", 1, b"int x;").unwrap();
        let artifact = Artifact::new(index.to_owned(), "{}".into(), vec![section], Vec::new()).unwrap();
        let bytes = packed(&[("Makefile", b"all:"), (ARTIFACT, &artifact.to_bytes().unwrap())]);
        assert!(is_archive(&bytes));
        let found = Arc::new(read(&bytes).unwrap());
        assert_eq!((found.index_json(), found.sections().len()), (index, 1));
        // The zeros at the end are no part of it.
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        for length in 0..end {
            assert_eq!(*read(&bytes[..length]).unwrap_err().kind(), ErrorKind::Value, "cut to {length}");
        }
        let mut changed = bytes.clone();
        for at in (0..2048).chain(end - 64..end) {
            changed[at] ^= 0x11;
            let _ = read(&changed);
            changed[at] ^= 0x11;
        }
        let without = packed(&[("Makefile", b"all:")]);
        assert!(read(&without).unwrap_err().to_string().contains("no file module.chipdock"));
        let many: Vec<String> = (0..FILES_MAX + 1).map(|index| index.to_string()).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert!(read(&packed(&many)).unwrap_err().to_string().contains("more than"));
    }
}
