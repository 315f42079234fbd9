//! The linker's build id: the ELF note `NT_GNU_BUILD_ID` (P1.15).
//!
//! A note is three sizes and numbers of 32 bits (name, descriptor, type), its name and its
//! descriptor, each padded to the segment's alignment.

use super::{Image, SEGMENT_NOTE, Segment, u32_at};

const OWNER: &[u8] = b"GNU\0";
const BUILD_ID: u32 = 3;
const HEADER_BYTES: usize = 12;
/// Greatest size of a segment of notes that is read: those of large libraries have some hundred
/// bytes.
const SEGMENT_BYTES_MAX: u64 = 1 << 16;
/// Greatest size of a build id: linkers write 8 to 32 bytes.
const ID_BYTES_MAX: usize = 64;

impl Image<'_> {
    /// Returns the build id of the first such note, in hexadecimal; `None` if it cannot be read.
    pub(super) fn build_id(&self, segments: &[Segment]) -> Option<String> {
        let notes = segments.iter().filter(|segment| segment.kind == SEGMENT_NOTE);
        let fit = notes.filter(|segment| {
            segment.file_bytes <= SEGMENT_BYTES_MAX && segment.end().is_some_and(|end| end <= self.size_bytes)
        });
        fit.into_iter().find_map(|segment| {
            let bytes = self.read(segment.offset, segment.file_bytes).ok()?;
            id_in(&bytes, if segment.align == 8 { 8 } else { 4 })
        })
    }
}

fn id_in(notes: &[u8], align: usize) -> Option<String> {
    let mut rest = notes;
    while rest.len() >= HEADER_BYTES {
        let word = |at: usize| u32_at(rest, at);
        let sizes = (usize::try_from(word(0)?).ok()?, usize::try_from(word(4)?).ok()?);
        let (name_end, id_at) = (HEADER_BYTES.checked_add(sizes.0)?, padded(HEADER_BYTES, sizes.0, align)?);
        let (name, id) = (rest.get(HEADER_BYTES..name_end)?, rest.get(id_at..id_at.checked_add(sizes.1)?)?);
        if word(8)? == BUILD_ID && name == OWNER && (1..=ID_BYTES_MAX).contains(&id.len()) {
            return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        rest = rest.get(padded(id_at, sizes.1, align)?..)?;
    }
    None
}

/// Returns the offset after a field, padded to the alignment.
fn padded(at: usize, size: usize, align: usize) -> Option<usize> {
    at.checked_add(size)?.checked_next_multiple_of(align)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], id: &[u8], kind: u32, align: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, id.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for part in [name, id] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(align), 0);
        }
        bytes
    }

    #[test]
    fn p1_15_a_build_id_is_found_behind_other_notes() {
        for align in [4, 8] {
            let other = [note(b"GNU\0", &[7; 13], 5, align), note(b"Go\0", b"x", 3, align)].concat();
            let notes = [other.clone(), note(OWNER, &[0x0a, 0xff], 3, align)].concat();
            assert_eq!(id_in(&notes, align).as_deref(), Some("0aff"), "{align}");
            assert_eq!(id_in(&other, align), None);
            assert_eq!(id_in(&note(OWNER, &[], 3, align), align), None, "empty");
            assert_eq!(id_in(&note(OWNER, &[1; 65], 3, align), align), None, "too long");
            let found = (0..notes.len()).filter(|cut| id_in(&notes[..*cut], align).is_some()).count();
            assert!(found < 8, "cut before the id there is none: {found}");
        }
        assert_eq!(id_in(&[0xff; 64], 4), None);
    }
}
