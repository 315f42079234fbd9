//! Fuzz target for the reader of built files: libraries, archives, and what they embed.

use std::collections::BTreeMap;

use chipdock_host::library::{Contents, FileKind, LibraryFile};

use crate::target::is_refusal;

/// Length of the description's size at the head of an input that becomes a library.
const SIZE_BYTES: usize = 2;

/// Reads bytes as a built file. Bytes that no built file begins with are taken for the description
/// of a library (its size before it) and its blob of embedded modules, and become a library with
/// both, so that the code behind the tables of a library is reached.
///
/// # Panics
///
/// If a promise is broken.
pub fn library(bytes: &[u8]) {
    if FileKind::of(bytes).is_some() {
        return whole(bytes);
    }
    let Some((size, rest)) = bytes.split_first_chunk::<SIZE_BYTES>() else { return whole(bytes) };
    let size = usize::from(u16::from_le_bytes(*size)).min(rest.len());
    let (description, blob) = rest.split_at(size);
    whole(&made(description, blob));
}

fn whole(bytes: &[u8]) {
    let contents = match Contents::read(bytes.to_vec()) {
        Ok(contents) => contents,
        Err(error) => return is_refusal(&error),
    };
    // What is in a file is told alike each time.
    let again = Contents::read(bytes.to_vec()).expect("FUZZ-F3: read before");
    assert_eq!(format!("{contents:?}"), format!("{again:?}"), "FUZZ-F3: read again it differs");
    if let Contents::Library(library) = contents {
        checked(&library);
    }
}

/// What whoever opens a library relies on.
fn checked(library: &LibraryFile) {
    let functions: BTreeMap<&str, &str> = library.functions().collect();
    for (name, symbol) in &functions {
        assert!(
            !name.is_empty() && !name.starts_with('_') && symbol.ends_with(name),
            "LIB-3: {name:?} {symbol:?}"
        );
    }
    let modules = library.embedded();
    assert!(!modules.is_empty(), "LIB-4: no module");
    assert!(modules.iter().filter(|module| module.kind == "_lib").count() <= 1, "LIB-4: the library twice");
    // Each module is reached from the first, by no more than sixteen steps.
    let mut depths = vec![None; modules.len()];
    let mut next = vec![(0_usize, 0_usize)];
    while let Some((at, depth)) = next.pop() {
        assert!(depth <= 16, "LIB-4: {depth} deep");
        if depths[at].is_some_and(|known| known >= depth) {
            continue;
        }
        depths[at] = Some(depth);
        next.extend(modules[at].imports.iter().map(|import| (*import, depth + 1)));
    }
    assert!(depths.iter().all(Option::is_some), "LIB-4: a module that nobody imports");
    if let Some(document) = library.document() {
        for function in &library.artifact().index().functions {
            let symbol = function.symbol.as_str();
            assert!(symbol.starts_with("__tvm_ffi_"), "LIB-3: \"{}\" is {symbol}", function.name);
        }
        let aside = document.aside.as_ref().map(|aside| aside.file.as_str());
        assert!(
            aside.is_none_or(|file| !file.contains('/') && !file.is_empty() && file != ".."),
            "LIB-5: {aside:?}"
        );
    }
}

/// The smallest library that the reader takes: one function `add`, a description and a blob, each
/// if it is not empty.
pub(crate) fn made(description: &[u8], blob: &[u8]) -> Vec<u8> {
    let sized = |bytes: &[u8]| [&(bytes.len() as u64).to_le_bytes(), bytes].concat();
    let variables = [("__chipdock_library", description), ("__tvm_ffi__library_bin", blob)];
    let (mut strings, mut symbols, mut data) = (vec![0], vec![0; SYMBOL], vec![0xc3; 16]);
    let mut add = |name: &str, kind: u8, at: usize, size: usize| {
        let mut symbol = (strings.len() as u32).to_le_bytes().to_vec();
        symbol.extend([GLOBAL << 4 | kind, 0, 1, 0]);
        symbol.extend([(HEADERS + at) as u64, size as u64].map(u64::to_le_bytes).concat());
        symbols.extend(symbol);
        strings.extend(name.as_bytes());
        strings.push(0);
    };
    add("__tvm_ffi_add", FUNCTION, 0, 16);
    for (name, bytes) in variables.into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let bytes = sized(bytes);
        add(name, OBJECT, data.len(), bytes.len());
        data.extend(bytes);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    strings.resize(strings.len().next_multiple_of(8), 0);
    let parts = [data.len(), symbols.len(), strings.len()];
    let [symbols_at, strings_at, dynamic_at] =
        [1, 2, 3].map(|count| HEADERS + parts[..count].iter().sum::<usize>());
    let dynamic = [[6, symbols_at], [5, strings_at], [10, strings.len()], [11, SYMBOL], [0, 0]];
    let dynamic: Vec<u8> = dynamic.iter().flatten().flat_map(|word| (*word as u64).to_le_bytes()).collect();
    let sections_at = dynamic_at + dynamic.len();
    let mut file = header(sections_at);
    // One segment with everything, to be read and run, and the dynamic table.
    file.extend(segment(1, 5, 0, sections_at));
    file.extend(segment(2, 4, dynamic_at, dynamic.len()));
    for part in [&data, &symbols, &strings, &dynamic] {
        file.extend(part);
    }
    file.extend([0; SECTION]);
    file.extend(section(11, symbols_at, symbols.len(), 2, SYMBOL));
    file.extend(section(3, strings_at, strings.len(), 0, 0));
    file.extend(section(6, dynamic_at, dynamic.len(), 2, 16));
    file
}

/// Sizes of the parts of an ELF file, and of its header with two program headers.
const SYMBOL: usize = 24;
const SECTION: usize = 64;
const HEADERS: usize = 64 + 2 * 56;
/// Bindings and types of symbols.
const GLOBAL: u8 = 1;
const OBJECT: u8 = 1;
const FUNCTION: u8 = 2;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn header(sections_at: usize) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // A shared library for x86-64.
    file.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    file.extend(words(&[0, 64, sections_at as u64]));
    file.extend([0; 4]);
    file.extend([64_u16, 56, 2, SECTION as u16, 4, 2].map(u16::to_le_bytes).concat());
    file
}

fn segment(kind: u32, flags: u32, at: usize, size: usize) -> Vec<u8> {
    let (at, size) = (at as u64, size as u64);
    [[kind, flags].map(u32::to_le_bytes).concat(), words(&[at, at, at, size, size, 8])].concat()
}

fn section(kind: u32, at: usize, size: usize, link: u32, entry: usize) -> Vec<u8> {
    let (at, size) = (at as u64, size as u64);
    let first = [0, kind].map(u32::to_le_bytes).concat();
    let middle = [link, 1].map(u32::to_le_bytes).concat();
    [first, words(&[2, at, at, size]), middle, words(&[8, entry as u64])].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_is_a_library() {
        let read = |file| Contents::read(file).unwrap_or_else(|error| panic!("refused: {error}"));
        let Contents::Library(library) = read(made(b"", b"")) else { panic!("no library") };
        assert_eq!(library.functions().collect::<Vec<_>>(), [("add", "__tvm_ffi_add")]);
        assert_eq!(library.embedded().len(), 1);
        for seed in crate::seeds::seeds("library") {
            let is_whole = FileKind::of(&seed).is_some();
            let (size, rest) = seed.split_first_chunk::<SIZE_BYTES>().expect("a seed");
            let size = usize::from(u16::from_le_bytes(*size));
            let file = if is_whole { seed.clone() } else { made(&rest[..size], &rest[size..]) };
            read(file);
        }
    }
}
