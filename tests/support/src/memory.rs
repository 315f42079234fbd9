//! Measures the memory of a process.

use std::fs;

/// Returns the resident bytes of this process without shared pages: the memory of its own work.
///
/// # Panics
///
/// If the system has no `/proc/self/statm`.
#[must_use]
pub fn resident_bytes() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("the statistics of this process");
    let pages: Vec<usize> = text.split(' ').filter_map(|word| word.trim().parse().ok()).collect();
    let [_, resident, shared, ..] = pages[..] else { panic!("expected pages, found {text:?}") };
    resident.saturating_sub(shared) * 4096
}
