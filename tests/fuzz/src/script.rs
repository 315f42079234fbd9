//! Fuzz target for the reader of TVMScript.

use chipdock_ir::{IrModule, Stage, equal, print, wire};
use chipdock_script::{ScriptErrors, parse};

/// Reads bytes as a script.
///
/// # Panics
///
/// If a promise is broken.
pub fn script(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse(text, "fuzz.py") {
        Ok(module) => {
            reads_back(&module);
            crosses(&module);
        }
        Err(errors) => refused(text, &errors),
    }
}

/// Checks FUZZ-F3: a module is printed, read and printed again.
pub(crate) fn reads_back(module: &IrModule) {
    let printed = print::module(module);
    let read = chipdock_script::parse_at(&printed, "printed.py", Stage::Blocks)
        .unwrap_or_else(|errors| panic!("FUZZ-F3: what was printed cannot be read:\n{errors}\n{printed}"));
    if let Err(why) = equal::modules(module, &read) {
        panic!("FUZZ-F3: read back it differs: {why}\n{printed}");
    }
    let again = print::module(&read);
    assert!(again == printed, "FUZZ-F3: printed again it differs:\n{printed}\n{again}");
}

/// Checks FUZZ-F3: a valid module is the same after it was written for a plugin and read there.
pub(crate) fn crosses(module: &IrModule) {
    let text = wire::write(module)
        .unwrap_or_else(|error| panic!("FUZZ-F3: what is valid cannot be written: {error}"));
    let read = wire::read_beside(&text, &wire::sections(module))
        .unwrap_or_else(|error| panic!("FUZZ-F3: what was written cannot be read: {error}"));
    if let Err(why) = equal::modules(module, &read) {
        panic!("FUZZ-F3: after the wire it differs: {why}");
    }
}

/// Checks FUZZ-F2: there are at most twenty errors, each with a message and a position in the text.
pub(crate) fn refused(text: &str, errors: &ScriptErrors) {
    let n_lines = n_lines(text);
    let list = errors.errors();
    assert!((1..=20).contains(&list.len()), "FUZZ-F2: {} errors", list.len());
    for error in list {
        assert!(!error.message.is_empty() && !error.message.contains("a bug of ours"), "FUZZ-F2: {error}");
        assert!((error.line as usize) <= n_lines, "FUZZ-F2: line {} of {n_lines}: {error}", error.line);
    }
    let shown = errors.to_string();
    assert!(shown.len() < 100_000, "FUZZ-F2: {} bytes of errors", shown.len());
}

/// As Python counts them: a carriage return ends a line too, with the newline that follows it or
/// alone.
fn n_lines(text: &str) -> usize {
    let pairs = text.matches("\r\n").count();
    text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count() - pairs + 1
}
