//! Any bytes are read or refused: LIB-2.

use proptest::prelude::*;

use super::super::blob;
use super::*;

/// A library with everything that is read.
fn library() -> &'static [u8] {
    static LIBRARY: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let artifact = toy_artifact(Vec::new()).to_bytes().unwrap();
        // Not all of its padding: a smaller library is cut at more of its lengths.
        let text = "FUNCTION(__tvm_ffi_add) { return 0; }\nEXPORT const ChipdockEnv *__chipdock_env = 0;\n";
        let source = Source::of(text).document(&document_of(&["add"], &Value::Null));
        let modules: [(&str, &[u8], &[u64]); 3] =
            [("_lib", b"", &[1, 2]), ("other", b"payload", &[]), (EMBEDDED_KIND, &artifact, &[])];
        std::fs::read(source.blob(&modules).build(folder.path(), "all.so")).unwrap()
    })
}

fn kind(bytes: &[u8]) -> Option<ErrorKind> {
    LibraryFile::read(bytes.to_vec()).err().map(|error| error.kind().clone())
}

fn check(bytes: &[u8]) {
    let found = kind(bytes);
    let is_typed = matches!(found, None | Some(ErrorKind::Value | ErrorKind::Unsupported));
    assert!(is_typed, "{found:?}");
}

#[test]
fn lib_2_a_library_cut_at_any_length_is_refused() {
    assert_eq!(kind(library()), None);
    let whole = library().len();
    // Headers byte by byte, the rest in steps that no structure is a multiple of.
    for cut in (0..512).chain((512..whole).step_by(97)).chain(whole - 64..whole) {
        assert_eq!(kind(&library()[..cut]), Some(ErrorKind::Value), "cut at {cut} of {whole}");
    }
}

#[test]
fn lib_2_no_changed_byte_of_the_headers_makes_it_panic() {
    let mut bytes = library().to_vec();
    for at in 0..1024.min(bytes.len()) {
        for flip in [0x01, 0x80, 0xff] {
            bytes[at] ^= flip;
            check(&bytes);
            bytes[at] ^= flip;
        }
    }
}

#[test]
fn lib_2_a_blob_cut_or_changed_anywhere_is_read_or_refused() {
    let whole = blob_of(&[("_lib", b"", &[1, 2]), ("other", b"payload", &[2]), ("third", b"", &[])]);
    assert_eq!(blob::read(&whole).unwrap().len(), 3);
    for cut in 0..whole.len() {
        assert!(blob::read(&whole[..cut]).is_err(), "cut at {cut}");
    }
    let mut bytes = whole;
    for at in 0..bytes.len() {
        for value in 0..=255 {
            let before = std::mem::replace(&mut bytes[at], value);
            let _ = blob::read(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn lib_4_the_modules_are_a_tree_below_the_first() {
    let none: &[u8] = b"";
    let says = |modules: &[(&str, &[u8], &[u64])]| blob::read(&blob_of(modules)).unwrap_err();
    assert!(says(&[]).contains("no module"));
    assert!(says(&[("_lib", none, &[0])]).contains("import one another"));
    let cycle = [("_lib", none, &[1_u64] as &[u64]), ("a", none, &[2]), ("b", none, &[1])];
    assert!(says(&cycle).contains("import one another"));
    assert!(says(&[("_lib", none, &[5])]).contains("module 5 of 1"));
    assert!(says(&[("_lib", none, &[]), ("a", none, &[])]).contains("no module imports its module 1"));
    assert!(says(&[("_lib", none, &[1]), ("_lib", none, &[])]).contains("twice"));
    assert!(says(&[("", none, &[])]).contains("printable"));
    assert!(says(&[("a\x1b", none, &[])]).contains("printable"));
    let next: Vec<[u64; 1]> = (1..40).map(|next| [next]).collect();
    let mut deep: Vec<(&str, &[u8], &[u64])> = next.iter().map(|next| ("a", none, &next[..])).collect();
    deep.push(("a", none, &[]));
    assert!(says(&deep).contains("16 deep"));
    // One module may hang on two.
    let shared = [("_lib", none, &[1_u64, 2] as &[u64]), ("a", none, &[2]), ("b", none, &[])];
    assert_eq!(blob::read(&blob_of(&shared)).unwrap()[1].imports, [2]);
    // Layers that all import all of the next have very many paths.
    let layers = 14_u64;
    let rows: Vec<Vec<u64>> =
        (0..=layers * 8)
            .map(|at| {
                if at == 0 {
                    (1..9).collect()
                } else {
                    ((at - 1) / 8 * 8 + 9..(at - 1) / 8 * 8 + 17).collect()
                }
            })
            .map(|row: Vec<u64>| row.into_iter().filter(|to| *to <= layers * 8).collect())
            .collect();
    let many: Vec<(&str, &[u8], &[u64])> = rows.iter().map(|row| ("a", none, row.as_slice())).collect();
    assert!(says(&many).contains("more than 4096 ways"));
}

#[test]
fn lib_4_a_damaged_artifact_inside_makes_the_file_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let mut artifact = toy_artifact(Vec::new()).to_bytes().unwrap();
    *artifact.last_mut().unwrap() ^= 1;
    let modules: [(&str, &[u8], &[u64]); 2] = [("_lib", b"", &[1]), (EMBEDDED_KIND, &artifact, &[])];
    let path = Source::of("").blob(&modules).build(folder.path(), "damaged.so");
    let error = BuiltFile::read(&path).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Value);
    assert!(error.to_string().contains("the digest of section \"code\" differs"), "{error}");
}

proptest! {
    #[test]
    fn lib_2_no_bytes_make_it_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = library().to_vec();
        for (at, byte) in flips {
            // Half of them in the tables, which are small beside an embedded artifact.
            let at = at.index(bytes.len() * 2);
            let at = if at >= bytes.len() { at % 4096 } else { at };
            bytes[at] = byte;
        }
        check(&bytes);
        bytes.truncate(cut.index(bytes.len() + 1));
        check(&bytes);
        let _ = blob::read(&bytes);
    }
}
