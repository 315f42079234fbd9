//! Calls do not leak memory (V.18).

use super::arguments::ARGUMENTS;
use super::call::{call, function};
use crate::stop::ensure;
use crate::{Context, Verdict, heap};

const N_CALLS: u64 = 10_000;
/// Maximum growth: seven bytes a call, less than any object but more than a pool or a table that
/// grows occasionally.
const GROWTH_BYTES_MAX: u64 = 7 * N_CALLS;

/// Returns the bytes allocated from the C heap of this process; the resident bytes, as an
/// approximation, where the C library does not say.
fn in_use_bytes() -> u64 {
    heap::in_use_bytes().unwrap_or_else(resident_bytes)
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

pub(super) fn no_growth(c: &Context) -> Verdict {
    let function = function(c)?;
    let few = ["nothing", "int-0", "text-of-20-bytes", "array-of-ints", "tensor"];
    for argument in ARGUMENTS.iter().filter(|argument| few.contains(&argument.name)) {
        let calls = |count: u64| -> Verdict {
            for _ in 0..count {
                drop(call(c, &function, argument)?);
            }
            Ok(())
        };
        calls(N_CALLS / 10)?;
        let before = in_use_bytes();
        calls(N_CALLS)?;
        let growth = in_use_bytes().saturating_sub(before);
        let what = format!("{} with {}, {N_CALLS} times", c.registration(), argument.what);
        let found = format!("{growth} bytes more, {} a call", growth / N_CALLS);
        ensure(growth <= GROWTH_BYTES_MAX, format!("{what}: no memory kept"), found)?;
    }
    Ok(())
}
