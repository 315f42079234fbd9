//! Faults that can be planted: a mutant is this library with the name of one written over the marker.
//!
//! So each mutant is a library of its own, with a digest of its own, and building forty of them costs one build. The
//! test that makes mutants looks for [`PREFIX`] in the file and writes the fault's name, padded with zeros, behind it.

/// What the marker begins with.
pub(crate) const PREFIX: &str = "chipdock-reference-fault:";

const NAME_BYTES_MAX: usize = 64;

/// The marker. Read by [`planted`] as it stands in the file, not as the compiler knows it.
#[used]
static MARKER: [u8; PREFIX.len() + NAME_BYTES_MAX] = marker();

const fn marker() -> [u8; PREFIX.len() + NAME_BYTES_MAX] {
    let mut bytes = [0; PREFIX.len() + NAME_BYTES_MAX];
    let prefix = PREFIX.as_bytes();
    let mut index = 0;
    while index < prefix.len() {
        bytes[index] = prefix[index];
        index += 1;
    }
    bytes
}

/// The name of the fault that is planted; empty in the plugin itself.
pub(crate) fn planted() -> &'static str {
    static NAME: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    NAME.get_or_init(|| {
        // SAFETY: a static of that type; volatile, since the file was changed after the compiler had seen it.
        let bytes = unsafe { std::ptr::read_volatile(&raw const MARKER) };
        let name = bytes[PREFIX.len()..].iter().take_while(|byte| **byte != 0).copied().collect();
        String::from_utf8(name).unwrap_or_default()
    })
}

/// Whether that fault is planted.
#[expect(dead_code, reason = "the devices and the code generator, which ask, come next")]
pub(crate) fn is(name: &str) -> bool {
    planted() == name
}
