//! Test byte patterns that identify their own position, and reports of bytes that differ.

use chipdock_programs::Random;

use crate::{Stop, Verdict};

/// Returns `size` bytes of the pseudo-random sequence `number`. No run of 8 bytes is expected to
/// occur twice, within one sequence or across sequences.
#[must_use]
pub fn pattern(number: u64, size: usize) -> Vec<u8> {
    Random::new(number.wrapping_mul(0xd6e8_feb8_6659_fd93).wrapping_add(1)).bytes(size)
}

/// Checks that the found bytes equal the expected ones.
///
/// # Errors
///
/// A failure that shows the first bytes that differ, the number of them, and, if it can be
/// identified, the offset at which the found bytes were expected.
pub fn same_bytes(what: &str, found: &[u8], expected: &[u8]) -> Verdict {
    if found == expected {
        return Ok(());
    }
    if found.len() != expected.len() {
        return Err(Stop::failed(
            format!("{what}: {} bytes", expected.len()),
            format!("{} bytes", found.len()),
        ));
    }
    let differing =
        || found.iter().zip(expected).enumerate().filter(|(_, (found, expected))| found != expected);
    let first = differing().next().map_or(0, |(index, _)| index);
    let last = differing().next_back().map_or(0, |(index, _)| index);
    let shown = |bytes: &[u8]| {
        let bytes = &bytes[first..bytes.len().min(first + 8)];
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
    };
    let stop = Stop::failed(
        format!("{what}: {} from byte {first} on", shown(expected)),
        format!(
            "{}; {} of {} bytes differ, from byte {first} to {last}",
            shown(found),
            differing().count(),
            found.len()
        ),
    );
    Err(match origin(found, expected, first) {
        Some(from) => stop.note(format!("what stands at byte {first} belongs at byte {from}")),
        None => stop,
    })
}

/// Returns the offset in `expected` of the eight bytes found at `first`, if they occur there
/// exactly once.
fn origin(found: &[u8], expected: &[u8], first: usize) -> Option<usize> {
    let needle = found.get(first..first + 8)?;
    if needle.iter().all(|byte| *byte == needle[0]) {
        return None;
    }
    let mut places = expected.windows(8).enumerate().filter(|(_, window)| *window == needle);
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_the_same_each_time_and_begins_alike_at_each_length() {
        assert_eq!(pattern(7, 100), pattern(7, 100));
        assert_eq!(pattern(7, 99)[..], pattern(7, 100)[..99]);
        assert_ne!(pattern(7, 100), pattern(8, 100));
        assert!(pattern(0, 0).is_empty());
    }

    #[test]
    fn differing_bytes_are_reported_with_their_origin() {
        let expected = pattern(1, 64);
        assert!(same_bytes("x", &expected, &expected).is_ok());
        let mut found = expected.clone();
        found[8..64].copy_from_slice(&expected[..56]);
        let Err(Stop::Failed(failure)) = same_bytes("x", &found, &expected) else { panic!("differs") };
        assert_eq!(failure.note, "what stands at byte 8 belongs at byte 0");
        assert!(failure.found.contains("of 64 bytes differ, from byte 8 to 63"), "{}", failure.found);
    }
}
