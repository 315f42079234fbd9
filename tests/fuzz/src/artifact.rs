//! Fuzz target for the reader of artifacts, including the code after its digest checks.

use std::ops::Range;

use chipdock_host::artifact::Artifact;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::target::is_refusal;

/// Positions of the parts of a file; the front page of the host's `artifact::container` has the
/// table.
const HEADER_SIZE: Range<usize> = 16..24;
const HEADER_SHA256: Range<usize> = 24..56;
/// Alignment of the sections in a file of version 1, and the greatest that a section may have.
const TREE_ALIGNMENT_BYTES: usize = 1 << 16;
/// Separator between header and data of an input that is to be sealed.
const SEPARATOR: u8 = 0;

/// Reads bytes as a file. Other bytes are taken for the header of a file and its data, separated by
/// a zero, and get the digests that the reader expects, so that the code after the digest checks is
/// reached.
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

/// Returns a file with that header and that data, with correct digests. A header with a list of
/// modules makes a file of version 2, in which an import that is a number stands for the digest of
/// the module with that number; any other header, of version 1.
pub(crate) fn sealed(header: &[u8], data: &[u8]) -> Vec<u8> {
    let (mut version, mut alignment_bytes) = (1_u32, TREE_ALIGNMENT_BYTES);
    let header = match serde_json::from_slice::<Value>(header) {
        Ok(mut json) => {
            if json.get("modules").is_some() {
                (version, alignment_bytes) = (2, alignment(&json));
                seal_modules(&mut json, data);
            } else {
                seal_tree(&mut json, data);
            }
            json.to_string().into_bytes()
        }
        Err(_) => header.to_vec(),
    };
    let mut bytes = b"CHIPDOCK".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(Sha256::digest(&header));
    bytes.extend(&header);
    bytes.resize(bytes.len().next_multiple_of(alignment_bytes), 0);
    bytes.extend(data);
    bytes
}

/// Returns the greatest alignment of a section, as far as the format knows it (CONTAINER-3).
fn alignment(header: &Value) -> usize {
    let modules = header.get("modules").and_then(Value::as_array).into_iter().flatten();
    let sections = modules.filter_map(|module| module.get("sections")?.as_array()).flatten();
    let greatest = sections.filter_map(|section| section.get("alignment_bytes")?.as_u64()).max();
    usize::try_from(greatest.unwrap_or(1)).unwrap_or(usize::MAX).clamp(1, TREE_ALIGNMENT_BYTES)
}

/// Writes into each section of a header of version 1 the digest of its data.
fn seal_tree(header: &mut Value, data: &[u8]) {
    seal_sections(header, data);
    list(header, "imports").iter_mut().for_each(|import| seal_tree(import, data));
}

/// Writes into a header of version 2 all digests, of sections, modules and imports (CONTAINER-2).
fn seal_modules(header: &mut Value, data: &[u8]) {
    let mut digests: Vec<String> = Vec::new();
    for module in list(header, "modules") {
        seal_sections(module, data);
        for import in list(module, "imports") {
            let number = import.as_u64().and_then(|number| usize::try_from(number).ok());
            if let Some(digest) = number.and_then(|number| digests.get(number)) {
                *import = digest.clone().into();
            }
        }
        let digest = digest_of(module);
        if let Some(module) = module.as_object_mut() {
            module.insert("sha256".to_owned(), digest.clone().into());
        }
        digests.push(digest);
    }
}

fn digest_of(module: &Value) -> String {
    let texts = |of: &Value, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()).collect()
    };
    let all = |name: &str| module.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut parts = texts(module, &["index", "target"]);
    parts.push(module.get("signatures").map_or_else(|| "{}".to_owned(), Value::to_string));
    parts.push(all("imports").count().to_string());
    parts.extend(all("imports").map(|import| import.as_str().unwrap_or_default().to_owned()));
    for section in all("sections") {
        parts.extend(texts(section, &["name", "kind"]));
        parts.push(section.get("alignment_bytes").map_or_else(String::new, Value::to_string));
        parts.extend(texts(section, &["sha256"]));
    }
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    shown(&hash.finalize())
}

fn shown(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seal_sections(module: &mut Value, data: &[u8]) {
    for section in list(module, "sections") {
        let number = |name: &str| usize::try_from(section.get(name)?.as_u64()?).ok();
        let range = number("offset_bytes").zip(number("size_bytes"));
        let part = range.and_then(|(start, size)| data.get(start..start.checked_add(size)?));
        if let (Some(part), Some(section)) = (part, section.as_object_mut()) {
            section.insert("sha256".to_owned(), shown(&Sha256::digest(part)).into());
        }
    }
}

fn list<'v>(header: &'v mut Value, name: &str) -> &'v mut [Value] {
    header.get_mut(name).and_then(Value::as_array_mut).map_or(&mut [], Vec::as_mut_slice)
}

/// Returns the header and the data of a file of version 2, as an input that is to be sealed.
pub(crate) fn unsealed(file: &[u8]) -> Option<Vec<u8>> {
    let size = u64::from_le_bytes(file.get(HEADER_SIZE)?.try_into().ok()?);
    let end = HEADER_SHA256.end.checked_add(usize::try_from(size).ok()?)?;
    let mut header: Value = serde_json::from_slice(file.get(HEADER_SHA256.end..end)?).ok()?;
    let start = end.next_multiple_of(alignment(&header));
    let mut digests = Vec::new();
    for module in list(&mut header, "modules") {
        for import in list(module, "imports") {
            *import = digests.iter().position(|digest| digest == import)?.into();
        }
        digests.push(module.get("sha256")?.clone());
    }
    let mut input = header.to_string().into_bytes();
    input.push(SEPARATOR);
    input.extend(file.get(start..)?);
    Some(input)
}

#[cfg(test)]
mod tests {
    use chipdock_host::artifact::Section;
    use serde_json::json;

    use super::*;

    fn module(sections: &[Value], imports: &[usize]) -> Value {
        let index = json!({"module_kind": "k", "format": "f", "functions": []}).to_string();
        json!({"sha256": "", "index": index, "target": "{}", "sections": sections, "imports": imports})
    }

    fn file(sections: &[Value], data: &[u8]) -> Vec<u8> {
        sealed(json!({"modules": [module(sections, &[])]}).to_string().as_bytes(), data)
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

    /// CONTAINER-1, CONTAINER-2: imports by number become digests, and back.
    #[test]
    fn digests_of_modules_are_made_right() {
        let inner = module(&[section("a".to_owned(), 1, 0, 3)], &[]);
        let header = json!({"modules": [inner, module(&[], &[0]), module(&[], &[0, 1, 1])]});
        let made = sealed(header.to_string().as_bytes(), b"abc");
        let read = Artifact::from_bytes(&made).expect("an artifact");
        let [first, second, _] = read.imports() else { panic!("three imports") };
        assert!(std::sync::Arc::ptr_eq(first, &second.imports()[0]));
        let again = unsealed(&read.to_bytes().expect("its bytes")).expect("an input");
        let at = again.iter().position(|byte| *byte == SEPARATOR).expect("a separator");
        Artifact::from_bytes(&sealed(&again[..at], &again[at + 1..])).expect("sealed again");
    }

    /// CONTAINER-5: a file of version 1 is made of a header without a list of modules.
    #[test]
    fn trees_are_made_right() {
        let mut header = module(&[section("a".to_owned(), 1, 0, 3)], &[]);
        header["imports"] = json!([module(&[section("b".to_owned(), 4, 4, 2)], &[])]);
        let read =
            Artifact::from_bytes(&sealed(header.to_string().as_bytes(), b"abc\0de")).expect("an artifact");
        assert_eq!(read.imports()[0].section("b").map(Section::data), Some(b"de".as_slice()));
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
