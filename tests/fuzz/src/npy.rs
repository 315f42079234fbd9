//! Fuzz target for the reader of `.npy` files.

use chipdock_npy::{Error, read, write};

/// Reads bytes as an `.npy` file.
///
/// # Panics
///
/// If a promise is broken.
pub fn npy(bytes: &[u8]) {
    let known = read(&mut &bytes[..], Some(bytes.len() as u64));
    let streamed = read(&mut &bytes[..], None);
    let array = match (known, streamed) {
        (Ok(known), Ok(streamed)) => {
            assert!(known == streamed, "the same with and without a known size");
            known
        }
        (Err(known), Err(streamed)) => {
            for error in [known, streamed] {
                assert!(
                    matches!(error, Error::Malformed(_)),
                    "FUZZ-F2: nothing is wrong but the file: {error}"
                );
                assert!(
                    error.to_string().len() < 4096,
                    "FUZZ-F2: {} bytes of an error",
                    error.to_string().len()
                );
            }
            return;
        }
        (known, streamed) => panic!("with a known size {known:?}, without {streamed:?}"),
    };
    let mut written = Vec::new();
    write(&mut written, array.dtype, &array.shape, &array.bytes)
        .expect("FUZZ-F3: what was read can be written");
    let again =
        read(&mut &written[..], Some(written.len() as u64)).expect("FUZZ-F3: what was written can be read");
    assert!(again == array, "FUZZ-F3: read back it differs: {again:?}, {array:?}");
}
