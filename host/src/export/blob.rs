//! TVM-FFI's tree of imported modules (EXPORT-X4): `library_module.cc` and `buffer_stream.h` of
//! TVM-FFI read it.

use crate::library::{EMBEDDED_KIND, LIBRARY_KIND};

/// Writes the tree of a library that imports these modules, each given by its bytes.
pub(super) fn tree(imports: &[Vec<u8>]) -> Vec<u8> {
    let count = imports.len() as u64;
    let mut bytes = Vec::new();
    // Where the children of each module begin in the list of children: all of them belong to module
    // 0.
    put_numbers(&mut bytes, std::iter::once(0).chain(std::iter::repeat_n(count, imports.len() + 1)));
    put_numbers(&mut bytes, 1..=count);
    put(&mut bytes, LIBRARY_KIND.as_bytes());
    for import in imports {
        put(&mut bytes, EMBEDDED_KIND.as_bytes());
        put(&mut bytes, import);
    }
    let mut tree = (bytes.len() as u64).to_le_bytes().to_vec();
    tree.append(&mut bytes);
    tree
}

fn put(bytes: &mut Vec<u8>, data: &[u8]) {
    bytes.extend((data.len() as u64).to_le_bytes());
    bytes.extend(data);
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = u64> + Clone) {
    bytes.extend((numbers.clone().count() as u64).to_le_bytes());
    numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EXPORT-X4: the bytes, written by hand.
    #[test]
    fn a_tree_has_the_library_as_its_root() {
        let word = |number: u64| number.to_le_bytes().to_vec();
        let text = |text: &[u8]| [word(text.len() as u64), text.to_vec()].concat();
        let inner = [
            [word(4), word(0), word(2), word(2), word(2)].concat(),
            [word(2), word(1), word(2)].concat(),
            text(b"_lib"),
            [text(b"chipdock"), text(b"one")].concat(),
            [text(b"chipdock"), text(b"")].concat(),
        ]
        .concat();
        let expected = [word(inner.len() as u64), inner].concat();
        assert_eq!(tree(&[b"one".to_vec(), Vec::new()]), expected);
    }
}
