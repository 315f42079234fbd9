//! Fuzz target for the reader of the wire format.

use chipdock_ir::validate::validate;
use chipdock_ir::{Stage, equal, print, wire as format};

/// Reads bytes as a document.
///
/// # Panics
///
/// If a promise is broken.
pub fn wire(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let module = match format::read_document(text) {
        Ok(document) => document.module,
        Err(error) => {
            let shown = error.to_string();
            assert!(!shown.is_empty() && shown.len() < 100_000, "FUZZ-F2: {} bytes of an error", shown.len());
            return;
        }
    };
    // Whatever was read can be asked what is wrong with it.
    let is_valid = validate(&module, Stage::Blocks).is_ok();
    match format::write(&module) {
        Ok(canonical) => {
            let read = format::read(&canonical).unwrap_or_else(|error| {
                panic!("FUZZ-F3: what was written cannot be read: {error}\n{canonical}")
            });
            if let Err(why) = equal::modules(&module, &read) {
                panic!("FUZZ-F3: read back it differs: {why}\n{canonical}");
            }
            let again = format::write(&read).expect("FUZZ-F3: written before");
            assert!(again == canonical, "FUZZ-F3: canonical text is no fixed point:\n{canonical}\n{again}");
        }
        Err(error) => assert!(!is_valid, "FUZZ-F3: what is valid cannot be written: {error}"),
    }
    if is_valid {
        let _ = print::module(&module);
    }
}
