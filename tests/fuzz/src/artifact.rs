//! Fuzz target for the reader of artifacts, including the code after its digest checks.

use std::ops::Range;

use chipdock_host::artifact::Artifact;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::target::is_refusal;

/// Positions of the parts of a file; the front page of `chipdock_host::artifact` has the table.
const HEADER_SIZE: Range<usize> = 16..24;
const HEADER_SHA256: Range<usize> = 24..56;
const DATA_ALIGNMENT: usize = 1 << 16;
/// Separator between header and data of an input that is to be sealed.
const SEPARATOR: u8 = 0;

/// Reads bytes as a file. Other bytes are taken for the header of a file and its data, separated by a zero, and get the
/// digests that the reader expects, so that the code after the digest checks is reached.
///
/// # Panics
///
/// If a promise is broken.
pub fn artifact(bytes: &[u8]) {
    if bytes.starts_with(b"CHIP") {
        return whole(bytes);
    }
    let at = bytes.iter().position(|byte| *byte == SEPARATOR).unwrap_or(bytes.len());
    let (header, data) = (&bytes[..at], bytes.get(at + 1..).unwrap_or_default());
    whole(&sealed(header, data));
}

fn whole(bytes: &[u8]) {
    let artifact = match Artifact::from_bytes(bytes) {
        Ok(artifact) => artifact,
        Err(error) => return is_refusal(&error),
    };
    let written = artifact.to_bytes().expect("FUZZ-F3: what was read can be written");
    let read = Artifact::from_bytes(&written)
        .unwrap_or_else(|error| panic!("FUZZ-F3: what was written cannot be read: {error}"));
    same(&artifact, &read, 0);
    let again = read.to_bytes().expect("FUZZ-F3: written before");
    assert!(again == written, "FUZZ-F3: written again it differs");
}

fn same(a: &Artifact, b: &Artifact, depth: usize) {
    assert!(depth <= 16, "FUZZ-F4: nested {depth} deep");
    assert_eq!((a.index_json(), a.index()), (b.index_json(), b.index()), "FUZZ-F3");
    assert_eq!((a.target_json(), a.source()), (b.target_json(), b.source()), "FUZZ-F3");
    assert_eq!((a.sections().len(), a.imports().len()), (b.sections().len(), b.imports().len()), "FUZZ-F3");
    for (a, b) in a.sections().iter().zip(b.sections()) {
        assert_eq!((a.name(), a.kind(), a.data()), (b.name(), b.kind(), b.data()), "FUZZ-F3");
        assert_eq!(a.alignment_bytes(), b.alignment_bytes(), "FUZZ-F3");
        assert_eq!(b.data().as_ptr().addr() as u64 % b.alignment_bytes(), 0, "a section is aligned");
    }
    a.imports().iter().zip(b.imports()).for_each(|(a, b)| same(a, b, depth + 1));
}

/// Returns a file with that header and that data, with correct digests.
pub(crate) fn sealed(header: &[u8], data: &[u8]) -> Vec<u8> {
    let header = match serde_json::from_slice::<Value>(header) {
        Ok(mut json) => {
            seal(&mut json, data);
            json.to_string().into_bytes()
        }
        Err(_) => header.to_vec(),
    };
    let mut bytes = b"CHIPDOCK".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(Sha256::digest(&header));
    bytes.extend(&header);
    bytes.resize(bytes.len().next_multiple_of(DATA_ALIGNMENT), 0);
    bytes.extend(data);
    bytes
}

/// Writes into each section of a header the digest of its data.
fn seal(header: &mut Value, data: &[u8]) {
    for section in list(header, "sections") {
        let number = |name: &str| usize::try_from(section.get(name)?.as_u64()?).ok();
        let range = number("offset_bytes").zip(number("size_bytes"));
        let part = range.and_then(|(start, size)| data.get(start..start.checked_add(size)?));
        if let (Some(part), Some(section)) = (part, section.as_object_mut()) {
            let digest: String = Sha256::digest(part).iter().map(|byte| format!("{byte:02x}")).collect();
            section.insert("sha256".to_owned(), digest.into());
        }
    }
    list(header, "imports").iter_mut().for_each(|import| seal(import, data));
}

fn list<'v>(header: &'v mut Value, name: &str) -> &'v mut [Value] {
    header.get_mut(name).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// Returns the header and the data of a file, as an input that is to be sealed.
pub(crate) fn unsealed(file: &[u8]) -> Option<Vec<u8>> {
    let size = u64::from_le_bytes(file.get(HEADER_SIZE)?.try_into().ok()?);
    let end = HEADER_SHA256.end.checked_add(usize::try_from(size).ok()?)?;
    let mut input = file.get(HEADER_SHA256.end..end)?.to_vec();
    input.push(SEPARATOR);
    input.extend(file.get(end.next_multiple_of(DATA_ALIGNMENT)..)?);
    Some(input)
}

#[cfg(test)]
mod tests {
    use chipdock_host::artifact::Section;
    use serde_json::json;

    use super::*;

    fn file(sections: &[Value], data: &[u8]) -> Vec<u8> {
        let index = json!({"module_kind": "k", "format": "f", "functions": []}).to_string();
        let header = json!({"index": index, "target": "{}", "sections": sections, "imports": []});
        sealed(header.to_string().as_bytes(), data)
    }

    fn section(name: String, alignment: u64, offset: u64, size: u64) -> Value {
        json!({"name": name, "kind": "code", "alignment_bytes": alignment, "offset_bytes": offset,
            "size_bytes": size, "sha256": ""})
    }

    #[test]
    fn digests_are_made_right() {
        let sections = [section("a".to_owned(), 1, 0, 3), section("b".to_owned(), 4, 4, 2)];
        let read = Artifact::from_bytes(&file(&sections, b"abc\0de")).expect("an artifact");
        assert_eq!(read.section("b").map(Section::data), Some(b"de".as_slice()));
    }

    /// The front page of `artifact` says where a section lies; what lies elsewhere is refused.
    #[test]
    fn a_section_off_its_alignment_is_out_of_place() {
        let sections = [section("a".to_owned(), 1, 0, 3), section("b".to_owned(), 4, 3, 2)];
        let error = Artifact::from_bytes(&file(&sections, b"abcde")).expect_err("out of place");
        assert!(error.to_string().contains("section \"b\" is out of place"), "{error}");
    }

    /// FUZZ-F4: what a section without bytes asks to be aligned to costs nothing.
    #[test]
    fn sections_without_bytes_take_no_memory() {
        let sections: Vec<Value> = (0..60).map(|at| section(format!("s{at}"), 1 << 16, 0, 0)).collect();
        let bytes = file(&sections, b"");
        // Once before, for what is made once.
        let read = || Artifact::from_bytes(&bytes).expect("an artifact");
        assert_eq!(read().sections()[59].data().as_ptr().addr() % (1 << 16), 0);
        let peak = crate::bounds::measured(|| drop(read()));
        assert!(peak < 1 << 20, "{peak} bytes for 60 sections without any");
    }
}
