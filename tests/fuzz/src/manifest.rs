//! Fuzz target for the reader of manifests.

use chipdock_host::manifest::{Manifest, Platform};

use crate::target::is_refusal;

/// Reads bytes as a manifest.
///
/// # Panics
///
/// If a promise is broken.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let manifest = match Manifest::parse(text) {
        Ok(manifest) => manifest,
        Err(error) => return is_refusal(&error),
    };
    let _ = manifest.unmet(&Platform::current());
    let written = manifest.to_text().expect("FUZZ-F3: what was read can be written");
    let read = Manifest::parse(&written)
        .unwrap_or_else(|error| panic!("FUZZ-F3: what was written cannot be read: {error}\n{written}"));
    assert!(read == manifest, "FUZZ-F3: read back it differs:\n{written}\n{read:?}\n{manifest:?}");
    let again = read.to_text().expect("FUZZ-F3: written before");
    assert!(again == written, "FUZZ-F3: written again it differs:\n{written}\n{again}");
}
